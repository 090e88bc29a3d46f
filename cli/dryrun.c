/* --dry-run: what a job would hold, without doing it; of several processes, each of them. The points have been read, so
 * their cost is measured. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t cli_budget(int64_t memory) {
    return memory > 0 ? (size_t)memory : (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGE_SIZE);
}

size_t cli_method_bytes(const clv_method *method, const clv_input *input, const void *options, int64_t threads) {
    _Alignas(max_align_t) char own[CLI_METHOD_OPTIONS];
    memcpy(own, options, sizeof own);
    ((clv_control *)(void *)own)->threads = threads;
    return clv_memory(method, input, own);
}

typedef struct forecast {
    const cli_job *job;
    int64_t processes; /* that share the work */
    size_t points, affinity, affinity_peak, method, method_thread, resident;
} forecast;

size_t cli_process_bytes(const char *field) {
    char line[256];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) {
        return 0;
    }
    while (kilobytes == 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, field, strlen(field)) == 0 && line[strlen(field)] == ':') {
            kilobytes = strtoull(line + strlen(field) + 1, NULL, 10);
        }
    }
    (void)fclose(status);
    return kilobytes * 1024;
}

size_t cli_resident_peak(size_t more) {
    size_t later = cli_process_bytes("VmRSS") + more, before = cli_process_bytes("VmHWM");
    return later > before ? later : before;
}

size_t cli_matrix_bytes(const clv_matrix *matrix) {
    if (matrix->start) {
        size_t entries = (size_t)matrix->start[matrix->rows];
        return entries * (sizeof(double) + sizeof(int32_t)) + (size_t)(matrix->rows + 1) * sizeof(int64_t);
    }
    return (size_t)matrix->rows * (size_t)matrix->cols * (matrix->scalar == CLV_F32 ? sizeof(float) : sizeof(double));
}

/* Of a mapped file that is read in order a process looks at its own rows. */
static size_t points_bytes(const cli_job *job, int64_t processes) {
    size_t bytes = cli_matrix_bytes(clv_data_matrix(job->data));
    bool divided = clv_data_is_mapped(job->data) && (job->method->abilities & CLV_READS_IN_ORDER);
    return divided ? bytes / (size_t)processes : bytes;
}

static forecast foresee(const cli_job *job) {
    int64_t processes = cli_job_is_shared(job) ? cli_ranks(job->app) / job->grouping.groups : 1;
    forecast f = {.job = job,
                  .processes = processes,
                  .points = points_bytes(job, processes),
                  .affinity = job->info.bytes,
                  .affinity_peak = job->info.peak,
                  .method = cli_job_memory(job, cli_control_of(job)->threads),
                  .method_thread = cli_job_memory(job, 1)};
    /* A mapped similarity becomes resident as it is read. */
    size_t mapped = clv_data_is_mapped(job->data) ? f.points : 0, solving = f.affinity + f.method;
    f.resident = cli_resident_peak(mapped + (f.affinity_peak > solving ? f.affinity_peak : solving));
    return f;
}

void cli_forecast_line(FILE *stream, const char *name, size_t bytes, const char *note) {
    char readable[32];
    cli_print_bytes((double)bytes, readable, sizeof readable);
    fprintf(stream, "%-16s %14zu bytes  %10s  %s\n", name, bytes, readable, note);
}

static void print_table(FILE *stream, const void *what) {
    char note[128];
    const forecast *f = what;
    const cli_job *job = f->job;
    const clv_matrix *points = clv_data_matrix(job->data);
    snprintf(note, sizeof note, "%lld x %lld", (long long)points->rows, (long long)points->cols);
    cli_forecast_line(stream, "points", f->points, note);
    if (cli_has_affinity(job)) {
        snprintf(note, sizeof note, "%s, home %s", clv_affinity_kind_name(job->info.kind), job->info.home);
        cli_forecast_line(stream, "affinity", f->affinity, note);
        cli_forecast_line(stream, "  while built", f->affinity_peak, "");
    }
    cli_forecast_line(stream, job->method->name, f->method, "total");
    cli_forecast_line(stream, "  per thread", f->method_thread, "");
    cli_forecast_line(stream, "resident, peak", f->resident, "predicted for the whole program");
    if (f->processes > 1) {
        fprintf(stream, "Each of the %lld processes that share the work holds this.\n", (long long)f->processes);
    }
}

static void print_json(FILE *stream, const void *what) {
    const forecast *f = what;
    const cli_job *job = f->job;
    const clv_matrix *points = clv_data_matrix(job->data);
    bool affinity = cli_has_affinity(job);
    fprintf(stream, "{\"cleave\": \"%s\", \"method\": \"%s\", \"dry_run\": true, \"n\": %lld, \"columns\": %lld,\n",
            clv_version(), job->method->name, (long long)points->rows, (long long)points->cols);
    if (affinity) {
        fprintf(stream, " \"affinity\": {\"kind\": \"%s\", \"home\": \"%s\"},\n",
                clv_affinity_kind_name(job->info.kind), job->info.home);
    }
    if (f->processes > 1) {
        fprintf(stream, " \"processes\": %lld,\n", (long long)f->processes);
    }
    fprintf(stream, " \"bytes\": {\"points\": %zu, ", f->points);
    if (affinity) {
        fprintf(stream, "\"affinity\": %zu, \"affinity_peak\": %zu, ", f->affinity, f->affinity_peak);
    }
    fprintf(stream, "\"method\": %zu, \"method_per_thread\": %zu, \"resident_peak\": %zu}}\n", f->method,
            f->method_thread, f->resident);
}

clv_status cli_job_forecast(const cli_job *job) {
    forecast f = foresee(job);
    cli_outputs out = {.app = job->app};
    return cli_outputs_tell(&out, job->output.json, job->output.quiet, print_json, print_table, &f);
}
