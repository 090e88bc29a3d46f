/* ncut as a method: what it takes, gives and proves. */
#include "methods/ncut/ncut.h"

#define T clv_ncut_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, "auto", "N|LOW:HIGH",
                "the number of clusters; of a range, or auto (2:12), the one that its table suggests"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_NCUT_FPC, "fpc|spectral|finc|fcd|dinkelbach|finc-at-once",
                   "how a start is improved; dinkelbach: k = 2"),
    CLV_OPT_TEXT(T, start, "start", "auto", "NAME|FILE", "random, spectral, kmeans++, or a file of labels"),
    CLV_OPT_CHOICE(T, rounding, "rounding", CLV_NCUT_KMEANS, "kmeans|rotation",
                   "how eigenvectors are turned into labels"),
    CLV_OPT_FLAG(T, polish, "polish", NULL, 1, "go on until no single move lowers the cut, then search"),
    {.name = "patience",
     .kind = CLV_OPTION_INT,
     .offset = offsetof(T, patience),
     .initial = 100,
     .most = 1e15,
     .word = "none",
     .word_value = -1,
     .meta = "N",
     .help = "the search ends after N kicks in a row without gain; none: at a limit"},
    CLV_OPT_CHOICE(T, shift, "shift", CLV_NCUT_SHIFT_NONE, "none|paper|tight", "makes an indefinite affinity definite"),
    CLV_OPT_CHOICE(T, bound, "bound", CLV_NCUT_BOUND_AUTO, "auto|yes|no",
                   "the eigenvalue bound; auto: not where entries are computed on demand"),
};
static const clv_option_table table = {"ncut", options, CLV_COUNT(options), sizeof(T)};
#undef T

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the cluster of each object; -1: similar to nothing"},
    {"components", CLV_FIELD_INTEGER, "", CLV_DERIVED, .help = "connected components of the graph"},
    {"shift", CLV_FIELD_REAL, "", CLV_ANSWER,
     .help = "alpha of formula (29) of the FPC paper, where one was asked for"},
    {"eigenvalues", CLV_FIELD_REAL, "eigenvalues", CLV_ANSWER,
     .help = "of the normalized affinity, largest first: what the bound comes from"},
    {"k_alternatives.k", CLV_FIELD_INTEGER, "alternatives", CLV_DERIVED, .help = "numbers of clusters, for k = auto"},
    {"k_alternatives.gap", CLV_FIELD_REAL, "alternatives", CLV_DERIVED, 1e-9, CLV_UNIT_ONE,
     "the eigenvalue gap that speaks for each"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

const clv_method clv_ncut_method = {
    .name = "ncut",
    .summary = "normalized cut by fractional programming",
    .about = "Splits the objects into k clusters that cut little of the similarity between them: it minimizes\n"
             "1/2 sum over clusters of cut(cluster, rest) / volume(cluster). The certificate\n"
             "says whether moving any one object could make it smaller.\n",
    .examples = "  cleave ncut points.csv -k 3\n"
                "  cleave ncut points.npy -k 3 --scale standard --restarts 20 -o labels.npy --truth y.npy\n"
                "  cleave ncut graph.mtx -k 5 --affinity precomputed --json result.json --report result.html\n"
                "  cleave ncut points.csv -k 3 -o labels.csv --predict new.csv --predict-output new-labels.csv\n",
    .takes = CLV_TAKES_AFFINITY,
    .abilities = CLV_STARTS_GIVEN | CLV_CHECKPOINTS | CLV_SPREADS,
    .starts = "auto|random|spectral|kmeans++",
    .start_holds = "labels",
    .options = &table,
    .k_meaning = CLV_K_CLUSTERS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels",
    .objective = "ncut",
    .certificate = "one-move-gain",
    .holds = "Proved: no single object can be moved to another cluster to lower the cut.",
    .open = "Not optimal: some object can be moved to another cluster to lower the cut.",
    .bound = "eigenvalue",
    .choose = clv_ncut_choose,
    .memory = clv_ncut_bytes,
    .solve = clv_ncut_solve,
    .evaluate = clv_ncut_evaluate_answer,
    .predict = clv_ncut_predict_fresh,
};
