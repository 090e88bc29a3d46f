/* The page of a consensus: the objects by what the inputs say of them.
 *
 * The co-association of the sample alone is worked with, so that nothing is as large as all objects times all clusters
 * of all inputs. */
#include "linalg/linalg.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

/* Numbers in F. */
#define ROOM 40000000

void clv_page_inputs_free(clv_page *page) {
    clv_association_free(&page->inputs.association);
    clv_groups_free(&page->inputs.groups);
}

static clv_status associate(clv_page *page, const clv_matrix *rows) {
    clv_inputs *in = &page->inputs;
    CLV_TRY(clv_groups_new(page->ctx, rows, page->report->widths, &in->groups));
    if (in->groups.width > ROOM / page->count) {
        return CLV_OK;
    }
    CLV_TRY(clv_association_new(&in->groups, false, 1, &in->association));
    page->similarities = in->association.affinity;
    page->of_sample = page->spectral = true;
    return CLV_OK;
}

/* Objects that the inputs do not tell apart would be one dot: they are put around their place, as seeds lie in a
 * sunflower, so that all in one place would take an eighth of the picture. */
static void spread(const clv_groups *g, clv_plane *plane) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    double *const axes[2] = {plane->x, plane->y};
    for (int64_t i = 0; i < plane->count; i++) {
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], axes[a][i]);
            high[a] = fmax(high[a], axes[a][i]);
        }
    }
    for (int64_t i = plane->count - 1; i >= 0; i--) {
        int64_t before = 0;
        for (int64_t j = 0; j < i; j++) {
            before += g->group[j] == g->group[i];
        }
        double radius = 0.125 * sqrt((double)before / (double)plane->count), angle = 2.39996 * (double)before;
        plane->x[i] += radius * cos(angle) * (high[0] - low[0]);
        plane->y[i] += radius * sin(angle) * (high[1] - low[1]);
    }
}

/* Where every object of the sample lies. */
static clv_status place(clv_page *page) {
    int64_t *places = CLV_NEW(page->ctx, int64_t, page->count);
    if (!places) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < page->count; i++) {
        places[i] = i;
    }
    clv_status status = clv_plane_of_affinity(page->ctx, page->similarities, places, page->count, &page->plane);
    clv_free(page->ctx, places);
    if (status == CLV_OK) {
        spread(&page->inputs.groups, &page->plane);
    }
    return status;
}

clv_status clv_page_associate(clv_page *page) {
    const clv_matrix *m = page->report->partitions;
    if (m->rows != page->result->n) {
        return CLV_OK;
    }
    double *values = CLV_NEW(page->ctx, double, page->count * m->cols);
    if (!values) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < page->count; i++) {
        clv_matrix_row(m, page->object[i], values + i * m->cols);
    }
    clv_status status = associate(page, &(clv_matrix){.rows = page->count, .cols = m->cols, .values = values});
    clv_free(page->ctx, values);
    if (status == CLV_EDATA) { /* all of the sample are left out by all inputs */
        return CLV_OK;
    }
    return status < 0 || !page->of_sample ? status : place(page);
}
