/* Whether a claimed result agrees with itself: every fact that it states twice, and every number that bounds another.
 * Nothing is computed from the data here; O(n + k). */
#include "affinity/kinds.h"
#include "base/options.h"
#include "engine/result.h"
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RELATIVE 1e-9
/* Numbers that a run carries along are refreshed where they differ by 1e-9 from those of the data. */
#define MOST_DRIFT 0.01

bool clv_reject(clv_verdict *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out->reason, sizeof out->reason, format, args);
    va_end(args);
    out->accepted = 0;
    return false;
}

bool clv_reject_number(clv_verdict *out, const char *what, double claimed, double found) {
    char left[CLV_NUMBER_SIZE], right[CLV_NUMBER_SIZE];
    clv_print_number(claimed, left);
    clv_print_number(found, right);
    return clv_reject(out, "%s is claimed to be %s, but the data give %s", what, left, right);
}

double clv_allowed_difference(double found, int64_t k) {
    return RELATIVE * fabs(found) + CLV_ROUNDING_A_CLUSTER * (double)k;
}

bool clv_is_within(double claimed, double found, double allowed) {
    return isfinite(claimed) && isfinite(found) && isfinite(allowed) && fabs(claimed - found) <= allowed;
}

/* --- labels, sizes, numbers of objects --- */

static bool labels_in_range(const clv_result *result, clv_verdict *out) {
    for (int64_t i = 0; i < result->n; i++) {
        if (result->labels[i] < -1 || result->labels[i] >= result->k) {
            return clv_reject(out, "label %d of object %lld is not in -1..%lld", (int)result->labels[i],
                              (long long)i + 1, (long long)result->k - 1);
        }
    }
    return true;
}

/* As many clusters as there can be, and sizes and labels of no other ones. */
static bool labels_fit(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_result *result = claim->result;
    int64_t least = method->k_meaning == CLV_K_AT_MOST ? 0 : 1;
    if (!clv_method_gives(method, "labels")) {
        return !result->labels || clv_reject(out, "labels are claimed, but %s gives none", method->name);
    }
    if (!result->labels) {
        return clv_reject(out, "no labels are claimed, but %s gives them", method->name);
    }
    if (!result->sizes) {
        return clv_reject(out, "no sizes of the %lld clusters are claimed", (long long)result->k);
    }
    if (result->k < least || result->k > result->n) {
        return clv_reject(out, "%lld clusters of %lld objects are claimed", (long long)result->k, (long long)result->n);
    }
    return labels_in_range(result, out);
}

/* --- fields --- */

/* Whether a list, or the rows or columns of a matrix, are as many as the beginning of `shape` says, where that is n or
 * k. */
static bool has_length(const clv_field_info *info, const char *shape, int64_t length, const clv_result *result,
                       clv_verdict *out) {
    const char *cross = strstr(shape, " x ");
    size_t word = cross ? (size_t)(cross - shape) : strlen(shape);
    int64_t wanted = word != 1 ? -1 : *shape == 'n' ? result->n : *shape == 'k' ? result->k : -1;
    return wanted < 0 || wanted == length ||
           clv_reject(out, "%s is claimed with %lld %s, but there must be %lld", info->name, (long long)length,
                      info->kind == CLV_FIELD_MATRIX || info->kind == CLV_FIELD_SPARSE ? "rows or columns" : "entries",
                      (long long)wanted);
}

static bool field_has_shape(const clv_field_info *info, const clv_field *field, const clv_result *result,
                            clv_verdict *out) {
    if (!field || !*info->shape) {
        return true;
    }
    const char *cross = strstr(info->shape, " x ");
    return has_length(info, info->shape, field->matrix ? field->matrix->rows : field->count, result, out) &&
           (!field->matrix || !cross || has_length(info, cross + 3, field->matrix->cols, result, out));
}

static bool counts_are_counts(const clv_field *field, clv_verdict *out) {
    for (int64_t i = 0; field && field->integers && i < field->count; i++) {
        bool below = field->integers[i] < 0;
        if (below || (double)field->integers[i] > CLV_MOST_COUNTED) {
            return clv_reject(out, "%s is claimed to be %lld, but it cannot be %s", field->name,
                              (long long)field->integers[i], below ? "below 0" : "so many");
        }
    }
    return true;
}

static bool was_cut(const clv_result *result) {
    return result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
}

static bool passes_possible(const clv_result *result, clv_verdict *out) {
    bool none = clv_result_field(result, "data_passes") && clv_result_integer(result, "data_passes", 0) < 1;
    return !none || was_cut(result) ||
           clv_reject(out, "data_passes is claimed to be 0, but no run is without a pass over the data");
}

/* Whether a warning of the claim speaks of this. */
static bool is_warned_of(const clv_result *result, const char *word) {
    const clv_field *warnings = clv_result_field(result, "warnings");
    for (int64_t i = 0; warnings && warnings->texts && i < warnings->count; i++) {
        if (strstr(warnings->texts[i], word)) {
            return true;
        }
    }
    return false;
}

/* The start that was asked for, another one of which there is a warning, or what a file held. */
static bool start_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_field *field = clv_result_field(claim->result, "start_taken");
    const char *taken = field && field->texts ? field->texts[0] : NULL, *asked = clv_claim_option(claim, "start");
    if (!taken || (asked && strcmp(taken, asked) == 0) || (!asked && clv_is_listed(method->starts, taken))) {
        return true;
    }
    if (!asked) {
        return clv_reject(out, "start_taken is claimed to be '%.80s', which is no start", taken);
    }
    return (method->start_holds && strstr(method->start_holds, taken)) ||
           (clv_is_listed(method->starts, taken) && is_warned_of(claim->result, taken)) ||
           clv_reject(out, "start_taken is claimed to be '%.80s', but the start '%.80s' was asked for", taken, asked);
}

static bool shapes_agree(const clv_result *result, const clv_method *method, clv_verdict *out) {
    for (size_t f = 0; f < method->gives_count; f++) {
        const clv_field_info *info = &method->gives[f];
        if (!field_has_shape(info, clv_result_field(result, info->name), result, out)) {
            return false;
        }
    }
    return true;
}

static bool fields_possible(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_result *result = claim->result;
    int64_t weighted = clv_result_integer(result, "weighted", 0);
    if (weighted != 0 && weighted != 1) {
        return clv_reject(out, "weighted is claimed to be %lld, but it must be 0 or 1", (long long)weighted);
    }
    if (!shapes_agree(result, method, out)) {
        return false;
    }
    for (size_t f = 0; f < method->gives_count; f++) {
        if (!counts_are_counts(clv_result_field(result, method->gives[f].name), out)) {
            return false;
        }
    }
    return passes_possible(result, out) && start_agrees(claim, method, out);
}

/* The claimed sizes against the labels, which must be in range. */
static bool sizes_agree(const clv_result *result, int64_t *counted, clv_verdict *out) {
    int64_t left_out = clv_count_labels(result->labels, result->n, result->k, counted);
    for (int64_t c = 0; c < result->k; c++) {
        if (counted[c] != result->sizes[c]) {
            return clv_reject(out, "the size of cluster %lld is claimed to be %lld, but %lld objects have that label",
                              (long long)c, (long long)result->sizes[c], (long long)counted[c]);
        }
    }
    return left_out == result->left_out ||
           clv_reject(out, "%lld objects are claimed to be left out, but %lld have the label -1",
                      (long long)result->left_out, (long long)left_out);
}

/* --- options --- */

/* An option as it was asked for, against what the result says of the same: "auto" leaves it open. */
static bool option_agrees(const clv_claim *claim, const char *name, const char *said, clv_verdict *out) {
    const char *asked = clv_claim_option(claim, name);
    if (!asked || !said[0] || strcmp(asked, "auto") == 0 || strcmp(asked, said) == 0) {
        return true;
    }
    return clv_reject(out, "the option %s is claimed to be '%.80s', but elsewhere in the claim it is '%.80s'", name,
                      asked, said);
}

/* A consensus may be one of its inputs. */
static bool is_medoid(const clv_claim *claim) {
    const char *medoid = clv_claim_option(claim, "medoid");
    return medoid && strcmp(medoid, "true") == 0;
}

/* The number of clusters is the one asked for, or at most that. */
static bool k_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    char k[32];
    const char *asked = clv_claim_option(claim, "k");
    int64_t most = 0;
    if (is_medoid(claim)) {
        return true; /* as many as that input has */
    }
    if (method->k_meaning != CLV_K_AT_MOST) {
        snprintf(k, sizeof k, "%lld", (long long)claim->result->k);
        return option_agrees(claim, "k", k, out);
    }
    bool number = asked && clv_scan_integer(asked, asked + strlen(asked), &most) && most > 0;
    return !number || claim->result->k <= most ||
           clv_reject(out, "%lld clusters are claimed, but at most %lld were asked for", (long long)claim->result->k,
                      (long long)most);
}

/* Of a consensus the solver is the method that it was found by; of a medoid the one that its cut is of. */
static bool solver_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    bool partitions = method->takes == CLV_TAKES_PARTITIONS;
    if (strcmp(claim->solver, "auto") == 0) {
        return clv_reject(out, "the claimed solver is 'auto', but a result names the solver that was used");
    }
    if (partitions && is_medoid(claim)) {
        return strcmp(claim->solver, "ncut") == 0 ||
               clv_reject(out, "the solver claimed is '%.80s', but a medoid is judged by ncut", claim->solver);
    }
    return option_agrees(claim, partitions ? "method" : "solver", claim->solver, out);
}

static bool options_agree(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    char seed[32];
    snprintf(seed, sizeof seed, "%lld", (long long)claim->result->seed);
    return k_agrees(claim, method, out) && option_agrees(claim, "seed", seed, out) &&
           solver_agrees(claim, method, out) && option_agrees(claim, "affinity", claim->kind, out) &&
           option_agrees(claim, "home", claim->home, out);
}

/* --- the course of the run --- */

static bool iterations_possible(int64_t iterations, clv_verdict *out) {
    return iterations >= 0 || clv_reject(out, "%lld iterations are claimed", (long long)iterations);
}

/* As many restarts as were asked for, unless the run was cut short. From a start that was given, one says it all; and
 * methods that find their answer part by part report on all parts as one. */
static bool restarts_counted(const clv_claim *claim, const clv_method *method, const clv_control *control,
                             clv_verdict *out) {
    const clv_result *result = claim->result;
    const char *start = clv_claim_option(claim, "start");
    int64_t count = result->restarts_count;
    bool given = start && !clv_is_listed(method->starts, start);
    bool fewer = was_cut(result) || (count == 1 && (given || method->k_meaning != CLV_K_CLUSTERS));
    return count == control->restarts || (count > 0 && count < control->restarts && fewer) ||
           clv_reject(out, "%lld restarts are claimed, but %lld were asked for", (long long)count,
                      (long long)control->restarts);
}

/* A limit ends a run only where it is set, and where it is reached; the hook may end any. */
static bool stop_possible(clv_stop stop, int64_t iterations, const clv_control *control, clv_verdict *out) {
    if (stop == CLV_TIME_LIMIT && !(control->time_limit > 0)) {
        return clv_reject(out, "the run is claimed to have been ended by its time limit, but it had none");
    }
    return stop != CLV_ITERATION_LIMIT || iterations >= control->max_iter ||
           clv_reject(out, "the run is claimed to have ended at its iteration limit of %lld, but after %lld iterations",
                      (long long)control->max_iter, (long long)iterations);
}

enum { MOST_PARTS = 1000000 };

/* An objective with a bound is a sum of shares, one of each cluster; by landmarks, similarities may lie below 0. */
static bool restart_has_objective(const clv_claim *claim, const clv_method *method, double objective) {
    const clv_result *result = claim->result;
    if (method->bound && claim->landmarks == 0) {
        return objective >= -RELATIVE && objective <= (double)result->k + RELATIVE;
    }
    return fabs(objective) <= CLV_MOST_TIMES * (1 + fabs(result->objective.value));
}

static bool restart_possible(const clv_claim *claim, const clv_method *method, const clv_control *control, int64_t r,
                             clv_verdict *out) {
    const clv_result *result = claim->result;
    const clv_restart *restart = &result->restarts[r];
    /* Else the iterations of several parts are added up: sets on ever fewer objects, models, rows of a path. */
    double parts = method->k_meaning == CLV_K_CLUSTERS ? 1 : (double)result->n * (double)control->restarts + MOST_PARTS;
    if (!iterations_possible(restart->iterations, out)) {
        return false;
    }
    if ((double)restart->iterations > parts * (double)control->max_iter) {
        return clv_reject(out, "%lld iterations are claimed of restart %lld, but max-iter is %lld",
                          (long long)restart->iterations, (long long)r + 1, (long long)control->max_iter);
    }
    bool cut = restart->stop == CLV_CANCELLED || restart->stop == CLV_TIME_LIMIT;
    if (!restart_has_objective(claim, method, restart->objective) && !(isnan(restart->objective) && cut)) {
        return clv_reject(out, "the objective claimed of restart %lld is none that a run ends with", (long long)r + 1);
    }
    if (cut && result->stop != CLV_CANCELLED && result->stop != restart->stop) {
        return clv_reject(out, "restart %lld is claimed to have stopped with '%s', but the run with '%s'",
                          (long long)r + 1, clv_stop_name(restart->stop), clv_stop_name(result->stop));
    }
    return stop_possible(restart->stop, restart->iterations, control, out);
}

/* The result is the best of its restarts, and no better than any of them can be; iterations and, unless the run was cut
 * short, the stop are of that restart. */
static bool restarts_agree(const clv_claim *claim, const clv_method *method, const clv_control *control,
                           clv_verdict *out) {
    const clv_result *result = claim->result;
    double value = result->objective.value, allowed = clv_allowed_difference(value, result->k);
    bool found = false, same = false;
    if (!restarts_counted(claim, method, control, out)) {
        return false;
    }
    for (int64_t r = 0; r < result->restarts_count; r++) {
        const clv_restart *restart = &result->restarts[r];
        bool equal = clv_is_within(restart->objective, value, allowed);
        bool better = result->objective.maximize ? restart->objective > value : restart->objective < value;
        if (!restart_possible(claim, method, control, r, out)) {
            return false;
        }
        if (better && !equal) {
            return clv_reject(out, "restart %lld is claimed to have a better objective than the result",
                              (long long)r + 1);
        }
        found = found || equal;
        same = same || (equal && restart->iterations == result->iterations &&
                        (restart->stop == result->stop || was_cut(result)));
    }
    if (!found) {
        return clv_reject(out, "the objective claimed is not that of any restart");
    }
    return same || clv_reject(out, "iterations and stop are not those claimed of the restart with this objective");
}

static bool gap_agrees(const clv_claim *claim, clv_verdict *out) {
    const clv_result *result = claim->result;
    char claimed[CLV_NUMBER_SIZE], found[CLV_NUMBER_SIZE];
    if (isnan(claim->gap_percent)) {
        return true;
    }
    if (!result->bound.name) {
        return clv_reject(out, "gap_percent is claimed without a bound");
    }
    double gap = clv_gap_percent(result);
    if (clv_is_within(claim->gap_percent, gap, RELATIVE * (1 + gap))) {
        return true;
    }
    clv_print_number(claim->gap_percent, claimed);
    clv_print_number(gap, found);
    return clv_reject(out, "gap_percent is claimed to be %s, but the objective and the bound claimed give %s", claimed,
                      found);
}

static bool bound_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_result *result = claim->result;
    double beyond = result->bound.value - result->objective.value;
    if (!result->bound.name) {
        return gap_agrees(claim, out);
    }
    if (!method->bound) {
        return clv_reject(out, "a bound is claimed, but %s has none", method->name);
    }
    if (strcmp(result->bound.name, method->bound) != 0) {
        return clv_reject(out, "the bound is claimed to be '%.80s', but that of %s is '%s'", result->bound.name,
                          method->name, method->bound);
    }
    beyond = result->objective.maximize ? -beyond : beyond;
    if (!(beyond <= clv_allowed_difference(result->objective.value, result->k))) {
        return clv_reject(out, "the bound claimed lies %s the objective",
                          result->objective.maximize ? "below" : "above");
    }
    return gap_agrees(claim, out);
}

static bool course_agrees(const clv_claim *claim, const clv_method *method, const clv_control *control,
                          clv_verdict *out) {
    const clv_result *result = claim->result;
    const clv_certificate *certificate = &result->certificate;
    if (!iterations_possible(result->iterations, out)) {
        return false;
    }
    if (result->drift < 0 || result->drift > MOST_DRIFT) { /* a share of the objective; NaN is not said */
        return clv_reject(out, "the drift claimed lies outside 0..%g, which is more than rounding explains",
                          MOST_DRIFT);
    }
    if (isnan(certificate->value) && !was_cut(result)) {
        return clv_reject(out, "there is no certificate, but the run is not claimed to have been cut short");
    }
    if (certificate->holds != (certificate->value <= certificate->tolerance)) {
        return clv_reject(out, "the certificate is claimed %s, which contradicts its own value and tolerance",
                          certificate->holds ? "to hold" : "not to hold");
    }
    return restarts_agree(claim, method, control, out) &&
           stop_possible(result->stop, result->iterations, control, out) && bound_agrees(claim, method, out);
}

/* Whether the words of a claim are those for such a choice of this kind. */
static bool is_reason(const clv_claim *claim, clv_affinity_choice choice, clv_affinity_kind kind) {
    const double *a = claim->agreement;
    clv_affinity_info info = {
        .kind = kind, .choice = (int)choice, .chosen_on = claim->chosen_on, .agreement = {a[0], a[1], a[2]}};
    char reason[256];
    clv_affinity_reason(&info, reason, sizeof reason);
    return strcmp(reason, claim->reason) == 0 && strcmp(clv_affinity_kind_name(kind), claim->kind) == 0;
}

/* A choice follows from its own figures, and is told in the words for these; without words "auto" is gaussian. */
static bool choice_agrees(const clv_claim *claim, clv_verdict *out) {
    const char *asked = clv_claim_option(claim, "affinity");
    const double *a = claim->agreement;
    bool compared = claim->chosen_on > 0, none = isnan(a[0]) && isnan(a[1]) && isnan(a[2]);
    bool possible = fabs(a[0]) <= 1 && fabs(a[1]) <= 1 && fabs(a[2]) <= 1;
    if (claim->chosen_on > claim->result->n || (compared ? !possible : !none)) {
        return clv_reject(out, "the agreement of candidates for the affinity is none that they can have");
    }
    if (asked && strcmp(asked, "auto") == 0 && !claim->reason[0] && strcmp(claim->kind, "gaussian") != 0) {
        return clv_reject(out, "the option affinity is claimed to be auto, but no reason is given for %.20s",
                          claim->kind);
    }
    return (compared ? is_reason(claim, CLV_CHOICE_COMPARED, clv_agreed_kind(a))
                     : !claim->reason[0] || is_reason(claim, CLV_CHOICE_NO_ROOM, CLV_AFFINITY_LOCAL_KNN) ||
                           is_reason(claim, CLV_CHOICE_FEW_OBJECTS, CLV_AFFINITY_GAUSSIAN) ||
                           is_reason(claim, CLV_CHOICE_GIVEN, CLV_AFFINITY_GAUSSIAN)) ||
           clv_reject(out, "the reason claimed for the affinity %.20s is not that of its figures", claim->kind);
}

static bool affinity_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    bool claimed = claim->kind[0] || claim->home[0] || !isnan(claim->gamma) || !isnan(claim->recall) ||
                   claim->landmarks || !isnan(claim->trace_error) || !isnan(claim->sampled_error) || claim->bytes ||
                   claim->nonzeros;
    return method->takes == CLV_TAKES_AFFINITY || !claimed ||
           clv_reject(out, "an affinity is claimed, but %s works on the points themselves", method->name);
}

static bool reason_agrees(const clv_claim *claim, clv_verdict *out) {
    return !claim->other_reason ||
           clv_reject(out, "k_reason is not about k = %lld, which is claimed", (long long)claim->result->k);
}

/* What else speaks against a claim is for those who verify it. */
bool clv_claim_has_shape(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    bool lists = claim->result->labels && claim->result->sizes;
    if (clv_method_gives(method, "labels") && !lists && claim->doubt[0]) {
        return clv_reject(out, "%s", claim->doubt);
    }
    return labels_fit(claim, method, out) && shapes_agree(claim->result, method, out);
}

/* The same of a claim about so many objects against which nothing else speaks. */
static bool shape_agrees(const clv_claim *claim, const clv_method *method, int64_t objects, clv_verdict *out) {
    if (claim->doubt[0]) {
        return clv_reject(out, "%s", claim->doubt);
    }
    if (claim->result->n != objects) {
        return clv_reject(out, "the claim is about %lld objects, but the data have %lld", (long long)claim->result->n,
                          (long long)objects);
    }
    return labels_fit(claim, method, out);
}

clv_status clv_claim_check(clv_context *ctx, const clv_claim *claim, const clv_method *method,
                           const clv_control *control, int64_t objects, clv_verdict *out) {
    bool agrees = shape_agrees(claim, method, objects, out) && options_agree(claim, method, out) &&
                  affinity_agrees(claim, method, out) && choice_agrees(claim, out) && reason_agrees(claim, out) &&
                  course_agrees(claim, method, control, out) && fields_possible(claim, method, out);
    if (!agrees || !claim->result->labels) {
        return CLV_OK;
    }
    int64_t *counted = CLV_NEW(ctx, int64_t, claim->result->k);
    if (!counted) {
        return CLV_ENOMEM;
    }
    sizes_agree(claim->result, counted, out);
    clv_free(ctx, counted);
    return CLV_OK;
}
