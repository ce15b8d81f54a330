/* What names of a program mean, items, records and kernels by name, for the run block's interpreter
 * and launches. */
#include <string.h>

#include "sema/program.h"

const kj_item *kj_item_named(const kj_file *file, const char *name)
{
    const char *dot = strchr(name, '.');
    size_t len = dot ? (size_t)(dot - name) : strlen(name);
    const kj_item *item = kj_item_called(file, name, len);
    if (!dot)
        return item;
    item = item && item->used ? kj_item_called(item->used, dot + 1, strlen(dot + 1)) : NULL;
    return item && item->kind != KJ_I_USE ? item : NULL;
}

const kj_aggregate *kj_record_named(const kj_program *p, const kj_file *file, const char *name)
{
    return kj_record_of(p, kj_item_named(file, name));
}

const kj_aggregate *kj_record_of(const kj_program *p, const kj_item *item)
{
    for (int i = 0; i < p->ndeclared; i++)
        if (p->declared[i].item == item)
            return p->declared[i].of;
    return NULL;
}

const kj_const_array_info *kj_filled_of(const kj_program *p, const kj_item *item)
{
    for (int i = 0; i < p->nfilled; i++)
        if (p->filled[i].span.begin == item->name_span.begin)
            return &p->filled[i];
    return NULL;
}

const kj_kernel_decl *kj_kernel_of(const kj_program *p, const kj_item *item)
{
    int first = 0, end = p->nall; /* they are in the order of their items */
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (p->kernels[middle].item->number < item->number)
            first = middle + 1;
        else
            end = middle;
    }
    return first < p->nall && p->kernels[first].item == item ? &p->kernels[first] : NULL;
}
