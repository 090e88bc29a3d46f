/* cleave demo: every method on data that come with the program.
 *
 * A show is a few command lines. They are run as they are printed, by the same functions as if they were typed, on
 * files in a folder beside the page that lists them all. */
#include "demo.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

enum { STEM = 1024, PATH = STEM + 64, WORDS = 24, LINE = 512, STEPS = 2, FILES = 64, REJECTED = 1 };

typedef struct demo_options {
    const char *report;
    int list;
} demo_options;

typedef struct demo {
    cli_app *app;
    cli_args args;
    demo_options options;
    char stem[STEM]; /* the report's name without .html: the folder of everything else */
    int code;        /* the first exit status that is not 0 */
    cli_outcome outcomes[16], verdicts[2];
} demo;

/* In a step, @ stands for the folder. The last step is the one that the table is about. */
typedef struct demo_show {
    const char *name, *about;
    const char *steps[STEPS + 1];
    const char *shows; /* what its page is: a file in the folder */
} demo_show;

static const demo_show shows[] = {
    {"iris",
     "normalized cut of the iris flowers, from the best of 20 starts; a bound says how far the best possible cut can "
     "be",
     {"ncut @iris.csv -k 3 --affinity gaussian --restarts 20 --json @iris.json --report @iris.html"},
     "iris.html"},
    {"rings",
     "two rings, one in the other: similarity along paths tells them apart",
     {"ncut @rings.csv -k 2 --affinity minimax --report @rings.html"},
     "rings.html"},
    {"moons",
     "two moons: a graph of nearest neighbors",
     {"ncut @moons.csv -k 2 --affinity knn --report @moons.html"},
     "moons.html"},
    {"roads",
     "a road map of four quarters: a graph of your own",
     {"ncut @roads.mtx -k 4 --affinity precomputed --report @roads.html"},
     "roads.html"},
    {"noisy",
     "three groups among noise: dominant sets leave out what belongs nowhere",
     {"dominant @noisy.csv -k 3 --report @noisy.html"},
     "noisy.html"},
    {"overlap",
     "three groups that overlap: memberships that sum to 1, not just labels",
     {"symnmf @overlap.csv -k 3 --report @overlap.html"},
     "overlap.html"},
    {"outliers",
     "four groups and some gross errors: k-median does not follow the errors, k-means would",
     {"kpalm @outliers.csv -k 4 --norm euclidean --report @outliers.html"},
     "outliers.html"},
    {"genes",
     "90 patients, 400 genes, of which 8 matter: a sparse model, proved optimal up to its gap",
     {"ksupport @genes.csv @diagnosis.csv -k 8 --lambda 10 --weights @weights.csv --report @genes.html"},
     "genes.html"},
    {"picture",
     "a picture into segments",
     {"segment @picture.png -k 5 -o @segments.png --overlay @borders.png --fill @fill.png --report @picture.html"},
     "picture.html"},
    {"documents",
     "36 short texts into points, then into clusters, with the terms that tell what each is about",
     {"text @documents.jsonl -o @documents.npy --labels-out @topics.npy --model @documents.clv --stop-words english",
      "ncut @documents.npy -k 4 --affinity cosine --terms @documents.clv --truth @topics.npy --report @documents.html"},
     "documents.html"},
};
enum { SHOWS = CLI_COUNT(shows) };

/* What nobody else has: an answer that was tampered with is found out. */
static const char *const checks[] = {"verify @iris.json @iris.csv", "verify @tampered.json @iris.csv"};

static const clv_option_table *demo_table(void) {
    static const clv_option options[] = {
        {.name = "report",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(demo_options, report),
         .choices = "cleave-demo.html",
         .meta = "FILE.html",
         .help = "the page that lists all runs; data and pages go to a folder of the same name without .html"},
        CLI_FLAG_OPTION(demo_options, list, "list", 0, "say what NAME can be, and stop"),
    };
    static const clv_option_table table = {"demo", options, CLI_COUNT(options), 0};
    return &table;
}

/* --- names and lines --- */

static void name_file(const demo *d, const char *name, char *path) {
    snprintf(path, PATH, "%s/%s", d->stem, name);
}

/* The words of a step, with the folder in them. */
typedef struct words {
    char text[WORDS][PATH];
    char *argv[WORDS + 1];
    int count;
} words;

static void split(const demo *d, const char *step, words *w) {
    char line[LINE], *rest = NULL;
    snprintf(line, sizeof line, "%s", step);
    w->count = 0;
    for (char *word = strtok_r(line, " ", &rest); word && w->count < WORDS - 1; word = strtok_r(NULL, " ", &rest)) {
        char *into = w->text[w->count];
        if (*word == '@') {
            name_file(d, word + 1, into);
        } else {
            snprintf(into, PATH, "%s", word);
        }
        w->argv[w->count++] = into;
    }
    w->argv[w->count] = NULL;
}

/* A word as a shell takes it. */
static void print_word(FILE *stream, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+";
    if (word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (; *word; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stream);
    }
    fputc('\'', stream);
}

static void print_step(FILE *stream, const demo *d, const char *step) {
    static words w;
    split(d, step, &w);
    print_word(stream, d->app->program);
    for (int i = 0; i < w.count; i++) {
        fputc(' ', stream);
        print_word(stream, w.argv[i]);
    }
}

/* --- before the work --- */

static bool is_listed(char names[FILES][PATH], size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* All files of all steps. */
static size_t list_files(const demo *d, char names[FILES][PATH]) {
    static words w;
    size_t count = 0;
    for (size_t s = 0; s < SHOWS; s++) {
        for (const char *const *step = shows[s].steps; *step; step++) {
            split(d, *step, &w);
            for (int i = 0; i < w.count; i++) {
                bool ours = strncmp(w.argv[i], d->stem, strlen(d->stem)) == 0;
                if (ours && count < FILES && !is_listed(names, count, w.argv[i])) {
                    snprintf(names[count++], PATH, "%s", w.argv[i]);
                }
            }
        }
    }
    return count;
}

static clv_status make_folder(const demo *d) {
    struct stat found;
    if (mkdir(d->stem, 0777) != 0 && (errno != EEXIST || stat(d->stem, &found) != 0 || !S_ISDIR(found.st_mode))) {
        return cli_fail(d->app, CLV_ECREATE,
                        "%s: no folder for the data and pages can be made here (%s); --report FILE.html "
                        "names another place",
                        d->stem, strerror(errno));
    }
    return CLV_OK;
}

/* Whether the page can be written, and is none of the files in the folder. */
static clv_status check(demo *d) {
    static char names[FILES][PATH];
    static cli_target targets[FILES + 1];
    targets[0] = (cli_target){"report", d->options.report, "html|htm"};
    CLI_TRY(cli_targets_check(d->app, targets, 1, NULL, 0));
    const char *page = d->options.report, *dot = strrchr(page, '.');
    if (strlen(page) >= STEM) {
        return cli_fail(d->app, CLV_ECREATE, "--report: the name has more than %d characters", STEM - 1);
    }
    snprintf(d->stem, sizeof d->stem, "%.*s", (int)(dot - page), page);
    CLI_TRY(make_folder(d));
    size_t count = list_files(d, names);
    for (size_t i = 0; i < count; i++) {
        targets[i + 1] = (cli_target){"report", names[i], NULL};
    }
    return cli_targets_check(d->app, targets, count + 1, NULL, 0);
}

/* --- one run --- */

static void note(demo *d, int code) {
    d->code = d->code ? d->code : code;
}

static int write_file(const demo *d, const demo_file *file) {
    char path[PATH], from[PATH];
    cli_outputs out = {.app = d->app};
    name_file(d, file->name, path);
    if (file->print) {
        cli_outputs_print(&out, path, file->print, NULL);
    } else if (file->write) {
        cli_outputs_note(&out, path, file->write(d->app, path));
    } else {
        name_file(d, file->of, from);
        cli_outputs_note(&out, path, file->change(d->app, from, path));
    }
    return cli_exit_status(out.first);
}

/* Those of the bundled files that a step names; the first exit status that is not 0. */
static int write_files(const demo *d, const char *step) {
    int code = 0;
    for (size_t i = 0; i < demo_file_count; i++) {
        const char *at = strstr(step, demo_files[i].name);
        if (at && at[-1] == '@') {
            int written = write_file(d, &demo_files[i]);
            code = code ? code : written;
        }
    }
    return code;
}

/* A step by the command's own function; its exit status. */
static int run_step(demo *d, const char *step, bool quiet) {
    static words w;
    split(d, step, &w);
    const char *before = d->app->command;
    double started = d->app->started;
    const cli_command *command = cli_command_find(w.argv[0]);
    if (quiet) {
        w.argv[w.count++] = "--quiet";
        w.argv[w.count] = NULL;
    }
    cli_signals_watch(d->app->ctx, true);
    d->app->command = command->name;
    d->app->started = cli_seconds(); /* its times are its own */
    int code = command->run(d->app, command, w.count - 1, w.argv + 1);
    d->app->command = before;
    d->app->started = started;
    return code;
}

static int run_show(demo *d, const demo_show *show, cli_outcome *outcome, bool alone) {
    double began = cli_seconds();
    int code = 0;
    d->app->outcome = outcome;
    for (const char *const *step = show->steps; *step && code == 0; step++) {
        code = write_files(d, *step);
        if (code) {
            break;
        }
        if (alone) {
            printf("$ ");
            print_step(stdout, d, *step);
            printf("\n");
            fflush(stdout);
        }
        code = run_step(d, *step, !alone);
    }
    d->app->outcome = NULL;
    outcome->seconds = cli_seconds() - began;
    note(d, code);
    return code;
}

/* --- the table and what follows it --- */

/* 80 columns: no line of it wraps at a terminal of the usual width. */
static void print_head(void) {
    printf("%s%-9s %-8s %3s %1s  %-22s %-11s %-7s %5s %4s%s\n", cli_styled(CLI_BOLD), "run", "method", "n", "k",
           "objective", "certificate", "bound", "ari", "s", cli_styled(CLI_PLAIN));
}

#define ROUNDING 1e-12

/* "reached", or how far off it is; "": there is none. */
static const char *print_bound(const cli_outcome *o, char text[16]) {
    bool reached = fabs(o->value - o->bound) <= ROUNDING;
    double gap = 100 * fabs(o->value - o->bound) / fmax(fabs(o->value), 1e-300);
    snprintf(text, 16, !isfinite(o->bound) ? "" : reached ? "reached" : "%.1f %%", gap);
    return text;
}

static const char *print_ari(const cli_outcome *o, char text[16]) {
    snprintf(text, 16, isfinite(o->ari) ? "%.3f" : "", o->ari);
    return text;
}

static void print_row(const demo_show *show, const cli_outcome *o) {
    char method[16], objective[48], bound[16], ari[16], clusters[16] = "";
    const char *last = show->steps[1] ? show->steps[1] : show->steps[0];
    snprintf(method, sizeof method, "%.*s", (int)strcspn(last, " "), last);
    snprintf(objective, sizeof objective, "%s %.4g", o->objective, o->value);
    if (o->labeled) {
        snprintf(clusters, sizeof clusters, "%lld", (long long)o->k);
    }
    printf("%-9s %-8s %3lld %1s  %-22s %s%-11s%s %-7s %5s %4.2f\n", show->name, method, (long long)o->n, clusters,
           objective, cli_styled(o->holds ? CLI_GREEN : CLI_PLAIN), o->holds ? "holds" : "open", cli_styled(CLI_PLAIN),
           print_bound(o, bound), print_ari(o, ari), o->seconds);
}

static void print_escaped(FILE *stream, const char *text) {
    for (; *text; text++) {
        fputs(*text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : (char[]){*text, '\0'}, stream);
    }
}

/* A file in the folder as the page, beside the folder, links it. */
static void print_link(FILE *stream, const demo *d, const char *name) {
    const char *folder = strrchr(d->stem, '/');
    for (const char *at = folder ? folder + 1 : d->stem; *at; at++) {
        if ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
            strchr("-_.", *at)) {
            fputc(*at, stream);
        } else {
            fprintf(stream, "%%%02X", (unsigned char)*at);
        }
    }
    fprintf(stream, "/%s", name);
}

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><title>cleave demo</title>\n<style>"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}a{color:#0060b0}h2{font-size:1.1rem;margin:1.8rem 0 .2rem}p{margin:.2rem 0}"
    "ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.3rem 0;font-size:.92rem}"
    "ul b{font-weight:600}pre{background:#f6f8fa;border-radius:6px;padding:.5rem .7rem;margin:.3rem 0;"
    "white-space:pre-wrap;font-size:.85rem}pre span{white-space:nowrap}pre,ul{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#79b8ff}pre{background:#1c2128}}"
    "</style></head><body>\n<h1>cleave demo</h1>\n<p>Each run solves an optimization problem and says how good its "
    "answer is. \"Holds\" means that the certificate was recomputed from the data at the end: a statement about the "
    "problem that was solved, not about whether the clusters are useful. The bound is what no answer can beat; ARI "
    "compares the clusters with true classes, which the method does not see.</p>\n";

/* A command as it can be copied; lines break between its words alone. */
static void print_command(FILE *stream, const demo *d, const char *step) {
    static words w;
    split(d, step, &w);
    fputs("<span>", stream);
    for (int i = -1; i < w.count; i++) {
        char word[2 * PATH] = "";
        FILE *text = fmemopen(word, sizeof word - 1, "w");
        if (text) {
            print_word(text, i < 0 ? d->app->program : w.argv[i]);
            fclose(text);
        }
        fputs(i < 0 ? "" : "</span> <span>", stream);
        print_escaped(stream, word);
    }
    fputs("</span>", stream);
}

static void print_show(FILE *stream, const demo *d, size_t i) {
    const cli_outcome *o = &d->outcomes[i];
    char bound[16], ari[16];
    fputs("<section><h2><a href=\"", stream);
    print_link(stream, d, shows[i].shows);
    fprintf(stream, "\">%s</a></h2>\n<p>%s.</p>\n<ul><li>%s <b>%.6g</b><li>certificate <b>%s</b>", shows[i].name,
            shows[i].about, o->objective, o->value, o->holds ? "holds" : "open");
    if (*print_bound(o, bound)) {
        fprintf(stream, "<li>bound <b>%s%s</b>", bound, *bound == 'r' ? "" : " below");
    }
    if (*print_ari(o, ari)) {
        fprintf(stream, "<li>ARI <b>%s</b>", ari);
    }
    fprintf(stream, "<li><b>%.3f</b> s</ul>\n", o->seconds);
    for (const char *const *step = shows[i].steps; *step; step++) {
        fputs("<pre><code>", stream);
        print_command(stream, d, *step);
        fputs("</code></pre>\n", stream);
    }
    fputs("</section>\n", stream);
}

static void print_page(FILE *stream, const void *what) {
    const demo *d = what;
    fputs(page_head, stream);
    for (size_t i = 0; i < SHOWS; i++) {
        print_show(stream, d, i);
    }
    fputs(
        "<section><h2>An answer can be checked</h2>\n<p>The result of the iris flowers, read back and recomputed from "
        "the data: as it is, and with one label changed by hand.</p>\n",
        stream);
    for (size_t i = 0; i < CLI_COUNT(checks); i++) {
        fputs("<pre><code>", stream);
        print_command(stream, d, checks[i]);
        fputs("\n", stream);
        print_escaped(stream, d->verdicts[i].verdict);
        fputs("</code></pre>\n", stream);
    }
    fputs("</section>\n</body></html>\n", stream);
}

static void print_next(const demo *d) {
    printf("\n%s demo NAME runs one again and prints its command. Open in a browser:\n  %s%s%s\n", d->app->program,
           cli_styled(CLI_BOLD), d->options.report, cli_styled(CLI_PLAIN));
}

/* The result of the iris flowers as it is, and with one label changed. */
static clv_status verify_both(demo *d) {
    printf("\n%sAn answer can be checked%s: as it is, and with one label changed by hand\n", cli_styled(CLI_BOLD),
           cli_styled(CLI_PLAIN));
    for (size_t i = 0; i < CLI_COUNT(checks); i++) {
        note(d, write_files(d, checks[i]));
        printf("$ ");
        print_step(stdout, d, checks[i]);
        printf("\n");
        CLI_TRY(cli_flush(d->app));
        d->app->outcome = &d->verdicts[i];
        int code = run_step(d, checks[i], false);
        d->app->outcome = NULL;
        if (code != (i == 0 ? 0 : REJECTED)) {
            note(d, code ? code : REJECTED);
            return CLV_OK;
        }
    }
    return CLV_OK;
}

static clv_status run_all(demo *d) {
    print_head();
    for (size_t i = 0; i < SHOWS; i++) {
        int code = run_show(d, &shows[i], &d->outcomes[i], false);
        if (cli_interrupted()) {
            return CLV_EINTERRUPTED;
        }
        if (code == 0) {
            print_row(&shows[i], &d->outcomes[i]);
        }
        CLI_TRY(cli_flush(d->app));
    }
    printf("A certificate is recomputed from the data at the end; the bound, so far below,\n"
           "is what no answer can beat; ari compares with true classes, which none sees.\n");
    CLI_TRY(verify_both(d));
    if (cli_interrupted()) {
        return CLV_EINTERRUPTED;
    }
    cli_outputs out = {.app = d->app};
    cli_outputs_print(&out, d->options.report, print_page, d);
    note(d, out.first < 0 ? cli_exit_status(out.first) : 0);
    if (d->code == 0) {
        print_next(d);
    }
    return cli_flush(d->app);
}

/* --- all of it --- */

static clv_status list_shows(const demo *d) {
    for (size_t i = 0; i < SHOWS; i++) {
        printf("%-10s %s\n", shows[i].name, shows[i].about);
    }
    return cli_flush(d->app);
}

static clv_status run_one(demo *d, const char *name) {
    for (size_t i = 0; i < SHOWS; i++) {
        if (strcmp(name, shows[i].name) == 0) {
            return run_show(d, &shows[i], &d->outcomes[i], true) ? CLV_OK : cli_flush(d->app); /* a failure was told */
        }
    }
    cli_nearest nearest = {.typed = name};
    char phrase[96];
    for (size_t i = 0; i < SHOWS; i++) {
        cli_nearest_offer(&nearest, shows[i].name);
    }
    return cli_fail(d->app, CLV_EUSAGE, "there is no run '%s'%s (see cleave demo --list)", name,
                    cli_nearest_phrase(&nearest, "", phrase, sizeof phrase));
}

static clv_status work(void *job) {
    demo *d = job;
    if (d->options.list) {
        return list_shows(d);
    }
    CLI_TRY(check(d));
    return d->args.operand_count ? run_one(d, d->args.operands[0]) : run_all(d);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    static demo d;
    d = (demo){.app = app, .args = {.command = command}};
    cli_args_own(&d.args, demo_table(), &d.options);
    int status = cli_exit_status(cli_perform(app, &d.args, argc, argv, work, &d));
    return status ? status : d.code;
}

const cli_command cli_demo = {
    .name = "demo",
    .summary = "methods on bundled data: a table, and pages to open",
    .operands = {"[NAME]"},
    .names = "iris rings moons roads noisy overlap outliers genes picture documents",
    .about =
        "Runs most methods on small data that come with the program, prints what came out, checks an answer and one\n"
        "that was tampered with, and writes a page for each run and one that lists them. With NAME, one of them "
        "alone.\n",
    .examples = "  cleave demo\n"
                "  cleave demo --list\n"
                "  cleave demo moons\n"
                "  cleave demo --report somewhere/demo.html\n",
    .run = run,
};
