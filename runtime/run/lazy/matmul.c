/* Matrix products. In: two arrays or expressions; out: an array, or a number.
 *
 * Products with a vector are sums of products, made as sum makes them, in f64. Those of matrices
 * are a kernel in which a block takes a tile of the result and goes along the axis that is summed
 * over: pieces of both operands come into shared memory, and a thread has 4 x 4 sums in registers.
 * An element's products are added in order of that axis, in the elements' type (f32 for halves);
 * where the axis is long and the result small, in pieces of it, which are joined as sum does. */
#include "run/lazy/lazy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shapes ---- */

typedef struct product {
    kj_run *r;
    kj_span at;
    kj_dtype type, acc; /* of the result, and of sums on the way */
    kj_rvalue v[2];
    int ndim[2];
    const int64_t *shape[2];
} product;

static bool misfit(const product *p, bool stacks)
{
    char x[KJ_SHAPE_TEXT], y[KJ_SHAPE_TEXT];
    kj_run_fail(p->r, KJIT_SHAPE, p->at, "the shapes %s and %s do not go together in '@'",
                kj_shape_text(p->ndim[0], p->shape[0], x),
                kj_shape_text(p->ndim[1], p->shape[1], y));
    if (stacks)
        return kj_run_hint(p->r, "axes before the last two meet as those of elements do");
    return kj_run_hint(p->r, "a row of the left has %lld elements, a column of the right %lld",
                       (long long)p->shape[0][p->ndim[0] - 1],
                       (long long)p->shape[1][p->ndim[1] > 1 ? p->ndim[1] - 2 : 0]);
}

/* What std.sparse makes: (offsets, columns, values, shape). */
static bool is_sparse(kj_rvalue v)
{
    if (v.kind != KJ_R_TUPLE || v.u.object->u.seq.n != 4)
        return false;
    const kj_rvalue *items = v.u.object->u.seq.items;
    return kj_is_array(items[0]) && kj_is_array(items[1]) && kj_is_array(items[2]) &&
           items[3].kind == KJ_R_TUPLE;
}

/* m @ x, with the operands as they are written where there are no more of them. */
static bool hint_sparse(const product *p, int which)
{
    enum { MOST = 40 };
    const char *text = p->r->source->text + p->at.begin;
    size_t n = p->at.end - p->at.begin;
    const char *sign = n < MOST ? memchr(text, '@', n) : NULL;
    bool whole =
        sign && !memchr(sign + 1, '@', n - (size_t)(sign + 1 - text)) && !memchr(text, '\n', n);
    const kj_rvalue *other = &p->v[!which];
    const int64_t *shape;
    bool matrix = kj_is_array(*other) && kj_lazy_shape(*other, &shape) == 2;
    const char *left = text, *right = whole ? sign + 1 : text;
    int nleft = whole ? (int)(sign - text) : 0, nright = whole ? (int)n - nleft - 1 : 0;
    while (nleft > 0 && left[nleft - 1] == ' ')
        nleft--;
    while (nright > 0 && *right == ' ') {
        right++;
        nright--;
    }
    if (is_sparse(*other))
        return kj_run_hint(p->r,
                           "one of them is made dense: sparse.spmm(m, sparse.to_dense(other))");
    if (which == 1)
        return kj_run_hint(p->r,
                           matrix ? "its transpose stands first: "
                                    "sparse.spmm(sparse.transpose(%.*s), %.*s.T).T"
                                  : "its transpose stands first: "
                                    "sparse.spmv(sparse.transpose(%.*s), %.*s)",
                           whole ? nright : 1, whole ? right : "m", whole ? nleft : 1,
                           whole ? left : "x");
    return kj_run_hint(p->r, "write sparse.%s(%.*s, %.*s)", matrix ? "spmm" : "spmv",
                       whole ? nleft : 1, whole ? left : "m", whole ? nright : 1,
                       whole ? right : "x");
}

static bool look_at_operands(product *p)
{
    for (int i = 0; i < 2; i++) {
        if (!kj_is_array(p->v[i])) {
            kj_run_fail(p->r, KJIT_TYPE, p->at, "'@' works on arrays, not on %s",
                        kj_run_kind_name(p->v[i]));
            if (is_sparse(p->v[i]))
                return hint_sparse(p, i);
            return kj_run_hint(p->r, kj_run_is_number(p->v[i]) ? "'*' multiplies by a number"
                                                               : "array(...) makes an array of it");
        }
        p->ndim[i] = kj_lazy_shape(p->v[i], &p->shape[i]);
        if (p->ndim[i] == 0)
            return kj_run_fail(p->r, KJIT_SHAPE, p->at, "'@' needs an axis to sum over");
    }
    if (!kj_lazy_common(p->r, p->at, "'@'", p->v, 2, &p->type))
        return false;
    p->acc = kj_is_float(p->type) && kj_types[p->type].size < 4 ? KJ_F32 : p->type;
    int64_t across = p->shape[0][p->ndim[0] - 1];
    return p->shape[1][p->ndim[1] > 1 ? p->ndim[1] - 2 : 0] == across || misfit(p, false);
}

/* An operand as an array. */
static bool finish(product *p, int i)
{
    bool ok = kj_lazy_finish(p->r, p->at, &p->v[i]);
    if (ok)
        p->ndim[i] = kj_lazy_shape(p->v[i], &p->shape[i]);
    return ok;
}

/* ---- Vectors ---- */

/* v @ M: v becomes a column, that its elements meet the rows. */
static bool stand_up(product *p)
{
    kjit_array *a = p->v[0].u.object->u.array, *column = NULL;
    kj_rvalue made;
    if (!kj_run_check(p->r,
                      kj_array_restride(a, 2, (int64_t[]){a->shape[0], 1},
                                        (int64_t[]){a->strides[0], a->strides[0]}, &column),
                      p->at) ||
        !kj_run_array(p->r, p->at, column, &made))
        return false;
    kj_run_drop(&p->v[0]);
    p->v[0] = made;
    return true;
}

static bool sum_of_products(product *p, kj_rvalue *out)
{
    kj_fold f = {.op = KJ_FOLD_SUM, .elem = p->type, .count = 1};
    kj_rvalue wide[2] = {kj_run_none(), kj_run_none()}, both = kj_run_none();
    bool reduced[KJIT_MAX_NDIM] = {false};
    int vector = p->ndim[0] == 1 ? 0 : 1, matrix = 1 - vector;
    kj_fold_types(&f);
    f.elem = f.acc;
    f.out = p->type;
    reduced[p->ndim[matrix] - (p->ndim[matrix] > 1 && vector == 0 ? 2 : 1)] = true;
    if (p->ndim[matrix] > 1 && /* else each element is needed once */
        (!finish(p, vector) || (vector == 0 && !stand_up(p))))
        return false;
    bool ok = kj_lazy_cast(p->r, p->at, f.acc, p->v[0], &wide[0]) &&
              kj_lazy_cast(p->r, p->at, f.acc, p->v[1], &wide[1]) &&
              kj_lazy_binary(p->r, p->at, KJ_OP_MUL, wide[0], wide[1], &both) &&
              kj_fold_value(p->r, p->at, &f, both, reduced, false, out);
    kj_run_drop(&wide[0]);
    kj_run_drop(&wide[1]);
    kj_run_drop(&both);
    if (ok && kj_is_int(p->type) && kj_run_is_number(*out)) /* it wraps */
        *out = kj_run_typed(kj_fold_convert(kj_run_to_value(*out), p->type));
    return ok;
}

/* ---- The kernels ---- */

enum { SIDE = 64, DEPTH = 32, THREADS = 16, EACH = SIDE / THREADS, THIN = 16 };
enum {
    PIECE = 4096,
    FEW = 65536
}; /* of the depth, where it is long and the result has few elements */

/* Axes of the domain: those of a stack of matrices, then rows, depth and columns. */
typedef struct axes {
    int stack;
    char m, k, n;
    bool thin;   /* a thread an element: most of a tile would be empty */
    bool pieces; /* the first of the stack's are pieces of the depth */
} axes;

static void stack_axes(axes a, char letters[KJ_DOMAIN_AXES + 1])
{
    kj_snprintf(letters, KJ_DOMAIN_AXES + 1, "%.*s", a.stack, "0123456");
}

/* Which part of the depth is summed here. */
static void put_range(kj_lazy_kernel *k, axes a)
{
    if (a.pieces)
        kj_text_printf(&k->body,
                       "let first = i0 * %d\n"
                       "let last = min(first + %d, n%c)\n",
                       PIECE, PIECE, a.k);
    else
        kj_text_printf(&k->body, "let first = 0\nlet last = n%c\n", a.k);
}

static void put_store(kj_lazy_kernel *k, const char *sum)
{
    kj_lazy_element(k, &k->body, 2);
    kj_text_printf(&k->body, " = %s(%s)\n", kjit_dtype_name(k->domain.arrays[2].array->dtype), sum);
}

static void put_thin_body(kj_lazy_kernel *k, axes a, kj_dtype type)
{
    kj_text *t = &k->body;
    const char *name = kjit_dtype_name((kjit_dtype)type);
    char letters[KJ_DOMAIN_AXES + 3];
    stack_axes(a, letters);
    kj_snprintf(letters + a.stack, 3, "%c%c", a.m, a.n);
    kj_lazy_extents(k);
    kj_lazy_positions(t, letters);
    kj_lazy_inside(t, letters);
    put_range(k, a);
    kj_text_printf(t,
                   "var sum: %s = 0\n"
                   "for i%c in range(first, last) { sum += %s(",
                   name, a.k, name);
    kj_lazy_element(k, t, 0);
    kj_text_printf(t, ") * %s(", name);
    kj_lazy_element(k, t, 1);
    kj_text_puts(t, ") }\n");
    put_store(k, "sum");
    kj_text_puts(t, "}\n");
}

/* Are elements along y nearer to each other than along x? Then neighbouring threads go along y, and
 * the tile's rows are one longer, for the sake of shared memory's banks. */
static bool is_turned(const kj_lazy_kernel *k, int i, int y, int x)
{
    const kj_domain_array *a = &k->domain.arrays[i];
    return llabs(a->strides[y - '0']) < llabs(a->strides[x - '0']);
}

/* A piece of array i into its tile, with axes y and x of the domain. */
static void put_load(kj_lazy_kernel *k, int i, int y, int x, const char *from_y, const char *from_x,
                     const int extent[2], const char *guard, const char *type)
{
    kj_text *t = &k->body;
    bool turned = is_turned(k, i, y, x);
    kj_text_printf(t,
                   "for v in range(0, %d, %d) {\n"
                   "for u in range(0, %d, %d) {\n"
                   "let y = v + %s\n"
                   "let x = u + %s\n"
                   "let i%c = %s + y\n"
                   "let i%c = %s + x\n"
                   "t%d[y, x] = %s(",
                   extent[0], THREADS, extent[1], THREADS, turned ? "tx" : "ty",
                   turned ? "ty" : "tx", y, from_y, x, from_x, i, type);
    kj_lazy_element(k, t, i);
    kj_text_puts(t, ")");
    if (guard)
        kj_text_printf(t, " if i%c < n%c and i%c < n%c else %s", y, y, x, x, guard);
    kj_text_puts(t, "\n}\n}\n");
}

static void put_loads(kj_lazy_kernel *k, axes a, kj_dtype type, bool guarded)
{
    const char *zero = !guarded            ? NULL
                       : kj_is_float(type) ? "0.0"
                                           : "0",
               *name = kjit_dtype_name((kjit_dtype)type);
    put_load(k, 0, a.m, a.k, "top", "start", (int[]){SIDE, DEPTH}, zero, name);
    put_load(k, 1, a.k, a.n, "start", "left", (int[]){DEPTH, SIDE}, zero, name);
}

static void put_head(kj_lazy_kernel *k, axes a, kj_dtype type)
{
    kj_text *t = &k->body;
    const char *name = kjit_dtype_name((kjit_dtype)type);
    kj_text_printf(t,
                   "let across = ceil_div(n%c, %d)\n"
                   "let down = ceil_div(n%c, %d)\n"
                   "let left = blockIdx.x %% across * %d\n"
                   "let top = blockIdx.x // across %% down * %d\n"
                   "let number = blockIdx.x // across // down\n",
                   a.n, SIDE, a.m, SIDE, SIDE, SIDE);
    char stack[KJ_DOMAIN_AXES + 1];
    stack_axes(a, stack);
    if (a.stack > 0)
        kj_lazy_indices(t, stack, "number");
    put_range(k, a);
    kj_text_printf(t,
                   "let t0 = shared.array((%d, %d), %s)\n"
                   "let t1 = shared.array((%d, %d), %s)\n"
                   "let tx = threadIdx.x\n"
                   "let ty = threadIdx.y\n"
                   "let sum = local.array((%d, %d), %s)\n"
                   "@unroll for r in range(%d) {\n"
                   "@unroll for s in range(%d) { sum[r, s] = 0 }\n"
                   "}\n",
                   SIDE, DEPTH + is_turned(k, 0, a.m, a.k), name, DEPTH,
                   SIDE + is_turned(k, 1, a.k, a.n), name, EACH, EACH, name, EACH, EACH);
}

static void put_tile_body(kj_lazy_kernel *k, axes a, kj_dtype type)
{
    kj_text *t = &k->body;
    kj_lazy_extents(k);
    put_head(k, a, type);
    kj_text_printf(t,
                   "let inside = top + %d <= n%c and left + %d <= n%c\n"
                   "for start in range(first, last, %d) {\n"
                   "if inside and start + %d <= n%c {\n",
                   SIDE, a.m, SIDE, a.n, DEPTH, DEPTH, a.k);
    put_loads(k, a, type, false);
    kj_text_puts(t, "} else {\n");
    put_loads(k, a, type, true);
    kj_text_printf(t,
                   "}\n"
                   "syncthreads()\n"
                   "for j in range(%d) {\n"
                   "@unroll for r in range(%d) {\n"
                   "@unroll for s in range(%d) {\n"
                   "sum[r, s] += t0[ty + %d * r, j] * t1[j, tx + %d * s]\n"
                   "}\n}\n}\n"
                   "syncthreads()\n"
                   "}\n"
                   "@unroll for r in range(%d) {\n"
                   "@unroll for s in range(%d) {\n"
                   "let i%c = top + ty + %d * r\n"
                   "let i%c = left + tx + %d * s\n"
                   "if i%c < n%c and i%c < n%c {\n",
                   DEPTH, EACH, EACH, THREADS, THREADS, EACH, EACH, a.m, THREADS, a.n, THREADS, a.m,
                   a.m, a.n, a.n);
    put_store(k, "sum[r, s]");
    kj_text_puts(t, "}\n}\n}\n");
}

/* ---- Matrices ---- */

/* The array's last two axes are y and x of the domain, those before the last of the stack. */
static void place(kj_domain *d, int stack, kjit_array *a, int y, int x)
{
    kj_domain_array *to = &d->arrays[kj_domain_append(d, a)];
    for (int i = 0; i < a->ndim; i++) {
        int axis = i == a->ndim - 1   ? x - '0'
                   : i == a->ndim - 2 ? y - '0'
                                      : stack - (a->ndim - 2) + i;
        to->has[axis] = axis >= stack || a->shape[i] == d->shape[axis];
        to->strides[axis] = to->has[axis] ? a->strides[i] : 0;
    }
}

static void choose_threads(const kj_domain *d, axes a, int64_t grid[3], int64_t block[3])
{
    int64_t extents[KJ_DOMAIN_AXES], rows = d->shape[a.m - '0'], columns = d->shape[a.n - '0'];
    for (int i = 0; i < a.stack; i++)
        extents[i] = d->shape[i];
    extents[a.stack] = rows;
    extents[a.stack + 1] = columns;
    if (a.thin) {
        kj_lazy_blocks(a.stack + 2, extents, grid, block);
        return;
    }
    grid[0] = ((rows - 1) / SIDE + 1) * ((columns - 1) / SIDE + 1);
    block[0] = block[1] = THREADS;
    grid[1] = grid[2] = block[2] = 1;
    for (int i = 0; i < a.stack; i++)
        grid[0] *= extents[i];
}

/* shape: of `out`, in which pieces come first. */
static bool launch(const product *p, const int64_t *shape, int ndim, bool pieces, kjit_array *out)
{
    kj_lazy_kernel k = {.run = p->r, .at = p->at, .named = p->at};
    char first = (char)('0' + ndim - 2);
    int64_t grid[3], block[3], depth = p->shape[0][p->ndim[0] - 1];
    axes a = {.stack = ndim - 2,
              .m = first,
              .k = (char)(first + 1),
              .n = (char)(first + 2),
              .thin = shape[ndim - 2] <= THIN || shape[ndim - 1] <= THIN || depth <= THIN,
              .pieces = pieces};
    kj_domain *d = &k.domain;
    kj_domain_init(d, ndim - 1, shape);
    d->shape[d->ndim++] = depth;
    d->shape[d->ndim++] = shape[ndim - 1];
    place(d, a.stack, p->v[0].u.object->u.array, a.m, a.k);
    place(d, a.stack, p->v[1].u.object->u.array, a.k, a.n);
    place(d, a.stack, out, a.m, a.n);
    bool ok = kj_domain_views(p->r, p->at, d);
    if (ok) {
        d->arrays[2].view->overwritten = true;
        kj_lazy_params(&k);
        (a.thin ? put_thin_body : put_tile_body)(&k, a, p->acc);
        choose_threads(d, a, grid, block);
        ok = kj_lazy_launch(&k, grid, block, pieces ? ", pieces" : "");
    }
    kj_lazy_free(&k);
    return ok;
}

/* A result of its own for each piece of the depth; their sum, made as sum makes it, is the
 * product. */
static bool in_pieces(const product *p, const int64_t *shape, int ndim, kjit_memory memory,
                      kj_rvalue *out)
{
    int64_t all[KJIT_MAX_NDIM] = {(p->shape[0][p->ndim[0] - 1] - 1) / PIECE + 1};
    bool reduced[KJIT_MAX_NDIM] = {true};
    kj_fold f = {.op = KJ_FOLD_SUM, .elem = p->acc, .count = all[0]};
    kj_rvalue parts;
    kj_fold_types(&f);
    f.out = p->type;
    memcpy(all + 1, shape, (size_t)ndim * sizeof *all);
    if (!kj_run_new_array(p->r, p->at, (kjit_dtype)p->acc, ndim + 1, all, memory, &parts))
        return false;
    bool ok = launch(p, all, ndim + 1, true, parts.u.object->u.array) &&
              kj_fold_value(p->r, p->at, &f, parts, reduced, false, out);
    kj_run_drop(&parts);
    return ok;
}

static bool result_shape(const product *p, int ndim, int64_t *shape)
{
    for (int i = 0; i < ndim - 2; i++) {
        int64_t of[2] = {1, 1};
        for (int k = 0; k < 2; k++) {
            int axis = i - (ndim - p->ndim[k]);
            of[k] = axis < 0 ? 1 : p->shape[k][axis];
        }
        if (of[0] != of[1] && of[0] != 1 && of[1] != 1)
            return misfit(p, true);
        shape[i] = of[0] == 1 ? of[1] : of[0];
    }
    shape[ndim - 2] = p->shape[0][p->ndim[0] - 2];
    shape[ndim - 1] = p->shape[1][p->ndim[1] - 1];
    return true;
}

static bool matrices(product *p, kj_rvalue *out)
{
    int ndim = p->ndim[0] > p->ndim[1] ? p->ndim[0] : p->ndim[1];
    int64_t shape[KJIT_MAX_NDIM], size = 1;
    bool device = kj_lazy_memory(p->v[0]) == KJIT_DEVICE || kj_lazy_memory(p->v[1]) == KJIT_DEVICE;
    kjit_memory memory = device ? KJIT_DEVICE : KJIT_HOST;
    if (!result_shape(p, ndim, shape) || !finish(p, 0) || !finish(p, 1))
        return false;
    for (int i = 0; i < ndim && size <= FEW; i++)
        size = shape[i] > FEW ? shape[i] * (size != 0) : size * shape[i];
    if (size > 0 && size <= FEW && ndim < KJIT_MAX_NDIM && p->shape[0][p->ndim[0] - 1] >= 2 * PIECE)
        return in_pieces(p, shape, ndim, memory, out);
    if (!kj_run_new_array(p->r, p->at, (kjit_dtype)p->type, ndim, shape, memory, out))
        return false;
    kjit_array *made = out->u.object->u.array;
    if (made->size == 0 || launch(p, shape, ndim, false, made))
        return true;
    kj_run_drop(out);
    return false;
}

/* Integers that meet floats become floats before they are multiplied, as for the operator `*`. */
static bool meet(product *p, int i)
{
    kj_rvalue made;
    if (!kj_is_float(p->type) || !kj_is_int(kj_lazy_type(p->v[i])))
        return true;
    if (!kj_lazy_cast(p->r, p->at, p->type, p->v[i], &made))
        return false;
    kj_run_drop(&p->v[i]);
    p->v[i] = made;
    kj_lazy_shape(made, &p->shape[i]);
    return true;
}

bool kj_lazy_matmul(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    product p = {.r = r, .at = at};
    if (!kj_lazy_take(r, at, (kj_rvalue[]){a, b}, 2, p.v))
        return false;
    bool vectors = false, ok = look_at_operands(&p);
    for (int i = 0; i < 2; i++) {
        vectors |= ok && p.ndim[i] == 1;
        ok = ok && meet(&p, i);
    }
    ok = ok && (vectors ? sum_of_products(&p, out) : matrices(&p, out));
    return kj_lazy_taken(p.v, 2, ok);
}
