/* Functions on whole arrays, sin(x), max(x, y), where(c, a, b). In: a builtin and its arguments, arrays
 * among them; out: a node that stands for the result, or for several results a tuple of them, or a
 * failure that says which argument does not go. */
#include "run/lazy/lazy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arguments ---- */

static bool takes(char letter, kj_dtype t)
{
    switch (letter) {
    case 'f': return kj_is_float(t);
    case 'i': return kj_is_int(t);
    case 'w': return t == KJ_I32 || t == KJ_U32;
    default: return kj_is_float(t) || kj_is_int(t);
    }
}

static bool wrong_argument(kj_run *r, kj_span at, kj_builtin id, char letter, kj_rvalue v, int i)
{
    kj_run_fail(r, KJIT_TYPE, at, "'%s' takes %s, not %s", kj_builtins[id].name,
                letter == 'f'   ? "floats"
                : letter == 'w' ? "i32 or u32"
                : letter == 'i' ? "integers"
                                : "numbers",
                kj_lazy_describe(v, (char[48]){0}));
    if (id == KJ_BI_CEIL_DIV) /* of how many there are, more likely than of each */
        return kj_run_wrap(r, "len", i, "write ", "of how many elements there are: len(a)");
    return letter == 'f' ? kj_run_wrap(r, "f32", i, "write ", "convert it: f32(a)")
                         : kj_run_wrap(r, "i32", i, "write ", "convert it: i32(a)");
}

/* An array in that type; numbers stay, and arrays that have it. */
static bool in_type(kj_run *r, kj_span at, kj_dtype type, kj_rvalue v, kj_rvalue *out)
{
    if (kj_is_array(v) && !kj_lazy_is_untyped(v) && kj_lazy_type(v) != type)
        return kj_lazy_cast(r, at, type, v, out);
    *out = v;
    kj_run_keep(v);
    return true;
}

static bool extreme_of_two(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue two[2],
                           kj_rvalue *out)
{
    return kj_is_array(two[0]) || kj_is_array(two[1]) ? kj_lazy_call(r, at, id, two, 2, out)
                                                      : kj_run_math(r, at, id, two, 2, out);
}

/* min and max of more than two: two at a time, in the type that all have in common. */
static bool extreme_of_many(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                            kj_rvalue *out)
{
    kj_dtype type;
    char what[8];
    kj_snprintf(what, sizeof what, "'%s'", kj_builtins[id].name);
    if (!kj_lazy_common(r, at, what, args, n, &type) || !in_type(r, at, type, args[0], out))
        return false;
    for (int i = 1; i < n; i++) {
        kj_rvalue two[2] = {*out};
        bool ok = in_type(r, at, type, args[i], &two[1]);
        if (ok) {
            ok = extreme_of_two(r, at, id, two, out);
            kj_run_drop(&two[1]);
        }
        kj_run_drop(&two[0]);
        if (!ok)
            return false;
    }
    return true;
}

/* The same of operands that may be vectors. */
static bool extreme_of_all(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                           kj_rvalue *out)
{
    kj_rvalue *own = calloc((size_t)n, sizeof *own);
    if (!own)
        return kj_run_no_memory(r, at);
    bool ok = kj_lazy_take(r, at, args, n, own) &&
              kj_lazy_taken(own, n, extreme_of_many(r, at, id, own, n, out));
    free(own);
    return ok;
}

/* A function of complex numbers, or that makes them. */
static bool complex_call(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                         kj_rvalue *out)
{
    kj_dtype type, part;
    char what[40];
    kj_snprintf(what, sizeof what, "'%s'", kj_builtins[id].name);
    if (!kj_lazy_numbers(r, at, what, args, n) || !kj_lazy_unify(r, at, what, args, n, &type))
        return false;
    type = kj_common_type(type, KJ_C64);
    part = kj_aggregate_of(type)->elem;
    kj_lazy e = kj_lazy_node(KJ_X_CALL, type, args, n, id == KJ_BI_RECT ? part : type);
    e.builtin = id;
    switch (id) {
    case KJ_BI_ABS:
    case KJ_BI_PHASE: e.type = part; break;
    case KJ_BI_ISNAN:
    case KJ_BI_ISINF:
    case KJ_BI_ISFINITE: e.type = KJ_BOOL; break;
    case KJ_BI_CONJ:
    case KJ_BI_RECT:
    case KJ_BI_POW:
    case KJ_BI_EXP:
    case KJ_BI_LOG:
    case KJ_BI_LOG2:
    case KJ_BI_LOG10:
    case KJ_BI_SQRT:
    case KJ_BI_ASIN:
    case KJ_BI_ACOS:
    case KJ_BI_ATAN:
    case KJ_BI_ASINH:
    case KJ_BI_ACOSH:
    case KJ_BI_ATANH:
    case KJ_BI_SIN:
    case KJ_BI_COS:
    case KJ_BI_TAN:
    case KJ_BI_SINH:
    case KJ_BI_COSH:
    case KJ_BI_TANH: break;
    default: return kj_run_fail(r, KJIT_TYPE, at, "%s does not work on complex arrays", what);
    }
    for (int i = 0; i < n && id == KJ_BI_RECT; i++)
        if (kj_lazy_is_complex(args[i]))
            return kj_run_fail(r, KJIT_TYPE, at, "'rect' takes real numbers, not complex ones");
    return kj_lazy_make(r, at, &e, out);
}

/* A count or an exponent: an array of i32 or of what becomes i32 by itself, or a number. */
static bool fits_i32(kj_run *r, kj_span at, kj_builtin id, int i, kj_rvalue v)
{
    bool fits = kj_is_array(v) ? kj_lazy_type(v) == KJ_I32 || kj_converts(kj_lazy_type(v), KJ_I32)
                               : v.kind == KJ_R_INT && kj_value_fits(kj_run_to_value(v), KJ_I32);
    if (fits)
        return true;
    char text[48];
    kj_run_fail(r, KJIT_TYPE, at, "argument %d of '%s' is an i32, not %s", i + 1,
                kj_builtins[id].name, kj_lazy_describe(v, text));
    return kj_is_array(v) ? kj_run_wrap(r, "i32", i, "write ", "convert it: i32(a)") : false;
}

bool kj_lazy_choice(kj_run *r, kj_span at, kj_lazy_form form, const char *what,
                    const kj_span spans[3], const kj_rvalue *v, kj_rvalue *out)
{
    kj_dtype type;
    if (!kj_lazy_is_bool(v[0])) {
        char text[48];
        kj_run_fail(r, KJIT_TYPE, spans[0], "the condition is bool, not %s",
                    kj_lazy_describe(v[0], text));
        return kj_is_array(v[0]) ? kj_run_hint(r, "compare: a != 0") : false;
    }
    for (int i = 1; i < 3; i++) {
        if (!kj_is_array(v[i]) && !kj_run_is_number(v[i]) && !kj_run_is_complex(v[i]))
            return kj_lazy_wrong_kind(r, spans[i], what, "arrays and numbers", v[i]);
    }
    if (kj_lazy_stays_untyped(v + 1))
        return kj_lazy_untyped_choice(r, at, v, out);
    if (!kj_lazy_unify(r, at, what, v + 1, 2, &type))
        return false;
    kj_lazy e = kj_lazy_node(form, type, v, 3, type);
    e.builtin = KJ_BI_SELP;
    e.types[0] = KJ_BOOL;
    return kj_lazy_make(r, at, &e, out);
}

/* Several results: a node each, which have their arguments in common. */
static bool pair(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n, kj_rvalue *out)
{
    kj_dtype type, types[2];
    char what[40], letter = *kj_builtin_letters(id);
    kj_snprintf(what, sizeof what, "'%s'", kj_builtins[id].name);
    if (!kj_lazy_common(r, at, what, args, n, &type))
        return false;
    bool complex = kj_is_complex_type(type);
    if (letter == 'z' && !complex)
        type = kj_common_type(type, KJ_C64);
    else if (letter != 'z' && complex)
        return kj_run_fail(r, KJIT_TYPE, at, "%s does not work on complex arrays", what);
    else if (letter != 'z' && !takes(letter, type))
        return wrong_argument(r, at, id, letter, *args, 0);
    types[0] = letter == 'z' ? kj_aggregate_of(type)->elem : type;
    types[1] = kj_builtins[id].signature[1] == 'd' ? KJ_I32 : types[0];
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, 2, out))
        return false;
    for (int i = 0; i < 2; i++) {
        kj_lazy e = kj_lazy_node(KJ_X_CALL, types[i], args, n, type);
        e.builtin = id;
        e.part = i;
        if (!kj_lazy_make(r, at, &e, &out->u.object->u.seq.items[i]))
            return false;
    }
    return true;
}

/* One result of arguments that have a type in common, but for those that are i32. */
static bool elementwise(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                        kj_rvalue *out)
{
    const char *name = kj_builtins[id].name, *signature = kj_builtins[id].signature;
    const char *letters = kj_builtin_letters(id);
    int wanted = kj_builtin_arity(id), common = (int)strspn(letters, "finw");
    kj_dtype type;
    char what[40];
    if (kj_builtin_results(id) != 1 || common == 0 ||
        common + (int)strspn(letters + common, "d") != wanted || !strchr("finwbdsg", *signature))
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on whole arrays", name);
    kj_snprintf(what, sizeof what, "'%s'", name);
    if (!kj_lazy_common(r, at, what, args, common, &type))
        return false;
    for (int i = 0; i < n; i++) {
        if (i < common && !takes(letters[i], type))
            return wrong_argument(r, at, id, letters[i], args[i], i);
        if (i >= common && !fits_i32(r, at, id, i, args[i]))
            return false;
    }
    kj_lazy e = kj_lazy_node(KJ_X_CALL, kj_builtin_result(id, 0, type), args, n, type);
    e.builtin = id;
    for (int i = common; i < n; i++)
        e.types[i] = KJ_I32;
    return kj_lazy_make(r, at, &e, out);
}

static bool call(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n, kj_rvalue *out)
{
    if (kj_lazy_keeps_untyped(id, args, n))
        return kj_lazy_of_choices(r, at, &(kj_lazy_fn){.builtin = id}, args, n, out);
    if (id == KJ_BI_SELP)
        return kj_lazy_choice(r, at, KJ_X_CALL, "'selp'", (kj_span[]){at, at, at}, args, out);
    if (kj_builtin_results(id) == 2)
        return pair(r, at, id, args, n, out);
    for (int i = 0; i < n; i++)
        if (kj_lazy_is_complex(args[i]) || strcmp(kj_builtins[id].group, "complex") == 0)
            return complex_call(r, at, id, args, n, out);
    return elementwise(r, at, id, args, n, out);
}

bool kj_lazy_call(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                  kj_rvalue *out)
{
    int wanted = kj_builtin_arity(id);
    kj_rvalue own[KJ_LAZY_OPERANDS];
    if ((id == KJ_BI_MIN || id == KJ_BI_MAX) && n > wanted)
        return extreme_of_all(r, at, id, args, n, out);
    if (n != wanted)
        return kj_run_fail(r, KJIT_TYPE, at, "%s takes %d argument%s, not %d", kj_builtins[id].name,
                           wanted, wanted == 1 ? "" : "s", n);
    if (n > KJ_LAZY_OPERANDS)
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on whole arrays",
                           kj_builtins[id].name);
    return kj_lazy_take(r, at, args, n, own) && kj_lazy_taken(own, n, call(r, at, id, own, n, out));
}

static bool where(kj_run *r, const kj_rcall *c, const kj_rvalue *v, kj_rvalue *out)
{
    bool arrays = kj_is_array(v[0]) || kj_is_array(v[1]) || kj_is_array(v[2]);
    if (arrays || !kj_lazy_is_bool(v[0]))
        return kj_lazy_choice(r, c->span, KJ_X_WHERE, "where", c->spans, v, out);
    *out = v[v[0].u.i ? 1 : 2];
    kj_run_keep(*out);
    return true;
}

bool kj_run_where(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue own[3];
    return kj_lazy_take(r, c->span, c->args, 3, own) &&
           kj_lazy_taken(own, 3, where(r, c, own, out));
}
