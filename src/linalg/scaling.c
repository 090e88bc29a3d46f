/* Scaling of points: of columns, or of each row by itself.
 *
 * Column statistics take two passes (mean, then squared deviations) in double, whatever the storage. Each column is
 * first multiplied by a power of two that brings its largest entry to about 1: that changes no rounding, and squares
 * neither overflow nor vanish. Cost: three passes over the matrix and O(cols) memory. */
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>

/* What is known of each column (or, for unit-rows, of each row). An entry x becomes (x * unit - shift) * factor. */
typedef struct scaling {
    clv_kept kept;
    int64_t count;
    bool by_row;
    double *least, *most;   /* extremes */
    double *unit;           /* a power of two: the largest magnitude times it is in [1, 2) */
    double *shift, *factor; /* in that unit */
    clv_data *scaled;       /* what is written to, */
    int64_t at;             /* and the place of the entry that is visited */
} scaling;

/* What is known of so many rows, or of columns, of which two numbers are kept with the data. */
static clv_status check_room(const clv_data *data, int64_t count, bool by_row) {
    int64_t numbers = by_row ? 5 : 7;
    char what[400];
    if (clv_memory_fits(data->ctx, numbers * (int64_t)sizeof(double) * count) == CLV_OK) {
        return CLV_OK;
    }
    snprintf(what, sizeof what, "%s", clv_message(data->ctx));
    return clv_fail(data->ctx, CLV_ENOMEM,
                    "%s has %lld %s, which take too much memory to scale: %s; allow more, or leave out --scale",
                    data->name, (long long)count, by_row ? "rows" : "columns", what);
}

static clv_status scaling_new(const clv_data *data, bool by_row, scaling *s) {
    clv_context *ctx = data->ctx;
    int64_t count = by_row ? data->matrix.rows : data->matrix.cols;
    *s = (scaling){.kept.ctx = ctx, .count = count, .by_row = by_row};
    CLV_TRY(check_room(data, count, by_row));
    s->least = CLV_TAKE(&s->kept, double, count);
    s->most = CLV_TAKE(&s->kept, double, count);
    s->unit = CLV_TAKE(&s->kept, double, count);
    s->shift = CLV_TAKE0(&s->kept, double, count);
    s->factor = CLV_TAKE0(&s->kept, double, count);
    for (int64_t g = 0; s->kept.status == CLV_OK && g < count; g++) {
        s->least[g] = HUGE_VAL;
        s->most[g] = -HUGE_VAL;
    }
    return s->kept.status;
}

/* Call `visit` for each stored entry with the number of its group (column or row). */
typedef void (*entry_visit)(scaling *s, int64_t group, double value);

static void visit_entries(const clv_matrix *m, scaling *s, entry_visit visit) {
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t from = clv_is_sparse(m) ? m->start[i] : i * m->cols;
        int64_t to = clv_is_sparse(m) ? m->start[i + 1] : from + m->cols;
        for (s->at = from; s->at < to; s->at++) {
            int64_t column = clv_is_sparse(m) ? m->index[s->at] : s->at - from;
            visit(s, s->by_row ? i : column, clv_stored(m, s->at));
        }
    }
}

static void note_extremes(scaling *s, int64_t group, double value) {
    s->least[group] = fmin(s->least[group], value);
    s->most[group] = fmax(s->most[group], value);
}

static void add_value(scaling *s, int64_t group, double value) {
    s->shift[group] += value * s->unit[group];
}

static void add_square(scaling *s, int64_t group, double value) {
    double deviation = value * s->unit[group] - s->shift[group];
    s->factor[group] += deviation * deviation;
}

/* Units from the extremes; groups without entries or of zeros get 1. */
static void set_units(scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        double largest = fmax(fabs(s->least[g]), fabs(s->most[g]));
        bool usual = isfinite(largest) && largest > 0;
        int exponent = usual ? ilogb(largest) : 0;
        s->unit[g] = ldexp(1, exponent < -1022 ? 1022 : -exponent);
    }
}

static void invert_norms(scaling *s, double divisor) {
    for (int64_t g = 0; g < s->count; g++) {
        s->factor[g] = s->factor[g] > 0 ? 1 / sqrt(s->factor[g] / divisor) : 0;
    }
}

static void find_standard(const clv_matrix *m, scaling *s) {
    visit_entries(m, s, add_value);
    for (int64_t g = 0; g < s->count; g++) {
        s->shift[g] /= (double)m->rows;
    }
    visit_entries(m, s, add_square);
    invert_norms(s, (double)m->rows);
    for (int64_t g = 0; g < s->count; g++) { /* the mean of equal values may round: do not scale up what is left */
        s->factor[g] = s->least[g] == s->most[g] ? 0 : s->factor[g];
    }
}

static void find_minmax(scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        s->shift[g] = s->least[g] * s->unit[g];
        double range = s->most[g] * s->unit[g] - s->shift[g];
        s->factor[g] = range > 0 ? 1 / range : 0;
    }
}

static void write_scaled(scaling *s, int64_t group, double value) {
    double scaled = (value * s->unit[group] - s->shift[group]) * s->factor[group];
    if (s->scaled->matrix.scalar == CLV_F32) {
        ((float *)s->scaled->values)[s->at] = (float)scaled;
    } else {
        ((double *)s->scaled->values)[s->at] = scaled;
    }
}

static void apply_scaling(clv_data *data, scaling *s) {
    s->scaled = data;
    visit_entries(&data->matrix, s, write_scaled);
}

static clv_status check_scale(const clv_data *data, clv_scale scale) {
    if ((int)scale < CLV_SCALE_NONE || scale > CLV_SCALE_UNIT_ROWS) {
        return clv_fail(data->ctx, CLV_EUSAGE, "scale = %d is not one of the clv_scale values 0 to 4", (int)scale);
    }
    if (clv_is_sparse(&data->matrix) && (scale == CLV_SCALE_STANDARD || scale == CLV_SCALE_MINMAX)) {
        return clv_fail(data->ctx, CLV_EUSAGE,
                        "%s is sparse, and scale '%s' would fill it: use unit-columns, unit-rows or none", data->name,
                        scale == CLV_SCALE_STANDARD ? "standard" : "minmax");
    }
    return CLV_OK;
}

static void find_scaling(const clv_matrix *m, clv_scale scale, scaling *s) {
    visit_entries(m, s, note_extremes);
    set_units(s);
    if (scale == CLV_SCALE_STANDARD) {
        find_standard(m, s);
    } else if (scale == CLV_SCALE_MINMAX) {
        find_minmax(s);
    } else {
        visit_entries(m, s, add_square);
        invert_norms(s, 1);
    }
}

/* A result tells the factors, so that new objects can be scaled alike; that of subnormal numbers may be beyond all. */
static clv_status check_factors(const clv_data *data, const scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        const char *name = clv_data_column(data, g);
        if (!isfinite(s->factor[g] * s->unit[g])) {
            return clv_fail(data->ctx, CLV_EDATA,
                            "%s: the numbers of column %lld%s%.80s%s spread by only %.3g, which no factor scales to 1: "
                            "multiply them by 1e300, say, or leave the column out (--drop)",
                            data->name, (long long)g + 1, name ? " '" : "", name ? name : "", name ? "'" : "",
                            1 / s->factor[g] / s->unit[g]);
        }
    }
    return CLV_OK;
}

/* Keep how the columns were scaled. Units are powers of two, so that nothing is lost here. */
static clv_status keep_scaling(clv_data *data, const scaling *s) {
    CLV_TRY(check_factors(data, s));
    data->shift = CLV_NEW(data->ctx, double, s->count);
    data->factor = CLV_NEW(data->ctx, double, s->count);
    CLV_TRY(data->shift && data->factor ? CLV_OK : CLV_ENOMEM);
    for (int64_t g = 0; g < s->count; g++) {
        data->shift[g] = s->shift[g] / s->unit[g];
        data->factor[g] = s->factor[g] * s->unit[g];
    }
    return CLV_OK;
}

int clv_data_scaling(const clv_data *data, const double **shift, const double **factor) {
    *shift = data->shift;
    *factor = data->factor;
    return data->shift != NULL;
}

clv_status clv_data_scale_as(clv_data *data, const double *shift, const double *factor) {
    int64_t cols = data->matrix.cols;
    scaling s;
    CLV_TRY(clv_data_own_values(data));
    for (int64_t j = 0; j < cols && clv_is_sparse(&data->matrix); j++) {
        if (shift[j] != 0) {
            return clv_fail(data->ctx, CLV_EDATA, "%s is sparse, and its columns would be shifted, which would fill it",
                            data->name);
        }
    }
    clv_status status = scaling_new(data, false, &s);
    for (int64_t j = 0; status == CLV_OK && j < cols; j++) {
        s.unit[j] = 1;
        s.shift[j] = shift[j];
        s.factor[j] = factor[j];
    }
    if (status == CLV_OK) {
        apply_scaling(data, &s);
    }
    clv_free_kept(&s.kept);
    return status;
}

/* By the columns of `data`: both, if there are two. By rows: `data` alone, as rows do not look at others. */
static clv_status scale_by(clv_data *data, clv_data *fresh, clv_scale scale) {
    bool by_row = scale == CLV_SCALE_UNIT_ROWS;
    scaling s;
    clv_status status = scaling_new(data, by_row, &s);
    if (status == CLV_OK) {
        find_scaling(&data->matrix, scale, &s);
        status = by_row ? CLV_OK : keep_scaling(data, &s);
    }
    if (status == CLV_OK) {
        apply_scaling(data, &s);
    }
    if (status == CLV_OK && fresh) {
        apply_scaling(fresh, &s);
    }
    clv_free_kept(&s.kept);
    return status;
}

/* A sparse file may end before the last features: the others are zero. */
static clv_status match_columns(const clv_data *data, clv_data *fresh) {
    int64_t cols = data->matrix.cols, found = fresh->matrix.cols;
    if (found > cols || (found < cols && !clv_is_sparse(&fresh->matrix))) {
        return clv_fail(data->ctx, CLV_EDATA, "%s has %lld columns, but %s has %lld", fresh->name, (long long)found,
                        data->name, (long long)cols);
    }
    fresh->matrix.cols = cols;
    return CLV_OK;
}

clv_status clv_data_scale_both(clv_data *data, clv_data *fresh, clv_scale scale) {
    CLV_TRY(check_scale(data, scale));
    CLV_TRY(check_scale(fresh, scale));
    CLV_TRY(match_columns(data, fresh));
    if (scale == CLV_SCALE_NONE) {
        return CLV_OK;
    }
    CLV_TRY(clv_data_own_values(data));
    CLV_TRY(clv_data_own_values(fresh));
    if (scale == CLV_SCALE_UNIT_ROWS) {
        CLV_TRY(scale_by(fresh, NULL, scale));
        return scale_by(data, NULL, scale);
    }
    return scale_by(data, fresh, scale);
}

clv_status clv_data_scale(clv_data *data, clv_scale scale) {
    CLV_TRY(check_scale(data, scale));
    if (scale == CLV_SCALE_NONE) {
        return CLV_OK;
    }
    CLV_TRY(clv_data_own_values(data));
    return scale_by(data, NULL, scale);
}
