/* What clusters of documents are about: --terms, with the model that cleave text kept of DATA. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = 10 };

/* Rows that are not those that cleave text wrote may be other documents, or these after other work on them. */
static void warn_of_others(const cli_job *job) {
    const clv_text_model *text = job->text;
    uint64_t found = clv_matrix_fingerprint(clv_data_matrix(job->data));
    if (!job->output.quiet && text->points && found != text->points && found != text->tfidf) {
        cli_tell("%s: warning: its rows are not the points that cleave text made with %s: if they are not those "
                 "documents in that order, the terms of the clusters are wrong",
                 job->args.operands[0], job->output.terms);
    }
}

clv_status cli_terms_read(cli_job *job) {
    const char *path = job->output.terms, *data = cli_input_name(job->args.operands[0]);
    if (!path) {
        return CLV_OK;
    }
    CLI_TRY(cli_library(job->app, clv_text_model_read(job->app->ctx, path, &job->text)));
    int64_t documents = job->text->occurrences.rows, rows = clv_data_matrix(job->data)->rows;
    if (documents != rows) {
        return cli_fail(job->app, CLV_EDATA,
                        "--terms: %s is of %lld documents, but %s has %lld rows: give the model that cleave text kept "
                        "with %s",
                        path, (long long)documents, data, (long long)rows, data);
    }
    bool named = clv_data_id(job->data, 0) != NULL || !job->text->ids;
    bool by_id = named && job->text->ids && strcmp(clv_data_id_name(job->data), "id") == 0; /* as cleave text has it */
    for (int64_t i = 0; by_id && i < rows; i++) {
        if (strcmp(clv_data_id(job->data, i), job->text->ids[i]) != 0) {
            return cli_fail(job->app, CLV_EDATA,
                            "--terms: row %lld of %s is '%.80s', but document %lld of %s is '%.80s': the rows must be "
                            "the documents, in their order",
                            (long long)i + 1, data, clv_data_id(job->data, i), (long long)i + 1, path,
                            job->text->ids[i]);
        }
    }
    warn_of_others(job);
    return named ? CLV_OK : cli_library(job->app, clv_data_set_ids(job->data, "id", job->text->ids));
}

clv_status cli_terms_find(cli_job *job) {
    const clv_result *result = job->result;
    if (!job->text || !result->labels) {
        return CLV_OK;
    }
    size_t count = (size_t)result->k * TOP;
    int32_t *terms = malloc(count * sizeof *terms + 1);
    double *scores = malloc(count * sizeof *scores + 1);
    job->terms = (clv_report_terms){.top = TOP, .terms = terms, .scores = scores, .names = job->text->terms};
    if (!terms || !scores) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    return cli_library(job->app, clv_cluster_terms(job->app->ctx, &job->text->occurrences, result->labels, result->k,
                                                   TOP, terms, scores));
}

void cli_terms_free(cli_job *job) {
    free((void *)job->terms.terms);
    free((void *)job->terms.scores);
    clv_text_model_free(job->text);
}
