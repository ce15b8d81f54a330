/* Smart arrays as arguments of launches. */
#include "launch/launch.h"

/* The smart array that is the i-th of a launch's values, if the kernel uses it; else NULL. */
static kjit_smart *used(const kj_binding *b, const kj_variant *variant, int i)
{
    const kj_param_info *p = &variant->kernel->params[i];
    return p->is_array && (p->read || p->written) ? b->args[b->runtime[i]]->u.array->smart : NULL;
}

kjit_status kj_smart_args_enter(const kj_binding *b, const kj_variant *variant)
{
    kjit_status status = KJIT_OK;
    for (int i = 0; i < b->nruntime && status == KJIT_OK; i++) {
        kjit_smart *s = used(b, variant, i);
        if (s)
            status = kj_smart_enter(s);
    }
    return status;
}

void kj_smart_args_leave(const kj_binding *b, const kj_variant *variant)
{
    for (int i = 0; i < b->nruntime; i++) {
        kjit_smart *s = used(b, variant, i);
        if (s)
            kj_smart_leave(s, variant->kernel->params[i].written);
    }
}
