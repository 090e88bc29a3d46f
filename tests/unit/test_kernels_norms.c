/* Kernels of the k-support norm, of sparse rows against plain loops, in every set. Those that work entry by entry
 * (shrink, loosen, slic_row) are cases of test_kernels.c. */
#include "kernels_support.h"

/* --- blocks of the k-support norm --- */

/* Magnitudes for a and beta. Eighths, with a and beta of few bits: theta is exact, and 0 and 1 are met exactly. Or
 * reals, none of which rounding could put on the other side of 0 or 1. */
static double *magnitudes(clv_rng *rng, int64_t n, double a, double beta, bool eighths) {
    double *b = ROOM(double, n);
    for (int64_t i = 0; i < n; i++) {
        double theta;
        do {
            b[i] = eighths ? drawn(rng, -64, 64, true) / 8 : between(rng, -8, 8);
            theta = a * fabs(b[i]) - beta;
        } while (!eighths && (fabs(theta) < 1e-9 || fabs(theta - 1) < 1e-9));
    }
    return b;
}

static void expect_sums(clv_ks_sums got, clv_ks_sums expected, double unit, int64_t n) {
    expect_near(got.whole, expected.whole, unit * expected.whole, n, 0);
    expect_near(got.between, expected.between, unit * expected.between, n, 1);
    expect_near(got.sum, expected.sum, unit * expected.sum, n, 2);
}

static void compare_sums(const clv_kernel_set *set, const double *b, int64_t n, double a, double beta, bool exact) {
    clv_ks_sums root = {0, 0, 0}, norm = {0, 0, 0}, conjugate = {0, 0, 0};
    double unit = exact ? 0 : (double)(n + 4) * DBL_EPSILON, off = 0; /* what all theta are off by at most */
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(b[i]), theta = fmin(fmax(a * size - beta, 0), 1);
        root.whole += theta == 1;
        root.between += theta > 0 && theta < 1;
        root.sum += theta > 0 && theta < 1 ? size : 0;
        norm.whole += theta == 1 ? size * size : 0;
        norm.sum += theta == 1 ? 0 : size;
        conjugate.whole += theta == 1 ? size * size : 0;
        conjugate.between += theta;
        conjugate.sum += theta < 1 ? size * size * theta / (theta + beta) : 0;
        off += exact ? 0 : 2 * DBL_EPSILON * (a * size + beta);
    }
    kernel_name = "root_sums";
    expect_sums(set->root_sums(b, n, a, beta), root, unit, n);
    kernel_name = "norm_sums";
    expect_sums(set->norm_sums(b, n, a, beta), norm, unit, n);
    kernel_name = "conjugate_sums";
    clv_ks_sums got = set->conjugate_sums(b, n, a, beta);
    expect_near(got.whole, conjugate.whole, unit * conjugate.whole, n, 0);
    expect_near(got.between, conjugate.between, unit * conjugate.between + off, n, 1);
    /* What a theta is off by goes into its term times b^2 / (theta + beta), 64 / beta or less. */
    expect_near(got.sum, conjugate.sum, (double)(n + 4) * DBL_EPSILON * conjugate.sum + off * 64 / beta, n, 2);
}

static void check_norm_sums(const clv_kernel_set *set) {
    const double a[] = {0.5, 0.25, 2, 1}, beta[] = {1.5, 0.125, 3, 8};
    FOR_LENGTHS(n, 0) {
        for (int64_t start = 0; start < 4; start++) {
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)start);
            const double *b = magnitudes(&rng, start + n, a[start], beta[start], true);
            compare_sums(set, b + start, n, a[start], beta[start], true);
            b = magnitudes(&rng, start + n, 0.9 * a[start], beta[start], false);
            compare_sums(set, b + start, n, 0.9 * a[start], beta[start], false);
            release();
        }
    }
}
TEST_EACH_SET(norm_sums)

static void check_counts(const clv_kernel_set *set) {
    FOR_LENGTHS(n, 0) {
        for (int64_t start = 0; start < 4; start++) {
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)start);
            const double *v = drawn_doubles(&rng, start + n, -9, 9, start < 2) + start;
            double low = 3, high = 3 + 2 * (double)start, squares = 0;
            int64_t above = 0, inside = 0, got_above = -1, got_inside = -1;
            for (int64_t i = 0; i < n; i++) {
                above += fabs(v[i]) > high;
                inside += fabs(v[i]) > low && fabs(v[i]) <= high;
                squares += fabs(v[i]) > low ? v[i] * v[i] : 0;
            }
            kernel_name = "count_between";
            set->count_between(v, n, low, high, &got_above, &got_inside);
            expect_same((double)got_above, (double)above, n, 0);
            expect_same((double)got_inside, (double)inside, n, 1);
            kernel_name = "gather_between";
            double *gathered = ROOM(double, inside + 1);
            int64_t at = 0;
            gathered[inside] = 77; /* nothing may be written behind the last */
            set->gather_between(v, n, low, high, gathered);
            for (int64_t i = 0; i < n; i++) {
                if (fabs(v[i]) > low && fabs(v[i]) <= high) {
                    expect_same(gathered[at++], fabs(v[i]), n, i);
                }
            }
            expect_same(gathered[inside], 77, n, inside);
            kernel_name = "squares_above";
            double unit = start < 2 ? 0 : (double)(n + 1) * DBL_EPSILON;
            expect_near(set->squares_above(v, n, low), squares, unit * squares, n, start);
            release();
        }
    }
}
TEST_EACH_SET(counts)

/* --- sparse rows --- */

enum { COLUMNS = 23 }; /* of the sparse matrix */

static void check_sparse_keys(const clv_kernel_set *set) {
    kernel_name = "sparse_key_row";
    for (int64_t k = 1; k <= 70; k++) {
        for (int64_t nonzeros = 0; nonzeros <= 13; nonzeros++) {
            bool whole = k % 2;
            int64_t width = PADDED(double, k);
            clv_rng rng = clv_rng_stream((uint64_t)k, (uint64_t)nonzeros);
            double *value = drawn_doubles(&rng, nonzeros, -9, 9, whole);
            double *lines = drawn_doubles(&rng, COLUMNS * width, -9, 9, whole);
            double *offset = drawn_doubles(&rng, width, 0, 99, whole), *key = ROOM(double, width);
            int32_t *index = ROOM(int32_t, nonzeros);
            for (int64_t e = 0; e < nonzeros; e++) {
                index[e] = (int32_t)clv_rng_below(&rng, COLUMNS);
            }
            for (int64_t l = k; l < width; l++) {
                offset[l] = HUGE_VAL;
            }
            set->sparse_key_row(value, index, nonzeros, lines, offset, width, key);
            for (int64_t l = 0; l < width; l++) {
                double expected = offset[l], size = fabs(offset[l]);
                for (int64_t e = 0; e < nonzeros; e++) {
                    expected += value[e] * lines[index[e] * width + l];
                    size += fabs(value[e] * lines[index[e] * width + l]);
                }
                double unit = whole || l >= k ? 0 : (double)(nonzeros + 2) * DBL_EPSILON;
                expect_near(key[l], expected, unit > 0 ? unit * size : 0, nonzeros, l);
            }
            release();
        }
    }
}
TEST_EACH_SET(sparse_keys)

static void check_sparse_times(const clv_kernel_set *set) {
    kernel_name = "sparse_times_row";
    for (int64_t nonzeros = 0; nonzeros <= 70; nonzeros++) {
        for (int64_t start = 0; start < 4; start++) {
            bool whole = start % 2;
            clv_rng rng = clv_rng_stream((uint64_t)nonzeros, (uint64_t)start);
            double *value = drawn_doubles(&rng, nonzeros, -9, 9, whole);
            double *x = drawn_doubles(&rng, start + COLUMNS * CLV_SPMM_WIDTH, -9, 9, whole) + start;
            double *y = ROOM(double, start + CLV_SPMM_WIDTH) + start;
            int32_t *index = ROOM(int32_t, nonzeros);
            for (int64_t e = 0; e < nonzeros; e++) {
                index[e] = (int32_t)clv_rng_below(&rng, COLUMNS);
            }
            set->sparse_times_row(value, index, nonzeros, x, y);
            for (int64_t c = 0; c < CLV_SPMM_WIDTH; c++) {
                double expected = 0, size = 0;
                for (int64_t e = 0; e < nonzeros; e++) {
                    expected += value[e] * x[index[e] * CLV_SPMM_WIDTH + c];
                    size += fabs(value[e] * x[index[e] * CLV_SPMM_WIDTH + c]);
                }
                double unit = whole ? 0 : (double)(nonzeros + 1) * DBL_EPSILON;
                expect_near(y[c], expected, unit * size, nonzeros, c);
            }
            release();
        }
    }
}
TEST_EACH_SET(sparse_times)

/* Sums that are empty, and entries of one that lie anywhere among those of all. */
static void check_sparse_sums(const clv_kernel_set *set) {
    kernel_name = "add_sparse_rows";
    for (int64_t lines = 1; lines <= 17; lines++) {
        for (int64_t k = 1; k <= 9; k++) {
            bool whole = k % 2;
            int64_t width = lines * CLV_LINE / (int64_t)sizeof(float), pitch = width + k % 4;
            clv_rng rng = clv_rng_stream((uint64_t)lines, (uint64_t)k);
            int32_t *first = ROOM(int32_t, k + 1);
            first[0] = 2;
            for (int64_t c = 0; c < k; c++) {
                first[c + 1] = first[c] + (int32_t)clv_rng_below(&rng, c % 3 == 1 ? 1 : 2 * COLUMNS);
            }
            float *value = drawn_floats(&rng, first[k], -9, 9, whole);
            float *rows = drawn_floats(&rng, COLUMNS * pitch, -9, 9, whole);
            float *sums = drawn_floats(&rng, k * width, -9, 9, whole), *before = ROOM(float, k *width);
            int32_t *index = ROOM(int32_t, first[k]);
            memcpy(before, sums, (size_t)(k * width) * sizeof *sums);
            for (int32_t e = 0; e < first[k]; e++) {
                index[e] = (int32_t)clv_rng_below(&rng, COLUMNS);
            }
            set->add_sparse_rows(first, index, value, k, rows, pitch, width, sums);
            for (int64_t at = 0; at < k * width; at++) {
                int64_t c = at / width, j = at % width;
                double expected = (double)before[at], size = fabs(expected);
                for (int32_t e = first[c]; e < first[c + 1]; e++) {
                    double product = (double)value[e] * (double)rows[index[e] * pitch + j];
                    expected += product;
                    size += fabs(product);
                }
                double unit = whole ? 0 : (double)(first[c + 1] - first[c] + 1) * FLT_EPSILON;
                expect_near((double)sums[at], expected, unit * size, c, j);
            }
            release();
        }
    }
}
TEST_EACH_SET(sparse_sums)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm_sums),   cmocka_unit_test(test_counts),       cmocka_unit_test(test_sparse_keys),
        cmocka_unit_test(test_sparse_sums), cmocka_unit_test(test_sparse_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
