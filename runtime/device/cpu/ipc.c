/* Memory that other processes can open: a file of no name, mapped, which they find among this
 * process's descriptors. A page of the process's own lies before it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cpu/cpu.h"

/* What lies in that page. */
typedef struct share_head {
    int file; /* -1: another process's, which has it open */
    size_t size;
} share_head;

/* A handle's bytes: where the file is, and which. */
typedef struct share_place {
    uint64_t device, inode;
    int process, file;
} share_place;

_Static_assert(sizeof(share_place) <= KJ_SHARE_HANDLE, "a handle holds it");

static share_head *head_of(void *memory)
{
    return (share_head *)((char *)memory - kj_page_size());
}

static size_t whole_pages(size_t size)
{
    size_t page = kj_page_size();
    return ((size ? size : 1) + page - 1) / page * page;
}

/* The file behind a page of ours. NULL: the system has no room. */
static void *map(int file, size_t size)
{
    size_t page = kj_page_size(), bytes = whole_pages(size);
    char *base =
        mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mmap(base + page, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
        munmap(base, page + bytes);
        return NULL;
    }
    *(share_head *)base = (share_head){.file = -1, .size = size};
    return base + page;
}

/* A file over the limit of this process would end it with a signal. */
static bool may_be_so_large(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

kjit_status kj_share_alloc(size_t size, void **out, kj_failure *why)
{
    if (size > PTRDIFF_MAX - 2 * kj_page_size() || size > kj_machine_memory_free() ||
        !may_be_so_large(whole_pages(size)))
        return kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu bytes were asked for", size);
    int file = memfd_create("kjit array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return kj_because(why, KJIT_NO_MEMORY, "the system makes no memory to be shared: %s",
                          strerror(errno));
    size_t bytes = whole_pages(size);
    *out = NULL;
    /* its pages are there from now on, and whoever opens it can rely on that */
    if (posix_fallocate(file, 0, (off_t)bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        *out = map(file, size);
    if (!*out) {
        close(file);
        return kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu bytes were asked for", size);
    }
    head_of(*out)->file = file;
    return KJIT_OK;
}

void kj_share_free(void *memory)
{
    share_head head = *head_of(memory);
    if (head.file >= 0)
        close(head.file);
    munmap((char *)memory - kj_page_size(), kj_page_size() + whole_pages(head.size));
}

kjit_status kj_cpu_share(kj_device *dev, const kj_chunk *chunk, unsigned char *handle,
                         kj_failure *why)
{
    struct stat about;
    share_place place;
    (void)dev;
    memset(&place, 0, sizeof place);
    place.process = (int)getpid();
    place.file = head_of(chunk->data)->file;
    if (fstat(place.file, &about) != 0)
        return kj_because(why, KJIT_INTERNAL, "cannot look at shared memory: %s", strerror(errno));
    place.device = about.st_dev;
    place.inode = about.st_ino;
    memcpy(handle, &place, sizeof place);
    return KJIT_OK;
}

/* Is it that very file, and can it never get smaller? */
static bool is_file(int file, const share_place *place, size_t size)
{
    struct stat about;
    int seals = fcntl(file, F_GET_SEALS);
    return fstat(file, &about) == 0 && about.st_dev == place->device &&
           about.st_ino == place->inode && seals >= 0 && (seals & F_SEAL_SHRINK) &&
           (uint64_t)about.st_size >= whole_pages(size);
}

kjit_status kj_share_open(const unsigned char *handle, size_t size, void **out, kj_failure *why)
{
    struct stat about;
    share_place place;
    char path[64];
    memcpy(&place, handle, sizeof place);
    kj_snprintf(path, sizeof path, "/proc/%d/fd/%d", place.process, place.file);
    /* looked at first: to open what is no file may do something */
    bool is_there = size <= PTRDIFF_MAX - 2 * kj_page_size() && stat(path, &about) == 0 &&
                    S_ISREG(about.st_mode) && about.st_ino == place.inode;
    int file = is_there ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0)
        return kj_because(why, KJIT_INVALID,
                          "the memory of process %d is gone, or not for this process to open",
                          place.process);
    bool same = is_file(file, &place, size);
    *out = same ? map(file, size) : NULL;
    close(file);
    if (!same)
        return kj_because(why, KJIT_INVALID, "the handle is not one of shared memory");
    return *out ? KJIT_OK : kj_because(why, KJIT_NO_MEMORY, "the system has no room to map memory");
}
