/* textDocument/definition, references, documentHighlight and documentSymbol; which files references are looked for in. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lsp.h"

enum { MOST_FILES = 2000, MOST_FOLDERS_DEEP = 8 };

static json_t *location(const server *s, document *d, size_t begin, size_t end)
{
    return json_pack("{s:s, s:o}", "uri", d->uri, "range", range_json(s, d, begin, end));
}

/* In the path of a use: the file's begin. */
static json_t *used_file(server *s, document *d, size_t offset)
{
    uint32_t i = token_before(d->names, offset + 1);
    const token *t = i == NO_TOKEN ? NULL : &d->names->tokens.at[i];
    if (!t || t->kind != T_STRING || i == 0 || !t[-1].item || offset > t->end)
        return NULL;
    char *path =
        strndup(d->text + t->begin + 1, t->end - t->begin - (t->end - t->begin > 1 ? 2 : 1));
    document *used = path ? used_document(s, d->path, path) : NULL;
    free(path);
    return used ? location(s, used, 0, 0) : NULL;
}

/* A test is declared where its title stands. */
static json_t *title(const server *s, document *d, int32_t test)
{
    const token *t = &d->names->tokens.at[d->names->decls[test].at];
    return location(s, d, t->begin, t->end);
}

json_t *on_definition(server *s, const json_t *params, failure *f)
{
    size_t offset;
    document *d = asked_place(s, params, &offset, f);
    const names *n = d ? document_names(d) : NULL;
    uint32_t at = n ? name_at(n, offset) : NO_TOKEN;
    if (!n)
        return NULL;
    if (at == NO_TOKEN)
        return test_at(n, offset) >= 0 ? title(s, d, test_at(n, offset)) : used_file(s, d, offset);
    target t = resolve(s, d, at);
    if (!t.doc)
        return NULL;
    const decl *c = &t.doc->names->decls[t.decl];
    document *used = c->kind == D_USE ? used_by(s, t.doc, c, NULL) : NULL;
    if (used)
        return location(s, used, 0, 0);
    const token *name = &t.doc->names->tokens.at[c->at];
    return location(s, t.doc, name->begin, name->end);
}

/* ---- Files ---- */

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Puts the .knl files of a folder into the object, by their paths. False: there are too many. */
static bool list_folder(const char *folder, int deep, json_t *out)
{
    struct dirent **entries;
    int n = deep < MOST_FOLDERS_DEEP ? scandir(folder, &entries, is_shown, alphasort) : 0;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        struct stat st;
        size_t size = strlen(entries[i]->d_name);
        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            path = NULL;
        bool known = path && lstat(path, &st) == 0;
        if (known && S_ISDIR(st.st_mode))
            ok = ok && list_folder(path, deep + 1, out);
        else if (known && size > 4 && strcmp(entries[i]->d_name + size - 4, ".knl") == 0)
            json_object_set_new(out, path, json_true());
        ok = ok && json_object_size(out) <= MOST_FILES;
        free(path);
        free(entries[i]);
    }
    if (n > 0)
        free(entries);
    return ok;
}

/* Where a name of the file may be used: what is open, and what is below the client's folders, else beside the file. */
static bool list_files(server *s, const document *d, json_t *out)
{
    const json_t *root;
    size_t i;
    bool inside = false;
    for (document *other = s->documents; other; other = other->next)
        json_object_set_new(out, other->path, json_true());
    json_object_set_new(out, d->path, json_true());
    json_array_foreach(s->roots, i, root)
    {
        const char *folder = json_string_value(root);
        size_t n = strlen(folder);
        bool has = strncmp(d->path, folder, n) == 0 && (n == 1 || d->path[n] == '/');
        inside |= has;
        if (has && !list_folder(n == 1 ? "" : folder, 0, out))
            return false;
    }
    if (inside || *d->path != '/')
        return true;
    char *folder = path_beside(d->path, ".");
    bool ok = folder && list_folder(folder, MOST_FOLDERS_DEEP - 1, out);
    free(folder);
    return ok;
}

/* ---- References ---- */

static void add_names(server *s, document *d, target t, bool declaration, json_t *out)
{
    const names *n = document_names(d);
    const token *name = &t.doc->names->tokens.at[t.doc->names->decls[t.decl].at];
    size_t size = name->end - name->begin;
    for (uint32_t i = 0; n && i < n->tokens.n; i++) {
        const token *w = &n->tokens.at[i];
        bool itself = d == t.doc && i == t.doc->names->decls[t.decl].at;
        if (w->kind != T_NAME || w->end - w->begin != size || (itself && !declaration) ||
            memcmp(d->text + w->begin, t.doc->text + name->begin, size) != 0)
            continue;
        target other = resolve(s, d, i);
        if (other.doc == t.doc && other.decl == t.decl)
            json_array_append_new(out, location(s, d, w->begin, w->end));
    }
}

/* Is it known in its file alone? A parameter may be named by calls elsewhere. */
static bool is_local(decl_kind kind)
{
    return kind == D_USE || kind == D_TEST || kind == D_RUN || kind == D_GENERIC ||
           (kind >= D_LET && kind <= D_WITH);
}

bool add_references(server *s, target t, bool declaration, json_t *out)
{
    if (is_local(t.doc->names->decls[t.decl].kind)) {
        add_names(s, t.doc, t, declaration, out);
        return true;
    }
    json_t *files = json_object(), *value;
    const char *path;
    bool ok = list_files(s, t.doc, files);
    if (ok)
        json_object_foreach(files, path, value)
        {
            document *d = file_document(s, path);
            if (d)
                add_names(s, d, t, declaration, out);
        }
    json_decref(files);
    return ok;
}

json_t *on_references(server *s, const json_t *params, failure *f)
{
    document *d;
    uint32_t at = asked_name(s, params, &d, f);
    if (at == NO_TOKEN)
        return NULL;
    bool declaration =
        json_is_true(json_object_get(json_object_get(params, "context"), "includeDeclaration"));
    target t = resolve(s, d, at);
    json_t *out = json_array();
    if (t.doc && !add_references(s, t, declaration, out))
        fail_with(f, REQUEST_FAILED, "there are more than %d files to look through", MOST_FILES);
    return out;
}

json_t *on_highlight(server *s, const json_t *params, failure *f)
{
    size_t i;
    document *d;
    uint32_t at = asked_name(s, params, &d, f);
    target t = at == NO_TOKEN ? (target){NULL, -1} : resolve(s, d, at);
    json_t *found = json_array(), *out = json_array(), *one;
    if (t.doc)
        add_names(s, d, t, true, found);
    json_array_foreach(found, i, one)
        json_array_append_new(out, json_pack("{s:O}", "range", json_object_get(one, "range")));
    json_decref(found);
    return out;
}

/* ---- Symbols ---- */

/* What LSP calls it: the numbers of SymbolKind. */
static int symbol_kind(decl_kind kind)
{
    switch (kind) {
    case D_USE: return 3;
    case D_CONST: return 14;
    case D_RECORD: return 23;
    case D_TYPE: return 5;
    case D_ENUM: return 10;
    case D_TEST:
    case D_RUN: return 24;
    case D_FIELD: return 8;
    case D_MEMBER: return 22;
    default: return 12;
    }
}

static json_t *symbol(const server *s, document *d, int32_t i)
{
    const names *n = d->names;
    const decl *c = &n->decls[i];
    const token *name = &n->tokens.at[c->at];
    char *head = decl_head(d, c);
    json_t *out = json_pack("{s:s%, s:i, s:s?, s:o, s:o}", "name", d->text + name->begin,
                            (size_t)(name->end - name->begin), "kind", symbol_kind(c->kind),
                            "detail", head, "range", range_json(s, d, c->begin, c->end),
                            "selectionRange", range_json(s, d, name->begin, name->end));
    free(head);
    return out;
}

json_t *on_symbols(server *s, const json_t *params, failure *f)
{
    document *d = asked_document(s, params, f);
    const names *n = d ? document_names(d) : NULL;
    json_t *out = json_array();
    for (int32_t i = 0; n && i < n->ndecls && is_item_kind(n->decls[i].kind); i++) {
        json_t *one = symbol(s, d, i), *children = json_array();
        decl_kind kind = n->decls[i].kind;
        bool has_parts = kind == D_RECORD || kind == D_ENUM;
        for (int32_t k = has_parts ? n->decls[i].child : -1; k >= 0; k = n->decls[k].next)
            json_array_append_new(children, symbol(s, d, k));
        json_object_set_new(one, "children", children);
        json_array_append_new(out, one);
    }
    return out;
}
