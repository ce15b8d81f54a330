/* The operands of typed expressions, for whoever walks over them. */
#include "tast.h"

static int add_access(const kj_tarray *a, kj_texpr *const *index, const kj_texpr **out)
{
    int n = 0;
    if (a->offset)
        out[n++] = a->offset;
    for (int i = 0; i < a->ndim; i++) {
        out[n++] = index[i];
        out[n++] = a->stride[i];
    }
    return n;
}

int kj_operands(const kj_texpr *e, const kj_texpr *out[KJ_MAX_OPERANDS])
{
    int n = 0;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_VAR:
    case KJ_TE_DIM:
    case KJ_TE_INDEX:
    case KJ_TE_INLINE: break;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT: out[n++] = e->u.unary.arg; break;
    case KJ_TE_BINARY:
        out[n++] = e->u.binary.lhs;
        out[n++] = e->u.binary.rhs;
        break;
    case KJ_TE_LOGIC:
        out[n++] = e->u.logic.lhs;
        out[n++] = e->u.logic.rhs;
        break;
    case KJ_TE_SELECT:
        out[n++] = e->u.select.test;
        out[n++] = e->u.select.yes;
        out[n++] = e->u.select.no;
        break;
    case KJ_TE_FMA:
        out[n++] = e->u.fma.a;
        out[n++] = e->u.fma.b;
        out[n++] = e->u.fma.c;
        break;
    case KJ_TE_LOAD: n = add_access(e->u.load.array, e->u.load.index, out); break;
    case KJ_TE_CALL:
        while (n < e->u.call.nargs) {
            out[n] = e->u.call.args[n];
            n++;
        }
        break;
    case KJ_TE_ATOMIC:
        n = add_access(e->u.atomic.array, e->u.atomic.index, out);
        for (int i = 0; i < 2 && e->u.atomic.args[i]; i++)
            out[n++] = e->u.atomic.args[i];
        break;
    }
    return n;
}
