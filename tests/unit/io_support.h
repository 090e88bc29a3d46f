/* What the tests of readers and writers share: a context, checks on failures, scratch files, failing allocations. */
#ifndef IO_SUPPORT_H
#define IO_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The context of the running test, and a folder for its files. */
static clv_context *ctx;
static char folder[64];

static inline int open_context(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cleave-test-XXXXXX");
    return clv_context_new(NULL, &ctx) != CLV_OK || !mkdtemp(folder);
}

/* Everything must have been freed, and no file may be left but those that the test made and removed. */
static inline int close_context(void **state) {
    (void)state;
    size_t now;
    size_t peak;
    clv_context_memory(ctx, &now, &peak);
    assert_int_equal(now, 0);
    clv_context_free(ctx);
    return rmdir(folder);
}

static inline const char *in_folder(const char *name) {
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void put_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline clv_bytes text_bytes(const char *text, const char *name) {
    return (clv_bytes){(const uint8_t *)text, strlen(text), name};
}

static inline void assert_ok(clv_status status) {
    if (status != CLV_OK) {
        print_error("%s: %s\n", clv_status_name(status), clv_message(ctx));
    }
    assert_int_equal(status, CLV_OK);
}

/* A failure of this kind, whose sentence has all of these parts (a list that ends with NULL). */
static inline void assert_refused(clv_status status, clv_status expected, const char *part, ...) {
    va_list parts;
    va_start(parts, part);
    assert_int_equal(status, expected);
    for (; part; part = va_arg(parts, const char *)) {
        if (!strstr(clv_message(ctx), part)) {
            print_error("'%s' is not in: %s\n", part, clv_message(ctx));
            fail();
        }
    }
    va_end(parts);
}

static inline void assert_dense(const clv_data *data, int64_t rows, int64_t cols, const double *values) {
    const clv_matrix *m = clv_data_matrix(data);
    assert_false(clv_is_sparse(m));
    assert_int_equal(m->rows, rows);
    assert_int_equal(m->cols, cols);
    for (int64_t i = 0; i < rows; i++) {
        double row[64];
        clv_matrix_row(m, i, row);
        for (int64_t j = 0; j < cols; j++) {
            assert_true(row[j] == values[i * cols + j]);
        }
    }
}

/* Valid CSR with these entries, zeros left out. */
static inline void assert_sparse(const clv_data *data, int64_t rows, int64_t cols, const double *values) {
    const clv_matrix *m = clv_data_matrix(data);
    int64_t at = 0;
    assert_true(clv_is_sparse(m));
    assert_int_equal(m->rows, rows);
    assert_int_equal(m->cols, cols);
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(m->start[i], at);
        for (int64_t j = 0; j < cols; j++) {
            if (values[i * cols + j] != 0) {
                assert_true(at < m->start[i + 1]);
                assert_int_equal(m->index[at], j);
                assert_true(((const double *)m->values)[at++] == values[i * cols + j]);
            }
        }
        assert_int_equal(m->start[i + 1], at);
    }
}

static inline void assert_labels(const int32_t *labels, int64_t n, const int32_t *expected) {
    assert_non_null(labels);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(labels[i], expected[i]);
    }
}

/* --- an allocator that fails the k-th allocation --- */

typedef struct scarce {
    int64_t left, live;
} scarce;

static inline void *scarce_allocate(void *user, size_t bytes) {
    scarce *s = user;
    if (s->left-- <= 0) {
        return NULL;
    }
    s->live++;
    return malloc(bytes);
}

static inline void scarce_release(void *user, void *block) {
    scarce *s = user;
    s->live -= block != NULL;
    free(block);
}

/* Run `work` with ever more allocations until it succeeds: each failure is CLV_ENOMEM, and nothing is left over. */
static inline void fail_each_allocation(clv_status (*work)(clv_context *in, void *user), void *user) {
    clv_status status = CLV_ENOMEM;
    for (int64_t allowed = 1; status != CLV_OK; allowed++) {
        scarce s = {.left = allowed};
        clv_allocator from = {scarce_allocate, scarce_release, &s};
        clv_context *in;
        assert_int_equal(clv_context_new(&from, &in), CLV_OK);
        status = work(in, user);
        assert_true(status == CLV_OK || status == CLV_ENOMEM);
        assert_true(status == CLV_OK || strstr(clv_message(in), "memory"));
        clv_context_free(in);
        assert_int_equal(s.live, 0);
        assert_true(allowed < 1000);
    }
}

#endif
