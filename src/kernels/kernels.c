/* Which instruction set: chosen once, when the library is loaded. */
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

extern const clv_kernel_set clv_kernels_baseline;
#ifdef CLV_X86_SETS
extern const clv_kernel_set clv_kernels_avx2, clv_kernels_avx512;
#endif

const clv_kernel_set *clv_kernels = &clv_kernels_baseline;

int clv_kernel_sets(const clv_kernel_set **out) {
    int count = 0;
    out[count++] = &clv_kernels_baseline;
#ifdef CLV_X86_SETS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        out[count++] = &clv_kernels_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl")) {
            out[count++] = &clv_kernels_avx512;
        }
    }
#endif
    return count;
}

/* The best set, or the one that CLEAVE_ISA names; a name that is not there changes nothing. */
static __attribute__((constructor)) void choose(void) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets);
    const char *asked = getenv("CLEAVE_ISA");
    clv_kernels = sets[count - 1];
    for (int s = 0; s < count; s++) {
        if (asked && strcmp(asked, sets[s]->name) == 0) {
            clv_kernels = sets[s];
        }
    }
}

const char *clv_isa(void) {
    return clv_kernels->name;
}

const char *clv_isa_name(int i) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets);
    return i >= 0 && i < count ? sets[i]->name : NULL;
}
