/* Kernels on rows of points, keys and weights of type REAL against plain loops; included once per type by
 * test_kernels_keys.c, which defines REAL, TABLE (f32 or f64), NAME(x), UNIT, the epsilon of the type, and
 * MOST_INVERSE, the largest 1 / alpha. */

enum { NAME(LINE) = CLV_LINE / sizeof(REAL) };

/* `lines` of k centers in rows of `width`, as src/methods/kpalm/tile.c pads them: lines 0, offsets infinite. */
static void NAME(pad)(REAL *lines, REAL *offset, int64_t p, int64_t k, int64_t width) {
    for (int64_t l = k; l < width; l++) {
        offset[l] = (REAL)HUGE_VAL;
        for (int64_t f = 0; f < p; f++) {
            lines[f * width + l] = 0;
        }
    }
}

static void NAME(expect_key)(REAL got, const REAL *row, const REAL *line, REAL offset, int64_t p, int64_t width,
                             bool whole, int64_t at) {
    double expected = (double)offset, size = fabs((double)offset);
    for (int64_t f = 0; f < p; f++) {
        expected += (double)row[f] * (double)line[f * width];
        size += fabs((double)row[f] * (double)line[f * width]);
    }
    expect_near((double)got, expected, whole || isinf(size) ? 0 : (double)(p + 1) * UNIT * size, p, at);
}

/* --- keys --- */

enum { NAME(POINTS) = 29 };

static void NAME(compare_keys)(const clv_kernel_set *set, int64_t p, int64_t k, int64_t count) {
    bool whole = (p + k) % 2;
    int64_t width = PADDED(REAL, k);
    clv_rng rng = clv_rng_stream((uint64_t)p, (uint64_t)k);
    REAL *values = NAME(drawn)(&rng, NAME(POINTS) * p, -9, 9, whole);
    REAL *lines = NAME(drawn)(&rng, p * width, -9, 9, whole), *offset = NAME(drawn)(&rng, width, 0, 99, whole);
    REAL *keys = ROOM(REAL, WHOLE_BLOCKS(count) * width), *parts = ROOM(REAL, WHOLE_BLOCKS(count) * width);
    int64_t *rows = ROOM(int64_t, count);
    NAME(pad)(lines, offset, p, k, width);
    for (int64_t r = 0; r < count; r++) {
        rows[r] = clv_rng_below(&rng, NAME(POINTS));
    }
    kernel_name = "keys";
    set->TABLE.keys(values, p, rows, count, lines, offset, width, keys);
    for (int64_t r = 0; r < count; r++) {
        for (int64_t l = 0; l < width; l++) {
            NAME(expect_key)
            (keys[r * width + l], values + rows[r] * p, lines + l, offset[l], p, width, whole, r * width + l);
        }
    }
    /* What a row gets does not depend on the rows beside it. */
    REAL *one = ROOM(REAL, KEY_ROWS * width);
    for (int64_t r = 0; r < count; r++) {
        set->TABLE.keys(values, p, rows + r, 1, lines, offset, width, one);
        memcpy(parts + r * width, one, (size_t)width * sizeof *one);
    }
    expect(memcmp(keys, parts, (size_t)(count * width) * sizeof *keys) == 0, "rows one by one differ", p, k);
    release();
}

static void NAME(check_keys)(const clv_kernel_set *set) {
    for (int64_t p = 1; p <= 300; p += p < 70 ? 1 : 23) {
        for (int64_t k = 1; k <= MOST_CENTERS; k += k < 70 ? 1 : 5) {
            NAME(compare_keys)(set, p, k, 1 + (p + 3 * k) % 11);
        }
    }
    NAME(compare_keys)(set, 3, 5, 0);
    NAME(compare_keys)(set, 17, 33, CLV_TILE_ROWS);
}
TEST_EACH_SET(NAME(keys))

static void NAME(check_near_keys)(const clv_kernel_set *set) {
    enum { LINES = 5, WIDTH = NAME(LINE) };
    kernel_name = "near_keys";
    for (int64_t p = 1; p <= 300; p += p < 70 ? 1 : 23) {
        for (int64_t count = 1; count <= 14; count++) {
            bool whole = (p + count) % 2;
            int64_t k = 1 + (p + count) % WIDTH;
            clv_rng rng = clv_rng_stream((uint64_t)p, (uint64_t)count);
            REAL *values = NAME(drawn)(&rng, NAME(POINTS) * p, -9, 9, whole);
            REAL *lines = NAME(drawn)(&rng, LINES * p * WIDTH, -9, 9, whole);
            REAL *offset = NAME(drawn)(&rng, LINES * WIDTH, 0, 99, whole);
            REAL *keys = ROOM(REAL, WHOLE_BLOCKS(count) * WIDTH), *one = ROOM(REAL, KEY_ROWS * WIDTH);
            int64_t *rows = ROOM(int64_t, count);
            int32_t *at = ROOM(int32_t, count);
            for (int64_t line = 0; line < LINES; line++) {
                NAME(pad)(lines + line * p * WIDTH, offset + line * WIDTH, p, k, WIDTH);
            }
            for (int64_t r = 0; r < count; r++) {
                rows[r] = clv_rng_below(&rng, NAME(POINTS));
                at[r] = (int32_t)clv_rng_below(&rng, LINES);
            }
            set->TABLE.near_keys(values, p, rows, at, count, lines, offset, keys);
            for (int64_t r = 0; r < count; r++) {
                const REAL *first = lines + at[r] * p * WIDTH, *above = offset + at[r] * WIDTH;
                for (int64_t l = 0; l < WIDTH; l++) {
                    NAME(expect_key)
                    (keys[r * WIDTH + l], values + rows[r] * p, first + l, above[l], p, WIDTH, whole, r * WIDTH + l);
                }
                set->TABLE.near_keys(values, p, rows + r, at + r, 1, lines, offset, one);
                expect(memcmp(keys + r * WIDTH, one, WIDTH * sizeof *one) == 0, "a row alone differs", p, r);
            }
            release();
        }
    }
}
TEST_EACH_SET(NAME(near_keys))

/* --- the least keys --- */

static void NAME(expect_scan)(const REAL *key, int64_t width, const clv_nearest *got, int64_t r) {
    clv_nearest expected = {HUGE_VAL, HUGE_VAL, 0};
    for (int64_t l = 0; l < width; l++) {
        if ((double)key[l] < expected.key) {
            expected = (clv_nearest){(double)key[l], expected.key, (int32_t)l};
        } else if ((double)key[l] < expected.next) {
            expected.next = (double)key[l];
        }
    }
    expect_same(got->key, expected.key, width, r);
    expect_same(got->next, expected.next, width, r);
    expect_same(got->center, expected.center, width, r);
}

/* Few values have many ties, many values hardly any. */
static void NAME(check_scan)(const clv_kernel_set *set) {
    enum { ROWS = 11 };
    kernel_name = "scan";
    for (int64_t k = 1; k <= 140; k++) {
        for (int values = 1; values <= 100000; values *= 10) {
            int64_t width = PADDED(REAL, k);
            clv_rng rng = clv_rng_stream((uint64_t)k, (uint64_t)values);
            REAL *keys = NAME(drawn)(&rng, ROWS * width, -values, values, true);
            clv_nearest *out = ROOM(clv_nearest, ROWS);
            for (int64_t r = 0; r < ROWS; r++) {
                for (int64_t l = k; l < width; l++) {
                    keys[r * width + l] = (REAL)HUGE_VAL;
                }
            }
            set->TABLE.scan(keys, ROWS, width, out);
            for (int64_t r = 0; r < ROWS; r++) {
                NAME(expect_scan)(keys + r * width, width, &out[r], r);
            }
            release();
        }
    }
}
TEST_EACH_SET(NAME(scan))

static void NAME(check_least_other)(const clv_kernel_set *set) {
    kernel_name = "least_other";
    for (int64_t k = 1; k <= 140; k++) {
        int64_t width = PADDED(REAL, k);
        clv_rng rng = clv_rng_stream((uint64_t)k, 17);
        REAL *key = NAME(drawn)(&rng, width, -k, k, true);
        for (int64_t l = k; l < width; l++) {
            key[l] = (REAL)HUGE_VAL;
        }
        for (int64_t but = 0; but < k; but++) {
            double least = HUGE_VAL;
            for (int64_t l = 0; l < k; l++) {
                least = l != but ? fmin(least, (double)key[l]) : least;
            }
            double got = set->TABLE.least_other(key, width, but);
            expect(k == 1 ? got >= (double)(REAL)FLT_MAX : got == least, "the least of the others", k, but);
        }
        release();
    }
}
TEST_EACH_SET(NAME(least_other))

/* The same numbers as by keys and scan; whole numbers have ties. */
static void NAME(compare_nearest)(const clv_kernel_set *set, int64_t p, int64_t k, int64_t count) {
    int64_t width = PADDED(REAL, k);
    clv_rng rng = clv_rng_stream((uint64_t)p, (uint64_t)k);
    REAL *values = NAME(drawn)(&rng, NAME(POINTS) * p, -2, 2, k % 2);
    REAL *lines = NAME(drawn)(&rng, p * width, -2, 2, k % 2), *offset = NAME(drawn)(&rng, width, 0, 9, k % 2);
    REAL *keys = ROOM(REAL, WHOLE_BLOCKS(count) * width);
    clv_nearest *expected = ROOM(clv_nearest, count), *got = ROOM(clv_nearest, count);
    int64_t *rows = ROOM(int64_t, count);
    NAME(pad)(lines, offset, p, k, width);
    for (int64_t r = 0; r < count; r++) {
        rows[r] = clv_rng_below(&rng, NAME(POINTS));
    }
    set->TABLE.keys(values, p, rows, count, lines, offset, width, keys);
    set->TABLE.scan(keys, count, width, expected);
    set->TABLE.nearest(values, p, rows, count, lines, offset, width, k, got);
    for (int64_t r = 0; r < count; r++) {
        expect_same(got[r].key, expected[r].key, p, r);
        expect_same(got[r].next, expected[r].next, p, r);
        expect_same(got[r].center, expected[r].center, p, r);
    }
    release();
}

static void NAME(check_nearest)(const clv_kernel_set *set) {
    kernel_name = "nearest";
    for (int64_t p = 1; p <= CLV_MOST_TURNED; p += p < 70 ? 1 : 23) {
        for (int64_t k = 1; k <= 70; k++) {
            NAME(compare_nearest)(set, p, k, (11 * p + 5 * k) % 100);
        }
    }
    NAME(compare_nearest)(set, CLV_MOST_TURNED, 101, CLV_TILE_ROWS);
}
TEST_EACH_SET(NAME(nearest))

/* The least one, and the next one, at every place in turn. */
static void NAME(check_scan_places)(const clv_kernel_set *set) {
    kernel_name = "scan";
    for (int64_t k = 2; k <= 70; k += 4) {
        int64_t width = PADDED(REAL, k);
        REAL *key = ROOM(REAL, width);
        for (int64_t least = 0; least < k; least++) {
            for (int64_t next = 0; next < k; next++) {
                clv_nearest out;
                for (int64_t l = 0; l < width; l++) {
                    key[l] = (REAL)(l >= k ? HUGE_VAL : l == least ? 1 : l == next ? 2 : 3);
                }
                set->TABLE.scan(key, 1, width, &out);
                NAME(expect_scan)(key, width, &out, least * k + next);
            }
        }
        release();
    }
}
TEST_EACH_SET(NAME(scan_places))

/* --- the projection --- */

/* A start on the simplex with `support` entries. */
static void NAME(fill_weights)(clv_rng *rng, REAL *w, int64_t k, int64_t support) {
    double sum = 0;
    for (int64_t e = 0; e < support; e++) {
        w[clv_rng_below(rng, k)] = (REAL)between(rng, 0.1, 1);
    }
    for (int64_t l = 0; l < k; l++) {
        sum += (double)w[l];
    }
    for (int64_t l = 0; l < k; l++) {
        w[l] = (REAL)((double)w[l] / sum);
    }
}

/* The certificate of w = P(v), v = before - d / alpha: on the simplex, with one tau that v - w is on the support and
 * that no other v exceeds. From v the same number may be taken everywhere: the least d / alpha if the call was steep.
 */
static void NAME(expect_projection)(const REAL *before, const REAL *d, const REAL *w, int64_t k, int64_t width,
                                    double inverse, bool steep, const clv_projection *out) {
    double least = 0, tau = 0, sum = 0, change = 0, most = 0;
    int64_t support = 0;
    for (int64_t l = 0; l < k && steep; l++) {
        least = l == 0 ? (double)d[l] : fmin(least, (double)d[l]);
    }
    for (int64_t l = 0; l < k; l++) {
        double v = (double)before[l] - ((double)d[l] - least) * inverse;
        double step = (double)w[l] - (double)before[l];
        expect(w[l] >= 0, "a weight is below 0, or no number", k, l);
        if (w[l] > 0) {
            support++;
            tau += v - (double)w[l];
            most = fmax(most, fabs(v) + 2 * fabs((double)d[l] * inverse) * (steep ? 0 : 1));
        }
        sum += (double)w[l];
        change += step * step;
    }
    for (int64_t l = k; l < width; l++) {
        expect_same((double)w[l], 0, k, l);
    }
    expect(support > 0, "no weight is left", k, 0);
    tau /= (double)support;
    double some = 4 * UNIT * (most + 2), all = (double)(support + 2) * some;
    expect_near(sum, 1, all, k, -1);
    for (int64_t l = 0; l < k; l++) {
        double v = (double)before[l] - ((double)d[l] - least) * inverse;
        if (w[l] > 0) {
            expect_near(v - (double)w[l], tau, some, k, l);
        } else {
            expect(v <= tau + some + 4 * UNIT * fabs(v), "a weight of 0 should be more", k, l);
        }
    }
    expect_same((double)out->support, (double)support, k, -2);
    expect_near(out->sum, sum, (double)(k + 1) * UNIT, k, -3);
    expect_near(out->change, change, (double)(k + 4) * UNIT * (change + UNIT), k, -4);
    /* The shift without what was taken from d. Where one weight alone is left it is 1, whatever tau rounds to. */
    expect_near(out->shift + least * inverse, tau, some + 4 * DBL_EPSILON * fabs(least * inverse), k, -5);
}

static void NAME(compare_projections)(const clv_kernel_set *set, int64_t k, double alpha, bool steep, bool ties) {
    enum { ROWS = 7 };
    int64_t width = PADDED(REAL, k);
    clv_rng rng = clv_rng_stream((uint64_t)k, (uint64_t)(ties + 2 * steep));
    REAL *d = NAME(drawn)(&rng, ROWS * width, ties ? 0 : -1, ties ? 2 : 3, ties), *w = ROOM(REAL, ROWS * width);
    REAL *before = ROOM(REAL, ROWS * width), *work = ROOM(REAL, CLV_PROJECTED_AT_ONCE * width);
    clv_projection *out = ROOM(clv_projection, ROWS), *alone = ROOM(clv_projection, ROWS);
    double inverse = (double)(REAL)fmin(1 / alpha, MOST_INVERSE);
    for (int64_t r = 0; r < ROWS; r++) {
        for (int64_t l = k; l < width; l++) {
            d[r * width + l] = (REAL)HUGE_VAL;
        }
        NAME(fill_weights)(&rng, w + r * width, k, r % 2 ? 1 : k);
    }
    memcpy(before, w, (size_t)(ROWS * width) * sizeof *w);
    set->TABLE.project(d, w, work, ROWS, (int32_t)k, (int32_t)width, alpha, steep, out);
    for (int64_t r = 0; r < ROWS; r++) {
        NAME(expect_projection)(before + r * width, d + r * width, w + r * width, k, width, inverse, steep, &out[r]);
    }
    /* Rows alone and side by side: the same bits. */
    for (int64_t r = 0; r < ROWS; r++) {
        set->TABLE.project(d + r * width, before + r * width, work, 1, (int32_t)k, (int32_t)width, alpha, steep,
                           &alone[r]);
    }
    expect(memcmp(before, w, (size_t)(ROWS * width) * sizeof *w) == 0, "rows one by one differ", k, -6);
    expect(memcmp(alone, out, ROWS * sizeof *out) == 0, "what is said of rows one by one differs", k, -7);
    release();
}

static void NAME(check_project)(const clv_kernel_set *set) {
    const double gentle[] = {0.05, 0.5, 3, 100, 1e6}, steep[] = {1e-300, 1e-40, 1e-9, 1e-3, 0.05, 1, 1e6};
    kernel_name = "project";
    for (int64_t k = 1; k <= MOST_CENTERS; k += k < 70 ? 1 : 5) {
        for (int ties = 0; ties < 2; ties++) {
            for (size_t i = 0; i < sizeof gentle / sizeof *gentle; i++) {
                NAME(compare_projections)(set, k, gentle[i], false, ties);
            }
            for (size_t i = 0; i < sizeof steep / sizeof *steep; i++) {
                NAME(compare_projections)(set, k, steep[i], true, ties);
            }
        }
    }
}
TEST_EACH_SET(NAME(project))

/* That the projection of a row needs a place where its weight was 0: one is above the threshold of the others alone,
 * but for rounding. */
static void NAME(expect_another)(const REAL *before, const REAL *d, int64_t k, double inverse) {
    double least = HUGE_VAL, low = -HUGE_VAL, high = -HUGE_VAL, beside = -HUGE_VAL;
    for (int64_t l = 0; l < k; l++) {
        least = before[l] > 0 ? fmin(least, (double)d[l]) : least;
    }
    for (int64_t l = 0; l < k; l++) {
        double v = (double)before[l] - ((double)d[l] - least) * inverse;
        high = before[l] > 0 ? fmax(high, v) : high;
        beside = before[l] > 0 ? beside : fmax(beside, v);
    }
    low = high - 1;
    for (int step = 0; step < 200; step++) { /* the threshold, by bisection */
        double middle = (low + high) / 2, sum = 0;
        for (int64_t l = 0; l < k; l++) {
            double v = (double)before[l] - ((double)d[l] - least) * inverse;
            sum += before[l] > 0 ? fmax(v - middle, 0) : 0;
        }
        low = sum > 1 ? middle : low;
        high = sum > 1 ? high : middle;
    }
    expect(beside >= low - 16 * UNIT * (3 + fabs(least) * inverse), "its list is enough", k, 0);
}

/* The same for weights that are lists: the certificate of the whole row, or that a list is not enough. */
static void NAME(compare_few)(const clv_kernel_set *set, int64_t k, int64_t rows, double alpha, bool ties) {
    int64_t width = PADDED(REAL, k);
    clv_rng rng = clv_rng_stream((uint64_t)k, (uint64_t)(rows + 100 * ties));
    REAL *d = NAME(drawn)(&rng, rows * width, ties ? 0 : -1, ties ? 2 : 3, ties), *before = ROOM(REAL, rows * width);
    REAL *w = ROOM(REAL, rows * width), *weight = ROOM(REAL, rows * CLV_FEW), *got = ROOM(REAL, rows * CLV_FEW);
    int32_t *index = ROOM(int32_t, rows * CLV_FEW), *kept = ROOM(int32_t, rows * CLV_FEW);
    clv_short_list *list = ROOM(clv_short_list, rows);
    double *alphas = ROOM(double, rows);
    clv_projection *out = ROOM(clv_projection, rows);
    for (int64_t r = 0; r < rows; r++) {
        int64_t count = 0;
        alphas[r] = r % 3 ? alpha : 2 * alpha;
        NAME(fill_weights)(&rng, before + r * width, k, 1 + clv_rng_below(&rng, CLV_FEW));
        for (int64_t l = 0; l < width; l++) {
            if (l >= k) {
                d[r * width + l] = (REAL)HUGE_VAL;
            } else if (before[r * width + l] > 0) {
                d[r * width + l] -= (REAL)(r % 2); /* near enough to be alone */
                index[r * CLV_FEW + count] = (int32_t)l;
                weight[r * CLV_FEW + count++] = before[r * width + l];
            }
        }
        list[r] = (clv_short_list){index + r * CLV_FEW, weight + r * CLV_FEW, count};
    }
    memcpy(w, before, (size_t)(rows * width) * sizeof *w);
    set->TABLE.project_few(d, width, list, rows, alphas, kept, got, out);
    for (int64_t r = 0; r < rows; r++) {
        double inverse = (double)(REAL)fmin(1 / alphas[r], MOST_INVERSE);
        REAL *row = w + r * width;
        if (out[r].support > 0) {
            memset(row, 0, (size_t)width * sizeof *row);
            for (int64_t e = r * CLV_FEW; e < r * CLV_FEW + out[r].support; e++) {
                expect(got[e] > 0 && (e == r * CLV_FEW || kept[e] > kept[e - 1]), "nonzeros in order", r, e);
                row[kept[e]] = got[e];
            }
            NAME(expect_projection)(before + r * width, d + r * width, row, k, width, inverse, true, &out[r]);
            continue;
        }
        NAME(expect_another)(before + r * width, d + r * width, k, inverse);
    }
    release();
}

static void NAME(check_project_few)(const clv_kernel_set *set) {
    const double alphas[] = {1e-300, 1e-9, 1e-3, 0.05, 0.5, 3, 100, 1e6};
    kernel_name = "project_few";
    for (int64_t k = 1; k <= MOST_CENTERS; k += k < 70 ? 1 : 5) {
        for (int ties = 0; ties < 2; ties++) {
            for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
                NAME(compare_few)(set, k, 1 + (k + (int64_t)i) % 40, alphas[i], ties);
            }
        }
    }
}
TEST_EACH_SET(NAME(project_few))

/* Places with the same weight and the same d get the same, wherever they are in a list: centers that are one stay so.
 */
static void NAME(check_few_alike)(const clv_kernel_set *set) {
    enum { TRIES = 4000 };
    kernel_name = "project_few";
    for (int64_t t = 0; t < TRIES; t++) {
        clv_rng rng = clv_rng_stream((uint64_t)t, 9);
        int64_t count = 3 + t % (CLV_FEW - 2), width = PADDED(REAL, count);
        REAL *d = ROOM(REAL, width), weight[CLV_FEW], got[CLV_FEW], fresh[CLV_FEW] = {0};
        int32_t index[CLV_FEW], kept[CLV_FEW];
        double alpha = between(&rng, 1, 100), rest = 1;
        clv_projection out;
        for (int64_t l = 0; l < width; l++) {
            d[l] = (REAL)(l < count ? between(&rng, 0, 50) : HUGE_VAL);
        }
        for (int64_t e = 0; e < count; e++) {
            index[e] = (int32_t)e;
            weight[e] = (REAL)(e + 1 < count ? between(&rng, 0, rest) / 2 : rest);
            rest -= (double)weight[e];
        }
        int64_t one = clv_rng_below(&rng, count), other = clv_rng_below(&rng, count);
        d[other] = d[one];
        weight[other] = weight[one];
        set->TABLE.project_few(d, width, &(clv_short_list){index, weight, count}, 1, &alpha, kept, got, &out);
        for (int64_t e = 0; e < out.support; e++) {
            fresh[kept[e]] = got[e];
        }
        expect_same((double)fresh[one], (double)fresh[other], one, other);
        release();
    }
}
TEST_EACH_SET(NAME(few_alike))

/* The same where the shift is known, row by row. */
static void NAME(check_shift)(const clv_kernel_set *set) {
    enum { ROWS = 5 };
    kernel_name = "shift";
    for (int64_t k = 1; k <= MOST_CENTERS; k += k < 70 ? 1 : 5) {
        int64_t width = PADDED(REAL, k);
        clv_rng rng = clv_rng_stream((uint64_t)k, 0);
        REAL *d = NAME(drawn)(&rng, ROWS * width, -1, 1, false), *w = NAME(drawn)(&rng, ROWS * width, 0, 1, false);
        REAL *before = ROOM(REAL, ROWS * width);
        float *shift = drawn_floats(&rng, ROWS, -1, 1, false);
        for (int64_t r = 0; r < ROWS; r++) {
            for (int64_t l = k; l < width; l++) {
                d[r * width + l] = (REAL)HUGE_VAL;
                w[r * width + l] = 0;
            }
        }
        memcpy(before, w, (size_t)(ROWS * width) * sizeof *w);
        set->TABLE.shift(d, w, ROWS, width, 0.7, shift);
        for (int64_t at = 0; at < ROWS * width; at++) {
            double less = (double)d[at] * (double)(REAL)0.7, by = (double)shift[at / width];
            double expected = fmax((double)before[at] - less - by, 0);
            double some = 2 * UNIT * ((double)before[at] + fabs(less) + fabs(by));
            expect_near((double)w[at], expected, isinf(less) ? 0 : some, k, at);
        }
        release();
    }
}
TEST_EACH_SET(NAME(shift))

/* --- sums --- */

/* Weights and rows as tile.c lays them out, but with what is no number beside the rows: nothing may depend on it. */
static void NAME(compare_sums)(const clv_kernel_set *set, int64_t p, int64_t k, int64_t rows) {
    bool whole = (p + k) % 2;
    int64_t width = PADDED(REAL, k), pitch = PADDED(REAL, p), stride = p + 2;
    clv_rng rng = clv_rng_stream((uint64_t)p, (uint64_t)k);
    REAL *weight = NAME(drawn)(&rng, rows * width, 0, 3, whole), *a = NAME(drawn)(&rng, rows * pitch, -9, 9, whole);
    REAL *line = NAME(drawn)(&rng, width, 0, 1, false);
    double *sums = drawn_doubles(&rng, k * stride, -9, 9, whole), *before = ROOM(double, k *stride);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t f = p; f < pitch; f++) {
            a[r * pitch + f] = (REAL)NAN;
        }
        for (int64_t l = k; l < width; l++) {
            weight[r * width + l] = 0;
        }
    }
    memcpy(before, sums, (size_t)(k * stride) * sizeof *sums);
    set->TABLE.spread(weight, width, a, pitch, rows, k, p, sums, stride);
    set->TABLE.add_mass(weight, width, rows, k, line, sums + p, stride);
    for (int64_t l = 0; l < k; l++) {
        for (int64_t f = 0; f < stride; f++) {
            double expected = before[l * stride + f], size = fabs(expected);
            for (int64_t r = 0; r < rows && f <= p; r++) {
                double term = (double)weight[r * width + l] * (f < p ? (double)a[r * pitch + f] : 1);
                expected += term;
                size += fabs(term);
            }
            kernel_name = f < p ? "spread" : f == p ? "add_mass" : "nothing";
            expect_near(sums[l * stride + f], expected, whole || f > p ? 0 : (double)(rows + 1) * UNIT * size, p,
                        l * stride + f);
        }
    }
    release();
}

static void NAME(check_sums)(const clv_kernel_set *set) {
    for (int64_t p = 1; p <= 70; p++) {
        for (int64_t k = 1; k <= 30; k++) {
            NAME(compare_sums)(set, p, k, (p + 3 * k) % 11);
        }
    }
    NAME(compare_sums)(set, 17, 70, CLV_TILE_ROWS);
}
TEST_EACH_SET(NAME(sums))

/* Rows without weights, with few and with many; widths beyond what one look can tell. */
static void NAME(check_collect)(const clv_kernel_set *set) {
    kernel_name = "collect";
    for (int64_t k = 1; k <= 600; k = k < 80 ? k + 1 : k + 37) {
        for (int64_t nonzeros = 0; nonzeros <= 2 * k; nonzeros = nonzeros < 12 ? nonzeros + 1 : 2 * nonzeros) {
            int64_t width = PADDED(REAL, k);
            clv_rng rng = clv_rng_stream((uint64_t)k, (uint64_t)nonzeros);
            REAL *weight = ROOM(REAL, width), *out = ROOM(REAL, width);
            int32_t *index = ROOM(int32_t, width);
            for (int64_t e = 0; e < nonzeros; e++) {
                weight[clv_rng_below(&rng, k)] = (REAL)between(&rng, 1e-30, 1);
            }
            int64_t count = set->TABLE.collect(weight, width, index, out), expected = 0;
            for (int64_t l = 0; l < width; l++) {
                if (weight[l] > 0) {
                    expect(expected < count && index[expected] == l, "another place", width, l);
                    expect_same((double)out[expected++], (double)weight[l], width, l);
                }
            }
            expect_same((double)count, (double)expected, width, nonzeros);
            release();
        }
    }
}
TEST_EACH_SET(NAME(collect))

/* Whole numbers, so that the sums are exact. */
static void NAME(check_add_listed)(const clv_kernel_set *set) {
    kernel_name = "add_listed";
    for (int64_t p = 1; p <= 150; p++) {
        int64_t k = 1 + p % 9, stride = p + 1;
        clv_rng rng = clv_rng_stream((uint64_t)p, 3);
        const REAL *x = NAME(drawn)(&rng, p + 1, -9, 9, true) + 1, *weight = NAME(drawn)(&rng, k, 1, 9, true);
        double *sums = drawn_doubles(&rng, k * stride, -9, 9, true), *before = ROOM(double, k *stride);
        int32_t *index = ROOM(int32_t, k);
        int64_t count = 0;
        for (int32_t l = (int32_t)(p % 2); l < k && count < CLV_FEW; l += 1 + (int32_t)(p % 3)) {
            index[count++] = l;
        }
        memcpy(before, sums, (size_t)(k * stride) * sizeof *sums);
        for (int64_t e = 0; e < count; e++) {
            for (int64_t f = 0; f <= p; f++) {
                before[index[e] * stride + f] += (double)weight[e] * 3 * (f < p ? (double)x[f] : 1);
            }
        }
        set->TABLE.add_listed(sums, stride, x, p, &(clv_short_list){index, weight, count}, 3);
        for (int64_t at = 0; at < k * stride; at++) {
            expect_same(sums[at], before[at], p, at);
        }
        release();
    }
}
TEST_EACH_SET(NAME(add_listed))

static void NAME(expect_distance)(double got, const REAL *x, const double *c, int64_t p, bool whole, int64_t at) {
    double expected = 0;
    for (int64_t f = 0; f < p; f++) {
        expected += ((double)x[f] - c[f]) * ((double)x[f] - c[f]);
    }
    expect_near(got, expected, whole ? 0 : (double)(p + 2) * DBL_EPSILON * expected, p, at);
}

static void NAME(check_row_distance)(const clv_kernel_set *set) {
    kernel_name = "row_distance";
    FOR_LENGTHS(p, 0) {
        for (int64_t start = 0; start < 4; start++) {
            bool whole = start % 2;
            clv_rng rng = clv_rng_stream((uint64_t)p, (uint64_t)start);
            const REAL *x = NAME(drawn)(&rng, start + p, -9, 9, whole) + start;
            const double *c = drawn_doubles(&rng, start + p, -9, 9, whole) + start;
            NAME(expect_distance)(set->TABLE.row_distance(x, c, p), x, c, p, whole, start);
            release();
        }
    }
}
TEST_EACH_SET(NAME(row_distance))

static void NAME(check_row_distances)(const clv_kernel_set *set) {
    enum { ROWS = 3, CENTERS = 2, COUNT = 5 };
    static const int64_t rows[COUNT] = {2, 0, 2, 1, 1};
    static const int32_t at[COUNT] = {1, 0, 0, 1, 0};
    kernel_name = "row_distances";
    for (int64_t p = 1; p <= 150; p++) {
        bool whole = p % 2;
        clv_rng rng = clv_rng_stream((uint64_t)p, 1);
        const REAL *values = NAME(drawn)(&rng, ROWS * p, -9, 9, whole);
        const double *centers = drawn_doubles(&rng, CENTERS * p, -9, 9, whole);
        double out[COUNT];
        set->TABLE.row_distances(values, p, rows, at, COUNT, centers, out);
        for (int64_t r = 0; r < COUNT; r++) {
            NAME(expect_distance)(out[r], values + rows[r] * p, centers + at[r] * p, p, whole, r);
        }
        release();
    }
}
TEST_EACH_SET(NAME(row_distances))
