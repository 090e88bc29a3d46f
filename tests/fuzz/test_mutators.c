/* What mutators of formats are for: of files that they have changed a few times, many are still read, where libFuzzer's
 * own mutations, for which a bit that flips stands in here, leave hardly any.
 *
 *     test_mutators CORPUS */
#include "fuzz.h"
#include "mutate.h"
#include "report/report.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 400, CHANGES = 3, ROOM = 1 << 13, GUARD = 64 };

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most) {
    static uint8_t count;
    if (size > 0 && size <= most) {
        bytes[count++ % size] ^= 1;
    }
    return size;
}

static bool reads_data(clv_status status, clv_data *data) {
    clv_data_free(data);
    return status == CLV_OK;
}

static bool reads_npy(clv_context *ctx, clv_bytes bytes) {
    clv_data *data = NULL;
    clv_status status = clv_npy_parse(ctx, bytes, &data);
    return reads_data(status, data);
}

static bool reads_mat(clv_context *ctx, clv_bytes bytes) {
    clv_data *data = NULL;
    clv_status status = clv_mat_parse(ctx, bytes, NULL, &data);
    return reads_data(status, data);
}

static bool reads_mtx(clv_context *ctx, clv_bytes bytes) {
    clv_data *data = NULL;
    clv_status status = clv_mtx_parse(ctx, bytes, &data);
    return reads_data(status, data);
}

static bool reads_png(clv_context *ctx, clv_bytes bytes) {
    clv_image image = {0};
    clv_status status = clv_png_parse(ctx, bytes, &image);
    clv_release(ctx, image.samples);
    return status == CLV_OK;
}

static bool reads_json(clv_context *ctx, clv_bytes bytes) {
    clv_claim *claim = NULL;
    clv_status status = clv_claim_parse(ctx, "x.json", (const char *)bytes.data, bytes.size, NULL, &claim);
    clv_claim_free(claim);
    return status == CLV_OK;
}

typedef struct format {
    const char *corpus;
    fuzz_mutator mutate;
    bool (*reads)(clv_context *ctx, clv_bytes bytes);
    double least; /* the share that must be read */
} format;

static const format formats[] = {{"npy", fuzz_mutate_npy, reads_npy, 0.5},
                                 {"mat", fuzz_mutate_mat, reads_mat, 0.35},
                                 {"mtx", fuzz_mutate_mtx, reads_mtx, 0.1},
                                 {"image", fuzz_mutate_png, reads_png, 0.25},
                                 {"json", fuzz_mutate_json, reads_json, 0.08}};

typedef struct tally {
    long tried, read, same;
} tally;

/* From one seed: changed a few times, each time within its room. */
static bool try_seed(const format *f, const uint8_t *seed, size_t length, tally *t) {
    static uint8_t bytes[ROOM + GUARD];
    for (unsigned round = 0; round < ROUNDS; round++) {
        fuzz_memory memory;
        clv_rng rng = clv_rng_stream(round, 1);
        size_t size = length, most = length + (size_t)clv_rng_below(&rng, ROOM - (int64_t)length);
        memcpy(bytes, seed, length);
        memset(bytes + most, 0xa5, GUARD);
        for (int c = 0; c < CHANGES && size > 0; c++) {
            size_t made = f->mutate(&rng, bytes, size, most);
            size = made > 0 ? made : size;
        }
        for (size_t g = 0; g < GUARD; g++) {
            if (size > most || bytes[most + g] != 0xa5) {
                printf("FAILED %s, round %u: written behind its room\n", f->corpus, round);
                return false;
            }
        }
        clv_context *ctx = fuzz_open(&memory);
        bool same = size == length && memcmp(bytes, seed, size) == 0;
        t->tried++;
        t->same += same;
        t->read += !same && f->reads(ctx, (clv_bytes){bytes, size, f->corpus});
        fuzz_close(ctx, &memory);
    }
    return true;
}

static bool try_format(const format *f, const char *corpus) {
    static uint8_t seed[ROOM];
    char path[4096];
    tally t = {0};
    bool good = true;
    snprintf(path, sizeof path, "%s/%s", corpus, f->corpus);
    DIR *folder = opendir(path);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && good; entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".jpg")) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s/%s", corpus, f->corpus, entry->d_name);
        FILE *file = fopen(path, "rb");
        size_t size = file ? fread(seed, 1, ROOM, file) : 0;
        if (file) {
            fclose(file);
        }
        good = try_seed(f, seed, size, &t);
    }
    if (folder) {
        closedir(folder);
    }
    double share = t.tried > t.same ? (double)t.read / (double)(t.tried - t.same) : 0;
    good = good && share >= f->least;
    printf("%s %s: %ld files, %ld as they were, %.3f of the others are read, at least %.3f\n",
           good ? "passed" : "FAILED", f->corpus, t.tried, t.same, share, f->least);
    return good;
}

int main(int argc, char **argv) {
    int failed = argc != 2;
    for (size_t f = 0; argc == 2 && f < CLV_COUNT(formats); f++) {
        failed += !try_format(&formats[f], argv[1]);
    }
    return failed > 0;
}
