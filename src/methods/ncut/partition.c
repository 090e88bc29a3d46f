/* The iterate of the normalized cut: labels, S_ci = sum of w_ij over j in c, V_c = sum of d_i over i in c, and
 * N_c = sum of S_ci over i in c, from which ncut = (k - sum_c N_c / V_c) / 2 and, in O(1), the exact gain of a move:
 *
 *   a loses i:  N_a' = N_a - 2 S_ai + w_ii,  V_a' = V_a - d_i
 *   b gets i:   N_b' = N_b + 2 S_bi + w_ii,  V_b' = V_b + d_i
 *
 * A cluster without volume counts N_c / V_c = 0. Memory: S, k n doubles. */
#include "base/ranks.h"
#include "kernels/kernels.h"
#include "methods/ncut/ncut.h"

#include <float.h>
#include <math.h>
#include <string.h>

clv_status clv_partition_new(const clv_ncut_problem *problem, int threads, clv_partition *out) {
    clv_context *ctx = problem->ctx;
    int64_t n = problem->n, k = problem->k, entries;
    *out = (clv_partition){.problem = problem, .threads = threads};
    if (!clv_mul(n, k, &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld x %lld sums are more than can be addressed", (long long)k, (long long)n);
    }
    out->labels = CLV_NEW(ctx, int32_t, n);
    out->wanted = CLV_NEW(ctx, int32_t, n);
    out->sums = CLV_NEW(ctx, double, entries);
    out->volume = CLV_NEW(ctx, double, k);
    out->within = CLV_NEW(ctx, double, k);
    out->size = CLV_NEW(ctx, int64_t, k);
    out->moved = CLV_NEW(ctx, int64_t, 2 * n);
    out->column = CLV_NEW(ctx, double, 2 * n);
    if (!out->labels || !out->wanted || !out->sums || !out->volume || !out->within || !out->size || !out->moved ||
        !out->column) {
        clv_partition_free(out);
        return CLV_ENOMEM;
    }
    out->picked = out->moved + n;
    out->second = out->column + n;
    out->shared = clv_affinity_shares_moves(problem->affinity, &out->first, &out->last);
    return CLV_OK;
}

static void let_go(clv_partition *s) {
    clv_affinity_let_go(s->problem->affinity, s->kept);
    s->kept = NULL;
}

clv_status clv_partition_bring_back(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    clv_status status = s->kept ? clv_affinity_kept_back(p->affinity, s->kept, s->sums) : CLV_OK;
    let_go(s);
    if (s->parted) {
        CLV_TRY(clv_gather_columns(p->ctx, status, s->sums, p->k, p->n, CLV_SHARE, 0, p->n));
        s->parted = false;
    }
    return status;
}

void clv_partition_free(clv_partition *s) {
    if (s->problem) {
        clv_context *ctx = s->problem->ctx;
        let_go(s);
        CLV_FREE_ALL(ctx, s->labels, s->wanted, s->sums, s->volume, s->within, s->size, s->moved, s->column);
        memset(s, 0, sizeof *s);
    }
}

size_t clv_partition_memory(int64_t n, int64_t k) {
    size_t objects = (size_t)n, clusters = (size_t)k;
    return objects * (2 * sizeof(int32_t) + 2 * sizeof(int64_t) + (clusters + 2) * sizeof(double)) +
           clusters * (2 * sizeof(double) + sizeof(int64_t));
}

void clv_partition_copy(clv_partition *to, const clv_partition *from) {
    size_t n = (size_t)from->problem->n, k = (size_t)from->problem->k;
    size_t first = (size_t)from->first, own = (size_t)from->last - first;
    memcpy(to->labels, from->labels, n * sizeof *to->labels);
    for (size_t c = 0; c < k; c++) {
        memcpy(to->sums + c * n + first, from->sums + c * n + first, own * sizeof *to->sums);
    }
    memcpy(to->volume, from->volume, k * sizeof *to->volume);
    memcpy(to->within, from->within, k * sizeof *to->within);
    memcpy(to->size, from->size, k * sizeof *to->size);
    to->value = from->value;
    to->fresh = from->fresh;
    to->parted = from->shared;
}

void clv_partition_pass(clv_partition *s, bool sums, clv_archive *archive) {
    const clv_ncut_problem *p = s->problem;
    clv_pass_labels(archive, s->labels, p->n, -1, p->k - 1);
    if (sums) {
        clv_pass_reals(archive, s->sums, p->n * p->k);
    }
    clv_pass_reals(archive, s->volume, p->k);
    clv_pass_reals(archive, s->within, p->k);
    clv_pass_real(archive, &s->value);
    s->fresh = s->fresh && !archive->loading;
    s->parted = s->parted && !archive->loading;
    if (!archive->loading || archive->status < 0) {
        return;
    }
    bool fine = true;
    clv_partition_count(s, s->labels);
    for (int64_t i = 0; i < p->n; i++) {
        fine = fine && (s->labels[i] < 0) == (p->degree[i] <= 0);
    }
    for (int64_t c = 0; c < p->k; c++) {
        fine = fine && s->size[c] > 0;
    }
    if (!fine) {
        clv_archive_refuse(archive);
    }
}

/* Objects that one thread counts, or whose volumes and sums it adds up; and clusters of which it has them on its stack.
 */
enum { MEASURED = 1 << 16, MEASURED_CLUSTERS = 64 };

static bool is_measured_in_parts(const clv_ncut_problem *p) {
    return p->n > MEASURED && p->k <= MEASURED_CLUSTERS;
}

/* A thread for every few parts: these loops take a millisecond, and one thread of many that is kept waiting keeps all
 * waiting. */
static int part_threads(const clv_partition *s) {
    enum { PARTS_EACH = 4 };
    int64_t most = s->problem->n / MEASURED / PARTS_EACH + 1;
    return s->threads < most ? s->threads : (int)most;
}

static int64_t end_of_part(const clv_ncut_problem *p, int64_t from) {
    return p->n - from < MEASURED ? p->n : from + MEASURED;
}

void clv_partition_count(clv_partition *s, const int32_t *labels) {
    const clv_ncut_problem *p = s->problem;
    if (!is_measured_in_parts(p)) {
        clv_count_labels(labels, p->n, p->k, s->size);
        return;
    }
    memset(s->size, 0, (size_t)p->k * sizeof *s->size);
#pragma omp parallel for num_threads(clv_team(part_threads(s))) schedule(static, 1)
    for (int64_t from = 0; from < p->n; from += MEASURED) {
        int64_t part[MEASURED_CLUSTERS];
        clv_count_labels(labels + from, end_of_part(p, from) - from, p->k, part);
        for (int64_t c = 0; c < p->k; c++) {
#pragma omp atomic
            s->size[c] += part[c];
        }
    }
}

/* What objects from..to - 1 add. */
static void measure_part(const clv_partition *s, int64_t from, int64_t to, double *volume, double *within) {
    int64_t n = s->problem->n;
    for (int64_t i = from; i < to; i++) {
        int32_t c = s->labels[i];
        if (c >= 0) {
            volume[c] += s->problem->degree[i];
            within[c] += s->kept || s->parted ? s->column[i] : s->sums[c * n + i];
        }
    }
}

clv_status clv_partition_measure(clv_partition *s) {
    int64_t n = s->problem->n, k = s->problem->k;
    CLV_TRY(s->parted ? clv_gather_own_sums(s) : CLV_OK);
    clv_partition_count(s, s->labels);
    memset(s->volume, 0, (size_t)k * sizeof *s->volume);
    memset(s->within, 0, (size_t)k * sizeof *s->within);
    if (!is_measured_in_parts(s->problem)) {
        measure_part(s, 0, n, s->volume, s->within);
    } else {
#pragma omp parallel for ordered num_threads(clv_team(part_threads(s))) schedule(static, 1)
        for (int64_t from = 0; from < n; from += MEASURED) {
            double part[2 * MEASURED_CLUSTERS] = {0};
            measure_part(s, from, end_of_part(s->problem, from), part, part + k);
#pragma omp ordered
            for (int64_t c = 0; c < k; c++) {
                s->volume[c] += part[c];
                s->within[c] += part[k + c];
            }
        }
    }
    double association = 0;
    for (int64_t c = 0; c < k; c++) {
        association += clv_ratio(s->within[c], s->volume[c]);
    }
    s->value = ((double)k - association) / 2;
    return CLV_OK;
}

/* An object's similarity to all clusters is its degree. */
static void take_degrees(const clv_partition *s) {
    int64_t n = s->problem->n;
    double *degree = s->problem->degree;
#pragma omp parallel for num_threads(clv_team(part_threads(s))) schedule(static)
    for (int64_t from = 0; from < n; from += MEASURED) {
        int64_t count = end_of_part(s->problem, from) - from;
        memcpy(degree + from, s->sums + from, (size_t)count * sizeof *degree);
        for (int64_t c = 1; c < s->problem->k; c++) {
            clv_kernels->f64.accumulate(degree + from, s->sums + c * n + from, count);
        }
    }
}

clv_status clv_partition_refresh(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    let_go(s);
    s->parted = false;
    CLV_TRY((s->rough ? clv_affinity_rough_sums : clv_affinity_group_sums)(p->affinity, s->labels, p->k, s->sums,
                                                                           s->threads));
    if (p->summed_degrees) {
        take_degrees(s);
    }
    s->fresh = !s->rough;
    return clv_partition_measure(s);
}

/* --- many moves at once --- */

/* A move touches the row of one object, a pass the rows of all. Where products are cheaper than their columns, all sums
 * have the price of about k rows. */
int64_t clv_partition_few_moves(const clv_ncut_problem *p) {
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    return clv_affinity_has_cheap_products(&info) ? p->k : p->n / 3;
}

/* Those of objects from..to - 1 that are to move, into s->moved from `from` on; how many there are. */
static int64_t list_movers_of(clv_partition *s, int64_t from, int64_t to) {
    int64_t at = from;
    for (int64_t i = from; i < to; i++) {
        s->moved[at] = i;
        at += s->wanted[i] != s->labels[i];
    }
    return at - from;
}

/* All of them, in ascending order, into s->moved. */
static int64_t list_movers(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    int64_t count = 0;
#pragma omp parallel for ordered num_threads(clv_team(part_threads(s))) schedule(static, 1) if (p->n > MEASURED)
    for (int64_t from = 0; from < p->n; from += MEASURED) {
        int64_t own = list_movers_of(s, from, end_of_part(p, from));
#pragma omp ordered
        {
            memmove(s->moved + count, s->moved + from, (size_t)own * sizeof *s->moved);
            count += own;
        }
    }
    return count;
}

/* The sums follow these objects; of sums that stay away, column has what objects have of their own. */
static clv_status follow(clv_partition *s, const int64_t *objects, int64_t count) {
    const clv_ncut_problem *p = s->problem;
    if (s->away && !s->kept) {
        CLV_TRY(clv_affinity_keep(p->affinity, p->k, s->sums, p->degree, &s->kept));
    }
    if (s->kept) {
        return clv_affinity_kept_follow(p->affinity, s->kept, objects, s->labels, s->wanted, count, s->column);
    }
    if (s->shared) {
        s->parted = true;
        return clv_affinity_move_own(p->affinity, objects, s->labels, s->wanted, count, s->sums, s->threads);
    }
    return (s->rough ? clv_affinity_rough_moves : clv_affinity_move_many)(p->affinity, objects, s->labels, s->wanted,
                                                                          count, s->sums, s->threads);
}

clv_status clv_partition_carry_out(clv_partition *s, const int64_t *objects, int64_t count) {
    s->fresh = s->fresh && count == 0;
    CLV_TRY(follow(s, objects, count));
    for (int64_t m = 0; m < count; m++) {
        s->labels[objects[m]] = s->wanted[objects[m]];
    }
    return CLV_OK;
}

clv_status clv_partition_adopt(clv_partition *s, int64_t *moved) {
    const clv_ncut_problem *p = s->problem;
    int64_t count = list_movers(s);
    *moved = count;
    if (count > clv_partition_few_moves(p)) {
        memcpy(s->labels, s->wanted, (size_t)p->n * sizeof *s->labels);
        return clv_partition_refresh(s);
    }
    CLV_TRY(clv_partition_carry_out(s, s->moved, count));
    return clv_partition_measure(s);
}

/* --- one move --- */

double clv_leave_gain(const clv_partition *s, int64_t i, double sum) {
    const clv_ncut_problem *p = s->problem;
    int32_t a = s->labels[i];
    double rest = s->within[a] - 2 * sum + p->diagonal[i];
    return (clv_ratio(rest, s->volume[a] - p->degree[i]) - clv_ratio(s->within[a], s->volume[a])) / 2;
}

double clv_enter_gain(const clv_partition *s, int64_t i, int32_t to, double sum) {
    const clv_ncut_problem *p = s->problem;
    double grown = s->within[to] + 2 * sum + p->diagonal[i];
    return (clv_ratio(grown, s->volume[to] + p->degree[i]) - clv_ratio(s->within[to], s->volume[to])) / 2;
}

double clv_partition_leave(const clv_partition *s, int64_t i) {
    return clv_leave_gain(s, i, clv_partition_sum(s, i, s->labels[i]));
}

double clv_partition_enter(const clv_partition *s, int64_t i, int32_t to) {
    return clv_enter_gain(s, i, to, clv_partition_sum(s, i, to));
}

void clv_partition_relabel(clv_partition *s, int64_t i, int32_t to, double left, double entered) {
    const clv_ncut_problem *p = s->problem;
    s->fresh = false;
    int32_t from = s->labels[i];
    s->within[from] += p->diagonal[i] - 2 * left;
    s->within[to] += p->diagonal[i] + 2 * entered;
    s->volume[from] -= p->degree[i];
    s->volume[to] += p->degree[i];
    s->size[from]--;
    s->size[to]++;
    s->labels[i] = to;
}

clv_status clv_partition_move(clv_partition *s, int64_t i, int32_t to) {
    int32_t from = s->labels[i];
    clv_partition_relabel(s, i, to, clv_partition_sum(s, i, from), clv_partition_sum(s, i, to));
    return clv_affinity_move(s->problem->affinity, i, from, to, s->sums);
}

clv_status clv_partition_poll(const clv_partition *s, int64_t moves) {
    clv_context *ctx = s->problem->ctx;
    return clv_worked(ctx, moves * s->problem->n) ? clv_stop_failure(ctx, "moving objects") : CLV_OK;
}

/* --- the certificate --- */

/* What leaving brings to a member with more than half of the volume of its cluster: V_a - d_i would lose digits, so
 * what remains without it is summed up afresh. There is at most one such member a cluster. */
static clv_status leave_heavy(clv_partition *s, int64_t i, double *out) {
    const clv_ncut_problem *p = s->problem;
    int32_t a = s->labels[i];
    double volume = 0, within = 0;
    CLV_TRY(clv_affinity_column(p->affinity, i, s->column));
    for (int64_t j = 0; j < p->n; j++) {
        if (s->labels[j] == a && j != i) {
            volume += p->degree[j];
            within += s->sums[a * p->n + j] - s->column[j];
        }
    }
    *out = (clv_ratio(fmax(within, 0), volume) - clv_ratio(s->within[a], s->volume[a])) / 2;
    return CLV_OK;
}

static double best_entry(const clv_partition *s, int64_t i) {
    double best = -INFINITY;
    for (int32_t b = 0; b < s->problem->k; b++) {
        if (b != s->labels[i]) {
            best = fmax(best, clv_partition_enter(s, i, b));
        }
    }
    return best;
}

static bool is_heavy(const clv_partition *s, int64_t i) {
    return s->problem->degree[i] > s->volume[s->labels[i]] / 2;
}

static bool may_leave(const clv_partition *s, int64_t i) {
    return s->labels[i] >= 0 && s->size[s->labels[i]] > 1;
}

clv_status clv_partition_gain(clv_partition *s, double *out) {
    int64_t n = s->problem->n, first = 0, last = n;
    CLV_TRY(clv_partition_bring_back(s));
    double best = -DBL_MAX; /* what compilers start a max reduction from is this or -INFINITY */
    if (clv_partition_is_large(s)) {
        clv_share_objects(s->problem->ctx, n, CLV_SHARE, &first, &last);
    }
#pragma omp parallel for num_threads(clv_team(s->threads)) if (clv_partition_is_large(s)) reduction(max : best)
    for (int64_t i = first; i < last; i++) {
        if (may_leave(s, i) && !is_heavy(s, i)) {
            best = fmax(best, clv_partition_leave(s, i) + best_entry(s, i));
        }
    }
    CLV_TRY(clv_partition_is_large(s) ? clv_agree_largest(s->problem->ctx, &best) : CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        double leave;
        if (may_leave(s, i) && is_heavy(s, i)) {
            CLV_TRY(leave_heavy(s, i, &leave));
            best = fmax(best, leave + best_entry(s, i));
        }
    }
    *out = best > -DBL_MAX ? best : 0;
    return CLV_OK;
}
