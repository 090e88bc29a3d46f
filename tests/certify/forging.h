/* JSON texts of results, changed by hand. */
#ifndef FORGING_H
#define FORGING_H

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What stands after `field` (first occurrence after `within`) becomes `value`; owned by malloc. */
static inline char *replace_value(const char *json, const char *within, const char *field, const char *value) {
    const char *at = strstr(json, within);
    assert_non_null(at);
    at = strstr(at, field);
    assert_non_null(at);
    at += strlen(field);
    size_t before = (size_t)(at - json), old = strcspn(at, ",]}");
    char *changed = malloc(strlen(json) + strlen(value) + 1);
    memcpy(changed, json, before);
    strcpy(changed + before, value);
    strcat(changed, at + old);
    return changed;
}

/* A member whose value is a list becomes `text`; owned by malloc. */
static inline char *replace_list(const char *json, const char *name, const char *text) {
    const char *at = strstr(json, name), *end = at ? strchr(at, '[') : NULL;
    assert_non_null(end);
    int depth = 0;
    do {
        depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        end++;
    } while (depth > 0);
    char *changed = malloc(strlen(json) + strlen(text) + 1);
    memcpy(changed, json, (size_t)(at - json));
    strcpy(changed + (at - json), text);
    strcat(changed, end);
    return changed;
}

static inline void check_reason(const clv_verdict *verdict, const char *reason) {
    if (verdict->accepted) {
        fail_msg("accepted, in spite of '%s'", reason);
    }
    if (!strstr(verdict->reason, reason)) {
        fail_msg("'%s' does not speak of '%s'", verdict->reason, reason);
    }
}

/* The same number everywhere: the objective of the result and of all restarts. */
static inline char *replace_objectives(const char *json, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    char *changed = replace_value(json, "\"objective\"", "\"value\": ", text);
    const char *restart = "{\"objective\": ";
    for (char *at = strstr(changed, restart); at; at = strstr(at + 1, restart)) {
        size_t place = (size_t)(at - changed);
        char *next = replace_value(changed, at, restart, text);
        free(changed);
        changed = next;
        at = changed + place;
    }
    return changed;
}

#endif
