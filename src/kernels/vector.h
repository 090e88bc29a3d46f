/* The vector types of the instruction set that is being compiled for, and what the families share.
 *
 * Vectors are those of the GNU C extension: gcc and clang turn them into SSE2, AVX2, AVX-512 or NEON. REGISTERS says
 * how many a block of a kernel may keep: a tile shape that suits 32 registers of 64 bytes spills all the time with 16
 * of 32. Vectors are passed by address, as how they are passed by value depends on the instruction set. */
#ifndef CLV_KERNELS_VECTOR_H
#define CLV_KERNELS_VECTOR_H

#include "kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR 64 /* bytes */
#elif defined(__AVX__)
#define VECTOR 32
#else
#define VECTOR 16
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

enum {
    DOUBLES = VECTOR / sizeof(double), /* in a vector */
    FLOATS = VECTOR / sizeof(float),
    ACROSS = REGISTERS / 8, /* vectors in a row of a block of accumulators */
};

typedef double doubles __attribute__((vector_size(VECTOR), may_alias));
typedef float floats __attribute__((vector_size(VECTOR), may_alias));
typedef float half_floats __attribute__((vector_size(VECTOR / 2), may_alias)); /* as many as there are doubles */
typedef int64_t double_mask __attribute__((vector_size(VECTOR), may_alias));
typedef uint64_t double_bits __attribute__((vector_size(VECTOR), may_alias)); /* which may overflow */
typedef int32_t float_mask __attribute__((vector_size(VECTOR), may_alias));

/* The same where memory is aligned to a number only. */
typedef double loose_doubles __attribute__((vector_size(VECTOR), aligned(sizeof(double)), may_alias));
typedef float loose_floats __attribute__((vector_size(VECTOR), aligned(sizeof(float)), may_alias));
typedef float loose_half_floats __attribute__((vector_size(VECTOR / 2), aligned(sizeof(float)), may_alias));

/* Floats at x, as many as there are doubles in a vector, as doubles. gcc takes such a conversion apart, into two of
 * half the width. */
#if defined(__AVX512F__)
#define WIDEN(x) ((doubles)_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#elif defined(__AVX__)
#define WIDEN(x) ((doubles)_mm256_cvtps_pd(_mm_loadu_ps(x)))
#else
#define WIDEN(x) __builtin_convertvector(*(const loose_half_floats *)(x), doubles)
#endif

#define INLINE static inline __attribute__((always_inline))

/* The lanes of a mask as the bits of a number. */
INLINE unsigned bits_of_floats(const float_mask *mask) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)*mask);
#elif defined(__AVX__)
    return (unsigned)_mm256_movemask_ps((__m256)*mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)*mask);
#else
    unsigned bits = 0;
    for (unsigned l = 0; l < FLOATS; l++) {
        bits |= (unsigned)((*mask)[l] & 1) << l;
    }
    return bits;
#endif
}

INLINE unsigned bits_of_doubles(const double_mask *mask) {
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)*mask);
#elif defined(__AVX__)
    return (unsigned)_mm256_movemask_pd((__m256d)*mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)*mask);
#else
    unsigned bits = 0;
    for (unsigned l = 0; l < DOUBLES; l++) {
        bits |= (unsigned)((*mask)[l] & 1) << l;
    }
    return bits;
#endif
}

/* The lanes of x, turned around by so many places. */
#define PLACES_2(by) (by), (by) + 1
#define PLACES_4(by) PLACES_2(by), PLACES_2((by) + 2)
#define PLACES_8(by) PLACES_4(by), PLACES_4((by) + 4)
#define PLACES_16(by) PLACES_8(by), PLACES_8((by) + 8)
#if VECTOR == 64
#define FLOAT_PLACES PLACES_16
#define DOUBLE_PLACES PLACES_8
#elif VECTOR == 32
#define FLOAT_PLACES PLACES_8
#define DOUBLE_PLACES PLACES_4
#else
#define FLOAT_PLACES PLACES_4
#define DOUBLE_PLACES PLACES_2
#endif
#ifdef __clang__
#define TURN_FLOATS(x, by) __builtin_shufflevector(x, x, FLOAT_PLACES((by) % FLOATS))
#define TURN_DOUBLES(x, by) __builtin_shufflevector(x, x, DOUBLE_PLACES((by) % DOUBLES))
#else
#define TURN_FLOATS(x, by) __builtin_shuffle(x, x, (float_mask){FLOAT_PLACES((by) % FLOATS)})
#define TURN_DOUBLES(x, by) __builtin_shuffle(x, x, (double_mask){DOUBLE_PLACES((by) % DOUBLES)})
#endif

/* Lanes added up, or the largest, by halves: one after the other would take longer than all the rest. */
INLINE float sum_floats(const floats *lanes) {
    floats x = *lanes;
    if (FLOATS > 8) {
        x += TURN_FLOATS(x, 8);
    }
    if (FLOATS > 4) {
        x += TURN_FLOATS(x, 4);
    }
    x += TURN_FLOATS(x, 2);
    return x[0] + x[1];
}

INLINE double sum_doubles(const doubles *lanes) {
    doubles x = *lanes;
    if (DOUBLES > 4) {
        x += TURN_DOUBLES(x, 4);
    }
    if (DOUBLES > 2) {
        x += TURN_DOUBLES(x, 2);
    }
    return x[0] + x[1];
}

/* Of several vectors; a power of two of them. */
INLINE double sum_parts(doubles *part, int parts) {
    for (int width = parts / 2; width > 0; width /= 2) {
        for (int v = 0; v < width; v++) {
            part[v] += part[v + width];
        }
    }
    return sum_doubles(part);
}

/* x where the condition holds, else y; lane by lane. */
#define CHOOSE(type, mask, when, x, y) ((type)(((when) & (mask)(x)) | (~(when) & (mask)(y))))
#define LARGER_FLOATS(x, y) CHOOSE(floats, float_mask, (x) > (y), x, y)
#define LARGER_DOUBLES(x, y) CHOOSE(doubles, double_mask, (x) > (y), x, y)

INLINE float top_float(const floats *lanes) {
    floats x = *lanes;
    if (FLOATS > 8) {
        x = LARGER_FLOATS(x, TURN_FLOATS(x, 8));
    }
    if (FLOATS > 4) {
        x = LARGER_FLOATS(x, TURN_FLOATS(x, 4));
    }
    x = LARGER_FLOATS(x, TURN_FLOATS(x, 2));
    return x[0] > x[1] ? x[0] : x[1];
}

INLINE double top_double(const doubles *lanes) {
    doubles x = *lanes;
    if (DOUBLES > 4) {
        x = LARGER_DOUBLES(x, TURN_DOUBLES(x, 4));
    }
    if (DOUBLES > 2) {
        x = LARGER_DOUBLES(x, TURN_DOUBLES(x, 2));
    }
    return x[0] > x[1] ? x[0] : x[1];
}

#endif
