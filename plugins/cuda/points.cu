/* k-means and k-median on points that lie on the card: an iteration of kpalm (src/methods/kpalm/iteration.c).
 *
 * Distances are computed in double, by differences, 64 points against 64 centers in a block. Where every object goes to
 * its nearest center (alpha = 0) they are reduced on the way, and sums are made by label; of float points the nearest
 * center is found by floats where their rounding cannot decide. Else distances of a slab of
 * objects are written out, a warp projects the weights of an object on the simplex, and the sums are a matrix product.
 * Sums are made of parts by rows, which depend on the sizes alone and are added up in their order: no atomics, and the
 * same bits in every run.
 *
 * Cost: n k p subtractions and multiplications, once more for sums of weights. Memory: the points as they are, 12 bytes
 * per object, and for weights n k numbers of the type of the points and a slab of 2^27 doubles at most. */
#include "operator.cuh"

#include <algorithm>
#include <cmath>
#include <new>

struct clv_cuda_points {
    clv_cuda_operator card = {}; /* its account of memory, and its lanes */
    clv_cuda_cloud of;           /* without its pointers */
    buffer<char> values;
    buffer<double> sample, factor, mean;
};

struct clv_cuda_clusters {
    clv_cuda_points *points;
    buffer<int32_t> labels, fresh;
    buffer<char> weights;
    buffer<float> near; /* of starts */
    bool soft;  /* there are weights */
    bool whole; /* which do not follow labels yet */
};

namespace {

constexpr int THREADS = 256, SIDE = 4, CHUNK = 16, PITCH = TILE + 1, WARP = 32;
constexpr int64_t SLAB = INT64_C(1) << 27, SLAB_WORK = INT64_C(1) << 37; /* distances at a time; and times features */
constexpr int64_t PART_BYTES = INT64_C(1) << 28, MOST_PARTS = 1024;
constexpr int64_t TALLY_ROWS = 1024; /* objects of a block */
constexpr int64_t WINDOW = 6144;     /* sums of a block, in shared memory */

template <class T> struct cloud {
    const T *values;
    const double *centers, *sample, *factor, *mean;
    int64_t n, p, k;
    double epsilon;
    double reach; /* the largest |x_l| */
};

template <class T> cloud<T> cloud_of(const clv_cuda_points *points, const double *centers) {
    return {(const T *)points->values.data,
            centers,
            points->sample.data,
            points->factor.data,
            points->mean.data,
            points->of.n,
            points->of.features,
            points->of.k,
            points->of.epsilon,
            0};
}

template <class T> __device__ double sample_of(const cloud<T> &x, int64_t i) {
    return x.sample ? x.sample[i] : 1;
}

/* --- 64 points and 64 centers --- */

/* Squared distances of points row0 + 4 ty + r to centers l0 + tx + 16 q; rows and centers beyond the last are zeros. */
template <class T, class R>
__device__ void distances(const cloud<T> &x, int64_t row0, int64_t l0, R *left, R *right, R d[SIDE][SIDE]) {
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; e++) {
        d[e / SIDE][e % SIDE] = 0;
    }
    for (int64_t f0 = 0; f0 < x.p; f0 += CHUNK) {
#pragma unroll
        for (int e = threadIdx.x; e < CHUNK * TILE; e += THREADS) {
            int64_t f = f0 + e % CHUNK, row = row0 + e / CHUNK, l = l0 + e / CHUNK;
            int at = e % CHUNK * PITCH + e / CHUNK;
            left[at] = f < x.p && row < x.n ? (R)x.values[row * x.p + f] : 0;
            right[at] = f < x.p && l < x.k ? (R)x.centers[l * x.p + f] : 0;
        }
        __syncthreads();
#pragma unroll 4
        for (int f = 0; f < CHUNK; f++) {
            R a[SIDE], c[SIDE];
#pragma unroll
            for (int r = 0; r < SIDE; r++) {
                a[r] = left[f * PITCH + SIDE * ty + r];
                c[r] = right[f * PITCH + tx + 16 * r];
            }
#pragma unroll
            for (int e = 0; e < SIDE * SIDE; e++) {
                R step = a[e / SIDE] - c[e % SIDE];
                d[e / SIDE][e % SIDE] = fma(step, step, d[e / SIDE][e % SIDE]);
            }
        }
        __syncthreads();
    }
}

/* The least distance, the first center that has it, and the least to any other. */
struct least {
    double d, next;
    int32_t l;
    __device__ void take(const least &x) {
        bool better = x.d < d || (x.d == d && x.l < l);
        next = better ? fmin(d, x.next) : fmin(next, x.d);
        d = better ? x.d : d;
        l = better ? x.l : l;
    }
};

/* Of the rows of a block, in all 16 threads of a row. */
template <class T, class R>
__device__ void find_least(const cloud<T> &x, int64_t row0, R *left, R *right, least found[SIDE]) {
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        found[r] = {HUGE_VAL, HUGE_VAL, INT32_MAX};
    }
    for (int64_t l0 = 0; l0 < x.k; l0 += TILE) {
        R d[SIDE][SIDE];
        distances(x, row0, l0, left, right, d);
#pragma unroll
        for (int e = 0; e < SIDE * SIDE; e++) {
            int64_t l = l0 + threadIdx.x % 16 + 16 * (e % SIDE);
            if (l < x.k) {
                found[e / SIDE].take({(double)d[e / SIDE][e % SIDE], HUGE_VAL, (int32_t)l});
            }
        }
    }
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        for (int step = 8; step > 0; step /= 2) {
            least other = {__shfl_xor_sync(0xffffffffu, found[r].d, step),
                           __shfl_xor_sync(0xffffffffu, found[r].next, step),
                           __shfl_xor_sync(0xffffffffu, found[r].l, step)};
            found[r].take(other);
        }
    }
}

/* Whether rounding to floats could have changed which center is the nearest: that of terms and of their sum, and of the
 * centers. */
template <class T> __device__ bool is_doubtful(const cloud<T> &x, const least &found) {
    double share = (double)(x.p + 8) * 0x1p-24, own = sqrt(found.d), next = sqrt(found.next);
    return !(next * (1 - share) - own * (1 + share) > x.reach * 0x1p-22);
}

/* ROUGH: by floats first, and again in double where any row of the block is in doubt. */
template <class T, bool ROUGH>
__global__ void __launch_bounds__(THREADS)
    nearest_kernel(cloud<T> x, int64_t first, int32_t *labels, double *own, float *next) {
    __shared__ double left[CHUNK * PITCH], right[CHUNK * PITCH];
    int64_t row0 = first + blockIdx.x * (int64_t)TILE;
    least found[SIDE];
    int doubt = 1;
    if (ROUGH) {
        find_least<T, float>(x, row0, (float *)left, (float *)right, found);
        doubt = 0;
        for (int r = 0; r < SIDE; r++) {
            doubt |= row0 + SIDE * (threadIdx.x / 16) + r < x.n && is_doubtful(x, found[r]);
        }
        doubt = __syncthreads_or(doubt);
    }
    if (doubt) {
        find_least<T, double>(x, row0, left, right, found);
    }
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        int64_t row = row0 + SIDE * (threadIdx.x / 16) + r;
        if (threadIdx.x % 16 == 0 && row < x.n) {
            labels[row] = found[r].l < x.k ? found[r].l : 0; /* of what is not a number */
            if (own) {
                own[row] = found[r].d;
            }
            if (next) {
                next[row] = (float)fmin(sqrt(found[r].next), 1e30);
            }
        }
    }
}

/* d[(i - first) k + l], smoothed where epsilon > 0. */
template <class T>
__global__ void __launch_bounds__(THREADS) distance_kernel(cloud<T> x, int64_t first, int64_t last, double *out) {
    __shared__ double left[CHUNK * PITCH], right[CHUNK * PITCH];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int64_t row0 = first + blockIdx.x * (int64_t)TILE, l0 = blockIdx.y * (int64_t)TILE;
    double d[SIDE][SIDE];
    distances(x, row0, l0, left, right, d);
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; e++) {
        int64_t row = row0 + SIDE * ty + e / SIDE, l = l0 + tx + 16 * (e % SIDE);
        double square = d[e / SIDE][e % SIDE];
        if (row < last && l < x.k) {
            out[(row - first) * x.k + l] = x.epsilon > 0 ? sqrt(square + x.epsilon * x.epsilon) : square;
        }
    }
}

/* --- what a step finds, block by block --- */

__device__ void add_tally(clv_cuda_tally &sum, const clv_cuda_tally &part) {
    sum.changed += part.changed;
    sum.soft += part.soft;
    sum.change += part.change;
    sum.correction += part.correction;
    sum.cost += part.cost;
    sum.largest = fmax(sum.largest, part.largest);
}

/* Of all threads, in their order, by the first one. */
__device__ void write_tally(const clv_cuda_tally &mine, int threads, clv_cuda_tally *shared, clv_cuda_tally *out) {
    if (threadIdx.x % (THREADS / threads) == 0) {
        shared[threadIdx.x / (THREADS / threads)] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        clv_cuda_tally sum = {};
        for (int t = 0; t < threads; t++) {
            add_tally(sum, shared[t]);
        }
        *out = sum;
    }
}

/* After every object went to its nearest center: how many are new there; of smoothed distances the cost, and the
 * weights v, in place of the squares. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    compare_kernel(cloud<T> x, const int32_t *before, const int32_t *after, double *own, clv_cuda_tally *out) {
    __shared__ clv_cuda_tally shared[THREADS];
    clv_cuda_tally tally = {};
    int64_t from = blockIdx.x * TALLY_ROWS, to = from + TALLY_ROWS < x.n ? from + TALLY_ROWS : x.n;
    for (int64_t i = from + threadIdx.x; i < to; i += THREADS) {
        double sample = sample_of(x, i);
        bool changed = before[i] != after[i];
        tally.changed += changed;
        tally.change += changed && before[i] >= 0 ? 2 * sample : 0;
        if (x.epsilon > 0) {
            double distance = sqrt(own[i] + x.epsilon * x.epsilon);
            tally.cost += sample * distance;
            own[i] = sample / distance;
        }
    }
    write_tally(tally, THREADS, shared, out + blockIdx.x);
}

/* --- weights --- */

__device__ double over_warp(double x) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, step);
    }
    return x;
}

__device__ double least_of_warp(double x) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        x = fmin(x, __shfl_xor_sync(0xffffffffu, x, step));
    }
    return x;
}

/* A row of weights of an object, and what it is projected from: w - (d - least) / alpha, which has the same projection
 * as w - d / alpha and leaves an object where it is if its center is the nearest one. */
template <class T> struct row_of {
    T *w;
    double *d;
    double less, inverse;
    __device__ double entry(int64_t l) const { return fma(less - d[l], inverse, (double)w[l]); }
};

/* The threshold of the projection, by Newton's method from below; rounding cannot make it cycle, as the count must
 * fall. */
template <class T> __device__ double threshold_of(const row_of<T> &row, int64_t k) {
    double tau = -HUGE_VAL, last, in = (double)k + 1;
    do {
        double sum = 0, count = 0;
        last = in;
        for (int64_t l = threadIdx.x % WARP; l < k; l += WARP) {
            double v = row.entry(l);
            sum += v > tau ? v : 0;
            count += v > tau;
        }
        in = over_warp(count);
        sum = over_warp(sum);
        tau = in > 0 ? (sum - 1) / in : tau;
    } while (in < last && in > 0);
    return tau;
}

/* w <- P(w - d / alpha) and d <- v of object i, by a warp; its label. */
template <class T>
__device__ int32_t project(const cloud<T> &x, int64_t i, row_of<T> row, double alpha, int32_t was,
                           clv_cuda_tally &tally) {
    int lane = threadIdx.x % WARP;
    double small = HUGE_VAL, count = 0, sum = 0, change = 0, cost = 0, sample = sample_of(x, i);
    for (int64_t l = lane; l < x.k; l += WARP) {
        small = fmin(small, row.d[l]);
    }
    row.less = least_of_warp(small);
    row.inverse = fmin(1 / (alpha * (x.factor ? x.factor[i] : 1)), 1e200);
    double tau = threshold_of(row, x.k), at = HUGE_VAL;
    for (int64_t l = lane; l < x.k; l += WARP) {
        double fresh = (double)(T)fmax(row.entry(l) - tau, 0.0);
        at = fresh > 0 ? (double)l : at;
        count += fresh > 0;
    }
    count = over_warp(count);
    at = least_of_warp(at);
    for (int64_t l = lane; l < x.k; l += WARP) {
        double fresh = count > 1 ? (double)(T)fmax(row.entry(l) - tau, 0.0) : (double)l == at;
        double step = fresh - (double)row.w[l];
        row.w[l] = (T)fresh;
        sum += fresh;
        change += step * step;
        cost += sample * fresh * row.d[l];
        row.d[l] = sample * fresh / (x.epsilon > 0 ? row.d[l] : 1);
    }
    sum = over_warp(sum);
    change = over_warp(change);
    cost = over_warp(cost);
    bool whole = count <= 1;
    int32_t label = whole ? (at < (double)x.k ? (int32_t)at : 0) : CLV_CUDA_SEVERAL;
    double norm = 0;
    for (int64_t f = lane; f < x.p && !whole; f += WARP) {
        double step = (double)x.values[i * x.p + f] - x.mean[f];
        norm = fma(step, step, norm);
    }
    tally.changed += whole ? label != was : was >= 0;
    tally.soft += !whole;
    tally.change += sample * change;
    tally.correction += whole ? 0 : sample * (sum - 1) * over_warp(norm);
    tally.cost += x.epsilon > 0 ? cost : 0;
    tally.largest = whole ? tally.largest : fmax(tally.largest, change);
    return label;
}

/* Objects first..last - 1, those of a block one after the other by its warps in turn. */
template <class T>
__global__ void __launch_bounds__(THREADS) project_kernel(cloud<T> x, int64_t first, int64_t last, double alpha, T *w,
                                                          double *d, int32_t *labels, clv_cuda_tally *out) {
    __shared__ clv_cuda_tally shared[THREADS / WARP];
    clv_cuda_tally tally = {};
    int64_t from = first + blockIdx.x * TALLY_ROWS, to = from + TALLY_ROWS < last ? from + TALLY_ROWS : last;
    for (int64_t i = from + threadIdx.x / WARP; i < to; i += THREADS / WARP) {
        row_of<T> row = {w + i * x.k, d + (i - first) * x.k, 0, 0};
        int32_t label = project(x, i, row, alpha, labels[i], tally);
        __syncwarp();
        if (threadIdx.x % WARP == 0) {
            labels[i] = label;
        }
    }
    write_tally(tally, THREADS / WARP, shared, out + blockIdx.x);
}

/* Weights that follow from labels. */
template <class T> __global__ void weights_kernel(const int32_t *labels, int64_t n, int64_t k, T *w) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at < n * k) {
        int32_t label = labels[at / k];
        w[at] = label >= 0 ? (T)(at % k == label) : (T)(1 / (double)k);
    }
}

/* --- sums --- */

/* parts[part][l][f] of rows of weights v: 64 clusters by 64 features in a block; column p is the sum of v. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    spread_kernel(cloud<T> x, int64_t first, int64_t last, int64_t rows, const double *v, double *parts) {
    __shared__ double left[CHUNK * PITCH], right[CHUNK * PITCH];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int64_t l0 = blockIdx.y * (int64_t)TILE, f0 = blockIdx.z * (int64_t)TILE, width = x.p + 1;
    int64_t from = first + blockIdx.x * rows, to = from + rows < last ? from + rows : last;
    double sums[SIDE][SIDE] = {}, mass = 0;
    for (int64_t i0 = from; i0 < to; i0 += CHUNK) {
#pragma unroll
        for (int e = threadIdx.x; e < CHUNK * TILE; e += THREADS) {
            int64_t i = i0 + e / TILE, l = l0 + e % TILE, f = f0 + e % TILE;
            int at = e / TILE * PITCH + e % TILE;
            left[at] = i < to && l < x.k ? v[(i - first) * x.k + l] : 0;
            right[at] = i < to && f < x.p ? (double)x.values[i * x.p + f] : 0;
        }
        __syncthreads();
#pragma unroll 4
        for (int r = 0; r < CHUNK; r++) {
            double a[SIDE], c[SIDE];
#pragma unroll
            for (int q = 0; q < SIDE; q++) {
                a[q] = left[r * PITCH + SIDE * ty + q];
                c[q] = right[r * PITCH + tx + 16 * q];
            }
#pragma unroll
            for (int e = 0; e < SIDE * SIDE; e++) {
                sums[e / SIDE][e % SIDE] = fma(a[e / SIDE], c[e % SIDE], sums[e / SIDE][e % SIDE]);
            }
        }
        for (int r = 0; threadIdx.x < TILE && f0 == 0 && r < CHUNK; r++) {
            mass += left[r * PITCH + threadIdx.x];
        }
        __syncthreads();
    }
    double *out = parts + blockIdx.x * x.k * width;
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; e++) {
        int64_t l = l0 + SIDE * ty + e / SIDE, f = f0 + tx + 16 * (e % SIDE);
        if (l < x.k && f < x.p) {
            out[l * width + f] = sums[e / SIDE][e % SIDE];
        }
    }
    if (threadIdx.x < TILE && f0 == 0 && l0 + threadIdx.x < x.k) {
        out[(l0 + threadIdx.x) * width + x.p] = mass;
    }
}

/* The same by labels: a thread has a feature and goes through the rows of its part; the sums of `clusters` clusters and
 * of the features of a block lie in shared memory. v NULL: sample weights. */
template <class T>
__global__ void label_sums_kernel(cloud<T> x, int64_t rows, int64_t clusters, const int32_t *labels, const double *v,
                                  double *parts) {
    extern __shared__ double sums[];
    constexpr int AHEAD = 8;
    int64_t width = x.p + 1, f = blockIdx.y * (int64_t)blockDim.x + threadIdx.x, l0 = blockIdx.z * clusters;
    int64_t from = blockIdx.x * rows, to = from + rows < x.n ? from + rows : x.n;
    double *mine = sums + threadIdx.x;
    for (int64_t l = 0; l < clusters; l++) {
        mine[l * blockDim.x] = 0;
    }
    if (f >= width) {
        return;
    }
    for (int64_t i0 = from; i0 < to; i0 += AHEAD) {
        double add[AHEAD];
        int64_t at[AHEAD];
#pragma unroll
        for (int e = 0; e < AHEAD; e++) {
            int64_t i = i0 + e < to ? i0 + e : to - 1;
            double weight = v ? v[i] : sample_of(x, i);
            add[e] = weight * (f < x.p ? (double)x.values[i * x.p + f] : 1);
            at[e] = i0 + e < to ? labels[i] - l0 : -1;
        }
#pragma unroll
        for (int e = 0; e < AHEAD; e++) {
            if (at[e] >= 0 && at[e] < clusters) {
                mine[at[e] * blockDim.x] += add[e];
            }
        }
    }
    for (int64_t l = 0; l < clusters && l0 + l < x.k; l++) {
        parts[(blockIdx.x * x.k + l0 + l) * width + f] = mine[l * blockDim.x];
    }
}

__global__ void add_parts_kernel(const double *parts, int64_t count, int64_t entries, double *total) {
    int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (e < entries) {
        double sum = total[e];
        for (int64_t c = 0; c < count; c++) {
            sum += parts[c * entries + e];
        }
        total[e] = sum;
    }
}

/* --- starts --- */

constexpr int CANDIDATES = 16, QUARTERS = 4; /* of a group; threads to a point */
constexpr int64_t DRAW_ROWS = 1024;          /* objects of a block */

struct draws_of {
    const double *candidates;
    int count, linear, begin, keep;
    double scale;
    float *near;
};

/* The squared distances of point row0 + tid / 4 to candidates c0 + tid % 4 + 4 j. */
template <class T>
__device__ void to_candidates(const cloud<T> &x, const draws_of &y, int64_t row0, int c0, double *left, double *right,
                              double d[QUARTERS]) {
    int r = threadIdx.x / QUARTERS, q = threadIdx.x % QUARTERS;
    for (int64_t f0 = 0; f0 < x.p; f0 += CHUNK) {
        for (int e = threadIdx.x; e < CHUNK * TILE; e += THREADS) {
            int64_t f = f0 + e % CHUNK, row = row0 + e / CHUNK;
            left[e % CHUNK * PITCH + e / CHUNK] = f < x.p && row < x.n ? (double)x.values[row * x.p + f] : 0;
        }
        for (int e = threadIdx.x; e < CHUNK * CANDIDATES; e += THREADS) {
            int64_t f = f0 + e % CHUNK, c = c0 + e / CHUNK;
            right[e % CHUNK * CANDIDATES + e / CHUNK] =
                f < x.p && c < y.count ? y.candidates[c * x.p + f] : 0;
        }
        __syncthreads();
        for (int f = 0; f < CHUNK; f++) {
            double a = left[f * PITCH + r];
#pragma unroll
            for (int j = 0; j < QUARTERS; j++) {
                if (c0 + QUARTERS * j < y.count) {
                    double step = a - right[f * CANDIDATES + q + QUARTERS * j];
                    d[j] = fma(step, step, d[j]);
                }
            }
        }
        __syncthreads();
    }
}

/* parts[block][c]: what the objects of a block would add, if candidate c became a center. */
template <class T>
__global__ void __launch_bounds__(THREADS) draw_kernel(cloud<T> x, draws_of y, int64_t first, int64_t last, double *parts) {
    __shared__ double left[CHUNK * PITCH], right[CHUNK * CANDIDATES], sums[TILE * (CANDIDATES + 1)];
    int r = threadIdx.x / QUARTERS, q = threadIdx.x % QUARTERS;
    int64_t from = first + blockIdx.x * DRAW_ROWS, to = from + DRAW_ROWS < last ? from + DRAW_ROWS : last;
    for (int c0 = 0; c0 < y.count; c0 += CANDIDATES) {
        double sum[QUARTERS] = {};
        for (int64_t row0 = from; row0 < to; row0 += TILE) {
            double d[QUARTERS] = {};
            int64_t row = row0 + r;
            to_candidates(x, y, row0, c0, left, right, d);
            float before = row < to && !y.begin ? y.near[row] : 1e30f;
#pragma unroll
            for (int j = 0; j < QUARTERS; j++) {
                float near = fminf(before, (float)(d[j] * y.scale));
                if (row < to && c0 + q + QUARTERS * j < y.count) {
                    sum[j] += sample_of(x, row) * (y.linear ? sqrt((double)near) : (double)near);
                    if (y.keep) {
                        y.near[row] = near;
                    }
                }
            }
        }
#pragma unroll
        for (int j = 0; j < QUARTERS; j++) {
            sums[r * (CANDIDATES + 1) + q + QUARTERS * j] = sum[j];
        }
        __syncthreads();
        if (threadIdx.x < CANDIDATES && c0 + (int)threadIdx.x < y.count) {
            double total = 0;
            for (int i = 0; i < TILE; i++) {
                total += sums[i * (CANDIDATES + 1) + threadIdx.x];
            }
            parts[blockIdx.x * (int64_t)y.count + c0 + threadIdx.x] = total;
        }
        __syncthreads();
    }
}

/* --- a step, on the host --- */

unsigned blocks_of(int64_t count, int64_t each) {
    return (unsigned)((count + each - 1) / each);
}

/* What one step works with. */
struct step_of {
    double reach;
    buffer<double> centers, total, parts;
    buffer<clv_cuda_tally> tallies;
    int64_t entries, part_count;
};

double reach_of(const clv_cuda_cloud &of, const double *centers) {
    double most = 0;
    for (int64_t l = 0; l < of.k; l++) {
        double sum = 0;
        for (int64_t f = 0; f < of.features; f++) {
            sum += centers[l * of.features + f] * centers[l * of.features + f];
        }
        most = std::max(most, sum);
    }
    return sqrt(most);
}

int prepare_step(clv_cuda_call *call, clv_cuda_points *points, const double *centers, step_of &s) {
    const clv_cuda_cloud &of = points->of;
    s.reach = reach_of(of, centers);
    s.entries = of.k * (of.features + 1);
    s.part_count = PART_BYTES / 8 / s.entries;
    s.part_count = s.part_count < 1 ? 1 : s.part_count > MOST_PARTS ? MOST_PARTS : s.part_count;
    TRY(s.centers.send(call, &points->card, centers, of.k * of.features));
    TRY(s.total.make(call, &points->card, s.entries));
    TRY(s.parts.make(call, &points->card, s.part_count * s.entries));
    TRY(s.tallies.make(call, &points->card, (of.n + TALLY_ROWS - 1) / TALLY_ROWS));
    CUDA(cudaMemsetAsync(s.total.data, 0, (size_t)s.entries * sizeof(double), 0));
    return CLV_CUDA_OK;
}

int add_parts(clv_cuda_call *call, step_of &s, int64_t count) {
    add_parts_kernel<<<blocks_of(s.entries, 128), 128>>>(s.parts.data, count, s.entries, s.total.data);
    CUDA(cudaGetLastError());
    return CLV_CUDA_OK;
}

/* Lengths whose squares floats hold with all digits; what is farther away, or nearer, is in doubt. */
constexpr double LEAST_REACH = 1e-12, MOST_REACH = 1e15;

/* Where labels alone are wanted, floats do for most rows of floats. */
template <class T>
int find_nearest(clv_cuda_call *call, const cloud<T> &x, int32_t *labels, double *own, float *next) {
    double work = (double)x.k * (double)x.p / 16;
    bool rough = sizeof(T) == sizeof(float) && !own && !next && x.reach >= LEAST_REACH && x.reach <= MOST_REACH;
    return in_pieces(call, x.n, TILE, work, [&](int64_t first, int64_t last) {
        auto kernel = rough ? nearest_kernel<T, true> : nearest_kernel<T, false>;
        kernel<<<blocks_of(last - first, TILE), THREADS>>>(x, first, labels, own, next);
        return CLV_CUDA_OK;
    });
}

/* All objects to their nearest centers. */
template <class T> int step_hard(clv_cuda_call *call, clv_cuda_clusters *c, step_of &s) {
    clv_cuda_points *points = c->points;
    cloud<T> x = cloud_of<T>(points, s.centers.data);
    x.reach = s.reach;
    buffer<double> own;
    if (x.epsilon > 0) {
        TRY(own.make(call, &points->card, x.n));
    }
    TRY(find_nearest<T>(call, x, c->fresh.data, own.data, nullptr));
    compare_kernel<T><<<blocks_of(x.n, TALLY_ROWS), THREADS>>>(x, c->labels.data, c->fresh.data, own.data,
                                                              s.tallies.data);
    int64_t width = x.p + 1, clusters = x.k < WINDOW / WARP ? x.k : WINDOW / WARP;
    int64_t threads = WINDOW / clusters / WARP * WARP, rows = (x.n + s.part_count - 1) / s.part_count;
    threads = threads < 256 ? threads : 256;
    threads = threads < width ? threads : (width + WARP - 1) / WARP * WARP;
    dim3 grid(blocks_of(x.n, rows), blocks_of(width, threads), blocks_of(x.k, clusters));
    label_sums_kernel<T><<<grid, (unsigned)threads, (size_t)(threads * clusters) * sizeof(double)>>>(
        x, rows, clusters, c->fresh.data, own.data, s.parts.data);
    CUDA(cudaGetLastError());
    TRY(add_parts(call, s, grid.x));
    CUDA(cudaMemcpyAsync(c->labels.data, c->fresh.data, (size_t)x.n * sizeof(int32_t), cudaMemcpyDeviceToDevice, 0));
    c->whole = true;
    return CLV_CUDA_OK;
}

template <class T> int step_soft(clv_cuda_call *call, clv_cuda_clusters *c, double alpha, step_of &s) {
    clv_cuda_points *points = c->points;
    cloud<T> x = cloud_of<T>(points, s.centers.data);
    T *w = (T *)c->weights.data;
    int64_t slab = std::min(SLAB / x.k, SLAB_WORK / x.k / x.p) / TALLY_ROWS * TALLY_ROWS;
    slab = std::min(std::max(slab, TALLY_ROWS), x.n);
    buffer<double> d;
    TRY(d.make(call, &points->card, slab * x.k));
    if (c->whole) {
        weights_kernel<T><<<blocks_of(x.n * x.k, 256), 256>>>(c->labels.data, x.n, x.k, w);
        c->whole = false;
    }
    for (int64_t first = 0; first < x.n; first += slab) {
        int64_t last = std::min(first + slab, x.n), rows = (slab + s.part_count - 1) / s.part_count;
        rows = (rows + CHUNK - 1) / CHUNK * CHUNK;
        dim3 pairs(blocks_of(last - first, TILE), blocks_of(x.k, TILE));
        dim3 grid(blocks_of(last - first, rows), blocks_of(x.k, TILE), blocks_of(x.p, TILE));
        distance_kernel<T><<<pairs, THREADS>>>(x, first, last, d.data);
        project_kernel<T><<<blocks_of(last - first, TALLY_ROWS), THREADS>>>(
            x, first, last, alpha, w, d.data, c->labels.data, s.tallies.data + first / TALLY_ROWS);
        spread_kernel<T><<<grid, THREADS>>>(x, first, last, rows, d.data, s.parts.data);
        CUDA(cudaGetLastError());
        TRY(add_parts(call, s, grid.x));
        CUDA(cudaDeviceSynchronize());
        if (call->stop(call->user, (double)((last - first) * x.k) * (double)(x.p + 16) / 16)) {
            return CLV_CUDA_STOPPED;
        }
    }
    return CLV_CUDA_OK;
}

int fetch_tally(clv_cuda_call *call, clv_cuda_clusters *c, step_of &s, clv_cuda_tally *out) {
    std::vector<clv_cuda_tally> found((size_t)((c->points->of.n + TALLY_ROWS - 1) / TALLY_ROWS));
    TRY(copy_back(call, &c->points->card, found.data(), s.tallies.data, (int64_t)(found.size() * sizeof found[0])));
    *out = {};
    for (const clv_cuda_tally &part : found) {
        out->changed += part.changed;
        out->soft += part.soft;
        out->change += part.change;
        out->correction += part.correction;
        out->cost += part.cost;
        out->largest = std::max(out->largest, part.largest);
    }
    return CLV_CUDA_OK;
}

int send_points(clv_cuda_call *call, const clv_cuda_cloud *cloud, clv_cuda_points *points) {
    int64_t bytes = cloud->n * cloud->features * (cloud->single ? 4 : 8);
    clv_cuda_operator *card = &points->card;
    TRY(measure_card(call, cloud->memory, card));
    TRY(points->values.send(call, card, (const char *)cloud->values, bytes));
    TRY(points->mean.send(call, card, cloud->mean, cloud->features));
    if (cloud->sample) {
        TRY(points->sample.send(call, card, cloud->sample, cloud->n));
    }
    if (cloud->factor) {
        TRY(points->factor.send(call, card, cloud->factor, cloud->n));
    }
    CUDA(cudaDeviceSynchronize());
    return call->stop(call->user, (double)cloud->n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

} // namespace

int points_send(clv_cuda_call *call, const clv_cuda_cloud *cloud, clv_cuda_points **out) {
    clv_cuda_card card;
    *out = nullptr;
    TRY(look(call, &card));
    clv_cuda_points *points = *out = new (std::nothrow) clv_cuda_points();
    if (!points) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
    points->of = *cloud;
    return send_points(call, cloud, points);
}

void points_forget(clv_cuda_points *points) {
    if (points) {
        cudaStreamSynchronize(0);
        free_lanes(&points->card);
        delete points;
    }
}

int clusters_begin(clv_cuda_call *call, clv_cuda_points *points, int soft, clv_cuda_clusters **out) {
    clv_cuda_clusters *c = *out = new (std::nothrow) clv_cuda_clusters();
    int64_t bytes = points->of.single ? 4 : 8;
    if (!c) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
    c->points = points;
    c->soft = soft != 0;
    TRY(c->labels.make(call, &points->card, points->of.n));
    TRY(c->fresh.make(call, &points->card, points->of.n));
    return soft ? c->weights.make(call, &points->card, points->of.n * points->of.k * bytes) : CLV_CUDA_OK;
}

void clusters_end(clv_cuda_clusters *c) {
    delete c;
}

int clusters_place(clv_cuda_call *call, clv_cuda_clusters *c, const int32_t *labels) {
    c->whole = c->soft;
    TRY(copy_there(call, &c->points->card, c->labels.data, labels, c->points->of.n * (int64_t)sizeof *labels));
    CUDA(cudaDeviceSynchronize());
    return CLV_CUDA_OK;
}

int clusters_weights(clv_cuda_call *call, clv_cuda_clusters *c, int64_t first, int64_t count, void *w, int back) {
    const clv_cuda_cloud &of = c->points->of;
    int64_t size = of.k * (of.single ? 4 : 8);
    char *there = c->weights.data + first * size;
    if (c->whole) { /* of all objects, before those of some are written */
        unsigned blocks = blocks_of(of.n * of.k, 256);
        if (of.single) {
            weights_kernel<float><<<blocks, 256>>>(c->labels.data, of.n, of.k, (float *)c->weights.data);
        } else {
            weights_kernel<double><<<blocks, 256>>>(c->labels.data, of.n, of.k, (double *)c->weights.data);
        }
        CUDA(cudaGetLastError());
        c->whole = false;
    }
    return back ? copy_back(call, &c->points->card, w, there, count * size)
                : copy_there(call, &c->points->card, there, w, count * size);
}

int clusters_assign(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, double alpha, int32_t *labels,
                    double *total, clv_cuda_tally *tally) {
    clv_cuda_points *points = c->points;
    bool single = points->of.single;
    step_of s;
    TRY(prepare_step(call, points, centers, s));
    if (alpha > 0) {
        TRY(single ? step_soft<float>(call, c, alpha, s) : step_soft<double>(call, c, alpha, s));
    } else {
        TRY(single ? step_hard<float>(call, c, s) : step_hard<double>(call, c, s));
    }
    try {
        TRY(fetch_tally(call, c, s, tally));
    } catch (const std::exception &) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
    TRY(copy_back(call, &points->card, total, s.total.data, s.entries * (int64_t)sizeof *total));
    return copy_back(call, &points->card, labels, c->labels.data, points->of.n * (int64_t)sizeof *labels);
}

template <class T>
static int draw_parts(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums,
                      int64_t stride) {
    clv_cuda_points *points = c->points;
    clv_cuda_operator *card = &points->card;
    cloud<T> x = cloud_of<T>(points, nullptr);
    buffer<double> candidates, parts;
    std::vector<int64_t> place((size_t)draws->parts + 1);
    for (int64_t b = 0; b < draws->parts; b++) {
        int64_t count = draws->starts[b + 1] - draws->starts[b];
        place[(size_t)b + 1] = place[(size_t)b] + (count + DRAW_ROWS - 1) / DRAW_ROWS;
    }
    int64_t blocks = place[(size_t)draws->parts];
    std::vector<double> found((size_t)(blocks * draws->count));
    TRY(candidates.send(call, card, draws->candidates, draws->count * x.p));
    TRY(parts.make(call, card, blocks * draws->count));
    draws_of y = {candidates.data, draws->count, draws->linear,     draws->begin,
                  draws->keep,     1 / draws->unit / draws->unit, c->near.data};
    for (int64_t b = 0; b < draws->parts; b++) {
        int64_t some = place[(size_t)b + 1] - place[(size_t)b];
        if (some > 0) {
            draw_kernel<T><<<(unsigned)some, THREADS>>>(x, y, draws->starts[b], draws->starts[b + 1],
                                                       parts.data + place[(size_t)b] * draws->count);
            CUDA(cudaGetLastError());
        }
    }
    TRY(copy_back(call, card, found.data(), parts.data, (int64_t)(found.size() * sizeof found[0])));
    for (int64_t b = 0; b < draws->parts; b++) {
        for (int e = 0; e < draws->count; e++) {
            double sum = 0;
            for (int64_t at = place[(size_t)b]; at < place[(size_t)b + 1]; at++) {
                sum += found[(size_t)(at * draws->count + e)];
            }
            sums[b * stride + e] = sum;
        }
    }
    return call->stop(call->user, (double)x.n * (double)(x.p + 16) / 16) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

int clusters_draw(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums, int64_t stride) {
    if (!c->near.data) {
        TRY(c->near.make(call, &c->points->card, c->points->of.n));
    }
    try {
        return c->points->of.single ? draw_parts<float>(call, c, draws, sums, stride)
                                    : draw_parts<double>(call, c, draws, sums, stride);
    } catch (const std::exception &) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
}

int clusters_near(clv_cuda_call *call, clv_cuda_clusters *c, int64_t from, int64_t to, float *out) {
    return copy_back(call, &c->points->card, out, c->near.data + from, (to - from) * (int64_t)sizeof *out);
}

int clusters_nearest(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, int32_t *labels, float *next) {
    clv_cuda_points *points = c->points;
    int64_t n = points->of.n;
    buffer<double> there;
    buffer<float> second;
    TRY(there.send(call, &points->card, centers, points->of.k * points->of.features));
    TRY(second.make(call, &points->card, next ? n : 1));
    float *out = next ? second.data : nullptr;
    if (points->of.single) {
        cloud<float> x = cloud_of<float>(points, there.data);
        x.reach = reach_of(points->of, centers);
        TRY(find_nearest<float>(call, x, c->fresh.data, nullptr, out));
    } else {
        TRY(find_nearest<double>(call, cloud_of<double>(points, there.data), c->fresh.data, nullptr, out));
    }
    if (next) {
        TRY(copy_back(call, &points->card, next, out, n * (int64_t)sizeof *next));
    }
    return copy_back(call, &points->card, labels, c->fresh.data, n * (int64_t)sizeof *labels);
}
