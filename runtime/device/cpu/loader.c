/* Object code -> executable memory, an address to call.
 *
 * Memory for code is written first and run after, never both. Where the system does not let pages
 * change from one to the other (PR_SET_MDWE, a seccomp filter), the same memory is mapped twice:
 * once to be written, once to be run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "device/cpu/cpu.h"
#include "device/cpu/object.h"

/* The memory as it is written, and as it runs: one place, or two. */
typedef struct pages {
    void *written, *run;
    size_t size;
} pages;

static void *map(size_t size, int protection, int flags, int fd)
{
    void *at = mmap(NULL, size, protection, flags, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void pages_free(pages *p)
{
    if (p->written && p->written != p->run)
        munmap(p->written, p->size);
    if (p->run)
        munmap(p->run, p->size);
    *p = (pages){0};
}

static bool map_once(pages *p, size_t size)
{
    void *at = map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    *p = (pages){at, at, size};
    return at != NULL;
}

static bool map_twice(pages *p, size_t size)
{
    int fd = memfd_create("kjit", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    *p = (pages){.size = size};
    if (kj_set_file_size(fd, (off_t)size) == 0) {
        p->written = map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
        p->run = p->written ? map(size, PROT_READ | PROT_EXEC, MAP_SHARED, fd) : NULL;
    }
    int error = errno;
    close(fd);
    errno = error;
    if (p->run)
        return true;
    pages_free(p);
    errno = error;
    return false;
}

/* What was written can be run, and no longer be written. */
static bool pages_finish(pages *p)
{
    if (p->run == p->written)
        return mprotect(p->run, p->size, PROT_READ | PROT_EXEC) == 0;
    munmap(p->written, p->size);
    p->written = NULL;
    return true;
}

/* Where what is fetched as code is not what was stored until it is told so, it is. */
static void tell_code(pages *p)
{
    __builtin___clear_cache(p->run, (char *)p->run + p->size);
}

static kjit_status no_pages(kj_failure *why)
{
    if (errno == ENOMEM)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    return kj_because(why, KJIT_NO_DEVICE,
                      "the system does not let this process run code that it makes: it may neither "
                      "make written memory executable, nor map a memfd so (%s)",
                      strerror(errno));
}

/* Fills pages by `write`, and makes them code. */
typedef kjit_status write_fn(const kj_object *object, void *memory, uint64_t base, kj_failure *why);

static kjit_status make_code(pages *p, size_t size, write_fn *write, const kj_object *object,
                             kj_failure *why)
{
    size_t page = kj_page_size();
    size = (size + page - 1) / page * page;
    for (int way = 0; way < 2; way++) {
        if (!(way ? map_twice : map_once)(p, size))
            break;
        kjit_status status = write ? write(object, p->written, (uintptr_t)p->run, why) : KJIT_OK;
        if (status != KJIT_OK) {
            pages_free(p);
            return status;
        }
        if (pages_finish(p)) {
            tell_code(p);
            return KJIT_OK;
        }
        int error = errno;
        pages_free(p);
        errno = error;
        if (error == ENOMEM)
            break;
    }
    return no_pages(why);
}

kjit_status kj_loader_check(kj_failure *why)
{
    pages p;
    kjit_status status = make_code(&p, 1, NULL, NULL, why);
    if (status == KJIT_OK)
        pages_free(&p);
    return status;
}

/* ---- Kernels ---- */

static kjit_status find_entry(const kj_object *object, const kj_exec *exec, const char *name,
                              kj_host_entry *out, kj_failure *why)
{
    uint64_t at = kj_object_symbol(object, name);
    if (at >= exec->size)
        return kj_because(why, KJIT_INTERNAL, "the compiled kernel has no '%s'", name);
    *out = (kj_host_entry)((uintptr_t)exec->code + (uintptr_t)at);
    return KJIT_OK;
}

static kjit_status find_children(const kj_object *object, const kj_code *code, kj_exec *exec,
                                 kj_failure *why)
{
    exec->children = calloc((size_t)code->nchildren, sizeof *exec->children);
    kjit_status status =
        exec->children ? KJIT_OK : kj_because(why, KJIT_NO_MEMORY, "out of memory");
    for (int i = 0; i < code->nchildren && status == KJIT_OK; i++) {
        const kj_code *child = &code->children[i];
        kj_child_entry *c = &exec->children[i];
        c->scratch = (size_t)(child->scratch + child->kernel->shared);
        c->nslots = (size_t)child->kernel->nslots;
        memcpy(c->block, child->kernel->block, sizeof c->block);
        status = find_entry(object, exec, child->entry, &c->entry, why);
    }
    return status;
}

static kjit_status load(const kj_code *code, kj_exec *exec, kj_failure *why)
{
    kj_object object;
    size_t size;
    pages p;
    kjit_status status =
        kj_object_open(&object, kj_object_host, code->bytes, code->size, &size, why);
    if (status == KJIT_OK)
        status = make_code(&p, size, kj_object_write, &object, why);
    if (status != KJIT_OK)
        return status;
    exec->code = p.run;
    exec->size = p.size;
    exec->stack = (size_t)code->stack;
    exec->grid_sync = code->kernel->grid_sync;
    exec->kernel = code->kernel;
    exec->watched = code->kernel->watched;
    exec->past = code->past;
    exec->shared_out = code->shared_out;
    for (int i = 0; i < code->kernel->nparams; i++)
        exec->counts |= code->kernel->params[i].tally != KJ_TALLY_NONE;
    status = find_entry(&object, exec, code->entry, &exec->entry, why);
    if (status == KJIT_OK && code->nchildren > 0)
        status = find_children(&object, code, exec, why);
    return status;
}

kjit_status kj_cpu_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why)
{
    (void)dev;
    kj_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    kjit_status status = load(code, exec, why);
    if (status == KJIT_OK)
        *out = exec;
    else
        kj_unload(dev, exec, why);
    return status;
}

kjit_status kj_unload(kj_device *dev, kj_exec *exec, kj_failure *why)
{
    (void)dev, (void)why;
    if (!exec)
        return KJIT_OK;
    if (exec->code)
        munmap(exec->code, exec->size);
    free(exec->children);
    free(exec);
    return KJIT_OK;
}
