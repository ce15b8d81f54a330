/* Kernels of cumulative sums. In: what is summed, and along which axis; out: launches that leave at
 * each position the sum of the elements up to it.
 *
 * The axis is done in chunks, whose sums come first where it has several: they are cumulated
 * themselves, and each is what its chunk begins with. Where the axis is the fastest a block takes a
 * chunk, tile by tile: a thread sums its stretch of a tile, and the threads' sums are cumulated in
 * rounds; else a thread takes a chunk. On a CPU one thread goes through what a block's do, stretch by
 * stretch, which memory likes better there, and adds the same in the same order. That order is fixed
 * by the shape alone, as that of reductions is. */
#include "run/lazy/lazy.h"

#include <string.h>

/* A tile: STRETCH elements a thread, odd for the sake of shared memory's banks. A thread's chunk is
 * RUN elements, or all of them where there are MANY threads without that. */
enum { LANES = 128, STRETCH = 17, TILE = LANES * STRETCH, TILES = 4, CHUNK = TILES * TILE };
enum { WAYS = 4 }; /* stretches that one thread of a CPU sums side by side */
enum { RUN = 128, MANY = 16384 };

/* One launch: of the sums up to each element, or, without a target, of the chunks' sums. */
typedef struct pass {
    kj_lazy_kernel k;
    const kj_fold *types;
    kj_rvalue value;
    int target;     /* array of the domain; -1: the chunks' sums */
    bool exclusive; /* without the element itself */
    bool shifted;   /* of all but the last along the axis, which the target does not have */
    bool block;     /* a block a chunk, else a thread */
    bool lone;      /* and that block has one thread */
    char axis;      /* of the domain; 0: there is none, it has one element */
    char kept[KJ_DOMAIN_AXES + 1];
    int64_t chunks, lines;
    int64_t inner; /* positions along the last kept axis, beside which threads' chunks lie */
} pass;

/* ---- The kernels ---- */

static bool is_by(const pass *p)
{
    return p->types->op == KJ_FOLD_BY;
}

/* "let x = ...", the element at the position. */
static void put_element(pass *p, kj_text *t)
{
    kj_text value = {0};
    kj_lazy_value(&p->k, &value, p->value, p->types->elem);
    kj_lazy_lets(&p->k, t);
    kj_text_printf(t, "let x = %s(%s)\n", kj_type_name(p->types->acc),
                   value.data ? value.data : "");
    t->failed |= value.failed;
    kj_text_free(&value);
}

static void put_store(pass *p, kj_text *t, const char *sum)
{
    kj_lazy_element(&p->k, t, p->target);
    kj_text_printf(t, " = %s(%s)\n", kjit_dtype_name(p->k.domain.arrays[p->target].array->dtype),
                   sum);
}

/* What the chunk begins with; `to` is its number. By a function, sums of chunks begin with nothing. */
static void put_start(pass *p, const char *name)
{
    const char *acc = kj_type_name(p->types->acc);
    kj_text_printf(&p->k.body, "var %s: %s = ", name, acc);
    if (p->target >= 0 && p->chunks > 1)
        kj_text_puts(&p->k.body, "sums[to]\n");
    else if (p->target >= 0 && is_by(p))
        kj_text_puts(&p->k.body, "first_value[0]\n");
    else
        kj_text_printf(&p->k.body, "%s(0)\n", acc);
}

/* a = f(b, c) */
static void put_joined(pass *p, const char *a, const char *b, const char *c)
{
    kj_text_printf(&p->k.body, "%s = ", a);
    kj_fold_joined(&p->k, &p->k.body, p->types, b, c);
    kj_text_puts(&p->k.body, "\n");
}

/* The tile's elements become the sums up to them, and `carry` the sum with all of them. */
static void put_tile_sums(pass *p)
{
    kj_text *t = &p->k.body;
    const char *acc = kj_type_name(p->types->acc);
    kj_text_printf(t, "var sum: %s = 0\n", acc);
    const char *keep = p->target < 0 ? "" : "tile[t * stretch + j] = sum\n";
    kj_text_printf(t,
                   "let stretch = %d\n"
                   "for j in range(stretch) {\n"
                   "let x = tile[t * stretch + j]\n"
                   "%ssum += x\n%s"
                   "}\n",
                   STRETCH, p->exclusive ? keep : "", p->exclusive ? "" : keep);
    kj_text_printf(t,
                   "ends[t] = sum\n"
                   "syncthreads()\n"
                   "var d = 1\n"
                   "while d < %d {\n"
                   "var before: %s = 0\n"
                   "if t >= d { before = ends[t - d] }\n"
                   "syncthreads()\n"
                   "ends[t] += before\n"
                   "syncthreads()\n"
                   "d *= 2\n"
                   "}\n",
                   LANES, acc);
    if (p->target >= 0)
        kj_text_puts(t, "var before = carry\n"
                        "if t > 0 { before += ends[t - 1] }\n"
                        "for j in range(stretch) { tile[t * stretch + j] += before }\n");
    kj_text_printf(t,
                   "carry += ends[%d]\n"
                   "syncthreads()\n",
                   LANES - 1);
}

/* The ends of the threads' stretches become those of all up to them. */
static void put_joined_ends(pass *p)
{
    kj_text *t = &p->k.body;
    kj_text_printf(t,
                   "ends[t] = sum\n"
                   "syncthreads()\n"
                   "var d = 1\n"
                   "while d < %d {\n"
                   "if t >= d and count > 0 {\n",
                   LANES);
    put_joined(p, "sum", "ends[t - d]", "sum");
    kj_text_puts(t, "}\n"
                    "syncthreads()\n"
                    "ends[t] = sum\n"
                    "syncthreads()\n"
                    "d *= 2\n"
                    "}\n");
}

/* The same by a function, which joins elements that are there only: a thread has `count` of them. */
static void put_tile_joined(pass *p)
{
    kj_text *t = &p->k.body;
    kj_text_printf(t,
                   "let stretch = %d\n"
                   "let count = min(max(end - start - t * stretch, 0), stretch)\n"
                   "var sum = tile[t * stretch]\n"
                   "for j in range(1, count) {\n",
                   STRETCH);
    put_joined(p, "sum", "sum", "tile[t * stretch + j]");
    kj_text_puts(t, "}\n");
    put_joined_ends(p);
    if (p->target >= 0) {
        kj_text_puts(t, "sum = carry\n"
                        "if t > 0 and count > 0 {\n");
        put_joined(p, "sum", "carry", "ends[t - 1]");
        kj_text_printf(t,
                       "}\n"
                       "for j in range(count) {\n"
                       "let x = tile[t * stretch + j]\n%s",
                       p->exclusive ? "tile[t * stretch + j] = sum\n" : "");
        put_joined(p, "sum", "sum", "x");
        kj_text_puts(t, p->exclusive ? "}\n" : "tile[t * stretch + j] = sum\n}\n");
    }
    kj_text_printf(t, "let all = ends[(min(end - start, %d) - 1) // stretch]\n", TILE);
    if (p->target < 0)
        kj_text_puts(t, "if start == first { carry = all } else {\n");
    put_joined(p, "carry", "carry", "all");
    kj_text_puts(t, p->target < 0 ? "}\nsyncthreads()\n" : "syncthreads()\n");
}

/* The chunk of the block, from `first` to `end`, and the indices along the other axes. */
static void put_chunk(pass *p)
{
    kj_text *t = &p->k.body;
    const char *acc = kj_type_name(p->types->acc);
    kj_text_puts(t, "let to = blockIdx.x\n");
    if (!p->lone || p->target >= 0)
        kj_text_printf(t, "let tile = shared.array(%d, %s)\n", TILE, acc);
    kj_text_printf(t, "let ends = shared.array(%d, %s)\n", LANES, acc);
    kj_text_printf(t,
                   "let first = %s * %d\n"
                   "let end = min(first + %d, n%c)\n",
                   p->chunks > 1 ? "to % chunks" : "0", CHUNK, CHUNK, p->axis);
    if (*p->kept)
        kj_lazy_indices(t, p->kept, p->chunks > 1 ? "to // chunks" : "to");
    put_start(p, "carry");
}

static void put_block_body(pass *p)
{
    kj_text *t = &p->k.body;
    const char *acc = kj_type_name(p->types->acc);
    kj_text_puts(t, "let t = threadIdx.x\n");
    put_chunk(p);
    kj_text_printf(t,
                   "for start in range(first, end, %d) {\n"
                   "for k in range(0, %d, %d) {\n"
                   "let i%c = start + k + t\n"
                   "var term = %s(0)\n"
                   "if i%c < end {\n",
                   TILE, TILE, LANES, p->axis, acc, p->axis);
    put_element(p, t);
    kj_text_puts(t, "term = x\n"
                    "}\n"
                    "tile[k + t] = term\n"
                    "}\n"
                    "syncthreads()\n");
    if (is_by(p))
        put_tile_joined(p);
    else
        put_tile_sums(p);
    if (p->target >= 0) {
        kj_text_printf(t,
                       "for k in range(0, %d, %d) {\n"
                       "let i%c = start + k + t\n"
                       "if i%c < end { ",
                       TILE, LANES, p->axis, p->axis);
        put_store(p, t, "tile[k + t]");
        kj_text_puts(t, "}\n"
                        "}\n"
                        "syncthreads()\n");
    }
    kj_text_puts(t, "}\n");
    if (p->target < 0)
        kj_text_puts(t, "if t == 0 { sums[to] = carry }\n");
}

static void put_thread_body(pass *p)
{
    kj_text *t = &p->k.body;
    char axes[KJ_DOMAIN_AXES + 2];
    kj_lazy_chunk_axes(p->kept, p->chunks, axes);
    if (p->chunks > 1)
        kj_text_puts(t, "let nc = chunks\n");
    kj_lazy_positions(t, axes);
    kj_lazy_inside(t, axes);
    kj_lazy_number(t, axes, "to");
    put_start(p, "sum");
    kj_text_printf(t, "let chunk = %d\n", RUN);
    bool first = is_by(p) && p->target < 0;
    if (first) { /* a chunk begins with an element */
        kj_text_printf(t, "for i%c in range(ic * chunk, ic * chunk + 1) {\n", p->axis);
        put_element(p, t);
        kj_text_puts(t, "sum = x\n}\n");
    }
    if (p->chunks > 1)
        kj_text_printf(t, "for i%c in range(ic * chunk%s, min(ic * chunk + chunk, n%c)) {\n",
                       p->axis, first ? " + 1" : "", p->axis);
    else if (!p->axis)
        kj_text_puts(t, "for once in range(1) {\n");
    else
        kj_text_printf(t, "for i%c in range(n%c) {\n", p->axis, p->axis);
    put_element(p, t);
    if (p->exclusive)
        put_store(p, t, "sum");
    if (is_by(p))
        put_joined(p, "sum", "sum", "x");
    else
        kj_text_puts(t, "sum += x\n");
    if (p->target >= 0 && !p->exclusive)
        put_store(p, t, "sum");
    kj_text_puts(t, "}\n");
    if (p->target < 0)
        kj_text_puts(t, "sums[to] = sum\n");
    kj_text_puts(t, "}\n");
}

/* ---- A block of one thread ---- */

/* The ends of stretches become those of all up to them, in the rounds of put_tile_sums; from one array to the other
 * and back, as no element then waits for another. Gives the array that has them. */
static const char *put_lone_rounds(kj_text *t)
{
    const char *from = "ends", *to = "others";
    for (int d = 1; d < LANES; d *= 2) {
        kj_text_printf(t,
                       "for k in range(%d) { %s[k] = %s[k] }\n"
                       "for k in range(%d, %d) { %s[k] = %s[k] + %s[k - %d] }\n",
                       d, to, from, d, LANES, to, from, from, d);
        const char *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* Of these rounds what the last end is made of: its half of the additions in each. */
static const char *put_lone_total(kj_text *t)
{
    const char *from = "ends", *to = "others";
    for (int n = LANES / 2; n > 0; n /= 2) {
        kj_text_printf(t, "for k in range(%d) { %s[k] = %s[2 * k + 1] + %s[2 * k] }\n", n, to, from,
                       from);
        const char *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* The last, shorter tile of a chunk, as the other way of `if start + TILE <= end {`, which this closes: "for" each stretch
 * of it, and in it each element `i`. */
static void put_short_tile(const pass *p, kj_text *t, const char *before, const char *body,
                           const char *after)
{
    kj_text_printf(t,
                   "} else {\n"
                   "for t in range(%d) {\n%s"
                   "for i%c in range(start + t * %d, min(start + (t + 1) * %d, end)) {\n%s}\n%s"
                   "}\n"
                   "}\n",
                   LANES, before, p->axis, STRETCH, STRETCH, body, after);
}

/* What is done with each element x of a stretch, whose sum so far is `sum`. */
static void put_lone_element(pass *p, kj_text *t, const char *sum)
{
    put_element(p, t);
    if (p->target >= 0 && p->exclusive)
        kj_text_printf(t, "tile[i%c - start] = %s\n", p->axis, sum);
    kj_text_printf(t, "%s += x\n", sum);
    if (p->target >= 0 && !p->exclusive)
        kj_text_printf(t, "tile[i%c - start] = %s\n", p->axis, sum);
}

/* The sums of a tile's stretches. Those of a whole tile are made several at a time: a sum of floats waits for the one before
 * it, and the next stretch's need not. */
static void put_lone_sums(pass *p, kj_text *t)
{
    kj_text several = {0}, one = {0};
    char begin[64];
    const char *acc = kj_type_name(p->types->acc);
    kj_snprintf(begin, sizeof begin, "var sum: %s = 0\n", acc);
    put_lone_element(p, &several, "several[w]");
    put_lone_element(p, &one, "sum");
    kj_text_printf(t,
                   "if start + %d <= end {\n"
                   "for t in range(0, %d, %d) {\n"
                   "let several = local.array(%d, %s)\n"
                   "for w in range(%d) { several[w] = 0 }\n"
                   "for j in range(%d) {\n"
                   "for w in range(%d) {\n"
                   "let i%c = start + (t + w) * %d + j\n%s"
                   "}\n"
                   "}\n"
                   "for w in range(%d) { ends[t + w] = several[w] }\n"
                   "}\n",
                   TILE, LANES, WAYS, WAYS, acc, WAYS, STRETCH, WAYS, p->axis, STRETCH,
                   several.data ? several.data : "", WAYS);
    put_short_tile(p, t, begin, one.data ? one.data : "", "ends[t] = sum\n");
    t->failed |= several.failed || one.failed;
    kj_text_free(&several);
    kj_text_free(&one);
}

/* What comes before each stretch, and its elements, whose sums are stored by `store`. */
static void put_lone_stores(const pass *p, kj_text *t, const char *before, const char *store)
{
    kj_text_printf(t,
                   "if start + %d <= end {\n"
                   "for t in range(%d) {\n%s"
                   "for j in range(%d) {\nlet i%c = start + t * %d + j\n%s}\n"
                   "}\n",
                   TILE, LANES, before, STRETCH, p->axis, STRETCH, store);
    put_short_tile(p, t, before, store, "");
}

static void put_lone_tile(pass *p, const char *store)
{
    kj_text *t = &p->k.body;
    char text[128];
    put_lone_sums(p, t);
    if (p->target < 0) {
        kj_text_printf(t, "carry += %s[0]\n", put_lone_total(t));
        return;
    }
    const char *ends = put_lone_rounds(t);
    kj_snprintf(text, sizeof text, "var before = carry\nif t > 0 { before += %s[t - 1] }\n", ends);
    put_lone_stores(p, t, text, store);
    kj_text_printf(t, "carry += %s[%d]\n", ends, LANES - 1);
}

static void put_lone_body(pass *p)
{
    kj_text *t = &p->k.body;
    kj_text store = {0};
    put_chunk(p);
    if (p->target >= 0) {
        char sum[32];
        kj_snprintf(sum, sizeof sum, "tile[i%c - start] + before", p->axis);
        put_store(p, &store, sum);
    }
    kj_text_printf(t, "let others = shared.array(%d, %s)\nfor start in range(first, end, %d) {\n",
                   LANES, kj_type_name(p->types->acc), TILE);
    put_lone_tile(p, store.data ? store.data : "");
    kj_text_puts(t, "}\n");
    if (p->target < 0)
        kj_text_puts(t, "sums[to] = carry\n");
    t->failed |= store.failed;
    kj_text_free(&store);
}

/* ---- Passes ---- */

static bool begin(pass *p, int axis, kjit_array *target)
{
    const int64_t *shape;
    kj_domain *d = &p->k.domain;
    int ndim = kj_lazy_shape(p->value, &shape), nkept = 0;
    kj_domain_init(d, ndim, shape);
    d->group[axis] = 1;
    kj_lazy_gather(d, p->value);
    d->shape[axis] -= p->shifted;
    p->target = target ? kj_domain_add(d, target) : -1;
    kj_domain_join(d, -1);
    int64_t length = 1;
    p->lines = p->inner = 1;
    for (int i = 0; i < d->ndim; i++) {
        if (d->group[i]) {
            p->axis = (char)('0' + i);
            length = d->shape[i];
            continue;
        }
        p->kept[nkept++] = (char)('0' + i);
        p->inner = d->shape[i];
        p->lines *= d->shape[i];
    }
    const int64_t all = length + p->shifted; /* they are added as all are */
    p->block = d->group[d->ndim - 1] && (all > RUN || p->lines == 1);
    int64_t chunk = p->block ? CHUNK : p->lines < MANY ? RUN : length;
    p->chunks = length > chunk ? (length - 1) / chunk + 1 : 1;
    p->inner = p->block ? 1 : p->inner;
    kjit_device_info info;
    if (!kj_run_check(p->k.run, kjit_context_device(p->k.run->ctx, &info), p->k.at))
        return false;
    p->lone = p->block && !is_by(p) && strcmp(info.kind, "cpu") == 0;
    return kj_domain_views(p->k.run, p->k.at, d);
}

static bool launch(pass *p, kjit_array *sums, const char *what)
{
    int64_t grid[3], block[3];
    kj_lazy_kernel *k = &p->k;
    kj_lazy_params(k);
    if (p->chunks > 1) {
        kj_lazy_flat(k, "sums", sums);
        kj_lazy_parameter(k, "chunks", "i64", kjit_arg_i64(p->chunks));
    } else if (is_by(p)) {
        kj_lazy_flat(k, "first_value", p->types->first);
    }
    kj_lazy_extents(k);
    if (p->lone)
        put_lone_body(p);
    else if (p->block)
        put_block_body(p);
    else
        put_thread_body(p);
    kj_lazy_chunk_blocks(&k->domain, p->kept, p->chunks,
                         p->lone    ? 1
                         : p->block ? LANES
                                    : 0,
                         grid, block);
    return kj_lazy_launch(k, grid, block, what);
}

static bool scan(pass *p, int axis, kjit_array *target, const char *what);

/* For each chunk the sum of those before it, which are of the same line. */
static bool sums_before(const pass *whole, int axis, kjit_array **out)
{
    kj_run *r = whole->k.run;
    kj_span at = whole->k.at;
    kj_fold types = *whole->types;
    types.elem = types.acc;
    pass p = {.k = {.run = r, .at = at, .named = at},
              .types = whole->types,
              .value = whole->value,
              .shifted = whole->shifted};
    pass next = {.k = p.k, .types = &types, .exclusive = true};
    int64_t n = whole->lines * whole->chunks,
            size = (int64_t)kjit_dtype_size((kjit_dtype)types.acc);
    int64_t shape[3] = {whole->lines / whole->inner, whole->chunks, whole->inner};
    int64_t strides[3] = {whole->chunks * whole->inner * size, whole->inner * size, size};
    kjit_array *shaped = NULL;
    bool ok =
        kj_run_check(r,
                     kjit_array_create(r->ctx, (kjit_dtype)types.acc, 1, &n, 'C', KJIT_DEVICE, out),
                     at) &&
        begin(&p, axis, NULL) && launch(&p, *out, ", sums of chunks") &&
        kj_run_check(r, kj_array_restride(*out, 3, shape, strides, &shaped), at) &&
        kj_run_array(r, at, shaped, &next.value) && scan(&next, 1, shaped, ", sums before them");
    kj_run_drop(&next.value);
    kj_lazy_free(&p.k);
    return ok;
}

static bool scan(pass *p, int axis, kjit_array *target, const char *what)
{
    kjit_array *sums = NULL;
    bool ok = begin(p, axis, target) && (p->chunks == 1 || sums_before(p, axis, &sums));
    if (ok) {
        p->k.domain.arrays[p->target].view->overwritten = !p->exclusive;
        ok = launch(p, sums, what);
    }
    kjit_array_free(sums);
    kj_lazy_free(&p->k);
    return ok;
}

bool kj_scan_launch(kj_run *r, kj_span at, const kj_fold *types, kj_rvalue v, int axis,
                    kjit_array *target)
{
    pass p = {.k = {.run = r, .at = at, .named = at}, .types = types, .value = v};
    p.exclusive = types->exclusive;
    return target->size == 0 || scan(&p, axis, target, "");
}

bool kj_scan_launch_before(kj_run *r, kj_span at, const kj_fold *types, kj_rvalue v, int axis,
                           kjit_array *target)
{
    pass p = {.k = {.run = r, .at = at, .named = at}, .types = types, .value = v, .shifted = true};
    int64_t start[KJIT_MAX_NDIM] = {0}, stop[KJIT_MAX_NDIM];
    kjit_array *first = NULL, *others = NULL;
    if (target->size == 0)
        return true;
    memcpy(stop, target->shape, (size_t)target->ndim * sizeof *stop);
    stop[axis] = 1;
    bool ok = kj_run_check(r, kjit_array_slice(target, start, stop, NULL, &first), at) &&
              kj_run_check(r, kjit_array_fill(first, &(double[2]){0}, NULL), at);
    start[axis] = 1;
    stop[axis] = target->shape[axis];
    ok = ok && (stop[axis] == 1 ||
                (kj_run_check(r, kjit_array_slice(target, start, stop, NULL, &others), at) &&
                 scan(&p, axis, others, "")));
    kjit_array_free(first);
    kjit_array_free(others);
    return ok;
}
