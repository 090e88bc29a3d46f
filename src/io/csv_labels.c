/* Labels of CSV files: of a column beside the points, or of a file that is read for them alone. Whole numbers are
 * labels as they are, or numbered in ascending order; texts are numbered so. */
#include "io/csv.h"

#include <math.h>

/* The texts of the column of labels. */
typedef struct labels_of {
    clv_context *ctx;
    const char *name; /* of the file */
    const clv_layout *layout;
    int64_t column, rows;
    clv_token *fields; /* owned */
} labels_of;

static clv_status read_labels_of(const clv_table *t, int64_t column, labels_of *out) {
    *out = (labels_of){.ctx = t->ctx, .name = t->start.name, .layout = &t->layout, .column = column, .rows = t->rows};
    return clv_table_texts(t, column, &out->fields);
}

static clv_status refuse_label(const labels_of *r, int64_t row, const char *why) {
    char shown[CLV_SHOWN_SIZE], column[CLV_COLUMN_SIZE];
    const clv_token *field = &r->fields[row];
    return clv_fail(r->ctx, CLV_EDATA, "%s row %lld, %s: the label '%s' %s", r->name, (long long)row + 1,
                    clv_layout_show(r->layout, r->column, column), clv_show_field(shown, field), why);
}

/* The labels as whole numbers; *texts when some are texts instead. */
static clv_status read_label_numbers(const labels_of *r, double *numbers, bool *texts) {
    int64_t fractional = -1;
    *texts = false;
    for (int64_t i = 0; i < r->rows; i++) {
        if (clv_is_no_label(&r->fields[i])) {
            return refuse_label(r, i, "is missing: -1 leaves an object out");
        }
        if (!clv_field_number(&r->fields[i], &numbers[i])) {
            *texts = true;
            continue;
        }
        if (!isfinite(numbers[i])) {
            return refuse_label(r, i, "is not a finite number");
        }
        fractional = fractional < 0 && numbers[i] != floor(numbers[i]) ? i : fractional;
    }
    if (!*texts && fractional >= 0) {
        return refuse_label(r, fractional, "is neither a whole number nor text");
    }
    return CLV_OK;
}

/* Whole numbers as they are. */
static clv_status keep_numbers(const labels_of *r, const double *numbers, int32_t *labels) {
    for (int64_t i = 0; i < r->rows; i++) {
        if (numbers[i] < -1 || numbers[i] > INT32_MAX) {
            return refuse_label(r, i, "is not a number from -1 to 2147483647");
        }
        labels[i] = (int32_t)numbers[i];
    }
    return CLV_OK;
}

/* Among texts, -1 is no class either: it is what labels say of an object that was left out. */
static clv_status code_texts(const labels_of *r, int32_t *labels) {
    int32_t code = -1;
    CLV_TRY(clv_code_texts(r->ctx, r->name, r->fields, r->rows, labels));
    for (int64_t i = 0; i < r->rows && code < 0; i++) {
        code = clv_field_equals(&r->fields[i], "-1", false) ? labels[i] : -1;
    }
    for (int64_t i = 0; i < r->rows && code >= 0; i++) {
        labels[i] = labels[i] == code ? -1 : labels[i] - (labels[i] > code);
    }
    return CLV_OK;
}

static clv_status fill_labels(const labels_of *r, bool keep, double *numbers, int32_t *labels) {
    bool texts;
    CLV_TRY(read_label_numbers(r, numbers, &texts));
    if (texts) {
        return keep ? code_texts(r, labels) : clv_code_texts(r->ctx, r->name, r->fields, r->rows, labels);
    }
    return keep ? keep_numbers(r, numbers, labels) : clv_code_numbers(r->ctx, r->name, numbers, r->rows, labels);
}

/* *out is the caller's, also after a failure. */
static clv_status make_labels(const labels_of *r, bool keep, int32_t **out) {
    double *numbers = CLV_NEW(r->ctx, double, r->rows);
    *out = CLV_NEW(r->ctx, int32_t, r->rows);
    clv_status status = numbers && *out ? fill_labels(r, keep, numbers, *out) : CLV_ENOMEM;
    clv_free(r->ctx, numbers);
    return status;
}

/* The rows kept that have a label move to the front; those of the others, in order, are marked. */
static void keep_labeled(labels_of *r, const int64_t *kept, int64_t count, bool *lacks) {
    r->rows = 0;
    for (int64_t i = 0; i < count; i++) {
        r->fields[r->rows] = r->fields[kept[i]];
        lacks[i] = clv_is_no_label(&r->fields[r->rows]);
        r->rows += !lacks[i];
    }
}

clv_status clv_labels_make(const clv_table *t, int64_t column, const int64_t *kept, int64_t count, int32_t **out,
                           clv_classes *names) {
    labels_of labels;
    int32_t *codes = NULL;
    bool *lacks = CLV_NEW(t->ctx, bool, count);
    *out = CLV_NEW(t->ctx, int32_t, count);
    *names = (clv_classes){0};
    clv_status status = read_labels_of(t, column, &labels);
    status = lacks && *out ? status : CLV_ENOMEM;
    if (status == CLV_OK) {
        keep_labeled(&labels, kept, count, lacks);
        status = make_labels(&labels, false, &codes);
    }
    if (status == CLV_OK) {
        status = clv_name_classes(t->ctx, labels.fields, codes, labels.rows, names);
    }
    for (int64_t i = 0, next = 0; status == CLV_OK && i < count; i++) {
        (*out)[i] = lacks[i] ? -1 : codes[next++];
    }
    CLV_FREE_ALL(t->ctx, labels.fields, codes, lacks);
    return status;
}

/* --- files of labels --- */

/* Whether the first of two columns says which row is which, and the other one holds the labels. */
static clv_status names_rows(const clv_table *t, bool *names) {
    const clv_token *name = clv_layout_name(&t->layout, 0);
    *names = t->layout.shifted || (name && name->size == 0) || clv_layout_names_rows(&t->layout, 0);
    return *names ? CLV_OK : clv_table_differs(t, 0, names);
}

/* The labels of a clustering among columns that are named like labels: the last that cleave may have written. */
static int64_t find_own(const clv_table *t) {
    int64_t c = t->layout.columns - 1;
    while (c >= 0 && !clv_layout_names_own(&t->layout, c)) {
        c--;
    }
    return c >= 0 ? c : t->layout.label;
}

/* The truth among them: the first, but for what cleave may have written behind all others; of those, if there is no
 * other, a column of text just before it. */
static clv_status find_true(const clv_table *t, int64_t *column) {
    int64_t last = t->layout.columns - 1;
    bool differs = true;
    *column = t->layout.label;
    if (*column != last || !clv_layout_names_own(&t->layout, last) || last < 2 ||
        t->columns[last - 1].texts.count == 0) {
        return CLV_OK;
    }
    CLV_TRY(clv_table_differs(t, last - 1, &differs));
    *column = differs ? last : last - 1;
    return CLV_OK;
}

/* The column of labels: the only one, that of its name, the other one of two beside row names, or one of text. */
static clv_status find_column(const clv_table *t, bool truth, int64_t *column) {
    int64_t last = t->layout.columns - 1;
    bool names = false, text_first = t->columns[0].texts.count > 0, text_last = t->columns[last].texts.count > 0;
    *column = truth || t->layout.label < 0 ? t->layout.label : find_own(t);
    CLV_TRY(truth ? find_true(t, column) : CLV_OK);
    if (last == 0) {
        *column = 0;
    } else if (*column < 0) {
        CLV_TRY(last == 1 && (text_first || t->layout.header) ? names_rows(t, &names) : CLV_OK);
        *column = names || (last != 1 && text_last)  ? last
                  : text_first && !t->layout.shifted ? 0
                  : text_last                        ? last
                                                     : -1;
    }
    return *column >= 0 ? CLV_OK
                        : clv_fail(t->ctx, CLV_EDATA,
                                   "%s has %lld columns and none of them is text or has a name for labels (label, "
                                   "class, target, species and the like)",
                                   t->start.name, (long long)last + 1);
}

static clv_status choose_column(const clv_table *t, const clv_label_request *request, int64_t *column) {
    return request && request->column ? clv_table_find_column(t, request->column, column)
                                      : find_column(t, request && request->truth, column);
}

/* Texts with their classes; a column of numbers has labels alone, unless it is to be taken for texts. */
static clv_status make_classes(const labels_of *r, bool texts, int32_t **labels, clv_classes *classes) {
    double value;
    for (int64_t i = 0; i < r->rows && !texts; i++) {
        texts = r->fields[i].size > 0 && !clv_field_number(&r->fields[i], &value);
    }
    if (!texts) {
        return make_labels(r, true, labels);
    }
    for (int64_t i = 0; i < r->rows; i++) {
        if (clv_is_no_label(&r->fields[i])) {
            return refuse_label(r, i, "is missing: -1 leaves an object out");
        }
    }
    *labels = CLV_NEW(r->ctx, int32_t, r->rows);
    CLV_TRY(*labels ? clv_code_texts(r->ctx, r->name, r->fields, r->rows, *labels) : CLV_ENOMEM);
    return clv_name_classes(r->ctx, r->fields, *labels, r->rows, classes);
}

static clv_status read_file(clv_table *t, clv_bytes bytes, char separator, const clv_label_request *request,
                            labels_of *labels) {
    int64_t column;
    CLV_TRY(clv_table_read(t, bytes, separator, &(clv_layout_request){.settled = true}));
    CLV_TRY(choose_column(t, request, &column));
    CLV_TRY(clv_table_check_counts(t));
    return read_labels_of(t, column, labels);
}

/* What the column of labels is called, and the rows beside it. */
static clv_status put_names(clv_table *t, int64_t labels, clv_data *data) {
    char shown[CLV_COLUMN_SIZE];
    data->truth = clv_copy_text(t->ctx, clv_layout_call(&t->layout, labels, shown));
    CLV_TRY(data->truth ? CLV_OK : CLV_ENOMEM);
    t->columns[labels].role = CLV_ROLE_LABELS;
    if (t->layout.columns == 2 && clv_layout_names_rows(&t->layout, 1 - labels)) {
        t->columns[1 - labels].role = CLV_ROLE_ID; /* also if they repeat, by mistake */
    }
    CLV_TRY(clv_table_find_ids(t));
    int64_t ids = clv_table_choose_ids(t);
    return ids >= 0 ? clv_table_put_ids(t, ids, data) : CLV_OK;
}

clv_status clv_csv_parse_classes(clv_context *ctx, clv_bytes bytes, char separator, const clv_label_request *request,
                                 bool texts, clv_data *rows, int32_t **labels, clv_classes *classes) {
    *labels = NULL;
    if (classes) {
        *classes = (clv_classes){0};
    }
    clv_table t = {.ctx = ctx};
    labels_of read = {0};
    clv_status status = read_file(&t, bytes, separator, request, &read);
    if (status == CLV_OK) {
        status = classes ? make_classes(&read, texts, labels, classes) : make_labels(&read, true, labels);
    }
    if (status == CLV_OK) {
        status = put_names(&t, read.column, rows);
    }
    rows->matrix.rows = read.rows;
    clv_free(ctx, read.fields);
    clv_table_free(&t);
    if (status < 0) {
        clv_free(ctx, *labels);
        *labels = NULL;
    }
    if (status < 0 && classes) {
        clv_free_texts(ctx, classes->text, classes->count);
        *classes = (clv_classes){0};
    }
    return status;
}

/* --- targets beside features --- */

clv_status clv_targets_make(const clv_table *t, int64_t column, const int64_t *kept, int64_t count, clv_data *data) {
    data->targets = CLV_NEW(t->ctx, double, count);
    CLV_TRY(data->targets ? CLV_OK : CLV_ENOMEM);
    if (t->columns[column].texts.count == 0) {
        for (int64_t i = 0; i < count; i++) {
            data->targets[i] = t->values[kept[i] * t->layout.columns + column];
        }
        return CLV_OK;
    }
    labels_of labels;
    int32_t *codes = NULL;
    clv_classes classes = {0};
    clv_status status = read_labels_of(t, column, &labels);
    for (int64_t i = 0; status == CLV_OK && i < count; i++) {
        labels.fields[i] = labels.fields[kept[i]];
    }
    labels.rows = count;
    if (status == CLV_OK) {
        status = make_classes(&labels, true, &codes, &classes);
    }
    for (int64_t i = 0; status == CLV_OK && i < count; i++) {
        data->targets[i] = codes[i];
    }
    data->classes = classes.text;
    data->classes_count = classes.count;
    CLV_FREE_ALL(t->ctx, labels.fields, codes);
    return status;
}
