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
#include "points_weights.cuh"

#include <algorithm>
#include <cmath>

namespace {

constexpr int SIDE = 4, CHUNK = 16, PITCH = TILE + 1;
constexpr int64_t SLAB = INT64_C(1) << 27, SLAB_WORK = INT64_C(1) << 37; /* distances at a time; and times features */
constexpr int64_t PART_BYTES = INT64_C(1) << 28, MOST_PARTS = 1024;
constexpr int64_t WINDOW = 6144;     /* sums of a block, in shared memory */

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

/* --- a step, on the host --- */

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
template <class T> int step_hard(clv_cuda_call *call, clv_cuda_clusters *c, step_of &s, int32_t *labels) {
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
    /* Labels come back while the sums are made. */
    return bring_back<put_bytes>(call, &points->card, labels, c->fresh.data, x.n * (int64_t)sizeof *labels, true);
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

} // namespace

int clusters_assign(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, double alpha, int32_t *labels,
                    double *total, clv_cuda_tally *tally) {
    clv_cuda_points *points = c->points;
    bool single = points->of.single;
    step_of s;
    TRY(prepare_step(call, points, centers, s));
    if (alpha > 0) {
        TRY(single ? step_soft<float>(call, c, alpha, s) : step_soft<double>(call, c, alpha, s));
    } else {
        TRY(single ? step_hard<float>(call, c, s, labels) : step_hard<double>(call, c, s, labels));
    }
    try {
        TRY(fetch_tally(call, c, s, tally));
    } catch (const std::exception &) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
    TRY(copy_back(call, &points->card, total, s.total.data, s.entries * (int64_t)sizeof *total));
    return alpha > 0 ? copy_back(call, &points->card, labels, c->labels.data, points->of.n * (int64_t)sizeof *labels)
                     : CLV_CUDA_OK;
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
