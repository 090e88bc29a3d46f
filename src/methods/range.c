/* Runs over a range of k, a table of what is known of each, and the result of the k that the table suggests.
 *
 * Stability is judged on subsamples, the same ones for every k: the method runs on each, and its labels are compared
 * with those that the run on all objects gave the same ones, by the adjusted Rand index. Where there are points a
 * subsample has an affinity of its own, with the gamma of the whole; of given similarities it has theirs. kpalm starts
 * once more from the centers of the k before and the object farthest from them, and the better of its two answers is
 * the row. Where time ends before the first row, the result is a rough one (rough.c) of the smallest k. Cost: a run per
 * k, and SUBSAMPLES runs on at most SAMPLED objects. */
#include "methods/range.h"

#include "affinity/affinity.h"
#include "engine/result.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SUBSAMPLES = CLV_SUBSAMPLES, SAMPLED = 1000, RESTARTS = 5 };

/* Some of the objects, with what a run on them takes. */
typedef struct sample {
    int64_t *objects; /* ascending */
    clv_data *points, *weights;
    clv_affinity *affinity;
    double gamma; /* that it was built with; NaN: none, or not yet */
} sample;

typedef struct range {
    clv_context *ctx;
    const clv_method *method;
    const clv_input *given;
    clv_options_room options;
    const clv_affinity_options *how; /* NULL: the method takes none */
    clv_affinity *affinity;          /* of the k under way */
    double gamma;
    int64_t n, sampled;
    sample samples[SUBSAMPLES];
    clv_k_row *rows;
    clv_result **results;
    int64_t count;
    char end[256];   /* why there can be no more clusters than in the last row; "": not known */
    bool few;        /* that is because fewer were found than asked for */
    bool first_few;  /* the first row has fewer clusters than its k */
    bool cut;        /* time ended the last row, or before it */
    int64_t reached; /* the last k that was begun */
} range;

static clv_control *control_of(clv_options_room *options) {
    return (clv_control *)(void *)options->bytes;
}

static clv_status set_k(range *r, clv_options_room *options, int64_t k) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)k);
    return clv_options_set(r->ctx, r->method->options, options->bytes, "k", text);
}

/* --- subsamples --- */

/* Some rows of a matrix, in memory of their own. */
static clv_status take_rows(clv_context *ctx, const clv_matrix *from, const int64_t *rows, int64_t count,
                            clv_data **out) {
    if (!clv_is_sparse(from)) {
        size_t row = (size_t)from->cols * clv_scalar_bytes(from->scalar);
        CLV_TRY(clv_data_new_dense(ctx, "a subsample", count, from->cols, from->scalar, out));
        for (int64_t i = 0; i < count; i++) {
            memcpy((char *)(*out)->values + (size_t)i * row, (const char *)from->values + (size_t)rows[i] * row, row);
        }
        return CLV_OK;
    }
    int64_t entries = 0;
    for (int64_t i = 0; i < count; i++) {
        entries += from->start[rows[i] + 1] - from->start[rows[i]];
    }
    CLV_TRY(clv_data_new_csr(ctx, "a subsample", count, from->cols, entries, out));
    for (int64_t i = 0, at = 0; i < count; i++) {
        int64_t first = from->start[rows[i]], length = from->start[rows[i] + 1] - first;
        memcpy((*out)->index + at, from->index + first, (size_t)length * sizeof *from->index);
        memcpy((double *)(*out)->values + at, (const double *)from->values + first, (size_t)length * sizeof(double));
        at += length;
        (*out)->start[i + 1] = at;
    }
    return CLV_OK;
}

/* Every object is as likely as any other: of those left, as many as are still wanted. */
static void draw_objects(range *r, int number) {
    clv_rng rng = clv_rng_stream((uint64_t)control_of(&r->options)->seed, (uint64_t)number);
    int64_t taken = 0;
    for (int64_t i = 0; i < r->n && taken < r->sampled; i++) {
        if (clv_rng_below(&rng, r->n - i) < r->sampled - taken) {
            r->samples[number].objects[taken++] = i;
        }
    }
}

static bool is_given(const range *r) {
    return r->how && r->how->kind == CLV_AFFINITY_PRECOMPUTED;
}

static clv_status new_samples(range *r) {
    for (int s = 0; s < SUBSAMPLES; s++) {
        sample *one = &r->samples[s];
        one->gamma = NAN;
        one->objects = CLV_NEW(r->ctx, int64_t, r->sampled);
        if (!one->objects) {
            return CLV_ENOMEM;
        }
        draw_objects(r, s);
        if (!is_given(r)) {
            CLV_TRY(take_rows(r->ctx, r->given->points, one->objects, r->sampled, &one->points));
        }
        if (r->given->weights) {
            CLV_TRY(take_rows(r->ctx, r->given->weights, one->objects, r->sampled, &one->weights));
        }
    }
    return CLV_OK;
}

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

/* Beside the affinity of all objects, and of other subsamples. */
static clv_status check_room(const range *r, const clv_matrix *points, const clv_affinity_options *how) {
    clv_affinity_info plan;
    clv_status status = clv_affinity_plan(r->ctx, points, how, &plan);
    return status != CLV_ENOMEM
               ? CLV_OK /* what else may be wrong is said where it is built */
               : clv_fail(r->ctx, CLV_ENOMEM,
                          "a range of k is judged on %d subsamples of %lld of the %lld objects, and the memory budget "
                          "of %zu bytes has no room for their affinities: allow more memory, or give one k",
                          SUBSAMPLES, (long long)r->sampled, (long long)r->n, clv_memory_budget(how->memory));
}

/* As that of all objects; made again where its gamma has changed. */
static clv_status build_sample(range *r, sample *one) {
    if (!r->how || (one->affinity && same_number(one->gamma, r->gamma))) {
        return CLV_OK;
    }
    clv_affinity_free(one->affinity);
    one->affinity = NULL;
    one->gamma = r->gamma;
    if (is_given(r)) {
        return clv_affinity_subset(r->affinity, one->objects, r->sampled, &one->affinity);
    }
    clv_affinity_options how = *r->how;
    how.gamma = r->gamma;
    how.home = CLV_HOME_AUTO;
    how.neighbors = how.neighbors < r->sampled || r->sampled < 2 ? how.neighbors : r->sampled - 1;
    how.landmarks = how.landmarks < r->sampled ? how.landmarks : 0;
    CLV_TRY(clv_suit_affinity(r->ctx, r->method, clv_data_matrix(one->points), r->options.bytes, &how));
    CLV_TRY(check_room(r, clv_data_matrix(one->points), &how));
    return clv_affinity_build(r->ctx, clv_data_matrix(one->points), &how, &one->affinity);
}

/* Without what costs time and is not looked at. A run on points ends where its start leads it, and costs little: of one
 * alone it would be luck whether it finds all clusters. */
static clv_status quicken(range *r, int number, clv_options_room *options) {
    clv_control *control = control_of(options);
    memcpy(options, &r->options, sizeof *options); /* not by =, which a compiler may put behind what follows */
    control->restarts = r->how || r->method->takes == CLV_TAKES_PARTITIONS ? 1 : RESTARTS;
    control->keep_trace = 0;
    control->monitor = NULL;
    control->seed = (control->seed + 1 + number) % ((int64_t)1 << 53);
    if (clv_options_find(r->method->options, "patience")) {
        CLV_TRY(clv_options_set(r->ctx, r->method->options, options->bytes, "patience", "30"));
    }
    return clv_options_find(r->method->options, "bound") && r->how
               ? clv_options_set(r->ctx, r->method->options, options->bytes, "bound", "no")
               : CLV_OK;
}

static bool was_cut(const clv_result *result) {
    return result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
}

/* The agreement of a run on a subsample with the labels of all; NaN where the subsample has no answer: too few objects
 * that are similar to something, say. */
static clv_status compare_sample(range *r, int number, const int32_t *labels, double *out) {
    sample *one = &r->samples[number];
    clv_options_room options;
    clv_result *found = NULL;
    clv_scores scores;
    CLV_TRY(quicken(r, number, &options));
    CLV_TRY(build_sample(r, one));
    clv_input input = {.affinity = one->affinity,
                       .points = one->points && !r->how ? clv_data_matrix(one->points) : NULL,
                       .weights = one->weights ? clv_data_matrix(one->weights) : NULL,
                       .widths = r->given->widths};
    clv_status status = clv_solve(r->ctx, r->method, &input, options.bytes, &found);
    *out = NAN;
    if (status == CLV_EDATA || status == CLV_ENUMERIC) {
        return CLV_OK;
    }
    CLV_TRY(status);
    if (was_cut(found)) { /* labels of half a run agree with nothing */
        status = found->stop == CLV_TIME_LIMIT ? CLV_ETIME : CLV_EINTERRUPTED;
        clv_result_free(found);
        return clv_fail(r->ctx, status, "the run on a subsample was cut short");
    }
    int32_t *same = CLV_NEW(r->ctx, int32_t, r->sampled);
    status = same ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; same && i < r->sampled; i++) {
        same[i] = labels[one->objects[i]];
    }
    if (status == CLV_OK && !isnan(found->objective.value)) {
        status = clv_compare(r->ctx, same, found->labels, r->sampled, &scores);
        *out = status == CLV_OK ? scores.ari : (double)NAN;
    }
    clv_free(r->ctx, same);
    clv_result_free(found);
    return status;
}

static clv_status find_stability(range *r, const int32_t *labels, clv_k_row *row) {
    double values[SUBSAMPLES], sum = 0, squares = 0;
    int known = 0;
    for (int s = 0; s < SUBSAMPLES; s++) {
        CLV_TRY(compare_sample(r, s, labels, &values[known]));
        known += !isnan(values[known]);
    }
    for (int s = 0; s < known; s++) {
        sum += values[s];
    }
    for (int s = 0; s < known; s++) {
        squares += (values[s] - sum / known) * (values[s] - sum / known);
    }
    row->stability = known > 0 ? sum / known : (double)NAN;
    row->spread = known > 1 ? sqrt(squares / (known - 1)) : (double)NAN;
    return CLV_OK;
}

/* The mean over all subsamples: one alone is a matter of luck. */
static clv_status find_silhouette(range *r, const int32_t *labels, clv_k_row *row) {
    bool has_points = r->samples[0].points && r->method->takes != CLV_TAKES_PARTITIONS;
    int32_t *same = has_points ? CLV_NEW(r->ctx, int32_t, r->sampled) : NULL;
    double sum = 0;
    clv_status status = !has_points || same ? CLV_OK : CLV_ENOMEM;
    for (int s = 0; same && s < SUBSAMPLES && status == CLV_OK; s++) {
        double value = 0;
        for (int64_t i = 0; i < r->sampled; i++) {
            same[i] = labels[r->samples[s].objects[i]];
        }
        status = clv_silhouette(r->ctx, clv_data_matrix(r->samples[s].points), same, control_of(&r->options)->threads,
                                &value);
        sum += value;
    }
    row->silhouette = same && status == CLV_OK ? sum / SUBSAMPLES : (double)NAN;
    clv_free(r->ctx, same);
    return status == CLV_EDATA || status == CLV_EUSAGE ? CLV_OK : status; /* a single cluster has none */
}

/* --- one k --- */

/* One kind for all k and all samples, by the clusters of the largest k; without the time to look, the one that is taken
 * when nobody looks. */
static clv_status choose(range *r, int64_t most, clv_affinity_options *how) {
    CLV_TRY(set_k(r, &r->options, most));
    clv_status status = clv_choose_affinity(r->ctx, r->method, r->given->points, r->options.bytes, how);
    if (status == CLV_ETIME || status == CLV_EINTERRUPTED) {
        how->kind = CLV_AFFINITY_GAUSSIAN;
        status = CLV_OK;
    }
    return status;
}

/* For the k of the options, with this gamma or, NaN, the one that the method wants: that which is there where it does.
 */
static clv_status build(range *r, double gamma) {
    clv_affinity_options how;
    clv_affinity_info info;
    if (!r->how) {
        return CLV_OK;
    }
    how = *r->how;
    how.gamma = isnan(gamma) ? how.gamma : gamma;
    CLV_TRY(clv_suit_affinity(r->ctx, r->method, r->given->points, r->options.bytes, &how));
    if (r->affinity && (same_number(how.gamma, r->gamma) || isnan(how.gamma))) {
        return CLV_OK;
    }
    clv_affinity_free(r->affinity);
    r->affinity = NULL;
    CLV_TRY(clv_affinity_build(r->ctx, r->given->points, &how, &r->affinity));
    clv_affinity_describe(r->affinity, &info);
    r->gamma = info.gamma;
    return CLV_OK;
}

static clv_input input_of(const range *r) {
    clv_input input = *r->given;
    if (r->how) {
        input.affinity = r->affinity;
        input.points = NULL;
    }
    return input;
}

static bool is_better(const clv_result *a, const clv_result *b) {
    return a->objective.maximize ? a->objective.value > b->objective.value : a->objective.value < b->objective.value;
}

/* The centers of the k before, and the object farthest from its own. */
static clv_status extend_centers(range *r, const clv_result *before, clv_data **out) {
    const clv_matrix *centers = clv_result_matrix(before, "centers"), *points = r->given->points;
    int64_t cols = centers->cols, farthest = 0;
    double most = -1;
    CLV_TRY(clv_data_new_dense(r->ctx, "centers", before->k + 1, cols, CLV_F64, out));
    double *places = (*out)->values, *row = places + before->k * cols;
    for (int64_t c = 0; c < before->k; c++) {
        clv_matrix_row(centers, c, places + c * cols);
    }
    for (int64_t i = 0; i < points->rows; i++) {
        const double *center = places + before->labels[i] * cols;
        double sum = 0;
        clv_matrix_row(points, i, row);
        for (int64_t f = 0; f < cols; f++) {
            sum += (row[f] - center[f]) * (row[f] - center[f]);
        }
        farthest = sum > most ? i : farthest;
        most = fmax(most, sum);
    }
    clv_matrix_row(points, farthest, row);
    return clv_worked(r->ctx, points->rows * cols) ? clv_stop_failure(r->ctx, "choosing a center") : CLV_OK;
}

/* From the objects nearest to these centers: with memberships that begin elsewhere the first iterations could give up
 * what the centers have, and more clusters cost more than fewer. */
static clv_status solve_from(range *r, const clv_matrix *centers, clv_result **out) {
    clv_options_room own = r->options;
    clv_input input = input_of(r);
    input.start = centers;
    if (clv_options_find(r->method->options, "initial-membership")) {
        CLV_TRY(clv_options_set(r->ctx, r->method->options, own.bytes, "initial-membership", "nearest"));
    }
    return clv_solve(r->ctx, r->method, &input, own.bytes, out);
}

static clv_status warm_start(range *r, clv_result **best) {
    const clv_result *before = r->count > 0 ? r->results[r->count - 1] : NULL;
    clv_data *centers = NULL;
    clv_result *warm = NULL;
    bool can = before && before->k + 1 == (*best)->k && clv_result_matrix(before, "centers") &&
               control_of(&r->options)->restarts == 1; /* from a start that is given there is one */
    if (!can || (*best)->stop == CLV_TIME_LIMIT || (*best)->stop == CLV_CANCELLED) {
        return CLV_OK;
    }
    clv_status status = extend_centers(r, before, &centers);
    status = status == CLV_OK ? solve_from(r, clv_data_matrix(centers), &warm) : status;
    clv_data_free(centers);
    if (status == CLV_OK && is_better(warm, *best)) {
        clv_result *held = *best;
        *best = warm;
        warm = held;
    }
    clv_result_free(warm);
    return clv_is_stop(status) || status == CLV_EDATA ? CLV_OK : status;
}

static clv_status run(range *r, int64_t k) {
    clv_result *result = NULL;
    CLV_TRY(set_k(r, &r->options, k));
    CLV_TRY(build(r, NAN));
    clv_input input = input_of(r);
    CLV_TRY(clv_solve(r->ctx, r->method, &input, r->options.bytes, &result));
    clv_k_row *row = &r->rows[r->count];
    clv_status status = warm_start(r, &result);
    r->results[r->count] = result; /* from here on it is freed with the others */
    *row = (clv_k_row){.k = k,
                       .objective = result->objective.value,
                       .gap_percent = NAN,
                       .eigengap = NAN,
                       .silhouette = NAN,
                       .stability = NAN,
                       .spread = NAN,
                       .seconds = result->seconds,
                       .gamma = r->gamma,
                       .stop = result->stop};
    for (int64_t c = 0; c < result->k; c++) {
        row->empty += result->sizes[c] == 0;
    }
    r->count++;
    CLV_TRY(status);
    row->gap_percent = clv_gap_percent(result);
    if (was_cut(result)) {
        return CLV_OK;
    }
    CLV_TRY(find_silhouette(r, result->labels, row));
    return find_stability(r, result->labels, row);
}

/* --- all of them --- */

/* From the longest list of eigenvalues, that of the largest k. A matrix of so many groups of equal rows has no more
 * eigenvalues than groups: the next is 0. */
static void find_eigengaps(range *r) {
    int64_t count = 0, groups = r->count > 0 ? clv_result_integer(r->results[r->count - 1], "groups", -1) : -1;
    const double *values = r->count > 0 ? clv_result_reals(r->results[r->count - 1], "eigenvalues", &count) : NULL;
    for (int64_t i = 0; values && i < r->count; i++) {
        int64_t k = r->rows[i].k;
        double next = k < count ? values[k] : k == groups ? 0 : (double)NAN;
        r->rows[i].eigengap = k <= count ? values[k - 1] - next : (double)NAN;
    }
}

/* Nobody knows whether there are more clusters: more were found, or time ended the search. */
static void forget_end(range *r) {
    r->end[0] = '\0';
    r->few = false;
}

/* A method that ends where it finds no more clusters says nothing of a k that it does not reach: the row goes, unless
 * it is the first, which then is about as many as there are. */
static void drop_if_short(range *r) {
    clv_result *last = r->results[r->count - 1];
    clv_k_row *row = &r->rows[r->count - 1];
    if (last->k >= row->k) {
        forget_end(r);
        return;
    }
    snprintf(r->end, sizeof r->end, "no more clusters were found");
    r->few = true;
    r->first_few |= r->count == 1;
    row->k = last->k;
    if (r->count > 1) {
        clv_result_free(last);
        r->count--;
    }
}

/* Rows until the last, or until time is over; a first row there must be. */
static clv_status run_all(range *r, int64_t least, int64_t most) {
    for (int64_t k = least; k <= most; k++) {
        int64_t before = r->count;
        r->reached = k;
        clv_status status = run(r, k);
        bool over = clv_is_stop(status) || (r->count > 0 && was_cut(r->results[r->count - 1]));
        if (status == CLV_EDATA && r->count > 0) { /* bad data: not for so many clusters */
            snprintf(r->end, sizeof r->end, "%s", clv_message(r->ctx));
            return CLV_OK;
        }
        if (r->count > before && (over || status == CLV_OK)) {
            drop_if_short(r);
        }
        over = over || (status == CLV_OK && k < most && clv_interrupted(r->ctx));
        if (over && r->count > 0) {
            forget_end(r);
            r->cut = true;
            return CLV_OK;
        }
        CLV_TRY(status);
    }
    return CLV_OK;
}

static clv_status put_table(const range *r, const char *reason, clv_result *out) {
    enum { COLUMNS = 7 };
    static const char *const names[COLUMNS] = {"k_table.objective",  "k_table.gap_percent", "k_table.eigengap",
                                               "k_table.silhouette", "k_table.stability",   "k_table.spread",
                                               "k_table.seconds"};
    double *columns = CLV_NEW(r->ctx, double, r->count *COLUMNS);
    int64_t *k = CLV_NEW(r->ctx, int64_t, r->count);
    clv_status status = columns && k ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < r->count; i++) {
        const clv_k_row *row = &r->rows[i];
        const double values[COLUMNS] = {row->objective, row->gap_percent, row->eigengap, row->silhouette,
                                        row->stability, row->spread,      row->seconds};
        k[i] = row->k;
        for (int c = 0; c < COLUMNS; c++) {
            columns[c * r->count + i] = values[c];
        }
    }
    if (status == CLV_OK) {
        status = clv_result_put_integers(out, "k_table.k", k, r->count);
    }
    for (int c = 0; c < COLUMNS && status == CLV_OK; c++) {
        status = clv_result_put_reals(out, names[c], columns + c * r->count, r->count);
    }
    status = status == CLV_OK ? clv_result_put_text(out, "k_reason", reason) : status;
    CLV_FREE_ALL(r->ctx, columns, k);
    return status;
}

/* What the sentence says of a choice that is hardly one, for those who read warnings only. */
static clv_status warn_of_choice(const range *r, bool by_gap, int64_t most, clv_result *result) {
    int64_t least = r->rows[0].k, last = r->rows[r->count - 1].k;
    bool whole = !r->cut && (last == most || r->end[0]); /* else others might hold */
    if (!by_gap && whole && clv_k_is_doubtful(r->rows, r->count)) {
        CLV_TRY(clv_result_warn(result,
                                "the clusters of no k from %lld to %lld hold on subsamples: there may be none in these "
                                "data, or another number of them; try a range beyond %lld, more --restarts, or %s",
                                (long long)least, (long long)last, (long long)last,
                                !r->how       ? "ncut, which finds clusters of any shape"
                                : is_given(r) ? "other similarities"
                                              : "another --affinity"));
    } else if (!by_gap && result->k == most && most > least && 2 * most <= r->n) {
        return clv_result_warn(
            result, "k = %lld is the largest of the range, and there may be more clusters: try a range to %lld",
            (long long)most, (long long)(2 * most));
    }
    if (last == most && r->cut) {
        return clv_result_warn(
            result,
            "the run ended in the last row, k = %lld, whose clusters were not compared with those of "
            "all subsamples: try a longer --time-limit",
            (long long)most);
    }
    if (last < most && r->end[0] && !r->few && r->method->takes == CLV_TAKES_PARTITIONS) {
        return CLV_OK; /* the reason says so: it is no fault of a range that there are so many groups */
    }
    if (last < most && r->end[0]) {
        return clv_result_warn(result, "the range to %lld ends at k = %lld: %s", (long long)most, (long long)last,
                               r->end);
    }
    if (last < most && r->count == 1 && r->first_few) {
        return clv_result_warn(result,
                               "the run ended at k = %lld of the range to %lld, with %lld cluster%s found: k was "
                               "not chosen; try a longer --time-limit",
                               (long long)r->reached, (long long)most, (long long)last, last == 1 ? "" : "s");
    }
    if (last < most) {
        return clv_result_warn(result, "the run ended at k = %lld of the range to %lld: %s; try a longer --time-limit",
                               (long long)last, (long long)most,
                               last == least ? "k is the smallest of the range, and was not chosen"
                                             : "the choice is among the rows that were reached");
    }
    return CLV_OK;
}

/* Without a first row: what the points say of the smallest k, which nobody chose. */
static clv_status solve_roughly(range *r, int64_t least, int64_t most, clv_result **out) {
    clv_affinity_info plan = {.n = r->n};
    clv_input rough = {.points = is_given(r) ? NULL : r->given->points, .plan = &plan};
    CLV_TRY(set_k(r, &r->options, least));
    CLV_TRY(clv_solve_roughly(r->ctx, r->method, &rough, r->options.bytes, out));
    return least == most ? CLV_OK
                         : clv_result_warn(*out,
                                           "there was no time to compare k from %lld to %lld: k = %lld is the smallest "
                                           "of the range, and was not chosen; try a longer --time-limit",
                                           (long long)least, (long long)most, (long long)least);
}

/* The affinity of a row that was found, where that of another k has taken its place. Whatever ended the run, it is
 * made: it takes a small part of the time that the rows took, and without it there would be none of them. */
static clv_status build_again(range *r, const clv_k_row *row) {
    CLV_TRY(set_k(r, &r->options, row->k));
    clv_set_patient(r->ctx, true);
    clv_status status = build(r, row->gamma);
    clv_set_patient(r->ctx, false);
    return status;
}

/* The suggested result, with the affinity that it is of, and the table. */
static clv_status finish(range *r, int64_t most, clv_affinity **affinity, clv_result **out) {
    char reason[256];
    find_eigengaps(r);
    bool by_gap = r->method->takes == CLV_TAKES_PARTITIONS;
    int64_t chosen = clv_k_suggest(r->rows, r->count, by_gap, reason, sizeof reason);
    if (by_gap && r->end[0] && !r->few) {
        size_t used = strlen(reason);
        snprintf(reason + used, sizeof reason - used, "; the inputs tell no more than %lld groups of objects apart",
                 (long long)r->rows[r->count - 1].k);
    }
    CLV_TRY(build_again(r, &r->rows[chosen]));
    clv_result *result = r->results[chosen];
    CLV_TRY(put_table(r, reason, result));
    CLV_TRY(warn_of_choice(r, by_gap, most, result));
    r->results[chosen] = NULL;
    *out = result;
    *affinity = r->affinity;
    r->affinity = NULL;
    return CLV_OK;
}

static void free_range(range *r) {
    for (int64_t i = 0; r->results && i < r->count; i++) {
        clv_result_free(r->results[i]);
    }
    for (int s = 0; s < SUBSAMPLES; s++) {
        clv_affinity_free(r->samples[s].affinity);
        clv_data_free(r->samples[s].points);
        clv_data_free(r->samples[s].weights);
        clv_free(r->ctx, r->samples[s].objects);
    }
    clv_affinity_free(r->affinity);
    CLV_FREE_ALL(r->ctx, r->rows, r->results);
}

static clv_status check(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                        int64_t least, int64_t most, const clv_affinity_options *how) {
    bool has = method->k_meaning == CLV_K_CLUSTERS && clv_method_gives(method, "labels");
    if (!has) {
        return clv_fail(ctx, CLV_EUSAGE, "%s has no range of k", method->name);
    }
    if (!input || !input->points || (how != NULL) != (method->takes == CLV_TAKES_AFFINITY) || !options) {
        return clv_fail(ctx, CLV_EUSAGE, "a range of k needs the points, and of %s %s", method->name,
                        method->takes == CLV_TAKES_AFFINITY ? "how their affinity is built" : "no affinity");
    }
    if (input->start) {
        return clv_fail(ctx, CLV_EUSAGE, "a start is for one k, not for a range");
    }
    if (clv_checkpointing_of(ctx)->write || clv_checkpointing_of(ctx)->resume) {
        return clv_fail(ctx, CLV_EUSAGE, "checkpoints are for one k, not for a range");
    }
    if (least < 1 || most < least || most > input->points->rows) {
        return clv_fail(ctx, CLV_EUSAGE, "k = %lld:%lld is not allowed: a range goes from 1 or more up to at most %lld",
                        (long long)least, (long long)most, (long long)input->points->rows);
    }
    return CLV_OK;
}

/* The options that were given, but for their k. */
static clv_status adopt(range *r, const void *given, int64_t k) {
    clv_options_room own;
    CLV_TRY(clv_options_adopt(r->ctx, r->method->options, given, own.bytes));
    CLV_TRY(set_k(r, &own, k));
    return clv_method_adopt(r->ctx, r->method, own.bytes, &r->options);
}

clv_status clv_solve_range(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                           int64_t least, int64_t most, const clv_affinity_options *how, clv_affinity **affinity,
                           clv_result **out) {
    *affinity = NULL;
    *out = NULL;
    CLV_NEED(ctx, method);
    CLV_TRY(check(ctx, method, input, options, least, most, how));
    int64_t n = input->points->rows, half = n - n / 2; /* of more, all runs would find the same by having the same */
    clv_affinity_options chosen = how ? *how : (clv_affinity_options){0};
    range r = {.ctx = ctx, .method = method, .given = input, .how = how ? &chosen : NULL, .gamma = NAN, .n = n};
    r.sampled = half < SAMPLED ? half : SAMPLED;
    CLV_TRY(adopt(&r, options, least));
    r.rows = CLV_NEW0(ctx, clv_k_row, most - least + 1);
    r.results = CLV_NEW0(ctx, clv_result *, most - least + 1);
    clv_status status = r.rows && r.results ? new_samples(&r) : CLV_ENOMEM;
    status =
        status == CLV_OK && how ? choose(&r, most, &chosen) : status; /* of a sample: it takes no time to speak of */
    clv_deadline before = clv_deadline_begin(ctx, control_of(&r.options)->time_limit);
    control_of(&r.options)->time_limit = 0; /* of one k: that of all is set */
    status = status == CLV_OK ? run_all(&r, least, most) : status;
    if (how && clv_is_stop(status) && r.count == 0) {
        status = solve_roughly(&r, least, most, out);
    } else {
        status = status == CLV_OK ? finish(&r, most, affinity, out) : status;
    }
    clv_deadline_end(ctx, before);
    free_range(&r);
    return status;
}
