/* A plugin of another version. */
#include "base/base.h"

__attribute__((visibility("default"))) const clv_plugin_head *clv_plugin_stale(void);
const clv_plugin_head *clv_plugin_stale(void) {
    static const clv_plugin_head head = {1, "0.0.1"};
    return &head;
}
