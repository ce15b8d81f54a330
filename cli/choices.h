/* Values that are tried one after the other: tile=8,16,32, block=64..1024:x2, n=1..9:+2. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include <stdbool.h>

enum { MOST_CHOICES = 1024 };

typedef struct choices {
    char **params; /* "tile=8", "tile=16", ... */
    int n;
} choices;

/* Has the argument of a command several values? Arrays of files (x=@a.raw,dtype=f32) have not. */
bool has_choices(const char *argument);
/* For free_choices; false after a complaint. */
bool read_choices(const char *argument, choices *out);
void free_choices(choices *c);

#endif
