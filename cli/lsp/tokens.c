/* Text -> words (the server's lexer), also of a text with errors: what begins an item at the left
 * edge, or a statement in its line, is out of all brackets that were left open before it. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum { MOST_FORMATS = 8 /* f-strings in values of f-strings */ };

static const char *const reserved[] = {
    "const", "fn",  "kernel", "run",  "let",  "var",   "if",     "elif",     "else",
    "for",   "in",  "while",  "with", "as",   "break", "return", "continue", "requires",
    "param", "and", "or",     "not",  "true", "false", "launch",
};

typedef struct scanner {
    const char *text;
    size_t size, at;
    tokens *out;
    uint32_t open; /* the innermost bracket */
    int formats;
    bool full;
} scanner;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_reserved(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strncmp(word, reserved[i], size) == 0 && reserved[i][size] == 0)
            return true;
    return false;
}

static token *put(scanner *s, token_kind kind, size_t begin)
{
    tokens *t = s->out;
    if (t->n == t->room) {
        uint32_t room = t->room ? t->room * 2 : 256;
        token *more = realloc(t->at, room * sizeof *more);
        s->full |= !more;
        if (!more)
            return NULL;
        t->at = more;
        t->room = room;
    }
    token *made = &t->at[t->n++];
    *made = (token){.begin = (uint32_t)begin,
                    .end = (uint32_t)s->at,
                    .open = s->open,
                    .decl = -1,
                    .kind = (uint8_t)kind};
    return made;
}

/* Goes on behind the words' characters. */
static size_t skip_word(const scanner *s, size_t at)
{
    while (at < s->size && (is_letter(s->text[at]) || is_digit(s->text[at])))
        at++;
    return at;
}

static bool is_bracket_of(const scanner *s, uint32_t i, char sign)
{
    return i != NO_TOKEN && s->out->at[i].sign == sign;
}

/* Out of round and square brackets. */
static void leave_brackets(scanner *s)
{
    while (is_bracket_of(s, s->open, '(') || is_bracket_of(s, s->open, '['))
        s->open = s->out->at[s->open].open;
}

static void close_bracket(scanner *s, char closing)
{
    char opening = closing == ')' ? '(' : closing == ']' ? '[' : '{';
    if (closing == '}')
        leave_brackets(s);
    if (is_bracket_of(s, s->open, opening))
        s->open = s->out->at[s->open].open;
}

/* Two words of which the second is a name, a brace or a string: does the first begin an item? */
static bool begins_item(const scanner *s, size_t begin, size_t end)
{
    const char *word = s->text + begin;
    size_t n = end - begin, next = end + strspn(s->text + end, " \t");
    if (next >= s->size || !is_item_word(word, n))
        return false;
    bool test = n == 4 && memcmp(word, "test", n) == 0, use = n == 3 && memcmp(word, "use", n) == 0;
    return (next > end && is_letter(s->text[next]) && !test) ||
           (n == 3 && memcmp(word, "run", n) == 0 && s->text[next] == '{') ||
           ((use || test) && s->text[next] == '"');
}

static bool is_statement_word(const char *word, size_t size)
{
    static const char *const words[] = {"let", "var", "for", "while", "return", "param", "launch"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(word, words[i], size) == 0 && words[i][size] == 0)
            return true;
    return false;
}

/* Is nothing but blanks in front of it in its line? */
static bool is_first(const scanner *s, size_t at)
{
    while (at > 0 && (s->text[at - 1] == ' ' || s->text[at - 1] == '\t'))
        at--;
    return at == 0 || s->text[at - 1] == '\n';
}

static void scan_word(scanner *s)
{
    size_t begin = s->at;
    s->at = skip_word(s, begin);
    bool edge = begin == 0 || s->text[begin - 1] == '\n';
    bool item = (edge || s->open == NO_TOKEN) && begins_item(s, begin, s->at);
    if (item)
        s->open = NO_TOKEN;
    else if (s->open != NO_TOKEN && s->out->at[s->open].sign != '{' && is_first(s, begin) &&
             is_statement_word(s->text + begin, s->at - begin))
        leave_brackets(s);
    token *t = put(s, T_NAME, begin);
    if (t)
        t->item = item;
}

/* To the closing quote, or the line's end. */
static void scan_string(scanner *s)
{
    size_t begin = s->at;
    char quote = s->text[s->at++];
    while (s->at < s->size && s->text[s->at] != quote && s->text[s->at] != '\n')
        s->at +=
            s->text[s->at] == '\\' && s->at + 1 < s->size && s->text[s->at + 1] != '\n' ? 2 : 1;
    if (s->at < s->size && s->text[s->at] == quote)
        s->at++;
    put(s, T_STRING, begin);
}

static void scan_token(scanner *s);

/* The words of a value, to its } or the line's end, and its format. */
static void scan_value(scanner *s)
{
    uint32_t outer = s->open;
    while (s->at < s->size && s->text[s->at] != '\n') {
        char c = s->text[s->at];
        if (s->open == outer && (c == '}' || c == ':'))
            break;
        if (c == '{' || c == '}')
            break;
        scan_token(s);
    }
    s->open = outer;
}

/* Text of an f-string and the values in it. */
static void scan_format(scanner *s)
{
    size_t begin = s->at;
    s->at += 2;
    s->formats++;
    while (s->at < s->size && s->text[s->at] != '\n' && s->text[s->at] != '"') {
        char c = s->text[s->at++];
        bool twice = s->at < s->size && s->text[s->at] == c;
        if (c == '\\' || ((c == '{' || c == '}') && twice)) {
            s->at += s->at < s->size && s->text[s->at] != '\n';
        } else if (c == '{') {
            put(s, T_STRING, begin);
            scan_value(s);
            begin = s->at;
            s->at += strcspn(s->text + s->at, "}\"\n");
            s->at += s->at < s->size && s->text[s->at] == '}';
        }
    }
    s->at += s->at < s->size && s->text[s->at] == '"';
    s->formats--;
    put(s, T_STRING, begin);
}

static void scan_number(scanner *s)
{
    size_t begin = s->at;
    for (;;) {
        size_t end = skip_word(s, s->at);
        char last = end > s->at ? s->text[end - 1] : 0, c = end < s->size ? s->text[end] : 0;
        bool exponent = (last == 'e' || last == 'E') && (c == '+' || c == '-') &&
                        !(s->text[begin] == '0' && (s->text[begin + 1] | 32) == 'x');
        s->at = end;
        if (c != '.' && !exponent)
            break;
        s->at++;
    }
    put(s, T_NUMBER, begin);
}

/* Signs that are one word together: of the longest first. */
static size_t sign_size(const char *p)
{
    static const char *const together[] = {
        "//=", "**=", "<<=", ">>=", "->", "==", "!=", "<=", ">=", "+=", "-=",
        "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "<<", ">>", "**", "//"};
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        if (strncmp(p, together[i], strlen(together[i])) == 0)
            return strlen(together[i]);
    return 1;
}

static void scan_sign(scanner *s)
{
    size_t begin = s->at, n = sign_size(s->text + begin);
    char c = s->text[begin];
    s->at += n;
    if (c == ')' || c == ']' || c == '}')
        close_bracket(s, c);
    if (c == '{')
        leave_brackets(s);
    token *t = put(s, T_SIGN, begin);
    if (!t)
        return;
    t->sign = n == 1 ? c : 0;
    if (c == '(' || c == '[' || c == '{')
        s->open = s->out->n - 1;
}

static void scan_token(scanner *s)
{
    const char *p = s->text + s->at;
    if (*p == '\n') {
        s->at++;
        if (!is_bracket_of(s, s->open, '(') && !is_bracket_of(s, s->open, '['))
            put(s, T_LINE, s->at - 1);
    } else if (*p == '#') {
        const char *end = memchr(p, '\n', s->size - s->at);
        s->at = end ? (size_t)(end - s->text) : s->size;
    } else if ((*p == 'f' || *p == 'F') && p[1] == '"' && s->formats < MOST_FORMATS) {
        scan_format(s);
    } else if (*p == '"' || *p == '\'') {
        scan_string(s);
    } else if (is_letter(*p)) {
        scan_word(s);
    } else if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) {
        scan_number(s);
    } else if (*p > ' ' && *p < 127) {
        scan_sign(s);
    } else {
        s->at++;
    }
}

bool scan_tokens(const char *text, size_t size, tokens *out)
{
    scanner s = {.text = text, .size = size, .out = out, .open = NO_TOKEN};
    while (s.at < size && !s.full)
        scan_token(&s);
    return !s.full;
}
