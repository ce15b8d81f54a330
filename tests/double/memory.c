/* Device memory: addresses that nothing else has, with host memory behind them. */
#include "double.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t FIRST = 0x0001000000000000, LAST = 0x0002000000000000;
enum { UNIT = 512, PAGE = 4096 };
static const uint64_t GAP = 1 << 21; /* at least, between two allocations */

/* All there ever were, by address. The lock of calls.c guards them for all but memory_find, which
 * the threads that run kernels call. */
static drv_memory **table;
static size_t count, room;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t next_address;
static size_t used[64];     /* bytes, by device */
static drv_memory *unswept; /* ended, with its host memory still there */

/* ---- The host memory behind ---- */

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* Maps of device memory that was given back: mapping and its page faults take longer than filling one anew. Nobody but
 * the double knows where they are. */
static struct spare {
    void *map;
    size_t size;
} spares[64];
enum { SPARES = sizeof spares / sizeof *spares, MOST_SPARE = 1 << 26 };
static size_t spare_bytes;

static void *take_out(struct spare *spare)
{
    void *map = spare->map;
    spare->map = NULL;
    spare_bytes -= spare->size;
    return map;
}

static void *take_spare(size_t size)
{
    for (int i = 0; i < SPARES; i++) {
        if (spares[i].map && spares[i].size == size)
            return take_out(&spares[i]);
    }
    return NULL;
}

/* Those that were kept longest make room. */
static void keep_spare(void *map, size_t size)
{
    static int next;
    struct spare *spare = &spares[next];
    while (spare->map || spare_bytes + size > MOST_SPARE) {
        if (spare->map)
            munmap(take_out(spare), spare->size);
        if (spare_bytes + size > MOST_SPARE)
            spare = &spares[next = (next + 1) % SPARES];
    }
    *spare = (struct spare){map, size};
    spare_bytes += size;
    next = (next + 1) % SPARES;
}

/* With a guard page on either side; NULL: there is none to be had. */
static void *new_map(size_t size, size_t inner, bool filled)
{
    char *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (mprotect(map + PAGE, inner, PROT_READ | PROT_WRITE)) {
        munmap(map, size);
        return NULL;
    }
#ifdef MADV_POPULATE_WRITE /* all pages at once take half as long as one by one */
    if (filled)
        madvise(map + PAGE, inner, MADV_POPULATE_WRITE);
#endif
    return map;
}

/* So aligned as its address is, up to a page. */
bool memory_map(drv_memory *memory)
{
    size_t shift = (size_t)memory->begin % PAGE, inner = round_up(shift + memory->size, PAGE);
    bool filled = memory->size <= config()->memory;
    memory->map_size = inner + 2 * (size_t)PAGE;
    memory->map = take_spare(memory->map_size);
    if (!memory->map)
        memory->map = new_map(memory->map_size, inner, filled);
    if (!memory->map)
        return false;
    memory->host = (char *)memory->map + PAGE + shift;
    if (filled)
        memset(memory->host, POISON, memory->size);
    return true;
}

/* The file has all between the guard pages, from its beginning on. */
static bool map_file(drv_memory *memory, int file)
{
    struct stat about;
    size_t inner = memory->map_size - 2 * (size_t)PAGE;
    char *at = (char *)memory->map + PAGE;
    if (fstat(file, &about) || (size_t)about.st_size < inner ||
        mmap(at, inner, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        return false;
    memory->shared = true;
    memory->file = file;
    memory->inode = about.st_ino;
    return true;
}

bool memory_share(drv_memory *memory)
{
    if (memory->shared)
        return true;
    size_t inner = memory->map_size - 2 * (size_t)PAGE;
    int file = memfd_create("kjit driver double", MFD_CLOEXEC);
    if (file < 0)
        return false;
    if (ftruncate(file, (off_t)inner) == 0 &&
        pwrite(file, (char *)memory->map + PAGE, inner, 0) == (ssize_t)inner &&
        map_file(memory, file))
        return true;
    close(file);
    return false;
}

static void unmap(drv_memory *memory)
{
    pthread_rwlock_wrlock(&table_lock);
    memory->live = false;
    pthread_rwlock_unlock(&table_lock);
    memory->next = unswept;
    unswept = memory;
}

void memory_sweep(void)
{
    while (unswept) {
        drv_memory *memory = unswept;
        unswept = memory->next;
        if (memory->shared || memory->map_size > MOST_SPARE)
            munmap(memory->map, memory->map_size);
        else
            keep_spare(memory->map, memory->map_size);
        memory->map = NULL;
        if (memory->shared)
            close(memory->file);
        clock_free(&memory->born);
        clock_free(&memory->uses);
    }
}

/* ---- Allocations ---- */

uint64_t memory_addresses(size_t size, size_t align)
{
    uint64_t begin = round_up(next_address ? next_address : FIRST, align);
    if (size > LAST - FIRST || begin + size + GAP > LAST)
        abort();
    next_address = round_up(begin + size + GAP, GAP);
    return begin;
}

static drv_memory *add(drv_context *context, size_t size, size_t align, drv_owner owner)
{
    size_t whole = round_up(size, UNIT);
    drv_memory *made = calloc(1, sizeof *made);
    *made = (drv_memory){.owner = owner, .size = size, .context = context, .made = call_number()};
    if (!next_address)
        next_address = FIRST;
    if (next_address + whole + 2 * GAP > LAST)
        abort();
    /* 256 bytes is what the driver promises, so it is no more than that */
    made->begin = align > 256 ? round_up(next_address, align) : next_address + 256;
    if (!memory_map(made)) {
        free(made);
        return NULL;
    }
    next_address = round_up(made->begin + size + GAP, GAP);
    pthread_rwlock_wrlock(&table_lock);
    if (count == room) {
        room = room ? 2 * room : 256;
        table = realloc(table, room * sizeof *table);
    }
    table[count++] = made;
    made->live = owner != OWNER_POOL;
    pthread_rwlock_unlock(&table_lock);
    return made;
}

drv_memory *memory_new(drv_context *context, size_t size, size_t align, drv_owner owner)
{
    size_t whole = round_up(size, UNIT);
    if (whole < size || whole > config()->memory - used[context->device])
        return NULL;
    drv_memory *made = add(context, size, align, owner);
    if (made)
        used[context->device] += whole;
    return made;
}

drv_memory *memory_open(drv_context *context, size_t size, int file)
{
    drv_memory *made = add(context, size, 256, OWNER_IPC);
    if (made && map_file(made, file))
        return made;
    close(file);
    if (made) {
        memory_end(made);
        memory_give_back(made);
    }
    return NULL;
}

void memory_show(drv_memory *memory)
{
    pthread_rwlock_wrlock(&table_lock);
    memory->live = true;
    pthread_rwlock_unlock(&table_lock);
}

void memory_end(drv_memory *memory)
{
    memory->freed = true;
    memory->ended = call_number();
}

void memory_give_back(drv_memory *memory)
{
    if (memory->owner != OWNER_IPC)
        used[memory->context->device] -= round_up(memory->size, UNIT);
    if (memory->pool)
        pool_take_back(memory);
    unmap(memory);
    if (!workers_busy())
        memory_sweep();
}

size_t memory_used(int device)
{
    return used[device];
}

/* ---- Looking up ---- */

bool memory_is_device(uint64_t address)
{
    return address >= FIRST && address < LAST;
}

/* The last that begins at the address or before. */
static drv_memory *at_or_before(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle]->begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? table[low - 1] : NULL;
}

drv_memory *memory_at(uint64_t address)
{
    drv_memory *found = at_or_before(address);
    return found && address - found->begin < found->size ? found : NULL;
}

drv_memory *memory_next(const drv_memory *after)
{
    static size_t at; /* where `after` is: those who ask go from one to the next */
    at = after ? at + 1 : 0;
    return at < count ? table[at] : NULL;
}

bool memory_in_reach(const drv_memory *memory)
{
    const drv_context *current = context_current();
    int device = memory->context->device;
    if (device == current->device)
        return true;
    return memory->pool ? pool_shared(memory, current->device) : current->peers[device];
}

bool memory_find(void *ctx, uint64_t address, ptx_range *out)
{
    (void)ctx;
    pthread_rwlock_rdlock(&table_lock);
    const drv_memory *found = memory_at(address);
    bool live = found && found->live;
    if (live)
        *out = (ptx_range){found->begin, found->begin + found->size, found->host};
    pthread_rwlock_unlock(&table_lock);
    return live || pinned_find(address, out);
}

drv_memory *memory_range(uint64_t address, size_t size, const char *what)
{
    drv_memory *found = at_or_before(address);
    uint64_t into = found ? address - found->begin : 0;
    if (!memory_is_device(address) || !found) {
        misuse(CUDA_ERROR_INVALID_VALUE, "%s %#llx is no device address", what,
               (unsigned long long)address);
        return NULL;
    }
    if (into > found->size || size > found->size - into) {
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%s: %zu bytes at %#llx reach past the %zu bytes at %#llx (of call %llu)", what,
               size, (unsigned long long)address, found->size, (unsigned long long)found->begin,
               (unsigned long long)found->made);
        return NULL;
    }
    if (found->freed) {
        misuse(CUDA_ERROR_INVALID_VALUE, "%s %#llx was freed by call %llu", what,
               (unsigned long long)address, (unsigned long long)found->ended);
        return NULL;
    }
    return found;
}
