/* The nearest centers of rows of points without their keys, numbers of type REAL; included once per type by real.h.
 *
 * Here the rows lie across the lanes: they are turned first, so that every lane keeps the least key of its own row, the
 * next one and the place while the keys are still in registers, and no key is stored. A key is added up in the same
 * order as by keys.h: it is the same number. Cost: one fused multiplication and addition for a key and feature, five
 * operations for a key, and a visit to each number of the rows. */

/* What the rows of a block have found so far. */
typedef struct NAME(found) {
    REALS least[TURNED_ACROSS], next[TURNED_ACROSS];
    MASK place[TURNED_ACROSS];
} NAME(found);

/* Rows of points, feature by feature. */
INLINE void NAME(turn)(const REAL *const *rows, int64_t p, int vectors, REAL *out) {
    for (int r = 0; r < vectors * LANES; r++) {
        for (int64_t f = 0; f < p; f++) {
            out[f * TURNED_ACROSS * LANES + r] = rows[r][f];
        }
    }
}

/* TURNED_CENTERS centers from `l` on. */
INLINE void NAME(meet)(const REAL *turned, int64_t p, const REAL *lines, const REAL *offset, int64_t width, int64_t l,
                       int vectors, NAME(found) * found) {
    REALS sum[TURNED_CENTERS][TURNED_ACROSS];
    for (int c = 0; c < TURNED_CENTERS; c++) {
        for (int v = 0; v < vectors; v++) {
            sum[c][v] = (REALS){0} + offset[l + c];
        }
    }
    for (int64_t f = 0; f < p; f++) {
        const REALS *row = (const REALS *)(turned + f * TURNED_ACROSS * LANES);
        const REAL *line = lines + f * width + l;
        for (int c = 0; c < TURNED_CENTERS; c++) {
            for (int v = 0; v < vectors; v++) {
                sum[c][v] += line[c] * row[v];
            }
        }
    }
    for (int v = 0; v < vectors; v++) {
        REALS least = found->least[v], next = found->next[v];
        MASK place = found->place[v];
        for (int c = 0; c < TURNED_CENTERS; c++) {
            REALS here = sum[c][v];
            MASK better = here < least, at = (MASK){0} + (INTEGER)(l + c);
            REALS other = PICK(better, least, here);
            next = PICK(other < next, other, next);
            place = (better & at) | (~better & place);
            least = PICK(better, here, least);
        }
        found->least[v] = least;
        found->next[v] = next;
        found->place[v] = place;
    }
}

/* `vectors` vectors of rows, of which `count` are wanted, and all centers. */
INLINE void NAME(nearest_rows)(const REAL *const *rows, int64_t count, int64_t p, const REAL *lines, const REAL *offset,
                               int64_t width, int64_t k, int vectors, clv_nearest *out) {
    REAL turned[CLV_MOST_TURNED * TURNED_ACROSS * LANES] __attribute__((aligned(VECTOR)));
    NAME(found) found;
    for (int v = 0; v < vectors; v++) {
        found.least[v] = found.next[v] = (REALS){0} + HUGE_KEY;
        found.place[v] = (MASK){0};
    }
    NAME(turn)(rows, p, vectors, turned);
    for (int64_t l = 0; l < k; l += TURNED_CENTERS) {
        NAME(meet)(turned, p, lines, offset, width, l, vectors, &found);
    }
    for (int64_t r = 0; r < count; r++) {
        int64_t v = r / LANES, lane = r % LANES;
        out[r] =
            (clv_nearest){(double)found.least[v][lane], (double)found.next[v][lane], (int32_t)found.place[v][lane]};
    }
}

static void NAME(nearest)(const REAL *values, int64_t p, const int64_t *rows, int64_t count, const REAL *lines,
                          const REAL *offset, int64_t width, int64_t k, clv_nearest *out) {
    enum { BLOCK = TURNED_ACROSS * LANES };
    for (int64_t r = 0; r < count; r += BLOCK) {
        int64_t some = count - r < BLOCK ? count - r : BLOCK;
        const REAL *row[BLOCK];
        for (int64_t j = 0; j < BLOCK; j++) {
            row[j] = values + rows[j < some ? r + j : r + some - 1] * p;
        }
        if (some > 2 * LANES) {
            NAME(nearest_rows)(row, some, p, lines, offset, width, k, TURNED_ACROSS, out + r);
        } else if (some > LANES) {
            NAME(nearest_rows)(row, some, p, lines, offset, width, k, TURNED_ACROSS - 1, out + r);
        } else {
            NAME(nearest_rows)(row, some, p, lines, offset, width, k, 1, out + r);
        }
    }
}
