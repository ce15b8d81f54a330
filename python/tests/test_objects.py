"""Objects of the extension's types: none can be made that has nothing behind it."""
import copy
import gc
import itertools
import pickle
import unittest

import kjit
from kjit import _kjit
from support import main, module, python

# Without an exception they would be empty, and a use of them would end the process: so each is tried in one of its own.
EMPTY = """
import kjit, sys
from kjit import _kjit

def tries(kind):
    class Derived(kind):
        def __new__(cls, *given):
            return object.__new__(cls)

    class Both(Derived, object):
        __slots__ = ("more",)
    class Plain(kind):
        pass
    return [Derived, Both] + ([] if issubclass(kind, _kjit.Context) else [Plain, kind, lambda: Plain.__new__(Derived)])

def ways(kind):
    yield from (lambda: object.__new__(kind), lambda: kind.__new__(kind, 1, 2), lambda: kind(1, 2), lambda: kind(x=1))
    try:
        yield from tries(kind)
    except TypeError:  # it has no subclasses
        yield kind

types = {value for value in vars(_kjit).values() if isinstance(value, type)}
for name, kind in vars(WHERE).items():
    if isinstance(kind, type) and types & set(kind.__mro__):
        for way in ways(kind):
            try:
                print(name, "is made:", way())
            except TypeError:
                pass
        print(name)
"""


class Objects(unittest.TestCase):
    def objects(self):
        mod = module("kernel k(x: f32[]) { x[0] = 1.0 }\nrecord R { a: i32 }")
        return [kjit.default_context(), mod, mod.k, mod.k[1, 1], kjit.device_array(2, "f32"), kjit.stream(), kjit.event()]

    def test_no_empty_ones(self):
        for where in ("kjit", "_kjit"):
            with self.subTest(where=where):
                done = python(EMPTY.replace("WHERE", where))
                self.assertEqual((done.returncode, done.stderr, sorted(done.stdout.split("\n")[:-1])),
                                 (0, "", ["Array", "Context", "Event", "Kernel", "Launcher", "Module", "Stream"]))

    def test_types_are_all_here(self):
        types = {kind for kind in vars(_kjit).values() if isinstance(kind, type)}
        self.assertEqual({t for o in self.objects() for t in type(o).__mro__} & types, types)

    def test_text(self):
        with self.assertRaisesRegex(kjit.ArgumentError, "arrays are made by kjit.device_array"):
            kjit.Array()
        with self.assertRaisesRegex(kjit.ArgumentError, "modules are made by kjit.compile"):
            kjit.Module()

    def test_no_copies(self):
        ways = [copy.copy, copy.deepcopy] + [lambda o, p=p: pickle.dumps(o, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
        for (i, thing), way in itertools.product(enumerate(self.objects()), ways):
            with self.subTest(i=i), self.assertRaisesRegex(TypeError, "pickled"):
                way(thing)
        with self.assertRaisesRegex(kjit.ArgumentError, r"copy_to_host\(\)"):
            copy.copy(kjit.device_array(2, "f32"))

    def test_class_stays(self):
        objects = self.objects()
        for a, b in itertools.permutations(objects, 2):
            with self.assertRaises(TypeError):
                a.__class__ = type(b)

    def test_derived(self):
        class Own(kjit.Context):
            def __init__(self, device, extra):
                self.extra = extra

            def __new__(cls, device, extra):
                return super().__new__(cls, device)

        context = Own("cpu", 5)
        self.assertEqual((context.extra, context.compile("kernel k() {}").context, context.device.kind), (5, context, "cpu"))
        del context
        gc.collect()


if __name__ == "__main__":
    main()
