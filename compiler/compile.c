/* The pipeline. Once a program, kj_read: text -> tokens -> AST, of the file and those that it uses
 * (gather.c) -> declarations, every body checked. Once a specialisation, kj_compile: AST -> typed AST ->
 * uniformity and regions -> LLVM IR -> optimised IR -> object or PTX. Each step does nothing after an
 * error, or behind the stage that is wanted. */
#include "compile.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/limits.h"
#include "analysis/notes.h"
#include "base/guard.h"
#include "describe.h"
#include "lower/block/block.h"
#include "sema/program.h"
#include "target/target.h"
#include "tast/tast.h"
#include "warn/warn.h"

const kj_program *kj_read(kj_arena *arena, kj_diag *diag, kj_source *source,
                          const kj_loader *loader, kj_records *records, bool no_contract,
                          const kj_file **file)
{
    const kj_program *program = NULL;
    const kj_files *files = kj_gather_files(arena, diag, source, loader);
    kj_source_count(arena, source);
    *file = files->first;
    if (diag->errors) {
        *file = NULL;
    } else {
        program = kj_sema_program(arena, diag, files->all, files->n, records, no_contract);
        kj_warn_of_source(arena, diag, *file);
    }
    kj_warnings_settle(diag);
    return diag->errors ? NULL : program;
}

/* ---- A compilation ---- */

/* What LLVM holds during one. */
typedef struct unit {
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef code, allocas;
    LLVMDIBuilderRef lines;
    kj_target target;
    char *complaint; /* LLVM's first, for LLVMDisposeMessage */
    int64_t stack;   /* bytes of the largest frame */
} unit;

/* One kernel of a compilation, and what is known of it. */
typedef struct item {
    kj_code *code;
    const kj_tkernel *kernel;
    kj_deps *deps;
    kj_regions *regions; /* NULL for a GPU, whose threads need none */
} item;

typedef struct job {
    kj_arena *arena;
    kj_diag *diag;
    const kj_compile_options *options;
    kj_stage stage; /* the last that is wanted */
    kj_code *out;   /* of n kernels; the first gets the bytes */
    int n;
    item *items; /* these and those they launch */
    int nitems;
    kj_text shown; /* the text of the stage */
    unit unit;
    int size;    /* of the largest function, as lowered */
    bool broad;  /* gangs that go across blocks make it too large to be optimised well */
    bool within; /* gangs end where their block does */
    bool rolled; /* loops stay loops, whatever @unroll says */
    char *error; /* what is wrong with the toolchain, for LLVMDisposeMessage; NULL: nothing */
    bool over;
} job;

static void fail(job *j, char *error)
{
    if (!error)
        return;
    j->error = error;
    j->over = true;
}

/* Is something wrong with the source? */
static void stop_on_errors(job *j, int before)
{
    j->over |= j->diag->errors > before;
}

/* The job's bytes are NULL afterwards where there is no memory. */
static void copy_bytes(job *j, const void *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return;
    memcpy(copy, bytes, size);
    copy[size] = 0;
    j->out->bytes = copy;
    j->out->size = size;
}

static void require_bytes(const job *j)
{
    if (!j->out->bytes)
        kj_arena_exhausted(j->arena);
}

/* The text of a stage, if it is the one that is wanted, of one kernel behind the other. */
static void show(job *j, kj_stage stage, const char *text)
{
    if (j->stage == stage)
        kj_text_puts(&j->shown, text);
}

/* That was all, if it was. */
static void shown(job *j, kj_stage stage)
{
    if (j->over || j->stage != stage)
        return;
    copy_bytes(j, j->shown.data, j->shown.size);
    require_bytes(j);
    j->over = true;
}

static void show_module(job *j, kj_stage stage)
{
    if (j->over || j->stage != stage)
        return;
    char *text = kj_llvm_text(LLVMPrintModuleToString(j->unit.module));
    copy_bytes(j, text, strlen(text));
    LLVMDisposeMessage(text);
    require_bytes(j);
    j->over = true;
}

/* In tests: what a stage has made, looked at. */
static void check(job *j, const char *stage, const char *wrong)
{
    if (wrong && !j->over)
        fail(j, kj_message_of(kj_arena_printf(j->arena, "after %s: %s", stage, wrong)));
}

static void check_module(job *j, const char *stage)
{
    char *wrong = j->options->verify && !j->over ? kj_target_verify(j->unit.module) : NULL;
    check(j, stage, wrong);
    LLVMDisposeMessage(wrong);
}

static void unit_close(unit *u)
{
    kj_target_close(&u->target);
    LLVMDisposeBuilder(u->code);
    LLVMDisposeBuilder(u->allocas);
    LLVMDisposeDIBuilder(u->lines);
    LLVMDisposeModule(u->module);
    LLVMContextDispose(u->ctx);
    LLVMDisposeMessage(u->complaint);
}

/* Without this one LLVM prints errors and ends the process. Of the CPU's entries it is also told
 * "stack frame size (1234) exceeds limit (0) in function ...", for each. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *data)
{
    static const char frame[] = "stack frame size (";
    unit *u = data;
    char *text = kj_llvm_text(LLVMGetDiagInfoDescription(info));
    const char *at = strstr(text, frame);
    int64_t size = at ? strtoll(at + strlen(frame), NULL, 10) : 0;
    u->stack = size > u->stack ? size : u->stack;
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !u->complaint)
        u->complaint = text;
    else
        LLVMDisposeMessage(text);
}

static void unit_open(unit *u, const char *name)
{
    memset(u, 0, sizeof *u);
    kj_target_ready();
    u->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(u->ctx, on_diagnostic, u);
    u->module = LLVMModuleCreateWithNameInContext(name, u->ctx);
    u->code = LLVMCreateBuilderInContext(u->ctx);
    u->allocas = LLVMCreateBuilderInContext(u->ctx);
    u->lines = LLVMCreateDIBuilder(u->module);
}

/* ---- AST -> typed AST ---- */

/* Names the entries of the kernels that a kernel launches: kj_step$1, ... ; n are named already. */
static int name_children(kj_arena *arena, const kj_program *program, kj_code *out, int n)
{
    for (kj_child *c = out->kernel->typed->children; c; c = c->next, out->nchildren++)
        c->entry = kj_arena_printf(arena, "kj_%s$%d", c->decl->item->name, ++n);
    out->children = KJ_NEW_ARRAY(arena, kj_code, (size_t)out->nchildren + 1);
    int i = 0;
    for (const kj_child *c = out->kernel->typed->children; c; c = c->next)
        out->children[i++] =
            (kj_code){.entry = c->entry, .kernel = kj_describe_kernel(arena, program, c->kernel)};
    return n;
}

/* The checks that are left are those that neither hold always nor at the launch: by `env`, or as `unheld` says. */
static void settle_checks(kj_arena *arena, kj_tkernel *typed, const kj_eval_env *env,
                          uint64_t unheld, kj_code *out)
{
    kj_limits_find(arena, typed, true);
    for (kj_child *c = typed->children; c; c = c->next)
        kj_limits_find(arena, c->kernel, false);
    out->unheld = !typed->limits ? 0 : env ? kj_unheld(typed->limits, env) : unheld;
    kj_limits_settle(arena, typed, out->unheld);
}

/* *children counts the launched kernels of a module, for their names. */
static bool specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                       const kj_kernel_decl *kernel, const kj_spec *spec, const kj_eval_env *env,
                       uint64_t unheld, int *children, kj_code *out)
{
    *out = (kj_code){.entry = kj_arena_printf(arena, "kj_%s", kernel->item->name)};
    kj_tkernel *typed = kj_sema_kernel(arena, diag, program, kernel, spec);
    if (!typed)
        return false;
    if (spec->checks & KJ_CHECKS_OF_VALUES)
        kj_look_at_values(arena, diag->source, typed, spec->checks);
    if (spec->checks & KJ_CHECK_BOUNDS)
        settle_checks(arena, typed, env, unheld, out);
    kj_find_tallies(arena, typed);
    out->kernel = kj_describe_kernel(arena, program, typed);
    *children = name_children(arena, program, out, *children);
    return true;
}

/* ---- The steps behind it ---- */

/* The kernels of the job, each before those it launches. */
static void list_items(job *j)
{
    for (int i = 0; i < j->n; i++)
        j->nitems += 1 + j->out[i].nchildren;
    j->items = KJ_NEW_ARRAY(j->arena, item, (size_t)j->nitems + 1);
    item *next = j->items;
    for (int i = 0; i < j->n; i++) {
        for (int k = -1; k < j->out[i].nchildren; k++) {
            kj_code *code = k < 0 ? &j->out[i] : &j->out[i].children[k];
            *next++ = (item){.code = code, .kernel = code->kernel->typed};
        }
    }
}

static void show_checks(job *j)
{
    for (int i = 0; i < j->nitems && j->stage == KJ_STAGE_CHECKS; i++)
        show(j, KJ_STAGE_CHECKS, kj_limits_dump(j->arena, j->diag->source, j->items[i].kernel));
    shown(j, KJ_STAGE_CHECKS);
}

static void show_notes(job *j)
{
    for (int i = 0; i < j->nitems && j->stage == KJ_STAGE_NOTES; i++) {
        const kj_tkernel *kernel = j->items[i].kernel;
        show(j, KJ_STAGE_NOTES,
             kj_notes_dump(j->arena, j->diag->source, kernel, kj_uniform(j->arena, kernel)));
    }
    shown(j, KJ_STAGE_NOTES);
}

static void show_trees(job *j)
{
    for (int i = 0; i < j->nitems && !j->over; i++) {
        const kj_tkernel *kernel = j->items[i].kernel;
        if (j->options->verify)
            check(j, "tast", kj_tast_check(j->arena, kernel));
        if (j->stage == KJ_STAGE_TAST)
            show(j, KJ_STAGE_TAST, kj_tast_dump(j->arena, kernel));
    }
    shown(j, KJ_STAGE_TAST);
}

/* Code of a CPU, and not that which finds who failed first: threads run as suits them. */
static bool by_gangs(const job *j)
{
    return !j->options->arch && !j->options->replay;
}

static void share_out_turns(job *j)
{
    for (int i = 0; i < j->nitems && !j->over && by_gangs(j); i++)
        j->items[i].kernel = kj_with_turns_shared_out(j->arena, j->items[i].kernel);
}

static void choose_lanes(job *j)
{
    for (int i = 0; i < j->nitems && !j->over && by_gangs(j); i++)
        j->items[i].kernel = kj_with_lanes(j->arena, j->items[i].kernel);
}

static void set_apart(job *j)
{
    for (int i = 0; i < j->nitems && !j->over && !j->options->arch; i++)
        kj_set_apart(j->arena, j->items[i].kernel);
}

static void settle_stores(job *j)
{
    for (int i = 0; i < j->nitems && !j->over && by_gangs(j); i++)
        j->items[i].kernel = kj_with_stores_joined(j->arena, j->items[i].kernel);
    for (int i = 0; i < j->nitems && !j->over && by_gangs(j); i++)
        kj_find_past(j->arena, j->items[i].kernel);
}

static void find_uniform(job *j)
{
    for (int i = 0; i < j->nitems && !j->over; i++) {
        item *it = &j->items[i];
        it->deps = kj_uniform(j->arena, it->kernel);
        if (by_gangs(j))
            kj_run_alone(j->arena, it->kernel, it->deps);
        if (j->options->verify)
            check(j, "uniform", kj_uniform_check(j->arena, it->kernel, it->deps));
        if (j->stage == KJ_STAGE_UNIFORM)
            show(j, KJ_STAGE_UNIFORM,
                 kj_uniform_dump(j->arena, j->diag->source, it->kernel, it->deps));
    }
    shown(j, KJ_STAGE_UNIFORM);
}

static void cut_regions(job *j)
{
    int errors = j->diag->errors;
    bool wanted = !j->options->arch || j->stage == KJ_STAGE_REGIONS;
    for (int i = 0; i < j->nitems && !j->over && wanted; i++) {
        item *it = &j->items[i];
        it->regions = kj_cut(j->arena, it->kernel, it->deps);
        if (by_gangs(j))
            kj_run_regions_alone(j->arena, it->kernel, it->deps, it->regions);
        if (!j->options->arch)
            kj_check_warps(j->diag, it->regions);
        if (j->options->verify)
            check(j, "regions", kj_regions_check(j->arena, it->kernel, it->deps, it->regions));
        if (j->stage == KJ_STAGE_REGIONS)
            show(j, KJ_STAGE_REGIONS,
                 kj_regions_dump(j->arena, j->diag->source, it->kernel, it->regions));
    }
    stop_on_errors(j, errors);
    shown(j, KJ_STAGE_REGIONS);
}

static int most_code(const job *j)
{
    return j->options->most_code ? j->options->most_code : KJ_MAX_CODE;
}

static bool is_large(const job *j)
{
    return j->size > most_code(j);
}

static void refuse_large(job *j)
{
    const kj_kernel_info *kernel = j->out->kernel;
    if (!is_large(j))
        return;
    kj_message *m = kj_error(j->diag, kernel->span, KJ_RULE_TOO_LARGE,
                             "'%s' is too large: %d instructions (at most %d)", kernel->name,
                             j->size, most_code(j));
    kj_hint(j->diag, m, "%ssplit it into several kernels",
            j->options->most_code ? "that is the context's limit of compile_code: " : "");
}

static bool goes_across(const job *j)
{
    bool any = false;
    for (int i = 0; i < j->nitems; i++)
        any |= j->items[i].code->across;
    return any;
}

static void lower(job *j)
{
    unit *u = &j->unit;
    fail(j, kj_target_open(&u->target, j->options));
    if (j->over)
        return;
    kj_target_describe(&u->target, u->module);
    for (int i = 0; i < j->nitems; i++) {
        const item *it = &j->items[i];
        kj_entry_spec spec = {.module = u->module,
                              .code = u->code,
                              .allocas = u->allocas,
                              .lines = u->lines,
                              .within = j->within || j->rolled,
                              .rolled = j->rolled,
                              .entry = it->code->entry,
                              .kernel = it->kernel,
                              .deps = it->deps,
                              .regions = it->regions,
                              .vector = u->target.vector,
                              .x86 = u->target.x86,
                              .half = u->target.half,
                              .no_fma = u->target.no_fma,
                              .sm = u->target.sm,
                              .ftz = j->options->ftz,
                              .replay = j->options->replay,
                              .source = j->diag->source};
        (u->target.kind->gpu ? kj_lower_gpu : kj_lower_cpu)(j->arena, &spec, it->code);
    }
    j->size = (j->options->most_code ? kj_target_code : kj_target_largest)(u->module);
    j->broad = goes_across(j) && kj_target_largest(u->module) > u->target.kind->large_code;
    j->over = is_large(j) || j->broad;
    check_module(j, "llvm");
    show_module(j, KJ_STAGE_LLVM);
}

static void optimise(job *j)
{
    unit *u = &j->unit;
    int errors = j->diag->errors;
    if (!j->over)
        fail(j, kj_link_math(&u->target, u->module, j->options->libdevice));
    if (!j->over)
        fail(j, kj_target_optimise(&u->target, u->module, j->options));
    if (!j->over && u->target.kind->finish)
        u->target.kind->finish(j->arena, j->diag, j->options, u->module, j->out, j->n);
    stop_on_errors(j, errors);
    check_module(j, "opt");
    show_module(j, KJ_STAGE_OPT);
}

static bool is_deep(const job *j)
{
    return j->out->bytes && j->out->stack > KJ_MAX_STACK;
}

static void refuse_deep(job *j)
{
    const kj_kernel_info *kernel = j->out->kernel;
    if (!is_deep(j))
        return;
    kj_message *m = kj_error(j->diag, kernel->span, KJ_RULE_TOO_LARGE,
                             "'%s' has more values at once than there is stack for: %lld KiB",
                             kernel->name, (long long)(j->out->stack >> 10));
    kj_hint(j->diag, m, "split it into several kernels");
    kj_code_free(j->out);
}

static void emit(job *j)
{
    LLVMMemoryBufferRef code;
    LLVMCodeGenFileType type = j->stage == KJ_STAGE_ASM ? LLVMAssemblyFile : LLVMObjectFile;
    if (!j->over)
        fail(j, kj_target_emit(&j->unit.target, j->unit.module, type, &code));
    if (j->over)
        return;
    copy_bytes(j, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
    LLVMDisposeMemoryBuffer(code);
    require_bytes(j);
    j->out->stack = j->unit.stack;
}

/* The steps with LLVM, from which an arena without memory would leave past what LLVM holds. */
static void make_code(job *j)
{
    jmp_buf here, *outer = j->arena->fail;
    if (j->over)
        return;
    if (!kj_has_room())
        kj_break(KJ_NO_ROOM, "out of memory");
    unit_open(&j->unit, j->out->kernel->name);
    j->arena->fail = &here;
    if (setjmp(here)) {
        unit_close(&j->unit);
        j->arena->fail = outer;
        longjmp(*outer, 1);
    }
    lower(j);
    kj_arena_check_time(j->arena);
    optimise(j);
    kj_arena_check_time(j->arena);
    emit(j);
    j->arena->fail = outer;
    if (!j->error && j->unit.complaint) {
        kj_code_free(j->out);
        j->error = kj_message_of(j->unit.complaint);
    }
    unit_close(&j->unit);
}

static void make_again(job *j)
{
    j->over &= !is_large(j);
    kj_code_free(j->out);
    make_code(j);
}

/* Values that optimised code has at once may need more stack than there is: then it is made with less of
 * that. @unroll is a hint, and is not followed where the code would be too much. */
static void make_fitting_code(job *j)
{
    const kj_compile_options *asked = j->options;
    kj_compile_options less = *asked;
    less.opt_level = 1;
    make_code(j);
    if (j->broad) {
        j->over = false;
        j->within = true;
        make_code(j);
    }
    if (is_deep(j) && asked->opt_level > 1) {
        j->options = &less;
        make_again(j);
    }
    if (is_deep(j) || is_large(j)) {
        j->rolled = true;
        make_again(j);
    }
    j->options = asked;
}

/* Code of the job's kernels, in one module. */
static bool generate(job *j)
{
    const kj_kernel_info *first = j->out->kernel;
    j->shown.arena = j->arena;
    list_items(j);
    show_checks(j);
    show_notes(j);
    show_trees(j);
    share_out_turns(j);
    choose_lanes(j);
    set_apart(j);
    settle_stores(j);
    find_uniform(j);
    cut_regions(j);
    make_fitting_code(j);
    refuse_large(j);
    refuse_deep(j);
    if (j->error) {
        const char *text = kj_arena_printf(j->arena, "%s", j->error);
        LLVMDisposeMessage(j->error);
        kj_error(j->diag, first->span, KJ_RULE_INTERNAL, "cannot compile '%s': %s", first->name,
                 text);
    }
    if (!j->error && !j->out->bytes && j->diag->errors == 0) /* nothing says why */
        kj_arena_exhausted(j->arena);
    return !j->error && j->out->bytes;
}

bool kj_specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                   const kj_kernel_decl *kernel, const kj_spec *spec, const kj_eval_env *env,
                   uint64_t unheld, kj_code *out)
{
    return specialise(arena, diag, program, kernel, spec, env, unheld, &(int){0}, out);
}

void kj_take_required_block(kj_arena *arena, const kj_source *source, const kj_program *program,
                            const kj_kernel_decl *kernel, kj_spec *spec)
{
    kj_diag diag; /* what it says is said where the specialisation is compiled */
    kj_spec any = *spec;
    memset(any.block, 0, sizeof any.block);
    kj_diag_init(&diag, arena, source);
    const kj_tkernel *typed = kj_sema_kernel(arena, &diag, program, kernel, &any);
    if (typed)
        kj_required_block(typed, spec->block);
}

bool kj_generate(kj_arena *arena, kj_diag *diag, const kj_compile_options *options, kj_stage stage,
                 kj_code *code)
{
    job j = {.arena = arena, .diag = diag, .options = options, .stage = stage, .out = code, .n = 1};
    return generate(&j);
}

bool kj_may_be_replayed(kj_arena *arena, const kj_code *code)
{
    return kj_may_replay(arena, code->kernel->typed);
}

bool kj_compile_all(kj_arena *arena, kj_diag *diag, const kj_program *program,
                    const kj_kernel_decl *const *kernels, const kj_spec *specs, int n,
                    const kj_compile_options *options, kj_stage stage, kj_code *out)
{
    job j = {.arena = arena, .diag = diag, .options = options, .stage = stage, .out = out, .n = n};
    for (int i = 0, children = 0; i < n; i++)
        if (!specialise(arena, diag, program, kernels[i], &specs[i], NULL, UINT64_MAX, &children,
                        &out[i]))
            return false;
    return generate(&j);
}

bool kj_compile(kj_arena *arena, kj_diag *diag, const kj_program *program,
                const kj_kernel_decl *kernel, const kj_spec *spec,
                const kj_compile_options *options, kj_stage stage, kj_code *out)
{
    return kj_compile_all(arena, diag, program, &kernel, spec, 1, options, stage, out);
}
