/* Evaluation of given weights: the peeling is replayed with them, f and gap of every cluster are computed from the
 * affinity, and the labels must be those that follow. One combination of columns per cluster. */
#include "methods/dominant/dominant.h"

#include "engine/result.h"

#include <float.h>
#include <math.h>

/* How far a sum of weights may lie from 1. */
#define SUM_TOLERANCE 1e-9
/* Of sums of similarities, in units of those inside the clusters. */
#define ROUNDING (16 * DBL_EPSILON)
/* So many objects left over are compared with each other, a column each. */
enum { FEW_LEFT = 4096 };

/* Column c of the membership, whose entries must be weights of active objects. */
static clv_status take_set(const clv_peeling *p, const clv_matrix *membership, int64_t c, clv_dominant_set *out) {
    const double *values = membership->values;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t e = membership->start[i]; e < membership->start[i + 1]; e++) {
            if (membership->index[e] == c && values[e] != 0) {
                if (!(values[e] > 0) || p->gone[i]) {
                    return clv_fail(p->ctx, CLV_EDATA, "object %lld has weight %g in cluster %lld%s", (long long)i + 1,
                                    values[e], (long long)c, p->gone[i] ? ", but was peeled off before" : "");
                }
                out->objects[out->count] = i;
                out->weights[out->count++] = values[e];
                sum += values[e];
            }
        }
    }
    if (!(fabs(sum - 1) <= SUM_TOLERANCE)) {
        return clv_fail(p->ctx, CLV_EDATA, "the weights of cluster %lld add up to %.17g, not to 1", (long long)c, sum);
    }
    return CLV_OK;
}

/* f, x'Ax, gap, size and prototype from r = Ax. */
static void measure(const clv_peeling *p, const double *r, clv_dominant_set *set) {
    double shift = p->options->shift, similarity = 0, squares = 0, most = CLV_GONE;
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    int64_t heaviest = 0, at = 0;
    for (int64_t t = 0; t < set->count; t++) {
        double weight = set->weights[t];
        similarity += weight * r[set->objects[t]];
        squares += weight * weight;
        set->about.size += weight > cutoff;
        heaviest = weight > set->weights[heaviest] ? t : heaviest;
    }
    for (int64_t t = 0; t < p->active_count; t++) {
        int64_t i = p->active[t];
        while (at < set->count && set->objects[at] < i) {
            at++;
        }
        double weight = at < set->count && set->objects[at] == i ? set->weights[at] : 0;
        most = fmax(most, r[i] - shift * weight);
    }
    set->about.similarity = similarity;
    set->about.cohesiveness = similarity + shift * (1 - squares);
    set->about.certificate = most - (similarity - shift * squares);
    set->about.prototype = set->objects[heaviest];
}

/* --- rounding --- */

/* What it may make of x'Ax, and be all of it: beside the similarities inside so many clusters, and beside those that
 * cancel: a diagonal, or what a given matrix has down to minus the shift. */
static double rounding_of_sums(const clv_peeling *p, const clv_cluster *clusters, int64_t count) {
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    double sum = info.kind == CLV_AFFINITY_PRECOMPUTED ? p->options->shift : 0;
    for (int64_t c = 0; c < count; c++) {
        sum += fabs(clusters[c].similarity) + clusters[c].own;
    }
    return ROUNDING * sum;
}

/* x'Dx of the diagonal D, where it is taken off; of a product of factors, at most that of the largest entry. */
static clv_status measure_own(const clv_peeling *p, clv_dominant_set *set) {
    clv_matrix factor;
    bool product = clv_affinity_factor(p->affinity, &factor);
    double least = product && isfinite(p->largest) ? p->largest : 0;
    for (int64_t t = 0; t < set->count && (product || clv_affinity_has_diagonal(p->affinity)); t++) {
        double own;
        CLV_TRY(clv_affinity_entry(p->affinity, set->objects[t], set->objects[t], &own));
        set->about.own += set->weights[t] * set->weights[t] * fmax(fabs(own), least);
    }
    return CLV_OK;
}

/* Of f and of the gap, where the shift is added and taken off. */
static double rounding_of_shift(const clv_peeling *p) {
    return ROUNDING * p->options->shift;
}

/* Whether there is anything to round in x'Ax, whose Ax is in p->work: a product of factors, or of these objects one
 * that is similar to any of them, or to itself, which was taken off. */
static clv_status has_terms(const clv_peeling *p, const clv_dominant_set *set, bool *out) {
    clv_matrix factor;
    *out = clv_affinity_factor(p->affinity, &factor);
    for (int64_t t = 0; t < set->count && !*out; t++) {
        double own;
        CLV_TRY(clv_affinity_entry(p->affinity, set->objects[t], set->objects[t], &own));
        *out = own != 0 || p->work[set->objects[t]] != 0;
    }
    return CLV_OK;
}

/* --- the rules of the peeling --- */

/* Whether x'Ax can be above 0, and is what the options ask for, but for rounding. */
static clv_status is_similar(const clv_peeling *p, const clv_dominant_set *set, double rounding, bool *out) {
    double least = p->options->min_cohesiveness * (1 - SUM_TOLERANCE) - rounding, similarity = set->about.similarity;
    *out = similarity >= least;
    return *out && similarity <= 0 ? has_terms(p, set, out) : CLV_OK;
}

/* A search that is not cut short never ends with less than the options ask for; of one that is, the first cluster is
 * kept as it was by then. */
static clv_status check_size(const clv_peeling *p, const clv_dominant_set *set, const clv_cluster *clusters,
                             int64_t c) {
    bool kept = c == 0 && p->stop != CLV_CONVERGED && p->stop != CLV_STALLED, similar;
    CLV_TRY(is_similar(p, set, rounding_of_sums(p, clusters, c), &similar));
    if (!kept && (set->about.size < p->options->min_size || !similar)) {
        return clv_fail(p->ctx, CLV_EDATA, "cluster %lld has %lld members and x'Ax = %g, less than the options ask for",
                        (long long)c, (long long)set->about.size, set->about.similarity);
    }
    return CLV_OK;
}

/* Clusters of one pass: at most `multistart`, f descending, few members shared. `first` is the first of the pass. */
static clv_status check_pass(const clv_peeling *p, const clv_dominant_set *set, const clv_cluster *clusters, int64_t c,
                             int64_t first) {
    int64_t shared = clv_peel_shared(p, set);
    bool few = 100 * (double)shared <= p->options->overlap * (double)set->about.size * (1 + SUM_TOLERANCE);
    if (c - first >= (p->options->multistart > 0 ? p->options->multistart : 1)) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "a pass of peeling has more clusters than starts: cluster %lld is one too many", (long long)c);
    }
    if (c > first && set->about.cohesiveness > clusters[c - 1].cohesiveness * (1 + SUM_TOLERANCE)) {
        return clv_fail(p->ctx, CLV_EDATA, "cluster %lld has a larger f than the one before it in its pass",
                        (long long)c);
    }
    if (shared >= set->about.size || !few) {
        return clv_fail(p->ctx, CLV_EDATA, "cluster %lld shares %lld of its %lld members with better ones of its pass",
                        (long long)c, (long long)shared, (long long)set->about.size);
    }
    return CLV_OK;
}

/* What rounding may leave of a similarity of 0 to object i: of products of factors, of cosines, and where a diagonal is
 * taken off. */
static clv_status rounding_at(const clv_peeling *p, int64_t i, double *out) {
    clv_matrix factor;
    double own, rounding = clv_dominant_rounding(p->affinity);
    CLV_TRY(clv_affinity_entry(p->affinity, i, i, &own));
    bool product = clv_affinity_factor(p->affinity, &factor);
    *out = product ? DBL_EPSILON * (double)(factor.cols + 4) * fmax(p->largest, own)
                   : fmax(rounding, 4 * DBL_EPSILON * fabs(own));
    return CLV_OK;
}

/* Whether two objects of this similarity are a set of their own: with half of the weight each, x'Ax is half of it. */
static clv_status is_pair(const clv_peeling *p, int64_t i, int64_t j, double similarity, bool *out) {
    double first = 0, second = 0;
    if (similarity > 0) {
        CLV_TRY(rounding_at(p, i, &first));
        CLV_TRY(rounding_at(p, j, &second));
    }
    *out = similarity / 2 > fmax(first, second);
    return CLV_OK;
}

/* Whether the peeling was to end where it did, as far as that is cheap to see: with nothing left to ask for, no two of
 * the objects left may be similar. */
static clv_status check_end(clv_peeling *p, int64_t k) {
    const clv_dominant_options *options = p->options;
    bool more = options->k == 0 || k < options->k;
    bool plain = options->min_size <= 1 && options->min_cohesiveness <= 0 && isnan(options->cutoff);
    if (!more || p->active_count < 2) {
        return CLV_OK;
    }
    if (!plain || p->active_count > FEW_LEFT) {
        p->end_unseen = true;
        return CLV_OK;
    }
    int64_t left = -1, right = -1;
    for (int64_t t = 0; t < p->active_count; t++) {
        CLV_TRY(clv_affinity_column(p->affinity, p->active[t], p->work));
        for (int64_t u = 0; u < t; u++) {
            bool pair;
            if (p->work[p->active[u]] < 0) {
                p->end_unseen = true; /* with negative ones, similar objects may be in no set of positive x'Ax */
                return CLV_OK;
            }
            CLV_TRY(is_pair(p, p->active[t], p->active[u], p->work[p->active[u]], &pair));
            left = pair ? p->active[u] : left;
            right = pair ? p->active[t] : right;
        }
    }
    if (left < 0) {
        return CLV_OK;
    }
    return clv_fail(p->ctx, CLV_EDATA,
                    "objects %lld and %lld are similar and in no cluster, though more were asked for",
                    (long long)left + 1, (long long)right + 1);
}

/* --- the peeling again --- */

static clv_status replay(clv_peeling *p, const clv_matrix *membership, const int64_t *pass, clv_dominant_set *set,
                         clv_cluster *clusters) {
    int64_t k = membership->cols, first = 0;
    for (int64_t c = 0; c < k; c++) {
        set->count = 0;
        set->about = (clv_cluster){0};
        CLV_TRY(take_set(p, membership, c, set));
        CLV_TRY(clv_peel_product(p, set));
        measure(p, p->work, set);
        CLV_TRY(measure_own(p, set));
        clusters[c] = set->about;
        clusters[c].pass = pass ? pass[c] : c;
        CLV_TRY(check_size(p, set, clusters, c));
        CLV_TRY(check_pass(p, set, clusters, c, first));
        CLV_TRY(clv_peel_label(p, set, (int32_t)c));
        if (!pass || c + 1 == k || pass[c + 1] != pass[c]) {
            clv_peel_off(p);
            first = c + 1;
        }
    }
    CLV_TRY(check_end(p, k));
    return p->options->assign ? clv_dominant_assign(p->ctx, p->affinity, k, p->options->control.threads, p->labels)
                              : CLV_OK;
}

static clv_status compare_labels(const clv_peeling *p, const int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        if (labels[i] != p->labels[i]) {
            return clv_fail(p->ctx, CLV_EDATA, "the label of object %lld is %d, but the weights give it %d",
                            (long long)i + 1, (int)labels[i], (int)p->labels[i]);
        }
    }
    return CLV_OK;
}

/* --- what an answer says of its course --- */

/* The clusters of one pass stand together, passes ascend, and one by one means one pass per cluster. */
static clv_status check_passes(clv_context *ctx, const clv_dominant_options *options, const clv_result *answer,
                               const int64_t *pass) {
    int64_t passes = clv_result_integer(answer, "passes", 0), last = pass[answer->k - 1];
    bool said = clv_result_field(answer, "passes") != NULL;
    for (int64_t c = 0; c < answer->k; c++) {
        int64_t least = c > 0 ? pass[c - 1] : 0;
        if (pass[c] < least || (options->multistart == 0 && pass[c] != c)) {
            return clv_fail(ctx, CLV_EDATA, "cluster %lld is of pass %lld, but %s", (long long)c, (long long)pass[c],
                            options->multistart == 0 ? "they were peeled one by one" : "passes ascend");
        }
    }
    if (said && (options->multistart == 0 || passes < last + 1 || passes > last + 2)) {
        return clv_fail(ctx, CLV_EDATA, "there were %lld passes, but the last cluster is of pass %lld",
                        (long long)passes, (long long)last);
    }
    return CLV_OK;
}

/* A run has converged when all of its clusters have. */
static clv_status check_stops(clv_context *ctx, const clv_result *answer) {
    const clv_field *stops = clv_result_field(answer, "clusters.stop");
    for (int64_t c = 0; stops && c < stops->count; c++) {
        clv_stop stop;
        if (!clv_stop_find(stops->texts[c], &stop)) {
            return clv_fail(ctx, CLV_EDATA, "no cluster stops for the reason '%.40s'", stops->texts[c]);
        }
        if (answer->stop == CLV_CONVERGED && stop != CLV_CONVERGED) {
            return clv_fail(ctx, CLV_EDATA, "the run has converged, but cluster %lld stopped with '%s'", (long long)c,
                            stops->texts[c]);
        }
    }
    return CLV_OK;
}

/* Steps of a cluster are within the limit, and part of those of the run; sets that were not kept took steps, too. */
static clv_status check_steps(clv_context *ctx, const clv_dominant_options *options, const clv_result *answer) {
    int64_t count, most = options->control.max_iter;
    const int64_t *steps = clv_result_integers(answer, "clusters.iterations", &count);
    double sum = 0;
    for (int64_t c = 0; steps && c < count; c++) {
        if (steps[c] < 0 || steps[c] > most) {
            return clv_fail(ctx, CLV_EDATA, "cluster %lld took %lld iterations, where 0 to %lld are possible",
                            (long long)c, (long long)steps[c], (long long)most);
        }
        sum += (double)steps[c];
    }
    return sum <= (double)answer->iterations || !answer->method
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "the clusters took %.0f iterations, but the run %lld", sum,
                          (long long)answer->iterations);
}

/* `given`: the options before the shift was settled. */
static clv_status check_shift(clv_context *ctx, const clv_dominant_options *given, const clv_result *answer) {
    const clv_field *said = clv_result_field(answer, "shift");
    bool found = isnan(given->shift) && given->k > 0;
    double shift = clv_result_real(answer, "shift", 0);
    if (answer->method && found != (said != NULL)) {
        return clv_fail(ctx, CLV_EDATA,
                        found ? "the answer lacks the shift that was found"
                              : "the answer names a shift that was found, but none was looked for");
    }
    return shift >= 0 && isfinite(shift)
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "the shift that was found is %g: it must be 0 or more", shift);
}

static clv_status check_course(clv_context *ctx, const clv_dominant_options *options, const clv_result *answer) {
    int64_t count;
    const int64_t *pass = clv_result_integers(answer, "clusters.pass", &count);
    if (pass && count != answer->k) {
        return clv_fail(ctx, CLV_EDATA, "the table of clusters has %lld rows, but there are %lld clusters",
                        (long long)count, (long long)answer->k);
    }
    if (!pass && answer->method) { /* what a run gave says it; a program may leave it out */
        return clv_fail(ctx, CLV_EDATA, "the answer lacks its clusters");
    }
    CLV_TRY(pass ? check_passes(ctx, options, answer, pass) : CLV_OK);
    CLV_TRY(check_steps(ctx, options, answer));
    return check_stops(ctx, answer);
}

/* --- objective and certificate --- */

/* Of clusters that are equally far from their tolerances, but for rounding, the one that the answer's certificate is
 * nearest to; where that has no value, one without a gap. */
static clv_certificate settle_tie(const clv_result *answer, const clv_cluster *found, double tol, clv_certificate worst,
                                  double rounding) {
    int64_t count;
    const double *gaps = clv_result_reals(answer, "clusters.certificate", &count);
    const clv_certificate *said = &answer->certificate;
    double most = worst.value - worst.tolerance, far = fabs(worst.value) + fabs(worst.tolerance), nearest = HUGE_VAL;
    for (int64_t c = 0; said->name && c < answer->k; c++) {
        double gap = found[c].certificate, tolerance = tol * found[c].similarity;
        double off = fabs(said->tolerance - tolerance),
               apart = isnan(said->value) ? off : off + fabs(said->value - gap);
        double near = rounding + SUM_TOLERANCE * fmin(fabs(gap) + fabs(tolerance), far);
        bool tied = isnan(said->value) ? gaps && c < count && isnan(gaps[c]) : fabs(gap - tolerance - most) <= near;
        if (tied && off <= SUM_TOLERANCE * fabs(tolerance) && apart < nearest) {
            nearest = apart;
            worst = (clv_certificate){worst.name, gap, tolerance, 0};
        }
    }
    return worst;
}

/* What rounding may make of the table of clusters, beyond a share of each number; a gap is a difference of similarities
 * that are nearly equal. */
static clv_status put_roundings(const clv_peeling *p, const clv_cluster *clusters, int64_t k, clv_result *found) {
    double sums = rounding_of_sums(p, clusters, k), shifted = sums + rounding_of_shift(p);
    double *work = CLV_NEW(p->ctx, double, 3 * k);
    for (int64_t c = 0; work && c < k; c++) {
        work[c] = sums;
        work[k + c] = shifted;
        work[2 * k + c] = shifted + SUM_TOLERANCE * fabs(clusters[c].similarity);
    }
    clv_status status = work ? clv_result_put_reals(found, "clusters.similarity_rounding", work, k) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_result_put_reals(found, "clusters.cohesiveness_rounding", work + k, k);
    }
    if (status == CLV_OK) {
        status = clv_result_put_reals(found, "clusters.certificate_rounding", work + 2 * k, k);
    }
    clv_free(p->ctx, work);
    return status;
}

static clv_status judge(const clv_peeling *p, const clv_result *answer, const clv_cluster *clusters,
                        clv_result *found) {
    double tol = clv_peel_problem(p).tol, sums = rounding_of_sums(p, clusters, answer->k);
    clv_certificate worst = clv_dominant_certificate(clusters, answer->k, tol);
    worst = settle_tie(answer, clusters, tol, worst, sums + rounding_of_shift(p));
    clv_result_claim(found, &clv_dominant_method, clv_dominant_objective(clusters, answer->k), worst.value,
                     worst.tolerance);
    CLV_TRY(clv_result_put_integer(found, "certified", 1));
    CLV_TRY(clv_result_put_real(found, "tolerance_rounding", tol * sums));
    CLV_TRY(clv_result_put_real(found, "rounding", sums));
    CLV_TRY(p->end_unseen ? clv_result_put_text(found, "unseen", "whether any similar objects remain") : CLV_OK);
    CLV_TRY(put_roundings(p, clusters, answer->k, found));
    return clv_dominant_table(found, clusters, answer->k, false);
}

/* The options by which a run that was cut short is judged: it may have asked for more clusters, and has assigned
 * nothing any more. Where a set was at its limit of iterations, what it had by then may have been none. */
static clv_dominant_options options_for(const clv_dominant_options *given, const clv_result *answer) {
    clv_dominant_options options = *given;
    bool cut_short = answer->stop == CLV_TIME_LIMIT || answer->stop == CLV_CANCELLED;
    options.k = cut_short || answer->stop == CLV_ITERATION_LIMIT ? answer->k : options.k;
    options.assign = options.assign && !cut_short;
    options.shift = clv_dominant_shift(given, answer);
    return options;
}

static clv_status check_membership(clv_context *ctx, const clv_result *answer, const clv_matrix **out) {
    CLV_TRY(clv_answer_matrix(ctx, answer, "membership", answer->n, answer->k, out));
    return clv_is_sparse(*out) && answer->k > 0
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "the membership must be a sparse matrix with a column for each cluster");
}

/* `set` has room for a cluster of all objects. */
static clv_status evaluate(clv_peeling *p, const clv_matrix *membership, const clv_result *answer,
                           clv_dominant_set *set, clv_cluster *clusters, clv_result *found) {
    int64_t count;
    CLV_TRY(replay(p, membership, clv_result_integers(answer, "clusters.pass", &count), set, clusters));
    CLV_TRY(compare_labels(p, answer->labels));
    return judge(p, answer, clusters, found);
}

clv_status clv_dominant_evaluate_answer(clv_context *ctx, const clv_input *input, const void *given,
                                        const clv_result *answer, clv_result *found) {
    clv_dominant_options options = options_for(given, answer);
    clv_peeling peeling = {.ctx = ctx};
    const clv_matrix *membership;
    CLV_TRY(check_membership(ctx, answer, &membership));
    CLV_TRY(check_shift(ctx, given, answer));
    CLV_TRY(check_course(ctx, &options, answer));
    clv_dominant_set set = {.objects = CLV_NEW(ctx, int64_t, answer->n), .weights = CLV_NEW(ctx, double, answer->n)};
    clv_cluster *clusters = CLV_NEW0(ctx, clv_cluster, answer->k);
    bool room = set.objects && set.weights && clusters;
    clv_status status = room ? clv_peeling_new(ctx, input->affinity, &options, &peeling) : CLV_ENOMEM;
    peeling.stop = answer->stop;
    if (status == CLV_OK) {
        status = evaluate(&peeling, membership, answer, &set, clusters, found);
    }
    clv_peeling_free(&peeling);
    clv_dominant_set_free(ctx, &set);
    clv_free(ctx, clusters);
    return status;
}
