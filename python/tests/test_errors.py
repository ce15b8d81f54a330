"""Exceptions: which, with what text and fields; warnings."""
import pathlib
import pickle
import tempfile
import unittest
import warnings

import kjit
import numpy as np
from support import ENDLESS, SAXPY, cases, main, module

STATUS = {
    "InvalidError": ValueError, "OutOfMemoryError": MemoryError, "NotFoundError": LookupError, "ArgumentError": TypeError,
    "ShapeError": ValueError, "LaunchError": ValueError, "FileError": OSError, "Timeout": TimeoutError, "Timeout ": kjit.Fault,
    "AbsentError": AttributeError, "RangeError": OverflowError, "ElementError": IndexError, "ExportError": BufferError,
    "Cancelled": kjit.Fault, "Fault": kjit.Error, "CompileError": kjit.Error, "DeviceError": kjit.Error, "LimitError": kjit.Error,
}


@cases({name: (getattr(kjit, name.strip()), base) for name, base in STATUS.items()})
class Classes(unittest.TestCase):
    def check(self, error, base):
        self.assertTrue(issubclass(error, base) and issubclass(error, kjit.Error))
        self.assertEqual(error.__module__, "kjit")
        self.assertEqual(str(error("text")), "text")


class Compiling(unittest.TestCase):
    def test_located(self):
        with self.assertRaises(kjit.CompileError) as caught:
            kjit.compile("kernel f(x: f32[]) {\n    x[0] = sqroot(x[1])\n    y = 3\n}", name="f.knl")
        text, diagnostics = str(caught.exception), caught.exception.diagnostics
        self.assertIn("f.knl:2:12: error: 'sqroot' is not declared", text)
        self.assertIn("^~~~~~", text)
        self.assertIn("hint: did you mean 'sqrt'?", text)
        self.assertEqual((diagnostics[0].severity, diagnostics[0].file, diagnostics[0].line, diagnostics[0].column), ("error", "f.knl", 2, 12))
        self.assertEqual((diagnostics[0].end_column, diagnostics[0].hint, diagnostics[0].code), (18, "did you mean 'sqrt'?", "undeclared"))
        self.assertEqual(len(diagnostics), 2)
        self.assertEqual(caught.exception.status, "KJIT_COMPILE")

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kjit.compile("kernel f(x: f32[]) {\n    let y = 3\n    x[0] = 1.0\n}", name="w.knl")
        self.assertEqual((len(caught), caught[0].category, caught[0].filename, caught[0].lineno), (1, kjit.KernelWarning, "w.knl", 2))
        self.assertIn("'y'", str(caught[0].message))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(kjit.KernelWarning):
                kjit.compile("kernel f(x: f32[]) {\n    let y = 3\n    x[0] = 1.0\n}")
            kjit.compile("kernel f(x: f32[]) {\n    let y = 3\n    x[0] = 1.0\n}", warn="off")
        with self.assertRaises(kjit.CompileError):
            kjit.compile("kernel f(x: f32[]) {\n    let y = 3\n    x[0] = 1.0\n}", warn="error")

    def test_options(self):
        for options, error in (({"warn": "nonsense"}, kjit.InvalidError), ({"check": "nonsense"}, ValueError), ({"nonsense": 1}, TypeError),
                               ({"sources": {"a": 3}}, TypeError), ({"opt_level": 7}, kjit.InvalidError), ({"cpu": "i386"}, kjit.Error)):
            with self.subTest(options=options), self.assertRaises(error):
                kjit.compile(SAXPY, **options)
        for source in (5, None, b"kernel"):
            with self.assertRaises((TypeError, AttributeError)):
                kjit.compile(source)

    def test_optimisation(self):
        for level in range(4):
            y = np.zeros(3, np.float32)
            kjit.compile(SAXPY, opt_level=level).saxpy[1, 4](2.0, np.ones(3, np.float32), y)
            self.assertEqual(y.tolist(), [2] * 3)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saxpy.knl")
            with self.assertRaises(kjit.FileError):
                kjit.compile(path)
            path.write_text(SAXPY)
            for source in (path, str(path)):
                self.assertEqual(kjit.compile(source).kernels, ("saxpy",))
            self.assertIn("y += a * x", kjit.compile(path).saxpy.__doc__)
            pathlib.Path(folder, "bad.knl").write_text("kernel f( {")
            with self.assertRaisesRegex(kjit.CompileError, "bad.knl:1:"):
                kjit.compile(str(pathlib.Path(folder, "bad.knl")))

    def test_use_of_nothing(self):
        with self.assertRaises(kjit.CompileError):
            kjit.compile('use "nothing.knl"\nkernel f(x: f32[]) { x[0] = 1.0 }')


class Faults(unittest.TestCase):
    def fault(self, source, *arguments, launch=(2, 4), error=kjit.Fault, **options):
        mod = kjit.compile(source, name="fault.knl", **{"warn": "off", **options})
        with self.assertRaises(error) as caught:
            mod[mod.kernels[0]][launch](*arguments)
        return caught.exception

    def test_bounds(self):
        fault = self.fault("kernel f(x: f32[]) {\n    let i = grid(1)\n    x[i + 1] = 1.0\n}", np.zeros(5, np.float32))
        self.assertEqual((fault.kind, fault.array, fault.axis, fault.index, fault.extent), ("bounds", "x", 0, 5, 5))
        self.assertEqual((fault.file, fault.line, fault.column, fault.kernel), ("fault.knl", 3, 7, "f"))
        self.assertEqual((fault.block, fault.thread), ((1, 0, 0), (0, 0, 0)))
        self.assertEqual(fault.status, "KJIT_FAULT")
        self.assertIn("fault.knl:3:7: error: index 5 is outside of 'x', which has 5 elements", str(fault))
        self.assertTrue(fault.message.startswith("index 5 is outside"))

    def test_negative_index(self):
        fault = self.fault("kernel f(x: f32[,]) { x[0, i32(grid(1)) - 3] = 1.0 }", np.zeros((2, 3), np.float32))
        self.assertEqual((fault.index, fault.axis), (-3, 1))

    def test_assert(self):
        fault = self.fault("kernel f(x: f32[]) { assert(x[0] == 1.0) }", np.zeros(5, np.float32))
        self.assertEqual((fault.kind, fault.array, fault.index), ("assert", None, 0))

    def test_race(self):
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("a CPU finds races")
        fault = self.fault("kernel f(x: f32[]) { x[0] = f32(grid(1)) }", np.zeros(5, np.float32), check="race")
        self.assertEqual((fault.kind, fault.access, fault.other_access, fault.other_line), ("race", "write", "write", 1))
        self.assertIsNotNone(fault.other_thread)

    def test_barrier(self):
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("a CPU finds them")
        fault = self.fault("kernel f(x: f32[]) { if threadIdx.x < i32(x[0]) { syncthreads() } }", np.ones(5, np.float32))
        self.assertEqual((fault.kind, fault.arrived, fault.expected, fault.thread), ("barrier", 1, 4, None))

    def test_several_checks(self):
        fault = self.fault("kernel f(x: f32[]) { x[0] = x[1] / x[2] }", np.zeros(5, np.float32), check=["nan", "index"], launch=(1, 1))
        self.assertEqual(fault.kind, "nan")

    def test_timeout(self):
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("the default context is not cancellable")
        mod = module(ENDLESS, warn="off")
        with self.assertRaises(kjit.Timeout) as caught:
            mod.endless[1, 1].within(50)(np.zeros(1, np.float32))
        self.assertEqual((caught.exception.kind, caught.exception.status), ("timeout", "KJIT_TIMEOUT"))

    def test_in_a_stream(self):
        mod = module("kernel f(x: f32[]) { x[7] = 1.0 }", warn="off")
        stream = kjit.stream()
        mod.f[1, 1, stream](np.zeros(5, np.float32))
        with self.assertRaises(kjit.Fault) as caught:
            stream.synchronize()
        self.assertEqual(caught.exception.index, 7)
        stream.synchronize()
        with self.assertRaises(kjit.Fault):
            with kjit.stream() as stream:
                mod.f[1, 1, stream](np.zeros(5, np.float32))

    def test_by_events(self):
        """Whatever waits for a stream's work, or sees that it has ended, raises its failure, once."""
        mod = module("kernel f(x: f32[]) { x[7] = 1.0 }", warn="off")

        def polled(thing):
            while not thing.query():
                pass

        for wait in (lambda stream, start, end: end.synchronize(), lambda stream, start, end: end.wait(),
                     lambda stream, start, end: polled(end), lambda stream, start, end: polled(stream),
                     lambda stream, start, end: kjit.synchronize(), lambda stream, start, end: stream.__exit__(None, None, None)):
            stream, start, end = kjit.stream(), kjit.event(), kjit.event()
            start.record(stream)
            mod.f[1, 1, stream](np.zeros(5, np.float32))
            end.record(stream)
            with self.assertRaises(kjit.Fault) as caught:
                wait(stream, start, end)
            self.assertEqual(caught.exception.index, 7)
            end.synchronize()
            stream.synchronize()
            self.assertGreaterEqual(start.elapsed_time(end), 0)
        mod.f[1, 1, stream](np.zeros(5, np.float32))
        end.record(stream)
        end.record()  # without a stream it waits, and was put into none
        end.synchronize()
        with self.assertRaises(kjit.Fault):
            kjit.synchronize()

    def test_elapsed(self):
        mod = module("kernel f(x: f32[]) { x[7] = 1.0 }", warn="off")
        stream, start, end = kjit.stream(), kjit.event(), kjit.event()
        start.record(stream)
        mod.f[1, 1, stream](np.zeros(5, np.float32))
        end.record(stream)
        other = kjit.stream()
        other.wait(end)
        other.synchronize()  # its own work has not failed
        with self.assertRaises(kjit.Fault):
            start.elapsed_time(end)

    def test_event_before_more_work(self):
        """An event's failure is told while the stream still works."""
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("the default context is not cancellable")
        bad, endless = module("kernel f(x: f32[]) { x[7] = 1.0 }", warn="off"), module(ENDLESS, warn="off")
        stream, end = kjit.stream(), kjit.event()
        bad.f[1, 1, stream](np.zeros(5, np.float32))
        end.record(stream)
        endless.endless[1, 1, stream](np.zeros(1, np.float32))
        with self.assertRaises(kjit.Fault):
            end.synchronize()
        self.assertFalse(stream.query())
        stream.cancel()
        with self.assertRaises(kjit.Cancelled):
            stream.synchronize()

    def test_beside_another_exception(self):
        mod = module("kernel f(x: f32[]) { x[7] = 1.0 }", warn="off")
        with self.assertRaises(kjit.Fault) as caught:
            with kjit.stream() as stream:
                mod.f[1, 1, stream](np.zeros(5, np.float32))
                raise KeyError("of the program")
        self.assertIsInstance(caught.exception.__context__, KeyError)

    def test_after_a_fault_all_goes_on(self):
        mod = module("kernel f(x: f32[], i: i32) { x[i] = 1.0 }", warn="off")
        x = np.zeros(5, np.float32)
        for _ in range(10):
            with self.assertRaises(kjit.Fault):
                mod.f[1, 1](x, 9)
            mod.f[1, 1](x, 3)
        self.assertEqual(x.tolist(), [0, 0, 0, 1, 0])

    def test_pickle(self):
        fault = self.fault("kernel f(x: f32[]) { x[7] = 1.0 }", np.zeros(5, np.float32), launch=(1, 1))
        again = pickle.loads(pickle.dumps(fault))
        self.assertEqual((str(again), again.index, again.kind), (str(fault), 7, "bounds"))


class Contexts(unittest.TestCase):
    def test_wrong(self):
        for options, error in (({"device": "nonsense"}, kjit.Error), ({"device": "cuda:99"}, kjit.DeviceError), ({"nonsense": 1}, TypeError),
                               ({"limits": {"nonsense": 1}}, ValueError), ({"limits": {"array_bytes": -1}}, (OverflowError, TypeError)),
                               ({"workers": -1}, kjit.Error)):
            with self.subTest(options=options), self.assertRaises(error):
                kjit.Context(**options)

    def test_limits(self):
        context = kjit.Context(device="cpu", untrusted=True, limits={"array_bytes": 1 << 20})
        with self.assertRaises(kjit.LimitError):
            context.array(1 << 20, "f64")

    def test_no_memory(self):
        with self.assertRaises(MemoryError):
            kjit.Context(device="cpu").array(1 << 50, "f64")

    def test_device(self):
        device = kjit.Context(device="cpu", workers=2).device
        self.assertEqual((device.kind, device.units), ("cpu", 2))
        self.assertIn("cpu", [device.kind for device in kjit.devices()])
        context = kjit.default_context()
        self.assertGreater(context.attribute("MAX_THREADS_PER_BLOCK"), 1000)
        with self.assertRaises(ValueError):
            context.attribute("NONSENSE")
        self.assertGreater(context.memory()["total"], 0)

    def test_two_contexts(self):
        a, b = kjit.Context(device="cpu"), kjit.Context(device="cpu")
        mod = a.compile(SAXPY)
        x = b.to_device(np.ones(4, np.float32))
        with self.assertRaises(kjit.Error):
            mod.saxpy[1, 4](1.0, x, x)
        with self.assertRaises(kjit.Error):
            mod.saxpy[1, 4, b.stream()](1.0, np.ones(4, np.float32), np.ones(4, np.float32))

    def test_default(self):
        own = kjit.Context(device="cpu")
        before = kjit.set_default_context(own)
        try:
            self.assertIs(kjit.device_array(3).context, own)
        finally:
            kjit.set_default_context(before)
        self.assertIs(kjit.default_context(), kjit.default_context())

    def test_defer_cleanup(self):
        with kjit.defer_cleanup():
            kjit.device_array(3)
        kjit.default_context().deallocate_pending()
        with self.assertRaises(kjit.InvalidError):
            kjit.default_context()._defer_end()


class OtherEncodings(unittest.TestCase):
    def test_name_of_a_file(self):
        import pathlib
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.knl")
            file.write_bytes(b'use "caf\xe9.knl"\nkernel k(x: f32[]) { x[0] = 1.0 }\n')
            with self.assertRaisesRegex(kjit.CompileError, "caf\ufffd.knl") as caught:
                kjit.compile(file)
            self.assertIn("caf\ufffd", caught.exception.diagnostics[0].message)


if __name__ == "__main__":
    main()
