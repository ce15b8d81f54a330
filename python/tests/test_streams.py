"""Streams, events, threads, signals and forks."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import kjit
import numpy as np
from support import ENDLESS, SAXPY, main, module, python

ON_CPU = kjit.default_context().device.kind == "cpu"
HOLD = "kernel hold(flag: i32[], x: f32[]) { while atomic.add(flag, 0, 0) == 0 {}; x[0] += 1.0 }"


class Streams(unittest.TestCase):
    def test_query_and_numbers(self):
        a, b = kjit.stream(), kjit.stream()
        self.assertTrue(a.query())
        self.assertLess(a.number, b.number)
        if ON_CPU:
            self.assertEqual(a.handle, 0)

    @unittest.skipUnless(ON_CPU, "kernels of a GPU do not see what the program writes")
    def test_runs_beside_the_program(self):
        flag, x, stream = np.zeros(1, np.int32), np.zeros(1, np.float32), kjit.stream()
        module(HOLD).hold[1, 1, stream](flag, x)
        self.assertFalse(stream.query())
        flag[0] = 1
        stream.synchronize()
        self.assertTrue(stream.query())
        self.assertEqual(x[0], 1)

    @unittest.skipUnless(ON_CPU, "as above")
    def test_events_order_streams(self):
        flag, x, y = np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.float32)
        a, b, event = kjit.stream(), kjit.stream(), kjit.event()
        module(HOLD).hold[1, 1, a](flag, x)
        event.record(a)
        b.wait(event)
        event.wait(b)
        module(SAXPY).saxpy[1, 1, b](1.0, x, y)
        self.assertFalse(event.query())
        flag[0] = 1
        b.synchronize()
        self.assertEqual((y[0], event.query()), (1, True))

    def test_elapsed(self):
        start, end, stream = kjit.event(), kjit.event(), kjit.stream()
        start.record(stream)
        end.record(stream)
        end.synchronize()
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        self.assertGreaterEqual(kjit.event_elapsed_time(start, end), 0)
        with self.assertRaises(kjit.InvalidError):
            start.elapsed_time(kjit.event())
        with self.assertRaises(TypeError):
            start.elapsed_time(5)
        end.record()
        end.wait()

    def test_default_streams(self):
        x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
        for stream in (kjit.default_stream(), kjit.default_context().per_thread_default_stream()):
            module(SAXPY).saxpy[1, 4, stream](1.0, x, y)
            stream.synchronize()
        self.assertEqual(y[0], 2)

    def test_synchronize_all(self):
        x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
        module(SAXPY).saxpy[1, 4, kjit.stream()](1.0, x, y)
        kjit.synchronize()
        self.assertEqual(y[0], 1)

    def test_wrong(self):
        for call in (lambda: kjit.stream().wait(3), lambda: kjit.event().record(3), lambda: type(kjit.stream())(),
                     lambda: type(kjit.event())(5)):
            with self.assertRaises(TypeError):
                call()

    @unittest.skipUnless(ON_CPU, "the default context is not cancellable")
    def test_cancel(self):
        stream = kjit.stream()
        module(ENDLESS, warn="off").endless[1, 1, stream](np.zeros(1, np.float32))
        stream.cancel()
        with self.assertRaises(kjit.Cancelled):
            stream.synchronize()
        stream.synchronize()

    @unittest.skipUnless(ON_CPU, "the default context is not cancellable")
    def test_cancel_and_deadline_of_a_context(self):
        context = kjit.Context(device="cpu")
        mod = context.compile(ENDLESS, warn="off")
        ended = threading.Event()

        def cancel():
            while not ended.wait(0.05):  # a launch that is being compiled still is none
                context.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with self.assertRaises(kjit.Cancelled):
            mod.endless[1, 1](np.zeros(1, np.float32))
        ended.set()
        thread.join()
        context.set_deadline(50)
        with self.assertRaises(kjit.Timeout):
            mod.endless[1, 1](np.zeros(1, np.float32))
        context.set_deadline(0)

    def test_prints(self):
        done = python("import kjit; m = kjit.compile('kernel f(x: f32[]) { print(\"thread\", grid(1)) }', warn='off')\n"
                      "m.f[1, 3](memoryview(bytearray(4)).cast('f'))")
        self.assertEqual((done.stdout, done.stderr), ("thread 0\nthread 1\nthread 2\n", ""))

    def test_prints_into_what_stdout_is(self):
        done = python("import kjit, io, sys, contextlib; m = kjit.compile('kernel f(x: f32[]) { print(\"one\") }', warn='off')\n"
                      "out = io.StringIO()\nwith contextlib.redirect_stdout(out): m.f[1, 1](memoryview(bytearray(4)).cast('f'))\n"
                      "sys.stdout.write(repr(out.getvalue())); sys.stdout = None; m.f[1, 1](memoryview(bytearray(4)).cast('f'))")
        self.assertEqual((done.stdout, done.stderr), (repr("one\n"), ""))


class Threads(unittest.TestCase):
    @unittest.skipUnless(ON_CPU, "as above")
    def test_the_gil_is_free_in_a_launch(self):
        flag, x = np.zeros(1, np.int32), np.zeros(1, np.float32)
        timer = threading.Timer(0.1, lambda: flag.__setitem__(0, 1))
        timer.start()
        module(HOLD).hold[1, 1](flag, x)  # would not end if the other thread had to wait for it
        self.assertEqual(x[0], 1)

    @unittest.skipUnless(ON_CPU, "as above")
    def test_the_gil_is_free_in_waits(self):
        for wait in (lambda s, e: s.synchronize(), lambda s, e: e.synchronize(), lambda s, e: kjit.synchronize()):
            flag, x, stream, event = np.zeros(1, np.int32), np.zeros(1, np.float32), kjit.stream(), kjit.event()
            module(HOLD).hold[1, 1, stream](flag, x)
            event.record(stream)
            timer = threading.Timer(0.05, lambda: flag.__setitem__(0, 1))
            timer.start()
            wait(stream, event)
            timer.join()
            self.assertEqual(x[0], 1)

    @unittest.skipUnless(ON_CPU, "nothing of a device is in it")
    def test_the_gil_is_free_in_compilation(self):
        turns, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                turns[0] += 1

        text = "\n".join(f"kernel g{i}(x: f32[]) {{ let i = grid(1); if i < x.size {{ x[i] = sin(x[i]) + {i}.0 }} }}" for i in range(1000))
        thread = threading.Thread(target=count)
        thread.start()
        try:
            for _ in range(50):  # the machine may have no processor for the thread
                before = turns[0]
                kjit.default_context()._compile("g.knl", text, None, 0, 0, 0, None, "off", None, 0, {}, None)
                if turns[0] > before:
                    break
            self.assertGreater(turns[0], before)
        finally:
            stop.set()
            thread.join()

    def run_threads(self, work, n=8):
        failures = []

        def guarded(i):
            try:
                work(i)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_eight_launch(self):
        mod, x, y = kjit.compile(SAXPY), np.ones(1000, np.float32), np.zeros((8, 1000), np.float32)

        def work(i):
            for _ in range(200):
                mod.saxpy[4, 256](float(i), x, y[i])

        self.run_threads(work)
        self.assertEqual(y[:, 0].tolist(), [200 * i for i in range(8)])

    def test_eight_in_streams_of_their_own(self):
        mod, x, y = kjit.compile(SAXPY), np.ones(1000, np.float32), np.zeros((8, 1000), np.float32)

        def work(i):
            with kjit.stream() as stream:
                for _ in range(200):
                    mod.saxpy[4, 256, stream](1.0, x.copy(), y[i])

        self.run_threads(work)
        self.assertTrue((y == 200).all())

    def test_eight_fail_by_themselves(self):
        mod = kjit.compile("kernel f(x: f32[], i: i32) { x[i] = 1.0 }", warn="off")

        def work(i):
            x = np.zeros(i + 1, np.float32)
            for _ in range(50):
                with self.assertRaises(kjit.Fault) as caught:
                    mod.f[1, 1](x, 100 + i)
                self.assertEqual((caught.exception.index, caught.exception.extent), (100 + i, i + 1))

        self.run_threads(work)

    def test_eight_compile(self):
        def work(i):
            y = np.zeros(1, np.float32)
            for k in range(5):
                kjit.compile(f"kernel f(x: f32[]) {{ x[0] = {i}.0 + {k}.0 }}").f[1, 1](y)
                self.assertEqual(y[0], i + k)

        self.run_threads(work)


INTERRUPTED = """
import os, signal, sys, threading, time
import kjit
{before}
mod = kjit.compile({endless!r}, warn="off")
x = memoryview(bytearray(4)).cast("f")
stream, event = kjit.stream(), kjit.event()
try:
    mod.endless[1, 1].within(1)(x)  # it is compiled when the signal comes
except kjit.Timeout:
    pass
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.time()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", time.time() - start < 30)
kjit.compile("kernel f(x: f32[]) {{ x[0] = 5.0 }}").f[1, 1](x)
print(x[0])
"""


@unittest.skipUnless(ON_CPU, "the default context is not cancellable")
class Interrupts(unittest.TestCase):
    def interrupted(self, wait, before="", expected="interrupted True\n5.0\n"):
        done = python(INTERRUPTED.format(endless=ENDLESS, wait=wait, before=before))
        self.assertEqual((done.stdout, done.stderr, done.returncode), (expected, "", 0))

    def test_launch(self):
        self.interrupted("mod.endless[1, 1](x)")

    def test_while_it_is_compiled(self):
        """The signal comes before there is a launch to cancel."""
        many = "; ".join(f"y = sin(y * {i}.5) + exp(y)" for i in range(60))
        slow = ENDLESS.replace("var n = 1", "var y = x[0]; " + many + "; var n = i32(y) | 1")
        done = python(f"""
import os, signal, threading, kjit
mod = kjit.compile({slow!r}, warn="off")
try:  # the signal may come before the timer's start returns
    threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    mod.endless[1, 1](memoryview(bytearray(4)).cast("f"))
except KeyboardInterrupt:
    print("interrupted")
""")
        self.assertEqual((done.stdout, done.stderr), ("interrupted\n", ""))

    def test_forall(self):
        self.interrupted("mod.endless.forall(1)(x)")

    def test_stream(self):
        self.interrupted("mod.endless[1, 1, stream](x); stream.synchronize()")

    def test_event(self):
        self.interrupted("mod.endless[1, 1, stream](x); event.record(stream); event.synchronize()")

    def test_context(self):
        self.interrupted("mod.endless[1, 1, stream](x); kjit.synchronize()")

    def test_with(self):
        self.interrupted("with kjit.stream() as s:\n        mod.endless[1, 1, s](x)")

    def test_twice(self):
        self.interrupted("""
    for _ in range(2):
        try: mod.endless[1, 1](x)
        except KeyboardInterrupt: threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    mod.endless[1, 1](x)""")

    def test_own_handler(self):
        """A handler that raises nothing: the launch was cancelled all the same."""
        self.interrupted("try: mod.endless[1, 1](x)\n    except kjit.Cancelled: print('cancelled')",
                         "signal.signal(signal.SIGINT, lambda *_: print('handler'))", "handler\ncancelled\n5.0\n")

    def test_handler_set_after_a_launch(self):
        self.interrupted("mod.endless[1, 1](x)", """
kjit.compile("kernel f(x: f32[]) { x[0] = 5.0 }").f[1, 1](memoryview(bytearray(4)).cast("f"))
def handler(*_): raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
time.sleep(0.01)""")

    def test_run_block(self):
        self.interrupted("kjit.compile('run { var i = 0; while i >= 0 { i = (i + 1) % 1000 } }', warn='off').run()")

    def test_signals_between_launches(self):
        """Nothing of a signal that came while nothing waited is left for a later launch."""
        done = python(f"""
import os, signal, kjit
mod = kjit.compile({SAXPY!r})
x = memoryview(bytearray(400)).cast("f")
signal.signal(signal.SIGINT, lambda *_: None)
for _ in range(200):
    mod.saxpy[1, 128](1.0, x, x)
    os.kill(os.getpid(), signal.SIGINT)
    mod.saxpy[1, 128](1.0, x, x)
print("fine")
""")
        self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))


@unittest.skipUnless(ON_CPU, "a GPU's driver does not work in a child")
class Forks(unittest.TestCase):
    def test_child_has_its_own_context(self):
        done = python(f"""
import os, sys, kjit, array
def work():
    x = array.array("f", [1] * 10)
    kjit.compile({SAXPY!r}).saxpy[1, 16](2.0, x, x)
    return x[0]
first = work()
context = kjit.default_context()
pid = os.fork()
if pid == 0:
    try:
        assert kjit.default_context() is not context
        code = 0 if work() == 3 else 1
        try:
            context.array(3)
        except kjit.DeviceError:
            pass
        else:
            code = 2
    except BaseException as error:
        print(error, file=sys.stderr); code = 3
    os._exit(code)
print(os.waitpid(pid, 0)[1], work())
""")
        self.assertEqual((done.stdout, done.stderr), ("0 3.0\n", ""))

    def test_child_can_be_interrupted(self):
        done = python(f"""
import os, signal, sys, threading, kjit, array
def work():
    x = array.array("f", [0])
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        kjit.compile({ENDLESS!r}, warn="off").endless[1, 1](x)
    except KeyboardInterrupt:
        return 0
    return 1
if work(): print("parent")
pid = os.fork()
if pid == 0:
    os._exit(work())
print(os.waitpid(pid, 0)[1])
""")
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_multiprocessing(self):
        done = python(f"""
import kjit, array, multiprocessing
def work(i):
    x = array.array("f", [i])
    kjit.compile({SAXPY!r}).saxpy[1, 1](2.0, x, x)
    return x[0]
if __name__ == "__main__":
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(pool.map(work, range(4)) if way == "fork" else "spawned")
""")
        self.assertEqual((done.stdout, done.stderr), ("[0.0, 3.0, 6.0, 9.0]\nspawned\n", ""))


class Ends(unittest.TestCase):
    def test_of_the_process(self):
        """With work in streams, views, threads; in any order."""
        done = python(f"""
import kjit, threading, array
mod = kjit.compile({SAXPY!r})
x = array.array("f", [1] * 100000)
stream = kjit.stream()
d = kjit.to_device(x)
view = memoryview(d) if d.context.device.kind == "cpu" else None
for _ in range(100):
    mod.saxpy[400, 256, stream](1.0, x, x)
    mod.saxpy[400, 256, stream](1.0, d, d)
threading.Thread(target=lambda: mod.saxpy[400, 256](1.0, x, x)).start()
""")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_subinterpreters_are_refused(self):
        done = python("import kjit\ntry: import _xxsubinterpreters as s\nexcept ImportError: print('refused'); raise SystemExit\n"
                      "i = s.create()\ntry: s.run_string(i, 'import kjit')\nexcept BaseException as e: print('refused')\n"
                      "s.destroy(i)")
        self.assertEqual(done.stdout, "refused\n")


if __name__ == "__main__":
    main()
