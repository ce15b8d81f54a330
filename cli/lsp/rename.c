/* textDocument/rename: the edits of all that means the name, in every file; refused where the new name has a meaning. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* The declaration of what stands at params.position, if it may have another name. */
static target renamed(server *s, const json_t *params, document **d, uint32_t *at, failure *f)
{
    target none = {NULL, -1};
    size_t offset;
    *d = asked_place(s, params, &offset, f);
    const names *n = *d ? document_names(*d) : NULL;
    if (!n)
        return none;
    *at = name_at(n, offset);
    target t = *at == NO_TOKEN ? none : resolve(s, *d, *at);
    if (!t.doc) {
        fail_with(f, REQUEST_FAILED, "that is no name that the file declares");
        return none;
    }
    const decl *c = &t.doc->names->decls[t.decl];
    const token *name = &t.doc->names->tokens.at[c->at];
    if (c->kind == D_RUN || (c->kind == D_USE && name->kind != T_NAME) ||
        (c->kind == D_USE && is_sign(t.doc->names, c->at - 1, '.')))
        fail_with(f, REQUEST_FAILED,
                  c->kind == D_RUN ? "the run block has no name"
                                   : "that is a file's name: write 'as name' behind it");
    if (c->kind == D_FIELD) /* which record a value is of takes its type */
        fail_with(f, REQUEST_FAILED, "fields are not renamed: the types of values are not known");
    return f->code ? none : t;
}

json_t *on_prepare_rename(server *s, const json_t *params, failure *f)
{
    document *d;
    uint32_t at;
    target t = renamed(s, params, &d, &at, f);
    if (!t.doc)
        return NULL;
    const token *name = &d->names->tokens.at[at];
    return range_json(s, d, name->begin, name->end);
}

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t n = strlen(name);
    return n > 0 && n < 256 && strspn(name, letters) == n && !(*name >= '0' && *name <= '9') &&
           !is_reserved(name, n);
}

/* The item that the declaration is in, or itself. */
static const decl *item_around(const names *n, const decl *c)
{
    for (int32_t i = 0; i < n->ndecls && is_item_kind(n->decls[i].kind); i++)
        if (n->decls[i].begin <= c->begin && c->begin < n->decls[i].end)
            return &n->decls[i];
    return c;
}

/* Has the name a meaning where the declaration is known? Of an item that is anywhere in its file, else in the item. */
static bool is_taken(const target t, const char *name)
{
    const names *n = t.doc->names;
    const decl *c = &n->decls[t.decl], *around = item_around(n, c);
    bool anywhere = is_item_kind(c->kind);
    size_t size = strlen(name), begin = anywhere ? 0 : around->begin,
           end = anywhere ? t.doc->size : around->end;
    for (uint32_t i = 0; i < n->tokens.n; i++) {
        const token *w = &n->tokens.at[i];
        bool in = w->begin >= begin && w->begin < end && !(i > 0 && is_sign(n, i - 1, '.'));
        if (w->kind == T_NAME && w->end - w->begin == size &&
            memcmp(t.doc->text + w->begin, name, size) == 0 && (in || n->global[w->name] >= 0))
            return true;
    }
    return false;
}

/* Locations, of one file after the other -> the client's edits. */
static json_t *edits_of(const json_t *locations, const char *name)
{
    json_t *changes = json_object(), *one;
    size_t i;
    json_array_foreach(locations, i, one)
    {
        const char *uri = json_string_value(json_object_get(one, "uri"));
        json_t *list = json_object_get(changes, uri);
        if (!list) {
            list = json_array();
            json_object_set_new(changes, uri, list);
        }
        json_array_append_new(
            list, json_pack("{s:O, s:s}", "range", json_object_get(one, "range"), "newText", name));
    }
    return json_pack("{s:o}", "changes", changes);
}

json_t *on_rename(server *s, const json_t *params, failure *f)
{
    document *d;
    uint32_t at;
    const char *name = json_string_value(json_object_get(params, "newName"));
    if (!name || !is_identifier(name)) {
        fail_with(f, name ? REQUEST_FAILED : INVALID_PARAMS,
                  "a name is letters a-z and A-Z, digits and '_', and no word of the language");
        return NULL;
    }
    target t = renamed(s, params, &d, &at, f);
    if (!t.doc)
        return NULL;
    if (is_taken(t, name)) {
        fail_with(f, REQUEST_FAILED, "'%s' has a meaning here", name);
        return NULL;
    }
    json_t *found = json_array(), *out = NULL;
    if (add_references(s, t, true, found))
        out = edits_of(found, name);
    else
        fail_with(f, REQUEST_FAILED, "there are too many files to look through");
    json_decref(found);
    return out;
}
