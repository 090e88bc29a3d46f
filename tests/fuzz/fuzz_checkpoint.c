/* Checkpoints of small runs, edited, with their hash made right: the first byte says of which method, the others what
 * is changed. */
#include "fuzz.h"

#include "engine/archive.h"
#include "methods/methods.h"

#include <string.h>

enum { N = 12, P = 3, TAIL = 8, POLLS = 2000, METHODS = 32, KEPT = 3 };

/* Whatever the numbers say, the run ends. */
static int end_soon(void *user) {
    int *left = user;
    return --*left < 0;
}

static clv_status solve(clv_context *ctx, const clv_method *method, clv_result **out) {
    double values[N * P], targets[N];
    clv_options_room room;
    clv_affinity_options how;
    clv_affinity *affinity = NULL;
    clv_rng rng = clv_rng_stream(1, 0);
    for (int i = 0; i < N * P; i++) {
        values[i] = 3 * (i / P % 2) + clv_rng_normal(&rng);
        targets[i / P] = i / P % 2;
    }
    const clv_matrix points = {.rows = N, .cols = P, .values = values};
    const clv_matrix y = {.rows = N, .cols = 1, .values = targets};
    clv_input input = {.points = &points, .targets = &y};
    clv_method_defaults(method, room.bytes, method->options->size);
    CLV_TRY(clv_options_set(ctx, method->options, room.bytes, "k", "2"));
    ((clv_control *)(void *)room.bytes)->restarts = 2;
    ((clv_control *)(void *)room.bytes)->threads = 1;
    clv_affinity_defaults(&how);
    if (method->takes == CLV_TAKES_AFFINITY) {
        CLV_TRY(clv_affinity_build(ctx, &points, &how, &affinity));
        input = (clv_input){.affinity = affinity};
    }
    clv_status status = clv_solve(ctx, method, &input, room.bytes, out);
    clv_affinity_free(affinity);
    return status;
}

/* A checkpoint on the way of each method, made once. */
typedef struct kept {
    unsigned char *bytes;
    size_t size;
    int count;
} kept;

static int keep(const void *bytes, size_t size, void *user) {
    kept *k = user;
    if (k->count++ < KEPT) {
        free(k->bytes);
        k->bytes = malloc(size);
        k->size = size;
        if (!k->bytes) {
            abort();
        }
        memcpy(k->bytes, bytes, size);
    }
    return 0;
}

static const kept *checkpoint_of(const clv_method *method, size_t number) {
    static kept made[METHODS];
    kept *k = &made[number];
    if (!k->bytes) {
        fuzz_memory memory;
        clv_context *ctx = fuzz_open(&memory);
        clv_result *result = NULL;
        clv_context_set_checkpoint(ctx, keep, k, 0);
        if (solve(ctx, method, &result) < 0 || !k->bytes) {
            abort();
        }
        clv_result_free(result);
        fuzz_close(ctx, &memory);
    }
    return k;
}

/* Four bytes of the input are a place, and a byte or an odd number to be put there. */
static void edit(unsigned char *bytes, size_t size, const uint8_t *how) {
    static const int64_t odd[] = {0, -1, 1, -3, INT64_MAX, INT64_MIN, 1 << 20, INT64_C(0x7ff0000000000000)};
    size_t at = (size_t)(how[0] | how[1] << 8) * size >> 16;
    if (how[3] & 1 && size - at >= sizeof odd[0]) {
        memcpy(bytes + at, &odd[how[2] % CLV_COUNT(odd)], sizeof odd[0]);
    } else {
        bytes[at] = how[2];
    }
}

static void seal(unsigned char *bytes, size_t size) {
    uint64_t hash = clv_hash(1, bytes, size - TAIL);
    for (size_t b = 0; b < TAIL; b++) {
        bytes[size - TAIL + b] = (unsigned char)(hash >> (8 * b));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    size_t count, number;
    const clv_method *const *methods = clv_methods(&count);
    fuzz_memory memory;
    clv_result *result = NULL;
    int left = POLLS;
    if (size < 1 || count > METHODS) {
        return 0;
    }
    number = bytes[0] % count;
    if (!(methods[number]->abilities & CLV_CHECKPOINTS)) {
        return 0;
    }
    const kept *from = checkpoint_of(methods[number], number);
    unsigned char *copy = malloc(from->size);
    if (!copy) {
        return 0;
    }
    memcpy(copy, from->bytes, from->size);
    for (size_t at = 1; at + 4 <= size; at += 4) {
        edit(copy, from->size - TAIL, bytes + at);
    }
    seal(copy, from->size);
    clv_context *ctx = fuzz_open(&memory);
    clv_context_set_interrupt(ctx, end_soon, &left);
    clv_status status = clv_context_resume(ctx, copy, from->size);
    status = status < 0 ? status : solve(ctx, methods[number], &result);
    if (status < 0 ? clv_message(ctx)[0] == '\0' : !result) {
        abort();
    }
    clv_result_free(result);
    free(copy);
    fuzz_close(ctx, &memory);
    return 0;
}
