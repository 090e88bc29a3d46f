/* Labels of a few objects, from bytes: what compares them with others, with points and with terms. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

enum { MOST_N = 24, TOP = 3, K = 4, LARGE = 7 };

static void check(bool good) {
    if (!good) {
        abort();
    }
}

/* Numbers within their ranges; the same for both orders, where that must be so. */
static void compare(clv_context *ctx, const int32_t *truth, const int32_t *labels, int64_t n) {
    clv_scores one, other;
    size_t count;
    const clv_metric *metrics = clv_metrics(&count);
    if (clv_compare(ctx, truth, labels, n, &one) < 0) {
        check(clv_message(ctx)[0] != '\0');
        return;
    }
    check(clv_compare(ctx, labels, truth, n, &other) == CLV_OK && one.compared == other.compared);
    if (one.compared == 0) {
        return;
    }
    check(fabs(one.ari - other.ari) <= 1e-12 && fabs(one.nmi - other.nmi) <= 1e-12 && fabs(one.vi - other.vi) <= 1e-9);
    check(fabs(one.homogeneity - other.completeness) <= 1e-12);
    for (size_t m = 0; m < count; m++) {
        double value;
        memcpy(&value, (const char *)&one + metrics[m].offset, sizeof value);
        check(value >= -1 && (value <= 1 + 1e-12 || strcmp(metrics[m].name, "vi") == 0));
    }
}

static void describe(clv_context *ctx, const int32_t *labels, int64_t n, const uint8_t *bytes) {
    double values[MOST_N], scores[K * TOP], mean;
    int64_t starts[MOST_N + 1] = {0};
    int32_t columns[MOST_N], terms[K * TOP];
    for (int64_t i = 0; i < n; i++) {
        values[i] = bytes[i] / 16;
        columns[i] = bytes[i] % 5;
        starts[i + 1] = i + 1;
    }
    const clv_matrix points = {.rows = n, .cols = 1, .values = values};
    const clv_matrix documents = {.rows = n, .cols = 5, .values = values, .start = starts, .index = columns};
    clv_status status = clv_silhouette(ctx, &points, labels, 1, &mean);
    check(status == CLV_OK ? mean >= -1 && mean <= 1 : clv_message(ctx)[0] != '\0');
    status = clv_cluster_terms(ctx, &documents, labels, K, TOP, terms, scores);
    check(status == CLV_OK || clv_message(ctx)[0] != '\0');
    for (int64_t t = 0; status == CLV_OK && t < K * TOP; t++) {
        check(terms[t] >= -1 && terms[t] < 5 && (terms[t] < 0 || isfinite(scores[t])));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const int32_t odd[] = {-2, INT32_MAX, INT32_MIN, 1 << 20};
    int64_t n = (int64_t)(size / 2 < MOST_N ? size / 2 : MOST_N);
    int32_t truth[MOST_N], labels[MOST_N];
    fuzz_memory memory;
    for (int64_t i = 0; i < n; i++) {
        unsigned large = bytes[2 * i] >> 5 == LARGE && bytes[2 * i + 1] >> 5 == LARGE;
        truth[i] = large ? odd[bytes[2 * i] % 4] : bytes[2 * i] % (K + 1) - 1;
        labels[i] = bytes[2 * i + 1] % (K + 1) - 1;
    }
    clv_context *ctx = fuzz_open(&memory);
    compare(ctx, truth, labels, n);
    describe(ctx, labels, n, bytes);
    fuzz_close(ctx, &memory);
    return 0;
}
