/* PNG: chunks changed, moved, doubled or new, with their check sums; the samples, deflated again. */
#include "mutate.h"

#include <string.h>
#include <zlib.h>

enum { SIGNATURE = 8, MOST_CHUNKS = 24, SAMPLES = 1 << 15 };

typedef struct chunk {
    char type[4];
    const uint8_t *data;
    size_t size;
} chunk;

typedef struct picture {
    chunk chunks[MOST_CHUNKS + 1];
    size_t count;
    uint8_t bytes[FUZZ_ROOM], changed[FUZZ_ROOM]; /* of the file, and of a chunk that became another */
} picture;

static uint32_t word_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_word(uint8_t *at, uint32_t value) {
    for (int b = 0; b < 4; b++) {
        at[b] = (uint8_t)(value >> (24 - 8 * b));
    }
}

static bool split(picture *p, const uint8_t *bytes, size_t size) {
    if (size < SIGNATURE + 12 || size > FUZZ_ROOM || memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE) != 0) {
        return false;
    }
    memcpy(p->bytes, bytes, size);
    p->count = 0;
    for (size_t at = SIGNATURE; size - at >= 12 && p->count < MOST_CHUNKS;) {
        size_t length = word_at(bytes + at);
        if (length > size - at - 12) {
            break;
        }
        chunk *c = &p->chunks[p->count++];
        *c = (chunk){.data = p->bytes + at + 8, .size = length};
        memcpy(c->type, bytes + at + 4, 4);
        at += 12 + length;
    }
    return p->count > 0;
}

static size_t join(const picture *p, uint8_t *bytes, size_t most) {
    size_t used = SIGNATURE;
    for (size_t i = 0; i < p->count; i++) {
        const chunk *c = &p->chunks[i];
        if (used + 12 + c->size > most) {
            return 0;
        }
        put_word(bytes + used, (uint32_t)c->size);
        memcpy(bytes + used + 4, c->type, 4);
        memcpy(bytes + used + 8, c->data, c->size);
        put_word(bytes + used + 8 + c->size, (uint32_t)crc32(0, bytes + used + 4, (uInt)(4 + c->size)));
        used += 12 + c->size;
    }
    return used;
}

static bool is(const chunk *c, const char *type) {
    return memcmp(c->type, type, 4) == 0;
}

/* Width, height, depth, colors, or the order of the rows. */
static void change_header(clv_rng *rng, picture *p) {
    static const uint8_t depths[] = {1, 2, 4, 8, 8, 8, 16, 3}, colors[] = {0, 0, 2, 2, 3, 4, 6, 1};
    chunk *c = &p->chunks[0];
    if (!is(c, "IHDR") || c->size != 13) {
        return;
    }
    memcpy(p->changed, c->data, c->size);
    switch (clv_rng_below(rng, 4)) {
    case 0:
        put_word(p->changed + 4 * clv_rng_below(rng, 2), fuzz_pick_size(rng));
        break;
    case 1:
        p->changed[8] = FUZZ_PICK(rng, depths);
        break;
    case 2:
        p->changed[9] = FUZZ_PICK(rng, colors);
        break;
    default:
        p->changed[12] ^= 1;
    }
    c->data = p->changed;
}

/* All samples in one chunk, changed, or made as many as 64 x 64 pixels of any kind need. */
static void change_samples(clv_rng *rng, picture *p) {
    static uint8_t packed[FUZZ_ROOM], samples[SAMPLES];
    size_t first = p->count, size = 0, kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (is(&p->chunks[i], "IDAT")) {
            memcpy(packed + size, p->chunks[i].data, p->chunks[i].size);
            size += p->chunks[i].size;
            first = first == p->count ? i : first;
        }
    }
    size_t count = fuzz_inflate(packed, size, samples, SAMPLES);
    if (first == p->count || count == 0) {
        return;
    }
    if (clv_rng_below(rng, 4) == 0) {
        memset(samples + count, (int)clv_rng_below(rng, 5), SAMPLES - count);
        count = SAMPLES;
    } else {
        count = LLVMFuzzerMutate(samples, count, SAMPLES);
    }
    p->chunks[first] = (chunk){"IDAT", p->changed, fuzz_deflate(samples, count, p->changed, FUZZ_ROOM)};
    for (size_t i = 0; i < p->count; i++) {
        if (i <= first || !is(&p->chunks[i], "IDAT")) {
            p->chunks[kept++] = p->chunks[i];
        }
    }
    p->count = kept;
}

/* Another chunk before number `at`. */
static void add_chunk(clv_rng *rng, picture *p, size_t at) {
    static const char *const types[] = {"PLTE", "PLTE", "tRNS", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD",
                                        "hIST", "pHYs", "sPLT", "tEXt", "zTXt", "iTXt", "tIME", "IDAT", "IEND", "eXIf"};
    static const uint8_t sizes[] = {1, 2, 3, 4, 6, 6, 9, 12, 32, 192};
    if (p->count == MOST_CHUNKS) {
        return;
    }
    memmove(p->chunks + at + 1, p->chunks + at, (p->count - at) * sizeof p->chunks[0]);
    p->chunks[at] = (chunk){.data = p->changed, .size = FUZZ_PICK(rng, sizes)};
    memcpy(p->chunks[at].type, FUZZ_PICK(rng, types), 4);
    for (size_t i = 0; i < p->chunks[at].size; i++) {
        p->changed[i] = (uint8_t)clv_rng_below(rng, 256);
    }
    p->count++;
}

static void change_chunks(clv_rng *rng, picture *p) {
    size_t at = (size_t)clv_rng_below(rng, (int64_t)p->count), other = (size_t)clv_rng_below(rng, (int64_t)p->count);
    chunk kept = p->chunks[at];
    switch (clv_rng_below(rng, 4)) {
    case 0: /* in another place */
        p->chunks[at] = p->chunks[other];
        p->chunks[other] = kept;
        break;
    case 1: /* no more */
        memmove(p->chunks + at, p->chunks + at + 1, (p->count - at - 1) * sizeof kept);
        p->count -= p->count > 1;
        break;
    case 2: /* with other data */
        memcpy(p->changed, kept.data, kept.size);
        p->chunks[at].data = p->changed;
        p->chunks[at].size = LLVMFuzzerMutate(p->changed, kept.size, kept.size + 64);
        break;
    default:
        add_chunk(rng, p, at);
    }
}

size_t fuzz_mutate_png(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    static picture p;
    if (!split(&p, bytes, size)) {
        return 0;
    }
    static void (*const changes[])(clv_rng *, picture *) = {change_header, change_samples, change_samples,
                                                            change_chunks};
    FUZZ_PICK(rng, changes)(rng, &p);
    return join(&p, bytes, most);
}
