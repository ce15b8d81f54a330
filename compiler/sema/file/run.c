/* The run block and the functions of run blocks: names are checked here, calls in run_call.c; their
 * values are typed when they run. */
#include <string.h>

#include "sema/file/file.h"

static void check_stmts(kj_sema *s, const kj_stmt *st, int loops);

void kj_sema_run_list(kj_sema *s, const kj_expr *e)
{
    for (; e; e = e->next)
        kj_sema_run_expr(s, e);
}

/* ---- Names ---- */

/* Kernel builtins that work on numbers here too. */
static bool works_on_numbers(kj_builtin id)
{
    const char *group = kj_builtins[id].group;
    return strcmp(group, "arithmetic") == 0 || strcmp(group, "bits") == 0 ||
           strcmp(group, "math") == 0 || strcmp(group, "complex") == 0;
}

static void add_name(kj_sema *s, kj_scope *scope, const char *name, size_t len, kj_symbol_kind kind,
                     int index)
{
    kj_arena *a = s->program->arena;
    const char *text = kj_intern(a, name, len);
    kj_symbol *old = kj_scope_find(scope, text);
    kj_symbol *sym = old ? old : kj_scope_add(a, scope, text, (kj_span){0, 0}, kind);
    sym->role = KJ_ROLE_PREDEFINED;
    sym->index = index;
    sym->type = kind == KJ_SYM_TYPE ? (kj_dtype)index : KJ_VOID;
    sym->builtin = KJ_NBUILTINS;
}

static kj_scope *run_scope(kj_sema *s)
{
    kj_scope *scope = kj_scope_new(s->arena, NULL);
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        if (works_on_numbers((kj_builtin)id)) {
            add_name(s, scope, kj_builtins[id].name, strlen(kj_builtins[id].name), KJ_SYM_BUILTIN,
                     -1);
            kj_scope_find(scope, kj_intern(s->program->arena, kj_builtins[id].name,
                                           strlen(kj_builtins[id].name)))
                ->builtin = (kj_builtin)id;
        }
    }
    for (int i = 0; i < KJ_NRUN; i++) {
        const char *name = kj_run_builtins[i].name, *dot = strchr(name, '.');
        if (dot != name)
            add_name(s, scope, name, dot ? (size_t)(dot - name) : strlen(name),
                     dot ? KJ_SYM_NAMESPACE : KJ_SYM_BUILTIN, i);
    }
    for (int t = 0; t < KJ_NTYPES; t++)
        add_name(s, scope, kj_types[t].name, strlen(kj_types[t].name), KJ_SYM_TYPE, t);
#define AGGREGATE(id, number, text, kind, elem, n) \
    add_name(s, scope, text, strlen(text), KJ_SYM_TYPE, number);
#include "lang/aggregates.def"
#undef AGGREGATE
    add_name(s, scope, "inf", 3, KJ_SYM_VALUE, 0);
    add_name(s, scope, "nan", 3, KJ_SYM_VALUE, 0);
    add_name(s, scope, "pi", 2, KJ_SYM_VALUE, 0);
    scope = kj_scope_new(s->arena, scope);
    for (const kj_item *item = s->run_file->items; item; item = item->next) {
        const kj_symbol *global = item->name ? kj_scope_find(s->run_file->scope, item->name) : NULL;
        if (global && global->item == item)
            *kj_scope_add(s->arena, scope, item->name, item->name_span, global->kind) = *global;
    }
    return scope;
}

/* shared.array(8, f32), local.array(8, f32) */
static void hint_array(kj_sema *s, kj_message *m, const char *name)
{
    static const char array[] = ".array";
    const char *behind = s->diag->source->text + m->span.end;
    if (strcmp(name, "shared") != 0 && strcmp(name, "local") != 0)
        return;
    kj_hint(s->diag, m, "an array of the run block is zeros(8, f32), zeros((4, 8), f32)");
    if (strncmp(behind, array, strlen(array)) == 0 && behind[strlen(array)] == '(')
        kj_fix(s->diag, m, (kj_span){m->span.begin, m->span.end + (uint32_t)strlen(array)},
               "zeros");
}

kj_symbol *kj_sema_run_find(kj_sema *s, const char *name, kj_span span)
{
    kj_symbol *sym = kj_scope_find(s->scope, name);
    if (sym)
        return sym;
    const kj_symbol *in_kernel = kj_scope_find(s->run_file->scope, name);
    if (!in_kernel || (in_kernel->kind != KJ_SYM_BUILTIN && in_kernel->kind != KJ_SYM_NAMESPACE)) {
        kj_undeclared(s, name, span);
        return NULL;
    }
    kj_message *m = kj_sema_error(s, span, KJ_RULE_UNDECLARED,
                                  "'%s' is for kernels and functions, not for the run block", name);
    if (in_kernel->kind == KJ_SYM_BUILTIN && in_kernel->builtin == KJ_BI_DOT &&
        !kj_hint_call(s, m, "a @ b"))
        kj_hint(s->diag, m, "write a @ b");
    hint_array(s, m, name);
    return NULL;
}

void kj_sema_run_value(kj_sema *s, const kj_symbol *sym, const kj_expr *e)
{
    if (sym && sym->kind == KJ_SYM_TYPE && !kj_type_is_one(s, sym, e->span))
        return;
    bool declared = sym && (sym->kind == KJ_SYM_FN || sym->kind == KJ_SYM_RUN_FN);
    if (sym && sym->kind == KJ_SYM_FILE)
        kj_hint(s->diag,
                kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE,
                              "'%s' is a file's namespace, not a value", sym->name),
                "a name of it is written %s.name", sym->name);
    if (declared || (sym && sym->kind == KJ_SYM_BUILTIN)) {
        kj_message *m = kj_sema_error(s, e->span, KJ_RULE_CALL,
                                      "'%s' is a function, which is no value", sym->name);
        if (declared || !kj_hint_habit(s, m, sym->name))
            kj_hint(s->diag, m, "call it: %s(...)", kj_source_text(s, e->span, sym->name));
    }
}

/* ---- Expressions ---- */

static void check_index_count(kj_sema *s, const kj_expr *e)
{
    kj_known base = kj_run_known(s, e->u.index.base);
    int n = 0;
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        if (kj_is_new_axis(arg)) /* told where it is no name */
            return;
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        if (base.kind == KJ_R_ARRAY && base.ndim > 0 && kj_is_of_numbers(base) &&
            n++ == base.ndim) {
            kj_sema_error(s, arg->span, KJ_RULE_INDEX_COUNT,
                          "more indices than the array's %d ax%s", base.ndim,
                          base.ndim == 1 ? "is" : "es");
            return;
        }
}

/* let r = k[1, 32](x): a launch where a value is asked for. */
static void refuse_launch(kj_sema *s, const kj_expr *e)
{
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NO_VALUE, "a launch gives no value");
    kj_hint(s->diag, m, "a kernel writes what it finds into arrays that it is given");
}

void kj_sema_run_expr(kj_sema *s, const kj_expr *e)
{
    if (!e)
        return;
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT:
    case KJ_E_IMAG:
    case KJ_E_BOOL:
    case KJ_E_STRING: break;
    case KJ_E_NAME: kj_sema_run_value(s, kj_sema_run_find(s, e->u.name, e->span), e); break;
    case KJ_E_UNARY: kj_sema_run_expr(s, e->u.unary.arg); break;
    case KJ_E_BINARY:
        kj_sema_run_expr(s, e->u.binary.lhs);
        kj_sema_run_expr(s, e->u.binary.rhs);
        break;
    case KJ_E_CHAIN: kj_sema_run_list(s, e->u.chain.operands); break;
    case KJ_E_LOGIC:
        kj_sema_run_expr(s, e->u.logic.lhs);
        kj_sema_run_expr(s, e->u.logic.rhs);
        break;
    case KJ_E_COND:
        kj_sema_run_expr(s, e->u.cond.yes);
        kj_sema_run_expr(s, e->u.cond.test);
        kj_sema_run_expr(s, e->u.cond.no);
        break;
    case KJ_E_CALL:
        if (kj_sema_run_call(s, e))
            refuse_launch(s, e);
        break;
    case KJ_E_INDEX:
        kj_sema_run_expr(s, e->u.index.base);
        kj_sema_run_list(s, e->u.index.args);
        check_index_count(s, e);
        break;
    case KJ_E_SLICE:
        kj_sema_run_expr(s, e->u.slice.start);
        kj_sema_run_expr(s, e->u.slice.stop);
        kj_sema_run_expr(s, e->u.slice.step);
        break;
    case KJ_E_MEMBER: kj_sema_run_member(s, e); break;
    case KJ_E_TUPLE:
    case KJ_E_FORMAT:
    case KJ_E_LIST: kj_sema_run_list(s, e->u.list.items); break;
    }
}

/* ---- Statements ---- */

static void declare_run_names(kj_sema *s, const kj_name *name, kj_role role)
{
    for (; name; name = name->next)
        kj_declare_value(s, name->name, name->span, role,
                         (kj_operand){.kind = KJ_V_NONE, .span = name->span});
}

/* a = 1.0, of an array that is one in any case: all its elements are meant. */
static bool fills_array(kj_sema *s, const kj_symbol *sym, const kj_stmt *st)
{
    kj_rkind value = kj_run_known(s, st->u.assign.value).kind;
    return !st->u.assign.augmented && !st->u.assign.targets->next && sym->first &&
           sym->first->kind == KJ_R_ARRAY && (value == KJ_R_INT || value == KJ_R_FLOAT);
}

static void check_symbol_target(kj_sema *s, const kj_expr *target, const kj_symbol *sym,
                                const kj_stmt *st)
{
    if (!sym || (sym->kind == KJ_SYM_VALUE && sym->role == KJ_ROLE_VAR) ||
        (sym->kind == KJ_SYM_CONST && !sym->item->value))
        return;
    kj_role role = sym->kind == KJ_SYM_VALUE ? sym->role : KJ_ROLE_CONST;
    kj_message *m;
    if (sym->kind == KJ_SYM_VALUE || sym->kind == KJ_SYM_CONST)
        m = kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE,
                          "'%s' is %s and cannot be assigned", sym->name, kj_role_text(role));
    else
        m = kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "'%s' is not a variable",
                          sym->name);
    if (role == KJ_ROLE_LET && fills_array(s, sym, st)) {
        kj_hint(s->diag, m, "write %s[:], which are all its elements", sym->name);
        kj_fix(s->diag, m, target->span, "%s[:]", sym->name);
    } else if (role == KJ_ROLE_LET) {
        kj_hint_var(s, m, sym->span);
    }
    if (sym->span.end)
        kj_note(s->diag, m, sym->span, "declared here");
}

static void check_target(kj_sema *s, const kj_expr *target, const kj_stmt *st)
{
    if (kj_is_of_file(s->scope, target)) {
        check_symbol_target(s, target, kj_member_of_file(s, target), st);
        return;
    }
    bool field = target->kind == KJ_E_MEMBER && kj_run_member_named(target->u.member.name) < 0;
    if (target->kind == KJ_E_INDEX || field) {
        kj_sema_run_expr(s, target);
        return;
    }
    if (target->kind != KJ_E_NAME) {
        kj_message *m =
            kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "this cannot be assigned");
        if (target->kind == KJ_E_MEMBER && strcmp(target->u.member.name, "shape") == 0)
            kj_hint(s->diag, m,
                    "a view of another shape is a.reshape(1, 3), also a.reshape((1, -1))");
        else if (target->kind == KJ_E_MEMBER)
            kj_hint(s->diag, m,
                    "'%s' is a member of every array: a record's field of that name is that of its "
                    "elements, a[i].%s",
                    target->u.member.name, target->u.member.name);
        return;
    }
    const kj_symbol *sym = kj_scope_find(s->scope, target->u.name);
    if (kj_is_free_name(sym ? sym : kj_scope_find(s->run_file->scope, target->u.name))) {
        kj_undeclared_target(s, target->u.name, target->span);
        return;
    }
    check_symbol_target(s, target, kj_sema_run_find(s, target->u.name, target->span), st);
}

/* Within another statement. */
static void check_run_block(kj_sema *s, const kj_stmt *body, int loops)
{
    for (const kj_stmt *st = body; st && !s->in_run_function; st = st->next) {
        if (st->kind == KJ_S_PARAM)
            kj_hint(s->diag,
                    kj_sema_error(s, st->span, KJ_RULE_MISPLACED,
                                  "a param stands at the run block's top, for each run to have it"),
                    "take it out of the block, or write let");
    }
    kj_scope_push(s);
    check_stmts(s, body, loops);
    kj_scope_pop(s);
}

static void refuse_attributes(kj_sema *s, const kj_stmt *st, const char *text)
{
    for (const kj_attr *attr = st->attrs; attr; attr = attr->next) {
        kj_message *m = kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE, "%s", text);
        const char *timing = kj_habit_timing(attr->name);
        if (timing)
            kj_hint(s->diag, m, "%s", timing);
    }
}

static void refuse_loop_attributes(kj_sema *s, const kj_stmt *st)
{
    refuse_attributes(s, st, "a loop of the run block has no attributes");
}

static void check_for(kj_sema *s, const kj_stmt *st, int loops)
{
    kj_sema_run_expr(s, st->u.for_.iter);
    kj_known over = kj_run_known(s, st->u.for_.iter);
    refuse_loop_attributes(s, st);
    kj_scope_push(s);
    declare_run_names(s, st->u.for_.names, KJ_ROLE_LOOP);
    if (over.kind == KJ_R_RANGE && !st->u.for_.names->next)
        kj_run_set_known(s, st->u.for_.names,
                         (kj_known){.kind = KJ_R_INT, .type = KJ_VOID, .ndim = -1});
    else if (over.kind == KJ_R_ARRAY && over.ndim == 1 && !st->u.for_.names->next)
        kj_run_set_known(s, st->u.for_.names, kj_known_record(s, over.type));
    check_run_block(s, st->u.for_.body, loops + 1);
    kj_scope_pop(s);
}

/* What is certain of each name. A param may be replaced, by a value of its kind. */
static const kj_known *known_names(kj_sema *s, const kj_stmt *st, const kj_type *type)
{
    const kj_expr *init = st->u.let.init;
    kj_known is = init ? kj_run_known(s, init) : (kj_known){.kind = KJ_R_NONE, .ndim = -1};
    const kj_expr *item = init && init->kind == KJ_E_TUPLE ? init->u.list.items : NULL;
    int n = 0, i = 0;
    for (const kj_name *name = st->u.let.names; name; name = name->next)
        n++;
    kj_known *each = KJ_NEW_ARRAY(s->arena, kj_known, (size_t)n + 1);
    if (n == 1) {
        each[0] = type->kind != KJ_T_NONE ? kj_known_of_type(type)
                  : st->kind == KJ_S_PARAM
                      ? (kj_known){.kind = is.kind, .type = KJ_VOID, .ndim = -1}
                      : is;
        return each;
    }
    if (is.kind != KJ_R_TUPLE || is.ndim != n || type->kind != KJ_T_NONE)
        return each;
    for (; i < n; i++, item = item ? item->next : NULL) /* else it is a shape */
        each[i] = item                 ? kj_run_known(s, item)
                  : is.type != KJ_VOID ? (kj_known){.kind = KJ_R_INT, .type = KJ_VOID, .ndim = -1}
                                       : (kj_known){.kind = KJ_R_NONE, .type = KJ_VOID, .ndim = -1};
    return each;
}

/* `n` names or targets take as many values. */
static void check_count(kj_sema *s, const kj_expr *value, int n)
{
    kj_known is = kj_run_known(s, value);
    int given = value->kind == KJ_E_LIST ? value->u.list.n : is.kind == KJ_R_TUPLE ? is.ndim : -1;
    if (n > 1 && given >= 0 && given != n)
        kj_sema_error(s, value->span, KJ_RULE_TUPLE_ARITY,
                      given == 1 ? "%d values are needed here, and this is %d"
                                 : "%d values are needed here, and these are %d",
                      n, given);
}

/* It is run with nothing behind its file's name. */
static void refuse_param_of_test(kj_sema *s, const kj_stmt *st)
{
    const kj_span word = {st->span.begin, st->span.begin + (uint32_t)strlen("param")};
    kj_message *m =
        kj_sema_error(s, st->span, KJ_RULE_MISPLACED, "a param stands in the run block");
    kj_hint(s->diag, m, "a test has its values itself: let %s = ...", st->u.let.names->name);
    if (st->u.let.init)
        kj_fix(s->diag, m, word, "let");
}

static void check_let(kj_sema *s, const kj_stmt *st)
{
    if (st->kind == KJ_S_PARAM && s->in_run_function)
        kj_hint(s->diag,
                kj_sema_error(s, st->span, KJ_RULE_MISPLACED, "a param stands in the run block"),
                "what a function takes stands behind its name: run f(n = 10) { ... }");
    if (st->kind == KJ_S_PARAM && s->in_test)
        refuse_param_of_test(s, st);
    int before = s->diag->errors;
    if (st->u.let.init)
        kj_sema_run_expr(s, st->u.let.init);
    bool meant = s->diag->errors == before; /* else it may be meant as something else */
    if (st->u.let.init)
        check_count(s, st->u.let.init, kj_count_names(st->u.let.names));
    kj_type type = kj_resolve_type(s, st->u.let.type);
    const kj_known *each = known_names(s, st, &type);
    kj_role role = st->kind == KJ_S_PARAM ? KJ_ROLE_PARAM
                   : st->u.let.mutable    ? KJ_ROLE_VAR
                                          : KJ_ROLE_LET;
    declare_run_names(s, st->u.let.names, role);
    for (const kj_name *name = meant ? st->u.let.names : NULL; name; name = name->next)
        kj_run_set_known(s, name, *each++);
}

static void check_with(kj_sema *s, const kj_stmt *st, int loops)
{
    kj_sema_run_expr(s, st->u.with.value);
    const kj_known opened = kj_run_known(s, st->u.with.value);
    kj_scope_push(s);
    declare_run_names(s, st->u.with.name, KJ_ROLE_LET);
    if (st->u.with.name && opened.kind == KJ_R_STREAM)
        kj_run_set_known(s, st->u.with.name, opened);
    check_run_block(s, st->u.with.body, loops);
    kj_scope_pop(s);
}

static void check_stmt(kj_sema *s, const kj_stmt *st, int loops)
{
    switch (st->kind) {
    case KJ_S_LET:
    case KJ_S_PARAM: check_let(s, st); break;
    case KJ_S_ASSIGN:
        kj_sema_run_expr(s, st->u.assign.value);
        if (st->u.assign.targets->next && kj_undeclared_targets(s, st->u.assign.targets))
            break;
        check_count(s, st->u.assign.value, kj_count(st->u.assign.targets));
        for (const kj_expr *target = st->u.assign.targets; target; target = target->next)
            if (st->u.assign.augmented || !kj_throws_away(s, target))
                check_target(s, target, st);
        break;
    case KJ_S_EXPR:
        if (st->u.expr->kind == KJ_E_CALL)
            kj_sema_run_call(s, st->u.expr);
        else
            kj_sema_run_expr(s, st->u.expr);
        break;
    case KJ_S_RETURN:
        if (st->u.expr && !s->in_run_function)
            kj_hint(s->diag,
                    kj_sema_error(s, st->u.expr->span, KJ_RULE_MISPLACED,
                                  "the %s return takes no value: nobody gets it",
                                  s->in_test ? "test's" : "run block's"),
                    s->in_test ? "assert what it is to be" : "print it");
        kj_sema_run_expr(s, st->u.expr);
        break;
    case KJ_S_IF:
        kj_sema_run_expr(s, st->u.if_.test);
        check_run_block(s, st->u.if_.yes, loops);
        check_run_block(s, st->u.if_.no, loops);
        break;
    case KJ_S_FOR: check_for(s, st, loops); break;
    case KJ_S_WHILE:
        refuse_loop_attributes(s, st);
        kj_sema_run_expr(s, st->u.while_.test);
        check_run_block(s, st->u.while_.body, loops + 1);
        break;
    case KJ_S_WITH: check_with(s, st, loops); break;
    case KJ_S_BREAK:
    case KJ_S_CONTINUE:
        if (!loops)
            kj_sema_error(s, st->span, KJ_RULE_OUTSIDE_LOOP, "'%s' stands outside of a loop",
                          st->kind == KJ_S_BREAK ? "break" : "continue");
        break;
    case KJ_S_BLOCK:
        refuse_attributes(s, st, "a block with an attribute stands in a kernel or fn");
        break;
    case KJ_S_REQUIRES:
        kj_hint_assert(s,
                       kj_sema_error(s, st->span, KJ_RULE_MISPLACED,
                                     "'requires' stands at the head of a kernel"),
                       st);
        break;
    case KJ_S_LAUNCH:
        kj_hint(
            s->diag,
            kj_sema_error(s, st->span, KJ_RULE_MISPLACED, "'launch' is for launches by kernels"),
            "leave the word out");
        break;
    }
}

static void check_stmts(kj_sema *s, const kj_stmt *st, int loops)
{
    for (; st; st = st->next)
        check_stmt(s, st, loops);
}

/* ---- The block and the functions ---- */

/* A default is computed at the call, behind the parameters before it. */
static void check_parameters(kj_sema *s, const kj_item *fn)
{
    const kj_param_decl *with_default = NULL;
    for (const kj_param_decl *p = fn->params; p; p = p->next) {
        kj_name name = {.name = p->name, .span = p->span};
        kj_type type = kj_resolve_type(s, p->type);
        kj_sema_run_expr(s, p->init);
        declare_run_names(s, &name, KJ_ROLE_PARAM);
        kj_run_set_known(s, &name, kj_known_of_type(&type));
        with_default = with_default ? with_default : p->init ? p : NULL;
        kj_check_default_place(s, with_default, p);
    }
}

/* For who asks for them before the run. */
static void keep_kinds(kj_sema *s, kj_program *program)
{
    for (const kj_stmt *st = program->run->body; st; st = st->next) {
        if (st->kind != KJ_S_LET && st->kind != KJ_S_PARAM)
            continue;
        for (const kj_name *name = st->u.let.names; name; name = name->next) {
            const kj_symbol *sym = kj_scope_find(s->scope, name->name);
            if (!sym || !sym->known || sym->known->kind == KJ_R_NONE)
                continue;
            kj_run_name *kept = KJ_NEW(program->arena, kj_run_name);
            *kept = (kj_run_name){program->run_names, name->name, sym->known->kind};
            program->run_names = kept;
        }
    }
}

static void check_body(kj_sema *s, const kj_item *item, kj_scope *outer)
{
    s->scope = kj_scope_new(s->arena, outer);
    s->in_run_function = item->kind == KJ_I_RUN_FN;
    s->in_test = item->kind == KJ_I_TEST;
    kj_undeclared_anew(s);
    kj_run_find_changes(s, item->body);
    check_parameters(s, item);
    kj_scope_push(s);
    check_stmts(s, item->body, 0);
}

void kj_sema_run(kj_sema *s)
{
    kj_scope *outer = s->scope, *names = NULL;
    s->frame = NULL;
    s->in_run = true;
    for (int i = 0; i < s->program->nfiles; i++, names = NULL) {
        s->run_file = s->program->files[i];
        for (const kj_item *item = s->run_file->items; item; item = item->next) {
            bool test = item->kind == KJ_I_TEST && s->run_file == s->program->file;
            if (item->kind != KJ_I_RUN_FN && item != s->program->run && !test)
                continue;
            names = names ? names : run_scope(s);
            check_body(s, item, names);
            if (item == s->program->run)
                keep_kinds(s, s->made);
        }
    }
    s->in_run = s->in_run_function = s->in_test = false;
    s->scope = outer;
}
