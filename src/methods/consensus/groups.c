/* Groups of objects that no input tells apart: F row by row, equal rows merged by a table of their hashes. O(n M), less
 * than reading the inputs takes, and without it there is no result: nothing here gives up. */
#include "methods/consensus/consensus.h"

#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void clv_groups_free(clv_groups *g) {
    clv_free_kept(&g->kept);
}

/* --- labels as columns of F --- */

/* Numbers of a column become 0, 1, ... in ascending order, and -1 stays. */
typedef struct coding {
    double *values; /* sorted, distinct, without -1 */
    int64_t count;
} coding;

static int64_t code_of(const coding *c, double value) {
    int64_t low = 0, high = c->count;
    if (c->count > 0 && c->values[0] == 0 && value < (double)c->count && c->values[(int64_t)value] == value) {
        return (int64_t)value; /* labels without gaps are their own codes */
    }
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (c->values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whole numbers below `room` are marked, which is faster than to sort them. */
static bool code_whole(const clv_matrix *m, int64_t column, double *seen, int64_t room, coding *out) {
    memset(seen, 0, (size_t)room * sizeof *seen);
    for (int64_t i = 0; i < m->rows; i++) {
        double value = clv_stored(m, i * m->cols + column);
        if (value == -1) {
            continue;
        }
        if (!(value >= 0 && value < (double)room) || value != floor(value)) {
            return false;
        }
        seen[(int64_t)value] = 1;
    }
    out->count = 0;
    for (int64_t v = 0; v < room; v++) {
        if (seen[v] != 0) {
            out->values[out->count++] = (double)v;
        }
    }
    return true;
}

static void code_any(const clv_matrix *m, int64_t column, coding *out) {
    int64_t count = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        double value = clv_stored(m, i * m->cols + column);
        if (value != -1) {
            out->values[count++] = value;
        }
    }
    qsort(out->values, (size_t)count, sizeof *out->values, clv_ascending);
    out->count = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || out->values[i] != out->values[i - 1]) {
            out->values[out->count++] = out->values[i];
        }
    }
}

/* A row has an entry for each input that knows the object: at first all rows are as long. */
static clv_status stack_labels(clv_groups *g, const clv_matrix *m) {
    int64_t n = m->rows;
    double *seen = CLV_NEW(g->ctx, double, n);
    coding code = {.values = CLV_NEW(g->ctx, double, n)};
    clv_status status = seen && code.values ? CLV_OK : CLV_ENOMEM;
    for (int64_t j = 0; status == CLV_OK && j < m->cols; j++) {
        if (!code_whole(m, j, seen, n, &code)) {
            code_any(m, j, &code);
        }
        if (g->width + code.count > INT32_MAX) {
            status = clv_fail(g->ctx, CLV_EDATA, "the inputs have more than %d clusters in all", INT32_MAX);
            break;
        }
        for (int64_t i = 0; i < n; i++) {
            double value = clv_stored(m, i * m->cols + j);
            g->index[i * m->cols + j] = value == -1 ? -1 : (int32_t)(g->width + code_of(&code, value));
        }
        g->first[j] = g->width;
        g->width += code.count;
    }
    g->first[m->cols] = g->width;
    CLV_FREE_ALL(g->ctx, seen, code.values);
    CLV_TRY(status);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t begin = at;
        for (int64_t j = 0; j < m->cols; j++) {
            int32_t column = g->index[i * m->cols + j];
            if (column >= 0) {
                g->value[at] = 1;
                g->index[at++] = column;
            }
        }
        g->start[i] = begin;
        g->start[i + 1] = at;
    }
    return CLV_OK;
}

/* --- memberships --- */

static clv_status set_widths(clv_groups *g, const clv_matrix *m, const clv_matrix *widths) {
    int64_t total = 0;
    for (int64_t j = 0; j < g->inputs; j++) {
        double width = clv_stored(widths, j);
        if (!(width >= 1 && width <= (double)m->cols) || width != floor(width)) {
            return clv_fail(g->ctx, CLV_EUSAGE, "widths: input %lld has %g columns; it must have 1 to %lld",
                            (long long)j + 1, width, (long long)m->cols);
        }
        g->first[j] = total;
        total += (int64_t)width;
    }
    g->first[g->inputs] = g->width = total;
    return total == m->cols
               ? CLV_OK
               : clv_fail(g->ctx, CLV_EUSAGE, "widths: the inputs have %lld columns in all, but there are %lld",
                          (long long)total, (long long)m->cols);
}

/* The memberships of an object in each input add up to 1, or are all 0: it is not known there. */
static clv_status check_row(const clv_groups *g, int64_t i) {
    const double slack = 1e-6;
    int64_t at = g->start[i], end = g->start[i + 1];
    for (int64_t j = 0; j < g->inputs; j++) {
        double sum = 0;
        for (; at < end && g->index[at] < g->first[j + 1]; at++) {
            if (!(g->value[at] > 0)) {
                return clv_fail(g->ctx, CLV_EDATA, "input %lld: a membership of object %lld is %g, below 0",
                                (long long)j + 1, (long long)i + 1, g->value[at]);
            }
            sum += g->value[at];
        }
        if (sum != 0 && fabs(sum - 1) > slack) {
            return clv_fail(g->ctx, CLV_EDATA,
                            "input %lld: the memberships of object %lld add up to %.9g; they must add up to 1, or all "
                            "be 0 where it is left out",
                            (long long)j + 1, (long long)i + 1, sum);
        }
    }
    return CLV_OK;
}

static clv_status stack_memberships(clv_groups *g, const clv_matrix *m, const clv_matrix *widths) {
    int64_t at = 0;
    CLV_TRY(set_widths(g, m, widths));
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t from = m->start ? m->start[i] : i * m->cols, to = m->start ? m->start[i + 1] : from + m->cols;
        g->start[i] = at;
        for (int64_t e = from; e < to; e++) {
            double value = clv_stored(m, e);
            if (value != 0) {
                g->index[at] = m->start ? m->index[e] : (int32_t)(e - from);
                g->value[at++] = value;
            }
        }
        g->start[i + 1] = at;
        CLV_TRY(check_row(g, i));
    }
    return CLV_OK;
}

/* --- equal rows --- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}

static uint64_t hash_row(const clv_groups *g, int64_t i) {
    uint64_t hash = 1;
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
        uint64_t bits;
        memcpy(&bits, &g->value[e], sizeof bits);
        hash = mix(mix(hash, (uint64_t)g->index[e]), bits);
    }
    return hash;
}

static bool equal_rows(const clv_groups *g, int64_t i, int64_t from, int64_t length) {
    return g->start[i + 1] - g->start[i] == length &&
           memcmp(g->index + g->start[i], g->index + from, (size_t)length * sizeof *g->index) == 0 &&
           memcmp(g->value + g->start[i], g->value + from, (size_t)length * sizeof *g->value) == 0;
}

/* Groups come in the order of their first objects, so that their rows move down in place. `start` is of objects from
 * where the loop is, and `at` of the groups so far. */
static void merge_rows(clv_groups *g, int64_t *table, uint64_t mask, int64_t *at) {
    g->count = 0;
    at[0] = 0;
    for (int64_t i = 0; i < g->n; i++) {
        int64_t from = g->start[i], length = g->start[i + 1] - from;
        if (length == 0) {
            g->group[i] = -1;
            continue;
        }
        uint64_t place = hash_row(g, i) & mask;
        while (table[place] >= 0) {
            int64_t other = table[place];
            if (at[other + 1] - at[other] == length && equal_rows(g, i, at[other], length)) {
                break;
            }
            place = (place + 1) & mask;
        }
        if (table[place] < 0) {
            table[place] = g->count;
            memmove(g->index + at[g->count], g->index + from, (size_t)length * sizeof *g->index);
            memmove(g->value + at[g->count], g->value + from, (size_t)length * sizeof *g->value);
            at[g->count + 1] = at[g->count] + length;
            g->weight[g->count++] = 0;
        }
        g->group[i] = (int32_t)table[place];
        g->weight[table[place]]++;
    }
}

static clv_status merge(clv_groups *g) {
    uint64_t size = 16;
    while (size < 2 * (uint64_t)g->n) {
        size *= 2;
    }
    int64_t *table = CLV_NEW(g->ctx, int64_t, (int64_t)size), *at = CLV_TAKE(&g->kept, int64_t, g->n + 1);
    if (!table || !at) {
        clv_free(g->ctx, table);
        return CLV_ENOMEM;
    }
    memset(table, -1, size * sizeof *table);
    merge_rows(g, table, size - 1, at);
    g->start = at; /* that of the objects is freed with the rest */
    clv_free(g->ctx, table);
    return CLV_OK;
}

/* --- numbers of a group --- */

static double count_inputs(const clv_groups *g, int64_t group) {
    double known = 0;
    int64_t input = -1;
    for (int64_t e = g->start[group]; e < g->start[group + 1]; e++) {
        int64_t before = input;
        while (input < 0 || g->index[e] >= g->first[input + 1]) {
            input++;
        }
        known += input != before;
    }
    return known;
}

static clv_status weigh(clv_groups *g) {
    double *total = CLV_NEW0(g->ctx, double, g->width);
    if (!total) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < g->count; i++) {
        g->known[i] = count_inputs(g, i);
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            g->value[e] /= sqrt(g->known[i]);
            total[g->index[e]] += g->weight[i] * g->value[e];
        }
    }
    for (int64_t i = 0; i < g->count; i++) {
        g->degree[i] = g->square[i] = 0;
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            g->degree[i] += g->value[e] * total[g->index[e]];
            g->square[i] += g->value[e] * g->value[e];
        }
    }
    clv_free(g->ctx, total);
    return CLV_OK;
}

int32_t clv_groups_label(const clv_groups *g, int64_t input, int64_t group) {
    int64_t label = -1;
    double largest = 0;
    for (int64_t e = g->start[group]; e < g->start[group + 1] && g->index[e] < g->first[input + 1]; e++) {
        if (g->index[e] >= g->first[input] && g->value[e] > largest) {
            label = g->index[e] - g->first[input];
            largest = g->value[e];
        }
    }
    return (int32_t)label;
}

clv_status clv_groups_new(clv_context *ctx, const clv_matrix *m, const clv_matrix *widths, clv_groups *g) {
    int64_t inputs = widths ? widths->rows * widths->cols : m->cols;
    int64_t entries = clv_is_sparse(m) ? m->start[m->rows] - m->start[0] : m->rows * m->cols;
    *g = (clv_groups){.ctx = ctx, .kept.ctx = ctx, .n = m->rows, .inputs = inputs};
    if (m->rows < 1 || inputs < 1 || m->rows > INT32_MAX) {
        return clv_fail(ctx, CLV_EDATA, "a consensus needs objects and inputs: there are %lld and %lld",
                        (long long)m->rows, (long long)inputs);
    }
    if (!widths && clv_is_sparse(m)) {
        return clv_fail(ctx, CLV_EUSAGE, "a sparse matrix holds memberships: say how many columns each input has");
    }
    CLV_TRY(clv_csr_check(ctx, "the inputs", m, true));
    CLV_TRY(clv_matrix_check(ctx, "the inputs:", m, 0x1p53));
    g->first = CLV_TAKE0(&g->kept, int64_t, inputs + 1);
    g->group = CLV_TAKE(&g->kept, int32_t, g->n);
    g->weight = CLV_TAKE(&g->kept, double, g->n);
    g->start = CLV_TAKE(&g->kept, int64_t, g->n + 1);
    g->index = CLV_TAKE(&g->kept, int32_t, entries);
    g->value = CLV_TAKE(&g->kept, double, entries);
    CLV_TRY(g->kept.status);
    CLV_TRY(widths ? stack_memberships(g, m, widths) : stack_labels(g, m));
    CLV_TRY(merge(g));
    g->degree = CLV_TAKE(&g->kept, double, g->count);
    g->square = CLV_TAKE(&g->kept, double, g->count);
    g->known = CLV_TAKE(&g->kept, double, g->count);
    CLV_TRY(g->kept.status);
    if (g->count == 0) {
        return clv_fail(ctx, CLV_EDATA, "all %lld objects are left out (-1) by every input", (long long)g->n);
    }
    return weigh(g);
}

/* At most: as if no two objects were alike. */
size_t clv_groups_bytes(const clv_matrix *m) {
    size_t n = (size_t)m->rows;
    size_t entries = m->start ? (size_t)(m->start[m->rows] - m->start[0]) : n * (size_t)m->cols;
    return entries * (sizeof(int32_t) + sizeof(double)) + n * (6 * sizeof(double) + 4 * sizeof(int64_t));
}
