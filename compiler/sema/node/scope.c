/* Names: scopes as small hash tables on interned pointers, look-up outwards, and what to say
 * about unknown names; what other languages call a thing is in elsewhere.c. */
#include <string.h>

#include "sema/node/node.h"

struct kj_scope {
    kj_scope *up;
    kj_arena *arena;   /* where it is, with all it keeps: a file's outlives checks of bodies */
    kj_symbol **slots; /* open addressing; cap is 0 or a power of two */
    size_t cap, count;
    kj_scope *missing;   /* of a body's outermost scope: the names it was told are not declared */
    const kj_file *file; /* whose declarations it has, or NULL */
};

kj_scope *kj_scope_new(kj_arena *arena, kj_scope *up)
{
    kj_scope *scope = KJ_NEW(arena, kj_scope);
    *scope = (kj_scope){.up = up, .arena = arena};
    return scope;
}

kj_scope *kj_scope_of_file(kj_arena *arena, kj_scope *predefined, const kj_file *file)
{
    kj_scope *scope = kj_scope_new(arena, predefined);
    scope->file = file;
    return scope;
}

void kj_scope_push(kj_sema *s)
{
    s->scope = kj_scope_new(s->arena, s->scope);
}

void kj_scope_pop(kj_sema *s)
{
    s->scope = s->scope->up;
}

static size_t slot_of(kj_symbol *const *slots, size_t cap, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u) & (cap - 1);
    while (slots[i] && slots[i]->name != name)
        i = (i + 1) & (cap - 1);
    return i;
}

static kj_symbol *find_here(const kj_scope *scope, const char *name)
{
    return scope->cap ? scope->slots[slot_of(scope->slots, scope->cap, name)] : NULL;
}

kj_symbol *kj_scope_find(const kj_scope *scope, const char *name)
{
    for (; scope; scope = scope->up) {
        kj_symbol *sym = find_here(scope, name);
        if (sym)
            return sym;
    }
    return NULL;
}

bool kj_hides_kernel(const kj_scope *scope, const char *name)
{
    for (const kj_scope *at = scope; at; at = at->up) {
        const kj_symbol *sym = find_here(at, name);
        if (sym && sym->kind == KJ_SYM_KERNEL)
            return kj_scope_find(scope, name) != sym;
    }
    return false;
}

static bool is_enum(const kj_symbol *sym)
{
    return sym->kind == KJ_SYM_TYPE && sym->item && sym->item->enumerates;
}

static kj_symbol *find_in(const kj_symbol *space, const char *name);

/* The namespace of blur.name, Cell.NAME or blur.Cell.NAME; or NULL. */
static const kj_symbol *space_of(const kj_scope *scope, const kj_expr *e)
{
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : NULL;
    const kj_symbol *space =
        base && base->kind == KJ_E_NAME ? kj_scope_find(scope, base->u.name) : NULL;
    const kj_expr *first = base && base->kind == KJ_E_MEMBER ? base->u.member.base : NULL;
    if (first && first->kind == KJ_E_NAME) {
        space = kj_scope_find(scope, first->u.name);
        space = space && space->kind == KJ_SYM_FILE ? find_in(space, base->u.member.name) : NULL;
        return space && is_enum(space) ? space : NULL;
    }
    return space && (space->kind == KJ_SYM_FILE || is_enum(space)) ? space : NULL;
}

bool kj_is_of_file(const kj_scope *scope, const kj_expr *e)
{
    return space_of(scope, e) != NULL;
}

/* What a file declares, not what it uses; or an enum. */
static kj_symbol *find_in(const kj_symbol *space, const char *name)
{
    const kj_item *of = space->item;
    if (of->enumerates) {
        const kj_item *item = kj_enumerator(of, name);
        return item ? find_here(of->file->scope, item->name) : NULL;
    }
    kj_symbol *sym = find_here(space->item->used->scope, name);
    return sym && sym->kind != KJ_SYM_FILE ? sym : NULL;
}

kj_symbol *kj_scope_named(const kj_scope *scope, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return kj_scope_find(scope, e->u.name);
    const kj_symbol *space = space_of(scope, e);
    return space ? find_in(space, e->u.member.name) : NULL;
}

kj_symbol *kj_named(kj_sema *s, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME || kj_is_of_file(s->scope, e))
        return kj_scope_named(s->scope, e);
    if (e->kind != KJ_E_MEMBER || e->u.member.base->kind != KJ_E_NAME)
        return NULL;
    kj_symbol *space = kj_scope_find(s->scope, e->u.member.base->u.name);
    if (!space || space->kind != KJ_SYM_NAMESPACE)
        return NULL;
    size_t n = strlen(space->name);
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const char *full = kj_builtins[id].name;
        if (strncmp(full, space->name, n) == 0 && full[n] == '.' &&
            strcmp(full + n + 1, e->u.member.name) == 0) {
            kj_symbol *sym = KJ_NEW(s->arena, kj_symbol);
            *sym = (kj_symbol){
                .name = full, .span = e->span, .kind = KJ_SYM_BUILTIN, .builtin = (kj_builtin)id};
            return sym;
        }
    }
    return NULL;
}

static void grow(kj_arena *arena, kj_scope *scope)
{
    size_t cap = scope->cap ? scope->cap * 2 : 8;
    kj_symbol **slots = KJ_NEW_ARRAY(arena, kj_symbol *, cap);
    for (size_t i = 0; i < scope->cap; i++)
        if (scope->slots[i])
            slots[slot_of(slots, cap, scope->slots[i]->name)] = scope->slots[i];
    scope->slots = slots;
    scope->cap = cap;
}

kj_symbol *kj_scope_add(kj_arena *arena, kj_scope *scope, const char *name, kj_span span,
                        kj_symbol_kind kind)
{
    if ((scope->count + 1) * 4 > scope->cap * 3)
        grow(arena, scope);
    size_t i = slot_of(scope->slots, scope->cap, name);
    if (!scope->slots[i])
        scope->count++;
    kj_symbol *sym = KJ_NEW(arena, kj_symbol);
    sym->name = name;
    sym->span = span;
    sym->kind = kind;
    scope->slots[i] = sym;
    return sym;
}

/* again: it may be there. */
static kj_symbol *declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind,
                          bool again)
{
    const kj_symbol *old = again ? NULL : find_here(s->scope, name);
    if (old) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_REDECLARED, "'%s' is declared twice%s", name,
                                      s->scope->file ? "" : " in this block");
        kj_note(s->diag, m, old->span, "declared here");
        kj_hint_again(s, m, old, s->scope->file ? 0 : s->scope->count);
    }
    return kj_scope_add(s->arena, s->scope, name, span, kind);
}

kj_symbol *kj_declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind)
{
    return declare(s, name, span, kind, false);
}

void kj_declare_value(kj_sema *s, const char *name, kj_span span, kj_role role, kj_operand value)
{
    bool again = strcmp(name, "_") == 0 && role != KJ_ROLE_PARAM; /* nobody asks for it */
    kj_symbol *sym = declare(s, name, span, KJ_SYM_VALUE, again);
    sym->role = role;
    sym->value = value;
}

static bool is_variable(const kj_symbol *sym)
{
    return sym->kind == KJ_SYM_VALUE && sym->value.kind != KJ_V_ERROR &&
           (sym->role == KJ_ROLE_LET || sym->role == KJ_ROLE_VAR);
}

typedef enum offered { ALL, VARIABLES, OWN } offered;

/* Of the language's own names not y0: it is a letter away from too many. */
static bool is_offered(const kj_sema *s, const kj_scope *scope, const kj_symbol *sym, offered which,
                       kj_span at)
{
    if (!sym || (!scope->up && strlen(sym->name) <= 2))
        return false;
    return which == VARIABLES ? is_variable(sym) : kj_can_stand(s, sym, at);
}

static const char *nearest(const kj_sema *s, const char *name, kj_span at, offered which)
{
    kj_near own = kj_near_to(name), predefined = own;
    for (const kj_scope *scope = s->scope; scope && (scope->up || which != OWN); scope = scope->up)
        for (size_t i = 0; i < scope->cap; i++)
            if (is_offered(s, scope, scope->slots[i], which, at))
                kj_near_offer(scope->up ? &own : &predefined, scope->slots[i]->name);
    return predefined.distance < own.distance ? predefined.best : own.best;
}

const char *kj_nearest_visible(kj_sema *s, const char *name, kj_span at)
{
    return nearest(s, name, at, ALL);
}

void kj_fix_word(kj_sema *s, kj_message *m, kj_span name, const char *from, const char *to)
{
    const char *text = s->diag->source->text, *at = text + name.begin;
    size_t len = strlen(from);
    while (at > text && (kj_is_word(at[-1]) || strchr(" ,", at[-1]))) {
        at--;
        uint32_t begin = (uint32_t)(at - text);
        bool word = (at == text || !kj_is_word(at[-1])) && !kj_is_word(at[len]);
        if (word && strncmp(at, from, len) == 0) {
            kj_fix(s->diag, m, (kj_span){begin, begin + (uint32_t)len}, "%s", to);
            return;
        }
    }
}

void kj_hint_var(kj_sema *s, kj_message *m, kj_span name)
{
    kj_hint(s->diag, m, "declare it with 'var'");
    kj_fix_word(s, m, name, "let", "var");
}

static kj_scope *scope_of_body(const kj_sema *s)
{
    kj_scope *body = s->scope;
    while (!body->file && body->up && !body->up->file)
        body = body->up;
    return body;
}

void kj_undeclared_anew(kj_sema *s)
{
    scope_of_body(s)->missing = NULL;
}

/* A name that is not declared is told once in each kernel, function and run block. */
static bool was_told(kj_sema *s, const char *name, kj_span span)
{
    kj_scope *body = scope_of_body(s);
    if (!body->missing)
        body->missing = kj_scope_new(body->arena, NULL);
    if (find_here(body->missing, name) || kj_was_misplaced(s->diag, name, span))
        return true;
    kj_scope_add(body->arena, body->missing, name, span, KJ_SYM_VALUE);
    return false;
}

/* Offers the names of a file or an enum; returns a list of the first, n is how many there are. */
static const char *offer_names(kj_sema *s, const kj_symbol *space, kj_near *near, int *n)
{
    const kj_item *of = space->item;
    const char *list = "";
    for (const kj_item *item = of->enumerates ? of->next : of->used->items; item;
         item = item->next) {
        if (of->enumerates && item->of != of)
            break;
        const char *own = of->enumerates ? item->member : item->name;
        if (!own || item->kind == KJ_I_USE || (item->of && !of->enumerates) ||
            (!of->enumerates && kj_is_internal(s, of, item)))
            continue;
        kj_near_offer(near, own);
        if ((*n)++ < 8)
            list = kj_arena_printf(s->diag->arena, "%s%s%s", list, *list ? ", " : "", own);
    }
    return list;
}

static void undeclared_in(kj_sema *s, const kj_symbol *space, const char *name, kj_span span)
{
    kj_near near = kj_near_to(name);
    int n = 0;
    const char *whole = kj_arena_printf(s->arena, "%s.%s", space->name, name);
    if (was_told(s, kj_intern(s->arena, whole, strlen(whole)), span))
        return;
    kj_message *m =
        kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' has no '%s'", space->name, name);
    const char *list = kj_is_shown(s->diag, m) ? offer_names(s, space, &near, &n) : "";
    if (!space->item->enumerates && kj_hint_module(s, m, space, name))
        return;
    if (near.best)
        kj_hint(s->diag, m, "did you mean '%s.%s'?", space->name, near.best);
    else if (n > 0)
        kj_hint(s->diag, m, "it has %s%s", list, n > 8 ? ", ..." : "");
    else
        kj_hint(s->diag, m, "it has no names");
}

kj_symbol *kj_scope_member(kj_sema *s, const char *space, const char *name, kj_span span)
{
    const kj_symbol *file = kj_scope_find(s->scope, space);
    if (!file) {
        kj_undeclared(s, space, span);
        return NULL;
    }
    if (file->kind != KJ_SYM_FILE) {
        kj_sema_error(s, span, KJ_RULE_UNKNOWN_MEMBER, "'%s' is no file's namespace", space);
        return NULL;
    }
    kj_symbol *sym = find_in(file, name);
    if (!sym)
        undeclared_in(s, file, name, span);
    return sym;
}

/* n // half: a comment of one word reads as a division. */
static bool hint_comment(kj_sema *s, kj_message *m)
{
    const char *text = s->diag->source->text;
    uint32_t at = m->span.begin;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    bool divides = at > 1 && text[at - 1] == '/' && text[at - 2] == '/';
    if (divides)
        kj_hint(s->diag, m, "a comment begins with #; // divides and rounds down");
    return divides;
}

/* std.sort.keys(a): a module is called by its own name. */
static bool hint_std(kj_sema *s, kj_message *m, const char *name)
{
    const char *text = s->diag->source->text + m->span.end, *end = text + (*text == '.');
    if (strcmp(name, "std") != 0 || *text != '.')
        return false;
    size_t module = 0;
    while (kj_is_word(end[module]))
        module++;
    const char *own = kj_intern(s->arena, end, module);
    const kj_symbol *used = kj_scope_find(s->scope, own);
    size_t all = module;
    while (kj_is_word(end[all]) || end[all] == '.')
        all++;
    if (used && used->kind == KJ_SYM_FILE) {
        kj_hint(s->diag, m, "write %.*s", (int)all, end);
        kj_fix(s->diag, m, (kj_span){m->span.begin, m->span.end + 1}, "%s", "");
    } else {
        kj_hint(s->diag, m, "write use std.%s at the top of the file, and then %.*s", own, (int)all,
                end);
    }
    return true;
}

static bool is_predefined(const kj_sema *s, const char *name)
{
    const kj_scope *scope = s->scope;
    while (scope->up && !find_here(scope, name))
        scope = scope->up;
    return !scope->up;
}

/* RED, of a Color of the file. */
static bool hint_of_enum(kj_sema *s, kj_message *m, const char *name)
{
    const kj_item *found = NULL;
    for (const kj_item *item = s->program->file->items; item; item = item->next) {
        if (!item->of || !item->of->enumerates || !item->member || strcmp(item->member, name) != 0)
            continue;
        if (found)
            return false; /* of which? */
        found = item;
    }
    if (found)
        kj_write(s->diag, m, m->span, "%s.%s", found->of->name, name);
    return found != NULL;
}

kj_message *kj_undeclared_here(kj_sema *s, const char *name, kj_span span)
{
    if (was_told(s, name, span))
        return NULL;
    return kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
}

void kj_undeclared(kj_sema *s, const char *name, kj_span span)
{
    kj_message *m = kj_undeclared_here(s, name, span);
    if (!m || !kj_is_shown(s->diag, m) || hint_comment(s, m))
        return;
    if (kj_hint_defined(s, m, name))
        return;
    if (hint_std(s, m, name) || kj_hint_used(s, m, name) || hint_of_enum(s, m, name) ||
        kj_hint_axis_of_thread(s, m, name))
        return;
    kj_span cast;
    const char *conversion = kj_cast_meant(s->diag->arena, s->diag->source, span, &cast);
    if (conversion) {
        kj_hint(s->diag, m, "conversions are written %s", conversion);
        kj_fix(s->diag, m, cast, "%s", conversion);
        return;
    }
    bool value = !s->in_run && s->diag->source->text[span.end] != '(' && kj_is_type_elsewhere(name);
    /* a variable whose name is misspelled, rather than another language's function */
    const char *own =
        strchr("(.", s->diag->source->text[span.end]) ? NULL : nearest(s, name, span, OWN);
    bool called_so = s->diag->source->text[span.end] == '(';
    const char *before = called_so ? NULL : kj_declared_before(s->diag->source, name, span);
    if (before) {
        kj_hint_ended(s, m, name, before + strlen(name));
        return;
    }
    if (own && !kj_is_being_declared(s, own, span)) {
        kj_suggest(s, m, name, own, false);
        return;
    }
    bool called = s->in_run || s->diag->source->text[span.end] == '(';
    if (!value && (kj_hint_habit(s, m, name) || kj_hint_own_function(s, m, name) ||
                   (called && kj_hint_type(s, m, name))))
        return;
    const char *near = kj_nearest_visible(s, name, span);
    if (near && kj_type_named(near) != KJ_VOID && strlen(name) < 3)
        near = NULL; /* u0 and f1 are names as any */
    const char *keyword = near ? NULL : kj_keyword_meant(s->arena, s->diag->source, span);
    if (!s->in_run && strcmp(name, "where") == 0)
        kj_hint_where(s, m, span);
    else if (!s->in_run && kj_run_builtin_named(name) >= 0)
        kj_hint_of_run(s, m, name);
    else if (near && !kj_is_being_declared(s, near, span))
        kj_suggest(s, m, name, near, is_predefined(s, near));
    else if (keyword)
        kj_did_you_mean(s->diag, m, keyword);
    else
        kj_hint_included(s, m, name);
}

/* A name that is assigned before it is read is a variable without its var; else it may be another one's. */
static void hint_target(kj_sema *s, kj_message *m, const char *name, kj_span span, bool needed)
{
    kj_first_use use = kj_first_use_of(s->diag->source, name, span);
    const char *near = use.plain && use.again ? NULL : nearest(s, name, span, VARIABLES);
    if (near) {
        kj_suggest(s, m, name, near, false);
        return;
    }
    if (needed) {
        kj_hint(s->diag, m,
                "a variable is declared first, by a name that nothing here has: var v = ...");
        return;
    }
    if (use.behind_block)
        kj_hint(s->diag, m, "a variable is declared first, before the block: var %s = ...", name);
    else
        kj_hint(s->diag, m, "a variable is declared first: var %s = ...", name);
    const char *next = s->diag->source->text + span.end;
    next += strspn(next, " \t");
    bool updated = strchr("+-*/%&|^<>@", *next) && *next; /* t += 1 declares nothing */
    if (kj_begins_statement(s->diag->source, span.begin) && !use.behind_block && !updated)
        kj_fix(s->diag, m, (kj_span){span.begin, span.begin}, "var ");
}

void kj_undeclared_target(kj_sema *s, const char *name, kj_span span)
{
    bool of_language = kj_scope_find(s->scope, name) != NULL,
         needed = of_language ? kj_is_needed(s, name, span)
                              : kj_is_called_in(s->diag->source, name, span, false);
    if (!was_told(s, name, span)) {
        kj_message *m =
            of_language
                ? kj_sema_error(s, span, KJ_RULE_NOT_ASSIGNABLE, "'%s' is not a variable", name)
                : kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
        if (kj_is_shown(s->diag, m))
            hint_target(s, m, name, span, needed);
    }
    if (of_language && s->in_run && needed) /* it stays what the calls take it for */
        return;
    kj_scope *scope = s->scope;
    if (of_language && !s->in_run) /* behind this block it is none of the language's, either */
        s->scope = scope_of_body(s);
    kj_declare_value(s, name, span, KJ_ROLE_VAR, kj_no_value(span)); /* what is read of it */
    s->scope = scope;
}

bool kj_undeclared_targets(kj_sema *s, const kj_expr *targets)
{
    const char *names = "";
    const kj_expr *first = targets;
    int n = 0;
    while (first && kj_throws_away(s, first))
        first = first->next;
    if (!first)
        return false;
    for (const kj_expr *e = targets; e; e = e->next) {
        if (e->kind != KJ_E_NAME || !kj_is_free_name(kj_scope_find(s->scope, e->u.name)))
            return false;
        if (n++ == KJ_MOST_LISTED)
            names = kj_arena_printf(s->diag->arena, "%s, ...", names);
        if (n > KJ_MOST_LISTED)
            continue;
        names = kj_arena_printf(s->diag->arena, "%s%s%s", names, *names ? ", " : "", e->u.name);
    }
    if (!was_told(s, first->u.name, first->span)) {
        kj_message *m =
            kj_sema_error(s, first->span, KJ_RULE_UNDECLARED, "'%s' is not %s", first->u.name,
                          kj_scope_find(s->scope, first->u.name) ? "a variable" : "declared");
        if (kj_any_is_needed(s, targets)) {
            kj_hint(s->diag, m,
                    "variables are declared first, by names that nothing here has: let v, w = ...");
        } else {
            kj_hint(s->diag, m, "variables are declared first: let %s = ...", names);
            kj_fix(s->diag, m, (kj_span){targets->span.begin, targets->span.begin}, "let ");
        }
    }
    for (const kj_expr *e = targets; e; e = e->next)
        if (!s->in_run || !kj_is_needed(s, e->u.name, e->span))
            kj_declare_value(s, e->u.name, e->span, KJ_ROLE_VAR, kj_no_value(e->span));
    return true;
}

const kj_file *kj_file_here(const kj_sema *s)
{
    const kj_scope *scope = s->scope;
    while (scope->up && !scope->file)
        scope = scope->up;
    return s->in_run ? s->run_file : scope->file ? scope->file : s->program->file;
}

void kj_undeclared_type(kj_sema *s, const char *name, kj_span span)
{
    if (was_told(s, name, span))
        return;
    kj_message *m = kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
    static const char *const own[] = {
#define TYPE(id, text, class, bits, npy) text,
#include "lang/types.def"
#undef TYPE
#define AGGREGATE(id, number, text, kind, elem, n) text,
#include "lang/aggregates.def"
#undef AGGREGATE
    };
    if (!kj_is_shown(s->diag, m) || kj_hint_used(s, m, name) ||
        (kj_is_no_type(name) && kj_hint_type(s, m, name)) || kj_hint_habit(s, m, name) ||
        kj_hint_type(s, m, name))
        return;
    kj_near near = kj_near_to(name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        kj_near_offer(&near, own[i]);
    for (const kj_item *item = kj_file_here(s)->items; item; item = item->next)
        if (item->kind == KJ_I_RECORD || item->kind == KJ_I_TYPE)
            kj_near_offer(&near, item->name);
    if (near.best)
        kj_suggest(s, m, name, near.best, kj_type_named(near.best) != KJ_VOID);
    else
        kj_hint_types(s, m);
}

kj_symbol *kj_member_of_file(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *space = space_of(s->scope, e);
    kj_symbol *sym = find_in(space, e->u.member.name);
    if (!sym)
        undeclared_in(s, space, e->u.member.name, e->u.member.name_span);
    return sym;
}
