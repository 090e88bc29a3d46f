/* A method and a home of one's own do all that those of the library do: solve, evaluate, predict, reports,
 * verification, the command.
 *
 *   extend                  the tests
 *   extend METHOD ARGS...   the command of a method of this folder, as `cleave METHOD ARGS...` would be */
#include "../../cli/job.h"
#include "affinity/home.h"
#include "extend.h"
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* --- points, in three groups on a line and beside it --- */

enum { N = 12, P = 2, K = 3 };

static const double places[N * P] = {0,    0, 1,    0.5, 0.25, 1, 0.5,  0.25, 10,   0, 11,   1,
                                     10.5, 2, 9.75, 0.5, 0,    9, 0.75, 9.5,  1.25, 8, 0.25, 10};
static const clv_matrix points = {N, P, CLV_F64, places, NULL, NULL};

static double apart(int64_t i, int64_t j) {
    return hypot(places[P * i] - places[P * j], places[P * i + 1] - places[P * j + 1]);
}

/* The least radius that any three objects have as centers. */
static double least_radius(void) {
    double least = HUGE_VAL;
    for (int64_t a = 0; a < N; a++) {
        for (int64_t b = 0; b < a; b++) {
            for (int64_t c = 0; c < b; c++) {
                double radius = 0;
                for (int64_t i = 0; i < N; i++) {
                    radius = fmax(radius, fmin(apart(i, a), fmin(apart(i, b), apart(i, c))));
                }
                least = fmin(least, radius);
            }
        }
    }
    return least;
}

static kcenter_options default_options(void) {
    kcenter_options options;
    clv_method_defaults(&kcenter_method, &options, sizeof options);
    options.k = K;
    return options;
}

static clv_context *new_context(void) {
    clv_context *ctx = NULL;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    return ctx;
}

/* Nothing may be left behind. */
static void free_context(clv_context *ctx) {
    size_t now, peak;
    clv_context_memory(ctx, &now, &peak);
    assert_int_equal(now, 0);
    clv_context_free(ctx);
}

static clv_result *solve(clv_context *ctx, const kcenter_options *options) {
    clv_result *result = NULL;
    assert_int_equal(clv_solve(ctx, &kcenter_method, &(clv_input){.points = &points}, options, &result), CLV_OK);
    return result;
}

/* --- the method through the library --- */

static void solved_and_proved(void **state) {
    clv_context *ctx = new_context();
    double least = least_radius();
    (void)state;
    for (int64_t first = 0; first < N; first++) {
        kcenter_options options = default_options();
        options.first = first;
        clv_result *result = solve(ctx, &options);
        assert_string_equal(result->method, "kcenter");
        assert_true(result->certificate.holds && result->stop == CLV_CONVERGED);
        assert_true(result->bound.value <= least && least <= result->objective.value);
        assert_true(result->objective.value <= 2 * least);
        assert_int_equal(result->sizes[0] + result->sizes[1] + result->sizes[2], N);
        for (int64_t i = 0; i < N; i++) { /* groups of four */
            assert_int_equal(result->labels[i], result->labels[i / 4 * 4]);
        }
        clv_result_free(result);
    }
    free_context(ctx);
}

static void evaluated_to_the_same_bits(void **state) {
    clv_context *ctx = new_context();
    kcenter_options options = default_options();
    const clv_input input = {.points = &points};
    clv_result *result = solve(ctx, &options), *found = NULL, *answer = NULL;
    (void)state;
    assert_int_equal(clv_evaluate(ctx, &kcenter_method, &input, &options, result, &found), CLV_OK);
    assert_true(found->objective.value == result->objective.value);
    assert_true(found->certificate.value == result->certificate.value && found->certificate.holds);
    assert_true(found->bound.value == result->bound.value);
    clv_result_free(found);

    /* An answer of one's own, which nothing speaks for: three centers in one group. */
    int64_t witness[K + 1] = {0, 1, 2, 3};
    assert_int_equal(clv_result_new(ctx, N, K, &answer), CLV_OK);
    assert_int_equal(clv_result_put_integers(answer, "witness", witness, K + 1), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        double from[K] = {apart(i, 0), apart(i, 1), apart(i, 2)};
        int32_t near = from[1] < from[0] ? 1 : 0;
        answer->labels[i] = from[2] < from[near] ? 2 : near;
    }
    assert_int_equal(clv_evaluate(ctx, &kcenter_method, &input, &options, answer, &found), CLV_OK);
    assert_true(!found->certificate.holds && found->objective.value > 9);
    assert_string_equal(clv_certificate_sentence(&kcenter_method, &found->certificate), kcenter_method.open);
    clv_result_free(found);

    /* And two that cannot be. */
    answer->labels[11] = !answer->labels[11];
    assert_int_equal(clv_evaluate(ctx, &kcenter_method, &input, &options, answer, &found), CLV_EDATA);
    assert_null(found);
    witness[2] = N;
    assert_int_equal(clv_result_put_integers(answer, "witness", witness, K + 1), CLV_OK);
    assert_int_equal(clv_evaluate(ctx, &kcenter_method, &input, &options, answer, &found), CLV_EDATA);
    clv_result_free(answer);
    clv_result_free(result);
    free_context(ctx);
}

static void options_are_checked(void **state) {
    clv_context *ctx = new_context();
    kcenter_options options = default_options();
    const clv_input input = {.points = &points};
    clv_result *result = NULL;
    (void)state;
    options.k = 0;
    assert_int_equal(clv_solve(ctx, &kcenter_method, &input, &options, &result), CLV_EUSAGE);
    options.k = N + 1;
    assert_int_equal(clv_solve(ctx, &kcenter_method, &input, &options, &result), CLV_EDATA);
    options.k = N; /* every object its own center */
    assert_int_equal(clv_solve(ctx, &kcenter_method, &input, &options, &result), CLV_OK);
    assert_true(result->objective.value == 0 && result->certificate.holds);
    clv_result_free(result);
    free_context(ctx);
}

static void new_objects_go_to_the_nearest(void **state) {
    clv_context *ctx = new_context();
    kcenter_options options = default_options();
    clv_result *result = solve(ctx, &options), *found = NULL;
    const double fresh[] = {9, 3, 0, 6, 2, 2};
    const clv_matrix rows = {3, P, CLV_F64, fresh, NULL, NULL}, wide = {1, 3, CLV_F64, fresh, NULL, NULL};
    (void)state;
    const clv_input none = {0};
    assert_int_equal(clv_predict(ctx, &kcenter_method, &none, &options, result, &(clv_fresh){.points = &rows}, &found),
                     CLV_OK);
    assert_int_equal(found->labels[0], result->labels[4]);
    assert_int_equal(found->labels[1], result->labels[8]);
    assert_int_equal(found->labels[2], result->labels[0]);
    clv_result_free(found);
    assert_int_equal(clv_predict(ctx, &kcenter_method, &none, &options, result, &(clv_fresh){.points = &wide}, &found),
                     CLV_EDATA);
    clv_result_free(result);
    free_context(ctx);
}

static void memory_is_foretold(void **state) {
    clv_context *ctx = new_context();
    kcenter_options options = default_options();
    size_t now, peak, told = clv_memory(&kcenter_method, &(clv_input){.points = &points}, &options);
    (void)state;
    clv_result_free(solve(ctx, &options));
    clv_context_memory(ctx, &now, &peak);
    assert_true(told > N * sizeof(double) && peak < told + 4096); /* but for the headers of blocks */
    free_context(ctx);
}

/* --- reports and verification --- */

/* All reports; the JSON one is kept. */
static void write_reports(clv_context *ctx, const clv_result *result, const kcenter_options *options, char **json) {
    const clv_option_table *tables[] = {kcenter_method.options, clv_control_table(), NULL};
    const void *structs[] = {options, options};
    const clv_report report = {.result = result, .tables = tables, .options = structs, .points = &points};
    char *text = NULL;
    size_t size;
    assert_int_equal(clv_report_table(ctx, &report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, "kcenter"));
    assert_non_null(strstr(text, "radius"));
    clv_release(ctx, text);
    assert_int_equal(clv_report_html(ctx, &report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, "</html>"));
    clv_release(ctx, text);
    assert_int_equal(clv_report_json(ctx, &report, json, &size), CLV_OK);
}

/* Whether a claim is accepted; `reason` is a part of the sentence that says why. */
static void verdict_is(clv_context *ctx, const char *text, bool accepted, const char *reason) {
    clv_claim *claim = NULL;
    clv_verdict verdict;
    assert_int_equal(clv_claim_parse(ctx, "result.json", text, strlen(text), &kcenter_method, &claim), CLV_OK);
    assert_int_equal(clv_claim_verify_by(ctx, &kcenter_method, claim, &(clv_input){.points = &points}, 0, 1, &verdict),
                     CLV_OK);
    if (verdict.accepted != accepted || !strstr(verdict.reason, reason)) {
        fail_msg("%s: %s", verdict.accepted ? "accepted" : "rejected", verdict.reason);
    }
    clv_claim_free(claim);
}

/* The text with the number after `before` replaced. */
static char *tampered(const char *text, const char *before, const char *number) {
    char *out = calloc(1, strlen(text) + strlen(number) + 1);
    const char *at = strstr(text, before);
    if (!out || !at) {
        fail_msg("there is no %s in %s", before, text);
    } else {
        at += strlen(before);
        memcpy(out, text, (size_t)(at - text));
        strcat(out, number);
        strcat(out, at + strcspn(at, ",]}\n"));
    }
    return out;
}

static void an_honest_claim_is_accepted_and_others_are_not(void **state) {
    static const struct {
        const char *before, *number, *reason;
    } lies[] = {
        {"\"radius\", \"value\": ", "1", "not that of any restart"},
        {"\"excess\", \"value\": ", "-1", "excess is claimed to be -1"},
        {"\"packing\", \"value\": ", "1.25", "gap"},
        {"\"labels\": [", "2", "the size of cluster 0"},
        {"\"witness\": [", "3", "row 1, column 1 of centers is claimed to be 0,"},
        {"\"witness\": [", "12", "witness must be 4 objects"},
        {"\"centers\": [[", "0.125", "row 1, column 1 of centers is claimed to be 0.125"},
    };
    clv_context *ctx = new_context();
    kcenter_options options = default_options();
    clv_result *result = solve(ctx, &options);
    char *text = NULL;
    (void)state;
    write_reports(ctx, result, &options, &text);
    verdict_is(ctx, text, true, "as claimed");
    for (size_t i = 0; i < CLV_COUNT(lies); i++) {
        char *lie = tampered(text, lies[i].before, lies[i].number);
        verdict_is(ctx, lie, false, lies[i].reason);
        free(lie);
    }
    char *twice = tampered(text, lies[0].before, "1"), *agreeing = tampered(twice, "[{\"objective\": ", "1");
    verdict_is(ctx, agreeing, false, "lies above the objective"); /* at last against the bound */
    free(agreeing);
    free(twice);
    clv_release(ctx, text);
    clv_result_free(result);
    free_context(ctx);
}

/* --- the command --- */

static int run_command(const clv_method *method, int argc, char **argv) {
    const cli_command command = cli_method_command(method);
    cli_app app = {.program = "extend", .command = method->name, .started = cli_seconds()};
    if (clv_context_new(NULL, &app.ctx) < 0) {
        return 70;
    }
    int code = cli_job_run(&app, &command, method, argc, argv);
    size_t now, peak;
    clv_context_memory(app.ctx, &now, &peak);
    clv_context_free(app.ctx);
    return now == 0 ? code : 70;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void the_command_runs_it(void **state) {
    char folder[] = "/tmp/cleave-extend-XXXXXX";
    clv_context *ctx = new_context();
    char *args[] = {"x.npy",     "-k",    "3",         "-q",    "--json",           "r.json", "-o", "l.csv",
                    "--centers", "c.csv", "--predict", "x.npy", "--predict-output", "p.csv",  NULL};
    char *asking[] = {"x.npy", NULL};
    const char *const files[] = {"x.npy", "r.json", "l.csv", "c.csv", "p.csv"};
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(clv_write_matrix(ctx, "x.npy", &points), CLV_OK);
    assert_int_equal(run_command(&kcenter_method, (int)CLV_COUNT(args) - 1, args), 0);
    char *json = read_text("r.json"), *labels = read_text("l.csv"), *predicted = read_text("p.csv");
    verdict_is(ctx, json, true, "as claimed");
    assert_string_equal(labels, predicted);
    assert_int_equal(run_command(&kcenter_method, 1, asking), 64); /* kcenter needs -k N */
    for (size_t i = 0; i < CLV_COUNT(files); i++) {
        assert_int_equal(unlink(files[i]), 0);
    }
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
    free(json);
    free(labels);
    free(predicted);
    free_context(ctx);
}

/* --- the home --- */

enum { RING = 40 };

/* The same numbers, given as a matrix. */
static clv_affinity *given_ring(clv_context *ctx, double *values) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    for (int64_t i = 0; i < RING; i++) {
        for (int64_t j = 0; j < RING; j++) {
            int64_t steps = (i - j + RING) % RING;
            values[i * RING + j] = 1 / (1 + fmin((double)steps, (double)(RING - steps)));
        }
    }
    assert_int_equal(clv_affinity_build(ctx, &(clv_matrix){.rows = RING, .cols = RING, .values = values}, &how, &a),
                     CLV_OK);
    return a;
}

static clv_result *cluster(clv_context *ctx, const clv_method *method, const clv_affinity *a, int64_t threads) {
    clv_options_room room;
    clv_result *result = NULL, *found = NULL;
    const clv_input input = {.affinity = a};
    clv_method_defaults(method, room.bytes, method->options->size);
    ((clv_control *)(void *)room.bytes)->threads = threads;
    ((clv_control *)(void *)room.bytes)->restarts = 3;
    assert_int_equal(clv_options_set(ctx, method->options, room.bytes, "k", "4"), CLV_OK);
    if (strcmp(method->name, "dominant") ==
        0) { /* on a ring all objects are alike, and rounding would choose the shift */
        assert_int_equal(clv_options_set(ctx, method->options, room.bytes, "shift", "0"), CLV_OK);
    }
    if (clv_solve(ctx, method, &input, room.bytes, &result) < 0) {
        fail_msg("%s: %s", method->name, clv_message(ctx));
    }
    assert_int_equal(clv_evaluate(ctx, method, &input, room.bytes, result, &found), CLV_OK);
    assert_float_equal(found->objective.value, result->objective.value, 1e-12);
    clv_result_free(found);
    return result;
}

/* All methods on affinities take it, whether it wants its callers one by one or not, on any number of threads. */
static void methods_take_the_home(void **state) {
    clv_context *ctx = new_context();
    static double values[RING * RING];
    clv_affinity *given = given_ring(ctx, values);
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    int taken = 0;
    (void)state;
    for (size_t m = 0; m < count; m++) {
        if (methods[m]->takes != CLV_TAKES_AFFINITY) {
            continue;
        }
        clv_result *expected = cluster(ctx, methods[m], given, 1);
        for (int way = 0; way < 4; way++) {
            clv_affinity *a = NULL;
            assert_int_equal(ring_affinity(ctx, RING, way / 2, &a), CLV_OK);
            clv_result *result = cluster(ctx, methods[m], a, 1 + way % 2);
            assert_int_equal(result->k, expected->k);
            assert_float_equal(result->objective.value, expected->objective.value, 1e-9);
            clv_result_free(result);
            clv_affinity_free(a);
        }
        clv_result_free(expected);
        taken++;
    }
    assert_true(taken >= 3); /* ncut, symnmf, dominant */
    clv_affinity_free(given);
    free_context(ctx);
}

static void the_home_is_what_it_says(void **state) {
    clv_context *ctx = new_context();
    static double values[RING * RING];
    clv_affinity *given = given_ring(ctx, values), *a = NULL;
    clv_affinity_info info;
    clv_data *matrix = NULL;
    double entry;
    (void)state;
    assert_int_equal(ring_affinity(ctx, RING, false, &a), CLV_OK);
    clv_affinity_describe(a, &info);
    assert_string_equal(info.home, "ring");
    assert_int_equal(info.bytes, RING * sizeof(double));
    assert_int_equal(clv_affinity_materialize(a, &matrix), CLV_OK);
    assert_memory_equal(clv_data_matrix(matrix)->values, values, sizeof values);
    assert_int_equal(clv_affinity_entry(a, 1, RING - 1, &entry), CLV_OK);
    assert_true(entry == 1.0 / 3);
    clv_data_free(matrix);
    clv_affinity_free(a);
    clv_affinity_free(given);
    free_context(ctx);
}

/* As clv_affinity_build uses it: the plan is kept, the diagonal and gamma are as asked for. */
static void the_maker_makes_what_it_plans(void **state) {
    clv_context *ctx = new_context();
    (void)state;
    for (int way = 0; way < 4; way++) {
        clv_affinity_options how;
        clv_affinity_info plan = {.n = N}, info;
        clv_affinity *a = NULL;
        double diagonal[N], entry, gamma = way % 2 ? 2 : 1;
        clv_affinity_defaults(&how);
        how.kind = CLV_AFFINITY_EXPONENTIAL;
        how.gamma = way % 2 ? gamma : NAN;
        how.zero_diagonal = way / 2;
        assert_true(ring_maker.suits(&points, &how));
        ring_maker.plan(&points, &how, &plan);
        assert_int_equal(ring_maker.make(ctx, &points, &how, 1, &a), CLV_OK);
        clv_affinity_describe(a, &info);
        assert_true(info.gamma == gamma && info.bytes == plan.bytes && info.nonzeros == plan.nonzeros);
        assert_int_equal(clv_affinity_diagonal(a, diagonal), CLV_OK);
        assert_int_equal(clv_affinity_entry(a, 1, N - 1, &entry), CLV_OK);
        assert_true(diagonal[3] == (how.zero_diagonal ? 0 : 1) && entry == 1 / (1 + 2 * gamma));
        clv_affinity_free(a);
    }
    free_context(ctx);
}

int main(int argc, char **argv) {
    static const clv_method *const methods[] = {&kcenter_method, &soft_method, &hard_method, &fit_method};
    for (size_t i = 0; argc > 1 && i < CLV_COUNT(methods); i++) {
        if (strcmp(argv[1], methods[i]->name) == 0) {
            return run_command(methods[i], argc - 2, argv + 2);
        }
    }
    if (argc > 1) {
        return 64;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solved_and_proved),
        cmocka_unit_test(evaluated_to_the_same_bits),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(new_objects_go_to_the_nearest),
        cmocka_unit_test(memory_is_foretold),
        cmocka_unit_test(an_honest_claim_is_accepted_and_others_are_not),
        cmocka_unit_test(the_command_runs_it),
        cmocka_unit_test(the_home_is_what_it_says),
        cmocka_unit_test(the_maker_makes_what_it_plans),
        cmocka_unit_test(methods_take_the_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
