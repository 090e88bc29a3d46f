/* .npy to dense matrices, labels and pictures. f8 and f4 in the machine's byte order are copied or mapped as they are;
 * other types are converted a number at a time. Fortran order is turned in square tiles. */
#include "io/npy.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    TILE = 64,
    MOST_HEADER = 1 << 16 /* bytes read to see the header; ours and numpy's have 128 */
};

/* --- whole arrays --- */

static clv_scalar scalar_of(const clv_npy *npy) {
    return npy->type.kind == 'f' && npy->type.size == 4 ? CLV_F32 : CLV_F64;
}

/* Whether the numbers in the file are what a clv_matrix holds. */
static bool is_plain(const clv_npy *npy) {
    return npy->type.kind == 'f' && npy->type.size >= 4 && !npy->type.swapped;
}

static bool is_row_major(const clv_npy *npy) {
    return !npy->fortran || npy->dimensions == 1 || npy->shape[0] == 1 || npy->shape[1] == 1;
}

static void convert_tile(const uint8_t *body, const clv_npy *npy, clv_data *data, int64_t row, int64_t column) {
    int64_t rows = data->matrix.rows;
    int64_t cols = data->matrix.cols;
    for (int64_t i = row; i < rows && i < row + TILE; i++) {
        for (int64_t j = column; j < cols && j < column + TILE; j++) {
            int64_t from = is_row_major(npy) ? i * cols + j : j * rows + i;
            clv_store_number(data, i * cols + j, clv_load_number(body + from * npy->type.size, npy->type));
        }
    }
}

static clv_status convert(clv_bytes bytes, const clv_npy *npy, clv_data *data) {
    const uint8_t *body = bytes.data + npy->offset;
    if (is_plain(npy) && is_row_major(npy)) {
        memcpy(data->values, body, (size_t)(data->matrix.rows * data->matrix.cols) * (size_t)npy->type.size);
        return CLV_OK;
    }
    for (int64_t i = 0; i < data->matrix.rows; i += TILE) {
        for (int64_t j = 0; j < data->matrix.cols; j += TILE) {
            convert_tile(body, npy, data, i, j);
        }
        CLV_TRY(clv_read_on(data->ctx, bytes.name, TILE * data->matrix.cols));
    }
    return CLV_OK;
}

static clv_status check_matrix(clv_context *ctx, const char *name, const clv_npy *npy) {
    if (npy->dimensions > 2) {
        return clv_fail(ctx, CLV_EDATA, "%s has %d dimensions, where 1 or 2 are allowed", name, npy->dimensions);
    }
    return CLV_OK;
}

static int64_t columns_of(const clv_npy *npy) {
    return npy->dimensions == 2 ? npy->shape[1] : 1;
}

clv_status clv_npy_parse(clv_context *ctx, clv_bytes bytes, clv_data **out) {
    *out = NULL;
    clv_npy npy = {0};
    clv_data *data;
    CLV_TRY(clv_npy_header(ctx, bytes, (int64_t)bytes.size, &npy));
    CLV_TRY(check_matrix(ctx, bytes.name, &npy));
    CLV_TRY(clv_data_new_dense(ctx, bytes.name, npy.shape[0], columns_of(&npy), scalar_of(&npy), &data));
    return clv_data_give(data, convert(bytes, &npy, data), out);
}

/* --- from a file, without a second copy --- */

static clv_status map_file(clv_context *ctx, int file, int64_t size, const char *name, const clv_npy *npy,
                           clv_data **out) {
    clv_data *data;
    CLV_TRY(clv_data_new(ctx, name, &data));
    void *mapping = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED) {
        int reason = errno;
        clv_data_free(data);
        return reason == ENOMEM
                   ? clv_fail(ctx, CLV_ENOMEM, "out of memory: %lld bytes could not be mapped", (long long)size)
                   : clv_fail(ctx, CLV_EIO, "%s cannot be mapped: %s", name, clv_errno_text(reason));
    }
    data->mapping = mapping;
    data->mapping_size = (size_t)size;
    data->matrix = (clv_matrix){.rows = npy->shape[0],
                                .cols = columns_of(npy),
                                .scalar = scalar_of(npy),
                                .values = (const char *)mapping + npy->offset};
    *out = data;
    return CLV_OK;
}

/* `size` bytes from `offset`; fewer at the end of the file. */
static clv_status read_at(clv_context *ctx, int file, const char *name, void *to, int64_t size, int64_t offset,
                          int64_t *got) {
    for (*got = 0; *got < size;) {
        int64_t piece = size - *got < CLV_PIECE ? size - *got : CLV_PIECE;
        ssize_t step = pread(file, (char *)to + *got, (size_t)piece, offset + *got);
        if (step < 0 && errno != EINTR) {
            return clv_fail(ctx, CLV_EIO, "reading %s failed: %s", name, clv_errno_text(errno));
        }
        if (step == 0) {
            break;
        }
        *got += step > 0 ? step : 0;
        CLV_TRY(clv_read_on(ctx, name, step > 0 ? step : 0));
    }
    return CLV_OK;
}

static clv_status read_header(clv_context *ctx, int file, int64_t size, const char *name, clv_npy *npy) {
    int64_t got;
    uint8_t *start = CLV_NEW(ctx, uint8_t, MOST_HEADER);
    if (!start) {
        return CLV_ENOMEM;
    }
    clv_status status = read_at(ctx, file, name, start, MOST_HEADER, 0, &got);
    if (status == CLV_OK) {
        status = clv_npy_header(ctx, (clv_bytes){start, (size_t)got, name}, size, npy);
    }
    clv_free(ctx, start);
    return status;
}

clv_status clv_npy_read_plain(clv_context *ctx, int file, int64_t size, const char *name, int map, clv_data **out) {
    *out = NULL;
    clv_npy npy = {0};
    CLV_TRY(read_header(ctx, file, size, name, &npy));
    CLV_TRY(check_matrix(ctx, name, &npy));
    bool square = npy.dimensions == 2 && npy.shape[0] == npy.shape[1];
    bool usable = is_plain(&npy) && (is_row_major(&npy) || (map == 2 && square)); /* the transpose will do */
    if (!usable) {
        return CLV_OK;
    }
    if (map && npy.offset % npy.type.size == 0) {
        return map_file(ctx, file, size, name, &npy, out);
    }
    if (!is_row_major(&npy)) {
        return CLV_OK;
    }
    clv_data *data;
    int64_t got;
    CLV_TRY(clv_data_new_dense(ctx, name, npy.shape[0], columns_of(&npy), scalar_of(&npy), &data));
    clv_status status = read_at(ctx, file, name, data->values, size - npy.offset, npy.offset, &got);
    if (status == CLV_OK && got < size - npy.offset) {
        status = clv_fail(ctx, CLV_EIO, "%s became shorter while it was read", name);
    }
    return clv_data_give(data, status, out);
}

/* --- labels and pictures --- */

static clv_status fill_labels(clv_context *ctx, clv_bytes bytes, const clv_npy *npy, int64_t n, int32_t *labels) {
    for (int64_t i = 0; i < n; i++) {
        double value = clv_load_number(bytes.data + npy->offset + i * npy->type.size, npy->type);
        if (!(value >= -1 && value <= INT32_MAX) || value != floor(value)) {
            char shown[CLV_NUMBER_SIZE];
            clv_print_number(value, shown);
            return clv_fail(ctx, CLV_EDATA, "%s row %lld: the label %s is not a whole number from -1 to %d", bytes.name,
                            (long long)i + 1, shown, INT32_MAX);
        }
        labels[i] = (int32_t)value;
    }
    return CLV_OK;
}

clv_status clv_npy_parse_labels(clv_context *ctx, clv_bytes bytes, int64_t *n, int32_t **labels) {
    *n = 0;
    *labels = NULL;
    clv_npy npy = {0};
    CLV_TRY(clv_npy_header(ctx, bytes, (int64_t)bytes.size, &npy));
    int64_t longest = npy.shape[0];
    int64_t product = npy.shape[0];
    for (int d = 1; d < npy.dimensions; d++) {
        longest = npy.shape[d] > longest ? npy.shape[d] : longest;
        product *= npy.shape[d];
    }
    if (product != longest) {
        return clv_fail(ctx, CLV_EDATA, "%s is %lld x %lld%s, where labels are a vector", bytes.name,
                        (long long)npy.shape[0], (long long)npy.shape[1], npy.dimensions > 2 ? " x ..." : "");
    }
    int32_t *made = CLV_NEW(ctx, int32_t, product);
    clv_status status = made ? fill_labels(ctx, bytes, &npy, product, made) : CLV_ENOMEM;
    if (status < 0) {
        clv_free(ctx, made);
        return status;
    }
    *n = product;
    *labels = made;
    return CLV_OK;
}

clv_status clv_npy_parse_image(clv_context *ctx, clv_bytes bytes, clv_image *out) {
    *out = (clv_image){0};
    clv_npy npy = {0};
    CLV_TRY(clv_npy_header(ctx, bytes, (int64_t)bytes.size, &npy));
    int64_t channels = npy.dimensions == 3 ? npy.shape[2] : 1;
    if (npy.type.kind != 'u' || npy.type.size != 1 || npy.fortran || npy.dimensions < 2 ||
        (channels != 1 && channels != 3 && channels != 4)) {
        return clv_fail(ctx, CLV_EDATA,
                        "%s is not a picture: that is uint8, height x width or height x width x 1, 3 or 4, row by row",
                        bytes.name);
    }
    clv_image image = {.width = npy.shape[1], .height = npy.shape[0], .channels = channels};
    CLV_TRY(clv_image_reserve(ctx, bytes.name, (double)bytes.size, &image));
    memcpy(image.samples, bytes.data + npy.offset, bytes.size - (size_t)npy.offset);
    *out = image;
    return CLV_OK;
}
