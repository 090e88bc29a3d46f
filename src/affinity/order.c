/* An order of points by a tree of halves: what is near comes near. The leaves have the same size, whatever the points
 * are, so that block b of the order is leaf b. Level by level, the nodes of a level shared out over threads: a node is
 * split by one thread, hence the same order on any number of them. Cost: log2(n / leaf) passes over the points. */
#include "affinity/knn.h"

#include <math.h>
#include <omp.h>

clv_status clv_search_on(clv_context *ctx, int64_t work) {
    return clv_worked(ctx, work) ? clv_stop_failure(ctx, "looking for the nearest neighbors") : CLV_OK;
}

clv_status clv_rows_new(clv_context *ctx, const clv_panels *panels, int threads, clv_rows *out) {
    int64_t entries = 0, p = panels->features, stride = (p + CLV_ROW_PAD - 1) / CLV_ROW_PAD * CLV_ROW_PAD;
    *out =
        (clv_rows){panels->n, p, stride, clv_mul(panels->n, stride, &entries) ? CLV_NEW(ctx, double, entries) : NULL};
    if (!out->values) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = 0; i < panels->n; i++) {
        const double *point = panels->values + i / CLV_TILE * p * CLV_TILE + i % CLV_TILE;
        for (int64_t f = 0; f < stride; f++) {
            out->values[i * stride + f] = f < p ? point[f * CLV_TILE] : 0;
        }
    }
    return CLV_OK;
}

typedef struct keyed {
    double key;
    int64_t object;
} keyed;

static bool before(keyed l, keyed r) {
    return l.key < r.key || (l.key == r.key && l.object < r.object);
}

static void exchange(keyed *x, int64_t i, int64_t j) {
    keyed held = x[i];
    x[i] = x[j];
    x[j] = held;
}

/* The `rank` first come first. No two are equal. */
static void select_first(keyed *x, int64_t n, int64_t rank) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (before(x[middle], x[low])) {
            exchange(x, middle, low);
        }
        if (before(x[high], x[low])) {
            exchange(x, high, low);
        }
        if (before(x[high], x[middle])) {
            exchange(x, high, middle);
        }
        keyed pivot = x[middle];
        int64_t i = low, j = high;
        while (i <= j) {
            for (; before(x[i], pivot); i++) {
            }
            for (; before(pivot, x[j]); j--) {
            }
            if (i <= j) {
                exchange(x, i++, j--);
            }
        }
        if (rank <= j) {
            high = j;
        } else if (rank >= i) {
            low = i;
        } else {
            return;
        }
    }
}

typedef struct tree {
    clv_context *ctx;
    const clv_rows *points;
    int64_t leaf;
    uint64_t seed;
    keyed *items;      /* n: in the order so far */
    int64_t *node;     /* bounds of the nodes of a level, in leaves: one more than there are nodes */
    int64_t *next;     /* of the level below */
    double *direction; /* 2 features for each thread's node */
} tree;

/* The column in which these points spread widest. */
static int64_t widest(const clv_rows *points, const keyed *items, int64_t count, double *low, double *high) {
    int64_t p = points->features, best = 0;
    for (int64_t f = 0; f < p; f++) {
        low[f] = high[f] = points->values[items[0].object * points->stride + f];
    }
    for (int64_t m = 1; m < count; m++) {
        const double *x = points->values + items[m].object * points->stride;
        for (int64_t f = 0; f < p; f++) {
            low[f] = x[f] < low[f] ? x[f] : low[f];
            high[f] = x[f] > high[f] ? x[f] : high[f];
        }
    }
    for (int64_t f = 1; f < p; f++) {
        best = high[f] - low[f] > high[best] - low[best] ? f : best;
    }
    return best;
}

/* The direction from one point to another, both drawn; `stream` names the node. */
static void draw_direction(const tree *t, const keyed *items, int64_t count, uint64_t stream, double *direction) {
    clv_rng rng = clv_rng_stream(t->seed, stream);
    int64_t p = t->points->features;
    const double *x = t->points->values + items[clv_rng_below(&rng, count)].object * t->points->stride;
    const double *y = t->points->values + items[clv_rng_below(&rng, count)].object * t->points->stride;
    for (int64_t f = 0; f < p; f++) {
        direction[f] = x[f] - y[f];
    }
}

/* Not by a kernel: the order is the same on all machines. */
static double product(const double *x, const double *y, int64_t p) {
    double sum = 0;
    for (int64_t f = 0; f < p; f++) {
        sum += x[f] * y[f];
    }
    return sum;
}

/* Split the node of leaves first..last - 1 before leaf `middle`. */
static void split_node(const tree *t, int64_t first, int64_t middle, int64_t last, double *direction) {
    int64_t p = t->points->features, stride = t->points->stride, from = first * t->leaf, n = t->points->n;
    int64_t count = (last * t->leaf < n ? last * t->leaf : n) - from;
    keyed *items = t->items + from;
    if (t->seed == 0) {
        int64_t axis = widest(t->points, items, count, direction, direction + p);
        for (int64_t m = 0; m < count; m++) {
            items[m].key = t->points->values[items[m].object * stride + axis];
        }
    } else {
        draw_direction(t, items, count, (uint64_t)(first + last), direction);
        for (int64_t m = 0; m < count; m++) {
            double along = product(t->points->values + items[m].object * stride, direction, p);
            items[m].key = isfinite(along) ? along : 0;
        }
    }
    select_first(items, count, (middle - first) * t->leaf);
}

/* The level below: nodes of more than one leaf become two. Returns how many nodes there are. */
static int64_t halve(const tree *t, int64_t nodes) {
    int64_t made = 0;
    for (int64_t v = 0; v < nodes; v++) {
        int64_t leaves = t->node[v + 1] - t->node[v];
        t->next[made++] = t->node[v];
        if (leaves > 1) {
            t->next[made++] = t->node[v] + leaves / 2;
        }
    }
    t->next[made] = t->node[nodes];
    return made;
}

static clv_status grow(tree *t, int threads) {
    int64_t leaves = (t->points->n + t->leaf - 1) / t->leaf, nodes = 1, p = t->points->features;
    atomic_bool stopped = false;
    t->node[0] = 0;
    t->node[1] = leaves;
    while (nodes < leaves && !stopped) {
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
        for (int64_t v = 0; v < nodes; v++) {
            int64_t first = t->node[v], last = t->node[v + 1];
            if (last - first > 1 && clv_goes_on(t->ctx, &stopped, (last - first) * t->leaf * p)) {
                double *direction = t->direction + omp_get_thread_num() * 2 * p;
                split_node(t, first, first + (last - first) / 2, last, direction);
            }
        }
        nodes = halve(t, nodes);
        int64_t *held = t->node;
        t->node = t->next;
        t->next = held;
    }
    return stopped ? clv_stop_failure(t->ctx, "looking for the nearest neighbors") : CLV_OK;
}

clv_status clv_tree_order(clv_context *ctx, const clv_rows *points, int64_t leaf, uint64_t seed, int threads,
                          int64_t *order) {
    clv_kept kept = {.ctx = ctx};
    int64_t leaves = (points->n + leaf - 1) / leaf;
    tree t = {.ctx = ctx, .points = points, .leaf = leaf, .seed = seed};
    t.items = CLV_TAKE(&kept, keyed, points->n);
    t.node = CLV_TAKE(&kept, int64_t, leaves + 2);
    t.next = CLV_TAKE(&kept, int64_t, leaves + 2);
    t.direction = CLV_TAKE(&kept, double, 2 * points->features * threads);
    clv_status status = kept.status;
    if (status == CLV_OK) {
        for (int64_t i = 0; i < points->n; i++) {
            t.items[i] = (keyed){0, i};
        }
        status = grow(&t, threads);
    }
    for (int64_t i = 0; i < points->n && status == CLV_OK; i++) {
        order[i] = t.items[i].object;
    }
    clv_free_kept(&kept);
    return status;
}
