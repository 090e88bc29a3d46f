/* The answers of normalized cut looked at again: objective and certificate from the affinity and the labels, bound and
 * shift from eigenvalues that are computed anew, the choice of k from those that the answer lists. */
#include "methods/ncut/ncut.h"

#include <math.h>
#include <string.h>

/* k = auto: the gaps that speak for other choices. */
clv_status clv_ncut_add_alternatives(clv_result *result, const double *eigenvalues, int64_t count) {
    enum { MOST = CLV_NCUT_MOST_K + 1 };
    int64_t k[MOST], rows = 0;
    double gap[MOST];
    for (; eigenvalues && rows + 2 < count && rows < MOST; rows++) {
        k[rows] = rows + 2;
        gap[rows] = eigenvalues[rows + 1] - eigenvalues[rows + 2];
    }
    CLV_TRY(clv_result_put_integers(result, "k_alternatives.k", k, rows));
    return clv_result_put_reals(result, "k_alternatives.gap", gap, rows);
}

static clv_status evaluate(clv_ncut_problem *p, const int32_t *labels, int64_t threads, clv_iterate *out) {
    clv_partition s = {0};
    CLV_TRY(clv_ncut_check_k(p, p->k));
    CLV_TRY(clv_ncut_check_labels(p, labels, p->k));
    CLV_TRY(clv_partition_new(p, clv_threads(threads), &s));
    memcpy(s.labels, labels, (size_t)p->n * sizeof *labels);
    clv_status status = clv_partition_refresh(&s);
    if (status == CLV_OK) {
        out->value = s.value;
        status = clv_partition_gain(&s, &out->certificate);
    }
    clv_partition_free(&s);
    return status;
}

/* No eigenvalue of the normalized affinity lies outside -1..1, and the first is 1, but for what an eigensolver leaves.
 * Where similarities may lie below 0 (`open`), 1 is one of them, and others may be larger. */
#define EIGENVALUE_ROUNDING 1e-6

static clv_status check_eigenvalues(clv_context *ctx, const double *values, int64_t count, int64_t n, bool open) {
    if (count > n) {
        return clv_fail(ctx, CLV_EDATA, "there are %lld eigenvalues of %lld objects", (long long)count, (long long)n);
    }
    for (int64_t e = 0; e < count; e++) {
        bool falls = e == 0 ? values[e] >= 1 - EIGENVALUE_ROUNDING : values[e] <= values[e - 1] + 1e-9;
        bool small = open ? isfinite(values[e]) : fabs(values[e]) <= 1 + EIGENVALUE_ROUNDING;
        if (!falls || !small) {
            return clv_fail(
                ctx, CLV_EDATA,
                "eigenvalue %lld is %.12g, but those of a normalized affinity begin with 1 and fall to -1 at "
                "most",
                (long long)e + 1, values[e]);
        }
    }
    return CLV_OK;
}

/* The shift makes eigenvalues rise, and only where one was asked for. */
static clv_status check_shift(clv_context *ctx, const clv_ncut_options *options, const clv_result *answer) {
    double shift = clv_result_real(answer, "shift", 0);
    bool possible = options->shift == CLV_NCUT_SHIFT_NONE ? shift == 0 : shift >= 0;
    return possible ? CLV_OK : clv_fail(ctx, CLV_EDATA, "a shift of %g cannot come from these options", shift);
}

/* The shift that the affinity gives, to the digits that its eigenvalue is found to. */
static clv_status recompute_shift(clv_ncut_problem *p, const clv_result *answer) {
    const double digits = 1e-5, rounding = 1e-9;
    double claimed = clv_result_real(answer, "shift", 0), least = HUGE_VAL, most = 0;
    for (int64_t i = 0; i < p->n; i++) {
        least = p->degree[i] > 0 ? fmin(least, p->degree[i]) : least;
        most = fmax(most, p->degree[i]);
    }
    CLV_TRY(clv_ncut_find_shift(p));
    return fabs(claimed - p->shift) <= digits * p->shift + rounding * most / least
               ? CLV_OK
               : clv_fail(p->ctx, CLV_EDATA, "the shift is %.12g, but the data give %.12g", claimed, p->shift);
}

/* The most that the eigenvalues of the answer give: those not listed may be as large as 1, and give nothing. */
static double bound_by(const double *values, int64_t count, int64_t k, bool open) {
    double bound = 0;
    for (int64_t c = 0; c < k && c < count; c++) {
        bound += (1 - (open ? values[c] : fmin(values[c], 1))) / 2;
    }
    return bound;
}

/* Eigenvalues that are listed against those that were found again. Either are within their residuals of true ones, and
 * none is too large; those of a run whose solver did not converge, which has no bound, may be too small. */
static clv_status compare_spectra(const clv_ncut_problem *p, const clv_result *answer, const double *claimed,
                                  const clv_spectrum *fresh, double tol) {
    double tolerance = 2 * tol + fresh->residual;
    bool bounded = answer->bound.name && answer->bound.value > EIGENVALUE_ROUNDING;
    for (int64_t e = 0; e < fresh->count && fresh->converged; e++) {
        double beyond = claimed[e] - fresh->values[e];
        if (beyond > tolerance || (bounded && beyond < -tolerance)) {
            return clv_fail(p->ctx, CLV_EDATA, "eigenvalue %lld is %.12g, but the data give %.12g", (long long)e + 1,
                            claimed[e], fresh->values[e]);
        }
    }
    return CLV_OK;
}

/* What the answer lists is looked at, unless the caller does without the bound by the affinity itself. Rayleigh
 * quotients do not exceed the eigenvalues that they stand for, converged or not, so that no true bound exceeds what
 * those found here give. */
static clv_status add_bound(clv_ncut_problem *p, const clv_result *answer, int64_t threads, clv_result *found) {
    int64_t count;
    const double *values = clv_result_reals(answer, "eigenvalues", &count);
    clv_spectrum fresh = {0};
    clv_affinity_info info;
    if (!values) {
        return CLV_OK;
    }
    clv_affinity_describe(p->affinity, &info);
    double tol = clv_ncut_eigen_tolerance(&info, &p->options); /* as the run had it */
    CLV_TRY(check_eigenvalues(p->ctx, values, count, p->n, p->open));
    double bound = bound_by(values, count, answer->k, p->open);
    if (p->options.bound != CLV_NCUT_BOUND_NO) {
        int64_t wanted = clv_ncut_eigen_count(p, p->options.k);
        if (count != wanted) {
            return clv_fail(p->ctx, CLV_EDATA, "there are %lld eigenvalues, but these options give %lld",
                            (long long)count, (long long)wanted);
        }
        CLV_TRY(clv_spectrum_new(p, count, tol, clv_threads(threads), &fresh));
        bound = fmin(bound, bound_by(fresh.values, count, answer->k, p->open));
        clv_status status = compare_spectra(p, answer, values, &fresh, tol);
        clv_spectrum_free(&fresh);
        CLV_TRY(status);
    }
    found->bound = (clv_bound){clv_ncut_method.bound, bound};
    return CLV_OK;
}

/* k = auto: what the eigenvalues of the answer give, or 1 where they hardly differ. */
static clv_status check_choice(clv_context *ctx, const clv_result *answer, int64_t components, clv_result *found) {
    clv_spectrum spectrum = {0};
    const double *values = clv_result_reals(answer, "eigenvalues", &spectrum.count);
    spectrum.values = (double *)(uintptr_t)values;
    int64_t k = values ? clv_choose_k(&spectrum, components) : 0;
    if (answer->k != k && (answer->k != 1 || !values)) {
        return clv_fail(ctx, CLV_EDATA, "k = auto gives %lld by the eigenvalues, not %lld", (long long)k,
                        (long long)answer->k);
    }
    return clv_ncut_add_alternatives(found, values, spectrum.count);
}

static clv_status evaluate_all(clv_ncut_problem *p, const clv_result *answer, clv_result *found) {
    clv_iterate iterate = {.value = NAN, .certificate = NAN};
    int64_t threads = p->options.control.threads;
    bool shifted = p->options.shift != CLV_NCUT_SHIFT_NONE && p->options.bound != CLV_NCUT_BOUND_NO;
    bool chosen = p->options.k == 0 && answer->method; /* else it is for the program to say */
    p->summed_degrees = clv_ncut_sums_give_degrees(p->affinity);
    CLV_TRY(clv_ncut_describe(threads, p));
    p->k = answer->k;
    CLV_TRY(evaluate(p, answer->labels, threads, &iterate));
    clv_result_claim(found, &clv_ncut_method, iterate.value, iterate.certificate,
                     CLV_GAIN_TOLERANCE * (double)answer->k);
    CLV_TRY(clv_result_put_integer(found, "components", p->components));
    CLV_TRY(clv_result_put_integer(found, "certified", p->options.polish));
    CLV_TRY(add_bound(p, answer, threads, found));
    CLV_TRY(shifted ? recompute_shift(p, answer) : CLV_OK);
    return chosen ? check_choice(p->ctx, answer, p->components, found) : CLV_OK;
}

clv_status clv_ncut_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                    const clv_result *answer, clv_result *found) {
    clv_ncut_problem problem = {.ctx = ctx, .affinity = input->affinity, .options = *(const clv_ncut_options *)options};
    CLV_TRY(check_shift(ctx, options, answer));
    clv_status status = evaluate_all(&problem, answer, found);
    clv_ncut_free(&problem);
    return status;
}
