/* What a name means over files: behind the dot of a file or an enum, of an argument that a call names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum { MOST_DOTS = 8, MOST_BACK = 4096 /* tokens that a bracket is looked for */ };

static const target nothing = {NULL, -1};

char *token_text(const document *d, const token *t)
{
    return strndup(d->text + t->begin, t->end - t->begin);
}

uint32_t opening_of(const names *n, uint32_t i, char sign)
{
    uint32_t around = n->tokens.at[i].open;
    for (int back = 0; i > 0 && back < MOST_BACK; back++, i--)
        if (is_sign(n, i, sign) && n->tokens.at[i].open == around)
            break;
    return i;
}

/* name(...), name[blocks, threads](...), name.forall(n)(...) */
uint32_t callee_of(const names *n, uint32_t open)
{
    if (open == NO_TOKEN || open == 0 || !is_sign(n, open, '('))
        return NO_TOKEN;
    uint32_t i = open - 1;
    bool launched = is_sign(n, i, ')');
    if (launched || is_sign(n, i, ']'))
        i = opening_of(n, i, launched ? '(' : '[');
    if (i > 0 && is_sign(n, i, launched ? '(' : '['))
        i--;
    if (launched && i >= 2 && n->tokens.at[i].kind == T_NAME && is_sign(n, i - 1, '.'))
        i -= 2;
    return n->tokens.at[i].kind == T_NAME ? i : NO_TOKEN;
}

document *used_by(server *s, document *d, const decl *use, char **library)
{
    const names *n = document_names(d);
    uint32_t i = use->at;
    while (i > 0 && !n->tokens.at[i].item)
        i--;
    if (++i >= n->tokens.n)
        return NULL;
    const token *t = &n->tokens.at[i];
    if (t->kind == T_NAME && is_sign(n, i + 1, '.') && i + 2 < n->tokens.n && library)
        *library = token_text(d, t + 2);
    if (t->kind != T_STRING || t->end - t->begin < 3)
        return NULL;
    char *path = strndup(d->text + t->begin + 1, t->end - t->begin - 2);
    document *used = path ? used_document(s, d->path, path) : NULL;
    free(path);
    return used;
}

/* The decl's name is that of the token, in another text. */
static bool is_called(const document *d, const decl *c, const document *other, const token *t)
{
    const token *name = &d->names->tokens.at[c->at];
    size_t size = t->end - t->begin;
    return name->end - name->begin == size &&
           memcmp(d->text + name->begin, other->text + t->begin, size) == 0;
}

static target child_called(target of, const document *other, const token *t)
{
    const names *n = of.doc->names;
    for (int32_t i = n->decls[of.decl].child; i >= 0; i = n->decls[i].next)
        if (is_called(of.doc, &n->decls[i], other, t))
            return (target){of.doc, i};
    return nothing;
}

/* The item of that name in the file that a use declares. */
static target item_called(server *s, target use, const document *other, const token *t)
{
    document *used = used_by(s, use.doc, &use.doc->names->decls[use.decl], NULL);
    const names *n = used ? document_names(used) : NULL;
    for (int32_t i = 0; n && i < n->ndecls; i++)
        if (is_item_kind(n->decls[i].kind) && n->decls[i].kind != D_USE &&
            n->decls[i].kind != D_RUN && is_called(used, &n->decls[i], other, t))
            return (target){used, i};
    return nothing;
}

static target resolve_within(server *s, document *d, uint32_t at, int dots);

static target member(server *s, document *d, uint32_t at, int dots)
{
    const names *n = d->names;
    const token *t = &n->tokens.at[at];
    target base = nothing;
    if (at >= 2 && n->tokens.at[at - 2].kind == T_NAME && dots < MOST_DOTS)
        base = resolve_within(s, d, at - 2, dots + 1);
    decl_kind kind = base.doc ? base.doc->names->decls[base.decl].kind : D_LET;
    if (kind == D_USE)
        return item_called(s, base, d, t);
    if (kind == D_ENUM)
        return child_called(base, d, t);
    return n->field[t->name] >= 0 ? (target){d, n->field[t->name]} : nothing;
}

static target resolve_within(server *s, document *d, uint32_t at, int dots)
{
    const names *n = document_names(d);
    if (!n || at >= n->tokens.n || n->tokens.at[at].kind != T_NAME)
        return nothing;
    const token *t = &n->tokens.at[at];
    if (t->decl >= 0)
        return (target){d, t->decl};
    if (at > 0 && is_sign(n, at - 1, '.'))
        return member(s, d, at, dots);
    if (!is_sign(n, at + 1, '=') || dots >= MOST_DOTS)
        return nothing;
    uint32_t callee = callee_of(n, t->open);
    target of = callee == NO_TOKEN ? nothing : resolve_within(s, d, callee, dots + 1);
    return of.doc ? child_called(of, d, t) : nothing;
}

target resolve(server *s, document *d, uint32_t at)
{
    return resolve_within(s, d, at, 0);
}

char *dotted_name(document *d, uint32_t at)
{
    const names *n = document_names(d);
    uint32_t first = at;
    for (int dots = 0; first >= 2 && is_sign(n, first - 1, '.') &&
                       n->tokens.at[first - 2].kind == T_NAME && dots < MOST_DOTS;
         dots++)
        first -= 2;
    size_t room = n->tokens.at[at].end - n->tokens.at[first].begin + 1, used = 0;
    char *out = calloc(room + 1, 1);
    if (out && first > 0 && is_sign(n, first - 1, '.'))
        out[used++] = '.'; /* a member of no name */
    for (uint32_t i = first; out && i <= at; i++) {
        const token *t = &n->tokens.at[i];
        memcpy(out + used, d->text + t->begin, t->end - t->begin);
        used += t->end - t->begin;
    }
    return out;
}

/* ---- For people ---- */

char *decl_head(const document *d, const decl *c)
{
    size_t begin = c->begin, end = is_item_kind(c->kind) ? c->head_end : c->end, used = 0;
    if (c->kind == D_LOOP || c->kind == D_WITH)
        end = begin + strcspn(d->text + begin, "{\n");
    end = end > d->size ? d->size : end < begin ? begin : end;
    char *out = malloc(end - begin + 1);
    for (size_t i = begin; out && i < end; i++) { /* on one line */
        char ch = d->text[i];
        bool blank = ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
        if (ch == '#')
            i += strcspn(d->text + i, "\n") - 1;
        else if (!blank || (used > 0 && out[used - 1] != ' '))
            out[used++] = blank ? ' ' : ch;
    }
    while (out && used > 0 && out[used - 1] == ' ')
        used--;
    if (out)
        out[used] = 0;
    return out;
}

/* The line that ends at `end`, where it is a comment: its begin; else `end`. */
static size_t comment_line(const document *d, size_t end)
{
    size_t begin = end;
    while (begin > 0 && d->text[begin - 1] != '\n')
        begin--;
    size_t text = begin + strspn(d->text + begin, " \t");
    return text < end && d->text[text] == '#' ? begin : end;
}

char *decl_comment(const document *d, const decl *c)
{
    char *out = NULL;
    size_t size = 0, line = c->begin, first, end;
    while (line > 0 && d->text[line - 1] != '\n')
        line--;
    for (;;) { /* attributes stand between */
        size_t above = line;
        while (above > 1 && d->text[above - 2] != '\n')
            above--;
        above -= above > 0;
        if (line == 0 || d->text[above + strspn(d->text + above, " \t")] != '@')
            break;
        line = above;
    }
    for (first = line; first > 0 && comment_line(d, first - 1) < first - 1;)
        first = comment_line(d, first - 1);
    end = line;
    if (first == line) { /* behind it */
        first = c->end + strspn(d->text + c->end, " \t,");
        end = d->text[first] == '#' ? first + strcspn(d->text + first, "\n") : first;
    }
    FILE *file = first < end ? open_memstream(&out, &size) : NULL;
    while (file && first < end) {
        size_t n = strcspn(d->text + first, "\n"), mark = strspn(d->text + first, " \t");
        mark += d->text[first + mark] == '#';
        mark += d->text[first + mark] == ' ';
        if (mark < n)
            fprintf(file, "%.*s", (int)(n - mark), d->text + first + mark);
        fputc('\n', file);
        first += n + 1;
    }
    if (file)
        fclose(file);
    return out;
}
