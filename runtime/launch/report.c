/* What kernels print and assert. In: a launch of a kernel with sites; out: its lines, sorted by
 * block and thread (those of kernels that a kernel launched behind its own), and a failed assert as
 * the launch's failure.
 *
 * A launch has memory of its own for that (kj_report). On a device that does not work on the host's
 * memory that is a slot, which is as a launch wants it until one fails, and comes back with the
 * launch. For a kernel that prints it is copied to the device before the launch and back behind it,
 * in the launch's stream. Lines wait in the context (core/print.c) until a call that waits for work
 * hands them out. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

struct kj_reported {
    kj_work work; /* of the copy back, in a stream */
    kjit_module *mod;
    const kj_variant *variant;
    kjit_stream *stream;
    kj_slot *slot;            /* or NULL, and then: */
    kj_buffer *host, *device; /* device: NULL where that is the host's memory */
    kj_returning returning;   /* of the stream */
    bool goes;                /* it is in the stream's list */
    kj_halt *halt;            /* or NULL */
    uint64_t run;             /* the run block that launched, or 0 */
};

_Static_assert(sizeof(kj_report) <= KJ_SLOT_BYTES, "a slot takes a report without lines");

static kj_report *report_of(const kj_reported *r)
{
    return r->slot ? r->slot->host : r->host->data;
}

/* ---- Lines ---- */

enum { SITE, BLOCK, THREAD, VALUES }; /* words of a record */

typedef struct line {
    int child; /* kj_site's */
    const uint64_t *at;
} line;

static int compare(const void *a, const void *b)
{
    const line *l = a, *m = b;
    const uint64_t *x = l->at, *y = m->at;
    if (l->child != m->child)
        return l->child < m->child ? -1 : 1;
    for (int i = BLOCK; i <= THREAD; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return x < y ? -1 : x > y; /* a thread's own come in its order */
}

/* The records up to `end`; returns how many there are. NULL counts them only. */
static size_t find_lines(const kj_kernel_info *k, const uint64_t *at, const uint64_t *end,
                         line *out)
{
    size_t n = 0;
    while (end - at >= VALUES && at[SITE] < (uint64_t)k->nsites) {
        if (out)
            out[n] = (line){k->sites[at[SITE]]->child, at};
        n++;
        at += VALUES + k->sites[at[SITE]]->nvalues;
    }
    return n;
}

/* The text of a value; returns how many words it has. */
static int value_text(kj_dtype type, const uint64_t *words, char buf[KJ_SCALAR_TEXT])
{
    const kj_aggregate *of = kj_aggregate_of(type);
    char z[16];
    for (int i = 0; of && i < of->n; i++)
        memcpy(z + of->fields[i].offset, &words[i], kj_types[of->elem].size);
    kj_scalar_text((kjit_dtype)type, of ? (const void *)z : words, buf);
    return of ? of->n : 1;
}

static void put_line(kj_text *t, const kj_site *site, const uint64_t *values)
{
    char buf[KJ_SCALAR_TEXT];
    for (int i = 0; i < site->nparts; i++) {
        const kj_site_part *p = &site->parts[i];
        if (p->type != KJ_VOID)
            values += value_text(p->type, values, buf);
        kj_text_puts(t, p->type == KJ_VOID ? p->text : buf);
    }
}

static uint64_t bytes_of(const kj_report *report)
{
    uint64_t n = report->used < report->end ? report->used : report->end;
    return n < KJ_PRINT_BYTES ? n : KJ_PRINT_BYTES;
}

/* Until there are more than `most` bytes: a record may stand for a long text. */
static void put_lines(const kj_reported *r, uint64_t most, kj_text *t)
{
    const kj_report *report = report_of(r);
    const kj_kernel_info *k = r->variant->kernel;
    const uint64_t *end = report->words + bytes_of(report) / sizeof *report->words;
    size_t n = find_lines(k, report->words, end, NULL);
    line *lines = malloc((n + 1) * sizeof *lines);
    if (!lines) {
        t->failed = true;
        return;
    }
    find_lines(k, report->words, end, lines);
    qsort(lines, n, sizeof *lines, compare);
    for (size_t i = 0; i < n && t->size <= most; i++)
        put_line(t, k->sites[lines[i].at[SITE]], lines[i].at + VALUES);
    free(lines);
    if (report->lost > 0)
        kj_text_printf(t, "(%s printed %llu more lines than fit into %d bytes)\n", r->variant->what,
                       (unsigned long long)report->lost, (int)KJ_PRINT_BYTES);
}

/* Whole lines of the first `size` bytes. */
static size_t whole_lines(const kj_text *t, size_t size)
{
    while (size > 0 && t->data[size - 1] != '\n')
        size--;
    return size;
}

kjit_status kj_report_deliver(kj_reported *r, kj_failure *why)
{
    kjit_context *ctx = r->mod->ctx;
    kj_text text = {0};
    uint64_t room;
    if (!r->variant->kernel->prints || !kj_print_room(ctx, r->run, &room))
        return KJIT_OK;
    put_lines(r, room, &text);
    size_t fits = kj_print_count(ctx, r->run, text.size);
    bool beyond = fits < text.size;
    if (beyond)
        text.size = whole_lines(&text, fits);
    kj_print_keep(ctx, r->run, &text);
    kj_text_free(&text);
    if (!beyond)
        return KJIT_OK;
    char what[200];
    kj_snprintf(what, sizeof what, "%s prints more", r->variant->what);
    return kj_beyond(why, "print_bytes", ctx->limits.most.print_bytes, what);
}

void kj_report_deliver_in(kj_reported *r, kjit_stream *stream)
{
    kj_failure why;
    kjit_status status = kj_report_deliver(r, &why);
    if (status != KJIT_OK)
        kj_stream_failed(stream, status, (kj_telling){.text = strdup(why.text)});
}

/* ---- A launch's report ---- */

void kj_report_free(kj_reported *r)
{
    if (!r)
        return;
    if (r->slot)
        kj_slot_give(r->mod->ctx, r->slot);
    if (r->device)
        kj_buffer_drop(r->device);
    if (r->host)
        kj_buffer_drop(r->host);
    kj_halt_drop(r->halt);
    kj_module_drop(r->mod);
    free(r);
}

static kj_transfer transfer(void *dst, kjit_memory to, const void *src, kjit_memory from,
                            size_t size)
{
    return (kj_transfer){.dst = dst,
                         .src = src,
                         .dst_memory = to,
                         .src_memory = from,
                         .size = 1,
                         .ndim = 1,
                         .shape = {(int64_t)size},
                         .dst_stride = {1},
                         .src_stride = {1}};
}

/* Bytes from `first` on, back to the host. */
static kj_transfer back(const kj_reported *r, size_t first, size_t size)
{
    return transfer((char *)r->host->data + first, KJIT_HOST, (const char *)r->device->data + first,
                    KJIT_DEVICE, size);
}

static kjit_status new_memory(kjit_context *ctx, kjit_memory memory, size_t size, kj_buffer **out)
{
    bool limited = ctx->limits.most.array_bytes != KJ_NO_LIMIT; /* else it is used again */
    kj_chunk chunk = {.memory = memory, .size = size, .how = limited ? KJ_UNCOUNTED : 0};
    return kj_buffer_create_as(ctx, &chunk, NULL, out);
}

static kjit_status send(kj_reported *r, size_t size)
{
    kjit_status status = new_memory(r->mod->ctx, KJIT_DEVICE, size, &r->device);
    if (status != KJIT_OK)
        return status;
    kj_transfer t =
        transfer(r->device->data, KJIT_DEVICE, r->host->data, KJIT_HOST, sizeof(kj_report));
    status = kj_transfer_submit(&t, r->device, r->host, r->stream);
    if (status != KJIT_OK || !r->halt)
        return status;
    /* as it is when the launch's turn comes, in the stream */
    const uint32_t *halt = kj_halt_word_of(r->halt).halt;
    t = transfer((char *)r->device->data + offsetof(kj_report, near_halt), KJIT_DEVICE, halt,
                 KJIT_MAPPED, sizeof *halt);
    return kj_transfer_submit(&t, r->device, r->host, r->stream);
}

/* As it is before a launch. */
static void clear(kj_report *report, const kj_halt *halt)
{
    memset(report, 0, sizeof *report);
    report->end = UINT64_MAX;
    report->halt = kj_halt_address(halt);
}

/* A slot for what fits into it, with both sides as they are before a launch; where the launch is one that can be
 * ended, it takes them along. */
static kjit_status begin_in_slot(kj_reported *r)
{
    kjit_context *ctx = r->mod->ctx;
    kj_failure why;
    r->slot = kj_slot_take(ctx);
    if (!r->slot || (r->slot->ready && !r->halt))
        return KJIT_OK;
    clear(r->slot->host, r->halt);
    if (r->halt)
        return KJIT_OK;
    kj_transfer t = transfer((void *)r->slot->device, KJIT_DEVICE, r->slot->host, KJIT_PINNED,
                             sizeof(kj_report));
    kjit_status status = ctx->ops->copy(ctx->dev, NULL, &t, NULL, &why);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

static kjit_status begin_in_memory(kj_reported *r)
{
    kjit_context *ctx = r->mod->ctx;
    size_t size = sizeof(kj_report) + (r->variant->kernel->prints ? KJ_PRINT_BYTES : 0);
    kjit_status status = new_memory(ctx, KJIT_HOST, size, &r->host);
    if (status != KJIT_OK)
        return status;
    clear(r->host->data, r->halt);
    return ctx->ops->host_memory ? KJIT_OK : send(r, size);
}

kjit_status kj_report_begin(kjit_module *mod, const kj_variant *variant, kjit_stream *stream,
                            kj_halt *halt, kj_reported **out)
{
    kjit_status status = KJIT_OK;
    kj_reported *r = calloc(1, sizeof *r);
    if (!r)
        return kj_no_memory(mod->ctx);
    r->mod = mod;
    r->variant = variant;
    r->stream = stream;
    r->halt = halt;
    kj_halt_hold(halt);
    r->run = kj_print_run(mod->ctx);
    kj_module_hold(mod);
    if (!variant->kernel->prints && !mod->ctx->ops->host_memory)
        status = begin_in_slot(r);
    if (status == KJIT_OK && !r->slot)
        status = begin_in_memory(r);
    if (status == KJIT_OK)
        *out = r;
    else
        kj_report_free(r);
    return status;
}

uint64_t kj_report_address(const kj_reported *r)
{
    return r->slot ? r->slot->device : (uintptr_t)(r->device ? r->device : r->host)->data;
}

void kj_report_ride(const kj_reported *r, kj_launch_call *call)
{
    if (!r || !r->slot)
        return;
    uintptr_t device = r->slot->device;
    call->back = (kj_hop){r->slot->host, device, sizeof(kj_report)};
    if (!r->halt)
        return;
    uint32_t *halt = (uint32_t *)(uintptr_t)kj_halt_word_of(r->halt).halt;
    call->there[0] = call->back;
    call->there[1] = (kj_hop){halt, device + offsetof(kj_report, near_halt), sizeof *halt};
}

bool kj_report_rides(const kj_reported *r)
{
    return r && (r->slot || r->mod->ctx->ops->host_memory);
}

/* ---- From a device with memory of its own ---- */

/* What the launch came to, its slot as it was before it or not. */
static bool has_failed(kj_reported *r, kjit_status status)
{
    bool failed = status == KJIT_OK && kj_has_failed(&report_of(r)->fault);
    if (r->slot)
        r->slot->ready = status == KJIT_OK && !failed && !r->halt;
    return failed;
}

static void fail_stream(const kj_reported *r)
{
    const kj_host_fault *fault = &report_of(r)->fault;
    kj_stream_failed(r->stream, kj_fault_status(fault),
                     kj_fault_told(r->mod, r->variant->kernel, fault));
}

static kjit_status fail_call(const kj_reported *r)
{
    const kj_host_fault *fault = &report_of(r)->fault;
    return kj_fail_fault(r->mod, kj_fault_status(fault),
                         kj_fault_told(r->mod, r->variant->kernel, fault));
}

void kj_report_goes(kj_reported *r)
{
    if (!r || r->mod->ctx->ops->host_memory)
        return;
    r->goes = true;
    r->returning.report = report_of(r);
    kj_stream_report_goes(r->stream, &r->returning);
}

void kj_report_stays(kj_reported *r)
{
    if (r && r->goes)
        kj_stream_report_comes(r->stream, &r->returning);
}

void kj_report_comes(kj_reported *r, kj_work *work, kjit_status status)
{
    kj_report_stays(r);
    if (has_failed(r, status))
        fail_stream(r);
    else
        kj_stream_ended(r->stream, work, status);
    if (status == KJIT_OK)
        kj_report_deliver_in(r, r->stream);
    kj_report_free(r);
}

static void come_back(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    (void)fault;
    kj_report_comes((kj_reported *)work, work, status);
}

/* The kernel is on its way, so that the launch has not failed: where the stream takes no copy the report is fetched
 * now, and what it says is the stream's. */
static kjit_status fetch_at_once(kj_reported *r)
{
    kjit_context *ctx = r->mod->ctx;
    kjit_stream *stream = r->stream;
    kj_failure why;
    kj_transfer t = back(r, 0, r->host->size);
    ctx->ops->wait(ctx->dev, stream->queue);
    kjit_status status = ctx->ops->copy(ctx->dev, NULL, &t, NULL, &why);
    r->work.why = status == KJIT_OK ? NULL : why.text;
    come_back(&r->work, status, NULL);
    return kj_stream_submitted(ctx, stream, NULL, KJIT_OK, &why);
}

static kjit_status fetch_later(kj_reported *r)
{
    kjit_context *ctx = r->mod->ctx;
    kj_failure why;
    kj_transfer t = back(r, 0, r->host->size);
    r->work.done = come_back;
    kjit_stream *stream = r->stream;
    kj_report_goes(r);
    kjit_status status = ctx->ops->copy(ctx->dev, stream->queue, &t, &r->work, &why);
    return status == KJIT_OK ? kj_stream_submitted(ctx, stream, NULL, status, &why)
                             : fetch_at_once(r);
}

static kjit_status fetch(kj_reported *r)
{
    kj_failure why;
    const kj_report *report = r->host->data;
    kj_transfer t = back(r, 0, sizeof *report);
    kjit_status status = kj_transfer_submit(&t, r->host, r->device, NULL);
    if (status == KJIT_OK && report->used > 0) {
        t = back(r, sizeof *report, bytes_of(report));
        status = kj_transfer_submit(&t, r->host, r->device, NULL);
    }
    kjit_status printed = status == KJIT_OK ? kj_report_deliver(r, &why) : KJIT_OK;
    if (has_failed(r, status))
        status = fail_call(r);
    else if (printed != KJIT_OK)
        status = kj_fail_why(r->mod->ctx, printed, &why);
    kj_report_free(r);
    return status;
}

kjit_status kj_report_end(kj_reported *r, kjit_status status)
{
    kjit_context *ctx = r->mod->ctx;
    kj_failure why;
    if (r->device && status == KJIT_OK)
        return r->stream ? fetch_later(r) : fetch(r);
    if (r->device && r->stream && r->halt) /* what was sent ahead reads the halt's word */
        ctx->ops->wait(ctx->dev, r->stream->queue);
    kjit_status printed = KJIT_OK;
    if (r->slot && has_failed(r, status))
        status = fail_call(r);
    else if (!r->device && !r->stream)
        printed = kj_report_deliver(r, &why);
    if (status == KJIT_OK && printed != KJIT_OK)
        status = kj_fail_why(ctx, printed, &why);
    kj_report_free(r);
    return status;
}
