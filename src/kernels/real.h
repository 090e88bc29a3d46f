/* All kernels for numbers of one type. The includer defines REAL, INTEGER of the same size, REALS and MASK, vectors of
 * them, PLACES, the numbers of their lanes from one on, SUM_LANES, TOP_LANE and BITS of one, NAME(x), LOAD(x), a
 * vector of doubles from numbers at x, HUGE_KEY, LARGEST and MOST_INVERSE (of alpha), which end here. */

#define LANES NAME(LANES)
#define LINE NAME(LINE)
enum { LANES = VECTOR / sizeof(REAL), LINE = CLV_LINE / sizeof(REAL) };

/* x where the mask is set, else y. */
#define PICK(when, x, y) CHOOSE(REALS, MASK, when, x, y)

#include "kernels/columns.h"
#include "kernels/design.h"
#include "kernels/keys.h"
#include "kernels/lists.h"
#include "kernels/nearest.h"
#include "kernels/projection.h"
#include "kernels/sums.h"

#undef PICK
#undef LANES
#undef LINE
#undef REAL
#undef INTEGER
#undef REALS
#undef MASK
#undef PLACES
#undef SUM_LANES
#undef TOP_LANE
#undef BITS
#undef NAME
#undef LOAD
#undef HUGE_KEY
#undef LARGEST
#undef MOST_INVERSE
