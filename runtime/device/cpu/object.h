/* Objects: what LLVM made of a module, and where its parts will stand.
 *
 * The bytes of an object belong to the caller and stay where they are. Whatever they are, nothing
 * outside of them is read. */
#ifndef KJ_OBJECT_H
#define KJ_OBJECT_H

#include <elf.h>

#include "device/device.h"

enum { KJ_OBJECT_SECTIONS = 256 };

typedef struct kj_object {
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

/* Looks at an object, and returns the bytes that its image will have. */
kjit_status kj_object_open(kj_object *object, const void *bytes, size_t size, size_t *image,
                           kj_failure *why);
/* Fills `memory`, of that many zeros, with what runs at the address `base`. */
kjit_status kj_object_write(const kj_object *object, void *memory, uint64_t base, kj_failure *why);
/* Where in the image a function begins; UINT64_MAX where it has none of that name. */
uint64_t kj_object_symbol(const kj_object *object, const char *name);

#endif
