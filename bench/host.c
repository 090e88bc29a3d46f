/* A program with OpenMP of its own that calls the library: its loops run before every solve, so that its team of
 * threads is awake, as in a simulation that clusters what it computes.
 *
 *   host METHOD FILE [NAME VALUE]... --threads N --json -
 *
 * METHOD works on points, or on their affinity by default; names and values are its options. Output, as from the
 * command: {"seconds": {"solve": ...}}, of the second of two solves. */
#include <cleave.h>

#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 20, STEPS = 20, ROOM = 1024, MOST_THREADS = 256 };

static clv_context *ctx;

static void check(clv_status status) {
    if (status < 0) {
        fprintf(stderr, "host: %s\n", clv_message(ctx));
        exit(1);
    }
}

/* What the host does: heat on a line, a parallel loop per step. */
static double own_work(double *now, double *next, int threads) {
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for num_threads(threads)
        for (int i = 1; i < CELLS - 1; i++) {
            next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    return now[CELLS / 2];
}

int main(int argc, char **argv) {
    int threads = argc < 7 ? 0 : atoi(argv[argc - 3]);
    if (threads < 1 || threads > MOST_THREADS || argc % 2 == 0 || strcmp(argv[argc - 4], "--threads") != 0) {
        fprintf(stderr, "usage: host METHOD FILE [NAME VALUE]... --threads N --json -, N from 1 to %d\n", MOST_THREADS);
        return 64;
    }
    const clv_method *method = clv_method_find(argv[1]);
    _Alignas(max_align_t) char options[ROOM];
    if (!method || clv_context_new(NULL, &ctx) != CLV_OK) {
        fprintf(stderr, "host: no method %s\n", argv[1]);
        return 64;
    }
    clv_method_defaults(method, options, method->options->size);
    for (int a = 3; a < argc - 4; a += 2) {
        bool control = clv_options_find(clv_control_table(), argv[a]);
        check(clv_options_set(ctx, control ? clv_control_table() : method->options, options, argv[a], argv[a + 1]));
    }
    ((clv_control *)(void *)options)->threads = threads;

    clv_data *data;
    check(clv_read(ctx, argv[2], NULL, &data));
    clv_affinity *affinity = NULL;
    clv_input input = {.points = clv_data_matrix(data)};
    if (method->takes == CLV_TAKES_AFFINITY) {
        clv_affinity_options how;
        clv_affinity_defaults(&how);
        how.threads = threads;
        check(clv_affinity_build(ctx, clv_data_matrix(data), &how, &affinity));
        input = (clv_input){.affinity = affinity};
    }
    double *cells = calloc(2 * (size_t)CELLS, sizeof *cells), seconds = 0, heat = 0;
    if (!cells) {
        return 1;
    }
    cells[CELLS / 2] = cells[CELLS + CELLS / 2] = 1;
    for (int round = 0; round < 2; round++) {
        clv_result *result;
        heat += own_work(cells, cells + CELLS, threads);
        double began = omp_get_wtime();
        check(clv_solve(ctx, method, &input, options, &result));
        seconds = omp_get_wtime() - began;
        clv_result_free(result);
    }
    printf("{\"seconds\": {\"solve\": %.9g}, \"heat\": %.9g}\n", seconds, heat);
    free(cells);
    clv_affinity_free(affinity);
    clv_data_free(data);
    clv_context_free(ctx);
    return 0;
}
