/* Values of a run block and the names that hold them. In: scalars and handles; out: counted
 * references. */
#include "run/value/value.h"

#include <stdlib.h>
#include <string.h>

void kj_run_keep(kj_rvalue v)
{
    if (v.kind >= KJ_R_STRING)
        v.u.object->refs++;
}

void kj_run_free_object(kj_robject *o)
{
    o->prev->next = o->next;
    o->next->prev = o->prev;
    *o->taken -= o->bytes;
    if (o->kind == KJ_R_STRING)
        free(o->u.string.text);
    else if (o->kind == KJ_R_TUPLE || o->kind == KJ_R_LIST)
        free(o->u.seq.items);
    else if (o->kind == KJ_R_ARRAY)
        kjit_array_free(o->u.array);
    else if (o->kind == KJ_R_LAZY)
        free(o->u.lazy);
    else if (o->kind == KJ_R_STREAM)
        kjit_stream_free(o->u.stream);
    else if (o->kind == KJ_R_EVENT)
        kjit_event_free(o->u.event);
    else if (o->kind == KJ_R_SMART)
        kjit_smart_free(o->u.smart);
    free(o);
}

/* What an object holds. */
static int64_t items_of(const kj_robject *o, const kj_rvalue **items)
{
    *items = NULL;
    switch (o->kind) {
    case KJ_R_TUPLE:
    case KJ_R_LIST: *items = o->u.seq.items; return o->u.seq.n;
    case KJ_R_LAZY: *items = o->u.lazy->args; return o->u.lazy->n;
    case KJ_R_SCOPE: *items = &o->u.scope.arrays; return 1;
    default: return 0;
    }
}

/* What an object holds goes with it. Those that nothing refers to any more wait in a list by
 * `next`, out of the ring: lists in lists may be as deep as there is memory. */
static void free_with_items(kj_robject *o)
{
    kj_robject *waiting = o, **end = &waiting->next;
    o->prev->next = o->next;
    o->next->prev = o->prev;
    *end = NULL;
    while ((o = waiting)) {
        const kj_rvalue *items;
        int64_t n = items_of(o, &items);
        for (int64_t i = 0; i < n; i++) {
            kj_rvalue v = items[i];
            if (v.kind < KJ_R_STRING || --v.u.object->refs > 0)
                continue;
            kj_robject *item = v.u.object;
            item->prev->next = item->next;
            item->next->prev = item->prev;
            item->next = NULL;
            *end = item;
            end = &item->next;
        }
        waiting = o->next;
        o->prev = o->next = o; /* a ring of its own, for kj_run_free_object */
        kj_run_free_object(o);
    }
}

void kj_run_drop(kj_rvalue *v)
{
    kj_rvalue was = *v;
    *v = kj_run_none();
    if (was.kind >= KJ_R_STRING && --was.u.object->refs == 0)
        free_with_items(was.u.object);
}

bool kj_run_has_room(kj_run *r, kj_span at, uint64_t bytes)
{
    uint64_t most = r->ctx->limits.most.value_bytes;
    kj_failure why;
    if (bytes <= most && r->value_bytes <= most - bytes)
        return true;
    kjit_status status = kj_beyond(&why, "value_bytes", most, "the run block's values take more");
    return kj_run_fail(r, status, at, "%s", why.text);
}

static void take(kj_run *r, kj_robject *o, size_t bytes)
{
    o->bytes += bytes;
    r->value_bytes += bytes;
}

static kj_robject *new_object(kj_run *r, kj_span at, kj_rkind kind, kj_rvalue *out)
{
    kj_robject *ring = kind == KJ_R_LAZY ? &r->trees : &r->objects;
    kj_robject *o = kj_run_has_room(r, at, sizeof *o) ? calloc(1, sizeof *o) : NULL;
    if (!o) {
        kj_run_no_memory(r, at);
        return NULL;
    }
    o->taken = &r->value_bytes;
    take(r, o, sizeof *o);
    o->kind = kind;
    o->refs = 1;
    o->prev = ring->prev;
    o->next = ring;
    o->prev->next = o;
    ring->prev = o;
    *out = (kj_rvalue){.kind = kind, .u.object = o};
    return o;
}

bool kj_run_string(kj_run *r, kj_span at, const char *text, size_t len, kj_rvalue *out)
{
    char *copy = kj_run_has_room(r, at, len) ? malloc(len + 1) : NULL;
    kj_robject *o = copy ? new_object(r, at, KJ_R_STRING, out) : NULL;
    if (!o) {
        free(copy);
        return kj_run_no_memory(r, at);
    }
    memcpy(copy, text, len);
    copy[len] = 0;
    take(r, o, len + 1);
    o->u.string.text = copy;
    o->u.string.len = len;
    return true;
}

bool kj_run_sequence(kj_run *r, kj_span at, kj_rkind kind, int64_t n, kj_rvalue *out)
{
    bool fits = n <= 0 || kj_run_has_room(r, at, (uint64_t)n * sizeof(kj_rvalue));
    kj_rvalue *items = fits ? calloc(n > 0 ? (size_t)n : 1, sizeof *items) : NULL;
    kj_robject *o = items ? new_object(r, at, kind, out) : NULL;
    if (!o) {
        free(items);
        return kj_run_no_memory(r, at);
    }
    o->u.seq.items = items;
    o->u.seq.n = n;
    o->u.seq.room = n > 0 ? n : 1;
    take(r, o, (size_t)o->u.seq.room * sizeof *items);
    return true;
}

bool kj_run_append(kj_run *r, kj_span at, kj_rvalue list, kj_rvalue item)
{
    kj_robject *o = list.u.object;
    if (o->u.seq.n == o->u.seq.room) {
        int64_t room = 2 * o->u.seq.room;
        size_t more = (size_t)(room - o->u.seq.room) * sizeof(kj_rvalue);
        kj_rvalue *items = kj_run_has_room(r, at, more)
                               ? realloc(o->u.seq.items, (size_t)room * sizeof *items)
                               : NULL;
        if (!items) {
            kj_run_drop(&item);
            return kj_run_no_memory(r, at);
        }
        take(r, o, more);
        o->u.seq.items = items;
        o->u.seq.room = room;
    }
    o->u.seq.items[o->u.seq.n++] = kj_run_widened(item);
    return true;
}

bool kj_run_range(kj_run *r, kj_span at, int64_t start, int64_t stop, int64_t step, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_RANGE, out);
    if (!o)
        return false;
    o->u.range.start = start;
    o->u.range.stop = stop;
    o->u.range.step = step;
    return true;
}

int64_t kj_run_range_count(const kj_robject *o)
{
    uint64_t start = (uint64_t)o->u.range.start, stop = (uint64_t)o->u.range.stop,
             step = (uint64_t)o->u.range.step;
    uint64_t n = 0;
    if (o->u.range.step > 0 && o->u.range.start < o->u.range.stop)
        n = (stop - start - 1) / step + 1;
    else if (o->u.range.step < 0 && o->u.range.start > o->u.range.stop)
        n = (start - stop - 1) / (0 - step) + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

bool kj_run_array(kj_run *r, kj_span at, kjit_array *a, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_ARRAY, out);
    if (!o) {
        kjit_array_free(a);
        return false;
    }
    o->u.array = a;
    return true;
}

bool kj_run_lazy(kj_run *r, kj_span at, const kj_lazy *e, kj_rvalue *out)
{
    kj_lazy *copy = malloc(sizeof *copy);
    kj_robject *o = copy ? new_object(r, at, KJ_R_LAZY, out) : NULL;
    if (!o) {
        for (int i = 0; i < e->n; i++) {
            kj_rvalue v = e->args[i];
            kj_run_drop(&v);
        }
        free(copy);
        return kj_run_no_memory(r, at);
    }
    *copy = *e;
    o->u.lazy = copy;
    return true;
}

bool kj_run_stream(kj_run *r, kj_span at, kjit_stream *s, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_STREAM, out);
    if (!o) {
        kjit_stream_free(s);
        return false;
    }
    o->u.stream = s;
    return true;
}

bool kj_run_event(kj_run *r, kj_span at, kjit_event *e, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_EVENT, out);
    if (!o) {
        kjit_event_free(e);
        return false;
    }
    o->u.event = e;
    return true;
}

bool kj_run_smart(kj_run *r, kj_span at, kjit_smart *s, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_SMART, out);
    if (!o) {
        kjit_smart_free(s);
        return false;
    }
    o->u.smart = s;
    return true;
}

bool kj_run_scope(kj_run *r, kj_span at, kj_rscope kind, kj_rvalue arrays, kj_rvalue *out)
{
    kj_robject *o = new_object(r, at, KJ_R_SCOPE, out);
    if (!o)
        return false;
    o->u.scope.kind = kind;
    o->u.scope.arrays = arrays;
    o->u.scope.kept = NULL;
    return true;
}

/* ---- What a value is ---- */

const char *kj_run_kind_name(kj_rvalue v)
{
    return kj_rkind_name(v.kind);
}

bool kj_run_is_number(kj_rvalue v)
{
    return v.kind == KJ_R_BOOL || v.kind == KJ_R_INT || v.kind == KJ_R_FLOAT;
}

double kj_run_as_float(kj_rvalue v)
{
    if (v.kind == KJ_R_FLOAT || v.kind == KJ_R_COMPLEX)
        return v.u.f;
    return v.kind == KJ_R_INT && v.dtype == KJIT_U64 ? (double)(uint64_t)v.u.i : (double)v.u.i;
}

kj_value kj_run_to_value(kj_rvalue v)
{
    if (v.kind == KJ_R_FLOAT)
        return kj_float(KJ_F64, v.u.f);
    if (v.kind == KJ_R_BOOL)
        return (kj_value){.type = KJ_BOOL, .u = v.u.i != 0};
    return kj_int(v.dtype == KJIT_U64 ? KJ_U64 : KJ_I64, v.u.i);
}

kj_rvalue kj_run_from_value(kj_value v)
{
    if (kj_is_float(v.type))
        return (kj_rvalue){.kind = KJ_R_FLOAT, .dtype = (kjit_dtype)v.type, .u.f = v.f};
    if (v.type == KJ_BOOL)
        return kj_run_bool(v.b);
    return kj_is_signed(v.type) ? kj_run_int(v.i) : kj_run_uint(v.u);
}

bool kj_run_truth(kj_run *r, kj_span at, const char *what, kj_rvalue v, bool *out)
{
    kj_saying say;
    *out = v.kind == KJ_R_BOOL && v.u.i != 0;
    if (v.kind == KJ_R_BOOL)
        return true;
    kj_say_no_bool(&say, what, v.kind, r->source, at);
    return kj_run_say(r, KJIT_TYPE, at, &say);
}

/* ---- Names ---- */

bool kj_run_bind(kj_run *r, kj_span at, const char *name, kj_rvalue value, bool fixed)
{
    if (r->nnames == r->roomnames) {
        int room = r->roomnames ? 2 * r->roomnames : 32;
        kj_rbinding *names = realloc(r->names, (size_t)room * sizeof *names);
        if (!names) {
            kj_run_drop(&value);
            return kj_run_no_memory(r, at);
        }
        r->names = names;
        r->roomnames = room;
    }
    value = fixed ? value : kj_run_widened(value);
    value.literal = false;
    r->names[r->nnames++] = (kj_rbinding){.name = name, .value = value, .fixed = fixed};
    return true;
}

kj_rbinding *kj_run_binding_of(kj_run *r, const char *name)
{
    for (int i = r->nnames - 1; i >= r->frame; i--) {
        if (r->names[i].name == name)
            return &r->names[i];
    }
    return NULL;
}

void kj_run_leave(kj_run *r, int count)
{
    while (r->nnames > count)
        kj_run_drop(&r->names[--r->nnames].value);
}

bool kj_run_is_record(kj_rvalue v)
{
    return v.kind == KJ_R_ARRAY && kj_is_record(v.u.object->u.array->of);
}

bool kj_run_no_records(kj_run *r, kj_span at, kj_rvalue v)
{
    if (!kj_run_is_record(v))
        return true;
    const kj_aggregate *of = v.u.object->u.array->of;
    kj_run_fail(r, KJIT_TYPE, at, "this works on numbers, not on %s", of->name);
    return kj_run_hint(r, "a field of them is an array of its own: .%s", of->fields[0].name);
}
