/* Scalar types, operators, builtins and constants: the tables as C. */
#ifndef KJ_TYPES_H
#define KJ_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kj_dtype {
#define TYPE(id, name, class, bits, npy) KJ_##id,
#include "lang/types.def"
#undef TYPE
    KJ_NTYPES, /* scalars are below; from here on types of several scalars */
#define AGGREGATE(id, number, name, kind, elem, n) KJ_##id = number,
#include "lang/aggregates.def"
#undef AGGREGATE
    KJ_VOID = 63,
    KJ_FIRST_RECORD = 64, /* from here on the program's records */
    KJ_LAST_RECORD = 0xffff,
} kj_dtype;

typedef enum kj_class { KJ_CLASS_BOOL, KJ_CLASS_INT, KJ_CLASS_UINT, KJ_CLASS_FLOAT } kj_class;

typedef struct kj_type_info {
    const char *name, *npy;
    kj_class class;
    uint8_t bits, size; /* size: bytes in memory */
} kj_type_info;

extern const kj_type_info kj_types[KJ_NTYPES];

static inline bool kj_is_float(kj_dtype t)
{
    return t < KJ_NTYPES && kj_types[t].class == KJ_CLASS_FLOAT;
}
static inline bool kj_is_half(kj_dtype t) /* f16, bf16 */
{
    return kj_is_float(t) && kj_types[t].bits == 16;
}
static inline bool kj_is_signed(kj_dtype t)
{
    return t < KJ_NTYPES && kj_types[t].class == KJ_CLASS_INT;
}
static inline bool kj_is_int(kj_dtype t)
{
    return t < KJ_NTYPES &&
           (kj_types[t].class == KJ_CLASS_INT || kj_types[t].class == KJ_CLASS_UINT);
}

static inline bool kj_is_scalar(kj_dtype t)
{
    return t < KJ_NTYPES;
}

/* Of an integer type: the least b with |any value| <= 2^b. 64 for the others. */
static inline uint8_t kj_magnitude_bits(kj_dtype t)
{
    if (!kj_is_int(t))
        return 64;
    return (uint8_t)(kj_is_signed(t) ? kj_types[t].bits - 1 : kj_types[t].bits);
}

/* The type called `name`, or KJ_VOID; and back, "nothing" for that. */
kj_dtype kj_type_named(const char *name);
/* Does a type parameter's bound, "int", "float", "complex" or "number", allow the type? NULL: it does. */
bool kj_type_in_bound(kj_dtype t, const char *bound);
const char *kj_type_name(kj_dtype t);

/* ---- Types of several scalars ---- */

enum { KJ_MAX_NDIM = 6 };

typedef enum kj_aggregate_kind {
    KJ_VECTOR,
    KJ_COMPLEX,
    KJ_RECORD,
    KJ_ARRAY_FIELD, /* a field of several elements, f32[3, 3]: its parts are these, in C order */
} kj_aggregate_kind;

typedef struct kj_aggregate kj_aggregate;

/* A part of one: a scalar when `of` is NULL. */
typedef struct kj_field {
    const char *name; /* NULL: an element of a KJ_ARRAY_FIELD */
    kj_dtype type;    /* KJ_VOID: a KJ_ARRAY_FIELD */
    const kj_aggregate *of;
    int64_t offset; /* bytes */
} kj_field;

/* Laid out as C does: each part at a multiple of its alignment, the size one of the largest. */
struct kj_aggregate {
    kj_aggregate_kind kind;
    const char *name;
    kj_dtype type;
    int64_t size;
    int align, least; /* bytes: of the whole; of the smallest scalar in it */
    int n;            /* parts */
    const kj_field *fields;
    kj_dtype elem; /* of the parts where they are equal, else KJ_VOID */
    bool packed;   /* a record whose fields stand one behind another, aligned or not */
    bool tuple;    /* a record without a name: a kernel's parameter that is a tuple */
    int ndim;      /* of a KJ_ARRAY_FIELD */
    int64_t shape[KJ_MAX_NDIM];
};

static inline bool kj_is_vector(const kj_aggregate *of)
{
    return of && of->kind == KJ_VECTOR;
}
/* Scalars of one type, and no more. */
static inline bool kj_is_uniform(const kj_aggregate *of)
{
    return of && (of->kind == KJ_VECTOR || of->kind == KJ_COMPLEX);
}
static inline bool kj_is_record(const kj_aggregate *of)
{
    return of && of->kind == KJ_RECORD;
}
static inline bool kj_is_fixed(const kj_aggregate *of)
{
    return of && of->kind == KJ_ARRAY_FIELD;
}

/* Of a row of aggregates.def; NULL for others. */
const kj_aggregate *kj_aggregate_of(kj_dtype t);
bool kj_is_field_name(const char *name);    /* of any */
int kj_count_parts(const kj_aggregate *of); /* scalars in all */
/* The vector of n scalars; NULL when there is none. */
const kj_aggregate *kj_vector_of(kj_dtype elem, int n);
/* The vector that CUDA or Numba calls `name`: float3, uchar4, float32x4; or NULL. */
const char *kj_vector_elsewhere(const char *name);
const kj_aggregate *kj_complex_of(kj_dtype elem);
static inline bool kj_is_complex_type(kj_dtype t)
{
    const kj_aggregate *of = kj_aggregate_of(t);
    return of && of->kind == KJ_COMPLEX;
}
/* What 2.5j is until it meets a type: its parts are literals. */
extern const kj_aggregate kj_complex_literal;
/* One and the same type? */
bool kj_same_aggregate(const kj_aggregate *a, const kj_aggregate *b);

/* ---- Records (records.c) ---- */

/* Those that the sources of a context declare: equal ones once, each with a number, kept as long as
 * this is. Any thread may ask. */
typedef struct kj_records kj_records;
enum { KJ_MAX_RECORD_PARTS = 4096, KJ_MAX_RECORD_BYTES = 1 << 16 };
kj_records *kj_records_new(void);
void kj_records_free(kj_records *r);
/* The one that is equal to `made`, whose type is not looked at, by name and fields: that seen
 * before, or a copy. NULL when there is no memory, or no number left. */
const kj_aggregate *kj_records_add(kj_records *r, const kj_aggregate *made);
/* Is no number left? */
bool kj_records_full(kj_records *r);
/* What a type is, the rows of aggregates.def included; NULL when it is a scalar. */
const kj_aggregate *kj_aggregate_in(kj_records *r, kj_dtype t);
const char *kj_type_name_in(kj_records *r, kj_dtype t);
/* Do two lie in memory alike, fields called alike? Where not, `why` says what differs first, as
 * "field 'pos.x' is f32 in A and f64 in B". One may be packed and the other not, and what is behind the
 * last field longer. */
enum { KJ_DIFFERENCE_TEXT = 400 };
bool kj_same_layout(const kj_aggregate *a, const kj_aggregate *b, char why[KJ_DIFFERENCE_TEXT]);
/* And do they in arrays, one behind the other? */
bool kj_same_elements(const kj_aggregate *a, const kj_aggregate *b, char why[KJ_DIFFERENCE_TEXT]);

typedef enum kj_op {
#define BINARY(id, spelling, class) KJ_OP_##id,
#define UNARY(id, spelling, class) KJ_OP_##id,
#include "lang/ops.def"
    KJ_NOPS,
} kj_op;

typedef enum kj_op_class {
    KJ_OPS_ARITH,
    KJ_OPS_FLOATS,
    KJ_OPS_BITS,
    KJ_OPS_SHIFT,
    KJ_OPS_ARRAYS,
    KJ_OPS_COMPARE,
    KJ_OPS_LOGIC
} kj_op_class;

typedef struct kj_op_info {
    const char *spelling;
    kj_op_class class;
} kj_op_info;

extern const kj_op_info kj_ops[KJ_NOPS];
/* `a < b` is `b > a`: the comparison of the operands in the other order; any other operator as it is. */
kj_op kj_mirrored(kj_op op);

typedef enum kj_builtin {
#define BUILTIN(id, ...) KJ_BI_##id,
#include "lang/builtins.def"
#undef BUILTIN
    KJ_NBUILTINS,
} kj_builtin;

typedef enum kj_how {
    KJ_HOW_MATH,
    KJ_HOW_LLVM,
    KJ_HOW_CODE,
    KJ_HOW_RANDOM,
    KJ_HOW_WARP,
    KJ_HOW_FENCE,
    KJ_HOW_ATOMIC,
    KJ_HOW_SEMA
} kj_how;

typedef struct kj_builtin_info {
    const char *name, *group, *signature, *symbol, *doc;
    kj_how how;
    int ulp32, ulp64;
} kj_builtin_info;

/* A signature's parameters are at most that many. */
enum { KJ_BUILTIN_ARGS = 4 };

extern const kj_builtin_info kj_builtins[KJ_NBUILTINS];

/* The run block's functions and members: the rows of run_builtins.def. */
typedef enum kj_run_id {
#define RUN(id, name, signature, gives, doc) KJ_RUN_##id,
#include "lang/run_builtins.def"
#undef RUN
    KJ_NRUN,
} kj_run_id;

typedef enum kj_gives {
    KJ_GIVES_NOTHING,
    KJ_GIVES_BOOL,
    KJ_GIVES_INT,
    KJ_GIVES_FLOAT,
    KJ_GIVES_STRING,
    KJ_GIVES_TUPLE,
    KJ_GIVES_LIST,
    KJ_GIVES_RANGE,
    KJ_GIVES_DTYPE,
    KJ_GIVES_STREAM,
    KJ_GIVES_EVENT,
    KJ_GIVES_SCOPE,
    KJ_GIVES_ELEMENT,
    KJ_GIVES_INDEX,
    KJ_GIVES_TRUTH,
    KJ_GIVES_ARRAY,
    KJ_GIVES_SHAPED,
    KJ_GIVES_LINE,
    KJ_GIVES_LIKE,
    KJ_GIVES_RESHAPED,
    KJ_GIVES_SMART,
} kj_gives;

typedef struct kj_run_info {
    const char *name, *signature, *doc;
    kj_gives gives;
    bool acts; /* a call does more than give a value */
} kj_run_info;

extern const kj_run_info kj_run_builtins[KJ_NRUN];

int kj_run_builtin_named(const char *name); /* "load": a kj_run_id, or -1 */
int kj_run_member_named(const char *name);  /* ".sum" by "sum", or -1 */

/* A scalar constant. Integers are kept sign- or zero-extended to 64 bits, floats as the double of
 * equal value. */
typedef struct kj_value {
    kj_dtype type;
    union {
        int64_t i;
        uint64_t u;
        double f;
        bool b; /* KJ_BOOL; also readable as u, which is 0 or 1 */
    };
} kj_value;

/* The language's arithmetic on constants, the same as on every device (arith.c). Operands have
 * one type (for shifts, the count may differ); the result is of that type, or bool for
 * comparisons. */
kj_value kj_fold_binary(kj_op op, kj_value a, kj_value b);
kj_value kj_fold_unary(kj_op op, kj_value a);
/* Conversion as f32(x) does: integers wrap, floats saturate, NaN gives 0. */
kj_value kj_fold_convert(kj_value v, kj_dtype to);
/* Result `part` of a builtin with constants (math.c); false where it is not exact, or the
 * device's choice. */
bool kj_fold_builtin(kj_builtin id, int part, const kj_value *args, int n, kj_value *out);
double kj_below_one(kj_dtype type);  /* the largest number of a float type below 1 */
double kj_turn_factor(bool degrees); /* what degrees and radians multiply by */
bool kj_fold_integers(kj_builtin id, const kj_value *args, kj_value *out); /* bits.c */
kj_value kj_fold_directed(kj_builtin id, const kj_value *v,
                          int n); /* of kj_builtin_rounding; directed.c */
/* A math function of the host's, in f64: false where there is none by that id (host_math.c). */
bool kj_host_math(kj_builtin id, const double *x, double *out);
bool kj_host_exact(kj_builtin id, const double *x,
                   double *out); /* and of every device's; host_exact.c */
/* One that is not exact, of literals: as good as rounded once; and with all digits. */
bool kj_long_math(kj_builtin id, const long double *x, long double *out);
bool kj_literal_math(kj_builtin id, const double *x, double *out);
/* A complex number, and functions of it on the host, by the C library in f64 (host_complex.c): false where there is none by
 * that id. The power is as kernels have it: the length |z|**x * exp(-y * phase z) at the angle x * phase z + y * log |z|,
 * without the last term where the exponent is real. */
typedef struct kj_parts {
    double re, im;
} kj_parts;
bool kj_host_complex(kj_builtin id, kj_parts z, kj_parts *out);
kj_parts kj_host_complex_power(kj_parts z, kj_parts w, bool real);
kj_parts kj_host_product(kj_parts x, kj_parts y);
kj_parts kj_host_quotient(kj_parts x, kj_parts y);
enum { KJ_MAX_PRODUCTS = 64 }; /* so large a whole number a power is products by */
kj_parts kj_host_whole_power(kj_parts z, int n);
kj_parts kj_host_rect(double length, double angle);
/* What an operator is of literals of which one is a float, and what a builtin is: a literal too (math.c).
 * False where the builtin asks for the type, or gives no number. */
kj_value kj_fold_literals(kj_op op, kj_value a, kj_value b);
bool kj_fold_builtin_literals(kj_builtin id, const kj_value *args, int n, kj_value *out);
/* The value's bits as another type of the same width (element.c): of a NaN those of some NaN. */
kj_value kj_fold_bits(kj_value v, kj_dtype to);
/* Does `to` hold the value exactly (integers) or within its range (floats)? */
bool kj_value_fits(kj_value v, kj_dtype to);
/* The default of a const parameter as a number or bool of the type that the parameter has there; false: it is none. */
bool kj_default_as(kj_value v, kj_dtype to, kj_value *out);

/* Element `at` of an array in memory, and back (element.c). */
kj_value kj_value_read(const void *data, kj_dtype type, int64_t at);
void kj_value_write(void *data, int64_t at, kj_value v);

/* How types meet (promote.c), in kernels and in the run block's array expressions. */
/* What two operands of an operator become; KJ_VOID when they have no common type. */
kj_dtype kj_common_type(kj_dtype a, kj_dtype b);
bool kj_converts(kj_dtype from, kj_dtype to); /* by itself, without loss of range */
/* The type of a literal that meets none: i32, i64, u64 or f32. */
kj_dtype kj_default_type(kj_value literal);

static inline kj_value kj_int(kj_dtype t, int64_t i)
{
    return (kj_value){.type = t, .i = i};
}
static inline kj_value kj_float(kj_dtype t, double f)
{
    return (kj_value){.type = t, .f = f};
}

#endif
