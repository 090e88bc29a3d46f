/* The weights of objects in several clusters, kept as lists of (cluster, weight): a pool for each block of objects, and
 * all of them as one sparse matrix for snapshots. An entry costs 4 bytes and a number of the type of the points; pools
 * grow, and are written afresh in each iteration. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

/* What comes before the clusters of an object in a pool: its place in the block, how many, where the weights are. */
enum { PLACE, COUNT, WEIGHTS, HEAD };

/* --- pools --- */

/* Of a short list all that there is room for, as a loop over the few that there are takes longer. */
static void copy_list(void *to, const void *from, int64_t count, size_t size) {
    if (count > CLV_FEW) {
        memcpy(to, from, (size_t)count * size);
    } else if (size == sizeof(float)) {
        memcpy(to, from, CLV_FEW * sizeof(float));
    } else {
        memcpy(to, from, CLV_FEW * sizeof(double));
    }
}

void clv_soft_store(clv_worker *w, clv_scalar scalar, const clv_short_list *list, int64_t place) {
    clv_pool *pool = &w->fresh;
    size_t size = clv_scalar_bytes(scalar);
    int64_t count = list->count;
    int32_t *head = pool->index + pool->used;
    head[PLACE] = (int32_t)place;
    head[COUNT] = (int32_t)count;
    head[WEIGHTS] = (int32_t)pool->weights;
    copy_list(head + HEAD, list->index, count, sizeof *list->index);
    copy_list((char *)pool->weight + (size_t)pool->weights * size, list->weight, count, size);
    pool->used += HEAD + count;
    pool->weights += count;
}

/* Entries of a list that fits the room that all pools share. */
static int64_t shared_entries(const clv_kpalm_problem *p) {
    return p->k < CLV_FEW ? p->k : CLV_FEW;
}

clv_status clv_soft_pools_new(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t entries = shared_entries(p), count = p->hard ? 0 : p->n;
    size_t size = clv_scalar_bytes(p->points->scalar);
    s->pool_count = (count + p->block - 1) / p->block;
    s->pools = CLV_NEW0(p->ctx, clv_pool, s->pool_count);
    s->room_index = CLV_NEW(p->ctx, int32_t, count * (HEAD + entries));
    s->room_weight = clv_alloc(p->ctx, count * entries, size);
    for (int64_t b = 0; b < s->pool_count && s->pools && s->room_index && s->room_weight; b++) {
        int64_t first = b * p->block, objects = p->n - first < p->block ? p->n - first : p->block;
        s->pools[b].capacity = objects * (HEAD + entries);
        s->pools[b].weight_room = objects * entries;
        s->pools[b].index = s->room_index + first * (HEAD + entries);
        s->pools[b].weight = (char *)s->room_weight + (size_t)(first * entries) * size;
    }
    return s->pools && s->room_index && s->room_weight ? CLV_OK : CLV_ENOMEM;
}

static void free_pool(clv_context *ctx, const clv_pool *pool) {
    if (pool->large) {
        clv_free(ctx, pool->index);
        clv_free(ctx, pool->weight);
    }
}

void clv_soft_pools_free(clv_kpalm_state *s) {
    clv_context *ctx = s->problem->ctx;
    for (int64_t b = 0; s->pools && b < s->pool_count; b++) {
        free_pool(ctx, &s->pools[b]);
    }
    clv_free(ctx, s->pools);
    clv_free(ctx, s->room_index);
    clv_free(ctx, s->room_weight);
}

/* Room in a pool for what `from` holds: its part of the shared one, else an allocation of its own. */
static clv_status reserve(clv_context *ctx, const clv_pool *from, size_t size, clv_pool *pool) {
    if (from->used <= pool->capacity && from->weights <= pool->weight_room) {
        return CLV_OK;
    }
    free_pool(ctx, pool);
    *pool = (clv_pool){
        .large = true, .index = CLV_NEW(ctx, int32_t, from->used), .weight = clv_alloc(ctx, from->weights, size)};
    if (!pool->index || !pool->weight) {
        return CLV_ENOMEM; /* without capacity: the next one asks again */
    }
    pool->capacity = from->used;
    pool->weight_room = from->weights;
    return CLV_OK;
}

clv_status clv_soft_keep(clv_kpalm_state *s, clv_worker *w, int64_t block) {
    clv_pool *pool = &s->pools[block];
    size_t size = clv_scalar_bytes(s->problem->points->scalar);
    CLV_TRY(reserve(s->problem->ctx, &w->fresh, size, pool));
    pool->used = w->fresh.used;
    pool->weights = w->fresh.weights;
    if (pool->used > 0) {
        memcpy(pool->index, w->fresh.index, (size_t)pool->used * sizeof *pool->index);
        memcpy(pool->weight, w->fresh.weight, (size_t)pool->weights * size);
    }
    return CLV_OK;
}

int64_t clv_soft_find(const clv_pool *pool, int64_t at, clv_listed *out) {
    const int32_t *head = pool->index + at;
    *out = (clv_listed){head[PLACE], head[COUNT], head[WEIGHTS], head + HEAD};
    return at + HEAD + head[COUNT];
}

void clv_soft_load(const clv_pool *pool, const clv_listed *from, const clv_panel *panel, void *row) {
    memset(row, 0, (size_t)panel->width * clv_scalar_bytes(panel->scalar));
    for (int64_t e = 0; e < from->count; e++) {
        clv_weight_set(panel, row, from->index[e], clv_weight_get(panel, pool->weight, from->first + e));
    }
}

void clv_soft_begin(const clv_kpalm_state *s, const clv_panel *panel, int64_t i, void *weights) {
    const clv_kpalm_problem *p = s->problem;
    double sum = 0, even = 1 / (double)p->k;
    memset(weights, 0, (size_t)panel->width * clv_scalar_bytes(panel->scalar));
    if (p->options.initial_membership != CLV_KPALM_DIRICHLET) {
        for (int64_t l = 0; l < p->k; l++) {
            clv_weight_set(panel, weights, l, p->initial ? p->initial[i * p->k + l] : even);
        }
        return;
    }
    for (int pass = 0; pass < 2; pass++) { /* exponential numbers over their sum: uniform on the simplex */
        clv_rng rng = clv_rng_stream(s->salt, (uint64_t)i);
        for (int64_t l = 0; l < p->k; l++) {
            double drawn = -log(1 - clv_rng_uniform(&rng)) + 1e-12;
            if (pass == 0) {
                sum += drawn;
            } else {
                clv_weight_set(panel, weights, l, drawn / sum);
            }
        }
    }
}

/* --- bytes --- */

/* Clusters to an object that the lists have room for. Where alpha is halved in every iteration and is not large at
 * first, lists are short once replaying ends: more than so many centers are then equally near to few objects only. */
static size_t listed_clusters(const clv_kpalm_problem *p, const clv_kpalm_options *options, bool varied) {
    enum { ENOUGH = 5 };      /* iterations that are replayed */
    const double largest = 3; /* alpha(0) by default, at most */
    bool halved = options->schedule == CLV_KPALM_GEOMETRIC && options->alpha_unit != CLV_KPALM_ONE;
    bool large = options->alpha > largest || options->gamma_w > largest || varied;
    return halved && !large && p->form.replay >= ENOUGH && p->k > CLV_FEW ? CLV_FEW : (size_t)p->k;
}

size_t clv_soft_bytes(const clv_kpalm_problem *p, const clv_kpalm_options *options, bool varied) {
    size_t n = (size_t)p->n, k = (size_t)p->k;
    size_t entry = clv_scalar_bytes(p->points->scalar) + sizeof(int32_t);
    size_t listed = listed_clusters(p, options, varied), shared = (size_t)shared_entries(p);
    size_t lists = HEAD * sizeof(int32_t) + shared * entry;
    lists += listed > shared ? HEAD * sizeof(int32_t) + listed * entry : 0;
    size_t replayed = p->affine ? (size_t)p->form.replay * sizeof(float) : 0;
    size_t rows = p->keeps_weights ? sizeof(int64_t) + k * (sizeof(int32_t) + sizeof(double)) : 0;
    return n * (lists + replayed + rows) + (n / (size_t)p->block + 1) * sizeof(clv_pool);
}

/* --- all weights --- */

clv_status clv_soft_rows_new(const clv_kpalm_problem *p, clv_soft_rows *out) {
    *out = (clv_soft_rows){0};
    if (!p->keeps_weights) {
        return CLV_OK;
    }
    out->start = CLV_NEW0(p->ctx, int64_t, p->n + 1);
    out->index = CLV_NEW(p->ctx, int32_t, p->n * p->k);
    out->weight = CLV_NEW(p->ctx, double, p->n * p->k);
    return out->start && out->index && out->weight ? CLV_OK : CLV_ENOMEM;
}

void clv_soft_rows_free(clv_context *ctx, clv_soft_rows *rows) {
    clv_free(ctx, rows->start);
    clv_free(ctx, rows->index);
    clv_free(ctx, rows->weight);
}

/* Add an entry to row i. */
static void add_entry(clv_soft_rows *to, int64_t i, int64_t cluster, double weight) {
    int64_t at = to->start[i + 1]++;
    to->index[at] = (int32_t)cluster;
    to->weight[at] = weight;
}

/* Object i, whose list begins at `head` unless it has none. */
static void export_object(clv_kpalm_state *s, int64_t i, const clv_pool *pool, const int32_t *head, clv_soft_rows *to) {
    const clv_panel *panel = clv_panel_now(s);
    to->start[i + 1] = to->start[i];
    if (s->labels[i] >= 0) {
        add_entry(to, i, s->labels[i], 1);
    } else if (head) {
        for (int64_t e = 0; e < head[COUNT]; e++) {
            add_entry(to, i, head[HEAD + e], clv_weight_get(panel, pool->weight, head[WEIGHTS] + e));
        }
    } else { /* not yet begun: w(0) */
        clv_soft_begin(s, panel, i, s->workers[0].line);
        for (int64_t l = 0; l < s->problem->k; l++) {
            double weight = clv_weight_get(panel, s->workers[0].line, l);
            if (weight > 0) {
                add_entry(to, i, l, weight);
            }
        }
    }
}

clv_status clv_soft_export(clv_kpalm_state *s, clv_soft_rows *to) {
    const clv_kpalm_problem *p = s->problem;
    CLV_TRY(clv_kpalm_card_fetch(s));
    int64_t *place = s->workers[0].vertex; /* of an object of a block: where its list begins */
    for (int64_t b = 0; b < s->pool_count; b++) {
        const clv_pool *pool = &s->pools[b];
        int64_t first = b * p->block, count = p->n - first < p->block ? p->n - first : p->block;
        for (int64_t r = 0; r < count; r++) {
            place[r] = -1;
        }
        for (int64_t at = 0; at < pool->used; at += HEAD + pool->index[at + COUNT]) {
            place[pool->index[at + PLACE]] = at;
        }
        for (int64_t r = 0; r < count; r++) {
            bool listed = s->labels[first + r] == CLV_STORED && place[r] >= 0;
            export_object(s, first + r, pool, listed ? pool->index + place[r] : NULL, to);
        }
    }
    return CLV_OK;
}

clv_status clv_soft_import(clv_kpalm_state *s, const clv_soft_rows *rows) {
    const clv_kpalm_problem *p = s->problem;
    clv_worker *w = &s->workers[0];
    s->soft = 0;
    for (int64_t b = 0; b < s->pool_count; b++) {
        int64_t first = b * p->block, last = first + p->block < p->n ? first + p->block : p->n;
        w->fresh.used = w->fresh.weights = 0;
        for (int64_t i = first; i < last; i++) {
            int64_t from = rows->start[i], count = rows->start[i + 1] - from;
            s->labels[i] = count == 1 ? rows->index[from] : CLV_STORED;
            for (int64_t e = 0; e < count && count > 1; e++) {
                w->index[e] = rows->index[from + e];
                clv_weight_set(clv_panel_now(s), w->listed, e, rows->weight[from + e]);
            }
            if (count > 1) {
                clv_soft_store(w, p->points->scalar, &(clv_short_list){w->index, w->listed, count}, i - first);
                s->soft++;
            }
        }
        CLV_TRY(clv_soft_keep(s, w, b));
    }
    return CLV_OK;
}

clv_matrix clv_soft_matrix(const clv_kpalm_problem *p, const clv_soft_rows *rows) {
    return (clv_matrix){p->n, p->k, CLV_F64, rows->weight, rows->start, rows->index};
}

/* --- checkpoints --- */

/* Whether the lists of a block are lists: of its objects that are stored, of each once. */
static bool are_lists(const clv_kpalm_state *s, int64_t block, const clv_pool *pool) {
    const clv_kpalm_problem *p = s->problem;
    int64_t first = block * p->block, rows = p->n - first < p->block ? p->n - first : p->block, at = 0;
    uint8_t *seen = s->workers[0].open;
    memset(seen, 0, (size_t)p->block);
    while (at < pool->used) {
        const int32_t *head = pool->index + at;
        bool whole = pool->used - at >= HEAD && head[PLACE] < rows && head[COUNT] >= 1 && head[COUNT] <= p->k &&
                     pool->used - at - HEAD >= head[COUNT] && pool->weights - head[WEIGHTS] >= head[COUNT];
        if (!whole || seen[head[PLACE]] || s->labels[first + head[PLACE]] != CLV_STORED) {
            return false;
        }
        seen[head[PLACE]] = 1;
        for (int64_t e = 0; e < head[COUNT]; e++) {
            if (head[HEAD + e] >= p->k) {
                return false;
            }
        }
        at += HEAD + head[COUNT];
    }
    return true;
}

/* The pool of a block as the rank `root` has it. */
static clv_status share_pool(clv_kpalm_state *s, clv_pool *pool, int root) {
    const clv_kpalm_problem *p = s->problem;
    size_t size = clv_scalar_bytes(p->points->scalar);
    int64_t sizes[2] = {pool->used, pool->weights};
    CLV_TRY(clv_kpalm_broadcast(p, sizes, sizeof sizes, root));
    clv_pool wanted = {.used = sizes[0], .weights = sizes[1]};
    CLV_TRY(reserve(p->ctx, &wanted, size, pool));
    pool->used = wanted.used;
    pool->weights = wanted.weights;
    CLV_TRY(clv_kpalm_broadcast(p, pool->index, pool->used * (int64_t)sizeof *pool->index, root));
    return clv_kpalm_broadcast(p, pool->weight, pool->weights * (int64_t)size, root);
}

/* Without objects in several clusters there are no lists: what came from others at an earlier time is forgotten. */
clv_status clv_soft_share(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    for (int64_t b = 0; b < s->pool_count && s->soft == 0; b++) {
        s->pools[b].used = s->pools[b].weights = 0;
    }
    for (int64_t c = 0; c < p->chunks && s->soft > 0; c++) {
        int64_t from, to;
        clv_kpalm_chunk(p, c, &from, &to);
        for (int64_t b = from / p->block; b * p->block < to && b < s->pool_count; b++) {
            CLV_TRY(share_pool(s, &s->pools[b], clv_kpalm_owner(p, c)));
        }
    }
    return CLV_OK;
}

clv_status clv_soft_pass(clv_kpalm_state *s, clv_archive *archive) {
    const clv_kpalm_problem *p = s->problem;
    size_t size = clv_scalar_bytes(p->points->scalar);
    CLV_TRY(archive->loading ? CLV_OK : clv_kpalm_card_fetch(s));
    for (int64_t b = 0; b < s->pool_count; b++) {
        clv_pool *pool = &s->pools[b], wanted = *pool;
        clv_pass_integer(archive, &wanted.used, 0, p->block * (p->k + HEAD));
        clv_pass_integer(archive, &wanted.weights, 0, p->block * p->k);
        CLV_TRY(archive->status);
        if (archive->loading) {
            CLV_TRY(reserve(p->ctx, &wanted, size, pool));
            pool->used = wanted.used;
            pool->weights = wanted.weights;
        }
        clv_pass_labels(archive, pool->index, pool->used, 0, INT32_MAX);
        clv_pass_scalars(archive, p->points->scalar, pool->weight, pool->weights);
        CLV_TRY(archive->status);
        if (archive->loading && !are_lists(s, b, pool)) {
            pool->used = pool->weights = 0;
            return clv_archive_refuse(archive);
        }
    }
    return CLV_OK;
}

clv_status clv_soft_rows_pass(const clv_kpalm_problem *p, clv_soft_rows *rows, clv_archive *archive) {
    clv_pass_places(archive, rows->start, p->n + 1, 0, p->n * p->k);
    CLV_TRY(archive->status);
    bool fine = rows->start[0] == 0;
    for (int64_t i = 0; i < p->n; i++) {
        int64_t count = rows->start[i + 1] - rows->start[i];
        fine = fine && count >= 1 && count <= p->k;
    }
    if (!fine) {
        return clv_archive_refuse(archive);
    }
    clv_pass_labels(archive, rows->index, rows->start[p->n], 0, p->k - 1);
    clv_pass_reals(archive, rows->weight, rows->start[p->n]);
    for (int64_t i = 0; i < p->n && archive->loading && archive->status == CLV_OK; i++) {
        for (int64_t e = rows->start[i] + 1; e < rows->start[i + 1]; e++) {
            if (rows->index[e] <= rows->index[e - 1]) {
                return clv_archive_refuse(archive);
            }
        }
    }
    return archive->status;
}
