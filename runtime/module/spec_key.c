/* The key of a variant: what its specialisation fixes, packed; and back. */
#include <inttypes.h>
#include <string.h>

#include "module/image.h"

enum { SMALL_AT = 63, DISJOINT_AT = 62, ALIGNED_AT = 61, WIDE_AT = 16, Y_AT = 20, Z_AT = 40 };

/* Words: block, then packed generics, layouts and last extents, then consts. */
int kj_key_words(const kj_kernel_decl *decl)
{
    return 1 + (16 * decl->ngenerics + 8 * decl->nparams + 63) / 64 + decl->nconsts;
}

static uint64_t value_bits(kj_value v)
{
    uint64_t bits = v.u;
    if (kj_is_float(v.type))
        memcpy(&bits, &v.f, sizeof bits);
    return bits;
}

static kj_value value_of_bits(kj_dtype type, uint64_t bits)
{
    kj_value v = {.type = type, .u = bits};
    if (kj_is_float(type))
        memcpy(&v.f, &bits, sizeof bits);
    return v;
}

/* Wider fields come first, and widths divide 64: none crosses a word's end. */
static void pack(uint64_t *key, unsigned *at, uint64_t value, unsigned width)
{
    key[*at / 64] |= value << *at % 64;
    *at += width;
}

static uint64_t unpack(const uint64_t *key, unsigned *at, unsigned width)
{
    uint64_t value = key[*at / 64] >> *at % 64 & ((UINT64_C(1) << width) - 1);
    *at += width;
    return value;
}

void kj_spec_key(const kj_kernel *kernel, const kj_spec *spec, uint64_t *key)
{
    const kj_kernel_decl *decl = kernel->decl;
    memset(key, 0, (size_t)kernel->key_words * sizeof *key);
    key[0] = (uint64_t)spec->small << SMALL_AT | (uint64_t)spec->disjoint << DISJOINT_AT |
             (uint64_t)spec->aligned << ALIGNED_AT | (uint64_t)spec->block[0] |
             (uint64_t)spec->wide << WIDE_AT | (uint64_t)spec->block[1] << Y_AT |
             (uint64_t)spec->block[2] << Z_AT;
    unsigned at = 64;
    for (int i = 0; i < decl->ngenerics; i++)
        pack(key, &at, (uint64_t)spec->generics[i], 16);
    for (int i = 0; i < decl->nparams; i++) {
        if (decl->params[i].ndim > 0)
            pack(key, &at, (uint64_t)spec->lasts[i] << 2 | (uint64_t)spec->layouts[i], 8);
    }
    uint64_t *consts = key + kernel->key_words - decl->nconsts;
    for (int i = 0; i < decl->nconsts; i++)
        consts[i] = value_bits(spec->consts[i]);
}

/* What its module's options say is not in a key. */
kj_spec kj_key_spec(kj_arena *arena, const kj_kernel *kernel, const uint64_t *key)
{
    enum { X = (1 << WIDE_AT) - 1, AXES = 7, Y = (1 << (Z_AT - Y_AT)) - 1 };
    const kj_kernel_decl *decl = kernel->decl;
    kj_dtype *generics = KJ_NEW_ARRAY(arena, kj_dtype, (size_t)decl->ngenerics + 1);
    kj_value *consts = KJ_NEW_ARRAY(arena, kj_value, (size_t)decl->nconsts + 1);
    kj_layout *layouts = KJ_NEW_ARRAY(arena, kj_layout, (size_t)decl->nparams + 1);
    uint8_t *lasts = KJ_NEW_ARRAY(arena, uint8_t, (size_t)decl->nparams + 1);
    const uint64_t *values = key + kernel->key_words - decl->nconsts;
    unsigned at = 64;
    for (int i = 0; i < decl->ngenerics; i++)
        generics[i] = (kj_dtype)unpack(key, &at, 16);
    for (int i = 0, n = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (p->is_const)
            consts[n] = value_of_bits(p->generic >= 0 ? generics[p->generic] : p->type, values[n]);
        n += p->is_const;
        if (p->ndim == 0)
            continue;
        uint64_t packed = unpack(key, &at, 8);
        layouts[i] = (kj_layout)(packed & 3);
        lasts[i] = (uint8_t)(packed >> 2);
    }
    return (kj_spec){.generics = generics,
                     .consts = consts,
                     .layouts = layouts,
                     .lasts = lasts,
                     .block = {(int64_t)(key[0] & X), (int64_t)(key[0] >> Y_AT & Y),
                               (int64_t)(key[0] >> Z_AT & Y)},
                     .wide = (unsigned)(key[0] >> WIDE_AT & AXES),
                     .small = key[0] >> SMALL_AT & 1,
                     .disjoint = key[0] >> DISJOINT_AT & 1,
                     .aligned = key[0] >> ALIGNED_AT & 1};
}

static bool is_kept(unsigned bit, kj_relaxed how)
{
    return how == KJ_RELAXED_NOT || (bit == SMALL_AT && how == KJ_RELAXED_PLACES);
}

void kj_key_relaxed(const kj_kernel *kernel, const uint64_t *key, kj_relaxed how, uint64_t *out)
{
    enum { AXES = 7, LAYOUT = 3, FIELD = 255 };
    const kj_kernel_decl *decl = kernel->decl;
    memcpy(out, key, (size_t)kernel->key_words * sizeof *key);
    if (how == KJ_RELAXED_NOT)
        return;
    static const unsigned taken[] = {SMALL_AT, DISJOINT_AT, ALIGNED_AT};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!is_kept(taken[i], how))
            out[0] &= ~(UINT64_C(1) << taken[i]);
    out[0] &= ~((uint64_t)AXES << WIDE_AT);
    unsigned at = 64 + 16 * (unsigned)decl->ngenerics;
    for (int i = 0; i < decl->nparams; i++) {
        if (decl->params[i].ndim == 0)
            continue;
        uint64_t layout =
            how == KJ_RELAXED_LAYOUTS ? KJ_LAYOUT_STRIDED : key[at / 64] >> at % 64 & LAYOUT;
        out[at / 64] &= ~((uint64_t)FIELD << at % 64);
        out[at / 64] |= layout << at % 64;
        at += 8;
    }
}

bool kj_is_relaxed(const kj_kernel *kernel, const uint64_t *key)
{
    uint64_t relaxed[KJ_MAX_KEY];
    kj_key_relaxed(kernel, key, KJ_RELAXED_LAYOUTS, relaxed);
    return memcmp(relaxed, key, (size_t)kernel->key_words * sizeof *key) == 0;
}

/* ---- For people ---- */

static void put_value(kj_text *t, kj_value v)
{
    if (v.type == KJ_BOOL)
        kj_text_printf(t, v.u ? "true" : "false");
    else if (kj_is_float(v.type))
        kj_text_printf(t, "%g", v.f);
    else
        kj_text_printf(t, "%" PRId64, v.i);
}

/* "block (16, 16, 1), T = f32, TILE = 16": what a launch fixes, for people. */
void kj_put_variant(kj_text *t, const kj_kernel *kernel, const kj_spec *spec)
{
    const kj_kernel_decl *decl = kernel->decl;
    kj_text_printf(t, "block (%" PRId64 ", %" PRId64 ", %" PRId64 ")", spec->block[0],
                   spec->block[1], spec->block[2]);
    int n = 0;
    for (const kj_generic *g = decl->generics; g; g = g->next)
        kj_text_printf(t, ", %s = %s", g->name,
                       kj_type_name_in(kernel->mod->ctx->records, spec->generics[n++]));
    n = 0;
    for (int i = 0; i < decl->nparams; i++) {
        if (!decl->params[i].is_const)
            continue;
        kj_text_printf(t, ", %s = ", decl->params[i].name);
        put_value(t, spec->consts[n++]);
    }
}
