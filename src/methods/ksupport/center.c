/* Columns of X far from the origin, beside an intercept.
 *
 * With an intercept, X w + b = (X - 1 m') w + (b + m'w) for any m: the weights, the objective and the least one stay
 * the same. Where the mean of a column is thousands of times its spread, though, the slopes r of the samples, which add
 * up to 0 but for rounding, give X'r = (X - 1 m')'r + m 1'r: the rounding, times the mean. Such columns are centered,
 * in a copy of X, so that solvers, the certificate and its verification all see them without it. */
#include "methods/ksupport/ksupport.h"

#include "base/ranks.h"

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
    int64_t looked = (l->samples + step - 1) / step;
    double looks = (double)looked;
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

enum { STRIP = 512 };

/* Of some features: the largest spread, the largest mean of one without any, and of mean to spread. */
typedef struct extremes {
    double spread, constant, ratio;
} extremes;

static extremes look_at_all(const layout *l, int64_t begin, int64_t end) {
    int64_t step = l->samples / LOOKED_AT + 1;
    double means[STRIP], spreads[STRIP];
    extremes e = {0};
    for (int64_t first = begin; first < end; first += STRIP) {
        int64_t count = end - first < STRIP ? end - first : STRIP;
        look_at(l, first, count, step, means, spreads);
        for (int64_t j = 0; j < count; j++) {
            e.spread = fmax(e.spread, spreads[j]);
            e.constant = spreads[j] > 0 ? e.constant : fmax(e.constant, fabs(means[j]));
            e.ratio = spreads[j] > 0 ? fmax(e.ratio, fabs(means[j]) / spreads[j]) : e.ratio;
        }
    }
    return e;
}

/* Columns of one value are held against the others; where all are, nothing but rounding would tell them apart. To
 * center what is sparse would fill it. */
static bool are_far(const extremes *e, double times) {
    return e->ratio > times || e->constant > times * e->spread;
}

bool clv_ks_is_far(const clv_matrix *x, bool transposed, double times) {
    layout l = layout_of(x, transposed);
    extremes e = clv_is_sparse(x) || l.samples < 2 ? (extremes){0} : look_at_all(&l, 0, l.features);
    return are_far(&e, times);
}

clv_status clv_ks_find_far(clv_context *ctx, const clv_matrix *x, bool transposed, double times, bool *out) {
    layout l = layout_of(x, transposed);
    int64_t begin, end;
    *out = false;
    if (clv_is_sparse(x) || l.samples < 2) {
        return CLV_OK;
    }
    clv_share_objects(ctx, l.features, STRIP, &begin, &end);
    extremes e = look_at_all(&l, begin, end);
    CLV_TRY(clv_agree_largest(ctx, &e.spread));
    CLV_TRY(clv_agree_largest(ctx, &e.constant));
    CLV_TRY(clv_agree_largest(ctx, &e.ratio));
    *out = are_far(&e, times);
    return CLV_OK;
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
