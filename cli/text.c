/* cleave text: documents to points. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct text_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    int64_t memory;  /* 0: auto */
    const char *output, *tfidf, *vocab, *labels, *json;
    int dry_run, progress, quiet, verbose;
} text_options;

typedef struct text_job {
    const cli_app *app;
    cli_args args;
    clv_tfidf_options terms;
    clv_reduce_options reduce;
    text_options options;
    char *stop_list; /* from malloc */
    clv_corpus *corpus;
    clv_tfidf *tfidf;
    clv_tfidf_info info;
    clv_data *matrix, *points;
    double *values; /* from malloc: singular values */
    cli_progress progress;
    int64_t documents; /* so far */
    double read_seconds, reduce_seconds;
} text_job;

static const clv_option_table *text_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(text_options, output, "output", 'o', "FILE",
                        "the points, one row per document: .npy, .csv or .tsv"),
        CLI_FILE_OPTION(text_options, tfidf, "tfidf", 0, "FILE.mtx", "the sparse tf-idf matrix itself"),
        CLI_FILE_OPTION(text_options, vocab, "vocab", 0, "FILE.txt",
                        "the terms, one per line, in the order of the columns of tf-idf"),
        CLI_FILE_OPTION(text_options, labels, "labels-out", 0, "FILE",
                        "labels of the documents: .npy (int32), .csv or .txt; -1: none"),
        CLI_FILE_OPTION(text_options, json, "json", 0, "FILE|-",
                        "what was made; - writes it to standard output instead of the table"),
        CLI_MEMORY_OPTION(text_options),
        CLI_FLAG_OPTION(text_options, dry_run, "dry-run", 0,
                        "count the terms, say what the reduction would allocate, and stop"),
        CLI_TALK_OPTIONS(text_options),
    };
    static const clv_option_table table = {"output", options, CLI_COUNT(options), 0};
    return &table;
}

/* --- before the work --- */

/* --stop-words is a name, or a file of words. */
static bool names_stop_words(const text_job *t) {
    return cli_is_listed("none|english", t->terms.stop_words, strncmp);
}

static clv_status check_targets(const text_job *t) {
    const text_options *o = &t->options;
    const char *const inputs[] = {t->args.operands[0], names_stop_words(t) ? NULL : t->terms.stop_words};
    const cli_target targets[] = {{"output", o->output, "npy|csv|tsv"},
                                  {"tfidf", o->tfidf, "mtx"},
                                  {"vocab", o->vocab, NULL},
                                  {"labels-out", o->labels, "npy|csv|txt"},
                                  {"json", o->json, NULL}};
    if (o->vocab && strcmp(o->vocab, "-") == 0) {
        return cli_fail(t->app, CLV_EUSAGE, "--vocab needs the name of a file: standard output has the table");
    }
    return cli_targets_check(t->app, targets, CLI_COUNT(targets), inputs, CLI_COUNT(inputs));
}

static clv_status read_stop_words(text_job *t) {
    enum { LONGEST = 1 << 24 };
    const char *path = t->terms.stop_words;
    struct stat info;
    if (names_stop_words(t)) {
        return CLV_OK;
    }
    if (!strpbrk(path, "./") && stat(path, &info)) {
        return cli_fail(t->app, CLV_EUSAGE,
                        "--stop-words '%s' is not allowed: it must be none, english or a file of words", path);
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        return cli_fail(t->app, CLV_ENOINPUT, "--stop-words: cannot read %s: %s", path, strerror(errno));
    }
    t->stop_list = calloc(LONGEST + 1, 1);
    size_t size = t->stop_list ? fread(t->stop_list, 1, LONGEST, file) : 0;
    bool good = !ferror(file);
    fclose(file);
    if (!t->stop_list) {
        return cli_fail(t->app, CLV_ENOMEM, "out of memory");
    }
    if (!good || size == LONGEST || memchr(t->stop_list, '\0', size)) {
        return cli_fail(t->app, CLV_EDATA, "--stop-words: %s is not a list of words of less than 16 MiB", path);
    }
    t->terms.stop_words = "list";
    t->terms.stop_list = t->stop_list;
    return CLV_OK;
}

/* Options of a reduction that nobody asked for. */
static clv_status check_uses(const text_job *t) {
    static const char *const of_reduction[] = {"dims", "center", "tol", "seed"};
    for (size_t i = 0; !t->options.output && i < CLI_COUNT(of_reduction); i++) {
        if (cli_args_given(&t->args, of_reduction[i])) {
            return cli_fail(t->app, CLV_EUSAGE, "--%s needs -o FILE: --tfidf is not reduced", of_reduction[i]);
        }
    }
    return CLV_OK;
}

static clv_status check(text_job *t) {
    CLI_TRY(t->options.tfidf ? check_uses(t) : CLV_OK);
    if (!t->options.output && !t->options.tfidf && !t->options.dry_run) {
        return cli_fail(t->app, CLV_EUSAGE, "text needs -o FILE, where the points go (.npy, .csv or .tsv)");
    }
    if (t->terms.min_df > 1 && t->terms.max_df > 1 && t->terms.min_df > t->terms.max_df) {
        return cli_fail(t->app, CLV_EUSAGE, "--min-df %g exceeds --max-df %g: no term can be kept", t->terms.min_df,
                        t->terms.max_df);
    }
    CLI_TRY(check_targets(t));
    return read_stop_words(t);
}

/* --- the work --- */

static clv_status take_document(const clv_document *document, void *user) {
    text_job *t = user;
    cli_progress_count(&t->progress, "documents", ++t->documents);
    return clv_tfidf_add(t->tfidf, document);
}

static void tell_terms(const text_job *t) {
    char bytes[32];
    const clv_matrix *m = clv_data_matrix(t->matrix);
    size_t now, peak;
    clv_context_memory(t->app->ctx, &now, &peak);
    cli_print_bytes((double)peak, bytes, sizeof bytes);
    fprintf(stderr, "%s: %lld documents, %lld of %lld terms, %lld nonzeros, %s at most, %.3f s\n", t->args.operands[0],
            (long long)m->rows, (long long)m->cols, (long long)t->info.seen, (long long)m->start[m->rows], bytes,
            t->read_seconds);
}

static clv_status count(text_job *t) {
    clv_context *ctx = t->app->ctx;
    const char *path = t->args.operands[0];
    double began = cli_seconds();
    t->terms.threads = t->options.threads;
    t->terms.memory = t->options.memory;
    CLI_TRY(cli_library(t->app, clv_tfidf_new(ctx, &t->terms, &t->tfidf)));
    cli_progress_begin(&t->progress, t->app, &t->args, t->options.progress, t->options.quiet, NULL);
    clv_status status = clv_read_corpus(ctx, path, take_document, t, &t->corpus);
    cli_progress_end(&t->progress);
    CLI_TRY(cli_library(t->app, status));
    cli_signals_restart_calls();
    if (t->options.labels && !t->corpus->labels) {
        return cli_fail(t->app, CLV_EDATA, "--labels-out: no document of %s has a label", path);
    }
    CLI_TRY(cli_library_on(t->app, path, clv_tfidf_finish(t->tfidf, &t->matrix)));
    clv_tfidf_describe(t->tfidf, &t->info);
    t->read_seconds = cli_seconds() - began;
    if (t->options.verbose) {
        tell_terms(t);
    }
    return CLV_OK;
}

/* Dimensions that nobody asked for are as many as there can be. */
static clv_status fit_dims(text_job *t) {
    const clv_matrix *m = clv_data_matrix(t->matrix);
    int64_t most = m->rows < m->cols ? m->rows : m->cols;
    if (t->reduce.dims > most && cli_args_given(&t->args, "dims")) {
        return cli_fail(t->app, CLV_EUSAGE, "--dims %lld exceeds the smaller of %lld documents and %lld terms",
                        (long long)t->reduce.dims, (long long)m->rows, (long long)m->cols);
    }
    t->reduce.dims = t->reduce.dims < most ? t->reduce.dims : most;
    return CLV_OK;
}

static clv_status reduce(text_job *t) {
    double began = cli_seconds();
    t->values = calloc((size_t)t->reduce.dims, sizeof *t->values);
    if (!t->values) {
        return cli_fail(t->app, CLV_ENOMEM, "out of memory");
    }
    CLI_TRY(cli_library(t->app,
                        clv_reduce(t->app->ctx, clv_data_matrix(t->matrix), &t->reduce, &t->points, NULL, t->values)));
    t->reduce_seconds = cli_seconds() - began;
    if (t->options.verbose) {
        fprintf(stderr, "reduced to %lld columns, %.3f s\n", (long long)t->reduce.dims, t->reduce_seconds);
    }
    return CLV_OK;
}

/* --- --dry-run: the terms have been counted, the reduction would follow --- */

typedef struct text_forecast {
    const text_job *job;
    size_t matrix, reduction, resident;
} text_forecast;

static void print_forecast_json(FILE *stream, const void *what) {
    const text_forecast *f = what;
    const clv_matrix *m = clv_data_matrix(f->job->matrix);
    fprintf(
        stream,
        "{\"cleave\": \"%s\", \"dry_run\": true, \"documents\": %lld, \"terms\": %lld, \"nonzeros\": %lld, \"dims\": "
        "%lld,\n \"bytes\": {\"tfidf\": %zu, \"reduction\": %zu, \"resident_peak\": %zu}}\n",
        clv_version(), (long long)m->rows, (long long)m->cols, (long long)m->start[m->rows],
        (long long)f->job->reduce.dims, f->matrix, f->reduction, f->resident);
}

static void print_forecast(FILE *stream, const void *what) {
    const text_forecast *f = what;
    const clv_matrix *m = clv_data_matrix(f->job->matrix);
    char note[128];
    snprintf(note, sizeof note, "%lld x %lld, %lld nonzeros", (long long)m->rows, (long long)m->cols,
             (long long)m->start[m->rows]);
    cli_forecast_line(stream, "tf-idf", f->matrix, note);
    snprintf(note, sizeof note, "to %lld columns, at most", (long long)f->job->reduce.dims);
    cli_forecast_line(stream, "reduction", f->reduction, note);
    cli_forecast_line(stream, "resident, peak", f->resident, "predicted for the whole program");
}

static clv_status forecast(const text_job *t) {
    const clv_matrix *m = clv_data_matrix(t->matrix);
    cli_outputs out = {.app = t->app};
    text_forecast f = {.job = t, .matrix = cli_matrix_bytes(m), .reduction = clv_reduce_memory(m, &t->reduce)};
    f.resident = cli_resident_peak(f.reduction);
    return cli_outputs_tell(&out, t->options.json, t->options.quiet, print_forecast_json, print_forecast, &f);
}

/* --- outputs --- */

static void print_terms(FILE *stream, const void *what) {
    const text_job *t = what;
    int64_t terms;
    const char *const *names = clv_tfidf_terms(t->tfidf, &terms);
    for (int64_t i = 0; i < terms; i++) {
        fprintf(stream, "%s\n", names[i]);
    }
}

static void print_string(FILE *stream, const char *text) {
    fputc('"', stream);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(stream, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(stream, "\\u%04x", c);
        } else {
            fputc(c, stream);
        }
    }
    fputc('"', stream);
}

static void print_json(FILE *stream, const void *what) {
    const text_job *t = what;
    const clv_tfidf_info *info = &t->info;
    size_t now, peak;
    fprintf(stream,
            "{\"cleave\": \"%s\", \"documents\": %lld, \"empty\": %lld, \"latin1\": %lld, \"tokens\": %lld, \"terms\": "
            "%lld, \"terms_seen\": %lld, \"nonzeros\": %lld,\n",
            clv_version(), (long long)info->documents, (long long)info->empty, (long long)info->latin1,
            (long long)info->tokens, (long long)info->terms, (long long)info->seen,
            (long long)clv_data_matrix(t->matrix)->start[info->documents]);
    fputs(" \"classes\": [", stream);
    for (int64_t c = 0; c < t->corpus->classes; c++) {
        fputs(c ? ", " : "", stream);
        print_string(stream, t->corpus->names[c]);
    }
    fputs("],\n", stream);
    if (t->points) {
        fprintf(stream, " \"dims\": %lld, \"centered\": %s, \"singular_values\": [", (long long)t->reduce.dims,
                t->reduce.center ? "true" : "false");
        for (int64_t c = 0; c < t->reduce.dims; c++) {
            fprintf(stream, "%s%.17g", c ? ", " : "", t->values[c]);
        }
        fputs("],\n", stream);
    }
    clv_context_memory(t->app->ctx, &now, &peak);
    fprintf(stream, " \"bytes\": {\"peak\": %zu},\n", peak);
    fprintf(stream, " \"seconds\": {\"total\": %.6f, \"terms\": %.6f, \"reduce\": %.6f}}\n", cli_elapsed(t->app),
            t->read_seconds, t->reduce_seconds);
}

static void print_table(FILE *stream, const void *what) {
    const text_job *t = what;
    const clv_tfidf_info *info = &t->info;
    fprintf(stream, "documents  %lld", (long long)info->documents);
    if (info->empty > 0) {
        fprintf(stream, ", %lld of them without a term", (long long)info->empty);
    }
    if (info->latin1 > 0) {
        fprintf(stream, ", %lld read as Latin-1", (long long)info->latin1);
    }
    fprintf(stream, "\nlabels     %lld\nterms      %lld of %lld, %lld words\n", (long long)t->corpus->classes,
            (long long)info->terms, (long long)info->seen, (long long)info->tokens);
    if (t->points) {
        fprintf(stream, "points     %lld x %lld, %s; singular values %.4g to %.4g\n", (long long)info->documents,
                (long long)t->reduce.dims, t->reduce.center ? "principal components" : "truncated SVD", t->values[0],
                t->values[t->reduce.dims - 1]);
    }
    fprintf(stream, "seconds    %.3f: read and count %.3f, reduce %.3f\n", cli_elapsed(t->app), t->read_seconds,
            t->reduce_seconds);
}

static clv_status write(const text_job *t) {
    const text_options *o = &t->options;
    cli_outputs out = {.app = t->app};
    cli_signals_watch(t->app->ctx, false);
    cli_outputs_matrix(&out, o->output, t->points);
    cli_outputs_matrix(&out, o->tfidf, t->matrix);
    cli_outputs_print(&out, o->vocab, print_terms, t);
    cli_outputs_labels(&out, o->labels, t->corpus->labels, t->corpus->documents, NULL, NULL);
    return cli_outputs_tell(&out, o->json, o->quiet, print_json, print_table, t);
}

static clv_status work(void *job) {
    text_job *t = job;
    CLI_TRY(check(t));
    CLI_TRY(count(t));
    t->reduce.threads = t->options.threads;
    t->reduce.memory = t->options.memory;
    if (t->options.output || t->options.dry_run) {
        CLI_TRY(fit_dims(t));
    }
    if (t->options.dry_run) {
        return forecast(t);
    }
    if (t->options.output) {
        CLI_TRY(reduce(t));
    }
    return write(t);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    text_job t = {.app = app, .args = {.command = command}};
    clv_tfidf_defaults(&t.terms);
    clv_reduce_defaults(&t.reduce);
    cli_args_add(&t.args, clv_tfidf_table(), &t.terms);
    cli_args_add(&t.args, clv_reduce_table(), &t.reduce);
    cli_args_own(&t.args, text_table(), &t.options);
    cli_args_own(&t.args, cli_threads_table(), &t.options);
    clv_status status = cli_perform(app, &t.args, argc, argv, work, &t);
    clv_data_free(t.points);
    clv_data_free(t.matrix);
    clv_tfidf_free(t.tfidf);
    clv_corpus_free(t.corpus);
    free(t.values);
    free(t.stop_list);
    return cli_exit_status(status);
}

const cli_command cli_text = {
    .name = "text",
    .summary = "turn documents into points: tf-idf, then SVD or principal components",
    .operands = {"CORPUS"},
    .about =
        "Turns documents into rows of numbers that the methods can cluster (with --affinity cosine, say).\n"
        "Words of two or more characters are counted, weighted by tf-idf, and the sparse matrix is reduced\n"
        "to --dims columns by a truncated SVD, or with --center to principal components.\n"
        "\n"
        "CORPUS is a folder of files (a file in a folder inside it has that folder's name as its label), or\n"
        "a .jsonl or .jsonl.gz file with one object {\"text\": ..., \"label\": ...} per line; - is JSON lines from\n"
        "standard input.\n",
    .examples =
        "  cleave text posts.jsonl.gz -o X.npy --labels-out y.npy --stop-words english --max-df 0.5 --min-df 2\n"
        "  cleave text mail/ -o X.npy --dims 50 --vocab terms.txt\n"
        "  cleave ncut X.npy -k 20 --affinity cosine --truth y.npy\n",
    .run = run,
};
