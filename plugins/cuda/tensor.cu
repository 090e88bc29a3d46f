/* Where tensor cores serve: the center of the points, and how far they are from it. */
#include "tensor.cuh"

namespace {

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
