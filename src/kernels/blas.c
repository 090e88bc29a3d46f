/* Whether BLAS uses what the processor has. OpenBLAS knows processors by their numbers; one that came out after it is
 * taken for one of twenty years ago, and products are five times slower than they could be (OpenBLAS 0.3.21 on Emerald
 * Rapids: 13 Gflop/s on a core instead of 77). OPENBLAS_CORETYPE tells it better, if it is set before it is loaded. */
#include "kernels/kernels.h"

#include <cblas.h>
#include <string.h>

/* What OpenBLAS calls processors without AVX, among them those that it falls back to. */
static bool is_old(const char *core) {
    static const char *const old[] = {"Prescott", "Core2",        "Penryn",    "Dunnington", "Nehalem", "Athlon",
                                      "Opteron",  "Opteron_SSE3", "Barcelona", "Bobcat",     "Atom",    "Nano"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        if (strcmp(core, old[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *clv_blas_core_for(const char *taken, const char *best_set) {
    if (!taken || !is_old(taken)) {
        return NULL;
    }
    return strcmp(best_set, "avx512") == 0 ? "SkylakeX" : strcmp(best_set, "avx2") == 0 ? "Haswell" : NULL;
}

const char *clv_blas_core(void) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets);
    return clv_blas_core_for(openblas_get_corename(), sets[count - 1]->name);
}
