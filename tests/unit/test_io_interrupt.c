/* Reading that waits: for the writer of a FIFO, for the bytes of a pipe. The interrupt hook ends it. */
#include "io_support.h"

#include "io/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

static volatile sig_atomic_t signals;

static void count_signal(int number) {
    (void)number;
    signals = signals + 1;
}

static int always(void *user) {
    (void)user;
    return 1;
}

static int never(void *user) {
    (void)user;
    return 0;
}

/* Whether there have been so many signals. */
static int after_signals(void *user) {
    return signals >= *(int *)user;
}

/* Whether it has been asked so often before. */
static int after_calls(void *user) {
    int *calls = user;
    return (*calls)-- <= 0;
}

/* A signal every 20 ms that interrupts system calls, or restarts them; 0 ms ends it. */
static void tick(int milliseconds, int flags) {
    struct sigaction action = {.sa_handler = milliseconds ? count_signal : SIG_DFL, .sa_flags = flags};
    struct itimerval every = {.it_interval = {.tv_usec = milliseconds * 1000},
                              .it_value = {.tv_usec = milliseconds * 1000}};
    signals = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

/* clv_read of "-" from a pipe that holds `text`, and stays open. */
static clv_status read_open_pipe(const char *text, clv_data **out) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    clv_status status = clv_read(ctx, "-", NULL, out);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[1]);
    return status;
}

static void test_signal_ends_reading_of_a_pipe(void **state) {
    (void)state;
    int wanted = 3;
    clv_data *data;
    clv_context_set_interrupt(ctx, after_signals, &wanted);
    tick(20, 0);
    clv_status status = read_open_pipe("1,2\n3,4\n", &data);
    int seen = signals;
    tick(0, 0);
    assert_refused(status, CLV_EINTERRUPTED, "interrupted", NULL);
    assert_null(data);
    assert_true(seen >= wanted); /* other signals do not end it */
}

/* The hook may have another reason than a signal. */
static void test_hook_ends_reading_of_a_pipe(void **state) {
    (void)state;
    int calls = 3;
    clv_data *data;
    clv_context_set_interrupt(ctx, after_calls, &calls);
    assert_refused(read_open_pipe("", &data), CLV_EINTERRUPTED, "interrupted", NULL);
}

static void test_signal_ends_opening_of_a_fifo(void **state) {
    (void)state;
    int wanted = 3;
    clv_data *data;
    int64_t n;
    int32_t *labels;
    const char *path = in_folder("a.csv");
    assert_int_equal(mkfifo(path, 0600), 0);
    clv_context_set_interrupt(ctx, after_signals, &wanted);
    tick(20, 0);
    clv_status status = clv_read(ctx, path, NULL, &data);
    assert_refused(status, CLV_EINTERRUPTED, "interrupted", NULL);
    status = clv_read_labels(ctx, path, &n, &labels);
    tick(0, 0);
    assert_refused(status, CLV_EINTERRUPTED, "interrupted", NULL);
    unlink(path);
}

static void *write_slowly(void *user) {
    const char *path = user;
    static const char *const parts[] = {"1,2\n", "3,", "4\n"};
    int file = open(path, O_WRONLY);
    for (size_t i = 0; file >= 0 && i < 3; i++) {
        struct timespec pause = {.tv_nsec = 50000000};
        while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {
        }
        if (write(file, parts[i], strlen(parts[i])) < 0) {
            break;
        }
    }
    close(file);
    return NULL;
}

/* Signals that nobody minds do no harm, at whatever call they come. */
static void test_other_signals_do_no_harm(void **state) {
    (void)state;
    char path[256];
    pthread_t writer;
    clv_data *data;
    snprintf(path, sizeof path, "%s", in_folder("a.csv"));
    assert_int_equal(mkfifo(path, 0600), 0);
    clv_context_set_interrupt(ctx, never, NULL);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, path), 0);
    tick(10, 0);
    clv_status status = clv_read(ctx, path, NULL, &data);
    tick(0, 0);
    pthread_join(writer, NULL);
    assert_ok(status);
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    unlink(path);
}

static void test_files_are_not_read_once_interrupted(void **state) {
    (void)state;
    clv_data *data;
    const char *npy = in_folder("a.npy");
    const char *csv = in_folder("a.csv");
    double values[4] = {1, 2, 3, 4};
    clv_matrix matrix = {.rows = 2, .cols = 2, .values = values};
    assert_ok(clv_write_matrix(ctx, npy, &matrix));
    assert_ok(clv_write_matrix(ctx, csv, &matrix));
    clv_context_set_interrupt(ctx, always, NULL);
    assert_refused(clv_read(ctx, npy, NULL, &data), CLV_EINTERRUPTED, "interrupted", NULL);
    assert_refused(clv_read(ctx, csv, NULL, &data), CLV_EINTERRUPTED, "interrupted", NULL);
    unlink(npy);
    unlink(csv);
}

/* The hook, asked so often that no end has come. */
static int count_calls(void *user) {
    ++*(int *)user;
    return 0;
}

/* Rows of a text, a whole number in no order, a cell that may be missing, and one of three words. */
static char *print_table(int64_t rows) {
    char *text = malloc((size_t)rows * 40 + 20), *at = text + sprintf(text, "name,number,x,kind\n");
    for (int64_t i = 0; i < rows; i++) {
        at += sprintf(at, "u%lld,%lld,%s,w%lld\n", (long long)i, (long long)(i * 7919 % rows), i % 9 ? "0.5" : "NA",
                      (long long)(i % 3));
    }
    return text;
}

/* What comes after all rows of a table were read (ids, classes, missing cells, the matrix) is interrupted as well, at
 * each of the times when it asks. */
static void test_what_follows_the_rows_is_interrupted(void **state) {
    (void)state;
    const clv_read_options options = {.missing = CLV_MISSING_MEDIAN, .categories = CLV_CATEGORIES_ONEHOT};
    clv_table table = {.ctx = ctx};
    clv_data *data;
    int reading = 0, all = 0;
    char *text = print_table(30000);
    clv_bytes bytes = text_bytes(text, "a.csv");
    clv_context_set_interrupt(ctx, count_calls, &reading);
    assert_ok(clv_table_read(&table, bytes, ',', &(clv_layout_request){0}));
    clv_table_free(&table);
    clv_context_set_interrupt(ctx, count_calls, &all);
    assert_ok(clv_csv_parse(ctx, bytes, &options, ',', &data));
    clv_data_free(data);
    assert_true(all > reading + 30);
    for (int calls = reading; calls < all; calls++) {
        int left = calls;
        clv_context_set_interrupt(ctx, after_calls, &left);
        assert_refused(clv_csv_parse(ctx, bytes, &options, ',', &data), CLV_EINTERRUPTED, "reading a.csv", NULL);
    }
    free(text);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_signal_ends_reading_of_a_pipe),       CASE(test_hook_ends_reading_of_a_pipe),
        CASE(test_signal_ends_opening_of_a_fifo),       CASE(test_other_signals_do_no_harm),
        CASE(test_files_are_not_read_once_interrupted), CASE(test_what_follows_the_rows_is_interrupted),
    };
    return cmocka_run_group_tests_name("io_interrupt", tests, NULL, NULL);
}
