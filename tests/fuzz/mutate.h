/* Mutators that know a format: the sizes, counts and check sums of what they make are right, so that a reader gets past
 * its first checks. libFuzzer's own mutations, which break these, are made one time in four, and of what is no file of
 * the format. */
#ifndef CLV_FUZZ_MUTATE_H
#define CLV_FUZZ_MUTATE_H

#include "base/base.h"

enum { FUZZ_ROOM = 1 << 16 }; /* no mutated file is longer */

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

/* Changes a file of `size` bytes, in room for `most`; its new size, or 0 where it is none, or has no room. */
typedef size_t (*fuzz_mutator)(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);
size_t fuzz_mutate_npy(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);
size_t fuzz_mutate_mat(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);
size_t fuzz_mutate_mtx(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);
size_t fuzz_mutate_png(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);
size_t fuzz_mutate_json(clv_rng *rng, uint8_t *bytes, size_t size, size_t most);

static inline size_t fuzz_mutate(fuzz_mutator mutate, uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    size_t made = clv_rng_below(&rng, 4) > 0 ? mutate(&rng, bytes, size, most < FUZZ_ROOM ? most : FUZZ_ROOM) : 0;
    return made > 0 ? made : LLVMFuzzerMutate(bytes, size, most);
}

/* One entry of an array. */
#define FUZZ_PICK(rng, array) ((array)[clv_rng_below((rng), CLV_COUNT(array))])

/* A size that a matrix may have: mostly small. */
static inline uint32_t fuzz_pick_size(clv_rng *rng) {
    static const uint32_t sizes[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 17, 64, 65, 255, 0x7fffffff, 0xffffffff};
    return FUZZ_PICK(rng, sizes);
}

/* `size` bytes of deflate's output into room for `most`, or inflated; 0: they do not fit, or are damaged. */
size_t fuzz_deflate(const uint8_t *bytes, size_t size, uint8_t *to, size_t most);
size_t fuzz_inflate(const uint8_t *bytes, size_t size, uint8_t *to, size_t most);

#endif
