/* Levels of a family of CPUs, and what each has; nothing here asks LLVM. */
#ifndef KJ_CPU_LEVEL_H
#define KJ_CPU_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/* The levels of CPUs there can be code for, lowest first: "x86-64-v2" and so on; NULL past the last. */
const char *kj_cpu_level(int i);
bool kj_is_cpu_level(const char *name);
/* LLVM's features of a level, "+avx,+avx2"; "" for a CPU that is none: LLVM knows those. */
const char *kj_level_features(const char *cpu);

#endif
