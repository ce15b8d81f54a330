/* Pointers and references of C, and what stands for them here: a hint and a fix out. */
#include "parse/habit.h"

void kj_hint_reference(kj_parser *p, kj_message *m, const kj_expr *e)
{
    const kj_expr *type =
        e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_AND ? e->u.binary.lhs : NULL;
    if (type && type->kind == KJ_E_NAME && kj_foreign_word(type->u.name, NULL)) /* auto& v = x[0] */
        kj_hint(p->diag, m,
                "there are no references: what is meant is assigned itself, x[0] = ...");
}

/* *(x + i) = 1 */
static bool dereferenced_sum(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t close = s->text[at.end] == '(' ? kj_closing(s, at.end) : 0;
    uint32_t name = kj_skip_blanks(s, at.end + 1), end = kj_word_end(s, name);
    uint32_t plus = kj_skip_blanks(s, end), index = kj_skip_blanks(s, plus + 1);
    if (!close || end == name || kj_is_digit(s->text[name]) || s->text[plus] != '+' ||
        index >= close)
        return false;
    kj_hint(p->diag, m, "there are no pointers: an element is %s[...]", kj_piece(p, name, end));
    kj_fix(p->diag, m, (kj_span){at.begin, close + 1}, "%s[%s]", kj_piece(p, name, end),
           kj_piece(p, index, close));
    return true;
}

/* *x = 1 */
bool kj_habit_dereference(kj_parser *p, kj_message *m, kj_span at)
{
    uint32_t end = kj_word_end(p->source, at.end);
    if (end == at.end)
        return dereferenced_sum(p, m, at);
    kj_hint(p->diag, m, "there are no pointers: the first element is %s[0]",
            kj_piece(p, at.end, end));
    kj_fix(p->diag, m, (kj_span){at.begin, end}, "%s[0]", kj_piece(p, at.end, end));
    return true;
}
