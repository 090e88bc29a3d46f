/* dominant as a method: what it takes, gives and proves. */
#include "methods/dominant/dominant.h"

#include <math.h>
#include <string.h>

#define T clv_dominant_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, "all", "N", "at most N clusters are peeled off"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_DOMINANT_PFW, "fw|pfw|afw|rd", "how a start is improved"),
    CLV_OPT_TEXT(T, start, "start", "auto", "NAME|FILE", "vertex, center, random, or a file of weights"),
    CLV_OPT_REAL(T, shift, "shift", NAN, 0, 1e100, "auto", "A",
                 "added to all similarities but the diagonal; auto: clusters of about n / k, 0 without k"),
    CLV_OPT_REAL(T, cutoff, "cutoff", NAN, 0, 1, "auto", "D", "objects with more weight than D are members"),
    CLV_OPT_INT(T, min_size, "min-size", 0, 1, 1, 0x1p31 - 1, NULL, "N",
                "peeling ends at a cluster with fewer members"),
    CLV_OPT_REAL(T, min_cohesiveness, "min-cohesiveness", 0, 0, 1e100, NULL, "C",
                 "peeling ends at a cluster with a smaller x'Ax"),
    CLV_OPT_FLAG(T, assign, "assign", NULL, 0, "give objects left out to the cluster they are most similar to"),
    CLV_OPT_REAL(T, absorb, "absorb", 0, 0, 1e100, "none", "THETA",
                 "a cluster also takes the objects with (Ax)_i >= THETA x'Ax"),
    CLV_OPT_FLAG(T, face_solve, "face-solve", NULL, 1, "jump to the stationary point once the support has settled"),
    CLV_OPT_INT(T, multistart, "multistart", 0, 0, 1, 0x1p31 - 1, "none", "N",
                "starts per pass of peeling; a pass can find several clusters"),
    CLV_OPT_CHOICE(T, sampling, "sampling", CLV_DOMINANT_UNIFORM, "uniform|dpp", "how those starts are drawn"),
    CLV_OPT_REAL(T, overlap, "overlap", 10, 0, 100, NULL, "P",
                 "percent of its members that such a cluster may share with better ones"),
    CLV_OPT_INT(T, start_object, "start-object", 0, -1, -1, 0x1p31 - 1, NULL, "I",
                "the first cluster starts at this object, from 0; -1: none"),
    CLV_OPT_REAL(T, change, "change", 0, 0, 2, NULL, "E",
                 "a set is done also where a step moves x by at most E (2-norm); 0: never"),
};
static const clv_option_table table = {"dominant", options, CLV_COUNT(options), sizeof(T)};
#undef T

/* How far the numbers of a cluster may differ: the scale of the similarities is the user's. */
#define CLOSE 1e-9

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the cluster of each object; -1: none"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = "column c holds the weights of cluster c"},
    {"clusters.size", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = "members found, before any later assignment"},
    {"clusters.cohesiveness", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN, "the objective of the cluster"},
    {"clusters.certificate", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN, "its Frank-Wolfe gap"},
    {"clusters.iterations", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that found it"},
    {"clusters.stop", CLV_FIELD_TEXT, "k", CLV_ANSWER, .help = "why they ended"},
    {"clusters.similarity", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN,
     "x'Ax: the mean similarity inside, without any shift"},
    {"clusters.drops", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that took an object out of the support"},
    {"clusters.swaps", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that put another object in its place"},
    {"clusters.prototype", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = "the heaviest object"},
    {"clusters.pass", CLV_FIELD_INTEGER, "k", CLV_ANSWER,
     .help = "of peeling, from 0; the clusters of a pass were found on the same objects"},
    {"passes", CLV_FIELD_INTEGER, "", CLV_ANSWER, .help = "passes of peeling, of multi-start"},
    {"shift", CLV_FIELD_REAL, "", CLV_ANSWER, .help = "the one that suits k clusters, where none was given"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

/* How many objects' similarities are looked at, about; the replicator dynamics and equal weights look at all. */
static int64_t looks_at(const clv_dominant_options *options) {
    enum { PER_SET = 1000 }; /* at most, usually */
    bool multistart = options->multistart > 1;
    bool all = options->solver == CLV_DOMINANT_RD || (!multistart && strcmp(options->start, "center") == 0);
    int64_t searches, looks;
    bool known =
        clv_mul(options->k, multistart ? options->multistart : 1, &searches) && clv_mul(searches, PER_SET, &looks);
    return known && !all ? looks : 0;
}

/* No object is similar to itself; with a shift, similarities may lie below 0. */
static clv_status suit(clv_context *ctx, const clv_matrix *points, const void *chosen, clv_affinity_options *how) {
    const clv_dominant_options *options = chosen;
    (void)points;
    CLV_TRY(clv_dominant_check_landmarks(ctx, how->landmarks));
    how->zero_diagonal = 1;
    how->least = isnan(options->shift) ? 0 : -options->shift;
    how->looks = looks_at(options);
    return CLV_OK;
}

const clv_method clv_dominant_method = {
    .name = "dominant",
    .summary = "dominant sets by Frank-Wolfe",
    .about = "Finds clusters one after the other, each a dominant set: weights x on the objects at which the mean\n"
             "similarity x'Ax inside has a local maximum. The objects of a set are peeled off, and the\n"
             "next one is looked for among the rest; objects in no cluster get the label -1. The certificate is\n"
             "the Frank-Wolfe gap: 0 where no object outside is more similar to a cluster than its members are.\n"
             "--shift makes clusters larger: a group of m objects of similarity w holds while shift < w (m - 1).\n"
             "With -k N it is found such that clusters have about n / N members, unless it is given.\n",
    .examples = "  cleave dominant points.csv -k 3 --assign\n"
                "  cleave dominant similarity.npy --affinity precomputed -k 5 --membership x.npy --json result.json\n"
                "  cleave dominant points.npy -k 4 --affinity distance --shift 15 --multistart 4 --sampling dpp\n"
                "  cleave dominant points.csv -k 3 -o labels.csv --predict new.csv --predict-output y.csv\n",
    .takes = CLV_TAKES_AFFINITY,
    .abilities = CLV_STARTS_GIVEN | CLV_CHECKPOINTS | CLV_SPREADS,
    .starts = "auto|vertex|center|random",
    .start_holds = "weights",
    .options = &table,
    .k_meaning = CLV_K_AT_MOST,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels",
    .objective = "cohesiveness",
    .maximize = 1,
    .certificate = "frank-wolfe-gap",
    .holds = "Proved: a stationary point, no shift of weight can improve the objective at first order.",
    .open = "Not stationary yet: some shift of weight would improve the objective.",
    .relative = 1,
    .check = clv_dominant_check,
    .suit = suit,
    .memory = clv_dominant_bytes,
    .solve = clv_dominant_solve,
    .evaluate = clv_dominant_evaluate_answer,
    .predict = clv_dominant_predict_fresh,
};
