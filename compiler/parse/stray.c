/* Characters that mean nothing where they stand, and spellings of other languages that the lexer knows by themselves:
 * reported with what is written here. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"
#include "parse/parse.h"

static void comment_error(kj_parser *p, kj_span span, const char *stop, const char *end)
{
    const char *text = p->source->text;
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SPELLING, "use '#' instead of '%.*s'",
                             (int)(span.end - span.begin), text + span.begin);
    bool prefixed = *end != '*' && span.end - span.begin > strlen(end);
    if (stop && !prefixed && kj_is_shown(p->diag, m))
        kj_habit_mend_comment(p, m, (kj_span){span.begin, (uint32_t)(stop + strlen(end) - text)},
                              (uint32_t)strlen(end));
    else
        kj_hint(p->diag, m, "a comment begins with #, in each line");
}

bool kj_stray_comment(kj_parser *p, kj_span span, const char *end)
{
    const char *text = p->source->text, *stop = NULL;
    bool *unending = &p->unending[*end == '*' ? 0 : *end == '"' ? 1 : 2];
    if (!*unending)
        stop = strstr(text + span.end, end);
    *unending |= !stop;
    bool lost = p->astray && !p->nbraces && span.begin > 0 && text[span.begin - 1] != '\n';
    if (*end == '*' || kj_layout_begins_statement(p)) {
        if (!lost)
            comment_error(p, span, stop, end);
    } else if (!p->stray) {
        kj_message *m = kj_error(p->diag, span, KJ_RULE_STRING, "a string stands on one line");
        kj_hint(p->diag, m, "write it between two \", a line end in it as \\n");
    }
    p->stray |= !stop;
    return stop != NULL;
}

/* x' of MATLAB and Julia, behind a value. */
bool kj_stray_transpose(kj_parser *p, kj_span span)
{
    const char *text = p->source->text;
    if (text[span.begin] != '\'' || p->nformats || p->span.end != span.begin ||
        (p->token != KJ_TK_NAME && p->token != KJ_TK_RPAREN && p->token != KJ_TK_RBRACKET))
        return false;
    const char *name = kj_piece(p, p->span.begin, p->span.end);
    if (p->token == KJ_TK_NAME &&
        !kj_habit_is_known(p, name, p->span.begin)) /* print'text', b'text' */
        return false;
    kj_span mark = {span.begin, span.begin + 1};
    kj_message *m = kj_error(p->diag, mark, KJ_RULE_SPELLING, "there is no %c behind a value",
                             text[span.begin]);
    kj_hint(p->diag, m, "a transpose is written %s.T", p->token == KJ_TK_NAME ? name : "a");
    kj_fix(p->diag, m, mark, ".T");
    return true;
}

/* a &&= b */
void kj_stray_update(kj_parser *p, kj_span span)
{
    const kj_source *s = p->source;
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SPELLING, "there is no '%s'",
                             kj_piece(p, span.begin, span.end));
    const char *op = s->text[span.begin] == '&' ? "and" : "or";
    uint32_t begin = p->first_span.begin, end = span.begin;
    uint32_t value = kj_skip_blanks(s, span.end), plain = value;
    while (end > begin && kj_is_blank(s->text[end - 1]))
        end--;
    while (kj_is_word(s->text[plain]) || (s->text[plain] && strchr(".[]", s->text[plain])))
        plain++;
    const char *target = kj_piece(p, begin, end);
    if (strpbrk(target, "(;{},\"\n")) /* more than a name or an element */
        target = "a";
    kj_hint(p->diag, m, "write %s = %s %s ...", target, target, op);
    bool simple = plain > value && strchr("\r\n;#}", s->text[kj_skip_blanks(s, plain)]);
    if (simple && *target && end - begin == strlen(target))
        kj_fix(p->diag, m, span, "= %s %s", target, op);
}

/* Does an expression of the line before go on with the operand at `at`: a number or a name, and not a word behind it? */
static bool goes_on_with(const kj_parser *p, uint32_t at)
{
    const kj_source *s = p->source;
    at += (uint32_t)strspn(s->text + at, " \t(");
    uint32_t end = kj_word_end(s, at), next = kj_skip_blanks(s, end);
    bool known = end > at && (kj_is_digit(s->text[at]) ||
                              kj_parse_is_name(p, kj_piece((kj_parser *)p, at, end)));
    return known && !(next > end && kj_is_word(s->text[next]));
}

/* ! a comment of Fortran, % of MATLAB, -- of Lua and SQL. */
bool kj_stray_remark(kj_parser *p, kj_span span)
{
    const char *text = p->source->text + span.begin;
    char mark = *text;
    uint32_t n = 1;
    if (p->nformats || !kj_layout_begins_statement(p) ||
        (p->nopen && p->open[p->nopen - 1].kind != '{'))
        return false;
    while (text[n] == mark)
        n++;
    if (!(text[n] && strchr(" \t\r\n", text[n])) || (mark == '!' && n > 2) ||
        (mark == '-' && n < 2))
        return false;
    if (mark == '%' && n == 1 && p->nbraces && goes_on_with(p, span.begin + 1))
        return false;
    kj_message *m = kj_error(p->diag, (kj_span){span.begin, span.begin + n}, KJ_RULE_SPELLING,
                             "use '#' instead of '%.*s'", (int)n, text);
    kj_hint(p->diag, m, "a comment begins with #, in each line");
    kj_fix(p->diag, m, (kj_span){span.begin, span.begin + n}, "#");
    return true;
}

void kj_stray_cast(kj_parser *p, kj_span span, const char *text)
{
    const char *open = strchr(text, '<') + 1;
    const char *type =
        kj_habit_type_named(kj_arena_printf(p->arena, "%.*s", (int)strcspn(open, "> "), open));
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SPELLING, "there is no static_cast");
    kj_hint(p->diag, m, "conversions are written %s(x)", type ? type : "f32");
    if (type)
        kj_fix(p->diag, m, span, "%s", type);
}

const char *kj_stray_vector(kj_parser *p, kj_span span, const char *text)
{
    const char *open = strchr(text, '<') + 1;
    open += strspn(open, " \t");
    const char *word = kj_arena_printf(p->arena, "%.*s", (int)strcspn(open, "> \t"), open),
               *other = kj_habit_type_named(word);
    const kj_aggregate *of = kj_vector_of(kj_type_named(other ? other : word), text[3] - '0');
    kj_message *m = kj_is_told(p, span) /* @builtin(global_invocation_id) id: vec3<u32> */
                        ? NULL
                        : kj_error(p->diag, span, KJ_RULE_SPELLING, "a vector's type is one word");
    if (m && of)
        kj_write(p->diag, m, span, "%s", of->name);
    else if (m)
        kj_hint(p->diag, m, "of 2, 3 or 4 numbers: f32x%c, i32x%c", text[3], text[3]);
    const char *type = of ? of->name : "f32x4";
    return kj_intern(p->arena, type, strlen(type));
}

void kj_stray_macro(kj_parser *p, kj_span span, const char *text)
{
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SPELLING, "there are no macros");
    if (strcmp(text, "vec!") == 0) {
        kj_hint(p->diag, m, "lists are written [1, 2, 3]");
        kj_fix(p->diag, m, span, "%s", "");
    } else if (strncmp(text, "print", 5) == 0) {
        kj_hint(p->diag, m, "print takes texts and values: print(\"x is\", x)");
    } else if (strcmp(text, "assert!") == 0 || strcmp(text, "debug_assert!") == 0) {
        kj_write(p->diag, m, span, "assert");
    } else if (strstr(text, "assert_")) { /* whose second argument is no text */
        kj_hint(p->diag, m, "assert takes a condition: assert(... %s ...)",
                strstr(text, "assert_ne") ? "!=" : "==");
    }
}

void kj_stray_range(kj_parser *p, kj_span span)
{
    kj_message *m = p->stray ? NULL : kj_error(p->diag, span, KJ_RULE_SPELLING, "there is no '..'");
    if (m)
        kj_hint(p->diag, m, "a range is written range(start, stop)");
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    static const char clamp[] = "clamp(";
    size_t len = sizeof clamp - 1;
    if (m && open && open->span.end >= len &&
        strncmp(p->source->text + open->span.end - len, clamp, len) == 0) { /* clamp(x, 0..1) */
        bool closed = p->source->text[span.end] == '=';
        while (p->source->text[span.begin] != '.') /* a number before it */
            span.begin++;
        kj_hint(p->diag, m, "both ends are arguments: clamp(x, lo, hi)");
        kj_fix(p->diag, m, (kj_span){span.begin, span.end + closed}, ", ");
    } else if (m && kj_is_shown(p->diag, m))
        kj_habit_range(p, m, span);
    p->stray = true;
}

bool kj_stray_range_of(kj_parser *p, kj_span span)
{
    bool operand = p->token == KJ_TK_INT || p->token == KJ_TK_NAME || p->token == KJ_TK_RPAREN ||
                   p->token == KJ_TK_RBRACKET;
    char next = p->source->text[kj_skip_blanks(p->source, span.end)];
    if (!operand || !(kj_is_word(next) || strchr("(-+~", next)) || !next)
        return false;
    kj_stray_range(p, span);
    return true;
}

void kj_stray_brace(kj_parser *p, kj_span span, const char *text)
{
    if (!p->stray)
        kj_error(p->diag, span, KJ_RULE_STRING, "%s", text);
    p->stray = true;
}

void kj_stray_conversion(kj_parser *p, kj_span span)
{
    if (!p->stray)
        kj_hint(
            p->diag,
            kj_error(p->diag, span, KJ_RULE_STRAY, "the values of an f-string have no conversions"),
            "a value and its format are written {x:8.3f}");
    p->stray = true;
}

/* Is a name declared where the token stands? */
static bool declares_name(const kj_parser *p, const char *next)
{
    static const int before[] = {KJ_TK_KERNEL, KJ_TK_FN,   KJ_TK_LET,   KJ_TK_VAR,
                                 KJ_TK_PARAM,  KJ_TK_FOR,  KJ_TK_CONST, KJ_TK_RUN,
                                 KJ_TK_RECORD, KJ_TK_ENUM, KJ_TK_TYPE};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (p->token == before[i])
            return true;
    char kind = p->nopen ? p->open[p->nopen - 1].kind : 0;
    next += strspn(next, " \t");
    bool begins = p->token == KJ_TK_LPAREN || p->token == KJ_TK_LBRACE || p->token == KJ_TK_COMMA ||
                  p->token == KJ_TK_NEWLINE;
    return begins && !p->nformats && kind && kind != '[' &&
           (*next == ':' || (p->enumerates && kind == '{'));
}

bool kj_stray_name(kj_parser *p, kj_span span, const char *text, size_t len)
{
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < len; i++)
        if (!kj_is_word(text[i]))
            return false;
    const char *name = kj_intern(p->arena, text, len);
    for (const kj_declared *d = p->misspelled; d; d = d->next)
        if (d->name == name)
            return true;
    if (!declares_name(p, p->source->text + span.end))
        return false;
    if (p->diag->full)
        return true;
    kj_declared *told = KJ_NEW(p->arena, kj_declared);
    *told = (kj_declared){p->misspelled, name};
    p->misspelled = told;
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SYNTAX, "a name cannot begin with a digit");
    if (len < 40)
        kj_hint(p->diag, m, "a name begins with a letter or '_', as in %.*s%.*s",
                (int)(len - digits), text + digits, (int)digits, text);
    return true;
}

/* Signs that are typed for those that there are. */
static const char *in_ascii(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *plain;
    } signs[] = {
        {0x2212, "-"},    {0x2013, "-"},   {0x2014, "-"},   {0x00d7, "*"},  {0x00b7, "*"},
        {0x22c5, "*"},    {0x00f7, "//"},  {0x2264, "<="},  {0x2265, ">="}, {0x2260, "!="},
        {0x2192, "->"},   {0x03c0, "pi"},  {0x2208, "in"},  {0x22bb, "^"},  {0x00b2, "** 2"},
        {0x00b3, "** 3"}, {0x221e, "inf"}, {0x2227, "and"}, {0x2228, "or"}, {0x00ac, "not "},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].code == code)
            return signs[i].plain;
    return NULL;
}

static void fix_quotes(kj_parser *p, kj_message *m, kj_span span, size_t first)
{
    const char *begin = p->source->text + span.begin + first, *end = begin + strcspn(begin, "\"\n");
    for (const char *c = begin; c < end;) {
        uint32_t code;
        size_t n = kj_utf8(c, end, &code);
        if (code >= 0x2018 && code <= 0x201f) {
            kj_fix(p->diag, m, (kj_span){span.begin, (uint32_t)(c + n - p->source->text)},
                   "\"%.*s\"", (int)(c - begin), begin);
            return;
        }
        c += n;
    }
}

static void fix_blank(kj_parser *p, kj_message *m, uint32_t at)
{
    kj_hint(p->diag, m, "a blank that does not break, as web pages have it: write a plain one");
    kj_fix(p->diag, m, (kj_span){at, at + 2}, " ");
}

/* One that was told is not told again: α is a name where it stands first. */
static kj_message *stray_letter(kj_parser *p, kj_span span, const char *text, size_t len)
{
    const char *said = kj_arena_printf(p->arena, "unexpected character '%.*s'", (int)len, text);
    for (const kj_message *m = p->diag->first; m; m = m->next)
        if (m->rule == KJ_RULE_STRAY && strcmp(m->text, said) == 0 && (unsigned char)*text >= 0x80)
            return kj_error(p->diag, m->span, KJ_RULE_STRAY, "%s", said);
    return kj_error(p->diag, span, KJ_RULE_STRAY, "%s", said);
}

void kj_stray_character(kj_parser *p, kj_span span, const char *text, size_t len)
{
    static const struct {
        char character;
        const char *hint;
    } known[] = {
        {'?', "a conditional expression is written: a if test else b"},
        {'\\', "a statement goes on over a line end only inside ( ) or [ ]"},
        {'$', "names are of letters, digits and '_'"},
        {'`', "strings stand in double quotes: \"text\""},
        {'\r', "a line ends in \\n or \\r\\n"},
    };
    uint32_t code;
    size_t first = kj_utf8(text, text + len, &code);
    kj_message *m;
    if (p->stray)
        return;
    p->stray = true;
    if ((unsigned char)text[0] >= 0x80 && first == 1) {
        kj_error(p->diag, span, KJ_RULE_STRAY, "byte 0x%02x is not UTF-8 text",
                 (unsigned char)text[0]);
        return;
    }
    if (code < 0x20 || code == 0x7f || code == 0xa0 || code == 0xfeff ||
        (code >= 0x2000 && code <= 0x206f))
        m = kj_error(p->diag, span, KJ_RULE_STRAY, "unexpected character U+%04X", code);
    else
        m = stray_letter(p, span, text, first);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (text[0] == known[i].character)
            kj_hint(p->diag, m, "%s", known[i].hint);
    }
    if (text[0] == '?' && kj_is_shown(p->diag, m))
        kj_habit_ternary(p, m, span);
    const char *plain = kj_is_shown(p->diag, m) ? in_ascii(code) : NULL;
    if (code >= 0x2018 && code <= 0x201f) {
        kj_hint(p->diag, m, "strings stand in double quotes: \"text\"");
        fix_quotes(p, m, span, first);
    } else if (plain && strcmp(plain, "//") == 0) {
        kj_hint(
            p->diag, m,
            "write // for the whole quotient, rounded down where Julia cuts, / for that of floats");
        kj_fix(p->diag, m, (kj_span){span.begin, span.begin + (uint32_t)first}, "//");
    } else if (plain || (code > 0xff00 && code < 0xff5f)) {
        kj_write(p->diag, m, (kj_span){span.begin, span.begin + (uint32_t)first}, "%s",
                 plain ? plain : kj_arena_printf(p->arena, "%c", (char)(code - 0xfee0)));
    } else if (code == 0x221a) {
        kj_hint(p->diag, m, "a root is written sqrt(x)");
    } else if (code == 0xa0)
        fix_blank(p, m, span.begin);
    else if (code >= 0x80)
        kj_hint(p->diag, m,
                "names are of the letters a-z and A-Z, digits and '_'; other characters stand in "
                "strings and "
                "comments");
}
