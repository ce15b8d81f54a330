/* The program as a whole: declarations of its files (kernels, functions, records, constants)
 * resolved, every body checked. */
#include <string.h>

#include "sema/file/file.h"
#include "warn/warn.h"

/* ---- Declarations ---- */

/* A name for a used file that nothing in the file has: x_2, and for the next one x_3. */
static const char *other_name(kj_sema *s, const kj_item *use)
{
    int before = 0;
    const char *name;
    for (const kj_item *i = use->file->items; i != use; i = i->next)
        before += i->kind == KJ_I_USE && i->name == use->name;
    int n = before > 1 ? before : 1;
    do {
        name = kj_arena_printf(s->arena, "%s_%d", use->name, ++n);
    } while (kj_item_called(use->file, name, strlen(name)));
    return name;
}

static bool is_used_already(const kj_item *use)
{
    for (const kj_item *i = use->file->items; i != use; i = i->next)
        if (i->kind == KJ_I_USE && i->name == use->name && i->used && i->used == use->used)
            return true;
    return false;
}

/* Of two that have a name, where one is a used file's, which may have another here. */
static kj_symbol *declare_again(kj_sema *s, const kj_item *item, const kj_symbol *old,
                                kj_symbol_kind kind)
{
    const kj_item *use = item->kind == KJ_I_USE ? item : old->item;
    kj_message *m =
        kj_sema_error(s, item->name_span, KJ_RULE_REDECLARED, "'%s' is declared twice", item->name);
    if (use == item && is_used_already(use))
        kj_hint(s->diag, m, "leave it out: the file is used already");
    else if (use->library)
        kj_hint(s->diag, m, "give it another name: use std.%s as %s", use->path,
                other_name(s, use));
    else
        kj_hint(s->diag, m, "give it another name: use \"%s\" as %s", use->path,
                other_name(s, use));
    kj_note(s->diag, m, old->span, "declared here");
    return kj_scope_add(s->arena, s->scope, item->name, item->name_span, kind);
}

static void declare_item(kj_sema *s, kj_program *p, const kj_item *item)
{
    static const kj_symbol_kind kinds[] = {
        [KJ_I_USE] = KJ_SYM_FILE,      [KJ_I_CONST] = KJ_SYM_CONST, [KJ_I_FN] = KJ_SYM_FN,
        [KJ_I_KERNEL] = KJ_SYM_KERNEL, [KJ_I_RECORD] = KJ_SYM_TYPE, [KJ_I_RUN_FN] = KJ_SYM_RUN_FN,
        [KJ_I_TYPE] = KJ_SYM_TYPE};
    kj_symbol_kind kind = kinds[item->kind];
    if (!item->of && kj_type_named(item->name) != KJ_VOID)
        kj_sema_error(s, item->name_span, KJ_RULE_REDECLARED, "'%s' is a type already", item->name);
    const kj_symbol *old = kj_scope_find(s->scope, item->name);
    kj_symbol *sym = old && old->item && (item->kind == KJ_I_USE || old->kind == KJ_SYM_FILE)
                         ? declare_again(s, item, old, kind)
                         : kj_declare(s, item->name, item->name_span, kind);
    sym->item = item;
    if (kind == KJ_SYM_TYPE)
        sym->resolve = item->kind == KJ_I_TYPE ? kj_alias_resolve : kj_record_resolve;
    sym->role = KJ_ROLE_CONST;
    sym->type = KJ_VOID; /* a record's comes when it is laid out */
    if (kind == KJ_SYM_FN)
        sym->index = s->nfns++;
    p->nall += kind == KJ_SYM_KERNEL;
}

/* Who runs one says its title. */
static void declare_test(kj_sema *s, kj_scope *titles, const kj_item *test)
{
    const kj_symbol *other = kj_scope_find(titles, test->title);
    if (other) {
        kj_message *m =
            kj_sema_error(s, test->name_span, KJ_RULE_REDECLARED, "another test has this title");
        kj_note(s->diag, m, other->span, "the first one");
    } else {
        kj_scope_add(s->arena, titles, test->title, test->name_span, KJ_SYM_VALUE);
    }
}

static void declare_items(kj_sema *s, kj_program *p, kj_file *file, kj_scope *predefined)
{
    const kj_item *run = NULL;
    kj_scope *titles = kj_scope_new(s->arena, NULL);
    file->scope = kj_scope_of_file(s->arena, predefined, file);
    s->scope = file->scope;
    for (kj_item *item = file->items; item; item = item->next) {
        item->number = p->nitems++;
        if (item->kind == KJ_I_TEST) {
            if (file == p->file) /* those of others are nobody's here */
                declare_test(s, titles, item);
        } else if (item->kind != KJ_I_RUN) {
            declare_item(s, p, item);
        } else if (run) {
            kj_message *m =
                kj_sema_error(s, item->span, KJ_RULE_REDECLARED, "a file has one run block");
            kj_note(s->diag, m, (kj_span){run->span.begin, run->span.begin + 3}, "the first one");
        } else {
            run = item;
        }
    }
    if (file == p->file) {
        p->run = run;
        p->nkernels = p->nall;
    }
}

kj_symbol *kj_symbol_of(const kj_item *item)
{
    kj_symbol *sym = kj_scope_find(item->file->scope, item->name);
    return sym && sym->item == item ? sym : NULL;
}

static int generic_of(const kj_item *item, const kj_type_ref *ref)
{
    int i = 0;
    for (const kj_generic *g = item->generics; g; g = g->next, i++)
        if (ref && ref->name == g->name)
            return i; /* a used file's type has another name */
    return -1;
}

/* fn f<f32>(x: f32): what C++ writes for one of the types; here it would be a name for any. */
static void refuse_type_name(kj_sema *s, const kj_item *item, const kj_generic *g)
{
    const char *text = s->diag->source->text;
    uint32_t open = item->name_span.end, close = open + (uint32_t)strcspn(text + open, ">\n");
    kj_message *m = kj_sema_error(s, g->span, KJ_RULE_REDECLARED,
                                  "'%s' is a type, and here a name for any", g->name);
    bool alone = !item->generics->next && text[open] == '<' && text[close] == '>';
    kj_hint(s->diag, m,
            alone ? "leave the <...> out where %s itself is meant"
                  : "a type parameter has a name of its own, which %s is not",
            g->name);
    if (alone)
        kj_fix(s->diag, m, (kj_span){open, close + 1}, "%s", "");
}

static void check_generics(kj_sema *s, const kj_item *item)
{
    static const char *const bounds[] = {"int", "float", "complex", "number"};
    for (const kj_generic *g = item->generics; g; g = g->next) {
        if (kj_type_named(g->name) != KJ_VOID)
            refuse_type_name(s, item, g);
        bool known = !g->bound;
        for (int i = 0; i < 4; i++)
            known = known || strcmp(g->bound, bounds[i]) == 0;
        if (known)
            continue;
        kj_message *m = kj_sema_error(s, g->bound_span, KJ_RULE_GENERIC_BOUND,
                                      "'%s' is not a bound of types", g->bound);
        kj_hint(s->diag, m, "bounds are int, float, complex and number");
    }
}

/* What a launch gives for a tuple is known without its arrays. */
static bool refuse_generics(kj_sema *s, const kj_item *item, const kj_type_ref *tuple)
{
    for (const kj_type_ref *t = tuple && !tuple->name ? tuple->parts : NULL; t; t = t->next) {
        if (generic_of(item, t) >= 0) {
            kj_message *m = kj_sema_error(s, t->span, KJ_RULE_PARAMETER_TYPE,
                                          "a tuple that a launch gives is not of generic types");
            kj_hint(s->diag, m, "take its parts as parameters of their own");
            return true;
        }
        if (refuse_generics(s, item, t))
            return true;
    }
    return false;
}

/* Is there a type that it fits? */
static void check_generic_default(kj_sema *s, const kj_item *item, const kj_param_decl *p,
                                  const kj_kernel_param *of)
{
    const kj_generic *g = item->generics;
    kj_value v;
    for (int i = 0; i < of->generic; i++)
        g = g->next;
    for (kj_dtype t = 0; t < KJ_NTYPES; t++)
        if (kj_type_in_bound(t, g->bound) && kj_default_as(of->init, t, &v))
            return;
    kj_sema_error(s, p->init->span, KJ_RULE_CONSTANT_RANGE,
                  "the default of '%s' is %s, which no %s type holds", p->name,
                  kj_literal_text(s, of->init), g->bound ? g->bound : "element");
}

static void describe_param(kj_sema *s, const kj_item *item, const kj_param_decl *p,
                           kj_kernel_param *out)
{
    *out = (kj_kernel_param){.name = p->name,
                             .span = p->span,
                             .is_const = p->is_const,
                             .type = KJ_VOID,
                             .generic = generic_of(item, p->type),
                             .ndim = p->type ? p->type->ndim : 0};
    kj_type t = {.kind = KJ_T_ERROR};
    if (out->generic < 0 && !refuse_generics(s, item, p->type))
        t = kj_resolve_type(s, p->type);
    if (t.kind == KJ_T_TUPLE && !p->is_const) {
        const kj_aggregate *of = kj_tuple_record(s, &t, p->type->span);
        out->type = of ? of->type : KJ_VOID;
    }
    if (t.kind == KJ_T_SCALAR || t.kind == KJ_T_AGGREGATE || t.kind == KJ_T_ARRAY)
        out->type = t.dtype;
    if (p->is_const && out->ndim) {
        kj_message *m =
            kj_sema_error(s, p->span, KJ_RULE_CONST_PARAMETER, "a const parameter is a scalar");
        kj_hint(s->diag, m,
                "leave const out: that a kernel only reads an array needs no word; one whose "
                "values are known "
                "is declared at the top of the file");
    } else if (p->is_const && (t.of || t.kind == KJ_T_TUPLE)) {
        kj_sema_error(s, p->span, KJ_RULE_CONST_PARAMETER,
                      "a const parameter is a number or a bool");
    }
    if (!p->is_const && p->init) {
        kj_message *m = kj_sema_error(s, p->init->span, KJ_RULE_DEFAULT_VALUE,
                                      "of a kernel only a const parameter has a default value");
        kj_hint(s->diag, m, "write const %s: ..., which is chosen at the launch", p->name);
        kj_fix(s->diag, m, (kj_span){p->span.begin, p->span.begin}, "const ");
    }
    if (p->is_const && p->init && !out->ndim && !t.of && t.kind != KJ_T_TUPLE) {
        const char *what = kj_arena_printf(s->arena, "the default of '%s'", p->name);
        if (kj_expr_const(s, p->init, out->type, what, &out->init) && out->generic >= 0)
            check_generic_default(s, item, p, out);
    }
    out->has_default = p->init != NULL; /* a wrong one has been told: launches may go without */
}

/* Of a record: has it arrays, whose elements may be written by what they are handed to? */
static bool has_arrays(const kj_aggregate *of)
{
    for (int i = 0; of && kj_is_record(of) && i < of->n; i++)
        if (kj_is_fixed(of->fields[i].of) || has_arrays(of->fields[i].of))
            return true;
    return false;
}

static bool may_be_written(const kj_sema *s, const kj_kernel_param *p, const kj_touched *w)
{
    bool parts =
        w->touched && p->generic < 0 && p->ndim > 0 && has_arrays(kj_sema_aggregate(s, p->type));
    return w->written || w->may_be_written || parts;
}

static void describe_kernel(kj_sema *s, const kj_item *item, kj_kernel_decl *decl)
{
    kj_tkernel noted = {0};
    const char *space = item->file->space;
    *decl = (kj_kernel_decl){.name = item->name, .item = item, .generics = item->generics};
    if (space)
        decl->name = kj_arena_printf(s->arena, "%s.%s", space, item->name);
    if (item->type) {
        kj_message *m =
            kj_sema_error(s, item->type->span, KJ_RULE_RETURN_VALUE, "a kernel has no result");
        kj_hint(s->diag, m, "it writes into arrays; a function with a result is a fn");
    }
    for (const kj_generic *g = item->generics; g; g = g->next)
        decl->ngenerics++;
    for (const kj_param_decl *p = item->params; p; p = p->next)
        decl->nparams++;
    decl->params = KJ_NEW_ARRAY(s->arena, kj_kernel_param, (size_t)decl->nparams + 1);
    const kj_touched *written = s->diag->errors ? NULL : kj_arrays_written(s->arena, item);
    int i = 0;
    for (const kj_param_decl *p = item->params; p; p = p->next, i++) {
        describe_param(s, item, p, &decl->params[i]);
        decl->params[i].may_be_written =
            written && may_be_written(s, &decl->params[i], &written[i]);
        decl->nconsts += p->is_const;
    }
    kj_kernel_attrs(s, item, &noted);
    memcpy(decl->launch_bounds, noted.launch_bounds, sizeof decl->launch_bounds);
}

static void describe_kernels(kj_sema *s, kj_program *p)
{
    int n = 0;
    p->kernels = KJ_NEW_ARRAY(s->arena, kj_kernel_decl, (size_t)p->nall + 1);
    for (int i = 0; i < p->nfiles; i++) {
        s->scope = p->files[i]->scope;
        for (const kj_item *item = p->files[i]->items; item; item = item->next)
            if (item->kind == KJ_I_KERNEL)
                describe_kernel(s, item, &p->kernels[n++]);
    }
}

/* ---- Bodies ---- */

/* Types that stand for all a bound allows; the narrow integers are checked where they are used. */
static const kj_dtype typical[] = {KJ_F32, KJ_F64,  KJ_I32, KJ_I64, KJ_U32,
                                   KJ_U64, KJ_BOOL, KJ_C64, KJ_C128};
enum { NTYPICAL = sizeof typical / sizeof *typical };

/* Complex numbers are tried only where nothing else is meant: <T: number> may compare. */
static bool is_tried(kj_dtype t, const char *bound)
{
    return kj_type_in_bound(t, bound) &&
           (!kj_is_complex_type(t) || (bound && strcmp(bound, "complex") == 0));
}

/* Every generic takes the n-th typical type that its bound allows (from the start again when
 * there are fewer). False when n is past the end for all of them. */
static bool nth_types(const kj_generic *g, int n, kj_dtype *out)
{
    bool more = n == 0;
    for (; g; g = g->next) {
        int allowed = 0, seen = 0;
        for (int i = 0; i < NTYPICAL; i++)
            allowed += is_tried(typical[i], g->bound);
        more |= n < allowed;
        *out = KJ_F32;
        for (int i = 0; i < NTYPICAL && allowed; i++)
            if (is_tried(typical[i], g->bound) && seen++ == n % allowed)
                *out = typical[i];
        out++;
    }
    return more;
}

static kj_value check_value(const kj_kernel_param *p, const kj_dtype *generics)
{
    kj_dtype type = p->generic >= 0 ? generics[p->generic] : p->type;
    kj_value v;
    if (p->has_default && kj_default_as(p->init, type, &v))
        return v;
    return kj_fold_convert(kj_int(KJ_I32, 1), kj_is_scalar(type) ? type : KJ_I32);
}

static void check_kernel(kj_sema *s, const kj_kernel_decl *decl, const kj_dtype *generics)
{
    kj_value *consts = KJ_NEW_ARRAY(s->arena, kj_value, (size_t)decl->nconsts + 1);
    int n = 0;
    for (int i = 0; i < decl->nparams; i++)
        if (decl->params[i].is_const)
            consts[n++] = check_value(&decl->params[i], generics);
    kj_spec spec = {.generics = generics, .consts = consts, .no_contract = s->no_contract};
    s->assumed = n > 0;
    kj_kernel_build(s, decl, &spec);
}

typedef struct fn_walk {
    const kj_symbol *fn;
    const kj_dtype *generics;
} fn_walk;

static void check_fn(kj_sema *s, void *ctx)
{
    const fn_walk *w = ctx;
    kj_tkernel *k = KJ_NEW(s->arena, kj_tkernel);
    kj_spec spec = {.generics = w->generics, .no_contract = s->no_contract};
    kj_sink sink;
    s->kernel = k;
    s->spec = &spec;
    s->scope = w->fn->item->file->scope;
    kj_sink_open(s, &sink);
    kj_fn_check(s, w->fn, w->generics);
    const kj_tstmt *body = kj_sink_close(s, &sink);
    if (s->diag->errors == 0)
        kj_warn_of_types(s->diag, s->program->file, body);
}

/* One check in memory of its own, given back at once: what is kept are messages and `broken`. */
static void check_once(kj_sema *outer, const kj_symbol *fn, const kj_kernel_decl *decl,
                       const kj_dtype *generics)
{
    kj_arena scratch;
    jmp_buf fail;
    jmp_buf *kept = outer->arena->fail, *kept_diag = outer->diag->arena->fail;
    kj_arena_init(&scratch, &fail);
    outer->arena->fail = outer->diag->arena->fail = &fail;
    if (setjmp(fail)) {
        kj_arena_free(&scratch);
        outer->diag->arena->fail = kept_diag;
        outer->arena->fail = kept;
        longjmp(*kept, 1);
    }
    kj_sema s = {.arena = &scratch,
                 .diag = outer->diag,
                 .program = outer->program,
                 .broken = outer->broken,
                 .nfns = outer->nfns,
                 .no_contract = outer->no_contract};
    if (fn)
        kj_walk_open(&s, check_fn, &(fn_walk){fn, generics});
    else
        check_kernel(&s, decl, generics);
    outer->total += s.total + s.nodes;
    outer->asks_grid |= s.asks_grid;
    kj_arena_free(&scratch);
    outer->diag->arena->fail = kept_diag;
    outer->arena->fail = kept;
}

static void check_body(kj_sema *s, const kj_item *item, const kj_symbol *fn,
                       const kj_kernel_decl *decl)
{
    int ngenerics = 0, before = s->diag->errors;
    check_generics(s, item);
    for (const kj_generic *g = item->generics; g; g = g->next)
        ngenerics++;
    kj_dtype *types = KJ_NEW_ARRAY(s->arena, kj_dtype, (size_t)ngenerics + 1);
    for (int n = 0; s->diag->errors == before && nth_types(item->generics, n, types); n++) {
        if (s->total > KJ_MAX_CHECKED) {
            kj_sema_error(s, item->name_span, KJ_RULE_TOO_LARGE,
                          "the functions and kernels up to '%s' are too much code", item->name);
            return;
        }
        if (fn && s->broken[fn->index])
            return;
        check_once(s, fn, decl, types);
    }
}

static void resolve_types(kj_sema *s, const kj_file *file)
{
    s->scope = file->scope;
    for (const kj_item *item = file->items; item; item = item->next) {
        bool type = item->kind == KJ_I_TYPE || item->kind == KJ_I_RECORD;
        kj_symbol *sym = type ? kj_symbol_of(item) : NULL;
        if (sym)
            sym->resolve(s, sym);
    }
}

static void resolve_items(kj_sema *s, const kj_file *file)
{
    s->scope = file->scope;
    for (const kj_item *item = file->items; item; item = item->next) {
        kj_symbol *sym = item->name ? kj_symbol_of(item) : NULL;
        if (sym && item->kind == KJ_I_CONST)
            kj_const_resolve(s, sym);
        static const char *const plain[] = {[KJ_I_CONST] = "a constant",
                                            [KJ_I_RUN] = "a run block",
                                            [KJ_I_RUN_FN] = "a function of run blocks",
                                            [KJ_I_TYPE] = "a name of a type",
                                            [KJ_I_TEST] = "a test"};
        bool is_plain = (size_t)item->kind < sizeof plain / sizeof *plain && plain[item->kind];
        if (item->attrs && is_plain)
            kj_sema_error(s, item->attrs->span, KJ_RULE_ATTRIBUTE, "%s has no attributes",
                          item->enumerates ? "an enum" : plain[item->kind]);
    }
}

static void check_own_kernel(kj_sema *s, kj_program *p, const kj_item *item)
{
    const kj_kernel_decl *decl = kj_kernel_of(p, item);
    s->asks_grid = false;
    check_body(s, item, NULL, decl);
    if (decl)
        p->kernels[decl - p->kernels].asks_grid = s->asks_grid;
}

static void check_bodies(kj_sema *s, kj_program *p, const kj_file *file)
{
    s->scope = file->scope;
    for (const kj_item *item = file->items; item && !s->too_big; item = item->next) {
        if (item->kind == KJ_I_FN && kj_symbol_of(item))
            check_body(s, item, kj_symbol_of(item), NULL);
        else if (item->kind == KJ_I_KERNEL)
            check_own_kernel(s, p, item);
    }
}

/* Run blocks have defaults as kernels do. */
static void keep_defaults(kj_sema *s, const kj_file *file)
{
    for (const kj_item *item = file->items; item; item = item->next) {
        for (kj_param_decl *p = item->params; p && item->kind == KJ_I_FN; p = p->next) {
            if (!p->init)
                continue;
            kj_operand *value = KJ_NEW(s->arena, kj_operand);
            *value = kj_default_argument(s, item, p);
            p->value = value;
        }
    }
}

kj_program *kj_sema_program(kj_arena *arena, kj_diag *diag, kj_file *const *files, int nfiles,
                            kj_records *records, bool no_contract)
{
    kj_program *p = KJ_NEW(arena, kj_program);
    p->file = files[0];
    p->files = files;
    p->nfiles = nfiles;
    p->arena = arena;
    p->records = records;
    kj_scope *predefined = kj_predefined(arena);
    kj_sema s = {.arena = arena, .diag = diag, .program = p, .made = p, .no_contract = no_contract};
    kj_sink sink;
    kj_sink_open(&s, &sink);
    for (int i = 0; i < nfiles; i++)
        declare_items(&s, p, files[i], predefined);
    p->declared = KJ_NEW_ARRAY(arena, kj_record_decl, (size_t)p->nitems + 1);
    s.broken = KJ_NEW_ARRAY(arena, bool, (size_t)s.nfns + 1);
    for (int i = 0; i < nfiles; i++)
        resolve_types(&s, files[i]);
    for (int i = 0; i < nfiles; i++)
        resolve_items(&s, files[i]);
    describe_kernels(&s, p);
    for (int i = 0; i < nfiles; i++)
        if (!files[i]->checked)
            check_bodies(&s, p, files[i]);
    for (int i = 0; i < nfiles && diag->errors == 0; i++)
        keep_defaults(&s, files[i]);
    s.scope = p->file->scope;
    kj_sema_run(&s);
    kj_sink_close(&s, &sink);
    return p;
}
