/* Weights as lists, places and numbers, where a row has few; numbers of type REAL; included once per type by real.h.
 * Cost: one look at each number of a row, and some ten operations for an entry of a list. */

/* The nonzeros of a row of weights, in order: the bits of 64 numbers at once, as where they are cannot be foreseen. */
static int64_t NAME(collect)(const REAL *weight, int64_t width, int32_t *index, REAL *out) {
    enum { AT_ONCE = 64 };
    const REALS zero = {0};
    int64_t count = 0;
    for (int64_t first = 0; first < width; first += AT_ONCE) {
        int64_t some = width - first < AT_ONCE ? width - first : AT_ONCE;
        uint64_t bits = 0;
        for (int64_t l = 0; l < some; l += LANES) {
            MASK in = *(const REALS *)(weight + first + l) > zero;
            bits |= (uint64_t)BITS(&in) << l;
        }
        for (; bits; bits &= bits - 1) {
            int64_t at = first + __builtin_ctzll(bits);
            index[count] = (int32_t)at;
            out[count++] = weight[at];
        }
    }
    return count;
}

/* The share of a row x of the points in weighted sums, by a list: blocks of x stay in registers. */
INLINE void NAME(add_block)(double *sums, int64_t stride, const REAL *x, int vectors, const clv_short_list *list,
                            double times) {
    doubles row[4];
    for (int v = 0; v < vectors; v++) {
        row[v] = LOAD(x + v * DOUBLES) * times;
    }
    for (int64_t e = 0; e < list->count; e++) {
        double *sum = sums + list->index[e] * stride, weight = (double)((const REAL *)list->weight)[e];
        for (int v = 0; v < vectors; v++) {
            *(loose_doubles *)(sum + v * DOUBLES) += weight * row[v];
        }
    }
}

static void NAME(add_listed)(double *sums, int64_t stride, const REAL *x, int64_t p, const clv_short_list *list,
                             double times) {
    int64_t f = 0;
    for (; f + 4 * DOUBLES <= p; f += 4 * DOUBLES) {
        NAME(add_block)(sums + f, stride, x + f, 4, list, times);
    }
    for (; f + 2 * DOUBLES <= p; f += 2 * DOUBLES) {
        NAME(add_block)(sums + f, stride, x + f, 2, list, times);
    }
    for (; f + DOUBLES <= p; f += DOUBLES) {
        NAME(add_block)(sums + f, stride, x + f, 1, list, times);
    }
    for (int64_t e = 0; e < list->count; e++) {
        double *sum = sums + list->index[e] * stride, weight = (double)((const REAL *)list->weight)[e];
        for (int64_t rest = f; rest < p; rest++) {
            sum[rest] += weight * ((double)x[rest] * times);
        }
        sum[p] += weight * times;
    }
}

/* How many places of a row would be above tau if all weights were 0. */
INLINE int64_t NAME(count_entering)(const REAL *d, int64_t width, REAL least, REAL inverse_alpha, REAL tau) {
    MASK above = {0}; /* -1 for each */
    for (int64_t l = 0; l < width; l += LANES) {
        above += (least - *(const REALS *)(d + l)) * inverse_alpha > tau;
    }
    REALS counts = __builtin_convertvector(above, REALS);
    return -(int64_t)SUM_LANES(&counts);
}

/* The lists of up to LANES rows side by side, a row per lane: none waits for sums along its list. */
typedef struct NAME(lists) {
    REALS key[CLV_FEW], before[CLV_FEW]; /* HUGE_KEY and 0 past the end of a list */
    REALS count, inverse_alpha;
    int64_t most; /* entries of the longest one */
} NAME(lists);

INLINE void NAME(read_lists)(const REAL *d, int64_t width, const clv_short_list *list, int64_t rows,
                             const double *alpha, NAME(lists) * to) {
    _Alignas(VECTOR) REAL key[CLV_FEW][LANES], weight[CLV_FEW][LANES], count[LANES], inverse[LANES];
    to->most = 1;
    for (int64_t l = 0; l < LANES; l++) {
        int64_t r = l < rows ? l : rows - 1;
        count[l] = (REAL)list[r].count;
        inverse[l] = (REAL)fmin(1 / alpha[r], MOST_INVERSE);
        to->most = list[r].count > to->most ? list[r].count : to->most;
    }
    for (int64_t l = 0; l < LANES; l++) {
        int64_t r = l < rows ? l : rows - 1;
        for (int64_t e = 0; e < to->most; e++) {
            int64_t at = e < list[r].count ? e : 0;
            key[e][l] = d[r * width + list[r].index[at]];
            weight[e][l] = ((const REAL *)list[r].weight)[at];
        }
    }
    to->count = *(const REALS *)count;
    to->inverse_alpha = *(const REALS *)inverse;
    for (int64_t e = 0; e < to->most; e++) {
        MASK in = (REALS){0} + (REAL)e < to->count;
        to->key[e] = PICK(in, *(const REALS *)key[e], (REALS){0} + HUGE_KEY);
        to->before[e] = (REALS)(in & (MASK) * (const REALS *)weight[e]);
    }
}

/* tau by Newton's method from below, from v and a tau that is no more; how many v are above it. */
INLINE void NAME(solve_lists)(const REALS *v, int64_t most, REALS *tau, REALS *count) {
    const REALS zero = {0};
    MASK going = ~(MASK){0};
    while (BITS(&going)) {
        REALS sum = zero;
        MASK above = {0}; /* -1 for each */
        for (int64_t e = 0; e < most; e++) {
            REALS over = v[e] - *tau;
            MASK in = over > zero;
            sum += (REALS)(in & (MASK)over);
            above += in;
        }
        REALS now = -__builtin_convertvector(above, REALS);
        MASK fewer = now < *count;
        *tau = PICK(going, *tau + (sum - 1) / now, *tau);
        *count = PICK(going, now, *count);
        going &= fewer;
    }
}

/* The projections of lists alone, row by row: the least d of a list and its tau, how many of its places would be above
 * that without their weights, and those of `found`, each a line. */
enum { NAME(LEAST), NAME(TAU), NAME(ENTERING), NAME(SUM), NAME(CHANGE), NAME(SAID) };

/* Weights into `fresh`, entry by entry. */
INLINE void NAME(project_lists)(const NAME(lists) * lists, REAL (*fresh)[LANES], REAL (*said)[LANES]) {
    const REALS zero = {0}, one = zero + 1;
    REALS gain[CLV_FEW], v[CLV_FEW], least = zero + HUGE_KEY, top = zero - HUGE_KEY, all = zero;
    REALS change = zero, sum = zero;
    MASK entering = {0}; /* -1 for each */
    for (int64_t e = 0; e < lists->most; e++) {
        least = PICK(lists->key[e] < least, lists->key[e], least);
    }
    /* In a loop of its own: whether the product is fused with what follows must not depend on the place. */
    for (int64_t e = 0; e < lists->most; e++) {
        gain[e] = (least - lists->key[e]) * lists->inverse_alpha;
    }
    for (int64_t e = 0; e < lists->most; e++) {
        MASK in = zero + (REAL)e < lists->count;
        REALS x = lists->before[e] + gain[e];
        v[e] = PICK(in, x, zero - HUGE_KEY);
        top = PICK(v[e] > top, v[e], top);
        all += (REALS)(in & (MASK)x);
    }
    REALS tau = top - 1, full = (all - 1) / lists->count, count = lists->count + 1;
    tau = PICK(full > tau, full, tau);
    NAME(solve_lists)(v, lists->most, &tau, &count);
    for (int64_t e = 0; e < lists->most; e++) {
        REALS over = v[e] - tau;
        MASK in = over > zero;
        REALS w = (REALS)(in & (MASK)PICK(count == one, one, over));
        change += (w - lists->before[e]) * (w - lists->before[e]);
        sum += w;
        entering += gain[e] > tau;
        *(REALS *)fresh[e] = w;
    }
    *(REALS *)said[NAME(LEAST)] = least;
    *(REALS *)said[NAME(TAU)] = tau;
    *(REALS *)said[NAME(ENTERING)] = -__builtin_convertvector(entering, REALS);
    *(REALS *)said[NAME(SUM)] = sum;
    *(REALS *)said[NAME(CHANGE)] = change;
}

/* w <- P(w - d / alpha) for rows whose w is a list: the projection of a list alone is the whole one if no other d is so
 * small that its place would be above tau, too. */
static void NAME(project_few)(const REAL *d, int64_t width, const clv_short_list *list, int64_t rows,
                              const double *alpha, int32_t *index, REAL *out, clv_projection *found) {
    _Alignas(VECTOR) REAL fresh[CLV_FEW][LANES], said[NAME(SAID)][LANES];
    NAME(lists) lists;
    for (int64_t r = 0; r < rows; r++) {
        int64_t lane = r % LANES;
        if (lane == 0) {
            int64_t some = rows - r < LANES ? rows - r : LANES;
            NAME(read_lists)(d + r * width, width, list + r, some, alpha + r, &lists);
            NAME(project_lists)(&lists, fresh, said);
        }
        REAL least = said[NAME(LEAST)][lane], tau = said[NAME(TAU)][lane], inverse_alpha = lists.inverse_alpha[lane];
        int64_t entering = NAME(count_entering)(d + r * width, width, least, inverse_alpha, tau);
        int64_t kept = 0;
        for (int64_t e = 0; e < list[r].count; e++) {
            index[r * CLV_FEW + kept] = list[r].index[e];
            out[r * CLV_FEW + kept] = fresh[e][lane];
            kept += fresh[e][lane] > 0;
        }
        found[r].support = entering <= (int64_t)said[NAME(ENTERING)][lane] ? kept : 0;
        found[r].sum = (double)said[NAME(SUM)][lane];
        found[r].change = (double)said[NAME(CHANGE)][lane];
        found[r].shift = (double)tau - (double)least * (double)inverse_alpha;
    }
}
