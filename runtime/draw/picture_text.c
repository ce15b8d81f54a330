/* A picture as lines of characters: two pixels in each where colours can be said, else shades of grey. */
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"

/* Sums of a part of the picture, from 0 to 255 a channel; what is transparent is black. */
typedef struct colour {
    double red, green, blue;
} colour;

static double part(const kj_pixels *p, int64_t pixel, int channel)
{
    int64_t i = pixel * p->channels + channel;
    if (p->depth == 8)
        return ((const unsigned char *)p->data)[i];
    uint16_t v;
    memcpy(&v, (const char *)p->data + 2 * i, sizeof v);
    return v / 257.0;
}

static void add_pixel(const kj_pixels *p, int64_t pixel, colour *sum)
{
    bool grey = p->channels < 3, transparent = p->channels % 2 == 0;
    double share = transparent ? part(p, pixel, p->channels - 1) / 255 : 1;
    sum->red += share * part(p, pixel, 0);
    sum->green += share * part(p, pixel, grey ? 0 : 1);
    sum->blue += share * part(p, pixel, grey ? 0 : 2);
}

/* A picture of so many rows and columns of its parts, each the mean of the pixels there. */
typedef struct raster {
    int64_t rows, columns;
    colour *cells;
} raster;

static colour mean(const kj_pixels *p, const raster *r, int64_t row, int64_t column)
{
    int64_t top = row * p->height / r->rows, bottom = (row + 1) * p->height / r->rows;
    int64_t left = column * p->width / r->columns, right = (column + 1) * p->width / r->columns;
    colour sum = {0};
    bottom += bottom == top;
    right += right == left;
    for (int64_t i = top; i < bottom; i++)
        for (int64_t j = left; j < right; j++)
            add_pixel(p, i * p->width + j, &sum);
    double n = (double)(bottom - top) * (double)(right - left);
    return (colour){sum.red / n, sum.green / n, sum.blue / n};
}

static bool make_raster(const kj_pixels *p, raster *r)
{
    r->cells = malloc((size_t)r->rows * (size_t)r->columns * sizeof *r->cells);
    for (int64_t i = 0; r->cells && i < r->rows * r->columns; i++)
        r->cells[i] = mean(p, r, i / r->columns, i % r->columns);
    return r->cells != NULL;
}

static int whole(double v)
{
    return (int)(v + 0.5);
}

static void put_colour(kj_text *t, int where, colour c)
{
    kj_text_printf(t, "\x1b[%d;2;%d;%d;%dm", where, whole(c.red), whole(c.green), whole(c.blue));
}

/* Two rows in one: the upper half of a character has its colour, what is behind it the lower one's. */
static void put_halves(const raster *r, kj_text *t)
{
    enum { FRONT = 38, BEHIND = 48 };
    for (int64_t row = 0; row < r->rows; row += 2) {
        for (int64_t i = 0; i < r->columns; i++) {
            put_colour(t, FRONT, r->cells[row * r->columns + i]);
            if (row + 1 < r->rows)
                put_colour(t, BEHIND, r->cells[(row + 1) * r->columns + i]);
            kj_text_puts(t, "▀");
        }
        kj_text_puts(t, "\x1b[0m\n");
    }
}

static void put_shades(const raster *r, int wide, kj_text *t)
{
    static const char shades[] = " .:-=+*#%@";
    enum { N = sizeof shades - 1 };
    for (int64_t row = 0; row < r->rows; row++) {
        for (int64_t i = 0; i < r->columns; i++) {
            const colour *c = &r->cells[row * r->columns + i];
            int shade = (int)((0.2126 * c->red + 0.7152 * c->green + 0.0722 * c->blue) * N / 256);
            for (int k = 0; k < wide; k++)
                kj_text_add(t, &shades[shade < N ? shade : N - 1], 1);
        }
        kj_end_line(t);
    }
}

static int64_t at_least_one(double v)
{
    return v < 1 ? 1 : (int64_t)(v + 0.5);
}

/* A character is twice as high as wide. Small pictures are as they are, others not wider than the line, and not much
 * higher than that is wide. */
void kj_pixels_text(const kj_pixels *p, int columns, bool colours, kj_text *t)
{
    double width = (double)p->width, height = (double)p->height;
    bool doubled = !colours && 2 * p->width <= columns && p->height <= columns;
    double by = width > columns ? columns / width : 1;
    if (height * by > 2.0 * columns)
        by = 2 * columns / height;
    raster r = {.columns = at_least_one(width * by),
                .rows = at_least_one(colours || doubled ? height * by : height * by / 2)};
    if (!make_raster(p, &r)) {
        t->failed = true;
        return;
    }
    if (colours)
        put_halves(&r, t);
    else
        put_shades(&r, doubled ? 2 : 1, t);
    free(r.cells);
}
