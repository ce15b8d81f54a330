/* Levels of CPUs: of x86-64's ABI, each has what those before it have. */
#include "target/cpu_level.h"

#include <string.h>

#define V2 "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
#define V3 V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define V4 V3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"

static const struct {
    const char *name, *features;
} levels[] = {{"x86-64-v2", V2}, {"x86-64-v3", V3}, {"x86-64-v4", V4}};

#if defined(__x86_64__)
enum { NLEVELS = sizeof levels / sizeof *levels };
#else
enum { NLEVELS = 0 };
#endif

const char *kj_cpu_level(int i)
{
    return i >= 0 && i < NLEVELS ? levels[i].name : NULL;
}

static int level_named(const char *name)
{
    int i = 0;
    while (i < NLEVELS && strcmp(levels[i].name, name) != 0)
        i++;
    return i;
}

bool kj_is_cpu_level(const char *name)
{
    return level_named(name) < NLEVELS;
}

const char *kj_level_features(const char *cpu)
{
    int i = level_named(cpu);
    return i < NLEVELS ? levels[i].features : "";
}
