/* The best one-to-one matching of classes to clusters: the most objects whose class is matched to their cluster.
 *
 * Tables of up to TABLE_LIMIT entries are written out for clv_assign. Larger ones (thousands of labels a side, mostly
 * empty) are matched on their cells alone, by shortest augmenting paths with Dijkstra's algorithm in whole numbers:
 * each class enters by the cheapest alternating path that ends in a free cluster, or in a class that goes without.
 * Costs are the negated counts, going without costs 0, and prices keep the reduced costs of all cells at 0 or above.
 * O(classes cells log cells) at worst, usually far less as a search ends at the first free cluster; O(cells) memory. */
#include "linalg/linalg.h"
#include "metrics/metrics.h"

#include <string.h>

enum { TABLE_LIMIT = 1 << 20 };

/* --- all cells, zeros included --- */

clv_status clv_match_dense(const clv_contingency *table, int64_t *covered) {
    clv_kept work = {.ctx = table->kept.ctx};
    double *weight = CLV_TAKE0(&work, double, table->classes * table->clusters); /* both below 2^31 */
    int64_t *match = CLV_TAKE(&work, int64_t, table->classes);
    clv_status status = work.status;
    *covered = 0;
    for (int64_t i = 0; status == CLV_OK && i < table->classes; i++) {
        for (int64_t c = table->start[i]; c < table->start[i + 1]; c++) {
            weight[i * table->clusters + table->cluster[c]] = (double)table->count[c];
        }
    }
    if (status == CLV_OK) {
        status = clv_assign(work.ctx, weight, table->classes, table->clusters, match);
    }
    for (int64_t i = 0; status == CLV_OK && i < table->classes; i++) {
        *covered += match[i] >= 0 ? (int64_t)weight[i * table->clusters + match[i]] : 0;
    }
    clv_free_kept(&work);
    return status;
}

/* --- a heap of clusters by distance; outdated entries stay and are skipped --- */

typedef struct entry {
    int64_t distance;
    int32_t cluster;
} entry;

typedef struct heap {
    entry *items;
    int64_t size;
} heap;

static void push(heap *h, entry e) {
    int64_t at = h->size++;
    for (; at > 0 && h->items[(at - 1) / 2].distance > e.distance; at = (at - 1) / 2) {
        h->items[at] = h->items[(at - 1) / 2];
    }
    h->items[at] = e;
}

static entry pop(heap *h) {
    entry top = h->items[0], last = h->items[--h->size];
    int64_t at = 0, child;
    while ((child = 2 * at + 1) < h->size) {
        child += child + 1 < h->size && h->items[child + 1].distance < h->items[child].distance;
        if (h->items[child].distance >= last.distance) {
            break;
        }
        h->items[at] = h->items[child];
        at = child;
    }
    h->items[at] = last;
    return top;
}

/* --- the matching on the cells --- */

typedef struct matching {
    clv_kept kept;
    const clv_contingency *table;
    int64_t *class_price, *cluster_price; /* the latter is 0 for a free cluster */
    int32_t *class_of, *cluster_of;       /* -1: free, without */
    int64_t *distance;                    /* of clusters; valid where reached_by is not -1 */
    int32_t *reached_by;                  /* the class from which a cluster was reached in this search, or -1 */
    unsigned char *done;                  /* clusters whose distance is final */
    int32_t *reached;                     /* clusters reached in this search */
    int64_t reached_count;
    heap open;
} matching;

/* Where a search ends: a free cluster, or a class that gives up its own. */
typedef struct path_end {
    int64_t length;
    int32_t cluster, without;
} path_end;

static clv_status new_matching(const clv_contingency *table, matching *m) {
    clv_context *ctx = table->kept.ctx;
    *m = (matching){.kept.ctx = ctx, .table = table};
    m->class_price = CLV_TAKE0(&m->kept, int64_t, table->classes);
    m->cluster_price = CLV_TAKE0(&m->kept, int64_t, table->clusters);
    m->class_of = CLV_TAKE(&m->kept, int32_t, table->clusters);
    m->cluster_of = CLV_TAKE(&m->kept, int32_t, table->classes);
    m->distance = CLV_TAKE(&m->kept, int64_t, table->clusters);
    m->reached_by = CLV_TAKE(&m->kept, int32_t, table->clusters);
    m->done = CLV_TAKE0(&m->kept, unsigned char, table->clusters);
    m->reached = CLV_TAKE(&m->kept, int32_t, table->clusters);
    m->open.items = CLV_TAKE(&m->kept, entry, table->cells);
    CLV_TRY(m->kept.status);
    memset(m->class_of, 0xff, (size_t)table->clusters * sizeof *m->class_of); /* -1 */
    memset(m->cluster_of, 0xff, (size_t)table->classes * sizeof *m->cluster_of);
    memset(m->reached_by, 0xff, (size_t)table->clusters * sizeof *m->reached_by);
    return CLV_OK;
}

/* The largest price that keeps the reduced costs of an entering class at 0 or above. */
static int64_t entry_price(const matching *m, int32_t class) {
    const clv_contingency *table = m->table;
    int64_t least = 0;
    for (int64_t c = table->start[class]; c < table->start[class + 1]; c++) {
        int64_t cost = -table->count[c] - m->cluster_price[table->cluster[c]];
        least = cost < least ? cost : least;
    }
    return least;
}

/* Reach on from a class at `distance`: to its clusters, and to the end where it goes without. */
static void reach(matching *m, int32_t class, int64_t distance, path_end *end) {
    const clv_contingency *table = m->table;
    int64_t base = distance - m->class_price[class];
    if (base < end->length) {
        *end = (path_end){.length = base, .cluster = -1, .without = class};
    }
    for (int64_t c = table->start[class]; c < table->start[class + 1]; c++) {
        int32_t j = table->cluster[c];
        int64_t through = base - table->count[c] - m->cluster_price[j];
        bool is_new = m->reached_by[j] < 0;
        if (m->done[j] || through >= end->length || (!is_new && through >= m->distance[j])) {
            continue;
        }
        if (is_new) {
            m->reached[m->reached_count++] = j;
        }
        m->distance[j] = through;
        m->reached_by[j] = class;
        push(&m->open, (entry){through, j});
    }
}

static path_end search(matching *m, int32_t entrant) {
    path_end end = {.length = INT64_MAX, .cluster = -1, .without = -1};
    m->open.size = m->reached_count = 0;
    m->class_price[entrant] = entry_price(m, entrant);
    reach(m, entrant, 0, &end);
    while (m->open.size > 0) {
        entry nearest = pop(&m->open);
        int32_t j = nearest.cluster;
        if (nearest.distance >= end.length) {
            break;
        }
        if (m->done[j] || nearest.distance > m->distance[j]) {
            continue;
        }
        if (m->class_of[j] < 0) {
            return (path_end){.length = nearest.distance, .cluster = j, .without = -1};
        }
        m->done[j] = 1;
        reach(m, m->class_of[j], nearest.distance, &end);
    }
    return end;
}

/* Prices after a search, which is forgotten; m->reached_by of the reached clusters stays for the path. */
static void set_prices(matching *m, int32_t entrant, int64_t length) {
    m->class_price[entrant] += length;
    for (int64_t r = 0; r < m->reached_count; r++) {
        int32_t j = m->reached[r];
        if (m->done[j]) {
            m->class_price[m->class_of[j]] += length - m->distance[j];
            m->cluster_price[j] -= length - m->distance[j];
            m->done[j] = 0;
        }
    }
}

static void flip_path(matching *m, int32_t entrant, path_end end) {
    int32_t cluster = end.cluster;
    if (end.without >= 0) {
        cluster = m->cluster_of[end.without];
        m->cluster_of[end.without] = -1;
    }
    while (cluster >= 0) {
        int32_t class = m->reached_by[cluster];
        int32_t given_up = class == entrant ? -1 : m->cluster_of[class];
        m->class_of[cluster] = class;
        m->cluster_of[class] = cluster;
        cluster = given_up;
    }
    for (int64_t r = 0; r < m->reached_count; r++) {
        m->reached_by[m->reached[r]] = -1;
    }
}

static int64_t covered_by(const matching *m) {
    const clv_contingency *table = m->table;
    int64_t covered = 0;
    for (int64_t i = 0; i < table->classes; i++) {
        for (int64_t c = table->start[i]; c < table->start[i + 1]; c++) {
            covered += table->cluster[c] == m->cluster_of[i] ? table->count[c] : 0;
        }
    }
    return covered;
}

clv_status clv_match_sparse(const clv_contingency *table, int64_t *covered) {
    matching m;
    clv_status status = new_matching(table, &m);
    for (int32_t entrant = 0; entrant < table->classes && status == CLV_OK; entrant++) {
        path_end end = search(&m, entrant);
        set_prices(&m, entrant, end.length);
        flip_path(&m, entrant, end);
        if (clv_interrupted(table->kept.ctx)) {
            status = clv_stop_failure(table->kept.ctx, "matching %lld classes to %lld clusters",
                                      (long long)table->classes, (long long)table->clusters);
        }
    }
    if (status == CLV_OK) {
        *covered = covered_by(&m);
    }
    clv_free_kept(&m.kept);
    return status;
}

clv_status clv_match(const clv_contingency *table, int64_t *covered) {
    bool small = table->classes == 0 || table->clusters <= TABLE_LIMIT / table->classes;
    return small ? clv_match_dense(table, covered) : clv_match_sparse(table, covered);
}
