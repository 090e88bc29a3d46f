/* io: readers and writers. Every reader parses bytes in memory, so that it can be fuzzed and tested without files;
 * read.c and write.c deal with the file system. Text formats are read and written without regard to the locale. */
#ifndef CLV_IO_H
#define CLV_IO_H

#include "linalg/linalg.h"

/* The content of a file, borrowed, and its name for messages. */
typedef struct clv_bytes {
    const uint8_t *data;
    size_t size;
    const char *name;
} clv_bytes;

/* --- numbers as text (number.c) --- */

/* The longest number at the start of [at, end): its value, correctly rounded, and where it stops; NULL when there is
 * none. "nan", "inf" and "infinity" are numbers too (the caller refuses what is not finite). */
const char *clv_scan_number(const char *at, const char *end, double *out);
/* Likewise for a whole number without point or exponent; what overflows becomes INT64_MAX or INT64_MIN. */
const char *clv_scan_integer(const char *at, const char *end, int64_t *out);
/* The shortest text that reads back as the same value, as double or as float; returns its length. */
enum { CLV_NUMBER_SIZE = 40 };
int clv_print_number(double value, char text[CLV_NUMBER_SIZE]);
int clv_print_float(float value, char text[CLV_NUMBER_SIZE]);
/* Whether `size` bytes are the same but for the case of ASCII letters. */
bool clv_same_letters(const char *a, const char *b, size_t size);
/* A piece of input as it can be put into a message: cut when long, bytes that do not print as '?'. */
enum { CLV_SHOWN_SIZE = 48 };
const char *clv_show(char shown[CLV_SHOWN_SIZE], const char *text, size_t size);

/* --- numbers as bytes (binary.c) --- */
typedef struct clv_number_type {
    char kind;    /* 'f', 'i', 'u' or 'b' (bool) */
    int size;     /* bytes: 1, 2, 4 or 8 */
    bool swapped; /* not in the byte order of this machine */
} clv_number_type;
uint64_t clv_load_bits(const uint8_t *at, clv_number_type type);
double clv_load_number(const uint8_t *at, clv_number_type type);
/* Number `at` of dense data, as double or float. */
void clv_store_number(clv_data *data, int64_t at, double value);
/* Memory of a context for zlib. */
void *clv_zlib_allocate(void *ctx, unsigned count, unsigned size);
void clv_zlib_release(void *ctx, void *block);

/* --- fields and labels (labels.c) --- */

/* A field of a text file. `doubled`: it was quoted and "" in it stands for ". */
typedef struct clv_token {
    const char *text;
    size_t size;
    bool doubled;
} clv_token;
int clv_field_compare(const clv_token *a, const clv_token *b); /* as strcmp */
bool clv_field_equals(const clv_token *a, const char *text, bool ignore_case);
/* Whether a field is a number, blanks inside quotes aside ("nan" and "inf" are too). */
bool clv_field_number(const clv_token *field, double *value);
/* The row of a text that is there again further on, or -1 (distinct.c, as those below); `name` is that of the file. */
clv_status clv_find_repeated(clv_context *ctx, const char *name, const clv_token *fields, int64_t n, int64_t *row);
/* The same of numbers that lie `stride` of them apart. */
clv_status clv_find_repeated_number(clv_context *ctx, const char *name, const double *values, int64_t stride, int64_t n,
                                    int64_t *row);
/* Classes numbered 0..k-1 in ascending order of the values. */
clv_status clv_code_texts(clv_context *ctx, const char *name, const clv_token *fields, int64_t n, int32_t *labels);
clv_status clv_code_numbers(clv_context *ctx, const char *name, const double *values, int64_t n, int32_t *labels);
/* The texts that were numbered so. */
typedef struct clv_classes {
    int64_t count;
    char **text; /* owned; NULL: no texts were numbered */
} clv_classes;
clv_status clv_name_classes(clv_context *ctx, const clv_token *fields, const int32_t *labels, int64_t n,
                            clv_classes *out);
/* A field as it was meant, as a text of its own; owned. */
char *clv_copy_field(clv_context *ctx, const clv_token *field);
const char *clv_show_field(char shown[CLV_SHOWN_SIZE], const clv_token *field);

/* --- records of CSV (csv_lex.c) --- */
typedef struct clv_csv {
    const char *at, *end;
    const char *name;
    char separator;      /* ' ' stands for runs of blanks */
    bool comma;          /* numbers may have a decimal comma: it separates nothing, and something else does */
    int64_t line;        /* of `at`, from 1 */
    int64_t record_line; /* where the current record began; 0: there was none */
    int64_t fields;      /* of a record: a line that begins with # and has as many is one; 0: none is, -1: all are */
    int64_t comments;    /* lines passed over */
} clv_csv;
/* Go to the next record, past blank lines and comments; false at the end. */
bool clv_csv_next(clv_csv *csv);
/* The next field of the record, and whether it was the last one. */
clv_status clv_csv_field(clv_context *ctx, clv_csv *csv, clv_token *field, bool *last);
/* Past the record: how many fields it has; 0: its quotes are wrong. */
int64_t clv_csv_pass(clv_csv *csv);
/* The rest of the record as `count` fields; owned, also after a failure. */
clv_status clv_csv_fields(clv_context *ctx, clv_csv *csv, clv_token **fields, int64_t *count);
/* What is not UTF-8 is taken for Windows-1252, as spreadsheets write it: then `decoded` owns the bytes. */
clv_status clv_csv_decode(clv_bytes *bytes, clv_text *decoded);
/* The separator that the first two records suggest. */
char clv_csv_guess_separator(const clv_csv *csv);

/* --- words of other text files (lines.c) --- */
typedef struct clv_lines {
    clv_context *ctx;
    const char *name;
    const char *at, *end;
    const char *asked; /* where reading was last asked about */
    int64_t line;      /* of `at`, from 1 */
    char comment;      /* what follows it on a line is passed over; '\n': nothing is */
} clv_lines;
clv_lines clv_lines_of(clv_context *ctx, clv_bytes bytes, char comment);
void clv_line_blanks(clv_lines *in);
/* The next word of the line; size 0 at its end. */
clv_token clv_line_word(clv_lines *in);
void clv_line_next(clv_lines *in);
clv_status clv_line_refuse(const clv_lines *in, const clv_token *word, const char *what);

/* --- formats; each sets *out to an owned result --- */

/* `separator` 0: to be detected. */
clv_status clv_csv_parse(clv_context *ctx, clv_bytes bytes, const clv_read_options *options, char separator,
                         clv_data **out);
/* The labels of a column (`request` NULL: of a clustering), with what the file calls its rows: `rows` is empty before,
 * and then rows without columns. With the classes (unless NULL), if they are texts; `texts`: take numbers for texts,
 * too. */
clv_status clv_csv_parse_classes(clv_context *ctx, clv_bytes bytes, char separator, const clv_label_request *request,
                                 bool texts, clv_data *rows, int32_t **labels, clv_classes *classes);
clv_status clv_mtx_parse(clv_context *ctx, clv_bytes bytes, clv_data **out);
clv_status clv_svm_parse(clv_context *ctx, clv_bytes bytes, clv_data **out);

clv_status clv_npy_parse(clv_context *ctx, clv_bytes bytes, clv_data **out);
clv_status clv_npy_parse_labels(clv_context *ctx, clv_bytes bytes, int64_t *n, int32_t **labels);
clv_status clv_npy_parse_image(clv_context *ctx, clv_bytes bytes, clv_image *out);
/* From an open regular file without a copy of it in memory, or mapped; *out stays NULL when the file has to be parsed
 * in the usual way (other number types, other byte order). */
clv_status clv_npy_read_plain(clv_context *ctx, int file, int64_t size, const char *name, int map, clv_data **out);

/* `wanted` is the name of a variable, or NULL when there is only one matrix. */
clv_status clv_mat_parse(clv_context *ctx, clv_bytes bytes, const char *wanted, clv_data **out);

clv_status clv_png_parse(clv_context *ctx, clv_bytes bytes, clv_image *out);
/* Labels as indices of a palette of distinct colors; -1 becomes 255. */
clv_status clv_png_write_colors(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                const int32_t *labels);
/* 8-bit samples into memory: out->data is owned, and freed when it fails. */
clv_status clv_png_to_text(const clv_image *image, clv_text *out);
/* 16-bit gray; -1 becomes 65535. */
clv_status clv_png_write_labels(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                const int32_t *labels);
clv_status clv_jpeg_parse(clv_context *ctx, clv_bytes bytes, clv_image *out);
/* Room for the samples of a picture whose size has been read; refuses more pixels than `most`, the number that its
 * file can hold. */
clv_status clv_image_reserve(clv_context *ctx, const char *name, double most, clv_image *image);
/* Pixels as rows of doubles. */
clv_status clv_image_to_data(clv_context *ctx, const clv_image *image, const char *name, clv_data **out);

/* --- sparse matrices from unordered entries (csr.c) --- */
typedef struct clv_entry {
    int32_t row, column;
    double value;
} clv_entry;
/* Sorted by row and column; entries at the same place are added. */
clv_status clv_csr_from_entries(clv_context *ctx, const char *name, int64_t rows, int64_t cols,
                                const clv_entry *entries, int64_t count, clv_data **out);

/* --- files (read.c, write.c) --- */

/* Whether the reading of `name` goes on, after so many bytes were read, and after so many were made sense of; a failure
 * when it does not. */
enum { CLV_PIECE = 1 << 24 }; /* bytes to read, or to inflate, before that is asked */
clv_status clv_read_on(clv_context *ctx, const char *name, int64_t bytes);
clv_status clv_parse_on(clv_context *ctx, const char *name, int64_t bytes);
/* The same for a parser that has come to `at`, which asks now and then: `*asked` is where it last did. */
static inline clv_status clv_parse_on_at(clv_context *ctx, const char *name, const char *at, const char **asked) {
    enum { BYTES_A_POLL = 1 << 16 };
    int64_t bytes = at - *asked;
    if (bytes < BYTES_A_POLL) {
        return CLV_OK;
    }
    *asked = at;
    return clv_parse_on(ctx, name, bytes);
}
/* What errno says, in English whatever the locale. */
const char *clv_errno_text(int code);
/* Whether the name of a file ends in one of "npy|csv", in any case of letters, after a dot. */
bool clv_has_extension(const char *path, const char *list);
char clv_separator_of(const char *path);  /* of a table; 0: to be detected */
bool clv_is_compressed(const char *path); /* its name ends in .gz */
/* Hand over what was read if `status` and all its numbers are good, else free it. */
clv_status clv_data_give(clv_data *data, clv_status status, clv_data **out);

/* A file that appears under its name when it is complete, or not at all. Failures stick; finish reports the first. */
typedef struct clv_writer clv_writer;
clv_status clv_writer_open(clv_context *ctx, const char *path, clv_writer **out);
void clv_writer_put(clv_writer *writer, const void *bytes, size_t size);
clv_status clv_writer_status(const clv_writer *writer);
/* Whether to go on with row i of many: nothing has failed, and nobody has asked to stop. */
bool clv_writer_goes_on(clv_writer *writer, int64_t i);
/* A field of CSV as it was meant: in quotes where it has to be; a label, or what it stands for, and the `end` of the
 * line (write_matrix.c). */
void clv_put_csv_field(clv_writer *writer, const clv_token *field, char separator);
void clv_put_label(clv_writer *writer, int32_t label, const char *const *classes, const char *end);
/* Put the file in place if `status` and all writes were good, else leave no trace; frees the writer. */
clv_status clv_writer_finish(clv_writer *writer, clv_status status);

#endif
