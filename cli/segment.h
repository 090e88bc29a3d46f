/* What cleave segment hands to the methods (segment.c, segmenters.c). */
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
    int quiet;
} segment_options;

typedef struct segment_job {
    const cli_app *app;
    cli_args args;
    segment_options options;
    clv_superpixel_options superpixels;
    clv_region_weights weights;
    clv_control control;
    clv_image image;      /* as read */
    clv_image small;      /* for --pixels */
    clv_regions *regions; /* the objects: superpixels of the image, or pixels of the small one */
    clv_data *points;     /* a row an object */
    clv_data *graph;      /* similarities of objects near each other, if the method wants them */
    clv_affinity *affinity;
    clv_result *result; /* NULL: there was nothing to tell apart, all is one segment */
    int32_t *labels;    /* from malloc: of the pixels of the image */
    int64_t segments;
    double object_seconds, solve_seconds;
} segment_job;

/* A method that can segment: one entry of the table. */
typedef struct cli_segmenter {
    const char *name;
    /* Cluster job->points; fills job->result. The control is the job's, its time limit what is left of it. */
    clv_status (*solve)(segment_job *job, const clv_control *control);
} cli_segmenter;

extern const cli_segmenter cli_segmenters[];
/* Their names, as the choices of an option. */
#define CLI_SEGMENTER_NAMES "dominant|ncut|symnmf|kpalm"

#endif
