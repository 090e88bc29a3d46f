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
 * never (0, 0): whatever the step length, and also if all corners so far are combined in the best way, Frank-Wolfe
 * stays away from the minimum. In (14) it always chooses (0, 0). Projected subgradients reach it in both. With the
 * argument "paths" every step is printed as CSV, for a picture like figure 1 of the paper. Every clustering method of
 * this library has a smooth objective. */
#include <math.h>
#include <stdio.h>

typedef struct point {
    double x, y;
} point;

/* The last one is no Frank-Wolfe: projected subgradients, for contrast. */
typedef enum step_rule { OPEN_LOOP, LINE_SEARCH, FULLY_CORRECTIVE, SUBGRADIENT, RULES } step_rule;

static const point corners[3] = {{0, 0}, {-1, 3}, {1, 3}};

/* max(slope x + y, -slope x + y) */
static double value_at(double slope, point at) {
    return slope * fabs(at.x) + at.y;
}

/* The corner where a subgradient at the point is least. On x = 0 the subgradient is chosen as for x > 0. */
static point best_corner(double slope, point at) {
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

/* The least point of the hull of the start and the corners in use: at one of these, or between two where x = 0. */
static point correct(double slope, const point *atoms, int count) {
    point best = atoms[0];
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
            point at = between(atoms[a], atoms[b], search_length(slope, atoms[a], atoms[b]));
            best = value_at(slope, at) < value_at(slope, best) ? at : best;
        }
    }
    return best;
}

/* The nearest point of the triangle. */
static point project(point at) {
    point best = at;
    double least = HUGE_VAL;
    if (at.y <= 3 && 3 * fabs(at.x) <= at.y) {
        return at;
    }
    for (int c = 0; c < 3; c++) {
        point from = corners[c], to = corners[(c + 1) % 3];
        double wx = to.x - from.x, wy = to.y - from.y;
        double t = ((at.x - from.x) * wx + (at.y - from.y) * wy) / (wx * wx + wy * wy);
        point near = between(from, to, fmin(fmax(t, 0), 1));
        double distance = hypot(near.x - at.x, near.y - at.y);
        best = distance < least ? near : best;
        least = fmin(least, distance);
    }
    return best;
}

/* Along a subgradient by 1 / (t + 1)^(1/2), which need not lower f; `best` is the lowest so far. */
static point descend(double slope, point at, int t, point *best) {
    double gx = at.x < 0 ? -slope : slope, length = 1 / sqrt(t + 1.0) / hypot(gx, 1);
    point next = project((point){at.x - length * gx, at.y - length});
    *best = value_at(slope, next) < value_at(slope, *best) ? next : *best;
    return next;
}

/* `steps` steps, into `path` where it is not NULL; `met_origin` says whether the corner (0, 0) was ever chosen. */
static point run(double slope, point start, step_rule rule, int steps, int *met_origin, point *path) {
    point at = start, best = start, atoms[4] = {start};
    int count = 1, used[3] = {0};
    *met_origin = 0;
    for (int t = 0; t < steps; t++) {
        point corner = best_corner(slope, at);
        int which = corner.y < 1 ? 0 : corner.x < 0 ? 1 : 2;
        if (rule == SUBGRADIENT) {
            at = descend(slope, at, t, &best);
        } else if (rule == FULLY_CORRECTIVE) {
            atoms[count] = corner;
            count += !used[which];
            used[which] = 1;
            at = correct(slope, atoms, count);
        } else {
            at = between(at, corner, rule == OPEN_LOOP ? 2.0 / (t + 2) : search_length(slope, at, corner));
        }
        *met_origin = *met_origin || (rule != SUBGRADIENT && which == 0);
        if (path) {
            path[t] = at;
        }
    }
    return rule == SUBGRADIENT ? best : at;
}

enum { STEPS = 2000 };

static void show(int problem, step_rule rule, int paths) {
    static const char *const names[] = {"open loop", "line search", "fully corrective", "subgradient"};
    static const double slopes[2] = {5, 0.5};
    static point path[STEPS];
    const point start = {0.1, 1};
    int met_origin;
    point end = run(slopes[problem], start, rule, STEPS, &met_origin, path);
    for (int t = 0; t <= STEPS && paths; t++) {
        point at = t > 0 ? path[t - 1] : start;
        printf("1%d,%s,%d,%.9g,%.9g,%.9g\n", 3 + problem, names[rule], t, at.x, at.y, value_at(slopes[problem], at));
    }
    if (!paths) {
        printf("(1%d), %-16s  f = %.4f after %d steps, minimum 0; the corner (0, 0) was %s\n", 3 + problem, names[rule],
               value_at(slopes[problem], end), STEPS,
               rule == SUBGRADIENT ? "not needed"
               : met_origin        ? "chosen"
                                   : "never chosen");
    }
}

int main(int argc, char **argv) {
    int paths = argc > 1 && argv[1][0] == 'p';
    if (paths) {
        puts("problem,rule,step,x,y,f");
    }
    for (int problem = 0; problem < 2; problem++) {
        for (int rule = OPEN_LOOP; rule < RULES; rule++) {
            show(problem, (step_rule)rule, paths);
        }
    }
    return 0;
}
