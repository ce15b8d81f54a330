/* LLVM IR -> code for the CPU this runs on, or for a GPU.
 *
 * What is particular to a target is a kj_target_kind; opening, optimising, emitting are alike. */
#ifndef KJ_TARGET_H
#define KJ_TARGET_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "kernel.h"

typedef struct kj_target_kind kj_target_kind;

typedef struct kj_target {
    const kj_target_kind *kind;
    LLVMTargetMachineRef machine;
    char *machine_name; /* of machines that are alike */
    int machine_uses;   /* compilations that had it, with this one */
    char *triple, *cpu, *features;
    int vector; /* f32 in the widest vector register */
    bool x86;
    bool half;   /* a CPU that converts f16 */
    bool no_fma; /* a CPU without fused multiply-adds */
    int sm;      /* a GPU's generation: 75, 90 */
} kj_target;

/* Functions that can fail give NULL, or what is wrong in a string for LLVMDisposeMessage. */
struct kj_target_kind {
    /* Fills the target but for its kind. */
    char *(*open)(kj_target *t, const kj_compile_options *options);
    /* kj_target_name. */
    const char *(*name)(kj_arena *arena, const kj_compile_options *options);
    /* Of LLVM's passes, for optimisation levels 0 to 3. */
    const char *pipelines[4];
    /* The same where a function has more than so many instructions as it is lowered: what most
     * passes take grows faster than these. Code is generated the quickest way, too. */
    const char *large;
    int large_code;
    int large_registers; /* and more vector registers of values than this after them: code alone */
    /* Of levels 2 and 3, for blocks that are no longer long; may be NULL. */
    const char *last;
    /* What is left to do with the optimised module, of n kernels, and to say of them; may be NULL. */
    void (*finish)(kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                   LLVMModuleRef module, kj_code *out, int n);
    bool gpu; /* its code is text, and calls are dear in it */
};

extern const kj_target_kind kj_host_target, kj_ptx_target;
/* What -O1 does on every target. Without vector-combine: LLVM 22's joins conversions of vectors of two types there. */
extern const char kj_light_pipeline[];

/* Before anything else of LLVM's: its fatal errors end the step that is guarded, not the process. */
void kj_target_ready(void);
/* Runs what makes LLVM ready for a target, once. Where memory has run out in one such, of any target, it ends as
 * KJ_NO_ROOM, and so does each later call. */
void kj_make_ready(void (*initialise)(void), bool *ready);
/* A string that LLVM has made: without memory it is NULL, and the guarded step ends. */
char *kj_llvm_text(char *text);
char *kj_message_of(const char *text); /* a copy, for LLVMDisposeMessage; as kj_llvm_text */

/* All but `kj_target_close` leave what they find to it, also when they fail. */
char *kj_target_open(kj_target *t, const kj_compile_options *options);
void kj_target_describe(kj_target *t, LLVMModuleRef module); /* triple and data layout */
int kj_target_code(LLVMModuleRef module);                    /* instructions of all functions */
int kj_target_largest(LLVMModuleRef module);  /* instructions of its largest function */
char *kj_target_verify(LLVMModuleRef module); /* what LLVM finds wrong with it */
char *kj_target_optimise(kj_target *t, LLVMModuleRef module, const kj_compile_options *options);
char *kj_target_emit(kj_target *t, LLVMModuleRef module, LLVMCodeGenFileType type,
                     LLVMMemoryBufferRef *out);
void kj_target_close(kj_target *t);

/* ---- machine.c ---- */

/* The target machine of t->triple, t->cpu and t->features, in the place of the one there was: made, or left by a
 * compilation that has ended. */
char *kj_target_machine(kj_target *t, LLVMCodeGenOptLevel level);
void kj_target_leave_machine(kj_target *t); /* if it has one */

/* ---- ptx_floats.c ---- */

/* Before PTX is written: around what NVIDIA's assembler makes of floats. */
void kj_ptx_mend_floats(LLVMModuleRef module);

/* ---- ptx_words.c ---- */

/* Before PTX is written: around what NVIDIA's assembler makes of products of 64 bits whose low word is zero. */
void kj_ptx_mend_words(LLVMModuleRef module);

/* ---- ptx_text.c ---- */

/* The same of what LLVM itself makes as it writes; gives the text that is right, which takes the other's place; NULL:
 * out of memory. */
LLVMMemoryBufferRef kj_ptx_mend_text(LLVMMemoryBufferRef ptx);

/* ---- soft_fma.c ---- */

/* Calls of llvm.fma become calls of functions, which `adapt` gives the attributes of the module's. */
void kj_soften_fma(LLVMModuleRef module, void (*adapt)(LLVMModuleRef module, LLVMValueRef f));

/* An attribute of LLVM's by its name, of a call or of a part of it. */
void kj_call_attribute(LLVMValueRef call, LLVMAttributeIndex at, const char *name, uint64_t value);

/* ---- hidden.c ---- */

/* The value, an integer or a pointer, in a register of a CPU, as one of which LLVM knows nothing; and a number of
 * so many bits. It costs no instruction, and what depends on nothing else may move. */
LLVMValueRef kj_hidden(LLVMBuilderRef b, LLVMValueRef v);
LLVMValueRef kj_hidden_number(LLVMBuilderRef b, uint64_t number, unsigned bits);

/* ---- store_masks.c ---- */

/* Before code for a CPU with AVX-512 is selected: its stores write no more than their lanes. */
void kj_hide_store_masks(LLVMModuleRef module);

/* ---- byte_quotients.c ---- */

/* Before code for an x86 CPU is selected: quotients of few bytes are those of half words, which LLVM makes right code of. */
void kj_widen_byte_quotients(LLVMModuleRef module);

/* ---- high_products.c ---- */

/* Before code for a CPU is selected: upper parts of products of few bits are what they are. */
void kj_narrow_high_products(LLVMModuleRef module);

/* ---- lane_range.c ---- */

/* The least and the greatest number of any lane, as signed ones. */
typedef struct kj_lane_range {
    int64_t least, most;
} kj_lane_range;
typedef enum kj_lane_call {
    KJ_LANE_OTHER,
    KJ_LANE_ABS,
    KJ_LANE_SMIN,
    KJ_LANE_SMAX,
    KJ_LANE_UMIN,
    KJ_LANE_UMAX
} kj_lane_call;
typedef bool kj_lane_known(const void *ctx, LLVMValueRef v, kj_lane_range *out);

/* Of a vector of integers, else 0. */
unsigned kj_lane_bits(LLVMTypeRef type);
/* Of a constant vector, whose lanes are all known. */
bool kj_lane_constants(LLVMValueRef v, kj_lane_range *out);
/* Which intrinsic an instruction calls. */
kj_lane_call kj_lane_call_of(LLVMValueRef v);
bool kj_is_extension(LLVMValueRef v);
/* Of an instruction of 32 bits a lane, by what is known of its operands; where these would be beyond 32 bits, they have
 * not wrapped. False: it may be any. */
bool kj_lane_range_of(LLVMValueRef v, kj_lane_known *known, const void *ctx, kj_lane_range *out);

/* ---- narrow_sums.c ---- */

/* Before code for a CPU is selected: what 16 bits hold, or 8, is computed in these. */
void kj_narrow_sums(LLVMModuleRef module);
/* Are there vectors of 8 or 16 bits that are widened? */
bool kj_widens_bytes(LLVMModuleRef module);

/* ---- counted_lanes.c ---- */

/* Before code for a CPU with AVX-512 is selected: what masks add is selected. */
void kj_select_sums(LLVMModuleRef module);

/* ---- mathlink.c ---- */

/* Definitions of the math functions that a module calls; for a GPU from the bitcode in the file
 * `libdevice` unless that is NULL. */
char *kj_link_math(const kj_target *t, LLVMModuleRef module, const char *libdevice);

#endif
