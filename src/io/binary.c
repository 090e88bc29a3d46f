/* Numbers as bytes: one of any type and byte order, as .npy and .mat files have them; memory to inflate them. */
#include "io/io.h"

#include <math.h>
#include <string.h>

static double half_to_double(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double mantissa = bits & 1023;
    double magnitude = exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31) {
        magnitude = mantissa != 0 ? (double)NAN : HUGE_VAL;
    }
    return bits >> 15 ? -magnitude : magnitude;
}

uint64_t clv_load_bits(const uint8_t *at, clv_number_type type) {
    uint64_t bits = 0;
    bool big = type.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    for (int i = 0; i < type.size; i++) {
        int place = big ? type.size - 1 - i : i;
        bits |= (uint64_t)at[i] << (8 * place);
    }
    return bits;
}

static double load_float(uint64_t bits, int size) {
    if (size == 2) {
        return half_to_double((uint16_t)bits);
    }
    if (size == 4) {
        uint32_t low = (uint32_t)bits;
        float number;
        memcpy(&number, &low, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

double clv_load_number(const uint8_t *at, clv_number_type type) {
    uint64_t bits = clv_load_bits(at, type);
    switch (type.kind) {
    case 'b':
        return bits != 0;
    case 'u':
        return (double)bits;
    case 'i': {
        uint64_t sign = (uint64_t)1 << (8 * type.size - 1); /* two's complement, widened: (b ^ sign) - sign */
        return (double)(int64_t)((bits ^ sign) - sign);
    }
    default:
        return load_float(bits, type.size);
    }
}

void clv_store_number(clv_data *data, int64_t at, double value) {
    if (data->matrix.scalar == CLV_F32) {
        ((float *)data->values)[at] = (float)value;
    } else {
        ((double *)data->values)[at] = value;
    }
}

void *clv_zlib_allocate(void *ctx, unsigned count, unsigned size) {
    int64_t bytes;
    return clv_mul(count, size, &bytes) ? clv_alloc(ctx, bytes, 1) : NULL;
}

void clv_zlib_release(void *ctx, void *block) {
    clv_free(ctx, block);
}
