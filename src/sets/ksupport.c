/* Norm, dual norm, vertex and conjugate of the k-support norm: one selection and one scalar root.
 *
 * Selection of the k-th largest magnitude: a histogram by exponent and the first bits of the mantissa (of a double
 * without its sign, the leading bits order as the numbers do), then quickselect among the entries of one bin, which
 * are within 3 % of each other. The root of g(a) = sum_i clip(a |v_i| - beta, 0, 1) - k, nondecreasing and piecewise
 * linear, lies where a z is between beta and 1 + beta, z the k-th largest magnitude; there only entries within
 * z beta / (1 + beta) .. z (1 + beta) / beta can have 0 < theta < 1 at all. Newton inside that bracket, bisection when
 * it leaves, until a piece reproduces its own root. Cost O(p), two to four passes over v and about eight over the
 * entries in the bracket; nothing is sorted. Sums run over fixed blocks. */
#include "sets/ksupport.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FEW = 2 * CLV_KS_BLOCK, MOST_PASSES = 200 };
/* A ridge so much smaller than lambda adds less than rounding does. */
#define BEYOND_ROUNDING 1e17

static int64_t block_count(int64_t n) {
    return (n + CLV_KS_BLOCK - 1) / CLV_KS_BLOCK;
}

static int64_t block_size(int64_t b, int64_t n) {
    int64_t left = n - b * CLV_KS_BLOCK;
    return left < CLV_KS_BLOCK ? left : CLV_KS_BLOCK;
}

/* --- work space --- */

size_t clv_ksupport_set_memory(int64_t p, int threads, bool sorting) {
    size_t entries = (size_t)p, blocks = (size_t)block_count(p) + 1;
    size_t sorts = sorting ? (4 * entries + 1) * sizeof(double) : 0;
    return sorts + entries * sizeof(double) + blocks * (2 * sizeof(int64_t) + 4 * sizeof(double)) +
           (size_t)threads * CLV_KS_BINS * sizeof(uint32_t);
}

void clv_ksupport_set_free(clv_ksupport_set *set) {
    clv_free_kept(&set->room);
    *set = (clv_ksupport_set){0};
}

clv_status clv_ksupport_set_new(clv_context *ctx, int64_t p, int64_t k, int threads, bool sorting,
                                clv_ksupport_set *out) {
    int64_t blocks = block_count(p) + 1;
    *out = (clv_ksupport_set){.ctx = ctx, .p = p, .k = k, .threads = threads, .room = {.ctx = ctx}};
    if (p >= INT64_C(1) << 32) {
        return clv_fail(ctx, CLV_EDATA, "%lld weights are more than the %lld that can be selected from", (long long)p,
                        (INT64_C(1) << 32) - 1LL);
    }
    out->band = CLV_TAKE(&out->room, double, p + 1);
    out->place = CLV_TAKE(&out->room, int64_t, 2 * blocks);
    out->partial = CLV_TAKE(&out->room, double, 4 * blocks);
    out->histogram = CLV_TAKE(&out->room, uint32_t, (int64_t)threads * CLV_KS_BINS);
    if (sorting) {
        out->sorted = CLV_TAKE(&out->room, double, p);
        out->spare = CLV_TAKE(&out->room, double, 2 * p);
        out->tail = CLV_TAKE(&out->room, double, p + 1);
    }
    clv_status status = out->room.status;
    if (status < 0) {
        clv_ksupport_set_free(out);
    }
    return status;
}

/* Threads for a loop over the blocks of n entries: few are not worth waking up others. */
static int threads_for(const clv_ksupport_set *set, int64_t n) {
    return n > FEW ? set->threads : 1;
}

/* --- gathering --- */

/* Of each block, how many magnitudes are in (low, high] and how many above. */
static void count_blocks(const clv_ksupport_set *set, const double *v, int64_t n, double low, double high,
                         int64_t *inside, int64_t *over) {
#pragma omp parallel for num_threads(clv_team(threads_for(set, n))) schedule(static)
    for (int64_t b = 0; b < block_count(n); b++) {
        clv_kernels->count_between(v + b * CLV_KS_BLOCK, block_size(b, n), low, high, &over[b], &inside[b]);
    }
}

/* The magnitudes in (low, high] to set->band, in order; `above`: how many are larger than high. */
static int64_t gather(const clv_ksupport_set *set, const double *v, int64_t n, double low, double high,
                      int64_t *above) {
    int64_t blocks = block_count(n), total = 0, *inside = set->place, *over = inside + blocks + 1;
    count_blocks(set, v, n, low, high, inside, over);
    *above = 0;
    for (int64_t b = 0; b < blocks; b++) {
        int64_t count = inside[b];
        inside[b] = total;
        total += count;
        *above += over[b];
    }
#pragma omp parallel for num_threads(clv_team(threads_for(set, n))) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        clv_kernels->gather_between(v + b * CLV_KS_BLOCK, block_size(b, n), low, high, set->band + inside[b]);
    }
    return total;
}

static void count_block_bins(const double *v, int64_t n, uint32_t *bins) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, v + i, sizeof bits);
        bins[(bits & ~(UINT64_C(1) << 63)) >> CLV_KS_BIN_SHIFT]++;
    }
}

static void count_bins(const clv_ksupport_set *set, const double *v, int64_t n) {
    int64_t blocks = block_count(n);
    memset(set->histogram, 0, (size_t)set->threads * CLV_KS_BINS * sizeof *set->histogram);
#pragma omp parallel for num_threads(clv_team(set->threads)) schedule(static)
    for (int t = 0; t < set->threads; t++) {
        uint32_t *bins = set->histogram + (int64_t)t * CLV_KS_BINS;
        for (int64_t b = t; b < blocks; b += set->threads) {
            count_block_bins(v + b * CLV_KS_BLOCK, block_size(b, n), bins);
        }
    }
    for (int t = 1; t < set->threads; t++) {
        for (int64_t bin = 0; bin < CLV_KS_BINS; bin++) {
            set->histogram[bin] += set->histogram[(int64_t)t * CLV_KS_BINS + bin];
        }
    }
}

static double bin_edge(int64_t bin) {
    uint64_t bits = (uint64_t)bin << CLV_KS_BIN_SHIFT;
    double edge;
    memcpy(&edge, &bits, sizeof edge);
    return edge;
}

/* Bounds (low, high] of the bin of the k-th largest magnitude. */
static void find_bin(const clv_ksupport_set *set, double *low, double *high) {
    int64_t bin = CLV_KS_BINS - 1;
    for (int64_t seen = 0; bin > 0; bin--) {
        seen += set->histogram[bin];
        if (seen >= set->k) {
            break;
        }
    }
    *low = bin > 0 ? nextafter(bin_edge(bin), -1) : -1;
    *high = bin + 1 < CLV_KS_BINS ? nextafter(bin_edge(bin + 1), -1) : (double)INFINITY;
}

double clv_ksupport_rank(const clv_ksupport_set *set, const double *v, int64_t p, int64_t *above) {
    double low = -1, high = INFINITY;
    if (set->k > p) {
        int64_t none;
        clv_kernels->count_between(v, p, 0, 0, above, &none);
        return 0;
    }
    if (p > FEW) {
        count_bins(set, v, p);
        find_bin(set, &low, &high);
    }
    int64_t over, count = gather(set, v, p, low, high, &over);
    double z = clv_nth_smallest(set->band, count, count - (set->k - over));
    for (int64_t i = 0; i < count; i++) {
        over += set->band[i] > z;
    }
    *above = over;
    return z;
}

double clv_ksupport_dual_square(const clv_ksupport_set *set, const double *g, int64_t p) {
    int64_t above, blocks = block_count(p);
    double z = clv_ksupport_rank(set, g, p, &above), sum = 0;
#pragma omp parallel for num_threads(clv_team(threads_for(set, p))) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        set->partial[b] = clv_kernels->squares_above(g + b * CLV_KS_BLOCK, block_size(b, p), z);
    }
    for (int64_t b = 0; b < blocks; b++) {
        sum += set->partial[b];
    }
    return sum + (double)(set->k - above) * z * z;
}

/* The places of the entries above z, and of the first `ties` equal to it, among n from `first` on. */
static void list_block(const double *g, int64_t first, int64_t n, double z, int64_t ties, int64_t *index) {
    for (int64_t i = first; i < first + n; i++) {
        double size = fabs(g[i]);
        if (size > z || (size == z && ties-- > 0)) {
            *index++ = i;
        }
    }
}

int64_t clv_ksupport_vertex(const clv_ksupport_set *set, const double *g, int64_t p, int64_t *index) {
    int64_t above, blocks = block_count(p);
    double z = clv_ksupport_rank(set, g, p, &above), below = z > 0 ? nextafter(z, 0) : 0;
    int64_t ties = z > 0 ? set->k - above : 0, taken = 0;
    int64_t *inside = set->place, *over = inside + blocks + 1;
    count_blocks(set, g, p, below, z, inside, over);
    for (int64_t b = 0; b < blocks; b++) { /* where the block writes, and the ties it may take */
        int64_t mine = inside[b] < ties ? inside[b] : ties, count = over[b] + mine;
        over[b] = taken;
        inside[b] = mine;
        ties -= mine;
        taken += count;
    }
    double least = z > 0 ? z : DBL_TRUE_MIN;
#pragma omp parallel for num_threads(clv_team(threads_for(set, p))) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        list_block(g, b * CLV_KS_BLOCK, block_size(b, p), least, inside[b], index + over[b]);
    }
    return taken;
}

/* --- the root --- */

clv_ks_sums clv_ks_add_sums(const clv_ksupport_set *set, clv_ks_block_sums of, const double *v, int64_t n, double a,
                            double beta) {
    clv_ks_sums total = {0}, *part = (clv_ks_sums *)set->partial;
#pragma omp parallel for num_threads(clv_team(threads_for(set, n))) schedule(static)
    for (int64_t b = 0; b < block_count(n); b++) {
        part[b] = of(v + b * CLV_KS_BLOCK, block_size(b, n), a, beta);
    }
    for (int64_t b = 0; b < block_count(n); b++) {
        total.whole += part[b].whole;
        total.between += part[b].between;
        total.sum += part[b].sum;
    }
    return total;
}

/* The root between low and high over the entries of the band; entries above it add `over` to the sum. */
static double solve_root(const clv_ksupport_set *set, int64_t count, double over, double beta, double low,
                         double high) {
    double missing = (double)set->k - over, a = low > 0 ? 0.5 * (low + high) : high, width = INFINITY;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        clv_ks_sums found = clv_ks_add_sums(set, clv_kernels->root_sums, set->band, count, a, beta);
        double value = found.whole + a * found.sum - beta * found.between - missing;
        /* The root of this piece, unless that is flat. */
        double next = found.between > 0 ? (missing - found.whole + beta * found.between) / found.sum : (double)NAN;
        if (fabs(next - a) <= 4 * DBL_EPSILON * a || (isnan(next) && value == 0)) {
            return isnan(next) ? a : next;
        }
        low = value < 0 ? a : low;
        high = value < 0 ? high : a;
        bool slow = pass > 8 && high - low > 0.5 * width;
        width = pass % 2 ? high - low : width;
        if (!(next > low && next < high) || slow) {
            next = 0.5 * (low + high);
        }
        if (next <= low || next >= high) {
            return next;
        }
        a = next;
    }
    return a;
}

int64_t clv_ks_count_nonzero(const double *v, int64_t p) {
    int64_t count = 0;
    for (int64_t j = 0; j < p; j++) {
        count += v[j] != 0;
    }
    return count;
}

clv_ksupport_root clv_ksupport_find_root(const clv_ksupport_set *set, const double *v, int64_t p, double beta) {
    int64_t above, over;
    double z = clv_ksupport_rank(set, v, p, &above);
    if (!(z > 0) || set->k >= p) {
        return (clv_ksupport_root){INFINITY, beta, clv_ks_count_nonzero(v, p), 0};
    }
    double low = beta > 0 ? z * (beta / (1 + beta)) * (1 - 1e-9) : 0;
    double high = beta > 0 ? z * ((1 + beta) / beta) * (1 + 1e-9) : (double)INFINITY;
    int64_t count = gather(set, v, p, low, high, &over);
    double a = solve_root(set, count, (double)over, beta, beta / z, (1 + beta) / z);
    clv_ks_sums found = clv_ks_add_sums(set, clv_kernels->root_sums, set->band, count, a, beta);
    return (clv_ksupport_root){a, beta, over + (int64_t)found.whole, (int64_t)found.between};
}

/* --- values --- */

double clv_ksupport_square(const clv_ksupport_set *set, const double *w, int64_t p) {
    clv_ksupport_root root = clv_ksupport_find_root(set, w, p, 0);
    clv_ks_sums found = clv_ks_add_sums(set, clv_kernels->norm_sums, w, p, root.a, 0);
    return isinf(root.a) ? clv_dot(w, w, p, set->threads) : found.whole + found.sum / root.a;
}

/* The maximum of sum_i g_i^2 theta_i / (2 tau (theta_i + beta)) over theta in the box with sum k, beta = 2 lambda /
 * tau, as the value of its Lagrangian at the multiplier of the root: whatever the rounding of that, never too small.
 * Without a ridge it is larger, by a share of 1 / beta or less: that takes its place where beta is beyond rounding, and
 * sums with beta in them would overflow or vanish. */
double clv_ksupport_conjugate(const clv_ksupport_set *set, const double *g, int64_t p, double lambda, double tau) {
    double beta = 2 * lambda / tau;
    if (!(tau > 0) || beta > BEYOND_ROUNDING) {
        return clv_ksupport_dual_square(set, g, p) / (4 * lambda);
    }
    clv_ksupport_root root = clv_ksupport_find_root(set, g, p, beta);
    if (isinf(root.a)) {
        return clv_dot(g, g, p, set->threads) / (2 * tau + 4 * lambda);
    }
    clv_ks_sums found = clv_ks_add_sums(set, clv_kernels->conjugate_sums, g, p, root.a, beta);
    double missing = (double)set->k - found.between;
    return (found.whole / (1 + beta) + found.sum + missing * (beta / root.a / root.a)) / (2 * tau);
}

/* --- the proximity operator, and with it the projection --- */

clv_ksupport_root clv_ksupport_set_prox(const clv_ksupport_set *set, clv_ksupport_form form, const double *v, int64_t p,
                                        double lambda, double *out) {
    clv_ksupport_root root = form == CLV_KSUPPORT_SELECT ? clv_ksupport_find_root(set, v, p, 2 * lambda)
                                                         : clv_ksupport_root_by_form(set, form, v, p, 2 * lambda);
    double a = isinf(root.a) ? DBL_MAX : root.a;
#pragma omp parallel for num_threads(clv_team(threads_for(set, p))) schedule(static)
    for (int64_t b = 0; b < block_count(p); b++) {
        clv_kernels->shrink(v + b * CLV_KS_BLOCK, block_size(b, p), a, root.beta, out + b * CLV_KS_BLOCK);
    }
    return root;
}

static bool lands_outside(const clv_ksupport_set *set, const double *v, int64_t p, double beta, double radius,
                          double *out) {
    clv_ksupport_set_prox(set, CLV_KSUPPORT_SELECT, v, p, beta / 2, out);
    return clv_ksupport_square(set, out, p) > radius * radius;
}

/* The projection is the proximity operator with the multiplier that gives the norm asked for; the norm falls as the
 * multiplier grows, so that bisection on its logarithm finds it. */
void clv_ksupport_project(const clv_ksupport_set *set, const double *v, int64_t p, double radius, double *out) {
    const double grow = 16;
    double low = 1, high = 1;
    memcpy(out, v, (size_t)p * sizeof *out);
    if (clv_ksupport_square(set, v, p) <= radius * radius) {
        return;
    }
    while (lands_outside(set, v, p, high, radius, out) && high < DBL_MAX / grow) {
        low = high;
        high *= grow;
    }
    while (!lands_outside(set, v, p, low, radius, out) && low > DBL_MIN * grow) {
        high = low;
        low /= grow;
    }
    for (int pass = 0; pass < MOST_PASSES && high > low * (1 + 4 * DBL_EPSILON); pass++) {
        double beta = sqrt(low) * sqrt(high);
        if (lands_outside(set, v, p, beta, radius, out)) {
            low = beta;
        } else {
            high = beta;
        }
    }
    clv_ksupport_set_prox(set, CLV_KSUPPORT_SELECT, v, p, high / 2, out);
}
