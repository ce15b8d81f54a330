/* Values as Python and NumPy print them. In: values; out: text. */
#include "run/value/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_quoted(kj_text *t, const char *text, size_t len)
{
    char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
    kj_text_add(t, &quote, 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            kj_text_puts(t, "\\n");
        else if (c == '\t')
            kj_text_puts(t, "\\t");
        else if (c == '\\' || c == (unsigned char)quote)
            kj_text_printf(t, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            kj_text_printf(t, "\\x%02x", c);
        else
            kj_text_add(t, &text[i], 1);
    }
    kj_text_add(t, &quote, 1);
}

static bool put_sequence(kj_run *r, kj_span at, kj_text *t, kj_rvalue v, int how)
{
    kj_robject *o = v.u.object;
    bool list = v.kind == KJ_R_LIST;
    if (o->busy ||
        r->depth >= KJ_RUN_MAX_DEPTH) { /* a list that holds itself, or too many in each other */
        kj_text_puts(t, list ? "[...]" : "(...)");
        return true;
    }
    o->busy = true;
    r->depth++;
    kj_text_puts(t, list ? "[" : "(");
    bool ok = true;
    for (int64_t i = 0; ok && i < o->u.seq.n; i++) {
        if (i > 0)
            kj_text_puts(t, ", ");
        ok = kj_run_put_value(r, at, t, o->u.seq.items[i], how | KJ_PUT_QUOTED) &&
             kj_run_has_room(r, at, t->size) && kj_run_check(r, kj_check_run(r->ctx), at);
    }
    kj_text_puts(t, list ? "]" : o->u.seq.n == 1 ? ",)" : ")");
    o->busy = false;
    r->depth--;
    return ok;
}

static bool put_array(kj_run *r, kj_span at, kj_text *t, kj_rvalue v, bool whole)
{
    kjit_array *a = v.u.object->u.array;
    char *text = NULL;
    uint64_t least = whole ? 2 * (uint64_t)a->size : 0; /* a digit and a blank each */
    if (!kj_run_has_room(r, at, t->size + least) ||
        !kj_run_check(r, kj_array_format(a, whole, &text), at))
        return false;
    kj_text_puts(t, text);
    free(text);
    return true;
}

/* `buf` is at least KJ_SCALAR_TEXT long. */
static const char *number_text(kj_rvalue v, char *buf)
{
    uint64_t element = 0;
    if (v.kind == KJ_R_COMPLEX)
        return kj_complex_text(v.u.f, v.imag, kj_aggregate_of((kj_dtype)v.dtype)->elem, buf);
    kj_value value = kj_run_to_value(v);
    if (v.kind == KJ_R_FLOAT)
        value.type = (kj_dtype)v.dtype;
    kj_value_write(&element, 0, value);
    return kj_scalar_text((kjit_dtype)value.type, &element, buf);
}

bool kj_run_put_value(kj_run *r, kj_span at, kj_text *t, kj_rvalue v, int how)
{
    char buf[KJ_SCALAR_TEXT];
    switch (v.kind) {
    case KJ_R_NONE: kj_text_puts(t, "None"); break;
    case KJ_R_BOOL:
    case KJ_R_INT:
    case KJ_R_COMPLEX:
    case KJ_R_FLOAT: kj_text_puts(t, number_text(v, buf)); break;
    case KJ_R_DTYPE: kj_text_puts(t, kj_dtype_name(r->ctx, v.dtype)); break;
    case KJ_R_KERNEL: kj_text_printf(t, "<kernel %s>", v.u.kernel->name); break;
    case KJ_R_STRING:
        if (how & KJ_PUT_QUOTED)
            put_quoted(t, v.u.object->u.string.text, v.u.object->u.string.len);
        else
            kj_text_add(t, v.u.object->u.string.text, v.u.object->u.string.len);
        break;
    case KJ_R_TUPLE:
    case KJ_R_LIST: return put_sequence(r, at, t, v, how);
    case KJ_R_RANGE:
        kj_text_printf(t, "range(%" PRId64 ", %" PRId64, v.u.object->u.range.start,
                       v.u.object->u.range.stop);
        if (v.u.object->u.range.step != 1)
            kj_text_printf(t, ", %" PRId64, v.u.object->u.range.step);
        kj_text_puts(t, ")");
        break;
    case KJ_R_ARRAY: return put_array(r, at, t, v, how & KJ_PUT_WHOLE);
    case KJ_R_LAZY: break; /* an argument is computed */
    case KJ_R_STREAM: kj_text_puts(t, "<stream>"); break;
    case KJ_R_EVENT: kj_text_puts(t, "<event>"); break;
    case KJ_R_SMART: kj_text_puts(t, "<smart array>"); break;
    case KJ_R_SCOPE: kj_text_puts(t, "<scope>"); break;
    }
    return true;
}

kj_rshort kj_run_short(kj_rvalue v)
{
    kj_rshort out;
    if (kj_run_is_number(v) || kj_run_is_complex(v))
        number_text(v, out.text);
    else
        kj_snprintf(out.text, sizeof out.text, "%s", kj_run_kind_name(v));
    return out;
}

/* All of it, or it is an error. */
static bool may_print(kj_run *r, kj_span at, size_t size)
{
    kj_failure why;
    if (kj_print_count(r->ctx, r->number, size) == size)
        return true;
    kjit_status status = kj_beyond(&why, "print_bytes", r->ctx->limits.most.print_bytes,
                                   "the run block prints more");
    return kj_run_fail(r, status, at, "%s", why.text);
}

bool kj_run_write(kj_run *r, kj_span at, kj_text *t)
{
    bool ok = !t->failed || kj_run_no_memory(r, at);
    if (ok && r->options->write)
        ok = may_print(r, at, t->size);
    if (ok && r->options->write && t->size > 0)
        r->options->write(r->options->user, t->data, t->size);
    kj_text_free(t);
    return ok;
}
