/* The checkpoint of a solve, as a file: eight letters, the number of the format, items (archive.c), and a hash of all
 * of that.
 *
 *   version, method, about            texts: what must be the same
 *   data                              a hash of the input
 *   max_iter, past_limit, spent       limits, and seconds used
 *   runs                              how many; of each: restarts that are over, their best iterate, those under way */
#include "engine/checkpoint.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = {'C', 'L', 'V', 'C', 'K', 'P', 'T', '\n'};
enum { FORMAT = 1, TAIL = sizeof(uint64_t), FRONT = sizeof MAGIC + 4 };

/* --- records --- */

static void free_record(clv_session *s, clv_record *record) {
    if (!record) {
        return;
    }
    for (int64_t i = 0; i < record->slot_count; i++) {
        clv_packed_free(s->ctx, &record->slots[i].state);
    }
    clv_free(s->ctx, record->slots);
    clv_packed_free(s->ctx, &record->about);
    clv_packed_free(s->ctx, &record->attempts);
    clv_packed_free(s->ctx, &record->champion);
    clv_free(s->ctx, record);
}

clv_slot *clv_record_find(clv_record *record, int64_t restart) {
    for (int64_t i = 0; i < record->slot_count; i++) {
        if (record->slots[i].restart == restart) {
            return &record->slots[i];
        }
    }
    return NULL;
}

clv_status clv_record_slot(clv_session *s, clv_record *record, int64_t restart, clv_slot **out) {
    *out = clv_record_find(record, restart);
    if (*out) {
        return CLV_OK;
    }
    clv_slot *slots = clv_resize(s->ctx, record->slots, record->slot_count + 1, sizeof *slots);
    if (!slots) {
        return CLV_ENOMEM;
    }
    record->slots = slots;
    *out = &slots[record->slot_count++];
    **out = (clv_slot){.restart = restart};
    return CLV_OK;
}

void clv_record_drop(clv_session *s, clv_record *record, int64_t restart) {
    clv_slot *slot = clv_record_find(record, restart);
    if (slot) {
        clv_packed_free(s->ctx, &slot->state);
        *slot = record->slots[--record->slot_count];
    }
}

static clv_status make_record(clv_session *s, int64_t number) {
    if (number >= s->record_count) {
        int64_t count = 2 * number + 8;
        clv_record **records = clv_resize(s->ctx, s->records, count, sizeof *records);
        if (!records) {
            return CLV_ENOMEM;
        }
        for (int64_t i = s->record_count; i < count; i++) {
            records[i] = NULL;
        }
        s->records = records;
        s->record_count = count;
    }
    if (!s->records[number]) {
        s->records[number] = CLV_NEW0(s->ctx, clv_record, 1);
    }
    return s->records[number] ? CLV_OK : CLV_ENOMEM;
}

/* What max_iter ended and other work follows cannot go on any more. */
static void close_limited(clv_session *s) {
    for (int64_t i = 0; i < s->record_count; i++) {
        clv_record *record = s->records[i];
        if (record && record->limited) {
            record->limited = false;
            s->past_limit = true;
            while (record->slot_count > 0) {
                clv_record_drop(s, record, record->slots[0].restart);
            }
        }
    }
}

/* Runs that the checkpoint has already are begun again in their order: only a run beyond those is other work. */
clv_status clv_session_open(clv_session *s, int64_t number, clv_record **out) {
    pthread_mutex_lock(&s->lock);
    number = number < 0 ? s->next++ : number;
    bool known = number < s->record_count && s->records[number];
    clv_status status = known ? CLV_OK : make_record(s, number);
    if (status == CLV_OK && !known) {
        close_limited(s);
    }
    *out = status == CLV_OK ? s->records[number] : NULL;
    pthread_mutex_unlock(&s->lock);
    return status;
}

int64_t clv_session_reserve(clv_context *ctx, int64_t count) {
    clv_session *s = clv_session_of(ctx);
    if (!s) {
        return 0;
    }
    pthread_mutex_lock(&s->lock);
    int64_t first = s->next;
    s->next += count;
    pthread_mutex_unlock(&s->lock);
    return first;
}

/* --- there and back --- */

static void pass_inner(clv_archive *a, clv_packed *bytes) {
    const unsigned char *data = bytes->data;
    size_t size = bytes->size;
    clv_pass_bytes(a, &data, &size);
    if (a->loading && a->status == CLV_OK) {
        a->status = clv_packed_reserve(a->ctx, bytes, size);
    }
    if (a->loading && a->status == CLV_OK && size > 0) {
        memcpy(bytes->data, data, size);
        bytes->size = size;
    }
}

static int by_restart(const void *left, const void *right) {
    int64_t a = ((const clv_slot *)left)->restart, b = ((const clv_slot *)right)->restart;
    return (a > b) - (a < b);
}

/* No restart is under way twice. There may be as many as the file has room for. */
static void check_slots(clv_archive *a, clv_record *record) {
    qsort(record->slots, (size_t)record->slot_count, sizeof *record->slots, by_restart);
    for (int64_t i = 1; i < record->slot_count; i++) {
        if (record->slots[i].restart == record->slots[i - 1].restart) {
            clv_archive_refuse(a);
        }
    }
}

static void pass_slots(clv_archive *a, clv_record *record) {
    int64_t count = record->slot_count;
    clv_pass_count(a, &count, INT64_MAX, sizeof(int64_t));
    if (a->loading && a->status == CLV_OK && count > 0) {
        record->slots = CLV_NEW0(a->ctx, clv_slot, count);
        a->status = record->slots ? CLV_OK : CLV_ENOMEM;
    }
    for (int64_t i = 0; i < count && a->status == CLV_OK; i++) {
        clv_pass_integer(a, &record->slots[i].restart, 0, INT64_MAX);
        pass_inner(a, &record->slots[i].state);
        record->slot_count = a->loading ? i + 1 : count;
    }
    if (a->loading && a->status == CLV_OK && count > 0) {
        check_slots(a, record);
    }
}

static void pass_record(clv_archive *a, clv_record *record) {
    pass_inner(a, &record->about);
    clv_pass_integer(a, &record->filed, 0, INT64_MAX);
    pass_inner(a, &record->attempts);
    clv_pass_flag(a, &record->has_champion);
    clv_pass_real(a, &record->value);
    clv_pass_integer(a, &record->restart, 0, INT64_MAX);
    pass_inner(a, &record->champion);
    clv_pass_flag(a, &record->limited);
    pass_slots(a, record);
}

static void pass_records(clv_archive *a, clv_session *s) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->record_count && !a->loading; i++) {
        count += s->records[i] != NULL;
    }
    clv_pass_integer(a, &count, 0, INT64_MAX);
    int64_t number = 0, last = -1;
    for (int64_t i = 0; i < count && a->status == CLV_OK; i++) {
        while (!a->loading && !s->records[number]) {
            number++;
        }
        clv_pass_integer(a, &number, last + 1, last + (INT64_C(1) << 32));
        /* Numbers that were left out are those of runs side by side: no more than some hundreds, in all. */
        if (a->loading && number - i > 1 << 20) {
            clv_archive_refuse(a);
        }
        if (a->loading && a->status == CLV_OK) {
            a->status = make_record(s, number);
        }
        if (a->status == CLV_OK) {
            pass_record(a, s->records[number]);
        }
        last = number++;
    }
}

/* What a checkpoint says of the work that it is of. */
typedef struct front {
    char *version, *method, *about;
    int64_t data, max_iter;
    bool past_limit;
    double spent;
} front;

static void free_front(clv_context *ctx, front *f) {
    CLV_FREE_ALL(ctx, f->version, f->method, f->about);
}

static void pass_front(clv_archive *a, front *f) {
    clv_pass_text(a, &f->version);
    clv_pass_text(a, &f->method);
    clv_pass_text(a, &f->about);
    clv_pass_integer(a, &f->data, INT64_MIN, INT64_MAX);
    clv_pass_integer(a, &f->max_iter, 0, INT64_MAX);
    clv_pass_flag(a, &f->past_limit);
    clv_pass_real(a, &f->spent);
    if (a->loading && !(f->spent >= 0 && f->spent < 1e12)) {
        clv_archive_refuse(a);
    }
}

static void put_number(unsigned char *to, uint64_t number, int bytes) {
    for (int b = 0; b < bytes; b++) {
        to[b] = (unsigned char)(number >> (8 * b));
    }
}

static uint64_t get_number(const unsigned char *from, int bytes) {
    uint64_t number = 0;
    for (int b = 0; b < bytes; b++) {
        number |= (uint64_t)from[b] << (8 * b);
    }
    return number;
}

static clv_status assemble(clv_session *s) {
    clv_packed *file = &s->file;
    front f = {.version = (char *)(uintptr_t)clv_version(),
               .method = s->method,
               .about = s->about,
               .max_iter = s->max_iter,
               .past_limit = s->past_limit,
               .spent = s->asked->spent + clv_own_seconds(s->ctx) - s->began};
    memcpy(&f.data, &s->data, sizeof f.data);
    file->size = 0;
    CLV_TRY(clv_packed_reserve(s->ctx, file, FRONT));
    memcpy(file->data, MAGIC, sizeof MAGIC);
    put_number(file->data + sizeof MAGIC, FORMAT, 4);
    file->size = FRONT;
    clv_archive a = clv_archive_to(s->ctx, file);
    pass_front(&a, &f);
    pass_records(&a, s);
    CLV_TRY(a.status);
    CLV_TRY(clv_packed_reserve(s->ctx, file, TAIL));
    put_number(file->data + file->size, clv_hash(FORMAT, file->data, file->size), TAIL);
    file->size += TAIL;
    return CLV_OK;
}

clv_status clv_session_write(clv_session *s) {
    const clv_ranks *ranks = clv_ranks_of(s->ctx);
    if (s->asked->write && !(ranks && ranks->with.rank > 0)) { /* the first of several has what all of them know */
        CLV_TRY(assemble(s));
        s->unkept = s->asked->write(s->file.data, s->file.size, s->asked->user) != 0 || s->unkept;
    }
    atomic_store(&s->due, clv_common_seconds(s->ctx) + s->asked->every);
    return CLV_OK;
}

/* --- a checkpoint that was read --- */

static clv_status check_bytes(clv_context *ctx, const unsigned char *bytes, size_t size) {
    if (size < FRONT + TAIL || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
        return clv_fail(ctx, CLV_EDATA, "this is no checkpoint: its %zu bytes do not begin like one", size);
    }
    uint64_t format = get_number(bytes + sizeof MAGIC, 4);
    if (format != FORMAT) {
        return clv_fail(ctx, CLV_EDATA, "the checkpoint has format %llu, and this version reads format %d",
                        (unsigned long long)format, FORMAT);
    }
    if (get_number(bytes + size - TAIL, TAIL) != clv_hash(FORMAT, bytes, size - TAIL)) {
        return clv_fail(ctx, CLV_EDATA, "the checkpoint is damaged or not whole: its %zu bytes do not add up", size);
    }
    return CLV_OK;
}

static clv_status check_version(clv_context *ctx, const front *f) {
    for (char *c = f->version; *c; c++) { /* a file may say anything, and is quoted */
        *c = *c > ' ' && *c < 127 ? *c : '?';
    }
    return strcmp(f->version, clv_version()) == 0
               ? CLV_OK
               : clv_fail(
                     ctx, CLV_EDATA,
                     "the checkpoint was made by cleave %.40s, and this is %s: go on with the version that it is of",
                     f->version, clv_version());
}

static void forget_resume(clv_context *ctx);

clv_status clv_context_resume(clv_context *ctx, const void *bytes, size_t size) {
    clv_checkpointing *asked = clv_checkpointing_of(ctx);
    front f = {0};
    if (!bytes) {
        forget_resume(ctx);
        asked->spent = 0;
        return CLV_OK;
    }
    CLV_TRY(check_bytes(ctx, bytes, size));
    clv_archive a = clv_archive_from(ctx, (const unsigned char *)bytes + FRONT, size - FRONT - TAIL);
    pass_front(&a, &f);
    clv_status status = a.status == CLV_OK ? check_version(ctx, &f) : a.status;
    unsigned char *copy = status == CLV_OK ? clv_alloc(ctx, (int64_t)size, 1) : NULL;
    free_front(ctx, &f);
    CLV_TRY(status);
    if (!copy) {
        return CLV_ENOMEM;
    }
    memcpy(copy, bytes, size);
    clv_free(ctx, asked->resume);
    clv_set_aside(ctx, (int64_t)size - (int64_t)asked->resume_size);
    asked->resume = copy;
    asked->resume_size = size;
    asked->spent = f.spent;
    return CLV_OK;
}

double clv_context_spent(clv_context *ctx) {
    return clv_checkpointing_of(ctx)->spent;
}

/* --- whether it is of the same work --- */

/* The first line in which two lists differ; NULL: none. */
static const char *first_other(const char *list, const char *other) {
    while (*list && *other) {
        size_t a = strcspn(list, "\n"), b = strcspn(other, "\n");
        if (a != b || memcmp(list, other, a) != 0) {
            return list;
        }
        list += a + (list[a] == '\n');
        other += b + (other[b] == '\n');
    }
    return *list || *other ? list : NULL;
}

static clv_status check_method(clv_context *ctx, const front *f, const char *method) {
    return strcmp(f->method, method) == 0
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "the checkpoint is of a run of %.40s, and this is one of %s", f->method,
                          method);
}

clv_status clv_context_check_resume(clv_context *ctx, const char *method) {
    const clv_checkpointing *asked = clv_checkpointing_of(ctx);
    front f = {0};
    if (!asked->resume) {
        return CLV_OK;
    }
    clv_archive a = clv_archive_from(ctx, asked->resume + FRONT, asked->resume_size - FRONT - TAIL);
    pass_front(&a, &f);
    clv_status status = a.status == CLV_OK ? check_method(ctx, &f, method) : a.status;
    free_front(ctx, &f);
    return status;
}

static clv_status check_work(clv_session *s, const front *f) {
    CLV_TRY(check_method(s->ctx, f, s->method));
    const char *then = first_other(f->about, s->about), *now = first_other(s->about, f->about);
    if (then) {
        return clv_fail(s->ctx, CLV_EDATA,
                        "the checkpoint was made with %.*s, and this run has %.*s: go on with the options that it was "
                        "made with; only limits, threads and outputs may be others",
                        (int)strcspn(then, "\n"), then, (int)strcspn(now, "\n"), now);
    }
    if (f->data != (int64_t)s->data) {
        return clv_fail(s->ctx, CLV_EDATA, "the checkpoint was made on other data than these");
    }
    if (s->max_iter < f->max_iter || (f->past_limit && s->max_iter != f->max_iter)) {
        return clv_fail(s->ctx, CLV_EDATA,
                        "the checkpoint was made with max-iter = %lld, %s: %lld is not possible any more",
                        (long long)f->max_iter,
                        f->past_limit ? "which has ended work that the rest goes on from"
                                      : "which may be larger now but not smaller",
                        (long long)s->max_iter);
    }
    return CLV_OK;
}

static clv_status take_over(clv_session *s) {
    front f = {0};
    clv_archive a = clv_archive_from(s->ctx, s->asked->resume + FRONT, s->asked->resume_size - FRONT - TAIL);
    pass_front(&a, &f);
    clv_status status = a.status == CLV_OK ? check_work(s, &f) : a.status;
    s->max_iter_then = f.max_iter;
    s->past_limit = f.past_limit;
    if (status == CLV_OK) {
        pass_records(&a, s);
        status = clv_archive_end(&a);
    }
    free_front(s->ctx, &f);
    return status;
}

/* --- a session --- */

clv_session *clv_session_of(clv_context *ctx) {
    clv_checkpointing *asked = clv_checkpointing_of(ctx);
    return asked->paused > 0 ? NULL : asked->session;
}

static void free_session(clv_session *s) {
    for (int64_t i = 0; i < s->record_count; i++) {
        free_record(s, s->records[i]);
    }
    clv_packed_free(s->ctx, &s->file);
    CLV_FREE_ALL(s->ctx, s->records, s->method, s->about);
    pthread_mutex_destroy(&s->lock);
    s->asked->session = NULL;
    clv_free(s->ctx, s);
}

/* What was to be resumed has been, or cannot be. */
static void forget_resume(clv_context *ctx) {
    clv_checkpointing *asked = clv_checkpointing_of(ctx);
    clv_set_aside(ctx, -(int64_t)asked->resume_size);
    clv_free(ctx, asked->resume);
    asked->resume = NULL;
    asked->resume_size = 0;
}

clv_status clv_session_begin(clv_context *ctx, const char *method, const char *about, uint64_t data, int64_t max_iter,
                             double since, clv_session **out) {
    clv_checkpointing *asked = clv_checkpointing_of(ctx);
    clv_session *s = *out = CLV_NEW0(ctx, clv_session, 1);
    if (!s) {
        forget_resume(ctx);
        return CLV_ENOMEM;
    }
    *s = (clv_session){.ctx = ctx, .asked = asked, .data = data, .max_iter = max_iter, .max_iter_then = max_iter};
    pthread_mutex_init(&s->lock, NULL);
    s->began = since > 0 ? since : clv_own_seconds(ctx);
    s->due = clv_common_seconds(ctx) + asked->every;
    s->method = clv_copy_text(ctx, method);
    s->about = clv_copy_text(ctx, about);
    clv_status status = s->method && s->about ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK && asked->resume) {
        status = take_over(s);
    }
    forget_resume(ctx);
    if (status < 0) {
        free_session(s);
        *out = NULL;
        return status;
    }
    asked->session = s;
    return CLV_OK;
}

bool clv_session_end(clv_session *s) {
    if (!s) {
        return true;
    }
    clv_checkpointing *asked = s->asked;
    bool some = false;
    for (int64_t i = 0; i < s->record_count; i++) {
        some = some || s->records[i];
    }
    bool kept = (!some || s->broken || clv_session_write(s) == CLV_OK) && !s->unkept;
    free_session(s);
    asked->spent = 0;
    return kept;
}

void clv_session_pause(clv_context *ctx) {
    clv_checkpointing_of(ctx)->paused++;
}

void clv_session_go_on(clv_context *ctx) {
    clv_checkpointing_of(ctx)->paused--;
}
