/* Errors of semantic analysis: reporting, and the words for types and values in them. */
#include <stdio.h>
#include <string.h>

#include "sema/node/node.h"

enum { SHORT_TEXT = 24 };

kj_message *kj_sema_error(kj_sema *s, kj_span at, kj_rule rule, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text =
        kj_diag_has_room(s->diag) ? kj_arena_vprintf(s->diag->arena, format, args) : "";
    va_end(args);
    kj_message *m = kj_error(s->diag, at, rule, "%s", text);
    kj_frame *f = s->frame;
    if (f && f->fn >= 0)
        s->broken[f->fn] = true;
    if (f && f->bindings)
        kj_note(s->diag, m, f->call, "with %s", f->bindings);
    return m;
}

/* The name in tex2D<float>(...), where the one before it was told. */
static bool is_type_argument(const kj_diag *d, kj_span name)
{
    const char *text = d->source->text;
    const kj_message *m = d->last;
    return m && name.begin > 0 && text[name.begin - 1] == '<' && text[name.end] == '>' &&
           m->span.end == name.begin - 1;
}

bool kj_was_misplaced(const kj_diag *d, const char *name, kj_span span)
{
    size_t n = strlen(name);
    if (is_type_argument(d, span))
        return true;
    for (const kj_message *m = d->first; m; m = m->next) {
        const char *own = d->source->text + m->span.end;
        own += strspn(own, " ");
        if (m->rule == KJ_RULE_MISPLACED && strncmp(own, name, n) == 0 && !kj_is_word(own[n]))
            return true;
    }
    return false;
}

kj_operand kj_no_value(kj_span at)
{
    return (kj_operand){.kind = KJ_V_ERROR, .span = at};
}

const char *kj_source_text(kj_sema *s, kj_span span, const char *otherwise)
{
    const kj_source *src = s->diag->source;
    if (span.end <= span.begin || span.end > src->size || span.end - span.begin > SHORT_TEXT)
        return otherwise;
    const char *text = src->text + span.begin;
    int len = (int)(span.end - span.begin);
    for (int i = 0; i < len; i++)
        if (text[i] == '\n' || text[i] == '\0')
            return otherwise;
    return kj_arena_printf(s->diag->arena, "%.*s", len, text);
}

bool kj_hint_unbounded(kj_sema *s, kj_message *m, const char *bound)
{
    const char *bindings = s->frame ? s->frame->bindings : NULL;
    if (!bindings || !strstr(bindings, "= bool"))
        return false;
    kj_hint(s->diag, m, "without a bound a type may be bool: write <T: %s>", bound);
    return true;
}

void kj_hint_again(kj_sema *s, kj_message *m, const kj_symbol *old, size_t names)
{
    bool local = old->kind == KJ_SYM_VALUE && names > 0;
    if (local && strcmp(old->name, "_") == 0) { /* a parameter, else it may be there again */
        kj_write(s->diag, m, m->span, "_%zu", names + 1);
        return;
    }
    bool given = old->role == KJ_ROLE_PARAM && old->value.kind == KJ_V_SCALAR;
    const char *text = s->diag->source->text, *next = text + m->span.end;
    next += strspn(next, " ");
    uint32_t begin = m->span.begin > 4 ? m->span.begin - 4 : 0;
    bool declares = strncmp(text + begin, "let ", 4) == 0 || strncmp(text + begin, "var ", 4) == 0;
    if (!local || s->in_run || !declares || !(given || old->role == KJ_ROLE_VAR))
        return;
    kj_hint(s->diag, m, "to assign, write %s = ...", old->name);
    if (*next == '=')
        kj_fix(s->diag, m, (kj_span){begin, m->span.begin}, "%s", "");
}

/* How long the <f32, 4> is that stands there before a call's parentheses; 0: there is none. */
static size_t type_arguments(const char *text)
{
    size_t n = *text == '<' ? 1 : 0;
    while (n && (kj_is_word(text[n]) || text[n] == ' ' || text[n] == ','))
        n++;
    return n > 1 && text[n] == '>' && text[n + 1] == '(' ? n + 1 : 0;
}

void kj_fix_type_arguments(kj_sema *s, kj_message *m)
{
    size_t n = type_arguments(s->diag->source->text + m->span.end);
    if (n)
        kj_fix(s->diag, m, (kj_span){m->span.end, m->span.end + (uint32_t)n}, "%s", "");
}

bool kj_in_type_arguments(const kj_sema *s, kj_span at)
{
    const char *text = s->diag->source->text;
    uint32_t open = at.begin;
    while (open > 0 && (kj_is_word(text[open - 1]) || strchr(" ,>", text[open - 1])))
        open--;
    if (!s->diag->errors || open < 2 || text[open - 1] != '<' || !kj_is_word(text[open - 2]))
        return false;
    size_t n = type_arguments(text + open - 1);
    return n && at.begin <= open - 1 + n;
}

bool kj_hint_array_type(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text + m->span.end;
    size_t n = strcmp(name, "array") == 0 ? type_arguments(text) : 0;
    const char *comma = n ? memchr(text, ',', n) : NULL;
    if (!comma || s->in_run)
        return false;
    const char *extents = comma + 1 + strspn(comma + 1, " ");
    int len = (int)(text + n - 1 - extents);
    bool several = memchr(extents, ',', (size_t)len) != NULL;
    kj_hint(s->diag, m,
            "an array of a thread is local.array(%s%.*s%s, %.*s), one of a block shared.array(...)",
            several ? "(" : "", len, extents, several ? ")" : "", (int)(comma - text) - 1,
            text + 1);
    return true;
}

const char *kj_unbounded(const kj_sema *s, kj_dtype type)
{
    const kj_frame *f = s->frame;
    for (const kj_generic *g = f && f->bindings ? f->item->generics : NULL; g; g = g->next) {
        const char *bound = kj_arena_printf(s->diag->arena, "%s = %s", g->name, kj_type_name(type));
        const char *at = strstr(f->bindings, bound);
        if (!g->bound && at && !kj_is_word(at[strlen(bound)]))
            return g->name;
    }
    return NULL;
}

void kj_hint_assert(kj_sema *s, kj_message *m, const kj_stmt *requires)
{
    const char *text = kj_source_text(s, requires->u.expr->span, NULL);
    if (text)
        kj_write(s->diag, m, requires->span, "assert(%s)", text);
    else
        kj_hint(s->diag, m, "write assert(condition)");
}

kj_span kj_between(const kj_sema *s, kj_span before, kj_span after, const char *text)
{
    size_t len = strlen(text);
    for (uint32_t at = before.end; at + len <= after.begin && after.begin <= s->diag->source->size;
         at++)
        if (memcmp(s->diag->source->text + at, text, len) == 0)
            return (kj_span){at, at + (uint32_t)len};
    return (kj_span){1, 0};
}

const char *kj_array_type(kj_sema *s, kj_dtype elem, int ndim)
{
    const char *commas = ",,,,,,";
    return kj_arena_printf(s->diag->arena, "%s[%.*s]", kj_sema_type_name(s, elem),
                           ndim > 0 ? ndim - 1 : 0, commas);
}

const char *kj_literal_text(kj_sema *s, kj_value v)
{
    kj_arena *a = s->diag->arena;
    if (kj_is_float(v.type) && v.f >= -1e9 && v.f <= 1e9 && v.f == (double)(int64_t)v.f)
        return kj_arena_printf(a, "%.1f", v.f);
    if (kj_is_float(v.type)) {
        char *text = kj_arena_printf(a, "%.17g", v.f);
        for (int digits = 1; digits < 17; digits++) {
            char *shorter = kj_arena_printf(a, "%.*g", digits, v.f);
            if (kj_strtod(shorter, NULL) == v.f) {
                text = shorter;
                break;
            }
        }
        return strpbrk(text, ".en") ? text : kj_arena_printf(a, "%s.0", text);
    }
    if (v.type == KJ_BOOL)
        return v.u ? "true" : "false";
    return kj_is_signed(v.type) ? kj_arena_printf(a, "%lld", (long long)v.i)
                                : kj_arena_printf(a, "%llu", (unsigned long long)v.u);
}

const char *kj_operand_text(kj_sema *s, kj_span span, const char *otherwise)
{
    const char *text = kj_source_text(s, span, otherwise);
    int depth = 0;
    bool whole = true; /* nothing but names, numbers, dots and what stands in brackets */
    for (const char *c = text; *c && text != otherwise; c++) {
        depth += *c == '(' || *c == '[';
        whole = whole && (depth > 0 || kj_is_word(*c) || *c == '.');
        depth -= *c == ')' || *c == ']';
    }
    return whole ? text : kj_arena_printf(s->diag->arena, "(%s)", text);
}

const char *kj_describe(kj_sema *s, const kj_operand *v)
{
    switch (v->kind) {
    case KJ_V_LITERAL: return kj_is_float(v->u.literal.type) ? "a float" : "an integer";
    case KJ_V_CHOICE: return kj_describe(s, &v->u.choice.arms[0]);
    case KJ_V_SCALAR: return kj_type_name(v->u.scalar.e->type);
    case KJ_V_TUPLE:
        return v->u.tuple.of ? v->u.tuple.of->name
                             : kj_arena_printf(s->diag->arena, "a tuple of %d", v->u.tuple.n);
    case KJ_V_PLACE: {
        const kj_tarray *a = v->u.place.array;
        return a->of ? a->of->name : kj_type_name(a->elem);
    }
    case KJ_V_ARRAY: return kj_array_type(s, v->u.array->elem, v->u.array->ndim);
    case KJ_V_NONE: return "nothing";
    default: return "no value";
    }
}

const char *kj_role_text(kj_role role)
{
    switch (role) {
    case KJ_ROLE_LET: return "a 'let'";
    case KJ_ROLE_VAR: return "a 'var'";
    case KJ_ROLE_PARAM: return "a parameter";
    case KJ_ROLE_LOOP: return "a loop variable";
    case KJ_ROLE_CONST: return "a constant";
    default: return "predefined";
    }
}

void kj_hint_types(kj_sema *s, kj_message *m)
{
    kj_hint(s->diag, m,
            "types are "
#define TYPE(id, text, class, bits, npy) text ", "
#include "lang/types.def"
#undef TYPE
            "c64, c128, vectors and records");
}

bool kj_note_hiding(kj_sema *s, kj_message *m, const char *name, kj_span declared)
{
    bool hides = s->in_run && kj_run_builtin_named(name) >= 0;
    for (int id = 0; id < KJ_NBUILTINS; id++)
        hides |= strcmp(kj_builtins[id].name, name) == 0;
    hides &= declared.end > 0;
    if (hides)
        kj_note(s->diag, m, declared, "it hides the built-in function '%s'", name);
    return hides;
}

void kj_note_hidden(kj_sema *s, kj_message *m, const kj_symbol *sym)
{
    kj_note_hiding(s, m, sym->name, sym->span);
}
