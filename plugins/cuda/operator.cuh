/* What the files of the plugin share: the operator on the card, memory that is counted, and passes that are cut into
 * short launches. */
#ifndef CLV_CUDA_OPERATOR_CUH
#define CLV_CUDA_OPERATOR_CUH

#include "affinity/cuda.h"

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

constexpr int TILE = CLV_CUDA_TILE;

struct clv_cuda_operator {
    clv_cuda_source of; /* without its pointers */
    double *panels;     /* as in cuda.h, on the card */
    void *given;
    size_t limit, held;
    int major;          /* of the compute capability */
    double radius;      /* largest |x'|^2 of the scaled, centered points (tensor.cu); gaussian only */
    double *center;     /* features */
    char *lane[2];      /* memory that both sides reach, for copies */
    cudaEvent_t passed[2];
    cudaStream_t beside; /* for copies while kernels run */
};

/* Says why, and returns the status. */
template <class... T> int fail(clv_cuda_call *call, int status, const char *format, T... args) {
    snprintf(call->why, sizeof call->why, format, args...);
    return status;
}

inline int failed(clv_cuda_call *call, cudaError_t error) {
    cudaGetLastError(); /* forgets it */
    int status = error == cudaErrorMemoryAllocation ? CLV_CUDA_NO_MEMORY : CLV_CUDA_FAILED;
    return fail(call, status, "CUDA says: %s", cudaGetErrorString(error));
}

#define CUDA(expression)                                                                                               \
    do {                                                                                                               \
        cudaError_t error_ = (expression);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            return failed(call, error_);                                                                               \
        }                                                                                                              \
    } while (0)

#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        int status_ = (expression);                                                                                    \
        if (status_ != CLV_CUDA_OK) {                                                                                  \
            return status_;                                                                                            \
        }                                                                                                              \
    } while (0)

int copy_there(clv_cuda_call *call, clv_cuda_operator *a, void *to, const void *from, int64_t bytes);
int copy_back(clv_cuda_call *call, clv_cuda_operator *a, void *to, const void *from, int64_t bytes);

/* Memory on the card that counts against the limit of an operator. */
template <class T> struct buffer {
    clv_cuda_operator *owner = nullptr;
    T *data = nullptr;
    size_t bytes = 0;
    buffer() = default;
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() {
        if (data) {
            cudaFreeAsync(data, 0);
            owner->held -= bytes;
        }
    }
    int make(clv_cuda_call *call, clv_cuda_operator *a, int64_t count) {
        size_t wanted = (size_t)(count > 0 ? count : 1) * sizeof(T);
        if (a->held + wanted > a->limit) {
            return fail(call, CLV_CUDA_NO_MEMORY, "%zu bytes are needed beside %zu, and %zu may be held", wanted,
                        a->held, a->limit);
        }
        CUDA(cudaMallocAsync((void **)&data, wanted, 0));
        owner = a;
        bytes = wanted;
        a->held += wanted;
        return CLV_CUDA_OK;
    }
    int send(clv_cuda_call *call, clv_cuda_operator *a, const T *from, int64_t count) {
        TRY(make(call, a, count));
        return copy_there(call, a, data, from, count * (int64_t)sizeof(T));
    }
    /* The memory is the operator's from here on. */
    T *give() {
        T *out = data;
        data = nullptr;
        return out;
    }
};

/* Work from 0 to `count` in launches of about a twentieth of a second: `launch(first, last)` for pieces that are
 * multiples of `unit` and at most `most`; how many go together is found out by timing, so no result may depend on that. */
template <class F>
int in_pieces(clv_cuda_call *call, int64_t count, int64_t unit, double entries_each, F launch,
              int64_t most = INT64_MAX) {
    constexpr double long_enough = 0.05, too_long = 0.1, few = 2e9;
    int64_t step = (int64_t)(few / (entries_each > 1 ? entries_each : 1)) / unit * unit;
    step = step < unit ? unit : step;
    step = step < most ? step : most;
    for (int64_t first = 0; first < count;) {
        int64_t last = first + step < count ? first + step : count;
        auto begin = std::chrono::steady_clock::now();
        TRY(launch(first, last));
        CUDA(cudaGetLastError());
        CUDA(cudaDeviceSynchronize());
        double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (call->stop(call->user, entries_each * (double)(last - first))) {
            return CLV_CUDA_STOPPED;
        }
        first = last;
        if (seconds < long_enough / 2) {
            step = step < most / 2 ? 2 * step : most;
        } else if (seconds > too_long && step > unit) {
            step = step / 2 / unit * unit > unit ? step / 2 / unit * unit : unit;
        }
    }
    return CLV_CUDA_OK;
}

/* Copies of large blocks, by way of two lanes of memory that the card reaches: threads fill or empty one while the
 * other is on its way. */
constexpr int64_t LANE_BYTES = 1 << 24, SMALL_COPY = 1 << 20;

inline int make_lanes(clv_cuda_call *call, clv_cuda_operator *a) {
    for (int i = 0; i < 2; i++) {
        if (!a->passed[i]) {
            CUDA(cudaEventCreateWithFlags(&a->passed[i], cudaEventDisableTiming));
        }
        if (!a->lane[i]) {
            CUDA(cudaMallocHost((void **)&a->lane[i], LANE_BYTES));
        }
    }
    if (!a->beside) {
        CUDA(cudaStreamCreateWithFlags(&a->beside, cudaStreamNonBlocking));
    }
    return CLV_CUDA_OK;
}

/* Of the host, for so many bytes: one of many that is kept waiting keeps all waiting. */
inline int copy_threads(const clv_cuda_call *call, int64_t bytes) {
    constexpr int64_t each = 1 << 21;
    return (int64_t)call->threads < bytes / each + 1 ? call->threads : (int)(bytes / each + 1);
}

inline void copy_by_threads(clv_cuda_call *call, char *to, const char *from, int64_t bytes) {
    constexpr int64_t part = 1 << 19;
#pragma omp parallel for num_threads(copy_threads(call, bytes)) if (bytes > 4 * part)
    for (int64_t at = 0; at < bytes; at += part) {
        memcpy(to + at, from + at, (size_t)(bytes - at < part ? bytes - at : part));
    }
}

/* What arrives is put in its place, or added to what is there: to[i] += from[i]. */
struct put_bytes {
    static constexpr int64_t SCALE = 1; /* bytes here for one that arrives */
    static void place(clv_cuda_call *call, char *to, const char *from, int64_t bytes) {
        copy_by_threads(call, to, from, bytes);
    }
};

template <class T> struct add_numbers {
    static constexpr int64_t SCALE = sizeof(double) / sizeof(T);
    static void place(clv_cuda_call *call, char *to, const char *from, int64_t bytes) {
        constexpr int64_t part = 1 << 16;
        int64_t count = bytes / (int64_t)sizeof(T);
#pragma omp parallel for num_threads(call->threads > 16 ? 16 : call->threads) if (count > 4 * part)
        for (int64_t first = 0; first < count; first += part) {
            int64_t last = count - first < part ? count : first + part;
            for (int64_t i = first; i < last; i++) {
                ((double *)to)[i] += (double)((const T *)from)[i];
            }
        }
    }
};

inline int64_t lane_part(int64_t bytes, int64_t i) {
    int64_t left = bytes - i * LANE_BYTES;
    return left < LANE_BYTES ? left : LANE_BYTES;
}

inline int copy_there(clv_cuda_call *call, clv_cuda_operator *a, void *to, const void *from, int64_t bytes) {
    if (bytes <= SMALL_COPY) {
        CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
        return CLV_CUDA_OK;
    }
    TRY(make_lanes(call, a));
    for (int64_t i = 0; i * LANE_BYTES < bytes; i++) {
        CUDA(cudaEventSynchronize(a->passed[i % 2]));
        copy_by_threads(call, a->lane[i % 2], (const char *)from + i * LANE_BYTES, lane_part(bytes, i));
        CUDA(cudaMemcpyAsync((char *)to + i * LANE_BYTES, a->lane[i % 2], (size_t)lane_part(bytes, i),
                             cudaMemcpyHostToDevice, 0));
        CUDA(cudaEventRecord(a->passed[i % 2], 0));
    }
    return CLV_CUDA_OK;
}

/* What kernels before it have written, or, `beside` them, what these do not write. */
template <class P>
int bring_back(clv_cuda_call *call, clv_cuda_operator *a, void *to, const void *from, int64_t bytes,
               bool beside = false) {
    int64_t parts = (bytes + LANE_BYTES - 1) / LANE_BYTES;
    TRY(make_lanes(call, a));
    cudaStream_t stream = beside ? a->beside : nullptr;
    for (int64_t i = 0; i <= parts; i++) { /* part i sets out, part i - 1 arrives */
        if (i < parts) {
            CUDA(cudaMemcpyAsync(a->lane[i % 2], (const char *)from + i * LANE_BYTES, (size_t)lane_part(bytes, i),
                                 cudaMemcpyDeviceToHost, stream));
            CUDA(cudaEventRecord(a->passed[i % 2], stream));
        }
        if (i > 0) {
            CUDA(cudaEventSynchronize(a->passed[(i - 1) % 2]));
            P::place(call, (char *)to + (i - 1) * LANE_BYTES * P::SCALE, a->lane[(i - 1) % 2],
                     lane_part(bytes, i - 1));
        }
    }
    return CLV_CUDA_OK;
}

inline int copy_back(clv_cuda_call *call, clv_cuda_operator *a, void *to, const void *from, int64_t bytes) {
    if (bytes <= SMALL_COPY) {
        CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyDeviceToHost));
        return CLV_CUDA_OK;
    }
    return bring_back<put_bytes>(call, a, to, from, bytes);
}

/* plugin.cu: whether there is a card; what may be held on it; and the end of the lanes. */
int look(clv_cuda_call *call, clv_cuda_card *out);
int measure_card(clv_cuda_call *call, size_t memory, clv_cuda_operator *a);
void free_lanes(clv_cuda_operator *a);

/* points.cu, points_steps.cu, points_draws.cu: the functions of clv_cuda on points. */
int points_send(clv_cuda_call *call, const clv_cuda_cloud *cloud, clv_cuda_points **out);
void points_forget(clv_cuda_points *points);
int clusters_begin(clv_cuda_call *call, clv_cuda_points *points, int soft, clv_cuda_clusters **out);
void clusters_end(clv_cuda_clusters *c);
int clusters_place(clv_cuda_call *call, clv_cuda_clusters *c, const int32_t *labels);
int clusters_weights(clv_cuda_call *call, clv_cuda_clusters *c, int64_t first, int64_t count, void *w, int back);
int clusters_assign(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, double alpha, int32_t *labels,
                    double *total, clv_cuda_tally *tally);
int clusters_draw(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums, int64_t stride);
int clusters_near(clv_cuda_call *call, clv_cuda_clusters *c, int64_t from, int64_t to, float *out);
int clusters_nearest(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, int32_t *labels, float *next);

/* Columns that go together, on the card. */
struct columns {
    const double *panels; /* of the chosen points; not of a given matrix */
    const int32_t *ids;   /* NULL: 0, 1, 2, ... */
    int64_t count;
};

struct chosen {
    buffer<int32_t> ids;
    buffer<double> panels;
    columns on_card;
};

/* plugin.cu; objects NULL: all. */
int choose(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, chosen &out);

/* cross.cu: the function of clv_cuda. */
int cross(clv_cuda_call *call, clv_cuda_operator *a, const double *panels, int64_t m, const int32_t *column_list,
          int64_t column_count, double *out);

/* sums.cu: the functions of clv_cuda. */
int product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
            int64_t k, double *y, int how);
int sums(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add);
int moments(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares);
int keep_sums(clv_cuda_call *call, clv_cuda_operator *a, int64_t k, const double *y, const double *degree,
              clv_cuda_kept **out);
int kept_follow(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_moves *moves, const int32_t *labels,
                double *own);
int kept_choose(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_scores *by, const int32_t *labels,
                int32_t *wanted);
int kept_back(clv_cuda_call *call, clv_cuda_kept *kept, double *y);
void let_go(clv_cuda_kept *kept);

/* Rows first..first + count - 1 of the operator (whole tiles, but for the last) and their sums: y[c * stride + i - first]. */
struct targets {
    int64_t first, count, stride;
    double *y;
};

inline __host__ __device__ int64_t tiles_of(int64_t count) {
    return (count + TILE - 1) / TILE;
}

/* exact.cu: every kind, by differences. */
int gather_panels(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *ids, int64_t count, double *out);
int exact_entries(clv_cuda_call *call, clv_cuda_operator *a, const columns &rows, const columns &cols, double *out);
/* Columns first..last - 1, which are not among the objects: launched on a stream. */
int exact_cross(clv_cuda_call *call, clv_cuda_operator *a, const columns &rows, const columns &cols, int64_t first,
                int64_t last, double *out, cudaStream_t stream);
/* from, to: of each column, on the card, sorted by both. */
int exact_sums(clv_cuda_call *call, clv_cuda_operator *a, const columns &cols, const int32_t *from, const int32_t *to,
               const targets &out);
/* x: k x cols.count on the card. */
int exact_product(clv_cuda_call *call, clv_cuda_operator *a, const columns &cols, const double *x, int64_t k,
                  const targets &out);
int exact_moments(clv_cuda_call *call, clv_cuda_operator *a, const targets &out /* 2 */);
int exact_largest(clv_cuda_call *call, clv_cuda_operator *a, double *out);

/* tensor.cu: gaussian, by tensor cores. */
int find_radius(clv_cuda_call *call, clv_cuda_operator *a);
bool tensor_suits(const clv_cuda_operator *a, bool rough);
/* All objects to the sums of their labels (host), each pair once: y (k x n, on the card) is written. */
int tensor_group_sums(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *labels, int64_t k, bool rough,
                      double *y);
/* As exact_sums, of columns in the order of the host's lists. */
int tensor_moves(clv_cuda_call *call, clv_cuda_operator *a, const std::vector<int32_t> &ids,
                 const std::vector<int32_t> &from, const std::vector<int32_t> &to, bool rough, const targets &out);
/* As exact_product, of objects in the host's list (NULL: all), for up to 16 vectors on the card. */
int tensor_product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, bool rough, const targets &out);

#endif
