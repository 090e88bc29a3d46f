/* Forged results of every method: a true one is written, and each number in it that can be recomputed is changed. None
 * is accepted, whatever tolerance it asks for; and the data that it is judged by stay as they were. */
#include "answers.h"

#include <math.h>

static const question soft = {"symnmf", {"k", "3"}, false};
static const question euclidean = {"kpalm", {"k", "3", "norm", "euclidean"}, false};
static const question squared = {"kpalm", {"k", "3"}, false};
static const question weighed = {"kpalm", {"k", "3"}, true};
static const question three = {"ksupport", {"k", "2", "intercept", "true"}, false};
static const question along = {"ksupport", {"path", "1,2:0.5,0.1"}, false};
static const question pursued = {"pursuit", {"k", "60"}, false};
static const question cut = {"ncut", {"k", "4"}, false};
static const question chosen = {"ncut", {"k", "auto"}, false};
/* Runs whose stopping rule is not their certificate. */
static const question rough = {"ncut", {"k", "4", "polish", "false"}, false};
static const question paper = {"ksupport", {"k", "2", "rule", "change", "tol", "0.01"}, false};
static const question twice = {"ksupport", {"path", "2,2:1,1"}, false};

/* The verdict, from data that are none the worse for it. */
static clv_status judge(clv_context *ctx, const question *asked, const char *json, clv_verdict *out) {
    clv_claim *claim = NULL;
    evidence given, before;
    collect(asked, &given);
    before = given;
    if (clv_claim_parse(ctx, "result.json", json, strlen(json), NULL, &claim) < 0) {
        fail_msg("%s in\n%s", clv_message(ctx), json);
    }
    clv_status status = clv_claim_verify(ctx, claim, &given.input, 0, 1, out);
    assert_memory_equal(given.points, before.points, sizeof given.points);
    assert_memory_equal(given.targets, before.targets, sizeof given.targets);
    assert_memory_equal(given.weights, before.weights, sizeof given.weights);
    clv_claim_free(claim);
    return status;
}

static void true_answers_are_accepted(void **unused) {
    (void)unused;
    const question *const all[] = {&soft,    &euclidean, &squared, &weighed, &three, &along,
                                   &pursued, &cut,       &chosen,  &rough,   &paper, &twice};
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t q = 0; q < CLV_COUNT(all); q++) {
        char *json = answer_to_json(ctx, all[q]);
        assert_int_equal(judge(ctx, all[q], json, &verdict), CLV_OK);
        if (!verdict.accepted) {
            fail_msg("%s (%zu): %s", all[q]->method, q, verdict.reason);
        }
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* --- one number at a time --- */

typedef struct forgery {
    const question *asked;
    const char *within, *field, *value; /* as in replace_value */
    const char *reason;
} forgery;

#define TEN "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "

static const forgery forgeries[] = {
    {&soft, "\"residual\"", ": ", "0", "residual is claimed to be 0, but the data give"},
    {&soft, "\"residual\"", ": ", "null", "residual is claimed"},
    {&soft, "\"mean_similarity\"", ": ", "0.5", "mean_similarity is claimed to be 0.5"},
    {&soft, "\"variation\"", ": ", "0.01", "variation is claimed to be 0.01"},
    {&soft, "\"expected_sizes\"", "[", "3", "entry 1 of expected_sizes is claimed to be 3"},
    {&soft, "\"expected_sizes\"", "[", "3, 3", "expected_sizes is claimed with 4 entries, but there must be 3"},
    {&soft, "\"entropy\"", "[", "1.5", "entry 1 of entropy is claimed to be 1.5"},
    {&soft, "\"entropy\"", "[", "null", "entry 1 of entropy is claimed"},
    {&soft, "\"entropy\"", "[", "0, 0", "entropy is claimed with 31 entries, but there must be 30"},
    {&soft, "\"membership\"", "\"value\": [", "0.5", "memberships of object 1"},
    {&soft, "\"labels\"", "[", "-1", "size of cluster"},
    {&soft, "\"restarts\": [", "{", "\"centers\": [], \"objective\": 0", "a restart has a member centers"},
    {&soft, "\"restarts\": [", "\"objective\": ", "0", "better objective"},
    {&euclidean, "\"epsilon\": 0", "", "\"epsilon\": 0.5", "epsilon is claimed to be 0.5"},
    {&euclidean, "\"centers\"", "[[", "9", "sigma-epsilon is claimed"},
    {&euclidean, "\"centers\"", "[[", "1e80", "the centers"},
    {&euclidean, "\"centers\"", "[", "[0, 0, 0], [0, 0, 0], [0",
     "centers is claimed with 5 rows or columns, but there must be 3"},
    {&euclidean, "\"options\"", "\"epsilon\": ", "1e200", "epsilon = '1e200'"},
    {&euclidean, "\"options\"", "\"epsilon\": ", "1e90", "sigma-epsilon is claimed"},
    {&squared, "\"drift\"", ": ", "0, \"epsilon\": 0.5", "epsilon is claimed with 1 entries, but the data give 0"},
    {&squared, "\"drift\"", ": ", "0, \"eigenvalues\": [1]",
     "the field eigenvalues is claimed, but kpalm gives no such field"},
    {&squared, "\"options\"", "\"norm\": ", "\"euclidean\"", "objective is claimed to be 'sigma'"},
    {&weighed, "\"centers\"", "[[", "9", "sigma is claimed"},
    {&three, "\"classes\"", "[", "7", "entry 1 of classes is claimed to be 7, but the data give 0"},
    {&three, "\"classes\"", "[", "-1, 0", "classes is claimed with 4 entries, but the data give 3"},
    {&three, "\"intercepts\"", "[", "0, 0", "4 intercepts of 3 models"},
    {&three, "\"intercepts\"", "[", "5", "regularized-loss is claimed"},
    {&three, "\"weights\"", "\"value\": [", "5", "regularized-loss is claimed"},
    {&three, "\"data_passes\"", ": ", "-1", "data_passes is claimed to be -1, but it cannot be below 0"},
    {&three, "\"data_passes\"", ": ", "9, \"lambda\": 5", "lambda is 5, but 0.1 was asked for"},
    {&three, "\"data_passes\"", ": ", "9, \"lambda\": -5", "lambda is -5, but 0.1 was asked for"},
    {&three, "\"k\"", ": ", "5", "option k is claimed to be '2'"},
    {&along, "\"weights\"", "\"lambda\": ", "0.2", "is not on the path"},
    {&along, "\"weights\"", "\"lambda\": ", "-0.1", "is not on the path"},
    {&along, "\"k\"", ": ", "3", "is not on the path"},
    {&along, "\"options\"", "\"path\": ", "\"1:2", "must have the form K,K,...:L,L,..."},
    {&along, "\"path\": [", "\"nonzeros\": ", "-4", "path.nonzeros is claimed to be -4"},
    /* The last row is the result: there are no scores. */
    {&along, "\"k\": 2, \"lambda\": 0.1,", "\"objective\": ", "3", "row 4 is the best of the path"},
    {&along, "\"k\": 2, \"lambda\": 0.1,", "\"nonzeros\": ", "7", "row 4 is the best of the path"},
    {&along, "\"path\": [", "\"k\": ", "3", "the k in row 1 of the path"},
    {&along, "\"path\": [", "\"lambda\": ", "-5", "the lambda in row 1 of the path"},
    {&along, "\"path\": [", "\"lambda\": ", "0.1", "the lambda in row 1 of the path"},
    {&along, "\"path\": [", "\"objective\": ", "null", "the objective in row 1 of the path"},
    {&along, "\"path\": [", "\"relative_gap\": ", "-1", "the relative_gap in row 1 of the path"},
    {&along, "\"path\": [", "\"nonzeros\": ", "100", "the nonzeros in row 1 of the path"},
    {&along, "\"path\": [", "\"score\": ", "1.5", "the score in row 1 of the path"},
    {&along, "\"path\": [", "\"score\": ", "0.5", "the score in row 2 of the path"},
    {&along, "\"path\": [", "\"seconds\": ", "-1", "the seconds in row 1 of the path"},
    {&along, "\"path\": [", "\"stop\": ", "\"convergedx\"", "the stop in row 1 of the path"},
    {&along, "\"path\": [", "\"stop\": ", "\"cancelled\"", "the stop in row 1 of the path"},
    {&along, "\"options\"", "\"path\": ", "\"1,1", "has 4 rows, but there are 6"},
    {&pursued, "\"weights\"", "\"value\": [", "5", "regularized-loss is claimed"},
    {&pursued, "\"data_passes\"", ": ", "-2", "data_passes is claimed to be -2"},
    {&soft, "\"options\"", "\"restarts\": ", "20", "1 restarts are claimed, but 20 were asked for"},
    {&cut, "\"affinity\": {", "\"nonzeros\": ", "7", "affinity.nonzeros is claimed to be 7, but the data give 900"},
    {&cut, "\"affinity\": {", "\"bytes\": ", "70000", "affinity.bytes is claimed to be 70000"},
    {&cut, "\"options\"", "\"k\": ", "\"auto\"", "there are 4 eigenvalues, but these options give 21"},
    {&chosen, "\"n\": 30", ", \"k\": ", "1", "sizes are claimed for 1 clusters"},
    {&squared, "\"centers\"", "\"alpha\": ", "7", "alpha is claimed to be 7, but the data give"},
    {&weighed, "\"weighted\"", ": ", "2", "weighted is claimed to be 2, but it must be 0 or 1"},
    {&squared, "\"options\"", "\"max-iter\": ", "1", "iterations are claimed of restart 1, but max-iter is 1"},
    {&squared, "\"certificate\"", "\"iterations\": ", "99", "iterations and stop are not those claimed"},
    {&squared, "\"certificate\"", "\"stop\": ", "\"stalled\"", "iterations and stop are not those claimed"},
    {&squared, "\"restarts\": [", "\"stop\": ", "\"stalled\"", "iterations and stop are not those claimed"},
    {&squared, "\"restarts\": [", "\"stop\": ", "\"time limit\"", "have stopped with 'time limit', but the run with"},
    {&squared, "\"drift\"", ": ", "1e308", "the drift claimed lies outside 0..0.01"},
    {&squared, "\"certificate\"", "\"holds\": ", "true, \"bogus\": 1", "certificate has a member bogus"},
    {&squared, "\"objective\"", "\"sense\": ", "\"min\", \"bogus\": 1", "objective has a member bogus"},
    {&squared, "\"restarts\": [", "\"seconds\": ", "1, \"bogus\": 1", "a restart has a member bogus"},
    {&squared, "\"seconds\": {", "\"solve\": ", "1, \"bogus\": 1", "seconds has a member bogus"},
    {&cut, "\"affinity\": {", "\"bytes\": ", "1, \"bogus\": 1", "affinity has a member bogus"},
    {&squared, "\"seconds\": {", "\"solve\": ", "-1", "the seconds claimed of the run lie below 0"},
    {&squared, "\"seconds\": {", "\"load\": ", "-1", "the seconds claimed of a part of the run lie below 0"},
    {&squared, "\"restarts\": [", "\"seconds\": ", "-1", "the seconds claimed of a restart lie below 0"},
    {&squared, "\"drift\"", ": ", "0, \"surprise\": 1", "the field surprise is claimed, but kpalm gives no such field"},
    {&pursued, "\"data_passes\"", ": ", "2, \"intercepts\": [" TEN "0]", "the field intercepts is claimed"},
};

static void forgeries_are_rejected(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t f = 0; f < CLV_COUNT(forgeries); f++) {
        const forgery *one = &forgeries[f];
        char *json = answer_to_json(ctx, one->asked);
        char *changed = replace_value(json, one->within, one->field, one->value);
        assert_int_equal(judge(ctx, one->asked, changed, &verdict), CLV_OK);
        check_reason(&verdict, one->reason);
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* --- what is left out, and what is left open --- */

/* Without the value `name`, which has a line of its own; a list goes up to its end. */
static char *leave_out(const char *json, const char *name) {
    char line[64], *copy = strdup(json);
    snprintf(line, sizeof line, ",\n \"%s\": ", name);
    char *at = strstr(copy, line);
    assert_non_null(at);
    const char *value = at + strlen(line), *rest = value + strcspn(value, *value == '[' ? "]" : ",}");
    rest += *value == '[';
    memmove(at, rest, strlen(rest) + 1);
    return copy;
}

static void what_follows_must_be_said(void **unused) {
    (void)unused;
    const struct {
        const question *asked;
        const char *name;
    } left[] = {
        {&squared, "alpha"}, {&euclidean, "epsilon"}, {&soft, "residual"}, {&soft, "variation"}, {&cut, "components"}};
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t i = 0; i < CLV_COUNT(left); i++) {
        char *json = answer_to_json(ctx, left[i].asked), *changed = leave_out(json, left[i].name);
        assert_int_equal(judge(ctx, left[i].asked, changed, &verdict), CLV_OK);
        check_reason(&verdict, left[i].name);
        check_reason(&verdict, " is not claimed, but the data give it");
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* Another reason why the run ended, everywhere. */
static char *end_otherwise(const char *json, const char *stop) {
    char quoted[32], *changed = strdup(json);
    snprintf(quoted, sizeof quoted, "\"%s\"", stop);
    for (char *at = strstr(changed, "\"stop\": "); at; at = strstr(at + 1, "\"stop\": ")) {
        size_t place = (size_t)(at - changed);
        char *next = replace_value(changed, at, "\"stop\": ", quoted);
        free(changed);
        changed = next;
        at = changed + place;
    }
    return changed;
}

static void no_run_ends_otherwise_than_it_can(void **unused) {
    (void)unused;
    static const question short_ones[] = {{"symnmf", {"k", "3", "max-iter", "1", "start", "random"}, false},
                                          {"kpalm", {"k", "3", "max-iter", "1"}, false},
                                          {"kpalm", {"k", "3", "norm", "euclidean", "max-iter", "1"}, false},
                                          {"ncut", {"k", "4", "max-iter", "1", "start", "random"}, false},
                                          {"dominant", {"max-iter", "1"}, false},
                                          {"ksupport", {"k", "2", "max-iter", "1", "tol", "1e-9"}, false},
                                          {"pursuit", {"k", "60", "max-iter", "1", "tol", "1e-9"}, false}};
    const struct {
        const char *stop, *reason;
    } false_ends[] = {{"time limit", "ended by its time limit, but it had none"},
                      {"iteration limit", "ended at its iteration limit of 1000000, but after"}};
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t q = 0; q < CLV_COUNT(short_ones); q++) {
        char *json = answer_to_json(ctx, &short_ones[q]), *changed = end_otherwise(json, "converged");
        assert_int_equal(judge(ctx, &short_ones[q], json, &verdict), CLV_OK);
        if (!verdict.accepted || !strstr(json, "\"holds\": false")) {
            fail_msg("%s (%zu): %s in %s", short_ones[q].method, q, verdict.reason, json);
        }
        assert_int_equal(judge(ctx, &short_ones[q], changed, &verdict), CLV_OK);
        check_reason(&verdict, "the run is claimed to have converged, but its certificate does not hold");
        free(changed);
        clv_release(ctx, json);
    }
    for (size_t e = 0; e < CLV_COUNT(false_ends); e++) {
        char *json = answer_to_json(ctx, &squared), *changed = end_otherwise(json, false_ends[e].stop);
        assert_int_equal(judge(ctx, &squared, changed, &verdict), CLV_OK);
        check_reason(&verdict, false_ends[e].reason);
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* A gap that is beyond the tolerance by less than two evaluations may differ by is still beyond it. */
static void nearly_converged_is_not_converged(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    char tolerance[32];
    question asked = {"dominant", {"k", "1", "max-iter", "2", "tol", "1e-3"}, false};
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = answer_to_json(ctx, &asked);
    assert_int_equal(judge(ctx, &asked, json, &verdict), CLV_OK);
    double gap = verdict.certificate.value, beyond = 3e-10 * verdict.objective.value;
    assert_true(verdict.accepted && gap > verdict.certificate.tolerance && gap > beyond);
    snprintf(tolerance, sizeof tolerance, "%.17g", 1e-3 * (gap - beyond) / verdict.certificate.tolerance);
    asked.options[5] = tolerance;
    clv_release(ctx, json);
    json = answer_to_json(ctx, &asked);
    assert_int_equal(judge(ctx, &asked, json, &verdict), CLV_OK);
    assert_true(verdict.accepted && verdict.certificate.value > verdict.certificate.tolerance &&
                verdict.certificate.value < verdict.certificate.tolerance + 2 * beyond);
    char *changed = end_otherwise(json, "converged");
    assert_int_equal(judge(ctx, &asked, changed, &verdict), CLV_OK);
    check_reason(&verdict, "the run is claimed to have converged, but its certificate does not hold");
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

static void a_path_has_its_table(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = answer_to_json(ctx, &along), *changed = leave_out(json, "path");
    assert_int_equal(judge(ctx, &along, changed, &verdict), CLV_OK);
    check_reason(&verdict, "the table of the path is not there");
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* A gamma that was left open is found again, and no other. */
static void gamma_is_what_auto_gives(void **unused) {
    (void)unused;
    const question *const all[] = {&soft, &cut};
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t q = 0; q < CLV_COUNT(all); q++) {
        char *json = answer_to_json(ctx, all[q]);
        char *open = replace_value(json, "\"options\"", "\"gamma\": ", "\"auto\"");
        char *changed = replace_value(open, "\"affinity\": {", "\"gamma\": ", "0.5");
        assert_int_equal(judge(ctx, all[q], open, &verdict), CLV_OK);
        assert_true(verdict.accepted);
        assert_int_equal(judge(ctx, all[q], changed, &verdict), CLV_OK);
        check_reason(&verdict, "gamma is claimed to be 0.5, but the data give");
        free(open);
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* --- tolerances without end --- */

/* A certificate of 0.5 out of the air, under a tolerance that comes of `tol`. */
static char *boast(const char *json, const char *tol, double tolerance) {
    char number[32];
    snprintf(number, sizeof number, "%.17g", tolerance);
    char *asked = replace_value(json, "\"options\"", "\"tol\": ", tol);
    char *valued = replace_value(asked, "\"certificate\"", "\"value\": ", "0.5");
    char *allowed = replace_value(valued, "\"certificate\"", "\"tolerance\": ", number);
    char *held = replace_value(allowed, "\"certificate\"", "\"holds\": ", "true");
    free(asked);
    free(valued);
    free(allowed);
    return held;
}

/* However large a tolerance is asked for, it excuses nothing but itself. */
static void no_tolerance_buys_an_objective(void **unused) {
    (void)unused;
    const question *const all[] = {&soft, &euclidean, &squared, &weighed, &three, &pursued};
    const char *const tols[] = {"1.7e308", "1e7", "1e6", "1", "0"};
    clv_context *ctx;
    clv_verdict verdict;
    int refused = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t q = 0; q < CLV_COUNT(all); q++) {
        char *json = answer_to_json(ctx, all[q]);
        for (size_t t = 0; t < CLV_COUNT(tols); t++) {
            char *certified = boast(json, tols[t], 1.7e308), *changed = replace_objectives(certified, 1);
            assert_int_equal(judge(ctx, all[q], changed, &verdict), CLV_OK);
            bool large = strstr(verdict.reason, "tol = ") != NULL;
            check_reason(&verdict, large ? "is not allowed" : " is claimed to be 1, but the data give"); /* objective */
            refused += large;
            free(certified);
            free(changed);
        }
        clv_release(ctx, json);
    }
    assert_int_equal(refused, 2 * CLV_COUNT(all)); /* those above 1e6 */
    clv_context_free(ctx);
}

/* Nor does it excuse a certificate: with the tolerance that `tol` gives, and the true objective. */
static void no_tolerance_buys_a_certificate(void **unused) {
    (void)unused;
    const question *const all[] = {&soft, &euclidean, &squared, &weighed, &three, &pursued};
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t q = 0; q < CLV_COUNT(all); q++) {
        char *json = answer_to_json(ctx, all[q]), *changed = boast(json, "1e6", 1.7e308);
        assert_int_equal(judge(ctx, all[q], changed, &verdict), CLV_OK);
        check_reason(&verdict, "the tolerance of the certificate is claimed to be 1.7e308");
        free(changed);
        changed = boast(json, "1e6", verdict.certificate.tolerance);
        assert_true(verdict.certificate.tolerance > 1);
        assert_int_equal(judge(ctx, all[q], changed, &verdict), CLV_OK);
        check_reason(&verdict, clv_method_find(all[q]->method)->certificate);
        check_reason(&verdict, " is claimed to be 0.5, but the data give");
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* Numbers that are none lie nowhere near each other, and nothing is within a distance that is none. */
static void what_is_not_finite_agrees_with_nothing(void **unused) {
    (void)unused;
    const double odd[] = {NAN, INFINITY, -INFINITY};
    assert_true(clv_is_within(1, 1.5, 0.5));
    assert_false(clv_is_within(1, 1.5, 0.25));
    for (size_t i = 0; i < CLV_COUNT(odd); i++) {
        assert_false(clv_is_within(odd[i], 1, 1));
        assert_false(clv_is_within(1, odd[i], 1));
        assert_false(clv_is_within(1, 1, odd[i]));
        assert_false(clv_is_within(odd[i], odd[i], INFINITY));
    }
}

/* --- what cannot even be judged --- */

static void weights_must_be_there_if_there_were_any(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *with = answer_to_json(ctx, &weighed), *without = answer_to_json(ctx, &squared);
    assert_int_equal(judge(ctx, &squared, with, &verdict), CLV_EUSAGE);
    assert_false(verdict.accepted);
    assert_non_null(strstr(clv_message(ctx), "found with sample weights"));
    assert_int_equal(judge(ctx, &weighed, without, &verdict), CLV_EUSAGE);
    assert_false(verdict.accepted);
    assert_non_null(strstr(clv_message(ctx), "found without sample weights"));
    /* Called weighted where it was not, and the other way round. */
    char *forged = replace_value(without, "\"drift\"", ": ", "0, \"weighted\": 1");
    assert_int_equal(judge(ctx, &weighed, forged, &verdict), CLV_OK);
    check_reason(&verdict, "sigma is claimed");
    free(forged);
    forged = replace_value(with, "\"weighted\"", ": ", "0");
    assert_int_equal(judge(ctx, &squared, forged, &verdict), CLV_OK);
    check_reason(&verdict, "sigma is claimed");
    free(forged);
    clv_release(ctx, with);
    clv_release(ctx, without);
    clv_context_free(ctx);
}

static void counts_below_0_are_not_even_read(void **unused) {
    (void)unused;
    const char *const fields[] = {"\"n\"", "\"k\"", "\"left_out\""};
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = answer_to_json(ctx, &squared);
    for (size_t f = 0; f < CLV_COUNT(fields); f++) {
        clv_claim *claim = NULL;
        char *changed = replace_value(json, fields[f], ": ", "-1");
        assert_int_equal(clv_claim_parse(ctx, "result.json", changed, strlen(changed), NULL, &claim), CLV_EDATA);
        assert_non_null(strstr(clv_message(ctx), "not a whole number of 0 or more"));
        assert_null(claim);
        free(changed);
    }
    clv_release(ctx, json);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_answers_are_accepted),
        cmocka_unit_test(forgeries_are_rejected),
        cmocka_unit_test(what_follows_must_be_said),
        cmocka_unit_test(no_run_ends_otherwise_than_it_can),
        cmocka_unit_test(nearly_converged_is_not_converged),
        cmocka_unit_test(a_path_has_its_table),
        cmocka_unit_test(gamma_is_what_auto_gives),
        cmocka_unit_test(no_tolerance_buys_an_objective),
        cmocka_unit_test(no_tolerance_buys_a_certificate),
        cmocka_unit_test(what_is_not_finite_agrees_with_nothing),
        cmocka_unit_test(weights_must_be_there_if_there_were_any),
        cmocka_unit_test(counts_below_0_are_not_even_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
