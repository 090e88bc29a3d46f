/* A plugin `cuda` without a card: the table of cuda.h by plain loops, so that the home is tested on every machine. The
 * variable CLEAVE_FAKE_CARD makes it fail: "none" has no card, "broken" fails in the middle of a sum. */
#include "affinity/cuda.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct clv_cuda_operator {
    clv_cuda_source of;
    double *points; /* n x features */
    void *given;
};

static bool is_set(const char *what) {
    const char *how = getenv("CLEAVE_FAKE_CARD");
    return how && strcmp(how, what) == 0;
}

static int say(clv_cuda_call *call, int status, const char *why) {
    snprintf(call->why, sizeof call->why, "%s", why);
    return status;
}

static double square_of(const clv_cuda_operator *a, int64_t i, int64_t j) {
    const double *x = a->points + i * a->of.features, *y = a->points + j * a->of.features;
    double sum = 0;
    for (int64_t f = 0; f < a->of.features; f++) {
        sum += (x[f] - y[f]) * (x[f] - y[f]);
    }
    return sum;
}

static double product_of(const clv_cuda_operator *a, int64_t i, int64_t j) {
    const double *x = a->points + i * a->of.features, *y = a->points + j * a->of.features;
    double sum = 0;
    for (int64_t f = 0; f < a->of.features; f++) {
        sum += x[f] * y[f];
    }
    return sum;
}

static double entry(const clv_cuda_operator *a, int64_t i, int64_t j) {
    const clv_cuda_source *s = &a->of;
    if (s->zero_diagonal && i == j) {
        return 0;
    }
    switch (s->kind) {
    case CLV_CUDA_GAUSSIAN:
        return exp(-s->gamma * square_of(a, i, j));
    case CLV_CUDA_EXPONENTIAL:
        return exp(-s->gamma * sqrt(square_of(a, i, j)));
    case CLV_CUDA_DISTANCE:
        return fmax(s->top - sqrt(square_of(a, i, j)), 0);
    case CLV_CUDA_PRODUCT:
        return fmax(product_of(a, i, j), 0);
    default:
        return s->single ? (double)((const float *)a->given)[i * s->n + j] : ((const double *)a->given)[i * s->n + j];
    }
}

static int look(clv_cuda_call *call, clv_cuda_card *out) {
    if (is_set("none")) {
        return say(call, CLV_CUDA_NO_CARD, "there is no driver (fake)");
    }
    *out = (clv_cuda_card){.name = "a card that is not there", .bytes = (size_t)1 << 34, .free = (size_t)1 << 34};
    return CLV_CUDA_OK;
}

static void close_operator(clv_cuda_operator *a) {
    if (a) {
        free(a->points);
        free(a->given);
        free(a);
    }
}

static clv_cuda_operator *new_operator(const clv_cuda_source *source) {
    clv_cuda_operator *a = calloc(1, sizeof *a);
    size_t given = source->given ? (size_t)(source->n * source->n) * (source->single ? 4 : 8) : 0;
    a->of = *source;
    a->points = calloc((size_t)(source->n * source->features) + 1, sizeof(double));
    a->given = malloc(given + 1);
    if (given > 0) {
        memcpy(a->given, source->given, given);
    }
    return a;
}

static int open_operator(clv_cuda_call *call, clv_cuda_source *source, clv_cuda_operator **out) {
    clv_cuda_card card;
    int status = look(call, &card);
    size_t entries = (size_t)(source->given ? source->n * source->n : source->n * source->features);
    if (status) {
        return status;
    }
    if (source->memory && entries * 8 > source->memory) {
        snprintf(call->why, sizeof call->why, "%zu bytes are needed and %zu allowed", entries * 8, source->memory);
        return CLV_CUDA_NO_MEMORY;
    }
    clv_cuda_operator *a = *out = new_operator(source);
    for (int64_t i = 0; i < source->n && source->panels; i++) {
        for (int64_t f = 0; f < source->features; f++) {
            int64_t panel = i / CLV_CUDA_TILE * source->features + f;
            a->points[i * source->features + f] = source->panels[panel * CLV_CUDA_TILE + i % CLV_CUDA_TILE];
        }
    }
    for (int64_t i = 0; i < source->n && source->kind == CLV_CUDA_DISTANCE; i++) {
        a->of.top = i == 0 ? 0 : a->of.top;
        for (int64_t j = 0; j < i; j++) {
            a->of.top = fmax(a->of.top, sqrt(square_of(a, i, j)));
        }
        if (call->stop(call->user, (double)source->n)) {
            return CLV_CUDA_STOPPED;
        }
    }
    source->top = a->of.top;
    return call->stop(call->user, (double)source->n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

static int select_objects(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t m,
                          clv_cuda_operator **out) {
    clv_cuda_source some = a->of;
    (void)call;
    some.n = m;
    *out = new_operator(&some);
    for (int64_t i = 0; i < m; i++) {
        memcpy((*out)->points + i * some.features, a->points + objects[i] * some.features,
               (size_t)some.features * sizeof(double));
    }
    return CLV_CUDA_OK;
}

static int entries(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *rows, int64_t row_count,
                   const int32_t *columns, int64_t column_count, double *out) {
    for (int64_t r = 0; r < row_count; r++) {
        for (int64_t c = 0; c < column_count; c++) {
            out[r * column_count + c] = entry(a, rows[r], columns ? columns[c] : c);
        }
        if (call->stop(call->user, (double)column_count)) {
            return CLV_CUDA_STOPPED;
        }
    }
    return CLV_CUDA_OK;
}

static int product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, double *y, int add) {
    int64_t n = a->of.n;
    if (!add) {
        memset(y, 0, (size_t)(k * n) * sizeof *y);
    }
    for (int64_t m = 0; m < count; m++) {
        for (int64_t i = 0; i < n; i++) {
            double value = entry(a, i, objects ? objects[m] : m);
            for (int64_t c = 0; c < k; c++) {
                y[c * n + i] += x[c * count + m] * value;
            }
        }
        if (call->stop(call->user, (double)n)) {
            return CLV_CUDA_STOPPED;
        }
    }
    return CLV_CUDA_OK;
}

/* Rough entries are rounded to floats, so that who takes them is seen. */
static int sums(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
    int64_t n = a->of.n;
    if (!add) {
        memset(y, 0, (size_t)(k * n) * sizeof *y);
    }
    for (int64_t m = 0; m < moves->count; m++) {
        int64_t j = moves->objects ? moves->objects[m] : m;
        int32_t from = moves->from ? moves->from[m] : -1, to = moves->to[m];
        for (int64_t i = 0; i < n; i++) {
            double value = moves->rough ? (double)(float)entry(a, i, j) : entry(a, i, j);
            if (from >= 0) {
                y[from * n + i] -= value;
            }
            if (to >= 0) {
                y[to * n + i] += value;
            }
        }
        if (m == 2 && is_set("broken")) {
            return say(call, CLV_CUDA_FAILED, "an illegal address was met (fake)");
        }
        if (call->stop(call->user, (double)n)) {
            return CLV_CUDA_STOPPED;
        }
    }
    return CLV_CUDA_OK;
}

static int moments(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares) {
    (void)call;
    *sum = *squares = 0;
    for (int64_t i = 0; i < a->of.n; i++) {
        for (int64_t j = 0; j < a->of.n; j++) {
            double value = entry(a, i, j);
            *sum += value;
            *squares += value * value;
        }
    }
    return CLV_CUDA_OK;
}

__attribute__((visibility("default"))) const clv_cuda *clv_plugin_cuda(void);
const clv_cuda *clv_plugin_cuda(void) {
    static const clv_cuda table = {CLV_CUDA_INTERFACE, CLV_VERSION, look,    open_operator, close_operator,
                                   select_objects,     entries,     product, sums,          moments};
    return &table;
}
