/* Launches of run blocks: what is certain of their arguments and blocks against what kernels take. In: calls
 * whose arguments have their parameters; out: errors, each at its argument. The runtime says the same
 * of what is known only there (launch/bind.c). */
#include <string.h>

#include "sema/file/file.h"

enum { MAX_THREADS = 1024, MAX_DEPTH = 64 /* of a block, along its third axis */ };

/* ---- What is said ---- */

static const kj_generic *generic_of(const kj_kernel_decl *k, const kj_kernel_param *p)
{
    const kj_generic *g = k->generics;
    for (int i = 0; i < p->generic; i++)
        g = g->next;
    return g;
}

static const char *dims(int ndim)
{
    static const char *const text[] = {"", "[]", "[,]", "[,,]", "[,,,]", "[,,,,]", "[,,,,,]"};
    return text[ndim];
}

/* "f32[,]" or "T[,] with T = f32" */
static const char *wanted_text(kj_sema *s, const kj_kernel_decl *k, const kj_kernel_param *p,
                               kj_dtype type)
{
    kj_arena *a = s->diag->arena;
    if (p->generic < 0)
        return kj_arena_printf(a, "%s%s", kj_sema_type_name(s, type), dims(p->ndim));
    const char *name = generic_of(k, p)->name;
    if (type == KJ_VOID)
        return kj_arena_printf(a, "%s%s", name, dims(p->ndim));
    return kj_arena_printf(a, "%s%s with %s = %s", name, dims(p->ndim), name,
                           kj_sema_type_name(s, type));
}

static const char *known_text(kj_sema *s, kj_known is)
{
    kj_arena *a = s->diag->arena;
    const char *smart = is.kind == KJ_R_SMART ? "a smart array" : "an array";
    if (is.kind != KJ_R_ARRAY && is.kind != KJ_R_SMART)
        return kj_rkind_name(is.kind);
    if (is.type == KJ_VOID && is.ndim < 0)
        return smart;
    if (is.type == KJ_VOID)
        return kj_arena_printf(a, "%s of %d ax%s", smart, is.ndim, is.ndim == 1 ? "is" : "es");
    if (is.ndim <= 0)
        return kj_arena_printf(a, "%s of %s", smart, kj_sema_type_name(s, is.type));
    return kj_arena_printf(a, "%s%s%s", is.kind == KJ_R_SMART ? "a smart " : "",
                           kj_sema_type_name(s, is.type), dims(is.ndim));
}

/* Was it told that the body uses this number as an array, or this array as one of more axes? */
static bool was_refused(const kj_diag *d, const kj_kernel_param *p)
{
    for (const kj_message *m = d->first; m; m = m->next)
        if ((m->rule == KJ_RULE_NOT_AN_ARRAY || m->rule == KJ_RULE_UNKNOWN_MEMBER ||
             m->rule == KJ_RULE_INDEX_COUNT || m->rule == KJ_RULE_INDEX_RANGE ||
             m->rule == KJ_RULE_TUPLE_ARITY) &&
            m->note && m->note_span.begin == p->span.begin)
            return true;
    return false;
}

static void wrong_argument(kj_sema *s, const kj_kernel_decl *k, const kj_kernel_param *p,
                           kj_dtype type, const kj_expr *arg, kj_known is)
{
    if (was_refused(s->diag, p))
        return;
    kj_message *m =
        kj_sema_error(s, arg->span, KJ_RULE_TYPE_MISMATCH, "kernel '%s': '%s' takes %s, not %s",
                      k->name, p->name, wanted_text(s, k, p, type), known_text(s, is));
    kj_saying say;
    kj_say_argument(&say, p->ndim, type, kj_sema_type_name(s, type), is.kind, is.type, is.ndim,
                    s->diag->source, arg->span);
    if (strncmp(say.hint, "write ", 6) == 0)
        kj_write(s->diag, m, arg->span, "%s", say.hint + 6);
    else if (say.hint[0])
        kj_hint(s->diag, m, "%s", say.hint);
    kj_note(s->diag, m, p->span, "declared here");
}

/* ---- Arguments ---- */

static bool takes_array(kj_sema *s, const kj_kernel_param *p, kj_dtype type, kj_known is)
{
    if (is.kind == KJ_R_NONE)
        return true;
    if ((is.kind != KJ_R_ARRAY && is.kind != KJ_R_SMART) || (is.ndim >= 0 && is.ndim != p->ndim))
        return false;
    bool records = is.type != KJ_VOID && kj_is_record(kj_sema_aggregate(s, is.type)) &&
                   kj_is_record(kj_sema_aggregate(s, type));
    return type == KJ_VOID || is.type == KJ_VOID || is.type == type || records;
}

static bool takes_number(kj_dtype type, kj_known is)
{
    if (is.kind == KJ_R_NONE || (type >= KJ_NTYPES && !kj_is_complex_type(type)))
        return true;
    switch (is.kind) {
    case KJ_R_BOOL: return type == KJ_BOOL;
    case KJ_R_INT: return type != KJ_BOOL;
    case KJ_R_FLOAT: return !kj_is_int(type) && type != KJ_BOOL;
    case KJ_R_COMPLEX: return kj_is_complex_type(type);
    default: return false;
    }
}

static bool has_room(kj_sema *s, const kj_kernel_decl *k, const kj_kernel_param *p, kj_dtype type,
                     const kj_expr *arg, kj_known is)
{
    if (is.kind != KJ_R_INT || !is.literal || !kj_is_int(type) ||
        kj_value_fits((kj_value){.type = KJ_I64, .i = is.value}, type))
        return true;
    kj_message *m =
        kj_sema_error(s, arg->span, KJ_RULE_CONSTANT_RANGE,
                      "kernel '%s': the integer %lld does not fit in '%s' (%s)", k->name,
                      (long long)is.value, p->name, wanted_text(s, k, p, type));
    kj_note(s->diag, m, p->span, "declared here");
    return false;
}

/* What a type parameter is by its arrays; the first tells. */
static bool fix_generic(kj_sema *s, const kj_kernel_decl *k, const kj_kernel_param *p,
                        const kj_expr *arg, kj_known is, kj_dtype *generics)
{
    const kj_generic *g = generic_of(k, p);
    if (generics[p->generic] != KJ_VOID || is.type == KJ_VOID)
        return true;
    generics[p->generic] = is.type;
    if (kj_type_in_bound(is.type, g->bound))
        return true;
    kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_GENERIC_BOUND,
                                  "kernel '%s': '%s' is of %s, but %s stands for %s types", k->name,
                                  p->name, kj_sema_type_name(s, is.type), g->name,
                                  strcmp(g->bound, "number") == 0 ? "number" : g->bound);
    kj_note(s->diag, m, p->span, "declared here");
    return false;
}

void kj_sema_run_arguments(kj_sema *s, const kj_kernel_decl *k, const kj_expr *const *args)
{
    kj_dtype *generics = KJ_NEW_ARRAY(s->arena, kj_dtype, (size_t)k->ngenerics + 1);
    for (int i = 0; i < k->ngenerics; i++)
        generics[i] = KJ_VOID;
    for (int arrays = 1; arrays >= 0; arrays--) /* which fix the types, as at a launch */
        for (int i = 0; i < k->nparams; i++) {
            const kj_kernel_param *p = &k->params[i];
            if (!args[i] || (p->ndim > 0) != arrays)
                continue;
            kj_dtype type = p->generic >= 0 ? generics[p->generic] : p->type;
            kj_known is = kj_run_known(s, args[i]);
            if (arrays ? !takes_array(s, p, type, is) : !takes_number(type, is)) {
                wrong_argument(s, k, p, type, args[i], is);
                return;
            }
            if (!arrays && !has_room(s, k, p, type, args[i], is))
                return;
            if (arrays && p->generic >= 0 && !fix_generic(s, k, p, args[i], is, generics))
                return;
        }
}

/* ---- The grid and the block ---- */

/* The extents, 0 where they are not known; how many there are. */
static int extents_of(kj_sema *s, const kj_expr *e, int64_t out[3])
{
    const kj_expr *item = e->kind == KJ_E_TUPLE ? e->u.list.items : e;
    int n = 0;
    for (; item && n < 3; item = e->kind == KJ_E_TUPLE ? item->next : NULL) {
        kj_known k = kj_run_known(s, item);
        out[n++] = k.kind == KJ_R_INT && k.literal ? k.value : 0;
    }
    return n;
}

typedef struct array_walk {
    kj_sema *s;
    const kj_expr *found; /* the first name of an array; or NULL */
} array_walk;

static void find_array(void *ctx, const kj_expr *e)
{
    array_walk *w = ctx;
    if (w->found || e->kind == KJ_E_MEMBER)
        return;
    if (e->kind == KJ_E_NAME && kj_run_known(w->s, e).kind == KJ_R_ARRAY)
        w->found = e;
    kj_each_part(e, find_array, w);
}

/* k[a // 32, 32], where the elements of a are meant. */
static void hint_elements(kj_sema *s, kj_message *m, const kj_expr *e)
{
    array_walk w = {s, NULL};
    find_array(&w, e);
    if (!w.found)
        return;
    kj_hint(s->diag, m, "write len(%s), which is how many it has along its first axis",
            w.found->u.name);
    kj_fix(s->diag, m, w.found->span, "len(%s)", w.found->u.name);
}

static void check_kind(kj_sema *s, const kj_expr *e, const char *what)
{
    for (const kj_expr *item = e->kind == KJ_E_TUPLE ? e->u.list.items : e; item;
         item = e->kind == KJ_E_TUPLE ? item->next : NULL) {
        kj_known k = kj_run_known(s, item);
        bool tuple = k.kind == KJ_R_TUPLE || k.kind == KJ_R_LIST;
        if (k.kind == KJ_R_NONE || k.kind == KJ_R_INT || (tuple && item == e))
            continue;
        kj_message *m =
            kj_sema_error(s, item->span, KJ_RULE_LAUNCH,
                          "a %s is an int or a tuple of ints, not %s", what, kj_rkind_name(k.kind));
        if (k.kind == KJ_R_ARRAY)
            hint_elements(s, m, item);
        if (k.kind == KJ_R_FLOAT)
            kj_hint(s->diag, m, "// divides to an int, ceil_div(n, m) rounds up");
        return;
    }
}

static void check_threads(kj_sema *s, const kj_expr *e, const kj_kernel_decl *k)
{
    int64_t extents[3] = {0}, threads = 1;
    int n = extents_of(s, e, extents), bound = k->launch_bounds[0];
    int most = bound > 0 && bound < MAX_THREADS ? bound : MAX_THREADS;
    for (int i = 0; i < n; i++) {
        if (extents[i] < 1 || extents[i] > INT32_MAX)
            extents[i] = extents[i] < 1 ? 1 : INT32_MAX; /* not known, or too many anyway */
        threads *= extents[i];
        threads = threads > INT32_MAX ? INT32_MAX : threads;
    }
    if (threads > most) {
        kj_message *m = kj_sema_error(
            s, e->span, KJ_RULE_LAUNCH, "a block of %lld threads: at most %d%s", (long long)threads,
            most, most < MAX_THREADS ? ", by the kernel's @launch_bounds" : "");
        if (most < MAX_THREADS)
            kj_note(s->diag, m, k->item->name_span, "declared here");
    } else if (n == 3 && extents[2] > MAX_DEPTH) {
        kj_sema_error(s, e->span, KJ_RULE_LAUNCH,
                      "a block of %lld threads along its third axis: at most %d",
                      (long long)extents[2], MAX_DEPTH);
    }
}

void kj_sema_run_configuration(kj_sema *s, const kj_kernel_decl *k, const kj_expr *grid,
                               const kj_expr *block)
{
    check_kind(s, grid, "grid");
    check_kind(s, block, "block");
    check_threads(s, block, k);
}
