/* How the files of the library, std/NAME.knl, are read beside their code. */
#ifndef KJ_LANG_LIBRARY_H
#define KJ_LANG_LIBRARY_H

#include <stdbool.h>
#include <string.h>

/* Is it the line behind which a file's functions are its own, and none for callers? */
static inline bool kj_is_own_heading(const char *line)
{
    static const char heading[] = "# ---- How it is done";
    return strncmp(line, heading, sizeof heading - 1) == 0;
}

#endif
