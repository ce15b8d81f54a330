/* Levels of families of CPUs, and what each has; nothing here asks LLVM. */
#ifndef KJ_CPU_LEVEL_H
#define KJ_CPU_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum kj_cpu_family { KJ_X86_64, KJ_AARCH64, KJ_OTHER_CPU } kj_cpu_family;

typedef struct kj_cpu_level {
    const char *name; /* "x86-64-v2", "armv8-a" */
    kj_cpu_family family;
    const char *cpu, *features; /* as LLVM has them: "+avx,+avx2" */
} kj_cpu_level;

extern const kj_cpu_family kj_cpu_here;
/* The levels of CPUs there can be code for, those of a family behind each other, lowest first; NULL past the last. */
const kj_cpu_level *kj_cpu_level_at(int i);
const kj_cpu_level *kj_cpu_level_named(const char *name); /* or NULL */
/* Of a level of aarch64, there: what this CPU lacks, or NULL. */
const char *kj_aarch64_lacks(const kj_cpu_level *level);
/* The highest level of aarch64 that this CPU has, there. */
const kj_cpu_level *kj_aarch64_here(void);

#endif
