/* JSON: one value becomes another, is left out or doubled, or goes under another name. */
#include "mutate.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { MOST_NODES = 4096, FLAGS = JSON_ALLOW_NUL | JSON_DECODE_ANY };

/* Where a value stands: in an object under a key, or in an array. */
typedef struct node {
    json_t *parent, *value;
    const char *key;
    size_t index;
} node;

typedef struct nodes {
    node list[MOST_NODES];
    size_t count;
} nodes;

static void collect(nodes *all, json_t *value) {
    const char *key;
    size_t index;
    json_t *child;
    json_object_foreach(value, key, child) {
        if (all->count < MOST_NODES) {
            all->list[all->count++] = (node){value, child, key, 0};
            collect(all, child);
        }
    }
    json_array_foreach(value, index, child) {
        if (all->count < MOST_NODES) {
            all->list[all->count++] = (node){value, child, NULL, index};
            collect(all, child);
        }
    }
}

/* Numbers and texts that stand in results, and that must not. */
static json_t *draw_value(clv_rng *rng, const json_t *was) {
    static const double reals[] = {
        0, 0.5, 1, -1, 1e-12, 1e154, -1e154, 1e-308, 1e308, 0.9999, 1e16, 4503599627370497.5, 3.0000001, 2.5};
    static const json_int_t integers[] = {0,  1,  2,   3,       4,         5,         8,        16,
                                          -1, -2, 100, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
    static const char *const texts[] = {"",        "auto",        "none",      "converged", "ncut",     "symnmf",
                                        "kpalm",   "dominant",    "consensus", "ksupport",  "pursuit",  "gaussian",
                                        "knn",     "precomputed", "local",     "dense-f64", "low-rank", "time limit",
                                        "stalled", "1e309",       "-k",        "2:5"};
    double real = json_number_value(was);
    switch (clv_rng_below(rng, 8)) {
    case 0:
        return json_real(FUZZ_PICK(rng, reals));
    case 1:
        return json_integer(FUZZ_PICK(rng, integers));
    case 2:
        return json_string(FUZZ_PICK(rng, texts));
    case 3:
        return clv_rng_below(rng, 2) ? json_null() : json_boolean(clv_rng_below(rng, 2));
    case 4:
        return clv_rng_below(rng, 2) ? json_array() : json_object();
    default: /* close to what it was */
        return json_is_integer(was)
                   ? json_integer((json_int_t)((uint64_t)json_integer_value(was) + 1 - (uint64_t)clv_rng_below(rng, 3)))
               : json_is_real(was) ? json_real(fabs(real) < 1e300 ? nextafter(real, 1e300) * 1.5 : 0)
                                   : json_string(FUZZ_PICK(rng, texts));
    }
}

static void put(const node *where, json_t *value) {
    if (where->key) {
        json_object_set_new(where->parent, where->key, value);
    } else {
        json_array_set_new(where->parent, where->index, value);
    }
}

static void change(clv_rng *rng, const nodes *all) {
    const node *at = &all->list[clv_rng_below(rng, (int64_t)all->count)];
    const node *other = &all->list[clv_rng_below(rng, (int64_t)all->count)];
    switch (clv_rng_below(rng, 8)) {
    case 0:
        if (at->key) {
            json_object_del(at->parent, at->key);
        } else {
            json_array_remove(at->parent, at->index);
        }
        break;
    case 1: /* once more, or under another name */
        if (!at->key) {
            json_array_insert_new(at->parent, at->index, json_deep_copy(at->value));
        } else if (other->key) {
            json_object_set_new(at->parent, other->key, json_deep_copy(at->value));
        }
        break;
    case 2:
        put(at, json_deep_copy(other->value));
        break;
    default:
        put(at, draw_value(rng, at->value));
    }
}

size_t fuzz_mutate_json(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    static nodes all;
    json_t *root = json_loadb((const char *)bytes, size, FLAGS, NULL);
    size_t used = 0;
    all.count = 0;
    if (root) {
        collect(&all, root);
    }
    if (all.count > 0) {
        change(rng, &all);
        used = json_dumpb(root, (char *)bytes, most, JSON_COMPACT | JSON_ENCODE_ANY);
    }
    json_decref(root);
    return used <= most ? used : 0;
}
