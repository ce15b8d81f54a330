/* What accesses cannot touch the same memory, said to LLVM: the launch's arrays (which may overlap
 * one another), the values kept across barriers, each shared, local and const array are apart. On a
 * GPU each of the launch's arrays is apart, too, where the launch has seen to it.
 *
 * Two numbers of scopes differ in some bit. Each bit is a domain of two nodes: an access is in that
 * of its number's bit, and apart from the other one. So an access names as many nodes as numbers
 * have bits; were each number a node, it would name all the others. */
#include "lower/memory/memory.h"

#include <string.h>

static LLVMMetadataRef node(kj_lower *lo, LLVMMetadataRef *parts, size_t n)
{
    return LLVMMDNodeInContext2(lo->ctx, parts, n);
}

static LLVMMetadataRef text(kj_lower *lo, const char *s)
{
    return LLVMMDStringInContext2(lo->ctx, s, strlen(s));
}

static LLVMMetadataRef scope_node(kj_lower *lo, int bit, int value)
{
    LLVMMetadataRef domain = text(lo, kj_arena_printf(lo->arena, "kjit.%d", bit));
    LLVMMetadataRef parts[2] = {text(lo, kj_arena_printf(lo->arena, "kjit.%d.%d", bit, value)),
                                node(lo, &domain, 1)};
    return node(lo, parts, 2);
}

static bool has_own_scope(const kj_lower *lo, const kj_tarray *root)
{
    return root->space != KJ_GLOBAL || (lo->target->apart && lo->kernel->disjoint);
}

int kj_alias_scope(const kj_lower *lo, const kj_tarray *root)
{
    return has_own_scope(lo, root) ? KJ_SCOPE_ROOT + root->id : KJ_SCOPE_LAUNCH;
}

LLVMValueRef kj_alias_mark(kj_lower *lo, LLVMValueRef access, int scope)
{
    enum { MAX_BITS = 31 };
    int n = lo->kernel->nroots + KJ_SCOPE_ROOT;
    if (!lo->scopes)
        lo->scopes = kj_arena_calloc(lo->arena, (size_t)n, sizeof *lo->scopes);
    LLVMValueRef *own = lo->scopes[scope];
    if (!own[0]) {
        LLVMMetadataRef in[MAX_BITS], apart[MAX_BITS];
        size_t bits = 0;
        for (; (n - 1) >> bits; bits++) {
            int value = (scope >> bits) & 1;
            in[bits] = scope_node(lo, (int)bits, value);
            apart[bits] = scope_node(lo, (int)bits, !value);
        }
        own[0] = LLVMMetadataAsValue(lo->ctx, node(lo, in, bits));
        own[1] = LLVMMetadataAsValue(lo->ctx, node(lo, apart, bits));
    }
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(lo->ctx, "alias.scope", 11), own[0]);
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(lo->ctx, "noalias", 7), own[1]);
    return access;
}
