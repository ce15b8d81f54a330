/* For tests of the front end: a source text and what the parser makes of it. */
#ifndef KJ_TEST_PARSED_H
#define KJ_TEST_PARSED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "parse/ast.h"

/* LLVM's name of the CPU that can least, of those that this is one of. */
#if defined(__x86_64__)
#define OLDEST "x86-64"
#else
#define OLDEST "generic"
#endif

typedef struct parsed {
    jmp_buf fail;
    kj_arena arena;
    kj_source source;
    kj_diag diag;
    kj_file *file;
} parsed;

/* An empty compilation of the text, for tests that report by themselves. */
static inline void open_text(parsed *p, const char *text, size_t size)
{
    kj_arena_init(&p->arena, &p->fail);
    p->source = (kj_source){.name = "t.knl", .text = text, .size = size};
    kj_diag_init(&p->diag, &p->arena, &p->source);
}

static inline void close_text(parsed *p)
{
    kj_arena_free(&p->arena);
}

/* Parses; `text` is NUL-terminated behind its `size` bytes, as kj_source wants. */
static inline void parse_bytes(parsed *p, const char *text, size_t size)
{
    open_text(p, text, size);
    if (setjmp(p->fail))
        fail_msg("out of memory");
    p->file = kj_parse(&p->arena, &p->diag, 0, KJ_TREE_MAX);
}

static inline void parse_text(parsed *p, const char *text)
{
    parse_bytes(p, text, strlen(text));
}

#endif
