/* What is certain of a run block's values before it runs. In: expressions whose names were looked at; out: the
 * kind of value, its type, its axes. What may be of another kind in another run is not known: nothing is
 * guessed. */
#include <stdlib.h>
#include <string.h>

#include "sema/file/file.h"

static const kj_known nothing = {.kind = KJ_R_NONE, .type = KJ_VOID, .ndim = -1};

static kj_known of_kind(kj_rkind kind)
{
    kj_known k = nothing;
    k.kind = kind;
    return k;
}

static kj_known array_of(kj_dtype type, int ndim)
{
    return (kj_known){.kind = KJ_R_ARRAY, .type = type, .ndim = ndim};
}

kj_known kj_known_record(const kj_sema *s, kj_dtype type)
{
    kj_known k = nothing;
    const kj_aggregate *of = kj_sema_aggregate(s, type);
    k.of = kj_is_record(of) ? of : NULL;
    return k;
}

/* One of that type. Those of several scalars are not of one kind. */
static kj_known element(kj_dtype type)
{
    kj_known k = of_kind(kj_rkind_of(type));
    k.type = k.kind == KJ_R_NONE ? KJ_VOID : type;
    return k;
}

bool kj_run_is_field(const kj_sema *s, const char *name, kj_near *near)
{
    for (int i = 0; i < s->program->nfiles; i++) {
        for (const kj_item *item = s->program->files[i]->items; item; item = item->next) {
            const kj_param_decl *f = item->kind == KJ_I_RECORD ? item->params : NULL;
            for (; f; f = f->next) {
                if (strcmp(f->name, name) == 0)
                    return true;
                if (near)
                    kj_near_offer(near, f->name);
            }
        }
    }
    return false;
}

kj_known kj_known_of_type(const kj_type *t)
{
    return t->kind == KJ_T_ARRAY                                    ? array_of(t->dtype, t->ndim)
           : t->kind == KJ_T_SCALAR || kj_is_complex_type(t->dtype) ? element(t->dtype)
                                                                    : nothing;
}

bool kj_is_of_numbers(kj_known k)
{
    return k.type < KJ_NTYPES || kj_is_complex_type(k.type);
}

static bool is_real(kj_known k)
{
    return k.kind == KJ_R_INT || k.kind == KJ_R_FLOAT || k.kind == KJ_R_BOOL;
}

/* ---- Names ---- */

static kj_known known_constant(kj_sema *s, const kj_item *item)
{
    bool literal = item->value && !item->type && !item->of &&
                   (item->value->kind == KJ_E_INT || item->value->kind == KJ_E_FLOAT);
    return literal ? kj_run_known(s, item->value) : nothing;
}

static kj_known known_symbol(kj_sema *s, const kj_symbol *sym)
{
    if (!sym)
        return nothing;
    if (sym->kind == KJ_SYM_VALUE)
        return sym->known ? *sym->known : nothing;
    kj_known k = nothing;
    switch (sym->kind) {
    case KJ_SYM_TYPE:
        k.kind = KJ_R_DTYPE;
        k.type = sym->type;
        return k;
    case KJ_SYM_KERNEL: return of_kind(KJ_R_KERNEL);
    case KJ_SYM_CONST: return known_constant(s, sym->item);
    default: return nothing;
    }
}

void kj_run_set_known(kj_sema *s, const kj_name *name, kj_known known)
{
    kj_symbol *sym = kj_scope_find(s->scope, name->name);
    if ((known.kind == KJ_R_NONE && !known.of) || !sym)
        return;
    kj_known *kept = KJ_NEW(s->arena, kj_known);
    *kept = known;
    sym->first = kept;
    if (!kj_scope_find(s->changing, name->name))
        sym->known = kept;
}

/* Names that something else is assigned to are not known, wherever they stand. */
static void changes(kj_sema *s, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME && !kj_scope_find(s->changing, e->u.name))
        kj_scope_add(s->arena, s->changing, e->u.name, e->span, KJ_SYM_VALUE);
}

static void find_swaps(void *ctx, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    if (callee && callee->kind == KJ_E_NAME && strcmp(callee->u.name, "swap") == 0)
        for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
            changes(ctx, arg);
}

static void find_changes(kj_sema *s, const kj_stmt *st)
{
    const kj_stmt *blocks[2];
    for (; st; st = st->next) {
        if (st->kind == KJ_S_ASSIGN)
            for (const kj_expr *e = st->u.assign.targets; e; e = e->next)
                changes(s, e);
        kj_each_own_expr(st, find_swaps, s);
        kj_blocks_of(st, blocks);
        find_changes(s, blocks[0]);
        find_changes(s, blocks[1]);
    }
}

void kj_run_find_changes(kj_sema *s, const kj_stmt *body)
{
    s->changing = kj_scope_new(s->arena, NULL);
    find_changes(s, body);
}

/* ---- Operators ---- */

static kj_known of_numbers(kj_op op, kj_known a, kj_known b)
{
    kj_op_class class = kj_ops[op].class;
    bool floats = a.kind == KJ_R_FLOAT || b.kind == KJ_R_FLOAT;
    if (class == KJ_OPS_COMPARE)
        return of_kind(KJ_R_BOOL);
    if (a.kind == KJ_R_BOOL || b.kind == KJ_R_BOOL || (op == KJ_OP_POW && !floats))
        return nothing; /* of integers 2 ** -1 is a float */
    return of_kind(floats || op == KJ_OP_DIV ? KJ_R_FLOAT : KJ_R_INT);
}

/* A number beside an array takes its type, but a float beside integers. */
static kj_dtype type_of_both(kj_op op, kj_known a, kj_known b)
{
    bool arrays = a.kind == KJ_R_ARRAY && b.kind == KJ_R_ARRAY;
    kj_dtype type = a.kind == KJ_R_ARRAY ? a.type : b.type;
    kj_rkind other = a.kind == KJ_R_ARRAY ? b.kind : a.kind;
    if (kj_ops[op].class == KJ_OPS_COMPARE)
        return KJ_BOOL;
    if (kj_ops[op].class != KJ_OPS_ARITH || op == KJ_OP_POW || type == KJ_BOOL)
        return KJ_VOID;
    if (arrays)
        return a.type == b.type ? type : KJ_VOID;
    return kj_is_float(type) || (kj_is_int(type) && other == KJ_R_INT) ? type : KJ_VOID;
}

static kj_known of_arrays(kj_op op, kj_known a, kj_known b)
{
    bool arrays = a.kind == KJ_R_ARRAY && b.kind == KJ_R_ARRAY;
    int ndim = !arrays                    ? (a.kind == KJ_R_ARRAY ? a : b).ndim
               : a.ndim < 0 || b.ndim < 0 ? -1
               : a.ndim > b.ndim          ? a.ndim
                                          : b.ndim;
    return ndim == 0 ? nothing : array_of(type_of_both(op, a, b), ndim);
}

static kj_known known_binary(kj_sema *s, const kj_expr *e)
{
    kj_op op = e->u.binary.op;
    kj_known a = kj_run_known(s, e->u.binary.lhs), b = kj_run_known(s, e->u.binary.rhs);
    if (is_real(a) && is_real(b))
        return of_numbers(op, a, b);
    bool arrays = (a.kind == KJ_R_ARRAY || is_real(a)) && (b.kind == KJ_R_ARRAY || is_real(b));
    return arrays && op != KJ_OP_MATMUL ? of_arrays(op, a, b) : nothing;
}

static kj_known known_unary(kj_sema *s, const kj_expr *e)
{
    kj_known k = kj_run_known(s, e->u.unary.arg);
    k.literal = false;
    if (e->u.unary.op == KJ_OP_NEG || e->u.unary.op == KJ_OP_PLUS)
        return k.kind == KJ_R_INT || k.kind == KJ_R_FLOAT || (k.kind == KJ_R_ARRAY && k.ndim > 0)
                   ? k
                   : nothing;
    return e->u.unary.op == KJ_OP_NOT && k.kind == KJ_R_BOOL ? k : nothing;
}

/* What is certain of either. */
static kj_known known_choice(kj_known a, kj_known b)
{
    if (a.kind != b.kind)
        return nothing;
    a.type = a.type == b.type ? a.type : KJ_VOID;
    a.ndim = a.ndim == b.ndim ? a.ndim : -1;
    a.literal = false;
    return a;
}

static kj_known known_index(kj_sema *s, const kj_expr *e)
{
    kj_known base = kj_run_known(s, e->u.index.base);
    int left = base.ndim;
    const kj_expr *first = e->u.index.args;
    if (base.kind == KJ_R_TUPLE && base.type != KJ_VOID && first && !first->next &&
        first->kind != KJ_E_SLICE)
        return of_kind(KJ_R_INT); /* of a shape */
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        left -= arg->kind != KJ_E_SLICE;
    if (base.kind == KJ_R_ARRAY && base.ndim > 0 && left == 0)
        return kj_is_of_numbers(base) ? element(base.type) : kj_known_record(s, base.type);
    if (base.kind != KJ_R_ARRAY || base.ndim < 0 || !kj_is_of_numbers(base))
        return nothing;
    return left > 0 ? array_of(base.type, left) : nothing;
}

/* ---- Calls ---- */

/* The row of run_builtins.def; -1: it is none. */
static int row_of(kj_sema *s, const kj_expr *e, bool *member)
{
    *member = false;
    if (kj_is_of_file(s->scope, e))
        return -1;
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : e;
    const kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    if (e->kind == KJ_E_NAME)
        return sym && sym->kind == KJ_SYM_BUILTIN ? sym->index : -1;
    if (e->kind != KJ_E_MEMBER)
        return -1;
    if (sym && sym->kind == KJ_SYM_NAMESPACE) {
        const char *full = kj_arena_printf(s->arena, "%s.%s", sym->name, e->u.member.name);
        return kj_run_builtin_named(full);
    }
    *member = true;
    return kj_run_member_named(e->u.member.name);
}

/* Is it the name of a type, or what stands for one? By its look: arguments are not to be evaluated once for
 * each question, which would double with each level of calls. */
static bool is_type(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = kj_scope_named(s->scope, e);
    if (sym && sym->kind == KJ_SYM_VALUE)
        return sym->known && sym->known->kind == KJ_R_DTYPE;
    return sym ? sym->kind == KJ_SYM_TYPE
               : e->kind == KJ_E_MEMBER && strcmp(e->u.member.name, "dtype") == 0;
}

static bool may_be_type(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = kj_scope_named(s->scope, e->kind == KJ_E_CALL ? e->u.call.callee : e);
    if (e->kind == KJ_E_CALL)
        return !sym || (sym->kind != KJ_SYM_TYPE && sym->kind != KJ_SYM_BUILTIN);
    if (e->kind == KJ_E_NAME) /* one that is not declared was told */
        return !sym || (sym->kind == KJ_SYM_VALUE && !sym->known);
    return e->kind == KJ_E_MEMBER || e->kind == KJ_E_INDEX || e->kind == KJ_E_COND;
}

/* What is given for a parameter; a type by place is for dtype. */
static const kj_expr *given(kj_sema *s, const kj_expr *args, const char *signature,
                            const char *name)
{
    kj_run_signature known = kj_run_signature_of(signature);
    int wanted = kj_run_parameter_named(&known, name), place = 0;
    bool dtype = strcmp(name, "dtype") == 0;
    for (const kj_expr *arg = args; arg && wanted >= 0; arg = arg->next) {
        if (arg->keyword) {
            if (strcmp(arg->keyword, name) == 0)
                return arg;
            continue;
        }
        bool type = is_type(s, arg);
        if (type ? dtype : !dtype && place == wanted)
            return arg;
        place += !type;
    }
    return NULL;
}

/* That of dtype, or its default "dtype=f32"; `otherwise` where there is none. */
static kj_dtype dtype_of(kj_sema *s, const kj_expr *args, const char *signature, kj_dtype otherwise)
{
    const kj_expr *e = given(s, args, signature, "dtype");
    if (e) {
        kj_known k = kj_run_known(s, e);
        return k.kind == KJ_R_DTYPE ? k.type : KJ_VOID;
    }
    for (const kj_expr *arg = args; arg; arg = arg->next) /* it may be one, but for the first */
        if (arg != args && !arg->keyword && may_be_type(s, arg))
            return KJ_VOID;
    const char *at = strstr(signature, "dtype=");
    char name[8] = "";
    if (at)
        memcpy(name, at + 6, strcspn(at + 6, ",)") < sizeof name ? strcspn(at + 6, ",)") : 0);
    return *name ? kj_type_named(name) : otherwise;
}

static int axes_of(kj_sema *s, const kj_expr *shape)
{
    kj_known k = shape ? kj_run_known(s, shape) : nothing;
    return k.kind == KJ_R_INT ? 1 : k.kind == KJ_R_TUPLE ? k.ndim : -1;
}

static int axes_of_reshape(kj_sema *s, const kj_expr *args)
{
    int n = 0;
    for (const kj_expr *arg = args; arg; arg = arg->next)
        n += !arg->keyword;
    return n == 1 && !args->keyword ? axes_of(s, args) : n > 1 ? n : -1;
}

/* Of a list of numbers, of such lists, ... */
static int axes_of_list(const kj_expr *e)
{
    int n = 0;
    while (e && e->kind == KJ_E_LIST) {
        e = e->u.list.items;
        n++;
    }
    bool number = e && (e->kind == KJ_E_INT || e->kind == KJ_E_FLOAT || e->kind == KJ_E_BOOL);
    return n > 0 && number ? n : -1;
}

/* Of full(shape, value): of the value's kind. */
static kj_dtype type_of_value(kj_sema *s, int row, const kj_expr *args)
{
    const kj_expr *value =
        row == KJ_RUN_FULL ? given(s, args, kj_run_builtins[row].signature, "value") : NULL;
    kj_known k = value ? kj_run_known(s, value) : nothing;
    bool small = k.kind == KJ_R_INT && k.literal && k.value <= INT32_MAX;
    return k.kind == KJ_R_FLOAT ? KJ_F32 : k.kind == KJ_R_BOOL ? KJ_BOOL : small ? KJ_I32 : KJ_VOID;
}

/* What numbers that are written one behind the other make, in lists or not: i32, f32 or bool; KJ_VOID: it depends on their
 * values. */
static kj_dtype type_of_numbers(kj_sema *s, const kj_expr *e, kj_dtype so_far)
{
    for (; e && !e->keyword; e = e->next) {
        kj_known k = e->kind == KJ_E_LIST ? nothing : kj_run_known(s, e);
        bool small = k.kind == KJ_R_INT && k.literal && llabs(k.value) <= INT32_MAX;
        kj_dtype type = e->kind == KJ_E_LIST ? type_of_numbers(s, e->u.list.items, so_far)
                        : k.kind == KJ_R_FLOAT && k.type == KJ_VOID ? KJ_F32
                        : k.kind == KJ_R_BOOL && k.type == KJ_VOID  ? KJ_BOOL
                        : small                                     ? KJ_I32
                                                                    : KJ_VOID;
        bool first = so_far == KJ_NTYPES, numbers = type != KJ_BOOL && so_far != KJ_BOOL;
        if (type == KJ_VOID || (!first && type != so_far && !numbers))
            return KJ_VOID;
        so_far = first || type == KJ_F32 ? type : so_far;
    }
    return so_far;
}

static bool is_array(kj_known k)
{
    return k.kind == KJ_R_ARRAY || k.kind == KJ_R_SMART;
}

static kj_known gives_array(kj_sema *s, int row, const kj_expr *args, kj_known it)
{
    const char *signature = kj_run_builtins[row].signature;
    bool of_numbers = row == KJ_RUN_ARANGE || row == KJ_RUN_ARRAY;
    kj_dtype written = of_numbers ? type_of_numbers(s, args, KJ_NTYPES) : KJ_VOID;
    if (written == KJ_NTYPES)
        written = KJ_VOID; /* there are none */
    switch (kj_run_builtins[row].gives) {
    case KJ_GIVES_SHAPED:
        return array_of(dtype_of(s, args, signature, type_of_value(s, row, args)),
                        axes_of(s, given(s, args, signature, "shape")));
    case KJ_GIVES_LINE:
        return array_of(dtype_of(s, args, signature, is_array(it) ? it.type : written), 1);
    case KJ_GIVES_RESHAPED: return array_of(it.type, axes_of_reshape(s, args));
    case KJ_GIVES_LIKE: return array_of(dtype_of(s, args, signature, it.type), it.ndim);
    case KJ_GIVES_SMART: it.kind = KJ_R_SMART; return it;
    default:
        it = array_of(dtype_of(s, args, signature, written), -1);
        if (row == KJ_RUN_ARRAY && kj_is_of_numbers(it)) /* a vector's numbers are a list, too */
            it.ndim = axes_of_list(args);
        return it;
    }
}

/* `it`: whose member this is, or the first argument. */
static kj_known known_row(kj_sema *s, int row, const kj_expr *args, kj_known it, bool whole)
{
    static const kj_rkind kinds[] = {
        [KJ_GIVES_BOOL] = KJ_R_BOOL,     [KJ_GIVES_INT] = KJ_R_INT,
        [KJ_GIVES_FLOAT] = KJ_R_FLOAT,   [KJ_GIVES_STRING] = KJ_R_STRING,
        [KJ_GIVES_LIST] = KJ_R_LIST,     [KJ_GIVES_RANGE] = KJ_R_RANGE,
        [KJ_GIVES_STREAM] = KJ_R_STREAM, [KJ_GIVES_EVENT] = KJ_R_EVENT,
        [KJ_GIVES_SCOPE] = KJ_R_SCOPE,
    };
    kj_gives gives = kj_run_builtins[row].gives;
    kj_known k = nothing;
    switch (gives) {
    case KJ_GIVES_NOTHING: return nothing;
    case KJ_GIVES_ELEMENT: return is_array(it) && whole ? element(it.type) : nothing;
    case KJ_GIVES_INDEX: return is_array(it) && whole ? of_kind(KJ_R_INT) : nothing;
    case KJ_GIVES_TRUTH: return is_array(it) && whole ? of_kind(KJ_R_BOOL) : nothing;
    case KJ_GIVES_DTYPE:
        k.kind = KJ_R_DTYPE;
        k.type = it.type;
        return is_array(it) ? k : nothing;
    case KJ_GIVES_TUPLE:
        if (!is_array(it))
            return nothing;
        return (kj_known){.kind = KJ_R_TUPLE, .type = KJ_I64, .ndim = it.ndim};
    case KJ_GIVES_LIKE:
    case KJ_GIVES_RESHAPED:
    case KJ_GIVES_SMART: return is_array(it) ? gives_array(s, row, args, it) : nothing;
    case KJ_GIVES_SHAPED:
    case KJ_GIVES_LINE:
    case KJ_GIVES_ARRAY: return gives_array(s, row, args, it);
    default: return of_kind(kinds[gives]);
    }
}

/* Do rows of functions ask what their first argument is? */
static bool asks(kj_gives gives)
{
    switch (gives) {
    case KJ_GIVES_ELEMENT:
    case KJ_GIVES_INDEX:
    case KJ_GIVES_TRUTH:
    case KJ_GIVES_LIKE:
    case KJ_GIVES_SMART: return true;
    default: return false;
    }
}

/* f32(x) */
static kj_known known_conversion(kj_sema *s, kj_dtype type, const kj_expr *args)
{
    kj_known k = args && !args->next && !args->keyword ? kj_run_known(s, args) : nothing;
    if (type >= KJ_NTYPES)
        return kj_known_record(s, type);
    return k.kind == KJ_R_ARRAY ? array_of(type, k.ndim) : is_real(k) ? element(type) : nothing;
}

static kj_known known_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    const kj_symbol *sym = kj_scope_named(s->scope, callee);
    bool member;
    if (sym && sym->kind == KJ_SYM_TYPE)
        return known_conversion(s, sym->type, args);
    int row = row_of(s, callee, &member);
    if (row < 0 || kj_run_builtins[row].signature[0] == '\0')
        return nothing;
    bool first = args && !args->keyword && asks(kj_run_builtins[row].gives);
    kj_known it = member  ? kj_run_known(s, callee->u.member.base)
                  : first ? kj_run_known(s, args)
                          : nothing;
    if (member && it.kind == KJ_R_NONE)
        return nothing;
    return known_row(s, row, args, it, member ? !args : args && !args->next);
}

static kj_known known_member(kj_sema *s, const kj_expr *e)
{
    bool member;
    int row = row_of(s, e, &member);
    kj_known it = row >= 0 && member ? kj_run_known(s, e->u.member.base) : nothing;
    if (it.kind == KJ_R_NONE || kj_run_builtins[row].signature[0] != '\0')
        return nothing;
    return is_array(it) ? known_row(s, row, NULL, it, true) : nothing;
}

kj_known kj_run_known(kj_sema *s, const kj_expr *e)
{
    kj_known k = nothing;
    switch (e->kind) {
    case KJ_E_INT:
        k = (kj_known){KJ_R_INT, KJ_VOID, -1, e->u.integer <= INT64_MAX, (int64_t)e->u.integer,
                       NULL};
        return k;
    case KJ_E_FLOAT: return of_kind(KJ_R_FLOAT);
    case KJ_E_IMAG: return of_kind(KJ_R_COMPLEX);
    case KJ_E_BOOL: return of_kind(KJ_R_BOOL);
    case KJ_E_FORMAT:
    case KJ_E_STRING: return of_kind(KJ_R_STRING);
    case KJ_E_LIST: return of_kind(KJ_R_LIST);
    case KJ_E_TUPLE:
        k = of_kind(KJ_R_TUPLE);
        k.ndim = kj_count(e->u.list.items);
        return k;
    case KJ_E_NAME: return known_symbol(s, kj_scope_find(s->scope, e->u.name));
    case KJ_E_UNARY: return known_unary(s, e);
    case KJ_E_BINARY: return known_binary(s, e);
    case KJ_E_COND:
        return known_choice(kj_run_known(s, e->u.cond.yes), kj_run_known(s, e->u.cond.no));
    case KJ_E_CALL: return known_call(s, e);
    case KJ_E_INDEX: return known_index(s, e);
    case KJ_E_MEMBER: return known_member(s, e);
    default: return nothing;
    }
}
