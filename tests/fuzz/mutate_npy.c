/* .npy: another type, order, shape or version, with as many bytes of numbers as they need; or other numbers. */
#include "mutate.h"

#include <stdio.h>
#include <string.h>

enum { PREFIX = 10, MOST_DIMENSIONS = 4 };

/* Where the numbers begin; 0: it is no .npy file. */
static size_t body_of(const uint8_t *bytes, size_t size) {
    if (size < PREFIX + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return 0;
    }
    size_t start = PREFIX + (size_t)(bytes[8] | bytes[9] << 8) + (bytes[6] > 1 ? 2 : 0);
    return start <= size ? start : 0;
}

/* "(2, 3)", and how many entries that is; many: they would not fit anyway. */
static size_t draw_shape(clv_rng *rng, char *text, size_t room) {
    int64_t dimensions =
        clv_rng_below(rng, 8) > 0 ? 1 + clv_rng_below(rng, 2) : clv_rng_below(rng, MOST_DIMENSIONS + 1);
    size_t count = 1, used = (size_t)snprintf(text, room, "(");
    for (int64_t d = 0; d < dimensions; d++) {
        uint32_t size = fuzz_pick_size(rng);
        count = size > FUZZ_ROOM ? 0 : count * size;
        used += (size_t)snprintf(text + used, room - used, "%s%u", d > 0 ? ", " : "", size);
    }
    snprintf(text + used, room - used, dimensions == 1 ? ",)" : ")");
    return count;
}

/* A new header before numbers that are repeated, or cut off, as it needs. */
static size_t mutate_header(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    static const char *const types[] = {"<f8", "<f8", "<f4", "<f4", ">f8", "<f2", "<i8", "<i4", "<i2", "|i1",
                                        "|u1", "|u1", "<u8", ">u2", "|b1", ">i4", "<c8", "|S3", "|O",  "<f16"};
    static uint8_t made[FUZZ_ROOM];
    const char *type = FUZZ_PICK(rng, types);
    char shape[64], text[256];
    size_t start = body_of(bytes, size), left = size - start, numbers = draw_shape(rng, shape, sizeof shape);
    size_t width = (size_t)(type[2] - '0'), version = clv_rng_below(rng, 4) > 0 ? 1 : 2 + (size_t)clv_rng_below(rng, 2);
    size_t prefix = version > 1 ? PREFIX + 2 : PREFIX;
    int used = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type,
                        clv_rng_below(rng, 2) ? "True" : "False", shape);
    size_t padded = (prefix + (size_t)used + 64) / 64 * 64 - prefix, need = prefix + padded + numbers * width;
    if (width > 16 || need > most) {
        return 0;
    }
    memcpy(made, "\x93NUMPY\0\0\0\0\0\0", 12);
    made[6] = (uint8_t)version;
    made[8] = (uint8_t)padded;
    memset(made + prefix, ' ', padded);
    memcpy(made + prefix, text, (size_t)used);
    made[prefix + padded - 1] = '\n';
    for (size_t i = 0; i < numbers * width; i++) {
        made[prefix + padded + i] = left > 0 ? bytes[start + i % left] : 1;
    }
    memcpy(bytes, made, need);
    return need;
}

size_t fuzz_mutate_npy(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    size_t start = body_of(bytes, size);
    if (start == 0) {
        return 0;
    }
    if (clv_rng_below(rng, 2) || start == size) {
        return mutate_header(rng, bytes, size, most);
    }
    static uint8_t numbers[FUZZ_ROOM];
    size_t left = size - start < FUZZ_ROOM ? size - start : FUZZ_ROOM;
    memcpy(numbers, bytes + start, left);
    size_t changed = LLVMFuzzerMutate(numbers, left, left);
    memcpy(bytes + start, numbers, changed);
    return size;
}
