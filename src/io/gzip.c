/* Whole files that are compressed by gzip, several members one after the other included. */
#include "io/input.h"

#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS };

bool clv_is_gzip(clv_bytes bytes) {
    return bytes.size >= 2 && bytes.data[0] == 0x1f && bytes.data[1] == 0x8b;
}

/* What is inflated so far, in a block that grows. */
typedef struct inflating {
    clv_source *in;
    z_stream stream;
    uint8_t *block;
    int64_t room, used;
} inflating;

static clv_status damaged(const inflating *i, const char *why) {
    return clv_fail(i->in->ctx, CLV_EDATA, "%s is damaged: %s", i->in->name, why);
}

static clv_status make_room(inflating *i) {
    if (i->used < i->room) {
        return CLV_OK;
    }
    uint8_t *grown = clv_resize(i->in->ctx, i->block, 2 * i->room, 1);
    if (!grown) {
        return CLV_ENOMEM;
    }
    i->block = grown;
    i->room *= 2;
    return CLV_OK;
}

/* Zeros after the last member fill a block. */
static bool is_over(z_stream *stream) {
    while (stream->avail_in > 0 && *stream->next_in == 0) {
        stream->next_in++;
        stream->avail_in--;
    }
    return stream->avail_in == 0;
}

static clv_status inflate_all(inflating *i, clv_bytes bytes) {
    z_stream *stream = &i->stream;
    const uint8_t *end = bytes.data + bytes.size;
    stream->next_in = (z_const Bytef *)(uintptr_t)bytes.data; /* zlib does not write there */
    for (;;) {
        CLV_TRY(make_room(i));
        int64_t room = i->room - i->used < CLV_PIECE ? i->room - i->used : CLV_PIECE;
        size_t left = (size_t)(end - stream->next_in);
        stream->avail_in = left < CLV_PIECE ? (unsigned)left : CLV_PIECE;
        stream->next_out = i->block + i->used;
        stream->avail_out = (unsigned)room;
        int state = inflate(stream, Z_NO_FLUSH);
        int64_t made = room - stream->avail_out;
        i->used += made;
        CLV_TRY(clv_read_on(i->in->ctx, i->in->name, made));
        if (state == Z_MEM_ERROR) {
            return CLV_ENOMEM;
        }
        if (state == Z_STREAM_END) {
            if (is_over(stream) && stream->next_in == end) {
                return CLV_OK;
            }
            state = inflateReset(stream);
        }
        if (state == Z_BUF_ERROR && stream->next_in == end) {
            return damaged(i, "its end is missing");
        }
        if (state != Z_OK && state != Z_BUF_ERROR) {
            return damaged(i, stream->msg ? stream->msg : "the compressed data make no sense");
        }
    }
}

clv_status clv_gunzip(clv_source *in, clv_bytes *bytes) {
    inflating i = {.in = in, .room = (int64_t)bytes->size * 4 + 64};
    i.stream = (z_stream){.zalloc = clv_zlib_allocate, .zfree = clv_zlib_release, .opaque = in->ctx};
    i.block = CLV_NEW(in->ctx, uint8_t, i.room);
    if (!i.block || inflateInit2(&i.stream, GZIP) != Z_OK) {
        clv_free(in->ctx, i.block);
        return CLV_ENOMEM;
    }
    clv_status status = inflate_all(&i, *bytes);
    inflateEnd(&i.stream);
    clv_free(in->ctx, in->content);
    in->content = i.block;
    *bytes = (clv_bytes){i.block, (size_t)i.used, in->name};
    return status;
}
