/* Loops as C and JavaScript write them, and the range() that means the same; a header that means something else
 * gets a hint without a fix. */
#include <string.h>

#include "parse/habit.h"

/* Not as a member's name: for x, threadIdx.x is another. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || (!kj_is_word(at[-1]) && at[-1] != '.')) && !kj_is_word(at[n]))
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
    if (strncmp(text, word, n) != 0 || kj_is_word(text[n]))
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
    while (begin < end && kj_is_blank(*begin))
        begin++;
    while (end > begin && kj_is_blank(end[-1]))
        end--;
    return kj_arena_printf(p->arena, "%.*s", (int)(end - begin), begin);
}

/* ---- What the loop changes ---- */

/* Where the loop's body ends that begins behind `at`: at its brace, or else the statement's line. */
static const char *body_end(const char *at)
{
    int depth = 0;
    at += strspn(at, " \t\r\n)");
    if (*at != '{')
        return at + strcspn(at, "\n");
    for (; *at; at++) {
        depth += (*at == '{') - (*at == '}');
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/* Does an operator behind a name assign to it: n = 1, n -= 2, n++, p.n = 1; to its elements: n[i] = 1? */
static bool assigns(const char *next, bool array)
{
    static const char operators[] = "+-*/%&|^<>";
    while (*next == '.' && kj_is_letter(next[1]))
        for (next++; kj_is_word(*next);)
            next++;
    next += strspn(next, " \t");
    while (array && *next == '[') {
        int depth = 0;
        do
            depth += (*next == '[') - (*next == ']');
        while (*next && *next++ != '\n' && depth > 0);
        next += strspn(next, " \t");
    }
    size_t n = strspn(next, operators);
    bool stepped = n == 2 && next[0] == next[1] && strchr("+-", next[0]);
    bool compares = n == 1 && strchr("<>", next[0]); /* n <= i, not n <<= 1 */
    return stepped || (n <= 2 && !compares && next[n] == '=' && next[n + 1] != '=');
}

/* Is what is called so changed there? An array also by who gets it as a whole: atomic.add(a, i, 1). */
static bool changes(const char *begin, const char *end, const char *name, bool array)
{
    size_t n = strlen(name);
    for (const char *at = begin; (at = strstr(at, name)) && at < end; at++) {
        if (at[-1] == '.' || kj_is_word(at[-1]) || kj_is_word(at[n]))
            continue;
        bool stepped = at - begin > 1 && at[-1] == at[-2] && strchr("+-", at[-1]);
        const char *next = at + n + strspn(at + n, " \t");
        if (stepped || assigns(next, array) || (array && *next && strchr(",).", *next)))
            return true;
    }
    return false;
}

/* Does the body change a name of the header's part? range() asks for it once. */
static bool changes_part(kj_parser *p, const char *part, const char *body)
{
    const char *end = body_end(body);
    for (const char *at = part; *at; at++) {
        if (!kj_is_word(*at) || kj_is_digit(*at))
            continue;
        size_t n = 0;
        while (kj_is_word(at[n]))
            n++;
        bool member = at > part && at[-1] == '.';
        if (!member && changes(body, end, kj_arena_printf(p->arena, "%.*s", (int)n, at),
                               at[n + strspn(at + n, " \t")] == '['))
            return true;
        at += n - 1;
    }
    return false;
}

/* var i, let i */
static bool declares(const kj_source *s, uint32_t in)
{
    while (in > 0 && kj_is_blank(s->text[in - 1]))
        in--;
    return in >= 3 && (kj_is_word_at(s, in - 3, "var") || kj_is_word_at(s, in - 3, "let"));
}

/* Is the variable of a loop that declares none read behind it, before it is assigned anew? */
static bool outlives(const kj_source *s, const char *what, const char *body)
{
    const char *end = body_end(body);
    while (*end &&
           (*end != '\n' || strchr(" \t\r\n}#/", end[1]))) /* of the item: its lines are indented */
        end++;
    size_t n = strlen(what);
    for (const char *at = body_end(body); (at = strstr(at, what)) && at < end; at++) {
        if (at[-1] == '.' || kj_is_word(at[-1]) || kj_is_word(at[n]))
            continue;
        const char *next = at + n + strspn(at + n, " \t"), *word = at;
        while (kj_is_blank(word[-1]))
            word--;
        bool declared = kj_is_word(word[-1]) || word[-1] == '*'; /* int i, var i */
        return !declared && !(*next == '=' && next[1] != '=') &&
               !kj_is_word_at(s, (uint32_t)(next - s->text), "in");
    }
    return false;
}

/* int i = 0; i < n; i++ from `in` up to `stop`; the fix is for all of `at`. */
static bool counts(kj_parser *p, kj_message *m, kj_span at, uint32_t in, const char *stop)
{
    const kj_source *s = p->source;
    uint32_t name = kj_skip_blanks(s, kj_habit_type_end(p, in)), name_end = kj_word_end(s, name);
    const char *what = kj_piece(p, name, name_end);
    const char *eq = s->text + kj_skip_blanks(s, name_end);
    const char *semi = eq < stop ? memchr(eq, ';', (size_t)(stop - eq)) : NULL;
    if (!*what || *eq != '=' || !semi)
        return false;
    const char *first = part(p, eq + 1, semi);
    uint32_t cond = kj_skip_blanks(s, (uint32_t)(semi - s->text) + 1);
    uint32_t op = kj_skip_blanks(s, kj_word_end(s, cond));
    const char *second = memchr(semi + 1, ';', (size_t)(stop - semi - 1));
    if (!second || !kj_is_word_at(s, cond, what) || s->text[op] != '<')
        return false;
    bool more = s->text[op + 1] == '=';
    const char *bound = part(p, s->text + op + 1 + more, second);
    const char *by = step_by(p, what, part(p, second + 1, stop));
    if (!by || !is_argument(first, what, ",?") || !is_argument(bound, what, LOOSER_THAN_SUM))
        return false;
    bool own = name > in || declares(s, in);
    if (changes_part(p, bound, stop) || changes_part(p, by, stop) ||
        (!own && outlives(s, what, stop))) {
        kj_hint(p->diag, m,
                !own && outlives(s, what, stop)
                    ? "a loop's variable ends with it: write while %s %s %s { ... }"
                    : "range() takes its bound once: write while %s %s %s { ... }",
                what, more ? "<=" : "<", bound);
        return true;
    }
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
    while (end > begin && kj_is_blank(s->text[end - 1]))
        end--;
    if (kj_is_word_at(s, in, "var") || kj_is_word_at(s, in, "let"))
        in = kj_skip_blanks(s, in + 3);
    if (kj_is_shown(p->diag, m) && !counts(p, m, (kj_span){begin, end}, in, s->text + end))
        kj_hint(p->diag, m, "loops are written: for i in range(n) { ... }");
    kj_layout_skip_block(p);
    return true;
}

/* auto& v : o, of C++ and Java, from `in` up to `stop`: v in o; NULL: it is none. */
static const char *over_elements(kj_parser *p, uint32_t in, uint32_t stop)
{
    const kj_source *s = p->source;
    uint32_t name = kj_skip_blanks(s, kj_habit_type_end(p, in));
    while (s->text[name] == '&')
        name = kj_skip_blanks(s, name + 1);
    uint32_t end = kj_word_end(s, name), colon = kj_skip_blanks(s, end);
    if (end == name || colon >= stop || s->text[colon] != ':' || s->text[colon + 1] == ':')
        return NULL;
    return kj_arena_printf(p->arena, "%s in %s", kj_piece(p, name, end),
                           kj_piece(p, kj_skip_blanks(s, colon + 1), stop));
}

/* Has the header a word `in` of its own: for (i in range(n))? */
static bool has_in(const kj_source *s, uint32_t begin, uint32_t end)
{
    for (uint32_t at = begin + 1; at < end; at++)
        if (!kj_is_word(s->text[at - 1]) && kj_is_word_at(s, at, "in"))
            return true;
    return false;
}

/* for (int i = 0; i < n; i++), for (i in range(n)), for (a, b) in ... */
bool kj_habit_for(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t close = kj_closing(s, at.begin), in = kj_skip_blanks(s, at.end);
    if (!close)
        return false;
    if (kj_is_word_at(s, in, "var") || kj_is_word_at(s, in, "let"))
        in = kj_skip_blanks(s, in + 3);
    bool three = memchr(s->text + at.begin, ';', close - at.begin) != NULL;
    const char *elements = three ? NULL : over_elements(p, in, close);
    if (elements) {
        kj_hint(p->diag, m, "a loop runs over all elements: for %s { ... }", elements);
        kj_fix(p->diag, m, (kj_span){at.begin, close + 1}, "%s", elements);
        return true;
    }
    if (kj_is_word_at(s, kj_skip_blanks(s, close + 1), "in") || (!three && has_in(s, in, close))) {
        kj_fix(p->diag, m, (kj_span){at.begin, close + 1}, "%s", kj_piece(p, in, close));
        return true;
    }
    if (!three)
        return true;
    return counts(p, m, (kj_span){at.begin, close + 1}, in, s->text + close);
}
