/* Keys of rows of points to centers, numbers of type REAL; included once per type by real.h.
 *
 * A line of centers lies across the lanes of a vector: `lines` is feature by feature, `width` numbers each, so that the
 * points are read as they are, row by row, wherever they lie. What a row gets does not depend on the rows beside it.
 * Cost: one fused multiplication and addition for a key and feature, two looks at a key for the least ones. With 16
 * features or more the kernel runs at the speed of the vector unit: KEY_ROWS rows by ACROSS vectors of centers are
 * accumulated in registers. */

/* Keys of KEY_ROWS rows to `vectors` vectors of centers. */
INLINE void NAME(key_block)(const REAL *const *rows, int64_t p, const REAL *lines, const REAL *offset, int64_t width,
                            int vectors, REAL *out) {
    REALS sum[KEY_ROWS][ACROSS];
    for (int r = 0; r < KEY_ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = ((const REALS *)offset)[v];
        }
    }
    for (int64_t f = 0; f < p; f++) {
        const REALS *line = (const REALS *)(lines + f * width);
        REALS center[ACROSS];
        for (int v = 0; v < vectors; v++) {
            center[v] = line[v];
        }
        for (int r = 0; r < KEY_ROWS; r++) {
            for (int v = 0; v < vectors; v++) {
                sum[r][v] += rows[r][f] * center[v];
            }
        }
    }
    for (int r = 0; r < KEY_ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            ((REALS *)(out + r * width))[v] = sum[r][v];
        }
    }
}

/* Of KEY_ROWS rows to all centers. What is left over by whole blocks takes fewer vectors. */
static void NAME(key_rows)(const REAL *const *rows, int64_t p, const REAL *lines, const REAL *offset, int64_t width,
                           REAL *out) {
    int64_t l = 0;
    for (; l + ACROSS * LANES <= width; l += ACROSS * LANES) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, ACROSS, out + l);
    }
    if (ACROSS == 4 && l + 3 * LANES <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, ACROSS - 1, out + l);
        l += 3 * LANES;
    }
    if (ACROSS == 4 && l + 2 * LANES <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, ACROSS / 2, out + l);
        l += 2 * LANES;
    }
    for (; l < width; l += LANES) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 1, out + l);
    }
}

static void NAME(keys)(const REAL *values, int64_t p, const int64_t *rows, int64_t count, const REAL *lines,
                       const REAL *offset, int64_t width, REAL *keys) {
    for (int64_t r = 0; r < count; r += KEY_ROWS) {
        const REAL *row[KEY_ROWS];
        for (int j = 0; j < KEY_ROWS; j++) {
            row[j] = values + rows[r + j < count ? r + j : count - 1] * p;
        }
        NAME(key_rows)(row, p, lines, offset, width, keys + r * width);
    }
}

/* Keys of KEY_ROWS rows to a vector of centers each, of the line that is its own. */
INLINE void NAME(near_rows)(const REAL *const *rows, const REAL *const *lines, const REAL *const *offset, int64_t p,
                            REAL *out) {
    REALS sum[KEY_ROWS];
    for (int r = 0; r < KEY_ROWS; r++) {
        sum[r] = *(const REALS *)offset[r];
    }
    for (int64_t f = 0; f < p; f++) {
        for (int r = 0; r < KEY_ROWS; r++) {
            sum[r] += rows[r][f] * *(const REALS *)(lines[r] + f * LINE);
        }
    }
    for (int r = 0; r < KEY_ROWS; r++) {
        *(REALS *)(out + r * LINE) = sum[r];
    }
}

static void NAME(near_keys)(const REAL *values, int64_t p, const int64_t *rows, const int32_t *at, int64_t count,
                            const REAL *lines, const REAL *offset, REAL *keys) {
    for (int64_t r = 0; r < count; r += KEY_ROWS) {
        for (int64_t l = 0; l < LINE; l += LANES) {
            const REAL *row[KEY_ROWS], *line[KEY_ROWS], *first[KEY_ROWS];
            for (int j = 0; j < KEY_ROWS; j++) {
                int64_t one = r + j < count ? r + j : count - 1;
                row[j] = values + rows[one] * p;
                line[j] = lines + at[one] * p * LINE + l;
                first[j] = offset + at[one] * LINE + l;
            }
            NAME(near_rows)(row, line, first, p, keys + r * LINE + l);
        }
    }
}

INLINE REALS NAME(less)(REALS x, REALS y) {
    return PICK(x < y, x, y);
}

/* The least key, the next one, and where the least is: the first of equals. Every lane keeps its own least, the next
 * one and the place; then the lanes are compared, by halves. */
INLINE clv_nearest NAME(scan_row)(const REAL *key, int64_t width) {
    REALS least = *(const REALS *)key, next = (REALS){0} + HUGE_KEY;
    MASK place = {PLACES(0)}, at = place;
    for (int64_t l = LANES; l < width; l += LANES) {
        REALS here = *(const REALS *)(key + l);
        MASK better = here < least;
        at += LANES;
        next = NAME(less)(next, PICK(better, least, here));
        place = (better & at) | (~better & place);
        least = PICK(better, here, least);
    }
    REALS under = -least;
    REAL low = -TOP_LANE(&under);
    MASK same = least == low;
    INTEGER lane[LANES], first = place[0];
    memcpy(lane, &place, sizeof lane);
    for (unsigned left = BITS(&same), ties = 0; left; left &= left - 1, ties++) {
        INTEGER one = lane[__builtin_ctz(left)];
        first = ties == 0 || one < first ? one : first;
    }
    under = -PICK(place == first, next, least);
    return (clv_nearest){(double)low, (double)-TOP_LANE(&under), (int32_t)first};
}

static double NAME(least_other)(const REAL *key, int64_t width, int64_t but) {
    REALS least = (REALS){0} + HUGE_KEY;
    MASK at = {PLACES(0)}, own = (MASK){0} + (INTEGER)but;
    for (int64_t l = 0; l < width; l += LANES) {
        REALS here = *(const REALS *)(key + l);
        MASK better = (here < least) & (at != own);
        least = PICK(better, here, least);
        at += LANES;
    }
    REALS under = -least;
    return (double)-TOP_LANE(&under);
}

static void NAME(scan)(const REAL *keys, int64_t rows, int64_t width, clv_nearest *out) {
    for (int64_t r = 0; r < rows; r++) {
        out[r] = NAME(scan_row)(keys + r * width, width);
    }
}
