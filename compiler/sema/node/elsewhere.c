/* Names of other languages and libraries, and what is written here: a name that is not declared in, a hint and a fix
 * out. Members are in method.c, what std/ has in library.c. */
#include <string.h>

#include "sema/node/node.h"

typedef struct row {
    const char *name, *hint;
    bool run; /* `hint` is code of run blocks */
} row;

static const row habits[] = {
#define NAME(name, hint) {name, hint, false},
#define RUN(name, code) {name, code, true},
#include "sema/node/elsewhere.def"
};

/* What modules have of these names, and no hint is for by themselves. */
static const row members[] = {
#define NAME(name, hint)
#define MEMBER(name, hint) {name, hint, false},
#include "sema/node/elsewhere.def"
};

static const kj_cuda_call calls[] = {
#define CALL(name, type, words) {name, type, words},
#include "sema/node/cuda_calls.def"
};

const kj_cuda_call *kj_cuda_call_named(const char *name, bool floats)
{
    const kj_cuda_call *call = NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && (!call || floats); i++)
        if (strcmp(calls[i].name, name) == 0)
            call = &calls[i];
    return call;
}

/* Families of names: how they begin. */
static const struct {
    const char *prefix, *hint;
} families[] = {
    {"atomic_", "atomics are written atomic.add(a, i, v), with array and index"},
    {"xoroshiro128p_normal", "write random.normal(seed, i): number i of a seed"},
    {"curand_normal", "write random.normal(seed, i): number i of a seed"},
    {"xoroshiro128p_", "write random.uniform(seed, i): number i of a seed"},
    {"curand", "write random.uniform(seed, i): number i of a seed"},
};

void kj_fix_name(kj_sema *s, kj_message *m, const char *words)
{
    const char *text = s->diag->source->text + m->span.begin;
    uint32_t end = m->span.begin;
    for (; end < m->span.end && (kj_is_word(*text) || *text == '.'); text++)
        end++; /* of a type: before its [] */
    size_t n = kj_is_digit(*words) ? strcspn(words, " ") : 0, dot;
    while (kj_is_word(words[n]))
        n++;
    dot = n;
    if (words[n] == '.' && *text != '.') /* a.b, where theirs has no part behind it */
        for (n++; kj_is_word(words[n]);)
            n++;
    if (n > dot && strncmp(words, "random.", dot + 1) != 0)
        return;
    const char *rest = words + n, *close = strchr(rest, ')');
    bool call = *rest == '(' && close && !close[1];
    if (strcmp(rest, "()") == 0 && *text == '(') { /* barrier(CLK_LOCAL_MEM_FENCE) */
        size_t all = strcspn(text, ")\n"), inner = strcspn(text + 1, "()");
        if (text[all] != ')' || inner + 1 != all)
            return;
        kj_fix(s->diag, m, (kj_span){m->span.begin, end + (uint32_t)all + 1}, "%s", words);
        return;
    }
    if (n > 0 && (!*rest || call || strncmp(rest, " or ", 4) == 0 || (*rest == '.' && n == dot)))
        kj_fix(s->diag, m, (kj_span){m->span.begin, end}, "%.*s", (int)n, words);
}

/* float3, make_float3 */
static bool hint_vector(kj_sema *s, kj_message *m, const char *name)
{
    bool made = strncmp(name, "make_", strlen("make_")) == 0;
    const char *own = kj_vector_elsewhere(made ? name + strlen("make_") : name);
    if (!own)
        return false;
    int parts = own[strlen(own) - 1] - '0';
    const char *words = !made ? own
                              : kj_arena_printf(s->diag->arena, "%s(x, y%s)", own,
                                                parts == 2   ? ""
                                                : parts == 3 ? ", z"
                                                             : ", z, w");
    kj_hint(s->diag, m, "write %s", words);
    kj_fix_name(s, m, words);
    return true;
}

/* __umulhi(a, b) in a run block: each argument converted, of functions that take several types as it stands. */
static bool hint_call_of_run(kj_sema *s, kj_message *m, const kj_cuda_call *call)
{
    const kj_cuda_call *of_floats = kj_cuda_call_named(call->name, true);
    bool one = of_floats == call;
    const char *words = "", *end = strstr(call->words, ": ");
    if (strncmp(call->words, "&0.view(", strlen("&0.view(")) == 0) /* arrays have one */
        return kj_hint_call(s, m,
                            kj_arena_printf(s->diag->arena, "array([a], %s)%s[0]", of_floats->type,
                                            call->words + strlen("&0")));
    for (const char *at = call->words; *at && at != end; at++) {
        bool argument = (*at == '&' || *at == '#') && kj_is_digit(at[1]);
        char letter = (char)(argument ? 'a' + at[1] - '0' : *at);
        if (argument && one && *at == '&')
            words = kj_arena_printf(s->diag->arena, "%s%s(%c)", words, call->type, letter);
        else
            words = kj_arena_printf(s->diag->arena, "%s%c", words, letter);
        at += argument;
    }
    return kj_hint_call(s, m, words);
}

/* __umulhi(a, b), whose arguments have no types that are known */
static bool hint_call(kj_sema *s, kj_message *m, const char *name)
{
    const kj_cuda_call *call = kj_cuda_call_named(name, false);
    if (!call)
        return false;
    if (s->in_run && hint_call_of_run(s, m, call))
        return true;
    const char *words = "";
    for (const char *at = call->words; *at; at++) {
        bool argument = (*at == '&' || *at == '#') && kj_is_digit(at[1]);
        words = kj_arena_printf(s->diag->arena, "%s%c", words, argument ? 'a' + at[1] - '0' : *at);
        at += argument;
    }
    kj_hint(s->diag, m, "write %s", words);
    if (s->diag->source->text[m->span.end] == '(')
        kj_fix_name(s, m, words);
    return true;
}

/* ---- A call, written with its own arguments ---- */

enum { MOST_GIVEN = 4 };

/* Behind the name is a call on one line: its arguments, none of them named, and its end; -1: there is none. */
static int given(kj_sema *s, uint32_t open, kj_span *out, uint32_t *end)
{
    const char *text = s->diag->source->text;
    uint32_t begin = open + 1, at = open;
    int depth = 0, n = 0;
    if (text[open] != '(')
        return -1;
    for (; text[at] && !strchr("\n\"#{", text[at]); at++) {
        bool closes = text[at] == ')' || text[at] == ']', named = text[at] == '=' && depth == 1;
        depth += (text[at] == '(' || text[at] == '[') - closes;
        if (named && text[at + 1] != '=' && !strchr("=!<>", text[at - 1]))
            return -1;
        if (!(depth == 1 && text[at] == ',') && !(depth == 0 && closes))
            continue;
        while (begin < at && text[begin] == ' ')
            begin++;
        if (n == MOST_GIVEN || begin == at || strchr("&*", text[begin]))
            return -1;
        out[n++] = (kj_span){begin, at};
        begin = at + 1;
        *end = at + 1;
        if (depth == 0)
            return n;
    }
    return -1;
}

bool kj_stands_alone(const kj_source *s, kj_span call)
{
    uint32_t before = call.begin;
    while (before > 0 && strchr(" \t", s->text[before - 1]))
        before--;
    bool begins = before > 0 && strchr("=(,[{:\n", s->text[before - 1]) &&
                  !(before > 1 && strchr("=!<>", s->text[before - 2]));
    return begins && strchr(",)]};#\r\n", s->text[call.end + strspn(s->text + call.end, " \t")]);
}

/* A letter that stands for an argument in a hint's code: no part of a word, no member, no function, no text. */
static bool is_letter(const char *code, size_t i)
{
    bool begins = i == 0 || (!kj_is_word(code[i - 1]) && !strchr(".\"", code[i - 1]));
    return begins && code[i] >= 'a' && code[i] <= 'z' && !kj_is_word(code[i + 1]) &&
           code[i + 1] != '(';
}

/* Nothing but a name, a call or a member, which needs no brackets. */
static bool is_atom(const char *code, size_t n)
{
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        depth += code[i] == '(';
        if (depth == 0 && !kj_is_word(code[i]) && code[i] != '.')
            return false;
        depth -= code[i] == ')';
    }
    return true;
}

/* What is said behind the code, with the arguments too; an `a` is an article there. */
static const char *with_words(kj_sema *s, const char *text, const char *letter, const kj_span *of,
                              int n)
{
    const char *out = "";
    size_t from = 0;
    for (size_t i = 0; text[i]; i++)
        for (int k = 0; k < n; k++)
            if (is_letter(text, i) && text[i] == letter[k] && text[i] != 'a') {
                out = kj_arena_printf(s->diag->arena, "%s%.*s%s", out, (int)(i - from), text + from,
                                      kj_operand_text(s, of[k], "..."));
                from = i + 1;
            }
    return kj_arena_printf(s->diag->arena, "%s%s", out, text + from);
}

bool kj_hint_call(kj_sema *s, kj_message *m, const char *code)
{
    static const char of_arrays[] = "; of arrays "; /* that are what a run block has */
    const char *other = s->in_run ? strstr(code, of_arrays) : NULL;
    code = other ? other + strlen(of_arrays) : code;
    kj_span arguments[MOST_GIVEN];
    uint32_t end;
    int n = given(s, m->span.end, arguments, &end), letters = 0;
    char letter[MOST_GIVEN];
    size_t len = strcspn(code, ":;");
    const char *comma = strstr(code, ", "), *out = "";
    for (int depth = 0; comma; comma = strstr(comma + 1, ", ")) {
        for (const char *at = code; at < comma; at++)
            depth += (*at == '(') - (*at == ')');
        if (depth == 0 && (size_t)(comma - code) < len)
            len = (size_t)(comma - code);
        depth = 0;
    }
    if (n < 1 || code[len] == ':' || strstr(code, "...") || strncmp(code, "assert", 6) == 0)
        return false;
    for (size_t i = 0, from = 0; i <= len; i++) {
        if (i < len && !is_letter(code, i))
            continue;
        int k = 0;
        while (i < len && k < letters && letter[k] != code[i])
            k++;
        if (i < len && k == n)
            return false;
        if (i < len && k == letters)
            letter[letters++] = code[i];
        bool argument = i > 0 && strchr("( ", code[i - 1]) && strchr(",)", code[i + 1]) &&
                        (code[i - 1] == '(' || code[i - 2] == ',') &&
                        (code[i - 1] != '(' || (i > 1 && kj_is_word(code[i - 2])));
        const char *own = i == len   ? ""
                          : argument ? kj_source_text(s, arguments[k], "...")
                                     : kj_operand_text(s, arguments[k], "...");
        out = kj_arena_printf(s->diag->arena, "%s%.*s%s", out, (int)(i - from), code + from, own);
        from = i + 1;
    }
    kj_span whole = {m->span.begin, end};
    if (letters != n || strstr(out, "..."))
        return false;
    if (!is_atom(code, len) && !kj_stands_alone(s->diag->source, whole))
        out = kj_arena_printf(s->diag->arena, "(%s)", out);
    kj_hint(s->diag, m, "write %s%s", out,
            code[len] == ';' ? "" : with_words(s, code + len, letter, arguments, letters));
    if (code[len] != ',' ||
        strncmp(code + len, ", or ", 5) == 0) /* else it isn't the same for all */
        kj_fix(s->diag, m, whole, "%s", out);
    return true;
}

static bool hint_of(kj_sema *s, kj_message *m, const char *name, const row *rows, size_t n)
{
    static const char begin[] = "write ";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].name, name) != 0)
            continue;
        if (rows[i].run && !s->in_run && i + 1 < n && strcmp(rows[i + 1].name, name) == 0)
            continue; /* kernels have a row of their own */
        bool writes = strncmp(rows[i].hint, begin, strlen(begin)) == 0;
        if ((writes || (rows[i].run && s->in_run)) &&
            kj_hint_call(s, m, rows[i].hint + (writes ? strlen(begin) : 0)))
            return true;
        if (rows[i].run)
            kj_hint(s->diag, m, "%s %s",
                    s->in_run ? "write" : "a run block does it:", rows[i].hint);
        else
            kj_hint(s->diag, m, "%s", rows[i].hint);
        if (rows[i].run ? s->in_run : writes)
            kj_fix_name(s, m, rows[i].hint + (writes ? strlen(begin) : 0));
        return true;
    }
    return false;
}

/* int(x) is Python's, of 64 bits, where it is a call or in a run block; int x is C's. */
static bool hint_number(kj_sema *s, kj_message *m, const char *name)
{
    bool is_int = strcmp(name, "int") == 0;
    bool called = s->diag->source->text[m->span.end] == '(';
    if ((!is_int && strcmp(name, "float") != 0) || !(called || s->in_run))
        return false;
    const char *own = is_int ? "i64" : "f64", *text = s->diag->source->text;
    static const char *const texts[][2] = {{"(\"inf\")", "inf"}, {"(\"nan\")", "nan"}};
    for (size_t i = 0; i < 2 && !is_int; i++) {
        size_t n = strlen(texts[i][0]);
        if (strncmp(text + m->span.end, texts[i][0], n) == 0) {
            kj_span call = {m->span.begin, m->span.end + (uint32_t)n};
            kj_write(s->diag, m, call, "%s", texts[i][1]);
            return true;
        }
    }
    kj_hint(s->diag, m,
            called ? "write %s(x), or %s(x) for 32 bits" : "write %s, or %s for 32 bits", own,
            is_int ? "i32" : "f32");
    kj_fix(s->diag, m, m->span, "%s", own);
    return true;
}

/* get_global_id(0) of OpenCL, gl_GlobalInvocationID.x of GLSL: a place along one axis, that is written here. */
static bool hint_place(kj_sema *s, kj_message *m, const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } places[] = {
        {"get_local_id", "threadIdx"},     {"get_group_id", "blockIdx"},
        {"get_local_size", "blockDim"},    {"get_num_groups", "gridDim"},
        {"get_global_id", "grid"},         {"get_global_size", "gridsize"},
        {"gl_GlobalInvocationID", "grid"},
    };
    const char *next = s->diag->source->text + m->span.end, *ours = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !s->in_run; i++)
        if (strcmp(places[i].theirs, name) == 0)
            ours = places[i].ours;
    bool call = next[0] == '(' && next[1] >= '0' && next[1] <= '2' && next[2] == ')';
    bool member = next[0] == '.' && next[1] >= 'x' && next[1] <= 'z' && !kj_is_word(next[2]);
    if (!ours || (!call && !member))
        return false;
    int axis = call ? next[1] - '0' : next[1] - 'x';
    const char *text = strncmp(ours, "grid", 4) != 0 || strcmp(ours, "gridDim") == 0
                           ? kj_arena_printf(s->diag->arena, "%s.%c", ours, "xyz"[axis])
                       : axis == 0
                           ? kj_arena_printf(s->diag->arena, "%s(1)", ours)
                           : kj_arena_printf(s->diag->arena, "%s(%d)[%d]", ours, axis + 1, axis);
    kj_write(s->diag, m, (kj_span){m->span.begin, m->span.end + (call ? 3 : 2)}, "%s", text);
    return true;
}

/* let y = zeros(3, f32) in a kernel: each thread's own. */
static bool hint_zeros(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text;
    bool zeros = strcmp(name, "zeros") == 0, empty = strcmp(name, "empty") == 0;
    uint32_t line = m->span.begin, open = m->span.end;
    while (line > 0 && !strchr("\n;{", text[line - 1]))
        line--;
    line += (uint32_t)strspn(text + line, " \t");
    size_t word =
        strspn(text + line + 4, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    uint32_t behind = line + 4 + (uint32_t)word;
    bool declares = strncmp(text + line, "let ", 4) == 0 || strncmp(text + line, "var ", 4) == 0;
    if (s->in_run || (!zeros && !empty) || text[open] != '(' || !declares || word == 0 ||
        strncmp(text + behind, " = ", 3) != 0 || behind + 3 != m->span.begin)
        return false;
    size_t shape = text[open + 1] == '(' ? strcspn(text + open + 1, ")\n") + 1
                                         : strcspn(text + open + 1, ",)\n");
    size_t all = strcspn(text + open + 1 + shape, ")\n") + shape;
    const char *rest = text + open + 1 + all;
    int axes = 1;
    for (size_t i = 1; text[open + 1] == '(' && i < shape; i++)
        axes += text[open + 1 + i] == ',';
    if (*rest != ')' || !strchr("\r\n;}#", rest[1 + strspn(rest + 1, " \t")]) || axes > 3)
        return false;
    const char *own =
        kj_arena_printf(s->diag->arena, "let %.*s = local.array(%.*s%s)", (int)word,
                        text + line + 4, (int)all, text + open + 1, shape == all ? ", f32" : "");
    if (zeros)
        own = kj_arena_printf(s->diag->arena, "%s; %.*s[%.*s] = 0", own, (int)word, text + line + 4,
                              axes * 3 - 2, ":, :, :");
    kj_write(s->diag, m, (kj_span){line, (uint32_t)(rest + 1 - text)}, "%s", own);
    return true;
}

const char *kj_axis_given(kj_sema *s, uint32_t at)
{
    static const char *const words[] = {"axis=", "dim=", "dims="};
    const char *text = s->diag->source->text + at, *close = text + strcspn(text, "()\n");
    for (size_t i = 0; *close == ')' && i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]), n = (size_t)(close - text);
        if (n > len && strncmp(text, words[i], len) == 0 && !memchr(text + len, ',', n - len) &&
            !memchr(text + len, '=', n - len))
            return kj_arena_printf(s->diag->arena, "%.*s", (int)(n - len), text + len);
    }
    return NULL;
}

/* shape(a), ndim(a) */
static bool hint_of_array(kj_sema *s, kj_message *m, const char *name)
{
    bool called = s->diag->source->text[m->span.end] == '(';
    return called && ((strcmp(name, "shape") == 0 && kj_hint_call(s, m, "a.shape")) ||
                      (strcmp(name, "ndim") == 0 && kj_hint_call(s, m, "a.ndim")));
}

/* norm(a, axis=0): the root of each sum. */
static bool hint_norm(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text;
    uint32_t first = m->span.end + 1, end = first;
    int depth = 0;
    if (!s->in_run || strcmp(name, "norm") != 0 || text[m->span.end] != '(')
        return false;
    for (; text[end] && text[end] != '\n' && !(depth == 0 && strchr(",)", text[end])); end++)
        depth += (strchr("([", text[end]) != NULL) - (strchr(")]", text[end]) != NULL);
    uint32_t second = end + 1 + (uint32_t)strspn(text + end + 1, " ");
    const char *axis = text[end] == ',' ? kj_axis_given(s, second) : NULL;
    if (!axis)
        return false;
    const char *of = kj_operand_text(s, (kj_span){first, end}, "a");
    kj_write(s->diag, m,
             (kj_span){m->span.begin, second + (uint32_t)strcspn(text + second, ")") + 1},
             "sqrt((%s * %s).sum(axis=%s))", of, of, axis);
    return true;
}

/* a[1:end], a[end], m[0, end] of Julia and MATLAB. */
static bool hint_end(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text, *own = NULL;
    uint32_t open = m->span.begin, close = m->span.end, before, behind;
    int depth = 0, axis = 0;
    if (strcmp(name, "end") != 0)
        return false;
    for (; open > 0 && text[open - 1] != '\n' && !(depth == 0 && text[open - 1] == '['); open--) {
        depth += (strchr(")]", text[open - 1]) != NULL) - (strchr("([", text[open - 1]) != NULL);
        axis += depth == 0 && text[open - 1] == ',';
    }
    uint32_t begin = open > 0 ? open - 1 : 0;
    while (begin > 0 && (kj_is_word(text[begin - 1]) || text[begin - 1] == '.'))
        begin--;
    if (open == 0 || text[open - 1] != '[' || begin + 1 >= open)
        return false;
    for (depth = 0; text[close] && text[close] != '\n' && !(depth == 0 && text[close] == ']');
         close++)
        depth += (strchr("([", text[close]) != NULL) - (strchr(")]", text[close]) != NULL);
    for (before = m->span.begin; text[before - 1] == ' ';)
        before--;
    for (behind = m->span.end; text[behind] == ' ';)
        behind++;
    const char *of = kj_arena_printf(s->diag->arena, "%.*s", (int)(open - 1 - begin), text + begin);
    const char *last = kj_arena_printf(s->diag->arena, "%s.shape[%d] - 1", of, axis);
    bool slice = text[before - 1] == ':', alone = strchr(",]", text[behind]) != NULL;
    own = slice ? "" : s->in_run ? "-1" : last;
    if (!alone || text[close] != ']')
        kj_hint(s->diag, m, "the last index of that axis is %s", last);
    else
        kj_write(s->diag, m, (kj_span){begin, close + 1}, "%.*s%s%.*s",
                 (int)(m->span.begin - begin), text + begin, own, (int)(close + 1 - m->span.end),
                 text + m->span.end);
    return true;
}

/* std::max(x, y) within an f-string, where : begins a format. */
static bool hint_path(kj_sema *s, kj_message *m)
{
    const char *text = s->diag->source->text + m->span.end;
    if (strncmp(text, "::", 2) != 0 || !kj_is_word(text[2]))
        return false;
    kj_hint(s->diag, m, "there are no paths: write sqrt(x), max(x, y)");
    kj_fix(s->diag, m, (kj_span){m->span.begin, m->span.end + 2}, "%s", "");
    return true;
}

bool kj_hint_habit(kj_sema *s, kj_message *m, const char *name)
{
    if (hint_path(s, m))
        return true;
    if (hint_end(s, m, name))
        return true;
    if (hint_norm(s, m, name) || hint_of_array(s, m, name))
        return true;
    if (hint_number(s, m, name) || hint_place(s, m, name) || hint_zeros(s, m, name))
        return true;
    if (strncmp(name, "hip", 3) == 0 && name[3] >= 'A' && name[3] <= 'Z' &&
        hint_of(s, m, kj_arena_printf(s->diag->arena, "cuda%s", name + 3), habits,
                sizeof habits / sizeof *habits))
        return true;
    for (size_t i = 0; i < sizeof families / sizeof *families && !s->in_run; i++) {
        if (strncmp(families[i].prefix, name, strlen(families[i].prefix)) == 0) {
            kj_hint(s->diag, m, "%s", families[i].hint);
            return true;
        }
    }
    return hint_of(s, m, name, habits, sizeof habits / sizeof *habits) || hint_call(s, m, name) ||
           kj_hint_library(s, m, name) || hint_vector(s, m, name);
}

void kj_hint_module_member(kj_sema *s, kj_message *m, const char *name)
{
    if (s->in_run && kj_run_builtin_named(name) >= 0) { /* what it is in a kernel doesn't matter */
        kj_hint(s->diag, m, "write %s(...)", name);
        return;
    }
    if (hint_of(s, m, name, members, sizeof members / sizeof *members) || kj_hint_habit(s, m, name))
        return;
    const kj_symbol *own = kj_scope_find(s->scope, name);
    const char *near = own || strlen(name) < 4 ? NULL : kj_nearest_visible(s, name, m->span);
    bool value = own && own->kind == KJ_SYM_VALUE;
    if (!own && !s->in_run && kj_run_builtin_named(name) >= 0)
        kj_hint_of_run(s, m, name);
    else if (own)
        kj_hint(s->diag, m, "write %s%s", name, value ? "" : "(...)");
    else if (near) /* of another's library: it need not do the same */
        kj_hint(s->diag, m, "did you mean '%s'?", near);
    else
        kj_hint(s->diag, m, "kjit builtins lists what there is, %s",
                s->in_run ? "kjit doc std the library" : "for kernels too");
    if (value)
        kj_fix_name(s, m, name);
}

bool kj_hint_own_function(kj_sema *s, kj_message *m, const char *name)
{
    static const char *const prefixes[] = {"__", "native_", "half_"}; /* CUDA's, OpenCL's */
    const char *plain = name;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && plain == name; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            plain += strlen(prefixes[i]);
    size_t len = strlen(plain), without_f = len > 1 && plain[len - 1] == 'f' ? len - 1 : len;
    size_t without_ll = len > 2 && strcmp(plain + len - 2, "ll") == 0 ? len - 2 : len;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const char *own = kj_builtins[id].name;
        size_t n = strlen(own);
        bool called = strcmp(kj_builtins[id].group, "index") != 0;
        bool math = strcmp(kj_builtins[id].group, "math") == 0;
        bool bits = kj_builtin_is_of_bits((kj_builtin)id);
        if (called && (n == len || (n == without_f && math) || (n == without_ll && bits)) &&
            strncmp(own, plain, n) == 0) {
            kj_hint(s->diag, m, "write %s%s", own, kj_call_words((kj_builtin)id));
            kj_fix_name(s, m, own);
            return true;
        }
    }
    return false;
}

/* The words of `name` in small letters, without what is between them; false: there is no room. */
static bool plain_letters(const char *name, char out[16])
{
    size_t n = 0;
    for (; *name && n < 15; name++)
        if (*name != '_')
            out[n++] = kj_to_lower(*name);
    out[n] = '\0';
    return !*name;
}

/* threadIdxx, blockDim_y, thread_idx_z: the dot was lost. */
bool kj_hint_axis_of_thread(kj_sema *s, kj_message *m, const char *name)
{
    static const char *const all[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    char given[16], own[16];
    size_t n = strlen(name);
    if (s->in_run || !strchr("xyz", name[n - 1]) || !plain_letters(name, given))
        return false;
    given[strlen(given) - 1] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (plain_letters(all[i], own) && strcmp(given, own) == 0) {
            kj_write(s->diag, m, m->span, "%s.%c", all[i], name[n - 1]);
            return true;
        }
    return false;
}

static const char *type_elsewhere(const char *name)
{
    static const char begin[] = "write ";
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strcmp(habits[i].name, name) == 0 && strncmp(habits[i].hint, begin, strlen(begin)) == 0)
            return kj_type_named(habits[i].hint + strlen(begin)) != KJ_VOID
                       ? habits[i].hint + strlen(begin)
                       : NULL;
    return NULL;
}

bool kj_is_type_elsewhere(const char *name)
{
    return type_elsewhere(name) != NULL;
}

const char *kj_type_meant(const char *name)
{
    return kj_type_named(name) != KJ_VOID ? name : type_elsewhere(name);
}
