/* A statement that goes on over a line end, as it does nowhere but in brackets: told at the end of its first line, and
 * read on, so that the rest of it is no error of its own. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"

/* Does an operator end the line, and the next one go on with its operand? What assigns, or begins with a keyword, is a
 * statement of its own. */
static bool goes_on(const kj_parser *p, const char *next)
{
    enum { MOST_SEEN = 1000 }; /* bytes of a line */
    static const int operators[] = {KJ_TK_PLUS, KJ_TK_MINUS, KJ_TK_STAR, KJ_TK_SLASH, KJ_TK_AND,
                                    KJ_TK_OR,   KJ_TK_EQ,    KJ_TK_LT,   KJ_TK_LE,    KJ_TK_GT,
                                    KJ_TK_GE,   KJ_TK_NE,    KJ_TK_AMP,  KJ_TK_PIPE};
    static const char *const words[] = {"if",  "elif",   "else",   "while", "for",
                                        "let", "var",    "return", "break", "continue",
                                        "fn",  "kernel", "run",    "const", "param"};
    bool found = false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        found |= p->token == operators[i];
    bool step = p->token == p->prev && p->prev_span.end == p->span.begin; /* i++ */
    if (!found || step || p->stray || p->unclosed.kind ||
        !(kj_is_word(*next) || strchr("(-~", *next)) || !*next)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kj_is_word_at(p->source, p->offset, words[i]))
            return false;
    for (size_t n = 0; n < MOST_SEEN && next[n] && !strchr("\n#\"{", next[n]); n++) {
        if (next[n] == '=' && next[n + 1] != '=' && (n == 0 || !strchr("=<>!", next[n - 1])))
            return false;
        n += next[n] == '=' && next[n + 1] == '=';
    }
    return true;
}

bool kj_line_goes_on(kj_parser *p)
{
    if (!goes_on(p, p->source->text + p->offset))
        return false;
    kj_message *m = kj_error(p->diag, (kj_span){p->span.end, p->span.end}, KJ_RULE_SYNTAX,
                             "expected an expression before the end of the line");
    kj_hint(p->diag, m, GOES_ON);
    return true;
}
