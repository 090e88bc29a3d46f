/* Fuzz target, one for each method (FUZZ_METHOD is its name): a tiny problem and options, from bytes. Whatever a run
 * says of itself is read back from its JSON and verified: an honest result is accepted. Then the result labels new
 * objects. */
#include "draw.h"

#include "methods/methods.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

enum { MOST_N = 14, MOST_P = 4, MOST_CHANGES = 6, MOST_RESTARTS = 3 };

typedef struct problem {
    const clv_method *method;
    double points[MOST_N * MOST_P], targets[MOST_N], given[MOST_N];
    float floats[MOST_N * MOST_P];
    int64_t row_starts[MOST_N + 1];
    int32_t columns[MOST_N * MOST_P];
    clv_matrix x, y, weights;
    clv_input input;
    clv_options_room options;
    clv_affinity_options how;
    clv_affinity *affinity;
    clv_affinity_info info;
    int polls;
} problem;

/* One of the choices, a small number, a flag or the word that an option may have; what it refuses changes nothing. */
static void change(clv_context *ctx, const clv_option_table *table, void *options, fuzz_bytes *from) {
    static const char *const numbers[] = {"0", "1", "2", "3", "5", "10", "0.5", "0.1", "1e-6", "100", "1e-12", "7"};
    const clv_option *option = &table->options[fuzz_next(from) % table->count];
    unsigned choice = fuzz_next(from);
    char text[64] = "";
    if (option->kind == CLV_OPTION_TEXT || strcmp(option->name, "threads") == 0 ||
        strcmp(option->name, "time-limit") == 0 || strcmp(option->name, "max-iter") == 0) {
        return;
    }
    if (option->choices) {
        const char *at = option->choices;
        for (unsigned c = choice % 12; c > 0 && strchr(at, '|'); c--) {
            at = strchr(at, '|') + 1;
        }
        snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "|"), at);
    } else if (option->kind == CLV_OPTION_FLAG) {
        snprintf(text, sizeof text, "%s", choice % 2 ? "true" : "false");
    } else {
        const char *word = option->word && choice % 4 == 0 ? option->word : numbers[choice % CLV_COUNT(numbers)];
        snprintf(text, sizeof text, "%s", word);
    }
    clv_options_set(ctx, table, options, option->name, text);
}

/* The same points as floats, or without their zeros; and objects that count more or less. */
static void lay_out(unsigned form, fuzz_bytes *from, problem *p) {
    int64_t count = p->x.rows * p->x.cols, filled = 0;
    if (form % 4 == 1) {
        for (int64_t i = 0; i < count; i++) {
            p->floats[i] = (float)p->points[i];
        }
        p->x.scalar = CLV_F32;
        p->x.values = p->floats;
    } else if (form % 4 == 2) {
        for (int64_t i = 0; i < count; i++) {
            if (p->points[i] != 0) {
                p->columns[filled] = (int32_t)(i % p->x.cols);
                p->points[filled++] = p->points[i];
            }
            p->row_starts[i / p->x.cols + 1] = filled;
        }
        p->x.start = p->row_starts;
        p->x.index = p->columns;
    }
    if (form & 4 && p->method->abilities & CLV_WEIGHS_OBJECTS) {
        for (int64_t i = 0; i < p->x.rows; i++) {
            p->given[i] = (double)(fuzz_next(from) % 8) / 2;
        }
        p->weights = (clv_matrix){.rows = p->x.rows, .cols = 1, .values = p->given};
        p->input.weights = &p->weights;
    }
}

static void pose(clv_context *ctx, fuzz_bytes *from, problem *p) {
    p->method = clv_method_find(FUZZ_METHOD);
    unsigned first = fuzz_next(from);
    const char *most = first % 4 ? "8" : "40"; /* most of what can go wrong does so at once */
    bool wide = (first & 10) == 0; /* a quarter: hardly any solver comes to an end on numbers of such scales */
    int64_t n = 3 + fuzz_next(from) % (MOST_N - 2), cols = 1 + fuzz_next(from) % MOST_P;
    unsigned changes = fuzz_next(from) % (MOST_CHANGES + 1);
    clv_method_defaults(p->method, p->options.bytes, p->method->options->size);
    clv_affinity_defaults(&p->how);
    clv_options_set(ctx, p->method->options, p->options.bytes, "k", "2");
    clv_options_set(ctx, clv_control_table(), p->options.bytes, "max-iter", most);
    for (unsigned c = 0; c < changes; c++) {
        change(ctx, p->method->options, p->options.bytes, from);
        change(ctx, clv_control_table(), p->options.bytes, from);
        change(ctx, clv_affinity_table(), &p->how, from);
    }
    clv_control *control = (clv_control *)(void *)p->options.bytes;
    control->threads = 1;
    control->restarts = control->restarts < MOST_RESTARTS ? control->restarts : MOST_RESTARTS;
    p->how.threads = 1;
    p->how.memory = 4 << 20;
    p->how.kind = p->how.kind == CLV_AFFINITY_PRECOMPUTED ? CLV_AFFINITY_GAUSSIAN : p->how.kind;
    for (int64_t i = 0; i < n * cols; i++) {
        p->points[i] =
            p->method->takes == CLV_TAKES_PARTITIONS ? (double)(fuzz_next(from) % 4) - 1 : fuzz_number(from, wide);
    }
    for (int64_t i = 0; i < n; i++) {
        p->targets[i] = (double)(fuzz_next(from) % 3);
    }
    p->x = (clv_matrix){.rows = n, .cols = cols, .values = p->points};
    p->y = (clv_matrix){.rows = n, .cols = 1, .values = p->targets};
    p->input = (clv_input){.points = &p->x, .targets = p->method->takes == CLV_TAKES_SAMPLES ? &p->y : NULL};
    lay_out(fuzz_next(from), from, p);
}

static clv_status solve(clv_context *ctx, problem *p, clv_result **out) {
    if (p->method->takes == CLV_TAKES_AFFINITY) {
        CLV_TRY(clv_suit_affinity(ctx, p->method, &p->x, p->options.bytes, &p->how));
        CLV_TRY(clv_affinity_build(ctx, &p->x, &p->how, &p->affinity));
        clv_affinity_describe(p->affinity, &p->info);
        p->input.affinity = p->affinity;
    }
    return clv_solve(ctx, p->method, &p->input, p->options.bytes, out);
}

/* What it says of itself is true. */
static void verify(clv_context *ctx, const problem *p, const clv_result *result) {
    const clv_option_table *const tables[] = {clv_control_table(), p->method->options,
                                              p->affinity ? clv_affinity_table() : NULL, NULL};
    const void *const structs[] = {p->options.bytes, p->options.bytes, &p->how};
    const clv_report report = {
        .result = result, .affinity = p->affinity ? &p->info : NULL, .tables = tables, .options = structs};
    clv_claim *claim = NULL;
    clv_verdict verdict;
    char *text = NULL;
    size_t size;
    if (clv_report_json(ctx, &report, &text, &size) == CLV_OK &&
        clv_claim_parse(ctx, "result", text, size, NULL, &claim) == CLV_OK &&
        clv_claim_verify(ctx, claim, &p->input, 0, 1, &verdict) == CLV_OK && !verdict.accepted) {
        fprintf(stderr, "rejected: %s\n%s\n", verdict.reason, text);
        abort();
    }
    clv_claim_free(claim);
    clv_release(ctx, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    fuzz_bytes from = {bytes, size};
    problem p = {0};
    clv_result *result = NULL, *fresh = NULL;
    clv_context_set_interrupt(ctx, fuzz_has_asked_enough, &p.polls);
    pose(ctx, &from, &p);
    clv_status status = solve(ctx, &p, &result);
    if (status != CLV_OK && (result || clv_message(ctx)[0] == '\0')) {
        abort();
    }
    if (status == CLV_OK) {
        p.polls = 0;
        verify(ctx, &p, result);
        if (clv_predict(ctx, p.method, &p.input, p.options.bytes, result, &(clv_fresh){.points = &p.x}, &fresh) !=
                CLV_OK &&
            (fresh || clv_message(ctx)[0] == '\0')) {
            abort();
        }
    }
    clv_result_free(fresh);
    clv_result_free(result);
    clv_affinity_free(p.affinity);
    fuzz_close(ctx, &memory);
    return 0;
}
