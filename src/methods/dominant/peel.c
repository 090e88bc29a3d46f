/* Clusters one after the other: a dominant set among the active objects is found, labeled and taken off, until enough
 * are found or nothing similar is left; or several a pass (multistart.c).
 *
 * The start "vertex" is the active object with the largest sum of similarities: exact sums, kept up to date while
 * objects are taken off, where entries are resident and up to 4096 objects; elsewhere n^2 entries are too many, and the
 * sums are those to 256 active objects drawn anew for each cluster. */
#include "methods/dominant/dominant.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 256, EXACT_OBJECTS = 4096 };
/* Larger sums of similarities come too near to CLV_GONE and to overflow. */
#define LARGEST_SUM 1e100
/* What reaches a threshold but for this, relatively, reaches it: the order of summation must not decide. */
#define TIE 1e-12
/* Streams of random numbers: those below belong to the restarts of the driver. */
enum { SAMPLE_STREAM = 1 << 30 };

double clv_dominant_rounding(const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return info.kind == CLV_AFFINITY_COSINE ? 16 * DBL_EPSILON : 0;
}

double clv_dominant_cutoff(const clv_dominant_options *options, int64_t active) {
    if (!isnan(options->cutoff)) {
        return options->cutoff;
    }
    return options->solver == CLV_DOMINANT_RD ? 1e-3 / (double)active : 2e-12;
}

void clv_peeling_free(clv_peeling *p) {
    for (int64_t c = 0; c < p->count; c++) {
        clv_dominant_set_free(p->ctx, &p->sets[c]);
    }
    CLV_FREE_ALL(p->ctx, p->sets, p->active, p->gone, p->degree, p->work, p->labels, p->start_weights);
}

clv_status clv_peeling_new(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                           clv_peeling *out) {
    int64_t n = clv_affinity_size(a);
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    *out = (clv_peeling){.ctx = ctx, .affinity = a, .options = options, .n = n, .active_count = n};
    CLV_TRY(clv_dominant_check_landmarks(ctx, info.landmarks));
    out->active = CLV_NEW(ctx, int64_t, n);
    out->gone = CLV_NEW0(ctx, uint8_t, n);
    out->work = CLV_NEW(ctx, double, n);
    out->labels = CLV_NEW(ctx, int32_t, n);
    if (!out->active || !out->gone || !out->work || !out->labels) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        out->active[i] = i;
        out->labels[i] = -1;
    }
    return clv_affinity_largest(a, &out->largest);
}

clv_dominant_problem clv_peel_problem(const clv_peeling *p) {
    return (clv_dominant_problem){.ctx = p->ctx,
                                  .affinity = p->affinity,
                                  .options = p->options,
                                  .n = p->n,
                                  .active_count = p->active_count,
                                  .active = p->active,
                                  .gone = p->gone,
                                  .tol = isnan(p->options->control.tol) ? 1e-6 : p->options->control.tol,
                                  .largest = p->largest,
                                  .seed = {.object = -1}};
}

clv_status clv_without_diagonal(const clv_affinity *a, const int64_t *objects, const double *weights, int64_t count,
                                double *r, int64_t threads) {
    CLV_TRY(clv_affinity_combine(a, objects, weights, count, r, threads));
    for (int64_t t = 0; t < count && clv_affinity_has_diagonal(a); t++) {
        double own;
        CLV_TRY(clv_affinity_entry(a, objects[t], objects[t], &own));
        r[objects[t]] -= weights[t] * own;
    }
    return CLV_OK;
}

/* --- where to start --- */

static bool has_exact_degrees(const clv_peeling *p) {
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    return info.cost.resident || p->n <= EXACT_OBJECTS;
}

static int64_t largest_active(const clv_peeling *p, const double *sums) {
    int64_t best = p->active[0];
    for (int64_t t = 1; t < p->active_count; t++) {
        best = sums[p->active[t]] > sums[best] ? p->active[t] : best;
    }
    return best;
}

static clv_status make_degrees(clv_peeling *p) {
    p->degree = CLV_NEW(p->ctx, double, p->n);
    if (!p->degree) {
        return CLV_ENOMEM;
    }
    CLV_TRY(clv_affinity_degrees(p->affinity, p->degree, p->options->control.threads));
    CLV_TRY(clv_affinity_diagonal(p->affinity, p->work));
    for (int64_t i = 0; i < p->n; i++) {
        p->degree[i] -= p->work[i];
        if (!(fabs(p->degree[i]) <= LARGEST_SUM)) {
            return clv_fail(p->ctx, CLV_EDATA, "the similarities of object %lld add up to %g; %g is the most allowed",
                            (long long)i + 1, p->degree[i], LARGEST_SUM);
        }
    }
    return CLV_OK;
}

/* Sums of similarities to a sample of the active objects, into p->work. */
static clv_status sample_degrees(clv_peeling *p) {
    int64_t objects[SAMPLE];
    double ones[SAMPLE];
    int64_t count = p->active_count < SAMPLE ? p->active_count : SAMPLE;
    clv_rng rng = clv_rng_stream((uint64_t)p->options->control.seed, SAMPLE_STREAM + (uint64_t)p->count);
    CLV_TRY(clv_sample_uniform(p->ctx, p->active, p->active_count, count, &rng, objects));
    for (int64_t t = 0; t < count; t++) {
        ones[t] = 1;
    }
    return clv_without_diagonal(p->affinity, objects, ones, count, p->work, p->options->control.threads);
}

static clv_status find_vertex(clv_peeling *p, int64_t *out) {
    if (has_exact_degrees(p)) {
        CLV_TRY(p->degree ? CLV_OK : make_degrees(p));
        *out = largest_active(p, p->degree);
    } else {
        CLV_TRY(sample_degrees(p));
        *out = largest_active(p, p->work);
    }
    return CLV_OK;
}

clv_status clv_peel_first(clv_peeling *p, clv_seed *out) {
    *out = (clv_seed){.kind = CLV_SEED_OBJECT};
    return find_vertex(p, &out->object);
}

bool clv_starts_at_center(const clv_dominant_options *options) {
    return strcmp(options->start, "center") == 0 ||
           (strcmp(options->start, "auto") == 0 && options->solver == CLV_DOMINANT_RD);
}

static clv_status choose_seed(clv_peeling *p, clv_seed *out) {
    const clv_dominant_options *options = p->options;
    bool first = p->count == 0;
    *out = (clv_seed){.kind = CLV_SEED_OBJECT, .object = -1};
    if (first && p->start_weights) {
        *out = (clv_seed){.kind = CLV_SEED_WEIGHTS, .weights = p->start_weights, .object = -1};
    } else if (first && options->start_object >= 0) {
        out->object = options->start_object;
    } else if (clv_starts_at_center(options)) {
        out->kind = CLV_SEED_CENTER;
    } else if (strcmp(options->start, "random") == 0) {
        out->kind = CLV_SEED_RANDOM;
    } else {
        return find_vertex(p, &out->object);
    }
    return CLV_OK;
}

/* --- labels, and taking off --- */

clv_status clv_peel_product(clv_peeling *p, const clv_dominant_set *set) {
    return clv_without_diagonal(p->affinity, set->objects, set->weights, set->count, p->work,
                                p->options->control.threads);
}

clv_status clv_peel_label(clv_peeling *p, const clv_dominant_set *set, int32_t c) {
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    for (int64_t t = 0; t < set->count; t++) {
        int64_t i = set->objects[t];
        if (set->weights[t] > cutoff && p->labels[i] < 0) {
            p->labels[i] = c;
        }
    }
    if (p->options->absorb > 0) {
        CLV_TRY(clv_peel_product(p, set));
        for (int64_t t = 0; t < p->active_count; t++) {
            int64_t i = p->active[t];
            if (p->labels[i] < 0 && p->work[i] >= p->options->absorb * set->about.similarity * (1 - TIE)) {
                p->labels[i] = c;
            }
        }
    }
    return CLV_OK;
}

int64_t clv_peel_shared(const clv_peeling *p, const clv_dominant_set *set) {
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    int64_t shared = 0;
    for (int64_t t = 0; t < set->count; t++) {
        shared += set->weights[t] > cutoff && p->labels[set->objects[t]] >= 0;
    }
    return shared;
}

void clv_peel_off(clv_peeling *p) {
    int64_t left = 0;
    for (int64_t t = 0; t < p->active_count; t++) {
        int64_t i = p->active[t];
        p->gone[i] = p->labels[i] >= 0;
        p->active[left] = i;
        left += !p->gone[i];
    }
    p->active_count = left;
}

/* The similarities to objects that have just got a label no longer count. */
static clv_status reduce_degrees(clv_peeling *p) {
    int64_t count = 0;
    int64_t *objects = CLV_NEW(p->ctx, int64_t, p->active_count);
    double *weights = CLV_NEW(p->ctx, double, p->active_count);
    clv_status status = objects && weights ? CLV_OK : CLV_ENOMEM;
    for (int64_t t = 0; status == CLV_OK && t < p->active_count; t++) {
        if (p->labels[p->active[t]] >= 0) {
            objects[count] = p->active[t];
            weights[count++] = -1;
        }
    }
    if (status == CLV_OK) {
        status = clv_affinity_combine(p->affinity, objects, weights, count, p->work, p->options->control.threads);
    }
    for (int64_t i = 0; status == CLV_OK && i < p->n; i++) {
        p->degree[i] += p->work[i];
    }
    clv_free(p->ctx, objects);
    clv_free(p->ctx, weights);
    return status;
}

clv_status clv_peel_take_off(clv_peeling *p) {
    if (p->degree) {
        CLV_TRY(reduce_degrees(p));
    }
    clv_peel_off(p);
    return CLV_OK;
}

/* --- limits --- */

static bool wants_more(const clv_peeling *p) {
    return p->active_count > 1 && (p->options->k == 0 || p->count < p->options->k) && p->stop == CLV_CONVERGED;
}

/* A limit that holds for all of the run ends the peeling, after the cluster that it cut short. */
void clv_peel_note(clv_peeling *p, clv_stop stop) {
    if (p->stop != CLV_CANCELLED && (stop == CLV_TIME_LIMIT || stop == CLV_CANCELLED)) {
        p->stop = stop;
    }
}

/* What a limit cut short before its second object is a result still, if it is all there is. */
bool clv_peel_accepts(const clv_peeling *p, const clv_dominant_set *set) {
    bool cut = set->about.stop != CLV_CONVERGED && set->about.stop != CLV_STALLED;
    if (p->count == 0 && cut && set->about.size > 0) {
        return true;
    }
    return set->about.similarity > clv_dominant_rounding(p->affinity) && set->about.size > 0 &&
           set->about.size >= p->options->min_size && set->about.similarity >= p->options->min_cohesiveness;
}

clv_status clv_peel_room(clv_peeling *p, int64_t more) {
    if (p->count + more > p->capacity) {
        int64_t capacity = 2 * p->capacity + more + 8;
        clv_dominant_set *grown = clv_resize(p->ctx, p->sets, capacity, sizeof *grown);
        if (!grown) {
            return CLV_ENOMEM;
        }
        p->sets = grown;
        p->capacity = capacity;
    }
    return CLV_OK;
}

/* --- one by one --- */

static clv_status search(clv_peeling *p, const clv_seed *seed, clv_dominant_set *out) {
    clv_dominant_problem problem = clv_peel_problem(p);
    clv_control control = clv_control_for(&p->options->control, seed->kind != CLV_SEED_RANDOM);
    problem.seed = *seed;
    *out = (clv_dominant_set){0};
    CLV_TRY(clv_replicator_decide(&problem));
    clv_status status = clv_dominant_single(&problem, &control, out);
    if (status < 0) {
        clv_dominant_set_free(p->ctx, out);
    }
    return status;
}

/* The active object with the largest sum of similarities, added up anew from columns: sums that objects were taken off
 * from have lost what is small beside those, and a sample misses objects. -1: no sum is above 0, or too many objects
 * are left. */
static clv_status find_vertex_anew(clv_peeling *p, int64_t *out) {
    double most = 0;
    *out = -1;
    for (int64_t t = 0; t < p->active_count && p->active_count <= EXACT_OBJECTS; t++) {
        int64_t i = p->active[t];
        double sum = 0;
        CLV_TRY(clv_affinity_column(p->affinity, i, p->work));
        for (int64_t u = 0; u < p->active_count; u++) {
            sum += u == t ? 0 : p->work[p->active[u]];
        }
        *out = sum > most ? i : *out;
        most = fmax(sum, most);
    }
    return CLV_OK;
}

/* A start that is similar to nothing says nothing of the others: once more from where there is something. */
static clv_status search_again(clv_peeling *p, clv_dominant_set *set) {
    clv_seed seed = {.kind = CLV_SEED_CENTER, .object = -1};
    clv_dominant_set_free(p->ctx, set);
    if (p->options->solver != CLV_DOMINANT_RD) {
        seed.kind = CLV_SEED_OBJECT;
        CLV_TRY(find_vertex(p, &seed.object));
    }
    return search(p, &seed, set);
}

/* Nor does the best one by sums that are not exact. */
static clv_status search_anew(clv_peeling *p, clv_dominant_set *set) {
    clv_seed seed = {.kind = CLV_SEED_OBJECT};
    clv_status status = find_vertex_anew(p, &seed.object);
    if (status == CLV_OK && seed.object < 0) {
        return CLV_OK;
    }
    clv_dominant_set_free(p->ctx, set);
    CLV_TRY(status);
    return search(p, &seed, set);
}

/* Whether the search ended where nothing is similar. */
static bool found_nothing(const clv_peeling *p, const clv_dominant_set *set) {
    return set->about.similarity <= 0 && !clv_peel_accepts(p, set);
}

/* Members get their label, and are taken off by the caller. Not to be interrupted: a set without its label is lost. */
clv_status clv_peel_keep(clv_peeling *p, int64_t pass) {
    clv_dominant_set *set = &p->sets[p->count];
    clv_peel_note(p, set->about.stop);
    set->about.pass = pass;
    p->count++;
    clv_set_patient(p->ctx, true);
    clv_status status = clv_peel_label(p, set, (int32_t)(p->count - 1));
    clv_set_patient(p->ctx, false);
    return status;
}

static clv_status peel_from(clv_peeling *p, const clv_seed *seed, bool sure) {
    CLV_TRY(clv_peel_room(p, 1));
    clv_dominant_set *set = &p->sets[p->count];
    CLV_TRY(search(p, seed, set));
    bool everywhere = seed->kind == CLV_SEED_CENTER;
    if (!sure && found_nothing(p, set)) {
        CLV_TRY(search_again(p, set));
        everywhere = p->options->solver == CLV_DOMINANT_RD;
    }
    if (!everywhere && found_nothing(p, set)) {
        CLV_TRY(search_anew(p, set));
    }
    if (!clv_peel_accepts(p, set)) {
        clv_peel_note(p, set->about.stop);
        clv_dominant_set_free(p->ctx, set);
        p->active_count = 0; /* the rest is left out */
        return CLV_OK;
    }
    CLV_TRY(clv_peel_keep(p, p->options->multistart > 0 ? p->passes : p->count));
    return clv_peel_take_off(p);
}

static clv_status peel_one(clv_peeling *p) {
    clv_seed seed;
    CLV_TRY(choose_seed(p, &seed));
    bool given = p->count == 0 && (p->options->start_object >= 0 || p->start_weights);
    return peel_from(p, &seed, seed.kind != CLV_SEED_RANDOM && !given);
}

clv_status clv_peel_vertex(clv_peeling *p) {
    clv_seed seed = {.kind = CLV_SEED_OBJECT};
    CLV_TRY(find_vertex(p, &seed.object));
    return peel_from(p, &seed, true);
}

/* --- all --- */

clv_status clv_peel(clv_peeling *p) {
    if (has_exact_degrees(p) && !p->degree) {
        CLV_TRY(make_degrees(p));
    }
    while (wants_more(p)) {
        clv_status status = p->options->multistart > 0 ? clv_peel_pass(p) : peel_one(p);
        if (clv_is_stop(status) && p->count > 0) {
            clv_peel_note(p, clv_stop_of(status));
            return CLV_OK;
        }
        CLV_TRY(status);
    }
    return CLV_OK;
}
