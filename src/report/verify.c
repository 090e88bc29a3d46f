/* Verification: scale and affinity are rebuilt from the raw data as the claim says, objective and certificate are
 * recomputed, and everything is compared. A false claim is a verdict; only what prevents a verdict is a failure.
 *
 * The claim has no say in how closely its numbers are looked at. An affinity of floats is rebuilt of floats; all other
 * homes hold the same doubles, so any of them serves for any other. */
#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "base/options.h"
#include "io/io.h"
#include "linalg/linalg.h"
#include "methods/methods.h"
#include "report/report.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How far a claimed number may lie from the recomputed one. */
#define RELATIVE 1e-9
/* So near to the tolerance, per cluster, rounding decides. */
#define UNDECIDED_PER_CLUSTER 1e-14

/* Return from the calling function when `call` fails, or when it has rejected the claim. */
#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        CLV_TRY(call);                                                                                                 \
        if (out->reason[0]) {                                                                                          \
            return CLV_OK;                                                                                             \
        }                                                                                                              \
    } while (0)

/* What fails because of `cause` fails because of the claim. */
static clv_status blame(clv_context *ctx, clv_status status, clv_status cause, clv_verdict *out) {
    if (status == cause) {
        clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        return CLV_OK;
    }
    return status;
}

/* --- the claim's own words --- */

static size_t matrix_bytes(const clv_matrix *m) {
    int64_t stored = clv_is_sparse(m) ? m->start[m->rows] - m->start[0] : m->rows * m->cols;
    size_t number = clv_scalar_bytes(m->scalar) + (clv_is_sparse(m) ? sizeof *m->index : 0);
    return (size_t)stored * number + (clv_is_sparse(m) ? (size_t)(m->rows + 1) * sizeof *m->start : 0);
}

/* What is claimed of how the columns were scaled, if anything is, against what the data give. */
static clv_status check_scaling(const clv_claim *claim, const clv_data *scaled, clv_verdict *out) {
    int64_t cols = scaled->shift ? scaled->matrix.cols : 0;
    if (claim->scaled > 0 && claim->scaled != cols) {
        clv_reject(out, "%lld columns are claimed to be scaled, but the data have %lld such columns",
                   (long long)claim->scaled, (long long)cols);
        return CLV_OK;
    }
    for (int64_t j = 0; j < claim->scaled; j++) {
        double shift = scaled->shift[j], factor = scaled->factor[j],
               spread = factor != 0 ? 1 / fabs(factor) : fabs(shift);
        if (!clv_is_within(claim->shift[j], shift, RELATIVE * (fabs(shift) + spread))) {
            clv_reject_number(out, "the shift of a column", claim->shift[j], shift);
            return CLV_OK;
        }
        if (!clv_is_within(claim->factor[j], factor, RELATIVE * fabs(factor))) {
            clv_reject_number(out, "the factor of a column", claim->factor[j], factor);
            return CLV_OK;
        }
    }
    return CLV_OK;
}

static clv_status scale_as_claimed(clv_context *ctx, const clv_claim *claim, const clv_matrix *points, int64_t memory,
                                   clv_data **out, clv_verdict *verdict) {
    static const clv_option option = {.name = "scale", .kind = CLV_OPTION_CHOICE, .choices = CLV_SCALE_NAMES};
    static const clv_option_table table = {.title = "points", .options = &option, .count = 1};
    const char *asked = clv_claim_option(claim, "scale");
    int scale = CLV_SCALE_NONE;
    if (asked) {
        CLV_TRY(blame(ctx, clv_options_set(ctx, &table, &scale, "scale", asked), CLV_EUSAGE, verdict));
    }
    if (scale == CLV_SCALE_NONE && claim->scaled > 0) {
        clv_reject(verdict, "the columns are claimed to be scaled, and the data not to be");
    }
    if (scale == CLV_SCALE_NONE || verdict->reason[0]) {
        return CLV_OK;
    }
    size_t held, peak, copy = matrix_bytes(points);
    clv_context_memory(ctx, &held, &peak);
    if (memory > 0 && held + copy >= (size_t)memory) {
        return clv_fail(ctx, CLV_ENOMEM,
                        "the memory budget of %lld bytes is too small: a copy of the data, scaled, needs %zu",
                        (long long)memory, held + copy);
    }
    CLV_TRY(clv_data_copy(ctx, "the data", points, out));
    CLV_TRY(blame(ctx, clv_data_scale(*out, (clv_scale)scale), CLV_EUSAGE, verdict));
    return verdict->reason[0] ? CLV_OK : check_scaling(claim, *out, verdict);
}

/* Options of the command, which say how the data were read and what was done with them. */
static bool is_of_the_command(const char *name) {
    static const char names[] =
        "scale|header|label-column|columns|drop|id-column|missing|categories|truth|memory|sample-weights|soft";
    return clv_is_listed(names, name);
}

clv_status clv_claimed_options(clv_context *ctx, const clv_claim *claim, const clv_method *method, int64_t threads,
                               clv_options_room *options, clv_verdict *out) {
    clv_method_defaults(method, options->bytes, method->options->size);
    for (int64_t i = 0; i < claim->options_count; i++) {
        const clv_claim_entry *entry = &claim->options[i];
        bool own = clv_options_find(method->options, entry->name) != NULL;
        const clv_option_table *table = own ? method->options : clv_control_table();
        bool known = clv_options_find(table, entry->name) != NULL;
        if (known && entry->text) {
            STEP(blame(ctx, clv_options_set(ctx, table, options->bytes, entry->name, entry->text), CLV_EUSAGE, out));
        } else if (!known && !clv_options_find(clv_affinity_table(), entry->name) && !is_of_the_command(entry->name)) {
            clv_reject(out, "an option \"%.80s\" is claimed, which %s does not have", entry->name, method->name);
            return CLV_OK;
        }
    }
    if (clv_options_find(method->options, "solver")) {
        STEP(blame(ctx, clv_options_set(ctx, method->options, options->bytes, "solver", claim->solver), CLV_EUSAGE,
                   out));
    }
    ((clv_control *)(void *)options->bytes)->threads = threads;
    return CLV_OK;
}

/* Whether eigenvalues are computed again is for the caller to say, not for the claim. */
static clv_status decide_bound(clv_context *ctx, const clv_claim *claim, const clv_method *method, void *options) {
    bool there = clv_result_field(claim->result, "eigenvalues") || clv_result_field(claim->result, "shift");
    bool again = there && !claim->without_bound;
    return clv_options_find(method->options, "bound")
               ? clv_options_set(ctx, method->options, options, "bound", again ? "yes" : "no")
               : CLV_OK;
}

clv_status clv_claimed_affinity(clv_context *ctx, const clv_claim *claim, clv_affinity_options *how, clv_verdict *out) {
    const clv_option_table *table = clv_affinity_table();
    clv_affinity_defaults(how);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->options[i].name, *value = clv_claim_option(claim, name);
        if (value) {
            STEP(blame(ctx, clv_options_set(ctx, table, how, name, value), CLV_EUSAGE, out));
        }
    }
    how->home = CLV_HOME_AUTO; /* this, and in how much memory, is decided here */
    how->memory = how->device_memory = 0;
    if (!claim->kind[0] || !claim->home[0]) {
        clv_reject(out, "the claim does not name the kind and the home of its affinity");
        return CLV_OK;
    }
    STEP(blame(ctx, clv_options_set(ctx, clv_affinity_table(), how, "affinity", claim->kind), CLV_EUSAGE, out));
    if (!isnan(claim->gamma) && !isnan(how->gamma) && claim->gamma != how->gamma) {
        clv_reject(out, "the option gamma and the gamma of the affinity are claimed to be different numbers");
    }
    if (!clv_claim_option(claim, "gamma")) { /* nothing is said of where it comes from */
        how->gamma = claim->gamma;
    }
    return CLV_OK;
}

/* How many there are, and what they miss: to the digits that the factor of nearly dependent landmarks keeps. */
static bool landmarks_agree(const clv_claim *claim, const clv_affinity_info *found, clv_verdict *out) {
    const double slack = 1e-6;
    if (claim->landmarks != found->landmarks) {
        return clv_reject_number(out, "affinity.landmarks", (double)claim->landmarks, (double)found->landmarks);
    }
    if (found->landmarks == 0) {
        return (isnan(claim->trace_error) && isnan(claim->sampled_error)) ||
               clv_reject(out, "an error of landmarks is claimed, but there are none");
    }
    if (!clv_is_within(claim->trace_error, found->trace_error, slack * found->trace_error + RELATIVE)) {
        return clv_reject_number(out, "affinity.trace_error", claim->trace_error, found->trace_error);
    }
    return clv_is_within(claim->sampled_error, found->sampled_error, slack * found->sampled_error + RELATIVE) ||
           clv_reject_number(out, "affinity.sampled_error", claim->sampled_error, found->sampled_error);
}

/* What is claimed of the affinity, against the one that the data give; its size, where that has another home, against
 * what is planned of the home claimed. No plan knows how many entries a sparse home will have. */
static bool affinity_agrees(const clv_claim *claim, const clv_affinity_info *found, const clv_affinity_info *planned,
                            clv_verdict *out) {
    bool none = isnan(claim->gamma) && isnan(found->gamma), same = clv_affinity_lives_in(found, claim->home);
    int64_t nonzeros = same ? found->nonzeros : planned->nonzeros;
    if (!none && !clv_is_within(claim->gamma, found->gamma, RELATIVE * fabs(found->gamma))) {
        return clv_reject_number(out, "gamma", claim->gamma, found->gamma);
    }
    bool exact = isnan(claim->recall) && isnan(found->recall);
    if (!exact && !clv_is_within(claim->recall, found->recall, RELATIVE)) {
        return clv_reject_number(out, "affinity.recall", claim->recall, found->recall);
    }
    if (!landmarks_agree(claim, found, out)) {
        return false;
    }
    if (same && claim->nonzeros != found->nonzeros && clv_kind_of(found->kind)->is_graph) {
        return clv_reject(
            out,
            "affinity.nonzeros is claimed to be %lld, but the data give %lld with the instruction set %s; "
            "where points are equally far, up to rounding, another set may choose other neighbors",
            (long long)claim->nonzeros, (long long)found->nonzeros, clv_isa());
    }
    if ((same || !planned->sparse) && claim->nonzeros != nonzeros) {
        return clv_reject_number(out, "affinity.nonzeros", (double)claim->nonzeros, (double)nonzeros);
    }
    size_t bytes = same ? found->bytes : planned->bytes; /* builds of the library differ a little, plans more */
    return clv_is_within((double)claim->bytes, (double)bytes, 4096 + (same ? 0.01 : 0.5) * (double)bytes) ||
           clv_reject_number(out, "affinity.bytes", (double)claim->bytes, (double)bytes);
}

/* --- the numbers --- */

/* What may differ: by rounding between two evaluations, in absolute terms or in units of the objective. An evaluation
 * whose numbers keep fewer digits says so by a field "rounding", one whose certificate does by "gap_rounding", and one
 * whose tolerance, a share of another number, does by "tolerance_rounding". A claim may be worse than the data by
 * "gap_noise": where rounding leaves a certificate no digits, to claim a bad one is not to claim too much. */
typedef struct allowance {
    double objective, certificate, tolerance;
    double worse;     /* the certificate by so much more, where the claim is the worse of the two */
    double undecided; /* so near to the tolerance rounding decides whether the certificate holds */
} allowance;

static allowance allowed(const clv_method *method, const clv_result *found) {
    double unit = method->relative ? fabs(found->objective.value) : 1;
    double far = fmax(fabs(found->certificate.value), unit); /* a gap may be many times F */
    double rounding = clv_result_real(found, "rounding", 0), gap = rounding + clv_result_real(found, "gap_rounding", 0);
    double least = method->relative ? RELATIVE * unit : clv_allowed_difference(found->objective.value, found->k);
    return (allowance){
        .objective = least + rounding,
        .certificate = RELATIVE * far + gap,
        .worse = clv_result_real(found, "gap_noise", 0),
        .tolerance = (method->relative ? 10 * RELATIVE * fabs(found->certificate.tolerance) + DBL_EPSILON * unit : 0) +
                     clv_result_real(found, "tolerance_rounding", 0),
        .undecided = UNDECIDED_PER_CLUSTER * fmax((double)found->k, 1) * unit + gap};
}

static bool certificate_agrees(const clv_certificate *claimed, const clv_certificate *found, const allowance *most,
                               clv_verdict *out) {
    if (!clv_is_within(claimed->tolerance, found->tolerance, most->tolerance)) {
        return clv_reject_number(out, "the tolerance of the certificate", claimed->tolerance, found->tolerance);
    }
    if (isnan(claimed->value)) {
        return true; /* a cancelled run claims none */
    }
    double more = claimed->value > found->value && !claimed->holds ? most->worse : 0;
    if (!clv_is_within(claimed->value, found->value, most->certificate + more)) {
        return clv_reject_number(out, found->name, claimed->value, found->value);
    }
    double undecided = most->undecided + more;
    bool near =
        fabs(claimed->value - claimed->tolerance) <= undecided && fabs(found->value - found->tolerance) <= undecided;
    if (claimed->holds != found->holds && !near) {
        char value[CLV_NUMBER_SIZE];
        clv_print_number(found->value, value);
        return clv_reject(out, "the certificate is claimed %s, but the data give %s = %s",
                          claimed->holds ? "to hold" : "not to hold", found->name, value);
    }
    return true;
}

/* A run of a method whose stopping rule is its certificate, which an evaluation says by a field "certified", has
 * converged only where that holds; rounding may decide otherwise. */
static bool stop_agrees(const clv_result *claimed, const clv_result *found, const allowance *most, clv_verdict *out) {
    double beyond = claimed->certificate.value - claimed->certificate.tolerance;
    return claimed->stop != CLV_CONVERGED || !clv_result_integer(found, "certified", 0) || beyond <= most->undecided ||
           clv_reject(out, "the run is claimed to have converged, but its certificate does not hold");
}

/* The claimed bound is no better than what the evaluation makes of the claim. */
static bool bound_follows(const clv_result *claimed, const clv_result *found, clv_verdict *out) {
    if (!claimed->bound.name) {
        return true;
    }
    double slack = RELATIVE * (1 + fabs(found->bound.value));
    bool low = found->objective.maximize ? claimed->bound.value >= found->bound.value - slack
                                         : claimed->bound.value <= found->bound.value + slack;
    return (found->bound.name && low) ||
           clv_reject(out, "the bound claimed is better than the other fields of the claim allow");
}

static bool names_agree(const clv_claim *claim, const clv_result *found, clv_verdict *out) {
    const struct {
        const char *what, *claimed, *found;
    } pairs[] = {
        {"objective", claim->objective_name, found->objective.name},
        {"sense of the objective", claim->sense, found->objective.maximize ? "max" : "min"},
        {"certificate", claim->certificate_name, found->certificate.name},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(pairs[i].claimed, pairs[i].found) != 0) {
            return clv_reject(out, "the %s is claimed to be '%.80s', but that of %s is '%s'", pairs[i].what,
                              pairs[i].claimed, claim->method, pairs[i].found);
        }
    }
    return true;
}

/* --- fields that follow from the answer --- */

static double slack_of(const clv_field_info *info, double number, double objective) {
    double unit = info->unit == CLV_UNIT_ONE ? 1 + fabs(number) : info->unit == CLV_UNIT_OWN ? fabs(number) : objective;
    return info->slack * fabs(unit);
}

/* What rounding alone may make of the entries of a list, beyond the slack of the field: an evaluation says it by a list
 * of the same name and "_rounding". NULL: nothing. */
static const double *rounding_of(const clv_result *found, const clv_field *fresh) {
    char name[96];
    int64_t count;
    snprintf(name, sizeof name, "%s_rounding", fresh->name);
    const double *rounding = clv_result_reals(found, name, &count);
    return rounding && count == fresh->count ? rounding : NULL;
}

static bool entry_agrees(const clv_field_info *info, const clv_field *claimed, const clv_result *answer,
                         const clv_result *found, const clv_field *fresh, int64_t i, double rounding,
                         clv_verdict *out) {
    char what[96];
    if (claimed->is_list) {
        snprintf(what, sizeof what, "entry %lld of %s", (long long)i + 1, info->name);
    } else {
        snprintf(what, sizeof what, "%s", info->name);
    }
    if (claimed->texts) {
        return strcmp(claimed->texts[i], fresh->texts[i]) == 0 ||
               clv_reject(out, "%s is claimed to be '%.80s', but the data give '%.80s'", what, claimed->texts[i],
                          fresh->texts[i]);
    }
    double left = claimed->reals ? claimed->reals[i] : (double)claimed->integers[i];
    double right = fresh->reals ? fresh->reals[i] : (double)fresh->integers[i];
    if (isnan(left) && answer->stop == CLV_CANCELLED) {
        return true; /* a cancelled run does not know all of it */
    }
    return clv_is_within(left, right, slack_of(info, right, found->objective.value) + rounding) ||
           clv_reject_number(out, what, left, right);
}

static double matrix_entry(const clv_matrix *m, int64_t i, int64_t j) {
    if (clv_is_sparse(m)) {
        return clv_csr_entry(m, i, j);
    }
    int64_t at = i * m->cols + j;
    return m->scalar == CLV_F32 ? (double)((const float *)m->values)[at] : ((const double *)m->values)[at];
}

static bool matrix_agrees(const clv_field_info *info, const clv_matrix *claimed, const clv_matrix *fresh,
                          double objective, clv_verdict *out) {
    char what[96];
    if (claimed->rows != fresh->rows || claimed->cols != fresh->cols) {
        return clv_reject(out, "%s is claimed to be %lld x %lld, but the data give %lld x %lld", info->name,
                          (long long)claimed->rows, (long long)claimed->cols, (long long)fresh->rows,
                          (long long)fresh->cols);
    }
    for (int64_t i = 0; i < fresh->rows; i++) {
        for (int64_t j = 0; j < fresh->cols; j++) {
            double left = matrix_entry(claimed, i, j), right = matrix_entry(fresh, i, j);
            if (!clv_is_within(left, right, slack_of(info, right, objective))) {
                snprintf(what, sizeof what, "row %lld, column %lld of %s", (long long)i + 1, (long long)j + 1,
                         info->name);
                return clv_reject_number(out, what, left, right);
            }
        }
    }
    return true;
}

static bool field_agrees(const clv_field_info *info, const clv_result *answer, const clv_result *found,
                         clv_verdict *out) {
    const clv_field *claimed = clv_result_field(answer, info->name), *fresh = clv_result_field(found, info->name);
    bool nothing = !fresh || fresh->count == 0 || answer->stop == CLV_CANCELLED;
    if (info->role != CLV_DERIVED || (!claimed && nothing)) {
        return true;
    }
    if (!claimed) {
        return clv_reject(out, "%s is not claimed, but the data give it", info->name);
    }
    if (!fresh || claimed->kind != fresh->kind || claimed->count != fresh->count) {
        return clv_reject(out, "%s is claimed with %lld entries, but the data give %lld", info->name,
                          (long long)claimed->count, fresh ? (long long)fresh->count : 0LL);
    }
    if (claimed->matrix) {
        return matrix_agrees(info, claimed->matrix, fresh->matrix, found->objective.value, out);
    }
    const double *rounding = rounding_of(found, fresh);
    for (int64_t i = 0; i < claimed->count; i++) {
        if (!entry_agrees(info, claimed, answer, found, fresh, i, rounding ? rounding[i] : 0, out)) {
            return false;
        }
    }
    return true;
}

static bool fields_agree(const clv_method *method, const clv_result *answer, const clv_result *found,
                         clv_verdict *out) {
    for (size_t f = 0; f < method->gives_count; f++) {
        if (!field_agrees(&method->gives[f], answer, found, out)) {
            return false;
        }
    }
    return true;
}

/* --- the verdict --- */

static void accept(const clv_certificate *claimed, const clv_result *found, clv_verdict *out) {
    char value[CLV_NUMBER_SIZE], gain[CLV_NUMBER_SIZE];
    clv_print_number(found->objective.value, value);
    clv_print_number(found->certificate.value, gain);
    out->accepted = 1;
    snprintf(out->reason, sizeof out->reason, "the data give %s = %s and %s = %s, %s", found->objective.name, value,
             found->certificate.name, gain,
             isnan(claimed->value)                        ? "and no certificate was claimed"
             : claimed->holds == found->certificate.holds ? "as claimed"
                                                          : "which is the claim up to rounding");
}

static void compare(const clv_method *method, const clv_claim *claim, const clv_result *found, clv_verdict *out) {
    const clv_result *claimed = claim->result;
    allowance most = allowed(method, found);
    out->objective = found->objective;
    out->certificate = found->certificate;
    if (!names_agree(claim, found, out)) {
        return;
    }
    if (!clv_is_within(claimed->objective.value, found->objective.value, most.objective)) {
        clv_reject_number(out, found->objective.name, claimed->objective.value, found->objective.value);
    } else if (certificate_agrees(&claimed->certificate, &found->certificate, &most, out) &&
               stop_agrees(claimed, found, &most, out) && bound_follows(claimed, found, out) &&
               fields_agree(method, claimed, found, out)) {
        accept(&claimed->certificate, found, out);
    }
}

static clv_status judge(clv_context *ctx, const clv_method *method, const clv_claim *claim, const clv_input *input,
                        const void *options, clv_verdict *out) {
    clv_result *found = NULL;
    /* An answer that the method cannot have given is bad data to it. */
    clv_status status = clv_evaluate(ctx, method, input, options, claim->result, &found);
    STEP(blame(ctx, status == CLV_ENUMERIC ? CLV_EDATA : status, CLV_EDATA, out));
    compare(method, claim, found, out);
    const clv_field *unseen = clv_result_field(found, "unseen");
    snprintf(claim->unseen, CLV_UNSEEN, "%s", unseen && unseen->texts ? unseen->texts[0] : "");
    clv_result_free(found);
    return CLV_OK;
}

/* What is left of the budget for the affinity. */
static clv_status take_budget(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                              int64_t memory, int64_t *left) {
    clv_options_room one;
    size_t held = 0, peak;
    memcpy(&one, options, method->options->size);
    ((clv_control *)(void *)one.bytes)->threads = 1;
    size_t needed = clv_memory(method, input, one.bytes);
    if (method->takes != CLV_TAKES_AFFINITY) { /* else the affinity counts what is held already */
        clv_context_memory(ctx, &held, &peak);
    }
    if (memory > 0 && held + needed >= (size_t)memory) {
        return clv_fail(ctx, CLV_ENOMEM, "the memory budget of %lld bytes is too small: evaluating %s needs %zu",
                        (long long)memory, method->name, held + needed);
    }
    *left = memory > 0 ? memory - (int64_t)needed : 0;
    return CLV_OK;
}

static clv_status judge_with_affinity(clv_context *ctx, const clv_method *method, const clv_claim *claim,
                                      clv_input *input, const void *options, int64_t memory, clv_verdict *out) {
    const clv_control *control = options;
    clv_affinity_options how;
    clv_affinity_info info, planned;
    clv_affinity *a = NULL;
    STEP(clv_claimed_affinity(ctx, claim, &how, out));
    how.memory = memory;
    how.threads = control->threads;
    STEP(blame(ctx, clv_suit_affinity(ctx, method, input->points, options, &how), CLV_EUSAGE, out));
    STEP(blame(ctx, clv_affinity_rehome(ctx, input->points, claim->home, &how, &planned), CLV_EUSAGE, out));
    clv_affinity_ask(&how, claim->verified_in);
    how.device_memory = claim->device_memory;
    CLV_TRY(clv_affinity_build(ctx, input->points, &how, &a));
    input->affinity = a;
    clv_affinity_describe(a, &info);
    clv_status status =
        affinity_agrees(claim, &info, &planned, out) ? judge(ctx, method, claim, input, options, out) : CLV_OK;
    clv_affinity_free(a);
    return status;
}

static clv_status check_data(clv_context *ctx, const clv_method *method, const clv_claim *claim,
                             const clv_input *data) {
    bool weighted = clv_result_integer(claim->result, "weighted", 0) != 0, pairs = method->takes == CLV_TAKES_SAMPLES;
    bool weighs = method->abilities & CLV_WEIGHS_OBJECTS;
    if (method->takes == CLV_TAKES_PARTITIONS) {
        return data->points ? CLV_OK : clv_fail(ctx, CLV_EUSAGE, "there are no inputs to verify a consensus by");
    }
    if (pairs != (data->targets != NULL) || (data->weights && !weighs)) {
        return clv_fail(ctx, CLV_EUSAGE, "to verify a result of %s, give %s of data", method->name,
                        pairs ? "two files" : "one file");
    }
    if (weighted != (data->weights != NULL)) {
        return clv_fail(ctx, CLV_EUSAGE,
                        weighted ? "the result was found with sample weights: give them as the last file"
                                 : "the result was found without sample weights: only its data are needed");
    }
    return data->points ? CLV_OK : clv_fail(ctx, CLV_EUSAGE, "there are no data to verify a result by");
}

/* A rough result has labels, and claims nothing of them. */
static clv_status check_claims(clv_context *ctx, const clv_result *result) {
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
    if (cut && isnan(result->objective.value) && isnan(result->certificate.value)) {
        return clv_fail(ctx, CLV_EDATA,
                        "there is nothing to verify: the run ended ('%s') before its labels were evaluated, and claims "
                        "neither an objective nor a certificate",
                        clv_stop_name(result->stop));
    }
    return CLV_OK;
}

static clv_status judge_on(clv_context *ctx, const clv_method *method, const clv_claim *claim, const clv_input *data,
                           const void *options, int64_t memory, clv_data **scaled, clv_verdict *out) {
    clv_affinity_info plan = {.n = data->points->rows};
    clv_input input = {.points = data->points,
                       .targets = data->targets,
                       .weights = data->weights,
                       .plan = &plan,
                       .widths = data->widths};
    int64_t left = 0;
    STEP(scale_as_claimed(ctx, claim, data->points, memory, scaled, out));
    input.points = *scaled ? clv_data_matrix(*scaled) : data->points;
    if (!clv_claim_is_of(claim, input.points)) {
        clv_reject(out, "the points are not those that were clustered: their fingerprint is another one");
        return CLV_OK;
    }
    CLV_TRY(take_budget(ctx, method, &input, options, memory, &left));
    return method->takes == CLV_TAKES_AFFINITY ? judge_with_affinity(ctx, method, claim, &input, options, left, out)
                                               : judge(ctx, method, claim, &input, options, out);
}

/* A consensus claims what the method claims that it was found by, in fields of its own. */
static clv_method rules_of(const clv_method *method, const clv_claim *claim) {
    clv_method rules = *method;
    const clv_method *core = method->takes == CLV_TAKES_PARTITIONS ? clv_method_find(claim->solver) : NULL;
    if (core) {
        rules.k_meaning = core->k_meaning;
        rules.bound = core->bound;
        rules.relative = core->relative;
        rules.starts = core->starts;
    }
    return rules;
}

clv_status clv_claim_verify_by(clv_context *ctx, const clv_method *named, const clv_claim *claim, const clv_input *data,
                               int64_t memory, int64_t threads, clv_verdict *out) {
    const clv_method rules = rules_of(named, claim), *method = &rules;
    clv_options_room options;
    clv_data *scaled = NULL;
    *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
    if (memory < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "memory = %lld is not a number of bytes", (long long)memory);
    }
    clv_method_defaults(method, options.bytes, method->options->size);
    ((clv_control *)(void *)options.bytes)->threads = threads;
    CLV_TRY(clv_options_check(ctx, clv_control_table(), options.bytes)); /* what the caller says is not the claim's */
    CLV_TRY(check_data(ctx, method, claim, data));
    CLV_TRY(check_claims(ctx, claim->result));
    STEP(clv_claimed_options(ctx, claim, method, threads, &options, out));
    STEP(blame(ctx, clv_method_check(ctx, method, options.bytes), CLV_EUSAGE, out));
    CLV_TRY(decide_bound(ctx, claim, method, options.bytes));
    int64_t objects = method->objects ? method->objects(data->points, options.bytes) : data->points->rows;
    STEP(clv_claim_check(ctx, claim, method, (const clv_control *)(void *)options.bytes, objects, out));
    clv_status status = judge_on(ctx, method, claim, data, options.bytes, memory, &scaled, out);
    clv_data_free(scaled);
    return status;
}

void clv_claim_set_home(clv_claim *claim, clv_home home) {
    claim->verified_in = home;
}

void clv_claim_set_device_memory(clv_claim *claim, int64_t bytes) {
    claim->device_memory = bytes;
}

void clv_claim_set_bound(clv_claim *claim, int again) {
    claim->without_bound = !again;
}

clv_status clv_claim_verify(clv_context *ctx, const clv_claim *claim, const clv_input *data, int64_t memory,
                            int64_t threads, clv_verdict *out) {
    CLV_NEED(ctx, claim);
    CLV_NEED(ctx, data);
    const clv_method *method = clv_claim_method(claim);
    if (!method) {
        *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
        return clv_fail(ctx, CLV_EDATA, "results of the method '%.80s' cannot be verified", claim->method);
    }
    return clv_claim_verify_by(ctx, method, claim, data, memory, threads, out);
}
