/* The types of a run block's numbers. In: numbers; out: what they meet in, and results of that.
 *
 * A number is typed where it was given a type: f32(x), elements of arrays, reductions, results of
 * functions. It is plain where it is written, or computed of such: it takes the type of what it
 * meets. It is wide where it began as a plain one in what may change, a variable or a list, so that a
 * sum that starts with 0 does not take the type of what is added first: so is what is computed of it,
 * which is exact.
 * Small ints, of 8 and 16 bits, compute as plain ones do; the others refuse a result that they do not hold. */
#include "run/value/value.h"

#include <string.h>

kj_rvalue kj_run_typed(kj_value v)
{
    kj_rvalue out = kj_run_from_value(v);
    out.typed = v.type != KJ_BOOL;
    out.type = v.type;
    return out;
}

kj_rvalue kj_run_widened(kj_rvalue v)
{
    v.wide = (v.kind == KJ_R_INT || v.kind == KJ_R_FLOAT) && !v.typed;
    return v;
}

kj_whole kj_run_whole_of(kj_rvalue v)
{
    kj_whole above = v.kind == KJ_R_INT ? (kj_whole)v.beyond * ((kj_whole)1 << 64) : 0;
    return above + (v.kind == KJ_R_INT && v.dtype == KJIT_U64 ? (kj_whole)(uint64_t)v.u.i : v.u.i);
}

kj_rvalue kj_run_beside_float(kj_rvalue v)
{
    if (v.kind != KJ_R_INT || v.beyond == 0)
        return v;
    kj_rvalue out = kj_run_float((double)kj_run_whole_of(v));
    out.wide = v.wide;
    return out;
}

/* ---- Meeting ---- */

/* Of the typed ones, floats first, since not each two integers have a type. Gives the first that has none
 * in common with those before it, or NULL. */
static const kj_rvalue *common_type(const kj_rvalue *v, int n, kj_dtype *type)
{
    *type = KJ_VOID;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            if (!v[i].typed || kj_is_float(v[i].type) != (pass == 0))
                continue;
            kj_dtype both = *type == KJ_VOID ? v[i].type : kj_common_type(*type, v[i].type);
            if (both == KJ_VOID)
                return &v[i];
            *type = both;
        }
    return NULL;
}

static bool does_not_fit(kj_run *r, kj_span at, kj_rvalue v, kj_dtype type, int other)
{
    kj_run_fail(r, KJIT_TYPE, at, "%s does not fit %s, the type it meets here",
                kj_run_short(v).text, kj_type_name(type));
    return kj_is_float(type) ? kj_run_wrap(r, "f64", other, "write ", "convert the other: f64(x)")
                             : kj_run_wrap(r, "i64", other, "write ", "convert the other: i64(x)");
}

static bool is_small(kj_rvalue v)
{
    return v.typed && kj_is_int(v.type) && kj_types[v.type].bits < 32;
}

bool kj_run_meet(kj_run *r, kj_span at, const kj_rvalue *v, int n, kj_rmeeting *out)
{
    bool small = true, real = false;
    *out = (kj_rmeeting){.common = KJ_VOID, .type = KJ_VOID};
    for (int i = 0; i < n; i++) {
        out->typed |= v[i].typed;
        out->wide |= v[i].wide;
        small &= !v[i].typed || is_small(v[i]);
        real |= !v[i].typed && v[i].kind == KJ_R_FLOAT;
    }
    if (common_type(v, n, &out->common)) /* u64 and i64 */
        out->common = KJ_VOID;
    if (!out->wide && !small && (kj_is_float(out->common) || !real))
        out->type = out->common;
    for (int i = 0; i < n && kj_is_float(out->type); i++)
        if (!v[i].typed && !kj_value_fits(kj_run_to_value(v[i]), out->type))
            return does_not_fit(r, at, v[i], out->type, n == 2 ? 1 - i : -1);
    return true;
}

bool kj_run_meet_alone(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                       kj_dtype *type)
{
    bool real = false, large = false;
    int bools = 0;
    for (int i = 0; i < n; i++) {
        real |= v[i].kind == KJ_R_FLOAT;
        large |= v[i].kind == KJ_R_INT && v[i].dtype == KJIT_U64;
        bools += v[i].kind == KJ_R_BOOL;
    }
    kj_dtype alone = real ? KJ_F64 : large ? KJ_U64 : KJ_I64;
    const kj_rvalue *odd = common_type(v, n, type);
    if (odd || (bools > 0 && bools < n)) {
        kj_run_fail(r, KJIT_TYPE, at, "%s has no common type for %s and %s", what,
                    kj_type_name(odd ? *type : KJ_BOOL), kj_type_name(odd ? odd->type : alone));
        int i = odd ? (int)(odd - v) : 0;
        while (!odd && v[i].kind != KJ_R_BOOL)
            i++;
        return kj_run_wrap(r, "i64", i, "write ", "convert one: i64(x)");
    }
    if (*type == KJ_VOID || (real && !kj_is_float(*type)))
        *type = bools ? KJ_BOOL : alone;
    for (int i = 0; i < n && !bools; i++)
        if (!v[i].typed && !kj_value_fits(kj_run_to_value(v[i]), *type))
            return does_not_fit(r, at, v[i], *type, n == 2 ? 1 - i : -1);
    return true;
}

/* ---- Results ---- */

kj_rvalue kj_run_real(const kj_rmeeting *m, double x)
{
    kj_value v = kj_float(KJ_F64, x);
    if (kj_is_float(m->type))
        return kj_run_typed(kj_fold_convert(v, m->type));
    if (m->typed && !m->wide)
        return kj_run_typed(v);
    kj_rvalue out = kj_run_float(x);
    out.wide = m->wide;
    return out;
}

/* A type that has room for it. */
static const char *wider(kj_dtype type, kj_whole v)
{
    if (v < INT64_MIN || v > (kj_whole)UINT64_MAX)
        return "float";
    return v > INT64_MAX ? "u64" : type == KJ_U64 || v >= INT64_MIN ? "i64" : "float";
}

static bool no_room(kj_run *r, kj_span at, const char *what, kj_dtype type, kj_whole v)
{
    bool in_64 = v >= INT64_MIN && v <= (kj_whole)UINT64_MAX;
    kj_rvalue shown = v < 0 ? kj_run_int((int64_t)v) : kj_run_uint((uint64_t)v);
    if (type == KJ_VOID)
        kj_run_fail(r, KJIT_TYPE, at, "the result of %s does not fit in 64 bits", what);
    else if (!in_64)
        kj_run_fail(r, KJIT_TYPE, at, "the result of %s does not fit %s, the type of its operands",
                    what, kj_type_name(type));
    else
        kj_run_fail(r, KJIT_TYPE, at,
                    "%s, the result of %s, does not fit %s, the type of its operands",
                    kj_run_short(shown).text, what, kj_type_name(type));
    const char *to = wider(type, v);
    if (strcmp(what, "'<<'") == 0 && !in_64)
        return kj_run_hint(r, "as a float it is x * 2.0 ** n");
    return kj_run_wrap(r, to, 0, "write ",
                       *to == 'f'   ? "convert an operand: float(x)"
                       : *to == 'u' ? "convert an operand: u64(x)"
                                    : "convert an operand: i64(x)");
}

bool kj_run_beyond(kj_run *r, kj_span at, kj_op op, kj_whole v)
{
    char what[8];
    kj_snprintf(what, sizeof what, "'%s'", kj_ops[op].spelling);
    return no_room(r, at, what, KJ_VOID, v);
}

enum { MOST_BITS = 120 }; /* of what operators pass on to each other: room for sums of two */

bool kj_run_whole(kj_run *r, kj_span at, const char *what, const kj_rmeeting *m, kj_whole v,
                  kj_rvalue *out)
{
    const kj_whole most = (kj_whole)1 << MOST_BITS;
    bool typed = kj_is_int(m->type);
    bool fits = v >= INT64_MIN && v <= (kj_whole)UINT64_MAX;
    kj_rvalue plain = v < 0 && fits ? kj_run_int((int64_t)v) : kj_run_uint((uint64_t)v);
    if (!fits && !typed && r->exact && v < most && v > -most) {
        plain.dtype = KJIT_U64;
        plain.beyond = (int64_t)((v - (kj_whole)(uint64_t)v) / ((kj_whole)1 << 64));
        plain.wide = m->wide;
        *out = plain;
        return true;
    }
    if (!fits || (typed && !kj_value_fits(kj_run_to_value(plain), m->type)))
        return no_room(r, at, what, typed ? m->type : KJ_VOID, v);
    if (typed)
        plain = kj_run_typed(kj_fold_convert(kj_run_to_value(plain), m->type));
    else
        plain.wide = m->wide;
    *out = plain;
    return true;
}

bool kj_run_as_met(kj_run *r, kj_span at, const char *what, const kj_rmeeting *m, kj_rvalue *v)
{
    if (v->kind == KJ_R_FLOAT || kj_is_float(m->type))
        *v = kj_run_real(m, kj_run_as_float(*v));
    else if (v->kind == KJ_R_INT || m->typed || m->wide)
        return kj_run_whole(r, at, what, m, kj_run_whole_of(*v), v);
    return true;
}
