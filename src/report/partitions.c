/* The inputs of a consensus, from results and files of labels or memberships: one row per object, in the order of the
 * first file that has names for its rows, or else in that of all. */
#include "io/io.h"
#include "linalg/linalg.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

typedef struct partition {
    const char *path;
    clv_claim *claim;     /* of a result, else NULL */
    int32_t *labels;      /* owned; NULL: memberships */
    clv_data *membership; /* read from a file, or NULL */
    const clv_matrix *soft;
    clv_data *named; /* what the file calls its rows; NULL: nothing */
    int64_t *order;  /* where the objects are in it; NULL: in their order */
    int64_t n;
} partition;

typedef struct reading {
    clv_context *ctx;
    partition *parts;
    int64_t count;
    int64_t reference; /* the first that has names for its rows; -1: none has */
} reading;

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length >= size && strcmp(path + length - size, ending) == 0;
}

/* --- one input --- */

/* Whether the rows add up to 1 each, or to 0 for objects that are left out: weights of dominant sets do not. */
static bool is_stochastic(const clv_matrix *m) {
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t from = m->start ? m->start[i] : i * m->cols, to = m->start ? m->start[i + 1] : from + m->cols;
        double sum = 0;
        for (int64_t e = from; e < to; e++) {
            double value = clv_stored(m, e);
            sum = value >= 0 ? sum + value : NAN;
        }
        if (!(sum == 0 || fabs(sum - 1) <= 1e-6)) {
            return false;
        }
    }
    return true;
}

static clv_status read_result(clv_context *ctx, int soft, partition *p) {
    CLV_TRY(clv_claim_read(ctx, p->path, &p->claim));
    const clv_result *result = clv_claim_result(p->claim);
    const clv_matrix *membership = clv_result_matrix(result, "membership");
    p->n = result->n;
    if (!result->labels) {
        return clv_fail(ctx, CLV_EDATA, "%s is a result of %s, which labels no objects", p->path, p->claim->method);
    }
    if (soft && membership && membership->rows == p->n && is_stochastic(membership)) {
        p->soft = membership;
        return CLV_OK;
    }
    p->labels = CLV_NEW(ctx, int32_t, p->n);
    if (!p->labels) {
        return CLV_ENOMEM;
    }
    memcpy(p->labels, result->labels, (size_t)p->n * sizeof *p->labels);
    return CLV_OK;
}

/* An .npy file of n x k numbers holds memberships. */
static clv_status read_matrix(clv_context *ctx, partition *p) {
    clv_data *read = NULL;
    CLV_TRY(clv_read(ctx, p->path, NULL, &read));
    const clv_matrix *m = clv_data_matrix(read);
    if (m->rows == 1 || m->cols == 1) {
        clv_data_free(read);
        return clv_read_labels(ctx, p->path, &p->n, &p->labels);
    }
    p->membership = read;
    p->soft = m;
    p->n = m->rows;
    return is_stochastic(m) ? CLV_OK
                            : clv_fail(ctx, CLV_EDATA,
                                       "%s: the rows of memberships must add up to 1, or be 0 for objects that are "
                                       "left out; labels are one number per object",
                                       p->path);
}

static clv_status read_part(clv_context *ctx, int soft, partition *p) {
    if (ends_in(p->path, ".json")) {
        return read_result(ctx, soft, p);
    }
    if (ends_in(p->path, ".npy")) {
        return read_matrix(ctx, p);
    }
    CLV_TRY(clv_read_named_labels(ctx, p->path, NULL, &p->named, &p->labels));
    p->n = clv_data_matrix(p->named)->rows;
    return CLV_OK;
}

/* --- whether all are of the same objects --- */

/* Results of points that were read and scaled in the same way have the same fingerprint. */
static clv_status check_fingerprints(const reading *r, const partition *p) {
    static const char *const same[] = {"scale", "header",    "label-column", "columns",
                                       "drop",  "id-column", "missing",      "categories"};
    for (int64_t m = 0; &r->parts[m] < p && p->claim && p->claim->fingerprint[0]; m++) {
        const clv_claim *other = r->parts[m].claim;
        bool alike = other && other->fingerprint[0];
        for (size_t o = 0; alike && o < CLV_COUNT(same); o++) {
            const char *a = clv_claim_option(other, same[o]), *b = clv_claim_option(p->claim, same[o]);
            alike = a && b ? strcmp(a, b) == 0 : a == b;
        }
        if (alike && strcmp(other->fingerprint, p->claim->fingerprint) != 0) {
            return clv_fail(r->ctx, CLV_EDATA,
                            "%s and %s are results of other objects: their points have different fingerprints",
                            r->parts[m].path, p->path);
        }
    }
    return CLV_OK;
}

/* Row numbers beside labels say where a row belongs; names are matched with those of the first file that has any. */
static clv_status match_rows(reading *r, const clv_data *unnamed, int64_t m) {
    partition *p = &r->parts[m];
    if (!p->named || !clv_data_id(p->named, 0)) {
        return CLV_OK;
    }
    CLV_TRY(clv_match_ids(r->ctx, unnamed, p->named, &p->order));
    if (p->order) {
        return CLV_OK;
    }
    if (r->reference < 0) {
        r->reference = m;
        return CLV_OK;
    }
    return clv_match_ids(r->ctx, r->parts[r->reference].named, p->named, &p->order);
}

static clv_status check_objects(reading *r) {
    const partition *first = &r->parts[0];
    clv_data *unnamed = NULL;
    clv_status status = clv_data_new_dense(r->ctx, "rows", first->n, 0, CLV_F64, &unnamed);
    for (int64_t m = 0; m < r->count && status == CLV_OK; m++) {
        partition *p = &r->parts[m];
        status = p->n == first->n ? check_fingerprints(r, p)
                                  : clv_fail(r->ctx, CLV_EDATA, "%s has %lld objects, but %s has %lld", p->path,
                                             (long long)p->n, first->path, (long long)first->n);
        status = status == CLV_OK ? match_rows(r, unnamed, m) : status;
    }
    clv_data_free(unnamed);
    return status;
}

/* --- all of them side by side --- */

static int64_t place(const partition *p, int64_t i) {
    return p->order ? p->order[i] : i;
}

static clv_status put_labels(const reading *r, clv_data **out) {
    CLV_TRY(clv_data_new_dense(r->ctx, "labels", r->parts->n, r->count, CLV_F64, out));
    double *values = (*out)->values;
    for (int64_t m = 0; m < r->count; m++) {
        const partition *p = &r->parts[m];
        for (int64_t i = 0; i < p->n; i++) {
            values[i * r->count + m] = p->labels[place(p, i)];
        }
    }
    return CLV_OK;
}

static int64_t width_of(const partition *p) {
    int32_t most = 0;
    for (int64_t i = 0; p->labels && i < p->n; i++) {
        most = p->labels[i] > most ? p->labels[i] : most;
    }
    return p->soft ? p->soft->cols : most + 1;
}

static int64_t entries_of(const partition *p) {
    int64_t count = 0;
    for (int64_t i = 0; p->labels && i < p->n; i++) {
        count += p->labels[i] >= 0;
    }
    return !p->soft ? count : clv_is_sparse(p->soft) ? p->soft->start[p->n] - p->soft->start[0] : p->n * p->soft->cols;
}

/* Row i of an input into the places from `at` on; returns how many it took. */
static int64_t put_row(const partition *p, int64_t i, int64_t first, int32_t *index, double *values) {
    int64_t used = 0, row = place(p, i);
    if (!p->soft) {
        index[0] = (int32_t)(first + p->labels[row]);
        values[0] = 1;
        return p->labels[row] >= 0;
    }
    const clv_matrix *m = p->soft;
    int64_t from = m->start ? m->start[row] : row * m->cols, to = m->start ? m->start[row + 1] : from + m->cols;
    for (int64_t e = from; e < to; e++) {
        if (clv_stored(m, e) > 0) {
            index[used] = (int32_t)(first + (m->start ? m->index[e] : e - from));
            values[used++] = clv_stored(m, e);
        }
    }
    return used;
}

static clv_status put_memberships(const reading *r, clv_data **out, clv_data **widths) {
    int64_t cols = 0, entries = 1; /* room for one that is left out */
    CLV_TRY(clv_data_new_dense(r->ctx, "widths", 1, r->count, CLV_F64, widths));
    double *width = (*widths)->values;
    for (int64_t m = 0; m < r->count; m++) {
        width[m] = (double)width_of(&r->parts[m]);
        cols += (int64_t)width[m];
        entries += entries_of(&r->parts[m]);
    }
    if (cols > INT32_MAX) {
        return clv_fail(r->ctx, CLV_EDATA, "the inputs have more than %d clusters in all", INT32_MAX);
    }
    CLV_TRY(clv_data_new_csr(r->ctx, "memberships", r->parts->n, cols, entries, out));
    int64_t at = 0;
    for (int64_t i = 0; i < r->parts->n; i++) {
        for (int64_t m = 0, first = 0; m < r->count; first += (int64_t)width[m++]) {
            at += put_row(&r->parts[m], i, first, (*out)->index + at, (double *)(*out)->values + at);
        }
        (*out)->start[i + 1] = at;
    }
    return CLV_OK;
}

/* Inputs without ids beside one that has them: who sorted a file would not notice. */
static clv_status warn_of_order(const reading *r, clv_data *out) {
    clv_text warning = {.ctx = r->ctx};
    for (int64_t m = 0; m < r->count; m++) {
        if (!r->parts[m].named || !clv_data_id(r->parts[m].named, 0)) {
            clv_text_add(&warning, "%s%s", warning.data ? ", " : "", r->parts[m].path);
        }
    }
    if (warning.data) {
        clv_text_add(&warning, " without ids: the rows are taken to be in the order of %s",
                     r->parts[r->reference].path);
    }
    out->warning = warning.data;
    return warning.status;
}

/* The ids of the file that has them. */
static clv_status name_rows(const reading *r, clv_data *out) {
    if (r->reference < 0) {
        return CLV_OK;
    }
    CLV_TRY(warn_of_order(r, out));
    const clv_data *named = r->parts[r->reference].named;
    const char **ids = CLV_NEW(r->ctx, const char *, r->parts->n);
    if (!ids) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < r->parts->n; i++) {
        ids[i] = clv_data_id(named, i);
    }
    clv_status status = clv_data_set_ids(out, clv_data_id_name(named), ids);
    clv_free(r->ctx, ids);
    return status;
}

static clv_status read_all(reading *r, const char *const *paths, int soft, clv_data **points, clv_data **widths) {
    bool any = false;
    r->reference = -1;
    for (int64_t m = 0; m < r->count; m++) {
        partition *p = &r->parts[m];
        CLV_NEED_AS(r->ctx, paths[m], "paths[]");
        p->path = paths[m];
        CLV_TRY(read_part(r->ctx, soft, p));
        any = any || p->soft;
    }
    CLV_TRY(check_objects(r));
    CLV_TRY(any ? put_memberships(r, points, widths) : put_labels(r, points));
    return name_rows(r, *points);
}

clv_status clv_read_partitions(clv_context *ctx, const char *const *paths, int64_t count, int soft, clv_data **points,
                               clv_data **widths) {
    *points = *widths = NULL;
    CLV_NEED(ctx, paths);
    if (count < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "a consensus needs at least one input");
    }
    reading r = {.ctx = ctx, .parts = CLV_NEW0(ctx, partition, count), .count = count};
    clv_status status = r.parts ? read_all(&r, paths, soft, points, widths) : CLV_ENOMEM;
    for (int64_t m = 0; r.parts && m < count; m++) {
        partition *p = &r.parts[m];
        clv_claim_free(p->claim);
        clv_data_free(p->membership);
        clv_data_free(p->named);
        CLV_FREE_ALL(ctx, p->labels, p->order);
    }
    clv_free(ctx, r.parts);
    if (status < 0) {
        clv_data_free(*points);
        clv_data_free(*widths);
        *points = *widths = NULL;
    }
    return status;
}
