/* Columns of X far from the origin, beside an intercept.
 *
 * With an intercept, X w + b = (X - 1 m') w + (b + m'w) for any m: the weights, the objective and the least one stay
 * the same. Where the mean of a column is thousands of times its spread, though, the slopes r of the samples, which add
 * up to 0 but for rounding, give X'r = (X - 1 m')'r + m 1'r: the rounding, times the mean. Such columns are centered,
 * in a copy of X, so that solvers, the certificate and its verification all see them without it. */
#include "methods/ksupport/ksupport.h"

#include <math.h>

enum { LOOKED_AT = 64 }; /* samples: enough to tell far from near */

/* X by feature and sample. */
typedef struct layout {
    const clv_matrix *x;
    int64_t features, samples, by_feature, by_sample; /* the last two: strides */
} layout;

static layout layout_of(const clv_matrix *x, bool transposed) {
    return transposed ? (layout){x, x->rows, x->cols, x->cols, 1} : (layout){x, x->cols, x->rows, 1, x->cols};
}

static double entry(const layout *l, int64_t feature, int64_t sample) {
    return clv_stored(l->x, feature * l->by_feature + sample * l->by_sample);
}

/* Means and standard deviations of `count` features from `first` on, over every `step`-th sample. Differences from
 * sample 0 are added up, which a mean far away does not harm. */
static void look_at(const layout *l, int64_t first, int64_t count, int64_t step, double *means, double *spreads) {
    double looks = (double)((l->samples + step - 1) / step);
    for (int64_t j = 0; j < count; j++) {
        means[j] = spreads[j] = 0;
    }
    for (int64_t i = 0; i < l->samples; i += step) {
        for (int64_t j = 0; j < count; j++) {
            double d = entry(l, first + j, i) - entry(l, first + j, 0);
            means[j] += d / looks;
            spreads[j] += d * d / looks;
        }
    }
    for (int64_t j = 0; j < count; j++) {
        spreads[j] = sqrt(fmax(spreads[j] - means[j] * means[j], 0));
        means[j] += entry(l, first + j, 0);
    }
}

bool clv_ks_is_far(const clv_matrix *x, bool transposed, double times) {
    enum { STRIP = 512 };
    layout l = layout_of(x, transposed);
    int64_t step = l.samples / LOOKED_AT + 1;
    double largest = 0, constant = 0, means[STRIP], spreads[STRIP];
    bool far = false;
    if (clv_is_sparse(x) || l.samples < 2) {
        return false; /* to center would fill it */
    }
    for (int64_t first = 0; first < l.features; first += STRIP) {
        int64_t count = l.features - first < STRIP ? l.features - first : STRIP;
        look_at(&l, first, count, step, means, spreads);
        for (int64_t j = 0; j < count; j++) {
            largest = fmax(largest, spreads[j]);
            constant = spreads[j] > 0 ? constant : fmax(constant, fabs(means[j]));
            far = far || (spreads[j] > 0 && fabs(means[j]) > times * spreads[j]);
        }
    }
    return far || (largest > 0 && constant > times * largest); /* columns of one value are held against the others */
}

/* In the order of memory: the mean of each feature, by differences from its first sample. */
static void find_means(const layout *l, double *means) {
    for (int64_t r = 0; r < l->x->rows; r++) {
        for (int64_t c = 0; c < l->x->cols; c++) {
            int64_t feature = l->by_sample == 1 ? r : c;
            means[feature] += clv_stored(l->x, r * l->x->cols + c) - entry(l, feature, 0);
        }
    }
    for (int64_t j = 0; j < l->features; j++) {
        means[j] = entry(l, j, 0) + means[j] / (double)l->samples;
    }
}

clv_status clv_ks_center(clv_context *ctx, const clv_matrix *x, bool transposed, clv_data **out, double **means) {
    layout l = layout_of(x, transposed);
    *out = NULL;
    *means = CLV_NEW0(ctx, double, l.features);
    CLV_TRY(*means ? CLV_OK : CLV_ENOMEM);
    CLV_TRY(clv_data_copy(ctx, "X", x, out));
    find_means(&l, *means);
    for (int64_t at = 0; at < x->rows * x->cols; at++) {
        double value = clv_stored(x, at) - (*means)[transposed ? at / x->cols : at % x->cols];
        if (x->scalar == CLV_F32) {
            ((float *)(*out)->values)[at] = (float)value;
        } else {
            ((double *)(*out)->values)[at] = value;
        }
    }
    return CLV_OK;
}
