/* Assignment: in a rows x cols table of weights, match each line of the shorter side to its own line of the longer one
 * so that the total weight is largest.
 *
 * Shortest augmenting paths with dual prices (Jonker and Volgenant 1987; rectangular form of Crouse 2016): the lines of
 * the shorter side ("agents") enter one by one, each by the cheapest alternating path to a free line of the longer
 * side ("tasks"). Costs are the negated weights; the prices keep every reduced cost cost - agent price - task price at
 * zero or above, and at zero on the matching, which proves it optimal. O(min^2 max) time, O(max) memory. */
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

typedef struct assignment {
    clv_kept kept;
    const double *weight;
    int64_t agents, tasks;
    int64_t agent_step, task_step; /* in the table: rows are the agents unless there are more rows than columns */
    double *agent_price, *task_price;
    double *distance;    /* of tasks, on the current search */
    int64_t *agent_of;   /* of a task, or -1 */
    int64_t *task_of;    /* of an agent, or -1 */
    int64_t *came_from;  /* the agent from which a task was reached */
    unsigned char *done; /* tasks whose distance is final */
} assignment;

static clv_status new_assignment(clv_context *ctx, const double *weight, int64_t rows, int64_t cols, assignment *a) {
    bool tall = rows > cols;
    *a = (assignment){.kept.ctx = ctx,
                      .weight = weight,
                      .agents = tall ? cols : rows,
                      .tasks = tall ? rows : cols,
                      .agent_step = tall ? 1 : cols,
                      .task_step = tall ? cols : 1};
    a->agent_price = CLV_TAKE0(&a->kept, double, a->agents);
    a->task_price = CLV_TAKE0(&a->kept, double, a->tasks);
    a->distance = CLV_TAKE(&a->kept, double, a->tasks);
    a->agent_of = CLV_TAKE(&a->kept, int64_t, a->tasks);
    a->task_of = CLV_TAKE(&a->kept, int64_t, a->agents);
    a->came_from = CLV_TAKE(&a->kept, int64_t, a->tasks);
    a->done = CLV_TAKE(&a->kept, unsigned char, a->tasks);
    CLV_TRY(a->kept.status);
    memset(a->agent_of, 0xff, (size_t)a->tasks * sizeof *a->agent_of); /* -1 */
    memset(a->task_of, 0xff, (size_t)a->agents * sizeof *a->task_of);
    return CLV_OK;
}

/* Shorten the distances of the open tasks through `agent`, itself at `distance`; the nearest open task. */
static int64_t relax(assignment *a, int64_t agent, double distance) {
    const double *weight = a->weight + agent * a->agent_step;
    double base = distance - a->agent_price[agent];
    int64_t nearest = -1;
    for (int64_t t = 0; t < a->tasks; t++) {
        if (a->done[t]) {
            continue;
        }
        double through = base - weight[t * a->task_step] - a->task_price[t];
        if (through < a->distance[t]) {
            a->distance[t] = through;
            a->came_from[t] = agent;
        }
        if (nearest < 0 || a->distance[t] < a->distance[nearest] ||
            (!(a->distance[t] > a->distance[nearest]) && a->agent_of[t] < 0 && a->agent_of[nearest] >= 0)) {
            nearest = t; /* among equals a free task, which ends the search */
        }
    }
    return nearest;
}

/* Bring `entrant` into the matching: grow the tree of shortest paths to a free task, set the prices, flip the path. */
static void augment(assignment *a, int64_t entrant) {
    for (int64_t t = 0; t < a->tasks; t++) {
        a->distance[t] = HUGE_VAL;
        a->done[t] = 0;
    }
    int64_t task = relax(a, entrant, 0);
    while (a->agent_of[task] >= 0) {
        a->done[task] = 1;
        task = relax(a, a->agent_of[task], a->distance[task]);
    }
    double length = a->distance[task];
    a->agent_price[entrant] += length;
    for (int64_t t = 0; t < a->tasks; t++) {
        if (a->done[t]) {
            a->agent_price[a->agent_of[t]] += length - a->distance[t];
            a->task_price[t] -= length - a->distance[t];
        }
    }
    for (int64_t agent = -1; agent != entrant;) {
        agent = a->came_from[task];
        int64_t given_up = a->task_of[agent];
        a->agent_of[task] = agent;
        a->task_of[agent] = task;
        task = given_up;
    }
}

clv_status clv_assign(clv_context *ctx, const double *weight, int64_t rows, int64_t cols, int64_t *match) {
    enum { MOMENT = 1 << 24 }; /* operations; small tables are matched after a time limit and Ctrl-C too */
    assignment a;
    clv_status status = new_assignment(ctx, weight, rows, cols, &a);
    int64_t worked = 0;
    for (int64_t agent = 0; agent < a.agents && status == CLV_OK; agent++) {
        augment(&a, agent);
        worked += (agent + 1) * a.tasks; /* at most */
        if (worked > MOMENT && clv_interrupted(ctx)) {
            status = clv_stop_failure(ctx, "matching a table of %lld x %lld", (long long)rows, (long long)cols);
        }
    }
    for (int64_t row = 0; status == CLV_OK && row < rows; row++) {
        match[row] = rows > cols ? a.agent_of[row] : a.task_of[row];
    }
    clv_free_kept(&a.kept);
    return status;
}
