/* Methods made by hand, run by the code of the command: what the command can do for a method that no method of the
 * library needs, or not alone. Not a part of cleave.
 *
 *   soft DATA   on points alone: memberships (sparse), centers; labels and memberships of new objects
 *   hard DATA   on an affinity: labels, which are all the membership there is
 *   fit X Y     two operands, weights, no labels */
#include "../../cli/job.h"
#include "engine/driver.h"
#include "linalg/linalg.h"

#include <string.h>

static void defaults(cli_method_options *options) {
    clv_ncut_defaults(&options->ncut);
    options->ncut.k = 2;
}

static clv_status check(const cli_job *job) {
    (void)job;
    return CLV_OK;
}

static clv_status prepare(cli_job *job) {
    if (job->args.operand_count < 2) {
        return CLV_OK;
    }
    return cli_library(job->app, clv_read(job->app->ctx, job->args.operands[1], NULL, &job->extra[0]));
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    (void)home;
    return (size_t)(points->rows * points->cols * options->ncut.k) * sizeof(double);
}

/* Objects in turn: 0, 1, ..., k - 1, 0, ... */
static clv_status start_result(const cli_job *job, int64_t n, int64_t k, clv_result **out) {
    CLI_TRY(clv_result_new(job->app->ctx, n, k, out));
    clv_result *result = *out;
    result->method = job->method->command->name;
    result->solver = "hand";
    result->objective = (clv_objective){"rows", (double)clv_data_matrix(job->data)->rows, 0};
    result->certificate = (clv_certificate){"none", 0, 0, 1};
    for (int64_t i = 0; i < n; i++) {
        result->labels[i] = (int32_t)(i % k);
    }
    if (n > 0) {
        clv_result_count(result);
    }
    return CLV_OK;
}

/* The first object belongs to one cluster alone. */
static clv_status fill_soft(const cli_job *job, clv_result *result) {
    int64_t n = result->n, k = result->k, p = clv_data_matrix(job->data)->cols, count = 0;
    CLI_TRY(clv_data_new_csr(job->app->ctx, "membership", n, k, 2 * n - 1, &result->membership));
    CLI_TRY(clv_data_new_dense(job->app->ctx, "centers", k, p, CLV_F64, &result->centers));
    for (int64_t i = 0; i < n; i++) {
        for (int32_t c = 0; c < (i ? 2 : 1); c++) {
            result->membership->index[count] = c;
            ((double *)result->membership->values)[count++] = i ? 0.5 : 1;
        }
        result->membership->start[i + 1] = count;
    }
    for (int64_t i = 0; i < k * p; i++) {
        ((double *)result->centers->values)[i] = (double)i / 8;
    }
    return CLV_OK;
}

static clv_status solve_soft(const cli_job *job, const cli_method_options *options, clv_result **out) {
    CLI_TRY(job->affinity ? CLV_EINTERNAL : CLV_OK);
    CLI_TRY(start_result(job, clv_data_matrix(job->data)->rows, options->ncut.k, out));
    return fill_soft(job, *out);
}

static clv_status solve_hard(const cli_job *job, const cli_method_options *options, clv_result **out) {
    CLI_TRY(start_result(job, clv_affinity_size(job->affinity), options->ncut.k, out));
    (*out)->labels[1] = -1;
    clv_result_count(*out);
    return CLV_OK;
}

static clv_status solve_fit(const cli_job *job, const cli_method_options *options, clv_result **out) {
    const clv_matrix *targets = clv_data_matrix(job->extra[0]);
    CLI_TRY(start_result(job, 0, options->ncut.k, out));
    CLI_TRY(clv_data_new_dense(job->app->ctx, "weights", 1, targets->rows, CLV_F64, &(*out)->weights));
    memcpy((*out)->weights->values, targets->values, (size_t)targets->rows * sizeof(double));
    return CLV_OK;
}

/* The label is the first coordinate, scaled like the old ones. */
static clv_status predict(const cli_job *job, int32_t *labels) {
    const clv_matrix *fresh = clv_data_matrix(job->fresh);
    for (int64_t i = 0; i < fresh->rows; i++) {
        labels[i] = (int32_t)((const double *)fresh->values)[i * fresh->cols];
    }
    return CLV_OK;
}

static clv_status predict_membership(const cli_job *job, int32_t *labels, double *membership) {
    CLI_TRY(predict(job, labels));
    for (int64_t i = 0; i < clv_data_matrix(job->fresh)->rows * job->result->k; i++) {
        membership[i] = (double)i;
    }
    return CLV_OK;
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv);

static const cli_command commands[] = {
    {"soft", "made by hand", {"DATA"}, "Made by hand.\n", "  none\n", run},
    {"hard", "made by hand", {"DATA"}, "Made by hand.\n", "  none\n", run},
    {"fit", "made by hand", {"X", "Y"}, "Made by hand.\n", "  none\n", run},
};
enum { METHODS = sizeof commands / sizeof *commands };

static const cli_method methods[METHODS] = {
    {.command = &commands[0],
     .table = clv_ncut_table,
     .defaults = defaults,
     .check = check,
     .prepare = prepare,
     .memory = memory,
     .solve = solve_soft,
     .predict = predict,
     .predict_membership = predict_membership,
     .points_only = true,
     .outputs = CLI_LABELS | CLI_MEMBERSHIP | CLI_CENTERS},
    {.command = &commands[1],
     .table = clv_ncut_table,
     .defaults = defaults,
     .check = check,
     .prepare = prepare,
     .memory = memory,
     .solve = solve_hard,
     .predict = predict,
     .predict_membership = NULL,
     .points_only = false,
     .outputs = CLI_LABELS | CLI_MEMBERSHIP | CLI_WEIGHTS},
    {.command = &commands[2],
     .table = clv_ncut_table,
     .defaults = defaults,
     .check = check,
     .prepare = prepare,
     .memory = memory,
     .solve = solve_fit,
     .predict = NULL,
     .predict_membership = NULL,
     .points_only = true,
     .outputs = CLI_WEIGHTS},
};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    return cli_job_run(app, &methods[command - commands], argc, argv);
}

int main(int argc, char **argv) {
    cli_app app = {.program = argv[0], .started = cli_seconds()};
    int code = 70;
    if (argc < 2 || clv_context_new(NULL, &app.ctx) < 0) {
        return code;
    }
    for (size_t i = 0; i < METHODS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            app.command = commands[i].name;
            code = commands[i].run(&app, &commands[i], argc - 2, argv + 2);
        }
    }
    size_t now, peak;
    clv_context_memory(app.ctx, &now, &peak);
    clv_context_free(app.ctx);
    return now == 0 ? code : 70;
}
