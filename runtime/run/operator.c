/* Operators of run blocks. In: values; out: a value. Those on numbers are value/arith.c's, those on
 * arrays lazy/node.c's, matrix products lazy/matmul.c's. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

static bool wrong_operands(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b)
{
    kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on %s and %s", kj_ops[op].spelling,
                kj_run_kind_name(a), kj_run_kind_name(b));
    if (a.kind == KJ_R_STRING && op == KJ_OP_MOD)
        return kj_run_hint(r, "values stand in f-strings: f\"{n} items, {x:.3f}\"");
    return false;
}

bool kj_run_hint_power(kj_run *r, kj_span a, kj_span b, bool assigns)
{
    if (!r->powers)
        return false;
    return kj_run_hint(r, assigns ? "write %s **= %s" : "write %s ** %s",
                       kj_quoted(r->source, a, true, "a").text,
                       kj_quoted(r->source, b, !assigns, "b").text);
}

bool kj_run_hint_quotient(kj_run *r, const kj_expr *e)
{
    const kj_expr *of = e->kind == KJ_E_BINARY ? e->u.binary.lhs : NULL;
    const char *source = r->source->text;
    bool floats = r->wraps && (strcmp(r->wraps, "f32") == 0 || strcmp(r->wraps, "f64") == 0);
    if (!floats || r->wrapped != 0 || !of || !kj_is_sum(of) || e->u.binary.op != KJ_OP_DIV ||
        !kj_quoted(r->source, e->span, false, "").text[0])
        return false;
    kj_text t = {0};
    uint32_t done = of->span.begin;
    bool ok = kj_convert_parts(&t, source, of, r->wraps, &done);
    kj_text_add(&t, source + done, of->span.end - done);
    bool bracketed = source[of->span.begin] == '(' && source[of->span.end - 1] == ')';
    ok &= !t.failed && !bracketed;
    if (ok) {
        const char *sign = source + of->span.end;
        sign += *sign == ')';
        r->wraps = NULL;
        free(r->hint);
        r->hint = NULL;
        kj_run_hint(r, "%s(%s)%.*s", r->wrap_lead, t.data, (int)(source + e->span.end - sign),
                    sign);
    }
    kj_text_free(&t);
    return ok;
}

bool kj_run_hint_operand(kj_run *r, kj_span whole, const kj_span *operands, int n)
{
    const char *function = r->wraps, *text = r->source->text;
    kj_quote q = kj_quoted(r->source, whole, false, "");
    if (!function || r->wrapped < 0 || r->wrapped >= n || !q.text[0] ||
        r->at.begin != whole.begin || r->at.end != whole.end)
        return false;
    kj_span own = operands[r->wrapped];
    int before = (int)(own.begin - whole.begin), len = (int)(own.end - own.begin);
    bool bracketed = before > 0 && text[own.begin - 1] == '(' && text[own.end] == ')' &&
                     !(before > 1 && kj_is_word(text[own.begin - 2]));
    r->wraps = NULL;
    free(r->hint);
    r->hint = NULL;
    return kj_run_hint(r, bracketed ? "%s%.*s%s%.*s%s" : "%s%.*s%s(%.*s)%s", r->wrap_lead,
                       before - bracketed, text + whole.begin, function, len + 2 * bracketed,
                       text + own.begin - bracketed, q.text + before + len + bracketed);
}

bool kj_run_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    if (kj_is_array(a))
        return kj_lazy_unary(r, at, op, a, out);
    if (op == KJ_OP_NOT) {
        bool truth;
        if (!kj_run_truth(r, at, "the operand of 'not'", a, &truth))
            return false;
        *out = kj_run_bool(!truth);
        return true;
    }
    if (kj_run_is_complex(a) && op != KJ_OP_INVERT) {
        *out = a;
        out->u.f = op == KJ_OP_NEG ? -a.u.f : a.u.f;
        out->imag = op == KJ_OP_NEG ? -a.imag : a.imag;
        return true;
    }
    return kj_run_unary_number(r, at, op, a, out);
}

/* ---- Sequences and the rest ---- */

enum { LONGEST = 1 << 28 /* bytes or items of what is repeated */ };

/* Numbers, one of them complex. */
static bool is_complex_pair(kj_rvalue a, kj_rvalue b)
{
    return (kj_run_is_complex(a) && (kj_run_is_complex(b) || kj_run_is_number(b))) ||
           (kj_run_is_complex(b) && kj_run_is_number(a));
}

static bool equal(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, bool *out);

static bool equal_items(kj_run *r, kj_span at, const kj_robject *a, const kj_robject *b, bool *out)
{
    *out = a->u.seq.n == b->u.seq.n;
    if (r->depth >= KJ_RUN_MAX_DEPTH)
        return kj_run_fail(r, KJIT_TYPE, at, "the lists are nested too deeply to compare");
    r->depth++;
    bool ok = true;
    for (int64_t i = 0; ok && *out && i < a->u.seq.n; i++)
        ok = kj_run_check(r, kj_check_run(r->ctx), at) &&
             equal(r, at, a->u.seq.items[i], b->u.seq.items[i], out);
    r->depth--;
    return ok;
}

static bool equal(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, bool *out)
{
    *out = false;
    if (kj_run_is_number(a) && kj_run_is_number(b))
        *out = kj_run_compare_numbers(a, b) == 0;
    else if (is_complex_pair(a, b))
        *out = kj_run_as_float(a) == kj_run_as_float(b) && a.imag == b.imag;
    else if (a.kind == KJ_R_ARRAY || b.kind == KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_TYPE, at, "arrays inside of lists are not compared");
    else if (a.kind != b.kind)
        return true;
    else if (a.kind == KJ_R_TUPLE || a.kind == KJ_R_LIST)
        return equal_items(r, at, a.u.object, b.u.object, out);
    else if (a.kind == KJ_R_STRING)
        *out = a.u.object->u.string.len == b.u.object->u.string.len &&
               memcmp(a.u.object->u.string.text, b.u.object->u.string.text,
                      a.u.object->u.string.len) == 0;
    else if (a.kind == KJ_R_DTYPE)
        *out = a.dtype == b.dtype;
    else if (a.kind == KJ_R_KERNEL)
        *out = a.u.kernel == b.u.kernel;
    else
        *out = a.kind == KJ_R_NONE || a.u.object == b.u.object;
    return true;
}

static int compare_strings(const kj_robject *a, const kj_robject *b)
{
    size_t n = a->u.string.len < b->u.string.len ? a->u.string.len : b->u.string.len;
    int order = memcmp(a->u.string.text, b->u.string.text, n);
    if (order == 0)
        return a->u.string.len < b->u.string.len ? -1 : a->u.string.len > b->u.string.len;
    return order < 0 ? -1 : 1;
}

static bool concatenate(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    const kj_robject *x = a.u.object, *y = b.u.object;
    if (a.kind == KJ_R_STRING) {
        kj_text t = {0};
        kj_text_add(&t, x->u.string.text, x->u.string.len);
        kj_text_add(&t, y->u.string.text, y->u.string.len);
        bool ok = t.failed ? kj_run_no_memory(r, at)
                           : kj_run_string(r, at, t.data ? t.data : "", t.size, out);
        kj_text_free(&t);
        return ok;
    }
    if (!kj_run_sequence(r, at, a.kind, x->u.seq.n + y->u.seq.n, out))
        return false;
    kj_rvalue *items = out->u.object->u.seq.items;
    for (int64_t i = 0; i < x->u.seq.n + y->u.seq.n; i++) {
        items[i] = i < x->u.seq.n ? x->u.seq.items[i] : y->u.seq.items[i - x->u.seq.n];
        kj_run_keep(items[i]);
    }
    return true;
}

static bool is_sequence(kj_rvalue v)
{
    return v.kind == KJ_R_STRING || v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST;
}

/* n times what it has; none below 0. */
static bool repeat(kj_run *r, kj_span at, kj_rvalue sequence, kj_rvalue times, kj_rvalue *out)
{
    const kj_robject *o = sequence.u.object;
    int64_t n = times.dtype == KJIT_U64 ? INT64_MAX : times.u.i < 0 ? 0 : times.u.i, total;
    int64_t len = sequence.kind == KJ_R_STRING ? (int64_t)o->u.string.len : o->u.seq.n;
    if (__builtin_mul_overflow(len, n, &total) || total > LONGEST)
        return kj_run_fail(r, KJIT_TYPE, at, "%s repeated so often is too long",
                           kj_run_kind_name(sequence));
    if (sequence.kind == KJ_R_STRING) {
        kj_text t = {0};
        for (int64_t i = 0; i < (len ? n : 0); i++)
            kj_text_add(&t, o->u.string.text, o->u.string.len);
        bool ok = t.failed ? kj_run_no_memory(r, at)
                           : kj_run_string(r, at, t.data ? t.data : "", t.size, out);
        kj_text_free(&t);
        return ok;
    }
    if (!kj_run_sequence(r, at, sequence.kind, total, out))
        return false;
    for (int64_t i = 0; i < total; i++) {
        out->u.object->u.seq.items[i] = o->u.seq.items[i % len];
        kj_run_keep(o->u.seq.items[i % len]);
    }
    return true;
}

bool kj_run_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    if (op == KJ_OP_MATMUL)
        return kj_lazy_matmul(r, at, a, b, out);
    if (kj_run_is_number(a) && kj_run_is_number(b))
        return kj_run_binary_numbers(r, at, op, a, b, out);
    if (is_complex_pair(a, b))
        return kj_run_complex_binary(r, at, op, a, b, out);
    if (kj_is_array(a) || kj_is_array(b))
        return kj_lazy_binary(r, at, op, a, b, out);
    if (op == KJ_OP_EQ || op == KJ_OP_NE) {
        bool same;
        if (!equal(r, at, a, b, &same))
            return false;
        *out = kj_run_bool(same == (op == KJ_OP_EQ));
        return true;
    }
    if (a.kind == b.kind && op == KJ_OP_ADD && is_sequence(a))
        return concatenate(r, at, a, b, out);
    if (op == KJ_OP_MUL && is_sequence(a) && b.kind == KJ_R_INT)
        return repeat(r, at, a, b, out);
    if (op == KJ_OP_MUL && is_sequence(b) && a.kind == KJ_R_INT)
        return repeat(r, at, b, a, out);
    if (a.kind == b.kind && a.kind == KJ_R_STRING && kj_ops[op].class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(kj_run_compare_result(op, compare_strings(a.u.object, b.u.object)));
        return true;
    }
    wrong_operands(r, at, op, a, b);
    if (op == KJ_OP_ADD && (a.kind == KJ_R_STRING || b.kind == KJ_R_STRING))
        return kj_run_wrap(r, "str", a.kind == KJ_R_STRING, "write ",
                           "str(x) makes a string of it");
    return false;
}
