/* The parts of a page (page.c), one file each, and what they are drawn with. */
#ifndef CLV_REPORT_PAGE_H
#define CLV_REPORT_PAGE_H

#include "methods/consensus/consensus.h"
#include "report/report.h"

/* page.css and page.js, as the build embeds them. */
extern const char clv_page_style[], clv_page_script[];

/* The co-association of the sample of a consensus (page_inputs.c). */
typedef struct clv_inputs {
    clv_groups groups;
    clv_association association;
} clv_inputs;

/* What the parts share. All pictures are of the same sample of the objects, so that one list tells what each is. */
typedef struct clv_page {
    clv_context *ctx;
    clv_text *text;
    const clv_report *report;
    const clv_result *result;
    const clv_method *method;         /* NULL: not known here */
    int64_t count;                    /* objects of the sample; 0: no picture has objects */
    int64_t *object;                  /* all, or some of each cluster; rising */
    clv_plane plane;                  /* of the sample */
    bool spectral;                    /* by similarities, not by the points */
    clv_inputs inputs;                /* of a consensus */
    const clv_affinity *similarities; /* NULL: none are shown */
    bool of_sample;                   /* these are of the sample, by their places in it */
} clv_page;

/* --- parts --- */

/* Title, where it comes from, what is proved and what speaks against it (page_head.c). */
void clv_page_head(const clv_page *page);
/* The figures, the metrics, the options and the command (page_figures.c). */
void clv_page_figures(const clv_page *page);
void clv_page_metrics(const clv_page *page);
void clv_page_options(const clv_page *page);
/* Sizes, terms, tables of fields, and the true classes by cluster (page_clusters.c). */
void clv_page_clusters(const clv_page *page);
void clv_page_tables(const clv_page *page);
clv_status clv_page_confusion(const clv_page *page);
/* The table of a range of k, as a picture (page_range.c). */
void clv_page_range(const clv_page *page);
/* The objects in the plane, their memberships, and the list of who they are (page_objects.c). */
void clv_page_plane(const clv_page *page);
clv_status clv_page_memberships(const clv_page *page);
void clv_page_list(const clv_page *page);
/* How far the inputs of a consensus agree on each object (page_confidence.c). */
clv_status clv_page_confidence(const clv_page *page);
/* The similarities, ordered by cluster (page_heat.c). */
clv_status clv_page_heat(const clv_page *page);
/* Of a consensus: the co-association of the sample (page_inputs.c). */
clv_status clv_page_associate(clv_page *page);
void clv_page_inputs_free(clv_page *page);
/* The course of all restarts (page_curves.c). */
void clv_page_curves(const clv_page *page);
/* Weights of features and a path of models; weights of objects (page_weights.c). */
clv_status clv_page_weights(const clv_page *page);
/* A picture and its segments (page_picture.c). */
clv_status clv_page_picture(const clv_page *page);

/* --- words --- */

/* "s", or nothing for one. */
const char *clv_plural(int64_t count);
/* A section with a heading; what it says below is left open, until clv_page_close. */
void clv_page_open(clv_text *text, const char *heading);
void clv_page_close(clv_text *text);
/* "; 5000 of the 100000 objects are shown", if not all are. */
void clv_page_put_share(const clv_page *page, int64_t shown);
/* The positions in the sample of at most `most` objects, by cluster (left out ones last) and then by `key`, the largest
 * first (one per position; NULL: as they come). NULL: no memory. */
int64_t *clv_page_by_cluster(const clv_page *page, int64_t most, const double *key, int64_t *count);

/* --- drawing (svg.c) --- */

enum { CLV_SVG_WIDTH = 760, CLV_SVG_LEFT = 96, CLV_SVG_RIGHT = 16, CLV_SVG_TOP = 44, CLV_SVG_BOTTOM = 40 };

/* From numbers to places. */
typedef struct clv_axes {
    double left, right, low, high; /* of the data */
    int height;
    bool log_x, log_y;
} clv_axes;

/* Clusters have one of eight colors that people with any color vision can tell apart, and one of three marks. */
enum { CLV_COLORS = 8, CLV_MARKS = 3 };
extern const uint8_t clv_palette[CLV_COLORS][3];
void clv_put_color(clv_text *text, int64_t cluster);
/* data-c="3", which the script knows clusters by. */
void clv_put_cluster(clv_text *text, int64_t cluster);
/* A coordinate with one digit after the point. */
void clv_put_tenths(clv_text *text, double value);
double clv_svg_x(const clv_axes *a, double x);
double clv_svg_y(const clv_axes *a, double y);
void clv_svg_point(clv_text *text, char command, const clv_axes *a, double x, double y);
/* `id` makes it a picture that can be reached by the keyboard; NULL: there is nothing to reach. */
void clv_svg_open(clv_text *text, const char *id, int width, int height, const char *label);
void clv_svg_axes(clv_text *text, const clv_axes *a, const char *x_name, const char *y_name);
/* A dashed line at the height of `value`, with its name at the left, where curves that fall have not come to yet. */
void clv_svg_level(clv_text *text, const clv_axes *a, double value, const char *name);
/* The limits of a logarithmic axis that has room for both. */
void clv_svg_decades(double least, double most, double *low, double *high);
/* A picture as the address of an image: data:image/png. */
clv_status clv_put_png(clv_text *text, const clv_image *image);

#endif
