/* Fuzz target: results read back from JSON, and judged against a small data set when they parse. */
#include "base/options.h"
#include "engine/result.h"
#include "mutate.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static void check(int good) {
    if (!good) {
        abort();
    }
}

/* Every number and every byte of a field. */
static double add_up(const clv_field *field) {
    const clv_matrix *m = field->matrix;
    double row[64], sum = 0;
    for (int64_t i = 0; m && m->cols <= 64 && i < m->rows; i++) {
        clv_matrix_row(m, i, row);
        for (int64_t j = 0; j < m->cols; j++) {
            sum += row[j];
        }
    }
    for (int64_t i = 0; !m && i < field->count; i++) {
        sum += field->reals      ? field->reals[i]
               : field->integers ? (double)field->integers[i]
                                 : (double)strlen(field->texts[i]);
    }
    return sum;
}

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = ""},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = ""},
    {"centers", CLV_FIELD_MATRIX, "k x p", CLV_ANSWER, .help = ""},
    {"weights", CLV_FIELD_SPARSE, "models x p", CLV_ANSWER, .help = ""},
    {"clusters.size", CLV_FIELD_INTEGER, "k", CLV_ANSWER, .help = ""},
    {"clusters.cohesiveness", CLV_FIELD_REAL, "k", CLV_ANSWER, .help = ""},
    {"clusters.stop", CLV_FIELD_TEXT, "k", CLV_ANSWER, .help = ""},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = ""},
    {"total", CLV_FIELD_REAL, "", CLV_DERIVED, 1e-9, CLV_UNIT_ONE, ""},
};

static size_t no_memory(const clv_input *input, const void *options) {
    (void)input;
    (void)options;
    return 0;
}

static const clv_method method;

/* A method on points that reads all that it is given. */
static clv_status evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                           clv_result *found) {
    double total = 0;
    (void)ctx;
    (void)input;
    (void)options;
    for (int64_t f = 0; f < answer->fields_count; f++) {
        bool given = clv_method_gives(&method, answer->fields[f].name)->role == CLV_ANSWER;
        total += given ? add_up(&answer->fields[f]) : 0;
    }
    found->objective = (clv_objective){"sum", total, 0};
    found->certificate = (clv_certificate){"gap", 0, 0, 1};
    return clv_result_put_real(found, "total", total);
}

static const clv_option options[] = {
    {.name = "k", .kind = CLV_OPTION_INT, .offset = sizeof(clv_control), .most = 1e9, .meta = "N", .help = ""}};
static const clv_option_table table = {"sum", options, 1, sizeof(clv_control) + sizeof(int64_t)};
static const clv_method method = {.name = "sum",
                                  .takes = CLV_TAKES_POINTS,
                                  .options = &table,
                                  .k_meaning = CLV_K_AT_MOST,
                                  .gives = gives,
                                  .gives_count = CLV_COUNT(gives),
                                  .objective = "sum",
                                  .certificate = "gap",
                                  .memory = no_memory,
                                  .evaluate = evaluate};

/* By this method, or by the one that the claim names: on data that suit it. */
static void judge(clv_context *ctx, const clv_claim *claim, const clv_method *by) {
    double points[16 * 16], column[16];
    int64_t n = claim->result->n;
    const clv_method *own = by ? by : clv_claim_method(claim);
    bool weighted = clv_result_integer(claim->result, "weighted", 0) != 0;
    clv_verdict verdict;
    if (n < 1 || n > 16) {
        return;
    }
    for (int64_t i = 0; i < n * n; i++) {
        points[i] = i % (n + 1) == 0 ? 1 : 0.5;
        column[i % n] = (double)(i % 3);
    }
    const clv_matrix x = {.rows = n, .cols = n, .values = points}, y = {.rows = n, .cols = 1, .values = column};
    const clv_input input = {
        .points = &x, .targets = own && own->takes == CLV_TAKES_SAMPLES ? &y : NULL, .weights = weighted ? &y : NULL};
    clv_status status = by ? clv_claim_verify_by(ctx, by, claim, &input, 0, 1, &verdict)
                           : clv_claim_verify(ctx, claim, &input, 0, 1, &verdict);
    check(status != CLV_OK || verdict.reason[0] != '\0');
    check(status == CLV_OK || !verdict.accepted);
}

static void read_back(clv_context *ctx, const uint8_t *bytes, size_t size, const clv_method *by) {
    clv_claim *claim = NULL;
    if (clv_claim_parse(ctx, "fuzz.json", (const char *)bytes, size, by, &claim) == CLV_OK) {
        judge(ctx, claim, by);
    } else {
        check(clv_message(ctx)[0] != '\0' && !claim);
    }
    clv_claim_free(claim);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    clv_context *ctx;
    size_t now, peak;
    check(clv_context_new(NULL, &ctx) == CLV_OK);
    read_back(ctx, bytes, size, size % 2 ? &method : NULL); /* not both: it is twice as fast */
    clv_context_memory(ctx, &now, &peak);
    check(now == 0);
    clv_context_free(ctx);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_json, bytes, size, most, seed);
}
