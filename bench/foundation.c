/* Times of the foundation beside the hardware limits that they are compared with, in one process on one set of data.
 *
 *   foundation affinity X.npy THREADS    exponential affinity (gamma 1, unit columns), and a matrix product of the same
 *                                        shape plus one pass over its result
 *   foundation sums N K THREADS          group_sums on a dense n x n affinity, and a plain sum over the same array
 *   foundation minimax X.npy THREADS     minimax affinity of the points
 *
 * Prints `name seconds` lines, the best of several runs each; bench/run makes the table. */
#include <cleave.h>

#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5 };

static clv_context *ctx;

static void check(clv_status status) {
    if (status < 0) {
        fprintf(stderr, "foundation: %s\n", clv_message(ctx));
        exit(1);
    }
}

static double least(double a, double b) {
    return a < b ? a : b;
}

/* The best of RUNS builds; each has to have its n^2 numbers from the system anew, as a user's run does. */
static double time_build(const clv_matrix *points, clv_affinity_kind kind, int threads) {
    double best = 1e30;
    for (int run = 0; run < RUNS; run++) {
        clv_affinity_options how;
        clv_affinity *a;
        clv_affinity_defaults(&how);
        how.kind = (int)kind;
        how.gamma = 1;
        how.home = CLV_HOME_DENSE64;
        how.memory = (int64_t)1 << 40;
        how.threads = threads;
        double began = omp_get_wtime();
        check(clv_affinity_build(ctx, points, &how, &a));
        best = least(best, omp_get_wtime() - began);
        clv_affinity_free(a);
    }
    return best;
}

/* C = X X', then C = C + 1 in one pass; the memory of C is warm from the second run on. */
static void time_product(const clv_matrix *points, int threads) {
    int n = (int)points->rows, p = (int)points->cols;
    size_t entries = (size_t)n * (size_t)n;
    const double *x = points->values;
    double *c = malloc(entries * sizeof *c);
    double product = 1e30, pass = 1e30;
    openblas_set_num_threads(threads);
    for (int run = 0; run < RUNS; run++) {
        double began = omp_get_wtime();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, p, 1, x, p, x, p, 0, c, n);
        double middle = omp_get_wtime();
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (size_t e = 0; e < entries; e++) {
            c[e] += 1;
        }
        product = least(product, middle - began);
        pass = least(pass, omp_get_wtime() - middle);
    }
    printf("dgemm %.6f\npass %.6f\n", product, pass);
    free(c);
}

static void bench_affinity(const char *path, int threads) {
    clv_data *data;
    check(clv_read(ctx, path, NULL, &data));
    check(clv_data_scale(data, CLV_SCALE_UNIT_COLUMNS));
    printf("exponential %.6f\n", time_build(clv_data_matrix(data), CLV_AFFINITY_EXPONENTIAL, threads));
    time_product(clv_data_matrix(data), threads);
    clv_data_free(data);
}

static double plain_sum(const double *values, size_t entries, int threads) {
    double sum = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : sum)
    for (size_t e = 0; e < entries; e++) {
        sum += values[e];
    }
    return sum;
}

static void bench_sums(int64_t n, int64_t k, int threads) {
    size_t entries = (size_t)n * (size_t)n;
    double *points = malloc((size_t)n * sizeof *points), *y = malloc((size_t)(k * n) * sizeof *y);
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n; i++) {
        points[i] = (double)(i * 7919 % n) / (double)n;
        labels[i] = (int32_t)(i * 104729 % k);
    }
    clv_affinity_options how;
    clv_affinity *a;
    clv_data *matrix;
    clv_affinity_defaults(&how);
    how.home = CLV_HOME_DENSE64;
    how.memory = (int64_t)1 << 40;
    check(clv_affinity_build(ctx, &(clv_matrix){.rows = n, .cols = 1, .values = points}, &how, &a));
    check(clv_affinity_materialize(a, &matrix)); /* borrows the values */
    double sums = 1e30, plain = 1e30, total = 0;
    for (int run = 0; run < 2 * RUNS; run++) {
        double began = omp_get_wtime();
        check(clv_affinity_group_sums(a, labels, k, y, threads));
        double middle = omp_get_wtime();
        total += plain_sum(clv_data_matrix(matrix)->values, entries, threads);
        plain = least(plain, omp_get_wtime() - middle);
        sums = least(sums, middle - began);
    }
    printf("group_sums %.6f\nplain_sum %.6f\nbytes %zu\nchecksum %g\n", sums, plain, entries * sizeof(double), total);
    clv_data_free(matrix);
    clv_affinity_free(a);
    free(points);
    free(labels);
    free(y);
}

static void bench_minimax(const char *path, int threads) {
    clv_data *data;
    check(clv_read(ctx, path, NULL, &data));
    printf("minimax %.6f\n", time_build(clv_data_matrix(data), CLV_AFFINITY_MINIMAX, threads));
    clv_data_free(data);
}

int main(int argc, char **argv) {
    check(clv_context_new(NULL, &ctx));
    if (argc == 4 && strcmp(argv[1], "affinity") == 0) {
        bench_affinity(argv[2], atoi(argv[3]));
    } else if (argc == 5 && strcmp(argv[1], "sums") == 0) {
        bench_sums(atoll(argv[2]), atoll(argv[3]), atoi(argv[4]));
    } else if (argc == 4 && strcmp(argv[1], "minimax") == 0) {
        bench_minimax(argv[2], atoi(argv[3]));
    } else {
        fprintf(stderr, "usage: foundation affinity X.npy T | sums N K T | minimax X.npy T\n");
        return 64;
    }
    clv_context_free(ctx);
    return 0;
}
