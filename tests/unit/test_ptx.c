/* Kernels compiled to PTX for specialisations that `kjit build` does not show. */
#include "parsed.h"

#include <stdio.h>
#include <stdlib.h>

#include "compile.h"
#include "identity.h"
#include "sema/program.h"
#include "target/target.h"

typedef struct built {
    parsed p;
    kj_records *records;
    kj_code code;
    bool ok;
} built;

/* Of a kernel whose parameters are few: C layout, blocks of 256, unless `spec` says otherwise. */
static void build(built *b, const char *text, kj_spec spec, kj_compile_options options)
{
    static const kj_layout layouts[8] = {KJ_LAYOUT_C};
    parse_text(&b->p, text);
    b->records = kj_records_new();
    assert_non_null(b->records);
    const kj_program *program =
        kj_sema_program(&b->p.arena, &b->p.diag, &b->p.file, 1, b->records, false);
    assert_int_equal(b->p.diag.errors, 0);
    if (!spec.layouts)
        spec.layouts = layouts;
    options.verify = true;
    options.arch = options.arch ? options.arch : "sm_90";
    const kj_kernel_decl *kernel = program->kernels;
    b->ok = kj_compile(&b->p.arena, &b->p.diag, program, kernel, &spec, &options, KJ_STAGE_ASM,
                       &b->code);
}

static void done(built *b)
{
    if (b->ok)
        kj_code_free(&b->code);
    close_text(&b->p);
    kj_records_free(b->records);
}

static bool has(const built *b, const char *what)
{
    return b->ok && strstr(b->code.bytes, what);
}

enum { LEVEL = 3 };
static const kj_spec small = {
    .block = {256, 1, 1}, .small = true, .disjoint = true, .aligned = true};

static const char add[] = "kernel add(x: f32[,], y: f32[,]) {\n"
                          "    let j, i = grid(2)\n"
                          "    if i < y.shape[0] and j < y.shape[1] {\n"
                          "        y[i, j] = x[i, j] + 1.0\n"
                          "    }\n"
                          "}\n";

static void arguments_are_slots(void **state)
{
    (void)state;
    built b;
    build(&b, add, small, (kj_compile_options){.opt_level = LEVEL});
    assert_true(b.ok);
    /* slots: x, x.shape[2], x.stride[2], y, y.shape[2], y.stride[2] */
    static const int args[] = {0, 2, 5, 6, 7};
    assert_int_equal(b.code.nargs, 5);
    assert_memory_equal(b.code.args, args, sizeof args);
    assert_string_equal(b.code.entry, "kj_add");
    assert_int_equal(b.code.size, strlen(b.code.bytes));
    done(&b);
}

static void strides_are_arguments_of_strided_arrays(void **state)
{
    (void)state;
    static const kj_layout layouts[] = {KJ_LAYOUT_STRIDED, KJ_LAYOUT_F};
    built b;
    kj_spec spec = small;
    spec.layouts = layouts;
    build(&b, add, spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(b.ok);
    assert_int_equal(b.code.nargs, 6);
    assert_int_equal(b.code.args[0], 0);
    assert_int_equal(b.code.args[1], 3); /* both strides of x */
    assert_int_equal(b.code.args[2], 4);
    assert_int_equal(b.code.args[3], 5);
    done(&b);
}

static void large_launches_have_64_bit_sizes(void **state)
{
    (void)state;
    built b;
    kj_spec spec = small;
    spec.small = false;
    build(&b, add, spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, ".param .u64 kj_add_param_1"));
    assert_true(has(&b, "setp.lt.s64") || has(&b, "setp.ge.s64") || has(&b, "setp.gt.s64") ||
                has(&b, "setp.le.s64"));
    assert_false(has(&b, ".param .u32"));
    done(&b);
}

static void arrays_that_may_overlap_are_not_constant(void **state)
{
    (void)state;
    built b;
    kj_spec spec = small;
    spec.disjoint = false;
    build(&b, add, spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, "ld.global.b32"));
    assert_false(has(&b, "ld.global.nc"));
    done(&b);
}

static void arrays_may_begin_anywhere(void **state)
{
    (void)state;
    built b;
    kj_spec spec = small;
    spec.aligned = false;
    build(&b,
          "kernel k(x: f32[], y: f64[]) {\n"
          "    let i = 2 * threadIdx.x\n"
          "    y[i] = x[i] + x[i + 1]\n"
          "}\n",
          spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, ".ptr .global .align 4 kj_k_param_0"));
    assert_true(has(&b, ".ptr .global .align 8 kj_k_param_1"));
    assert_false(has(&b, ".v2"));
    done(&b);
}

static void blocks_may_be_unknown(void **state)
{
    (void)state;
    built b;
    kj_spec spec = small;
    memset(spec.block, 0, sizeof spec.block);
    build(&b,
          "@launch_bounds(128, 2)\n"
          "kernel k(x: f32[]) {\n"
          "    let i = grid(1)\n"
          "    if i < x.size {\n"
          "        x[i] = f32(blockDim.x)\n"
          "    }\n"
          "}\n",
          spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, "%ntid.x"));
    assert_true(has(&b, ".maxntid 128"));
    assert_true(has(&b, ".minnctapersm 2"));
    assert_false(has(&b, ".reqntid"));
    done(&b);
}

static const char shared[] = "kernel k(x: f32[], n: i32) {\n"
                             "    let a = shared.array(100, f32)\n"
                             "    let b = shared.array(n, f64)\n"
                             "    let c = shared.array(3, u8)\n"
                             "    a[threadIdx.x] = x[0]\n"
                             "    b[threadIdx.x] = 1.0\n"
                             "    c[threadIdx.x] = 1\n"
                             "    syncthreads()\n"
                             "    x[1] = a[3] + f32(b[4]) + c[2]\n"
                             "}\n";

static void static_shared_memory_is_counted(void **state)
{
    (void)state;
    built b;
    build(&b, shared, small, (kj_compile_options){.opt_level = LEVEL});
    assert_true(b.ok);
    assert_int_equal(b.code.shared, 448 + 64); /* each a multiple of 64 */
    assert_true(has(&b, ".extern .shared .align 64 .b8 dynamic_shared[];"));
    done(&b);
    build(&b, "kernel k(x: f32[]) { let a = shared.array(20000, f32)\n a[0] = x[0]\n x[1] = a[0] }",
          small, (kj_compile_options){.opt_level = LEVEL});
    assert_true(b.ok);
    assert_int_equal(b.code.shared, 0); /* more than 48 KiB: all of it dynamic */
    done(&b);
}

static void versions_follow_the_driver(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        int ptx;
        const char *version;
    } rows[] = {{"sm_75", 0, ".version 7.8\n"},
                {"sm_75", 78, ".version 7.8\n"},
                {"sm_80", 82, ".version 8.2\n"},
                {"sm_86", 84, ".version 8.4\n"},
                {"sm_90", 85, ".version 8.5\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        built b;
        build(&b, add, small,
              (kj_compile_options){
                  .opt_level = LEVEL, .arch = rows[i].arch, .ptx_version = rows[i].ptx});
        assert_true(has(&b, rows[i].version));
        assert_true(has(&b, rows[i].arch));
        done(&b);
    }
}

static void expect_error(kj_compile_options options, const char *what)
{
    built b;
    build(&b, "kernel k(x: f32[]) {\n    x[0] = exp(x[0])\n}\n", small, options);
    assert_false(b.ok);
    assert_int_equal(b.p.diag.errors, 1);
    if (!strstr(kj_diag_text(&b.p.diag), what))
        fail_msg("%s", kj_diag_text(&b.p.diag));
    done(&b);
}

static void errors_say_what_is_wrong(void **state)
{
    (void)state;
    expect_error((kj_compile_options){.arch = "sm_70"}, "there is no such GPU");
    expect_error((kj_compile_options){.arch = "sm_90", .ptx_version = 75},
                 "sm_90 needs PTX 7.8, the driver takes PTX 7.5");
    expect_error((kj_compile_options){.libdevice = "/nowhere/lib.bc"},
                 "'/nowhere/lib.bc' cannot be read: ");
    expect_error((kj_compile_options){.libdevice = "/dev/null"}, "'/dev/null' is no bitcode");
}

/* Each level gives code, and the lowest is verified like the others. */
static void all_levels_compile(void **state)
{
    (void)state;
    for (int level = 0; level <= 3; level++) {
        built b;
        build(&b, shared, small, (kj_compile_options){.opt_level = level});
        assert_true(has(&b, ".entry kj_k("));
        assert_true(has(&b, "bar.sync"));
        done(&b);
    }
}

/* Short addresses are a setting of LLVM's, made where nobody else sees it. */
static void the_process_keeps_its_settings(void **state)
{
    static const char triple[] = "nvptx64-nvidia-cuda";
    built b;
    LLVMTargetRef target;
    char *error = NULL;
    (void)state;
    build(&b, add, small, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, "kj_add"));
    done(&b);
    assert_int_equal(LLVMGetTargetFromTriple(triple, &target, &error), 0);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
        target, triple, "sm_90", "", LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    assert_int_equal(LLVMPointerSizeForAS(layout, 3), KJ_LLVM_IS_SHARED ? 8 : 4);
    assert_int_equal(LLVMPointerSizeForAS(layout, 0), 8);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
}

/* The halt is far away: who waits for other blocks counts turns, as loops do. */
static void waits_look_at_the_halt_seldom(void **state)
{
    (void)state;
    static const char text[] = "kernel k(x: i32[]) { x[0] = 1; grid_sync(); x[1] = 1 }\n";
    kj_spec spec = small;
    built b;
    build(&b, text, spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(b.ok && !has(&b, ", 255;"));
    done(&b);
    spec.polls = true;
    build(&b, text, spec, (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, ", 255;"));
    done(&b);
    build(&b, "kernel k(x: i32[]) { x[grid(1)] = 1 }\n", spec,
          (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, "%clock64") && has(&b, "ld.relaxed") == has(&b, "%clock64"));
    done(&b);
}

/* Two steps would let a block that has not begun come in between. */
static void a_loop_says_where_it_was_in_one_step(void **state)
{
    (void)state;
    kj_spec spec = small;
    built b;
    spec.polls = true;
    build(&b, "kernel k(x: i32[]) { while x[0] == 0 { x[1] = 1 } }\n", spec,
          (kj_compile_options){.opt_level = LEVEL});
    assert_true(has(&b, ".max.u32") && !has(&b, ".cas."));
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_slots),
        cmocka_unit_test(strides_are_arguments_of_strided_arrays),
        cmocka_unit_test(large_launches_have_64_bit_sizes),
        cmocka_unit_test(arrays_that_may_overlap_are_not_constant),
        cmocka_unit_test(arrays_may_begin_anywhere),
        cmocka_unit_test(blocks_may_be_unknown),
        cmocka_unit_test(static_shared_memory_is_counted),
        cmocka_unit_test(versions_follow_the_driver),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(all_levels_compile),
        cmocka_unit_test(waits_look_at_the_halt_seldom),
        cmocka_unit_test(a_loop_says_where_it_was_in_one_step),
        cmocka_unit_test(the_process_keeps_its_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
