/* The pages of docs/ list the options of every method, and of the features of texts and pictures: each with its default
 * and its help, and none that is not there. */
#include "failing.h"

#include <stdio.h>

typedef struct page {
    char path[256], text[1 << 16];
} page;

static void read_page(const char *name, page *out) {
    snprintf(out->path, sizeof out->path, "%s/docs/%s.md", CLEAVE_SOURCE_DIR, name);
    FILE *file = fopen(out->path, "r");
    if (!file) {
        fail_msg("there is no page %s", out->path);
        return;
    }
    size_t size = fread(out->text, 1, sizeof out->text - 1, file);
    assert_true(size > 0 && feof(file));
    fclose(file);
    out->text[size] = '\0';
}

/* What stands for the value of an option; bars inside a cell are escaped. */
static void put_given(const clv_option *option, char *out, size_t size) {
    const char *text = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
    size_t at = (size_t)snprintf(out, size, "%s", text ? " " : "");
    for (; text && *text; text++) {
        assert_true(at + 3 < size);
        at += (size_t)snprintf(out + at, size - at, *text == '|' ? "\\%c" : "%c", *text);
    }
}

static void put_default(const clv_option *option, const void *options, char *out, size_t size) {
    clv_options_print(option, options, out, size);
    if (option->kind == CLV_OPTION_TEXT && !*out) {
        snprintf(out, size, "none");
    }
}

/* `optional_k`: k has a default, rather than being asked for. */
static void check_rows(const page *p, const clv_option_table *table, const void *options, bool optional_k) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        bool required = strcmp(option->name, "k") == 0 && !optional_k;
        char row[512], value[64], given[128];
        put_given(option, given, sizeof given);
        put_default(option, options, value, sizeof value);
        snprintf(row, sizeof row, "| `--%s%s` | %s | %s |\n", option->name, given, required ? "required" : value,
                 option->help);
        if (!strstr(p->text, row)) {
            fail_msg("%s lacks: %s", p->path, row);
        }
    }
}

/* Rows of tables that begin with an option are about options that the method has. */
static void check_nothing_else(const page *p, const clv_option_table *table) {
    static const char opening[] = "\n| `--";
    for (const char *at = strstr(p->text, opening); at; at = strstr(at + 1, opening)) {
        char name[64];
        assert_int_equal(sscanf(at + strlen(opening), "%63[a-z-]", name), 1);
        const clv_option *option = clv_options_find(table, name);
        if (!option || strcmp(option->name, name) != 0) { /* former names are not listed */
            fail_msg("%s lists --%s, which %s does not have", p->path, name, table->title);
        }
    }
}

static void test_methods(void **state) {
    static page p;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const clv_method *method = methods[i];
        void *options = malloc(method->options->size);
        assert_non_null(options);
        clv_method_defaults(method, options, method->options->size);
        read_page(method->name, &p);
        bool listed = clv_options_find(method->options, "path") != NULL; /* a path lists the k */
        check_rows(&p, method->options, options, listed || method->k_meaning == CLV_K_AT_MOST);
        check_nothing_else(&p, method->options);
        free(options);
    }
}

static void test_text(void **state) {
    static page p;
    clv_tfidf_options terms;
    clv_reduce_options reduce;
    (void)state;
    clv_tfidf_defaults(&terms);
    clv_reduce_defaults(&reduce);
    read_page("text", &p);
    check_rows(&p, clv_tfidf_table(), &terms, true);
    check_rows(&p, clv_reduce_table(), &reduce, true);
}

static void test_segment(void **state) {
    static page p;
    clv_superpixel_options superpixels;
    clv_region_weights weights;
    (void)state;
    clv_superpixel_defaults(&superpixels);
    clv_region_defaults(&weights);
    read_page("segment", &p);
    check_rows(&p, clv_superpixel_table(), &superpixels, true);
    check_rows(&p, clv_region_table(), &weights, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
