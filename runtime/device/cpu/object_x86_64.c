/* Objects for x86-64: jumps, and references of 32 bits from where they stand. */
#include "device/cpu/object.h"

#include <string.h>

static bool refer(const kj_reference *r, unsigned char *image)
{
    uint64_t value = r->to;
    switch (r->type) {
    case R_X86_64_64:
        value += r->base;
        if (r->room < 8)
            return false;
        memcpy(image + r->at, &value, 8);
        return true;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: /* the address of a function, from memory */
        if (r->address == UINT64_MAX)
            return false;
        value += 8; /* behind its jump; the addend stays */
        break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32: break;
    default: return false;
    }
    value -= r->at;
    int32_t distance = (int32_t)value;
    if (r->room < 4 || (uint64_t)(int64_t)distance != value)
        return false;
    memcpy(image + r->at, &distance, 4);
    return true;
}

const kj_object_machine kj_object_x86_64 = {
    .name = "x86-64",
    .elf = EM_X86_64,
    .unwinding = SHT_X86_64_UNWIND,
    .jump = {0xff, 0x25, 2, 0, 0, 0, 0xcc,
             0xcc}, /* jmp *2(%rip), and two bytes that are not reached */
    .refer = refer,
};
