/* The harness: the allocator that fails, the loop over k, and the accounts that must balance. See alloc.h. */
#include "alloc.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 20000 };

/* Fail request number `fail_at` (from 1), and those after it too if `stay_empty`. */
typedef struct failing_memory {
    atomic_long requests, live, failures;
    long fail_at;
    bool stay_empty;
} failing_memory;

static void *allocate(void *user, size_t bytes) {
    failing_memory *memory = user;
    long number = atomic_fetch_add(&memory->requests, 1) + 1;
    if (number == memory->fail_at || (memory->stay_empty && number > memory->fail_at)) {
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
static bool run_once(const scenario *one, int64_t threads, long fail_at, bool stay_empty, bool *failed) {
    failing_memory memory = {.fail_at = fail_at, .stay_empty = stay_empty};
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
        printf("FAILED %s: allocation %ld%s: %s (%s: %s; %ld blocks, %zu bytes held)\n", one->name, fail_at,
               stay_empty ? " and all after it" : "", fault, clv_status_name(status), message, memory.live, held);
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
            good = run_once(one, threads, k, stay_empty, &failed) && good;
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

static int run_all(int64_t threads) {
    clv_context *ctx = NULL;
    int wrong = 0;
    if (clv_context_new(NULL, &ctx) < 0 || write_fixtures(ctx) < 0) {
        printf("FAILED the files to read could not be written: %s\n", clv_message(ctx));
        clv_context_free(ctx);
        return 1;
    }
    clv_context_free(ctx);
    for (size_t i = 0; i < scenario_count; i++) {
        wrong += !run_scenario(&scenarios[i], threads);
    }
    size_t methods;
    const clv_method *const *list = clv_methods(&methods);
    for (size_t i = 0; i < methods; i++) {
        char name[64];
        snprintf(name, sizeof name, "method %s", list[i]->name);
        wrong += !run_scenario(&(scenario){.name = name, .run = use_method, .kind = (int)i}, threads);
        snprintf(name, sizeof name, "checkpoints of %s", list[i]->name);
        wrong += !run_scenario(&(scenario){.name = name, .run = go_on, .kind = (int)i}, threads);
    }
    printf("%zu scenarios on %lld threads, %d failed\n", scenario_count + 2 * methods, (long long)threads, wrong);
    return wrong > 0;
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
    int status = run_all(threads);
    remove_folder(folder);
    return status;
}
