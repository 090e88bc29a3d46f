/* Sums and products: what is sent to the card and fetched from it, in parts where memory is short, which kernels serve,
 * and sums that stay there. */
#include "operator.cuh"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

namespace {

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
    int64_t n = a->of.n;
    if (n < 1 || k < 1) {
        return CLV_CUDA_OK;
    }
    int64_t room = (int64_t)((a->limit - a->held) / 3 / ((size_t)k * sizeof *y)) / TILE * TILE;
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

} // namespace

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

namespace {

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

/* use(floats, run): run(targets) adds the columns to sums there; `floats`: these have no more digits than floats. */
template <class F> int with_moves(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, F use) {
    sorted list = sort_moves(moves);
    if (tensor_suits(a, moves->rough) || tensor_suits(a, false)) {
        return use(moves->rough && tensor_suits(a, true), [&](const targets &part) {
            return tensor_moves(call, a, list.ids, list.from, list.to, moves->rough, part);
        });
    }
    chosen cols;
    buffer<int32_t> from, to;
    TRY(choose(call, a, list.ids.data(), (int64_t)list.ids.size(), cols));
    TRY(from.send(call, a, list.from.data(), (int64_t)list.from.size()));
    TRY(to.send(call, a, list.to.data(), (int64_t)list.to.size()));
    return use(false, [&](const targets &part) {
        return exact_sums(call, a, cols.on_card, from.data, to.data, part);
    });
}

int some_sums(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
    return with_moves(call, a, moves, [&](bool floats, auto run) {
        return over_rows(call, a, k, y, !add ? WRITE : floats ? ADD_FLOATS : ADD, run);
    });
}

} // namespace

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

namespace {

/* Gaussian: the square of an entry is the entry for twice the gamma. */
struct squared {
    clv_cuda_operator *a;
    explicit squared(clv_cuda_operator *of) : a(of) {
        a->of.gamma *= 2;
        a->radius *= 2;
    }
    ~squared() {
        a->of.gamma /= 2;
        a->radius /= 2;
    }
};

int tensor_total(clv_cuda_call *call, clv_cuda_operator *a, double *out) {
    std::vector<int32_t> one_group((size_t)a->of.n);
    std::vector<double> rows((size_t)a->of.n);
    buffer<double> sums;
    TRY(sums.make(call, a, a->of.n));
    TRY(tensor_group_sums(call, a, one_group.data(), 1, false, sums.data));
    TRY(copy_back(call, a, rows.data(), sums.data, a->of.n * (int64_t)sizeof *out));
    *out = std::accumulate(rows.begin(), rows.end(), 0.0);
    return CLV_CUDA_OK;
}

int tensor_moments(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares) {
    TRY(tensor_total(call, a, sum));
    squared twice(a);
    return tensor_total(call, a, squares);
}

bool squares_suit(clv_cuda_operator *a) {
    squared twice(a);
    return tensor_suits(a, false);
}

} // namespace

/* By tensor cores, if they suit and there is memory for that. */
int moments(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares) {
    if (squares_suit(a)) {
        int status = tensor_moments(call, a, sum, squares);
        if (status != CLV_CUDA_NO_MEMORY) {
            return status;
        }
    }
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

/* --- sums that stay there --- */

struct clv_cuda_kept {
    clv_cuda_operator *a;
    int64_t k;
    buffer<double> y, degree;
};

namespace {

/* As sums that come back and are added here: the same bits. */
__global__ void add_kernel(const double *from, int64_t count, bool floats, double *to) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] += floats ? (double)(float)from[i] : from[i];
    }
}

__global__ void own_kernel(const double *y, const int32_t *labels, int64_t n, double *out) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = labels[i] >= 0 ? y[labels[i] * n + i] : 0;
    }
}

/* Rounded after every operation, as on the processor. */
__device__ double score(double sum, double degree, bool own, double inverse, double ratio, double shift) {
    double plain = __dsub_rn(__dmul_rn(2, sum), __dmul_rn(degree, ratio));
    return __dmul_rn(__dadd_rn(plain, __dmul_rn(shift, own ? degree : -degree)), inverse);
}

__device__ bool prefers(uint64_t ties, int64_t i, int left, int right) {
    uint64_t mixed = (ties ^ (uint64_t)i) * 0x9e3779b97f4a7c15u;
    return (((mixed ^ (mixed >> 29)) >> 7) & 1) ? left < right : left > right;
}

struct on_card_scores {
    const double *inverse, *ratio; /* there */
    double shift, margin;
    uint64_t ties;
};

__global__ void choose_kernel(const double *y, const double *degree, const int32_t *labels, int64_t n, int k,
                              on_card_scores by, int32_t *wanted) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int own = labels[i], best = own;
    if (own >= 0) {
        double sum = y[own * n + i], d = degree[i], share = __dmul_rn(by.margin, 2);
        double most = __dadd_rn(score(sum, d, true, by.inverse[own], by.ratio[own], by.shift),
                                __dmul_rn(__dmul_rn(share, sum), by.inverse[own]));
        for (int c = 0; c < k; c++) {
            double here = score(y[c * n + i], d, c == own, by.inverse[c], by.ratio[c], by.shift);
            if (here > most || (here == most && best != own && prefers(by.ties, i, c, best))) {
                most = here;
                best = c;
            }
        }
    }
    wanted[i] = best;
}

unsigned blocks_for(int64_t count) {
    return (unsigned)((count + 255) / 256);
}

/* What moves need besides, at most: the change of the sums, packed rows and columns, labels. */
bool has_room_to_move(const clv_cuda_operator *a, int64_t k) {
    int64_t numbers = 2 * k + 2 * (a->of.features + 16) + 6;
    return a->held + (size_t)(numbers * a->of.n) * sizeof(double) <= a->limit;
}

} // namespace

int keep_sums(clv_cuda_call *call, clv_cuda_operator *a, int64_t k, const double *y, const double *degree,
              clv_cuda_kept **out) {
    *out = nullptr;
    if (!has_room_to_move(a, k)) {
        return fail(call, CLV_CUDA_NO_MEMORY, "sums of %lld labels do not fit", (long long)k);
    }
    clv_cuda_kept *kept = new (std::nothrow) clv_cuda_kept{a, k, {}, {}};
    int status = kept ? CLV_CUDA_OK : fail(call, CLV_CUDA_FAILED, "the host has no memory left");
    if (kept) {
        status = kept->y.send(call, a, y, k * a->of.n);
        status = status == CLV_CUDA_OK ? kept->degree.send(call, a, degree, a->of.n) : status;
    }
    if (status != CLV_CUDA_OK) {
        let_go(kept);
        return status;
    }
    *out = kept;
    return CLV_CUDA_OK;
}

void let_go(clv_cuda_kept *kept) {
    delete kept;
}

int kept_follow(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_moves *moves, const int32_t *labels,
                double *own) {
    clv_cuda_operator *a = kept->a;
    int64_t n = a->of.n, count = kept->k * n;
    buffer<double> change, mine;
    buffer<int32_t> after;
    if (moves->count > 0) {
        TRY(change.make(call, a, count));
        CUDA(cudaMemsetAsync(change.data, 0, (size_t)count * sizeof(double), 0));
        TRY(with_moves(call, a, moves, [&](bool floats, auto run) {
            TRY(run(targets{0, n, n, change.data}));
            add_kernel<<<blocks_for(count), 256>>>(change.data, count, floats, kept->y.data);
            return (int)CLV_CUDA_OK;
        }));
    }
    TRY(after.send(call, a, labels, n));
    TRY(mine.make(call, a, n));
    own_kernel<<<blocks_for(n), 256>>>(kept->y.data, after.data, n, mine.data);
    CUDA(cudaGetLastError());
    return copy_back(call, a, own, mine.data, n * (int64_t)sizeof *own);
}

int kept_choose(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_scores *by, const int32_t *labels,
                int32_t *wanted) {
    clv_cuda_operator *a = kept->a;
    int64_t n = a->of.n;
    buffer<double> inverse, ratio;
    buffer<int32_t> now, next;
    TRY(inverse.send(call, a, by->inverse, kept->k));
    TRY(ratio.send(call, a, by->ratio, kept->k));
    TRY(now.send(call, a, labels, n));
    TRY(next.make(call, a, n));
    on_card_scores there = {inverse.data, ratio.data, by->shift, by->margin, by->ties};
    choose_kernel<<<blocks_for(n), 256>>>(kept->y.data, kept->degree.data, now.data, n, (int)kept->k, there, next.data);
    CUDA(cudaGetLastError());
    TRY(copy_back(call, a, wanted, next.data, n * (int64_t)sizeof *wanted));
    return call->stop(call->user, (double)n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

int kept_back(clv_cuda_call *call, clv_cuda_kept *kept, double *y) {
    return copy_back(call, kept->a, y, kept->y.data, kept->k * kept->a->of.n * (int64_t)sizeof *y);
}
