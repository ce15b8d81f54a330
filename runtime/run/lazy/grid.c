/* Threads of expressions' kernels. In: the axes of a domain and their extents; out: the blocks of a
 * launch, and the text by which a thread finds its position i0, i1, ... */
#include "run/lazy/lazy.h"

#include <stdio.h>
#include <string.h>

void kj_lazy_extents(kj_lazy_kernel *k)
{
    const kj_domain *s = &k->domain;
    for (int axis = 0; axis < s->ndim; axis++) {
        int array = 0, at = 0;
        while (array < s->narrays - 1 && !s->arrays[array].has[axis])
            array++;
        for (int before = 0; before < axis; before++)
            at += s->arrays[array].has[before];
        kj_text_printf(&k->body, "let n%d = a%d.shape[%d]\n", axis, array, at);
    }
}

/* Positions along the last two axes are threads', the others blocks'. A block's number says which
 * of the rows of blocks along the axes it is of, so that no extent is too large for a grid. */
void kj_lazy_positions(kj_text *t, const char *axes)
{
    int last = (int)strlen(axes) - 1;
    if (last == 0) {
        kj_text_printf(t, "let i%c = grid(1)\n", axes[0]);
        return;
    }
    char x = axes[last], y = axes[last - 1];
    kj_text_printf(t,
                   "let across = ceil_div(n%c, blockDim.x)\n"
                   "let i%c = blockIdx.x %% across * blockDim.x + threadIdx.x\n"
                   "let down = ceil_div(n%c, blockDim.y)\n"
                   "let b%c = blockIdx.x // across\n"
                   "let i%c = b%c %% down * blockDim.y + threadIdx.y\n",
                   x, x, y, y, y, y);
    for (int i = last - 2; i >= 0; i--) {
        kj_text_printf(t, "let b%c = b%c // ", axes[i], axes[i + 1]);
        if (i == last - 2)
            kj_text_puts(t, "down\n");
        else
            kj_text_printf(t, "n%c\n", axes[i + 1]);
        kj_text_printf(t, "let i%c = b%c %% n%c\n", axes[i], axes[i], axes[i]);
    }
}

void kj_lazy_inside(kj_text *t, const char *axes)
{
    int last = (int)strlen(axes) - 1;
    kj_text_printf(t, "if i%c < n%c", axes[last], axes[last]);
    if (last > 0)
        kj_text_printf(t, " and i%c < n%c", axes[last - 1], axes[last - 1]);
    kj_text_puts(t, " {\n");
}

void kj_lazy_indices(kj_text *t, const char *axes, const char *number)
{
    int last = (int)strlen(axes) - 1;
    if (last == 0)
        kj_text_printf(t, "let i%c = %s\n", axes[0], number);
    for (int i = last; last > 0 && i >= 0; i--) {
        if (i < last)
            kj_text_printf(t, "let q%c = %s%c // n%c\n", axes[i], i == last - 1 ? number : "q",
                           i == last - 1 ? ' ' : axes[i + 1], axes[i + 1]);
        kj_text_printf(t, "let i%c = %s%c", axes[i], i == last ? number : "q",
                       i == last ? ' ' : axes[i]);
        kj_text_printf(t, i > 0 ? " %% n%c\n" : "\n", axes[i]);
    }
}

void kj_lazy_number(kj_text *t, const char *axes, const char *name)
{
    kj_text_printf(t, "let %s = ", name);
    for (size_t i = 1; i < strlen(axes); i++)
        kj_text_puts(t, "(");
    kj_text_printf(t, "i%c", axes[0]);
    for (int i = 1; axes[i]; i++)
        kj_text_printf(t, ") * n%c + i%c", axes[i], axes[i]);
    kj_text_puts(t, "\n");
}

/* Blocks are as wide as the last axis needs, and so high that they have 256 threads. */
void kj_lazy_blocks(int n, const int64_t *extents, int64_t grid[3], int64_t block[3])
{
    enum { THREADS = 256, NARROWEST = 4 };
    int64_t across = extents[n - 1];
    block[0] = THREADS;
    while (n > 1 && block[0] > NARROWEST && block[0] / 2 >= across)
        block[0] /= 2;
    block[1] = THREADS / block[0];
    block[2] = 1;
    grid[0] = across / block[0] + (across % block[0] != 0);
    grid[1] = grid[2] = 1;
    if (n > 1)
        grid[0] *= extents[n - 2] / block[1] + (extents[n - 2] % block[1] != 0);
    for (int i = 0; i < n - 2; i++)
        grid[0] *= extents[i];
}

void kj_lazy_chunk_axes(const char *kept, int64_t chunks, char axes[KJ_DOMAIN_AXES + 2])
{
    int last = (int)strlen(kept) - 1;
    kj_snprintf(axes, KJ_DOMAIN_AXES + 2, "%.*s%s%c", last, kept, chunks > 1 ? "c" : "",
                kept[last]);
}

void kj_lazy_chunk_blocks(const kj_domain *d, const char *kept, int64_t chunks, int threads,
                          int64_t grid[3], int64_t block[3])
{
    char axes[KJ_DOMAIN_AXES + 2];
    int64_t extents[KJ_DOMAIN_AXES + 1];
    if (threads == 0) {
        kj_lazy_chunk_axes(kept, chunks, axes);
        for (int i = 0; axes[i]; i++)
            extents[i] = axes[i] == 'c' ? chunks : d->shape[axes[i] - '0'];
        kj_lazy_blocks((int)strlen(axes), extents, grid, block);
        return;
    }
    block[0] = threads;
    grid[0] = chunks;
    grid[1] = grid[2] = block[1] = block[2] = 1;
    for (int i = 0; kept[i]; i++)
        grid[0] *= d->shape[kept[i] - '0'];
}
