/* Kernels of reductions. In: what is reduced, over which axes; out: launches that leave a number
 * for each position along the axes that stay.
 *
 * The order of additions is fixed by the shape alone, so results are the same bits on every device
 * and with any number of workers. Where the last axis is reduced, a block of LANES threads takes a
 * chunk of it: thread t its elements t, t + LANES, ..., and a tree joins the threads. Where it
 * stays, a thread takes RUN elements one after the other. What is left of the chunks is reduced
 * the same way again, until there is one. */
#include "run/lazy/lazy.h"

#include <inttypes.h>
#include <string.h>

bool kj_fold_places(kj_fold_op op)
{
    return op == KJ_FOLD_ARGMIN || op == KJ_FOLD_ARGMAX;
}

static bool is_sum(kj_fold_op op)
{
    return op == KJ_FOLD_SUM || op == KJ_FOLD_MEAN;
}

static bool is_least(kj_fold_op op)
{
    return op == KJ_FOLD_MIN || op == KJ_FOLD_ARGMIN;
}

/* ---- One number and another ---- */

void kj_fold_joined(kj_lazy_kernel *k, kj_text *t, const kj_fold *f, const char *a, const char *b)
{
    if (f->function)
        kj_lazy_function(k, t, f->function);
    else
        kj_text_puts(t, kj_builtins[f->builtin].name);
    kj_text_printf(t, "(%s, %s)", a, b);
}

/* What any element replaces. */
static void put_identity(kj_text *t, const kj_fold *f)
{
    bool least = is_least(f->op);
    uint8_t bits = kj_is_scalar(f->acc) ? kj_types[f->acc].bits : 0;
    if (f->op == KJ_FOLD_BY) /* there is none: this is never read */
        kj_text_printf(t, "%s(0)", kj_type_name(f->acc));
    else if (is_sum(f->op) || f->op == KJ_FOLD_ANY)
        kj_text_puts(t, kj_is_float(f->acc) ? "0.0" : "0");
    else if (f->op == KJ_FOLD_ALL)
        kj_text_puts(t, "1");
    else if (kj_is_float(f->acc))
        kj_text_puts(t, least ? "inf" : "-inf");
    else if (kj_is_signed(f->acc) && !least)
        kj_text_printf(t, "-%" PRIu64, (uint64_t)1 << (bits - 1));
    else
        kj_text_printf(t, "%" PRIu64,
                       least ? UINT64_MAX >> (64 - bits + kj_is_signed(f->acc)) : (uint64_t)0);
}

/* An element, of the type it has, as a number to join. */
static void put_element(kj_text *t, const kj_fold *f, const char *value)
{
    const char *acc = kj_type_name(f->acc);
    if (f->op == KJ_FOLD_ANY || f->op == KJ_FOLD_ALL)
        kj_text_printf(t, "i32(%s%s)", value, f->elem == KJ_BOOL ? "" : " != 0");
    else
        kj_text_printf(t, "%s(%s)", acc, value);
}

/* Joins v (of which `from` is the place) to acc (and at). A NaN is the least and the greatest; of
 * equal ones the first counts. */
static void put_join(kj_lazy_kernel *k, kj_text *t, const kj_fold *f)
{
    const char *op = is_least(f->op) ? "<" : ">";
    switch (f->op) {
    case KJ_FOLD_BY:
        kj_text_puts(t, "acc = ");
        kj_fold_joined(k, t, f, "acc", "v");
        kj_text_puts(t, "\n");
        return;
    case KJ_FOLD_SUM:
    case KJ_FOLD_MEAN: kj_text_puts(t, "acc += v\n"); return;
    case KJ_FOLD_ANY: kj_text_puts(t, "acc |= v\n"); return;
    case KJ_FOLD_ALL: kj_text_puts(t, "acc &= v\n"); return;
    case KJ_FOLD_MIN:
    case KJ_FOLD_MAX:
        if (kj_is_float(f->acc))
            kj_text_printf(t, "acc = v if v %s acc or v != v else acc\n", op);
        else
            kj_text_printf(t, "acc = %s(acc, v)\n", f->op == KJ_FOLD_MIN ? "min" : "max");
        return;
    case KJ_FOLD_ARGMIN:
    case KJ_FOLD_ARGMAX: break;
    }
    kj_text_printf(t, "let better = v %s acc or (v == acc and from < at)", op);
    if (kj_is_float(f->acc))
        kj_text_puts(t, " or (v != v and (acc == acc or from < at))");
    kj_text_puts(t, "\nacc = v if better else acc\n"
                    "at = from if better else at\n");
}

/* ---- A step: chunks of an axis to a number each ---- */

enum { LANES = KJ_FOLD_LANES, CHUNK = KJ_FOLD_CHUNK, RUN = 128 };

/* What is reduced in a step: the elements at first, then what the step before left. */
typedef struct step {
    kj_lazy_kernel k;
    const kj_fold *fold;
    kj_rvalue value; /* KJ_R_NONE: arrays 0 (and 1, places) of the domain */
    bool block;      /* a block a chunk, else a thread */
    bool last;       /* it leaves results, not numbers to go on with */
    /* Axes of the domain. Those whose turn comes in a later step are among the kept. */
    char kept[KJ_DOMAIN_AXES + 1], reduced[KJ_DOMAIN_AXES + 1];
    bool later; /* there are some */
    int64_t length, chunks, results;
} step;

/* Axes that did not join are reduced one after the other, the last one first: its elements are
 * beside each other. Not if it has so few that the step would leave much. */
static void look_at_axes(step *s)
{
    enum { FEW = 32 };
    const kj_domain *d = &s->k.domain;
    int nkept = 0, nreduced = 0, last = d->ndim - 1;
    while (last > 0 && !d->group[last])
        last--;
    s->length = s->results = 1;
    for (int axis = 0; axis < d->ndim; axis++) {
        char name = (char)('0' + axis);
        bool now = d->group[axis] && (axis == last || d->shape[last] < FEW);
        s->later |= d->group[axis] && !now;
        if (now)
            s->reduced[nreduced++] = name;
        else
            s->kept[nkept++] = name;
        *(now ? &s->length : &s->results) *= d->shape[axis];
    }
    s->block = s->results == 1 || (d->group[d->ndim - 1] && s->length > RUN);
    int64_t chunk = s->block ? CHUNK : RUN;
    s->chunks = s->length > chunk ? (s->length - 1) / chunk + 1 : 1;
}

/* The element's number in C order along all axes that are reduced, now and later. */
static void put_place(const step *s, kj_text *t)
{
    const kj_domain *d = &s->k.domain;
    kj_text_puts(t, "\nlet from: i64 = ");
    for (int axis = 0; axis < d->ndim; axis++)
        kj_text_puts(t, d->group[axis] ? "(" : "");
    kj_text_puts(t, "0");
    for (int axis = 0; axis < d->ndim; axis++) {
        if (d->group[axis])
            kj_text_printf(t, " * n%d + i%d)", axis, axis);
    }
}

/* The text that joins the element at place e of the reduced axes, or takes it as the first of them. */
static void put_turn(step *s, kj_text *t, bool first)
{
    kj_text value = {0};
    kj_lazy_indices(t, s->reduced, "e");
    if (s->value.kind == KJ_R_NONE) {
        kj_text_puts(t, "let v = ");
        kj_lazy_element(&s->k, t, 0);
        if (kj_fold_places(s->fold->op)) {
            kj_text_puts(t, "\nlet from = ");
            kj_lazy_element(&s->k, t, 1);
        }
    } else {
        kj_lazy_value(&s->k, &value, s->value, s->fold->elem);
        kj_lazy_lets(&s->k, t);
        kj_text_printf(t, "let x = %s\nlet v = ", value.data ? value.data : "");
        put_element(t, s->fold, "x");
        if (kj_fold_places(s->fold->op))
            put_place(s, t);
        t->failed |= value.failed;
        kj_text_free(&value);
    }
    kj_text_puts(t, "\n");
    if (first)
        kj_text_puts(t, "acc = v\n");
    else
        put_join(&s->k, t, s->fold);
}

static void put_start(step *s)
{
    kj_text *t = &s->k.body;
    kj_text_puts(t, "let length: i64 = 1");
    for (const char *axis = s->reduced; *axis; axis++)
        kj_text_printf(t, " * n%c", *axis);
    kj_text_printf(t, "\nvar acc: %s = ", kj_type_name(s->fold->acc));
    put_identity(t, s->fold);
    kj_text_puts(t, "\n");
    if (kj_fold_places(s->fold->op))
        kj_text_puts(t, "var at: i64 = 9223372036854775807\n");
}

/* What the step leaves at place `to`. */
static void put_result(step *s)
{
    kj_text *t = &s->k.body;
    const kj_fold *f = s->fold;
    if (!s->last) {
        kj_text_puts(t, "out[to] = acc\n");
    } else if (f->op == KJ_FOLD_BY) {
        kj_text_puts(t, "out[to] = ");
        kj_fold_joined(&s->k, t, f, "first_value[0]", "acc");
        kj_text_puts(t, "\n");
    } else if (f->op == KJ_FOLD_MEAN) {
        kj_text_printf(t, "out[to] = %s(acc / f64(count))\n", kj_type_name(f->out));
    } else if (f->op == KJ_FOLD_ANY || f->op == KJ_FOLD_ALL) {
        kj_text_puts(t, "out[to] = acc != 0\n");
    } else {
        kj_text_printf(t, "out[to] = %s(%s)\n", kj_type_name(f->out),
                       kj_fold_places(f->op) ? "at" : "acc");
    }
    if (!s->last && kj_fold_places(f->op))
        kj_text_puts(t, "places[to] = at\n");
}

/* ---- A chunk a block ---- */

/* The threads' numbers become thread 0's. Truths need no order, and less code: a barrier joins them. */
static void put_tree(step *s)
{
    kj_text *t = &s->k.body;
    bool places = kj_fold_places(s->fold->op);
    if (s->fold->op == KJ_FOLD_ANY || s->fold->op == KJ_FOLD_ALL) {
        kj_text_printf(t, "acc = i32(syncthreads_%s(acc != 0))\n",
                       s->fold->op == KJ_FOLD_ANY ? "or" : "and");
        return;
    }
    kj_text_printf(t, "let shared_acc = shared.array(%d, %s)\n", LANES, kj_type_name(s->fold->acc));
    kj_text_puts(t, "shared_acc[t] = acc\n");
    if (places)
        kj_text_printf(t,
                       "let shared_at = shared.array(%d, i64)\n"
                       "shared_at[t] = at\n",
                       LANES);
    kj_text_printf(t,
                   "syncthreads()\n"
                   "var half = %d\n"
                   "while half > 0 {\n"
                   "if t < half%s {\n"
                   "let v = shared_acc[t + half]\n",
                   LANES / 2, s->fold->op == KJ_FOLD_BY ? " and t + half < length - first" : "");
    if (places)
        kj_text_puts(t, "let from = shared_at[t + half]\n");
    put_join(&s->k, t, s->fold);
    kj_text_puts(t, "shared_acc[t] = acc\n");
    if (places)
        kj_text_puts(t, "shared_at[t] = at\n");
    kj_text_puts(t, "}\n"
                    "syncthreads()\n"
                    "half //= 2\n"
                    "}\n");
}

static void put_block_body(step *s)
{
    kj_text *t = &s->k.body, turn = {0};
    bool by = s->fold->op == KJ_FOLD_BY;
    put_turn(s, &turn, false);
    const char *text = turn.data ? turn.data : "";
    kj_text_puts(t, "let t = threadIdx.x\n"
                    "let to = blockIdx.x\n");
    if (*s->kept)
        kj_lazy_indices(t, s->kept, s->chunks > 1 ? "to // chunks" : "to");
    put_start(s);
    kj_text_printf(t, "let first = %s * %d\n", s->chunks > 1 ? "to % chunks" : "0", CHUNK);
    if (by) { /* each thread begins with an element */
        kj_text_puts(t, "if first + t < length {\nlet e = first + t\n");
        put_turn(s, t, true);
        kj_text_puts(t, "}\n");
    }
    /* Full chunks have turns without a test. */
    kj_text_printf(t,
                   "if first + %d <= length {\n"
                   "for k in range(first%s, first + %d, %d) {\n"
                   "let e = k + t\n"
                   "%s}\n"
                   "} else {\n"
                   "for k in range(first%s, length, %d) {\n"
                   "let e = k + t\n"
                   "if e < length {\n"
                   "%s}\n"
                   "}\n"
                   "}\n",
                   CHUNK, by ? " + blockDim.x" : "", CHUNK, LANES, text, by ? " + blockDim.x" : "",
                   LANES, text);
    put_tree(s);
    kj_text_puts(t, "if t == 0 {\n");
    put_result(s);
    kj_text_puts(t, "}\n");
    t->failed |= turn.failed;
    kj_text_free(&turn);
}

/* ---- A chunk a thread ---- */

static void put_thread_body(step *s)
{
    kj_text *t = &s->k.body;
    char axes[KJ_DOMAIN_AXES + 2];
    kj_lazy_chunk_axes(s->kept, s->chunks, axes);
    if (s->chunks > 1)
        kj_text_puts(t, "let nc = chunks\n");
    kj_lazy_positions(t, axes);
    kj_lazy_inside(t, axes);
    kj_lazy_number(t, axes, "to");
    put_start(s);
    const char *begin = s->chunks > 1 ? "ic * chunk" : "0";
    kj_text_printf(t, "let chunk = %d\n", RUN);
    if (s->fold->op == KJ_FOLD_BY) { /* it begins with an element */
        kj_text_printf(t, "if %s < length {\nlet e: i64 = %s\n", begin, begin);
        put_turn(s, t, true);
        kj_text_puts(t, "}\n");
    }
    kj_text_printf(t, "for e in range(%s%s, %s) {\n", begin,
                   s->fold->op == KJ_FOLD_BY ? " + 1" : "",
                   s->chunks > 1 ? "min(ic * chunk + chunk, length)" : "length");
    put_turn(s, t, false);
    kj_text_puts(t, "}\n");
    put_result(s);
    kj_text_puts(t, "}\n");
}

/* ---- Steps ---- */

static bool launch(step *s, const kj_partial *to)
{
    kj_lazy_kernel *k = &s->k;
    int64_t grid[3], block[3];
    kj_lazy_params(k);
    to->values->overwritten = true;
    kj_lazy_flat(k, "out", to->values);
    if (to->places)
        kj_lazy_flat(k, "places", to->places);
    if (s->chunks > 1)
        kj_lazy_parameter(k, "chunks", "i64", kjit_arg_i64(s->chunks));
    else if (s->last && s->fold->op == KJ_FOLD_MEAN)
        kj_lazy_parameter(k, "count", "i64", kjit_arg_i64(s->fold->count));
    if (s->last && s->fold->op == KJ_FOLD_BY)
        kj_lazy_flat(k, "first_value", s->fold->first);
    kj_lazy_extents(k);
    if (s->block)
        put_block_body(s);
    else
        put_thread_body(s);
    kj_lazy_chunk_blocks(&k->domain, s->kept, s->chunks, s->block ? LANES : 0, grid, block);
    return kj_lazy_launch(k, grid, block, s->value.kind == KJ_R_NONE ? ", what is left" : "");
}

static bool make_partial(kj_run *r, kj_span at, const kj_fold *f, int64_t n, kj_partial *out)
{
    *out = (kj_partial){0};
    return kj_run_check(
               r,
               kjit_array_create(r->ctx, (kjit_dtype)f->acc, 1, &n, 'C', KJIT_DEVICE, &out->values),
               at) &&
           (!kj_fold_places(f->op) ||
            kj_run_check(
                r, kjit_array_create(r->ctx, KJIT_I64, 1, &n, 'C', KJIT_DEVICE, &out->places), at));
}

void kj_partial_free(kj_partial *p)
{
    kjit_array_free(p->values);
    kjit_array_free(p->places);
    for (int i = 0; i < 2; i++)
        kjit_array_free(p->shaped[i]);
    *p = (kj_partial){0};
}

/* The arrays of what a step left, as those of the next. */
static bool add_partial(step *s, kj_partial *p)
{
    kj_domain *d = &s->k.domain;
    kjit_array *flat[2] = {p->values, p->places};
    int64_t strides[KJIT_MAX_NDIM];
    kj_domain_init(d, p->ndim, p->shape);
    for (int i = 0; i < p->ndim; i++)
        d->group[i] = p->reduced[i];
    for (int i = 0; i < 2 && flat[i]; i++) {
        kj_dense_strides(p->ndim, p->shape, kjit_dtype_size(flat[i]->dtype), 'C', strides);
        if (!kj_run_check(s->k.run,
                          kj_array_restride(flat[i], p->ndim, p->shape, strides, &p->shaped[i]),
                          s->k.at))
            return false;
        kj_domain_add(d, p->shaped[i]);
    }
    return true;
}

static void add_axis(kj_partial *p, int64_t extent, bool reduced)
{
    p->shape[p->ndim] = extent;
    p->reduced[p->ndim++] = reduced;
}

/* Beside what a step leaves at a place is what the next chunk leaves there, or, where threads take
 * chunks, the next place of the last axis. */
static void shape_partial(const step *s, kj_partial *p)
{
    const kj_domain *d = &s->k.domain;
    for (int i = 0; s->kept[i]; i++) {
        int axis = s->kept[i] - '0';
        if (!s->block && !s->kept[i + 1])
            add_axis(p, s->chunks, true);
        add_axis(p, d->shape[axis], d->group[axis]);
    }
    if (s->block)
        add_axis(p, s->chunks, true);
}

/* One launch. It fills `result` if one is enough, else, or if that is NULL, `left`. */
static bool take_step(step *s, int by, kjit_array *result, kj_partial *left)
{
    kj_run *r = s->k.run;
    kj_domain_join(&s->k.domain, by);
    look_at_axes(s);
    s->last = s->chunks == 1 && !s->later && result;
    if (!kj_domain_views(r, s->k.at, &s->k.domain))
        return false;
    if (s->last)
        return launch(s, &(kj_partial){.values = result});
    if (make_partial(r, s->k.at, s->fold, s->results * s->chunks, left) && launch(s, left)) {
        shape_partial(s, left);
        return true;
    }
    kj_partial_free(left);
    return false;
}

/* Where everything is reduced the order of the axes is free: the fastest last. */
static int leading_array(const kj_domain *d)
{
    for (int i = 0; i < d->narrays; i++) {
        bool all = true;
        for (int axis = 0; axis < d->ndim; axis++)
            all = all && d->arrays[i].has[axis] && d->group[axis];
        if (all)
            return i;
    }
    return -1;
}

static bool first_step(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                       kjit_array *result, kj_partial *left)
{
    step s = {.k = {.run = r, .at = at, .named = at}, .fold = f, .value = v};
    const int64_t *shape;
    int ndim = kj_lazy_shape(v, &shape);
    kj_domain_init(&s.k.domain, ndim, shape);
    for (int i = 0; i < ndim; i++)
        s.k.domain.group[i] = reduced[i];
    kj_lazy_gather(&s.k.domain, v);
    int by = kj_fold_places(f->op) ? -1 : leading_array(&s.k.domain);
    bool ok = take_step(&s, by, result, left);
    kj_lazy_free(&s.k);
    return ok;
}

static bool next_step(kj_run *r, kj_span at, const kj_fold *f, kj_partial *from, kjit_array *result,
                      kj_partial *left)
{
    step s = {.k = {.run = r, .at = at, .named = at}, .fold = f, .value = kj_run_none()};
    bool ok = add_partial(&s, from) && take_step(&s, -1, result, left);
    kj_lazy_free(&s.k);
    return ok;
}

bool kj_fold_launch(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                    kjit_array *result, kj_partial *left)
{
    *left = (kj_partial){0};
    if (!first_step(r, at, f, v, reduced, result, left))
        return false;
    while (result && left->values) {
        kj_partial next = {0};
        bool ok = next_step(r, at, f, left, result, &next);
        kj_partial_free(left);
        *left = next;
        if (!ok)
            return false;
    }
    return true;
}
