/* What the files of cleave segment share.
 * segment.c is the command, segment_plan.c its memory, segmenters.c the methods. */
#ifndef CLEAVE_CLI_SEGMENT_H
#define CLEAVE_CLI_SEGMENT_H

#include "cli.h"

typedef struct segment_options {
    int method; /* of cli_segment_method */
    int64_t k;
    const char *pixels;
    int64_t reach;
    double sigma;
    const char *solver; /* NULL: the method's own */
    int polish;
    int64_t least;  /* pixels of a piece; 0: auto */
    int64_t memory; /* 0: auto */
    const char *output, *overlay, *fill, *labels, *points, *json;
    int numbers; /* the label image is one of 16-bit numbers, not of colors */
    int dry_run, progress, quiet, verbose;
} segment_options;

/* What a run holds at most, in bytes. */
typedef struct segment_plan {
    size_t objects;               /* while they are made */
    clv_affinity_info affinity;   /* of all objects, or of those near each other; no home: there are no similarities */
    size_t method, method_thread; /* on all threads, on one */
    size_t labels;                /* while pixels get theirs */
} segment_plan;

typedef struct cli_segmenter cli_segmenter;

typedef struct segment_job {
    const cli_app *app;
    cli_args args;
    segment_options options;
    const clv_method *method;
    const cli_segmenter *segmenter;
    _Alignas(max_align_t) char method_options[CLI_METHOD_OPTIONS];
    clv_control asked, *control; /* as given, and in the options of the method */
    cli_checkpoint checkpoint;
    clv_superpixel_options superpixels;
    clv_region_weights weights;
    bool chosen_k;         /* k is the method's own, not asked for */
    int64_t width, height; /* of --pixels; 0: superpixels */
    clv_image image;       /* as read */
    clv_image small;       /* for --pixels */
    clv_regions *regions;  /* the objects: superpixels of the image, or pixels of the small one */
    clv_data *points;      /* one row per object */
    clv_data *graph;       /* similarities as a matrix, if the method wants one */
    segment_plan plan;
    clv_affinity *affinity;
    double *scaled;           /* from malloc: the points times a factor, if the method wants them */
    clv_matrix scaled_points; /* of these */
    clv_result *result;       /* NULL: there was nothing to tell apart, all is one segment */
    int32_t *labels;          /* from malloc: of the pixels of the image */
    int64_t segments;
    double object_seconds, solve_seconds;
} segment_job;

/* How a method is set up to segment. Functions may be NULL, but for `input`. */
struct cli_segmenter {
    const char *method;
    int64_t k;                                               /* segments, unless -k says how many */
    bool similarity;                                         /* wants minimax similarities of all objects, */
    bool zero_diagonal;                                      /* without those of an object to itself, */
    int64_t most;                                            /* if there are at most so many; 0: of any number */
    bool near;                                               /* wants the graph of objects near each other */
    bool restarts;                                           /* starts by random numbers */
    size_t (*more)(const clv_matrix *points);                /* bytes besides the method's own */
    int64_t (*columns)(const clv_matrix *points);            /* of what it clusters, where that is not the points */
    void (*set)(void *options);                              /* what the options are beside their defaults */
    clv_status (*input)(segment_job *job, clv_input *input); /* what it works on, of job->points */
};

const cli_segmenter *cli_segmenter_of(const clv_method *method);
/* The methods that can segment, from 0 on; NULL: no more. Their names, as the choices of an option. */
const clv_method *cli_segment_method(int number);
const char *cli_segment_methods(void);
/* How the similarities of all objects are built. */
void cli_segment_similarity(const segment_job *s, clv_affinity_options *how);

/* The picture has been read: whether its objects, and with --pixels the method as well, will fit the budget. */
clv_status cli_segment_plan_objects(segment_job *s);
/* The objects have been made: whether the method will fit. Fills s->plan; may lower the number of threads. */
clv_status cli_segment_plan_method(segment_job *s);
/* --dry-run: tell the plan. */
clv_status cli_segment_forecast(const segment_job *s);

#endif
