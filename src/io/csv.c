/* CSV and its relatives to a dense matrix of doubles, labels and the names of rows and columns.
 *
 * csv_layout.c finds the header, csv_rows.c reads all rows, csv_columns.c says what each column is for, csv_problems.c
 * refuses what cannot be used. Here the features are put together: missing cells replaced or their rows dropped,
 * classes of text made into columns of 0 and 1. */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What becomes of a table. */
typedef struct making {
    clv_table table;
    const clv_read_options *options;
    clv_data *data;
    clv_kept work; /* owns the arrays below */
    int64_t *kept; /* the rows that stay */
    int64_t kept_count;
    double *fill;       /* of each column: what stands for a missing cell */
    int64_t filled;     /* cells */
    int32_t **classes;  /* of each column of classes: the class of each row */
    clv_classes *texts; /* and the texts of these; freed one by one */
    bool classed;       /* there are such columns */
    int64_t width;      /* of the matrix */
} making;

/* Whether to go on after a pass over one column. */
static clv_status go_on(const clv_table *t) {
    enum { WORK_A_ROW = 8 };
    return clv_read_on(t->ctx, t->start.name, WORK_A_ROW * t->rows);
}

/* --- rows --- */

static bool is_used(const clv_column *column) {
    return column->role != CLV_ROLE_DROPPED && column->role != CLV_ROLE_ID;
}

static bool is_feature(const clv_column *column) {
    return column->role == CLV_ROLE_NUMBERS || column->role == CLV_ROLE_CLASSES;
}

/* Mark the rows in which a cell of this column is missing: of numbers, what is none. */
static clv_status mark_missing(const clv_table *t, const clv_read_options *options, int64_t c, bool *marked) {
    if (t->columns[c].role == CLV_ROLE_NUMBERS || clv_is_number_target(options, &t->columns[c])) {
        for (int64_t i = 0; i < t->rows; i++) {
            marked[i] = marked[i] || isnan(t->values[i * t->layout.columns + c]);
        }
        return go_on(t);
    }
    clv_token *texts = NULL;
    double value;
    clv_status status = clv_table_texts(t, c, &texts);
    for (int64_t i = 0; status == CLV_OK && i < t->rows; i++) {
        marked[i] = marked[i] || (t->columns[c].role == CLV_ROLE_LABELS
                                      ? clv_is_no_label(&texts[i])
                                      : clv_cell_of(&t->start, &texts[i], &value) == CLV_CELL_MISSING);
    }
    clv_free(t->ctx, texts);
    return status;
}

/* Rows in which no used cell is missing. */
static clv_status keep_rows(making *m) {
    const clv_table *t = &m->table;
    bool *dropped = CLV_TAKE0(&m->work, bool, t->rows);
    m->kept = CLV_TAKE(&m->work, int64_t, t->rows);
    CLV_TRY(m->work.status);
    for (int64_t c = 0; c < t->layout.columns && m->options->missing == CLV_MISSING_DROP; c++) {
        bool needed = m->options->targets || t->columns[c].role != CLV_ROLE_LABELS; /* else it only lacks its truth */
        if (is_used(&t->columns[c]) && needed && t->columns[c].missing.count > 0) {
            CLV_TRY(mark_missing(t, m->options, c, dropped));
        }
    }
    for (int64_t i = 0; i < t->rows; i++) {
        m->kept[m->kept_count] = i;
        m->kept_count += !dropped[i];
    }
    return m->kept_count > 0 ? CLV_OK
                             : clv_fail(t->ctx, CLV_EDATA, "%s: --missing drop would leave no row%s", t->start.name,
                                        clv_is_settled(m->options) ? "" : ": use --missing mean or median");
}

/* --- classes --- */

/* The classes of a column of text; cells that are missing are one of their own, whatever the word for it. */
static clv_status code_column(making *m, int64_t c, int32_t *classes) {
    const clv_table *t = &m->table;
    clv_token *texts = NULL;
    m->classes[c] = classes;
    clv_status status = clv_table_texts(t, c, &texts);
    for (int64_t i = 0; status == CLV_OK && i < t->rows; i++) {
        texts[i].size = clv_is_missing(&texts[i]) ? 0 : texts[i].size;
    }
    if (status == CLV_OK) {
        status = clv_code_texts(t->ctx, t->start.name, texts, t->rows, m->classes[c]);
    }
    if (status == CLV_OK) {
        status = clv_name_classes(t->ctx, texts, m->classes[c], t->rows, &m->texts[c]);
    }
    clv_free(t->ctx, texts);
    m->width += m->texts[c].count;
    m->classed = true;
    return status;
}

static clv_status code_columns(making *m) {
    const clv_table *t = &m->table;
    int64_t texts = 0;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        m->width += t->columns[c].role == CLV_ROLE_NUMBERS;
        texts += t->columns[c].role == CLV_ROLE_CLASSES;
    }
    m->classes = CLV_TAKE0(&m->work, int32_t *, t->layout.columns);
    m->texts = CLV_TAKE0(&m->work, clv_classes, t->layout.columns);
    int32_t *classes = CLV_TAKE(&m->work, int32_t, texts * t->rows); /* no more than there are cells */
    CLV_TRY(m->work.status);
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_CLASSES) {
            CLV_TRY(code_column(m, c, classes));
            classes += t->rows;
        }
    }
    return CLV_OK;
}

/* --- what stands for missing cells --- */

/* Whether missing cells are replaced. */
static bool fills(const clv_read_options *options) {
    return options->missing == CLV_MISSING_MEAN || options->missing == CLV_MISSING_MEDIAN;
}

/* The mean or the median of what is there of a column. */
static double middle_of(const making *m, int64_t column, double *work) {
    const clv_table *t = &m->table;
    int64_t count = 0;
    double sum = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        double value = t->values[i * t->layout.columns + column];
        if (!isnan(value)) {
            work[count++] = value;
            sum += value;
        }
    }
    if (count == 0 || m->options->missing == CLV_MISSING_MEAN) {
        return count == 0 ? 0 : sum / (double)count;
    }
    double upper = clv_nth_smallest(work, count, count / 2);
    return count % 2 ? upper : 0.5 * (upper + clv_nth_smallest(work, count, count / 2 - 1));
}

/* The same, or what other data have there: by name, or where columns have none by their place in the matrix. */
static double fill_of(const making *m, int64_t column, int64_t place, double *work) {
    const clv_read_options *options = m->options;
    const clv_token *name = clv_layout_name(&m->table.layout, column);
    for (int64_t l = 0; options->like && name && l < options->like_count; l++) {
        if (clv_field_equals(name, options->like[l], false)) {
            place = l;
        }
    }
    return place < options->fill_count ? options->fill[place] : middle_of(m, column, work);
}

static clv_status find_fill(making *m) {
    const clv_table *t = &m->table;
    double *work = CLV_TAKE(&m->work, double, t->rows);
    m->fill = CLV_TAKE0(&m->work, double, t->layout.columns);
    CLV_TRY(m->work.status);
    for (int64_t c = 0, place = 0; c < t->layout.columns && fills(m->options); c++) {
        const clv_column *column = &t->columns[c];
        if (column->role == CLV_ROLE_NUMBERS) {
            m->fill[c] = fill_of(m, c, place++, work);
            CLV_TRY(go_on(t));
            m->filled += column->missing.count;
        }
        place += m->texts[c].count;
    }
    return CLV_OK;
}

/* One number per column of the matrix, for other data of these columns. */
static clv_status put_fill(making *m) {
    const clv_table *t = &m->table;
    if (!fills(m->options)) {
        return CLV_OK;
    }
    double *to = m->data->fill = CLV_NEW0(t->ctx, double, m->width);
    CLV_TRY(to ? CLV_OK : CLV_ENOMEM);
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_NUMBERS) {
            *to++ = m->fill[c];
        }
        to += m->texts[c].count;
    }
    return CLV_OK;
}

/* --- the matrix --- */

/* A row of the matrix from one of the table, which may lie further on in the same memory. */
static double *put_row(const making *m, int64_t row, double *to) {
    const clv_table *t = &m->table;
    const double *from = t->values + row * t->layout.columns;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_NUMBERS) {
            double value = from[c];
            *to++ = isnan(value) ? m->fill[c] : value;
        }
        for (int64_t l = 0; l < m->texts[c].count; l++) {
            *to++ = m->classes[c][row] == l;
        }
    }
    return to;
}

/* How an option can name a column: by its number, or where that is the name of another one by its name. */
static const char *option_of(const clv_layout *layout, int64_t column, char text[CLV_COLUMN_SIZE]) {
    snprintf(text, CLV_COLUMN_SIZE, "%lld", (long long)column + 1);
    return clv_layout_find(layout, text) == column ? text : clv_layout_call(layout, column, text);
}

/* There is no memory for the matrix: which column of text takes the most of it. */
static clv_status refuse_classes(const making *m) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE], number[CLV_COLUMN_SIZE], what[160];
    int64_t most = 0;
    for (int64_t c = 1; c < t->layout.columns; c++) {
        most = m->texts[c].count > m->texts[most].count ? c : most;
    }
    snprintf(what, sizeof what, "%s", clv_message(t->ctx));
    return clv_fail(t->ctx, CLV_ENOMEM, "%s has %lld classes, a column each: --drop %s (%s)",
                    clv_layout_show(&t->layout, most, shown), (long long)m->texts[most].count,
                    option_of(&t->layout, most, number), what);
}

/* The features, in the memory of the table unless classes make them wider. */
static clv_status put_values(making *m) {
    enum { ROWS_A_POLL = 1 << 12 };
    clv_table *t = &m->table;
    bool wider = m->classed;
    int64_t numbers;
    if (!clv_mul(m->kept_count, m->width, &numbers)) {
        return clv_fail(t->ctx, CLV_ENOMEM, "%s would have too many columns", t->start.name);
    }
    double *values = wider ? CLV_NEW(t->ctx, double, numbers) : t->values, *to = values;
    clv_status status = values ? CLV_OK : refuse_classes(m);
    m->data->values = wider ? values : NULL;
    for (int64_t i = 0; status == CLV_OK && i < m->kept_count; i++) {
        to = put_row(m, m->kept[i], to);
        status = i % ROWS_A_POLL == 0 ? clv_read_on(t->ctx, t->start.name, ROWS_A_POLL * m->width) : CLV_OK;
    }
    CLV_TRY(status);
    if (!wider) { /* a block that fits */
        double *fitted = clv_resize(t->ctx, values, numbers, sizeof *values);
        CLV_TRY(fitted ? CLV_OK : CLV_ENOMEM);
        t->values = NULL;
        m->data->values = fitted;
    }
    m->data->matrix = (clv_matrix){.rows = m->kept_count, .cols = m->width, .values = m->data->values};
    return CLV_OK;
}

/* --- names --- */

/* "city=Paris" */
static char *name_class(clv_context *ctx, const char *column, const char *class) {
    clv_text text = {.ctx = ctx};
    clv_text_add(&text, "%s=%s", column, class);
    if (text.status < 0) {
        clv_free(ctx, text.data);
        text.data = NULL;
    }
    return text.data;
}

static clv_status put_column_names(making *m) {
    const clv_table *t = &m->table;
    clv_data *data = m->data;
    char shown[CLV_COLUMN_SIZE];
    if (!t->layout.header && !m->classed) {
        return CLV_OK;
    }
    data->columns = CLV_NEW0(t->ctx, char *, m->width);
    CLV_TRY(data->columns ? CLV_OK : CLV_ENOMEM);
    data->columns_count = m->width;
    char **to = data->columns;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        const clv_token *name = clv_layout_name(&t->layout, c);
        if (t->columns[c].role == CLV_ROLE_NUMBERS) {
            *to = name && name->size > 0 ? clv_copy_field(t->ctx, name)
                                         : clv_copy_text(t->ctx, clv_layout_show(&t->layout, c, shown));
            CLV_TRY(*to++ ? CLV_OK : CLV_ENOMEM);
        }
        for (int64_t l = 0; l < m->texts[c].count; l++) {
            *to = name_class(t->ctx, clv_layout_call(&t->layout, c, shown), m->texts[c].text[l]);
            CLV_TRY(*to++ ? CLV_OK : CLV_ENOMEM);
        }
    }
    return CLV_OK;
}

typedef struct id_list {
    clv_text text; /* all ids, each with its NUL */
    int64_t *at;   /* where they begin */
} id_list;

static clv_status add_id(void *user, int64_t row, const clv_token *field) {
    id_list *ids = user;
    ids->at[row] = (int64_t)ids->text.size;
    for (size_t at = 0; field->doubled && at < field->size; at += 1 + (field->text[at] == '"')) {
        clv_text_append(&ids->text, field->text + at, 1);
    }
    clv_text_append(&ids->text, field->text, field->doubled ? 0 : field->size);
    clv_text_append(&ids->text, "", 1);
    return ids->text.status;
}

clv_status clv_table_put_ids(const clv_table *t, int64_t column, clv_data *data) {
    char shown[CLV_COLUMN_SIZE];
    const clv_token *name = clv_layout_name(&t->layout, column);
    data->id_at = CLV_NEW(t->ctx, int64_t, t->rows);
    data->id_name = clv_copy_text(t->ctx, name && name->size > 0 ? clv_layout_call(&t->layout, column, shown) : "id");
    id_list ids = {.text = {.ctx = t->ctx}, .at = data->id_at};
    clv_status status = ids.at && data->id_name ? clv_table_visit(t, column, add_id, &ids) : CLV_ENOMEM;
    data->ids = ids.text.data;
    return status;
}

/* Where a name is among those of other data; their number: nowhere. */
static int64_t find_like(const clv_read_options *options, const char *name) {
    int64_t l = 0;
    while (l < options->like_count && strcmp(options->like[l], name) != 0) {
        l++;
    }
    return l;
}

/* Classes that other data do not have: their rows are of none. */
static clv_status warn_of_new_classes(making *m) {
    enum { SHOWN = 5 };
    clv_data *data = m->data;
    const double *values = data->values;
    clv_text warning = {.ctx = data->ctx};
    int64_t cols = data->matrix.cols, found = 0;
    for (int64_t c = 0; c < cols; c++) {
        if (find_like(m->options, data->columns[c]) < m->options->like_count || found++ >= SHOWN) {
            continue;
        }
        double rows = 0;
        for (int64_t i = 0; i < data->matrix.rows; i++) {
            rows += values[i * cols + c];
        }
        clv_text_add(&warning, "%s%s (%.0f row%s)", found == 1 ? "the model has no " : ", ", data->columns[c], rows,
                     rows == 1 ? "" : "s");
    }
    if (found > SHOWN) {
        clv_text_add(&warning, " and %lld more", (long long)(found - SHOWN));
    }
    clv_text_add(&warning, found > 0 ? ": in these rows all columns of the class are 0" : "");
    clv_free(data->ctx, data->warning);
    data->warning = warning.data;
    return warning.status;
}

/* The columns in the order of other data; a class that is not there is a column of zeros. */
static clv_status arrange(making *m) {
    const clv_read_options *options = m->options;
    clv_data *data = m->data;
    int64_t rows = data->matrix.rows, from = data->matrix.cols, to = options->like_count, numbers;
    const double *old = data->values;
    if (!clv_mul(rows, to, &numbers)) {
        return clv_fail(data->ctx, CLV_ENOMEM, "%s would have too many columns", data->name);
    }
    double *values = CLV_NEW0(data->ctx, double, numbers);
    char **names = CLV_NEW0(data->ctx, char *, to);
    clv_status status = values && names ? CLV_OK : CLV_ENOMEM;
    clv_free(data->ctx, data->fill); /* in another order; who asks for these columns knows it */
    data->fill = NULL;
    for (int64_t c = 0; status == CLV_OK && c < from; c++) {
        int64_t l = find_like(options, data->columns[c]);
        for (int64_t i = 0; i < rows && l < to; i++) {
            values[i * to + l] = old[i * from + c];
        }
    }
    for (int64_t l = 0; status == CLV_OK && l < to; l++) {
        names[l] = clv_copy_text(data->ctx, options->like[l]);
        status = names[l] ? CLV_OK : CLV_ENOMEM;
    }
    clv_free(data->ctx, data->values);
    clv_free_texts(data->ctx, data->columns, data->columns_count);
    data->values = values;
    data->columns = names;
    data->columns_count = names ? to : 0;
    data->matrix = (clv_matrix){.rows = rows, .cols = to, .values = values};
    return status;
}

/* --- what is said of it --- */

static void note_roles(const making *m, clv_text *note) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE];
    bool first = true;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_LABELS && !m->options->elsewhere) {
            int64_t lacking = m->options->targets ? 0 : t->columns[c].no_label;
            clv_text_add(note, "; %s: %s", m->options->targets ? "target" : "truth",
                         clv_layout_call(&t->layout, c, shown));
            if (lacking > 0) {
                clv_text_add(note, " (%lld row%s without, not compared)", (long long)lacking, lacking == 1 ? "" : "s");
            }
        }
    }
    for (int64_t c = 0; c < t->layout.columns; c++) {
        bool labels = t->columns[c].role == CLV_ROLE_LABELS && m->options->elsewhere;
        const char *why = t->columns[c].role == CLV_ROLE_ID ? "row names" : labels ? "labels" : t->columns[c].why;
        if (why && (labels || !is_used(&t->columns[c]))) {
            clv_text_add(note, "%s%s (%s)", first ? "; dropped: " : ", ", clv_layout_call(&t->layout, c, shown), why);
            first = false;
        }
    }
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_CLASSES) {
            int64_t count = t->columns[c].wanted > 0 ? t->columns[c].wanted : m->texts[c].count;
            clv_text_add(note, "; %s became %lld column%s", clv_layout_call(&t->layout, c, shown), (long long)count,
                         count == 1 ? "" : "s");
        }
    }
}

/* Columns beside those of other data: how many, and the first ones. */
static void note_others(const making *m, clv_text *note) {
    enum { SHOWN = 5 };
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE];
    int64_t others = 0;
    for (int64_t c = 0; m->options->like && t->layout.header && c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_DROPPED && !t->columns[c].why && others++ < SHOWN) {
            clv_text_add(note, "%s%s", others == 1 ? "; not in the model: " : ", ",
                         clv_layout_call(&t->layout, c, shown));
        }
    }
    if (others > SHOWN) {
        clv_text_add(note, " and %lld more", (long long)(others - SHOWN));
    }
}

static const char *say_header(const clv_layout *layout, bool settled) {
    if (layout->header) {
        return !layout->doubt ? ""
               : settled      ? "the first line names the columns; "
                              : "the first line names the columns (--header no: it is a row); ";
    }
    return layout->doubt && !settled ? "no header (--header yes: the first line names the columns); " : "no header; ";
}

static clv_status put_note(making *m) {
    const clv_table *t = &m->table;
    clv_text note = {.ctx = t->ctx};
    int64_t gone = t->rows - m->kept_count, used = 0;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        used += is_feature(&t->columns[c]);
    }
    clv_text_add(&note, "%s%lld column%s used", say_header(&t->layout, clv_is_settled(m->options)), (long long)used,
                 used == 1 ? "" : "s");
    note_roles(m, &note);
    note_others(m, &note);
    if (gone > 0) {
        clv_text_add(&note, "; %lld row%s with missing cells dropped", (long long)gone, gone == 1 ? "" : "s");
    }
    if (m->filled > 0) {
        clv_text_add(&note, "; %lld missing cell%s replaced by the %s", (long long)m->filled, m->filled == 1 ? "" : "s",
                     m->options->missing == CLV_MISSING_MEAN ? "mean" : "median");
    }
    clv_text_add(&note, t->commas.count > 0 ? "; decimal commas" : "");
    clv_text_add(&note, t->decoded.data ? "; not UTF-8, read as Windows-1252" : "");
    if (t->comments > 0) {
        clv_text_add(&note, "; %lld comment line%s skipped", (long long)t->comments, t->comments == 1 ? "" : "s");
    }
    m->data->note = note.data;
    return note.status;
}

/* A feature that is different in every row may be a number of rows under another name. */
static clv_status warn_of_numbers(const making *m, int64_t c, clv_text *warning) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE], number[CLV_COLUMN_SIZE];
    bool differs = false, named = clv_layout_names_rows(&t->layout, c);
    CLV_TRY(clv_table_differs(t, c, &differs));
    if (differs || (named && t->columns[c].fractions.count == 0)) {
        clv_text_add(warning, "%s%s %s and is used as a feature: if it only says which row is which, use --%s %s",
                     warning->size > 0 ? "; " : "", clv_layout_show(&t->layout, c, shown),
                     differs ? "has a different whole number in every row"
                             : "is named like an id, but repeats or is incomplete,",
                     differs ? "id-column" : "drop", option_of(&t->layout, c, number));
    }
    return CLV_OK;
}

/* Text that is another one in most rows says nothing about which rows are alike, in very many columns. */
static void warn_of_classes(const making *m, int64_t c, clv_text *warning) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE], number[CLV_COLUMN_SIZE];
    int64_t count = m->texts[c].count;
    if (2 * count > t->rows) {
        clv_text_add(warning,
                     "%s%s became %lld columns, as its text is another one in most of the %lld rows: if it only names "
                     "them, use --drop %s",
                     warning->size > 0 ? "; " : "", clv_layout_show(&t->layout, c, shown), (long long)count,
                     (long long)t->rows, option_of(&t->layout, c, number));
    }
}

/* A first column of other texts in every row may be one of numbers with units, say, and not names. */
static void warn_of_names(const making *m, clv_text *warning) {
    const clv_table *t = &m->table;
    const clv_column *column = &t->columns[0];
    const clv_token *name = clv_layout_name(&t->layout, 0);
    char shown[CLV_COLUMN_SIZE], text[CLV_SHOWN_SIZE];
    bool numbers = 2 * (column->digits + column->bounds - column->dates) > column->texts.count;
    if (column->role == CLV_ROLE_ID && !m->options->id_column && name && !clv_table_names_rows(t, 0) && numbers) {
        clv_text_add(warning,
                     "%s%s holds texts that begin with digits ('%s' in line %lld) and is taken for row names: if these "
                     "are numbers, write them as numbers, else use --id-column 1",
                     warning->size > 0 ? "; " : "", clv_layout_show(&t->layout, 0, shown),
                     clv_show_field(text, &column->texts.first), (long long)column->texts.line[0]);
    }
}

/* Rows that an id column does not tell apart cannot be matched by it. */
static clv_status warn_of_repeated_ids(const making *m, clv_text *warning) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE], text[CLV_SHOWN_SIZE];
    int64_t c = clv_table_choose_ids(t), repeated = -1;
    clv_token *texts = NULL;
    if (!m->options->id_column || c < 0 || !t->columns[c].asked) {
        return CLV_OK;
    }
    clv_status status = clv_table_texts(t, c, &texts);
    status = status < 0 ? status : clv_find_repeated(t->ctx, t->start.name, texts, t->rows, &repeated);
    if (status == CLV_OK && repeated >= 0) {
        clv_text_add(warning, "%s%s of --id-column has '%s' in more than one row: it does not say which row is which",
                     warning->size > 0 ? "; " : "", clv_layout_show(&t->layout, c, shown),
                     clv_show_field(text, &texts[repeated]));
    }
    clv_free(t->ctx, texts);
    return status;
}

/* The first column before this one that is used under the same name; -1: there is none. */
static int64_t find_namesake(const clv_table *t, int64_t c) {
    const clv_token *name = clv_layout_name(&t->layout, c);
    int64_t other = 0;
    while (other < c && !(name && name->size > 0 && is_feature(&t->columns[other]) &&
                          clv_field_compare(name, clv_layout_name(&t->layout, other)) == 0)) {
        other++;
    }
    return other < c ? other : -1;
}

/* New objects have their columns found by name. */
static void warn_of_namesakes(const making *m, clv_text *warning) {
    const clv_table *t = &m->table;
    char shown[CLV_SHOWN_SIZE];
    int64_t first = -1, second = -1;
    for (int64_t c = 1 + t->layout.shifted; c < t->layout.columns && first < 0; c++) {
        first = is_feature(&t->columns[c]) ? find_namesake(t, c) : -1;
        second = c;
    }
    if (first >= 0) {
        clv_text_add(warning,
                     "%scolumns %lld and %lld are both named '%s': new objects cannot be labeled by this result, as "
                     "their columns are found by name",
                     warning->size > 0 ? "; " : "", (long long)first + 1, (long long)second + 1,
                     clv_show_field(shown, clv_layout_name(&t->layout, first)));
    }
}

/* Whether a column that was asked for by itself looks as if it only says which row is which. */
static bool is_odd_wish(const making *m, int64_t c) {
    const clv_column *column = &m->table.columns[c];
    return column->asked && !column->ranged && !m->options->id_column && clv_table_names_rows(&m->table, c);
}

/* Of columns that nobody chose, or that are named like ids. */
static clv_status put_warning(making *m) {
    enum { FEW = 10 }; /* rows that may differ by chance */
    const clv_table *t = &m->table;
    clv_text warning = {.ctx = t->ctx};
    clv_status status = CLV_OK;
    bool settled = clv_is_settled(m->options), looked = t->rows >= FEW && !settled;
    for (int64_t c = 0; c < t->layout.columns && looked && status == CLV_OK; c++) {
        const clv_column *column = &t->columns[c];
        if (column->role == CLV_ROLE_NUMBERS && (!column->asked || is_odd_wish(m, c))) {
            status = warn_of_numbers(m, c, &warning);
        } else if (column->role == CLV_ROLE_CLASSES) {
            warn_of_classes(m, c, &warning);
        }
    }
    if (t->layout.header && !settled) {
        warn_of_names(m, &warning);
        warn_of_namesakes(m, &warning);
    }
    if (status == CLV_OK && !settled) {
        status = warn_of_repeated_ids(m, &warning);
    }
    m->data->warning = warning.data;
    return status == CLV_OK ? warning.status : status;
}

/* --- all of it --- */

static clv_status put_labels(making *m, int64_t column) {
    clv_classes names;
    clv_status status = clv_labels_make(&m->table, column, m->kept, m->kept_count, &m->data->labels, &names);
    m->data->classes = names.text;
    m->data->classes_count = names.count;
    return status;
}

static clv_status put_roles(making *m) {
    const clv_table *t = &m->table;
    char shown[CLV_COLUMN_SIZE];
    int64_t ids = clv_table_choose_ids(t);
    CLV_TRY(ids >= 0 ? clv_table_put_ids(t, ids, m->data) : CLV_OK);
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (t->columns[c].role == CLV_ROLE_LABELS) {
            m->data->truth = clv_copy_text(t->ctx, clv_layout_call(&t->layout, c, shown));
            CLV_TRY(m->data->truth ? CLV_OK : CLV_ENOMEM);
            CLV_TRY(m->options->targets ? clv_targets_make(t, c, m->kept, m->kept_count, m->data) : put_labels(m, c));
        }
    }
    return CLV_OK;
}

static clv_status put_rows(making *m) {
    clv_data *data = m->data;
    if (m->kept_count == m->table.rows) {
        return CLV_OK;
    }
    data->rows_read = m->table.rows;
    data->rows = CLV_NEW(data->ctx, int64_t, m->kept_count);
    CLV_TRY(data->rows ? CLV_OK : CLV_ENOMEM);
    memcpy(data->rows, m->kept, (size_t)m->kept_count * sizeof *m->kept);
    return CLV_OK;
}

static clv_status make(making *m, clv_bytes bytes, char separator) {
    const clv_read_options *options = m->options;
    clv_layout_request request = {.header = options->header,
                                  .label_column = options->label_column,
                                  .settled = clv_is_settled(options),
                                  .like = options->like,
                                  .like_count = options->like_count};
    CLV_TRY(clv_table_read(&m->table, bytes, separator, &request));
    CLV_TRY(separator == '\t' ? clv_layout_check_tabs(m->table.ctx, &m->table.layout) : CLV_OK);
    CLV_TRY(clv_table_assign(&m->table, options));
    CLV_TRY(clv_table_check(&m->table, options));
    CLV_TRY(keep_rows(m));
    CLV_TRY(code_columns(m));
    CLV_TRY(find_fill(m));
    CLV_TRY(put_fill(m));
    CLV_TRY(put_column_names(m));
    CLV_TRY(put_roles(m));
    CLV_TRY(put_rows(m));
    CLV_TRY(put_note(m));
    CLV_TRY(put_warning(m));
    CLV_TRY(put_values(m));
    if (!options->like || !m->table.layout.header) {
        return CLV_OK;
    }
    CLV_TRY(warn_of_new_classes(m));
    return arrange(m);
}

clv_status clv_csv_parse(clv_context *ctx, clv_bytes bytes, const clv_read_options *options, char separator,
                         clv_data **out) {
    static const clv_read_options none = {0};
    making m = {.table = {.ctx = ctx}, .options = options ? options : &none, .work = {.ctx = ctx}};
    *out = NULL;
    CLV_TRY(clv_data_new(ctx, bytes.name, &m.data));
    clv_status status = make(&m, bytes, separator);
    for (int64_t c = 0; m.texts && c < m.table.layout.columns; c++) {
        clv_free_texts(ctx, m.texts[c].text, m.texts[c].count);
    }
    clv_free_kept(&m.work);
    clv_table_free(&m.table);
    return clv_data_give(m.data, status, out);
}
