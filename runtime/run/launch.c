/* Launches of a run block: `k[grid, block, stream](args...)` and k.forall(n, stream)(args...). In:
 * the call and its kernel; out: a launch. What k.max_cooperative_blocks(block)(args...) asks of a
 * launch goes the same way. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

bool kj_run_unconfigured(kj_run *r, kj_span at, const kj_kernel_decl *kernel)
{
    kj_run_fail(r, KJIT_LAUNCH, at, "kernel '%s' is called without a grid and a block",
                kernel->name);
    return kj_run_hint(r, "write %s[grid, block](...), or %s.forall(n)(...)", kernel->name,
                       kernel->name);
}

/* An int or a tuple of up to three. A 0 anywhere in a grid makes it empty. */
static bool dimensions(kj_run *r, const kj_expr *e, bool block, int64_t out[3])
{
    const char *what = block ? "block" : "grid";
    kj_rvalue v;
    if (!kj_run_eval(r, e, &v))
        return false;
    bool tuple = v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST;
    int64_t n = tuple ? v.u.object->u.seq.n : 1;
    if (n < 1 || n > 3)
        return kj_run_fail(r, KJIT_LAUNCH, e->span, "a %s has 1 to 3 dimensions, not %lld", what,
                           (long long)n);
    bool empty = false;
    for (int64_t i = 0; i < n; i++) {
        kj_rvalue d = tuple ? v.u.object->u.seq.items[i] : v;
        if (d.kind != KJ_R_INT) {
            kj_run_fail(r, KJIT_TYPE, e->span, "a %s is an int or a tuple of ints, not %s", what,
                        kj_run_kind_name(d));
            return d.kind == KJ_R_FLOAT
                       ? kj_run_hint(r, "// divides to an int, ceil_div(n, m) rounds up")
                   : kj_is_array(d)
                       ? kj_run_hint(r, "len(a) is how many elements a has along its first axis")
                       : false;
        }
        if (d.dtype == KJIT_U64 || d.u.i < block)
            return kj_run_fail(r, KJIT_LAUNCH, e->span, "a %s cannot have %s %s", what,
                               kj_run_short(d).text, block ? "threads" : "blocks");
        out[i] = d.u.i;
        empty |= d.u.i == 0;
    }
    if (empty)
        out[0] = 0;
    kj_run_drop(&v);
    return true;
}

/* The stream's object stays with the variable that holds it, or in *hold. */
static bool stream_of(kj_run *r, const kj_expr *e, kj_rvalue *hold, kjit_stream **out)
{
    if (!kj_run_eval(r, e, hold))
        return false;
    if (hold->kind != KJ_R_STREAM) {
        kj_run_fail(r, KJIT_TYPE, e->span, "a stream is needed here, not %s",
                    kj_run_kind_name(*hold));
        return e->kind == KJ_E_INT && /* Numba's 0 */
               kj_run_hint(r, "leave it out for the default stream; stream() makes one");
    }
    *out = hold->u.object->u.stream;
    return true;
}

/* The aggregate that the argument `v` is for, which `places` others by place come before; or
 * NULL. */
static const kj_aggregate *value_wanted(kj_records *records, const kj_kernel_decl *kernel,
                                        const kj_expr *e, int places, const kj_rvalue *v)
{
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_kernel_param *p = &kernel->params[i];
        if (e->keyword ? strcmp(p->name, e->keyword) == 0 : i == places)
            return p->ndim > 0            ? NULL
                   : p->generic < 0       ? kj_aggregate_in(records, p->type)
                   : kj_run_is_record(*v) ? v->u.object->u.array->of
                                          : NULL;
    }
    return NULL;
}

/* What a complex number is given as: all its digits where the parameter or arrays say the type. */
static kjit_dtype complex_wanted(const kj_kernel_decl *kernel, const kj_expr *e, int places)
{
    int generic = -1;
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_kernel_param *p = &kernel->params[i];
        if (e->keyword ? strcmp(p->name, e->keyword) == 0 : i == places)
            generic = p->generic;
    }
    for (int i = 0; generic >= 0 && i < kernel->nparams; i++)
        if (kernel->params[i].generic == generic && kernel->params[i].ndim > 0)
            return KJIT_C128;
    return generic < 0 ? KJIT_C128 : KJIT_C64;
}

/* A complex number, or a tuple or list for a parameter of several scalars: an array without axes,
 * in its place. */
static bool value_argument(kj_run *r, const kj_expr *e, kjit_dtype type, kj_rvalue *v,
                           kjit_arg *out)
{
    kj_rvalue made;
    unsigned char element[KJ_RUN_ELEMENT];
    const kj_aggregate *record = kj_dtype_aggregate(r->ctx, type);
    if (kj_is_record(record)) {
        if (!kj_run_record_of(r, e->span, record, *v, &made))
            return false;
    } else if (kj_run_is_complex(*v)) {
        if (!kj_run_pack(r, e->span, type, *v, element) ||
            !kj_run_new_array(r, e->span, type, 0, NULL, KJIT_HOST, &made))
            return false;
        kj_run_fill(made.u.object->u.array, element);
    } else if (!kj_run_items_array(r, e->span, *v, type, &made)) {
        return false;
    }
    kj_run_drop(v);
    *v = made;
    *out = kjit_arg_value(type, kjit_array_data(made.u.object->u.array));
    out->name = e->keyword;
    return true;
}

/* `element` is room for a number that has a type, as long as the launch lasts. */
static bool argument(kj_run *r, const kj_expr *e, kj_rvalue v, uint64_t *element, kjit_arg *out)
{
    switch (v.kind) {
    case KJ_R_ARRAY: *out = kjit_arg_array(v.u.object->u.array); break;
    case KJ_R_SMART: *out = kjit_arg_smart(v.u.object->u.smart); break;
    case KJ_R_INT:
    case KJ_R_FLOAT:
        if (v.typed)
            kj_value_write(element, 0, kj_fold_convert(kj_run_to_value(v), v.type));
        *out = v.typed                ? kjit_arg_value((kjit_dtype)v.type, element)
               : v.kind == KJ_R_FLOAT ? kjit_arg_f64(v.u.f)
               : v.dtype == KJIT_U64  ? kjit_arg_u64((uint64_t)v.u.i)
                                      : kjit_arg_i64(v.u.i);
        break;
    case KJ_R_BOOL: *out = kjit_arg_bool((int)v.u.i); break;
    default:
        kj_run_fail(r, KJIT_TYPE, e->span, "%s cannot be given to a kernel", kj_run_kind_name(v));
        return v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE
                   ? kj_run_hint(r, "array(...) makes an array of it")
                   : false;
    }
    out->name = e->keyword;
    return true;
}

/* How a launch is configured. */
typedef struct config {
    kjit_config launch;
    enum { LAUNCH, FORALL, COUNT } kind;
    int64_t n;
    kj_rvalue stream;
} config;

static bool forall_config(kj_run *r, const kj_expr *call, config *c)
{
    const kj_expr *n = call->u.call.args, *stream = n ? n->next : NULL;
    kj_rvalue v;
    c->kind = FORALL;
    if (!n || n->keyword || (stream && stream->next))
        return kj_run_fail(r, KJIT_LAUNCH, call->span,
                           "forall takes the number of threads, and perhaps a stream");
    if (!kj_run_eval(r, n, &v))
        return false;
    if (v.kind != KJ_R_INT || v.dtype == KJIT_U64 || v.u.i < 0) {
        kj_run_fail(r, v.kind == KJ_R_INT ? KJIT_LAUNCH : KJIT_TYPE, n->span,
                    "%s is no number of threads",
                    v.kind == KJ_R_INT ? kj_run_short(v).text : kj_run_kind_name(v));
        return v.kind == KJ_R_FLOAT && kj_run_hint_int(r, n->span); /* n = 1e6 */
    }
    c->n = v.u.i;
    return !stream || stream_of(r, stream, &c->stream, &c->launch.stream);
}

static bool count_config(kj_run *r, const kj_expr *call, config *c)
{
    const kj_expr *block = call->u.call.args;
    c->kind = COUNT;
    if (!block || block->keyword || block->next)
        return kj_run_fail(r, KJIT_LAUNCH, call->span,
                           "max_cooperative_blocks takes the shape of a block");
    return dimensions(r, block, true, c->launch.block);
}

static bool call_config(kj_run *r, const kj_expr *call, config *c)
{
    bool forall = strcmp(call->u.call.callee->u.member.name, "forall") == 0;
    return (forall ? forall_config : count_config)(r, call, c);
}

static bool bracket_config(kj_run *r, const kj_expr *index, config *c)
{
    const kj_expr *grid = index->u.index.args, *block = grid ? grid->next : NULL,
                  *stream = block ? block->next : NULL;
    if (!block || (stream && stream->next)) {
        kj_run_fail(r, KJIT_LAUNCH, index->span,
                    "a launch needs a grid and a block, and perhaps a stream");
        return kj_run_hint(r, "k[grid, block](...), k[grid, block, stream](...)");
    }
    for (const kj_expr *e = grid; e; e = e->next) {
        if (e->kind == KJ_E_SLICE)
            return kj_run_fail(r, KJIT_LAUNCH, e->span, "a slice is no launch dimension");
    }
    return dimensions(r, grid, false, c->launch.grid) &&
           dimensions(r, block, true, c->launch.block) &&
           (!stream || stream_of(r, stream, &c->stream, &c->launch.stream));
}

static kjit_status carry_out(kj_run *r, const kj_kernel_decl *kernel, const config *c,
                             const kjit_arg *args, int n, kj_rvalue *out)
{
    int64_t blocks;
    kjit_status status;
    switch (c->kind) {
    case FORALL:
        return kjit_launch_forall(r->module, kernel->name, c->n, c->launch.stream, args, n);
    case COUNT:
        status =
            kjit_max_cooperative_blocks(r->module, kernel->name, c->launch.block, args, n, &blocks);
        if (status == KJIT_OK)
            *out = kj_run_int(blocks);
        return status;
    default: return kjit_launch(r->module, kernel->name, &c->launch, args, n);
    }
}

/* In(a), Out(a) and InOut(a) elsewhere than among a launch's arguments. */
bool kj_run_direction(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    (void)out;
    kj_run_fail(r, KJIT_TYPE, c->span, "In, Out and InOut say which way a launch's argument goes");
    return kj_run_hint(r, "k[grid, block](In(a), Out(b))");
}

/* What an argument stands for: within In(a), Out(a), InOut(a) the array, and its kind. */
static const kj_expr *within(kj_run *r, const kj_expr *e, kjit_arg_kind *kind)
{
    static const struct {
        const char *name;
        kjit_arg_kind kind;
    } ways[] = {{"In", KJIT_ARG_IN}, {"Out", KJIT_ARG_OUT}, {"InOut", KJIT_ARG_ARRAY}};
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    *kind = KJIT_ARG_VALUE; /* none of them */
    if (!callee || callee->kind != KJ_E_NAME || kj_run_binding_of(r, callee->u.name))
        return e;
    const kj_expr *arg = e->u.call.args;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(callee->u.name, ways[i].name) == 0 && arg && !arg->next && !arg->keyword) {
            *kind = ways[i].kind;
            return arg;
        }
    }
    return e;
}

static bool set_way(kj_run *r, const kj_expr *e, kjit_arg_kind kind, kjit_arg *out)
{
    if (kind == KJIT_ARG_VALUE)
        return true;
    if (out->kind != KJIT_ARG_ARRAY)
        return kj_run_fail(r, KJIT_TYPE, e->span, "In, Out and InOut take an array");
    out->kind = kind;
    return true;
}

/* At the argument that the failure is about, if it is about one. */
static bool launch_failed(kj_run *r, const kj_expr *call, const kj_kernel_decl *kernel,
                          const kj_rvalue *values, kjit_status status)
{
    int about = kj_failed_about(r->ctx), places = 0, n = 0;
    const kj_kernel_param *p = about >= 0 ? &kernel->params[about] : NULL;
    const kj_expr *e = call->u.call.args;
    for (; p && e && (e->keyword ? strcmp(e->keyword, p->name) != 0 : places != about); n++) {
        places += !e->keyword;
        e = e->next;
    }
    if (!p || !e || r->status != KJIT_OK)
        return kj_run_check(r, status, call->span);
    kj_run_check(r, status, e->span);
    r->declared = p->span;
    kj_rvalue v = values[n];
    kjit_array *a = v.kind == KJ_R_ARRAY ? v.u.object->u.array : NULL;
    kj_dtype type = a ? (kj_dtype)kjit_array_dtype(a) : KJ_VOID;
    int ndim = a ? kjit_array_ndim(a) : -1;
    if (a && type == p->type && ndim == p->ndim)
        return false;
    kj_saying say;
    kj_say_argument(&say, p->ndim, p->type, kj_dtype_name(r->ctx, (kjit_dtype)p->type), v.kind,
                    type, ndim, r->source, e->span);
    return say.hint[0] ? kj_run_hint(r, "%s", say.hint) : false;
}

static bool launch(kj_run *r, const kj_expr *call, const kj_kernel_decl *kernel, const config *c,
                   kj_rvalue *values, kjit_arg *args, uint64_t *elements, kj_rvalue *out)
{
    int n = 0, places = 0;
    for (const kj_expr *e = call->u.call.args; e; e = e->next, n++) {
        kjit_arg_kind way;
        if (!kj_run_eval(r, within(r, e, &way), &values[n]))
            return false;
        const kj_aggregate *of = value_wanted(r->ctx->records, kernel, e, places, &values[n]);
        bool complex = kj_run_is_complex(values[n]);
        bool items =
            of && (values[n].kind == KJ_R_TUPLE || values[n].kind == KJ_R_LIST ||
                   (kj_run_is_record(values[n]) && values[n].u.object->u.array->ndim == 0));
        kjit_dtype type = complex ? complex_wanted(kernel, e, places)
                          : items ? (kjit_dtype)of->type
                                  : KJIT_BOOL;
        places += !e->keyword;
        if (complex || items ? !value_argument(r, e, type, &values[n], &args[n])
                             : !argument(r, e, values[n], &elements[n], &args[n]))
            return false;
        if (!set_way(r, e, way, &args[n]))
            return false;
    }
    r->queued |= c->launch.stream != NULL;
    kjit_status status = carry_out(r, kernel, c, args, n, out);
    r->launching = status != KJIT_OK;
    bool ok = status == KJIT_OK || launch_failed(r, call, kernel, values, status);
    for (int i = 0; i < n; i++)
        kj_run_drop(&values[i]);
    return ok;
}

bool kj_run_launch(kj_run *r, const kj_expr *call, const kj_kernel_decl *kernel, kj_rvalue *out)
{
    const kj_expr *callee = call->u.call.callee;
    config c = {.stream = kj_run_none()};
    if (!(callee->kind == KJ_E_INDEX ? bracket_config(r, callee, &c) : call_config(r, callee, &c)))
        return false;
    size_t n = 1;
    for (const kj_expr *e = call->u.call.args; e; e = e->next)
        n++;
    kj_rvalue *values = calloc(n, sizeof *values);
    kjit_arg *args = calloc(n, sizeof *args);
    uint64_t *elements = calloc(n, sizeof *elements);
    bool ok = values && args && elements ? launch(r, call, kernel, &c, values, args, elements, out)
                                         : kj_run_no_memory(r, call->span);
    free(elements);
    free(values);
    free(args);
    kj_run_drop(&c.stream);
    return ok;
}
