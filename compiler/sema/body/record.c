/* Records: their fields resolved, and laid out as C does; and values of them made. */
#include <string.h>

#include "sema/body/body.h"

/* A record being laid out, in those that need it. */
struct kj_record_frame {
    struct kj_record_frame *up;
    const kj_symbol *sym;
};

/* ---- Fields ---- */

static int64_t rounded_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static bool too_large(kj_sema *s, kj_span at)
{
    kj_sema_error(s, at, KJ_RULE_RECORD_SIZE, "a record has at most %d bytes and %d scalars",
                  KJ_MAX_RECORD_BYTES, KJ_MAX_RECORD_PARTS);
    return false;
}

static bool extents_of(kj_sema *s, const kj_type_ref *ref, kj_aggregate *fixed)
{
    int64_t count = 1;
    for (const kj_expr *e = ref->extents; e; e = e->next) {
        int64_t extent;
        if (!kj_extent_of(s, ref, e, &extent))
            return false;
        if (extent > KJ_MAX_RECORD_PARTS || (count *= extent) > KJ_MAX_RECORD_PARTS)
            return too_large(s, ref->span);
        fixed->shape[fixed->ndim++] = extent;
    }
    fixed->n = (int)count;
    return true;
}

static int64_t size_of(const kj_field *f)
{
    return f->of ? f->of->size : kj_types[f->type].size;
}

static int align_of(const kj_field *f)
{
    return f->of ? f->of->align : kj_types[f->type].size;
}

static int least_of(const kj_field *f)
{
    return f->of ? f->of->least : kj_types[f->type].size;
}

/* f32[3, 3] of f32: the elements one behind the other. */
static bool make_fixed(kj_sema *s, const kj_type_ref *ref, kj_field *field)
{
    kj_aggregate *fixed = KJ_NEW(s->arena, kj_aggregate);
    *fixed = (kj_aggregate){.kind = KJ_ARRAY_FIELD,
                            .type = KJ_VOID,
                            .align = align_of(field),
                            .least = least_of(field),
                            .elem = field->type};
    if (!extents_of(s, ref, fixed))
        return false;
    fixed->size = fixed->n * size_of(field);
    if (fixed->size > KJ_MAX_RECORD_BYTES)
        return too_large(s, ref->span);
    fixed->name = kj_sema_type_name(s, field->type);
    for (int i = 0; i < fixed->ndim; i++)
        fixed->name = kj_arena_printf(s->arena, "%s%s%lld", fixed->name, i ? ", " : "[",
                                      (long long)fixed->shape[i]);
    fixed->name = kj_arena_printf(s->arena, "%s]", fixed->name);
    kj_field *items = KJ_NEW_ARRAY(s->arena, kj_field, (size_t)fixed->n);
    for (int i = 0; i < fixed->n; i++)
        items[i] = (kj_field){.type = field->type, .of = field->of, .offset = i * size_of(field)};
    fixed->fields = items;
    field->of = fixed;
    field->type = KJ_VOID;
    return true;
}

static bool field_type(kj_sema *s, const kj_type_ref *ref, kj_field *field)
{
    if (!ref)
        return false;
    if (!ref->name || (ref->ndim && !ref->extents) || ref->ndim > KJ_MAX_NDIM) {
        kj_message *m =
            kj_sema_error(s, ref->span, KJ_RULE_FIELD_TYPE,
                          "a field is a scalar, a vector, a record or a fixed array of these");
        kj_hint(s->diag, m, "a fixed array says its extents: %s[3]", ref->name ? ref->name : "f32");
        return false;
    }
    kj_type_ref one = *ref;
    one.ndim = 0;
    one.extents = NULL;
    kj_type t = kj_resolve_type(s, &one);
    if (t.kind == KJ_T_ERROR)
        return false;
    field->type = t.dtype;
    field->of = t.of;
    return !ref->ndim || make_fixed(s, ref, field);
}

static bool is_repeated(kj_sema *s, const kj_item *item, const kj_param_decl *p)
{
    for (const kj_param_decl *before = item->params; before != p; before = before->next) {
        if (before->name != p->name)
            continue;
        kj_message *m = kj_sema_error(s, p->span, KJ_RULE_REDECLARED, "'%s' has two fields '%s'",
                                      item->name, p->name);
        kj_note(s->diag, m, before->span, "declared here");
        return true;
    }
    return false;
}

/* ---- Layout ---- */

static kj_aggregate new_record(const char *name, const kj_field *fields)
{
    kj_aggregate of = {.kind = KJ_RECORD, .name = name, .align = 1, .fields = fields};
    of.elem = KJ_VOID;
    of.least = 8;
    return of;
}

/* Puts the next field, which is there already, behind those before it; false where there is no room. */
static bool place_field(kj_sema *s, kj_aggregate *of, kj_field *f, kj_span at)
{
    int align = of->packed ? 1 : align_of(f), least = of->packed ? 1 : least_of(f);
    f->offset = rounded_up(of->size, align);
    of->size = f->offset + size_of(f);
    of->align = align > of->align ? align : of->align;
    of->least = least < of->least ? least : of->least;
    of->n++;
    return (of->size <= KJ_MAX_RECORD_BYTES && kj_count_parts(of) <= KJ_MAX_RECORD_PARTS) ||
           too_large(s, at);
}

/* Among those that are known. */
static const kj_aggregate *keep(kj_sema *s, kj_aggregate *of, kj_span at)
{
    of->size = rounded_up(of->size, of->align);
    const kj_aggregate *kept = kj_records_add(s->program->records, of);
    if (!kept && !kj_records_full(s->program->records))
        kj_arena_exhausted(s->arena);
    if (!kept)
        kj_sema_error(s, at, KJ_RULE_TOO_MANY, "there is no room for the record '%s'", of->name);
    return kept;
}

static bool is_packed(kj_sema *s, const kj_item *item)
{
    bool packed = false;
    for (const kj_attr *attr = item->attrs; attr; attr = attr->next) {
        bool known = strcmp(attr->name, "packed") == 0;
        packed |= known;
        if (known && attr->args)
            kj_sema_error(s, attr->args->span, KJ_RULE_ATTRIBUTE, "@packed takes no arguments");
        if (known)
            continue;
        kj_message *m = kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                                      "'@%s' is no attribute of a record", attr->name);
        kj_hint(s->diag, m, "a record takes @packed");
    }
    return packed;
}

/* The record that an item declares; NULL after an error. */
static const kj_aggregate *lay_out(kj_sema *s, const kj_item *item)
{
    int n = 0;
    bool ok = true;
    for (const kj_param_decl *p = item->params; p; p = p->next)
        n++;
    kj_field *fields = KJ_NEW_ARRAY(s->arena, kj_field, (size_t)n + 1);
    kj_aggregate of = new_record(item->name, fields);
    of.packed = is_packed(s, item);
    for (const kj_param_decl *p = item->params; p; p = p->next) {
        kj_field *f = &fields[of.n];
        if (is_repeated(s, item, p) || !field_type(s, p->type, f)) {
            ok = false;
            continue;
        }
        f->name = p->name;
        if (!place_field(s, &of, f, item->name_span))
            return NULL;
    }
    if (ok && n == 0)
        kj_sema_error(s, item->name_span, KJ_RULE_NO_FIELDS, "'%s' has no fields", item->name);
    if (!ok || n == 0)
        return NULL;
    return keep(s, &of, item->name_span);
}

/* ---- Tuples that launches give ---- */

static const kj_aggregate *no_tuple(kj_sema *s, const kj_type *part, kj_span span)
{
    if (part->kind != KJ_T_ERROR)
        kj_sema_error(
            s, span, KJ_RULE_PARAMETER_TYPE,
            "a tuple that a launch gives has numbers, vectors, records and tuples of them, "
            "not %s",
            kj_array_type(s, part->dtype, part->ndim));
    return NULL;
}

const kj_aggregate *kj_tuple_record(kj_sema *s, const kj_type *t, kj_span span)
{
    kj_field *fields = KJ_NEW_ARRAY(s->arena, kj_field, (size_t)t->n + 1);
    kj_aggregate of = new_record("(", fields);
    of.tuple = true;
    for (int i = 0; i < t->n; i++) {
        const kj_type *part = &t->parts[i];
        const kj_aggregate *inner =
            part->kind == KJ_T_TUPLE ? kj_tuple_record(s, part, span) : part->of;
        if (part->kind == KJ_T_TUPLE && !inner)
            return NULL;
        if (part->kind != KJ_T_TUPLE && part->kind != KJ_T_SCALAR && part->kind != KJ_T_AGGREGATE)
            return no_tuple(s, part, span);
        fields[i] = (kj_field){.name = kj_arena_printf(s->arena, "%d", i),
                               .type = inner ? inner->type : part->dtype,
                               .of = inner};
        of.name = kj_arena_printf(s->arena, "%s%s%s", of.name, i ? ", " : "",
                                  kj_sema_type_name(s, fields[i].type));
        if (!place_field(s, &of, &fields[i], span))
            return NULL;
    }
    of.name = kj_arena_printf(s->arena, "%s)", of.name);
    return keep(s, &of, span);
}

kj_operand kj_tuple_of_record(kj_sema *s, kj_operand v)
{
    if (v.kind != KJ_V_TUPLE || !v.u.tuple.of || !v.u.tuple.of->tuple)
        return v;
    v.u.tuple.of = NULL;
    for (int i = 0; i < v.u.tuple.n; i++)
        v.u.tuple.items[i] = kj_tuple_of_record(s, v.u.tuple.items[i]);
    return v;
}

/* Reports A -> B -> A. */
static void refuse_cycle(kj_sema *s, const kj_symbol *sym)
{
    const char *cycle = sym->name;
    const struct kj_record_frame *f = s->laying;
    for (; f->sym != sym; f = f->up)
        cycle = kj_arena_printf(s->diag->arena, "%s -> %s", f->sym->name, cycle);
    cycle = kj_arena_printf(s->diag->arena, "%s -> %s", sym->name, cycle);
    kj_message *m =
        kj_sema_error(s, sym->span, KJ_RULE_RECURSION, "a record cannot hold itself: %s", cycle);
    kj_hint(s->diag, m, "keep the number of the other element, as in next: i32");
}

void kj_record_resolve(kj_sema *s, kj_symbol *sym)
{
    if (sym->progress == KJ_RESOLVING)
        refuse_cycle(s, sym);
    if (sym->progress != KJ_UNRESOLVED)
        return;
    kj_scope *scope = s->scope;
    kj_frame *frame = s->frame;
    struct kj_record_frame own = {s->laying, sym};
    sym->progress = KJ_RESOLVING;
    s->scope = sym->item->file->scope;
    s->frame = NULL;
    s->laying = &own;
    if (++s->depth > KJ_MAX_NESTING) {
        kj_sema_error(s, sym->span, KJ_RULE_TOO_DEEP, "records are nested too deeply");
    } else {
        const kj_aggregate *of = lay_out(s, sym->item);
        if (of) {
            sym->type = of->type;
            s->made->declared[s->made->ndeclared++] = (kj_record_decl){sym->item, of};
        }
    }
    s->depth--;
    s->laying = own.up;
    s->frame = frame;
    s->scope = scope;
    sym->progress = KJ_RESOLVED;
}

/* ---- Particle(pos, mass=1): every field, by place or by name; or none: zeros ---- */

static kj_texpr *zero_part(kj_sema *s, void *ctx, const kj_field *part)
{
    return kj_te_const(s, kj_fold_convert(kj_int(KJ_I64, 0), part->type), *(const kj_span *)ctx);
}

/* The argument's field; -1 after an error. */
static int field_of(kj_sema *s, const kj_expr *arg, const kj_aggregate *of, int place)
{
    if (!arg->keyword)
        return place;
    for (int i = 0; i < of->n; i++)
        if (strcmp(of->fields[i].name, arg->keyword) == 0)
            return i;
    kj_no_field(s, of, arg->keyword, arg->keyword_span, KJ_RULE_KEYWORD);
    return -1;
}

static bool refuse_count(kj_sema *s, const kj_expr *e, const kj_aggregate *of, const char *missing)
{
    kj_message *m =
        missing ? kj_sema_error(s, e->span, KJ_RULE_ARGUMENT_COUNT,
                                "the field '%s' of %s is missing", missing, of->name)
                : kj_sema_error(s, e->span, KJ_RULE_ARGUMENT_COUNT, "%s has %d field%s, not %d",
                                of->name, of->n, of->n == 1 ? "" : "s", kj_count(e->u.call.args));
    if (kj_is_shown(s->diag, m))
        kj_hint(s->diag, m, "%s(%s), or %s() for zeros", of->name, kj_fields_text(s, of), of->name);
    return false;
}

static bool place_arguments(kj_sema *s, const kj_expr *e, const kj_aggregate *of,
                            const kj_operand *v, kj_operand *items)
{
    bool *given = KJ_NEW_ARRAY(s->arena, bool, (size_t)of->n);
    int place = 0, n = 0;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next, n++) {
        int i = field_of(s, arg, of, place);
        place += !arg->keyword;
        if (i < 0)
            return false;
        if (i >= of->n)
            return refuse_count(s, e, of, NULL);
        const kj_field *f = &of->fields[i];
        if (given[i]) {
            kj_sema_error(s, arg->keyword ? arg->keyword_span : arg->span, KJ_RULE_KEYWORD,
                          "the field '%s' is given twice", f->name);
            return false;
        }
        given[i] = true;
        kj_type type = {f->of ? KJ_T_AGGREGATE : KJ_T_SCALAR, f->type, f->of, 0, NULL, 0};
        items[i] = kj_coerce_type(s, v[n], &type,
                                  kj_arena_printf(s->diag->arena, "the field '%s'", f->name));
        if (items[i].kind == KJ_V_ERROR)
            return false;
        items[i] = kj_hold_value(s, items[i], f->name);
    }
    for (int i = 0; i < of->n; i++)
        if (!given[i])
            return refuse_count(s, e, of, of->fields[i].name);
    return true;
}

kj_operand kj_record_construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of)
{
    int n = kj_count(e->u.call.args);
    kj_span span = e->span;
    if (n == 0)
        return kj_build(s, of, zero_part, &span, span);
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n);
    kj_expr_list(s, e->u.call.args, v, n);
    if (!kj_names_last(s, e->u.call.args) || !place_arguments(s, e, of, v, items))
        return kj_no_value(span);
    return kj_tuple(items, of->n, of, span);
}
