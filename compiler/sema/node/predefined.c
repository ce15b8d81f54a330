/* The outermost scope: the types, the built-in functions and inf, nan and pi. */
#include <string.h>

#include "sema/node/node.h"

static void predefine_value(kj_arena *arena, kj_scope *scope, const char *name, double f)
{
    kj_symbol *sym = kj_scope_add(arena, scope, kj_intern(arena, name, strlen(name)),
                                  (kj_span){0, 0}, KJ_SYM_VALUE);
    sym->role = KJ_ROLE_PREDEFINED;
    sym->value = kj_literal(kj_float(KJ_F64, f), sym->span);
}

kj_scope *kj_predefined(kj_arena *arena)
{
    kj_scope *scope = kj_scope_new(arena, NULL);
    kj_span none = {0, 0};
    for (int t = 0; t < KJ_NTYPES; t++) {
        const char *name = kj_intern(arena, kj_types[t].name, strlen(kj_types[t].name));
        kj_scope_add(arena, scope, name, none, KJ_SYM_TYPE)->type = (kj_dtype)t;
    }
#define AGGREGATE(id, number, text, kind, elem, n) \
    kj_scope_add(arena, scope, kj_intern(arena, text, strlen(text)), none, KJ_SYM_TYPE)->type = \
        KJ_##id;
#include "lang/aggregates.def"
#undef AGGREGATE
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const char *text = kj_builtins[id].name, *dot = strchr(text, '.');
        const char *name = kj_intern(arena, text, dot ? (size_t)(dot - text) : strlen(text));
        kj_symbol *sym =
            kj_scope_add(arena, scope, name, none, dot ? KJ_SYM_NAMESPACE : KJ_SYM_BUILTIN);
        sym->builtin = (kj_builtin)id;
        sym->role = KJ_ROLE_PREDEFINED;
    }
    predefine_value(arena, scope, "inf", (double)__builtin_inff());
    predefine_value(arena, scope, "nan", (double)__builtin_nanf(""));
    predefine_value(arena, scope, "pi", 3.14159265358979323846);
    return scope;
}
