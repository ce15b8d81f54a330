/* One specialisation of a kernel: attributes, parameters, requires, body. */
#include <string.h>

#include "analysis/uniform.h"
#include "base/guard.h"
#include "sema/file/file.h"
#include "warn/warn.h"

/* ---- Attributes ---- */

/* An attribute's number, from 1 to `most`; false after an error that says so with `range`. */
static bool read_number(kj_sema *s, const kj_expr *arg, int most, const char *range, int *out)
{
    int64_t n;
    if (!kj_integer_const(s, arg, "this number", &n))
        return false;
    if (n < 1 || n > most) {
        kj_sema_error(s, arg->span, KJ_RULE_ATTRIBUTE, "%s, not %lld", range, (long long)n);
        return false;
    }
    *out = (int)n;
    return true;
}

static void read_bounds(kj_sema *s, const kj_attr *attr, int bounds[2])
{
    const kj_expr *threads = attr->args, *blocks = threads ? threads->next : NULL;
    if (!threads)
        kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                      "@launch_bounds needs the most threads of a block");
    else if (blocks && blocks->next)
        kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                      "@launch_bounds takes the most threads and the least blocks");
    else if (read_number(s, threads, 1024, "a block has 1 to 1024 threads", &bounds[0]) && blocks)
        read_number(s, blocks, INT32_MAX, "at least 1 block is meant", &bounds[1]);
}

static void read_registers(kj_sema *s, const kj_attr *attr, int *most)
{
    if (!attr->args || attr->args->next)
        kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                      "@max_registers takes the most registers of a thread");
    else
        read_number(s, attr->args, 255, "a thread has 1 to 255 registers", most);
}

/* Of an attribute that says no more than its name; NULL: it is another. */
static bool *flag_of(const kj_attr *attr, kj_tkernel *k)
{
    return strcmp(attr->name, "fastmath") == 0    ? &k->fastmath
           : strcmp(attr->name, "unchecked") == 0 ? &k->unchecked
                                                  : NULL;
}

bool kj_kernel_attrs(kj_sema *s, const kj_item *item, kj_tkernel *k)
{
    static const char *const known[] = {"launch_bounds", "max_registers", "fastmath", "unchecked"};
    int before = s->diag->errors;
    for (const kj_attr *attr = item->attrs; attr; attr = attr->next) {
        if (strcmp(attr->name, "launch_bounds") == 0) {
            read_bounds(s, attr, k->launch_bounds);
        } else if (strcmp(attr->name, "max_registers") == 0) {
            read_registers(s, attr, &k->max_registers);
        } else if (flag_of(attr, k) && !attr->args) {
            *flag_of(attr, k) = true;
        } else if (flag_of(attr, k)) {
            kj_sema_error(s, attr->args->span, KJ_RULE_ATTRIBUTE, "@%s takes no arguments",
                          attr->name);
        } else {
            kj_message *m = kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                                          "'@%s' is no attribute of a kernel", attr->name);
            const char *near = kj_nearest(attr->name, known, sizeof known / sizeof *known);
            const char *timing = kj_habit_timing(attr->name);
            if (near)
                kj_hint(s->diag, m, "did you mean '@%s'?", near);
            else if (timing)
                kj_hint(s->diag, m, "%s", timing);
            else
                kj_hint(s->diag, m,
                        "a kernel takes @launch_bounds(threads, blocks), "
                        "@max_registers(most), @fastmath and @unchecked");
        }
    }
    return s->diag->errors == before;
}

/* ---- Parameters ---- */

static kj_operand const_param(kj_sema *s, const kj_spec *spec, int nth, const kj_type *t,
                              const kj_param_decl *p)
{
    if (t->kind != KJ_T_SCALAR)
        return kj_no_value(p->span);
    return kj_scalar(kj_te_const(s, kj_fold_convert(spec->consts[nth], t->dtype), p->span));
}

static kj_texpr *scalar_param(kj_sema *s, void *ctx, const kj_field *part)
{
    const kj_param_decl *p = ctx;
    kj_tkernel *k = s->kernel;
    const char *name = p->name;
    if (part->name)
        name = kj_arena_printf(s->arena, "%s.%s", name, part->name);
    kj_var *var = kj_new_var(s, name, p->span, part->type, false);
    var->param = k->nparams;
    k->params[k->nparams++] = (kj_tparam){.name = name, .var = var};
    return kj_te_var(s, var, p->span);
}

/* Parameters of the typed kernel: of several scalars each is one. */
static size_t count_params(kj_records *records, const kj_kernel_decl *decl, const kj_spec *spec)
{
    size_t n = 1;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        kj_dtype type = p->generic >= 0 ? spec->generics[p->generic] : p->type;
        const kj_aggregate *of = p->ndim == 0 ? kj_aggregate_in(records, type) : NULL;
        n += of ? (size_t)kj_count_parts(of) : 1;
    }
    return n;
}

/* Said once, at the parameter that is too many. */
static void limit_params(kj_sema *s, const kj_param_decl *p, int declared, int before)
{
    int now = s->kernel->nparams;
    if ((declared > KJ_MAX_PARAMS || now > KJ_MAX_PARAMS) && declared <= KJ_MAX_PARAMS + 1 &&
        before <= KJ_MAX_PARAMS)
        kj_hint(s->diag,
                kj_sema_error(s, p->span, KJ_RULE_TOO_LARGE, "a kernel has at most %d parameters",
                              KJ_MAX_PARAMS),
                "each number of a record, vector or complex number counts: an array takes many");
}

static void declare_params(kj_sema *s, const kj_kernel_decl *decl, const kj_spec *spec)
{
    kj_tkernel *k = s->kernel;
    int i = 0, nconst = 0;
    k->params = KJ_NEW_ARRAY(s->arena, kj_tparam, count_params(s->program->records, decl, spec));
    for (const kj_param_decl *p = decl->item->params; p; p = p->next, i++) {
        kj_type t = kj_resolve_type(s, p->type);
        kj_operand v = kj_no_value(p->span);
        kj_param_decl own = *p;
        int before = k->nparams;
        if (p->is_const) {
            v = const_param(s, spec, nconst++, &t, p);
        } else if (t.kind == KJ_T_SCALAR) {
            v = kj_scalar(scalar_param(s, &own, &(kj_field){.type = t.dtype}));
        } else if (t.kind == KJ_T_AGGREGATE) {
            v = kj_build(s, t.of, scalar_param, &own, p->span);
        } else if (t.kind == KJ_T_TUPLE && decl->params[i].type != KJ_VOID) {
            const kj_aggregate *of = kj_sema_aggregate(s, decl->params[i].type);
            v = kj_tuple_of_record(s, kj_build(s, of, scalar_param, &own, p->span));
        } else if (t.kind == KJ_T_ARRAY) {
            kj_layout layout = spec->layouts ? spec->layouts[i] : KJ_LAYOUT_C;
            v = (kj_operand){.kind = KJ_V_ARRAY, .span = p->span};
            v.u.array = kj_param_array(s, p->name, p->span, &t, layout, k->nparams);
            v.u.array->last = spec->lasts ? spec->lasts[i] : 0;
            k->params[k->nparams++] = (kj_tparam){.name = p->name, .array = v.u.array};
        }
        limit_params(s, p, i + 1, before);
        kj_declare_value(s, p->name, p->span, KJ_ROLE_PARAM, v);
    }
}

/* ---- requires ---- */

/* Of a kernel that kernels launch: its threads see to it. */
static void assert_require(kj_sema *s, const kj_stmt *st)
{
    kj_texpr *test = kj_condition(s, kj_expr_value(s, st->u.expr, KJ_VOID), "a requirement");
    if (test)
        kj_emit_assert(s, st->u.expr, test, KJ_SITE_REQUIRES, "requirement not met", NULL);
}

static void add_require(kj_sema *s, const kj_stmt *st, kj_trequire ***tail)
{
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_texpr *test = kj_condition(s, kj_expr_value(s, st->u.expr, KJ_VOID), "a requirement");
    bool extra = false;
    for (const kj_tstmt *made = kj_sink_close(s, &sink); made; made = made->next)
        extra |= made->kind != KJ_TS_DECL || made->u.decl.var->mutable;
    if (!test)
        return;
    kj_span bad = st->u.expr->span;
    kj_texpr *host = extra ? NULL : kj_host_expr(s, test, &bad);
    if (!host) {
        kj_message *m =
            kj_sema_error(s, bad, KJ_RULE_REQUIRES, "a requirement is checked before the launch");
        kj_hint(s->diag, m, "it may use parameters, array shapes, blockDim and gridDim");
        return;
    }
    if (kj_is_const(host) && host->u.value.u != 0)
        return;
    kj_trequire *r = KJ_NEW(s->arena, kj_trequire);
    r->span = st->u.expr->span;
    r->test = host;
    **tail = r;
    *tail = &r->next;
}

/* ---- The whole ---- */

static void give_sites(const kj_sema *s, kj_tkernel *k)
{
    k->sites = s->sites;
    k->nsites = s->nsites;
    for (int i = 0; i < s->nsites; i++)
        k->prints |= !s->sites[i]->fault;
}

static void finish(kj_sema *s, kj_tkernel *k)
{
    for (int i = 0; i < s->nvars; i++)
        s->vars[i].var->mutable = s->vars[i].assigned;
    k->roots = s->roots;
    k->nroots = s->nroots;
    k->nvars = s->nvars;
    give_sites(s, k);
}

static kj_tkernel *build(kj_sema *s, const kj_kernel_decl *decl, const kj_spec *spec)
{
    const kj_item *item = decl->item;
    kj_tkernel *k = KJ_NEW(s->arena, kj_tkernel);
    kj_frame f = {.item = item, .fn = -1, .call = item->name_span, .result = {.kind = KJ_T_NONE}};
    int before = s->diag->errors;
    k->name = decl->name;
    k->span = item->name_span;
    k->item = (kj_span){item->span.begin, item->end.end};
    k->child = s->child;
    memcpy(k->block, spec->block, sizeof k->block);
    k->small = spec->small;
    k->checks = spec->checks;
    k->disjoint = spec->disjoint;
    k->aligned = spec->aligned;
    k->wide = spec->wide;
    k->polls = spec->polls;
    k->untrusted = spec->untrusted;
    k->body = KJ_NEW(s->arena, kj_tblock);
    *k->body = (kj_tblock){.span = item->name_span, .name = item->name};
    f.block = k->body;
    s->kernel = k;
    s->spec = spec;
    s->frame = &f;
    s->scope = kj_scope_new(s->arena, item->file->scope);
    if (s->child == 0 && s->family)
        s->family = k;
    kj_kernel_attrs(s, item, k);
    int i = 0;
    for (const kj_generic *g = item->generics; g; g = g->next, i++) {
        kj_declare(s, g->name, g->span, KJ_SYM_TYPE)->type = spec->generics[i];
        f.bindings =
            kj_arena_printf(s->diag->arena, "%s%s%s = %s", i ? f.bindings : "", i ? ", " : "",
                            g->name, kj_sema_type_name(s, spec->generics[i]));
    }
    declare_params(s, decl, spec);
    kj_trequire **tail = &k->requires;
    const kj_stmt *st = item->body;
    for (; !s->child && st && st->kind == KJ_S_REQUIRES; st = st->next)
        add_require(s, st, &tail);
    kj_sink sink;
    kj_sink_open(s, &sink);
    for (; st && st->kind == KJ_S_REQUIRES; st = st->next)
        assert_require(s, st);
    kj_own_params(s, item);
    kj_stmts(s, st, true);
    k->body->barrier = sink.barrier;
    k->body->body = kj_sink_close(s, &sink);
    finish(s, k);
    if (s->diag->errors == before) {
        kj_warn_of_types(s->diag, s->program->file, k->body->body);
        kj_warn_of_same_element(s->arena, s->diag, k);
    }
    if (k->grid_sync && k->launches)
        kj_sema_error(s, k->grid_sync->span, KJ_RULE_LAUNCH,
                      "a kernel that launches others has no grid_sync()");
    else if (k->grid_sync && s->diag->errors == before && !kj_is_guessing(s))
        kj_check_grid(s->arena, s->diag, k);
    /* else statements are missing of what is right, for all that anybody was told */
    KJ_REQUIRE(!s->too_big || s->diag->errors > before);
    KJ_REQUIRE(!s->lost || s->diag->errors > 0);
    s->frame = NULL;
    s->kernel = NULL;
    return k;
}

typedef struct kernel_walk {
    const kj_kernel_decl *decl;
    const kj_spec *spec;
    kj_tkernel *made;
} kernel_walk;

static void walk_kernel(kj_sema *s, void *ctx)
{
    kernel_walk *w = ctx;
    w->made = build(s, w->decl, w->spec);
}

kj_tkernel *kj_kernel_build(kj_sema *s, const kj_kernel_decl *decl, const kj_spec *spec)
{
    kernel_walk w = {decl, spec, NULL};
    kj_walk_open(s, walk_kernel, &w);
    return w.made;
}

/* Sites are numbered through the family, which reports in one place. */
static kj_tkernel *build_member(kj_sema *family, const kj_kernel_decl *decl, const kj_spec *spec,
                                int child)
{
    kj_sema s = {.arena = family->arena,
                 .diag = family->diag,
                 .program = family->program,
                 .broken = family->broken,
                 .nfns = family->nfns,
                 .sites = family->sites,
                 .nsites = family->nsites,
                 .site_cap = family->site_cap,
                 .family = family->family,
                 .child = child};
    kj_tkernel *k = kj_kernel_build(&s, decl, spec);
    family->sites = s.sites;
    family->nsites = s.nsites;
    family->site_cap = s.site_cap;
    family->family = s.family;
    return k;
}

/* The kernels that k launches, and those they launch; false after an error. */
static bool build_children(kj_sema *family, kj_tkernel *k)
{
    int before = family->diag->errors;
    for (kj_child *c = k->children; c; c = c->next) {
        c->kernel = build_member(family, c->decl, &c->spec, c->id);
        if (family->diag->errors > before || !kj_child_check(family->diag, c))
            return false;
    }
    for (kj_child *c = k->children; c; c = c->next)
        give_sites(family, c->kernel);
    give_sites(family, k);
    return true;
}

kj_tkernel *kj_sema_kernel(kj_arena *arena, kj_diag *diag, const kj_program *program,
                           const kj_kernel_decl *kernel, const kj_spec *spec)
{
    int before = diag->errors;
    kj_sema s = {.arena = arena, .diag = diag, .program = program};
    s.nfns = program->nitems; /* that many at most */
    s.broken = KJ_NEW_ARRAY(arena, bool, (size_t)s.nfns + 1);
    kj_tkernel unmade = {0};
    s.family = &unmade;
    kj_tkernel *k = build_member(&s, kernel, spec, 0);
    return diag->errors == before && build_children(&s, k) ? k : NULL;
}
