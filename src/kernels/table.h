/* The kernels on numbers that are stored as REAL, float or double; sums are in double. Members of a struct: kernels.h
 * includes this once per type. */
/* --- columns.h: y += x; y -= x; y += (a + b) + (c + d); y += w x; four weighted rows one after the other:
 * the same bits as four calls for one --- */
void (*accumulate)(double *y, const REAL *x, int64_t n);
void (*deduct)(double *y, const REAL *x, int64_t n);
void (*accumulate_four)(double *y, const REAL *a, const REAL *b, const REAL *c, const REAL *d, int64_t n);
void (*add_weighted)(double *y, double w, const REAL *x, int64_t n);
void (*add_weighted_four)(double *y, const double w[4], const REAL *const x[4], int64_t n);
/* r += wa a (+ wb b); the first place of the largest entry of the new r. */
int64_t (*pass_one)(double *r, const REAL *a, double wa, int64_t n);
int64_t (*pass_two)(double *r, const REAL *a, double wa, const REAL *b, double wb, int64_t n);
/* --- design.h: rows x of X, n long. list[j] (or first + j) is row j. --- */
/* out[j] = x.r, and square[j] = x.x */
void (*dot_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n, const double *r,
                 double *out);
void (*dot_square_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n, const double *r,
                        double *out, double *square);
/* sum += r0 x0 + r1 x1 + r2 x2 + r3 x3; the same of the squares of the x with an r other than 0 */
void (*add_four)(double *sum, const REAL *const x[4], const double r[4], int64_t n);
void (*add_square_four)(double *sum, const REAL *const x[4], const double r[4], int64_t n);
/* --- keys.h: rows of points against centers, feature by feature in `lines`, each `width` long. --- */
/* Rows are written by blocks: `keys` has room for `count` rounded up to CLV_TILE_ROWS.
 * keys[r * width + l] = offset[l] + sum over f of values[rows[r] * p + f] lines[f * width + l] */
void (*keys)(const REAL *values, int64_t p, const int64_t *rows, int64_t count, const REAL *lines, const REAL *offset,
             int64_t width, REAL *keys);
/* The same for row r with one line of centers of its own, number at[r]. */
void (*near_keys)(const REAL *values, int64_t p, const int64_t *rows, const int32_t *at, int64_t count,
                  const REAL *lines, const REAL *offset, REAL *keys);
void (*scan)(const REAL *keys, int64_t rows, int64_t width, clv_nearest *out);
double (*least_other)(const REAL *key, int64_t width, int64_t but); /* the least of a row but for one; none: huge */
/* --- nearest.h: keys and scan at once, of the same numbers, for p up to CLV_MOST_TURNED. --- */
void (*nearest)(const REAL *values, int64_t p, const int64_t *rows, int64_t count, const REAL *lines,
                const REAL *offset, int64_t width, int64_t k, clv_nearest *out);
/* --- projection.h: w <- P(w - d / alpha), P onto the simplex. `work` has CLV_PROJECTED_AT_ONCE rows. --- */
void (*project)(const REAL *d, REAL *w, REAL *work, int64_t rows, int32_t k, int32_t width, double alpha, bool steep,
                clv_projection *out);
/* w <- max(w - d / alpha - shift, 0) */
void (*shift)(const REAL *d, REAL *w, int64_t rows, int64_t width, double inverse_alpha, const float *shift);
/* --- lists.h --- */
/* The nonzeros of a row of weights, how many. */
int64_t (*collect)(const REAL *weight, int64_t width, int32_t *index, REAL *out);
/* project for rows of d whose w are lists, each with its alpha: the nonzeros of list r, in its order, from place r *
 * CLV_FEW of index and out on. A support of 0 says that other places of the row get weight, too: all that is said of it
 * is worth nothing. */
void (*project_few)(const REAL *d, int64_t width, const clv_short_list *list, int64_t rows, const double *alpha,
                    int32_t *index, REAL *out, clv_projection *found);
/* sums[index[e] * stride + f] += weight[e] times x[f] for f < p, and + p: weight[e] times */
void (*add_listed)(double *sums, int64_t stride, const REAL *x, int64_t p, const clv_short_list *list, double times);
/* --- sums.h: sums[l * stride + f] += sum over r of weight[r * width + l] a[r * pitch + f] --- */
void (*spread)(const REAL *weight, int64_t width, const REAL *a, int64_t pitch, int64_t rows, int64_t k, int64_t p,
               double *sums, int64_t stride);
/* mass[l * stride] += the weights of center l; `line` has room for a row. */
void (*add_mass)(const REAL *weight, int64_t width, int64_t rows, int64_t k, REAL *line, double *mass, int64_t stride);
/* weight <- sample weight / distance (NULL: 1) */
void (*scale)(REAL *weight, const REAL *distance, int64_t width, double sample);
double (*row_distance)(const REAL *x, const double *c, int64_t p); /* |x - c|^2 */
/* Of rows to a center each, number at[r]. */
void (*row_distances)(const REAL *values, int64_t p, const int64_t *rows, const int32_t *at, int64_t count,
                      const double *centers, double *out);
