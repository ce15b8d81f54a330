/* Tables as text: rows of cells. What a separator, a header, a comment and a number are. */
#ifndef KJ_CELLS_H
#define KJ_CELLS_H

#include "io/file.h"

typedef struct kj_cell {
    const char *text; /* without blanks around it; of a quoted one without its quotes */
    size_t n;
    bool last;         /* of its row */
    bool quoted;       /* a quote within is written twice */
    const char *wrong; /* with its quotes; or NULL */
} kj_cell;

typedef struct kj_cells {
    const char *at, *end; /* a NUL is behind */
    char separator;       /* ' ': any blanks */
    bool inside;          /* `at` is in a row, behind its first cell */
    int64_t line;         /* of the cell that was read last, from 1 */
    int64_t ended;        /* lines before `at` */
} kj_cells;

/* At the beginning of a text; separator 0: the one of `,`, `;` and tabs that its first row has most of. */
kj_cells kj_cells_of(const char *text, size_t size, char separator);
/* False at the end, behind the last row. */
bool kj_cells_next(kj_cells *c, kj_cell *out);

/* What a cell holds, of a type, or as it stands where that is KJ_VOID: i64, u64, f64 or bool. False where it is no such
 * number: of hexadecimal digits an f64 is one only where it is asked for. A cell without a value is NaN. */
bool kj_cell_number(const kj_cell *cell, kj_dtype type, kj_value *out);
/* From byte i of its text to the next that it holds. */
size_t kj_cell_step(const kj_cell *cell, size_t i);
bool kj_cell_is(const kj_cell *cell, const char *name);

#endif
