/* k-support logistic regression on the synthetic data of the paper, in one process: the data are made once, then every
 * run that standard input asks for is timed.
 *
 *   ksupport_bench FEATURES SAMPLES RELEVANT GROUPS SEED THREADS [LAYOUT [VALIDATION]]
 *
 * LAYOUT: features (one row of X per feature, the default) or samples. Input lines are options of `cleave ksupport`,
 * "NAME VALUE NAME VALUE ...": "k 2000 lambda 0.1 solver fcfw rule change tol 1e-4"; "repeat N" takes the best of N.
 * Output lines: the input, then processor seconds, iterations, passes over X, objective, relative gap, nonzeros,
 * precision of the features, AUC on VALIDATION further samples, stop, processor seconds before the first iterate (which
 * the first field includes). The line "bandwidth" gives the gigabytes per second at which all threads together read X
 * when they only add it up, the median of five; the line "trace OPTIONS" prints one row per iteration instead: number,
 * processor seconds, objective, gap. */
#define _DEFAULT_SOURCE 1 /* madvise */
#include "stream.h"

#include <cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static clv_context *ctx;
static int64_t features, samples, relevant, groups, validation;
static int threads;
static float *x, *extra; /* features x samples, features x validation; or x as samples x features */
static int by_features = 1;
static double *y, *y_extra;

static void check(clv_status status) {
    if (status < 0) {
        fprintf(stderr, "ksupport_bench: %s\n", clv_message(ctx));
        exit(1);
    }
}

/* --- data --- */

/* On large pages, as arrays of NumPy are. */
static float *new_x(void) {
    const size_t page = 2 << 20, bytes = (size_t)(features * samples) * sizeof *x;
    float *room = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (room) {
        madvise(room, bytes, MADV_HUGEPAGE);
    }
    return room;
}

static uint64_t next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state) {
    return ((double)(next(state) >> 11) + 0.5) * 0x1p-53;
}

static void normal_pair(uint64_t *state, double out[2]) {
    double radius = sqrt(-2 * log(uniform(state))), angle = 6.283185307179586 * uniform(state);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

/* Entries of N(0, 1); those of a relevant feature are around a mean of their group, drawn for each sample. Then samples
 * of length 1, and labels by the logistic model whose weights are 1 on the relevant features. */
static void make_samples(float *out, int64_t count, double *labels, uint64_t seed) {
    double *square = calloc((size_t)count, sizeof *square), *score = calloc((size_t)count, sizeof *score);
    double *mean = malloc((size_t)(groups * count) * sizeof *mean), pair[2];
    uint64_t state = seed;
    for (int64_t i = 0; i < groups * count; i++) {
        normal_pair(&state, pair);
        mean[i] = pair[0];
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t j = 0; j < features; j++) {
        uint64_t stream = seed * 1000003u + (uint64_t)j * 0x632be59bd9b4e019u;
        int64_t group = j < relevant ? j * groups / relevant : -1;
        double two[2] = {0, 0};
        for (int64_t m = 0; m < count; m++) {
            if (m % 2 == 0) {
                normal_pair(&stream, two);
            }
            out[j * count + m] = (float)(two[m % 2] + (group >= 0 ? mean[group * count + m] : 0));
        }
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t slice = 0; slice < 16; slice++) {
        int64_t end = count * (slice + 1) / 16;
        for (int64_t j = 0; j < features; j++) {
            for (int64_t m = count * slice / 16; m < end; m++) {
                double entry = (double)out[j * count + m];
                square[m] += entry * entry;
                score[m] += j < relevant ? entry : 0;
            }
        }
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t j = 0; j < features; j++) {
        for (int64_t m = 0; m < count; m++) {
            out[j * count + m] = (float)((double)out[j * count + m] / sqrt(square[m]));
        }
    }
    for (int64_t m = 0; m < count; m++) {
        labels[m] = uniform(&state) < 1 / (1 + exp(-score[m] / sqrt(square[m]))) ? 1 : -1;
    }
    free(square);
    free(score);
    free(mean);
}

static void turn_x(void) {
    float *turned = new_x();
    for (int64_t j = 0; j < features; j++) {
        for (int64_t m = 0; m < samples; m++) {
            turned[m * features + j] = x[j * samples + m];
        }
    }
    free(x);
    x = turned;
    by_features = 0;
}

/* --- measures --- */

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median of five, by the clock that runs are timed with. */
static double bandwidth(void) {
    enum { ROWS = 256, READS = 5 };
    double rate[READS];
    for (int read = 0; read < READS; read++) {
        clock_t began = clock();
        double total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total) schedule(static)
        for (int64_t j = 0; j < features; j += ROWS) {
            int64_t rows = features - j < ROWS ? features - j : ROWS;
            total += stream_sum(x + j * samples, (size_t)(rows * samples));
        }
        double seconds = (double)(clock() - began) / CLOCKS_PER_SEC / threads;
        rate[read] = isfinite(total) ? (double)(features * samples) * sizeof *x / seconds * 1e-9 : 0;
    }
    qsort(rate, READS, sizeof *rate, by_size);
    return rate[READS / 2];
}

static double auc(const double *score) {
    double pairs = 0, right = 0;
    for (int64_t i = 0; i < validation; i++) {
        for (int64_t j = 0; j < validation; j++) {
            if (y_extra[i] > y_extra[j]) {
                pairs++;
                right += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
            }
        }
    }
    return pairs > 0 ? right / pairs : (double)NAN;
}

static double score_validation(const clv_result *result, const clv_ksupport_options *options) {
    clv_matrix fresh = {features, validation, CLV_F32, extra, NULL, NULL};
    clv_ksupport_options turned = *options;
    clv_result *found = NULL;
    turned.transposed = 1;
    if (validation == 0) {
        return (double)NAN;
    }
    check(clv_ksupport_predict(ctx, &(clv_input){0}, &turned, result, &(clv_fresh){.points = &fresh}, &found));
    double area = auc(clv_result_matrix(found, "scores")->values);
    clv_result_free(found);
    return area;
}

/* --- runs --- */

static clv_result *solve(const clv_ksupport_options *options) {
    clv_matrix view = {by_features ? features : samples, by_features ? samples : features, CLV_F32, x, NULL, NULL};
    clv_matrix targets = {samples, 1, CLV_F64, y, NULL, NULL};
    clv_result *result;
    check(clv_ksupport(ctx, &(clv_input){.points = &view, .targets = &targets}, options, &result));
    return result;
}

static void report(const char *line, const clv_result *result, const clv_ksupport_options *options, double seconds,
                   double setup) {
    const clv_matrix *w = clv_result_matrix(result, "weights");
    int64_t count = w->start[1], right = 0;
    for (int64_t e = 0; e < count; e++) {
        right += w->index[e] < relevant;
    }
    printf("%s | %.4f %lld %lld %.10g %.3e %lld %.4f %.4f %s %.4f\n", line, seconds, (long long)result->iterations,
           (long long)clv_result_integer(result, "data_passes", 0), result->objective.value, result->certificate.value,
           (long long)count, count > 0 ? (double)right / (double)count : (double)NAN, score_validation(result, options),
           clv_stop_name(result->stop), setup);
    fflush(stdout);
}

static void run_line(const char *line) {
    clv_ksupport_options options;
    char copy[1024], *rest = NULL;
    int repeat = 1, trace = 0;
    clv_ksupport_defaults(&options);
    options.transposed = by_features;
    options.control.threads = threads;
    snprintf(copy, sizeof copy, "%s", line);
    char *name = strtok_r(copy, " \n", &rest);
    if (name && strcmp(name, "trace") == 0) {
        trace = 1;
        name = strtok_r(NULL, " \n", &rest);
    }
    for (; name; name = strtok_r(NULL, " \n", &rest)) {
        const char *value = strtok_r(NULL, " \n", &rest);
        const clv_option_table *own = clv_method_find("ksupport")->options;
        const clv_option_table *table = clv_options_find(own, name) ? own : clv_control_table();
        if (strcmp(name, "repeat") == 0) {
            repeat = atoi(value);
        } else {
            check(clv_options_set(ctx, table, &options, name, value));
        }
    }
    options.control.keep_trace = 1;
    clv_result *best = NULL;
    double seconds = INFINITY, setup = 0, share = 1; /* of the seconds that passed, those of the processor */
    for (int run = 0; run < repeat; run++) {
        clv_result_free(best);
        clock_t began = clock();
        best = solve(&options);
        double used = (double)(clock() - began) / CLOCKS_PER_SEC;
        share = used / best->seconds;
        setup = used < seconds && best->trace_count > 0 ? share * best->trace[0].seconds : setup;
        seconds = used < seconds ? used : seconds;
    }
    for (int64_t t = 0; trace && t < best->trace_count; t++) {
        const clv_trace_row *row = &best->trace[t];
        printf("%s | %lld %.4f %.10g %.3e\n", line, (long long)row->iteration, share * row->seconds, row->objective,
               row->certificate);
    }
    if (!trace) {
        report(line, best, &options, seconds, setup);
    }
    clv_result_free(best);
}

int main(int argc, char **argv) {
    char line[1024];
    setvbuf(stdout, NULL, _IOLBF, 0); /* whoever asks waits for the answer before the next question */
    if (argc < 7 || clv_context_new(NULL, &ctx) < 0) {
        fprintf(stderr, "usage: ksupport_bench FEATURES SAMPLES RELEVANT GROUPS SEED THREADS [LAYOUT [VALIDATION]]\n");
        return 64;
    }
    features = atoll(argv[1]);
    samples = atoll(argv[2]);
    relevant = atoll(argv[3]);
    groups = atoll(argv[4]);
    threads = atoi(argv[6]);
    validation = argc > 8 ? atoll(argv[8]) : 0;
    x = new_x();
    extra = malloc((size_t)(features * validation + 1) * sizeof *extra);
    y = malloc((size_t)samples * sizeof *y);
    y_extra = malloc((size_t)(validation + 1) * sizeof *y);
    if (!x || !extra || !y || !y_extra) {
        fprintf(stderr, "ksupport_bench: out of memory\n");
        return 71;
    }
    make_samples(x, samples, y, (uint64_t)atoll(argv[5]));
    make_samples(extra, validation, y_extra, (uint64_t)atoll(argv[5]) + 7777);
    if (argc > 7 && strcmp(argv[7], "samples") == 0) {
        turn_x();
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "bandwidth") == 0) {
            printf("bandwidth | %.3f\n", bandwidth());
        } else if (line[0]) {
            run_line(line);
        }
    }
    free(x);
    free(extra);
    free(y);
    free(y_extra);
    clv_context_free(ctx);
    return 0;
}
