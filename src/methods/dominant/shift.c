/* The shift that suits k clusters, `--shift auto`: the one at which the first of them has about its share of the n
 * objects. Sets grow with the shift, from a few near duplicates at 0 to all objects at n similarities or more, so it is
 * found by a search on the logarithms of shift and size, whose relation is almost a line. A trial is one dominant set
 * from the object with the largest sum of similarities, solved loosely: its size is wanted, not its weights. */
#include "methods/dominant/dominant.h"

#include <math.h>

enum { TRIALS = 12, LARGEST = 1200, STEPS_A_MEMBER = 20, STEPS = 1000 };
#define ENOUGH 0.7   /* of n / k: a set as large as this without a shift needs none if it is a group apart: */
#define NEARLY 0.95  /* as similar to it as this, of what its members are, */
#define FEW 0.2      /* are at most so many others, of its size */
#define NEAR 0.1     /* how far the logarithm of a size may lie from that of the one wanted */
#define BEYOND 0.4   /* and how far above it at most: half again as many, or groups would be merged */
#define LOOSE 1e-3   /* the tolerance of a trial */
#define MANY 0.1     /* objects in no cluster, of all, that are told of where clusters may be no larger */
#define WIDER 1.3863 /* log 4: from one trial to the next, while all sets are too small, or all too large */

static clv_status solve_loosely(const clv_peeling *p, const clv_seed *seed, double shift, double wanted,
                                clv_dominant_set *out) {
    clv_dominant_options options = *p->options;
    clv_dominant_problem problem = clv_peel_problem(p);
    options.shift = shift;
    options.solver = CLV_DOMINANT_PFW;
    options.cutoff = NAN;
    clv_control control = clv_control_for(&options.control, true);
    control.max_iter = (int64_t)(STEPS_A_MEMBER * wanted) + STEPS; /* whatever the run's, which may grow on a resume */
    control.keep_trace = 0;
    problem.options = &options;
    problem.tol = LOOSE;
    problem.seed = *seed;
    problem.compact = false;
    *out = (clv_dominant_set){0};
    return clv_dominant_single(&problem, &control, out);
}

static clv_status try_shift(const clv_peeling *p, const clv_seed *seed, double shift, double wanted, clv_cluster *out) {
    clv_dominant_set set;
    clv_status status = solve_loosely(p, seed, shift, wanted, &set);
    *out = set.about;
    clv_dominant_set_free(p->ctx, &set);
    return status;
}

/* Whether hardly any object outside of a set is nearly as similar to it as its members are. */
static clv_status find_whole(clv_peeling *p, const clv_dominant_set *set, bool *out) {
    int64_t near = 0;
    CLV_TRY(clv_peel_product(p, set));
    for (int64_t i = 0; i < p->n; i++) {
        near += p->work[i] >= NEARLY * set->about.similarity;
    }
    *out = (double)(near - set->about.size) <= FEW * (double)set->about.size;
    return CLV_OK;
}

static bool is_cut(const clv_cluster *set) {
    return set->stop == CLV_TIME_LIMIT || set->stop == CLV_CANCELLED;
}

/* A shift and the size of the set at it, as logarithms. */
typedef struct trial {
    double shift, size;
} trial;

/* Where the line through trials on both sides of the size wanted meets it, but not too near to either of them. */
static double next_shift(const trial *below, const trial *above, double wanted) {
    if (isnan(above->shift) || isnan(below->shift)) {
        return isnan(above->shift) ? below->shift + WIDER : above->shift - WIDER;
    }
    double share = (wanted - below->size) / (above->size - below->size);
    return below->shift + fmin(fmax(share, 0.15), 0.85) * (above->shift - below->shift);
}

/* From a first guess. Sizes may jump past the one that is wanted: the nearest counts, if it is not far above. */
static clv_status search(const clv_peeling *p, const clv_seed *seed, double guess, double wanted, double *out) {
    trial below = {NAN, NAN}, above = {NAN, NAN};
    double shift = log(guess), goal = log(wanted), nearest = HUGE_VAL;
    for (int t = 0; t < TRIALS && nearest > NEAR; t++) {
        clv_cluster set;
        CLV_TRY(try_shift(p, seed, exp(shift), wanted, &set));
        if (is_cut(&set)) {
            return CLV_OK;
        }
        double size = log((double)set.size), miss = fabs(size - goal);
        if (miss < nearest && size <= goal + BEYOND) {
            *out = exp(shift);
            nearest = miss;
        }
        *(size < goal ? &below : &above) = (trial){shift, size};
        shift = next_shift(&below, &above, goal);
    }
    return CLV_OK;
}

clv_status clv_dominant_find_shift(clv_peeling *p, double *out) {
    double wanted = fmin((double)p->n / (double)p->options->k, LARGEST);
    clv_seed seed;
    clv_dominant_set plain;
    bool enough = false;
    *out = 0;
    if (p->options->k < 2) {
        return CLV_OK;
    }
    CLV_TRY(clv_peel_first(p, &seed));
    clv_status status = solve_loosely(p, &seed, 0, wanted, &plain);
    clv_cluster about = plain.about;
    if (status == CLV_OK && (double)about.size >= ENOUGH * wanted) {
        enough = wanted == LARGEST; /* a part of a group is all that is wanted */
        status = enough ? CLV_OK : find_whole(p, &plain, &enough);
    }
    clv_dominant_set_free(p->ctx, &plain);
    CLV_TRY(status);
    enough = enough || about.size < 2 || !(about.similarity > 0);
    /* A part of a group is large already at a small shift, and at a larger one much too large to be a trial. */
    double guess = about.similarity * (wanted == LARGEST ? 1 : wanted / 4);
    return enough || is_cut(&about) ? CLV_OK : search(p, &seed, guess, wanted, out);
}

clv_status clv_dominant_warn_of_cores(const clv_peeling *p, clv_result *result) {
    bool capped = p->shift_found && p->options->k > 1 && p->n / p->options->k > LARGEST;
    return capped && (double)result->left_out > MANY * (double)p->n
               ? clv_result_warn(
                     result,
                     "--shift auto looks for clusters of at most %d members, and n / k is %lld: these are the cores of "
                     "larger ones, and %lld of %lld objects are in none; try --assign, or a --shift above %.3g",
                     LARGEST, (long long)(p->n / p->options->k), (long long)result->left_out, (long long)p->n,
                     p->options->shift)
               : CLV_OK;
}

double clv_dominant_shift(const clv_dominant_options *options, const clv_result *result) {
    return isnan(options->shift) ? clv_result_real(result, "shift", 0) : options->shift;
}
