/* Names: scopes as small hash tables on interned pointers, look-up outwards, and what to say
 * about unknown names. */
#include <string.h>

#include "sema/node/node.h"

struct kj_scope {
    kj_scope *up;
    kj_symbol **slots; /* open addressing; cap is 0 or a power of two */
    size_t cap, count;
    kj_scope *missing;   /* of a body's outermost scope: the names it was told are not declared */
    const kj_file *file; /* whose declarations it has, or NULL */
};

kj_scope *kj_scope_new(kj_arena *arena, kj_scope *up)
{
    kj_scope *scope = KJ_NEW(arena, kj_scope);
    scope->up = up;
    return scope;
}

kj_scope *kj_scope_of_file(kj_arena *arena, kj_scope *predefined, const kj_file *file)
{
    kj_scope *scope = kj_scope_new(arena, predefined);
    scope->file = file;
    return scope;
}

void kj_scope_push(kj_sema *s)
{
    s->scope = kj_scope_new(s->arena, s->scope);
}

void kj_scope_pop(kj_sema *s)
{
    s->scope = s->scope->up;
}

static size_t slot_of(kj_symbol *const *slots, size_t cap, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u) & (cap - 1);
    while (slots[i] && slots[i]->name != name)
        i = (i + 1) & (cap - 1);
    return i;
}

static kj_symbol *find_here(const kj_scope *scope, const char *name)
{
    return scope->cap ? scope->slots[slot_of(scope->slots, scope->cap, name)] : NULL;
}

kj_symbol *kj_scope_find(const kj_scope *scope, const char *name)
{
    for (; scope; scope = scope->up) {
        kj_symbol *sym = find_here(scope, name);
        if (sym)
            return sym;
    }
    return NULL;
}

static bool is_enum(const kj_symbol *sym)
{
    return sym->kind == KJ_SYM_TYPE && sym->item && sym->item->enumerates;
}

static kj_symbol *find_in(const kj_symbol *space, const char *name);

/* The namespace of blur.name, Cell.NAME or blur.Cell.NAME; or NULL. */
static const kj_symbol *space_of(const kj_scope *scope, const kj_expr *e)
{
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : NULL;
    const kj_symbol *space =
        base && base->kind == KJ_E_NAME ? kj_scope_find(scope, base->u.name) : NULL;
    const kj_expr *first = base && base->kind == KJ_E_MEMBER ? base->u.member.base : NULL;
    if (first && first->kind == KJ_E_NAME) {
        space = kj_scope_find(scope, first->u.name);
        space = space && space->kind == KJ_SYM_FILE ? find_in(space, base->u.member.name) : NULL;
        return space && is_enum(space) ? space : NULL;
    }
    return space && (space->kind == KJ_SYM_FILE || is_enum(space)) ? space : NULL;
}

bool kj_is_of_file(const kj_scope *scope, const kj_expr *e)
{
    return space_of(scope, e) != NULL;
}

/* What a file declares, not what it uses; or an enum. */
static kj_symbol *find_in(const kj_symbol *space, const char *name)
{
    const kj_item *of = space->item;
    if (of->enumerates) {
        const kj_item *item = kj_enumerator(of, name);
        return item ? find_here(of->file->scope, item->name) : NULL;
    }
    kj_symbol *sym = find_here(space->item->used->scope, name);
    return sym && sym->kind != KJ_SYM_FILE ? sym : NULL;
}

kj_symbol *kj_scope_named(const kj_scope *scope, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return kj_scope_find(scope, e->u.name);
    const kj_symbol *space = space_of(scope, e);
    return space ? find_in(space, e->u.member.name) : NULL;
}

static void grow(kj_arena *arena, kj_scope *scope)
{
    size_t cap = scope->cap ? scope->cap * 2 : 8;
    kj_symbol **slots = KJ_NEW_ARRAY(arena, kj_symbol *, cap);
    for (size_t i = 0; i < scope->cap; i++)
        if (scope->slots[i])
            slots[slot_of(slots, cap, scope->slots[i]->name)] = scope->slots[i];
    scope->slots = slots;
    scope->cap = cap;
}

kj_symbol *kj_scope_add(kj_arena *arena, kj_scope *scope, const char *name, kj_span span,
                        kj_symbol_kind kind)
{
    if ((scope->count + 1) * 4 > scope->cap * 3)
        grow(arena, scope);
    size_t i = slot_of(scope->slots, scope->cap, name);
    if (!scope->slots[i])
        scope->count++;
    kj_symbol *sym = KJ_NEW(arena, kj_symbol);
    sym->name = name;
    sym->span = span;
    sym->kind = kind;
    scope->slots[i] = sym;
    return sym;
}

/* again: it may be there. */
static kj_symbol *declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind,
                          bool again)
{
    const kj_symbol *old = find_here(s->scope, name);
    if (old && !again) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_REDECLARED, "'%s' is declared twice%s", name,
                                      s->scope->file ? "" : " in this block");
        kj_note(s->diag, m, old->span, "declared here");
    }
    return kj_scope_add(s->arena, s->scope, name, span, kind);
}

kj_symbol *kj_declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind)
{
    return declare(s, name, span, kind, false);
}

void kj_declare_value(kj_sema *s, const char *name, kj_span span, kj_role role, kj_operand value)
{
    bool again = strcmp(name, "_") == 0 && role != KJ_ROLE_PARAM; /* nobody asks for it */
    kj_symbol *sym = declare(s, name, span, KJ_SYM_VALUE, again);
    sym->role = role;
    sym->value = value;
}

static bool is_variable(const kj_symbol *sym)
{
    return sym->kind == KJ_SYM_VALUE && sym->value.kind != KJ_V_ERROR &&
           (sym->role == KJ_ROLE_LET || sym->role == KJ_ROLE_VAR);
}

/* Of the language's own names not y0: it is a letter away from too many. */
static bool is_offered(const kj_scope *scope, const kj_symbol *sym)
{
    return sym && (scope->up || strlen(sym->name) > 2);
}

static const char *nearest(const kj_sema *s, const char *name, bool variables)
{
    kj_near own = kj_near_to(name), predefined = own;
    for (const kj_scope *scope = s->scope; scope; scope = scope->up)
        for (size_t i = 0; i < scope->cap; i++)
            if (is_offered(scope, scope->slots[i]) && (!variables || is_variable(scope->slots[i])))
                kj_near_offer(scope->up ? &own : &predefined, scope->slots[i]->name);
    return predefined.distance < own.distance ? predefined.best : own.best;
}

const char *kj_nearest_visible(kj_sema *s, const char *name)
{
    return nearest(s, name, false);
}

/* What users of Python, NumPy, Numba and C write, and what it is here. */
static const struct {
    const char *name, *hint;
} habits[] = {
    {"this_grid",
     "all blocks wait for each other by grid_sync(), those of one block by syncthreads()"},
    {"this_thread_block",
     "the threads of a block wait by syncthreads(); threadIdx, blockDim and laneid are names"},
    {"M_PI", "write pi"},
    {"INFINITY", "write inf"},
    {"NAN", "write nan"},
    {"FLT_MAX", "write 3.4028235e38"},
    {"FLT_EPSILON", "write 1.1920929e-7"},
    {"DBL_MAX", "write 1.7976931348623157e308"},
    {"INT_MAX", "write 2147483647"},
    {"UINT_MAX", "write 4294967295"},
    {"NULL", "there are no pointers: what a kernel is given is there"},
    {"nullptr", "there are no pointers: what a kernel is given is there"},
    {"sizeof", "a.size counts elements; a.strides are in bytes"},
    {"printf", "print takes texts and values: print(\"x is\", x)"},
    {"println", "print takes texts and values: print(\"x is\", x)"},
    {"usize", "write i64"},
    {"isize", "write i64"},
    {"size_t", "write i64"},
    {"uint", "write u32"},
    {"long", "write i64"},
    {"short", "write i16"},
    {"char", "write i8"},
    {"unsigned", "write u32"},
    {"clock64", "a kernel has no clock: kjit run --time and events time launches"},
    {"clock", "a kernel has no clock: kjit run --time and events time launches"},
    {"__ldg", "write x[i]: what a kernel only reads needs no word"},
    {"__shfl", "write shfl_sync(0xffffffff, v, lane), with a mask"},
    {"__shfl_down", "write shfl_down_sync(0xffffffff, v, delta), with a mask"},
    {"__shfl_up", "write shfl_up_sync(0xffffffff, v, delta), with a mask"},
    {"__shfl_xor", "write shfl_xor_sync(0xffffffff, v, lanemask), with a mask"},
    {"__ballot", "write ballot_sync(0xffffffff, p), with a mask"},
    {"dim3", "a grid or block of several axes is a tuple: (16, 16)"},
    {"cudaMalloc",
     "device_array(n, f32) makes an array on the device; launches copy host arrays by themselves"},
    {"cudaMemcpy",
     "to_device(a) and a.copy_to_host() copy; launches copy host arrays by themselves"},
    {"cudaFree", "an array is freed with the block that declares it"},
    {"cudaDeviceSynchronize", "write synchronize()"},
    {"self", "there are no objects: a function has all it works on as parameters"},
    {"this", "there are no objects: a function has all it works on as parameters"},
    {"super", "there are no objects: a function has all it works on as parameters"},
    {"input",
     "a run's values are given on the command line: param n = 5, and kjit run file.knl n=7"},
    {"plot", "kjit run --save a=a.png writes a picture, a=a.npy a file for other programs"},
    {"plt", "kjit run --save a=a.png writes a picture, a=a.npy a file for other programs"},
    {"reversed", "range(n - 1, -1, -1) counts down; a[::-1] is an array from its end"},
    {"open", "load(path) reads arrays, save(path, a) writes them"},
    {"isinstance", "types are known: a kernel for several is kernel f<T: float>(x: T[])"},
    {"type", "types are known: a kernel for several is kernel f<T: float>(x: T[])"},
    {"True", "write true"},
    {"False", "write false"},
    {"None",
     "there is no None: a function without '->' gives nothing; a[:, None] is a.reshape(-1, 1)"},
    {"int", "write i32 or i64"},
    {"float", "write f32 or f64"},
    {"double", "write f64"},
    {"half", "write f16"},
    {"float16", "write f16"},
    {"bfloat16", "write bf16"},
    {"float32", "write f32"},
    {"float64", "write f64"},
    {"int8", "write i8"},
    {"int16", "write i16"},
    {"int32", "write i32"},
    {"int64", "write i64"},
    {"uint8", "write u8"},
    {"uint16", "write u16"},
    {"uint32", "write u32"},
    {"uint64", "write u64"},
    {"np", "there are no modules: write sqrt(x), f32(x), zeros(n)"},
    {"numpy", "there are no modules: write sqrt(x), f32(x), zeros(n)"},
    {"math", "there are no modules: write sqrt(x), not math.sqrt(x)"},
    {"cuda", "there are no modules: write grid(1), threadIdx.x, syncthreads()"},
    {"atomicAdd", "write atomic.add(a, i, v)"},
    {"atomicSub", "write atomic.sub(a, i, v)"},
    {"atomicMin", "write atomic.min(a, i, v)"},
    {"atomicMax", "write atomic.max(a, i, v)"},
    {"atomicAnd", "write atomic.and_(a, i, v)"},
    {"atomicOr", "write atomic.or_(a, i, v)"},
    {"atomicXor", "write atomic.xor(a, i, v)"},
    {"atomicInc", "write atomic.inc(a, i, v)"},
    {"atomicDec", "write atomic.dec(a, i, v)"},
    {"atomicExch", "write atomic.exch(a, i, v)"},
    {"atomicCAS", "write atomic.cas(a, i, old, new)"},
    {"fminf", "write min(x, y)"},
    {"fmaxf", "write max(x, y)"},
    {"fmin", "write min(x, y)"},
    {"fmax", "write max(x, y)"},
    {"signbit", "write copysign(1.0, x) < 0"},
    {"sgn", "write sign(x)"},
    {"mix", "write lerp(a, b, t)"},
    {"clip", "write clamp(x, lo, hi)"},
    {"rad2deg", "write degrees(x)"},
    {"deg2rad", "write radians(x)"},
    {"maximum", "write max(x, y)"},
    {"minimum", "write min(x, y)"},
    {"barrier", "write syncthreads()"},
    {"get_global_id", "the thread's place in the grid is grid(1), of two axes grid(2)"},
    {"get_global_size", "the threads of the grid are gridsize(1), along two axes gridsize(2)"},
    {"get_local_id", "the axes are members: threadIdx.x, threadIdx.y, threadIdx.z"},
    {"get_local_size", "the axes are members: blockDim.x, blockDim.y, blockDim.z"},
    {"get_group_id", "the axes are members: blockIdx.x, blockIdx.y, blockIdx.z"},
    {"get_num_groups", "the axes are members: gridDim.x, gridDim.y, gridDim.z"},
    {"hipThreadIdx_x", "write threadIdx.x"},
    {"hipBlockIdx_x", "write blockIdx.x"},
    {"hipBlockDim_x", "write blockDim.x"},
    {"hipGridDim_x", "write gridDim.x"},
    {"program_id", "write blockIdx.x, or grid(1) for the place of a thread"},
    {"num_programs", "write gridDim.x"},
    {"mad", "write fma(a, b, c)"},
    {"end", "the last index of an axis is x.shape[0] - 1"},
    {"dim3", "a launch has its grid and block in its brackets: k[(8, 8), (16, 16)](x)"},
    {"rand", "write random.uniform(...)"},
    {"randn", "write random.normal(...)"},
    {"randint", "write random.randint(...)"},
    {"eye", "make zeros((n, n)), and set a[i, i] in a loop"},
    {"identity", "make zeros((n, n)), and set a[i, i] in a loop"},
    {"power", "write pow(x, y), or x ** y"},
    {"square", "write x * x"},
    {"ln", "write log(x)"},
    {"mean", "write a.mean()"},
    {"std", "write sqrt(((a - a.mean()) ** 2).mean())"},
    {"concatenate", "make an array of the whole size, and copy into its slices: c[:n] = a"},
    {"roundf", "write round(x), which rounds ties to even; C's is trunc(x + copysign(0.5, x))"},
    {"complex", "write c64 or c128"},
    {"complex64", "write c64"},
    {"complex128", "write c128"},
    {"conjugate", "write conj(z)"},
    {"angle", "write phase(z)"},
    {"__float_as_int", "write x.view(i32)"},
    {"__float_as_uint", "write x.view(u32)"},
    {"__int_as_float", "write i.view(f32)"},
    {"__uint_as_float", "write i.view(f32)"},
    {"__double_as_longlong", "write x.view(i64)"},
    {"__longlong_as_double", "write i.view(f64)"},
    {"__half_as_ushort", "write x.view(u16)"},
    {"__ushort_as_half", "write i.view(f16)"},
    {"__umulhi", "write mulhi(a, b)"},
    {"__mulhi", "write mulhi(a, b)"},
    {"__umul64hi", "write mulhi(a, b)"},
    {"__mul64hi", "write mulhi(a, b)"},
    {"umulhi", "write mulhi(a, b)"},
    {"__mul24", "write a * b"},
    {"__umul24", "write a * b"},
    {"__usad", "write sad(a, b, c)"},
    {"__uhadd", "write hadd(a, b)"},
    {"__urhadd", "write rhadd(a, b)"},
    {"__fdividef", "write x / y"},
    {"scalbn", "write ldexp(x, e)"},
    {"scalbnf", "write ldexp(x, e)"},
    {"reinterpret_cast", "write x.view(u32): the bits as another type"},
    {"bitcast", "write x.view(u32): the bits as another type"},
};

/* Families of names: how they begin. */
static const struct {
    const char *prefix, *hint;
} families[] = {
    {"atomic_", "atomics are written atomic.add(a, i, v), with array and index"},
    {"xoroshiro128p_normal", "write random.normal(seed, i): number i of a seed"},
    {"curand_normal", "write random.normal(seed, i): number i of a seed"},
    {"xoroshiro128p_", "write random.uniform(seed, i): number i of a seed"},
    {"curand", "write random.uniform(seed, i): number i of a seed"},
};

void kj_fix_name(kj_sema *s, kj_message *m, const char *words)
{
    const char *text = s->diag->source->text + m->span.begin;
    uint32_t end = m->span.begin;
    for (; end < m->span.end && (kj_is_word(*text) || *text == '.'); text++)
        end++; /* of a type: before its [] */
    size_t n = kj_is_digit(*words) ? strcspn(words, " ") : 0, dot;
    while (kj_is_word(words[n]))
        n++;
    dot = n;
    if (words[n] == '.' && *text != '.') /* a.b, where theirs has no part behind it */
        for (n++; kj_is_word(words[n]);)
            n++;
    if (n > dot && strncmp(words, "random.", dot + 1) != 0)
        return;
    const char *rest = words + n, *close = strchr(rest, ')');
    bool call = *rest == '(' && close && !close[1];
    if (n > 0 && (!*rest || call || strncmp(rest, " or ", 4) == 0 || (*rest == '.' && n == dot)))
        kj_fix(s->diag, m, (kj_span){m->span.begin, end}, "%.*s", (int)n, words);
}

/* float3, make_float3 */
static bool hint_vector(kj_sema *s, kj_message *m, const char *name)
{
    bool made = strncmp(name, "make_", strlen("make_")) == 0;
    const char *own = kj_vector_elsewhere(made ? name + strlen("make_") : name);
    if (!own)
        return false;
    int parts = own[strlen(own) - 1] - '0';
    const char *words = !made ? own
                              : kj_arena_printf(s->diag->arena, "%s(x, y%s)", own,
                                                parts == 2   ? ""
                                                : parts == 3 ? ", z"
                                                             : ", z, w");
    kj_hint(s->diag, m, "write %s", words);
    kj_fix_name(s, m, words);
    return true;
}

bool kj_hint_habit(kj_sema *s, kj_message *m, const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families && !s->in_run; i++) {
        if (strncmp(families[i].prefix, name, strlen(families[i].prefix)) == 0) {
            kj_hint(s->diag, m, "%s", families[i].hint);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strcmp(habits[i].name, name) == 0) {
            kj_hint(s->diag, m, "%s", habits[i].hint);
            if (strncmp(habits[i].hint, "write ", strlen("write ")) == 0)
                kj_fix_name(s, m, habits[i].hint + strlen("write "));
            return true;
        }
    }
    return kj_hint_library(s, m, name) || hint_vector(s, m, name);
}

/* As C and CUDA call it: sinf, __syncthreads, __expf, __popcll. */
static bool hint_function(kj_sema *s, kj_message *m, const char *name)
{
    const char *plain = name + (strncmp(name, "__", 2) == 0 ? 2 : 0);
    size_t len = strlen(plain), without_f = len > 1 && plain[len - 1] == 'f' ? len - 1 : len;
    size_t without_ll = len > 2 && strcmp(plain + len - 2, "ll") == 0 ? len - 2 : len;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const char *own = kj_builtins[id].name;
        size_t n = strlen(own);
        bool called = strcmp(kj_builtins[id].group, "index") != 0;
        bool math = strcmp(kj_builtins[id].group, "math") == 0;
        bool bits = kj_builtin_is_of_bits((kj_builtin)id);
        if (called && (n == len || (n == without_f && math) || (n == without_ll && bits)) &&
            strncmp(own, plain, n) == 0) {
            kj_hint(s->diag, m, "write %s%s", own, kj_call_words((kj_builtin)id));
            kj_fix_name(s, m, own);
            return true;
        }
    }
    return false;
}

void kj_fix_word(kj_sema *s, kj_message *m, kj_span name, const char *from, const char *to)
{
    const char *text = s->diag->source->text, *at = text + name.begin;
    size_t len = strlen(from);
    while (at > text && (kj_is_word(at[-1]) || strchr(" ,", at[-1]))) {
        at--;
        uint32_t begin = (uint32_t)(at - text);
        bool word = (at == text || !kj_is_word(at[-1])) && !kj_is_word(at[len]);
        if (word && strncmp(at, from, len) == 0) {
            kj_fix(s->diag, m, (kj_span){begin, begin + (uint32_t)len}, "%s", to);
            return;
        }
    }
}

void kj_hint_var(kj_sema *s, kj_message *m, kj_span name)
{
    kj_hint(s->diag, m, "declare it with 'var'");
    kj_fix_word(s, m, name, "let", "var");
}

static kj_scope *scope_of_body(const kj_sema *s)
{
    kj_scope *body = s->scope;
    while (!body->file && body->up && !body->up->file)
        body = body->up;
    return body;
}

void kj_undeclared_anew(kj_sema *s)
{
    scope_of_body(s)->missing = NULL;
}

/* A name that is not declared is told once in each kernel, function and run block. */
static bool was_told(kj_sema *s, const char *name, kj_span span)
{
    kj_scope *body = scope_of_body(s);
    if (!body->missing)
        body->missing = kj_scope_new(s->arena, NULL);
    if (find_here(body->missing, name))
        return true;
    kj_scope_add(s->arena, body->missing, name, span, KJ_SYM_VALUE);
    return false;
}

/* Offers the names of a file or an enum; returns a list of the first, n is how many there are. */
static const char *offer_names(kj_sema *s, const kj_symbol *space, kj_near *near, int *n)
{
    const kj_item *of = space->item;
    const char *list = "";
    for (const kj_item *item = of->enumerates ? of->next : of->used->items; item;
         item = item->next) {
        if (of->enumerates && item->of != of)
            break;
        const char *own = of->enumerates ? item->member : item->name;
        if (!own || item->kind == KJ_I_USE || (item->of && !of->enumerates))
            continue;
        kj_near_offer(near, own);
        if ((*n)++ < 8)
            list = kj_arena_printf(s->diag->arena, "%s%s%s", list, *list ? ", " : "", own);
    }
    return list;
}

static void undeclared_in(kj_sema *s, const kj_symbol *space, const char *name, kj_span span)
{
    kj_near near = kj_near_to(name);
    int n = 0;
    const char *whole = kj_arena_printf(s->arena, "%s.%s", space->name, name);
    if (was_told(s, kj_intern(s->arena, whole, strlen(whole)), span))
        return;
    kj_message *m =
        kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' has no '%s'", space->name, name);
    const char *list = kj_is_shown(s->diag, m) ? offer_names(s, space, &near, &n) : "";
    if (near.best)
        kj_hint(s->diag, m, "did you mean '%s.%s'?", space->name, near.best);
    else if (n > 0)
        kj_hint(s->diag, m, "it has %s%s", list, n > 8 ? ", ..." : "");
    else
        kj_hint(s->diag, m, "it has no names");
}

kj_symbol *kj_scope_member(kj_sema *s, const char *space, const char *name, kj_span span)
{
    const kj_symbol *file = kj_scope_find(s->scope, space);
    if (!file) {
        kj_undeclared(s, space, span);
        return NULL;
    }
    if (file->kind != KJ_SYM_FILE) {
        kj_sema_error(s, span, KJ_RULE_UNKNOWN_MEMBER, "'%s' is no file's namespace", space);
        return NULL;
    }
    kj_symbol *sym = find_in(file, name);
    if (!sym)
        undeclared_in(s, file, name, span);
    return sym;
}

/* half, float32: where a value is wanted, a type is of no use. */
static bool is_type_elsewhere(const char *name)
{
    static const char begin[] = "write ";
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strcmp(habits[i].name, name) == 0 && strncmp(habits[i].hint, begin, strlen(begin)) == 0)
            return kj_type_named(habits[i].hint + strlen(begin)) != KJ_VOID;
    return false;
}

/* n // half: a comment of one word reads as a division. */
static bool hint_comment(kj_sema *s, kj_message *m)
{
    const char *text = s->diag->source->text;
    uint32_t at = m->span.begin;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    bool divides = at > 1 && text[at - 1] == '/' && text[at - 2] == '/';
    if (divides)
        kj_hint(s->diag, m, "a comment begins with #; // divides and rounds down");
    return divides;
}

void kj_undeclared(kj_sema *s, const char *name, kj_span span)
{
    if (was_told(s, name, span))
        return;
    kj_message *m = kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
    if (!kj_is_shown(s->diag, m) || hint_comment(s, m))
        return;
    bool value = !s->in_run && s->diag->source->text[span.end] != '(' && is_type_elsewhere(name);
    if (!value && (kj_hint_habit(s, m, name) || hint_function(s, m, name)))
        return;
    const char *near = kj_nearest_visible(s, name);
    if (!near)
        near = kj_keyword_meant(s->arena, s->diag->source, span);
    if (!s->in_run && strcmp(name, "where") == 0)
        kj_hint_where(s, m, span);
    else if (!s->in_run && kj_run_builtin_named(name) >= 0)
        kj_hint(s->diag, m, "'%s' belongs to the run block", name);
    else if (near)
        kj_did_you_mean(s->diag, m, near);
}

/* Nothing of its statement stands before it. */
static bool begins_statement(const kj_source *source, kj_span span)
{
    uint32_t at = span.begin;
    while (at > 0 && strchr(" \t", source->text[at - 1]))
        at--;
    return at == 0 || strchr("\n{};", source->text[at - 1]) != NULL;
}

void kj_undeclared_target(kj_sema *s, const char *name, kj_span span)
{
    if (!was_told(s, name, span)) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
        const char *near = kj_is_shown(s->diag, m) ? nearest(s, name, true) : NULL;
        if (near)
            kj_did_you_mean(s->diag, m, near);
        else if (strcmp(name, "_") == 0)
            kj_hint(s->diag, m, "what is not wanted is named so by let alone: let first, _ = ...");
        else
            kj_hint(s->diag, m, "a variable is declared first: var %s = ...", name);
        if (!near && begins_statement(s->diag->source, span))
            kj_fix(s->diag, m, (kj_span){span.begin, span.begin},
                   *name == '_' && !name[1] ? "let " : "var ");
    }
    kj_declare_value(s, name, span, KJ_ROLE_VAR, kj_no_value(span)); /* what is read of it */
}

bool kj_undeclared_targets(kj_sema *s, const kj_expr *targets)
{
    const char *names = "";
    for (const kj_expr *e = targets; e; e = e->next) {
        if (e->kind != KJ_E_NAME || kj_scope_find(s->scope, e->u.name))
            return false;
        names = kj_arena_printf(s->diag->arena, "%s%s%s", names, *names ? ", " : "", e->u.name);
    }
    if (!was_told(s, targets->u.name, targets->span)) {
        kj_message *m = kj_sema_error(s, targets->span, KJ_RULE_UNDECLARED, "'%s' is not declared",
                                      targets->u.name);
        kj_hint(s->diag, m, "variables are declared first: let %s = ...", names);
        kj_fix(s->diag, m, (kj_span){targets->span.begin, targets->span.begin}, "let ");
    }
    for (const kj_expr *e = targets; e; e = e->next)
        kj_declare_value(s, e->u.name, e->span, KJ_ROLE_VAR, kj_no_value(e->span));
    return true;
}

void kj_undeclared_type(kj_sema *s, const char *name, kj_span span)
{
    if (was_told(s, name, span))
        return;
    kj_message *m = kj_sema_error(s, span, KJ_RULE_UNDECLARED, "'%s' is not declared", name);
    static const char *const own[] = {
#define TYPE(id, text, class, bits, npy) text,
#include "lang/types.def"
#undef TYPE
#define AGGREGATE(id, number, text, kind, elem, n) text,
#include "lang/aggregates.def"
#undef AGGREGATE
    };
    if (!kj_is_shown(s->diag, m) || kj_hint_habit(s, m, name))
        return;
    kj_near near = kj_near_to(name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        kj_near_offer(&near, own[i]);
    const kj_scope *scope = s->scope;
    while (scope->up && !scope->file)
        scope = scope->up;
    const kj_file *file = scope->file ? scope->file : s->program->file;
    for (const kj_item *item = file->items; item; item = item->next)
        if (item->kind == KJ_I_RECORD || item->kind == KJ_I_TYPE)
            kj_near_offer(&near, item->name);
    if (near.best)
        kj_did_you_mean(s->diag, m, near.best);
    else
        kj_hint_types(s, m);
}

kj_symbol *kj_member_of_file(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *space = space_of(s->scope, e);
    kj_symbol *sym = find_in(space, e->u.member.name);
    if (!sym)
        undeclared_in(s, space, e->u.member.name, e->u.member.name_span);
    return sym;
}

static void predefine_value(kj_arena *arena, kj_scope *scope, const char *name, double f)
{
    kj_symbol *sym = kj_scope_add(arena, scope, kj_intern(arena, name, strlen(name)),
                                  (kj_span){0, 0}, KJ_SYM_VALUE);
    sym->role = KJ_ROLE_PREDEFINED;
    sym->value = kj_literal(kj_float(KJ_F64, f), sym->span);
}

kj_scope *kj_predefined(kj_arena *arena)
{
    kj_scope *scope = kj_scope_new(arena, NULL);
    kj_span none = {0, 0};
    for (int t = 0; t < KJ_NTYPES; t++) {
        const char *name = kj_intern(arena, kj_types[t].name, strlen(kj_types[t].name));
        kj_scope_add(arena, scope, name, none, KJ_SYM_TYPE)->type = (kj_dtype)t;
    }
#define AGGREGATE(id, number, text, kind, elem, n) \
    kj_scope_add(arena, scope, kj_intern(arena, text, strlen(text)), none, KJ_SYM_TYPE)->type = \
        KJ_##id;
#include "lang/aggregates.def"
#undef AGGREGATE
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        const char *text = kj_builtins[id].name, *dot = strchr(text, '.');
        const char *name = kj_intern(arena, text, dot ? (size_t)(dot - text) : strlen(text));
        kj_symbol *sym =
            kj_scope_add(arena, scope, name, none, dot ? KJ_SYM_NAMESPACE : KJ_SYM_BUILTIN);
        sym->builtin = (kj_builtin)id;
        sym->role = KJ_ROLE_PREDEFINED;
    }
    predefine_value(arena, scope, "inf", (double)__builtin_inff());
    predefine_value(arena, scope, "nan", (double)__builtin_nanf(""));
    predefine_value(arena, scope, "pi", 3.14159265358979323846);
    return scope;
}
