/* Where Frank-Wolfe fails: the pair of problems of section 4 of Zhao and Gordon, "Frank-Wolfe optimization for
 * symmetric-NMF under simplicial constraint".
 *
 *     cc nonsmooth.c -lm -o nonsmooth && ./nonsmooth
 *
 * Both minimize a convex, piecewise linear function over the triangle with the corners (-1, 3), (1, 3) and (0, 0):
 *
 *     (13)  max(5 x + y, -5 x + y)            (14)  max(x/2 + y, -x/2 + y)
 *
 * Both have their only minimum, 0, at (0, 0), and both are nonsmooth on the line x = 0: their curvature is unbounded.
 * In (13) the gradient anywhere else points so far sideways that the linear problem chooses one of the upper corners,
 * never (0, 0): whatever the step length, Frank-Wolfe stays away from the minimum. In (14) it always chooses (0, 0).
 * Every clustering method of this library has a smooth objective. */
#include <math.h>
#include <stdio.h>

typedef struct point {
    double x, y;
} point;

typedef enum step_rule { OPEN_LOOP, LINE_SEARCH } step_rule;

/* max(slope x + y, -slope x + y) */
static double value_at(double slope, point at) {
    return slope * fabs(at.x) + at.y;
}

/* The corner where a subgradient at the point is least. On x = 0 the subgradient is chosen as for x > 0. */
static point best_corner(double slope, point at) {
    static const point corners[3] = {{0, 0}, {-1, 3}, {1, 3}};
    double gx = at.x < 0 ? -slope : slope;
    int best = 0;
    for (int c = 1; c < 3; c++) {
        double here = gx * corners[c].x + corners[c].y, least = gx * corners[best].x + corners[best].y;
        best = here < least ? c : best;
    }
    return corners[best];
}

static point between(point from, point to, double t) {
    return (point){from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)};
}

/* The least point on the way to the corner: at an end, or where the way crosses x = 0. */
static double search_length(double slope, point from, point to) {
    double crossing = from.x * to.x < 0 ? from.x / (from.x - to.x) : 1, best = 0;
    const double candidates[2] = {crossing, 1};
    for (int c = 0; c < 2; c++) {
        if (value_at(slope, between(from, to, candidates[c])) < value_at(slope, between(from, to, best))) {
            best = candidates[c];
        }
    }
    return best;
}

/* `steps` steps of Frank-Wolfe; `met_origin` says whether the corner (0, 0) was ever chosen. */
static point frank_wolfe(double slope, point start, step_rule rule, int steps, int *met_origin) {
    point at = start;
    *met_origin = 0;
    for (int t = 0; t < steps; t++) {
        point corner = best_corner(slope, at);
        double length = rule == OPEN_LOOP ? 2.0 / (t + 2) : search_length(slope, at, corner);
        *met_origin = *met_origin || corner.y < 1;
        at = between(at, corner, length);
    }
    return at;
}

int main(void) {
    static const double slopes[2] = {5, 0.5};
    const point start = {0.1, 1};
    for (int problem = 0; problem < 2; problem++) {
        for (int rule = OPEN_LOOP; rule <= LINE_SEARCH; rule++) {
            int met_origin;
            point end = frank_wolfe(slopes[problem], start, (step_rule)rule, 2000, &met_origin);
            printf("(1%d), %-11s  f = %.4f after 2000 steps, minimum 0; the corner (0, 0) was %s\n", 3 + problem,
                   rule == OPEN_LOOP ? "open loop" : "line search", value_at(slopes[problem], end),
                   met_origin ? "chosen" : "never chosen");
        }
    }
    return 0;
}
