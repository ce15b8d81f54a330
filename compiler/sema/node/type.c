/* Types as they are written in the source, f32[], Cell, f32x4, resolved; what is none. */
#include <stdlib.h>
#include <string.h>

#include "parse/parse.h"
#include "sema/node/node.h"

/* The two digits of i46 the other way round, if that is a type. */
static const char *digits_swapped(kj_sema *s, const char *name)
{
    size_t n = strlen(name);
    char *other = kj_arena_printf(s->diag->arena, "%s", name);
    if (n < 3 || !kj_is_digit(name[n - 2]))
        return NULL;
    other[n - 2] = name[n - 1];
    other[n - 1] = name[n - 2];
    return kj_type_named(other) != KJ_VOID ? other : NULL;
}

/* i128, f128, f64x8: of a width that there is not, so none of the others is what was meant. */
static bool hint_width(kj_sema *s, kj_message *m, const char *name)
{
    static const struct {
        const char *kind, *hint;
    } kinds[] = {
        {"i", "integers are i8, i16, i32, i64, u8, u16, u32 and u64"},
        {"u", "integers are i8, i16, i32, i64, u8, u16, u32 and u64"},
        {"f", "floats are f16, bf16, f32 and f64"},
        {"bf", "floats are f16, bf16, f32 and f64"},
        {"c", "complex numbers are c64, of two f32, and c128, of two f64"},
    };
    size_t letters = strcspn(name, "0123456789");
    size_t scalar = letters + strspn(name + letters, "0123456789"), end = scalar;
    if (name[end] == 'x' && kj_is_digit(name[end + 1]))
        end += 1 + strspn(name + end + 1, "0123456789");
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].kind) == letters && strncmp(kinds[i].kind, name, letters) == 0)
            hint = kinds[i].hint;
    bool width = strtol(name + letters, NULL, 10) >= 8 || m->rule != KJ_RULE_UNDECLARED;
    if (!hint || scalar == letters || name[end] || !width) /* u0 and f1 are names as any */
        return false;
    const char *swapped = digits_swapped(s, name);
    const char *of = kj_arena_printf(s->diag->arena, "%.*s", (int)scalar, name);
    kj_dtype elem = kj_type_named(of);
    if (swapped)
        kj_did_you_mean(s->diag, m, swapped);
    else if (end > scalar && elem < KJ_NTYPES && kj_vector_of(elem, 3))
        kj_hint(s->diag, m, "vectors of %s are %sx2, %sx3 and %sx4", of, of, of, of);
    else
        kj_hint(s->diag, m, "%s", hint);
    return true;
}

bool kj_is_no_type(const char *name)
{
    static const char *const all[] = {"void", "None", "Nothing", "nothing", "Unit", "unit"};
    for (size_t i = 0; name && i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i]) == 0)
            return true;
    return false;
}

/* -> void */
static bool hint_nothing(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text;
    uint32_t begin = m->span.begin;
    while (begin > 0 && strchr(" \t", text[begin - 1]))
        begin--;
    if (!kj_is_no_type(name) || begin < 2 || text[begin - 1] != '>' || text[begin - 2] != '-')
        return false;
    for (begin -= 2; begin > 0 && strchr(" \t", text[begin - 1]);)
        begin--;
    kj_hint(s->diag, m, "leave it out: a function without '->' gives nothing");
    kj_fix(s->diag, m, (kj_span){begin, m->span.end}, "%s", "");
    return true;
}

bool kj_hint_type(kj_sema *s, kj_message *m, const char *name)
{
    const char *type = kj_habit_type_named(name);
    if (hint_nothing(s, m, name))
        return true;
    if (!type)
        return hint_width(s, m, name);
    kj_hint(s->diag, m, "write %s", type);
    kj_fix_name(s, m, type);
    return true;
}

kj_dtype kj_type_of_symbol(kj_sema *s, kj_symbol *sym, const char *name, kj_span span)
{
    kj_dtype hidden = sym->item ? kj_type_named(name) : KJ_VOID;
    if (sym->kind != KJ_SYM_TYPE && hidden != KJ_VOID)
        return hidden; /* an item of that name is refused */
    if (sym->kind != KJ_SYM_TYPE) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_NOT_A_TYPE, "'%s' is not a type", name);
        if (kj_type_named(name) != KJ_VOID)
            kj_hint(s->diag, m, "the name is something else here; give that another name");
        else if (!kj_hint_habit(s, m, name))
            kj_hint_types(s, m);
        if (sym->span.end > sym->span.begin)
            kj_note(s->diag, m, sym->span, "declared here");
        return KJ_VOID;
    }
    if (sym->resolve)
        sym->resolve(s, sym);
    kj_type_is_one(s, sym, span);
    return sym->type;
}

void kj_alias_resolve(kj_sema *s, kj_symbol *sym)
{
    kj_scope *scope = s->scope;
    kj_type_ref written = *sym->item->type;
    if (sym->progress != KJ_UNRESOLVED)
        return;
    written.extents = NULL; /* they are looked at where a field or const has them */
    sym->progress = KJ_RESOLVED;
    s->scope = sym->item->file->scope;
    kj_type t = kj_resolve_type(s, &written);
    s->scope = scope;
    sym->type = t.kind == KJ_T_SCALAR || t.kind == KJ_T_AGGREGATE ? t.dtype : KJ_VOID;
    sym->broken = t.kind == KJ_T_ERROR;
    if (!sym->item->enumerates || sym->broken)
        return;
    if (t.kind != KJ_T_SCALAR || !kj_is_int(t.dtype)) {
        kj_sema_error(s, written.span, KJ_RULE_ENUM, "an enum is of an integer type");
        sym->type = KJ_VOID;
        sym->broken = true;
    }
    if (!sym->item->next || sym->item->next->of != sym->item)
        kj_sema_error(s, sym->span, KJ_RULE_NO_FIELDS, "'%s' has no names", sym->name);
}

bool kj_type_is_one(kj_sema *s, const kj_symbol *sym, kj_span span)
{
    if (sym->type != KJ_VOID || !sym->item || sym->item->kind != KJ_I_TYPE)
        return true;
    if (!sym->broken)
        kj_note(
            s->diag,
            kj_sema_error(s, span, KJ_RULE_NOT_A_TYPE, "'%s' is no type of one value", sym->name),
            sym->span, "declared here");
    return false;
}

kj_dtype kj_type_by_name(kj_sema *s, const char *name, kj_span span)
{
    kj_symbol *sym = kj_scope_find(s->scope, name);
    if (sym)
        return kj_type_of_symbol(s, sym, name, span);
    kj_undeclared_type(s, name, span);
    return KJ_VOID;
}

/* np.float32: is it of a module of another language's? (reported) */
static bool is_of_module(kj_sema *s, const kj_type_ref *ref)
{
    const char *type = kj_type_meant(ref->member);
    if (!type || kj_scope_find(s->scope, ref->space))
        return false;
    kj_message *m = kj_sema_error(s, ref->name_span, KJ_RULE_UNDECLARED,
                                  "'%s' is not declared: there are no modules", ref->space);
    kj_write(s->diag, m, ref->name_span, "%s", type);
    return true;
}

/* blur.Params */
static kj_dtype type_of_file(kj_sema *s, const kj_type_ref *ref)
{
    if (is_of_module(s, ref))
        return KJ_VOID;
    kj_symbol *sym = kj_scope_member(s, ref->space, ref->member, ref->name_span);
    return sym ? kj_type_of_symbol(s, sym, ref->name, ref->name_span) : KJ_VOID;
}

/* let y: f32[3] = 0, in a kernel: each thread's own. */
static bool hint_local(kj_sema *s, kj_message *m, const kj_type_ref *ref)
{
    const char *text = s->diag->source->text;
    uint32_t word = ref->span.begin, begin, open = ref->span.begin;
    while (word > 0 && strchr(" \t:", text[word - 1]))
        word--;
    for (begin = word; begin > 0 && kj_is_word(text[begin - 1]);)
        begin--;
    bool declares =
        begin >= 4 && begin < word &&
        (strncmp(text + begin - 4, "let ", 4) == 0 || strncmp(text + begin - 4, "var ", 4) == 0);
    while (open < ref->span.end && text[open] != '[')
        open++;
    if (s->in_run || !declares || open + 2 > ref->span.end)
        return false;
    bool tuple = memchr(text + open, ',', ref->span.end - open);
    int len = (int)(ref->span.end - open) - 2;
    const char *name = kj_arena_printf(s->arena, "%.*s", (int)(word - begin), text + begin);
    const char *own =
        kj_arena_printf(s->arena, "let %s = local.array(%s%.*s%s, %s)", name, tuple ? "(" : "", len,
                        text + open + 1, tuple ? ")" : "", ref->name);
    uint32_t value = ref->span.end + (uint32_t)strspn(text + ref->span.end, " =");
    uint32_t end = value + (uint32_t)strspn(text + value, "-.0123456789");
    bool plain = end > value && strchr("\r\n;}#", text[end + strspn(text + end, " \t")]);
    if (plain)
        kj_write(s->diag, m, (kj_span){begin - 4, end}, "%s; %s[%.*s] = %.*s", own, name,
                 3 * ref->ndim - 2, ":, :, :, :", (int)(end - value), text + value);
    else
        kj_hint(s->diag, m, "each thread's own array is %s", own);
    return true;
}

kj_type kj_resolve_type(kj_sema *s, const kj_type_ref *ref)
{
    kj_type t = {.kind = KJ_T_ERROR};
    if (!ref)
        return (kj_type){.kind = KJ_T_NONE};
    if (!ref->name) {
        for (const kj_type_ref *p = ref->parts; p; p = p->next)
            t.n++;
        t.parts = KJ_NEW_ARRAY(s->arena, kj_type, (size_t)t.n + 1);
        t.kind = KJ_T_TUPLE;
        int i = 0;
        for (const kj_type_ref *p = ref->parts; p; p = p->next) {
            t.parts[i] = kj_resolve_type(s, p);
            if (t.parts[i++].kind == KJ_T_ERROR)
                t.kind = KJ_T_ERROR;
        }
        return t;
    }
    t.dtype = ref->space ? type_of_file(s, ref) : kj_type_by_name(s, ref->name, ref->name_span);
    t.ndim = ref->ndim;
    if (ref->ndim > KJ_MAX_NDIM) {
        kj_sema_error(s, ref->span, KJ_RULE_TOO_MANY_AXES, "an array has at most %d axes",
                      KJ_MAX_NDIM);
        return t;
    }
    if (ref->extents && t.dtype != KJ_VOID) {
        kj_message *m =
            kj_sema_error(s, ref->span, KJ_RULE_EXTENT,
                          "extents belong to const arrays and to fields of records only");
        if (!hint_local(s, m, ref))
            kj_hint(s->diag, m, "write %s; the launch knows the shape",
                    kj_array_type(s, t.dtype, t.ndim));
        return t;
    }
    t.of = kj_sema_aggregate(s, t.dtype);
    if (t.dtype != KJ_VOID)
        t.kind = t.ndim ? KJ_T_ARRAY : t.of ? KJ_T_AGGREGATE : KJ_T_SCALAR;
    return t;
}
