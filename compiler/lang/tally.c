/* Atomics of integers that come to the same in any order. */
#include "lang/tally.h"

kj_tally_op kj_tally_of(kj_builtin id, kj_dtype type)
{
    if (!kj_is_int(type))
        return KJ_TALLY_NONE;
    switch (id) {
    case KJ_BI_ATOMIC_ADD: return KJ_TALLY_ADD;
    case KJ_BI_ATOMIC_AND: return KJ_TALLY_AND;
    case KJ_BI_ATOMIC_OR: return KJ_TALLY_OR;
    case KJ_BI_ATOMIC_XOR: return KJ_TALLY_XOR;
    case KJ_BI_ATOMIC_MIN: return KJ_TALLY_MIN;
    case KJ_BI_ATOMIC_MAX: return KJ_TALLY_MAX;
    default: return KJ_TALLY_NONE;
    }
}

uint64_t kj_tally_identity(kj_tally_op op, kj_dtype type)
{
    unsigned bits = (unsigned)kj_types[type].bits;
    uint64_t ones = UINT64_MAX >> (64 - bits), top = (uint64_t)1 << (bits - 1);
    switch (op) {
    case KJ_TALLY_AND: return ones;
    case KJ_TALLY_MIN: return kj_is_signed(type) ? top - 1 : ones;
    case KJ_TALLY_MAX: return kj_is_signed(type) ? top : 0;
    default: return 0;
    }
}
