/* Objects: what LLVM made of a module, and where its parts will stand.
 *
 * The bytes of an object belong to the caller and stay where they are. Whatever they are, nothing
 * outside of them is read. */
#ifndef KJ_OBJECT_H
#define KJ_OBJECT_H

#include <elf.h>

#include "device/device.h"

enum { KJ_OBJECT_SECTIONS = 256 };

/* A reference to be filled in, in bytes of the image. */
typedef struct kj_reference {
    unsigned type;    /* R_X86_64_PC32 and the like */
    uint64_t at, to;  /* to: with the addend */
    uint64_t room;    /* from `at` to the end of its section */
    uint64_t address; /* of a function of the host's: where its address stands; else UINT64_MAX */
    uint64_t base;    /* what the image will run at */
} kj_reference;

/* What is particular to the objects of a machine. */
typedef struct kj_object_machine {
    const char *name;
    int elf;               /* EM_X86_64 */
    int unwinding;         /* the type of sections that are not loaded; 0: none */
    unsigned char jump[8]; /* code that jumps to the address behind it */
    /* False for a reference that the machine does not have, or that does not reach. */
    bool (*refer)(const kj_reference *r, unsigned char *image);
} kj_object_machine;

extern const kj_object_machine kj_object_x86_64,
    kj_object_aarch64; /* object_x86_64.c, object_aarch64.c */
extern const kj_object_machine
    *const kj_object_host; /* the one this is; NULL: objects of this are not known */

typedef struct kj_object {
    const kj_object_machine *machine;
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    size_t nsections;
    const Elf64_Sym *symbols;
    size_t nsymbols;
    const char *names; /* of symbols */
    size_t names_size;
    uint64_t place[KJ_OBJECT_SECTIONS]; /* in the image, of those that stand there */
    uint64_t jumps;                     /* behind them */
} kj_object;

/* Looks at an object of the machine, and returns the bytes that its image will have. */
kjit_status kj_object_open(kj_object *object, const kj_object_machine *machine, const void *bytes,
                           size_t size, size_t *image, kj_failure *why);
/* Fills `memory`, of that many zeros, with what runs at the address `base`. */
kjit_status kj_object_write(const kj_object *object, void *memory, uint64_t base, kj_failure *why);
/* Where in the image a function begins; UINT64_MAX where it has none of that name. */
uint64_t kj_object_symbol(const kj_object *object, const char *name);

#endif
