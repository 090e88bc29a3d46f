/* report: what the writers share, and the parser of results. */
#ifndef CLV_REPORT_H
#define CLV_REPORT_H

#include "base/base.h"
#include "engine/result.h"

/* --- pieces of text, without regard to the locale (format.c) --- */

/* The shortest text that reads back as the same number; "null" where JSON has no number for it. */
void clv_put_number(clv_text *text, double value);
/* At most so many significant digits, for people; a dash for what is not a number. */
void clv_put_rounded(clv_text *text, double value, int digits);
/* Seconds: three digits after the point. */
void clv_put_seconds(clv_text *text, double seconds);
/* The first `size` bytes (below 0: all) of a name, spaces for its underscores, at least |width| wide: below 0 to the
 * left, else to the right. */
void clv_put_words(clv_text *text, const char *name, int size, int width);
/* A quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void clv_put_json_string(clv_text *text, const char *string);
/* Text for the body or an attribute of a page. */
void clv_put_html(clv_text *text, const char *string);
/* Hand the text over, or free it when a piece could not be added. */
clv_status clv_take_text(clv_text *text, char **out, size_t *size);

/* What rounding may leave in the objective of a result; and a value of it for people, where that is 0. */
double clv_objective_rounding(const clv_result *result);
void clv_put_objective(clv_text *text, const clv_result *result, double value, int digits);

/* Whether there is something to report: a result that a method claims something of. */
clv_status clv_report_check(clv_context *ctx, const clv_report *report);

/* What the certificate of a result means, as a sentence; "" for a method that is not known here. */
const char *clv_certificate_words(const clv_result *result);

/* What the n of a result are: "objects", or "samples" of a method on those. */
const char *clv_what_is_counted(const clv_result *result);
/* "3 clusters", or "1 cluster (2 of 3 are empty)": those without objects are none. */
void clv_put_clusters(clv_text *text, const clv_result *result);
/* A field in a line, for people: its value, the entries of a short list, the mean of a long one, the size of a matrix.
 */
void clv_put_field(clv_text *text, const clv_field *field);
/* One entry of a field, reals with so many digits. */
void clv_put_entry(clv_text *text, const clv_field *field, int64_t i, int digits);
/* Whether it belongs into a short table: warnings are said elsewhere, and memberships are the labels. */
bool clv_is_for_people(const clv_field *field);
/* How many fields from `first` on are columns of one table: their names are the same up to a dot. 0: it is none. */
int64_t clv_table_columns(const clv_result *result, int64_t first);

/* The terms of a cluster, with commas between, as a page has them; "none" where there are none. */
void clv_put_terms(clv_text *text, const clv_report_terms *terms, int64_t cluster);

/* The next of the metrics that are there, from *at = 0 on; false: there are no more. */
bool clv_next_metric(const clv_report *report, size_t *at, const char **name, double *value);

/* The options of a report one after the other, from {0} on, and the scale where no table has it. */
typedef struct clv_listing {
    const clv_option *option;
    const void *options;
    size_t table, next;
    bool has_scale;
} clv_listing;
bool clv_next_option(const clv_report *report, clv_listing *at);

/* An option's value as a person reads it; for gamma "auto" the number used, when there is one. */
void clv_put_option(clv_text *text, const clv_report *report, const clv_option *option, const void *options,
                    void (*put)(clv_text *, const char *));

/* The next of the sentences about what may be wrong with the data or the result, from *at = 0 on; NULL: no more. */
const char *clv_next_warning(const clv_report *report, int64_t *at);

/* --- objects in the plane, for a picture (plane.c) --- */

typedef struct clv_plane {
    int64_t count; /* 0: there is nothing to show */
    double *x, *y;
} clv_plane;
/* How many of these points a picture can show. */
int64_t clv_plane_most(const clv_matrix *points);
/* The points object[0..count-1] on their first two principal components. */
clv_status clv_plane_of_points(clv_context *ctx, const clv_matrix *points, const int64_t *object, int64_t count,
                               clv_plane *out);
/* The same objects on the second and third eigenvector of the normalized affinity of all, where that takes moments. */
clv_status clv_plane_of_affinity(clv_context *ctx, const clv_affinity *affinity, const int64_t *object, int64_t count,
                                 clv_plane *out);
void clv_plane_free(clv_context *ctx, clv_plane *plane);

/* --- results read back (claim.c), and judged (consistency.c, verify.c) --- */

/* No run takes longer (300 years), or counts further; and no other start ends so many times as far from 0. */
#define CLV_MOST_SECONDS 1e10
#define CLV_MOST_COUNTED 1e12
#define CLV_MOST_TIMES 1e100

enum { CLV_UNSEEN = 80 };

typedef struct clv_claim_entry {
    char *name, *text;
} clv_claim_entry;

/* Whether these points, scaled, have the fingerprint that is claimed, if one is. */
bool clv_claim_is_of(const clv_claim *claim, const clv_matrix *points);

struct clv_claim {
    clv_context *ctx;
    clv_result *result; /* what is claimed; labels and sizes only where there are as many as there must be */
    char *method, *solver, *objective_name, *sense, *certificate_name;
    char *bound_name;  /* "" when not said */
    char *kind, *home; /* of the affinity; "" when not said */
    char *used;        /* of the file; "" when not said */
    char **columns;    /* their names; NULL: not said */
    int64_t columns_count;
    char *fingerprint; /* of the points; "" when not said */
    double *fill;      /* NULL: not said */
    int64_t filled;
    double *dropped; /* NULL: not said */
    int64_t dropped_count;
    double *shift, *factor;            /* NULL: not said */
    int64_t scaled;                    /* how many columns these are for */
    double gamma;                      /* as used; NaN: none */
    double recall;                     /* of its neighbors; NaN: exact, or none */
    int64_t landmarks;                 /* 0: none */
    double trace_error, sampled_error; /* by them; NaN: none */
    int64_t chosen_on;                 /* of a kind that was chosen; 0: none */
    double agreement[3];               /* of the candidates; NaN: none */
    char *reason;
    int64_t bytes, nonzeros;
    double gap_percent; /* NaN: not said */
    int64_t options_count;
    clv_claim_entry *options;
    clv_home verified_in;      /* AUTO: as the budget allows */
    int64_t device_memory;     /* on a card that it is verified on; 0: what is free there */
    bool without_bound;        /* eigenvalues are not computed again */
    double *metrics;           /* as clv_metrics lists them, and the silhouette; NaN: not said. NULL: there are none */
    bool compared;             /* those of agreement were looked at */
    char *unseen;              /* CLV_UNSEEN bytes: what the last evaluation has not looked at */
    bool has_terms, has_range; /* of clusters of documents; a table of several k */
    bool has_reason, other_reason; /* why it is this k; this is not about it */
    char doubt[256]; /* why this cannot be true, as far as reading it can tell; "": nothing speaks against it */
};

/* `name` is for messages. `method` lists the fields; NULL: the one that the claim names. */
clv_status clv_claim_parse(clv_context *ctx, const char *name, const char *text, size_t size, const clv_method *method,
                           clv_claim **out);

/* Put the reason why the claim is rejected. Returns false. */
__attribute__((format(printf, 2, 3))) bool clv_reject(clv_verdict *out, const char *format, ...);
bool clv_reject_number(clv_verdict *out, const char *what, double claimed, double found);
/* How far a claimed number may lie from the recomputed one: 1e-9 of it, and 1e-12 per cluster where it is near 0. */
double clv_allowed_difference(double found, int64_t k);
/* Whether both are numbers, and no further apart than `allowed`, which must be one too. */
bool clv_is_within(double claimed, double found, double allowed);
/* Whether there are as many labels, sizes and entries of fields as its n and k say, and no more clusters than objects:
 * what has room made for it by k is in the text as well. */
bool clv_claim_has_shape(const clv_claim *claim, const clv_method *method, clv_verdict *out);
/* Reject a claim that contradicts itself, the options of its method or the number of objects: what can be told without
 * computing anything. */
clv_status clv_claim_check(clv_context *ctx, const clv_claim *claim, const clv_method *method,
                           const clv_control *control, int64_t objects, clv_verdict *out);
/* Every option of the method and of the run that the claim names, threads aside; and those of its affinity. What is not
 * allowed is a reason to reject it. */
struct clv_options_room;
clv_status clv_claimed_options(clv_context *ctx, const clv_claim *claim, const clv_method *method, int64_t threads,
                               struct clv_options_room *options, clv_verdict *out);
clv_status clv_claimed_affinity(clv_context *ctx, const clv_claim *claim, clv_affinity_options *how, clv_verdict *out);
/* clv_claim_verify by a method of one's own, whatever the claim names. */
clv_status clv_claim_verify_by(clv_context *ctx, const clv_method *named, const clv_claim *claim, const clv_input *data,
                               int64_t memory, int64_t threads, clv_verdict *out);

#endif
