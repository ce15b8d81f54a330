/* Loads and stores, checked to the byte.
 *
 * An instruction remembers the range its last address fell in; lanes whose addresses fall in it
 * again are a comparison and an access. The others ask: global memory is the caller's; a block's
 * shared memory is its variables, with gaps between; local and parameter memory are each lane's. */
#include "ptx_lanes.h"

/* A remembered range made ready for accesses of a size. */
typedef struct cursor {
    uint64_t begin, limit; /* offsets from begin below limit are good */
    uintptr_t host;
    size_t stride;
} cursor;

static cursor cursor_of(const ptx_warp *warp, const ptx_span *span, unsigned bytes)
{
    uint64_t size = span->size;
    cursor at = {span->begin, 0, span->host, 0};
    switch (span->base) {
    case PTX_ABSOLUTE: break;
    case PTX_OF_BLOCK: at.host += (uintptr_t)warp->block->shared; break;
    case PTX_OF_WARP:
        at.host += (uintptr_t)warp->local;
        size = warp->local_size;
        at.stride = ptx_stride(size);
        break;
    case PTX_OF_FRAME:
        at.host += (uintptr_t)warp->frame->params;
        at.stride = ptx_stride(size);
        break;
    }
    at.limit = size < bytes ? 0 : size - bytes + 1;
    return at;
}

/* ---- Where an address is ---- */

static bool in_shared(ptx_warp *warp, uint64_t address, uint64_t window, ptx_span *span)
{
    ptx_exec *exec = warp->exec;
    *span = (ptx_span){.base = PTX_OF_BLOCK};
    if (address >= exec->dynamic_shared &&
        address - exec->dynamic_shared < exec->launch->dynamic_shared) {
        span->begin = exec->dynamic_shared;
        span->size = exec->launch->dynamic_shared;
    } else {
        for (const ptx_var *v = exec->module->vars; v && !span->size; v = v->next) {
            if (v->space == PTX_shared && address >= v->address && address - v->address < v->size) {
                span->begin = v->address;
                span->size = v->size;
            }
        }
    }
    span->host = (uintptr_t)span->begin - PTX_SHARED_BASE;
    span->begin += window;
    return span->size != 0;
}

static bool in_param(ptx_warp *warp, uint64_t address, bool write, ptx_span *span)
{
    if (address >= PTX_CALL_PARAMS) {
        size_t size = warp->frame->function->call_params;
        *span = (ptx_span){PTX_CALL_PARAMS, size, 0, PTX_OF_FRAME};
    } else {
        *span = (ptx_span){0, warp->exec->entry->param_size, (uintptr_t)warp->exec->launch->params,
                           PTX_ABSOLUTE};
    }
    return address - span->begin < span->size && (address >= PTX_CALL_PARAMS || !write);
}

/* Constants are read by ld.const and by generic loads, and written by nobody. */
static bool in_global(ptx_warp *warp, const ptx_inst *inst, uint64_t address, bool write,
                      ptx_span *span)
{
    const ptx_memory *memory = &warp->exec->module->memory;
    ptx_space space = (ptx_space)inst->form.space;
    ptx_range range;
    if (address >= PTX_LAUNCH_WINDOW)
        return ptx_find_buffer(warp->exec, address, span);
    if (!memory->find(memory->ctx, address, &range))
        return false;
    bool constant = false;
    for (const ptx_var *v = warp->exec->module->vars; v; v = v->next)
        constant |= v->space == PTX_const && v->address == range.begin;
    if (constant ? write || space == PTX_global : space == PTX_const)
        return false;
    *span = (ptx_span){range.begin, range.end - range.begin, (uintptr_t)range.host, PTX_ABSOLUTE};
    if (!constant)
        ptx_add_marks(warp->exec, span);
    return true;
}

static bool find_span(ptx_warp *warp, const ptx_inst *inst, uint64_t address, bool write,
                      ptx_span *span)
{
    size_t local = warp->local_size;
    switch ((ptx_space)inst->form.space) {
    case PTX_shared: return in_shared(warp, address, 0, span);
    case PTX_local: *span = (ptx_span){0, local, 0, PTX_OF_WARP}; return address < local;
    case PTX_param: return in_param(warp, address, write, span);
    case PTX_generic:
        if (address >= PTX_CODE_WINDOW)
            return false;
        if (address >= PTX_LOCAL_WINDOW) {
            *span = (ptx_span){PTX_LOCAL_WINDOW, local, 0, PTX_OF_WARP};
            return address - PTX_LOCAL_WINDOW < local;
        }
        if (address >= PTX_SHARED_WINDOW)
            return in_shared(warp, address - PTX_SHARED_WINDOW, PTX_SHARED_WINDOW, span);
        return in_global(warp, inst, address, write, span);
    default: return in_global(warp, inst, address, write, span);
    }
}

static const char *space_name(ptx_space space)
{
    static const char *const names[] = {"",       "global ",   "shared ",
                                        "local ", "constant ", "parameter "};
    return names[space];
}

static bool check_aligned(ptx_warp *warp, const ptx_inst *inst, int lane, uint64_t address,
                          unsigned bytes, bool write)
{
    if (address & (bytes - 1))
        ptx_raise(warp, inst, lane, 716, "misaligned %saddress 0x%llx (%u bytes, %s)",
                  space_name((ptx_space)inst->form.space), (unsigned long long)address, bytes,
                  write ? "store" : "load");
    return (address & (bytes - 1)) == 0;
}

static bool resolve(ptx_warp *warp, const ptx_inst *inst, int lane, uint64_t address,
                    unsigned bytes, bool write, ptx_span *span)
{
    bool found = find_span(warp, inst, address, write, span);
    uint64_t offset = address - span->begin;
    if (!found || span->size < bytes || offset > span->size - bytes) {
        ptx_raise(warp, inst, lane, 700, "illegal %saddress 0x%llx (%u bytes, %s)",
                  space_name((ptx_space)inst->form.space), (unsigned long long)address, bytes,
                  write ? "store" : "load");
        return false;
    }
    return true;
}

/* The host's address of a lane's, or 0 after a fault. */
static inline uintptr_t locate(ptx_warp *warp, const ptx_inst *inst, cursor *at, int lane,
                               uint64_t address, unsigned bytes, bool write)
{
    uint64_t offset = address - at->begin;
    if (__builtin_expect(offset >= at->limit || (address & (bytes - 1)) != 0, 0)) {
        ptx_span *span = &warp->exec->spans[inst->span];
        ptx_span found = {0};
        if (!check_aligned(warp, inst, lane, address, bytes, write) ||
            !resolve(warp, inst, lane, address, bytes, write, &found))
            return 0;
        *span = found;
        *at = cursor_of(warp, span, bytes);
        offset = address - at->begin;
    }
    return at->host + offset + at->stride * (size_t)lane;
}

/* What an address of 32 bits is short of: constants have 64 here. */
static inline uint64_t window_of(const ptx_warp *warp, const ptx_inst *inst)
{
    return inst->form.space == PTX_const ? warp->exec->module->constants : 0;
}

static inline uint64_t address_of(const ptx_warp *warp, const ptx_inst *inst, int lane)
{
    const char *base = warp->columns + inst->base;
    if (inst->base_bytes == 4)
        return window_of(warp, inst) +
               (((const ptx_u32 *)(const void *)base)[lane] + (uint32_t)inst->imm);
    return ((const ptx_u64 *)(const void *)base)[lane] + (uint64_t)inst->imm;
}

/* Writes and loads of what is only read leave their marks; false when they contradict. */
static bool leaves_marks(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes,
                         bool write, const uintptr_t where[PTX_LANES])
{
    ptx_space space = (ptx_space)inst->form.space;
    bool matters =
        (write || PTX_HAS(&inst->form, nc)) && (space == PTX_global || space == PTX_generic);
    if (!matters || !warp->exec->marks)
        return true;
    ptx_mark(warp, inst, lanes, bytes, write, where);
    return warp->exec->code == 0;
}

uintptr_t ptx_locate(ptx_warp *warp, const ptx_inst *inst, int lane, unsigned bytes, bool write)
{
    cursor at = cursor_of(warp, &warp->exec->spans[inst->span], bytes);
    uintptr_t where[PTX_LANES] = {0};
    where[lane] = locate(warp, inst, &at, lane, address_of(warp, inst, lane), bytes, write);
    bool good = where[lane] && leaves_marks(warp, inst, ptx_bit[lane], bytes, write, where);
    return good ? where[lane] : 0;
}

uintptr_t ptx_locate_piece(ptx_warp *warp, const ptx_inst *inst, int lane, unsigned align,
                           unsigned bytes, bool write)
{
    ptx_span *span = &warp->exec->spans[inst->span];
    uint64_t address = address_of(warp, inst, lane);
    if (!check_aligned(warp, inst, lane, address, align, write) ||
        !resolve(warp, inst, lane, address, bytes, write, span))
        return 0;
    cursor at = cursor_of(warp, span, bytes);
    return at.host + (address - at.begin) + at.stride * (size_t)lane;
}

/* The host's addresses of all active lanes; those of the others may be read. Lanes whose addresses
 * are in the remembered range are found without a branch: of an offset past the range, or before
 * it, the remaining room or the offset itself shows a sign. False after a fault. */
static bool find_all(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes,
                     bool write, uintptr_t where[PTX_LANES])
{
    cursor at = cursor_of(warp, &warp->exec->spans[inst->span], bytes);
    uint64_t address[PTX_LANES], room = at.limit - 1, outside = room, low_bits = 0;
    const ptx_u64 *wide = (const ptx_u64 *)(const void *)(warp->columns + inst->base);
    const ptx_u32 *narrow = (const ptx_u32 *)(const void *)(warp->columns + inst->base);
    if (inst->base_bytes == 8)
        EACH_LANE (l)
            address[l] = wide[l] + (uint64_t)inst->imm;
    else
        EACH_LANE (l)
            address[l] = window_of(warp, inst) + (narrow[l] + (uint32_t)inst->imm);
    if (lanes != PTX_FULL)
        EACH_LANE (l)
            address[l] = ACTIVE(l) ? address[l] : at.begin;
    EACH_LANE (l) {
        uint64_t offset = address[l] - at.begin;
        outside |= offset | (room - offset);
        low_bits |= address[l];
        where[l] = at.host + offset;
    }
    for (size_t l = 0; at.stride && l < PTX_LANES; l++)
        where[l] += at.stride * l;
    if (__builtin_expect(!(outside >> 63) && !(low_bits & (bytes - 1)), 1))
        return true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        where[l] = locate(warp, inst, &at, l, address[l], bytes, write);
        if (!where[l])
            return false;
    }
    EACH_LANE (l)
        where[l] = where[ACTIVE(l) ? l : __builtin_ctz(lanes)];
    return true;
}

static bool locate_all(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes,
                       bool write, uintptr_t where[PTX_LANES])
{
    return find_all(warp, inst, lanes, bytes, write, where) &&
           leaves_marks(warp, inst, lanes, bytes, write, where);
}

/* ---- Loads: a function a type in memory and a register's size ---- */

#define LOAD(M, R) \
    static void load_##M##_##R(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uintptr_t from[PTX_LANES]; \
        ptx_##R r[PTX_LANES]; \
        if (!locate_all(warp, inst, lanes, sizeof(ptx_##M), false, from)) \
            return; \
        EACH_LANE (l) \
            r[l] = (ptx_##R) * (const ptx_##M *)from[l]; \
        KEEP(r); \
    } \
    static void load_vector_##M##_##R(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uintptr_t from[PTX_LANES]; \
        unsigned n = inst->form.vec; \
        if (!locate_all(warp, inst, lanes, n * (unsigned)sizeof(ptx_##M), false, from)) \
            return; \
        for (unsigned k = 0; k < n; k++) { \
            ptx_##R *to = COLUMN(R, k); \
            EACH_LANE (l) \
                to[l] = ACTIVE(l) ? (ptx_##R)((const ptx_##M *)from[l])[k] : to[l]; \
        } \
    }
#define STORE(M, R) \
    static void store_##M##_##R(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uintptr_t to[PTX_LANES]; \
        const ptx_##R *from = COLUMN(R, 0); \
        if (!locate_all(warp, inst, lanes, sizeof(ptx_##M), true, to)) \
            return; \
        for (uint32_t left = lanes; left; left &= left - 1) { \
            int l = __builtin_ctz(left); \
            *(ptx_##M *)to[l] = (ptx_##M)from[l]; \
        } \
    } \
    static void store_vector_##M##_##R(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uintptr_t to[PTX_LANES]; \
        unsigned n = inst->form.vec; \
        if (!locate_all(warp, inst, lanes, n * (unsigned)sizeof(ptx_##M), true, to)) \
            return; \
        for (uint32_t left = lanes; left; left &= left - 1) { \
            int l = __builtin_ctz(left); \
            for (unsigned k = 0; k < n; k++) \
                ((ptx_##M *)to[l])[k] = (ptx_##M)COLUMN(R, k)[l]; \
        } \
    }
LOAD(u8, u16)
LOAD(u8, u32)
LOAD(u8, u64)
LOAD(s8, u16)
LOAD(s8, u32)
LOAD(s8, u64)
LOAD(u16, u16)
LOAD(u16, u32)
LOAD(u16, u64)
LOAD(s16, u32)
LOAD(s16, u64)
LOAD(u32, u32)
LOAD(u32, u64)
LOAD(s32, u64)
LOAD(u64, u64)
STORE(u8, u16)
STORE(u8, u32)
STORE(u8, u64)
STORE(u16, u16)
STORE(u16, u32)
STORE(u16, u64)
STORE(u32, u32)
STORE(u32, u64)
STORE(u64, u64)

/* A register of 16 bytes is moved as it is. */
static void load_b128(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    EACH_LANE (l)
        if (ACTIVE(l)) {
            uintptr_t from = ptx_locate(warp, inst, l, 16, false);
            if (!from)
                return;
            memcpy(warp->columns + inst->at[0] + l * 16, (const char *)from, 16);
        }
}

static void store_b128(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    EACH_LANE (l)
        if (ACTIVE(l)) {
            uintptr_t to = ptx_locate(warp, inst, l, 16, true);
            if (!to)
                return;
            memcpy((char *)to, warp->columns + inst->at[0] + l * 16, 16);
        }
}

/* ---- The function of a form ---- */

#define PAIR(kind, M, R) \
    { \
        kind##_##M##_##R, kind##_vector_##M##_##R \
    }
#define BY_REGISTER(kind, M) \
    [1] = PAIR(kind, M, u16), [2] = PAIR(kind, M, u32), [3] = PAIR(kind, M, u64)

/* By the logarithms of the sizes in memory and of the register; alone, as a vector. */
static ptx_fn *const loads[4][4][2] = {
    {BY_REGISTER(load, u8)},
    {BY_REGISTER(load, u16)},
    {[2] = PAIR(load, u32, u32), [3] = PAIR(load, u32, u64)},
    {[3] = PAIR(load, u64, u64)},
};
static ptx_fn *const signed_loads[4][4][2] = {
    {BY_REGISTER(load, s8)},
    {[1] = PAIR(load, u16, u16), [2] = PAIR(load, s16, u32), [3] = PAIR(load, s16, u64)},
    {[2] = PAIR(load, u32, u32), [3] = PAIR(load, s32, u64)},
    {[3] = PAIR(load, u64, u64)},
};
static ptx_fn *const stores[4][4][2] = {
    {BY_REGISTER(store, u8)},
    {BY_REGISTER(store, u16)},
    {[2] = PAIR(store, u32, u32), [3] = PAIR(store, u32, u64)},
    {[3] = PAIR(store, u64, u64)},
};

ptx_fn *ptx_choose_access(const ptx_inst *inst, bool store)
{
    ptx_type type = (ptx_type)inst->form.type[0];
    unsigned bytes = (unsigned)ptx_type_bytes(type), vec = inst->form.vec, column = 0;
    if (bytes * (vec ? vec : 1) > 32 || bytes == 0)
        return NULL;
    for (unsigned k = 0; k < (vec ? vec : 1); k++)
        if (inst->at[k] != 0) { /* not `_` */
            if (column && column != inst->bytes[k])
                return NULL;
            column = inst->bytes[k];
        }
    column = column ? column : bytes == 1 ? 2 : bytes;
    if (bytes == 16)
        return vec ? NULL : store ? store_b128 : load_b128;
    if (column == 16)
        return NULL;
    int memory_log = __builtin_ctz(bytes), column_log = __builtin_ctz(column);
    if (store)
        return stores[memory_log][column_log][vec != 0];
    return (ptx_type_class(type) == 's' ? signed_loads : loads)[memory_log][column_log][vec != 0];
}

/* Any, until the registers' sizes decide (ptx_choose_access). */
CHOICE1(ptx_choose_memory, load_u32_u32)
