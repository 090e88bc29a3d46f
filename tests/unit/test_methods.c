/* Every method of clv_methods keeps to its description: names and sentences, options, starts, what it takes and gives.
 * A new method is checked by being in the list. */
#include "methods/methods.h"

#include "failing.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { N = 12, P = 3 };

/* Two groups, as points, as samples of two classes, and as an affinity. */
typedef struct world {
    clv_context *ctx, *other;
    double values[N * P], classes[N];
    clv_matrix points, targets;
    clv_affinity *affinity, *foreign;
} world;

static clv_affinity *build(clv_context *ctx, const clv_matrix *points) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    assert_int_equal(clv_affinity_build(ctx, points, &how, &a), CLV_OK);
    return a;
}

static int set_up(void **state) {
    static world w;
    clv_rng rng = clv_rng_stream(1, 0);
    w.ctx = new_context();
    w.other = new_context();
    for (int i = 0; i < N; i++) {
        w.classes[i] = i % 2;
        for (int f = 0; f < P; f++) {
            w.values[i * P + f] = 4 * w.classes[i] + clv_rng_normal(&rng);
        }
    }
    w.points = (clv_matrix){.rows = N, .cols = P, .values = w.values};
    w.targets = (clv_matrix){.rows = N, .cols = 1, .values = w.classes};
    w.affinity = build(w.ctx, &w.points);
    w.foreign = build(w.other, &w.points);
    *state = &w;
    return 0;
}

static int tear_down(void **state) {
    world *w = *state;
    clv_affinity_free(w->affinity);
    clv_affinity_free(w->foreign);
    end_context(w->ctx);
    end_context(w->other);
    return 0;
}

/* What the method takes. */
static clv_input input_for(const world *w, const clv_method *method) {
    clv_input input = {0};
    input.affinity = method->takes == CLV_TAKES_AFFINITY ? w->affinity : NULL;
    input.points = method->takes != CLV_TAKES_AFFINITY ? &w->points : NULL;
    input.targets = method->takes == CLV_TAKES_SAMPLES ? &w->targets : NULL;
    return input;
}

/* Defaults, with k = 2. */
static clv_control *options_for(const clv_method *method, clv_options_room *room) {
    clv_context *ctx = new_context();
    clv_method_defaults(method, room->bytes, method->options->size);
    assert_int_equal(clv_options_set(ctx, method->options, room->bytes, "k", "2"), CLV_OK);
    end_context(ctx);
    return (clv_control *)(void *)room->bytes;
}

static clv_result *solve(const world *w, const clv_method *method, const void *options) {
    clv_result *result = NULL;
    clv_input input = input_for(w, method);
    if (clv_solve(w->ctx, method, &input, options, &result) < 0) {
        fail_msg("%s: %s", method->name, clv_message(w->ctx));
    }
    return result;
}

/* --- words --- */

/* Lower-case words joined by `joints`. */
static bool is_name(const char *name, const char *joints) {
    bool good = name && islower((unsigned char)name[0]);
    for (const char *at = name; good && *at; at++) {
        good = islower((unsigned char)*at) || (at > name && (isdigit((unsigned char)*at) || strchr(joints, *at)));
    }
    return good;
}

/* One line that begins and ends as `sentence` says: with a capital letter and a period. */
static bool is_line(const char *text, bool sentence) {
    size_t size = text ? strlen(text) : 0;
    bool line = size > 0 && !strchr(text, '\n') && text[0] != ' ' && text[size - 1] != ' ';
    return line && (!sentence || (isupper((unsigned char)text[0]) && text[size - 1] == '.'));
}

/* Lines that each end, none wider than a terminal of `width` columns. */
static bool is_paragraph(const char *text, size_t width, const char *each_begins) {
    if (!text || !*text || text[strlen(text) - 1] != '\n') {
        return false;
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        if (strcspn(line, "\n") > width || strncmp(line, each_begins, strlen(each_begins)) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_listed(const char *list, const char *name) {
    for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (strcspn(at, "|") == strlen(name) && strncmp(at, name, strlen(name)) == 0) {
            return true;
        }
    }
    return false;
}

static void check_words(const clv_method *m) {
    char call[64];
    snprintf(call, sizeof call, "  cleave %s ", m->name);
    assert_true(is_name(m->name, ""));
    assert_true(is_line(m->summary, false));
    assert_true(is_paragraph(m->about, 110, ""));
    assert_true(is_paragraph(m->examples, 110, "  cleave "));
    assert_non_null(strstr(m->examples, call));
    assert_true(is_name(m->objective, "-") && is_name(m->certificate, "-"));
    assert_true(is_line(m->holds, true) && is_line(m->open, true) && strcmp(m->holds, m->open) != 0);
    assert_true(!m->bound || is_name(m->bound, "-"));
}

static void descriptions_are_whole(void **state) {
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    (void)state;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        check_words(m);
        assert_ptr_equal(clv_method_find(m->name), m); /* the names differ */
        assert_true(m->memory && m->solve && m->evaluate);
        assert_int_equal(m->predict != NULL, m->predicts != NULL);
        assert_true(m->takes == CLV_TAKES_AFFINITY || !m->suit);
        clv_certificate certificate = {m->certificate, 0.5, 1, 1};
        assert_string_equal(clv_certificate_sentence(m, &certificate), m->holds);
        certificate.holds = 0;
        assert_string_equal(clv_certificate_sentence(m, &certificate), m->open);
        certificate.value = NAN; /* whatever `holds` says */
        certificate.holds = 1;
        assert_non_null(strstr(clv_certificate_sentence(m, &certificate), "ended before"));
    }
    assert_null(clv_method_find("nothing"));
    assert_null(clv_method_find(""));
}

/* --- options --- */

static size_t size_of(const clv_option *option) {
    bool small = option->kind == CLV_OPTION_FLAG || option->kind == CLV_OPTION_CHOICE;
    return small ? sizeof(int) : option->kind == CLV_OPTION_TEXT ? sizeof(char *) : sizeof(int64_t);
}

/* Inside the struct and behind the control, no two in one place or of one name. */
static void check_option(const clv_option_table *table, size_t i) {
    const clv_option *option = &table->options[i];
    size_t end = option->offset + size_of(option);
    assert_true(is_name(option->name, "-") && is_line(option->help, false));
    assert_true(option->offset >= sizeof(clv_control) && end <= table->size);
    assert_int_equal(option->offset % size_of(option), 0);
    assert_null(clv_options_find(clv_control_table(), option->name));
    assert_ptr_equal(clv_options_find(table, option->name), option);
    for (size_t j = 0; j < i; j++) {
        const clv_option *before = &table->options[j];
        assert_true(end <= before->offset || before->offset + size_of(before) <= option->offset);
        assert_true(!option->letter || option->letter != before->letter);
    }
}

static void options_lie_in_their_structs(void **state) {
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const clv_option_table *table = methods[i]->options;
        assert_string_equal(table->title, methods[i]->name);
        assert_true(table->size > sizeof(clv_control) && table->size <= sizeof(clv_options_room));
        size_t end = sizeof(clv_control);
        for (size_t o = 0; o < table->count; o++) {
            const clv_option *option = &table->options[o];
            check_option(table, o);
            end = option->offset + size_of(option) > end ? option->offset + size_of(option) : end;
        }
        assert_int_equal((end + 7) / 8 * 8, table->size); /* and the struct is nothing but its options */
        const clv_option *k = clv_options_find(table, "k");
        assert_true(k && k->kind == CLV_OPTION_INT && k->letter == 'k');
    }
}

/* Defaults are options that go together, but that k may have to be said. */
static void defaults_are_allowed(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_method_defaults(m, room.bytes, m->options->size);
        clv_status status = clv_method_check(w->ctx, m, room.bytes);
        assert_true(status == CLV_OK || status == CLV_EUSAGE);
        if (status < 0) { /* "k = '0' ...", or "... needs k" */
            assert_true(strncmp(clv_message(w->ctx), "k = ", 4) == 0 || strstr(clv_message(w->ctx), "needs k"));
        }
        assert_int_equal(clv_method_check(w->ctx, m, options_for(m, &room)), CLV_OK);
    }
}

/* A program compiled when there was nothing but k gets the defaults of the rest. */
static void older_programs_get_the_defaults(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        const clv_option *k = clv_options_find(m->options, "k");
        clv_options_room room, older;
        clv_control *short_one = (clv_control *)(void *)older.bytes;
        assert_int_equal(k->offset, sizeof(clv_control)); /* first of all */
        memset(&older, 0x55, sizeof older);
        clv_method_defaults(m, older.bytes, sizeof(clv_control) + sizeof(int64_t));
        assert_int_equal(clv_options_set(w->ctx, m->options, older.bytes, "k", "2"), CLV_OK);
        assert_true(isnan(short_one->tol) && short_one->restarts == 1); /* the control has its defaults, too */
        clv_result *full = solve(w, m, options_for(m, &room)), *same = solve(w, m, older.bytes);
        assert_true(full->objective.value == same->objective.value);
        assert_true(full->certificate.value == same->certificate.value && full->iterations == same->iterations);
        clv_input input = input_for(w, m);
        assert_int_equal(clv_memory(m, &input, room.bytes), clv_memory(m, &input, older.bytes));
        assert_true(clv_memory(m, &input, room.bytes) > 0);
        clv_result_free(full);
        clv_result_free(same);
        short_one->size = sizeof(clv_control) - 1;
        assert_int_equal(clv_method_check(w->ctx, m, older.bytes), CLV_EUSAGE);
        assert_int_equal(clv_solve(w->ctx, m, &input, older.bytes, &same), CLV_EUSAGE);
        assert_null(same);
        short_one->size = 0; /* never set */
        assert_int_equal(clv_method_check(w->ctx, m, older.bytes), CLV_EUSAGE);
    }
}

/* --- starts --- */

static void starts_are_listed(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        const clv_option *start = clv_options_find(m->options, "start");
        assert_int_equal(start != NULL, m->starts != NULL);
        assert_int_equal((m->abilities & CLV_STARTS_GIVEN) != 0, m->start_holds != NULL);
        if (!start) {
            continue;
        }
        clv_options_room room;
        clv_result *result;
        clv_input input = input_for(w, m);
        assert_int_equal(start->kind, CLV_OPTION_TEXT);
        assert_true(is_listed(m->starts, start->choices));
        for (const char *at = m->starts; at && *at; at += strcspn(at, "|"), at += *at == '|') {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
            options_for(m, &room);
            assert_int_equal(clv_options_set(w->ctx, m->options, room.bytes, "start", name), CLV_OK);
            clv_result_free(solve(w, m, room.bytes)); /* and they all work */
        }
        const char *const wrong[] = {"nowhere", "", "|", m->starts, NULL};
        for (size_t s = 0; s < CLV_COUNT(wrong); s++) {
            if (wrong[s] && is_listed(m->starts, wrong[s])) {
                continue; /* a single start is the list itself */
            }
            options_for(m, &room);
            *(const char **)(void *)(room.bytes + start->offset) = wrong[s];
            assert_int_equal(clv_solve(w->ctx, m, &input, room.bytes, &result), CLV_EUSAGE);
            assert_non_null(strstr(clv_message(w->ctx), "is not allowed: it must be"));
            assert_null(result);
        }
    }
}

/* --- input --- */

static void refuse(const world *w, const clv_method *m, const clv_input *input, const char *words) {
    clv_options_room room;
    clv_result *result = (clv_result *)(void *)&room; /* must be cleared */
    assert_int_equal(clv_solve(w->ctx, m, input, options_for(m, &room), &result), CLV_EUSAGE);
    assert_null(result);
    if (!strstr(clv_message(w->ctx), words)) {
        fail_msg("%s: '%s' does not say '%s'", m->name, clv_message(w->ctx), words);
    }
}

/* The same of an evaluation, which is given a true answer. */
static void refuse_evaluation(const world *w, const clv_method *m, const clv_input *input) {
    clv_options_room room;
    clv_result *answer = solve(w, m, options_for(m, &room)), *found = answer;
    assert_int_equal(clv_evaluate(w->ctx, m, input, room.bytes, answer, &found), CLV_EUSAGE);
    assert_null(found);
    clv_result_free(answer);
}

static void wrong_input_is_refused(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        bool similar = m->takes == CLV_TAKES_AFFINITY;
        clv_input whole = input_for(w, m), empty = {0}, wrong = whole;
        refuse(w, m, &empty, similar ? "needs an affinity" : "needs points");
        refuse_evaluation(w, m, &empty);
        wrong = similar ? (clv_input){.points = &w->points, .targets = &w->targets}
                        : (clv_input){.affinity = w->affinity, .targets = &w->targets};
        refuse(w, m, &wrong, similar ? "needs an affinity" : "needs points");
        refuse_evaluation(w, m, &wrong);
        if (similar) {
            wrong = (clv_input){.affinity = w->foreign};
            refuse(w, m, &wrong, "another context");
            refuse_evaluation(w, m, &wrong);
        }
        if (m->takes == CLV_TAKES_SAMPLES) {
            wrong = (clv_input){.points = &w->points};
            refuse(w, m, &wrong, "targets are missing");
            refuse_evaluation(w, m, &wrong);
        }
        wrong = whole;
        wrong.weights = &w->targets;
        if (!(m->abilities & CLV_WEIGHS_OBJECTS)) {
            refuse(w, m, &wrong, "takes no sample weights");
        }
        wrong = whole;
        wrong.start = &w->targets;
        if (!(m->abilities & CLV_STARTS_GIVEN)) {
            refuse(w, m, &wrong, "takes no start");
        }
        wrong = whole;
        wrong.validation = &w->points;
        if (m->abilities & CLV_VALIDATES) {
            refuse(w, m, &wrong, "validation targets are missing");
        } else {
            refuse(w, m, &wrong, "validation");
        }
    }
}

/* What a program forgot is named, not followed. */
static void nothing_is_refused(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    assert_null(clv_method_find(NULL));
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_input input = input_for(w, m);
        clv_fresh fresh = {.points = &w->points};
        clv_result *result = solve(w, m, options_for(m, &room)), *out;
        assert_int_equal(clv_solve(w->ctx, NULL, &input, room.bytes, &out), CLV_EUSAGE);
        assert_int_equal(clv_solve(w->ctx, m, NULL, room.bytes, &out), CLV_EUSAGE);
        assert_int_equal(clv_solve(w->ctx, m, &input, NULL, &out), CLV_EUSAGE);
        assert_int_equal(clv_evaluate(w->ctx, m, NULL, room.bytes, result, &out), CLV_EUSAGE);
        assert_int_equal(clv_evaluate(w->ctx, m, &input, NULL, result, &out), CLV_EUSAGE);
        assert_int_equal(clv_evaluate(w->ctx, m, &input, room.bytes, NULL, &out), CLV_EUSAGE);
        assert_int_equal(clv_predict(w->ctx, m, NULL, room.bytes, result, &fresh, &out), CLV_EUSAGE);
        assert_int_equal(clv_predict(w->ctx, m, &input, room.bytes, NULL, &fresh, &out), CLV_EUSAGE);
        assert_int_equal(clv_predict(w->ctx, m, &input, room.bytes, result, NULL, &out), CLV_EUSAGE);
        assert_true(!out && clv_message(w->ctx)[0]);
        clv_method half = *m;
        half.solve = NULL;
        assert_int_equal(clv_solve(w->ctx, &half, &input, room.bytes, &out), CLV_EUSAGE);
        half.evaluate = NULL;
        assert_int_equal(clv_evaluate(w->ctx, &half, &input, room.bytes, result, &out), CLV_EUSAGE);
        half.memory = NULL;
        assert_int_equal(clv_memory(&half, &input, room.bytes), 0);
        clv_result_free(result);
    }
}

/* Where there is nothing to foretell, nothing is foretold. */
static void memory_of_what_cannot_be_is_0(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_input input = input_for(w, m), empty = {0};
        clv_control *control = options_for(m, &room);
        assert_int_equal(clv_memory(m, &empty, room.bytes), 0);
        assert_int_equal(clv_memory(m, NULL, room.bytes), 0);
        assert_int_equal(clv_memory(m, &input, NULL), 0);
        control->threads = -5;
        assert_int_equal(clv_memory(m, &input, room.bytes), 0);
        control->threads = 1;
        assert_true(clv_memory(m, &input, room.bytes) > 0);
        control->size = 0;
        assert_int_equal(clv_memory(m, &input, room.bytes), 0);
    }
}

/* A description whose options are larger than the library has room for, or smaller than their control. */
static void options_without_room_are_refused(void **state) {
    world *w = *state;
    static const size_t sizes[] = {4, sizeof(clv_options_room) + 8};
    static _Alignas(max_align_t) char large[2 * sizeof(clv_options_room)];
    for (size_t s = 0; s < CLV_COUNT(sizes); s++) {
        clv_method method = *clv_method_find("ncut");
        clv_option_table table = *method.options;
        clv_input input = input_for(w, &method);
        clv_result *out;
        options_for(&method, (clv_options_room *)(void *)large);
        ((clv_control *)(void *)large)->size = table.size = sizes[s];
        method.options = &table;
        assert_int_equal(clv_method_check(w->ctx, &method, large), CLV_EUSAGE);
        assert_int_equal(clv_solve(w->ctx, &method, &input, large, &out), CLV_EUSAGE);
        assert_int_equal(clv_memory(&method, &input, large), 0);
        assert_non_null(strstr(clv_message(w->ctx), "the library has room for"));
    }
}

/* Sparse points that name columns which are not there, or end before they begin. */
static void broken_views_are_refused(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    static const int32_t columns[][2] = {{5, 0}, {0, -1}, {0, P}, {0, 1}};
    int64_t start[N + 1];
    double ones[] = {1, 1};
    for (int i = 0; i <= N; i++) {
        start[i] = i < 2 ? i : 2;
    }
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        if (m->takes == CLV_TAKES_AFFINITY) {
            continue;
        }
        clv_input input = input_for(w, m);
        for (size_t c = 0; c < CLV_COUNT(columns); c++) {
            const clv_matrix view = {N, P, CLV_F64, ones, start, columns[c]};
            bool last = c + 1 == CLV_COUNT(columns);
            input.points = &view;
            start[2] = last ? -1 : 2;
            refuse(w, m, &input, last ? "has its entries from" : "is not one of 3");
        }
    }
}

/* --- results --- */

/* How many entries or rows "n", "k" or another word stands for; -1: not said. */
static int64_t extent(const clv_result *result, const char *word, size_t size) {
    return size == 1 && *word == 'n' ? result->n : size == 1 && *word == 'k' ? result->k : -1;
}

static void check_shape(const clv_result *result, const clv_field *field, const clv_field_info *info) {
    const char *times = strstr(info->shape, " x ");
    bool matrix = info->kind == CLV_FIELD_MATRIX || info->kind == CLV_FIELD_SPARSE;
    assert_int_equal(field->kind, info->kind);
    assert_int_equal(field->matrix != NULL, matrix);
    assert_int_equal(times != NULL, matrix);
    assert_int_equal(field->is_list != 0, !matrix && *info->shape);
    assert_true(field->is_list || field->count == 1);
    if (matrix) {
        int64_t rows = extent(result, info->shape, (size_t)(times - info->shape));
        int64_t cols = extent(result, times + 3, strlen(times + 3));
        assert_true((rows < 0 || field->matrix->rows == rows) && (cols < 0 || field->matrix->cols == cols));
    } else if (field->is_list) {
        int64_t entries = extent(result, info->shape, strlen(info->shape));
        assert_true(entries < 0 || field->count == entries);
    }
}

/* Names that reports have for other things. */
static const char *const taken[] = {
    "cleave",    "method",      "solver",     "n",       "k",     "seed",  "options",  "affinity", "bound",  "stop",
    "objective", "certificate", "iterations", "seconds", "drift", "sizes", "restarts", "left_out", "metrics"};

static void fields_are_described(void **state) {
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        for (size_t f = 0; f < m->gives_count; f++) {
            const clv_field_info *info = &m->gives[f];
            size_t stem = strcspn(info->name, ".");
            assert_true(is_name(info->name, "_.") && info->shape && is_line(info->help, false));
            assert_ptr_equal(clv_method_gives(m, info->name), info); /* no doubles */
            assert_true(info->slack >= 0 && (info->slack == 0 || info->role == CLV_DERIVED));
            assert_true(info->slack == 0 || info->kind != CLV_FIELD_TEXT);
            for (size_t t = 0; t < CLV_COUNT(taken); t++) {
                assert_false(strlen(taken[t]) == stem && strncmp(info->name, taken[t], stem) == 0);
            }
            for (size_t g = 0; g < f; g++) { /* the columns of a table come one after the other, and it has one name */
                size_t other = strcspn(m->gives[g].name, ".");
                bool same = other == stem && strncmp(m->gives[g].name, info->name, stem) == 0;
                bool next = g + 1 == f || strncmp(m->gives[g + 1].name, info->name, stem + 1) == 0;
                assert_true(!same || (info->name[stem] == '.' && m->gives[g].name[other] == '.' && next));
                assert_true(!same || strcmp(m->gives[g].shape, info->shape) == 0);
            }
        }
        const clv_field_info *labels = clv_method_gives(m, "labels");
        assert_true(!labels || (labels->kind == CLV_FIELD_INTEGER && strcmp(labels->shape, "n") == 0));
    }
}

/* A run gives what the description says, under its names; its evaluation finds the same. */
static void results_are_as_described(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_input input = input_for(w, m);
        clv_result *result = solve(w, m, options_for(m, &room)), *found;
        assert_string_equal(result->method, m->name);
        assert_true(result->n == N && result->k >= 1);
        bool by_method = m->takes == CLV_TAKES_PARTITIONS; /* its solver is the method that it is found by */
        assert_int_equal(result->solver[0] != 0, by_method || clv_options_find(m->options, "solver") != NULL);
        assert_int_equal(result->labels != NULL, clv_method_gives(m, "labels") != NULL);
        assert_int_equal(result->sizes != NULL, result->labels != NULL);
        assert_int_equal(result->objective.maximize, m->maximize);
        assert_string_equal(result->certificate.name, m->certificate);
        assert_true(!result->bound.name || strcmp(result->bound.name, m->bound) == 0);
        for (int64_t f = 0; f < result->fields_count; f++) {
            const clv_field_info *info = clv_method_gives(m, result->fields[f].name);
            if (!info) {
                fail_msg("%s does not say that it gives %s", m->name, result->fields[f].name);
                return;
            }
            check_shape(result, &result->fields[f], info);
        }
        assert_int_equal(clv_evaluate(w->ctx, m, &input, room.bytes, result, &found), CLV_OK);
        assert_string_equal(found->objective.name, result->objective.name);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * fabs(result->objective.value));
        assert_int_equal(found->certificate.holds, result->certificate.holds);
        clv_result_free(found);
        result->n--; /* an answer about other objects */
        assert_int_equal(clv_evaluate(w->ctx, m, &input, room.bytes, result, &found), CLV_EDATA);
        result->n++;
        if (result->labels) {
            result->labels[3] = (int32_t)result->k;
            assert_int_equal(clv_evaluate(w->ctx, m, &input, room.bytes, result, &found), CLV_EDATA);
        }
        clv_result_free(result);
    }
}

/* What no run has given says nothing: neither of its own worth nor of new objects. */
static void empty_answers_are_refused(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_input input = input_for(w, m);
        clv_fresh fresh = {.points = &w->points};
        clv_result *empty, *out;
        assert_int_equal(clv_result_new(w->ctx, 0, 2, &empty), CLV_OK);
        empty->n = N;
        options_for(m, &room);
        assert_int_equal(clv_evaluate(w->ctx, m, &input, room.bytes, empty, &out), CLV_EDATA);
        assert_null(out);
        assert_true(clv_predict(w->ctx, m, &input, room.bytes, empty, &fresh, &out) < 0);
        assert_null(out);
        clv_result_free(empty);
    }
}

/* The old objects as new ones. */
static void predictions_are_as_described(void **state) {
    world *w = *state;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        const clv_method *m = methods[i];
        clv_options_room room;
        clv_input input = input_for(w, m);
        clv_fresh fresh = {.points = &w->points}, nothing = {0};
        clv_result *result = solve(w, m, options_for(m, &room)), *told;
        assert_int_equal(clv_predict(w->ctx, m, &input, room.bytes, result, &nothing, &told), CLV_EUSAGE);
        clv_status status = clv_predict(w->ctx, m, &input, room.bytes, result, &fresh, &told);
        assert_int_equal(status, m->predict ? CLV_OK : CLV_EUSAGE);
        assert_int_equal(told != NULL, m->predict != NULL);
        if (told) {
            assert_int_equal(told->n, N);
            assert_int_equal(told->labels != NULL, is_listed(m->predicts, "labels"));
            for (int64_t f = 0; f < told->fields_count; f++) {
                assert_true(is_listed(m->predicts, told->fields[f].name));
            }
        }
        clv_result_free(told);
        double odd[P] = {0, NAN, 1};
        const clv_matrix nowhere = {1, P, CLV_F64, odd, NULL, NULL};
        fresh.points = &nowhere;
        status = clv_predict(w->ctx, m, &input, room.bytes, result, &fresh, &told);
        assert_int_equal(status, m->predict ? CLV_EDATA : CLV_EUSAGE);
        assert_null(told);
        fresh.points = &w->points;
        if (m->predict && m->takes == CLV_TAKES_AFFINITY) { /* points need the affinity that they are compared with */
            input.affinity = w->foreign;
            assert_int_equal(clv_predict(w->ctx, m, &input, room.bytes, result, &fresh, &told), CLV_EUSAGE);
            input.affinity = NULL;
            assert_int_equal(clv_predict(w->ctx, m, &input, room.bytes, result, &fresh, &told), CLV_EUSAGE);
        }
        clv_result_free(result);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_are_whole),
        cmocka_unit_test(options_lie_in_their_structs),
        cmocka_unit_test(fields_are_described),
        CASE(defaults_are_allowed),
        CASE(older_programs_get_the_defaults),
        CASE(starts_are_listed),
        CASE(wrong_input_is_refused),
        CASE(nothing_is_refused),
        CASE(memory_of_what_cannot_be_is_0),
        CASE(options_without_room_are_refused),
        CASE(broken_views_are_refused),
        CASE(results_are_as_described),
        CASE(predictions_are_as_described),
        CASE(empty_answers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
