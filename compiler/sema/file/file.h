/* Semantic analysis: declarations of a file, the run block, kernels built for a specialisation. */
#ifndef KJ_SEMA_FILE_H
#define KJ_SEMA_FILE_H

#include "lang/signature.h"
#include "sema/body/body.h"

/* ---- program.c ---- */

/* The symbol that an item declared; NULL when a later one of the same name took its place. */
kj_symbol *kj_symbol_of(const kj_item *item);

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

/* ---- run_known.c ---- */

kj_known kj_run_known(kj_sema *s, const kj_expr *e);
kj_known kj_known_of_type(const kj_type *t);
kj_known kj_known_record(const kj_sema *s, kj_dtype type); /* one of that type; of others nothing */
bool kj_is_of_numbers(kj_known k); /* its type is a number's: no vector, no record */
/* Has some record a field of that name, be it one of a type that is none? Others are offered to `near`, or NULL. */
bool kj_run_is_field(const kj_sema *s, const char *name, kj_near *near);
/* Of a name just declared. */
void kj_run_set_known(kj_sema *s, const kj_name *name, kj_known known);
/* A body is looked through before it is checked: what is assigned in it stays unknown. */
void kj_run_find_changes(kj_sema *s, const kj_stmt *body);

/* ---- run_member.c ---- */

/* All that may stand behind the dot of such a value, as kj_message.members has it: of one that is not known all that any
 * has. */
const char *kj_run_members(const kj_sema *s, kj_known of);

/* ---- run_launch.c ---- */

/* A launch's arguments, by the kernel's parameters (NULL: not given), as far as they are certain. */
void kj_sema_run_arguments(kj_sema *s, const kj_kernel_decl *k, const kj_expr *const *args);
void kj_sema_run_configuration(kj_sema *s, const kj_kernel_decl *k, const kj_expr *grid,
                               const kj_expr *block);

/* ---- run_call.c ---- */

bool kj_sema_run_call(kj_sema *s,
                      const kj_expr *e); /* is it a launch, and nothing wrong with it? */
void kj_sema_run_member(kj_sema *s, const kj_expr *e);

/* ---- run_arguments.c: of functions with a signature, whose arguments were looked at ---- */

/* zeros(n, m, f64): are its extents no tuple, and so too many arguments? (reported) */
bool kj_sema_run_extents(kj_sema *s, const kj_expr *call, const kj_run_signature *known);
/* Refuses what is given for `dtype` and certainly no type. */
void kj_sema_run_dtype(kj_sema *s, const kj_expr *call, const char *called, const char *signature);
/* Of swap(a, b), that they are names. */
void kj_sema_run_swap(kj_sema *s, const kj_expr *call);

/* ---- run_draw.c ---- */

/* A call of plot or show, whose row that is. */
void kj_sema_run_draw(kj_sema *s, const kj_expr *call, int row);
/* What a function of Matplotlib's is here; false: the module is none of its, or has no such function. */
bool kj_hint_plt(kj_sema *s, kj_message *m, const char *module, const char *name);

/* ---- run_function.c ---- */

/* A call of a function of the file; its arguments have been looked at. */
void kj_sema_run_function(kj_sema *s, const kj_expr *call, const kj_symbol *sym);
/* The argument of reduce and scan that is a function: one of the file that joins two values of a type, min
 * or max. */
void kj_sema_run_joiner(kj_sema *s, const kj_expr *arg);

#endif
