/* A GPU's entry function: a typed kernel in, the code of one of its threads out, as LLVM IR for
 * NVPTX.
 *
 * The gang is one thread: every value is a scalar and every condition a branch. Its variables live
 * from one end of the kernel to the other, so there are no regions and no homes; a barrier is an
 * instruction. Arrays stand in address spaces of their own, and where the launch is small, sizes
 * and indices are 32 bits wide. */
#include "lower/block/block.h"
#include "lower/nvptx/nvptx.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3, SPACE_CONST = 4 }; /* NVPTX's numbers */
enum {
    PTX_KERNEL = 71,          /* LLVM's number of the calling convention */
    ALIGNED = 16,             /* bytes, of arrays that are */
    SHARED_ALIGN = 64,        /* bytes, as kj_shared_bytes counts */
    SHARED_STATIC = 48 << 10, /* most bytes of shared arrays that are known when compiling */
    CONST_MOST = 64 << 10,    /* bytes of constant memory */
};

/* ---- Parameters ---- */

static bool has_report(const kj_tkernel *k)
{
    return k->nsites > 0 || k->polls;
}

bool kj_has_asserts(const kj_tkernel *k)
{
    for (int i = 0; i < k->nsites; i++)
        if (k->sites[i]->fault)
            return true;
    return false;
}

static int count_slots(const kj_tkernel *k)
{
    int n = 0;
    for (int i = 0; i < k->nparams; i++)
        n += k->params[i].array ? 1 + 2 * k->params[i].array->ndim : 1;
    return n + has_report(k) + (k->grid_sync != NULL);
}

static LLVMTypeRef scalar_type(const kj_lower *lo, kj_dtype type)
{
    return type == KJ_BOOL ? lo->i8 : lo->types[type];
}

/* Returns the slots that the parameters are: all, in order. */
static const int *make_function(kj_lower *lo, const char *name, int *count)
{
    const kj_tkernel *k = lo->kernel;
    int n = 0, most = count_slots(k);
    LLVMTypeRef *types = KJ_NEW_ARRAY(lo->arena, LLVMTypeRef, (size_t)most + 1);
    LLVMTypeRef data = LLVMPointerTypeInContext(lo->ctx, SPACE_GLOBAL);
    for (int i = 0; i < k->nparams; i++) {
        const kj_tarray *a = k->params[i].array;
        types[n++] = a ? data : scalar_type(lo, k->params[i].var->type);
        for (int d = 0; a && d < 2 * a->ndim; d++)
            types[n++] = k->small ? lo->i32 : lo->i64;
    }
    if (has_report(k))
        types[n++] = data;
    if (k->grid_sync)
        types[n++] = data;
    LLVMTypeRef none = LLVMVoidTypeInContext(lo->ctx);
    LLVMValueRef promised = LLVMGetNamedFunction(lo->module, name); /* by who launches it */
    if (promised)
        LLVMSetValueName2(promised, "", 0);
    lo->fn = LLVMAddFunction(lo->module, name, LLVMFunctionType(none, types, (unsigned)n, false));
    if (promised) {
        LLVMReplaceAllUsesWith(promised, lo->fn);
        LLVMDeleteFunction(promised);
    }
    LLVMSetFunctionCallConv(lo->fn, PTX_KERNEL);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMPositionBuilderAtEnd(lo->allocas, kj_new_block(lo, "entry"));
    LLVMPositionBuilderAtEnd(lo->b, kj_new_block(lo, "begin"));
    int *slots = KJ_NEW_ARRAY(lo->arena, int, (size_t)most + 1);
    for (int i = 0; i < most; i++)
        slots[i] = i;
    if (k->grid_sync)
        slots[most - 1] = KJ_ARG_COUNTER;
    *count = most;
    return slots;
}

static LLVMValueRef take_param(kj_lower *lo, unsigned i, const char *name)
{
    LLVMValueRef v = LLVMGetParam(lo->fn, i);
    LLVMSetValueName2(v, name, strlen(name));
    return v;
}

/* That arrays are apart is said of each access (memory/alias.c). As an attribute it would also say
 * that a barrier leaves them alone, which is true only of those that nobody writes. */
static void describe_array(kj_lower *lo, unsigned param, const kj_tarray *a)
{
    LLVMAttributeIndex at = 1 + param;
    int size = kj_unit(a);
    kj_attribute(lo, at, "align", lo->kernel->aligned ? ALIGNED : (uint64_t)size);
    if (!a->written)
        kj_attribute(lo, at, "readonly", 0);
    else if (!a->read)
        kj_attribute(lo, at, "writeonly", 0);
    if (!a->written && lo->kernel->disjoint)
        kj_attribute(lo, at, "noalias", 0);
}

static void take_params(kj_lower *lo)
{
    unsigned n = 0;
    for (int i = 0; i < lo->kernel->nparams; i++) {
        const kj_tparam *p = &lo->kernel->params[i];
        LLVMValueRef v = take_param(lo, n++, p->name);
        if (p->var) {
            bool is_bool = p->var->type == KJ_BOOL;
            LLVMValueRef zero = LLVMConstInt(lo->i8, 0, false);
            lo->params[i] = is_bool ? LLVMBuildICmp(lo->b, LLVMIntNE, v, zero, "") : v;
            continue;
        }
        describe_array(lo, n - 1, p->array);
        lo->roots[p->array->id] = v;
        int ndim = p->array->ndim;
        for (int d = 0; d < 2 * ndim; d++) {
            const char *what = d < ndim ? "shape" : "stride";
            const char *name = kj_arena_printf(lo->arena, "%s.%s%d", p->name, what, d % ndim);
            int place = d < ndim ? d : KJ_MAX_NDIM + d - ndim;
            lo->dims[i][place] = take_param(lo, n++, name);
        }
    }
    if (has_report(lo->kernel))
        lo->report = take_param(lo, n++, "report");
    if (lo->kernel->grid_sync)
        lo->counter = take_param(lo, n, "counter");
}

/* ---- Sizes that are equal ---- */

static LLVMValueRef *dim_place(kj_lower *lo, const kj_texpr *e)
{
    int at = e->u.dim.axis + (e->u.dim.stride ? KJ_MAX_NDIM : 0);
    return &lo->dims[e->u.dim.array->param][at];
}

/* Wherever `was` is used, `now` is. */
static void replace_dim(kj_lower *lo, LLVMValueRef was, LLVMValueRef now)
{
    for (int i = 0; i < lo->kernel->nparams; i++)
        for (int d = 0; d < 2 * KJ_MAX_NDIM; d++)
            if (lo->dims[i][d] == was)
                lo->dims[i][d] = now;
}

/* Of sizes that a launch has equal one is a parameter; of one that is equal to a number, none. */
static void share_dims(kj_lower *lo, const kj_texpr *e)
{
    if (e->kind == KJ_TE_LOGIC && !e->u.logic.is_or) {
        share_dims(lo, e->u.logic.lhs);
        share_dims(lo, e->u.logic.rhs);
    }
    if (e->kind != KJ_TE_BINARY || e->u.binary.op != KJ_OP_EQ)
        return;
    const kj_texpr *a = e->u.binary.lhs, *b = e->u.binary.rhs;
    if (a->kind != KJ_TE_DIM) {
        const kj_texpr *swap = a;
        a = b, b = swap;
    }
    if (a->kind != KJ_TE_DIM)
        return;
    LLVMValueRef was = *dim_place(lo, a);
    if (b->kind == KJ_TE_DIM)
        replace_dim(lo, was, *dim_place(lo, b));
    else if (b->kind == KJ_TE_CONST && b->u.value.i >= 0)
        replace_dim(lo, was, LLVMConstInt(LLVMTypeOf(was), b->u.value.u, false));
}

/* ---- Indices ---- */

/* A special register, below `limit` unless that is 0. */
static LLVMValueRef read_register(kj_lower *lo, const char *name, int64_t limit)
{
    char full[64];
    kj_snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s", name);
    LLVMValueRef v = kj_intrinsic(lo, full, NULL, 0, NULL, 0);
    if (limit > 0) {
        LLVMMetadataRef range[2] = {
            LLVMValueAsMetadata(LLVMConstInt(lo->i32, 0, false)),
            LLVMValueAsMetadata(LLVMConstInt(lo->i32, (uint64_t)limit, false))};
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(lo->ctx, "range", 5),
                        LLVMMetadataAsValue(lo->ctx, LLVMMDNodeInContext2(lo->ctx, range, 2)));
    }
    return v;
}

static LLVMValueRef read_axis(kj_lower *lo, const char *name, int axis, int64_t limit)
{
    const char *full = kj_arena_printf(lo->arena, "%s.%c", name, "xyz"[axis]);
    return read_register(lo, full, limit);
}

static kj_tile thread_index(kj_lower *lo, int axis)
{
    int64_t threads = lo->kernel->block[axis];
    if (threads == 1)
        return kj_tile_int(lo, 0);
    kj_tile t = kj_tile_like(KJ_I64, 1, 1);
    t.v[0] = read_axis(lo, "tid", axis, threads ? threads : 1024);
    t.narrow = true;
    kj_bound(&t, 0, threads ? (uint64_t)threads - 1 : 1023);
    return t;
}

static void make_indices(kj_lower *lo)
{
    if (lo->deps->warps) {
        lo->lane = kj_tile_like(KJ_I64, 1, 1);
        lo->lane.v[0] = read_register(lo, "laneid", KJ_WARP);
        lo->lane.narrow = true;
        kj_bound(&lo->lane, 0, KJ_WARP - 1);
    }
    for (int axis = 0; axis < 3; axis++) {
        int64_t threads = lo->kernel->block[axis];
        int64_t blocks = axis > 0 ? 65536 : lo->kernel->small ? KJ_SMALL : INT32_MAX;
        lo->thread[axis] = thread_index(lo, axis);
        lo->block[axis] = read_axis(lo, "ctaid", axis, blocks);
        lo->grid[axis] = read_axis(lo, "nctaid", axis, 0);
        lo->extent[axis] = threads ? NULL : read_axis(lo, "ntid", axis, 1025);
    }
}

/* ---- Arrays ---- */

static int64_t static_bytes(const kj_tarray *a)
{
    int64_t bytes = a->static_count * kj_elem_size(a);
    return (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
}

static int64_t count_bytes(const kj_tkernel *k, kj_space space)
{
    int64_t n = 0;
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->space == space)
            n += static_bytes(k->roots[i]);
    return n;
}

static LLVMValueRef shared_global(kj_lower *lo, LLVMTypeRef type, const char *name)
{
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(lo->module, type, name, SPACE_SHARED);
    LLVMSetAlignment(g, SHARED_ALIGN);
    return g;
}

static LLVMValueRef static_shared(kj_lower *lo, const kj_tarray *a)
{
    LLVMTypeRef type = kj_elements_type(lo, a, a->static_count);
    LLVMValueRef g = shared_global(lo, type, a->name);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetInitializer(g, LLVMGetUndef(type));
    return g;
}

/* The bytes of an array whose shape the launch decides, an i32: no block has more. */
static LLVMValueRef dynamic_bytes(kj_lower *lo, const kj_tarray *a)
{
    kj_tile bytes = kj_tile_const(lo, kj_int(KJ_I32, kj_elem_size(a)));
    for (int d = 0; d < a->ndim; d++) {
        kj_tile extent = kj_tile_convert(lo, kj_lower_expr(lo, a->shape[d], kj_all), KJ_I32);
        bytes = kj_tile_binary(lo, KJ_OP_MUL, bytes, extent);
    }
    LLVMValueRef up = LLVMConstInt(lo->i32, SHARED_ALIGN - 1, false);
    LLVMValueRef mask = LLVMConstInt(lo->i32, (uint64_t)-SHARED_ALIGN, true);
    return LLVMBuildAnd(lo->b, LLVMBuildAdd(lo->b, bytes.v[0], up, ""), mask, "");
}

/* Returns the bytes of those that are the module's own variables; the others stand one behind the
 * other in the memory that the launch adds. */
static int64_t place_shared(kj_lower *lo)
{
    const kj_tkernel *k = lo->kernel;
    int64_t known = count_bytes(k, KJ_SHARED);
    LLVMValueRef dynamic = NULL, offset = LLVMConstInt(lo->i32, 0, false);
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *a = k->roots[i];
        if (a->space != KJ_SHARED)
            continue;
        if (a->static_count > 0 && known <= SHARED_STATIC) {
            lo->roots[i] = static_shared(lo, a);
            continue;
        }
        if (!dynamic)
            dynamic = shared_global(lo, LLVMArrayType2(lo->i8, 0), "dynamic_shared");
        lo->roots[i] = LLVMBuildGEP2(lo->b, lo->i8, dynamic, &offset, 1, a->name);
        offset = LLVMBuildAdd(lo->b, offset, dynamic_bytes(lo, a), "");
    }
    kj_gpu_clear_shared(lo, dynamic, offset);
    return known <= SHARED_STATIC ? known : 0;
}

/* A variable of the module that the host finds by its name. */
static LLVMValueRef filled_global(kj_lower *lo, const kj_tarray *a, unsigned space)
{
    const char *name = a->symbol;
    LLVMTypeRef type = LLVMArrayType2(lo->i8, (uint64_t)static_bytes(a));
    LLVMValueRef g = LLVMGetNamedGlobal(lo->module, name);
    if (g)
        return g;
    g = LLVMAddGlobalInAddressSpace(lo->module, type, name, space);
    LLVMSetInitializer(g, LLVMConstNull(type));
    LLVMSetExternallyInitialized(g, true);
    LLVMSetAlignment(g, 64);
    return g;
}

/* What the module, that of all kernels of a file or of a family, has in constant memory. */
static int64_t const_bytes(const kj_lower *lo)
{
    int64_t n = 0;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(lo->module);
    for (LLVMValueRef g = LLVMGetFirstGlobal(lo->module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == SPACE_CONST)
            n += (int64_t)(LLVMABISizeOfType(layout, LLVMGlobalGetValueType(g)) + 63) / 64 * 64;
    return n;
}

static void place_const(kj_lower *lo)
{
    const kj_tkernel *k = lo->kernel;
    bool fits = const_bytes(lo) + count_bytes(k, KJ_CONST) <= CONST_MOST;
    unsigned space = fits ? SPACE_CONST : SPACE_GLOBAL;
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->filled)
            lo->roots[i] = filled_global(lo, k->roots[i], space);
        else if (k->roots[i]->space == KJ_CONST)
            kj_lower_const(lo, k->roots[i], space);
}

/* ---- The entry ---- */

static void describe_launch(kj_lower *lo)
{
    const kj_tkernel *k = lo->kernel;
    const int64_t *block = k->block;
    char text[80];
    if (block[0] && block[1] && block[2]) {
        kj_snprintf(text, sizeof text, "%d,%d,%d", (int)block[0], (int)block[1], (int)block[2]);
        kj_attribute_text(lo, "nvvm.reqntid", text);
    } else if (k->launch_bounds[0]) {
        kj_snprintf(text, sizeof text, "%d", k->launch_bounds[0]);
        kj_attribute_text(lo, "nvvm.maxntid", text);
    }
    if (k->launch_bounds[1]) {
        kj_snprintf(text, sizeof text, "%d", k->launch_bounds[1]);
        kj_attribute_text(lo, "nvvm.minctasm", text);
    }
    if (k->max_registers) {
        kj_snprintf(text, sizeof text, "%d", k->max_registers);
        kj_attribute_text(lo, "nvvm.maxnreg", text);
    }
}

/* --ftz: instructions of f32 are .ftz ones; the toolkit's math library asks for the flag. */
static void flush(kj_lower *lo)
{
    static const char name[] = "nvvm-reflect-ftz";
    kj_attribute_text(lo, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    if (!LLVMGetModuleFlag(lo->module, name, sizeof name - 1))
        LLVMAddModuleFlag(lo->module, LLVMModuleFlagBehaviorOverride, name, sizeof name - 1,
                          LLVMValueAsMetadata(LLVMConstInt(lo->i32, 1, false)));
}

/* ---- What the parts of lowering ask for ---- */

/* LLVM takes --ftz, which is of f32, for halves as well: it would flush those of f16 that are subnormal, and
 * compare bf16 by an instruction that there is not. */
static bool has_half(const kj_lower *lo, kj_dtype type, kj_half_op op)
{
    if (lo->ftz && (op == KJ_HALF_ADD || op == KJ_HALF_FMA))
        return false;
    if (type != KJ_BF16)
        return type == KJ_F16;
    return op == KJ_HALF_ADD ? lo->sm >= 90 : op != KJ_HALF_WIDEN && lo->sm >= 80;
}

static LLVMValueRef fault(kj_lower *lo)
{
    return lo->report;
}

static bool may_fail(const kj_lower *lo)
{
    return lo->report != NULL;
}

static const kj_lowering lowering = {
    .narrows = true,
    .no_wrap = true,
    .apart = true,
    .counts = true,
    .swaps_f16 = true,
    .has_half = has_half,
    .to_int = kj_nvptx_to_int,
    .extreme = kj_nvptx_extreme,
    .instruction = kj_nvptx_instruction,
    .approximate = kj_nvptx_approximate,
    .load_cached = kj_nvptx_load_cached,
    .store_cached = kj_nvptx_store_cached,
    .access_local = kj_local_of_thread,
    .scope = kj_nvptx_scope,
    .order = kj_nvptx_order,
    .compare_swap = kj_nvptx_compare_swap,
    .fault = fault,
    .may_fail = may_fail,
    .clock = kj_gpu_clock,
    .fence = kj_nvptx_fence,
    .warp = kj_nvptx_warp,
    .launch = kj_nvptx_launch,
    .leave = kj_level_leave,
    .barrier = kj_gpu_lower_barrier,
};

static LLVMValueRef count_from_zero(kj_lower *lo, const char *name)
{
    LLVMValueRef at = kj_alloca(lo, lo->i32, name);
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i32, 0, false), at);
    return at;
}

void kj_lower_gpu(kj_arena *arena, const kj_entry_spec *spec, kj_code *out)
{
    const kj_tkernel *kernel = spec->kernel;
    kj_lower lo;
    kj_regions none = {.places = KJ_NEW_ARRAY(arena, kj_place, (size_t)kernel->nvars + 1),
                       .crossing = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nroots + 1)};
    kj_lower_start(&lo, arena, kernel, spec);
    lo.target = &lowering;
    lo.ftz = spec->ftz;
    lo.regions = &none;
    lo.rows = lo.lanes = 1;
    lo.slots = KJ_NEW_ARRAY(arena, kj_slot, (size_t)kernel->nvars + 1);
    out->args = make_function(&lo, spec->entry, &out->nargs);
    describe_launch(&lo);
    if (lo.ftz)
        flush(&lo);
    kj_lines_begin(&lo, spec);
    LLVMBasicBlockRef begin = LLVMGetInsertBlock(lo.b);
    take_params(&lo);
    for (const kj_trequire *r = kernel->requires; r; r = r->next)
        share_dims(&lo, r->test);
    make_indices(&lo);
    place_const(&lo);
    out->shared = place_shared(&lo);
    if (lo.report)
        lo.fail = kj_new_block(&lo, "fail");
    if (kj_has_asserts(kernel) && kernel->body->barrier)
        lo.stretch = count_from_zero(&lo, "stretch");
    lo.outlive = lo.stretch || (kj_has_asserts(kernel) && lo.deps->warps);
    if (lo.outlive || kernel->polls)
        lo.turns = count_from_zero(&lo, "turns");
    kj_halt_find(&lo);
    kj_lower_inline(&lo, kernel->body, kj_all);
    LLVMBuildRetVoid(lo.b);
    if (lo.fail) {
        LLVMPositionBuilderAtEnd(lo.b, lo.fail);
        LLVMBuildRetVoid(lo.b);
    }
    LLVMBuildBr(lo.allocas, begin);
    kj_lower_seal(&lo);
}
