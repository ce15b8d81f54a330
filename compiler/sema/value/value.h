/* Semantic analysis: arithmetic on operands that are evaluated, conversions between them. */
#ifndef KJ_SEMA_VALUE_H
#define KJ_SEMA_VALUE_H

#include "sema/node/node.h"

/* ---- literal.c ---- */

kj_operand kj_literal_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_literal_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
kj_operand kj_literal_integer(uint64_t u, kj_span span);
/* Operands beyond 64 bits are floats beside a float, and are refused beside what is no literal; false after an error. */
bool kj_literals_meet(kj_sema *s, kj_operand v[2]);
/* As the float that it is for. */
kj_operand kj_literal_as_float(kj_operand v);

/* ---- choice.c ---- */

/* The type that it takes alone. */
kj_dtype kj_untyped_type(const kj_operand *v);
/* The first literal in it that does not fit the type; NULL: all do. */
const kj_operand *kj_misfit(const kj_operand *v, kj_dtype type);
/* `yes if test else no` of scalars: untyped where both are, else of `want` if literals leave it open. */
kj_operand kj_conditional(kj_sema *s, kj_texpr *test, kj_operand yes, kj_operand no, kj_dtype want,
                          kj_span span);
/* A choice gets that type if it fits all of it, else its default type; others stay. */
kj_operand kj_settle_as(kj_sema *s, kj_operand v, kj_dtype type);
/* Evaluated: may be used again and again. */
kj_operand kj_hold_choice(kj_sema *s, kj_operand v);
/* f32(x) of one. */
kj_texpr *kj_convert_untyped(kj_sema *s, const kj_operand *v, kj_dtype to);
kj_texpr *kj_coerce_choice(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what);
/* Of two untyped operands, one of them a choice. */
kj_operand kj_choice_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_choice_unary(kj_sema *s, kj_op op, const kj_operand *a, kj_span span);

/* ---- operator.c ---- */

/* Applies a binary operator to evaluated operands. */
kj_operand kj_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
/* The type that literals of default types a and b take together. */
kj_dtype kj_wider_default(kj_dtype a, kj_dtype b);
/* Brings scalars and literals to one type (want, when all are literals and it is not KJ_VOID);
 * false after an error. */
bool kj_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span, const char *what);
/* An array stands, as `text`, where a number does. */
void kj_hint_element(kj_sema *s, kj_message *m, const kj_tarray *a, const char *text);
bool kj_no_number(kj_sema *s, const kj_operand *v,
                  const char *what); /* reports what is neither scalar nor literal */

/* ---- quotient.c ---- */

/* `/` of integers is an error. The fix is what the place needs; one that may take either is left to the reader. */
kj_operand kj_refuse_quotient(kj_sema *s, const kj_operand *v, kj_span span);

/* ---- convert.c ---- */

/* Of a tuple where one value is meant: one of its parts, or the number that has a comma for a point. */
void kj_hint_tuple_part(kj_sema *s, kj_message *m, const kj_operand *v);
/* The value as a `to`, by the rules of assignment; reports (and returns NULL) otherwise. `what`
 * names the place. */
kj_texpr *kj_coerce(kj_sema *s, kj_operand v, kj_dtype to, const char *what);
kj_operand kj_coerce_type(kj_sema *s, kj_operand v, const kj_type *to, const char *what);
/* A literal gets its default type; others stay. */
kj_operand kj_settle(kj_sema *s, kj_operand v);
/* Must be bool; NULL after an error. */
kj_texpr *kj_condition(kj_sema *s, kj_operand v, const char *what);
/* "u64(n) * u64(m)": a product or shift in a wider type, where converted after it, it would wrap before; else NULL. */
const char *kj_widened_text(kj_sema *s, const kj_texpr *e, kj_dtype to);
/* Any integer as i64; NULL after an error about what, "an index". */
kj_texpr *kj_index_value(kj_sema *s, kj_operand v, const char *what);
/* The same of what is no index: a constant u64 that no i64 holds is an error, not a number below 0. */
kj_texpr *kj_size_value(kj_sema *s, kj_operand v, const char *what);
/* One of a tuple's sizes, or what is no tuple itself; what is wrong with it is told at the tuple where that is written
 * elsewhere. False after an error. */
bool kj_size_item(kj_sema *s, const kj_operand *of, int i, const char *what, kj_operand *out);
/* A u64 that no i64 holds as the largest of those; others as they are. */
kj_operand kj_most_i64(kj_sema *s, kj_operand v);
/* Does an i64 hold it? False after an error. */
bool kj_fits_i64(kj_sema *s, kj_value v, kj_span at, const char *what);
kj_operand kj_branch_close(kj_sema *s, kj_branch *b, kj_operand v, kj_span span);

/* ---- open.c ---- */

/* Walks over a body as often as it takes to know its variables' types; all but the last walk leaves
 * nothing behind, messages included. */
typedef void kj_body_walk(kj_sema *s, void *ctx);
void kj_walk_open(kj_sema *s, kj_body_walk *walk, void *ctx);
/* One that is declared (`name`: with its place in a tuple) and begins as `first`; NULL when that has a
 * type. And what it begins as, in the variable's type. */
kj_open *kj_open_variable(kj_sema *s, const char *name, kj_span span, const kj_operand *first);
kj_operand kj_open_typed(kj_sema *s, const kj_open *o, kj_operand v);
kj_digits *kj_open_digits(kj_open *o); /* NULL of NULL */
/* A variable is assigned; is read. */
void kj_open_given(kj_sema *s, const kj_operand *to, const kj_operand *v);
/* Of a guess: a variable of which nothing is known but whether it began as a float. */
kj_operand kj_open_literal(bool real, kj_span span);
kj_operand kj_open_read(kj_sema *s, kj_operand v);
/* Notes in a message why the variable has its type. */
void kj_note_open(kj_sema *s, kj_message *m, const kj_operand *to);
/* Is this walk not to be kept? Then types in it may be wrong. */
bool kj_is_guessing(const kj_sema *s);

/* ---- apply.c ---- */

/* Do the types of vectors, and of scalars beside them, suit the builtin? Reports who does not. */
bool kj_takes_parts(kj_sema *s, kj_builtin id, const kj_operand *v, int n);
/* A builtin that is more than a name for sema, applied to evaluated arguments. */
kj_operand kj_apply_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                            kj_operand *v, int n);

/* ---- chosen.c ---- */

/* `v[0] if test else v[1]` of arrays; before[i]: what v[i] needs computed. Reports what differs. */
kj_operand kj_choose_array(kj_sema *s, kj_texpr *test, const kj_operand v[2], kj_tstmt **before,
                           kj_span span);
/* Are both arrays, of one type? Else that is reported. */
bool kj_same_arrays(kj_sema *s, const kj_operand v[2], kj_span span);
static inline bool kj_is_chosen(const kj_tarray *a)
{
    return a->root->test != NULL;
}
/* A chosen array, or view of one, as it is when the test holds (0) and does not (1). */
kj_tarray *kj_arm(kj_sema *s, const kj_tarray *a, int i);
/* What was emitted for an access of arm i, in the sink, is done where that arm is chosen. */
void kj_arm_close(kj_sema *s, const kj_tarray *a, int i, kj_sink *sink, kj_span span);
/* Is it in that memory, or may be? */
bool kj_may_be_in(const kj_tarray *a, kj_space space);
/* May both be of one array? */
bool kj_may_share(const kj_tarray *a, const kj_tarray *b);

/* ---- checked.c ---- */

/* Where the test holds, the statements, if there are some. */
void kj_emit_if(kj_sema *s, kj_texpr *test, kj_tstmt *list, kj_span span);
/* A fault where the index, which is held, is not below the extent. */
void kj_check_here(kj_sema *s, const kj_site *site, kj_texpr *index, kj_texpr *extent);
/* Are there more checks than an access has? Views have any number. */
bool kj_has_many_checks(const kj_tarray *a);
/* The array as an access has it; the checks that are told before its own are made here, of indices that are held. */
kj_tarray *kj_with_few_checks(kj_sema *s, kj_tarray *a, kj_texpr **index);

/* ---- load.c ---- */

/* The array with the place of an access, where accesses are told of. */
kj_tarray *kj_watched(kj_sema *s, kj_tarray *a, kj_span span);
kj_texpr *kj_load(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span);
/* A scalar, of the elements' type, to an array that is no chosen one. */
void kj_store(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_texpr *value, kj_span span);
/* Is an element accessed byte by byte? Then indices are used again. */
static inline bool kj_is_in_bytes(const kj_tarray *a)
{
    return a->bytes && !a->of && kj_types[a->elem].size > 1;
}

/* May the parts of its elements lie anywhere, as they are in a packed record? */
static inline bool kj_lies_anywhere(const kj_tarray *a)
{
    return a->bytes || a->of->packed;
}

/* ---- copy.c ---- */

/* Are whole elements of it copied word by word? */
bool kj_is_copied(const kj_aggregate *of);
/* One element of such an aggregate to another, places both; as if all of it was read before the first word is written. */
void kj_copy_element(kj_sema *s, const kj_operand *to, const kj_operand *from, kj_span span);

/* ---- aggregate.c ---- */

bool kj_is_aggregate(const kj_operand *v);
/* The type of a scalar or a value of several; KJ_VOID for what has none of its own. */
kj_dtype kj_type_of(const kj_operand *v);
/* A value whose scalars `make` gives, in order. */
typedef kj_texpr *kj_make_part(kj_sema *s, void *ctx, const kj_field *part);
kj_operand kj_build(kj_sema *s, const kj_aggregate *of, kj_make_part *make, void *ctx,
                    kj_span span);
/* The part that a name behind a dot means; NULL after an error. array: of one of such values, whose own members are meant
 * too. */
const kj_field *kj_part_named(kj_sema *s, const kj_aggregate *of, const kj_expr *member,
                              bool array);
/* Says that there is no field of that name; the names of its fields. */
void kj_no_field(kj_sema *s, const kj_aggregate *of, const char *name, kj_span at, kj_rule rule);
const char *kj_fields_text(kj_sema *s, const kj_aggregate *of);
/* One item of a tuple or a value: the others, which are not wanted, have their effects. */
kj_operand kj_one_of(kj_sema *s, const kj_operand *v, int i);
/* Part i of a value; of equal parts also one whose number (i64) the thread knows. */
kj_operand kj_part_at(kj_sema *s, const kj_operand *v, kj_texpr *i, kj_span span);
/* The array of one part of the elements. */
kj_tarray *kj_part_view(kj_sema *s, kj_tarray *a, const kj_field *part);
/* An element, read; a place, read; and what is no place, as it is. */
kj_operand kj_load_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span);
kj_operand kj_place_value(kj_sema *s, kj_operand v);
/* value: of the element's type, and evaluated. */
void kj_store_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_operand value,
                      kj_span span);
/* Parts that may be used again and again. */
kj_operand kj_hold_value(kj_sema *s, kj_operand v, const char *name);
kj_operand kj_coerce_aggregate(kj_sema *s, kj_operand v, const kj_aggregate *to, const char *what);
kj_operand kj_aggregate_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
/* at[i], i (i64) known to the thread only: scalars, or values of one type. */
kj_operand kj_choose_part(kj_sema *s, const kj_operand *at, int n, kj_texpr *i, kj_span span);
/* The item of a tuple whose number (i64) the thread knows: an error where items have no type in common. */
kj_operand kj_item_at(kj_sema *s, const kj_operand *tuple, kj_texpr *i, kj_span span);

/* ---- vector.c ---- */

kj_operand kj_aggregate_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
/* A builtin of numbers, one of whose arguments is an aggregate. */
kj_operand kj_aggregate_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v, int n);
enum { KJ_MAX_PARTS = 4 }; /* of a vector */
kj_operand kj_construct_vector(kj_sema *s, const kj_expr *e, const kj_aggregate *of,
                               const kj_operand *v, int n);
kj_operand kj_vector_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v);

/* ---- complex.c ---- */

bool kj_is_complex(const kj_operand *v);
/* Of two parts of one type that complex numbers have, or of two literals. */
kj_operand kj_complex(kj_sema *s, kj_operand re, kj_operand im, kj_span span);
/* Brings complex and real numbers to one complex type (that of `want`, when all are literals);
 * false after an error. */
bool kj_complex_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span,
                      const char *what);
/* *v as a `to`, where that widens; false where it doesn't, and *v is as it was. */
bool kj_becomes_complex(kj_sema *s, kj_operand *v, const kj_aggregate *to, const char *what);
kj_operand kj_construct_complex(kj_sema *s, const kj_expr *e, const kj_aggregate *of, kj_operand *v,
                                int n);
kj_operand kj_complex_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_complex_power(kj_sema *s, kj_operand a, kj_operand b, kj_dtype want, kj_span span);
/* Of scalars: a builtin of one argument; one of two, both evaluated, to be used again. */
kj_operand kj_real_call(kj_sema *s, kj_builtin id, kj_operand v);
kj_operand kj_choose(kj_sema *s, kj_operand test, kj_operand yes, kj_operand no);

/* ---- complex_math.c ---- */

kj_operand kj_complex_pow(kj_sema *s, kj_operand z, kj_operand w, bool real, kj_span span);
kj_operand kj_complex_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                              kj_operand *v, int n);
kj_operand kj_complex_rect(kj_sema *s, const kj_expr *e, kj_dtype want, kj_operand *v);

/* ---- complex_fold.c ---- */

/* Of literals, at least one of them complex or two of them, what the function of complex numbers gives: a literal; false
 * where others are among them, or there is no such function. */
bool kj_fold_complex(kj_sema *s, kj_builtin id, const kj_operand *v, int n, kj_span span,
                     kj_operand *out);

/* ---- array_field.c ---- */

/* An array whose elements are KJ_ARRAY_FIELD, with their axes behind its own; one such element. */
kj_operand kj_array_field_view(kj_sema *s, kj_tarray *a, kj_span span);
kj_operand kj_array_field_place(kj_sema *s, const kj_operand *place);
/* The element at a place, an array itself, as an array of one axis. */
kj_tarray *kj_row_at(kj_sema *s, const kj_operand *place);
/* The bytes of the element at a place as an array of words. */
kj_tarray *kj_words_at(kj_sema *s, const kj_operand *place, kj_dtype word);
/* Nested tuples, or an array of that shape, as a value of that type. */
kj_operand kj_array_field_value(kj_sema *s, kj_operand v, const kj_aggregate *of, const char *what);
/* Where v, given for an array, is a fixed array of a record held as a value: says that it is no view. */
bool kj_hint_of_held(kj_sema *s, kj_message *m, const kj_operand *v);

#endif
