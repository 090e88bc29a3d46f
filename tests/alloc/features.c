/* Scenarios of documents and pictures. */
#include "alloc.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

clv_status write_documents(clv_context *ctx) {
    gzFile packed = gzopen("docs.jsonl.gz", "wb");
    FILE *plain = fopen("docs.jsonl", "w");
    if (!packed || !plain) {
        return clv_fail(ctx, CLV_ECREATE, "the documents cannot be written");
    }
    for (int d = 0; d < 30; d++) {
        char line[256];
        snprintf(line, sizeof line, "{\"text\": \"common term%d word%d %s%d\", \"label\": \"class %d\"}\n", d % 7,
                 d % 3, d == 9 ? "caf\xe9 " : "other", d, d % 4); /* one line in Latin-1 */
        gzputs(packed, line);
        fputs(line, plain);
    }
    bool whole = gzclose(packed) == Z_OK;
    return fclose(plain) == 0 && whole ? CLV_OK : clv_fail(ctx, CLV_EIO, "the documents cannot be written");
}

static clv_status add_document(const clv_document *document, void *user) {
    return clv_tfidf_add(user, document);
}

static clv_status use_documents(clv_context *ctx, holder *made, const scenario *self, clv_tfidf *tfidf) {
    clv_corpus *corpus;
    clv_status status = clv_read_corpus(ctx, self->file, add_document, tfidf, &corpus);
    if (status == CLV_OK) {
        status = clv_tfidf_finish(tfidf, &made->data[0]);
    }
    if (status == CLV_OK) {
        status = clv_data_set_ids(made->data[0], "id", corpus->ids);
    }
    clv_corpus_free(corpus);
    return status;
}

/* What is kept of the documents, there and back; then their terms and points once more. */
static clv_status keep_documents(clv_context *ctx, holder *made, const clv_tfidf *tfidf,
                                 const clv_reduce_options *how) {
    int64_t count;
    int32_t labels[30] = {0}, terms[4];
    double offset[3] = {0}, scores[4];
    const clv_matrix *matrix = clv_data_matrix(made->data[0]), *axes = clv_data_matrix(made->data[2]);
    clv_text_model *kept, model = {.terms = clv_tfidf_terms(tfidf, &count),
                                   .occurrences = *matrix,
                                   .axes = *axes,
                                   .offset = offset,
                                   .ngrams = "1-2",
                                   .stop_list = ""};
    labels[3] = 1;
    CLV_TRY(clv_reduce_offset(ctx, matrix, axes, offset));
    CLV_TRY(clv_text_model_write(ctx, "docs.clv", &model));
    clv_status status = clv_text_model_read(ctx, "docs.clv", &kept);
    remove("docs.clv");
    if (status == CLV_OK) {
        status = clv_cluster_terms(ctx, &kept->occurrences, labels, 2, 2, terms, scores);
    }
    if (status == CLV_OK) {
        status = clv_reduce_like(ctx, matrix, &kept->axes, kept->offset, how->threads, &made->data[3]);
    }
    clv_text_model_free(kept);
    return status;
}

/* `kind`: whether to center. */
clv_status read_documents(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_tfidf_options terms;
    clv_reduce_options reduce;
    clv_tfidf *tfidf;
    clv_tfidf_defaults(&terms);
    clv_reduce_defaults(&reduce);
    terms.threads = reduce.threads = threads;
    terms.stop_words = "english";
    terms.ngrams = "1-2";
    terms.max_features = 20;
    reduce.dims = 3;
    reduce.center = self->kind;
    CLV_TRY(clv_tfidf_new(ctx, &terms, &tfidf));
    clv_status status = use_documents(ctx, made, self, tfidf);
    if (status == CLV_OK) {
        status = clv_reduce(ctx, clv_data_matrix(made->data[0]), &reduce, &made->data[1], &made->data[2], NULL);
    }
    if (status == CLV_OK) {
        status = keep_documents(ctx, made, tfidf, &reduce);
    }
    clv_tfidf_free(tfidf);
    return status;
}

/* Large enough for Lanczos: a band matrix. */
clv_status reduce_band(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    enum { SIDE = 420, BAND = 3 };
    clv_reduce_options reduce;
    (void)self;
    clv_reduce_defaults(&reduce);
    reduce.dims = 2;
    reduce.tol = 1e-3;
    reduce.threads = threads;
    CLV_TRY(clv_data_new_csr(ctx, "band", SIDE, SIDE + BAND, (int64_t)SIDE * BAND, &made->data[0]));
    for (int64_t e = 0; e < (int64_t)SIDE * BAND; e++) {
        made->data[0]->start[e / BAND + 1] = (e / BAND + 1) * BAND;
        made->data[0]->index[e] = (int32_t)(e / BAND + e % BAND);
        ((double *)made->data[0]->values)[e] = e < 60 ? 50.0 - (double)e / BAND : 1;
    }
    return clv_reduce(ctx, clv_data_matrix(made->data[0]), &reduce, &made->data[1], NULL, NULL);
}

static clv_status use_picture(clv_context *ctx, holder *made, const clv_image *image, int64_t threads,
                              clv_regions *regions) {
    clv_region_weights weights;
    clv_image drawn = {0};
    clv_region_defaults(&weights);
    CLV_TRY(clv_region_points(ctx, image, regions, &weights, threads, &made->data[0]));
    CLV_TRY(clv_region_similarity(ctx, regions, clv_data_matrix(made->data[0]), 2, 0.5, &made->data[1]));
    CLV_TRY(clv_image_hsv(ctx, image, &made->data[2]));
    CLV_TRY(clv_labels_tidy(ctx, image->width, image->height, 9, 1, regions->labels));
    CLV_TRY(clv_image_overlay(ctx, image, regions->labels, &drawn));
    clv_release(ctx, drawn.samples);
    CLV_TRY(clv_image_resize(ctx, image, 3, 11, &drawn));
    clv_release(ctx, drawn.samples);
    return clv_write_label_image(ctx, "labels-out.png", image->width, image->height, regions->labels);
}

clv_status segment_picture(clv_context *ctx, holder *made, const scenario *self, int64_t threads) {
    clv_superpixel_options options;
    clv_regions *regions, *pixels;
    clv_image image = {0};
    clv_superpixel_defaults(&options);
    options.superpixels = 6;
    options.threads = threads;
    CLV_TRY(clv_read_image(ctx, self->file, &image));
    made->blocks[0] = image.samples;
    CLV_TRY(clv_regions_of_pixels(ctx, image.width, image.height, &pixels));
    clv_regions_free(pixels);
    CLV_TRY(clv_superpixels(ctx, &image, &options, &regions));
    clv_status status = use_picture(ctx, made, &image, threads, regions);
    clv_regions_free(regions);
    return status;
}
