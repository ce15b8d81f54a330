/* Names of a body that are unused or shadowed: a hash table on interned pointers, the innermost of
 * each name in its slot. When a block closes its names are asked whether they were read. */
#include "warn/body.h"

#include <string.h>

/* ---- The table ---- */

static size_t slot_of(kj_named_value *const *slots, size_t cap, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u) & (cap - 1);
    while (slots[i] && slots[i]->name != name)
        i = (i + 1) & (cap - 1);
    return i;
}

/* A name whose last binding is closed keeps its slot, with that binding: `before` tells no more. */
static void grow(kj_body *b)
{
    size_t cap = b->cap ? 2 * b->cap : 16;
    kj_named_value **slots = KJ_NEW_ARRAY(b->arena, kj_named_value *, cap);
    for (size_t i = 0; i < b->cap; i++)
        if (b->slots[i])
            slots[slot_of(slots, cap, b->slots[i]->name)] = b->slots[i];
    b->slots = slots;
    b->cap = cap;
}

kj_named_value *kj_warn_find(const kj_body *b, const char *name)
{
    kj_named_value *found = b->cap ? b->slots[slot_of(b->slots, b->cap, name)] : NULL;
    return found && !found->closed ? found : NULL;
}

/* ---- Declared ---- */

static void warn_of_shadow(kj_body *b, const kj_named_value *outer, const kj_named_value *inner)
{
    if (!outer || outer->kind != KJ_B_VAR || inner->kind > KJ_B_VAR ||
        strcmp(inner->name, "_") == 0)
        return;
    kj_message *m =
        kj_warn(b->diag, inner->span, KJ_RULE_SHADOWED,
                "this '%s' is another than the one outside, which stays as it is", inner->name);
    kj_hint(b->diag, m, "to assign, write %s = ...; else give it a name of its own", inner->name);
    kj_note(b->diag, m, outer->span, "declared here");
}

kj_named_value *kj_warn_declare(kj_body *b, const char *name, kj_span span, kj_named_kind kind)
{
    if (4 * (b->count + 1) > 3 * b->cap)
        grow(b);
    size_t at = slot_of(b->slots, b->cap, name);
    kj_named_value *outer = kj_warn_find(b, name), *made = KJ_NEW(b->arena, kj_named_value);
    *made = (kj_named_value){
        .outer = outer, .before = b->last, .name = name, .span = span, .kind = kind, .least = -1};
    b->count += !b->slots[at];
    b->slots[at] = made;
    b->last = made;
    warn_of_shadow(b, outer, made);
    return made;
}

/* for z in range(3), behind which z is read: Python's has the loop's last. */
void kj_warn_of_looped(kj_body *b, kj_named_value *v)
{
    if (v->kind == KJ_B_VAR && v->looped.end > v->looped.begin) {
        kj_message *m =
            kj_warn(b->diag, v->looped, KJ_RULE_SHADOWED,
                    "this '%s' is the loop's own: the one outside stays as it is", v->name);
        kj_hint(b->diag, m, "assign it in the loop, from a loop variable of another name");
        kj_note(b->diag, m, v->span, "declared here");
        v->looped.end = v->looped.begin;
    }
}

/* ---- Closed ---- */

/* The type of a kernel's parameter that is a number. */
static const kj_type_ref *number_of(const kj_body *b, const kj_named_value *v)
{
    const kj_param_decl *p = b->item->kind == KJ_I_KERNEL ? b->item->params : NULL;
    while (p && p->name != v->name)
        p = p->next;
    bool number =
        p && p->type && !p->type->ndim && p->type->name && kj_type_named(p->type->name) != KJ_VOID;
    return number ? p->type : NULL;
}

static void warn_of_unread(const kj_body *b, const kj_named_value *v)
{
    if (v->read || v->name[0] == '_' || v->kind == KJ_B_OTHER)
        return;
    if (v->shares && v->changed)
        return; /* who has the array sees it */
    bool parameter = v->kind == KJ_B_PARAM;
    kj_message *m =
        kj_warn(b->diag, v->span, parameter ? KJ_RULE_UNUSED_PARAMETER : KJ_RULE_UNUSED_VARIABLE,
                v->assigned ? "'%s' is assigned, and never read"
                : parameter ? "parameter '%s' is never used"
                            : "'%s' is never used",
                v->name);
    const kj_type_ref *number = parameter && v->assigned ? number_of(b, v) : NULL;
    if (number)
        kj_hint(
            b->diag, m,
            "a number is the thread's own: what the caller is to have goes to an array, %s: %s[], "
            "and an element %s[i], or atomic.add(%s, 0, ...)",
            v->name, number->name, v->name, v->name);
    else
        kj_hint(b->diag, m, "remove it, or let its name begin with '_'");
}

static void warn_of_below(const kj_body *b, const kj_named_value *v)
{
    if (!v->below || v->guarded)
        return;
    const char *first = v->axes ? "thread" : "turn";
    kj_message *m = kj_warn(b->diag, v->below->span, KJ_RULE_INDEX_BELOW_ZERO,
                            "this index is below 0 in the first %s", first);
    kj_hint(b->diag, m, "guard it, as in: if %s > 0 { ... }", v->name);
    kj_note(b->diag, m, v->span, "'%s' counts from %lld", v->name, (long long)v->least);
}

/* Those declared since, the first one first: messages are kept in the order in which they come. */
static kj_named_value *in_order(kj_named_value *last, const kj_named_value *until)
{
    kj_named_value *first = NULL;
    while (last != until) {
        kj_named_value *before = last->before;
        last->before = first;
        first = last;
        last = before;
    }
    return first;
}

void kj_warn_close(kj_body *b, kj_named_value *until)
{
    for (kj_named_value *v = in_order(b->last, until); v; v = v->before) {
        warn_of_unread(b, v);
        warn_of_below(b, v);
        v->closed = true;
        if (v->outer)
            b->slots[slot_of(b->slots, b->cap, v->name)] = v->outer;
    }
    b->last = until;
}

/* ---- Items ---- */

const kj_item *kj_warn_item(const kj_file *file, const char *name, kj_item_kind kind)
{
    const kj_item *item = kj_item_called(file, name, strlen(name));
    return item && item->kind == kind ? item : NULL;
}
