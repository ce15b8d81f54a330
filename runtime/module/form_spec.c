/* What stands for a launch where nobody has said which: types, const parameters, and all that it fixes. */
#include <string.h>

#include "module/module.h"

static bool takes_defaults(const kj_kernel_decl *decl, int generic, kj_dtype type)
{
    kj_value v;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (p->generic == generic && p->has_default && !kj_default_as(p->init, type, &v))
            return false;
    }
    return true;
}

kj_dtype kj_form_type(const kj_kernel_decl *decl, int generic)
{
    static const kj_dtype types[] = {KJ_F32, KJ_F64, KJ_I32, KJ_I64, KJ_U64, KJ_BOOL};
    const kj_generic *g = decl->generics;
    for (int i = 0; i < generic; i++)
        g = g->next;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (kj_type_in_bound(types[i], g->bound) && takes_defaults(decl, generic, types[i]))
            return types[i];
    return g->bound && strcmp(g->bound, "complex") == 0 ? KJ_C64
           : kj_type_in_bound(KJ_F32, g->bound)         ? KJ_F32
                                                        : KJ_I32;
}

bool kj_is_assumed(const kj_kernel *kernel, int nth)
{
    return kernel->assumed && kernel->assumed[nth].type != KJ_VOID;
}

kj_spec kj_form_spec(kj_arena *arena, const kj_kernel *kernel, const int64_t block[3],
                     const kj_compile_options *options)
{
    const kj_kernel_decl *decl = kernel->decl;
    kj_dtype *generics = KJ_NEW_ARRAY(arena, kj_dtype, (size_t)decl->ngenerics);
    kj_value *consts = KJ_NEW_ARRAY(arena, kj_value, (size_t)decl->nconsts);
    kj_layout *layouts = KJ_NEW_ARRAY(arena, kj_layout, (size_t)decl->nparams);
    uint8_t *lasts = KJ_NEW_ARRAY(arena, uint8_t, (size_t)decl->nparams + 1);
    int n = 0;
    for (int i = 0; i < decl->ngenerics; i++)
        generics[i] = kj_form_type(decl, i);
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        layouts[i] = KJ_LAYOUT_C;
        if (!p->is_const)
            continue;
        kj_dtype type = p->generic >= 0 ? generics[p->generic] : p->type;
        kj_value v = type == KJ_BOOL ? (kj_value){.type = KJ_BOOL, .u = 1} : kj_int(KJ_I64, 1);
        if (kj_is_assumed(kernel, n))
            v = kernel->assumed[n];
        else if (p->has_default)
            v = p->init;
        consts[n++] = kj_fold_convert(v, kj_is_scalar(type) ? type : KJ_I32);
    }
    return (kj_spec){.generics = generics,
                     .consts = consts,
                     .layouts = layouts,
                     .lasts = lasts,
                     .block = {block[0], block[1], block[2]},
                     .small = true,
                     .wide = 7 /* all axes */,
                     .no_contract = options->no_contract,
                     .checks = options->checks,
                     .untrusted = options->untrusted,
                     .polls = options->polls,
                     .disjoint = options->arch != NULL,
                     .aligned = options->arch != NULL};
}
