/* Products with vectors. */
#include "warpgroup.cuh"

namespace {

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

/* Exact: vectors[(column * 8 EIGHTS) + c], with the weights of the columns in them. */
template <int EIGHTS_> struct exact_vectors {
    using path = exact_path;
    static constexpr int EIGHTS = EIGHTS_;
    static constexpr __host__ __device__ int together(int chunks) { return exact_path::together(chunks); }
    static constexpr __host__ __device__ int blocks(int) { return 1; }
    const double *vectors;
    int k;
    struct sums {
        double of[EIGHTS][MTILES][4] = {};
    };
    template <int NT>
    __device__ void add(sums &to, const double v[NT][MTILES][4], const side<exact_path> &, int64_t eight) const {
        int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int nt = 0; nt < NT; nt++) {
            const double *x = vectors + ((eight + nt) * 8 + 2 * t) * 8 * EIGHTS + g;
#pragma unroll
            for (int e = 0; e < EIGHTS; e++) {
                double even = __ldg(x + 8 * e), odd = __ldg(x + 8 * (EIGHTS + e));
#pragma unroll
                for (int m = 0; m < MTILES; m++) {
                    add_product(to.of[e][m], v[nt][m], even, odd);
                }
            }
        }
    }
    __device__ double total(const sums &of, int e, int m, int r, int) const { return of.of[e][m][r]; }
};

/* Rough: 16-bit halves, W and the vectors as hi + lo, in floats over FLUSH groups. Powers of 16 x 16 are the left operand
 * as they lie, with the weights of the columns in them, which makes them 2^(ROUGH_RADIUS / 2) at most, and times UNIT,
 * so that small ones keep their digits.
 *
 * hi and lo of the vectors are vectors of their own: the first of each eight are multiplied by hi and lo of W, the
 * second by hi alone. If the last eight has four vectors or fewer (HALF), their lo is in its other half. */
constexpr float UNIT = 128;

/* By crews the weights are in the vectors, of which the largest is 2^14, and powers are taken as they are, which spares
 * a multiplication of each; those of a radius up to CREW_RADIUS keep their digits. */
constexpr double CREW_UNIT = 1 << 14, CREW_RADIUS = 5;
constexpr int64_t CREW_FLUSH = 64; /* tiles of columns */

/* A pair of them as hi and as lo. */
__device__ void split_pair(float x, float y, unsigned &hi, unsigned &lo) {
    __half2 high = __floats2half2_rn(x, y);
    __half2 low = __floats2half2_rn(x - __low2float(high), y - __high2float(high));
    hi = *(unsigned *)&high;
    lo = *(unsigned *)&low;
}

/* vectors[(sixteen * ALL + e) * LANES + lane]: a lane's share of 16 columns x 8 vectors. */
template <int EIGHTS_, bool HALF> struct rough_vectors {
    using path = rough_path;
    static constexpr int EIGHTS = EIGHTS_, ALL = 2 * EIGHTS - HALF;
    static constexpr __host__ __device__ int together(int) { return 2; }
    static constexpr __host__ __device__ int blocks(int chunks) { return chunks == 1 ? 3 : 1; }
    const uint2 *vectors;
    const double *units;
    int k;
    template <int M> struct sums_of {
        float of[ALL][M][4] = {};
    };
    using sums = sums_of<MTILES>;
    /* Powers with the weights of their columns. */
    static __device__ void take_left(rough_path::left &w, const float v[2][MTILES][4], int m, const float weight[2][2]) {
#pragma unroll
        for (int part = 0; part < 4; part++) { /* rows g and g + 8 of the first eight, then of the second */
            int nt = part / 2, h = part % 2;
            split_pair(v[nt][m][2 * h] * weight[nt][0], v[nt][m][2 * h + 1] * weight[nt][1], w.hi[part], w.lo[part]);
        }
    }
    template <int NT>
    __device__ void add(sums &to, const float v[NT][MTILES][4], const side<rough_path> &columns, int64_t eight) const {
        int lane = threadIdx.x % LANES;
        float weight[NT][2];
        uint2 x[NT / 2][ALL];
#pragma unroll
        for (int nt = 0; nt < NT; nt++) {
            weights_of<rough_path>(columns, eight + nt, weight[nt][0], weight[nt][1]);
            weight[nt][0] *= UNIT;
            weight[nt][1] *= UNIT;
        }
#pragma unroll
        for (int at = 0; at < NT / 2 * ALL; at++) {
            x[at / ALL][at % ALL] = __ldg(vectors + (eight / 2 * ALL + at) * LANES + lane);
        }
#pragma unroll
        for (int m = 0; m < MTILES; m++) {
            float sum[EIGHTS][4] = {}; /* rounded to nearest when it is added, as sums in the tensor cores are not */
#pragma unroll
            for (int half = 0; half < NT / 2; half++) {
                rough_path::left w;
                take_left(w, v + 2 * half, m, weight + 2 * half);
#pragma unroll
                for (int e = 0; e < EIGHTS; e++) {
                    rough_path::half_product(sum[e], w.lo, &x[half][e].x);
                }
#pragma unroll
                for (int e = EIGHTS; e < ALL; e++) {
                    rough_path::half_product(to.of[e][m], w.hi, &x[half][e].x);
                }
#pragma unroll
                for (int e = 0; e < EIGHTS; e++) {
                    rough_path::half_product(sum[e], w.hi, &x[half][e].x);
                }
            }
#pragma unroll
            for (int e = 0; e < EIGHTS * 4; e++) {
                to.of[e / 4][m][e % 4] += sum[e / 4][e % 4];
            }
        }
    }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    /* By crews: 64 columns. The vectors, with the weights of the columns in them, lie as wgmma reads them, and all of
     * them are multiplied by hi and by lo; sums of 64 are rounded to nearest when they are added. */
    template <int M> static __device__ void add_stage(sums_of<M> &to, int m, const float v[8][4], const char *x) {
        constexpr int SIXTEENS = TILE / 16;
        uint64_t b = columns_at(x, 128, 256);
        unsigned hi[SIXTEENS][4], lo[SIXTEENS][4];
        float sum[ALL][4];
#pragma unroll
        for (int at = 0; at < SIXTEENS * 4; at++) { /* rows g and g + 8 of the first eight, then of the second */
            const float *y = v[at / 2] + at % 2 * 2;
            split_pair(y[0], y[1], hi[at / 4][at % 4], lo[at / 4][at % 4]);
        }
        begin_products();
#pragma unroll
        for (int at = 0; at < 2 * SIXTEENS; at++) {
            crew_multiply<ALL>(sum, at < SIXTEENS ? lo[at] : hi[at - SIXTEENS], b + at % SIXTEENS * ALL * 16, at > 0);
        }
        end_products<ALL>(sum);
#pragma unroll
        for (int e = 0; e < ALL * 4; e++) {
            to.of[e / 4][m][e % 4] += sum[e / 4][e % 4];
        }
    }
#endif
    template <class S> __device__ double total(const S &of, int e, int m, int r, int c) const {
        bool alone = HALF && e == EIGHTS - 1;
        float lo = alone ? __shfl_xor_sync(0xffffffffu, of.of[e][m][r], 2) : of.of[alone ? e : EIGHTS + e][m][r];
        return ((double)of.of[e][m][r] + (double)lo) * (c < k ? units[c] : 0);
    }
};

/* Rows row(m) and row(m) + 8, for m < M: all are read before the first is written, so that nothing waits for another. */
template <int M, class V, class S, class F>
__device__ void add_totals(const V &vectors, const S &sums, const typename V::path::real weight[M][2], const targets &out,
                           F row) {
    constexpr int COUNT = V::EIGHTS * M * 4;
    double *to[COUNT], y[COUNT];
#pragma unroll
    for (int at = 0; at < COUNT; at++) {
        int e = at / (M * 4), m = at / 4 % M, r = at % 4, c = 8 * e + 2 * (threadIdx.x % 4) + r % 2;
        int64_t i = row(m) + 8 * (r / 2);
        double total = vectors.total(sums, e, m, r, c) * (double)weight[m][r / 2];
        to[at] = i < out.count && c < vectors.k ? out.y + c * out.stride + i : nullptr;
        y[at] = to[at] ? *to[at] + total : 0;
    }
#pragma unroll
    for (int at = 0; at < COUNT; at++) {
        if (to[at]) {
            *to[at] = y[at];
        }
    }
}

/* y += the rows of a warp times V: vectors, and the arithmetic that suits them. */
template <class V, int CHUNKS>
__global__ void __launch_bounds__(WARPS *LANES, V::blocks(CHUNKS))
    product_kernel(side<typename V::path> row_side, side<typename V::path> col_side, const int32_t *ids, int zero,
                   V vectors, int64_t first, int64_t last, targets out) {
    using P = typename V::path;
    constexpr int NT = V::together(CHUNKS);
    __shared__ double table[P::TABLE ? TABLE_SIZE : 1];
    fill_table<P>(table);
    int lane = threadIdx.x % LANES, g = lane / 4;
    int64_t tile = blockIdx.x * WARPS + threadIdx.x / LANES, row0 = out.first + tile * TILE;
    if (tile * TILE >= out.count) {
        return;
    }
    rows_of<P, CHUNKS> rows;
    typename V::sums sums;
    take_rows(rows, row_side, tile);
    for (int64_t eight = first * 4; eight < last * 4; eight += NT) {
        typename P::real v[NT][MTILES][4];
        powers<P, CHUNKS, NT>(v, rows, row_side, tile, col_side, eight, table);
        int32_t id = zero ? ids[eight * 8 + lane % (8 * NT)] : -1;
        if (__any_sync(0xffffffffu, id >= row0 && id < row0 + TILE)) {
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                leave_out<P>(v[nt], ids + (eight + nt) * 8, row0);
            }
        }
        vectors.template add<NT>(sums, v, col_side, eight);
    }
    add_totals<MTILES>(vectors, sums, rows.weight, out, [&](int m) { return tile * TILE + 16 * m + g; });
}

/* The same by crews: tiles first..last - 1 of columns. */
constexpr __host__ __device__ int product_tiles(int chunks) {
    return chunks == 1 ? 2 : 1;
}

template <class V, int CHUNKS>
__global__ void __launch_bounds__(CREW *BLOCK_TILES / product_tiles(CHUNKS), CHUNKS == 1 ? 2 : 1)
    crew_product_kernel(side<crew_path> row_side, side<crew_path> col_side, const int32_t *ids, int zero, V vectors,
                        int64_t first, int64_t last, targets out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int TILES = product_tiles(CHUNKS), EXTRA = V::ALL * TILE / 16 * LANES * (int)sizeof(uint2);
    using columns = column_pipe<CHUNKS, EXTRA>;
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4, g = lane / 4;
    int64_t tile = blockIdx.x * BLOCK_TILES + threadIdx.x / CREW * TILES, row0 = out.first + tile * TILE;
    columns pipe = {col_side, (const char *)vectors.vectors, first, (int)(last - first), stages, full, empty};
    crew_rows<CHUNKS, TILES> rows;
    typename V::template sums_of<TILES> sums;
    pipe.begin();
    rows.take(row_side, tile, tiles_of(out.count));
    for (int i = 0; i < pipe.count; i++) {
        const char *stage = pipe.take(i);
        const int32_t *here = ids + (first + i) * TILE;
        bool diagonal = zero && meets(here, row0, TILES * TILE);
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            float v[8][4];
            crew_powers<CHUNKS>(v, rows.part[m], stage);
            if (diagonal) {
                leave_crew_out(v, here, row0 + m * TILE);
            }
            V::add_stage(sums, m, v, stage + columns::POINTS + columns::WEIGHTS);
        }
        pipe.leave(i);
    }
    add_totals<TILES>(vectors, sums, rows.weight, out, [&](int m) { return (tile + m) * TILE + 16 * warp + g; });
#endif
}

__global__ void vectors_kernel(const double *x, int64_t count, int64_t padded, int k, int width, const double *weight,
                               double *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, column = at / width;
    int c = (int)(at % width);
    if (column < padded) {
        out[at] = c < k && column < count ? x[c * count + column] * weight[column] : 0;
    }
}

/* A block a vector: what its entries, over `unit`, are multiplied by when they come back, a power of two. */
__global__ void units_kernel(const double *x, int64_t count, double unit, double *out) {
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
        out[blockIdx.x] = largest[0] > 0 ? ldexp(1.0, ilogb(largest[0])) / unit : 1;
    }
}

/* A lane's share of 16 columns x 8 vectors, columns 2t, 2t + 1 and 8 later: of vector c, hi or lo. With weights, by
 * crews, they are as large as `unit` of units_kernel, without them about 1. By crews the first eight columns of all
 * vectors come first. */
__global__ void halves_kernel(const double *x, const double *units, const float *weight, int64_t count, int64_t padded,
                              int k, int eights, int all, uint2 *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, sixteen = at / LANES / all;
    int lane = at % LANES, e = (int)(at / LANES % all), g = lane / 4;
    if (sixteen * 16 >= padded) {
        return;
    }
    bool shared = 2 * eights > all && e == eights - 1, low = e >= eights || (shared && g >= 4);
    int c = (e >= eights ? e - eights : e) * 8 + (shared ? g % 4 : g);
    double pairs[2][2];
    for (int i = 0; i < 4; i++) {
        int64_t column = sixteen * 16 + 2 * (lane % 4) + 8 * (i / 2) + i % 2;
        double scale = weight ? (double)weight[column] : 1 / (double)UNIT;
        pairs[i / 2][i % 2] = c < k && column < count ? x[c * count + column] / units[c] * scale : 0;
    }
    uint4 both = rough_path::make(pairs);
    uint2 mine = low ? make_uint2(both.z, both.w) : make_uint2(both.x, both.y);
    if (weight) {
        unsigned *to = (unsigned *)(out + at - lane) + lane;
        to[0] = mine.x;
        to[LANES] = mine.y;
    } else {
        out[at] = mine;
    }
}

/* The rows and the columns of a product. */
template <class P> struct factors {
    buffer<int32_t> ids;
    packed<P> left, right;
    int64_t rows, padded; /* places */
    int make(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const targets &out) {
        buffer<int32_t> row_ids;
        padded = tiles_of(count) * TILE;
        rows = tiles_of(out.count) * TILE;
        TRY(make_places(call, a, 0, objects ? 0 : count, padded, ids));
        if (objects) {
            TRY(copy_there(call, a, ids.data, objects, count * (int64_t)sizeof *objects));
        }
        TRY(make_places(call, a, out.first, out.count, rows, row_ids));
        TRY(pack<P>(call, a, row_ids.data, rows, left));
        return pack<P>(call, a, ids.data, padded, right);
    }
    /* launch(blocks, first, last): units of `width` columns. Whatever the pieces, the sums of `flush` go together. */
    template <class F> int multiply(clv_cuda_call *call, int64_t width, int64_t flush, F launch) {
        return in_pieces(call, padded / width, flush, (double)(rows * width), [&](int64_t first, int64_t last) {
            for (int64_t at = first; at < last; at += flush) {
                TRY(launch((unsigned)((rows / TILE + 3) / 4), at, at + flush < last ? at + flush : last));
            }
            return (int)CLV_CUDA_OK;
        });
    }
};

template <class V, class P>
int multiply(clv_cuda_call *call, const clv_cuda_operator *a, factors<P> &f, const V &vectors, const targets &out) {
    side<P> l = side_of(f.left), r = side_of(f.right);
    return f.multiply(call, GROUP, FLUSH, [&](unsigned blocks, int64_t first, int64_t last) {
        by_chunks<P>(l.chunks, [&](auto chunks) {
            product_kernel<V, chunks>
                <<<blocks, WARPS * LANES>>>(l, r, f.ids.data, a->of.zero_diagonal, vectors, first, last, out);
        });
        return (int)CLV_CUDA_OK;
    });
}

template <class V>
int multiply(clv_cuda_call *call, const clv_cuda_operator *a, factors<crew_path> &f, const V &vectors,
             const targets &out) {
    side<crew_path> l = side_of(f.left), r = side_of(f.right);
    return f.multiply(call, TILE, CREW_FLUSH, [&](unsigned blocks, int64_t first, int64_t last) {
        return by_crew_chunks(l.chunks, [&](auto chunks) {
            constexpr int bytes = crew_bytes<chunks, V::ALL * TILE / 16 * LANES * (int)sizeof(uint2)>();
            auto kernel = crew_product_kernel<V, chunks>;
            TRY(allow_bytes(call, kernel, bytes));
            kernel<<<blocks, BLOCK_TILES / product_tiles(chunks) * CREW, bytes>>>(
                l, r, f.ids.data, a->of.zero_diagonal, vectors, first, last, out);
            return (int)CLV_CUDA_OK;
        });
    });
}

int exact_product_of(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                     int64_t k, const targets &out) {
    int width = k > 8 ? 16 : 8;
    factors<exact_path> f;
    buffer<double> vectors;
    TRY(f.make(call, a, objects, count, out));
    TRY(vectors.make(call, a, f.padded * width));
    vectors_kernel<<<(unsigned)((f.padded * width + 255) / 256), 256>>>(x, count, f.padded, (int)k, width,
                                                                       f.right.weight.data, vectors.data);
    return width == 8 ? multiply(call, a, f, exact_vectors<1>{vectors.data, (int)k}, out)
                      : multiply(call, a, f, exact_vectors<2>{vectors.data, (int)k}, out);
}

template <class P, int EIGHTS, bool HALF>
int rough_product_of(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                     int64_t k, const targets &out) {
    using V = rough_vectors<EIGHTS, HALF>;
    factors<P> f;
    buffer<double> units;
    buffer<uint2> vectors;
    TRY(f.make(call, a, objects, count, out));
    int64_t shares = f.padded / 16 * V::ALL * LANES;
    TRY(units.make(call, a, k));
    TRY(vectors.make(call, a, shares));
    constexpr bool crews = std::is_same_v<P, crew_path>;
    units_kernel<<<(unsigned)k, 256>>>(x, count, crews ? CREW_UNIT : UNIT, units.data);
    halves_kernel<<<(unsigned)((shares + 255) / 256), 256>>>(x, units.data, crews ? f.right.weight.data : nullptr, count,
                                                             f.padded, (int)k, EIGHTS, V::ALL, vectors.data);
    return multiply(call, a, f, V{vectors.data, units.data, (int)k}, out);
}

} // namespace

int tensor_product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, bool rough, const targets &out) {
    static constexpr decltype(&exact_product_of) rough_ways[2][4] = {
        {rough_product_of<rough_path, 1, true>, rough_product_of<rough_path, 1, false>,
         rough_product_of<rough_path, 2, true>, rough_product_of<rough_path, 2, false>},
        {rough_product_of<crew_path, 1, true>, rough_product_of<crew_path, 1, false>,
         rough_product_of<crew_path, 2, true>, rough_product_of<crew_path, 2, false>}};
    auto way = rough && tensor_suits(a, true) ? rough_ways[crews_suit(a) && a->radius <= CREW_RADIUS][(k - 1) / 4] : exact_product_of;
    return way(call, a, objects, count, x, k, out);
}
