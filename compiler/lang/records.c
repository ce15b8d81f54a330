/* The records that a context knows. In: records as sema lays them out; out: one of each, with the
 * number that is its type. None ever goes, and the tables of numbers stay where they are, so that readers
 * need no lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/hash.h"
#include "lang/types.h"

enum { PAGE = 1024, PAGES = (KJ_LAST_RECORD - KJ_FIRST_RECORD) / PAGE + 1 };

typedef struct entry {
    uint64_t hash;
    kj_aggregate record;
} entry;

typedef struct page {
    _Atomic(entry *) entries[PAGE];
} page;

struct kj_records {
    _Atomic(page *) pages[PAGES]; /* by number */
    pthread_mutex_t lock;         /* of adding, and of what is below */
    int n;
    entry **slots; /* by hash: open addressing, at least half of them free */
    size_t cap;    /* 0, or a power of two */
};

kj_records *kj_records_new(void)
{
    kj_records *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    for (int i = 0; i < PAGES; i++)
        atomic_init(&r->pages[i], NULL);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

/* The one with number `at` from the first; NULL: there is none. */
static entry *entry_at(kj_records *r, int at)
{
    page *p = atomic_load_explicit(&r->pages[at / PAGE], memory_order_acquire);
    return p ? atomic_load_explicit(&p->entries[at % PAGE], memory_order_acquire) : NULL;
}

/* ---- Copies: whoever made the original keeps nothing alive ---- */

static void free_aggregate(const kj_aggregate *of)
{
    for (int i = 0; of->fields && i < of->n; i++) {
        const kj_aggregate *part = of->fields[i].of;
        free((char *)(uintptr_t)of->fields[i].name);
        if (kj_is_fixed(part)) {
            free_aggregate(part);
            free((void *)(uintptr_t)part);
        }
    }
    free((void *)(uintptr_t)of->fields);
    free((char *)(uintptr_t)of->name);
}

/* False when there is no memory; *to can then be freed. */
static bool copy_aggregate(const kj_aggregate *from, kj_aggregate *to)
{
    kj_field *fields = calloc((size_t)from->n, sizeof *fields);
    *to = *from;
    to->fields = fields;
    to->name = strdup(from->name);
    bool ok = fields && to->name;
    for (int i = 0; ok && i < from->n; i++) {
        fields[i] = from->fields[i];
        fields[i].name = NULL;
        if (kj_is_fixed(fields[i].of))
            fields[i].of = NULL;
    }
    for (int i = 0; ok && i < from->n; i++) {
        const kj_field *field = &from->fields[i];
        if (field->name && !(fields[i].name = strdup(field->name)))
            ok = false;
        if (!kj_is_fixed(field->of))
            continue;
        kj_aggregate *fixed = calloc(1, sizeof *fixed);
        fields[i].of = fixed;
        ok = ok && fixed && copy_aggregate(field->of, fixed);
    }
    return ok;
}

void kj_records_free(kj_records *r)
{
    if (!r)
        return;
    for (int i = r->n - 1; i >= 0;
         i--) { /* a record's parts are asked what they are: they came before it */
        entry *e = entry_at(r, i);
        free_aggregate(&e->record);
        free(e);
    }
    for (int i = 0; i < PAGES; i++)
        free(atomic_load(&r->pages[i]));
    pthread_mutex_destroy(&r->lock);
    free(r->slots);
    free(r);
}

/* ---- Adding, finding ---- */

static bool equal(const kj_aggregate *a, const kj_aggregate *b)
{
    if (strcmp(a->name, b->name) != 0 || a->n != b->n || a->size != b->size || a->align != b->align)
        return false;
    for (int i = 0; i < a->n; i++) {
        const kj_field *f = &a->fields[i], *g = &b->fields[i];
        if (strcmp(f->name, g->name) != 0 || f->type != g->type || f->offset != g->offset ||
            !kj_same_aggregate(f->of, g->of))
            return false;
    }
    return true;
}

static uint64_t hash_of(const kj_aggregate *a)
{
    uint64_t hash = kj_hash_word(kj_hash(a->name, strlen(a->name)), (uint64_t)a->n);
    for (int i = 0; i < a->n; i++)
        hash = kj_hash_word(hash, (uint64_t)a->fields[i].type);
    return hash;
}

/* Where it is, or can be put. */
static size_t slot_of(entry *const *slots, size_t cap, uint64_t hash, const kj_aggregate *made)
{
    size_t i = hash & (cap - 1);
    while (slots[i] && (slots[i]->hash != hash || !equal(&slots[i]->record, made)))
        i = (i + 1) & (cap - 1);
    return i;
}

/* Room for one more; false: there is no memory. */
static bool grow(kj_records *r)
{
    if (2 * ((size_t)r->n + 1) <= r->cap)
        return true;
    size_t cap = r->cap ? 2 * r->cap : 16;
    entry **slots = calloc(cap, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < r->cap; i++)
        if (r->slots[i])
            slots[slot_of(slots, cap, r->slots[i]->hash, &r->slots[i]->record)] = r->slots[i];
    free(r->slots);
    r->slots = slots;
    r->cap = cap;
    return true;
}

static page *page_of(kj_records *r, int at)
{
    page *p = atomic_load(&r->pages[at / PAGE]);
    if (p || !(p = calloc(1, sizeof *p)))
        return p;
    for (int i = 0; i < PAGE; i++)
        atomic_init(&p->entries[i], NULL);
    atomic_store_explicit(&r->pages[at / PAGE], p, memory_order_release);
    return p;
}

/* A new one, which all can find; NULL: there is no memory, or no number. */
static entry *add(kj_records *r, const kj_aggregate *made, uint64_t hash)
{
    page *p = r->n <= KJ_LAST_RECORD - KJ_FIRST_RECORD ? page_of(r, r->n) : NULL;
    entry *e = p ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return NULL;
    e->hash = hash;
    if (!copy_aggregate(made, &e->record)) {
        free_aggregate(&e->record);
        free(e);
        return NULL;
    }
    e->record.type = (kj_dtype)(KJ_FIRST_RECORD + r->n);
    atomic_store_explicit(&p->entries[r->n % PAGE], e, memory_order_release);
    r->n++;
    return e;
}

const kj_aggregate *kj_records_add(kj_records *r, const kj_aggregate *made)
{
    uint64_t hash = hash_of(made);
    entry *e = NULL;
    pthread_mutex_lock(&r->lock);
    if (grow(r)) {
        entry **at = &r->slots[slot_of(r->slots, r->cap, hash, made)];
        if (!*at)
            *at = add(r, made, hash);
        e = *at;
    }
    pthread_mutex_unlock(&r->lock);
    return e ? &e->record : NULL;
}

bool kj_records_full(kj_records *r)
{
    pthread_mutex_lock(&r->lock);
    bool full = r->n > KJ_LAST_RECORD - KJ_FIRST_RECORD;
    pthread_mutex_unlock(&r->lock);
    return full;
}

const kj_aggregate *kj_aggregate_in(kj_records *r, kj_dtype t)
{
    if (t < KJ_FIRST_RECORD)
        return kj_aggregate_of(t);
    entry *e = r && t <= KJ_LAST_RECORD ? entry_at(r, (int)t - KJ_FIRST_RECORD) : NULL;
    return e ? &e->record : NULL;
}

const char *kj_type_name_in(kj_records *r, kj_dtype t)
{
    const kj_aggregate *of = kj_aggregate_in(r, t);
    return of ? of->name : kj_type_name(t);
}

/* ---- Layouts ---- */

/* Two records, and the way to the fields that are compared. */
typedef struct comparison {
    const char *a, *b;
    bool by_place; /* a tuple's parts have no names */
    char path[128];
    char *why;
} comparison;

static const char *type_text(const kj_field *f)
{
    return f->of ? f->of->name : kj_type_name(f->type);
}

static bool same_fields(comparison *c, const kj_aggregate *a, const kj_aggregate *b);

/* Elements of arrays, which follow one another. */
static bool same_size(const kj_aggregate *a, const kj_aggregate *b, char *why)
{
    if (a->size != b->size)
        kj_snprintf(why, KJ_DIFFERENCE_TEXT, "%.40s has %lld bytes and %.40s %lld", a->name,
                    (long long)a->size, b->name, (long long)b->size);
    return a->size == b->size;
}

static bool same_field(comparison *c, const kj_field *f, const kj_field *g)
{
    size_t len = strlen(c->path);
    const char *dot = len ? "." : "";
    if (!c->by_place && strcmp(f->name, g->name) != 0) {
        kj_snprintf(c->why, KJ_DIFFERENCE_TEXT,
                    "field '%s%s%.40s' of %.40s stands where %.40s has '%.40s'", c->path, dot,
                    f->name, c->a, c->b, g->name);
        return false;
    }
    kj_snprintf(c->path + len, sizeof c->path - len, "%s%.40s", dot, f->name);
    const kj_aggregate *x = f->of, *y = g->of;
    bool same = kj_is_fixed(x) && kj_is_fixed(y)
                    ? x->ndim == y->ndim &&
                          memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) == 0
                    : kj_is_fixed(x) == kj_is_fixed(y);
    if (same && kj_is_fixed(x)) {
        f = &x->fields[0];
        g = &y->fields[0];
    }
    bool records = kj_is_record(f->of) && kj_is_record(g->of);
    if (!same || (f->type != g->type && !records)) {
        kj_snprintf(c->why, KJ_DIFFERENCE_TEXT, "field '%s' is %.40s in %.40s and %.40s in %.40s",
                    c->path, type_text(f), c->a, type_text(g), c->b);
        return false;
    }
    bool elements = kj_is_fixed(x);
    if (records &&
        (!same_fields(c, f->of, g->of) || (elements && !same_size(f->of, g->of, c->why))))
        return false;
    c->path[len] = '\0';
    return true;
}

static bool same_fields(comparison *c, const kj_aggregate *a, const kj_aggregate *b)
{
    for (int i = 0; i < a->n && i < b->n; i++) {
        if (!same_field(c, &a->fields[i], &b->fields[i]))
            return false;
        if (a->fields[i].offset == b->fields[i].offset)
            continue;
        kj_snprintf(c->why, KJ_DIFFERENCE_TEXT,
                    "field '%.80s' begins at byte %lld in %.40s and at %lld in %.40s",
                    a->fields[i].name, (long long)a->fields[i].offset, c->a,
                    (long long)b->fields[i].offset, c->b);
        return false;
    }
    if (a->n == b->n)
        return true;
    const kj_aggregate *longer = a->n > b->n ? a : b;
    kj_snprintf(c->why, KJ_DIFFERENCE_TEXT, "%.40s has no field '%.80s'", a->n > b->n ? c->b : c->a,
                longer->fields[a->n > b->n ? b->n : a->n].name);
    return false;
}

bool kj_same_layout(const kj_aggregate *a, const kj_aggregate *b, char why[KJ_DIFFERENCE_TEXT])
{
    char unread[KJ_DIFFERENCE_TEXT];
    if (a == b)
        return true;
    comparison c = {
        .a = a->name, .b = b->name, .by_place = a->tuple || b->tuple, .why = why ? why : unread};
    return same_fields(&c, a, b);
}

bool kj_same_elements(const kj_aggregate *a, const kj_aggregate *b, char why[KJ_DIFFERENCE_TEXT])
{
    return kj_same_layout(a, b, why) && same_size(a, b, why);
}
