/* for loops: over range(...), over arrays, and over tuples. */
#include <math.h>
#include <string.h>

#include "sema/body/body.h"

/* ---- range ---- */

/* The text of e with what it is a sum, a difference or a product of converted: of unsigned numbers n - 1 wraps at 0 before it
 * is converted. */
static const char *as_i64(kj_sema *s, const kj_expr *e)
{
    kj_op op = e->kind == KJ_E_BINARY ? e->u.binary.op : KJ_NOPS;
    const char *text = kj_source_text(s, e->span, "...");
    if (e->kind == KJ_E_INT)
        return text;
    if (op != KJ_OP_ADD && op != KJ_OP_SUB && op != KJ_OP_MUL)
        return kj_arena_printf(s->diag->arena, "i64(%s)", text);
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    const char *source = s->diag->source->text;
    if (strcmp(text, "...") == 0)
        return "i64(...)";
    return kj_arena_printf(s->diag->arena, "%.*s%s%.*s%s%.*s",
                           (int)(lhs->span.begin - e->span.begin), source + e->span.begin,
                           as_i64(s, lhs), (int)(rhs->span.begin - lhs->span.end),
                           source + lhs->span.end, as_i64(s, rhs),
                           (int)(e->span.end - rhs->span.end), source + rhs->span.end);
}

/* Refuses a literal below 0 as the step of unsigned bounds, with a better word than that it does
 * not fit them. False after an error. */
static bool check_step(kj_sema *s, const kj_expr *args, const kj_operand *v)
{
    const kj_value *step = &v[2].u.literal;
    kj_dtype type = KJ_VOID;
    for (int i = 0; i < 2; i++)
        if (v[i].kind == KJ_V_SCALAR)
            type = type == KJ_VOID ? v[i].u.scalar.e->type
                                   : kj_common_type(type, v[i].u.scalar.e->type);
    bool down = v[2].kind == KJ_V_LITERAL && kj_is_signed(step->type) && step->i < 0;
    if (!down || !kj_is_int(type) || kj_is_signed(type))
        return true;
    kj_message *m = kj_sema_error(s, v[2].span, KJ_RULE_CONSTANT_RANGE, "a range of %s counts up",
                                  kj_type_name(type));
    const kj_expr *bound = v[0].kind == KJ_V_SCALAR ? args : args->next;
    kj_hint(s->diag, m, "convert its bounds: %s", as_i64(s, bound));
    return false;
}

/* Of a bound that is a float without a type: no integer is what goes on for ever, is no number, or beyond 64 bits. */
static void hint_turns(kj_sema *s, kj_message *m, const kj_operand *v)
{
    bool one = v->kind == KJ_V_LITERAL;
    double f = one ? v->u.literal.f : 0.5;
    if (one && f == trunc(f) && fabs(f) < 0x1p63)
        kj_write(s->diag, m, v->span, "%.0f", f);
    else if (isinf(f) && f > 0)
        kj_hint(s->diag, m, "a loop without an end is written while true { ... }");
    else if (f != trunc(f) && isfinite(f))
        kj_hint(s->diag, m, "count turns, and compute with them: start + 0.5 * i");
}

/* The bounds of range(...) in the loop's type: start, stop, step. False after an error. */
static bool range_bounds(kj_sema *s, const kj_expr *iter, kj_texpr *bounds[3])
{
    kj_operand v[3];
    int n = kj_count(iter->u.call.args);
    if (n < 1 || n > 3) {
        kj_arity_error(s, iter, "range", "(stop), range(start, stop) or range(start, stop, step)",
                       1, 3);
        return false;
    }
    if (!kj_no_keywords(s, iter, "range"))
        return false;
    kj_index_list(s, iter->u.call.args, v, n);
    for (int i = 0; i < n; i++) {
        if (kj_no_number(s, &v[i], "range"))
            return false;
        kj_dtype t = v[i].kind == KJ_V_SCALAR ? v[i].u.scalar.e->type : kj_untyped_type(&v[i]);
        if (kj_is_float(t)) {
            kj_message *m = kj_sema_error(s, v[i].span, KJ_RULE_NOT_AN_INTEGER,
                                          "range takes integers, not %s", kj_describe(s, &v[i]));
            if (v[i].kind == KJ_V_SCALAR)
                kj_write(s->diag, m, v[i].span, "i32(%s)", kj_source_text(s, v[i].span, "..."));
            else
                hint_turns(s, m, &v[i]);
            return false;
        }
    }
    if ((n == 3 && !check_step(s, iter->u.call.args, v)) ||
        !kj_unify(s, v, n, KJ_VOID, iter->span, "range"))
        return false;
    kj_dtype type = v[0].u.scalar.e->type;
    bounds[0] = n > 1 ? v[0].u.scalar.e : kj_te_const(s, kj_int(type, 0), iter->span);
    bounds[1] = n > 1 ? v[1].u.scalar.e : v[0].u.scalar.e;
    bounds[2] = n > 2 ? v[2].u.scalar.e : kj_te_const(s, kj_int(type, 1), iter->span);
    return true;
}

/* ---- for over arrays: loops over the numbers of the elements along the first axis ---- */

enum { MAX_ZIPPED = 8 };

/* What a loop is over: arrays, or tuples. numbered: the elements' numbers come first. */
typedef struct each_loop {
    kj_operand of[MAX_ZIPPED];
    int n;
    bool numbered, tuples;
} each_loop;

static bool calls(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const kj_symbol *callee = e->kind == KJ_E_CALL ? kj_named(s, e->u.call.callee) : NULL;
    return callee && callee->kind == KJ_SYM_BUILTIN && callee->builtin == id;
}

static bool refuse_iterated(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    if (v->kind == KJ_V_ERROR)
        return false;
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_RANGE,
                                  "a for loop runs over range(...), an array or a tuple, not %s",
                                  kj_describe(s, v));
    if (v->kind == KJ_V_SCALAR || v->kind == KJ_V_LITERAL)
        kj_hint(s->diag, m, "write for i in range(%s)", kj_source_text(s, e->span, "..."));
    if (v->kind == KJ_V_SCALAR || v->kind == KJ_V_LITERAL)
        kj_fix(s->diag, m, e->span, "range(%s)", kj_source_text(s, e->span, "..."));
    return false;
}

static bool take_one(kj_sema *s, const kj_expr *e, each_loop *each)
{
    s->iterates = e;
    kj_operand v = kj_expr_untyped(s, e, KJ_VOID);
    s->iterates = NULL;
    const kj_aggregate *of = v.kind == KJ_V_TUPLE ? v.u.tuple.of : NULL;
    bool tuple = v.kind == KJ_V_TUPLE && (!of || (kj_is_fixed(of) && of->ndim == 1));
    if (v.kind != KJ_V_ARRAY && !tuple)
        return refuse_iterated(s, e, &v);
    if (each->n && each->tuples != tuple) {
        kj_sema_error(s, e->span, KJ_RULE_NOT_A_RANGE,
                      "zip runs over arrays or over tuples, not over both");
        return false;
    }
    each->tuples = tuple;
    each->of[each->n++] = tuple ? kj_hold_value(s, v, "item") : v;
    return true;
}

static bool take_all(kj_sema *s, const kj_expr *iter, each_loop *each)
{
    bool zip = calls(s, iter, KJ_BI_ZIP);
    each->numbered = calls(s, iter, KJ_BI_ENUMERATE);
    if (!zip && !each->numbered)
        return take_one(s, iter, each);
    const kj_expr *args = iter->u.call.args;
    const char *name = zip ? "zip" : "enumerate";
    int n = kj_count(args), least = zip ? 2 : 1, most = zip ? MAX_ZIPPED : 1;
    if (n < least || n > most) {
        kj_arity_error(s, iter, name, zip ? "(a, b, ...)" : "(a)", least, most);
        return false;
    }
    if (!kj_no_keywords(s, iter, name))
        return false;
    for (; args; args = args->next)
        if (!take_one(s, args, each))
            return false;
    return true;
}

/* Is what a turn gives a tuple that has a name for each of its parts? */
static bool takes_apart(const each_loop *each, int names)
{
    if (!each->tuples || each->numbered || each->n > 1 || names < 2)
        return false;
    const kj_operand *t = &each->of[0];
    for (int i = 0; i < t->u.tuple.n; i++)
        if (t->u.tuple.items[i].kind != KJ_V_TUPLE || t->u.tuple.items[i].u.tuple.n != names)
            return false;
    return t->u.tuple.n > 0;
}

static void refuse_names(kj_sema *s, const kj_stmt *st, int values, int names)
{
    kj_message *m = kj_sema_error(s, st->u.for_.names->span, KJ_RULE_TUPLE_ARITY,
                                  "this gives %d value%s a turn, and here %s %d name%s", values,
                                  values == 1 ? "" : "s", names == 1 ? "is" : "are", names,
                                  names == 1 ? "" : "s");
    if (values == 1 && names == 2)
        kj_hint(s->diag, m, "write enumerate(%s) for numbers and elements",
                kj_source_text(s, st->u.for_.iter->span, "..."));
}

static bool each_of(kj_sema *s, const kj_stmt *st, each_loop *each)
{
    int names = 0;
    *each = (each_loop){.n = 0};
    for (const kj_name *name = st->u.for_.names; name; name = name->next)
        names++;
    if (!take_all(s, st->u.for_.iter, each))
        return false;
    int values = each->n + each->numbered;
    if (names == values || takes_apart(each, names))
        return true;
    refuse_names(s, st, values, names);
    return false;
}

/* How many turns there are. */
static kj_texpr *turns_of(kj_sema *s, const each_loop *each, kj_span span)
{
    kj_texpr *count = NULL;
    for (int i = 0; i < each->n; i++) {
        kj_texpr *own = each->tuples ? kj_te_i64(s, each->of[i].u.tuple.n, span)
                                     : each->of[i].u.array->shape[0];
        count = count ? kj_i64_min(s, count, own, span) : own;
    }
    return kj_hold(s, count, "count");
}

static void count_bounds(kj_sema *s, const each_loop *each, kj_span span, kj_texpr *bounds[3])
{
    bounds[0] = kj_te_i64(s, 0, span);
    bounds[1] = turns_of(s, each, span);
    bounds[2] = kj_te_i64(s, 1, span);
}

static void declare_item(kj_sema *s, const kj_name *name, kj_operand v)
{
    kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                     kj_declared(s, name->name, name->span, false, v));
}

/* What a turn gives, to its names; number: a literal of it, or a variable. */
static void each_begin(kj_sema *s, const kj_name *name, const each_loop *each, kj_operand number,
                       const kj_operand *items)
{
    if (each->numbered) {
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP, number);
        name = name->next;
    }
    if (each->n == 1 && name->next) {
        for (int i = 0; name; name = name->next, i++)
            declare_item(s, name,
                         items[0].kind == KJ_V_TUPLE ? items[0].u.tuple.items[i] : items[0]);
        return;
    }
    for (int i = 0; i < each->n; i++, name = name->next)
        declare_item(s, name, items[i]);
}

static void begin_counted(kj_sema *s, const kj_name *name, const each_loop *each, kj_var *number)
{
    kj_operand items[MAX_ZIPPED];
    for (int i = 0; i < each->n; i++) {
        kj_texpr *at = kj_te_var(s, number, name->span);
        items[i] = each->tuples ? kj_item_at(s, &each->of[i], at, name->span)
                                : kj_item_of(s, each->of[i].u.array, at, name->span);
    }
    each_begin(s, name, each, kj_scalar(kj_te_var(s, number, name->span)), items);
}

/* ---- for over tuples: a copy of the body for each item ---- */

/* Does the loop's own body leave a turn? */
static bool has_exit(const kj_stmt *list)
{
    for (const kj_stmt *st = list; st; st = st->next) {
        if (st->kind == KJ_S_BREAK || st->kind == KJ_S_CONTINUE)
            return true;
        if (st->kind == KJ_S_IF && (has_exit(st->u.if_.yes) || has_exit(st->u.if_.no)))
            return true;
        if (st->kind == KJ_S_BLOCK && has_exit(st->u.block.body))
            return true;
    }
    return false;
}

/* The names have no values: there is no turn, or an error. */
static void check_turn(kj_sema *s, const kj_stmt *st)
{
    kj_branch branch;
    kj_branch_open(s, &branch, true);
    kj_scope_push(s);
    for (const kj_name *name = st->u.for_.names; name; name = name->next)
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP, kj_no_value(name->span));
    s->frame->loops++;
    kj_block(s, st->u.for_.body, false);
    s->frame->loops--;
    kj_scope_pop(s);
    kj_branch_close(s, &branch, (kj_operand){.kind = KJ_V_NONE}, st->span);
}

/* An error is told of the first turn that has it. */
static void copies(kj_sema *s, const kj_stmt *st, const each_loop *each)
{
    const kj_name *name = st->u.for_.names;
    int n = each->of[0].u.tuple.n, errors = s->diag->errors;
    uint64_t copy = s->frame->copy;
    for (int i = 1; i < each->n; i++)
        n = each->of[i].u.tuple.n < n ? each->of[i].u.tuple.n : n;
    if (n == 0)
        check_turn(s, st);
    for (int k = 0; k < n && s->diag->errors == errors && !s->too_big; k++) {
        kj_operand items[MAX_ZIPPED];
        for (int i = 0; i < each->n; i++)
            items[i] = each->of[i].u.tuple.items[k];
        s->frame->copy = copy * ((uint64_t)n + 1) + (uint64_t)k + 1;
        kj_scope_push(s);
        kj_spend(s, 1); /* a turn that does nothing takes its time, too */
        each_begin(s, name, each, kj_literal_integer((uint64_t)k, name->span), items);
        kj_block(s, st->u.for_.body, false);
        kj_scope_pop(s);
    }
    s->frame->copy = copy;
}

/* ---- for ---- */

static bool has_one_name(kj_sema *s, const kj_name *name)
{
    if (name->next)
        kj_sema_error(s, name->next->span, KJ_RULE_TUPLE_ARITY,
                      "range gives one number a turn, and here are several names");
    return !name->next;
}

/* v: what counts the turns. */
static void declare_names(kj_sema *s, const kj_name *name, const each_loop *each, kj_var *v)
{
    if (each->n)
        begin_counted(s, name, each, v);
    else
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         kj_scalar(kj_te_var(s, v, name->span)));
}

/* What is known of a variable that counts up. */
static void note_loop(kj_sema *s, const kj_var *v, kj_texpr *const bounds[3])
{
    s->vars[v->id].least = kj_least(s, bounds[0]);
    s->vars[v->id].most = kj_most(s, bounds[1]);
}

/* Of bounds of one type, which are known. */
static bool has_no_turn(kj_texpr *const bounds[3])
{
    for (int i = 0; i < 3; i++)
        if (!kj_is_const(bounds[i]))
            return false;
    kj_value step = bounds[2]->u.value;
    bool down = kj_is_signed(step.type) && step.i < 0;
    return kj_fold_binary(down ? KJ_OP_LE : KJ_OP_GE, bounds[0]->u.value, bounds[1]->u.value).b;
}

static void loop(kj_sema *s, const kj_stmt *st, const each_loop *each, kj_texpr *const bounds[3],
                 bool unroll)
{
    const kj_name *name = st->u.for_.names;
    const char *counter = each->n && !each->numbered ? "number" : name->name;
    kj_var *v = kj_new_var(s, counter, name->span, bounds[0]->type, false);
    if (kj_least(s, bounds[2]) >= 0)
        note_loop(s, v, bounds);
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_scope_push(s);
    declare_names(s, name, each, v);
    s->frame->loops++;
    kj_block(s, st->u.for_.body, false);
    s->frame->loops--;
    kj_scope_pop(s);
    bool barrier = sink.barrier;
    kj_tstmt *body = kj_sink_close(s, &sink);
    kj_tstmt *made = kj_emit(s, KJ_TS_FOR, st->span);
    made->u.for_.var = v;
    made->u.for_.start = bounds[0];
    made->u.for_.stop = bounds[1];
    made->u.for_.step = bounds[2];
    made->u.for_.body = body;
    made->u.for_.unroll = unroll;
    kj_mark_barrier(s, made, barrier);
}

void kj_for_stmt(kj_sema *s, const kj_stmt *st)
{
    each_loop each = {.n = 0};
    kj_texpr *bounds[3] = {NULL, NULL, NULL};
    const kj_expr *iter = st->u.for_.iter;
    bool unroll = kj_loop_attrs(s, st), range = calls(s, iter, KJ_BI_RANGE);
    bool ok = range ? range_bounds(s, iter, bounds) && has_one_name(s, st->u.for_.names)
                    : each_of(s, st, &each);
    if (!ok) {
        check_turn(s, st);
        return;
    }
    if (each.tuples && !has_exit(st->u.for_.body)) {
        copies(s, st, &each);
        return;
    }
    if (!range)
        count_bounds(s, &each, iter->span, bounds);
    if (!has_no_turn(bounds)) {
        loop(s, st, &each, bounds, unroll || each.tuples);
        return;
    }
    kj_branch branch;
    kj_branch_open(s, &branch, true);
    loop(s, st, &each, bounds, unroll || each.tuples);
    kj_branch_close(s, &branch, (kj_operand){.kind = KJ_V_NONE}, st->span);
}
