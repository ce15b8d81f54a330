/* Capsules, written: a launch that failed, in an archive of arrays. In: a bound launch, and memory as it was before
 * it; out: `manifest`, lines of words; `file0`, ..., the texts of its source; `block0`, ..., bytes of memory that
 * its arrays lie in. docs/capsules.md has the lines.
 *
 * What a kernel only reads is as it was when the launch has failed, so only what it may write is copied before. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "launch/launch.h"
#include "launch/replay.h"
#include "parse/ast.h"
#include "stream/stream.h"

/* Memory that arguments lie in, of several that share some. */
typedef struct block {
    uintptr_t low, high;
    kj_buffer *buffer;
    bool written;
    /* Behind low % KJ_LINE zeros: where an element is in a line, it is in the copy. NULL: not yet. */
    kjit_array *copy;
} block;

typedef struct capsule {
    kj_binding *b;
    const kj_kernel_info *kernel;
    kjit_context *ctx;
    block blocks[KJ_MAX_PARAMS];
    int nblocks;
    kjit_named_array *members;
    char (*names)[24];
    int n;
} capsule;

/* ---- Memory ---- */

static bool is_written(const capsule *c, int param)
{
    for (int i = 0; i < c->b->nruntime; i++)
        if (c->b->runtime[i] == param && c->kernel->params[i].written)
            return true;
    return false;
}

/* The blocks that it meets become one with it. */
static void add_block(capsule *c, block add)
{
    for (int i = 0; i < c->nblocks;) {
        const block *old = &c->blocks[i];
        if (old->high <= add.low || add.high <= old->low) {
            i++;
            continue;
        }
        add.low = old->low < add.low ? old->low : add.low;
        add.high = old->high > add.high ? old->high : add.high;
        add.written |= old->written;
        c->blocks[i] = c->blocks[--c->nblocks];
        i = 0;
    }
    c->blocks[c->nblocks++] = add;
}

static const kjit_array *array_at(const capsule *c, int param)
{
    const kjit_arg *arg = c->b->args[param];
    return arg && kj_arg_is_array(arg) ? arg->u.array : NULL;
}

static void find_blocks(capsule *c)
{
    for (int i = 0; i < c->b->kernel->decl->nparams; i++) {
        const kjit_array *a = array_at(c, i);
        if (a && a->size > 0)
            add_block(c, (block){.low = a->low,
                                 .high = a->high,
                                 .buffer = a->buffer,
                                 .written = is_written(c, i)});
    }
}

static kjit_status new_bytes(kjit_context *ctx, int64_t size, kjit_array **out)
{
    return kj_array_create(ctx, KJIT_U8, 1, &size, 'C', KJIT_HOST, out);
}

static kjit_status copy_block(capsule *c, block *k)
{
    int64_t pad = (int64_t)(k->low % KJ_LINE), size = (int64_t)(k->high - k->low);
    kjit_status status = new_bytes(c->ctx, pad + size, &k->copy);
    if (status != KJIT_OK)
        return status;
    memset(k->copy->data, 0, (size_t)pad);
    kj_transfer t = {.dst = k->copy->data + pad,
                     .src = (const void *)k->low,
                     .dst_memory = KJIT_HOST,
                     .src_memory = k->buffer->memory,
                     .size = 1,
                     .ndim = 1,
                     .shape = {size},
                     .dst_stride = {1},
                     .src_stride = {1}};
    return kj_transfer_submit(&t, k->copy->buffer, k->buffer, NULL);
}

static kjit_status copy_blocks(capsule *c, bool all)
{
    kjit_status status = KJIT_OK;
    for (int i = 0; i < c->nblocks && status == KJIT_OK; i++)
        if ((all || c->blocks[i].written) && !c->blocks[i].copy)
            status = copy_block(c, &c->blocks[i]);
    return status;
}

/* ---- Members ---- */

static void add_member(capsule *c, kjit_array *a, const char *name, int number)
{
    kj_snprintf(c->names[c->n], sizeof c->names[c->n], number < 0 ? "%s" : "%s%d", name, number);
    c->members[c->n] = (kjit_named_array){.name = c->names[c->n], .array = a};
    c->n++;
}

static kjit_status add_text(capsule *c, const char *text, size_t size, const char *name, int number)
{
    kjit_array *a;
    kjit_status status = new_bytes(c->ctx, (int64_t)size, &a);
    if (status != KJIT_OK)
        return status;
    if (size > 0)
        memcpy(a->data, text, size);
    add_member(c, a, name, number);
    return KJIT_OK;
}

/* ---- The manifest ---- */

/* A name of anybody's: it has no line end. */
static void put_plain(kj_text *t, const char *text)
{
    for (; *text; text++)
        kj_text_add(t, (unsigned char)*text < ' ' ? "?" : text, 1);
}

static void put_rest(kj_text *t, const char *text)
{
    put_plain(t, text);
    kj_text_puts(t, "\n");
}

static void put_options(kj_text *t, const kjit_module *mod)
{
    const kj_compile_options *o = &mod->options;
    unsigned bounds = KJ_CHECK_BOUNDS, none = KJ_CHECK_NONE;
    kj_text_printf(t, "optimise %d\ncontract %d\nftz %d\ncheck %u\nstatements %d\nwritten %u\n",
                   o->opt_level, !o->no_contract, o->ftz,
                   o->checks & bounds ? o->checks : o->checks | none, mod->source.statements,
                   mod->source.written);
}

/* Those of the library are not among them: `use` finds them there. */
static bool is_of_library(const kj_file *file)
{
    return file->id[0] == 's';
}

static kjit_status add_files(capsule *c, kj_text *t)
{
    const kj_program *program = c->b->kernel->mod->program;
    const kj_source *s = &c->b->kernel->mod->source;
    kjit_status status = KJIT_OK;
    for (int i = 0; i < program->nfiles && status == KJIT_OK; i++) {
        kj_source_part part =
            s->nparts ? s->parts[i] : (kj_source_part){s->name, 0, (uint32_t)s->size};
        if (i > 0 && is_of_library(program->files[i]))
            continue;
        kj_text_printf(t, "file %d ", i);
        put_rest(t, part.name);
        status = add_text(c, s->text + part.begin, part.end - part.begin, "file", i);
        for (const kj_item *use = program->files[i]->items; use; use = use->next)
            for (int k = 1; use->used && k < program->nfiles; k++)
                if (program->files[k] == use->used && !is_of_library(use->used)) {
                    kj_text_printf(t, "use %d %d %s", i, k, use->library ? "std." : "");
                    put_rest(t, use->path);
                }
    }
    return status;
}

static void put_bytes(kj_text *t, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        kj_text_printf(t, "%02x", ((const unsigned char *)data)[i]);
}

static void put_array(const capsule *c, kj_text *t, const kjit_array *a, kjit_arg_kind kind)
{
    int k = 0;
    while (k < c->nblocks && (a->low < c->blocks[k].low || a->high > c->blocks[k].high))
        k++;
    bool none = a->size == 0;
    kj_text_printf(
        t, "%s %d %" PRId64 " %s %d",
        kind == KJIT_ARG_IN    ? "in"
        : kind == KJIT_ARG_OUT ? "out"
                               : "array",
        none ? -1 : k,
        none ? 0 : (int64_t)((uintptr_t)a->data - c->blocks[k].low + c->blocks[k].low % KJ_LINE),
        kj_dtype_name(c->ctx, a->dtype), a->ndim);
    for (int i = 0; i < a->ndim; i++)
        kj_text_printf(t, " %" PRId64, a->shape[i]);
    for (int i = 0; i < a->ndim; i++)
        kj_text_printf(t, " %" PRId64, a->strides[i]);
    kj_text_puts(t, "\n");
}

static void put_argument(const capsule *c, kj_text *t, int param)
{
    const kjit_arg *arg = c->b->args[param];
    if (!arg)
        return; /* its default */
    kj_text_printf(t, "argument %s ", c->b->kernel->decl->params[param].name);
    switch (arg->kind) {
    case KJIT_ARG_INT: kj_text_printf(t, "int %" PRId64 "\n", arg->u.i); break;
    case KJIT_ARG_UINT: kj_text_printf(t, "uint %" PRIu64 "\n", arg->u.u); break;
    case KJIT_ARG_BOOL: kj_text_printf(t, "bool %d\n", arg->u.i != 0); break;
    case KJIT_ARG_FLOAT:
        kj_text_puts(t, "float ");
        put_bytes(t, &arg->u.f, sizeof arg->u.f);
        kj_text_puts(t, "\n");
        break;
    case KJIT_ARG_VALUE:
        kj_text_printf(t, "value %s ", kj_dtype_name(c->ctx, arg->dtype));
        put_bytes(t, arg->u.value, kj_dtype_size(c->ctx, arg->dtype));
        kj_text_puts(t, "\n");
        break;
    default: put_array(c, t, arg->u.array, arg->kind); break;
    }
}

/* Const arrays that the host has filled, behind the blocks. */
static kjit_status add_consts(capsule *c, kj_text *t)
{
    const kjit_module *mod = c->b->kernel->mod;
    kjit_status status = KJIT_OK;
    int number = c->nblocks;
    for (int i = 0; i < mod->program->nfilled && status == KJIT_OK; i++) {
        const kjit_array *a = mod->filled[i].array;
        if (!a)
            continue;
        kj_text_printf(t, "const %d %s\n", number, mod->program->filled[i].name);
        status = add_text(c, a->data, (size_t)a->size * kj_array_elem(a), "block", number++);
    }
    return status;
}

/* For people: what it came to. */
static void put_notes(const capsule *c, kj_text *t, const kjit_fault *told)
{
    kj_text_printf(t, "note kjit %s, %s\n", kjit_version(), c->ctx->ops->kind);
    if (told) {
        kj_text_puts(t, "note ");
        put_plain(t, told->file);
        kj_text_printf(t, ":%d:%d: ", told->line, told->column);
        put_rest(t, told->message);
    }
}

static kjit_status add_manifest(capsule *c, const kjit_fault *told)
{
    kj_text t = {0};
    const kj_binding *b = c->b;
    kj_text_printf(&t, "kjit capsule 1\n");
    put_notes(c, &t, told);
    put_options(&t, b->kernel->mod);
    kj_text_printf(&t, "kernel %s\n", b->kernel->decl->name);
    for (int i = 0; i < 2; i++) {
        const int64_t *n = i ? b->block : b->grid;
        kj_text_printf(&t, "%s %" PRId64 " %" PRId64 " %" PRId64 "\n", i ? "block" : "grid", n[0],
                       n[1], n[2]);
    }
    kjit_status status = add_files(c, &t);
    for (int i = 0; i < b->kernel->decl->nparams; i++)
        put_argument(c, &t, i);
    if (status == KJIT_OK)
        status = add_consts(c, &t);
    if (status == KJIT_OK)
        status = t.failed ? kj_no_memory(c->ctx) : add_text(c, t.data, t.size, "manifest", -1);
    kj_text_free(&t);
    return status;
}

/* ---- The file ---- */

static kjit_status write_members(capsule *c, const char *path, const kjit_fault *told)
{
    kjit_status status = copy_blocks(c, true);
    size_t most = 1 + KJ_MAX_FILES + KJ_MAX_PARAMS + KJ_MAX_FILLED;
    c->members = calloc(most, sizeof *c->members);
    c->names = calloc(most, sizeof *c->names);
    if (status == KJIT_OK && (!c->members || !c->names))
        status = kj_no_memory(c->ctx);
    if (status == KJIT_OK)
        status = add_manifest(c, told);
    if (status == KJIT_OK)
        status = kj_capsule_check(c->b, path, c->members[c->n - 1].array);
    int texts = c->n;
    for (int i = 0; i < c->nblocks && status == KJIT_OK; i++)
        add_member(c, c->blocks[i].copy, "block", i);
    if (status == KJIT_OK)
        status = kj_npz_save(
            &(kj_save_request){.ctx = c->ctx, .path = path, .arrays = c->members, .n = c->n});
    for (int i = 0; i < texts; i++)
        kjit_array_free(c->members[i].array);
    free(c->members);
    free(c->names);
    return status;
}

/* `failed`, the call's own, stays the thread's last failure; KJIT_OK: it is a stream's. */
static void write_capsule(capsule *c, kjit_status failed)
{
    kj_capsules *to = &c->ctx->capsules;
    kj_kept_failure kept = {0};
    if (failed != KJIT_OK)
        kept = kj_failure_keep(c->ctx);
    to->status = write_members(c, to->path, kept.fault);
    to->written = to->status == KJIT_OK;
    if (!to->written)
        to->why = strdup(kj_thread_failure(c->ctx));
    atomic_store(&to->on, false);
    if (failed != KJIT_OK)
        kj_failure_again(c->ctx, kept);
}

/* ---- Launches ---- */

static kjit_status status_of(kjit_stream *s)
{
    pthread_mutex_lock(&s->lock);
    kjit_status status = s->status;
    pthread_mutex_unlock(&s->lock);
    return status;
}

static kjit_status launch(capsule *c, const kj_ready *ready, kjit_stream *stream)
{
    bool failed = stream && status_of(stream) != KJIT_OK;
    kjit_status status = kj_launch_go(c->b, ready, stream), came = status;
    if (stream && status == KJIT_OK && !failed) {
        c->ctx->ops->wait(c->ctx->dev, stream->queue);
        came = status_of(stream);
    }
    if (kj_is_fault(came))
        write_capsule(c, status);
    return status;
}

kjit_status kj_capsule_launch(kj_binding *b, const kj_ready *ready, kjit_stream *stream)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    kjit_status status = KJIT_OK;
    pthread_mutex_lock(&ctx->capsules.lock);
    if (!kj_capsule_wanted(ctx)) {
        pthread_mutex_unlock(&ctx->capsules.lock);
        return kj_launch_go(b, ready, stream);
    }
    capsule *c = calloc(1, sizeof *c);
    if (c) {
        c->b = b;
        c->ctx = ctx;
        c->kernel = ready->variant->kernel;
        find_blocks(c);
        status = copy_blocks(c, false);
    } else {
        status = kj_no_memory(ctx);
    }
    if (status == KJIT_OK)
        status = launch(c, ready, stream);
    for (int i = 0; c && i < c->nblocks; i++)
        kjit_array_free(c->blocks[i].copy);
    free(c);
    pthread_mutex_unlock(&ctx->capsules.lock);
    return status;
}

/* ---- Beginning and end ---- */

kjit_status kjit_capsule_begin(kjit_context *ctx, const char *path)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    status = kj_file_target(ctx, path);
    if (status == KJIT_OK)
        status = kj_npz_usable(ctx, path);
    if (status != KJIT_OK)
        return status;
    char *own = strdup(path);
    if (!own)
        return kj_no_memory(ctx);
    kj_capsules *c = &ctx->capsules;
    pthread_mutex_lock(&c->lock);
    bool begun = c->path != NULL;
    if (!begun) {
        c->path = own;
        atomic_store(&c->on, true);
    }
    pthread_mutex_unlock(&c->lock);
    if (!begun)
        return KJIT_OK;
    free(own);
    return kj_fail(ctx, KJIT_INVALID, "a capsule was begun already");
}

kjit_status kjit_capsule_end(kjit_context *ctx, int *written)
{
    if (written)
        *written = 0;
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    kj_capsules *c = &ctx->capsules;
    pthread_mutex_lock(&c->lock);
    bool begun = c->path != NULL;
    char *path = c->path, *why = c->why;
    status = c->status;
    if (written)
        *written = c->written;
    c->path = c->why = NULL;
    c->written = false;
    c->status = KJIT_OK;
    atomic_store(&c->on, false);
    pthread_mutex_unlock(&c->lock);
    if (!begun)
        status = kj_fail(ctx, KJIT_INVALID, "no capsule was begun");
    else if (status != KJIT_OK)
        kj_fail_lines(ctx, status, why ? why : "out of memory");
    free(path);
    free(why);
    return status;
}
