/* The time of a step of dominant on a dense affinity, beside the time that reading the same memory takes.
 *
 *   dominant SOLVER X.npy SHIFT STEPS THREADS    SOLVER: fw, pfw or afw
 *
 * Gaussian affinity (automatic gamma) of the points. What a run does besides stepping is taken off by running it twice,
 * with STEPS and with STEPS / 8. Prints `name value` lines, the best of several runs each; bench/dominant.py makes the
 * table. `read`: a plain sum over the whole matrix, which is larger than the caches where it matters. */
#include <cleave.h>

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 40, READS = 5 };

static clv_context *ctx;

static void check(clv_status status) {
    if (status < 0) {
        fprintf(stderr, "dominant: %s\n", clv_message(ctx));
        exit(1);
    }
}

static clv_dominant_solver solver_named(const char *name) {
    return strcmp(name, "fw") == 0 ? CLV_DOMINANT_FW : strcmp(name, "afw") == 0 ? CLV_DOMINANT_AFW : CLV_DOMINANT_PFW;
}

/* Seconds of one run of so many steps. */
static double time_run(const clv_affinity *a, const clv_dominant_options *how, int64_t steps, int64_t *made,
                       int64_t *support) {
    clv_dominant_options options = *how;
    clv_result *result;
    options.control.max_iter = steps;
    double began = omp_get_wtime();
    check(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result));
    double seconds = omp_get_wtime() - began;
    *made = clv_result_integer(result, "clusters.iterations", 0);
    *support = clv_result_integer(result, "clusters.size", 0);
    clv_result_free(result);
    return seconds;
}

static void time_steps(const clv_affinity *a, const clv_dominant_options *how, int64_t steps) {
    double few = INFINITY, many = INFINITY;
    int64_t fewer = 0, more = 0, support = 0;
    for (int run = 0; run < RUNS; run++) {
        few = fmin(few, time_run(a, how, steps / 8, &fewer, &support));
        many = fmin(many, time_run(a, how, steps, &more, &support));
    }
    if (more == fewer) {
        fprintf(stderr, "dominant: it ended after %lld steps already\n", (long long)more);
        exit(1);
    }
    printf("step %.9f\nsteps %lld\nsupport %lld\n", (many - few) / (double)(more - fewer), (long long)more,
           (long long)support);
}

static void time_reading(const clv_matrix *matrix, int threads) {
    size_t entries = (size_t)matrix->rows * (size_t)matrix->cols;
    const double *values = matrix->values;
    double best = INFINITY, sum = 0;
    for (int run = 0; run < READS; run++) {
        double began = omp_get_wtime(), now = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : now)
        for (size_t e = 0; e < entries; e++) {
            now += values[e];
        }
        best = fmin(best, omp_get_wtime() - began);
        sum += now;
    }
    printf("read %.6f\nbytes %zu\nchecksum %g\n", best, entries * sizeof(double), sum);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: dominant fw|pfw|afw X.npy SHIFT STEPS THREADS\n");
        return 64;
    }
    clv_affinity_options affinity;
    clv_dominant_options how;
    clv_data *points, *matrix;
    clv_affinity *a;
    check(clv_context_new(NULL, &ctx));
    clv_affinity_defaults(&affinity);
    clv_dominant_defaults(&how);
    affinity.home = CLV_HOME_DENSE64;
    affinity.zero_diagonal = 1;
    affinity.memory = (int64_t)1 << 40;
    how.solver = (int)solver_named(argv[1]);
    how.shift = strtod(argv[3], NULL);
    how.k = 1;
    how.start_object = 0; /* no search for a start */
    how.face_solve = 0;
    how.control.tol = 0;
    how.control.threads = atoi(argv[5]);
    check(clv_read(ctx, argv[2], NULL, &points));
    check(clv_affinity_build(ctx, clv_data_matrix(points), &affinity, &a));
    check(clv_affinity_materialize(a, &matrix)); /* borrows the values */
    time_steps(a, &how, atoll(argv[4]));
    time_reading(clv_data_matrix(matrix), atoi(argv[5]));
    clv_data_free(matrix);
    clv_affinity_free(a);
    clv_data_free(points);
    clv_context_free(ctx);
    return 0;
}
