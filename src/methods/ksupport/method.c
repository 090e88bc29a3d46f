/* ksupport as a method: what it takes, gives and proves. */
#include "methods/ksupport/ksupport.h"

#include <string.h>

#define T clv_ksupport_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p32, "auto", "N",
                "the k of the norm: about how many weights are nonzero; auto: as --path lists"),
    CLV_OPT_CHOICE(T, loss, "loss", CLV_KSUPPORT_LOGISTIC, "logistic|squares", "classification or regression"),
    CLV_OPT_CHOICE(
        T, solver, "solver", CLV_KSUPPORT_AUTO, "fcfw|fista|admm|newton|auto",
        "the algorithm; auto: newton for up to 1024 features and at least as many samples, and for up to 4096 samples "
        "where k is 1, or at most a hundredth of up to 32768 features; else fcfw"),
    CLV_OPT_REAL(T, lambda, "lambda", 0.1, 1e-300, 1e300, NULL, "L", "weight of the squared k-support norm"),
    CLV_OPT_REAL(T, ridge, "ridge", 1e-3, 0, 1e300, NULL, "TAU", "weight of half the squared 2-norm"),
    CLV_OPT_REAL(T, radius, "radius", 0, 1e-300, 1e300, "none", "R", "bound the norm by R instead of penalizing it"),
    CLV_OPT_FLAG(T, intercept, "intercept", NULL, 0, "fit an intercept, which is not penalized"),
    CLV_OPT_CHOICE(T, prox, "prox", CLV_KSUPPORT_SELECT, "select|search|bisect|active|box",
                   "how fista and admm compute the proximity operator"),
    CLV_OPT_CHOICE(T, inner, "inner", CLV_KSUPPORT_PROJECTED_NEWTON, "newton|pqn|pairwise",
                   "how fcfw corrects the weights of its atoms"),
    CLV_OPT_REAL(T, inner_accuracy, "inner-accuracy", 0, 1e-300, 1, "auto", "E",
                 "how far from the least a correction may end, as a share of the objective; auto: a part of --tol"),
    CLV_OPT_CHOICE(T, atoms, "atoms", CLV_KSUPPORT_USED, "used|all",
                   "what fcfw corrects: the atoms in use, so that the objective never rises, or all, as published"),
    CLV_OPT_CHOICE(T, step, "step", CLV_KSUPPORT_BACKTRACKING, "backtracking|fixed", "the step size of fista"),
    CLV_OPT_CHOICE(T, momentum, "momentum", CLV_KSUPPORT_RESTARTED, "restarted|plain",
                   "of fista: begun anew where the objective rises, or never, as published"),
    CLV_OPT_REAL(T, rho, "rho", 0, 1e-300, 1e300, "auto", "R",
                 "the penalty of admm; auto: balanced between the residuals"),
    CLV_OPT_CHOICE(T, rule, "rule", CLV_KSUPPORT_GAP, "gap|change",
                   "what must fall below --tol: the duality gap, or the change of the objective"),
    CLV_OPT_FLAG(T, working_set, "working-set", NULL, 1,
                 "fcfw: iterate on the steepest features between passes over X"),
    CLV_OPT_FLAG(T, screening, "screening", NULL, 1, "drop features that cannot be in the solution"),
    CLV_OPT_FLAG(T, transposed, "transposed", NULL, 0, "X has one row per feature"),
    CLV_OPT_TEXT(T, start, "start", "zero", "zero|FILE", "weights to start from"),
    CLV_OPT_TEXT(T, path, "path", NULL, "K,..:L,..", "solve for every k and every lambda, and report the best of them"),
};
static const clv_option_table table = {"ksupport", options, CLV_COUNT(options), sizeof(T)};
#undef T

static const clv_field_info gives[] = {
    {"weights", CLV_FIELD_SPARSE, "models x p", CLV_ANSWER, .help = "one row of weights per model"},
    {"intercepts", CLV_FIELD_REAL, "models", CLV_ANSWER, .help = "one per model"},
    {"classes", CLV_FIELD_REAL, "classes", CLV_DERIVED,
     .help = "values of y that the models tell apart, ascending; of two, the second is the positive one"},
    {"class_names", CLV_FIELD_TEXT, "classes", CLV_STATED, .help = "what they stand for, where y holds texts"},
    {"lambda", CLV_FIELD_REAL, "", CLV_ANSWER, .help = "of a path: that of the row reported"},
    {"data_passes", CLV_FIELD_INTEGER, "", CLV_STATED, .help = "over X"},
    {"path.k", CLV_FIELD_INTEGER, "path", CLV_STATED, .help = "of the norm"},
    {"path.lambda", CLV_FIELD_REAL, "path", CLV_STATED, .help = "weight of the norm"},
    {"path.objective", CLV_FIELD_REAL, "path", CLV_STATED, .help = "at the end of the row"},
    {"path.relative_gap", CLV_FIELD_REAL, "path", CLV_STATED, .help = "its certificate"},
    {"path.nonzeros", CLV_FIELD_INTEGER, "path", CLV_STATED, .help = "of the weights"},
    {"path.score", CLV_FIELD_REAL, "path", CLV_STATED, .help = "on the validation samples"},
    {"path.iterations", CLV_FIELD_INTEGER, "path", CLV_STATED, .help = "of all models"},
    {"path.data_passes", CLV_FIELD_INTEGER, "path", CLV_STATED, .help = "over X"},
    {"path.seconds", CLV_FIELD_REAL, "path", CLV_STATED, .help = "of the row"},
    {"path.stop", CLV_FIELD_TEXT, "path", CLV_STATED, .help = "why the row ended"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

static int64_t samples_of(const clv_matrix *x, const void *chosen) {
    return ((const clv_ksupport_options *)chosen)->transposed ? x->cols : x->rows;
}

const clv_method clv_ksupport_method = {
    .name = "ksupport",
    .summary = "k-support-norm sparse logistic or least-squares regression",
    .about = "Fits a linear model with few nonzero weights: it minimizes the sum of the loss, half of --ridge times\n"
             "the squared 2-norm, and --lambda times the squared k-support norm of the weights. The problem is\n"
             "convex; the certificate is the duality gap, which bounds how far the objective is from the least.\n"
             "-k is about how many weights are to be nonzero. With --loss logistic Y may hold any two values;\n"
             "more values give one model per class against the rest.\n",
    .examples = "  cleave ksupport X.npy y.npy -k 100 --lambda 0.1 --weights w.npy --json result.json\n"
                "  cleave ksupport train.svm train.svm -k 50 --solver newton --tol 1e-8\n"
                "  cleave ksupport X.csv y.csv -k 10 --loss squares --intercept --predict new.csv --scores s.csv\n"
                "  cleave ksupport X.npy y.npy --path 50,100,200:1,0.3,0.1 --validation-x V.npy --validation-y v.npy\n"
                "  cleave verify result.json X.npy y.npy\n",
    .takes = CLV_TAKES_SAMPLES,
    .abilities = CLV_STARTS_GIVEN | CLV_READS_IN_ORDER | CLV_VALIDATES | CLV_CHECKPOINTS | CLV_SPREADS,
    .starts = "zero",
    .start_holds = "weights",
    .options = &table,
    .k_meaning = CLV_K_OF_NORM,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels|values|scores",
    .objective = "regularized-loss",
    .certificate = "relative-duality-gap",
    .holds = "Proved: the objective is within this share of the least possible.",
    .open = "Not proved to be within the tolerance of the least possible; this share is what is proved.",
    .check = clv_ksupport_check,
    .objects = samples_of,
    .memory = clv_ksupport_bytes,
    .solve = clv_ksupport_solve,
    .evaluate = clv_ksupport_evaluate_answer,
    .predict = clv_ksupport_predict_fresh,
};
