/* What targets that make a small problem of their bytes share: numbers from these, and an end to every computation. */
#ifndef CLV_FUZZ_DRAW_H
#define CLV_FUZZ_DRAW_H

#include "fuzz.h"

typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t count;
} fuzz_bytes;

/* 0 where there are no more. */
static inline unsigned fuzz_next(fuzz_bytes *from) {
    if (from->count == 0) {
        return 0;
    }
    from->count--;
    return *from->at++;
}

/* Small numbers with equal ones among them; where they are `wide`, now and then one of another scale. */
static inline double fuzz_number(fuzz_bytes *from, bool wide) {
    static const double scales[] = {1, 1, 1, 1, 1, 1e-8, 1e8, 1e30};
    unsigned byte = fuzz_next(from);
    return ((double)(byte & 31) - 12) / 4 * (wide ? scales[byte >> 5] : 1);
}

/* For clv_context_set_interrupt, with a count of the questions so far: whatever the numbers are, it ends. */
static inline int fuzz_has_asked_enough(void *polls) {
    enum { MOST_POLLS = 1000 };
    return ++*(int *)polls > MOST_POLLS;
}

#endif
