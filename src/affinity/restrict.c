/* The operator on some of the objects, without a copy: vectors are spread over all objects, the base does the work, and
 * the result is gathered. A function costs what it costs on the base. */
#include "affinity/home.h"

#include <string.h>

typedef struct restricted {
    const clv_affinity *base;
    const int64_t *active;
    int64_t *owned; /* == active, or NULL when borrowed */
} restricted;

static const restricted *home_of(const clv_affinity *a) {
    return a->state;
}

static clv_status restricted_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    const restricted *home = home_of(a);
    return clv_affinity_entry(home->base, home->active[i], home->active[j], out);
}

static clv_status restricted_column(const clv_affinity *a, int64_t i, double *out) {
    const restricted *home = home_of(a);
    double *all = CLV_NEW(a->ctx, double, clv_affinity_size(home->base));
    clv_status status = all ? clv_affinity_column(home->base, home->active[i], all) : CLV_ENOMEM;
    for (int64_t j = 0; status == CLV_OK && j < a->info.n; j++) {
        out[j] = all[home->active[j]];
    }
    clv_free(a->ctx, all);
    return status;
}

static void gather(const clv_affinity *a, const double *all, int64_t k, double *y) {
    int64_t total = clv_affinity_size(home_of(a)->base);
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < a->info.n; i++) {
            y[c * a->info.n + i] = all[c * total + home_of(a)->active[i]];
        }
    }
}

static clv_status restricted_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    const restricted *home = home_of(a);
    int64_t total = clv_affinity_size(home->base);
    double *spread = CLV_NEW0(a->ctx, double, 2 * k * total);
    if (!spread) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < a->info.n; i++) {
            spread[c * total + home->active[i]] = x[c * a->info.n + i];
        }
    }
    clv_status status = clv_affinity_apply(home->base, spread, k, spread + k * total, threads);
    if (status == CLV_OK) {
        gather(a, spread + k * total, k, y);
    }
    clv_free(a->ctx, spread);
    return status;
}

static clv_status restricted_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y,
                                        int threads) {
    const restricted *home = home_of(a);
    int64_t total = clv_affinity_size(home->base);
    clv_kept work = {.ctx = a->ctx};
    int32_t *spread = clv_keep(&work, clv_number_objects(home->base, home->active, a->info.n));
    double *all = CLV_TAKE(&work, double, k *total);
    clv_status status = work.status;
    for (int64_t i = 0; status == CLV_OK && i < a->info.n; i++) {
        spread[home->active[i]] = labels[i];
    }
    if (status == CLV_OK) {
        status = clv_affinity_group_sums(home->base, spread, k, all, threads);
    }
    if (status == CLV_OK) {
        gather(a, all, k, y);
    }
    clv_free_kept(&work);
    return status;
}

/* Objects of a restricted operator as objects of its base; owned by the caller, NULL: out of memory. */
static int64_t *map_objects(const clv_affinity *a, const int64_t *objects, int64_t m) {
    int64_t *mapped = CLV_NEW(a->ctx, int64_t, m);
    for (int64_t j = 0; mapped && j < m; j++) {
        mapped[j] = home_of(a)->active[objects[j]];
    }
    return mapped;
}

static clv_status restricted_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    const clv_affinity *base = home_of(a)->base;
    clv_kept work = {.ctx = a->ctx};
    int64_t *objects = clv_keep(&work, map_objects(a, terms->objects, terms->count));
    double *all = CLV_TAKE(&work, double, clv_affinity_size(base));
    clv_status status = work.status;
    if (status == CLV_OK) {
        status = clv_affinity_combine(base, objects, terms->weights, terms->count, all, threads);
    }
    if (status == CLV_OK) {
        gather(a, all, 1, y);
    }
    clv_free_kept(&work);
    return status;
}

static clv_status restricted_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    int64_t *mapped = map_objects(a, objects, m);
    clv_status status = mapped ? clv_affinity_subset(home_of(a)->base, mapped, m, out) : CLV_ENOMEM;
    clv_free(a->ctx, mapped);
    return status;
}

static clv_status restricted_cost(const clv_affinity *a, clv_affinity_cost *out) {
    clv_affinity_info base;
    clv_affinity_describe(home_of(a)->base, &base);
    *out = base.cost;
    return CLV_OK;
}

static void restricted_destroy(clv_affinity *a) {
    clv_free(a->ctx, home_of(a)->owned);
}

static const clv_home_functions functions = {
    .name = "restricted",
    .state_size = sizeof(restricted),
    .column = restricted_column,
    .destroy = restricted_destroy,
    .entry = restricted_entry,
    .apply = restricted_apply,
    .group_sums = restricted_group_sums,
    .combine = restricted_combine,
    .subset = restricted_subset,
    .cost = restricted_cost,
};

/* It is described as its base is, which has the entries; the base also says what counts on the diagonal. */
static clv_status restrict_to(const clv_affinity *base, const int64_t *active, int64_t m, clv_affinity **out) {
    CLV_TRY(clv_affinity_new(base->ctx, &functions, m, &base->options, out));
    (*out)->info = base->info;
    (*out)->info.n = m;
    (*out)->info.nonzeros = m * m;
    (*out)->info.bytes = 0;
    (*out)->budget = base->budget;
    (*out)->zero_diagonal = false;
    *(restricted *)(*out)->state = (restricted){base, active, NULL};
    return CLV_OK;
}

clv_status clv_affinity_restrict(const clv_affinity *base, const int64_t *active, int64_t m, clv_affinity **out) {
    *out = NULL;
    CLV_NEED_AS(base->ctx, m == 0 || active, "active");
    int64_t n = clv_affinity_size(base);
    for (int64_t i = 0; i < m; i++) {
        if (active[i] < 0 || active[i] >= n) {
            return clv_fail(base->ctx, CLV_EUSAGE, "active[%lld] = %lld is not one of the %lld objects", (long long)i,
                            (long long)active[i], (long long)n);
        }
    }
    return restrict_to(base, active, m, out);
}

clv_status clv_restricted_copy(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out) {
    CLV_TRY(restrict_to(base, NULL, m, out));
    restricted *home = (*out)->state;
    home->owned = CLV_NEW(base->ctx, int64_t, m);
    home->active = home->owned;
    if (!home->owned) {
        return CLV_ENOMEM;
    }
    memcpy(home->owned, objects, (size_t)m * sizeof *objects);
    return CLV_OK;
}
