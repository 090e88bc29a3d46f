/* Data that one of several processes has read, for all of them: a text is parsed once, wherever it lies. */
#include "io/input.h"

#include "base/ranks.h"

#include <string.h>

/* The first failure sticks, and is everybody's. */
typedef struct sharing {
    clv_context *ctx;
    clv_data *data;
    bool first; /* this process has read it */
    clv_status status;
} sharing;

static void share_bytes(sharing *s, void *bytes, int64_t size) {
    s->status = s->status < 0 ? s->status : clv_broadcast(s->ctx, CLV_OK, bytes, size, 0);
}

/* An array of `count` items, which may be NULL. */
static void *share_array(sharing *s, void *array, int64_t count, size_t size) {
    int64_t bytes = array ? count * (int64_t)size : -1;
    share_bytes(s, &bytes, sizeof bytes);
    if (s->status < 0 || bytes < 0) {
        return array;
    }
    array = s->first ? array : clv_alloc(s->ctx, bytes, 1);
    s->status = array ? s->status : CLV_ENOMEM; /* heard by the others at what they share next */
    if (array) {
        share_bytes(s, array, bytes);
    }
    return array;
}

static char *share_text(sharing *s, char *text) {
    return share_array(s, text, text ? (int64_t)strlen(text) + 1 : 0, 1);
}

static char **share_texts(sharing *s, char **texts, int64_t *count) {
    int64_t some = texts ? *count : -1;
    share_bytes(s, &some, sizeof some);
    if (s->status < 0 || some < 0) {
        return texts;
    }
    texts = s->first ? texts : CLV_NEW0(s->ctx, char *, some);
    s->status = texts ? s->status : CLV_ENOMEM;
    *count = texts ? some : 0;
    for (int64_t i = 0; i < *count; i++) {
        texts[i] = share_text(s, texts[i]);
    }
    return texts;
}

static void share_matrix(sharing *s) {
    clv_data *d = s->data;
    clv_matrix *m = &d->matrix;
    int64_t shape[] = {m->rows, m->cols, (int64_t)m->scalar, m->start ? m->start[m->rows] : -1, d->rows_read};
    share_bytes(s, shape, sizeof shape);
    bool sparse = shape[3] >= 0;
    int64_t stored = sparse ? shape[3] : shape[0] * shape[1];
    m->rows = s->status < 0 ? 0 : shape[0];
    m->cols = s->status < 0 ? 0 : shape[1];
    m->scalar = (clv_scalar)shape[2];
    d->rows_read = shape[4];
    d->start = sparse ? share_array(s, d->start, shape[0] + 1, sizeof *d->start) : NULL;
    d->index = sparse ? share_array(s, d->index, stored, sizeof *d->index) : NULL;
    d->values = share_array(s, d->values, stored, clv_scalar_bytes(m->scalar));
    m->values = d->values;
    m->start = d->start;
    m->index = d->index;
}

static void share_all(sharing *s) {
    clv_data *d = s->data;
    share_matrix(s);
    int64_t rows = d->matrix.rows, read, ids = 0;
    d->labels = share_array(s, d->labels, rows, sizeof *d->labels);
    d->targets = share_array(s, d->targets, rows, sizeof *d->targets);
    d->classes = share_texts(s, d->classes, &d->classes_count);
    d->columns = share_texts(s, d->columns, &d->columns_count);
    d->rows = share_array(s, d->rows, rows, sizeof *d->rows);
    d->fill = share_array(s, d->fill, d->matrix.cols, sizeof *d->fill);
    char **const texts[] = {&d->note, &d->warning, &d->truth, &d->id_name};
    for (size_t i = 0; i < CLV_COUNT(texts); i++) {
        *texts[i] = share_text(s, *texts[i]);
    }
    read = s->status < 0 ? 0 : clv_data_rows_read(d);
    d->id_at = share_array(s, d->id_at, read, sizeof *d->id_at);
    for (int64_t i = 0; i < read && d->ids; i++) {
        int64_t end = d->id_at[i] + (int64_t)strlen(d->ids + d->id_at[i]) + 1;
        ids = end > ids ? end : ids;
    }
    d->ids = share_array(s, d->ids, ids, 1);
}

clv_status clv_data_share(clv_context *ctx, clv_status status, const char *name, clv_data **data) {
    sharing s = {.ctx = ctx, .first = clv_ranks_of(ctx)->with.rank == 0};
    if (!s.first) {
        status = clv_data_new(ctx, name, data);
    }
    CLV_TRY(clv_data_made(clv_meet(ctx, 11, status), data));
    s.data = *data;
    share_all(&s);
    return clv_data_made(clv_meet(ctx, 12, s.status), data);
}
