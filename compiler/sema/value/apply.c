/* Builtins with a signature, applied to evaluated scalars. */
#include <string.h>

#include "sema/value/value.h"

static bool letter_takes(char letter, kj_dtype t)
{
    switch (letter) {
    case 'f': return kj_is_float(t);
    case 'i': return kj_is_int(t);
    case 'n': return kj_is_float(t) || kj_is_int(t);
    case 'w': return t == KJ_I32 || t == KJ_U32;
    case 'b': return t == KJ_BOOL;
    case 'd': return t == KJ_I32;
    default: return true;
    }
}

static bool fold_literals(kj_builtin id, const kj_operand *v, int n, kj_span span, kj_operand *out)
{
    kj_value values[KJ_BUILTIN_ARGS], folded;
    bool open = false, real = false, own = kj_builtins[id].signature[0] != 'b';
    for (int i = 0; i < n; i++) {
        if (v[i].kind != KJ_V_LITERAL)
            return false;
        values[i] = v[i].u.literal;
        open |= v[i].open;
        real |= kj_is_float(values[i].type);
    }
    if (open && own && kj_builtin_results(id) == 1 && (real || *kj_builtin_letters(id) != 'f')) {
        *out = kj_open_literal(real, span);
        return true;
    }
    if (!kj_fold_builtin_literals(id, values, n, &folded))
        return false;
    *out = kj_literal(folded, span);
    return true;
}

/* The type of a number, or of a vector's numbers; KJ_VOID: of none, or a literal. */
static kj_dtype number_type(const kj_operand *v)
{
    if (kj_is_aggregate(v) && v->u.tuple.of->kind == KJ_VECTOR)
        return v->u.tuple.of->elem;
    return v->kind == KJ_V_SCALAR ? v->u.scalar.e->type : KJ_VOID;
}

/* What converts it to numbers of that type. */
static const char *with_type(const kj_operand *v, kj_dtype type)
{
    return kj_is_aggregate(v) ? kj_vector_of(type, v->u.tuple.n)->name : kj_type_name(type);
}

static kj_message *refuse_argument(kj_sema *s, const kj_operand *v, const char *name, char letter)
{
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "'%s' takes %s, not %s", name,
                                  letter == 'f'                    ? "floats"
                                  : letter == 'w'                  ? "i32 or u32"
                                  : letter == 'i' || letter == 'd' ? "integers"
                                                                   : "numbers",
                                  kj_describe(s, v));
    if (v->kind == KJ_V_ARRAY)
        kj_hint_element(s, m, v->u.array, kj_operand_text(s, v->span, "..."));
    if (kj_hint_unbounded(s, m, letter == 'f' ? "float" : "number"))
        return m;
    kj_dtype own = number_type(v);
    if (own != KJ_VOID && strcmp(name, "selp") != 0) {
        bool real = letter == 'f', wide = kj_types[own].bits > 32;
        kj_dtype to = real ? KJ_F32 : KJ_I32, all = KJ_F64;
        const char *text = kj_source_text(s, v->span, "...");
        const char *generic = real ? kj_unbounded(s, own) : NULL;
        if (generic)
            kj_hint(s->diag, m, "write %s(%s), or <%s: float> where only floats are meant",
                    with_type(v, to), text, generic);
        else
            kj_hint(s->diag, m, "write %s(%s)%s%s%s", with_type(v, to), text,
                    real && wide ? ", or " : "", real && wide ? with_type(v, all) : "",
                    real && wide ? " for all digits" : "");
        kj_fix(s->diag, m, v->span, "%s(%s)", with_type(v, to), text);
    }
    return m;
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
        bool number =
            kj_is_untyped(&v[i]) || (v[i].kind == KJ_V_SCALAR && v[i].u.scalar.e->type != KJ_BOOL);
        if (!number && letters[i] != 'b') {
            kj_message *m = refuse_argument(s, &v[i], kj_builtins[id].name, letters[i]);
            if (id == KJ_BI_SELP)
                kj_hint(s->diag, m, "write %s if %s else %s, which takes all types",
                        kj_operand_text(s, v[1].span, "a"), kj_operand_text(s, v[0].span, "c"),
                        kj_operand_text(s, v[2].span, "b"));
            return false;
        }
    }
    return true;
}

/* What it makes of the type in common: a literal with a fraction makes it a float; an integer takes
 * any (KJ_VOID). */
static kj_dtype given_type(const kj_operand *v)
{
    if (!kj_is_untyped(v))
        return number_type(v);
    kj_dtype alone = kj_untyped_type(v);
    return kj_is_float(alone) ? alone : KJ_VOID;
}

/* Of arguments that have a type in common which the letter does not take: who is to blame. */
static int blamed(const char *letters, char letter, const kj_operand *v, int n)
{
    int first = -1;
    for (int i = 0; i < n; i++) {
        if (!is_common(letters[i]))
            continue;
        first = first < 0 ? i : first;
        kj_dtype own = given_type(&v[i]);
        if (own != KJ_VOID && !letter_takes(letter, own))
            return i;
    }
    return first;
}

bool kj_takes_parts(kj_sema *s, kj_builtin id, const kj_operand *v, int n)
{
    const char *letters = kj_builtin_letters(id);
    kj_dtype common = KJ_VOID;
    char letter = 0;
    for (int i = 0; i < n; i++) {
        kj_dtype own = is_common(letters[i]) ? given_type(&v[i]) : KJ_VOID;
        if (own == KJ_VOID)
            continue;
        letter = letters[i];
        common = common == KJ_VOID ? own : kj_common_type(common, own);
        if (common == KJ_VOID) /* which the parts will tell */
            return true;
    }
    if (common == KJ_VOID || letter_takes(letter, common))
        return true;
    refuse_argument(s, &v[blamed(letters, letter, v, n)], kj_builtins[id].name, letter);
    return false;
}

/* The arguments in the signature's types; false after an error. */
static bool take_arguments(kj_sema *s, const kj_expr *e, kj_builtin id, const char *letters,
                           kj_operand *v, int n, kj_dtype want, kj_texpr **args)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_builtins[id].name);
    kj_operand common[KJ_BUILTIN_ARGS];
    int ncommon = 0, place_of[KJ_BUILTIN_ARGS];
    char letter = 0;
    for (int i = 0; i < n; i++) {
        if (is_common(letters[i])) {
            letter = letters[i];
            place_of[i] = ncommon;
            common[ncommon++] = v[i];
        }
    }
    kj_dtype place = letter_takes(letter, want) ? want : letter == 'f' ? KJ_F32 : KJ_VOID;
    if (kj_builtin_converts(id)) /* a float's digits are all wanted */
        place = v[0].kind == KJ_V_LITERAL && kj_is_float(v[0].u.literal.type) ? KJ_F64 : KJ_VOID;
    if (!kj_unify(s, common, ncommon, place, e->span, what))
        return false;
    for (int i = 0, k = 0; i < n; i++) {
        const char *argument = kj_arena_printf(s->diag->arena, "argument %d of %s", i + 1, what);
        if (is_common(letters[i])) {
            args[i] = common[k].u.scalar.e;
            if (!letter_takes(letter, args[i]->type)) {
                int who = blamed(letters, letter, v, n);
                refuse_argument(s, kj_is_untyped(&v[who]) ? &common[place_of[who]] : &v[who],
                                kj_builtins[id].name, letter);
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

/* One of several results: a call of its own, on arguments that may be used again. */
static kj_operand result_part(kj_sema *s, const kj_expr *e, kj_builtin id, int part,
                              kj_texpr *const *args, int n, kj_dtype type)
{
    if (id == KJ_BI_DIVMOD)
        return kj_scalar(
            kj_te_binary(s, part ? KJ_OP_MOD : KJ_OP_FLOORDIV, args[0], args[1], e->span));
    if (id == KJ_BI_SINCOS)
        return kj_scalar(kj_te_call(s, part ? KJ_BI_COS : KJ_BI_SIN, args, n, type, e->span));
    return kj_scalar(kj_te_part(s, id, part, args, n, type, e->span));
}

/* Of choices the results are chosen, a literal for each combination of arms. False where one is no
 * literal. */
static bool fold_arms(kj_sema *s, kj_builtin id, const kj_operand *v, int n, kj_span span,
                      kj_operand *out)
{
    kj_operand arm[KJ_BUILTIN_ARGS], results[2];
    int at = 0;
    while (at < n && v[at].kind != KJ_V_CHOICE)
        at++;
    if (at == n)
        return fold_literals(id, v, n, span, out);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i++)
            arm[i] = i == at ? v[at].u.choice.arms[k] : v[i];
        if (!fold_arms(s, id, arm, n, span, &results[k]))
            return false;
    }
    *out = kj_conditional(s, v[at].u.choice.test, results[0], results[1], KJ_VOID, span);
    return true;
}

static const kj_operand *first_literal(const kj_operand *v)
{
    while (v->kind == KJ_V_CHOICE)
        v = &v->u.choice.arms[0];
    return v;
}

/* The same, after the conditions are evaluated that would stand in several arms. */
static bool fold_choices(kj_sema *s, kj_builtin id, kj_operand *v, int n, kj_span span,
                         kj_operand *out)
{
    kj_operand first[KJ_BUILTIN_ARGS] = {{.kind = KJ_V_ERROR}};
    int choices = 0;
    for (int i = 0; i < n; i++) {
        first[i] = *first_literal(&v[i]);
        choices += v[i].kind == KJ_V_CHOICE;
    }
    if (!fold_literals(id, first, n, span, out))
        return false;
    for (int i = 0; i < n && choices > 1; i++)
        v[i] = kj_hold_choice(s, v[i]);
    return fold_arms(s, id, v, n, span, out);
}

/* Of literals it is a conditional expression. */
static kj_operand selp(kj_sema *s, const kj_operand *v, kj_span span)
{
    kj_texpr *test = kj_condition(s, v[0], "argument 1 of 'selp'");
    if (!test)
        return kj_no_value(span);
    kj_operand yes = v[1], no = v[2];
    if (yes.kind == KJ_V_CHOICE || no.kind == KJ_V_CHOICE) { /* both are computed */
        test = kj_hold(s, test, "condition");
        yes = kj_hold_choice(s, yes);
        no = kj_hold_choice(s, no);
    }
    return kj_conditional(s, test, yes, no, KJ_VOID, span);
}

kj_operand kj_apply_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                            kj_operand *v, int n)
{
    const kj_builtin_info *info = &kj_builtins[id];
    const char *letters = kj_builtin_letters(id);
    int results = kj_builtin_results(id);
    kj_operand folded;
    kj_texpr *args[KJ_BUILTIN_ARGS];
    if (!check_numbers(s, id, letters, v, n))
        return kj_no_value(e->span);
    if (fold_choices(s, id, v, n, e->span, &folded))
        return folded;
    if (id == KJ_BI_SELP && kj_is_untyped(&v[1]) && kj_is_untyped(&v[2]))
        return selp(s, v, e->span);
    if (kj_builtin_is_of_bits(id))
        want = KJ_VOID; /* how many there are is not for the result's place to say */
    if (!take_arguments(s, e, id, letters, v, n, want, args))
        return kj_no_value(e->span);
    kj_dtype common = args[is_common(letters[0]) ? 0 : n - 1]->type;
    if (results == 1)
        return kj_scalar(kj_te_call(s, id, args, n, kj_builtin_result(id, 0, common), e->span));
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)results);
    for (int i = 0; i < n; i++)
        args[i] = kj_hold(s, args[i], info->name);
    for (int i = 0; i < results; i++)
        items[i] = result_part(s, e, id, i, args, n, kj_builtin_result(id, i, common));
    return kj_tuple(items, results, NULL, e->span);
}
