"""Launches, arrays, modules and failures take no memory that is not given back."""
import gc
import resource
import unittest

import kjit
import numpy as np
from support import SAXPY, main, module


def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * resource.getpagesize()


class Growth(unittest.TestCase):
    def grows(self, work, times, most=2 << 20):
        """Bytes by which the process grows when the work is done so many times, after a tenth of them."""
        for i in range(times // 10):
            work(i)
        gc.collect()
        kjit.synchronize()
        before = resident()
        for i in range(times):
            work(i)
        kjit.synchronize()
        gc.collect()
        self.assertLess(resident() - before, most)

    def test_100000_launches(self):
        mod, x, y = module(SAXPY), np.ones(100, np.float32), np.zeros(100, np.float32)
        self.grows(lambda i: mod.saxpy[1, 128](1.0, x, y), 100000)
        self.assertEqual(y[0], 110000)

    def test_100000_launches_in_a_stream(self):
        mod, x, y, stream = module(SAXPY), np.ones(100, np.float32), np.zeros(100, np.float32), kjit.stream()

        def work(i):
            mod.saxpy[1, 128, stream](1.0, x, y)
            if i % 100 == 0:
                stream.synchronize()

        self.grows(work, 100000)

    def test_fresh_arrays_in_a_stream(self):
        mod, stream = module(SAXPY), kjit.stream()

        def work(i):
            x = np.ones(10000, np.float32)
            mod.saxpy[40, 256, stream](1.0, x, x)
            if i % 10 == 0:
                stream.synchronize()

        self.grows(work, 5000, 8 << 20)

    def test_views_and_copies(self):
        x = np.ones((10, 10), np.float32)

        def work(i):
            d = kjit.to_device(x)
            np.asarray(d[1:, ::2]).sum()
            d.copy_to_host()
            np.from_dlpack(d)
            kjit.from_dlpack(x)
            d[3, 4] = d[2, 1]

        self.grows(work, 5000)

    def test_failures(self):
        mod = module("kernel f(x: f32[], i: i32) { x[i] = 1.0 }", warn="off")
        x = np.zeros(4, np.float32)

        def work(i):
            for arguments in ((x, 9), (x, 1.5), (x,), ("text", 1), (np.zeros(3, ">f4"), 1)):
                try:
                    mod.f[1, 1](*arguments)
                except (kjit.Error, TypeError):
                    pass
            try:
                kjit.compile("kernel f( {")
            except kjit.CompileError:
                pass

        self.grows(work, 2000)

    def test_modules(self):
        x = np.zeros(4, np.float32)
        self.grows(lambda i: kjit.compile(SAXPY).saxpy[1, 4](1.0, x, x), 100, 16 << 20)

    def test_records_and_streams(self):
        dtype = np.dtype([("a", "u1"), ("b", "f4")])

        def work(i):
            kjit.to_device(np.zeros(10, dtype))["b"].copy_to_host()
            with kjit.stream() as stream:
                kjit.event().record(stream)

        self.grows(work, 3000)


if __name__ == "__main__":
    main()
