/* Warnings: what stands in a program and hardly is what was meant. In: the AST, and the typed statements
 * of a body; out: messages of rules with severity WARNING in diag.def. A program without errors is
 * expected; what is not certain from the text alone is not said. */
#ifndef KJ_WARN_H
#define KJ_WARN_H

#include "parse/ast.h"
#include "tast/tast.h"

/* What the names, indices and statements of the file tell (source.c). */
void kj_warn_of_source(kj_arena *arena, kj_diag *diag, const kj_file *file);

/* What its comments tell (directive.c). */
void kj_warn_of_directives(kj_diag *diag, const kj_file *file);

/* What the types of a body tell (types.c); generics: the functions of the file that have type parameters
 * may compare and convert what in one of their instances says nothing. */
void kj_warn_of_types(kj_diag *diag, const kj_file *file, const kj_tstmt *body);

/* What its threads change at the same time (together.c). */
void kj_warn_of_same_element(kj_arena *arena, kj_diag *diag, const kj_tkernel *kernel);

/* The file's own item of that name and kind, or NULL (names.c). */
const kj_item *kj_warn_item(const kj_file *file, const char *name, kj_item_kind kind);

/* Of a parameter that is an array: elements are assigned; it is handed on, or has views; elements are asked for. */
typedef struct kj_touched {
    bool written, may_be_written, touched;
} kj_touched;

/* By a kernel's parameters, in their order (effect.c). */
const kj_touched *kj_arrays_written(kj_arena *arena, const kj_item *kernel);

#endif
