/* A chart as lines of characters: the drawing between the axes, and what stands around it. */
#ifndef KJ_SHEET_H
#define KJ_SHEET_H

#include "draw/draw.h"

typedef struct kj_cell {
    char glyph[5]; /* empty: a blank */
    unsigned char curve;
} kj_cell;

/* Rows count from the bottom. The axis' low end is in the middle of the lowest row, its high end in that of the
 * highest: the numbers beside the rows are exact. */
typedef struct kj_sheet {
    const kj_chart *chart;
    int rows, width, margin;
    int line;       /* the row that is the line of 0, or of the low end; -1: the drawing has none */
    kj_cell *cells; /* [rows * width] */
} kj_sheet;

/* ---- bars_text.c ---- */

bool kj_sheet_bars(kj_sheet *s);                      /* s->line too; false: no memory */
int kj_sheet_column(const kj_sheet *s, double place); /* of a place along x */

#endif
