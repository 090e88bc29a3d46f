/* The bytes of a checkpoint. An item is a letter, a count (8 bytes) and its numbers, all little endian. */
#include "engine/archive.h"

#include <math.h>
#include <string.h>

enum { HEAD = 1 + sizeof(uint64_t) };

/* --- bytes --- */

clv_status clv_packed_reserve(clv_context *ctx, clv_packed *bytes, size_t more) {
    if (more <= bytes->capacity - bytes->size) {
        return CLV_OK;
    }
    if (more > INT64_MAX / 4 || bytes->size > INT64_MAX / 4) {
        return clv_fail(ctx, CLV_ENOMEM, "a checkpoint of %zu bytes is more than can be addressed", more);
    }
    size_t needed = bytes->size + more, capacity = bytes->size > 0 ? needed + needed / 4 : needed;
    unsigned char *grown = clv_alloc(ctx, (int64_t)capacity, 1);
    if (!grown) {
        return CLV_ENOMEM;
    }
    if (bytes->size > 0) {
        memcpy(grown, bytes->data, bytes->size);
    }
    clv_free(ctx, bytes->data);
    clv_set_aside(ctx, (int64_t)(capacity - bytes->capacity));
    bytes->data = grown;
    bytes->capacity = capacity;
    return CLV_OK;
}

void clv_packed_free(clv_context *ctx, clv_packed *bytes) {
    clv_set_aside(ctx, -(int64_t)bytes->capacity);
    clv_free(ctx, bytes->data);
    *bytes = (clv_packed){0};
}

/* --- an archive --- */

clv_archive clv_archive_to(clv_context *ctx, clv_packed *to) {
    return (clv_archive){.ctx = ctx, .to = to};
}

clv_archive clv_archive_from(clv_context *ctx, const unsigned char *from, size_t size) {
    return (clv_archive){.ctx = ctx, .loading = true, .from = from, .size = size};
}

clv_status clv_archive_refuse(clv_archive *a) {
    if (a->status == CLV_OK) {
        a->status =
            clv_fail(a->ctx, CLV_EDATA, "the checkpoint does not fit this run: what it holds is no state of it");
    }
    return a->status;
}

clv_status clv_archive_end(clv_archive *a) {
    return a->loading && a->status == CLV_OK && a->at != a->size ? clv_archive_refuse(a) : a->status;
}

/* Numbers of `width` bytes, as they lie here and there. */
static void copy_numbers(void *to, const void *from, size_t count, size_t width) {
    if (count > 0) {
        memcpy(to, from, count * width);
    }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    unsigned char *bytes = to;
    for (size_t i = 0; i < count * width; i += width) {
        for (size_t b = 0; b < width / 2; b++) {
            unsigned char held = bytes[i + b];
            bytes[i + b] = bytes[i + width - 1 - b];
            bytes[i + width - 1 - b] = held;
        }
    }
#endif
}

static void put(clv_archive *a, char kind, const void *values, size_t count, size_t width) {
    uint64_t written = count;
    if (a->status == CLV_OK) {
        a->status = clv_packed_reserve(a->ctx, a->to, HEAD + count * width);
    }
    if (a->status < 0) {
        return;
    }
    unsigned char *at = a->to->data + a->to->size;
    at[0] = (unsigned char)kind;
    copy_numbers(at + 1, &written, 1, sizeof written);
    copy_numbers(at + HEAD, values, count, width);
    a->to->size += HEAD + count * width;
}

/* Where the numbers of the next item are, and how many; NULL: it is not there. */
static const unsigned char *next(clv_archive *a, char kind, size_t width, uint64_t *count) {
    if (a->status == CLV_OK && (a->size - a->at < HEAD || a->from[a->at] != (unsigned char)kind)) {
        clv_archive_refuse(a);
    }
    if (a->status < 0) {
        return NULL;
    }
    copy_numbers(count, a->from + a->at + 1, 1, sizeof *count);
    if (*count > (a->size - a->at - HEAD) / width) {
        clv_archive_refuse(a);
        return NULL;
    }
    const unsigned char *found = a->from + a->at + HEAD;
    a->at += HEAD + (size_t)*count * width;
    return found;
}

static bool pass(clv_archive *a, char kind, void *values, int64_t count, size_t width) {
    uint64_t found;
    if (!a->loading) {
        put(a, kind, values, (size_t)count, width);
        return a->status == CLV_OK;
    }
    const unsigned char *from = next(a, kind, width, &found);
    if (from && found != (uint64_t)count) {
        clv_archive_refuse(a);
    } else if (from) {
        copy_numbers(values, from, (size_t)count, width);
    }
    return a->status == CLV_OK;
}

void clv_pass_any_reals(clv_archive *a, double *values, int64_t count) {
    pass(a, 'd', values, count, sizeof *values);
}

void clv_pass_scalars(clv_archive *a, clv_scalar scalar, void *values, int64_t count) {
    bool is_float = scalar == CLV_F32,
         fine = pass(a, is_float ? 'f' : 'd', values, count, is_float ? sizeof(float) : sizeof(double));
    for (int64_t i = 0; fine && a->loading && i < count; i++) {
        fine = is_float ? isfinite(((const float *)values)[i]) : isfinite(((const double *)values)[i]);
    }
    if (!fine) {
        clv_archive_refuse(a);
    }
}

void clv_pass_reals(clv_archive *a, double *values, int64_t count) {
    clv_pass_scalars(a, CLV_F64, values, count);
}

void clv_pass_floats(clv_archive *a, float *values, int64_t count) {
    clv_pass_scalars(a, CLV_F32, values, count);
}

void clv_pass_labels(clv_archive *a, int32_t *values, int64_t count, int64_t least, int64_t most) {
    bool fine = pass(a, 'l', values, count, sizeof *values);
    for (int64_t i = 0; fine && a->loading && i < count; i++) {
        fine = values[i] >= least && values[i] <= most;
    }
    if (!fine) {
        clv_archive_refuse(a);
    }
}

void clv_pass_places(clv_archive *a, int64_t *values, int64_t count, int64_t least, int64_t most) {
    bool fine = pass(a, 'i', values, count, sizeof *values);
    for (int64_t i = 0; fine && a->loading && i < count; i++) {
        fine = values[i] >= least && values[i] <= most;
    }
    if (!fine) {
        clv_archive_refuse(a);
    }
}

void clv_pass_real(clv_archive *a, double *value) {
    clv_pass_any_reals(a, value, 1);
}

void clv_pass_integer(clv_archive *a, int64_t *value, int64_t least, int64_t most) {
    int64_t held = *value;
    clv_pass_places(a, &held, 1, least, most);
    *value = a->loading && a->status < 0 ? least : held;
}

void clv_pass_int(clv_archive *a, int *value, int least, int most) {
    int64_t held = *value;
    clv_pass_integer(a, &held, least, most);
    *value = (int)held;
}

void clv_pass_count(clv_archive *a, int64_t *value, int64_t most, size_t size) {
    clv_pass_integer(a, value, 0, most);
    if (a->loading && a->status == CLV_OK && (uint64_t)*value > (a->size - a->at) / size) {
        clv_archive_refuse(a);
        *value = 0;
    }
}

void clv_pass_flag(clv_archive *a, bool *value) {
    int held = *value;
    clv_pass_int(a, &held, 0, 1);
    *value = held != 0;
}

/* A generator that is all zero would give nothing else for ever. */
void clv_pass_rng(clv_archive *a, clv_rng *rng) {
    bool fine = pass(a, 'u', rng->s, 4, sizeof rng->s[0]);
    if (!fine || !(rng->s[0] | rng->s[1] | rng->s[2] | rng->s[3])) {
        clv_archive_refuse(a);
    }
}

void clv_pass_bytes(clv_archive *a, const unsigned char **data, size_t *size) {
    uint64_t found = 0;
    if (!a->loading) {
        put(a, 'b', *data, *size, 1);
        return;
    }
    *data = next(a, 'b', 1, &found);
    *size = *data ? (size_t)found : 0;
}

void clv_pass_text(clv_archive *a, char **text) {
    const unsigned char *data = (const unsigned char *)*text;
    size_t size = a->loading ? 0 : strlen(*text);
    clv_pass_bytes(a, &data, &size);
    if (!a->loading) {
        return;
    }
    *text = clv_alloc(a->ctx, (int64_t)size + 1, 1);
    if (!*text) {
        a->status = CLV_ENOMEM;
        return;
    }
    if (size > 0) {
        memcpy(*text, data, size);
    }
    (*text)[size] = 0;
}

/* --- hashes --- */

uint64_t clv_hash(uint64_t seed, const void *data, size_t size) {
    const unsigned char *at = data;
    uint64_t h = clv_hash_mix(seed + size);
    for (; size >= sizeof h; at += sizeof h, size -= sizeof h) {
        uint64_t word;
        copy_numbers(&word, at, 1, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    for (; size > 0; at++, size--) {
        h = (h ^ *at) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return clv_hash_mix(h);
}
