/* textDocument/signatureHelp: of the call that the cursor is in, how it is called and which argument it is at. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* The parts between the commas of the first bracket of the label, as [begin, end) in it. */
static json_t *parameters_of(const char *label)
{
    json_t *out = json_array();
    const char *open = strchr(label, '('), *begin = open ? open + 1 : NULL;
    int deep = 0;
    for (const char *p = begin; p && *p && deep >= 0; p++) {
        deep += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        if ((*p == ',' && deep == 0) || deep < 0) {
            begin += strspn(begin, " ");
            if (p > begin)
                json_array_append_new(
                    out, json_pack("{s:[i, i]}", "label", (int)(begin - label), (int)(p - label)));
            begin = p + 1;
        }
    }
    return out;
}

static json_t *signature(const char *label, const char *doc)
{
    return json_pack("{s:s, s:s*, s:o}", "label", label, "documentation", doc, "parameters",
                     parameters_of(label));
}

static json_t *of_declaration(const target t)
{
    const decl *c = &t.doc->names->decls[t.decl];
    char *head = decl_head(t.doc, c), *comment = decl_comment(t.doc, c);
    json_t *out = head ? json_pack("[o]", signature(head, comment)) : json_array();
    free(head);
    free(comment);
    return out;
}

/* All built-in functions of the name; a member's is the name behind the dot. */
static json_t *of_language(const char *name)
{
    json_t *out = json_array();
    kjit_builtin_info b;
    const char *dot = strrchr(name, '.');
    for (int pass = 0; pass < 2 && json_array_size(out) == 0; pass++)
        for (int i = 0; (pass == 0 || dot) && kjit_builtin(i, &b); i++)
            if (strcmp(b.name, pass == 0 ? name : dot) == 0) {
                char call[256];
                const char *doc = call_text(&b, call, sizeof call);
                json_array_append_new(out, signature(call, doc));
            }
    return out;
}

/* Which argument: the commas of the bracket in front of the byte, or the parameter of that name. */
static int argument_at(const names *n, uint32_t open, size_t offset)
{
    int count = 0;
    for (uint32_t i = open + 1; i < n->tokens.n && n->tokens.at[i].begin < offset; i++)
        count += n->tokens.at[i].open == open && is_sign(n, i, ',');
    return count;
}

/* The innermost round bracket around the byte that a name stands in front of. */
static uint32_t call_around(const names *n, size_t offset)
{
    uint32_t i = token_before(n, offset);
    if (i == NO_TOKEN)
        return NO_TOKEN;
    uint32_t open = is_sign(n, i, '(') || is_sign(n, i, '[') ? i : n->tokens.at[i].open;
    while (open != NO_TOKEN && callee_of(n, open) == NO_TOKEN)
        open = n->tokens.at[open].open;
    return open;
}

json_t *on_signature(server *s, const json_t *params, failure *f)
{
    size_t offset;
    document *d = asked_place(s, params, &offset, f);
    const names *n = d ? document_names(d) : NULL;
    uint32_t open = n ? call_around(n, offset) : NO_TOKEN;
    if (open == NO_TOKEN)
        return NULL;
    uint32_t callee = callee_of(n, open);
    target t = resolve(s, d, callee);
    char *name = dotted_name(d, callee);
    json_t *list = t.doc && is_item_kind(t.doc->names->decls[t.decl].kind) ? of_declaration(t)
                   : name                                                  ? of_language(name)
                                                                           : json_array();
    free(name);
    if (json_array_size(list) == 0)
        return json_decref(list), NULL;
    return json_pack("{s:o, s:i, s:i}", "signatures", list, "activeSignature", 0, "activeParameter",
                     argument_at(n, open, offset));
}
