/* The atoms of Frank-Wolfe: sparse vectors u_i with v_i >= (||u_i||_k^sp)^2, their images X u_i, and their inner
 * products. Entries refer to slots of the union of all supports, which is kept in ascending order, so that a
 * combination of t atoms costs one addition per entry and comes out sorted, and no vector of all features is needed. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <string.h>

enum { FIRST = 16, PATIENCE = 4, SLICE = 8192 };

static void free_atom(clv_atoms *atoms, int64_t a) {
    clv_free(atoms->ctx, atoms->atom[a].slot);
    clv_free(atoms->ctx, atoms->atom[a].value);
}

void clv_atoms_free(clv_atoms *atoms) {
    clv_context *ctx = atoms->ctx;
    for (int64_t a = 0; a < atoms->count; a++) {
        free_atom(atoms, a);
    }
    clv_free(ctx, atoms->atom);
    clv_free(ctx, atoms->weight);
    clv_free(ctx, atoms->image);
    clv_free(ctx, atoms->inner);
    clv_free(ctx, atoms->gram);
    clv_free(ctx, atoms->target);
    clv_free(ctx, atoms->total);
    clv_list_free(ctx, &atoms->sum);
    *atoms = (clv_atoms){0};
}

/* A larger square table with the old one in its corner. */
static clv_status widen(clv_context *ctx, double **table, int64_t from, int64_t to) {
    double *wide = CLV_NEW0(ctx, double, to *to);
    if (!wide) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < from; i++) {
        memcpy(wide + i * to, *table + i * from, (size_t)from * sizeof *wide);
    }
    clv_free(ctx, *table);
    *table = wide;
    return CLV_OK;
}

static clv_status make_room(clv_atoms *atoms) {
    int64_t before = atoms->capacity, after = before ? before + before / 4 : FIRST, images;
    if (atoms->count < before) {
        return CLV_OK;
    }
    if (!clv_mul(after, atoms->problem->x->samples, &images)) {
        return clv_fail(atoms->ctx, CLV_ENOMEM, "%lld atoms do not fit in memory", (long long)after);
    }
    CLV_GROW(atoms->ctx, atoms->atom, after);
    CLV_GROW(atoms->ctx, atoms->weight, after);
    CLV_GROW(atoms->ctx, atoms->target, after);
    CLV_GROW(atoms->ctx, atoms->total, after);
    CLV_GROW(atoms->ctx, atoms->image, images);
    CLV_TRY(widen(atoms->ctx, &atoms->inner, before, after));
    CLV_TRY(widen(atoms->ctx, &atoms->gram, before, after));
    atoms->capacity = after;
    return CLV_OK;
}

/* --- the union --- */

/* Merge the places of u into the union: `moved` says where old slots go, `slot` where the entries of u are. */
static clv_status join(clv_atoms *atoms, const clv_list *u, int32_t *moved, int32_t *slot) {
    clv_list *sum = &atoms->sum;
    int64_t added = 0, i = 0;
    for (int64_t j = 0; j < u->count; j++) {
        while (i < sum->count && sum->index[i] < u->index[j]) {
            i++;
        }
        added += i == sum->count || sum->index[i] != u->index[j];
    }
    CLV_TRY(clv_list_reserve(atoms->ctx, sum, sum->count + added + (sum->count + added) / 4));
    int64_t at = sum->count + added, old = sum->count;
    sum->count = at;
    for (int64_t j = u->count; at > 0;) { /* from the end, so that nothing is overwritten before it is read */
        bool take = j > 0 && (old == 0 || u->index[j - 1] >= sum->index[old - 1]);
        bool both = take && old > 0 && u->index[j - 1] == sum->index[old - 1];
        at--;
        if (take) {
            slot[--j] = (int32_t)at;
        }
        if (!take || both) {
            moved[--old] = (int32_t)at;
            sum->value[at] = sum->value[old];
        } else {
            sum->value[at] = 0;
        }
        sum->index[at] = take ? u->index[j] : sum->index[old];
    }
    return CLV_OK;
}

static clv_status place(clv_atoms *atoms, const clv_list *u, int32_t *slot) {
    int32_t *moved = CLV_NEW(atoms->ctx, int32_t, atoms->sum.count);
    if (!moved) {
        return CLV_ENOMEM;
    }
    clv_status status = join(atoms, u, moved, slot);
    for (int64_t a = 0; status == CLV_OK && a < atoms->count; a++) {
        for (int64_t e = 0; e < atoms->atom[a].count; e++) {
            atoms->atom[a].slot[e] = moved[atoms->atom[a].slot[e]];
        }
    }
    clv_free(atoms->ctx, moved);
    return status;
}

/* --- adding --- */

/* Threads for so many multiplications: few are done before another thread is awake. */
static int team_for(const clv_atoms *atoms, int64_t work) {
    return work > 1 << 17 ? clv_team(atoms->problem->loss.threads) : 1;
}

/* Inner products of atom `last` with all, by way of its entries spread over the union. */
static clv_status multiply_entries(clv_atoms *atoms, int64_t last) {
    const clv_atom *mine = &atoms->atom[last];
    double *spread = CLV_NEW0(atoms->ctx, double, atoms->sum.count);
    if (!spread) {
        return CLV_ENOMEM;
    }
    for (int64_t e = 0; e < mine->count; e++) {
        spread[mine->slot[e]] = mine->value[e];
    }
#pragma omp parallel for num_threads(team_for(atoms, (last + 1) * mine->count)) schedule(dynamic)
    for (int64_t a = 0; a <= last; a++) {
        const clv_atom *other = &atoms->atom[a];
        double sum = 0;
        for (int64_t e = 0; e < other->count; e++) {
            sum += other->value[e] * spread[other->slot[e]];
        }
        atoms->inner[last * atoms->capacity + a] = atoms->inner[a * atoms->capacity + last] = sum;
    }
    clv_free(atoms->ctx, spread);
    return CLV_OK;
}

static void multiply_images(clv_atoms *atoms, int64_t last) {
    int64_t n = atoms->problem->x->samples;
    int threads = atoms->problem->loss.threads;
    const double *mine = atoms->image + last * n;
#pragma omp parallel for num_threads(team_for(atoms, (last + 1) * n)) schedule(dynamic)
    for (int64_t a = 0; a <= last; a++) {
        double product = clv_dot(mine, atoms->image + a * n, n, 1);
        atoms->gram[last * atoms->capacity + a] = atoms->gram[a * atoms->capacity + last] = product;
    }
    atoms->target[last] = clv_dot(mine, atoms->problem->loss.y, n, threads);
    atoms->total[last] = clv_sum(mine, n, threads);
}

clv_status clv_atoms_add(clv_atoms *atoms, const clv_list *u, double square, const double *image) {
    const clv_design *x = atoms->problem->x;
    CLV_TRY(make_room(atoms));
    int64_t last = atoms->count;
    clv_atom *atom = &atoms->atom[last];
    *atom = (clv_atom){.count = u->count, .square = square};
    atom->slot = CLV_NEW(atoms->ctx, int32_t, u->count);
    atom->value = CLV_NEW(atoms->ctx, double, u->count);
    clv_status status = atom->slot && atom->value ? place(atoms, u, atom->slot) : CLV_ENOMEM;
    if (status < 0) {
        free_atom(atoms, last);
        return status;
    }
    memcpy(atom->value, u->value, (size_t)u->count * sizeof *atom->value);
    atoms->count++;
    atoms->weight[last] = 0;
    double *mine = atoms->image + last * x->samples;
    if (image) {
        memcpy(mine, image, (size_t)x->samples * sizeof *mine);
    } else {
        x->does->margins(x, u->index, u->value, u->count, mine);
        atoms->work->passes += (double)u->count / (double)x->features;
    }
    if (atoms->problem->loss.kind == CLV_KSUPPORT_SQUARES) {
        multiply_images(atoms, last);
    }
    return atoms->problem->tau > 0 ? multiply_entries(atoms, last) : CLV_OK;
}

/* --- checkpoints --- */

static clv_status pass_atom(clv_atoms *atoms, int64_t a, clv_archive *archive) {
    clv_atom *atom = &atoms->atom[a];
    int64_t count = atom->count;
    clv_pass_count(archive, &count, atoms->sum.count, sizeof *atom->slot + sizeof *atom->value);
    CLV_TRY(archive->status);
    if (archive->loading) {
        *atom = (clv_atom){.count = count};
        atoms->count = a + 1; /* it is freed with the others */
        atom->slot = CLV_NEW(atoms->ctx, int32_t, count);
        atom->value = CLV_NEW(atoms->ctx, double, count);
        CLV_TRY(atom->slot && atom->value ? CLV_OK : CLV_ENOMEM);
    }
    clv_pass_labels(archive, atom->slot, count, 0, atoms->sum.count - 1);
    clv_pass_reals(archive, atom->value, count);
    clv_pass_real(archive, &atom->square);
    clv_pass_int(archive, &atom->idle, 0, INT32_MAX / 2);
    clv_pass_real(archive, &atoms->weight[a]);
    clv_pass_reals(archive, atoms->image + a * atoms->problem->x->samples, atoms->problem->x->samples);
    return archive->status;
}

/* Row a of the tables, which are symmetric, up to its diagonal. */
static void pass_products(clv_atoms *atoms, int64_t a, clv_archive *archive) {
    int64_t stride = atoms->capacity;
    double *const tables[] = {atoms->problem->tau > 0 ? atoms->inner : NULL,
                              atoms->problem->loss.kind == CLV_KSUPPORT_SQUARES ? atoms->gram : NULL};
    for (size_t t = 0; t < CLV_COUNT(tables); t++) {
        if (!tables[t]) {
            continue;
        }
        clv_pass_reals(archive, tables[t] + a * stride, a + 1);
        for (int64_t b = 0; b < a && archive->loading; b++) {
            tables[t][b * stride + a] = tables[t][a * stride + b];
        }
    }
    if (tables[1]) {
        clv_pass_reals(archive, &atoms->target[a], 1);
        clv_pass_reals(archive, &atoms->total[a], 1);
    }
}

/* The weights are those of a hull, but for rounding. */
static bool is_hull(const clv_atoms *atoms) {
    double sum = 0;
    for (int64_t a = 0; a < atoms->count; a++) {
        if (!(atoms->weight[a] >= 0)) {
            return false;
        }
        sum += atoms->weight[a];
    }
    return sum < 1.5;
}

clv_status clv_atoms_pass(clv_atoms *atoms, clv_archive *archive) {
    int64_t count = atoms->count;
    if (archive->loading) {
        clv_atoms fresh = {.ctx = atoms->ctx, .problem = atoms->problem, .work = atoms->work};
        clv_atoms_free(atoms);
        *atoms = fresh;
    }
    clv_pass_count(archive, &count, INT32_MAX / 4, sizeof(double));
    CLV_TRY(clv_list_pass(atoms->ctx, &atoms->sum, atoms->problem->x->features, archive));
    for (int64_t a = 0; a < count; a++) {
        CLV_TRY(archive->loading ? make_room(atoms) : CLV_OK);
        CLV_TRY(pass_atom(atoms, a, archive));
        pass_products(atoms, a, archive);
        CLV_TRY(archive->status);
    }
    return is_hull(atoms) ? CLV_OK : clv_archive_refuse(archive);
}

/* --- combining and dropping --- */

void clv_atoms_combine(clv_atoms *atoms, double *z) {
    int64_t n = atoms->problem->x->samples, slices = (n + SLICE - 1) / SLICE;
    for (int64_t s = 0; s < atoms->sum.count; s++) {
        atoms->sum.value[s] = 0;
    }
#pragma omp parallel for num_threads(clv_team(atoms->problem->loss.threads)) schedule(static) if (slices > 1)
    for (int64_t s = 0; s < slices; s++) {
        int64_t first = s * SLICE, length = n - first < SLICE ? n - first : SLICE;
        memset(z + first, 0, (size_t)length * sizeof *z);
        for (int64_t a = 0; a < atoms->count; a++) {
            if (atoms->weight[a] > 0) {
                cblas_daxpy((int)length, atoms->weight[a], atoms->image + a * n + first, 1, z + first, 1);
            }
        }
    }
    for (int64_t a = 0; a < atoms->count; a++) {
        const clv_atom *atom = &atoms->atom[a];
        double weight = atoms->weight[a];
        if (weight > 0) {
            for (int64_t e = 0; e < atom->count; e++) {
                atoms->sum.value[atom->slot[e]] += weight * atom->value[e];
            }
        }
    }
}

static void move_atom(clv_atoms *atoms, int64_t from, int64_t to) {
    int64_t stride = atoms->capacity, n = atoms->problem->x->samples;
    atoms->atom[to] = atoms->atom[from];
    atoms->weight[to] = atoms->weight[from];
    atoms->target[to] = atoms->target[from];
    atoms->total[to] = atoms->total[from];
    memcpy(atoms->image + to * n, atoms->image + from * n, (size_t)n * sizeof *atoms->image);
    double *const tables[] = {atoms->inner, atoms->gram};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        memcpy(tables[t] + to * stride, tables[t] + from * stride, (size_t)stride * sizeof(double));
        for (int64_t a = 0; a < stride; a++) {
            tables[t][a * stride + to] = tables[t][a * stride + from];
        }
    }
}

/* Slots that no atom uses any more go. The sum is combined anew after that, so only places matter. */
static void shrink_union(clv_atoms *atoms) {
    clv_list *sum = &atoms->sum;
    double *used = sum->value; /* 0 or 1, then the new slot */
    int64_t count = 0;
    for (int64_t s = 0; s < sum->count; s++) {
        used[s] = 0;
    }
    for (int64_t a = 0; a < atoms->count; a++) {
        for (int64_t e = 0; e < atoms->atom[a].count; e++) {
            used[atoms->atom[a].slot[e]] = 1;
        }
    }
    for (int64_t s = 0; s < sum->count; s++) {
        if (used[s] > 0) {
            sum->index[count] = sum->index[s];
            used[s] = (double)count++;
        }
    }
    for (int64_t a = 0; a < atoms->count; a++) {
        for (int64_t e = 0; e < atoms->atom[a].count; e++) {
            atoms->atom[a].slot[e] = (int32_t)used[atoms->atom[a].slot[e]];
        }
    }
    sum->count = count;
}

void clv_atoms_prune(clv_atoms *atoms) {
    int64_t left = 0;
    for (int64_t a = 0; a < atoms->count; a++) {
        clv_atom *atom = &atoms->atom[a];
        atom->idle = atoms->weight[a] > 0 ? 0 : atom->idle + 1;
        if (atom->idle >= PATIENCE) {
            free_atom(atoms, a);
            continue;
        }
        if (left != a) {
            move_atom(atoms, a, left);
        }
        left++;
    }
    if (left < atoms->count) {
        atoms->count = left;
        shrink_union(atoms);
    }
}
