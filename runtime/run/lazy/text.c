/* Trees as the source text of a kernel. In: a tree and the domain it is computed over; out: the
 * expression, the kernel's parameters and the arguments for them. */
#include "run/lazy/lazy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kj_lazy_gather(kj_domain *s, kj_rvalue v)
{
    if (v.kind == KJ_R_ARRAY)
        kj_domain_add(s, v.u.object->u.array);
    for (int i = 0; v.kind == KJ_R_LAZY && i < v.u.object->u.lazy->n; i++)
        kj_lazy_gather(s, v.u.object->u.lazy->args[i]);
}

void kj_lazy_argument(kj_lazy_kernel *k, kjit_arg arg)
{
    if (!k->args) {
        k->args = k->few;
        k->room = sizeof k->few / sizeof *k->few;
    }
    if (k->nargs == k->room) {
        size_t room = 2 * (size_t)k->room;
        kjit_arg *more = malloc(room * sizeof *more);
        k->failed = k->failed || !more;
        if (!more)
            return;
        memcpy(more, k->args, (size_t)k->nargs * sizeof *more);
        if (k->args != k->few)
            free(k->args);
        k->args = more;
        k->room = (int)room;
    }
    k->args[k->nargs++] = arg;
}

void kj_lazy_params(kj_lazy_kernel *k)
{
    for (int i = 0; i < k->domain.narrays; i++) {
        kjit_array *a = k->domain.arrays[i].view;
        kj_text_printf(&k->params, "%sa%d: %s[%.*s]", k->nargs ? ", " : "", i,
                       kjit_dtype_name(a->dtype), a->ndim - 1, ",,,,,");
        kj_lazy_argument(k, kjit_arg_array(a));
    }
}

void kj_lazy_parameter(kj_lazy_kernel *k, const char *name, const char *type, kjit_arg arg)
{
    kj_text_printf(&k->params, "%s%s: %s", k->nargs ? ", " : "", name, type);
    kj_lazy_argument(k, arg);
}

void kj_lazy_flat(kj_lazy_kernel *k, const char *name, kjit_array *a)
{
    char type[16];
    kj_snprintf(type, sizeof type, "%s[]", kjit_dtype_name(a->dtype));
    kj_lazy_parameter(k, name, type, kjit_arg_array(a));
}

/* ---- Leaves ---- */

void kj_lazy_element(const kj_lazy_kernel *k, kj_text *t, int i)
{
    const kj_domain_array *a = &k->domain.arrays[i];
    const char *before = "[";
    kj_text_printf(t, "a%d", i);
    for (int axis = 0; axis < k->domain.ndim; axis++) {
        if (!a->has[axis])
            continue;
        kj_text_printf(t, "%si%d", before, axis);
        before = ", ";
    }
    kj_text_puts(t, *before == '[' ? "[0]" : "]");
}

static void put_literal(kj_text *t, kj_value v)
{
    if (v.type == KJ_BOOL) {
        kj_text_puts(t, v.b ? "true" : "false");
    } else if (kj_is_float(v.type)) {
        char text[40];
        kj_snprintf(text, sizeof text, "%.17g", v.f);
        kj_text_puts(t, text);
        if (!strpbrk(text, ".en")) /* 2: an integer to read */
            kj_text_puts(t, ".0");
    } else if (v.type == KJ_I64) {
        kj_text_printf(t, "%" PRId64, v.i);
    } else {
        kj_text_printf(t, "%" PRIu64, v.u);
    }
}

static void put_number(kj_lazy_kernel *k, kj_text *t, kj_rvalue v, kj_dtype type);

/* c64(re, im): a number each part. */
static void put_complex(kj_lazy_kernel *k, kj_text *t, kj_rvalue v, kj_dtype type)
{
    kj_rvalue parts[2] = {kj_run_float(v.u.f), kj_run_float(v.imag)};
    const kj_aggregate *of = kj_aggregate_of(type == KJ_VOID ? KJ_C64 : type);
    kj_text_puts(t, of->name);
    for (int i = 0; i < 2; i++) {
        parts[i].literal = v.literal;
        kj_text_puts(t, i ? ", " : "(");
        put_number(k, t, parts[i], of->elem);
    }
    kj_text_puts(t, ")");
}

/* Literals of the source stand in the text, where the compiler can use them; what the run computed
 * is a parameter, so that the kernel serves again. */
static void put_number(kj_lazy_kernel *k, kj_text *t, kj_rvalue v, kj_dtype type)
{
    if (kj_run_is_complex(v)) {
        put_complex(k, t, v, type);
        return;
    }
    if (kj_is_complex_type(type)) /* real ones scale */
        type = kj_aggregate_of(type)->elem;
    kj_value value = kj_run_to_value(v);
    if (type == KJ_VOID) {
        put_literal(t, value);
        return;
    }
    if (v.literal || value.type == KJ_U64) {
        kj_text_printf(t, "%s(", kj_types[type].name);
        put_literal(t, value);
        kj_text_puts(t, ")");
        return;
    }
    kj_value as = kj_fold_convert(value, type);
    kj_text_printf(t, "s%d", k->nscalars);
    kj_text_printf(&k->params, "%ss%d: %s", k->nargs ? ", " : "", k->nscalars++,
                   kj_types[type].name);
    kj_lazy_argument(k, type == KJ_BOOL     ? kjit_arg_bool(as.b)
                        : kj_is_float(type) ? kjit_arg_f64(as.f)
                                            : kjit_arg_i64(as.i));
}

/* ---- Operations ---- */

/* A function of the file gets what its parameters are. */
static void put_argument(kj_lazy_kernel *k, kj_text *t, const kj_lazy *e, int i)
{
    bool converted =
        e->function && kj_is_array(e->args[i]) && kj_lazy_type(e->args[i]) != e->types[i];
    if (converted)
        kj_text_printf(t, "%s(", kj_type_name(e->types[i]));
    kj_lazy_value(k, t, e->args[i], e->types[i]);
    kj_text_puts(t, converted ? ")" : "");
}

static void put_call(kj_lazy_kernel *k, kj_text *t, const kj_lazy *e, const char *name)
{
    kj_text_printf(t, "%s(", name);
    for (int i = 0; i < e->n; i++) {
        kj_text_puts(t, i ? ", " : "");
        put_argument(k, t, e, i);
    }
    kj_text_puts(t, ")");
}

/* What no name of the file begins with. */
static void put_prefix(const kj_lazy_kernel *k, kj_text *t)
{
    char prefix[40] = "call_";
    size_t n = strlen(prefix);
    const kj_item *items = k->run->program->file->items;
    for (const kj_item *item = items; item && n + 1 < sizeof prefix;) {
        bool begins = item->name && strncmp(item->name, prefix, n) == 0;
        if (begins)
            memcpy(prefix + n++, "_", 2);
        item = begins ? items : item->next;
    }
    kj_text_puts(t, prefix);
}

/* How the run's file uses another; or NULL. */
static const kj_item *use_of(const kj_program *program, const kj_file *file)
{
    const kj_item *use = program->file->items;
    while (use && use->used != file)
        use = use->next;
    return use;
}

/* The namespace of a file that only others use. */
static void put_space(kj_text *t, const char *prefix, int file)
{
    kj_text_printf(t, "%s%d_", prefix, file);
}

static const kj_item *use_by_any(const kj_program *program, const kj_file *file)
{
    const kj_item *use = NULL;
    for (int i = 0; i < program->nfiles && !use; i++) {
        use = program->files[i]->items;
        while (use && use->used != file)
            use = use->next;
    }
    return use;
}

const kj_file *kj_lazy_used(const kj_program *program, const char *space)
{
    size_t before = strcspn(space, "0123456789");
    int i = atoi(space + before);
    return strncmp(space, "call_", strlen("call_")) == 0 && i > 0 && i < program->nfiles
               ? program->files[i]
               : NULL;
}

/* All such files in the order of the program's, in which their texts are kept. What is no file of the library is used as if
 * it were one that is called as no such is. */
static void put_uses(kj_lazy_kernel *k, const char *prefix)
{
    const kj_program *program = k->run->program;
    for (int i = 1; i < program->nfiles; i++) {
        const kj_item *use = use_by_any(program, program->files[i]);
        if (use_of(program, program->files[i]))
            continue;
        kj_text_puts(&k->functions, "use std.");
        if (use && use->library)
            kj_text_printf(&k->functions, "%s as ", use->path);
        put_space(&k->functions, prefix, i);
        kj_text_puts(&k->functions, "\n");
    }
    k->uses = true;
}

/* As the kernel's text says it. */
static void put_name(const kj_lazy_kernel *k, kj_text *t, const kj_item *fn, const char *prefix)
{
    const kj_program *program = k->run->program;
    const kj_item *use = use_of(program, fn->file);
    int i = 0;
    while (program->files[i] != fn->file)
        i++;
    if (use)
        kj_text_puts(t, use->name);
    else if (i > 0)
        put_space(t, prefix, i);
    kj_text_printf(t, "%s%s", i > 0 ? "." : "", fn->name);
}

/* That of ours which calls it: no name begins with a digit. */
static void put_own_name(const kj_lazy_kernel *k, kj_text *t, const kj_item *fn, const char *prefix)
{
    kj_text_puts(t, prefix);
    if (fn->file != k->run->program->file)
        kj_text_printf(t, "%d_", fn->number);
    kj_text_puts(t, fn->name);
}

/* A type parameter has a name of ours: in the call's scope its own would hide what the call names. */
static void put_type(kj_text *t, const kj_item *fn, const kj_type_ref *type, const char *prefix)
{
    const kj_generic *g = fn->generics;
    while (g && strcmp(g->name, type->name) != 0)
        g = g->next;
    kj_text_printf(t, "%s%s", g ? prefix : "", type->name);
}

/* -> T, -> (T, i32) */
static void put_result(kj_text *t, const kj_item *fn, const char *prefix)
{
    const kj_type_ref *parts = fn->type->parts;
    kj_text_puts(t, parts ? " -> (" : " -> ");
    for (const kj_type_ref *type = parts ? parts : fn->type; type;
         type = parts ? type->next : NULL) {
        put_type(t, fn, type, prefix);
        kj_text_puts(t, !parts ? "" : type->next ? ", " : ")");
    }
}

/* fn call_f<call_T: float>(call_0: call_T, call_1: i32) -> call_T { return f(call_0, call_1) } */
static void put_wrapper(kj_lazy_kernel *k, const kj_item *fn, const char *prefix)
{
    const kj_program *program = k->run->program;
    kj_text *t = &k->functions;
    int n = 0;
    if (!k->uses && fn->file != program->file && !use_of(program, fn->file))
        put_uses(k, prefix);
    kj_text_puts(t, "fn ");
    put_own_name(k, t, fn, prefix);
    for (const kj_generic *g = fn->generics; g; g = g->next)
        kj_text_printf(t, "%s%s%s%s%s%s", g == fn->generics ? "<" : "", prefix, g->name,
                       g->bound ? ": " : "", g->bound ? g->bound : "", g->next ? ", " : ">");
    kj_text_puts(t, "(");
    for (const kj_param_decl *p = fn->params; p; p = p->next) {
        kj_text_printf(t, "%s%s%d: ", n ? ", " : "", prefix, n);
        put_type(t, fn, p->type, prefix);
        n++;
    }
    kj_text_puts(t, ")");
    put_result(t, fn, prefix);
    kj_text_puts(t, " { return ");
    put_name(k, t, fn, prefix);
    kj_text_puts(t, "(");
    for (int i = 0; i < n; i++)
        kj_text_printf(t, "%s%s%d", i ? ", " : "", prefix, i);
    kj_text_puts(t, ") }\n");
}

/* Has it been written? */
static bool has_wrapper(const kj_lazy_kernel *k, const char *name)
{
    size_t n = strlen(name);
    const char *at = k->functions.data;
    while (at && (at = strstr(at, "fn ")) != NULL) {
        at += 3;
        if (strncmp(at, name, n) == 0 && (at[n] == '(' || at[n] == '<'))
            return true;
    }
    return false;
}

/* It is called from one of ours. */
void kj_lazy_function(kj_lazy_kernel *k, kj_text *t, const kj_item *fn)
{
    kj_text prefix = {0}, name = {0};
    put_prefix(k, &prefix);
    put_own_name(k, &name, fn, prefix.data ? prefix.data : "");
    k->failed |= prefix.failed || name.failed;
    if (!k->failed && !has_wrapper(k, name.data))
        put_wrapper(k, fn, prefix.data);
    kj_text_puts(t, k->failed ? "" : name.data);
    k->failed |= k->functions.failed;
    kj_text_free(&prefix);
    kj_text_free(&name);
}

static void put_function(kj_lazy_kernel *k, kj_text *t, const kj_lazy *e)
{
    kj_lazy_function(k, t, e->function);
    put_call(k, t, e, "");
}

void kj_lazy_name(const kj_lazy_kernel *k, kj_text *t)
{
    if (k->functions.size > 0)
        put_prefix(k, t);
    else
        kj_text_puts(t, "expr");
}

/* Both sides are computed, as a select is cheaper than turns with some of the threads. */
static void put_side(kj_lazy_kernel *k, kj_text *t, kj_rvalue arm, kj_dtype type)
{
    kj_text side = {0};
    kj_lazy_value(k, &side, arm, type);
    if (kj_is_array(arm)) {
        kj_text_printf(&k->lets, "let w%d = %s\n", k->nlets, side.data ? side.data : "");
        kj_text_printf(t, "w%d", k->nlets++);
    } else {
        kj_text_puts(t, side.data ? side.data : "");
    }
    t->failed |= side.failed;
    kj_text_free(&side);
}

static void put_where(kj_lazy_kernel *k, kj_text *t, const kj_lazy *e, kj_dtype type)
{
    kj_text_puts(t, "(");
    put_side(k, t, e->args[1], type);
    kj_text_puts(t, " if ");
    put_argument(k, t, e, 0);
    kj_text_puts(t, " else ");
    put_side(k, t, e->args[2], type);
    kj_text_puts(t, ")");
}

void kj_lazy_lets(kj_lazy_kernel *k, kj_text *t)
{
    kj_text_puts(t, k->lets.data ? k->lets.data : "");
    t->failed |= k->lets.failed;
    kj_text_free(&k->lets);
}

void kj_lazy_value(kj_lazy_kernel *k, kj_text *t, kj_rvalue v, kj_dtype type)
{
    if (v.kind == KJ_R_ARRAY) {
        kj_lazy_element(k, t, kj_domain_find(&k->domain, v.u.object->u.array));
        return;
    }
    if (v.kind != KJ_R_LAZY) {
        put_number(k, t, v, type);
        return;
    }
    const kj_lazy *e = v.u.object->u.lazy;
    switch (e->form) {
    case KJ_X_BINARY:
        kj_text_puts(t, "(");
        put_argument(k, t, e, 0);
        kj_text_printf(t, " %s ", kj_ops[e->op].spelling);
        put_argument(k, t, e, 1);
        kj_text_puts(t, ")");
        break;
    case KJ_X_UNARY:
        kj_text_puts(t, "(");
        put_call(k, t, e, e->type == KJ_BOOL ? "not " : kj_ops[e->op].spelling);
        kj_text_puts(t, ")");
        break;
    case KJ_X_CALL:
        if (e->function)
            put_function(k, t, e);
        else
            put_call(k, t, e, kj_builtins[e->builtin].name);
        if (e->part >= 0)
            kj_text_printf(t, "[%d]", e->part);
        break;
    case KJ_X_CAST: put_call(k, t, e, kj_type_name(e->type)); break;
    case KJ_X_WHERE: /* a choice of numbers is of the type that it meets */
        put_where(k, t, e, e->untyped && type != KJ_VOID ? type : e->types[1]);
        break;
    }
}
