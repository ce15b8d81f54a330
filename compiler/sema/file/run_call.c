/* Calls of the run block: arguments against the signatures of its functions and the parameters of
 * kernels. */
#include <string.h>

#include "sema/file/file.h"

/* ---- Arguments against a signature ---- */

/* What NumPy's and Python's options of print are here; else what the call takes. */
static const char *hint_of_keyword(kj_sema *s, const char *called, const char *keyword,
                                   const char *signature)
{
    bool prints = strcmp(called, "print") == 0 || strcmp(called, "str") == 0;
    if (prints && (strcmp(keyword, "threshold") == 0 || strcmp(keyword, "all") == 0))
        return kj_arena_printf(s->arena, "%s(a, whole=true) has all elements of a", called);
    if (prints && (strcmp(keyword, "flush") == 0))
        return "leave it out: what print writes is not held back";
    return kj_arena_printf(s->arena, "%s%s", called, signature);
}

/* Of each argument by name; false after an error. */
static bool check_keywords(kj_sema *s, const kj_expr *call, const char *called,
                           const char *signature)
{
    kj_run_signature known = kj_run_signature_of(signature);
    if (call->u.call.callee->kind == KJ_E_NAME && kj_names_condition(s, call, called, signature))
        return false;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        if (!arg->keyword || known.named_rest || kj_run_parameter_named(&known, arg->keyword) >= 0)
            continue;
        kj_message *m = kj_sema_error(s, arg->keyword_span, KJ_RULE_KEYWORD,
                                      "'%s' has no parameter '%s'", called, arg->keyword);
        kj_hint(s->diag, m, "%s", hint_of_keyword(s, called, arg->keyword, signature));
        return false;
    }
    return true;
}

/* The argument for reduce's and scan's parameter f. */
static bool is_joiner(const kj_expr *call, const kj_expr *arg, const char *called)
{
    if (strcmp(called, "reduce") != 0 && strcmp(called, "scan") != 0)
        return false;
    return arg->keyword ? strcmp(arg->keyword, "f") == 0 : arg == call->u.call.args;
}

static void check_signature(kj_sema *s, const kj_expr *call, const char *called,
                            const char *signature)
{
    kj_run_signature known = kj_run_signature_of(signature);
    int given = kj_count(call->u.call.args);
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        if (is_joiner(call, arg, called))
            kj_sema_run_joiner(s, arg);
        else
            kj_sema_run_expr(s, arg);
    }
    if (!check_keywords(s, call, called, signature) || !kj_names_last(s, call->u.call.args))
        return;
    if (kj_sema_run_extents(s, call, &known))
        return;
    if (!known.rest && (given > known.most || given < known.least))
        kj_arity_error(s, call, called, signature, known.least, known.most);
    else
        kj_sema_run_dtype(s, call, called, signature);
}

static void check_number_builtin(kj_sema *s, const kj_expr *call, kj_builtin id)
{
    int wanted = kj_builtin_arity(id), n = kj_count(call->u.call.args);
    bool extreme = id == KJ_BI_MIN || id == KJ_BI_MAX;
    kj_sema_run_list(s, call->u.call.args);
    if (extreme && n > 0 && !call->u.call.args->keyword &&
        (n == 1 || call->u.call.args->next->keyword)) { /* of an array */
        if (check_keywords(s, call, kj_builtins[id].name, kj_run_builtins[KJ_RUN_M_MIN].signature))
            kj_names_last(s, call->u.call.args);
        return;
    }
    if (!kj_names_last(s, call->u.call.args))
        return;
    if (n == wanted || (extreme && n > wanted) || (id == KJ_BI_ROUND && n == 2))
        return;
    kj_arity_error(s, call, kj_builtins[id].name, kj_builtin_words(s, id), wanted, wanted);
}

/* ---- Launches ---- */

static const char *kernel_signature(kj_sema *s, const kj_kernel_decl *k)
{
    const char *text = "";
    for (int i = 0; i < k->nparams && i <= KJ_MOST_LISTED; i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, i ? ", " : "",
                               i < KJ_MOST_LISTED ? k->params[i].name : "...");
    return text;
}

static int param_named(const kj_kernel_decl *k, const char *name)
{
    for (int i = 0; i < k->nparams; i++)
        if (k->params[i].name == name)
            return i;
    return -1;
}

static void unknown_parameter(kj_sema *s, const kj_expr *arg, const kj_kernel_decl *k)
{
    kj_message *m = kj_sema_error(s, arg->keyword_span, KJ_RULE_KEYWORD,
                                  "kernel '%s' has no parameter '%s'", k->name, arg->keyword);
    if (!kj_is_shown(s->diag, m))
        return;
    kj_near near = kj_near_to(arg->keyword);
    for (int i = 0; i < k->nparams; i++)
        kj_near_offer(&near, k->params[i].name);
    if (near.best)
        kj_suggest(s, m, arg->keyword, near.best, false);
    else
        kj_hint(s->diag, m, "its parameters: %s", kernel_signature(s, k));
}

static void check_launch(kj_sema *s, const kj_expr *call, const kj_kernel_decl *k)
{
    const kj_expr **given = KJ_NEW_ARRAY(s->arena, const kj_expr *, (size_t)k->nparams + 1);
    int nth = 0, n = kj_count(call->u.call.args);
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        kj_sema_run_expr(s, arg);
        int i = arg->keyword ? param_named(k, arg->keyword) : nth++;
        if (i < 0 && arg->keyword) {
            unknown_parameter(s, arg, k);
            return;
        }
        if (i >= k->nparams) {
            kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_ARGUMENT_COUNT,
                                          "kernel '%s' takes %d argument%s, not %d", k->name,
                                          k->nparams, k->nparams == 1 ? "" : "s", n);
            kj_note(s->diag, m, k->item->name_span, "declared here");
            return;
        }
        if (given[i]) {
            if (kj_names_last(s, call->u.call.args))
                kj_sema_error(s, arg->span, KJ_RULE_KEYWORD, "'%s' is given twice",
                              k->params[i].name);
            return;
        }
        given[i] = arg;
    }
    if (!kj_names_last(s, call->u.call.args))
        return;
    for (int i = 0; i < k->nparams; i++) {
        if (given[i] || k->params[i].has_default)
            continue;
        kj_message *m = kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT,
                                      "'%s' of kernel '%s' is missing", k->params[i].name, k->name);
        if (kj_is_shown(s->diag, m))
            kj_hint(s->diag, m, "%s[grid, block](%s)", k->name, kernel_signature(s, k));
        kj_note(s->diag, m, k->params[i].span, "declared here");
        return;
    }
    kj_sema_run_arguments(s, k, given);
}

static const kj_kernel_decl *kernel_of(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = kj_scope_named(s->scope, e);
    return sym && sym->kind == KJ_SYM_KERNEL ? kj_kernel_of(s->program, sym->item) : NULL;
}

/* k.forall(n) and k.max_cooperative_blocks(block), which are called in turn: the row, or -1. */
static int kernel_member(const kj_expr *callee)
{
    static const int rows[] = {KJ_RUN_M_FORALL, KJ_RUN_M_MAX_COOPERATIVE_BLOCKS};
    if (callee->kind != KJ_E_CALL || callee->u.call.callee->kind != KJ_E_MEMBER)
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(callee->u.call.callee->u.member.name, kj_run_builtins[rows[i]].name + 1) == 0)
            return rows[i];
    return -1;
}

/* Four in the brackets: CUDA's order is bytes of shared memory and stream, Numba's the other way. The stream stays. */
static void hint_shared_bytes(kj_sema *s, kj_message *m, const kj_expr *block, const char *kernel)
{
    const kj_expr *third = block->next, *last = third->next;
    bool cuda = third->kind == KJ_E_INT, numba = last->kind == KJ_E_INT;
    kj_hint(s->diag, m,
            "shared arrays have their sizes in the kernel: write %s[blocks, threads%s](...)",
            kernel, cuda && numba ? "" : ", stream");
    if (cuda || numba)
        kj_fix(s->diag, m,
               (kj_span){cuda ? block->span.end : third->span.end,
                         numba ? last->span.end : third->span.end},
               "%s", "");
}

/* k[grid, block](...) or k.forall(n)(...): true when the call is a launch. */
static bool check_launch_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    const kj_kernel_decl *k = NULL;
    if (callee->kind == KJ_E_INDEX && (k = kernel_of(s, callee->u.index.base))) {
        int n = kj_count(callee->u.index.args);
        kj_sema_run_list(s, callee->u.index.args);
        if (n < 2 || n > 3) {
            kj_message *m =
                kj_sema_error(s, callee->span, KJ_RULE_LAUNCH, "a launch needs a grid and a block");
            if (n == 4)
                hint_shared_bytes(s, m, callee->u.index.args->next, k->name);
            else
                kj_hint(s->diag, m,
                        "write %s[blocks, threads](...) or %s[blocks, threads, stream](...)",
                        k->name, k->name);
        } else {
            const kj_expr *grid = callee->u.index.args;
            kj_sema_run_configuration(s, k, grid, grid->next);
        }
    } else if (kernel_member(callee) >= 0 &&
               (k = kernel_of(s, callee->u.call.callee->u.member.base))) {
        int row = kernel_member(callee);
        check_signature(s, callee, kj_run_builtins[row].name + 1, kj_run_builtins[row].signature);
    }
    if (k)
        check_launch(s, e, k);
    return k != NULL;
}

/* ---- Calls and members ---- */

/* What arrays of NumPy have as methods, and what it is here. */
static const struct {
    const char *name, *hint;
} methods[] = {
    {"copy_from_host", "@.copy_to_device(h) copies h into it"},
    {"copy", "write copy(@)"},
    {"clone", "write copy(@)"},
    {"save", "save(path, @) writes it to a file"},
    {"tofile", "save(path, @) writes it to a file"},
    {"flatten", "write copy(@.ravel())"},
    {"item", "a sum or an element is a number already, the only element of an array is a[0]"},
    {"fill", "write @[:] = ..."},
    {"dot", "write a @ b"},
    {"norm", "write sqrt((@ * @).sum())"},
    {"sync", "write @.synchronize()"},
    {"wait", "write @.synchronize()"},
    {"abs", "write abs(@)"},
    {"prod", "reduce(f, @, 1.0) joins all elements by a function: fn f(x: f32, y: f32) -> f32 { "
             "return x * y }"},
    {"transpose", "write @.T"},
    {"elapsed_time", "elapsed(@, ...) gives the milliseconds from one event to another"},
    {"format", "values stand within a text so: f\"{x} and {y:8.3f}\""},
};

/* e1.elapsed_time(e2) */
static void fix_elapsed(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const char *text = s->diag->source->text, *given = text + e->span.end;
    size_t n = strcspn(given, ")\n");
    if (*given == '(' && given[n] == ')')
        kj_write(s->diag, m, (kj_span){e->span.begin, e->span.end + (uint32_t)n + 1},
                 "elapsed(%s, %.*s)", kj_source_text(s, e->u.member.base->span, "..."), (int)n - 1,
                 given + 1);
}

/* a.copy(), a.fill(0), a.dot(b): the call is written otherwise. */
static void fix_method(kj_sema *s, kj_message *m, const kj_expr *e, const char *hint)
{
    static const char begin[] = "write ";
    const char *text = s->diag->source->text, *dots = strstr(hint, "...");
    const char *base = kj_operand_text(s, e->u.member.base->span, "");
    uint32_t open = e->span.end, close = open + 1 + (uint32_t)strcspn(text + open + 1, "(,=)\n");
    kj_span whole = {e->span.begin, close + 1}, given = {open + 1, close};
    bool dot = strcmp(e->u.member.name, "dot") == 0, takes = dots || dot;
    if (text[open] != '(' || text[close] != ')' || (close > open + 1) != takes || !*base ||
        strncmp(hint, begin, strlen(begin)) != 0)
        return;
    const char *argument = takes ? kj_operand_text(s, given, "") : "";
    const char *own = kj_hint_of(s, hint + strlen(begin), e->u.member.base);
    if (dot)
        kj_write(s->diag, m, whole,
                 kj_stands_alone(s->diag->source, whole) ? "%s @ %s" : "(%s @ %s)", base, argument);
    else if (dots)
        kj_write(s->diag, m, whole, "%.*s%s", (int)(strlen(own) - strlen(dots)), own,
                 kj_source_text(s, given, "..."));
    else
        kj_write(s->diag, m, whole, "%s", own);
}

static void unknown_member(kj_sema *s, const kj_expr *e)
{
    const char *name = e->u.member.name;
    kj_near near = kj_near_to(name);
    kj_known base = kj_run_known(s, e->u.member.base);
    bool of_scalars = base.kind == KJ_R_ARRAY && base.type < KJ_NTYPES;
    if (!of_scalars && (kj_is_field_name(name) ||
                        kj_run_is_field(s, name, kj_diag_has_room(s->diag) ? &near : NULL)))
        return;
    const kj_expr *of = e->u.member.base;
    if (of->kind == KJ_E_MEMBER &&
        kj_dotted_meant(s->diag->source, of->u.member.name_span.begin - 1)) /* the n of a.eq.n */
        return;
    bool others = of_scalars && (kj_is_field_name(name) || kj_run_is_field(s, name, NULL));
    kj_message *m =
        kj_sema_error(s, e->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER, "%s has%s member '%s'",
                      !others         ? "no value"
                      : base.ndim > 0 ? kj_array_type(s, base.type, base.ndim)
                                      : kj_arena_printf(s->diag->arena, "an array of %s",
                                                        kj_type_name(base.type)),
                      others ? " no" : " a", name);
    if (kj_is_shown(s->diag, m))
        m->members = kj_run_members(s, base);
    if (kj_hint_dotted(s->diag, m, e->u.member.name_span.begin - 1))
        return;
    const char *text = s->diag->source->text;
    const char *axis = text[e->span.end] == '(' ? kj_axis_given(s, e->span.end + 1) : NULL;
    if (axis && strcmp(name, "norm") == 0) {
        const char *a = kj_operand_text(s, of->span, "a");
        kj_write(
            s->diag, m,
            (kj_span){e->span.begin, e->span.end + (uint32_t)strcspn(text + e->span.end, ")") + 1},
            "sqrt((%s * %s).sum(axis=%s))", a, a, axis);
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, name) == 0) {
            kj_hint(s->diag, m, "%s",
                    strcmp(name, "dot") == 0 ? methods[i].hint
                                             : kj_hint_of(s, methods[i].hint, e->u.member.base));
            if (strcmp(name, "elapsed_time") == 0)
                fix_elapsed(s, m, e);
            else
                fix_method(s, m, e, methods[i].hint);
            if (strstr(methods[i].hint, ".synchronize()"))
                kj_fix(s->diag, m, e->u.member.name_span, "synchronize");
            return;
        }
    }
    if (kj_hint_library(s, m, name) || kj_hint_method(s, m, e))
        return;
    for (int i = 0; i < KJ_NRUN; i++)
        if (kj_run_builtins[i].name[0] == '.')
            kj_near_offer(&near, kj_run_builtins[i].name + 1);
    if (near.best)
        kj_suggest(s, m, name, near.best, kj_run_member_named(near.best) >= 0);
}

/* Whether a row of run_names is of that namespace. */
static bool belongs(int row, const char *name)
{
    size_t n = strlen(name);
    return strncmp(kj_run_builtins[row].name, name, n) == 0 && kj_run_builtins[row].name[n] == '.';
}

/* random.uniform: its row, -1 when `e` is no dotted name, -2 when the name is unknown
 * (reported). */
static int dotted_index(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    const kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    if (!sym || sym->kind != KJ_SYM_NAMESPACE)
        return -1;
    for (int i = 0; i < KJ_NRUN; i++)
        if (belongs(i, sym->name) &&
            strcmp(kj_run_builtins[i].name + strlen(sym->name) + 1, e->u.member.name) == 0)
            return i;
    kj_message *m = kj_sema_error(s, e->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER,
                                  "'%s' has no member '%s'", sym->name, e->u.member.name);
    const char *list = "";
    for (int i = 0; i < KJ_NRUN && kj_is_shown(s->diag, m); i++)
        if (belongs(i, sym->name))
            list = kj_arena_printf(s->diag->arena, "%s%s%s", list, *list ? ", " : "",
                                   kj_run_builtins[i].name);
    bool seed = strcmp(e->u.member.name, "seed") == 0;
    kj_hint(s->diag, m, "there are %s%s", list, seed ? ", and the seed is an argument" : "");
    return -2;
}

/* What np.zeros, np.float32, math.sin and cuda.to_device are here. */
static void hint_member(kj_sema *s, kj_message *m, const char *name)
{
    static const struct {
        const char *theirs, *hint;
    } words[] = {
        {"to_device", "write to_device(a)"},
        {"copy_to_host", "arrays come back where they are read"},
        {"assert_allclose", "write assert_close(a, b)"},
        {"dot", "write a @ b"},
        {"event_elapsed_time", "write elapsed(from, to)"},
        {"synchronize", "write synchronize()"},
        {"normal", "it takes shape, type and seed: random.normal((3, 4), f32, seed=1)"},
        {"uniform", "it takes shape, type and seed: random.uniform((3, 4), f32, seed=1)"},
        {"seed", "the seed is an argument: random.uniform(n, f32, seed=1)"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i].theirs) == 0) {
            if (strcmp(name, "dot") == 0 && kj_hint_call(s, m, words[i].hint + strlen("write ")))
                return;
            kj_hint(s->diag, m, "%s", words[i].hint);
            if (strncmp(words[i].hint, "write ", strlen("write ")) == 0)
                kj_fix_name(s, m, words[i].hint + strlen("write "));
            return;
        }
    }
    kj_hint_module_member(s, m, name);
}

/* np.zeros, np.random.rand: is the name before the dots one that is not declared? (reported) */
static bool undeclared_base(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    while (base->kind == KJ_E_MEMBER)
        base = base->u.member.base;
    if (base->kind != KJ_E_NAME)
        return false;
    if (!kj_is_module(base->u.name) || kj_scope_find(s->scope, base->u.name))
        return !kj_sema_run_find(s, base->u.name, base->span);
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_UNDECLARED,
                                  "'%s' is not declared: there are no modules", base->u.name);
    if (!kj_hint_plt(s, m, base->u.name, e->u.member.name) && !kj_hint_axis(s, m, e))
        hint_member(s, m, e->u.member.name);
    return true;
}

void kj_sema_run_member(kj_sema *s, const kj_expr *e)
{
    if (kj_is_of_file(s->scope, e)) {
        kj_sema_run_value(s, kj_member_of_file(s, e), e);
        return;
    }
    if (dotted_index(s, e) != -1 || undeclared_base(s, e))
        return;
    int before = s->diag->errors;
    kj_sema_run_expr(s, e->u.member.base);
    if (s->diag->errors > before && kj_is_of_file(s->scope, e->u.member.base))
        return; /* there is no such name */
    int i = kj_run_member_named(e->u.member.name);
    if (i < 0)
        unknown_member(s, e);
    else if (kj_run_builtins[i].signature[0] != '\0') {
        kj_message *m =
            kj_sema_error(s, e->span, KJ_RULE_CALL, "'%s' is a method", e->u.member.name);
        const char *name = e->u.member.name, *call = kj_run_builtins[i].signature;
        if (kj_run_is_field(s, name, NULL))
            kj_hint(s->diag, m,
                    "call it: .%s%s; a record's field of that name is read in kernels, p[i].%s",
                    name, call, name);
        else if (memchr(call, '=', strcspn(call, ",")) || strcmp(call, "()") == 0) {
            kj_hint(s->diag, m, "call it: .%s%s", name, call);
            kj_fix(s->diag, m, (kj_span){e->span.end, e->span.end}, "()"); /* all can be left out */
        } else
            kj_hint(s->diag, m, "call it: .%s%s", name, call);
    }
}

/* a.size(), a.shape(0) */
static void fix_attribute(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *arg = e->u.call.args;
    kj_span behind = {callee->span.end, e->span.end};
    if (!arg)
        kj_fix(s->diag, m, behind, "%s", "");
    else if (!arg->next && !arg->keyword && strcmp(callee->u.member.name, "shape") == 0)
        kj_fix(s->diag, m, behind, "[%s]", kj_source_text(s, arg->span, "..."));
}

static void check_method(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    int i = dotted_index(s, callee);
    if (i == -1 && undeclared_base(s, callee)) {
        kj_sema_run_list(s, e->u.call.args);
        return;
    }
    if (i == -1) {
        kj_sema_run_expr(s, callee->u.member.base);
        i = kj_run_member_named(callee->u.member.name);
        if (i < 0)
            unknown_member(s, callee);
    }
    if (i < 0) {
        kj_sema_run_list(s, e->u.call.args);
        return;
    }
    const char *name = kj_run_builtins[i].name;
    if (kj_run_builtins[i].signature[0] == '\0') {
        kj_message *m =
            kj_sema_error(s, e->span, KJ_RULE_CALL, "'%s' is no method", callee->u.member.name);
        kj_hint(s->diag, m, "write it without parentheses");
        fix_attribute(s, m, e);
        return;
    }
    check_signature(s, e, name[0] == '.' ? name + 1 : name, kj_run_builtins[i].signature);
}

/* k.forall(n) without arguments, which launches nothing. */
static void refuse_configuration(kj_sema *s, const kj_expr *e, const kj_kernel_decl *k)
{
    const kj_expr *callee = e->u.call.callee;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_LAUNCH, "a launch configuration alone does nothing");
    const char *of = kj_source_text(s, callee->span, "k.forall");
    const kj_expr *first = e->u.call.args;
    bool counted = first && kj_run_known(s, first).kind != KJ_R_ARRAY;
    bool arguments = first && (kj_count(first) > 2 || !counted);
    bool given = counted && first->next && kj_run_known(s, first->next).kind == KJ_R_ARRAY;
    if (given) { /* k.forall(n, x) */
        const char *all = kj_source_text(s, (kj_span){first->next->span.begin, e->span.end}, "x)");
        kj_hint(s->diag, m, "how many threads there are stands by itself: %s(%s)(%s", of,
                kj_source_text(s, first->span, "n"), all);
        kj_fix(s->diag, m, (kj_span){first->span.end, first->next->span.begin}, ")(");
    } else if (!arguments)
        kj_hint(s->diag, m, "add the arguments: %s(%s)", kj_source_text(s, e->span, "k.forall(n)"),
                kernel_signature(s, k));
    else
        kj_hint(s->diag, m, "how many threads there are stands by itself: %s(n)(%s)", of,
                kernel_signature(s, k));
}

/* A call of what is no function of run blocks: its arguments are checked. */
static void check_other(kj_sema *s, const kj_expr *e, const kj_symbol *sym)
{
    const kj_expr *callee = e->u.call.callee;
    kj_message *m;
    if (sym->kind == KJ_SYM_KERNEL) {
        m = kj_sema_error(s, e->span, KJ_RULE_LAUNCH,
                          "'%s' is a kernel: a launch needs a grid and a block", sym->name);
        kj_hint(s->diag, m, "write %s[blocks, threads](...) or %s.forall(n)(...)", sym->name,
                sym->name);
        kj_note_hidden(s, m, sym);
    } else if (sym->kind == KJ_SYM_FN) {
        kj_sema_run_function(s, e, sym);
    } else if (sym->kind == KJ_SYM_TYPE) {
        const kj_aggregate *of = kj_sema_aggregate(s, sym->type);
        int n = kj_count(e->u.call.args);
        bool record = sym->item && sym->item->kind == KJ_I_RECORD;
        if (record && !kj_names_last(s, e->u.call.args))
            return;
        if (kj_type_is_one(s, sym, callee->span) && n != 1 && !(of && n == of->n) && !record)
            kj_arity_error(s, e, sym->name, "(x)", 1, 1);
    } else {
        m = kj_sema_error(s, callee->span, KJ_RULE_CALL, "'%s' is not a function", sym->name);
        kj_hint_namespace(s, m, sym);
        kj_note_hidden(s, m, sym);
    }
}

static void check_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    const kj_kernel_decl *k = kernel_member(e) >= 0 ? kernel_of(s, callee->u.member.base) : NULL;
    if (k) {
        refuse_configuration(s, e, k);
        return;
    }
    bool of_file = kj_is_of_file(s->scope, callee);
    if (callee->kind == KJ_E_MEMBER && !of_file) {
        check_method(s, e);
        return;
    }
    if (callee->kind != KJ_E_NAME && !of_file) {
        kj_sema_run_expr(s, callee);
        kj_sema_run_list(s, e->u.call.args);
        return;
    }
    const kj_symbol *sym =
        of_file ? kj_member_of_file(s, callee) : kj_sema_run_find(s, callee->u.name, callee->span);
    if (sym && sym->kind == KJ_SYM_BUILTIN) {
        if (sym->index >= 0)
            check_signature(s, e, sym->name, kj_run_builtins[sym->index].signature);
        else
            check_number_builtin(s, e, sym->builtin);
        if (sym->index == KJ_RUN_SWAP)
            kj_sema_run_swap(s, e);
        if (sym->index == KJ_RUN_PLOT || sym->index == KJ_RUN_SHOW)
            kj_sema_run_draw(s, e, sym->index);
        return;
    }
    kj_sema_run_list(s, e->u.call.args);
    if (!sym)
        return;
    if (sym->kind == KJ_SYM_RUN_FN) {
        int *place = KJ_NEW_ARRAY(s->arena, int, (size_t)kj_count(e->u.call.args) + 1);
        kj_match_arguments(s, e, sym->item, place);
        return;
    }
    check_other(s, e, sym);
}

bool kj_sema_run_call(kj_sema *s, const kj_expr *e)
{
    int before = s->diag->errors;
    if (check_launch_call(s, e))
        return kernel_member(e->u.call.callee) != KJ_RUN_M_MAX_COOPERATIVE_BLOCKS &&
               s->diag->errors == before;
    check_call(s, e);
    return false;
}
