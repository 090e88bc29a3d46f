/* A home of the affinity with as little as a home can have: columns, and a maker. Everything else (products, sums over
 * groups, moves of objects, entries, subsets) comes from the columns, in the library's fallbacks; a slot is worth
 * filling where the home knows a faster way. The objects lie in a ring, in the order of the points:
 * a_ij = 1 / (1 + gamma times the steps from i to j). */
#include "affinity/home.h"
#include "extend.h"

#include <math.h>

/* What the home keeps: zeroed when the affinity is made. */
typedef struct ring {
    double *similarity; /* n: by the number of steps */
} ring;

/* The diagonal is the home's own business: with zero_diagonal it is 0 in whatever the home supplies. */
static clv_status column(const clv_affinity *a, int64_t i, double *out) {
    const ring *home = a->state;
    int64_t n = a->info.n;
    for (int64_t j = 0; j < n; j++) {
        int64_t steps = i < j ? j - i : i - j;
        out[j] = home->similarity[steps < n - steps ? steps : n - steps];
    }
    out[i] = a->zero_diagonal ? 0 : out[i];
    return CLV_OK;
}

static void destroy(clv_affinity *a) {
    ring *home = a->state;
    clv_free(a->ctx, home->similarity);
}

/* What was made stays with the caller also on failure. A gamma that was left open (NaN) is decided here, and said. */
static clv_status make_ring(clv_context *ctx, int64_t n, bool serial, const clv_affinity_options *options,
                            clv_affinity **out) {
    const clv_home_functions functions = {
        .name = "ring", .state_size = sizeof(ring), .serial = serial, .column = column, .destroy = destroy};
    CLV_TRY(clv_affinity_new(ctx, &functions, n, options, out));
    ring *home = (*out)->state;
    double gamma = isnan((*out)->options.gamma) ? 1 : (*out)->options.gamma;
    home->similarity = CLV_NEW(ctx, double, n);
    if (!home->similarity) {
        return CLV_ENOMEM;
    }
    for (int64_t steps = 0; steps < n; steps++) {
        home->similarity[steps] = 1 / (1 + gamma * (double)steps);
    }
    (*out)->info.gamma = gamma;
    (*out)->info.bytes = (size_t)n * sizeof(double);
    return CLV_OK;
}

clv_status ring_affinity(clv_context *ctx, int64_t n, bool serial, clv_affinity **out) {
    clv_status status = make_ring(ctx, n, serial, NULL, out);
    if (status < 0) {
        clv_affinity_free(*out);
        *out = NULL;
    }
    return status;
}

/* --- the maker: in the library its `asked` would be a value of clv_home of its own --- */

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    (void)points;
    return options->kind == CLV_AFFINITY_EXPONENTIAL;
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    double n = (double)points->rows;
    (void)options;
    out->nonzeros = points->rows * points->rows;
    out->bytes = out->peak = (size_t)points->rows * sizeof(double);
    out->cost = (clv_affinity_cost){.entry = 1, .column = n, .pass = n * n};
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    (void)threads;
    return make_ring(ctx, points->rows, false, options, out);
}

const clv_home_maker ring_maker = {.asked = CLV_HOME_AUTO, .suits = suits, .plan = plan, .make = make};
