/* Objects for aarch64: instructions whose fields are filled in. An address is in two parts, its page of 4 KiB by adrp and
 * its place there by the instruction that follows; calls reach 128 MiB. */
#include "device/cpu/object.h"

#include <string.h>

enum { INSTRUCTION = 4, PAGE_BITS = 12 };

/* Which value goes into an instruction. */
typedef enum value_kind {
    DISTANCE, /* from the instruction */
    PAGES,    /* from its page to the other's */
    PLACE     /* in a page */
} value_kind;

/* `bits` of the value, less the lowest `shift`, go into the instruction from bit `at` on. */
typedef struct field {
    unsigned type;
    value_kind kind;
    int bits, shift, at;
    bool from_memory; /* the value is of where the address of a function stands */
} field;

static const field fields[] = {
    {R_AARCH64_CALL26, DISTANCE, 26, 2, 0, false},
    {R_AARCH64_JUMP26, DISTANCE, 26, 2, 0, false},
    {R_AARCH64_CONDBR19, DISTANCE, 19, 2, 5, false},
    {R_AARCH64_LD_PREL_LO19, DISTANCE, 19, 2, 5, false},
    {R_AARCH64_TSTBR14, DISTANCE, 14, 2, 5, false},
    {R_AARCH64_ADD_ABS_LO12_NC, PLACE, 12, 0, 10, false},
    {R_AARCH64_LDST8_ABS_LO12_NC, PLACE, 12, 0, 10, false},
    {R_AARCH64_LDST16_ABS_LO12_NC, PLACE, 11, 1, 10, false},
    {R_AARCH64_LDST32_ABS_LO12_NC, PLACE, 10, 2, 10, false},
    {R_AARCH64_LDST64_ABS_LO12_NC, PLACE, 9, 3, 10, false},
    {R_AARCH64_LDST128_ABS_LO12_NC, PLACE, 8, 4, 10, false},
    {R_AARCH64_LD64_GOT_LO12_NC, PLACE, 9, 3, 10, true},
    /* adr and adrp, whose two lowest bits stand apart */
    {R_AARCH64_ADR_PREL_LO21, DISTANCE, 21, 0, 5, false},
    {R_AARCH64_ADR_PREL_PG_HI21, PAGES, 21, 0, 5, false},
    {R_AARCH64_ADR_GOT_PAGE, PAGES, 21, 0, 5, true},
};

static const field *field_of(unsigned type)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].type == type)
            return &fields[i];
    return NULL;
}

/* A signed number, which has room in so many bits? */
static bool fits(int64_t value, int bits)
{
    int64_t limit = (int64_t)1 << (bits - 1);
    return value >= -limit && value < limit;
}

static bool fill_field(const field *f, const kj_reference *r, unsigned char *image)
{
    if (r->room < INSTRUCTION || (f->from_memory && r->address == UINT64_MAX))
        return false;
    uint64_t to = r->base + (f->from_memory ? r->address : r->to), from = r->base + r->at;
    uint64_t value = f->kind == DISTANCE ? to - from
                     : f->kind == PAGES  ? (to >> PAGE_BITS) - (from >> PAGE_BITS)
                                         : to & ((1u << PAGE_BITS) - 1);
    bool reaches = f->kind == PLACE || fits((int64_t)value, f->bits + f->shift);
    if (!reaches || (value & ((1u << f->shift) - 1)) != 0)
        return false;
    value >>= f->shift;
    uint32_t mask = (1u << f->bits) - 1, part = (uint32_t)value & mask, code;
    memcpy(&code, image + r->at, INSTRUCTION);
    if (f->bits == 21) /* adr: bits 0 and 1 at 29, the others at 5 */
        code = (code & ~0x60ffffe0u) | (part & 3) << 29 | (part >> 2) << 5;
    else
        code = (code & ~(mask << f->at)) | part << f->at;
    memcpy(image + r->at, &code, INSTRUCTION);
    return true;
}

static bool refer(const kj_reference *r, unsigned char *image)
{
    const field *f = field_of(r->type);
    if (f)
        return fill_field(f, r, image);
    uint64_t address = r->base + r->to, distance = r->to - r->at;
    bool wide = r->type == R_AARCH64_ABS64 || r->type == R_AARCH64_PREL64;
    if (!wide && (r->type != R_AARCH64_PREL32 || !fits((int64_t)distance, 32)))
        return false;
    if (r->room < (wide ? 8 : 4))
        return false;
    uint64_t value = r->type == R_AARCH64_ABS64 ? address : distance;
    memcpy(image + r->at, &value, wide ? 8 : 4);
    return true;
}

const kj_object_machine kj_object_aarch64 = {
    .name = "aarch64",
    .elf = EM_AARCH64,
    .jump = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6}, /* ldr x16, 8; br x16 */
    .refer = refer,
};
