/* A plugin `cuda` without a card: the table of cuda.h by plain loops, so that the home is tested on every machine. The
 * variable CLEAVE_FAKE_CARD makes it fail: "none" has no card, "broken" fails in the middle of a sum. */
#include "affinity/cuda.h"

#include "affinity/affinity.h"

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

/* By an operator that has the new point as its last. */
static int cross(clv_cuda_call *call, clv_cuda_operator *a, const double *panels, int64_t m, const int32_t *columns,
                 int64_t column_count, double *out) {
    clv_cuda_operator more = *a;
    int64_t n = a->of.n, features = a->of.features;
    more.points = malloc((size_t)((n + 1) * features + 1) * sizeof(double));
    memcpy(more.points, a->points, (size_t)(n * features) * sizeof(double));
    int status = CLV_CUDA_OK;
    for (int64_t r = 0; r < m && status == CLV_CUDA_OK; r++) {
        for (int64_t f = 0; f < features; f++) {
            int64_t panel = r / CLV_CUDA_TILE * features + f;
            more.points[n * features + f] = panels[panel * CLV_CUDA_TILE + r % CLV_CUDA_TILE];
        }
        for (int64_t c = 0; c < column_count; c++) {
            out[r * column_count + c] = entry(&more, n, columns ? columns[c] : c);
        }
        status = call->stop(call->user, (double)column_count) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
    }
    free(more.points);
    return status;
}

/* Rough entries are rounded to floats, so that who takes them is seen. */
static int product(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, double *y, int how) {
    int64_t n = a->of.n;
    if (!(how & CLV_CUDA_ADD)) {
        memset(y, 0, (size_t)(k * n) * sizeof *y);
    }
    for (int64_t m = 0; m < count; m++) {
        for (int64_t i = 0; i < n; i++) {
            double value = entry(a, i, objects ? objects[m] : m);
            value = how & CLV_CUDA_ROUGH ? (double)(float)value : value;
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

/* Likewise. */
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

/* --- sums that stay --- */

struct clv_cuda_kept {
    clv_cuda_operator *a;
    int64_t k;
    double *y, *degree;
};

static void let_go(clv_cuda_kept *kept) {
    if (kept) {
        free(kept->y);
        free(kept->degree);
        free(kept);
    }
}

static int keep(clv_cuda_call *call, clv_cuda_operator *a, int64_t k, const double *y, const double *degree,
                clv_cuda_kept **out) {
    size_t n = (size_t)a->of.n, bytes = (size_t)k * n * sizeof(double);
    if (a->of.memory && bytes > a->of.memory) {
        return say(call, CLV_CUDA_NO_MEMORY, "sums take more than is allowed (fake)");
    }
    clv_cuda_kept *kept = *out = calloc(1, sizeof *kept);
    *kept = (clv_cuda_kept){a, k, malloc(bytes + 1), malloc(n * sizeof(double) + 1)};
    memcpy(kept->y, y, bytes);
    memcpy(kept->degree, degree, n * sizeof(double));
    return CLV_CUDA_OK;
}

static int follow(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_moves *moves, const int32_t *labels,
                  double *own) {
    int64_t n = kept->a->of.n;
    int status = sums(call, kept->a, moves, kept->k, kept->y, 1);
    for (int64_t i = 0; i < n; i++) {
        own[i] = labels[i] >= 0 ? kept->y[labels[i] * n + i] : 0;
    }
    return status;
}

static int choose(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_scores *by, const int32_t *labels,
                  int32_t *wanted) {
    int64_t n = kept->a->of.n;
    for (int64_t i = 0; i < n; i++) {
        double most = 0, degree = kept->degree[i];
        int32_t own = wanted[i] = labels[i];
        for (int32_t c = -1; own >= 0 && c < kept->k; c++) { /* its own first */
            int32_t at = c < 0 ? own : c;
            double sum = kept->y[at * n + i], s = by->shift * (at == own ? degree : -degree);
            double score = (2 * sum - degree * by->ratio[at] + s) * by->inverse[at];
            bool tied = score == most && wanted[i] != own && clv_prefers(by->ties, i, at, wanted[i]);
            if (c < 0) {
                most = score + by->margin * 2 * sum * by->inverse[at];
            } else if (score > most || tied) {
                most = score;
                wanted[i] = at;
            }
        }
    }
    return call->stop(call->user, (double)n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

static int back(clv_cuda_call *call, clv_cuda_kept *kept, double *y) {
    (void)call;
    memcpy(y, kept->y, (size_t)(kept->k * kept->a->of.n) * sizeof *y);
    return CLV_CUDA_OK;
}

/* --- points and their clusters --- */

struct clv_cuda_points {
    clv_cuda_cloud of;
};

struct clv_cuda_clusters {
    const clv_cuda_cloud *of;
    int32_t *labels;
    double *weights; /* n x k */
    float *near;     /* n */
    bool soft;
};

static int send(clv_cuda_call *call, const clv_cuda_cloud *cloud, clv_cuda_points **out) {
    clv_cuda_card card;
    size_t bytes = (size_t)(cloud->n * cloud->features) * (cloud->single ? 4 : 8);
    int status = look(call, &card);
    if (status) {
        return status;
    }
    if (cloud->memory && bytes > cloud->memory) {
        snprintf(call->why, sizeof call->why, "%zu bytes are needed and %zu allowed", bytes, cloud->memory);
        return CLV_CUDA_NO_MEMORY;
    }
    *out = calloc(1, sizeof **out);
    (*out)->of = *cloud; /* points stay where they are: nothing may change them */
    return CLV_CUDA_OK;
}

static void forget(clv_cuda_points *points) {
    free(points);
}

static int begin(clv_cuda_call *call, clv_cuda_points *points, int soft, clv_cuda_clusters **out) {
    (void)call;
    clv_cuda_clusters *c = *out = calloc(1, sizeof **out);
    c->of = &points->of;
    c->soft = soft;
    c->labels = calloc((size_t)c->of->n, sizeof *c->labels);
    c->near = calloc((size_t)c->of->n, sizeof *c->near);
    c->weights = calloc(soft ? (size_t)(c->of->n * c->of->k) : 1, sizeof *c->weights);
    return CLV_CUDA_OK;
}

static void end(clv_cuda_clusters *c) {
    if (c) {
        free(c->labels);
        free(c->weights);
        free(c->near);
        free(c);
    }
}

static int place(clv_cuda_call *call, clv_cuda_clusters *c, const int32_t *labels) {
    int64_t k = c->of->k;
    (void)call;
    for (int64_t i = 0; i < c->of->n; i++) {
        c->labels[i] = labels[i];
        for (int64_t l = 0; l < k && c->soft; l++) {
            c->weights[i * k + l] = labels[i] >= 0 ? (double)(l == labels[i]) : 1 / (double)k;
        }
    }
    return CLV_CUDA_OK;
}

static int pass_weights(clv_cuda_call *call, clv_cuda_clusters *c, int64_t first, int64_t count, void *w, int back) {
    double *there = c->weights + first * c->of->k;
    (void)call;
    for (int64_t e = 0; e < count * c->of->k; e++) {
        if (c->of->single && back) {
            ((float *)w)[e] = (float)there[e];
        } else if (c->of->single) {
            there[e] = (double)((float *)w)[e];
        } else {
            *(back ? (double *)w + e : there + e) = back ? there[e] : ((double *)w)[e];
        }
    }
    return CLV_CUDA_OK;
}

static double feature(const clv_cuda_cloud *of, int64_t i, int64_t f) {
    int64_t at = i * of->features + f;
    return of->single ? (double)((const float *)of->values)[at] : ((const double *)of->values)[at];
}

static double square_to(const clv_cuda_cloud *of, int64_t i, const double *center) {
    double sum = 0;
    for (int64_t f = 0; f < of->features; f++) {
        sum += (feature(of, i, f) - center[f]) * (feature(of, i, f) - center[f]);
    }
    return sum;
}

static double distance_to(const clv_cuda_cloud *of, int64_t i, const double *center) {
    double square = square_to(of, i, center);
    return of->epsilon > 0 ? sqrt(square + of->epsilon * of->epsilon) : square;
}

static int32_t nearest_of(const clv_cuda_cloud *of, int64_t i, const double *centers, double *next) {
    double least = HUGE_VAL;
    int32_t best = 0;
    *next = HUGE_VAL;
    for (int32_t l = 0; l < of->k; l++) {
        double d = square_to(of, i, centers + l * of->features);
        *next = d < least ? least : fmin(*next, d);
        best = d < least ? l : best;
        least = fmin(least, d);
    }
    return best;
}

static int find_nearest(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, int32_t *labels,
                        float *next) {
    for (int64_t i = 0; i < c->of->n; i++) {
        double second;
        labels[i] = nearest_of(c->of, i, centers, &second);
        if (next) {
            next[i] = (float)fmin(sqrt(second), 1e30);
        }
    }
    return call->stop(call->user, (double)c->of->n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

static int draw(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums, int64_t stride) {
    const clv_cuda_cloud *of = c->of;
    for (int64_t b = 0; b < draws->parts; b++) {
        for (int e = 0; e < draws->count; e++) {
            sums[b * stride + e] = 0;
            for (int64_t i = draws->starts[b]; i < draws->starts[b + 1]; i++) {
                double square = square_to(of, i, draws->candidates + e * of->features) / draws->unit / draws->unit;
                float near = fminf(draws->begin ? 1e30f : c->near[i], (float)square);
                double part = draws->linear ? sqrt((double)near) : (double)near;
                sums[b * stride + e] += (of->sample ? of->sample[i] : 1) * part;
                c->near[i] = draws->keep ? near : c->near[i];
            }
        }
    }
    return call->stop(call->user, (double)of->n) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

static int near_of(clv_cuda_call *call, clv_cuda_clusters *c, int64_t from, int64_t to, float *out) {
    (void)call;
    memcpy(out, c->near + from, (size_t)(to - from) * sizeof *out);
    return CLV_CUDA_OK;
}

/* fresh <- P(w - d / alpha), by bisection of what is taken off, then exactly. */
static int64_t project(const double *w, const double *d, double alpha, int64_t k, double *fresh) {
    double least = HUGE_VAL, low, high = 1, tau = 0, sum = 0;
    int64_t support = 0;
    for (int64_t l = 0; l < k; l++) {
        least = fmin(least, d[l]);
    }
    for (int64_t l = 0; l < k; l++) {
        fresh[l] = w[l] - (d[l] - least) / alpha;
    }
    low = -2;
    for (int step = 0; step < 64; step++) {
        tau = (low + high) / 2;
        sum = 0;
        for (int64_t l = 0; l < k; l++) {
            sum += fmax(fresh[l] - tau, 0);
        }
        *(sum > 1 ? &low : &high) = tau;
    }
    sum = -1;
    for (int64_t l = 0; l < k; l++) {
        support += fresh[l] > high;
        sum += fresh[l] > high ? fresh[l] : 0;
    }
    tau = sum / (double)support;
    for (int64_t l = 0; l < k; l++) {
        fresh[l] = support == 1 ? (double)(fresh[l] > high) : fmax(fresh[l] - tau, 0);
    }
    return support;
}

static void assign_one(clv_cuda_clusters *c, int64_t i, const double *centers, double alpha, double *work,
                       double *total, clv_cuda_tally *tally) {
    const clv_cuda_cloud *of = c->of;
    double *d = work, *fresh = work + of->k, *w = c->soft ? c->weights + i * of->k : NULL, sum = -1, change = 0, second;
    double sample = of->sample ? of->sample[i] : 1;
    int32_t before = c->labels[i], nearest = nearest_of(of, i, centers, &second);
    int64_t support = 1;
    for (int64_t l = 0; l < of->k; l++) {
        d[l] = distance_to(of, i, centers + l * of->features);
        fresh[l] = l == nearest;
    }
    if (alpha > 0) {
        support = project(w, d, alpha * (of->factor ? of->factor[i] : 1), of->k, fresh);
    }
    for (int64_t l = 0; l < of->k; l++) {
        double v = sample * fresh[l] / (of->epsilon > 0 ? d[l] : 1), old = w ? w[l] : (double)(l == before);
        nearest = fresh[l] > 0 ? (int32_t)l : nearest;
        sum += fresh[l];
        change += (fresh[l] - old) * (fresh[l] - old);
        tally->cost += of->epsilon > 0 ? v * d[l] * d[l] : 0;
        for (int64_t f = 0; f <= of->features && v > 0; f++) {
            total[l * (of->features + 1) + f] += v * (f < of->features ? feature(of, i, f) : 1);
        }
        if (w) {
            w[l] = of->single ? (double)(float)fresh[l] : fresh[l];
        }
    }
    c->labels[i] = support > 1 ? CLV_CUDA_SEVERAL : nearest;
    tally->changed += support > 1 ? before >= 0 : before != nearest;
    tally->change += alpha > 0 || before >= 0 ? sample * change : 0;
    tally->soft += support > 1;
    tally->correction += support > 1 ? sample * sum * square_to(of, i, of->mean) : 0;
    tally->largest = support > 1 ? fmax(tally->largest, change) : tally->largest;
}

static int assign(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, double alpha, int32_t *labels,
                  double *total, clv_cuda_tally *tally) {
    const clv_cuda_cloud *of = c->of;
    double *work = calloc((size_t)(2 * of->k), sizeof *work);
    *tally = (clv_cuda_tally){0};
    memset(total, 0, (size_t)(of->k * (of->features + 1)) * sizeof *total);
    for (int64_t i = 0; i < of->n; i++) {
        assign_one(c, i, centers, alpha, work, total, tally);
    }
    free(work);
    if (is_set("broken")) {
        return say(call, CLV_CUDA_FAILED, "an illegal address was met (fake)");
    }
    memcpy(labels, c->labels, (size_t)of->n * sizeof *labels);
    return call->stop(call->user, (double)(of->n * of->k)) ? CLV_CUDA_STOPPED : CLV_CUDA_OK;
}

__attribute__((visibility("default"))) const clv_cuda *clv_plugin_cuda(void);
const clv_cuda *clv_plugin_cuda(void) {
    static const clv_cuda table = {CLV_CUDA_INTERFACE,
                                   CLV_VERSION,
                                   look,
                                   open_operator,
                                   close_operator,
                                   select_objects,
                                   entries,
                                   cross,
                                   product,
                                   sums,
                                   moments,
                                   keep,
                                   follow,
                                   choose,
                                   back,
                                   let_go,
                                   send,
                                   forget,
                                   begin,
                                   end,
                                   place,
                                   pass_weights,
                                   assign,
                                   draw,
                                   near_of,
                                   find_nearest};
    return &table;
}
