/* Levels of CPUs: of x86-64's ABI, and of Arm's architecture; each has what those of its family before it have. */
#include "target/cpu_level.h"

#include <string.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#if defined(__x86_64__)
const kj_cpu_family kj_cpu_here = KJ_X86_64;
#elif defined(__aarch64__)
const kj_cpu_family kj_cpu_here = KJ_AARCH64;
#else
const kj_cpu_family kj_cpu_here = KJ_OTHER_CPU;
#endif

#define V2 "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
#define V3 V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define V4 V3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
#define V8 "+fp-armv8,+neon"
#define V8_1 V8 ",+crc,+lse,+rdm"

static const kj_cpu_level levels[] = {
    {"x86-64-v2", KJ_X86_64, "x86-64-v2", V2},  {"x86-64-v3", KJ_X86_64, "x86-64-v3", V3},
    {"x86-64-v4", KJ_X86_64, "x86-64-v4", V4},  {"armv8-a", KJ_AARCH64, "generic", V8},
    {"armv8.1-a", KJ_AARCH64, "generic", V8_1},
};

enum { NLEVELS = sizeof levels / sizeof *levels };

const kj_cpu_level *kj_cpu_level_at(int i)
{
    return i >= 0 && i < NLEVELS ? &levels[i] : NULL;
}

const kj_cpu_level *kj_cpu_level_named(const char *name)
{
    for (int i = 0; i < NLEVELS; i++)
        if (strcmp(levels[i].name, name) == 0)
            return &levels[i];
    return NULL;
}

#if defined(__aarch64__)

/* As the system tells programs what they may use. */
static const struct {
    const char *feature;
    unsigned long bit;
} told[] = {{"+fp-armv8", HWCAP_FP},
            {"+neon", HWCAP_ASIMD},
            {"+crc", HWCAP_CRC32},
            {"+lse", HWCAP_ATOMICS},
            {"+rdm", HWCAP_ASIMDRDM}};

const char *kj_aarch64_lacks(const kj_cpu_level *level)
{
    unsigned long here = getauxval(AT_HWCAP);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!(here & told[i].bit) && strstr(level->features, told[i].feature))
            return told[i].feature + 1;
    return NULL;
}

#else

const char *kj_aarch64_lacks(const kj_cpu_level *level)
{
    return level->name;
}

#endif

const kj_cpu_level *kj_aarch64_here(void)
{
    const kj_cpu_level *found = kj_cpu_level_named("armv8-a");
    for (int i = 0; i < NLEVELS; i++)
        if (levels[i].family == KJ_AARCH64 && !kj_aarch64_lacks(&levels[i]))
            found = &levels[i];
    return found;
}
