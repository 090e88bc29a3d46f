/* Similarities of regions that lie near each other. From every region a search across common borders, breadth first, as
 * far as it may reach; with n regions, b borders each and reach r that is about n r^2 entries and as many steps. */
#include "features/image/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1 << 17, POLLED = 1024 }; /* pairs for the median; regions between two questions */

static double squared_distance(const clv_matrix *points, int64_t i, int64_t j) {
    const double *x = (const double *)points->values + i * points->cols;
    const double *y = (const double *)points->values + j * points->cols;
    double sum = 0;
    for (int64_t c = 0; c < points->cols; c++) {
        sum += (x[c] - y[c]) * (x[c] - y[c]);
    }
    return sum;
}

/* What squared distances have to exceed to be more than rounding. */
static double rounding_of(const clv_matrix *points) {
    const double *values = points->values;
    double top = 0;
    for (int64_t e = 0; e < points->rows * points->cols; e++) {
        top = fmax(top, fabs(values[e]));
    }
    return 1e-12 * top * top;
}

/* The median of the squared distances of pairs: of all, or of a sample. Where that is nothing but rounding, their mean;
 * where all are, 1. */
static clv_status median_pair(clv_context *ctx, const clv_matrix *points, double *out) {
    int64_t n = points->rows, pairs = n * (n - 1) / 2;
    int64_t count = pairs < SAMPLE ? pairs : SAMPLE;
    clv_rng rng = clv_rng_stream(1, 0);
    double *squares = CLV_NEW(ctx, double, count);
    double sum = 0;
    if (!squares) {
        return CLV_ENOMEM;
    }
    for (int64_t s = 0, i = 1, j = 0; s < count; s++, j++) {
        if (pairs > SAMPLE) {
            i = clv_rng_below(&rng, n - 1) + 1;
            j = clv_rng_below(&rng, i);
        } else if (j == i) { /* (1, 0), (2, 0), (2, 1), (3, 0), ... */
            i++;
            j = 0;
        }
        squares[s] = squared_distance(points, i, j);
        sum += squares[s];
    }
    double median = count ? clv_nth_smallest(squares, count, count / 2) : 0;
    double least = rounding_of(points);
    *out = median > least ? median : sum > least * (double)count ? sum / (double)count : 1;
    clv_free(ctx, squares);
    return CLV_OK;
}

/* --- what a region reaches --- */

typedef struct search {
    const clv_matrix *touching;
    int64_t reach;
    int32_t *found; /* regions, in the order found */
    int32_t *steps; /* to a region, or -1 */
} search;

/* The number of regions within reach of `from`, itself included. */
static int64_t look_around(search *s, int32_t from) {
    int64_t count = 1;
    s->found[0] = from;
    s->steps[from] = 0;
    for (int64_t at = 0; at < count && s->steps[s->found[at]] < s->reach; at++) {
        int32_t here = s->found[at];
        for (int64_t e = s->touching->start[here]; e < s->touching->start[here + 1]; e++) {
            int32_t next = s->touching->index[e];
            if (s->steps[next] < 0) {
                s->steps[next] = s->steps[here] + 1;
                s->found[count++] = next;
            }
        }
    }
    for (int64_t at = 0; at < count; at++) {
        s->steps[s->found[at]] = -1;
    }
    return count;
}

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static clv_status count_entries(clv_context *ctx, search *s, int64_t n, int64_t *out) {
    *out = 0;
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(i % POLLED == 0 ? clv_image_poll(ctx) : CLV_OK);
        *out += look_around(s, i);
    }
    return CLV_OK;
}

static clv_status fill_rows(clv_context *ctx, search *s, const clv_matrix *points, double gamma, clv_data *out) {
    double *values = out->values;
    for (int32_t i = 0; i < points->rows; i++) {
        int64_t count = look_around(s, i), at = out->start[i];
        CLV_TRY(i % POLLED == 0 ? clv_image_poll(ctx) : CLV_OK);
        qsort(s->found, (size_t)count, sizeof *s->found, by_number);
        for (int64_t e = 0; e < count; e++) {
            out->index[at + e] = s->found[e];
            values[at + e] = exp(-gamma * squared_distance(points, i, s->found[e]));
        }
        out->start[i + 1] = at + count;
    }
    return CLV_OK;
}

static clv_status fill(clv_context *ctx, search *s, const clv_matrix *points, double gamma, clv_data **out) {
    int64_t n = points->rows, entries;
    CLV_TRY(count_entries(ctx, s, n, &entries));
    CLV_TRY(clv_data_new_csr(ctx, "region similarity", n, n, entries, out));
    return clv_data_made(fill_rows(ctx, s, points, gamma, *out), out);
}

static clv_status check(clv_context *ctx, const clv_regions *regions, const clv_matrix *points, int64_t reach,
                        double sigma) {
    if (clv_is_sparse(points) || points->scalar != CLV_F64 || points->rows != regions->count) {
        return clv_fail(ctx, CLV_EUSAGE, "%lld points of double numbers are needed, one per region",
                        (long long)regions->count);
    }
    if (reach < 1 || !(sigma > 0 && sigma <= 1e6)) {
        return clv_fail(ctx, CLV_EUSAGE, "reach = %lld and sigma = %g: reach must be 1 or more, and sigma above 0",
                        (long long)reach, sigma);
    }
    return CLV_OK;
}

clv_status clv_region_similarity(clv_context *ctx, const clv_regions *regions, const clv_matrix *points, int64_t reach,
                                 double sigma, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, regions);
    CLV_NEED(ctx, points);
    double median = 1;
    clv_data *touching = NULL;
    CLV_TRY(check(ctx, regions, points, reach, sigma));
    CLV_TRY(median_pair(ctx, points, &median));
    CLV_TRY(clv_region_adjacency(ctx, regions, &touching));
    search s = {.touching = clv_data_matrix(touching), .reach = reach};
    clv_kept work = {.ctx = ctx};
    s.found = CLV_TAKE(&work, int32_t, regions->count);
    s.steps = CLV_TAKE(&work, int32_t, regions->count);
    clv_status status = work.status;
    if (status == CLV_OK) {
        memset(s.steps, 0xff, (size_t)regions->count * sizeof *s.steps);
        status = fill(ctx, &s, points, 1 / (2 * sigma * sigma * median), out);
    }
    clv_free_kept(&work);
    clv_data_free(touching);
    return status;
}
