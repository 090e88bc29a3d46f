/* libcleave_mpi.so: processes that mpirun (or srun) started, as a clv_communicator. Nothing here knows what is
 * exchanged, and nothing but MPI is called, from one thread: any MPI of version 3 will do. */
#include "base/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* MPI counts in ints: what is larger goes in pieces. */
enum { MOST = 1 << 30 };
/* The tag of messages that have nothing in them: to have come is all that they say. */
enum { NOTICE = 1 };

typedef struct group {
    MPI_Comm comm;
    int rank, ranks;
    int *counts, *places;
    bool first; /* of the process */
    bool begun; /* MPI was, for this one: it ends with it */
    bool told, heard;
    MPI_Request arriving;
} group;

/* Nobody waits for it to be heard. */
static int tell(void *self) {
    group *g = self;
    int failed = 0;
    for (int q = 0; q < g->ranks && !g->told; q++) {
        MPI_Request sent;
        if (q != g->rank) {
            int one = MPI_Isend(NULL, 0, MPI_BYTE, q, NOTICE, g->comm, &sent);
            failed = one ? one : failed;
            if (!one) {
                MPI_Request_free(&sent);
            }
        }
    }
    g->told = true;
    return failed;
}

static bool is_told(void *self) {
    group *g = self;
    int come = 0;
    if (!g->heard) {
        g->heard = !MPI_Iprobe(MPI_ANY_SOURCE, NOTICE, g->comm, &come, MPI_STATUS_IGNORE) && come;
    }
    return g->heard;
}

/* Every message that is sent must be received: so all are told in the end, by all. */
static void hear_all(group *g) {
    tell(g);
    for (int q = 0; q < g->ranks; q++) {
        if (q != g->rank) {
            MPI_Recv(NULL, 0, MPI_BYTE, q, NOTICE, g->comm, MPI_STATUS_IGNORE);
        }
    }
}

static int arrive(void *self, bool *all) {
    group *g = self;
    int come = 0, failed = g->arriving == MPI_REQUEST_NULL ? MPI_Ibarrier(g->comm, &g->arriving) : 0;
    failed = failed ? failed : MPI_Test(&g->arriving, &come, MPI_STATUS_IGNORE);
    *all = come != 0;
    return failed;
}

static void close_group(void *self) {
    group *g = self;
    if (!g->first) {
        hear_all(g);
        MPI_Comm_free(&g->comm);
    } else if (g->begun) {
        int ended = 0;
        MPI_Finalized(&ended);
        if (!ended) {
            MPI_Finalize();
        }
    }
    free(g->counts);
    free(g);
}

static int broadcast(void *self, void *data, int64_t bytes, int32_t root) {
    group *g = self;
    for (int64_t at = 0; at < bytes; at += MOST) {
        int piece = (int)(bytes - at < MOST ? bytes - at : MOST);
        int failed = MPI_Bcast((char *)data + at, piece, MPI_BYTE, root, g->comm);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int gather(void *self, void *all, const int64_t *counts, const int64_t *places) {
    group *g = self;
    int64_t end = 0;
    for (int q = 0; q < g->ranks; q++) {
        end = places[q] + counts[q] > end ? places[q] + counts[q] : end;
    }
    for (int q = 0; end > INT_MAX && q < g->ranks; q++) { /* one after the other, in pieces */
        int failed = broadcast(self, (char *)all + places[q], counts[q], q);
        if (failed || q == g->ranks - 1) {
            return failed;
        }
    }
    for (int q = 0; q < g->ranks; q++) {
        g->counts[q] = (int)counts[q];
        g->places[q] = (int)places[q];
    }
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, g->counts, g->places, MPI_BYTE, g->comm);
}

static void abort_all(void *self, int status) {
    group *g = self;
    MPI_Abort(g->comm, status);
}

static int take(MPI_Comm comm, bool first, clv_communicator *out);

static int split(void *self, int32_t color, clv_communicator *out) {
    group *g = self;
    MPI_Comm part;
    int failed = MPI_Comm_split(g->comm, color, g->rank, &part);
    return failed ? failed : take(part, false, out);
}

static int take(MPI_Comm comm, bool first, clv_communicator *out) {
    group *g = calloc(1, sizeof *g);
    if (!g) {
        return MPI_ERR_NO_MEM;
    }
    g->comm = comm;
    g->first = first;
    g->arriving = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &g->rank);
    MPI_Comm_size(comm, &g->ranks);
    g->counts = calloc(2 * (size_t)g->ranks, sizeof *g->counts);
    if (!g->counts) {
        free(g);
        return MPI_ERR_NO_MEM;
    }
    g->places = g->counts + g->ranks;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    *out = (clv_communicator){.self = g,
                              .rank = g->rank,
                              .ranks = g->ranks,
                              .gather = gather,
                              .broadcast = broadcast,
                              .split = split,
                              .tell = tell,
                              .is_told = is_told,
                              .arrive = arrive,
                              .close = close_group,
                              .end_all = abort_all};
    return 0;
}

static int open_mpi(clv_communicator *out) {
    int provided = MPI_THREAD_SINGLE, there = 0, failed = MPI_Initialized(&there);
    if (!failed) {
        failed = there ? MPI_Query_thread(&provided) : MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    }
    failed = failed ? failed : take(MPI_COMM_WORLD, true, out);
    if (!failed) {
        group *g = out->self;
        g->begun = !there;
        out->threads = provided >= MPI_THREAD_FUNNELED;
    }
    return failed;
}

__attribute__((visibility("default"))) const clv_plugin_head *clv_plugin_mpi(void);
const clv_plugin_head *clv_plugin_mpi(void) {
    static const clv_ranks_plugin table = {{CLV_MPI_INTERFACE, CLV_VERSION}, open_mpi};
    return &table.head;
}
