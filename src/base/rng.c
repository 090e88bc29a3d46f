/* xoshiro256++ (Blackman and Vigna 2021). A stream is seeded by splitmix64 from a mix of seed and stream number, so
 * that restarts can draw in parallel and in any order with the same result. */
#include "base/base.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

clv_rng clv_rng_stream(uint64_t seed, uint64_t stream) {
    uint64_t mixed = stream;
    uint64_t state = seed ^ splitmix64(&mixed);
    clv_rng rng;
    for (int i = 0; i < 4; i++) {
        rng.s[i] = splitmix64(&state);
    }
    return rng;
}

static uint64_t rotate(uint64_t x, int by) {
    return (x << by) | (x >> (64 - by));
}

uint64_t clv_rng_next(clv_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double clv_rng_uniform(clv_rng *rng) {
    return (double)(clv_rng_next(rng) >> 11) * 0x1p-53;
}

int64_t clv_rng_below(clv_rng *rng, int64_t n) {
    uint64_t range = (uint64_t)n;
    uint64_t reject = -range % range; /* 2^64 mod n: draws below it would favor small results */
    uint64_t draw;
    do {
        draw = clv_rng_next(rng);
    } while (draw < reject);
    return (int64_t)(draw % range);
}

double clv_rng_normal(clv_rng *rng) {
    double u, v, q; /* Marsaglia's polar method; the second deviate is not kept, so that a stream has no hidden state */
    do {
        u = 2 * clv_rng_uniform(rng) - 1;
        v = 2 * clv_rng_uniform(rng) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return u * sqrt(-2 * log(q) / q);
}

void clv_rng_shuffle(clv_rng *rng, int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = clv_rng_below(rng, i + 1);
        int64_t held = items[i];
        items[i] = items[j];
        items[j] = held;
    }
}
