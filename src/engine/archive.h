/* The bytes of a checkpoint: typed, little endian, each item with its type and its length. One function of a method
 * passes its state through an archive in either direction: it is written, or it is read and must be what is expected.
 * What is read can be anything: places and counts lie between the bounds given, long lists of numbers are finite. */
#ifndef CLV_ARCHIVE_H
#define CLV_ARCHIVE_H

#include "base/base.h"

typedef struct clv_packed {
    unsigned char *data;
    size_t size, capacity;
} clv_packed;
/* Room for so many more. */
clv_status clv_packed_reserve(clv_context *ctx, clv_packed *bytes, size_t more);
void clv_packed_free(clv_context *ctx, clv_packed *bytes);

typedef struct clv_archive {
    clv_context *ctx;
    bool loading;
    clv_status status; /* the first failure sticks, and nothing is passed after it; check it before places are used */
    clv_packed *to;    /* written: behind what is there */
    const unsigned char *from;
    size_t size, at; /* read */
} clv_archive;

clv_archive clv_archive_to(clv_context *ctx, clv_packed *to);
clv_archive clv_archive_from(clv_context *ctx, const unsigned char *from, size_t size);
/* What was read is not a state: CLV_EDATA, unless there was a failure before. */
clv_status clv_archive_refuse(clv_archive *a);
/* All of it was read, and nothing was wrong. */
clv_status clv_archive_end(clv_archive *a);

/* Finite numbers; any numbers. */
void clv_pass_reals(clv_archive *a, double *values, int64_t count);
void clv_pass_any_reals(clv_archive *a, double *values, int64_t count);
void clv_pass_floats(clv_archive *a, float *values, int64_t count);
/* Within least..most. */
void clv_pass_labels(clv_archive *a, int32_t *values, int64_t count, int64_t least, int64_t most);
void clv_pass_places(clv_archive *a, int64_t *values, int64_t count, int64_t least, int64_t most);
/* Numbers of either type, by how a matrix keeps them. */
void clv_pass_scalars(clv_archive *a, clv_scalar scalar, void *values, int64_t count);
void clv_pass_real(clv_archive *a, double *value);                                  /* any */
void clv_pass_integer(clv_archive *a, int64_t *value, int64_t least, int64_t most); /* `least` after a failure */
void clv_pass_int(clv_archive *a, int *value, int least, int most);
/* How many of something that takes at least `size` bytes each: never more than are there. */
void clv_pass_count(clv_archive *a, int64_t *value, int64_t most, size_t size);
void clv_pass_flag(clv_archive *a, bool *value);
void clv_pass_rng(clv_archive *a, clv_rng *rng);
/* A text, to be compared or written; one that is read is the caller's. */
void clv_pass_text(clv_archive *a, char **text);
/* Bytes inside: when they are read, a part of what is read. */
void clv_pass_bytes(clv_archive *a, const unsigned char **data, size_t *size);

/* A hash of 64 bits, which is not meant to withstand an enemy. */
uint64_t clv_hash(uint64_t seed, const void *data, size_t size);
static inline uint64_t clv_hash_mix(uint64_t h) {
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

#endif
