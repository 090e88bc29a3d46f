/* The proximity operator of lambda (||.||_k^sp)^2, the older ways: sort the magnitudes, then look for the number of
 * entries with theta = 1 (k - r - 1) and the last one with theta > 0 (l).
 *
 *   search  Argyriou, Foygel and Srebro 2012: every pair (r, l)               O(p (k + log p))
 *   bisect  Lai et al. 2014 (BS): l by bisection for each r                   O(p log p + k log p)
 *   active  Eriksson et al. 2015 (AS): both by bisection                      O(p log p + log k log p)
 *   box     McDonald, Pontil and Stamos 2014 (BN): the 2 p points at which a theta starts or ends, sorted, and a
 *           bisection over them with a pass over v each                       O(p log p)
 *
 * With z_1 >= z_2 >= ..., beta = 2 lambda, top = k - r - 1 and T = z_(top+1) + ... + z_l, entries in between shrink by
 * s = T / ((r + 1) / beta + l - top) = beta / a, and a pair is right if z_top > (1 + 1 / beta) s >= z_(top+1) and
 * z_l > s >= z_(l+1). For a fixed r, "z_l > s" holds up to one l and for none after it; "z_top > (1 + 1 / beta) s"
 * holds from one r on. */
#include "sets/ksupport.h"

#include <math.h>
#include <string.h>

enum { DIGIT = 11, DIGITS = 6, RADIX = 1 << DIGIT };

/* Ascending sort of n nonnegative doubles, which order as their bits do: six stable passes by 11 bits. The result is
 * in `x`. */
static void sort_magnitudes(double *x, double *spare, int64_t n) {
    uint32_t count[RADIX];
    double *from = x, *to = spare;
    for (int digit = 0; digit < DIGITS; digit++) {
        uint64_t bits;
        memset(count, 0, sizeof count);
        for (int64_t i = 0; i < n; i++) {
            memcpy(&bits, from + i, sizeof bits);
            count[(bits >> (digit * DIGIT)) & (RADIX - 1)]++;
        }
        uint32_t at = 0;
        for (int64_t value = 0; value < RADIX; value++) {
            uint32_t here = count[value];
            count[value] = at;
            at += here;
        }
        for (int64_t i = 0; i < n; i++) {
            memcpy(&bits, from + i, sizeof bits);
            to[count[(bits >> (digit * DIGIT)) & (RADIX - 1)]++] = from[i];
        }
        double *held = from;
        from = to;
        to = held;
    }
}

/* Magnitudes in descending order, z[0] the largest, and the sums of z[i] and all after it. */
typedef struct ladder {
    const double *z, *tail; /* p, p + 1 */
    int64_t p, k;
    double beta;
} ladder;

static ladder climb(const clv_ksupport_set *set, const double *v, int64_t p, double beta) {
    double *ascending = set->spare, *z = set->sorted;
    for (int64_t i = 0; i < p; i++) {
        ascending[i] = fabs(v[i]);
    }
    sort_magnitudes(ascending, set->spare + p, p);
    set->tail[p] = 0; /* summed from the small end, so that differences of these sums keep their digits */
    for (int64_t i = p - 1; i >= 0; i--) {
        z[i] = ascending[p - 1 - i];
        set->tail[i] = set->tail[i + 1] + z[i];
    }
    return (ladder){z, set->tail, p, set->k, beta};
}

/* s for entries top + 1 .. l (from 1) in between. */
static double shrinkage(const ladder *on, int64_t top, int64_t l) {
    double wanted = (double)(on->k - top);
    return (on->tail[top] - on->tail[l]) / (wanted / on->beta + (double)(l - top));
}

/* The last l of top + 1 .. p with z_l > s. */
static int64_t last_between(const ladder *on, int64_t top) {
    int64_t low = top + 1, high = on->p;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (on->z[middle - 1] > shrinkage(on, top, middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Whether the first `top` entries may have theta = 1, given that the others get s. */
static bool top_is_whole(const ladder *on, int64_t top, double s) {
    return top == 0 || on->z[top - 1] > (1 + 1 / on->beta) * s;
}

static clv_ksupport_root root_at(const ladder *on, int64_t top, int64_t l) {
    return (clv_ksupport_root){on->beta / shrinkage(on, top, l), on->beta, top, l - top};
}

static bool is_right(const ladder *on, int64_t top, int64_t l) {
    const double slack = 1e-12;
    double s = shrinkage(on, top, l), whole = (1 + 1 / on->beta) * s;
    bool first = top == 0 || on->z[top - 1] * (1 + slack) > whole;
    bool last = l == on->p || s * (1 + slack) >= on->z[l];
    return first && last && whole * (1 + slack) >= on->z[top] && on->z[l - 1] * (1 + slack) > s;
}

static clv_ksupport_root by_active_set(const ladder *on) {
    int64_t low = 0, high = on->k - 1; /* the largest top that is whole; 0 is */
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (top_is_whole(on, middle, shrinkage(on, middle, last_between(on, middle)))) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return root_at(on, low, last_between(on, low));
}

static clv_ksupport_root by_search(const ladder *on) {
    for (int64_t r = 0; r < on->k; r++) {
        int64_t top = on->k - r - 1;
        for (int64_t l = on->k; l <= on->p; l++) {
            if (is_right(on, top, l)) {
                return root_at(on, top, l);
            }
        }
    }
    return by_active_set(on); /* no pair is right in rounded numbers */
}

static clv_ksupport_root by_bisection(const ladder *on) {
    int64_t top = on->k - 1, l = last_between(on, top);
    while (!top_is_whole(on, top, shrinkage(on, top, l))) {
        l = last_between(on, --top);
    }
    return root_at(on, top, l);
}

/* Between two neighbors of the sorted critical points the sum of the theta is linear in a. */
static clv_ksupport_root by_box(const clv_ksupport_set *set, const double *v, int64_t p, double beta) {
    double *point = set->spare, *other = set->band;
    int64_t count = 0, low = 0;
    for (int64_t i = 0; i < p; i++) {
        if (v[i] != 0) {
            set->sorted[count] = beta / fabs(v[i]);
            other[count++] = (1 + beta) / fabs(v[i]);
        }
    }
    sort_magnitudes(set->sorted, point, count); /* the ends are the starts times (1 + beta) / beta: merge the two */
    sort_magnitudes(other, point, count);
    for (int64_t i = 0, j = 0; i + j < 2 * count;) {
        bool start = j == count || (i < count && set->sorted[i] <= other[j]);
        point[i + j] = start ? set->sorted[i] : other[j];
        *(start ? &i : &j) += 1;
    }
    int64_t high = 2 * count - 1;
    while (low < high) { /* the last point with a sum of at most k */
        int64_t middle = low + (high - low + 1) / 2;
        clv_ks_sums sums = clv_ks_add_sums(set, clv_kernels->root_sums, v, p, point[middle], beta);
        if (sums.whole + point[middle] * sums.sum - beta * sums.between <= (double)set->k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double next = low + 1 < 2 * count ? point[low + 1] : point[low], inside = 0.5 * (point[low] + next);
    clv_ks_sums sums = clv_ks_add_sums(set, clv_kernels->root_sums, v, p, inside, beta);
    double a = sums.between > 0 ? ((double)set->k - sums.whole + beta * sums.between) / sums.sum : inside;
    return (clv_ksupport_root){a, beta, (int64_t)sums.whole, (int64_t)sums.between};
}

clv_ksupport_root clv_ksupport_root_by_form(const clv_ksupport_set *set, clv_ksupport_form form, const double *v,
                                            int64_t p, double beta) {
    int64_t nonzero = clv_ks_count_nonzero(v, p);
    if (nonzero <= set->k) {
        return (clv_ksupport_root){INFINITY, beta, nonzero, 0};
    }
    if (form == CLV_KSUPPORT_BOX) {
        return by_box(set, v, p, beta);
    }
    ladder sorted = climb(set, v, p, beta);
    return form == CLV_KSUPPORT_SEARCH   ? by_search(&sorted)
           : form == CLV_KSUPPORT_BISECT ? by_bisection(&sorted)
                                         : by_active_set(&sorted);
}
