/* Iterations on a graphics card (docs/gpu.md): points, labels and weights lie there, and (2.1) and the sums of (2.2)
 * are made there, in double (plugins/cuda/points.cu). Labels come back after every iteration, weights where a snapshot
 * or a checkpoint wants them. For starts the card computes the distances, and the host draws. The polish, empty
 * clusters and the certificate are the host's: objective and certificate are computed by the same code as without a
 * card.
 *
 * Restarts in several threads share the points, and take turns on the card. */
#include "methods/kpalm/kpalm.h"

#include "affinity/card.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

struct clv_kpalm_card {
    const clv_cuda *plugin;
    clv_cuda_points *points;
    pthread_mutex_t turn;
};

/* Multiplications of a pass from which on `auto` looks for a card: what is less is done before a driver has started. */
#define WORTH_A_CARD 2e10

static bool may_have_card(const clv_kpalm_problem *p) {
    return !clv_is_sparse(p->points);
}

/* Bytes there: points, labels, weights, and a part for what a step works with. */
static double bytes_there(const clv_kpalm_problem *p) {
    double size = (double)clv_scalar_bytes(p->points->scalar), n = (double)p->n, k = (double)p->k;
    return n * (double)p->p * size + n * (p->hard ? 16 : 16 + k * size) + 0x1p31;
}

bool clv_kpalm_card_pays(const clv_kpalm_problem *p) {
    double work = (double)p->n * (double)p->k * (double)p->p;
    const clv_cuda *plugin;
    clv_cuda_card found;
    if (!may_have_card(p) || work < WORTH_A_CARD || clv_is_shared(p->ctx) || clv_card_open(p->ctx, &plugin) < 0) {
        return false;
    }
    clv_cuda_call call = clv_card_call(p->ctx, 1);
    double room = p->options.device_memory > 0 ? (double)p->options.device_memory : HUGE_VAL;
    return plugin->look(&call, &found) == CLV_CUDA_OK && bytes_there(p) < fmin(room, 0.9 * (double)found.free);
}

/* The status of a function of the table, in turn. */
#define ON_CARD(p, threads, doing, function, ...)                                                                      \
    do {                                                                                                               \
        clv_cuda_call call_ = clv_card_call((p)->ctx, threads);                                                        \
        pthread_mutex_lock(&(p)->card->turn);                                                                          \
        int status_ = (p)->card->plugin->function(&call_, __VA_ARGS__);                                                \
        pthread_mutex_unlock(&(p)->card->turn);                                                                        \
        return clv_card_status((p)->ctx, status_, &call_, doing);                                                      \
    } while (0)

static clv_status send_points(clv_kpalm_problem *p) {
    clv_cuda_cloud cloud = {.n = p->n,
                            .features = p->p,
                            .k = p->k,
                            .values = p->points->values,
                            .single = p->points->scalar == CLV_F32,
                            .sample = p->sample,
                            .factor = p->factor,
                            .mean = p->mean,
                            .epsilon = p->euclidean ? p->epsilon : 0,
                            .memory = (size_t)p->options.device_memory};
    ON_CARD(p, clv_threads(p->options.control.threads), "sending the points", send, &cloud, &p->card->points);
}

clv_status clv_kpalm_card_open(clv_kpalm_problem *p) {
    const clv_cuda *plugin;
    if (p->options.place != CLV_KPALM_CUDA) {
        return CLV_OK;
    }
    if (!may_have_card(p)) {
        return clv_fail(p->ctx, CLV_EUSAGE, "home = cuda takes dense points, and these are sparse; choose home = host");
    }
    CLV_TRY(clv_card_open(p->ctx, &plugin));
    p->card = CLV_NEW0(p->ctx, clv_kpalm_card, 1);
    if (!p->card) {
        return CLV_ENOMEM;
    }
    p->card->plugin = plugin;
    pthread_mutex_init(&p->card->turn, NULL);
    return send_points(p);
}

void clv_kpalm_card_close(clv_kpalm_problem *p) {
    if (p->card) {
        p->card->plugin->forget(p->card->points);
        pthread_mutex_destroy(&p->card->turn);
        clv_free(p->ctx, p->card);
        p->card = NULL;
    }
}

clv_status clv_kpalm_card_begin(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    ON_CARD(p, s->threads, "making room for clusters", begin, p->card->points, !p->hard, &s->there);
}

void clv_kpalm_card_end(clv_kpalm_state *s) {
    if (s->there) {
        const clv_kpalm_card *card = s->problem->card;
        pthread_mutex_lock(&s->problem->card->turn);
        card->plugin->end(s->there);
        pthread_mutex_unlock(&s->problem->card->turn);
        s->there = NULL;
    }
}

/* --- labels and weights, there and back --- */

static clv_status place_labels(clv_kpalm_state *s) {
    ON_CARD(s->problem, s->threads, "sending labels", place, s->there, s->labels);
}

static clv_status pass_weights(clv_kpalm_state *s, int64_t first, int64_t count, void *weights, int back) {
    ON_CARD(s->problem, s->threads, "passing weights", weights, s->there, first, count, weights, back);
}

/* Whether w(0) is what the card takes for objects without a label. */
static bool is_uniform(const clv_kpalm_problem *p) {
    return !p->initial && p->options.initial_membership != CLV_KPALM_DIRICHLET;
}

/* Whether there is more to say of a block of objects than labels do. */
static bool has_weights(const clv_kpalm_state *s, int64_t block) {
    return s->pools[block].used > 0 || !is_uniform(s->problem);
}

/* The weights of its objects, a row each. */
static void fill_rows(const clv_kpalm_state *s, int64_t block, char *rows) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = clv_panel_now(s);
    const clv_pool *pool = &s->pools[block];
    size_t size = clv_scalar_bytes(p->points->scalar), line = (size_t)p->k * size;
    int64_t first = block * p->block, last = first + p->block < p->n ? first + p->block : p->n;
    memset(rows, 0, (size_t)(last - first) * line);
    for (int64_t i = first; i < last; i++) {
        int32_t label = s->labels[i];
        if (label >= 0) {
            clv_weight_set(panel, rows + (size_t)(i - first) * line, label, 1);
        } else if (label == CLV_REPLAYED) {
            clv_soft_begin(s, panel, i, s->workers[0].line);
            memcpy(rows + (size_t)(i - first) * line, s->workers[0].line, line);
        }
    }
    for (int64_t at = 0; at < pool->used;) {
        clv_listed from;
        at = clv_soft_find(pool, at, &from);
        clv_soft_load(pool, &from, panel, s->workers[0].line);
        memcpy(rows + (size_t)from.place * line, s->workers[0].line, line);
    }
}

/* Rows for a block of objects, one at a time. */
typedef clv_status (*block_visit)(clv_kpalm_state *s, int64_t block, void *rows);

static clv_status visit_blocks(clv_kpalm_state *s, block_visit visit) {
    const clv_kpalm_problem *p = s->problem;
    void *rows = clv_alloc(p->ctx, p->block * p->k, clv_scalar_bytes(p->points->scalar));
    clv_status status = rows ? CLV_OK : CLV_ENOMEM;
    for (int64_t b = 0; status == CLV_OK && b < s->pool_count; b++) {
        status = visit(s, b, rows);
    }
    clv_free(p->ctx, rows);
    return status;
}

static int64_t block_size(const clv_kpalm_problem *p, int64_t block) {
    int64_t left = p->n - block * p->block;
    return left < p->block ? left : p->block;
}

static clv_status send_block(clv_kpalm_state *s, int64_t block, void *rows) {
    const clv_kpalm_problem *p = s->problem;
    if (!has_weights(s, block)) {
        return CLV_OK;
    }
    fill_rows(s, block, rows);
    return pass_weights(s, block * p->block, block_size(p, block), rows, 0);
}

static clv_status fetch_block(clv_kpalm_state *s, int64_t block, void *rows) {
    const clv_kpalm_problem *p = s->problem;
    clv_worker *w = &s->workers[0];
    int64_t first = block * p->block, count = block_size(p, block);
    size_t line = (size_t)p->k * clv_scalar_bytes(p->points->scalar);
    CLV_TRY(pass_weights(s, first, count, rows, 1));
    w->fresh.used = w->fresh.weights = 0;
    for (int64_t r = 0; r < count; r++) {
        int64_t listed = 0;
        const char *row = (const char *)rows + (size_t)r * line;
        for (int32_t l = 0; l < p->k && s->labels[first + r] == CLV_STORED; l++) {
            double weight = clv_weight_get(clv_panel_now(s), row, l);
            if (weight > 0) {
                w->index[listed] = l;
                clv_weight_set(clv_panel_now(s), w->listed, listed++, weight);
            }
        }
        if (listed > 0) {
            clv_soft_store(w, p->points->scalar, &(clv_short_list){w->index, w->listed, listed}, r);
        }
    }
    return clv_soft_keep(s, w, block);
}

/* The state of the host, where the card has another one. */
static clv_status send_state(clv_kpalm_state *s) {
    if (s->known_there) {
        return CLV_OK;
    }
    CLV_TRY(place_labels(s));
    return s->problem->hard ? CLV_OK : visit_blocks(s, send_block);
}

clv_status clv_kpalm_card_fetch(clv_kpalm_state *s) {
    if (!s->problem->card || !s->known_there || s->soft == 0 || s->fetched) {
        return CLV_OK;
    }
    CLV_TRY(visit_blocks(s, fetch_block));
    s->fetched = true;
    return CLV_OK;
}

/* --- iterations --- */

static clv_status assign_there(clv_kpalm_state *s, double alpha, clv_cuda_tally *tally) {
    ON_CARD(s->problem, s->threads, "assigning objects to centers", assign, s->there, s->centers, alpha, s->labels,
            s->total, tally);
}

static double alpha_of(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    bool nearest = s->t == 0 && p->options.initial_membership == CLV_KPALM_NEAREST;
    return p->hard || s->hardened || nearest ? 0 : clv_kpalm_alpha(p, s->t);
}

clv_status clv_kpalm_card_assign(clv_kpalm_state *s, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    clv_cuda_tally found = {0};
    CLV_TRY(send_state(s));
    s->known_there = s->fetched = false;
    CLV_TRY(assign_there(s, alpha_of(s), &found));
    s->known_there = true;
    *tally = (clv_tally){.changed = found.changed,
                         .soft = found.soft,
                         .change = found.change,
                         .correction = found.correction,
                         .cost = found.cost,
                         .largest = found.largest};
    /* Sums of whole objects alone are asked for only where all of them are. */
    size_t bytes = (size_t)(p->k * (p->p + 1)) * sizeof *s->sums;
    memcpy(s->sums, s->total, bytes);
    if (p->euclidean || found.soft > 0) {
        memset(s->sums, 0, bytes);
    }
    s->soft = found.soft;
    s->assigned = true;
    return CLV_OK;
}

static clv_status nearest_there(clv_kpalm_state *s, int32_t *labels, float *next) {
    ON_CARD(s->problem, s->threads, "assigning objects to centers", nearest, s->there, s->centers, labels, next);
}

clv_status clv_kpalm_card_nearest(clv_kpalm_state *s) {
    CLV_TRY(nearest_there(s, s->labels, NULL));
    s->soft = 0;
    s->assigned = true;
    s->known_there = false;
    return CLV_OK;
}

clv_status clv_kpalm_card_bounds(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int32_t *nearest = CLV_NEW(p->ctx, int32_t, p->n);
    clv_status status = nearest ? nearest_there(s, nearest, s->lower) : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < p->n; i++) {
        bool known = nearest[i] == s->labels[i];
        s->lower[i] = known ? (float)((double)s->lower[i] / p->frame.unit * (1 - CLV_LOOSE)) : 0;
    }
    clv_free(p->ctx, nearest);
    return status;
}

/* --- starts --- */

enum { MOST_PARTS = 64 };

static clv_status draw_there(clv_kpalm_state *s, const clv_cuda_draws *draws, double *sums, int64_t stride) {
    ON_CARD(s->problem, s->threads, "choosing centers to start from", draw, s->there, draws, sums, stride);
}

clv_status clv_kpalm_card_draw(clv_kpalm_state *s, const clv_kpalm_draws *draws, double *sums, int64_t stride) {
    const clv_kpalm_problem *p = s->problem;
    int64_t starts[MOST_PARTS + 1] = {0};
    for (int64_t c = 0; c < p->chunks; c++) {
        clv_kpalm_chunk(p, c, &starts[c], &starts[c + 1]);
    }
    clv_cuda_draws there = {.candidates = draws->candidates,
                            .count = draws->count,
                            .linear = draws->linear,
                            .begin = draws->begin,
                            .keep = draws->keep,
                            .unit = p->frame.unit,
                            .starts = starts,
                            .parts = p->chunks};
    return draw_there(s, &there, sums, stride);
}

clv_status clv_kpalm_card_near(clv_kpalm_state *s, int64_t chunk) {
    int64_t from, to;
    clv_kpalm_chunk(s->problem, chunk, &from, &to);
    ON_CARD(s->problem, s->threads, "choosing centers to start from", near, s->there, from, to, s->upper + from);
}
