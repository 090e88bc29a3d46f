/* The dense homes, shared by what they do (dense.c, dense_change.c) and how one is made (dense_make.c). */
#ifndef CLEAVE_AFFINITY_DENSE_H
#define CLEAVE_AFFINITY_DENSE_H

#include "affinity/home.h"

typedef struct {
    const void *values;   /* n x width */
    void *owned;          /* == values, or NULL when borrowed */
    int64_t first, width; /* of the columns that are there: 0 and n, but for ranks */
    clv_affinity *source; /* of these: the entries by their definition; NULL: all columns are there */
    double *diagonal;     /* stored diagonal to be taken out again, or NULL */
    clv_scalar scalar;
} clv_dense;

static inline const clv_dense *clv_dense_of(const clv_affinity *a) {
    return a->state;
}

static inline bool clv_dense_is_f32(const clv_affinity *a) {
    return clv_dense_of(a)->scalar == CLV_F32;
}

static inline const double *clv_dense_row64(const clv_affinity *a, int64_t i) {
    return (const double *)clv_dense_of(a)->values + (i * clv_dense_of(a)->width - clv_dense_of(a)->first);
}

static inline const float *clv_dense_row32(const clv_affinity *a, int64_t i) {
    return (const float *)clv_dense_of(a)->values + (i * clv_dense_of(a)->width - clv_dense_of(a)->first);
}

static inline void clv_dense_write(void *values, clv_scalar scalar, int64_t at, double value) {
    if (scalar == CLV_F32) {
        ((float *)values)[at] = (float)value;
    } else {
        ((double *)values)[at] = value;
    }
}

static inline clv_affinity_cost clv_dense_cost(int64_t n) {
    double size = (double)n;
    return (clv_affinity_cost){.entry = 1, .column = size, .pass = size * size, .resident = 1};
}

/* Room for the values, owned. */
clv_status clv_dense_room(clv_affinity *a, clv_scalar scalar);

/* A pass over all entries; of a matrix of which every rank has but a part, a shared one. */
clv_spread clv_dense_begin_pass(const clv_affinity *a);
/* The end of y = x A over such a pass: without the stored diagonal that is to be taken out again, for every rank. */
clv_status clv_dense_end_product(const clv_affinity *a, const clv_spread *spread, bool stopped, const double *x,
                                 int64_t k, double *y);

/* dense_change.c: home.h says what they do. */
clv_status clv_dense_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads);
clv_status clv_dense_rough_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads);
clv_status clv_dense_rough_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads);

/* dense_make.c: of a home of which ranks hold a part each, some objects, likewise. */
clv_status clv_dense_part_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out);

/* computed.c: entries first .. last - 1 of column i, where they belong in `out`; `first` is that of a tile. */
void clv_computed_range(const clv_affinity *a, int64_t i, int64_t first, int64_t last, double *out);

extern const clv_home_functions clv_dense64_home, clv_dense32_home;

#endif
