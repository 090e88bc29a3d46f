/* Affinities of a few points, from bytes: every kind in every home. What the functions of the operator say agrees. */
#include "draw.h"

#include "affinity/affinity.h"

#include <math.h>
#include <string.h>

enum { MOST_N = 12, MOST_P = 3, K = 3 };

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void draw_options(fuzz_bytes *from, clv_affinity_options *how) {
    static const double gammas[] = {NAN, NAN, 0.5, 1e-12, 1e12, 0, -1, INFINITY};
    static const int64_t counts[] = {10, 1, 2, 3, 5, 11, 12, 0, -1, INT64_MAX};
    clv_affinity_defaults(how);
    how->kind = (int)(fuzz_next(from) % (CLV_AFFINITY_AUTO + 1));
    how->home = (int)(fuzz_next(from) % (CLV_HOME_LOWRANK + 1));
    how->gamma = gammas[fuzz_next(from) % CLV_COUNT(gammas)];
    how->neighbors = counts[fuzz_next(from) % CLV_COUNT(counts)];
    how->zero_diagonal = fuzz_next(from) % 2;
    how->symmetrize = fuzz_next(from) % 2;
    how->landmarks = fuzz_next(from) % 4 == 0 ? counts[fuzz_next(from) % CLV_COUNT(counts)] : 0;
    how->search = (int)(fuzz_next(from) % 3);
    how->memory = 4 << 20;
    how->threads = 1;
}

typedef struct sums {
    double entries[MOST_N * MOST_N], most; /* with landmarks at least the diagonal, which sums are rounded by */
} sums;

static void check_near(double found, double expected, double scale) {
    check(fabs(found - expected) <= 1e-5 * scale);
}

/* Entries, columns and rows are the same; similar both ways; and no number is missing. */
static void look(const clv_affinity *a, int64_t n, sums *s) {
    double column[MOST_N], rows[MOST_N * MOST_N];
    check(clv_affinity_rows(a, 0, n, rows) == CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        check(clv_affinity_column(a, i, column) == CLV_OK);
        for (int64_t j = 0; j < n; j++) {
            check(isfinite(column[j]));
            s->entries[i * n + j] = column[j];
            s->most = fmax(s->most, fabs(column[j]));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double entry;
            check(clv_affinity_entry(a, i, j, &entry) == CLV_OK);
            check_near(entry, s->entries[i * n + j], s->most);
            check_near(rows[i * n + j], entry, s->most);
            check_near(s->entries[j * n + i], s->entries[i * n + j], s->most);
        }
    }
}

/* Degrees, the diagonal, products and sums by label, as the entries have them. */
static void add_up(const clv_affinity *a, int64_t n, const sums *s, fuzz_bytes *from) {
    double x[K * MOST_N], y[K * MOST_N], degrees[MOST_N], diagonal[MOST_N], expected[K * MOST_N] = {0};
    int32_t labels[MOST_N], component[MOST_N];
    int64_t count;
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)(fuzz_next(from) % (K + 1)) - 1;
        for (int64_t c = 0; c < K; c++) {
            x[c * n + i] = c == labels[i];
        }
    }
    for (int64_t e = 0; e < n * n; e++) {
        if (labels[e % n] >= 0) {
            expected[labels[e % n] * n + e / n] += s->entries[e];
        }
    }
    check(clv_affinity_degrees(a, degrees, 1) == CLV_OK && clv_affinity_diagonal(a, diagonal) == CLV_OK);
    check(clv_affinity_apply(a, x, K, y, 1) == CLV_OK);
    for (int64_t i = 0; i < K * n; i++) {
        check_near(y[i], expected[i], (double)n * s->most);
    }
    check(clv_affinity_group_sums(a, labels, K, y, 1) == CLV_OK);
    int64_t moved = fuzz_next(from) % n;
    check(clv_affinity_move(a, moved, labels[moved], 0, y) == CLV_OK);
    check(clv_affinity_move(a, moved, 0, labels[moved], y) == CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += s->entries[i * n + j];
        }
        check_near(degrees[i], sum, (double)n * s->most);
        check_near(diagonal[i], s->entries[i * n + i], s->most);
        for (int64_t c = 0; c < K; c++) {
            check_near(y[c * n + i], expected[c * n + i], (double)n * s->most);
        }
    }
    check(clv_affinity_components(a, component, &count) == CLV_OK && count >= 0 && count <= n);
    check(clv_affinity_column(a, n, y) < 0 && clv_affinity_move(a, -1, 0, 0, y) < 0); /* there are no such objects */
}

/* A part of it, and new points: the old ones. */
static void use(clv_context *ctx, const clv_affinity *a, const clv_matrix *points) {
    const int64_t active[] = {2, 0};
    clv_affinity *part = NULL;
    clv_data *cross = NULL, *whole = NULL;
    double of_part = 0, of_all = 0;
    if (clv_affinity_restrict(a, active, 2, &part) == CLV_OK) {
        check(clv_affinity_entry(part, 0, 1, &of_part) == CLV_OK && clv_affinity_entry(a, 2, 0, &of_all) == CLV_OK);
        check(of_part == of_all || fabs(of_part - of_all) <= 1e-5 * fabs(of_all));
    }
    check(clv_affinity_cross(a, points, &cross) == CLV_OK || (clv_message(ctx)[0] != '\0' && !cross));
    check(clv_affinity_materialize(a, &whole) == CLV_OK || (clv_message(ctx)[0] != '\0' && !whole));
    clv_data_free(whole);
    clv_data_free(cross);
    clv_affinity_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double values[MOST_N * MOST_N];
    fuzz_memory memory;
    fuzz_bytes from = {bytes, size};
    clv_affinity_options how;
    clv_affinity_info info;
    clv_affinity *a = NULL;
    sums s = {.most = 0};
    int polls = 0;
    clv_context *ctx = fuzz_open(&memory);
    clv_context_set_interrupt(ctx, fuzz_has_asked_enough, &polls);
    draw_options(&from, &how);
    bool given = how.kind == CLV_AFFINITY_PRECOMPUTED;
    int64_t n = 3 + fuzz_next(&from) % (MOST_N - 2), cols = given ? n : 1 + fuzz_next(&from) % MOST_P;
    for (int64_t i = 0; i < n * cols; i++) {
        values[i] = given && i / n > i % n ? values[i % n * n + i / n]
                                           : fuzz_number(&from, true); /* symmetric where it must be */
    }
    const clv_matrix points = {.rows = n, .cols = cols, .values = values};
    clv_status planned = clv_affinity_plan(ctx, &points, &how, &info);
    clv_status status = clv_affinity_build(ctx, &points, &how, &a);
    check(status == CLV_OK ? planned == CLV_OK && clv_affinity_size(a) == n : !a && clv_message(ctx)[0] != '\0');
    if (status == CLV_OK) {
        s.most = how.landmarks > 0 ? 1 : 0;
        look(a, n, &s);
        add_up(a, n, &s, &from);
        use(ctx, a, &points);
    }
    clv_affinity_free(a);
    fuzz_close(ctx, &memory);
    return 0;
}
