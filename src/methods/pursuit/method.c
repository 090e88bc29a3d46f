/* pursuit as a method: what it takes, gives and proves. */
#include "methods/pursuit/pursuit.h"

#define T clv_pursuit_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p32, NULL, "N", "the k of the norm: about how many entries of W are nonzero"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_KSUPPORT_FCFW, "fcfw|fista|admm",
                   "the algorithm; only fcfw works without an n x n matrix"),
    CLV_OPT_REAL(T, lambda, "lambda", 20, 1e-300, 1e300, NULL, "L", "weight of the squared k-support norm"),
    CLV_OPT_REAL(T, radius, "radius", 0, 1e-300, 1e300, "none", "R", "bound the norm by R instead of penalizing it"),
    CLV_OPT_FLAG(T, zero_diagonal, "zero-diagonal", "keep-diagonal", 0, "no object may explain itself"),
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
};
static const clv_option_table table = {"pursuit", options, CLV_COUNT(options), sizeof(T)};
#undef T

static const clv_field_info gives[] = {
    {"weights", CLV_FIELD_SPARSE, "n x n", CLV_ANSWER, .help = "W: each object as a combination of all"},
    {"data_passes", CLV_FIELD_INTEGER, "", CLV_STATED, .help = "over the points"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

const clv_method clv_pursuit_method = {
    .name = "pursuit",
    .summary = "k-support-norm matrix pursuit: learns an affinity, feeds ncut and dominant",
    .about = "Writes every object as a combination of all objects: it minimizes 1/2 ||X - X W||^2, X the objects as\n"
             "columns, plus --lambda times the squared k-support norm of W; -k is about how many of the\n"
             "n x n entries of W are to be nonzero. |W| + |W'| is an affinity between objects that lie in the same\n"
             "subspace: --graph writes it, and ncut and dominant take it with --affinity precomputed. The\n"
             "certificate is the duality gap.\n",
    .examples = "  cleave pursuit digits.npy -k 4000 --scale unit-rows --weights W.mtx --graph A.mtx\n"
                "  cleave ncut A.mtx --affinity precomputed -k 10 --truth y.npy\n"
                "  cleave pursuit digits.npy -k 4000 --lambda 20 --json result.json\n"
                "  cleave verify result.json digits.npy\n",
    .takes = CLV_TAKES_POINTS,
    .options = &table,
    .k_meaning = CLV_K_OF_NORM,
    .abilities = CLV_CHECKPOINTS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .objective = "regularized-loss",
    .certificate = "relative-duality-gap",
    .holds = "Proved: the objective is within this share of the least possible.",
    .open = "Not proved to be within the tolerance of the least possible; this share is what is proved.",
    .memory = clv_pursuit_bytes,
    .solve = clv_pursuit_solve,
    .evaluate = clv_pursuit_evaluate_answer,
};
