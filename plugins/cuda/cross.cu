/* Similarities of new points to the objects: some rows are computed on a stream of their own while those before them
 * are on their way back, which takes longer, 8 bytes each. */
#include "operator.cuh"

#include <algorithm>

namespace {

constexpr int64_t PART = 1 << 23; /* entries */

/* Kernels beside the copies of the default stream; its end waits for them. */
struct beside {
    cudaStream_t stream = nullptr;
    cudaEvent_t done[2] = {};
    int make(clv_cuda_call *call) {
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (cudaEvent_t &event : done) {
            CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        }
        return CLV_CUDA_OK;
    }
    ~beside() {
        if (stream) {
            cudaStreamSynchronize(stream);
            cudaStreamDestroy(stream);
        }
        for (cudaEvent_t event : done) {
            if (event) {
                cudaEventDestroy(event);
            }
        }
    }
};

} // namespace

int cross(clv_cuda_call *call, clv_cuda_operator *a, const double *panels, int64_t m, const int32_t *column_list,
          int64_t column_count, double *out) {
    if (m < 1 || column_count < 1) {
        return CLV_CUDA_OK;
    }
    int64_t step = std::min(std::max(PART / column_count, (int64_t)1), m), parts = (m + step - 1) / step;
    chosen objects;
    buffer<double> fresh, values[2];
    beside work;
    TRY(choose(call, a, column_list, column_count, objects));
    TRY(fresh.send(call, a, panels, tiles_of(m) * TILE * a->of.features));
    TRY(values[0].make(call, a, step * column_count));
    TRY(values[1].make(call, a, parts > 1 ? step * column_count : 1));
    TRY(work.make(call));
    CUDA(cudaStreamSynchronize(0));
    columns points = {fresh.data, nullptr, m};
    for (int64_t i = 0; i <= parts; i++) { /* part i begins, part i - 1 comes back */
        if (i < parts) {
            TRY(exact_cross(call, a, objects.on_card, points, i * step, std::min((i + 1) * step, m), values[i % 2].data,
                            work.stream));
            CUDA(cudaEventRecord(work.done[i % 2], work.stream));
        }
        if (i > 0) {
            int64_t first = (i - 1) * step, entries = (std::min(i * step, m) - first) * column_count;
            CUDA(cudaStreamWaitEvent(0, work.done[(i - 1) % 2], 0));
            TRY(copy_back(call, a, out + first * column_count, values[(i - 1) % 2].data,
                          entries * (int64_t)sizeof *out));
            if (call->stop(call->user, (double)entries)) {
                return CLV_CUDA_STOPPED;
            }
        }
    }
    return CLV_CUDA_OK;
}
