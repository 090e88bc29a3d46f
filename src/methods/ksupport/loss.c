/* The losses: sum_m log(1 + exp(-y_m t_m)) with y = +1 or -1, and 1/2 sum_m (t_m - y_m)^2, at t = X w + b. The
 * intercept is not penalized and costs nothing to optimize, so it is minimized out: what remains is a convex function
 * of X w whose gradient is that of the loss at the best b, where the derivatives add up to 0. */
#include "methods/ksupport/ksupport.h"

#include <math.h>

enum { MOST_NEWTON = 100 };

double clv_loss_curvature(const clv_loss *loss) {
    return loss->kind == CLV_KSUPPORT_LOGISTIC ? 0.25 : 1;
}

/* log(1 + exp(-t)) and sigma(-t), both without overflow. */
static double logistic(double t, double *share) {
    double e = exp(-fabs(t));
    *share = t > 0 ? e / (1 + e) : 1 / (1 + e);
    return log1p(e) + (t < 0 ? -t : 0);
}

static void evaluate(const clv_loss *loss, double *terms, const double *z, double b, double *r, double *h) {
    bool is_logistic = loss->kind == CLV_KSUPPORT_LOGISTIC;
#pragma omp parallel for num_threads(clv_team(loss->threads)) schedule(static) if (loss->samples > 8192)
    for (int64_t m = 0; m < loss->samples; m++) {
        double y = loss->y[m], t = z[m] + b, share = 1;
        if (is_logistic) {
            terms[m] = logistic(y * t, &share);
            r[m] = -y * share;
        } else {
            r[m] = t - y;
            terms[m] = 0.5 * r[m] * r[m];
        }
        if (h) {
            h[m] = is_logistic ? share * (1 - share) : 1;
        }
    }
}

/* For squares the mean of y - z; a second step takes back what the first one lost to rounding. It begins at 0: beside
 * the intercept of an iterate far away, z and y would be lost. */
static double mean_intercept(const clv_loss *loss, double *terms, const double *z, double *r) {
    double b = 0;
    for (int pass = 0; pass < 2; pass++) {
        evaluate(loss, terms, z, b, r, NULL);
        b -= clv_sum(r, loss->samples, loss->threads) / (double)loss->samples;
    }
    return b;
}

double clv_loss_with(const clv_loss *loss, double *terms, const double *z, double b, double *r) {
    evaluate(loss, terms, z, b, r, NULL);
    return clv_sum(terms, loss->samples, loss->threads);
}

/* Where the best intercept is, whatever the sizes of the margins. The derivative by b is the sum of sigma(z_m + b) less
 * P, the number of samples with y = 1; there are some of each class. With a the numbers -z in ascending order, at
 * b = a_P - log n all but P - 1 of the sigma are at most 1 / (n + 1), and the sum is below P; at b = a_(P+1) + log n,
 * P + 1 of them are at least n / (n + 1), and the sum is not below P. */
static void find_bracket(const clv_loss *loss, double *work, const double *z, double *low, double *high) {
    int64_t positive = 0;
    double beyond = log((double)loss->samples);
    for (int64_t m = 0; m < loss->samples; m++) {
        positive += loss->y[m] > 0;
        work[m] = -z[m];
    }
    *low = fmax(*low, clv_nth_smallest(work, loss->samples, positive - 1) - beyond);
    *high = fmin(*high, clv_nth_smallest(work, loss->samples, positive) + beyond);
}

/* Of two neighbors among the numbers that there are, between which the best intercept lies, the better one: far from
 * the origin the next number may be worth a million times as much. */
static double better_of(const clv_loss *loss, double *terms, const double *z, double low, double high, double *r) {
    double below = clv_loss_with(loss, terms, z, low, r), above = clv_loss_with(loss, terms, z, high, r);
    return below <= above ? low : high;
}

/* Newton on the convex function of b, as long as no step is longer than half the one before. Far from the margins,
 * where the loss is all but straight, steps are too long or lost beside b: then the best b is bracketed, and bisection
 * takes over. It ends where the derivative is what rounding makes of it, as that of z + b changes a share that is
 * nearly 0 or 1 by next to nothing, or where nothing lies between the ends of the bracket. */
static double best_intercept(const clv_loss *loss, double *terms, const double *z, double start, double *r) {
    double low = -INFINITY, high = INFINITY, b = start, last = 2;
    for (int pass = 0; pass < MOST_NEWTON; pass++) {
        evaluate(loss, terms, z, b, r, NULL);
        double value = clv_sum(terms, loss->samples, loss->threads), slope = clv_sum(r, loss->samples, loss->threads);
        double curvature = 0, rounding = 0;
        for (int64_t m = 0; m < loss->samples; m++) {
            double share = fabs(r[m]), change = share * (1 - share);
            curvature += change;
            rounding += share + change * fabs(z[m] + b);
        }
        if (fabs(slope) <= 1e-15 * rounding) {
            break;
        }
        low = slope < 0 ? b : low;
        high = slope < 0 ? high : b;
        double next = b - slope / curvature;
        if (!(next > low && next < high && fabs(next - b) <= 0.5 * last)) {
            if (!(isfinite(low) && isfinite(high))) {
                find_bracket(loss, terms, z, &low, &high);
            }
            next = 0.5 * (low + high);
        }
        double step = fabs(next - b);
        bool is_small = step <= 1e-15 * fabs(b) && fabs(slope) * step <= 1e-15 * value;
        if (!isfinite(next) || step == 0 || is_small) {
            break;
        }
        last = step;
        b = next;
    }
    return isfinite(low) && nextafter(low, high) == high ? better_of(loss, terms, z, low, high, r) : b;
}

double clv_loss_at(const clv_loss *loss, double *terms, const double *z, double *b, double *r, double *h) {
    bool squares = loss->kind == CLV_KSUPPORT_SQUARES;
    *b = !loss->intercept ? 0 : squares ? mean_intercept(loss, terms, z, r) : best_intercept(loss, terms, z, *b, r);
    evaluate(loss, terms, z, *b, r, h);
    return clv_sum(terms, loss->samples, loss->threads);
}
