/* What the files of cleave segment share.
 * segment.c is the command, segment_plan.c its memory, segmenters.c the methods. */
#ifndef CLEAVE_CLI_SEGMENT_H
#define CLEAVE_CLI_SEGMENT_H

#include "cli.h"

typedef struct segment_options {
    int method; /* index into the table of segmenters */
    int64_t k;
    const char *pixels;
    int64_t reach;
    double sigma;
    int64_t least;  /* pixels of a piece; 0: auto */
    int64_t memory; /* 0: auto */
    const char *output, *overlay, *labels, *points, *json;
    int dry_run, progress, quiet, verbose;
} segment_options;

/* What a run holds at most, in bytes. */
typedef struct segment_plan {
    size_t objects;  /* while they are made */
    size_t affinity; /* the similarities, or the graph of objects near each other */
    size_t affinity_peak;
    size_t method, method_thread; /* on all threads, on one */
    size_t labels;                /* while pixels get theirs */
    clv_home home;                /* of the similarities; AUTO: there are none */
} segment_plan;

typedef struct segment_job {
    const cli_app *app;
    cli_args args;
    segment_options options;
    clv_superpixel_options superpixels;
    clv_region_weights weights;
    clv_control control;
    bool chosen_k;         /* k is the method's own, not asked for */
    int64_t width, height; /* of --pixels; 0: superpixels */
    clv_image image;       /* as read */
    clv_image small;       /* for --pixels */
    clv_regions *regions;  /* the objects: superpixels of the image, or pixels of the small one */
    clv_data *points;      /* a row an object */
    clv_data *graph;       /* similarities as a matrix, if the method wants one */
    segment_plan plan;
    clv_affinity *affinity;
    double *scaled;     /* from malloc: the points times a factor, if the method wants them */
    clv_result *result; /* NULL: there was nothing to tell apart, all is one segment */
    int32_t *labels;    /* from malloc: of the pixels of the image */
    int64_t segments;
    double object_seconds, solve_seconds;
} segment_job;

/* A method that can segment: one entry of the table. */
typedef struct cli_segmenter {
    const char *name;
    int64_t k; /* segments, unless -k says how many */
    /* Which options the similarity of all objects is built with; NULL: the method wants none. */
    void (*similarity)(const segment_job *job, clv_affinity_options *how);
    int64_t most;  /* the objects for which it wants them; 0: for any number */
    bool near;     /* wants the graph of objects near each other */
    bool restarts; /* starts by random numbers */
    /* Bytes that the method holds itself, for `points` (rows and columns count) on so many threads. */
    size_t (*memory)(const segment_job *job, const clv_matrix *points, clv_home home, int64_t threads);
    /* Cluster job->points; fills job->result. The control is the job's, its time limit what is left of it. */
    clv_status (*solve)(segment_job *job, const clv_control *control);
} cli_segmenter;

extern const cli_segmenter cli_segmenters[];
/* Their names, as the choices of an option. */
#define CLI_SEGMENTER_NAMES "dominant|ncut|symnmf|kpalm"

/* The budget in bytes: --memory, or half of the machine's. */
size_t cli_segment_budget(const segment_job *s);
/* The picture has been read: whether its objects, and with --pixels the method as well, will fit the budget. */
clv_status cli_segment_plan_objects(segment_job *s);
/* The objects have been made: whether the method will fit. Fills s->plan; may lower the number of threads. */
clv_status cli_segment_plan_method(segment_job *s);
/* --dry-run: tell the plan. */
clv_status cli_segment_forecast(const segment_job *s);

#endif
