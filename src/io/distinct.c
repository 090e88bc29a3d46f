/* Which of n texts or numbers are the same: each is looked for in a table by its hash. O(n) time and memory; classes
 * are then numbered in ascending order, which takes a sort of the distinct ones alone. */
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

/* Items that lie `stride` bytes apart. */
typedef struct item_list {
    clv_context *ctx;
    const char *name; /* of the file */
    const char *first;
    size_t stride, size;
    int64_t n;
    uint64_t (*hash)(const void *item);
    clv_order compare;
} item_list;

/* A slot holds the place of an item from 1, and above it some bits of its hash, so that few items are compared; 0: it
 * is empty. */
enum { PLACE_BITS = 40 };
typedef struct item_table {
    const item_list *items;
    uint64_t *slots; /* owned */
    uint64_t mask;
} item_table;

static const void *item_at(const item_list *items, int64_t i) {
    return items->first + (size_t)i * items->stride;
}

static clv_status open_table(const item_list *items, item_table *t) {
    int64_t slots = 16;
    while (slots < items->n + items->n / 2) {
        slots *= 2;
    }
    *t = (item_table){.items = items, .slots = CLV_NEW0(items->ctx, uint64_t, slots), .mask = (uint64_t)slots - 1};
    return t->slots ? CLV_OK : CLV_ENOMEM;
}

/* The first item that is as item i, among those that were looked for before and itself. */
static int64_t look_for(item_table *t, int64_t i) {
    const uint64_t place = (1ULL << PLACE_BITS) - 1;
    const void *item = item_at(t->items, i);
    uint64_t hash = t->items->hash(item), tag = hash & ~place;
    for (uint64_t s = hash & t->mask;; s = (s + 1) & t->mask) {
        uint64_t slot = t->slots[s];
        if (slot == 0) {
            t->slots[s] = tag | (uint64_t)(i + 1);
            return i;
        }
        int64_t other = (int64_t)(slot & place) - 1;
        if ((slot & ~place) == tag && t->items->compare(item, item_at(t->items, other)) == 0) {
            return other;
        }
    }
}

/* Whether to go on with item i. */
static clv_status go_on(const item_list *items, int64_t i) {
    enum { ITEMS_A_POLL = 1 << 12, WORK_AN_ITEM = 64 };
    return i % ITEMS_A_POLL == 0 ? clv_read_on(items->ctx, items->name, WORK_AN_ITEM * (i > 0 ? ITEMS_A_POLL : 0))
                                 : CLV_OK;
}

static clv_status find_repeated(const item_list *items, int64_t *row) {
    item_table table;
    *row = -1;
    clv_status status = open_table(items, &table);
    for (int64_t i = 0; status == CLV_OK && *row < 0 && i < items->n; i++) {
        int64_t first = look_for(&table, i);
        *row = first < i ? first : -1;
        status = go_on(items, i);
    }
    clv_free(items->ctx, table.slots);
    return status;
}

/* Labels in the order in which items first appear; *count: how many there are. */
static clv_status number_items(const item_list *items, int32_t *labels, int64_t *count) {
    item_table table;
    *count = 0;
    clv_status status = open_table(items, &table);
    for (int64_t i = 0; status == CLV_OK && i < items->n && *count <= INT32_MAX; i++) {
        int64_t first = look_for(&table, i);
        labels[i] = first < i ? labels[first] : (int32_t)(*count)++;
        status = go_on(items, i);
    }
    clv_free(items->ctx, table.slots);
    return status == CLV_OK && *count > INT32_MAX
               ? clv_fail(items->ctx, CLV_EDATA, "there are more than %d classes, more than labels can count",
                          INT32_MAX)
               : status;
}

/* Such labels become ranks among the `count` distinct items. */
static clv_status rank_labels(const item_list *items, int64_t count, int32_t *labels) {
    char *sorted = clv_alloc(items->ctx, count, items->size);
    int32_t *rank = CLV_NEW(items->ctx, int32_t, count);
    clv_status status = sorted && rank ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0, next = 0; status == CLV_OK && i < items->n; i++) {
        if (labels[i] == next) {
            memcpy(sorted + (size_t)next++ * items->size, item_at(items, i), items->size);
        }
    }
    if (status == CLV_OK && !clv_sort(items->ctx, sorted, count, items->size, items->compare)) {
        status = clv_stop_failure(items->ctx, "reading %s", items->name);
    }
    for (int64_t i = 0, next = 0; status == CLV_OK && i < items->n; i++) {
        if (labels[i] == next) {
            const char *found = bsearch(item_at(items, i), sorted, (size_t)count, items->size, items->compare);
            rank[next++] = (int32_t)((size_t)(found - sorted) / items->size);
        }
        labels[i] = rank[labels[i]];
        status = go_on(items, i);
    }
    CLV_FREE_ALL(items->ctx, sorted, rank);
    return status;
}

static clv_status code(const item_list *items, int32_t *labels) {
    int64_t count;
    CLV_TRY(number_items(items, labels, &count));
    return rank_labels(items, count, labels);
}

/* --- texts --- */

/* FNV-1a of the characters as they were meant, mixed so that all bits of it depend on all of them. */
static uint64_t hash_text(const void *item) {
    const clv_token *field = item;
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t at = 0; at < field->size; at++) {
        hash = (hash ^ (unsigned char)field->text[at]) * 0x100000001b3ULL;
        at += field->doubled && field->text[at] == '"';
    }
    return hash ^ hash >> 29;
}

static int compare_texts(const void *a, const void *b) {
    return clv_field_compare(a, b);
}

static item_list texts_of(clv_context *ctx, const char *name, const clv_token *fields, int64_t n) {
    return (item_list){.ctx = ctx,
                       .name = name,
                       .first = (const char *)fields,
                       .stride = sizeof *fields,
                       .size = sizeof *fields,
                       .n = n,
                       .hash = hash_text,
                       .compare = compare_texts};
}

clv_status clv_find_repeated(clv_context *ctx, const char *name, const clv_token *fields, int64_t n, int64_t *row) {
    item_list items = texts_of(ctx, name, fields, n);
    return find_repeated(&items, row);
}

clv_status clv_code_texts(clv_context *ctx, const char *name, const clv_token *fields, int64_t n, int32_t *labels) {
    item_list items = texts_of(ctx, name, fields, n);
    return code(&items, labels);
}

/* --- numbers --- */

/* -0 is 0. */
static uint64_t hash_number(const void *item) {
    double value = *(const double *)item + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9ULL;
    return bits ^ bits >> 32;
}

static item_list numbers_of(clv_context *ctx, const char *name, const double *values, int64_t stride, int64_t n) {
    return (item_list){.ctx = ctx,
                       .name = name,
                       .first = (const char *)values,
                       .stride = (size_t)stride * sizeof *values,
                       .size = sizeof *values,
                       .n = n,
                       .hash = hash_number,
                       .compare = clv_ascending};
}

clv_status clv_find_repeated_number(clv_context *ctx, const char *name, const double *values, int64_t stride, int64_t n,
                                    int64_t *row) {
    item_list items = numbers_of(ctx, name, values, stride, n);
    return find_repeated(&items, row);
}

clv_status clv_code_numbers(clv_context *ctx, const char *name, const double *values, int64_t n, int32_t *labels) {
    item_list items = numbers_of(ctx, name, values, 1, n);
    return code(&items, labels);
}
