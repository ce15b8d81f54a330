/* Elements of many scalars, from one array to another: loops over their words, where reading every part and then
 * writing every one would be thousands of statements. In: two places; out: what reading the whole first gives. */
#include "sema/value/value.h"

enum {
    MOST_PARTS = 64
}; /* of elements that are read part by part, and so meet what accesses single parts well */

bool kj_is_copied(const kj_aggregate *of)
{
    return of && kj_count_parts(of) > MOST_PARTS;
}

/* The words of an element: what its parts and their offsets are multiples of. */
static kj_dtype word_of(const kj_tarray *a)
{
    int size = kj_lies_anywhere(a) ? 1 : a->of->align;
    return size == 1 ? KJ_U8 : size == 2 ? KJ_U16 : size == 4 ? KJ_U32 : KJ_U64;
}

/* From the launch's arrays' first bytes, or the root's, to the element's: a number that is to be compared. */
static kj_texpr *begin_of(kj_sema *s, kj_tarray *a, bool address, kj_span span)
{
    kj_texpr *at = a->offset ? a->offset : kj_te_i64(s, 0, span);
    at = kj_i64_mul(s, at, kj_te_i64(s, kj_unit(a), span), span);
    if (!address)
        return at;
    kj_texpr *base = kj_te(s, KJ_TE_ADDRESS, KJ_I64, span);
    base->u.dim.array = a->root;
    return kj_te_binary(s, KJ_OP_ADD, base, at, span);
}

/* Does the target begin within what is read? NULL: never. */
static kj_texpr *begins_within(kj_sema *s, kj_tarray *to, kj_tarray *from, int64_t size,
                               kj_span span)
{
    bool same = to->root == from->root;
    bool apart = to->space != KJ_GLOBAL || from->space != KJ_GLOBAL || s->spec->disjoint;
    if (!same && apart)
        return NULL;
    kj_texpr *ahead = kj_te_binary(s, KJ_OP_SUB, begin_of(s, to, !same, span),
                                   begin_of(s, from, !same, span), span);
    ahead = kj_hold(s, ahead, "ahead");
    kj_texpr *behind = kj_te_binary(s, KJ_OP_GT, ahead, kj_te_i64(s, 0, span), span);
    kj_texpr *before = kj_te_binary(s, KJ_OP_LT, ahead, kj_te_i64(s, size, span), span);
    return kj_te_binary(s, KJ_OP_AND, behind, before, span);
}

static kj_operand place_in(kj_tarray *a, kj_texpr **index, kj_span span)
{
    kj_operand out = {.kind = KJ_V_PLACE, .span = span};
    out.u.place.array = a;
    out.u.place.index = index;
    return out;
}

static void copy_parts(kj_sema *s, const kj_operand *to, const kj_operand *from, kj_span span);

/* for j in range(n) { to[j] = from[j] }, or from the last to the first. */
static kj_tstmt *copy_loop(kj_sema *s, kj_tarray *to, kj_tarray *from, int64_t n, bool down,
                           kj_span span)
{
    kj_sink outer, inner;
    kj_sink_open(s, &outer);
    kj_var *j = kj_new_var(s, "j", span, KJ_I64, false);
    s->vars[j->id].least = 0;
    kj_sink_open(s, &inner);
    kj_texpr *at = kj_te_var(s, j, span);
    if (down)
        at = kj_hold(s, kj_i64_sub(s, kj_te_i64(s, n - 1, span), at, span), "at");
    kj_operand target = place_in(to, &at, span), source = place_in(from, &at, span);
    copy_parts(s, &target, &source, span);
    kj_tstmt *body = kj_sink_close(s, &inner), *made = kj_emit(s, KJ_TS_FOR, span);
    made->u.for_.var = j;
    made->u.for_.start = kj_te_i64(s, 0, span);
    made->u.for_.stop = kj_te_i64(s, n, span);
    made->u.for_.step = kj_te_i64(s, 1, span);
    made->u.for_.body = body;
    return kj_sink_close(s, &outer);
}

/* Scalar by scalar, neither being within the other. */
static void copy_parts(kj_sema *s, const kj_operand *to, const kj_operand *from, kj_span span)
{
    kj_tarray *a = to->u.place.array, *b = from->u.place.array;
    if (!a->of) {
        kj_store(s, a, to->u.place.index, kj_load(s, b, from->u.place.index, span), span);
    } else if (kj_is_fixed(a->of)) {
        kj_tarray *target = kj_row_at(s, to), *source = kj_row_at(s, from);
        kj_splice(s, copy_loop(s, target, source, a->of->n, false, span), false);
    }
    for (int i = 0; a->of && !kj_is_fixed(a->of) && i < a->of->n; i++) {
        kj_operand target = *to, source = *from;
        target.u.place.array = kj_part_view(s, a, &a->of->fields[i]);
        source.u.place.array = kj_part_view(s, b, &b->of->fields[i]);
        copy_parts(s, &target, &source, span);
    }
}

/* In threads' own arrays, which lie scalar by scalar, words are what is accessed otherwise; and where it is checked that
 * what is read was written, nobody wrote what is between the parts. */
static bool has_words(const kj_sema *s, const kj_tarray *a, kj_dtype word)
{
    int size = kj_types[word].size;
    bool checked = s->spec && s->spec->checks & KJ_CHECK_INIT;
    if (a->space != KJ_LOCAL)
        return a->space != KJ_SHARED || !checked;
    return kj_lies_anywhere(a) || (a->of->least == size && a->of->align == size);
}

/* Both are of one root each. */
static void copy_words(kj_sema *s, const kj_operand *to, const kj_operand *from, kj_span span)
{
    kj_tarray *a = to->u.place.array, *b = from->u.place.array;
    kj_dtype word = word_of(a);
    if (kj_types[word_of(b)].size < kj_types[word].size)
        word = word_of(b);
    if (!has_words(s, a, word) || !has_words(s, b, word)) {
        copy_parts(s, to, from, span);
        kj_array_used(s, a, false, true);
        return;
    }
    int64_t size = a->of->size, n = size / kj_types[word].size;
    kj_tarray *target = kj_words_at(s, to, word), *source = kj_words_at(s, from, word);
    kj_array_used(s, target, false, true);
    kj_texpr *within = begins_within(s, target, source, size, span);
    kj_tstmt *up = copy_loop(s, target, source, n, false, span);
    if (!within) {
        kj_splice(s, up, false);
        return;
    }
    kj_tstmt *down = copy_loop(s, target, source, n, true, span);
    kj_tstmt *st = kj_emit(s, KJ_TS_IF, span);
    st->u.if_.test = within;
    st->u.if_.yes = down;
    st->u.if_.no = up;
}

/* With one of two arrays taken apart; of `place` the one that is given. */
static void copy_chosen(kj_sema *s, const kj_operand *to, const kj_operand *from, bool target,
                        kj_span span)
{
    kj_operand arm = target ? *to : *from;
    const kj_tarray *a = arm.u.place.array;
    kj_tstmt *arms[2];
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        arm.u.place.array = kj_arm(s, a, i);
        kj_copy_element(s, target ? &arm : to, target ? from : &arm, span);
        arms[i] = kj_sink_close(s, &sink);
    }
    kj_tstmt *st = kj_emit(s, KJ_TS_IF, span);
    st->u.if_.test = a->root->test;
    st->u.if_.yes = arms[0];
    st->u.if_.no = arms[1];
}

void kj_copy_element(kj_sema *s, const kj_operand *to, const kj_operand *from, kj_span span)
{
    if (kj_is_chosen(to->u.place.array) || kj_is_chosen(from->u.place.array))
        copy_chosen(s, to, from, kj_is_chosen(to->u.place.array), span);
    else
        copy_words(s, to, from, span);
}
