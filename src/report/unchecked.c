/* What a verification takes as it is told: rejected only where no run can have it. */
#include "engine/result.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct listing {
    char *text;
    size_t size, used;
} listing;

static void add(listing *list, const char *name) {
    int room = list->size > list->used ? (int)(list->size - list->used) : 0;
    int more = snprintf(list->text + list->used, (size_t)room, "%s%s", list->used > 0 ? ", " : "", name);
    list->used = more > 0 && more < room ? list->used + (size_t)more : list->used;
    list->text[list->used] = 0; /* a name that does not fit is left out whole */
}

/* How much of the name is that of a table of which all columns are only stated; 0: it is of none. */
static size_t stated_table(const clv_method *method, const char *name) {
    size_t stem = strcspn(name, ".");
    for (size_t f = 0; f < method->gives_count && name[stem]; f++) {
        const clv_field_info *info = &method->gives[f];
        if (strncmp(info->name, name, stem + 1) == 0 && info->role != CLV_STATED) {
            return 0;
        }
    }
    return name[stem] ? stem : 0;
}

/* Fields that are only stated, where there is something in them; a table of such columns once. */
static void add_fields(listing *list, const clv_claim *claim, const clv_method *method) {
    char last[64] = "";
    for (size_t f = 0; f < method->gives_count; f++) {
        const clv_field_info *info = &method->gives[f];
        const clv_field *field = clv_result_field(claim->result, info->name);
        size_t stem = stated_table(method, info->name), length = stem > 0 ? stem : strlen(info->name);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)length, info->name);
        if (info->role == CLV_STATED && field && field->count > 0 && strcmp(name, last) != 0) {
            add(list, name);
            memcpy(last, name, sizeof last);
        }
    }
}

void clv_claim_unchecked(const clv_claim *claim, char *text, size_t size) {
    listing list = {text, size, 0};
    const clv_method *method = clv_claim_method(claim);
    size_t count;
    clv_metrics(&count);
    const struct {
        bool there;
        const char *name;
    } core[] = {
        {true, "times"},
        {true, "iterations"},
        {claim->result->stop != CLV_CONVERGED, "stop"},
        {claim->options_count > 0, "seed and options of the search"},
        {claim->result->restarts_count > 1, "restarts but the best"},
        {!isnan(claim->result->drift), "drift"},
        {claim->chosen_on > 0, "affinity.agreement"},
        {claim->without_bound && clv_result_field(claim->result, "eigenvalues"), "eigenvalues and bound"},
        {claim->without_bound && clv_result_real(claim->result, "shift", 0) > 0, "shift"},
        {claim->metrics && !claim->compared, "metrics"},
        {claim->metrics && claim->compared && !isnan(claim->metrics[count]), "silhouette"},
        {claim->has_terms, "terms"},
        {claim->has_range, "k_table"},
        {claim->has_reason, "k_reason"},
        {claim->unseen[0] != 0, claim->unseen},
    };
    for (size_t i = 0; i < CLV_COUNT(core) && size > 0; i++) {
        if (core[i].there) {
            add(&list, core[i].name);
        }
    }
    if (method && size > 0) {
        add_fields(&list, claim, method);
    }
}
