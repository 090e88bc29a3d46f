/* Replicator dynamics: x_i <- x_i (Cx)_i / x'Cx with C = A + alpha (ee' - I), so that (Cx)_i = (Bx)_i + alpha. One
 * product with A a step, n^2; objects never leave the support, their weights only tend to 0. */
#include "methods/dominant/dominant.h"

#include <string.h>

clv_status clv_replicator_new(const clv_dominant_problem *problem, int threads, clv_replicator *out) {
    clv_context *ctx = problem->ctx;
    *out = (clv_replicator){.problem = problem, .threads = threads};
    out->x = CLV_NEW(ctx, double, problem->n);
    out->before = CLV_NEW(ctx, double, problem->n);
    out->r = CLV_NEW(ctx, double, problem->n);
    bool diagonal = clv_affinity_has_diagonal(problem->affinity);
    out->diagonal = diagonal ? CLV_NEW(ctx, double, problem->n) : NULL;
    if (!out->x || !out->before || !out->r || (diagonal && !out->diagonal)) {
        return CLV_ENOMEM;
    }
    return diagonal ? clv_affinity_diagonal(problem->affinity, out->diagonal) : CLV_OK;
}

void clv_replicator_free(clv_replicator *s) {
    if (s->problem) {
        CLV_FREE_ALL(s->problem->ctx, s->x, s->before, s->r, s->diagonal);
    }
}

/* r, value and gap of x. */
static clv_status measure(clv_replicator *s) {
    const clv_dominant_problem *p = s->problem;
    double most = CLV_GONE;
    CLV_TRY(clv_affinity_apply(p->affinity, s->x, 1, s->r, s->threads));
    s->value = 0;
    s->squares = 0;
    s->similarity = 0;
    for (int64_t i = 0; i < p->n; i++) {
        s->r[i] -= s->diagonal ? s->diagonal[i] * s->x[i] : 0;
        s->similarity += s->x[i] * s->r[i];
        s->r[i] -= p->options->shift * s->x[i];
        s->value += s->x[i] * s->r[i];
        s->squares += s->x[i] * s->x[i];
        most = !p->gone[i] && s->r[i] > most ? s->r[i] : most;
    }
    s->gap = most - s->value;
    return CLV_OK;
}

clv_status clv_replicator_set(clv_replicator *s, const double *x) {
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->x[i] = x[i];
    }
    return measure(s);
}

clv_status clv_replicator_step(clv_replicator *s, bool *stuck) {
    double alpha = s->problem->options->shift, sum = 0;
    *stuck = !(s->value + alpha > 0); /* nothing similar to what has weight */
    if (*stuck) {
        return CLV_OK;
    }
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->before[i] = s->x[i];
        s->x[i] *= s->r[i] + alpha;
        sum += s->x[i];
    }
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->x[i] /= sum;
    }
    clv_status status = measure(s);
    if (status < 0) { /* interrupted: the step was not taken */
        memcpy(s->x, s->before, (size_t)s->problem->n * sizeof *s->x);
    }
    return status;
}
