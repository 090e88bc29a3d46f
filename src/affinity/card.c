/* Calls of the plugin for graphics cards. */
#include "affinity/card.h"

#include <math.h>

/* A card does so much more in a moment than a core: what is done after a deadline is counted as if by one. */
#define A_CARD 500.0

static int stop_hook(void *user, double entries) {
    clv_context *ctx = user;
    return clv_worked(ctx, (int64_t)fmin(entries / A_CARD, 1e15));
}

clv_cuda_call clv_card_call(clv_context *ctx, int threads) {
    return (clv_cuda_call){.stop = stop_hook, .user = ctx, .threads = threads};
}

clv_status clv_card_status(clv_context *ctx, int status, const clv_cuda_call *call, const char *doing) {
    switch (status) {
    case CLV_CUDA_OK:
        return CLV_OK;
    case CLV_CUDA_STOPPED:
        return clv_stop_failure(ctx, "%s", doing);
    case CLV_CUDA_NO_CARD:
        return clv_fail(ctx, CLV_EUSAGE, "home = cuda needs an NVIDIA graphics card: %s; choose another home",
                        call->why);
    case CLV_CUDA_NO_MEMORY:
        return clv_fail(ctx, CLV_ENOMEM,
                        "%s: the graphics card has too little memory, %s; allow more with --device-memory, or choose "
                        "another home",
                        doing, call->why);
    default:
        return clv_fail(ctx, CLV_EINTERNAL, "%s: the graphics card failed, %s; choose another home", doing, call->why);
    }
}

clv_status clv_card_open(clv_context *ctx, const clv_cuda **out) {
    const clv_plugin_head *head;
    CLV_TRY(clv_plugin_open(ctx, "cuda", CLV_CUDA_INTERFACE, "choose another home", &head));
    *out = (const clv_cuda *)(const void *)head;
    return CLV_OK;
}
