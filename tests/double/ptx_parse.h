/* What the pieces of the parser share. A mistake is noted with its line and the parser goes on at
 * the next statement, so that a log tells of several. */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "ptx_impl.h"

/* ---- Tokens (ptx_text.c) ---- */

typedef enum ptx_token {
    PTX_END,
    PTX_WORD,   /* names, opcodes and directives whole, with their dots; registers with their % */
    PTX_INT,    /* a number and 0f, 0d floats have bits; is_float says which */
    PTX_STRING, /* without its quotes */
    PTX_PUNCT,  /* one character */
} ptx_token;

typedef struct ptx_lexer {
    const char *at, *end;
    int line;
    /* the token in hand */
    ptx_token token;
    const char *text;
    size_t length;
    uint64_t bits;
    uint8_t float_bytes; /* 4, 8: of a float; 0 */
} ptx_lexer;

void ptx_next(ptx_lexer *lexer);
/* Passes over the rest of the line that the token in hand is on. */
void ptx_skip_line(ptx_lexer *lexer);
bool ptx_is(const ptx_lexer *lexer, const char *text);

/* ---- The parser ---- */

typedef struct ptx_scope {
    struct ptx_scope *outer;
} ptx_scope;

/* A branch to a label that is looked up at the function's end. */
typedef struct ptx_fixup {
    struct ptx_fixup *next;
    const char *name;
    ptx_scope *scope;
    int inst, line;
} ptx_fixup;

enum { PTX_BUCKETS = 4096, PTX_NAME = 4096 /* bytes of a name */ };

typedef struct ptx_parser {
    ptx_lexer lexer;
    ptx_module *module;
    const ptx_limits *limits;
    ptx_arena names; /* what only the parser needs */
    ptx_symbol *buckets[PTX_BUCKETS];
    ptx_scope *scope;
    ptx_function *function; /* whose body this is, or NULL */
    ptx_fixup *fixups;
    ptx_targets *targets; /* of the function, to be looked up */
    uint32_t scratch;     /* the column for results nobody wants */
    /* Of the function: by what its registers are written, and the stores of parts of them. */
    uint8_t *written;
    size_t written_size, written_room;
    struct ptx_narrow *narrow;
    int loc_file, loc_line;
    int code, errors;
    char *log;
    size_t log_size, log_used;
} ptx_parser;

void ptx_error(ptx_parser *p, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ptx_fail(ptx_parser *p, int code, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Past the end of a statement; stops before a brace. */
void ptx_recover(ptx_parser *p);
bool ptx_accept(ptx_parser *p, const char *text);
bool ptx_expect(ptx_parser *p, const char *text);
/* The word in hand, kept, and the lexer past it; NULL with an error when it is none. */
const char *ptx_take_word(ptx_parser *p, const char *what);
bool ptx_take_int(ptx_parser *p, int64_t *value);

/* Names: of the innermost scope that has them. */
ptx_symbol *ptx_find_symbol(ptx_parser *p, ptx_scope *scope, const char *name);
ptx_symbol *ptx_declare(ptx_parser *p, const char *name, ptx_symbol_kind kind);
void ptx_open_scope(ptx_parser *p);
void ptx_close_scope(ptx_parser *p);

/* .b32 and its like at the token in hand: the type, and past it. */
bool ptx_take_type(ptx_parser *p, ptx_type *type);

/* ptx_parse_var.c: from after the state space to after the `;` or, of a parameter, the name. */
ptx_var *ptx_parse_variable(ptx_parser *p, ptx_space space, bool parameter);
void ptx_parse_registers(ptx_parser *p);

/* ptx_parse_inst.c: a statement that begins with @ or an opcode. */
void ptx_parse_instruction(ptx_parser *p);
ptx_inst *ptx_new_inst(ptx_parser *p);
/* The frame's offset of a new column. */
uint32_t ptx_new_column(ptx_function *function, unsigned bytes);
uint32_t ptx_constant_column(ptx_parser *p, unsigned bytes, uint64_t value,
                             const ptx_symbol *symbol);

/* ptx_operand.c */
bool ptx_parse_operands(ptx_parser *p, const ptx_op *op, ptx_inst *inst, const char *opcode);
bool ptx_parse_predicate(ptx_parser *p, uint32_t *at, bool *negated);
/* The column of the register in hand, which has that many bytes. */
bool ptx_parse_register(ptx_parser *p, unsigned bytes, uint32_t *at);

/* ptx_narrow.c: of the function's registers, by their columns. */
void ptx_note_written(ptx_parser *p, uint32_t at, bool by_floats);
void ptx_note_narrow(ptx_parser *p, uint32_t at, int line);
void ptx_check_narrow(ptx_parser *p); /* at the function's end */

/* ptx_call.c */
bool ptx_parse_call(ptx_parser *p, ptx_inst *inst);

/* ptx_parse.c */
bool ptx_parse_module(ptx_parser *p);
#endif
