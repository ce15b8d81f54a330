/* Memory of other processes: that which is shown to them becomes a file's, and its handle says
 * where that is open. */
#include "double.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct drv_shown {
    char magic[8];
    uint64_t inode, size;
    int process, file;
    uint64_t sum;
} drv_shown;

_Static_assert(sizeof(drv_shown) <= sizeof(CUipcMemHandle), "a handle holds it");
static const char magic[8] = "double";

/* FNV-1a of what stands before the sum. */
static uint64_t sum_of(const drv_shown *shown)
{
    uint64_t sum = 0xcbf29ce484222325;
    const unsigned char *bytes = (const unsigned char *)shown;
    for (size_t i = 0; i < offsetof(drv_shown, sum); i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

CUresult do_cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the handle");
    drv_memory *found = memory_range(address, 0, "address");
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (found->owner != OWNER_PROGRAM)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not of cuMemAlloc", address);
    workers_rest();
    if (!memory_share(found))
        return CUDA_ERROR_OUT_OF_MEMORY;
    drv_shown shown;
    memset(&shown, 0, sizeof shown);
    memcpy(shown.magic, magic, sizeof magic);
    shown.inode = found->inode;
    shown.size = found->size;
    shown.process = (int)getpid();
    shown.file = found->file;
    shown.sum = sum_of(&shown);
    memset(out, 0, sizeof *out);
    memcpy(out, &shown, sizeof shown);
    return CUDA_SUCCESS;
}

static drv_memory *find_opened(uint64_t inode)
{
    for (drv_memory *m = memory_next(NULL); m; m = memory_next(m)) {
        if (m->owner == OWNER_IPC && !m->freed && m->inode == inode &&
            m->context == context_current())
            return m;
    }
    return NULL;
}

/* -1 where the process, or its memory, is no more. */
static int open_shown(const drv_shown *shown)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", shown->process, shown->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return -1;
    if (fstat(file, &about) == 0 && about.st_ino == shown->inode &&
        about.st_size >= (off_t)shown->size)
        return file;
    close(file);
    return -1;
}

/* What is no handle, or one whose memory is gone, is an error, no misuse: it came from outside. */
CUresult do_cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    drv_shown shown;
    memcpy(&shown, &handle, sizeof shown);
    if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the address, or flags %u", flags);
    if (memcmp(shown.magic, magic, sizeof magic) || shown.sum != sum_of(&shown))
        return CUDA_ERROR_INVALID_VALUE;
    if (shown.process == (int)getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_memory *found = find_opened(shown.inode);
    if (!found) {
        int file = open_shown(&shown);
        if (file < 0)
            return CUDA_ERROR_INVALID_VALUE;
        found = memory_open(context_current(), shown.size, file);
        if (!found)
            return CUDA_ERROR_MAP_FAILED;
        found->inode = shown.inode;
    }
    found->opens++;
    *out = found->begin;
    return CUDA_SUCCESS;
}

CUresult do_cuIpcCloseMemHandle(CUdeviceptr address)
{
    drv_memory *found = memory_range(address, 0, "address");
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (found->owner != OWNER_IPC || found->begin != address || found->context != context_current())
        return misuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not what a handle was opened to here",
                      address);
    if (--found->opens)
        return CUDA_SUCCESS;
    if (clock_missing(NULL, &found->uses))
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%#llx is closed and nobody waited for the work that uses it", address);
    memory_end(found);
    memory_give_back(found);
    return CUDA_SUCCESS;
}
