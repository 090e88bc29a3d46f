/* Checkpoints of a small run, with their hash made right: the first byte says of which method. */
#include "fuzz.h"

#include "engine/archive.h"
#include "methods/methods.h"

#include <string.h>

enum { N = 12, P = 3, TAIL = 8, POLLS = 2000 };

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_result *result = NULL;
    int left = POLLS;
    size_t count, whole = size > 1 ? size - 1 + TAIL : 0;
    const clv_method *const *methods = clv_methods(&count);
    unsigned char *copy = malloc(whole + 1);
    clv_context_set_interrupt(ctx, end_soon, &left);
    if (copy && whole > 0) {
        uint64_t hash = clv_hash(1, bytes + 1, size - 1);
        memcpy(copy, bytes + 1, size - 1);
        for (int b = 0; b < TAIL; b++) {
            copy[size - 1 + (size_t)b] = (unsigned char)(hash >> (8 * b));
        }
        clv_status status = clv_context_resume(ctx, copy, whole);
        if (status == CLV_OK) {
            status = solve(ctx, methods[bytes[0] % count], &result);
            clv_result_free(result);
        }
        if (status != CLV_OK && clv_message(ctx)[0] == '\0') {
            abort();
        }
    }
    free(copy);
    fuzz_close(ctx, &memory);
    return 0;
}
