/* A streaming read, which kernels are measured by: numbers added up as wide as the machine can, in so many partial sums
 * that no addition waits for another. */
#ifndef CLEAVE_BENCH_STREAM_H
#define CLEAVE_BENCH_STREAM_H

#include <stddef.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define STREAM_WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define STREAM_WIDEST
#endif

enum { STREAM_PARTS = 128, STREAM_BLOCK = 1000 * STREAM_PARTS, STREAM_LINE = 16, STREAM_AHEAD = 256 };

STREAM_WIDEST static float stream_block(const float *x, size_t count) {
    float part[STREAM_PARTS] = {0}, total = 0;
    size_t half = count / 2 - count / 2 % STREAM_PARTS; /* two streams: one alone waits for memory more */
    for (size_t i = 0; i < half; i += STREAM_PARTS) {
        for (size_t line = 0; line < STREAM_PARTS; line += STREAM_LINE) {
            __builtin_prefetch(x + i + STREAM_AHEAD + line, 0, 2);
            __builtin_prefetch(x + half + i + STREAM_AHEAD + line, 0, 2);
        }
#pragma omp simd
        for (size_t j = 0; j < STREAM_PARTS; j++) {
            part[j] += x[i + j] + x[half + i + j];
        }
    }
    for (size_t j = 0; j < STREAM_PARTS; j++) {
        total += part[j];
    }
    for (size_t i = 2 * half; i < count; i++) {
        total += x[i];
    }
    return total;
}

/* A block after the other: halves of the whole can lie so that their lines hinder each other. */
static double stream_sum(const float *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i += STREAM_BLOCK) {
        total += (double)stream_block(x + i, count - i < STREAM_BLOCK ? count - i : STREAM_BLOCK);
    }
    return total;
}

#endif
