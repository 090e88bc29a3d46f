/* The table of the plugin; operators and their entries. */
#include "operator.cuh"

#include "cleave.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

/* For a card that has no code in this plugin, there is no code of this either. */
__global__ void any_kernel() {
}

int look(clv_cuda_call *call, clv_cuda_card *out) {
    int count = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        bool without = cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
        return fail(call, CLV_CUDA_NO_CARD, "%s (CUDA says: %s)",
                    without ? "there is no driver for one" : "the driver finds none",
                    error != cudaSuccess ? cudaGetErrorString(error) : "no device");
    }
    cudaDeviceProp card;
    CUDA(cudaGetDeviceProperties(&card, 0));
    cudaFuncAttributes code;
    if (cudaFuncGetAttributes(&code, any_kernel) != cudaSuccess) {
        cudaGetLastError();
        return fail(call, CLV_CUDA_NO_CARD, "the plugin was not built for %s, whose compute capability is %d.%d",
                    card.name, card.major, card.minor);
    }
    snprintf(out->name, sizeof out->name, "%s", card.name);
    error = cudaMemGetInfo(&out->free, &out->bytes);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return fail(call, CLV_CUDA_NO_CARD, "%s cannot be used (%s)", card.name, cudaGetErrorString(error));
    }
    return CLV_CUDA_OK;
}

void free_lanes(clv_cuda_operator *a) {
    if (a->beside) {
        cudaStreamDestroy(a->beside);
    }
    for (int i = 0; i < 2; i++) {
        if (a->lane[i]) {
            cudaFreeHost(a->lane[i]);
        }
        if (a->passed[i]) {
            cudaEventDestroy(a->passed[i]);
        }
    }
}

int measure_card(clv_cuda_call *call, size_t memory, clv_cuda_operator *a) {
    cudaDeviceProp card;
    size_t free_bytes, bytes;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    CUDA(cudaGetDeviceProperties(&card, 0));
    /* What a call has used is kept for the next; what is kept is free. */
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    CUDA(cudaMemPoolTrimTo(pool, 0));
    CUDA(cudaMemGetInfo(&free_bytes, &bytes));
    a->major = card.major;
    a->limit = free_bytes - free_bytes / 10;
    a->limit = memory && memory < a->limit ? memory : a->limit;
    return CLV_CUDA_OK;
}

int choose(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, chosen &out) {
    out.on_card = {a->panels, nullptr, count};
    if (objects) {
        TRY(out.ids.send(call, a, objects, count));
        out.on_card.ids = out.ids.data;
        if (!a->given) {
            TRY(out.panels.make(call, a, tiles_of(count) * TILE * a->of.features));
            TRY(gather_panels(call, a, out.ids.data, count, out.panels.data));
            out.on_card.panels = out.panels.data;
        }
    }
    return CLV_CUDA_OK;
}

namespace {

void close_operator(clv_cuda_operator *a) {
    if (a) {
        cudaFreeAsync(a->panels, 0);
        cudaFreeAsync(a->given, 0);
        cudaFreeAsync(a->center, 0);
        cudaStreamSynchronize(0);
        free_lanes(a);
        delete a;
    }
}

int new_operator(clv_cuda_call *call, const clv_cuda_source *source, clv_cuda_operator **out) {
    clv_cuda_operator *a = *out = new (std::nothrow) clv_cuda_operator();
    if (!a) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
    a->of = *source;
    a->of.panels = nullptr;
    a->of.given = nullptr;
    return measure_card(call, source->memory, a);
}

int fill_operator(clv_cuda_call *call, clv_cuda_source *source, clv_cuda_operator *a) {
    if (source->kind == CLV_CUDA_GIVEN) {
        buffer<char> given;
        int64_t bytes = source->n * source->n * (source->single ? 4 : 8);
        TRY(given.send(call, a, (const char *)source->given, bytes));
        a->given = given.give();
        return CLV_CUDA_OK;
    }
    buffer<double> panels;
    TRY(panels.send(call, a, source->panels, tiles_of(source->n) * TILE * source->features));
    a->panels = panels.give();
    if (source->kind == CLV_CUDA_GAUSSIAN) {
        return find_radius(call, a);
    }
    if (source->kind == CLV_CUDA_DISTANCE && std::isnan(source->top)) {
        TRY(exact_largest(call, a, &source->top));
        a->of.top = source->top = sqrt(source->top);
    }
    return CLV_CUDA_OK;
}

int open_operator(clv_cuda_call *call, clv_cuda_source *source, clv_cuda_operator **out) {
    clv_cuda_card card;
    *out = nullptr;
    TRY(look(call, &card));
    TRY(new_operator(call, source, out));
    TRY(fill_operator(call, source, *out));
    return call->stop(call->user, (double)source->n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

int select_objects(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t m,
                   clv_cuda_operator **out) {
    *out = nullptr;
    clv_cuda_source some = a->of;
    some.n = m;
    TRY(new_operator(call, &some, out));
    clv_cuda_operator *b = *out;
    b->limit = a->limit > a->held ? std::min(b->limit, a->limit - a->held) : 0;
    buffer<int32_t> ids;
    buffer<double> panels;
    TRY(ids.send(call, b, objects, m));
    TRY(panels.make(call, b, tiles_of(m) * TILE * a->of.features));
    TRY(gather_panels(call, a, ids.data, m, panels.data));
    CUDA(cudaDeviceSynchronize());
    b->panels = panels.give();
    return a->of.kind == CLV_CUDA_GAUSSIAN && m > 0 ? find_radius(call, b) : CLV_CUDA_OK;
}

/* --- entries --- */

int entries(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *rows, int64_t row_count,
            const int32_t *column_list, int64_t column_count, double *out) {
    chosen left, right;
    buffer<double> values;
    if (row_count < 1 || column_count < 1) {
        return CLV_CUDA_OK;
    }
    TRY(choose(call, a, rows, row_count, left));
    TRY(choose(call, a, column_list, column_count, right));
    TRY(values.make(call, a, row_count * column_count));
    TRY(exact_entries(call, a, right.on_card, left.on_card, values.data));
    return copy_back(call, a, out, values.data, row_count * column_count * (int64_t)sizeof *out);
}

/* No exception leaves the plugin: those of the host's lists mean that it has no memory left. */
template <class F> int guarded(clv_cuda_call *call, F f) {
    try {
        return f();
    } catch (const std::exception &) {
        return fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    }
}

} // namespace

extern "C" __attribute__((visibility("default"))) const clv_cuda *clv_plugin_cuda(void) {
    static const clv_cuda table = {
        CLV_CUDA_INTERFACE,
        CLV_VERSION,
        look,
        [](clv_cuda_call *call, clv_cuda_source *source, clv_cuda_operator **out) {
            return guarded(call, [&] { return open_operator(call, source, out); });
        },
        close_operator,
        [](clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t m, clv_cuda_operator **out) {
            return guarded(call, [&] { return select_objects(call, a, objects, m, out); });
        },
        entries,
        cross,
        [](clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x, int64_t k,
           double *y, int how) {
            return guarded(call, [&] { return product(call, a, objects, count, x, k, y, how); });
        },
        [](clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
            return guarded(call, [&] { return sums(call, a, moves, k, y, add); });
        },
        [](clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares) {
            return guarded(call, [&] { return moments(call, a, sum, squares); });
        },
        keep_sums,
        [](clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_moves *moves, const int32_t *labels, double *own) {
            return guarded(call, [&] { return kept_follow(call, kept, moves, labels, own); });
        },
        kept_choose,
        kept_back,
        let_go,
        points_send,
        points_forget,
        clusters_begin,
        clusters_end,
        clusters_place,
        clusters_weights,
        clusters_assign,
        clusters_draw,
        clusters_near,
        clusters_nearest,
    };
    return &table;
}
