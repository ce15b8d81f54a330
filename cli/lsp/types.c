/* Types of variables: what the compiler's typed tree of a kernel has them as, where that is certain: the tree also has the
 * variables of functions, which are inlined, and lacks those that were folded. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* The kernel that the declaration is in, or NULL. */
static const decl *kernel_around(const names *n, const decl *c)
{
    for (int32_t i = 0; i < n->ndecls && is_item_kind(n->decls[i].kind); i++)
        if (n->decls[i].kind == D_KERNEL && n->decls[i].begin <= c->begin &&
            c->begin < n->decls[i].end)
            return &n->decls[i];
    return NULL;
}

/* Is every variable of the name in the kernel's tree one of the kernel's own, of types that do not vary? */
static bool is_certain(const names *n, const decl *kernel, const decl *c)
{
    int32_t item = -1, nitems = 0;
    while (nitems < n->ndecls && is_item_kind(n->decls[nitems].kind))
        nitems++;
    for (int32_t i = nitems; i < n->ndecls; i++) { /* in the order of the text, as the items */
        const decl *other = &n->decls[i];
        while (item + 1 < nitems && n->decls[item + 1].begin <= other->begin)
            item++;
        const decl *around = item < 0 ? kernel : &n->decls[item];
        if ((around == kernel && other->kind == D_GENERIC) ||
            (around->kind == D_FN && other->name == c->name))
            return false;
    }
    uint32_t i = token_before(n, (size_t)kernel->begin + 1);
    for (; i < n->tokens.n && n->tokens.at[i].begin < kernel->end; i++) {
        int32_t named = n->tokens.at[i].decl;
        if (named >= 0 && n->decls[named].kind == D_USE) /* a function of another file */
            return false;
    }
    return true;
}

/* What stands behind "NAME#0: " in the tree, if it is the same everywhere: its begin, and its size; 0: none. */
static size_t find_type(const char *tree, const char *name, const char **type)
{
    size_t n = strlen(name), size = 0;
    for (const char *p = tree; (p = strstr(p, name)); p += n) {
        const char *digits = p + n + 1;
        if (p == tree || p[-1] != ' ' || p[n] != '#')
            continue;
        const char *behind = digits + strspn(digits, "0123456789");
        if (strncmp(behind, ": ", 2) != 0)
            continue;
        behind += 2;
        size_t length = strcspn(behind, " =\n");
        if (size && (length != size || strncmp(*type, behind, size) != 0))
            return 0;
        *type = behind;
        size = length;
    }
    return size;
}

char *known_type(server *s, document *d, const decl *c)
{
    const names *n = document_names(d);
    const decl *kernel = n ? kernel_around(n, c) : NULL;
    bool variable = c->kind == D_LET || c->kind == D_VAR || c->kind == D_LOOP;
    if (!variable || !kernel || d->size >= LONG_TEXT || !is_certain(n, kernel, c))
        return NULL;
    char *name = token_text(d, &n->tokens.at[c->at]);
    char *item = token_text(d, &n->tokens.at[kernel->at]), *tree = NULL, *out = NULL;
    kjit_module *mod = name && item ? compile_text(s, d, d->text, d->size) : NULL;
    const char *type = NULL;
    size_t size = 0;
    if (mod && kjit_module_emit(mod, "tast", item, NULL, &tree, NULL) == KJIT_OK)
        size = find_type(tree, name, &type);
    if (size > 0)
        out = strndup(type, size);
    kjit_module_free(mod);
    free(tree);
    free(name);
    free(item);
    return out;
}
