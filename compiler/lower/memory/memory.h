/* Lowering: loads and stores. */
#ifndef KJ_LOWER_MEMORY_H
#define KJ_LOWER_MEMORY_H

#include "lower/tile/tile.h"

/* ---- memory.c ---- */

/* Loads and stores of a byte or value a thread in scratch memory, at the gang's place. */
kj_tile kj_scratch_load(kj_lower *lo, int64_t offset, kj_dtype type);
void kj_scratch_store(kj_lower *lo, int64_t offset, kj_tile t, kj_mask m);

/* An array access: the address of each thread's element. */
typedef struct kj_access {
    kj_dtype type;
    int scope;     /* alias.c */
    bool constant; /* nothing changes the array */
    LLVMValueRef base;
    kj_tile offset;
    kj_tile own; /* of a local array: the offset within the thread's */
    int64_t
        own_count; /* and of a gang's how many scalars one has, 0 of elements that are several; */
    int64_t own_pitch;                   /* how far apart those are, */
    LLVMValueRef own_start[KJ_MAX_ROWS]; /* and where the first ones of a row are */
    int group, part;   /* lanes are neighbouring elements of `group` scalars; 0: they are not */
    const char *cache; /* of a GPU's global memory: kj_tarray.cache */
    bool again;        /* others write it meanwhile: fetched each time */
    bool past;         /* whole lines may be stored past the caches: kj_tarray.past */
    LLVMValueRef room; /* of a shared array between margins: its bytes, an i64; else NULL */
    bool amid;         /* it is in that array, or in a margin, with all lanes */
    bool columns;      /* a lane's elements in all rows lie side by side */
} kj_access;
kj_tile kj_load_access(kj_lower *lo, const kj_access *a, kj_mask m);
void kj_store_access(kj_lower *lo, const kj_access *a, kj_tile v, kj_mask m);
/* Of an access with a group, any part's: all parts, by number. */
void kj_store_parts(kj_lower *lo, const kj_access *a, kj_tile *v, kj_mask m);
/* The place of an access to a local array, whose offset is within it: of a gang, whose threads' arrays
 * lie element by element, and of a thread alone. */
void kj_local_of_gang(kj_lower *lo, const kj_tarray *root, kj_access *a);
void kj_local_of_thread(kj_lower *lo, const kj_tarray *root, kj_access *a);
/* How many elements lie between two of a thread, in a local array that lives across barriers. */
int64_t kj_local_pitch(const kj_lower *lo, const kj_tarray *root);
/* Where a local array begins: of untrusted kernels it is zeros, for all of the gang; one that lives across
 * barriers is so since the block began. */
void kj_local_begin(kj_lower *lo, const kj_tarray *root);

/* ---- vector.c ---- */

/* Has the processor gathers, and masked stores of elements of `size` bytes that are not slow? */
bool kj_has_gathers(const kj_lower *lo);
bool kj_stores_masked(const kj_lower *lo, int size);
/* An intrinsic of LLVM's of that name, of two or three (third not NULL) arguments; number `aligned` is its pointer. */
LLVMValueRef kj_call_masked(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
                            LLVMValueRef first, LLVMValueRef second, LLVMValueRef third,
                            int aligned, int align);
/* Branches: to `every` when all lanes run, else to `some`. */
typedef struct kj_row_branch {
    LLVMBasicBlockRef every, some, done;
    LLVMValueRef bits;
} kj_row_branch;
kj_row_branch kj_branch_full(kj_lower *lo, LLVMValueRef mask, int lanes);
/* The row, where both branches have come to an end: that of v[0] in block `every`, of v[1] here. */
LLVMValueRef kj_end_branch(kj_lower *lo, const kj_row_branch *r, LLVMBasicBlockRef every,
                           LLVMValueRef v[2]);

/* LLVM's masked accesses of a vector at a pointer. */
LLVMValueRef kj_masked_load(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                            LLVMValueRef mask);
LLVMValueRef kj_masked_store(kj_lower *lo, LLVMValueRef v, LLVMValueRef at, LLVMValueRef mask,
                             int align);

/* Are lanes one element apart, up or down? And row `row` of an access whose are; its vector's type is `type`. */
bool kj_is_unit(kj_tile offset);
LLVMValueRef kj_load_unit(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type, kj_mask m);
void kj_store_unit(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);
/* Fetches lines, into the first cache (`keep` 3) or the second (2). */
void kj_prefetch(kj_lower *lo, LLVMValueRef at, int bytes, unsigned keep);
/* Fetches the row that is so many elements behind it into the second cache, if it is in memory. */
void kj_fetch_row(kj_lower *lo, const kj_access *a, int row, LLVMValueRef by);
/* A mask of lanes as the bits of an i64. */
LLVMValueRef kj_mask_bits(kj_lower *lo, LLVMValueRef mask, int lanes);

/* ---- apart.c ---- */

/* The vector at addresses of its own each, of the lanes in `mask`; zeros for the others. */
LLVMValueRef kj_gather(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef mask,
                       int align);
/* Of one whose lanes are anywhere. */
LLVMValueRef kj_load_apart(kj_lower *lo, const kj_access *a, int row, kj_mask m);
void kj_store_apart(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);
/* kj_store_group, where masks of bytes are dear only of rows that are not full. */
void kj_store_group_row(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts,
                        kj_mask m);

/* ---- own.c ---- */

/* Is it the same element of all threads' own arrays? And a row of those, some of whose threads run. */
bool kj_is_own(const kj_access *a);
LLVMValueRef kj_load_own(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type);
void kj_store_own(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, LLVMValueRef mask);
/* Is it one of a few elements, whose numbers differ? And a row of such. */
bool kj_is_chosen(kj_lower *lo, const kj_access *a);
LLVMValueRef kj_load_chosen(kj_lower *lo, const kj_access *a, int row);
void kj_store_chosen(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);

/* ---- amid.c ---- */

/* Elements from lane to lane of rows that are stored with what lies between, and bytes in front of each shared array, and
 * behind it, which a row of the largest elements does not leave; an odd number of lines. */
enum { KJ_FURTHEST = 4, KJ_MARGIN = KJ_FURTHEST * KJ_MAX_LANES * 8 + KJ_LINE };
bool kj_has_margins(const kj_lower *lo);
/* Do its rows lie close together in an array between margins, which they do not leave, and is that worth anything? And the
 * access of one of them that may be made for all lanes. */
bool kj_is_amid(const kj_lower *lo, const kj_access *a, kj_mask m);
kj_access kj_amid(kj_lower *lo, const kj_access *a, int row, kj_mask m);
/* Stores a vector's lanes in `mask` there, and what was there for the others; returns the store. */
LLVMValueRef kj_store_amid(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at,
                           LLVMValueRef mask);

/* ---- crossed.c ---- */

/* Are its rows vectors whose elements a register's permutation puts in order? And a row of such. */
bool kj_is_crossed(const kj_lower *lo, const kj_access *a);
LLVMValueRef kj_load_crossed(kj_lower *lo, const kj_access *a, int row, kj_mask m);
void kj_store_crossed(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);

/* ---- row.c ---- */

/* Row `row` of an access whose lanes differ. */
LLVMValueRef kj_load_row(kj_lower *lo, const kj_access *a, int row, kj_mask m);
void kj_store_row(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);

/* ---- first.c ---- */

/* So many first lanes of each row run, which is known and not all; else 0. */
int kj_known_first(const kj_lower *lo, kj_mask m);
/* A row whose lanes are one element apart, of which those run. */
LLVMValueRef kj_load_first(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                           int first);
void kj_store_first(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at, int first);

/* ---- interleaved.c ---- */

/* kj_load_row of an access with a group. */
LLVMValueRef kj_load_group(kj_lower *lo, const kj_access *a, int row, kj_mask m);
/* The same of all parts, from `group` vectors. */
void kj_store_group(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts,
                    kj_mask m);

/* Is the step between lanes small, and loading what lies between them cheaper than a gather? */
bool kj_is_strided(const kj_lower *lo, const kj_access *a);
/* kj_load_row of such an access, all of whose lanes run. */
LLVMValueRef kj_load_strided(kj_lower *lo, const kj_access *a, int row);
/* Are masked stores of what lies between lanes cheaper than a scatter? And kj_store_row of such an access. */
bool kj_stores_strided(const kj_lower *lo, const kj_access *a);
void kj_store_strided(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);

/* ---- columns.c ---- */

/* Is each row's index the one behind that of the row before? */
bool kj_are_neighbours(kj_tile index);
/* kj_store_access and kj_load_access of such rows, whose lanes are none, where all threads run; false where that is no
 * such access, or cannot be. */
bool kj_store_columns(kj_lower *lo, const kj_access *a, kj_tile v, kj_mask m);
bool kj_load_columns(kj_lower *lo, const kj_access *a, kj_mask m, kj_tile *out);

/* ---- strip.c ---- */

/* Turns of a loop whose elements are moved together, where each lane goes along a row of its own: so many, or the half
 * or a quarter of loops that have no more. */
enum { KJ_STRIP = 16 };
typedef struct kj_strip_shape {
    kj_dtype type;
    int turns;
    bool down; /* later turns lie before earlier ones */
} kj_strip_shape;
/* Are there lanes and turns enough for elements of that type? */
bool kj_has_strips(const kj_lower *lo, kj_dtype type, int turns);
/* Loads the elements of so many turns from turn number `turn` (an i64) on, of all lanes: rows[l] is where lane l's
 * first turn is. room[t * lanes + l] is lane l's element of the t'th of them; it stands at a multiple of 64 bytes. */
void kj_strip_load(kj_lower *lo, const kj_strip_shape *form, LLVMValueRef rows, LLVMValueRef turn,
                   LLVMValueRef room);
/* Stores them, of the lanes in `mask`; NULL: of all. */
void kj_strip_store(kj_lower *lo, const kj_strip_shape *form, LLVMValueRef rows, LLVMValueRef turn,
                    LLVMValueRef room, LLVMValueRef mask);

/* ---- alias.c ---- */

enum {
    KJ_SCOPE_LAUNCH,
    KJ_SCOPE_SCRATCH,
    KJ_SCOPE_ROOT
}; /* from KJ_SCOPE_ROOT on, a root array each */
int kj_alias_scope(const kj_lower *lo, const kj_tarray *root);
/* Marks a load or store as one of that scope; returns it. */
LLVMValueRef kj_alias_mark(kj_lower *lo, LLVMValueRef access, int scope);

#endif
