/* Models of documents (text_model.c): the bytes of a file, without the check sum at its end. */
#ifndef CLV_TEXT_MODEL_H
#define CLV_TEXT_MODEL_H

#include "io/io.h"

clv_status clv_text_model_parse(clv_context *ctx, clv_bytes bytes, clv_text_model **out);

#endif
