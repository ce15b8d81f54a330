/* The texts of std/, which stand in the program (Makefile, gen/std.inc). */
#include "module/library.h"

#define STD(name) extern const char kj_std_##name[], kj_std_##name##_end[];
#include "std.inc"
#undef STD

const kj_library_file kj_library[] = {
#define STD(name) {#name, kj_std_##name, kj_std_##name##_end},
#include "std.inc"
#undef STD
};

const int kj_nlibrary = sizeof kj_library / sizeof *kj_library;
