/* Members and calls that values have elsewhere, as x.sqrt(), a.length and where(c, a, b) in a kernel: what is written
 * here. A message and the expression in; a hint and a fix out. */
#include <string.h>

#include "sema/node/node.h"

/* The end of () behind `at`, with nothing in them; `at`: there are none. */
static uint32_t empty_call_end(const kj_source *s, uint32_t at)
{
    uint32_t end = at;
    if (s->text[end] != '(')
        return at;
    for (end++; s->text[end] == ' ';)
        end++;
    return s->text[end] == ')' ? end + 1 : at;
}

/* The end of the argument that begins at `at`; the source's for one that does not end on its line. */
static uint32_t argument_end(const kj_source *s, uint32_t at)
{
    int depth = 0;
    for (; s->text[at] && s->text[at] != '\n'; at++) {
        char c = s->text[at];
        if (depth == 0 && (c == ',' || c == ')'))
            return at;
        depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
    }
    return (uint32_t)s->size;
}

/* The type that a.astype(...) asks for: f32, np.float32, "float32"; NULL: it is none. */
static const char *type_asked(kj_sema *s, uint32_t begin, uint32_t end)
{
    const char *text = s->diag->source->text;
    for (uint32_t at = begin; at < end; at++)
        if (text[at] == '.')
            begin = at + 1;
    while (begin < end && strchr("\"' ", text[begin]))
        begin++;
    while (end > begin && strchr("\"' ", text[end - 1]))
        end--;
    return kj_type_meant(kj_arena_printf(s->diag->arena, "%.*s", (int)(end - begin), text + begin));
}

/* a.astype(i32) is i32(a). */
static bool hint_astype(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const kj_source *source = s->diag->source;
    uint32_t begin = e->span.end + 1, end;
    if (strcmp(e->u.member.name, "astype") != 0 || source->text[e->span.end] != '(')
        return false;
    end = argument_end(source, begin);
    const char *type =
        end < source->size && source->text[end] == ')' ? type_asked(s, begin, end) : NULL;
    if (!type)
        kj_hint(s->diag, m, "a conversion is written as f64(a)");
    else
        kj_write(s->diag, m, (kj_span){e->span.begin, end + 1}, "%s(%s)", type,
                 kj_source_text(s, e->u.member.base->span, "..."));
    return true;
}

/* x.sqrt() is sqrt(x), of functions of one number. */
static bool hint_function(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const char *name = strcmp(e->u.member.name, "conjugate") == 0 ? "conj" : e->u.member.name;
    uint32_t end = empty_call_end(s->diag->source, e->span.end);
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const kj_builtin_info *b = &kj_builtins[id];
        const char *arguments = strchr(b->signature, '(');
        bool one = arguments && arguments[1] && arguments[1] != ')' && arguments[2] == ')';
        bool here = !s->in_run || strcmp(b->group, "vector") != 0;
        if (strcmp(b->name, name) != 0 || !one || !here || end == e->span.end)
            continue;
        kj_write(s->diag, m, (kj_span){e->span.begin, end}, "%s(%s)", name,
                 kj_source_text(s, e->u.member.base->span, "..."));
        return true;
    }
    return false;
}

/* a.clip(0, 2) is clamp(a, 0, 2), x.atan2(y) atan2(x, y): of functions of several numbers. */
static bool hint_function_of_several(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const char *name = strcmp(e->u.member.name, "clip") == 0      ? "clamp"
                       : strcmp(e->u.member.name, "mul_add") == 0 ? "fma"
                                                                  : e->u.member.name;
    const kj_source *source = s->diag->source;
    uint32_t at = e->span.end;
    int given = 0;
    if (source->text[at] != '(')
        return false;
    do {
        at = argument_end(source, at + 1);
        given++;
    } while (at < source->size && source->text[at] == ',');
    if (at >= source->size || kj_axis_given(s, e->span.end + 1))
        return false;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const kj_builtin_info *b = &kj_builtins[id];
        bool numbers = strcmp(b->group, "arithmetic") == 0 || strcmp(b->group, "math") == 0;
        if (strcmp(b->name, name) != 0 || !numbers || given < 1 ||
            kj_builtin_arity((kj_builtin)id) != given + 1)
            continue;
        const char *arguments = kj_source_text(s, (kj_span){e->span.end + 1, at}, "...");
        kj_write(s->diag, m, (kj_span){e->span.begin, at + 1}, "%s(%s, %s)", name,
                 kj_source_text(s, e->u.member.base->span, "..."), arguments);
        return true;
    }
    return false;
}

const char *kj_hint_of(kj_sema *s, const char *hint, const kj_expr *e)
{
    const char *own = kj_operand_text(s, e->span, "..."), *text = "";
    for (const char *at; (at = strchr(hint, '@')); hint = at + 1)
        text = kj_arena_printf(s->diag->arena, "%s%.*s%s", text, (int)(at - hint), hint, own);
    return kj_arena_printf(s->diag->arena, "%s%s", text, hint);
}

/* n.powi(2), x.pow(y) */
static bool hint_pow(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const char *name = e->u.member.name, *text = s->diag->source->text;
    if (strcmp(name, "pow") != 0 && strcmp(name, "powi") != 0 && strcmp(name, "powf") != 0)
        return false;
    uint32_t end = text[e->span.end] == '(' ? argument_end(s->diag->source, e->span.end + 1) : 0;
    kj_span given = {e->span.end + 1, end};
    if (!end || text[end] != ')' || end == e->span.end + 1)
        return false;
    /* in parentheses, as it stands within products */
    kj_write(s->diag, m, (kj_span){e->span.begin, end + 1}, "(%s ** %s)",
             kj_operand_text(s, e->u.member.base->span, "..."), kj_operand_text(s, given, "..."));
    return true;
}

bool kj_hint_method(kj_sema *s, kj_message *m, const kj_expr *e)
{
    static const char *const sizes[] = {"length", "len",    "count", "numel",
                                        "nelem",  "Length", "Size"};
    static const struct {
        const char *name, *hint;
        bool run_only;
    } others[] = {
        {"push", "a list grows by .append(x), an array keeps its size", true},
        {"push_back", "a list grows by .append(x), an array keeps its size", true},
        {"push",
         "an array keeps its size; let i = atomic.add(count, 0, 1) gives each thread a place in it",
         false},
        {"push_back",
         "an array keeps its size; let i = atomic.add(count, 0, 1) gives each thread a place in it",
         false},
        {"append",
         "an array keeps its size; let i = atomic.add(count, 0, 1) gives each thread a place in it",
         false},
        {"std", "write sqrt(((@ - @.mean()) ** 2).mean())", false},
        {"var", "write ((@ - @.mean()) ** 2).mean()", false},
        {"transpose", "write @.T", false},
        {"flatten", "write @.ravel()", false},
        {"dtype", "types are known: a kernel for several is kernel f<T: float>(x: T[])", false},
        {"fill", "write @[:] = ...", false},
        {"copy", "elements are copied by a loop, or all of a view, b[:] = @", false},
        {"clone", "elements are copied by a loop, or all of a view, b[:] = @", false},
        {"iter", "a loop runs over all elements: for v in @ { ... }", true},
        {"iter", "a loop runs over all elements: for v in @ { ... }", false},
        {"tolist", "a loop runs over all elements: for v in @ { ... }", true},
        {"to", "to_device(@) is a copy on the device, f64(@) one of another type", true},
        {"cuda", "to_device(@) is a copy on the device", true},
        {"cpu", "@.copy_to_host() is a copy on the host", true},
        {"numpy", "@.copy_to_host() is a copy on the host", true},
        {"nbytes", "bytes are @.size times those of an element: 4 of f32", true},
        {"nbytes", "bytes are @.size times those of an element: 4 of f32", false},
        {"itemsize", "the type's name tells it: an f32 has 4 bytes", true},
        {"itemsize", "the type's name tells it: an f32 has 4 bytes", false},
        {"unwrap", "there are no options: a value is there", true},
        {"unwrap", "there are no options: a value is there", false},
    };
    const char *name = e->u.member.name;
    const kj_source *source = s->diag->source;
    if (kj_hint_dotted(s->diag, m, e->u.member.name_span.begin - 1))
        return true;
    bool given = source->text[e->span.end] == '(' &&
                 empty_call_end(source, e->span.end) == e->span.end; /* x.count(2) */
    if (given && strcmp(name, "count") == 0) {
        kj_hint(s->diag, m,
                s->in_run ? "of an array (a == x).sum() counts them, of a list a loop does"
                          : "a loop counts them, with a number that begins at 0");
        return true;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !given; i++)
        if (strcmp(sizes[i], name) == 0) {
            if (s->in_run) { /* of lists too */
                kj_write(s->diag, m, (kj_span){e->span.begin, empty_call_end(source, e->span.end)},
                         "len(%s)", kj_source_text(s, e->u.member.base->span, "..."));
                return true;
            }
            kj_write(s->diag, m, (kj_span){e->span.begin, empty_call_end(source, e->span.end)},
                     "%s.size", kj_source_text(s, e->u.member.base->span, "..."));
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0 && others[i].run_only == s->in_run) {
            const char *hint = kj_hint_of(s, others[i].hint, e->u.member.base);
            uint32_t end = empty_call_end(source, e->span.end);
            kj_hint(s->diag, m, "%s", hint);
            if (strstr(hint, ".mean()") && end > e->span.end)
                kj_fix(s->diag, m, (kj_span){e->span.begin, end}, "%s", hint + strlen("write "));
            return true;
        }
    return hint_pow(s, m, e) || hint_astype(s, m, e) || hint_function(s, m, e) ||
           hint_function_of_several(s, m, e);
}

bool kj_hint_part(kj_sema *s, kj_message *m, const kj_aggregate *of, const kj_expr *e)
{
    const char *name = e->u.member.name;
    if (of->kind == KJ_COMPLEX)
        return hint_function(s, m, e);
    if (!kj_is_vector(of))
        return false;
    static const char colours[] = "rgba", *parts = "xyzw";
    const char *colour = strlen(name) == 1 ? strchr(colours, *name) : NULL;
    if (colour && colour - colours < of->n) {
        kj_write(s->diag, m, e->u.member.name_span, "%c", parts[colour - colours]);
        return true;
    }
    if (strlen(name) > 1 && strspn(name, "xyzwrgba") == strlen(name)) {
        kj_hint(s->diag, m, "one part at a time is read and assigned: v.x, v.y");
        return true;
    }
    return kj_hint_habit(s, m, name);
}

/* A choice within another stands in parentheses: it would end with the outer one's words else. */
static const char *whole_operand(kj_sema *s, kj_span span)
{
    const char *text = kj_arena_printf(s->diag->arena, "%.*s", (int)(span.end - span.begin),
                                       s->diag->source->text + span.begin);
    return strstr(text, " if ") ? kj_arena_printf(s->diag->arena, "(%s)", text) : text;
}

bool kj_hint_where(kj_sema *s, kj_message *m, kj_span name)
{
    const kj_source *source = s->diag->source;
    uint32_t at = name.end, begin[3], end[3];
    kj_hint(s->diag, m, "a choice is written a if c else b");
    if (source->text[at] != '(')
        return true;
    for (int i = 0; i < 3; i++) {
        begin[i] = at + 1 + (uint32_t)strspn(source->text + at + 1, " ");
        at = end[i] = argument_end(source, begin[i]);
        if (source->text[at] != (i < 2 ? ',' : ')'))
            return true;
    }
    const char *part[3];
    for (int i = 0; i < 3; i++)
        part[i] = whole_operand(s, (kj_span){begin[i], end[i]});
    kj_fix(s->diag, m, (kj_span){name.begin, at + 1}, "(%s if %s else %s)", part[1], part[0],
           part[2]);
    return true;
}

/* np.max(a, 0): NumPy's second argument is the axis, that of max(a, 0) here another number. */
bool kj_hint_axis(kj_sema *s, kj_message *m, const kj_expr *e)
{
    static const char *const names[] = {"max", "min", "amax", "amin"};
    static const char *const modules[] = {"np", "numpy", "cp", "cupy", "jnp"};
    const kj_source *source = s->diag->source;
    const kj_expr *base = e->u.member.base;
    const char *name = e->u.member.name, *ours = NULL;
    bool of_numpy = false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        of_numpy |= base->kind == KJ_E_NAME && strcmp(base->u.name, modules[i]) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && of_numpy; i++)
        if (strcmp(name, names[i]) == 0)
            ours = *name == 'a' ? name + 1 : name;
    if (!ours || source->text[e->span.end] != '(')
        return false;
    uint32_t first = e->span.end + 1, end = argument_end(source, first), axis = end + 1, word;
    if (source->text[end] != ',' && ours == name)
        return false;
    while (source->text[end] == ',' && source->text[axis] == ' ')
        axis++;
    for (word = axis; kj_is_word(source->text[word]);)
        word++;
    bool placed =
        source->text[end] == ',' && source->text[word] != '=' && source->text[axis] != ')';
    const char *of = kj_source_text(s, (kj_span){first, end}, "...");
    if (placed)
        kj_hint(s->diag, m,
                "write %s(%s, axis=%s): without the word it is the %s of both, element by element",
                ours, of, kj_source_text(s, (kj_span){axis, argument_end(source, axis)}, "..."),
                *ours == 'm' && ours[1] == 'a' ? "larger" : "smaller");
    else
        kj_hint(s->diag, m, "write %s(...)", ours);
    if (placed)
        kj_fix(s->diag, m, (kj_span){e->span.begin, axis}, "%s(%s, axis=", ours, of);
    else
        kj_fix(s->diag, m, e->span, "%s", ours);
    return true;
}

/* x > 3 & x < 6: is it between two comparisons, which were to be joined? */
static bool joins_comparisons(const kj_sema *s, kj_span a, kj_span b)
{
    const char *text = s->diag->source->text;
    uint32_t before = a.begin, behind = b.end;
    while (before > 0 && text[before - 1] == ' ')
        before--;
    behind += (uint32_t)strspn(text + behind, " ");
    char last = before > 0 ? text[before - 1] : 0, one = before > 1 ? text[before - 2] : 0;
    bool left =
        last == '=' ? one && strchr("<>=!", one) : (last == '<' || last == '>') && one != last;
    char first = text[behind], next = first ? text[behind + 1] : 0;
    bool right = first == '<' || first == '>' ? next != first
                                              : (first == '=' || first == '!') && next == '=';
    return left && right;
}

static void hint_joined(kj_sema *s, kj_message *m, kj_op op, kj_span sign)
{
    const char *word = op == KJ_OP_AND ? "and" : op == KJ_OP_OR ? "or" : NULL;
    if (word)
        kj_hint(s->diag, m, "'%s' comes before comparisons: write '%s' between them",
                kj_ops[op].spelling, word);
    else
        kj_hint(s->diag, m,
                "'^' comes before comparisons: those that it joins stand in parentheses");
    if (word)
        kj_fix(s->diag, m, sign, "%s", word);
}

/* x ^ 2 of floats is meant as a power; x & 1 asks for an integer. */
void kj_hint_power(kj_sema *s, kj_message *m, kj_op op, const kj_operand *v, const bool *real)
{
    kj_span a = v[0].span, b = v[1].span;
    kj_span joint = kj_between(s, a, b, kj_ops[op].spelling);
    if (joint.end > joint.begin && joins_comparisons(s, a, b)) {
        hint_joined(s, m, op, joint);
        return;
    }
    if (op != KJ_OP_XOR) {
        kj_span update = kj_between(s, a, b, kj_ops[op].spelling);
        if (real[0] && update.end > update.begin && s->diag->source->text[update.end] == '=')
            kj_hint(s->diag, m, "integers have bits: the variable is a float");
        else
            kj_hint(s->diag, m, "integers have bits: i32(%s) cuts the fraction off",
                    kj_source_text(s, real[0] ? a : b, "..."));
        return;
    }
    kj_span sign = kj_between(s, a, b, "^");
    if (sign.end <= sign.begin)
        return;
    bool updates = s->diag->source->text[sign.end] == '='; /* x ^= 2 */
    kj_hint(s->diag, m, updates ? "a power is written %s **= %s" : "a power is written %s ** %s",
            kj_operand_text(s, a, "..."),
            updates ? kj_source_text(s, b, "...") : kj_operand_text(s, b, "..."));
    kj_fix(s->diag, m, sign, "**");
}
