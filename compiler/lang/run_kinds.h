/* What values of a run block are, and the sentences about those that do not go where they stand. */
#ifndef KJ_RUN_KINDS_H
#define KJ_RUN_KINDS_H

#include "base/diag.h"
#include "lang/types.h"

typedef enum kj_rkind {
    KJ_R_NONE,    /* what a statement-like call gives */
    KJ_R_BOOL,    /* u.i: 0 or 1 */
    KJ_R_INT,     /* u.i; dtype KJIT_U64: the bits of an unsigned number, of 2^63 and above */
    KJ_R_FLOAT,   /* u.f; dtype: the type whose digits it is printed with */
    KJ_R_COMPLEX, /* u.f and imag; dtype KJIT_C64: of f32 values */
    KJ_R_DTYPE,   /* dtype */
    KJ_R_KERNEL,  /* u.kernel */
    KJ_R_STRING,  /* from here on u.object */
    KJ_R_TUPLE,
    KJ_R_LIST,
    KJ_R_RANGE,
    KJ_R_ARRAY,
    KJ_R_LAZY, /* an array that was not computed yet: only within an expression of the source */
    KJ_R_STREAM,
    KJ_R_EVENT,
    KJ_R_SMART,
    KJ_R_SCOPE, /* what only `with` takes */
} kj_rkind;

const char *kj_rkind_name(kj_rkind kind); /* "an int", "a string": for messages */
kj_rkind kj_rkind_of(kj_dtype type);      /* a number of that type; of several scalars KJ_R_NONE */
/* Do values of the kind have the member, a row of run_builtins.def? tests/runblock/members.py compares with runs. */
bool kj_rkind_has(kj_rkind kind, kj_run_id row);

/* The source there, for a sentence: if it is short and of one line, else `otherwise`. `operand`: in brackets where more
 * than one stands there. */
typedef struct kj_quote {
    char text[80];
} kj_quote;
kj_quote kj_quoted(const kj_source *source, kj_span at, bool operand, const char *otherwise);
/* The comma of x[i] = -1,5, which stands for a point; NULL: there is none. */
const char *kj_decimal_comma(const char *text);

typedef struct kj_saying {
    char text[256], hint[256]; /* hint: or "" */
} kj_saying;

/* What helps where a kernel's parameter, of so many axes and that type (KJ_VOID: any), was given a value that it
 * does not take, of these: say->hint, or "". */
void kj_say_argument(kj_saying *say, int wanted_ndim, kj_dtype wanted, const char *wanted_name,
                     kj_rkind kind, kj_dtype type, int ndim, const kj_source *source, kj_span at);
/* `what`, which stands at `at`, is a bool, and this is of another kind. */
void kj_say_no_bool(kj_saying *say, const char *what, kj_rkind kind, const kj_source *source,
                    kj_span at);

#endif
