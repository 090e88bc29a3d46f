/* Working sets: the features that look as if they mattered, on which an iteration costs a few percent of a pass over X.
 * They are gathered into a small X of their own where that saves more than it costs. */
#include "methods/ksupport/ksupport.h"

#include <string.h>

/* All but X. */
static void free_lists(clv_working *working) {
    clv_free_kept(&working->room);
    clv_ksupport_set_free(&working->set);
}

void clv_working_free(clv_working *working) {
    free_lists(working);
    clv_design_free(&working->x);
}

/* Merge the places in `top` (positions among the kept features, ascending) with the support of w. */
static int64_t merge(const clv_point *point, const int64_t *top, int64_t count, int64_t *out) {
    const clv_list *w = &point->w;
    const int64_t *keep = point->kept < point->problem->x->features ? point->keep : NULL;
    int64_t total = 0;
    for (int64_t i = 0, j = 0; i < count || j < w->count;) {
        int64_t left = i < count ? (keep ? keep[top[i]] : top[i]) : INT64_MAX;
        int64_t right = j < w->count ? w->index[j] : INT64_MAX;
        out[total++] = left < right ? left : right;
        i += left <= right;
        j += right <= left;
    }
    return total;
}

/* The gradient of the listed features, from that of the kept ones; features that were screened out get 0. */
static void pick_gradient(const clv_point *point, clv_working *out) {
    const int64_t *keep = point->kept < point->problem->x->features ? point->keep : NULL;
    for (int64_t i = 0, j = 0; i < out->count; i++) {
        if (!keep) {
            out->gradient[i] = point->gradient[out->list[i]];
            continue;
        }
        while (j < point->kept && keep[j] < out->list[i]) {
            j++;
        }
        out->gradient[i] = j < point->kept && keep[j] == out->list[i] ? point->gradient[j] : 0;
    }
}

clv_status clv_working_new(clv_point *point, int64_t wanted, int threads, clv_working *out) {
    const clv_ks_problem *p = point->problem;
    const int64_t *keep = point->kept < p->x->features ? point->keep : NULL;
    clv_ksupport_set wide = point->set; /* the same work space, another k */
    free_lists(out);
    *out = (clv_working){.ctx = p->ctx, .x = out->x, .room = {.ctx = p->ctx}};
    wide.k = wanted < point->kept ? wanted : point->kept;
    int64_t *top = CLV_TAKE(&out->room, int64_t, wide.k);
    out->list = CLV_TAKE(&out->room, int64_t, wide.k + point->w.count);
    out->gradient = CLV_TAKE(&out->room, double, wide.k + point->w.count);
    CLV_TRY(out->room.status);
    clv_list_add_to(&point->w, p->tau, keep, point->kept, point->gradient);
    int64_t count = clv_ksupport_vertex(&wide, point->gradient, point->kept, top);
    clv_list_add_to(&point->w, -p->tau, keep, point->kept, point->gradient);
    out->count = merge(point, top, count, out->list);
    pick_gradient(point, out);
    return clv_ksupport_set_new(p->ctx, out->count, p->k, threads, false, &out->set);
}

clv_status clv_working_gather(clv_point *point, clv_working *on) {
    const clv_design *x = point->problem->x;
    point->work->passes += (double)on->count / (double)x->features;
    return x->does->gather(x, on->list, on->count, &on->x);
}
