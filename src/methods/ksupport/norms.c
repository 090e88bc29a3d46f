/* The k-support norm for callers: checks, work space, one call. */
#include "sets/ksupport.h"

#include <math.h>

static clv_status open_set(clv_context *ctx, const double *v, int64_t p, int64_t k, int64_t threads, bool sorting,
                           clv_ksupport_set *set) {
    *set = (clv_ksupport_set){0};
    if (p < 1 || k < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "a vector of %lld entries with k = %lld: both must be 1 or more", (long long)p,
                        (long long)k);
    }
    for (int64_t i = 0; i < p; i++) {
        if (!isfinite(v[i])) {
            return clv_fail(ctx, CLV_EDATA, "entry %lld of the vector is not a finite number", (long long)i + 1);
        }
    }
    return clv_ksupport_set_new(ctx, p, k, clv_threads(threads), sorting, set);
}

static clv_status norm_by(clv_context *ctx, double (*square)(const clv_ksupport_set *, const double *, int64_t),
                          const double *v, int64_t p, int64_t k, int64_t threads, double *out) {
    clv_ksupport_set set;
    CLV_TRY(open_set(ctx, v, p, k, threads, false, &set));
    *out = sqrt(square(&set, v, p));
    clv_ksupport_set_free(&set);
    return CLV_OK;
}

clv_status clv_ksupport_norm(clv_context *ctx, const double *w, int64_t p, int64_t k, int64_t threads, double *out) {
    CLV_NEED(ctx, w);
    return norm_by(ctx, clv_ksupport_square, w, p, k, threads, out);
}

clv_status clv_ksupport_dual_norm(clv_context *ctx, const double *g, int64_t p, int64_t k, int64_t threads,
                                  double *out) {
    CLV_NEED(ctx, g);
    return norm_by(ctx, clv_ksupport_dual_square, g, p, k, threads, out);
}

clv_status clv_ksupport_prox(clv_context *ctx, const double *v, int64_t p, int64_t k, double lambda,
                             clv_ksupport_form form, int64_t threads, double *out) {
    CLV_NEED(ctx, v);
    clv_ksupport_set set;
    if (!(lambda > 0) || !isfinite(lambda)) {
        return clv_fail(ctx, CLV_EUSAGE, "lambda = %g is not a positive number", lambda);
    }
    CLV_TRY(open_set(ctx, v, p, k, threads, form != CLV_KSUPPORT_SELECT, &set));
    clv_ksupport_set_prox(&set, form, v, p, lambda, out);
    clv_ksupport_set_free(&set);
    return CLV_OK;
}
