/* Macros of Julia within a body, @show x: the text behind an @ in; how much of it is read, and as what. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"

#define TEXTS "print takes texts and values: print(\"x is\", x)"

typedef enum reading {
    AS_PRINT,   /* print, and what stands in its parentheses */
    AS_NOTHING, /* what it stands in front of stays */
    SHOWN,      /* @show x */
    ASSERTED,   /* @assert c "text" */
    LAUNCHED,   /* @cuda threads=256 blocks=4 k(x) */
    AWAITED,    /* @synchronize */
    PLACED,     /* @index(Global) */
} reading;

static const struct macro {
    const char *name;
    reading as;
    const char *hint;
} macros[] = {
    {"printf", AS_PRINT, TEXTS},
    {"println", AS_PRINT, TEXTS},
    {"print", AS_PRINT, TEXTS},
    {"cuprintf", AS_PRINT, TEXTS},
    {"cuprintln", AS_PRINT, TEXTS},
    {"cuprint", AS_PRINT, TEXTS},
    {"view", AS_NOTHING, "leave it out: a slice is a view"},
    {"views", AS_NOTHING, "leave it out: slices are views"},
    {"fastmath", AS_NOTHING, "leave it out, or write it in front of 'kernel'"},
    {"inbounds", AS_NOTHING, "leave it out: indices that are known to be inside are not looked at"},
    {"show", SHOWN, NULL},
    {"assert", ASSERTED, NULL},
    {"cuda", LAUNCHED, "a launch is written k[blocks, threads](x)"},
    {"roc", LAUNCHED, "a launch is written k[blocks, threads](x)"},
    {"metal", LAUNCHED, "a launch is written k[blocks, threads](x)"},
    {"synchronize", AWAITED, NULL},
    {"index", PLACED, NULL},
};

/* Can an operand stand in front of an @ that is an operator there? */
static bool behind_operand(const kj_parser *p)
{
    return p->token == KJ_TK_NAME || p->token == KJ_TK_RPAREN || p->token == KJ_TK_RBRACKET ||
           p->token == KJ_TK_INT || p->token == KJ_TK_FLOAT;
}

/* The last text of the statement, as that of @assert c "text"; `end`: there is none. */
static uint32_t last_text(const kj_source *s, uint32_t at, uint32_t end)
{
    uint32_t begin = end;
    while (at < end) {
        uint32_t next = kj_behind_text(s, at);
        begin = next > at && s->text[at] == '"' ? at : begin;
        at = next > at ? next : at + 1;
    }
    return begin;
}

static void write_assert(kj_parser *p, kj_message *m, kj_span whole, uint32_t given)
{
    const kj_source *s = p->source;
    uint32_t text = last_text(s, given, whole.end), end = text;
    while (end > given && strchr(" ,", s->text[end - 1]))
        end--;
    kj_write(p->diag, m, whole, "assert(%s%s%s)", kj_piece(p, given, end),
             text < whole.end ? ", " : "", kj_piece(p, text, whole.end));
}

/* The value of threads=256 in the text; NULL: none, or one that is no word. */
static const char *keyword(kj_parser *p, kj_span in, const char *name)
{
    const char *text = kj_piece(p, in.begin, in.end), *at = strstr(text, name);
    if (!at)
        return NULL;
    at += strlen(name);
    size_t n = 0;
    while (kj_is_word(at[n]))
        n++;
    return n > 0 && strchr(" (", at[n]) ? kj_arena_printf(p->arena, "%.*s", (int)n, at) : NULL;
}

/* @cuda threads=256 blocks=4 k(x); a grid or block that is left out has 1. */
static void write_launch(kj_parser *p, kj_message *m, kj_span whole, uint32_t given)
{
    const kj_source *s = p->source;
    uint32_t call = whole.end, open = given;
    while (open < whole.end && s->text[open] != '(')
        open++;
    for (call = open; call > given && kj_is_word(s->text[call - 1]);)
        call--;
    const char *threads = keyword(p, (kj_span){given, call + 1}, "threads=");
    const char *blocks = keyword(p, (kj_span){given, call + 1}, "blocks=");
    bool known = s->text[open] == '(' && call < open && kj_closing(s, open) == whole.end - 1;
    int keywords = 0;
    for (uint32_t at = given; at < call; at++)
        keywords += s->text[at] == '=';
    if (known && keywords == (threads != NULL) + (blocks != NULL))
        kj_write(p->diag, m, whole, "%s[%s, %s]%s", kj_piece(p, call, open), blocks ? blocks : "1",
                 threads ? threads : "1", kj_piece(p, open, whole.end));
}

/* @index(Global, NTuple); false: it is something else. */
static bool write_place(kj_parser *p, kj_message *m, uint32_t begin, uint32_t open, uint32_t *end)
{
    static const char *const places[][2] = {
        {"Global", "grid(1)"},
        {"Global, Linear", "grid(1)"},
        {"Global, NTuple", "grid(2)"},
        {"Local", "threadIdx.x"},
        {"Local, Linear", "threadIdx.x"},
        {"Group", "blockIdx.x"},
        {"Group, Linear", "blockIdx.x"},
    };
    uint32_t close = p->source->text[open] == '(' ? kj_closing(p->source, open) : 0;
    const char *of = close ? kj_piece(p, open + 1, close) : "";
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(of, places[i][0]) == 0) {
            *end = close + 1;
            kj_write(p->diag, m, (kj_span){begin, *end}, "%s", places[i][1]);
            return true;
        }
    return false;
}

static int refuse(kj_parser *p, const struct macro *of, uint32_t at, uint32_t word, uint32_t *end)
{
    const kj_source *s = p->source;
    uint32_t given = kj_skip_blanks(s, word);
    kj_span whole = {at, kj_statement_end(s, at, false)};
    kj_message *m = kj_error(p->diag, (kj_span){at, word}, KJ_RULE_SPELLING, "there are no macros");
    if (of->hint)
        kj_hint(p->diag, m, "%s", of->hint);
    *end = whole.end;
    switch (of->as) {
    case AS_PRINT: *end = word; return s->text[word] == '(' ? KJ_TK_NAME : 0;
    case AS_NOTHING:
        *end = given;
        kj_fix(p->diag, m, (kj_span){at, given}, "%s", "");
        return 0;
    case SHOWN:
        if (memchr(s->text + given, '"', whole.end - given))
            kj_hint(p->diag, m, "print takes texts and values: print(\"x =\", x)");
        else
            kj_write(p->diag, m, whole, "print(\"%s =\", %s)", kj_piece(p, given, whole.end),
                     kj_piece(p, given, whole.end));
        return 0;
    case ASSERTED:
        if (s->text[word] == '(') {
            *end = word;
            kj_write(p->diag, m, (kj_span){at, word}, "assert");
            return KJ_TK_NAME;
        }
        write_assert(p, m, whole, given);
        return 0;
    case LAUNCHED: write_launch(p, m, whole, given); return 0;
    case AWAITED: kj_write(p->diag, m, whole, "syncthreads()"); return 0;
    default: return write_place(p, m, at, word, end) ? KJ_TK_INT : 0;
    }
}

int kj_stray_at(kj_parser *p, uint32_t at, uint32_t *end)
{
    const kj_source *s = p->source;
    uint32_t word = kj_word_end(s, at + 1);
    bool begins = kj_layout_begins_statement(p);
    *end = at + 1;
    if (p->nbraces == 0 || p->nformats || behind_operand(p))
        return KJ_TK_AT;
    if (s->text[at + 1] == '.' && kj_is_blank(s->text[at + 2])) {
        *end = kj_skip_blanks(s, at + 2);
        kj_message *m =
            kj_error(p->diag, (kj_span){at, at + 2}, KJ_RULE_SPELLING, "there are no macros");
        kj_hint(p->diag, m, "leave it out: operators go over all elements of arrays");
        kj_fix(p->diag, m, (kj_span){at, *end}, "%s", "");
        return 0;
    }
    const char *name = kj_piece(p, at + 1, word);
    bool loop = kj_is_word_at(s, kj_skip_blanks(s, word), "for"); /* whose attribute it may be */
    for (size_t i = 0; i < sizeof macros / sizeof *macros && !loop; i++) {
        reading as = macros[i].as;
        bool statement = as != AS_NOTHING && as != PLACED;
        if (strcmp(macros[i].name, name) != 0 || (statement && !begins))
            continue;
        if (as == AS_NOTHING && begins && !kj_is_word(s->text[kj_skip_blanks(s, word)]))
            continue;
        return refuse(p, &macros[i], at, word, end);
    }
    return KJ_TK_AT;
}
