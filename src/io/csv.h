/* CSV files: their layout (what the first two records, and the caller, say), their rows, and what columns are for. */
#ifndef CLV_CSV_H
#define CLV_CSV_H

#include "io/io.h"

/* --- the layout (csv_layout.c) --- */

/* What the caller wants; all of it may be left to us. */
typedef struct clv_layout_request {
    clv_header header;
    const char *label_column; /* a name, a number from 1 or "none"; NULL: detect */
    bool settled;             /* no option is there to say how to read */
    const char *const *like;  /* the columns of other data, which this file should have */
    int64_t like_count;
} clv_layout_request;

typedef struct clv_layout {
    clv_token *first, *second; /* the first two records; owned */
    int64_t first_count, second_count;
    bool header;         /* the first record names the columns */
    bool doubt;          /* it may be otherwise */
    int64_t header_line; /* where it stands */
    clv_csv top;         /* at the first record */
    bool shifted;        /* it is one field shorter than the rows: the first column holds row names */
    int64_t columns;     /* fields of a row */
    int64_t label;       /* the column of labels that was asked for, or that has a name for it; else -1 */
} clv_layout;

/* Whether the bytes begin with the mark that spreadsheets put before UTF-8. */
enum { CLV_MARK_SIZE = 3 };
bool clv_has_mark(clv_bytes bytes);
/* Read the first records; `csv` is then at the first row. */
clv_status clv_layout_read(clv_context *ctx, clv_bytes bytes, char separator, const clv_layout_request *request,
                           clv_csv *csv, clv_layout *layout);
/* Refuse points whose file is named as one with tabs, and has none where another separator would do. */
clv_status clv_layout_check_tabs(clv_context *ctx, const clv_layout *layout);
void clv_layout_free(clv_context *ctx, clv_layout *layout);

/* The name of a column, or NULL when there is no header or none for this column. */
const clv_token *clv_layout_name(const clv_layout *layout, int64_t column);
/* The column of this name; -1: there is none. */
int64_t clv_layout_find_name(const clv_layout *layout, const char *name, size_t size);
/* The same, or else of this number from 1. */
int64_t clv_layout_find(const clv_layout *layout, const char *wanted);
/* Whether the header names a column as one names rows: id, index, row, key, ..., and whatever ends in _id. */
bool clv_layout_names_rows(const clv_layout *layout, int64_t column);
/* Whether it names one as one names labels: label, class, target, ...; a y beside an x is a coordinate. */
bool clv_layout_names_labels(const clv_layout *layout, int64_t column);
/* Whether it names one as cleave names what it writes behind the columns of a file: label, cluster, ... */
bool clv_layout_names_own(const clv_layout *layout, int64_t column);
/* A name for such a column that no other has. */
const char *clv_layout_own_name(const clv_layout *layout);
/* "column 5 'species'", or "column 5" where there is no name. */
enum { CLV_COLUMN_SIZE = CLV_SHOWN_SIZE + 40 };
const char *clv_layout_show(const clv_layout *layout, int64_t column, char shown[CLV_COLUMN_SIZE]);
/* "species", or "column 5". */
const char *clv_layout_call(const clv_layout *layout, int64_t column, char shown[CLV_COLUMN_SIZE]);

/* --- cells (csv_cells.c) --- */

typedef enum clv_cell { CLV_CELL_NUMBER, CLV_CELL_MISSING, CLV_CELL_INFINITE, CLV_CELL_TEXT } clv_cell;
/* What a field is, with its value if it is a number; where the separator is no comma, 59,6 is 59.6. */
clv_cell clv_cell_of(const clv_csv *csv, const clv_token *field, double *value);
/* Whether a field is empty, or a word for that: NA, null, ?, ... */
bool clv_is_missing(const clv_token *field);
/* Whether it says nothing even among labels, where None, - and . may be names of classes. */
bool clv_is_no_label(const clv_token *field);
/* Of texts: a date, with or without a time after it; a number in a spelling that is not read: 12%, $1,234.50, 1'234. */
bool clv_is_date(const clv_token *field);
bool clv_is_odd_number(const clv_token *field);

/* --- all rows, read once (csv_rows.c) --- */

typedef enum clv_role {
    CLV_ROLE_NUMBERS, /* features */
    CLV_ROLE_CLASSES, /* text that becomes features, one per class */
    CLV_ROLE_LABELS,
    CLV_ROLE_ID,     /* says which row is which */
    CLV_ROLE_DROPPED /* for the reason in `why` */
} clv_role;

/* Cells of one kind: how many, the lines of the first ones, and the first itself. */
enum { CLV_PLACES = 3 };
typedef struct clv_places {
    int64_t count;
    int64_t line[CLV_PLACES];
    clv_token first;
} clv_places;

typedef struct clv_column {
    clv_role role;
    const char *why;
    bool asked;  /* by --columns */
    bool ranged; /* only by a range there, which leaves out what says which row is which */
    int64_t numbers;
    clv_places fractions; /* among them: those that are not whole */
    clv_places missing, infinite, texts;
    int64_t no_label;   /* of those missing: what says nothing even among labels */
    int64_t empty;      /* and what is not even a word */
    int64_t dates, odd; /* among the texts; odd numbers */
    int64_t digits;     /* among the texts: those that begin as a number does */
    int64_t bounds;     /* and those that do so behind < or > */
    int64_t wanted;     /* of CLASSES that other data say: how many these are */
} clv_column;

typedef struct clv_table {
    clv_context *ctx;
    clv_csv start; /* at the first row */
    clv_layout layout;
    int64_t rows;
    double *values;                     /* rows x layout.columns, NaN for what is no number; owned */
    clv_column *columns;                /* owned */
    clv_places counts;                  /* lines with another number of fields; `first` is the last field of one */
    int64_t found;                      /* the number of fields of the first of them */
    bool found_varies;                  /* others have other numbers */
    int64_t comments;                   /* lines that were passed over */
    clv_text decoded;                   /* the bytes as UTF-8, where they were not; owned */
    clv_places commas, points;          /* numbers with a decimal comma, with a decimal point */
    int64_t comma_column, point_column; /* of the first of them */
} clv_table;
clv_status clv_table_read(clv_table *table, clv_bytes bytes, char separator, const clv_layout_request *request);
void clv_table_free(clv_table *table);
/* The field of one column in each row, one after the other. */
typedef clv_status (*clv_field_visit)(void *user, int64_t row, const clv_token *field);
clv_status clv_table_visit(const clv_table *table, int64_t column, clv_field_visit visit, void *user);
/* The fields of one column, one per row; owned, also after a failure. */
clv_status clv_table_texts(const clv_table *table, int64_t column, clv_token **out);
/* Whether each row has a whole number, or a text, of its own in this column. */
clv_status clv_table_differs(const clv_table *table, int64_t column, bool *differs);

/* --- what each column is for (csv_columns.c) --- */

/* Say what each column is for. */
clv_status clv_table_assign(clv_table *table, const clv_read_options *options);
/* Find the columns that say which row is which, among those that have no role yet. */
clv_status clv_table_find_ids(clv_table *table);
/* Whether the header says so of a column: by its name, or by having none for the first one. */
bool clv_table_names_rows(const clv_table *table, int64_t column);
/* The column that has this role; -1: none. */
int64_t clv_table_find_role(const clv_table *table, clv_role role);
/* The column whose texts are written beside labels and matched with those of other files, among those that say which
 * row is which; -1: there is none. */
int64_t clv_table_choose_ids(const clv_table *table);
/* The column of this name or number; CLV_EUSAGE with those that there are. */
clv_status clv_table_find_column(const clv_table *table, const char *name, int64_t *column);
/* Whether no option of the caller's says how to read: the columns are those of other data, or all was said before. */
static inline bool clv_is_settled(const clv_read_options *options) {
    return options->like || options->settled;
}
/* Whether a column holds targets that are numbers. */
static inline bool clv_is_number_target(const clv_read_options *options, const clv_column *column) {
    return options->targets && column->role == CLV_ROLE_LABELS && column->texts.count == 0;
}

/* --- what is wrong with a table (csv_problems.c) --- */

enum { CLV_MISSING_NOWHERE = -1 }; /* of a file that no option is for: as CLV_MISSING_ERROR, without advice */
/* Refuse the table with all that is wrong with it, if something is. */
clv_status clv_table_check(const clv_table *table, const clv_read_options *options);
/* The same for the number of fields alone. */
clv_status clv_table_check_counts(const clv_table *table);

/* --- what columns become (csv_labels.c; ids: csv.c) --- */

/* The labels of a column, of the rows kept (-1: there is none), and what they stand for; both are the caller's, also
 * after a failure. */
clv_status clv_labels_make(const clv_table *table, int64_t column, const int64_t *kept, int64_t count, int32_t **out,
                           clv_classes *names);
/* The targets of a column, of the rows kept, in `data`: numbers as they are, texts as classes. */
clv_status clv_targets_make(const clv_table *table, int64_t column, const int64_t *kept, int64_t count, clv_data *data);
/* The texts of the column of ids, for all rows. */
clv_status clv_table_put_ids(const clv_table *table, int64_t column, clv_data *data);

#endif
