/* Keywords that are misspelled: the word that one must have been is found, and the message stands at it. */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"
#include "parse/mistake.h"

void kj_declares(kj_parser *p, const char *name, kj_span span)
{
    kj_declared *d = kj_node(p, span, sizeof *d);
    *d = (kj_declared){p->declared, name};
    p->declared = d;
}

/* Whatever its scope: a name that the file gives to something is no keyword. */
static bool is_declared(const kj_parser *p, const char *word)
{
    const kj_declared *d = p->declared;
    while (d && strcmp(d->name, word) != 0)
        d = d->next;
    return d != NULL;
}

bool kj_parse_is_name(const kj_parser *p, const char *word)
{
    static const char *const values[] = {"pi", "inf", "nan"};
    if (is_declared(p, word))
        return true;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i], word) == 0)
            return true;
    for (int id = 0; id < KJ_NBUILTINS; id++)
        if (strcmp(kj_builtins[id].name, word) == 0)
            return true;
    return kj_run_builtin_named(word) >= 0 || kj_type_named(word) != KJ_VOID;
}

bool kj_mistake_is_name(const kj_mistake *x, kj_span word)
{
    return kj_parse_is_name(x->p, kj_mistake_source(x->p, word));
}

bool kj_mistake_is_declared(const kj_mistake *x, kj_span word)
{
    return is_declared(x->p, kj_mistake_source(x->p, word));
}

static bool report(const kj_mistake *x, kj_span word, const char *meant)
{
    kj_parser *p = x->p;
    if (!meant)
        return false;
    kj_message *m = kj_error(p->diag, word, KJ_RULE_SYNTAX, "'%s' is not a keyword",
                             kj_mistake_source(p, word));
    kj_did_you_mean(p->diag, m, meant);
    return true;
}

/* Does an operand begin with the unexpected token? */
static bool begins_operand(const kj_mistake *x)
{
    static const char *const tokens[] = {"name",   "integer", "number", "imaginary number",
                                         "string", "true",    "false",  "f-string",
                                         "not"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (kj_met(x, tokens[i]))
            return true;
    return false;
}

/* `wile x > 0 {`, `retrun 3`, `els {` */
static const char *statement_meant(const kj_mistake *x, const char *word)
{
    static const char *const all[] = {"let",  "var",      "if",     "elif",     "for",    "while",
                                      "with", "continue", "return", "requires", "launch", "param"};
    static const char *const headers[] = {"if", "elif", "for", "while", "with"};
    static const char *const alone[] = {"else"};
    bool next = x->p->first_span.begin == x->p->prev_span.begin;
    if (kj_met(x, "{"))
        return next ? kj_nearest(word, alone, 1)
                    : kj_nearest(word, headers, sizeof headers / sizeof *headers);
    return next && begins_operand(x) ? kj_nearest(word, all, sizeof all / sizeof *all) : NULL;
}

bool kj_misspelled_statement(const kj_mistake *x)
{
    kj_parser *p = x->p;
    kj_span first = p->first_span;
    const char *word = kj_mistake_source(p, first);
    bool requires = strcmp(word, "require") == 0 && !kj_met(x, "string"); /* else a file's name */
    if (p->first != KJ_TK_NAME || first.end > x->at.begin ||
        (kj_foreign_word(word, NULL) && !requires) || kj_parse_is_name(p, word))
        return false;
    return report(x, first, statement_meant(x, word));
}

static bool is_keyword(const char *token)
{
    static const char *const classes[] = {"name", "integer", "number", "string", "format"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(token, classes[i]) == 0)
            return false;
    return strspn(token, "abcdefghijklmnopqrstuvwxyz") == strlen(token);
}

bool kj_misspelled_operator(const kj_mistake *x)
{
    static const char *const not [] = {"not"};
    kj_parser *p = x->p;
    bool foreign = p->first == KJ_TK_NAME && p->first_span.begin == p->prev_span.begin &&
                   kj_foreign_word(kj_mistake_source(p, p->first_span), NULL); /* goto end */
    if (!foreign && kj_met(x, "name") && !kj_mistake_is_name(x, x->at)) {
        const char *word = kj_mistake_source(p, x->at);
        uint32_t next = kj_skip_blanks(p->source, x->at.end);
        if (kj_habit_operator(p, x->at))
            return true;
        if (strcmp(word, "end") == 0 ||
            (p->source->text[next] == '=' && p->source->text[next + 1] != '='))
            return false; /* a block's end, Real ff = 1 */
        kj_near near = kj_near_to(word);
        for (int i = 0; i < x->n; i++)
            if (is_keyword(x->expected[i]))
                kj_near_offer(&near, x->expected[i]);
        if (strcmp(word, "is") != 0 && report(x, x->at, near.best))
            return true;
    }
    if (!begins_operand(x) || p->prev != KJ_TK_NAME || p->before_prev == KJ_TK_DOT ||
        p->prev_span.begin == p->first_span.begin || kj_mistake_is_name(x, p->prev_span))
        return false;
    return report(x, p->prev_span, kj_nearest(kj_mistake_source(p, p->prev_span), not, 1));
}

bool kj_misspelled_parameter(const kj_mistake *x)
{
    static const char *const words[] = {"const"};
    const kj_parser *p = x->p;
    bool first = p->before_prev == KJ_TK_LPAREN || p->before_prev == KJ_TK_COMMA;
    return kj_met(x, "name") && p->prev == KJ_TK_NAME && first &&
           report(x, p->prev_span, kj_nearest(kj_mistake_source(x->p, p->prev_span), words, 1));
}

/* `retrun (x)` is a call, `retrun -1` a difference. */
const char *kj_keyword_meant(kj_arena *arena, const kj_source *s, kj_span name)
{
    static const char *const words[] = {"return", "requires", "launch"};
    const char *word =
        kj_arena_printf(arena, "%.*s", (int)(name.end - name.begin), s->text + name.begin);
    uint32_t before = name.begin;
    while (before > 0 && (s->text[before - 1] == ' ' || s->text[before - 1] == '\t'))
        before--;
    if (s->text[name.end] != ' ' || (before > 0 && !strchr("\n{};", s->text[before - 1])))
        return NULL;
    return kj_nearest(word, words, sizeof words / sizeof *words);
}

bool kj_hint_misspelled(kj_parser *p, kj_message *m, uint32_t begin)
{
    kj_span word = {begin, begin};
    while (kj_is_word(p->source->text[word.end]))
        word.end++;
    const char *meant = kj_keyword_meant(p->arena, p->source, word);
    const char *name =
        kj_arena_printf(p->arena, "%.*s", (int)(word.end - begin), p->source->text + begin);
    if (!meant || kj_parse_is_name(p, name))
        return false;
    kj_hint(p->diag, m, "did you mean '%s'?", meant);
    kj_fix(p->diag, m, word, "%s", meant);
    return true;
}

/* Of this file, above. */
static bool is_function(const kj_parser *p, const char *name)
{
    for (const kj_item *i = p->file->items; i; i = i->next)
        if (i->name && strcmp(i->name, name) == 0)
            return true;
    return false;
}

/* A name alone in a line: `end`, a call without its parentheses. */
void kj_hint_lone_name(kj_parser *p, kj_message *m, const char *name)
{
    static const char *const ends[] = {"end", "fi", "done", "endif", "endfor", "endwhile", "od"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i]) == 0 && !is_declared(p, name)) {
            kj_hint(p->diag, m, "a block ends with '}'");
            return;
        }
    if (strcmp(name, "pass") == 0)
        kj_hint(p->diag, m, "leave it out: a block may be empty");
    else if (kj_hint_statement(p, m, name))
        return;
    else if (is_declared(p, name) && !is_function(p, name))
        kj_hint(p->diag, m, "a value alone is not used: assign, return or print it");
    else if (kj_parse_is_name(p, name) ||
             strstr(p->source->text, kj_arena_printf(p->arena, "fn %s(", name)))
        kj_hint(p->diag, m, "a call has parentheses: %s()", name);
}

/* ---- Keywords where names are ---- */

/* The keyword is a name from here to the end of the item, but for those that begin statements which
 * may look alike, or stand within expressions. */
static void take_for_name(kj_parser *p, int token)
{
    static const int never[] = {KJ_TK_BREAK, KJ_TK_CONTINUE, KJ_TK_RETURN, KJ_TK_WHILE, KJ_TK_LET,
                                KJ_TK_VAR,   KJ_TK_CONST,    KJ_TK_IF,     KJ_TK_ELSE,  KJ_TK_AND,
                                KJ_TK_OR,    KJ_TK_NOT,      KJ_TK_TRUE,   KJ_TK_FALSE};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (token == never[i])
            return;
    if (p->nmisnamed < (int)(sizeof p->misnamed / sizeof *p->misnamed))
        p->misnamed[p->nmisnamed++] = token;
}

/* Keywords that people take for names, as those of other languages do not mean anything there. */
static const struct {
    const char *word;
    int token;
} taken[] = {
    {"in", KJ_TK_IN},         {"as", KJ_TK_AS},         {"fn", KJ_TK_FN},
    {"run", KJ_TK_RUN},       {"kernel", KJ_TK_KERNEL}, {"param", KJ_TK_PARAM},
    {"launch", KJ_TK_LAUNCH}, {"with", KJ_TK_WITH},     {"requires", KJ_TK_REQUIRES},
};

static int keyword_taken(const char *word)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i].word, word) == 0)
            return taken[i].token;
    return 0;
}

kj_message *kj_misnamed(kj_parser *p, kj_span at, int token)
{
    const char *word = kj_mistake_source(p, at);
    take_for_name(p, token);
    kj_message *m =
        kj_error(p->diag, at, KJ_RULE_SYNTAX, "'%s' is a keyword and cannot be a name", word);
    if (keyword_taken(word) == token && p->prev != KJ_TK_DOT)
        kj_hint(p->diag, m, "write %s_, here and where it is used", word);
    return m;
}

/* The parameters from `at` on that are called so are names in the body, too. */
static void take_parameters(kj_parser *p, uint32_t at)
{
    const kj_source *s = p->source;
    for (int depth = 0; s->text[at] && !strchr("{}", s->text[at]) && depth >= 0; at++) {
        uint32_t end = kj_word_end(s, at), next = kj_skip_blanks(s, end);
        depth += (s->text[at] == '(') - (s->text[at] == ')');
        if (end == at)
            continue;
        int token = strchr(",)[:", s->text[next]) ? keyword_taken(kj_piece(p, at, end)) : 0;
        if (token)
            take_for_name(p, token);
        at = end - 1;
    }
}

void kj_write_parameter(kj_parser *p, kj_message *m, kj_span at, const char *name, const char *type)
{
    take_parameters(p, at.begin);
    if (keyword_taken(name))
        kj_hint(p->diag, m, "write %s_: %s, as '%s' is a keyword; and %s_ where it is used", name,
                type, name, name);
    else
        kj_write(p->diag, m, at, "%s: %s", name, type);
}

/* `in: f32[]`: a parameter or a field that is called like a keyword. */
static bool is_named_so(const kj_parser *p, int token, kj_span span, const char *next)
{
    const char *text = p->source->text + span.begin;
    bool keyword = token != KJ_TK_NAME && span.end > span.begin && text[0] >= 'a' &&
                   text[0] <= 'z' &&
                   kj_is_word(p->source->text[span.end - 1]); /* not the f of f": {x}" */
    bool field =
        p->nopen &&
        (p->token == KJ_TK_LBRACE || p->token == KJ_TK_NEWLINE || p->token == KJ_TK_SEMICOLON) &&
        token != KJ_TK_ELSE && token != KJ_TK_ELIF;
    return keyword && *next == ':' &&
           (field || p->token == KJ_TK_LPAREN || p->token == KJ_TK_COMMA);
}

/* x.var(), v.for: a name, and what it is of says that it has no such member. */
static bool is_member(const kj_parser *p, int token, kj_span span)
{
    static const int words[] = {KJ_TK_VAR,     KJ_TK_LET,      KJ_TK_FN,    KJ_TK_KERNEL,
                                KJ_TK_RUN,     KJ_TK_FOR,      KJ_TK_WHILE, KJ_TK_RETURN,
                                KJ_TK_BREAK,   KJ_TK_CONTINUE, KJ_TK_PARAM, KJ_TK_IN,
                                KJ_TK_REQUIRES};
    if (p->token != KJ_TK_DOT || p->span.end != span.begin)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token == words[i])
            return true;
    return false;
}

bool kj_is_misnamed(kj_parser *p, int token, kj_span span)
{
    const char *next = p->source->text + span.end;
    next += strspn(next, " \t");
    if (is_member(p, token, span))
        return true;
    bool misnamed = false;
    for (int i = 0; i < p->nmisnamed; i++)
        misnamed |= p->misnamed[i] == token;
    if (!misnamed && is_named_so(p, token, span, next)) {
        kj_misnamed(p, span, token);
        return true;
    }
    if (token == KJ_TK_IN)
        return misnamed && p->token != KJ_TK_NAME; /* not that of `for i in` */
    return misnamed && !(kj_layout_begins_statement(p) && (kj_is_word(*next) || *next == '{'));
}

/* ---- Calls ---- */

bool kj_follows_call(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (p->prev != KJ_TK_NAME ||
        (p->prev_span.begin != p->first_span.begin && p->before_prev != KJ_TK_ASSIGN))
        return false;
    const char *name = kj_mistake_source(x->p, p->prev_span);
    if (strcmp(name, "print") == 0 || strcmp(name, "assert") == 0)
        return true;
    bool operand = kj_met(x, "name") || kj_met(x, "string");
    return operand && kj_is_item_of(p->source, x->at.begin, "run") &&
           kj_run_builtin_named(name) >= 0 && !kj_foreign_word(name, NULL) && /* int x */
           !kj_mistake_is_declared(x, p->prev_span);
}

/* print x, assert c, "text": without parentheses. */
void kj_habit_call(kj_parser *p, kj_message *m, kj_span at)
{
    uint32_t end = kj_statement_end(p->source, at.begin, false);
    if (!m->hint)
        kj_hint(p->diag, m, "what a call is given stands in parentheses");
    kj_fix(p->diag, m, (kj_span){p->prev_span.end, end}, "(%s)", kj_piece(p, at.begin, end));
}
