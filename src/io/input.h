/* A file or stream that is being read (input.c). */
#ifndef CLV_INPUT_H
#define CLV_INPUT_H

#include "io/io.h"

typedef struct clv_source {
    clv_context *ctx;
    const char *name;
    int file;
    bool standard; /* standard input, which stays open */
    int64_t size;  /* of a regular file, else -1 */
    uint8_t *content;
} clv_source;

/* "-" is standard input. `path` is borrowed. */
clv_status clv_input_open(clv_context *ctx, const char *path, clv_source *in);
/* Close it after reading ended with `status`, which is returned; a lack of memory is said to be of this file. */
clv_status clv_input_end(clv_source *in, clv_status status);
/* Some bytes, at most `room`; 0 at the end of the file. */
clv_status clv_input_some(const clv_source *in, uint8_t *to, int64_t room, int64_t *got);
/* Both at once, all of it; nothing is open after a failure. */
clv_status clv_input_read(clv_context *ctx, const char *path, clv_source *in, clv_bytes *bytes);
/* All bytes up to the end of the file, inflated if they were compressed by gzip; they are the input's, until it is
 * closed. */
clv_status clv_input_content(clv_source *in, clv_bytes *bytes);

/* What the first of several processes has read, with this status, becomes everybody's (share.c). */
clv_status clv_data_share(clv_context *ctx, clv_status status, const char *name, clv_data **data);

/* Whether bytes were compressed by gzip, and what they were before; the input owns that, too (gzip.c). */
bool clv_is_gzip(clv_bytes bytes);
clv_status clv_gunzip(clv_source *in, clv_bytes *bytes);

#endif
