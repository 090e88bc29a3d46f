/* k-FCFW, Algorithm 1 of Liu, Yuan, Zhang, Liu and Metaxas: fully corrective Frank-Wolfe.
 *
 * An iteration takes the gradient, the vertex u = -grad_k / (2 lambda) with v = ||u||^2 (over the
 * ball of a radius: of that length), and minimizes over the hull of all atoms (master.c).
 *
 * What goes beyond the paper:
 *   - Iterations run on a working set: the 3/2 k features of steepest gradient, and the support.
 *     Only when the gap there is small does a pass over all of X say how far the whole problem is
 *     from solved. --no-working-set: every iteration passes.
 *   - The hull bounds F from above, so that a correction can raise F itself; then the iterate
 *     before it becomes an atom, with its norm, and the correction is repeated: F never rises.
 *   - Atoms without weight for a while are dropped; features are screened out as the gap falls.
 * --atoms all leaves the last two out but for the screening; with --inner pqn --no-working-set
 * --no-screening it is the algorithm as published, and --inner-accuracy the epsilon of Remark 2.
 *
 * Cost: a pass over X an iteration, and k columns for the image of the new atom; the corrections
 * are O(samples t). */
#include "methods/ksupport/ksupport.h"

#include <math.h>
#include <string.h>

enum { LEAST_FEATURES = 512, MOST_INNER = 60, PATIENCE = 8 };

typedef struct fcfw {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    int threads;
    clv_atoms atoms;
    clv_list vertex, before;
    int64_t *top;           /* k */
    double *image, *margin; /* samples: of the new atom; of the iterate before */
    clv_working on;         /* of this step, or the last */
    int idle;               /* steps in a row without a decrease */
} fcfw;

static void fcfw_destroy(const clv_ks_problem *problem, void *state) {
    fcfw *run = state;
    if (run) {
        clv_atoms_free(&run->atoms);
        clv_working_free(&run->on);
        clv_list_free(problem->ctx, &run->vertex);
        clv_list_free(problem->ctx, &run->before);
    }
}

static clv_status fcfw_create(const clv_ks_problem *p, clv_ks_work *work, int threads, void **state) {
    fcfw *run = *state = CLV_TAKE(&work->room, fcfw, 1);
    CLV_TRY(work->room.status);
    *run = (fcfw){.problem = p, .work = work, .threads = threads};
    run->top = CLV_TAKE(&work->room, int64_t, p->k);
    run->image = CLV_TAKE(&work->room, double, p->x->samples);
    run->margin = CLV_TAKE(&work->room, double, p->x->samples);
    CLV_TRY(work->room.status);
    return clv_list_reserve(p->ctx, &run->vertex, p->k);
}

/* --- atoms --- */

/* The vertex from the largest entries themselves. */
static double scale_vertex(fcfw *run, const clv_list *top) {
    const clv_ks_problem *p = run->problem;
    double square = clv_list_square(top);
    double scale = p->radius > 0 ? (square > 0 ? -p->radius / sqrt(square) : 0) : -1 / (2 * p->lambda);
    run->vertex.count = top->count;
    for (int64_t i = 0; i < top->count; i++) {
        run->vertex.index[i] = top->index[i];
        run->vertex.value[i] = scale * top->value[i];
    }
    return scale * scale * square;
}

/* Fills the vertex from the k largest entries of a gradient; `list` says which features it is of. Returns v. */
static double set_vertex(fcfw *run, const clv_ksupport_set *set, const double *gradient, int64_t count,
                         const int64_t *list) {
    clv_list *u = &run->vertex;
    u->count = clv_ksupport_vertex(set, gradient, count, run->top);
    for (int64_t i = 0; i < u->count; i++) {
        u->index[i] = list ? list[run->top[i]] : run->top[i];
        u->value[i] = gradient[run->top[i]];
    }
    return scale_vertex(run, u);
}

/* The weights of the point become the sum of the atoms; its objective, at the margins of the point. */
static clv_status measure_sum(fcfw *run, clv_point *point) {
    const clv_list *sum = &run->atoms.sum;
    CLV_TRY(clv_list_pack(run->problem->ctx, &point->w, sum->value, sum->count, sum->index));
    return clv_point_measure(point);
}

/* What a correction may leave, as a share of the objective. */
static double inner_accuracy(const clv_ks_problem *p) {
    bool exact = p->options.inner == CLV_KSUPPORT_PROJECTED_NEWTON;
    return p->options.inner_accuracy > 0 ? p->options.inner_accuracy : (exact ? 1e-7 : 0.1) * p->tol;
}

/* Add the vertex and correct; unless all atoms are kept, as published, see to it that the objective does not rise. */
static clv_status correct(fcfw *run, clv_point *point, double square, const double *image) {
    bool published = run->problem->options.atoms == CLV_KSUPPORT_ALL;
    double value = point->value, before = point->square, accuracy = inner_accuracy(run->problem) * value;
    CLV_TRY(clv_list_copy(run->problem->ctx, &run->before, &point->w));
    memcpy(run->margin, point->margin, (size_t)run->problem->x->samples * sizeof *run->margin);
    CLV_TRY(clv_atoms_add(&run->atoms, &run->vertex, square, image));
    CLV_TRY(clv_master_solve(&run->atoms, accuracy, point->margin, &point->intercept));
    CLV_TRY(measure_sum(run, point));
    if (published) {
        return CLV_OK;
    }
    if (point->value > value && run->before.count > 0) {
        CLV_TRY(clv_atoms_add(&run->atoms, &run->before, before, run->margin));
        for (int64_t i = 0; i + 1 < run->atoms.count; i++) {
            run->atoms.weight[i] = 0;
        }
        run->atoms.weight[run->atoms.count - 1] = 1;
        CLV_TRY(clv_master_solve(&run->atoms, accuracy, point->margin, &point->intercept));
        CLV_TRY(measure_sum(run, point));
    }
    clv_atoms_prune(&run->atoms);
    return CLV_OK;
}

static clv_status fcfw_start(void *state, clv_point *point) {
    fcfw *run = state;
    clv_atoms_free(&run->atoms);
    run->atoms = (clv_atoms){.ctx = run->problem->ctx, .problem = run->problem, .work = run->work};
    run->idle = 0;
    if (point->w.count > 0) {
        CLV_TRY(clv_atoms_add(&run->atoms, &point->w, point->square, point->margin));
        run->atoms.weight[0] = 1;
    }
    return CLV_OK;
}

/* --- a step --- */

/* One iteration of Algorithm 1 on all features kept. */
static clv_status plain_step(fcfw *run, clv_point *point) {
    const clv_ks_problem *p = run->problem;
    if (p->x->does->steepest) {
        return correct(run, point, scale_vertex(run, &point->top), NULL);
    }
    const int64_t *list = point->kept < p->x->features ? point->keep : NULL;
    clv_list_add_to(&point->w, p->tau, list, point->kept, point->gradient);
    double square = set_vertex(run, &point->set, point->gradient, point->kept, list);
    return correct(run, point, square, NULL);
}

/* Iterations on a working set, until its gap is a small part of the whole one. Features that are rows of X are
 * multiplied where they are: to copy them takes as long as the few iterations. */
static clv_status working_steps(fcfw *run, clv_point *point, clv_working *on) {
    const clv_ks_problem *p = run->problem;
    bool in_place = clv_design_has_features_as_rows(p->x);
    CLV_TRY(in_place ? CLV_OK : clv_working_gather(point, on));
    const clv_design *x = in_place ? p->x : &on->x;
    const int64_t *all = in_place ? on->list : NULL, *top = in_place ? run->vertex.index : run->top;
    double goal = fmax(0.1 * point->gap, 0.25 * p->tol * point->value);
    for (int inner = 0; inner < MOST_INNER; inner++) {
        clv_list_add_to(&point->w, p->tau, on->list, on->count, on->gradient);
        double square = set_vertex(run, &on->set, on->gradient, on->count, on->list);
        x->does->margins(x, top, run->vertex.value, run->vertex.count, run->image);
        CLV_TRY(correct(run, point, square, run->image));
        x->does->gradient(x, point->slope, all, on->count, on->gradient, NULL);
        run->work->passes += (double)on->count / (double)p->x->features;
        double product = clv_dot(point->slope, point->margin, p->x->samples, p->loss.threads);
        double gap =
            clv_ks_gap(p, &on->set, on->gradient, on->list, on->count, &point->w, product, point->ridge, point->square);
        if (gap <= goal || clv_interrupted(p->ctx)) {
            break;
        }
    }
    return CLV_OK;
}

static clv_status fcfw_step(void *state, clv_point *point, clv_iterate *out) {
    fcfw *run = state;
    const clv_ks_problem *p = run->problem;
    clv_point_screen(point);
    int64_t wanted = 3 * p->k / 2 + point->w.count;
    wanted = wanted > LEAST_FEATURES ? wanted : LEAST_FEATURES;
    double before = point->value;
    if (p->options.working_set && p->x->does->gather && wanted < point->kept / 2) {
        CLV_TRY(clv_working_new(point, wanted, run->threads, &run->on));
        CLV_TRY(working_steps(run, point, &run->on));
    } else {
        CLV_TRY(plain_step(run, point));
    }
    CLV_TRY(clv_point_evaluate(point)); /* from the data: margins by atoms can be off by more than rounding */
    run->idle = point->value < before ? 0 : run->idle + 1;
    out->stalled = run->idle >= PATIENCE;
    return CLV_OK;
}

static clv_status fcfw_pass(void *state, clv_archive *archive) {
    fcfw *run = state;
    run->atoms.ctx = run->problem->ctx; /* of one that has not started yet */
    run->atoms.problem = run->problem;
    run->atoms.work = run->work;
    clv_pass_int(archive, &run->idle, 0, INT32_MAX / 2);
    return clv_atoms_pass(&run->atoms, archive);
}

const clv_ks_solver clv_ks_fcfw = {fcfw_create, fcfw_destroy, fcfw_start, fcfw_step, fcfw_pass};
