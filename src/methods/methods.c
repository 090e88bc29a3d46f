/* The list of methods, and what is common to all of them: options of whatever size a program gave them, input that a
 * method can work on, and a result that says who made it. */
#include "methods/methods.h"

#include "affinity/affinity.h"
#include "base/ranks.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const clv_method *const methods[] = {&clv_dominant_method, &clv_symnmf_method,   &clv_ncut_method,
                                            &clv_kpalm_method,    &clv_ksupport_method, &clv_pursuit_method,
                                            &clv_consensus_method};

const clv_method *const *clv_methods(size_t *count) {
    *count = CLV_COUNT(methods);
    return methods;
}

const clv_method *clv_method_find(const char *name) {
    for (size_t i = 0; name && i < CLV_COUNT(methods); i++) {
        if (strcmp(methods[i]->name, name) == 0) {
            return methods[i];
        }
    }
    return NULL;
}

const clv_field_info *clv_method_gives(const clv_method *method, const char *name) {
    for (size_t i = 0; i < method->gives_count; i++) {
        if (strcmp(method->gives[i].name, name) == 0) {
            return &method->gives[i];
        }
    }
    return NULL;
}

const char *clv_certificate_sentence(const clv_method *method, const clv_certificate *certificate) {
    if (!isfinite(certificate->value)) {
        return "The run was ended before the certificate could be computed.";
    }
    return certificate->holds ? method->holds : method->open;
}

/* --- options --- */

void clv_method_defaults(const clv_method *method, void *options, size_t size) {
    clv_options_init(method->options, options, size);
    clv_options_defaults(clv_control_table(), options);
}

clv_status clv_method_adopt(clv_context *ctx, const clv_method *method, const void *options, clv_options_room *out) {
    clv_control *control = (clv_control *)(void *)out->bytes;
    bool whole = method && method->options;
    if (!whole || !options) {
        return clv_fail(ctx, CLV_EUSAGE, "there %s", whole ? "are no options" : "is no such method");
    }
    if (method->options->size < sizeof *control || method->options->size > sizeof out->bytes) {
        return clv_fail(ctx, CLV_EUSAGE, "the options of %s have %zu bytes: the library has room for %zu to %zu",
                        method->name, method->options->size, sizeof *control, sizeof out->bytes);
    }
    CLV_TRY(clv_options_adopt(ctx, method->options, options, out->bytes));
    if (((const clv_control *)options)->size < sizeof *control) {
        return clv_fail(ctx, CLV_EUSAGE, "the options of %s are smaller than the control that they begin with",
                        method->name);
    }
    control->size = method->options->size;
    CLV_TRY(clv_options_check(ctx, clv_control_table(), control));
    return clv_options_check(ctx, method->options, control);
}

clv_status clv_method_check(clv_context *ctx, const clv_method *method, const void *options) {
    clv_options_room own;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    return method->check ? method->check(ctx, own.bytes) : CLV_OK;
}

static clv_status check_start(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options) {
    const clv_option *option = clv_options_find(method->options, "start");
    if (input->start && !(method->abilities & CLV_STARTS_GIVEN)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s takes no start", method->name);
    }
    if (input->start || !option) {
        return CLV_OK;
    }
    const char *start = *(const char *const *)((const char *)options + option->offset);
    if (!start || !clv_is_listed(method->starts, start)) {
        char names[128];
        clv_options_list(method->starts, names, sizeof names);
        return clv_fail(ctx, CLV_EUSAGE, "start = '%s' is not allowed: it must be %s", start ? start : "", names);
    }
    return CLV_OK;
}

/* --- input --- */

clv_status clv_column_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, double **out) {
    bool column = !m->start && ((m->cols == 1 && m->rows == count) || (m->rows == 1 && m->cols == count));
    *out = NULL;
    if (!column) {
        return clv_fail(ctx, CLV_EDATA, "%s: %lld x %lld%s numbers, but there must be one for each of %lld objects",
                        what, (long long)m->rows, (long long)m->cols, m->start ? " sparse" : "", (long long)count);
    }
    CLV_TRY(clv_matrix_check(ctx, what, m, DBL_MAX));
    *out = CLV_NEW(ctx, double, count);
    for (int64_t i = 0; *out && i < m->rows; i++) {
        clv_matrix_row(m, i, *out + i * m->cols);
    }
    return *out ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_labels_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, int64_t k,
                         int32_t **out) {
    double *numbers;
    *out = NULL;
    CLV_TRY(clv_column_of(ctx, what, m, count, &numbers));
    int32_t *labels = *out = CLV_NEW(ctx, int32_t, count);
    clv_status status = labels ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < count; i++) {
        if (numbers[i] != floor(numbers[i]) || numbers[i] < -1 || numbers[i] >= (double)k) {
            status = clv_fail(ctx, CLV_EDATA, "%s: label %g of object %lld is not a whole number from -1 to %lld", what,
                              numbers[i], (long long)i + 1, (long long)k - 1);
        } else {
            labels[i] = (int32_t)numbers[i];
        }
    }
    clv_free(ctx, numbers);
    return status;
}

clv_status clv_check_k(clv_context *ctx, const clv_method *method, int64_t k, int64_t n) {
    if (k < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "k = %lld is not allowed: %s needs k from 1 to %lld, the number of objects",
                        (long long)k, method->name, (long long)n);
    }
    if (k > n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)k, (long long)n);
    }
    return CLV_OK;
}

static int64_t objects_of(const clv_method *method, const clv_matrix *points, const void *options) {
    return method->objects ? method->objects(points, options) : points->rows;
}

static clv_status check_targets(clv_context *ctx, const char *what, const clv_matrix *targets, int64_t samples) {
    if (!targets) {
        return clv_fail(ctx, CLV_EUSAGE, "%s are missing: one number for each of the %lld samples", what,
                        (long long)samples);
    }
    if (targets->start || targets->scalar != CLV_F64 || targets->cols != 1 || targets->rows != samples) {
        return clv_fail(ctx, CLV_EDATA, "%s must be one double for each of the %lld samples, not %lld x %lld", what,
                        (long long)samples, (long long)targets->rows, (long long)targets->cols);
    }
    return CLV_OK;
}

static clv_status check_samples(clv_context *ctx, const clv_method *method, const clv_input *input,
                                const void *options) {
    CLV_TRY(check_targets(ctx, "targets", input->targets, objects_of(method, input->points, options)));
    if (!input->validation) {
        return CLV_OK;
    }
    return check_targets(ctx, "validation targets", input->validation_targets,
                         objects_of(method, input->validation, options));
}

/* Sparse views that a program made may be anything. */
static clv_status check_views(clv_context *ctx, const clv_input *input) {
    const struct {
        const char *name;
        const clv_matrix *view;
    } views[] = {{"points", input->points},
                 {"targets", input->targets},
                 {"validation_targets", input->validation_targets},
                 {"object_alpha", input->object_alpha},
                 {"start_membership", input->start_membership},
                 {"weights", input->weights},
                 {"start", input->start},
                 {"widths", input->widths},
                 {"validation", input->validation}};
    for (size_t v = 0; v < CLV_COUNT(views); v++) {
        CLV_TRY(views[v].view ? clv_view_check(ctx, views[v].name, views[v].view) : CLV_OK);
    }
    return CLV_OK;
}

/* Whether the method is given what it takes, and nothing that belongs to another context. */
static clv_status check_input(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options) {
    if (!input) {
        return clv_fail(ctx, CLV_EUSAGE, "there is nothing for %s to work on", method->name);
    }
    CLV_TRY(check_views(ctx, input));
    if (method->takes == CLV_TAKES_AFFINITY) {
        if (!input->affinity) {
            return clv_fail(ctx, CLV_EUSAGE, "%s needs an affinity, and none was given", method->name);
        }
        if (clv_affinity_context(input->affinity) != ctx) {
            return clv_fail(ctx, CLV_EUSAGE, "the affinity was made in another context than %s is called with",
                            method->name);
        }
    } else if (!input->points) {
        return clv_fail(ctx, CLV_EUSAGE, "%s needs points, and none were given", method->name);
    }
    if (input->weights && !(method->abilities & CLV_WEIGHS_OBJECTS)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s takes no sample weights", method->name);
    }
    if (input->validation && !(method->abilities & CLV_VALIDATES)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s takes no validation samples", method->name);
    }
    return method->takes == CLV_TAKES_SAMPLES ? check_samples(ctx, method, input, options) : CLV_OK;
}

/* Rounding may leave something of the mark beyond the last weight, which then is the one. */
int64_t clv_draw(const double *weight, int64_t n, double total, clv_rng *rng) {
    double left = clv_rng_uniform(rng) * total;
    int64_t last = -1;
    for (int64_t i = 0; i < n && (left >= 0 || last < 0); i++) {
        if (weight[i] > 0) {
            last = i;
            left -= weight[i];
        }
    }
    return last;
}

/* --- the functions of a method --- */

/* Nothing that is not finite is claimed; of a rough result, nothing at all. */
static clv_status check_result(clv_context *ctx, const clv_method *method, const clv_result *result) {
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
    bool similar = method->takes == CLV_TAKES_AFFINITY || method->takes == CLV_TAKES_PARTITIONS;
    if (cut && similar && isnan(result->objective.value) && isnan(result->certificate.value)) {
        return CLV_OK;
    }
    if (!isfinite(result->objective.value) || isinf(result->certificate.value) ||
        !isfinite(result->certificate.tolerance)) {
        return clv_fail(ctx, CLV_ENUMERIC,
                        "%s: objective %g, certificate %g and tolerance %g must be numbers: the data or an option are "
                        "too large",
                        method->name, result->objective.value, result->certificate.value,
                        result->certificate.tolerance);
    }
    return CLV_OK;
}

static clv_status finish(clv_status status, clv_result **out) {
    if (status < 0) {
        clv_result_free(*out);
        *out = NULL;
    }
    return status;
}

void clv_name_solver(const clv_method *method, const void *options, clv_result *result) {
    const clv_option *option = clv_options_find(method->options, "solver");
    if (option && !result->solver[0]) {
        clv_options_print(option, options, result->solver, sizeof result->solver);
    }
}

/* The method; of one on similarities that had no time for a start, what the points say without them. */
static clv_status solve_somehow(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                                clv_result **out) {
    clv_status status = method->solve(ctx, input, options, out);
    if (!clv_is_stop(status) || method->takes != CLV_TAKES_AFFINITY) {
        return status;
    }
    clv_affinity_info info = {.n = clv_affinity_size(input->affinity)};
    clv_input rest = {.points = clv_affinity_points(input->affinity), .start = input->start, .plan = &info};
    clv_result_free(*out);
    return clv_solve_roughly(ctx, method, &rest, options, out);
}

/* The same, checkpointed if that was asked for. */
static clv_status solve_and_keep(clv_context *ctx, const clv_method *method, const clv_input *input,
                                 const void *options, double since, clv_result **out) {
    clv_session *session;
    CLV_TRY(clv_begin_checkpoints(ctx, method, input, options, since, &session));
    clv_status status = solve_somehow(ctx, method, input, options, out);
    bool kept = clv_session_end(session);
    return status < 0 || kept
               ? status
               : clv_result_warn(*out, "A checkpoint could not be kept: the last one that was kept, if any, is older.");
}

/* Under the deadline that the options ask for, and measured. Of a method that finds its answer in one go, the restart
 * has taken all of the time. */
static clv_status solve_in_time(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                                clv_result **out) {
    const clv_control *control = options;
    double spent = clv_session_of(ctx) ? 0 : clv_context_spent(ctx), limit = control->time_limit;
    if (limit > 0 && spent >= limit) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "the checkpoint has taken %.3g seconds already: time-limit = %g leaves nothing, and must be "
                        "larger",
                        spent, limit);
    }
    CLV_TRY(clv_meet(ctx, 3, CLV_OK)); /* on what time it is, among others */
    clv_deadline before = clv_deadline_begin(ctx, limit > 0 ? limit - spent : 0);
    clv_status status = solve_and_keep(ctx, method, input, options, before.since, out);
    double seconds = clv_deadline_end(ctx, before) + spent;
    CLV_TRY(status);
    clv_result *result = *out;
    result->method = method->name;
    result->seed = control->seed;
    result->seconds = seconds;
    clv_name_solver(method, options, result);
    for (int64_t r = 0; r < result->restarts_count; r++) {
        clv_restart *restart = &result->restarts[r];
        restart->seconds = isnan(restart->seconds) ? result->seconds : restart->seconds;
    }
    CLV_TRY(check_result(ctx, method, result));
    return method->takes == CLV_TAKES_SAMPLES ? CLV_OK : clv_advise(ctx, method, input, options, result);
}

static clv_status lacks(clv_context *ctx, const clv_method *method, const char *function) {
    return clv_fail(ctx, CLV_EUSAGE, "the description of %s has no function %s", method->name, function);
}

clv_status clv_solve(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                     clv_result **out) {
    clv_options_room own;
    *out = NULL;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    CLV_TRY(method->solve ? CLV_OK : lacks(ctx, method, "solve"));
    if (method->check) {
        CLV_TRY(method->check(ctx, own.bytes));
    }
    CLV_TRY(check_input(ctx, method, input, own.bytes));
    CLV_TRY(check_start(ctx, method, input, own.bytes));
    return finish(solve_in_time(ctx, method, input, own.bytes, out), out);
}

clv_status clv_check_labels(clv_context *ctx, const int32_t *labels, int64_t n, int64_t k) {
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < -1 || labels[i] >= k) {
            return clv_fail(ctx, CLV_EDATA, "label %d of object %lld is not in -1..%lld", (int)labels[i],
                            (long long)i + 1, (long long)k - 1);
        }
    }
    return CLV_OK;
}

static clv_status check_answer(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                               const clv_result *answer) {
    int64_t n = method->takes == CLV_TAKES_AFFINITY ? clv_affinity_size(input->affinity)
                                                    : objects_of(method, input->points, options);
    if (!answer) {
        return clv_fail(ctx, CLV_EUSAGE, "there is no answer to evaluate");
    }
    if (answer->n != n) {
        return clv_fail(ctx, CLV_EDATA, "the answer is about %lld objects, but there are %lld", (long long)answer->n,
                        (long long)n);
    }
    bool wanted = clv_method_gives(method, "labels") != NULL;
    if (wanted != (answer->labels != NULL)) {
        return clv_fail(ctx, CLV_EDATA, wanted ? "%s gives labels, and there are none" : "%s gives no labels",
                        method->name);
    }
    return wanted ? clv_check_labels(ctx, answer->labels, answer->n, answer->k) : CLV_OK;
}

clv_status clv_answer_matrix(clv_context *ctx, const clv_result *answer, const char *name, int64_t rows, int64_t cols,
                             const clv_matrix **out) {
    const clv_matrix *m = *out = clv_result_matrix(answer, name);
    if (!m) {
        return clv_fail(ctx, CLV_EDATA, "the answer lacks its %s", name);
    }
    if (m->rows != rows || m->cols != cols) {
        return clv_fail(ctx, CLV_EDATA, "%s must be %lld x %lld, not %lld x %lld", name, (long long)rows,
                        (long long)cols, (long long)m->rows, (long long)m->cols);
    }
    return clv_matrix_check(ctx, name, m, DBL_MAX);
}

clv_status clv_evaluate(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                        const clv_result *answer, clv_result **found) {
    clv_options_room own;
    *found = NULL;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    CLV_TRY(method->evaluate ? CLV_OK : lacks(ctx, method, "evaluate"));
    CLV_TRY(check_input(ctx, method, input, own.bytes));
    CLV_TRY(check_answer(ctx, method, input, own.bytes, answer));
    CLV_TRY(clv_result_new(ctx, 0, 0, found));
    (*found)->n = answer->n;
    (*found)->k = answer->k;
    clv_status status = method->evaluate(ctx, input, own.bytes, answer, *found);
    if (status == CLV_OK) {
        status = check_result(ctx, method, *found);
    }
    return finish(status, found);
}

clv_status clv_predict(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                       const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    clv_options_room own;
    *out = NULL;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    if (!input || !result || !fresh) {
        return clv_fail(ctx, CLV_EUSAGE, "a prediction of %s needs its input, a result and new objects", method->name);
    }
    if (!method->predict) {
        return clv_fail(ctx, CLV_EUSAGE, "%s cannot label new objects", method->name);
    }
    bool similar = method->takes == CLV_TAKES_AFFINITY && fresh->similarities;
    if (!similar && !fresh->points) {
        return clv_fail(ctx, CLV_EUSAGE, "%s needs the points of the new objects%s", method->name,
                        method->takes == CLV_TAKES_AFFINITY ? ", or their similarities to the old ones" : "");
    }
    if (method->takes == CLV_TAKES_AFFINITY && !similar) {
        CLV_TRY(check_input(ctx, method, input, own.bytes));
    }
    if (fresh->points) {
        CLV_TRY(clv_view_check(ctx, "the new points", fresh->points));
        CLV_TRY(clv_matrix_check(ctx, "the new points:", fresh->points, DBL_MAX));
    }
    CLV_TRY(fresh->similarities ? clv_view_check(ctx, "similarities", fresh->similarities) : CLV_OK);
    return finish(method->predict(ctx, input, own.bytes, result, fresh, out), out);
}

size_t clv_memory(const clv_method *method, const clv_input *input, const void *options) {
    clv_options_room own;
    clv_affinity_info built;
    if (!input || clv_method_adopt(NULL, method, options, &own) < 0) {
        return 0;
    }
    clv_input known = *input;
    if (!input->plan && input->affinity) {
        clv_affinity_describe(input->affinity, &built);
        known.plan = &built;
    }
    bool enough = method->takes == CLV_TAKES_AFFINITY ? known.plan != NULL : known.points != NULL;
    return enough && method->memory ? method->memory(&known, own.bytes) : 0;
}

clv_status clv_choose_affinity(clv_context *ctx, const clv_method *method, const clv_matrix *points,
                               const void *options, clv_affinity_options *how) {
    CLV_NEED(ctx, how);
    CLV_NEED_AS(ctx, how->kind != CLV_AFFINITY_AUTO || points, "points");
    clv_options_room own;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    if (how->kind == CLV_AFFINITY_AUTO && method->choose) {
        return method->choose(ctx, points, own.bytes, how);
    }
    how->kind = how->kind == CLV_AFFINITY_AUTO ? CLV_AFFINITY_GAUSSIAN : how->kind;
    return CLV_OK;
}

clv_status clv_suit_affinity(clv_context *ctx, const clv_method *method, const clv_matrix *points, const void *options,
                             clv_affinity_options *how) {
    CLV_NEED(ctx, how);
    clv_options_room own;
    CLV_TRY(clv_choose_affinity(ctx, method, points, options, how));
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    return method->suit ? method->suit(ctx, points, own.bytes, how) : CLV_OK;
}
