"""What a file without a run block is told to add makes it run, whatever its kernel's parameters: paste.py KJIT TEMP.knl"""
import subprocess
import sys

kjit, path = sys.argv[1:]
signatures = [
    "x: f32[]", "x: f32[], y: f32[], n: i64", "a: f32[,], b: f64[,], c: i32[,]", "a: u8[,,]", "a: bool[], flag: bool",
    "n: i32", "", "a: i8, b: u8, c: i16, x: i64[]", "x: f32[], const T: i32 = 16", "x: f32[], const T: i32",
    "x: f32[], const A: f64, const B: bool", "n: f32[], random: f32[], k: f32[], zeros: i32[]", "f32: f64[]", "a: f32[,,,]",
    "x: f32[,], s: f32, h: u32",
]
generics = [("<T: float>", "a: T, x: T[]"), ("<T: int>", "x: T[], n: T"), ("<T>", "x: T[,]"), ("<T: number, U>", "x: T[], y: U[]")]
kernels = [f"kernel k({s}) {{ }}\n" for s in signatures] + [f"kernel k{g}({s}) {{ }}\n" for g, s in generics]
kernels.append("@launch_bounds(64)\nkernel k(x: f32[]) { }\n")
for kernel in kernels:
    with open(path, "w") as file:
        file.write(kernel)
    told = subprocess.run([kjit, "run", path], capture_output=True, text=True)
    assert told.returncode == 2 and "\nrun {" in told.stderr, (kernel, told)
    with open(path, "a") as file:
        file.write(told.stderr[told.stderr.index("run {\n"):])
    done = subprocess.run([kjit, "run", path], capture_output=True, text=True)
    assert done.returncode == 0, (open(path).read(), done)
