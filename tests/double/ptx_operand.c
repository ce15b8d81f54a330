/* Operands, by the letters of a row's signature (see ptx_ops.def), to columns of the frame. */
#include <stdlib.h>
#include <string.h>

#include "ptx_exec.h"
#include "ptx_parse.h"

static const struct {
    const char *name;
    ptx_special what;
} specials[] = {
#define PTX_SPECIAL(name, text) {text, PTX_SR_##name},
#include "ptx_special.def"
#undef PTX_SPECIAL
};

/* The register of that name, also of a range: its column and type. */
static bool find_register(ptx_parser *p, const char *name, uint32_t *at, ptx_type *type)
{
    ptx_symbol *symbol = ptx_find_symbol(p, p->scope, name);
    if (symbol && symbol->kind == PTX_REGISTER) {
        *at = symbol->at;
        *type = symbol->type;
        return true;
    }
    char prefix[PTX_NAME + 1];
    size_t length = strlen(name), stem = length;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    /* A range's name may itself end in a digit (%f2<3>). */
    for (size_t cut = stem ? stem : 1; cut < length && cut < sizeof prefix; cut++) {
        memcpy(prefix, name, cut);
        prefix[cut] = '\0';
        symbol = ptx_find_symbol(p, p->scope, prefix);
        if (!symbol || symbol->kind != PTX_REGISTERS || (name[cut] == '0' && name[cut + 1]))
            continue;
        unsigned long index = strtoul(name + cut, NULL, 10);
        if (index >= symbol->count)
            continue;
        unsigned bytes = (unsigned)ptx_type_bytes(symbol->type);
        *at = symbol->at + (uint32_t)index * (bytes ? bytes * PTX_LANES : 4);
        *type = symbol->type;
        return true;
    }
    return false;
}

static bool word_in_hand(ptx_parser *p, char *name, size_t size)
{
    if (p->lexer.token != PTX_WORD)
        return false;
    if (p->lexer.length >= size) {
        ptx_error(p, p->lexer.line, "a name of %zu bytes, more than %d", p->lexer.length, PTX_NAME);
        return false;
    }
    memcpy(name, p->lexer.text, p->lexer.length);
    name[p->lexer.length] = '\0';
    return true;
}

bool ptx_parse_predicate(ptx_parser *p, uint32_t *at, bool *negated)
{
    char name[PTX_NAME + 1];
    ptx_type type;
    *negated = ptx_accept(p, "!");
    if (p->lexer.token == PTX_INT || ptx_is(&p->lexer, "-")) {
        int64_t value;
        if (!ptx_take_int(p, &value))
            return false;
        *at = ptx_constant_column(p, 0, value ? PTX_FULL : 0, NULL);
        return true;
    }
    if (!word_in_hand(p, name, sizeof name) || !find_register(p, name, at, &type) ||
        type != PTX_pred) {
        ptx_error(p, p->lexer.line, "'%.*s' is no predicate", (int)p->lexer.length, p->lexer.text);
        return false;
    }
    ptx_next(&p->lexer);
    return true;
}

bool ptx_parse_register(ptx_parser *p, unsigned bytes, uint32_t *at)
{
    char name[PTX_NAME + 1];
    ptx_type type;
    if (!word_in_hand(p, name, sizeof name) || !find_register(p, name, at, &type) ||
        (unsigned)ptx_type_bytes(type) != bytes) {
        ptx_error(p, p->lexer.line, "'%.*s' is no register of %u bytes", (int)p->lexer.length,
                  p->lexer.text, bytes);
        return false;
    }
    ptx_next(&p->lexer);
    return true;
}

/* What an operand has to be. */
typedef struct want {
    unsigned bytes; /* of its type */
    char class;     /* of its type; b: any */
    bool wider;     /* a wider register will do, too */
    bool written;
    bool stored; /* its low bits go to memory */
    bool factor;
} want;

static bool wrong(ptx_parser *p, const char *what)
{
    ptx_error(p, p->lexer.line, "'%.*s': %s", (int)p->lexer.length, p->lexer.text, what);
    return false;
}

static bool check_register(ptx_parser *p, want w, ptx_type type)
{
    unsigned bytes = (unsigned)ptx_type_bytes(type);
    char class = ptx_type_class(type);
    if (type == PTX_pred)
        return wrong(p, "a predicate cannot stand here");
    if (w.wider ? bytes < w.bytes : bytes != w.bytes)
        return wrong(p, "the register's size does not fit the instruction's type");
    bool mixed = (w.class == 'f' && (class == 'u' || class == 's')) ||
                 (class == 'f' && (w.class == 'u' || w.class == 's'));
    if (mixed)
        return wrong(p, "the register's type does not fit the instruction's");
    return true;
}

/* A number, in the bits of the wanted type. */
static bool parse_number(ptx_parser *p, want w, ptx_inst *inst, int slot)
{
    bool negative = ptx_accept(p, "-");
    uint64_t bits = p->lexer.bits;
    unsigned floating = p->lexer.float_bytes;
    if (p->lexer.token != PTX_INT)
        return wrong(p, "a number was expected");
    if (w.class == 'f' && !floating && w.bytes > 2)
        return wrong(p, "a floating number was expected");
    if (floating == 8 && w.bytes == 4) {
        double wide;
        memcpy(&wide, &bits, 8);
        float narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, 4);
    } else if (floating && floating != w.bytes) {
        return wrong(p, "the number's size does not fit");
    }
    if (w.factor && w.bytes == 8 && (uint32_t)bits == 0 && (bits & (bits - 1)) != 0)
        return wrong(p, "a product of 64 bits whose low word is zero: the assembler takes sums of "
                        "such for each other");
    ptx_next(&p->lexer);
    if (negative)
        bits = floating ? bits ^ (uint64_t)1 << (w.bytes * 8 - 1) : 0 - bits;
    if (w.bytes < 8)
        bits &= ((uint64_t)1 << w.bytes * 8) - 1;
    if (w.bytes == 1) /* no register is that small */
        w.bytes = 2;
    inst->at[slot] = ptx_constant_column(p, w.bytes, bits, NULL);
    inst->bytes[slot] = (uint8_t)w.bytes;
    return true;
}

static uint32_t special_column(ptx_parser *p, unsigned bytes, ptx_special what)
{
    ptx_function *f = p->function;
    for (size_t i = 0; i < f->nspecials; i++)
        if (f->specials[i].what == what && f->specials[i].bytes == bytes)
            return f->specials[i].at;
    f->specials = ptx_grow(f->specials, f->nspecials, &f->specials_room, sizeof *f->specials);
    uint32_t at = ptx_new_column(f, bytes);
    f->specials[f->nspecials++] =
        (ptx_special_use){.at = at, .bytes = (uint8_t)bytes, .what = what};
    return at;
}

static bool is_clock(const char *name)
{
    return strncmp(name, "%clock", 6) == 0 || strncmp(name, "%globaltimer", 12) == 0;
}

static bool parse_special(ptx_parser *p, want w, const char *name, ptx_inst *inst, int slot)
{
    inst->bytes[slot] = (uint8_t)w.bytes;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (strcmp(specials[i].name, name) == 0) {
            inst->at[slot] = special_column(p, w.bytes, specials[i].what);
            return true;
        }
    }
    if (is_clock(name) && inst->fn && slot == 1) { /* read anew each time */
        inst->fn = ptx_read_clock;
        inst->imm = strstr(name, "_hi") ? 32 : 0;
        return true;
    }
    if (strncmp(name, "%envreg", 7) == 0) {
        inst->at[slot] = ptx_constant_column(p, w.bytes, 0, NULL);
        return true;
    }
    return false;
}

static void note_use(ptx_function *f, ptx_var *var)
{
    for (size_t i = 0; i < f->nuses; i++)
        if (f->uses[i] == var)
            return;
    f->uses = ptx_grow(f->uses, f->nuses, &f->uses_room, sizeof *f->uses);
    f->uses[f->nuses++] = var;
}

/* A variable's or function's address (+ a number) as a constant. */
static bool parse_address_of(ptx_parser *p, const char *name, unsigned bytes, int64_t addend,
                             uint32_t *at, ptx_space *space)
{
    ptx_symbol *symbol = ptx_find_symbol(p, p->scope, name);
    if (!symbol || (symbol->kind != PTX_VARIABLE && symbol->kind != PTX_FUNCTION))
        return wrong(p, "this name is not known");
    *space = symbol->kind == PTX_VARIABLE ? symbol->var->space : PTX_generic;
    if (*space == PTX_shared)
        note_use(p->function, symbol->var);
    else if (symbol->kind == PTX_FUNCTION)
        p->function->calls_unknown = true;
    *at = ptx_constant_column(p, bytes, (uint64_t)addend, symbol);
    return true;
}

static bool take_addend(ptx_parser *p, int64_t *addend)
{
    *addend = 0;
    if (ptx_is(&p->lexer, "-"))
        return ptx_take_int(p, addend);
    return !ptx_accept(p, "+") || ptx_take_int(p, addend);
}

static bool parse_source_name(ptx_parser *p, want w, const char *name, ptx_inst *inst, int slot)
{
    ptx_space space;
    ptx_lexer here = p->lexer;
    int64_t addend;
    if (parse_special(p, w, name, inst, slot)) {
        ptx_next(&p->lexer);
        return true;
    }
    if (w.bytes != 4 && w.bytes != 8)
        return wrong(p, "this register is not known");
    ptx_next(&p->lexer);
    if (!take_addend(p, &addend))
        return false;
    ptx_lexer after = p->lexer;
    p->lexer = here;
    inst->bytes[slot] = (uint8_t)w.bytes;
    if (!parse_address_of(p, name, w.bytes, addend, &inst->at[slot], &space))
        return false;
    p->lexer = after;
    return true;
}

static void note_register(ptx_parser *p, want w, const ptx_inst *inst, int slot)
{
    ptx_type type = (ptx_type)inst->form.type[0];
    if (w.written)
        ptx_note_written(p, inst->at[slot],
                         ptx_type_class(type) == 'f' && ptx_type_bytes(type) == inst->bytes[slot]);
    else if (w.stored && inst->bytes[slot] > w.bytes)
        ptx_note_narrow(p, inst->at[slot], inst->line);
}

static bool parse_value_operand(ptx_parser *p, want w, ptx_inst *inst, int slot)
{
    char name[PTX_NAME + 1];
    ptx_type type;
    if (w.written && ptx_accept(p, "_")) {
        inst->at[slot] = p->scratch;
        inst->bytes[slot] = (uint8_t)w.bytes;
        return true;
    }
    if (!word_in_hand(p, name, sizeof name)) {
        if (w.written)
            return wrong(p, "a register was expected");
        return parse_number(p, w, inst, slot);
    }
    if (find_register(p, name, &inst->at[slot], &type)) {
        if (!check_register(p, w, type))
            return false;
        inst->bytes[slot] = (uint8_t)ptx_type_bytes(type);
        note_register(p, w, inst, slot);
        ptx_next(&p->lexer);
        return true;
    }
    if (w.written)
        return wrong(p, "this register is not known");
    return parse_source_name(p, w, name, inst, slot);
}

static bool parse_predicate_operand(ptx_parser *p, bool written, ptx_inst *inst, int slot)
{
    bool negated = false;
    inst->bytes[slot] = 0;
    if (written && ptx_accept(p, "_")) {
        inst->at[slot] = p->scratch;
        return true;
    }
    if (!ptx_parse_predicate(p, &inst->at[slot], &negated))
        return false;
    if (negated)
        inst->flipped |= (uint8_t)(1u << slot);
    return true;
}

/* [%rd1+8], [name+8], [16] */
static bool parse_memory(ptx_parser *p, ptx_inst *inst)
{
    char name[PTX_NAME + 1];
    ptx_type type;
    if (!ptx_expect(p, "["))
        return false;
    inst->base_bytes = 8;
    if (p->lexer.token == PTX_INT) {
        int64_t address;
        if (!ptx_take_int(p, &address))
            return false;
        inst->base = ptx_constant_column(p, 8, (uint64_t)address, NULL);
        return ptx_expect(p, "]");
    }
    if (!word_in_hand(p, name, sizeof name))
        return wrong(p, "an address was expected");
    if (find_register(p, name, &inst->base, &type)) {
        inst->base_bytes = (uint8_t)ptx_type_bytes(type);
        if (inst->base_bytes != 8 && inst->base_bytes != 4)
            return wrong(p, "an address has 32 or 64 bits");
        if (inst->base_bytes == 4 && inst->form.space != PTX_shared &&
            inst->form.space != PTX_local && inst->form.space != PTX_const)
            return wrong(p, "an address in this space has 64 bits");
    } else {
        ptx_space space;
        if (!parse_address_of(p, name, 8, 0, &inst->base, &space))
            return false;
        ptx_space wanted = (ptx_space)inst->form.space;
        if (space != wanted &&
            !(wanted == PTX_generic && (space == PTX_global || space == PTX_const)))
            return wrong(p, "this variable is in another state space");
    }
    ptx_next(&p->lexer);
    return take_addend(p, &inst->imm) && ptx_expect(p, "]");
}

/* One register, or {a, b} of as many as the form's vector has. */
static bool parse_vector(ptx_parser *p, want w, ptx_inst *inst, int *slot)
{
    int n = inst->form.vec ? inst->form.vec : 1;
    if (!inst->form.vec && !ptx_is(&p->lexer, "{"))
        return parse_value_operand(p, w, inst, (*slot)++);
    if (!ptx_expect(p, "{"))
        return false;
    for (int i = 0; i < n; i++)
        if ((i && !ptx_expect(p, ",")) || !parse_value_operand(p, w, inst, (*slot)++))
            return false;
    return ptx_expect(p, "}");
}

/* mov: a value; {a, b} made one; one taken apart. */
static bool parse_mov(ptx_parser *p, want w, ptx_inst *inst)
{
    bool unpack = ptx_is(&p->lexer, "{");
    ptx_inst parts = *inst;
    int n = 0;
    w.written = true;
    if (!unpack && (!parse_value_operand(p, w, inst, 0) || !ptx_expect(p, ",")))
        return false;
    if (!unpack && !ptx_is(&p->lexer, "{")) {
        w.written = false;
        return parse_value_operand(p, w, inst, 1);
    }
    ptx_lexer ahead = p->lexer;
    while (ahead.token != PTX_END && !ptx_is(&ahead, "}")) {
        ptx_next(&ahead);
        n += ptx_is(&ahead, ",");
    }
    inst->form.vec = (uint8_t)++n;
    if ((n != 2 && n != 4) || w.bytes / (unsigned)n < 2)
        return wrong(p, "vectors of these parts are not known to the double");
    parts.form.vec = (uint8_t)n;
    want part = {.bytes = w.bytes / (unsigned)n, .class = 'b', .written = unpack};
    int slot = 1;
    parts.at[0] = inst->at[0];
    parts.bytes[0] = inst->bytes[0];
    if (!parse_vector(p, part, &parts, &slot))
        return false;
    *inst = parts;
    inst->fn = unpack ? ptx_unpack : ptx_pack;
    w.written = false;
    return !unpack || (ptx_expect(p, ",") && parse_value_operand(p, w, inst, 0));
}

static want want_of(const ptx_inst *inst, char letter)
{
    const ptx_form *form = &inst->form;
    ptx_type first = (ptx_type)form->type[0];
    ptx_type second = form->ntypes > 1 ? (ptx_type)form->type[1] : first;
    want w = {.bytes = (unsigned)ptx_type_bytes(first),
              .class = ptx_type_class(first),
              .written = strchr("dwxvjUkMD", letter) != NULL,
              .stored = letter == 'V',
              .factor = letter == 'f'};
    switch (letter) {
    case 'w':
    case 'W': w.bytes *= 2; break;
    case 'x':
    case 'v':
    case 'V':
        w.wider = true;
        w.class = 'b';
        break;
    case 't':
    case 'y':
    case 'D':
        w.bytes = (unsigned)ptx_type_bytes(second);
        w.class = ptx_type_class(second);
        w.wider = letter == 'y';
        if (letter == 'y')
            w.class = 'b';
        break;
    case 'u':
    case 'n':
    case 'U':
    case 'k':
        w.bytes = 4;
        w.class = 'b';
        break;
    case 'A':
        w.bytes = 8;
        w.class = 'b';
        break;
    default: break;
    }
    return w;
}

/* The predicate after a |, if any. */
static bool parse_second(ptx_parser *p, ptx_inst *inst, int *slot)
{
    int at = (*slot)++;
    if (ptx_accept(p, "|"))
        return parse_predicate_operand(p, true, inst, at);
    inst->at[at] = p->scratch;
    return true;
}

/* Where a copy is from: kept by an instruction behind it that does nothing. */
static bool parse_origin(ptx_parser *p, const ptx_inst *inst)
{
    ptx_inst *from = &p->module->code[p->module->ncode++]; /* there is room: ptx_new_inst */
    *from = (ptx_inst){.line = inst->line, .loc_file = inst->loc_file, .loc_line = inst->loc_line};
    from->form.space = PTX_global;
    from->fn = ptx_choose_nothing(&from->form);
    from->span = p->module->spans++;
    return parse_memory(p, from);
}

static bool parse_copy_size(ptx_parser *p, ptx_inst *inst)
{
    int64_t size;
    if (!ptx_take_int(p, &size))
        return false;
    if (size != 16 && (PTX_HAS(&inst->form, cg) || (size != 4 && size != 8)))
        return wrong(p, "copies have 4, 8 or 16 bytes, and those past L1 have 16");
    inst->size = (uint8_t)size;
    return true;
}

static bool parse_operand(ptx_parser *p, ptx_inst *inst, char letter, int *slot)
{
    switch (letter) {
    case 'm': return parse_memory(p, inst);
    case 'g': return parse_origin(p, inst);
    case 'z': return parse_copy_size(p, inst);
    case 'M': return parse_mov(p, want_of(inst, letter), inst);
    case 'v':
    case 'V': return parse_vector(p, want_of(inst, letter), inst, slot);
    case 'p': return parse_predicate_operand(p, true, inst, (*slot)++);
    case 'P': return parse_predicate_operand(p, false, inst, (*slot)++);
    case 'q':
        return parse_predicate_operand(p, true, inst, (*slot)++) && parse_second(p, inst, slot);
    case 'j':
    case 'k':
        return parse_value_operand(p, want_of(inst, letter), inst, (*slot)++) &&
               parse_second(p, inst, slot);
    case 'i': return ptx_take_int(p, &inst->imm);
    default: return parse_value_operand(p, want_of(inst, letter), inst, (*slot)++);
    }
}

/* Whether what follows the comma in hand is no predicate. */
static bool has_count(ptx_parser *p)
{
    ptx_lexer here = p->lexer;
    char name[PTX_NAME + 1];
    uint32_t at;
    ptx_type type = PTX_b32;
    ptx_next(&p->lexer);
    bool predicate =
        ptx_is(&p->lexer, "!") || (word_in_hand(p, name, sizeof name) &&
                                   find_register(p, name, &at, &type) && type == PTX_pred);
    p->lexer = here;
    return !predicate;
}

bool ptx_parse_operands(ptx_parser *p, const ptx_op *op, ptx_inst *inst, const char *opcode)
{
    bool optional = false;
    int slot = 0;
    for (const char *c = op->operands; *c; c++) {
        if (*c == '?') {
            optional = true;
            continue;
        }
        if (optional && ptx_is(&p->lexer, ";"))
            break;
        if (*c == 'n' && !has_count(p)) { /* left out, with its comma */
            slot++;
            continue;
        }
        if (c != op->operands && !ptx_expect(p, ","))
            return false;
        if (!parse_operand(p, inst, *c, &slot))
            return false;
    }
    inst->noperands = (uint8_t)slot;
    if (ptx_is(&p->lexer, ",") && inst->control != PTX_BRX) {
        ptx_error(p, inst->line, "'%s' has more operands than the double knows", opcode);
        return false;
    }
    return true;
}
