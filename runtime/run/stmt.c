/* Statements of a run block. In: a list of statements; out: their effects, and in kj_run.flow how
 * they ended. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- Unpacking ---- */

static int count_names(const kj_name *names)
{
    int n = 0;
    for (; names; names = names->next)
        n++;
    return n;
}

static bool items_of(kj_run *r, kj_span at, kj_rvalue v, int wanted)
{
    if (v.kind != KJ_R_TUPLE && v.kind != KJ_R_LIST)
        return kj_run_fail(r, KJIT_TYPE, at, "%d values are needed here, and this is %s", wanted,
                           kj_run_kind_name(v));
    int64_t n = v.u.object->u.seq.n;
    if (n != wanted)
        return kj_run_fail(r, KJIT_TYPE, at, "%d values are needed here, and these are %lld",
                           wanted, (long long)n);
    return true;
}

static bool bind_one(kj_run *r, kj_span at, const kj_name *name, kj_rvalue v, bool fixed,
                     const kj_type_ref *type)
{
    if (!kj_run_bind(r, at, name->name, v, fixed))
        return false;
    r->names[r->nnames - 1].type = fixed ? NULL : type;
    return true;
}

/* Binds one name to the value, or several to its items; `type`, of all of them, may be NULL. Takes the reference. */
static bool bind_names(kj_run *r, kj_span at, const kj_name *names, kj_rvalue v, bool fixed,
                       const kj_type_ref *type)
{
    if (!names->next)
        return bind_one(r, at, names, v, fixed, type);
    const kj_type_ref *part = type ? type->parts : NULL;
    if (!items_of(r, at, v, count_names(names)))
        return false;
    int64_t i = 0;
    for (; names; names = names->next, i++) {
        kj_rvalue item = v.u.object->u.seq.items[i];
        kj_run_keep(item);
        if (!bind_one(r, at, names, item, fixed, part))
            return false;
        part = part ? part->next : NULL;
    }
    kj_run_drop(&v);
    return true;
}

/* ---- Declarations and assignments ---- */

/* What is assigned to an element or slice need not be an array of its own. */
static bool evaluate_lazily(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    if (!kj_run_eval_lazily(r, e, out))
        return false;
    if (out->kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, e->span, "this call gives no value");
    return true;
}

static bool evaluate_value(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    return evaluate_lazily(r, e, out) && kj_lazy_finish(r, e->span, out);
}

static bool declare(kj_run *r, const kj_stmt *s)
{
    kj_rvalue v;
    if (!evaluate_value(r, s->u.let.init, &v))
        return false;
    if (s->u.let.type &&
        !kj_run_convert(r, s->u.let.init->span, s->u.let.type, s->u.let.names->name, &v))
        return false;
    return bind_names(r, s->u.let.init->span, s->u.let.names, v, !s->u.let.mutable, s->u.let.type);
}

/* An array as it is, a list in the elements' type. */
static bool fill_const(kj_run *r, const kj_const_array_info *a, kj_span at, kj_rvalue v)
{
    if (v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE) {
        kj_rcall c = {.id = KJ_RUN_ARRAY, .span = at, .given = {true, true}, .spans = {at, at}};
        kj_rvalue made;
        c.args[0] = v;
        c.args[1] = (kj_rvalue){.kind = KJ_R_DTYPE, .dtype = (kjit_dtype)a->elem};
        if (!kj_run_make_array(r, &c, &made))
            return false;
        kj_run_drop(&v);
        v = made;
    }
    if (v.kind != KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' is filled from an array or a list, not %s",
                           a->name, kj_run_kind_name(v));
    kjit_status status = kjit_module_set_const(r->module, a->name, v.u.object->u.array);
    kj_run_drop(&v);
    return kj_run_check(r, status, at);
}

/* A declared type is that of each value. */
static bool assign_name(kj_run *r, const kj_expr *target, kj_span value_at, kj_rvalue v)
{
    kj_rbinding *b = kj_run_binding_of(r, target->u.name);
    if (!b)
        return kj_run_fail(r, KJIT_NOT_FOUND, target->span, "'%s' is not declared", target->u.name);
    if (b->fixed) {
        kj_run_fail(r, KJIT_TYPE, target->span, "'%s' cannot be assigned", target->u.name);
        return kj_run_hint(r, "declare it with var");
    }
    if (b->type && !kj_run_convert(r, value_at, b->type, b->name, &v))
        return false;
    kj_run_drop(&b->value);
    b->value = kj_run_widened(v);
    b->value.literal = false;
    return true;
}

/* Of a[i] or a.x; base and place are the caller's to drop. */
static bool find_place(kj_run *r, const kj_expr *target, kj_rvalue *base, kj_rplace *place)
{
    if (target->kind == KJ_E_INDEX)
        return kj_run_eval(r, target->u.index.base, base) &&
               kj_run_place(r, target->span, *base, target->u.index.args, place);
    if (target->kind == KJ_E_MEMBER)
        return kj_run_eval(r, target->u.member.base, base) &&
               kj_run_field_place(r, target, *base, place);
    return kj_run_fail(r, KJIT_TYPE, target->span, "this cannot be assigned");
}

/* Takes the value's reference. An array still to compute goes into its place at once; `whole` is
 * the assignment. */
/* _ = f(x), where _ is no var: nobody asks for it. */
static bool throws_away(kj_run *r, const kj_expr *target)
{
    if (target->kind != KJ_E_NAME || strcmp(target->u.name, "_") != 0)
        return false;
    const kj_rbinding *b = kj_run_binding_of(r, target->u.name);
    return !b || b->fixed;
}

static bool assign(kj_run *r, const kj_expr *target, kj_span value_at, kj_span whole, kj_rvalue v)
{

    const kj_item *item = kj_run_declared(r, target);
    if (item && kj_filled_of(r->program, item))
        return kj_lazy_finish(r, value_at, &v) &&
               fill_const(r, kj_filled_of(r->program, item), value_at, v);
    if (throws_away(r, target)) {
        kj_run_drop(&v);
        return true;
    }
    if (target->kind == KJ_E_NAME)
        return assign_name(r, target, value_at, v);
    kj_rvalue base;
    kj_rplace place;
    if (!find_place(r, target, &base, &place) ||
        (base.kind != KJ_R_ARRAY && !kj_lazy_finish(r, value_at, &v)) ||
        !kj_run_place_set(r, &place, value_at, whole, v))
        return false;
    kj_run_place_drop(&place);
    kj_run_drop(&base);
    kj_run_drop(&v);
    return true;
}

/* b += c, where one is to be converted: of what is assigned to, b = f(b) + c. */
static bool hint_operand(kj_run *r, const kj_stmt *s)
{
    kj_span spans[] = {s->u.assign.targets->span, s->u.assign.value->span};
    return r->wrapped == 1 && kj_run_hint_operand(r, s->span, spans, 2);
}

/* Refused for its type: what is written instead. Of an operator, what comes of it is converted, not its operand. */
static bool hint_conversion(kj_run *r, const kj_stmt *s)
{
    const kj_expr *target = s->u.assign.targets, *value = s->u.assign.value;
    if (s->u.assign.augmented && r->at.begin == s->span.begin)
        kj_run_hint_power(r, target->span, value->span, true);
    if (s->u.assign.augmented)
        hint_operand(r, s);
    bool of_value = r->at.begin == value->span.begin && r->at.end == value->span.end;
    if (!r->converts || !of_value || target->next || value->kind == KJ_E_LIST ||
        value->kind == KJ_E_TUPLE)
        return false;
    kj_quote to = kj_quoted(r->source, target->span, false, "");
    bool twice = to.text[0] && !strchr(to.text, '('); /* computed again, it is the same */
    if (s->u.assign.augmented && !twice)
        return false;
    free(r->hint);
    r->hint = NULL;
    if (strcmp(r->converts, "bool") == 0 && !s->u.assign.augmented)
        return kj_run_hint(r, "write %s != 0", kj_quoted(r->source, value->span, true, "x").text);
    if (!s->u.assign.augmented)
        return kj_run_hint(r, "write %s(%s)", r->converts,
                           kj_quoted(r->source, value->span, false, "...").text);
    r->at = s->span;
    return kj_run_hint(r, "write %s = %s(%s %s %s)", to.text, r->converts, to.text,
                       kj_ops[s->u.assign.op].spelling,
                       kj_quoted(r->source, value->span, true, "...").text);
}

/* list += list */
static bool extends(const kj_stmt *s, kj_rvalue old, kj_rvalue operand)
{
    return s->u.assign.op == KJ_OP_ADD && old.kind == KJ_R_LIST && operand.kind == KJ_R_LIST;
}

/* In place, as append does it. */
static bool extend(kj_run *r, kj_span at, kj_rvalue list, kj_rvalue by)
{
    int64_t n = by.u.object->u.seq.n; /* by may be the list */
    for (int64_t i = 0; i < n; i++) {
        kj_rvalue item = by.u.object->u.seq.items[i];
        kj_run_keep(item);
        if (!kj_run_append(r, at, list, item))
            return false;
    }
    return true;
}

static bool operate(kj_run *r, const kj_stmt *s, kj_rvalue old, kj_rvalue operand, kj_rvalue *out)
{
    if (kj_run_binary(r, s->span, s->u.assign.op, old, operand, out))
        return true;
    if (old.kind != KJ_R_TUPLE)
        kj_run_hint_comma(r, s->u.assign.value->span, operand);
    return false;
}

/* a[i] op= v, a.x op= v: the place is found once. */
static bool augment_place(kj_run *r, const kj_stmt *s, const kj_expr *target)
{
    kj_rvalue base, old, operand, v;
    kj_rplace place;
    kj_span at = s->u.assign.value->span;
    if (!find_place(r, target, &base, &place) || !kj_run_place_get(r, &place, &old) ||
        !evaluate_lazily(r, s->u.assign.value, &operand))
        return false;
    if (extends(s, old, operand)) {
        if (!extend(r, s->span, old, operand))
            return false;
        v = kj_run_none();
    } else if (!operate(r, s, old, operand, &v) || !kj_run_place_set(r, &place, at, s->span, v)) {
        return false;
    }
    kj_run_place_drop(&place);
    kj_run_drop(&base);
    kj_run_drop(&old);
    kj_run_drop(&operand);
    kj_run_drop(&v);
    return true;
}

static bool augment(kj_run *r, const kj_stmt *s)
{
    const kj_expr *target = s->u.assign.targets;
    kj_rvalue old, operand, v;
    if (target->kind != KJ_E_NAME)
        return augment_place(r, s, target);
    if (!kj_run_eval(r, target, &old) || !evaluate_lazily(r, s->u.assign.value, &operand))
        return false;
    if (extends(s, old, operand)) {
        bool ok = extend(r, s->span, old, operand);
        kj_run_drop(&operand);
        kj_run_drop(&old);
        return ok;
    }
    if (!operate(r, s, old, operand, &v))
        return false;
    kj_run_drop(&operand);
    if (old.kind == KJ_R_ARRAY && !old.u.object->fixed) { /* in place: whoever has it sees it */
        bool ok = kj_lazy_store(r, s->u.assign.value->span, s->span, old.u.object->u.array, v);
        kj_run_drop(&old);
        kj_run_drop(&v);
        return ok;
    }
    kj_run_drop(&old);
    return kj_lazy_finish(r, s->span, &v) && assign(r, target, s->u.assign.value->span, s->span, v);
}

static bool assign_all(kj_run *r, const kj_stmt *s)
{
    const kj_expr *target = s->u.assign.targets, *value = s->u.assign.value;
    kj_rvalue v;
    if (s->u.assign.augmented)
        return augment(r, s);
    bool whole = !target->next && target->kind != KJ_E_NAME;
    if (!evaluate_lazily(r, value, &v))
        return false;
    const kj_rbinding *b = target->kind == KJ_E_NAME ? kj_run_binding_of(r, target->u.name) : NULL;
    if (b && !b->fixed && !target->next ? !kj_lazy_replace(r, value->span, b->value, &v)
                                        : !whole && !kj_lazy_finish(r, value->span, &v))
        return false;
    if (!target->next)
        return assign(r, target, value->span, s->span, v);
    int n = 0;
    for (const kj_expr *t = target; t; t = t->next)
        n++;
    if (!items_of(r, value->span, v, n))
        return false;
    for (int64_t i = 0; target; target = target->next, i++) {
        kj_rvalue item = v.u.object->u.seq.items[i];
        kj_run_keep(item);
        if (!assign(r, target, value->span, value->span, item))
            return false;
    }
    kj_run_drop(&v);
    return true;
}

/* ---- Control ---- */

static bool go_on(kj_run *r, kj_span at)
{
    if (r->options->interrupted && r->options->interrupted(r->options->user))
        return kj_run_fail(r, KJIT_INTERRUPTED, at, "interrupted");
    return kj_run_check(r, kj_check_time(r->ctx), at) && kj_run_check(r, kj_check_run(r->ctx), at);
}

static bool block(kj_run *r, const kj_stmt *s)
{
    int names = r->nnames;
    bool ok = kj_run_statements(r, s);
    kj_run_leave(r, names);
    return ok;
}

/* After a loop's body: does the loop end? */
static bool loop_ends(kj_run *r)
{
    bool ends = r->flow == KJ_FLOW_BREAK || r->flow == KJ_FLOW_RETURN;
    if (r->flow != KJ_FLOW_RETURN)
        r->flow = KJ_FLOW_NEXT;
    return ends;
}

static bool for_loop(kj_run *r, const kj_stmt *s)
{
    kj_rvalue over, item;
    kj_span at = s->u.for_.iter->span;
    if (!kj_run_eval(r, s->u.for_.iter, &over))
        return false;
    int names = r->nnames;
    for (int64_t i = 0; kj_run_item(r, at, over, i, &item); i++) {
        bool ok = go_on(r, at) && bind_names(r, at, s->u.for_.names, item, true, NULL) &&
                  block(r, s->u.for_.body);
        kj_run_leave(r, names);
        if (!ok && over.kind == KJ_R_ARRAY && s->u.for_.names->next && r->at.begin == at.begin &&
            r->at.end == at.end)
            kj_run_hint(r, "write enumerate(%s)", kj_quoted(r->source, at, false, "...").text);
        if (!ok)
            return false;
        if (loop_ends(r))
            break;
    }
    if (r->status != KJIT_OK)
        return false;
    kj_run_drop(&over);
    return true;
}

static bool evaluate_test(kj_run *r, const kj_expr *e, bool *out)
{
    kj_rvalue v;
    if (!kj_run_eval(r, e, &v) || !kj_run_truth(r, e->span, "a condition", v, out))
        return false;
    kj_run_drop(&v);
    return true;
}

static bool while_loop(kj_run *r, const kj_stmt *s)
{
    for (;;) {
        bool truth;
        if (!go_on(r, s->u.while_.test->span) || !evaluate_test(r, s->u.while_.test, &truth))
            return false;
        if (!truth)
            return true;
        if (!block(r, s->u.while_.body))
            return false;
        if (loop_ends(r))
            return true;
    }
}

static bool if_statement(kj_run *r, const kj_stmt *s)
{
    bool truth;
    if (!evaluate_test(r, s->u.if_.test, &truth))
        return false;
    return block(r, truth ? s->u.if_.yes : s->u.if_.no);
}

static bool with_statement(kj_run *r, const kj_stmt *s)
{
    kj_rvalue v, named;
    kj_span at = s->u.with.value->span;
    int names = r->nnames;
    if (!kj_run_eval(r, s->u.with.value, &v) || !kj_run_enter(r, at, v, &named))
        return false;
    bool ok = true;
    r->withs++;
    if (!s->u.with.name)
        kj_run_drop(&named);
    else if (named.kind == KJ_R_NONE)
        ok = kj_run_fail(r, KJIT_TYPE, s->u.with.name->span, "there is nothing to name here");
    else
        ok = kj_run_bind(r, at, s->u.with.name->name, named, true);
    ok = ok && block(r, s->u.with.body);
    kj_run_leave(r, names);
    ok = kj_run_exit(r, at, v) && ok;
    r->withs--;
    kj_run_drop(&v);
    return ok;
}

static bool expression(kj_run *r, const kj_expr *e)
{
    kj_rvalue v;
    if (!kj_run_eval(r, e, &v))
        return false;
    kj_run_drop(&v);
    return true;
}

static bool statement(kj_run *r, const kj_stmt *s)
{
    switch (s->kind) {
    case KJ_S_LET: return declare(r, s);
    case KJ_S_PARAM: return kj_run_param(r, s);
    case KJ_S_ASSIGN: return assign_all(r, s) || hint_conversion(r, s);
    case KJ_S_EXPR: return expression(r, s->u.expr);
    case KJ_S_IF: return if_statement(r, s);
    case KJ_S_FOR: return for_loop(r, s);
    case KJ_S_WHILE: return while_loop(r, s);
    case KJ_S_WITH: return with_statement(r, s);
    case KJ_S_BREAK: r->flow = KJ_FLOW_BREAK; return true;
    case KJ_S_CONTINUE: r->flow = KJ_FLOW_CONTINUE; return true;
    case KJ_S_RETURN: return kj_run_return(r, s->u.expr);
    case KJ_S_BLOCK:
    case KJ_S_REQUIRES:
    case KJ_S_LAUNCH: break;
    }
    return kj_run_fail(r, KJIT_TYPE, s->span, "'requires' stands at the head of a kernel");
}

bool kj_run_statements(kj_run *r, const kj_stmt *s)
{
    for (; s && r->flow == KJ_FLOW_NEXT; s = s->next) {
        if (r->depth >= r->max_depth)
            return kj_run_too_deep(r, s->span, "the statements are");
        r->depth++;
        bool ok = go_on(r, s->span) && statement(r, s);
        r->depth--;
        if (!ok)
            return false;
    }
    return true;
}
