#!/usr/bin/env python3
"""A kernel on arrays of ctypes, what it prints, and two mistakes; sample.py --layouts: what is where in the structs."""
import sys
from ctypes import POINTER, byref, c_float, c_int64

import kjit_ctypes as kj

SOURCE = b"""
kernel saxpy(a: f32, x: f32[], y: f32[]) {
    requires x.size == y.size
    let i = grid(1)
    if i < y.size { y[i] = a * x[i] + y[i] }
    if i == 0 { print("y[0] is", y[0]) }
}
"""
N = 100_000


def compiled(ctx, name, source):
    module = POINTER(kj.kjit_module)()
    try:
        kj.call(kj.kjit_module_compile, ctx, name, source, len(source), None, byref(module), context=ctx)
    except kj.Error:
        kj.kjit_module_free(module)
        raise
    return module


def wrapped(ctx, data):
    array = POINTER(kj.kjit_array)()
    kj.call(kj.kjit_array_wrap, ctx, data, kj.KJIT_F32, 1, (c_int64 * 1)(len(data)), None, kj.KJIT_HOST, byref(array), context=ctx)
    return array


def launch(ctx, module, x, y):
    config = kj.kjit_config(grid=((N + 255) // 256,), block=(256,))
    args = (kj.kjit_arg * 3)(kj.kjit_arg_f64(2.0), kj.kjit_arg_array(x), kj.kjit_arg_array(y))
    kj.call(kj.kjit_launch, module, b"saxpy", byref(config), args, 3, context=ctx)


def work(device):
    ctx, info, printed = POINTER(kj.kjit_context)(), kj.kjit_device_info(), []
    kj.call(kj.kjit_context_create, byref(kj.kjit_context_options(device=device.encode())), byref(ctx), None, 0)
    kj.call(kj.kjit_context_device, ctx, byref(info), context=ctx)
    print_fn = kj.kjit_print_fn(lambda user, text, size: printed.append(text[:size].decode()))
    kj.kjit_set_print(ctx, print_fn, None)
    module = compiled(ctx, b"saxpy.knl", SOURCE)
    x, y, short = (c_float * N)(*range(N)), (c_float * N)(*[1] * N), (c_float * 3)()
    arrays = [wrapped(ctx, data) for data in (x, y, short)]
    launch(ctx, module, *arrays[:2])
    for what, mistake in (("refused", lambda: launch(ctx, module, arrays[0], arrays[2])),
                          ("wrong", lambda: compiled(ctx, b"wrong.knl", b"kernel f(x: f32[]) { x[0] = sqroot(2.0) }"))):
        try:
            mistake()
        except kj.Error as error:
            print(f"{what}: {error}")
    print("device:", info.name.decode())
    print("printed:", "".join(printed).strip())
    print(f"{N} elements, {sum(y[i] != 2 * i + 1 for i in range(N))} wrong")
    for array in arrays:
        kj.kjit_array_free(array)
    kj.kjit_module_free(module)
    kj.kjit_context_destroy(ctx)


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else "auto"
    if word == "--layouts":
        print("\n".join(kj.layouts()))
        return
    try:
        work(word)
    except kj.Error as error:
        sys.exit(str(error))


main()
