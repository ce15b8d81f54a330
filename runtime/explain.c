/* Why a launch was refused or failed, said in terms of the source. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* ---- Clauses of requires ---- */

/* What a clause speaks of, each once. */
typedef struct subjects {
    kj_binding *b;
    const kj_variant *variant;
    kj_str text;
    bool params[KJ_MAX_PARAMS];
    bool dims[2]; /* block, grid */
} subjects;

static void separate(subjects *s)
{
    if (s->text.size > 0)
        kj_str_puts(&s->text, ", ");
}

static void add_param(subjects *s, int param)
{
    if (param < 0 || param >= KJ_MAX_PARAMS || s->params[param])
        return;
    s->params[param] = true;
    separate(s);
    const kj_tparam *p = &s->variant->kernel->params[param];
    const kjit_arg *arg = s->b->args[s->b->runtime[param]];
    char buf[KJ_SHAPE_TEXT];
    _Static_assert((int)KJ_SHAPE_TEXT >= (int)KJ_SCALAR_TEXT, "buf holds either");
    if (p->array) {
        kj_shape_text(arg->u.array->ndim, arg->u.array->shape, buf);
        kj_str_printf(&s->text, "%s.shape is %s", p->name, buf);
        return;
    }
    kj_value v = s->b->scalars[s->b->runtime[param]];
    float f = (float)v.f;
    kjit_dtype dtype = (kjit_dtype)v.type;
    if (dtype == KJIT_F32)
        kj_scalar_text(dtype, &f, buf);
    else if (kj_is_signed(v.type))
        kj_scalar_text(KJIT_I64, &v.i, buf);
    else
        kj_scalar_text(dtype == KJIT_F64 || dtype == KJIT_BOOL ? dtype : KJIT_U64, &v.u, buf);
    kj_str_printf(&s->text, "%s is %s", p->name, buf);
}

static void add_dims(subjects *s, kj_index which)
{
    bool grid = which == KJ_GRID_DIM;
    if (s->dims[grid])
        return;
    s->dims[grid] = true;
    separate(s);
    char buf[KJ_SHAPE_TEXT];
    kj_str_printf(&s->text, "%s is %s", grid ? "gridDim" : "blockDim",
                   kj_shape_text(3, grid ? s->b->grid : s->b->block, buf));
}

static void collect(subjects *s, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR: add_param(s, e->u.var->param); break;
    case KJ_TE_DIM: add_param(s, e->u.dim.array->param); break;
    case KJ_TE_INDEX: add_dims(s, e->u.index.which); break;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT: collect(s, e->u.unary.arg); break;
    case KJ_TE_BINARY:
        collect(s, e->u.binary.lhs);
        collect(s, e->u.binary.rhs);
        break;
    case KJ_TE_LOGIC:
        collect(s, e->u.logic.lhs);
        collect(s, e->u.logic.rhs);
        break;
    case KJ_TE_SELECT:
        collect(s, e->u.select.test);
        collect(s, e->u.select.yes);
        collect(s, e->u.select.no);
        break;
    case KJ_TE_FMA:
        collect(s, e->u.fma.a);
        collect(s, e->u.fma.b);
        collect(s, e->u.fma.c);
        break;
    case KJ_TE_CALL:
        for (int i = 0; i < e->u.call.nargs; i++)
            collect(s, e->u.call.args[i]);
        break;
    default: break; /* needs a thread: sema keeps it out of requires */
    }
}

/* The source between two places, on one line. */
static void add_source(kj_str *t, const kj_source *source, kj_span span)
{
    enum { MOST = 200 };
    uint32_t end = span.end - span.begin > MOST ? span.begin + MOST : span.end;
    bool space = false;
    for (uint32_t i = span.begin; i < end && i < source->size; i++) {
        char c = source->text[i];
        bool blank = isspace((unsigned char)c) || c == '\0';
        if (!blank || !space)
            kj_str_add(t, blank ? " " : &c, 1);
        space = blank;
    }
    if (end < span.end)
        kj_str_puts(t, "...");
}

static kjit_status refuse(kj_binding *b, const kj_variant *variant, const kj_trequire *r)
{
    kjit_module *mod = b->kernel->mod;
    kj_str clause = {0};
    subjects s = {.b = b, .variant = variant};
    uint32_t line, col;
    kj_line_col(&mod->source, r->test->span.begin, &line, &col);
    add_source(&clause, &mod->source, r->test->span);
    collect(&s, r->test);
    kjit_status status;
    if (clause.failed || s.text.failed)
        status = kj_no_memory(mod->ctx);
    else
        status = kj_fail(mod->ctx, KJIT_LAUNCH, "kernel '%s' requires %s (%s:%u:%u)%s%s", variant->kernel->name,
                         clause.data ? clause.data : "", mod->source.name, line, col, s.text.size ? ", but " : "",
                         s.text.size ? s.text.data : "");
    kj_str_free(&clause);
    kj_str_free(&s.text);
    return status;
}

kjit_status kj_check_requires(kj_binding *b, const kj_variant *variant)
{
    kj_eval_env env = kj_binding_env(b);
    for (const kj_trequire *r = variant->kernel->requires; r; r = r->next) {
        kj_value holds;
        if (!kj_eval(r->test, &env, &holds))
            return kj_fail(b->kernel->mod->ctx, KJIT_INTERNAL, "kernel '%s': a requires cannot be evaluated",
                           variant->kernel->name);
        if (!holds.u)
            return refuse(b, variant, r);
    }
    return KJIT_OK;
}

/* ---- Faults ---- */

typedef struct fault_message {
    kjit_module *mod;
    const kj_host_fault *fault;
    kj_arena arena;
    char *text;
} fault_message;

/* The call at a place: a name and what stands in brackets after it. */
static kj_span call_at(const kj_source *source, uint32_t offset)
{
    uint32_t end = offset;
    while (end < source->size && (isalnum((unsigned char)source->text[end]) || source->text[end] == '_'))
        end++;
    if (end < source->size && source->text[end] == '(') {
        while (end < source->size && source->text[end] != ')' && source->text[end] != '\n')
            end++;
        end += end < source->size && source->text[end] == ')';
    }
    return (kj_span){offset, end};
}

static void write_fault(void *data)
{
    fault_message *m = data;
    const kj_host_fault *f = m->fault;
    const kj_source *source = &m->mod->source;
    kj_diag diag;
    kj_diag_init(&diag, &m->arena, source);
    kj_message *e = kj_error(&diag, call_at(source, f->offset), "divergent-barrier",
                             "syncthreads() reached by %lld of %lld threads of block (%lld, %lld, %lld)",
                             (long long)f->arrived, (long long)f->alive, (long long)f->block[0],
                             (long long)f->block[1], (long long)f->block[2]);
    kj_hint(&diag, e, "all threads of a block that have not returned must reach the same syncthreads()");
    const char *text = kj_diag_text(&diag);
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    m->text = strndup(text, n);
}

char *kj_fault_text(kjit_module *mod, const kj_host_fault *fault)
{
    fault_message m = {.mod = mod, .fault = fault};
    kj_arena_init(&m.arena, NULL);
    kj_guarded(&m.arena, write_fault, &m);
    kj_arena_free(&m.arena);
    return m.text;
}
