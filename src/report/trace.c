/* The trace as CSV, one row per iteration, restart by restart. */
#include "report/report.h"

#include <math.h>

static void put_cell(clv_text *text, double value, char end) {
    if (isfinite(value)) {
        clv_put_number(text, value);
    }
    clv_text_append(text, &end, 1);
}

clv_status clv_report_trace(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    *out = NULL;
    CLV_NEED(ctx, report);
    const clv_result *result = report->result;
    clv_text text = {.ctx = ctx};
    int extras = 0;
    if (!result) {
        return clv_fail(ctx, CLV_EUSAGE, "there is no result to trace");
    }
    clv_text_add(&text, "iteration,seconds,objective,certificate,restart");
    if (result->trace_part) {
        clv_text_add(&text, ",%s", result->trace_part);
    }
    while (extras < CLV_TRACE_EXTRAS && result->trace_extras[extras]) {
        clv_text_add(&text, ",%s", result->trace_extras[extras++]);
    }
    clv_text_add(&text, "\n");
    for (int64_t i = 0; i < result->trace_count; i++) {
        const clv_trace_row *row = &result->trace[i];
        clv_text_add(&text, "%lld,", (long long)row->iteration);
        put_cell(&text, row->seconds, ',');
        put_cell(&text, row->objective, ',');
        put_cell(&text, row->certificate, ',');
        clv_text_add(&text, "%lld", (long long)row->restart);
        if (result->trace_part) {
            clv_text_add(&text, ",%lld", (long long)row->part);
        }
        clv_text_add(&text, extras > 0 ? "," : "\n");
        for (int e = 0; e < extras; e++) {
            put_cell(&text, row->extra[e], e + 1 < extras ? ',' : '\n');
        }
    }
    return clv_take_text(&text, out, size);
}
