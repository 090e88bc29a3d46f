/* Scenarios of methods: all of the list in the same way, and what some have beyond that. */
#include "alloc.h"

#include "methods/methods.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- every method --- */

/* What a method is given here, and what its report lists. */
typedef struct trial {
    const clv_method *method;
    clv_input input;
    clv_affinity_options how;
    clv_options_room room;
    clv_affinity_info info;
    int scale;
} trial;

static clv_control *control_of(trial *t) {
    return (clv_control *)(void *)t->room.bytes;
}

static clv_status choose(clv_context *ctx, const clv_method *method, int64_t threads, trial *t) {
    *t = (trial){.method = method, .how = how_to_build(&(scenario){.kind = CLV_AFFINITY_GAUSSIAN}, threads)};
    clv_method_defaults(t->method, t->room.bytes, t->method->options->size);
    clv_control *control = control_of(t);
    control->threads = threads;
    control->max_iter = 5;
    control->keep_trace = 1;
    return clv_options_set(ctx, t->method->options, t->room.bytes, "k", "3");
}

/* Points, with an affinity or targets where the method takes these. */
static clv_status provide(clv_context *ctx, holder *made, trial *t) {
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    t->input.points = clv_data_matrix(made->data[0]);
    if (t->method->takes == CLV_TAKES_AFFINITY) {
        CLV_TRY(clv_suit_affinity(ctx, t->method, t->input.points, t->room.bytes, &t->how));
        CLV_TRY(clv_affinity_build(ctx, t->input.points, &t->how, &made->affinity));
        clv_affinity_describe(made->affinity, &t->info);
        t->input.affinity = made->affinity;
    }
    if (t->method->takes == CLV_TAKES_SAMPLES) {
        CLV_TRY(clv_read_targets(ctx, "labels.csv", &made->data[1]));
        t->input.targets = clv_data_matrix(made->data[1]);
    }
    return CLV_OK;
}

/* The old points, taken for new ones; for an affinity by their similarities too. */
static clv_status ask_about_new(clv_context *ctx, holder *made, const trial *t) {
    const clv_method *method = t->method;
    if (!method->predict) {
        return CLV_OK;
    }
    CLV_TRY(clv_predict(ctx, method, &t->input, t->room.bytes, made->result, &(clv_fresh){.points = t->input.points},
                        &made->fresh));
    if (!made->affinity) {
        return CLV_OK;
    }
    clv_result_free(made->fresh);
    made->fresh = NULL;
    CLV_TRY(clv_affinity_materialize(made->affinity, &made->data[2]));
    return clv_predict(ctx, method, &t->input, t->room.bytes, made->result,
                       &(clv_fresh){.similarities = clv_data_matrix(made->data[2])}, &made->fresh);
}

/* The scaling is an option of the program that reads the points. */
static const clv_option scale_option = {
    .name = "scale", .kind = CLV_OPTION_CHOICE, .choices = "none|standard", .help = "scaling of the points"};
static const clv_option_table points_table = {"points", &scale_option, 1, 0};

static clv_status state_and_verify(clv_context *ctx, holder *made, trial *t) {
    const clv_option_table *tables[] = {t->method->options, &points_table, clv_control_table(),
                                        t->input.affinity ? clv_affinity_table() : NULL, NULL};
    const void *structs[] = {t->room.bytes, &t->scale, t->room.bytes, &t->how};
    const clv_report what = {.result = made->result,
                             .affinity = t->input.affinity ? &t->info : NULL,
                             .scale = "none",
                             .tables = tables,
                             .options = structs};
    clv_verdict verdict;
    size_t size;
    CLV_TRY(clv_report_json(ctx, &what, (char **)&made->blocks[0], &size));
    CLV_TRY(clv_claim_parse(ctx, "result", made->blocks[0], size, NULL, &made->claim));
    CLV_TRY(clv_claim_verify(ctx, made->claim, &t->input, 0, control_of(t)->threads, &verdict));
    return verdict.accepted ? CLV_OK : clv_fail(ctx, CLV_EINTERNAL, "rejected: %s", verdict.reason);
}

clv_status use_method(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    trial t;
    size_t count;
    CLV_TRY(choose(ctx, clv_methods(&count)[self->kind], threads, &t));
    CLV_TRY(provide(ctx, made, &t));
    CLV_TRY(clv_solve(ctx, t.method, &t.input, t.room.bytes, &made->result));
    CLV_TRY(clv_evaluate(ctx, t.method, &t.input, t.room.bytes, made->result, &made->found));
    CLV_TRY(ask_about_new(ctx, made, &t));
    return state_and_verify(ctx, made, &t);
}

/* Of the checkpoints of a run, the third, or the last of fewer; its memory is not the library's. */
typedef struct third {
    unsigned char *bytes;
    size_t size;
    int count;
} third;

static int keep_third(const void *bytes, size_t size, void *user) {
    third *kept = user;
    if (kept->count++ < 3) {
        free(kept->bytes);
        kept->bytes = malloc(size);
        kept->size = kept->bytes ? size : 0;
        if (kept->bytes) {
            memcpy(kept->bytes, bytes, size);
        }
    }
    return 0;
}

clv_status go_on(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    trial t;
    size_t count;
    third kept = {0};
    CLV_TRY(choose(ctx, clv_methods(&count)[self->kind], threads, &t));
    CLV_TRY(provide(ctx, made, &t));
    control_of(&t)->restarts = 2;
    clv_context_set_checkpoint(ctx, keep_third, &kept, 0);
    clv_status status = clv_solve(ctx, t.method, &t.input, t.room.bytes, &made->result);
    if (status == CLV_OK && kept.size > 0) {
        status = clv_context_resume(ctx, kept.bytes, kept.size);
    }
    if (status == CLV_OK) {
        status = clv_solve(ctx, t.method, &t.input, t.room.bytes, &made->found);
        (void)clv_context_resume(ctx, NULL, 0);
    }
    free(kept.bytes);
    return status;
}

/* --- what some have beyond that --- */

clv_status cut(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = 3;
    options.control.restarts = 3;
    options.control.threads = threads;
    options.control.keep_trace = 1;
    CLV_TRY(build(ctx, made, self, threads));
    return clv_ncut(ctx, &(clv_input){.affinity = made->affinity}, &options, &made->result);
}

clv_status cut_from_labels(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = 3;
    options.control.threads = threads;
    CLV_TRY(build(ctx, made, self, threads));
    CLV_TRY(clv_read_targets(ctx, "labels.csv", &made->data[1]));
    const clv_input input = {.affinity = made->affinity, .start = clv_data_matrix(made->data[1])};
    CLV_TRY(clv_ncut(ctx, &input, &options, &made->result));
    return clv_ncut_evaluate(ctx, &input, &options, made->result, &made->found);
}

/* Calibrated, solved, evaluated, and its memberships given to the same points as new ones. */
clv_status soft_clusters(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_symnmf_options options;
    clv_affinity_options how = how_to_build(self, threads);
    double gamma;
    clv_symnmf_defaults(&options);
    options.k = 3;
    options.control.threads = threads;
    options.control.restarts = 2;
    options.control.max_iter = 5;
    CLV_TRY(build(ctx, made, self, threads));
    const clv_matrix *points = clv_data_matrix(made->data[0]);
    if (self->kind == CLV_AFFINITY_GAUSSIAN) {
        CLV_TRY(clv_affinity_calibrate(ctx, points, &how, clv_symnmf_mean(3), &gamma));
    }
    const clv_input input = {.affinity = made->affinity};
    CLV_TRY(clv_symnmf(ctx, &input, &options, &made->result));
    CLV_TRY(clv_symnmf_evaluate(ctx, &input, &options, made->result, &made->found));
    return clv_symnmf_predict(ctx, &input, &options, made->result, &(clv_fresh){.points = points}, &made->fresh);
}

/* One model, and a path of two. `kind` is a clv_ksupport_solver; targets by the labels. */
clv_status fit(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_ksupport_options options;
    clv_ksupport_defaults(&options);
    options.k = 1;
    options.solver = self->kind;
    options.inner = self->home;
    options.intercept = 1;
    options.control.threads = threads;
    options.control.max_iter = 2;
    options.control.keep_trace = 1;
    CLV_TRY(clv_read(ctx, self->file, NULL, &made->data[0]));
    CLV_TRY(clv_read_targets(ctx, "labels.csv", &made->data[1]));
    clv_input input = {.points = clv_data_matrix(made->data[0]), .targets = clv_data_matrix(made->data[1])};
    CLV_TRY(clv_ksupport(ctx, &input, &options, &made->result));
    CLV_TRY(clv_ksupport_evaluate(ctx, &input, &options, made->result, &made->found));
    options.k = 0;
    options.path = "1:0.1,1";
    input.validation = input.points;
    input.validation_targets = input.targets;
    return clv_ksupport(ctx, &input, &options, &made->fresh);
}

/* `kind` is a clv_ksupport_solver. */
clv_status pursue(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_pursuit_options options;
    clv_pursuit_defaults(&options);
    options.k = 20;
    options.solver = self->kind;
    options.lambda = 0.1;
    options.control.threads = threads;
    options.control.max_iter = 5;
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    const clv_input input = {.points = clv_data_matrix(made->data[0])};
    CLV_TRY(clv_pursuit(ctx, &input, &options, &made->result));
    CLV_TRY(clv_pursuit_evaluate(ctx, &input, &options, made->result, &made->found));
    return clv_pursuit_affinity(ctx, clv_result_matrix(made->result, "weights"), &made->data[1]);
}

/* How dominant sets are looked for. */
enum { PEEL, PASSES, REPLICATE, WAYS };

static clv_dominant_options how_to_peel(int way, int64_t threads) {
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    options.k = 3;
    options.shift = way == PASSES ? NAN : 0.5; /* NaN: found by trials */
    options.assign = way != REPLICATE;
    options.absorb = way == PEEL ? 0.9 : 0;
    options.multistart = way == PASSES ? 4 : 0;
    options.sampling = CLV_DOMINANT_DPP;
    options.solver = way == REPLICATE ? CLV_DOMINANT_RD : CLV_DOMINANT_PFW;
    options.control.tol = 1e-14; /* so that there is time for a jump on a face */
    options.control.max_iter = 200;
    options.control.threads = threads;
    options.control.keep_trace = 1;
    return options;
}

/* The results so far, to make room for the next ones. */
static void free_results(holder *made) {
    clv_result **all[] = {&made->result, &made->found, &made->fresh};
    for (size_t i = 0; i < CLV_COUNT(all); i++) {
        clv_result_free(*all[i]);
        *all[i] = NULL;
    }
}

/* In all ways, each result evaluated and used on new objects. */
clv_status peel(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    CLV_TRY(build(ctx, made, self, threads));
    CLV_TRY(clv_affinity_materialize(made->affinity, &made->data[1]));
    const clv_input input = {.affinity = made->affinity};
    const clv_fresh fresh = {.similarities = clv_data_matrix(made->data[1])};
    for (int way = 0; way < WAYS; way++) {
        clv_dominant_options options = how_to_peel(way, threads);
        free_results(made);
        CLV_TRY(clv_dominant(ctx, &input, &options, &made->result));
        CLV_TRY(clv_dominant_evaluate(ctx, &input, &options, made->result, &made->found));
        CLV_TRY(clv_dominant_predict(ctx, &input, &options, made->result, &fresh, &made->fresh));
    }
    return CLV_OK;
}

clv_status peel_random(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_dominant_options options = how_to_peel(PEEL, threads);
    options.start = "random";
    options.control.restarts = 3;
    CLV_TRY(build(ctx, made, self, threads));
    const clv_input input = {.affinity = made->affinity};
    CLV_TRY(clv_dominant(ctx, &input, &options, &made->result));
    options.assign = 0; /* new points belong to the clusters that they would join, or to none */
    return clv_dominant_predict(ctx, &input, &options, made->result,
                                &(clv_fresh){.points = clv_data_matrix(made->data[0])}, &made->fresh);
}

/* All solvers, soft and hard answers, evaluated and used on new points. The hard ones begin with centers that are the
 * same: two have no objects, and are given some. */
clv_status center(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    enum { K = 3, MOST_COLUMNS = 64 };
    double zeros[K * MOST_COLUMNS] = {0};
    CLV_TRY(clv_read(ctx, self->file ? self->file : "points.npy", NULL, &made->data[0]));
    clv_input input = {.points = clv_data_matrix(made->data[0])};
    const clv_fresh fresh = {.points = input.points};
    double even[K * 64];
    clv_matrix membership = {.rows = input.points->rows, .cols = K, .values = even};
    for (int i = 0; i < K * 64; i++) {
        even[i] = 1.0 / K;
    }
    const clv_matrix same = {.rows = K, .cols = input.points->cols, .values = zeros};
    for (int way = 0; way < 6; way++) {
        input.start = (way == 1 || way == 2) && same.cols <= MOST_COLUMNS ? &same : NULL;
        clv_kpalm_options options;
        input.start_membership = way == 3 && membership.rows <= 64 ? &membership : NULL;
        clv_kpalm_defaults(&options);
        options.k = K;
        options.solver = way < 3 ? way : CLV_KPALM_KPALM;
        options.norm = way == 3 ? CLV_KPALM_EUCLIDEAN : CLV_KPALM_NORM_AUTO;
        options.empty = CLV_KPALM_RESEED;
        options.object_alpha = way == 4 ? "distance" : "same";
        options.start = way == 5 ? "kmeans-parallel" : "auto";
        options.control.threads = threads;
        options.control.restarts = 2;
        options.control.keep_trace = 1;
        options.control.max_iter = way >= 4 ? 2 : 50;
        free_results(made);
        CLV_TRY(clv_kpalm(ctx, &input, &options, &made->result));
        CLV_TRY(clv_kpalm_evaluate(ctx, &input, &options, made->result, &made->found));
        CLV_TRY(clv_kpalm_predict(ctx, &input, &options, made->result, &fresh, &made->fresh));
    }
    return CLV_OK;
}

/* A range of one k, on subsamples too: of points, which kpalm starts from the row before, and of similarities. */
clv_status range_of_k(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    const clv_method *method = clv_method_find(self->kind ? "ncut" : "kpalm");
    clv_affinity_options how = how_to_build(&(scenario){.kind = CLV_AFFINITY_GAUSSIAN}, threads);
    clv_options_room options;
    clv_method_defaults(method, options.bytes, method->options->size);
    ((clv_control *)(void *)options.bytes)->threads = threads;
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    return clv_solve_range(ctx, method, &(clv_input){.points = clv_data_matrix(made->data[0])}, options.bytes,
                           self->kind ? 3 : 2, 3, self->kind ? &how : NULL, &made->affinity, &made->result);
}

/* --- reports --- */

typedef clv_status (*report_writer)(clv_context *, const clv_report *, char **, size_t *);

/* A report of a run; `file` says which. */
clv_status report(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_ncut_options method;
    clv_affinity_options how = how_to_build(self, threads);
    int scale = 0;
    clv_affinity_info info;
    clv_scores scores;
    size_t size;
    clv_ncut_defaults(&method);
    method.k = 3;
    method.control.restarts = 3;
    CLV_TRY(cut(ctx, made, self, threads));
    CLV_TRY(clv_compare(ctx, made->result->labels, made->result->labels, made->result->n, &scores));
    clv_affinity_describe(made->affinity, &info);
    const clv_option_table *tables[] = {&points_table, clv_affinity_table(), clv_control_table(),
                                        clv_method_find("ncut")->options, NULL};
    const void *structs[] = {&scale, &how, &method.control, &method};
    clv_report what = {.result = made->result,
                       .affinity = &info,
                       .scores = &scores,
                       .scale = "none",
                       .tables = tables,
                       .options = structs,
                       .points = clv_data_matrix(made->data[0])};
    report_writer writer = strcmp(self->file ? self->file : "", "points.csv") == 0 ? clv_report_html : clv_report_json;
    CLV_TRY(writer(ctx, &what, (char **)&made->blocks[0], &size));
    if (writer == clv_report_json) {
        return CLV_OK;
    }
    CLV_TRY(clv_report_table(ctx, &what, (char **)&made->blocks[1], &size));
    return clv_report_trace(ctx, &what, (char **)&made->blocks[2], &size);
}

clv_status verify(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_verdict verdict;
    (void)self;
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    CLV_TRY(clv_claim_read(ctx, "result.json", &made->claim));
    const clv_input input = {.points = clv_data_matrix(made->data[0])};
    CLV_TRY(clv_claim_verify(ctx, made->claim, &input, 0, threads, &verdict));
    return verdict.accepted ? CLV_OK : clv_fail(ctx, CLV_EINTERNAL, "rejected: %s", verdict.reason);
}
