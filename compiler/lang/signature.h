/* The signatures of builtins.def and run_builtins.def, taken apart: what arity, letters and parameters
 * mean is said here alone. */
#ifndef KJ_SIGNATURE_H
#define KJ_SIGNATURE_H

#include "lang/types.h"

/* ---- Of kernels' built-in functions: "fd(f)" ---- */

int kj_builtin_arity(kj_builtin id);           /* arguments */
int kj_builtin_results(kj_builtin id);         /* letters before the "(": several are a tuple */
const char *kj_builtin_letters(kj_builtin id); /* those of the arguments, up to ')' */
/* How add_rd and its kin round: 'n' to nearest, 'd' down, 'u' up, 'z' towards zero; of others 0. */
char kj_builtin_rounding(kj_builtin id);
/* The type of a result, `common` being that which arguments have together. */
kj_dtype kj_builtin_result(kj_builtin id, int part, kj_dtype common);
bool kj_builtin_converts(kj_builtin id);       /* f32_rd and its kin: to a type of its own */
bool kj_builtin_is_of_floats(kj_builtin id);   /* and gives one float */
bool kj_builtin_is_of_bits(kj_builtin id);     /* how many there are is part of the result */
bool kj_builtin_reduces(kj_builtin id, int n); /* views to one value: a call with n arguments */

/* ---- Of the run block's: "(a, b=1, c..., **d)" ---- */

enum { KJ_RUN_MAX_PARAMS = 8 };

typedef struct kj_run_parameter {
    const char *name;
    int len;
    bool optional, rest; /* rest: it takes all that are left; `**d` those with other names */
} kj_run_parameter;

typedef struct kj_run_signature {
    kj_run_parameter params[KJ_RUN_MAX_PARAMS];
    int n, least, most; /* least, most: arguments, without those that a rest takes */
    bool rest, named_rest;
} kj_run_signature;

kj_run_signature kj_run_signature_of(const char *text);
int kj_run_parameter_named(const kj_run_signature *s, const char *name); /* not a rest; -1: none */

#endif
