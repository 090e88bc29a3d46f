/* Verification: scale and affinity are rebuilt from the raw data as the claim says, objective and certificate are
 * recomputed, and everything is compared. The bound is not computed again, only compared with the eigenvalues claimed
 * beside it: to prove those takes an eigensolver, and a factorisation against missed ones. A false claim is a verdict;
 * only what prevents a verdict is a failure.
 *
 * The claim has no say in how closely its numbers are looked at. An affinity of floats is rebuilt of floats; all other
 * homes hold the same doubles, so any of them serves for any other. */
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How far a claimed certificate may lie from the recomputed one. */
#define CERTIFICATE_DIFFERENCE 1e-9
/* So near to the tolerance, a cluster, rounding decides whether a certificate holds. */
#define UNDECIDED_A_CLUSTER 1e-14

typedef clv_status (*evaluator)(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                                int64_t threads, clv_objective *objective, clv_certificate *certificate);

typedef struct verifiable {
    const char *method;
    const clv_option_table *(*table)(void);
    size_t (*memory)(int64_t n, int64_t k); /* of the evaluation */
    evaluator evaluate;
    const char *bound; /* its name */
} verifiable;

/* As of a single start without any improvement. */
static size_t ncut_memory(int64_t n, int64_t k) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = k;
    options.control.restarts = 1;
    options.polish = 0;
    options.bound = CLV_NCUT_BOUND_NO;
    return clv_ncut_memory(n, CLV_HOME_AUTO, &options);
}

/* Methods that can be verified: a new one adds a line. */
static const verifiable methods[] = {
    {"ncut", clv_ncut_table, ncut_memory, clv_ncut_evaluate, "eigenvalue"},
};

static const verifiable *find_method(const char *name) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i].method, name) == 0) {
            return &methods[i];
        }
    }
    return NULL;
}

/* Return from the calling function when `call` fails, or when it has rejected the claim. */
#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        CLV_TRY(call);                                                                                                 \
        if (out->reason[0]) {                                                                                          \
            return CLV_OK;                                                                                             \
        }                                                                                                              \
    } while (0)

/* What fails because of `cause` fails because of the claim. */
static clv_status blame(clv_context *ctx, clv_status status, clv_status cause, clv_verdict *out) {
    if (status == cause) {
        clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        return CLV_OK;
    }
    return status;
}

/* --- the affinity as claimed --- */

static clv_status scale_as_claimed(clv_context *ctx, const clv_claim *claim, clv_data *data, clv_verdict *out) {
    static const clv_option option = {.name = "scale", .kind = CLV_OPTION_CHOICE, .choices = CLV_SCALE_NAMES};
    static const clv_option_table table = {"points", &option, 1};
    const char *asked = clv_claim_option(claim, "scale");
    int scale = CLV_SCALE_NONE;
    if (asked) {
        STEP(blame(ctx, clv_options_set(ctx, &table, &scale, "scale", asked), CLV_EUSAGE, out));
    }
    return blame(ctx, clv_data_scale(data, (clv_scale)scale), CLV_EUSAGE, out);
}

static clv_status options_as_claimed(clv_context *ctx, const clv_claim *claim, clv_affinity_options *how,
                                     clv_verdict *out) {
    static const char *const names[] = {"affinity", "gamma", "neighbours", "zero-diagonal"};
    clv_affinity_defaults(how);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = clv_claim_option(claim, names[i]);
        if (value) {
            STEP(blame(ctx, clv_options_set(ctx, clv_affinity_table(), how, names[i], value), CLV_EUSAGE, out));
        }
    }
    if (!claim->kind[0] || !claim->home[0]) {
        clv_reject(out, "the claim does not say of which kind its affinity is and in which home it was kept");
        return CLV_OK;
    }
    STEP(blame(ctx, clv_options_set(ctx, clv_affinity_table(), how, "affinity", claim->kind), CLV_EUSAGE, out));
    if (!isnan(claim->gamma) && !isnan(how->gamma) && claim->gamma != how->gamma) {
        clv_reject(out, "the option gamma and the gamma of the affinity are claimed to be different numbers");
    }
    how->gamma = isnan(claim->gamma) ? how->gamma : claim->gamma; /* auto has become a number */
    return CLV_OK;
}

/* The home to build in: the claimed one must exist and suit the data, whatever the budget here. */
static clv_status choose_home(clv_context *ctx, const clv_claim *claim, const clv_matrix *points,
                              clv_affinity_options *how, clv_verdict *out) {
    clv_affinity_options claimed = *how;
    clv_affinity_info plan;
    claimed.memory = INT64_C(1) << 62;
    STEP(blame(ctx, clv_options_set(ctx, clv_affinity_table(), &claimed, "home", claim->home), CLV_EUSAGE, out));
    if (claimed.home == CLV_HOME_AUTO) {
        clv_reject(out, "the claim names no home of the affinity, only '%s'", claim->home);
        return CLV_OK;
    }
    STEP(blame(ctx, clv_affinity_plan(ctx, points, &claimed, &plan), CLV_EUSAGE, out));
    if (claimed.home == CLV_HOME_DENSE32) {
        how->home = CLV_HOME_DENSE32;
        return CLV_OK;
    }
    CLV_TRY(clv_affinity_plan(ctx, points, how, &plan));
    if (plan.home == CLV_HOME_DENSE32 && how->kind != CLV_AFFINITY_PRECOMPUTED) {
        how->home = how->kind == CLV_AFFINITY_COSINE ? CLV_HOME_LOWRANK : CLV_HOME_COMPUTED;
    }
    return CLV_OK;
}

/* --- the numbers --- */

static bool certificate_agrees(const clv_claim *claim, clv_verdict *out) {
    const clv_certificate *found = &out->certificate;
    double undecided = UNDECIDED_A_CLUSTER * (double)claim->k;
    if (claim->tolerance != found->tolerance) {
        return clv_reject_number(out, "the tolerance of the certificate", claim->tolerance, found->tolerance);
    }
    if (isnan(claim->certificate)) {
        return true; /* a cancelled run claims none */
    }
    if (!(fabs(claim->certificate - found->value) <= CERTIFICATE_DIFFERENCE)) {
        return clv_reject_number(out, found->name, claim->certificate, found->value);
    }
    bool near =
        fabs(claim->certificate - found->tolerance) <= undecided && fabs(found->value - found->tolerance) <= undecided;
    if (claim->holds != (found->value <= found->tolerance) && !near) {
        char value[CLV_NUMBER_SIZE];
        clv_print_number(found->value, value);
        return clv_reject(out, "the certificate is claimed %s, but the data give %s = %s",
                          claim->holds ? "to hold" : "not to hold", found->name, value);
    }
    return true;
}

static bool names_agree(const clv_claim *claim, clv_verdict *out) {
    const struct {
        const char *what, *claimed, *found;
    } pairs[] = {
        {"objective", claim->objective_name, out->objective.name},
        {"sense of the objective", claim->sense, out->objective.maximise ? "max" : "min"},
        {"certificate", claim->certificate_name, out->certificate.name},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(pairs[i].claimed, pairs[i].found) != 0) {
            return clv_reject(out, "the %s is claimed to be '%.80s', but that of %s is '%s'", pairs[i].what,
                              pairs[i].claimed, claim->method, pairs[i].found);
        }
    }
    return true;
}

static void accept(const clv_claim *claim, clv_verdict *out) {
    char value[CLV_NUMBER_SIZE], gain[CLV_NUMBER_SIZE];
    bool same = claim->holds == (out->certificate.value <= out->certificate.tolerance);
    clv_print_number(out->objective.value, value);
    clv_print_number(out->certificate.value, gain);
    out->accepted = 1;
    snprintf(out->reason, sizeof out->reason, "the data give %s = %s and %s = %s, %s", out->objective.name, value,
             out->certificate.name, gain,
             isnan(claim->certificate) ? "and no certificate was claimed"
             : same                    ? "as claimed"
                                       : "which is the claim but for rounding");
}

static clv_status judge(clv_context *ctx, const clv_claim *claim, const clv_affinity *a, const verifiable *method,
                        int64_t threads, clv_verdict *out) {
    /* Labels that the method cannot have given are bad data to it. */
    STEP(blame(ctx, method->evaluate(ctx, a, claim->labels, claim->k, threads, &out->objective, &out->certificate),
               CLV_EDATA, out));
    if (!names_agree(claim, out)) {
        return CLV_OK;
    }
    if (!clv_is_close(claim->objective, out->objective.value, claim->k)) {
        clv_reject_number(out, out->objective.name, claim->objective, out->objective.value);
    } else if (certificate_agrees(claim, out)) {
        STEP(clv_claim_check_graph(ctx, claim, a, method->bound, out));
        accept(claim, out);
    }
    return CLV_OK;
}

/* What is left of the budget for the affinity. */
static clv_status take_budget(clv_context *ctx, const clv_claim *claim, const verifiable *method, int64_t memory,
                              clv_affinity_options *how) {
    size_t needed = method->memory(claim->n, claim->k);
    if (memory > 0 && needed >= (size_t)memory) {
        return clv_fail(ctx, CLV_ENOMEM, "the memory budget of %lld bytes is too small: evaluating %s needs %zu",
                        (long long)memory, method->method, needed);
    }
    how->memory = memory > 0 ? memory - (int64_t)needed : 0;
    return CLV_OK;
}

clv_status clv_claim_verify(clv_context *ctx, const clv_claim *claim, clv_data *data, int64_t memory, int64_t threads,
                            clv_verdict *out) {
    *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
    const verifiable *method = find_method(claim->method);
    clv_affinity_options how;
    clv_affinity *a = NULL;
    if (!method) {
        return clv_fail(ctx, CLV_EDATA, "results of the method '%.80s' cannot be verified", claim->method);
    }
    if (memory < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "memory = %lld is not a number of bytes", (long long)memory);
    }
    STEP(clv_claim_check(ctx, claim, method->table(), clv_data_matrix(data)->rows, out));
    STEP(options_as_claimed(ctx, claim, &how, out));
    STEP(scale_as_claimed(ctx, claim, data, out));
    CLV_TRY(take_budget(ctx, claim, method, memory, &how));
    how.threads = threads;
    STEP(choose_home(ctx, claim, clv_data_matrix(data), &how, out));
    CLV_TRY(clv_affinity_build(ctx, clv_data_matrix(data), &how, &a));
    clv_status status = judge(ctx, claim, a, method, threads, out);
    clv_affinity_free(a);
    return status;
}
