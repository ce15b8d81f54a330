/* LLVM's passes by their names (target/passes.cc): all that the targets' pipelines have is known, anything else is said to be unknown
 * before a pass has run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "target/passes.h"
#include "target/target.h"

static const char text[] = "define internal void @unused() {\n ret void\n}\n"
                           "define i32 @f(i32 %x) {\n"
                           " %a = alloca i32\n store i32 %x, ptr %a\n %b = load i32, ptr %a\n"
                           " %c = add i32 %b, 0\n ret i32 %c\n}\n";

static LLVMContextRef context;
static LLVMModuleRef module;

static int begin(void **state)
{
    char *error = NULL;
    (void)state;
    context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "text");
    assert_false(LLVMParseIRInContext(context, buffer, &module, &error));
    return 0;
}

static int end(void **state)
{
    (void)state;
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return 0;
}

static int has(const char *word)
{
    char *now = LLVMPrintModuleToString(module);
    int found = strstr(now, word) != NULL;
    LLVMDisposeMessage(now);
    return found;
}

static void test_pipelines(void **state)
{
    (void)state;
    const kj_target_kind *const kinds[] = {&kj_host_target, &kj_ptx_target};
    for (int k = 0; k < 2; k++) {
        for (int level = 0; level < 4; level++)
            assert_true(kj_run_passes(module, kinds[k]->pipelines[level], NULL));
        assert_true(kj_run_passes(module, kinds[k]->large, NULL));
        if (kinds[k]->last)
            assert_true(kj_run_passes(module, kinds[k]->last, NULL));
    }
    assert_true(kj_run_passes(module, kj_light_pipeline, NULL));
    assert_false(has("alloca"));
    assert_false(has("@unused"));
    assert_true(has("ret i32 %x"));
}

/* Each nesting runs what is in it, and only that. */
static void test_nesting(void **state)
{
    (void)state;
    assert_true(
        kj_run_passes(module, "function(loop-simplify,loop-mssa(licm<allowspeculation>))", NULL));
    assert_true(has("alloca") && has("@unused"));
    assert_true(kj_run_passes(module, "function(loop(indvars),sroa<modify-cfg>)", NULL));
    assert_true(!has("alloca") && has("@unused") && has("add i32"));
    assert_true(kj_run_passes(
        module, "function(instcombine<no-verify-fixpoint;max-iterations=1>),globaldce", NULL));
    assert_true(!has("@unused") && !has("add i32"));
}

static void test_unknown(void **state)
{
    (void)state;
    static const char *const wrong[] = {"gvn",
                                        "globaldce,loop-vectorize",
                                        "function(globaldce)",
                                        "function(loop(gvn))",
                                        "gvn(adce)",
                                        "function(adce,gvn<x>)",
                                        "function(function(adce))",
                                        "loop(indvars)",
                                        "function(sroa<modify-cfg>,nonsense)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(kj_run_passes(module, wrong[i], NULL));
        assert_true(has("alloca") && has("@unused"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipelines, begin, end),
        cmocka_unit_test_setup_teardown(test_nesting, begin, end),
        cmocka_unit_test_setup_teardown(test_unknown, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
