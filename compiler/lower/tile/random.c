/* Random numbers (Philox): the seed and the counter of each thread in, the number out.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011)
 * as run/random.c has it: counter i gives what element i of an array of the run block is
 * made of. With block b of words w0 .. w3:
 *
 *   uniform f32   b = i / 4, word i % 4; f64: b = i / 2, two words
 *   randint       b = i / 2, two words: times the range, over 2^64
 *   normal        b = i / 2: sqrt(-2 ln u) cos(2 pi t), u of the first two words, t of the others,
 *                 a quarter less for odd i, which makes the cosine a sine. In f32, the upper word
 *                 of either: ln, sqrt and cos are the math library's in the number's own type. */
#include "lower/tile/tile.h"

static kj_tile number(kj_lower *lo, kj_dtype type, uint64_t i)
{
    return kj_tile_const(lo, kj_int(type, (int64_t)i));
}

static kj_tile real(kj_lower *lo, kj_dtype type, double f)
{
    return kj_tile_const(lo, kj_float(type, f));
}

static kj_tile shifted(kj_lower *lo, kj_tile a, int by)
{
    return kj_tile_binary(lo, KJ_OP_SHR, a, number(lo, a.type, (uint64_t)by));
}

static kj_tile low_word(kj_lower *lo, kj_tile wide)
{
    return kj_tile_convert(lo, wide, KJ_U32);
}

static kj_tile high_word(kj_lower *lo, kj_tile wide)
{
    return low_word(lo, shifted(lo, wide, 32));
}

static kj_tile product(kj_lower *lo, kj_tile a, uint32_t by)
{
    return kj_tile_binary(lo, KJ_OP_MUL, kj_tile_convert(lo, a, KJ_U64), number(lo, KJ_U64, by));
}

static kj_tile exclusive(kj_lower *lo, kj_tile a, kj_tile b, kj_tile c)
{
    return kj_tile_binary(lo, KJ_OP_XOR, kj_tile_binary(lo, KJ_OP_XOR, a, b), c);
}

/* The words of block b, a u64, under that seed. */
static void philox(kj_lower *lo, kj_tile seed, kj_tile b, kj_tile w[4])
{
    kj_tile k0 = low_word(lo, seed), k1 = high_word(lo, seed);
    kj_tile zero = number(lo, KJ_U32, 0);
    w[0] = low_word(lo, b);
    w[1] = high_word(lo, b);
    w[2] = w[3] = zero;
    for (int round = 0; round < 10; round++) {
        kj_tile p0 = product(lo, w[0], 0xD2511F53u), p1 = product(lo, w[2], 0xCD9E8D57u);
        w[0] = exclusive(lo, high_word(lo, p1), w[1], k0);
        w[1] = low_word(lo, p1);
        w[2] = exclusive(lo, high_word(lo, p0), w[3], k1);
        w[3] = low_word(lo, p0);
        k0 = kj_tile_binary(lo, KJ_OP_ADD, k0, number(lo, KJ_U32, 0x9E3779B9u));
        k1 = kj_tile_binary(lo, KJ_OP_ADD, k1, number(lo, KJ_U32, 0xBB67AE85u));
    }
}

/* Is that bit of the counter set? */
static kj_tile bit(kj_lower *lo, kj_tile counter, int which)
{
    kj_tile masked = kj_tile_binary(lo, KJ_OP_AND, low_word(lo, counter),
                                    number(lo, KJ_U32, (uint64_t)1 << which));
    return kj_tile_binary(lo, KJ_OP_NE, masked, number(lo, KJ_U32, 0));
}

static kj_tile pair(kj_lower *lo, kj_tile low, kj_tile high)
{
    kj_tile up =
        kj_tile_binary(lo, KJ_OP_SHL, kj_tile_convert(lo, high, KJ_U64), number(lo, KJ_U64, 32));
    return kj_tile_binary(lo, KJ_OP_OR, up, kj_tile_convert(lo, low, KJ_U64));
}

/* The 64 bits of counter i. */
static kj_tile two_words(kj_lower *lo, kj_tile seed, kj_tile i)
{
    kj_tile w[4], odd = bit(lo, i, 0);
    philox(lo, seed, shifted(lo, i, 1), w);
    return pair(lo, kj_tile_select(lo, odd, w[2], w[0]), kj_tile_select(lo, odd, w[3], w[1]));
}

/* The upper 24 bits of a word, or 53 of two, as a number in [0, 1); signed integers are what CPUs
 * convert. */
static kj_tile fraction(kj_lower *lo, kj_tile bits, kj_dtype type)
{
    bool single = type == KJ_F32;
    kj_tile top = kj_tile_convert(lo, shifted(lo, bits, single ? 8 : 11), single ? KJ_I32 : KJ_I64);
    return kj_tile_binary(lo, KJ_OP_MUL, kj_tile_convert(lo, top, type),
                          real(lo, type, single ? 0x1p-24 : 0x1p-53));
}

static kj_tile uniform(kj_lower *lo, kj_tile seed, kj_tile i, kj_dtype type)
{
    if (type == KJ_F64)
        return fraction(lo, two_words(lo, seed, i), type);
    kj_tile w[4], odd = bit(lo, i, 0);
    philox(lo, seed, shifted(lo, i, 2), w);
    kj_tile low = kj_tile_select(lo, odd, w[1], w[0]), high = kj_tile_select(lo, odd, w[3], w[2]);
    return fraction(lo, kj_tile_select(lo, bit(lo, i, 1), high, low), type);
}

/* In (0, 1]. */
static kj_tile positive(kj_lower *lo, kj_tile low, kj_tile high, kj_dtype type)
{
    if (type == KJ_F32) {
        kj_tile args[3] = {kj_tile_convert(lo, high, type), real(lo, type, 0x1p-32),
                           real(lo, type, 0x1p-33)};
        return kj_tile_intrinsic(lo, "llvm.fma", args, 3);
    }
    kj_tile top = kj_tile_convert(lo, shifted(lo, pair(lo, low, high), 11), KJ_I64);
    top = kj_tile_binary(lo, KJ_OP_ADD, top, number(lo, KJ_I64, 1));
    return kj_tile_binary(lo, KJ_OP_MUL, kj_tile_convert(lo, top, type), real(lo, type, 0x1p-53));
}

static kj_tile normal(kj_lower *lo, kj_tile seed, kj_tile i, kj_dtype type)
{
    kj_tile w[4];
    philox(lo, seed, shifted(lo, i, 1), w);
    kj_tile u = positive(lo, w[0], w[1], type);
    kj_tile t = fraction(lo, type == KJ_F32 ? w[3] : pair(lo, w[2], w[3]), type);
    kj_tile back = kj_tile_select(lo, bit(lo, i, 0), real(lo, type, 0.25), real(lo, type, 0));
    t = kj_tile_binary(lo, KJ_OP_SUB, t, back); /* exact */
    kj_tile square =
        kj_tile_binary(lo, KJ_OP_MUL, kj_lower_math(lo, KJ_BI_LOG, &u, 1), real(lo, type, -2));
    kj_tile angle = kj_tile_binary(lo, KJ_OP_MUL, t, real(lo, type, 6.283185307179586477));
    return kj_tile_binary(lo, KJ_OP_MUL, kj_tile_intrinsic(lo, "llvm.sqrt", &square, 1),
                          kj_lower_math(lo, KJ_BI_COS, &angle, 1));
}

/* v * range / 2^64 */
static kj_tile integer(kj_lower *lo, kj_tile v, kj_tile range)
{
    kj_tile words[2] = {kj_tile_convert(lo, low_word(lo, v), KJ_U64), shifted(lo, v, 32)}, part[2];
    kj_tile low = kj_tile_convert(lo, low_word(lo, range), KJ_U64);
    for (int i = 0; i < 2; i++)
        part[i] = kj_tile_binary(lo, KJ_OP_MUL, words[i], low);
    kj_tile sum = kj_tile_binary(lo, KJ_OP_ADD, part[1], shifted(lo, part[0], 32));
    if (range.type == KJ_U32)
        return high_word(lo, sum);
    kj_tile high = shifted(lo, range, 32);
    for (int i = 0; i < 2; i++)
        part[i] = kj_tile_binary(lo, KJ_OP_MUL, words[i], high);
    kj_tile rest = kj_tile_convert(lo, low_word(lo, sum), KJ_U64);
    rest = shifted(lo, kj_tile_binary(lo, KJ_OP_ADD, part[0], rest), 32);
    sum = kj_tile_binary(lo, KJ_OP_ADD, part[1], shifted(lo, sum, 32));
    return kj_tile_binary(lo, KJ_OP_ADD, sum, rest);
}

kj_tile kj_lower_random(kj_lower *lo, const kj_texpr *e, const kj_tile *args)
{
    kj_tile seed = kj_tile_dense(lo, args[0]), counter = kj_tile_dense(lo, args[1]);
    switch (e->u.call.id) {
    case KJ_BI_RANDOM_UNIFORM: return uniform(lo, seed, counter, e->type);
    case KJ_BI_RANDOM_NORMAL: return normal(lo, seed, counter, e->type);
    default: return integer(lo, two_words(lo, seed, counter), kj_tile_dense(lo, args[2]));
    }
}
