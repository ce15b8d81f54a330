/* What a function of an instruction is made of: loops over the 32 lanes that compilers turn into
 * vector code. All lanes are computed and the active ones kept. */
#ifndef PTX_LANES_H
#define PTX_LANES_H

#include "ptx_exec.h"

/* Columns hold whatever type the instruction at hand sees in them. */
typedef uint8_t ptx_u8 __attribute__((may_alias));
typedef uint16_t ptx_u16 __attribute__((may_alias));
typedef uint32_t ptx_u32 __attribute__((may_alias));
typedef uint64_t ptx_u64 __attribute__((may_alias));
typedef int8_t ptx_s8 __attribute__((may_alias));
typedef int16_t ptx_s16 __attribute__((may_alias));
typedef int32_t ptx_s32 __attribute__((may_alias));
typedef int64_t ptx_s64 __attribute__((may_alias));
typedef float ptx_f32 __attribute__((may_alias));
typedef double ptx_f64 __attribute__((may_alias));

static const uint32_t ptx_bit[PTX_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* Operand k's column as that type. */
#define COLUMN(type, k) ((ptx_##type *)(void *)(warp->columns + inst->at[k]))

#define EACH_LANE(l) for (int l = 0; l < PTX_LANES; l++)
#define ACTIVE(l) ((lanes & ptx_bit[l]) != 0)

#define PTX_KEEP(bits) \
    static inline void ptx_keep##bits(void *column, const void *results, uint32_t lanes) \
    { \
        ptx_u##bits *to = column; \
        const ptx_u##bits *from = results; \
        if (lanes == PTX_FULL) { \
            memcpy(column, results, sizeof *to *PTX_LANES); \
            return; \
        } \
        EACH_LANE (l) \
            to[l] = ACTIVE(l) ? from[l] : to[l]; \
    }
PTX_KEEP(16)
PTX_KEEP(32)
PTX_KEEP(64)
#undef PTX_KEEP

/* Results of the active lanes into operand 0. */
#define KEEP(results) \
    (sizeof *(results) == 2   ? ptx_keep16(COLUMN(u16, 0), results, lanes) \
     : sizeof *(results) == 4 ? ptx_keep32(COLUMN(u32, 0), results, lanes) \
                              : ptx_keep64(COLUMN(u64, 0), results, lanes))

static inline uint32_t ptx_read_predicate(const ptx_warp *warp, const ptx_inst *inst, int k)
{
    uint32_t word = *(const ptx_u32 *)(const void *)(warp->columns + inst->at[k]);
    return inst->flipped >> k & 1 ? ~word : word;
}

static inline void ptx_keep_predicate(ptx_warp *warp, const ptx_inst *inst, int k, uint32_t word,
                                      uint32_t lanes)
{
    ptx_u32 *to = (ptx_u32 *)(void *)(warp->columns + inst->at[k]);
    *to = (*to & ~lanes) | (word & lanes);
}

/* Sizes that are known make moves of what would be calls. */
static inline void ptx_copy_bits(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, bytes); break;
    }
}

/* A function whose result r is an expression in a, b, c: operands 1, 2, 3. */
#define UNARY(name, R, A, expr) \
    static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##R r[PTX_LANES]; \
        const ptx_##A *as = COLUMN(A, 1); \
        EACH_LANE (l) { \
            ptx_##A a = as[l]; \
            r[l] = (ptx_##R)(expr); \
        } \
        KEEP(r); \
    }

#define BINARY(name, R, A, B, expr) \
    static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##R r[PTX_LANES]; \
        const ptx_##A *as = COLUMN(A, 1); \
        const ptx_##B *bs = COLUMN(B, 2); \
        EACH_LANE (l) { \
            ptx_##A a = as[l]; \
            ptx_##B b = bs[l]; \
            r[l] = (ptx_##R)(expr); \
        } \
        KEEP(r); \
    }

#define TERNARY(name, R, A, B, C, expr) \
    static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##R r[PTX_LANES]; \
        const ptx_##A *as = COLUMN(A, 1); \
        const ptx_##B *bs = COLUMN(B, 2); \
        const ptx_##C *cs = COLUMN(C, 3); \
        EACH_LANE (l) { \
            ptx_##A a = as[l]; \
            ptx_##B b = bs[l]; \
            ptx_##C c = cs[l]; \
            r[l] = (ptx_##R)(expr); \
        } \
        KEEP(r); \
    }

/* A choice by the form's first type. */
#define CHOICE(name, ...) \
    ptx_fn *name(const ptx_form *form) \
    { \
        static ptx_fn *const functions[PTX_TYPES] = {__VA_ARGS__}; \
        return functions[form->type[0]]; \
    }
#define CHOICE1(name, function) \
    ptx_fn *name(const ptx_form *form) \
    { \
        (void)form; \
        return function; \
    }

#endif
