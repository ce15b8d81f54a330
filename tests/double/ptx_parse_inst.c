/* A statement that does something -> one ptx_inst. */
#include <stdlib.h>
#include <string.h>

#include "ptx_exec.h"
#include "ptx_parse.h"

ptx_inst *ptx_new_inst(ptx_parser *p)
{
    ptx_module *m = p->module;
    /* And one more, which a second address becomes while this one is parsed. */
    m->code = ptx_grow(m->code, m->ncode + 1, &m->code_room, sizeof *m->code);
    ptx_inst *inst = &m->code[m->ncode++];
    *inst = (ptx_inst){.line = p->lexer.line, .loc_file = p->loc_file, .loc_line = p->loc_line};
    return inst;
}

uint32_t ptx_constant_column(ptx_parser *p, unsigned bytes, uint64_t value,
                             const ptx_symbol *symbol)
{
    ptx_function *f = p->function;
    for (size_t i = 0; i < f->nconstants; i++) {
        const ptx_constant *c = &f->constants[i];
        if (c->bytes == bytes && c->value == value && c->symbol == symbol)
            return c->at;
    }
    f->constants = ptx_grow(f->constants, f->nconstants, &f->constants_room, sizeof *f->constants);
    uint32_t at = ptx_new_column(f, bytes);
    f->constants[f->nconstants++] =
        (ptx_constant){.at = at, .bytes = (uint8_t)bytes, .value = value, .symbol = symbol};
    return at;
}

/* @%p or @!%p */
static bool parse_guard(ptx_parser *p, ptx_inst *inst)
{
    bool negated;
    if (!ptx_parse_predicate(p, &inst->guard, &negated))
        return false;
    inst->guarded = true;
    inst->guard_flip = negated ? PTX_FULL : 0;
    return true;
}

/* The label of a branch, or the list of brx.idx: looked up at the function's end. */
static bool parse_target(ptx_parser *p, ptx_inst *inst)
{
    const char *name = ptx_take_word(p, "a list of targets");
    if (!name)
        return false;
    ptx_fixup *fixup = ptx_new(&p->names, sizeof *fixup);
    *fixup = (ptx_fixup){.next = p->fixups,
                         .name = name,
                         .scope = p->scope,
                         .inst = (int)p->module->ncode - 1,
                         .line = inst->line};
    p->fixups = fixup;
    return true;
}

static bool parse_form(ptx_parser *p, ptx_inst *inst, const char *opcode)
{
    const ptx_op *op = ptx_match(opcode, &inst->form);
    if (!op) {
        ptx_error(p, inst->line, "'%s' is not known to the double", opcode);
        return false;
    }
    inst->control = op->control;
    inst->fn = op->choose(&inst->form);
    if (inst->control == PTX_CHECK)
        inst->span = p->module->spans++;
    if (strncmp(opcode, "ldu.", 4) == 0) /* read-only memory, too */
        inst->form.flags |= 1u << PTX_HAS_nc;
    p->module->reads_only |= PTX_HAS(&inst->form, nc);
    if (op->choose == ptx_choose_bar)
        inst->form.flags |= 1u << PTX_HAS_aligned;
    inst->spins = op->choose == ptx_choose_atom || PTX_HAS(&inst->form, volatile) ||
                  PTX_HAS(&inst->form, relaxed) || PTX_HAS(&inst->form, acquire);
    if (inst->control == PTX_CALL)
        return ptx_parse_call(p, inst);
    if (!ptx_parse_operands(p, op, inst, opcode))
        return false;
    if (op->choose == ptx_choose_memory)
        inst->fn = ptx_choose_access(inst, op->operands[0] == 'm');
    else if (op->choose == ptx_choose_cvt)
        inst->fn = ptx_choose_conversion(inst);
    if (!inst->fn) {
        ptx_error(p, inst->line, "'%s' with these registers is not known to the double", opcode);
        return false;
    }
    if (inst->control == PTX_BRX)
        return ptx_expect(p, ",") && parse_target(p, inst);
    if (inst->control == PTX_BRA)
        return parse_target(p, inst);
    if (inst->control == PTX_RET && p->function->entry)
        inst->control = PTX_EXIT;
    return true;
}

void ptx_parse_instruction(ptx_parser *p)
{
    ptx_inst *inst = ptx_new_inst(p);
    bool good = !ptx_accept(p, "@") || parse_guard(p, inst);
    const char *opcode = good ? ptx_take_word(p, "an instruction") : NULL;
    if (!opcode || !parse_form(p, inst, opcode) || !ptx_expect(p, ";"))
        ptx_recover(p);
}
