/* Kernels on rows of points, keys and weights, floats and doubles, in every set: keys, the least of them, the
 * projection on the simplex by its certificate, sums. */
#include "kernels_support.h"

/* Keys are written in blocks of rows, the last one whole. With MOST_CENTERS, a block of vectors is followed by one of
 * each smaller size and by another whole one, also of floats with the widest vectors: 4 vectors of 16. */
enum { KEY_ROWS = 6, MOST_CENTERS = 130 };
#define WHOLE_BLOCKS(count) (((count) + KEY_ROWS - 1) / KEY_ROWS * KEY_ROWS)

#define REAL float
#define TABLE f32
#define UNIT ((double)FLT_EPSILON)
#define MOST_INVERSE 1e30
#define NAME(x) x##_f32
#define drawn_f32 drawn_floats
#include "kernels_keys.h"
#undef REAL
#undef TABLE
#undef UNIT
#undef MOST_INVERSE
#undef NAME

#define REAL double
#define TABLE f64
#define UNIT DBL_EPSILON
#define MOST_INVERSE 1e200
#define NAME(x) x##_f64
#define drawn_f64 drawn_doubles
#include "kernels_keys.h"

#define BOTH(name) cmocka_unit_test(test_##name##_f32), cmocka_unit_test(test_##name##_f64)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(keys),         BOTH(near_keys),     BOTH(scan),        BOTH(least_other), BOTH(scan_places),
        BOTH(nearest),      BOTH(project),       BOTH(shift),       BOTH(sums),        BOTH(collect),
        BOTH(row_distance), BOTH(row_distances), BOTH(project_few), BOTH(few_alike),   BOTH(add_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
