/* Verification: scale and affinity are rebuilt from the raw data as the claim says, objective and certificate are
 * recomputed, and everything is compared. The bound is not computed again, only compared with the eigenvalues claimed
 * beside it: to prove those takes an eigensolver, and a factorization against missed ones. A false claim is a verdict;
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
/* So near to the tolerance, a cluster, rounding decides. */
#define UNDECIDED_A_CLUSTER 1e-14

/* As of a single start without any improvement. */
static size_t ncut_memory(const clv_claim *claim, const clv_matrix *points) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = claim->k;
    options.control.restarts = 1;
    options.polish = 0;
    options.bound = CLV_NCUT_BOUND_NO;
    return clv_ncut_memory(points->rows, CLV_HOME_AUTO, &options);
}

static clv_status ncut_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    return clv_ncut_evaluate(ctx, evidence->affinity, claim->labels, claim->k, evidence->threads, &out->objective,
                             &out->certificate);
}

static const clv_verifier verify_ncut = {
    .method = "ncut", .table = clv_ncut_table, .memory = ncut_memory, .evaluate = ncut_evaluate, .bound = "eigenvalue"};

/* Methods that can be verified: a new one adds an entry. */
static const clv_verifier *const verifiers[] = {&verify_ncut,      &clv_verify_dominant, &clv_verify_symnmf,
                                                &clv_verify_kpalm, &clv_verify_ksupport, &clv_verify_pursuit};

static const clv_verifier *find_verifier(const char *method) {
    for (size_t i = 0; i < sizeof verifiers / sizeof verifiers[0]; i++) {
        if (strcmp(verifiers[i]->method, method) == 0) {
            return verifiers[i];
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
    const clv_option_table *table = clv_affinity_table();
    clv_affinity_defaults(how);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->options[i].name, *value = clv_claim_option(claim, name);
        /* Where it lives and in how much memory is decided here. */
        if (value && strcmp(name, "home") != 0 && strcmp(name, "memory") != 0) {
            STEP(blame(ctx, clv_options_set(ctx, table, how, name, value), CLV_EUSAGE, out));
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

/* What may differ: by rounding between two evaluations, in absolute terms or in units of the objective. */
typedef struct allowance {
    double certificate, tolerance;
    double undecided; /* so near to the tolerance rounding decides whether the certificate holds */
} allowance;

static allowance allowed(const clv_claim *claim, const clv_verifier *method, const clv_verdict *out) {
    double undecided = UNDECIDED_A_CLUSTER * fmax((double)claim->k, 1);
    if (!method->objective_scale) {
        return (allowance){CERTIFICATE_DIFFERENCE, 0, undecided};
    }
    /* A tolerance that is a share of the objective is rounded as that is. */
    return (allowance){CERTIFICATE_DIFFERENCE * fabs(out->objective.value),
                       CERTIFICATE_DIFFERENCE * fabs(out->certificate.tolerance),
                       undecided * fabs(out->objective.value)};
}

static bool certificate_agrees(const clv_claim *claim, const clv_verifier *method, clv_verdict *out) {
    const clv_certificate *found = &out->certificate;
    allowance most = allowed(claim, method, out);
    if (!(fabs(claim->tolerance - found->tolerance) <= most.tolerance)) {
        return clv_reject_number(out, "the tolerance of the certificate", claim->tolerance, found->tolerance);
    }
    if (isnan(claim->certificate)) {
        return true; /* a cancelled run claims none */
    }
    if (!(fabs(claim->certificate - found->value) <= most.certificate)) {
        return clv_reject_number(out, found->name, claim->certificate, found->value);
    }
    bool near = fabs(claim->certificate - claim->tolerance) <= most.undecided &&
                fabs(found->value - found->tolerance) <= most.undecided;
    if (claim->holds != (found->value <= found->tolerance) && !near) {
        char value[CLV_NUMBER_SIZE];
        clv_print_number(found->value, value);
        return clv_reject(out, "the certificate is claimed %s, but the data give %s = %s",
                          claim->holds ? "to hold" : "not to hold", found->name, value);
    }
    return true;
}

static bool objective_agrees(const clv_claim *claim, const clv_verifier *method, const clv_verdict *out) {
    double found = out->objective.value;
    return method->objective_scale ? fabs(claim->objective - found) <= CERTIFICATE_DIFFERENCE * fabs(found)
                                   : clv_is_close(claim->objective, found, claim->k);
}

static bool names_agree(const clv_claim *claim, clv_verdict *out) {
    const struct {
        const char *what, *claimed, *found;
    } pairs[] = {
        {"objective", claim->objective_name, out->objective.name},
        {"sense of the objective", claim->sense, out->objective.maximize ? "max" : "min"},
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

static clv_status judge(clv_context *ctx, const clv_verifier *method, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    /* Labels that the method cannot have given are bad data to it. */
    STEP(blame(ctx, method->evaluate(ctx, evidence, out), CLV_EDATA, out));
    if (!names_agree(claim, out)) {
        return CLV_OK;
    }
    if (!objective_agrees(claim, method, out)) {
        clv_reject_number(out, out->objective.name, claim->objective, out->objective.value);
    } else if (certificate_agrees(claim, method, out)) {
        STEP(clv_claim_check_graph(ctx, claim, evidence->affinity, method->bound, out));
        accept(claim, out);
    }
    return CLV_OK;
}

/* What is left of the budget for the affinity. */
static clv_status take_budget(clv_context *ctx, const clv_evidence *evidence, const clv_verifier *method,
                              int64_t memory, int64_t *left) {
    size_t needed = method->memory(evidence->claim, evidence->points), held = 0, peak;
    if (method->points_only) { /* else the affinity counts what is held already */
        clv_context_memory(ctx, &held, &peak);
    }
    if (memory > 0 && held + needed >= (size_t)memory) {
        return clv_fail(ctx, CLV_ENOMEM, "the memory budget of %lld bytes is too small: evaluating %s needs %zu",
                        (long long)memory, method->method, held + needed);
    }
    *left = memory > 0 ? memory - (int64_t)needed : 0;
    return CLV_OK;
}

static clv_status judge_with_affinity(clv_context *ctx, const clv_verifier *method, clv_evidence *evidence,
                                      clv_affinity_options *how, clv_verdict *out) {
    clv_affinity *a = NULL;
    how->threads = evidence->threads;
    STEP(choose_home(ctx, evidence->claim, evidence->points, how, out));
    CLV_TRY(clv_affinity_build(ctx, evidence->points, how, &a));
    evidence->affinity = a;
    clv_status status = judge(ctx, method, evidence, out);
    clv_affinity_free(a);
    return status;
}

clv_status clv_claim_verify_by(clv_context *ctx, const clv_verifier *method, const clv_claim *claim, clv_data *data,
                               const clv_data *second, int64_t memory, int64_t threads, clv_verdict *out) {
    *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
    clv_evidence evidence = {.claim = claim, .second = second, .threads = threads};
    clv_affinity_options how;
    if (!method->second_possible && method->two_operands != (second != NULL)) {
        return clv_fail(ctx, CLV_EUSAGE, "results of %s are verified by %s of data", method->method,
                        method->two_operands ? "two files" : "one file");
    }
    if (memory < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "memory = %lld is not a number of bytes", (long long)memory);
    }
    STEP(clv_claim_check(ctx, claim, method, clv_data_matrix(data), out));
    if (!method->points_only) {
        STEP(options_as_claimed(ctx, claim, &how, out));
        if (method->adapt) {
            method->adapt(claim, &how);
        }
    }
    STEP(scale_as_claimed(ctx, claim, data, out));
    evidence.points = clv_data_matrix(data);
    CLV_TRY(take_budget(ctx, &evidence, method, memory, &how.memory));
    return method->points_only ? judge(ctx, method, &evidence, out)
                               : judge_with_affinity(ctx, method, &evidence, &how, out);
}

clv_status clv_claim_verify(clv_context *ctx, const clv_claim *claim, clv_data *data, int64_t memory, int64_t threads,
                            clv_verdict *out) {
    return clv_claim_verify_both(ctx, claim, data, NULL, memory, threads, out);
}

clv_status clv_claim_verify_both(clv_context *ctx, const clv_claim *claim, clv_data *data, const clv_data *second,
                                 int64_t memory, int64_t threads, clv_verdict *out) {
    const clv_verifier *method = find_verifier(claim->method);
    if (!method) {
        *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
        return clv_fail(ctx, CLV_EDATA, "results of the method '%.80s' cannot be verified", claim->method);
    }
    return clv_claim_verify_by(ctx, method, claim, data, second, memory, threads, out);
}
