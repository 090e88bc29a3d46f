/* A plugin of this version: a head and one function. */
#include "base/base.h"

typedef struct good {
    clv_plugin_head head;
    int (*twice)(int);
} good;

static int twice(int x) {
    return 2 * x;
}

__attribute__((visibility("default"))) const clv_plugin_head *clv_plugin_good(void);
const clv_plugin_head *clv_plugin_good(void) {
    static const good table = {{1, CLV_VERSION}, twice};
    return &table.head;
}
