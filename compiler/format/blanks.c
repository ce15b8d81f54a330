/* Blanks between the words of a line: one between any two, none inside of brackets and before commas. What a word is
 * (a sign or a difference, of a slice or a type, of an argument's name or an assignment) is told by those around it. */
#include "format/format.h"
#include "knl.tab.h"

typedef struct bracket {
    int kind, word;
    bool typed;    /* a : was read in this element */
    bool complex;  /* this element is more than names and numbers */
    bool attr;     /* @name(...) */
    int colons[2]; /* of this element, which is a slice */
    int ncolons;
    int begin; /* this element's first word */
} bracket;

/* Of each word, beside its place among the words. */
typedef struct manner {
    bool joined, tight; /* no blank before it, behind it */
    bool rows;  /* a [ in which, or around which, lines end: blanks that align columns stay */
    int within; /* the [ that is the innermost bracket around it; -1: none is */
} manner;

typedef struct spacing {
    const kj_word *all;
    manner *manners;
    bracket *open;
    int nopen;
    int begin; /* the statement's first word */
} spacing;

static bool is_among(int kind, const int *kinds)
{
    while (*kinds && *kinds != kind)
        kinds++;
    return *kinds != 0;
}

static bool ends_operand(int kind)
{
    static const int kinds[] = {KJ_TK_NAME,
                                KJ_TK_INT,
                                KJ_TK_FLOAT,
                                KJ_TK_IMAGINARY,
                                KJ_TK_STRING,
                                KJ_TK_FORMAT,
                                KJ_TK_TRUE,
                                KJ_TK_FALSE,
                                KJ_TK_RPAREN,
                                KJ_TK_RBRACKET,
                                0};
    return is_among(kind, kinds);
}

static bool is_simple(int kind)
{
    static const int kinds[] = {KJ_TK_NAME, KJ_TK_INT, KJ_TK_DOT, KJ_TK_COLON, KJ_TK_COMMA, 0};
    return is_among(kind, kinds);
}

static int kind_of(const spacing *s, int i)
{
    return i < 0 ? 0 : s->all[i].kind;
}

static bracket *innermost(spacing *s)
{
    return s->nopen > 0 ? &s->open[s->nopen - 1] : NULL;
}

static bool is_within(spacing *s, int kind)
{
    return s->nopen > 0 && innermost(s)->kind == kind;
}

/* ---- Slices: a[1:n], a[k + 1:], a[top : top + size] ---- */

static void space_slice(spacing *s, const bracket *b)
{
    for (int k = 0; k < b->ncolons; k++) {
        int at = b->colons[k], next = kind_of(s, at + 1), before = kind_of(s, at - 1);
        bool begins = at == b->begin || before == KJ_TK_COLON;
        bool ends = next == KJ_TK_COLON || next == KJ_TK_COMMA || next == KJ_TK_RBRACKET;
        bool apart = b->complex && !begins && !ends; /* an operator of two operands */
        s->manners[at].joined = at > b->begin && !apart;
        s->manners[at].tight = !apart;
    }
}

static void end_element(spacing *s, int next)
{
    bracket *b = innermost(s);
    if (!b)
        return;
    space_slice(s, b);
    *b = (bracket){.kind = b->kind, .word = b->word, .attr = b->attr, .begin = next};
}

/* ---- Brackets ---- */

static void open_bracket(spacing *s, int i)
{
    bool attr =
        kind_of(s, i - 1) == KJ_TK_NAME && i - 2 == s->begin && kind_of(s, i - 2) == KJ_TK_AT;
    s->open[s->nopen++] =
        (bracket){.kind = s->all[i].kind, .word = i, .begin = i + 1, .attr = attr};
    s->manners[i].tight = s->all[i].kind != KJ_TK_LBRACE;
}

static void close_bracket(spacing *s, int i)
{
    if (s->nopen == 0)
        return;
    end_element(s, i);
    if (innermost(s)->attr)
        s->begin = i + 1;
    s->nopen--;
}

/* ---- One word ---- */

/* Is it an operator of one operand? */
static bool is_sign(const spacing *s, int i)
{
    int kind = s->all[i].kind;
    return kind == KJ_TK_TILDE || ((kind == KJ_TK_MINUS || kind == KJ_TK_PLUS) &&
                                   (i == s->begin || !ends_operand(kind_of(s, i - 1))));
}

static void space_colon(spacing *s, int i)
{
    bracket *b = innermost(s);
    if (b && b->kind == KJ_TK_LBRACKET) {
        if (b->ncolons < 2)
            b->colons[b->ncolons++] = i;
        return;
    }
    s->manners[i].joined = true;
    if (b)
        b->typed = true;
}

/* <T: number> behind a function's name. */
static bool opens_generics(const spacing *s, int i)
{
    int before = kind_of(s, i - 2);
    return before == KJ_TK_FN || before == KJ_TK_KERNEL;
}

static void space_word(spacing *s, int i)
{
    manner *m = &s->manners[i];
    switch (s->all[i].kind) {
    case KJ_TK_LPAREN:
    case KJ_TK_LBRACKET:
        m->joined = ends_operand(kind_of(s, i - 1)) && i != s->begin;
        open_bracket(s, i);
        break;
    case KJ_TK_LBRACE: open_bracket(s, i); break;
    case KJ_TK_RBRACE:
        m->joined = kind_of(s, i - 1) == KJ_TK_LBRACE;
        close_bracket(s, i);
        break;
    case KJ_TK_RPAREN:
    case KJ_TK_RBRACKET:
        m->joined = true;
        close_bracket(s, i);
        break;
    case KJ_TK_LT:
        m->joined = opens_generics(s, i);
        if (m->joined)
            open_bracket(s, i);
        break;
    case KJ_TK_GT:
        m->joined = m->tight = is_within(s, KJ_TK_LT);
        if (m->joined)
            close_bracket(s, i);
        break;
    case KJ_TK_COMMA:
        m->joined = true;
        end_element(s, i + 1);
        break;
    case KJ_TK_SEMICOLON: m->joined = true; break;
    case KJ_TK_DOT: m->joined = m->tight = true; break;
    case KJ_TK_COLON: space_colon(s, i); break;
    case KJ_TK_ASSIGN:
        m->joined = m->tight = is_within(s, KJ_TK_LPAREN) && !innermost(s)->typed;
        break;
    case KJ_TK_AT: m->tight = i == s->begin; break;
    default: m->tight = is_sign(s, i);
    }
}

/* What the word is to the bracket that it stands in. */
static void place_word(spacing *s, int i)
{
    const kj_word *w = &s->all[i];
    bracket *b = innermost(s);
    bool in_list = b && b->kind == KJ_TK_LBRACKET;
    s->manners[i].within = in_list ? b->word : -1;
    if (in_list)
        s->manners[b->word].rows |= w->breaks;
    if (in_list && w->kind != KJ_TK_RBRACKET)
        b->complex |= !is_simple(w->kind) && !is_sign(s, i);
    int before = kind_of(s, i - 1);
    bool in_block = !b || b->kind == KJ_TK_LBRACE;
    if (in_block &&
        (w->breaks || before == KJ_TK_SEMICOLON || before == KJ_TK_LBRACE ||
         (i - 2 == s->begin && kind_of(s, i - 2) == KJ_TK_AT && w->kind != KJ_TK_LPAREN)))
        s->begin = i;
}

/* ---- All ---- */

static int blanks_before(const spacing *s, int i)
{
    const kj_word *w = &s->all[i];
    const manner *m = &s->manners[i];
    if (i == 0 || w->breaks)
        return 0;
    bool signs = w->kind == w[-1].kind && (w->kind == KJ_TK_MINUS || w->kind == KJ_TK_PLUS);
    int least = !signs && (m[-1].tight || m->joined) ? 0 : 1,
        given = (int)(w->span.begin - w[-1].span.end);
    bool aligned = w[-1].kind == KJ_TK_COMMA || w[-1].kind == KJ_TK_LBRACKET;
    bool row = m->within >= 0 && s->manners[m->within].rows && aligned && w->kind != KJ_TK_RBRACKET;
    return row && given > least ? given : least;
}

void kj_words_space(kj_arena *arena, kj_words *words)
{
    spacing s = {.all = words->all};
    s.manners = KJ_NEW_ARRAY(arena, manner, (size_t)words->n);
    s.open = KJ_NEW_ARRAY(arena, bracket, (size_t)words->n);
    for (int i = 0; i < words->n; i++) {
        place_word(&s, i);
        space_word(&s, i);
    }
    for (int i = 0; i < words->n; i++) {
        manner *m = &s.manners[i];
        m->rows |= m->within >= 0 && s.manners[m->within].rows;
        words->all[i].blanks = blanks_before(&s, i);
    }
}
