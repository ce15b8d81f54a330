/* Failures of what runs, an index out of range, a failed assert, a race, a time limit, as
 * diagnostics: sentences at places of the source. */
#include <stdlib.h>
#include <string.h>

#include "array/format.h"
#include "base/c_locale.h"
#include "lang/update.h"
#include "module/module.h"

typedef struct fault_message {
    kjit_module *mod;
    const kj_kernel_info *kernel;
    const kj_host_fault *fault;
    const kj_const_array_info *unfilled; /* not NULL: not a fault, but that */
    const char *launched;
    const char *lacking; /* likewise: why the kernel cannot launch others */
    bool crowd;          /* likewise: more blocks at a grid_sync() than `most` */
    int64_t blocks, threads, most;
    kj_arena arena;
    kj_telling told;
} fault_message;

/* The call at a place: a name and what stands in brackets after it. */
static kj_span call_at(const kj_source *source, uint32_t offset)
{
    uint32_t end = offset;
    while (end < source->size && kj_is_word(source->text[end]))
        end++;
    if (end < source->size && source->text[end] == '(') {
        while (end < source->size && source->text[end] != ')' && source->text[end] != '\n')
            end++;
        end += end < source->size && source->text[end] == ')';
    }
    return (kj_span){offset, end};
}

static void put_barrier(kj_diag *diag, const kj_host_fault *f)
{
    kj_span call = call_at(diag->source, f->offset);
    const char *name = diag->source->text + call.begin;
    int length = 0; /* of syncthreads, syncthreads_count, grid_sync and the like */
    while (call.begin + (uint32_t)length < call.end && kj_is_word(name[length]))
        length++;
    kj_message *e =
        kj_error(diag, call, KJ_RULE_DIVERGENT_BARRIER,
                 "%.*s() reached by %lld of %lld threads of block (%lld, %lld, %lld)", length, name,
                 (long long)f->arrived, (long long)f->alive, (long long)f->block[0],
                 (long long)f->block[1], (long long)f->block[2]);
    kj_hint(diag, e, "all threads of a block that have not returned must reach the same %.*s()",
            length, name);
}

static void put_grid_barrier(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    kj_message *e = kj_error(diag, kernel->grid_sync_at, KJ_RULE_GRID_BARRIER,
                             "%lld of %lld blocks wait at grid_sync(), and the others have ended",
                             (long long)f->arrived, (long long)f->alive);
    kj_hint(diag, e, "do blocks read something around it that others write at the same time?");
}

static void put_crowd(kj_diag *diag, const fault_message *m)
{
    kj_message *e = kj_error(
        diag, m->kernel->grid_sync_at, KJ_RULE_GRID_SIZE,
        "a grid of %lld blocks of %lld threads cannot wait here: the device holds %lld of them",
        (long long)m->blocks, (long long)m->threads, (long long)m->most);
    kj_hint(diag, e,
            "launch fewer, and let each thread do more: step by gridsize(1); "
            "%s.max_cooperative_blocks(block)(...) gives how many",
            m->kernel->name);
}

/* "x[i] is 7, n is 5" */
static const char *values_text(kj_arena *arena, const kj_site *site, const uint64_t *values)
{
    const char *text = "";
    char buf[KJ_SCALAR_TEXT];
    for (int i = 0; i < site->nparts; i++) {
        const kj_site_part *p = &site->parts[i];
        if (p->text)
            text = kj_arena_printf(arena, "%s%s%s is %s", text, *text ? ", " : "", p->text,
                                   kj_scalar_text((kjit_dtype)p->type, &values[i], buf));
    }
    return text;
}

/* What the number means that a launch gave. */
static const char *launch_text(uint64_t status)
{
    switch ((int32_t)status) {
    case KJ_LAUNCH_NO_MEMORY: return "out of memory";
    case KJ_LAUNCH_TOO_DEEP: return "launches by launched kernels are deeper than the driver takes";
    case KJ_LAUNCH_TOO_MANY: return "too many launches are waiting";
    case KJ_LAUNCH_BEYOND_DEPTH: return "the context's limit of launch_depth is exceeded";
    case KJ_LAUNCH_BEYOND_COUNT: return "the context's limit of launches is exceeded";
    default: return NULL;
    }
}

static void put_index(kj_diag *diag, const kj_site *site, const kj_host_fault *f)
{
    char block[KJ_SHAPE_TEXT], thread[KJ_SHAPE_TEXT], axis[32] = "which", index[32];
    long long extent = (long long)f->values[1];
    bool is_unsigned = site->parts[0].type == KJ_U64;
    kj_snprintf(index, sizeof index, is_unsigned ? "%llu" : "%lld",
                (unsigned long long)f->values[0]);
    if (site->axis >= 0)
        kj_snprintf(axis, sizeof axis, "whose axis %d", site->axis);
    kj_message *m =
        kj_error(diag, site->span, KJ_RULE_BOUNDS,
                 "index %s is outside of '%s', %s has %lld element%s (block %s, thread %s)", index,
                 site->indexed, axis, extent, extent == 1 ? "" : "s",
                 kj_shape_text(3, f->block, block), kj_shape_text(3, f->thread, thread));
    m->calls = site->call;
}

/* What stands in no need of brackets: a name, an element, a call. */
static bool is_atom(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
        if (depth == 0 && strchr(" +-*<>=", *text))
            return false;
    }
    return true;
}

/* Of a sum, product or shift that wrapped on its way into an index: where there is room for it. */
static void hint_wrapped(kj_diag *diag, kj_message *m, const kj_site *site)
{
    const kj_site_part *p = site->parts;
    const char *whole = p[0].text, *one = p[1].text, *type = kj_types[p[0].type].name;
    size_t len = one ? strlen(one) : 0;
    bool small = kj_types[p[0].type].size < 4, first = one && strncmp(whole, one, len) == 0;
    const char *sign = first ? whole + len : "";
    bool product =
        kj_types[p[0].type].size == 2 && *sign && strchr("*<", sign[1]); /* has more than 31 bits */
    const char *wide = small && !product ? "i32" : "i64";
    if (first && is_atom(one) && strstr(sign, "= ") == NULL && *sign == ' ')
        kj_hint(diag, m,
                small ? "write %s(%s)%s; where wrapping is meant, %s(%s)" : "write %s(%s)%s", wide,
                one, sign, type, whole);
    else if (first && strstr(sign, "= ") && is_atom(one))
        kj_hint(diag, m, "'%s' is %s: declare it as %s", one, type, wide);
    else
        kj_hint(diag, m,
                small ? "%s has room for it; where wrapping is meant, %s(...) says so"
                      : "%s has room for it",
                wide, type);
}

static void put_assert(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    char block[KJ_SHAPE_TEXT], thread[KJ_SHAPE_TEXT];
    const kj_site *site = kernel->sites[f->offset < (uint32_t)kernel->nsites ? f->offset : 0];
    if (site->indexed) {
        put_index(diag, site, f);
        return;
    }
    const char *values = values_text(diag->arena, site, f->values);
    const char *message = site->message;
    if (site->failed && !message && site->nvalues == 1) {
        message = launch_text(f->values[0]);
        values = message ? "" : values;
    }
    kj_message *m = kj_error(
        diag, site->span, KJ_RULE_ASSERT, "%s in block %s, thread %s%s%s%s%s%s",
        site->failed ? site->failed : "assertion failed", kj_shape_text(3, f->block, block),
        kj_shape_text(3, f->thread, thread), message ? ": " : "", message ? message : "",
        *values ? " (" : "", values, *values ? ")" : "");
    m->calls = site->call;
    if (site->kind == KJ_SITE_INDEX)
        hint_wrapped(diag, m, site);
}

static const char *did(uint64_t flags)
{
    static const char *const words[] = {[KJ_WATCH_LOAD] = "read",
                                        [KJ_WATCH_STORE] = "written",
                                        [KJ_WATCH_ATOMIC] = "changed by an atomic"};
    return words[flags & KJ_WATCH_KIND];
}

/* Are the two places in one statement of one line? */
static bool is_one_statement(const kj_source *source, const kj_site *a, const kj_site *b)
{
    const kj_site *first = a->span.begin < b->span.begin ? a : b, *last = first == a ? b : a;
    for (uint32_t i = first->span.begin; i < last->span.end; i++)
        if (strchr("\n;{}", source->text[i]))
            return false;
    return a->call == b->call;
}

typedef struct race {
    const kj_site *at, *before;
    uint64_t own, theirs; /* what each does */
    bool same;            /* block */
    bool grid;            /* the kernel has a grid_sync */
} race;

static const char *atomics_of(const race *r)
{
    if (r->own + r->theirs == KJ_WATCH_LOAD + KJ_WATCH_ATOMIC && r->own != r->theirs)
        return "both are atomics, as reading is by atomic.add(..., 0), or a plain store where "
               "all threads store one value";
    return "both are atomics";
}

static bool is_same_text(const kj_source *source, kj_span a, kj_span b)
{
    uint32_t n = a.end - a.begin;
    return n == b.end - b.begin && memcmp(source->text + a.begin, source->text + b.begin, n) == 0;
}

/* An element that is changed by what it was, or by its neighbours. */
static void hint_statement(kj_diag *diag, kj_message *e, const race *r)
{
    const kj_site *first = r->at->span.begin < r->before->span.begin ? r->at : r->before;
    kj_span whole;
    const char *atomic = kj_as_atomic(diag->arena, diag->source, first->span, first->elem, &whole);
    if (!is_same_text(diag->source, r->at->span, r->before->span))
        atomic = NULL; /* what it reads besides would still be */
    if (atomic)
        kj_hint(diag, e, "no barrier comes into a statement: %s reads and writes at once", atomic);
    else if (r->at->watched)
        kj_hint(
            diag, e,
            "no barrier comes into a statement, nor between blocks: write to another array, and "
            "swap(a, b) the two behind the launch%s",
            r->same ? "; from one turn of a block's loop to the next, syncthreads() at its end"
                    : "");
    else
        kj_hint(diag, e,
                "no barrier comes into a statement: let v = what it reads, syncthreads(), and then "
                "the rest; from one turn of a loop to the next, syncthreads() at its end");
}

static void hint_race(kj_diag *diag, kj_message *e, const race *r)
{
    const kj_site *at = r->at, *before = r->before;
    kj_span whole;
    bool stores = r->own == KJ_WATCH_STORE && r->theirs == r->own;
    bool plain = r->own != KJ_WATCH_ATOMIC && r->theirs != KJ_WATCH_ATOMIC;
    if (at->watched && before->watched && at->watched != before->watched)
        kj_hint(diag, e,
                "'%s' and '%s' have elements in common in this launch: pass arrays of their own, "
                "and swap(a, b) two where the next launch goes on with the results",
                at->indexed, before->indexed);
    else if (plain && is_one_statement(diag->source, at, before) &&
             (!stores || kj_as_atomic(diag->arena, diag->source, at->span, at->elem, &whole)))
        hint_statement(diag, e, r);
    else if (r->same && at == before && stores)
        kj_hint(
            diag, e,
            "one thread writes it, if threadIdx.x == 0 { ... }, or each an element of its own, or "
            "%s; a value that is made of parameters and constants all may store",
            atomics_of(r));
    else if (r->same)
        kj_hint(
            diag, e,
            "syncthreads() between the two does, in all threads of the block, and at the end of a "
            "loop that comes back to them%s; or %s",
            r->grid && at->watched ? ", or grid_sync() where others have to do with it" : "",
            atomics_of(r));
    else if (stores || !plain)
        kj_hint(diag, e, "blocks come in any order: each writes elements of its own, or %s",
                atomics_of(r));
    else
        kj_hint(diag, e,
                "blocks come in any order: grid_sync() between the two does, in all threads of the "
                "grid; or a second launch; or an atomic between them that tells which block comes "
                "last, with a threadfence() on each side of it; or %s",
                atomics_of(r));
}

static void put_race(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    char block[KJ_SHAPE_TEXT], thread[KJ_SHAPE_TEXT], its_block[KJ_SHAPE_TEXT],
        its_thread[KJ_SHAPE_TEXT];
    int64_t other[6];
    const kj_site *at = kernel->sites[f->offset], *before = kernel->sites[f->values[KJ_RACE_SITE]];
    memcpy(other, &f->values[KJ_RACE_THREAD], sizeof other);
    bool same = memcmp(f->block, other + 3, sizeof f->block) == 0;
    kj_shape_text(3, f->block, block);
    kj_message *e = kj_error(
        diag, at->span, KJ_RULE_RACE,
        "an element of '%s' is %s by thread %s%s%s and %s by thread %s of block %s, and "
        "nothing orders the two",
        at->indexed, did(f->values[KJ_RACE_OWN_FLAGS]), kj_shape_text(3, f->thread, thread),
        same ? "" : " of block ", same ? "" : block, did(f->values[KJ_RACE_FLAGS]),
        kj_shape_text(3, other, its_thread), kj_shape_text(3, other + 3, its_block));
    e->calls = at->call;
    e->note_calls = before->call;
    kj_note(diag, e, before->span, "it is %s here", did(f->values[KJ_RACE_FLAGS]));
    const race r = {at,
                    before,
                    f->values[KJ_RACE_OWN_FLAGS] & KJ_WATCH_KIND,
                    f->values[KJ_RACE_FLAGS] & KJ_WATCH_KIND,
                    same,
                    kernel->grid_sync};
    hint_race(diag, e, &r);
}

static void put_unset(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    char block[KJ_SHAPE_TEXT], thread[KJ_SHAPE_TEXT];
    const kj_site *at = kernel->sites[f->offset];
    kj_message *m = kj_error(
        diag, at->span, KJ_RULE_UNSET,
        "an element of '%s' is read by thread %s of block %s, and nothing was written there",
        at->indexed, kj_shape_text(3, f->thread, thread), kj_shape_text(3, f->block, block));
    m->calls = at->call;
}

/* A word of the source; of what is none, its first character. */
static kj_span word_at(const kj_source *source, uint32_t offset)
{
    uint32_t end = offset;
    while (end < source->size && kj_is_word(source->text[end]))
        end++;
    return (kj_span){offset, end > offset ? end : offset + 1};
}

/* What ended it, where the launch does not say so itself. */
static void hint_end(kj_diag *diag, kj_message *m, uint64_t why, const kjit_limits *most)
{
    if (why == KJ_HALT_LAUNCH_MS)
        kj_hint(diag, m, "a launch without timeout_ms has the context's limit of launch_ms, %llu",
                (unsigned long long)most->launch_ms);
    if (why == KJ_HALT_RUN_MS)
        kj_hint(diag, m, "a run block has the context's limit of run_ms, %llu",
                (unsigned long long)most->run_ms);
    if (why == KJ_HALT_DEADLINE)
        kj_hint(diag, m,
                "the context's deadline has passed: kjit run --timeout, or "
                "kjit_set_deadline");
}

static void put_halted(kj_diag *diag, const kj_kernel_info *kernel, const kj_host_fault *f,
                       const kjit_limits *most)
{
    char block[KJ_SHAPE_TEXT], where[KJ_SHAPE_TEXT + 64] = "before it began";
    const int64_t *front = f->halted_front;
    bool cancelled = kj_fault_status(f) == KJIT_CANCELLED, within = f->halted > KJ_HALTED_FRONT;
    if (within)
        kj_snprintf(where, sizeof where, "in %s (block %s)",
                    f->halted == KJ_HALTED_LOOP ? "this loop" : "front of this statement",
                    kj_shape_text(3, f->halted_block, block));
    else if (kernel->launches)
        kj_snprintf(where, sizeof where,
                    "in front of a block of its own or of a kernel that it launched");
    else if (kernel->grid_sync)
        kj_snprintf(where, sizeof where, "before or at its grid_sync()");
    else if (front[0] || front[1] || front[2])
        kj_snprintf(where, sizeof where, "in front of block %s", kj_shape_text(3, front, block));
    kj_message *m =
        kj_error(diag, within ? word_at(diag->source, f->halted_at) : kernel->span,
                 cancelled ? KJ_RULE_CANCELLED : KJ_RULE_TIMEOUT, "kernel '%s'%s %s %s",
                 kernel->name, within && kernel->launches ? ", or one that it launched," : "",
                 cancelled ? "was cancelled" : "ran out of time", where);
    hint_end(diag, m, f->halted_why, most);
}

static void put_unfilled(kj_diag *diag, const kj_const_array_info *a, const char *kernel)
{
    kj_message *e = kj_error(diag, a->span, KJ_RULE_UNFILLED,
                             "'%s' has no elements yet, and kernel '%s' reads it", a->name, kernel);
    kj_hint(diag, e,
            "write %s = array([...]) in the run block, without let, or call kjit_module_set_const",
            a->name);
}

static void write_fault(void *data)
{
    fault_message *m = data;
    kj_diag diag;
    kj_diag_init(&diag, &m->arena, &m->mod->source);
    if (m->unfilled)
        put_unfilled(&diag, m->unfilled, m->launched);
    else if (m->lacking)
        kj_error(&diag, m->kernel->launch, KJ_RULE_LAUNCH, "%s", m->lacking);
    else if (m->crowd)
        put_crowd(&diag, m);
    else if (kj_fault_status(m->fault) != KJIT_FAULT)
        put_halted(&diag, m->kernel, m->fault, &m->mod->ctx->limits.most);
    else if (m->fault->kind == KJ_FAULT_GRID_BARRIER && m->kernel->grid_sync)
        put_grid_barrier(&diag, m->kernel, m->fault);
    else if (m->fault->kind == KJ_FAULT_RACE)
        put_race(&diag, m->kernel, m->fault);
    else if (m->fault->kind == KJ_FAULT_UNSET)
        put_unset(&diag, m->kernel, m->fault);
    else if (m->fault->kind == KJ_FAULT_ASSERT && m->kernel->nsites > 0)
        put_assert(&diag, m->kernel, m->fault);
    else
        put_barrier(&diag, m->fault);
    if (m->fault)
        m->told.fault = kj_fault_fields(&m->mod->source, m->kernel, m->fault, diag.first);
    m->told.text = strdup(kj_diag_told(&diag, atomic_load(&m->mod->ctx->want_json) > 0));
}

static kj_telling told_of(fault_message *m)
{
    kj_arena_init(&m->arena, NULL);
    kj_guarded(&m->arena, write_fault, m, NULL);
    kj_arena_free(&m->arena);
    if (m->told.text)
        return m->told;
    free(m->told.fault);
    return (kj_telling){0};
}

kj_telling kj_fault_told(kjit_module *mod, const kj_kernel_info *kernel, const kj_host_fault *fault)
{
    return told_of(&(fault_message){.mod = mod, .kernel = kernel, .fault = fault});
}

static kjit_status give(kjit_context *ctx, kjit_status status, kj_telling told)
{
    return told.text ? kj_fail_telling(ctx, status, told) : kj_no_memory(ctx);
}

kjit_status kj_fail_unfilled(kjit_module *mod, const kj_const_array_info *array, const char *kernel)
{
    fault_message m = {.mod = mod, .unfilled = array, .launched = kernel};
    return give(mod->ctx, KJIT_LAUNCH, told_of(&m));
}

kjit_status kj_fail_launching(kjit_module *mod, const kj_kernel_info *kernel, const char *why)
{
    fault_message m = {.mod = mod, .kernel = kernel, .lacking = why};
    return give(mod->ctx, KJIT_NO_DEVICE, told_of(&m));
}

kjit_status kj_fail_fault(kjit_module *mod, kjit_status status, kj_telling telling)
{
    return give(mod->ctx, status, telling);
}

kjit_status kj_fail_crowd(kjit_module *mod, const kj_kernel_info *kernel, int64_t blocks,
                          int64_t threads, int64_t most)
{
    fault_message m = {.mod = mod,
                       .kernel = kernel,
                       .crowd = true,
                       .blocks = blocks,
                       .threads = threads,
                       .most = most};
    return give(mod->ctx, KJIT_LAUNCH, told_of(&m));
}
