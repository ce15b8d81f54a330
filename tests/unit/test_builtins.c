/* Each row of builtins.def: a call of it compiles for the CPU and for a GPU; what can be folded is,
 * to what the code gives; and no function of numbers gives back its first argument. The calls are
 * made from the signatures; those that sema checks itself have a line of their own. */
#include "parsed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compile.h"
#include "device/cpu/cpu.h"
#include "lang/signature.h"
#include "sema/program.h"

enum { BLOCK = 64, MOST = 4 };

/* ---- Calls that no signature describes ---- */

static const char frame[] = "kernel k(x: f32[], n: i32[], u: u32[], v: f32x4[]) {\n"
                            "    let i = grid(1)\n"
                            "    %s\n"
                            "}\n";

static const char *const lines[KJ_NBUILTINS] = {
    [KJ_BI_GRID] = "n[grid(1)] = 1",
    [KJ_BI_GRIDSIZE] = "n[i] = i32(gridsize(1))",
    [KJ_BI_THREADIDX] = "n[i] = i32(threadIdx.x)",
    [KJ_BI_BLOCKIDX] = "n[i] = i32(blockIdx.x)",
    [KJ_BI_BLOCKDIM] = "n[i] = i32(blockDim.x)",
    [KJ_BI_GRIDDIM] = "n[i] = i32(gridDim.x)",
    [KJ_BI_LANEID] = "n[i] = i32(laneid)",
    [KJ_BI_WARPSIZE] = "n[i] = i32(warpsize)",
    [KJ_BI_SHARED_ARRAY] = "let s = shared.array(64, f32); s[threadIdx.x] = x[i]; syncthreads()\n"
                           "x[i] = s[63 - threadIdx.x]",
    [KJ_BI_LOCAL_ARRAY] = "let s = local.array(4, f32); s[i % 4] = x[i]; x[i] = s[n[i]]",
    [KJ_BI_LDCA] = "x[i] = ldca(x, i) + 1.0",
    [KJ_BI_LDCG] = "x[i] = ldcg(x, i) + 1.0",
    [KJ_BI_LDCS] = "x[i] = ldcs(x, i) + 1.0",
    [KJ_BI_LDLU] = "x[i] = ldlu(x, i) + 1.0",
    [KJ_BI_LDCV] = "x[i] = ldcv(x, i) + 1.0",
    [KJ_BI_STCG] = "stcg(x, i, 1.0)",
    [KJ_BI_STCS] = "stcs(x, i, 1.0)",
    [KJ_BI_STWB] = "stwb(x, i, 1.0)",
    [KJ_BI_STWT] = "stwt(x, i, 1.0)",
    [KJ_BI_ATOMIC_ADD] = "x[i] = atomic.add(x, 0, 1.0)",
    [KJ_BI_ATOMIC_SUB] = "n[i] = atomic.sub(n, 0, 1)",
    [KJ_BI_ATOMIC_MIN] = "n[i] = atomic.min(n, 0, 1)",
    [KJ_BI_ATOMIC_MAX] = "x[i] = atomic.max(x, 0, 1.0)",
    [KJ_BI_ATOMIC_NANMIN] = "x[i] = atomic.nanmin(x, 0, 1.0)",
    [KJ_BI_ATOMIC_NANMAX] = "x[i] = atomic.nanmax(x, 0, 1.0)",
    [KJ_BI_ATOMIC_AND] = "n[i] = atomic.and_(n, 0, 1)",
    [KJ_BI_ATOMIC_OR] = "n[i] = atomic.or_(n, 0, 1)",
    [KJ_BI_ATOMIC_XOR] = "n[i] = atomic.xor(n, 0, 1)",
    [KJ_BI_ATOMIC_INC] = "u[i] = atomic.inc(u, 0, 7)",
    [KJ_BI_ATOMIC_DEC] = "u[i] = atomic.dec(u, 0, 7)",
    [KJ_BI_ATOMIC_EXCH] = "x[i] = atomic.exch(x, 0, 1.0)",
    [KJ_BI_ATOMIC_CAS] = "n[i] = atomic.cas(n, 0, 1, 2)",
    [KJ_BI_ATOMIC_COMPARE_AND_SWAP] = "n[i] = atomic.compare_and_swap(n, 1, 2)",
    [KJ_BI_ASSERT] = "assert(n[i] > 0, \"more\")",
    [KJ_BI_PRINT] = "print(\"n\", n[i], x[i])",
    [KJ_BI_RANGE] = "for j in range(n[i]) { x[i] += 1.0 }",
    [KJ_BI_ENUMERATE] = "for j, y in enumerate(n) { x[i] += f32(j * y) }",
    [KJ_BI_ZIP] = "for y, z in zip(n, v) { x[i] += f32(y) * z.x }",
    [KJ_BI_LEN] = "n[i] = i32(len(x))",
    [KJ_BI_SUM] = "x[i] = sum(x[:4])",
    [KJ_BI_PROD] = "x[i] = prod(x[:4])",
    [KJ_BI_MEAN] = "x[i] = mean(n[:4])",
    [KJ_BI_DOT] = "x[i] = dot(v[i], v[i])",
    [KJ_BI_ALL] = "n[i] = i32(all((x[i] > 0.0, x[i] < 1.0)))",
    [KJ_BI_ANY] = "n[i] = i32(any((x[i] > 0.0, x[i] < 1.0)))",
    [KJ_BI_RANDOM_UNIFORM] = "x[i] = random.uniform(1, i)",
    [KJ_BI_RANDOM_NORMAL] = "x[i] = random.normal(1, i)",
    [KJ_BI_RANDOM_RANDINT] = "n[i] = random.randint(0, 10, 1, i)",
};

/* ---- Calls made from a signature ---- */

/* Which types its letters are. */
typedef struct types {
    kj_dtype real, integer, number, complex;
} types;

static const types kinds[] = {{KJ_F32, KJ_I32, KJ_F32, KJ_C64},
                              {KJ_F64, KJ_I64, KJ_F64, KJ_C128},
                              {KJ_F64, KJ_U8, KJ_I32, KJ_C128},
                              {KJ_F32, KJ_U64, KJ_I64, KJ_C64}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static kj_dtype type_of(char letter, const types *t)
{
    switch (letter) {
    case 'f': return t->real;
    case 'i': return t->integer;
    case 'n': return t->number;
    case 'z': return t->complex;
    case 'w': return t->integer == KJ_I32 ? KJ_I32 : KJ_U32;
    case 'b': return KJ_BOOL;
    case 'd': return KJ_I32;
    case 'm': return KJ_U32;
    case 's': return KJ_F32;
    case 'g': return KJ_F64;
    default: fail_msg("a signature with '%c': this test is to learn it", letter); return KJ_VOID;
    }
}

/* Of a call: the results' types, then the arguments'; masks are literals. */
typedef struct call {
    kj_builtin id;
    kj_dtype results[MOST], args[MOST];
    int nresults, nargs;
    char text[600];
} call;

static void make_call(call *c, kj_builtin id, const types *t)
{
    const kj_builtin_info *row = &kj_builtins[id];
    const char *s = row->signature, *open = strchr(s, '(');
    char given[80] = "", params[300] = "", taken[80] = "", kept[160] = "";
    size_t p = 0, g = 0, k = 0, r = 0;
    *c = (call){.id = id};
    assert_non_null(open);
    for (; s < open && *s != 'v'; s++) {
        kj_dtype type = c->results[c->nresults] = type_of(*s, t);
        int i = c->nresults++;
        r += (size_t)snprintf(taken + r, sizeof taken - r, "%sr%d", i ? ", " : "", i);
        k += (size_t)snprintf(kept + k, sizeof kept - k, "    o%d[i] = r%d\n", i, i);
        p += (size_t)snprintf(params + p, sizeof params - p, "o%d: %s[], ", i, kj_type_name(type));
    }
    for (s = open + 1; *s != ')'; s++) {
        const char *comma = s > open + 1 ? ", " : "";
        if (*s == 'm') {
            g += (size_t)snprintf(given + g, sizeof given - g, "%s0xffffffff", comma);
            continue;
        }
        kj_dtype type = c->args[c->nargs] = type_of(*s, t);
        int i = c->nargs++;
        g += (size_t)snprintf(given + g, sizeof given - g, "%sa%d[i]", comma, i);
        p += (size_t)snprintf(params + p, sizeof params - p, "a%d: %s[], ", i, kj_type_name(type));
    }
    snprintf(c->text, sizeof c->text,
             "kernel k(%send: f32[]) {\n    let i = grid(1)\n    %s%s%s%s(%s)\n%s}\n", params,
             r ? "let " : "", taken, r ? " = " : "", row->name, given, kept);
}

/* The call with types number i; false where those before it gave the same. */
static bool make_new_call(call *c, kj_builtin id, int i)
{
    make_call(c, id, &kinds[i]);
    for (int before = 0; before < i; before++) {
        call other;
        make_call(&other, id, &kinds[before]);
        if (strcmp(other.text, c->text) == 0)
            return false;
    }
    return true;
}

/* ---- Compiling ---- */

typedef struct compiled {
    parsed p;
    kj_records *records;
    kj_code code;
} compiled;

static void compile(compiled *c, const char *text, const char *arch, int level, int block)
{
    static const kj_layout layouts[2 * MOST + 1] = {KJ_LAYOUT_C};
    static const kj_dtype none[1];
    parse_text(&c->p, text);
    c->records = kj_records_new();
    const kj_program *program =
        c->p.diag.errors
            ? NULL
            : kj_sema_program(&c->p.arena, &c->p.diag, &c->p.file, 1, c->records, false);
    kj_spec spec = {.generics = none, .block = {block, 1, 1}, .small = true, .layouts = layouts};
    kj_compile_options options = {.opt_level = level, .verify = true, .arch = arch};
    if (!program || c->p.diag.errors > 0 ||
        !kj_compile(&c->p.arena, &c->p.diag, program, program->kernels, &spec, &options,
                    KJ_STAGE_OBJECT, &c->code))
        fail_msg("%s\n%s", text, kj_diag_text(&c->p.diag));
}

static void end(compiled *c)
{
    kj_code_free(&c->code);
    close_text(&c->p);
    kj_records_free(c->records);
}

static void compile_for_both(const char *text)
{
    static const char *const targets[] = {NULL, "sm_90"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        compiled c;
        compile(&c, text, targets[i], 0, BLOCK);
        end(&c);
    }
}

static void every_row_compiles(void **state)
{
    (void)state;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const kj_builtin_info *row = &kj_builtins[id];
        bool special = row->signature[0] == '*';
        if (special != (lines[id] != NULL))
            fail_msg("'%s' %s", row->name, special ? "has no call here" : "has a call twice");
        if (special) {
            char text[600];
            assert_non_null(strstr(lines[id], row->name));
            snprintf(text, sizeof text, frame, lines[id]);
            compile_for_both(text);
            continue;
        }
        for (int i = 0; i < KINDS; i++) {
            call c;
            if (make_new_call(&c, (kj_builtin)id, i))
                compile_for_both(c.text);
        }
    }
}

/* ---- Results ---- */

/* Arguments that no function gives back; integers are these without their fractions. */
static const double usual[MOST] = {12.75, 5.5, 7.25, 3.5};

static const struct {
    kj_builtin id;
    double args[MOST];
} others[] = {
    {KJ_BI_MAX, {5.5, 12.75}}, {KJ_BI_ABS, {-12.75}},           {KJ_BI_FABS, {-12.75}},
    {KJ_BI_ASIN, {0.375}},     {KJ_BI_ACOS, {0.375}},           {KJ_BI_ATANH, {0.375}},
    {KJ_BI_ERF, {0.375}},      {KJ_BI_ERFC, {0.375}},           {KJ_BI_TANH, {0.375}},
    {KJ_BI_ERFINV, {0.375}},   {KJ_BI_NORMCDFINV, {0.375}},     {KJ_BI_ERFCINV, {0.375}},
    {KJ_BI_GAMMA, {3.75}},     {KJ_BI_COPYSIGN, {12.75, -5.5}}, {KJ_BI_SELP, {0, 5.5, 7.25}},
};

static double argument(kj_builtin id, int i)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (others[k].id == id)
            return others[k].args[i];
    return usual[i];
}

/* Groups whose functions are of numbers, and say what they are in a signature. */
static bool is_of_numbers(const kj_builtin_info *row)
{
    static const char *const groups[] = {"arithmetic", "bits", "math", "complex"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(row->group, groups[i]) == 0)
            return row->signature[0] != '*';
    return false;
}

static kj_dtype part_of(kj_dtype type)
{
    return type == KJ_C64 ? KJ_F32 : type == KJ_C128 ? KJ_F64 : type;
}

static int parts(kj_dtype type)
{
    return part_of(type) == type ? 1 : 2;
}

static kj_value value_of(kj_dtype type, double x)
{
    return kj_fold_convert(kj_float(KJ_F64, x), type);
}

/* Arrays of 16 bytes an element, so of every type. */
typedef struct memory {
    double args[MOST][2 * BLOCK], results[MOST][2 * BLOCK], last[2];
} memory;

static void put_array(kj_host_launch *launch, int *n, void *data)
{
    launch->slots[(*n)++] = (uint64_t)(uintptr_t)data;
    launch->slots[(*n)++] = BLOCK;
    launch->slots[(*n)++] = 1;
}

static void run(const call *c, const compiled *made, memory *m, int block)
{
    kj_exec *exec;
    kj_failure why;
    kj_host_fault fault = {0};
    int n = 0;
    kj_host_launch *launch = calloc(1, sizeof *launch + 3 * (2 * MOST + 1) * sizeof(uint64_t));
    *launch =
        (kj_host_launch){.grid = {BLOCK / block, 1, 1}, .block = {block, 1, 1}, .fault = &fault};
    for (int i = 0; i < c->nresults; i++)
        put_array(launch, &n, m->results[i]);
    for (int i = 0; i < c->nargs; i++)
        put_array(launch, &n, m->args[i]);
    put_array(launch, &n, m->last);
    assert_int_equal(kj_cpu_load(NULL, &made->code, &exec, &why), KJIT_OK);
    void *scratch = aligned_alloc(64, (size_t)made->code.scratch + 64);
    assert_int_equal(exec->entry(launch, 0, BLOCK / block, scratch), KJ_HOST_DONE);
    free(scratch);
    free(launch);
    kj_unload(NULL, exec, &why);
}

static void fill(const call *c, memory *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < c->nargs; i++) {
        kj_dtype type = part_of(c->args[i]);
        for (int64_t e = 0; e < BLOCK * parts(c->args[i]); e++)
            kj_value_write(m->args[i], e, value_of(type, argument(c->id, i)));
    }
}

static bool same(kj_value a, kj_value b)
{
    if (a.type != b.type || !kj_is_float(a.type))
        return a.type == b.type && a.u == b.u;
    return a.f == b.f && signbit(a.f) == signbit(b.f);
}

/* Does the call fold, to what the code gave? */
static void check_folded(const call *c, const memory *m)
{
    kj_value args[MOST], folded;
    for (int i = 0; i < c->nargs; i++)
        args[i] = kj_value_read(m->args[i], c->args[i], 0);
    for (int part = 0; part < c->nresults; part++) {
        if (!kj_fold_builtin(c->id, part, args, c->nargs, &folded))
            fail_msg("'%s' of constants is none", kj_builtins[c->id].name);
        if (!same(folded, kj_value_read(m->results[part], c->results[part], 0)))
            fail_msg("'%s' folds to what the code does not give:\n%s", kj_builtins[c->id].name,
                     c->text);
    }
}

/* All threads have the same results, which are numbers, and of a result one is new. */
static void check_results(const call *c, const memory *m)
{
    double first = kj_fold_convert(value_of(part_of(c->args[0]), argument(c->id, 0)), KJ_F64).f;
    for (int r = 0; r < c->nresults; r++) {
        kj_dtype type = part_of(c->results[r]);
        int n = parts(c->results[r]);
        bool changed = kj_builtin_converts(c->id); /* these keep what the type holds */
        for (int64_t e = 0; e < (int64_t)BLOCK * n; e++) {
            kj_value v = kj_value_read(m->results[r], type, e);
            double x = kj_fold_convert(v, KJ_F64).f;
            if (!same(v, kj_value_read(m->results[r], type, e % n)) || isnan(x))
                fail_msg("'%s', element %d: %g\n%s", kj_builtins[c->id].name, (int)e, x, c->text);
            changed = changed || x != first;
        }
        if (!changed)
            fail_msg("'%s' gives its first argument:\n%s", kj_builtins[c->id].name, c->text);
    }
}

/* The first of a row's types runs in a block and in blocks of one thread, of the others each in one of the two;
 * KJIT_TEST_ALL=1: all in both. */
static void no_row_is_the_identity(void **state)
{
    static const int blocks[] = {BLOCK, 1};
    bool every = getenv("KJIT_TEST_ALL") != NULL;
    int turn = 0;
    static memory m;
    (void)state;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const kj_builtin_info *row = &kj_builtins[id];
        for (int i = 0; i < KINDS && is_of_numbers(row); i++) {
            call c;
            if (!make_new_call(&c, (kj_builtin)id, i))
                continue;
            turn++;
            for (int b = 0; b < 2; b++) {
                if (!every && i > 0 && (turn + b) % 2)
                    continue;
                compiled made;
                compile(&made, c.text, NULL, 3, blocks[b]);
                fill(&c, &m);
                run(&c, &made, &m, blocks[b]);
                check_results(&c, &m);
                if (row->how == KJ_HOW_LLVM || row->how == KJ_HOW_CODE)
                    check_folded(&c, &m);
                end(&made);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_compiles),
        cmocka_unit_test(no_row_is_the_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
