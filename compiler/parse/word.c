/* Words that other languages begin a line with, and what is written here. */
#include <string.h>

#include "parse/parse.h"

#define FUNCTIONS "functions are written 'fn name(x: f32) -> f32 { ... }'"
#define RECORDS "records are written 'record Name { x: f32, y: f32 }'"
#define KERNELS "kernels are written 'kernel name(x: f32[]) { ... }'"
#define SHARED "shared arrays are written 'let s = shared.array((16, 16), f32)'"
#define CHOICES "choices are written 'if n == 1 { ... } elif n == 2 { ... } else { ... }'"
#define USES "other files are used: use \"blur.knl\", and then blur.name; all builtins are there"
#define VARIABLES "variables are declared with 'let' (fixed) or 'var': "

/* begins_block: its block has what is no statement here, or is of no use without its header. */
static const struct word {
    const char *word, *hint;
    bool begins_block;
} words[] = {
    {"def", FUNCTIONS ", " KERNELS, false},
    {"func", FUNCTIONS, false},
    {"function", FUNCTIONS, false},
    {"fun", FUNCTIONS, false},
    {"proc", FUNCTIONS, false},
    {"void", FUNCTIONS ", " KERNELS, true},
    {"__global__", KERNELS, true},
    {"__kernel", KERNELS, true},
    {"subroutine", KERNELS, true},
    {"layout", "a block has the size that its launch says: k[blocks, threads](x)", false},
    {"__device__", FUNCTIONS, true},
    {"__shared__", SHARED, false},
    {"int", VARIABLES "var i: i32 = 0", false},
    {"float", VARIABLES "var x: f32 = 0", false},
    {"double", VARIABLES "var x: f64 = 0", false},
    {"bool", VARIABLES "var b = false", false},
    {"auto", VARIABLES "var x = 0", false},
    {"char", VARIABLES "var c: i8 = 0", false},
    {"short", VARIABLES "var i: i16 = 0", false},
    {"long", VARIABLES "var i: i64 = 0", false},
    {"unsigned", VARIABLES "var i: u32 = 0", false},
    {"size_t", VARIABLES "var i: i64 = 0", false},
    {"half", VARIABLES "var x: f16 = 0", false},
    {"mut", VARIABLES "var x = 0", false},
    {"shared", SHARED, false},
    {"extern", SHARED ", also of a size that the launch gives", true},
    {"switch", CHOICES, true},
    {"match", CHOICES, true},
    {"enum", "enums stand at the top of a file: enum Name { RED, GREEN = 5 }", true},
    {"typedef",
     "names of types are written 'type Cell = u8', " RECORDS ", enums 'enum Name { A, B }'", true},
    {"union", "bits of another type are x.view(u32)", true},
    {"impl", "functions take what they work on as a parameter: fn norm(p: P) -> f32 { ... }", true},
    {"trait", "bounds of types are int, float, complex and number: fn f<T: float>(x: T)", true},
    {"template", "types are left open by generics: fn f<T: float>(x: T) -> T { ... }", false},
    {"namespace", "a file is one namespace", true},
    {"try", "nothing is thrown: a failed assert ends the launch", true},
    {"raise", "nothing is thrown: assert(x > 0, \"text\") ends the launch", false},
    {"throw", "nothing is thrown: assert(x > 0, \"text\") ends the launch", false},
    {"global", "threads share arrays only: parameters and shared.array", false},
    {"static",
     "constants are written 'const N = 16', at the top of a file; nothing is kept from launch to "
     "launch but arrays",
     false},
    {"dim3", "a launch has its grid and block in its brackets: k[(8, 8), (16, 16)](x)", false},
    {"__local", SHARED, false},
    {"goto", "loops have break and continue, functions return", false},
    {"del", "an array is freed with the block that declares it", false},
    {"pub", "all functions can be called everywhere: leave the word out", false},
    {"device", "kernels call functions as they are: leave the word out", false},
    {"inline", "functions are inlined always: leave the word out", false},
    {"__forceinline__", "functions are inlined always: leave the word out", false},
    {"__host__", FUNCTIONS, false},
    {"__launch_bounds__", "write @launch_bounds(256) in front of 'kernel'", false},
    {"__constant__",
     "constant arrays are written 'const W: f32[] = [1, 2]', those that the "
     "host fills 'const W: f32[16]'",
     true},
    {"constexpr", "constants are written 'const N = 16'", false},
    {"override",
     "constants are written 'const N = 16', those that a launch gives 'kernel name(const N: i32)'",
     false},
    {"using", "a file is one namespace; names of types are written 'type Cell = u8'", false},
    {"do", "loops are written 'while condition { ... }'", true},
    {"loop", "loops are written 'while true { ... }'", false},
    {"until", "loops are written 'while condition { ... }'", false},
    {"foreach", "loops are written 'for v in a { ... }'", false},
    {"unless", "write 'if not (condition) { ... }'", false},
    {"assert", "assert is a function: assert(condition, \"message\")", false},
    {"print", "print is a function: print(x)", false},
    {"import", USES, false},
    {"from", USES, false},
    {"include", USES, false},
    {"require", USES, false},
    {"use", "use stands at the top of a file, before all else: use std.sort", false},
    {"unsafe", "write @unchecked { ... } where indices are not to be looked at, else no word",
     false},
    {"local", VARIABLES "var x = 0; an array of a thread's own is local.array(16, f32)", false},
    {"nonlocal", "what a function changes it gives back: x = f(x)", false},
    {"record", "a record stands at the top of a file", true},
    {"struct", RECORDS, true},
    {"class", RECORDS, true},
    {"pass", "an empty block is written { }", false},
    {"lambda", FUNCTIONS ", at the top of a file", false},
    {"elseif", "write 'elif'", false},
    {"elsif", "write 'elif'", false},
};

const char *kj_foreign_word(const char *word, bool *begins_block)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        if (begins_block)
            *begins_block = words[i].begins_block;
        return words[i].hint;
    }
    return NULL;
}
