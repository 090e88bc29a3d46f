/* The layout of a CSV file: what its first two records, and the caller, say about its columns. */
#ifndef CLV_CSV_H
#define CLV_CSV_H

#include "io/io.h"

typedef enum clv_label_source {
    CLV_LABEL_NONE,
    CLV_LABEL_ASKED, /* the caller named the column */
    CLV_LABEL_NAMED, /* the header calls it so */
    CLV_LABEL_TEXT   /* it is text */
} clv_label_source;

/* What the caller wants. */
typedef struct clv_layout_request {
    clv_header header;
    const char *label_column; /* a name, a number from 1 or "none"; NULL: detect */
    bool only_labels;         /* the file is read for its labels alone */
} clv_layout_request;

typedef struct clv_layout {
    clv_token *first, *second; /* the first two records; owned */
    int64_t first_count, second_count;
    bool header;         /* the first record names the columns */
    int64_t header_line; /* where it stands */
    bool shifted;        /* it is one field shorter than the rows: the first column holds row names */
    int64_t columns;     /* fields of a row */
    int64_t label;       /* column of the labels, or -1 */
    clv_label_source source;
    int64_t names; /* 0 when the first column is read as texts that may be row names, else -1 */
} clv_layout;

/* Read the first records; `csv` is then at the first row. */
clv_status clv_layout_read(clv_context *ctx, clv_bytes bytes, char separator, const clv_layout_request *request,
                           clv_csv *csv, clv_layout *layout);
void clv_layout_free(clv_context *ctx, clv_layout *layout);

/* Whether the header says that a column may number the rows: named id, index or row, or the first one without name. */
bool clv_layout_may_number_rows(const clv_layout *layout, int64_t column);
/* "column 5 'species'", or "column 5" where there is no name. */
enum { CLV_COLUMN_SIZE = CLV_SHOWN_SIZE + 40 };
const char *clv_layout_show(const clv_layout *layout, int64_t column, char shown[CLV_COLUMN_SIZE]);

#endif
