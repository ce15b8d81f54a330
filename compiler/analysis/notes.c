/* The walk over a kernel that gathers notes, and their text. */
#include "analysis/notes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- Notes ---- */

void kj_note_add(kj_notes *w, kj_span span, kj_note_kind kind, const char *subject,
                 const char *hint, const char *format, ...)
{
    kj_text t = {.arena = w->arena};
    va_list args;
    va_start(args, format);
    kj_text_vprintf(&t, format, args);
    va_end(args);
    if (w->n == w->cap) {
        int cap = w->cap ? 2 * w->cap : 64;
        kj_line_note *all = KJ_NEW_ARRAY(w->arena, kj_line_note, (size_t)cap);
        if (w->n)
            memcpy(all, w->all, (size_t)w->n * sizeof *all);
        w->all = all;
        w->cap = cap;
    }
    w->all[w->n] = (kj_line_note){span, kind, subject, t.data, hint, w->n};
    w->n++;
}

const char *kj_note_label(const kj_notes *w, kj_span span, const char *name)
{
    enum { LONGEST = 40 };
    const char *text = w->source->text + span.begin;
    size_t n = span.end - span.begin;
    if (n == 0 || n > LONGEST || memchr(text, '\n', n) || memchr(text, '\t', n))
        return name;
    return kj_arena_printf(w->arena, "%.*s", (int)n, text);
}

/* ---- Expressions ---- */

static void walk_stmts(kj_notes *w, const kj_tstmt *s);
static void walk_expr(kj_notes *w, const kj_texpr *e);

static bool *keep_active(const kj_notes *w)
{
    bool *kept = KJ_NEW_ARRAY(w->arena, bool, sizeof w->active + 1);
    memcpy(kept, w->active, sizeof w->active);
    kept[sizeof w->active] = w->single;
    return kept;
}

static void activate(kj_notes *w, const bool *kept)
{
    memcpy(w->active, kept, sizeof w->active);
    w->single = kept[sizeof w->active];
}

static void narrow(kj_notes *w, const kj_texpr *test, bool holds)
{
    if (!w->has_lanes)
        return;
    kj_lanes_narrow(&w->lanes, test, holds, w->active);
    w->single |= holds && kj_lanes_hold_for_one(&w->lanes, test);
}

static void walk_where(kj_notes *w, const kj_texpr *e, const kj_texpr *test, bool holds)
{
    bool *before = keep_active(w);
    narrow(w, test, holds);
    walk_expr(w, e);
    activate(w, before);
}

/* A value of f32 that becomes one of f64 for the operation. */
static bool is_widened(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONVERT && e->type == KJ_F64 && e->u.unary.arg->type == KJ_F32;
}

/* Is it of 64 bits for what nobody knows to be small: a parameter, or a number of memory? */
static bool is_wide(const kj_notes *w, const kj_texpr *e, int depth)
{
    enum { DEEPEST = 8 };
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (!kj_is_int(e->type) || kj_types[e->type].bits < 64 || depth > DEEPEST)
        return false;
    if (e->kind == KJ_TE_LOAD || (e->kind == KJ_TE_VAR && e->u.var->param >= 0))
        return true;
    bool any = false;
    if (e->kind == KJ_TE_VAR)
        for (const kj_origin *o = w->lanes.origins[e->u.var->id]; o && !any; o = o->next)
            any = is_wide(w, o->value, depth + 1);
    for (int i = 0, n = kj_operands(e, operands); i < n && !any; i++)
        any = is_wide(w, operands[i], depth + 1);
    return any;
}

/* Quotients by numbers that nobody knows are a subroutine of dozens of instructions, of 64 bits of more than twice as many. */
static void note_operator(kj_notes *w, const kj_texpr *e)
{
    kj_op op = e->u.binary.op;
    if (is_widened(e->u.binary.lhs) || is_widened(e->u.binary.rhs))
        kj_note_add(w, e->span, KJ_NOTE_ARITHMETIC, kj_note_label(w, e->span, "arithmetic"),
                    "f32(...) around what is f64 keeps it in f32",
                    "computed in f64, from a value of f32 that is converted");
    if ((op == KJ_OP_FLOORDIV || op == KJ_OP_MOD) && kj_is_int(e->type) &&
        is_wide(w, e->u.binary.rhs, 0))
        kj_note_add(w, e->span, KJ_NOTE_ARITHMETIC, kj_note_label(w, e->span, "arithmetic"),
                    "where the values fit, i32 or u32 on both sides makes it one of 32 bits",
                    "%s of 64 bits by a variable", op == KJ_OP_MOD ? "remainder" : "division");
}

static void walk_operands(kj_notes *w, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        walk_expr(w, operands[i]);
}

static void walk_expr(kj_notes *w, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_LOGIC:
        walk_expr(w, e->u.logic.lhs);
        walk_where(w, e->u.logic.rhs, e->u.logic.lhs, !e->u.logic.is_or);
        return;
    case KJ_TE_SELECT:
        walk_expr(w, e->u.select.test);
        walk_where(w, e->u.select.yes, e->u.select.test, true);
        walk_where(w, e->u.select.no, e->u.select.test, false);
        return;
    case KJ_TE_LOAD:
        for (int i = 0; i < e->u.load.array->ndim; i++)
            walk_expr(w, e->u.load.index[i]);
        kj_note_access(w, e->span, KJ_TOUCH_LOAD, e->u.load.array, e->u.load.index);
        kj_note_turns(w, e, kj_note_title(w, e->span, KJ_TOUCH_LOAD, e->u.load.array));
        return;
    case KJ_TE_ATOMIC:
        for (int i = 0; i < e->u.atomic.array->ndim; i++)
            walk_expr(w, e->u.atomic.index[i]);
        for (int i = 0; i < 2 && e->u.atomic.args[i]; i++)
            walk_expr(w, e->u.atomic.args[i]);
        w->combines = kj_note_combines(e->u.atomic.id);
        kj_note_access(w, e->span, KJ_TOUCH_ATOMIC, e->u.atomic.array, e->u.atomic.index);
        return;
    case KJ_TE_INLINE: walk_stmts(w, e->u.inline_.block->body); return;
    case KJ_TE_BINARY: note_operator(w, e); break;
    default: break;
    }
    walk_operands(w, e);
}

/* ---- Branches and loops ---- */

/* Along which axes a warp's threads differ. */
static const char *axes_of(const kj_notes *w, uint8_t dep)
{
    static const char *const words[] = {"",
                                        "threadIdx.x",
                                        "threadIdx.y",
                                        "threadIdx.x and y",
                                        "threadIdx.z",
                                        "threadIdx.x and z",
                                        "threadIdx.y and z",
                                        "threadIdx.x, y and z"};
    const int64_t *block = w->kernel->block;
    bool row = block[0] % KJ_WARP_THREADS == 0;
    return words[row && dep & KJ_DEP_X ? KJ_DEP_X : dep & KJ_DEP_THREAD];
}

/* How many warps a block has. */
static int count_warps(const kj_notes *w)
{
    return (w->lanes.n + KJ_WARP_THREADS - 1) / KJ_WARP_THREADS;
}

static void note_branch(kj_notes *w, const kj_tstmt *s)
{
    const kj_texpr *test = s->u.if_.test;
    uint8_t dep = kj_dep(w->deps, test);
    int warps = 0;
    if (!(dep & KJ_DEP_VARIES)) {
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL, "uniform for the block");
        return;
    }
    w->lanes.active = w->active;
    kj_split split = w->has_lanes ? kj_lanes_split(&w->lanes, test, &warps) : KJ_SPLIT_UNKNOWN;
    w->lanes.active = NULL;
    switch (split) {
    case KJ_SPLIT_NOT:
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL, "uniform for each warp");
        break;
    case KJ_SPLIT_ONE:
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL, "one thread of a warp at most");
        break;
    case KJ_SPLIT_AT_EDGE:
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL,
                    "divergent only in warps at the edge, by %s", axes_of(w, dep));
        break;
    case KJ_SPLIT_SOME:
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL,
                    "divergent in %d of %d warp%s, by %s", warps, count_warps(w),
                    count_warps(w) == 1 ? "" : "s", axes_of(w, dep));
        break;
    case KJ_SPLIT_DATA:
        kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL, "divergent, by data");
        break;
    default:
        if (dep & KJ_DEP_THREAD)
            kj_note_add(w, test->span, KJ_NOTE_BRANCH, "branch", NULL, "divergent, by %s",
                        axes_of(w, dep));
    }
}

/* Its head alone: the statement's span may have its body. */
static kj_span head_of(const kj_notes *w, kj_span span)
{
    const char *text = w->source->text + span.begin;
    size_t n = span.end - span.begin;
    const char *end = memchr(text, '\n', n);
    return (kj_span){span.begin, end ? span.begin + (uint32_t)(end - text) : span.end};
}

/* The blocks that a statement stands in, up to the loop. */
typedef struct inside {
    const struct inside *up;
    const kj_tblock *block;
} inside;

static bool is_in(const inside *in, const kj_tblock *block)
{
    while (in && in->block != block)
        in = in->up;
    return in != NULL;
}

/* May a loop be left before its turns are over? `own`: a break is the loop's own. */
static bool has_exits(const kj_tstmt *s, bool own, const inside *in)
{
    bool any = false;
    for (; s && !any; s = s->next) {
        switch (s->kind) {
        case KJ_TS_BREAK: any = own; break;
        case KJ_TS_LEAVE: any = !is_in(in, s->u.leave); break;
        case KJ_TS_IF:
            any = has_exits(s->u.if_.yes, own, in) || has_exits(s->u.if_.no, own, in);
            break;
        case KJ_TS_FOR: any = has_exits(s->u.for_.body, false, in); break;
        case KJ_TS_WHILE: any = has_exits(s->u.while_.body, false, in); break;
        case KJ_TS_INLINE:
            any = has_exits(s->u.block->body, false, &(inside){in, s->u.block});
            break;
        default: break;
        }
    }
    return any;
}

/* May it end before its last turn? */
static bool is_left(const kj_tstmt *s)
{
    return has_exits(s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body, true, NULL);
}

static kj_split split_of_loop(kj_notes *w, const kj_tstmt *s, int64_t *turns)
{
    int warps;
    *turns = -1;
    if (!(s->divergence & KJ_DEP_VARIES))
        return KJ_SPLIT_NOT;
    if (!w->has_lanes)
        return KJ_SPLIT_UNKNOWN;
    kj_split split = s->kind == KJ_TS_FOR ? kj_lanes_split_turns(&w->lanes, s, turns)
                                          : kj_lanes_split(&w->lanes, s->u.while_.test, &warps);
    bool once = s->kind == KJ_TS_WHILE; /* a test of one turn */
    return (is_left(s) || (once && split != KJ_SPLIT_NOT)) && split != KJ_SPLIT_DATA
               ? KJ_SPLIT_UNKNOWN
               : split;
}

/* Of a test of `while` that is the same for a warp in each turn. */
static void note_loop(kj_notes *w, const kj_tstmt *s)
{
    kj_turns known;
    int64_t turns;
    kj_span at = head_of(w, s->span);
    kj_split split = split_of_loop(w, s, &turns);
    bool all = !(s->divergence & KJ_DEP_VARIES);
    if (s->kind == KJ_TS_FOR && kj_known_turns(s, &known) && known.n <= INT64_MAX)
        turns = (int64_t)known.n;
    bool unrolled = s->kind == KJ_TS_FOR && s->u.for_.unroll && turns <= KJ_UNROLL_TURNS;
    const char *how =
        split == KJ_SPLIT_NOT       ? all ? "uniform for the block" : "uniform for each warp"
        : split == KJ_SPLIT_AT_EDGE ? "divergent only in warps at the edge"
        : split == KJ_SPLIT_DATA    ? "divergent, by data"
        : all || s->divergence & KJ_DEP_THREAD ? "threads may leave it at different turns"
                                               : NULL;
    if (turns >= 0 && split == KJ_SPLIT_NOT)
        kj_note_add(w, at, KJ_NOTE_LOOP, "loop", NULL, "%s%lld turn%s%s",
                    is_left(s) ? "at most " : "", (long long)turns, turns == 1 ? "" : "s",
                    unrolled ? ", unrolled" : "");
    else if (how)
        kj_note_add(w, at, KJ_NOTE_LOOP, "loop", NULL, "%s", how);
}

static void note_barrier(kj_notes *w, const kj_tstmt *s)
{
    if (w->has_lanes && !s->u.barrier.implied)
        kj_note_add(w, s->span, KJ_NOTE_BARRIER, "barrier", NULL, "%d threads, %d warp%s",
                    w->lanes.n, count_warps(w), count_warps(w) == 1 ? "" : "s");
}

/* ---- Statements ---- */

/* Does nothing behind it come to pass for those who were in it? */
static bool ends(const kj_tstmt *s)
{
    while (s && s->next)
        s = s->next;
    return s && (s->kind == KJ_TS_LEAVE || s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE ||
                 (s->kind == KJ_TS_REPORT && s->u.report.site->fault));
}

/* Not of the source: a check of what is launched, say. */
static bool is_written(const kj_notes *w, const kj_tstmt *s)
{
    const char *text = w->source->text + s->span.begin;
    return strncmp(text, "if", 2) == 0 || strncmp(text, "elif", 4) == 0;
}

static bool is_assert(const kj_tstmt *s)
{
    const kj_tstmt *yes = s->u.if_.yes, *no = s->u.if_.no;
    return (yes && yes->kind == KJ_TS_REPORT && yes->u.report.site->fault) ||
           (no && no->kind == KJ_TS_REPORT && no->u.report.site->fault);
}

static void walk_if(kj_notes *w, const kj_tstmt *s)
{
    const kj_texpr *test = s->u.if_.test;
    walk_expr(w, test);
    kj_note_pending(w);
    if (!is_assert(s) && is_written(w, s))
        note_branch(w, s);
    bool *before = keep_active(w);
    narrow(w, test, true);
    walk_stmts(w, s->u.if_.yes);
    activate(w, before);
    narrow(w, test, false);
    walk_stmts(w, s->u.if_.no);
    activate(w, before);
    if (ends(s->u.if_.yes) || ends(s->u.if_.no))
        narrow(w, test, ends(s->u.if_.no));
}

static void walk_loop(kj_notes *w, const kj_tstmt *s)
{
    bool *before = keep_active(w);
    bool counts = s->kind == KJ_TS_FOR;
    if (counts) {
        walk_expr(w, s->u.for_.start);
        walk_expr(w, s->u.for_.stop);
        walk_expr(w, s->u.for_.step);
    }
    if (counts)
        note_loop(w, s);
    kj_lanes_enter(&w->lanes, s);
    kj_note_enter(w, s);
    if (!counts) {
        note_loop(w, s);
        walk_expr(w, s->u.while_.test);
        narrow(w, s->u.while_.test, true);
    }
    walk_stmts(w, counts ? s->u.for_.body : s->u.while_.body);
    kj_note_leave(w);
    kj_lanes_leave(&w->lanes);
    activate(w, before);
}

/* The place of a store, without what is stored. */
static kj_span place_of_store(const kj_notes *w, const kj_tstmt *s)
{
    const char *text = w->source->text;
    uint32_t end = s->span.begin;
    int depth = 0;
    for (; end < s->span.end && text[end] != '\n'; end++) {
        depth += text[end] == '[' || text[end] == '(';
        depth -= text[end] == ']' || text[end] == ')';
        if (depth == 0 && text[end] == ']' && text[end + 1] != '[')
            return (kj_span){s->span.begin, end + 1};
    }
    return s->span;
}

static void walk_stmt(kj_notes *w, const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            walk_expr(w, s->u.decl.init);
        break;
    case KJ_TS_ASSIGN: walk_expr(w, s->u.assign.value); break;
    case KJ_TS_STORE:
        for (int i = 0; i < s->u.store.array->ndim; i++)
            walk_expr(w, s->u.store.index[i]);
        walk_expr(w, s->u.store.value);
        kj_note_access(w, place_of_store(w, s), KJ_TOUCH_STORE, s->u.store.array, s->u.store.index);
        break;
    case KJ_TS_EXPR: walk_expr(w, s->u.expr); break;
    case KJ_TS_IF: walk_if(w, s); break;
    case KJ_TS_FOR:
    case KJ_TS_WHILE: walk_loop(w, s); break;
    case KJ_TS_INLINE: walk_stmts(w, s->u.block->body); break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg)
            walk_expr(w, s->u.barrier.arg);
        note_barrier(w, s);
        break;
    default: break;
    }
}

static void walk_stmts(kj_notes *w, const kj_tstmt *s)
{
    bool *before = s ? keep_active(w) : NULL;
    for (const kj_tstmt *at = s; at; at = at->next)
        walk_stmt(w, at);
    if (s)
        activate(w, before);
}

/* ---- As text ---- */

static int in_order(const void *x, const void *y)
{
    const kj_line_note *a = x, *b = y;
    if (a->span.begin != b->span.begin)
        return a->span.begin < b->span.begin ? -1 : 1;
    return a->order - b->order;
}

/* What two calls of a function say alike is said once, but for bounds, which are counted. */
static bool is_repeated(const kj_line_note *all, int i)
{
    for (int k = i - 1; k >= 0 && all[k].span.begin == all[i].span.begin; k--)
        if (all[k].kind == all[i].kind && all[i].kind != KJ_NOTE_BOUNDS &&
            strcmp(all[k].subject, all[i].subject) == 0 && strcmp(all[k].text, all[i].text) == 0)
            return true;
    return false;
}

static const char *const kinds[] = {
    [KJ_NOTE_MEMORY] = "memory",         [KJ_NOTE_ATOMIC] = "atomic", [KJ_NOTE_BOUNDS] = "bounds",
    [KJ_NOTE_BRANCH] = "branch",         [KJ_NOTE_LOOP] = "loop",     [KJ_NOTE_BARRIER] = "barrier",
    [KJ_NOTE_ARITHMETIC] = "arithmetic", [KJ_NOTE_BLOCK] = "block"};

static void put_line(kj_text *t, const kj_source *source, uint32_t offset)
{
    kj_position at = kj_where(source, offset);
    kj_source_part part = kj_source_at(source, offset);
    uint32_t begin = offset, end = offset;
    while (begin > part.begin && source->text[begin - 1] != '\n')
        begin--;
    while (end < part.end && source->text[end] != '\n')
        end++;
    kj_text_printf(t, "line\t%s\t%u\t", at.file, at.line);
    kj_text_plain(t, source->text + begin, end - begin, false);
    kj_text_puts(t, "\n");
}

static void put_item(kj_text *t, const kj_source *source, kj_span item)
{
    for (uint32_t at = item.begin; at < item.end;) {
        put_line(t, source, at);
        while (at < item.end && source->text[at] != '\n')
            at++;
        at++;
    }
}

static const char *dump(kj_notes *w)
{
    kj_text t = {.arena = w->arena};
    const kj_tkernel *k = w->kernel;
    kj_span item = k->item;
    kj_position first = kj_where(w->source, item.begin), last = kj_where(w->source, item.end);
    kj_text_printf(&t, "kernel\t%s\t%lldx%lldx%lld\t%s\t%u\t%u\n", k->name, (long long)k->block[0],
                   (long long)k->block[1], (long long)k->block[2], first.file, first.line,
                   last.line);
    put_item(&t, w->source, item);
    qsort(w->all, (size_t)w->n, sizeof *w->all, in_order);
    for (int i = 0; i < w->n; i++) {
        const kj_line_note *n = &w->all[i];
        kj_position at = kj_where(w->source, n->span.begin);
        if (is_repeated(w->all, i))
            continue;
        if (n->span.begin < item.begin || n->span.begin >= item.end)
            put_line(&t, w->source, n->span.begin);
        kj_text_printf(&t, "note\t%s\t%u\t%u\t%s\t%s\t%s\t%s\n", at.file, at.line, at.column,
                       kinds[n->kind], n->subject, n->text, n->hint ? n->hint : "");
    }
    return t.data;
}

const char *kj_notes_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                          const kj_deps *deps)
{
    kj_notes *w = KJ_NEW(arena, kj_notes);
    *w = (kj_notes){.arena = arena, .source = source, .kernel = kernel, .deps = deps};
    w->has_lanes = kj_lanes_find(&w->lanes, arena, kernel, deps);
    memset(w->active, true, sizeof w->active);
    walk_stmts(w, kernel->body->body);
    kj_note_pending(w);
    kj_note_checks(w);
    return dump(w);
}
