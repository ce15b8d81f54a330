/* What made the code: for caches, which may not take another compiler's.
 *
 * identity.h has a hash of the compiler's sources, its math library and the LLVM archives that are
 * linked in. A shared LLVM may be another one when the program runs: its build id tells. */
#include <elf.h>
#include <link.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "compile.h"
#include "identity.h"

typedef struct build_id {
    uintptr_t address; /* of something in the library that is meant */
    kj_text *out;
} build_id;

static void put_note(const ElfW(Nhdr) * note, kj_text *out)
{
    const unsigned char *id = (const unsigned char *)(note + 1) + (note->n_namesz + 3) / 4 * 4;
    for (uint32_t i = 0; i < note->n_descsz; i++)
        kj_text_printf(out, "%02x", id[i]);
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

/* Of the module that holds the address; stops there. */
static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    const build_id *b = data;
    (void)size;
    if (!holds(info, b->address))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr, end = at + p->p_memsz;
        while (p->p_type == PT_NOTE && end - at >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof "GNU")
                put_note(note, b->out);
            at += sizeof *note + (note->n_namesz + 3) / 4 * 4 + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

const char *kj_identity(kj_arena *arena)
{
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    kj_text text = {.arena = arena};
    kj_text_printf(&text, "kjit " KJ_IDENTITY ", LLVM %u.%u.%u", major, minor, patch);
    if (KJ_LLVM_IS_SHARED) {
        build_id b = {.address = (uintptr_t)LLVMGetVersion, .out = &text};
        kj_text_printf(&text, " ");
        dl_iterate_phdr(look, &b);
    }
    return text.data;
}
