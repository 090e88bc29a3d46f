/* Terms by number, numbers by term: a hash table with open addressing over texts that lie one after the other. */
#include "features/text/text.h"

#include <string.h>

enum { FIRST_BUCKETS = 1024 };

/* Eight bytes at a time, each mixed by a multiplication. */
static uint32_t hash_of(clv_word term) {
    uint64_t mixed = 0x9e3779b97f4a7c15u ^ term.size;
    size_t at = 0;
    for (; term.size - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, term.bytes + at, sizeof eight);
        mixed = (mixed ^ eight) * 0xff51afd7ed558ccdu;
        mixed ^= mixed >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, term.bytes + at, term.size - at);
    mixed = (mixed ^ rest) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(mixed >> 32);
}

static bool is_term(const clv_vocabulary *v, int32_t t, uint32_t hash, clv_word term) {
    size_t size = (size_t)(v->start[t + 1] - v->start[t] - 1);
    return v->hash[t] == hash && size == term.size && memcmp(v->bytes + v->start[t], term.bytes, size) == 0;
}

/* The bucket of a term, or the free one where it belongs. */
static int64_t bucket_of(const clv_vocabulary *v, uint32_t hash, clv_word term) {
    int64_t at = hash & (v->buckets - 1);
    while (v->slots[at] >= 0 && !is_term(v, v->slots[at], hash, term)) {
        at = (at + 1) & (v->buckets - 1);
    }
    return at;
}

static void fill_slots(clv_vocabulary *v) {
    memset(v->slots, 0xff, (size_t)v->buckets * sizeof *v->slots);
    for (int32_t t = 0; t < v->count; t++) {
        int64_t at = v->hash[t] & (v->buckets - 1);
        while (v->slots[at] >= 0) {
            at = (at + 1) & (v->buckets - 1);
        }
        v->slots[at] = t;
    }
}

/* Room for one more term; at most half of the buckets are taken. */
static bool grow_table(clv_vocabulary *v) {
    if (v->count < v->most) {
        return true;
    }
    int64_t buckets = v->buckets ? 2 * v->buckets : FIRST_BUCKETS;
    if (buckets > INT32_MAX) {
        clv_fail(v->ctx, CLV_ENOMEM, "the texts have more than %d different terms", v->count);
        return false;
    }
    int32_t *slots = CLV_NEW(v->ctx, int32_t, buckets);
    int64_t *start = clv_resize(v->ctx, v->start, buckets / 2 + 1, sizeof *start);
    v->start = start ? start : v->start;
    uint32_t *hash = clv_resize(v->ctx, v->hash, buckets / 2, sizeof *hash);
    v->hash = hash ? hash : v->hash;
    if (!slots || !start || !hash) {
        clv_free(v->ctx, slots);
        return false;
    }
    clv_free(v->ctx, v->slots);
    v->slots = slots;
    v->buckets = buckets;
    v->most = (int32_t)(buckets / 2);
    fill_slots(v);
    return true;
}

int32_t clv_vocabulary_add(clv_vocabulary *v, clv_word term) {
    uint32_t hash = hash_of(term);
    if (!grow_table(v) || clv_make_room(v->ctx, (void **)&v->bytes, v->used, (int64_t)term.size + 1, &v->room, 1) < 0) {
        return -1;
    }
    int64_t at = bucket_of(v, hash, term);
    if (v->slots[at] < 0) {
        v->slots[at] = v->count;
        v->start[v->count] = v->used;
        v->hash[v->count] = hash;
        memcpy(v->bytes + v->used, term.bytes, term.size);
        v->bytes[v->used + (int64_t)term.size] = '\0';
        v->used += (int64_t)term.size + 1;
        v->start[++v->count] = v->used;
    }
    return v->slots[at];
}

int32_t clv_vocabulary_find(const clv_vocabulary *v, clv_word term) {
    return v->count ? v->slots[bucket_of(v, hash_of(term), term)] : -1;
}

void clv_vocabulary_clear(clv_vocabulary *v) {
    v->count = 0;
    v->used = 0;
    if (v->buckets) {
        memset(v->slots, 0xff, (size_t)v->buckets * sizeof *v->slots);
    }
}

void clv_vocabulary_free(clv_vocabulary *v) {
    clv_free(v->ctx, v->bytes);
    clv_free(v->ctx, v->start);
    clv_free(v->ctx, v->hash);
    clv_free(v->ctx, v->slots);
}
