/* Index expressions -> addresses -> loads and stores; and the code of bounds checks. */
#include "lower/gang/gang.h"

enum { STEP_MOST = 1 << 24 }; /* times KJ_MAX_LANES still below 2^31 */

/* An index from an i32 that may wrap around between lanes, once, stays linear, where the wrapped
 * lanes' indices are negative or over 2^30 in a small array: no thread with an index in bounds sees
 * the difference. */
static kj_tile lower_index(kj_lower *lo, const kj_tarray *a, int axis, const kj_texpr *e, kj_mask m)
{
    for (const kj_index_check *c = a->checks; c; c = c->next)
        if (!c->index && c->axis == axis && !kj_is_hoisted(lo, c)) /* then it is seen */
            return kj_lower_expr(lo, e, m);
    bool small = lo->kernel->small || a->root->space != KJ_GLOBAL;
    if (e->kind == KJ_TE_CONVERT && e->u.unary.arg->type == KJ_I32) {
        kj_tile t = kj_lower_expr(lo, e->u.unary.arg, m);
        bool once = t.stride > -STEP_MOST && t.stride < STEP_MOST;
        if (t.form == KJ_LINEAR && once && (t.stride > 0 || small))
            t.wraps = false;
        return kj_tile_convert(lo, t, KJ_I64);
    }
    return kj_lower_expr(lo, e, m);
}

static bool is_one(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST && e->u.value.i == 1;
}

/* a op b, a part of an offset. Where it may not overflow, neither does the offset of an element
 * that is there, and constants in it can move into the instruction that accesses it. */
static kj_tile offset_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b)
{
    kj_tile t = kj_tile_binary(lo, op, a, b);
    if (lo->target->no_wrap)
        kj_no_wrap(t, op);
    return t;
}

/* Extents are not negative: as numbers without a sign, negative indices are beyond them. One comparison does it,
 * but of vectors, which not every CPU compares so. */
static kj_mask is_inside(kj_lower *lo, kj_tile index, kj_tile extent)
{
    bool scalar = index.lanes == 1 && index.rows == 1 && extent.lanes == 1 && extent.rows == 1;
    if (scalar && !kj_is_natural(index))
        return kj_mask_of(kj_tile_binary(lo, KJ_OP_LT, kj_tile_recast(lo, index, KJ_U64),
                                         kj_tile_recast(lo, extent, KJ_U64)));
    kj_mask inside = kj_mask_of(kj_tile_binary(lo, KJ_OP_LT, index, extent));
    if (kj_is_natural(index))
        return inside;
    kj_tile zero = kj_tile_int(lo, 0);
    return kj_mask_and(lo, kj_mask_of(kj_tile_binary(lo, KJ_OP_GE, index, zero)), inside);
}

/* Ends the launch where an index is outside, before anything is accessed. Threads whose indices are a
 * prefix of the gang's, as behind a guard, are compared by their numbers. */
static void lower_check(kj_lower *lo, const kj_index_check *c, kj_tile *at, kj_mask m)
{
    kj_tile extent = kj_lower_expr(lo, c->extent, m);
    kj_tile index = c->index ? kj_lower_expr(lo, c->index, m) : at[c->axis];
    if (kj_is_natural(index) && (int64_t)index.bounds.most < extent.bounds.least)
        return;
    kj_mask inside = is_inside(lo, index, extent);
    if (lo->hoisted && lo->hoisted->notes) {
        at[c->axis] = kj_note_outside(lo, index, kj_mask_within(lo, m, inside));
        return;
    }
    LLVMBasicBlockRef outside = kj_new_block(lo, "outside"), on = kj_new_block(lo, "inside");
    LLVMBuildCondBr(lo->b, kj_mask_within(lo, m, inside), on, outside);
    LLVMPositionBuilderAtEnd(lo->b, outside);
    kj_tile values[2] = {kj_tile_full(lo, index), kj_tile_full(lo, extent)};
    kj_lower_report(lo, c->site, values, kj_mask_andnot(lo, m, inside));
    LLVMPositionBuilderAtEnd(lo->b, on);
}

static void lower_checks(kj_lower *lo, const kj_tarray *a, kj_tile *at, kj_mask m)
{
    for (const kj_index_check *c = a->checks; c; c = c->next)
        if (!kj_is_hoisted(lo, c))
            lower_check(lo, c, at, m);
}

/* Are the elements of rows side by side, by an axis whose elements are? */
static bool has_columns(kj_lower *lo, const kj_tarray *a, const kj_tile at[KJ_MAX_NDIM])
{
    bool columns = false;
    if (a->bytes || (a->offset && kj_rows_of(lo, kj_dep(lo->deps, a->offset)) > 1))
        return false;
    for (int i = 0; i < a->ndim; i++) {
        if (at[i].rows == 1)
            continue;
        if (columns || !is_one(a->stride[i]) || !kj_are_neighbours(at[i]))
            return false;
        columns = true;
    }
    return columns;
}

/* The element's distance from the root's first, in elements. Where 32 bits hold it, vectors of it
 * are computed modulo 2^32: what overflows on the way there comes back. */
static kj_tile lower_offset(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m,
                            kj_tile at[KJ_MAX_NDIM])
{
    kj_tile sum = kj_tile_int(lo, 0);
    bool any = false, narrows = lo->target->narrows;
    for (int i = 0; i < a->ndim; i++) {
        at[i] = lower_index(lo, a, i, index[i], m);
        narrows |= at[i].form == KJ_DENSE && at[i].lanes > 1;
    }
    lower_checks(lo, a, at, m);
    kj_dtype type = narrows && (lo->kernel->small || a->root->space != KJ_GLOBAL) ? KJ_I32 : KJ_I64;
    if (a->offset) {
        sum = kj_tile_convert(lo, kj_lower_expr(lo, a->offset, m), type);
        any = true;
    }
    for (int i = 0; i < a->ndim; i++) {
        kj_tile term = kj_tile_convert(lo, at[i], type);
        if (!is_one(a->stride[i])) {
            kj_tile stride = kj_tile_convert(lo, kj_lower_expr(lo, a->stride[i], m), type);
            term = offset_binary(lo, KJ_OP_MUL, term, stride);
        }
        sum = any ? offset_binary(lo, KJ_OP_ADD, sum, term) : term;
        any = true;
    }
    if (type == KJ_I32)
        sum.wraps = false;
    return kj_tile_convert(lo, sum, KJ_I64);
}

int64_t kj_part_of_row(const kj_tarray *a, int64_t index)
{
    int64_t part;
    bool known = a->row && !a->root->of && !__builtin_add_overflow(a->row - 1, index, &part);
    return known && part >= 0 && part < a->root->last ? part : -1;
}

/* Lanes in a[..., i, 2] are parts of neighbouring rows of a short last axis, whose other parts are there, too. */
static void find_group(kj_access *out, const kj_tarray *a, kj_tile part)
{
    if (out->offset.form != KJ_LINEAR)
        return;
    int last = a->root->last;
    int64_t number = kj_is_known(part) ? kj_part_of_row(a, part.bounds.least) : -1;
    if (a->whole && a->root->space != KJ_LOCAL && out->offset.stride == a->whole->of->n) {
        out->group = a->whole->of->n;
        out->part = a->part;
    } else if (last > 1 && out->offset.stride == last && number >= 0) {
        out->group = last;
        out->part = (int)number;
    }
}

kj_access kj_lower_access(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m)
{
    kj_tile at[KJ_MAX_NDIM];
    kj_access out = {.type = a->elem,
                     .scope = kj_alias_scope(lo, a->root),
                     .offset = lower_offset(lo, a, index, m, at)};
    out.own = out.offset;
    if (a->root->space == KJ_LOCAL)
        lo->target->access_local(lo, a->root, &out);
    else
        out.base = lo->roots[a->root->id];
    if (!kj_is_crossed(lo, &out) && out.offset.form == KJ_CROSSED)
        out.offset = kj_tile_dense(lo, out.offset);
    if (a->ndim > 0)
        find_group(&out, a, at[a->ndim - 1]);
    out.columns = lo->rows > 1 && has_columns(lo, a, at);
    out.constant = a->root->space == KJ_GLOBAL && lo->kernel->disjoint && !a->root->written;
    out.cache = a->root->space == KJ_GLOBAL && lo->target->load_cached ? a->cache : NULL;
    out.past = a->root->past;
    out.room = lo->rooms ? lo->rooms[a->root->id] : NULL;
    out.again = a->root->space == KJ_SHARED && kj_is_fetched_again(a);
    return out;
}

bool kj_is_replayed(const kj_lower *lo, const kj_tarray *a)
{
    return lo->least && a->root->space == KJ_GLOBAL;
}

/* May its elements be what LLVM holds for nothing at all, as nobody wrote them? */
static bool is_unset(const kj_tarray *root)
{
    return root->space == KJ_LOCAL || (root->space == KJ_SHARED && !root->written);
}

/* As some value, the same wherever it is used: else an index could be inside where it is checked and outside where it is one. */
static kj_tile settled(kj_lower *lo, kj_tile t)
{
    for (int r = 0; r < t.rows; r++)
        t.v[r] = LLVMBuildFreeze(lo->b, t.v[r], "");
    return t;
}

kj_tile kj_lower_load(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m)
{
    kj_tile early;
    if ((lo->strip && kj_strip_loaded(lo, index, &early)) || kj_is_at_hand(lo, a, index, &early))
        return early;
    kj_access at = kj_lower_access(lo, a, index, m);
    if (lo->waits && a->root->written && a->root->space != KJ_LOCAL &&
        kj_waits_by_loads(lo->arena, lo->kernel, lo->waits, a)) {
        at.again = true;
        at.cache = NULL;
    }
    kj_watch_access(lo, a, &at, KJ_WATCH_LOAD, NULL, m);
    kj_fetch_ahead(lo, a, index, &at);
    kj_tile t = kj_load_access(lo, &at, m);
    t = is_unset(a->root) ? settled(lo, t) : t;
    kj_have_at_hand(lo, a, index, t);
    return t;
}

static bool is_free_expr(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool free =
        !e->checked && e->kind != KJ_TE_INLINE && e->kind != KJ_TE_LOAD && e->kind != KJ_TE_ATOMIC;
    for (int i = 0, n = kj_operands(e, operands); i < n && free; i++)
        free = is_free_expr(operands[i]);
    return free;
}

/* Is the place computed of what is at hand? Then it may be before the value is, so that statements beside
 * each other share what their places are made of; else not: what a check of the value tells is taken for
 * known by the checks of the place's own loads. */
static bool is_free(const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool free = true;
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n && free; i++)
        free = is_free_expr(operands[i]);
    return free;
}

/* An element of a thread's own array that is known: where all threads run that the array began for, nobody has the
 * others' part, and there is no selection. */
static bool is_for_all(const kj_lower *lo, const kj_tarray *a, const kj_access *at, kj_mask m)
{
    const kj_tarray *root = a->root;
    return root->space == KJ_LOCAL && !lo->regions->crossing[root->id] && kj_is_known(at->own) &&
           at->own.bounds.least >= 0 && at->own.bounds.least < root->static_count &&
           kj_same_mask(lo->since[root->id], m);
}

void kj_lower_store(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_texpr *value,
                    kj_mask m)
{
    if (lo->strip && kj_strip_stored(lo, index, value, m))
        return;
    bool first = kj_may_fail(value) && (a->checks || !is_free(a, index)); /* and told first */
    kj_tile v = first ? kj_lower_expr(lo, value, m) : (kj_tile){.rows = 0};
    kj_access at = kj_lower_access(lo, a, index, m);
    if (!first)
        v = kj_lower_expr(lo, value, m);
    if (kj_is_replayed(lo, a))
        return;
    kj_watch_access(lo, a, &at, KJ_WATCH_STORE, &v, m);
    kj_fetch_ahead(lo, a, index, &at);
    if (!kj_parts_take(lo, a, index, &at, v, m))
        kj_store_access(lo, &at, v, is_for_all(lo, a, &at, m) ? (kj_mask){.kind = KJ_ALL} : m);
}

/* ---- All parts of an element at once ---- */

/* The statement that stores the last part of an element, when from `s` on all of them are stored
 * one after the other; else NULL. */
static const kj_tstmt *last_part(const kj_tstmt *s, const kj_tstmt *end)
{
    const kj_tarray *a = s->u.store.array;
    if (!a->whole || a->part != 0)
        return NULL;
    const kj_tstmt *last = s;
    for (int k = 1; k < a->whole->of->n; k++) {
        last = last->next;
        if (last == end || !last || last->kind != KJ_TS_STORE ||
            last->u.store.array->whole != a->whole || last->u.store.array->part != k)
            return NULL;
        for (int i = 0; i < a->ndim; i++)
            if (last->u.store.index[i] != s->u.store.index[i])
                return NULL;
        if (kj_may_fail(last->u.store.value) && !is_free(a, s->u.store.index))
            return NULL;
    }
    return kj_may_fail(s->u.store.value) && !is_free(a, s->u.store.index) ? NULL : last;
}

const kj_tstmt *kj_lower_group(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m)
{
    const kj_tstmt *last =
        lo->lanes > 1 && s->kind == KJ_TS_STORE && !lo->watch ? last_part(s, end) : NULL;
    if (!last)
        return NULL;
    kj_parts_end(lo);
    kj_access a = kj_lower_access(lo, s->u.store.array, s->u.store.index, m);
    if (!a.group || (kj_types[a.type].size < 4 && m.kind != KJ_ALL))
        return NULL;
    kj_tile v[4];
    for (int k = 0; k < a.group; k++, s = s->next)
        v[k] = kj_lower_expr(lo, s->u.store.value, m);
    kj_store_parts(lo, &a, v, m);
    return last;
}
