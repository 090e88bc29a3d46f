/* The operator on some of the objects as one of its own, compact: what clv_affinity_restrict gives, but every function
 * costs what the chosen objects cost, not what all of them do. Entries have the bits of the base's. The copy is O(m p)
 * of points, O(n) of a minimax tree, O(m^2) of a dense matrix and O(n + edges of the chosen) of a sparse one. */
#include "affinity/affinity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLL = 256, WORTH_THREADS = 1 << 15 };

typedef struct choice {
    const clv_affinity *base;
    const int64_t *objects;
    int64_t m;
} choice;

static clv_status interrupted(const choice *c) {
    return clv_fail(c->base->ctx, CLV_EINTERRUPTED, "interrupted");
}

static clv_status take_points(const choice *c, clv_affinity *out) {
    const clv_computed_home *from = c->base->state;
    clv_computed_home *to = out->state;
    *to = (clv_computed_home){.gamma = from->gamma, .top = from->top};
    return clv_panels_gather(&from->panels, c->objects, c->m, c->m < WORTH_THREADS ? 1 : out->threads, &to->panels);
}

static clv_status take_factor(const choice *c, clv_affinity *out) {
    const clv_lowrank_home *from = c->base->state;
    clv_lowrank_home *to = out->state;
    int64_t rank = from->rank;
    to->owned = CLV_NEW(out->ctx, double, c->m *rank);
    to->factor = to->owned;
    to->rank = rank;
    if (!to->owned) {
        return CLV_ENOMEM;
    }
    for (int64_t j = 0; j < c->m; j++) {
        memcpy(to->owned + j * rank, from->factor + c->objects[j] * rank, (size_t)rank * sizeof *to->owned);
    }
    return CLV_OK;
}

/* --- minimax: the chosen leaves in their order; the gap between two is the largest of those that lie between --- */

static void take_leaves(const choice *c, const int32_t *number, clv_minimax_home *to) {
    const clv_minimax_home *from = c->base->state;
    double between = 0;
    int64_t taken = 0;
    for (int64_t s = 0; s < c->base->info.n; s++) {
        int32_t j = number[from->leaf[s]];
        if (j >= 0) {
            if (taken > 0) {
                to->gap[taken - 1] = between;
            }
            to->leaf[taken] = j;
            to->position[j] = taken;
            to->gap[taken++] = 0;
            between = 0;
        }
        between = fmax(between, from->gap[s]);
    }
    to->top = from->top;
}

static clv_status take_tree(const choice *c, const int32_t *number, clv_affinity *out) {
    clv_minimax_home *to = out->state;
    to->leaf = CLV_NEW(out->ctx, int64_t, c->m);
    to->position = CLV_NEW(out->ctx, int64_t, c->m);
    to->gap = CLV_NEW(out->ctx, double, c->m);
    if (!to->leaf || !to->position || !to->gap) {
        return CLV_ENOMEM;
    }
    take_leaves(c, number, to);
    return CLV_OK;
}

/* --- sparse --- */

typedef struct edge {
    int32_t index;
    double value;
} edge;

static int by_index(const void *left, const void *right) {
    const edge *l = left, *r = right;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* The edges of chosen object j to chosen objects, ascending: how many. */
static int64_t find_edges(const choice *c, const int32_t *number, int64_t j, edge *out) {
    const int32_t *index;
    const double *values;
    int64_t count = clv_sparse_row(c->base, c->objects[j], &index, &values), kept = 0;
    bool ascending = true;
    for (int64_t e = 0; e < count; e++) {
        int32_t other = number[index[e]];
        if (other >= 0) {
            ascending = ascending && (kept == 0 || out[kept - 1].index < other);
            out[kept++] = (edge){other, values[e]};
        }
    }
    if (!ascending) {
        qsort(out, (size_t)kept, sizeof *out, by_index);
    }
    return kept;
}

static int64_t count_edges(const choice *c, const int32_t *number, int64_t *longest) {
    const int32_t *index;
    const double *values;
    int64_t total = 0;
    *longest = 0;
    for (int64_t j = 0; j < c->m; j++) {
        int64_t count = clv_sparse_row(c->base, c->objects[j], &index, &values);
        *longest = count > *longest ? count : *longest;
        for (int64_t e = 0; e < count; e++) {
            total += number[index[e]] >= 0;
        }
    }
    return total;
}

static clv_status take_edges(const choice *c, const int32_t *number, clv_affinity *out) {
    clv_sparse_home *to = out->state;
    int64_t longest, total = count_edges(c, number, &longest);
    CLV_TRY(clv_data_new_csr(out->ctx, "affinity", c->m, c->m, total, &to->owned));
    edge *row = CLV_NEW(out->ctx, edge, longest);
    if (!row) {
        return CLV_ENOMEM;
    }
    double *values = to->owned->values;
    for (int64_t j = 0, at = 0; j < c->m; j++) {
        int64_t count = find_edges(c, number, j, row);
        for (int64_t e = 0; e < count; e++, at++) {
            to->owned->index[at] = row[e].index;
            values[at] = row[e].value;
        }
        to->owned->start[j + 1] = at;
    }
    clv_free(out->ctx, row);
    to->graph = to->owned->matrix;
    out->info.nonzeros = total;
    return CLV_OK;
}

/* --- dense --- */

static void take_row(const choice *c, int64_t j, void *out) {
    const double *row64 = clv_dense_row64(c->base, c->objects[j]);
    const float *row32 = clv_dense_row32(c->base, c->objects[j]);
    for (int64_t l = 0; l < c->m; l++) {
        bool own = l == j && c->base->zero_diagonal;
        if (row32) {
            ((float *)out)[j * c->m + l] = own ? 0 : row32[c->objects[l]];
        } else {
            ((double *)out)[j * c->m + l] = own ? 0 : row64[c->objects[l]];
        }
    }
}

static clv_status take_block(const choice *c, clv_affinity *out) {
    clv_dense_home *to = out->state;
    size_t size = c->base->info.home == CLV_HOME_DENSE32 ? sizeof(float) : sizeof(double), now, most;
    int64_t entries = c->m * c->m, bytes, total;
    clv_context_memory(out->ctx, &now, &most);
    if (!clv_mul(entries, (int64_t)size, &bytes) || !clv_add(bytes, (int64_t)now, &total) ||
        total > (int64_t)c->base->budget) {
        return clv_fail(out->ctx, CLV_ENOMEM,
                        "a copy of the similarities of %lld objects is more than the budget of %zu bytes allows",
                        (long long)c->m, c->base->budget);
    }
    to->owned = clv_alloc(out->ctx, entries, size);
    to->values = to->owned;
    if (!to->owned) {
        return CLV_ENOMEM;
    }
    for (int64_t j = 0; j < c->m; j++) {
        if (j % POLL == 0 && clv_interrupted(out->ctx)) {
            return interrupted(c);
        }
        take_row(c, j, to->owned);
    }
    return CLV_OK;
}

/* --- all of them --- */

/* The number of each object among the chosen, or -1. */
static int32_t *number_objects(const choice *c) {
    int32_t *number = CLV_NEW(c->base->ctx, int32_t, c->base->info.n);
    for (int64_t i = 0; number && i < c->base->info.n; i++) {
        number[i] = -1;
    }
    for (int64_t j = 0; number && j < c->m; j++) {
        number[c->objects[j]] = (int32_t)j;
    }
    return number;
}

static clv_status take_numbered(const choice *c, clv_affinity *out) {
    int32_t *number = number_objects(c);
    if (!number) {
        return CLV_ENOMEM;
    }
    clv_status status = c->base->home == &clv_sparse_functions ? take_edges(c, number, out) : take_tree(c, number, out);
    clv_free(out->ctx, number);
    return status;
}

static clv_status take(const choice *c, clv_affinity *out) {
    const clv_home_functions *home = c->base->home;
    if (home == &clv_computed_functions) {
        return take_points(c, out);
    }
    if (home == &clv_lowrank_functions) {
        return take_factor(c, out);
    }
    if (home == &clv_dense_functions) {
        return take_block(c, out);
    }
    return take_numbered(c, out);
}

static size_t state_size(const clv_home_functions *home) {
    return home == &clv_computed_functions  ? sizeof(clv_computed_home)
           : home == &clv_lowrank_functions ? sizeof(clv_lowrank_home)
           : home == &clv_dense_functions   ? sizeof(clv_dense_home)
           : home == &clv_sparse_functions  ? sizeof(clv_sparse_home)
                                            : sizeof(clv_minimax_home);
}

/* Objects of a restricted operator are objects of its base. */
static clv_status subset_of_restricted(const choice *c, clv_affinity **out) {
    const clv_restricted_home *home = c->base->state;
    int64_t *objects = CLV_NEW(c->base->ctx, int64_t, c->m);
    if (!objects) {
        return CLV_ENOMEM;
    }
    for (int64_t j = 0; j < c->m; j++) {
        objects[j] = home->active[c->objects[j]];
    }
    clv_status status = clv_affinity_subset(home->base, objects, c->m, out);
    clv_free(c->base->ctx, objects);
    return status;
}

clv_status clv_affinity_subset(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out) {
    choice c = {base, objects, m};
    size_t before, now, most;
    *out = NULL;
    if (base->home == &clv_restricted_functions) {
        return subset_of_restricted(&c, out);
    }
    clv_context_memory(base->ctx, &before, &most);
    CLV_TRY(clv_affinity_new(base->ctx, base->home, state_size(base->home), out));
    (*out)->info = base->info;
    (*out)->info.n = m;
    (*out)->info.nonzeros = m * m;
    (*out)->budget = base->budget;
    (*out)->threads = base->threads;
    (*out)->zero_diagonal = base->zero_diagonal;
    clv_status status = take(&c, *out);
    if (status < 0) {
        clv_affinity_free(*out);
        *out = NULL;
        return status;
    }
    clv_context_memory(base->ctx, &now, &most);
    (*out)->info.bytes = (*out)->info.peak = now - before;
    return CLV_OK;
}
