/* The dense homes, shared by what they do (dense.c) and how one is made (dense_make.c). */
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

/* dense_make.c: of a home of which ranks hold a part each, some objects, likewise. */
clv_status clv_dense_part_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out);

/* computed.c: entries first .. last - 1 of column i, where they belong in `out`; `first` is that of a tile. */
void clv_computed_range(const clv_affinity *a, int64_t i, int64_t first, int64_t last, double *out);

extern const clv_home_functions clv_dense64_home, clv_dense32_home;

#endif
