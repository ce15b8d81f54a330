/* Looking at the text around a syntax error, which is another language's. Sources end with a NUL, and have none before. */
#ifndef KJ_HABIT_H
#define KJ_HABIT_H

#include <string.h>

#include "parse/parse.h"

static inline bool kj_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline uint32_t kj_skip_blanks(const kj_source *s, uint32_t at)
{
    while (kj_is_blank(s->text[at]))
        at++;
    return at;
}

static inline uint32_t kj_word_end(const kj_source *s, uint32_t at)
{
    while (kj_is_word(s->text[at]))
        at++;
    return at;
}

static inline const char *kj_piece(kj_parser *p, uint32_t begin, uint32_t end)
{
    return kj_arena_printf(p->arena, "%.*s", (int)(end - begin), p->source->text + begin);
}

static inline bool kj_is_word_at(const kj_source *s, uint32_t at, const char *word)
{
    size_t len = strlen(word);
    return strncmp(s->text + at, word, len) == 0 && !kj_is_word(s->text[at + len]);
}

static inline uint32_t kj_line_start(const kj_source *s, uint32_t at)
{
    while (at > 0 && s->text[at - 1] != '\n')
        at--;
    return at;
}

static inline uint32_t kj_line_end(const kj_source *s, uint32_t at)
{
    while (s->text[at] && s->text[at] != '\n')
        at++;
    return at;
}

/* Behind a ; that would part a block that ends at `end` from its else, which begins the next line (habit_stmt.c). */
uint32_t kj_before_else(const kj_source *s, uint32_t end);
/* (float*)x, in front of its closing parenthesis (c_value.c). */
bool kj_hint_pointer_cast(kj_parser *p, kj_message *m);

/* Does the item in which `at` stands begin with that word? A test is a run block. */
static inline bool kj_is_item_of(const kj_source *s, uint32_t at, const char *word)
{
    while (at > 0 && !(s->text[at - 1] == '\n' && kj_is_word(s->text[at])))
        at--;
    return kj_is_word_at(s, at, word) ||
           (*word == 'r' && word[1] == 'u' && kj_is_word_at(s, at, "test"));
}

/* Where a line's code ends: before its comment, the ; and blanks. */
static inline uint32_t kj_code_end(const kj_source *s, uint32_t at)
{
    uint32_t end = at;
    bool quoted = false;
    for (; s->text[end] && s->text[end] != '\n' && (quoted || s->text[end] != '#'); end++)
        quoted ^= s->text[end] == '"';
    while (end > at && (strchr(" \t\r;", s->text[end - 1])))
        end--;
    return end;
}

/* Does the text use the name that the target begins with, but for the target itself? Then it matters when it changes. */
bool kj_is_used_beside(const kj_source *s, kj_span text, kj_span target);

/* habit_expr.c: where what ends at `end` begins: x[i], f(x).y. */
uint32_t kj_operand_start(const kj_source *s, uint32_t end);

/* The bracket that closes the one at `open`, on its line; 0: none does. */
static inline uint32_t kj_closing(const kj_source *s, uint32_t open)
{
    int depth = 0;
    for (uint32_t at = open; s->text[at] && s->text[at] != '\n'; at++) {
        depth += strchr("([{", s->text[at]) != NULL;
        depth -= strchr(")]}", s->text[at]) != NULL;
        if (depth == 0)
            return at;
    }
    return 0;
}

/* Where what stands at `at` ends if it is a comment or a text; else `at`. */
static inline uint32_t kj_behind_text(const kj_source *s, uint32_t at)
{
    if (s->text[at] == '#')
        return kj_line_end(s, at);
    if (s->text[at] != '"')
        return at;
    for (at++; s->text[at] && s->text[at] != '"' && s->text[at] != '\n'; at++)
        at += s->text[at] == '\\' && s->text[at + 1];
    return at + (s->text[at] == '"');
}

/* Where the statement ends that goes on at `at`: before its comment, a ; or the } of a block around it, and blanks; or
 * all of that block's on the line. */
static inline uint32_t kj_statement_end(const kj_source *s, uint32_t at, bool all)
{
    uint32_t end = at;
    for (int depth = 0; s->text[end] && !strchr("\n#", s->text[end]);) {
        uint32_t next = kj_behind_text(s, end);
        char c = s->text[end];
        if (next == end && depth == 0 && (c == '}' || (c == ';' && !all)))
            break;
        if (next == end)
            depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
        end = next > end ? next : end + 1;
    }
    while (end > at && strchr(" \t\r;", s->text[end - 1]))
        end--;
    return end;
}

/* Behind the line's start, a brace or a ; */
static inline uint32_t kj_statement_start(const kj_source *s, uint32_t at)
{
    while (at > 0 && !strchr("\n{};", s->text[at - 1]))
        at--;
    return at;
}

/* Stands the name before `end` in the item there, in a block that is open still? There it may be declared. */
bool kj_habit_is_known(const kj_parser *p, const char *name, uint32_t end);
/* Of C's declarations: `const unsigned int`, up to the name. */
typedef struct kj_c_type {
    const char *name; /* here; NULL: `auto`, or none */
    bool is_const, is_shared, is_auto;
    int pointers;
    uint32_t end;
} kj_c_type;
kj_c_type kj_habit_read_type(kj_parser *p, uint32_t at);
/* Where C's type that begins at `at` ends; `at`: none does. */
uint32_t kj_habit_type_end(kj_parser *p, uint32_t at);
/* The type here of C's that begins at `at` and ends before `end`, blanks left out; NULL: there is none, or a pointer. */
const char *kj_habit_cast_type(kj_parser *p, uint32_t at, uint32_t *end);

/* What a value of C is, as far as the text tells (c_value.c). An index of threads is never below 0, and so unsigned. */
typedef enum kj_c_class { KJ_C_UNKNOWN, KJ_C_FLOAT, KJ_C_SIGNED, KJ_C_UNSIGNED } kj_c_class;
/* Of a name that is declared above `before`; is it an array of such values? */
kj_c_class kj_habit_class_of(kj_parser *p, const char *name, uint32_t before, bool *array);

typedef struct kj_c_value {
    const char *text; /* here: // for / of integers, numbers without suffixes */
    kj_c_class class;
    bool cuts;    /* a // stands there for a quotient that may be below 0, and C cuts */
    bool changed; /* it is not what was written */
} kj_c_value;
kj_c_value kj_habit_c_value(kj_parser *p, uint32_t begin, uint32_t end);
/* A variable of C with its value, from `from` to `stop` (c_declaration.c). An integer's type is left out where the value is
 * an index of threads, which is wider; one that is narrower, or wraps otherwise, stays. */
typedef struct kj_c_variable {
    const char *declared;    /* "var q: f32", of the text "var q" */
    const char *given;       /* "f32(n // 2)" */
    const char *short_given; /* "f32(...)" */
    kj_c_value value;
    bool changed; /* it is given something else than what was written */
} kj_c_variable;
kj_c_variable kj_habit_c_variable(kj_parser *p, const char *text, const char *type, uint32_t from,
                                  uint32_t stop);
/* literal.c: the text, its numbers as they are written here: 0.0f, 3u. */
const char *kj_without_suffixes(kj_parser *p, const char *text);

#endif
