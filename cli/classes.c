/* eval --classes: predictions against true classes by name, without matching: accuracy, precision and recall of each
 * class, the confusion table. */
#include "eval.h"
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

/* A target as the file names it. */
static const char *name_of(const clv_data *targets, int64_t i, char number[32]) {
    int64_t count;
    const char *const *texts = clv_data_classes(targets, &count);
    double value = ((const double *)clv_data_matrix(targets)->values)[i];
    if (texts) {
        return texts[(int64_t)value];
    }
    snprintf(number, 32, "%.15g", value);
    return number;
}

/* -1 is a class where TRUTH has it; elsewhere LABELS say by it that an object was left out. */
static bool may_leave_out(const clv_data *truth) {
    char number[32];
    bool may = true;
    for (int64_t i = 0; may && i < clv_data_matrix(truth)->rows; i++) {
        may = strcmp(name_of(truth, i, number), "-1") != 0;
    }
    return may;
}

/* Numbers by size, texts after them by letters. */
static int compare_names(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    char *end_x, *end_y;
    double number_x = strtod(x, &end_x), number_y = strtod(y, &end_y);
    bool is_x = *x && !*end_x, is_y = *y && !*end_y;
    if (is_x && is_y) {
        return (number_x > number_y) - (number_x < number_y);
    }
    return is_x != is_y ? (is_x ? -1 : 1) : strcmp(x, y);
}

static int64_t find_name(const cli_classes *c, const char *name) {
    char *const *found = bsearch(&name, c->names, (size_t)c->count, sizeof *c->names, compare_names);
    return found ? found - c->names : -1;
}

/* The names of both files, each once, in order. */
static clv_status collect_names(cli_classes *c, const clv_data *const files[2]) {
    char number[32];
    int64_t n = clv_data_matrix(files[0])->rows, kept = 0;
    c->names = calloc((size_t)(2 * n) + 1, sizeof *c->names);
    for (int64_t i = 0; c->names && i < 2 * n; i++) {
        const char *name = name_of(files[i / n], i % n, number);
        if (i >= n && strcmp(name, "-1") == 0 && c->leaves_out) {
            continue;
        }
        c->names[c->count] = strdup(name);
        if (!c->names[c->count]) {
            return CLV_ENOMEM;
        }
        c->count++;
    }
    if (!c->names) {
        return CLV_ENOMEM;
    }
    qsort(c->names, (size_t)c->count, sizeof *c->names, compare_names);
    for (int64_t i = 0; i < c->count; i++) {
        if (kept > 0 && compare_names(&c->names[kept - 1], &c->names[i]) == 0) {
            free(c->names[i]);
        } else {
            c->names[kept++] = c->names[i];
        }
    }
    c->count = kept;
    return CLV_OK;
}

static clv_status fill_table(cli_classes *c, const clv_data *const files[2], const int64_t *rows) {
    enum { MOST = 4096 };
    char number[32];
    c->n = clv_data_matrix(files[0])->rows;
    c->leaves_out = may_leave_out(files[0]);
    clv_status status = collect_names(c, files);
    if (status < 0 || c->count > MOST) {
        return status < 0
                   ? cli_fail(c->app, status, "out of memory")
                   : cli_fail(c->app, CLV_EDATA, "there are %lld different classes, more than %d: are these classes?",
                              (long long)c->count, MOST);
    }
    c->table = calloc((size_t)(c->count * c->count) + 1, sizeof *c->table);
    if (!c->table) {
        return cli_fail(c->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < c->n; i++) {
        int64_t truth = find_name(c, name_of(files[0], i, number));
        int64_t found = find_name(c, name_of(files[1], rows ? rows[i] : i, number));
        if (found >= 0) {
            c->table[truth * c->count + found]++;
            c->compared++;
        }
    }
    return CLV_OK;
}

clv_status cli_classes_read(cli_classes *c) {
    clv_data **files = c->files;
    int64_t *rows = NULL;
    clv_status status = CLV_OK;
    for (size_t f = 0; f < 2 && status >= 0; f++) {
        status = cli_library(c->app, clv_read_classes(c->app->ctx, c->paths[f], &c->requests[f], &files[f]));
    }
    if (status >= 0 && clv_data_matrix(files[0])->rows != clv_data_matrix(files[1])->rows) {
        status = cli_fail(c->app, CLV_EDATA, "LABELS: %s has %lld labels, but there are %lld objects", c->paths[1],
                          (long long)clv_data_matrix(files[1])->rows, (long long)clv_data_matrix(files[0])->rows);
    }
    status = status < 0 ? status : cli_library(c->app, clv_match_ids(c->app->ctx, files[0], files[1], &rows));
    if (status >= 0) {
        c->by_id = rows != NULL;
        status = fill_table(c, (const clv_data *const[]){files[0], files[1]}, rows);
    }
    clv_release(c->app->ctx, rows);
    return status;
}

void cli_classes_free(cli_classes *c) {
    for (int64_t i = 0; i < c->count; i++) {
        free(c->names[i]);
    }
    free(c->names);
    free(c->table);
    clv_data_free(c->files[0]);
    clv_data_free(c->files[1]);
}

/* --- what follows --- */

typedef struct scores {
    double precision, recall, f1; /* NaN: nothing was predicted, or nothing is there */
    int64_t support;
} scores;

static scores scores_of(const cli_classes *c, int64_t class) {
    int64_t hits = c->table[class * c->count + class], there = 0, predicted = 0;
    for (int64_t j = 0; j < c->count; j++) {
        there += c->table[class * c->count + j];
        predicted += c->table[j * c->count + class];
    }
    double precision = predicted ? (double)hits / (double)predicted : NAN,
           recall = there ? (double)hits / (double)there : NAN;
    return (scores){precision, recall, 2 * (double)hits / (double)(there + predicted), there};
}

static double accuracy(const cli_classes *c) {
    int64_t hits = 0;
    for (int64_t i = 0; i < c->count; i++) {
        hits += c->table[i * c->count + i];
    }
    return c->compared > 0 ? (double)hits / (double)c->compared : NAN;
}

/* --- writing --- */

void cli_classes_print_json(FILE *stream, const void *what) {
    const cli_classes *c = what;
    fprintf(stream,
            "{\"cleave\": \"%s\", \"n\": %lld, \"matched\": \"%s\", \"compared\": %lld, \"accuracy\": ", clv_version(),
            (long long)c->n, c->by_id ? "id" : "row", (long long)c->compared);
    cli_json_number(stream, accuracy(c));
    fputs(",\n", stream);
    cli_print_columns_json(stream, c->files[0], c->files[1]);
    fputs(" \"classes\": [", stream);
    for (int64_t i = 0; i < c->count; i++) {
        scores s = scores_of(c, i);
        fprintf(stream, "%s{\"name\": ", i ? ",\n  " : "");
        cli_json_string(stream, c->names[i]);
        fputs(", \"precision\": ", stream);
        cli_json_number(stream, s.precision);
        fputs(", \"recall\": ", stream);
        cli_json_number(stream, s.recall);
        fputs(", \"f1\": ", stream);
        cli_json_number(stream, s.f1);
        fprintf(stream, ", \"support\": %lld}", (long long)s.support);
    }
    fputs("],\n \"confusion\": [", stream);
    for (int64_t i = 0; i < c->count; i++) {
        for (int64_t j = 0; j < c->count; j++) {
            fprintf(stream, "%s%lld", j ? ", " : i ? ",\n  [" : "[", (long long)c->table[i * c->count + j]);
        }
        fputs("]", stream);
    }
    fputs("]}\n", stream);
}

static void print_score(FILE *stream, double value) {
    if (isnan(value)) {
        fprintf(stream, " %10s", "-");
    } else {
        fprintf(stream, " %10.6f", value);
    }
}

void cli_classes_print_table(FILE *stream, const void *what) {
    enum { SHOWN = 12 }; /* columns that fit on a screen */
    const cli_classes *c = what;
    static const char *const kinds[] = {"truth", "predicted"};
    fprintf(stream, "%-16s %10lld  ", "objects", (long long)c->n);
    if (c->compared < c->n) {
        fprintf(stream, "of which %lld are compared and the others left out (-1), ", (long long)c->compared);
    }
    fprintf(stream, "%s\n", cli_matched(c->by_id));
    for (size_t f = 0; f < 2; f++) {
        fprintf(stream, "%-16s %10s  ", kinds[f], "");
        cli_print_column(stream, c->files[f], c->paths[f]);
    }
    fprintf(stream, "%-16s %10.6f  the share of objects whose class is right\n\n", "accuracy", accuracy(c));
    fprintf(stream, "%-16s %10s %10s %10s %10s\n", "class", "precision", "recall", "f1", "objects");
    for (int64_t i = 0; i < c->count; i++) {
        scores s = scores_of(c, i);
        fprintf(stream, "%-16s", c->names[i]);
        print_score(stream, s.precision);
        print_score(stream, s.recall);
        print_score(stream, s.f1);
        fprintf(stream, " %10lld\n", (long long)s.support);
    }
    if (c->count > SHOWN) {
        fprintf(stream, "\nThe confusion table of %lld classes is in the JSON result (--json).\n", (long long)c->count);
        return;
    }
    fprintf(stream, "\n%-16s", "true \\ predicted");
    for (int64_t j = 0; j < c->count; j++) {
        fprintf(stream, " %10.10s", c->names[j]);
    }
    fputs("\n", stream);
    for (int64_t i = 0; i < c->count; i++) {
        fprintf(stream, "%-16s", c->names[i]);
        for (int64_t j = 0; j < c->count; j++) {
            fprintf(stream, " %10lld", (long long)c->table[i * c->count + j]);
        }
        fputs("\n", stream);
    }
}
