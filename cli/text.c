/* cleave text: documents to points. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct text_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    int64_t memory;  /* 0: auto */
    double time_limit;
    const char *output, *tfidf, *vocab, *labels, *json, *model, *like;
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
    clv_data *matrix, *points, *axes;
    double *values;       /* from malloc: singular values, then what centering takes off */
    clv_text_model *like; /* by whose terms and axes, or NULL */
    cli_progress progress;
    int64_t documents; /* so far */
    double read_seconds, reduce_seconds;
} text_job;

static const clv_option_table *text_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(text_options, output, "output", 'o', "FILE",
                        "the points, one row per document: .npy, or with the ids of the documents .csv or .tsv"),
        CLI_FILE_OPTION(text_options, model, "model", 0, "FILE.clv",
                        "keep terms, axes and ids: for --like, and for --terms of the methods"),
        CLI_FILE_OPTION(text_options, like, "like", 0, "FILE.clv",
                        "a model that was kept: the documents become points by its terms and axes"),
        CLI_FILE_OPTION(text_options, tfidf, "tfidf", 0, "FILE.mtx", "the sparse tf-idf matrix itself"),
        CLI_FILE_OPTION(text_options, vocab, "vocab", 0, "FILE.txt",
                        "the terms, one per line, in the order of the columns of tf-idf"),
        CLI_FILE_OPTION(text_options, labels, "labels-out", 0, "FILE",
                        "labels of the documents: .npy (int32), .csv or .txt; -1: none"),
        CLI_FILE_OPTION(text_options, json, "json", 0, "FILE|-",
                        "what was made; - writes it to standard output instead of the table"),
        CLI_MEMORY_OPTION(text_options),
        CLI_TIME_OPTION(text_options),
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
    return clv_stop_words(t->terms.stop_words) != NULL;
}

/* A word that is no list, nor looks like the name of a file. */
static clv_status refuse_stop_words(const text_job *t) {
    const char *given = t->terms.stop_words;
    const char *names = clv_options_find(clv_tfidf_table(), "stop-words")->meta, *file = strrchr(names, '|');
    char list[128], shown[192], meant[96];
    cli_nearest nearest = {.typed = given};
    snprintf(list, sizeof list, "%.*s", (int)(file - names), names);
    cli_print_list(list, "", shown, sizeof shown);
    for (char *at = list, *name; (name = strsep(&at, "|"));) {
        cli_nearest_offer(&nearest, name);
    }
    return cli_fail(t->app, CLV_EUSAGE, "--stop-words '%s' is not allowed: it must be %s, or a file of words%s", given,
                    shown, cli_nearest_phrase(&nearest, "", meant, sizeof meant));
}

static clv_status check_targets(const text_job *t) {
    const text_options *o = &t->options;
    const char *const inputs[] = {t->args.operands[0], names_stop_words(t) ? NULL : t->terms.stop_words, o->like};
    const cli_target targets[] = {
        {"output", o->output, "npy|csv|tsv"},         {"tfidf", o->tfidf, "mtx"}, {"vocab", o->vocab, NULL},
        {"labels-out", o->labels, "npy|csv|tsv|txt"}, {"model", o->model, "clv"}, {"json", o->json, NULL}};
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
        return refuse_stop_words(t);
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

/* Options of what is not done: a reduction that nobody asked for, or terms and axes that are those of a model. */
static clv_status check_uses(const text_job *t) {
    static const char *const all[] = {"dims",   "center", "tol",          "seed",       "model",
                                      "min-df", "max-df", "max-features", "stop-words", "ngrams"};
    enum { OF_REDUCTION = 5 };
    for (size_t i = 0; i < CLI_COUNT(all); i++) {
        if (!cli_args_given(&t->args, all[i])) {
            continue;
        }
        if (t->options.like) {
            return cli_fail(t->app, CLV_EUSAGE, "--%s cannot be used with --like: terms and axes are those of %s",
                            all[i], t->options.like);
        }
        if (i < OF_REDUCTION && !t->options.output && (t->options.tfidf || !t->options.dry_run)) {
            return cli_fail(t->app, CLV_EUSAGE, "--%s needs -o FILE: --tfidf is not reduced", all[i]);
        }
    }
    return CLV_OK;
}

static clv_status check(text_job *t) {
    if (!t->options.output && !t->options.tfidf && !t->options.dry_run) {
        return cli_fail(t->app, CLV_EUSAGE, "text needs -o FILE, where the points go (.npy, .csv or .tsv)");
    }
    CLI_TRY(check_uses(t));
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
    cli_tell("%s: %lld documents, %lld of %lld terms, %lld nonzeros, %s at most, %.3f s", t->args.operands[0],
             (long long)m->rows, (long long)m->cols, (long long)t->info.seen, (long long)m->start[m->rows], bytes,
             t->read_seconds);
}

/* The model, as the options that it stands for. */
static clv_status read_model(text_job *t) {
    if (!t->options.like) {
        return CLV_OK;
    }
    CLI_TRY(cli_library(t->app, clv_text_model_read(t->app->ctx, t->options.like, &t->like)));
    t->terms.like = t->like->terms;
    t->terms.like_count = t->like->occurrences.cols;
    t->terms.like_idf = t->like->idf;
    t->terms.ngrams = t->like->ngrams;
    t->terms.stop_words = "list";
    t->terms.stop_list = t->like->stop_list;
    return CLV_OK;
}

static clv_status count(text_job *t) {
    clv_context *ctx = t->app->ctx;
    const char *path = t->args.operands[0];
    double began = cli_seconds();
    t->terms.threads = t->options.threads;
    t->terms.memory = t->options.memory;
    CLI_TRY(cli_library(t->app, clv_tfidf_new(ctx, &t->terms, &t->tfidf)));
    cli_progress_begin(&t->progress, t->app, cli_progress_is_wanted(&t->args, t->options.progress, t->options.quiet),
                       t->options.progress, NULL);
    clv_status status = clv_read_corpus(ctx, path, take_document, t, &t->corpus);
    cli_progress_end(&t->progress);
    CLI_TRY(cli_library(t->app, status));
    cli_reading_end(t->app);
    if (t->options.labels && !t->corpus->labels) {
        return cli_fail(t->app, CLV_EDATA, "--labels-out: no document of %s has a label", cli_input_name(path));
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
    if (t->like) {
        t->reduce.dims = t->like->axes.rows;
        return CLV_OK;
    }
    if (t->reduce.dims > most && cli_args_given(&t->args, "dims")) {
        return cli_fail(t->app, CLV_EUSAGE, "--dims %lld exceeds the smaller of %lld documents and %lld terms",
                        (long long)t->reduce.dims, (long long)m->rows, (long long)m->cols);
    }
    t->reduce.dims = t->reduce.dims < most ? t->reduce.dims : most;
    return CLV_OK;
}

static clv_status find_axes(text_job *t) {
    clv_context *ctx = t->app->ctx;
    const clv_matrix *matrix = clv_data_matrix(t->matrix);
    bool kept = t->options.model != NULL;
    int64_t axes = kept ? t->reduce.dims * matrix->cols * (int64_t)sizeof(double) : 0;
    t->values = calloc(2 * (size_t)t->reduce.dims, sizeof *t->values);
    if (!t->values) {
        return cli_fail(t->app, CLV_ENOMEM, "out of memory");
    }
    if (t->reduce.memory > 0) { /* axes that are handed out are not counted */
        t->reduce.memory = t->reduce.memory > axes ? t->reduce.memory - axes : 1;
    }
    CLI_TRY(cli_library(t->app, clv_reduce(ctx, matrix, &t->reduce, &t->points, kept ? &t->axes : NULL, t->values)));
    return kept && t->reduce.center ? cli_library(t->app, clv_reduce_offset(ctx, matrix, clv_data_matrix(t->axes),
                                                                            t->values + t->reduce.dims))
                                    : CLV_OK;
}

static clv_status reduce(text_job *t) {
    double began = cli_seconds();
    CLI_TRY(t->like ? cli_library(t->app, clv_reduce_like(t->app->ctx, clv_data_matrix(t->matrix), &t->like->axes,
                                                          t->like->offset, t->options.threads, &t->points))
                    : find_axes(t));
    t->reduce_seconds = cli_seconds() - began;
    if (t->options.verbose) {
        cli_tell("reduced to %lld columns, %.3f s", (long long)t->reduce.dims, t->reduce_seconds);
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
    if (t->like) { /* no axes are looked for: the points, and a few vectors of either side */
        f.reduction = (size_t)(m->rows * t->reduce.dims + 8 * (m->rows + m->cols)) * sizeof(double);
    }
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
        fprintf(stream, " \"dims\": %lld, ", (long long)t->reduce.dims);
    }
    if (t->like) {
        fputs("\"like\": ", stream);
        print_string(stream, t->options.like);
        fputs(",\n", stream);
    } else if (t->points) {
        fprintf(stream, "\"centered\": %s, \"singular_values\": [", t->reduce.center ? "true" : "false");
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
    fprintf(stream, "\nlabels     %lld\nterms      %lld of %lld, %lld occurrences\n", (long long)t->corpus->classes,
            (long long)info->terms, (long long)info->seen, (long long)info->tokens);
    if (t->points && t->like) {
        fprintf(stream, "points     %lld x %lld, on the axes of %s\n", (long long)info->documents,
                (long long)t->reduce.dims, t->options.like);
    } else if (t->points) {
        fprintf(stream, "points     %lld x %lld, %s; singular values %.4g to %.4g\n", (long long)info->documents,
                (long long)t->reduce.dims, t->reduce.center ? "principal components" : "truncated SVD", t->values[0],
                t->values[t->reduce.dims - 1]);
    }
    fprintf(stream, "seconds    %.3f: read and count %.3f, reduce %.3f\n", cli_elapsed(t->app), t->read_seconds,
            t->reduce_seconds);
}

/* To text files with names: "axis 1", "axis 2", ... beside the ids. */
static clv_status write_points(const text_job *t) {
    enum { SIZE = 32 };
    int64_t dims = t->reduce.dims;
    const char **names = malloc((size_t)dims * (sizeof *names + SIZE));
    char *text = (char *)(names + dims);
    for (int64_t c = 0; names && c < dims; c++, text += SIZE) {
        snprintf(text, SIZE, "axis %lld", (long long)c + 1);
        names[c] = text;
    }
    clv_status status = names ? cli_library(t->app, clv_write_named(t->app->ctx, t->options.output,
                                                                    clv_data_matrix(t->points), t->points, 0, names))
                              : cli_fail(t->app, CLV_ENOMEM, "out of memory");
    free(names);
    return status;
}

static clv_status write_model(const text_job *t) {
    int64_t count;
    const char *words = clv_stop_words(t->terms.stop_words);
    const clv_text_model model = {.terms = clv_tfidf_terms(t->tfidf, &count),
                                  .ids = t->corpus->repeated ? NULL : t->corpus->ids,
                                  .occurrences = *clv_data_matrix(t->matrix),
                                  .axes = *clv_data_matrix(t->axes),
                                  .offset = t->values + t->reduce.dims,
                                  .ngrams = t->terms.ngrams,
                                  .stop_list = words ? words : t->stop_list,
                                  .points = clv_matrix_fingerprint(clv_data_matrix(t->points)),
                                  .tfidf = clv_matrix_fingerprint(clv_data_matrix(t->matrix))};
    return cli_library(t->app, clv_text_model_write(t->app->ctx, t->options.model, &model));
}

/* The ids stand beside points and labels, and are kept, if all of them differ: others match no rows, and beside points
 * would be taken for a feature. */
static clv_status name_documents(const text_job *t) {
    const char *paths[] = {t->options.output, t->options.labels, t->options.model}, *named = NULL;
    if (!t->corpus->repeated) {
        CLI_TRY(cli_library(t->app, clv_data_set_ids(t->matrix, "id", t->corpus->ids)));
        return t->options.output ? cli_library(t->app, clv_data_set_ids(t->points, "id", t->corpus->ids)) : CLV_OK;
    }
    for (size_t i = 0; i < CLI_COUNT(paths) && !named; i++) {
        named = paths[i] && cli_has_ending(paths[i], "csv|tsv|clv") ? paths[i] : NULL;
    }
    if (named && !t->options.quiet) {
        cli_tell("%s: warning: more than one document has the id %s: in %s rows are numbered instead",
                 t->args.operands[0], t->corpus->repeated, named);
    }
    return CLV_OK;
}

static clv_status write(const text_job *t) {
    const text_options *o = &t->options;
    cli_outputs out = {.app = t->app};
    CLI_TRY(name_documents(t));
    clv_context_set_time_limit(t->app->ctx, 0); /* to write what there is is worth the wait */
    cli_signals_watch(t->app->ctx, false);
    if (o->output) {
        cli_outputs_note(&out, o->output, write_points(t));
    }
    if (o->model) {
        cli_outputs_note(&out, o->model, write_model(t));
    }
    cli_outputs_matrix(&out, o->tfidf, t->matrix);
    cli_outputs_print(&out, o->vocab, print_terms, t);
    cli_outputs_labels(&out, o->labels, t->corpus->labels, t->corpus->documents, t->matrix, NULL);
    return cli_outputs_tell(&out, o->json, o->quiet, print_json, print_table, t);
}

static clv_status work(void *job) {
    text_job *t = job;
    CLI_TRY(check(t));
    clv_context_set_time_limit(t->app->ctx, t->options.time_limit);
    cli_reading_begin(t->app, t->options.memory);
    CLI_TRY(read_model(t));
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
    clv_data_free(t.axes);
    clv_data_free(t.points);
    clv_data_free(t.matrix);
    clv_tfidf_free(t.tfidf);
    clv_corpus_free(t.corpus);
    clv_text_model_free(t.like);
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
        "standard input.\n"
        "\n"
        "--model keeps what the words were: the methods then say by --terms what their clusters are about, and\n"
        "--like makes points of new documents for cleave predict.\n",
    .examples =
        "  cleave text posts.jsonl.gz -o X.npy --labels-out y.npy --stop-words english --max-df 0.5 --min-df 2\n"
        "  cleave text mail/ -o X.npy --model mail.clv --stop-words german --ngrams 1-2\n"
        "  cleave ncut X.npy -k 20 --affinity cosine --terms mail.clv --json r.json --save-model\n"
        "  cleave text --like mail.clv new/ -o Y.csv && cleave predict r.json Y.csv -o labels.csv\n",
    .run = run,
};
