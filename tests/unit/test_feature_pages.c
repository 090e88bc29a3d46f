/* docs/text.md and docs/segment.md list the options of the features with their defaults and their help. */
#include "io_support.h"

static void check_page(const char *path, const clv_option_table *table, const void *options) {
    static char page[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        char row[512], value[64], given[128] = "";
        const char *from = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
        for (size_t used = 0; from && *from && used < sizeof given - 3; from++) { /* a bar inside a cell is escaped */
            used += (size_t)snprintf(given + used, 3, *from == '|' ? "\\|" : "%c", *from);
        }
        clv_options_print(option, options, value, sizeof value);
        snprintf(row, sizeof row, "| `--%s%s%s` | %s | %s |\n", option->name, *given ? " " : "", given, value,
                 option->help);
        if (!strstr(page, row)) {
            fail_msg("%s lacks: %s", path, row);
        }
    }
}

static void test_text(void **state) {
    (void)state;
    clv_tfidf_options terms;
    clv_reduce_options reduce;
    clv_tfidf_defaults(&terms);
    clv_reduce_defaults(&reduce);
    check_page(CLEAVE_SOURCE_DIR "/docs/text.md", clv_tfidf_table(), &terms);
    check_page(CLEAVE_SOURCE_DIR "/docs/text.md", clv_reduce_table(), &reduce);
}

static void test_segment(void **state) {
    (void)state;
    clv_superpixel_options superpixels;
    clv_region_weights weights;
    clv_superpixel_defaults(&superpixels);
    clv_region_defaults(&weights);
    check_page(CLEAVE_SOURCE_DIR "/docs/segment.md", clv_superpixel_table(), &superpixels);
    check_page(CLEAVE_SOURCE_DIR "/docs/segment.md", clv_region_table(), &weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_segment, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
