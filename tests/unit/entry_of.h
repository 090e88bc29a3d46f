/* An entry of an affinity that must not fail. */
#ifndef CLV_TEST_ENTRY_OF_H
#define CLV_TEST_ENTRY_OF_H

#include "cleave.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static inline double entry_of(const clv_affinity *a, int64_t i, int64_t j) {
    double entry;
    assert_int_equal(clv_affinity_entry(a, i, j, &entry), CLV_OK);
    return entry;
}

#endif
