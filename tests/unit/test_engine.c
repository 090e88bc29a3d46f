/* The driver, on toy methods whose every number is known. */
#include "engine/driver.h"
#include "methods/methods.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One toy with several ways to misbehave: minimize (x - 3)^2 + offset by gradient steps. Offset and first x come from
 * the generator of the restart, so that restarts differ in their best value. */
typedef struct toy_problem {
    clv_context *ctx;
    double drift;           /* added to the carried value at every step */
    double climb;           /* the value reported swings by this much, best at step 5 */
    int64_t fails_at;       /* step number that fails; 0: none */
    int64_t interrupted_at; /* step number that returns CLV_EINTERRUPTED; 0: none */
    bool tells;             /* which then has a value */
    int64_t nan_at;         /* step number with a value that is not a number */
    double false_gap;       /* subtracted from the carried certificate */
    bool resume_interrupted, start_interrupted;
    bool asks;     /* the start and the recomputation keep to the deadline, as long loops do */
    int64_t work;  /* that they do before they ask */
    int64_t saves; /* the number of the one that fails; 0: none */
    atomic_int saved;
    double factor; /* the step goes this share of the way to the minimum */
    int delay_us;  /* a step lasts so long */
    atomic_int resumes;
    atomic_int alive, most_alive; /* steps under way at the same time */
} toy_problem;

typedef struct toy_iterate {
    double x, offset;
    int64_t steps;
} toy_iterate;

typedef struct toy_state {
    toy_problem *problem;
    toy_iterate now;
    double carried_error;
    int threads;
} toy_state;

static clv_status toy_create(clv_context *ctx, const void *problem, int threads, void **state) {
    toy_state *toy = CLV_NEW0(ctx, toy_state, 1);
    if (!toy) {
        return CLV_ENOMEM;
    }
    toy->problem = (toy_problem *)(uintptr_t)problem;
    toy->threads = threads;
    *state = toy;
    return CLV_OK;
}

static void toy_destroy(clv_context *ctx, void *state) {
    clv_free(ctx, state);
}

static double true_value(const toy_state *toy) {
    double swing = toy->problem->climb * fabs((double)toy->now.steps - 5);
    return (toy->now.x - 3) * (toy->now.x - 3) + toy->now.offset + swing;
}

static void describe(const toy_state *toy, clv_iterate *out) {
    out->value = true_value(toy) + toy->carried_error;
    out->certificate = fabs(toy->now.x - 3);
    out->converged = fabs(toy->now.x - 3) < 1e-8;
}

static void spend(int microseconds) {
    double until = clv_seconds() + 1e-6 * microseconds;
    while (clv_seconds() < until) {
    }
}

static clv_status toy_start(void *state, clv_rng *rng, clv_iterate *out) {
    toy_state *toy = state;
    if (toy->problem->start_interrupted) {
        return CLV_EINTERRUPTED;
    }
    if (toy->problem->asks && clv_worked(toy->problem->ctx, toy->problem->work)) {
        return clv_stop_failure(toy->problem->ctx, "starting a toy");
    }
    spend(toy->problem->delay_us);
    toy->now.offset = clv_rng_uniform(rng);
    toy->now.x = 10 * clv_rng_normal(rng);
    toy->now.steps = 0;
    toy->carried_error = 0;
    describe(toy, out);
    return CLV_OK;
}

static clv_status toy_step(void *state, clv_iterate *out) {
    toy_state *toy = state;
    toy_problem *problem = toy->problem;
    int alive = atomic_fetch_add(&problem->alive, 1) + 1;
    if (alive > atomic_load(&problem->most_alive)) {
        atomic_store(&problem->most_alive, alive);
    }
    spend(problem->delay_us);
    toy->now.steps++;
    toy->now.x += problem->factor * (3 - toy->now.x);
    toy->carried_error += problem->drift;
    describe(toy, out);
    out->certificate -= problem->false_gap * (toy->carried_error != 0 || problem->drift == 0);
    atomic_fetch_sub(&problem->alive, 1);
    if (toy->now.steps == problem->interrupted_at) {
        out->value = problem->tells ? out->value : NAN;
        return CLV_EINTERRUPTED;
    }
    if (toy->now.steps == problem->nan_at) {
        out->value = NAN;
    }
    if (toy->now.steps == problem->fails_at) {
        return clv_fail(problem->ctx, CLV_ENUMERIC, "planted failure at step %lld", (long long)toy->now.steps);
    }
    return CLV_OK;
}

static clv_status toy_new_snapshot(clv_context *ctx, const void *problem, void **snapshot) {
    (void)problem;
    *snapshot = CLV_NEW0(ctx, toy_iterate, 1);
    return *snapshot ? CLV_OK : CLV_ENOMEM;
}

static clv_status toy_save(void *state, void *snapshot) {
    const toy_state *toy = state;
    if (atomic_fetch_add(&toy->problem->saved, 1) + 1 == toy->problem->saves) {
        return clv_fail(toy->problem->ctx, CLV_ENOMEM, "planted failure of a snapshot");
    }
    *(toy_iterate *)snapshot = toy->now;
    return CLV_OK;
}

static clv_status toy_resume(void *state, const void *snapshot, clv_iterate *out) {
    toy_state *toy = state;
    if (toy->problem->resume_interrupted) {
        return CLV_EINTERRUPTED;
    }
    if (toy->problem->asks && clv_worked(toy->problem->ctx, toy->problem->work)) {
        return clv_stop_failure(toy->problem->ctx, "recomputing a toy");
    }
    memcpy(&toy->now, snapshot, sizeof(toy_iterate));
    toy->carried_error = 0;
    atomic_fetch_add(&toy->problem->resumes, 1);
    describe(toy, out);
    return CLV_OK;
}

static const clv_method toy = {.name = "toy", .objective = "square", .certificate = "distance"};
static const clv_method toy_upwards = {.name = "toy", .objective = "square", .maximize = 1, .certificate = "distance"};

static clv_solver toy_solver(const toy_problem *problem) {
    return (clv_solver){.method = &toy,
                        .tolerance = 1e-8,
                        .problem = problem,
                        .create = toy_create,
                        .destroy = toy_destroy,
                        .start = toy_start,
                        .step = toy_step,
                        .new_snapshot = toy_new_snapshot,
                        .free_snapshot = clv_free,
                        .save = toy_save,
                        .resume = toy_resume};
}

typedef struct fixture {
    clv_context *ctx;
    toy_problem problem;
    clv_solver solver;
    clv_control control;
    clv_result *result;
    toy_iterate answer;
} fixture;

static void set_up(fixture *f) {
    memset(f, 0, sizeof *f);
    assert_int_equal(clv_context_new(NULL, &f->ctx), CLV_OK);
    f->problem.ctx = f->ctx;
    f->problem.factor = 0.5;
    f->solver = toy_solver(&f->problem);
    clv_options_defaults(clv_control_table(), &f->control);
    f->control.threads = 1;
}

static clv_status drive(fixture *f) {
    clv_result_free(f->result);
    assert_int_equal(clv_result_new(f->ctx, 0, 0, &f->result), CLV_OK);
    void *answer;
    clv_deadline before = clv_deadline_begin(f->ctx, f->control.time_limit);
    clv_status status = clv_drive(f->ctx, &f->solver, &f->control, f->result, &answer);
    clv_deadline_end(f->ctx, before);
    if (status == CLV_OK) {
        f->answer = *(toy_iterate *)answer;
    } else {
        assert_null(answer);
    }
    clv_free(f->ctx, answer);
    return status;
}

static void tear_down(fixture *f) {
    size_t now, peak;
    clv_result_free(f->result);
    clv_context_memory(f->ctx, &now, &peak);
    assert_int_equal(now, 0);
    clv_context_free(f->ctx);
}

static double offset_of(int64_t seed, int64_t restart) {
    clv_rng rng = clv_rng_stream((uint64_t)seed, (uint64_t)restart);
    return clv_rng_uniform(&rng);
}

static void descends_to_the_minimum(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CONVERGED);
    assert_true(fabs(f.answer.x - 3) < 1e-8);
    assert_true(f.result->objective.value == (f.answer.x - 3) * (f.answer.x - 3) + offset_of(1, 0));
    assert_true(f.result->certificate.holds);
    assert_true(f.result->certificate.value == fabs(f.answer.x - 3));
    assert_true(f.result->drift == 0);
    assert_int_equal(f.result->restarts_count, 1);
    assert_int_equal(f.result->restarts[0].iterations, f.result->iterations);
    assert_string_equal(f.result->objective.name, "square");
    assert_string_equal(f.result->certificate.name, "distance");
    assert_false(f.result->objective.maximize);
    tear_down(&f);
}

static void same_outcome_on_any_threads(void **unused) {
    (void)unused;
    const int64_t restarts[] = {1, 2, 7};
    for (int which = 0; which < 3; which++) {
        int64_t best = 0;
        for (int64_t r = 1; r < restarts[which]; r++) {
            best = offset_of(5, r) < offset_of(5, best) ? r : best;
        }
        for (int64_t threads = 1; threads <= 3; threads++) {
            fixture f;
            set_up(&f);
            f.control.seed = 5;
            f.control.restarts = restarts[which];
            f.control.threads = threads;
            f.control.keep_trace = 1;
            f.problem.delay_us = 20;
            assert_int_equal(drive(&f), CLV_OK);
            assert_true(f.answer.offset == offset_of(5, best));
            assert_int_equal(f.result->restarts_count, restarts[which]);
            assert_true(atomic_load(&f.problem.most_alive) <= threads);
            int64_t row = 0;
            for (int64_t r = 0; r < restarts[which]; r++) {
                assert_true(fabs(f.result->restarts[r].objective - offset_of(5, r)) < 1e-15);
                for (int64_t i = 0; i <= f.result->restarts[r].iterations; i++, row++) {
                    assert_int_equal(f.result->trace[row].restart, r);
                    assert_int_equal(f.result->trace[row].iteration, i);
                }
            }
            assert_int_equal(row, f.result->trace_count);
            tear_down(&f);
        }
    }
}

static void ties_go_to_the_lowest_restart(void **unused) {
    (void)unused;
    for (int64_t threads = 1; threads <= 3; threads++) {
        fixture f;
        set_up(&f);
        f.control.restarts = 6;
        f.control.threads = threads;
        f.control.max_iter = 0;
        f.problem.delay_us = 1000; /* time for every worker to get some */
        f.problem.climb = 1e300;   /* drowns the differences: every start has the same value */
        assert_int_equal(drive(&f), CLV_OK);
        assert_true(f.answer.offset == offset_of(1, 0));
        tear_down(&f);
    }
}

static void drift_is_reported_and_refreshed(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.drift = -1e-3; /* the carried value is too good, more so with every step */
    assert_int_equal(drive(&f), CLV_OK);
    assert_true(f.result->drift > 1e-3);
    assert_true(f.result->objective.value == (f.answer.x - 3) * (f.answer.x - 3) + f.answer.offset);
    assert_true(atomic_load(&f.problem.resumes) == 4); /* the end, and three times on */
    assert_int_equal(f.result->stop, CLV_STALLED);
    f.problem.drift = 1e-13; /* rounding */
    atomic_store(&f.problem.resumes, 0);
    assert_int_equal(drive(&f), CLV_OK);
    assert_true(atomic_load(&f.problem.resumes) == 1);
    assert_int_equal(f.result->stop, CLV_CONVERGED);
    tear_down(&f);
}

static void a_false_certificate_does_not_stop_a_run(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.solver.stops_on_certificate = true;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CONVERGED);
    assert_true(f.result->certificate.holds);
    int64_t honest = f.result->iterations;
    f.problem.false_gap = 1e-4; /* steps claim to be nearer than they are */
    atomic_store(&f.problem.resumes, 0);
    assert_int_equal(drive(&f), CLV_OK);
    assert_true(f.result->iterations < honest);
    assert_int_equal(f.result->stop, CLV_STALLED);
    assert_false(f.result->certificate.holds);
    assert_true(f.result->certificate.value == fabs(f.answer.x - 3));
    assert_int_equal(atomic_load(&f.problem.resumes), 4);
    tear_down(&f);
}

static void iteration_limit(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.factor = 0; /* never arrives */
    f.control.max_iter = 17;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_ITERATION_LIMIT);
    assert_int_equal(f.result->iterations, 17);
    assert_false(f.result->certificate.holds);
    f.control.max_iter = 0;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->iterations, 0);
    tear_down(&f);
}

static void best_iterate_is_kept(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.climb = 1e6; /* lowest at step 5, up and away before and after */
    f.problem.factor = 0.01;
    f.control.max_iter = 40;
    f.control.keep_trace = 1;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.answer.steps, 5);
    double least = INFINITY;
    for (int64_t i = 0; i < f.result->trace_count; i++) {
        least = fmin(least, f.result->trace[i].objective);
    }
    assert_true(f.result->objective.value == least);
    assert_int_equal(f.result->iterations, 40);
    f.solver.method = &toy_upwards;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.answer.steps, 40);
    tear_down(&f);
}

static void a_failing_step_ends_the_run(void **unused) {
    (void)unused;
    for (int64_t threads = 1; threads <= 3; threads++) {
        fixture f;
        set_up(&f);
        f.problem.fails_at = 3;
        f.control.restarts = 5;
        f.control.threads = threads;
        f.control.keep_trace = 1;
        assert_int_equal(drive(&f), CLV_ENUMERIC);
        assert_string_equal(clv_message(f.ctx), "planted failure at step 3");
        tear_down(&f);
    }
}

static void a_step_into_nan_keeps_the_best(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.nan_at = 4;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_STALLED);
    assert_int_equal(f.answer.steps, 3);
    tear_down(&f);
}

static int cancel_at_six(const clv_progress *progress, void *user) {
    int *calls = user;
    (*calls)++;
    assert_true(progress->best <= progress->objective);
    return progress->iteration >= 6;
}

static void the_monitor_cancels(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    int calls = 0;
    f.problem.factor = 0.01;
    f.control.monitor = cancel_at_six;
    f.control.monitor_user = &calls;
    f.control.restarts = 3;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CANCELLED);
    assert_int_equal(calls, 7);
    assert_int_equal(f.result->restarts_count, 1);
    assert_int_equal(f.answer.steps, 6);
    tear_down(&f);
}

static int count_down(void *user) {
    int *left = user;
    return --*left <= 0;
}

static void the_interrupt_hook_ends_with_the_best(void **unused) {
    (void)unused;
    for (int64_t threads = 1; threads <= 2; threads++) {
        fixture f;
        set_up(&f);
        int polls = 20;
        f.problem.factor = 0;
        f.problem.delay_us = 10;
        f.control.max_iter = 1000000000;
        f.control.restarts = 4;
        f.control.threads = threads;
        clv_context_set_interrupt(f.ctx, count_down, &polls);
        assert_int_equal(drive(&f), CLV_OK);
        assert_int_equal(f.result->stop, CLV_CANCELLED);
        assert_true(f.result->restarts_count >= 1 && f.result->restarts_count <= threads);
        polls = 0; /* the first start, and no more */
        assert_int_equal(drive(&f), CLV_OK);
        assert_int_equal(f.result->stop, CLV_CANCELLED);
        assert_int_equal(f.result->iterations, 0);
        tear_down(&f);
    }
}

/* Restart 0 ends at once on the calling thread or another one; the one that goes on for ever must still be reached. */
static void the_hook_is_polled_while_others_work(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    int polls = 200;
    f.problem.factor = 1e-9;
    f.problem.delay_us = 100;
    f.control.max_iter = 1000000000;
    f.control.restarts = 2;
    f.control.threads = 2;
    clv_context_set_interrupt(f.ctx, count_down, &polls);
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CANCELLED);
    tear_down(&f);
}

static void interrupted_steps_keep_what_there_is(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.interrupted_at = 8;
    f.problem.factor = 0.1;
    f.control.restarts = 3;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CANCELLED);
    assert_int_equal(f.answer.steps, 7);
    assert_false(isnan(f.result->certificate.value));
    f.problem.tells = true; /* what such a step has reached counts */
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.answer.steps, 8);
    f.problem.tells = false;
    f.problem.resume_interrupted = true; /* not even the recomputation is allowed */
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.answer.steps, 7);
    assert_true(isnan(f.result->certificate.value));
    assert_false(f.result->certificate.holds);
    f.problem.start_interrupted = true;
    assert_int_equal(drive(&f), CLV_EINTERRUPTED);
    tear_down(&f);
}

static void the_time_limit_skips_restarts(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.factor = 0;
    f.problem.delay_us = 100;
    f.control.max_iter = 1000000000;
    f.control.restarts = 1000000000;
    f.control.time_limit = 0.02;
    f.control.threads = 2;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_TIME_LIMIT);
    assert_true(f.result->restarts_count <= 2);
    f.control.time_limit = 1e-12; /* nothing but the first start, yet a result */
    f.control.threads = 1;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_TIME_LIMIT);
    assert_int_equal(f.result->restarts_count, 1);
    assert_int_equal(f.result->iterations, 0);
    tear_down(&f);
}

/* Before the first start is evaluated so much work is done as passes in a moment, however short the limit: less of it
 * has a result, more has none. Other failures are those of the hook. */
static void a_first_start_has_its_grace(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.problem.asks = true;
    f.problem.work = 1000;
    f.control.time_limit = 1e-12;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_TIME_LIMIT);
    assert_int_equal(f.result->iterations, 0);
    assert_false(isnan(f.result->certificate.value)); /* the recomputation is worth the wait */
    assert_int_equal(atomic_load(&f.problem.resumes), 1);
    f.problem.work = (int64_t)1 << 40;
    assert_int_equal(drive(&f), CLV_ETIME);
    assert_non_null(strstr(clv_message(f.ctx), "time limit passed before the first start of toy"));
    f.control.time_limit = 0;
    assert_int_equal(drive(&f), CLV_OK);
    assert_int_equal(f.result->stop, CLV_CONVERGED);
    f.control.time_limit = 1e-12;
    int polls = 0;
    clv_context_set_interrupt(f.ctx, count_down, &polls);
    assert_int_equal(drive(&f), CLV_EINTERRUPTED);
    tear_down(&f);
}

static void a_snapshot_may_fail(void **unused) {
    (void)unused;
    for (int64_t number = 1; number <= 4; number++) {
        fixture f;
        set_up(&f);
        f.problem.saves = number;
        f.control.restarts = 2;
        assert_int_equal(drive(&f), CLV_ENOMEM);
        assert_string_equal(clv_message(f.ctx), "planted failure of a snapshot");
        tear_down(&f);
    }
}

/* --- the frame of a solve --- */

typedef struct solve_job {
    clv_status status;
    bool late;
} solve_job;

/* A method whose points are the job. */
static clv_status work_on(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    solve_job *job = (solve_job *)(uintptr_t)input->points->values;
    (void)options;
    CLV_TRY(clv_result_new(ctx, 0, 0, out));
    (*out)->restarts = CLV_NEW0(ctx, clv_restart, 2);
    (*out)->restarts_count = 2;
    clv_result_claim(*out, &toy, 1, 0, 0);
    (*out)->restarts[0].seconds = NAN;
    (*out)->restarts[1].seconds = 1e-9;
    spend(2000);
    job->late = clv_out_of_time(ctx);
    return job->status;
}

typedef struct work_options {
    clv_control control;
    int solver;
} work_options;

static const clv_option work_list[] = {
    CLV_OPT_CHOICE(work_options, solver, "solver", 0, "gradient|newton", "how"),
};
static const clv_option_table work_table = {"work", work_list, CLV_COUNT(work_list), sizeof(work_options)};
static const clv_method work = {.name = "work", .takes = CLV_TAKES_POINTS, .options = &work_table, .solve = work_on};

static void a_solve_has_a_deadline_and_a_time(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    for (int limit = 0; limit < 3; limit++) { /* none; of the call; of the context */
        solve_job job = {0};
        work_options options;
        clv_result *result;
        clv_matrix points = {.rows = 1, .cols = 1, .values = &job};
        clv_method_defaults(&work, &options, sizeof options);
        options.solver = 1;
        options.control.seed = 7;
        options.control.time_limit = limit == 1 ? 1e-3 : limit == 2 ? 1000 : 0;
        clv_context_set_time_limit(f.ctx, limit == 2 ? 1e-3 : 0);
        assert_int_equal(clv_solve(f.ctx, &work, &(clv_input){.points = &points}, &options, &result), CLV_OK);
        assert_int_equal(job.late, limit > 0);
        assert_int_equal(clv_out_of_time(f.ctx), limit == 2);
        assert_true(result->seconds >= 2e-3 && result->restarts[0].seconds == result->seconds);
        assert_true(result->restarts[1].seconds == 1e-9);
        assert_string_equal(result->method, "work");
        assert_string_equal(result->solver, "newton");
        assert_int_equal(result->seed, 7);
        clv_result_free(result);
        job.status = CLV_EDATA;
        assert_int_equal(clv_solve(f.ctx, &work, &(clv_input){.points = &points}, &options, &result), CLV_EDATA);
        assert_null(result);
    }
    tear_down(&f);
}

static void refuses_bad_control(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    f.control.restarts = 0;
    assert_int_equal(drive(&f), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(f.ctx), "restarts"));
    tear_down(&f);
}

static void threads_are_split_over_workers(void **unused) {
    (void)unused;
    clv_control control = {.threads = 8, .restarts = 3};
    assert_int_equal(clv_driver_workers(&control), 3);
    assert_int_equal(clv_driver_threads_each(&control), 2);
    control.restarts = 1;
    assert_int_equal(clv_driver_threads_each(&control), 8);
    control.restarts = 100;
    assert_int_equal(clv_driver_workers(&control), 8);
    assert_int_equal(clv_driver_threads_each(&control), 1);
}

static void results_count_their_labels(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_result *result;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    assert_int_equal(clv_result_new(ctx, 5, 3, &result), CLV_OK);
    const int32_t labels[] = {2, -1, 2, 0, -1};
    memcpy(result->labels, labels, sizeof labels);
    clv_result_count(result);
    clv_result_count(result);
    assert_int_equal(result->sizes[0], 1);
    assert_int_equal(result->sizes[1], 0);
    assert_int_equal(result->sizes[2], 2);
    assert_int_equal(result->left_out, 2);
    const char *const texts[] = {"one", NULL};
    const clv_field field = {.name = "words", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = 2, .texts = texts};
    assert_int_equal(clv_result_put(result, &field), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx), "words: text 2 of 2 is not there");
    assert_null(clv_result_field(result, "words"));
    clv_result_free(result);
    clv_result_free(NULL);
    assert_int_equal(clv_result_new(ctx, -1, 3, &result), CLV_EUSAGE);
    assert_int_equal(clv_result_new(ctx, 3, -1, &result), CLV_EUSAGE);
    assert_null(result);
    clv_context_free(ctx);
    assert_string_equal(clv_stop_name(CLV_TIME_LIMIT), "time limit");
}

/* --- running out of memory at every allocation in turn --- */

typedef struct failing_memory {
    atomic_int left, live;
} failing_memory;

static void *allocate_or_fail(void *user, size_t bytes) {
    failing_memory *memory = user;
    if (atomic_fetch_sub(&memory->left, 1) <= 0) {
        return NULL;
    }
    atomic_fetch_add(&memory->live, 1);
    return malloc(bytes);
}

static void release_counted(void *user, void *block) {
    atomic_fetch_sub(&((failing_memory *)user)->live, 1);
    free(block);
}

static clv_status drive_with(failing_memory *memory, int64_t threads) {
    clv_allocator allocator = {allocate_or_fail, release_counted, memory};
    clv_context *ctx;
    CLV_TRY(clv_context_new(&allocator, &ctx));
    toy_problem problem = {.ctx = ctx, .factor = 0.5};
    clv_solver solver = toy_solver(&problem);
    clv_control control;
    clv_options_defaults(clv_control_table(), &control);
    control.restarts = 4;
    control.keep_trace = 1;
    control.monitor = NULL;
    control.threads = threads;
    clv_result *result = NULL;
    void *answer = NULL;
    clv_status status = clv_result_new(ctx, 3, 2, &result);
    if (status == CLV_OK) {
        status = clv_drive(ctx, &solver, &control, result, &answer);
    }
    clv_free(ctx, answer);
    clv_result_free(result);
    clv_context_free(ctx);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    for (int64_t threads = 1; threads <= 2; threads++) {
        clv_status status = CLV_ENOMEM;
        int k = 0;
        for (; status != CLV_OK && k < 200; k++) {
            failing_memory memory;
            atomic_init(&memory.left, k);
            atomic_init(&memory.live, 0);
            status = drive_with(&memory, threads);
            assert_true(status == CLV_OK || status == CLV_ENOMEM);
            assert_int_equal(atomic_load(&memory.live), 0);
        }
        assert_int_equal(status, CLV_OK);
        assert_true(k > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descends_to_the_minimum),
        cmocka_unit_test(same_outcome_on_any_threads),
        cmocka_unit_test(ties_go_to_the_lowest_restart),
        cmocka_unit_test(drift_is_reported_and_refreshed),
        cmocka_unit_test(a_false_certificate_does_not_stop_a_run),
        cmocka_unit_test(iteration_limit),
        cmocka_unit_test(best_iterate_is_kept),
        cmocka_unit_test(a_failing_step_ends_the_run),
        cmocka_unit_test(a_step_into_nan_keeps_the_best),
        cmocka_unit_test(the_monitor_cancels),
        cmocka_unit_test(the_interrupt_hook_ends_with_the_best),
        cmocka_unit_test(the_hook_is_polled_while_others_work),
        cmocka_unit_test(interrupted_steps_keep_what_there_is),
        cmocka_unit_test(the_time_limit_skips_restarts),
        cmocka_unit_test(a_first_start_has_its_grace),
        cmocka_unit_test(a_snapshot_may_fail),
        cmocka_unit_test(a_solve_has_a_deadline_and_a_time),
        cmocka_unit_test(refuses_bad_control),
        cmocka_unit_test(threads_are_split_over_workers),
        cmocka_unit_test(results_count_their_labels),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
