/* Streams and events of run blocks. In: their handles; out: order between pieces of work, and
 * times. */
#include "run/run.h"

#include <string.h>

/* The failures of its work are the run's. */
static bool take_stream(kj_run *r, const kj_rcall *c, kjit_status made, kjit_stream *s,
                        kj_rvalue *out)
{
    if (!kj_run_check(r, made, c->span))
        return false;
    kj_stream_of_run(s, r->number);
    return kj_run_stream(r, c->span, s, out);
}

bool kj_run_new_stream(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_stream *s = NULL;
    kjit_status status = kjit_stream_create(r->ctx, &s);
    return take_stream(r, c, status, s, out);
}

bool kj_run_default_stream(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_stream *s = NULL;
    kjit_status status = c->id == KJ_RUN_PER_THREAD_DEFAULT_STREAM
                             ? kjit_stream_per_thread_default(r->ctx, &s)
                             : kjit_stream_legacy_default(r->ctx, &s);
    return take_stream(r, c, status, s, out);
}

bool kj_run_new_event(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_event *e = NULL;
    bool timing = true;
    if (c->given[0] && !kj_run_truth(r, c->spans[0], "timing", c->args[0], &timing))
        return false;
    return kj_run_check(r, kjit_event_create(r->ctx, timing, &e), c->span) &&
           kj_run_event(r, c->span, e, out);
}

bool kj_run_synchronize(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    *out = kj_run_none();
    return kj_run_check(r, kj_synchronize_run(r->ctx, r->number), c->span);
}

bool kj_run_device(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_device_info info;
    if (!kj_run_check(r, kjit_context_device(r->ctx, &info), c->span))
        return false;
    if (c->id == KJ_RUN_DEVICE_UNITS) {
        *out = kj_run_int(info.units);
        return true;
    }
    const char *text = c->id == KJ_RUN_DEVICE_KIND ? info.kind : info.name;
    return kj_run_string(r, c->span, text, strlen(text), out);
}

static bool event_argument(kj_run *r, const kj_rcall *c, int i, kjit_event **out)
{
    if (c->args[i].kind != KJ_R_EVENT)
        return kj_run_fail(r, KJIT_TYPE, c->spans[i], "an event is needed here, not %s",
                           kj_run_kind_name(c->args[i]));
    *out = c->args[i].u.object->u.event;
    return true;
}

bool kj_run_elapsed(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_event *from = NULL, *to = NULL;
    double ms = 0;
    if (!event_argument(r, c, 0, &from) || !event_argument(r, c, 1, &to))
        return false;
    if (!from->timing || !to->timing) {
        kj_run_fail(r, KJIT_TYPE, c->spans[from->timing], "the event was made without timing");
        return kj_run_hint(r, "event() makes one with it");
    }
    if (!kj_run_check(r, kjit_event_elapsed(from, to, &ms), c->span))
        return false;
    *out = kj_run_float(ms);
    return true;
}

/* ---- Members ---- */

static bool no_member(kj_run *r, const kj_rcall *c)
{
    return kj_run_fail(r, KJIT_NOT_FOUND, c->span, "%s has no '%s'", kj_run_kind_name(c->self),
                       kj_run_builtins[c->id].name + 1);
}

bool kj_run_m_synchronize(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    *out = kj_run_none();
    if (c->self.kind == KJ_R_STREAM)
        return kj_run_check(r, kjit_stream_synchronize(c->self.u.object->u.stream), c->span);
    if (c->self.kind == KJ_R_EVENT)
        return kj_run_check(r, kjit_event_synchronize(c->self.u.object->u.event), c->span);
    return no_member(r, c);
}

bool kj_run_auto_synchronize(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    if (c->self.kind != KJ_R_STREAM)
        return no_member(r, c);
    kj_run_keep(c->self);
    *out = c->self;
    return true;
}

bool kj_run_query(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_status status;
    int done = 0;
    if (c->self.kind == KJ_R_STREAM)
        status = kjit_stream_query(c->self.u.object->u.stream, &done);
    else if (c->self.kind == KJ_R_EVENT)
        status = kjit_event_query(c->self.u.object->u.event, &done);
    else
        return no_member(r, c);
    *out = kj_run_bool(done);
    return kj_run_check(r, status, c->span);
}

bool kj_run_record(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_stream *stream;
    *out = kj_run_none();
    if (c->self.kind != KJ_R_EVENT)
        return no_member(r, c);
    return kj_run_arg_stream(r, c, 0, &stream) &&
           kj_run_check(r, kjit_event_record(c->self.u.object->u.event, stream), c->span);
}

/* The stream waits for the event: s.wait(e), or e.wait(s) as in Numba. */
bool kj_run_wait(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue stream = c->self, event = c->args[0];
    *out = kj_run_none();
    if (c->self.kind == KJ_R_EVENT) {
        stream = c->args[0];
        event = c->self;
    } else if (c->self.kind != KJ_R_STREAM) {
        return no_member(r, c);
    }
    if (stream.kind != KJ_R_STREAM || event.kind != KJ_R_EVENT)
        return kj_run_fail(r, KJIT_TYPE, c->spans[0], "%s is needed here, not %s",
                           c->self.kind == KJ_R_EVENT ? "a stream" : "an event",
                           kj_run_kind_name(c->args[0]));
    return kj_run_check(r, kjit_stream_wait(stream.u.object->u.stream, event.u.object->u.event),
                        c->span);
}
