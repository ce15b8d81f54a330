/* textDocument/completion: names that are known where the cursor is, and the language's; behind a dot the members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* The numbers of CompletionItemKind. */
enum {
    AS_FUNCTION = 3,
    AS_FIELD = 5,
    AS_VARIABLE = 6,
    AS_CLASS = 7,
    AS_MODULE = 9,
    AS_ENUM = 13,
    AS_KEYWORD = 14,
    AS_MEMBER = 20,
    AS_CONSTANT = 21,
    AS_STRUCT = 22,
};

/* Labels are there once: in an object, whose keys they are. */
static void add(json_t *out, const char *label, int kind, const char *detail)
{
    if (*label && !json_object_get(out, label))
        json_object_set_new(
            out, label,
            json_pack("{s:s, s:i, s:s*}", "label", label, "kind", kind, "detail", detail));
}

static int kind_of(decl_kind kind)
{
    switch (kind) {
    case D_USE: return AS_MODULE;
    case D_CONST: return AS_CONSTANT;
    case D_FN:
    case D_KERNEL:
    case D_RUN_FN: return AS_FUNCTION;
    case D_RECORD: return AS_STRUCT;
    case D_ENUM: return AS_ENUM;
    case D_TYPE:
    case D_GENERIC: return AS_CLASS;
    case D_FIELD: return AS_FIELD;
    case D_MEMBER: return AS_MEMBER;
    default: return AS_VARIABLE;
    }
}

static void add_decl(json_t *out, const document *d, const decl *c)
{
    const token *t = &d->names->tokens.at[c->at];
    bool string = t->kind == T_STRING; /* the file's name, without folders and ending */
    size_t begin = t->begin + string, end = t->end - string;
    for (size_t i = begin; string && i < end; i++)
        if (d->text[i] == '/')
            begin = i + 1;
    if (string && end > begin + 4 && memcmp(d->text + end - 4, ".knl", 4) == 0)
        end -= 4;
    char *label = end > begin ? strndup(d->text + begin, end - begin) : NULL,
         *head = decl_head(d, c);
    if (label)
        add(out, label, kind_of(c->kind), head);
    free(label);
    free(head);
}

static void add_children(json_t *out, const target t)
{
    const names *n = t.doc->names;
    for (int32_t i = n->decls[t.decl].child; i >= 0; i = n->decls[i].next)
        add_decl(out, t.doc, &n->decls[i]);
}

/* "atomic" has add of "atomic.add". */
static void add_language_members(json_t *out, const char *name)
{
    kjit_builtin_info b;
    kjit_word_info w;
    size_t n = strlen(name);
    for (int i = 0; kjit_builtin(i, &b); i++)
        if (strncmp(b.name, name, n) == 0 && b.name[n] == '.') {
            char call[256];
            call_text(&b, call, sizeof call);
            add(out, b.name + n + 1, AS_FUNCTION, call);
        }
    for (int i = 0; kjit_word(i, &w); i++)
        if (strncmp(w.name, name, n) == 0 && w.name[n] == '.')
            add(out, w.name + n + 1, AS_FUNCTION, NULL);
}

/* Of a file that is used. */
static void add_file_members(server *s, json_t *out, const target use)
{
    char *library = NULL;
    document *used = used_by(s, use.doc, &use.doc->names->decls[use.decl], &library);
    const names *n = used ? document_names(used) : NULL;
    for (int32_t i = 0; n && i < n->ndecls && is_item_kind(n->decls[i].kind); i++)
        if (n->decls[i].kind != D_USE && n->decls[i].kind != D_TEST && n->decls[i].kind != D_RUN)
            add_decl(out, used, &n->decls[i]);
    if (library)
        add_language_members(out, library);
    free(library);
}

/* ---- Members of values ---- */

/* What is before a dot: in which kind of item, and its name where the language has names behind that. */
typedef struct before_dot {
    const document *d;
    bool in_run;
    const char *name; /* "atomic", or NULL */
} before_dot;

/* The row of a member: atomic.add, .sum, and in kernels prod, which is one of views. */
static bool row_of(const before_dot *b, const char *label, kjit_builtin_info *row)
{
    char whole[128];
    for (int form = b->name ? 0 : 1; form < (b->in_run ? 2 : 3); form++) {
        snprintf(whole, sizeof whole, "%s%s%s", form == 0 ? b->name : "", form < 2 ? "." : "",
                 label);
        for (int i = 0; kjit_builtin(i, row); i++)
            if (strcmp(row->name, whole) == 0)
                return true;
    }
    return false;
}

static void add_member(json_t *out, const before_dot *b, const char *label)
{
    const names *n = b->d->names;
    uint32_t name = find_spelling(n, b->d->text, label, strlen(label));
    kjit_builtin_info row;
    if (name != NO_TOKEN && n->field[name] >= 0) {
        add_decl(out, b->d, &n->decls[n->field[name]]);
    } else if (row_of(b, label, &row)) {
        char call[256];
        call_text(&row, call, sizeof call);
        add(out, label, *row.signature ? AS_FUNCTION : AS_FIELD, call);
    } else {
        add(out, label, AS_FIELD, NULL);
    }
}

static void add_all(json_t *out, const before_dot *b, json_t *labels)
{
    json_t *one;
    size_t i;
    json_array_foreach(labels, i, one) add_member(out, b, json_string_value(one));
    json_decref(labels);
}

/* Of a value that nothing is known of. */
static void add_any_member(server *s, document *d, json_t *out, const before_dot *b)
{
    for (int32_t i = 0; i < d->names->ndecls; i++)
        if (d->names->decls[i].kind == D_FIELD)
            add_decl(out, d, &d->names->decls[i]);
    add_all(out, b, all_members(s, d, b->in_run));
}

/* The dot is token `dot`. */
static void add_members(server *s, document *d, json_t *out, uint32_t dot)
{
    const names *n = d->names;
    bool named = dot > 0 && n->tokens.at[dot - 1].kind == T_NAME;
    target base = named ? resolve(s, d, dot - 1) : (target){NULL, -1};
    decl_kind kind = base.doc ? base.doc->names->decls[base.decl].kind : D_LET;
    if (kind == D_USE) {
        add_file_members(s, out, base);
        return;
    }
    if (kind == D_ENUM) {
        add_children(out, base);
        return;
    }
    int32_t item = item_before(n, n->tokens.at[dot].begin);
    decl_kind around = item < 0 ? D_CONST : n->decls[item].kind;
    char *name = named && !base.doc ? dotted_name(d, dot - 1) : NULL;
    before_dot b = {d, around == D_RUN || around == D_RUN_FN || around == D_TEST, name};
    json_t *known = known_members(s, d, dot);
    add_all(out, &b, known);
    if (!known && name)
        add_language_members(out, name); /* atomic, std */
    if (!known && json_object_size(out) == 0)
        add_any_member(s, d, out, &b);
    free(name);
}

/* The language's words but those of operators that are signs. Words that are names elsewhere are offered where they can
 * stand: of items, where one begins. */
static void add_words(json_t *out, bool item)
{
    kjit_word_info w;
    for (int i = 0; kjit_word(i, &w); i++) {
        size_t n = strlen(w.name);
        bool value = strcmp(w.group, "value") == 0;
        bool word = value || strcmp(w.group, "declaration") == 0 ||
                    strcmp(w.group, "statement") == 0 || strcmp(w.group, "operator") == 0;
        if (strcmp(w.group, "type") == 0)
            add(out, w.name, AS_CLASS, w.form);
        else if (word && ((item && is_item_word(w.name, n)) || is_reserved(w.name, n) || value))
            add(out, w.name, is_reserved(w.name, n) || !value ? AS_KEYWORD : AS_CONSTANT, w.form);
    }
}

/* Behind an @ that begins a line. */
static void add_attributes(json_t *out)
{
    kjit_word_info w;
    for (int i = 0; kjit_word(i, &w); i++)
        if (strcmp(w.group, "attribute") == 0)
            add(out, w.name + 1, AS_KEYWORD, w.form);
}

static void add_language(json_t *out, bool item)
{
    kjit_builtin_info b;
    add_words(out, item);
    for (int i = 0; kjit_builtin(i, &b); i++) {
        char call[256], head[64];
        size_t n = strcspn(b.name, ".");
        if (n == 0 || n >= sizeof head)
            continue;
        memcpy(head, b.name, n);
        head[n] = 0;
        call_text(&b, call, sizeof call);
        add(out, head, b.name[n] ? AS_MODULE : AS_FUNCTION, b.name[n] ? NULL : call);
    }
}

/* What the file has that is known at the byte. */
static void add_known(json_t *out, const document *d, size_t offset)
{
    const names *n = d->names;
    for (int32_t i = n->ndecls - 1; i >= 0; i--) { /* what hides comes before what is hidden */
        const decl *c = &n->decls[i];
        bool known = c->scope <= offset && offset <= c->scope_end && c->kind != D_TEST &&
                     c->kind != D_RUN && c->kind != D_FIELD && c->kind != D_MEMBER;
        if (known)
            add_decl(out, d, c);
    }
}

/* Is the byte in a text, a comment or a number, where no name is written? */
static bool is_in_no_code(const document *d, uint32_t at, size_t offset)
{
    const token *t = at == NO_TOKEN ? NULL : &d->names->tokens.at[at];
    char last = t ? d->text[t->end - 1] : 0;
    if (t && t->kind == T_NUMBER && offset <= t->end)
        return true;
    bool open = t && t->kind == T_STRING && last != '{' &&
                (t->end - t->begin < 2 || (last != '"' && last != '\''));
    if (t && t->kind == T_STRING && (offset < t->end || (open && offset == t->end)))
        return true;
    for (size_t i = offset; i > (t ? t->end : 0) && d->text[i - 1] != '\n'; i--)
        if (d->text[i - 1] == '#')
            return true;
    return false;
}

static bool is_test(const document *d, uint32_t at)
{
    const token *t = &d->names->tokens.at[at];
    return t->item && strncmp(d->text + t->begin, "test", strlen("test")) == 0;
}

/* Behind the token `at`, within the line's first word or before it. */
static bool begins_line(const document *d, uint32_t at, size_t offset)
{
    size_t begin = at == NO_TOKEN ? 0 : d->names->tokens.at[at].end;
    return at == NO_TOKEN || d->names->tokens.at[at].kind == T_LINE ||
           memchr(d->text + begin, '\n', offset > begin ? offset - begin : 0);
}

/* Where no member stands: behind the token `at`, which is in front of the word that is being written. */
static void add_names(json_t *out, const document *d, uint32_t at, size_t offset)
{
    const names *n = d->names;
    bool first = begins_line(d, at, offset);
    if (!first && is_sign(n, at, '@') &&
        begins_line(d, at > 0 ? at - 1 : NO_TOKEN, n->tokens.at[at].begin)) {
        add_attributes(out);
        return;
    }
    if (!first && at > 0 && n->tokens.at[at].kind == T_STRING && is_test(d, at - 1))
        add(out, "fails", AS_KEYWORD, "test \"title\" fails \"text\" { ... }");
    size_t line = offset;
    while (line > 0 && d->text[line - 1] != '\n')
        line--;
    uint32_t around = at == NO_TOKEN ? NO_TOKEN : n->tokens.at[at].open;
    bool edge = d->text[line] != ' ' && d->text[line] != '\t';
    add_known(out, d, offset);
    add_language(out, first && (edge || around == NO_TOKEN));
}

json_t *on_completion(server *s, const json_t *params, failure *f)
{
    size_t offset;
    document *d = asked_place(s, params, &offset, f);
    const names *n = d ? document_names(d) : NULL;
    json_t *found = json_object(), *out = json_array(), *item;
    const char *label;
    uint32_t at = n ? token_before(n, offset) : NO_TOKEN;
    bool code = n && !is_in_no_code(d, at, offset);
    if (at != NO_TOKEN && n->tokens.at[at].kind == T_NAME && offset <= n->tokens.at[at].end)
        at = at > 0 ? at - 1 : NO_TOKEN; /* the word that is being written */
    if (code && at != NO_TOKEN && is_sign(n, at, '.')) {
        add_members(s, d, found, at);
    } else if (code) {
        add_names(found, d, at, offset);
    }
    json_object_foreach(found, label, item) json_array_append(out, item);
    json_decref(found);
    return out;
}
