/* How long the similarities of all objects take, said before the work begins: some objects are measured, and the rest
 * predicted. Where that is longer than the time limit, a graph of nearest neighbors takes their place if nobody asked
 * for another affinity and there is time for it; else the affinity is not made. Where a pass takes long, another
 * affinity is suggested, and what was asked for is done all the same. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many objects are measured, of a search for neighbors or of landmarks more; up to MANY all of them take moments. */
enum { SAMPLED = 1024, MANY = 8 * SAMPLED, FEW_LANDMARKS = 256 };
#define LONG_PASS 30.0 /* seconds of a pass that, several times, are minutes */

/* Seconds. Before their first iteration ncut and symnmf make the affinity and pass over it twice. */
typedef struct estimate {
    double before; /* the first iteration */
    double pass;   /* each time that entries are computed again; 0: they are kept */
    bool pairs;    /* these are all pairs */
} estimate;

/* Plans of knn graphs and of factors have no pass over all pairs in them. */
static bool has_all_pairs(const clv_affinity_info *plan) {
    double n = (double)plan->n;
    return !plan->sparse && 2 * plan->cost.pass > n * n;
}

/* The shortest of three passes counts: a sample is short enough for others to get in its way. */
static clv_status measure_sample(const cli_job *job, const clv_matrix *few, clv_affinity_options how, estimate *out) {
    double began = cli_seconds(), *sums = malloc((size_t)few->rows * sizeof *sums);
    clv_affinity *a = NULL;
    clv_status status = sums ? cli_make_affinity(job, few, &how, &a) : CLV_ENOMEM;
    double made = cli_seconds() - began, shortest = INFINITY;
    for (int pass = 0; status >= 0 && pass < 3; pass++) {
        began = cli_seconds();
        status = clv_affinity_degrees(a, sums, how.threads);
        shortest = fmin(shortest, cli_seconds() - began);
    }
    *out = (estimate){.before = made + 2 * shortest, .pass = shortest};
    clv_affinity_free(a);
    free(sums);
    return status;
}

/* Of M landmarks per object: similarities, each as much as some hundred products, and M^2 / 2 products. */
static double landmark_work(const clv_matrix *points, int64_t landmarks) {
    return (double)landmarks * (256 + (double)points->cols + (double)landmarks / 2);
}

/* What is measured of an affinity like this, and how often as long all of it takes: pairs grow with the square of the
 * objects, a factor with them, an approximate search with n log n. */
static double sample_of(const clv_affinity_info *plan, clv_affinity_options *how, clv_matrix *few) {
    bool pairs = has_all_pairs(plan), exact = how->search == CLV_SEARCH_EXACT;
    few->rows = pairs ? SAMPLED : MANY;
    double n = (double)plan->n, ratio = n / (double)few->rows;
    if (how->landmarks > 0) {
        double all = landmark_work(few, how->landmarks);
        how->landmarks = how->landmarks < FEW_LANDMARKS ? how->landmarks : FEW_LANDMARKS;
        return ratio * all / landmark_work(few, how->landmarks);
    }
    how->search = pairs || exact ? how->search : CLV_SEARCH_APPROXIMATE;
    return pairs || exact ? ratio * ratio : ratio * log(n) / log((double)few->rows);
}

/* Clusters that are found one after the other need what the first one needs. */
static void ask_for_the_first(const clv_method *method, char *options) {
    const clv_option *k = clv_options_find(method->options, "k");
    int64_t one = 1;
    memcpy(options + k->offset, &one, sizeof one);
}

/* Whether a first cluster is an answer, and others may follow. */
static bool comes_one_by_one(const cli_job *job) {
    return job->method->k_meaning == CLV_K_AT_MOST && clv_options_find(job->method->options, "k");
}

/* Zeros: it takes no time to speak of, or what is wrong will be said where it is made. */
static estimate predict(const cli_job *job, const clv_affinity_options *how, bool first) {
    clv_context *ctx = job->app->ctx;
    const clv_matrix *points = clv_data_matrix(job->data);
    clv_matrix few = *points;
    clv_affinity_options suited = *how, own = *how;
    clv_affinity_info plan;
    estimate found = {0};
    _Alignas(max_align_t) char options[CLI_METHOD_OPTIONS];
    memcpy(options, job->options, sizeof options);
    if (first) {
        ask_for_the_first(job->method, options);
    }
    few.rows = SAMPLED;
    if (clv_suit_affinity(ctx, job->method, &few, options, &suited) < 0 ||
        clv_affinity_plan(ctx, points, &suited, &plan) < 0) {
        return (estimate){0};
    }
    bool pairs = has_all_pairs(&plan);
    if (suited.looks > 0 && !plan.cost.resident) {
        return (estimate){0}; /* they are computed as they are looked at */
    }
    double times = sample_of(&plan, &own, &few);
    if (plan.on_card || (!pairs && !plan.sparse && how->landmarks == 0) ||
        (pairs && clv_options_set(ctx, clv_affinity_table(), &own, "home", plan.home) < 0) ||
        measure_sample(job, &few, own, &found) < 0) {
        return (estimate){0};
    }
    return (estimate){found.before * times, pairs && !plan.cost.resident ? found.pass * times : 0, pairs};
}

static const char *print_duration(double seconds, char *text, size_t size) {
    bool hours = seconds >= 7200, minutes = !hours && seconds >= 120;
    double unit = hours ? 3600 : minutes ? 60 : 1;
    snprintf(text, size, "%.*f %s", seconds < 10, seconds / unit, hours ? "hours" : minutes ? "min" : "s");
    return text;
}

/* What else could be asked for: landmarks, where the kind and the method have a use for them. */
static const char *others(const cli_job *job, const clv_affinity_options *how) {
    clv_context *ctx = job->app->ctx;
    const clv_matrix *points = clv_data_matrix(job->data);
    clv_affinity_options asked = *how;
    clv_affinity_info plan;
    asked.landmarks = 500;
    return clv_suit_affinity(ctx, job->method, points, job->options, &asked) >= 0 &&
                   clv_affinity_plan(ctx, points, &asked, &plan) >= 0
               ? "--affinity knn (near objects alone) or --landmarks 500 (all, approximately)"
               : "--affinity knn (near objects alone)";
}

static void suggest(cli_job *job, const clv_affinity_options *how, double pass) {
    char duration[32];
    snprintf(job->suggestion, sizeof job->suggestion,
             "a pass over the similarities of %lld objects takes about %s here, and %s makes several: try %s",
             (long long)clv_data_matrix(job->data)->rows, print_duration(pass, duration, sizeof duration),
             job->method->name, others(job, how));
}

/* The nearest neighbors instead, where nothing else was asked for and the time that is left will do. */
static bool take_neighbors(cli_job *job, clv_affinity_options *how, const char *needed, double left) {
    static const char *const asked[] = {"affinity", "gamma", "home", "landmarks"};
    clv_affinity_options near = *how;
    char duration[32];
    bool free = strcmp(job->method->name, "ncut") == 0; /* the others tell little of a graph of neighbors */
    for (size_t i = 0; i < CLI_COUNT(asked); i++) {
        free = free && !cli_args_given(&job->args, asked[i]);
    }
    near.kind = CLV_AFFINITY_LOCAL_KNN;
    estimate e = free ? predict(job, &near, false) : (estimate){0};
    if (e.before == 0 || e.before > left) {
        return false;
    }
    job->how.kind = how->kind = CLV_AFFINITY_LOCAL_KNN;
    job->how.chosen_on = how->chosen_on = 0;
    job->how.choice = how->choice = CLV_CHOICE_NAMED;
    snprintf(job->suggestion, sizeof job->suggestion,
             "about %s would pass over all pairs of %lld objects, and the time limit is %g s: --affinity local-knn "
             "takes their "
             "place, in about %s",
             needed, (long long)clv_data_matrix(job->data)->rows, cli_control_of(job)->time_limit,
             print_duration(e.before, duration, sizeof duration));
    return true;
}

static void tell_late(const cli_job *job, const clv_affinity_options *how, const estimate *e, const char *needed) {
    const char *shorter = how->landmarks > 0 ? "fewer --landmarks" : "--landmarks 500 (all objects, approximately)";
    cli_tell(
        "warning: about %s would %s %lld objects before the first iteration of %s, and the time limit is %g s: the "
        "labels will be those of k-means on the points; try %s, or a longer --time-limit",
        needed,
        e->pairs             ? "pass over all pairs of"
        : how->landmarks > 0 ? "go into the landmarks of"
                             : "go into the nearest neighbors of",
        (long long)clv_data_matrix(job->data)->rows, job->method->name, cli_control_of(job)->time_limit,
        e->pairs ? others(job, how) : shorter);
}

/* There was no time to estimate anything. */
static void tell_read_late(const cli_job *job) {
    cli_tell("warning: the time limit of %g s passed while the data were read, in %.1f s: the labels will be those of "
             "k-means on the points; try a longer --time-limit%s",
             cli_control_of(job)->time_limit, job->load_seconds,
             clv_is_table(job->args.operands[0]) ? ", or an .npy file, which is read faster" : "");
}

bool cli_job_takes_too_long(cli_job *job, clv_affinity_options *how) {
    char needed[32];
    double limit = cli_control_of(job)->time_limit, left = limit - cli_elapsed(job->app);
    bool pairs = how->landmarks == 0 && how->kind != CLV_AFFINITY_KNN &&
                 how->kind != CLV_AFFINITY_LOCAL_KNN; /* of these, one may be suggested */
    if (clv_data_matrix(job->data)->rows < MANY || how->kind == CLV_AFFINITY_PRECOMPUTED || (!pairs && limit == 0)) {
        return false;
    }
    estimate all = limit > 0 && comes_one_by_one(job) ? predict(job, how, false) : (estimate){0};
    if (all.pairs && all.before > left && !cli_args_given(&job->args, "home")) {
        how->home = CLV_HOME_COMPUTED; /* the first clusters come in time, where keeping all similarities would not */
    }
    estimate e = predict(job, how, comes_one_by_one(job));
    double margin = e.pairs ? 1 : 2; /* what may well be done in time is begun: it ends at the limit all the same */
    bool late = limit > 0 && e.before > margin * left && !cli_interrupted();
    print_duration(e.before, needed, sizeof needed);
    if (late && e.pairs && take_neighbors(job, how, needed, left)) {
        late = false;
    } else if (late && !job->output.quiet) {
        e.before == 0 ? tell_read_late(job) : tell_late(job, how, &e, needed);
    } else if (!late && e.pass > LONG_PASS) {
        suggest(job, how, e.pass);
    }
    if (job->suggestion[0] && !job->output.quiet) {
        cli_tell("warning: %s", job->suggestion);
    }
    return late;
}
