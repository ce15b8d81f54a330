/* Const arrays that the host fills. In: arrays by the name of a `const lut: f32[256]`; out: their
 * elements where kernels read them: on a device with host_memory the module's copy, else a variable
 * of each loaded kernel, brought up to date by the first launch after a change. */
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

/* ---- Filling ---- */

static int find(const kjit_module *mod, const char *name)
{
    for (int i = 0; i < mod->program->nfilled; i++)
        if (strcmp(mod->program->filled[i].name, name) == 0 ||
            kj_is_called(mod, mod->program->filled[i].name, name))
            return i;
    return -1;
}

static kjit_status check(kjit_context *ctx, const kj_const_array_info *a, const kjit_array *from)
{
    char wanted[KJ_SHAPE_TEXT], given[KJ_SHAPE_TEXT];
    if (from->ctx != ctx)
        return kj_fail(ctx, KJIT_INVALID, "the array belongs to another context");
    if ((kj_dtype)from->dtype != a->elem)
        return kj_fail(ctx, KJIT_TYPE, "'%s' has elements of %s, not %s", a->name,
                       a->of ? a->of->name : kj_type_name(a->elem),
                       kj_dtype_name(ctx, from->dtype));
    if (from->ndim != a->ndim ||
        memcmp(from->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) != 0)
        return kj_fail(ctx, KJIT_SHAPE, "'%s' has the shape %s, not %s", a->name,
                       kj_shape_text(a->ndim, a->shape, wanted),
                       kj_shape_text(from->ndim, from->shape, given));
    return KJIT_OK;
}

/* Under the lock. */
static kjit_status fill(kjit_module *mod, const kj_const_array_info *a, kjit_array *from)
{
    kj_const_array_copy *f = &mod->filled[a->index];
    kjit_array *fresh = f->array;
    kjit_status status = KJIT_OK;
    mod->ctx->ops->wait(mod->ctx->dev, NULL); /* what reads the old elements */
    if (!fresh)
        status = kj_array_create(mod->ctx, (kjit_dtype)a->elem, a->ndim, a->shape, 'C', KJIT_HOST,
                                 &fresh);
    if (status != KJIT_OK)
        return status;
    status = kjit_copy(fresh, from, NULL);
    if (status != KJIT_OK && !f->array) {
        kjit_array_free(fresh);
        return status;
    }
    kj_handle_hide(fresh);
    f->array = fresh;
    f->version++;
    return status;
}

kjit_status kjit_module_set_const(kjit_module *mod, const char *name, kjit_array *array)
{
    kjit_status status = kj_enter_compiled(mod);
    if (status != KJIT_OK)
        return status;
    if (!name)
        return kj_fail(mod->ctx, KJIT_INVALID, "name is NULL");
    if (!kj_lives(array, KJ_ARRAY))
        return kj_fail(mod->ctx, KJIT_INVALID, "array %s", array ? "was freed" : "is NULL");
    int i = find(mod, name);
    if (i < 0)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND,
                       "%s has no const array '%s' that the host fills: const %s: f32[256]",
                       mod->source.name, name, name);
    const kj_const_array_info *a = &mod->program->filled[i];
    status = check(mod->ctx, a, array);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&mod->fill_lock);
    status = fill(mod, a, array);
    pthread_mutex_unlock(&mod->fill_lock);
    return status;
}

/* ---- Launches ---- */

/* Brings the code's variable up to date. Under the lock. */
static kjit_status bring(kjit_module *mod, kj_variant *v, const kj_const_array_info *a)
{
    kjit_context *ctx = mod->ctx;
    const kj_const_array_copy *f = &mod->filled[a->index];
    uint64_t *has = &v->filled[a->index];
    kj_failure why;
    if (*has == f->version)
        return KJIT_OK;
    ctx->ops->wait(ctx->dev, NULL); /* what reads the old elements */
    kjit_status status = ctx->ops->code->fill(ctx->dev, v->exec, a->symbol, f->array->data,
                                              (size_t)(f->array->size * a->elem_size), &why);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    *has = f->version;
    return status;
}

kjit_status kj_const_arrays_ready(kjit_module *mod, kj_variant *variant)
{
    const kj_kernel_info *k = variant->kernel;
    kjit_status status = KJIT_OK;
    pthread_mutex_lock(&mod->fill_lock);
    for (int i = 0; i < k->nfilled && status == KJIT_OK; i++) {
        const kj_const_array_info *a = k->filled[i];
        if (!mod->filled[a->index].array)
            status = kj_fail_unfilled(mod, a, k->name);
        else if (mod->ctx->ops->code)
            status = bring(mod, variant, a);
    }
    pthread_mutex_unlock(&mod->fill_lock);
    return status;
}

size_t kj_const_array_slots(kjit_module *mod, const kj_kernel_info *kernel, uint64_t *slots)
{
    for (int i = 0; i < kernel->nfilled; i++)
        slots[i] = (uintptr_t)mod->filled[kernel->filled[i]->index].array->data;
    return (size_t)kernel->nfilled;
}

/* ---- Tests ---- */

static size_t bytes_of(const kjit_module *mod, int i)
{
    const kjit_array *a = mod->filled[i].array;
    return a ? (size_t)(a->size * mod->program->filled[i].elem_size) : 0;
}

kj_const_array_kept *kj_const_arrays_keep(kjit_module *mod)
{
    int n = mod->program->nfilled;
    size_t size = 0;
    pthread_mutex_lock(&mod->fill_lock);
    for (int i = 0; i < n; i++)
        size += bytes_of(mod, i);
    kj_const_array_kept *kept = malloc((size_t)n * sizeof *kept + size + 1);
    char *data = (char *)(kept + n);
    for (int i = 0; i < n && kept; i++) {
        kept[i] = (kj_const_array_kept){mod->filled[i].version, mod->filled[i].array ? data : NULL};
        if (kept[i].data)
            memcpy(data, mod->filled[i].array->data, bytes_of(mod, i));
        data += bytes_of(mod, i);
    }
    pthread_mutex_unlock(&mod->fill_lock);
    return kept;
}

void kj_const_arrays_reset(kjit_module *mod, kj_const_array_kept *kept)
{
    pthread_mutex_lock(&mod->fill_lock);
    for (int i = 0; i < mod->program->nfilled; i++) {
        kj_const_array_copy *f = &mod->filled[i];
        if (f->version == kept[i].version)
            continue;
        mod->ctx->ops->wait(mod->ctx->dev, NULL); /* what reads the elements */
        if (kept[i].data) {
            memcpy(f->array->data, kept[i].data, bytes_of(mod, i));
        } else {
            kj_array_drop(f->array);
            f->array = NULL;
        }
        f->version++;
    }
    pthread_mutex_unlock(&mod->fill_lock);
    free(kept);
}

void kj_const_arrays_free(kjit_module *mod)
{
    for (int i = 0; mod->filled && i < mod->program->nfilled; i++)
        kj_array_drop(mod->filled[i].array);
}
