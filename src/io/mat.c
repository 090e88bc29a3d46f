/* MATLAB files of version 5 (and 7, which is 5 with zlib): one real matrix, dense or sparse, to ours.
 *
 * A file is a list of elements, each a tag (type, size) and data; a variable is an element of elements: flags,
 * dimensions, name, numbers. We look into each variable only as far as its name, choose one, and decode its numbers.
 * Every size is checked against the bytes that are there, so that no file makes us allocate more than it can hold: the
 * reason for not using matio here, which takes gigabytes for a damaged file of a kilobyte. The tests read what matio
 * writes. */
#include "io/io.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    HEADER = 128,
    PREFIX = 1024, /* bytes of a compressed variable that are inflated to see its name */
    MI_INT8 = 1,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_MATRIX = 14,
    MI_COMPRESSED = 15,
    MX_OPAQUE = 17,
    MX_SPARSE = 5,
    MX_SINGLE = 7,
    MX_UINT64 = 15,
    MX_COMPLEX = 0x0800
};

/* Data with elements in them. */
typedef struct cursor {
    const uint8_t *at;
    size_t left;
    bool swapped;
} cursor;

typedef struct element {
    uint32_t type;
    const uint8_t *data;
    size_t size;
} element;

typedef struct variable {
    const uint8_t *packed; /* compressed bytes, or NULL */
    size_t packed_size;
    cursor content; /* where the elements of the variable begin; only their start while looking at packed ones */
    int class_number;
    bool complex;
    int64_t rows, cols; /* 0 when there are more or fewer than two dimensions */
    char name[64];
} variable;

typedef struct reader {
    clv_context *ctx;
    const char *name;
    const char *wanted;
    variable chosen;
    int64_t candidates;
    clv_text names; /* of the candidates, or of all variables when one was asked for */
    uint8_t prefix[PREFIX];
    uint8_t *inflated; /* the chosen variable, if it was compressed */
} reader;

static uint32_t word_at(const cursor *c, size_t offset) {
    return (uint32_t)clv_load_bits(c->at + offset, (clv_number_type){'u', 4, c->swapped});
}

/* The next element; false when it does not fit. Small ones have their data in the tag. */
static bool next_element(cursor *c, element *out) {
    if (c->left < 8) {
        return false;
    }
    uint32_t first = word_at(c, 0);
    bool small = first >> 16 != 0;
    *out = (element){small ? first & 0xffff : first, c->at + (small ? 4 : 8), small ? first >> 16 : word_at(c, 4)};
    if (small ? out->size > 4 : out->size > c->left - 8) {
        return false;
    }
    size_t padding = out->type == MI_COMPRESSED ? 0 : (8 - out->size % 8) % 8;
    size_t step = small ? 8 : 8 + out->size + padding;
    step = step < c->left ? step : c->left; /* the last one may lack its padding */
    c->at += step;
    c->left -= step;
    return true;
}

/* --- compressed variables --- */

/* The first `size` bytes, or fewer; *got says how many. Bytes after damage count as not there. */
static clv_status inflate_start(clv_context *ctx, const variable *v, uint8_t *to, size_t size, size_t *got) {
    z_stream stream = {.zalloc = clv_zlib_allocate, .zfree = clv_zlib_release, .opaque = ctx};
    *got = 0;
    if (inflateInit(&stream) != Z_OK) {
        return CLV_ENOMEM;
    }
    size_t fed = 0;
    int state = Z_OK;
    clv_status status = CLV_OK;
    while (state == Z_OK && *got < size && status == CLV_OK) {
        size_t feed = v->packed_size - fed < CLV_PIECE ? v->packed_size - fed : CLV_PIECE;
        size_t room = size - *got < CLV_PIECE ? size - *got : CLV_PIECE;
        stream.next_in = (z_const Bytef *)(uintptr_t)(v->packed + fed); /* zlib does not write there */
        stream.avail_in = (unsigned)feed;
        stream.next_out = to + *got;
        stream.avail_out = (unsigned)room;
        state = inflate(&stream, Z_NO_FLUSH);
        fed += feed - stream.avail_in;
        *got += room - stream.avail_out;
        status = clv_read_on(ctx, "a compressed variable", (int64_t)(room - stream.avail_out));
    }
    inflateEnd(&stream);
    return state == Z_MEM_ERROR ? CLV_ENOMEM : status;
}

/* --- which variable --- */

/* Flags, dimensions and name; false when they are not there. */
static bool read_description(variable *v) {
    cursor c = v->content;
    element flags, dimensions, name;
    if (!next_element(&c, &flags) || flags.type != MI_UINT32 || flags.size != 8) {
        return false;
    }
    cursor words = {flags.data, flags.size, c.swapped};
    uint32_t bits = word_at(&words, 0);
    v->class_number = (int)(bits & 0xff);
    v->complex = (bits & MX_COMPLEX) != 0;
    if (v->class_number == MX_OPAQUE) {
        return true; /* has no dimensions, and its name is of no use */
    }
    if (!next_element(&c, &dimensions) || dimensions.type != MI_INT32 || !next_element(&c, &name) ||
        name.type != MI_INT8) {
        return false;
    }
    if (dimensions.size == 8) {
        words.at = dimensions.data;
        v->rows = word_at(&words, 0);
        v->cols = word_at(&words, 4);
    }
    snprintf(v->name, sizeof v->name, "%.*s", name.size < 64 ? (int)name.size : 63, (const char *)name.data);
    v->content = c;
    return true;
}

/* Point `content` into a top-level element, inflating the start of a compressed one; false when it is damaged. */
static clv_status look_inside(reader *r, const element *e, bool swapped, variable *v, bool *sound) {
    *v = (variable){.content = {e->data, e->size, swapped}};
    *sound = e->type == MI_MATRIX && e->size > 0;
    if (e->type == MI_COMPRESSED) {
        size_t got;
        v->packed = e->data;
        v->packed_size = e->size;
        CLV_TRY(inflate_start(r->ctx, v, r->prefix, PREFIX, &got));
        v->content = (cursor){r->prefix, got, swapped};
        *sound = got >= 8 && word_at(&v->content, 0) == MI_MATRIX;
        v->content.at += *sound ? 8 : 0;
        v->content.left -= *sound ? 8 : 0;
    }
    *sound = *sound && read_description(v);
    return CLV_OK;
}

static bool is_numeric(const variable *v) {
    return v->class_number >= MX_SPARSE && v->class_number <= MX_UINT64;
}

static bool is_candidate(const variable *v) {
    return is_numeric(v) && !v->complex && v->rows > 0 && v->cols > 0;
}

static void consider(reader *r, const variable *v) {
    char shown[CLV_SHOWN_SIZE];
    bool chosen = r->wanted ? strcmp(v->name, r->wanted) == 0 : r->candidates == 0;
    if (!r->wanted && (!is_candidate(v) || v->name[0] == '\0')) { /* the unnamed one is MATLAB's own */
        return;
    }
    clv_text_add(&r->names, "%s%s", r->names.size ? ", " : "", clv_show(shown, v->name, strlen(v->name)));
    if (chosen) {
        r->chosen = *v;
    }
    r->candidates += chosen || !r->wanted;
}

static clv_status choose(reader *r) {
    CLV_TRY(r->names.status);
    const char *names = r->names.data ? r->names.data : "none";
    if (r->wanted && r->candidates == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has no variable '%s'; it has: %s", r->name, r->wanted, names);
    }
    if (r->candidates == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has no variable that is a real matrix", r->name);
    }
    if (!r->wanted && r->candidates > 1) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has several matrices: choose one as file.mat:variable from %s", r->name,
                        names);
    }
    return CLV_OK;
}

static clv_status look_through(reader *r, cursor file) {
    while (file.left > 0) {
        element e;
        variable v;
        size_t left = file.left;
        bool sound = next_element(&file, &e);
        if (sound) {
            CLV_TRY(look_inside(r, &e, file.swapped, &v, &sound));
        }
        if (!sound) {
            return clv_fail(r->ctx, CLV_EDATA, "%s is damaged or cut off, %zu bytes before its end", r->name, left);
        }
        consider(r, &v);
    }
    return choose(r);
}

/* --- the numbers of the chosen one --- */

static clv_status refuse(const reader *r, const char *what) {
    char shown[CLV_SHOWN_SIZE];
    return clv_fail(r->ctx, CLV_EDATA, "%s: variable '%s' %s", r->name,
                    clv_show(shown, r->chosen.name, strlen(r->chosen.name)), what);
}

static clv_status check_chosen(const reader *r) {
    const variable *v = &r->chosen;
    if (!is_numeric(v)) {
        return refuse(r, "is not a matrix of numbers (but a cell, struct, text or object)");
    }
    if (v->complex) {
        return refuse(r, "is complex, and only real matrices are read");
    }
    if (!is_candidate(v) || v->rows > INT32_MAX || v->cols > INT32_MAX) {
        return refuse(r, "is empty, or does not have two dimensions");
    }
    return CLV_OK;
}

/* All of a compressed variable. zlib shrinks at most 1032 to 1. */
static clv_status inflate_chosen(reader *r) {
    variable *v = &r->chosen;
    size_t got;
    uint8_t tag[8];
    CLV_TRY(inflate_start(r->ctx, v, tag, sizeof tag, &got));
    cursor c = {tag, got, v->content.swapped};
    size_t size = (got == sizeof tag ? word_at(&c, 4) : 0) + sizeof tag;
    if (size / 1032 > v->packed_size) {
        return refuse(r, "declares more numbers than the file can hold");
    }
    r->inflated = CLV_NEW(r->ctx, uint8_t, (int64_t)size);
    if (!r->inflated) {
        return CLV_ENOMEM;
    }
    CLV_TRY(inflate_start(r->ctx, v, r->inflated, size, &got));
    v->content = (cursor){r->inflated + sizeof tag, size - sizeof tag, v->content.swapped};
    return got == size && read_description(v) ? CLV_OK : refuse(r, "is damaged or cut off");
}

/* An element as an array of numbers; kind 0 when it is none. */
static clv_number_type type_of(const element *e, bool swapped) {
    static const char kinds[] = {0, 'i', 'u', 'i', 'u', 'i', 'u', 'f', 0, 'f', 0, 0, 'i', 'u'};
    static const int sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    bool known = e->type < sizeof kinds;
    return (clv_number_type){known ? kinds[e->type] : 0, known ? sizes[e->type] : 0, swapped};
}

static int64_t length_of(const element *e, clv_number_type type) {
    return type.kind ? (int64_t)e->size / type.size : 0;
}

static clv_status turn(const reader *r, const element *numbers, clv_number_type type, clv_data *data) {
    int64_t rows = data->matrix.rows;
    int64_t cols = data->matrix.cols;
    for (int64_t j = 0; j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            clv_store_number(data, i * cols + j, clv_load_number(numbers->data + (j * rows + i) * type.size, type));
        }
        CLV_TRY(clv_read_on(r->ctx, r->name, rows));
    }
    return CLV_OK;
}

static clv_status read_dense(const reader *r, clv_data **out) {
    const variable *v = &r->chosen;
    cursor c = v->content;
    element numbers;
    bool there = next_element(&c, &numbers);
    clv_number_type type = there ? type_of(&numbers, c.swapped) : (clv_number_type){0};
    int64_t count;
    if (!clv_mul(v->rows, v->cols, &count) || !there || length_of(&numbers, type) != count) {
        return refuse(r, "does not hold as many numbers as its dimensions say");
    }
    clv_data *data;
    clv_scalar scalar = v->class_number == MX_SINGLE ? CLV_F32 : CLV_F64;
    CLV_TRY(clv_data_new_dense(r->ctx, r->name, v->rows, v->cols, scalar, &data));
    return clv_data_give(data, turn(r, &numbers, type, data), out);
}

/* Compressed columns: entry e of column j is at row ir[e], for e from jc[j] to jc[j + 1] - 1. */
typedef struct columns {
    element ir, jc, numbers;
    clv_number_type index, type;
} columns;

static int64_t index_at(const columns *s, const element *e, int64_t at) {
    return (int64_t)clv_load_bits(e->data + at * 4, s->index);
}

static bool find_columns(const variable *v, columns *s) {
    cursor c = v->content;
    bool there = next_element(&c, &s->ir) && next_element(&c, &s->jc) && next_element(&c, &s->numbers);
    if (!there || s->ir.type != MI_INT32 || s->jc.type != MI_INT32 || (int64_t)s->jc.size / 4 != v->cols + 1) {
        return false;
    }
    s->index = (clv_number_type){'u', 4, c.swapped};
    s->type = type_of(&s->numbers, c.swapped);
    int64_t count = index_at(s, &s->jc, v->cols);
    return count <= (int64_t)s->ir.size / 4 && count <= length_of(&s->numbers, s->type);
}

static bool read_entries(const variable *v, const columns *s, int64_t count, clv_entry *entries) {
    int64_t at = 0;
    for (int64_t j = 0; j < v->cols; j++) {
        int64_t end = index_at(s, &s->jc, j + 1);
        if (index_at(s, &s->jc, j) != at || end < at || end > count) {
            return false;
        }
        for (; at < end; at++) {
            int64_t row = index_at(s, &s->ir, at);
            if (row >= v->rows) {
                return false;
            }
            double value = clv_load_number(s->numbers.data + at * s->type.size, s->type);
            entries[at] = (clv_entry){(int32_t)row, (int32_t)j, value};
        }
    }
    return true;
}

static clv_status read_sparse(const reader *r, clv_data **out) {
    const variable *v = &r->chosen;
    columns s;
    if (!find_columns(v, &s)) {
        return refuse(r, "is not a valid sparse matrix");
    }
    int64_t count = index_at(&s, &s.jc, v->cols);
    clv_entry *entries = CLV_NEW(r->ctx, clv_entry, count);
    if (!entries) {
        return CLV_ENOMEM;
    }
    clv_status status = read_entries(v, &s, count, entries)
                            ? clv_csr_from_entries(r->ctx, r->name, v->rows, v->cols, entries, count, out)
                            : refuse(r, "is not a valid sparse matrix");
    clv_free(r->ctx, entries);
    return status;
}

static clv_status read_chosen(reader *r, cursor file, clv_data **out) {
    CLV_TRY(look_through(r, file));
    CLV_TRY(check_chosen(r));
    if (r->chosen.packed) {
        CLV_TRY(inflate_chosen(r));
    }
    return r->chosen.class_number == MX_SPARSE ? read_sparse(r, out) : read_dense(r, out);
}

clv_status clv_mat_parse(clv_context *ctx, clv_bytes bytes, const char *wanted, clv_data **out) {
    *out = NULL;
    if (bytes.size >= 10 && memcmp(bytes.data, "MATLAB 7.3", 10) == 0) {
        return clv_fail(ctx, CLV_EDATA, "%s is a MATLAB file of version 7.3 (HDF5): save it with -v7", bytes.name);
    }
    bool little = bytes.size >= HEADER && memcmp(bytes.data + 124, "\x00\x01IM", 4) == 0;
    bool big = bytes.size >= HEADER && memcmp(bytes.data + 124, "\x01\x00MI", 4) == 0;
    if (!little && !big) {
        return clv_fail(ctx, CLV_EDATA, "%s is not a MATLAB file of version 5 or 7", bytes.name);
    }
    reader r = {.ctx = ctx, .name = bytes.name, .wanted = wanted, .names = {.ctx = ctx}};
    bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    clv_status status = read_chosen(&r, (cursor){bytes.data + HEADER, bytes.size - HEADER, little != little_host}, out);
    clv_free(ctx, r.names.data);
    clv_free(ctx, r.inflated);
    return status;
}
