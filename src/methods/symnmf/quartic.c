/* The least point of a quartic on an interval: its derivative is monotone between the zeros of the second derivative,
 * so in each of at most three pieces a sign change is found by Newton's method kept inside, and the lowest of these
 * and of the ends is taken. */
#include "methods/symnmf/symnmf.h"

#include <math.h>

enum { MOST_STEPS = 100 };

double clv_quartic_at(const double *c, double t) {
    return (((c[4] * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0];
}

static double slope_at(const double *c, double t) {
    return ((4 * c[4] * t + 3 * c[3]) * t + 2 * c[2]) * t + c[1];
}

static double bend_at(const double *c, double t) {
    return (12 * c[4] * t + 6 * c[3]) * t + 2 * c[2];
}

/* Where the slope rises through 0 between `low` and `high`; it is below 0 at `low` and above at `high`. */
static double find_valley(const double *c, double low, double high) {
    double t = (low + high) / 2;
    for (int step = 0; step < MOST_STEPS; step++) {
        double slope = slope_at(c, t);
        if (slope > 0) {
            high = t;
        } else {
            low = t;
        }
        double next = t - slope / bend_at(c, t);
        if (!(next > low && next < high)) {
            next = (low + high) / 2;
        }
        if (next == t || slope == 0) {
            break;
        }
        t = next;
    }
    return t;
}

/* The zeros of the second derivative inside of (0, most), ascending. */
static int find_bends(const double *c, double most, double *at) {
    double a = 12 * c[4], b = 6 * c[3], d = 2 * c[2], root, first, second;
    int count = 0;
    if (a == 0) {
        first = second = b != 0 ? -d / b : -1;
    } else {
        if (b * b < 4 * a * d) {
            return 0;
        }
        root = -(b + copysign(sqrt(b * b - 4 * a * d), b)) / 2;
        first = root / a;
        second = root != 0 ? d / root : first;
    }
    double low = fmin(first, second), high = fmax(first, second);
    if (low > 0 && low < most) {
        at[count++] = low;
    }
    if (high > low && high > 0 && high < most) {
        at[count++] = high;
    }
    return count;
}

double clv_quartic_least(const double *c, double most) {
    double ends[4] = {0}, best = 0, lowest = c[0];
    int pieces = find_bends(c, most, ends + 1) + 1;
    ends[pieces] = most;
    for (int piece = 0; piece < pieces; piece++) {
        double low = ends[piece], high = ends[piece + 1], t = high;
        if (slope_at(c, low) < 0 && slope_at(c, high) > 0) {
            t = find_valley(c, low, high);
        }
        if (clv_quartic_at(c, t) < lowest) {
            lowest = clv_quartic_at(c, t);
            best = t;
        }
    }
    return best;
}
