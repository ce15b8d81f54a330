"""Thousands of calls, right and wrong ones mixed, also by several threads at once: what they are given has as many references as
before, no memory is kept, and what is refused is a kjit.Error."""
import array
import ctypes
import gc
import random
import resource
import sys
import threading
import unittest
import warnings

import kjit
import numpy as np
from support import main, module

SOURCE = """
record A { v: f32x2 }
record B { v: f32[2] }
record E { y: bf16, x: f32 }
kernel saxpy(a: f32, x: f32[], y: f32[]) { let i = grid(1); if i < y.size { y[i] += a * x[i] } }
kernel bad(x: f32[], i: i32) { x[i] = 1.0 }
kernel vec(v: u32x2, p: A, x: f32[]) { x[0] = f32(v.x) + p.v.x }
kernel b(p: B[]) { p[0].v[0] = 1.0 }
kernel e(p: E[]) { p[0].x = 1.0 }
kernel any<T: float>(x: T[], y: T) { x[0] = y }
kernel c(x: f32[], const n: i32 = 2) { x[0] = f32(n) }
run { param n = 1; param x: f32[] = zeros(2); let y = x * n }
"""
CALLS = 6000


class OwnError(Exception):
    """Of the objects below."""


class Index:
    def __index__(self):
        return 3


class NoIndex:
    def __index__(self):
        raise OwnError


class Interface:
    def __init__(self, x):
        self.x, self.__array_interface__ = x, x.__array_interface__


class Foreign:
    __cuda_array_interface__ = {"shape": (2,), "typestr": "<f4", "data": (1234, False), "version": 3, "strides": None}


class NoTensor:
    def __dlpack__(self, **_):
        raise OwnError

    def __dlpack_device__(self):
        return 1, 0


def objects(mod):
    """What a program may hand to anything."""
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    return [
        None, "s", "x", "v", "f32", "f32x2", b"abc", 1, -1, 1 << 70, 1.5, float("nan"), 1e300, True, 1j, (1, 2), [1, 2], ((1, 2),), (1, 2, 3),
        {}, set(), range(3), object(), float, kjit, slice(0, 2), slice(None), Ellipsis, np.float32, "nonsense", Index(), NoIndex(),
        Interface(np.zeros(4, np.float32)), NoTensor(), read_only, np.zeros(8, "f4"), np.zeros(8, "f8"), np.zeros(8, ">f4"),
        np.zeros((2, 4), "f4")[:, ::2], np.float32(2), np.float64(2), np.int64(3), np.bool_(True), np.zeros(3, mod.A.dtype),
        np.zeros(3, mod.B.dtype), np.zeros(3, mod.E.dtype), np.zeros(3, mod.A.dtype)[0], np.zeros(2, [("q", "i4")]), np.array(["a"]),
        np.array([None]), np.zeros(0, "f4"), np.array(3.0, "f4"), array.array("f", [1, 2, 3]), bytearray(16),
        memoryview(np.zeros(4, "f4")), (ctypes.c_float * 4)(), kjit.to_device(np.zeros(8, "f4")), kjit.device_array(3, mod.A),
        kjit.device_array(3, "f32x2"), kjit.device_array(3, "bf16"), kjit.stream(), kjit.event(), mod, mod.saxpy, mod.A,
        kjit.In(np.zeros(4, "f4")), kjit.In("s"), kjit.Out(np.zeros(4, "f4")), *([Foreign()] if kjit.default_context().device.kind == "cpu" else []),
    ]


class Mixed(unittest.TestCase):
    def setUp(self):
        self.mod = module(SOURCE, warn="off")
        self.objects = objects(self.mod)
        self.arrays = [o for o in self.objects if isinstance(o, kjit.Array)]
        self.streams = [None, 0, kjit.stream(), kjit.stream()]

    def launch(self, r):
        mod, some = self.mod, r.choice(self.objects)
        kernel = r.choice([mod.saxpy, mod.bad, mod.vec, mod.b, mod.e, mod.any, mod.c, mod["nothing"]])
        named = {} if r.random() < .8 else {r.choice("xyanqp"): some}
        stream = r.choice(self.streams)
        launcher = kernel.forall(r.randrange(9), stream) if r.random() < .3 else kernel[r.choice([1, 2, (1, 1), 0, "a"]), 8, stream]
        launcher(*(r.choice(self.objects) for _ in range(r.randrange(4))), **named)

    def right(self, r):
        x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
        self.mod.saxpy[1, 8, r.choice(self.streams)](2.0, x, y)
        self.mod.b.forall(1)(np.zeros(3, self.mod.B.dtype))

    def of_an_array(self, r):
        d, some, stream = r.choice(self.arrays), r.choice(self.objects), r.choice(self.streams)
        r.choice([lambda: d[some], lambda: d.__setitem__(r.choice([0, slice(None), slice(0, 2)]), some), lambda: d.fill(some, stream),
                  d.copy_to_host, lambda: d.copy_to_device(some, stream), lambda: d.view(some), lambda: d.reshape(some),
                  lambda: d.field(some), lambda: memoryview(d), lambda: repr(d) + str(d), lambda: kjit.from_dlpack(some),
                  lambda: kjit.asarray(some), lambda: kjit.to_device(some), lambda: d.transpose(some),
                  lambda: kjit.device_array(4, some)])()

    def others(self, r):
        mod, some, stream = self.mod, r.choice(self.objects), r.choice(self.streams)

        def events():
            event = kjit.event()
            event.record(stream)
            event.query()
            event.wait(r.choice(self.streams))
            event.elapsed_time(r.choice([event, some]))

        def fault():
            with kjit.stream() as own:
                mod.bad[1, 1, own](np.zeros(4, np.float32), r.choice([1, 9]))

        r.choice([events, fault, lambda: mod.set_const("x", some), lambda: mod.saxpy.parameters, lambda: mod.saxpy.__doc__,
                  lambda: getattr(mod, str(some)), lambda: mod.record(some), lambda: mod[some], lambda: kjit.stream().wait(some),
                  kjit.synchronize])()

    def seldom(self, r):
        mod, some = self.mod, r.choice(self.objects)
        options = {} if r.random() < .5 else {r.choice(["warn", "check", "path", "sources", "name", "q", "cpu", "arch"]): some}
        r.choice([lambda: kjit.compile(r.choice([some, "kernel f(", "kernel f(x: f32[]) { x[0] = 1.0 }"]), **options),
                  lambda: mod.run(n=some, x=r.choice(self.objects)), lambda: mod.saxpy.emit(r.choice(["ast", some])),
                  lambda: mod.emit("ast", some)])()

    def work(self, seed, calls):
        r = random.Random(seed)
        for _ in range(calls):
            call = r.choices([self.launch, self.right, self.of_an_array, self.others, self.seldom], [10, 3, 8, 4, .3])[0]
            try:
                call(r)
            except (kjit.Error, OwnError):
                pass
            except (RuntimeError, TypeError, BufferError) as error:  # of NumPy's DLPack; of a name that is no str
                self.assertRegex(str(error), "DLTensor|DLPack|attribute name|_emit|str")

    def settle(self):
        """All work has ended, and its failures have been told."""
        for _ in range(100):
            try:
                kjit.synchronize()
                break
            except kjit.Error:
                pass
        kjit.default_context().deallocate_pending()
        gc.collect()

    def counts(self):
        self.settle()
        return [sys.getrefcount(o) for o in self.objects if not isinstance(o, (int, str, tuple, type(None), type(Ellipsis), type))]

    def resident(self):
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * resource.getpagesize()

    def run(self, result=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().run(result)

    def test_by_one(self):
        self.work(1, CALLS // 2)
        before, held = self.counts(), self.resident()
        self.work(2, CALLS)
        self.assertEqual(self.counts(), before)
        self.assertLess(self.resident() - held, 24 << 20)

    def test_by_several(self):
        self.work(3, 200)
        before, failed = self.counts(), []

        def work(seed):
            try:
                self.work(seed, CALLS // 8)
            except BaseException as error:
                failed.append(repr(error))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(10, 14)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failed, self.counts()), ([], before))


if __name__ == "__main__":
    main()
