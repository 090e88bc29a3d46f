/* Every number, text and list of ten true results of each method, forged one at a time: other signs, 0, huge numbers, a
 * thousandth more, no number, another kind, another choice, left out; and the fields of every other method added. What
 * verify may accept of this is listed in excuses.h, with the reason, and nothing else is. */
#include "answers.h"

#include <fnmatch.h>
#include <jansson.h>

/* --- what is forged --- */

static const question questions[] = {
    {"ncut", {"k", "4"}, false},
    {"ncut", {"k", "auto"}, false},
    {"ncut", {"k", "3", "solver", "spectral", "polish", "false"}, false},
    {"ncut", {"k", "3", "shift", "tight", "restarts", "3"}, false},
    {"ncut", {"k", "2", "solver", "dinkelbach", "start", "random"}, false},
    {"ncut", {"k", "3", "affinity", "knn", "neighbors", "8", "rounding", "rotation"}, false},
    {"ncut", {"k", "3", "affinity", "exponential", "gamma", "0.3", "solver", "fcd"}, false},
    {"ncut", {"k", "5", "affinity", "cosine", "solver", "finc", "max-iter", "1", "bound", "no"}, false},
    {"ncut", {"k", "3", "affinity", "gaussian", "home", "computed", "scale", "minmax", "patience", "0"}, false},
    {"ncut", {"k", "4", "affinity", "local", "zero-diagonal", "true", "shift", "paper", "bound", "no"}, false},
    {"symnmf", {"k", "3"}, false},
    {"symnmf", {"k", "3", "solver", "fw", "max-iter", "20"}, false},
    {"symnmf", {"k", "4", "start", "random", "restarts", "3"}, false},
    {"symnmf", {"k", "3", "solver", "pairwise", "affinity", "local-knn", "neighbors", "8"}, false},
    {"symnmf", {"k", "2", "solver", "pgd", "affinity", "exponential", "gamma", "0.3"}, false},
    {"symnmf", {"k", "3", "solver", "spg", "affinity", "cosine"}, false},
    {"symnmf", {"k", "3", "solver", "penalty", "sum-weight", "2", "max-iter", "30"}, false},
    {"symnmf", {"k", "5", "solver", "rows", "moves", "4", "home", "computed", "scale", "none"}, false},
    {"symnmf", {"k", "3", "landmarks", "8", "home", "low-rank", "start", "kmeans++"}, false},
    {"symnmf", {"k", "3", "change", "0.001", "max-iter", "50", "zero-diagonal", "true", "home", "dense-f32"}, false},
    {"kpalm", {"k", "3"}, false},
    {"kpalm", {"k", "3", "norm", "euclidean"}, false},
    {"kpalm", {"k", "3", "solver", "lloyd", "restarts", "2"}, true},
    {"kpalm", {"k", "3", "max-iter", "1", "polish", "false"}, false},
    {"kpalm", {"k", "4", "solver", "weiszfeld", "scale", "none"}, false},
    {"kpalm", {"k", "3", "object-alpha", "distance", "initial-membership", "nearest"}, false},
    {"kpalm", {"k", "2", "alpha-schedule", "harmonic", "alpha", "2", "alpha-unit", "variance"}, false},
    {"kpalm", {"k", "5", "solver", "lloyd", "start", "random", "empty", "reseed", "scale", "unit-rows"}, false},
    {"kpalm", {"k", "3", "initial-membership", "dirichlet", "restarts", "3", "gamma-w", "2"}, true},
    {"kpalm", {"k", "2", "norm", "euclidean", "epsilon", "0.1", "gamma-x", "2", "scale", "minmax"}, true},
    {"dominant", {NULL}, false},
    {"dominant", {"k", "3", "assign", "true", "shift", "0.5"}, false},
    {"dominant", {"k", "2", "solver", "afw"}, false},
    {"dominant", {"k", "1", "assign", "true"}, false},
    {"dominant", {"multistart", "4"}, false},
    {"dominant", {"k", "3", "multistart", "5", "sampling", "dpp", "overlap", "50", "solver", "fw"}, false},
    {"dominant", {"k", "3", "solver", "rd", "affinity", "exponential", "gamma", "0.3"}, false},
    {"dominant", {"k", "2", "start", "center", "absorb", "0.9", "cutoff", "0.05", "restarts", "2"}, false},
    {"dominant", {"affinity", "knn", "neighbors", "8", "min-size", "3", "min-cohesiveness", "0.1"}, false},
    {"dominant", {"k", "4", "affinity", "distance", "home", "computed", "start-object", "5", "max-iter", "3"}, false},
    {"ksupport", {"k", "2", "intercept", "true"}, false},
    {"ksupport", {"path", "1,2:0.5,0.1"}, false},
    {"ksupport", {"k", "2", "loss", "squares", "radius", "1"}, false},
    {"ksupport", {"k", "2", "rule", "change", "tol", "0.01"}, false},
    {"ksupport", {"k", "1", "solver", "fista", "step", "fixed", "momentum", "plain", "max-iter", "10"}, false},
    {"ksupport", {"k", "3", "loss", "squares", "solver", "admm", "rho", "1", "ridge", "0.1"}, false},
    {"ksupport", {"k", "2", "solver", "newton", "lambda", "0.01", "intercept", "true", "scale", "none"}, false},
    {"ksupport", {"k", "2", "solver", "fcfw", "inner", "pairwise", "atoms", "all", "screening", "false"}, false},
    {"ksupport", {"path", "1,3:1,0.01", "loss", "squares", "intercept", "true"}, false},
    {"ksupport", {"k", "2", "radius", "0.5", "scale", "unit-columns"}, false},
    {"pursuit", {"k", "60"}, false},
    {"pursuit", {"k", "60", "solver", "fista", "max-iter", "5"}, false},
    {"pursuit", {"k", "100", "zero-diagonal", "true"}, false},
    {"pursuit", {"k", "30", "solver", "admm", "lambda", "1"}, false},
    {"pursuit", {"k", "60", "radius", "2"}, false},
    {"pursuit", {"k", "60", "rule", "change", "tol", "0.01"}, false},
    {"pursuit", {"k", "200", "inner", "pairwise", "atoms", "all", "lambda", "5"}, false},
    {"pursuit", {"k", "60", "scale", "unit-rows", "lambda", "0.5", "max-iter", "2"}, false},
    {"pursuit", {"k", "40", "solver", "fista", "step", "fixed", "momentum", "plain", "scale", "none"}, false},
    {"pursuit", {"k", "60", "solver", "admm", "rho", "2", "prox", "search", "max-iter", "4"}, false},
    {"consensus", {"k", "3"}, false},
    {"consensus", {"k", "3", "method", "symnmf"}, false},
    {"consensus", {"k", "3", "method", "dominant"}, false},
    {"consensus", {"k", "2", "medoid", "true", "method", "symnmf"}, false},
    {"consensus", {"k", "2", "patience", "0"}, false},
    {"consensus", {"k", "4", "restarts", "3", "seed", "7"}, false},
    {"consensus", {"medoid", "true"}, false},
    {"consensus", {"k", "2", "method", "symnmf", "restarts", "3", "max-iter", "2"}, false},
    {"consensus", {"k", "4", "method", "dominant", "tol", "0.001"}, false},
    {"consensus", {"k", "3", "max-iter", "1", "tol", "0.5"}, false},
};

/* --- how --- */

typedef enum forgery {
    SIGN, /* -v, or -1 */
    ZERO,
    FAR,     /* 1e154: its square is still a number */
    VAST,    /* 1e300 */
    NEAR,    /* a thousandth more, or 0.001; of whole numbers one more */
    NOTHING, /* null */
    NAN_,    /* what JSON has no number for */
    INFINITE,
    KIND,  /* a text for a number, a number for a text */
    LIST,  /* an empty list for anything */
    OTHER, /* another of the choices, another truth, another text */
    LEFT_OUT,
    FORGERIES
} forgery;

static const char *const names[] = {"sign", "0",        "1e154", "1e300", "near",  "null",
                                    "nan",  "infinity", "kind",  "list",  "other", "left out"};

#define MARK "@forged@"

/* The option of this name that the method or every method has. */
static const clv_option *option_of(const clv_method *method, const char *name) {
    const clv_option_table *const tables[] = {method->options, clv_control_table(), clv_affinity_table()};
    for (size_t t = 0; t < CLV_COUNT(tables); t++) {
        const clv_option *option = clv_options_find(tables[t], name);
        if (option) {
            return option;
        }
    }
    return NULL;
}

/* The choice after the one that is there. */
static json_t *next_choice(const char *choices, const char *now) {
    const char *at = strstr(choices, now), *next = at ? strchr(at, '|') : NULL;
    next = next ? next + 1 : choices;
    return json_stringn(next, strcspn(next, "|"));
}

/* The value forged, or NULL where there is no such forgery of its kind. */
static json_t *forge(const clv_method *method, const char *path, const json_t *value, forgery how) {
    bool number = json_is_number(value), whole = json_is_integer(value);
    double real = json_number_value(value);
    json_int_t integer = json_integer_value(value);
    const char *text = json_string_value(value);
    const clv_option *option = strncmp(path, "options.", 8) == 0 ? option_of(method, path + 8) : NULL;
    switch (how) {
    case SIGN:
        return !number ? NULL : whole ? json_integer(integer > 0 ? -integer : -1) : json_real(real != 0 ? -real : -1);
    case ZERO:
        return !number ? NULL : whole ? json_integer(0) : json_real(0);
    case FAR:
        return !number ? NULL : whole ? json_integer(1000000000000000) : json_real(1e154);
    case VAST:
        return !number ? NULL : whole ? json_integer(INT64_MAX) : json_real(1e300);
    case NEAR:
        return !number ? NULL : whole ? json_integer(integer + 1) : json_real(real != 0 ? 1.001 * real : 0.001);
    case NOTHING:
        return json_is_null(value) ? NULL : json_null();
    case NAN_:
    case INFINITE:
        return number ? json_string(MARK) : NULL;
    case KIND:
        return text ? json_integer(7) : json_string("seven");
    case LIST:
        return json_array();
    case OTHER:
        if (text && option && option->choices) {
            return next_choice(option->choices, text);
        }
        return text ? json_string("other") : json_is_boolean(value) ? json_boolean(!json_is_true(value)) : NULL;
    default:
        return NULL;
    }
}

/* --- what may be accepted --- */

#define BIT(how) (1u << (how))
#define ALIKE (BIT(ZERO) | BIT(NEAR))
#define SIZES (BIT(FAR) | BIT(VAST) | ALIKE)
#define CLAIM_LESS (BIT(NOTHING) | BIT(LEFT_OUT))
#define RARE BIT(FORGERIES) /* needed by chance, which rounding decides */

typedef struct excuse {
    const char *path; /* a pattern */
    unsigned how;
    const char *methods; /* NULL: all */
} excuse;

#include "excuses.h"
static unsigned used[CLV_COUNT(excuses)]; /* the forgeries of each that needed it */

static bool is_excused(const clv_method *method, const char *path, forgery how) {
    bool excused = false;
    for (size_t e = 0; e < CLV_COUNT(excuses); e++) {
        const excuse *one = &excuses[e];
        if ((one->how & BIT(how)) && fnmatch(one->path, path, 0) == 0 &&
            (!one->methods || strstr(one->methods, method->name))) {
            used[e] |= BIT(how);
            excused = true;
        }
    }
    return excused;
}

/* --- the round --- */

typedef struct round_of {
    clv_context *ctx;
    const question *asked;
    const clv_method *method;
    json_t *root;
    evidence given;
    int64_t tried, accepted, wrong;
} round_of;

/* The text, with the mark replaced; by malloc. */
static char *text_of(const json_t *root, forgery how) {
    char *text = json_dumps(root, JSON_REAL_PRECISION(17)), *at = strstr(text, "\"" MARK "\"");
    if (at) {
        const char *odd = how == NAN_ ? "NaN" : "1e999";
        size_t size = strlen("\"" MARK "\"");
        memset(at, ' ', size);
        memcpy(at, odd, strlen(odd));
    }
    return text;
}

static bool is_accepted(round_of *r, forgery how) {
    clv_claim *claim = NULL;
    clv_verdict verdict = {0};
    char *text = text_of(r->root, how);
    clv_status status = clv_claim_parse(r->ctx, "result.json", text, strlen(text), NULL, &claim);
    if (status == CLV_OK) {
        status = clv_claim_verify(r->ctx, claim, &r->given.input, 0, 1, &verdict);
    }
    if (status == CLV_OK && r->method->takes != CLV_TAKES_SAMPLES) {
        int32_t truth[N];
        make_truth(truth);
        status = clv_claim_compare(r->ctx, claim, truth, &verdict);
    }
    if (status < 0 ? !clv_message(r->ctx)[0] || verdict.accepted : !verdict.reason[0]) {
        fail_msg("no reason is given for %s", text);
    }
    clv_claim_free(claim);
    free(text);
    return verdict.accepted;
}

static void count(round_of *r, const char *path, forgery how) {
    bool accepted = is_accepted(r, how);
    r->tried++;
    r->accepted += accepted;
    if (accepted && !is_excused(r->method, path, how)) {
        print_error("accepted: %s (%s %s ...), %s: %s\n", r->asked->method,
                    r->asked->options[0] ? r->asked->options[0] : "", r->asked->options[0] ? r->asked->options[1] : "",
                    path, names[how]);
        r->wrong++;
    }
}

/* Put `value` (owned) in the place of a member or an entry. */
static void put(json_t *parent, const char *key, size_t place, json_t *value) {
    if (key) {
        json_object_set_new(parent, key, value);
    } else {
        json_array_set_new(parent, place, value);
    }
}

static void leave_out(round_of *r, json_t *parent, const char *key, size_t place, const char *path) {
    json_t *kept = json_incref(key ? json_object_get(parent, key) : json_array_get(parent, place));
    if (key) {
        json_object_del(parent, key);
    } else {
        json_array_remove(parent, place);
    }
    count(r, path, LEFT_OUT);
    if (key) {
        json_object_set_new(parent, key, kept);
    } else {
        json_array_insert_new(parent, place, kept);
    }
}

static void forge_value(round_of *r, json_t *parent, const char *key, size_t place, const char *path) {
    json_t *kept = json_incref(key ? json_object_get(parent, key) : json_array_get(parent, place));
    for (forgery how = 0; how < LEFT_OUT; how++) {
        json_t *forged = forge(r->method, path, kept, how);
        if (forged && !json_equal(forged, kept)) {
            put(parent, key, place, forged);
            count(r, path, how);
            put(parent, key, place, json_incref(kept));
        } else {
            json_decref(forged);
        }
    }
    leave_out(r, parent, key, place, path);
    json_decref(kept);
}

static void walk(round_of *r, json_t *value, const char *path);

static void visit(round_of *r, json_t *parent, const char *key, size_t place, const char *path) {
    char below[256];
    json_t *value = key ? json_object_get(parent, key) : json_array_get(parent, place);
    if (key) {
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
    } else {
        snprintf(below, sizeof below, "%s[]", path);
    }
    forge_value(r, parent, key, place, below);
    walk(r, value, below);
}

/* Members and entries; of a long list the first, one in the middle, and the last. */
static void walk(round_of *r, json_t *value, const char *path) {
    if (json_is_object(value)) {
        const char *keys[64], *key;
        size_t keys_count = 0;
        json_t *member;
        json_object_foreach(value, key, member) {
            if (keys_count < CLV_COUNT(keys)) {
                keys[keys_count++] = key;
            }
        }
        for (size_t i = 0; i < keys_count; i++) {
            char *copy = strdup(keys[i]); /* what is set anew may lie elsewhere */
            keys[i] = copy;
        }
        for (size_t i = 0; i < keys_count; i++) {
            visit(r, value, keys[i], 0, path);
            free((char *)(uintptr_t)keys[i]);
        }
    } else if (json_is_array(value)) {
        size_t size = json_array_size(value), places[] = {0, size / 2, size - 1};
        for (size_t i = 0; i < CLV_COUNT(places) && size > 0; i++) {
            if (i == 0 || places[i] > places[i - 1]) {
                visit(r, value, NULL, places[i], path);
            }
        }
    }
}

/* A field that another method gives, of its kind. */
static json_t *foreign_value(const clv_field_info *info) {
    json_t *one = info->kind == CLV_FIELD_INTEGER ? json_integer(1)
                  : info->kind == CLV_FIELD_REAL  ? json_real(0.5)
                  : info->kind == CLV_FIELD_TEXT  ? json_string("x")
                                                  : json_pack("[f]", 0.5);
    return *info->shape ? json_pack("[o]", one) : one;
}

static void add_foreign(round_of *r) {
    size_t methods;
    const clv_method *const *list = clv_methods(&methods);
    for (size_t m = 0; m < methods; m++) {
        for (size_t f = 0; f < list[m]->gives_count; f++) {
            char name[64];
            const char *given = list[m]->gives[f].name;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "."), given);
            if (json_object_get(r->root, name)) {
                continue;
            }
            json_object_set_new(r->root, name, foreign_value(&list[m]->gives[f]));
            char path[80];
            snprintf(path, sizeof path, "+%s", name);
            count(r, path, OTHER);
            json_object_del(r->root, name);
        }
        if (list[m] != r->method) {
            json_object_set_new(r->root, "method", json_string(list[m]->name));
            count(r, "method", OTHER);
            json_object_set_new(r->root, "method", json_string(r->method->name));
        }
    }
}

static void there_are_ten_results_of_each_method(void **unused) {
    (void)unused;
    size_t methods;
    const clv_method *const *list = clv_methods(&methods);
    for (size_t m = 0; m < methods; m++) {
        int count = 0;
        for (size_t q = 0; q < CLV_COUNT(questions); q++) {
            count += strcmp(questions[q].method, list[m]->name) == 0;
        }
        if (count < 10) {
            fail_msg("there are %d results of %s to forge, not ten", count, list[m]->name);
        }
    }
}

static void no_forgery_is_accepted(void **unused) {
    (void)unused;
    int64_t tried = 0, accepted = 0, wrong = 0;
    for (size_t q = 0; q < CLV_COUNT(questions); q++) {
        round_of r = {.asked = &questions[q], .method = clv_method_find(questions[q].method)};
        assert_int_equal(clv_context_new(NULL, &r.ctx), CLV_OK);
        char *json = answer_to_json(r.ctx, r.asked);
        r.root = json_loads(json, 0, NULL);
        clv_release(r.ctx, json);
        collect(r.asked, &r.given);
        if (!is_accepted(&r, SIGN)) {
            fail_msg("the true result of %s (%zu) is rejected", r.asked->method, q);
        }
        walk(&r, r.root, "");
        add_foreign(&r);
        json_decref(r.root);
        clv_context_free(r.ctx);
        tried += r.tried;
        accepted += r.accepted;
        wrong += r.wrong;
    }
    for (size_t e = 0; e < CLV_COUNT(excuses); e++) {
        for (int how = 0; how < FORGERIES && !(excuses[e].how & RARE); how++) {
            if (excuses[e].how & ~used[e] & BIT(how)) {
                print_error("%s needs no excuse for \"%s\"\n", excuses[e].path, names[how]);
                wrong++;
            }
        }
    }
    print_message("%lld forgeries of %zu results, %lld accepted with an excuse\n", (long long)tried,
                  CLV_COUNT(questions), (long long)(accepted - wrong));
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_ten_results_of_each_method),
        cmocka_unit_test(no_forgery_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
