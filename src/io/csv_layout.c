/* Which line of a CSV file is a header, and what its names say.
 *
 * A header that is taken for data is refused later, as it is no number; data taken for a header would be lost in
 * silence. So the first record is a header only if it could not be a row: over every column that holds a number in
 * the second record it has a name, or it numbers the columns as no row would. A record that is neither is an error;
 * of one that may be both it is said what it was taken for. */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- names --- */

static bool is_one_of(const clv_token *field, const char *const *words, bool ignore_case) {
    while (*words && !clv_field_equals(field, *words, ignore_case)) {
        words++;
    }
    return *words != NULL;
}

static bool is_label_name(const clv_token *field) {
    static const char *const words[] = {"label",   "labels",       "class",          "target", "species",
                                        "y",       "variety",      "category",       "truth",  "outcome",
                                        "cluster", "cleave_label", "cleave_cluster", NULL};
    return is_one_of(field, words, true);
}

/* customer_id, Customer ID, customer.id, order_no, Kunden-Nr.; customerId, CustomerID. */
static bool ends_as_id(const clv_token *field) {
    static const char *const words[] = {"id", "no", "no.", "nr", "nr.", "key"};
    const char *end = field->text + field->size;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t size = strlen(words[w]);
        if (field->size > size + 1 && clv_same_letters(end - size, words[w], size) &&
            strchr("_ .-", end[-(ptrdiff_t)size - 1])) {
            return true;
        }
    }
    return field->size > 2 && clv_same_letters(end - 2, "id", 2) && end[-2] == 'I' && end[-3] >= 'a' && end[-3] <= 'z';
}

/* ID_customer, id kunde. */
static bool begins_as_id(const clv_token *field) {
    return field->size > 3 && clv_same_letters(field->text, "id", 2) && strchr("_ .-", field->text[2]);
}

/* What is numbered, and a word for its number behind it: account_number, userid, RowNum. Of other words such an end may
 * be a part, as in humid, or a quantity, as in atomic_number. */
static bool is_number_of_thing(const clv_token *field) {
    static const char *const things[] = {"account", "article",     "case",     "client", "contact", "customer",
                                         "device",  "document",    "employee", "event",  "invoice", "item",
                                         "member",  "object",      "order",    "person", "patient", "participant",
                                         "product", "record",      "row",      "sample", "session", "student",
                                         "subject", "transaction", "ticket",   "user"};
    static const char *const ends[] = {"id", "number", "num", "no", "nr", "nummer"};
    bool found = false;
    for (size_t t = 0; t < CLV_COUNT(things) && !found; t++) {
        size_t size = strlen(things[t]);
        if (field->size <= size || !clv_same_letters(field->text, things[t], size)) {
            continue;
        }
        size += strchr("_ .-", field->text[size]) != NULL;
        for (size_t e = 0; e < CLV_COUNT(ends) && !found; e++) {
            found =
                field->size == size + strlen(ends[e]) && clv_same_letters(field->text + size, ends[e], strlen(ends[e]));
        }
    }
    return found;
}

static bool is_id_name(const clv_token *field) {
    static const char *const words[] = {
        "id",         "ids",        "index",    "idx",       "row",      "rows",  "rowid", "rowname",    "key",
        "no",         "no.",        "nr",       "number",    "num",      "#",     "uid",   "uuid",       "guid",
        "record",     "row.id",     "row id",   "row_names", "rownames", "name",  "names", "object",     "identifier",
        "column",     "sample",     "objectid", "nr.",       "s.no",     "s.no.", "sno",   "row_number", "rownumber",
        "row number", "unnamed: 0", "pk",       "nummer",    NULL};
    return is_one_of(field, words, true) || ends_as_id(field) || begins_as_id(field) || is_number_of_thing(field);
}

/* --- what the first records hold --- */

static bool is_number(const clv_csv *csv, const clv_token *field) {
    double value;
    clv_cell cell = clv_cell_of(csv, field, &value);
    return cell == CLV_CELL_NUMBER || cell == CLV_CELL_INFINITE;
}

static bool is_text(const clv_csv *csv, const clv_token *field) {
    double value;
    return clv_cell_of(csv, field, &value) == CLV_CELL_TEXT;
}

/* Text that does not begin as a number does: 1.2.3, 0x10 and 1,000 are rather bad numbers than names. */
static bool is_name(const clv_csv *csv, const clv_token *field) {
    return is_text(csv, field) && !strchr("0123456789+-.", field->text[0]);
}

/* --- columns and their names --- */

const clv_token *clv_layout_name(const clv_layout *layout, int64_t column) {
    int64_t at = column - layout->shifted;
    return layout->header && at >= 0 && at < layout->first_count ? &layout->first[at] : NULL;
}

int64_t clv_layout_find_name(const clv_layout *layout, const char *name, size_t size) {
    const clv_token wanted = {name, size, false};
    for (int64_t c = 0; c < layout->columns; c++) {
        const clv_token *field = clv_layout_name(layout, c);
        if (field && clv_field_compare(field, &wanted) == 0) {
            return c;
        }
    }
    return -1;
}

static int64_t find_name(const clv_layout *layout, const char *name) {
    return clv_layout_find_name(layout, name, strlen(name));
}

/* A number from 1 as an index, or -1. */
static int64_t index_of(const char *wanted) {
    int64_t number = 0;
    const char *end = wanted + strlen(wanted);
    return clv_scan_integer(wanted, end, &number) == end && number >= 1 ? number - 1 : -1;
}

int64_t clv_layout_find(const clv_layout *layout, const char *wanted) {
    int64_t named = find_name(layout, wanted), number = index_of(wanted);
    return named >= 0 ? named : number < layout->columns ? number : -1;
}

bool clv_layout_names_rows(const clv_layout *layout, int64_t column) {
    const clv_token *name = clv_layout_name(layout, column);
    return name && is_id_name(name);
}

const char *clv_layout_call(const clv_layout *layout, int64_t column, char shown[CLV_COLUMN_SIZE]) {
    const clv_token *name = clv_layout_name(layout, column);
    return name && name->size > 0 ? clv_show_field(shown, name) : clv_layout_show(layout, column, shown);
}

const char *clv_layout_show(const clv_layout *layout, int64_t column, char shown[CLV_COLUMN_SIZE]) {
    char piece[CLV_SHOWN_SIZE];
    const clv_token *name = clv_layout_name(layout, column);
    if (name && name->size > 0) {
        snprintf(shown, CLV_COLUMN_SIZE, "column %lld '%s'", (long long)column + 1, clv_show_field(piece, name));
    } else {
        snprintf(shown, CLV_COLUMN_SIZE, "column %lld", (long long)column + 1);
    }
    return shown;
}

/* --- the header --- */

/* The column that was asked for by its number, which may hold anything; -1 for none. */
static int64_t asked_number(const clv_layout_request *request) {
    return request->label_column ? index_of(request->label_column) : -1;
}

/* Where no column has a number: names only, and nothing missing. A single column of texts may be labels: it has a
 * header only if that says so. */
static bool has_only_names(const clv_csv *csv, const clv_layout *layout) {
    bool names = false;
    for (int64_t c = 0; c < layout->first_count; c++) {
        const clv_token *field = &layout->first[c];
        if (is_number(csv, field) || (clv_is_missing(field) && c > 0)) {
            return false;
        }
        names = names || is_name(csv, field);
    }
    return names && (layout->first_count > 1 || is_label_name(&layout->first[0]));
}

/* The first field may be empty over row numbers, as R and pandas write it. */
static bool begins_row_numbers(const clv_token *below) {
    double value;
    return clv_field_number(below, &value) && (value == 0 || value == 1);
}

/* Whether the fields of the first record are names over the numbers of the second one, `shift` columns further on. */
static bool looks_like_header(const clv_csv *csv, const clv_layout *layout, int64_t shift, int64_t asked) {
    bool numbers = false;
    bool names = false;
    for (int64_t c = 0; c < layout->first_count && c + shift < layout->second_count; c++) {
        const clv_token *field = &layout->first[c];
        const clv_token *below = &layout->second[c + shift];
        if (!is_number(csv, below)) {
            continue;
        }
        bool unnamed = c + shift == 0 && field->size == 0;
        if (!unnamed && !is_text(csv, field)) {
            return false;
        }
        if (c + shift == asked) { /* text over a number proves nothing: labels may be both */
            continue;
        }
        numbers = true;
        names = names || is_name(csv, field) || (unnamed && begins_row_numbers(below));
    }
    return numbers ? names : shift == 0 && has_only_names(csv, layout);
}

/* --- headers of numbers: 0 to p - 1, years --- */

/* Whole numbers one after the other. */
typedef struct series {
    int64_t count, first, last, step;
    bool even, one_way; /* all steps are the same; all go up, or all down */
} series;

static void add_number(series *s, int64_t value) {
    int64_t step = value - s->last;
    s->first = s->count == 0 ? value : s->first;
    s->step = s->count == 1 ? step : s->step;
    s->even = s->count < 2 || (s->even && step == s->step);
    s->one_way = s->count == 0 || (s->one_way && step != 0 && (step > 0) == (s->step > 0));
    s->last = value;
    s->count++;
}

static bool goes_up(const series *s) {
    return s->count > 1 && s->even && s->step > 0;
}

/* What a first record of numbers and names holds, and the second one below its numbers. */
typedef struct numbering {
    series above, below;
    int64_t others; /* below: fractions and texts */
    int64_t excess; /* the sum below less that above */
    int64_t names;
    bool unnamed;     /* the first field is empty */
    bool over_number; /* a name stands over a number */
    bool labels;      /* one is a name of labels */
    bool ids;         /* the only name that stands over a number is the first, as one names rows */
} numbering;

/* Digits alone, few enough for any sum. */
static bool is_whole(const clv_token *field, int64_t *value) {
    enum { MOST = 9 };
    bool whole = field->size > 0 && field->size <= MOST;
    *value = 0;
    for (size_t i = 0; whole && i < field->size; i++) {
        whole = field->text[i] >= '0' && field->text[i] <= '9';
        *value = 10 * *value + (field->text[i] - '0');
    }
    return whole;
}

static void add_below(numbering *n, int64_t above, const clv_token *field) {
    int64_t value;
    if (is_whole(field, &value)) {
        add_number(&n->below, value);
        n->excess += value - above;
    } else {
        n->others += !clv_is_missing(field);
    }
}

/* A y may be a class, beside n, unless it stands over a number. */
static void add_name(numbering *n, const clv_token *field, bool over_number) {
    n->ids = over_number ? n->names == 0 && n->above.count == 0 && is_id_name(field) : n->ids;
    n->names++;
    n->over_number = n->over_number || over_number;
    n->labels = n->labels || (is_label_name(field) && (over_number || !clv_field_equals(field, "y", true)));
}

/* False: the first record holds something else, too. */
static bool read_numbering(const clv_csv *csv, const clv_layout *layout, numbering *n) {
    for (int64_t c = 0; c < layout->first_count; c++) {
        const clv_token *field = &layout->first[c], *below = &layout->second[c];
        int64_t value;
        if (is_whole(field, &value)) {
            add_number(&n->above, value);
            add_below(n, value, below);
        } else if (is_name(csv, field)) {
            add_name(n, field, is_number(csv, below));
        } else if (c == 0 && field->size == 0 && !clv_is_missing(below)) {
            n->unnamed = true;
        } else {
            return false;
        }
    }
    return n->above.count > 0;
}

/* Whether the second record counts as the first does, as rows of tables may: on in equal steps (behind an empty field,
 * in the same ones), or in another order. */
static bool counts_below(const numbering *n) {
    bool up = goes_up(&n->below) && (!n->unnamed || n->below.step == n->above.step);
    return n->below.count == n->above.count && (up || n->excess == 0);
}

/* Whether the first record names columns of text behind an index that has no name and may be in any order, as a
 * shuffled series of pandas is written; *doubt: it may be a row without its number. */
static bool names_texts(const clv_csv *csv, const clv_layout *layout, bool *doubt) {
    int64_t value;
    bool names = layout->first_count > 1 && layout->first_count == layout->second_count && layout->first[0].size == 0 &&
                 is_whole(&layout->second[0], &value);
    bool labels = false;
    for (int64_t c = 1; c < layout->first_count && names; c++) {
        const clv_token *field = &layout->first[c];
        names = is_name(csv, field) && clv_field_compare(field, &layout->second[c]) != 0;
        labels = labels || is_label_name(field);
    }
    *doubt = *doubt || (names && !labels);
    return names;
}

/* Whether the first record numbers the columns; *doubt: it may be otherwise. */
static bool numbers_columns(const clv_csv *csv, const clv_layout *layout, bool *doubt) {
    enum { SOME = 3, SEVERAL = 4, MANY = 10 }; /* numbers in order that are less and less by chance */
    numbering n = {0};
    if (layout->first_count != layout->second_count || layout->first_count < 2 || !read_numbering(csv, layout, &n)) {
        return false;
    }
    const series *above = &n.above;
    bool by_one = goes_up(above) && above->step == 1, split = n.below.count == 0 && n.others > 0;
    bool from_start = by_one && above->first <= 1;
    if (n.unnamed) {
        bool rows = begins_row_numbers(&layout->second[0]) || is_text(csv, &layout->second[0]);
        *doubt = !by_one && !(rows && above->one_way);
        return above->one_way ? rows || from_start || !counts_below(&n) : rows && n.others > 0;
    }
    if (!above->one_way) {
        return false;
    }
    if (n.labels) {
        return true;
    }
    if (n.ids && above->step > 0) { /* "id" is no cell of a column of numbers */
        *doubt = !from_start;
        return true;
    }
    if (n.over_number || !goes_up(above) || counts_below(&n)) {
        return false;
    }
    if (n.names > 0) {
        bool header = above->count >= SOME || (by_one && split);
        *doubt = header ? above->count < SOME || (above->count < MANY && !split) : by_one;
        return header;
    }
    bool header = from_start && (above->count >= SEVERAL || split);
    *doubt = header ? above->count < SEVERAL || (above->count < MANY && !split) : from_start;
    return header;
}

/* A first record that is neither a header nor a row; a cell that is missing may be one of either. */
static clv_status check_first_row(clv_context *ctx, const clv_csv *csv, const clv_layout *layout,
                                  const clv_layout_request *request, int64_t asked) {
    char shown[CLV_SHOWN_SIZE];
    for (int64_t c = 0; c < layout->first_count && layout->first_count == layout->second_count; c++) {
        const clv_token *field = &layout->first[c];
        if (c != asked && is_number(csv, &layout->second[c]) && is_text(csv, field)) {
            return clv_fail(ctx, CLV_EDATA, "%s line %lld column %lld: '%s' is not a number%s", csv->name,
                            (long long)layout->header_line, (long long)c + 1, clv_show_field(shown, field),
                            request->settled ? "" : " (if the first line names the columns, use --header yes)");
        }
    }
    return CLV_OK;
}

/* Whether the first record has all names of the columns of other data, but for those of classes. */
static bool has_like(const clv_layout_request *request, const clv_layout *layout) {
    bool found = false, lost = false;
    for (int64_t l = 0; request->like && l < request->like_count && !lost; l++) {
        bool class = strchr(request->like[l], '=') != NULL, here = false;
        for (int64_t c = 0; c < layout->first_count && !here; c++) {
            here = clv_field_equals(&layout->first[c], request->like[l], false);
        }
        found = found || here;
        lost = !here && !class;
    }
    return found && !lost && layout->first_count == layout->second_count;
}

static clv_status find_header(clv_context *ctx, const clv_csv *csv, const clv_layout_request *request,
                              clv_layout *layout) {
    int64_t asked = asked_number(request);
    bool shorter = layout->second_count == layout->first_count + 1;
    if (request->header == CLV_HEADER_YES) {
        layout->header = true;
        layout->shifted = shorter;
    } else if (request->header == CLV_HEADER_DETECT) {
        layout->shifted = shorter && looks_like_header(csv, layout, 1, asked);
        layout->header = layout->shifted || looks_like_header(csv, layout, 0, asked) || has_like(request, layout) ||
                         names_texts(csv, layout, &layout->doubt) || numbers_columns(csv, layout, &layout->doubt);
        CLV_TRY(layout->header ? CLV_OK : check_first_row(ctx, csv, layout, request, asked));
    }
    layout->columns = layout->shifted ? layout->second_count : layout->first_count;
    return CLV_OK;
}

/* --- labels --- */

bool clv_layout_names_labels(const clv_layout *layout, int64_t column) {
    const clv_token *name = clv_layout_name(layout, column);
    bool named = name && is_label_name(name);
    return named &&
           !(clv_field_equals(name, "y", true) && (find_name(layout, "x") >= 0 || find_name(layout, "X") >= 0));
}

static const char *const own_names[] = {"label", "cluster", "cleave_label", "cleave_cluster", NULL};

bool clv_layout_names_own(const clv_layout *layout, int64_t column) {
    const clv_token *name = clv_layout_name(layout, column);
    return name && is_one_of(name, own_names, true);
}

const char *clv_layout_own_name(const clv_layout *layout) {
    size_t n = 0;
    for (int64_t c = 0; c < layout->columns && own_names[n + 1]; c++) {
        const clv_token *name = clv_layout_name(layout, c);
        if (name && clv_field_equals(name, own_names[n], true)) {
            n++;
            c = -1; /* look at all columns again */
        }
    }
    return own_names[n];
}

static int64_t find_label_name(const clv_layout *layout) {
    int64_t c = 0;
    while (c < layout->columns && !clv_layout_names_labels(layout, c)) {
        c++;
    }
    return c < layout->columns ? c : -1;
}

static int64_t find_label(const clv_layout_request *request, const clv_layout *layout) {
    if (request->label_column) { /* who knows what else is asked for says what is not there */
        return strcmp(request->label_column, "none") == 0 ? -1 : clv_layout_find(layout, request->label_column);
    }
    return layout->columns > 1 ? find_label_name(layout) : -1;
}

/* --- all of it --- */

/* How many fields tell a record that begins with # from a comment: those of the second record without one, as a header
 * may be shorter; or of the first, if all of them begin so. */
static int64_t expect_fields(const clv_csv *csv) {
    clv_csv ahead = *csv;
    int64_t first = clv_csv_next(&ahead) ? clv_csv_pass(&ahead) : 0;
    return ahead.fields == 0 && first > 0 && clv_csv_next(&ahead) ? clv_csv_pass(&ahead) : first;
}

bool clv_has_mark(clv_bytes bytes) {
    return bytes.size >= CLV_MARK_SIZE && memcmp(bytes.data, "\xef\xbb\xbf", CLV_MARK_SIZE) == 0;
}

static clv_status open_text(clv_context *ctx, clv_bytes bytes, char separator, clv_csv *csv) {
    if (bytes.size >= 2 && (memcmp(bytes.data, "\xff\xfe", 2) == 0 || memcmp(bytes.data, "\xfe\xff", 2) == 0)) {
        return clv_fail(ctx, CLV_EDATA, "%s is UTF-16 text: save it as UTF-8", bytes.name);
    }
    const char *text = bytes.size ? (const char *)bytes.data : "";
    *csv = (clv_csv){.at = text + (clv_has_mark(bytes) ? CLV_MARK_SIZE : 0),
                     .end = text + bytes.size,
                     .name = bytes.name,
                     .line = 1};
    if (csv->end - csv->at > 5 && memcmp(csv->at, "sep=", 4) == 0 &&
        strchr("\r\n", csv->at[5])) { /* for spreadsheets */
        separator = csv->at[4];
        csv->at += 5;
    }
    clv_csv plain = *csv;
    csv->fields = clv_csv_next(&plain) ? 0 : -1;
    csv->separator = separator ? separator : clv_csv_guess_separator(csv);
    csv->fields = expect_fields(csv);
    if (!clv_csv_next(csv)) {
        return clv_fail(ctx, CLV_EDATA, "%s is empty", bytes.name);
    }
    return CLV_OK;
}

clv_status clv_layout_read(clv_context *ctx, clv_bytes bytes, char separator, const clv_layout_request *request,
                           clv_csv *csv, clv_layout *layout) {
    CLV_TRY(open_text(ctx, bytes, separator, csv));
    clv_csv first = *csv;
    layout->header_line = csv->record_line;
    layout->top = first;
    CLV_TRY(clv_csv_fields(ctx, csv, &layout->first, &layout->first_count));
    first.comma = csv->comma = csv->separator != ',' && layout->first_count > 1;
    clv_csv second = *csv;
    if (clv_csv_next(csv)) {
        CLV_TRY(clv_csv_fields(ctx, csv, &layout->second, &layout->second_count));
    }
    CLV_TRY(find_header(ctx, &first, request, layout));
    if (layout->header && layout->second_count == 0) {
        return clv_fail(ctx, CLV_EDATA, "%s has a header and no data after it", bytes.name);
    }
    *csv = layout->header ? second : first;
    layout->label = find_label(request, layout);
    return CLV_OK;
}

clv_status clv_layout_check_tabs(clv_context *ctx, const clv_layout *layout) {
    clv_csv ahead = layout->top;
    if (layout->columns > 1) {
        return CLV_OK;
    }
    ahead.separator = clv_csv_guess_separator(&layout->top);
    char other = ahead.separator;
    return clv_csv_pass(&ahead) < 2
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA,
                          "%s has no tabs: it looks like a file with %s between the fields, whose name should end in "
                          ".csv",
                          layout->top.name,
                          other == ','   ? "commas"
                          : other == ';' ? "semicolons"
                          : other == '|' ? "bars"
                                         : "blanks");
}

void clv_layout_free(clv_context *ctx, clv_layout *layout) {
    clv_free(ctx, layout->first);
    clv_free(ctx, layout->second);
}
