/* Calls of the plugin for graphics cards (cuda.h): how it is found, what a call is given, what its failures say. */
#ifndef CLV_CARD_H
#define CLV_CARD_H

#include "affinity/cuda.h"
#include "base/base.h"

clv_status clv_card_open(clv_context *ctx, const clv_cuda **out);
/* A call that ends when the context says so. */
clv_cuda_call clv_card_call(clv_context *ctx, int threads);
/* What a status of the plugin means, with a message that begins with what was being done. */
clv_status clv_card_status(clv_context *ctx, int status, const clv_cuda_call *call, const char *doing);

#endif
