/* textDocument/hover: of a declared name its declaration and its comment, of the language's what `kjit doc` has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* What `kjit doc` tells of a name, or NULL. */
static char *doc_of(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    bool found = file && tell_name(file, name);
    if (file)
        fclose(file);
    if (found)
        return text;
    free(text);
    return NULL;
}

/* A name behind the dot of a file of the library, under the name that the library has it by. */
static char *library_doc(server *s, document *d, uint32_t at)
{
    const names *n = d->names;
    bool dotted = at >= 2 && is_sign(n, at - 1, '.');
    target base = resolve(s, d, dotted ? at - 2 : at);
    if (!base.doc || base.doc->names->decls[base.decl].kind != D_USE)
        return NULL;
    char *library = NULL, *name = NULL, *text = NULL, *member = token_text(d, &n->tokens.at[at]);
    used_by(s, base.doc, &base.doc->names->decls[base.decl], &library);
    if (library && member &&
        asprintf(&name, dotted ? "%s.%s" : "std.%s", library, dotted ? member : "") < 0)
        name = NULL;
    if (name)
        text = doc_of(name);
    free(library);
    free(member);
    free(name);
    return text;
}

static char *language_doc(document *d, uint32_t at)
{
    char *dotted = dotted_name(d, at), *text = dotted ? doc_of(dotted) : NULL;
    const char *dot = dotted ? strrchr(dotted, '.') : NULL;
    if (!text && dot) /* a.sum is what .sum is */
        text = doc_of(dot);
    if (!text && d->names->tokens.at[at].begin > 0 && is_sign(d->names, at - 1, '@') &&
        dotted) { /* an attribute */
        char *attribute;
        if (asprintf(&attribute, "@%s", dotted) >= 0) {
            text = doc_of(attribute);
            free(attribute);
        }
    }
    free(dotted);
    return text;
}

static json_t *contents(const char *code, const char *text)
{
    return json_pack(
        "{s:s, s:o}", "kind", "markdown", "value",
        json_sprintf("```knl\n%s\n```%s%s", code, text && *text ? "\n\n" : "", text ? text : ""));
}

static json_t *of_declaration(server *s, const target t)
{
    const decl *c = &t.doc->names->decls[t.decl];
    char *head = decl_head(t.doc, c), *comment = decl_comment(t.doc, c), *shown = NULL;
    if (head && c->parent >= 0 && (c->kind == D_FIELD || c->kind == D_MEMBER)) {
        const token *of = &t.doc->names->tokens.at[t.doc->names->decls[c->parent].at];
        if (asprintf(&shown, "%.*s.%s", (int)(of->end - of->begin), t.doc->text + of->begin, head) <
            0)
            shown = NULL;
    }
    char *type = known_type(s, t.doc, c);
    if (type && head) {
        const token *name = &t.doc->names->tokens.at[c->at];
        if (asprintf(&shown, "%s\n%.*s: %s", head, (int)(name->end - name->begin),
                     t.doc->text + name->begin, type) < 0)
            shown = NULL;
    }
    json_t *out = head ? contents(shown ? shown : head, comment) : NULL;
    free(type);
    free(head);
    free(comment);
    free(shown);
    return out;
}

/* A test's title stands where others have their names. */
static json_t *of_title(server *s, document *d, int32_t test)
{
    json_t *told = of_declaration(s, (target){d, test});
    const token *title = &d->names->tokens.at[d->names->decls[test].at];
    return told ? json_pack("{s:o, s:o}", "contents", told, "range",
                            range_json(s, d, title->begin, title->end))
                : NULL;
}

json_t *on_hover(server *s, const json_t *params, failure *f)
{
    size_t offset;
    document *d = asked_place(s, params, &offset, f);
    const names *n = d ? document_names(d) : NULL;
    uint32_t at = n ? name_at(n, offset) : NO_TOKEN;
    int32_t test = n && at == NO_TOKEN ? test_at(n, offset) : -1;
    if (test >= 0)
        return of_title(s, d, test);
    if (at == NO_TOKEN)
        return NULL;
    char *text = library_doc(s, d, at);
    target t = resolve(s, d, at);
    json_t *told = NULL;
    if (!text && t.doc && t.doc->names->decls[t.decl].kind != D_RUN)
        told = of_declaration(s, t);
    if (!text && !told)
        text = language_doc(d, at);
    if (!told && text)
        told = contents(text, NULL);
    free(text);
    if (!told)
        return NULL;
    const token *word = &document_names(d)->tokens.at[at];
    return json_pack("{s:o, s:o}", "contents", told, "range",
                     range_json(s, d, word->begin, word->end));
}
