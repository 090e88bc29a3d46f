/* What formats with compressed parts share. */
#include "mutate.h"

#include <zlib.h>

size_t fuzz_deflate(const uint8_t *bytes, size_t size, uint8_t *to, size_t most) {
    uLongf used = most;
    return compress2(to, &used, bytes, size, 1) == Z_OK ? used : 0;
}

size_t fuzz_inflate(const uint8_t *bytes, size_t size, uint8_t *to, size_t most) {
    uLongf used = most;
    return uncompress(to, &used, bytes, size) == Z_OK ? used : 0;
}
