/* Objects that no dominant set took, to the cluster they are most similar to on average, formula (29):
 *
 *   j goes to the cluster l with the largest (1 / |C_l|) sum over p in C_l of a_jp
 *
 * with the clusters as they were found: who is assigned does not change the means for the next. Ties go to the smaller
 * label, empty clusters take nobody, and an object that is similar to no member of any cluster stays without a label.
 *
 * With M members and U objects to assign, the sums to a cluster are a combination of its members' columns: M n entries
 * in all (less on sparse graphs, minimax paths and factors), and never n^2. Where every entry costs the same and U < M,
 * the columns of the U objects are taken instead. Memory: O(n) for each thread. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <omp.h>
#include <string.h>

/* Means that differ by no more than this, relatively, are equal but for the order of summation. */
#define TIE 1e-12

typedef struct assignment {
    clv_context *ctx;
    const clv_affinity *affinity;
    int64_t n, k;
    int threads;
    const int32_t *labels; /* n: as they were */
    int64_t *start;        /* k + 2: who has label c is in objects[start[c + 1]..start[c + 2] - 1]; -1 comes first */
    int64_t *objects;      /* n */
    double *best;          /* n: the largest mean so far */
    int32_t *choice;       /* n: its cluster */
} assignment;

/* Objects by their label, each group ascending. */
static void group(assignment *s) {
    for (int64_t i = 0; i < s->n; i++) {
        s->start[s->labels[i] + 2]++;
    }
    for (int64_t c = 0; c <= s->k; c++) {
        s->start[c + 1] += s->start[c];
    }
    for (int64_t i = 0; i < s->n; i++) {
        s->objects[s->start[s->labels[i] + 1]++] = i;
    }
    memmove(s->start + 1, s->start, (size_t)(s->k + 1) * sizeof *s->start);
    s->start[0] = 0;
}

static clv_status new_assignment(assignment *s) {
    CLV_TRY(clv_check_labels(s->ctx, s->labels, s->n, s->k));
    s->start = CLV_NEW0(s->ctx, int64_t, s->k + 2);
    s->objects = CLV_NEW(s->ctx, int64_t, s->n);
    s->best = CLV_NEW0(s->ctx, double, s->n);
    s->choice = CLV_NEW(s->ctx, int32_t, s->n);
    if (!s->start || !s->objects || !s->best || !s->choice) {
        return CLV_ENOMEM;
    }
    memcpy(s->choice, s->labels, (size_t)s->n * sizeof *s->choice);
    group(s);
    return CLV_OK;
}

static int64_t size_of(const assignment *s, int64_t c) {
    return s->start[c + 2] - s->start[c + 1];
}

static int64_t unassigned(const assignment *s) {
    return s->start[1];
}

/* Clusters are offered in ascending order, so that the first of equals stays. */
static void offer(assignment *s, int64_t i, int64_t c, double sum) {
    double mean = sum / (double)size_of(s, c);
    if (mean > s->best[i] * (1 + TIE)) {
        s->best[i] = mean;
        s->choice[i] = (int32_t)c;
    }
}

/* --- by clusters --- */

static clv_status offer_clusters(assignment *s, double *ones, double *sums) {
    for (int64_t i = 0; i < s->n; i++) {
        ones[i] = 1;
    }
    for (int64_t c = 0; c < s->k; c++) {
        if (size_of(s, c) > 0) {
            CLV_TRY(
                clv_affinity_combine(s->affinity, s->objects + s->start[c + 1], ones, size_of(s, c), sums, s->threads));
            for (int64_t u = 0; u < unassigned(s); u++) {
                offer(s, s->objects[u], c, sums[s->objects[u]]);
            }
        }
    }
    return CLV_OK;
}

static clv_status assign_by_clusters(assignment *s) {
    double *ones = CLV_NEW(s->ctx, double, s->n);
    double *sums = CLV_NEW(s->ctx, double, s->n);
    clv_status status = ones && sums ? offer_clusters(s, ones, sums) : CLV_ENOMEM;
    clv_free(s->ctx, ones);
    clv_free(s->ctx, sums);
    return status;
}

/* --- by objects --- */

static clv_status offer_all(assignment *s, int64_t i, double *column) {
    if (clv_interrupted(s->ctx)) {
        return clv_stop_failure(s->ctx, "assigning objects to clusters");
    }
    CLV_TRY(clv_affinity_column(s->affinity, i, column));
    for (int64_t c = 0; c < s->k; c++) {
        double sum = 0;
        for (int64_t e = s->start[c + 1]; e < s->start[c + 2]; e++) {
            sum += column[s->objects[e]];
        }
        if (size_of(s, c) > 0) {
            offer(s, i, c, sum);
        }
    }
    return CLV_OK;
}

static clv_status assign_by_objects(assignment *s) {
    double *columns = CLV_NEW(s->ctx, double, s->n * s->threads);
    int32_t *found = CLV_NEW(s->ctx, int32_t, unassigned(s));
    int stopped = columns && found ? CLV_OK : CLV_ENOMEM;
    int64_t first, last;
    clv_share(s->ctx, unassigned(s), &first, &last);
    clv_own_clock_begin(s->ctx);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic)
    for (int64_t u = first; u < last; u++) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (stop == CLV_OK) {
            clv_status status = offer_all(s, s->objects[u], columns + s->n * omp_get_thread_num());
            found[u] = s->choice[s->objects[u]];
            if (status < 0) {
#pragma omp atomic write
                stopped = status;
            }
        }
    }
    clv_own_clock_end(s->ctx);
    clv_status status = clv_gather_items(s->ctx, (clv_status)stopped, found, sizeof *found, unassigned(s), 1);
    for (int64_t u = 0; status == CLV_OK && u < unassigned(s); u++) {
        s->choice[s->objects[u]] = found[u];
    }
    clv_free(s->ctx, columns);
    clv_free(s->ctx, found);
    return status;
}

/* --- the cheaper way --- */

static bool is_cheaper_by_objects(const assignment *s) {
    clv_affinity_info info;
    clv_affinity_describe(s->affinity, &info);
    bool each_entry_costs =
        !info.sparse && info.cost.column >= (double)s->n * info.cost.entry && !clv_affinity_has_cheap_products(&info);
    return each_entry_costs && unassigned(s) < s->n - unassigned(s);
}

clv_status clv_dominant_assign(clv_context *ctx, const clv_affinity *a, int64_t k, int64_t threads, int32_t *labels) {
    assignment s = {.ctx = ctx,
                    .affinity = a,
                    .n = clv_affinity_size(a),
                    .k = k,
                    .threads = clv_threads(threads),
                    .labels = labels};
    clv_status status = new_assignment(&s);
    if (status == CLV_OK && unassigned(&s) > 0) {
        status = is_cheaper_by_objects(&s) ? assign_by_objects(&s) : assign_by_clusters(&s);
    }
    if (status == CLV_OK) {
        memcpy(labels, s.choice, (size_t)s.n * sizeof *labels);
    }
    CLV_FREE_ALL(s.ctx, s.start, s.objects, s.best, s.choice);
    return status;
}
