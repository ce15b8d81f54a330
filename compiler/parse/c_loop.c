/* Loops as C and JavaScript write them, and the range() that means the same; a header that means something else
 * gets a hint without a fix. */
#include <stdlib.h>
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

/* ", -2" of i -= 2, ", -1" of i--; NULL: it is something else. */
static const char *step_down(kj_parser *p, const char *what, const char *step)
{
    bool first = strncmp(step, "--", 2) == 0;
    const char *rest = behind_word(first ? step + 2 + strspn(step + 2, " \t") : step, what);
    if (!rest)
        return NULL;
    if (first ? !*rest : strcmp(rest, "--") == 0)
        return ", -1";
    if (first || strncmp(rest, "-=", 2) != 0)
        return NULL;
    rest += 2 + strspn(rest + 2, " \t");
    bool simple = *rest && rest[strspn(rest, "0123456789")] == '\0';
    for (const char *c = rest; *c && !kj_is_digit(*rest) && kj_is_word(*c); c++)
        simple = !c[1];
    return simple ? kj_arena_printf(p->arena, ", -%s", rest) : NULL;
}

/* Below what the loop goes no further: the bound of i > n, one less of i >= n. */
static const char *lower_bound(kj_parser *p, const char *bound, bool equal)
{
    bool number =
        kj_is_digit(*bound) && bound[strspn(bound, "0123456789")] == '\0' && strlen(bound) < 9;
    if (!equal)
        return bound;
    if (number)
        return kj_arena_printf(p->arena, "%ld", strtol(bound, NULL, 10) - 1);
    return kj_arena_printf(p->arena, "%s - 1", bound);
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
    bool down = s->text[op] == '>';
    if (!second || !kj_is_word_at(s, cond, what) || (s->text[op] != '<' && !down) ||
        s->text[op + 1] == s->text[op])
        return false;
    bool more = s->text[op + 1] == '=';
    const char *bound = part(p, s->text + op + 1 + more, second);
    const char *last = part(p, second + 1, stop);
    const char *by = down ? step_down(p, what, last) : step_by(p, what, last);
    if (!by || !is_argument(first, what, ",?") || !is_argument(bound, what, LOOSER_THAN_SUM))
        return false;
    bool own = name > in || declares(s, in);
    if (changes_part(p, bound, stop) || changes_part(p, by, stop) ||
        (!own && outlives(s, what, stop))) {
        kj_hint(p->diag, m,
                !own && outlives(s, what, stop)
                    ? "a loop's variable ends with it: write while %s %s %s { ... }"
                    : "range() takes its bound once: write while %s %s %s { ... }",
                what,
                down   ? more ? ">=" : ">"
                : more ? "<="
                       : "<",
                bound);
        return true;
    }
    bool from = strcmp(first, "0") != 0 || *by;
    const char *end = down   ? lower_bound(p, bound, more)
                      : more ? kj_arena_printf(p->arena, "%s + 1", bound)
                             : bound;
    const char *range =
        kj_arena_printf(p->arena, "%s in range(%s%s%s%s)", what,
                        from ? kj_without_suffixes(p, first) : "", from ? ", " : "", end, by);
    kj_hint(p->diag, m, "loops are written: for %s", range);
    kj_fix(p->diag, m, at, "%s", range);
    return true;
}

/* ---- Loops that are none of a range ---- */

enum { MOST_BODY = 1 << 14 };

/* The brace that closes the one at `open`, or 0; `again`: the body has a continue, in front of which the step would stand
 * too. */
static uint32_t closing_brace(const kj_source *s, uint32_t open, bool *again)
{
    int depth = 0;
    for (uint32_t at = open; s->text[at] && at - open < MOST_BODY;) {
        uint32_t next = kj_behind_text(s, at);
        if (next > at) {
            at = next;
            continue;
        }
        depth += (s->text[at] == '{') - (s->text[at] == '}');
        *again |= kj_is_word_at(s, at, "continue") && !kj_is_word(s->text[at - 1]);
        if (depth == 0)
            return at;
        at++;
    }
    return 0;
}

/* i++, s /= 2, i += 1, j--: the steps of the header as statements; NULL: they are not understood, or many.
 */
static const char *steps(kj_parser *p, const char *begin, const char *stop, bool whole)
{
    enum { MOST = 16 };
    const char *out = "";
    int count = 0;
    for (const char *at = begin, *end; at < stop; at = end + (end < stop)) {
        int depth = 0;
        if (count++ == MOST)
            return NULL;
        for (end = at; end < stop && (depth > 0 || *end != ','); end++)
            depth += (strchr("([{", *end) != NULL) - (strchr(")]}", *end) != NULL);
        const char *step = part(p, at, end);
        size_t n = strlen(step);
        bool before = n > 2 && step[0] == step[1] && strchr("+-", *step);
        bool behind = n > 2 && step[n - 1] == step[n - 2] && strchr("+-", step[n - 1]);
        const char *name =
            before ? part(p, step + 2, step + n) : part(p, step, step + n - 2 * behind);
        const char *divides = strstr(step, "/=");
        if (before || behind)
            step = kj_arena_printf(p->arena, "%s %c= 1", name, before ? *step : step[n - 1]);
        else if (!n || !strchr(step, '='))
            return NULL;
        else if (divides && whole && divides[-1] != '/')
            step = kj_arena_printf(p->arena, "%.*s/%s", (int)(divides - step), step, divides);
        out = kj_arena_printf(p->arena, "%s%s%s", out, *out ? "; " : "", step);
    }
    return out;
}

/* int s = n / 2: what stands before the loop; NULL: it is not understood. Of a name that is declared already it is an
 * assignment. */
static const char *first_value(kj_parser *p, uint32_t begin, uint32_t stop, bool *whole)
{
    const kj_source *s = p->source;
    bool own = declares(s, begin);
    kj_c_type t = kj_habit_read_type(p, begin);
    uint32_t name = kj_skip_blanks(s, t.end), end = kj_word_end(s, name);
    uint32_t equals = kj_skip_blanks(s, end), from = kj_skip_blanks(s, equals + 1);
    if (end == name || s->text[equals] != '=' || s->text[equals + 1] == '=' || t.pointers)
        return NULL;
    while (stop > from && kj_is_blank(s->text[stop - 1]))
        stop--;
    int depth = 0;
    for (uint32_t at = from; at < stop; at++) {
        depth += (strchr("([{", s->text[at]) != NULL) - (strchr(")]}", s->text[at]) != NULL);
        if ((depth == 0 && s->text[at] == ',') ||
            (s->text[at] == '=' && !strchr("=<>!", s->text[at - 1]) && s->text[at + 1] != '='))
            return NULL;
    }
    const char *what = kj_piece(p, name, end);
    bool typed = name > begin || own;
    uint32_t line = kj_line_start(s, begin);
    bool known = kj_habit_is_known(p, what, line);
    kj_c_variable v =
        kj_habit_c_variable(p, kj_arena_printf(p->arena, "var %s", what), t.name, from, stop);
    *whole = v.value.class != KJ_C_FLOAT && !(t.name && *t.name == 'f');
    if (from >= stop || (!typed && !known))
        return NULL;
    return kj_arena_printf(p->arena, "%s = %s", known ? what : v.declared, v.given);
}

/* A loop's header from `in` to `stop` that no range() is, of a `for` that begins at `begin`; `header`: where it ends. */
static bool repeats(kj_parser *p, kj_message *m, uint32_t begin, uint32_t in, uint32_t stop,
                    uint32_t header)
{
    const kj_source *s = p->source;
    const char *semi = memchr(s->text + in, ';', stop - in);
    const char *second = semi ? memchr(semi + 1, ';', (size_t)(s->text + stop - semi - 1)) : NULL;
    bool whole = true, again = false;
    if (!second)
        return false;
    const char *first = "", *test = part(p, semi + 1, second);
    if (*part(p, s->text + in, semi))
        first = first_value(p, in, (uint32_t)(semi - s->text), &whole);
    const char *step = first ? steps(p, second + 1, s->text + stop, whole) : NULL;
    if (!step || strchr(test, ';'))
        return false;
    test = *test ? test : "true";
    uint32_t line = kj_line_start(s, begin), open = kj_skip_blanks(s, header);
    uint32_t close = s->text[open] == '{' ? closing_brace(s, open, &again) : 0;
    kj_hint(p->diag, m, "write %s%swhile %s { ...%s%s }%s", first, *first ? ", and then " : "",
            test, *step ? "; " : "", step,
            *step && again ? ", with the step before a continue too" : "");
    const char *indent = kj_piece(p, line, kj_skip_blanks(s, line));
    const char *head = kj_arena_printf(p->arena, "%s%s%swhile %s", first, *first ? "\n" : "",
                                       *first ? indent : "", test);
    bool starts = kj_skip_blanks(s, line) == begin;
    if (!*step && (starts || !*first)) {
        kj_fix(p->diag, m, (kj_span){begin, header}, "%s", head);
        return true;
    }
    if (!close || again || !starts)
        return true;
    uint32_t end = close;
    while (end > open && strchr(" \t\r\n;", s->text[end - 1]))
        end--;
    bool one = !memchr(s->text + open, '\n', close - open), empty = end == open + 1;
    const char *body = kj_piece(p, open, end);
    uint32_t last = kj_line_start(s, close);
    if (memchr(s->text + kj_line_start(s, end), '#', end - kj_line_start(s, end)))
        one = false; /* a comment ends the line */
    if (one)
        kj_fix(p->diag, m, (kj_span){begin, close + 1}, "%s %s%s%s }", head, body,
               empty ? " " : "; ", step);
    else
        kj_fix(p->diag, m, (kj_span){begin, close + 1}, "%s %s\n%s    %s\n%s}", head, body,
               kj_piece(p, last, kj_skip_blanks(s, last)), step,
               kj_piece(p, last, kj_skip_blanks(s, last)));
    return true;
}

/* Where the `for` begins that stands before `at`. */
static uint32_t for_before(const kj_source *s, uint32_t at)
{
    while (at > 0 && kj_is_blank(s->text[at - 1]))
        at--;
    return at >= 3 ? at - 3 : 0;
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
    if (kj_is_shown(p->diag, m) && !counts(p, m, (kj_span){begin, end}, in, s->text + end) &&
        !repeats(p, m, for_before(s, begin), in, end, end))
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
    return counts(p, m, (kj_span){at.begin, close + 1}, in, s->text + close) ||
           repeats(p, m, for_before(s, at.begin), in, close, close + 1);
}
