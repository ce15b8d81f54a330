/* Functions of complex literals: computed in 64 bits, and literals again, as those of real ones are. */
#include <math.h>

#include "sema/value/value.h"

static bool take(const kj_operand *v, kj_parts *out, bool *open)
{
    const kj_operand *part = kj_is_complex(v) ? v->u.tuple.items : v;
    double f[2] = {0, 0};
    for (int i = 0; i < (kj_is_complex(v) ? 2 : 1); i++) {
        if (part[i].kind != KJ_V_LITERAL)
            return false;
        f[i] = kj_fold_convert(part[i].u.literal, KJ_F64).f;
        *open |= part[i].open;
    }
    *out = (kj_parts){f[0], f[1]};
    return true;
}

static kj_operand real(double f, bool open, kj_span span)
{
    return open ? kj_open_literal(true, span) : kj_literal(kj_float(KJ_F64, f), span);
}

static kj_operand whole(kj_sema *s, kj_parts z, bool open, kj_span span)
{
    return kj_complex(s, real(z.re, open, span), real(z.im, open, span), span);
}

static kj_operand polar(kj_sema *s, kj_parts z, bool open, kj_span span)
{
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    items[0] = real(hypot(z.re, z.im), open, span);
    items[1] = real(atan2(z.im, z.re), open, span);
    return kj_tuple(items, 2, NULL, span);
}

/* Is a power by it products? */
static bool is_whole(const kj_operand *v)
{
    return v->kind == KJ_V_LITERAL && kj_is_int(v->u.literal.type) &&
           v->u.literal.i >= -KJ_MAX_PRODUCTS && v->u.literal.i <= KJ_MAX_PRODUCTS;
}

bool kj_fold_complex(kj_sema *s, kj_builtin id, const kj_operand *v, int n, kj_span span,
                     kj_operand *out)
{
    kj_parts z[2], made;
    bool open = false;
    if (n < 1 || n > 2 || !take(&v[0], &z[0], &open) || (n == 2 && !take(&v[1], &z[1], &open)))
        return false;
    if (id == KJ_BI_POW && n == 2 && is_whole(&v[1]))
        *out = whole(s, kj_host_whole_power(z[0], (int)z[1].re), open, span);
    else if (id == KJ_BI_POW && n == 2)
        *out = whole(s, kj_host_complex_power(z[0], z[1], !kj_is_complex(&v[1])), open, span);
    else if (id == KJ_BI_RECT && n == 2)
        *out = whole(s, kj_host_rect(z[0].re, z[1].re), open, span);
    else if (id == KJ_BI_ABS && n == 1)
        *out = real(hypot(z[0].re, z[0].im), open, span);
    else if (id == KJ_BI_PHASE && n == 1)
        *out = real(atan2(z[0].im, z[0].re), open, span);
    else if (id == KJ_BI_POLAR && n == 1)
        *out = polar(s, z[0], open, span);
    else if (n == 1 && kj_host_complex(id, z[0], &made))
        *out = whole(s, made, open, span);
    else
        return false;
    return true;
}
