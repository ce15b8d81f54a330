/* A module's text, loaded: parsed, variables laid out and initialised, kernels described. */
#include <stdlib.h>
#include <string.h>

#include "ptx_parse.h"

/* Between two shared variables, so that running over the end of one shows. */
enum { SHARED_GAP = 256 };

static size_t aligned(size_t offset, size_t align)
{
    return (offset + align - 1) / align * align;
}

static bool is_dynamic(const ptx_var *v)
{
    return v->space == PTX_shared && v->external && v->size == 0;
}

/* ---- Variables ---- */

static ptx_var *in_order(ptx_var *vars)
{
    ptx_var *first = NULL;
    while (vars) {
        ptx_var *next = vars->next;
        vars->next = first;
        first = vars;
        vars = next;
    }
    return first;
}

static bool lay_out(ptx_parser *p)
{
    ptx_module *m = p->module;
    m->vars = in_order(m->vars);
    for (ptx_var *v = m->vars; v; v = v->next) {
        if (v->space == PTX_shared && !is_dynamic(v)) {
            m->shared = aligned(m->shared, v->align);
            v->address = PTX_SHARED_BASE + m->shared;
            m->shared += v->size + SHARED_GAP;
        } else if (v->space == PTX_global || v->space == PTX_const) {
            if (v->external) {
                ptx_error(p, 0, "'%s' is defined nowhere", v->name);
                return false;
            }
            v->address = m->memory.alloc(m->memory.ctx, v->size ? v->size : 1,
                                         v->align < 256 ? 256 : v->align);
            if (!v->address) {
                ptx_fail(p, 2, 0, "no memory for '%s'", v->name);
                return false;
            }
            if (v->space == PTX_const)
                m->constants = v->address & ~(uint64_t)UINT32_MAX;
        }
    }
    for (ptx_var *v = m->vars; v; v = v->next)
        if (is_dynamic(v))
            v->address = PTX_SHARED_BASE + aligned(m->shared, 1024);
    return true;
}

static bool address_of(ptx_parser *p, const ptx_reloc *reloc, uint64_t *address)
{
    const ptx_symbol *symbol = ptx_find_symbol(p, NULL, reloc->symbol);
    if (symbol && symbol->kind == PTX_FUNCTION) {
        *address = PTX_CODE_WINDOW + (uint64_t)symbol->function->index * 16;
    } else if (symbol && symbol->kind == PTX_VARIABLE &&
               (symbol->var->space == PTX_global || symbol->var->space == PTX_const)) {
        *address = symbol->var->address;
    } else {
        ptx_error(p, reloc->line, "'%s' has no address that a variable could hold", reloc->symbol);
        return false;
    }
    *address += (uint64_t)reloc->addend;
    return true;
}

static bool initialise(ptx_parser *p)
{
    const ptx_memory *memory = &p->module->memory;
    for (ptx_var *v = p->module->vars; v; v = v->next) {
        ptx_range range;
        if (v->space == PTX_shared && v->init)
            ptx_error(p, 0, "shared '%s' cannot be initialised", v->name);
        if (v->space != PTX_global && v->space != PTX_const)
            continue;
        for (const ptx_reloc *r = v->relocs; r; r = r->next) {
            uint64_t address;
            if (!address_of(p, r, &address))
                return false;
            address >>= r->shift;
            memcpy(v->init + r->offset, &address, r->bytes);
        }
        if (!memory->find(memory->ctx, v->address, &range))
            return false;
        char *host = range.host + (v->address - range.begin);
        if (v->init)
            memcpy(host, v->init, v->size);
        else
            memset(host, 0, v->size);
    }
    return p->errors == 0;
}

/* ---- Kernels ---- */

typedef struct totals {
    bool *seen; /* of each function */
    ptx_var **shared;
    size_t nshared, room;
    size_t local;
    int registers;
} totals;

static void add_shared(totals *t, ptx_var *v)
{
    for (size_t i = 0; i < t->nshared; i++)
        if (t->shared[i] == v)
            return;
    t->shared = ptx_grow(t->shared, t->nshared, &t->room, sizeof *t->shared);
    t->shared[t->nshared++] = v;
}

/* What a function and those it calls need; called by address may be all of them. */
static void add_function(const ptx_module *m, totals *t, const ptx_function *f)
{
    if (t->seen[f->index])
        return;
    t->seen[f->index] = true;
    t->local += f->local;
    if (f->registers > t->registers)
        t->registers = f->registers;
    for (size_t i = 0; i < f->nuses; i++)
        add_shared(t, f->uses[i]);
    for (size_t i = 0; i < f->ncalls; i++)
        add_function(m, t, f->calls[i]);
    for (int i = 0; f->calls_unknown && i < m->nfunctions; i++)
        if (!m->by_index[i]->entry)
            add_function(m, t, m->by_index[i]);
}

static void describe(ptx_module *m, ptx_kernel *kernel, const ptx_function *f)
{
    totals t = {.seen = ptx_new(&m->arena, (size_t)m->nfunctions)};
    ptx_param *params = ptx_new(&m->arena, (size_t)f->nparams * sizeof *params + 1);
    add_function(m, &t, f);
    size_t shared = 0;
    for (const ptx_var *v = m->vars; v; v = v->next)
        for (size_t i = 0; i < t.nshared; i++)
            if (t.shared[i] == v)
                shared = aligned(shared, v->align) + v->size;
    for (int i = 0; i < f->nparams; i++)
        params[i] = (ptx_param){f->params[i]->address, f->params[i]->size};
    kernel->module = m;
    kernel->function = f;
    kernel->info = (ptx_kernel_info){.nparams = f->nparams,
                                     .params = params,
                                     .param_size = f->param_size,
                                     .registers = t.registers > 255 ? 255 : t.registers,
                                     .local = t.local,
                                     .shared = shared,
                                     .max_threads = f->max_threads};
    memcpy(kernel->info.required, f->required, sizeof f->required);
    free(t.shared);
}

/* Does the device runtime, which is linked, have the function? */
static bool is_devrt(const ptx_parser *p, ptx_function *f)
{
    static const char *const names[] = {[PTX_GET_BUFFER] = "__cudaCDP2GetParameterBufferV2",
                                        [PTX_LAUNCH] = "__cudaCDP2LaunchDeviceV2"};
    static const size_t sizes[][6] = {
        [PTX_GET_BUFFER] = {8, 8, 12, 12, 4}, [PTX_LAUNCH] = {4, 8, 8}}; /* the result's first */
    for (ptx_devrt id = PTX_GET_BUFFER; id <= PTX_LAUNCH && p->limits->devrt; id++) {
        bool same = strcmp(f->name, names[id]) == 0 && f->nresults == 1 && f->nparams <= 4 &&
                    f->results[0]->size == sizes[id][0] && sizes[id][f->nparams + 1] == 0;
        for (int k = 0; same && k < f->nparams; k++)
            same = f->params[k]->size == sizes[id][k + 1];
        if (same)
            f->devrt = id;
    }
    return f->devrt != PTX_NO_DEVRT;
}

static bool make_kernels(ptx_parser *p)
{
    ptx_module *m = p->module;
    m->by_index = ptx_new(&m->arena, (size_t)m->nfunctions * sizeof *m->by_index + 1);
    for (ptx_function *f = m->functions; f; f = f->next)
        m->by_index[f->index] = f;
    for (ptx_function *f = m->functions; f; f = f->next)
        for (size_t i = 0; i < f->ncalls; i++)
            if (!f->calls[i]->defined && !is_devrt(p, f->calls[i]))
                ptx_error(p, 0, "Unresolved extern function '%s'", f->calls[i]->name);
    m->kernels = ptx_new(&m->arena, (size_t)m->nfunctions * sizeof *m->kernels + 1);
    for (int i = 0; i < m->nfunctions; i++)
        if (m->by_index[i]->entry && m->by_index[i]->defined)
            describe(m, &m->kernels[m->nkernels++], m->by_index[i]);
    return p->errors == 0;
}

/* ---- Modules ---- */

ptx_module *ptx_load(const char *text, const ptx_limits *limits, const ptx_memory *memory,
                     char *log, size_t log_size, int *code)
{
    ptx_arena arena = {0};
    ptx_module *m = ptx_new(&arena, sizeof *m);
    m->arena = arena;
    m->memory = *memory;
    ptx_parser *p = ptx_new(&arena, sizeof *p);
    m->arena = arena;
    p->lexer = (ptx_lexer){.at = text, .end = text + strlen(text), .line = 1};
    p->module = m;
    p->limits = limits;
    p->log = log;
    p->log_size = log_size;
    if (log_size)
        log[0] = '\0';
    bool good = ptx_parse_module(p) && lay_out(p) && initialise(p) && make_kernels(p);
    ptx_free(&p->names);
    free(p->written);
    *code = good ? 0 : p->code ? p->code : 218;
    if (good)
        return m;
    ptx_unload(m);
    return NULL;
}

void ptx_unload(ptx_module *m)
{
    if (!m)
        return;
    for (const ptx_var *v = m->vars; v; v = v->next)
        if ((v->space == PTX_global || v->space == PTX_const) && v->address)
            m->memory.release(m->memory.ctx, v->address);
    for (ptx_function *f = m->functions; f; f = f->next) {
        free(f->constants);
        free(f->specials);
        free(f->params);
        free(f->results);
        free(f->uses);
        free(f->calls);
    }
    free(m->code);
    free(m->calls);
    free(m->targets);
    free(m->files);
    ptx_arena arena = m->arena;
    ptx_free(&arena);
}

const ptx_kernel *ptx_find_kernel(const ptx_module *m, const char *name)
{
    for (int i = 0; i < m->nkernels; i++)
        if (strcmp(m->kernels[i].function->name, name) == 0)
            return &m->kernels[i];
    return NULL;
}

const ptx_kernel *ptx_kernel_at(const ptx_module *m, int i)
{
    return i < m->nkernels ? &m->kernels[i] : NULL;
}

const char *ptx_kernel_name(const ptx_kernel *kernel)
{
    return kernel->function->name;
}

bool ptx_find_global(const ptx_module *m, const char *name, uint64_t *address, size_t *size)
{
    for (const ptx_var *v = m->vars; v; v = v->next) {
        if ((v->space == PTX_global || v->space == PTX_const) && !v->owner &&
            strcmp(v->name, name) == 0) {
            *address = v->address;
            *size = v->size;
            return true;
        }
    }
    return false;
}

const ptx_kernel_info *ptx_kernel_about(const ptx_kernel *kernel)
{
    return &kernel->info;
}
