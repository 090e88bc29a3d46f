/* The first program: normalized cut of the points in a file, with its certificate.
 *
 *     cc examples/first.c $(pkg-config --cflags --libs cleave) -o first && ./first
 *
 * It reads data/iris.csv, so it is run from the root of the repository. The lines between the braces are those of the
 * opening comment of cleave.h; tests/install builds and runs this file against an installed copy. */
#include <cleave.h>

#include <stdio.h>

int main(void) {
    clv_context *ctx;
    clv_data *data;
    clv_affinity *a;
    clv_result *r;
    clv_affinity_options how;
    clv_ncut_options cut;
    if (clv_context_new(NULL, &ctx))
        return 1;
    clv_affinity_defaults(&how);
    clv_ncut_defaults(&cut);
    cut.k = 3;
    if (clv_read(ctx, "data/iris.csv", NULL, &data) || clv_affinity_build(ctx, clv_data_matrix(data), &how, &a) ||
        clv_ncut(ctx, &(clv_input){.affinity = a}, &cut, &r)) {
        puts(clv_message(ctx));
        return 1;
    }
    printf("ncut %g, certificate %g\n", r->objective.value, r->certificate.value);

    clv_result_free(r);
    clv_affinity_free(a);
    clv_data_free(data);
    clv_context_free(ctx);
    return 0;
}
