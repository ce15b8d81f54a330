/* Stores narrower than their register. NVIDIA's assembler gives registers the types of the
 * instructions that write them: of one that only instructions of floats write, such a store keeps
 * the number converted to an integer, not the low bits that the manual promises (seen with ptxas
 * 13.0 for sm_75 to sm_100 and on an H100). Code that means the bits must not be written so: it
 * does not load. */
#include "ptx_parse.h"

enum { BY_FLOATS = 1, BY_OTHERS = 2, STEP = 4 /* bytes of a frame */ };

typedef struct ptx_narrow {
    struct ptx_narrow *next;
    uint32_t at;
    int line;
} ptx_narrow;

void ptx_note_written(ptx_parser *p, uint32_t at, bool by_floats)
{
    while (p->written_size <= at / STEP) {
        p->written = ptx_grow(p->written, p->written_size, &p->written_room, 1);
        p->written[p->written_size++] = 0;
    }
    p->written[at / STEP] |= by_floats ? BY_FLOATS : BY_OTHERS;
}

void ptx_note_narrow(ptx_parser *p, uint32_t at, int line)
{
    ptx_narrow *narrow = ptx_new(&p->names, sizeof *narrow);
    *narrow = (ptx_narrow){.next = p->narrow, .at = at, .line = line};
    p->narrow = narrow;
}

void ptx_check_narrow(ptx_parser *p)
{
    for (const ptx_narrow *n = p->narrow; n; n = n->next)
        if (n->at / STEP < p->written_size && p->written[n->at / STEP] == BY_FLOATS)
            ptx_error(p, n->line,
                      "a store narrower than its register, which instructions of floats wrote: the "
                      "assembler converts the number");
    p->narrow = NULL;
    p->written_size = 0;
}
