/* Whether a page of docs/ lists each option of a method's table with its default and its help. */
#ifndef CLV_TEST_OPTION_PAGE_H
#define CLV_TEST_OPTION_PAGE_H

#include "failing.h"

#include <stdio.h>

/* The row of an option as the page must have it; bars inside a cell are escaped. */
static inline void option_row(const clv_option *option, const void *options, char *row, size_t size) {
    char value[64], given[128] = "";
    const char *text = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
    size_t at = 0;
    clv_options_print(option, options, value, sizeof value);
    if (option->kind == CLV_OPTION_REAL && value[0] >= '0' && value[0] <= '9') {
        snprintf(value, sizeof value, "%g", *(const double *)(const void *)((const char *)options + option->offset));
    }
    if (text) {
        given[at++] = ' ';
    }
    for (; text && *text && at + 3 < sizeof given; text++) {
        if (*text == '|') {
            given[at++] = '\\';
        }
        given[at++] = *text;
    }
    given[at] = '\0';
    snprintf(row, size, "| `--%s%s` | %s | %s |\n", option->name, given,
             strcmp(option->name, "k") == 0 ? "required" : value, option->help);
}

static inline void check_option_page(const char *path, const clv_option_table *table, const void *options) {
    static char page[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    for (size_t i = 0; i < table->count; i++) {
        char row[512];
        option_row(&table->options[i], options, row, sizeof row);
        if (!strstr(page, row)) {
            fail_msg("%s lacks: %s", path, row);
        }
    }
}

#endif
