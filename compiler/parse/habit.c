/* What C, CUDA, Python and Rust write, and what it is here: the source around a syntax error in, a hint and a fix out.
 * They read the text and not tokens, as it is that of other languages; what they don't understand they leave alone. */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/parse.h"

enum { MOST_MENDED = 1 << 14 }; /* bytes of a comment or block */

static bool in_word(char c)
{
    return kj_is_word(c);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Sources end with a NUL, and have none before. */
static uint32_t skip_blanks(const kj_source *s, uint32_t at)
{
    while (is_blank(s->text[at]))
        at++;
    return at;
}

static uint32_t word_end(const kj_source *s, uint32_t at)
{
    while (in_word(s->text[at]))
        at++;
    return at;
}

static uint32_t line_start(const kj_source *s, uint32_t at)
{
    while (at > 0 && s->text[at - 1] != '\n')
        at--;
    return at;
}

static uint32_t line_end(const kj_source *s, uint32_t at)
{
    while (s->text[at] && s->text[at] != '\n')
        at++;
    return at;
}

/* Where a line's code ends: before its comment, the ; and blanks. */
static uint32_t code_end(const kj_source *s, uint32_t at)
{
    uint32_t end = at;
    bool quoted = false;
    for (; s->text[end] && s->text[end] != '\n' && (quoted || s->text[end] != '#'); end++)
        quoted ^= s->text[end] == '"';
    while (end > at && (strchr(" \t\r;", s->text[end - 1])))
        end--;
    return end;
}

static const char *piece(kj_parser *p, uint32_t begin, uint32_t end)
{
    return kj_arena_printf(p->arena, "%.*s", (int)(end - begin), p->source->text + begin);
}

static bool is_word_at(const kj_source *s, uint32_t at, const char *word)
{
    size_t len = strlen(word);
    return strncmp(s->text + at, word, len) == 0 && !in_word(s->text[at + len]);
}

/* The bracket that closes the one at `open`, on its line; 0: none does. */
static uint32_t closing(const kj_source *s, uint32_t open)
{
    int depth = 0;
    for (uint32_t at = open; s->text[at] && s->text[at] != '\n'; at++) {
        depth += strchr("([{", s->text[at]) != NULL;
        depth -= strchr(")]}", s->text[at]) != NULL;
        if (depth == 0)
            return at;
    }
    return 0;
}

/* ---- Types and declarations ---- */

static const char *type_in_c(const char *word)
{
    static const char *const types[][2] = {
        {"char", "i8"},      {"short", "i16"},  {"int", "i32"},      {"long", "i64"},
        {"unsigned", "u32"}, {"uint", "u32"},   {"float", "f32"},    {"double", "f64"},
        {"half", "f16"},     {"int8_t", "i8"},  {"int16_t", "i16"},  {"int32_t", "i32"},
        {"int64_t", "i64"},  {"uint8_t", "u8"}, {"uint16_t", "u16"}, {"uint32_t", "u32"},
        {"uint64_t", "u64"}, {"size_t", "i64"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(word, types[i][0]) == 0)
            return types[i][1];
    }
    return kj_type_named(word) != KJ_VOID ? word : kj_vector_elsewhere(word);
}

const char *kj_habit_type_named(const char *word)
{
    return type_in_c(word);
}

/* Of C's declarations: `const unsigned int`, up to the name. */
typedef struct c_type {
    const char *name; /* here; NULL: `auto`, or none */
    bool is_const, is_shared, is_auto;
    int pointers;
    uint32_t end;
} c_type;

static bool takes_type_word(c_type *t, const char *word, bool *is_unsigned)
{
    static const char *const silent[] = {"extern",    "volatile",     "register", "signed",
                                         "constexpr", "__restrict__", "restrict"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(word, silent[i]) == 0)
            return true;
    bool shared = strcmp(word, "__shared__") == 0 || strcmp(word, "shared") == 0;
    bool constant = strcmp(word, "const") == 0, any = strcmp(word, "auto") == 0;
    const char *type = type_in_c(word);
    if (!shared && !constant && !any &&
        (!type || (t->name && strcmp(word, "int") != 0 && strcmp(word, "long") != 0)))
        return false;
    t->is_shared |= shared;
    t->is_const |= constant;
    t->is_auto |= any;
    *is_unsigned |= strcmp(word, "unsigned") == 0;
    if (type && !(t->name && strcmp(word, "int") == 0 && strcmp(t->name, "u32") != 0))
        t->name = type;
    return true;
}

static c_type read_type(kj_parser *p, uint32_t at)
{
    const kj_source *s = p->source;
    c_type t = {.end = at};
    bool is_unsigned = false;
    for (;;) {
        at = skip_blanks(s, at);
        if (s->text[at] == '*') {
            t.pointers++;
            at++;
        } else if (in_word(s->text[at]) &&
                   takes_type_word(&t, piece(p, at, word_end(s, at)), &is_unsigned)) {
            at = word_end(s, at);
        } else {
            break;
        }
        t.end = at;
    }
    if (is_unsigned && t.name && *t.name == 'i')
        t.name = kj_arena_printf(p->arena, "u%s", t.name + 1);
    return t;
}

/* [16][17] behind a name; the shape as it is written here, and where it ends. */
static const char *read_shape(kj_parser *p, uint32_t at, uint32_t *end)
{
    const kj_source *s = p->source;
    const char *shape = NULL;
    bool several = false;
    while (s->text[at] == '[') {
        uint32_t close = closing(s, at);
        if (!close || close == at + 1)
            return NULL;
        several |= shape != NULL;
        shape = kj_arena_printf(p->arena, "%s%s%s", shape ? shape : "", shape ? ", " : "",
                                piece(p, at + 1, close));
        *end = at = close + 1;
    }
    return shape && several ? kj_arena_printf(p->arena, "(%s)", shape) : shape;
}

bool kj_habit_declaration(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = skip_blanks(s, line_start(s, at.begin)), shape_end = 0;
    c_type t = read_type(p, begin);
    uint32_t name = skip_blanks(s, t.end), end = word_end(s, name), next = skip_blanks(s, end);
    if ((!t.name && !t.is_auto) || t.pointers || end == name || t.end == begin)
        return false;
    const char *text = NULL, *what = piece(p, name, end);
    const char *shape = t.name ? read_shape(p, next, &shape_end) : NULL;
    bool ends = code_end(s, next) <= next;
    if (shape && code_end(s, shape_end) <= shape_end) {
        text = kj_arena_printf(p->arena, "let %s = %s.array(%s, %s)", what,
                               t.is_shared ? "shared" : "local", shape, t.name);
        end = shape_end;
    } else if (s->text[next] == '=' && s->text[next + 1] != '=') {
        text = kj_arena_printf(p->arena, "%s %s%s%s", t.is_const ? "let" : "var", what,
                               t.name ? ": " : "", t.name ? t.name : "");
    } else if (ends && t.name && !t.is_shared) {
        const char *zero = strcmp(t.name, "bool") == 0 ? "false" : "0";
        text = kj_arena_printf(p->arena, "var %s: %s = %s", what, t.name, zero);
    }
    if (!text)
        return false;
    uint32_t stop = code_end(s, end);
    bool one = !memchr(s->text + end, ';', stop - end) && !memchr(s->text + end, ',', stop - end);
    kj_hint(p->diag, m, "write %s%s", text,
            one && stop - end < 40 ? piece(p, end, stop) : " = ...");
    if (one || shape)
        kj_fix(p->diag, m, (kj_span){begin, end}, "%s", text);
    return true;
}

bool kj_habit_parameter(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = at.begin;
    while (begin > 0 && !strchr("({,;\n", s->text[begin - 1]))
        begin--;
    begin = skip_blanks(s, begin);
    c_type t = read_type(p, begin);
    uint32_t type_end = t.end;
    bool array = t.pointers > 0;
    if (s->text[type_end] == '[' && closing(s, type_end)) { /* f32[] x */
        type_end = closing(s, type_end) + 1;
        array = true;
    }
    uint32_t name = skip_blanks(s, type_end), end = word_end(s, name);
    if (!t.name || end == name)
        return false;
    uint32_t next = end;
    if (s->text[next] == '[' && closing(s, next)) { /* float x[] */
        next = closing(s, next) + 1;
        array = true;
    }
    bool field = p->nopen && p->open[p->nopen - 1].kind == '{';
    if (!strchr(field ? ",;\r\n}" : ",)", s->text[skip_blanks(s, next)]))
        return false;
    kj_write(p->diag, m, (kj_span){begin, next}, "%s: %s%s", piece(p, name, end), t.name,
             array ? "[]" : "");
    return true;
}

/* *f32, &f32, &mut f32, &[f32], [f32], []f32 where a type stands. */
bool kj_habit_type(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t i = at.begin;
    bool array = false, inside;
    if (s->text[i] == '*' || s->text[i] == '&')
        array = s->text[i++] == '*';
    if (is_word_at(s, i, "mut"))
        i = skip_blanks(s, i + 3);
    inside = s->text[i] == '[' && s->text[i + 1] != ']';
    if (s->text[i] == '[') {
        i += inside ? 1 : 2;
        array = true;
    }
    uint32_t end = word_end(s, i);
    const char *type = type_in_c(piece(p, i, end));
    if (!type || (inside && s->text[end] != ']'))
        return false;
    kj_write(p->diag, m, (kj_span){at.begin, end + inside}, "%s%s", type, array ? "[]" : "");
    return true;
}

/* f32[:, :] and f32[][]. */
bool kj_habit_axes(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = at.begin, end;
    while (begin > 0 && strchr("[]:, ", s->text[begin - 1]))
        begin--;
    while (s->text[begin] != '[' && begin < at.begin)
        begin++;
    int axes = 1;
    for (end = begin; strchr("[]:, ", s->text[end]) && s->text[end];) {
        if (s->text[end] == ',')
            axes++;
        if (s->text[end] == '[' && end > begin)
            axes++;
        if (s->text[end++] == ']' && s->text[end] != '[')
            break;
    }
    if (end == begin || s->text[end - 1] != ']' || axes > 6)
        return false;
    kj_fix(p->diag, m, (kj_span){begin, end}, "[%.*s]", axes - 1, ",,,,,");
    return true;
}

/* ---- Conversions ---- */

/* The end of what a conversion before it would take: a name or number with its members, indices and
 * arguments; `begin` where that is not on the line. */
static uint32_t operand_end(const kj_source *source, uint32_t begin)
{
    int depth = 0;
    uint32_t at = begin;
    for (; at < source->size; at++) {
        char c = source->text[at];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (depth < 0 || (depth == 0 && !in_word(c) && c != '.' && c != ')' && c != ']'))
            break;
        if (c == '\n' || c == '\0')
            return begin;
    }
    return depth > 0 ? begin : at;
}

/* And the beginning of what ends there: x[i], f(x).y. */
static uint32_t operand_start(const kj_source *s, uint32_t end)
{
    int depth = 0;
    uint32_t at = end;
    for (; at > 0 && s->text[at - 1] != '\n'; at--) {
        char c = s->text[at - 1];
        depth += c == ')' || c == ']';
        depth -= c == '(' || c == '[';
        if (depth < 0 || (depth == 0 && !in_word(c) && !strchr(".([", c)))
            break;
    }
    return depth > 0 ? end : at;
}

bool kj_habit_cast(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *source = p->source;
    if (p->prev != KJ_TK_RPAREN || !in_word(source->text[at.begin]))
        return false;
    kj_span word = {0, p->prev_span.begin};
    while (word.end > 0 && is_blank(source->text[word.end - 1]))
        word.end--;
    for (word.begin = word.end; word.begin > 0 && in_word(source->text[word.begin - 1]);)
        word.begin--;
    uint32_t open = word.begin;
    while (open > 0 && is_blank(source->text[open - 1]))
        open--;
    const char *type = type_in_c(piece(p, word.begin, word.end));
    if (!type || open == 0 || source->text[open - 1] != '(')
        return false;
    enum { MOST = 40 };
    kj_span taken = {at.begin, operand_end(source, at.begin)};
    bool shown = taken.end > taken.begin && taken.end - taken.begin <= MOST;
    const char *text = shown ? piece(p, taken.begin, taken.end) : "...";
    kj_hint(p->diag, m, "conversions are written %s(%s)", type, text);
    kj_fix(p->diag, m, (kj_span){open - 1, taken.end}, "%s(%s)", type, text);
    return true;
}

bool kj_habit_as(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t type = skip_blanks(s, at.end), end = word_end(s, type);
    uint32_t begin = operand_start(s, p->prev_span.end);
    const char *to = type_in_c(piece(p, type, end));
    if (!to || begin == p->prev_span.end)
        return false;
    const char *text = piece(p, begin, p->prev_span.end);
    kj_hint(p->diag, m, "conversions are written %s(%s)", to, text);
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s(%s)", to, text);
    return true;
}

/* ---- Expressions ---- */

void kj_habit_range(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    bool to = s->text[at.end - 1] == '='; /* 0..=n */
    uint32_t end = operand_end(s, at.end), first = at.begin;
    while (s->text[first] != '.')
        first++;
    if (end > at.end)
        kj_write(p->diag, m, (kj_span){at.begin, end}, "range(%s, %s%s)", piece(p, at.begin, first),
                 piece(p, at.end, end), to ? " + 1" : "");
}

/* a ? b : c */
void kj_habit_ternary(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    int depth = 0;
    uint32_t begin = at.begin, end = at.end, colon = 0;
    for (; begin > 0 && s->text[begin - 1] != '\n'; begin--) {
        char c = s->text[begin - 1], before = begin > 1 ? s->text[begin - 2] : '\n';
        bool assigns = c == '=' && s->text[begin] != '=' && !strchr("=<>!", before);
        depth += c == ')' || c == ']';
        depth -= c == '(' || c == '[';
        if (depth < 0 || (depth == 0 && (c == ',' || assigns)))
            break;
    }
    begin = skip_blanks(s, begin);
    if (is_word_at(s, begin, "return"))
        begin = skip_blanks(s, begin + 6);
    for (depth = 0; s->text[end] && !strchr("\n;,#?", s->text[end]) && depth >= 0; end++) {
        char c = s->text[end];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (c == ':' && depth == 0 && !colon)
            colon = end;
        if (depth < 0)
            break;
    }
    while (end > at.end && is_blank(s->text[end - 1]))
        end--;
    uint32_t test = at.begin, yes = skip_blanks(s, at.end), yes_end = colon;
    while (test > begin && is_blank(s->text[test - 1]))
        test--;
    while (yes_end > yes && is_blank(s->text[yes_end - 1]))
        yes_end--;
    if (!colon || test == begin || yes_end <= yes || s->text[end] == '?' || end <= colon + 1)
        return;
    uint32_t no = skip_blanks(s, colon + 1);
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s if %s else %s", piece(p, yes, yes_end),
           piece(p, begin, test), piece(p, no, end));
}

/* atomicAdd(&x[i] */
bool kj_habit_address(kj_parser *p, kj_message *m, kj_span at)
{
    static const char *const names[][2] = {
        {"atomicAdd", "add"},  {"atomicSub", "sub"},   {"atomicMin", "min"}, {"atomicMax", "max"},
        {"atomicAnd", "and_"}, {"atomicOr", "or_"},    {"atomicXor", "xor"}, {"atomicInc", "inc"},
        {"atomicDec", "dec"},  {"atomicExch", "exch"}, {"atomicCAS", "cas"},
    };
    const kj_source *s = p->source;
    uint32_t open = at.begin;
    while (open > 0 && is_blank(s->text[open - 1]))
        open--;
    if (open == 0 || s->text[open - 1] != '(')
        return false;
    uint32_t begin = operand_start(s, open - 1), array = at.end, bracket = array;
    while (in_word(s->text[bracket]) || s->text[bracket] == '.')
        bracket++;
    uint32_t close = s->text[bracket] == '[' ? closing(s, bracket) : 0;
    if (!close || bracket == array)
        return false;
    const char *name = piece(p, begin, open - 1), *known = NULL;
    if (strncmp(name, "atomic.", 7) == 0)
        known = name + 7;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            known = names[i][1];
    if (!known)
        return false;
    const char *index = piece(p, bracket + 1, close);
    bool several = strchr(index, ',') != NULL;
    kj_hint(p->diag, m,
            "there are no addresses: atomics take array and index, atomic.%s(%s, %s%s%s, ...)",
            known, piece(p, array, bracket), several ? "(" : "", index, several ? ")" : "");
    kj_fix(p->diag, m, (kj_span){begin, close + 1}, "atomic.%s(%s, %s%s%s", known,
           piece(p, array, bracket), several ? "(" : "", index, several ? ")" : "");
    return true;
}

/* *x = 1 */
bool kj_habit_dereference(kj_parser *p, kj_message *m, kj_span at)
{
    uint32_t end = word_end(p->source, at.end);
    if (end == at.end)
        return false;
    kj_hint(p->diag, m, "there are no pointers: the first element is %s[0]", piece(p, at.end, end));
    kj_fix(p->diag, m, (kj_span){at.begin, end}, "%s[0]", piece(p, at.end, end));
    return true;
}

/* i++ and i-- as a statement; at: the operator. */
void kj_habit_step(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = skip_blanks(s, line_start(s, at.begin));
    char op = s->text[at.begin];
    bool before = begin == at.begin; /* ++i */
    kj_span target = before ? (kj_span){at.end, word_end(s, at.end)}
                            : (kj_span){operand_start(s, at.begin), at.begin};
    bool alone = before ? code_end(s, target.end) <= target.end
                        : target.begin == begin && code_end(s, at.end) <= at.end;
    const char *text = piece(p, target.begin, target.end);
    if (target.end == target.begin)
        text = "i";
    kj_hint(p->diag, m, "there is no '%c%c': write %s %c= 1", op, op, alone ? text : "i", op);
    if (alone && target.end > target.begin)
        kj_fix(p->diag, m, (kj_span){begin, before ? target.end : at.end}, "%s %c= 1", text, op);
}

/* ---- Statements ---- */

/* Not as a member's name: for x, threadIdx.x is another. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || (!in_word(at[-1]) && at[-1] != '.')) && !in_word(at[n]))
            return true;
    return false;
}

/* Does a part of a loop's header mean the same as an argument of range()? `refused`: what it may not have outside
 * of brackets. */
static bool is_argument(const char *text, const char *loop_variable, const char *refused)
{
    const char *const elsewhere[] = {loop_variable, "and", "or", "if"};
    int depth = 0;
    if (!*text || strchr(text, '=') || strstr(text, "++") || strstr(text, "--"))
        return false;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (has_word(text, elsewhere[i]))
            return false;
    for (; *text && depth >= 0; text++) {
        depth += strchr("([{", *text) != NULL;
        depth -= strchr(")]}", *text) != NULL;
        if (depth == 0 && strchr(refused, *text))
            return false;
    }
    return depth == 0;
}

/* What follows `word` and blanks; NULL: the text begins with something else. */
static const char *behind_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(text, word, n) != 0 || in_word(text[n]))
        return NULL;
    return text + n + strspn(text + n, " \t");
}

#define LOOSER_THAN_SUM ",?<>&|^"

/* ", 2" of i += 2 and i = i + 2, "" of i++; NULL: it is something else. */
static const char *step_by(kj_parser *p, const char *what, const char *step)
{
    if (strncmp(step, "++", 2) == 0) {
        const char *rest = behind_word(step + 2 + strspn(step + 2, " \t"), what);
        return rest && !*rest ? "" : NULL;
    }
    const char *adds = behind_word(step, what), *refused = LOOSER_THAN_SUM;
    if (adds && strcmp(adds, "++") == 0)
        return "";
    if (adds && *adds == '=') {
        adds = behind_word(adds + 1 + strspn(adds + 1, " \t"), what);
        refused = LOOSER_THAN_SUM "+-*/%"; /* of which some would take the sum */
        if (!adds || *adds != '+')
            return NULL;
        adds++;
    } else if (adds && strncmp(adds, "+=", 2) == 0)
        adds += 2;
    else
        return NULL;
    adds += strspn(adds, " \t");
    if (*adds == '-' || !is_argument(adds, what, refused))
        return NULL;
    return strcmp(adds, "1") == 0 ? "" : kj_arena_printf(p->arena, ", %s", adds);
}

/* Without the blanks around it. */
static const char *part(kj_parser *p, const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    return kj_arena_printf(p->arena, "%.*s", (int)(end - begin), begin);
}

/* int i = 0; i < n; i++ from `in` up to `stop`; the fix is for all of `at`. */
static bool counts(kj_parser *p, kj_message *m, kj_span at, uint32_t in, const char *stop)
{
    const kj_source *s = p->source;
    c_type t = read_type(p, in);
    uint32_t name = skip_blanks(s, t.end), name_end = word_end(s, name);
    const char *what = piece(p, name, name_end);
    const char *eq = s->text + skip_blanks(s, name_end);
    const char *semi = eq < stop ? memchr(eq, ';', (size_t)(stop - eq)) : NULL;
    if (!*what || *eq != '=' || !semi)
        return false;
    const char *first = part(p, eq + 1, semi);
    uint32_t cond = skip_blanks(s, (uint32_t)(semi - s->text) + 1);
    uint32_t op = skip_blanks(s, word_end(s, cond));
    const char *second = memchr(semi + 1, ';', (size_t)(stop - semi - 1));
    if (!second || !is_word_at(s, cond, what) || s->text[op] != '<')
        return false;
    bool more = s->text[op + 1] == '=';
    const char *bound = part(p, s->text + op + 1 + more, second);
    const char *by = step_by(p, what, part(p, second + 1, stop));
    if (!by || !is_argument(first, what, ",?") || !is_argument(bound, what, LOOSER_THAN_SUM))
        return false;
    bool from = strcmp(first, "0") != 0 || *by;
    const char *range =
        kj_arena_printf(p->arena, "%s in range(%s%s%s%s%s)", what, from ? first : "",
                        from ? ", " : "", bound, more ? " + 1" : "", by);
    kj_hint(p->diag, m, "loops are written: for %s", range);
    kj_fix(p->diag, m, at, "%s", range);
    return true;
}

/* for var i = 0; i < n; i += 1 {, for int i = 0; ..., without parentheses; begin: behind the `for`. */
bool kj_habit_for_open(kj_parser *p, kj_message *m, uint32_t begin)
{
    const kj_source *s = p->source;
    uint32_t end = begin, in = begin;
    while (s->text[end] && !strchr("{#\n", s->text[end]))
        end++;
    if (s->text[end] != '{' || !memchr(s->text + begin, ';', end - begin))
        return false;
    while (end > begin && is_blank(s->text[end - 1]))
        end--;
    if (is_word_at(s, in, "var") || is_word_at(s, in, "let"))
        in = skip_blanks(s, in + 3);
    if (kj_is_shown(p->diag, m) && !counts(p, m, (kj_span){begin, end}, in, s->text + end))
        kj_hint(p->diag, m, "loops are written: for i in range(n) { ... }");
    kj_layout_skip_block(p);
    return true;
}

/* for (int i = 0; i < n; i++), for (i in range(n)), for (a, b) in ... */
bool kj_habit_for(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t close = closing(s, at.begin), in = skip_blanks(s, at.end);
    if (!close)
        return false;
    if (is_word_at(s, in, "var") || is_word_at(s, in, "let"))
        in = skip_blanks(s, in + 3);
    if (is_word_at(s, skip_blanks(s, close + 1), "in") ||
        memchr(s->text + at.begin, ';', close - at.begin) == NULL) {
        kj_fix(p->diag, m, (kj_span){at.begin, close + 1}, "%s", piece(p, in, close));
        return true;
    }
    return counts(p, m, (kj_span){at.begin, close + 1}, in, s->text + close);
}

static uint32_t indentation(const kj_source *s, uint32_t line)
{
    return skip_blanks(s, line) - line;
}

/* Braces around what is indented behind a header that ends at `at`, or around the rest of its line; the first alone
 * where there is the other. */
void kj_habit_block(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t line = line_start(s, at.begin), end = code_end(s, at.end);
    uint32_t own = indentation(s, line);
    if (end > at.end) {
        uint32_t begin = skip_blanks(s, at.end);
        if (s->text[begin] != '(')
            kj_fix(p->diag, m, (kj_span){at.begin, end}, "%s{ %s%s",
                   at.begin > 0 && is_blank(s->text[at.begin - 1]) ? "" : " ", piece(p, begin, end),
                   s->text[end - 1] == '}' ? "" : " }");
        return;
    }
    uint32_t last = line_end(s, at.end), next = last;
    while (s->text[next] == '\n') {
        uint32_t begin = next + 1, stop = line_end(s, begin);
        bool empty = skip_blanks(s, begin) >= stop;
        if (!empty && indentation(s, begin) <= own)
            break;
        last = empty ? last : stop;
        next = stop;
    }
    uint32_t after = s->text[next] ? next + 1 : next;
    bool level = indentation(s, after) == own;
    if (level && (is_word_at(s, after + own, "end") || is_word_at(s, after + own, "done")))
        return;
    if (level && s->text[after + own] == '}')
        kj_fix(p->diag, m, at, " {");
    else if (last > line_end(s, at.end) && last - at.end < MOST_MENDED)
        kj_fix(p->diag, m, (kj_span){at.begin, last}, " {%s\n%.*s}", piece(p, at.end, last),
               (int)own, s->text + line);
}

/* print x, assert c, "text": without parentheses. */
void kj_habit_call(kj_parser *p, kj_message *m, kj_span at)
{
    uint32_t end = code_end(p->source, at.begin);
    kj_fix(p->diag, m, (kj_span){p->prev_span.end, end}, "(%s)", piece(p, at.begin, end));
}

/* {{ ... }}: without the brace at `at`, and its own; false: that one is not there. Texts and comments end the search. */
bool kj_habit_braces(kj_parser *p, kj_message *m, kj_span at)
{
    const char *text = p->source->text;
    uint32_t i = at.begin;
    int depth = 0;
    do {
        depth += (text[i] == '{') - (text[i] == '}');
    } while (depth > 0 && text[++i] && i - at.begin < MOST_MENDED && !strchr("\"#", text[i]));
    bool found = depth == 0, own = found && text[i + 1] == '}';
    if (own)
        kj_fix(p->diag, m, (kj_span){at.begin, i + 1}, "%s", piece(p, at.end, i));
    else if (found)
        kj_fix(p->diag, m, at, "%s", "");
    return own || !found;
}

/* ---- Comments ---- */

/* The // of a comment in which the parser went astray; its place, or the source's size. */
uint32_t kj_habit_comment(const kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t i = at.begin;
    if (s->text[i] == '/' && s->text[i + 1] == '/')
        return i;
    while (i > 1 && (in_word(s->text[i - 1]) || strchr(" -.'", s->text[i - 1])))
        i--;
    bool words = i < at.begin && i > 1 && s->text[i - 1] == '/' && s->text[i - 2] == '/';
    return words && at.begin < at.end && in_word(s->text[at.begin]) ? i - 2 : (uint32_t)s->size;
}

/* The lines of a comment of C or a docstring from `begin` to `end`, each with a # of its own; NULL where code
 * follows on the last. */
static const char *as_comment(kj_parser *p, kj_span all, uint32_t mark)
{
    const kj_source *s = p->source;
    uint32_t at = all.begin + mark, stop = all.end - mark;
    const char *text = "";
    if (code_end(s, all.end) > all.end || all.end - all.begin > MOST_MENDED)
        return NULL;
    for (bool first = true; at < stop || first; first = false) {
        uint32_t end = line_end(s, at), from = skip_blanks(s, at);
        end = end > stop ? stop : end;
        const char *indent = first ? "" : piece(p, at, from < end ? from : at);
        if (!first && s->text[from] == '*')
            from = skip_blanks(s, from + 1);
        from = from > end ? end : from;
        uint32_t to = end;
        while (to > from && strchr(" \t\r*", s->text[to - 1]))
            to--;
        if (first || end < stop || to > from)
            text = kj_arena_printf(p->arena, "%s%s%s#%s%s", text, first ? "" : "\n", indent,
                                   to > from ? " " : "", piece(p, from, to));
        at = end + 1;
    }
    return text;
}

void kj_habit_mend_comment(kj_parser *p, kj_message *m, kj_span all, uint32_t mark)
{
    const char *text = as_comment(p, all, mark);
    kj_hint(p->diag, m, "a comment begins with #, in each line");
    if (text)
        kj_fix(p->diag, m, all, "%s", text);
}
