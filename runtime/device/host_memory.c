/* Host memory for arrays: aligned, on huge pages where large, refused where it could not be
 * backed. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20, MAPPED = 1 << 20, CHECKED = 16 << 20 };

static size_t rounded(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

size_t kj_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Pages from the system, aligned to huge ones. */
static void *map(size_t size)
{
    size_t whole = size + HUGE_PAGE;
    char *base = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    char *start = (char *)rounded((uintptr_t)base, HUGE_PAGE);
    if (start > base)
        munmap(base, (size_t)(start - base));
    if (base + whole > start + size)
        munmap(start + size, (size_t)(base + whole - (start + size)));
    madvise(start, size, MADV_HUGEPAGE);
    return start;
}

/* A block of the C library's, and before what is aligned in it where it begins. What is freed so is
 * as large as the next request of that size: aligned_alloc asks for more than it keeps, and never
 * fits into the hole that it left. */
static void *carve(size_t size)
{
    char *block = malloc(size + ALIGNMENT);
    if (!block)
        return NULL;
    void **start = (void *)rounded((uintptr_t)block + sizeof *start, ALIGNMENT);
    start[-1] = block;
    return start;
}

kjit_status kj_memory_alloc(size_t size, void **out, kj_failure *why)
{
    if (size > PTRDIFF_MAX - HUGE_PAGE)
        return kj_because(why, KJIT_NO_MEMORY,
                          "out of memory: %zu bytes are more than an address space", size);
    if (size >= CHECKED) {
        uint64_t left = kj_machine_memory_free();
        if (size > left)
            return kj_because(why, KJIT_NO_MEMORY,
                              "out of memory: %zu bytes were asked for, %llu are free", size,
                              (unsigned long long)left);
    }
    *out = size >= MAPPED ? map(rounded(size, kj_page_size()))
                          : carve(rounded(size ? size : 1, ALIGNMENT));
    if (*out)
        return KJIT_OK;
    return kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu bytes were asked for", size);
}

void kj_memory_free(void *memory, size_t size)
{
    if (memory && size >= MAPPED)
        munmap(memory, rounded(size, kj_page_size()));
    else if (memory)
        free(((void **)memory)[-1]);
}
