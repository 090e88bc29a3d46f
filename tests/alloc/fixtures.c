/* The files that the scenarios read: one small file a format. */
#include "alloc.h"

#include <matio.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

enum { POINTS = 24, COLUMNS = 3, SIDE = 8 };

/* Three groups of points around corners of a cube. */
static void fill_points(double *points, int32_t *labels) {
    clv_rng rng = clv_rng_stream(7, 0);
    for (int i = 0; i < POINTS; i++) {
        labels[i] = i % 3;
        for (int j = 0; j < COLUMNS; j++) {
            points[i * COLUMNS + j] = 5.0 * (j == i % 3) + clv_rng_uniform(&rng);
        }
    }
}

static clv_status write_numbers(clv_context *ctx, const double *points, const int32_t *labels) {
    float single[POINTS * COLUMNS];
    double square[POINTS * POINTS];
    int64_t start[POINTS + 1];
    int32_t index[2 * POINTS];
    double ring[2 * POINTS];
    for (int i = 0; i < POINTS * COLUMNS; i++) {
        single[i] = (float)points[i];
    }
    for (int i = 0; i < POINTS * POINTS; i++) {
        square[i] = 1.0 / (1 + (i / POINTS > i % POINTS ? i / POINTS - i % POINTS : i % POINTS - i / POINTS));
    }
    for (int i = 0; i < POINTS; i++) {
        int before = (i + POINTS - 1) % POINTS;
        int after = (i + 1) % POINTS;
        start[i] = 2 * i;
        index[2 * i] = before < after ? before : after;
        index[2 * i + 1] = before < after ? after : before;
        ring[2 * i] = ring[2 * i + 1] = 1;
    }
    start[POINTS] = 2 * POINTS;
    clv_matrix dense = {POINTS, COLUMNS, CLV_F64, points, NULL, NULL};
    clv_matrix floats = {POINTS, COLUMNS, CLV_F32, single, NULL, NULL};
    clv_matrix similarity = {POINTS, POINTS, CLV_F64, square, NULL, NULL};
    clv_matrix graph = {POINTS, POINTS, CLV_F64, ring, start, index};
    double even[2 * POINTS];
    for (int i = 0; i < 2 * POINTS; i++) {
        even[i] = 0.5;
    }
    clv_matrix memberships = {POINTS, 2, CLV_F64, even, NULL, NULL};
    CLV_TRY(clv_write_matrix(ctx, "memberships.npy", &memberships));
    CLV_TRY(clv_write_matrix(ctx, "points.npy", &dense));
    CLV_TRY(clv_write_matrix(ctx, "floats.npy", &floats));
    CLV_TRY(clv_write_matrix(ctx, "points.mtx", &dense));
    CLV_TRY(clv_write_matrix(ctx, "similarity.npy", &similarity));
    CLV_TRY(clv_write_matrix(ctx, "graph.mtx", &graph));
    CLV_TRY(clv_write_labels(ctx, "labels.npy", labels, POINTS));
    return clv_write_labels(ctx, "labels.csv", labels, POINTS);
}

/* CSV with a header and text labels, TSV without either, libsvm text. */
static clv_status write_texts(clv_context *ctx, const double *points, const int32_t *labels) {
    static const char *const names[] = {"one", "two", "a \"quoted\" three"};
    FILE *csv = fopen("points.csv", "w");
    FILE *tsv = fopen("points.tsv", "w");
    FILE *svm = fopen("points.svm", "w");
    if (!csv || !tsv || !svm) {
        return clv_fail(ctx, CLV_ECREATE, "the text files cannot be written");
    }
    fputs("x,y,z,species\n", csv);
    for (int i = 0; i < POINTS; i++) {
        const double *row = points + (ptrdiff_t)i * COLUMNS;
        fprintf(csv, "%.17g,%.17g,%.17g,%s\n", row[0], row[1], row[2],
                labels[i] == 2 ? "\"a \"\"quoted\"\" three\"" : names[labels[i]]);
        fprintf(tsv, "%.17g\t%.17g\t%.17g\n", row[0], row[1], row[2]);
        fprintf(svm, "%d 1:%.17g 3:%.17g\n", labels[i], row[0], row[2]);
    }
    bool whole = fclose(csv) == 0;
    whole = fclose(tsv) == 0 && whole;
    whole = fclose(svm) == 0 && whole;
    return whole ? CLV_OK : clv_fail(ctx, CLV_EIO, "the text files cannot be written");
}

static clv_status write_mat(clv_context *ctx, const double *points) {
    double by_columns[POINTS * COLUMNS];
    size_t dims[2] = {POINTS, COLUMNS};
    for (int i = 0; i < POINTS * COLUMNS; i++) {
        by_columns[i % COLUMNS * POINTS + i / COLUMNS] = points[i];
    }
    mat_t *file = Mat_CreateVer("points.mat", NULL, MAT_FT_MAT5);
    matvar_t *variable = Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, by_columns, 0);
    bool written = file && variable && Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE) == 0;
    Mat_VarFree(variable);
    if (file) {
        Mat_Close(file);
    }
    return written ? CLV_OK : clv_fail(ctx, CLV_ECREATE, "points.mat cannot be written");
}

static clv_status write_jpeg(clv_context *ctx, uint8_t *samples) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen("picture.jpg", "wb");
    if (!file) {
        return clv_fail(ctx, CLV_ECREATE, "picture.jpg cannot be written");
    }
    memset(&jpeg, 0, sizeof jpeg);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = SIDE;
    jpeg.image_height = SIDE;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int row = 0; row < SIDE; row++) {
        JSAMPROW line = samples + (ptrdiff_t)row * SIDE * 3;
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return fclose(file) == 0 ? CLV_OK : clv_fail(ctx, CLV_EIO, "picture.jpg cannot be written");
}

static clv_status write_pictures(clv_context *ctx) {
    uint8_t samples[SIDE * SIDE * 3];
    for (int i = 0; i < SIDE * SIDE * 3; i++) {
        samples[i] = (uint8_t)(i * 7);
    }
    CLV_TRY(clv_write_png(ctx, "picture.png", &(clv_image){SIDE, SIDE, 3, samples}));
    return write_jpeg(ctx, samples);
}

/* A result to verify: the scenario of the JSON report, run once without failures. */
static clv_status write_result(clv_context *ctx) {
    holder made = {0};
    clv_status status = CLV_EINTERNAL;
    for (size_t i = 0; i < scenario_count; i++) {
        if (strcmp(scenarios[i].name, "report json") == 0) {
            status = scenarios[i].run(ctx, &made, &scenarios[i], 1);
        }
    }
    if (status == CLV_OK) {
        status = clv_write_text(ctx, "result.json", made.blocks[0], strlen(made.blocks[0]));
    }
    clv_release(ctx, made.blocks[0]);
    clv_result_free(made.result);
    clv_affinity_free(made.affinity);
    clv_data_free(made.data[0]);
    return status;
}

clv_status write_fixtures(clv_context *ctx) {
    double points[POINTS * COLUMNS];
    int32_t labels[POINTS];
    fill_points(points, labels);
    CLV_TRY(write_numbers(ctx, points, labels));
    CLV_TRY(write_texts(ctx, points, labels));
    CLV_TRY(write_mat(ctx, points));
    CLV_TRY(write_pictures(ctx));
    CLV_TRY(write_documents(ctx));
    return write_result(ctx);
}
