/* The library: files in the language that kjit brings, std/NAME.knl. */
#ifndef KJ_LIBRARY_H
#define KJ_LIBRARY_H

typedef struct kj_library_file {
    const char *name;        /* "warp" */
    const char *begin, *end; /* its text */
} kj_library_file;

extern const kj_library_file kj_library[];
extern const int kj_nlibrary;

#endif
