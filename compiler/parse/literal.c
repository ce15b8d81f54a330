/* Literals, numbers and strings: the text of a token in, its value out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/types.h"
#include "parse/habit.h"

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return (unsigned)(kj_to_lower(c) - 'a') + 10;
}

static unsigned base_of(const char *text, size_t len)
{
    if (len < 2 || text[0] != '0')
        return 10;
    switch (text[1]) {
    case 'x':
    case 'X': return 16;
    case 'b':
    case 'B': return 2;
    case 'o':
    case 'O': return 8;
    default: return 10;
    }
}

uint64_t kj_literal_int(kj_parser *p, kj_span span, const char *text, size_t len)
{
    unsigned base = base_of(text, len);
    uint64_t value = 0;
    for (size_t i = base == 10 ? 0 : 2; i < len; i++) {
        if (text[i] == '_')
            continue;
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit_value(text[i]), &value)) {
            kj_error(p->diag, span, KJ_RULE_NUMBER,
                     "the number is too large: integers have at most 64 bits");
            return 0;
        }
    }
    if (base == 10 && len > 1 && text[0] == '0' && value != 0) {
        kj_message *m =
            kj_error(p->diag, span, KJ_RULE_NUMBER, "a decimal number does not begin with 0");
        size_t zeros = strspn(text, "0_");
        if (memchr(text, '8', len) || memchr(text, '9', len))
            kj_write(p->diag, m, span, "%.*s", (int)(len - zeros), text + zeros);
        else
            kj_hint(p->diag, m, "octal numbers are written 0o17");
    }
    return value;
}

double kj_literal_float(kj_parser *p, kj_span span, const char *text, size_t len)
{
    char *plain = kj_arena_alloc(p->arena, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '_')
            plain[n++] = text[i];
    }
    double value = kj_strtod(plain, NULL);
    if (isinf(value)) {
        kj_error(p->diag, span, KJ_RULE_NUMBER, "the number is too large for f64");
        value = 0;
    }
    return value;
}

bool kj_is_told_above(const kj_parser *p, kj_span span)
{
    const kj_message *m = p->diag->last;
    const char *text = p->source->text;
    if (!m || m->rule != KJ_RULE_SYNTAX || m->span.end > span.begin)
        return false;
    const char *end = memchr(text + m->span.end, '\n', span.begin - m->span.end);
    return end && strspn(end + 1, " \t\r") == (size_t)(text + span.begin - (end + 1));
}

bool kj_is_told(const kj_parser *p, kj_span span)
{
    const kj_message *m = p->diag->last;
    bool ternary = m && m->rule == KJ_RULE_STRAY && p->source->text[m->span.begin] == '?';
    return m && (m->rule == KJ_RULE_SYNTAX || ternary) && m->span.end <= span.begin &&
           !memchr(p->source->text + m->span.begin, '\n', span.begin - m->span.begin);
}

/* Where the digits of a number end, of those before its suffix. */
static size_t digits_end(const char *text, size_t len)
{
    unsigned base = base_of(text, len);
    size_t at = base == 10 ? 0 : 2;
    while (at < len && (text[at] == '_' || (base == 10 && text[at] == '.') ||
                        (kj_is_word(text[at]) && digit_value(text[at]) < base)))
        at++;
    return at;
}

/* 1u32, 2.5_f64, 3usize: the type at the end; NULL: there is none. */
static const char *type_suffix(kj_parser *p, const char *text, size_t *len)
{
    size_t at = digits_end(text, *len), digits = at;
    while (digits > 0 && text[digits - 1] == '_')
        digits--;
    const char *suffix = kj_arena_printf(p->arena, "%.*s", (int)(*len - at), text + at);
    bool size = strcmp(suffix, "usize") == 0 || strcmp(suffix, "isize") == 0;
    for (int t = 0; t < KJ_NTYPES && digits > 0; t++) {
        if (strcmp(kj_types[t].name, size ? "i64" : suffix) == 0) {
            *len = digits;
            return kj_types[t].name;
        }
    }
    return NULL;
}

/* Of C's letters behind a number, from `tail` on: 1.5f, 1u, 1LL, 1ULL. */
static const char *type_of_suffix(const char *text, size_t tail, size_t len)
{
    bool is_unsigned = false, is_long = false;
    for (size_t i = tail; i < len; i++) {
        is_unsigned |= kj_to_lower(text[i]) == 'u';
        is_long |= kj_to_lower(text[i]) == 'l';
    }
    const char *last = text + len - 1;
    if (base_of(text, len) == 10 && len == tail + 1 && kj_to_lower(*last) == 'h')
        return "f16";
    if (base_of(text, len) == 10 && (kj_to_lower(text[tail]) == 'd' || text[tail + 1] == 'f'))
        return "f64"; /* 1.5d, 1d0; 1.5lf */
    if (base_of(text, len) == 10 && (memchr(text, '.', tail) || kj_to_lower(text[tail]) == 'f'))
        return "f32";
    return !is_unsigned ? "i64" : is_long ? "u64" : "u32";
}

/* 0x1.8p3, of which `span` is a piece, that from the point or the p on: its value is a number of ten digits here. */
static bool hexadecimal_float(kj_parser *p, kj_span span)
{
    const char *text = p->source->text;
    uint32_t begin = span.begin;
    while (begin > 0 && kj_is_word(text[begin - 1]))
        begin--;
    if (text[begin] != '0' || kj_to_lower(text[begin + 1]) != 'x')
        return false;
    uint32_t end = begin + 2 + (uint32_t)strspn(text + begin + 2, "0123456789abcdefABCDEF.");
    if (kj_to_lower(text[end]) == 'p') {
        end += text[end + 1] == '-' || text[end + 1] == '+' ? 2 : 1;
        end += (uint32_t)strspn(text + end, "0123456789");
    }
    char *rest, digits[40];
    double value =
        kj_strtod(kj_arena_printf(p->arena, "%.*s", (int)(end - begin), text + begin), &rest);
    bool is_float = memchr(text + begin, '.', end - begin) ||
                    memchr(text + begin, 'p', end - begin) ||
                    memchr(text + begin, 'P', end - begin);
    if (*rest || isinf(value) || end <= span.begin || !is_float)
        return false;
    kj_snprintf(digits, sizeof digits, "%.17g", value);
    for (int n = 1; n < 17 && kj_strtod(digits, NULL) == value; n++) {
        kj_snprintf(digits, sizeof digits, "%.*g", n, value);
        if (kj_strtod(digits, NULL) == value)
            break;
        kj_snprintf(digits, sizeof digits, "%.17g", value);
    }
    while (kj_is_letter(text[end])) /* 0x1p3f */
        end++;
    kj_message *m = kj_error(p->diag, (kj_span){begin, end}, KJ_RULE_NUMBER,
                             "floats are written in decimal digits");
    kj_write(p->diag, m, (kj_span){begin, end}, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
    p->stray = true;
    return true;
}

/* 1'000'000 */
static bool grouped_digits(kj_parser *p, kj_span span)
{
    const char *text = p->source->text;
    uint32_t begin = span.begin, end = span.begin;
    while (begin > 0 && (kj_is_digit(text[begin - 1]) || text[begin - 1] == '\''))
        begin--;
    while (kj_is_digit(text[end]) || (text[end] == '\'' && kj_is_digit(text[end + 1])))
        end++;
    if (begin == span.begin || end == span.begin || !kj_is_digit(text[begin]))
        return false;
    kj_message *m =
        kj_error(p->diag, (kj_span){begin, end}, KJ_RULE_NUMBER, "this is not a number");
    char *plain = kj_arena_alloc(p->arena, end - begin + 1);
    for (uint32_t i = begin; i < end; i++)
        plain[i - begin] = text[i] == '\'' ? '_' : text[i];
    plain[end - begin] = '\0';
    kj_write(p->diag, m, (kj_span){begin, end}, "%s", plain);
    p->stray = true;
    return true;
}

/* Those of whole numbers, and of others: of C, GLSL, Java, Julia and Fortran. */
static bool is_c_suffix(const char *text, size_t len, bool whole)
{
    static const char *const all[] = {"u",   "l", "ul", "lu", "ll", "ull",
                                      "llu", "z", "uz", "n", /* whole numbers' */
                                      "f",   "d", "h",  "lf", "f0", "d0"};
    size_t n = whole ? 10 : sizeof all / sizeof *all;
    char word[4] = "";
    for (size_t i = 0; i < len && i < 3; i++)
        word[i] = kj_to_lower(text[i]);
    for (size_t i = 0; i < n && len <= 3; i++)
        if (strcmp(word, all[i]) == 0)
            return true;
    return false;
}

/* Where a decimal number ends, with its exponent, and the word begins that stands at it. */
static size_t number_end(const char *text, size_t len)
{
    size_t at = digits_end(text, len);
    bool power = at < len && kj_to_lower(text[at]) == 'e';
    size_t exponent = at + 1 + (power && (text[at + 1] == '-' || text[at + 1] == '+'));
    if (!power || exponent >= len || !kj_is_digit(text[exponent]))
        return at;
    return exponent + strspn(text + exponent, "0123456789_");
}

/* Would a product bind otherwise than the number does where it stands: 1 / 2a, x ** 2a, ~2a? */
static bool binds_before(const kj_source *s, uint32_t begin)
{
    while (begin > 0 && kj_is_blank(s->text[begin - 1]))
        begin--;
    char last = begin > 0 ? s->text[begin - 1] : '\n',
         before = begin > 1 ? s->text[begin - 2] : '\n';
    return strchr("/%@~", last) || (last == '*' && before == '*');
}

/* 2a, 2pi, 2x[i], as mathematics, Julia and Wolfram have it; false: the letters are a suffix alone. */
static bool hint_product(kj_parser *p, kj_message *m, kj_span span, const char *text, size_t len)
{
    enum { MOST = 40 };
    size_t n = number_end(text, len);
    bool is_number = n > 0 && n < len && text[n - 1] != '_' && text[n] != '_' && text[0] != '.';
    if (base_of(text, len) != 10 || !is_number || len > MOST || !kj_is_shown(p->diag, m))
        return false;
    const char *word = kj_arena_printf(p->arena, "%.*s", (int)(len - n), text + n);
    bool imaginary = len - n == 1 && kj_to_lower(*word) == 'i';
    if (strcmp(word, "im") == 0 && !kj_parse_is_name(p, word)) { /* Julia's */
        kj_write(p->diag, m, span, "%.*sj", (int)n, text);
        return true;
    }
    bool suffix = imaginary || is_c_suffix(word, len - n, false) || strcmp(word, "e") == 0;
    bool known =
        kj_habit_is_known(p, word, p->span.begin) || (!suffix && kj_parse_is_name(p, word));
    bool array = false;
    if (known && suffix && !imaginary)
        kj_habit_class_of(p, word, span.begin, &array);
    if (suffix && (!known || array))
        return false;
    kj_hint(p->diag, m,
            suffix ? "numbers have no suffix; a product is written %.*s * %s"
                   : "a product is written %.*s * %s",
            (int)n, text, word);
    if (known && !suffix && !binds_before(p->source, span.begin))
        kj_fix(p->diag, m, span, "%.*s * %s", (int)n, text, word);
    return true;
}

/* Is the number all of an index, or of what is assigned, and so of a type that the place has? */
static bool is_placed(const kj_source *s, kj_span span)
{
    uint32_t before = span.begin, line = kj_line_start(s, span.begin);
    while (before > line && kj_is_blank(s->text[before - 1]))
        before--;
    uint32_t name = kj_skip_blanks(s, line);
    char next = s->text[kj_skip_blanks(s, span.end)], prev = before > 0 ? s->text[before - 1] : 0;
    bool open = kj_is_word_at(s, name, "let") || kj_is_word_at(s, name, "var") ||
                kj_is_word_at(s, name, "auto") || kj_is_word_at(s, name, "const");
    if (prev == '[')
        return next == ']';
    if (prev != '=' || !strchr("\r\n;}#", next) ||
        (before > 1 && strchr("=!<>", s->text[before - 2])))
        return false;
    return !open || memchr(s->text + line, ':', before - line);
}

/* 1.5f, 1u, 1LL. Without its suffix a number is signed where it meets but numbers or i32: ~0u >> 28 needs it. */
static void c_suffix(kj_parser *p, kj_message *m, kj_span span, size_t tail)
{
    const char *text = p->source->text + span.begin;
    const char *type = type_of_suffix(text, tail, span.end - span.begin);
    kj_hint(p->diag, m, "numbers have no suffix: they take the type they meet, or write %s(%.*s)",
            type, (int)tail, text);
    if (*type == 'f' || is_placed(p->source, span))
        kj_fix(p->diag, m, span, "%.*s", (int)tail, text);
    else
        kj_fix(p->diag, m, span, "%s(%.*s)", type, (int)tail, text);
}

const char *kj_without_suffixes(kj_parser *p, const char *text)
{
    const char *out = "", *from = text;
    for (const char *at = text; *at;) {
        if (*at == '"')
            return text;
        size_t len = 0;
        bool begins = at == text || (!kj_is_word(at[-1]) && at[-1] != '.');
        while (begins && kj_is_digit(*at) && (kj_is_word(at[len]) || at[len] == '.'))
            len++;
        size_t tail = len ? base_of(at, len) == 10 ? number_end(at, len) : digits_end(at, len) : 0;
        bool suffixed = len > tail && is_c_suffix(at + tail, len - tail, base_of(at, len) != 10);
        if (suffixed) {
            const char *type = type_of_suffix(at, tail, len);
            bool alone = at == text && !at[len];
            bool plain = *type == 'f' || alone;
            out = kj_arena_printf(p->arena, "%s%.*s%s%s%.*s%s", out, (int)(at - from), from,
                                  plain ? "" : type, plain ? "" : "(", (int)tail, at,
                                  plain ? "" : ")");
            from = at + len;
        }
        at += len ? len : 1;
    }
    return from == text ? text : kj_arena_printf(p->arena, "%s%s", out, from);
}

void kj_literal_bad_number(kj_parser *p, kj_span span, const char *text, size_t len)
{
    size_t tail = len; /* where the letters at the end begin */
    while (tail > 0 && kj_is_letter(text[tail - 1]))
        tail--;
    kj_message *m;
    const kj_message *last = p->diag->last;
    bool within = last && last->rule == KJ_RULE_NUMBER && span.begin < last->span.end &&
                  span.end <= last->span.end; /* 3f of 0x1p-3f */
    if (within || kj_is_told(p, span) || hexadecimal_float(p, span))
        return;
    if (text[0] == '.') {
        p->stray = true;
        char before = span.begin > 0 ? p->source->text[span.begin - 1] : ' ';
        if (kj_is_word(before) || before == ')' || before == ']') { /* t.0 of Rust */
            size_t digits = 1 + strspn(text + 1, "0123456789");
            uint32_t word = span.begin;
            while (word > 0 && kj_is_word(p->source->text[word - 1]))
                word--;
            if (word > 0 && kj_dotted_meant(p->source, word - 1)) { /* n.eq.3 */
                kj_span dotted = {word - 1, span.begin + 1};
                m = kj_error(p->diag, dotted, KJ_RULE_SPELLING, "there is no '%s'",
                             kj_piece(p, dotted.begin, dotted.end));
                kj_hint_dotted(p->diag, m, word - 1);
                return;
            }
            m = kj_error(p->diag, span, KJ_RULE_NUMBER, "a member's name is no number");
            kj_hint(p->diag, m, "the parts of a tuple are t[0], t[1]");
            if (digits == len && len < 40)
                kj_fix(p->diag, m, span, "[%.*s]", (int)len - 1, text + 1);
            return;
        }
        m = kj_error(p->diag, span, KJ_RULE_NUMBER, "a number has a digit before its '.'");
        if (span.begin > 0 && p->source->text[span.begin - 1] == '.') /* 0..10 */
            kj_hint(p->diag, m, "a range is written range(start, stop)");
        else if (len < 40)
            kj_write(p->diag, m, span, "0%.*s", (int)len, text);
        return;
    }
    m = kj_error(p->diag, span, KJ_RULE_NUMBER, "this is not a number");
    const char *type;
    size_t digits = len;
    if ((type = type_suffix(p, text, &digits)))
        kj_write(p->diag, m, span, "%s(%.*s)", type, (int)digits, text);
    else if (hint_product(p, m, span, text, len))
        return;
    else if (base_of(text, len) != 10) {
        tail = digits_end(text, len);
        if (tail > 2 && tail < 40 && is_c_suffix(text + tail, len - tail, true))
            c_suffix(p, m, span, tail);
        else
            kj_hint(p->diag, m,
                    "hexadecimal, binary and octal numbers are written 0xff, 0b101 and 0o17");
    } else if (text[len - 1] == '_')
        kj_hint(p->diag, m, "'_' stands between digits");
    else if (tail + 1 == len && kj_to_lower(text[tail]) == 'e')
        kj_hint(p->diag, m, "an exponent has digits: 1e-3");
    else if (len - tail == 1 && kj_to_lower(text[tail]) == 'i' && tail < 40)
        kj_hint(p->diag, m, "the imaginary unit is j: %.*sj", (int)tail, text);
    else if (is_c_suffix(text + number_end(text, len), len - number_end(text, len), false) &&
             len < 40)
        c_suffix(p, m, span, number_end(text, len));
}

/* What stands behind a backslash; '\0' for nothing known. */
static char escaped(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '"':
    case '\\': return c;
    default: return '\0';
    }
}

/* The escape of which the letter is at text[i]. */
static bool take_escape(kj_parser *p, kj_span span, const char *text, size_t i, char *out)
{
    *out = escaped(text[i]);
    if (*out)
        return true;
    uint32_t at = span.begin + (uint32_t)i - 1;
    kj_message *m =
        kj_error(p->diag, (kj_span){at, at + 2}, KJ_RULE_STRING, "this escape is not known");
    kj_hint(p->diag, m, "there are \\n, \\t, \\r, \\\" and \\\\");
    return false;
}

/* A string holds text: the first byte of it that is none is told. */
static void check_text(kj_parser *p, kj_span span, const char *text, size_t len)
{
    uint32_t code;
    for (size_t i = 0, n; i < len; i += n) {
        n = kj_utf8(text + i, text + len, &code);
        if ((unsigned char)text[i] >= 0x80 && n == 1) {
            uint32_t at = span.begin + (uint32_t)i;
            kj_error(p->diag, (kj_span){at, at + 1}, KJ_RULE_STRAY, "byte 0x%02x is not UTF-8 text",
                     (unsigned char)text[i]);
            return;
        }
    }
}

kj_string kj_literal_piece(kj_parser *p, kj_span span, const char *text, size_t len)
{
    char *out = kj_arena_alloc(p->arena, len + 1);
    size_t n = 0;
    check_text(p, span, text, len);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\' && i + 1 < len) {
            n += take_escape(p, span, text, ++i, &out[n]);
            continue;
        }
        out[n++] = text[i];
        if (text[i] == '{' || text[i] == '}')
            i++; /* there are two */
    }
    out[n] = 0;
    return (kj_string){out, n};
}

/* The number of a character, or of an escape that stands for one; -1: it is more. */
static int byte_of(const char *text, size_t len)
{
    if (len == 2 && *text == '\\')
        return text[1] == '0'     ? 0
               : text[1] == '\''  ? '\''
               : escaped(text[1]) ? escaped(text[1])
                                  : -1;
    return len == 1 && (unsigned char)*text < 0x80 ? *text : -1;
}

/* Is it an argument of print or assert, which take texts? */
static bool is_shown(const kj_parser *p)
{
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    if (!open || open->kind != '(')
        return false;
    uint32_t word = open->span.begin;
    while (word > 0 && kj_is_word(p->source->text[word - 1]))
        word--;
    return kj_is_word_at(p->source, word, "print") || kj_is_word_at(p->source, word, "assert");
}

/* p[i]['x']: a field by its name. */
static bool quoted_field(kj_parser *p, kj_message *m, kj_span span, const char *name)
{
    const char *text = p->source->text;
    uint32_t open = span.begin, close = kj_skip_blanks(p->source, span.end);
    while (open > 0 && kj_is_blank(text[open - 1]))
        open--;
    const char *end = name;
    while (kj_is_word(*end))
        end++;
    bool word = end > name && !*end && !kj_is_digit(*name);
    if (!word || open < 2 || text[open - 1] != '[' || text[open - 2] != ']' || text[close] != ']')
        return false;
    kj_hint(p->diag, m, "a field is named behind a dot: write .%s", name);
    kj_fix(p->diag, m, (kj_span){open - 1, close + 1}, ".%s", name);
    return true;
}

/* 'text' */
static void quote(kj_parser *p, kj_span span, const char *text, size_t len)
{
    enum { MOST = 1000 };
    kj_message *m =
        kj_error(p->diag, span, KJ_RULE_STRING, "strings stand in double quotes: \"text\"");
    const char *name = kj_arena_printf(p->arena, "%.*s", (int)(len < MOST ? len : 0), text);
    if (kj_type_named(name) != KJ_VOID) {
        kj_write(p->diag, m, span, "%s", name);
        return;
    }
    if (quoted_field(p, m, span, name))
        return;
    int byte = byte_of(text, len);
    if (byte >= 0 && !kj_is_item_of(p->source, span.begin, "run") && !is_shown(p)) {
        kj_hint(p->diag, m, "a character is its number: write %d for '%s'", byte, name);
        kj_fix(p->diag, m, span, "%d", byte);
        return;
    }
    if (byte >= 0)
        kj_hint(p->diag, m, "write \"%s\", or %d where bytes are numbers", name, byte);
    if (!memchr(text, '"', len) && len < MOST)
        kj_fix(p->diag, m, span, "\"%.*s\"", (int)len, text);
}

/* Is what stands before it on its line told, as its first quote is missing? */
static bool behind_error(const kj_parser *p, kj_span span)
{
    const kj_message *m = p->diag->last;
    return m && m->rule == KJ_RULE_SYNTAX && m->span.begin < span.begin &&
           !memchr(p->source->text + m->span.begin, '\n', span.begin - m->span.begin);
}

/* The quote that is missing stands before what closes the brackets around. */
static void unclosed(kj_parser *p, kj_span span, const char *text, size_t len)
{
    if (behind_error(p, span))
        return;
    kj_message *m = kj_error(p->diag, span, KJ_RULE_STRING, "the string is not closed on its line");
    while (len > 1 && strchr(" \t\r;", text[len - 1]))
        len--;
    for (int i = 0; i < p->nopen; i++)
        while (len > 1 && p->open[i].kind != '{' &&
               text[len - 1] == (p->open[i].kind == '(' ? ')' : ']')) {
            len--;
            break;
        }
    uint32_t at = span.begin + (uint32_t)len;
    kj_hint(p->diag, m, "write a \" at its end");
    kj_fix(p->diag, m, (kj_span){at, at}, "\"");
}

kj_string kj_literal_string(kj_parser *p, kj_span span, const char *text, size_t len)
{
    bool closed = len > 1 && text[len - 1] == text[0];
    size_t stop = closed ? len - 1 : len;
    if (text[0] == '\'' && !grouped_digits(p, span))
        quote(p, span, text + 1, stop - 1);
    char *out = kj_arena_alloc(p->arena, len);
    size_t n = 0;
    check_text(p, span, text, len);
    for (size_t i = 1; i < stop; i++) {
        if (text[i] != '\\' || text[0] == '\'') {
            out[n++] = text[i];
            continue;
        }
        if (++i == stop)
            closed = false; /* "abc\" */
        n += take_escape(p, span, text, i, &out[n]);
    }
    if (!closed && p->nformats > 0)
        kj_error(p->diag, p->formats[0].span, KJ_RULE_STRING,
                 "a '{' of this f-string is not closed by a '}'");
    else if (!closed && text[0] == '"')
        unclosed(p, span, text, len);
    if (!closed) { /* so what would close the brackets around it is lost */
        p->stray = true;
        p->nformats = 0;
        kj_layout_close(p);
    }
    return (kj_string){out, n};
}
