/* Formats of f-strings and format(x, spec), as Python's for numbers and strings:
 * [[fill]align][sign][#][0][width][, or _][.precision][type]. In: a value and a spec; out: text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "run/value/value.h"

enum { MOST = 10000 /* of a width and a precision */ };

typedef struct spec {
    const char *fill; /* one character, of so many bytes */
    int fill_bytes;
    char align; /* < > ^ =, or 0 */
    char sign;  /* + - or a blank */
    bool prefix, zeros;
    int width;
    char group;    /* , _ or 0 */
    int precision; /* -1: none */
    char type;     /* or 0 */
} spec;

/* A number on its way: what stands before its digits, these, and what follows. */
typedef struct number {
    char before[4];
    kj_text digits;
    int whole; /* of the digits, those in front of the point */
} number;

/* ---- Specs ---- */

static bool is_align(char c)
{
    return c && strchr("<>^=", c);
}

static const char *read_int(const char *at, int *out)
{
    for (*out = 0; *at >= '0' && *at <= '9'; at++)
        *out = *out > MOST ? *out : 10 * *out + (*at - '0');
    return at;
}

static const char *read_layout(const char *at, spec *s)
{
    uint32_t code;
    int first = *at ? (int)kj_utf8(at, at + strlen(at), &code) : 0;
    if (first && is_align(at[first])) {
        s->fill = at;
        s->fill_bytes = first;
        s->align = at[first];
        at += first + 1;
    } else if (is_align(*at)) {
        s->align = *at++;
    }
    return at;
}

static bool read_spec(const char *at, spec *s)
{
    *s = (spec){.fill = " ", .sign = '-', .precision = -1};
    at = read_layout(at, s);
    if (*at && strchr("+- ", *at))
        s->sign = *at++;
    s->prefix = *at == '#';
    at += s->prefix;
    s->zeros = *at == '0';
    at += s->zeros;
    if (s->zeros && !s->fill_bytes)
        s->fill = "0";
    at = read_int(at, &s->width);
    if (*at == ',' || *at == '_')
        s->group = *at++;
    if (*at == '.') {
        if (at[1] < '0' || at[1] > '9')
            return false;
        at = read_int(at + 1, &s->precision);
    }
    if (*at && strchr("bdoxXeEfFgGs%", *at))
        s->type = *at++;
    s->fill_bytes = s->fill_bytes ? s->fill_bytes : 1;
    return *at == 0;
}

/* ---- Numbers ---- */

static void put_sign(const spec *s, bool negative, number *n)
{
    size_t len = 0;
    if (negative || s->sign != '-')
        n->before[len++] = negative ? '-' : s->sign;
    n->before[len] = 0;
}

/* Every third digit of the whole part, or fourth where it is not decimal. */
static int group_size(const spec *s)
{
    return s->group && s->type && strchr("boxX", s->type) ? 4 : 3;
}

static int grouped(const spec *s, int whole)
{
    return s->group && whole > 0 ? whole + (whole - 1) / group_size(s) : whole;
}

static void pad(kj_text *t, const spec *s, int n)
{
    for (int i = 0; i < n; i++)
        kj_text_add(t, s->fill, (size_t)s->fill_bytes);
}

/* With zeros in front where they are what fills. */
static void put_number(kj_text *t, const spec *s, const number *n)
{
    const char *digits = n->digits.data ? n->digits.data : "";
    int before = (int)strlen(n->before), behind = (int)n->digits.size - n->whole, zeros = 0;
    char align = s->align ? s->align : '>';
    if (align == '=' && *s->fill == '0')
        while (before + grouped(s, n->whole + zeros) + behind < s->width)
            zeros++;
    int whole = n->whole + zeros, len = before + grouped(s, whole) + behind;
    int blanks = s->width > len ? s->width - len : 0;
    pad(t, s, align == '>' ? blanks : align == '^' ? blanks / 2 : 0);
    kj_text_puts(t, n->before);
    pad(t, s, align == '=' ? blanks : 0);
    for (int i = 0; i < whole; i++) {
        kj_text_add(t, i < zeros ? "0" : digits + i - zeros, 1);
        if (s->group && i + 1 < whole && (whole - i - 1) % group_size(s) == 0)
            kj_text_add(t, &s->group, 1);
    }
    kj_text_add(t, digits + n->whole, (size_t)behind);
    pad(t, s, align == '<' ? blanks : align == '^' ? blanks - blanks / 2 : 0);
}

static void put_integer(kj_text *t, const spec *s, kj_value v)
{
    number n = {.whole = 0};
    bool negative = v.type == KJ_I64 && v.i < 0;
    uint64_t u = negative ? 0 - v.u : v.u;
    put_sign(s, negative, &n);
    if (s->prefix && s->type && strchr("boxX", s->type)) {
        size_t len = strlen(n.before);
        memcpy(n.before + len, (char[3]){'0', s->type, 0}, 3);
    }
    switch (s->type) {
    case 'x': kj_text_printf(&n.digits, "%" PRIx64, u); break;
    case 'X': kj_text_printf(&n.digits, "%" PRIX64, u); break;
    case 'o': kj_text_printf(&n.digits, "%" PRIo64, u); break;
    case 'b':
        for (int bit = 63; bit >= 0; bit--)
            if (u >> bit || bit == 0)
                kj_text_puts(&n.digits, u >> bit & 1 ? "1" : "0");
        break;
    default: kj_text_printf(&n.digits, "%" PRIu64, u); break;
    }
    n.whole = (int)n.digits.size;
    put_number(t, s, &n);
    t->failed |= n.digits.failed;
    kj_text_free(&n.digits);
}

/* printf's, of a letter. */
static void put_as(kj_text *t, const spec *s, char letter, int precision, double x)
{
    const char format[6] = {'%', s->prefix ? '#' : '.', s->prefix ? '.' : '*',
                            s->prefix ? '*' : letter, s->prefix ? letter : 0};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    kj_text_printf(t, format, precision, x);
#pragma GCC diagnostic pop
}

/* Of digits that count, with a point behind the first: an exponent where there are more places than these
 * in front of the point or over four zeros behind it. With # zeros at the end stay. Without a type one
 * digit at least is behind the point. */
static void put_counted(kj_text *t, const spec *s, const char *digits, int n)
{
    const char *power = strchr(digits, 'e');
    int exponent, most = s->type ? n : n - 1, len, point = 1;
    kj_text all = {0};
    read_int(power + 2, &exponent);
    exponent = power[1] == '-' ? -exponent : exponent;
    bool small = exponent >= -4 && exponent < most;
    for (int i = small ? exponent : 0; i < 0; i++)
        kj_text_puts(&all, "0");
    if (small && exponent > 0)
        point = exponent + 1;
    kj_text_add(&all, digits, 1);
    kj_text_add(&all, digits + 2, (size_t)(n - 1));
    for (len = (int)all.size; !s->prefix && len > point && all.data[len - 1] == '0';)
        len--;
    kj_text_add(t, all.data ? all.data : "", all.data ? (size_t)point : 0);
    if (len > point || s->prefix || (small && !s->type))
        kj_text_puts(t, ".");
    if (len > point)
        kj_text_add(t, all.data + point, (size_t)(len - point));
    else if (small && !s->type)
        kj_text_puts(t, "0");
    if (!small)
        kj_text_printf(t, "%s%s", s->type == 'G' ? "E" : "e", power + 1);
    t->failed |= all.failed;
    kj_text_free(&all);
}

static void put_general(kj_text *t, const spec *s, double x)
{
    int n = s->precision < 0 ? 6 : s->precision > 0 ? s->precision : 1;
    kj_text digits = {0};
    if (!isfinite(x)) {
        put_as(t, s, s->type ? s->type : 'g', n, x);
        return;
    }
    kj_text_printf(&digits, n > 1 ? "%.*e" : "%#.*e", n - 1, x);
    if (digits.data)
        put_counted(t, s, digits.data, n);
    t->failed |= digits.failed;
    kj_text_free(&digits);
}

/* The fewest digits that read back; with # a point in front of an exponent. */
static void put_short(kj_text *t, const spec *s, kj_rvalue v)
{
    kj_rshort text = kj_run_short(v);
    size_t mantissa = strcspn(text.text, "e");
    bool bare = s->prefix && isfinite(v.u.f) && !memchr(text.text, '.', mantissa);
    kj_text_add(t, text.text, mantissa);
    kj_text_puts(t, bare ? "." : "");
    kj_text_puts(t, text.text + mantissa);
}

/* The digits of one that is not below 0. */
static void put_digits(kj_text *t, const spec *s, kj_rvalue v, double x)
{
    int precision = s->precision < 0 ? 6 : s->precision;
    v.u.f = x;
    if (s->type == '%') {
        put_as(t, s, 'f', precision, x * 100);
        kj_text_puts(t, "%");
    } else if (s->type && s->type != 'g' && s->type != 'G') {
        put_as(t, s, s->type, precision, x);
    } else if (!s->type && s->precision < 0) {
        put_short(t, s, v);
    } else {
        put_general(t, s, x);
    }
}

static void put_float(kj_text *t, const spec *s, kj_rvalue v)
{
    number n = {.whole = 0};
    bool negative = signbit(v.u.f) && !isnan(v.u.f);
    put_sign(s, negative, &n);
    put_digits(&n.digits, s, v, fabs(v.u.f)); /* a NaN has no sign */
    n.whole = n.digits.data ? (int)strspn(n.digits.data, "0123456789") : 0;
    spec plain = *s;
    plain.group = n.whole ? s->group : 0; /* not of inf */
    put_number(t, &plain, &n);
    t->failed |= n.digits.failed;
    kj_text_free(&n.digits);
}

/* ---- Strings, and numbers of two parts ---- */

static int characters(const char *text, size_t len)
{
    int n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

static void put_padded(kj_text *t, const spec *s, char align, const char *text, size_t len)
{
    int n = characters(text, len), blanks = s->width > n ? s->width - n : 0;
    pad(t, s, align == '>' ? blanks : align == '^' ? blanks / 2 : 0);
    kj_text_add(t, text, len);
    pad(t, s, align == '>' ? 0 : align == '^' ? blanks - blanks / 2 : blanks);
}

static void put_text(kj_text *t, const spec *s, const char *text, size_t len)
{
    size_t kept = 0;
    int n = 0;
    while (kept < len && (s->precision < 0 || n < s->precision)) {
        kept++;
        while (kept < len && ((unsigned char)text[kept] & 0xc0) == 0x80)
            kept++;
        n++;
    }
    put_padded(t, s, s->align ? s->align : '<', text, kept);
}

static void put_part(kj_text *t, const spec *s, kj_rvalue v, double x)
{
    kj_rvalue part = kj_run_float(x);
    part.dtype = v.dtype == KJIT_C64 ? KJIT_F32 : KJIT_F64;
    put_float(t, s, part);
    bool tail = !s->type && t->size > 1 && memcmp(t->data + t->size - 2, ".0", 2) == 0;
    if (tail)
        t->size -= s->prefix ? 1 : 2;
}

/* Without a type it is as print has it: in parentheses, or of an imaginary part alone. */
static void put_complex(kj_text *t, const spec *s, kj_rvalue v)
{
    spec part = *s;
    kj_text both = {0};
    bool plain = !s->type, alone = plain && v.u.f == 0 && !signbit(v.u.f);
    part.width = 0;
    part.type = plain && s->precision >= 0 ? 'g' : s->type;
    kj_text_puts(&both, plain && !alone ? "(" : "");
    if (!alone) {
        put_part(&both, &part, v, v.u.f);
        part.sign = '+';
    }
    put_part(&both, &part, v, v.imag);
    kj_text_puts(&both, plain && !alone ? "j)" : "j");
    put_padded(t, s, s->align ? s->align : '>', both.data ? both.data : "", both.size);
    t->failed |= both.failed;
    kj_text_free(&both);
}

/* ---- Values ---- */

static bool wrong_type(kj_run *r, kj_span at, kj_rvalue v, char type, const char *types)
{
    kj_run_fail(r, KJIT_TYPE, at, "'%c' is no format of %s", type, kj_run_kind_name(v));
    return kj_run_hint(r, "there are %s", types);
}

/* {x:d} of a float */
static bool wrong_whole(kj_run *r, kj_span at, kj_rvalue v, char type)
{
    kj_run_fail(r, KJIT_TYPE, at, "'%c' is no format of %s", type, kj_run_kind_name(v));
    return kj_run_hint(r, "there are e, f, g and %%; int(%s) makes an integer of it",
                       kj_quoted(r->source, at, false, "x").text);
}

static bool put_value(kj_run *r, kj_span at, const spec *s, kj_rvalue v, kj_text *t)
{
    bool real = s->type && strchr("eEfFgG%", s->type), whole = s->type && strchr("bdoxX", s->type);
    bool string = v.kind == KJ_R_STRING;
    if (string ? s->type && s->type != 's' : s->type == 's')
        return wrong_type(r, at, v, s->type,
                          string ? "s, or none" : "d, x, X, o, b, e, f, g and %");
    if (string && (s->align == '=' || s->sign != '-' || s->prefix || s->group))
        return kj_run_fail(r, KJIT_TYPE, at, "a string has no sign and no digits to format");
    if (string)
        put_text(t, s, v.u.object->u.string.text, v.u.object->u.string.len);
    else if (kj_run_is_complex(v) && (whole || s->type == '%' || s->align == '='))
        return wrong_type(r, at, v, s->align == '=' ? '=' : s->type, "e, f and g");
    else if (kj_run_is_complex(v))
        put_complex(t, s, v);
    else if (v.kind == KJ_R_FLOAT && whole)
        return wrong_whole(r, at, v, s->type);
    else if (v.kind == KJ_R_FLOAT)
        put_float(t, s, v);
    else if (real)
        put_float(t, s, kj_run_float(kj_run_as_float(v)));
    else if (s->group == ',' && s->type && strchr("boxX", s->type))
        return kj_run_fail(r, KJIT_TYPE, at,
                           "',' stands between thousands, of decimal digits only: write _%c",
                           s->type);
    else if (s->precision >= 0)
        return kj_run_fail(r, KJIT_TYPE, at, "an integer has no digits behind a point: write .%df",
                           s->precision);
    else
        put_integer(t, s, v.kind == KJ_R_BOOL ? kj_int(KJ_I64, v.u.i) : kj_run_to_value(v));
    return true;
}

bool kj_run_format(kj_run *r, kj_span at, const char *text, kj_rvalue v, kj_text *t)
{
    spec s;
    if (!text || !*text)
        return kj_run_put_value(r, at, t, v, KJ_PUT_PLAIN);
    if (!read_spec(text, &s)) {
        kj_run_fail(r, KJIT_TYPE, at, "'%s' is no format", text);
        return kj_run_hint(r, "a format is [[fill]align][sign][#][0][width][,][.precision][type], "
                              "such as 8.3f, >10, 04d, #x or .2e");
    }
    if (s.width > MOST || s.precision > MOST)
        return kj_run_fail(r, KJIT_TYPE, at, "the %s of a format is at most %d",
                           s.width > MOST ? "width" : "precision", MOST);
    if (v.kind != KJ_R_STRING && !kj_run_is_number(v) && !kj_run_is_complex(v)) {
        kj_run_fail(r, KJIT_TYPE, at, "a format is for numbers and strings, not for %s",
                    kj_run_kind_name(v));
        return v.kind == KJ_R_ARRAY || v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST
                   ? kj_run_hint(r, "format its items, one by one")
                   : false;
    }
    if (s.zeros && !s.align && v.kind != KJ_R_STRING)
        s.align = '=';
    return put_value(r, at, &s, v, t);
}
