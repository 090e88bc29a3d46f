/* A step where objects may be in several clusters: a warp projects the weights of an object on the simplex. And the
 * tallies of what steps change, block by block. */
#ifndef CLV_CUDA_POINTS_WEIGHTS_CUH
#define CLV_CUDA_POINTS_WEIGHTS_CUH

#include "points.cuh"

namespace {

constexpr int WARP = 32;
constexpr int64_t TALLY_ROWS = 1024; /* objects of a block */

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

} // namespace

#endif
