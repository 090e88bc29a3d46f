/* report: what the writers share, and the parser of results. */
#ifndef CLV_REPORT_H
#define CLV_REPORT_H

#include "base/base.h"

/* --- pieces of text, without regard to the locale (format.c) --- */

/* The shortest text that reads back as the same number; "null" where JSON has no number for it. */
void clv_put_number(clv_text *text, double value);
/* At most so many significant digits, for people; a dash for what is not a number. */
void clv_put_rounded(clv_text *text, double value, int digits);
/* Seconds: three digits after the point. */
void clv_put_seconds(clv_text *text, double seconds);
/* A quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void clv_put_json_string(clv_text *text, const char *string);
/* Text for the body or an attribute of a page. */
void clv_put_html(clv_text *text, const char *string);
/* Hand the text over, or free it when a piece could not be added. */
clv_status clv_take_text(clv_text *text, char **out, size_t *size);

/* How far the objective lies from its bound, in percent of the objective; NaN without a bound. */
double clv_gap_percent(const clv_result *result);
/* The same of two numbers; 0 where the objective has reached the bound, or passed it by rounding. */
double clv_gap(double objective, double bound, bool maximize);

/* What the certificate of a result means, as a sentence. */
const char *clv_certificate_words(const clv_certificate *certificate);

/* The members of clv_scores by name, for listing. */
typedef struct clv_score_name {
    const char *name;
    size_t offset;
} clv_score_name;
extern const clv_score_name clv_score_names[];
extern const size_t clv_score_count;
double clv_score(const clv_scores *scores, const clv_score_name *name);

/* An option's value as a person reads it; for gamma "auto" the number used, when there is one. */
void clv_put_option(clv_text *text, const clv_report *report, const clv_option *option, const void *options,
                    void (*put)(clv_text *, const char *));

/* --- pictures (svg.c, plane.c) --- */

/* The color of a cluster, as CSS has it. */
void clv_put_color(clv_text *text, int64_t cluster);
void clv_put_convergence_plot(clv_text *text, const clv_result *result);

/* Points on their first two principal components. */
typedef struct clv_plane {
    int64_t count;
    int64_t *object; /* the objects shown: all, or evenly spaced ones */
    double *x, *y;
} clv_plane;
/* count = 0 when there is nothing to show: no columns, or so many that the points would not fit in a page's memory. */
clv_status clv_plane_new(clv_context *ctx, const clv_matrix *points, clv_plane *out);
void clv_plane_free(clv_context *ctx, clv_plane *plane);
void clv_put_scatter_plot(clv_text *text, const clv_plane *plane, const clv_result *result);

/* --- results read back (claim.c), and judged (consistency.c, graph.c, verify.c) --- */

typedef struct clv_claim_entry {
    char *name, *text;
} clv_claim_entry;

typedef struct clv_claim_restart {
    double objective;
    int64_t iterations;
    char *stop; /* "" when not said */
} clv_claim_restart;

struct clv_claim {
    clv_context *ctx;
    char *method, *solver, *stop;
    char *objective_name, *sense, *certificate_name;
    char *bound_name;  /* "" when not said */
    char *kind, *home; /* of the affinity; "" when not said */
    double gamma;      /* as used; NaN: none */
    int64_t n, k, left_out, seed, iterations;
    int64_t labels_count, sizes_count, options_count, restarts_count;
    int32_t *labels; /* NULL with count 0: not said, and neither are the sizes */
    int64_t *sizes;
    clv_claim_entry *options;
    clv_claim_restart *restarts;
    double objective;
    double bound;       /* NaN: none */
    double gap_percent; /* NaN: not said */
    double certificate; /* NaN: the run ended before it was computed */
    double tolerance;
    bool holds;
    int64_t components;  /* -1: not said */
    double shift, drift; /* NaN: not said */
    int64_t eigenvalues_count;
    double *eigenvalues;  /* NULL: not said */
    clv_data *membership; /* CSR, as many rows as it says and k columns; NULL: not said, as all below */
    clv_data *centers;    /* dense doubles */
    clv_data *weights;    /* CSR */
    int64_t intercepts_count, classes_count;
    double *intercepts, *classes;
    clv_soft soft; /* numbers that are not said are NaN; `degenerate` follows from them */
    int64_t entropy_count, expected_count;
    int64_t clusters_count;
    clv_cluster *clusters;
    int64_t passes; /* 0: not said */
};

/* `name` is for messages. */
clv_status clv_claim_parse(clv_context *ctx, const char *name, const char *text, size_t size, clv_claim **out);

/* What a claim is judged by. */
typedef struct clv_evidence {
    const clv_claim *claim;       /* consistent, with the labels that it must have */
    const clv_matrix *points;     /* scaled as claimed; with a given affinity, that itself */
    const clv_affinity *affinity; /* built as claimed; NULL for methods on points alone */
    const clv_data *second;       /* as read; NULL unless the method takes two operands */
    int64_t threads;
} clv_evidence;

/* How the results of a method are verified. */
typedef struct clv_verifier {
    const char *method;
    const clv_option_table *(*table)(void);
    /* Bytes of the evaluation, besides points and affinity. */
    size_t (*memory)(const clv_claim *claim, const clv_matrix *points);
    /* Objective and certificate of what is claimed, with the tolerance, into out->objective and out->certificate. It
     * may reject by clv_reject; CLV_EDATA says that the claim cannot be. */
    clv_status (*evaluate)(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out);
    /* Set what the method asks of its affinity besides the options claimed; NULL: nothing. */
    void (*adapt)(const clv_claim *claim, clv_affinity_options *how);
    /* How many objects the points are; NULL: as many as rows. */
    int64_t (*objects)(const clv_claim *claim, const clv_matrix *points);
    const char *bound;    /* its name; NULL: the method has none. Other bounds than "eigenvalue" are for `evaluate` */
    bool points_only;     /* works without an affinity, and claims none */
    bool k_at_most;       /* the option k is the most clusters to find; there may be none */
    bool two_operands;    /* the method was given a second file, and so must be the verification */
    bool second_possible; /* it may have been given one: `evaluate` asks for it */
    bool unlabeled;       /* gives no labels; k is no number of clusters */
    bool objective_scale; /* the certificate is in units of the objective, and so is what may differ in it */
} clv_verifier;

/* Those that are more than a few lines have a file of their own. */
extern const clv_verifier clv_verify_dominant;                     /* verify_dominant.c */
extern const clv_verifier clv_verify_symnmf;                       /* verify_symnmf.c */
extern const clv_verifier clv_verify_kpalm;                        /* verify_kpalm.c */
extern const clv_verifier clv_verify_ksupport, clv_verify_pursuit; /* verify_ksupport.c */

/* Put the reason why the claim is rejected. Returns false. */
__attribute__((format(printf, 2, 3))) bool clv_reject(clv_verdict *out, const char *format, ...);
bool clv_reject_number(clv_verdict *out, const char *what, double claimed, double found);
/* How far a claimed number may lie from the recomputed one: 1e-9 of it, and 1e-12 a cluster where it is near 0. */
double clv_allowed_difference(double found, int64_t k);
bool clv_is_close(double claimed, double found, int64_t k);
/* Reject a claim that contradicts itself or the shape of the points: what can be told without computing anything. */
clv_status clv_claim_check(clv_context *ctx, const clv_claim *claim, const clv_verifier *method,
                           const clv_matrix *points, clv_verdict *out);
/* Reject memberships, centers, clusters and passes that cannot be (soundness.c). */
bool clv_claim_check_model(const clv_claim *claim, const clv_matrix *points, clv_verdict *out);
/* Reject what is claimed of the graph `a` (NULL: there is none) and cannot be: components, shift, drift, eigenvalues,
 * and a bound called other than `bound_name` (NULL: the method has none) or that those eigenvalues do not give. */
clv_status clv_claim_check_graph(clv_context *ctx, const clv_claim *claim, const clv_affinity *a,
                                 const char *bound_name, clv_verdict *out);
/* clv_claim_verify_both by a verifier of one's own, whatever method the claim names. */
clv_status clv_claim_verify_by(clv_context *ctx, const clv_verifier *method, const clv_claim *claim, clv_data *data,
                               const clv_data *second, int64_t memory, int64_t threads, clv_verdict *out);

#endif
