/* The run block: names, kernels and argument counts are checked here; its values are typed when it runs. */
#include <string.h>

#include "sema_impl.h"

typedef enum run_id {
#define RUN(id, name, signature, doc) RUN_##id,
#include "run_builtins.def"
#undef RUN
    NRUN,
} run_id;

static const struct { const char *name, *signature; } run_names[NRUN] = {
#define RUN(id, name, signature, doc) {name, signature},
#include "run_builtins.def"
#undef RUN
};

static void check_expr(kj_sema *s, const kj_expr *e);
static void check_stmts(kj_sema *s, const kj_stmt *st, int loops);

bool kj_is_run_name(const char *name)
{
    for (int i = 0; i < NRUN; i++)
        if (strcmp(run_names[i].name, name) == 0)
            return true;
    return false;
}

static void check_list(kj_sema *s, const kj_expr *e)
{
    for (; e; e = e->next)
        check_expr(s, e);
}

/* ---- Names ---- */

/* Kernel builtins that work on numbers here too. */
static bool works_on_numbers(kj_builtin id)
{
    const char *group = kj_builtins[id].group;
    return strcmp(group, "arithmetic") == 0 || strcmp(group, "bits") == 0 || strcmp(group, "math") == 0;
}

static void add_name(kj_sema *s, kj_scope *scope, const char *name, size_t len, kj_symbol_kind kind, int index)
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
            add_name(s, scope, kj_builtins[id].name, strlen(kj_builtins[id].name), KJ_SYM_BUILTIN, -1);
            kj_scope_find(scope, kj_intern(s->program->arena, kj_builtins[id].name, strlen(kj_builtins[id].name)))
                ->builtin = (kj_builtin)id;
        }
    }
    for (int i = 0; i < NRUN; i++) {
        const char *name = run_names[i].name, *dot = strchr(name, '.');
        if (dot != name)
            add_name(s, scope, name, dot ? (size_t)(dot - name) : strlen(name),
                     dot ? KJ_SYM_NAMESPACE : KJ_SYM_BUILTIN, i);
    }
    for (int t = 0; t < KJ_NTYPES; t++)
        add_name(s, scope, kj_types[t].name, strlen(kj_types[t].name), KJ_SYM_TYPE, t);
    add_name(s, scope, "inf", 3, KJ_SYM_VALUE, 0);
    add_name(s, scope, "nan", 3, KJ_SYM_VALUE, 0);
    add_name(s, scope, "pi", 2, KJ_SYM_VALUE, 0);
    scope = kj_scope_new(s->arena, scope);
    for (const kj_item *item = s->program->file->items; item; item = item->next) {
        const kj_symbol *global = item->name ? kj_scope_find(s->program->globals, item->name) : NULL;
        if (global && global->item == item)
            *kj_scope_add(s->arena, scope, item->name, item->name_span, global->kind) = *global;
    }
    return scope;
}

static kj_symbol *find_name(kj_sema *s, const char *name, kj_span span)
{
    kj_symbol *sym = kj_scope_find(s->scope, name);
    if (sym)
        return sym;
    const kj_symbol *in_kernel = kj_scope_find(s->program->globals, name);
    if (in_kernel && (in_kernel->kind == KJ_SYM_BUILTIN || in_kernel->kind == KJ_SYM_NAMESPACE))
        kj_sema_error(s, span, "undeclared", "'%s' is for kernels and functions, not for the run block", name);
    else
        kj_undeclared(s, name, span);
    return NULL;
}

static void check_name(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = find_name(s, e->u.name, e->span);
    if (sym && sym->kind == KJ_SYM_FN) {
        kj_message *m = kj_sema_error(s, e->span, "call", "'%s' is a function of kernels", sym->name);
        kj_hint(s->diag, m, "launch a kernel that calls it");
    }
}

/* ---- Arguments against a signature ---- */

/* One parameter of "(a, b=1, values...)"; gives what follows it, or NULL at the end. */
static const char *next_parameter(const char *at, const char **name, size_t *len, char *kind)
{
    at += strspn(at, "(, ");
    if (*at == ')' || *at == '\0')
        return NULL;
    *name = at;
    *len = strcspn(at, "=.,)");
    at += *len;
    *kind = *at;
    for (bool quoted = false; *at && (quoted || (*at != ',' && *at != ')')); at++)
        quoted ^= *at == '"';
    return at;
}

static bool has_parameter(const char *signature, const char *wanted)
{
    const char *name;
    size_t len;
    char kind;
    for (const char *at = signature; (at = next_parameter(at, &name, &len, &kind));)
        if (kind != '.' && strlen(wanted) == len && strncmp(wanted, name, len) == 0)
            return true;
    return false;
}

static void check_signature(kj_sema *s, const kj_expr *call, const char *called, const char *signature)
{
    int least = 0, most = 0, places = 0, named = 0;
    bool any = false;
    const char *name;
    size_t len;
    char kind;
    for (const char *at = signature; (at = next_parameter(at, &name, &len, &kind));) {
        any |= kind == '.';
        most += kind != '.';
        least += kind != '.' && kind != '=';
    }
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        check_expr(s, arg);
        if (!arg->keyword) {
            places++;
        } else if (has_parameter(signature, arg->keyword)) {
            named++;
        } else {
            kj_message *m = kj_sema_error(s, arg->keyword_span, "keyword", "'%s' has no parameter '%s'", called,
                                          arg->keyword);
            kj_hint(s->diag, m, "%s%s", called, signature);
            return;
        }
    }
    if (!any && (places + named > most || places + named < least))
        kj_arity_error(s, call, called, signature, least, most);
}

static void check_number_builtin(kj_sema *s, const kj_expr *call, kj_builtin id)
{
    const char *open = strchr(kj_builtins[id].signature, '(');
    int wanted = open ? (int)strcspn(open + 1, ")") : 0, n = kj_count(call->u.call.args);
    bool extreme = id == KJ_BI_MIN || id == KJ_BI_MAX;
    check_list(s, call->u.call.args);
    if (n == wanted || (extreme && n > wanted))
        return;
    kj_message *m = kj_sema_error(s, call->span, "argument-count", "'%s' takes %d argument%s, not %d",
                                  kj_builtins[id].name, wanted, wanted == 1 ? "" : "s", n);
    kj_hint(s->diag, m, "%s%s", kj_builtins[id].name, kj_builtin_words(s, id));
}

/* ---- Launches ---- */

static const char *kernel_signature(kj_sema *s, const kj_kernel_decl *k)
{
    const char *text = "";
    for (int i = 0; i < k->nparams; i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s%s", text, i ? ", " : "", k->params[i].is_const ? "const " : "",
                               k->params[i].name);
    return text;
}

static int param_named(const kj_kernel_decl *k, const char *name)
{
    for (int i = 0; i < k->nparams; i++)
        if (k->params[i].name == name)
            return i;
    return -1;
}

/* Where an argument by place goes: const parameters are given by name, or by place after all others. */
static int place_of(const kj_kernel_decl *k, int nth)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k->nparams; i++)
            if (k->params[i].is_const == (pass == 1) && nth-- == 0)
                return i;
    return -1;
}

static void unknown_parameter(kj_sema *s, const kj_expr *arg, const kj_kernel_decl *k)
{
    const char **names = KJ_NEW_ARRAY(s->diag->arena, const char *, (size_t)k->nparams + 1);
    for (int i = 0; i < k->nparams; i++)
        names[i] = k->params[i].name;
    const char *near = kj_nearest(arg->keyword, names, (size_t)k->nparams);
    kj_message *m = kj_sema_error(s, arg->keyword_span, "keyword", "kernel '%s' has no parameter '%s'", k->name,
                                  arg->keyword);
    if (near)
        kj_hint(s->diag, m, "did you mean '%s'?", near);
    else
        kj_hint(s->diag, m, "its parameters: %s", kernel_signature(s, k));
}

static void check_launch(kj_sema *s, const kj_expr *call, const kj_kernel_decl *k)
{
    bool *given = KJ_NEW_ARRAY(s->arena, bool, (size_t)k->nparams + 1);
    int nth = 0, n = kj_count(call->u.call.args);
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        check_expr(s, arg);
        int i = arg->keyword ? param_named(k, arg->keyword) : place_of(k, nth++);
        if (i < 0 && arg->keyword) {
            unknown_parameter(s, arg, k);
            return;
        }
        if (i < 0) {
            kj_message *m = kj_sema_error(s, arg->span, "argument-count", "kernel '%s' takes %d arguments, not %d",
                                          k->name, k->nparams, n);
            kj_note(s->diag, m, k->item->name_span, "declared here");
            return;
        }
        if (given[i]) {
            kj_sema_error(s, arg->span, "keyword", "'%s' is given twice", k->params[i].name);
            return;
        }
        given[i] = true;
    }
    for (int i = 0; i < k->nparams; i++) {
        if (given[i] || k->params[i].has_default)
            continue;
        kj_message *m = kj_sema_error(s, call->span, "argument-count", "'%s' of kernel '%s' is missing",
                                      k->params[i].name, k->name);
        kj_hint(s->diag, m, "%s[grid, block](%s)", k->name, kernel_signature(s, k));
        kj_note(s->diag, m, k->params[i].span, "declared here");
        return;
    }
}

static const kj_kernel_decl *kernel_of(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = e->kind == KJ_E_NAME ? kj_scope_find(s->scope, e->u.name) : NULL;
    return sym && sym->kind == KJ_SYM_KERNEL ? kj_kernel_named(s->program, sym->name) : NULL;
}

/* k[grid, block](...) or k.forall(n)(...): true when the call is a launch. */
static bool check_launch_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    const kj_kernel_decl *k = NULL;
    if (callee->kind == KJ_E_INDEX && (k = kernel_of(s, callee->u.index.base))) {
        int n = kj_count(callee->u.index.args);
        check_list(s, callee->u.index.args);
        if (n < 2 || n > 3) {
            kj_message *m = kj_sema_error(s, callee->span, "launch", "a launch needs a grid and a block");
            kj_hint(s->diag, m, "write %s[blocks, threads](...) or %s[blocks, threads, stream](...)", k->name,
                    k->name);
        }
    } else if (callee->kind == KJ_E_CALL && callee->u.call.callee->kind == KJ_E_MEMBER &&
               strcmp(callee->u.call.callee->u.member.name, "forall") == 0 &&
               (k = kernel_of(s, callee->u.call.callee->u.member.base))) {
        check_signature(s, callee, "forall", run_names[RUN_M_FORALL].signature);
    }
    if (k)
        check_launch(s, e, k);
    return k != NULL;
}

/* ---- Calls and members ---- */

static int member_index(const char *name)
{
    for (int i = 0; i < NRUN; i++)
        if (run_names[i].name[0] == '.' && strcmp(run_names[i].name + 1, name) == 0)
            return i;
    return -1;
}

static void unknown_member(kj_sema *s, const kj_expr *e)
{
    const char *names[NRUN];
    size_t n = 0;
    for (int i = 0; i < NRUN; i++)
        if (run_names[i].name[0] == '.')
            names[n++] = run_names[i].name + 1;
    kj_message *m = kj_sema_error(s, e->u.member.name_span, "unknown-member", "no value has a member '%s'",
                                  e->u.member.name);
    const char *near = kj_nearest(e->u.member.name, names, n);
    if (near)
        kj_hint(s->diag, m, "did you mean '%s'?", near);
}

/* random.uniform: its row, -1 when `e` is no dotted name, -2 when the name is unknown (reported). */
static int dotted_index(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    const kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    if (!sym || sym->kind != KJ_SYM_NAMESPACE)
        return -1;
    size_t n = strlen(sym->name);
    const char *list = "";
    for (int i = 0; i < NRUN; i++) {
        if (strncmp(run_names[i].name, sym->name, n) != 0 || run_names[i].name[n] != '.')
            continue;
        if (strcmp(run_names[i].name + n + 1, e->u.member.name) == 0)
            return i;
        list = kj_arena_printf(s->diag->arena, "%s%s%s", list, *list ? ", " : "", run_names[i].name);
    }
    kj_message *m = kj_sema_error(s, e->u.member.name_span, "unknown-member", "'%s' has no member '%s'", sym->name,
                                  e->u.member.name);
    kj_hint(s->diag, m, "there are %s", list);
    return -2;
}

/* np.zeros: is the name before the dot one that is not declared? (reported) */
static bool undeclared_base(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    return base->kind == KJ_E_NAME && !find_name(s, base->u.name, base->span);
}

static void check_member(kj_sema *s, const kj_expr *e)
{
    if (dotted_index(s, e) != -1 || undeclared_base(s, e))
        return;
    check_expr(s, e->u.member.base);
    int i = member_index(e->u.member.name);
    if (i < 0)
        unknown_member(s, e);
    else if (run_names[i].signature[0] != '\0') {
        kj_message *m = kj_sema_error(s, e->span, "call", "'%s' is a method", e->u.member.name);
        kj_hint(s->diag, m, "call it: .%s%s", e->u.member.name, run_names[i].signature);
    }
}

static void check_method(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    int i = dotted_index(s, callee);
    if (i == -1 && undeclared_base(s, callee)) {
        check_list(s, e->u.call.args);
        return;
    }
    if (i == -1) {
        check_expr(s, callee->u.member.base);
        i = member_index(callee->u.member.name);
        if (i < 0)
            unknown_member(s, callee);
    }
    if (i < 0) {
        check_list(s, e->u.call.args);
        return;
    }
    const char *name = run_names[i].name;
    if (run_names[i].signature[0] == '\0') {
        kj_message *m = kj_sema_error(s, e->span, "call", "'%s' is no method", callee->u.member.name);
        kj_hint(s->diag, m, "write it without parentheses");
        return;
    }
    check_signature(s, e, name[0] == '.' ? name + 1 : name, run_names[i].signature);
}

static void check_swap(kj_sema *s, const kj_expr *e)
{
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
        if (arg->kind != KJ_E_NAME)
            kj_sema_error(s, arg->span, "call", "swap exchanges what two names stand for, and this is no name");
}

static void check_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    if (check_launch_call(s, e))
        return;
    if (callee->kind == KJ_E_MEMBER) {
        check_method(s, e);
        return;
    }
    if (callee->kind != KJ_E_NAME) {
        check_expr(s, callee);
        check_list(s, e->u.call.args);
        return;
    }
    const kj_symbol *sym = find_name(s, callee->u.name, callee->span);
    if (sym && sym->kind == KJ_SYM_BUILTIN) {
        if (sym->index >= 0)
            check_signature(s, e, sym->name, run_names[sym->index].signature);
        else
            check_number_builtin(s, e, sym->builtin);
        if (sym->index == RUN_SWAP)
            check_swap(s, e);
        return;
    }
    check_list(s, e->u.call.args);
    if (!sym)
        return;
    kj_message *m;
    if (sym->kind == KJ_SYM_KERNEL) {
        m = kj_sema_error(s, e->span, "launch", "'%s' is a kernel: a launch needs a grid and a block", sym->name);
        kj_hint(s->diag, m, "write %s[blocks, threads](...) or %s.forall(n)(...)", sym->name, sym->name);
    } else if (sym->kind == KJ_SYM_FN) {
        check_name(s, callee);
    } else if (sym->kind == KJ_SYM_TYPE) {
        if (kj_count(e->u.call.args) != 1)
            kj_arity_error(s, e, sym->name, "(x)", 1, 1);
    } else {
        kj_sema_error(s, callee->span, "call", "'%s' is not a function", sym->name);
    }
}

static void check_expr(kj_sema *s, const kj_expr *e)
{
    if (!e)
        return;
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT:
    case KJ_E_BOOL:
    case KJ_E_STRING:
        break;
    case KJ_E_NAME:
        check_name(s, e);
        break;
    case KJ_E_UNARY:
        check_expr(s, e->u.unary.arg);
        break;
    case KJ_E_BINARY:
        check_expr(s, e->u.binary.lhs);
        check_expr(s, e->u.binary.rhs);
        break;
    case KJ_E_CHAIN:
        check_list(s, e->u.chain.operands);
        break;
    case KJ_E_LOGIC:
        check_expr(s, e->u.logic.lhs);
        check_expr(s, e->u.logic.rhs);
        break;
    case KJ_E_COND:
        check_expr(s, e->u.cond.yes);
        check_expr(s, e->u.cond.test);
        check_expr(s, e->u.cond.no);
        break;
    case KJ_E_CALL:
        check_call(s, e);
        break;
    case KJ_E_INDEX:
        check_expr(s, e->u.index.base);
        check_list(s, e->u.index.args);
        break;
    case KJ_E_SLICE:
        check_expr(s, e->u.slice.start);
        check_expr(s, e->u.slice.stop);
        check_expr(s, e->u.slice.step);
        break;
    case KJ_E_MEMBER:
        check_member(s, e);
        break;
    case KJ_E_TUPLE:
    case KJ_E_LIST:
        check_list(s, e->u.list.items);
        break;
    }
}

/* ---- Statements ---- */

static void declare_run_names(kj_sema *s, const kj_name *name, kj_role role)
{
    for (; name; name = name->next)
        kj_declare_value(s, name->name, name->span, role, (kj_operand){.kind = KJ_V_NONE, .span = name->span});
}

static void check_target(kj_sema *s, const kj_expr *target)
{
    if (target->kind == KJ_E_INDEX) {
        check_expr(s, target);
        return;
    }
    if (target->kind != KJ_E_NAME) {
        kj_sema_error(s, target->span, "not-assignable", "this cannot be assigned");
        return;
    }
    const kj_symbol *sym = find_name(s, target->u.name, target->span);
    if (!sym || (sym->kind == KJ_SYM_VALUE && sym->role == KJ_ROLE_VAR))
        return;
    kj_role role = sym->kind == KJ_SYM_VALUE ? sym->role : KJ_ROLE_CONST;
    kj_message *m;
    if (sym->kind == KJ_SYM_VALUE || sym->kind == KJ_SYM_CONST)
        m = kj_sema_error(s, target->span, "not-assignable", "'%s' is %s and cannot be assigned", sym->name,
                          kj_role_text(role));
    else
        m = kj_sema_error(s, target->span, "not-assignable", "'%s' is not a variable", sym->name);
    if (role == KJ_ROLE_LET)
        kj_hint(s->diag, m, "declare it with 'var'");
    if (sym->span.end)
        kj_note(s->diag, m, sym->span, "declared here");
}

static void check_run_block(kj_sema *s, const kj_stmt *body, int loops)
{
    kj_scope_push(s);
    check_stmts(s, body, loops);
    kj_scope_pop(s);
}

static void check_for(kj_sema *s, const kj_stmt *st, int loops)
{
    check_expr(s, st->u.for_.iter);
    for (const kj_attr *attr = st->attrs; attr; attr = attr->next)
        kj_sema_error(s, attr->span, "attribute", "a loop of the run block has no attributes");
    kj_scope_push(s);
    declare_run_names(s, st->u.for_.names, KJ_ROLE_LOOP);
    check_run_block(s, st->u.for_.body, loops + 1);
    kj_scope_pop(s);
}

static void check_let(kj_sema *s, const kj_stmt *st)
{
    check_expr(s, st->u.let.init);
    kj_resolve_type(s, st->u.let.type);
    kj_role role = st->kind == KJ_S_PARAM ? KJ_ROLE_PARAM : st->u.let.mutable ? KJ_ROLE_VAR : KJ_ROLE_LET;
    declare_run_names(s, st->u.let.names, role);
}

static void check_stmt(kj_sema *s, const kj_stmt *st, int loops)
{
    switch (st->kind) {
    case KJ_S_LET:
    case KJ_S_PARAM:
        check_let(s, st);
        break;
    case KJ_S_ASSIGN:
        check_expr(s, st->u.assign.value);
        for (const kj_expr *target = st->u.assign.targets; target; target = target->next)
            check_target(s, target);
        break;
    case KJ_S_EXPR:
    case KJ_S_RETURN:
        check_expr(s, st->u.expr);
        break;
    case KJ_S_IF:
        check_expr(s, st->u.if_.test);
        check_run_block(s, st->u.if_.yes, loops);
        check_run_block(s, st->u.if_.no, loops);
        break;
    case KJ_S_FOR:
        check_for(s, st, loops);
        break;
    case KJ_S_WHILE:
        check_expr(s, st->u.while_.test);
        check_run_block(s, st->u.while_.body, loops + 1);
        break;
    case KJ_S_BREAK:
    case KJ_S_CONTINUE:
        if (!loops)
            kj_sema_error(s, st->span, "outside-loop", "'%s' stands outside of a loop",
                          st->kind == KJ_S_BREAK ? "break" : "continue");
        break;
    case KJ_S_REQUIRES:
        kj_sema_error(s, st->span, "misplaced", "'requires' stands at the head of a kernel");
        break;
    }
}

static void check_stmts(kj_sema *s, const kj_stmt *st, int loops)
{
    for (; st; st = st->next)
        check_stmt(s, st, loops);
}

void kj_sema_run(kj_sema *s, const kj_item *run)
{
    kj_scope *outer = s->scope;
    s->scope = kj_scope_new(s->arena, run_scope(s));
    s->frame = NULL;
    s->in_run = true;
    check_stmts(s, run->body, 0);
    s->in_run = false;
    s->scope = outer;
}
