/* The values of f-strings: each is a text of its own between { and }, whose brackets do not reach beyond it. */
#include "knl.tab.h"
#include "parse/habit.h"

bool kj_layout_open_format(kj_parser *p, kj_span span)
{
    if (p->nformats == (int)(sizeof p->formats / sizeof *p->formats)) {
        kj_error(p->diag, span, KJ_RULE_TOO_DEEP, "this f-string is within too many others");
        p->stray = true;
        return false;
    }
    p->formats[p->nformats++] = (kj_format){span, p->nopen};
    return true;
}

bool kj_layout_in_format(const kj_parser *p)
{
    return p->nformats > 0 && p->nopen == p->formats[p->nformats - 1].nopen;
}

bool kj_layout_leaves_value(const kj_parser *p, char kind)
{
    if (!p->nformats)
        return false;
    for (int i = p->nopen; i > p->formats[p->nformats - 1].nopen; i--)
        if (p->open[i - 1].kind == (kind == ')' ? '(' : '['))
            return false;
    return true;
}

void kj_layout_value_error(kj_parser *p, kj_span span)
{
    const kj_format *f = &p->formats[p->nformats - 1];
    const kj_bracket *b = p->nopen > f->nopen ? &p->open[p->nopen - 1] : NULL;
    char closer = !b ? '}' : b->kind == '(' ? ')' : ']';
    kj_message *m = kj_error(p->diag, span, KJ_RULE_SYNTAX, "missing '%c' before '%c'", closer,
                             p->source->text[span.begin]);
    if (b)
        kj_note(p->diag, m, b->span, "to close the '%c' opened here", b->kind);
    else
        kj_note(p->diag, m, f->span, "to close a '{' of this f-string");
    kj_fix(p->diag, m, (kj_span){span.begin, span.begin}, "%c", closer);
}

void kj_layout_close_value(kj_parser *p, kj_span span)
{
    int nopen = p->formats[p->nformats - 1].nopen;
    if (p->nopen <= nopen)
        return;
    const kj_bracket *b = &p->open[p->nopen - 1];
    if (!p->stray) {
        kj_message *m = kj_error(p->diag, span, KJ_RULE_SYNTAX, "missing '%c' before '}'",
                                 b->kind == '(' ? ')' : ']');
        kj_note(p->diag, m, b->span, "to close the '%c' opened here", b->kind);
    }
    p->stray = true;
    p->nopen = nopen; /* no { is open in it */
}
