/* Connected components of the graph of positive similarities, by breadth-first search from the smallest object that has
 * not been reached.
 *
 * Where edges are stored, those of every object are looked at once: O(n + nonzeros). Else a column is made for an
 * object as long as some are not reached yet: a connected kernel costs one column, a graph of many pieces up to n.
 * Memory: a few numbers for each object. */
#include "affinity/home.h"

enum { POLL = 256 };

typedef struct search {
    const clv_affinity *a;
    clv_matrix graph; /* the edges where they lie, of a sparse one */
    int32_t *component;
    int64_t *queue; /* n: those reached, in the order in which they were */
    int64_t head, tail;
    int64_t *left; /* n: those not reached, ascending; NULL: sparse */
    int64_t left_count;
    double *column; /* n; NULL: sparse */
    int64_t count;
} search;

static void reach(search *s, int64_t i) {
    s->component[i] = (int32_t)s->count;
    s->queue[s->tail++] = i;
}

/* Reach the neighbors of i along its stored edges; whether i has any similarity. */
static bool follow_edges(search *s, int64_t i) {
    const clv_matrix *graph = &s->graph;
    const double *values = graph->values;
    bool similar = false;
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        int64_t j = graph->index[e];
        if (values[e] > 0 && !(s->a->zero_diagonal && j == i)) {
            similar = true;
            if (s->component[j] < 0) {
                reach(s, j);
            }
        }
    }
    return similar;
}

static bool has_positive(const double *column, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        if (column[j] > 0) {
            return true;
        }
    }
    return false;
}

/* The same from the column of i: the list of those not reached shrinks. */
static clv_status follow_column(search *s, int64_t i, bool *similar) {
    int64_t kept = 0;
    CLV_TRY(clv_affinity_column(s->a, i, s->column));
    *similar = has_positive(s->column, s->a->info.n);
    for (int64_t e = 0; e < s->left_count; e++) {
        int64_t j = s->left[e];
        if (j != i && s->column[j] > 0) {
            reach(s, j);
        } else if (j != i) {
            s->left[kept++] = j;
        }
    }
    s->left_count = kept;
    return CLV_OK;
}

/* The component of `seed`, which nothing before it has reached. */
static clv_status grow(search *s, int64_t seed) {
    bool similar = true;
    s->head = s->tail = 0;
    reach(s, seed);
    while (s->head < s->tail) {
        int64_t i = s->queue[s->head++];
        if ((s->column || s->head % POLL == 0) && clv_worked(s->a->ctx, s->column ? s->a->info.n : POLL)) {
            return clv_stop_failure(s->a->ctx, "looking for components of the graph");
        }
        if (!s->column) {
            similar = follow_edges(s, i);
        } else if (i == seed || s->left_count > 0) {
            CLV_TRY(follow_column(s, i, &similar));
        }
        if (i == seed && !similar) {
            s->component[i] = -1;
            return CLV_OK;
        }
    }
    s->count++;
    return CLV_OK;
}

static clv_status search_all(search *s) {
    int64_t n = s->a->info.n;
    for (int64_t i = 0; i < n; i++) {
        s->component[i] = -1;
        if (s->left) {
            s->left[i] = i;
        }
    }
    s->left_count = s->left ? n : 0;
    for (int64_t i = 0; i < n; i++) {
        if (s->component[i] < 0) {
            CLV_TRY(grow(s, i));
        }
    }
    return CLV_OK;
}

clv_status clv_affinity_components(const clv_affinity *a, int32_t *component, int64_t *count) {
    clv_kept kept = {.ctx = a->ctx};
    search s = {.a = a, .component = component};
    s.queue = CLV_TAKE(&kept, int64_t, a->info.n);
    if (!clv_affinity_view(a, &s.graph) || !clv_is_sparse(&s.graph)) {
        s.left = CLV_TAKE(&kept, int64_t, a->info.n);
        s.column = CLV_TAKE(&kept, double, a->info.n);
    }
    clv_status status = kept.status == CLV_OK ? search_all(&s) : kept.status;
    *count = s.count;
    clv_free_kept(&kept);
    return status;
}
