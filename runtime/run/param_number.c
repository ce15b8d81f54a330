/* Params that are numbers, and lists, tuples and arrays of them: "5", "1,2,3". In: an option's text, and what the param is
 * like; out: a value. */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "1e16", "2.5e17": a whole number of 64 bits, exactly, also where floats have none of the next ones. */
static bool is_whole(const char *text, int64_t *out)
{
    enum { MOST_SCALE = 1000 };
    bool minus = *text == '-', dot = false;
    char *end;
    uint64_t u = 0;
    long scale = 0;
    for (text += minus || *text == '+'; kj_is_digit(*text) || (*text == '.' && !dot); text++) {
        dot |= *text == '.';
        if (*text == '.')
            continue;
        scale -= dot;
        if (__builtin_mul_overflow(u, 10, &u) || __builtin_add_overflow(u, *text - '0', &u))
            return false;
    }
    long exponent = kj_to_lower(*text) == 'e' ? strtol(text + 1, &end, 10) : -1;
    if (exponent < 0 || exponent > MOST_SCALE || *end || exponent + scale < 0)
        return false;
    for (scale += exponent; scale > 0 && u > 0; scale--)
        if (__builtin_mul_overflow(u, 10, &u))
            return false;
    if (u > INT64_MAX)
        return false;
    *out = minus ? -(int64_t)u : (int64_t)u;
    return true;
}

/* A number of that kind, KJ_R_NONE: of any: whole floats are ints too (n=1e6), ints are floats, and both are complex. False:
 * the text is none. */
static bool parse(const char *text, kj_rkind wanted, kj_rvalue *out)
{
    kj_rvalue v = kj_run_parse_number(text, strlen(text));
    int64_t whole;
    if (wanted == KJ_R_INT && v.kind == KJ_R_FLOAT && fabs(v.u.f) < 0x1p53 && v.u.f == floor(v.u.f))
        v = kj_run_int((int64_t)v.u.f);
    else if (wanted == KJ_R_INT && v.kind == KJ_R_FLOAT && is_whole(text, &whole))
        v = kj_run_int(whole);
    if (wanted == KJ_R_FLOAT && v.kind == KJ_R_INT)
        v = kj_run_float(kj_run_as_float(v));
    if (wanted == KJ_R_COMPLEX && (v.kind == KJ_R_INT || v.kind == KJ_R_FLOAT))
        v = kj_run_complex(kj_run_as_float(v), 0);
    *out = v;
    return wanted == KJ_R_NONE ? v.kind != KJ_R_NONE : v.kind == wanted;
}

enum { MOST_DIGITS = 40 };

/* 1,000 and 1 000: groups of three digits, which are put together. */
static bool is_grouped(const char *text, char plain[MOST_DIGITS + 1])
{
    size_t n = strspn(text, "0123456789"), written = n;
    if (n == 0 || n > 3 || !text[n])
        return false;
    memcpy(plain, text, n);
    for (; text[written] && n + 3 <= MOST_DIGITS; n += 3, written += 4) {
        if (!strchr(", '", text[written]) || strspn(text + written + 1, "0123456789") != 3)
            return false;
        memcpy(plain + n, text + written + 1, 3);
    }
    plain[n] = '\0';
    return !text[written];
}

/* Several numbers of that kind, with commas between them. */
static bool is_several(const char *text, kj_rkind wanted)
{
    bool all = strchr(text, ',') != NULL;
    while (all && text) {
        kj_rvalue v;
        size_t n = strcspn(text, ",");
        char *item = strndup(text, n);
        all = item && parse(item, wanted, &v);
        free(item);
        text = text[n] ? text + n + 1 : NULL;
    }
    return all;
}

bool kj_run_param_wrong(kj_run *r, const char *name, const char *text, kj_rkind wanted)
{
    const char *kind = kj_run_kind_name((kj_rvalue){.kind = wanted});
    if (*text == '@')
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "param '%s' is %s, not an array", name,
                           kind);
    const char *digits = text + (*text == '-');
    kj_rvalue number = kj_run_parse_number(text, strlen(text));
    bool large = number.kind == KJ_R_FLOAT && fabs(number.u.f) >= 0x1p63;
    if (wanted == KJ_R_INT && *digits && (large || !digits[strspn(digits, "0123456789")]))
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "param '%s' is an int, and '%s' does not fit 64 bits", name, text);
    kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "param '%s' is %s, '%s' is not", name, kind, text);
    char plain[MOST_DIGITS + 1];
    if (wanted == KJ_R_INT && is_grouped(text, plain))
        return kj_run_hint(r, "digits have no '%c' between them: %s=%s",
                           text[strspn(text, "0123456789")], name, plain);
    if ((wanted == KJ_R_INT || wanted == KJ_R_FLOAT) && is_several(text, wanted))
        return kj_run_hint(r, "--sweep %s=%s runs the block for each of them", name, text);
    if (wanted == KJ_R_ARRAY && access(text, F_OK) == 0)
        return kj_run_hint(r, "%s=@%s takes the file's array", name, text);
    if (wanted == KJ_R_ARRAY)
        return kj_run_hint(r, "arrays come from files: %s=@data.npy", name);
    return wanted == KJ_R_BOOL ? kj_run_hint(r, "%s=true or %s=false", name, name) : false;
}

/* Digits that make more than the largest number, which would be infinite without a word: parts are infinite that no
 * "inf" says to be. */
static bool is_too_large(kj_rvalue v, const char *text)
{
    int parts = (v.kind == KJ_R_FLOAT || v.kind == KJ_R_COMPLEX) && isinf(v.u.f);
    parts += v.kind == KJ_R_COMPLEX && isinf(v.imag);
    while ((text = strstr(text, "inf")) != NULL) {
        text += strlen("inf");
        parts--;
    }
    return parts > 0;
}

static bool refuse_too_large(kj_run *r, const char *name, const char *text)
{
    return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                       "param '%s': the number %s is too large for f64", name, text);
}

bool kj_run_param_number(kj_run *r, const char *name, const char *text, kj_rkind wanted,
                         kj_rvalue *out)
{
    bool ok = parse(text, wanted, out);
    if (is_too_large(*out, text))
        return refuse_too_large(r, name, text);
    return ok || kj_run_param_wrong(r, name, text, wanted);
}

/* ---- Several ---- */

/* "a list of ints", "an array of floats": for messages. */
static void put_several(kj_text *t, kj_rkind of, kj_rkind item)
{
    const char *one = item == KJ_R_NONE ? "a number" : kj_run_kind_name((kj_rvalue){.kind = item});
    kj_text_printf(t, "%s of %ss", kj_run_kind_name((kj_rvalue){.kind = of}), strchr(one, ' ') + 1);
}

static bool no_item(kj_run *r, const char *name, const char *text, kj_rkind of, kj_rkind item)
{
    if (of == KJ_R_ARRAY && access(text, F_OK) == 0)
        return kj_run_param_wrong(r, name, text, KJ_R_ARRAY);
    kj_text several = {0};
    put_several(&several, of, item);
    if (several.failed)
        kj_run_no_memory(r, kj_run_nowhere);
    else
        kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "param '%s' is %s, '%s' is not one", name,
                    several.data, text);
    kj_text_free(&several);
    if (r->status != KJIT_INVALID)
        return false;
    const char *two = item == KJ_R_BOOL ? "true,false" : "1,2";
    if (of == KJ_R_LIST)
        return kj_run_hint(r, "they are listed by commas: %s=%s", name, two);
    return kj_run_hint(r, "an array is listed, or comes from a file: %s=%s or %s=@data.npy", name,
                       two, name);
}

static bool no_value(kj_run *r, const char *name, const char *text, int64_t nth, kj_rkind wanted)
{
    return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                       "param '%s' is a tuple, whose value %lld is %s: '%s' is not", name,
                       (long long)nth + 1, kj_run_kind_name((kj_rvalue){.kind = wanted}), text);
}

/* `of`: what the item is one of, a list, an array or, at `nth`, a tuple. */
static bool take_item(kj_run *r, const char *name, const char *text, kj_rkind of, int64_t nth,
                      kj_rkind kind, kj_rvalue *out)
{
    if (kind == KJ_R_STRING)
        return kj_run_string(r, kj_run_nowhere, text, strlen(text), out);
    bool ok = parse(text, kind, out);
    if (is_too_large(*out, text))
        return refuse_too_large(r, name, text);
    return ok || (of == KJ_R_TUPLE ? no_value(r, name, text, nth, kind)
                                   : no_item(r, name, text, of, kind));
}

/* Numbers, bools and strings can be given. */
static bool is_plain(kj_rkind kind)
{
    return kind == KJ_R_BOOL || kind == KJ_R_INT || kind == KJ_R_FLOAT || kind == KJ_R_COMPLEX ||
           kind == KJ_R_STRING;
}

/* What a list's items are: all of one kind, or KJ_R_NONE. */
static kj_rkind kind_of_items(kj_rvalue list)
{
    const kj_rvalue *items = list.u.object->u.seq.items;
    kj_rkind kind = list.u.object->u.seq.n > 0 ? items[0].kind : KJ_R_NONE;
    for (int64_t i = 1; i < list.u.object->u.seq.n; i++)
        if (items[i].kind != kind)
            return KJ_R_NONE;
    return kind;
}

static bool can_be_given(kj_rvalue like)
{
    for (int64_t i = 0; i < like.u.object->u.seq.n; i++)
        if (!is_plain(like.u.object->u.seq.items[i].kind))
            return false;
    return true;
}

static int64_t count_items(const char *text)
{
    int64_t n = 1;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* A sequence of the text's items, which are all of that kind, or in `like`, where it isn't NULL, each of that of the one in its
 * place. */
static bool take_items(kj_run *r, const char *name, const char *text, kj_rkind of, kj_rkind kind,
                       const kj_rvalue *like, kj_rvalue *out)
{
    if (!kj_run_sequence(r, kj_run_nowhere, of == KJ_R_TUPLE ? KJ_R_TUPLE : KJ_R_LIST,
                         count_items(text), out))
        return false;
    bool ok = true;
    for (int64_t i = 0; ok && i < out->u.object->u.seq.n; i++) {
        kj_rkind wanted = like ? like[i].kind : kind;
        size_t n = strcspn(text, ",");
        char *item = strndup(text, n);
        ok = item ? take_item(r, name, item, of, i, wanted, &out->u.object->u.seq.items[i])
                  : kj_run_no_memory(r, kj_run_nowhere);
        free(item);
        text += n + (text[n] == ',');
    }
    if (!ok)
        kj_run_drop(out);
    return ok;
}

bool kj_run_param_items(kj_run *r, const char *name, const char *text, kj_rvalue like,
                        kj_rvalue *out)
{
    int64_t wanted = like.u.object->u.seq.n, n = count_items(text);
    if (!can_be_given(like))
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "param '%s' is %s of other values than numbers and texts: it cannot be "
                           "given here",
                           name, kj_run_kind_name(like));
    if (like.kind == KJ_R_LIST)
        return take_items(r, name, text, KJ_R_LIST, kind_of_items(like), NULL, out);
    if (n != wanted)
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "param '%s' has %lld values, '%s' has %lld", name, (long long)wanted,
                           text, (long long)n);
    return take_items(r, name, text, KJ_R_TUPLE, KJ_R_NONE, like.u.object->u.seq.items, out);
}

static bool check_range(kj_run *r, const char *name, kj_dtype type, kj_rvalue items)
{
    for (int64_t i = 0; i < items.u.object->u.seq.n && kj_is_scalar(type); i++) {
        kj_rvalue v = items.u.object->u.seq.items[i];
        if (!kj_value_fits(kj_run_to_value(v), type))
            return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                               "param '%s' has elements of type %s: %s is out of their range", name,
                               kj_type_name(type), kj_run_short(v).text);
    }
    return true;
}

bool kj_run_param_elements(kj_run *r, const char *name, const char *text, kj_dtype type,
                           kj_rvalue *out)
{
    if (!take_items(r, name, text, KJ_R_ARRAY, kj_rkind_of(type), NULL, out))
        return false;
    if (check_range(r, name, type, *out))
        return true;
    kj_run_drop(out);
    return false;
}
