/* cleave: clustering by optimization, with certificates.
 *
 * The whole public interface, in the order in which a program meets it:
 *
 *   1  version, status, context        4  features of texts, pictures   7  methods
 *   2  options, the control of a run   5  affinities                    8  metrics
 *   3  data: views, files, scaling     6  results                       9  reports
 *
 * A complete program (tests/install builds it against an installed copy):
 *
 *   clv_context *ctx;  clv_data *data;  clv_affinity *a;  clv_result *r;
 *   clv_affinity_options how;  clv_ncut_options cut;
 *   if (clv_context_new(NULL, &ctx)) return 1;
 *   clv_affinity_defaults(&how);  clv_ncut_defaults(&cut);  cut.k = 3;
 *   if (clv_read(ctx, "data/iris.csv", NULL, &data) ||
 *       clv_affinity_build(ctx, clv_data_matrix(data), &how, &a) ||
 *       clv_ncut(ctx, &(clv_input){.affinity = a}, &cut, &r)) { puts(clv_message(ctx)); return 1; }
 *   printf("ncut %g, certificate %g\n", r->objective.value, r->certificate.value);
 *
 * Rules that hold everywhere:
 *   - A function that can fail returns clv_status; below zero means that there is no result and that
 *     clv_message(ctx) says why in one sentence. Whether a *run* converged is another matter: see clv_stop.
 *   - "borrowed" pointers must outlive what borrows them; "owned" results are freed by their _free function,
 *     which takes NULL too. Nothing that is borrowed is written to.
 *   - What is made in a context (data, affinities, results, claims) belongs to it: it is freed before the context,
 *     and an affinity is used with the context that it was made in, or refused. Views (clv_matrix) belong to nobody.
 *   - What a function works on (a path, a matrix, labels, options, a method) must be there: NULL is refused with
 *     CLV_EUSAGE where its comment does not allow it. Not checked are the context, the object whose function it is
 *     (the clv_data of clv_data_scale, say), places for results, and whether arrays are as long as they must be;
 *     nor anything by functions that return no status.
 *   - Option structs come from their _defaults function, which notes the size that the program was compiled with.
 *     Later versions only append members, so a program keeps working with a library that has more of them.
 *   - Blocks of vectors are row-major, one vector per row: `block[c * n + i]` is entry i of vector c.
 *   - Labels are int32_t, -1 means left out. Counts are int64_t, values double.
 *   - A context serves one thread at a time. The library keeps no other state between calls, prints nothing,
 *     never exits and installs no signal handler.
 *   - Threads are a number in the options. BLAS has a number of threads for the whole process: it is set to 1 while a
 *     call of this library runs that uses BLAS, and set back to what it was when the last such call in the process
 *     returns. A program that calls BLAS from other threads meanwhile shares that setting.
 */
#ifndef CLEAVE_H
#define CLEAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CLV_API
#else
#define CLV_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------------------------------------------------
 * 1  Version, status, context
 */

#define CLV_VERSION_MAJOR 0
#define CLV_VERSION_MINOR 2
#define CLV_VERSION_PATCH 0
#define CLV_VERSION "0.2.0"

/* "0.2.0": the version of the library that is linked, which may differ from that of this header. */
CLV_API const char *clv_version(void);
/* The instruction set that the library computes with: the best one of this machine, or the one that the environment
 * variable CLEAVE_ISA named when the library was loaded. */
CLV_API const char *clv_isa(void);
/* Number i of the instruction sets that this machine can run, from the plainest to the best; NULL beyond the last. */
CLV_API const char *clv_isa_name(int i);
/* Where OpenBLAS is older than the processor and takes it for one without AVX, the value of OPENBLAS_CORETYPE with
 * which its products are several times as fast; else NULL. It counts when OpenBLAS is loaded: set it before your
 * program starts. */
CLV_API const char *clv_blas_core(void);

typedef enum clv_status {
    CLV_OK = 0,
    CLV_EUSAGE = -1,       /* an argument or option is out of range */
    CLV_EDATA = -2,        /* the data are not what they must be */
    CLV_ENOINPUT = -3,     /* a file that was to be read is not there */
    CLV_EINTERNAL = -4,    /* a defect of the library */
    CLV_ENOMEM = -5,       /* out of memory, or over the memory budget */
    CLV_ECREATE = -6,      /* a file cannot be written */
    CLV_EIO = -7,          /* reading or writing failed half-way */
    CLV_EINTERRUPTED = -8, /* the interrupt hook asked to stop before there was anything to return */
    CLV_ENUMERIC = -9,     /* a numerical method failed (an eigensolver without convergence, say) */
    CLV_ETIME = -10        /* the time limit passed before there was anything to return */
} clv_status;

CLV_API const char *clv_status_name(clv_status status);

/* Where memory comes from. Both functions must be callable from several threads at once. */
typedef struct clv_allocator {
    void *(*allocate)(void *user, size_t bytes); /* NULL when there is none; aligned as malloc does */
    void (*release)(void *user, void *block);
    void *user;
} clv_allocator;

typedef struct clv_context clv_context;

/* A new context; `allocator` (copied) may be NULL for malloc and free. */
CLV_API clv_status clv_context_new(const clv_allocator *allocator, clv_context **out);
CLV_API void clv_context_free(clv_context *ctx);

/* The sentence of the last failure in this context; "" when there was none. Valid until the next failure. */
CLV_API const char *clv_message(const clv_context *ctx);

/* A hook that long computations poll, from any of their threads; a non-zero return makes them stop. NULL takes it
 * away. */
typedef int (*clv_interrupt)(void *user);
CLV_API void clv_context_set_interrupt(clv_context *ctx, clv_interrupt hook, void *user);
/* While it is held, computations do not ask the hook, so that what was found is written whole; only the wait for
 * somebody who reads a pipe does. */
CLV_API void clv_context_hold_interrupt(clv_context *ctx, int held);
/* A hook for programs that would rather set a number than be called: `user` is an int, which may become non-zero at any
 * time, from any thread. */
CLV_API int clv_interrupt_by_flag(void *user);
/* The number of threads that 0 stands for when asked from this thread: one per core that the process may run on, or
 * fewer if OpenMP was told so (OMP_NUM_THREADS, omp_set_num_threads, threadpoolctl). */
CLV_API int64_t clv_default_threads(void);

/* Everything done with this context ends within so many seconds from now, reading of files and building of affinities
 * included: a run with the best result so far (CLV_TIME_LIMIT), what has no result yet with CLV_ETIME. The last
 * evaluation of a result is completed all the same, and so is very short work, so that small data have a
 * result however short the limit. 0: no limit. */
CLV_API void clv_context_set_time_limit(clv_context *ctx, double seconds);

/* Checkpoints: what a run has found and where it is, so that another process can go on from there and end with the same
 * result, bit for bit, on any number of threads. From the first start of a run on the writer gets all of it every so
 * many seconds (0: after each iteration), and once more when the run ends, for whatever reason; from one thread at a
 * time, though not always the same. The bytes are borrowed. Not 0: it was not kept; the run goes on, and its result
 * has a warning. Of processes that share the run (clv_context_join) all set one, and that of rank 0 is called. NULL
 * takes the writer away. Only what the engine and the method know is in a checkpoint, none of the
 * data: a resumed solve is given those again. */
typedef int (*clv_checkpoint_writer)(const void *bytes, size_t size, void *user);
CLV_API void clv_context_set_checkpoint(clv_context *ctx, clv_checkpoint_writer writer, void *user, double every);
/* The next clv_solve in this context goes on from this checkpoint (copied; NULL: from none). CLV_EDATA with a sentence
 * where the bytes are none, are damaged, or were made by another version; clv_solve refuses other data and other
 * options, but for threads, time_limit, which includes the time taken before, and max_iter, which may be larger as long
 * as it ended nothing that other work followed. */
CLV_API clv_status clv_context_resume(clv_context *ctx, const void *bytes, size_t size);
/* Whether it is one of a run of this method, which clv_solve asks as well; CLV_EDATA: it is not. */
CLV_API clv_status clv_context_check_resume(clv_context *ctx, const char *method);
/* The seconds that it had taken to come there; 0: there is nothing to resume. */
CLV_API double clv_context_spent(clv_context *ctx);

/* Bytes now held, and the most that were ever held, by everything made in this context. */
CLV_API void clv_context_memory(const clv_context *ctx, size_t *now, size_t *peak);

/* What would make that more than so many bytes, and 1 MiB for buffers, fails with CLV_ENOMEM and a sentence, reading of
 * a file whose header claims too much included. 0, the default: no limit. */
CLV_API void clv_context_set_memory_limit(clv_context *ctx, size_t bytes);

/* --- several processes: the same program on the same input, each with a share of the work (docs/mpi.md) ---
 *
 * All of them call the same functions of the library in the same order, on the context with which they joined, from the
 * thread that made it; results are the same bits on all of them, and those of one process. */

/* Joins the processes that were started together, by way of a plugin ("mpi": libcleave_mpi.so); leaving ends that. All
 * leave together (a context that is freed leaves, too): the others learn of one that does not, or not at this point,
 * which is a failure. */
CLV_API clv_status clv_context_join(clv_context *ctx, const char *plugin);
CLV_API clv_status clv_context_leave(clv_context *ctx);
typedef struct clv_ranks_info {
    int64_t rank, ranks;     /* of this process, from 0; of all: 1 where none joined */
    int64_t meetings, bytes; /* so far: how often results were exchanged, and what this process received */
    double waited, received; /* seconds: at meetings, for the others, and for these bytes when all had come */
} clv_ranks_info;
CLV_API clv_ranks_info clv_context_ranks(const clv_context *ctx);
/* All processes bring a status and, with a failure, a message (NULL: that of the context); all get the failure of the
 * first that has one, with its message; else CLV_OK. */
CLV_API clv_status clv_context_meet(clv_context *ctx, clv_status status, const char *message);
/* What the process of rank 0 has in `data` becomes everybody's. */
CLV_API clv_status clv_context_share(clv_context *ctx, void *data, size_t bytes);
/* Between 1 and 0 this process computes without the others, who are to wait at a meeting. */
CLV_API void clv_context_work_alone(clv_context *ctx, int alone);
/* Divides the processes into so many groups of the same size: until clv_context_ungroup each of them does all of the
 * work, but for the restarts of a run, which are divided among the groups. The result is the same. Both are called by
 * all processes; the latter takes what clv_context_meet does, and returns the first failure of any group. */
CLV_API clv_status clv_context_group(clv_context *ctx, int64_t groups);
CLV_API clv_status clv_context_ungroup(clv_context *ctx, clv_status status, const char *message);

/* Free an array that the library returned by itself (labels of clv_read_labels, for instance). */
CLV_API void clv_release(clv_context *ctx, void *block);

/* ------------------------------------------------------------------------------------------------------------
 * 2  Options, and the control of a run
 *
 * Option structs are plain data. Each has a table that describes its members once; defaults, range checks,
 * command-line flags, language bindings and documentation all come from that table.
 */

typedef enum clv_option_kind {
    CLV_OPTION_INT,    /* int64_t */
    CLV_OPTION_REAL,   /* double */
    CLV_OPTION_FLAG,   /* int, 0 or 1: --name or --no-name (or --name and `off` where that is given) */
    CLV_OPTION_CHOICE, /* int, index into `choices` */
    CLV_OPTION_BYTES,  /* int64_t; text may carry K, M, G or T (powers of 1024) */
    CLV_OPTION_TEXT    /* const char *, borrowed */
} clv_option_kind;

typedef struct clv_option {
    const char *name; /* as on the command line, without dashes: "max-iter" */
    char letter;      /* short flag, or 0 */
    clv_option_kind kind;
    size_t offset;       /* of the member in its struct */
    double initial;      /* default: number, 0 or 1, or index of the choice */
    double least, most;  /* range allowed, both ends included */
    const char *choices; /* CHOICE: "fpc|spectral"; TEXT: the default or NULL */
    /* A word that is allowed too ("auto", "all", "none"), or NULL. It stands for NaN if the default is NaN, otherwise
     * for word_value. */
    const char *word;
    double word_value;
    const char *off;  /* FLAG: the name of the flag that clears it, or NULL for "no-NAME" */
    const char *meta; /* what stands for the value in help: "N", "SECONDS" */
    const char *help; /* one line */
} clv_option;

typedef struct clv_option_table {
    const char *title; /* "affinity", "run", "ncut" */
    const clv_option *options;
    size_t count;
    /* Of the struct, which begins with a size_t that says how much of it a program knows; 0: it does not. */
    size_t size;
} clv_option_table;

/* Write the default of every option in `table` to the struct at `options`. Members outside the table stay. */
CLV_API void clv_options_defaults(const clv_option_table *table, void *options);
/* The same for a struct that begins with its size and has `size` bytes: what lies beyond is left alone, and everything
 * that is no option becomes zero. */
CLV_API void clv_options_init(const clv_option_table *table, void *options, size_t size);
/* Set one option from text; only texts may be set to NULL. CLV_EUSAGE with the name, the value and what is allowed. */
CLV_API clv_status clv_options_set(clv_context *ctx, const clv_option_table *table, void *options, const char *name,
                                   const char *value);
/* Check every option against its range. */
CLV_API clv_status clv_options_check(clv_context *ctx, const clv_option_table *table, const void *options);
/* The name by which the tables now know an option: `name` itself, unless that is a former one ("neighbours"). */
CLV_API const char *clv_option_name(const char *name);
/* The option called `name`, now or formerly; or NULL. */
CLV_API const clv_option *clv_options_find(const clv_option_table *table, const char *name);
/* The value of an option as text, in a buffer of `size` bytes: what clv_options_set would take. */
CLV_API void clv_options_print(const clv_option *option, const void *options, char *text, size_t size);

/* What a monitor sees once per iteration. */
typedef struct clv_progress {
    int64_t restart, iteration;
    double seconds;     /* since the run began */
    double objective;   /* of this iterate */
    double certificate; /* of this iterate; NaN when the method did not compute it */
    double best;        /* the best objective so far in this restart */
    double tolerance;   /* the restart ends where the certificate is at most this; NaN: it ends by another rule */
    int64_t done;       /* restarts that are over */
} clv_progress;

/* Return non-zero to end the run with the best result so far. Called from one thread at a time. */
typedef int (*clv_monitor)(const clv_progress *progress, void *user);

/* First member of every method's options. */
typedef struct clv_control {
    size_t size;       /* of the struct that begins with this, as the program was compiled: set by the defaults */
    double tol;        /* the certificate or change at which a method stops; NaN: the method's own default */
    int64_t max_iter;  /* iterations of one restart */
    double time_limit; /* seconds for all of the call, within those of the context; 0: none */
    int64_t restarts;  /* independent starts; the best result is returned */
    int64_t seed;
    int64_t threads;     /* 0: as many as there are cores */
    int keep_trace;      /* not an option on the command line: set when a trace is wanted */
    clv_monitor monitor; /* may be NULL */
    void *monitor_user;
    int64_t room[6]; /* for later versions: 0 */
} clv_control;

CLV_API const clv_option_table *clv_control_table(void);

/* ------------------------------------------------------------------------------------------------------------
 * 3  Data: views, files, scaling
 */

typedef enum clv_scalar { CLV_F64 = 0, CLV_F32 = 1 } clv_scalar;

/* A borrowed view of a matrix. Dense: `values` holds rows x cols numbers of type `scalar`, row-major, without
 * gaps. Compressed sparse rows (CSR) when `start` is not NULL: row i has the doubles values[start[i]] to
 * values[start[i+1]-1] in the columns index[...], ascending. */
typedef struct clv_matrix {
    int64_t rows, cols;
    clv_scalar scalar; /* CSR: always CLV_F64 */
    const void *values;
    const int64_t *start; /* rows + 1 entries, or NULL */
    const int32_t *index;
} clv_matrix;

/* An owned matrix, usually read from a file, with labels if the file had them. */
typedef struct clv_data clv_data;

typedef enum clv_header { CLV_HEADER_DETECT = 0, CLV_HEADER_YES = 1, CLV_HEADER_NO = 2 } clv_header;
/* Cells that are missing: empty, NA, NaN, null, None or ?. Their rows are left out, or they are replaced by the mean or
 * the median of their column. */
typedef enum clv_missing {
    CLV_MISSING_ERROR = 0,
    CLV_MISSING_DROP = 1,
    CLV_MISSING_MEAN = 2,
    CLV_MISSING_MEDIAN = 3
} clv_missing;
/* Columns of text beside the labels: refused, made into one column of 0 and 1 per class, or left out. */
typedef enum clv_categories {
    CLV_CATEGORIES_ERROR = 0,
    CLV_CATEGORIES_ONEHOT = 1,
    CLV_CATEGORIES_DROP = 2
} clv_categories;

typedef struct clv_read_options {
    clv_header header;        /* CSV: whether the first line names the columns. Detected: it has no number and nothing
                                 missing over columns of numbers; a first line that mixes is refused */
    const char *label_column; /* CSV: a column name or number from 1; "none"; NULL: detect. That is a column named
                                 label, labels, class, target, species, variety, category, truth, outcome, cluster or y
                                 (without an x beside it), else a last or first column of text unless all text
                                 is made into columns (CLV_CATEGORIES_ONEHOT) */
    int map;                  /* .npy of little-endian f8 or f4: map the file instead of reading it, if that is in row
                                 order; 2: also a square one in column order, whose transpose will do */
    const char *columns;      /* CSV: the columns to use, names, numbers and ranges, "age,height,5-9"; NULL: all */
    const char *drop;         /* CSV: the columns to leave out, likewise; NULL: none */
    const char *id_column;    /* CSV: the column that says which row is which, name or number; "none"; NULL: detect */
    clv_missing missing;
    clv_categories categories;
    const char *const *like; /* CSV with a header: the columns of other data (clv_data_column), which these must have,
                                in any order and with others beside them; NULL: as they are */
    int64_t like_count;
    const double *fill; /* CSV with missing cells to replace: by these, one per column of the other data
                           (clv_data_fill); NULL: by the mean or the median of the file itself */
    int64_t fill_count;
    int targets;       /* the label column holds targets, any numbers or texts: clv_data_targets has them */
    int settled;       /* how to read is settled: messages do not say by what option a file could be read */
    int32_t elsewhere; /* labels are in another file: a column of them here is left out (1), and only for its name, not
                          for being text (2) */
    int32_t room[1];   /* for later versions: 0 */
} clv_read_options;

/* Read a matrix; the name says the format: .npy, .csv, .tsv (.tab, .txt, .dat, .data), .mtx, .svm or .libsvm, .mat
 * (`file.mat:variable`), .png, .jpg (one row per pixel); .csv.gz and .tsv.gz are inflated; "-" is CSV from standard
 * input. Numbers become double; f4 stays float. NaN and infinities are refused, with their place. `options` may be
 * NULL. Of a CSV file, columns that only say which row is which are not features: a first column without a name in the
 * header, or of texts that all differ; the first column when the header is one field shorter than the rows; and a
 * column of distinct whole numbers or texts that the header names id, index, row, key, no, number and the like, or
 * something that ends in _id. Everything that is wrong with a file is said in one message. Where the separator is no
 * comma, numbers may have a decimal one. A text that is not UTF-8 is read as Windows-1252. */
CLV_API clv_status clv_read(clv_context *ctx, const char *path, const clv_read_options *options, clv_data **out);
/* Points that are in memory, as data: for a report to tell of them. The matrix is not copied and must outlive the data;
 * `columns`, the names of its columns, are copied; NULL: they have none. */
CLV_API clv_status clv_data_of(clv_context *ctx, const clv_matrix *matrix, const char *const *columns, clv_data **out);
/* Whether a file of this name is read as CSV. */
CLV_API int clv_is_table(const char *path);
CLV_API void clv_data_free(clv_data *data);
CLV_API const clv_matrix *clv_data_matrix(const clv_data *data);
/* Labels that came with the points (0..k-1, in ascending order of their names; -1: a row without), or NULL. */
CLV_API const int32_t *clv_data_labels(const clv_data *data);
/* What was used of a CSV file, "4 columns used; truth: species; dropped: id (row names)"; "" for other formats. */
CLV_API const char *clv_data_note(const clv_data *data);
/* What may be a mistake in a CSV file, such as a feature that differs in every row like a row number; "": nothing. */
CLV_API const char *clv_data_warning(const clv_data *data);
/* The name of a column, or of the column of labels (-1); NULL: it has none. */
CLV_API const char *clv_data_column(const clv_data *data, int64_t column);
/* The names of all columns; NULL with count 0: they have none. */
CLV_API const char *const *clv_data_columns(const clv_data *data, int64_t *count);
/* What the file calls a row, and what it calls the column of these names; NULL: nothing. */
CLV_API const char *clv_data_id(const clv_data *data, int64_t row);
CLV_API const char *clv_data_id_name(const clv_data *data);
/* Call the rows so from now on, and the column of these names `name`; both are copied. One for each row of the file. */
CLV_API clv_status clv_data_set_ids(clv_data *data, const char *name, const char *const *ids);
/* How many rows the file has; with CLV_MISSING_DROP there may be fewer in the matrix, and the number of a row in the
 * file, from 0. */
CLV_API int64_t clv_data_rows_read(const clv_data *data);
/* Of a dense matrix with a row for each row of the file of `of`, keep those that `of` has kept, without ids of their
 * own; `order` says where the rows of that file are in the matrix (clv_match_ids; NULL: in the same order). */
CLV_API clv_status clv_data_keep_rows(clv_data *data, const clv_data *of, const int64_t *order);
CLV_API int64_t clv_data_row(const clv_data *data, int64_t row);
/* What stood for missing cells, one number per column of the matrix; NULL: nothing did. */
CLV_API const double *clv_data_fill(const clv_data *data);
/* A number that tells these points from others: of their values as floats, in order. */
CLV_API uint64_t clv_matrix_fingerprint(const clv_matrix *points);
/* Whether the values lie in a mapped file. */
CLV_API int clv_data_is_mapped(const clv_data *data);

/* Which column of a CSV file holds labels. */
typedef struct clv_label_request {
    const char *column; /* its name, or number from 1; NULL: the only one, row names and row numbers aside, or one found
                           as for clv_read */
    int truth;          /* of several with such names: not the one behind all others that clv_write_labeled leaves */
} clv_label_request;

/* Read the labels of a clustering: an integer .npy vector, or a column of a CSV file, of several with names of labels
 * the last that is called as clv_write_labeled calls its own. Integers stay as they are and must be -1 or more; texts
 * become 0..k-1 in ascending order. Free with clv_release. */
CLV_API clv_status clv_read_labels(clv_context *ctx, const char *path, int64_t *n, int32_t **labels);

/* The same, of the column that is asked for (NULL: as above), with what the file calls its rows: rows without columns,
 * as many as there are labels, with clv_data_id, which is NULL where it has no names for them; clv_data_column of -1
 * says which column was taken. */
CLV_API clv_status clv_read_named_labels(clv_context *ctx, const char *path, const clv_label_request *request,
                                         clv_data **rows, int32_t **labels);
/* Where the rows of the file of `of` are in that of `in` (from 0), by their ids. Ids that are called "row" and are
 * numbers from 1 to n are the places of rows: they go with others of this kind, or with the places of the rows of the
 * other file, whatever that calls them. Names of rows go with names of rows. Else *rows is NULL: both are in the same
 * order. CLV_EDATA: ids that only one has, or twice. Free with clv_release. */
CLV_API clv_status clv_match_ids(clv_context *ctx, const clv_data *of, const clv_data *in, int64_t **rows);

/* Read targets, one number per sample: a matrix with one column or one row, the labels of .svm as the numbers that they
 * are, or a column of texts, which become 0..k-1 in ascending order. Dense doubles, samples x 1, with the ids of their
 * file. */
CLV_API clv_status clv_read_targets(clv_context *ctx, const char *path, clv_data **out);
/* The same for classes, which may be one column among others; that of the request, as for clv_read_named_labels. */
CLV_API clv_status clv_read_classes(clv_context *ctx, const char *path, const clv_label_request *request,
                                    clv_data **out);
/* The same for targets that are to be compared with others: texts become the numbers that they are in `known`, which
 * clv_read_targets read; a text that is not there is refused, and so are texts where those are numbers. */
CLV_API clv_status clv_read_targets_like(clv_context *ctx, const char *path, const clv_data *known, clv_data **out);
/* The same for targets that were read with their samples: the column of labels of a table that was read with
 * clv_read_options.targets, or the labels of .svm; of the rows that were kept. `known`: as above, or NULL. */
CLV_API clv_status clv_data_targets(const clv_data *data, const clv_data *known, clv_data **out);
/* The texts that labels or targets 0, 1, ... stand for; NULL with count 0: they are numbers. */
CLV_API const char *const *clv_data_classes(const clv_data *data, int64_t *count);

/* Write a matrix (.npy, .csv, .tsv, .mtx) or labels (.npy as int32, .csv, .tsv, .txt) whole or not at all: a temporary
 * file beside `path`, then a rename. */
CLV_API clv_status clv_write_matrix(clv_context *ctx, const char *path, const clv_matrix *matrix);
/* The same; to .npy, .csv and .tsv a sparse matrix is written with its zeros. */
CLV_API clv_status clv_write_dense(clv_context *ctx, const char *path, const clv_matrix *matrix);
/* The same for doubles that are made `block` rows at a time, so that they need not all fit: `make` gets the number of
 * the first row, how many, and where they go. To .npy, .csv and .tsv. */
typedef clv_status (*clv_make_rows)(void *user, int64_t first, int64_t count, double *out);
CLV_API clv_status clv_write_rows(clv_context *ctx, const char *path, int64_t rows, int64_t cols, int64_t block,
                                  clv_make_rows make, void *user);
/* Labels in .csv and .tsv stand beside the number of their row, from 1; "-" is CSV on standard output. */
CLV_API clv_status clv_write_labels(clv_context *ctx, const char *path, const int32_t *labels, int64_t n);
/* The same for objects that were read from a file: a label for each of its rows, -1 for those that were dropped, in
 * .csv beside what the file calls them; there label c is written as classes[c], unless `classes` is NULL. */
CLV_API clv_status clv_write_labels_of(clv_context *ctx, const char *path, const int32_t *labels, int64_t n,
                                       const clv_data *of, const char *const *classes);
/* The same beside all columns of the .csv, .tsv or .txt file `from` that they were read from with these options, to
 * .csv or .tsv; a .csv file keeps the semicolons of `from`, else it has commas (semicolons if numbers have them). */
CLV_API clv_status clv_write_labeled(clv_context *ctx, const char *path, const char *from,
                                     const clv_read_options *options, const int32_t *labels, int64_t n,
                                     const clv_data *of, const char *const *classes);
/* A matrix like clv_write_dense; to .csv and .tsv with the names of its columns, and of its rows unless `rows` is NULL.
 * There is a row for each row of the file of `rows`; in those that were dropped all numbers are `lost`: NaN is an empty
 * cell in .csv and .tsv. */
CLV_API clv_status clv_write_named(clv_context *ctx, const char *path, const clv_matrix *matrix, const clv_data *rows,
                                   double lost, const char *const *columns);
/* Likewise for any bytes (a report, a JSON text). */
CLV_API clv_status clv_write_text(clv_context *ctx, const char *path, const char *text, size_t size);

/* Pictures: 8-bit samples, row-major, `channels` of 1 (gray), 3 (RGB) or 4 (RGBA). */
typedef struct clv_image {
    int64_t width, height, channels;
    uint8_t *samples; /* owned by the struct that clv_read_image filled: clv_release */
} clv_image;
CLV_API clv_status clv_read_image(clv_context *ctx, const char *path, clv_image *out);
CLV_API clv_status clv_write_png(clv_context *ctx, const char *path, const clv_image *image);

typedef enum clv_scale {
    CLV_SCALE_NONE,
    CLV_SCALE_STANDARD,     /* columns: mean 0, population standard deviation 1; constant columns become 0 */
    CLV_SCALE_MINMAX,       /* columns to [0, 1]; constant columns become 0 */
    CLV_SCALE_UNIT_COLUMNS, /* columns divided by their 2-norm, no centering; zero columns stay 0 */
    CLV_SCALE_UNIT_ROWS     /* rows divided by their 2-norm; zero rows stay 0 */
} clv_scale;
/* Their names in this order, as the choices of an option. */
#define CLV_SCALE_NAMES "none|standard|minmax|unit-columns|unit-rows"

/* Scale in place. Sparse data take unit-columns and unit-rows; the others would fill the matrix and are refused. A
 * mapped matrix is read into memory first. */
CLV_API clv_status clv_data_scale(clv_data *data, clv_scale scale);
/* Scale `data`, and new points `fresh` by the same formula: the means, ranges and norms of columns are those of `data`.
 * Both must have as many columns; a sparse `fresh` that has fewer gets columns of zeros. */
CLV_API clv_status clv_data_scale_both(clv_data *data, clv_data *fresh, clv_scale scale);
/* How the columns were scaled, (x - shift) * factor; 0: they were not. And the same for other data of these columns. */
CLV_API int clv_data_scaling(const clv_data *data, const double **shift, const double **factor);
CLV_API clv_status clv_data_scale_as(clv_data *data, const double *shift, const double *factor);

/* ------------------------------------------------------------------------------------------------------------
 * 4  Features: documents and pictures as points
 */

/* A document while it is read; all of it is borrowed for the call of the hook. */
typedef struct clv_document {
    const char *text; /* `size` bytes, not ended by NUL */
    size_t size;
    const char *label; /* NULL: none */
    const char *place; /* "mail/ham/17" or "posts.jsonl, line 3", for messages */
    int decoded;       /* the text is UTF-8 whatever the encoding of the corpus: that of a JSON string */
    size_t not_utf8; /* of a decoded one: the byte of its line, from 1, that is not UTF-8, for which all of the line was
                      * taken for Latin-1; 0: there is none */
    const char *id;  /* what the corpus calls it; NULL: nothing */
} clv_document;
/* Return below zero, with the message set, to end the reading. */
typedef clv_status (*clv_document_hook)(const clv_document *document, void *user);

/* What was read besides the texts. Owned. */
typedef struct clv_corpus {
    int64_t documents;
    int32_t *labels; /* 0..classes-1 in ascending order of the names, -1 for none; NULL when no document has one */
    int64_t classes;
    char **names;     /* UTF-8; names of folders that are not are taken for Latin-1 */
    clv_context *ctx; /* borrowed */
    const char **ids; /* of the documents, UTF-8: the path of a file in its folder; the "id" of a line, or its number,
                       * from 1. NULL: there are no documents */
    const char *repeated; /* the first of them that is there again; NULL: all differ */
} clv_corpus;

/* Read documents one after the other, whatever their number: the files of a folder in ascending order of their names
 * (those of a folder inside it have its name as label; names that begin with a dot are passed over), or the lines of a
 * .jsonl or .jsonl.gz file ("-": standard input), each a JSON object with a string "text" and, unless it has none, a
 * "label" that is a string or an integer, and likewise an "id". A line that is not UTF-8 is taken for Latin-1; a byte
 * order mark at the beginning is passed over. */
CLV_API clv_status clv_read_corpus(clv_context *ctx, const char *path, clv_document_hook hook, void *user,
                                   clv_corpus **out);
CLV_API void clv_corpus_free(clv_corpus *corpus);

typedef enum clv_encoding {
    CLV_ENCODING_AUTO,  /* UTF-8, and Latin-1 for documents that are not valid UTF-8 */
    CLV_ENCODING_UTF8,  /* documents that are not valid UTF-8 are refused */
    CLV_ENCODING_LATIN1 /* one byte per character; JSON that is valid UTF-8 stays so, as its standard says */
} clv_encoding;

/* Function words of a language, with blanks between: english, german, french, spanish, italian, portuguese, dutch; ""
 * for none; NULL: there is no such list. */
CLV_API const char *clv_stop_words(const char *language);

/* tf-idf. Terms are the words of two or more characters (letters and numbers of any script, and _), in lower case, or
 * some words in a row. Entry (d, t) is the number of times that t occurs in d, times ln((1 + n) / (1 + df(t))) + 1 with
 * df(t) the number of the n documents that t occurs in; rows are then divided by their 2-norm. */
typedef struct clv_tfidf_options {
    size_t size;            /* of this struct: set by the defaults */
    double min_df;          /* keep the terms of so many documents or more; below 1: a share of the documents */
    double max_df;          /* and of so many or fewer; up to 1: a share of the documents */
    int64_t max_features;   /* keep only the terms that occur most often, first in the alphabet among equals; 0: all */
    const char *stop_words; /* words that are no terms: a language of clv_stop_words, or "list" to use stop_list */
    int encoding;           /* clv_encoding */
    int64_t threads;        /* 0: as many as there are cores; the result does not depend on it */
    const char *stop_list;  /* words with blanks between, borrowed until clv_tfidf_new returns */
    int64_t memory;         /* budget in bytes for everything that the context holds; 0: half of the machine's memory */
    const char *ngrams;     /* how many words in a row make a term, stop words left out: "1", "2", "1-2", ... "9" */
    /* The terms of other documents (clv_tfidf_terms) and their idf: these alone are terms, in this order, whatever is
     * said above of which to keep. Borrowed until clv_tfidf_new returns; NULL: terms are found */
    const char *const *like;
    int64_t like_count;
    const double *like_idf;
} clv_tfidf_options;

CLV_API const clv_option_table *clv_tfidf_table(void);
static inline void clv_tfidf_defaults(clv_tfidf_options *options) {
    clv_options_init(clv_tfidf_table(), options, sizeof *options);
}

typedef struct clv_tfidf clv_tfidf;
typedef struct clv_tfidf_info {
    int64_t documents;
    int64_t empty;  /* documents without a term that was kept: rows of zeros */
    int64_t latin1; /* documents read as Latin-1 because they are not UTF-8 */
    int64_t tokens; /* occurrences of terms, also of those that were dropped */
    int64_t seen;   /* terms, before any were dropped */
    int64_t terms;  /* kept */
} clv_tfidf_info;

/* Memory grows with the terms and the nonzeros, not with the text. Add documents, then finish once. */
CLV_API clv_status clv_tfidf_new(clv_context *ctx, const clv_tfidf_options *options, clv_tfidf **out);
/* The text is copied; the label is not looked at. */
CLV_API clv_status clv_tfidf_add(clv_tfidf *tfidf, const clv_document *document);
/* documents x terms, CSR, terms in ascending order. CLV_EDATA when no term is left, or no document has one. */
CLV_API clv_status clv_tfidf_finish(clv_tfidf *tfidf, clv_data **out);
/* After finish: the terms, one per column, and their idf. */
CLV_API const char *const *clv_tfidf_terms(const clv_tfidf *tfidf, int64_t *count);
CLV_API const double *clv_tfidf_idf(const clv_tfidf *tfidf);
CLV_API void clv_tfidf_describe(const clv_tfidf *tfidf, clv_tfidf_info *out);
CLV_API void clv_tfidf_free(clv_tfidf *tfidf);

/* The best rank-d approximation of a sparse matrix, which is never filled: of X itself (truncated SVD), or of X less
 * the means of its columns (principal components). */
typedef struct clv_reduce_options {
    size_t size; /* of this struct: set by the defaults */
    int64_t dims;
    int center; /* subtract the means of the columns */
    double tol; /* residual of each eigenpair of X X' (or X' X), as a share of its eigenvalue */
    int64_t seed;
    int64_t threads;
    int64_t memory; /* budget in bytes for everything that the context holds; 0: half of the machine's memory */
} clv_reduce_options;

CLV_API const clv_option_table *clv_reduce_table(void);
static inline void clv_reduce_defaults(clv_reduce_options *options) {
    clv_options_init(clv_reduce_table(), options, sizeof *options);
}
/* points: rows x dims, the coordinates of the rows on the axes; axes (may be NULL): dims x cols, orthonormal rows, the
 * entry of largest magnitude positive, zero beyond the rank of the matrix; values (dims, may be NULL): singular values,
 * largest first. */
CLV_API clv_status clv_reduce(clv_context *ctx, const clv_matrix *sparse, const clv_reduce_options *options,
                              clv_data **points, clv_data **axes, double *values);

/* The coordinates of other rows on the same axes, less `offset` (dims), which is 0 where the matrix was not centered,
 * and else what clv_reduce_offset makes of it: the same numbers as clv_reduce has for the same rows. */
CLV_API clv_status clv_reduce_like(clv_context *ctx, const clv_matrix *sparse, const clv_matrix *axes,
                                   const double *offset, int64_t threads, clv_data **points);
CLV_API clv_status clv_reduce_offset(clv_context *ctx, const clv_matrix *sparse, const clv_matrix *axes,
                                     double *offset /* dims */);

/* Bytes that clv_reduce holds at most besides the matrix, its results included, axes not. */
CLV_API size_t clv_reduce_memory(const clv_matrix *sparse, const clv_reduce_options *options);

/* What is kept of documents that became points, so that new ones become points likewise (the terms and their idf as
 * clv_tfidf_options.like, then clv_reduce_like), and that clusters of them have terms. All of it is borrowed. */
typedef struct clv_text_model {
    const char *const *terms; /* one per column */
    const char *const *ids;   /* of the documents; NULL: none */
    clv_matrix occurrences;   /* documents x terms, CSR: which terms a document has; values may be NULL */
    clv_matrix axes;          /* dims x terms, doubles */
    const double *offset;     /* dims */
    const double *idf;        /* of the terms; not looked at when it is written: it follows from the occurrences */
    const char *ngrams;       /* as in clv_tfidf_options */
    const char *stop_list;    /* words with blanks between; never NULL */
    uint64_t points, tfidf;   /* fingerprints (clv_matrix_fingerprint): of the points, of the tf-idf; 0: not known */
} clv_text_model;
CLV_API clv_status clv_text_model_write(clv_context *ctx, const char *path, const clv_text_model *model);
/* Owned. What is damaged, or of another version, is refused. */
CLV_API clv_status clv_text_model_read(clv_context *ctx, const char *path, clv_text_model **out);
CLV_API void clv_text_model_free(clv_text_model *model);

/* What clusters of documents are about: the terms whose share of documents is higher in the cluster than outside, by
 * the log odds ratio of these shares over its standard error (docs/text.md has the formula). Labels below 0 belong to
 * no cluster and are outside of all. `documents` is CSR, documents x terms; its values are not looked at. Cluster c has
 * terms[c * top] and so on, -1 where there are no more, and their scores, the largest first. */
CLV_API clv_status clv_cluster_terms(clv_context *ctx, const clv_matrix *documents,
                                     const int32_t *labels /* one per document */, int64_t k, int64_t top,
                                     int32_t *terms /* k x top */, double *scores /* k x top */);

/* --- pictures; an alpha channel shows white below, a gray picture has three equal colors --- */

/* Shrinks by means over areas, enlarges by linear interpolation. out->samples: clv_release. */
CLV_API clv_status clv_image_resize(clv_context *ctx, const clv_image *image, int64_t width, int64_t height,
                                    clv_image *out);
/* Pixels as rows: hue, saturation and value in [0, 1]. */
CLV_API clv_status clv_image_hsv(clv_context *ctx, const clv_image *image, clv_data **out);
/* Pixels as rows: v, v s sin h, v s cos h, with the hue as an angle: near colors are near points. */
CLV_API clv_status clv_image_points(clv_context *ctx, const clv_image *image, clv_data **out);
/* Local binary patterns of the brightness, 8 neighbors at distance 1, rotation invariant and uniform: codes 0 to 9. */
enum { CLV_LBP_CODES = 10 };
CLV_API clv_status clv_image_lbp(clv_context *ctx, const clv_image *image, int64_t threads,
                                 uint8_t *codes /* height x width */);

/* A picture cut into regions 0..count-1. */
typedef struct clv_regions {
    int64_t width, height, count;
    int32_t *labels;  /* height x width */
    clv_context *ctx; /* borrowed */
} clv_regions;
CLV_API void clv_regions_free(clv_regions *regions);

/* Each pixel a region of its own. */
CLV_API clv_status clv_regions_of_pixels(clv_context *ctx, int64_t width, int64_t height, clv_regions **out);
/* Superpixels: compact pieces of one color, each connected. */
typedef struct clv_superpixel_options {
    size_t size;         /* of this struct: set by the defaults */
    int64_t superpixels; /* about so many */
    double compactness;  /* weight of nearness against color, in units of CIE Lab */
    int64_t rounds;      /* of assignment and new centers */
    int64_t threads;
} clv_superpixel_options;
CLV_API const clv_option_table *clv_superpixel_table(void);
static inline void clv_superpixel_defaults(clv_superpixel_options *options) {
    clv_options_init(clv_superpixel_table(), options, sizeof *options);
}
CLV_API clv_status clv_superpixels(clv_context *ctx, const clv_image *image, const clv_superpixel_options *options,
                                   clv_regions **out);

/* count x 3 bins: histograms of L, a and b (CIE Lab) of each region, each with sum 1. A value counts for the two bins
 * that it lies between. */
CLV_API clv_status clv_region_histograms(clv_context *ctx, const clv_image *image, const clv_regions *regions,
                                         int64_t bins, int64_t threads, clv_data **out);
/* count x CLV_LBP_CODES: shares of the codes of clv_image_lbp; the outermost pixels of the picture count only in
 * regions that have no others. */
CLV_API clv_status clv_region_textures(clv_context *ctx, const clv_image *image, const clv_regions *regions,
                                       int64_t threads, clv_data **out);
/* count x count, CSR, symmetric: the number of pairs of pixels, side by side or above each other, on a common border.
 */
CLV_API clv_status clv_region_adjacency(clv_context *ctx, const clv_regions *regions, clv_data **out);

/* Regions as points to be clustered: mean color, color histogram, texture and place side by side, each times its
 * weight (histograms as square roots, so that distances between them are Hellinger's); the place is in
 * the last two columns. */
typedef struct clv_region_weights {
    size_t size; /* of this struct: set by the defaults */
    double color, histogram, texture, place;
} clv_region_weights;
CLV_API const clv_option_table *clv_region_table(void);
static inline void clv_region_defaults(clv_region_weights *weights) {
    clv_options_init(clv_region_table(), weights, sizeof *weights);
}
CLV_API clv_status clv_region_points(clv_context *ctx, const clv_image *image, const clv_regions *regions,
                                     const clv_region_weights *weights, int64_t threads, clv_data **out);

/* Similarities of regions that lie near each other: exp(-d^2 / (2 (sigma m)^2)) for points (one row of `points` per
 * region) at distance d, of regions that are at most `reach` steps apart across common borders; m is the median
 * distance of pairs of points (of a sample, where there are many). count x count, CSR, with 1 on the diagonal: for
 * CLV_AFFINITY_PRECOMPUTED. */
CLV_API clv_status clv_region_similarity(clv_context *ctx, const clv_regions *regions, const clv_matrix *points,
                                         int64_t reach, double sigma, clv_data **out);

/* Labels of pixels made whole: connected pieces of fewer than `least` pixels, and pieces with label -1 of any size when
 * `fill` is set, go to the neighbor with the longest common border. */
CLV_API clv_status clv_labels_tidy(clv_context *ctx, int64_t width, int64_t height, int64_t least, int fill,
                                   int32_t *labels /* height x width */);
/* The picture with the borders between different labels drawn on it, as RGB. out->samples: clv_release. */
CLV_API clv_status clv_image_overlay(clv_context *ctx, const clv_image *image,
                                     const int32_t *labels /* height x width */, clv_image *out);
/* The same picture with each segment painted in its mean color, as RGB; pixels without a label are black. */
CLV_API clv_status clv_image_fill(clv_context *ctx, const clv_image *image, const int32_t *labels /* height x width */,
                                  clv_image *out);
/* A picture of labels: .npy (int32, height x width), or .png in as many colors as there are labels: a palette, so that
 * the samples are the labels (at most 255 of them); 255, black, is -1. */
CLV_API clv_status clv_write_label_colors(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                          const int32_t *labels);
/* The same with a 16-bit gray .png, where -1 is 65535: nothing to look at, but room for all labels below that. */
CLV_API clv_status clv_write_label_image(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                         const int32_t *labels);

/* ------------------------------------------------------------------------------------------------------------
 * 5  Affinities: a symmetric, nonnegative operator over n objects, whatever its home
 */

typedef enum clv_affinity_kind {
    CLV_AFFINITY_GAUSSIAN,    /* exp(-gamma d^2) */
    CLV_AFFINITY_EXPONENTIAL, /* exp(-gamma d), d Euclidean */
    CLV_AFFINITY_COSINE,      /* 1 + cos */
    CLV_AFFINITY_DISTANCE,    /* max(D) - D */
    CLV_AFFINITY_MINIMAX,     /* max(P) - P, P the minimax path distances */
    CLV_AFFINITY_KNN,         /* nearest neighbor graph, symmetrized by max; 1, or exp(-gamma d^2) if gamma is given */
    CLV_AFFINITY_PRECOMPUTED, /* given */
    CLV_AFFINITY_LOCAL, /* exp(-gamma d^2 / (s_i s_j)), s_i the distance of i to the last of its `neighbors` nearest */
    CLV_AFFINITY_LOCAL_KNN, /* the same where either object is among the 2 `neighbors` nearest of the other, else 0 */
    CLV_AFFINITY_AUTO       /* the one that suits the points, by clv_choose_affinity; without that, gaussian */
} clv_affinity_kind;

typedef enum clv_home {
    CLV_HOME_AUTO,     /* one with cheap products if there is one, else the first that fits the budget */
    CLV_HOME_DENSE64,  /* n^2 doubles */
    CLV_HOME_DENSE32,  /* n^2 floats; sums are in double */
    CLV_HOME_COMPUTED, /* entries computed from the points when needed */
    CLV_HOME_SPARSE,   /* CSR */
    CLV_HOME_LOWRANK,  /* F F' with n x r F */
    CLV_HOME_CUDA      /* on a graphics card, by the plugin libcleave_cuda.so; AUTO takes it where there is a card and a
                          pass over all pairs takes long */
} clv_home;

/* How the neighbors of knn are found. An approximate search misses some; the same ones every time, on any number of
 * threads. */
typedef enum clv_search { CLV_SEARCH_AUTO, CLV_SEARCH_EXACT, CLV_SEARCH_APPROXIMATE } clv_search;

/* How the kind CLV_AFFINITY_AUTO became the one that was taken: it was named; candidates were compared on a sample; all
 * pairs had no room; no sample was large enough; gamma, landmarks or home, which are about a gaussian one, were given.
 */
typedef enum clv_affinity_choice {
    CLV_CHOICE_NAMED,
    CLV_CHOICE_COMPARED,
    CLV_CHOICE_NO_ROOM,
    CLV_CHOICE_FEW_OBJECTS,
    CLV_CHOICE_GIVEN
} clv_affinity_choice;

typedef struct clv_affinity_options {
    size_t size;       /* of this struct: set by the defaults */
    int kind;          /* clv_affinity_kind */
    double gamma;      /* above 0; NaN: auto. With m the median distance over sampled pairs of objects, gaussian takes
                          1 / (2 m^2) and exponential 1 / m; local takes 1; knn has weights 1. */
    int64_t neighbors; /* knn, local */
    int zero_diagonal;
    int symmetrize;  /* of a given affinity A take (A + A')/2, in a copy */
    double least;    /* not an option on the command line: the least similarity that a given affinity may have off the
                        diagonal (and on it, unless that is zeroed); below 0 only for methods that can do with it */
    int home;        /* clv_home; AUTO chooses by the budget */
    int64_t memory;  /* budget in bytes for everything that the context holds; 0: half of the machine's memory */
    int64_t threads; /* 0: as many as there are cores */
    int search;      /* clv_search, for knn; AUTO: exact up to n^2 columns = 1e11 */
    int64_t looks;   /* not an option on the command line: the similarities of about so many objects will be looked at;
                        with   home AUTO a small part of all is computed as needed. 0: all */
    int64_t landmarks; /* gaussian and exponential, 0: none. So many objects, chosen by a rule with a fixed seed, stand
                          for all (Nystrom): F F' of this rank at most, but a diagonal of 1. Entries may lie a little
                          below 0, row sums do not. */
    int64_t
        chosen_on; /* not on the command line: set by clv_choose_affinity to the objects that it looked at; 0: none */
    double agreement[3];   /* likewise: how the clusters by gaussian, local and local-knn agree with those by the other
                              two, the mean of their adjusted Rand indices */
    int64_t device_memory; /* budget in bytes on the card, home cuda; 0: what is free there, but for a tenth */
    int64_t choice;        /* not on the command line: set by clv_choose_affinity, a clv_affinity_choice */
} clv_affinity_options;

CLV_API const clv_option_table *clv_affinity_table(void);
static inline void clv_affinity_defaults(clv_affinity_options *options) {
    clv_options_init(clv_affinity_table(), options, sizeof *options);
}

typedef struct clv_affinity clv_affinity;

/* What it takes to look at an affinity, in numbers read or operations on them: methods choose how they work by this. */
typedef struct clv_affinity_cost {
    double entry;  /* of one entry by itself */
    double column; /* of a column, as it is added to sums: of a sparse one, its edges */
    double pass;   /* of a pass over A: a product with a vector */
    int resident;  /* entries lie in memory, or in a mapped file: to look again takes no computation */
} clv_affinity_cost;

typedef struct clv_affinity_info {
    clv_affinity_kind kind;
    double gamma;     /* as used; NaN where there is none */
    const char *home; /* the name of its home */
    int64_t n;
    int64_t nonzeros; /* entries stored, or n^2 */
    int sparse;       /* other entries than these are 0, and cost nothing */
    size_t bytes;     /* held by this operator beyond the borrowed points */
    size_t peak;      /* the most held while it was made */
    clv_affinity_cost cost;
    double recall; /* knn by an approximate search: the share of the nearest that was found, on a sample; else NaN */
    int64_t landmarks;    /* that stand for all objects, as many as were needed; 0: entries are exact */
    double trace_error;   /* with landmarks, the share of the trace that F F' has not */
    double sampled_error; /* and the error of the entries beside the diagonal as a share of them, both as the root of
                             the sum of squares: of all pairs, or of a sample */
    int64_t chosen_on;    /* of a kind that was chosen, as in the options */
    double agreement[3];
    int on_card; /* a graphics card computes it: what a small sample takes says nothing of all */
    int choice;  /* a clv_affinity_choice */
} clv_affinity_info;
/* Why the kind of an affinity was chosen, as a sentence into `text`; "" if it was named. */
CLV_API void clv_affinity_reason(const clv_affinity_info *info, char *text, size_t size);

/* What clv_affinity_build would make and hold, without making it. */
CLV_API clv_status clv_affinity_plan(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                                     clv_affinity_info *out);
/* An affinity of points (borrowed until clv_affinity_free), dense or sparse. With kind PRECOMPUTED, `points` is the
 * n x n similarity itself, borrowed (copied, to symmetrize it), and checked: square, finite, not below options->least,
 * symmetric to rounding. */
CLV_API clv_status clv_affinity_build(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                                      clv_affinity **out);
/* F F' for an n x r dense F (borrowed); entries must come out nonnegative (not checked). */
CLV_API clv_status clv_affinity_lowrank(clv_context *ctx, const clv_matrix *factor, const clv_affinity_options *options,
                                        clv_affinity **out);
/* The operator on the objects active[0..m-1] of `base` (borrowed, as is `active`), without a copy of it. */
CLV_API clv_status clv_affinity_restrict(const clv_affinity *base, const int64_t *active, int64_t m,
                                         clv_affinity **out);
CLV_API void clv_affinity_free(clv_affinity *a);
CLV_API void clv_affinity_describe(const clv_affinity *a, clv_affinity_info *out);
/* "auto", "dense-f64", "dense-f32", "computed", "sparse", "low-rank", "cuda"; kinds: "gaussian", ...; "?": there is no
 * such. */
CLV_API const char *clv_home_name(clv_home home);
CLV_API const char *clv_affinity_kind_name(clv_affinity_kind kind);

/* The operator. `threads` as in the options; results do not depend on it. Objects and labels outside of their range are
 * refused (CLV_EUSAGE). */
CLV_API int64_t clv_affinity_size(const clv_affinity *a);
CLV_API clv_status clv_affinity_column(const clv_affinity *a, int64_t i, double *out /* n */);
CLV_API clv_status clv_affinity_apply(const clv_affinity *a, const double *x /* k x n */, int64_t k,
                                      double *y /* k x n */, int64_t threads);
/* y[i] = sum of weights[j] a_{i, objects[j]} over j = 0..count-1: a few columns at once, for methods whose vectors have
 * few nonzeros. Objects may come more than once, weights may be negative. */
CLV_API clv_status clv_affinity_combine(const clv_affinity *a, const int64_t *objects, const double *weights,
                                        int64_t count, double *y /* n */, int64_t threads);
/* y[c * n + i] = sum of a_ij over the j with labels[j] = c; labels below 0 count nowhere. */
CLV_API clv_status clv_affinity_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k,
                                           double *y /* k x n */, int64_t threads);
/* Bring such sums up to date when object i goes from one label to another (-1: to or from nowhere). */
CLV_API clv_status clv_affinity_move(const clv_affinity *a, int64_t i, int32_t from, int32_t to, double *y /* k x n */);
/* Sums of rows. By a factor and with a diagonal of zeros, what is less than 2^-28 of the largest |f|^2 is 0, and such
 * objects are in the sums of no other. */
CLV_API clv_status clv_affinity_degrees(const clv_affinity *a, double *out /* n */, int64_t threads);
CLV_API clv_status clv_affinity_diagonal(const clv_affinity *a, double *out /* n */);
CLV_API clv_status clv_affinity_entry(const clv_affinity *a, int64_t i, int64_t j, double *out);
/* Connected components by positive similarity: component[i] of 0..count-1 in order of their first objects. Objects of
 * degree 0 get -1 and do not count. */
CLV_API clv_status clv_affinity_components(const clv_affinity *a, int32_t *component /* n */, int64_t *count);
/* Bring sums up to date for many objects at once: each i of objects[0..count-1] goes from label before[i] to after[i]
 * (both arrays are of all n objects). The result is that of clv_affinity_move on one after the other (home cuda: to
 * rounding). */
CLV_API clv_status clv_affinity_move_many(const clv_affinity *a, const int64_t *objects, const int32_t *before /* n */,
                                          const int32_t *after /* n */, int64_t count, double *y /* k x n */,
                                          int64_t threads);
/* Similarities of new points, `fresh` (m x p, scaled like the old ones: clv_data_scale_both), to the n points that `a`
 * was built of: m x n, owned, if that fits the budget of its options. By the formula of the kind, with gamma as used
 * for `a`; distance: max(D) is that of the old points, and what lies further away has similarity 0; knn (CSR): to the
 * nearest `neighbors` old points; local: the scale of a
 * new point is its distance to the last of its `neighbors` nearest old ones. Minimax and given affinities cannot be
 * extended to new points. */
CLV_API clv_status clv_affinity_cross(const clv_affinity *a, const clv_matrix *fresh, clv_data **out);
/* The gamma at which a gaussian, exponential or local affinity of these points has this mean over all n^2 pairs (an
 * object with itself counts 1, or 0 with zero_diagonal), to 1e-11 relative; where none has, that of the rule `auto`.
 * Costs a few passes over all pairs and a copy of the points. With landmarks, the mean is that over a sample of 65536
 * pairs. */
CLV_API clv_status clv_affinity_calibrate(clv_context *ctx, const clv_matrix *points,
                                          const clv_affinity_options *options, double mean, double *gamma);
/* The operator as a matrix: CSR for a sparse home, else dense. The values of a dense or sparse home are borrowed from
 * `a`; other homes are written out, if that fits the budget of the options `a` was made with. */
CLV_API clv_status clv_affinity_materialize(const clv_affinity *a, clv_data **out);
/* Some of its rows, first..first + count - 1: count x n. The same bits whichever come with them. */
CLV_API clv_status clv_affinity_rows(const clv_affinity *a, int64_t first, int64_t count, double *out);

/* ------------------------------------------------------------------------------------------------------------
 * 6  Results: a core that all methods have, and fields with a name, a kind and a shape
 */

typedef enum clv_stop {
    CLV_CONVERGED,       /* the method's stopping rule holds */
    CLV_STALLED,         /* no further progress, rule not met */
    CLV_ITERATION_LIMIT, /* max_iter */
    CLV_TIME_LIMIT,      /* time_limit */
    CLV_CANCELLED        /* the monitor or the interrupt hook */
} clv_stop;

CLV_API const char *clv_stop_name(clv_stop stop); /* "converged", "stalled", "iteration limit", ... */

typedef struct clv_objective {
    const char *name;
    double value; /* recomputed from the data at the end of the run */
    int maximize;
} clv_objective;

typedef struct clv_certificate {
    const char *name;
    double value;     /* recomputed from the data at the end of the run */
    double tolerance; /* the claim: value <= tolerance */
    int holds;
} clv_certificate;

typedef struct clv_bound {
    const char *name; /* NULL: none */
    double value;
} clv_bound;

typedef struct clv_restart {
    double objective;
    int64_t iterations;
    double seconds;
    clv_stop stop;
} clv_restart;

/* Columns of a trace that a method may add: their names are in the result. */
enum { CLV_TRACE_EXTRAS = 4 };

typedef struct clv_trace_row {
    int64_t restart;
    int64_t part; /* the cluster or model that the row is about, where a method finds one after the other; else 0 */
    int64_t iteration;
    double seconds, objective, certificate;
    double extra[CLV_TRACE_EXTRAS];
} clv_trace_row;

typedef enum clv_field_kind {
    CLV_FIELD_INTEGER, /* int64_t */
    CLV_FIELD_REAL,    /* double */
    CLV_FIELD_TEXT,    /* const char * */
    CLV_FIELD_MATRIX,  /* a matrix; in JSON an array of its rows */
    CLV_FIELD_SPARSE   /* a matrix, dense or CSR, most of it zeros; in JSON the lists of its CSR form */
} clv_field_kind;

/* One field of a result: "centers", "eigenvalues". A dot in the name makes it a column of a table: "clusters.size" and
 * "clusters.stop" have an entry per cluster, and are the members "size" and "stop" of the objects "clusters" in JSON.
 * The member of its kind is set, the others are NULL. */
typedef struct clv_field {
    const char *name;
    clv_field_kind kind;
    int is_list;   /* a list of `count` entries, as opposed to a single value; matrices: 0 */
    int64_t count; /* entries; single values and matrices: 1 */
    const int64_t *integers;
    const double *reals; /* NaN: not known */
    const char *const *texts;
    const clv_matrix *matrix;
} clv_field;

/* Everything that a run found. Owned; read it, then clv_result_free. */
typedef struct clv_result {
    const char *method; /* NULL in a result that a program made */
    char solver[32];
    int64_t n, k;
    int64_t seed;
    clv_objective objective;
    clv_certificate certificate;
    clv_bound bound;
    clv_stop stop;      /* of the restart returned, or the limit that cut the run short */
    int64_t iterations; /* of the restart returned */
    double seconds;     /* all restarts */
    double drift;       /* relative difference between the value carried along and the one recomputed */
    int64_t restarts_count;
    clv_restart *restarts;
    int64_t trace_count;
    clv_trace_row *trace;                       /* NULL unless keep_trace */
    const char *trace_part;                     /* what `part` of its rows counts: "cluster", "model"; NULL: nothing */
    const char *trace_extras[CLV_TRACE_EXTRAS]; /* what `extra` of its rows holds; NULL: nothing */
    int32_t *labels;                            /* n; NULL: the method gives none */
    int64_t *sizes;                             /* k; NULL without labels */
    int64_t left_out;                           /* objects with label -1 */
    int64_t fields_count;
    clv_field *fields;
    struct clv_field_store *store; /* the library's own */
    clv_context *ctx;              /* borrowed */
} clv_result;

CLV_API void clv_result_free(clv_result *result);

/* The field called `name`, or NULL. */
CLV_API const clv_field *clv_result_field(const clv_result *result, const char *name);
/* Shorter, for fields of one kind: the first entry, or `otherwise` where there is no such field; lists and matrices, or
 * NULL. */
CLV_API double clv_result_real(const clv_result *result, const char *name, double otherwise);
CLV_API int64_t clv_result_integer(const clv_result *result, const char *name, int64_t otherwise);
CLV_API const char *clv_result_text(const clv_result *result, const char *name);
CLV_API const double *clv_result_reals(const clv_result *result, const char *name, int64_t *count);
CLV_API const int64_t *clv_result_integers(const clv_result *result, const char *name, int64_t *count);
CLV_API const clv_matrix *clv_result_matrix(const clv_result *result, const char *name);

/* A result of one's own, to have it evaluated: room for n labels, all -1, and k sizes (n = 0: no labels). It cannot be
 * reported, nor can a prediction: reports are about runs and evaluations. */
CLV_API clv_status clv_result_new(clv_context *ctx, int64_t n, int64_t k, clv_result **out);
/* Add a field, or replace the one of that name. Everything is copied. */
CLV_API clv_status clv_result_put(clv_result *result, const clv_field *field);
/* One more sentence for the user: the texts "warnings". */
CLV_API clv_status clv_result_add_warning(clv_result *result, const char *sentence);

/* ------------------------------------------------------------------------------------------------------------
 * 7  Methods
 *
 * A method is one description: what it solves, what it takes, its options, what it gives, what its certificate says,
 * and the functions that do it. clv_methods lists them; the command, the reports, the verification and the language
 * bindings know methods by that list alone. All have the same five functions, for ncut as for any other:
 *
 *   clv_ncut_defaults(&options)                                     the options, with their defaults
 *   clv_ncut(ctx, &input, &options, &result)                        solve
 *   clv_ncut_evaluate(ctx, &input, &options, answer, &found)        objective and certificate of an answer
 *   clv_ncut_predict(ctx, &input, &options, result, &fresh, &out)   labels of new objects
 *   clv_ncut_memory(&input, &options)                               bytes that solve would hold besides its input
 *
 * They are the functions below with the method named "ncut". Options begin with a clv_control, which holds the size of
 * the struct as the program was compiled: a library with more options than that takes the defaults for the others, so
 * options must come from the defaults function.
 */

/* What a method works on; members that the method does not take stay NULL. All borrowed. */
typedef struct clv_input {
    const clv_affinity *affinity; /* methods on similarities; made in the context of the call */
    const clv_matrix *points;     /* methods on points: one object per row; on samples: one sample per row */
    const clv_matrix *targets;    /* methods on samples: one number per sample, dense doubles, one column */
    const clv_matrix *weights;    /* methods that can weigh objects: one per object, not negative; NULL: all 1 */
    const clv_matrix *start;      /* where to start, instead of at options.start; the description says what it holds */
    const clv_matrix *validation; /* methods that choose among models: samples to choose on, laid out as `points` */
    const clv_matrix *validation_targets;
    const clv_affinity_info *plan; /* for memory: an affinity that is not built yet; only n known: leave out the rest */
    const clv_matrix *object_alpha;     /* kpalm: a factor of alpha per object, more than 0 */
    const clv_matrix *start_membership; /* kpalm: n x k, rows that add up to 1 */
    const clv_matrix *widths; /* consensus: points are memberships, so many columns for each of its inputs; one row */
    const void *room[1];      /* for later versions: NULL */
} clv_input;

/* New objects; methods on similarities take either. Both borrowed. */
typedef struct clv_fresh {
    const clv_matrix *points;       /* one object per row, scaled like the old ones (clv_data_scale_both) */
    const clv_matrix *similarities; /* to the objects that were clustered: new x old, dense or CSR */
} clv_fresh;

typedef enum clv_takes {
    CLV_TAKES_AFFINITY,
    CLV_TAKES_POINTS,
    CLV_TAKES_SAMPLES,
    CLV_TAKES_PARTITIONS /* input.points: a column of labels for each of several clusterings of the objects */
} clv_takes;

/* What else a method can do with its input: bits. */
enum {
    CLV_WEIGHS_OBJECTS = 1, /* input.weights */
    CLV_STARTS_GIVEN = 2,   /* input.start */
    CLV_READS_IN_ORDER = 4, /* points are read from the first to the last: they may stay in a mapped file */
    CLV_VALIDATES = 8,      /* input.validation */
    CLV_CHECKPOINTS = 16,   /* clv_context_set_checkpoint: all of its iterations are the driver's */
    CLV_SPREADS = 32        /* its work is shared by the processes that joined; else one of them does it all */
};

/* What the option k stands for. */
typedef enum clv_k_meaning { CLV_K_CLUSTERS, CLV_K_AT_MOST, CLV_K_OF_NORM } clv_k_meaning;

/* What a field of a result is to a verification. */
typedef enum clv_field_role {
    CLV_ANSWER,  /* part of the answer: objective and certificate are recomputed from it */
    CLV_DERIVED, /* follows from the answer and the data: recomputed by evaluate, and compared */
    CLV_STATED   /* reported by the run: nothing is derived from it */
} clv_field_role;

/* How far a derived number may lie from the recomputed one: `slack` times this. An entry of a list besides by what
 * evaluate gives for it in a list of the same name and "_rounding". */
typedef enum clv_field_unit {
    CLV_UNIT_ONE,      /* 1 + |number| */
    CLV_UNIT_OWN,      /* |number| */
    CLV_UNIT_OBJECTIVE /* |objective| */
} clv_field_unit;

typedef struct clv_field_info {
    const char *name;
    clv_field_kind kind;
    /* "": one value; "n", "k", "models": a list; "n x k": a matrix. n and k are those of the result. */
    const char *shape;
    clv_field_role role;
    double slack; /* derived numbers; 0: they must be equal */
    clv_field_unit unit;
    const char *help; /* one line */
} clv_field_info;

typedef struct clv_method {
    const char *name;
    const char *summary;  /* what it solves, in one line */
    const char *about;    /* a paragraph: the problem, and what its certificate says */
    const char *examples; /* arguments of the command, one example per line */
    clv_takes takes;
    unsigned abilities;      /* CLV_WEIGHS_OBJECTS and others */
    const char *starts;      /* names that options.start may have: "auto|random|spectral"; NULL: it has no starts */
    const char *start_holds; /* "labels", "memberships", ...: what input.start holds; NULL: it takes none */
    const clv_option_table *options;
    clv_k_meaning k_meaning;
    const clv_field_info *gives; /* "labels" among them where it gives labels; in the order of reports */
    size_t gives_count;
    const char *predicts;  /* what a prediction has: "labels", "labels|membership"; NULL: there are none */
    const char *objective; /* its name */
    int maximize;
    const char *certificate;  /* its name, */
    const char *holds, *open; /* and what it says when it holds, and when it does not, as sentences */
    int relative;             /* the certificate is in units of the objective, and so is what may differ in it */
    const char *bound;        /* the name of its bound; NULL: it has none */

    /* The functions take the method's own options at their full size, checked against the table. */
    clv_status (*check)(clv_context *ctx, const void *options); /* options against each other; NULL: any go together */
    /* How many objects these points are; NULL: one per row. */
    int64_t (*objects)(const clv_matrix *points, const void *options);
    /* Decide which affinity suits the points where the kind is CLV_AFFINITY_AUTO; NULL: gaussian. */
    clv_status (*choose)(clv_context *ctx, const clv_matrix *points, const void *options, clv_affinity_options *how);
    /* Set what the method asks of its affinity where the options leave it open; NULL: nothing. */
    clv_status (*suit)(clv_context *ctx, const clv_matrix *points, const void *options, clv_affinity_options *how);
    size_t (*memory)(const clv_input *input, const void *options);
    clv_status (*solve)(clv_context *ctx, const clv_input *input, const void *options, clv_result **out);
    clv_status (*evaluate)(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                           clv_result *found);
    clv_status (*predict)(clv_context *ctx, const clv_input *input, const void *options, const clv_result *result,
                          const clv_fresh *fresh, clv_result **out); /* NULL: it cannot label new objects */
} clv_method;

/* All methods, in the order of the documentation. */
CLV_API const clv_method *const *clv_methods(size_t *count);
/* The method called `name`, or NULL. */
CLV_API const clv_method *clv_method_find(const char *name);
/* What a method says of its field `name`; NULL: it gives none. */
CLV_API const clv_field_info *clv_method_gives(const clv_method *method, const char *name);
/* The sentence of a certificate: what it proves, or that it does not. */
CLV_API const char *clv_certificate_sentence(const clv_method *method, const clv_certificate *certificate);

/* Defaults into a struct of `size` bytes that begins with a clv_control. */
CLV_API void clv_method_defaults(const clv_method *method, void *options, size_t size);
/* Whether the options are in range and go together; solve asks this first. */
CLV_API clv_status clv_method_check(clv_context *ctx, const clv_method *method, const void *options);
/* Run the method. The result is there unless the status is below zero; whether it converged is in result->stop. */
CLV_API clv_status clv_solve(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                             clv_result **out);
/* A rough result of a method on similarities, without them: when the time limit passes or the hook asks while the
 * affinity is built, this is what is left, and clv_solve itself returns it where there is no time for a first start.
 * Labels are those of input->start (one column of labels), else of k-means on input->points in whatever time is left,
 * else at random for input->plan->n objects. Objective and certificate are NaN: nothing is claimed. Of k = auto there
 * are 2 clusters, of dominant's "all" one. */
CLV_API clv_status clv_solve_roughly(clv_context *ctx, const clv_method *method, const clv_input *input,
                                     const void *options, clv_result **out);
/* Objective, certificate and derived fields of an answer, from the input alone. Of the answer the labels, k, the stop
 * and the fields of the role CLV_ANSWER are looked at. CLV_EDATA: no run can have given this answer. */
CLV_API clv_status clv_evaluate(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                                const clv_result *answer, clv_result **found);
/* Labels of new objects, and what else the method says of them: memberships, values, scores. `result` may come from a
 * run or from a file; `input` and `options` are those of the run. CLV_EUSAGE where the method cannot label them. */
CLV_API clv_status clv_predict(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                               const clv_result *result, const clv_fresh *fresh, clv_result **out);
/* Bytes that clv_solve would hold besides its input; of an affinity that is not built yet, see clv_input.plan. 0: an
 * option is out of its range, or there is neither what the method takes nor a plan of it. */
CLV_API size_t clv_memory(const clv_method *method, const clv_input *input, const void *options);
/* Of the kind CLV_AFFINITY_AUTO, the one that suits these points and the method takes its place in `how`, with the
 * figures that speak for it; other kinds stay. ncut cuts a sample under three candidates; the others take gaussian. */
CLV_API clv_status clv_choose_affinity(clv_context *ctx, const clv_method *method, const clv_matrix *points,
                                       const void *options, clv_affinity_options *how);
/* The same, and what the method asks of its affinity where `how` leaves it open: a diagonal of zeros, a gamma that
 * suits k. */
CLV_API clv_status clv_suit_affinity(clv_context *ctx, const clv_method *method, const clv_matrix *points,
                                     const void *options, clv_affinity_options *how);

/* Runs for every k from `least` to `most`, and the result of the k that they suggest, by a rule that looks at the
 * agreement of runs on subsamples, the silhouette and the gaps between eigenvalues (docs/cli.md). It has the table
 * "k_table": k, objective, gap_percent, eigengap, silhouette, stability, spread, seconds (NaN: not known), and the
 * sentence "k_reason". input->points are points, labels, or with `how` of the kind PRECOMPUTED similarities; `how` says
 * how affinities are built, NULL for methods that take none. `*affinity` (owned) is that of the result, or NULL. The
 * time limit of the options is for all of it: cut short, the choice is among the rows that were reached;
 * before the first of an affinity, the result is that of clv_solve_roughly for the smallest k, with `*affinity` NULL.
 */
CLV_API clv_status clv_solve_range(clv_context *ctx, const clv_method *method, const clv_input *input,
                                   const void *options, int64_t least, int64_t most, const clv_affinity_options *how,
                                   clv_affinity **affinity, clv_result **out);

/* The five functions of one method, with the types of its own. */
#define CLV_METHOD_FUNCTIONS(name_)                                                                                    \
    static inline void clv_##name_##_defaults(clv_##name_##_options *options) {                                        \
        clv_method_defaults(clv_method_find(#name_), options, sizeof *options);                                        \
    }                                                                                                                  \
    static inline clv_status clv_##name_(clv_context *ctx, const clv_input *input,                                     \
                                         const clv_##name_##_options *options, clv_result **out) {                     \
        return clv_solve(ctx, clv_method_find(#name_), input, options, out);                                           \
    }                                                                                                                  \
    static inline clv_status clv_##name_##_evaluate(clv_context *ctx, const clv_input *input,                          \
                                                    const clv_##name_##_options *options, const clv_result *answer,    \
                                                    clv_result **found) {                                              \
        return clv_evaluate(ctx, clv_method_find(#name_), input, options, answer, found);                              \
    }                                                                                                                  \
    static inline clv_status clv_##name_##_predict(clv_context *ctx, const clv_input *input,                           \
                                                   const clv_##name_##_options *options, const clv_result *result,     \
                                                   const clv_fresh *fresh, clv_result **out) {                         \
        return clv_predict(ctx, clv_method_find(#name_), input, options, result, fresh, out);                          \
    }                                                                                                                  \
    static inline size_t clv_##name_##_memory(const clv_input *input, const clv_##name_##_options *options) {          \
        return clv_memory(clv_method_find(#name_), input, options);                                                    \
    }

/* ncut: minimize 1/2 sum_c cut(c, rest) / vol(c) over partitions into k nonempty clusters. Objects without any
 * similarity (degree 0) are left out: label -1. */
typedef enum clv_ncut_solver {
    CLV_NCUT_FPC,         /* fractional programming */
    CLV_NCUT_SPECTRAL,    /* eigenvectors of the normalized affinity, rounded */
    CLV_NCUT_FINC,        /* quadratic transform, objects in turn */
    CLV_NCUT_FCD,         /* exact moves of single objects, in turn */
    CLV_NCUT_DINKELBACH,  /* k = 2: Dinkelbach's transform, objects in turn */
    CLV_NCUT_FINC_AT_ONCE /* quadratic transform, all objects at once: for comparison */
} clv_ncut_solver;
typedef enum clv_ncut_rounding { CLV_NCUT_KMEANS, CLV_NCUT_ROTATION } clv_ncut_rounding;
typedef enum clv_ncut_shift {
    CLV_NCUT_SHIFT_NONE,
    CLV_NCUT_SHIFT_PAPER, /* -lambda_min(W) / min degree */
    CLV_NCUT_SHIFT_TIGHT  /* -lambda_min(D^-1/2 W D^-1/2) */
} clv_ncut_shift;
typedef enum clv_ncut_bound { CLV_NCUT_BOUND_AUTO, CLV_NCUT_BOUND_YES, CLV_NCUT_BOUND_NO } clv_ncut_bound;

typedef struct clv_ncut_options {
    clv_control control;
    int64_t k;         /* 0: chosen by the gaps between eigenvalues, 2 to 20 */
    int solver;        /* clv_ncut_solver */
    const char *start; /* "random", "spectral", "kmeans++"; "auto": spectral for sparse affinities, else random.
                          input.start: labels 0..k-1, n x 1 (-1 for objects of degree 0) */
    int rounding;      /* clv_ncut_rounding, of spectral labels */
    int polish;        /* go on to a partition that no single move improves, and search from there */
    int64_t patience;  /* the search ends after so many kicks in a row without gain; 0: no search; -1: it goes on until
                          a limit, the monitor or the hook ends it */
    int shift;         /* clv_ncut_shift, of fpc on indefinite affinities */
    int bound;         /* clv_ncut_bound; AUTO: not where entries are computed: it costs many passes over A */
} clv_ncut_options;

CLV_METHOD_FUNCTIONS(ncut)
/* New objects go to the cluster with the largest score of formula (28) of the FPC paper, ties go to the smaller label;
 * -1 for an object that is similar to none. Objects with label -1 count nowhere. */

/* symnmf: minimize f(W) = 1/4 |P - W W'|^2 over memberships W (n x k) whose rows lie on the simplex. Labels are the
 * largest memberships. The certificate is the Frank-Wolfe gap, 0 exactly at KKT points; a run stops when it is at most
 * tol * max(f, 1e-6 |P|^2 / 4), where tol is 1e-4 unless given. */
typedef enum clv_symnmf_solver {
    CLV_SYMNMF_ROWS,     /* objects in turn, exact pairwise moves of each, over-relaxed */
    CLV_SYMNMF_FW,       /* Frank-Wolfe */
    CLV_SYMNMF_PAIRWISE, /* pairwise Frank-Wolfe on all rows at once */
    CLV_SYMNMF_PGD,      /* projected gradient with backtracking */
    CLV_SYMNMF_SPG,      /* spectral projected gradient, exact line search */
    CLV_SYMNMF_PENALTY,  /* quadratic penalties instead of constraints */
    CLV_SYMNMF_AUTO      /* spg for 100,000 objects or more on a card, from one start; else rows */
} clv_symnmf_solver;
typedef enum clv_symnmf_step {
    CLV_SYMNMF_CURVATURE, /* min(Frank-Wolfe gap / C, 1), C = 2 n (3 n + |P|_2) */
    CLV_SYMNMF_EXACT      /* the least point of the quartic along the step */
} clv_symnmf_step;

typedef struct clv_symnmf_options {
    clv_control control;
    int64_t k;
    int solver;        /* clv_symnmf_solver */
    const char *start; /* "spectral", "random", "kmeans++". input.start: memberships, n x k with rows on the simplex and
                          not all of them 1 / k; or labels -1..k-1, n x 1, softened: a fifth goes to all clusters */
    int step;          /* clv_symnmf_step, of fw */
    int64_t moves;     /* pairwise moves per row, of rows; 0: 10, and more for more than 20 clusters */
    double change;     /* a run ends also where f changes by less than this in an iteration; 0: never */
    double sum_weight, sign_weight; /* of penalty: the first weights of |W 1 - 1|^2 and |min(W, 0)|^2 */
} clv_symnmf_options;

CLV_METHOD_FUNCTIONS(symnmf)
/* New objects get memberships, the exact solution of min |s - W w|^2 over the simplex, with s their similarities to the
 * old ones and W the memberships of those: the field "membership" of the prediction. */
/* The mean similarity that suits k clusters, 0.8 / k: for clv_affinity_calibrate. */
CLV_API double clv_symnmf_mean(int64_t k);

/* dominant: maximize f(x) = x'Ax + shift (1 - x'x) over the simplex, the support of x is a cluster; peel it off and
 * go on with the rest. The similarity of an object to itself counts as 0, whatever the affinity holds. Objects in no
 * cluster have the label -1. */
typedef enum clv_dominant_solver {
    CLV_DOMINANT_FW,  /* Frank-Wolfe: never takes an object out of the support again */
    CLV_DOMINANT_PFW, /* pairwise steps */
    CLV_DOMINANT_AFW, /* away steps: infection and immunization dynamics */
    CLV_DOMINANT_RD   /* replicator dynamics: one product with A per step */
} clv_dominant_solver;
typedef enum clv_dominant_sampling { CLV_DOMINANT_UNIFORM, CLV_DOMINANT_DPP } clv_dominant_sampling;

typedef struct clv_dominant_options {
    clv_control control;     /* tol NaN: 1e-6; the claim: Frank-Wolfe gap <= tol x'Ax */
    int64_t k;               /* the most clusters to peel; 0: until nothing similar is left */
    int solver;              /* clv_dominant_solver */
    const char *start;       /* "vertex": the object most similar to the rest (on computed and low-rank homes of more
                                than 4096 objects: to a sample of 256); "center": all weights equal; "random": a random
                                object; "auto": center for rd, else vertex. input.start: weights of the first
                                cluster, n x 1, not negative; the others start as by default */
    double shift;            /* alpha >= 0, added to all similarities off the diagonal: larger clusters; NaN: the one at
                                which the first of k clusters has about n / k members ("shift" of the result), 0
                                without k */
    double cutoff;           /* objects of weight above this are members; NaN: 2e-12, for rd 1e-3 / objects left */
    int64_t min_size;        /* peeling ends at a cluster of fewer members, */
    double min_cohesiveness; /* or of a smaller x'Ax */
    int assign;              /* in the end, the others go to the cluster of the largest mean similarity */
    double absorb;           /* theta > 0: objects with (Ax)_i >= theta x'Ax join the cluster before it is peeled */
    int face_solve;          /* jump to the stationary point of a face on which the support has settled */
    int64_t multistart;      /* starts per pass of peeling; all that do not overlap become clusters; 0: one by one */
    int sampling;            /* clv_dominant_sampling, of these starts */
    double overlap;          /* percent of its members that such a cluster may share with better ones */
    int64_t start_object;    /* from 0: the first cluster starts there; -1: as `start` says */
    double change;           /* a search ends also where a step moves x by at most this, |x(t+1) - x(t)|; 0: never */
} clv_dominant_options;

CLV_METHOD_FUNCTIONS(dominant)
/* The result has a table "clusters" and a "membership" (CSR; column c holds the weights x of cluster c). Its objective
 * is the sum of the f of its clusters, its certificate that of the cluster which is furthest from its tolerance.
 * CLV_EDATA when no two objects are similar. Evaluation replays the peeling with the weights of the answer, cluster by
 * cluster, each on the objects that the passes before it left ("clusters.pass"; without it, one pass per cluster). The
 * labels must be those that the options give from the weights, or CLV_EDATA says where they are not; nor may the
 * clusters break another rule of the options. A new object belongs to the first cluster that it would join, (Ax)_new +
 * shift >= f; to none: -1, or with `assign` to the one with the largest (Ax)_new > 0. */

/* kpalm: k-means and k-median. Minimize sigma(w, x) = sum_i s_i <w_i, d_i(x)> over k centers x and memberships w_i in
 * the simplex, d_il = |x_l - a_i|^2 or (|x_l - a_i|^2 + epsilon^2)^(1/2). Points may be double, float or sparse, and
 * mapped from a file: they are read once per iteration (twice for the Euclidean norm). */
typedef enum clv_kpalm_solver { CLV_KPALM_KPALM, CLV_KPALM_LLOYD, CLV_KPALM_WEISZFELD } clv_kpalm_solver;
typedef enum clv_kpalm_norm { CLV_KPALM_NORM_AUTO, CLV_KPALM_SQUARED, CLV_KPALM_EUCLIDEAN } clv_kpalm_norm;
typedef enum clv_kpalm_membership { CLV_KPALM_UNIFORM, CLV_KPALM_NEAREST, CLV_KPALM_DIRICHLET } clv_kpalm_membership;
typedef enum clv_kpalm_schedule { CLV_KPALM_CONSTANT, CLV_KPALM_HARMONIC, CLV_KPALM_GEOMETRIC } clv_kpalm_schedule;
typedef enum clv_kpalm_unit {
    CLV_KPALM_UNIT_AUTO,
    CLV_KPALM_EFFECTIVE, /* k tr(S^2) / tr(S), S the covariance of the data (its square root for the Euclidean norm) */
    CLV_KPALM_VARIANCE,  /* k tr(S), likewise */
    CLV_KPALM_DIAMETER,  /* of the data: exact up to 2048 objects, else at least half of it */
    CLV_KPALM_ONE        /* alpha is used unscaled */
} clv_kpalm_unit;
typedef enum clv_kpalm_empty { CLV_KPALM_EMPTY_AUTO, CLV_KPALM_KEEP, CLV_KPALM_RESEED } clv_kpalm_empty;

typedef enum clv_kpalm_place {
    CLV_KPALM_PLACE_AUTO, /* a card where there is one and the work is large, else the host */
    CLV_KPALM_HOST,
    CLV_KPALM_CUDA
} clv_kpalm_place;

typedef struct clv_kpalm_options {
    clv_control control;
    int64_t k;
    int solver;        /* clv_kpalm_solver */
    int norm;          /* clv_kpalm_norm; AUTO: Euclidean for weiszfeld, else squared */
    const char *start; /* "random", "kmeans++", "greedy++", "d1++", "kmeans-parallel" (k-means||); "auto": greedy++,
                          for the Euclidean norm d1++. input.start: centers, k x p */
    int initial_membership; /* clv_kpalm_membership: w(0) of kpalm */
    int schedule;           /* clv_kpalm_schedule of alpha */
    double alpha;   /* alpha(0) in units of alpha_unit; NaN: 3 (3 / k)^(1/2) for effective, 3 for variance, else 1 */
    int alpha_unit; /* clv_kpalm_unit */
    double epsilon; /* of the Euclidean norm, in the units of the data; NaN: by the diameter */
    int polish;     /* kpalm, squared norm: go on until no single object improves by moving to another cluster */
    int empty;      /* clv_kpalm_empty: what becomes of centers without objects; AUTO: kept by kpalm, else reseeded */
    const char *object_alpha;     /* "same", "distance": alpha_i(t) of object i is alpha(t) times a factor of its own.
                                     input.object_alpha: the factors */
    const char *start_membership; /* NULL. input.start_membership: w(0), n x k */
    double gamma_w;               /* gamma_1 of PALM: alpha is so many times as large */
    double gamma_x;               /* gamma_2: centers go 1 / gamma_x of the way */
    int place;                    /* clv_kpalm_place: where iterations are computed */
    int64_t device_memory;        /* budget in bytes on the card, home cuda; 0: what is free there, but for a tenth */
} clv_kpalm_options;

CLV_METHOD_FUNCTIONS(kpalm)
/* The result has centers, and memberships where objects are left in several clusters (a run that was stopped early; of
 * more than 2^20 numbers, every object is put to its nearest center instead). input.weights are the s_i. New points
 * belong to the nearest center, ties go to the smaller label. */

/* consensus: one clustering from several of the same objects. input.points has a column for each: its labels, any
 * numbers, -1 where it leaves an object out. With input.widths points are memberships side by side (dense or CSR), of
 * which those of an object in one input add up to 1, or are all 0. Minimizes the normalized cut of the share of the
 * inputs that put two objects together, with a certificate for all n objects, or solves symnmf or dominant on that. No
 * n x n numbers are formed; objects with the same labels everywhere cost as much as one. */
typedef enum clv_consensus_core { CLV_CONSENSUS_NCUT, CLV_CONSENSUS_SYMNMF, CLV_CONSENSUS_DOMINANT } clv_consensus_core;

typedef struct clv_consensus_options {
    clv_control control;
    int64_t k;        /* of dominant: at most; 0: only with medoid */
    int method;       /* clv_consensus_core */
    int64_t patience; /* of ncut: the search ends after so many kicks in a row without gain; -1: 20, or 2e6 / groups of
                         more than 1e5, but 3 at least */
    int medoid;       /* the labels are those of the input with the largest mean adjusted Rand index to the others */
} clv_consensus_options;

CLV_METHOD_FUNCTIONS(consensus)
/* The result has a "confidence" per object, how likely an input that knows it puts it with another object of its
 * cluster; and a table "inputs" with the agreement ("ari") of each with the consensus. result->solver is the name of
 * the method that was used: its objective and certificate are those of that method. */
/* The inputs of a consensus from files: results (.json) and labels (.csv, .tsv, .txt, integer .npy), matched by ids
 * where they have them, memberships (.npy of n x k reals). With `soft`, results that have memberships which add up to 1
 * give these instead of their labels. `points` has the names of the files as its columns, or, where an input is soft,
 * the memberships side by side and their `widths` (else NULL). Inputs of other objects are refused by name: counts,
 * ids, or fingerprints of points that were read and scaled in the same way. */
CLV_API clv_status clv_read_partitions(clv_context *ctx, const char *const *paths, int64_t count, int soft,
                                       clv_data **points, clv_data **widths);

/* ksupport: minimize sum_m loss(y_m, x_m w + b) + tau/2 ||w||^2 + lambda (||w||_k^sp)^2, sparse linear models by the
 * squared k-support norm (convex); or, with a radius, without the last term over ||w||_k^sp <= radius. */
typedef enum clv_ksupport_loss { CLV_KSUPPORT_LOGISTIC, CLV_KSUPPORT_SQUARES } clv_ksupport_loss;
typedef enum clv_ksupport_solver {
    CLV_KSUPPORT_FCFW,  /* fully corrective Frank-Wolfe */
    CLV_KSUPPORT_FISTA, /* accelerated proximal gradients */
    CLV_KSUPPORT_ADMM,
    CLV_KSUPPORT_NEWTON, /* semismooth Newton in the dual of a working set; where features are few, proximal Newton on
                            one matrix of features x features */
    CLV_KSUPPORT_AUTO    /* newton for at most 1024 features and as many samples, and for at most 4096 samples
                          * where k is 1, or at most a hundredth of at most 32768 features; else fcfw */
} clv_ksupport_solver;
/* How the proximity operator is computed; all give the same. */
typedef enum clv_ksupport_form {
    CLV_KSUPPORT_SELECT, /* selection and one scalar root, nothing sorted */
    CLV_KSUPPORT_SEARCH, /* exhaustive search over both ends of the middle part */
    CLV_KSUPPORT_BISECT, /* BS: one end by bisection */
    CLV_KSUPPORT_ACTIVE, /* AS: both ends by bisection */
    CLV_KSUPPORT_BOX     /* BN: bisection over the sorted critical points */
} clv_ksupport_form;
typedef enum clv_ksupport_inner {
    CLV_KSUPPORT_PROJECTED_NEWTON,
    CLV_KSUPPORT_PQN,
    CLV_KSUPPORT_PAIRWISE
} clv_ksupport_inner;
typedef enum clv_ksupport_atoms {
    CLV_KSUPPORT_USED, /* those without weight go, and an iterate becomes one where the objective would rise */
    CLV_KSUPPORT_ALL   /* every vertex that was found and nothing else: as published */
} clv_ksupport_atoms;
typedef enum clv_ksupport_step { CLV_KSUPPORT_BACKTRACKING, CLV_KSUPPORT_FIXED } clv_ksupport_step;
typedef enum clv_ksupport_momentum {
    CLV_KSUPPORT_RESTARTED, /* begins anew where the objective rises */
    CLV_KSUPPORT_PLAIN      /* never: as published */
} clv_ksupport_momentum;
typedef enum clv_ksupport_rule {
    CLV_KSUPPORT_GAP,   /* duality gap / objective <= tol */
    CLV_KSUPPORT_CHANGE /* relative change of the objective in one iteration <= tol: the rule of the paper */
} clv_ksupport_rule;

typedef struct clv_ksupport_options {
    clv_control control; /* tol: of the rule; NaN: 1e-4, newton 1e-6 */
    int64_t k;           /* of the norm: about how many weights are to be nonzero; 0: a path says */
    int loss;            /* clv_ksupport_loss */
    int solver;          /* clv_ksupport_solver */
    double lambda;       /* positive */
    double ridge;        /* tau */
    double radius;       /* 0: none */
    int intercept;       /* whether there is a b */
    int prox;            /* clv_ksupport_form, of fista and admm */
    int inner;           /* clv_ksupport_inner, of fcfw */
    int step;            /* clv_ksupport_step, of fista */
    int rule;            /* clv_ksupport_rule */
    int working_set;     /* fcfw: iterate on the features that matter between passes over X */
    int screening;       /* drop features that cannot matter; never changes the solution */
    int transposed;      /* X has one row per feature: p x samples */
    const char *start;   /* "zero". input.start: weights, models x p; as many models as there will be: 1, or with three
                            classes and more one per class */
    const char *path;    /* "K,K,...:L,L,...": every k with every lambda, instead of k and lambda; NULL: none */
    double inner_accuracy; /* of fcfw: what a correction may leave, as a share of the objective; 0: a part of tol */
    int atoms;             /* clv_ksupport_atoms, of fcfw */
    int momentum;          /* clv_ksupport_momentum, of fista */
    double rho;            /* of admm: its penalty; 0: balanced between the residuals */
} clv_ksupport_options;

CLV_METHOD_FUNCTIONS(ksupport)
/* input.points: samples x p, dense (double or float) or CSR; input.targets: one number per sample. Logistic: any two
 * values, the larger is the positive class; more values give one model per class against the rest. Objective and
 * certificate of the result are sums over the models.
 * With a path, every k is solved with every lambda: for each k from the largest lambda to the smallest, each started
 * from the solution before. The table "path" of the result has a row for each that was reached, with a score on
 * input.validation (the share of samples that are right, or of the variance) where that is given; the result itself is
 * that of the best row by score, the first of equals, and without scores of the last; its k and "lambda" are those of
 * that row. Cut short, the result has the stop that did it, and a warning. An answer to a path has this table.
 * A prediction has "values", one per sample: x w + b, or with classes the class of the largest, and of two classes the
 * second where x w + b > 0; and "scores", samples x models, x w + b itself. Its labels are the classes where these are
 * small whole numbers, else their places in "classes". */

/* pursuit: minimize 1/2 ||X - X W||_F^2 + lambda (||vec W||_k^sp)^2 over n x n matrices W, X the objects as columns:
 * each object as a sparse combination of all. |W| + |W'| is an affinity for ncut and dominant. */
typedef struct clv_pursuit_options {
    clv_control control; /* tol: of the rule; NaN: 1e-4 */
    int64_t k;           /* of the norm: about how many entries of W are to be nonzero */
    int solver;          /* clv_ksupport_solver; not newton */
    double lambda;
    double radius;     /* 0: none */
    int zero_diagonal; /* W has no diagonal: no object is its own explanation */
    int prox;          /* as in clv_ksupport_options */
    int inner;
    int step;
    int rule;
    double inner_accuracy;
    int atoms;
    int momentum;
    double rho;
} clv_pursuit_options;

CLV_METHOD_FUNCTIONS(pursuit)
/* input.points: n x d. W is in the result as "weights", CSR. */
/* |W| + |W'| without its diagonal, of a CSR W: owned, CSR, symmetric. */
CLV_API clv_status clv_pursuit_affinity(clv_context *ctx, const clv_matrix *w, clv_data **out);

/* The norm itself, its dual norm (the 2-norm of the k largest entries), and the proximity operator argmin_w 1/2 ||w -
 * v||^2 + lambda (||w||_k^sp)^2 by any of the forms; k from 1 on. */
CLV_API clv_status clv_ksupport_norm(clv_context *ctx, const double *w, int64_t p, int64_t k, int64_t threads,
                                     double *out);
CLV_API clv_status clv_ksupport_dual_norm(clv_context *ctx, const double *g, int64_t p, int64_t k, int64_t threads,
                                          double *out);
CLV_API clv_status clv_ksupport_prox(clv_context *ctx, const double *v, int64_t p, int64_t k, double lambda,
                                     clv_ksupport_form form, int64_t threads, double *out /* p */);

/* ------------------------------------------------------------------------------------------------------------
 * 8  Metrics
 */

/* Agreement of a labeling with the truth, over the objects that neither leaves out (-1). */
typedef struct clv_scores {
    double ari; /* adjusted Rand index */
    double nmi; /* normalized mutual information, arithmetic mean */
    double homogeneity, completeness, v_measure;
    double accuracy; /* under the best one-to-one matching of labels to classes */
    double vi;       /* variation of information, nats */
    double purity;
    double assignment_rate; /* share of objects with a label other than -1 */
    int64_t n, compared;    /* objects, and those compared */
    int64_t classes, clusters;
    double nmi_max; /* mutual information by the larger of the two entropies */
} clv_scores;

CLV_API clv_status clv_compare(clv_context *ctx, const int32_t *truth, const int32_t *labels, int64_t n,
                               clv_scores *out);
/* The numbers in clv_scores by the names that they have in reports, in their order. */
typedef struct clv_metric {
    const char *name;
    size_t offset; /* of the double in clv_scores */
    const char *meaning;
} clv_metric;
CLV_API const clv_metric *clv_metrics(size_t *count);
/* Mean silhouette with Euclidean distances, n^2 time and n k memory; objects of clusters of one count 0. */
CLV_API clv_status clv_silhouette(clv_context *ctx, const clv_matrix *points, const int32_t *labels, int64_t threads,
                                  double *out);
/* Normalized cut with the factor 1/2; labels of -1 are left out of the graph. */
CLV_API clv_status clv_ncut_value(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t threads,
                                  double *out);

/* ------------------------------------------------------------------------------------------------------------
 * 9  Reports
 */

/* The terms of each cluster, as clv_cluster_terms finds them. */
typedef struct clv_report_terms {
    int64_t top;
    const int32_t *terms;
    const double *scores;
    const char *const *names; /* of all terms */
} clv_report_terms;

/* A picture that was cut into segments, for a page. */
typedef struct clv_report_picture {
    const clv_image *image;
    const int32_t *labels; /* of its pixels: 0 .. segments - 1, or -1 */
    int64_t segments;
} clv_report_picture;

/* What a report says besides the result: members may be NULL or NaN. */
typedef struct clv_report {
    const clv_result *result;
    const clv_affinity_info *affinity;
    const clv_scores *scores;
    const char *scale;        /* name of the scaling */
    const double *silhouette; /* NULL: none */
    double load_seconds, affinity_seconds, total_seconds;
    const clv_option_table *const *tables; /* the options to list, with their structs; ends with NULL */
    const void *const *options;
    const clv_matrix *points;      /* for pictures */
    const clv_data *data;          /* for what was used of the file; NULL: nothing is said of it */
    const clv_report_terms *terms; /* what clusters of documents are about; NULL: not known */
    const char *truth;             /* where the labels compared with are from, if not from the data; NULL: they are */
    /* For the page alone. */
    const char *source, *command, *date; /* what was read, the line that gives this again, and when that was */
    const int32_t *classes;              /* the true ones of all objects; -1: not known */
    const clv_affinity *similarities;    /* that the method was given */
    const clv_report_picture *picture;   /* whose regions the objects are */
    const clv_matrix *partitions;        /* the inputs of a consensus, and their widths, as clv_input has them */
    const clv_matrix *widths;
} clv_report;

/* The JSON result, the readable table, the trace as CSV, the page; text is owned (clv_release). */
CLV_API clv_status clv_report_json(clv_context *ctx, const clv_report *report, char **text, size_t *size);
CLV_API clv_status clv_report_table(clv_context *ctx, const clv_report *report, char **text, size_t *size);
CLV_API clv_status clv_report_trace(clv_context *ctx, const clv_report *report, char **text, size_t *size);
CLV_API clv_status clv_report_html(clv_context *ctx, const clv_report *report, char **text, size_t *size);

/* A result read back from its JSON text: what was claimed, and the options to recompute it with. */
typedef struct clv_claim clv_claim;
CLV_API clv_status clv_claim_read(clv_context *ctx, const char *path, clv_claim **out);
CLV_API void clv_claim_free(clv_claim *claim);
/* The option called `name` as text, or NULL. */
CLV_API const char *clv_claim_option(const clv_claim *claim, const char *name);
/* What was used of the file, as clv_data_note says; "": not said. And the names of its columns; NULL with count 0: they
 * have none. */
CLV_API const char *clv_claim_used(const clv_claim *claim);
CLV_API const char *const *clv_claim_columns(const clv_claim *claim, int64_t *count);
/* What stood for missing cells, one number per column; NULL with count 0: nothing did. */
CLV_API const double *clv_claim_fill(const clv_claim *claim, int64_t *count);
/* Rows of the file that were dropped for their missing cells, from 0, in order; NULL with count 0: none was. */
CLV_API const double *clv_claim_dropped(const clv_claim *claim, int64_t *count);
/* How the columns were scaled, as clv_data_scaling says, and how many there are; 0: nothing is said of it. */
CLV_API int64_t clv_claim_scaling(const clv_claim *claim, const double **shift, const double **factor);
/* What is claimed, as a result: labels and fields can be read and, by clv_predict, used. Borrowed. */
CLV_API const clv_result *clv_claim_result(const clv_claim *claim);
/* The method that is claimed to have given it; NULL: there is none of that name. */
CLV_API const clv_method *clv_claim_method(const clv_claim *claim);

typedef struct clv_verdict {
    int accepted;
    char reason[512]; /* one sentence either way */
    clv_objective objective;
    clv_certificate certificate;
} clv_verdict;

/* Recompute objective, certificate and derived fields from the raw data and compare with the claim, and the fields of
 * the claim with each other. `data` are unscaled, as read, and stay so: what is scaled is a copy. `memory` is a budget
 * as in clv_affinity_options. A claim that cannot be true is a verdict too; the status fails only where no verdict
 * could be reached. A claim to have stopped at a limit of time must name that limit among its options. */
CLV_API clv_status clv_claim_verify(clv_context *ctx, const clv_claim *claim, const clv_input *data, int64_t memory,
                                    int64_t threads, clv_verdict *out);
/* The home that an affinity is rebuilt in to verify the claim; AUTO, the default: as the budget allows. */
CLV_API void clv_claim_set_home(clv_claim *claim, clv_home home);
/* The budget in bytes on a card, where that is the home; 0, the default: what is free there, but for a tenth. */
CLV_API void clv_claim_set_device_memory(clv_claim *claim, int64_t bytes);
/* Whether eigenvalues, with the bound and the shift that come of them, are computed again: they are, unless this says
 * 0. The claim's metrics against the true labels (n) of the objects, after it was accepted: a verdict as above. What no
 * call has looked at, a list of names, cut off where it does not fit. */
CLV_API void clv_claim_set_bound(clv_claim *claim, int again);
CLV_API clv_status clv_claim_compare(clv_context *ctx, clv_claim *claim, const int32_t *truth, clv_verdict *out);
CLV_API void clv_claim_unchecked(const clv_claim *claim, char *text, size_t size);
/* Whether a result can label new objects at all: CLV_EDATA with the reason where its method or its affinity cannot,
 * where it is a rough one that was ended before there was an affinity, or where its k is not that of its sizes, labels
 * and fields. Whether it labels them by those that were
 * clustered. And those labels: of new objects that were read and scaled like the old ones, by `points`, which are those
 * (scaled; NULL where they are not needed), or with a given affinity that matrix. */
CLV_API clv_status clv_claim_can_predict(clv_context *ctx, const clv_claim *claim);
CLV_API int clv_claim_needs_points(const clv_claim *claim);
CLV_API clv_status clv_claim_predict(clv_context *ctx, const clv_claim *claim, const clv_matrix *points,
                                     const clv_fresh *fresh, int64_t memory, int64_t threads, clv_result **out);

#ifdef __cplusplus
}
#endif
#endif
