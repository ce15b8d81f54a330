/* What accesses cannot touch the same memory, said to LLVM: the launch's arrays (which may overlap
 * one another), the values kept across barriers, each shared, local and const array are apart. On a
 * GPU each of the launch's arrays is apart, too, where the launch has seen to it. */
#include "lower.h"

#include <string.h>

static LLVMMetadataRef scope_node(kj_lower *lo, int scope)
{
    const char *name = kj_arena_printf(lo->arena, "kjit.%d", scope);
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(lo->ctx, "kjit", 4)};
    parts[1] = LLVMMDNodeInContext2(lo->ctx, parts, 1);
    parts[0] = LLVMMDStringInContext2(lo->ctx, name, strlen(name));
    return LLVMMDNodeInContext2(lo->ctx, parts, 2);
}

static bool has_own_scope(const kj_lower *lo, const kj_tarray *root)
{
    return root->space != KJ_GLOBAL || (lo->ptx && lo->kernel->disjoint);
}

static bool has_scope(const kj_lower *lo, int scope)
{
    return scope < KJ_SCOPE_ROOT || has_own_scope(lo, lo->kernel->roots[scope - KJ_SCOPE_ROOT]);
}

static LLVMValueRef nodes(kj_lower *lo, LLVMMetadataRef *list, size_t n)
{
    return LLVMMetadataAsValue(lo->ctx, LLVMMDNodeInContext2(lo->ctx, list, n));
}

int kj_alias_scope(const kj_lower *lo, const kj_tarray *root)
{
    return has_own_scope(lo, root) ? KJ_SCOPE_ROOT + root->id : KJ_SCOPE_LAUNCH;
}

LLVMValueRef kj_alias_mark(kj_lower *lo, LLVMValueRef access, int scope)
{
    int n = lo->kernel->nroots + KJ_SCOPE_ROOT;
    if (!lo->scopes)
        lo->scopes = kj_arena_calloc(lo->arena, (size_t)n, sizeof *lo->scopes);
    LLVMValueRef *own = lo->scopes[scope];
    if (!own[0]) {
        LLVMMetadataRef *others = KJ_NEW_ARRAY(lo->arena, LLVMMetadataRef, (size_t)n),
                        self = scope_node(lo, scope);
        size_t count = 0;
        for (int i = 0; i < n; i++)
            if (i != scope && has_scope(lo, i))
                others[count++] = scope_node(lo, i);
        own[0] = nodes(lo, &self, 1);
        own[1] = nodes(lo, others, count);
    }
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(lo->ctx, "alias.scope", 11), own[0]);
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(lo->ctx, "noalias", 7), own[1]);
    return access;
}
