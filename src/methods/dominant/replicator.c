/* Replicator dynamics: x_i <- x_i (Cx)_i / x'Cx with C = A + alpha (ee' - I), so that (Cx)_i = (Bx)_i + alpha. One
 * product with A a step; objects never leave the support, their weights only tend to 0. Where peeling has left few of
 * them and memory allows it, their similarities are copied, so that a product costs m^2 for the m objects left. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <math.h>
#include <string.h>

/* Below this share of all objects a copy pays: a product costs a little more than half as much. */
#define FEW 0.75

/* Decided before searches begin side by side, and for as many as there can be: threads do not matter. Processes share
 * the copy. */
clv_status clv_replicator_decide(clv_dominant_problem *p) {
    const clv_dominant_options *options = p->options;
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    double count = (double)p->active_count, searches = (double)(options->multistart + options->control.restarts);
    double copy = info.cost.resident && !info.sparse ? 8 * count * count / clv_rank_count(p->ctx) : 0;
    double work = 128 * (double)p->n;
    int64_t fits = count <= FEW * (double)p->n && (double)clv_memory_at_work(p->ctx) + searches * (copy + work) <=
                                                      (double)clv_affinity_budget(p->affinity);
    if (options->solver == CLV_DOMINANT_RD) {
        CLV_TRY(clv_agree_least(p->ctx, &fits));
        p->compact = fits != 0;
    }
    return CLV_OK;
}

/* The operator on the active objects alone. */
static clv_status leave_out(clv_replicator *s) {
    const clv_dominant_problem *p = s->problem;
    CLV_TRY(clv_affinity_subset(p->affinity, p->active, p->active_count, &s->left));
    s->affinity = s->left;
    s->object = p->active;
    s->m = p->active_count;
    return CLV_OK;
}

clv_status clv_replicator_new(const clv_dominant_problem *problem, int threads, clv_replicator *out) {
    clv_context *ctx = problem->ctx;
    *out = (clv_replicator){.problem = problem, .threads = threads, .affinity = problem->affinity, .m = problem->n};
    CLV_TRY(problem->compact ? leave_out(out) : CLV_OK);
    out->x = CLV_NEW(ctx, double, out->m);
    out->before = CLV_NEW(ctx, double, out->m);
    out->r = CLV_NEW(ctx, double, out->m);
    bool diagonal = clv_affinity_has_diagonal(out->affinity);
    out->diagonal = diagonal ? CLV_NEW(ctx, double, out->m) : NULL;
    if (!out->x || !out->before || !out->r || (diagonal && !out->diagonal)) {
        return CLV_ENOMEM;
    }
    return diagonal ? clv_affinity_diagonal(out->affinity, out->diagonal) : CLV_OK;
}

void clv_replicator_free(clv_replicator *s) {
    if (s->problem) {
        CLV_FREE_ALL(s->problem->ctx, s->x, s->before, s->r, s->diagonal);
        clv_affinity_free(s->left);
    }
}

/* r, value and gap of x. */
static clv_status measure(clv_replicator *s) {
    const clv_dominant_problem *p = s->problem;
    double most = CLV_GONE;
    CLV_TRY(clv_affinity_apply(s->affinity, s->x, 1, s->r, s->threads));
    s->value = 0;
    s->squares = 0;
    s->similarity = 0;
    for (int64_t i = 0; i < s->m; i++) {
        s->r[i] -= s->diagonal ? s->diagonal[i] * s->x[i] : 0;
        s->similarity += s->x[i] * s->r[i];
        s->r[i] -= p->options->shift * s->x[i];
        s->value += s->x[i] * s->r[i];
        s->squares += s->x[i] * s->x[i];
        most = (s->object || !p->gone[i]) && s->r[i] > most ? s->r[i] : most;
    }
    s->gap = most - s->value;
    return CLV_OK;
}

clv_status clv_replicator_set(clv_replicator *s, const double *x) {
    for (int64_t i = 0; i < s->m; i++) {
        s->x[i] = x[s->object ? s->object[i] : i];
    }
    return measure(s);
}

/* All else is measured anew in each step. */
clv_status clv_replicator_pass(clv_replicator *s, clv_archive *archive) {
    double sum = 0;
    bool fine = true;
    clv_pass_reals(archive, s->x, s->m);
    if (!archive->loading || archive->status < 0) {
        return archive->status;
    }
    for (int64_t i = 0; i < s->m; i++) {
        fine = fine && s->x[i] >= 0;
        sum += s->x[i];
    }
    return fine && fabs(sum - 1) < 0.5 ? measure(s) : clv_archive_refuse(archive);
}

void clv_replicator_get(const clv_replicator *s, double *x) {
    memset(x, 0, (size_t)s->problem->n * sizeof *x);
    for (int64_t i = 0; i < s->m; i++) {
        x[s->object ? s->object[i] : i] = s->x[i];
    }
}

clv_status clv_replicator_step(clv_replicator *s, bool *stuck) {
    double alpha = s->problem->options->shift, sum = 0, way = 0;
    *stuck = !(s->value + alpha > 0); /* nothing similar to what has weight */
    if (*stuck) {
        return CLV_OK;
    }
    for (int64_t i = 0; i < s->m; i++) {
        s->before[i] = s->x[i];
        s->x[i] *= s->r[i] + alpha;
        sum += s->x[i];
    }
    for (int64_t i = 0; i < s->m; i++) {
        s->x[i] /= sum;
        way += (s->x[i] - s->before[i]) * (s->x[i] - s->before[i]);
    }
    clv_status status = measure(s);
    if (status < 0) { /* interrupted: the step was not taken */
        memcpy(s->x, s->before, (size_t)s->m * sizeof *s->x);
    }
    s->step = sqrt(way);
    return status;
}
