/* The parser's ground: memory that is freed at once, and PTX's text as tokens. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_parse.h"

/* ---- Memory ---- */

enum { CHUNK = 1 << 16 };

struct ptx_chunk {
    struct ptx_chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

static void *some(void *memory)
{
    if (!memory) {
        fputs("driver double: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *ptx_new(ptx_arena *arena, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    struct ptx_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;
        chunk = some(calloc(1, sizeof *chunk + room));
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

char *ptx_keep(ptx_arena *arena, const char *text, size_t length)
{
    char *copy = ptx_new(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void ptx_free(ptx_arena *arena)
{
    while (arena->chunks) {
        struct ptx_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}

void *ptx_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? *room * 2 : 8;
    return some(realloc(array, *room * size));
}

/* ---- Tokens ---- */

static void skip_blanks(ptx_lexer *x)
{
    while (x->at < x->end) {
        if (*x->at == '\n') {
            x->line++;
            x->at++;
        } else if (isspace((unsigned char)*x->at)) {
            x->at++;
        } else if (x->at + 1 < x->end && x->at[0] == '/' && x->at[1] == '/') {
            while (x->at < x->end && *x->at != '\n')
                x->at++;
        } else if (x->at + 1 < x->end && x->at[0] == '/' && x->at[1] == '*') {
            x->at += 2;
            while (x->at + 1 < x->end && !(x->at[0] == '*' && x->at[1] == '/')) {
                if (*x->at == '\n')
                    x->line++;
                x->at++;
            }
            x->at = x->at + 2 < x->end ? x->at + 2 : x->end;
        } else {
            return;
        }
    }
}

static bool in_word(const ptx_lexer *x)
{
    char c = *x->at;
    if (isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%')
        return true;
    return false;
}

static void lex_word(ptx_lexer *x)
{
    x->token = PTX_WORD;
    while (x->at < x->end) {
        if (in_word(x))
            x->at++;
        else if (x->at + 2 < x->end && x->at[0] == ':' && x->at[1] == ':' &&
                 isalnum((unsigned char)x->at[2]))
            x->at += 2;
        else
            break;
    }
}

/* 12, 0x1f, 0b1, 017 with an optional U; 0f3F800000, 0d3FF0000000000000; 1.5, 1e-3 as doubles. */
static void lex_number(ptx_lexer *x)
{
    const char *s = x->at;
    char *end = NULL;
    x->token = PTX_INT;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D')) {
        x->float_bytes = (s[1] | 0x20) == 'f' ? 4 : 8;
        x->bits = strtoull(s + 2, &end, 16);
    } else if (s[0] == '0' && (s[1] == 'b' || s[1] == 'B')) {
        x->bits = strtoull(s + 2, &end, 2);
    } else {
        x->bits = strtoull(s, &end, 0);
        if (*end == '.' || (*end | 0x20) == 'e') {
            double value = strtod(s, &end);
            memcpy(&x->bits, &value, 8);
            x->float_bytes = 8;
        }
    }
    if (*end == 'U')
        end++;
    x->at = end;
}

void ptx_next(ptx_lexer *x)
{
    skip_blanks(x);
    x->text = x->at;
    x->float_bytes = 0;
    if (x->at >= x->end) {
        x->token = PTX_END;
    } else if (*x->at == '"') {
        x->token = PTX_STRING;
        x->text = ++x->at;
        while (x->at < x->end && *x->at != '"' && *x->at != '\n')
            x->at++;
        x->length = (size_t)(x->at - x->text);
        x->at += x->at < x->end;
        return;
    } else if (isdigit((unsigned char)*x->at)) {
        lex_number(x);
    } else if (in_word(x)) {
        lex_word(x);
    } else {
        x->token = PTX_PUNCT;
        x->at++;
    }
    x->length = (size_t)(x->at - x->text);
}

void ptx_skip_line(ptx_lexer *x)
{
    while (x->at < x->end && *x->at != '\n')
        x->at++;
    ptx_next(x);
}

bool ptx_is(const ptx_lexer *x, const char *text)
{
    return x->token != PTX_STRING && x->token != PTX_END && strlen(text) == x->length &&
           memcmp(x->text, text, x->length) == 0;
}
