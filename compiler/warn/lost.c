/* Launches of which nothing is left: what the kernel writes goes to arrays without a name, or each block, or each thread,
 * does what the first one does. In: a launch, and what its kernel does; out: warnings. */
#include <string.h>

#include "warn/launch.h"

/* ---- What is written to copies ---- */

typedef enum keeping {
    SEEN,
    NEW,
    COPIED
} keeping; /* by somebody later; by nobody: a new array, a copy */

static bool is_keyword(const kj_expr *arg, const char *name)
{
    return arg->keyword && strcmp(arg->keyword, name) == 0;
}

static keeping of_call(const kj_run_names *names, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    int row = kj_warn_row(names, callee);
    for (const kj_expr *arg = args; arg; arg = arg->next)
        if (is_keyword(arg, "to") || is_keyword(arg, "ary"))
            return SEEN; /* it goes into another array, which has a name */
    if (callee->kind == KJ_E_MEMBER && row < 0)
        return strcmp(callee->u.member.name, "copy_to_host") == 0 && (!args || args->keyword)
                   ? COPIED
                   : SEEN;
    if (callee->kind == KJ_E_NAME && row < 0 && kj_type_named(callee->u.name) != KJ_VOID)
        return args && !args->next && !kj_warn_declares(names, callee->u.name) ? COPIED : SEEN;
    if (row == KJ_RUN_TO_DEVICE)
        return args && (!args->next || is_keyword(args->next, "stream")) ? COPIED : NEW;
    if (row == KJ_RUN_COPY)
        return COPIED;
    if (row < 0 || row == KJ_RUN_IN || row == KJ_RUN_OUT || row == KJ_RUN_IN_OUT)
        return SEEN;
    kj_gives gives = kj_run_builtins[row].gives;
    return gives == KJ_GIVES_SHAPED || gives == KJ_GIVES_LINE || gives == KJ_GIVES_LIKE ? NEW
                                                                                        : SEEN;
}

typedef struct name_walk {
    const kj_run_names *names;
    bool found;
} name_walk;

static void find_name(void *ctx, const kj_expr *e)
{
    name_walk *w = ctx;
    w->found |= e->kind == KJ_E_NAME && kj_warn_declares(w->names, e->u.name);
    kj_each_part(e, find_name, w);
}

/* A copy is one of what the block has a name for. */
static keeping keeping_of(const kj_run_names *names, const kj_expr *e)
{
    bool computed = e->kind == KJ_E_UNARY || e->kind == KJ_E_BINARY; /* for the launch */
    keeping kept = computed ? COPIED : e->kind == KJ_E_CALL ? of_call(names, e) : SEEN;
    name_walk w = {names, false};
    if (kept == COPIED)
        find_name(&w, e);
    return kept == COPIED && !w.found ? NEW : kept;
}

static const kj_expr *argument_for(const kj_launch *x, int param)
{
    int nth = 0;
    for (const kj_expr *arg = x->call->u.call.args; arg; arg = arg->next, nth++)
        if (kj_param_of(x->kernel, arg, nth) == param)
            return arg;
    return NULL;
}

void kj_warn_of_lost(kj_diag *diag, const kj_run_names *names, const kj_launch *x,
                     const kj_effects *does)
{
    const kj_param_decl *lost = NULL;
    const kj_expr *copy = NULL;
    int i = 0;
    if (does->uncertain || does->speaks)
        return;
    for (const kj_param_decl *p = x->kernel->params; p; p = p->next, i++) {
        if (!does->arrays[i].written && !does->arrays[i].may_be_written)
            continue;
        const kj_expr *arg = argument_for(x, i);
        keeping kept = arg ? keeping_of(names, arg) : SEEN;
        if (kept == SEEN)
            return;
        if (kept == COPIED && does->arrays[i].written && !lost)
            lost = p, copy = arg;
    }
    if (!lost)
        return;
    kj_message *m = kj_warn(diag, copy->span, KJ_RULE_LOST_WRITE,
                            "what '%s' writes to '%s' is lost: nothing has this copy afterwards",
                            x->kernel->name, lost->name);
    uint32_t n = copy->span.end - copy->span.begin;
    if (n < 40 && !memchr(diag->source->text + copy->span.begin, '\n', n))
        kj_hint(diag, m, "give it a name in front of the launch: let d = %.*s", (int)n,
                diag->source->text + copy->span.begin);
    kj_note(diag, m, lost->span, "declared here");
}

/* ---- Blocks that do the same ---- */

void kj_warn_of_blocks(kj_diag *diag, const kj_launch *x, int64_t blocks, const kj_effects *does)
{
    if (blocks < 2 || does->uncertain || does->speaks || does->blocks_differ || !does->by_thread)
        return;
    kj_message *m =
        kj_warn(diag, x->call->span, KJ_RULE_SAME_BLOCKS,
                "each of the %lld blocks does the same: '%s' has places in its block alone",
                (long long)blocks, x->kernel->name);
    kj_hint(diag, m,
            "the place in the whole grid is grid(1), which is blockIdx.x * blockDim.x + "
            "threadIdx.x; one block is k[1, threads]");
    kj_note(diag, m, does->by_thread->span, "the same elements in each block");
}

/* ---- Threads that do the same ---- */

/* That all store one value is defined, and may be meant: flag[0] = 1. */
void kj_warn_of_threads(kj_diag *diag, const kj_launch *x, int64_t threads, const kj_effects *does)
{
    if (threads < 2 || does->uncertain || does->speaks || does->blocks_differ ||
        does->threads_differ || !does->again)
        return;
    kj_message *m =
        kj_warn(diag, x->call->span, KJ_RULE_SAME_ELEMENT,
                "each of the %lld threads does the same: '%s' never asks which one it is",
                (long long)threads, x->kernel->name);
    kj_hint(diag, m,
            "let i = grid(1) is a thread's own number, with if i < n { ... } in place of a loop "
            "over all; "
            "one thread is %s[1, 1]",
            x->kernel->name);
    kj_note(diag, m, does->again->span, "the same elements in each thread");
}
