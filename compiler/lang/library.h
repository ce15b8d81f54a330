/* How the files of the library, std/NAME.knl, are read beside their code. */
#ifndef KJ_LANG_LIBRARY_H
#define KJ_LANG_LIBRARY_H

/* Begins the line behind which a file's functions are its own, and none for callers. */
#define KJ_LIBRARY_OWN "# ---- How it is done"

#endif
