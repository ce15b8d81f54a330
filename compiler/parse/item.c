/* The constructors of declarations: items, their parameters and attributes; tree.c has those of what
 * bodies are made of. */
#include <string.h>

#include "lang/words.h"
#include "parse/parse.h"

/* ---- Parts of declarations ---- */

kj_names kj_name_append(kj_parser *p, kj_names list, kj_span span, const char *name)
{
    kj_name *n = kj_node(p, span, sizeof *n);
    *n = (kj_name){.name = name, .span = span};
    kj_declares(p, name, span);
    KJ_APPEND(&list, n);
    return list;
}

kj_attrs kj_attr_append(kj_parser *p, kj_attrs list, kj_span span, const char *name, kj_exprs args)
{
    kj_attr *a = kj_node(p, span, sizeof *a);
    *a = (kj_attr){.name = name, .span = span, .args = args.first};
    KJ_APPEND(&list, a);
    return list;
}

kj_param_decl *kj_make_param(kj_parser *p, kj_span span, bool is_const, const char *name,
                             kj_type_ref *type, kj_expr *init)
{
    kj_param_decl *d = kj_node(p, span, sizeof *d);
    *d = (kj_param_decl){
        .name = name, .span = span, .is_const = is_const, .type = type, .init = init};
    kj_declares(p, name, span);
    return d;
}

kj_param_decl *kj_make_host_param(kj_parser *p, kj_span span, const char *name, kj_type_ref *type,
                                  kj_expr *init)
{
    return kj_make_param(p, span, false, name, type, init);
}

kj_params kj_param_append(kj_params list, kj_param_decl *param)
{
    KJ_APPEND(&list, param);
    return list;
}

kj_generics kj_generic_append(kj_parser *p, kj_generics list, kj_span span, const char *name,
                              const char *bound, kj_span bound_span)
{
    enum { MOST = 64 };
    kj_generic *g = kj_node(p, span, sizeof *g);
    if (list.n == MOST)
        kj_parse_stop(p, span, KJ_RULE_TOO_MANY, "a function has at most 64 type parameters");
    *g = (kj_generic){.name = name, .span = span, .bound = bound, .bound_span = bound_span};
    KJ_APPEND(&list, g);
    return list;
}

/* ---- Items ---- */

static kj_item *new_item(kj_parser *p, kj_span span, kj_item_kind kind, const char *name,
                         kj_span name_span)
{
    kj_item *i = kj_node(p, span, sizeof *i);
    if (name)
        kj_declares(p, name, span);
    *i = (kj_item){.kind = kind, .span = span, .name = name, .name_span = name_span, .end = span};
    return i;
}

kj_item *kj_make_const(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                       kj_type_ref *type, kj_expr *value)
{
    kj_item *i = new_item(p, span, KJ_I_CONST, name, name_span);
    i->type = type;
    i->value = value;
    return i;
}

kj_item *kj_make_alias(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                       kj_type_ref *type)
{
    kj_item *i = new_item(p, span, KJ_I_TYPE, name, name_span);
    i->type = type;
    return i;
}

kj_item *kj_make_function(kj_parser *p, kj_span span, kj_item_kind kind, const char *name,
                          kj_span name_span, kj_signature signature, kj_block body)
{
    kj_item *i = new_item(p, span, kind, name, name_span);
    i->generics = signature.generics;
    i->params = signature.params;
    i->type = signature.result;
    i->body = body.stmts.first;
    i->end = body.end;
    return i;
}

kj_item *kj_make_record(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                        kj_params fields)
{
    kj_signature signature = {.params = fields.first};
    return kj_make_function(p, span, KJ_I_RECORD, name, name_span, signature, (kj_block){0});
}

/* ---- Enums: a name of their type, and a constant for each of their names ---- */

typedef struct own_names {
    kj_parser *p;
    const kj_item *of; /* with the names so far */
} own_names;

/* Names of the enum in its values: B = A << 1. */
static void qualify(void *ctx, const kj_expr *part)
{
    const own_names *own = ctx;
    kj_expr *e = (kj_expr *)(uintptr_t)part; /* the tree is being built */
    if (e->kind != KJ_E_NAME || !kj_enumerator(own->of, e->u.name)) {
        kj_each_part(e, qualify, ctx);
        return;
    }
    const char *name = e->u.name;
    kj_expr *base = kj_make_name(own->p, e->span, own->of->name);
    e->kind = KJ_E_MEMBER;
    e->u.member.name = name;
    e->u.member.name_span = e->span;
    e->u.member.base = base;
}

static kj_item *enumerator(kj_parser *p, const kj_item *of, const kj_param_decl *n,
                           const kj_item *before)
{
    const char *name = kj_arena_printf(p->arena, "%s.%s", of->name, n->name);
    kj_item *i =
        kj_make_const(p, n->span, kj_intern(p->arena, name, strlen(name)), n->span, NULL, n->init);
    i->of = of;
    i->member = n->name;
    if (n->init) {
        qualify(&(own_names){p, of}, n->init);
    } else if (before) {
        i->base = before->base ? before->base : before;
        i->step = before->step + 1;
    }
    if (!n->init)
        i->value = kj_make_int(p, n->span, 0);
    return i;
}

kj_item *kj_make_enum(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                      kj_type_ref *type, kj_params names)
{
    const kj_dotted none = {NULL, kj_intern(p->arena, "i32", 3)};
    kj_item *i =
        kj_make_alias(p, span, name, name_span,
                      type ? type : kj_make_type(p, name_span, name_span, none, 0, (kj_exprs){0}));
    kj_item **last = &i->next, *before = NULL;
    i->enumerates = true;
    i->typed = type != NULL;
    size_t count = 0;
    for (const kj_param_decl *n = names.first; n; n = n->next)
        count++;
    for (i->slots = 2; i->slots < 2 * count;)
        i->slots *= 2;
    i->members = KJ_NEW_ARRAY(p->arena, const kj_item *, i->slots);
    for (const kj_param_decl *n = names.first; n; n = n->next) {
        kj_item *own = enumerator(p, i, n, before);
        kj_enumerator_add(i, own);
        *last = before = own;
        last = &before->next;
    }
    return i;
}

/* A name that a namespace can have: no keyword. */
static bool can_name(const char *name)
{
    size_t len = strlen(name);
    if (kj_is_reserved_word(name))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!kj_is_word(name[i]))
            return false;
    return len > 0 && !(name[0] >= '0' && name[0] <= '9');
}

/* "lib/blur.knl" -> blur */
static const char *stem_of(kj_parser *p, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    bool ends = dot && strcmp(dot, ".knl") == 0;
    return kj_intern(p->arena, base, ends ? (size_t)(dot - base) : strlen(base));
}

/* "std.sort", "std::sort" */
static bool names_library(const char *path)
{
    const char *at = path + strlen("std");
    size_t n = strncmp(path, "std", strlen("std")) == 0 ? strspn(at, ".:") : 0;
    if (n == 0 || strlen(at) > 40)
        return false;
    for (at += n; kj_is_word(*at);)
        at++;
    return !*at && at[-1] != '.' && at[-1] != ':' && strcmp(path, "std.knl") != 0;
}

kj_item *kj_make_use(kj_parser *p, kj_span span, kj_string path, kj_span path_span, bool library,
                     const char *name, kj_span name_span)
{
    const char *text = kj_arena_printf(p->arena, "%.*s", (int)path.len, path.text);
    const char *own = name ? name : stem_of(p, text);
    kj_item *i = new_item(p, span, KJ_I_USE, own, name ? name_span : path_span);
    i->path = text;
    i->library = library;
    i->end = path_span;
    if (path.len == 0 || strlen(text) != path.len)
        kj_error(p->diag, path_span, KJ_RULE_USE, "this is no file's name");
    else if (!library && names_library(text)) /* no file is called std::sort */
        kj_write(p->diag,
                 kj_error(p->diag, path_span, KJ_RULE_USE,
                          "files of the library are used without quotes"),
                 path_span, "std.%s", text + strlen("std") + strspn(text + strlen("std"), ".:"));
    else if (!can_name(own))
        kj_hint(p->diag,
                kj_error(p->diag, path_span, KJ_RULE_USE, "'%s' cannot be a namespace's name", own),
                "give it one: use \"%s\" as name", text);
    return i;
}

kj_item *kj_make_use_library(kj_parser *p, kj_span span, const char *first, kj_span first_span,
                             const char *path, kj_span path_span, const char *name,
                             kj_span name_span)
{
    kj_string text = {path, strlen(path)};
    if (strcmp(first, "std") != 0)
        kj_hint(p->diag,
                kj_error(p->diag, first_span, KJ_RULE_USE,
                         "only files of the library are used by name, as std.warp"),
                "write use \"%s%s%s.knl\"", first, strcmp(path, "knl") == 0 ? "" : "/",
                strcmp(path, "knl") == 0 ? "" : path);
    return kj_make_use(p, span, text, path_span, true, name, name_span);
}

kj_item *kj_make_run(kj_parser *p, kj_span span, kj_span name_span, kj_block body)
{
    return kj_make_function(p, span, KJ_I_RUN, NULL, name_span, (kj_signature){0}, body);
}

kj_item *kj_make_run_function(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                              kj_params params, kj_block body)
{
    kj_signature signature = {.params = params.first};
    return kj_make_function(p, span, KJ_I_RUN_FN, name, name_span, signature, body);
}

/* ---- Tests ---- */

/* Has the text a mistake of its own? */
static bool is_told_in(const kj_parser *p, kj_span span)
{
    const kj_message *m = p->diag->last;
    return m && m->span.begin >= span.begin && m->span.end <= span.end;
}

/* One line of text, as it is shown and asked for. NULL: it was told what is wrong. */
static const char *text_of_test(kj_parser *p, kj_string s, kj_span span, const char *what)
{
    size_t at = 0;
    while (at < s.len && (unsigned char)s.text[at] >= ' ' && s.text[at] != 0x7f)
        at++;
    char bad = at < s.len ? s.text[at] : ' ';
    if (at < s.len)
        kj_error(p->diag, span, KJ_RULE_TEST, "%s is one line of text: %s", what,
                 bad == '\t'                  ? "write a blank for the tab"
                 : bad == '\n' || bad == '\r' ? "it has a line end"
                                              : "it has a control character");
    else if (strspn(s.text, " ") < s.len)
        return kj_intern(p->arena, s.text, s.len);
    else if (!is_told_in(p, span)) /* an escape, which left nothing */
        kj_error(p->diag, span, KJ_RULE_TEST, s.len ? "%s has blanks only" : "%s is empty", what);
    return NULL;
}

kj_item *kj_make_test(kj_parser *p, kj_span span, kj_string title, kj_span title_span,
                      kj_block body)
{
    kj_item *i = kj_make_function(p, span, KJ_I_TEST, NULL, title_span, (kj_signature){0}, body);
    const char *text = text_of_test(p, title, title_span, "a test's title");
    i->title = text ? text : "";
    return i;
}

kj_item *kj_make_failing_test(kj_parser *p, kj_span span, kj_string title, kj_span title_span,
                              const char *word, kj_span word_span, kj_string fails,
                              kj_span fails_span, kj_block body)
{
    kj_item *i = kj_make_test(p, span, title, title_span, body);
    const char *text = text_of_test(p, fails, fails_span, "what the message holds");
    i->fails = text ? text : "";
    i->fails_span = fails_span;
    if (strcmp(word, "fails") == 0)
        return i;
    kj_message *m = kj_error(p->diag, word_span, KJ_RULE_TEST,
                             "behind a test's title stands 'fails', or its '{'");
    kj_write(p->diag, m, word_span, "fails");
    return i;
}

/* A use in what was made for an expression takes its place behind those of the file. */
static bool add_made_use(kj_parser *p, kj_item *item)
{
    bool made = item->kind == KJ_I_USE && p->file->begin == 0 && p->source->written > 0 &&
                item->span.begin >= p->source->written;
    kj_item **at = &p->file->items;
    while (made && *at && (*at)->kind == KJ_I_USE)
        at = &(*at)->next;
    if (!made || !*at)
        return false;
    item->next = *at;
    *at = item;
    return true;
}

void kj_add_item(kj_parser *p, kj_attrs attrs, kj_span span, kj_item *item)
{
    item->attrs = attrs.first;
    item->span = span;
    item->file = p->file;
    if (add_made_use(p, item))
        return;
    if (item->kind == KJ_I_USE && p->last_item && p->last_item->kind != KJ_I_USE)
        kj_error(p->diag, item->span, KJ_RULE_USE,
                 "use stands at the top of a file, before all else");
    if (item->kind == KJ_I_USE && attrs.first)
        kj_error(p->diag, attrs.first->span, KJ_RULE_ATTRIBUTE, "a use has no attributes");
    if (p->last_item)
        p->last_item->next = item;
    else
        p->file->items = item;
    for (; item; item = item->next) { /* an enum's names are behind it */
        item->file = p->file;
        p->last_item = item;
    }
    p->astray = false;
}
