/* Calls that are not of functions: builtins against their signature, conversions, grid(n), what
 * cannot be called. */
#include <string.h>

#include "sema_impl.h"

enum { MAX_ARGS = 3 };

/* ---- Builtins with a signature ---- */

/* "n(nn)": the argument letters start behind the parenthesis. */
static int signature_args(const char *signature)
{
    const char *open = strchr(signature, '(');
    return open ? (int)strcspn(open + 1, ")") : 0;
}

const char *kj_call_words(kj_builtin id)
{
    return strstr(kj_builtins[id].signature, "()") ? "()" : "(...)";
}

const char *kj_builtin_words(kj_sema *s, kj_builtin id)
{
    static const char *const names[MAX_ARGS] = {"x", "y", "z"};
    const char *text = "(", *doc = kj_builtins[id].doc;
    size_t len = strlen(kj_builtins[id].name);
    if (strncmp(doc, kj_builtins[id].name, len) == 0 && doc[len] == '(')
        return doc + len; /* it names its parameters */
    int n = signature_args(kj_builtins[id].signature);
    for (int i = 0; i < n; i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, names[i], i + 1 < n ? ", " : "");
    return kj_arena_printf(s->diag->arena, "%s): %s", text, kj_builtins[id].doc);
}

/* How many results: "fd(f)" has two. */
static int signature_results(const char *signature)
{
    return (int)strcspn(signature, "(");
}

static bool letter_takes(char letter, kj_dtype t)
{
    switch (letter) {
    case 'f': return kj_is_float(t);
    case 'i': return kj_is_int(t);
    case 'n': return kj_is_float(t) || kj_is_int(t);
    case 'b': return t == KJ_BOOL;
    case 'd': return t == KJ_I32;
    default: return true;
    }
}

/* Does the result depend on how many bits the argument has? */
static bool is_of_bits(kj_builtin id)
{
    return strcmp(kj_builtins[id].group, "bits") == 0;
}

/* All arguments literals and the result exact, whatever its type will be: it stays a literal. */
static bool fold_literals(kj_builtin id, const char *letters, const kj_operand *v, int n,
                          kj_span span, kj_operand *out)
{
    kj_value values[MAX_ARGS] = {{.type = KJ_VOID}}, folded;
    char letter = letters[0];
    bool real = letter == 'f', wide = false;
    for (int i = 0; i < n; i++) {
        if (v[i].kind != KJ_V_LITERAL || letters[i] != letter)
            return false;
        real |= kj_is_float(v[i].u.literal.type);
        wide |= v[i].u.literal.type == KJ_U64;
    }
    if (wide || (real && letter == 'i') || is_of_bits(id) || id == KJ_BI_NEXTAFTER ||
        signature_results(kj_builtins[id].signature) > 1)
        return false;
    for (int i = 0; i < n; i++)
        values[i] = kj_fold_convert(v[i].u.literal, real ? KJ_F64 : KJ_I64);
    if (!kj_fold_builtin(id, 0, values, n, &folded) || folded.type == KJ_BOOL)
        return false;
    *out = kj_literal(folded, span);
    return true;
}

static void refuse_argument(kj_sema *s, const kj_operand *v, const char *name, char letter)
{
    kj_message *m = kj_sema_error(s, v->span, "type-mismatch", "'%s' takes %s, not %s", name,
                                  letter == 'f'                    ? "floats"
                                  : letter == 'i' || letter == 'd' ? "integers"
                                                                   : "numbers",
                                  kj_describe(s, v));
    if (v->kind == KJ_V_SCALAR)
        kj_hint(s->diag, m, "write %s(%s)", letter == 'f' ? "f32" : "i32",
                kj_source_text(s, v->span, "..."));
}

/* Does the letter stand for the type that arguments have in common? */
static bool is_common(char letter)
{
    return letter != 'b' && letter != 'd';
}

/* A number where there has to be one, in its own place or among those of a common type. */
static bool check_numbers(kj_sema *s, kj_builtin id, const char *letters, const kj_operand *v,
                          int n)
{
    for (int i = 0; i < n; i++) {
        if (v[i].kind == KJ_V_ERROR)
            return false;
        bool number = v[i].kind == KJ_V_LITERAL ||
                      (v[i].kind == KJ_V_SCALAR && v[i].u.scalar.e->type != KJ_BOOL);
        if (!number && letters[i] != 'b') {
            refuse_argument(s, &v[i], kj_builtins[id].name, letters[i]);
            return false;
        }
    }
    return true;
}

/* The arguments in the signature's types; false after an error. */
static bool take_arguments(kj_sema *s, const kj_expr *e, kj_builtin id, const char *letters,
                           kj_operand *v, int n, kj_dtype want, kj_texpr **args)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_builtins[id].name);
    kj_operand common[MAX_ARGS];
    int ncommon = 0;
    char letter = 0;
    for (int i = 0; i < n; i++) {
        if (is_common(letters[i])) {
            letter = letters[i];
            common[ncommon++] = v[i];
        }
    }
    kj_dtype place = letter_takes(letter, want) ? want : letter == 'f' ? KJ_F32 : KJ_VOID;
    if (!kj_unify(s, common, ncommon, place, e->span, what))
        return false;
    for (int i = 0, k = 0; i < n; i++) {
        const char *argument = kj_arena_printf(s->diag->arena, "argument %d of %s", i + 1, what);
        if (is_common(letters[i])) {
            args[i] = common[k].u.scalar.e;
            if (!letter_takes(letter, args[i]->type)) {
                refuse_argument(s, &common[k], kj_builtins[id].name, letter);
                return false;
            }
            k++;
        } else if (letters[i] == 'b') {
            args[i] = kj_condition(s, v[i], argument);
        } else {
            args[i] = kj_coerce(s, v[i], KJ_I32, argument);
        }
        if (!args[i])
            return false;
    }
    return true;
}

/* The type of a result; that of the arguments where it is theirs. */
static kj_dtype result_type(char letter, kj_dtype common)
{
    switch (letter) {
    case 'b': return KJ_BOOL;
    case 'd': return KJ_I32;
    case 'l': return KJ_I64;
    default: return common;
    }
}

/* One of several results: a call of its own, on arguments that may be used again. */
static kj_operand result_part(kj_sema *s, const kj_expr *e, kj_builtin id, int part,
                              kj_texpr *const *args, int n, kj_dtype type)
{
    if (id == KJ_BI_SINCOS)
        return kj_scalar(kj_te_call(s, part ? KJ_BI_COS : KJ_BI_SIN, args, n, type, e->span));
    return kj_scalar(kj_te_part(s, id, part, args, n, type, e->span));
}

static kj_operand apply(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want, kj_operand *v,
                        int n)
{
    for (int i = 0; i < n; i++)
        if (v[i].kind == KJ_V_ERROR)
            return v[i];
    for (int i = 0; i < n; i++)
        if (kj_is_complex(&v[i]))
            return kj_complex_builtin(s, e, id, want, v, n);
    for (int i = 0; i < n; i++)
        if (kj_is_aggregate(&v[i]))
            return kj_aggregate_builtin(s, e, id, v, n);
    return kj_apply_builtin(s, e, id, want, v, n);
}

static kj_operand plain_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want)
{
    const kj_builtin_info *info = &kj_builtins[id];
    int n = kj_count(e->u.call.args), wanted = signature_args(info->signature);
    bool more = (id == KJ_BI_MIN || id == KJ_BI_MAX) && n > wanted; /* one after the other */
    if (n != wanted && !more) {
        kj_arity_error(s, e, info->name, kj_builtin_words(s, id), wanted, wanted);
        return kj_no_value(e->span);
    }
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    kj_expr_list(s, e->u.call.args, v, n);
    kj_operand result = apply(s, e, id, want, v, wanted);
    for (int i = wanted; i < n; i++)
        result = apply(s, e, id, want, (kj_operand[]){result, v[i]}, wanted);
    return result;
}

kj_operand kj_apply_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                            kj_operand *v, int n)
{
    const kj_builtin_info *info = &kj_builtins[id];
    const char *letters = strchr(info->signature, '(') + 1;
    int results = signature_results(info->signature);
    kj_operand folded;
    kj_texpr *args[MAX_ARGS];
    if (!check_numbers(s, id, letters, v, n))
        return kj_no_value(e->span);
    if (fold_literals(id, letters, v, n, e->span, &folded))
        return folded;
    if (is_of_bits(id))
        want = KJ_VOID; /* how many there are is not for the result's place to say */
    if (!take_arguments(s, e, id, letters, v, n, want, args))
        return kj_no_value(e->span);
    kj_dtype common = args[is_common(letters[0]) ? 0 : n - 1]->type;
    if (results == 1)
        return kj_scalar(
            kj_te_call(s, id, args, n, result_type(info->signature[0], common), e->span));
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)results);
    for (int i = 0; i < n; i++)
        args[i] = kj_hold(s, args[i], info->name);
    for (int i = 0; i < results; i++)
        items[i] = result_part(s, e, id, i, args, n, result_type(info->signature[i], common));
    return kj_tuple(items, results, NULL, e->span);
}

/* ---- grid(n), gridsize(n) ---- */

static kj_operand grid_call(kj_sema *s, const kj_expr *e, bool size)
{
    const kj_expr *arg = e->u.call.args;
    const char *name = size ? "gridsize" : "grid";
    kj_value n;
    if (!arg || arg->next) {
        kj_arity_error(s, e, name, "(n) with n = 1, 2 or 3", 1, 1);
        return kj_no_value(e->span);
    }
    if (!kj_expr_const(s, arg, KJ_I64,
                       kj_arena_printf(s->diag->arena, "the argument of '%s'", name), &n))
        return kj_no_value(e->span);
    if (n.i < 1 || n.i > 3) {
        kj_sema_error(s, arg->span, "grid-axes", "a grid has 1, 2 or 3 axes, not %lld",
                      (long long)n.i);
        return kj_no_value(e->span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 3);
    for (int i = 0; i < (int)n.i; i++) {
        kj_texpr *dim = kj_te_index(s, KJ_BLOCK_DIM, i, e->span);
        kj_texpr *blocks = kj_te_index(s, size ? KJ_GRID_DIM : KJ_BLOCK_IDX, i, e->span);
        kj_texpr *at = kj_i64_mul(s, blocks, dim, e->span);
        if (!size)
            at = kj_te_binary(s, KJ_OP_ADD, at, kj_te_index(s, KJ_THREAD_IDX, i, e->span), e->span);
        items[i] = kj_scalar(at);
    }
    if (n.i == 1)
        return items[0];
    return kj_tuple(items, (int)n.i, NULL, e->span);
}

/* ---- The rest ---- */

static kj_operand refuse_call(kj_sema *s, const kj_expr *e, const char *text, const char *hint)
{
    kj_message *m = kj_sema_error(s, e->span, "call", "%s", text);
    kj_hint(s->diag, m, "%s", hint);
    return kj_no_value(e->span);
}

static kj_operand builtin_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want)
{
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->keyword) {
            kj_sema_error(s, arg->keyword_span, "keyword",
                          "'%s' takes its arguments by place, without names", kj_builtins[id].name);
            return kj_no_value(e->span);
        }
    }
    switch (id) {
    case KJ_BI_GRID:
    case KJ_BI_GRIDSIZE: return grid_call(s, e, id == KJ_BI_GRIDSIZE);
    case KJ_BI_ASSERT: return kj_assert_call(s, e);
    case KJ_BI_PRINT: return kj_print_call(s, e);
    case KJ_BI_SHARED_ARRAY:
    case KJ_BI_LOCAL_ARRAY:
        return refuse_call(s, e, "an array is made by its own declaration",
                           id == KJ_BI_SHARED_ARRAY ? "write let tile = shared.array(shape, f32)"
                                                    : "write let a = local.array(shape, f32)");
    case KJ_BI_DOT:
    case KJ_BI_ALL:
    case KJ_BI_ANY: return kj_vector_call(s, e, id);
    case KJ_BI_CONJ:
    case KJ_BI_PHASE:
    case KJ_BI_POLAR:
    case KJ_BI_RECT: return kj_complex_call(s, e, id, want);
    case KJ_BI_RANGE:
        return refuse_call(s, e, "range stands only in a for loop",
                           "write for i in range(n) { ... }");
    case KJ_BI_THREADIDX:
    case KJ_BI_BLOCKIDX:
    case KJ_BI_BLOCKDIM:
    case KJ_BI_GRIDDIM:
        return refuse_call(s, e, "this is no function", "write threadIdx.x, without parentheses");
    default: break;
    }
    if (kj_is_sync(id))
        return kj_sync_call(s, e, id);
    if (strcmp(kj_builtins[id].group, "atomic") == 0)
        return kj_atomic_call(s, e, id);
    if (strcmp(kj_builtins[id].group, "cache") == 0)
        return kj_cache_call(s, e, id);
    if (strcmp(kj_builtins[id].group, "random") == 0)
        return kj_random_call(s, e, id, want);
    return plain_builtin(s, e, id, want);
}

/* f32(x) */
static kj_operand conversion(kj_sema *s, const kj_expr *e, kj_dtype to)
{
    const kj_expr *arg = e->u.call.args;
    if (!arg || arg->next) {
        kj_arity_error(s, e, kj_type_name(to), "(x)", 1, 1);
        return kj_no_value(e->span);
    }
    kj_operand v = kj_expr_value(s, arg, to);
    if (v.kind == KJ_V_LITERAL)
        return kj_scalar(kj_te_const(s, kj_fold_convert(v.u.literal, to), e->span));
    if (v.kind == KJ_V_SCALAR)
        return kj_scalar(kj_te_convert(s, v.u.scalar.e, to, e->span));
    if (v.kind != KJ_V_ERROR) {
        kj_message *m =
            kj_sema_error(s, v.span, "type-mismatch", "%s(...) converts a scalar, not %s",
                          kj_type_name(to), kj_describe(s, &v));
        if (v.kind == KJ_V_ARRAY)
            kj_hint(s->diag, m, "convert an element: %s(%s[i])", kj_type_name(to),
                    kj_source_text(s, v.span, "a"));
        if (kj_is_complex(&v))
            kj_hint(s->diag, m, "convert a part: %s(%s.real)", kj_type_name(to),
                    kj_source_text(s, v.span, "z"));
    }
    return kj_no_value(e->span);
}

static kj_operand construction(kj_sema *s, const kj_expr *e, kj_dtype to)
{
    const kj_aggregate *of = kj_sema_aggregate(s, to);
    if (kj_is_record(of))
        return kj_record_construct(s, e, of);
    return of ? kj_construct(s, e, of) : conversion(s, e, to);
}

kj_operand kj_call_expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    kj_operand callee = kj_expr_any(s, e->u.call.callee, KJ_VOID);
    if (callee.kind == KJ_V_ERROR)
        return callee;
    if (callee.kind == KJ_V_SYMBOL) {
        const kj_symbol *sym = callee.u.symbol;
        switch (sym->kind) {
        case KJ_SYM_FN: return kj_fn_call(s, e, sym);
        case KJ_SYM_BUILTIN: return builtin_call(s, e, sym->builtin, want);
        case KJ_SYM_TYPE:
            return sym->type == KJ_VOID ? kj_no_value(e->span) : construction(s, e, sym->type);
        case KJ_SYM_KERNEL:
            return refuse_call(
                s, e, kj_arena_printf(s->diag->arena, "'%s' is a kernel", sym->name),
                kj_arena_printf(s->diag->arena,
                                "code to share is a fn; a launch is written launch %s[blocks, "
                                "threads](...)",
                                sym->name));
        default:
            return refuse_call(s, e,
                               kj_arena_printf(s->diag->arena, "'%s' is no function", sym->name),
                               "write atomic.add(a, i, v), shared.array(shape, f32)");
        }
    }
    kj_message *m = kj_sema_error(s, e->u.call.callee->span, "call", "this is %s, not a function",
                                  kj_describe(s, &callee));
    if (callee.kind == KJ_V_ARRAY)
        kj_hint(s->diag, m, "an element is written %s[i]", kj_source_text(s, callee.span, "a"));
    return kj_no_value(e->span);
}
