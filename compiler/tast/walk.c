/* The operands of typed expressions, for whoever walks over them; and what many look for. */
#include "tast/tast.h"

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
    case KJ_TE_ADDRESS:
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

/* ---- Operations of a warp ---- */

static const kj_texpr *in_expr(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS], *found = NULL;
    if (e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_WARP)
        return e;
    if (e->kind == KJ_TE_INLINE)
        return kj_warp_operation(e->u.inline_.block->body, NULL);
    for (int i = 0, n = kj_operands(e, operands); i < n && !found; i++)
        found = in_expr(operands[i]);
    return found;
}

static const kj_texpr *in_store(const kj_tstmt *s)
{
    const kj_texpr *out[KJ_MAX_OPERANDS], *found = in_expr(s->u.store.value);
    for (int i = 0, n = add_access(s->u.store.array, s->u.store.index, out); i < n && !found; i++)
        found = in_expr(out[i]);
    return found;
}

static const kj_texpr *in_values(kj_texpr *const *values, int n)
{
    const kj_texpr *found = NULL;
    for (int i = 0; i < n && !found; i++)
        found = in_expr(values[i]);
    return found;
}

static const kj_texpr *in_stmt(const kj_tstmt *s)
{
    const kj_texpr *found = NULL;
    switch (s->kind) {
    case KJ_TS_DECL: return s->u.decl.init ? in_expr(s->u.decl.init) : NULL;
    case KJ_TS_ASSIGN: return in_expr(s->u.assign.value);
    case KJ_TS_STORE: return in_store(s);
    case KJ_TS_EXPR: return in_expr(s->u.expr);
    case KJ_TS_IF:
        found = in_expr(s->u.if_.test);
        found = found ? found : kj_warp_operation(s->u.if_.yes, NULL);
        return found ? found : kj_warp_operation(s->u.if_.no, NULL);
    case KJ_TS_FOR:
        found = in_expr(s->u.for_.start);
        found = found ? found : in_expr(s->u.for_.stop);
        found = found ? found : in_expr(s->u.for_.step);
        return found ? found : kj_warp_operation(s->u.for_.body, NULL);
    case KJ_TS_WHILE:
        found = in_expr(s->u.while_.test);
        return found ? found : kj_warp_operation(s->u.while_.body, NULL);
    case KJ_TS_INLINE: return kj_warp_operation(s->u.block->body, NULL);
    case KJ_TS_REPORT: return in_values(s->u.report.values, s->u.report.site->nvalues);
    case KJ_TS_LAUNCH: return in_values(s->u.launch.values, s->u.launch.nvalues);
    case KJ_TS_BARRIER: return s->u.barrier.arg ? in_expr(s->u.barrier.arg) : NULL;
    default: return NULL;
    }
}

const kj_texpr *kj_warp_operation(const kj_tstmt *s, const kj_tstmt *end)
{
    const kj_texpr *found = NULL;
    for (; s != end && !found; s = s->next)
        found = in_stmt(s);
    return found;
}
