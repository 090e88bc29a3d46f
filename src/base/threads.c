/* Threads and clock. The library runs its own OpenMP loops and keeps BLAS to one thread inside them. */
#include "base/base.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <time.h>

int clv_threads(int64_t asked) {
    int cores = omp_get_num_procs();
    if (asked <= 0) {
        return cores;
    }
    return asked < 1024 ? (int)asked : 1024;
}

/* OpenBLAS has one thread count for the whole process: the first to come lowers it, the last to go restores it. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static int blas_users;
static int blas_threads_before;

void clv_blas_serial_begin(void) {
    pthread_mutex_lock(&blas_lock);
    if (blas_users++ == 0) {
        blas_threads_before = openblas_get_num_threads();
        if (blas_threads_before != 1) {
            openblas_set_num_threads(1);
        }
    }
    pthread_mutex_unlock(&blas_lock);
}

void clv_blas_serial_end(void) {
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0 && blas_threads_before != 1) {
        openblas_set_num_threads(blas_threads_before);
    }
    pthread_mutex_unlock(&blas_lock);
}

double clv_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
