/* print, range, len, str, append. In: values; out: text for the writer, or a value. */
#include "run/run.h"

#include <math.h>

static bool text_option(kj_run *r, const kj_rcall *c, int i, const char **text, size_t *len)
{
    if (!c->given[i])
        return true;
    if (!kj_run_arg_text(r, c, i, text))
        return false;
    *len = c->args[i].u.object->u.string.len;
    return true;
}

/* By the option whole. */
static bool how_to_put(kj_run *r, kj_rcall *c, int i, int *how)
{
    bool whole = false;
    bool ok = !c->given[i] || kj_run_truth(r, c->spans[i], "whole", c->args[i], &whole);
    *how = whole ? KJ_PUT_WHOLE : KJ_PUT_PLAIN;
    return ok;
}

bool kj_run_print(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *sep = " ", *end = "\n";
    size_t sep_len = 1, end_len = 1;
    *out = kj_run_none();
    int how;
    if (!text_option(r, c, 1, &sep, &sep_len) || !text_option(r, c, 2, &end, &end_len) ||
        !how_to_put(r, c, 3, &how))
        return false;
    kj_text t = {0};
    bool ok = true;
    for (int i = 0; ok && i < c->nrest; i++) {
        if (i > 0)
            kj_text_add(&t, sep, sep_len);
        ok = kj_run_put_value(r, c->rest_exprs[i]->span, &t, c->rest[i], how);
    }
    kj_text_add(&t, end, end_len);
    if (ok)
        return kj_run_write(r, c->span, &t);
    kj_text_free(&t);
    return false;
}

bool kj_run_make_str(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_text t = {0};
    int how;
    bool ok = how_to_put(r, c, 1, &how) && kj_run_put_value(r, c->spans[0], &t, c->args[0], how);
    if (ok && t.failed)
        ok = kj_run_no_memory(r, c->span);
    ok = ok && kj_run_string(r, c->span, t.data ? t.data : "", t.size, out);
    kj_text_free(&t);
    return ok;
}

bool kj_run_make_format(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_text t = {0};
    const char *spec;
    bool ok =
        kj_run_arg_text(r, c, 1, &spec) && kj_run_format(r, c->spans[0], spec, c->args[0], &t);
    if (ok && t.failed)
        ok = kj_run_no_memory(r, c->span);
    ok = ok && kj_run_string(r, c->span, t.data ? t.data : "", t.size, out);
    kj_text_free(&t);
    return ok;
}

/* range(0, 1, 0.1): of a step below 1 int(0.1) is none. */
static bool refuse_fraction(kj_run *r, const kj_rcall *c)
{
    int64_t step;
    double v = c->args[2].u.f;
    const char *text = r->source->text + c->spans[2].begin;
    if (v == trunc(v) || !(fabs(v) < 1 || kj_is_digit(*text)))
        return kj_run_arg_int(r, c, 2, &step);
    kj_run_fail(r, KJIT_TYPE, c->spans[2], "'step' of range is an int, not a float");
    double start = c->given[0] ? kj_run_as_float(c->args[0]) : 0;
    double turns = ceil((kj_run_as_float(c->args[1]) - start) / v - 1e-9);
    if (!kj_is_digit(*text) || !(turns >= 1 && turns <= 1e6))
        return kj_run_hint(r, "count turns, and compute with them: start + 0.5 * i");
    kj_quote by = kj_quoted(r->source, c->spans[2], true, "0.5"),
             first = kj_quoted(r->source, c->spans[0], true, "start");
    bool from0 = !c->given[0] || start == 0;
    return kj_run_hint(r, "count turns, range(%.0f), and compute with them: %s%s%s * i", turns,
                       from0 ? "" : first.text, from0 ? "" : " + ", by.text);
}

bool kj_run_make_range(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    int64_t start = 0, stop, step = 1;
    if ((c->given[0] && !kj_run_arg_int(r, c, 0, &start)) || !kj_run_arg_int(r, c, 1, &stop) ||
        (c->given[2] && c->args[2].kind != KJ_R_FLOAT && !kj_run_arg_int(r, c, 2, &step)))
        return false;
    if (c->given[2] && c->args[2].kind == KJ_R_FLOAT)
        return refuse_fraction(r, c);
    return kj_run_range(r, c->span, start, stop, step,
                        out); /* step 0: no iterations, as in kernels */
}

/* Characters, not bytes: the continuation bytes of UTF-8 do not count. */
static int64_t characters(const kj_robject *string)
{
    int64_t n = 0;
    for (size_t i = 0; i < string->u.string.len; i++)
        n += ((unsigned char)string->u.string.text[i] & 0xc0) != 0x80;
    return n;
}

bool kj_run_len(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue v = c->args[0];
    if (v.kind == KJ_R_STRING)
        *out = kj_run_int(characters(v.u.object));
    else if (v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST)
        *out = kj_run_int(v.u.object->u.seq.n);
    else if (v.kind == KJ_R_RANGE)
        *out = kj_run_int(kj_run_range_count(v.u.object));
    else if (v.kind == KJ_R_ARRAY && kjit_array_ndim(v.u.object->u.array) > 0)
        *out = kj_run_int(kjit_array_shape(v.u.object->u.array)[0]);
    else
        return kj_run_fail(r, KJIT_TYPE, c->spans[0], "%s has no length", kj_run_kind_name(v));
    return true;
}

/* One tuple of what each has next; false at the end of one, or after a failure. */
static bool next_of_all(kj_run *r, kj_span at, const kj_rvalue *over, int n, int64_t i,
                        bool numbered, kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, n + numbered, out))
        return false;
    kj_rvalue *items = out->u.object->u.seq.items;
    if (numbered)
        *items++ = kj_run_widened(kj_run_int(i));
    for (int k = 0; k < n; k++) {
        if (!kj_run_item(r, at, over[k], i, &items[k])) {
            kj_run_drop(out);
            return false;
        }
    }
    return true;
}

static bool all_together(kj_run *r, kj_span at, const kj_rvalue *over, int n, bool numbered,
                         kj_rvalue *out)
{
    kj_rvalue item;
    if (!kj_run_sequence(r, at, KJ_R_LIST, 0, out))
        return false;
    for (int64_t i = 0; next_of_all(r, at, over, n, i, numbered, &item); i++)
        if (!kj_run_append(r, at, *out, item))
            return false;
    return r->status == KJIT_OK;
}

bool kj_run_enumerate(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    return all_together(r, c->span, c->args, 1, true, out);
}

bool kj_run_zip(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    if (c->nrest < 2)
        return kj_run_fail(r, KJIT_TYPE, c->span, "zip takes two or more, not %d", c->nrest);
    return all_together(r, c->span, c->rest, c->nrest, false, out);
}

bool kj_run_m_append(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    *out = kj_run_none();
    if (c->self.kind != KJ_R_LIST)
        return kj_run_lacks(r, c->span, c->self, c->id);
    kj_run_keep(c->args[0]);
    return kj_run_append(r, c->span, c->self, c->args[0]);
}
