/* Object code (ELF) -> an image that runs where it is put: sections laid out, references relocated.
 *
 * What LLVM makes of a module is one ELF object: code, constants, and few kinds of references
 * between them, which a machine has of its own (object_x86_64.c, object_aarch64.c). They are laid out side by side, so that every reference reaches. What
 * code may call in the process is the table `host` and nothing else: each of its functions has a
 * jump behind the sections. */
#include "device/cpu/object.h"

#include <math.h>
#include <string.h>

/* What LLVM makes calls of where the CPU has no instruction. */
static const struct {
    const char *name;
    uintptr_t address;
} host[] = {
/* clang-format off */
#define HOST(name) {#name, (uintptr_t)(name)}
    HOST(memcpy), HOST(memmove), HOST(memset), HOST(memcmp), HOST(fma), HOST(fmaf),
    HOST(fmod), HOST(fmodf), HOST(floor), HOST(floorf), HOST(ceil), HOST(ceilf),
    HOST(trunc), HOST(truncf), HOST(rint), HOST(rintf), HOST(round), HOST(roundf),
#undef HOST
    /* clang-format on */
};

enum { NHOST = sizeof host / sizeof *host };

enum { JUMP = 16, JUMP_ADDRESS = 8 }; /* a jump, and the address it goes to */

enum { MAX_ALIGN = 4096 };

#if defined(__x86_64__)
const kj_object_machine *const kj_object_host = &kj_object_x86_64;
#elif defined(__aarch64__)
const kj_object_machine *const kj_object_host = &kj_object_aarch64;
#else
const kj_object_machine *const kj_object_host = NULL;
#endif

static bool inside(const kj_object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset;
}

/* Is the section a table in the object? */
static bool is_table(const kj_object *o, const Elf64_Shdr *s)
{
    return inside(o, s->sh_offset, s->sh_size) && s->sh_offset % _Alignof(Elf64_Sym) == 0;
}

static bool stands(const kj_object *o, const Elf64_Shdr *s)
{
    bool unwinding = o->machine->unwinding && s->sh_type == (Elf64_Word)o->machine->unwinding;
    return (s->sh_flags & SHF_ALLOC) && s->sh_size > 0 && !unwinding;
}

static bool find_symbols(kj_object *o)
{
    for (size_t i = 0; i < o->nsections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (s->sh_link >= o->nsections || !is_table(o, s))
            return false;
        const Elf64_Shdr *names = &o->sections[s->sh_link];
        if (!inside(o, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
            o->bytes[names->sh_offset + names->sh_size - 1] != 0)
            return false;
        o->symbols = (const Elf64_Sym *)(const void *)(o->bytes + s->sh_offset);
        o->nsymbols = s->sh_size / sizeof *o->symbols;
        o->names = (const char *)o->bytes + names->sh_offset;
        o->names_size = names->sh_size;
    }
    return o->symbols != NULL;
}

/* Returns the image's size; 0 for what is no object of this machine's. */
static size_t lay_out(kj_object *o)
{
    uint64_t end = 0;
    for (size_t i = 0; i < o->nsections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (!stands(o, s))
            continue;
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if ((align & (align - 1)) != 0 || align > MAX_ALIGN || s->sh_type != SHT_PROGBITS ||
            !inside(o, s->sh_offset, s->sh_size))
            return 0;
        o->place[i] = (end + align - 1) & ~(align - 1);
        end = o->place[i] + s->sh_size;
    }
    o->jumps = (end + JUMP - 1) / JUMP * JUMP;
    return o->jumps + (size_t)NHOST * JUMP;
}

kjit_status kj_object_open(kj_object *o, const kj_object_machine *machine, const void *bytes,
                           size_t size, size_t *image, kj_failure *why)
{
    const Elf64_Ehdr *header = bytes;
    *o = (kj_object){.machine = machine, .bytes = bytes, .size = size};
    *image = 0;
    if (!machine)
        return kj_because(why, KJIT_NO_DEVICE, "there is no code for CPUs of this kind");
    bool ours = size >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_type == ET_REL &&
                header->e_machine == machine->elf && header->e_shentsize == sizeof(Elf64_Shdr) &&
                header->e_shnum <= KJ_OBJECT_SECTIONS &&
                header->e_shoff % _Alignof(Elf64_Shdr) == 0 &&
                inside(o, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    if (ours) {
        o->sections = (const Elf64_Shdr *)(const void *)(o->bytes + header->e_shoff);
        o->nsections = header->e_shnum;
        *image = find_symbols(o) ? lay_out(o) : 0;
    }
    return *image ? KJIT_OK
                  : kj_because(why, KJIT_INTERNAL, "the compiled kernel is no object for %s",
                               machine->name);
}

static const char *name_of(const kj_object *o, const Elf64_Sym *s)
{
    return s->st_name < o->names_size ? o->names + s->st_name : "";
}

/* Where a symbol stands in the image; UINT64_MAX for one that is not there. */
static uint64_t place_of(const kj_object *o, const Elf64_Sym *s)
{
    if (s->st_shndx == SHN_UNDEF) {
        for (size_t i = 0; i < NHOST; i++)
            if (strcmp(host[i].name, name_of(o, s)) == 0)
                return o->jumps + i * JUMP;
        return UINT64_MAX;
    }
    bool here = s->st_shndx < o->nsections && stands(o, &o->sections[s->st_shndx]);
    return here ? o->place[s->st_shndx] + s->st_value : UINT64_MAX;
}

uint64_t kj_object_symbol(const kj_object *o, const char *name)
{
    for (size_t i = 0; i < o->nsymbols; i++) {
        const Elf64_Sym *s = &o->symbols[i];
        bool named = s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) != STT_SECTION;
        if (named && strcmp(name_of(o, s), name) == 0)
            return place_of(o, s);
    }
    return UINT64_MAX;
}

/* Fills in one reference at `at` in the image, which will run at `base`. */
static bool refer(const kj_object *o, const Elf64_Rela *r, unsigned char *image, uint64_t at,
                  uint64_t room, uint64_t base)
{
    const Elf64_Sym *s = &o->symbols[ELF64_R_SYM(r->r_info)];
    uint64_t to = place_of(o, s);
    kj_reference reference = {
        .type = ELF64_R_TYPE(r->r_info),
        .at = at,
        .to = to + (uint64_t)r->r_addend,
        .room = room,
        .address = s->st_shndx == SHN_UNDEF ? to + JUMP_ADDRESS : UINT64_MAX,
        .base = base,
    };
    return to != UINT64_MAX && o->machine->refer(&reference, image);
}

static bool refer_all(const kj_object *o, const Elf64_Shdr *list, unsigned char *image,
                      uint64_t base)
{
    if (list->sh_info >= o->nsections || !is_table(o, list))
        return false;
    const Elf64_Shdr *s = &o->sections[list->sh_info];
    const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(o->bytes + list->sh_offset);
    for (size_t i = 0; stands(o, s) && i < list->sh_size / sizeof *r; i++) {
        uint64_t offset = r[i].r_offset;
        if (offset > s->sh_size || ELF64_R_SYM(r[i].r_info) >= o->nsymbols ||
            !refer(o, &r[i], image, o->place[list->sh_info] + offset, s->sh_size - offset, base))
            return false;
    }
    return true;
}

kjit_status kj_object_write(const kj_object *o, void *memory, uint64_t base, kj_failure *why)
{
    unsigned char *image = memory;
    for (size_t i = 0; i < o->nsections; i++)
        if (stands(o, &o->sections[i]))
            memcpy(image + o->place[i], o->bytes + o->sections[i].sh_offset,
                   o->sections[i].sh_size);
    for (size_t i = 0; i < NHOST; i++) {
        memcpy(image + o->jumps + i * JUMP, o->machine->jump, JUMP_ADDRESS);
        memcpy(image + o->jumps + i * JUMP + JUMP_ADDRESS, &host[i].address, 8);
    }
    for (size_t i = 0; i < o->nsections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type == SHT_RELA && !refer_all(o, s, image, base))
            return kj_because(why, KJIT_INTERNAL,
                              "the compiled kernel refers to what is not there");
    }
    return KJIT_OK;
}
