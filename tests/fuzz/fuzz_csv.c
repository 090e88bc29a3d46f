/* CSV as a matrix, under every option, and as labels. The first two bytes choose the options. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const label_columns[] = {NULL, "none", "1", "species"};
    static const char separators[] = {0, '\t', ',', ' '};
    static const char *const lists[] = {NULL, "1", "2-3,a", "id"};
    if (size < 2) {
        return 0;
    }
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_bytes input = {bytes + 2, size - 2, "fuzz.csv"};
    clv_read_options options = {.header = (clv_header)(bytes[0] % 3),
                                .label_column = label_columns[bytes[0] / 4 % 4],
                                .missing = (clv_missing)(bytes[1] % 4),
                                .categories = (clv_categories)(bytes[1] / 4 % 3),
                                .columns = lists[bytes[1] / 12 % 2 * 2],
                                .drop = lists[bytes[1] / 24 % 4],
                                .id_column = bytes[1] / 96 % 2 ? "1" : NULL,
                                .targets = bytes[0] / 64 % 2,
                                .settled = bytes[0] / 128};
    char separator = separators[bytes[0] / 16 % 4];
    clv_data *data, *rows;
    int32_t *labels;
    fuzz_check(ctx, clv_csv_parse(ctx, input, &options, separator, &data), data);
    for (int with_classes = 0; with_classes < 2; with_classes++) {
        clv_classes classes = {0};
        if (clv_data_new(ctx, "rows", &rows) < 0) {
            break;
        }
        clv_csv_parse_classes(ctx, input, separator, &(clv_label_request){.truth = bytes[0] % 3 == 0}, bytes[0] % 2,
                              rows, &labels, with_classes ? &classes : NULL);
        clv_release(ctx, labels);
        clv_data_free(rows);
        clv_free_texts(ctx, classes.text, classes.count);
    }
    fuzz_close(ctx, &memory);
    return 0;
}
