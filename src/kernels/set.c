/* One instruction set: all kernels compiled for it, and their table. This file is compiled once per set, with its flags
 * and with CLV_SET, the name of the set (cmake/CleaveKernels.cmake). */
#include "kernels/distances.h"
#include "kernels/norms.h"
#include "kernels/reductions.h"
#include "kernels/rows.h"
#include "kernels/similarities.h"

/* Blocks of three quarters of the registers: of keys, so many rows with ACROSS vectors each; of nearest.h, so many
 * centers with as many vectors of rows each; of projection.h before and after Newton's method, so many rows abreast
 * with up to six vectors each, sums and what a step adds to them. */
enum { KEY_ROWS = 6, TURNED_CENTERS = REGISTERS / 4, TURNED_ACROSS = 3, PROJECTED_ABREAST = REGISTERS / 8 };

#define REAL float
#define INTEGER int32_t
#define REALS floats
#define MASK float_mask
#define PLACES FLOAT_PLACES
#define SUM_LANES sum_floats
#define TOP_LANE top_float
#define BITS bits_of_floats
#define NAME(x) x##_f32
#define LOAD(x) WIDEN(x)
#define HUGE_KEY HUGE_VALF
#define LARGEST FLT_MAX
#define MOST_INVERSE 1e30
#include "kernels/real.h"

#define REAL double
#define INTEGER int64_t
#define REALS doubles
#define MASK double_mask
#define PLACES DOUBLE_PLACES
#define SUM_LANES sum_doubles
#define TOP_LANE top_double
#define BITS bits_of_doubles
#define NAME(x) x##_f64
#define LOAD(x) (*(const loose_doubles *)(x))
#define HUGE_KEY HUGE_VAL
#define LARGEST DBL_MAX
#define MOST_INVERSE 1e200
#include "kernels/real.h"

#define REAL_KERNELS(type)                                                                                             \
    {                                                                                                                  \
        .accumulate = accumulate_##type, .deduct = deduct_##type, .accumulate_four = accumulate_four_##type,           \
        .add_weighted = add_weighted_##type, .add_weighted_four = add_weighted_four_##type,                            \
        .pass_one = pass_one_##type, .pass_two = pass_two_##type, .dot_rows = dot_rows_##type,                         \
        .dot_square_rows = dot_square_rows_##type, .add_four = add_four_##type,                                        \
        .add_square_four = add_square_four_##type, .keys = keys_##type, .near_keys = near_keys_##type,                 \
        .scan = scan_##type, .least_other = least_other_##type, .nearest = nearest_##type, .project = project_##type,  \
        .project_few = project_few_##type, .add_listed = add_listed_##type, .shift = shift_##type,                     \
        .spread = spread_##type, .add_mass = add_mass_##type, .collect = collect_##type, .scale = scale_##type,        \
        .row_distance = row_distance_##type, .row_distances = row_distances_##type,                                    \
    }

#define JOINED(a, b) a##b
#define TABLE(set) JOINED(clv_kernels_, set)
#define QUOTED(x) #x
#define WORD(set) QUOTED(set)

extern const clv_kernel_set TABLE(CLV_SET);
const clv_kernel_set TABLE(CLV_SET) = {
    .name = WORD(CLV_SET),
    .exp_nonpositive = exp_nonpositive,
    .gaussian = gaussian,
    .exponential = exponential,
    .complement = complement,
    .square_root = square_root,
    .scale_pairs = scale_pairs,
    .distance_tile = distance_tile,
    .distance_line = distance_line,
    .distance = distance,
    .pair_distances = pair_distances,
    .row_distances = row_distances,
    .transpose_tile = transpose_tile,
    .sum = sum,
    .dot = dot,
    .largest = largest,
    .smallest = smallest,
    .place_of_largest = place_of_largest,
    .place_of_least = place_of_least,
    .count_above = count_above,
    .all_alike = all_alike,
    .steepest = steepest,
    .add_products = add_products,
    .add_squares = add_squares,
    .widen = widen,
    .narrow = narrow,
    .count_between = count_between,
    .gather_between = gather_between,
    .root_sums = root_sums,
    .norm_sums = norm_sums,
    .conjugate_sums = conjugate_sums,
    .shrink = shrink,
    .squares_above = squares_above,
    .sparse_key_row = sparse_key_row,
    .sparse_times_row = sparse_times_row,
    .add_sparse_rows = add_sparse_rows,
    .loosen = loosen,
    .slic_row = slic_row,
    .f32 = REAL_KERNELS(f32),
    .f64 = REAL_KERNELS(f64),
};
