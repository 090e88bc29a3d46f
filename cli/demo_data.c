/* The data sets of cleave demo: bundled ones, and small ones that are made up the same everywhere. */
#include "demo.h"
#include "embedded/documents.h" /* made from data/documents.jsonl by the build */
#include "embedded/iris.h"      /* made from data/iris.csv by the build */

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* A number in [0, 1) from splitmix64. */
static double uniform(uint64_t *state) {
    uint64_t bits = (*state += 0x9e3779b97f4a7c15u);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(2 * pi * uniform(state));
}

static void print_iris(FILE *stream, const void *none) {
    (void)none;
    fputs(embedded_iris, stream);
}

static void print_documents(FILE *stream, const void *none) {
    (void)none;
    fputs(embedded_documents, stream);
}

static void print_rings(FILE *stream, const void *none) {
    (void)none;
    uint64_t state = 1;
    fputs("x,y,ring\n", stream);
    for (int i = 0; i < 300; i++) {
        bool outer = i >= 150;
        double radius = (outer ? 3.0 : 1.2) + 0.5 * (uniform(&state) - 0.5);
        double angle = 2 * pi * uniform(&state);
        fprintf(stream, "%.4f,%.4f,%s\n", radius * cos(angle), radius * sin(angle), outer ? "outer" : "inner");
    }
}

static void print_moons(FILE *stream, const void *none) {
    (void)none;
    uint64_t state = 2;
    fputs("x,y,moon\n", stream);
    for (int i = 0; i < 400; i++) {
        bool lower = i % 2 == 1;
        double angle = pi * uniform(&state), x = cos(angle), y = sin(angle);
        fprintf(stream, "%.4f,%.4f,%s\n", (lower ? 1 - x : x) + 0.08 * normal(&state),
                (lower ? 0.5 - y : y) + 0.08 * normal(&state), lower ? "lower" : "upper");
    }
}

/* Three groups, and as many objects again anywhere: those belong to none. */
static void print_noisy(FILE *stream, const void *none) {
    static const double centers[3][2] = {{-3, -2}, {3, -2}, {0, 3}};
    static const char *const names[] = {"left", "right", "top", "noise"};
    (void)none;
    uint64_t state = 3;
    fputs("x,y,group\n", stream);
    for (int i = 0; i < 240; i++) {
        int group = i < 180 ? i % 3 : 3;
        double x = group < 3 ? centers[group][0] + 0.5 * normal(&state) : 14 * uniform(&state) - 7;
        double y = group < 3 ? centers[group][1] + 0.5 * normal(&state) : 12 * uniform(&state) - 5.5;
        fprintf(stream, "%.4f,%.4f,%s\n", x, y, names[group]);
    }
}

/* Three groups that overlap: objects between them belong to two. */
static void print_overlap(FILE *stream, const void *none) {
    (void)none;
    uint64_t state = 4;
    fputs("x,y,group\n", stream);
    for (int i = 0; i < 240; i++) {
        int group = i % 3;
        double angle = 2 * pi * group / 3;
        fprintf(stream, "%.4f,%.4f,g%d\n", 1.9 * cos(angle) + 0.8 * normal(&state),
                1.9 * sin(angle) + 0.8 * normal(&state), group + 1);
    }
}

/* Four groups, and one object in a hundred that was measured wrongly, three and a half times too large. */
static void print_outliers(FILE *stream, const void *none) {
    (void)none;
    uint64_t state = 5;
    fputs("width,height,kind\n", stream);
    for (int i = 0; i < 400; i++) {
        int group = i % 4;
        double scale = i % 100 == 7 ? 3.5 : 1;
        fprintf(stream, "%.3f,%.3f,k%d\n", scale * ((group & 1 ? 6 : 2) + 0.7 * normal(&state)),
                scale * ((group & 2 ? 6 : 2) + 0.7 * normal(&state)), group + 1);
    }
}

/* 90 patients with 400 numbers each, of which eight have to do with their illness; every other one is ill. */
enum { PATIENTS = 90, GENES = 400, RELEVANT = 8 };
static void print_genes(FILE *stream, const void *none) {
    (void)none;
    uint64_t state = 6;
    fputs("patient,", stream);
    for (int j = 0; j < GENES; j++) {
        fprintf(stream, "gene%d%s", j + 1, j + 1 < GENES ? "," : "\n");
    }
    for (int i = 0; i < PATIENTS; i++) {
        fprintf(stream, "p%02d,", i + 1);
        for (int j = 0; j < GENES; j++) {
            fprintf(stream, "%.2f%s", normal(&state) + (j < RELEVANT && i % 2 ? 1.2 : 0), j + 1 < GENES ? "," : "\n");
        }
    }
}

static void print_diagnosis(FILE *stream, const void *none) {
    (void)none;
    fputs("patient,diagnosis\n", stream);
    for (int i = 0; i < PATIENTS; i++) {
        fprintf(stream, "p%02d,%s\n", i + 1, i % 2 ? "ill" : "well");
    }
}

/* A road map: a grid of 16 x 16 crossings in four quarters, with a bridge of two roads between neighbors. */
static bool is_road(int x, int y, bool right) {
    int along = right ? y : x, across = right ? x : y;
    return across < 15 && (across != 7 || along % 8 == 3 || along % 8 == 4);
}

static void print_roads(FILE *stream, const void *none) {
    (void)none;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 256; i++) {
            for (int right = 0; right < 2; right++) {
                if (is_road(i % 16, i / 16, right) && pass) {
                    fprintf(stream, "%d %d 1\n", i + (right ? 1 : 16) + 1, i + 1);
                }
                count += !pass && is_road(i % 16, i / 16, right);
            }
        }
        if (!pass) {
            fprintf(stream, "%%%%MatrixMarket matrix coordinate real symmetric\n256 256 %d\n", count);
        }
    }
}

/* A house on a hill under the sun, with the grain of a photograph. */
enum { WIDTH = 192, HEIGHT = 128 };
static void paint(int x, int y, double color[3]) {
    static const double sky[] = {120, 175, 230}, hill[] = {70, 140, 60}, sun[] = {250, 220, 70},
                        wall[] = {205, 190, 170}, roof[] = {165, 60, 45};
    double height = 40 + 14 * sin(x * pi / 110), dx = x - 150.0, dy = y - 28.0;
    const double *found = HEIGHT - y < height ? hill : dx * dx + dy * dy < 18 * 18 ? sun : sky;
    if (x >= 48 && x < 100 && y >= 58 && y < 96) {
        found = wall;
    }
    if (y >= 34 && y < 58 && abs(x - 74) < (y - 32) * 1.3) {
        found = roof;
    }
    for (int c = 0; c < 3; c++) {
        color[c] = found[c];
    }
}

static clv_status write_picture(const cli_app *app, const char *path) {
    static uint8_t samples[3 * WIDTH * HEIGHT];
    clv_image image = {WIDTH, HEIGHT, 3, samples};
    uint64_t state = 7;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double color[3];
        paint(i % WIDTH, i / WIDTH, color);
        for (int c = 0; c < 3; c++) {
            samples[3 * i + c] = (uint8_t)fmax(0, fmin(255, color[c] + 9 * normal(&state)));
        }
    }
    return cli_library(app, clv_write_png(app->ctx, path, &image));
}

/* The first label of a result becomes another one: what somebody does who wants a nicer figure. */
static clv_status write_tampered(const cli_app *app, const char *from, const char *path) {
    enum { ROOM = 1 << 17 };
    char *text = malloc(ROOM);
    FILE *stream = text ? fopen(from, "rb") : NULL;
    size_t size = stream ? fread(text, 1, ROOM, stream) : 0;
    char *labels = NULL;
    if (stream) {
        fclose(stream);
        text[size < ROOM ? size : ROOM - 1] = '\0';
        labels = strstr(text, "\"labels\": [");
    }
    clv_status status = CLV_EIO;
    if (labels) {
        labels += strlen("\"labels\": [");
        *labels = *labels == '0' ? '1' : '0';
        status = cli_output_text(app, path, text, size);
    } else {
        cli_fail(app, status, "%s: its labels cannot be read", from);
    }
    free(text);
    return status;
}

const demo_file demo_files[] = {
    {"iris.csv", .print = print_iris},
    {"rings.csv", .print = print_rings},
    {"moons.csv", .print = print_moons},
    {"noisy.csv", .print = print_noisy},
    {"overlap.csv", .print = print_overlap},
    {"outliers.csv", .print = print_outliers},
    {"genes.csv", .print = print_genes},
    {"diagnosis.csv", .print = print_diagnosis},
    {"roads.mtx", .print = print_roads},
    {"picture.png", .write = write_picture},
    {"documents.jsonl", .print = print_documents},
    {"tampered.json", .change = write_tampered, .of = "iris.json"},
};
const size_t demo_file_count = CLI_COUNT(demo_files);
