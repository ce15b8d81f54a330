/* How much code statements become, roughly: for those who think about a second copy of them. */
#include "lower.h"

/* A call of the math library, or a load of bytes, is as much as a few statements. */
static int weigh_expr(const kj_texpr *e)
{
    enum { HEAVY = 4 };
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool math = e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_MATH;
    bool bytes = e->kind == KJ_TE_LOAD && kj_types[e->type].bits < 32;
    int n = math || bytes ? HEAVY : 0;
    for (int i = 0, count = kj_operands(e, operands); i < count; i++)
        n += weigh_expr(operands[i]);
    return n;
}

int kj_weigh(const kj_tstmt *s, const kj_tstmt *end)
{
    int n = 0;
    for (; s != end; s = s->next) {
        n += 1;
        if (s->kind == KJ_TS_DECL && s->u.decl.init)
            n += weigh_expr(s->u.decl.init);
        else if (s->kind == KJ_TS_ASSIGN)
            n += weigh_expr(s->u.assign.value);
        else if (s->kind == KJ_TS_STORE)
            n += weigh_expr(s->u.store.value);
        else if (s->kind == KJ_TS_IF)
            n += kj_weigh(s->u.if_.yes, NULL) + kj_weigh(s->u.if_.no, NULL);
        else if (s->kind == KJ_TS_FOR)
            n += kj_weigh(s->u.for_.body, NULL);
        else if (s->kind == KJ_TS_WHILE)
            n += kj_weigh(s->u.while_.body, NULL);
        else if (s->kind == KJ_TS_INLINE)
            n += kj_weigh(s->u.block->body, NULL);
    }
    return n;
}
