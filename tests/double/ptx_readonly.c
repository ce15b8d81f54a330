/* What ld.global.nc reads, nobody may write while the launch runs: chips may give it from a cache
 * that sees no stores. Each byte of global memory that a launch touches so, or writes, is marked,
 * and memory with both marks is a fault, which names both instructions. Only modules that have such
 * loads pay for it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_lanes.h"

enum { READ_ONLY = 1, WRITTEN = 2, WORD = 4, MOST_KEPT = 1 << 25 };

struct ptx_marks {
    struct ptx_marks *next;
    uintptr_t host; /* of the allocation */
    uint64_t begin; /* its address */
    size_t size, room;
    size_t low, high; /* what is marked is between */
    uint32_t *last;   /* of each word: the instruction that marked it last */
    uint8_t bytes[];
};

/* Those of launches that have ended, without a mark. */
static ptx_marks *clean;
static size_t kept; /* bytes */
static pthread_mutex_t clean_lock = PTHREAD_MUTEX_INITIALIZER;

static ptx_marks *new_marks(size_t size)
{
    pthread_mutex_lock(&clean_lock);
    ptx_marks **at = &clean, *marks;
    while (*at && ((*at)->room < size || (*at)->room / 4 > size))
        at = &(*at)->next;
    marks = *at;
    if (marks) {
        *at = marks->next;
        kept -= marks->room;
    }
    pthread_mutex_unlock(&clean_lock);
    if (marks)
        return marks;
    marks = calloc(1, sizeof *marks + size);
    if (!marks)
        abort();
    marks->room = size;
    marks->last =
        malloc((size / WORD + 1) * sizeof *marks->last); /* looked at where there is a mark */
    if (!marks->last)
        abort();
    return marks;
}

static void give_back(ptx_marks *marks)
{
    if (marks->low < marks->high)
        memset(marks->bytes + marks->low, 0, marks->high - marks->low);
    pthread_mutex_lock(&clean_lock);
    bool keeps = kept + marks->room <= MOST_KEPT;
    if (keeps) {
        marks->next = clean;
        clean = marks;
        kept += marks->room;
    }
    pthread_mutex_unlock(&clean_lock);
    if (keeps)
        return;
    free(marks->last);
    free(marks);
}

static inline void touch(ptx_marks *marks, size_t at, size_t count)
{
    marks->low = at < marks->low ? at : marks->low;
    marks->high = at + count > marks->high ? at + count : marks->high;
}

/* Those of the allocation that the host's address is in; the last ones used are found first. */
static ptx_marks *marks_of(ptx_exec *exec, uintptr_t host)
{
    for (ptx_marks **at = &exec->marks; *at; at = &(*at)->next) {
        ptx_marks *marks = *at;
        if (host - marks->host < marks->size) {
            *at = marks->next;
            marks->next = exec->marks;
            exec->marks = marks;
            return marks;
        }
    }
    return NULL;
}

void ptx_add_marks(ptx_exec *exec, const ptx_span *span)
{
    size_t size = (size_t)span->size;
    if (!exec->module->reads_only || marks_of(exec, span->host))
        return;
    ptx_marks *marks = new_marks(size);
    marks->host = span->host;
    marks->begin = span->begin;
    marks->size = marks->low = size;
    marks->high = 0;
    marks->next = exec->marks;
    exec->marks = marks;
}

/* Marks some bytes; the first that had the other mark, or -1. */
static int mark(ptx_marks *marks, size_t at, size_t count, uint8_t mine, uint32_t inst)
{
    uint8_t *bytes = marks->bytes + at, all = 0, other = READ_ONLY + WRITTEN - mine;
    for (size_t k = 0; k < count; k++)
        all |= bytes[k];
    for (size_t k = 0; (all & other) && k < count; k++)
        if (bytes[k] & other)
            return (int)k;
    touch(marks, at, count);
    for (size_t k = 0; k < count; k++)
        bytes[k] |= mine;
    for (size_t word = at / WORD; word <= (at + count - 1) / WORD; word++)
        marks->last[word] = inst;
    return -1;
}

/* The same of a lane's value, which is aligned, where no byte has the other mark; else false and nothing marked. */
static inline bool mark_value(ptx_marks *marks, size_t at, size_t count, uint8_t mine,
                              uint32_t inst)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t value = 0;
    memcpy(&value, marks->bytes + at, count);
    if (value & each * (READ_ONLY + WRITTEN - mine))
        return false;
    touch(marks, at, count);
    value |= each * mine;
    memcpy(marks->bytes + at, &value, count);
    marks->last[at / WORD] = inst;
    if (count > WORD)
        marks->last[at / WORD + 1] = inst;
    return true;
}

static bool mark_quickly(ptx_marks *marks, size_t at, unsigned count, uint8_t mine, uint32_t inst)
{
    switch (count) {
    case 1: return mark_value(marks, at, 1, mine, inst);
    case 2: return mark_value(marks, at, 2, mine, inst);
    case 4: return mark_value(marks, at, 4, mine, inst);
    case 8: return mark_value(marks, at, 8, mine, inst);
    default: return false;
    }
}

/* The same of values that lie one behind the other in one allocation, as those of a warp mostly do. */
static bool mark_row(ptx_marks *marks, const uintptr_t where[PTX_LANES], unsigned bytes,
                     uint8_t mine, uint32_t inst)
{
    uintptr_t apart = 0;
    size_t at = where[0] - marks->host, count = PTX_LANES * bytes;
    for (size_t l = 0; l < PTX_LANES; l++)
        apart |= where[l] ^ (where[0] + l * bytes);
    return apart == 0 && at < marks->size && marks->size - at >= count &&
           mark(marks, at, count, mine, inst) < 0;
}

static void tell(ptx_warp *warp, const ptx_inst *inst, int lane, bool write, const ptx_marks *marks,
                 size_t byte)
{
    unsigned long long address = marks->begin + byte;
    int line = warp->exec->module->code[marks->last[byte / WORD]].line;
    if (write)
        ptx_raise(warp, inst, lane, 719,
                  "a store to 0x%llx, which ld.global.nc reads in this launch, on PTX line %d",
                  address, line);
    else
        ptx_raise(warp, inst, lane, 719,
                  "ld.global.nc of 0x%llx, which this launch writes on PTX line %d", address, line);
}

void ptx_mark(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes, bool write,
              const uintptr_t where[PTX_LANES])
{
    ptx_marks *marks = warp->exec->marks;
    uint32_t index = (uint32_t)(inst - warp->exec->module->code);
    uint8_t mine = write ? WRITTEN : READ_ONLY;
    if (lanes == PTX_FULL && (marks = marks_of(warp->exec, where[0])) != NULL &&
        mark_row(marks, where, bytes, mine, index))
        return;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (!marks || where[l] - marks->host >= marks->size)
            marks = marks_of(warp->exec, where[l]);
        if (!marks)
            continue;
        size_t at = where[l] - marks->host;
        if (mark_quickly(marks, at, bytes, mine, index))
            continue;
        int first = mark(marks, at, bytes, mine, index);
        if (first >= 0) {
            tell(warp, inst, l, write, marks, at + (size_t)first);
            return;
        }
    }
}

void ptx_free_marks(ptx_exec *exec)
{
    while (exec->marks) {
        ptx_marks *marks = exec->marks;
        exec->marks = marks->next;
        give_back(marks);
    }
}
