/* Points for k-means and k-median, and the clusters that they are in: memory, and what goes there and comes back. */
#include "points.cuh"

#include <new>

namespace {

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
