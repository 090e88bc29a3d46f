/* Methods that cluster nothing: what the command does for a method that gives memberships, or labels alone, or takes
 * two operands. Their numbers are easy to check by hand. */
#include "extend.h"

#include "linalg/linalg.h"

#include <string.h>

typedef struct shape_options {
    clv_control control;
    int64_t k;
} shape_options;

static const clv_option options[] = {
    CLV_OPT_INT(shape_options, k, "k", 'k', 2, 1, 1000, NULL, "N", "the number of clusters")};
static const clv_option_table table = {"shape", options, CLV_COUNT(options), sizeof(shape_options)};

static int64_t k_of(const void *chosen) {
    return ((const shape_options *)chosen)->k;
}

static size_t memory(const clv_input *input, const void *chosen) {
    return (size_t)(input->points->rows * input->points->cols * k_of(chosen)) * sizeof(double);
}

/* Objects in turn: 0, 1, ..., k - 1, 0, ... */
static clv_status start_result(clv_context *ctx, const clv_method *method, int64_t n, int64_t rows, int64_t k,
                               clv_result **out) {
    CLV_TRY(clv_result_new(ctx, n, k, out));
    for (int64_t i = 0; i < n; i++) {
        (*out)->labels[i] = (int32_t)(i % k);
    }
    if (n > 0) {
        clv_result_count(*out);
    }
    clv_result_claim(*out, method, (double)rows, 0, 0);
    return CLV_OK;
}

/* The first object belongs to one cluster alone. */
static clv_status solve_soft(clv_context *ctx, const clv_input *input, const void *chosen, clv_result **out) {
    int64_t n = input->points->rows, p = input->points->cols, k = k_of(chosen), count = 0;
    clv_data *membership, *centers;
    CLV_TRY(input->affinity ? CLV_EINTERNAL : CLV_OK);
    CLV_TRY(start_result(ctx, &soft_method, n, n, k, out));
    CLV_TRY(clv_data_new_csr(ctx, "membership", n, k, 2 * n - 1, &membership));
    for (int64_t i = 0; i < n; i++) {
        for (int32_t c = 0; c < (i ? 2 : 1); c++) {
            membership->index[count] = c;
            ((double *)membership->values)[count++] = i ? 0.5 : 1;
        }
        membership->start[i + 1] = count;
    }
    CLV_TRY(clv_result_take(*out, "membership", CLV_FIELD_SPARSE, membership));
    CLV_TRY(clv_data_new_dense(ctx, "centers", k, p, CLV_F64, &centers));
    for (int64_t i = 0; i < k * p; i++) {
        ((double *)centers->values)[i] = (double)i / 8;
    }
    return clv_result_take(*out, "centers", CLV_FIELD_MATRIX, centers);
}

static clv_status solve_hard(clv_context *ctx, const clv_input *input, const void *chosen, clv_result **out) {
    int64_t n = clv_affinity_size(input->affinity);
    CLV_TRY(start_result(ctx, &hard_method, n, n, k_of(chosen), out));
    (*out)->labels[1] = -1;
    clv_result_count(*out);
    return CLV_OK;
}

static clv_status solve_fit(clv_context *ctx, const clv_input *input, const void *chosen, clv_result **out) {
    const clv_matrix *targets = input->targets;
    clv_data *weights;
    CLV_TRY(start_result(ctx, &fit_method, 0, targets->rows, k_of(chosen), out));
    CLV_TRY(clv_data_new_dense(ctx, "weights", 1, targets->rows, CLV_F64, &weights));
    memcpy(weights->values, targets->values, (size_t)targets->rows * sizeof(double));
    return clv_result_take(*out, "weights", CLV_FIELD_SPARSE, weights);
}

/* The label is the first coordinate, scaled like the old ones; memberships are 0, 1, 2, ... */
static clv_status predict(clv_context *ctx, const clv_input *input, const void *chosen, const clv_result *result,
                          const clv_fresh *fresh, clv_result **out) {
    const clv_matrix *points = fresh->points;
    clv_data *membership;
    (void)input;
    (void)chosen;
    if (points->cols != 2) {
        return clv_fail(ctx, CLV_EDATA, "the new points have %lld columns, not 2", (long long)points->cols);
    }
    CLV_TRY(clv_result_new(ctx, points->rows, result->k, out));
    CLV_TRY(clv_data_new_dense(ctx, "membership", points->rows, result->k, CLV_F64, &membership));
    for (int64_t i = 0; i < points->rows; i++) {
        (*out)->labels[i] = (int32_t)((const double *)points->values)[i * points->cols];
    }
    for (int64_t i = 0; i < points->rows * result->k; i++) {
        ((double *)membership->values)[i] = (double)i;
    }
    return clv_result_take(*out, "membership", CLV_FIELD_SPARSE, membership);
}

static const clv_field_info soft_gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "in turn"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = "memberships"},
    {"centers", CLV_FIELD_MATRIX, "k x p", CLV_ANSWER, .help = "centers"},
};
static const clv_field_info hard_gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "in turn"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = "memberships, of which there are none"},
    {"weights", CLV_FIELD_SPARSE, "models x p", CLV_ANSWER, .help = "weights, of which there are none"},
};
static const clv_field_info fit_gives[] = {
    {"weights", CLV_FIELD_SPARSE, "models x p", CLV_ANSWER, .help = "the targets"},
};

#define SHAPE(name_, takes_, gives_, solve_, predict_, predicts_)                                                      \
    {                                                                                                                  \
        .name = (name_), .summary = "made by hand", .about = "Made by hand.\n", .examples = "  none\n",                \
        .takes = (takes_), .options = &table, .gives = (gives_), .gives_count = CLV_COUNT(gives_),                     \
        .predicts = (predicts_), .objective = "rows", .certificate = "none", .holds = "", .open = "",                  \
        .memory = memory, .solve = (solve_), .predict = (predict_)                                                     \
    }
const clv_method soft_method = SHAPE("soft", CLV_TAKES_POINTS, soft_gives, solve_soft, predict, "labels|membership");
const clv_method hard_method = SHAPE("hard", CLV_TAKES_AFFINITY, hard_gives, solve_hard, predict, "labels");
const clv_method fit_method = SHAPE("fit", CLV_TAKES_SAMPLES, fit_gives, solve_fit, NULL, NULL);
