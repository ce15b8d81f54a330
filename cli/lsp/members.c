/* What may stand behind a dot: the compiler is asked. Its message of a name that is no member has all there are
 * (kjit_module_log_json), so it is given what stands before the dot with such a name behind: the item, to the statement that the
 * dot is in, and what the item names. All else is left out, so errors there do no harm, and it takes a millisecond. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

#define ASKED "kjit_asked" /* a name that nothing has */

typedef struct question {
    const document *d;
    const names *n;
    int32_t nitems, item;       /* the one that the dot is in */
    bool *kept;                 /* by item */
    int32_t *waiting, nwaiting; /* kept, and not looked at yet */
} question;

/* ---- What stands before the dot ---- */

static bool is_closing(const names *n, uint32_t i)
{
    return is_sign(n, i, ')') || is_sign(n, i, ']');
}

static bool is_plain_name(const document *d, uint32_t i)
{
    const token *t = &d->names->tokens.at[i];
    return t->kind == T_NAME && !is_reserved(d->text + t->begin, t->end - t->begin);
}

/* The token that a.b[i](c) begins with, which ends before token `end`; NO_TOKEN: it is something else. */
static uint32_t operand_begin(const document *d, uint32_t end)
{
    const names *n = d->names;
    while (end > 0) {
        uint32_t i = end - 1;
        while (is_closing(n, i)) {
            char sign = is_sign(n, i, ')') ? '(' : '[';
            uint32_t open = opening_of(n, i, sign);
            if (!is_sign(n, open, sign))
                return NO_TOKEN;
            if (open == 0 || !(is_closing(n, open - 1) || is_plain_name(d, open - 1)))
                return open;
            i = open - 1;
        }
        const token *t = &n->tokens.at[i];
        bool string = t->kind == T_STRING && strchr("\"'", d->text[t->begin]);
        if (string || (is_plain_name(d, i) && !(i > 0 && is_sign(n, i - 1, '.'))))
            return i;
        if (t->kind != T_NAME || i == 0 || !is_sign(n, i - 1, '.'))
            return NO_TOKEN;
        end = i - 1;
    }
    return NO_TOKEN;
}

/* The first token of the statement, or NO_TOKEN: it is in an item's head. */
static uint32_t statement_begin(const names *n, uint32_t i)
{
    for (; i > 0 && !n->tokens.at[i].item; i--) {
        bool ends = n->tokens.at[i - 1].kind == T_LINE || is_sign(n, i - 1, '{') ||
                    is_sign(n, i - 1, '}') || is_sign(n, i - 1, ';');
        if (ends)
            return i;
    }
    return NO_TOKEN;
}

int32_t item_before(const names *n, size_t offset)
{
    int32_t item = -1;
    for (int32_t i = 0; i < n->ndecls && is_item_kind(n->decls[i].kind); i++)
        if (n->decls[i].begin <= offset)
            item = i;
    return item;
}

/* ---- What it needs ---- */

static void keep(question *q, int32_t item)
{
    if (item < 0 || item >= q->nitems || q->kept[item])
        return;
    q->kept[item] = true;
    q->waiting[q->nwaiting++] = item;
}

/* What items name, from the one of the dot on. False: memory has run out. */
static bool keep_needed(question *q, size_t end)
{
    const names *n = q->n;
    while (q->nitems < n->ndecls && is_item_kind(n->decls[q->nitems].kind))
        q->nitems++;
    q->kept = calloc((size_t)q->nitems, sizeof *q->kept);
    q->waiting = calloc((size_t)q->nitems, sizeof *q->waiting);
    if (!q->kept || !q->waiting)
        return false;
    keep(q, q->item);
    while (q->nwaiting > 0) {
        int32_t item = q->waiting[--q->nwaiting];
        const decl *c = &n->decls[item];
        size_t stop = item == q->item ? end : c->end;
        uint32_t i = token_before(n, (size_t)c->begin + 1);
        for (; i < n->tokens.n && n->tokens.at[i].begin < stop; i++)
            keep(q, n->tokens.at[i].decl);
    }
    return true;
}

/* The question's text. */
static void write_question(const question *q, FILE *file, uint32_t first, uint32_t dot)
{
    const names *n = q->n;
    const char *text = q->d->text;
    uint32_t statement = statement_begin(n, first), open = n->tokens.at[statement].open;
    for (int32_t i = 0; i < q->nitems; i++) {
        const decl *c = &n->decls[i];
        bool wanted = q->kept[i] || c->kind == D_USE;
        if (i == q->item) {
            fwrite(text + c->begin, 1, n->tokens.at[statement].begin - c->begin, file);
            fprintf(file, "\nlet " ASKED " = ");
            fwrite(text + n->tokens.at[first].begin, 1,
                   n->tokens.at[dot].begin - n->tokens.at[first].begin, file);
            fprintf(file, "." ASKED "\n");
            for (; open != NO_TOKEN; open = n->tokens.at[open].open)
                if (is_sign(n, open, '{'))
                    fputc('}', file);
            fputc('\n', file);
        } else if (wanted && c->end > c->begin) {
            fwrite(text + c->begin, 1, c->end - c->begin, file);
            fputc('\n', file);
        }
    }
}

/* ---- Answers ---- */

/* On which line, from 1, the name is asked for. */
static json_int_t asked_line(const char *text)
{
    const char *at = strstr(text, "." ASKED);
    json_int_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* The members that messages have, of that line; 0: of all lines. NULL: none has. */
static json_t *members_of(const char *log, json_int_t line)
{
    json_t *out = NULL;
    for (; log && *log; log += strcspn(log, "\n"), log += *log == '\n') {
        json_t *message = json_loadb(log, strcspn(log, "\n"), 0, NULL);
        const json_t *list = json_object_get(message, "members");
        if (list && (line == 0 || json_integer_value(json_object_get(message, "line")) == line)) {
            out = out ? out : json_array();
            json_array_extend(out, (json_t *)list);
        }
        json_decref(message);
    }
    return out;
}

static json_t *ask(server *s, document *d, const char *text, size_t size, json_int_t line)
{
    json_t *uses = json_incref(d->uses);
    kjit_module *mod = compile_text(s, d, text, size);
    json_t *members = mod ? members_of(kjit_module_log_json(mod), line) : NULL;
    kjit_module_free(mod);
    json_decref(d->uses);
    d->uses = uses;
    return members;
}

json_t *known_members(server *s, document *d, uint32_t dot)
{
    const names *n = document_names(d);
    uint32_t first = n ? operand_begin(d, dot) : NO_TOKEN;
    if (first == NO_TOKEN || statement_begin(n, first) == NO_TOKEN)
        return NULL;
    question q = {.d = d, .n = n, .item = item_before(n, n->tokens.at[first].begin)};
    char *text = NULL;
    size_t size = 0;
    FILE *file = q.item >= 0 && keep_needed(&q, n->tokens.at[dot].begin)
                     ? open_memstream(&text, &size)
                     : NULL;
    if (file) {
        write_question(&q, file, first, dot);
        fclose(file);
    }
    json_t *members = text ? ask(s, d, text, size, asked_line(text)) : NULL;
    free(text);
    free(q.kept);
    free(q.waiting);
    return members;
}

json_t *all_members(server *s, document *d, bool in_run)
{
    static const char run[] = "run f(a) {\nlet b = a." ASKED "\n}\n",
                      kernel[] = "kernel k(a: f32[], b: f32x4, c: c64) {\nlet d = a." ASKED
                                 "\nlet e = b." ASKED "\nlet f = c." ASKED "\n}\n";
    return in_run ? ask(s, d, run, sizeof run - 1, 0) : ask(s, d, kernel, sizeof kernel - 1, 0);
}
