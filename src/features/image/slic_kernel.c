/* The loop that superpixels spend their time in: one center against a stretch of a row. */
#include "features/image/image.h"

CLV_KERNEL
void clv_slic_row(const float *const lab[3], int64_t count, float x, float y, const clv_slic_center *center,
                  float spread, int32_t label, float *nearest, int32_t *labels) {
    const float *restrict light = lab[0], *restrict green = lab[1], *restrict blue = lab[2];
    float *restrict best = nearest;
    int32_t *restrict owner = labels;
    float down = (y - center->y) * (y - center->y);
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        float l = light[i] - center->color[0], a = green[i] - center->color[1], b = blue[i] - center->color[2];
        float across = x + (float)i - center->x;
        float distance = l * l + a * a + b * b + spread * (across * across + down);
        owner[i] = distance < best[i] ? label : owner[i];
        best[i] = distance < best[i] ? distance : best[i];
    }
}
