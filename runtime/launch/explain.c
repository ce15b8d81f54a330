/* Why a launch was refused or failed, said in terms of the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

/* ---- Clauses of requires ---- */

/* What a clause speaks of, each once. Found in its text: what the launch fixed stands in its tree
 * as a constant. */
typedef struct subjects {
    kj_binding *b;
    kj_str text;
    bool params[KJ_MAX_PARAMS];
    bool dims[2]; /* block, grid */
} subjects;

static void separate(subjects *s)
{
    if (s->text.size > 0)
        kj_str_puts(&s->text, ", ");
}

static const char *value_text(kj_value v, char buf[KJ_SCALAR_TEXT])
{
    uint64_t element = 0;
    kj_value_write(&element, 0, v);
    return kj_scalar_text((kjit_dtype)v.type, &element, buf);
}

static kj_dtype param_type(const subjects *s, int param)
{
    const kj_kernel_param *p = &s->b->kernel->decl->params[param];
    return p->generic >= 0 ? s->b->generics[p->generic] : p->type;
}

/* "v is (1.0, 2.0)", "z is (1+2j)" */
static void add_parts(subjects *s, int param)
{
    char number[KJ_SCALAR_TEXT];
    const char *before = "(";
    bool complex = kj_is_complex_type(param_type(s, param));
    kj_str_printf(&s->text, "%s is ", s->b->kernel->decl->params[param].name);
    for (int i = 0; i < s->b->nruntime; i++) {
        if (s->b->runtime[i] != param)
            continue;
        if (complex) {
            kj_value re = kj_binding_scalar(s->b, i), im = kj_binding_scalar(s->b, i + 1);
            kj_str_puts(&s->text, kj_complex_text(re.f, im.f, re.type, number));
            return;
        }
        kj_str_printf(&s->text, "%s%s", before, value_text(kj_binding_scalar(s->b, i), number));
        before = ", ";
    }
    kj_str_puts(&s->text, ")");
}

static void add_param(subjects *s, int i)
{
    const kj_kernel_decl *decl = s->b->kernel->decl;
    char shape[KJ_SHAPE_TEXT], number[KJ_SCALAR_TEXT];
    if (s->params[i])
        return;
    s->params[i] = true;
    separate(s);
    if (decl->params[i].ndim > 0) {
        const kjit_array *a = s->b->args[i]->u.array;
        kj_str_printf(&s->text, "%s.shape is %s", decl->params[i].name,
                      kj_shape_text(a->ndim, a->shape, shape));
        return;
    }
    if (!kj_is_scalar(param_type(s, i))) {
        add_parts(s, i);
        return;
    }
    int nth = 0;
    for (int k = 0; k < i; k++)
        nth += decl->params[k].is_const;
    kj_value v = decl->params[i].is_const ? s->b->consts[nth] : s->b->scalars[i];
    kj_str_printf(&s->text, "%s is %s", decl->params[i].name, value_text(v, number));
}

static void add_dims(subjects *s, bool grid)
{
    char buf[KJ_SHAPE_TEXT];
    if (s->dims[grid])
        return;
    s->dims[grid] = true;
    separate(s);
    kj_str_printf(&s->text, "%s is %s", grid ? "gridDim" : "blockDim",
                  kj_shape_text(3, grid ? s->b->grid : s->b->block, buf));
}

static void add_name(subjects *s, const char *name, size_t size)
{
    const kj_kernel_decl *decl = s->b->kernel->decl;
    for (int i = 0; i < decl->nparams; i++) {
        if (strlen(decl->params[i].name) == size && memcmp(decl->params[i].name, name, size) == 0)
            add_param(s, i);
    }
    if (size == 8 && memcmp(name, "blockDim", size) == 0)
        add_dims(s, false);
    if (size == 7 && memcmp(name, "gridDim", size) == 0)
        add_dims(s, true);
}

/* Every name of the text that is no member: `shape` of x.shape is not the parameter shape. */
static void collect(subjects *s, const char *text)
{
    bool member = false;
    while (*text) {
        size_t size = 0;
        while (kj_is_word(text[size]))
            size++;
        if (size > 0 && !member)
            add_name(s, text, size);
        member = *text == '.';
        text += size ? size : 1;
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
        bool blank = strchr(" \t\r\n\v\f", c) != NULL; /* a NUL, too */
        if (!blank || !space)
            kj_str_add(t, blank ? " " : &c, 1);
        space = blank;
    }
    if (end < span.end)
        kj_str_puts(t, "...");
}

static kjit_status refuse(kj_binding *b, const kj_variant *variant, kj_span at)
{
    kjit_module *mod = b->kernel->mod;
    kj_str clause = {0};
    subjects s = {.b = b};
    uint32_t line, col;
    kj_line_col(&mod->source, at.begin, &line, &col);
    add_source(&clause, &mod->source, at);
    collect(&s, clause.data ? clause.data : "");
    kjit_status status;
    if (clause.failed || s.text.failed)
        status = kj_no_memory(mod->ctx);
    else
        status = kj_fail(mod->ctx, KJIT_LAUNCH, "kernel '%s' requires %s (%s:%u:%u)%s%s",
                         variant->kernel->name, clause.data ? clause.data : "", mod->source.name,
                         line, col, s.text.size ? ", but " : "", s.text.size ? s.text.data : "");
    kj_str_free(&clause);
    kj_str_free(&s.text);
    return status;
}

kjit_status kj_check_requires(kj_binding *b, const kj_variant *variant)
{
    kj_span failed;
    kj_eval_env env = kj_binding_env(b);
    if (kj_requires_hold(variant->kernel, &env, &failed))
        return KJIT_OK;
    if (failed.end == 0)
        return kj_fail(b->kernel->mod->ctx, KJIT_INTERNAL,
                       "kernel '%s': a requires cannot be evaluated", variant->kernel->name);
    return refuse(b, variant, failed);
}

/* ---- Faults ---- */

typedef struct fault_message {
    kjit_module *mod;
    const kj_kernel_info *kernel;
    const kj_host_fault *fault;
    const kj_filled_info *unfilled; /* not NULL: not a fault, but that */
    const char *launched;
    const char *lacking;     /* likewise: why the kernel cannot launch others */
    const kj_binding *crowd; /* likewise: of more blocks than `most` */
    int64_t most;
    kj_arena arena;
    char *text;
} fault_message;

/* The call at a place: a name and what stands in brackets after it. */
static kj_span call_at(const kj_source *source, uint32_t offset)
{
    uint32_t end = offset;
    while (end < source->size && kj_is_word(source->text[end]))
        end++;
    if (end < source->size && source->text[end] == '(') {
        while (end < source->size && source->text[end] != ')' && source->text[end] != '\n')
            end++;
        end += end < source->size && source->text[end] == ')';
    }
    return (kj_span){offset, end};
}

static void put_barrier(kj_diag *diag, const kj_host_fault *f)
{
    kj_message *e =
        kj_error(diag, call_at(diag->source, f->offset), "divergent-barrier",
                 "syncthreads() reached by %lld of %lld threads of block (%lld, %lld, %lld)",
                 (long long)f->arrived, (long long)f->alive, (long long)f->block[0],
                 (long long)f->block[1], (long long)f->block[2]);
    kj_hint(diag, e,
            "all threads of a block that have not returned must reach the same syncthreads()");
}

static void put_grid_barrier(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    kj_message *e = kj_error(diag, kernel->grid_sync_at, "grid-barrier",
                             "%lld of %lld blocks wait at grid_sync(), and the others have ended",
                             (long long)f->arrived, (long long)f->alive);
    kj_hint(diag, e, "do blocks read something around it that others write at the same time?");
}

static void put_crowd(kj_diag *diag, const kj_kernel_info *kernel, const kj_binding *b,
                      int64_t most)
{
    kj_message *e = kj_error(
        diag, kernel->grid_sync_at, "grid-size",
        "a grid of %lld blocks of %lld threads cannot wait here: the device holds %lld of them",
        (long long)(b->grid[0] * b->grid[1] * b->grid[2]),
        (long long)(b->block[0] * b->block[1] * b->block[2]), (long long)most);
    kj_hint(diag, e,
            "launch fewer, and let each thread do more: step by gridsize(1); "
            "%s.max_cooperative_blocks(block)(...) gives how many",
            kernel->name);
}

/* "x[i] is 7, n is 5" */
static const char *values_text(kj_arena *arena, const kj_site *site, const uint64_t *values)
{
    const char *text = "";
    char buf[KJ_SCALAR_TEXT];
    for (int i = 0; i < site->nparts; i++)
        text = kj_arena_printf(arena, "%s%s%s is %s", text, i ? ", " : "", site->parts[i].text,
                               kj_scalar_text((kjit_dtype)site->parts[i].type, &values[i], buf));
    return text;
}

/* What the number means that a launch gave. */
static const char *launch_text(uint64_t status)
{
    switch ((int32_t)status) {
    case KJ_LAUNCH_NO_MEMORY: return "out of memory";
    case KJ_LAUNCH_TOO_DEEP: return "launches by launched kernels are more than 24 deep";
    case KJ_LAUNCH_TOO_MANY: return "too many launches are waiting";
    default: return NULL;
    }
}

static void put_assert(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    char block[KJ_SHAPE_TEXT], thread[KJ_SHAPE_TEXT];
    const kj_site *site = kernel->sites[f->offset < (uint32_t)kernel->nsites ? f->offset : 0];
    const char *values = values_text(diag->arena, site, f->values);
    const char *message = site->message;
    if (site->failed && !message && site->nvalues == 1) {
        message = launch_text(f->values[0]);
        values = message ? "" : values;
    }
    kj_error(diag, site->span, "assert", "%s in block %s, thread %s%s%s%s%s%s",
             site->failed ? site->failed : "assertion failed", kj_shape_text(3, f->block, block),
             kj_shape_text(3, f->thread, thread), message ? ": " : "", message ? message : "",
             *values ? " (" : "", values, *values ? ")" : "");
}

static void put_unfilled(kj_diag *diag, const kj_filled_info *a, const char *kernel)
{
    kj_message *e = kj_error(diag, a->span, "unfilled",
                             "'%s' has no elements yet, and kernel '%s' reads it", a->name, kernel);
    kj_hint(diag, e, "assign an array to it in the run block, or call kjit_module_set_const");
}

static void write_fault(void *data)
{
    fault_message *m = data;
    kj_diag diag;
    kj_diag_init(&diag, &m->arena, &m->mod->source);
    if (m->unfilled)
        put_unfilled(&diag, m->unfilled, m->launched);
    else if (m->lacking)
        kj_error(&diag, m->kernel->launch, "launch", "%s", m->lacking);
    else if (m->crowd)
        put_crowd(&diag, m->kernel, m->crowd, m->most);
    else if (m->fault->kind == KJ_FAULT_GRID_BARRIER && m->kernel->grid_sync)
        put_grid_barrier(&diag, m->kernel, m->fault);
    else if (m->fault->kind == KJ_FAULT_ASSERT && m->kernel->nsites > 0)
        put_assert(&diag, m->kernel, m->fault);
    else
        put_barrier(&diag, m->fault);
    const char *text = kj_diag_text(&diag);
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    m->text = strndup(text, n);
}

static char *text_of(fault_message *m)
{
    kj_arena_init(&m->arena, NULL);
    kj_guarded(&m->arena, write_fault, m, NULL);
    kj_arena_free(&m->arena);
    return m->text;
}

char *kj_fault_text(kjit_module *mod, const kj_kernel_info *kernel, const kj_host_fault *fault)
{
    return text_of(&(fault_message){.mod = mod, .kernel = kernel, .fault = fault});
}

static kjit_status give(kjit_context *ctx, kjit_status status, char *text)
{
    status = text ? kj_fail(ctx, status, "%s", text) : kj_no_memory(ctx);
    free(text);
    return status;
}

kjit_status kj_fail_unfilled(kjit_module *mod, const kj_filled_info *array, const char *kernel)
{
    fault_message m = {.mod = mod, .unfilled = array, .launched = kernel};
    return give(mod->ctx, KJIT_LAUNCH, text_of(&m));
}

kjit_status kj_fail_launching(kjit_module *mod, const kj_kernel_info *kernel, const char *why)
{
    fault_message m = {.mod = mod, .kernel = kernel, .lacking = why};
    return give(mod->ctx, KJIT_NO_DEVICE, text_of(&m));
}

kjit_status kj_fail_crowd(const kj_binding *b, const kj_kernel_info *kernel, int64_t most)
{
    kjit_module *mod = b->kernel->mod;
    fault_message m = {.mod = mod, .kernel = kernel, .crowd = b, .most = most};
    return give(mod->ctx, KJIT_LAUNCH, text_of(&m));
}

kjit_status kj_check_writes(const kj_binding *b, const kj_variant *variant)
{
    for (int i = 0; i < b->nruntime; i++) {
        const kj_param_info *p = &variant->kernel->params[i];
        if (p->is_array && p->written && b->args[b->runtime[i]]->u.array->buffer->read_only)
            return kj_fail(b->kernel->mod->ctx, KJIT_INVALID,
                           "kernel '%.100s' writes '%s', and the array for it is read-only",
                           b->kernel->decl->name, b->kernel->decl->params[b->runtime[i]].name);
    }
    return KJIT_OK;
}

kjit_status kj_fail_fault(kjit_module *mod, const kj_kernel_info *kernel,
                          const kj_host_fault *fault)
{
    return give(mod->ctx, KJIT_FAULT, kj_fault_text(mod, kernel, fault));
}
