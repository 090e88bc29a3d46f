/* What the fuzz targets share: a context whose memory is bounded, checked to be empty at the end. */
#ifndef CLV_FUZZ_H
#define CLV_FUZZ_H

#include "io/io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Small, so that running out of it is tried as well, and no time goes into filling large blocks. A target may set less.
 */
#ifndef FUZZ_MOST_BYTES
#define FUZZ_MOST_BYTES ((size_t)16 << 20)
#endif

typedef struct fuzz_memory {
    size_t held;
} fuzz_memory;

static inline void *fuzz_allocate(void *user, size_t bytes) {
    fuzz_memory *memory = user;
    size_t *block = bytes <= FUZZ_MOST_BYTES - memory->held ? malloc(bytes + 16) : NULL;
    if (block) {
        block[0] = bytes;
        memory->held += bytes;
        block += 2;
    }
    return block;
}

static inline void fuzz_release(void *user, void *block) {
    fuzz_memory *memory = user;
    if (block) {
        size_t *base = (size_t *)block - 2;
        memory->held -= base[0];
        free(base);
    }
}

static inline clv_context *fuzz_open(fuzz_memory *memory) {
    clv_allocator from = {fuzz_allocate, fuzz_release, memory};
    clv_context *ctx;
    *memory = (fuzz_memory){0};
    if (clv_context_new(&from, &ctx) != CLV_OK) {
        abort();
    }
    return ctx;
}

/* Nothing may be left over. */
static inline void fuzz_close(clv_context *ctx, fuzz_memory *memory) {
    clv_context_free(ctx);
    if (memory->held != 0) {
        abort();
    }
}

/* A matrix that was read is one: finite, with sound rows. A failure has a sentence. */
static inline void fuzz_check(clv_context *ctx, clv_status status, clv_data *data) {
    if (status != CLV_OK) {
        if (data || clv_message(ctx)[0] == '\0') {
            abort();
        }
        return;
    }
    const clv_matrix *m = clv_data_matrix(data);
    if (m->rows < 1 || m->cols < 1 || clv_data_check_finite(data) != CLV_OK) {
        abort();
    }
    for (int64_t i = 0; clv_is_sparse(m) && i < m->rows; i++) {
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            if (m->index[e] < 0 || m->index[e] >= m->cols || (e > m->start[i] && m->index[e] <= m->index[e - 1])) {
                abort();
            }
        }
    }
    clv_data_free(data);
}

#endif
