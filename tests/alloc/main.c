/* The harness: the allocator that fails, the loop over k, and the accounts that must balance. See alloc.h.
 *
 *     alloc THREADS [PART]           every scenario with PART in its name, every request failed once
 *     alloc THREADS random RUNS      RUNS scenarios, drawn, in which requests fail at random
 */
#include "alloc.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 20000 };

/* Fail request number `fail_at` (from 1), and those after it too if `stay_empty`; or, with `one_in` above 0, about one
 * in so many, chosen by their number and `fail_at`. */
typedef struct failing_memory {
    atomic_long requests, live, failures;
    long fail_at;
    bool stay_empty;
    uint64_t one_in;
} failing_memory;

static bool fails(const failing_memory *memory, long number) {
    if (memory->one_in > 0) {
        clv_rng rng = clv_rng_stream((uint64_t)memory->fail_at, (uint64_t)number);
        return clv_rng_next(&rng) % memory->one_in == 0;
    }
    return number == memory->fail_at || (memory->stay_empty && number > memory->fail_at);
}

static void *allocate(void *user, size_t bytes) {
    failing_memory *memory = user;
    long number = atomic_fetch_add(&memory->requests, 1) + 1;
    if (fails(memory, number)) {
        atomic_fetch_add(&memory->failures, 1);
        return NULL;
    }
    void *block = malloc(bytes);
    if (block) {
        atomic_fetch_add(&memory->live, 1);
    }
    return block;
}

static void release(void *user, void *block) {
    failing_memory *memory = user;
    if (block) {
        atomic_fetch_sub(&memory->live, 1);
        free(block);
    }
}

static void free_all(clv_context *ctx, holder *made) {
    clv_claim_free(made->claim);
    clv_result_free(made->fresh);
    clv_result_free(made->found);
    clv_result_free(made->result);
    clv_affinity_free(made->restricted);
    clv_affinity_free(made->affinity);
    for (size_t i = 0; i < sizeof made->data / sizeof made->data[0]; i++) {
        clv_data_free(made->data[i]);
    }
    for (size_t i = 0; i < sizeof made->blocks / sizeof made->blocks[0]; i++) {
        clv_release(ctx, made->blocks[i]);
    }
}

/* A write that fails must not leave a temporary file behind: the folder holds as many files as before. */
static long count_files(void) {
    DIR *folder = opendir(".");
    long count = 0;
    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

/* What is wrong after one run, or NULL. */
static const char *fault_of(clv_status status, const char *message, const failing_memory *memory, size_t held) {
    if (memory->failures == 0 && status != CLV_OK) {
        return "failed though no allocation did";
    }
    if (status != CLV_OK && status != CLV_ENOMEM) {
        return "reported something else than being out of memory";
    }
    if (status == CLV_ENOMEM && message[0] == '\0') {
        return "left no message";
    }
    if (held != 0) {
        return "did not give back all bytes";
    }
    return NULL;
}

/* One run; false after saying what was wrong. `failed` tells whether an allocation failed at all. */
static bool run_once(const scenario *one, int64_t threads, failing_memory memory, bool *failed) {
    clv_allocator allocator = {allocate, release, &memory};
    clv_context *ctx = NULL;
    holder made = {0};
    const char *fault = NULL;
    char message[256] = "";
    size_t held = 0;
    size_t peak = 0;
    long files = count_files();
    clv_status status = clv_context_new(&allocator, &ctx);
    if (status == CLV_OK) {
        status = one->run(ctx, &made, one, threads);
        snprintf(message, sizeof message, "%s", clv_message(ctx));
        free_all(ctx, &made);
        clv_context_memory(ctx, &held, &peak);
        fault = fault_of(status, message, &memory, held);
        clv_context_free(ctx);
    }
    if (!fault && memory.live != 0) {
        fault = "left blocks behind";
    }
    if (!fault && status < 0 && count_files() != files) {
        fault = "left a file behind";
    }
    *failed = memory.failures > 0;
    if (fault) {
        printf("FAILED %s: %s %ld%s: %s (%s: %s; %ld blocks, %zu bytes held)\n", one->name,
               memory.one_in > 0 ? "random run" : "allocation", memory.fail_at,
               memory.stay_empty ? " and all after it" : "", fault, clv_status_name(status), message, memory.live,
               held);
    }
    return !fault;
}

/* All k; false when any of them was wrong. */
static bool run_scenario(const scenario *one, int64_t threads) {
    bool good = true;
    long most = 0;
    for (int stay_empty = 0; stay_empty <= 1; stay_empty++) {
        bool failed = true;
        for (long k = 1; failed && k <= MOST_ALLOCATIONS; k++) {
            failing_memory memory = {.fail_at = k, .stay_empty = stay_empty};
            good = run_once(one, threads, memory, &failed) && good;
            most = k - 1;
        }
        if (failed) {
            printf("FAILED %s: more than %d allocations\n", one->name, MOST_ALLOCATIONS);
            good = false;
        }
    }
    printf("%s %s: %ld allocations failed one by one\n", good ? "passed" : "FAILED", one->name, most);
    return good;
}

/* Scenario i: those of the table, then each method used, and its checkpoints. */
static scenario scenario_at(size_t i, char name[64]) {
    size_t methods;
    const clv_method *const *list = clv_methods(&methods);
    if (i < scenario_count) {
        return scenarios[i];
    }
    size_t method = (i - scenario_count) / 2;
    bool resumed = (i - scenario_count) % 2;
    snprintf(name, 64, "%s %s", resumed ? "checkpoints of" : "method", list[method]->name);
    return (scenario){.name = name, .run = resumed ? go_on : use_method, .kind = (int)method};
}

static size_t count_scenarios(void) {
    size_t methods;
    clv_methods(&methods);
    return scenario_count + 2 * methods;
}

/* All of them, or those whose name has `only` in it. */
static int run_all(int64_t threads, const char *only) {
    int wrong = 0;
    for (size_t i = 0; i < count_scenarios(); i++) {
        char name[64];
        scenario one = scenario_at(i, name);
        wrong += strstr(one.name, only) && !run_scenario(&one, threads);
    }
    printf("%zu scenarios on %lld threads, %d failed\n", count_scenarios(), (long long)threads, wrong);
    return wrong > 0;
}

/* Rare failures are those that come late. */
static int run_random(int64_t threads, long runs) {
    long wrong = 0, hit = 0;
    for (long r = 0; r < runs; r++) {
        char name[64];
        clv_rng rng = clv_rng_stream((uint64_t)r, 1);
        scenario one = scenario_at((size_t)clv_rng_below(&rng, (int64_t)count_scenarios()), name);
        failing_memory memory = {.fail_at = r, .one_in = (uint64_t)2 << clv_rng_below(&rng, 11)};
        bool failed;
        wrong += !run_once(&one, threads, memory, &failed);
        hit += failed;
    }
    printf("%ld runs on %lld threads, requests failed in %ld, %ld failed\n", runs, (long long)threads, hit, wrong);
    return wrong > 0;
}

static int prepare(void) {
    clv_context *ctx = NULL;
    bool written = clv_context_new(NULL, &ctx) == CLV_OK && write_fixtures(ctx) == CLV_OK;
    if (!written) {
        printf("FAILED the files to read could not be written: %s\n", clv_message(ctx));
    }
    clv_context_free(ctx);
    return written ? 0 : 1;
}

static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(path);
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/cleave-alloc-XXXXXX";
    int64_t threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool at_random = argc > 3 && strcmp(argv[2], "random") == 0;
    int status = prepare();
    if (status == 0) {
        status = at_random ? run_random(threads, strtol(argv[3], NULL, 10)) : run_all(threads, argc > 2 ? argv[2] : "");
    }
    remove_folder(folder);
    return status;
}
