/* Values of const parameters that no launch gives: those of forms. In: a name and a number; out: kj_kernel.assumed. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

static int find(const kj_kernel_decl *decl, const char *name)
{
    for (int i = 0; i < decl->nparams; i++)
        if (strcmp(decl->params[i].name, name) == 0)
            return i;
    return -1;
}

/* The number of parameter i among the const ones. */
static int place_of(const kj_kernel_decl *decl, int i)
{
    int n = 0;
    for (int k = 0; k < i; k++)
        n += decl->params[k].is_const;
    return n;
}

static kjit_status keep(kj_kernel *k, int param, kj_value v)
{
    int n = k->decl->nconsts;
    if (!k->assumed) {
        k->assumed = malloc((size_t)n * sizeof *k->assumed);
        if (!k->assumed)
            return kj_no_memory(k->mod->ctx);
        for (int i = 0; i < n; i++)
            k->assumed[i].type = KJ_VOID;
    }
    k->assumed[place_of(k->decl, param)] = v;
    return KJIT_OK;
}

static kjit_status take(kj_kernel *k, int param, const kjit_arg *arg, bool kept)
{
    kj_binding b;
    kj_value v;
    kjit_status status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = kj_bind_const(&b, param, arg, &v);
    kj_binding_end(&b);
    return status == KJIT_OK && kept ? keep(k, param, v) : status;
}

static kjit_status no_param(kjit_module *mod, const char *name)
{
    const kj_kernel *has = NULL;
    kj_near near = kj_near_to(name);
    for (int i = 0; i < mod->nall; i++) {
        const kj_kernel_decl *decl = mod->kernels[i].decl;
        has = find(decl, name) >= 0 ? &mod->kernels[i] : has;
        for (int p = 0; p < decl->nparams; p++)
            if (decl->params[p].is_const)
                kj_near_offer(&near, decl->params[p].name);
    }
    if (has)
        return kj_fail(
            mod->ctx, KJIT_NOT_FOUND,
            "'%s' of kernel '%s' is no const parameter: code is the same for all its values", name,
            has->decl->name);
    return kj_fail(mod->ctx, KJIT_NOT_FOUND, "no kernel of %s has a const parameter '%s'%s%s%s",
                   mod->source.name, name, near.best ? "; did you mean '" : "",
                   near.best ? near.best : "", near.best ? "'?" : "");
}

kjit_status kjit_module_assume(kjit_module *mod, const char *name, kjit_arg value)
{
    kjit_status status = kj_enter_compiled(mod);
    if (status != KJIT_OK)
        return status;
    if (!name)
        return kj_fail(mod->ctx, KJIT_INVALID, "name is NULL");
    if (value.kind != KJIT_ARG_INT && value.kind != KJIT_ARG_UINT && value.kind != KJIT_ARG_FLOAT &&
        value.kind != KJIT_ARG_BOOL)
        return kj_fail(mod->ctx, KJIT_INVALID, "a const parameter is a number or a bool");
    int found = 0, own = 0;
    for (int turn = 0; turn < 2; turn++) { /* all take it, or none has it */
        for (int i = 0; i < mod->nall && status == KJIT_OK; i++) {
            kj_kernel *k = &mod->kernels[i];
            int p = find(k->decl, name);
            if (p < 0 || !k->decl->params[p].is_const)
                continue;
            found++;
            own += i < mod->nkernels;
            status = take(k, p, &value, turn == 1);
            if (status == KJIT_TYPE && i >= mod->nkernels && own > 0) /* it is meant for those */
                status = turn == 1 ? keep(k, p, (kj_value){.type = KJ_UNFIT}) : KJIT_OK;
        }
    }
    return status == KJIT_OK && !found ? no_param(mod, name) : status;
}
