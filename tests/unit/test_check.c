/* What a stage has made, spoilt by hand: the check behind it says so. */
#include <stdlib.h>

#include "analysis/regions.h"
#include "compile.h"
#include "parsed.h"
#include "sema/program.h"
#include "tast/tast.h"

static const char source[] = "kernel k(out: f32[], n: i32) {\n"
                             "    let t = threadIdx.x\n"
                             "    let near = local.array(2, f32)\n"
                             "    var sum = 0.0\n"
                             "    near[0] = f32(t)\n"
                             "    for i in range(n) {\n"
                             "        sum += near[0]\n"
                             "        if sum > 9.0 { break }\n"
                             "    }\n"
                             "    syncthreads()\n"
                             "    out[grid(1)] = sum + near[0]\n"
                             "}\n";

/* The kernel, typed and analysed. */
typedef struct made {
    parsed p;
    kj_records *records;
    kj_tkernel *kernel;
    kj_deps *deps;
    kj_regions *regions;
} made;

static int set_up(void **state)
{
    static const kj_layout layouts[2] = {KJ_LAYOUT_C};
    made *m = *state = calloc(1, sizeof *m);
    parse_text(&m->p, source);
    m->records = kj_records_new();
    const kj_program *program =
        kj_sema_program(&m->p.arena, &m->p.diag, &m->p.file, 1, m->records, false);
    kj_spec spec = {.block = {64, 1, 1}, .small = true, .layouts = layouts};
    assert_int_equal(m->p.diag.errors, 0);
    m->kernel = kj_sema_kernel(&m->p.arena, &m->p.diag, program, program->kernels, &spec);
    m->deps = kj_uniform(&m->p.arena, m->kernel);
    m->regions = kj_cut(&m->p.arena, m->kernel, m->deps);
    return 0;
}

static int tear_down(void **state)
{
    made *m = *state;
    close_text(&m->p);
    kj_records_free(m->records);
    free(m);
    return 0;
}

static void says(const char *wrong, const char *words)
{
    assert_non_null(wrong);
    if (!strstr(wrong, words))
        fail_msg("'%s' and not '%s'", wrong, words);
}

static kj_tstmt *first(const made *m, kj_tstmt_kind kind)
{
    kj_tstmt *s = m->kernel->body->body;
    while (s && s->kind != kind)
        s = s->next;
    assert_non_null(s);
    return s;
}

static kj_var *variable(const made *m, const char *name)
{
    kj_tstmt *s = m->kernel->body->body;
    while (s && !(s->kind == KJ_TS_DECL && strcmp(s->u.decl.var->name, name) == 0))
        s = s->next;
    assert_non_null(s);
    return s->u.decl.var;
}

static const char *tast(const made *m)
{
    return kj_tast_check((kj_arena *)&m->p.arena, m->kernel);
}

static const char *uniform(const made *m)
{
    return kj_uniform_check((kj_arena *)&m->p.arena, m->kernel, m->deps);
}

static const char *regions(const made *m)
{
    return kj_regions_check((kj_arena *)&m->p.arena, m->kernel, m->deps, m->regions);
}

static void all_is_well(void **state)
{
    made *m = *state;
    assert_null(tast(m));
    assert_null(uniform(m));
    assert_null(regions(m));
}

/* ---- The typed AST ---- */

static void type_of_a_store(void **state)
{
    made *m = *state;
    first(m, KJ_TS_STORE)->u.store.value->type = KJ_I32;
    says(tast(m), "what is stored is i32 and not f32");
}

static void no_type(void **state)
{
    made *m = *state;
    first(m, KJ_TS_STORE)->u.store.value->type = KJ_VOID;
    says(tast(m), "an expression has no type");
}

static void undeclared(void **state)
{
    made *m = *state;
    m->kernel->body->body = m->kernel->body->body->next; /* let t */
    says(tast(m), "t#1 is used where it is not declared");
}

static void declared_twice(void **state)
{
    made *m = *state;
    variable(m, "sum")->id = variable(m, "t")->id;
    says(tast(m), "declared twice");
}

static void assigned_let(void **state)
{
    made *m = *state;
    variable(m, "sum")->mutable = false;
    says(tast(m), "is assigned and cannot be");
}

static void array_too_soon(void **state)
{
    made *m = *state;
    kj_tstmt *s = first(m, KJ_TS_DECL); /* let t */
    s->next = s->next->next;
    says(tast(m), "near is used before it is declared");
}

static void break_without_loop(void **state)
{
    made *m = *state;
    first(m, KJ_TS_STORE)->kind = KJ_TS_BREAK;
    says(tast(m), "leaves what is not around it");
}

static void barrier_that_nobody_knows(void **state)
{
    made *m = *state;
    first(m, KJ_TS_BARRIER)->barrier = false;
    says(tast(m), "does not know whether it holds a barrier");
}

/* ---- Uniformity ---- */

static void set_too_small(void **state)
{
    made *m = *state;
    m->deps->var[variable(m, "t")->id] = 0;
    says(uniform(m), "t#1 depends on more than its set has");
}

static void loop_left_by_some(void **state)
{
    made *m = *state;
    first(m, KJ_TS_FOR)->divergence = 0;
    says(uniform(m), "threads leave a loop that does not say so");
}

/* ---- Regions ---- */

static kj_node *first_region(const made *m)
{
    kj_node *n = m->regions->body;
    while (n && n->kind != KJ_N_REGION)
        n = n->next;
    assert_non_null(n);
    return n;
}

static void statement_left_out(void **state)
{
    made *m = *state;
    kj_node *n = first_region(m);
    n->stmt = n->stmt->next;
    says(regions(m), "a statement is in no region, or in two");
}

static void last_left_out(void **state)
{
    made *m = *state;
    kj_node *n = m->regions->body;
    while (n->next->next)
        n = n->next;
    n->next = NULL;
    says(regions(m), "a statement is in no region");
}

static void numbered_twice(void **state)
{
    made *m = *state;
    kj_node *n = first_region(m);
    while (n->next)
        n = n->next;
    n->region = first_region(m)->region;
    says(regions(m), "there are two regions");
}

static void not_kept(void **state)
{
    made *m = *state;
    m->regions->places[variable(m, "sum")->id].home = KJ_HOME_GANG;
    m->regions->places[variable(m, "sum")->id].region = 0;
    says(regions(m), "sum#2 is used outside of its one region");
}

static void shared_by_mistake(void **state)
{
    made *m = *state;
    m->regions->places[variable(m, "sum")->id].home = KJ_HOME_BLOCK;
    says(regions(m), "threads share sum#2 and differ about it");
}

static void need_not_told(void **state)
{
    made *m = *state;
    memset(m->regions->uses, 0, 8 * (size_t)(m->regions->words * m->regions->nregions));
    says(regions(m), "does not say that it needs");
}

static void array_not_kept(void **state)
{
    made *m = *state;
    memset(m->regions->crossing, 0, (size_t)m->kernel->nroots);
    says(regions(m), "local array near is not kept between two regions");
}

int main(void)
{
#define CHECK(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CHECK(all_is_well),       CHECK(type_of_a_store),    CHECK(no_type),
        CHECK(undeclared),        CHECK(declared_twice),     CHECK(assigned_let),
        CHECK(array_too_soon),    CHECK(break_without_loop), CHECK(barrier_that_nobody_knows),
        CHECK(set_too_small),     CHECK(loop_left_by_some),  CHECK(statement_left_out),
        CHECK(last_left_out),     CHECK(numbered_twice),     CHECK(not_kept),
        CHECK(shared_by_mistake), CHECK(need_not_told),      CHECK(array_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
