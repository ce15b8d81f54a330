/* Capsules, read: the arguments of the launch, and the const arrays that the host had filled. In: lines of the manifest,
 * and a module of its source; out: what the launch is given. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/replay.h"

enum { MOST_VALUE = KJ_MAX_RECORD_BYTES /* bytes of an argument that is a value */ };

/* ---- Arguments ---- */

/* That of the launch that is being written, by the name of the line; NULL: it has none. */
static const kjit_arg *bound_to(const kj_replay *r)
{
    const kj_kernel_decl *k = r->bound->kernel->decl;
    for (int i = 0; i < k->nparams; i++)
        if (strcmp(k->params[i].name, r->names[r->nargs]) == 0)
            return r->bound->args[i];
    return NULL;
}

/* The type that is called so: that of the parameter, as of a tuple or of one of several records of that name, or a
 * scalar, or one of the source's records. */
static bool find_type(kj_replay *r, const char *parameter, const char *name, kjit_dtype *out)
{
    const kj_program *program = r->mod->program;
    const kj_kernel_decl *k = NULL;
    for (int i = 0; i < program->nall && !k; i++)
        k = strcmp(program->kernels[i].name, r->kernel) == 0 ? &program->kernels[i] : NULL;
    for (int i = 0; k && i < k->nparams; i++) {
        const char *known = kj_dtype_name(r->ctx, (kjit_dtype)k->params[i].type);
        *out = (kjit_dtype)k->params[i].type;
        if (strcmp(k->params[i].name, parameter) == 0 && known && strcmp(known, name) == 0)
            return true;
    }
    for (int i = 0; i < KJIT_FIRST_RECORD; i++) {
        const char *known = kjit_dtype_name((kjit_dtype)i);
        *out = (kjit_dtype)i;
        if (known && strcmp(known, name) == 0)
            return true;
    }
    const kj_aggregate *of = kj_record_named(program, program->file, name);
    for (int i = 0; i < program->ndeclared && !of; i++)
        if (strcmp(program->declared[i].of->name, name) == 0)
            of = program->declared[i].of;
    if (of)
        *out = (kjit_dtype)of->type;
    return of != NULL;
}

static bool take_type(kj_replay *r, kjit_dtype *out)
{
    char *name = kj_replay_name(r);
    bool found = name && find_type(r, r->names[r->nargs], name, out);
    free(name);
    return found;
}

/* An array as a line has it. */
typedef struct placed {
    int64_t block, offset, ndim, shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    kjit_dtype dtype;
    int64_t elem;
} placed;

static bool take_placed(kj_replay *r, placed *p)
{
    *p = (placed){0};
    if (!kj_replay_int(r, -1, KJ_REPLAY_BLOCKS - 1, &p->block) ||
        !kj_replay_int(r, 0, INT64_MAX, &p->offset) || !take_type(r, &p->dtype) ||
        !kj_replay_int(r, 0, KJIT_MAX_NDIM, &p->ndim))
        return false;
    p->elem = (int64_t)kj_dtype_size(r->ctx, p->dtype);
    bool ok = p->elem > 0;
    for (int i = 0; i < p->ndim; i++)
        ok = ok && kj_replay_int(r, 0, KJ_MOST_EXTENT, &p->shape[i]);
    for (int i = 0; i < p->ndim; i++)
        ok = ok && kj_replay_int(r, INT64_MIN, INT64_MAX, &p->strides[i]);
    return ok;
}

static bool is_empty(const placed *p)
{
    for (int i = 0; i < p->ndim; i++)
        if (p->shape[i] == 0)
            return true;
    return false;
}

/* Does all of it lie in a block of so many bytes? */
static bool lies_inside(const placed *p, int64_t size)
{
    int64_t low = p->offset, high, way;
    bool beyond = __builtin_add_overflow(low, p->elem, &high);
    for (int i = 0; i < p->ndim; i++) {
        int64_t *end;
        beyond |= __builtin_mul_overflow(p->shape[i] - 1, p->strides[i], &way);
        end = way < 0 ? &low : &high;
        beyond |= __builtin_add_overflow(*end, way, end);
    }
    return !beyond && low >= 0 && high <= size;
}

/* Is it that of the launch that is being written? */
static bool is_bound(const kj_replay *r, const placed *p, kjit_arg_kind kind)
{
    const kjit_arg *arg = bound_to(r);
    const kjit_array *a = arg && kj_arg_is_array(arg) ? arg->u.array : NULL;
    return a && arg->kind == kind && a->dtype == p->dtype && a->ndim == (int)p->ndim &&
           memcmp(a->shape, p->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
           memcmp(a->strides, p->strides, (size_t)a->ndim * sizeof *a->strides) == 0;
}

static kjit_status read_array(kj_replay *r, kjit_arg_kind kind)
{
    placed p;
    kjit_array *block = NULL, **out = &r->arrays[r->nargs];
    if (!take_placed(r, &p) || (p.block < 0 && !is_empty(&p)))
        return kj_replay_bad(r, "has no block, place, type and shape of an array");
    if (r->bound)
        return is_bound(r, &p, kind) ? KJIT_OK : kj_replay_bad(r, "has another array");
    kjit_status status = p.block < 0 ? KJIT_OK : kj_replay_block(r, p.block, &block);
    if (status != KJIT_OK)
        return status;
    if (!is_empty(&p) && !lies_inside(&p, block->size))
        return kj_replay_bad(r, "has an array that is not within its block");
    status =
        kj_array_wrap(r->ctx, is_empty(&p) ? NULL : block->data + p.offset, p.dtype, (int)p.ndim,
                      p.shape, is_empty(&p) ? NULL : p.strides, KJIT_HOST, NULL, NULL, out);
    r->args[r->nargs] = kjit_arg_array(*out);
    r->args[r->nargs].kind = kind;
    return status;
}

static kjit_status read_value(kj_replay *r)
{
    kjit_dtype type;
    size_t size = take_type(r, &type) ? kj_dtype_size(r->ctx, type) : 0;
    if (size == 0 || size > MOST_VALUE)
        return kj_replay_bad(r, "has no type of a value");
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return kj_no_memory(r->ctx);
    r->values[r->nargs] = bytes;
    if (!kj_replay_bytes(r, bytes, size))
        return kj_replay_bad(r, "has not the digits of its value");
    r->args[r->nargs] = kjit_arg_value(type, bytes);
    const kjit_arg *given = r->bound ? bound_to(r) : &r->args[r->nargs];
    if (!given || given->kind != KJIT_ARG_VALUE || given->dtype != type ||
        memcmp(given->u.value, bytes, size) != 0)
        return kj_replay_bad(r, "has another value");
    return KJIT_OK;
}

static kjit_status read_number(kj_replay *r, const char *kind)
{
    kjit_arg *arg = &r->args[r->nargs];
    char word[32], *end;
    int64_t n;
    double f;
    bool ok = true;
    errno = 0;
    if (strcmp(kind, "int") == 0 && kj_replay_int(r, INT64_MIN, INT64_MAX, &n))
        *arg = kjit_arg_i64(n);
    else if (strcmp(kind, "bool") == 0 && kj_replay_int(r, 0, 1, &n))
        *arg = kjit_arg_bool((int)n);
    else if (strcmp(kind, "float") == 0 && kj_replay_bytes(r, (unsigned char *)&f, sizeof f))
        *arg = kjit_arg_f64(f);
    else if (strcmp(kind, "uint") == 0 && kj_replay_word(r, word, sizeof word)) {
        *arg = kjit_arg_u64(strtoull(word, &end, 10));
        ok = !*end && !errno && *word != '-';
    } else
        ok = false;
    return ok ? KJIT_OK : kj_replay_bad(r, "has no number");
}

kjit_status kj_replay_argument(kj_replay *r)
{
    char kind[16];
    if (r->nargs == KJ_MAX_PARAMS)
        return kj_replay_bad(r, "is no argument");
    char *name = r->names[r->nargs] = kj_replay_name(r);
    if (!name || !kj_replay_word(r, kind, sizeof kind))
        return kj_replay_bad(r, "is no argument");
    kjit_status status = strcmp(kind, "array") == 0   ? read_array(r, KJIT_ARG_ARRAY)
                         : strcmp(kind, "in") == 0    ? read_array(r, KJIT_ARG_IN)
                         : strcmp(kind, "out") == 0   ? read_array(r, KJIT_ARG_OUT)
                         : strcmp(kind, "value") == 0 ? read_value(r)
                                                      : read_number(r, kind);
    r->args[r->nargs].name = name;
    if (status == KJIT_OK && r->bound && !bound_to(r))
        status = kj_replay_bad(r, "is no argument of the launch");
    r->nargs++;
    return status;
}

static const kj_const_array_info *filled_named(const kj_replay *r, const char *name)
{
    const kj_program *program = r->mod->program;
    for (int i = 0; name && i < program->nfilled; i++)
        if (strcmp(program->filled[i].name, name) == 0)
            return &program->filled[i];
    return NULL;
}

static kjit_status fill(kj_replay *r, const kj_const_array_info *f, int64_t number)
{
    kjit_array *block, *a;
    kjit_status status = kj_replay_block(r, number, &block);
    if (status != KJIT_OK)
        return status;
    int64_t size = f->elem_size;
    for (int k = 0; k < f->ndim; k++)
        size *= f->shape[k];
    if (size != block->size)
        return kj_replay_bad(r, "has a const array of another size than its block");
    status = kj_array_wrap(r->ctx, block->data, (kjit_dtype)f->elem, f->ndim, f->shape, NULL,
                           KJIT_HOST, NULL, NULL, &a);
    if (status == KJIT_OK)
        status = kjit_module_set_const(r->mod, f->name, a);
    kjit_array_free(a);
    return status;
}

kjit_status kj_replay_const(kj_replay *r)
{
    int64_t number;
    if (!kj_replay_int(r, 0, KJ_REPLAY_BLOCKS - 1, &number))
        return kj_replay_bad(r, "has no block and name of a const array");
    char *name = kj_replay_name(r);
    const kj_const_array_info *f = filled_named(r, name);
    free(name);
    if (!f)
        return kj_replay_bad(r, "names a const array that the source has not");
    return r->bound ? KJIT_OK : fill(r, f, number);
}
