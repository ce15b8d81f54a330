/* --sweep: the combinations of the values that params are given, one after the other. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "choices.h"
#include "cli.h"

enum { MOST_SWEPT = 4 };

typedef struct sweep {
    choices of[MOST_SWEPT];
    int at[MOST_SWEPT]; /* the value of each, of this row */
    int n;
    const char **arguments; /* of the command: the file, what is fixed, and this row's values */
    int narguments;
    const char *head; /* of its other columns; NULL: it was shown */
    bool failed;      /* a row has; the others went on */
} sweep;

/* What a row does, and its exit code. */
typedef int sweep_row(kjit_context *ctx, const options *o, kjit_module *mod, sweep *s, void *user);

/* A row for each combination, the last param's value changing first, behind a head of the params' names and `head`. What
 * ends with EXIT_FAILED is shown as a row that failed, and so is, behind another row, what the params don't take; any
 * other failure ends it. */
int sweep_values(kjit_context *ctx, const options *o, kjit_module *mod, const char *head,
                 sweep_row *row, void *user);
/* This row's values, in their columns, on standard output; in front of the first the head. */
void show_row_values(sweep *s);

/* kjit run --sweep. */
int sweep_runs(kjit_context *ctx, const options *o, kjit_module *mod);

#endif
