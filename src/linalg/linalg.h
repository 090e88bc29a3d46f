/* linalg: views of dense and CSR matrices, and the algebra on them. */
#ifndef CLV_LINALG_H
#define CLV_LINALG_H

#include "base/base.h"

/* --- owned matrices (matrix.c) --- */

struct clv_data {
    clv_context *ctx;
    clv_matrix matrix; /* a view of what is owned below, of the mapping, or of what is the caller's (clv_data_of) */
    void *values;      /* owned, or NULL */
    int64_t *start;    /* owned, CSR */
    int32_t *index;    /* owned, CSR */
    int32_t *labels;   /* owned, or NULL */
    double *targets;   /* labels as the numbers of their file, where that has numbers (.svm); owned, or NULL */
    char **classes;    /* of labels, and of targets that are texts: what 0, 1, ... stand for; owned, or NULL */
    int64_t classes_count;
    void *mapping; /* a mapped file, or NULL */
    size_t mapping_size;
    char *name;     /* the file it came from, for messages; owned, never NULL after clv_data_new */
    char *note;     /* how the file was understood; owned, or NULL */
    char *warning;  /* likewise */
    char **columns; /* names; owned, or NULL */
    int64_t columns_count;
    char *truth;            /* the name of the column of labels; owned, or NULL */
    char *id_name;          /* of the column of ids; owned, or NULL */
    char *ids;              /* one after the other, each with its NUL; owned, or NULL */
    int64_t *id_at;         /* where they begin */
    int64_t *rows;          /* the number of each row in its file; owned, or NULL: all rows are there */
    int64_t rows_read;      /* of the file */
    double *fill;           /* of each column, what stood for missing cells; owned, or NULL */
    double *shift, *factor; /* of each column, once it is scaled: (x - shift) * factor; owned, or NULL */
};

/* An empty clv_data; fill its owned members and its view. */
clv_status clv_data_new(clv_context *ctx, const char *name, clv_data **out);
/* Dense storage for rows x cols of a type, uninitialized, with the view set. */
clv_status clv_data_new_dense(clv_context *ctx, const char *name, int64_t rows, int64_t cols, clv_scalar scalar,
                              clv_data **out);
/* CSR storage for `nonzeros` entries, start[0] = 0 and the rest uninitialized, with the view set. */
clv_status clv_data_new_csr(clv_context *ctx, const char *name, int64_t rows, int64_t cols, int64_t nonzeros,
                            clv_data **out);

/* The same matrix in memory of its own. */
clv_status clv_data_copy(clv_context *ctx, const char *name, const clv_matrix *from, clv_data **out);
/* The transpose of a CSR matrix; columns ascend. */
clv_status clv_csr_transpose(clv_context *ctx, const char *name, const clv_matrix *m, clv_data **out);
/* The end of a function that makes *out: when it failed, *out (or NULL) is freed and becomes NULL. */
clv_status clv_data_made(clv_status status, clv_data **out);

void clv_free_texts(clv_context *ctx, char **texts, int64_t count); /* takes NULL */

/* CLV_EDATA with the place (from 1) of the first stored value that is NaN or infinite. */
clv_status clv_data_check_finite(const clv_data *data);
/* Replaces values of a mapping, or of the caller, by owned ones. */
clv_status clv_data_own_values(clv_data *data);
/* Refuse a value that is not finite or larger than `most` in magnitude, naming its place in `name`. */
clv_status clv_matrix_check(clv_context *ctx, const char *name, const clv_matrix *m, double most);
/* The same for the rows first .. last - 1. */
clv_status clv_matrix_check_rows(clv_context *ctx, const char *name, const clv_matrix *m, double most, int64_t first,
                                 int64_t last);

static inline bool clv_is_sparse(const clv_matrix *m) {
    return m->start != NULL;
}
static inline size_t clv_scalar_bytes(clv_scalar scalar) {
    return scalar == CLV_F32 ? sizeof(float) : sizeof(double);
}
/* By every bit of the entries, and their type: what processes compare (clv_matrix_fingerprint rounds to floats). */
uint64_t clv_matrix_hash(const clv_matrix *m);
/* The value that is stored at place `at`, counted from the first. */
static inline double clv_stored(const clv_matrix *m, int64_t at) {
    return m->scalar == CLV_F32 && !m->start ? (double)((const float *)m->values)[at] : ((const double *)m->values)[at];
}
/* Refuse (CLV_EUSAGE) a view of fewer than 0 rows or columns, of numbers of no kind, one without values, and what the
 * next function refuses. */
clv_status clv_view_check(clv_context *ctx, const char *name, const clv_matrix *m);
/* A sparse view whose rows end before they begin or that names a column it does not have; `rising`: also one whose
 * columns do not rise along each row. Dense views pass. */
clv_status clv_csr_check(clv_context *ctx, const char *name, const clv_matrix *m, bool rising);
/* The place of the first entry of row i in column j or after, in a CSR matrix with ascending columns. */
int64_t clv_csr_seek(const clv_matrix *m, int64_t i, int64_t j);
/* Where entry (i, j) of a CSR matrix is stored, or -1, by bisection; its value. */
int64_t clv_csr_find(const clv_matrix *m, int64_t i, int64_t j);
double clv_csr_entry(const clv_matrix *m, int64_t i, int64_t j);
/* Row i as cols doubles, whatever the storage. */
void clv_matrix_row(const clv_matrix *m, int64_t i, double *out);
/* A view of the rows first..first + rows - 1. Only start[] of a sparse one says where its rows are: not from 0 on. */
clv_matrix clv_matrix_part(const clv_matrix *m, int64_t first, int64_t rows);

/* --- reductions over fixed blocks: the same bits on any number of threads (reduce.c) --- */
double clv_sum(const double *x, int64_t n, int threads);
double clv_dot(const double *x, const double *y, int64_t n, int threads);

/* --- selection (select.c): O(n) expected, ties to the smaller index --- */

/* The k largest of x[0..n-1]: their indices into out[0..k-1], ascending. `work` has room for n indices. */
void clv_top_k(const double *x, int64_t n, int64_t k, int64_t *out, int64_t *work, int threads);
/* The value of rank r (0: smallest) of x, which is reordered. */
double clv_nth_smallest(double *x, int64_t n, int64_t r);
int clv_ascending(const void *left, const void *right); /* of doubles, for qsort */

/* --- assignment (hungarian.c) --- */

/* Maximum-weight matching in a rows x cols table of weights, row-major: match[i] is the column of row i, or -1 for the
 * rows left over when rows > cols. O(min^2 max). */
clv_status clv_assign(clv_context *ctx, const double *weight, int64_t rows, int64_t cols, int64_t *match);

/* --- extreme eigenpairs of a symmetric operator (eigen.c) --- */
typedef clv_status (*clv_operator)(void *user, const double *x, double *y, int64_t n);
typedef enum clv_eigen_end { CLV_EIGEN_LARGEST, CLV_EIGEN_SMALLEST } clv_eigen_end;
/* The `count` algebraically largest (descending) or smallest (ascending) eigenvalues of an n x n operator, and their
 * unit eigenvectors into vectors[c * n + i] unless NULL. ARPACK; on failure again with a larger basis, then, for
 * n <= 2000, LAPACK on the dense matrix; else CLV_ENUMERIC. The start vector comes from `seed`. */
clv_status clv_eigen(clv_context *ctx, clv_operator apply, void *user, int64_t n, int64_t count, clv_eigen_end end,
                     double tol, uint64_t seed, double *values, double *vectors);
/* All eigenvalues (ascending) and eigenvectors (into a, a row each) of a symmetric dense n x n matrix. */
clv_status clv_eigen_dense(clv_context *ctx, double *a, int64_t n, double *values);

#endif
