/* docs/pursuit.md lists the options of pursuit. */
#include "option_page.h"

static void the_page_lists_the_options(void **state) {
    clv_pursuit_options options;
    (void)state;
    clv_pursuit_defaults(&options);
    check_option_page(CLEAVE_SOURCE_DIR "/docs/pursuit.md", clv_pursuit_table(), &options);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_lists_the_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
