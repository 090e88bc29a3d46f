/* Rows of one file that are those of another, by what both files call them. O(n log n). */
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_row {
    const char *id;
    int64_t row;
} named_row;
typedef char number[24];

/* Two files of n rows each. */
typedef struct matching {
    clv_context *ctx;
    const clv_data *of, *in;
    int64_t n;
    named_row *wanted, *known;
    number *numbers; /* of the rows of one of both, if it has no names for them or the other has numbers */
} matching;

static int compare_ids(const void *a, const void *b) {
    return strcmp(((const named_row *)a)->id, ((const named_row *)b)->id);
}

/* Whether rows are called by their numbers, as they are beside the labels of data without ids. */
static bool is_numbered(const clv_data *data) {
    int64_t n = clv_data_rows_read(data), numbers = 0;
    for (int64_t i = 0; data->ids && strcmp(data->id_name, "row") == 0 && i < n; i++) {
        char *end;
        long long number = strtoll(data->ids + data->id_at[i], &end, 10);
        numbers += !*end && number >= 1 && number <= n;
    }
    return numbers > 0 && numbers == n;
}

/* Names are compared with names, the numbers of rows with numbers. */
static bool can_match(const clv_data *a, const clv_data *b) {
    return (a->ids && b->ids) || is_numbered(a) || is_numbered(b);
}

/* By their ids, or by their places: those of a file whose own ids are no numbers of rows, where the other has these. */
static void name_rows(matching *m, const clv_data *data, const clv_data *other, named_row *rows) {
    bool places = !data->ids || (is_numbered(other) && !is_numbered(data));
    for (int64_t i = 0; i < m->n; i++) {
        if (places) {
            snprintf(m->numbers[i], sizeof m->numbers[i], "%lld", (long long)i + 1);
        }
        rows[i] = (named_row){places ? m->numbers[i] : data->ids + data->id_at[i], i};
    }
}

static clv_status refuse_twice(const matching *m, const clv_data *data, const char *id) {
    char shown[CLV_SHOWN_SIZE];
    return clv_fail(m->ctx, CLV_EDATA, "%s has two rows '%s', and rows are matched by their ids: make them differ",
                    data->name, clv_show(shown, id, strlen(id)));
}

static clv_status sort_known(const matching *m) {
    if (!clv_sort(m->ctx, m->known, m->n, sizeof *m->known, compare_ids)) {
        return clv_stop_failure(m->ctx, "matching the rows of %s", m->in->name);
    }
    for (int64_t i = 1; i < m->n; i++) {
        if (compare_ids(&m->known[i - 1], &m->known[i]) == 0) {
            return refuse_twice(m, m->in, m->known[i].id);
        }
    }
    return CLV_OK;
}

/* Rows that were found are marked: -1 for what is found again. */
static clv_status find_rows(const matching *m, int64_t *rows) {
    char shown[CLV_SHOWN_SIZE];
    const char *first = NULL;
    int64_t lost = 0;
    for (int64_t i = 0; i < m->n; i++) {
        named_row *found = bsearch(&m->wanted[i], m->known, (size_t)m->n, sizeof *m->known, compare_ids);
        if (found && found->row < 0) {
            return refuse_twice(m, m->of, found->id);
        }
        first = found || first ? first : m->wanted[i].id;
        lost += !found;
        if (found) {
            rows[i] = found->row;
            found->row = -1;
        }
    }
    return lost == 0 ? CLV_OK
                     : clv_fail(m->ctx, CLV_EDATA,
                                "%s lacks %lld of the %lld rows of %s, '%s' first: rows are matched by their ids; to "
                                "compare them in their order, take the ids out of one file",
                                m->in->name, (long long)lost, (long long)m->n, m->of->name,
                                clv_show(shown, first, strlen(first)));
}

static clv_status match(matching *m, int64_t *rows) {
    name_rows(m, m->of, m->in, m->wanted);
    name_rows(m, m->in, m->of, m->known);
    CLV_TRY(sort_known(m));
    return find_rows(m, rows);
}

/* Whether the numbers of rows in one file only say that the rows of the other, which have names, are in the same order.
 */
static bool are_in_order(const matching *m, const int64_t *rows) {
    int64_t i = 0;
    while (i < m->n && rows[i] == i) {
        i++;
    }
    return i == m->n && m->of->ids && m->in->ids && is_numbered(m->of) != is_numbered(m->in);
}

clv_status clv_match_ids(clv_context *ctx, const clv_data *of, const clv_data *in, int64_t **rows) {
    *rows = NULL;
    CLV_NEED(ctx, of);
    CLV_NEED(ctx, in);
    int64_t count[] = {clv_data_rows_read(of), clv_data_rows_read(in)};
    matching m = {.ctx = ctx, .of = of, .in = in, .n = count[!of->ids]};
    if (!can_match(of, in)) {
        return CLV_OK;
    }
    if (count[0] != count[1] && count[0] > 0 && count[1] > 0) { /* 0: it is no table */
        return clv_fail(ctx, CLV_EDATA, "%s has %lld rows, but %s has %lld", in->name, (long long)count[1], of->name,
                        (long long)count[0]);
    }
    m.wanted = CLV_NEW(ctx, named_row, m.n);
    m.known = CLV_NEW(ctx, named_row, m.n);
    m.numbers = CLV_NEW(ctx, number, m.n);
    *rows = CLV_NEW(ctx, int64_t, m.n);
    clv_status status = m.wanted && m.known && m.numbers && *rows ? match(&m, *rows) : CLV_ENOMEM;
    CLV_FREE_ALL(ctx, m.wanted, m.known, m.numbers);
    if (status < 0 || are_in_order(&m, *rows)) {
        clv_free(ctx, *rows);
        *rows = NULL;
    }
    return status;
}
