/* Layout: which line ends end a statement, and which brackets and braces are missing, settled
 * before the parser sees a token.
 *
 * Line ends are dropped inside ( ) and [ ]. Where a token shows that a bracket was never closed,
 * ( and [ are given up: the parser gets the line end it missed, and reports them
 * (kj_parser.unclosed). Missing } are supplied, reported once at the innermost block. So the
 * errors of a statement stay within it, and those of an item too.
 *
 * A text of statements gets the `run {` and `}` that it lacks as tokens without a place, so that all
 * places are those of the text as it is. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"

enum {
    MOST_SEEN = 1000
}; /* bytes of a line, each time: none of a hostile file is looked at for ever */

static const kj_bracket *innermost(const kj_parser *p)
{
    return p->nopen ? &p->open[p->nopen - 1] : NULL;
}

static bool in_braces(const kj_parser *p)
{
    const kj_bracket *b = innermost(p);
    return !b || b->kind == '{';
}

/* In no block but the one that nobody wrote? */
static bool in_unwritten(const kj_parser *p)
{
    return p->unwritten && p->nbraces == 1;
}

int kj_layout_unwritten(kj_parser *p, kj_span *span)
{
    static const int tokens[] = {KJ_TK_RUN, KJ_TK_LBRACE};
    bool wanted = p->source->statements && p->begin == 0;
    *span = (kj_span){p->offset, p->offset};
    return wanted && p->unwritten < 2 ? tokens[p->unwritten++] : 0;
}

static bool word_at(const char *text, const char *word)
{
    size_t len = strlen(word);
    return strncmp(text, word, len) == 0 && !kj_is_word(text[len]);
}

/* Is the header that ends here one that was reported? */
static bool told_on_line(const kj_parser *p)
{
    const kj_message *m = p->diag->last;
    const char *text = p->source->text;
    return m && m->severity == KJ_ERROR && m->span.begin <= p->span.begin &&
           !memchr(text + m->span.begin, '\n', p->span.begin - m->span.begin);
}

bool kj_layout_newline(kj_parser *p)
{
    const char *next = p->source->text + p->offset;
    if (*next == '{' && in_braces(p)) {
        if (told_on_line(p))
            return false;
        if (p->first == KJ_TK_USE || p->first == KJ_TK_TYPE)
            return true;
        kj_message *m =
            kj_error(p->diag, (kj_span){p->offset, p->offset + 1}, KJ_RULE_BRACE_ON_NEXT_LINE,
                     "the '{' of a block stands on the line of its header");
        bool statement = p->first == KJ_TK_LET || p->first == KJ_TK_VAR ||
                         p->first == KJ_TK_CONST || p->first == KJ_TK_PARAM ||
                         p->first == KJ_TK_NAME;
        if (statement)
            kj_hint(p->diag, m, "a block stands behind a header: if, for, while, @unchecked");
        else if (p->token != KJ_TK_NEWLINE && p->token != KJ_TK_LBRACE && p->token != KJ_TK_RBRACE)
            kj_fix(p->diag, m, (kj_span){p->span.end, p->offset + 1}, " {");
        return false;
    }
    if (in_braces(p) && kj_line_goes_on(p))
        return false;
    return in_braces(p) && !word_at(next, "else") && !word_at(next, "elif") &&
           strncmp(next, "->", 2) != 0;
}

void kj_layout_close(kj_parser *p)
{
    while (!in_braces(p))
        p->nopen--;
}

static void push(kj_parser *p, char kind, kj_span span)
{
    if (p->nopen == KJ_MAX_DEPTH) {
        kj_parse_too_deep(p, span, NULL);
        return;
    }
    if (p->nopen == p->open_capacity) {
        int capacity = p->open_capacity ? p->open_capacity * 2 : 32;
        kj_bracket *open = KJ_NEW_ARRAY(p->arena, kj_bracket, (size_t)capacity);
        if (p->nopen)
            memcpy(open, p->open, (size_t)p->nopen * sizeof *open);
        p->open = open;
        p->open_capacity = capacity;
    }
    p->open[p->nopen++] = (kj_bracket){kind, p->token, span};
    p->nbraces += kind == '{';
}

/* The token cannot stand inside ( or [. Was it in some? */
static bool give_up(kj_parser *p)
{
    if (in_braces(p))
        return false;
    p->unclosed = *innermost(p);
    kj_layout_close(p);
    return true;
}

static int hold(kj_parser *p, int token, kj_span span, int first)
{
    p->held = token;
    p->held_span = span;
    return first;
}

/* Is what closes the innermost bracket behind here, on the line? */
static bool closes_later(const kj_parser *p)
{
    if (in_braces(p))
        return false;
    char open = innermost(p)->kind, close = open == '(' ? ')' : ']';
    int depth = 0;
    const char *c = p->source->text + p->offset, *most = c + MOST_SEEN;
    for (; c < most && *c && *c != '\n' && *c != '"' && *c != '#'; c++) {
        depth += *c == open;
        depth -= *c == close;
        if (depth < 0)
            return true;
    }
    return false;
}

/* A ) or ] closes the nearest bracket of its kind, or else, as the slip it then is, the
 * innermost. */
static void pop(kj_parser *p, char kind)
{
    int i = p->nopen;
    while (i > 0 && p->open[i - 1].kind != '{' && p->open[i - 1].kind != kind)
        i--;
    bool found = i > 0 && p->open[i - 1].kind == kind;
    p->unopened = !found && (in_braces(p) || closes_later(p));
    if (p->unopened)
        return;
    if (found && i < p->nopen)
        p->unclosed = *innermost(p);
    if (found)
        p->nopen = i - 1;
    p->wrong_closer = !found && !in_braces(p);
    if (p->wrong_closer)
        p->unclosed = p->open[--p->nopen];
}

static void pop_brace(kj_parser *p)
{
    give_up(p);
    if (p->nopen) {
        p->nopen--;
        p->nbraces--;
    }
}

/* A } that would close the block that nobody wrote: what follows is a statement. */
static int close_unwritten(kj_parser *p, kj_span span)
{
    if (give_up(p)) {
        kj_message *m = kj_error(p->diag, span, KJ_RULE_SYNTAX, "missing '%c' before '}'",
                                 p->unclosed.kind == '(' ? ')' : ']');
        kj_note(p->diag, m, p->unclosed.span, "to close the '%c' opened here", p->unclosed.kind);
    } else {
        kj_error(p->diag, span, KJ_RULE_SYNTAX, "unexpected '}': no block is open");
    }
    p->stray = true;
    return KJ_TK_NEWLINE;
}

/* Is the { of the innermost block on the line of `at`? */
static bool block_is_on_line(const kj_parser *p, uint32_t at)
{
    int i = p->nopen;
    while (i > 0 && p->open[i - 1].kind != '{')
        i--;
    return i > 0 && !memchr(p->source->text + p->open[i - 1].span.begin, '\n',
                            at - p->open[i - 1].span.begin);
}

/* out[i} = x[i}: nothing goes on behind a } that closes a block, and one of several lines ends on a line of its own. */
static bool is_other_closer(const kj_parser *p, kj_span span)
{
    if (in_braces(p) || p->nformats)
        return false;
    const char *text = p->source->text + span.end;
    text += strspn(text, " \t");
    bool ends = !*text || strchr("\r\n#", *text), held = p->span.begin > innermost(p)->span.begin;
    return ends ? held && !block_is_on_line(p, span.begin) &&
                      !memchr(p->source->text + p->span.end, '\n', span.begin - p->span.end)
                : strchr("=+-*/%&|^<>!.,)]({", *text) != NULL;
}

static int close_by_brace(kj_parser *p, kj_span span)
{
    const kj_bracket *b = &p->open[--p->nopen];
    char closer = b->kind == '(' ? ')' : ']';
    kj_message *m =
        kj_error(p->diag, span, KJ_RULE_SYNTAX, "expected '%c' in the place of '}'", closer);
    kj_note(p->diag, m, b->span, "to close the '%c' opened here", b->kind);
    kj_fix(p->diag, m, span, "%c", closer);
    return closer == ')' ? KJ_TK_RPAREN : KJ_TK_RBRACKET;
}

void kj_layout_lacks_brace(kj_parser *p)
{
    p->supplying = true;
}

/* Before a token that only follows closed blocks: gives a } for each one open. */
static int supply_braces(kj_parser *p, int token, kj_span span)
{
    if (!p->nbraces || (in_unwritten(p) && token != KJ_TK_END)) {
        p->supplying = false;
        return token;
    }
    if (!p->supplying && !in_unwritten(p) && !kj_told_by_indent(p, span.begin)) {
        kj_message *m;
        if (token == KJ_TK_END)
            m = kj_error(p->diag, span, KJ_RULE_MISSING_BRACE,
                         "missing '}' before the end of the file");
        else
            m = kj_error(p->diag, span, KJ_RULE_MISSING_BRACE, "missing '}' before '%.*s'",
                         (int)(span.end - span.begin), p->source->text + span.begin);
        kj_note(p->diag, m, innermost(p)->span, "to close the block opened here");
        kj_fix(p->diag, m, (kj_span){span.begin, span.begin}, "}\n");
    }
    p->supplying = true;
    pop_brace(p);
    return hold(p, token, span, KJ_TK_RBRACE);
}

/* The last line needs no line end. */
static int end_of_file(kj_parser *p, kj_span *span)
{
    *span = (kj_span){(uint32_t)p->source->size, (uint32_t)p->source->size};
    give_up(p);
    if (p->token && p->token != KJ_TK_NEWLINE && p->token != KJ_TK_RBRACE)
        return KJ_TK_NEWLINE;
    return supply_braces(p, KJ_TK_END, *span);
}

static bool begins_line(const kj_parser *p, kj_span span)
{
    const char *text = p->source->text;
    uint32_t i = span.begin;
    while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\t'))
        i--;
    return i == 0 || text[i - 1] == '\n';
}

bool kj_layout_begins_statement(const kj_parser *p)
{
    return !p->token || p->token == KJ_TK_NEWLINE || p->token == KJ_TK_SEMICOLON ||
           p->token == KJ_TK_RBRACE || p->token == KJ_TK_LBRACE;
}

bool kj_layout_assigns(const kj_parser *p)
{
    return in_braces(p) &&
           (p->first == KJ_TK_LET || p->first == KJ_TK_VAR || p->first == KJ_TK_CONST ||
            p->first == KJ_TK_PARAM || p->first == KJ_TK_NAME);
}

/* Columns before the first word of the line. */
static int indent(const kj_parser *p, uint32_t at)
{
    const char *text = p->source->text;
    uint32_t least = at > MOST_SEEN ? at - MOST_SEEN : 0;
    while (at > least && text[at - 1] != '\n')
        at--;
    return at > 0 && at == least && text[at - 1] != '\n' ? 0 : (int)strspn(text + at, " \t");
}

void kj_layout_lose_block(kj_parser *p, kj_span at)
{
    const char *next = p->source->text + at.begin;
    next += strcspn(next, "\n");
    next += strspn(next, "\r\n");
    int before = indent(p, at.begin);
    if (p->nbraces && (int)strspn(next, " \t") > before)
        p->lost = before + 1;
}

bool kj_layout_drops(kj_parser *p, int token, kj_span span)
{
    if (!p->lost || token == KJ_TK_NEWLINE || token == KJ_TK_END || !begins_line(p, span) ||
        indent(p, span.begin) >= p->lost)
        return false;
    bool level = indent(p, span.begin) == p->lost - 1;
    const char *text = p->source->text + span.begin;
    p->lost = 0;
    p->lost_else = level && (token == KJ_TK_ELSE || token == KJ_TK_ELIF);
    return level && (token == KJ_TK_RBRACE || word_at(text, "end") || word_at(text, "done"));
}

/* Does an item begin in the column of those, where the block around is indented? */
static bool begins_item(const kj_parser *p, kj_span span)
{
    const char *text = p->source->text;
    if (!p->nbraces || in_unwritten(p) || !in_braces(p) ||
        (span.begin > 0 && text[span.begin - 1] != '\n'))
        return false;
    const char *line = text + p->open[0].span.end;
    line += strcspn(line, "\n");
    line += strspn(line, "\r\n");
    return *line == ' ' || *line == '\t';
}

/* Is what the attributes from `at` on stand before a statement? */
static bool decorates_statement(const kj_parser *p, uint32_t at)
{
    const char *c = p->source->text + at, *most = c + MOST_SEEN;
    bool named = false; /* the next word is an attribute's name */
    for (int depth = 0; c < most && *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c == '#')
            c += strcspn(c, "\n") - 1;
        else if (*c == '@')
            named = true;
        else if (depth == 0 && !named && (*c == '{' || kj_is_word(*c)))
            return *c == '{' || word_at(c, "for") || word_at(c, "while");
        else if (kj_is_word(*c))
            named &= kj_is_word(c[1]);
    }
    return false;
}

/* An else in the column of an if whose block has no }. */
static bool lacks_brace(const kj_parser *p, kj_span span)
{
    const kj_bracket *b = innermost(p);
    if (!b || b->kind != '{' || in_unwritten(p) || p->token == KJ_TK_RBRACE ||
        !begins_line(p, span) || indent(p, b->span.begin) != indent(p, span.begin))
        return false;
    const char *line = p->source->text + b->span.begin;
    for (int i = 0; i < MOST_SEEN && line > p->source->text && line[-1] != '\n'; i++)
        line--;
    line += strspn(line, " \t}");
    return word_at(line, "if") || word_at(line, "elif");
}

static int supply_brace_of_if(kj_parser *p, int token, kj_span span)
{
    if (!lacks_brace(p, span))
        return token;
    kj_message *m = kj_error(p->diag, span, KJ_RULE_MISSING_BRACE, "missing '}' before '%.*s'",
                             (int)(span.end - span.begin), p->source->text + span.begin);
    kj_note(p->diag, m, innermost(p)->span, "to close the block opened here");
    kj_fix(p->diag, m, (kj_span){span.begin, span.begin}, "} ");
    pop_brace(p);
    return hold(p, token, span, KJ_TK_RBRACE);
}

void kj_layout_refuse_method(kj_parser *p, kj_span span)
{
    const kj_source *s = p->source;
    uint32_t record = span.begin, name, own = kj_skip_blanks(s, span.end);
    while (record > 0 && !(s->text[record - 1] == '\n' && kj_is_word(s->text[record])))
        record--;
    name = kj_skip_blanks(s, kj_word_end(s, record));
    const char *method = kj_piece(p, own, kj_word_end(s, own));
    kj_message *m = kj_error(p->diag, span, KJ_RULE_MISPLACED, "a record has fields, no functions");
    kj_hint(p->diag, m,
            "a function takes the record: fn %s(p: %s) { ... } behind it, called as %s(p)", method,
            kj_piece(p, name, kj_word_end(s, name)), method);
    p->foreign = p->nbraces;
    p->foreign_brace = span.begin;
    p->diag->muted = true;
}

/* An item within a block, as its indentation shows: `fn` in a kernel. */
static bool is_nested(kj_parser *p, kj_span span)
{
    bool first = span.begin == 0 || p->source->text[span.begin - 1] == '\n';
    kj_span around, inside = kj_run_within(p, span.begin, &around);
    bool alone = inside.end > inside.begin;
    if (!p->nbraces || !in_braces(p) || (first && !in_unwritten(p) && !alone))
        return false;
    if (kj_is_item_of(p->source, span.begin, "record")) {
        if (!p->foreign)
            kj_layout_refuse_method(p, span);
        return true;
    }
    kj_message *m = kj_error(p->diag, span, KJ_RULE_MISPLACED, "'%.*s' stands at the top of a file",
                             (int)(span.end - span.begin), p->source->text + span.begin);
    if (alone)
        kj_hint(p->diag, m, "leave the function around the run block out");
    else
        kj_hint(p->diag, m, "functions and kernels are declared beside each other, in any order");
    if (alone)
        kj_fix(p->diag, m, around, "%s", kj_piece(p, inside.begin, inside.end));
    p->span = span;
    kj_layout_skip_block(p);
    return true;
}

/* for (var i = 0; i < n; i++): of the loop's header, which is wrong as a whole. */
static bool is_in_header(const kj_parser *p, int token)
{
    return (token == KJ_TK_LET || token == KJ_TK_VAR) && p->token == KJ_TK_LPAREN &&
           p->prev == KJ_TK_FOR;
}

/* An if at the beginning of a line that goes on to a {: no choice within the brackets that are open still. */
static bool opens_block(const kj_parser *p, kj_span span)
{
    const char *c = p->source->text + span.end, *most = c + MOST_SEEN;
    if (in_braces(p) || p->nformats || !begins_line(p, span))
        return false;
    while (c < most && *c && !strchr("{\"#\n", *c) && !(word_at(c, "else") && !kj_is_word(c[-1])))
        c++;
    return *c == '{';
}

/* A keyword that begins a statement or an item. */
static int beginning(kj_parser *p, int token, kj_span span, bool of_item)
{
    if (is_in_header(p, token))
        return token;
    bool first = begins_line(p, span);
    if (of_item && first && is_nested(p, span))
        return token;
    if (give_up(p) && first)
        return hold(p, token, span, KJ_TK_NEWLINE);
    return of_item && first ? supply_braces(p, token, span) : token;
}

/* test "title" { ... }, and what is meant as one; test = 3 is not. */
static bool begins_test(const char *next)
{
    return *next == '"' || *next == '\'' || *next == '{' || kj_is_word(*next);
}

/* `record`, `type`, `enum`, `use` and `test` are words of their own only where an item begins. */
static int word_of_item(kj_parser *p, kj_span span)
{
    const char *text = p->source->text + span.begin;
    bool attribute = p->prev == KJ_TK_AT || p->token == KJ_TK_RPAREN; /* stands before it */
    const char *next = p->source->text + span.end;
    next += strspn(next, " \t");
    bool missing = p->nopen && begins_item(p, span) && (kj_is_word(*next) || *next == '"');
    if (!missing && (p->nopen || !(kj_layout_begins_statement(p) || attribute)))
        return KJ_TK_NAME;
    p->enumerates = word_at(text, "enum");
    return word_at(text, "record")                      ? KJ_TK_RECORD
           : word_at(text, "type")                      ? KJ_TK_TYPE
           : word_at(text, "enum")                      ? KJ_TK_ENUM
           : word_at(text, "use")                       ? KJ_TK_USE
           : word_at(text, "test") && begins_test(next) ? KJ_TK_TEST
                                                        : KJ_TK_NAME;
}

static int account(kj_parser *p, int token, kj_span *span)
{
    switch (token) {
    case KJ_TK_NAME:
        token = word_of_item(p, *span);
        return token == KJ_TK_NAME ? token : supply_braces(p, token, *span);
    case KJ_TK_RECORD:
    case KJ_TK_TYPE:
    case KJ_TK_ENUM:
    case KJ_TK_TEST:
    case KJ_TK_USE: return supply_braces(p, token, *span);
    case KJ_TK_AT:
        if (begins_item(p, *span) && decorates_statement(p, span->begin))
            return token;
        return begins_item(p, *span) ? supply_braces(p, token, *span) : token;
    case KJ_TK_CONST: return begins_item(p, *span) ? supply_braces(p, token, *span) : token;
    case KJ_TK_ELSE:
    case KJ_TK_ELIF: return supply_brace_of_if(p, token, *span);
    case KJ_TK_LPAREN: push(p, '(', *span); return token;
    case KJ_TK_LBRACKET: push(p, '[', *span); return token;
    case KJ_TK_LBRACE:
        give_up(p);
        push(p, '{', *span);
        return token;
    case KJ_TK_RPAREN: pop(p, '('); return token;
    case KJ_TK_RBRACKET: pop(p, '['); return token;
    case KJ_TK_RBRACE:
        if (is_other_closer(p, *span))
            return close_by_brace(p, *span);
        if (in_unwritten(p))
            return close_unwritten(p, *span);
        pop_brace(p);
        return token;
    case KJ_TK_SEMICOLON: return in_braces(p) ? token : KJ_TK_INNER_SEMICOLON;
    case KJ_TK_NEWLINE:
        span->end = span->begin + 1; /* the rest is blank lines and comments */
        return token;
    case KJ_TK_IF: return opens_block(p, *span) ? beginning(p, token, *span, false) : token;
    case KJ_TK_LET:
    case KJ_TK_VAR:
    case KJ_TK_FOR:
    case KJ_TK_WHILE:
    case KJ_TK_BREAK:
    case KJ_TK_CONTINUE:
    case KJ_TK_RETURN:
    case KJ_TK_REQUIRES:
    case KJ_TK_PARAM: return beginning(p, token, *span, false);
    case KJ_TK_ARROW: p->gives = true; return token;
    case KJ_TK_FN:
    case KJ_TK_KERNEL:
    case KJ_TK_RUN:
        if (!p->nopen)
            p->nmisnamed = 0;
        p->gives = false;
        return beginning(p, token, *span, true);
    case KJ_TK_END: return end_of_file(p, span);
    default: return token;
    }
}

/* The { of a block whose header begins at the token: on its line, or behind parameters on several; 0: there is none. */
static uint32_t block_of_header(const kj_parser *p)
{
    const char *text = p->source->text + p->span.begin;
    size_t brace = strcspn(text, "{\n"), at = strcspn(text, "({}[;,=.#\"");
    int depth = 0;
    if (text[brace] == '{')
        return p->span.begin + (uint32_t)brace;
    for (; at < MOST_SEEN && text[at]; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0)
            break;
    }
    if (text[at] != ')')
        return 0;
    at += 1 + strspn(text + at + 1, " \t\r\n");
    return text[at] == '{' ? p->span.begin + (uint32_t)at : 0;
}

void kj_layout_skip_block(kj_parser *p)
{
    uint32_t brace = block_of_header(p);
    if (!brace || p->nformats)
        return;
    p->foreign = p->nbraces + (p->token != KJ_TK_LBRACE);
    p->foreign_brace = brace;
    p->diag->muted = true;
}

int kj_layout_token(kj_parser *p, int token, kj_span *span)
{
    if (p->token == KJ_TK_NEWLINE)
        p->stray = false;
    bool ends = p->token == KJ_TK_NEWLINE || p->token == KJ_TK_SEMICOLON || token == KJ_TK_END;
    if (p->foreign && ends && p->nbraces < p->foreign && p->span.begin > p->foreign_brace) {
        p->foreign = 0;
        p->diag->muted = false;
    }
    p->held = 0;
    p->unopened = p->wrong_closer = false;
    p->unclosed.kind = 0; /* what it tells is told at its token */
    token = account(p, token, span);
    if (kj_layout_begins_statement(p)) {
        p->first = token;
        p->first_span = *span;
    }
    p->before_prev = p->prev;
    p->before_prev_span = p->prev_span;
    p->prev = p->token;
    p->prev_span = p->span;
    p->token = token;
    p->span = *span;
    return token;
}
