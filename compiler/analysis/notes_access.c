/* Notes of accesses: which sectors of memory, or banks of shared memory, the threads of a warp touch together. */
#include <stdlib.h>
#include <string.h>

#include "analysis/notes.h"

enum { SECTOR = 32, BANKS = 32, WORD = 4 };

/* An access, of all the parts of a vector that it takes. */
typedef struct kj_touch {
    kj_span span;
    kj_touch_kind kind;
    const kj_tarray *array;
    kj_texpr *const *index;
    kj_lane_value at; /* in bytes, of its first part */
    int64_t size;     /* bytes of all parts together */
    bool combines;    /* of an atomic: those of several threads may be made one */
    bool active[KJ_BLOCK_THREADS];
} kj_touch;

/* What a warp's threads touch. */
typedef struct reach {
    int n; /* threads that come here */
    struct {
        int64_t row, at; /* bytes, and the multiples of a number that nobody knows */
    } of[KJ_WARP_THREADS];
} reach;

/* Of one warp, or of the one that touches most. */
typedef struct touched {
    int threads;
    int64_t sectors, bytes;
    int rows;   /* that lie apart by a number that nobody knows */
    bool same;  /* one address */
    bool steps; /* each thread's lies so many bytes behind that of the one before: */
    int64_t step;
    bool coalesced; /* no sector has bytes that nobody takes, but for the last */
} touched;

/* ---- A warp ---- */

static int in_order(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

static reach reach_of(const kj_touch *t, int first, int last)
{
    reach r = {.n = 0};
    for (int i = first; i < last; i++) {
        if (!t->active[i])
            continue;
        r.of[r.n].row = t->at.by ? t->at.scaled[i] : 0;
        r.of[r.n++].at = kj_lane(&t->at, i);
    }
    return r;
}

/* Sectors and bytes of one row, whose first byte is taken to begin a sector. */
static void count_row(const reach *r, int from, int to, int64_t size, touched *out)
{
    int64_t first = r->of[from].at, sector = -1, byte = 0;
    for (int i = from; i < to; i++) {
        int64_t at = r->of[i].at - first, end = at + size;
        int64_t begin = at > byte ? at : byte;
        out->bytes += end > begin ? end - begin : 0;
        byte = end > byte ? end : byte;
        for (int64_t s = at / SECTOR; s <= (end - 1) / SECTOR; s++) {
            out->sectors += s > sector;
            sector = s > sector ? s : sector;
        }
    }
}

static touched count(reach *r, int64_t size)
{
    touched t = {.threads = r->n, .same = true, .steps = true};
    for (int i = 1; i < r->n; i++) {
        int64_t step = r->of[i].at - r->of[i - 1].at;
        t.same &= step == 0 && r->of[i].row == r->of[i - 1].row;
        t.steps &= (i == 1 || step == t.step) && r->of[i].row == r->of[i - 1].row;
        t.step = i == 1 ? step : t.step;
    }
    qsort(r->of, (size_t)r->n, sizeof *r->of, in_order);
    for (int from = 0, to; from < r->n; from = to, t.rows++) {
        for (to = from; to < r->n && r->of[to].row == r->of[from].row;)
            to++;
        count_row(r, from, to, size, &t);
    }
    t.coalesced = t.sectors <= (t.bytes + SECTOR - 1) / SECTOR;
    return t;
}

/* ---- Banks ---- */

/* The most words of a bank that threads want at once: accesses of 8 bytes are made by halves of a warp, of 16 by quarters. */
static int count_ways(const kj_touch *t, int first, int last)
{
    int64_t words[BANKS * WORD];
    int used[BANKS] = {0}, n = 0, most = 1;
    for (int i = first; i < last; i++) {
        for (int64_t at = kj_lane(&t->at, i), end = at + t->size; t->active[i] && at < end;) {
            int64_t word = (at - (at % WORD + WORD) % WORD) / WORD;
            int bank = (int)((word % BANKS + BANKS) % BANKS), known = 0;
            while (known < n && words[known] != word)
                known++;
            if (known == n && n < BANKS * WORD) {
                words[n++] = word;
                used[bank]++;
                most = used[bank] > most ? used[bank] : most;
            }
            at = (word + 1) * WORD;
        }
    }
    return most;
}

static int most_ways(const kj_lanes *l, const kj_touch *t)
{
    int part = KJ_WARP_THREADS / (t->size <= WORD ? 1 : t->size <= 2 * WORD ? 2 : 4), most = 1;
    for (int i = 0; i < l->n; i += part) {
        int ways = count_ways(t, i, i + part < l->n ? i + part : l->n);
        most = ways > most ? ways : most;
    }
    return most;
}

/* ---- A block ---- */

static touched both(const touched *a, const touched *b)
{
    if (a->threads == 0 || b->threads == 0)
        return a->threads == 0 ? *b : *a;
    touched t = a->sectors >= b->sectors ? *a : *b;
    t.threads = a->threads > b->threads ? a->threads : b->threads;
    t.rows = a->rows > b->rows ? a->rows : b->rows;
    t.same = a->same && b->same;
    t.coalesced = a->coalesced && b->coalesced;
    t.steps = a->steps && b->steps && a->step == b->step;
    return t;
}

static touched of_block(const kj_notes *w, const kj_touch *t)
{
    touched most = {.threads = 0};
    for (int i = 0; i < w->lanes.n; i += KJ_WARP_THREADS) {
        int end = i + KJ_WARP_THREADS < w->lanes.n ? i + KJ_WARP_THREADS : w->lanes.n;
        reach r = reach_of(t, i, end);
        touched one = count(&r, t->size);
        most = both(&most, &one);
    }
    return most;
}

/* ---- What is said ---- */

/* Of elements of several scalars that one instruction loads or stores? */
static bool is_part(const kj_tarray *a)
{
    int64_t size = kj_elem_size(a->root);
    return a->root->of && size <= 16 && (size & (size - 1)) == 0;
}

static const char *const verbs[] = {
    [KJ_TOUCH_LOAD] = "load", [KJ_TOUCH_STORE] = "store", [KJ_TOUCH_ATOMIC] = "atomic"};

/* The number that rows lie apart by, as the source has it. */
static const char *name_of_step(const kj_notes *w, const kj_texpr *by)
{
    by = kj_unconverted(by);
    if (by->kind == KJ_TE_DIM)
        return kj_arena_printf(w->arena, "%s.%s[%d]", by->u.dim.array->name,
                               by->u.dim.stride ? "strides" : "shape", by->u.dim.axis);
    if (by->kind == KJ_TE_VAR && !strpbrk(by->u.var->name, ". "))
        return by->u.var->name;
    return NULL;
}

/* Do neighbours of a warp lie apart by the same multiple of it, and by nothing else? */
static bool is_column(const kj_lanes *l, const kj_touch *t, int64_t *times)
{
    *times = l->n > 1 ? t->at.scaled[1] - t->at.scaled[0] : 0;
    for (int i = 1; i < l->n; i++)
        if (i % KJ_WARP_THREADS &&
            (t->at.scaled[i] - t->at.scaled[i - 1] != *times || t->at.lane[i] != t->at.lane[i - 1]))
            return false;
    return *times != 0;
}

static void say_rows(kj_notes *w, const kj_touch *t, const touched *m, const char *what)
{
    int64_t times, unit = kj_unit(t->array);
    const char *by = name_of_step(w, t->at.by), *many = "";
    bool column = is_column(&w->lanes, t, &times);
    if (!column || times % unit || !by) {
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL,
                    "not coalesced, rows of threads lie apart: up to %lld sectors of 32 bytes a "
                    "warp for %lld bytes",
                    (long long)m->sectors, (long long)m->bytes);
        return;
    }
    if (times != unit)
        many = kj_arena_printf(w->arena, "%lld * ", (long long)(times / unit));
    kj_note_add(w, t->span, KJ_NOTE_MEMORY, what,
                t->array->root->ndim != 2
                    ? NULL
                    : "let threadIdx.x, which the first name of grid(2) counts, "
                      "count along the last axis",
                "not coalesced, neighbours are %s%s elements apart: up to %lld sectors of 32 "
                "bytes a warp for %lld bytes",
                many, by, (long long)m->sectors, (long long)m->bytes);
}

/* Of elements of several scalars some instructions may take more than one: how many bytes is not told. */
static void say_strided(kj_notes *w, const kj_touch *t, const touched *m, const char *what)
{
    const kj_tarray *root = t->array->root;
    const char *how = "its threads' addresses are scattered", *bytes = "", *hint = NULL;
    if (m->steps)
        how =
            kj_arena_printf(w->arena, "neighbours are %lld bytes apart", (long long)llabs(m->step));
    if (!root->of || is_part(root))
        bytes = kj_arena_printf(w->arena, " for %lld bytes", (long long)m->bytes);
    if (m->steps && llabs(m->step) == kj_elem_size(root) && kj_is_record(root->of))
        hint = "an array a field (structure of arrays) lies side by side";
    kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, hint, "%s, %lld sectors of 32 bytes a warp%s",
                how, (long long)m->sectors, bytes);
}

static void say_global(kj_notes *w, const kj_touch *t, const char *what)
{
    touched m = of_block(w, t);
    if (m.threads == 0)
        return;
    if (m.threads == 1 || w->single)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL, "one thread of a warp");
    else if (m.same && t->kind == KJ_TOUCH_STORE)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL,
                    "all threads of a warp write the same element");
    else if (m.same)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL,
                    "the same element for all threads of a warp (broadcast)");
    else if (m.coalesced)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL, "coalesced, %lld bytes a warp",
                    (long long)m.bytes);
    else if (t->at.by)
        say_rows(w, t, &m, what);
    else
        say_strided(w, t, &m, what);
}

/* Would rows that are one element longer be free of conflicts? */
static bool is_mended_by_padding(kj_notes *w, const kj_touch *t)
{
    const kj_tarray *a = t->array;
    kj_tarray longer = *a;
    if (a->ndim != 2 || a->root->ndim != 2 || a->stride[0]->kind != KJ_TE_CONST)
        return false;
    kj_texpr row = *a->stride[0];
    row.u.value.i++;
    longer.stride[0] = &row;
    kj_touch other = *t;
    kj_lane_value at = kj_lane_value_of_place(&w->lanes, &longer, t->index);
    if (!at.known || at.by)
        return false;
    int64_t *bytes = KJ_NEW_ARRAY(w->arena, int64_t, (size_t)w->lanes.n);
    for (int i = 0; i < w->lanes.n; i++)
        bytes[i] = kj_lane(&at, i) * kj_unit(a);
    other.at = (kj_lane_value){.set = true, .known = true, .lane = bytes};
    return most_ways(&w->lanes, &other) == 1;
}

static const char *hint_of_padding(kj_notes *w, const kj_touch *t)
{
    const kj_texpr *row = t->array->stride[0];
    if (!is_mended_by_padding(w, t))
        return NULL;
    return kj_arena_printf(
        w->arena, "rows of %lld elements in place of %lld have none: pad '%s' by one",
        (long long)row->u.value.i + 1, (long long)row->u.value.i, t->array->root->name);
}

/* Where in a bank bytes lie must be known. */
static void say_shared(kj_notes *w, const kj_touch *t, const char *what)
{
    touched m = of_block(w, t);
    if (m.threads == 0 || t->at.by)
        return;
    int ways = most_ways(&w->lanes, t);
    bool words = t->size >= WORD || t->at.multiple % WORD == 0;
    if (m.threads == 1 || w->single)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL, "one thread of a warp");
    else if (m.same)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL,
                    t->kind == KJ_TOUCH_STORE ? "all threads of a warp write the same element"
                                              : "the same element for all threads of a warp "
                                                "(broadcast)");
    else if (words && ways > 1)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, hint_of_padding(w, t), "%d-way bank conflict",
                    ways);
    else if (words)
        kj_note_add(w, t->span, KJ_NOTE_MEMORY, what, NULL, "no bank conflicts");
}

static void say_atomic(kj_notes *w, const kj_touch *t, const char *what)
{
    touched m = of_block(w, t);
    bool several = m.threads > 1 && !w->single;
    if (several && m.same)
        kj_note_add(w, t->span, KJ_NOTE_ATOMIC, what,
                    t->combines
                        ? "combine a warp's values first (std.warp), or a block's (std.block), "
                          "and let one thread update it"
                        : NULL,
                    "one address for all threads of a warp");
    else if (several && !t->at.by && t->array->root->space == KJ_GLOBAL)
        kj_note_add(w, t->span, KJ_NOTE_ATOMIC, what, NULL, "%lld sectors of 32 bytes a warp",
                    (long long)m.sectors);
}

static const char *space_of(const kj_tarray *a)
{
    static const char *const words[] = {[KJ_GLOBAL] = "global",
                                        [KJ_SHARED] = "shared",
                                        [KJ_LOCAL] = "local",
                                        [KJ_CONST] = "constant"};
    return words[a->root->space];
}

const char *kj_note_title(const kj_notes *w, kj_span span, kj_touch_kind kind, const kj_tarray *a)
{
    const char *label = kj_note_label(w, span, a->root->name);
    bool says = kind == KJ_TOUCH_ATOMIC && strncmp(label, "atomic", strlen("atomic")) == 0;
    return kj_arena_printf(w->arena, "%s %s%s%s", space_of(a), says ? "" : verbs[kind],
                           says ? "" : " ", label);
}

static void say(kj_notes *w, const kj_touch *t)
{
    const char *what = kj_note_title(w, t->span, t->kind, t->array);
    if (t->at.edge)
        what = kj_arena_printf(w->arena, "%s (but for warps at the edge)", what);
    kj_space space = t->array->root->space;
    if (t->kind == KJ_TOUCH_ATOMIC)
        say_atomic(w, t, what);
    else if (space == KJ_GLOBAL)
        say_global(w, t, what);
    else if (space == KJ_SHARED)
        say_shared(w, t, what);
}

void kj_note_pending(kj_notes *w)
{
    kj_touch *t = w->pending;
    w->pending = NULL;
    if (t)
        say(w, t);
}

/* ---- What is touched ---- */

static kj_lane_value in_bytes(kj_notes *w, kj_lane_value v, int64_t unit)
{
    int64_t *lane = KJ_NEW_ARRAY(w->arena, int64_t, (size_t)w->lanes.n),
            *rows = KJ_NEW_ARRAY(w->arena, int64_t, (size_t)w->lanes.n);
    for (int i = 0; i < w->lanes.n; i++) {
        lane[i] = kj_lane(&v, i) * unit;
        rows[i] = v.by ? v.scaled[i] * unit : 0;
    }
    return (kj_lane_value){.set = true,
                           .known = true,
                           .lane = lane,
                           .multiple = v.multiple * unit,
                           .by = v.by,
                           .scaled = rows,
                           .edge = v.edge};
}

/* Is it another part of the element that is pending? Then that is taken in. */
static bool takes_in(kj_notes *w, const kj_touch *more)
{
    kj_touch *t = w->pending;
    int64_t by, rows;
    if (!t || !is_part(more->array) || t->kind != more->kind ||
        t->array->root != more->array->root || t->span.begin != more->span.begin ||
        t->span.end != more->span.end || t->at.by != more->at.by ||
        !kj_lanes_are_apart(&w->lanes, more->at.lane, t->at.lane, &by) ||
        !kj_lanes_are_apart(&w->lanes, more->at.scaled, t->at.scaled, &rows) || rows != 0)
        return false;
    int64_t end = t->size > by + more->size ? t->size : by + more->size;
    if (by < 0) {
        t->at = more->at;
        end -= by;
    }
    t->size = end;
    return end <= kj_elem_size(t->array->root);
}

static void say_data(kj_notes *w, kj_span span, kj_touch_kind kind, const kj_tarray *a)
{
    const char *what = kj_note_title(w, span, kind, a);
    kj_note_kind of = kind == KJ_TOUCH_ATOMIC ? KJ_NOTE_ATOMIC : KJ_NOTE_MEMORY;
    if (w->single)
        kj_note_add(w, span, of, what, NULL, "one thread of a warp");
    else if (a->root->space == KJ_GLOBAL)
        kj_note_add(w, span, of, what, NULL, "%s by data, up to 32 sectors of 32 bytes a warp",
                    kind == KJ_TOUCH_LOAD ? "gathered" : "scattered");
    else if (kind == KJ_TOUCH_ATOMIC)
        kj_note_add(w, span, of, what, NULL, "addresses by data, threads of the same one in turn");
    else
        kj_note_add(w, span, of, what, NULL, "addresses by data, and so are bank conflicts");
}

/* Of atomic.add and the like, and not of exchanges. */
bool kj_note_combines(kj_builtin id)
{
    return id == KJ_BI_ATOMIC_ADD || id == KJ_BI_ATOMIC_SUB || id == KJ_BI_ATOMIC_MIN ||
           id == KJ_BI_ATOMIC_MAX || id == KJ_BI_ATOMIC_AND || id == KJ_BI_ATOMIC_OR ||
           id == KJ_BI_ATOMIC_XOR;
}

void kj_note_access(kj_notes *w, kj_span span, kj_touch_kind kind, const kj_tarray *a,
                    kj_texpr *const *index)
{
    kj_space space = a->root->space;
    if (!w->has_lanes || (space != KJ_GLOBAL && space != KJ_SHARED))
        return;
    int64_t size = kj_types[a->elem].size;
    kj_lane_value at = kj_lane_value_of_place(&w->lanes, a, index);
    if (!at.known) {
        kj_note_pending(w);
        if (at.data)
            say_data(w, span, kind, a);
        return;
    }
    kj_touch *t = KJ_NEW(w->arena, kj_touch);
    *t = (kj_touch){.span = span,
                    .kind = kind,
                    .array = a,
                    .index = index,
                    .at = in_bytes(w, at, kj_unit(a)),
                    .size = size,
                    .combines = w->combines};
    memcpy(t->active, w->active, sizeof t->active);
    if (takes_in(w, t))
        return;
    kj_note_pending(w);
    w->pending = t;
    if (!is_part(a))
        kj_note_pending(w);
}
