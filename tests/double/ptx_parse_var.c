/* Declarations: registers, and variables with their initial values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_parse.h"

uint32_t ptx_new_column(ptx_function *f, unsigned bytes)
{
    unsigned size = bytes ? bytes * PTX_LANES : 4;
    unsigned align = bytes ? 64 : 4;
    f->frame = (f->frame + align - 1) / align * align;
    uint32_t at = f->frame;
    f->frame += size;
    return at;
}

/* .reg .b32 %r<40>, %x; */
void ptx_parse_registers(ptx_parser *p)
{
    ptx_type type;
    if (!ptx_take_type(p, &type)) {
        ptx_recover(p);
        return;
    }
    unsigned bytes = (unsigned)ptx_type_bytes(type);
    do {
        const char *name = ptx_take_word(p, "a register's name");
        int64_t count = 1;
        bool many = name && ptx_accept(p, "<");
        if (!name || (many && (!ptx_take_int(p, &count) || !ptx_expect(p, ">")))) {
            ptx_recover(p);
            return;
        }
        if (count < 0 || count > 100000) {
            ptx_error(p, p->lexer.line, "%lld registers are too many", (long long)count);
            count = 1;
        }
        ptx_symbol *symbol = ptx_declare(p, name, many ? PTX_REGISTERS : PTX_REGISTER);
        if (!symbol)
            continue;
        symbol->type = type;
        symbol->count = (uint32_t)count;
        p->function->registers +=
            bytes < 8 ? (bytes ? (int)count : 0) : (int)count * (int)bytes / 4;
        for (int64_t i = 0; i < count; i++) {
            uint32_t at = ptx_new_column(p->function, bytes);
            if (i == 0)
                symbol->at = at;
        }
    } while (ptx_accept(p, ","));
    ptx_expect(p, ";");
}

/* ---- Initial values ---- */

static void put(char *bytes, uint64_t value, size_t size)
{
    memcpy(bytes, &value, size);
}

/* name, generic(name), with a number added; of 0xFF00(name) the byte that the mask shows. */
static bool parse_symbol_value(ptx_parser *p, ptx_var *var, size_t offset, size_t bytes,
                               uint64_t mask)
{
    bool masked = mask != 0;
    if (masked && !ptx_expect(p, "("))
        return false;
    bool generic = ptx_accept(p, "generic");
    if (generic && !ptx_expect(p, "("))
        return false;
    ptx_reloc *reloc = ptx_new(&p->module->arena, sizeof *reloc);
    reloc->line = p->lexer.line;
    reloc->symbol = ptx_take_word(p, "a value");
    reloc->offset = offset;
    reloc->bytes = bytes;
    while (masked && reloc->shift < 56 && !(mask >> reloc->shift & 0xff))
        reloc->shift += 8;
    reloc->next = var->relocs;
    if (!reloc->symbol || (generic && !ptx_expect(p, ")")))
        return false;
    if (ptx_accept(p, "+") && !ptx_take_int(p, &reloc->addend))
        return false;
    if (masked && !ptx_expect(p, ")"))
        return false;
    var->relocs = reloc;
    return true;
}

static bool parse_value(ptx_parser *p, ptx_var *var, ptx_type type, size_t offset)
{
    size_t bytes = (size_t)ptx_type_bytes(type);
    if (offset + bytes > var->size) {
        ptx_error(p, p->lexer.line, "'%s' has too many initial values", var->name);
        return false;
    }
    bool negative = ptx_accept(p, "-");
    if (p->lexer.token == PTX_WORD && !negative)
        return parse_symbol_value(p, var, offset, bytes, 0);
    if (p->lexer.token != PTX_INT) {
        ptx_error(p, p->lexer.line, "a value was expected");
        return false;
    }
    uint64_t bits = p->lexer.bits;
    uint8_t float_bytes = p->lexer.float_bytes;
    ptx_next(&p->lexer);
    if (ptx_is(&p->lexer, "("))
        return parse_symbol_value(p, var, offset, bytes, bits);
    if (float_bytes == 8 && bytes == 4) {
        double wide;
        memcpy(&wide, &bits, 8);
        float narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, 4);
    }
    if (negative)
        bits = float_bytes ? bits ^ (uint64_t)1 << (bytes * 8 - 1) : 0 - bits;
    put(var->init + offset, bits, bytes);
    return true;
}

/* Nested braces hold rows; a row that is short leaves zeros. */
static bool parse_values(ptx_parser *p, ptx_var *var, ptx_type type, const size_t *extents,
                         int dims, size_t offset)
{
    if (!ptx_accept(p, "{"))
        return parse_value(p, var, type, offset);
    size_t stride = (size_t)ptx_type_bytes(type);
    for (int i = 1; i < dims; i++)
        stride *= extents[i];
    while (!ptx_accept(p, "}")) {
        if (!parse_values(p, var, type, extents + 1, dims - 1, offset))
            return false;
        offset += stride;
        if (!ptx_is(&p->lexer, "}") && !ptx_expect(p, ","))
            return false;
    }
    return true;
}

/* ---- Variables ---- */

enum { DIMS = 8 };

typedef struct declared {
    ptx_type type;
    size_t align, vector;
    size_t extents[DIMS];
    int dims;
} declared;

static bool parse_shape(ptx_parser *p, declared *d)
{
    while (ptx_accept(p, "[")) {
        int64_t extent = 0;
        if (!ptx_is(&p->lexer, "]") && !ptx_take_int(p, &extent))
            return false;
        if (d->dims == DIMS || extent < 0 || !ptx_expect(p, "]"))
            return false;
        d->extents[d->dims++] = (size_t)extent;
    }
    return true;
}

/* .ptr .global .align 16, .align 8, .v4, .attribute(.managed), then the type. */
static bool parse_qualifiers(ptx_parser *p, declared *d)
{
    int64_t n;
    d->vector = 1;
    for (;;) {
        if (ptx_accept(p, ".align")) {
            if (!ptx_take_int(p, &n) || n <= 0 || (n & (n - 1)) != 0)
                return false;
            d->align = (size_t)n;
        } else if (ptx_accept(p, ".v2")) {
            d->vector = 2;
        } else if (ptx_accept(p, ".v4")) {
            d->vector = 4;
        } else {
            return ptx_take_type(p, &d->type);
        }
    }
}

/* What may follow a parameter's type: facts about the pointer it is. */
static bool parse_pointer_facts(ptx_parser *p)
{
    int64_t n;
    if (!ptx_accept(p, ".ptr"))
        return true;
    (void)(ptx_accept(p, ".global") || ptx_accept(p, ".shared") || ptx_accept(p, ".const") ||
           ptx_accept(p, ".local"));
    return !ptx_accept(p, ".align") || ptx_take_int(p, &n);
}

static ptx_symbol *declare_variable(ptx_parser *p, const char *name)
{
    ptx_symbol *known = ptx_find_symbol(p, p->scope, name);
    if (known && known->scope == p->scope && known->kind == PTX_VARIABLE && known->var->external)
        return known; /* declared before, defined now */
    return ptx_declare(p, name, PTX_VARIABLE);
}

static ptx_var *new_variable(ptx_parser *p, ptx_space space, const char *name, const declared *d)
{
    ptx_symbol *symbol = declare_variable(p, name);
    if (!symbol)
        return NULL;
    ptx_module *m = p->module;
    ptx_var *var = symbol->var;
    if (!var) {
        var = ptx_new(&m->arena, sizeof *var);
        var->next = m->vars;
        m->vars = var;
    }
    symbol->var = var;
    var->name = name;
    var->space = space;
    var->owner = p->function;
    size_t element = (size_t)ptx_type_bytes(d->type) * d->vector;
    var->align = d->align ? d->align : element;
    var->size = element;
    for (int i = 0; i < d->dims; i++)
        if (__builtin_mul_overflow(var->size, d->extents[i], &var->size) || var->size > (size_t)1
                                                                                            << 40) {
            ptx_error(p, p->lexer.line, "'%s' is too large", name);
            var->size = element;
        }
    if (space == PTX_local) {
        size_t *local = &p->function->local;
        *local = (*local + var->align - 1) / var->align * var->align;
        var->address = *local;
        *local += var->size;
    }
    return var;
}

ptx_var *ptx_parse_variable(ptx_parser *p, ptx_space space, bool parameter)
{
    declared d = {0};
    int line = p->lexer.line;
    const char *name = NULL;
    if (!parse_qualifiers(p, &d) || (parameter && !parse_pointer_facts(p)) ||
        !(name = ptx_take_word(p, "a variable's name")) || !parse_shape(p, &d)) {
        ptx_error(p, line, "the declaration%s%s was not understood", name ? " of " : "",
                  name ? name : "");
        ptx_recover(p);
        return NULL;
    }
    ptx_var *var = new_variable(p, space, name, &d);
    if (!var || parameter)
        return var;
    if (ptx_accept(p, "=")) {
        /* An array without an extent is not initialised by LLVM or nvcc. */
        var->init = ptx_new(&p->module->arena, var->size);
        if (!parse_values(p, var, d.type, d.extents, d.dims, 0)) {
            ptx_recover(p);
            return NULL;
        }
    }
    ptx_expect(p, ";");
    return var;
}
