/* What ld.global.nc reads, nobody may write while the launch runs: chips may give it from a cache
 * that sees no stores. Each byte of global memory that a launch touches so, or writes, is marked,
 * and memory with both marks is a fault. Only modules that have such loads pay for it. */
#include <stdlib.h>

#include "ptx_lanes.h"

enum { READ_ONLY = 1, WRITTEN = 2 };

struct ptx_marks {
    struct ptx_marks *next;
    uintptr_t host; /* of the allocation */
    size_t size;
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

void ptx_add_marks(ptx_exec *exec, uintptr_t host, size_t size)
{
    if (!exec->module->reads_only || marks_of(exec, host))
        return;
    ptx_marks *marks = calloc(1, sizeof *marks + size);
    if (!marks)
        abort();
    marks->host = host;
    marks->size = size;
    marks->next = exec->marks;
    exec->marks = marks;
}

/* Marks some bytes; whether one of them had the other mark. */
static bool mark(uint8_t *bytes, unsigned count, uint8_t mine, uint8_t other)
{
    uint8_t all = 0;
    for (unsigned k = 0; k < count; k++) {
        all |= bytes[k];
        bytes[k] |= mine;
    }
    return (all & other) != 0;
}

void ptx_mark(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes, bool write,
              const uintptr_t where[PTX_LANES])
{
    ptx_marks *marks = warp->exec->marks;
    uint8_t mine = write ? WRITTEN : READ_ONLY, other = write ? READ_ONLY : WRITTEN;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (!marks || where[l] - marks->host >= marks->size)
            marks = marks_of(warp->exec, where[l]);
        if (marks && mark(marks->bytes + (where[l] - marks->host), bytes, mine, other)) {
            ptx_raise(warp, inst, l, 719,
                      write ? "a store to memory that ld.global.nc reads in this launch"
                            : "ld.global.nc of memory that this launch writes");
            return;
        }
    }
}

void ptx_free_marks(ptx_exec *exec)
{
    while (exec->marks) {
        ptx_marks *marks = exec->marks;
        exec->marks = marks->next;
        free(marks);
    }
}
