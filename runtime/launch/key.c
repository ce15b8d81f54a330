/* What the code of a launch may take for granted of its arrays, and the key of the variant that has it. */
#include "launch/launch.h"

enum { SMALL_SPAN = INT32_MAX - 8 }; /* room for the words around bytes at an array's ends */

/* Do 32 bits hold the strides that an empty array's shape implies? (launch.c takes those) */
static bool is_small_empty(const kjit_array *a)
{
    int64_t stride = 1;
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] >= KJ_SMALL || stride >= SMALL_SPAN)
            return false;
        stride *= a->shape[i] > 0 ? a->shape[i] : 1;
    }
    return stride < SMALL_SPAN;
}

bool kj_is_small(const kjit_array *a, int unit)
{
    int64_t span = 0, size = a->of && a->of->least < unit ? a->of->least : unit;
    if (a->size == 0)
        return is_small_empty(a);
    for (int i = 0; i < a->ndim; i++) {
        int64_t stride = a->strides[i] / size, reach;
        stride = stride < 0 ? -stride : stride;
        if (a->shape[i] >= KJ_SMALL || stride >= SMALL_SPAN ||
            __builtin_mul_overflow(a->shape[i] - 1, stride, &reach) ||
            __builtin_add_overflow(span, reach, &span))
            return false;
    }
    return span < SMALL_SPAN;
}

uint8_t kj_known_last(const kj_binding *b, const kjit_array *a)
{
    bool known = b->kernel->mod->ctx->ops->lasts && a->ndim > 1 && a->layout == KJ_LAYOUT_C &&
                 a->shape[a->ndim - 1] <= KJ_SHORT_LAST;
    return known ? (uint8_t)a->shape[a->ndim - 1] : 0;
}

/* What the addresses of the arrays allow. Host arrays that a device gets copies of keep their place
 * relative to one another and to multiples of 256 bytes (staging.c), so theirs say it. */
static void compare_arrays(kj_binding *b)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    for (int i = 0; i < decl->nparams; i++) {
        if (decl->params[i].ndim == 0)
            continue;
        const kjit_array *a = b->args[i]->u.array;
        b->aligned = b->aligned && (a->size == 0 || (uintptr_t)a->data % 16 == 0);
        for (int k = 0; k < i && b->disjoint; k++)
            if (decl->params[k].ndim > 0)
                b->disjoint = !kj_arrays_meet(b->args[k]->u.array, a);
    }
}

/* Are there elements whose parts are stored together, or may turns of a loop be shared out anew? Then it makes a
 * difference to any device's code, whether arrays are apart. */
static bool asks_apart(const kj_binding *b)
{
    if (b->kernel->decl->asks_grid)
        return true;
    for (int i = 0; i < b->kernel->decl->nparams; i++)
        if (b->kernel->decl->params[i].ndim > 0 && b->lasts[i] > 1)
            return true;
    return false;
}

/* ---- The key ---- */

kj_spec kj_binding_spec(const kj_binding *b)
{
    const kj_compile_options *options = &b->kernel->mod->options;
    return (kj_spec){.generics = b->generics,
                     .consts = b->consts,
                     .layouts = b->layouts,
                     .lasts = b->lasts,
                     .block = {b->block[0], b->block[1], b->block[2]},
                     .small = b->small,
                     .disjoint = b->disjoint,
                     .aligned = b->aligned,
                     .wide = b->wide,
                     .checks = options->checks,
                     .polls = options->polls,
                     .untrusted = options->untrusted,
                     .no_contract = options->no_contract};
}

/* How many threads are a vector, at most: of bytes, and of rows of words that are streamed, twice as many. */
static int gang_of(const kj_binding *b)
{
    const kj_kernel_decl *decl = b->kernel->decl;
    bool words = true;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        kj_dtype type = p->generic >= 0 ? b->generics[p->generic] : p->type;
        if (p->ndim > 0 && kj_is_small_element(type))
            return KJ_GANG_OF_BYTES;
        words &= p->ndim == 0 || (kj_is_scalar(type) && kj_types[type].bits <= 32);
    }
    return words ? KJ_GANG_OF_BYTES : KJ_GANG;
}

/* Along which axes are enough of the grid's threads side by side, where a block's are no whole gangs? Of x and y along both
 * that count or along none, so that grids of many shapes share code. */
static unsigned find_wide(const kj_binding *b)
{
    enum { XY = 3 };
    unsigned wide = 0, asked = 0;
    int gang = gang_of(b);
    for (int i = 0; i < 3 && b->kernel->mod->ctx->ops->wide; i++) {
        unsigned is_short = kj_is_short(b->block, i, gang);
        bool is_wide = b->grid[i] >= (KJ_WIDE + b->block[i] - 1) / b->block[i];
        asked |= is_short << i;
        wide |= (is_wide ? is_short : 0) << i;
    }
    return (wide & XY) == (asked & XY) ? wide : 0;
}

void kj_binding_key(kj_binding *b)
{
    b->wide = find_wide(b);
    if (b->kernel->mod->ctx->ops->variants || asks_apart(b)) {
        b->disjoint = true;
        compare_arrays(b);
    }
    for (int i = 0; i < 3; i++)
        b->small = b->small && b->grid[i] <= (KJ_SMALL - 1) / b->block[i];
    kj_spec spec = kj_binding_spec(b);
    kj_spec_key(b->kernel, &spec, b->key);
}
