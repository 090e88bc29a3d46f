/* Everything that is wrong with a CSV file in one message: columns with their names, how many cells, where the first
 * ones are, and the option that would help. */
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 8 }; /* problems; the others are counted */

typedef struct problems {
    const clv_table *table;
    bool settled; /* no option is named but --missing drop */
    clv_text text;
    int64_t count;
} problems;

/* The text of the next problem, which the caller goes on writing; false: it is only counted. */
static bool begin(problems *p) {
    if (p->count++ >= SHOWN) {
        return false;
    }
    clv_text_add(&p->text, p->count == 1 ? "" : "; ");
    return true;
}

/* "line 7" or "lines 4, 17 and 20", of more "lines 4, 17, 20, ...". */
static void add_lines(clv_text *text, const clv_places *places) {
    int64_t shown = places->count < CLV_PLACES ? places->count : CLV_PLACES;
    clv_text_add(text, places->count == 1 ? "line " : "lines ");
    for (int64_t i = 0; i < shown; i++) {
        const char *before = i == 0 ? "" : i + 1 == places->count ? " and " : ", ";
        clv_text_add(text, "%s%lld", before, (long long)places->line[i]);
    }
    clv_text_add(text, places->count > shown ? ", ..." : "");
}

static void add_cells(problems *p, int64_t column, const clv_places *places, const char *what) {
    char shown[CLV_COLUMN_SIZE];
    clv_text_add(&p->text, "%s has %lld %s cell%s (", clv_layout_show(&p->table->layout, column, shown),
                 (long long)places->count, what, places->count == 1 ? "" : "s");
    add_lines(&p->text, places);
    clv_text_add(&p->text, ")");
}

/* "'Paris' in line 2" */
static void add_first(problems *p, const clv_places *places) {
    char shown[CLV_SHOWN_SIZE];
    clv_text_add(&p->text, "'%s' in line %lld", clv_show_field(shown, &places->first), (long long)places->line[0]);
}

/* How a column is named in an option: by its number where the name would need more quotes, or is cut. */
static void add_option(problems *p, const char *option, int64_t column) {
    const clv_token *name = clv_layout_name(&p->table->layout, column);
    bool plain = name && name->size > 0 && name->size < CLV_SHOWN_SIZE - 4;
    for (size_t i = 0; plain && i < name->size; i++) {
        plain = (unsigned char)name->text[i] >= ' ' && !strchr(",'\"", name->text[i]);
    }
    if (plain) {
        char shown[CLV_SHOWN_SIZE];
        clv_text_add(&p->text, "--%s '%s'", option, clv_show_field(shown, name));
    } else {
        clv_text_add(&p->text, "--%s %lld", option, (long long)column + 1);
    }
}

static void add_drop(problems *p, const char *before, int64_t column) {
    if (!p->settled) {
        clv_text_add(&p->text, "%s", before);
        add_option(p, "drop", column);
    }
}

static void check_missing(problems *p, int64_t c, const clv_read_options *options) {
    clv_missing how = options->missing;
    const clv_column *column = &p->table->columns[c];
    bool empty = column->missing.count == p->table->rows && !options->fill, labels = column->role == CLV_ROLE_LABELS;
    bool none = how == CLV_MISSING_ERROR || (int)how == CLV_MISSING_NOWHERE;
    bool provided = how == CLV_MISSING_DROP || (!none && !labels);
    int64_t count = labels && !clv_is_number_target(options, column) ? column->no_label : column->missing.count;
    bool text = column->role == CLV_ROLE_NUMBERS && column->texts.count > column->numbers; /* which is said */
    if (count == 0 || text || column->role == CLV_ROLE_CLASSES || /* a class of their own */ (provided && !empty) ||
        !begin(p)) {
        return;
    }
    add_cells(p, c, &column->missing, "missing");
    if (p->settled) {
        clv_text_add(&p->text, ": --missing drop leaves out their rows");
    } else if (empty) {
        clv_text_add(&p->text, ", which are all of them: ");
        add_option(p, "drop", c);
    } else if ((int)how != CLV_MISSING_NOWHERE) {
        clv_text_add(&p->text, options->targets && labels ? " and is the target: --missing drop"
                               : labels ? " and is the column of labels: --missing drop, or --label-column none"
                                        : ": --missing drop, mean or median");
    }
}

/* A column of text that no option provides for, or some text among numbers. */
static void check_texts(problems *p, int64_t c) {
    const clv_column *column = &p->table->columns[c];
    char shown[CLV_COLUMN_SIZE];
    if (column->texts.count == 0 || column->role != CLV_ROLE_NUMBERS || !begin(p)) {
        return;
    }
    if (column->texts.count <= column->numbers) {
        add_cells(p, c, &column->texts, "bad");
        clv_text_add(&p->text, ": ");
        add_first(p, &column->texts);
        clv_text_add(&p->text, " is not a number: correct or empty it");
        add_drop(p, ", or ", c);
        return;
    }
    bool dates = column->dates == column->texts.count, odd = column->odd == column->texts.count;
    bool digits = 2 * column->digits > column->texts.count;
    clv_text_add(&p->text, "%s holds %s (", clv_layout_show(&p->table->layout, c, shown),
                 dates    ? "dates, not numbers"
                 : odd    ? "numbers in a spelling that is not read"
                 : digits ? "text that begins with digits, not numbers"
                          : "text, not numbers");
    add_first(p, &column->texts);
    clv_text_add(&p->text, "): %s",
                 dates        ? "replace them by numbers, such as days since the first one"
                 : odd        ? "write them in digits with a decimal point alone"
                 : digits     ? "if these are numbers, dates or times, write them as numbers"
                 : p->settled ? "the model was made of numbers there"
                              : "");
    add_drop(p, dates || odd ? ", or " : digits ? "; or " : "", c);
    if (!dates && !odd && !p->settled) {
        clv_text_add(&p->text, ", ");
        add_option(p, "label-column", c);
        clv_text_add(&p->text, " or --categories onehot");
    }
}

static void check_infinite(problems *p, int64_t c) {
    const clv_places *infinite = &p->table->columns[c].infinite;
    if (infinite->count > 0 && begin(p)) {
        add_cells(p, c, infinite, "infinite");
        clv_text_add(&p->text, ": ");
        add_first(p, infinite);
        clv_text_add(&p->text, " is not a finite number");
    }
}

/* Labels are whole numbers or texts. */
static void check_fractions(problems *p, int64_t c) {
    const clv_column *column = &p->table->columns[c];
    char shown[CLV_COLUMN_SIZE];
    if (column->role == CLV_ROLE_LABELS && column->texts.count == 0 && column->fractions.count > 0 && begin(p)) {
        clv_text_add(&p->text, "%s is the column of labels, but holds fractions (",
                     clv_layout_show(&p->table->layout, c, shown));
        add_first(p, &column->fractions);
        clv_text_add(&p->text, ")");
        add_drop(p, ": ", c);
        clv_text_add(&p->text, p->settled ? "" : ", or --label-column none to use it as a feature");
    }
}

static void check_counts(problems *p) {
    const clv_table *t = p->table;
    if (t->counts.count > 0 && begin(p)) {
        add_lines(&p->text, &t->counts);
        clv_text_add(&p->text, " ha%s %lld fields, %lld were expected", t->counts.count == 1 ? "s" : "ve",
                     (long long)t->found, (long long)t->layout.columns);
    }
}

static void check_commas(problems *p) {
    const clv_table *t = p->table;
    if (t->commas.count > 0 && t->points.count > 0 && begin(p)) {
        clv_text_add(&p->text, "there are numbers with a decimal comma (");
        add_first(p, &t->commas);
        clv_text_add(&p->text, ") and with a decimal point (");
        add_first(p, &t->points);
        clv_text_add(&p->text, "): write all of them in one way");
    }
}

static clv_status refuse(problems *p) {
    const clv_table *t = p->table;
    clv_status status = p->text.status;
    if (status == CLV_OK && p->count > 0) {
        clv_text_add(&p->text, p->count > SHOWN ? "; and %lld more" : "", (long long)(p->count - SHOWN));
        status = clv_fail(t->ctx, CLV_EDATA, "%s: %s", t->start.name, p->text.data);
    }
    clv_free(t->ctx, p->text.data);
    return status;
}

clv_status clv_table_check_counts(const clv_table *t) {
    problems p = {.table = t, .text = {.ctx = t->ctx}};
    check_counts(&p);
    return refuse(&p);
}

clv_status clv_table_check(const clv_table *t, const clv_read_options *options) {
    problems p = {.table = t, .settled = clv_is_settled(options), .text = {.ctx = t->ctx}};
    check_counts(&p);
    check_commas(&p);
    for (int64_t c = 0; c < t->layout.columns; c++) {
        clv_role role = t->columns[c].role;
        if (role != CLV_ROLE_DROPPED && role != CLV_ROLE_ID) {
            check_missing(&p, c, options);
            check_texts(&p, c);
            check_infinite(&p, c);
            if (!options->targets) {
                check_fractions(&p, c);
            }
        }
    }
    return refuse(&p);
}
