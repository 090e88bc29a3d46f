/* After (2.2): the panel of the new centers, and how far they moved.
 *
 * A lower bound falls by the way of the center that went farthest, which may be one of a few that go far while all
 * others hardly move. So these few, one vector of them, are set apart as the movers: against all others a lower bound
 * falls by the way of the next one only, and objects that come into doubt by the movers alone are compared with them
 * alone. */
#include "methods/kpalm/kpalm.h"

#include <math.h>

double *clv_part_sums(const clv_kpalm_state *s, int64_t chunk) {
    const clv_kpalm_problem *p = s->problem;
    return s->parts + chunk * p->k * (p->p + 1);
}

double *clv_part_soft(const clv_kpalm_state *s, int64_t chunk) {
    const clv_kpalm_problem *p = s->problem;
    return s->parts + (p->chunks + chunk) * p->k * (p->p + 1);
}

clv_status clv_movers_new(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t few = clv_panel_lanes(p->points->scalar);
    if (!p->form.bounds || p->k < 3 * few) {
        return CLV_OK;
    }
    s->mover = CLV_NEW(p->ctx, int32_t, few + 1);
    return s->mover ? clv_panel_new(p->ctx, p->points, few, &s->movers) : CLV_ENOMEM;
}

/* The centers that went farthest, one vector of them; what no other one exceeds. */
static void find_movers(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    const float *moved = s->slack.moved;
    int64_t few = s->movers.k, listed = 0;
    float rest = 0;
    for (int32_t l = 0; l < p->k && few > 0; l++) { /* the farthest first, one more than wanted on the way */
        int64_t at = listed < few ? listed++ : few;
        for (; at > 0 && moved[s->mover[at - 1]] < moved[l]; at--) {
            s->mover[at] = s->mover[at - 1];
        }
        s->mover[at] = l;
        rest = l >= few && moved[s->mover[few]] > rest ? moved[s->mover[few]] : rest;
    }
    if (few > 0) {
        s->slack.rest = rest;
        clv_panel_pick(clv_panel_now(s), s->mover, s->movers.lines, s->movers.offset, 0);
    }
}

/* How far the centers went, and what that does to bounds. */
static void find_movements(clv_kpalm_state *s, bool moved) {
    const clv_kpalm_problem *p = s->problem;
    clv_slack *slack = &s->slack;
    double most = 0, next = 0;
    int64_t mover = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double square = moved ? clv_squared_distance(s->centers + l * p->p, s->before + l * p->p, p->p) : 0;
        double way = sqrt(square) / p->frame.unit * (1 + 2 * CLV_LOOSE);
        slack->moved[l] = (float)way;
        next = fmax(next, fmin(way, most));
        mover = way > most ? l : mover;
        most = fmax(most, way);
    }
    for (int64_t l = 0; l < p->k; l++) {
        slack->others[l] = (float)(l == mover ? next : most);
    }
    slack->rest = (float)most;
    find_movers(s);
    slack->gap = (float)(4 * clv_panel_now(s)->error * (1 + CLV_LOOSE));
}

void clv_centers_publish(clv_kpalm_state *s, bool moved) {
    const clv_kpalm_problem *p = s->problem;
    s->moved = moved;
    s->panel = s->t < s->panel_count ? s->t : s->panel_count - 1;
    clv_panel_fill(&s->panels[s->panel], &p->frame, s->centers);
    for (int64_t l = 0; l < p->k; l++) {
        s->square[l] = clv_square_of(s->centers + l * p->p, NULL, p->p);
    }
    if (p->form.bounds) {
        find_movements(s, moved);
        clv_vicinity_update(s);
    }
}
