/* Passes of every kind in double, by differences of features: the bits of an entry depend on its two points alone.
 *
 * A block has 64 rows and goes over tiles of 64 columns; a thread has 4 x 4 entries of a tile in registers, rows
 * 4 ty + r and columns tx + 16 q, so that shared memory is read without conflicts. A row belongs to one block, which
 * adds its columns in their order: no atomics, and the same bits in every run. */
#include "operator.cuh"

namespace {

constexpr int THREADS = 256, SIDE = 4, CHUNK = 16, PITCH = TILE + 1;
/* Sums go from registers to memory after so many tiles, whatever the launches. */
constexpr int64_t FLUSH = 16;

struct pass {
    const double *rows, *cols; /* panels */
    const int32_t *ids;        /* of the columns, or NULL */
    const void *given;
    int single, zero;
    int64_t n, features, count; /* objects; columns */
    int64_t first_row;          /* a multiple of TILE */
    double gamma, top;
};

__device__ double similarity(int kind, double gamma, double top, double s) {
    switch (kind) {
    case CLV_CUDA_GAUSSIAN:
        return exp(-gamma * s);
    case CLV_CUDA_EXPONENTIAL:
        return exp(-gamma * sqrt(s));
    case CLV_CUDA_DISTANCE:
        return fmax(top - sqrt(s), 0.0);
    default:
        return fmax(s, 0.0);
    }
}

__device__ double stored(const pass &p, int64_t at) {
    return p.single ? (double)((const float *)p.given)[at] : ((const double *)p.given)[at];
}

/* Of a given matrix, rows of columns are read as they lie, and turned in shared memory. */
template <int KIND>
__device__ void load_tile(const pass &p, int64_t row0, int64_t tile, const int32_t *ids, double *shared,
                          double v[SIDE][SIDE]) {
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        int64_t row = row0 + e % TILE;
        int32_t id = ids[e / TILE];
        shared[e / TILE * PITCH + e % TILE] = id >= 0 && row < p.n ? stored(p, id * p.n + row) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
#pragma unroll
        for (int q = 0; q < SIDE; q++) {
            v[r][q] = shared[(tx + 16 * q) * PITCH + SIDE * ty + r];
        }
    }
    __syncthreads();
}

template <int KIND>
__device__ void compute_tile(const pass &p, int64_t row0, int64_t tile, double *shared, double v[SIDE][SIDE]) {
    double *left = shared, *right = shared + CHUNK * TILE;
    const double *rows = p.rows + row0 * p.features, *cols = p.cols + tile * TILE * p.features;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
#pragma unroll
        for (int q = 0; q < SIDE; q++) {
            v[r][q] = 0;
        }
    }
    for (int64_t f0 = 0; f0 < p.features; f0 += CHUNK) {
        int some = p.features - f0 < CHUNK ? (int)(p.features - f0) : CHUNK;
        for (int e = threadIdx.x; e < some * TILE; e += THREADS) {
            left[e] = rows[f0 * TILE + e];
            right[e] = cols[f0 * TILE + e];
        }
        __syncthreads();
        for (int f = 0; f < some; f++) {
            double x[SIDE], y[SIDE];
#pragma unroll
            for (int r = 0; r < SIDE; r++) {
                x[r] = left[f * TILE + SIDE * ty + r];
                y[r] = right[f * TILE + tx + 16 * r];
            }
#pragma unroll
            for (int r = 0; r < SIDE; r++) {
#pragma unroll
                for (int q = 0; q < SIDE; q++) {
                    double d = KIND == CLV_CUDA_PRODUCT ? x[r] : x[r] - y[q];
                    v[r][q] = fma(d, KIND == CLV_CUDA_PRODUCT ? y[q] : d, v[r][q]);
                }
            }
        }
        __syncthreads();
    }
}

/* The entries of a tile; `raw`: squared distances. Nothing beyond the columns; ids of the tile are in shared memory. */
template <int KIND, bool RAW>
__device__ void tile_entries(const pass &p, int64_t row0, int64_t tile, int32_t *ids, double *shared,
                             double v[SIDE][SIDE]) {
    if (threadIdx.x < TILE) {
        int64_t at = tile * TILE + threadIdx.x;
        ids[threadIdx.x] = at < p.count ? (p.ids ? p.ids[at] : (int32_t)at) : -1;
    }
    __syncthreads();
    if (KIND == CLV_CUDA_GIVEN) {
        load_tile<KIND>(p, row0, tile, ids, shared, v);
    } else {
        compute_tile<KIND>(p, row0, tile, shared, v);
    }
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
#pragma unroll
        for (int q = 0; q < SIDE; q++) {
            int32_t id = ids[tx + 16 * q];
            int64_t row = row0 + SIDE * ty + r;
            if (!RAW && KIND != CLV_CUDA_GIVEN) {
                v[r][q] = similarity(KIND, p.gamma, p.top, v[r][q]);
            }
            v[r][q] = id < 0 || row >= p.n || (p.zero && id == row) ? 0 : v[r][q];
        }
    }
}

/* Sums over the 16 threads of a row, in every one of them. */
__device__ double over_row(double x) {
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, step);
    }
    return x;
}

/* --- sums by label --- */

/* Row by row, a column at a time: for tiles where labels change. */
__device__ void add_mixed(const pass &p, int64_t row0, int64_t tile, const double v[SIDE][SIDE], double *shared,
                          const int32_t *from, const int32_t *to, const targets &out) {
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
#pragma unroll
        for (int q = 0; q < SIDE; q++) {
            shared[(tx + 16 * q) * PITCH + SIDE * ty + r] = v[r][q];
        }
    }
    __syncthreads();
    int64_t row = row0 - out.first + threadIdx.x;
    if (threadIdx.x < TILE && row < out.count) {
        for (int64_t c = 0; c < TILE && tile * TILE + c < p.count; c++) {
            int32_t a = from[tile * TILE + c], b = to[tile * TILE + c];
            double value = shared[c * PITCH + threadIdx.x];
            if (a >= 0) {
                out.y[a * out.stride + row] -= value;
            }
            if (b >= 0) {
                out.y[b * out.stride + row] += value;
            }
        }
    }
    __syncthreads();
}

__device__ void flush(double sums[SIDE], int32_t from, int32_t to, int64_t row0, const targets &out) {
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        double sum = over_row(sums[r]);
        int64_t row = row0 - out.first + SIDE * ty + r;
        if (tx == 0 && row < out.count) {
            if (from >= 0) {
                out.y[from * out.stride + row] -= sum;
            }
            if (to >= 0) {
                out.y[to * out.stride + row] += sum;
            }
        }
        sums[r] = 0;
    }
}

template <int KIND>
__global__ void __launch_bounds__(THREADS) sums_kernel(pass p, int64_t first, int64_t last, const int32_t *from,
                                                       const int32_t *to, targets out) {
    __shared__ double shared[TILE * PITCH];
    __shared__ int32_t ids[TILE];
    int64_t row0 = p.first_row + blockIdx.x * TILE;
    double sums[SIDE] = {0, 0, 0, 0}, v[SIDE][SIDE];
    int32_t from_now = -1, to_now = -1;
    for (int64_t tile = first; tile < last; tile++) {
        int64_t begin = tile * TILE, end = begin + TILE < p.count ? begin + TILE - 1 : p.count - 1;
        int32_t a = from[begin], b = to[begin];
        bool mixed = a != from[end] || b != to[end];
        if (mixed || a != from_now || b != to_now || tile % FLUSH == 0) {
            flush(sums, from_now, to_now, row0, out);
            from_now = mixed ? -1 : a;
            to_now = mixed ? -1 : b;
        }
        tile_entries<KIND, false>(p, row0, tile, ids, shared, v);
        if (mixed) {
            __syncthreads();
            add_mixed(p, row0, tile, v, shared, from, to, out);
            continue;
        }
#pragma unroll
        for (int r = 0; r < SIDE; r++) {
            sums[r] += (v[r][0] + v[r][1]) + (v[r][2] + v[r][3]);
        }
        __syncthreads();
    }
    flush(sums, from_now, to_now, row0, out);
}

/* --- products --- */

template <int KIND, int VECTORS>
__global__ void __launch_bounds__(THREADS) product_kernel(pass p, int64_t first, int64_t last, const double *x, int k,
                                                          targets out) {
    __shared__ double shared[TILE * PITCH];
    __shared__ int32_t ids[TILE];
    int tx = threadIdx.x % 16;
    int64_t row0 = p.first_row + blockIdx.x * TILE;
    double sums[VECTORS][SIDE] = {}, v[SIDE][SIDE];
    for (int64_t tile = first; tile < last; tile++) {
        tile_entries<KIND, false>(p, row0, tile, ids, shared, v);
#pragma unroll
        for (int c = 0; c < VECTORS; c++) {
#pragma unroll
            for (int q = 0; q < SIDE; q++) {
                int64_t at = tile * TILE + tx + 16 * q;
                double weight = c < k && at < p.count ? x[c * p.count + at] : 0;
#pragma unroll
                for (int r = 0; r < SIDE; r++) {
                    sums[c][r] = fma(weight, v[r][q], sums[c][r]);
                }
            }
        }
        __syncthreads();
        if (tile % FLUSH == FLUSH - 1 || tile == last - 1) {
            for (int c = 0; c < VECTORS; c++) {
                flush(sums[c], -1, c < k ? c : -1, row0, out);
            }
        }
    }
}

/* --- all pairs --- */

template <int KIND>
__global__ void __launch_bounds__(THREADS) moments_kernel(pass p, int64_t first, int64_t last, targets out) {
    __shared__ double shared[TILE * PITCH];
    __shared__ int32_t ids[TILE];
    int64_t row0 = p.first_row + blockIdx.x * TILE;
    double sums[SIDE] = {0, 0, 0, 0}, squares[SIDE] = {0, 0, 0, 0}, v[SIDE][SIDE];
    for (int64_t tile = first; tile < last; tile++) {
        tile_entries<KIND, false>(p, row0, tile, ids, shared, v);
#pragma unroll
        for (int r = 0; r < SIDE; r++) {
#pragma unroll
            for (int q = 0; q < SIDE; q++) {
                sums[r] += v[r][q];
                squares[r] = fma(v[r][q], v[r][q], squares[r]);
            }
        }
        __syncthreads();
        if (tile % FLUSH == FLUSH - 1 || tile == last - 1) {
            flush(sums, -1, 0, row0, out);
            flush(squares, -1, 1, row0, out);
        }
    }
}

/* largest[block]: the largest squared distance of the rows of a block. */
__global__ void __launch_bounds__(THREADS) largest_kernel(pass p, int64_t first, int64_t last, double *largest) {
    __shared__ double shared[TILE * PITCH];
    __shared__ int32_t ids[TILE];
    __shared__ double of_warp[THREADS / 32];
    double most = 0, v[SIDE][SIDE];
    for (int64_t tile = first; tile < last; tile++) {
        tile_entries<CLV_CUDA_DISTANCE, true>(p, blockIdx.x * TILE, tile, ids, shared, v);
        for (int e = 0; e < SIDE * SIDE; e++) {
            most = fmax(most, v[e / SIDE][e % SIDE]);
        }
        __syncthreads();
    }
    for (int step = 16; step > 0; step /= 2) {
        most = fmax(most, __shfl_xor_sync(0xffffffffu, most, step));
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = most;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++) {
            most = fmax(most, of_warp[w]);
        }
        largest[blockIdx.x] = fmax(largest[blockIdx.x], most);
    }
}

/* --- single entries and columns: a thread has a row, and takes the columns in turn --- */

__device__ double one_entry(const pass &p, int kind, int64_t row, int64_t row_id, int64_t col, int64_t col_id) {
    if (p.zero && row_id == col_id) {
        return 0;
    }
    if (kind == CLV_CUDA_GIVEN) {
        return stored(p, col_id * p.n + row_id);
    }
    const double *x = p.rows + row / TILE * p.features * TILE + row % TILE;
    const double *y = p.cols + col / TILE * p.features * TILE + col % TILE;
    double sum = 0;
    for (int64_t f = 0; f < p.features; f++) {
        double left = x[f * TILE], right = y[f * TILE], d = left - right;
        sum = kind == CLV_CUDA_PRODUCT ? fma(left, right, sum) : fma(d, d, sum);
    }
    return similarity(kind, p.gamma, p.top, sum);
}

__global__ void entries_kernel(pass p, int kind, const int32_t *row_ids, int64_t rows, int64_t first, int64_t last,
                               double *out) {
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t col = first; col < last && row < rows; col++) {
        int64_t row_id = row_ids ? row_ids[row] : row, col_id = p.ids ? p.ids[col] : col;
        out[(col - first) * rows + row] = one_entry(p, kind, row, row_id, col, col_id);
    }
}

/* y += the columns with their weights, of few of them. */
__global__ void combine_kernel(pass p, int kind, const double *x, targets out) {
    int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    double sum = 0;
    if (row < out.count) {
        for (int64_t col = 0; col < p.count; col++) {
            int64_t col_id = p.ids ? p.ids[col] : col;
            sum = fma(x[col], one_entry(p, kind, out.first + row, out.first + row, col, col_id), sum);
        }
        out.y[row] += sum;
    }
}

__global__ void gather_kernel(const double *panels, int64_t features, const int32_t *ids, int64_t count, double *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; /* in the order of `out` */
    int64_t m = at / (TILE * features) * TILE + at % TILE, f = at / TILE % features;
    if (at < (count + TILE - 1) / TILE * TILE * features) {
        int64_t i = m < count ? ids[m] : 0;
        out[at] = m < count ? panels[(i / TILE * features + f) * TILE + i % TILE] : 0;
    }
}

pass pass_of(const clv_cuda_operator *a, const columns &cols, int64_t first_row) {
    pass p = {};
    p.rows = a->panels;
    p.cols = cols.panels;
    p.ids = cols.ids;
    p.given = a->given;
    p.single = a->of.single;
    p.zero = a->of.zero_diagonal;
    p.n = a->of.n;
    p.features = a->of.features;
    p.count = cols.count;
    p.first_row = first_row;
    p.gamma = a->of.gamma;
    p.top = a->of.top;
    return p;
}

/* The kernel of a kind: f is called with it as a constant. */
template <class F> void by_kind(int kind, F f) {
    switch (kind) {
    case CLV_CUDA_GAUSSIAN:
        return f(std::integral_constant<int, CLV_CUDA_GAUSSIAN>());
    case CLV_CUDA_EXPONENTIAL:
        return f(std::integral_constant<int, CLV_CUDA_EXPONENTIAL>());
    case CLV_CUDA_DISTANCE:
        return f(std::integral_constant<int, CLV_CUDA_DISTANCE>());
    case CLV_CUDA_PRODUCT:
        return f(std::integral_constant<int, CLV_CUDA_PRODUCT>());
    default:
        return f(std::integral_constant<int, CLV_CUDA_GIVEN>());
    }
}

} // namespace

int gather_panels(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *ids, int64_t count, double *out) {
    int64_t entries = tiles_of(count) * TILE * a->of.features;
    if (entries > 0) {
        gather_kernel<<<(unsigned)((entries + 255) / 256), 256>>>(a->panels, a->of.features, ids, count, out);
    }
    CUDA(cudaGetLastError());
    return CLV_CUDA_OK;
}

int exact_entries(clv_cuda_call *call, clv_cuda_operator *a, const columns &rows, const columns &cols, double *out) {
    pass p = pass_of(a, cols, 0);
    p.rows = rows.panels;
    return in_pieces(call, cols.count, 1, (double)rows.count, [&](int64_t first, int64_t last) {
        unsigned blocks = (unsigned)((rows.count + 127) / 128);
        entries_kernel<<<blocks, 128>>>(p, a->of.kind, rows.ids, rows.count, first, last, out + first * rows.count);
        return CLV_CUDA_OK;
    });
}

int exact_cross(clv_cuda_call *call, clv_cuda_operator *a, const columns &rows, const columns &cols, int64_t first,
                int64_t last, double *out, cudaStream_t stream) {
    pass p = pass_of(a, cols, 0);
    p.rows = rows.panels;
    p.zero = 0;
    unsigned blocks = (unsigned)((rows.count + 127) / 128);
    entries_kernel<<<blocks, 128, 0, stream>>>(p, a->of.kind, rows.ids, rows.count, first, last, out);
    CUDA(cudaGetLastError());
    return CLV_CUDA_OK;
}

int exact_sums(clv_cuda_call *call, clv_cuda_operator *a, const columns &cols, const int32_t *from, const int32_t *to,
               const targets &out) {
    pass p = pass_of(a, cols, out.first);
    return in_pieces(call, tiles_of(cols.count), FLUSH, (double)out.count * TILE, [&](int64_t first, int64_t last) {
        by_kind(a->of.kind, [&](auto kind) {
            sums_kernel<kind><<<(unsigned)tiles_of(out.count), THREADS>>>(p, first, last, from, to, out);
        });
        return CLV_CUDA_OK;
    });
}

/* Columns below which a thread takes a row. */
constexpr int64_t FEW_COLUMNS = 32;
constexpr int64_t VECTORS = 8;

int exact_product(clv_cuda_call *call, clv_cuda_operator *a, const columns &cols, const double *x, int64_t k,
                  const targets &out) {
    pass p = pass_of(a, cols, out.first);
    if (k == 1 && cols.count < FEW_COLUMNS) {
        combine_kernel<<<(unsigned)((out.count + 127) / 128), 128>>>(p, a->of.kind, x, out);
        CUDA(cudaGetLastError());
        CUDA(cudaDeviceSynchronize());
        return call->stop(call->user, (double)out.count * (double)cols.count) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
    }
    for (int64_t c = 0; c < k; c += VECTORS) {
        int some = k - c < VECTORS ? (int)(k - c) : (int)VECTORS;
        targets part = out;
        part.y += c * out.stride;
        TRY(in_pieces(call, tiles_of(cols.count), FLUSH, (double)out.count * TILE, [&](int64_t first, int64_t last) {
            by_kind(a->of.kind, [&](auto kind) {
                unsigned blocks = (unsigned)tiles_of(out.count);
                const double *vectors = x + c * cols.count;
                if (some == 1) {
                    product_kernel<kind, 1><<<blocks, THREADS>>>(p, first, last, vectors, some, part);
                } else {
                    product_kernel<kind, VECTORS><<<blocks, THREADS>>>(p, first, last, vectors, some, part);
                }
            });
            return CLV_CUDA_OK;
        }));
    }
    return CLV_CUDA_OK;
}

int exact_moments(clv_cuda_call *call, clv_cuda_operator *a, const targets &out) {
    pass p = pass_of(a, columns{a->panels, nullptr, a->of.n}, out.first);
    return in_pieces(call, tiles_of(a->of.n), FLUSH, (double)out.count * TILE, [&](int64_t first, int64_t last) {
        by_kind(a->of.kind, [&](auto kind) {
            moments_kernel<kind><<<(unsigned)tiles_of(out.count), THREADS>>>(p, first, last, out);
        });
        return CLV_CUDA_OK;
    });
}

int exact_largest(clv_cuda_call *call, clv_cuda_operator *a, double *out) {
    pass p = pass_of(a, columns{a->panels, nullptr, a->of.n}, 0);
    int64_t blocks = tiles_of(a->of.n);
    buffer<double> largest;
    std::vector<double> found((size_t)blocks);
    p.zero = 0;
    TRY(largest.make(call, a, blocks));
    CUDA(cudaMemset(largest.data, 0, (size_t)blocks * sizeof(double)));
    TRY(in_pieces(call, blocks, 1, (double)a->of.n * TILE, [&](int64_t first, int64_t last) {
        largest_kernel<<<(unsigned)blocks, THREADS>>>(p, first, last, largest.data);
        return CLV_CUDA_OK;
    }));
    CUDA(cudaMemcpy(found.data(), largest.data, (size_t)blocks * sizeof(double), cudaMemcpyDeviceToHost));
    *out = 0;
    for (double value : found) {
        *out = value > *out ? value : *out;
    }
    return CLV_CUDA_OK;
}
