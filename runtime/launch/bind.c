/* A launch's arguments -> what they fix: types, also those that generics stand for, constants, layouts, values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/format.h"
#include "launch/launch.h"

/* "f32[,]" or "T[,] with T = f32" */
static const char *type_text(const kj_binding *b, const kj_kernel_param *p, char buf[96])
{
    static const char *const dims[] = {"", "[]", "[,]", "[,,]", "[,,,]", "[,,,,]", "[,,,,,]"};
    const kj_generic *g = b->kernel->decl->generics;
    kj_records *records = b->kernel->mod->ctx->records;
    for (int i = 0; i < p->generic; i++)
        g = g->next;
    if (p->generic < 0)
        kj_snprintf(buf, 96, "%.80s%s", kj_type_name_in(records, p->type), dims[p->ndim]);
    else if (b->generics[p->generic] == KJ_VOID)
        kj_snprintf(buf, 96, "%.40s%s", g->name, dims[p->ndim]);
    else
        kj_snprintf(buf, 96, "%.40s%s with %.30s = %s", g->name, dims[p->ndim], g->name,
                    kj_type_name_in(records, b->generics[p->generic]));
    return buf;
}

#define FAIL(b, status, ...) kj_fail((b)->kernel->mod->ctx, status, "kernel '%.100s': " __VA_ARGS__)
#define NAME(b) (b)->kernel->decl->name

static kjit_status about(const kj_binding *b, const kj_kernel_param *p, kjit_status status)
{
    kj_fail_about(b->kernel->mod->ctx, (int)(p - b->kernel->decl->params));
    return status;
}

/* Of the argument for a parameter. */
#define FAIL_OF(b, p, status, ...) about(b, p, FAIL(b, status, __VA_ARGS__))

/* ---- Which argument is whose ---- */

static int find_param(const kj_kernel_decl *decl, const char *name)
{
    for (int i = 0; i < decl->nparams; i++) {
        if (strcmp(decl->params[i].name, name) == 0)
            return i;
    }
    return -1;
}

static kjit_status no_param(kj_binding *b, const char *name)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    const char **names = kj_room_take(&b->room, (size_t)decl->nparams * sizeof *names);
    for (int i = 0; names && i < decl->nparams; i++)
        names[i] = decl->params[i].name;
    const char *near = names ? kj_nearest(name, names, (size_t)decl->nparams) : NULL;
    if (near)
        return FAIL(b, KJIT_LAUNCH, "there is no parameter '%.100s'; did you mean '%s'?", NAME(b),
                    name, near);
    return FAIL(b, KJIT_LAUNCH, "there is no parameter '%.100s'", NAME(b), name);
}

static kjit_status place_args(kj_binding *b, const kjit_arg *args, int nargs)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    char type[96];
    int next = 0;
    memset(b->args, 0, (size_t)decl->nparams * sizeof *b->args);
    for (int i = 0; i < nargs; i++) {
        int at = args[i].name ? find_param(decl, args[i].name) : next++;
        if (at < 0)
            return no_param(b, args[i].name);
        if (at >= decl->nparams)
            return FAIL(b, KJIT_LAUNCH, "%d arguments were given, it has %d parameters", NAME(b),
                        nargs, decl->nparams);
        if (b->args[at])
            return FAIL(b, KJIT_LAUNCH, "the parameter '%s' was given twice", NAME(b),
                        decl->params[at].name);
        b->args[at] = &args[i];
        kjit_status status = KJIT_OK;
        if (args[i].kind == KJIT_ARG_SMART)
            status = kj_smart_argument(b->kernel->mod->ctx, &args[i], &b->args[at]);
        if (status != KJIT_OK)
            return status;
    }
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (!b->args[i] && !p->has_default)
            return FAIL(b, KJIT_LAUNCH,
                        "%s'%s' (%s) was not given: there %s %d argument%s for %d parameter%s",
                        NAME(b), p->is_const ? "const parameter " : "", p->name,
                        type_text(b, p, type), nargs == 1 ? "is" : "are", nargs,
                        nargs == 1 ? "" : "s", decl->nparams, decl->nparams == 1 ? "" : "s");
    }
    return KJIT_OK;
}

/* ---- Types ---- */

static kjit_status fix_generic(kj_binding *b, const kj_kernel_param *p, kj_dtype type)
{
    const kj_generic *g = b->kernel->decl->generics;
    for (int i = 0; i < p->generic; i++)
        g = g->next;
    if (!kj_type_in_bound(type, g->bound))
        return FAIL_OF(b, p, KJIT_TYPE, "'%s' is of %s, but %s stands for %s types", NAME(b),
                       p->name, kj_type_name_in(b->kernel->mod->ctx->records, type), g->name,
                       strcmp(g->bound, "number") == 0 ? "number" : g->bound);
    b->generics[p->generic] = type;
    return KJIT_OK;
}

static const char *arg_text(const kj_binding *b, const kjit_arg *arg, char buf[96])
{
    kjit_context *ctx = b->kernel->mod->ctx;
    const char *name;
    char shape[KJ_SHAPE_TEXT];
    switch (arg->kind) {
    case KJIT_ARG_ARRAY:
    case KJIT_ARG_IN:
    case KJIT_ARG_OUT:
        kj_snprintf(buf, 96, "an array of %.20s, shape %.50s",
                    kj_dtype_name(ctx, arg->u.array->dtype),
                    kj_shape_text(arg->u.array->ndim, arg->u.array->shape, shape));
        return buf;
    case KJIT_ARG_INT: kj_snprintf(buf, 96, "the integer %lld", (long long)arg->u.i); return buf;
    case KJIT_ARG_UINT:
        kj_snprintf(buf, 96, "the integer %llu", (unsigned long long)arg->u.u);
        return buf;
    case KJIT_ARG_FLOAT: {
        char number[KJ_SCALAR_TEXT];
        kj_snprintf(buf, 96, "the float %s", kj_scalar_text(KJIT_F64, &arg->u.f, number));
        return buf;
    }
    case KJIT_ARG_BOOL: return arg->u.i ? "the bool true" : "the bool false";
    case KJIT_ARG_SMART: return "a smart array";
    case KJIT_ARG_VALUE:
        name = kj_dtype_name(ctx, arg->dtype);
        if (kj_is_scalar((kj_dtype)arg->dtype) && arg->u.value) {
            char number[KJ_SCALAR_TEXT];
            kj_snprintf(buf, 96, "the %s %s", name,
                        kj_scalar_text(arg->dtype, arg->u.value, number));
            return buf;
        }
        kj_snprintf(buf, 96, "a value of type %.70s", name ? name : "none");
        return buf;
    }
    return "an argument of no kind";
}

static kjit_status wrong_kind(kj_binding *b, const kj_kernel_param *p, const kjit_arg *arg)
{
    char type[96], text[96];
    return FAIL_OF(b, p, KJIT_TYPE, "'%s' takes %s, not %s", NAME(b), p->name,
                   type_text(b, p, type), arg_text(b, arg, text));
}

/* Is an argument's type the one that is wanted? Another module's records are where they lie in
 * memory alike. */
static kjit_status check_type(kj_binding *b, const kj_kernel_param *p, const kjit_arg *arg,
                              kj_dtype wanted, kjit_dtype given)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    const kj_aggregate *x = kj_aggregate_in(ctx->records, wanted),
                       *y = kj_dtype_aggregate(ctx, given);
    char type[96], why[KJ_DIFFERENCE_TEXT];
    if (wanted == (kj_dtype)given)
        return KJIT_OK;
    if (!kj_is_record(x) || !kj_is_record(y))
        return wrong_kind(b, p, arg);
    if (p->ndim > 0 ? kj_same_elements(x, y, why) : kj_same_layout(x, y, why))
        return KJIT_OK;
    return FAIL_OF(b, p, KJIT_TYPE, "'%s' takes %s, and not these: %s", NAME(b), p->name,
                   type_text(b, p, type), why);
}

static kj_dtype param_type(const kj_binding *b, const kj_kernel_param *p)
{
    return p->generic >= 0 ? b->generics[p->generic] : p->type;
}

/* Bytes that the kernel counts the array's strides in: what its own record is aligned to, if it is not the array's,
 * but one of the same fields that is packed, or is not. */
static int unit_of(const kj_binding *b, kj_dtype wanted, const kjit_array *a)
{
    const kj_aggregate *of =
        wanted == (kj_dtype)a->dtype ? NULL : kj_aggregate_in(b->kernel->mod->ctx->records, wanted);
    return of ? of->align : kj_array_align(a);
}

/* An argument that is an array can be asked what it is. */
static kjit_status check_lives(const kj_binding *b, const kj_kernel_param *p, const kjit_arg *arg)
{
    if (!kj_arg_is_array(arg) || kj_lives(arg->u.array, KJ_ARRAY))
        return KJIT_OK;
    return FAIL_OF(b, p, KJIT_INVALID, "the array for '%s' %s", NAME(b), p->name,
                   arg->u.array ? "was freed" : "is NULL");
}

/* Only empty arrays, and those that are one element over and over, have more. */
static kjit_status check_extents(const kj_binding *b, int i)
{
    const kjit_array *a = b->args[i]->u.array;
    const kj_kernel_param *p = &b->kernel->decl->params[i];
    for (int axis = 0; axis < a->ndim; axis++)
        if (a->shape[axis] > KJ_MOST_EXTENT)
            return FAIL_OF(b, p, KJIT_SHAPE,
                           "axis %d of the array for '%s' has %lld, more than 2^48", NAME(b), axis,
                           p->name, (long long)a->shape[axis]);
    return KJIT_OK;
}

static kjit_status bind_array(kj_binding *b, int i)
{
    const kj_kernel_param *p = &b->kernel->decl->params[i];
    const kjit_arg *arg = b->args[i];
    char type[96], text[96];
    kjit_status status = check_lives(b, p, arg);
    if (status != KJIT_OK)
        return status;
    if (!kj_arg_is_array(arg))
        return wrong_kind(b, p, arg);
    const kjit_array *a = arg->u.array;
    if (a->ctx != b->kernel->mod->ctx)
        return FAIL_OF(b, p, KJIT_INVALID, "the array for '%s' belongs to another context", NAME(b),
                       p->name);
    if (a->ndim != p->ndim)
        return FAIL_OF(b, p, KJIT_SHAPE, "'%s' takes %s, not %s", NAME(b), p->name,
                       type_text(b, p, type), arg_text(b, arg, text));
    kj_dtype wanted = param_type(b, p);
    status = wanted == KJ_VOID ? fix_generic(b, p, (kj_dtype)a->dtype)
                               : check_type(b, p, arg, wanted, a->dtype);
    if (status != KJIT_OK)
        return status;
    int unit = unit_of(b, param_type(b, p), a);
    if (unit == kj_array_align(a) ? !a->aligned : !kj_array_is_aligned(a, unit))
        return FAIL_OF(b, p, KJIT_INVALID,
                       "the array for '%s' is not aligned to %d bytes as its elements are%s: copy "
                       "it first",
                       NAME(b), p->name, unit,
                       (uintptr_t)a->data % (uintptr_t)unit ? "" : ", by its strides of bytes");
    b->layouts[i] = a->layout;
    b->units[i] = unit;
    b->lasts[i] = kj_known_last(b, a);
    b->read_only = b->read_only || a->buffer->read_only;
    b->smart = b->smart || a->smart;
    b->in = b->in || arg->kind == KJIT_ARG_IN;
    if (b->small && kj_is_small(a, unit))
        return KJIT_OK;
    b->small = false;
    return check_extents(b, i);
}

/* A number that has a type, which goes the way of other numbers. */
static bool is_typed_number(const kjit_arg *arg)
{
    return arg->kind == KJIT_ARG_VALUE && kj_is_scalar((kj_dtype)arg->dtype);
}

/* Do the parts of a complex number fit those of the parameter's? */
static kjit_status check_parts(kj_binding *b, const kj_kernel_param *p, const kjit_arg *arg)
{
    kj_dtype from = kj_aggregate_of((kj_dtype)arg->dtype)->elem;
    kj_dtype to = kj_aggregate_of(param_type(b, p))->elem;
    kj_value part[2] = {kj_value_read(arg->u.value, from, 0), kj_value_read(arg->u.value, from, 1)};
    char type[96], text[KJ_SCALAR_TEXT];
    if (kj_value_fits(part[0], to) && kj_value_fits(part[1], to))
        return KJIT_OK;
    return FAIL_OF(b, p, KJIT_TYPE, "the %s %s does not fit in '%s' (%s)", NAME(b),
                   kj_type_name((kj_dtype)arg->dtype),
                   kj_complex_text(part[0].f, part[1].f, from, text), p->name,
                   type_text(b, p, type));
}

static kjit_status bind_value(kj_binding *b, int i)
{
    const kj_kernel_param *p = &b->kernel->decl->params[i];
    const kjit_arg *arg = b->args[i];
    if (!arg->u.value)
        return FAIL_OF(b, p, KJIT_INVALID, "the value for '%s' is NULL", NAME(b), p->name);
    if (is_typed_number(arg))
        return KJIT_OK;
    if (!kj_dtype_aggregate(b->kernel->mod->ctx, arg->dtype))
        return wrong_kind(b, p, arg);
    if (param_type(b, p) == KJ_VOID)
        return fix_generic(b, p, (kj_dtype)arg->dtype);
    if (kj_is_complex_type(param_type(b, p)) && kj_is_complex_type((kj_dtype)arg->dtype))
        return check_parts(b, p, arg);
    return check_type(b, p, arg, param_type(b, p), arg->dtype);
}

/* The scalars of an aggregate, listed behind those there are if `parts` is not NULL. */
static int list_parts(kj_field *parts, int n, const kj_aggregate *of, int64_t offset)
{
    for (int i = 0; i < of->n; i++) {
        kj_field part = of->fields[i];
        part.offset += offset;
        if (part.of)
            n = list_parts(parts, n, part.of, part.offset);
        else if (parts)
            parts[n++] = part;
        else
            n++;
    }
    return n;
}

static const kj_aggregate *aggregate_of(const kj_binding *b, const kj_kernel_param *p)
{
    return p->ndim == 0 ? kj_aggregate_in(b->kernel->mod->ctx->records, param_type(b, p)) : NULL;
}

/* Which parameter, or which part of it, each parameter of the typed kernel is. */
static kjit_status list_runtime(kj_binding *b)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    int n = 0;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_aggregate *of = aggregate_of(b, &decl->params[i]);
        n = of ? list_parts(NULL, n, of, 0) : n + !decl->params[i].is_const;
    }
    if (n > KJ_MAX_PARAMS)
        return FAIL(b, KJIT_LAUNCH, "a kernel that is launched has at most %d parameters", NAME(b),
                    KJ_MAX_PARAMS);
    b->runtime = kj_room_take(&b->room, (size_t)n * sizeof *b->runtime);
    b->parts = kj_room_take(&b->room, (size_t)n * sizeof *b->parts);
    if (!b->runtime || !b->parts)
        return kj_no_memory(b->kernel->mod->ctx);
    b->nruntime = 0;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_aggregate *of = aggregate_of(b, &decl->params[i]);
        int end =
            of ? list_parts(b->parts, b->nruntime, of, 0) : b->nruntime + !decl->params[i].is_const;
        while (b->nruntime < end)
            b->runtime[b->nruntime++] = i;
    }
    return KJIT_OK;
}

kj_value kj_binding_scalar(const kj_binding *b, int i)
{
    int param = b->runtime[i];
    const kjit_arg *arg = b->args[param];
    const kj_field *part = &b->parts[i];
    const kj_kernel_param *p = &b->kernel->decl->params[param];
    bool complex = p->ndim == 0 && kj_is_complex_type(param_type(b, p));
    if (!arg || arg->kind != KJIT_ARG_VALUE || is_typed_number(arg))
        return complex && part->offset > 0 ? kj_float(part->type, 0) : b->scalars[param];
    if (!complex)
        return kj_value_read((const char *)arg->u.value + part->offset, part->type, 0);
    const kj_aggregate *own = kj_aggregate_of((kj_dtype)arg->dtype);
    const kj_field *from = &own->fields[part->offset > 0];
    return kj_fold_convert(kj_value_read((const char *)arg->u.value + from->offset, from->type, 0),
                           part->type);
}

/* The number that is no array's, aggregate's or bool's. */
static kj_value number_of(const kjit_arg *arg)
{
    if (arg->kind == KJIT_ARG_VALUE)
        return kj_value_read(arg->u.value, (kj_dtype)arg->dtype, 0);
    return arg->kind == KJIT_ARG_INT    ? kj_int(KJ_I64, arg->u.i)
           : arg->kind == KJIT_ARG_UINT ? (kj_value){.type = KJ_U64, .u = arg->u.u}
                                        : kj_float(KJ_F64, arg->u.f);
}

static kj_dtype type_alone(const kjit_arg *arg)
{
    if (is_typed_number(arg))
        return kj_is_int((kj_dtype)arg->dtype) ? KJ_I32 : (kj_dtype)arg->dtype;
    if (arg->kind == KJIT_ARG_FLOAT)
        return KJ_F32;
    if (arg->kind == KJIT_ARG_BOOL)
        return KJ_BOOL;
    kj_value v = number_of(arg);
    return kj_value_fits(v, KJ_I32) ? KJ_I32 : kj_value_fits(v, KJ_I64) ? KJ_I64 : KJ_U64;
}

static bool gives(const kj_binding *b, int i, int generic)
{
    return b->kernel->decl->params[i].generic == generic && b->args[i];
}

/* What numbers that have a type have in common; KJ_VOID where none has one. */
static kjit_status common_type(kj_binding *b, int generic, kj_dtype *out)
{
    *out = KJ_VOID;
    for (int i = 0; i < b->kernel->decl->nparams; i++) {
        if (!gives(b, i, generic) || !is_typed_number(b->args[i]))
            continue;
        kj_dtype own = (kj_dtype)b->args[i]->dtype;
        kj_dtype both = *out == KJ_VOID ? own : kj_common_type(*out, own);
        const kj_kernel_param *p = &b->kernel->decl->params[i];
        if (both == KJ_VOID)
            return FAIL_OF(b, p, KJIT_TYPE, "%s and %s, of '%s', have no type in common", NAME(b),
                           kj_type_name(*out), kj_type_name(own), p->name);
        *out = both;
    }
    return KJIT_OK;
}

/* What literals alone would be; whether there is one. */
static bool literal_type(const kj_binding *b, int generic, kj_dtype *out)
{
    *out = KJ_VOID;
    for (int i = 0; i < b->kernel->decl->nparams; i++) {
        if (!gives(b, i, generic))
            continue;
        kj_dtype alone = type_alone(b->args[i]);
        if (*out == KJ_VOID || alone == KJ_F32 || (*out == KJ_I32 && alone == KJ_I64) ||
            (kj_is_int(*out) && alone == KJ_U64))
            *out = alone;
    }
    return *out != KJ_VOID;
}

/* Generic types that only numbers fix: those that have a type say it, unless it is an int's and a float is
 * wanted; else what literals would be. */
static kjit_status infer_generic(kj_binding *b, int generic)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    const kj_generic *g = decl->generics;
    int last = decl->nparams - 1;
    kj_dtype typed, type;
    for (int i = 0; i < generic; i++)
        g = g->next;
    kjit_status status = common_type(b, generic, &typed);
    if (status != KJIT_OK)
        return status;
    if (!literal_type(b, generic, &type))
        return FAIL(b, KJIT_TYPE, "no argument says what the type %s is", NAME(b), g->name);
    while (!gives(b, last, generic))
        last--;
    if (g->bound && strcmp(g->bound, "float") == 0 && kj_is_int(type))
        type = KJ_F32;
    if (typed != KJ_VOID && (kj_is_float(typed) || !kj_is_float(type)))
        type = typed;
    if (g->bound && strcmp(g->bound, "complex") == 0)
        type = typed == KJ_F64 ? KJ_C128 : KJ_C64;
    return fix_generic(b, &decl->params[last], type);
}

/* ---- Numbers ---- */

static bool is_integer(const kjit_arg *arg)
{
    return is_typed_number(arg) ? kj_is_int((kj_dtype)arg->dtype)
                                : arg->kind == KJIT_ARG_INT || arg->kind == KJIT_ARG_UINT;
}

static kjit_status convert(kj_binding *b, const kj_kernel_param *p, const kjit_arg *arg,
                           kj_value *out)
{
    kj_dtype to = param_type(b, p);
    char type[96], text[96];
    if (kj_is_complex_type(to)) /* the real part of it */
        to = kj_aggregate_of(to)->elem;
    if (!kj_is_scalar(to))
        return wrong_kind(b, p, arg);
    bool typed = is_typed_number(arg);
    bool is_bool = typed ? arg->dtype == KJIT_BOOL : arg->kind == KJIT_ARG_BOOL;
    bool is_float = typed ? kj_is_float((kj_dtype)arg->dtype) : arg->kind == KJIT_ARG_FLOAT;
    if (to == KJ_BOOL ? !is_bool : !is_integer(arg) && !(is_float && kj_is_float(to)))
        return wrong_kind(b, p, arg);
    if (to == KJ_BOOL) {
        *out = (kj_value){.type = to, .u = typed ? number_of(arg).u != 0 : arg->u.i != 0};
        return KJIT_OK;
    }
    kj_value v = number_of(arg);
    if (!kj_value_fits(v, to))
        return FAIL_OF(b, p, KJIT_TYPE, "%s does not fit in '%s' (%s)", NAME(b),
                       arg_text(b, arg, text), p->name, type_text(b, p, type));
    *out = kj_fold_convert(v, to);
    return KJIT_OK;
}

static kjit_status check_const_type(kj_binding *b, const kj_kernel_param *p)
{
    if (kj_is_scalar(param_type(b, p)))
        return KJIT_OK;
    return FAIL_OF(b, p, KJIT_TYPE, "the const parameter '%s' is a number, which %s is not",
                   NAME(b), p->name,
                   kj_type_name_in(b->kernel->mod->ctx->records, param_type(b, p)));
}

kjit_status kj_bind_const(kj_binding *b, int param, const kjit_arg *arg, kj_value *out)
{
    const kj_kernel_param *p = &b->kernel->decl->params[param];
    if (p->generic >= 0)
        b->generics[p->generic] = kj_form_type(b->kernel->decl, p->generic);
    kjit_status status = check_const_type(b, p);
    return status == KJIT_OK ? convert(b, p, arg, out) : status;
}

static kjit_status bind_default(kj_binding *b, const kj_kernel_param *p, kj_value *out)
{
    kj_value v = p->init;
    if (kj_default_as(v, param_type(b, p), out))
        return KJIT_OK;
    kjit_arg arg = {.kind = v.type == KJ_BOOL  ? KJIT_ARG_BOOL
                            : v.type == KJ_U64 ? KJIT_ARG_UINT
                                               : KJIT_ARG_INT,
                    .u.i = v.i};
    if (kj_is_float(v.type))
        arg = (kjit_arg){.kind = KJIT_ARG_FLOAT, .u.f = v.f};
    char type[96], text[96];
    return FAIL_OF(b, p, KJIT_TYPE, "'%s' is %s, which its default, %s, does not fit", NAME(b),
                   p->name, type_text(b, p, type), arg_text(b, &arg, text));
}

static kjit_status bind_numbers(kj_binding *b)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (p->ndim > 0 ||
            (b->args[i] && b->args[i]->kind == KJIT_ARG_VALUE && !is_typed_number(b->args[i])))
            continue;
        kjit_status status = p->is_const ? check_const_type(b, p) : KJIT_OK;
        if (status != KJIT_OK)
            return status;
        kj_value *to = p->is_const ? &b->consts[b->nconsts++] : &b->scalars[i];
        status = b->args[i] ? convert(b, p, b->args[i], to) : bind_default(b, p, to);
        if (status != KJIT_OK)
            return status;
    }
    return KJIT_OK;
}

kjit_status kj_bind_placed(kj_binding *b)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    kjit_status status = KJIT_OK;
    b->nconsts = 0;
    b->small = true;
    b->read_only = b->smart = b->in = false;
    b->disjoint = b->aligned = b->kernel->mod->ctx->ops->variants;
    for (int i = 0; i < decl->ngenerics; i++)
        b->generics[i] = KJ_VOID;
    for (int i = 0; i < decl->nparams && status == KJIT_OK; i++)
        if (decl->params[i].ndim > 0)
            status = bind_array(b, i);
    for (int i = 0; i < decl->nparams && status == KJIT_OK; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (p->ndim > 0)
            continue;
        if (b->args[i] && b->args[i]->kind == KJIT_ARG_VALUE)
            status = bind_value(b, i);
        else if (b->args[i] && kj_arg_is_array(b->args[i])) {
            status = check_lives(b, p, b->args[i]);
            if (status == KJIT_OK)
                status = wrong_kind(b, p, b->args[i]);
        }
    }
    for (int i = 0; i < decl->ngenerics && status == KJIT_OK; i++) {
        if (b->generics[i] == KJ_VOID)
            status = infer_generic(b, i);
    }
    if (status == KJIT_OK)
        status = bind_numbers(b);
    if (status == KJIT_OK)
        status = list_runtime(b);
    if (status != KJIT_OK)
        return status;
    kj_binding_key(b);
    return KJIT_OK;
}

kjit_status kj_bind(kj_binding *b, const kjit_arg *args, int nargs)
{
    for (int i = 0; i < b->kernel->decl->ngenerics; i++)
        b->generics[i] = KJ_VOID; /* for messages */
    kjit_status status = place_args(b, args, nargs);
    return status == KJIT_OK ? kj_bind_placed(b) : status;
}

kjit_status kj_binding_begin(kj_kernel *kernel, kj_binding *b)
{
    const kj_kernel_decl *decl = kernel->decl;
    size_t n = (size_t)decl->nparams;
    b->env = kj_float_enter();
    b->kernel = kernel;
    b->label = NULL;
    kj_room_begin(&b->room);
    b->args = kj_room_take(&b->room, n * sizeof *b->args);
    b->scalars = kj_room_take(&b->room, n * sizeof *b->scalars);
    b->layouts = kj_room_take(&b->room, n * sizeof *b->layouts);
    b->units = kj_room_take(&b->room, n * sizeof *b->units);
    b->lasts = kj_room_take(&b->room, n);
    b->generics = kj_room_take(&b->room, (size_t)decl->ngenerics * sizeof *b->generics);
    b->consts = kj_room_take(&b->room, (size_t)decl->nconsts * sizeof *b->consts);
    b->key = kj_room_take(&b->room, (size_t)kernel->key_words * sizeof *b->key);
    if (b->args && b->scalars && b->layouts && b->units && b->lasts && b->generics && b->consts &&
        b->key)
        return KJIT_OK;
    return kj_no_memory(kernel->mod->ctx);
}
