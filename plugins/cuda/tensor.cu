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

scaling scaling_of(const clv_cuda_operator *a) {
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
template <class P> struct row_sums {
    typename P::real inner[MTILES][2];
    double outer[P::TABLE ? 1 : MTILES][2];
    __device__ void clear() {
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
            inner[m][0] = inner[m][1] = 0;
            outer[P::TABLE ? 0 : m][0] = outer[P::TABLE ? 0 : m][1] = 0;
        }
    }
    __device__ void carry() {
#pragma unroll
        for (int m = 0; m < MTILES && !P::TABLE; m++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                outer[P::TABLE ? 0 : m][h] += (double)inner[m][h];
                inner[m][h] = 0;
            }
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

/* --- all pairs once --- */

struct segment {
    int64_t first, last; /* tiles, all of one label */
    int32_t label;
};

/* sums[8] over the lanes with the same t: each lane ends with one of them, that of place_of_sum. */
template <class R> __device__ R fold(R sums[8]) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int width = 4, bit = 16; width > 0; width /= 2, bit /= 2) {
        bool upper = lane & bit;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (e < width) {
                R mine = upper ? sums[e + width] : sums[e], other = upper ? sums[e] : sums[e + width];
                sums[e] = mine + __shfl_xor_sync(0xffffffffu, other, bit);
            }
        }
    }
    return sums[0];
}

__device__ int place_of_sum() {
    int lane = threadIdx.x % LANES, nt = (lane >> 3) & 3; /* bits 4, 3 */
    return nt * 8 + 2 * (lane % 4) + ((lane >> 2) & 1);
}

/* Row tile first + blockIdx.x * WARPS + warp against the tiles of a segment that come after it. */
template <class P, int CHUNKS>
__global__ void __launch_bounds__(WARPS *LANES, CHUNKS == 1 && !P::TABLE ? 4 : 1)
    pairs_kernel(side<P> s, int64_t first, int64_t last, const segment *segments, int64_t padded,
                 typename P::real *columns_out, double *rows_out) {
    __shared__ double table[P::TABLE ? TABLE_SIZE : 1];
    fill_table<P>(table);
    constexpr int NT = P::together(CHUNKS);
    int64_t tile = first + blockIdx.x * WARPS + threadIdx.x / LANES;
    segment seg = segments[blockIdx.y];
    int64_t begin = seg.first > tile + 1 ? seg.first : tile + 1;
    if (tile >= last || begin >= seg.last) {
        return;
    }
    rows_of<P, CHUNKS> rows;
    row_sums<P> sums;
    take_rows<P, CHUNKS>(rows, s, tile);
    sums.clear();
    typename P::real *slot = columns_out + (tile - first) * padded;
    for (int64_t group = begin * (TILE / GROUP); group < seg.last * (TILE / GROUP); group++) {
        typename P::real column[8];
#pragma unroll
        for (int part = 0; part < 4; part += NT) {
            typename P::real v[NT][MTILES][4];
            powers<P, CHUNKS, NT>(v, rows, s, tile, s, group * 4 + part, table);
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                typename P::real x, y, left = 0, right = 0;
                weights_of<P>(s, group * 4 + part + nt, x, y);
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    sums.add(m, x, y, v[nt][m]);
                    left = fma(rows.weight[m][1], v[nt][m][2], fma(rows.weight[m][0], v[nt][m][0], left));
                    right = fma(rows.weight[m][1], v[nt][m][3], fma(rows.weight[m][0], v[nt][m][1], right));
                }
                column[2 * (part + nt)] = left;
                column[2 * (part + nt) + 1] = right;
            }
        }
        typename P::real mine = fold(column);
        int64_t at = group * GROUP + place_of_sum();
        slot[at] = mine * s.weight[at];
        if (group % 8 == 7) {
            sums.carry();
        }
    }
    sums.carry();
    double *out = rows_out + blockIdx.y * (last - first) * TILE + (tile - first) * TILE;
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int m = 0; m < MTILES; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            double total = sums.total(m, h, rows.weight[m][h]);
            if (lane % 4 == 0) {
                out[16 * m + 8 * h + lane / 4] = total;
            }
        }
    }
}

/* y of column j += its slots of the row tiles first..last - 1 before it, one after the other. */
template <class R>
__global__ void add_columns_kernel(const R *slots, const int32_t *labels /* of tiles */, int64_t first, int64_t last,
                                   int64_t padded, double *y) {
    int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j >= padded) {
        return;
    }
    int64_t end = j / TILE < last ? j / TILE : last;
    int32_t label = -1;
    double sum = 0;
    for (int64_t tile = first; tile < end; tile++) {
        if (labels[tile] != label) {
            if (label >= 0) {
                y[label * padded + j] = sum;
            }
            label = labels[tile];
            sum = y[label * padded + j];
        }
        sum += (double)slots[(tile - first) * padded + j];
    }
    if (label >= 0) {
        y[label * padded + j] = sum;
    }
}

/* And of the rows of these tiles, what the segments after them gave. */
__global__ void add_rows_kernel(const double *slots, const segment *segments, int64_t count, int64_t first,
                                int64_t last, int64_t padded, double *y) {
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, rows = (last - first) * TILE;
    for (int64_t s = 0; row < rows && s < count; s++) {
        if (segments[s].last > first + row / TILE + 1) {
            y[segments[s].label * padded + first * TILE + row] += slots[s * rows + row];
        }
    }
}

/* The entries within a tile, by differences; it has one label. */
__global__ void diagonal_kernel(const double *panels, int64_t features, double gamma, int zero, const int32_t *ids,
                                const int32_t *labels, int64_t padded, double *y) {
    int64_t tile = blockIdx.x, row = tile * TILE + threadIdx.x;
    int64_t i = ids[row];
    double sum = 0;
    for (int64_t c = 0; i >= 0 && c < TILE; c++) {
        int64_t j = ids[tile * TILE + c];
        if (j < 0 || (zero && i == j)) {
            continue;
        }
        const double *x = panels + i / TILE * features * TILE + i % TILE;
        const double *z = panels + j / TILE * features * TILE + j % TILE;
        double square = 0;
        for (int64_t f = 0; f < features; f++) {
            double d = x[f * TILE] - z[f * TILE];
            square = fma(d, d, square);
        }
        sum += exp(-gamma * square);
    }
    y[labels[tile] * padded + row] = sum;
}

__global__ void unpack_kernel(const double *from, const int32_t *ids, int64_t padded, int64_t n, int64_t k, double *y) {
    int64_t m = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t c = 0; m < padded && ids[m] >= 0 && c < k; c++) {
        y[c * n + ids[m]] = from[c * padded + m];
    }
}

/* Objects by label, each label padded to whole tiles; those without one come last, as rows that are in nobody's sum:
 * label k. */
struct arrangement {
    std::vector<int32_t> ids, labels; /* of places; of tiles */
    std::vector<segment> segments;
};

constexpr int64_t SEGMENT_TILES = 64;

arrangement arrange(const int32_t *labels, int64_t n, int64_t k) {
    arrangement out;
    std::vector<int64_t> size((size_t)k + 1), next((size_t)k + 1);
    for (int64_t i = 0; i < n; i++) {
        size[(size_t)(labels[i] < 0 ? k : labels[i])]++;
    }
    int64_t at = 0;
    for (int64_t c = 0; c <= k; c++) {
        next[(size_t)c] = at;
        int64_t tiles = tiles_of(size[(size_t)c]), begin = at / TILE;
        for (int64_t t = 0; t < tiles; t += SEGMENT_TILES) {
            int64_t end = t + SEGMENT_TILES < tiles ? t + SEGMENT_TILES : tiles;
            out.segments.push_back({begin + t, begin + end, (int32_t)c});
        }
        out.labels.insert(out.labels.end(), (size_t)tiles, (int32_t)c);
        at += tiles * TILE;
    }
    out.ids.assign((size_t)at, -1);
    for (int64_t i = 0; i < n; i++) {
        out.ids[(size_t)next[(size_t)(labels[i] < 0 ? k : labels[i])]++] = (int32_t)i;
    }
    return out;
}

/* How many row tiles may have their slots at a time. */
int slab_of(clv_cuda_call *call, const clv_cuda_operator *a, int64_t tile_bytes, int64_t *out) {
    int64_t room = (int64_t)((a->limit - a->held) / 2), most = 1024;
    *out = room / tile_bytes / WARPS * WARPS;
    *out = *out < most ? *out : most;
    return *out >= WARPS ? CLV_CUDA_OK
                         : fail(call, CLV_CUDA_NO_MEMORY, "%lld bytes are needed beside %zu, and %zu may be held",
                                (long long)(2 * WARPS * tile_bytes), a->held, a->limit);
}

template <class P>
int group_sums(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *labels, int64_t k, double *y) {
    using real = typename P::real;
    arrangement host = arrange(labels, a->of.n, k);
    int64_t padded = (int64_t)host.ids.size(), tiles = padded / TILE, count = (int64_t)host.segments.size(), most;
    buffer<int32_t> ids, tile_labels;
    buffer<segment> segments;
    buffer<double> sums, row_slots;
    buffer<real> column_slots;
    packed<P> points;
    TRY(ids.send(call, a, host.ids.data(), padded));
    TRY(tile_labels.send(call, a, host.labels.data(), tiles));
    TRY(segments.send(call, a, host.segments.data(), count));
    TRY(pack<P>(call, a, ids.data, padded, points));
    TRY(sums.make(call, a, (k + 1) * padded));
    CUDA(cudaMemset(sums.data, 0, (size_t)((k + 1) * padded) * sizeof(double)));
    diagonal_kernel<<<(unsigned)tiles, TILE>>>(a->panels, a->of.features, a->of.gamma, a->of.zero_diagonal, ids.data,
                                               tile_labels.data, padded, sums.data);
    TRY(slab_of(call, a, padded * (int64_t)sizeof(real) + count * TILE * (int64_t)sizeof(double), &most));
    most = most < tiles ? most : (tiles + WARPS - 1) / WARPS * WARPS;
    TRY(column_slots.make(call, a, most * padded));
    TRY(row_slots.make(call, a, most * TILE * count));
    side<P> s = side_of(points);
    auto slab = [&](int64_t first, int64_t last) {
        dim3 grid((unsigned)((last - first + WARPS - 1) / WARPS), (unsigned)count);
        by_chunks<P>(s.chunks, [&](auto chunks) {
            pairs_kernel<P, chunks><<<grid, WARPS * LANES>>>(s, first, last, segments.data, padded, column_slots.data,
                                                             row_slots.data);
        });
        add_columns_kernel<real><<<(unsigned)((padded + 255) / 256), 256>>>(column_slots.data, tile_labels.data, first,
                                                                            last, padded, sums.data);
        add_rows_kernel<<<(unsigned)(((last - first) * TILE + 127) / 128), 128>>>(row_slots.data, segments.data, count,
                                                                                  first, last, padded, sums.data);
        return CLV_CUDA_OK;
    };
    TRY(in_pieces(call, tiles, WARPS, (double)padded * TILE / 2, slab, most));
    unpack_kernel<<<(unsigned)((padded + 255) / 256), 256>>>(sums.data, ids.data, padded, a->of.n, k, y);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return CLV_CUDA_OK;
}

/* --- some columns --- */

/* Places of the rows first.., and -1 beyond them. */
__global__ void places_kernel(int64_t first, int64_t count, int64_t padded, int32_t *out) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < padded) {
        out[i] = i < count ? (int32_t)(first + i) : -1;
    }
}

int make_places(clv_cuda_call *call, clv_cuda_operator *a, int64_t first, int64_t count, int64_t padded,
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

/* Rows of a warp against groups first..last - 1 of 32 columns each, which go from one sum and to another. */
template <class P, int CHUNKS>
__global__ void __launch_bounds__(WARPS *LANES)
    moves_kernel(side<P> row_side, side<P> col_side, const int32_t *ids, int zero, const int32_t *from,
                 const int32_t *to, int64_t first, int64_t last, targets out) {
    __shared__ double table[P::TABLE ? TABLE_SIZE : 1];
    fill_table<P>(table);
    constexpr int NT = P::together(CHUNKS);
    int lane = threadIdx.x % LANES;
    int64_t tile = blockIdx.x * WARPS + threadIdx.x / LANES, row0 = out.first + tile * TILE;
    if (tile * TILE >= out.count) {
        return;
    }
    rows_of<P, CHUNKS> rows;
    row_sums<P> sums;
    take_rows<P, CHUNKS>(rows, row_side, tile);
    sums.clear();
    for (int64_t group = first; group < last; group++) {
        int32_t id = ids[group * GROUP + lane];
        bool meets = __ballot_sync(0xffffffffu, zero && id >= row0 && id < row0 + TILE) != 0;
#pragma unroll
        for (int part = 0; part < 4; part += NT) {
            typename P::real v[NT][MTILES][4];
            powers<P, CHUNKS, NT>(v, rows, row_side, tile, col_side, group * 4 + part, table);
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                typename P::real x, y;
                weights_of<P>(col_side, group * 4 + part + nt, x, y);
                if (meets) {
                    leave_out<P>(v[nt], ids + (group * 4 + part + nt) * 8, row0);
                }
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    sums.add(m, x, y, v[nt][m]);
                }
            }
        }
        if (group % 8 == 7) {
            sums.carry();
        }
        bool ends = group + 1 == last || group % FLUSH == FLUSH - 1 || from[group] != from[group + 1] ||
                    to[group] != to[group + 1];
        if (!ends) {
            continue;
        }
        sums.carry();
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                double total = sums.total(m, h, rows.weight[m][h]);
                int64_t row = tile * TILE + 16 * m + 8 * h + lane / 4;
                if (lane % 4 == 0 && row < out.count) {
                    if (from[group] >= 0) {
                        out.y[from[group] * out.stride + row] -= total;
                    }
                    if (to[group] >= 0) {
                        out.y[to[group] * out.stride + row] += total;
                    }
                }
            }
        }
        sums.clear();
    }
}

/* Columns with room for whole groups of each pair of sums. */
struct groups {
    std::vector<int32_t> ids, from, to;
};

groups group_columns(const std::vector<int32_t> &ids, const std::vector<int32_t> &from,
                     const std::vector<int32_t> &to) {
    groups out;
    for (size_t m = 0; m < ids.size(); m++) {
        bool fresh = m == 0 || from[m] != from[m - 1] || to[m] != to[m - 1];
        if (fresh) {
            out.ids.resize((out.ids.size() + GROUP - 1) / GROUP * GROUP, -1);
        }
        if (out.ids.size() % GROUP == 0) {
            out.from.push_back(from[m]);
            out.to.push_back(to[m]);
        }
        out.ids.push_back(ids[m]);
    }
    out.ids.resize((out.ids.size() + GROUP - 1) / GROUP * GROUP, -1);
    return out;
}

template <class P>
int moves(clv_cuda_call *call, clv_cuda_operator *a, const groups &host, const targets &out) {
    int64_t columns = (int64_t)host.ids.size(), rows = tiles_of(out.count) * TILE;
    buffer<int32_t> ids, row_ids, from, to;
    packed<P> left, right;
    TRY(ids.send(call, a, host.ids.data(), columns));
    TRY(make_places(call, a, out.first, out.count, rows, row_ids));
    TRY(from.send(call, a, host.from.data(), columns / GROUP));
    TRY(to.send(call, a, host.to.data(), columns / GROUP));
    TRY(pack<P>(call, a, row_ids.data, rows, left));
    TRY(pack<P>(call, a, ids.data, columns, right));
    side<P> l = side_of(left), r = side_of(right);
    return in_pieces(call, columns / GROUP, FLUSH, (double)rows * GROUP, [&](int64_t first, int64_t last) {
        unsigned blocks = (unsigned)((rows / TILE + WARPS - 1) / WARPS);
        by_chunks<P>(l.chunks, [&](auto chunks) {
            moves_kernel<P, chunks><<<blocks, WARPS * LANES>>>(l, r, ids.data, a->of.zero_diagonal, from.data, to.data,
                                                               first, last, out);
        });
        return CLV_CUDA_OK;
    });
}

/* --- products with vectors ---
 *
 * Powers of 16 x 8 lie in the registers as a left operand of the next product has to, if columns 0, 2, 4, 6 count as its
 * first four and 1, 3, 5, 7 as its last: they are multiplied by eight vectors without moving. */

__device__ void add_product(double c[4], const double v[4], double even, double odd) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(v[0]), "d"(v[2]), "d"(v[1]), "d"(v[3]), "d"(even), "d"(odd));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
    for (int h = 0; h < 2; h++) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * h]), "+d"(c[2 * h + 1])
            : "d"(v[2 * h]), "d"(even));
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * h]), "+d"(c[2 * h + 1])
            : "d"(v[2 * h + 1]), "d"(odd));
    }
#endif
}

/* vectors[(column * 8 EIGHTS) + c], with the weights of the columns in them. */
template <int CHUNKS, int EIGHTS>
__global__ void __launch_bounds__(WARPS *LANES)
    product_kernel(side<exact_path> row_side, side<exact_path> col_side, const int32_t *ids, int zero,
                   const double *vectors, int k, int64_t first, int64_t last, targets out) {
    __shared__ double table[TABLE_SIZE];
    fill_table<exact_path>(table);
    int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
    int64_t tile = blockIdx.x * WARPS + threadIdx.x / LANES, row0 = out.first + tile * TILE;
    if (tile * TILE >= out.count) {
        return;
    }
    rows_of<exact_path, CHUNKS> rows;
    double sums[EIGHTS][MTILES][4] = {};
    take_rows<exact_path, CHUNKS>(rows, row_side, tile);
    constexpr int NT = exact_path::together(CHUNKS);
    for (int64_t eight = first * 4; eight < last * 4; eight += NT) {
        double v[NT][MTILES][4];
        powers<exact_path, CHUNKS, NT>(v, rows, row_side, tile, col_side, eight, table);
        int32_t id = zero ? ids[eight * 8 + lane % (8 * NT)] : -1;
        bool meets = __any_sync(0xffffffffu, id >= row0 && id < row0 + TILE);
#pragma unroll
        for (int nt = 0; nt < NT; nt++) {
            if (meets) {
                leave_out<exact_path>(v[nt], ids + (eight + nt) * 8, row0);
            }
            const double *x = vectors + ((eight + nt) * 8 + 2 * t) * 8 * EIGHTS + g;
#pragma unroll
            for (int e = 0; e < EIGHTS; e++) {
                double even = __ldg(x + 8 * e), odd = __ldg(x + 8 * (EIGHTS + e));
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    add_product(sums[e][m], v[nt][m], even, odd);
                }
            }
        }
    }
#pragma unroll
    for (int at = 0; at < EIGHTS * MTILES * 4; at++) {
        int e = at / (MTILES * 4), m = at / 4 % MTILES, r = at % 4;
        int64_t row = tile * TILE + 16 * m + 8 * (r / 2) + g;
        int c = 8 * e + 2 * t + r % 2;
        if (row < out.count && c < k) {
            out.y[c * out.stride + row] += sums[e][m][r] * rows.weight[m][r / 2];
        }
    }
}

__global__ void vectors_kernel(const double *x, int64_t count, int64_t padded, int k, int width, const double *weight,
                               double *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, column = at / width;
    int c = (int)(at % width);
    if (column < padded) {
        out[at] = c < k && column < count ? x[c * count + column] * weight[column] : 0;
    }
}

/* The same in 16-bit halves, W and the vectors as hi + lo, in floats over FLUSH groups. Powers of 16 x 16 are the left
 * operand as they lie, with the weights of the columns in them, which makes them 2^(ROUGH_RADIUS / 2) at most, and times
 * UNIT, so that small ones keep their digits. */
constexpr float UNIT = 128;

/* A pair of them as hi and as lo. */
__device__ void split_pair(float x, float y, unsigned &hi, unsigned &lo) {
    __half2 high = __floats2half2_rn(x, y);
    __half2 low = __floats2half2_rn(x - __low2float(high), y - __high2float(high));
    hi = *(unsigned *)&high;
    lo = *(unsigned *)&low;
}

/* vectors[(sixteen * EIGHTS + e) * LANES + lane]: hi, hi, lo, lo of a lane's share of 16 columns x 8 vectors. */
template <int CHUNKS, int EIGHTS>
__global__ void __launch_bounds__(WARPS *LANES, CHUNKS == 1 ? 4 : 1)
    rough_product_kernel(side<rough_path> row_side, side<rough_path> col_side, const int32_t *ids, int zero,
                         const uint4 *vectors, const double *units, int k, int64_t first, int64_t last, targets out) {
    constexpr int NT = 2;
    int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
    int64_t tile = blockIdx.x * WARPS + threadIdx.x / LANES, row0 = out.first + tile * TILE;
    if (tile * TILE >= out.count) {
        return;
    }
    rows_of<rough_path, CHUNKS> rows;
    float sums[EIGHTS][MTILES][4] = {};
    take_rows<rough_path, CHUNKS>(rows, row_side, tile);
    for (int64_t eight = first * 4; eight < last * 4; eight += NT) {
        float v[NT][MTILES][4], weight[NT][2];
        powers<rough_path, CHUNKS, NT>(v, rows, row_side, tile, col_side, eight, nullptr);
        int32_t id = zero ? ids[eight * 8 + lane % (8 * NT)] : -1;
        bool meets = __any_sync(0xffffffffu, id >= row0 && id < row0 + TILE);
#pragma unroll
        for (int nt = 0; nt < NT; nt++) {
            weights_of<rough_path>(col_side, eight + nt, weight[nt][0], weight[nt][1]);
            weight[nt][0] *= UNIT;
            weight[nt][1] *= UNIT;
            if (meets) {
                leave_out<rough_path>(v[nt], ids + (eight + nt) * 8, row0);
            }
        }
        rough_path::right x[EIGHTS];
#pragma unroll
        for (int e = 0; e < EIGHTS; e++) {
            rough_path::load(x[e], vectors + (eight / 2 * EIGHTS + e) * LANES + lane);
        }
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
            rough_path::left w;
#pragma unroll
            for (int part = 0; part < 4; part++) { /* rows g and g + 8 of the first eight, then of the second */
                int nt = part / 2, h = part % 2;
                split_pair(v[nt][m][2 * h] * weight[nt][0], v[nt][m][2 * h + 1] * weight[nt][1], w.hi[part],
                           w.lo[part]);
            }
#pragma unroll
            for (int e = 0; e < EIGHTS; e++) {
                float sum[4] = {}; /* rounded to nearest when it is added, as sums in the tensor cores are not */
                rough_path::multiply(sum, w, x[e]);
#pragma unroll
                for (int r = 0; r < 4; r++) {
                    sums[e][m][r] += sum[r];
                }
            }
        }
    }
#pragma unroll
    for (int at = 0; at < EIGHTS * MTILES * 4; at++) {
        int e = at / (MTILES * 4), m = at / 4 % MTILES, r = at % 4;
        int64_t row = tile * TILE + 16 * m + 8 * (r / 2) + g;
        int c = 8 * e + 2 * t + r % 2;
        if (row < out.count && c < k) {
            out.y[c * out.stride + row] += (double)sums[e][m][r] * (double)rows.weight[m][r / 2] * units[c];
        }
    }
}

/* A block a vector: what its entries, over UNIT, are multiplied by when they come back, a power of two. */
__global__ void units_kernel(const double *x, int64_t count, double *out) {
    __shared__ double largest[256];
    double most = 0;
    for (int64_t i = threadIdx.x; i < count; i += 256) {
        most = fmax(most, fabs(x[blockIdx.x * count + i]));
    }
    largest[threadIdx.x] = most;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            largest[threadIdx.x] = fmax(largest[threadIdx.x], largest[threadIdx.x + half]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = largest[0] > 0 ? ldexp(1.0, ilogb(largest[0])) / UNIT : 1;
    }
}

/* A lane's share of 16 columns x 8 vectors: columns 2t, 2t + 1 and 8 later, of vector g. */
__global__ void halves_kernel(const double *x, const double *units, int64_t count, int64_t padded, int k, int eights,
                              uint4 *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, sixteen = at / LANES / eights;
    int lane = at % LANES, c = (int)(at / LANES % eights) * 8 + lane / 4;
    if (sixteen * 16 >= padded) {
        return;
    }
    double pairs[2][2];
    for (int i = 0; i < 4; i++) {
        int64_t column = sixteen * 16 + 2 * (lane % 4) + 8 * (i / 2) + i % 2;
        pairs[i / 2][i % 2] = c < k && column < count ? x[c * count + column] / (units[c] * (double)UNIT) : 0;
    }
    out[at] = rough_path::make(pairs);
}

/* The rows and the columns of a product. */
template <class P> struct factors {
    buffer<int32_t> ids;
    packed<P> left, right;
    int64_t rows, padded; /* places */
    int make(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const targets &out) {
        buffer<int32_t> row_ids;
        padded = (count + GROUP - 1) / GROUP * GROUP;
        rows = tiles_of(out.count) * TILE;
        TRY(make_places(call, a, 0, objects ? 0 : count, padded, ids));
        if (objects) {
            TRY(copy_there(call, a, ids.data, objects, count * (int64_t)sizeof *objects));
        }
        TRY(make_places(call, a, out.first, out.count, rows, row_ids));
        TRY(pack<P>(call, a, row_ids.data, rows, left));
        return pack<P>(call, a, ids.data, padded, right);
    }
    /* launch(blocks, first, last): groups of columns. Whatever the pieces, the sums of so many go together. */
    template <class F> int multiply(clv_cuda_call *call, F launch) {
        return in_pieces(call, padded / GROUP, FLUSH, (double)rows * GROUP, [&](int64_t first, int64_t last) {
            for (int64_t at = first; at < last; at += FLUSH) {
                launch((unsigned)((rows / TILE + WARPS - 1) / WARPS), at, at + FLUSH < last ? at + FLUSH : last);
            }
            return CLV_CUDA_OK;
        });
    }
};

int exact_vectors(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                  int64_t k, const targets &out) {
    int width = k > 8 ? 16 : 8;
    factors<exact_path> f;
    buffer<double> vectors;
    TRY(f.make(call, a, objects, count, out));
    TRY(vectors.make(call, a, f.padded * width));
    vectors_kernel<<<(unsigned)((f.padded * width + 255) / 256), 256>>>(x, count, f.padded, (int)k, width,
                                                                       f.right.weight.data, vectors.data);
    side<exact_path> l = side_of(f.left), r = side_of(f.right);
    return f.multiply(call, [&](unsigned blocks, int64_t first, int64_t last) {
        by_chunks<exact_path>(l.chunks, [&](auto chunks) {
            auto kernel = width == 8 ? product_kernel<chunks, 1> : product_kernel<chunks, 2>;
            kernel<<<blocks, WARPS * LANES>>>(l, r, f.ids.data, a->of.zero_diagonal, vectors.data, (int)k, first, last,
                                              out);
        });
    });
}

int rough_vectors(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                  int64_t k, const targets &out) {
    int eights = k > 8 ? 2 : 1;
    factors<rough_path> f;
    buffer<double> units;
    buffer<uint4> vectors;
    TRY(f.make(call, a, objects, count, out));
    TRY(units.make(call, a, k));
    TRY(vectors.make(call, a, f.padded / 16 * eights * LANES));
    units_kernel<<<(unsigned)k, 256>>>(x, count, units.data);
    halves_kernel<<<(unsigned)((f.padded / 16 * eights * LANES + 255) / 256), 256>>>(x, units.data, count, f.padded,
                                                                                    (int)k, eights, vectors.data);
    side<rough_path> l = side_of(f.left), r = side_of(f.right);
    return f.multiply(call, [&](unsigned blocks, int64_t first, int64_t last) {
        by_chunks<rough_path>(l.chunks, [&](auto chunks) {
            auto kernel = eights == 1 ? rough_product_kernel<chunks, 1> : rough_product_kernel<chunks, 2>;
            kernel<<<blocks, WARPS * LANES>>>(l, r, f.ids.data, a->of.zero_diagonal, vectors.data, units.data, (int)k,
                                              first, last, out);
        });
    });
}

/* --- center and radius --- */

/* A block a feature. */
__global__ void center_kernel(const double *panels, int64_t features, int64_t n, double *out) {
    __shared__ double sums[256];
    double sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += 256) {
        sum += panels[(i / TILE * features + blockIdx.x) * TILE + i % TILE];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0] / (double)n;
    }
}

/* A block a tile. */
__global__ void radius_kernel(scaling s, int64_t n, double *out) {
    __shared__ double squares[TILE];
    int64_t i = blockIdx.x * TILE + threadIdx.x;
    double sum = 0;
    for (int64_t f = 0; i < n && f < s.features; f++) {
        double x = scaled(s, i, f);
        sum = fma(x, x, sum);
    }
    squares[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int r = 1; r < TILE; r++) {
            sum = fmax(sum, squares[r]);
        }
        out[blockIdx.x] = sum;
    }
}

} // namespace

int find_radius(clv_cuda_call *call, clv_cuda_operator *a) {
    int64_t tiles = tiles_of(a->of.n);
    buffer<double> center, squares;
    std::vector<double> found((size_t)tiles);
    TRY(center.make(call, a, a->of.features));
    TRY(squares.make(call, a, tiles));
    center_kernel<<<(unsigned)a->of.features, 256>>>(a->panels, a->of.features, a->of.n, center.data);
    a->center = center.give();
    radius_kernel<<<(unsigned)tiles, TILE>>>(scaling_of(a), a->of.n, squares.data);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(found.data(), squares.data, (size_t)tiles * sizeof(double), cudaMemcpyDeviceToHost));
    a->radius = *std::max_element(found.begin(), found.end());
    return CLV_CUDA_OK;
}

bool tensor_suits(const clv_cuda_operator *a, bool rough) {
    return a->of.kind == CLV_CUDA_GAUSSIAN && a->major >= 8 && a->radius <= (rough ? ROUGH_RADIUS : EXACT_RADIUS);
}

int tensor_group_sums(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *labels, int64_t k, bool rough,
                      double *y) {
    return rough && tensor_suits(a, true) ? group_sums<rough_path>(call, a, labels, k, y)
                                          : group_sums<exact_path>(call, a, labels, k, y);
}

int tensor_moves(clv_cuda_call *call, clv_cuda_operator *a, const std::vector<int32_t> &ids,
                 const std::vector<int32_t> &from, const std::vector<int32_t> &to, bool rough, const targets &out) {
    groups host = group_columns(ids, from, to);
    return rough && tensor_suits(a, true) ? moves<rough_path>(call, a, host, out)
                                          : moves<exact_path>(call, a, host, out);
}

int tensor_product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, bool rough, const targets &out) {
    return (rough && tensor_suits(a, true) ? rough_vectors : exact_vectors)(call, a, objects, count, x, k, out);
}
