/* The table of the plugin: what is sent to the card and fetched from it, in parts where memory is short, and which
 * kernels serve. */
#include "operator.cuh"

#include "cleave.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

int look(clv_cuda_call *call, clv_cuda_card *out) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        return fail(call, CLV_CUDA_NO_CARD, "there is none, or no driver for it (%s)",
                    error != cudaSuccess ? cudaGetErrorString(error) : "no device");
    }
    cudaDeviceProp card;
    CUDA(cudaGetDeviceProperties(&card, 0));
    snprintf(out->name, sizeof out->name, "%s", card.name);
    error = cudaMemGetInfo(&out->free, &out->bytes);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return fail(call, CLV_CUDA_NO_CARD, "%s cannot be used (%s)", card.name, cudaGetErrorString(error));
    }
    return CLV_CUDA_OK;
}

void free_lanes(clv_cuda_operator *a) {
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

/* --- columns on the card --- */

struct chosen {
    buffer<int32_t> ids;
    buffer<double> panels;
    columns on_card;
};

/* objects NULL: all. */
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

/* --- sums: all rows, or parts of them where their sums do not fit --- */

/* Sums of all rows lie on the card as they do here; those of a part are copied label by label. */
int64_t pieces_of(const targets &part, int64_t n, int64_t k) {
    return part.stride == n ? 1 : k;
}

__global__ void narrow_kernel(const double *from, int64_t count, float *to) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = (float)from[i];
    }
}

/* What becomes of sums when they come back: they are written, added to what is there, or, rough ones, added after a way
 * as floats. */
enum arrival { WRITE, ADD, ADD_FLOATS };

int fetch(clv_cuda_call *call, clv_cuda_operator *a, const targets &from, int64_t k, double *y, arrival how) {
    int64_t n = a->of.n, pieces = pieces_of(from, n, k), size = pieces == 1 ? n * k : from.count;
    buffer<float> narrow;
    if (how == ADD_FLOATS) {
        TRY(narrow.make(call, a, size));
    }
    for (int64_t c = 0; c < pieces; c++) {
        double *to = y + c * n + from.first, *sums = from.y + c * from.stride;
        if (how == WRITE) {
            TRY(copy_back(call, a, to, sums, size * (int64_t)sizeof *y));
        } else if (how == ADD) {
            TRY(bring_back<add_numbers<double>>(call, a, to, sums, size * (int64_t)sizeof *y));
        } else {
            narrow_kernel<<<(unsigned)((size + 255) / 256), 256>>>(sums, size, narrow.data);
            CUDA(cudaGetLastError());
            TRY(bring_back<add_numbers<float>>(call, a, to, narrow.data, size * (int64_t)sizeof(float)));
        }
    }
    return CLV_CUDA_OK;
}

/* y of all rows in parts: `run(targets)` each. A row's sums may take half of what is left. */
template <class F>
int over_rows(clv_cuda_call *call, clv_cuda_operator *a, int64_t k, double *y, arrival how, F run) {
    int64_t n = a->of.n, room = (int64_t)((a->limit - a->held) / 3 / ((size_t)k * sizeof *y)) / TILE * TILE;
    if (n < 1 || k < 1) {
        return CLV_CUDA_OK;
    }
    int64_t step = std::min(tiles_of(n) * TILE, std::max(room, (int64_t)TILE));
    buffer<double> sums;
    TRY(sums.make(call, a, step * k));
    for (int64_t first = 0; first < n; first += step) {
        targets part = {first, std::min(step, n - first), std::min(step, n), sums.data};
        CUDA(cudaMemsetAsync(part.y, 0, (size_t)(part.stride * k) * sizeof *y, 0));
        TRY(run(part));
        TRY(fetch(call, a, part, k, y, how));
    }
    return CLV_CUDA_OK;
}

int product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
            int64_t k, double *y, int how) {
    constexpr int64_t together = 16; /* vectors */
    constexpr int64_t few = 32;      /* columns */
    int64_t n = a->of.n;
    bool tensor = tensor_suits(a, false) && count >= few;
    chosen cols;
    if (!tensor) {
        TRY(choose(call, a, objects, count, cols));
    }
    for (int64_t c = 0; c < k; c += together) {
        int64_t some = std::min(together, k - c);
        buffer<double> vectors;
        TRY(vectors.send(call, a, x + c * count, some * count));
        TRY(over_rows(call, a, some, y + c * n, how & CLV_CUDA_ADD ? ADD : WRITE, [&](const targets &part) {
            return tensor ? tensor_product(call, a, objects, count, vectors.data, some, how & CLV_CUDA_ROUGH, part)
                          : exact_product(call, a, cols.on_card, vectors.data, some, part);
        }));
    }
    return CLV_CUDA_OK;
}

/* The columns in the order of the sums that they go from and to. */
struct sorted {
    std::vector<int32_t> ids, from, to;
};

sorted sort_moves(const clv_cuda_moves *moves) {
    sorted out;
    std::vector<int64_t> order;
    for (int64_t m = 0; m < moves->count; m++) {
        if (moves->to[m] >= 0 || (moves->from && moves->from[m] >= 0)) {
            order.push_back(m);
        }
    }
    auto key = [&](int64_t m) {
        return ((int64_t)(moves->from ? moves->from[m] : -1) << 32) + moves->to[m];
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
    for (int64_t m : order) {
        out.ids.push_back(moves->objects ? moves->objects[m] : (int32_t)m);
        out.from.push_back(moves->from ? moves->from[m] : -1);
        out.to.push_back(moves->to[m]);
    }
    return out;
}

int some_sums(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
    sorted list = sort_moves(moves);
    if (tensor_suits(a, moves->rough) || tensor_suits(a, false)) {
        arrival how = !add ? WRITE : moves->rough && tensor_suits(a, true) ? ADD_FLOATS : ADD;
        return over_rows(call, a, k, y, how, [&](const targets &part) {
            return tensor_moves(call, a, list.ids, list.from, list.to, moves->rough, part);
        });
    }
    chosen cols;
    buffer<int32_t> from, to;
    TRY(choose(call, a, list.ids.data(), (int64_t)list.ids.size(), cols));
    TRY(from.send(call, a, list.from.data(), (int64_t)list.from.size()));
    TRY(to.send(call, a, list.to.data(), (int64_t)list.to.size()));
    return over_rows(call, a, k, y, add ? ADD : WRITE, [&](const targets &part) {
        return exact_sums(call, a, cols.on_card, from.data, to.data, part);
    });
}

/* Each pair once, if there is memory for that. */
int sums(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
    bool all = !moves->objects && !moves->from && !add && k > 0;
    if (all && tensor_suits(a, false)) {
        buffer<double> out;
        int status = out.make(call, a, k * a->of.n);
        if (status == CLV_CUDA_OK) {
            status = tensor_group_sums(call, a, moves->to, k, moves->rough, out.data);
        }
        if (status == CLV_CUDA_OK) {
            status = copy_back(call, a, y, out.data, k * a->of.n * (int64_t)sizeof *y);
        }
        if (status != CLV_CUDA_NO_MEMORY) {
            return status;
        }
    }
    return some_sums(call, a, moves, k, y, add);
}

int moments(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares) {
    std::vector<double> rows((size_t)(2 * a->of.n));
    TRY(over_rows(call, a, 2, rows.data(), WRITE,
                  [&](const targets &part) { return exact_moments(call, a, part); }));
    *sum = *squares = 0;
    for (int64_t i = 0; i < a->of.n; i++) {
        *sum += rows[(size_t)i];
        *squares += rows[(size_t)(a->of.n + i)];
    }
    return CLV_CUDA_OK;
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
