/* What each column of a CSV file is for, by what its rows hold (csv_rows.c).
 *
 * What the caller says; labels by name, else a last column of text; columns that say which row is which, by their name
 * and by being different in every row; the rest are features. */
#include "io/csv.h"

#include <string.h>

/* --- what the caller says --- */

/* Columns that are asked for and are not there: all of them in one message. */
typedef struct unknown {
    clv_text text;
    int64_t count;
} unknown;
enum { UNKNOWN_SHOWN = 8, NAMES_SHOWN = 20 };

/* The column of this name but for the case of its letters; NULL: there is none. */
static const clv_token *find_other_case(const clv_layout *layout, const char *name) {
    const clv_token *found = NULL;
    for (int64_t c = 0; c < layout->columns && !found; c++) {
        const clv_token *field = clv_layout_name(layout, c);
        found = field && clv_field_equals(field, name, true) ? field : NULL;
    }
    return found;
}

static void add_unknown(const clv_table *t, unknown *u, const char *option, const char *name) {
    char shown[CLV_SHOWN_SIZE];
    const clv_token *other = find_other_case(&t->layout, name);
    if (u->count++ < UNKNOWN_SHOWN) {
        clv_text_add(&u->text, "%s'%s'", u->count > 1 ? ", " : "", clv_show(shown, name, strlen(name)));
        if (option) {
            clv_text_add(&u->text, " (--%s)", option);
        }
        if (other) {
            clv_text_add(&u->text, ", but '%s'", clv_show_field(shown, other));
        }
    }
}

/* With the columns that there are. */
static clv_status refuse_unknown(const clv_table *t, unknown *u, clv_status status) {
    char shown[CLV_COLUMN_SIZE];
    int64_t columns = t->layout.columns;
    if (u->count > UNKNOWN_SHOWN) {
        clv_text_add(&u->text, " and %lld more", (long long)(u->count - UNKNOWN_SHOWN));
    }
    clv_text_add(&u->text, ": its columns are ");
    for (int64_t c = 0; c < columns && c <= NAMES_SHOWN && t->layout.header; c++) {
        clv_text_add(&u->text, "%s%s", c ? ", " : "", c < NAMES_SHOWN ? clv_layout_call(&t->layout, c, shown) : "...");
    }
    status = status == CLV_OK ? u->text.status : status;
    if (status == CLV_OK && u->count > 0) {
        status = clv_fail(t->ctx, CLV_EUSAGE, "%s has no column %s%s1 to %lld", t->start.name, u->text.data,
                          t->layout.header ? ", or by their numbers " : "", (long long)columns);
    }
    clv_free(t->ctx, u->text.data);
    return status;
}

/* Whether a name that an option gives is that of one column at most. */
static clv_status check_once(const clv_table *t, const char *option, const char *name) {
    int64_t places[] = {-1, -1}, count = 0;
    for (int64_t c = 0; c < t->layout.columns && count < 2; c++) {
        const clv_token *field = clv_layout_name(&t->layout, c);
        if (field && clv_field_equals(field, name, false)) {
            places[count++] = c + 1;
        }
    }
    return count < 2
               ? CLV_OK
               : clv_fail(t->ctx, CLV_EUSAGE,
                          "%s%s%s%s has more than one column '%s', as columns %lld and %lld: say which by its number",
                          option ? "--" : "", option ? option : "", option ? ": " : "", t->start.name, name,
                          (long long)places[0], (long long)places[1]);
}

/* The columns of one item of a list: a name, a number, or a range of numbers; false: they are not there. */
static bool find_item(const clv_table *t, char *item, int64_t *first, int64_t *last) {
    *first = *last = clv_layout_find(&t->layout, item);
    char *dash = strchr(item + (item[0] != '\0'), '-');
    if (*first < 0 && dash) {
        *dash = '\0';
        *first = clv_layout_find(&t->layout, item);
        *last = clv_layout_find(&t->layout, dash + 1);
        *dash = '-';
    }
    return *first >= 0 && *last >= *first;
}

typedef void (*mark)(clv_column *column, bool ranged);

static void mark_asked(clv_column *column, bool ranged) {
    column->ranged = ranged && (column->ranged || !column->asked);
    column->asked = true;
}

static void mark_dropped(clv_column *column, bool ranged) {
    (void)ranged;
    column->role = CLV_ROLE_DROPPED;
    column->why = "as asked";
}

/* Without the blanks around it, as names in a header are, unless it stands in quotes. */
static void trim(char **item, char *end, bool quoted) {
    while (!quoted && **item == ' ') {
        ++*item;
    }
    while (!quoted && end > *item && end[-1] == ' ') {
        *--end = '\0';
    }
}

/* Mark the columns of "age,height,5-9"; a name that holds a comma stands in quotes there. */
static clv_status mark_list(clv_table *t, const char *option, const char *list, mark set, unknown *u) {
    if (list && !*list) {
        return clv_fail(t->ctx, CLV_EUSAGE, "--%s '' names no column: it must be a list such as age,height,5-9",
                        option);
    }
    char *items = clv_copy_text(t->ctx, list ? list : "");
    clv_status status = items ? CLV_OK : CLV_ENOMEM;
    for (char *at = items; status == CLV_OK && *at;) {
        bool quoted = *at == '"';
        char *item = at + quoted, *end = item + strcspn(item, quoted ? "\"" : ",");
        char *next = *end ? end + 1 : end;
        next += quoted && *next == ',';
        *end = '\0';
        trim(&item, end, quoted);
        int64_t first, last;
        bool found = find_item(t, item, &first, &last);
        status = check_once(t, option, item);
        if (!found) {
            add_unknown(t, u, option, item);
        }
        for (int64_t c = first; found && c <= last; c++) {
            set(&t->columns[c], first < last);
        }
        at = next;
    }
    clv_free(t->ctx, items);
    return status;
}

/* The column that the header leaves without a name and that is called "column 1", say; -1: there is none. */
static int64_t find_unnamed(const clv_table *t, const char *name) {
    char shown[CLV_COLUMN_SIZE];
    int64_t c = 0;
    while (c < t->layout.columns && strcmp(clv_layout_show(&t->layout, c, shown), name) != 0) {
        c++;
    }
    return c < t->layout.columns ? c : -1;
}

/* The column that a name of other data is of: itself, or for "city=Rome" the text in "city". */
static int64_t find_like(const clv_table *t, const char *name, bool *class) {
    const char *equals = strrchr(name, '=');
    int64_t named = clv_layout_find_name(&t->layout, name, strlen(name));
    int64_t whole = named >= 0 ? named : find_unnamed(t, name);
    *class = whole < 0 && equals;
    return *class ? clv_layout_find_name(&t->layout, name, (size_t)(equals - name)) : whole;
}

/* A name that is twice among those wanted, or wanted and twice in the header: its place; -1: there is none. */
static int64_t find_twice(const clv_table *t, const clv_read_options *options) {
    for (int64_t l = 0; l < options->like_count; l++) {
        int64_t named = 0;
        for (int64_t other = 0; other < l; other++) {
            if (strcmp(options->like[l], options->like[other]) == 0) {
                return l;
            }
        }
        for (int64_t c = 0; c < t->layout.columns; c++) {
            const clv_token *name = clv_layout_name(&t->layout, c);
            named += name && clv_field_equals(name, options->like[l], false);
        }
        if (named > 1) {
            return l;
        }
    }
    return -1;
}

/* A column that is not there, by its name; one of text once for all of its classes. */
static bool add_lost(clv_text *lost, const char *const *like, int64_t l, bool more) {
    const char *class = strchr(like[l], '=');
    size_t size = class ? (size_t)(class - like[l]) : strlen(like[l]);
    bool told = class && l > 0 && strncmp(like[l], like[l - 1], size + 1) == 0;
    if (!told) {
        clv_text_add(lost, "%s'%.*s'", more ? ", " : "", (int)size, like[l]);
    }
    return !told;
}

/* The columns of other data, and no others. */
static clv_status take_like(clv_table *t, const clv_read_options *options) {
    int64_t twice = find_twice(t, options);
    if (twice >= 0) {
        return clv_fail(t->ctx, CLV_EDATA,
                        "%s: more than one column is named '%s', and columns are found by their names: rename them, "
                        "in the data of the model too",
                        t->start.name, options->like[twice]);
    }
    clv_text lost = {.ctx = t->ctx};
    int64_t count = 0;
    for (int64_t l = 0; l < options->like_count; l++) {
        bool class;
        int64_t c = find_like(t, options->like[l], &class);
        if (c < 0) {
            count += add_lost(&lost, options->like, l, count > 0);
            continue;
        }
        t->columns[c].asked = true;
        t->columns[c].role = class ? CLV_ROLE_CLASSES : CLV_ROLE_NUMBERS;
        t->columns[c].wanted += class;
    }
    clv_status status = lost.status;
    if (status == CLV_OK && count > 0) {
        status =
            clv_fail(t->ctx, CLV_EDATA, "%s has no column %s, which the model was made of", t->start.name, lost.data);
    }
    clv_free(t->ctx, lost.data);
    return status;
}

/* A column that an option names, or "none"; -1: it names none. */
static clv_status find_named(const clv_table *t, const char *option, const char *name, unknown *u, int64_t *c) {
    *c = -1;
    if (!name || strcmp(name, "none") == 0) {
        return CLV_OK;
    }
    *c = clv_layout_find(&t->layout, name);
    if (*c < 0) {
        add_unknown(t, u, option, name);
    }
    return check_once(t, option, name);
}

clv_status clv_table_find_column(const clv_table *t, const char *name, int64_t *column) {
    unknown u = {.text = {.ctx = t->ctx}};
    return refuse_unknown(t, &u, find_named(t, NULL, name, &u, column));
}

static clv_status take_names(clv_table *t, const clv_read_options *options) {
    unknown u = {.text = {.ctx = t->ctx}};
    clv_status status = mark_list(t, "columns", options->columns, mark_asked, &u);
    if (status == CLV_OK) {
        status = mark_list(t, "drop", options->drop, mark_dropped, &u);
    }
    int64_t id = -1, label;
    if (status == CLV_OK) {
        status = find_named(t, "id-column", options->id_column, &u, &id);
    }
    if (id >= 0) {
        t->columns[id].role = CLV_ROLE_ID;
        t->columns[id].asked = true;
    }
    if (status == CLV_OK) {
        status = find_named(t, "label-column", options->label_column, &u, &label);
    }
    return refuse_unknown(t, &u, status);
}

static clv_status take_wishes(clv_table *t, const clv_read_options *options) {
    if (options->like && t->layout.header) {
        CLV_TRY(take_like(t, options));
    }
    CLV_TRY(take_names(t, options));
    int64_t label = t->layout.label;
    if (label >= 0 && (options->label_column || (!t->columns[label].asked && !t->columns[label].why))) {
        t->columns[label].role = CLV_ROLE_LABELS;
    }
    return CLV_OK;
}

/* --- what is left to us --- */

static bool is_text(const clv_column *column) {
    return column->texts.count > column->numbers;
}

/* Numbers in a spelling that is not read are neither names nor classes. */
static bool is_words(const clv_column *column) {
    return is_text(column) && column->odd < column->texts.count;
}

static bool is_free(const clv_column *column) {
    return column->role == CLV_ROLE_NUMBERS && !column->asked;
}

int64_t clv_table_find_role(const clv_table *t, clv_role role) {
    int64_t c = 0;
    while (c < t->layout.columns && t->columns[c].role != role) {
        c++;
    }
    return c < t->layout.columns ? c : -1;
}

/* What was asked for; else what the header names, rather than row numbers without a name. */
int64_t clv_table_choose_ids(const clv_table *t) {
    int64_t first = clv_table_find_role(t, CLV_ROLE_ID), c = first;
    while (c >= 0 && c < t->layout.columns && !(t->columns[c].role == CLV_ROLE_ID && t->columns[c].asked)) {
        c++;
    }
    if (first != 0 || c < t->layout.columns) {
        return c < t->layout.columns ? c : first;
    }
    const clv_token *name = clv_layout_name(&t->layout, 0);
    bool numbered = (!name || name->size == 0) && t->columns[0].numbers == t->rows;
    for (c = 1; c < t->layout.columns && numbered; c++) {
        if (t->columns[c].role == CLV_ROLE_ID) {
            return c;
        }
    }
    return first;
}

/* A column of text whose texts are not all different: the last one, or else the first. What mostly begins with digits
 * (5 kg, 12:30, 5-Jan-24) is rather a number or a time. */
static clv_status find_text_labels(clv_table *t) {
    const int64_t ends[] = {t->layout.columns - 1, 0};
    for (size_t e = 0; e < 2 && clv_table_find_role(t, CLV_ROLE_LABELS) < 0 && t->layout.columns > 1; e++) {
        clv_column *column = &t->columns[ends[e]];
        bool names;
        if (!is_free(column) || !is_words(column) || column->dates > 0 || column->numbers > 0 ||
            2 * column->digits > column->texts.count || (ends[e] == 0 && t->layout.shifted)) {
            continue;
        }
        CLV_TRY(clv_table_differs(t, ends[e], &names));
        if (!names || (t->rows == 1 && e == 0)) {
            column->role = CLV_ROLE_LABELS;
        }
    }
    return CLV_OK;
}

/* Whether the header leaves the first column without a name, as pandas and R do over row numbers. */
static bool is_unnamed(const clv_table *t, int64_t c) {
    const clv_token *name = clv_layout_name(&t->layout, c);
    return c == 0 && t->layout.columns > 1 && name && name->size == 0;
}

/* The same of the cells of an id column that are there, if most are: no reason to take the others for numbers. */
static clv_status differs_where_there(const clv_table *t, int64_t c, bool *differs) {
    const clv_column *column = &t->columns[c];
    *differs = false;
    if (column->missing.count == 0 || 2 * column->missing.count > t->rows || column->fractions.count > 0) {
        return CLV_OK;
    }
    clv_token *texts = NULL;
    int64_t repeated = 0, count = 0;
    clv_status status = clv_table_texts(t, c, &texts);
    for (int64_t i = 0; status == CLV_OK && i < t->rows; i++) {
        texts[count] = texts[i];
        count += !clv_is_missing(&texts[i]);
    }
    status = status < 0 ? status : clv_find_repeated(t->ctx, t->start.name, texts, count, &repeated);
    clv_free(t->ctx, texts);
    *differs = repeated < 0;
    return status;
}

bool clv_table_names_rows(const clv_table *t, int64_t c) {
    return (c == 0 && t->layout.shifted) || is_unnamed(t, c) || clv_layout_names_rows(&t->layout, c);
}

/* Whether a column says which row is which: the header says so, or its texts are there; where it has a name, each row
 * has another cell. */
static clv_status is_id(const clv_table *t, int64_t c, bool *id) {
    const clv_column *column = &t->columns[c];
    bool first_text = c == 0 && t->layout.columns > 1 && is_words(column) && column->numbers == 0;
    bool named = clv_layout_names_rows(&t->layout, c);
    *id = (c == 0 && t->layout.shifted) || is_unnamed(t, c);
    if (*id || !(first_text || named)) {
        return CLV_OK;
    }
    CLV_TRY(clv_table_differs(t, c, id));
    return *id || !named ? CLV_OK : differs_where_there(t, c, id);
}

clv_status clv_table_find_ids(clv_table *t) {
    for (int64_t c = 0; c < t->layout.columns; c++) {
        clv_column *column = &t->columns[c];
        bool id = false;
        if (is_free(column) || (column->role == CLV_ROLE_NUMBERS && column->ranged)) {
            CLV_TRY(is_id(t, c, &id));
        }
        if (id) {
            column->role = CLV_ROLE_ID;
            column->asked = false;
        }
    }
    return CLV_OK;
}

static void settle_text(clv_table *t, clv_categories how) {
    for (int64_t c = 0; c < t->layout.columns; c++) {
        clv_column *column = &t->columns[c];
        if (column->role != CLV_ROLE_NUMBERS || !is_text(column)) {
            continue;
        }
        if (how == CLV_CATEGORIES_DROP) {
            column->role = CLV_ROLE_DROPPED;
            column->why = column->dates == column->texts.count ? "dates" : "text";
        } else if (how == CLV_CATEGORIES_ONEHOT && column->dates < column->texts.count && is_words(column)) {
            column->role = CLV_ROLE_CLASSES;
        }
    }
}

/* What is named like labels beside the labels, as an earlier --output-data leaves it, would give the answer away. A y
 * is a feature beside labels that were asked for. */
static void drop_other_labels(clv_table *t, const clv_read_options *options) {
    for (int64_t c = 0; c < t->layout.columns && clv_table_find_role(t, CLV_ROLE_LABELS) >= 0; c++) {
        const clv_token *name = clv_layout_name(&t->layout, c);
        if (is_free(&t->columns[c]) && clv_layout_names_labels(&t->layout, c) &&
            !(options->label_column && clv_field_equals(name, "y", true))) {
            t->columns[c].role = CLV_ROLE_DROPPED;
            t->columns[c].why = "labels too";
        }
    }
}

static bool has_features(const clv_table *t) {
    return clv_table_find_role(t, CLV_ROLE_NUMBERS) >= 0 || clv_table_find_role(t, CLV_ROLE_CLASSES) >= 0;
}

/* When nothing else is there, and nobody chose, numbers that look like those of rows are the data. */
static clv_status keep_something(clv_table *t, const clv_read_options *options) {
    bool chosen = options->columns || options->drop;
    for (int64_t c = 0; c < t->layout.columns && !chosen && !has_features(t); c++) {
        clv_column *column = &t->columns[c];
        bool numbered = column->role == CLV_ROLE_ID && !column->asked && column->numbers == t->rows;
        if (numbered && !(c == 0 && t->layout.shifted)) {
            column->role = CLV_ROLE_NUMBERS;
        }
    }
    if (has_features(t)) {
        return CLV_OK;
    }
    if (chosen) {
        return clv_fail(t->ctx, CLV_EUSAGE,
                        "%s: no column is left by --columns and --drop: columns that name rows or hold labels are used "
                        "only if --columns names them",
                        t->start.name);
    }
    bool ids = clv_table_find_role(t, CLV_ROLE_ID) >= 0, labels = clv_table_find_role(t, CLV_ROLE_LABELS) >= 0;
    return clv_fail(t->ctx, CLV_EDATA, "%s has no column of numbers%s%s%s%s", t->start.name,
                    ids || labels ? " beside " : " that is used", ids ? "row names" : "", ids && labels ? " and " : "",
                    labels ? "labels" : "");
}

clv_status clv_table_assign(clv_table *t, const clv_read_options *options) {
    CLV_TRY(take_wishes(t, options));
    if (!options->label_column && options->elsewhere < 2 && options->categories != CLV_CATEGORIES_ONEHOT) {
        CLV_TRY(find_text_labels(t));
    }
    if (!(options->id_column && strcmp(options->id_column, "none") == 0)) {
        CLV_TRY(clv_table_find_ids(t));
    }
    bool chosen = options->columns || (options->like && t->layout.header);
    for (int64_t c = 0; chosen && c < t->layout.columns; c++) {
        t->columns[c].role = is_free(&t->columns[c]) ? CLV_ROLE_DROPPED : t->columns[c].role;
    }
    drop_other_labels(t, options);
    settle_text(t, options->categories);
    return keep_something(t, options);
}
