/* What is noted of a launch's memory: cells, a page of them for each page of memory that was accessed. They are kept
 * from launch to launch: what an earlier one left has older ticks. */
#include "device/cpu/watch.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 1 << KJ_WATCH_PAGE_BITS, FIRST_PAGES = 256 };
#define MOST_KEPT ((size_t)256 << 20) /* bytes */

bool kj_watch_lost(watch *w, const void *memory)
{
    w->lost |= memory == NULL;
    return w->lost;
}

static bool grow_pages(watch *w)
{
    size_t room = w->room ? 2 * w->room : FIRST_PAGES;
    page **all = calloc(room, sizeof *all);
    if (kj_watch_lost(w, all))
        return false;
    for (size_t i = 0; i < w->room; i++) {
        if (!w->pages[i])
            continue;
        size_t at = kj_hash_of(w->pages[i]->key) % room;
        while (all[at])
            at = (at + 1) % room;
        all[at] = w->pages[i];
    }
    free(w->pages);
    w->pages = all;
    w->room = room;
    return true;
}

static page *add_page(watch *w, uintptr_t key, int bits)
{
    if (w->npages * 2 >= w->room && !grow_pages(w))
        return NULL;
    page *p = malloc(sizeof *p);
    if (kj_watch_lost(w, p))
        return NULL;
    *p = (page){.key = key, .cells = calloc((size_t)PAGE >> bits, sizeof(cell)), .bits = bits};
    if (kj_watch_lost(w, p->cells)) {
        free(p);
        return NULL;
    }
    size_t at = kj_hash_of(key) % w->room;
    while (w->pages[at])
        at = (at + 1) % w->room;
    w->npages++;
    w->bytes += (sizeof(cell) << KJ_WATCH_PAGE_BITS) >> bits;
    return w->pages[at] = p;
}

aside *kj_watch_aside(watch *w, cell *c)
{
    if (c->aside)
        return &w->asides[c->aside - 1];
    if (w->nasides == w->asides_room) {
        size_t room = w->asides_room ? 2 * w->asides_room : FIRST_PAGES;
        aside *all = realloc(w->asides, room * sizeof *all);
        if (kj_watch_lost(w, all))
            return NULL;
        w->asides = all;
        w->asides_room = room;
    }
    w->asides[w->nasides] = (aside){.value = 0};
    c->aside = (uint32_t)++w->nasides;
    return &w->asides[c->aside - 1];
}

/* What is kept aside for a cell that is a copy of another is its own from then on. */
static bool part_aside(watch *w, cell *c)
{
    const aside shared = w->asides[c->aside - 1];
    c->aside = 0;
    aside *own = kj_watch_aside(w, c);
    if (own)
        *own = shared;
    return own != NULL;
}

/* Cells of scalars of 1 << bits bytes, where they were of larger ones. */
static bool refine(watch *w, page *p, int bits)
{
    size_t n = (size_t)PAGE >> bits;
    cell *cells = calloc(n, sizeof *cells);
    if (kj_watch_lost(w, cells))
        return false;
    bool parted = true;
    for (size_t i = 0; i < n; i++) {
        cells[i] = p->cells[i >> (p->bits - bits)];
        if (cells[i].aside && i % ((size_t)1 << (p->bits - bits)) != 0)
            parted = part_aside(w, &cells[i]) && parted;
    }
    free(p->cells);
    w->bytes += n * sizeof *cells - (n >> (p->bits - bits)) * sizeof *cells;
    p->cells = cells;
    p->bits = bits;
    p->began = 0;
    return parted;
}

page *kj_watch_page(watch *w, uint32_t site, uintptr_t address, int bits)
{
    uintptr_t key = address >> KJ_WATCH_PAGE_BITS;
    page *p = w->near[site];
    if (!p || p->key != key) {
        size_t at = w->room ? kj_hash_of(key) % w->room : 0;
        while (w->room && w->pages[at] && w->pages[at]->key != key)
            at = (at + 1) % w->room;
        p = w->room && w->pages[at] ? w->pages[at] : add_page(w, key, bits);
        if (!p)
            return NULL;
        w->near[site] = p;
    }
    return p->bits <= bits || refine(w, p, bits) ? p : NULL;
}

bool kj_watch_is_large(const watch *w)
{
    return w->bytes + w->asides_room * sizeof *w->asides + w->releases_room * sizeof *w->releases +
               w->latest_room * sizeof *w->latest >
           MOST_KEPT;
}

void kj_watch_forget(watch *w)
{
    for (size_t i = 0; i < w->room; i++) {
        if (w->pages[i])
            free(w->pages[i]->cells);
        free(w->pages[i]);
    }
    free(w->pages);
    free(w->asides);
    free(w->releases);
    free(w->latest);
    w->pages = NULL;
    w->asides = NULL;
    w->releases = NULL;
    w->latest = NULL;
    w->npages = w->room = w->bytes = w->nasides = w->asides_room = 0;
    w->nreleases = w->releases_room = w->latest_room = w->forgotten = 0;
    memset(w->near, 0, (size_t)w->nsites * sizeof(page *));
}
