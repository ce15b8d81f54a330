/* A fault as values, for programs: what its message says, taken from what the message is made of. */
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

static kjit_fault_kind kind_of_site(const kj_site *site)
{
    switch (site->kind) {
    case KJ_SITE_BOUNDS: return KJIT_FAULT_BOUNDS;
    case KJ_SITE_REQUIRES: return KJIT_FAULT_REQUIRES;
    case KJ_SITE_SHAPE: return KJIT_FAULT_SHAPE;
    case KJ_SITE_OVERLAP: return KJIT_FAULT_OVERLAP;
    case KJ_SITE_LAUNCH: return KJIT_FAULT_LAUNCH;
    case KJ_SITE_WARP: return KJIT_FAULT_WARP;
    case KJ_SITE_NAN: return KJIT_FAULT_NAN;
    case KJ_SITE_INDEX: return KJIT_FAULT_INDEX;
    case KJ_SITE_ASSERT: break;
    }
    return KJIT_FAULT_ASSERT;
}

static void set_none(int64_t at[3])
{
    at[0] = at[1] = at[2] = -1;
}

static const char *launched_name(const kj_kernel_info *kernel, uint64_t child)
{
    return child > 0 && child <= (uint64_t)kernel->nlaunched ? kernel->launched[child - 1]
                                                             : kernel->name;
}

static kjit_access access_of(uint64_t flags)
{
    static const kjit_access of[] = {[KJ_WATCH_LOAD] = KJIT_ACCESS_READ,
                                     [KJ_WATCH_STORE] = KJIT_ACCESS_WRITE,
                                     [KJ_WATCH_ATOMIC] = KJIT_ACCESS_ATOMIC};
    uint64_t kind = flags & KJ_WATCH_KIND;
    return kind <= KJ_WATCH_ATOMIC ? of[kind] : KJIT_ACCESS_NONE;
}

/* ---- By kind ---- */

static void set_halted(kjit_fault *out, const kj_host_fault *f)
{
    out->status = kj_fault_status(f);
    out->kind = out->status == KJIT_CANCELLED ? KJIT_FAULT_CANCELLED : KJIT_FAULT_TIMEOUT;
    if (f->halted > KJ_HALTED_FRONT)
        memcpy(out->block, f->halted_block, sizeof out->block);
}

static void set_race(kjit_fault *out, const kj_source *source, const kj_host_fault *f,
                     const kj_message *m)
{
    kj_position begin = kj_where(source, m->note_span.begin),
                end = kj_where(source, m->note_span.end);
    out->kind = KJIT_FAULT_RACE;
    out->access = access_of(f->values[KJ_RACE_OWN_FLAGS]);
    out->other_access = access_of(f->values[KJ_RACE_FLAGS]);
    memcpy(out->other_thread, &f->values[KJ_RACE_THREAD], sizeof out->other_thread);
    memcpy(out->other_block, &f->values[KJ_RACE_BLOCK], sizeof out->other_block);
    out->other_file = begin.file;
    out->other_line = (int)begin.line;
    out->other_column = (int)begin.column;
    out->other_end_line = (int)end.line;
    out->other_end_column = (int)end.column;
}

static void set_barrier(kjit_fault *out, const kj_kernel_info *kernel, const kj_host_fault *f)
{
    bool grid = f->kind == KJ_FAULT_GRID_BARRIER;
    out->kind = grid ? KJIT_FAULT_GRID_BARRIER : KJIT_FAULT_BARRIER;
    out->arrived = f->arrived;
    out->expected = f->alive;
    if (grid)
        return;
    memcpy(out->block, f->block, sizeof out->block);
    out->kernel = launched_name(kernel, ~f->order >> KJ_FAULT_CHILD);
}

/* What has a site: a thread was there. */
static void set_site(kjit_fault *out, const kj_source *source, const kj_kernel_info *kernel,
                     const kj_host_fault *f, const kj_message *m)
{
    const kj_site *site = kernel->sites[f->offset < (uint32_t)kernel->nsites ? f->offset : 0];
    out->kind = kind_of_site(site);
    out->array = site->indexed;
    out->kernel = launched_name(kernel, (uint64_t)site->child);
    memcpy(out->block, f->block, sizeof out->block);
    memcpy(out->thread, f->thread, sizeof out->thread);
    if (f->kind == KJ_FAULT_UNSET)
        out->kind = KJIT_FAULT_INIT;
    if (f->kind == KJ_FAULT_UNSET)
        out->access = KJIT_ACCESS_READ;
    if (f->kind == KJ_FAULT_RACE)
        set_race(out, source, f, m);
    if (out->kind != KJIT_FAULT_BOUNDS)
        return;
    out->axis = site->axis < 0 ? 0 : site->axis;
    out->index_unsigned = site->parts[0].type == KJ_U64;
    out->index = (int64_t)f->values[0];
    out->extent = (int64_t)f->values[1];
}

/* ---- All of it ---- */

/* Its strings behind it, so that one free() is enough. */
static kjit_fault *with_strings(const kjit_fault *fault)
{
    const char *const own[] = {fault->message, fault->hint,  fault->kernel,
                               fault->file,    fault->array, fault->other_file};
    enum { N = sizeof own / sizeof *own };
    size_t sizes[N], all = 0;
    for (int i = 0; i < N; i++)
        all += sizes[i] = own[i] ? strlen(own[i]) + 1 : 0;
    kjit_fault *out = malloc(sizeof *out + all);
    if (!out)
        return NULL;
    *out = *fault;
    const char **const to[] = {&out->message, &out->hint,  &out->kernel,
                               &out->file,    &out->array, &out->other_file};
    char *at = (char *)(out + 1);
    for (int i = 0; i < N; at += sizes[i++])
        if (own[i])
            *to[i] = memcpy(at, own[i], sizes[i]);
    return out;
}

kjit_fault *kj_fault_fields(const kj_source *source, const kj_kernel_info *kernel,
                            const kj_host_fault *f, const kj_message *m)
{
    kj_position begin = kj_where(source, m->span.begin), end = kj_where(source, m->span.end);
    kjit_fault out = {.size = sizeof out,
                      .status = KJIT_FAULT,
                      .message = m->text,
                      .hint = m->hint,
                      .kernel = kernel->name,
                      .file = begin.file,
                      .line = (int)begin.line,
                      .column = (int)begin.column,
                      .end_line = (int)end.line,
                      .end_column = (int)end.column,
                      .axis = -1};
    set_none(out.block);
    set_none(out.thread);
    set_none(out.other_block);
    set_none(out.other_thread);
    bool barrier = f->kind == KJ_FAULT_DIVERGENT_BARRIER || f->kind == KJ_FAULT_GRID_BARRIER;
    if (kj_fault_status(f) != KJIT_FAULT)
        set_halted(&out, f);
    else if (barrier || kernel->nsites == 0)
        set_barrier(&out, kernel, f);
    else
        set_site(&out, source, kernel, f, m);
    if (source->written) /* of an expression: what it is called stands nowhere */
        out.kernel = "expr";
    return with_strings(&out);
}
