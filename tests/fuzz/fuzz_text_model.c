/* Models of documents, without their check sums. */
#include "fuzz.h"

#include "io/text_model.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_text_model *model;
    clv_status status = clv_text_model_parse(ctx, (clv_bytes){bytes, size, "fuzz.clv"}, &model);
    if (status == CLV_OK) { /* every text ends within the file */
        size_t length = strlen(model->stop_list);
        for (int64_t t = 0; t < model->occurrences.cols; t++) {
            length += strlen(model->terms[t]);
        }
        for (int64_t d = 0; model->ids && d < model->occurrences.rows; d++) {
            length += strlen(model->ids[d]);
        }
        if (length > size) {
            abort();
        }
    } else if (model || clv_message(ctx)[0] == '\0') {
        abort();
    }
    clv_text_model_free(model);
    fuzz_close(ctx, &memory);
    return 0;
}
