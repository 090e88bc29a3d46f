/* A program whose structs of options are as large as its header says. It sets nothing that a header of before or after
 * may not have, unless UNKNOWN_... asks for an option that the library cannot know. */
#include <cleave.h>

#include <stdio.h>
#include <string.h>

static clv_context *ctx;

static int refuse(const char *what, clv_status status) {
    printf("%s: CLV_%s: %s\n", what, status == CLV_EUSAGE ? "EUSAGE" : "?", clv_message(ctx));
    return 1;
}

static void tell(const char *what, const clv_result *result) {
    printf("%s %.17g %.17g:", what, result->objective.value, result->certificate.value);
    for (int64_t i = 0; i < result->n; i++) {
        printf(" %d", (int)result->labels[i]);
    }
    printf("\n");
}

int main(void) {
    clv_data *data = NULL;
    clv_affinity *a = NULL;
    clv_result *cut_result = NULL, *center_result = NULL;
    clv_status status;
    /* What lies behind each struct must not matter, nor be written to. */
    struct {
        clv_affinity_options how;
        char guard_how[64];
        clv_ncut_options cut;
        char guard_cut[64];
        clv_kpalm_options center;
        char guard_center[64];
    } own;
    memset(&own, 0x5a, sizeof own);
    if (clv_context_new(NULL, &ctx) || clv_read(ctx, "points.npy", NULL, &data)) {
        return 1;
    }
    printf("sizes %zu %zu %zu\n", sizeof own.how, sizeof own.cut, sizeof own.center);
    clv_affinity_defaults(&own.how);
    clv_ncut_defaults(&own.cut);
    clv_kpalm_defaults(&own.center);
    own.how.gamma = 0.001;
    own.cut.k = 3;
    own.cut.control.restarts = 3;
    own.center.k = 3;
    own.center.norm = CLV_KPALM_EUCLIDEAN;
#ifdef UNKNOWN_affinity
    own.how.unknown = 1;
#endif
#ifdef UNKNOWN_ncut
    own.cut.unknown = 1;
#endif
#ifdef UNKNOWN_kpalm
    own.center.unknown = 1;
#endif
    const clv_input points = {.points = clv_data_matrix(data)};
    if ((status = clv_affinity_build(ctx, points.points, &own.how, &a)) < 0) {
        return refuse("affinity", status);
    }
    const clv_input similar = {.affinity = a};
    if ((status = clv_ncut(ctx, &similar, &own.cut, &cut_result)) < 0) {
        return refuse("ncut", status);
    }
    if ((status = clv_kpalm(ctx, &points, &own.center, &center_result)) < 0) {
        return refuse("kpalm", status);
    }
    tell("ncut", cut_result);
    tell("kpalm", center_result);
    for (size_t i = 0; i < sizeof own.guard_how; i++) {
        if (own.guard_how[i] != 0x5a || own.guard_cut[i] != 0x5a || own.guard_center[i] != 0x5a) {
            printf("the library writes behind the options\n");
            return 1;
        }
    }
    clv_result_free(center_result);
    clv_result_free(cut_result);
    clv_affinity_free(a);
    clv_data_free(data);
    clv_context_free(ctx);
    return 0;
}
