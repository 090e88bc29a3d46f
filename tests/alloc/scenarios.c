/* The scenarios: a new format or home adds a line to the table at the end; methods come from their list (methods.c). */
#include "alloc.h"

#include "base/options.h"

/* --- files --- */

static clv_status read_file(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    (void)threads;
    return clv_read(ctx, self->file, NULL, &made->data[0]);
}

static clv_status map_file(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    (void)threads;
    return clv_read(ctx, self->file, &(clv_read_options){.map = 1}, &made->data[0]);
}

/* Labels of two files by their ids, and those of a result beside memberships, which make all of them soft. */
static clv_status read_partitions(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    static const char *const hard[] = {"labels.csv", "labels.npy", "result.json"}, *const soft[] = {"labels.csv",
                                                                                                    "memberships.npy"};
    (void)self;
    (void)threads;
    CLV_TRY(clv_read_partitions(ctx, hard, 3, 0, &made->data[0], &made->data[1]));
    return clv_read_partitions(ctx, soft, 2, 1, &made->data[2], &made->data[3]);
}

static clv_status read_labels(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    int64_t n;
    (void)threads;
    return clv_read_labels(ctx, self->file, &n, (int32_t **)&made->blocks[0]);
}

/* Texts, and others that mean the same. */
static clv_status read_targets(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    (void)threads;
    CLV_TRY(clv_read_targets(ctx, self->file, &made->data[0]));
    return clv_read_targets_like(ctx, self->file, made->data[0], &made->data[1]);
}

static clv_status read_picture(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_image image = {0};
    (void)threads;
    clv_status status = clv_read_image(ctx, self->file, &image);
    if (status == CLV_OK) {
        made->blocks[0] = image.samples;
    }
    return status;
}

/* `kind` 1: from a sparse matrix. */
static clv_status write_matrix(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    (void)threads;
    CLV_TRY(clv_read(ctx, self->kind ? "graph.mtx" : "points.npy", NULL, &made->data[0]));
    return clv_write_matrix(ctx, self->file, clv_data_matrix(made->data[0]));
}

static clv_status write_labels(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    const int32_t labels[] = {0, 1, -1, 2};
    (void)made;
    (void)threads;
    return clv_write_labels(ctx, self->file, labels, 4);
}

static clv_status write_picture(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    uint8_t samples[16] = {0};
    (void)made;
    (void)threads;
    return clv_write_png(ctx, self->file, &(clv_image){4, 4, 1, samples});
}

/* `kind` is a clv_scale; mapped when `home` is set. */
static clv_status scale_file(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    (void)threads;
    CLV_TRY(clv_read(ctx, self->file, &(clv_read_options){.map = self->home}, &made->data[0]));
    return clv_data_scale(made->data[0], (clv_scale)self->kind);
}

/* --- affinities --- */

clv_affinity_options how_to_build(const scenario *self, int64_t threads) {
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = self->kind;
    how.home = self->home;
    how.neighbors = 4;
    how.landmarks = how.kind == CLV_AFFINITY_GAUSSIAN && how.home == CLV_HOME_LOWRANK ? 9 : 0;
    how.threads = threads;
    return how;
}

clv_status build(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_affinity_options how = how_to_build(self, threads);
    clv_read_options reading = {.map = self->kind == CLV_AFFINITY_PRECOMPUTED};
    CLV_TRY(clv_read(ctx, self->file ? self->file : "points.npy", &reading, &made->data[0]));
    return clv_affinity_build(ctx, clv_data_matrix(made->data[0]), &how, &made->affinity);
}

static clv_status plan(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_affinity_options how = how_to_build(self, threads);
    clv_affinity_info info;
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    return clv_affinity_plan(ctx, clv_data_matrix(made->data[0]), &how, &info);
}

/* Every function of an operator; `x` and `y` have room for three vectors. */
static clv_status use_operator(const clv_affinity *a, double *x, double *y, int32_t *labels, int64_t threads) {
    int64_t n = clv_affinity_size(a);
    for (int64_t i = 0; i < 3 * n; i++) {
        x[i] = (double)(i % 5);
    }
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)(i % 3);
    }
    CLV_TRY(clv_affinity_column(a, 1, y));
    CLV_TRY(clv_affinity_apply(a, x, 3, y, threads));
    CLV_TRY(clv_affinity_degrees(a, y, threads));
    CLV_TRY(clv_affinity_diagonal(a, y));
    CLV_TRY(clv_affinity_group_sums(a, labels, 3, y, threads));
    CLV_TRY(clv_affinity_combine(a, (const int64_t[]){1, 0, 3, 1, 2}, x, 5, y, threads));
    return clv_affinity_move(a, 1, 1, 2, y);
}

/* All of an operator that was just made, of a restriction of it, and both as matrices. */
static clv_status use_everything(clv_context *ctx, holder *made, int64_t threads) {
    static const int64_t active[] = {2, 3, 5, 7, 11, 13, 17, 19};
    int64_t n = clv_affinity_size(made->affinity);
    double *x = made->blocks[0] = CLV_NEW(ctx, double, 3 * n);
    double *y = made->blocks[1] = CLV_NEW(ctx, double, 3 * n);
    int32_t *labels = made->blocks[2] = CLV_NEW(ctx, int32_t, n);
    if (!x || !y || !labels) {
        return CLV_ENOMEM;
    }
    CLV_TRY(use_operator(made->affinity, x, y, labels, threads));
    CLV_TRY(clv_affinity_restrict(made->affinity, active, CLV_COUNT(active), &made->restricted));
    CLV_TRY(use_operator(made->restricted, x, y, labels, threads));
    CLV_TRY(clv_affinity_materialize(made->affinity, &made->data[1]));
    return clv_affinity_materialize(made->restricted, &made->data[2]);
}

static clv_status operate(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    CLV_TRY(build(ctx, made, self, threads));
    return use_everything(ctx, made, threads);
}

static clv_status operate_symmetrized(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_affinity_options how = how_to_build(self, threads);
    how.symmetrize = 1;
    CLV_TRY(clv_read(ctx, self->file, &(clv_read_options){.map = 1}, &made->data[0]));
    CLV_TRY(clv_affinity_build(ctx, clv_data_matrix(made->data[0]), &how, &made->affinity));
    return use_everything(ctx, made, threads);
}

static clv_status operate_lowrank(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_affinity_options how = how_to_build(self, threads);
    CLV_TRY(clv_read(ctx, "points.npy", NULL, &made->data[0]));
    CLV_TRY(clv_affinity_lowrank(ctx, clv_data_matrix(made->data[0]), &how, &made->affinity));
    return use_everything(ctx, made, threads);
}

/* --- metrics and algebra --- */

static clv_status compare(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_scores scores;
    int64_t n;
    (void)self;
    (void)threads;
    CLV_TRY(clv_read_labels(ctx, "labels.npy", &n, (int32_t **)&made->blocks[0]));
    CLV_TRY(clv_read_labels(ctx, "labels.csv", &n, (int32_t **)&made->blocks[1]));
    return clv_compare(ctx, made->blocks[0], made->blocks[1], n, &scores);
}

static clv_status judge(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    double value;
    int64_t n;
    CLV_TRY(build(ctx, made, self, threads));
    CLV_TRY(clv_read_labels(ctx, "labels.npy", &n, (int32_t **)&made->blocks[0]));
    CLV_TRY(clv_silhouette(ctx, clv_data_matrix(made->data[0]), made->blocks[0], threads, &value));
    return clv_ncut_value(ctx, made->affinity, made->blocks[0], threads, &value);
}

/* The Laplacian of a path. */
static clv_status apply_path(void *user, const double *x, double *y, int64_t n) {
    (void)user;
    for (int64_t i = 0; i < n; i++) {
        double left = i > 0 ? x[i] - x[i - 1] : 0;
        double right = i + 1 < n ? x[i] - x[i + 1] : 0;
        y[i] = left + right;
    }
    return CLV_OK;
}

/* `kind` is the size: a small one goes to LAPACK at once. */
static clv_status eigenpairs(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    double values[3];
    (void)threads;
    double *vectors = made->blocks[0] = CLV_NEW(ctx, double, 3 * (int64_t)self->kind);
    if (!vectors) {
        return CLV_ENOMEM;
    }
    return clv_eigen(ctx, apply_path, NULL, self->kind, 3, CLV_EIGEN_LARGEST, 1e-10, 1, values, vectors);
}

static clv_status assignment(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    const double weight[] = {3, 1, 2, 2, 4, 6};
    int64_t match[2];
    (void)made;
    (void)self;
    (void)threads;
    return clv_assign(ctx, weight, 2, 3, match);
}

#define AFFINITY(kind, home) CLV_AFFINITY_##kind, CLV_HOME_##home

const scenario scenarios[] = {
    {"read npy", read_file, "points.npy", 0, 0},
    {"read npy of floats", read_file, "floats.npy", 0, 0},
    {"map npy", map_file, "points.npy", 0, 0},
    {"read csv", read_file, "points.csv", 0, 0},
    {"read tsv", read_file, "points.tsv", 0, 0},
    {"read mtx array", read_file, "points.mtx", 0, 0},
    {"read mtx coordinate", read_file, "graph.mtx", 0, 0},
    {"read svm", read_file, "points.svm", 0, 0},
    {"read mat", read_file, "points.mat", 0, 0},
    {"read mat variable", read_file, "points.mat:X", 0, 0},
    {"read png as points", read_file, "picture.png", 0, 0},
    {"read png", read_picture, "picture.png", 0, 0},
    {"read jpeg", read_picture, "picture.jpg", 0, 0},
    {"read labels npy", read_labels, "labels.npy", 0, 0},
    {"read labels csv", read_labels, "labels.csv", 0, 0},
    {"read targets svm", read_targets, "points.svm", 0, 0},
    {"read targets csv", read_targets, "points.csv", 0, 0},
    {"read labels column", read_labels, "points.csv", 0, 0},
    {"read partitions", read_partitions, NULL, 0, 0},
    {"write npy", write_matrix, "out.npy", 0, 0},
    {"write csv", write_matrix, "out.csv", 0, 0},
    {"write mtx array", write_matrix, "out.mtx", 0, 0},
    {"write mtx coordinate", write_matrix, "sparse.mtx", 1, 0},
    {"write labels npy", write_labels, "out-labels.npy", 0, 0},
    {"write labels csv", write_labels, "out-labels.csv", 0, 0},
    {"write png", write_picture, "out.png", 0, 0},
    {"scale standard", scale_file, "points.npy", CLV_SCALE_STANDARD, 0},
    {"scale minmax of floats", scale_file, "floats.npy", CLV_SCALE_MINMAX, 0},
    {"scale unit columns, mapped", scale_file, "points.npy", CLV_SCALE_UNIT_COLUMNS, 1},
    {"scale unit columns, sparse", scale_file, "points.svm", CLV_SCALE_UNIT_COLUMNS, 0},
    {"scale unit rows, sparse", scale_file, "points.svm", CLV_SCALE_UNIT_ROWS, 0},
    {"affinity plan", plan, NULL, AFFINITY(GAUSSIAN, AUTO)},
    {"affinity gaussian dense-f64", operate, NULL, AFFINITY(GAUSSIAN, DENSE64)},
    {"affinity gaussian dense-f32", operate, NULL, AFFINITY(GAUSSIAN, DENSE32)},
    {"affinity gaussian computed", operate, NULL, AFFINITY(GAUSSIAN, COMPUTED)},
    {"affinity gaussian of sparse points", operate, "points.svm", AFFINITY(GAUSSIAN, DENSE64)},
    {"affinity exponential dense-f64", operate, NULL, AFFINITY(EXPONENTIAL, DENSE64)},
    {"affinity exponential computed", operate, "floats.npy", AFFINITY(EXPONENTIAL, COMPUTED)},
    {"affinity cosine dense-f64", operate, NULL, AFFINITY(COSINE, DENSE64)},
    {"affinity cosine low rank", operate, NULL, AFFINITY(COSINE, LOWRANK)},
    {"affinity by landmarks", operate, NULL, AFFINITY(GAUSSIAN, LOWRANK)},
    {"affinity distance dense-f64", operate, NULL, AFFINITY(DISTANCE, DENSE64)},
    {"affinity distance computed", operate, NULL, AFFINITY(DISTANCE, COMPUTED)},
    {"affinity minimax dense-f64", operate, NULL, AFFINITY(MINIMAX, DENSE64)},
    {"affinity minimax dense-f32", operate, NULL, AFFINITY(MINIMAX, DENSE32)},
    {"affinity minimax computed", operate, NULL, AFFINITY(MINIMAX, COMPUTED)},
    {"affinity knn", operate, NULL, AFFINITY(KNN, AUTO)},
    {"affinity precomputed, mapped", operate, "similarity.npy", AFFINITY(PRECOMPUTED, AUTO)},
    {"affinity precomputed, sparse", operate, "graph.mtx", AFFINITY(PRECOMPUTED, AUTO)},
    {"affinity symmetrized, mapped", operate_symmetrized, "similarity.npy", AFFINITY(PRECOMPUTED, AUTO)},
    {"affinity symmetrized, sparse", operate_symmetrized, "graph.mtx", AFFINITY(PRECOMPUTED, AUTO)},
    {"affinity of a factor", operate_lowrank, NULL, AFFINITY(GAUSSIAN, AUTO)},
    {"ncut", cut, NULL, AFFINITY(EXPONENTIAL, AUTO)},
    {"ncut, landmarks", cut, NULL, AFFINITY(GAUSSIAN, LOWRANK)},
    {"ncut, sparse", cut, "graph.mtx", AFFINITY(PRECOMPUTED, AUTO)},
    {"ncut from labels", cut_from_labels, NULL, AFFINITY(GAUSSIAN, COMPUTED)},
    {"symnmf", soft_clusters, NULL, AFFINITY(GAUSSIAN, AUTO)},
    {"symnmf, computed", soft_clusters, NULL, AFFINITY(GAUSSIAN, COMPUTED)},
    {"symnmf, landmarks", soft_clusters, NULL, AFFINITY(GAUSSIAN, LOWRANK)},
    {"symnmf, low rank", soft_clusters, NULL, AFFINITY(COSINE, LOWRANK)},
    {"symnmf, sparse", soft_clusters, NULL, AFFINITY(KNN, AUTO)},
    {"dominant", peel, NULL, AFFINITY(GAUSSIAN, DENSE64)},
    {"dominant, floats", peel, NULL, AFFINITY(DISTANCE, DENSE32)},
    {"dominant, computed", peel, NULL, AFFINITY(GAUSSIAN, COMPUTED)},
    {"dominant, low rank", peel, NULL, AFFINITY(COSINE, LOWRANK)},
    {"dominant, minimax", peel, NULL, AFFINITY(MINIMAX, COMPUTED)},
    {"dominant, sparse", peel, "graph.mtx", AFFINITY(PRECOMPUTED, AUTO)},
    {"dominant, random starts and new points", peel_random, NULL, AFFINITY(GAUSSIAN, COMPUTED)},
    {"kpalm", center, NULL, 0, 0},
    {"kpalm, floats", center, "floats.npy", 0, 0},
    {"kpalm, sparse", center, "points.svm", 0, 0},
    {"ksupport fcfw", fit, "points.npy", CLV_KSUPPORT_FCFW, CLV_KSUPPORT_PROJECTED_NEWTON},
    {"ksupport fcfw, pqn", fit, "floats.npy", CLV_KSUPPORT_FCFW, CLV_KSUPPORT_PQN},
    {"ksupport fcfw, pairwise", fit, "points.mtx", CLV_KSUPPORT_FCFW, CLV_KSUPPORT_PAIRWISE},
    {"ksupport fista", fit, "points.npy", CLV_KSUPPORT_FISTA, 0},
    {"ksupport admm", fit, "points.npy", CLV_KSUPPORT_ADMM, 0},
    {"ksupport newton", fit, "points.npy", CLV_KSUPPORT_NEWTON, 0},
    {"ksupport newton, sparse", fit, "points.svm", CLV_KSUPPORT_NEWTON, 0},
    {"pursuit fcfw", pursue, NULL, CLV_KSUPPORT_FCFW, 0},
    {"pursuit fista", pursue, NULL, CLV_KSUPPORT_FISTA, 0},
    {"pursuit admm", pursue, NULL, CLV_KSUPPORT_ADMM, 0},
    {"report json", report, NULL, AFFINITY(GAUSSIAN, AUTO)},
    {"report html, table and trace", report, "points.csv", AFFINITY(GAUSSIAN, AUTO)},
    {"verify", verify, NULL, 0, 0},
    {"range of k, kpalm", range_of_k, NULL, 0, 0},
    {"range of k, ncut", range_of_k, NULL, 1, 0},
    {"documents to points", read_documents, "docs.jsonl", 0, 0},
    {"compressed documents to components", read_documents, "docs.jsonl.gz", 1, 0},
    {"reduce by Lanczos", reduce_band, NULL, 0, 0},
    {"picture to regions", segment_picture, "picture.png", 0, 0},
    {"compare labels", compare, NULL, 0, 0},
    {"silhouette and cut", judge, NULL, AFFINITY(GAUSSIAN, AUTO)},
    {"eigenpairs by ARPACK", eigenpairs, NULL, 60, 0},
    {"eigenpairs by LAPACK", eigenpairs, NULL, 4, 0},
    {"assignment", assignment, NULL, 0, 0},
};
const size_t scenario_count = CLV_COUNT(scenarios);
