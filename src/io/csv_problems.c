/* Everything that is wrong with a CSV file in one message, a sentence for each kind of problem: columns with their
 * names, how many cells, where the first ones are, and the option that would help. */
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 8 }; /* columns of one problem; the others are counted */

typedef struct problems {
    const clv_table *table;
    const clv_read_options *options;
    bool settled; /* no option is named but --missing drop */
    clv_text text;
    int64_t count;
} problems;

/* The text of the next problem, which the caller goes on writing. */
static void begin(problems *p) {
    clv_text_add(&p->text, p->count++ == 0 ? "" : "; ");
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

/* --- one column --- */

/* What may be wrong with columns. */
typedef enum kind {
    MISSING,
    EMPTY,       /* all cells are missing */
    LABELS_LACK, /* missing, among targets */
    BAD,         /* some text among numbers */
    TEXT,
    DIGITS, /* text that begins with them */
    DATES,
    ODD,
    INFINITE,
    FRACTIONS, /* labels are whole numbers or texts */
    KINDS
} kind;

/* A column of text that no option provides for, and its kind. */
static bool is_text_of(const clv_column *column, kind k) {
    if (column->role != CLV_ROLE_NUMBERS || column->texts.count == 0) {
        return false;
    }
    int64_t texts = column->texts.count;
    kind found = texts <= column->numbers     ? BAD
                 : column->dates == texts     ? DATES
                 : column->odd == texts       ? ODD
                 : 2 * column->digits > texts ? DIGITS
                                              : TEXT;
    return found == k;
}

/* Whether cells are missing that nothing provides for: of columns, of whole columns, or of labels. */
static bool lacks(const problems *p, const clv_column *column, kind k) {
    const clv_read_options *options = p->options;
    clv_missing how = options->missing;
    bool empty = column->missing.count == p->table->rows && !options->fill, labels = column->role == CLV_ROLE_LABELS;
    bool none = how == CLV_MISSING_ERROR || (int)how == CLV_MISSING_NOWHERE;
    bool provided = how == CLV_MISSING_DROP || (!none && !labels) || (labels && !options->targets);
    int64_t count = labels && !clv_is_number_target(options, column) ? column->no_label : column->missing.count;
    bool text = column->role == CLV_ROLE_NUMBERS && column->texts.count > column->numbers; /* which is said */
    kind found = empty && !p->settled ? EMPTY : labels && !p->settled ? LABELS_LACK : MISSING;
    return count > 0 && !text && column->role != CLV_ROLE_CLASSES /* a class of their own */ && (!provided || empty) &&
           found == k;
}

static bool has_problem(const problems *p, int64_t c, kind k) {
    const clv_column *column = &p->table->columns[c];
    if (column->role == CLV_ROLE_DROPPED || column->role == CLV_ROLE_ID) {
        return false;
    }
    switch (k) {
    case MISSING:
    case EMPTY:
    case LABELS_LACK:
        return lacks(p, column, k);
    case INFINITE:
        return column->infinite.count > 0;
    case FRACTIONS:
        return !p->options->targets && column->role == CLV_ROLE_LABELS && column->texts.count == 0 &&
               column->fractions.count > 0;
    default:
        return is_text_of(column, k);
    }
}

static const clv_places *places_of(const clv_column *column, kind k) {
    return k == INFINITE    ? &column->infinite
           : k == FRACTIONS ? &column->fractions
           : k < BAD        ? &column->missing
                            : &column->texts;
}

/* What is wrong with columns of text, and what to do; the options come behind it. */
static const char *call_text(kind k) {
    return k == DATES    ? "dates, not numbers"
           : k == ODD    ? "numbers in a spelling that is not read"
           : k == DIGITS ? "text that begins with digits, not numbers"
                         : "text, not numbers";
}

static const char *mend_text(const problems *p, kind k) {
    return k == DATES    ? "replace them by numbers, such as days since the first one"
           : k == ODD    ? "write them in digits with a decimal point alone"
           : k == DIGITS ? "if these are numbers, dates or times, write them as numbers"
           : p->settled  ? "the model was made of numbers there"
                         : "";
}

static const char *before_drop(kind k) {
    return k == DIGITS ? "; or " : k == TEXT ? "" : ", or ";
}

static const char *mend_missing(const problems *p) {
    return p->settled                                        ? ": --missing drop leaves out their rows"
           : (int)p->options->missing == CLV_MISSING_NOWHERE ? ""
                                                             : ": --missing drop, mean or median";
}

static void tell_missing(problems *p, int64_t c, kind k) {
    add_cells(p, c, &p->table->columns[c].missing, "missing");
    if (k == EMPTY) {
        clv_text_add(&p->text, ", which are all of them");
        add_drop(p, ": ", c);
    } else if (k == MISSING) {
        clv_text_add(&p->text, "%s", mend_missing(p));
    } else if ((int)p->options->missing != CLV_MISSING_NOWHERE) {
        clv_text_add(&p->text, " and is the target: --missing drop");
    }
}

static void tell_text(problems *p, int64_t c, kind k) {
    char shown[CLV_COLUMN_SIZE];
    clv_text_add(&p->text, "%s holds %s (", clv_layout_show(&p->table->layout, c, shown), call_text(k));
    add_first(p, &p->table->columns[c].texts);
    clv_text_add(&p->text, "): %s", mend_text(p, k));
    add_drop(p, before_drop(k), c);
    if ((k == TEXT || k == DIGITS) && !p->settled) {
        clv_text_add(&p->text, ", ");
        add_option(p, "label-column", c);
        clv_text_add(&p->text, " or --categories onehot");
    }
}

static void tell_cells(problems *p, int64_t c, kind k) {
    const clv_places *places = places_of(&p->table->columns[c], k);
    add_cells(p, c, places, k == BAD ? "bad" : "infinite");
    clv_text_add(&p->text, ": ");
    add_first(p, places);
    clv_text_add(&p->text, " is not a %snumber: correct or empty it", k == BAD ? "" : "finite ");
    add_drop(p, ", or ", c);
}

static void tell_fractions(problems *p, int64_t c) {
    char shown[CLV_COLUMN_SIZE];
    clv_text_add(&p->text, "%s is the column of labels, but holds fractions (",
                 clv_layout_show(&p->table->layout, c, shown));
    add_first(p, &p->table->columns[c].fractions);
    clv_text_add(&p->text, ")");
    add_drop(p, ": ", c);
    clv_text_add(&p->text, p->settled ? "" : ", or --label-column none to use it as a feature");
}

static void tell_one(problems *p, int64_t c, kind k) {
    if (k <= LABELS_LACK) {
        tell_missing(p, c, k);
    } else if (k == BAD || k == INFINITE) {
        tell_cells(p, c, k);
    } else if (k == FRACTIONS) {
        tell_fractions(p, c);
    } else {
        tell_text(p, c, k);
    }
}

/* --- several columns with the same problem --- */

/* "--drop 2-5,9", by their numbers. */
static void add_drops(problems *p, const char *before, kind k) {
    int64_t columns = p->table->layout.columns, ranges = 0;
    clv_text_add(&p->text, "%s--drop ", before);
    for (int64_t c = 0; c < columns; c++) {
        int64_t first = c;
        if (!has_problem(p, c, k)) {
            continue;
        }
        while (c + 1 < columns && has_problem(p, c + 1, k)) {
            c++;
        }
        if (ranges++ == SHOWN) {
            clv_text_add(&p->text, ",...");
            return;
        }
        clv_text_add(&p->text, "%s%lld", ranges > 1 ? "," : "", (long long)first + 1);
        if (first < c) {
            clv_text_add(&p->text, "-%lld", (long long)c + 1);
        }
    }
}

/* "columns 2 'age' (2 cells, lines 5 and 9), 3 'size' (1 cell, line 9) and 4 more" */
static void add_columns(problems *p, kind k, int64_t count) {
    char shown[CLV_COLUMN_SIZE];
    int64_t said = 0;
    clv_text_add(&p->text, "columns");
    for (int64_t c = 0; c < p->table->layout.columns && said < SHOWN; c++) {
        if (!has_problem(p, c, k)) {
            continue;
        }
        const clv_places *places = places_of(&p->table->columns[c], k);
        said++;
        clv_text_add(&p->text, "%s%s",
                     said == 1       ? ""
                     : said == count ? " and"
                                     : ",",
                     clv_layout_show(&p->table->layout, c, shown) + strlen("column"));
        if (k == EMPTY) {
            continue;
        }
        clv_text_add(&p->text, " (");
        if (k == MISSING) {
            clv_text_add(&p->text, "%lld cell%s, ", (long long)places->count, places->count == 1 ? "" : "s");
            add_lines(&p->text, places);
        } else {
            add_first(p, places);
        }
        clv_text_add(&p->text, ")");
    }
    if (count > said) {
        clv_text_add(&p->text, " and %lld more", (long long)(count - said));
    }
}

static void tell_several(problems *p, kind k, int64_t columns, int64_t cells) {
    add_columns(p, k, columns);
    if (k == MISSING) {
        clv_text_add(&p->text, " have %lld missing cells%s", (long long)cells, mend_missing(p));
    } else if (k == EMPTY) {
        clv_text_add(&p->text, " have nothing but missing cells");
        add_drops(p, ": ", k);
    } else if (k == BAD || k == INFINITE) {
        clv_text_add(&p->text, " have %lld %s cells: correct or empty them", (long long)cells,
                     k == BAD ? "bad" : "infinite");
    } else {
        clv_text_add(&p->text, " hold %s: %s", call_text(k), mend_text(p, k));
    }
    if (k > LABELS_LACK && !p->settled) {
        add_drops(p, before_drop(k), k);
        clv_text_add(&p->text, k == TEXT || k == DIGITS ? ", or --categories onehot or drop" : "");
    }
}

/* One sentence for each kind of problem. */
static void check_columns(problems *p, kind k) {
    const clv_table *t = p->table;
    int64_t columns = 0, cells = 0, last = 0;
    for (int64_t c = 0; c < t->layout.columns; c++) {
        if (has_problem(p, c, k)) {
            columns++;
            cells += places_of(&t->columns[c], k)->count;
            last = c;
        }
    }
    if (columns == 0) {
        return;
    }
    begin(p);
    if (columns == 1) {
        tell_one(p, last, k);
    } else {
        tell_several(p, k, columns, cells);
    }
}

/* --- the file --- */

/* Lines with another number of fields than the first, which may be the one that is wrong: then true, as nothing is to
 * be said of columns. */
static bool check_counts(problems *p) {
    const clv_table *t = p->table;
    int64_t columns = t->layout.columns;
    if (t->counts.count == 0) {
        return false;
    }
    begin(p);
    bool title = t->counts.count > t->rows + 1 && t->found > columns && columns < 3 && !t->found_varies;
    if (title) {
        clv_text_add(&p->text, "line %lld has %lld field%s, but ", (long long)t->layout.header_line, (long long)columns,
                     columns == 1 ? "" : "s");
    }
    add_lines(&p->text, &t->counts);
    clv_text_add(&p->text, " ha%s %s%lld%s", t->counts.count == 1 ? "s" : "ve",
                 t->found_varies ? "other numbers of fields, the first of them " : "", (long long)t->found,
                 t->found_varies ? ""
                 : title         ? ": if it is a title above the table, take it out or put # before it"
                 : t->found == 1 ? " field"
                                 : " fields");
    if (!title) {
        clv_text_add(&p->text, ", %lld %s expected", (long long)columns, columns == 1 ? "was" : "were");
    }
    return title;
}

static void check_commas(problems *p) {
    const clv_table *t = p->table;
    char shown[CLV_COLUMN_SIZE];
    if (t->commas.count == 0 || t->points.count == 0) {
        return;
    }
    begin(p);
    clv_text_add(&p->text, "%s has numbers with a decimal comma (",
                 clv_layout_show(&t->layout, t->comma_column, shown));
    add_first(p, &t->commas);
    clv_text_add(&p->text, ") and %s with a decimal point (",
                 t->point_column == t->comma_column ? "others" : clv_layout_show(&t->layout, t->point_column, shown));
    add_first(p, &t->points);
    clv_text_add(&p->text, "): write all of them in one way");
}

static clv_status refuse(problems *p) {
    const clv_table *t = p->table;
    clv_status status = p->text.status;
    if (status == CLV_OK && p->count > 0) {
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
    problems p = {.table = t, .options = options, .settled = clv_is_settled(options), .text = {.ctx = t->ctx}};
    bool title = check_counts(&p);
    check_commas(&p);
    for (kind k = MISSING; k < KINDS && !title; k++) {
        check_columns(&p, k);
    }
    return refuse(&p);
}
