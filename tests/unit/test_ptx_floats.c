/* Code that is written around what NVIDIA's assembler makes of floats (target/ptx_floats.c), on LLVM modules by hand: what
 * LLVM makes such stores of changes with what it does to loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "target/target.h"

/* A function of these lines, as it is mended; for LLVMDisposeMessage. */
static char *mended(const char *lines)
{
    char text[1024];
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module;
    kj_snprintf(text, sizeof text,
                "define void @f(half %%h, float %%x, ptr %%p) {\n%s\nret void\n}\n", lines);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "f.ll");
    assert_false(LLVMParseIRInContext(context, buffer, &module, NULL));
    kj_ptx_mend_floats(module);
    char *out = LLVMPrintModuleToString(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return out;
}

static void expect_bits(const char *lines, const char *mov, const char *store)
{
    char *out = mended(lines);
    assert_non_null(strstr(out, mov));
    assert_non_null(strstr(out, store));
    LLVMDisposeMessage(out);
}

static void expect_same(const char *lines)
{
    char *out = mended(lines);
    assert_null(strstr(out, "asm"));
    LLVMDisposeMessage(out);
}

static void test_stores_by_bytes(void **state)
{
    (void)state;
    expect_bits("store half %h, ptr %p, align 1", "asm \"mov.b16 $0, $1;\"", "store i16");
    expect_bits("store float %x, ptr %p, align 2", "asm \"mov.b32 $0, $1;\"", "store i32");
    expect_bits("%b = bitcast float %x to i32\nstore i32 %b, ptr %p, align 1", "asm \"mov.b32",
                "store i32");
    expect_same("store half %h, ptr %p, align 2");
    expect_same("store half 0xH3C00, ptr %p, align 1");
    expect_same("%b = bitcast float %x to i32\nstore i32 %b, ptr %p, align 4");
}

static void test_low_bits(void **state)
{
    (void)state;
    expect_bits("%b = bitcast float %x to i32\n%t = trunc i32 %b to i8\nstore i8 %t, ptr %p",
                "asm \"mov.b32", "trunc i32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores_by_bytes),
        cmocka_unit_test(test_low_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
