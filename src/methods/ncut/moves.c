/* Sweeps over single objects, in turn, each seeing the moves of those before it.
 *
 * Exact moves: an object goes where ncut falls most (FCD, coordinate descent run to its end, after Nie et al. 2024). A
 * sweep without a move is the certificate: no single move improves. It needs no definiteness of W.
 *
 * FINC (Chen et al. 2022) by the quadratic transform: with y_c = sqrt(N_c) / V_c fixed over a sweep, the object goes
 * where sum_c 2 y_c sqrt(N_c) - y_c^2 V_c rises most; N and V follow each move. All at once, nothing follows, and the
 * cut may rise: another reading of a heuristic that the FPC paper does not describe.
 *
 * Dinkelbach's transform for k = 2, where ncut = V cut / (2 V_1 V_2) is a single ratio: with its value y fixed over a
 * sweep, the object changes sides if cut - y V_1 V_2 falls, and each sweep that moves one lowers the ratio. A sweep
 * without a move is the same certificate: what falls below 0 is a lower ratio.
 *
 * A sweep costs O(n k) and a row of W for every move. Sums are measured anew after it, so that rounding does not
 * gather in N and V. When time ends it between two moves, the moves made stand. */
#include "base/ranks.h"
#include "kernels/kernels.h"
#include "methods/ncut/ncut.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* The best cluster for object i, or its own when nothing gains; `fixed` over a sweep is what the rule says. */
typedef struct rule {
    int32_t (*best)(const clv_partition *s, int64_t i, const double *fixed);
    const double *fixed;
} rule;

static int32_t best_exact(const clv_partition *s, int64_t i, const double *fixed) {
    (void)fixed;
    double leave = clv_partition_leave(s, i), best = CLV_LEAST_GAIN * (double)s->problem->k;
    int32_t own = s->labels[i], target = own;
    for (int32_t c = 0; c < s->problem->k; c++) {
        double gain = c == own ? 0 : leave + clv_partition_enter(s, i, c);
        bool tied = gain == best && target != own;
        if (gain > best || (tied && clv_prefers(s->ties, i, c, target))) {
            best = gain;
            target = c;
        }
    }
    return target;
}

/* What cluster c has of the transformed objective with N and V as given: (13) with y fixed. */
static double transformed(double y, double within, double volume) {
    return 2 * y * sqrt(fmax(within, 0)) - y * y * volume;
}

static int32_t best_transformed(const clv_partition *s, int64_t i, const double *y) {
    const clv_ncut_problem *p = s->problem;
    int32_t own = s->labels[i], target = own;
    double self = p->diagonal[i], degree = p->degree[i];
    double leave = transformed(y[own], s->within[own] - 2 * s->sums[own * p->n + i] + self, s->volume[own] - degree) -
                   transformed(y[own], s->within[own], s->volume[own]);
    double best = CLV_LEAST_GAIN * (double)p->k;
    for (int32_t c = 0; c < p->k; c++) {
        double enter = transformed(y[c], s->within[c] + 2 * s->sums[c * p->n + i] + self, s->volume[c] + degree) -
                       transformed(y[c], s->within[c], s->volume[c]);
        if (c != own && leave + enter > best) {
            best = leave + enter;
            target = c;
        }
    }
    return target;
}

/* The other one of two clusters, if cut - y V_1 V_2 falls by more than rounding, in the unit of ncut. */
static int32_t best_by_ratio(const clv_partition *s, int64_t i, const double *y) {
    const clv_ncut_problem *p = s->problem;
    int32_t own = s->labels[i];
    double ours = s->volume[own], theirs = s->volume[1 - own], degree = p->degree[i];
    double fall = degree - 2 * s->sums[own * p->n + i] + p->diagonal[i] + *y * degree * (ours - theirs - degree);
    return fall * (ours + theirs) > 4 * CLV_LEAST_GAIN * ours * theirs ? 1 - own : own;
}

/* The cluster that object i goes to. */
static int32_t best_of(const clv_partition *s, int64_t i, const rule *by) {
    int32_t own = s->labels[i];
    return own < 0 || s->size[own] < 2 ? own : by->best(s, i, by->fixed);
}

/* --- where W = F F', but for the diagonal ---
 *
 * A move changes one row of T, the sums of f over clusters, instead of two rows of S; the sums of an object are T f_i
 * when it is looked at, those of AHEAD objects at once as long as no move changes T. A sweep costs n k rank. */

enum { AHEAD = 64 };

typedef struct factored {
    clv_partition *s;
    clv_matrix factor;
    double *t; /* k x rank */
} factored;

static const double *row_of(const factored *f, int64_t i) {
    return (const double *)f->factor.values + i * f->factor.cols;
}

static void gather(const factored *f) {
    clv_partition *s = f->s;
    int64_t rank = f->factor.cols;
    s->fresh = false; /* its sums come from these */
    memset(f->t, 0, (size_t)(s->problem->k * rank) * sizeof *f->t);
    for (int64_t i = 0; i < s->problem->n; i++) {
        if (s->labels[i] >= 0) {
            clv_kernels->f64.accumulate(f->t + s->labels[i] * rank, row_of(f, i), rank);
        }
    }
}

/* The sums of the objects first..first + count - 1, where they belong. */
static void look(const factored *f, int64_t first, int64_t count) {
    clv_partition *s = f->s;
    int64_t n = s->problem->n, rank = f->factor.cols;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->problem->k, (int)count, (int)rank, 1, f->t, (int)rank,
                row_of(f, first), (int)rank, 0, s->sums + first, (int)n);
    for (int64_t i = first; i < first + count; i++) {
        if (s->labels[i] >= 0) {
            double squares = clv_dot(row_of(f, i), row_of(f, i), rank, 1);
            s->sums[s->labels[i] * n + i] += s->problem->diagonal[i] - squares;
        }
    }
}

static void move(const factored *f, int64_t i, int32_t to) {
    int64_t rank = f->factor.cols;
    clv_kernels->f64.deduct(f->t + f->s->labels[i] * rank, row_of(f, i), rank);
    clv_kernels->f64.accumulate(f->t + to * rank, row_of(f, i), rank);
    clv_partition_relabel(f->s, i, to, clv_partition_sum(f->s, i, f->s->labels[i]), clv_partition_sum(f->s, i, to));
}

/* The objects first..first + count - 1 in turn. */
static void sweep_some(const factored *f, int64_t first, int64_t count, const rule *by, int64_t *moved) {
    bool changed = false;
    look(f, first, count);
    for (int64_t i = first; i < first + count; i++) {
        if (changed) {
            look(f, i, 1);
        }
        int32_t target = best_of(f->s, i, by);
        if (target != f->s->labels[i]) {
            move(f, i, target);
            changed = true;
            (*moved)++;
        }
    }
}

/* A sweep from object `first` on. */
static clv_status sweep_by_factor(clv_partition *s, const clv_matrix *factor, int64_t first, const rule *by,
                                  int64_t *moved) {
    const clv_ncut_problem *p = s->problem;
    factored f = {s, *factor, CLV_NEW(p->ctx, double, p->k * factor->cols)};
    bool stopped = false;
    if (!f.t) {
        return CLV_ENOMEM;
    }
    clv_blas_serial_begin();
    gather(&f);
    for (int64_t i = first; i < p->n && !stopped; i += AHEAD) {
        sweep_some(&f, i, p->n - i < AHEAD ? p->n - i : AHEAD, by, moved);
        stopped = clv_interrupted(p->ctx);
    }
    clv_blas_serial_end();
    clv_free(p->ctx, f.t);
    return stopped ? clv_stop_failure(p->ctx, "moving single objects") : clv_partition_refresh(s);
}

/* --- sweeps --- */

/* Objects that are looked at by one thread; together, more and more while none of them moves; and similarities that pay
 * for a thread. */
enum { AT_ONCE = 512, MOST_AT_ONCE = 1 << 18, WORTH_A_THREAD = 1 << 18 };

static int threads_for(const clv_partition *s, int64_t objects) {
    int64_t most = objects * s->problem->k / WORTH_A_THREAD + 1;
    return s->threads < most ? s->threads : (int)most;
}

/* The first object from `from` on that moves, or `end`. */
static int64_t first_to_move(const clv_partition *s, const rule *by, int64_t from, int64_t end) {
    while (from < end && best_of(s, from, by) == s->labels[from]) {
        from++;
    }
    return from;
}

/* The same by threads: until one moves, nothing changes for the others. */
static int64_t look_ahead(const clv_partition *s, const rule *by, int64_t from, int64_t end) {
    int64_t found = end;
#pragma omp parallel for num_threads(clv_team(threads_for(s, end - from))) schedule(static) reduction(min : found)
    for (int64_t i = from; i < end; i += AT_ONCE) {
        int64_t last = end - i < AT_ONCE ? end : i + AT_ONCE;
        int64_t first = i < found ? first_to_move(s, by, i, last) : last;
        found = first < last && first < found ? first : found;
    }
    return found;
}

/* The same up to n. */
static int64_t next_to_move(const clv_partition *s, const rule *by, int64_t from, int64_t *span) {
    int64_t n = s->problem->n, found = from, end = from;
    while (found == end && end < n) {
        from = end;
        end = n - from < *span ? n : from + *span;
        found = look_ahead(s, by, from, end);
        *span = found < end ? AT_ONCE : *span < MOST_AT_ONCE ? 4 * *span : *span;
    }
    return found;
}

/* --- sweeps that ranks share ---
 *
 * The rank that has a block of objects moves them, for all that it has the sums of, and tells the others of it a few
 * moves at a time. These follow while it goes on. Where nothing moves, each rank looks at its own objects. */

/* Objects of one block from *at on, and what was moved of them. */
static clv_status move_in_block(clv_partition *s, const rule *by, int64_t *at, int64_t *moved) {
    const clv_ncut_problem *p = s->problem;
    int64_t block = (*at / CLV_SHARE + 1) * CLV_SHARE, end = block < p->n ? block : p->n, i = *at;
    clv_told told = {.next = end};
    clv_status status = CLV_OK;
    if (i >= s->first && i < s->last) {
        while (status == CLV_OK && told.count < CLV_TOLD_MOVES && (i = first_to_move(s, by, i, end)) < end) {
            status = clv_own_move(s, i, best_of(s, i, by), &told);
            told.next = ++i;
        }
        told.next = told.count < CLV_TOLD_MOVES ? end : told.next;
    }
    CLV_TRY(clv_tell_moves(s, status, clv_owner_of(p->ctx, p->n, CLV_SHARE, *at), &told));
    *at = told.next;
    *moved = told.count;
    return CLV_OK;
}

/* The first object from `from` on, before `end`, that moves: by the ranks, each for its own. */
static clv_status look_ahead_shared(const clv_partition *s, const rule *by, int64_t from, int64_t end, int64_t *found) {
    int64_t first = from > s->first ? from : s->first, last = end < s->last ? end : s->last;
    int64_t here = first < last ? look_ahead(s, by, first, last) : last;
    *found = first < last && here < last ? here : end;
    return clv_agree_least(s->problem->ctx, found);
}

static clv_status sweep_shared(clv_partition *s, const rule *by, int64_t *moved) {
    int64_t n = s->problem->n, at = 0, span = CLV_SHARE, some;
    clv_status status = CLV_OK;
    *moved = 0;
    while (status == CLV_OK && at < n) {
        if (span > CLV_SHARE) { /* nobody has moved for a while */
            int64_t end = n - at < span ? n : at + span;
            CLV_TRY(look_ahead_shared(s, by, at, end, &at));
            span = at < end ? CLV_SHARE : n;
        } else {
            CLV_TRY(move_in_block(s, by, &at, &some));
            *moved += some;
            span = some > 0 ? span : 4 * span;
            status = clv_partition_poll(s, some);
        }
    }
    CLV_TRY(clv_partition_measure(s));
    s->measured = true;
    return status;
}

/* After more moves than pay, those on a factor go on without the sums. */
static clv_status sweep(clv_partition *s, const rule *by, int64_t *moved) {
    if (s->shared) {
        return sweep_shared(s, by, moved);
    }
    int64_t few = clv_partition_few_moves(s->problem);
    clv_matrix factor;
    bool factored = clv_affinity_factor(s->problem->affinity, &factor);
    clv_status status = CLV_OK;
    int64_t span = AT_ONCE, i = -1;
    *moved = 0;
    while (status == CLV_OK && (i = next_to_move(s, by, i + 1, &span)) < s->problem->n) {
        CLV_TRY(clv_partition_move(s, i, best_of(s, i, by)));
        status = clv_partition_poll(s, 1);
        (*moved)++;
        if (factored && *moved > few) {
            return sweep_by_factor(s, &factor, i + 1, by, moved);
        }
    }
    CLV_TRY(clv_partition_measure(s));
    s->measured = true;
    return status;
}

clv_status clv_move_sweep(clv_partition *s, int64_t *moved) {
    return sweep(s, &(rule){best_exact, NULL}, moved);
}

/* y of (14), in a column that is free between columns; k <= n. */
static const double *transform_of(clv_partition *s) {
    for (int64_t c = 0; c < s->problem->k; c++) {
        s->column[c] = clv_ratio(sqrt(fmax(s->within[c], 0)), s->volume[c]);
    }
    return s->column;
}

clv_status clv_finc_sweep(clv_partition *s, int64_t *moved) {
    return sweep(s, &(rule){best_transformed, transform_of(s)}, moved);
}

clv_status clv_finc_step(clv_partition *s, int64_t *moved) {
    rule by = {best_transformed, transform_of(s)};
    for (int64_t i = s->first; i < s->last; i++) {
        s->wanted[i] = best_of(s, i, &by);
    }
    CLV_TRY(clv_gather_wanted(s));
    CLV_TRY(clv_keep_clusters(s));
    return clv_partition_adopt(s, moved);
}

clv_status clv_dinkelbach_sweep(clv_partition *s, int64_t *moved) {
    double y = clv_ratio(s->volume[0] - s->within[0], s->volume[0] * s->volume[1]);
    return sweep(s, &(rule){best_by_ratio, &y}, moved);
}
