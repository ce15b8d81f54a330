/* The records that a context knows. In: records as sema lays them out; out: one of each, with the
 * number that is its type. The list only grows, at its head, so that readers need no lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "lang/types.h"

typedef struct entry {
    struct entry *next;
    kj_aggregate record;
} entry;

struct kj_records {
    _Atomic(entry *) last;
    pthread_mutex_t lock; /* of adding */
};

kj_records *kj_records_new(void)
{
    kj_records *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    atomic_init(&r->last, NULL);
    pthread_mutex_init(&r->lock, NULL);
    return r;
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
    for (entry *e = atomic_load(&r->last), *next; e; e = next) {
        next = e->next;
        free_aggregate(&e->record);
        free(e);
    }
    pthread_mutex_destroy(&r->lock);
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

const kj_aggregate *kj_records_add(kj_records *r, const kj_aggregate *made)
{
    pthread_mutex_lock(&r->lock);
    entry *last = atomic_load(&r->last), *e = last;
    while (e && !equal(&e->record, made))
        e = e->next;
    int number = last ? (int)last->record.type + 1 : (int)KJ_FIRST_RECORD;
    if (!e && number <= KJ_LAST_RECORD && (e = calloc(1, sizeof *e))) {
        if (copy_aggregate(made, &e->record)) {
            e->record.type = (kj_dtype)number;
            e->next = last;
            atomic_store(&r->last, e);
        } else {
            free_aggregate(&e->record);
            free(e);
            e = NULL;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return e ? &e->record : NULL;
}

const kj_aggregate *kj_aggregate_in(kj_records *r, kj_dtype t)
{
    if (t < KJ_FIRST_RECORD)
        return kj_aggregate_of(t);
    for (const entry *e = r ? atomic_load(&r->last) : NULL; e; e = e->next)
        if (e->record.type == t)
            return &e->record;
    return NULL;
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
    if (records && !same_fields(c, f->of, g->of))
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
