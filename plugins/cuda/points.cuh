/* What the files on points for k-means and k-median share: the points on the card, and the clusters that they are in. */
#ifndef CLV_CUDA_POINTS_CUH
#define CLV_CUDA_POINTS_CUH

#include "operator.cuh"

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

constexpr int THREADS = 256;

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

inline unsigned blocks_of(int64_t count, int64_t each) {
    return (unsigned)((count + each - 1) / each);
}

/* Weights that follow from labels. */
template <class T> __global__ void weights_kernel(const int32_t *labels, int64_t n, int64_t k, T *w) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at < n * k) {
        int32_t label = labels[at / k];
        w[at] = label >= 0 ? (T)(at % k == label) : (T)(1 / (double)k);
    }
}

} // namespace

#endif
