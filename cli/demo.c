/* cleave demo: the main job on data that come with the program.
 *
 * Two tables are written beside the report, iris and two rings, and clustered by the very command lines that are shown
 * at the end, so that what the reader sees can be typed again. */
#include "embedded/iris.h" /* made from data/iris.csv by the build */
#include "job.h"

#include <math.h>
#include <string.h>

enum { RING_POINTS = 150, STEM = 1024, NAME = STEM + 32, ARGS = 16 };

typedef struct demo_options {
    const char *report;
} demo_options;

typedef struct demo {
    const cli_app *app;
    cli_args args;
    demo_options options;
    char stem[STEM]; /* the report's name without .html */
} demo;

typedef struct demo_set {
    const char *name;
    cli_printer print;
    const char *page; /* what its page is called after the stem */
    const char *options;
} demo_set;

static void print_iris(FILE *stream, const void *none) {
    (void)none;
    fputs(embedded_iris, stream);
}

/* A number in [0, 1) from splitmix64: the same points everywhere. */
static double uniform(uint64_t *state) {
    uint64_t bits = (*state += 0x9e3779b97f4a7c15u);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

static void print_rings(FILE *stream, const void *none) {
    (void)none;
    static const double pi = 3.14159265358979323846;
    uint64_t state = 1;
    fputs("x,y,ring\n", stream);
    for (int i = 0; i < 2 * RING_POINTS; i++) {
        bool outer = i >= RING_POINTS;
        double radius = (outer ? 3.0 : 1.2) + 0.5 * (uniform(&state) - 0.5);
        double angle = 2 * pi * uniform(&state);
        fprintf(stream, "%.4f,%.4f,%s\n", radius * cos(angle), radius * sin(angle), outer ? "outer" : "inner");
    }
}

static const demo_set sets[] = {
    {"iris", print_iris, ".html", "-k 3 --restarts 20"},
    {"rings", print_rings, "-rings.html", "-k 2 --affinity minimax --restarts 20"},
};
enum { SETS = CLI_COUNT(sets) };

static const clv_option_table *demo_table(void) {
    static const clv_option options[] = {
        {.name = "report",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(demo_options, report),
         .choices = "cleave-demo.html",
         .meta = "FILE.html",
         .help = "the page to write; the data and the page of the second set go beside it"},
    };
    static const clv_option_table table = {"demo", options, 1, 0};
    return &table;
}

static void name_data(const demo *d, const demo_set *set, char *path, size_t size) {
    snprintf(path, size, "%s-%s.csv", d->stem, set->name);
}

static void name_page(const demo *d, const demo_set *set, char *path, size_t size) {
    if (set == &sets[0]) {
        snprintf(path, size, "%s", d->options.report);
    } else {
        snprintf(path, size, "%s%s", d->stem, set->page);
    }
}

static clv_status check(demo *d) {
    const cli_target page = {"report", d->options.report, "html|htm"};
    char names[2 * SETS][NAME];
    cli_target targets[2 * SETS];
    CLI_TRY(cli_targets_check(d->app, &page, 1, NULL, 0));
    if (strlen(page.path) >= STEM) {
        return cli_fail(d->app, CLV_ECREATE, "--report: the name has more than %d characters", STEM - 1);
    }
    snprintf(d->stem, sizeof d->stem, "%.*s", (int)(strrchr(page.path, '.') - page.path), page.path);
    for (size_t i = 0; i < 2 * SETS; i++) {
        (i % 2 ? name_data : name_page)(d, &sets[i / 2], names[i], sizeof names[i]);
        targets[i] = (cli_target){"report", names[i], NULL};
    }
    return cli_targets_check(d->app, targets, CLI_COUNT(targets), NULL, 0);
}

static void print_row(const demo_set *set, const cli_job *job) {
    const clv_result *result = job->result;
    bool holds = result->certificate.holds != 0;
    printf("%-6s %4lld %2lld  %10.6f  %s%-13s%s  %6.3f  %6.3f  %8.3f  %s\n", set->name, (long long)result->n,
           (long long)result->k, result->objective.value, cli_styled(holds ? CLI_GREEN : CLI_PLAIN),
           holds ? "holds" : "does not hold", cli_styled(CLI_PLAIN), job->scores.ari, job->scores.accuracy,
           result->seconds, clv_stop_name(result->stop));
}

/* Run the set's command line through the same steps as the command itself. */
static clv_status solve_set(const demo *d, const demo_set *set, cli_job *job, int argc, char **argv) {
    const clv_method *method = clv_method_find("ncut");
    const cli_command command = cli_method_command(method);
    CLI_TRY(cli_job_open(d->app, &command, method, argc, argv, job));
    CLI_TRY(cli_job_load(job));
    CLI_TRY(cli_job_solve(job));
    clv_status written = cli_job_write(job);
    print_row(set, job);
    CLI_TRY(cli_flush(d->app));
    return cli_interrupted() ? CLV_EINTERRUPTED : written;
}

static clv_status run_set(const demo *d, const demo_set *set) {
    char data[NAME], page[NAME], options[128];
    char *argv[ARGS] = {data, "--report", page, "--quiet"};
    int argc = 4;
    name_data(d, set, data, sizeof data);
    name_page(d, set, page, sizeof page);
    snprintf(options, sizeof options, "%s", set->options);
    char *rest = NULL;
    for (char *word = strtok_r(options, " ", &rest); word && argc < ARGS; word = strtok_r(NULL, " ", &rest)) {
        argv[argc++] = word;
    }
    cli_outputs out = {.app = d->app};
    cli_outputs_print(&out, data, set->print, NULL);
    CLI_TRY(out.first);
    cli_job job;
    clv_status status = solve_set(d, set, &job, argc, argv);
    cli_job_close(&job);
    return status;
}

static void print_next(const demo *d) {
    char data[NAME], page[NAME];
    printf("\n%sOpen in a browser%s\n", cli_styled(CLI_BOLD), cli_styled(CLI_PLAIN));
    for (size_t i = 0; i < SETS; i++) {
        name_page(d, &sets[i], page, sizeof page);
        printf("  %s\n", page);
    }
    printf("\n%sType next%s\n", cli_styled(CLI_BOLD), cli_styled(CLI_PLAIN));
    for (size_t i = 0; i < SETS; i++) {
        name_data(d, &sets[i], data, sizeof data);
        printf("  %s ncut %s %s\n", d->app->program, data, sets[i].options);
    }
    name_data(d, &sets[0], data, sizeof data);
    printf("  %s ncut %s %s --json result.json -o labels.csv\n", d->app->program, data, sets[0].options);
    printf("  %s verify result.json %s\n", d->app->program, data);
}

static clv_status work(void *job) {
    demo *d = job;
    cli_outputs out = {.app = d->app};
    CLI_TRY(check(d));
    printf("%sNormalized cut of two data sets, best of 20 starts each%s\n\n"
           "data      n  k        ncut  certificate       ari  accur.   seconds  stop\n",
           cli_styled(CLI_BOLD), cli_styled(CLI_PLAIN));
    for (size_t i = 0; i < SETS; i++) {
        clv_status status = run_set(d, &sets[i]);
        CLI_TRY(status == CLV_ECREATE ? CLV_OK : status); /* the other set may still be written */
        cli_outputs_note(&out, "-", status);
    }
    printf("\nThe certificate holds when moving any one object to another cluster would not lower the cut;\n"
           "ari and accuracy compare the clusters with the true classes, which the method does not see.\n");
    if (out.first >= 0) {
        print_next(d);
    }
    CLI_TRY(cli_flush(d->app));
    return out.first;
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    demo d = {.app = app, .args = {.command = command}};
    cli_args_own(&d.args, demo_table(), &d.options);
    return cli_exit_status(cli_perform(app, &d.args, argc, argv, work, &d));
}

const cli_command cli_demo = {
    .name = "demo",
    .summary = "cluster bundled data: a table, and pages to open",
    .about = "Clusters the iris flowers and two rings, prints what came out, and writes a page for each.\n",
    .examples = "  cleave demo\n"
                "  cleave demo --report somewhere/demo.html\n",
    .run = run,
};
