/* Labels: checks, and renumbering by sorting (label, position) keys. O(n) time, 16 bytes per object while it runs. */
#include "metrics/metrics.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* One stable pass of a radix sort by the digit at `shift`; false when all keys agree there and nothing was done. */
static bool sort_by_digit(const uint64_t *keys, uint64_t *sorted, int64_t n, int shift) {
    int64_t place[DIGITS] = {0};
    for (int64_t i = 0; i < n; i++) {
        place[(keys[i] >> shift) % DIGITS]++;
    }
    if (place[(keys[0] >> shift) % DIGITS] == n) {
        return false;
    }
    int64_t before = 0;
    for (int d = 0; d < DIGITS; d++) {
        int64_t here = place[d];
        place[d] = before;
        before += here;
    }
    for (int64_t i = 0; i < n; i++) {
        sorted[place[(keys[i] >> shift) % DIGITS]++] = keys[i];
    }
    return true;
}

void clv_sort_keys(uint64_t *keys, uint64_t *buffer, int64_t n, int shift) {
    uint64_t *from = keys, *to = buffer;
    for (; n > 0 && shift < 64; shift += DIGIT_BITS) {
        if (sort_by_digit(from, to, n, shift)) {
            uint64_t *held = from;
            from = to;
            to = held;
        }
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)n * sizeof *keys);
    }
}

clv_status clv_labels_check(clv_context *ctx, const char *what, const int32_t *labels, int64_t n) {
    if (n > INT32_MAX) {
        return clv_fail(ctx, CLV_EDATA, "%lld %s are too many: at most %d are allowed", (long long)n, what, INT32_MAX);
    }
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < -1) {
            return clv_fail(ctx, CLV_EDATA, "number %lld of the %s is %d: it must be 0 or more, or -1 for left out",
                            (long long)i + 1, what, (int)labels[i]);
        }
    }
    return CLV_OK;
}

/* Ids from keys of label and position, sorted by label. */
static int64_t number_labels(const uint64_t *keys, int64_t n, int32_t *ids) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        count += i == 0 || keys[i] >> 32 != keys[i - 1] >> 32;
        ids[keys[i] & UINT32_MAX] = (int32_t)(count - 1);
    }
    return count;
}

clv_status clv_labels_compress(clv_context *ctx, const int32_t *labels, int64_t n, int32_t *ids, int64_t *count) {
    clv_kept work = {.ctx = ctx};
    uint64_t *keys = CLV_TAKE(&work, uint64_t, n);
    uint64_t *buffer = CLV_TAKE(&work, uint64_t, n);
    if (work.status == CLV_OK) {
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            if (labels[i] >= 0) {
                keys[kept++] = (uint64_t)labels[i] << 32 | (uint64_t)i;
            }
            ids[i] = -1;
        }
        clv_sort_keys(keys, buffer, kept, 32);
        *count = number_labels(keys, kept, ids);
    }
    clv_free_kept(&work);
    return work.status;
}
