/* PTX text -> a module's variables, functions and instructions: names, directives, heads. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_parse.h"

/* ---- Mistakes ---- */

static void note(ptx_parser *p, int code, int line, const char *format, va_list args)
{
    if (!p->code)
        p->code = code;
    if (p->errors++ >= PTX_ERRORS || p->log_size == 0)
        return;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    int n =
        snprintf(p->log + p->log_used, p->log_size - p->log_used, "PTX line %d: %s\n", line, text);
    p->log_used += (size_t)n;
    if (p->log_used >= p->log_size)
        p->log_used = p->log_size - 1;
}

void ptx_fail(ptx_parser *p, int code, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(p, code, line, format, args);
    va_end(args);
}

void ptx_error(ptx_parser *p, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(p, 218, line, format, args);
    va_end(args);
}

void ptx_recover(ptx_parser *p)
{
    while (p->lexer.token != PTX_END && !ptx_is(&p->lexer, "}")) {
        bool end = ptx_is(&p->lexer, ";");
        ptx_next(&p->lexer);
        if (end)
            return;
    }
}

bool ptx_accept(ptx_parser *p, const char *text)
{
    if (!ptx_is(&p->lexer, text))
        return false;
    ptx_next(&p->lexer);
    return true;
}

bool ptx_expect(ptx_parser *p, const char *text)
{
    if (ptx_accept(p, text))
        return true;
    ptx_error(p, p->lexer.line, "'%s' was expected before '%.*s'", text, (int)p->lexer.length,
              p->lexer.text);
    return false;
}

const char *ptx_take_word(ptx_parser *p, const char *what)
{
    if (p->lexer.token != PTX_WORD) {
        ptx_error(p, p->lexer.line, "%s was expected", what);
        return NULL;
    }
    if (p->lexer.length > PTX_NAME) {
        ptx_error(p, p->lexer.line, "a name of %zu bytes, more than %d", p->lexer.length, PTX_NAME);
        return NULL;
    }
    const char *word = ptx_keep(&p->module->arena, p->lexer.text, p->lexer.length);
    ptx_next(&p->lexer);
    return word;
}

bool ptx_take_int(ptx_parser *p, int64_t *value)
{
    bool negative = ptx_accept(p, "-");
    if (p->lexer.token != PTX_INT || p->lexer.float_bytes) {
        ptx_error(p, p->lexer.line, "a whole number was expected");
        return false;
    }
    *value = (int64_t)(negative ? 0 - p->lexer.bits : p->lexer.bits);
    ptx_next(&p->lexer);
    return true;
}

/* ---- Names ---- */

static unsigned bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash % PTX_BUCKETS;
}

static ptx_symbol *find_in(ptx_parser *p, ptx_scope *scope, const char *name)
{
    for (ptx_symbol *s = p->buckets[bucket_of(name)]; s; s = s->next)
        if (s->scope == scope && strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

ptx_symbol *ptx_find_symbol(ptx_parser *p, ptx_scope *scope, const char *name)
{
    for (;; scope = scope->outer) {
        ptx_symbol *symbol = find_in(p, scope, name);
        if (symbol || !scope)
            return symbol;
    }
}

ptx_symbol *ptx_declare(ptx_parser *p, const char *name, ptx_symbol_kind kind)
{
    if (find_in(p, p->scope, name)) {
        ptx_error(p, p->lexer.line, "'%s' is declared twice", name);
        return NULL;
    }
    ptx_symbol *symbol = ptx_new(&p->module->arena, sizeof *symbol);
    unsigned bucket = bucket_of(name);
    symbol->name = name;
    symbol->scope = p->scope;
    symbol->kind = kind;
    symbol->next = p->buckets[bucket];
    p->buckets[bucket] = symbol;
    return symbol;
}

void ptx_open_scope(ptx_parser *p)
{
    ptx_scope *scope = ptx_new(&p->names, sizeof *scope);
    scope->outer = p->scope;
    p->scope = scope;
}

void ptx_close_scope(ptx_parser *p)
{
    p->scope = p->scope->outer;
}

bool ptx_take_type(ptx_parser *p, ptx_type *type)
{
    static const char *const names[] = {
#define PTX_TYPE(name, bytes, class) "." #name,
#include "ptx_types.def"
#undef PTX_TYPE
    };
    for (int i = 0; i < PTX_TYPES; i++) {
        if (ptx_accept(p, names[i])) {
            *type = (ptx_type)i;
            return true;
        }
    }
    ptx_error(p, p->lexer.line, "a type was expected, not '%.*s'", (int)p->lexer.length,
              p->lexer.text);
    return false;
}

/* ---- The head of a module ---- */

static bool parse_version(ptx_parser *p)
{
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)(p->lexer.end - p->lexer.at > 8 ? 8 : 0), p->lexer.at);
    int major = 0, minor = 0;
    if (sscanf(text, " %d.%d", &major, &minor) != 2) {
        ptx_error(p, p->lexer.line, ".version was not understood");
        return false;
    }
    int version = major * 10 + minor;
    if (version > p->limits->version) {
        ptx_fail(p, 222, p->lexer.line, "Unsupported .version %d.%d; current version is '%d.%d'",
                 major, minor, p->limits->version / 10, p->limits->version % 10);
        return false;
    }
    ptx_skip_line(&p->lexer);
    return true;
}

/* sm_90 runs on 90 and newer; sm_90a and sm_100f on their own chip (and family) alone. */
static bool parse_target(ptx_parser *p)
{
    ptx_next(&p->lexer);
    int chip = 0, used = 0;
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)p->lexer.length, p->lexer.text);
    if (sscanf(text, "sm_%d%n", &chip, &used) != 1) {
        ptx_error(p, p->lexer.line, ".target '%s' is not known", text);
        return false;
    }
    bool exact = text[used] == 'a', family = text[used] == 'f';
    int device = p->limits->chip;
    bool runs = exact    ? chip == device
                : family ? chip / 10 == device / 10 && chip <= device
                         : chip <= device;
    if (!runs) {
        ptx_fail(p, 209, p->lexer.line, ".target %s does not run on sm_%d", text, device);
        return false;
    }
    ptx_skip_line(&p->lexer);
    return true;
}

static void parse_file(ptx_parser *p)
{
    ptx_module *m = p->module;
    ptx_next(&p->lexer);
    size_t index = (size_t)p->lexer.bits;
    if (p->lexer.token == PTX_INT && index < 4096) {
        ptx_next(&p->lexer);
        while (m->nfiles <= index) {
            m->files = ptx_grow(m->files, m->nfiles, &m->files_room, sizeof *m->files);
            m->files[m->nfiles++] = NULL;
        }
        if (p->lexer.token == PTX_STRING)
            m->files[index] = ptx_keep(&m->arena, p->lexer.text, p->lexer.length);
    }
    ptx_skip_line(&p->lexer);
}

/* ---- Functions ---- */

/* (.param .b64 a, .param .u32 b): into the function's parameters or results. */
static bool parse_params(ptx_parser *p, ptx_function *f, bool results)
{
    if (!ptx_expect(p, "("))
        return false;
    while (!ptx_accept(p, ")")) {
        if (!ptx_expect(p, ".param"))
            return false;
        ptx_var *var = ptx_parse_variable(p, PTX_param, true);
        if (!var)
            return false;
        size_t *offset = f->entry ? &f->param_size : &f->call_params;
        *offset = (*offset + var->align - 1) / var->align * var->align;
        var->address = *offset + (f->entry ? 0 : PTX_CALL_PARAMS);
        *offset += var->size;
        int *n = results ? &f->nresults : &f->nparams;
        ptx_var ***list = results ? &f->results : &f->params;
        *list = ptx_grow(*list, (size_t)*n, results ? &f->results_room : &f->params_room,
                         sizeof **list);
        (*list)[(*n)++] = var;
        if (!ptx_is(&p->lexer, ")") && !ptx_expect(p, ","))
            return false;
    }
    return true;
}

static void take_three(ptx_parser *p, int64_t values[3])
{
    values[0] = values[1] = values[2] = 1;
    int i = 0;
    do {
        if (!ptx_take_int(p, &values[i]))
            return;
    } while (++i < 3 && ptx_accept(p, ","));
}

/* What stands between a function's parameters and its body. */
static void parse_tuning(ptx_parser *p, ptx_function *f)
{
    for (;;) {
        int64_t n[3];
        if (ptx_accept(p, ".reqntid")) {
            take_three(p, n);
            for (int i = 0; i < 3; i++)
                f->required[i] = (unsigned)n[i];
            f->max_threads = (int)(n[0] * n[1] * n[2]);
        } else if (ptx_accept(p, ".maxntid")) {
            take_three(p, n);
            f->max_threads = (int)(n[0] * n[1] * n[2]);
        } else if (ptx_accept(p, ".minnctapersm") || ptx_accept(p, ".maxnreg") ||
                   ptx_accept(p, ".maxclusterrank")) {
            ptx_take_int(p, n);
        } else if (ptx_accept(p, ".pragma")) {
            ptx_next(&p->lexer);
            ptx_accept(p, ";");
        } else if (!ptx_accept(p, ".noreturn")) {
            return;
        }
    }
}

static void parse_targets(ptx_parser *p, const char *label)
{
    ptx_targets *t = ptx_new(&p->module->arena, sizeof *t);
    size_t room = 0;
    const char **names = NULL;
    t->name = label;
    t->scope = p->scope;
    t->line = p->lexer.line;
    do {
        const char *name = ptx_take_word(p, "a label");
        if (!name)
            break;
        names = ptx_grow(names, (size_t)t->count, &room, sizeof *names);
        names[t->count++] = name;
    } while (ptx_accept(p, ","));
    t->names = ptx_new(&p->module->arena, (size_t)t->count * sizeof *names);
    t->at = ptx_new(&p->module->arena, (size_t)t->count * sizeof *t->at);
    if (t->count)
        memcpy(t->names, names, (size_t)t->count * sizeof *names);
    free(names);
    ptx_expect(p, ";");
    ptx_symbol *symbol = ptx_declare(p, label, PTX_TARGETS);
    if (symbol)
        symbol->targets = t;
    t->next = p->targets;
    p->targets = t;
}

/* name: a label, or the name of a list of targets or of a prototype. */
static void parse_label(ptx_parser *p)
{
    const char *name = ptx_take_word(p, "a label");
    ptx_expect(p, ":");
    if (ptx_accept(p, ".branchtargets")) {
        parse_targets(p, name);
    } else if (ptx_accept(p, ".callprototype") || ptx_accept(p, ".calltargets")) {
        ptx_declare(p, name, PTX_TARGETS);
        ptx_recover(p);
    } else {
        ptx_symbol *symbol = ptx_declare(p, name, PTX_LABEL);
        if (symbol)
            symbol->at = (uint32_t)p->module->ncode;
    }
}

static void parse_loc(ptx_parser *p)
{
    ptx_next(&p->lexer);
    p->loc_file = (int)p->lexer.bits;
    ptx_next(&p->lexer);
    p->loc_line = (int)p->lexer.bits;
    ptx_skip_line(&p->lexer);
}

static bool at_label(const ptx_parser *p)
{
    ptx_lexer ahead = p->lexer;
    if (ahead.token != PTX_WORD)
        return false;
    ptx_next(&ahead);
    return ptx_is(&ahead, ":");
}

static void parse_statement(ptx_parser *p)
{
    ptx_var *var;
    if (ptx_accept(p, ".reg"))
        ptx_parse_registers(p);
    else if (ptx_accept(p, ".local"))
        ptx_parse_variable(p, PTX_local, false);
    else if (ptx_accept(p, ".shared"))
        ptx_parse_variable(p, PTX_shared, false);
    else if (ptx_accept(p, ".global"))
        ptx_parse_variable(p, PTX_global, false);
    else if (ptx_accept(p, ".const"))
        ptx_parse_variable(p, PTX_const, false);
    else if (ptx_accept(p, ".param")) {
        if ((var = ptx_parse_variable(p, PTX_param, false))) {
            size_t *offset = &p->function->call_params;
            *offset = (*offset + var->align - 1) / var->align * var->align;
            var->address = PTX_CALL_PARAMS + *offset;
            *offset += var->size;
        }
    } else if (ptx_is(&p->lexer, ".loc"))
        parse_loc(p);
    else if (ptx_is(&p->lexer, ".pragma"))
        ptx_recover(p);
    else if (at_label(p))
        parse_label(p);
    else
        ptx_parse_instruction(p);
}

/* Labels are known now: branches and lists of targets get their instructions. */
static void resolve(ptx_parser *p)
{
    for (ptx_fixup *f = p->fixups; f; f = f->next) {
        ptx_symbol *symbol = ptx_find_symbol(p, f->scope, f->name);
        ptx_inst *inst = &p->module->code[f->inst];
        if (symbol && symbol->kind == PTX_LABEL && inst->control == PTX_BRA) {
            inst->target = (int)symbol->at;
        } else if (symbol && symbol->kind == PTX_TARGETS && inst->control == PTX_BRX &&
                   symbol->targets) {
            ptx_module *m = p->module;
            m->targets = ptx_grow(m->targets, m->ntargets, &m->targets_room, sizeof *m->targets);
            inst->target = (int)m->ntargets;
            m->targets[m->ntargets++] = symbol->targets;
        } else {
            ptx_error(p, f->line, "there is no label '%s'", f->name);
        }
    }
    for (ptx_targets *t = p->targets; t; t = t->next) {
        for (int i = 0; i < t->count; i++) {
            ptx_symbol *symbol = ptx_find_symbol(p, t->scope, t->names[i]);
            if (symbol && symbol->kind == PTX_LABEL)
                t->at[i] = (int)symbol->at;
            else
                ptx_error(p, t->line, "there is no label '%s'", t->names[i]);
        }
    }
    p->fixups = NULL;
    p->targets = NULL;
}

static void parse_body(ptx_parser *p, ptx_function *f)
{
    int depth = 0;
    f->first = (int)p->module->ncode;
    ptx_new_column(f, 16); /* for results nobody wants */
    while (p->lexer.token != PTX_END) {
        if (ptx_accept(p, "{")) {
            ptx_open_scope(p);
            depth++;
        } else if (ptx_accept(p, "}")) {
            if (depth-- == 0)
                break;
            ptx_close_scope(p);
        } else {
            parse_statement(p);
        }
    }
    /* Control that falls off the end returns. */
    p->loc_line = 0;
    ptx_inst *inst = ptx_new_inst(p);
    inst->control = f->entry ? PTX_EXIT : PTX_RET;
    f->defined = true;
    resolve(p);
    ptx_check_narrow(p);
}

static ptx_function *new_function(ptx_parser *p, const char *name, bool entry)
{
    ptx_symbol *known = ptx_find_symbol(p, NULL, name);
    if (known && known->kind == PTX_FUNCTION && !known->function->defined &&
        known->function->entry == entry) {
        known->function->nparams = known->function->nresults = 0;
        known->function->param_size = known->function->call_params = 0;
        return known->function;
    }
    ptx_symbol *symbol = ptx_declare(p, name, PTX_FUNCTION);
    if (!symbol)
        return NULL;
    ptx_function *f = ptx_new(&p->module->arena, sizeof *f);
    symbol->function = f;
    f->name = name;
    f->entry = entry;
    f->max_threads = 1024;
    f->index = p->module->nfunctions++;
    f->next = p->module->functions;
    p->module->functions = f;
    return f;
}

/* The results come before the name, so they are read twice: passed over first. */
static void parse_function(ptx_parser *p, bool entry)
{
    ptx_lexer results = p->lexer;
    bool has_results = !entry && ptx_is(&p->lexer, "(");
    while (has_results && p->lexer.token != PTX_END && !ptx_accept(p, ")"))
        ptx_next(&p->lexer);
    const char *name = ptx_take_word(p, "a function's name");
    ptx_function *f = name ? new_function(p, name, entry) : NULL;
    if (!f) {
        ptx_recover(p);
        return;
    }
    ptx_open_scope(p);
    p->function = f;
    ptx_lexer params = p->lexer;
    bool good = true;
    if (has_results) {
        p->lexer = results;
        good = parse_params(p, f, true);
        p->lexer = params;
    }
    if (good && ptx_is(&p->lexer, "("))
        good = parse_params(p, f, false);
    if (good)
        parse_tuning(p, f);
    if (good && !ptx_accept(p, ";") && ptx_expect(p, "{"))
        parse_body(p, f);
    p->function = NULL;
    p->scope = NULL;
    if (!good)
        ptx_recover(p);
}

/* .section .debug_info { ... }: for debuggers. */
static void skip_section(ptx_parser *p)
{
    while (p->lexer.token != PTX_END && !ptx_accept(p, "}"))
        ptx_next(&p->lexer);
}

static void parse_item(ptx_parser *p)
{
    static const struct {
        const char *name;
        ptx_space space;
    } spaces[] = {{".global", PTX_global}, {".const", PTX_const}, {".shared", PTX_shared}};
    bool external = false;
    while (ptx_accept(p, ".visible") || ptx_accept(p, ".weak") || ptx_accept(p, ".common") ||
           ptx_is(&p->lexer, ".extern"))
        external |= ptx_accept(p, ".extern");
    if (ptx_accept(p, ".entry")) {
        parse_function(p, true);
        return;
    }
    if (ptx_accept(p, ".func")) {
        ptx_accept(p, ".noreturn");
        parse_function(p, false);
        return;
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!ptx_accept(p, spaces[i].name))
            continue;
        ptx_var *var = ptx_parse_variable(p, spaces[i].space, false);
        if (var) {
            var->external = external;
        }
        return;
    }
    ptx_error(p, p->lexer.line, "'%.*s' is not known to the double", (int)p->lexer.length,
              p->lexer.text);
    ptx_next(&p->lexer);
    ptx_recover(p);
    ptx_accept(p, "}");
}

bool ptx_parse_module(ptx_parser *p)
{
    ptx_next(&p->lexer);
    if (!ptx_is(&p->lexer, ".version")) {
        ptx_error(p, p->lexer.line, "PTX starts with .version");
        return false;
    }
    if (!parse_version(p))
        return false;
    if (!ptx_is(&p->lexer, ".target")) {
        ptx_error(p, p->lexer.line, "Missing .target directive");
        return false;
    }
    if (!parse_target(p))
        return false;
    while (p->lexer.token != PTX_END) {
        int64_t size;
        if (ptx_accept(p, ".address_size")) {
            if (ptx_take_int(p, &size) && size != 64)
                ptx_error(p, p->lexer.line, "addresses of %d bits are not known to the double",
                          (int)size);
        } else if (ptx_is(&p->lexer, ".file")) {
            parse_file(p);
        } else if (ptx_is(&p->lexer, ".section")) {
            skip_section(p);
        } else if (ptx_is(&p->lexer, ".pragma") || ptx_is(&p->lexer, ".alias")) {
            ptx_recover(p);
        } else {
            parse_item(p);
        }
    }
    return p->errors == 0;
}
