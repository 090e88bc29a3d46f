/* MATLAB files: variables changed in class, dimensions or numbers, which then are as many as they must be; packed and
 * unpacked, doubled and left out. Sizes are right. */
#include "mutate.h"

#include <string.h>

enum { HEADER = 128, MOST = 8, PART = 1 << 13, MATRIX = 14, COMPRESSED = 15, FLAGS = 0, DIMENSIONS = 1, NAME = 2 };

/* One part of a variable: its tag says type and size. */
typedef struct part {
    uint32_t type;
    uint8_t data[PART];
    size_t size;
} part;

typedef struct variable {
    bool packed;
    part parts[MOST];
    size_t count;
} variable;

static uint32_t word_at(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void put_word(uint8_t *at, uint32_t value) {
    memcpy(at, &value, sizeof value);
}

/* The parts of what a matrix holds; false: they do not fit. */
static bool split_matrix(variable *v, const uint8_t *bytes, size_t size) {
    v->count = 0;
    for (size_t at = 0; size - at >= 8 && v->count < MOST;) {
        uint32_t first = word_at(bytes + at);
        bool small = first >> 16 != 0;
        size_t length = small ? first >> 16 : word_at(bytes + at + 4);
        if (length > PART || length > (small ? 4 : size - at - 8)) {
            return false;
        }
        part *p = &v->parts[v->count++];
        p->type = small ? first & 0xffff : first;
        p->size = length;
        memcpy(p->data, bytes + at + (small ? 4 : 8), length);
        size_t step = small ? 8 : 8 + (length + 7) / 8 * 8;
        at = step < size - at ? at + step : size;
    }
    return v->count > NAME;
}

/* The variables of a little-endian file; how many. */
static size_t split(variable *v, const uint8_t *bytes, size_t size) {
    static uint8_t unpacked[FUZZ_ROOM];
    size_t count = 0, at = HEADER;
    if (size < HEADER + 8 || memcmp(bytes + 124, "\x00\x01IM", 4) != 0) {
        return 0;
    }
    while (size - at >= 8 && count < MOST) {
        uint32_t type = word_at(bytes + at), length = word_at(bytes + at + 4);
        if (length > size - at - 8) {
            break;
        }
        const uint8_t *from = bytes + at + 8;
        size_t left = length;
        v[count].packed = type == COMPRESSED;
        if (type == COMPRESSED) {
            left = fuzz_inflate(from, length, unpacked, FUZZ_ROOM);
            from = unpacked + 8;
            left = left > 8 ? left - 8 : 0;
        }
        count += split_matrix(&v[count], from, left);
        at += 8 + length;
    }
    return count;
}

/* A matrix with its tag; 0: no room. */
static size_t join_matrix(const variable *v, uint8_t *to, size_t most) {
    size_t used = 8;
    for (size_t p = 0; p < v->count; p++) {
        const part *from = &v->parts[p];
        size_t padded = (from->size + 7) / 8 * 8;
        if (used + 8 + padded > most) {
            return 0;
        }
        put_word(to + used, from->type);
        put_word(to + used + 4, (uint32_t)from->size);
        memset(to + used + 8, 0, padded);
        memcpy(to + used + 8, from->data, from->size);
        used += 8 + padded;
    }
    put_word(to, MATRIX);
    put_word(to + 4, (uint32_t)used - 8);
    return used;
}

static size_t join(const variable *v, size_t count, uint8_t *bytes, size_t most) {
    static uint8_t whole[FUZZ_ROOM];
    size_t used = HEADER;
    for (size_t i = 0; i < count; i++) {
        size_t size = join_matrix(&v[i], whole, FUZZ_ROOM);
        size_t room = most > used + 8 ? most - used - 8 : 0;
        if (size == 0 || room == 0 || (!v[i].packed && size > room)) {
            return 0;
        }
        if (v[i].packed) {
            size = fuzz_deflate(whole, size, bytes + used + 8, room);
            put_word(bytes + used, COMPRESSED);
            put_word(bytes + used + 4, (uint32_t)size);
            used += size > 0 ? 8 + size : 0;
        } else {
            memcpy(bytes + used, whole, size);
            used += size;
        }
    }
    return used;
}

/* As many numbers as the dimensions say, of the type of the last part; of a sparse one as many columns. */
static void fit_numbers(variable *v) {
    static const size_t widths[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    part *last = &v->parts[v->count - 1];
    bool sparse = v->parts[FLAGS].data[0] == 5 && v->count == NAME + 4;
    size_t rows = word_at(v->parts[DIMENSIONS].data), cols = word_at(v->parts[DIMENSIONS].data + 4);
    size_t width = last->type < CLV_COUNT(widths) ? widths[last->type] : 0;
    if (rows > PART || cols > PART || v->count < NAME + 2) {
        return;
    }
    if (sparse) {
        part *starts = &v->parts[NAME + 2];
        size_t entries = last->size / 8;
        starts->size = 4 * (cols + 1) < PART ? 4 * (cols + 1) : PART;
        for (size_t j = 0; 4 * (j + 1) <= starts->size; j++) {
            put_word(starts->data + 4 * j, (uint32_t)(entries * j / (cols > 0 ? cols : 1)));
        }
    } else if (rows * cols * width <= PART) {
        last->size = rows * cols * width;
    }
}

static void change(clv_rng *rng, variable *v) {
    static const uint32_t types[] = {1, 2, 3, 4, 5, 6, 7, 7, 9, 9, 9, 12, 13, 14, 15, 16};
    static const uint8_t classes[] = {1, 2, 4, 5, 5, 6, 6, 6, 7, 7, 8, 9, 12, 15, 17};
    part *any = &v->parts[clv_rng_below(rng, (int64_t)v->count)], *last = &v->parts[v->count - 1];
    switch (clv_rng_below(rng, 8)) {
    case 0:
        v->packed = !v->packed;
        break;
    case 1:
        v->parts[FLAGS].data[0] = FUZZ_PICK(rng, classes);
        break;
    case 2:
        v->parts[FLAGS].data[1] ^= (uint8_t)(1 << clv_rng_below(rng, 8)); /* complex, global, logical */
        break;
    case 3:
    case 4:
        put_word(v->parts[DIMENSIONS].data + 4 * clv_rng_below(rng, 2), fuzz_pick_size(rng));
        fit_numbers(v);
        break;
    case 5:
        last->type = FUZZ_PICK(rng, types);
        fit_numbers(v);
        break;
    case 6: /* one part more, or fewer */
        v->count += v->count < MOST && clv_rng_below(rng, 2) ? 1 : (size_t)-1;
        break;
    default:
        any->size = LLVMFuzzerMutate(any->data, any->size, clv_rng_below(rng, 4) ? any->size : PART);
    }
}

size_t fuzz_mutate_mat(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    static variable v[MOST + 1];
    size_t count = split(v, bytes, size);
    if (count == 0) {
        return 0;
    }
    size_t at = (size_t)clv_rng_below(rng, (int64_t)count);
    switch (clv_rng_below(rng, 12)) {
    case 0: /* twice */
        v[count++] = v[at];
        break;
    case 1: /* without it */
        v[at] = v[count - 1];
        count -= count > 1;
        break;
    default:
        change(rng, &v[at]);
    }
    return join(v, count, bytes, most);
}
