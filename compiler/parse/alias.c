/* Names that a file gives to types. In: the tree; out: the same with the types that those stand for, where
 * types are written. What stands in expressions, Cell(x) and zeros(n, Cell), sema resolves. */
#include <string.h>

#include "parse/parse.h"

typedef struct walk {
    kj_arena *arena;
    kj_diag *diag;
    const kj_file *file;
    const kj_item *item;   /* whose types are expanded */
    const kj_item **slots; /* the aliases, a hash table on interned names */
    size_t cap;
    void (*expand_name)(const struct walk *w, kj_type_ref *ref);
} walk;

static size_t slot_of(const walk *w, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u) & (w->cap - 1);
    while (w->slots[i] && w->slots[i]->name != name)
        i = (i + 1) & (w->cap - 1);
    return i;
}

static const kj_item *alias_named(const walk *w, const char *name)
{
    for (const kj_generic *g = w->item->generics; g; g = g->next)
        if (g->name == name)
            return NULL;
    return w->slots[slot_of(w, name)];
}

/* False where the file has none. */
static bool note_aliases(walk *w)
{
    size_t n = 0;
    for (const kj_item *item = w->file->items; item; item = item->next)
        n += item->kind == KJ_I_TYPE;
    for (w->cap = 16; w->cap < 2 * n;)
        w->cap *= 2;
    w->slots = KJ_NEW_ARRAY(w->arena, const kj_item *, w->cap);
    for (const kj_item *item = w->file->items; item; item = item->next)
        if (item->kind == KJ_I_TYPE)
            w->slots[slot_of(w, item->name)] = item;
    return n > 0;
}

/* Reports A -> B -> A, and names that stand for too many others. */
static void check_chain(const walk *w, const kj_item *first)
{
    enum { MOST = 64 };
    const char *chain = first->name;
    const kj_item *item = first;
    for (int i = 0; i < MOST; i++) {
        item = item->type->name ? alias_named(w, item->type->name) : NULL;
        if (!item)
            return;
        chain = kj_arena_printf(w->arena, "%s -> %s", chain, item->name);
        if (item == first) {
            kj_error(w->diag, first->name_span, KJ_RULE_RECURSION,
                     "a type cannot stand for itself: %s", chain);
            return;
        }
    }
    kj_error(w->diag, first->name_span, KJ_RULE_TOO_DEEP,
             "'%s' stands for a name that stands for a name, more than %d times", first->name,
             MOST);
}

/* The type that a name stands for takes its place: an element type may get axes there. */
static void replace(const walk *w, kj_type_ref *ref, const kj_item *alias, const kj_type_ref *of)
{
    if (ref->ndim > 0 && (!of->name || of->ndim > 0)) {
        kj_message *m = kj_error(w->diag, ref->span, KJ_RULE_NOT_A_TYPE,
                                 "'%s' is %s, which no array has for elements", ref->name,
                                 of->name ? "an array" : "a tuple");
        kj_note(w->diag, m, alias->name_span, "declared here");
        return;
    }
    ref->name = of->name;
    ref->name_span = of->name_span;
    ref->space = of->space;
    ref->member = of->member;
    if (ref->ndim == 0) {
        ref->ndim = of->ndim;
        ref->extents = of->extents;
        ref->file = of->file;
    }
    ref->parts = of->parts;
}

static void expand_name(const walk *w, kj_type_ref *ref)
{
    const kj_item *alias = ref->name ? alias_named(w, ref->name) : NULL;
    while (alias && w->diag->errors == 0) {
        replace(w, ref, alias, alias->type);
        alias = ref->name ? alias_named(w, ref->name) : NULL;
    }
}

static void expand(const walk *w, kj_type_ref *ref)
{
    if (!ref)
        return;
    for (kj_type_ref *part = ref->parts; part; part = part->next) {
        const char *name = part->name;
        w->expand_name(w, part);
        if (name && !part->name && w->diag->errors == 0)
            kj_error(w->diag, part->span, KJ_RULE_NOT_A_TYPE,
                     "'%s' is a tuple, which no tuple has for a part", name);
    }
    w->expand_name(w, ref);
}

static void expand_statements(const walk *w, const kj_stmt *st)
{
    const kj_stmt *blocks[2];
    for (; st; st = st->next) {
        if (st->kind == KJ_S_LET || st->kind == KJ_S_PARAM)
            expand(w, st->u.let.type);
        kj_blocks_of(st, blocks);
        expand_statements(w, blocks[0]);
        expand_statements(w, blocks[1]);
    }
}

static void expand_items(walk *w)
{
    for (const kj_item *item = w->file->items; item && w->diag->errors == 0; item = item->next) {
        w->item = item;
        if (item->kind == KJ_I_TYPE) /* first: others take its parts */
            expand(w, item->type);
    }
    for (const kj_item *item = w->file->items; item && w->diag->errors == 0; item = item->next) {
        w->item = item;
        expand(w, item->type);
        for (const kj_param_decl *p = item->params; p; p = p->next)
            expand(w, p->type);
        expand_statements(w, item->body);
    }
}

void kj_expand_aliases(kj_arena *arena, kj_diag *diag, kj_file *file)
{
    walk w = {.arena = arena, .diag = diag, .file = file, .expand_name = expand_name};
    if (diag->errors || !note_aliases(&w))
        return;
    for (const kj_item *item = file->items; item && diag->errors == 0; item = item->next) {
        w.item = item;
        if (item->kind == KJ_I_TYPE)
            check_chain(&w, item);
    }
    expand_items(&w);
}

/* ---- Of files that are used ---- */

static const kj_item *item_of(const kj_file *file, const char *name)
{
    const kj_item *item = file ? file->items : NULL;
    while (item && (!item->name || item->kind == KJ_I_USE || strcmp(item->name, name) != 0))
        item = item->next;
    return item;
}

/* The file that the namespace is of; NULL: none, or there were errors. */
static const kj_file *file_named(const walk *w, const char *space)
{
    for (const kj_item *item = w->file->items; item && item->kind == KJ_I_USE; item = item->next)
        if (strcmp(item->name, space) == 0)
            return item->used;
    return NULL;
}

/* A type of the file, without parts, as it is written where the file is `space`; false where it cannot
 * be: it is of a file that this one does not know. */
static bool seen_from(const walk *w, const kj_file *file, const char *space, kj_type_ref *type)
{
    if (type->name && type->space)
        return false;
    if (!type->file)
        type->file = file;
    if (type->name && item_of(file, type->name)) {
        type->space = space;
        type->member = type->name;
        type->name = kj_arena_printf(w->arena, "%s.%s", space, type->member);
    }
    return true;
}

static void expand_dotted(const walk *w, kj_type_ref *ref)
{
    const char *space = ref->space;
    const kj_file *file = ref->name && space ? file_named(w, space) : NULL;
    const kj_item *alias = file ? item_of(file, ref->member) : NULL;
    if (!alias || alias->kind != KJ_I_TYPE || alias->enumerates)
        return;
    kj_type_ref of = *alias->type;
    kj_type_ref **end = &of.parts;
    for (const kj_type_ref *part = alias->type->parts; part; part = part->next) {
        *end = KJ_NEW(w->arena, kj_type_ref);
        **end = *part;
        if (!seen_from(w, file, space, *end))
            return;
        end = &(*end)->next;
    }
    if (seen_from(w, file, space, &of))
        replace(w, ref, alias, &of);
}

void kj_expand_aliases_of_files(kj_arena *arena, kj_diag *diag, kj_file *file)
{
    walk w = {.arena = arena, .diag = diag, .file = file, .expand_name = expand_dotted};
    if (diag->errors == 0)
        expand_items(&w);
}
