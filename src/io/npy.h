/* What the header of a .npy file says. */
#ifndef CLV_NPY_H
#define CLV_NPY_H

#include "io/io.h"

enum { CLV_NPY_DIMENSIONS = 3 };

typedef struct clv_npy {
    clv_number_type type;
    bool fortran;   /* columns first */
    int dimensions; /* 1 to 3 */
    int64_t shape[CLV_NPY_DIMENSIONS];
    int64_t offset; /* of the numbers in the file */
} clv_npy;

/* Parse and check the header at the start of `bytes`, of a file of `file_size` bytes in total. */
clv_status clv_npy_header(clv_context *ctx, clv_bytes bytes, int64_t file_size, clv_npy *npy);

#endif
