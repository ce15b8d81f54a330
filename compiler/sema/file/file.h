/* Semantic analysis: declarations of a file, the run block, kernels built for a specialisation. */
#ifndef KJ_SEMA_FILE_H
#define KJ_SEMA_FILE_H

#include "sema/body/body.h"

/* ---- kernel.c ---- */

/* Notes the kernel's attributes in `k`; false after an error. */
bool kj_kernel_attrs(kj_sema *s, const kj_item *item, kj_tkernel *k);
kj_tkernel *kj_kernel_build(kj_sema *s, const kj_kernel_decl *decl, const kj_spec *spec);

/* ---- run.c ---- */

/* The run block and the functions of run blocks. */
void kj_sema_run(kj_sema *s);
void kj_sema_run_expr(kj_sema *s, const kj_expr *e);
void kj_sema_run_list(kj_sema *s, const kj_expr *e);
/* The symbol of a name used in the run block; NULL after an error. */
kj_symbol *kj_sema_run_find(kj_sema *s, const char *name, kj_span span);
void kj_sema_run_value(kj_sema *s, const kj_symbol *sym, const kj_expr *e); /* sym: or NULL */

/* ---- run_call.c ---- */

void kj_sema_run_call(kj_sema *s, const kj_expr *e);
void kj_sema_run_member(kj_sema *s, const kj_expr *e);

/* ---- run_function.c ---- */

/* A call of a function of the file; its arguments have been looked at. */
void kj_sema_run_function(kj_sema *s, const kj_expr *call, const kj_symbol *sym);
/* The argument of reduce and scan that is a function: one of the file that joins two values of a type, min
 * or max. */
void kj_sema_run_joiner(kj_sema *s, const kj_expr *arg);

#endif
