/* Kinds of values in run blocks, and what is said of them. */
#include "lang/run_kinds.h"

#include <string.h>

#include "base/c_locale.h"

const char *kj_rkind_name(kj_rkind kind)
{
    static const char *const names[] = {
        [KJ_R_NONE] = "nothing",
        [KJ_R_BOOL] = "a bool",
        [KJ_R_INT] = "an int",
        [KJ_R_COMPLEX] = "a complex number",
        [KJ_R_FLOAT] = "a float",
        [KJ_R_DTYPE] = "a type",
        [KJ_R_KERNEL] = "a kernel",
        [KJ_R_STRING] = "a string",
        [KJ_R_TUPLE] = "a tuple",
        [KJ_R_LIST] = "a list",
        [KJ_R_RANGE] = "a range",
        [KJ_R_ARRAY] = "an array",
        [KJ_R_LAZY] = "an array",
        [KJ_R_STREAM] = "a stream",
        [KJ_R_EVENT] = "an event",
        [KJ_R_SMART] = "a smart array",
        [KJ_R_SCOPE] = "what 'with' takes",
    };
    return names[kind];
}

kj_rkind kj_rkind_of(kj_dtype type)
{
    return kj_is_float(type)          ? KJ_R_FLOAT
           : kj_is_int(type)          ? KJ_R_INT
           : type == KJ_BOOL          ? KJ_R_BOOL
           : kj_is_complex_type(type) ? KJ_R_COMPLEX
                                      : KJ_R_NONE;
}

bool kj_rkind_has(kj_rkind kind, kj_run_id row)
{
    if (kj_run_builtins[row].name[0] != '.')
        return false;
    switch (row) {
    case KJ_RUN_M_APPEND: return kind == KJ_R_LIST;
    case KJ_RUN_M_FORALL:
    case KJ_RUN_M_MAX_COOPERATIVE_BLOCKS: return kind == KJ_R_KERNEL;
    case KJ_RUN_M_AUTO_SYNCHRONIZE: return kind == KJ_R_STREAM;
    case KJ_RUN_M_RECORD: return kind == KJ_R_EVENT;
    case KJ_RUN_M_SYNCHRONIZE:
    case KJ_RUN_M_QUERY:
    case KJ_RUN_M_WAIT: return kind == KJ_R_STREAM || kind == KJ_R_EVENT;
    case KJ_RUN_M_HOST:
    case KJ_RUN_M_GPU:
    case KJ_RUN_M_HOST_CHANGED:
    case KJ_RUN_M_GPU_CHANGED: return kind == KJ_R_SMART;
    case KJ_RUN_M_SHAPE:
    case KJ_RUN_M_SIZE:
    case KJ_RUN_M_NDIM:
    case KJ_RUN_M_DTYPE: return kind == KJ_R_SMART || kind == KJ_R_ARRAY || kind == KJ_R_LAZY;
    case KJ_RUN_M_SUM: /* and of numbers that are listed */
    case KJ_RUN_M_MEAN:
    case KJ_RUN_M_STD:
    case KJ_RUN_M_VAR:
    case KJ_RUN_M_MIN:
    case KJ_RUN_M_MAX:
    case KJ_RUN_M_ARGMIN:
    case KJ_RUN_M_ARGMAX:
    case KJ_RUN_M_ALL:
    case KJ_RUN_M_ANY:
    case KJ_RUN_M_CUMSUM:
        return kind == KJ_R_ARRAY || kind == KJ_R_LAZY || kind == KJ_R_LIST || kind == KJ_R_TUPLE;
    default: return kind == KJ_R_ARRAY || kind == KJ_R_LAZY;
    }
}

#define SAY(out, ...) kj_snprintf(out, sizeof(out), __VA_ARGS__)

/* The source there, if it is short and of one line; else what stands for it. */
static const char *words(const kj_source *source, kj_span at, const char *otherwise, char out[64])
{
    size_t n = at.end > at.begin && at.end <= source->size ? at.end - at.begin : 0;
    if (n == 0 || n >= 64 || memchr(source->text + at.begin, '\n', n) ||
        memchr(source->text + at.begin, 0, n))
        return otherwise;
    kj_snprintf(out, 64, "%.*s", (int)n, source->text + at.begin);
    return out;
}

/* Whether `!= 0` after it compares the whole of it. */
static bool is_simple(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
        if (depth == 0 && strchr(" <>=!&|^", *text))
            return false;
    }
    return true;
}

/* Nothing but names, numbers, dots and what stands in brackets. */
static bool is_operand(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += *text == '(' || *text == '[';
        if (depth == 0 && !kj_is_word(*text) && *text != '.')
            return false;
        depth -= *text == ')' || *text == ']';
    }
    return true;
}

kj_quote kj_quoted(const kj_source *source, kj_span at, bool operand, const char *otherwise)
{
    char text[64];
    const char *x = words(source, at, otherwise, text);
    kj_quote q;
    SAY(q.text, operand && !is_operand(x) ? "(%s)" : "%s", x);
    return q;
}

/* Does an `or` or `and` stand before it? */
static bool is_joined(const kj_source *source, kj_span at)
{
    uint32_t end = at.begin;
    while (end > 0 && strchr(" (", source->text[end - 1]))
        end--;
    return (end > 3 && memcmp(source->text + end - 3, " or", 3) == 0) ||
           (end > 4 && memcmp(source->text + end - 4, " and", 4) == 0);
}

void kj_say_no_bool(kj_saying *say, const char *what, kj_rkind kind, const kj_source *source,
                    kj_span at)
{
    char text[64], wrapped[80];
    const char *x = words(source, at, "x", text);
    if (!is_simple(x)) {
        SAY(wrapped, "(%s)", x);
        x = wrapped;
    }
    say->hint[0] = 0;
    if (kind == KJ_R_ARRAY || kind == KJ_R_LAZY) {
        SAY(say->text, "an array is neither true nor false");
        SAY(say->hint, "say which elements count, .all() or .any(); for each element there are & | "
                       "~ and where");
        return;
    }
    SAY(say->text, "%s is bool, not %s", what, kj_rkind_name(kind));
    if (kj_is_digit(x[0]) && is_joined(source, at))
        SAY(say->hint, "each value is compared by itself: n == 1 or n == 2");
    else if (kind == KJ_R_INT || kind == KJ_R_FLOAT || kind == KJ_R_COMPLEX)
        SAY(say->hint, "write %s != 0", x);
    else if (kind == KJ_R_STRING || kind == KJ_R_TUPLE || kind == KJ_R_LIST)
        SAY(say->hint, "write len(%s) > 0", words(source, at, "x", text));
}

/* full(m, 5) is full(m, 5, f32); of other arrays there is a copy, which is not for what a kernel writes. */
static void say_typed(kj_saying *say, const char *wanted_name, const char *x)
{
    static const char *const made[] = {"full(", "arange(", "array("};
    size_t n = strlen(x);
    bool call = false, typed = false;
    for (int i = 0; i < 3; i++)
        call |= strncmp(x, made[i], strlen(made[i])) == 0 && x[n - 1] == ')';
    int depth = 0;
    for (size_t i = 0; call && i < n; i++) {
        depth += x[i] == '(' ? 1 : x[i] == ')' ? -1 : 0;
        call = depth > 0 || i == n - 1 || i < strcspn(x, "(");
    }
    for (int t = 0; t < KJ_NTYPES; t++)
        typed |= (t != KJ_VOID && strstr(x, kj_types[t].name)) || strstr(x, "dtype");
    if (call && !typed)
        SAY(say->hint, "write %.*s, %s)", (int)n - 1, x, wanted_name);
    else
        SAY(say->hint, "make it of %s; %s(%s) is a copy, for what is only read", wanted_name,
            wanted_name, x);
}

void kj_say_argument(kj_saying *say, int wanted_ndim, kj_dtype wanted, const char *wanted_name,
                     kj_rkind kind, kj_dtype type, int ndim, const kj_source *source, kj_span at)
{
    char text[64], wrapped[80];
    const char *x = words(source, at, "x", text), *operand = x;
    if (!is_simple(x)) {
        SAY(wrapped, "(%s)", x);
        operand = wrapped;
    }
    say->text[0] = say->hint[0] = 0;
    bool array = kind == KJ_R_ARRAY || kind == KJ_R_SMART;
    if (wanted_ndim > 0 && (kind == KJ_R_LIST || kind == KJ_R_TUPLE))
        SAY(say->hint, "array(...) makes an array of it");
    else if (wanted_ndim > 0 && kind == KJ_R_ARRAY && kj_is_vector(kj_aggregate_of(wanted)) &&
             type < KJ_NTYPES && ndim == wanted_ndim + 1) /* what a slice of vectors is */
        SAY(say->hint, "write %s.view(%s)", operand, wanted_name);
    else if (wanted_ndim > 0 && kind == KJ_R_ARRAY && ndim >= 0 && ndim != wanted_ndim &&
             wanted < KJ_NTYPES && type < KJ_NTYPES && wanted != KJ_VOID && type != KJ_VOID &&
             type != wanted) {
        char shaped[120];
        SAY(shaped, "%s.%s", operand, wanted_ndim == 1 ? "ravel()" : "reshape(...)");
        say_typed(say, wanted_name, shaped);
    } else if (wanted_ndim == 2 && kind == KJ_R_ARRAY && ndim == 3 &&
               !strpbrk(x, "([") && /* (h, w, 3) */
               (wanted == KJ_VOID || type == KJ_VOID || type == wanted))
        SAY(say->hint,
            "%s.reshape(%s.shape[0], -1) has two axes, %s[:, :, 0] is one of its last axis",
            operand, operand, operand);
    else if (wanted_ndim > 1 && kind == KJ_R_ARRAY && ndim == 1 &&
             (wanted == KJ_VOID || type == KJ_VOID || type == wanted))
        SAY(say->hint, "%s.reshape(%.*s-1) has %d axes: write the extents that are meant", operand,
            3 * (wanted_ndim - 1), "1, 1, 1, 1, 1, 1, 1, ", wanted_ndim);
    else if (wanted_ndim > 0 && kind == KJ_R_ARRAY && ndim >= 0 && ndim != wanted_ndim &&
             (wanted == KJ_VOID || type == KJ_VOID || type == wanted))
        SAY(say->hint, "write %s.%s", operand, wanted_ndim == 1 ? "ravel()" : "reshape(...)");
    else if (wanted_ndim > 0 && kind == KJ_R_ARRAY && wanted < KJ_NTYPES && type < KJ_NTYPES)
        say_typed(say, wanted_name, x);
    else if (wanted_ndim == 0 && array && wanted < KJ_NTYPES)
        SAY(say->hint, "an element of it is %s[i]", operand);
    else if (wanted_ndim == 0 && kj_is_int(wanted) && (kind == KJ_R_FLOAT || kind == KJ_R_BOOL))
        SAY(say->hint, "write %s(%s)", wanted_name, x);
    else if (wanted_ndim == 0 && kj_is_float(wanted) && kind == KJ_R_BOOL)
        SAY(say->hint, "write %s(%s)", wanted_name, x);
    else if (wanted_ndim == 0 && wanted == KJ_BOOL && (kind == KJ_R_INT || kind == KJ_R_FLOAT))
        SAY(say->hint, "write %s != 0", operand);
}

const char *kj_decimal_comma(const char *text)
{
    const char *comma = strrchr(text, ','), *digits = comma;
    while (digits && digits > text && kj_is_digit(digits[-1]))
        digits--;
    bool number =
        digits < comma && (digits == text || (!kj_is_word(digits[-1]) && digits[-1] != '.'));
    return number && comma[1] && !comma[1 + strspn(comma + 1, "0123456789")] ? comma : NULL;
}
