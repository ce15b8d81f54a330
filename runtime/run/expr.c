/* Expressions of a run block, evaluated as they stand in the AST. In: an expression; out: a value
 * with one reference. */
#include "run/run.h"

#include <math.h>
#include <string.h>

/* ---- Names ---- */

static bool predefined(kj_run *r, const char *name, kj_rvalue *out)
{
    static const struct {
        const char *name;
        double value;
    } constants[] = {
        {"pi", 3.14159265358979323846},
        {"inf", INFINITY},
        {"nan", NAN},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (strcmp(name, constants[i].name) == 0) {
            *out = kj_run_float(constants[i].value);
            out->literal = true;
            return true;
        }
    }
    kj_dtype type = (kj_dtype)kj_run_type(r, name);
    if (type != KJ_VOID)
        *out = (kj_rvalue){.kind = KJ_R_DTYPE, .dtype = (kjit_dtype)type};
    return type != KJ_VOID;
}

static bool item_value(kj_run *r, const kj_expr *e, const kj_item *item, kj_rvalue *out)
{
    if (item->kind == KJ_I_CONST && !item->value)
        return kj_run_fail(
            r, KJIT_TYPE, e->span,
            "'%s' is for kernels: the run block fills it as a whole, and cannot read it",
            item->name);
    if (item->kind == KJ_I_CONST)
        return kj_run_constant(r, item, out);
    if (item->kind == KJ_I_FN)
        return kj_run_fail(r, KJIT_TYPE, e->span, "fn '%s' can be called by kernels only",
                           item->name);
    if (item->kind == KJ_I_RECORD || item->kind == KJ_I_TYPE) {
        *out = (kj_rvalue){.kind = KJ_R_DTYPE, .dtype = kj_run_type_in(r, item->file, item->name)};
        return true;
    }
    *out = (kj_rvalue){.kind = KJ_R_KERNEL, .u.kernel = kj_kernel_of(r->program, item)};
    return out->u.kernel || kj_run_fail(r, KJIT_TYPE, e->span, "'%s' is no value", item->name);
}

const kj_item *kj_run_declared(kj_run *r, const kj_expr *e)
{
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : e;
    if (base->kind == KJ_E_MEMBER && base->u.member.base->kind == KJ_E_NAME) /* blur.Cell.NAME */
        return kj_enumerator(kj_run_declared(r, base), e->u.member.name);
    if (base->kind != KJ_E_NAME || kj_run_binding_of(r, base->u.name))
        return NULL;
    const kj_item *item = kj_run_named(r, base->u.name)->item;
    if (e == base || !item || !item->used)
        return e == base ? item : kj_enumerator(item, e->u.member.name);
    item = item->used->items;
    while (item && item->name != e->u.member.name)
        item = item->next;
    return item;
}

static bool evaluate_name(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const char *name = e->u.name;
    const kj_rbinding *b = kj_run_binding_of(r, name);
    if (b) {
        *out = b->value;
        kj_run_keep(*out);
        return true;
    }
    const kj_rnamed *n = kj_run_named(r, name);
    if (n->item && n->item->kind != KJ_I_RECORD && n->item->kind != KJ_I_TYPE)
        return item_value(r, e, n->item, out);
    if (predefined(r, name, out))
        return true;
    if (n->callable >= 0) {
        kj_run_fail(r, KJIT_TYPE, e->span, "'%s' is a function", name);
        return kj_run_hint(r, "call it: %s(...)", name);
    }
    return kj_run_fail(r, KJIT_NOT_FOUND, e->span, "'%s' is not declared", name);
}

/* ---- Operators ---- */

/* What an operator has beside it: of operators of ints it may be beyond 64 bits. */
static bool evaluate_operand(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    r->exact = e->kind == KJ_E_BINARY || e->kind == KJ_E_UNARY;
    bool ok = kj_run_eval_lazily(r, e, out);
    r->exact = false;
    return ok;
}

bool kj_run_eval_for_float(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    bool ok = evaluate_operand(r, e, out);
    *out = kj_run_beside_float(*out);
    return ok;
}

/* Beside no number it has to be in 64 bits. */
static bool check_operand(kj_run *r, const kj_expr *e, kj_rvalue v, kj_rvalue other)
{
    if (v.kind != KJ_R_INT || v.beyond == 0 || kj_run_is_number(other))
        return true;
    bool unary = e->kind == KJ_E_UNARY;
    kj_run_beyond(r, e->span, unary ? e->u.unary.op : e->u.binary.op, kj_run_whole_of(v));
    return kj_run_hint_operand(r, e->span, unary ? &e->u.unary.arg->span : &e->u.binary.lhs->span,
                               1);
}

static bool evaluate_binary(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    bool exact = r->exact;
    kj_rvalue a, b;
    if (!evaluate_operand(r, lhs, &a) || !evaluate_operand(r, rhs, &b) ||
        !check_operand(r, lhs, a, b) || !check_operand(r, rhs, b, a))
        return false;
    r->exact = exact && kj_run_is_number(a) && kj_run_is_number(b);
    bool ok = kj_run_binary(r, e->span, e->u.binary.op, a, b, out);
    r->exact = false;
    if (!ok)
        return kj_run_hint_power(r, lhs->span, rhs->span, false) || kj_run_hint_quotient(r, e) ||
               kj_run_hint_operand(r, e->span, (kj_span[]){lhs->span, rhs->span}, 2);
    out->literal = a.literal && b.literal;
    kj_run_drop(&a);
    kj_run_drop(&b);
    return true;
}

/* `not` of an array: for each element. */
static bool hint_not(kj_run *r, const kj_expr *e, bool of_bools)
{
    kj_quote own = kj_quoted(r->source, e->u.unary.arg->span, true, "a");
    r->at = e->span;
    return kj_run_hint(r, of_bools ? "write ~%s" : "write %s == 0", own.text);
}

static bool evaluate_unary(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    kj_rvalue a;
    kj_span at = e->u.unary.op == KJ_OP_NOT ? e->u.unary.arg->span : e->span;
    bool exact = r->exact && e->u.unary.op != KJ_OP_NOT;
    r->exact = false;
    if (e->u.unary.op == KJ_OP_NOT ? !kj_run_eval_lazily(r, e->u.unary.arg, &a)
                                   : !evaluate_operand(r, e->u.unary.arg, &a))
        return false;
    r->exact = exact && kj_run_is_number(a);
    bool ok = kj_run_unary(r, at, e->u.unary.op, a, out);
    r->exact = false;
    if (!ok)
        return e->u.unary.op == KJ_OP_NOT && kj_is_array(a)
                   ? hint_not(r, e, kj_lazy_type(a) == KJ_BOOL)
                   : kj_run_hint_operand(r, e->span, &e->u.unary.arg->span, 1);
    out->literal = a.literal;
    kj_run_drop(&a);
    return true;
}

/* `all and one`, which is for each element where arrays are compared. Takes both references. */
static bool also(kj_run *r, const kj_expr *e, kj_rvalue one, kj_rvalue *all)
{
    kj_rvalue both;
    if (all->kind == KJ_R_NONE) {
        *all = one;
        return true;
    }
    if (!kj_run_binary(r, e->span, KJ_OP_AND, *all, one, &both))
        return false;
    kj_run_drop(all);
    kj_run_drop(&one);
    *all = both;
    return true;
}

/* a < b <= c: each operand once, until a comparison of numbers is false. */
static bool evaluate_chain(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const kj_expr *operand = e->u.chain.operands;
    kj_rvalue left, right, one;
    bool truth = true;
    if (!kj_run_eval_lazily(r, operand, &left))
        return false;
    for (int i = 0; i < e->u.chain.nops && truth; i++) {
        operand = operand->next;
        if (!kj_run_eval_lazily(r, operand, &right) ||
            !kj_run_binary(r, e->span, e->u.chain.ops[i], left, right, &one) ||
            !also(r, e, one, out))
            return false;
        truth = kj_is_array(*out) || out->u.i;
        kj_run_drop(&left);
        left = right;
    }
    kj_run_drop(&left);
    return true;
}

static bool evaluate_test(kj_run *r, const kj_expr *e, const char *what, bool *out)
{
    kj_rvalue v;
    if (!kj_run_eval(r, e, &v) || !kj_run_truth(r, e->span, what, v, out))
        return false;
    kj_run_drop(&v);
    return true;
}

static bool evaluate_logic(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const char *what = e->u.logic.is_or ? "an operand of 'or'" : "an operand of 'and'";
    bool truth;
    if (!evaluate_test(r, e->u.logic.lhs, what, &truth) ||
        (truth != e->u.logic.is_or && !evaluate_test(r, e->u.logic.rhs, what, &truth)))
        return false;
    *out = kj_run_bool(truth);
    return true;
}

static bool evaluate_cond(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    bool truth;
    return evaluate_test(r, e->u.cond.test, "a condition", &truth) &&
           kj_run_eval_lazily(r, truth ? e->u.cond.yes : e->u.cond.no, out);
}

/* ---- The rest ---- */

static bool evaluate_list(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    int64_t n = 0, i = 0;
    for (const kj_expr *item = e->u.list.items; item; item = item->next)
        n++;
    kj_rvalue made;
    if (!kj_run_sequence(r, e->span, e->kind == KJ_E_LIST ? KJ_R_LIST : KJ_R_TUPLE, n, &made))
        return false;
    for (const kj_expr *item = e->u.list.items; item; item = item->next, i++) {
        kj_rvalue v;
        if (!kj_run_eval(r, item, &v))
            return false;
        if (v.kind == KJ_R_NONE)
            return kj_run_fail(r, KJIT_TYPE, item->span, "this call gives no value");
        v = e->kind == KJ_E_LIST ? kj_run_widened(v) : v;
        v.literal = false;
        made.u.object->u.seq.items[i] = v;
    }
    *out = made;
    return true;
}

static bool put_piece(kj_run *r, const kj_expr *e, kj_text *t)
{
    kj_rvalue v;
    if (e->kind == KJ_E_STRING && !e->keyword) {
        kj_text_add(t, e->u.string.text, e->u.string.len);
        return true;
    }
    if (!kj_run_eval(r, e, &v))
        return false;
    if (v.kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, e->span, "this call gives no value");
    bool ok = kj_run_format(r, e->span, e->keyword, v, t);
    kj_run_drop(&v);
    return ok;
}

static bool evaluate_format(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    kj_text t = {0};
    bool ok = true;
    for (const kj_expr *piece = e->u.list.items; ok && piece; piece = piece->next)
        ok = put_piece(r, piece, &t);
    if (ok && t.failed)
        ok = kj_run_no_memory(r, e->span);
    ok = ok && kj_run_string(r, e->span, t.data ? t.data : "", t.size, out);
    kj_text_free(&t);
    return ok;
}

static bool evaluate_index(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    kj_rvalue base;
    kj_rplace place;
    if (!kj_run_eval_lazily(r, e->u.index.base, &base) || /* of a tuple only the item is needed */
        (base.kind != KJ_R_TUPLE && !kj_lazy_finish(r, e->u.index.base->span, &base)))
        return false;
    if (base.kind == KJ_R_KERNEL) {
        kj_run_fail(r, KJIT_LAUNCH, e->span, "a launch configuration alone does nothing");
        return kj_run_hint(r, "add the arguments: %s[grid, block](...)", base.u.kernel->name);
    }
    if (!kj_run_place(r, e->span, base, e->u.index.args, &place) ||
        !kj_run_place_get(r, &place, out))
        return false;
    kj_run_place_drop(&place);
    kj_run_drop(&base);
    return true;
}

static bool evaluate_member(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    kj_rvalue base;
    const kj_item *item = kj_run_declared(r, e);
    int id = kj_run_member_named(e->u.member.name);
    if (item)
        return item_value(r, e, item, out);
    if (!kj_run_eval(r, e->u.member.base, &base))
        return false;
    if (id < 0 ? !kj_run_field(r, e, base, out)
               : !kj_run_attribute(r, e->u.member.name_span, (kj_run_id)id, base, out))
        return false;
    kj_run_drop(&base);
    return true;
}

static bool literal(kj_rvalue v, kj_rvalue *out)
{
    *out = v;
    out->literal = true;
    return true;
}

static bool evaluate(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    switch (e->kind) {
    case KJ_E_INT: return literal(kj_run_uint(e->u.integer), out);
    case KJ_E_FLOAT: return literal(kj_run_float(e->u.real), out);
    case KJ_E_IMAG: return literal(kj_run_complex(0, e->u.real), out);
    case KJ_E_BOOL: return literal(kj_run_bool(e->u.integer != 0), out);
    case KJ_E_STRING: return kj_run_string(r, e->span, e->u.string.text, e->u.string.len, out);
    case KJ_E_NAME: return evaluate_name(r, e, out);
    case KJ_E_UNARY: return evaluate_unary(r, e, out);
    case KJ_E_BINARY: return evaluate_binary(r, e, out);
    case KJ_E_CHAIN: return evaluate_chain(r, e, out);
    case KJ_E_LOGIC: return evaluate_logic(r, e, out);
    case KJ_E_COND: return evaluate_cond(r, e, out);
    case KJ_E_CALL: return kj_run_eval_call(r, e, out);
    case KJ_E_INDEX: return evaluate_index(r, e, out);
    case KJ_E_MEMBER: return evaluate_member(r, e, out);
    case KJ_E_TUPLE:
    case KJ_E_LIST: return evaluate_list(r, e, out);
    case KJ_E_FORMAT: return evaluate_format(r, e, out);
    case KJ_E_SLICE: break;
    }
    return kj_run_fail(r, KJIT_TYPE, e->span, "a slice stands only inside []");
}

bool kj_run_eval(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    return kj_run_eval_lazily(r, e, out) && kj_lazy_finish(r, e->span, out);
}

bool kj_run_eval_lazily(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    *out = kj_run_none();
    if (r->depth >= r->max_depth)
        return kj_run_too_deep(r, e->span, "the expression is");
    r->depth++;
    bool ok = evaluate(r, e, out);
    r->depth--;
    return ok;
}
