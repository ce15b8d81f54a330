"""Modules as machine code: made into bytes, and of them again."""
import array
import gc
import subprocess
import sys
import tempfile
import unittest

import kjit
from support import main

SOURCE = """
record Cell { x: i32, y: i32 }
# Scales.
kernel scale<T: number>(x: T[], by: T) { let i = grid(1); if i < x.size { x[i] *= by } }
kernel cells(c: Cell[]) { let i = grid(1); if i < c.size { c[i].y = c[i].x } }
"""


def floats(*values):
    return array.array("f", values)


class Images(unittest.TestCase):
    def setUp(self):
        self.context = kjit.Context("cpu")
        self.module = self.context.compile(SOURCE)

    def image(self, **words):
        self.module.scale[1, 64](floats(1, 2), 3)
        return self.module.image(**words)

    def test_round_trip(self):
        image = self.image()
        self.assertIs(type(image), bytes)
        for given in (image, bytearray(image), memoryview(image)):
            made = self.context.from_image(given)
            if isinstance(given, bytearray):
                given[:] = bytes(len(given))  # the module has a copy
            x = floats(1, 2, 3)
            made.scale[1, 64](x, 2)
            self.assertEqual(list(x), [2, 4, 6])
        self.assertEqual(made.kernels, ("scale", "cells"))
        self.assertEqual(made.records, ("Cell",))
        self.assertEqual(made.source, "")

    def test_work_outlives_module(self):
        image = self.image()
        x, stream = self.context.array(3, "f32"), self.context.stream()
        x.fill(1)
        for _ in range(20):
            self.context.from_image(image).scale[1, 64, stream](x, 2)
            gc.collect()
        stream.synchronize()
        self.assertEqual(list(x.copy_to_host()), [2.0 ** 20] * 3)

    def test_another_process(self):
        with tempfile.NamedTemporaryFile(suffix=".img") as file:
            file.write(self.image())
            file.flush()
            text = ("import sys, array, kjit\ny = array.array('f', [1, 2])\n"
                    "kjit.from_image(open(sys.argv[1], 'rb').read(), context=kjit.Context('cpu')).scale[1, 64](y, 5)\nprint(y.tolist())")
            told = subprocess.run([sys.executable, "-c", text, file.name], capture_output=True, text=True)
        self.assertEqual((told.stdout, told.stderr), ("[5.0, 10.0]\n", ""))

    def test_targets(self):
        both = self.image(cpus=["x86-64-v2", "armv8-a"], archs="sm_75")
        for word in (b"x86-64-v2", b"armv8-a", b"sm_75"):
            self.assertIn(word, both)
        with self.assertRaisesRegex(kjit.CompileError, "'abacus' is no level of CPUs"):
            self.module.image("abacus")
        with self.assertRaisesRegex(kjit.ArgumentError, "cpus is a text, or several in a list, not"):
            self.module.image(cpus=3)
        with self.assertRaisesRegex(kjit.DeviceError, "which this CPU does not run"):
            self.context.from_image(self.image(cpus="", archs="sm_75"))

    def test_refused(self):
        image = self.image()
        for wrong in (b"", b"kjimage1", image[:-1], image[:100] + b"!" + image[101:]):
            with self.assertRaisesRegex(kjit.InvalidError, "no image of a module"):
                self.context.from_image(wrong)
        with self.assertRaisesRegex(kjit.ArgumentError, r"an image is bytes, as Module.image\(\) gives them, not"):
            kjit.from_image("text")
        with self.assertRaisesRegex(kjit.ArgumentError, "a context is meant"):
            kjit.from_image(image, context=3)
        made = self.context.from_image(image)
        for _ in range(2):
            with self.assertRaisesRegex(kjit.CompileError, r"has no code for block \(32, 1, 1\)"):
                made.scale[1, 32](floats(1), 2)
        for refused in (lambda: made.emit("llvm"), lambda: made.emit("ptx", arch="sm_90"), made.image):
            with self.assertRaises(kjit.InvalidError):
                refused()
        with self.assertRaises(kjit.NotFoundError):
            made.run()


main()
