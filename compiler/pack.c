/* Values as bytes: numbers, texts, types. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "identity.h"

const char *kj_pack_identity(void)
{
    return KJ_IDENTITY;
}

void kj_code_free(kj_code *code)
{
    free(code->bytes);
    code->bytes = NULL;
}

void kj_pack_bytes(kj_pack *p, void *value, size_t size)
{
    if (!kj_pack_reads(p)) {
        kj_text_add(p->out, value, size);
    } else if ((size_t)(p->end - p->at) < size) {
        memset(value, 0, size);
        p->failed = true;
    } else {
        memcpy(value, p->at, size);
        p->at += size;
    }
}

void kj_pack_text(kj_pack *p, const char **text)
{
    uint32_t size = !kj_pack_reads(p) && *text ? (uint32_t)strlen(*text) + 1 : 0;
    KJ_PACK(p, size);
    if (!kj_pack_reads(p)) {
        kj_text_add(p->out, *text ? *text : "", size);
        return;
    }
    p->failed |= size > (size_t)(p->end - p->at);
    char *copy = size && !p->failed ? KJ_NEW_ARRAY(p->arena, char, size + (size_t)1) : NULL;
    if (copy)
        kj_pack_bytes(p, copy, size);
    *text = copy;
}

void *kj_pack_room(kj_pack *p, const void *from, int n, size_t size)
{
    if (!kj_pack_reads(p))
        return (void *)from;
    p->failed |= n < 0 || (size_t)n > (size_t)(p->end - p->at);
    return KJ_NEW_ARRAY(p->arena, char, p->failed ? size : ((size_t)n + 1) * size);
}

/* ---- Types ---- */

static void pack_field(kj_pack *p, kj_field *f)
{
    kj_pack_text(p, &f->name);
    f->of = kj_pack_aggregate(p, f->of);
    KJ_PACK(p, f->type);
    KJ_PACK(p, f->offset);
    if (kj_pack_reads(p) && kj_is_record(f->of))
        f->type = f->of->type;
}

static const kj_aggregate *pack_made(kj_pack *p, const kj_aggregate *of)
{
    kj_aggregate made = of ? *of : (kj_aggregate){0};
    KJ_PACK(p, made.kind);
    kj_pack_text(p, &made.name);
    KJ_PACK(p, made.size);
    KJ_PACK(p, made.align);
    KJ_PACK(p, made.least);
    KJ_PACK(p, made.elem);
    KJ_PACK(p, made.packed);
    KJ_PACK(p, made.tuple);
    KJ_PACK(p, made.ndim);
    KJ_PACK(p, made.shape);
    KJ_PACK(p, made.n);
    kj_field *fields = kj_pack_room(p, made.fields, made.n, sizeof *fields);
    made.fields = fields;
    for (int i = 0; i < made.n && !p->failed; i++) {
        kj_field field = fields[i];
        pack_field(p, &field);
        if (kj_pack_reads(p))
            fields[i] = field;
    }
    if (!kj_pack_reads(p))
        return of;
    made.type = KJ_VOID;
    kj_aggregate *copy = KJ_NEW(p->arena, kj_aggregate);
    *copy = made;
    const kj_aggregate *known =
        p->failed || made.kind != KJ_RECORD ? copy : kj_records_add(p->records, copy);
    p->failed |= !known;
    return known ? known : copy;
}

const kj_aggregate *kj_pack_aggregate(kj_pack *p, const kj_aggregate *of)
{
    enum { NONE, NUMBERED, MADE };
    uint8_t is = !of ? NONE : of->kind == KJ_VECTOR || of->kind == KJ_COMPLEX ? NUMBERED : MADE;
    KJ_PACK(p, is);
    if (is == MADE)
        return pack_made(p, of);
    kj_dtype type = of ? of->type : KJ_VOID;
    if (is == NUMBERED)
        KJ_PACK(p, type);
    return is == NUMBERED ? kj_aggregate_of(type) : NULL;
}

void kj_pack_type(kj_pack *p, kj_dtype *type)
{
    bool writes = !kj_pack_reads(p);
    const kj_aggregate *of =
        writes && *type >= KJ_FIRST_RECORD ? kj_aggregate_in(p->records, *type) : NULL;
    of = kj_pack_aggregate(p, of);
    KJ_PACK(p, *type);
    if (!writes && of)
        *type = of->type;
}
