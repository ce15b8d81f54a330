/* Images: a module whose code was made ahead of time, as bytes that a program carries with it.
 *
 * Behind the head, what a module is but its syntax tree (image_module.c); then, a target after the other, code for
 * what launches fix, most particular first. A launch takes the first whose key is its own, or what is left of that
 * when nothing is taken for granted of arrays (kj_key_relaxed). image_write.c makes them, image_read.c reads them;
 * only the first needs a compiler. */
#ifndef KJ_IMAGE_H
#define KJ_IMAGE_H

#include "module/module.h"
#include "pack.h"

#define KJ_IMAGE_MAGIC "kjimage1"
enum { KJ_IMAGE_HEAD = 16 }; /* bytes: the word above, then a checksum of what follows */
enum { KJ_MAX_KEY = 1 + (16 + 8) * KJ_MAX_PARAMS / 64 + KJ_MAX_PARAMS }; /* words */

/* How much of a launch code takes for granted: all that its key says; of extents and strides that they are small;
 * nothing; nor that arrays are dense. */
typedef enum kj_relaxed {
    KJ_RELAXED_NOT,
    KJ_RELAXED_PLACES,
    KJ_RELAXED_SIZES,
    KJ_RELAXED_LAYOUTS,
    KJ_NRELAXED
} kj_relaxed;

typedef enum kj_made_for { KJ_MADE_TO_RUN, KJ_MADE_TO_REPLAY, KJ_MADE_TO_REPLAY_APART } kj_made_for;

/* Code of a kernel for what launches fix. */
typedef struct kj_made {
    int kernel; /* index in kjit_module.kernels */
    kj_made_for what;
    kj_spec spec;    /* but for what options say */
    uint64_t *key;   /* of it, in this context */
    uint64_t unheld; /* as kj_code has it */
    const char *code;
    uint64_t size; /* bytes of it, packed */
} kj_made;

typedef struct kj_image {
    const char *target; /* "x86-64-v3", "sm_80" */
    kj_made *made;
    int n;
} kj_image;

/* Of the bytes behind its head. */
uint64_t kj_image_sum(const char *image, size_t size);

/* What launches with less taken for granted have for a key. */
void kj_key_relaxed(const kj_kernel *kernel, const uint64_t *key, kj_relaxed how, uint64_t *out);

/* Does it take nothing for granted? Each launch that there is code for has one such. */
bool kj_is_relaxed(const kj_kernel *kernel, const uint64_t *key);

/* Everything but code: reads into mod->source, options, program, kernels and what describes them, or writes that
 * (image_module.c). */
void kj_image_pack_module(kj_pack *p, kjit_module *mod);
void kj_image_pack_made(kj_pack *p, const kjit_module *mod, kj_made *made);

/* Code for a launch (image_read.c): the first of `n` that differ in `unheld` alone; NULL: there is none. */
const kj_made *kj_image_find(const kj_kernel *kernel, const uint64_t *key, int *n);
const kj_made *kj_image_find_replay(const kj_kernel *kernel, const uint64_t *key, bool apart);
/* Threads of a block along x alone that there is code for: `usual`, else the most below it, else the least; 'usual'
 * where there is none. */
int64_t kj_image_block(const kj_kernel *kernel, int64_t usual);
/* Unpacks it; may leave by the arena. False: it is no code. */
bool kj_image_code(const kjit_module *mod, const kj_made *made, kj_arena *arena, kj_code *out);
/* KJIT_COMPILE: there is no such code. */
kjit_status kj_image_lacks(const kj_kernel *kernel, const kj_spec *spec);

#endif
