/* What ld.global.nc reads, nobody may write while the launch runs: chips may give it from a cache
 * that sees no stores. Each byte of global memory that a launch touches so, or writes, is marked,
 * and memory with both marks is a fault, which names both instructions. Only modules that have such
 * loads pay for it. */
#include <stdlib.h>

#include "ptx_lanes.h"

enum { READ_ONLY = 1, WRITTEN = 2, WORD = 4 };

struct ptx_marks {
    struct ptx_marks *next;
    uintptr_t host; /* of the allocation */
    uint64_t begin; /* its address */
    size_t size;
    uint32_t *last; /* of each word: the instruction that marked it last */
    uint8_t bytes[];
};

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
    ptx_marks *marks = calloc(1, sizeof *marks + size);
    uint32_t *last = calloc(size / WORD + 1, sizeof *last);
    if (!marks || !last)
        abort();
    marks->host = span->host;
    marks->begin = span->begin;
    marks->size = size;
    marks->last = last;
    marks->next = exec->marks;
    exec->marks = marks;
}

/* Marks some bytes; the first that had the other mark, or -1. */
static int mark(ptx_marks *marks, size_t at, unsigned count, uint8_t mine, uint32_t inst)
{
    uint8_t *bytes = marks->bytes + at, all = 0, other = READ_ONLY + WRITTEN - mine;
    for (unsigned k = 0; k < count; k++)
        all |= bytes[k];
    for (unsigned k = 0; (all & other) && k < count; k++)
        if (bytes[k] & other)
            return (int)k;
    for (unsigned k = 0; k < count; k++)
        bytes[k] |= mine;
    for (size_t word = at / WORD; word <= (at + count - 1) / WORD; word++)
        marks->last[word] = inst;
    return -1;
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
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (!marks || where[l] - marks->host >= marks->size)
            marks = marks_of(warp->exec, where[l]);
        if (!marks)
            continue;
        size_t at = where[l] - marks->host;
        int first = mark(marks, at, bytes, write ? WRITTEN : READ_ONLY, index);
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
        free(marks->last);
        free(marks);
    }
}
