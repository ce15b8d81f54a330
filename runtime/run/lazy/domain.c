/* The axes a kernel runs over. In: the shape of a result and the arrays that stretch to it; out: as
 * few axes as those arrays allow, the fastest last, and a view of each array for the kernel. */
#include "run/lazy/lazy.h"

#include <stdlib.h>
#include <string.h>

void kj_domain_init(kj_domain *s, int ndim, const int64_t *shape)
{
    *s = (kj_domain){.ndim = ndim, .room = sizeof s->few / sizeof *s->few};
    s->arrays = s->few;
    for (int i = 0; i < ndim; i++)
        s->shape[i] = shape[i];
}

static bool same_view(const kjit_array *a, const kjit_array *b)
{
    size_t size = (size_t)a->ndim * sizeof *a->shape;
    return a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, size) == 0 && memcmp(a->strides, b->strides, size) == 0;
}

int kj_domain_find(const kj_domain *s, const kjit_array *a)
{
    int i = 0;
    while (i < s->narrays && !same_view(s->arrays[i].array, a))
        i++;
    return i;
}

static bool grow(kj_domain *s)
{
    size_t room = 2 * (size_t)s->room;
    kj_domain_array *more = malloc(room * sizeof *more);
    if (!more)
        return false;
    memcpy(more, s->arrays, (size_t)s->narrays * sizeof *more);
    if (s->arrays != s->few)
        free(s->arrays);
    s->arrays = more;
    s->room = (int)room;
    return true;
}

int kj_domain_append(kj_domain *s, kjit_array *a)
{
    if (s->narrays == s->room && !grow(s)) {
        s->failed = true;
        return 0;
    }
    s->arrays[s->narrays] = (kj_domain_array){.array = a};
    return s->narrays++;
}

int kj_domain_add(kj_domain *s, kjit_array *a)
{
    int found = kj_domain_find(s, a);
    if (found < s->narrays)
        return found;
    int place = kj_domain_append(s, a);
    kj_domain_array *to = &s->arrays[place];
    for (int i = 0; i < a->ndim; i++) {
        int axis = s->ndim - a->ndim + i;
        to->has[axis] = a->shape[i] == s->shape[axis];
        to->strides[axis] = to->has[axis] ? a->strides[i] : 0;
    }
    return place;
}

static void move_axis(kj_domain *s, int from, int to)
{
    s->shape[to] = s->shape[from];
    s->group[to] = s->group[from];
    for (int i = 0; i < s->narrays; i++) {
        s->arrays[i].has[to] = s->arrays[i].has[from];
        s->arrays[i].strides[to] = s->arrays[i].strides[from];
    }
}

static void drop_ones(kj_domain *s)
{
    int n = 0;
    for (int i = 0; i < s->ndim; i++) {
        if (s->shape[i] != 1)
            move_axis(s, i, n++);
    }
    s->ndim = n;
}

static void sort_axes(kj_domain *s, const kj_domain_array *by)
{
    for (int i = 1; i < s->ndim; i++) {
        for (int j = i; j > 0 && llabs(by->strides[j]) > llabs(by->strides[j - 1]); j--) {
            move_axis(s, j, KJIT_MAX_NDIM);
            move_axis(s, j - 1, j);
            move_axis(s, KJIT_MAX_NDIM, j - 1);
        }
    }
}

/* Does every array that has one of the axes go on from the inner into the outer? */
static bool joins(const kj_domain *s, int outer, int inner)
{
    for (int i = 0; i < s->narrays; i++) {
        const kj_domain_array *a = &s->arrays[i];
        int64_t next; /* strides of empty arrays may be any */
        if (a->has[outer] != a->has[inner] ||
            (a->has[outer] && (__builtin_mul_overflow(a->strides[inner], s->shape[inner], &next) ||
                               next != a->strides[outer])))
            return false;
    }
    return s->group[outer] == s->group[inner];
}

/* Where one axis of a group has no elements, no other has, and what their extents make together is no number. */
static void empty_groups(kj_domain *s)
{
    for (int i = 0; i < s->ndim; i++) {
        for (int k = 0; k < s->ndim && s->shape[i] == 0; k++)
            s->shape[k] *= s->group[k] != s->group[i];
    }
}

void kj_domain_join(kj_domain *s, int by)
{
    empty_groups(s);
    drop_ones(s);
    if (by >= 0)
        sort_axes(s, &s->arrays[by]);
    int n = 0;
    for (int i = 1; i < s->ndim; i++) {
        if (joins(s, n, i)) {
            int64_t extent = s->shape[n] * s->shape[i];
            move_axis(s, i, n);
            s->shape[n] = extent;
        } else {
            move_axis(s, i, ++n);
        }
    }
    s->ndim = s->ndim > 0 ? n + 1 : 0;
    if (s->ndim > 0)
        return;
    s->ndim = 1;
    s->shape[0] = 1;
    s->group[0] = 1;
    for (int i = 0; i < s->narrays; i++) {
        s->arrays[i].has[0] = true;
        s->arrays[i].strides[0] = (int64_t)kjit_dtype_size(s->arrays[i].array->dtype);
    }
}

/* Kernels take elements that are aligned, which fields of packed records are not. */
static bool align(kj_run *r, kj_span at, kj_domain_array *a)
{
    kjit_array *packed = a->view;
    if (packed->aligned)
        return true;
    a->packed = packed;
    a->view = NULL;
    return kj_run_check(r,
                        kjit_array_create(r->ctx, packed->dtype, packed->ndim, packed->shape, 'C',
                                          packed->buffer->memory, &a->view),
                        at) &&
           kj_run_check(r, kjit_copy(a->view, packed, NULL), at);
}

bool kj_domain_stored(kj_run *r, kj_span at, const kj_domain *s, int array)
{
    const kj_domain_array *a = &s->arrays[array];
    return !a->packed || kj_run_check(r, kjit_copy(a->packed, a->view, NULL), at);
}

bool kj_domain_views(kj_run *r, kj_span at, kj_domain *s)
{
    if (s->failed)
        return kj_run_no_memory(r, at);
    for (int i = 0; i < s->narrays; i++) {
        kj_domain_array *a = &s->arrays[i];
        int64_t shape[KJIT_MAX_NDIM] = {1}, strides[KJIT_MAX_NDIM] = {0};
        int n = 0;
        for (int axis = 0; axis < s->ndim; axis++) {
            if (!a->has[axis])
                continue;
            shape[n] = s->shape[axis];
            strides[n++] = a->strides[axis];
        }
        if (!kj_run_check(r, kj_array_restride(a->array, n ? n : 1, shape, strides, &a->view),
                          at) ||
            !align(r, at, a))
            return false;
    }
    return true;
}

void kj_domain_free(kj_domain *s)
{
    for (int i = 0; i < s->narrays; i++) {
        kjit_array_free(s->arrays[i].view);
        kjit_array_free(s->arrays[i].packed);
    }
    if (s->arrays != s->few)
        free(s->arrays);
    s->narrays = 0;
    s->arrays = s->few;
}
