#!/usr/bin/env python3
"""What a launch costs from Python, beside the same call in C and through ctypes: python/bench_launch.py

The kernel does next to nothing (saxpy over 16 elements, a block), so what is measured is the way there. Rows are medians of
rounds that take turns, in microseconds a launch, without a stream: the launch has finished when the call returns. `C` is a
program that is compiled here (cc, kjit.h and libkjit are needed: KJIT_BUILD and KJIT_INCLUDE say where) and makes the call
with arrays that it has; `C, wrapped` wraps and frees both arrays in each turn, as is done for NumPy's."""
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.remove(str(pathlib.Path(__file__).resolve().parent))  # the package that was built, not its sources
import kjit

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("KJIT_BUILD", ROOT / "build")).resolve()
INCLUDE = pathlib.Path(os.environ.get("KJIT_INCLUDE", ROOT / "include"))
SOURCE = "kernel saxpy(a: f32, x: f32[], y: f32[]) { let i = grid(1); if i < y.size { y[i] += a * x[i] } }"
N, ROUNDS = 16, 60

C_CODE = r"""
#include <kjit.h>
#include <string.h>

static float data_x[16], data_y[16];
static kjit_context *ctx;
static kjit_module *mod;
static kjit_array *x, *y;

int start(const char *source, int cancellable)
{
    kjit_context_options options = {.device = "cpu", .cancellable = cancellable};
    int64_t n = 16;
    return kjit_context_create(&options, &ctx, NULL, 0) || kjit_module_compile(ctx, "s", source, strlen(source), NULL, &mod) ||
           kjit_array_wrap(ctx, data_x, KJIT_F32, 1, &n, NULL, KJIT_HOST, &x) ||
           kjit_array_wrap(ctx, data_y, KJIT_F32, 1, &n, NULL, KJIT_HOST, &y);
}

int launch(void)
{
    kjit_arg args[] = {kjit_arg_f64(2), kjit_arg_array(x), kjit_arg_array(y)};
    return kjit_launch(mod, "saxpy", &(kjit_config){.grid = {1}, .block = {16}}, args, 3);
}

int launches(int count)
{
    for (int i = 0; i < count; i++)
        if (launch())
            return 1;
    return 0;
}

int wrapped(int count)
{
    int64_t n = 16;
    for (int i = 0; i < count; i++) {
        kjit_array *a, *b;
        kjit_array_wrap(ctx, data_x, KJIT_F32, 1, &n, NULL, KJIT_HOST, &a);
        kjit_array_wrap(ctx, data_y, KJIT_F32, 1, &n, NULL, KJIT_HOST, &b);
        kjit_arg args[] = {kjit_arg_f64(2), kjit_arg_array(a), kjit_arg_array(b)};
        if (kjit_launch(mod, "saxpy", &(kjit_config){.grid = {1}, .block = {16}}, args, 3))
            return 1;
        kjit_array_free(a);
        kjit_array_free(b);
    }
    return 0;
}
"""


def c_library(folder, cancellable):
    """The C code as a library of its own context."""
    source, library = folder / "launch.c", folder / f"launch{cancellable}.so"
    source.write_text(C_CODE)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"-I{INCLUDE}", str(source), "-o", str(library),
                    f"-L{BUILD}", "-lkjit", f"-Wl,-rpath,{BUILD}"], check=True)
    code = ctypes.CDLL(str(library))
    if code.start(SOURCE.encode(), cancellable) or code.launches(10):
        sys.exit("the C program failed")
    return code


def repeated(call):
    def loop(count):
        for _ in range(count):
            call()
    return loop


def saxpy(a, x, y):
    """For Numba."""
    for i in range(y.size):
        y[i] += a * x[i]


def cases(folder):
    """{name: what makes so many launches}"""
    code, plain = c_library(folder, 1), c_library(folder, 0)
    context = kjit.Context(device="cpu")
    kernel = context.compile(SOURCE).saxpy
    launcher = kernel[1, 16]
    device = [context.to_device(memoryview(bytearray(4 * N)).cast("f")) for _ in range(2)]
    view = [memoryview(bytearray(4 * N)).cast("f") for _ in range(2)]
    rows = {
        "C": code.launches,
        "C, not cancellable": plain.launches,
        "C, wrapped": code.wrapped,
        "ctypes": repeated(code.launch),
        "kjit, device arrays": repeated(lambda: launcher(2.0, *device)),
        "kjit, memoryviews": repeated(lambda: launcher(2.0, *view)),
    }
    try:
        import numpy
        x, y = numpy.ones(N, numpy.float32), numpy.zeros(N, numpy.float32)
        rows["kjit, NumPy arrays"] = repeated(lambda: launcher(2.0, x, y))
        rows["kjit, kernel[grid, block] each time"] = repeated(lambda: kernel[1, 16](2.0, x, y))
        import numba
    except ImportError:
        return rows
    jitted = numba.njit(saxpy)
    rows["Numba, njit, NumPy arrays"] = repeated(lambda: jitted(2.0, x, y))
    return rows


def measure(rows, count):
    times = {name: [] for name in rows}
    for call in rows.values():
        call(count)
    for _ in range(ROUNDS):
        for name, call in rows.items():
            start = time.perf_counter()
            call(count)
            times[name].append((time.perf_counter() - start) / count * 1e6)
    return {name: (statistics.median(list_), min(list_)) for name, list_ in times.items()}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory() as folder:
        results = measure(cases(pathlib.Path(folder)), count)
    base = results["C"]
    print(f"{'us a launch':36}  median     least  beyond C")
    for name, (median, least) in results.items():
        print(f"{name:36}  {median:6.2f}    {least:6.2f}    {least - base[1]:+6.2f}")


if __name__ == "__main__":
    main()
