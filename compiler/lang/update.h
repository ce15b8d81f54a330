/* How an element that is changed by what it was would be changed by an atomic: for hints. */
#ifndef KJ_LANG_UPDATE_H
#define KJ_LANG_UPDATE_H

#include "base/diag.h"
#include "lang/types.h"

/* "atomic.add(h, x[i], 1)" of the statement `h[x[i]] += 1`, or `h[x[i]] = h[x[i]] + 1`, that begins with the element
 * there, of such a type, and where the statement is; NULL: no atomic does that, or the text is not that plain. */
const char *kj_as_atomic(kj_arena *arena, const kj_source *source, kj_span element, kj_dtype type,
                         kj_span *whole);

#endif
