/* Gaussian affinities by tensor cores.
 *
 * With x' = sqrt(2 gamma log2 e) (x - center) an entry is e_i e_j 2^(x'_i . x'_j), e_i = 2^(-|x'_i|^2 / 2): a matrix
 * product, an exponential, and sums in which e takes the place of 1. That holds while |x'|^2, the radius, is small
 * enough for the range of numbers and for their digits; else exact.cu serves. Two arithmetics:
 *
 *   exact  doubles, products by DMMA, 2^x by a table of 256 and a polynomial: errors of 1e-15 to 1e-13
 *   rough  floats; features are split into two halves of 16 bits, x = hi + lo, and hi hi + hi lo + lo hi gives nearly
 *          the digits of floats: errors below 1e-6 of sums
 *
 * Points are packed in the order of the fragments of mma.sync, 8 points x 16 features at a time, so that a lane reads
 * its share of both operands with loads of 16 bytes, and a warp works by itself: 64 rows against 32 columns at a time.
 * For sums over all pairs each pair is computed once: row sums stay in registers, column sums of a warp's 64 rows go to
 * a slot of their own, and slots are added up in a fixed order. No atomics, no sum that depends on timing. */
#ifndef CLV_CUDA_TENSOR_CUH
#define CLV_CUDA_TENSOR_CUH

#include "operator.cuh"

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int LANES = 32, WARPS = 4, FEATURES = 16, MTILES = TILE / 16, GROUP = 32;
constexpr double LOG2E = 1.4426950408889634074, LN2 = 0.69314718055994530942;
/* The radius up to which each arithmetic serves. */
constexpr double EXACT_RADIUS = 400, ROUGH_RADIUS = 16;

/* --- the two arithmetics --- */

struct rough_path {
    using real = float;
    using pair = float2;
    using pack = uint4; /* of a lane for 8 points x 16 features: hi, hi, lo, lo */
    static constexpr int PACKS = 1;
    /* Chunks of rows that stay in registers, and eights of columns that are done together. */
    static constexpr int MOST_CHUNKS = 4;
    static constexpr __host__ __device__ int together(int chunks) { return chunks == 0 || chunks == 2 ? 4 : 2; }
    static constexpr bool TABLE = false;
    struct left {
        unsigned hi[4], lo[4];
    };
    struct right {
        unsigned hi[2], lo[2];
    };
    static __device__ void load(left &x, const pack *low, const pack *high) {
        uint4 a = __ldg(low), b = __ldg(high);
        x.hi[0] = a.x, x.hi[2] = a.y, x.lo[0] = a.z, x.lo[2] = a.w;
        x.hi[1] = b.x, x.hi[3] = b.y, x.lo[1] = b.z, x.lo[3] = b.w;
    }
    static __device__ void load(right &x, const pack *from) {
        uint4 a = __ldg(from);
        x.hi[0] = a.x, x.hi[1] = a.y, x.lo[0] = a.z, x.lo[1] = a.w;
    }
    static __device__ void half_product(float c[4], const unsigned a[4], const unsigned b[2]) {
#if __CUDA_ARCH__ >= 800
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
    }
    /* Small terms first. */
    static __device__ void multiply(float c[4], const left &a, const right &b) {
        half_product(c, a.hi, b.lo);
        half_product(c, a.lo, b.hi);
        half_product(c, a.hi, b.hi);
    }
    static __device__ float power(float x, const double *) {
        float y;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
    static __device__ pack make(const double x[2][2]) { /* features 2t, 2t + 1, and 8 later */
        uint4 out;
        unsigned *word = &out.x;
        for (int i = 0; i < 2; i++) {
            __half2 hi = __halves2half2(__double2half(x[i][0]), __double2half(x[i][1]));
            __half2 lo = __halves2half2(__double2half(x[i][0] - (double)__low2float(hi)),
                                        __double2half(x[i][1] - (double)__high2float(hi)));
            word[i] = *(unsigned *)&hi;
            word[2 + i] = *(unsigned *)&lo;
        }
        return out;
    }
    static __device__ void store(pack *out, int lane, double (*feature)(const void *, int), const void *of) {
        int t = lane % 4;
        double x[2][2] = {{feature(of, 2 * t), feature(of, 2 * t + 1)}, {feature(of, 2 * t + 8), feature(of, 2 * t + 9)}};
        out[lane] = make(x);
    }
};

struct exact_path {
    using real = double;
    using pair = double2;
    using pack = double2; /* two of them to a lane: features t, t + 4 and t + 8, t + 12 */
    static constexpr int PACKS = 2, MOST_CHUNKS = 1;
    static constexpr __host__ __device__ int together(int chunks) { return chunks == 1 ? 1 : 2; }
    static constexpr bool TABLE = true;
    struct left {
        double x[8];
    };
    struct right {
        double x[4];
    };
    static __device__ void load(left &x, const pack *low, const pack *high) {
        double2 a = __ldg(low), b = __ldg(low + LANES), c = __ldg(high), d = __ldg(high + LANES);
        x.x[0] = a.x, x.x[2] = a.y, x.x[4] = b.x, x.x[6] = b.y;
        x.x[1] = c.x, x.x[3] = c.y, x.x[5] = d.x, x.x[7] = d.y;
    }
    static __device__ void load(right &x, const pack *from) {
        double2 a = __ldg(from), b = __ldg(from + LANES);
        x.x[0] = a.x, x.x[1] = a.y, x.x[2] = b.x, x.x[3] = b.y;
    }
    static __device__ void multiply(double c[4], const left &a, const right &b) {
#if __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
            "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a.x[0]), "d"(a.x[1]), "d"(a.x[2]), "d"(a.x[3]), "d"(a.x[4]), "d"(a.x[5]), "d"(a.x[6]), "d"(a.x[7]),
              "d"(b.x[0]), "d"(b.x[1]), "d"(b.x[2]), "d"(b.x[3]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
        for (int i = 0; i < 4; i++) {
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(c[0]), "+d"(c[1])
                : "d"(a.x[2 * i]), "d"(b.x[i]));
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(c[2]), "+d"(c[3])
                : "d"(a.x[2 * i + 1]), "d"(b.x[i]));
        }
#endif
    }
    /* 2^x = 2^(i / 256) 2^r, |r| <= h = 1/512, with r^4 as h^2 r^2 - h^4 / 8: errors of 2e-14 at most, that change
     * their sign. Each lane of 16 has a copy of the table of its own banks. */
    static __device__ double power(double x, const double *table) {
        constexpr double shift = 6755399441055744.0 / 256; /* 1.5 * 2^44: the last bits of the sum are i */
        double moved = x + shift, r = x - (moved - shift);
        int i = __double2loint(moved);
        double t = table[(i & 255) * 16 + threadIdx.x % 16];
        constexpr double c4 = LN2 * LN2 * LN2 * LN2 / 24, h2 = 1.0 / 512 / 512;
        double q = fma(fma(fma(LN2 * LN2 * LN2 / 6, r, LN2 * LN2 / 2 + c4 * h2), r, LN2), r, -c4 * h2 * h2 / 8);
        t = __hiloint2double(__double2hiint(t) + ((i >> 8) << 20), __double2loint(t));
        return fma(t, q, t);
    }
    static __device__ void store(pack *out, int lane, double (*feature)(const void *, int), const void *of) {
        int t = lane % 4;
        out[lane] = make_double2(feature(of, t), feature(of, t + 4));
        out[lane + LANES] = make_double2(feature(of, t + 8), feature(of, t + 12));
    }
};

constexpr int TABLE_SIZE = 256 * 16;

template <class P> __device__ void fill_table(double *table) {
    for (int e = threadIdx.x; P::TABLE && e < TABLE_SIZE; e += blockDim.x) {
        table[e] = exp2((double)(e / 16) / 256);
    }
    __syncthreads();
}

/* --- packing --- */

/* Points in an order of their own, and the weights e; places without an object have weight 0. */
template <class P> struct packed {
    buffer<typename P::pack> points;
    buffer<typename P::real> weight;
    int64_t count;
    int chunks; /* of 16 features */
};

struct scaling {
    const double *panels, *center;
    int64_t features;
    double scale;
};

__device__ double scaled(const scaling &s, int64_t id, int64_t f) {
    double x = s.panels[(id / TILE * s.features + f) * TILE + id % TILE];
    return (x - s.center[f]) * s.scale;
}

struct place {
    const scaling *by;
    int64_t id, first; /* feature */
};

__device__ double feature_of(const void *of, int f) {
    const place *p = (const place *)of;
    return p->id >= 0 && p->first + f < p->by->features ? scaled(*p->by, p->id, p->first + f) : 0;
}

template <class P>
__global__ void pack_kernel(scaling s, const int32_t *ids, int64_t count, int chunks, typename P::pack *out) {
    int64_t warp = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    int64_t point = warp / chunks * 8 + lane / 4;
    if (point < count) {
        place p = {&s, ids[point], warp % chunks * FEATURES};
        P::store(out + warp * P::PACKS * LANES, lane, feature_of, &p);
    }
}

template <class P>
__global__ void weight_kernel(scaling s, const int32_t *ids, int64_t count, typename P::real *out) {
    int64_t m = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (m < count) {
        double sum = 0;
        for (int64_t f = 0; ids[m] >= 0 && f < s.features; f++) {
            double x = scaled(s, ids[m], f);
            sum = fma(x, x, sum);
        }
        out[m] = ids[m] >= 0 ? (typename P::real)exp2(-sum / 2) : 0;
    }
}

inline scaling scaling_of(const clv_cuda_operator *a) {
    return scaling{a->panels, a->center, a->of.features, sqrt(2 * a->of.gamma * LOG2E)};
}

/* ids: on the card, -1 where there is no object; count: a multiple of 32. */
template <class P>
int pack(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *ids, int64_t count, packed<P> &out) {
    out.count = count;
    out.chunks = (int)((a->of.features + FEATURES - 1) / FEATURES);
    int64_t warps = count / 8 * out.chunks;
    TRY(out.points.make(call, a, warps * P::PACKS * LANES));
    TRY(out.weight.make(call, a, count));
    pack_kernel<P>
        <<<(unsigned)((warps + 7) / 8), 8 * LANES>>>(scaling_of(a), ids, count, out.chunks, out.points.data);
    weight_kernel<P><<<(unsigned)((count + 127) / 128), 128>>>(scaling_of(a), ids, count, out.weight.data);
    CUDA(cudaGetLastError());
    return CLV_CUDA_OK;
}

/* --- 64 rows against columns, by one warp --- */

template <class P> struct side {
    const typename P::pack *points;
    const typename P::real *weight;
    int chunks;
};

template <class P> side<P> side_of(const packed<P> &x) {
    return side<P>{x.points.data, x.weight.data, x.chunks};
}

/* Rows of a warp: fragments if features are few (CHUNKS, 0: they are not kept), and weights of rows g and g + 8 of each
 * 16. */
template <class P, int CHUNKS> struct rows_of {
    typename P::left part[CHUNKS ? CHUNKS : 1][MTILES];
    typename P::real weight[MTILES][2];
};

template <class P> __device__ void load_left(typename P::left &x, const side<P> &s, int64_t eight, int chunk) {
    int lane = threadIdx.x % LANES;
    const typename P::pack *low = s.points + (eight * s.chunks + chunk) * P::PACKS * LANES + lane;
    P::load(x, low, low + (int64_t)s.chunks * P::PACKS * LANES);
}

template <class P, int CHUNKS> __device__ void take_rows(rows_of<P, CHUNKS> &rows, const side<P> &s, int64_t tile) {
    int g = threadIdx.x % LANES / 4;
#pragma unroll
    for (int m = 0; m < MTILES; m++) {
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            load_left<P>(rows.part[chunk][m], s, tile * 8 + 2 * m, chunk);
        }
        rows.weight[m][0] = s.weight[tile * TILE + 16 * m + g];
        rows.weight[m][1] = s.weight[tile * TILE + 16 * m + g + 8];
    }
}

/* The powers of NT x 8 columns from `eight` on: v[nt][m][...] as in the fragments of mma: (g, 2t), (g, 2t + 1),
 * (g + 8, 2t), (g + 8, 2t + 1). */
template <class P, int CHUNKS, int NT>
__device__ void powers(typename P::real v[NT][MTILES][4], const rows_of<P, CHUNKS> &rows, const side<P> &row_side,
                       int64_t tile, const side<P> &col_side, int64_t eight, const double *table) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int e = 0; e < NT * MTILES * 4; e++) {
        v[e / (MTILES * 4)][e / 4 % MTILES][e % 4] = 0;
    }
#pragma unroll
    for (int chunk = 0; chunk < (CHUNKS ? CHUNKS : row_side.chunks); chunk++) {
        typename P::right b[NT];
        typename P::left a[CHUNKS ? 1 : MTILES];
#pragma unroll
        for (int nt = 0; nt < NT; nt++) {
            P::load(b[nt], col_side.points + ((eight + nt) * col_side.chunks + chunk) * P::PACKS * LANES + lane);
        }
        if (!CHUNKS) {
#pragma unroll
            for (int m = 0; m < MTILES; m++) {
                load_left<P>(a[CHUNKS ? 0 : m], row_side, tile * 8 + 2 * m, chunk);
            }
        }
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                P::multiply(v[nt][m], CHUNKS ? rows.part[CHUNKS ? chunk : 0][m] : a[CHUNKS ? 0 : m], b[nt]);
            }
        }
    }
#pragma unroll
    for (int e = 0; e < NT * MTILES * 4; e++) {
        typename P::real &x = v[e / (MTILES * 4)][e / 4 % MTILES][e % 4];
        x = P::power(x, table);
    }
}

/* Row sums: of a few hundred columns in `inner`, of all of them in `outer`; of doubles `inner` does for all. */
template <class P, int M = MTILES> struct row_sums {
    typename P::real inner[M][2];
    double outer[P::TABLE ? 1 : M][2];
    __device__ void clear() {
#pragma unroll
        for (int m = 0; m < M; m++) {
            inner[m][0] = inner[m][1] = 0;
            outer[P::TABLE ? 0 : m][0] = outer[P::TABLE ? 0 : m][1] = 0;
        }
    }
    __device__ void carry(int m) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            outer[P::TABLE ? 0 : m][h] += (double)inner[m][h];
            inner[m][h] = 0;
        }
    }
    __device__ void carry() {
#pragma unroll
        for (int m = 0; m < M && !P::TABLE; m++) {
            carry(m);
        }
    }
    __device__ void add(int m, typename P::real x, typename P::real y, const typename P::real v[4]) {
        inner[m][0] = fma(y, v[1], fma(x, v[0], inner[m][0]));
        inner[m][1] = fma(y, v[3], fma(x, v[2], inner[m][1]));
    }
    /* With the weights of the rows, over the four lanes of a row. */
    __device__ double total(int m, int h, typename P::real weight) {
        double x = P::TABLE ? (double)inner[m][h] : outer[P::TABLE ? 0 : m][h];
        x += __shfl_xor_sync(0xffffffffu, x, 1);
        x += __shfl_xor_sync(0xffffffffu, x, 2);
        return x * (double)weight;
    }
};

template <class P>
__device__ void weights_of(const side<P> &s, int64_t eight, typename P::real &x, typename P::real &y) {
    auto pair = __ldg((const typename P::pair *)(s.weight + eight * 8 + 2 * (threadIdx.x % 4)));
    x = pair.x;
    y = pair.y;
}

/* f is called with the chunks that a kernel keeps, as a constant. */
template <class P, class F> void by_chunks(int chunks, F f) {
    if (chunks == 1) {
        return f(std::integral_constant<int, 1>());
    }
    if constexpr (P::MOST_CHUNKS >= 4) {
        if (chunks == 2) {
            return f(std::integral_constant<int, 2>());
        }
        if (chunks == 3) {
            return f(std::integral_constant<int, 3>());
        }
        if (chunks == 4) {
            return f(std::integral_constant<int, 4>());
        }
    }
    return f(std::integral_constant<int, 0>());
}

/* --- some columns --- */

/* Places of the rows first.., and -1 beyond them. */
__global__ void places_kernel(int64_t first, int64_t count, int64_t padded, int32_t *out) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < padded) {
        out[i] = i < count ? (int32_t)(first + i) : -1;
    }
}

inline int make_places(clv_cuda_call *call, clv_cuda_operator *a, int64_t first, int64_t count, int64_t padded,
                buffer<int32_t> &out) {
    TRY(out.make(call, a, padded));
    places_kernel<<<(unsigned)((padded + 255) / 256), 256>>>(first, count, padded, out.data);
    return CLV_CUDA_OK;
}

constexpr int64_t FLUSH = 32; /* groups of columns */

/* An object and itself, among eight columns. */
template <class P> __device__ void leave_out(typename P::real v[MTILES][4], const int32_t *ids, int64_t row0) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int e = 0; e < 2; e++) {
        int64_t column = ids[2 * (lane % 4) + e] - row0;
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
            v[m][e] = column == 16 * m + lane / 4 ? 0 : v[m][e];
            v[m][2 + e] = column == 16 * m + 8 + lane / 4 ? 0 : v[m][2 + e];
        }
    }
}

} // namespace

#endif
