/* The k-support norm's vertex oracle and proximity operators, timed in one process on one vector.
 *
 *   ksupport_set_bench P K THREADS
 *
 * The vector is normal, a tenth of it ten times as large; lambda is 1. Prints `name milliseconds` lines, the best of
 * RUNS each, beside a plain copy of the vector, which is the least that a proximity operator can take. */
#include "sets/ksupport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15 };

static double best(double now, double before) {
    return now < before ? now : before;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        clv_ksupport_form form;
    } forms[] = {{"select", CLV_KSUPPORT_SELECT},
                 {"bisect", CLV_KSUPPORT_BISECT},
                 {"active", CLV_KSUPPORT_ACTIVE},
                 {"box", CLV_KSUPPORT_BOX}}; /* not the exhaustive search, which is for tests */
    int64_t p = argc > 1 ? atoll(argv[1]) : 1000000, k = argc > 2 ? atoll(argv[2]) : 10000;
    int threads = argc > 3 ? atoi(argv[3]) : 2;
    clv_context *ctx;
    clv_ksupport_set set;
    clv_rng rng = clv_rng_stream(1, 0);
    double *v = malloc((size_t)p * sizeof *v), *out = malloc((size_t)p * sizeof *out);
    int64_t *index = malloc((size_t)k * sizeof *index);
    if (!v || !out || !index || clv_context_new(NULL, &ctx) < 0 ||
        clv_ksupport_set_new(ctx, p, k, threads, true, &set) < 0) {
        return 1;
    }
    for (int64_t i = 0; i < p; i++) {
        v[i] = clv_rng_normal(&rng) * (i % 10 == 0 ? 10 : 1);
    }
    double copy = 1e9, vertex = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double began = clv_seconds();
        memcpy(out, v, (size_t)p * sizeof *out);
        copy = best(clv_seconds() - began, copy);
        began = clv_seconds();
        clv_ksupport_vertex(&set, v, p, index);
        vertex = best(clv_seconds() - began, vertex);
    }
    printf("copy %.3f\nvertex %.3f\n", 1e3 * copy, 1e3 * vertex);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        double prox = 1e9;
        for (int run = 0; run < RUNS; run++) {
            double began = clv_seconds();
            clv_ksupport_set_prox(&set, forms[form].form, v, p, 1, out);
            prox = best(clv_seconds() - began, prox);
        }
        printf("%s %.3f\n", forms[form].name, 1e3 * prox);
    }
    clv_ksupport_set_free(&set);
    clv_context_free(ctx);
    free(v);
    free(out);
    free(index);
    return 0;
}
