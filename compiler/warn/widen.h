/* How arithmetic that may wrap is written wider (widen.c). */
#ifndef KJ_WARN_WIDEN_H
#define KJ_WARN_WIDEN_H

#include "warn/range.h"

typedef struct kj_widen {
    const kj_tstmt *body; /* of the kernel */
    const kj_tstmt *s;    /* the statement that it is in */
    const kj_texpr *e;    /* a binary operation, or a power */
    const kj_made *made;
    kj_dtype to;     /* what it is stored in; void: of 8 or 16 bits, found out */
    const char *own; /* the type that it has, by name */
    int lanes;       /* of the vector that it is a part of; 0: of none */
    bool generic;    /* the type has another name in the source */
    bool hint_only;  /* what becomes of the value may need its type */
} kj_widen;

/* The uses of a variable whose value may as well have more bits: how many go on in as many, in floats, or are compared, and
 * how many are stored in what has fewer. */
typedef struct kj_uses {
    const kj_tstmt *body;
    const kj_var *var;
    kj_dtype to; /* more bits are these */
    int all, wide, narrow;
} kj_uses;

kj_uses kj_uses_of(const kj_tstmt *body, const kj_var *v, kj_dtype to);

/* Has the variable been declared by that name, not by the compiler? And without a type? */
bool kj_is_named(const kj_diag *diag, const kj_var *v);
bool kj_is_untyped_name(const kj_diag *diag, const kj_var *v);

bool kj_same_text(const kj_diag *diag, kj_span a, kj_span b);
/* h << 5 | h >> 27: all bits of its type come back in. `either`: an operation | of the two. */
bool kj_is_rotation(const kj_diag *diag, const kj_made *made, const kj_texpr *either);

/* Gives the message a hint, and a fix where the source can be written anew. */
void kj_warn_widen(kj_diag *diag, kj_message *m, const kj_widen *how);

#endif
