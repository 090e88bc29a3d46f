/* A home of the affinity with as little as a home can have: columns. Everything else (products, sums over groups, moves
 * of objects, entries, subsets) comes from those, in the library's fallbacks; a slot is worth filling where the home
 * knows a faster way. */
#include "affinity/home.h"
#include "extend.h"

/* What the home keeps: zeroed when the affinity is made. */
typedef struct ring {
    double *similarity; /* n: by the number of steps */
} ring;

static clv_status column(const clv_affinity *a, int64_t i, double *out) {
    const ring *home = a->state;
    int64_t n = a->info.n;
    for (int64_t j = 0; j < n; j++) {
        int64_t steps = i < j ? j - i : i - j;
        out[j] = home->similarity[steps < n - steps ? steps : n - steps];
    }
    return CLV_OK;
}

static void destroy(clv_affinity *a) {
    ring *home = a->state;
    clv_free(a->ctx, home->similarity);
}

clv_status ring_affinity(clv_context *ctx, int64_t n, bool serial, clv_affinity **out) {
    const clv_home_functions functions = {
        .name = "ring", .state_size = sizeof(ring), .serial = serial, .column = column, .destroy = destroy};
    CLV_TRY(clv_affinity_new(ctx, &functions, n, NULL, out));
    ring *home = (*out)->state;
    home->similarity = CLV_NEW(ctx, double, n);
    if (!home->similarity) {
        clv_affinity_free(*out);
        *out = NULL;
        return CLV_ENOMEM;
    }
    for (int64_t steps = 0; steps < n; steps++) {
        home->similarity[steps] = 1 / (1 + (double)steps);
    }
    (*out)->info.bytes = (size_t)n * sizeof(double);
    return CLV_OK;
}
