/* What the text says of a name that is not declared: whether it is a variable without its `var` rather than another one
 * misspelled. A fix that takes another variable for it compiles, and computes something else. */
#include <string.h>

#include "lang/words.h"
#include "sema/node/node.h"

static bool begins_item(const char *line)
{
    return *line == '@' || kj_begins_with_item_word(line);
}

/* The next place of the name from `at` on in this item; NULL: there is none. */
static const char *next_place(const char *text, const char *at, const char *name)
{
    size_t len = strlen(name);
    for (; *at; at++) {
        if (*at == '#')
            at += strcspn(at, "\n");
        if (*at == '\n' && begins_item(at + 1))
            return NULL;
        bool begins = at == text || (!kj_is_word(at[-1]) && at[-1] != '.');
        if (begins && strncmp(at, name, len) == 0 &&
            !kj_is_word(at[len])) /* once a word: it may be long */
            return at;
        if (!*at)
            return NULL;
    }
    return NULL;
}

static bool is_assigned(const char *place, const char *name)
{
    const char *next = place + strlen(name) + strspn(place + strlen(name), " \t");
    return *next == '=' && next[1] != '=';
}

bool kj_begins_statement(const kj_source *source, uint32_t at)
{
    while (at > 0 && strchr(" \t", source->text[at - 1]))
        at--;
    return at == 0 || strchr("\n{};", source->text[at - 1]) != NULL;
}

static bool is_declared_by(const char *text, const char *place)
{
    const char *word = place;
    while (word > text && strchr(" \t", word[-1]))
        word--;
    return word < place && word - text >= 3 &&
           (strncmp(word - 3, "var", 3) == 0 || strncmp(word - 3, "let", 3) == 0);
}

static bool is_plain(const kj_source *source, const char *place, const char *name)
{
    return is_assigned(place, name) &&
           (kj_begins_statement(source, (uint32_t)(place - source->text)) ||
            is_declared_by(source->text, place));
}

/* Is the name read where the block of the last assignment has ended? `from`: behind the first. */
static bool outlives_block(const kj_source *source, const char *from, const char *name)
{
    int depth = 0, least = 0, of = 0; /* `of` the block of the last assignment; least since then */
    for (const char *next; (next = next_place(source->text, from, name)); from = next + 1) {
        for (const char *c = from; c < next; c++) {
            depth += (*c == '{') - (*c == '}');
            least = depth < least ? depth : least;
        }
        if (is_plain(source, next, name) && least < of)
            of = least = depth;
        else if (least < of)
            return true;
    }
    return false;
}

kj_first_use kj_first_use_of(const kj_source *source, const char *name, kj_span span)
{
    const char *text = source->text, *end = text + span.end;
    int depth = 0;
    for (; *end && !(depth <= 0 && strchr("\n;}", *end)); end++)
        depth += (strchr("([", *end) != NULL) - (strchr(")]", *end) != NULL);
    const char *next = next_place(text, text + span.end, name);
    bool plain = is_plain(source, text + span.begin, name) && (!next || next >= end);
    return (kj_first_use){.plain = plain, /* n = n + 1 has a value already */
                          .again = next_place(text, end, name) != NULL,
                          .behind_block = plain && outlives_block(source, end, name)};
}

bool kj_is_called_in(const kj_source *source, const char *name, kj_span span, bool members)
{
    const char *text = source->text, *at = text + span.begin;
    while (at > text && !(at[-1] == '\n' && begins_item(at)))
        at--;
    for (; (at = next_place(text, at, name)); at++) {
        const char *behind = at + strlen(name);
        behind += strspn(behind, " \t");
        if (*behind == '(' || (members && *behind == '.' && behind[1] != '.'))
            return true;
    }
    return false;
}

bool kj_is_needed(const kj_sema *s, const char *name, kj_span span)
{
    return kj_scope_find(s->scope, name) && kj_is_called_in(s->diag->source, name, span, true);
}

bool kj_any_is_needed(const kj_sema *s, const kj_expr *names)
{
    for (const kj_expr *e = names; e; e = e->next)
        if (kj_is_needed(s, e->u.name, e->span))
            return true;
    return false;
}

bool kj_is_free_name(const kj_symbol *sym)
{
    return !sym ||
           (!sym->span.end && (sym->kind == KJ_SYM_BUILTIN || sym->kind == KJ_SYM_NAMESPACE));
}

bool kj_is_being_declared(kj_sema *s, const char *near, kj_span span)
{
    const kj_symbol *sym = kj_scope_find(s->scope, near);
    const kj_expr *value = sym && sym->kind == KJ_SYM_CONST ? sym->item->value : NULL;
    return value && value->span.begin <= span.begin && span.end <= value->span.end;
}

const char *kj_declared_before(const kj_source *source, const char *name, kj_span span)
{
    const char *text = source->text, *at = text + span.begin;
    while (at > text && !(at[-1] == '\n' && begins_item(at)))
        at--;
    for (; (at = next_place(text, at, name)) && at < text + span.begin; at++)
        if (is_declared_by(text, at))
            return at;
    return NULL;
}

/* A name whose block has ended. An array is not assigned: it is declared above the block as it is. */
void kj_hint_ended(kj_sema *s, kj_message *m, const char *name, const char *behind)
{
    static const char *const arrays[] = {"shared.array(", "local.array("};
    enum { MOST = 60 };
    const char *value = behind + strspn(behind, " \t");
    value += *value == '=' ? 1 + strspn(value + 1, " \t") : 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t n = strcspn(value, "\r\n#;}");
        while (n > 0 && strchr(" \t", value[n - 1]))
            n--;
        if (strncmp(value, arrays[i], strlen(arrays[i])) != 0 || value[n - 1] != ')')
            continue;
        kj_hint(s->diag, m, "a block declares it, and ends before: write let %s = %.*s above it",
                name, n < MOST ? (int)n : (int)strlen(arrays[i]) - 1, value);
        return;
    }
    kj_hint(s->diag, m, "a block declares it, and ends before: write var %s = ... above it", name);
}

bool kj_is_of_const(const kj_source *source, kj_span at)
{
    static const char word[] = "const ";
    uint32_t line = at.begin;
    while (line > 0 && source->text[line - 1] != '\n')
        line--;
    return strncmp(source->text + line, word, strlen(word)) == 0;
}

void kj_hint_of_run(kj_sema *s, kj_message *m, const char *name)
{
    enum { MOST = 60 };
    const kj_source *source = s->diag->source;
    uint32_t begin = m->span.begin, end = m->span.end;
    if (kj_hint_array_type(s, m, name))
        return;
    if (!kj_is_of_const(source, m->span)) {
        kj_hint(s->diag, m, "'%s' belongs to the run block", name);
        return;
    }
    while (begin > 0 && source->text[begin - 1] != '\n')
        begin--;
    begin += (uint32_t)strlen("const ");
    while (source->text[end] && !strchr("\r\n;#", source->text[end]))
        end++;
    kj_hint(s->diag, m, "what is computed stands in the run block: run { let %.*s }",
            end - begin < MOST ? (int)(end - begin) : 0, source->text + begin);
}

bool kj_hint_used(kj_sema *s, kj_message *m, const char *name)
{
    const kj_item *found = NULL;
    for (const kj_item *item = kj_file_here(s)->items; item; item = item->next) {
        const kj_item *its = item->kind == KJ_I_USE && item->used
                                 ? kj_item_called(item->used, name, strlen(name))
                                 : NULL;
        if (!its || its->kind == KJ_I_USE || (its->kind == KJ_I_RUN_FN && !s->in_run) ||
            kj_is_internal(s, item, its))
            continue;
        if (found)
            return false; /* of which? */
        found = item;
    }
    if (found && found->library && kj_hint_library(s, m, name)) /* what it is of NumPy's */
        return true;
    if (found)
        kj_write(s->diag, m, m->span, "%s.%s", found->name, name);
    return found != NULL;
}

/* The same but for digits? */
static bool differ_in_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (kj_is_digit(*a))
            a++;
        while (kj_is_digit(*b))
            b++;
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* Another of a row: dx, dy or left, left2? */
static bool are_siblings(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b), same = 0;
    while (a[same] && a[same] == b[same])
        same++;
    return differ_in_digits(a, b) || (same + 1 >= m && same + 1 >= n);
}

void kj_suggest(kj_sema *s, kj_message *m, const char *name, const char *near, bool of_language)
{
    if (of_language ? kj_is_slip(name, near) : !are_siblings(name, near))
        kj_did_you_mean(s->diag, m, near);
    else
        kj_hint(s->diag, m, "did you mean '%s'?", near);
}
