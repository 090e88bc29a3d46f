/* Largest eigenpairs of a symmetric operator, by block Lanczos with thick restarts.
 *
 * The basis V (orthonormal, a row each) grows by blocks: the last block Q is multiplied by A, the product made
 * orthogonal to V twice over, and what is left is the next block. Its coefficients on V are the new columns of
 * T = V A V', so that T is the Rayleigh quotient of whatever V holds, and no three-term recurrence is relied on. When
 * the basis is full it is replaced by its best Ritz vectors and the block that was to come next (Wu and Simon 2000,
 * Zhou and Saad 2008): nothing is lost in that, as A takes a Ritz vector into the span of itself and that block.
 *
 * One product serves a whole block: on dense and computed operators, where a pass costs nearly the same for one vector
 * as for ten, few passes are needed. A block finds multiple eigenvalues up to its size. For the others there is a
 * check: from a random block, orthogonal to what was found, the basis is filled once more, and if a value rises the
 * search goes on.
 *
 * Cost of a step: one product with a block, 8 n (basis) (block) operations. Memory: (basis + block) n doubles. Threads
 * share fixed chunks of the n entries, and sums over chunks are added in order: results do not depend on threads. Nor
 * on ranks, which share the chunks of a large problem: of V each has its own entries. The last block is made whole,
 * unless the operator does with own entries (own_entries): then nothing but sums over chunks is exchanged here. */
#include "linalg/krylov.h"

#include "base/ranks.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { CHUNK = 2048, MOST_CHUNKS = 64, CHECKS = 8, WORTH_THREADS = 1 << 18, WORTH_RANKS = 1 << 22 };

/* What is left of a vector, relative to what it was, when it is taken to be none: of a product after its projection,
 * where it is rounding; of one in a block after the others are taken out, where its direction loses its digits. */
#define NOTHING_NEW 1e-13
#define DEPENDENT 1e-7

/* A span of chunks. */
typedef struct span {
    int64_t first, last;
} span;

typedef struct state {
    const clv_krylov *plan;
    clv_kept kept;
    clv_rng rng;
    int64_t size;         /* vectors in V; the last `block` of them are Q */
    int64_t chunk;        /* entries to a chunk */
    int64_t chunks;       /* chunks in n */
    bool shared;          /* with other ranks: */
    span own;             /* the chunks of this one, else all */
    span held;            /* those that are up to date of the block under way: own ones (own_entries), or all */
    double *v;            /* (basis + block) x n */
    double *t;            /* basis x basis */
    double *ritz;         /* size x size: eigenvectors of T, a row each, ascending */
    double *values;       /* size: its eigenvalues, ascending */
    double *coefficients; /* (basis + block) x block */
    double *partial;      /* chunks x (basis + block) x block */
    double *left;         /* block x block: what the projection left of A Q, on the next block */
    double *scratch;      /* threads x basis x chunk */
    double *settled;      /* count: values before the check */
} state;

/* All chunks are of one size, or the last rank would have less to do than the others. */
int64_t clv_krylov_chunk(int64_t n) {
    int64_t chunks = (n + CHUNK - 1) / CHUNK;
    chunks = chunks < MOST_CHUNKS ? chunks : MOST_CHUNKS;
    return chunks > 1 ? (n + chunks - 1) / chunks : CHUNK;
}

size_t clv_krylov_memory(const clv_krylov *plan) {
    size_t n = (size_t)plan->n, basis = (size_t)plan->basis, block = (size_t)plan->block, rows = basis + block;
    size_t chunk = (size_t)clv_krylov_chunk(plan->n), chunks = (n + chunk - 1) / chunk;
    size_t projected = 2 * basis * basis + basis + block * block + (size_t)plan->count;
    size_t lapack = 2 * basis * basis + 9 * basis + 8; /* of clv_eigen_dense */
    size_t numbers =
        rows * n + projected + lapack + rows * block * (1 + chunks) + (size_t)plan->threads * basis * chunk;
    return numbers * sizeof(double);
}

static clv_status new_state(const clv_krylov *plan, state *s) {
    clv_context *ctx = plan->ctx;
    int64_t n = plan->n, rows = plan->basis + plan->block;
    *s = (state){.plan = plan, .kept.ctx = ctx, .rng = clv_rng_stream(plan->seed, 0)};
    s->chunk = clv_krylov_chunk(n);
    s->chunks = (n + s->chunk - 1) / s->chunk;
    s->own.last = s->chunks;
    s->shared =
        clv_is_shared(ctx) && (plan->own_entries || (s->chunks > 1 && n * plan->basis * plan->block >= WORTH_RANKS));
    s->held = s->own;
    if (s->shared) {
        clv_share(ctx, s->chunks, &s->own.first, &s->own.last);
        s->held = plan->own_entries ? s->own : s->held;
    }
    s->v = CLV_TAKE(&s->kept, double, rows *n);
    s->t = CLV_TAKE0(&s->kept, double, plan->basis * plan->basis);
    s->ritz = CLV_TAKE(&s->kept, double, plan->basis * plan->basis);
    s->values = CLV_TAKE(&s->kept, double, plan->basis);
    s->coefficients = CLV_TAKE(&s->kept, double, rows * plan->block);
    s->partial = CLV_TAKE(&s->kept, double, s->chunks *rows * plan->block);
    s->left = CLV_TAKE(&s->kept, double, plan->block * plan->block);
    s->scratch = CLV_TAKE(&s->kept, double, plan->threads * plan->basis * s->chunk);
    s->settled = CLV_TAKE(&s->kept, double, plan->count);
    return s->kept.status;
}

static int64_t chunk_length(const state *s, int64_t q) {
    int64_t left = s->plan->n - q * s->chunk;
    return left < s->chunk ? left : s->chunk;
}

/* --- orthogonality --- */

/* Sums over all chunks of what is in s->partial, `count` numbers each, `whole` or of own chunks. */
static clv_status add_chunks(state *s, bool whole, int64_t count, double *sums) {
    size_t bytes = (size_t)count * sizeof *sums;
    CLV_TRY(!whole ? clv_gather_items(s->plan->ctx, CLV_OK, s->partial, bytes, s->chunks, 1) : CLV_OK);
    memcpy(sums, s->partial, bytes);
    for (int64_t q = 1; q < s->chunks; q++) {
        for (int64_t e = 0; e < count; e++) {
            sums[e] += s->partial[q * count + e];
        }
    }
    return CLV_OK;
}

/* The coefficients (rows x width) of the vectors x on the first `rows` of V. */
static clv_status expand(state *s, int64_t rows, const double *x, int64_t width) {
    int n = (int)s->plan->n, m = (int)rows, b = (int)width;
#pragma omp parallel for num_threads(clv_team(s->plan->threads)) schedule(static) if (s->chunks > 1)
    for (int64_t q = s->own.first; q < s->own.last; q++) {
        int64_t at = q * s->chunk;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, b, (int)chunk_length(s, q), 1.0, s->v + at, n, x + at,
                    n, 0.0, s->partial + q * rows * width, b);
    }
    return add_chunks(s, !s->shared, rows * width, s->coefficients);
}

/* x less what the coefficients say; own entries alone. */
static void subtract(const state *s, int64_t rows, double *x, int64_t width) {
    int n = (int)s->plan->n, m = (int)rows, b = (int)width;
#pragma omp parallel for num_threads(clv_team(s->plan->threads)) schedule(static) if (s->chunks > 1)
    for (int64_t q = s->own.first; q < s->own.last; q++) {
        int64_t at = q * s->chunk;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, b, (int)chunk_length(s, q), m, -1.0, s->coefficients, b,
                    s->v + at, n, 1.0, x + at, n);
    }
}

/* The entries of all ranks. */
static clv_status make_whole(const state *s, double *x, int64_t width) {
    return s->shared ? clv_gather_columns(s->plan->ctx, CLV_OK, x, width, s->plan->n, s->chunk, 0, s->plan->n) : CLV_OK;
}

/* From own entries to those that are held. */
static clv_status complete(const state *s, double *x, int64_t width) {
    return s->plan->own_entries ? CLV_OK : make_whole(s, x, width);
}

/* x less its part on the first `rows` of V. */
static clv_status project_out(state *s, int64_t rows, double *x) {
    CLV_TRY(expand(s, rows, x, 1));
    subtract(s, rows, x, 1);
    return complete(s, x, 1);
}

/* sums[c]: x times row first + c of V, for `count` rows. Short ones on one thread: waking the others takes longer. */
static clv_status dots(state *s, const double *x, int64_t first, int64_t count, double *sums) {
    int64_t n = s->plan->n;
#pragma omp parallel for num_threads(clv_team(s->plan->threads)) schedule(static) if (n >= WORTH_THREADS)
    for (int64_t q = s->held.first; q < s->held.last; q++) {
        for (int64_t c = 0; c < count; c++) {
            const double *y = s->v + (first + c) * n + q * s->chunk;
            s->partial[q * count + c] = clv_dot(x + q * s->chunk, y, chunk_length(s, q), 1);
        }
    }
    return add_chunks(s, !(s->shared && s->plan->own_entries), count, sums);
}

/* The length of a row of V. */
static clv_status length_of(state *s, int64_t row, double *out) {
    CLV_TRY(dots(s, s->v + row * s->plan->n, row, 1, out));
    *out = sqrt(*out);
    return CLV_OK;
}

/* Chunk by chunk, in all that is held: BLAS may round the last entries of a vector in another way than the others, and
 * where a vector ends must not depend on ranks. */
static void scale(const state *s, double *x, double factor) {
    for (int64_t q = s->held.first; q < s->held.last; q++) {
        cblas_dscal((int)chunk_length(s, q), factor, x + q * s->chunk, 1);
    }
}

/* x += factor y. */
static void add(const state *s, double factor, const double *y, double *x) {
    for (int64_t q = s->held.first; q < s->held.last; q++) {
        int64_t at = q * s->chunk;
        cblas_daxpy((int)chunk_length(s, q), factor, y + at, 1, x + at, 1);
    }
}

static void random_vector(state *s, double *x) {
    const double *support = s->plan->support;
    for (int64_t i = 0; i < s->plan->n; i++) {
        double draw = clv_rng_normal(&s->rng);
        x[i] = !support || support[i] != 0 ? draw : 0;
    }
}

static clv_status look(const state *s) {
    return clv_interrupted(s->plan->ctx) ? clv_stop_failure(s->plan->ctx, "computing eigenvalues") : CLV_OK;
}

/* A random unit vector into row `at` of V, orthogonal to the rows before. */
static clv_status random_direction(state *s, int64_t at) {
    double *x = s->v + at * s->plan->n, length;
    random_vector(s, x);
    for (int pass = 0; pass < 3; pass++) {
        CLV_TRY(length_of(s, at, &length));
        scale(s, x, 1 / length);
        CLV_TRY(project_out(s, at, x));
    }
    CLV_TRY(length_of(s, at, &length));
    scale(s, x, 1 / length);
    return CLV_OK;
}

/* Vector c of the block less its part on those before it, twice over; its length before and after. */
static clv_status project_in_block(state *s, int64_t first, int64_t c, double *before, double *after) {
    int64_t n = s->plan->n, b = s->plan->block;
    double *x = s->v + (first + c) * n, *along = s->coefficients;
    CLV_TRY(dots(s, x, first, c + 1, along));
    *before = *after = sqrt(along[c]);
    for (int pass = 0; pass < 2 && c > 0; pass++) {
        for (int64_t d = 0; d < c; d++) {
            add(s, -along[d], s->v + (first + d) * n, x);
            s->left[c * b + d] += along[d];
        }
        CLV_TRY(pass == 0 ? dots(s, x, first, c, along) : length_of(s, first + c, after));
    }
    return CLV_OK;
}

/* The block in the rows from `first` on, orthogonal to those before, becomes orthonormal; left[c][d] is the part of
 * its vector c on the new vector d. A vector of which no more than `least[c]` remains gives way to a random one. */
static clv_status orthonormalize(state *s, int64_t first, const double *least) {
    int64_t b = s->plan->block;
    memset(s->left, 0, (size_t)(b * b) * sizeof *s->left);
    for (int64_t c = 0; c < b; c++) {
        double before, length;
        CLV_TRY(look(s));
        CLV_TRY(project_in_block(s, first, c, &before, &length));
        if (length > fmax(DEPENDENT * before, least ? least[c] : 0)) {
            scale(s, s->v + (first + c) * s->plan->n, 1 / length);
            s->left[c * b + c] = length;
        } else {
            CLV_TRY(random_direction(s, first + c));
        }
    }
    return CLV_OK;
}

/* --- steps --- */

/* T's columns of Q get the coefficients of A Q. */
static void add_to_t(state *s) {
    int64_t b = s->plan->block, stride = s->plan->basis, first = s->size - b;
    for (int64_t r = 0; r < s->size; r++) {
        for (int64_t c = 0; c < b; c++) {
            double share = s->coefficients[r * b + c];
            s->t[r * stride + first + c] += r < first ? share : share / 2;
            s->t[(first + c) * stride + r] += r < first ? share : share / 2;
        }
    }
}

/* The block made orthogonal to V, twice over; its coefficients go to T. */
static clv_status project_twice(state *s, double *next) {
    int64_t b = s->plan->block;
    for (int pass = 0; pass < 2; pass++) {
        if (clv_worked(s->plan->ctx, s->plan->n * b)) {
            return clv_stop_failure(s->plan->ctx, "computing eigenvalues");
        }
        CLV_TRY(expand(s, s->size, next, b));
        subtract(s, s->size, next, b);
        add_to_t(s);
    }
    return complete(s, next, b);
}

/* Products of Q, made into the next block, in the rows of V after Q. */
static clv_status step(state *s) {
    const clv_krylov *plan = s->plan;
    int64_t n = plan->n, b = plan->block;
    double *next = s->v + s->size * n;
    if (clv_worked(plan->ctx, n * b)) {
        return clv_stop_failure(plan->ctx, "computing eigenvalues");
    }
    CLV_TRY(plan->apply(plan->user, next - b * n, b, next));
    for (int64_t c = 0; c < b; c++) {
        CLV_TRY(length_of(s, s->size + c, &s->values[c])); /* free until the next Ritz values */
        s->values[c] *= NOTHING_NEW;
    }
    if (!isfinite(clv_sum(s->values, b, 1))) {
        return clv_fail(plan->ctx, CLV_ENUMERIC, "the operator of %lld rows gives a product that is not finite",
                        (long long)n);
    }
    CLV_TRY(project_twice(s, next));
    return orthonormalize(s, s->size, s->values);
}

static clv_status find_ritz_pairs(state *s) {
    for (int64_t r = 0; r < s->size; r++) {
        memcpy(s->ritz + r * s->size, s->t + r * s->plan->basis, (size_t)s->size * sizeof *s->t);
    }
    return clv_eigen_dense(s->plan->ctx, s->ritz, s->size, s->values);
}

static double value_of(const state *s, int64_t i) {
    return s->values[s->size - 1 - i];
}

/* The norm of the residual of Ritz pair i (0: the largest): its part on the next block. */
static double residual_of(const state *s, int64_t i) {
    int64_t b = s->plan->block;
    const double *last = s->ritz + (s->size - 1 - i) * s->size + s->size - b;
    double squares = 0;
    for (int64_t d = 0; d < b; d++) {
        double sum = 0;
        for (int64_t c = 0; c < b; c++) {
            sum += last[c] * s->left[c * b + d];
        }
        squares += sum * sum;
    }
    return sqrt(squares);
}

static bool is_converged(const state *s) {
    if (s->size <= s->plan->count) {
        return false;
    }
    for (int64_t i = 0; i < s->plan->count; i++) {
        if (!(s->plan->excess(s->plan->user, value_of(s, i), residual_of(s, i)) <= 1)) {
            return false;
        }
    }
    return true;
}

/* The first `keep` rows of V become the best Ritz vectors, own entries alone, and T their diagonal matrix. */
static void compress(state *s, int64_t keep) {
    int64_t n = s->plan->n, stride = s->plan->basis;
    const double *best = s->ritz + (s->size - keep) * s->size; /* ascending: the largest is the last */
#pragma omp parallel for num_threads(clv_team(s->plan->threads)) schedule(static)
    for (int64_t q = s->own.first; q < s->own.last; q++) {
        int64_t at = q * s->chunk, length = chunk_length(s, q);
        double *rotated = s->scratch + omp_get_thread_num() * stride * s->chunk;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)keep, (int)length, (int)s->size, 1.0, best,
                    (int)s->size, s->v + at, (int)n, 0.0, rotated, (int)length);
        for (int64_t i = 0; i < keep; i++) {
            memcpy(s->v + i * n + at, rotated + (keep - 1 - i) * length, (size_t)length * sizeof *rotated);
        }
    }
    memset(s->t, 0, (size_t)(stride * stride) * sizeof *s->t);
    for (int64_t i = 0; i < keep; i++) {
        s->t[i * stride + i] = value_of(s, i);
    }
}

/* --- the whole --- */

/* The vectors that are known, then a block: mixtures of the guesses, or random. */
static clv_status begin(state *s, const double *vectors) {
    const clv_krylov *plan = s->plan;
    int64_t n = plan->n, first = plan->exact;
    memcpy(s->v, vectors, (size_t)(plan->exact * n) * sizeof *vectors);
    for (int64_t i = 0; i < plan->exact; i++) {
        s->t[i * plan->basis + i] = plan->top;
    }
    for (int64_t c = 0; c < plan->block; c++) {
        double *x = s->v + (first + c) * n;
        CLV_TRY(look(s));
        if (plan->guessed == 0) {
            random_vector(s, x);
        } else {
            memset(x, 0, (size_t)n * sizeof *x);
        }
        for (int64_t g = 0; g < plan->guessed; g++) {
            add(s, clv_rng_normal(&s->rng), vectors + (first + g) * n, x);
        }
        CLV_TRY(project_out(s, first, x));
        CLV_TRY(project_out(s, first, x));
    }
    s->size = first + plan->block;
    return orthonormalize(s, first, NULL);
}

static void restart(state *s) {
    int64_t n = s->plan->n, b = s->plan->block, count = s->plan->count;
    int64_t keep = count + (s->plan->basis - b - count) / 2;
    keep = keep < s->size ? keep : s->size;
    const double *next = s->v + s->size * n;
    compress(s, keep);
    memmove(s->v + keep * n, next, (size_t)(b * n) * sizeof *next);
    s->size = keep + b;
}

/* From what was found and a random block. */
static clv_status begin_check(state *s) {
    int64_t count = s->plan->count;
    for (int64_t i = 0; i < count; i++) {
        s->settled[i] = value_of(s, i);
    }
    compress(s, count);
    for (int64_t c = 0; c < s->plan->block; c++) {
        CLV_TRY(look(s));
        CLV_TRY(random_direction(s, count + c));
    }
    s->size = count + s->plan->block;
    return CLV_OK;
}

static bool has_risen(const state *s) {
    for (int64_t i = 0; i < s->plan->count; i++) {
        double rise = value_of(s, i) - s->settled[i];
        if (rise > 0 && !(s->plan->excess(s->plan->user, value_of(s, i), rise) <= 1)) {
            return true;
        }
    }
    return false;
}

/* Steps until the pairs are found, and found again; at the end the Ritz pairs of the basis are the answer. */
static clv_status search(state *s, bool *converged) {
    const clv_krylov *plan = s->plan;
    bool checking = false;
    int checks = 0;
    for (int64_t cycle = 0;;) {
        CLV_TRY(step(s));
        int64_t room = checking && plan->check_basis > 0 ? plan->check_basis : plan->basis;
        bool full = s->size + plan->block > room;
        if (!full && (checking || !plan->eager)) {
            s->size += plan->block;
            continue;
        }
        CLV_TRY(find_ritz_pairs(s));
        *converged = checking ? !has_risen(s) : is_converged(s);
        cycle += full && !checking;
        bool check = *converged && !checking && plan->check && checks < CHECKS;
        if ((*converged && !check) || (!*converged && cycle >= plan->cycles)) {
            return CLV_OK;
        }
        checks += check;
        checking = check;
        if (check) {
            CLV_TRY(begin_check(s));
        } else if (full) {
            restart(s);
        } else {
            s->size += plan->block;
        }
    }
}

static clv_status solve(state *s, double *values, double *vectors, double *lowest, bool *converged) {
    int64_t n = s->plan->n, count = s->plan->count;
    CLV_TRY(begin(s, vectors));
    CLV_TRY(search(s, converged));
    for (int64_t i = 0; i < count; i++) {
        values[i] = value_of(s, i);
    }
    if (lowest) {
        *lowest = value_of(s, s->size - 1) - residual_of(s, s->size - 1);
    }
    compress(s, count);
    CLV_TRY(make_whole(s, s->v, count));
    memcpy(vectors, s->v, (size_t)(count * n) * sizeof *vectors);
    return CLV_OK;
}

clv_status clv_krylov_solve(const clv_krylov *plan, double *values, double *vectors, double *lowest, bool *converged) {
    state s;
    *converged = false;
    clv_status status = new_state(plan, &s);
    if (status == CLV_OK) {
        clv_blas_serial_begin();
        status = solve(&s, values, vectors, lowest, converged);
        clv_blas_serial_end();
    }
    clv_free_kept(&s.kept);
    return status;
}
