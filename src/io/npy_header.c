/* The header of a .npy file: magic, version, and a Python dict literal with descr, fortran_order and shape
 * (numpy.lib.format, versions 1 to 3). */
#include "io/npy.h"

#include <string.h>

typedef struct scanner {
    clv_context *ctx;
    const char *name;
    const char *at, *end;
} scanner;

static clv_status refuse(const scanner *s, const char *what) {
    return clv_fail(s->ctx, CLV_EDATA, "%s is not a valid .npy file: %s", s->name, what);
}

static void pass_blanks(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) {
        s->at++;
    }
}

/* Past `c`, if that is next. */
static bool take(scanner *s, char c) {
    pass_blanks(s);
    bool found = s->at < s->end && *s->at == c;
    s->at += found;
    return found;
}

static bool take_word(scanner *s, const char *word) {
    size_t size = strlen(word);
    pass_blanks(s);
    bool found = (size_t)(s->end - s->at) >= size && memcmp(s->at, word, size) == 0;
    s->at += found ? size : 0;
    return found;
}

/* A string in either kind of quotes; escapes do not occur in what we accept. */
static bool take_string(scanner *s, clv_token *out) {
    pass_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) {
        return false;
    }
    char quote = *s->at++;
    const char *close = memchr(s->at, quote, (size_t)(s->end - s->at));
    if (!close) {
        return false;
    }
    *out = (clv_token){s->at, (size_t)(close - s->at), false};
    s->at = close + 1;
    return true;
}

static clv_status read_descr(scanner *s, clv_npy *npy) {
    clv_token descr;
    pass_blanks(s);
    if (s->at < s->end && *s->at == '[') {
        return clv_fail(s->ctx, CLV_EDATA, "%s holds records (a structured dtype): save one field of it", s->name);
    }
    if (!take_string(s, &descr)) {
        return refuse(s, "its descr is not a string");
    }
    char shown[CLV_SHOWN_SIZE];
    clv_show(shown, descr.text, descr.size);
    bool ordered = descr.size > 0 && strchr("<>=|", descr.text[0]) && descr.text[0];
    const char *kind = descr.text + ordered;
    int64_t size = 0;
    bool sized = descr.size > (size_t)ordered + 1 &&
                 clv_scan_integer(kind + 1, descr.text + descr.size, &size) == descr.text + descr.size;
    if (!sized || size > 8) {
        size = 0;
    }
    static const char *const sizes[] = {"b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (size > 0 && kind[0] == sizes[i][0] && size == sizes[i][1] - '0') {
            npy->type.kind = kind[0];
            npy->type.size = (int)size;
            bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
            npy->type.swapped =
                size > 1 && ((descr.text[0] == '>' && little_host) || (descr.text[0] == '<' && !little_host));
            return CLV_OK;
        }
    }
    return clv_fail(s->ctx, CLV_EDATA, "%s holds numbers of type '%s', not f8, f4, f2, i1 to i8, u1 to u8 or bool",
                    s->name, shown);
}

static clv_status read_shape(scanner *s, clv_npy *npy) {
    npy->dimensions = 0;
    if (!take(s, '(')) {
        return refuse(s, "its shape is not a tuple");
    }
    while (!take(s, ')')) {
        int64_t length;
        pass_blanks(s);
        const char *stop = clv_scan_integer(s->at, s->end, &length);
        if (!stop || length < 0 || length == INT64_MAX) {
            return refuse(s, "a length in its shape is not a whole number of 0 or more");
        }
        s->at = stop;
        take(s, 'L'); /* Python 2 wrote long integers so */
        if (npy->dimensions < CLV_NPY_DIMENSIONS) {
            npy->shape[npy->dimensions] = length;
        }
        npy->dimensions++;
        if (!take(s, ',')) {
            if (!take(s, ')')) {
                return refuse(s, "its shape is not a tuple");
            }
            break;
        }
    }
    return CLV_OK;
}

static clv_status read_fortran(scanner *s, clv_npy *npy) {
    npy->fortran = take_word(s, "True");
    if (!npy->fortran && !take_word(s, "False")) {
        return refuse(s, "its fortran_order is neither True nor False");
    }
    return CLV_OK;
}

static clv_status read_dict(scanner *s, clv_npy *npy) {
    unsigned seen = 0;
    bool open = take(s, '{');
    while (open && !take(s, '}')) {
        clv_token key;
        if (!take_string(s, &key) || !take(s, ':')) {
            return refuse(s, "its header is not a dict");
        }
        if (clv_field_equals(&key, "descr", false)) {
            CLV_TRY(read_descr(s, npy));
            seen |= 1;
        } else if (clv_field_equals(&key, "fortran_order", false)) {
            CLV_TRY(read_fortran(s, npy));
            seen |= 2;
        } else if (clv_field_equals(&key, "shape", false)) {
            CLV_TRY(read_shape(s, npy));
            seen |= 4;
        } else {
            return refuse(s, "its header has a key other than descr, fortran_order and shape");
        }
        open = take(s, ',');
        if (!open && !take(s, '}')) {
            return refuse(s, "its header is not a dict");
        }
    }
    return seen == 7 ? CLV_OK : refuse(s, "its header lacks descr, fortran_order or shape");
}

/* Where the header begins and ends, from magic, version and length. */
static clv_status find_header(scanner *s, clv_bytes bytes, clv_npy *npy) {
    const uint8_t *b = bytes.data;
    if (bytes.size < 10 || memcmp(b, "\x93NUMPY", 6) != 0) {
        return refuse(s, "it does not begin with \\x93NUMPY");
    }
    if (b[6] < 1 || b[6] > 3) {
        return clv_fail(s->ctx, CLV_EDATA, "%s is .npy version %d.%d; 1, 2 and 3 are read", s->name, b[6], b[7]);
    }
    size_t prefix = b[6] == 1 ? 10 : 12;
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) {
        if (bytes.size < prefix) {
            return refuse(s, "it ends inside its header");
        }
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    }
    if (length > bytes.size - prefix) {
        return refuse(s, "it ends inside its header");
    }
    s->at = (const char *)b + prefix;
    s->end = s->at + length;
    npy->offset = (int64_t)(prefix + length);
    return CLV_OK;
}

clv_status clv_npy_header(clv_context *ctx, clv_bytes bytes, int64_t file_size, clv_npy *npy) {
    scanner s = {.ctx = ctx, .name = bytes.name};
    *npy = (clv_npy){0};
    CLV_TRY(find_header(&s, bytes, npy));
    CLV_TRY(read_dict(&s, npy));
    if (npy->dimensions < 1 || npy->dimensions > CLV_NPY_DIMENSIONS) {
        return clv_fail(ctx, CLV_EDATA, "%s has %d dimensions, where 1 or 2 are allowed", bytes.name, npy->dimensions);
    }
    int64_t body = npy->type.size;
    for (int d = 0; d < npy->dimensions; d++) {
        if (npy->shape[d] == 0) {
            return clv_fail(ctx, CLV_EDATA, "%s is empty: length %d of its shape is 0", bytes.name, d + 1);
        }
        if (!clv_mul(body, npy->shape[d], &body)) {
            return refuse(&s, "its shape overflows");
        }
    }
    int64_t there = file_size - npy->offset;
    if (body != there) {
        return clv_fail(ctx, CLV_EDATA, "%s is %s: its header declares %lld bytes of numbers, %lld are there",
                        bytes.name, there < body ? "cut off" : "too long", (long long)body, (long long)there);
    }
    return CLV_OK;
}
