/* Capsules, read: what the files of that share. */
#ifndef KJ_REPLAY_H
#define KJ_REPLAY_H

#include "io/file.h"
#include "launch/launch.h"

enum { KJ_REPLAY_BLOCKS = KJ_MAX_PARAMS + KJ_MAX_FILLED };

typedef struct kj_replay_file {
    char *name;
    kjit_array *text;
} kj_replay_file;

typedef struct kj_replay_use {
    int from, to;
    char *path;
} kj_replay_use;

typedef struct kj_replay {
    kjit_context *ctx;
    const char *path;
    const kj_binding
        *bound; /* it is only compared with that, as it is written; NULL: it is made again */
    kj_npz *npz;
    kjit_array *manifest;
    const char *at, *end; /* what is left of a line */
    int line;
    bool no_memory; /* for a word of it */
    char *kernel;
    kjit_config config;
    kjit_compile_options options;
    uint32_t written; /* kj_source's */
    kj_replay_file files[KJ_MAX_FILES];
    kj_replay_use *uses;
    int nuses;
    kj_finder library;
    kjit_module *mod;
    kjit_array *blocks[KJ_REPLAY_BLOCKS];
    kjit_array *arrays[KJ_MAX_PARAMS];
    kjit_arg args[KJ_MAX_PARAMS];
    char *names[KJ_MAX_PARAMS];
    unsigned char *values[KJ_MAX_PARAMS];
    int nargs;
} kj_replay;

/* ---- capsule_read.c ---- */

kjit_status kj_replay_bad(const kj_replay *r, const char *what); /* a line that is none */
/* Up to a blank, which is skipped. False: there is none, or it is longer than the room. */
bool kj_replay_word(kj_replay *r, char *out, size_t room);
/* The same of any length, for free(); of a type, whose brackets may have blanks in them. NULL: there is none, or no
 * memory. */
char *kj_replay_name(kj_replay *r);
bool kj_replay_int(kj_replay *r, int64_t least, int64_t most, int64_t *out);
bool kj_replay_bytes(kj_replay *r, unsigned char *out,
                     size_t size); /* two digits each, to the line's end */
kjit_status kj_replay_block(kj_replay *r, int64_t number, kjit_array **out);

/* Does a manifest say what the launch is, as it is read? Else why not is the thread's failure. */
kjit_status kj_capsule_check(const kj_binding *b, const char *path, kjit_array *manifest);

/* ---- capsule_args.c ---- */

kjit_status kj_replay_argument(kj_replay *r); /* what is behind `argument` */
kjit_status kj_replay_const(kj_replay *r);

#endif
