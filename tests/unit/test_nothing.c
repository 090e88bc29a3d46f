/* Every public function that works on something, given nothing in its place: refused with a sentence. Each call has a
 * process of its own, so that one that crashes is named. What is not checked stands in the rules of cleave.h: the
 * context, the object whose function it is, and the place of the result. */
#include "cleave.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "with_context.h"

enum { N = 6, P = 2, K = 2 };

static double values[N * N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static int32_t labels[N] = {0, 0, 0, 1, 1, 1};
static uint8_t samples[N * P], codes[N * P];
static const clv_matrix points = {.rows = N, .cols = P, .values = values};
static const clv_matrix void_matrix = {.rows = N, .cols = P}; /* numbers that are not there */
static const clv_image image = {.width = N, .height = P, .channels = 1, .samples = samples};
static const clv_image void_image = {.width = N, .height = P, .channels = 1};
static int crashed;

/* Whether the call, made in a child, was refused. */
static void look(const char *call, int state) {
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        print_error("%s: %s\n", call, !WIFEXITED(state) ? "crashed" : "not refused, or without a sentence");
        crashed++;
    }
}

#define REFUSED(call)                                                                                                  \
    do {                                                                                                               \
        int state_ = 0;                                                                                                \
        pid_t child_ = fork();                                                                                         \
        assert_true(child_ >= 0);                                                                                      \
        if (child_ == 0) {                                                                                             \
            signal(SIGSEGV, SIG_DFL); /* cmocka's own would go on */                                                   \
            alarm(10);                                                                                                 \
            clv_status status_ = (call);                                                                               \
            _exit((status_ == CLV_EUSAGE || status_ == CLV_EDATA) && clv_message(ctx)[0] != '\0' ? 0 : 1);             \
        }                                                                                                              \
        assert_int_equal(waitpid(child_, &state_, 0), child_);                                                         \
        look(#call, state_);                                                                                           \
    } while (0)

static void nothing_to_read_or_write(void **state) {
    clv_data *data = NULL, *other = NULL;
    clv_image read = {0};
    clv_claim *claim = NULL;
    clv_text_model *model = NULL;
    const clv_text_model bare = {.ngrams = "1", .stop_list = ""};
    clv_corpus *corpus = NULL;
    const char *const paths[] = {NULL, NULL};
    int32_t *found = NULL;
    int64_t n, *rows = NULL;
    (void)state;
    crashed = 0;
    REFUSED(clv_read(ctx, NULL, NULL, &data));
    REFUSED(clv_data_of(ctx, NULL, NULL, &data));
    REFUSED(clv_read_labels(ctx, NULL, &n, &found));
    REFUSED(clv_read_named_labels(ctx, NULL, NULL, &data, &found));
    REFUSED(clv_match_ids(ctx, NULL, NULL, &rows));
    REFUSED(clv_read_targets(ctx, NULL, &data));
    REFUSED(clv_read_classes(ctx, NULL, NULL, &data));
    REFUSED(clv_read_targets_like(ctx, NULL, NULL, &data));
    REFUSED(clv_read_image(ctx, NULL, &read));
    REFUSED(clv_read_corpus(ctx, NULL, NULL, NULL, &corpus));
    REFUSED(clv_text_model_read(ctx, NULL, &model));
    REFUSED(clv_claim_read(ctx, NULL, &claim));
    REFUSED(clv_read_partitions(ctx, NULL, 2, 0, &data, &other));
    REFUSED(clv_read_partitions(ctx, paths, 2, 0, &data, &other));
    REFUSED(clv_write_matrix(ctx, NULL, &points));
    REFUSED(clv_write_matrix(ctx, "x.csv", NULL));
    REFUSED(clv_write_matrix(ctx, "x.csv", &void_matrix));
    REFUSED(clv_write_dense(ctx, NULL, &points));
    REFUSED(clv_write_dense(ctx, "x.csv", NULL));
    REFUSED(clv_write_rows(ctx, NULL, N, P, 1, NULL, NULL));
    REFUSED(clv_write_rows(ctx, "x.csv", N, P, 1, NULL, NULL));
    REFUSED(clv_write_labels(ctx, NULL, labels, N));
    REFUSED(clv_write_labels(ctx, "x.csv", NULL, N));
    REFUSED(clv_write_labels(ctx, "x.csv", labels, -1));
    REFUSED(clv_write_labels(ctx, "x.npy", labels, -1));
    REFUSED(clv_write_labels_of(ctx, NULL, labels, N, NULL, NULL));
    REFUSED(clv_write_labels_of(ctx, "x.csv", NULL, N, NULL, NULL));
    REFUSED(clv_write_labeled(ctx, NULL, "y.csv", NULL, labels, N, NULL, NULL));
    REFUSED(clv_write_labeled(ctx, "x.csv", NULL, NULL, labels, N, NULL, NULL));
    REFUSED(clv_write_labeled(ctx, "x.csv", "y.csv", NULL, NULL, N, NULL, NULL));
    REFUSED(clv_write_named(ctx, NULL, &points, NULL, 0, NULL));
    REFUSED(clv_write_named(ctx, "x.csv", NULL, NULL, 0, NULL));
    REFUSED(clv_write_text(ctx, NULL, "x", 1));
    REFUSED(clv_write_text(ctx, "x.txt", NULL, 1));
    REFUSED(clv_write_png(ctx, NULL, &image));
    REFUSED(clv_write_png(ctx, "x.png", NULL));
    REFUSED(clv_write_png(ctx, "x.png", &void_image));
    REFUSED(clv_write_label_colors(ctx, NULL, N, P, labels));
    REFUSED(clv_write_label_colors(ctx, "x.png", N, P, NULL));
    REFUSED(clv_write_label_image(ctx, NULL, N, P, labels));
    REFUSED(clv_write_label_image(ctx, "x.png", N, P, NULL));
    REFUSED(clv_text_model_write(ctx, NULL, &bare));
    REFUSED(clv_text_model_write(ctx, "x.clv", NULL));
    REFUSED(clv_text_model_write(ctx, "x.clv", &bare));
    assert_int_equal(crashed, 0);
}

static void nothing_to_make_features_of(void **state) {
    clv_tfidf_options words;
    clv_reduce_options dims;
    clv_superpixel_options pieces;
    clv_region_weights weights;
    clv_tfidf *tfidf = NULL, *counted = NULL;
    clv_data *data = NULL, *axes = NULL;
    clv_regions *regions = NULL, *made = NULL;
    clv_image out = {0};
    int32_t terms[K];
    double scores[K];
    (void)state;
    crashed = 0;
    clv_tfidf_defaults(&words);
    clv_reduce_defaults(&dims);
    clv_superpixel_defaults(&pieces);
    clv_region_defaults(&weights);
    words.threads = dims.threads = pieces.threads = 1;
    assert_int_equal(clv_regions_of_pixels(ctx, N, P, &regions), CLV_OK);
    assert_int_equal(clv_tfidf_new(ctx, &words, &counted), CLV_OK);
    REFUSED(clv_tfidf_new(ctx, NULL, &tfidf));
    REFUSED(clv_tfidf_add(counted, NULL));
    REFUSED(clv_reduce(ctx, NULL, &dims, &data, &axes, NULL));
    REFUSED(clv_reduce(ctx, &points, NULL, &data, &axes, NULL));
    REFUSED(clv_reduce_like(ctx, NULL, &points, values, 1, &data));
    REFUSED(clv_reduce_like(ctx, &points, NULL, values, 1, &data));
    REFUSED(clv_reduce_offset(ctx, NULL, &points, values));
    REFUSED(clv_reduce_offset(ctx, &points, NULL, values));
    REFUSED(clv_cluster_terms(ctx, NULL, labels, K, 1, terms, scores));
    REFUSED(clv_cluster_terms(ctx, &points, NULL, K, 1, terms, scores));
    REFUSED(clv_image_resize(ctx, NULL, 2, 2, &out));
    REFUSED(clv_image_resize(ctx, &void_image, 2, 2, &out));
    REFUSED(clv_image_hsv(ctx, NULL, &data));
    REFUSED(clv_image_hsv(ctx, &void_image, &data));
    REFUSED(clv_image_points(ctx, NULL, &data));
    REFUSED(clv_image_points(ctx, &void_image, &data));
    REFUSED(clv_image_lbp(ctx, NULL, 1, codes));
    REFUSED(clv_image_lbp(ctx, &void_image, 1, codes));
    REFUSED(clv_superpixels(ctx, NULL, &pieces, &made));
    REFUSED(clv_superpixels(ctx, &void_image, &pieces, &made));
    REFUSED(clv_superpixels(ctx, &image, NULL, &made));
    REFUSED(clv_region_histograms(ctx, NULL, regions, 4, 1, &data));
    REFUSED(clv_region_histograms(ctx, &image, NULL, 4, 1, &data));
    REFUSED(clv_region_textures(ctx, NULL, regions, 1, &data));
    REFUSED(clv_region_textures(ctx, &image, NULL, 1, &data));
    REFUSED(clv_region_adjacency(ctx, NULL, &data));
    REFUSED(clv_region_points(ctx, NULL, regions, &weights, 1, &data));
    REFUSED(clv_region_points(ctx, &image, NULL, &weights, 1, &data));
    REFUSED(clv_region_points(ctx, &image, regions, NULL, 1, &data));
    REFUSED(clv_region_similarity(ctx, NULL, &points, 1, 1, &data));
    REFUSED(clv_region_similarity(ctx, regions, NULL, 1, 1, &data));
    REFUSED(clv_labels_tidy(ctx, N, P, 1, 0, NULL));
    REFUSED(clv_image_overlay(ctx, NULL, labels, &out));
    REFUSED(clv_image_overlay(ctx, &image, NULL, &out));
    REFUSED(clv_image_fill(ctx, NULL, labels, &out));
    REFUSED(clv_image_fill(ctx, &image, NULL, &out));
    clv_tfidf_free(counted);
    clv_regions_free(regions);
    assert_int_equal(crashed, 0);
}

static void nothing_to_compare_or_cluster(void **state) {
    clv_affinity_options how;
    clv_affinity_info info;
    clv_affinity *a = NULL, *made = NULL;
    clv_scores scores;
    clv_ncut_options cut;
    clv_result *result = NULL;
    const clv_method *method = clv_method_find("ncut");
    double x[N * K] = {0}, y[N * K], one;
    int64_t n;
    (void)state;
    crashed = 0;
    clv_affinity_defaults(&how);
    clv_ncut_defaults(&cut);
    cut.k = K;
    how.threads = cut.control.threads = 1;
    assert_int_equal(clv_affinity_build(ctx, &points, &how, &a), CLV_OK);
    REFUSED(clv_affinity_plan(ctx, NULL, &how, &info));
    REFUSED(clv_affinity_plan(ctx, &points, NULL, &info));
    REFUSED(clv_affinity_build(ctx, NULL, &how, &made));
    REFUSED(clv_affinity_build(ctx, &points, NULL, &made));
    REFUSED(clv_affinity_lowrank(ctx, NULL, &how, &made));
    REFUSED(clv_affinity_lowrank(ctx, &void_matrix, &how, &made));
    REFUSED(clv_affinity_lowrank(ctx, &points, NULL, &made));
    REFUSED(clv_affinity_restrict(a, NULL, 2, &made));
    REFUSED(clv_affinity_apply(a, NULL, K, y, 1));
    REFUSED(clv_affinity_combine(a, NULL, x, 1, y, 1));
    REFUSED(clv_affinity_group_sums(a, NULL, K, y, 1));
    REFUSED(clv_affinity_move_many(a, NULL, labels, labels, 1, y, 1));
    REFUSED(clv_affinity_cross(a, NULL, (clv_data **)&made));
    REFUSED(clv_affinity_calibrate(ctx, NULL, &how, 0.5, &one));
    REFUSED(clv_affinity_calibrate(ctx, &points, NULL, 0.5, &one));
    REFUSED(clv_compare(ctx, NULL, labels, N, &scores));
    REFUSED(clv_compare(ctx, labels, NULL, N, &scores));
    REFUSED(clv_silhouette(ctx, NULL, labels, 1, &one));
    REFUSED(clv_silhouette(ctx, &points, NULL, 1, &one));
    REFUSED(clv_ncut_value(ctx, NULL, labels, 1, &one));
    REFUSED(clv_ncut_value(ctx, a, NULL, 1, &one));
    REFUSED(clv_pursuit_affinity(ctx, NULL, (clv_data **)&made));
    REFUSED(clv_ksupport_norm(ctx, NULL, P, 1, 1, &one));
    REFUSED(clv_ksupport_dual_norm(ctx, NULL, P, 1, 1, &one));
    REFUSED(clv_ksupport_prox(ctx, NULL, P, 1, 1, CLV_KSUPPORT_SELECT, 1, y));
    REFUSED(clv_choose_affinity(ctx, NULL, &points, &cut, &how));
    REFUSED(clv_choose_affinity(ctx, method, NULL, &cut, &(clv_affinity_options){.kind = CLV_AFFINITY_AUTO}));
    REFUSED(clv_suit_affinity(ctx, NULL, &points, &cut, &how));
    REFUSED(clv_suit_affinity(ctx, method, &points, NULL, &how));
    REFUSED(clv_suit_affinity(ctx, method, &points, &cut, NULL));
    REFUSED(clv_solve_roughly(ctx, NULL, &(clv_input){.points = &points}, &cut, &result));
    REFUSED(clv_solve_roughly(ctx, method, NULL, &cut, &result));
    REFUSED(clv_solve_roughly(ctx, method, &(clv_input){0}, &cut, &result));
    REFUSED(clv_solve_range(ctx, NULL, &(clv_input){.points = &points}, &cut, 2, 3, &how, &made, &result));
    REFUSED(clv_solve_range(ctx, method, NULL, &cut, 2, 3, &how, &made, &result));
    REFUSED(clv_solve_range(ctx, method, &(clv_input){0}, &cut, 2, 3, &how, &made, &result));
    REFUSED(clv_solve_range(ctx, method, &(clv_input){.points = &points}, NULL, 2, 3, &how, &made, &result));
    REFUSED(clv_solve_range(ctx, method, &(clv_input){.points = &points}, &cut, 2, 3, NULL, &made, &result));
    (void)n;
    clv_affinity_free(a);
    assert_int_equal(crashed, 0);
}

static void nothing_to_report(void **state) {
    clv_result *result = NULL;
    clv_verdict verdict;
    char *text = NULL;
    size_t size;
    const clv_report nothing = {0};
    const clv_field unnamed = {.kind = CLV_FIELD_REAL, .count = 1, .reals = values};
    const clv_field empty = {.name = "x", .kind = CLV_FIELD_REAL, .count = 1};
    const clv_option_table *table = clv_control_table();
    clv_control control = {0};
    (void)state;
    crashed = 0;
    assert_int_equal(clv_result_new(ctx, N, K, &result), CLV_OK);
    REFUSED(clv_result_put(result, NULL));
    REFUSED(clv_result_put(result, &unnamed));
    REFUSED(clv_result_put(result, &empty));
    REFUSED(clv_result_add_warning(result, NULL));
    REFUSED(clv_report_json(ctx, NULL, &text, &size));
    REFUSED(clv_report_json(ctx, &nothing, &text, &size));
    REFUSED(clv_report_table(ctx, NULL, &text, &size));
    REFUSED(clv_report_table(ctx, &nothing, &text, &size));
    REFUSED(clv_report_trace(ctx, NULL, &text, &size));
    REFUSED(clv_report_trace(ctx, &nothing, &text, &size));
    REFUSED(clv_report_html(ctx, NULL, &text, &size));
    REFUSED(clv_report_html(ctx, &nothing, &text, &size));
    REFUSED(clv_claim_verify(ctx, NULL, &(clv_input){.points = &points}, 0, 1, &verdict));
    REFUSED(clv_claim_can_predict(ctx, NULL));
    REFUSED(clv_claim_predict(ctx, NULL, &points, &(clv_fresh){.points = &points}, 0, 1, &result));
    REFUSED(clv_claim_compare(ctx, NULL, labels, &verdict));
    REFUSED(clv_options_set(ctx, NULL, &control, "seed", "1"));
    REFUSED(clv_options_set(ctx, table, NULL, "seed", "1"));
    REFUSED(clv_options_set(ctx, table, &control, NULL, "1"));
    REFUSED(clv_options_set(ctx, table, &control, "seed", NULL));
    REFUSED(clv_options_check(ctx, NULL, &control));
    REFUSED(clv_options_check(ctx, table, NULL));
    REFUSED(clv_context_resume(ctx, "", 0));
    assert_int_equal(clv_context_join(ctx, NULL), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "the argument plugin is needed"));
    clv_result_free(result);
    assert_int_equal(crashed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_to_read_or_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_make_features_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_compare_or_cluster, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_report, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
