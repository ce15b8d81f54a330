/* A long text, of which one item changed: the item is analysed with those that it needs and empty lines in the place of all
 * others, which takes some milliseconds. What was told of the others is told again. What the change means to them is
 * found when all is analysed, after a pause. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* An item of the text before, and the text now. */
typedef struct change {
    const analysed *before;
    document *d;
    int32_t item;                        /* of before->names */
    size_t begin, end;                   /* the item's bytes in the text now */
    size_t delta;                        /* how much longer it is, modulo 2^n */
    uint32_t line, end_line, more_lines; /* its lines now, and how many more it has (likewise) */
    bool *kept;                          /* by item */
    int32_t *waiting, nwaiting;          /* kept, and not looked at yet */
    int32_t nitems;
} change;

static uint32_t line_at(const document *d, size_t offset)
{
    uint32_t low = 0, high = d->nlines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(d->lines[middle] <= offset ? &low : &high) = middle;
    }
    return low;
}

/* The item that all changes are in, behind its name. */
static bool find_item(change *c)
{
    const analysed *a = c->before;
    const document *d = c->d;
    const names *n = a->names;
    size_t begin = 0, most = a->size < d->size ? a->size : d->size, end = 0;
    while (begin < most && a->text[begin] == d->text[begin])
        begin++;
    while (end < most - begin && a->text[a->size - 1 - end] == d->text[d->size - 1 - end])
        end++;
    c->item = -1;
    for (c->nitems = 0; c->nitems < n->ndecls && is_item_kind(n->decls[c->nitems].kind);
         c->nitems++)
        if (n->decls[c->nitems].begin <= begin)
            c->item = c->nitems;
    if (c->item < 0)
        return false;
    const decl *item = &n->decls[c->item];
    c->delta = d->size - a->size;
    c->begin = item->begin;
    c->end = item->end + c->delta;
    c->line = line_at(d, c->begin);
    c->end_line = line_at(d, c->end);
    c->more_lines = d->nlines - a->nlines;
    return item->kind != D_USE && begin > n->tokens.at[item->at].end && a->size - end <= item->end;
}

static void keep(change *c, int32_t item)
{
    if (item < 0 || item >= c->nitems || c->kept[item])
        return;
    c->kept[item] = true;
    c->waiting[c->nwaiting++] = item;
}

/* The items that the changed one names now. */
static bool keep_named(change *c)
{
    tokens now = {0};
    const char *text = c->d->text + c->begin;
    char *copy = strndup(text, c->end - c->begin); /* it ends with a NUL */
    bool ok = copy && scan_tokens(copy, strlen(copy), &now);
    for (uint32_t i = 0; ok && i < now.n; i++) {
        const token *t = &now.at[i];
        uint32_t name = t->kind != T_NAME ? NO_TOKEN
                                          : find_spelling(c->before->names, c->before->text,
                                                          copy + t->begin, t->end - t->begin);
        if (name != NO_TOKEN)
            keep(c, c->before->names->global[name]);
    }
    free(now.at);
    free(copy);
    return ok;
}

/* And those that an item named before. */
static void keep_needed(change *c, int32_t item)
{
    const names *n = c->before->names;
    uint32_t i = token_before(n, (size_t)n->decls[item].begin + 1);
    for (; i < n->tokens.n && n->tokens.at[i].begin < n->decls[item].end; i++)
        keep(c, n->tokens.at[i].decl);
}

/* The line ends of a part, at out; where they end. */
static char *put_lines(char *out, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text)))) {
        *out++ = '\n';
        text++;
    }
    return out;
}

/* The text with mere line ends in the place of what is not needed: lines and their columns stay. For free(). */
static char *reduced_text(const change *c, size_t *size)
{
    const names *n = c->before->names;
    const document *d = c->d;
    char *text = malloc(d->size + 1), *out = text;
    size_t at = 0;
    for (int32_t i = 0; text && i <= c->nitems; i++) { /* with the attributes in front of it */
        size_t end = i == c->nitems ? d->size : n->decls[i].end + (i >= c->item ? c->delta : 0);
        if (end < at)
            continue;
        if (i == c->nitems || c->kept[i] || n->decls[i].kind == D_USE) {
            memcpy(out, d->text + at, end - at);
            out += end - at;
        } else {
            out = put_lines(out, d->text + at, end - at);
        }
        at = end;
    }
    if (text)
        *out = 0;
    *size = (size_t)(out - text);
    return text;
}

/* ---- What is told ---- */

static json_int_t line_of_end(const json_t *range, const char *end)
{
    return json_integer_value(json_object_get(json_object_get(range, end), "line"));
}

/* By lines: is the diagnostic in the item, which ends on that line? */
static bool is_in_item(const change *c, const json_t *diagnostic, uint32_t end_line)
{
    json_int_t line = line_of_end(json_object_get(diagnostic, "range"), "start");
    return line >= c->line && line <= end_line;
}

/* A diagnostic of the text before, where it is now. */
static json_t *moved(const change *c, const json_t *diagnostic)
{
    static const char *const ends[] = {"start", "end"};
    json_t *copy = json_deep_copy(diagnostic), *range = json_object_get(copy, "range");
    for (int i = 0; i < 2; i++) {
        json_int_t line = line_of_end(range, ends[i]);
        if (line > c->line)
            json_object_set_new(json_object_get(range, ends[i]), "line",
                                json_integer(line + (int32_t)c->more_lines));
    }
    return copy;
}

static bool is_error(const json_t *diagnostic)
{
    return json_integer_value(json_object_get(diagnostic, "severity")) == 1;
}

/* Beside errors no warning is told. */
static json_t *settled(json_t *all)
{
    json_t *errors = json_array(), *one;
    size_t i;
    json_array_foreach(all, i, one) if (is_error(one)) json_array_append(errors, one);
    bool has = json_array_size(errors) > 0;
    json_decref(has ? all : errors);
    return has ? errors : all;
}

static json_t *told_now(const change *c, const json_t *messages)
{
    json_t *out = json_array(), *message;
    size_t i;
    json_array_foreach(c->before->told, i, message)
    {
        const json_t *one = json_object_get(message, "diagnostic");
        if (!is_in_item(c, one, c->end_line - c->more_lines))
            json_array_append_new(out, moved(c, one));
    }
    json_array_foreach(messages, i, message)
    {
        json_t *one = json_object_get(message, "diagnostic");
        if (is_in_item(c, one, c->end_line))
            json_array_append(out, one);
    }
    return settled(out);
}

static bool tell(server *s, change *c)
{
    size_t size;
    char *text = reduced_text(c, &size);
    json_t *messages = text ? messages_of_text(s, c->d, text, size) : NULL;
    if (messages)
        publish(s, c->d, told_now(c, messages));
    json_decref(messages);
    free(text);
    return messages != NULL;
}

bool diagnose_quickly(server *s, document *d)
{
    analysed *a = &d->before;
    change c = {.before = a, .d = d};
    if (!a->text || d->size < LONG_TEXT)
        return false;
    if (!a->names)
        a->names = read_names(a->text, a->size);
    if (!a->names || !find_item(&c))
        return false;
    c.kept = calloc((size_t)c.nitems, sizeof *c.kept);
    c.waiting = calloc((size_t)c.nitems, sizeof *c.waiting);
    bool ok = c.kept && c.waiting && keep_named(&c);
    if (ok)
        keep(&c, c.item);
    while (ok && c.nwaiting > 0) {
        int32_t item = c.waiting[--c.nwaiting];
        if (item != c.item)
            keep_needed(&c, item);
    }
    ok = ok && tell(s, &c);
    free(c.kept);
    free(c.waiting);
    return ok;
}
