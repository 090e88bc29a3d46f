/* What one restart works with: made once, so that an iteration allocates nothing but longer lists of weights. */
#include "methods/kpalm/kpalm.h"

#include <string.h>

static void free_worker(clv_context *ctx, clv_worker *w) {
    void *blocks[] = {w->keys,   w->weights,  w->line,        w->few,         w->few_index, w->listed,
                      w->index,  w->shares,   w->gathered,    w->distance,    w->support,   w->open,
                      w->vertex, w->replayed, w->fresh.index, w->fresh.weight};
    for (size_t i = 0; i < CLV_COUNT(blocks); i++) {
        clv_free(ctx, blocks[i]);
    }
}

void clv_kpalm_state_free(clv_context *ctx, void *state) {
    clv_kpalm_state *s = state;
    if (!s) {
        return;
    }
    clv_kpalm_card_end(s);
    for (int64_t i = 0; s->panels && i < s->panel_count; i++) {
        clv_panel_free(&s->panels[i]);
    }
    clv_vicinity_free(ctx, &s->vicinity);
    clv_panel_free(&s->movers);
    clv_free(ctx, s->mover);
    clv_soft_pools_free(s);
    for (int i = 0; s->workers && i < s->threads; i++) {
        free_worker(ctx, &s->workers[i]);
    }
    void *blocks[] = {s->centers,      s->before,      s->square,      s->panels, s->slack.moved,
                      s->slack.others, s->slack.apart, s->slack.reach, s->apart,  s->labels,
                      s->upper,        s->lower,       s->sums,        s->total,  s->parts,
                      s->tallies,      s->workers,     s->shifts,      s};
    clv_soft_rows_free(ctx, &s->rows);
    for (size_t i = 0; i < CLV_COUNT(blocks); i++) {
        clv_free(ctx, blocks[i]);
    }
}

static clv_status make_worker(const clv_kpalm_problem *p, clv_worker *w) {
    clv_context *ctx = p->ctx;
    int64_t width = clv_panel_width(p->points->scalar, p->k), pitch = clv_tile_pitch(p->points);
    size_t size = clv_scalar_bytes(p->points->scalar);
    bool dense = !clv_is_sparse(p->points);
    w->keys = clv_alloc(ctx, CLV_TILE_ROWS * width, size);
    w->weights = clv_alloc(ctx, CLV_TILE_ROWS * width, size);
    w->line = clv_alloc(ctx, CLV_PROJECTED_AT_ONCE * width, size);
    w->listed = clv_alloc(ctx, width + CLV_FEW, size);
    w->index = CLV_NEW(ctx, int32_t, width + CLV_FEW);
    w->few = clv_alloc(ctx, CLV_TILE_ROWS * CLV_FEW, size);
    w->few_index = CLV_NEW(ctx, int32_t, CLV_TILE_ROWS * CLV_FEW);
    w->shares = CLV_NEW(ctx, double, p->hard ? 1 : p->k *clv_shares_pitch(p->points) + 1);
    w->gathered = clv_alloc(ctx, dense && !p->hard ? CLV_TILE_ROWS * pitch : 1, size);
    w->distance = CLV_NEW(ctx, double, p->k);
    w->support = CLV_NEW(ctx, bool, p->k);
    w->open = CLV_NEW(ctx, uint8_t, p->block);
    w->vertex = CLV_NEW(ctx, int64_t, p->block);
    w->replayed = CLV_NEW(ctx, int64_t, p->block);
    w->fresh.index = CLV_NEW(ctx, int32_t, p->hard ? 1 : p->block * (p->k + 3) + CLV_FEW);
    w->fresh.weight = clv_alloc(ctx, p->hard ? 1 : p->block * p->k + CLV_FEW, size);
    bool all = w->keys && w->weights && w->line && w->listed && w->few && w->few_index && w->index && w->shares &&
               w->gathered && w->distance && w->support && w->open && w->vertex && w->replayed && w->fresh.index &&
               w->fresh.weight;
    return all ? CLV_OK : CLV_ENOMEM;
}

static clv_status make_parts(const clv_kpalm_problem *p, clv_kpalm_state *s) {
    clv_context *ctx = p->ctx;
    int64_t entries = p->k * (p->p + 1);
    s->panels = CLV_NEW0(ctx, clv_panel, s->panel_count);
    s->workers = CLV_NEW0(ctx, clv_worker, s->threads);
    s->centers = CLV_NEW(ctx, double, p->k * p->p);
    s->before = CLV_NEW0(ctx, double, p->k * p->p);
    s->square = CLV_NEW(ctx, double, p->k);
    s->slack.moved = CLV_NEW0(ctx, float, p->k);
    s->slack.others = CLV_NEW0(ctx, float, p->k);
    s->slack.apart = CLV_NEW0(ctx, float, p->k);
    s->slack.reach = CLV_NEW0(ctx, float, p->k);
    s->apart = CLV_NEW0(ctx, double, p->k);
    s->labels = CLV_NEW(ctx, int32_t, p->n);
    s->upper = CLV_NEW(ctx, float, p->n);
    s->lower = CLV_NEW(ctx, float, p->n);
    s->sums = CLV_NEW(ctx, double, entries);
    s->total = CLV_NEW(ctx, double, entries);
    s->parts = CLV_NEW(ctx, double, 2 * p->chunks * entries);
    s->tallies = CLV_NEW(ctx, clv_tally, p->chunks);
    bool all = s->panels && s->workers && s->centers && s->before && s->square && s->apart && s->slack.moved &&
               s->slack.others && s->slack.apart && s->slack.reach && s->labels && s->upper && s->lower && s->sums &&
               s->total && s->parts && s->tallies;
    if (p->affine) { /* what the first iterations need: soft.c */
        s->shifts = CLV_NEW(ctx, float, p->form.replay > 0 ? p->form.replay * p->n : 1);
        all = all && s->shifts;
    }
    return all ? clv_soft_rows_new(p, &s->rows) : CLV_ENOMEM;
}

clv_status clv_kpalm_state_new(clv_context *ctx, const void *of, int threads, void **out) {
    const clv_kpalm_problem *problem = of;
    clv_kpalm_state *s = CLV_NEW0(ctx, clv_kpalm_state, 1);
    *out = NULL;
    if (!s) {
        return CLV_ENOMEM;
    }
    s->problem = problem;
    s->threads = clv_kpalm_threads(problem, threads);
    s->panel_count = 1 + problem->form.replay;
    clv_status status = make_parts(problem, s);
    if (status == CLV_OK) {
        status = clv_soft_pools_new(s);
    }
    if (status == CLV_OK) {
        status = clv_vicinity_new(problem, &s->vicinity);
    }
    if (status == CLV_OK) {
        status = clv_movers_new(s);
    }
    for (int64_t i = 0; status == CLV_OK && i < s->panel_count; i++) {
        status = clv_panel_new(ctx, problem->points, problem->k, &s->panels[i]);
    }
    for (int i = 0; status == CLV_OK && i < s->threads; i++) {
        status = make_worker(problem, &s->workers[i]);
    }
    if (status == CLV_OK && problem->card) {
        status = clv_kpalm_card_begin(s);
    }
    if (status < 0) {
        clv_kpalm_state_free(ctx, s);
        return status;
    }
    *out = s;
    return CLV_OK;
}

static size_t worker_bytes(const clv_kpalm_problem *p) {
    size_t k = (size_t)p->k, block = (size_t)p->block, size = clv_scalar_bytes(p->points->scalar);
    size_t width = (size_t)clv_panel_width(p->points->scalar, p->k), entry = size + sizeof(int32_t);
    size_t tiles = CLV_TILE_ROWS * (2 * width + (size_t)clv_tile_pitch(p->points)) * size;
    size_t lines = CLV_PROJECTED_AT_ONCE * width * size + (width + CLV_FEW + CLV_TILE_ROWS * CLV_FEW) * entry +
                   k * (sizeof(double) + sizeof(bool));
    size_t shares = p->hard ? 0 : k * (size_t)clv_shares_pitch(p->points) * sizeof(double);
    size_t lists = p->hard ? entry : block * (k * entry + 3 * sizeof(int32_t));
    return sizeof(clv_worker) + tiles + lines + block * (2 * sizeof(int64_t) + sizeof(uint8_t)) + lists + shares;
}

size_t clv_kpalm_state_memory(const clv_kpalm_problem *p, const clv_kpalm_options *options, bool varied) {
    size_t n = (size_t)p->n, k = (size_t)p->k, q = (size_t)p->p + 1, chunks = (size_t)p->chunks;
    size_t threads = (size_t)clv_driver_threads_each(&options->control);
    size_t objects = n * (sizeof(int32_t) + 2 * sizeof(float)) + (p->hard ? 0 : clv_soft_bytes(p, options, varied));
    size_t sums = (2 * chunks + 4) * k * q * sizeof(double) + chunks * sizeof(clv_tally);
    size_t centers = 4 * k * (sizeof(double) + sizeof(float));                       /* what is known of each */
    size_t panels = (size_t)(2 + p->form.replay) * clv_panel_bytes(p->points, p->k); /* one of movers */
    return sizeof(clv_kpalm_state) + objects + sums + centers + panels + clv_vicinity_bytes(p) + clv_seeding_bytes(p) +
           threads * worker_bytes(p);
}

clv_status clv_kpalm_lay_out(clv_kpalm_state *s, bool patient) {
    enum { OBJECTS_A_POLL = 1 << 18 };
    const clv_kpalm_problem *p = s->problem;
    int32_t label = clv_kpalm_begins_apart(p) ? CLV_UNASSIGNED : CLV_REPLAYED;
    for (int64_t i = 0; i < p->n && (s->unplaced || s->unbounded); i++) {
        if (i % OBJECTS_A_POLL == 0 && !patient && clv_worked(p->ctx, i > 0 ? OBJECTS_A_POLL : 0)) {
            return clv_stop_failure(p->ctx, "assigning objects to centers");
        }
        s->labels[i] = s->unplaced ? label : s->labels[i];
        s->upper[i] = s->unbounded ? 1e30f : s->upper[i];
        s->lower[i] = s->unbounded ? 0 : s->lower[i];
    }
    s->unplaced = s->unbounded = false;
    return CLV_OK;
}

/* --- checkpoints --- */

/* What was taken off in the projections so far of the objects that are replayed; of others nothing is needed. */
static void pass_shifts(clv_kpalm_state *s, clv_archive *archive) {
    int64_t n = s->problem->n;
    for (int64_t t = 0; t < s->t && !archive->loading; t++) {
        for (int64_t i = 0; i < n; i++) {
            s->shifts[t * n + i] = s->labels[i] == CLV_REPLAYED ? s->shifts[t * n + i] : 0;
        }
    }
    clv_pass_floats(archive, s->shifts, s->t * n);
}

/* Of the centers so far, while weights are replayed. */
static void pass_panels(clv_kpalm_state *s, clv_archive *archive) {
    for (int64_t t = 0; t < s->t; t++) {
        clv_panel *panel = &s->panels[t];
        clv_pass_scalars(archive, panel->scalar, panel->lines, panel->p * panel->width);
        clv_pass_scalars(archive, panel->scalar, panel->offset, panel->k);
        clv_pass_real(archive, &panel->most);
        clv_pass_real(archive, &panel->error);
        for (int64_t l = panel->k; l < panel->width && archive->loading; l++) {
            clv_weight_set(panel, panel->offset, l, HUGE_VAL);
        }
    }
}

/* Labels say where an object is: all in a cluster, in several (of which the weights must be somewhere), or all nowhere
 * yet. */
static bool count_soft(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t nowhere = 0, replayed = 0;
    s->soft = 0;
    for (int64_t i = 0; i < p->n; i++) {
        nowhere += s->labels[i] == CLV_UNASSIGNED;
        replayed += s->labels[i] == CLV_REPLAYED;
        s->soft += s->labels[i] < CLV_UNASSIGNED;
    }
    bool possible = s->soft == 0 || !p->hard;
    return possible && (nowhere == 0 || nowhere == p->n) && (replayed == 0 || s->t < s->panel_count);
}

/* Of ranks that share the run, each brings what it has of its objects. */
static clv_status complete(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    if (!p->shared) {
        return CLV_OK;
    }
    CLV_TRY(clv_kpalm_gather_objects(p, s->labels, sizeof *s->labels));
    CLV_TRY(clv_kpalm_gather_objects(p, s->upper, sizeof *s->upper));
    CLV_TRY(clv_kpalm_gather_objects(p, s->lower, sizeof *s->lower));
    for (int64_t t = 0; t < s->t && s->shifts && s->t < s->panel_count && s->soft > 0; t++) {
        CLV_TRY(clv_kpalm_gather_objects(p, s->shifts + t * p->n, sizeof *s->shifts));
    }
    return clv_soft_share(s);
}

/* Panels, movements and separations follow from the centers, bounds do not: they say in which order objects are looked
 * at, and so how sums are rounded. */
clv_status clv_kpalm_state_pass(void *state, clv_archive *archive) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    CLV_TRY(archive->loading ? CLV_OK : clv_kpalm_lay_out(s, true));
    CLV_TRY(archive->loading ? CLV_OK : complete(s));
    clv_pass_integer(archive, &s->t, 0, INT64_MAX / 4);
    clv_pass_places(archive, (int64_t *)&s->salt, 1, INT64_MIN, INT64_MAX);
    clv_pass_labels(archive, s->labels, p->n, CLV_REPLAYED, p->k - 1);
    clv_pass_reals(archive, s->centers, p->k * p->p);
    clv_pass_reals(archive, s->before, p->k * p->p);
    clv_pass_reals(archive, s->sums, p->k * (p->p + 1));
    clv_pass_floats(archive, s->upper, p->n);
    clv_pass_floats(archive, s->lower, p->n);
    clv_pass_flag(archive, &s->moved);
    clv_pass_flag(archive, &s->hardened);
    clv_pass_real(archive, &s->value);
    clv_pass_integer(archive, &s->idle, 0, INT64_MAX / 4);
    CLV_TRY(archive->status);
    if (archive->loading && !count_soft(s)) {
        return clv_archive_refuse(archive);
    }
    if (s->t < s->panel_count && s->soft > 0) {
        pass_panels(s, archive);
        if (s->shifts) {
            pass_shifts(s, archive);
        }
    }
    CLV_TRY(clv_soft_pass(s, archive));
    if (archive->loading) {
        s->torn = s->known_there = s->unplaced = s->unbounded = false;
        clv_centers_publish(s, s->moved);
    }
    return archive->status;
}
