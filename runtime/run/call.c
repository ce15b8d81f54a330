/* Calls of a run block: what is called, and its arguments. In: a call; out: what it gives. The
 * builtins are the rows of run_builtins.def: arguments go to the parameters of their signatures. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* What is not here is no call: an attribute, or forall. */
static kj_run_builtin *const functions[KJ_NRUN] = {
    [KJ_RUN_ZEROS] = kj_run_make_filled,
    [KJ_RUN_ONES] = kj_run_make_filled,
    [KJ_RUN_EMPTY] = kj_run_make_filled,
    [KJ_RUN_FULL] = kj_run_make_full,
    [KJ_RUN_ZEROS_LIKE] = kj_run_make_like,
    [KJ_RUN_ONES_LIKE] = kj_run_make_like,
    [KJ_RUN_EMPTY_LIKE] = kj_run_make_like,
    [KJ_RUN_ARANGE] = kj_run_make_arange,
    [KJ_RUN_LINSPACE] = kj_run_make_linspace,
    [KJ_RUN_ARRAY] = kj_run_make_array,
    [KJ_RUN_RANDOM_UNIFORM] = kj_run_random_uniform,
    [KJ_RUN_RANDOM_NORMAL] = kj_run_random_normal,
    [KJ_RUN_RANDOM_RANDINT] = kj_run_random_randint,
    [KJ_RUN_LOAD] = kj_run_load_file,
    [KJ_RUN_SAVE] = kj_run_save_file,
    [KJ_RUN_SAMPLE_RATE] = kj_run_sample_rate,
    [KJ_RUN_TO_DEVICE] = kj_run_to_device,
    [KJ_RUN_DEVICE_ARRAY] = kj_run_array_in,
    [KJ_RUN_DEVICE_ARRAY_LIKE] = kj_run_array_in,
    [KJ_RUN_PINNED_ARRAY] = kj_run_array_in,
    [KJ_RUN_PINNED_ARRAY_LIKE] = kj_run_array_in,
    [KJ_RUN_MAPPED_ARRAY] = kj_run_array_in,
    [KJ_RUN_MAPPED_ARRAY_LIKE] = kj_run_array_in,
    [KJ_RUN_MANAGED_ARRAY] = kj_run_array_in,
    [KJ_RUN_MANAGED_ARRAY_LIKE] = kj_run_array_in,
    [KJ_RUN_COPY] = kj_run_copy,
    [KJ_RUN_SWAP] = kj_run_swap,
    [KJ_RUN_IN] = kj_run_direction,
    [KJ_RUN_OUT] = kj_run_direction,
    [KJ_RUN_IN_OUT] = kj_run_direction,
    [KJ_RUN_M_COPY_TO_HOST] = kj_run_copy_to_host,
    [KJ_RUN_M_COPY_TO_DEVICE] = kj_run_copy_to_device,
    [KJ_RUN_SMART_ARRAY] = kj_run_smart_array,
    [KJ_RUN_M_HOST_CHANGED] = kj_run_changed,
    [KJ_RUN_M_GPU_CHANGED] = kj_run_changed,
    [KJ_RUN_M_VIEW] = kj_run_view,
    [KJ_RUN_M_RESHAPE] = kj_run_reshape,
    [KJ_RUN_M_RAVEL] = kj_run_ravel,
    [KJ_RUN_M_SPLIT] = kj_run_split,
    [KJ_RUN_M_IS_C_CONTIGUOUS] = kj_run_is_contiguous,
    [KJ_RUN_M_IS_F_CONTIGUOUS] = kj_run_is_contiguous,
    [KJ_RUN_M_SUM] = kj_run_reduce,
    [KJ_RUN_M_MEAN] = kj_run_reduce,
    [KJ_RUN_M_STD] = kj_run_spread,
    [KJ_RUN_M_VAR] = kj_run_spread,
    [KJ_RUN_M_MIN] = kj_run_reduce,
    [KJ_RUN_M_MAX] = kj_run_reduce,
    [KJ_RUN_M_ARGMIN] = kj_run_reduce,
    [KJ_RUN_M_ARGMAX] = kj_run_reduce,
    [KJ_RUN_M_ALL] = kj_run_reduce,
    [KJ_RUN_M_ANY] = kj_run_reduce,
    [KJ_RUN_M_CUMSUM] = kj_run_cumsum,
    [KJ_RUN_CUMSUM] = kj_run_cumsum,
    [KJ_RUN_SUM] = kj_run_reduce,
    [KJ_RUN_MEAN] = kj_run_reduce,
    [KJ_RUN_ARGMIN] = kj_run_reduce,
    [KJ_RUN_ARGMAX] = kj_run_reduce,
    [KJ_RUN_ALL] = kj_run_reduce,
    [KJ_RUN_ANY] = kj_run_reduce,
    [KJ_RUN_REDUCE] = kj_run_reduce_by,
    [KJ_RUN_SCAN] = kj_run_scan_by,
    [KJ_RUN_WHERE] = kj_run_where,
    [KJ_RUN_STREAM] = kj_run_new_stream,
    [KJ_RUN_DEFAULT_STREAM] = kj_run_default_stream,
    [KJ_RUN_LEGACY_DEFAULT_STREAM] = kj_run_default_stream,
    [KJ_RUN_PER_THREAD_DEFAULT_STREAM] = kj_run_default_stream,
    [KJ_RUN_EVENT] = kj_run_new_event,
    [KJ_RUN_PINNED] = kj_run_page_locked,
    [KJ_RUN_MAPPED] = kj_run_page_locked,
    [KJ_RUN_DEFER_CLEANUP] = kj_run_defer_cleanup,
    [KJ_RUN_SYNCHRONIZE] = kj_run_synchronize,
    [KJ_RUN_ELAPSED] = kj_run_elapsed,
    [KJ_RUN_DEVICE] = kj_run_device,
    [KJ_RUN_DEVICE_KIND] = kj_run_device,
    [KJ_RUN_DEVICE_UNITS] = kj_run_device,
    [KJ_RUN_M_SYNCHRONIZE] = kj_run_m_synchronize,
    [KJ_RUN_M_AUTO_SYNCHRONIZE] = kj_run_auto_synchronize,
    [KJ_RUN_M_QUERY] = kj_run_query,
    [KJ_RUN_M_RECORD] = kj_run_record,
    [KJ_RUN_M_WAIT] = kj_run_wait,
    [KJ_RUN_PRINT] = kj_run_print,
    [KJ_RUN_PLOT] = kj_run_plot,
    [KJ_RUN_SHOW] = kj_run_show,
    [KJ_RUN_ASSERT] = kj_run_assert,
    [KJ_RUN_ASSERT_CLOSE] = kj_run_assert_close,
    [KJ_RUN_RANGE] = kj_run_make_range,
    [KJ_RUN_LEN] = kj_run_len,
    [KJ_RUN_ENUMERATE] = kj_run_enumerate,
    [KJ_RUN_ZIP] = kj_run_zip,
    [KJ_RUN_INT] = kj_run_make_int,
    [KJ_RUN_FLOAT] = kj_run_make_float,
    [KJ_RUN_STR] = kj_run_make_str,
    [KJ_RUN_FORMAT] = kj_run_make_format,
    [KJ_RUN_M_APPEND] = kj_run_m_append,
};

/* Is it a sum and the like, of an array or of a list's numbers? */
static bool reduces(kj_run_id id)
{
    return functions[id] == kj_run_reduce || functions[id] == kj_run_spread ||
           functions[id] == kj_run_cumsum;
}

/* Do its arrays become part of an expression? Then they come as they are: KJ_R_LAZY. */
static bool takes_expressions(kj_run_id id)
{
    return id == KJ_RUN_WHERE || id == KJ_RUN_ARRAY || reduces(id) ||
           functions[id] == kj_run_reduce_by || functions[id] == kj_run_scan_by;
}

static int find_callable(const char *name)
{
    int id = kj_run_builtin_named(name);
    if (id >= 0)
        return id;
    int math = kj_run_math_id(name);
    return math < 0 ? -1 : KJ_NRUN + math;
}

const kj_rnamed *kj_run_named(kj_run *r, const char *name)
{
    size_t room = sizeof r->known / sizeof *r->known;
    kj_rnamed *n = &r->known[((uintptr_t)name >> 3) % room];
    if (n->name == name && n->file == r->file)
        return n;
    *n = (kj_rnamed){.name = name, .file = r->file, .item = r->file->items, .callable = -1};
    while (n->item && n->item->name != name)
        n->item = n->item->next;
    if (!n->item)
        n->callable = find_callable(name);
    return n;
}

static int dotted_id(const char *base, const char *name)
{
    size_t n = strlen(base);
    for (int i = 0; i < KJ_NRUN; i++) {
        if (strncmp(kj_run_builtins[i].name, base, n) == 0 && kj_run_builtins[i].name[n] == '.' &&
            strcmp(kj_run_builtins[i].name + n + 1, name) == 0)
            return i;
    }
    return -1;
}

/* ---- Arguments ---- */

static const kj_run_signature *signature_of(kj_run *r, kj_run_id id)
{
    kj_run_signature *s = &r->signatures[id];
    if (s->n == 0)
        *s = kj_run_signature_of(kj_run_builtins[id].signature);
    return s;
}

static const char *plain_name(const kj_rcall *c)
{
    return kj_run_builtins[c->id].name + (kj_run_builtins[c->id].name[0] == '.');
}

static bool no_such_parameter(kj_run *r, const kj_rcall *c, const kj_expr *e)
{
    kj_run_fail(r, KJIT_TYPE, e->keyword_span, "%s has no parameter '%s'", plain_name(c),
                e->keyword);
    return kj_run_hint(r, "%s%s", plain_name(c), kj_run_builtins[c->id].signature);
}

/* The parameter of the next argument by place; -1 when there is none left. */
static int next_place(const kj_run_signature *s, const kj_rcall *c, kj_rvalue v)
{
    int dtype = v.kind == KJ_R_DTYPE ? kj_run_parameter_named(s, "dtype") : -1;
    if (dtype >= 0 && !c->given[dtype])
        return dtype;
    for (int i = 0; i < s->n; i++) {
        if (!c->given[i])
            return i;
    }
    return -1;
}

static bool bind_rest(kj_run *r, kj_rcall *c, const kj_expr *e, kj_rvalue v)
{
    kj_rvalue *rest = realloc(c->rest, (size_t)(c->nrest + 1) * sizeof *rest);
    if (!rest)
        return kj_run_no_memory(r, e->span);
    c->rest = rest;
    const kj_expr **exprs = realloc(c->rest_exprs, (size_t)(c->nrest + 1) * sizeof *exprs);
    if (!exprs)
        return kj_run_no_memory(r, e->span);
    c->rest_exprs = exprs;
    c->rest_exprs[c->nrest] = e;
    c->rest[c->nrest++] = v;
    return true;
}

/* The function that reduce and scan are given, by its name or as blur.add. */
static kj_rnamed function_named(kj_run *r, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return *kj_run_named(r, e->u.name);
    return (kj_rnamed){.name = e->u.member.name, .item = kj_run_declared(r, e), .callable = -1};
}

static bool bind_argument(kj_run *r, kj_rcall *c, const kj_run_signature *s, const kj_expr *e)
{
    kj_rvalue v;
    int i = e->keyword ? kj_run_parameter_named(s, e->keyword) : -1;
    if (e->keyword && i < 0 && !s->named_rest)
        return no_such_parameter(r, c, e);
    bool function =
        (c->id == KJ_RUN_REDUCE || c->id == KJ_RUN_SCAN) && (e->keyword ? i == 0 : !c->given[0]);
    if (function) {
        c->function = function_named(r, e);
        c->given[0] = true;
        return true;
    }
    if (!(c->id == KJ_RUN_FLOAT      ? kj_run_eval_for_float
          : takes_expressions(c->id) ? kj_run_eval_lazily
                                     : kj_run_eval)(r, e, &v))
        return false;
    if (v.kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, e->span, "this call gives no value");
    if (!e->keyword)
        i = next_place(s, c, v);
    if (e->keyword && i < 0)
        return bind_rest(r, c, e, v);
    if (i < 0) {
        kj_run_fail(r, KJIT_TYPE, e->span, "too many arguments");
        return kj_run_hint(r, "%s%s", plain_name(c), kj_run_builtins[c->id].signature);
    }
    if (s->params[i].rest)
        return bind_rest(r, c, e, v);
    if (c->given[i])
        return kj_run_fail(r, KJIT_TYPE, e->span, "'%.*s' is given twice", s->params[i].len,
                           s->params[i].name);
    c->given[i] = true;
    c->args[i] = v;
    c->spans[i] = e->span;
    return true;
}

static bool bind_arguments(kj_run *r, kj_rcall *c)
{
    const kj_run_signature *s = signature_of(r, c->id);
    for (const kj_expr *e = c->args_expr; e; e = e->next) {
        if (!bind_argument(r, c, s, e))
            return false;
    }
    if (s->n > 1 && s->params[0].optional && !s->params[1].optional && c->given[0] &&
        !c->given[1] && !c->args_expr->keyword) { /* range(n): alone it is the stop */
        c->given[1] = true;
        c->args[1] = c->args[0];
        c->spans[1] = c->spans[0];
        c->given[0] = false;
        c->args[0] = kj_run_none();
    }
    for (int i = 0; i < s->n; i++) {
        if (c->given[i] || s->params[i].optional)
            continue;
        kj_run_fail(r, KJIT_TYPE, c->span, "%s needs '%.*s'", plain_name(c), s->params[i].len,
                    s->params[i].name);
        return kj_run_hint(r, "%s%s", plain_name(c), kj_run_builtins[c->id].signature);
    }
    return true;
}

/* swap works on names, and assert shows what it compared: those two look at their arguments
 * themselves. */
static bool call_builtin(kj_run *r, const kj_expr *e, int id, kj_rvalue self, kj_rvalue *out)
{
    kj_rcall c = {.id = (kj_run_id)id, .span = e->span, .args_expr = e->u.call.args, .self = self};
    if (e->u.call.callee->kind == KJ_E_MEMBER)
        c.self_span = e->u.call.callee->u.member.base->span;
    bool raw = id == KJ_RUN_SWAP || id == KJ_RUN_ASSERT;
    bool ok = raw || bind_arguments(r, &c);
    kj_rvalue first = c.args[0], made = kj_run_none();
    ok = ok && (!reduces((kj_run_id)id) || kj_run_take_list(r, &c, &made)) &&
         functions[id](r, &c, out);
    if (made.kind != KJ_R_NONE) {
        c.args[0] = first;
        kj_run_drop(&made);
    }
    for (int i = 0; ok && i < KJ_RUN_MAX_PARAMS; i++)
        kj_run_drop(&c.args[i]);
    for (int i = 0; ok && i < c.nrest; i++)
        kj_run_drop(&c.rest[i]);
    free(c.rest);
    free(c.rest_exprs);
    return ok;
}

/* min(a), max(a, axis=0): a.min(), a.max(axis=0). */
static bool call_extreme(kj_run *r, const kj_expr *e, kj_builtin id, kj_rvalue *out)
{
    kj_expr call = *e;
    kj_rvalue self;
    if (!kj_run_eval_lazily(r, e->u.call.args, &self))
        return false;
    if (!kj_is_array(self) && self.kind != KJ_R_LIST && self.kind != KJ_R_TUPLE)
        return kj_run_fail(r, KJIT_TYPE, e->u.call.args->span,
                           "%s of one value works on arrays, not on %s", kj_builtins[id].name,
                           kj_run_kind_name(self));
    call.u.call.args = e->u.call.args->next;
    bool ok = call_builtin(r, &call, id == KJ_BI_MIN ? KJ_RUN_M_MIN : KJ_RUN_M_MAX, self, out);
    kj_run_drop(&self);
    return ok;
}

/* Behind a failure of the call: one of its arguments is to be converted. */
static bool hint_argument(kj_run *r, const kj_expr *e)
{
    kj_span spans[KJ_RUN_MAX_PARAMS];
    int n = 0;
    for (const kj_expr *arg = e->u.call.args; arg && n < KJ_RUN_MAX_PARAMS; arg = arg->next)
        spans[n++] = arg->span;
    return kj_run_hint_operand(r, e->span, spans, n);
}

static bool call_math(kj_run *r, const kj_expr *e, kj_builtin id, kj_rvalue *out)
{
    const kj_expr *first = e->u.call.args;
    if ((id == KJ_BI_MIN || id == KJ_BI_MAX) && first && !first->keyword &&
        (!first->next || first->next->keyword))
        return call_extreme(r, e, id, out);

    enum { MOST = 16 };
    kj_rvalue args[MOST];
    int n = 0;
    bool arrays = false;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->keyword)
            return kj_run_fail(r, KJIT_TYPE, arg->keyword_span, "%s has no named parameters",
                               kj_builtins[id].name);
        if (n == MOST)
            return kj_run_fail(r, KJIT_TYPE, arg->span, "too many arguments");
        if (!kj_run_eval_lazily(r, arg, &args[n]))
            return false;
        arrays |= kj_is_array(args[n++]);
    }
    if (!arrays && id == KJ_BI_ROUND && n == 2)
        return kj_run_round(r, e->span, args, out);
    if (!arrays)
        return kj_run_math(r, e->span, id, args, n, out) /* numbers only: nothing to drop */
               || hint_argument(r, e);
    bool ok = id == KJ_BI_ROUND && n == 2 ? kj_run_round(r, e->span, args, out)
                                          : kj_lazy_call(r, e->span, id, args, n, out);
    ok = ok || hint_argument(r, e);
    for (int i = 0; i < n; i++)
        kj_run_drop(&args[i]);
    return ok;
}

/* c64(re, im) */
static bool call_complex(kj_run *r, const kj_expr *e, kjit_dtype dtype, kj_rvalue *out)
{
    const kj_expr *arg = e->u.call.args;
    kj_rvalue parts[2];
    for (int i = 0; i < 2; i++, arg = arg->next) {
        if (!kj_run_eval_lazily(r, arg, &parts[i]))
            return false;
        bool real = kj_is_array(parts[i]) ? !kj_is_complex_type(kj_lazy_type(parts[i]))
                                          : kj_run_is_number(parts[i]);
        if (!real)
            return kj_run_fail(r, KJIT_TYPE, arg->span, "a part of %s is a real number, not %s",
                               kjit_dtype_name(dtype),
                               kj_is_array(parts[i]) ? "complex" : kj_run_kind_name(parts[i]));
    }
    if (!kj_is_array(parts[0]) && !kj_is_array(parts[1])) {
        *out = kj_run_to_complex(dtype, parts[0]);
        out->imag = kj_run_to_complex(dtype, parts[1]).u.f;
        return true;
    }
    bool ok = kj_lazy_complex(r, e->span, (kj_dtype)dtype, parts, out);
    kj_run_drop(&parts[0]);
    kj_run_drop(&parts[1]);
    return ok;
}

/* f32x4(1, 2, 3, 4), f32x4(1): here a tuple. */
static bool call_vector(kj_run *r, const kj_expr *e, const kj_aggregate *of, kj_rvalue *out)
{
    int n = 0;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
        n++;
    if (n != 1 && n != of->n)
        return kj_run_fail(r, KJIT_TYPE, e->span, "%s takes 1 or %d numbers", of->name, of->n);
    if (!kj_run_sequence(r, e->span, KJ_R_TUPLE, of->n, out))
        return false;
    const kj_expr *arg = e->u.call.args;
    for (int i = 0; i < of->n; i++) {
        kj_rvalue v;
        if (!kj_run_eval(r, arg, &v) ||
            !kj_run_cast(r, arg->span, (kjit_dtype)of->elem, v, &out->u.object->u.seq.items[i]))
            return false;
        if (n > 1)
            arg = arg->next;
    }
    return true;
}

static bool call_type(kj_run *r, const kj_expr *e, kjit_dtype dtype, kj_rvalue *out)
{
    const kj_expr *arg = e->u.call.args;
    const kj_aggregate *of = kj_dtype_aggregate(r->ctx, dtype);
    kj_rvalue v;
    bool complex = kj_is_complex_type((kj_dtype)dtype);
    if (complex && arg && arg->next && !arg->next->next && !arg->keyword && !arg->next->keyword)
        return call_complex(r, e, dtype, out);
    if (of && !complex)
        return kj_is_record(of) ? kj_run_record_call(r, e, of, out) : call_vector(r, e, of, out);
    if (!arg || arg->next || arg->keyword)
        return kj_run_fail(r, KJIT_TYPE, e->span, "%s(x) converts a number or an array",
                           kjit_dtype_name(dtype));
    if (!(kj_is_float((kj_dtype)dtype) ? kj_run_eval_for_float : kj_run_eval_lazily)(r, arg, &v))
        return false;
    if (v.kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, arg->span, "this call gives no value");
    if (!kj_is_array(v))
        return kj_run_cast(r, arg->span, dtype, v, out);
    bool ok = kj_lazy_cast(r, e->span, (kj_dtype)dtype, v, out);
    kj_run_drop(&v);
    return ok;
}

/* ---- What is called ---- */

static bool call_value(kj_run *r, const kj_expr *e, kj_rvalue callee, kj_rvalue *out)
{
    if (callee.kind == KJ_R_DTYPE)
        return call_type(r, e, callee.dtype, out);
    if (callee.kind == KJ_R_KERNEL)
        return kj_run_unconfigured(r, e->span, callee.u.kernel);
    return kj_run_fail(r, KJIT_TYPE, e->u.call.callee->span, "%s cannot be called",
                       kj_run_kind_name(callee));
}

/* item: what the file has of that name, or NULL. */
static bool call_item(kj_run *r, const kj_expr *e, const kj_item *item, kj_rvalue *out)
{
    kj_rvalue callee;
    if (item && item->kind == KJ_I_FN)
        return kj_run_function(r, e, item, out);
    if (item && item->kind == KJ_I_RUN_FN)
        return kj_run_subroutine(r, e, item, out);
    if (!kj_run_eval(r, e->u.call.callee, &callee) || !call_value(r, e, callee, out))
        return false;
    kj_run_drop(&callee);
    return true;
}

static bool call_name(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const char *name = e->u.call.callee->u.name;
    const kj_rnamed *n = kj_run_binding_of(r, name) ? NULL : kj_run_named(r, name);
    if (n && n->callable >= KJ_NRUN)
        return call_math(r, e, (kj_builtin)(n->callable - KJ_NRUN), out);
    if (n && n->callable >= 0)
        return call_builtin(r, e, n->callable, kj_run_none(), out);
    return call_item(r, e, n ? n->item : NULL, out);
}

static bool call_member(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const kj_expr *member = e->u.call.callee, *base = member->u.member.base;
    const char *name = member->u.member.name;
    const kj_item *item = kj_run_declared(r, member);
    if (item)
        return call_item(r, e, item, out);
    if (base->kind == KJ_E_NAME && !kj_run_binding_of(r, base->u.name)) {
        int dotted = dotted_id(base->u.name, name);
        if (dotted >= 0)
            return call_builtin(r, e, dotted, kj_run_none(), out);
    }
    kj_rvalue self;
    int id = kj_run_member_named(name);
    if (!kj_run_eval_lazily(r, base, &self) ||
        ((id < 0 || !takes_expressions((kj_run_id)id)) && !kj_lazy_finish(r, base->span, &self)))
        return false;
    if (self.kind == KJ_R_KERNEL)
        return kj_run_unconfigured(r, e->span, self.u.kernel);
    if (id < 0 || id == KJ_RUN_M_FORALL || id == KJ_RUN_M_MAX_COOPERATIVE_BLOCKS)
        return kj_run_fail(r, KJIT_NOT_FOUND, member->u.member.name_span, "%s has no '%s'",
                           kj_run_kind_name(self), name);
    if (!functions[id]) {
        kj_run_fail(r, KJIT_TYPE, e->span, "'%s' is not called", name);
        return kj_run_hint(r, "write .%s", name);
    }
    if (!call_builtin(r, e, id, self, out))
        return false;
    kj_run_drop(&self);
    return true;
}

/* k.forall(n) or k.max_cooperative_blocks(block)? */
static bool is_kernel_member(const kj_expr *callee)
{
    if (callee->kind != KJ_E_CALL || callee->u.call.callee->kind != KJ_E_MEMBER)
        return false;
    const char *name = callee->u.call.callee->u.member.name;
    return strcmp(name, "forall") == 0 || strcmp(name, "max_cooperative_blocks") == 0;
}

/* The kernel of k[grid, block](...) and the like, or NULL. */
static bool configured_kernel(kj_run *r, const kj_expr *callee, const kj_kernel_decl **out)
{
    const kj_expr *base = NULL;
    *out = NULL;
    if (callee->kind == KJ_E_INDEX)
        base = callee->u.index.base;
    else if (is_kernel_member(callee))
        base = callee->u.call.callee->u.member.base;
    if (!base || base->kind == KJ_E_CALL) /* no call gives a kernel: don't run it twice */
        return true;
    kj_rvalue v;
    if (!kj_run_eval(r, base, &v))
        return false;
    if (v.kind == KJ_R_KERNEL)
        *out = v.u.kernel;
    kj_run_drop(&v);
    return true;
}

bool kj_run_eval_call(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    const kj_expr *callee = e->u.call.callee;
    *out = kj_run_none();
    if (callee->kind == KJ_E_NAME)
        return call_name(r, e, out);
    if (callee->kind == KJ_E_MEMBER)
        return call_member(r, e, out);
    const kj_kernel_decl *kernel;
    if (!configured_kernel(r, callee, &kernel))
        return false;
    if (kernel)
        return kj_run_launch(r, e, kernel, out);
    kj_rvalue value;
    if (!kj_run_eval(r, callee, &value) || !call_value(r, e, value, out))
        return false;
    kj_run_drop(&value);
    return true;
}
