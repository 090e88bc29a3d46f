/* kpalm as a method: what it takes, gives and proves. */
#include "methods/kpalm/kpalm.h"

#include <math.h>

/* Squares and sums of larger numbers could not be held. */
#define LARGEST 1e100
/* Steps that are shorter lead nowhere. */
#define LARGEST_GAMMA 1e6

#define T clv_kpalm_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N|LOW:HIGH",
                "the number of clusters; of a range, or auto (2:12), the one that its table suggests"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_KPALM_KPALM, "kpalm|lloyd|weiszfeld",
                   "the algorithm; lloyd: k-means, weiszfeld: k-median"),
    CLV_OPT_CHOICE(T, norm, "norm", CLV_KPALM_NORM_AUTO, "auto|squared|euclidean",
                   "the norm of the distances; auto: euclidean for weiszfeld, else squared"),
    CLV_OPT_TEXT(
        T, start, "start", "auto", "NAME|FILE",
        "random, kmeans++, greedy++, d1++, kmeans-parallel, or a file of centers; auto: greedy++, for euclidean d1++"),
    CLV_OPT_CHOICE(T, initial_membership, "initial-membership", CLV_KPALM_UNIFORM, "uniform|nearest|dirichlet",
                   "the memberships that kpalm starts from"),
    CLV_OPT_CHOICE(T, schedule, "alpha-schedule", CLV_KPALM_GEOMETRIC, "constant|harmonic|geometric",
                   "alpha in iteration t: alpha(0), alpha(0) / (t + 1) or alpha(0) / 2^t"),
    CLV_OPT_REAL(T, alpha, "alpha", NAN, 0, LARGEST, "auto", "A",
                 "alpha(0) in its unit; auto: 3 (3 / k)^(1/2) if effective, 3 if variance, else 1"),
    CLV_OPT_CHOICE(T, alpha_unit, "alpha-unit", CLV_KPALM_UNIT_AUTO, "auto|effective|variance|diameter|one",
                   "effective: k V', variance: k V, one: 1; auto: effective, for euclidean diameter"),
    CLV_OPT_REAL(
        T, epsilon, "epsilon", NAN, 0, LARGEST, "auto", "E",
        "smoothing of euclidean distances; auto: 0.05, for weiszfeld 0.001, of the diameter or of 3 median distances, "
        "whichever is less"),
    CLV_OPT_FLAG(T, polish, "polish", NULL, 1, "kpalm, squared: go on until moving no single object lowers sigma"),
    CLV_OPT_CHOICE(T, empty, "empty", CLV_KPALM_EMPTY_AUTO, "auto|keep|reseed",
                   "centers without objects stay (except in the polish), or move to a far object; auto: they move, but "
                   "stay in kpalm"),
    CLV_OPT_TEXT(T, object_alpha, "object-alpha", "same", "NAME|FILE",
                 "factors of alpha, one per object: same: 1, distance: by its mean distance to all, or a file of them"),
    CLV_OPT_TEXT(T, start_membership, "start-membership", NULL, "FILE",
                 "memberships that kpalm starts from, n x k, in place of --initial-membership"),
    CLV_OPT_REAL(T, gamma_w, "gamma-w", 1, 1, LARGEST_GAMMA, NULL, "G",
                 "kpalm: alpha is G times as large, as the first block of PALM"),
    CLV_OPT_REAL(T, gamma_x, "gamma-x", 1, 1, LARGEST_GAMMA, NULL, "G",
                 "kpalm: steps of centers are 1 / G as long, as the second block of PALM"),
    CLV_OPT_CHOICE(T, place, "home", CLV_KPALM_PLACE_AUTO, "auto|host|cuda",
                   "where iterations are computed; cuda: on a graphics card; auto: there if it pays"),
    CLV_OPT_BYTES(T, device_memory, "device-memory", "auto",
                  "memory budget on a graphics card (home cuda); auto: what is free there"),
};
static const clv_option_table table = {"kpalm", options, CLV_COUNT(options), sizeof(T)};
#undef T

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the cluster of each object"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER,
     .help = "memberships, where objects are left in several clusters"},
    {"centers", CLV_FIELD_MATRIX, "k x p", CLV_ANSWER, .help = "one center per cluster"},
    {"alpha", CLV_FIELD_REAL, "", CLV_DERIVED, 1e-9, CLV_UNIT_OWN, "alpha(0) as used"},
    {"alpha_least", CLV_FIELD_REAL, "", CLV_STATED, .help = "the least alpha(0) of an object, where they differ"},
    {"alpha_most", CLV_FIELD_REAL, "", CLV_STATED, .help = "the largest alpha(0) of an object, where they differ"},
    {"epsilon", CLV_FIELD_REAL, "", CLV_DERIVED, 1e-9, CLV_UNIT_OWN, "as used, in units of the data"},
    {"weighted", CLV_FIELD_INTEGER, "", CLV_ANSWER, .help = "1: the objects had sample weights"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

const clv_method clv_kpalm_method = {
    .name = "kpalm",
    .summary = "proximal alternating k-means / k-median",
    .about = "Places k centers so that the distances of the objects to their nearest one have a small sum: squared\n"
             "distances (k-means) or, with --norm euclidean, distances (k-median, less moved by outliers). Objects\n"
             "belong to several clusters at first, by memberships that sharpen as alpha falls, in the end to one. The\n"
             "certificate is the smallest subgradient: 0 at a critical point. --solver lloyd and weiszfeld are the\n"
             "classical iterations. A .npy file larger than --memory is mapped, not read.\n",
    .examples = "  cleave kpalm points.csv -k 3\n"
                "  cleave kpalm points.npy -k 100 --solver lloyd --start centers.npy --max-iter 20 --centers out.npy\n"
                "  cleave kpalm points.csv -k 3 --norm euclidean --restarts 10 --json result.json --report r.html\n"
                "  cleave kpalm points.csv -k 3 -o labels.csv --predict new.csv --predict-output new-labels.csv\n",
    .takes = CLV_TAKES_POINTS,
    .abilities = CLV_WEIGHS_OBJECTS | CLV_STARTS_GIVEN | CLV_READS_IN_ORDER | CLV_CHECKPOINTS | CLV_SPREADS,
    .starts = "auto|random|kmeans++|greedy++|d1++|" CLV_KMEANS_PARALLEL,
    .start_holds = "centers",
    .options = &table,
    .k_meaning = CLV_K_CLUSTERS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels",
    .objective = "sigma",
    .certificate = "subgradient",
    .holds = "Proved: a critical point, the smallest subgradient is 0 but for rounding.",
    .open = "Not critical yet: there is a direction in which the objective falls.",
    .relative = 1,
    .memory = clv_kpalm_bytes,
    .solve = clv_kpalm_solve,
    .evaluate = clv_kpalm_evaluate_answer,
    .predict = clv_kpalm_predict_fresh,
};
