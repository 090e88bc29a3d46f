/* Starts of k-means: how near the objects would be to centers that might be taken (src/methods/kpalm). Distances are
 * computed in double, by differences, 64 points against 16 candidates in a block. */
#include "points.cuh"

namespace {

constexpr int CHUNK = 16, PITCH = TILE + 1;
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

template <class T>
int draw_parts(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums,
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

} // namespace

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
