/* call (results), function, (arguments): what is passed lies in the caller's parameter memory. */
#include <stdlib.h>
#include <string.h>

#include "ptx_parse.h"

/* (a, b): variables of the scope. */
static bool parse_list(ptx_parser *p, ptx_var ***list, int *count)
{
    ptx_var *vars[256];
    *count = 0;
    if (!ptx_expect(p, "("))
        return false;
    while (!ptx_accept(p, ")")) {
        const char *name = ptx_take_word(p, "a parameter");
        ptx_symbol *symbol = name ? ptx_find_symbol(p, p->scope, name) : NULL;
        if (!symbol || symbol->kind != PTX_VARIABLE || symbol->var->space != PTX_param ||
            *count == 256) {
            ptx_error(p, p->lexer.line, "'%s' is no .param variable", name ? name : "");
            return false;
        }
        vars[(*count)++] = symbol->var;
        if (!ptx_is(&p->lexer, ")") && !ptx_expect(p, ","))
            return false;
    }
    *list = ptx_new(&p->module->arena, (size_t)*count * sizeof **list);
    memcpy(*list, vars, (size_t)*count * sizeof **list);
    return true;
}

static bool parse_callee(ptx_parser *p, ptx_call *call, ptx_inst *inst)
{
    ptx_function *f = p->function;
    if (p->lexer.token == PTX_WORD && p->lexer.text[0] == '%') {
        f->calls_unknown = true;
        return ptx_parse_register(p, 8, &inst->at[0]);
    }
    const char *name = ptx_take_word(p, "a function");
    ptx_symbol *symbol = name ? ptx_find_symbol(p, NULL, name) : NULL;
    if (!symbol || symbol->kind != PTX_FUNCTION) {
        ptx_error(p, inst->line, "there is no function '%s'", name ? name : "");
        return false;
    }
    call->callee = symbol->function;
    f->calls = ptx_grow(f->calls, f->ncalls, &f->calls_room, sizeof *f->calls);
    f->calls[f->ncalls++] = call->callee;
    return true;
}

bool ptx_parse_call(ptx_parser *p, ptx_inst *inst)
{
    ptx_module *m = p->module;
    ptx_call call = {0};
    if (ptx_is(&p->lexer, "(") &&
        (!parse_list(p, &call.results, &call.nresults) || !ptx_expect(p, ",")))
        return false;
    if (!parse_callee(p, &call, inst))
        return false;
    if (ptx_accept(p, ",") && ptx_is(&p->lexer, "(")) {
        if (!parse_list(p, &call.args, &call.nargs))
            return false;
        if (ptx_accept(p, ",")) /* the prototype of a call by address */
            ptx_take_word(p, "a prototype");
    } else if (!ptx_is(&p->lexer, ";")) {
        ptx_take_word(p, "a prototype");
    }
    m->calls = ptx_grow(m->calls, m->ncalls, &m->calls_room, sizeof *m->calls);
    inst->target = (int)m->ncalls;
    m->calls[m->ncalls++] = call;
    return true;
}
