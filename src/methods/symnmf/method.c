/* symnmf as a method: what it takes, gives and proves. */
#include "methods/symnmf/symnmf.h"

#include <math.h>

#define T clv_symnmf_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N|LOW:HIGH",
                "the number of clusters; of a range, or auto (2:12), the one that its table suggests"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_SYMNMF_AUTO, "rows|fw|pairwise|pgd|spg|penalty|auto",
                   "the algorithm; auto: spg for 100,000 objects or more on a card, from one start; else rows"),
    CLV_OPT_TEXT(T, start, "start", "spectral", "NAME|FILE",
                 "spectral, random, kmeans++, or a file of labels or memberships"),
    CLV_OPT_CHOICE(T, step, "step", CLV_SYMNMF_EXACT, "curvature|exact", "how long the steps of fw are"),
    CLV_OPT_INT(T, moves, "moves", 0, 0, 0, 1e9, "auto", "N",
                "pairwise moves per row (solver rows); auto: 10, or k / 2 if that is more"),
    CLV_OPT_REAL(
        T, change, "change", 0, 0, 1e300, NULL, "E",
        "end also where f changes by less than E in an iteration; the paper's rule is 1e-3 with --max-iter 50"),
    CLV_OPT_REAL(T, sum_weight, "sum-weight", 1, 1e-6, 1e6, NULL, "M",
                 "penalty: the first weight of rows that do not add up to 1, doubled in each iteration"),
    CLV_OPT_REAL(T, sign_weight, "sign-weight", 1, 1e-6, 1e6, NULL, "M",
                 "penalty: the first weight of negative memberships, doubled in each iteration"),
};
static const clv_option_table table = {"symnmf", options, CLV_COUNT(options), sizeof(T)};
#undef T

/* How far numbers may differ that were computed from the same memberships. */
#define ROUNDING 1e-8

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the largest membership of each object"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = "memberships, rows that add up to 1"},
    {"start_taken", CLV_FIELD_TEXT, "", CLV_STATED,
     .help = "the start used: kmeans++ where a spectral one was not found in time"},
    {"residual", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "|P - W W'| / |P|, Frobenius norms"},
    {"mean_similarity", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_OWN,
     "over all pairs; that of W W' is at least 1 / k"},
    {"variation", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "1 - (sum of P)^2 / (n^2 sum of P^2): 0 when all similarities are equal"},
    {"expected_sizes", CLV_FIELD_REAL, "k", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "the sums of the memberships"},
    {"entropy", CLV_FIELD_REAL, "n", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "of the memberships of an object, in nats; 0: certain"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

/* gamma that nobody gave: the one at which the mean similarity suits k. */
static clv_status suit(clv_context *ctx, const clv_matrix *points, const void *chosen, clv_affinity_options *how) {
    const clv_symnmf_options *symnmf = chosen;
    if (!clv_kind_of(how->kind)->has_gamma || !isnan(how->gamma)) {
        return CLV_OK;
    }
    return clv_affinity_calibrate(ctx, points, how, clv_symnmf_mean(symnmf->k), &how->gamma);
}

const clv_method clv_symnmf_method = {
    .name = "symnmf",
    .summary = "simplicial symmetric NMF (soft clusters)",
    .about = "Gives every object probabilities of belonging to k clusters, such that the probability that two\n"
             "objects belong together is close to their similarity: 1/4 |P - W W'|^2 is minimized over matrices W\n"
             "with rows on the simplex. The certificate is the Frank-Wolfe gap, 0 exactly at KKT points.\n"
             "--gamma auto makes the mean similarity 0.8 / k, at which memberships in k clusters differ most.\n",
    .examples = "  cleave symnmf points.csv -k 3 --scale standard\n"
                "  cleave symnmf points.npy -k 10 --scale standard --membership w.npy -o labels.npy --truth y.npy\n"
                "  cleave symnmf points.npy -k 10 --solver fw --step curvature --start random --trace fw.csv\n"
                "  cleave symnmf points.csv -k 3 --predict new.csv --predict-membership new-w.csv\n",
    .takes = CLV_TAKES_AFFINITY,
    .abilities = CLV_STARTS_GIVEN | CLV_CHECKPOINTS | CLV_SPREADS,
    .starts = "spectral|random|kmeans++",
    .start_holds = "labels or memberships",
    .options = &table,
    .k_meaning = CLV_K_CLUSTERS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels|membership",
    .objective = "symnmf",
    .certificate = "frank-wolfe-gap",
    .holds = "Proved: a stationary point, no change of memberships can improve the objective at first order.",
    .open = "Not stationary yet: some change of memberships would improve the objective.",
    .relative = 1,
    .suit = suit,
    .memory = clv_symnmf_bytes,
    .solve = clv_symnmf_solve,
    .evaluate = clv_symnmf_evaluate_answer,
    .predict = clv_symnmf_predict_fresh,
};
