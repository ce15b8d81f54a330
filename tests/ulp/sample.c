/* Arguments drawn: every exponent, special values, and more where functions do their work. */
#include <math.h>
#include <string.h>

#include "ulp.h"

static const double special[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    10,
    1024,
    -1075,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1p-1074,
    0x1p-1022,
    0x1.fffffep127,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    0x1p23,
    0x1p24,
    0x1p31,
    0x1p32,
    0x1p52,
    0x1p53,
    0x1p63,
    0x1p64,
    88.7,
    -87.5,
    -103.9,
    709.8,
    -745.2,
    -708.5,
    128,
    -149.5,
    171.5,
    -170.5,
    34.5,
    -33.5,
    1e22,
    0x1.921fb6p+1,
    0x1.921fb54442d18p+0,
};

static uint64_t bits(sampler *from)
{
    uint64_t z = from->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

sampler sampler_new(const char *name, bool is_double, uint64_t chunk)
{
    sampler s = {2 * chunk + is_double};
    for (; *name; name++)
        s.state = s.state * 1099511628211u + (unsigned char)*name;
    bits(&s);
    return s;
}

static double between(sampler *from, double low, double high)
{
    return low + (high - low) * ((double)(bits(from) >> 11) * 0x1p-53);
}

/* Any bits: all exponents alike. */
static double anything(sampler *from, bool is_double)
{
    uint64_t b = bits(from);
    double d;
    float f;
    if (is_double) {
        memcpy(&d, &b, sizeof d);
        return d;
    }
    uint32_t low = (uint32_t)b;
    memcpy(&f, &low, sizeof f);
    return (double)f;
}

/* A sign and digits, with an exponent between -range and range. */
static double around_one(sampler *from, int range)
{
    int e = (int)(bits(from) % (2u * (unsigned)range + 1)) - range;
    return ldexp(between(from, 1, 2), e) * (bits(from) & 1 ? -1 : 1);
}

static double draw(sampler *from, bool is_double)
{
    switch (bits(from) & 15) {
    case 0:
    case 1:
    case 2:
    case 3: return anything(from, is_double);
    case 4:
    case 5:
    case 6: return around_one(from, 12);
    case 7: return around_one(from, is_double ? 60 : 30);
    case 8:
    case 9: return between(from, -100, 100);
    case 10: return between(from, -1000, 1000);
    case 11: return between(from, -2, 2);
    case 12: return 1 + ldexp(between(from, -0.5, 0.5), -(int)(bits(from) % 52));
    case 13: /* near the places where sines are 0 or 1 */
        return rint(between(from, -1e4, 1e4)) * 0x1.921fb54442d18p+0 *
               (1 + ldexp(between(from, -1, 1), -(int)(bits(from) % 53)));
    case 14: /* near multiples of a half */
        return (rint(between(from, -400, 400)) * 0.5) +
               ldexp(between(from, -1, 1), -(int)(bits(from) % 52));
    default: return special[bits(from) % (sizeof special / sizeof *special)];
    }
}

void sample(sampler *from, const subject *s, bool is_double, double *args)
{
    for (int i = 0; i < s->nargs; i++)
        args[i] = draw(from, is_double);
    bool more = bits(from) & 1;
    if (s->arguments == POWERS && more) {
        /* the result's exponent is one of the type's */
        double range = is_double ? 1080 : 152;
        args[0] = fabs(args[0]);
        double digits = log2(args[0]);
        if (digits != 0 && isfinite(digits))
            args[1] = between(from, -range, range) / digits;
    } else if (s->arguments == ALIKE && more && isfinite(args[0])) {
        args[1] = args[0] * around_one(from, 3);
        args[2] = -args[0] * args[1] * (1 + ldexp(between(from, -1, 1), -(int)(bits(from) % 52)));
    } else if (s->arguments == POSITIVE_F64 && is_double) {
        args[0] = fabs(args[0]);
    }
    for (int i = 0; i < s->nargs && !is_double; i++)
        args[i] = (double)(float)args[i];
}
