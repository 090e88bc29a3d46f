/* libsvm text. */
#include "io_support.h"

static clv_status parse(const char *text, clv_data **out) {
    return clv_svm_parse(ctx, text_bytes(text, "a.svm"), out);
}

static void test_features(void **state) {
    (void)state;
    clv_data *data;
    assert_ok(parse("# first\n+1 1:0.5 3:-2e1 # c 9:9\n\n-1 qid:4 2:7\r\n+1\n2.5 4:1", &data));
    assert_sparse(data, 4, 4, (double[]){0.5, 0, -20, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    assert_labels(clv_data_labels(data), 4, (int32_t[]){1, 0, 1, 2});
    clv_data_free(data);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part, *other;
    } cases[] = {
        {"", "is empty", ""},
        {"# nothing\n", "is empty", ""},
        {"1\n2\n", "no features", ""},
        {"1 1:1\n1:2 3:4\n", "line 2", "'1:2'"},
        {"a 1:1\n", "line 1", "'a'"},
        {"nan 1:1\n", "line 1", "'nan'"},
        {"1 0:5\n", "line 1: '0:5'", "from 1"},
        {"1 3000000000:5\n", "line 1", "'3000000000:5'"},
        {"1 2:5 2:6\n", "line 1", "'2:6' has an index that is not larger"},
        {"1 1:1\n1 2:5 1:6\n", "line 2", "'1:6' has an index that is not larger"},
        {"1 2\n", "line 1", "'2' is not of the form"},
        {"1 2:\n", "line 1", "'2:' is not of the form"},
        {"1 2:x\n", "line 1", "'2:x'"},
        {"1 2:1:1\n", "line 1", "'2:1:1'"},
        {"1 2:inf\n", "line 1", "'2:inf' is not a finite"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        clv_data *data;
        assert_refused(parse(cases[c].text, &data), CLV_EDATA, "a.svm", cases[c].part, cases[c].other, NULL);
        assert_null(data);
    }
}

static clv_status read_in(clv_context *in, void *user) {
    clv_data *data;
    CLV_TRY(clv_read(in, user, NULL, &data));
    clv_data_free(data);
    return CLV_OK;
}

static void test_files(void **state) {
    (void)state;
    static const char *const names[] = {"a.svm", "a.libsvm"};
    for (int i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s", in_folder(names[i]));
        put_file(path, "1 1:2\n", 6);
        fail_each_allocation(read_in, path);
        unlink(path);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {CASE(test_features), CASE(test_refused), CASE(test_files)};
    return cmocka_run_group_tests_name("io_svm", tests, NULL, NULL);
}
