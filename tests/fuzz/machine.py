"""The reference's machine: memory that knows what was never written, views, and launches thread by thread.

A kernel is a Python function of (launch, thread, arguments); one with barriers or operations of warps is a generator
that yields where it waits (translate.py makes both). Memory is a list of numbers, None where nothing was written yet.
With `tracked` lists the machine also finds races: the generator must not make programs that have one."""
import math

import scalars
from together import WARP_OPERATIONS, block_library, equal_bits
from tree import Fixed, Rec, Vec, slots


class Undefined(Exception):
    """The program does what the language leaves undefined: a mistake of the generator."""


class Exhausted(Exception):
    """The program runs for too long to be of use."""


# ---- Elements: how values lie in memory ----

def load(t, buf, k):
    if isinstance(t, str):
        if t in scalars.COMPLEX:
            return complex(known(buf[k]), known(buf[k + 1]))
        return known(buf[k])
    if isinstance(t, Vec):
        return tuple(known(buf[k + i]) for i in range(t.count))
    if isinstance(t, Fixed):
        return load_fixed(t.elem, t.extents, buf, k)
    values = []
    for _, ft, extents in t.fields:
        values.append(load(ft, buf, k) if extents is None else load_fixed(ft, extents, buf, k))
        k += slots(ft) * math.prod(extents or ())
    return tuple(values)


def load_fixed(t, extents, buf, k):
    if not extents:
        return load(t, buf, k)
    step = slots(t) * math.prod(extents[1:])
    return tuple(load_fixed(t, extents[1:], buf, k + i * step) for i in range(extents[0]))


def store(t, buf, k, value):
    if isinstance(t, str):
        if t in scalars.COMPLEX:
            buf[k], buf[k + 1] = value.real, value.imag
        else:
            buf[k] = known(value)
    elif isinstance(t, Vec):
        for i, x in enumerate(value):
            buf[k + i] = known(x)
    elif isinstance(t, Fixed):
        store_fixed(t.elem, t.extents, buf, k, value)
    else:
        for x, (_, ft, extents) in zip(value, t.fields):
            if extents is None:
                store(ft, buf, k, x)
            else:
                store_fixed(ft, extents, buf, k, x)
            k += slots(ft) * math.prod(extents or ())


def store_fixed(t, extents, buf, k, value):
    if not extents:
        store(t, buf, k, value)
        return
    step = slots(t) * math.prod(extents[1:])
    for i, x in enumerate(value):
        store_fixed(t, extents[1:], buf, k + i * step, x)


def zero(t, extents=None):
    """The value that T() and zeros() have."""
    if extents:
        return tuple(zero(t, extents[1:]) for _ in range(extents[0]))
    if isinstance(t, Vec):
        return (zero(t.part),) * t.count
    if isinstance(t, Fixed):
        return zero(t.elem, t.extents)
    if isinstance(t, Rec):
        return tuple(zero(ft, n) for _, ft, n in t.fields)
    return False if t == "bool" else 0 if t in scalars.INTS else 0.0 if t in scalars.FLOATS else 0j


def known(x):
    if x is None:
        raise Undefined("a value that was never written, or of a lane that takes no part")
    return x


# ---- Views ----

class View:
    """An array: memory, the first element's slot, extents, and strides in slots."""
    __slots__ = ("buf", "elem", "off", "shape", "strides")

    def __init__(self, buf, elem, off, shape, strides):
        self.buf, self.elem, self.off, self.shape, self.strides = buf, elem, off, shape, strides

    def at1(self, i):
        if 0 <= i < self.shape[0]:
            return self.off + i * self.strides[0]
        raise Undefined(f"index {i} of {self.shape}")

    def at2(self, i, j):
        if 0 <= i < self.shape[0] and 0 <= j < self.shape[1]:
            return self.off + i * self.strides[0] + j * self.strides[1]
        raise Undefined(f"index {i, j} of {self.shape}")

    def at(self, index):
        k = self.off
        for i, n, step in zip(index, self.shape, self.strides):
            if not 0 <= i < n:
                raise Undefined(f"index {index} of {self.shape}")
            k += i * step
        return k

    def ld1(self, i):
        x = self.buf[self.at1(i)]
        return x if x is not None else known(x)

    def ld2(self, i, j):
        x = self.buf[self.at2(i, j)]
        return x if x is not None else known(x)

    def get(self, index):
        return load(self.elem, self.buf, self.at(index))

    def put(self, index, value):
        store(self.elem, self.buf, self.at(index), value)

    def sub(self, subscripts):
        """A kernel's view: each subscript an index, or a tuple (start, stop, step) with None for what is left out."""
        off, shape, strides = self.off, [], []
        for k, (n, step) in enumerate(zip(self.shape, self.strides)):
            s = subscripts[k] if k < len(subscripts) else (None, None, None)
            if isinstance(s, tuple):
                taken = range(*slice(*s).indices(n))
                off += taken.start * step
                shape.append(len(taken))
                strides.append(step * taken.step)
            elif 0 <= s < n:
                off += s * step
            else:
                raise Undefined(f"index {s} of {self.shape}")
        return View(self.buf, self.elem, off, tuple(shape), tuple(strides))

    def turned(self):
        return View(self.buf, self.elem, self.off, self.shape[::-1], self.strides[::-1])

    def reshaped(self, shape):
        """The elements, which lie one behind another or along one axis, under other extents; one may be -1."""
        if -1 in shape:
            rest = math.prod(n for n in shape if n != -1)
            shape = tuple(self.size // rest if n == -1 and rest else n for n in shape)
        if math.prod(shape) != self.size:
            raise Undefined(f"{self.shape} as {shape}")
        step = self.strides[0] if len(self.shape) == 1 else slots(self.elem)
        if len(self.shape) > 1 and not self.is_dense():
            raise Undefined("elements that do not lie one behind another")
        strides = []
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
        return View(self.buf, self.elem, self.off, tuple(shape), tuple(strides))

    def is_dense(self):
        step = slots(self.elem)
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    def part(self, first, elem, extents=()):
        """The view of one part of every element; a record's fixed array adds its extents."""
        shape, strides = self.shape, self.strides
        step = slots(elem) * math.prod(extents)
        for n in extents:
            step //= n
            shape, strides = shape + (n,), strides + (step,)
        return View(self.buf, elem, self.off + first, shape, strides)

    def stride(self, k):
        return self.strides[k] // slots(self.elem)

    @property
    def size(self):
        return math.prod(self.shape)

    def places(self):
        """The slots of all elements, in C order."""
        result = [self.off]
        for n, step in zip(self.shape, self.strides):
            result = [k + i * step for k in result for i in range(n)]
        return result

    def values(self):
        if isinstance(self.elem, str) and self.elem not in scalars.COMPLEX:
            return [known(self.buf[k]) for k in self.places()]
        return [load(self.elem, self.buf, k) for k in self.places()]


def new_array(elem, shape, fill=None, make=list):
    """An array in C order; without `fill` nothing is written yet."""
    size = slots(elem)
    total = size * math.prod(shape)
    strides = []
    for n in reversed(shape):
        strides.append(size)
        size *= n
    return View(make([fill]) * total if make is list else make([fill] * total), elem, 0, tuple(shape),
                tuple(reversed(strides)))


# ---- Races ----

class Tracked(list):
    """Memory that knows who touched it. READ, WRITE and ATOMIC accesses of two threads that no barrier separates."""
    READ, WRITE, ATOMIC = range(3)
    thread = None       # who runs: set by the machine

    def __init__(self, items):
        super().__init__(items)
        self.seen = {}

    def __getitem__(self, k):
        if Tracked.thread is not None:
            self.note(k, Tracked.READ)
        return super().__getitem__(k)

    def __setitem__(self, k, value):
        if Tracked.thread is not None:
            self.note(k, Tracked.WRITE)
        super().__setitem__(k, value)

    def note(self, k, kind):
        me = Tracked.thread
        stamp = me.stamp()
        entries = self.seen.get(k)
        if entries is None or entries[0] != stamp[0]:       # another launch, or behind a barrier of the grid
            entries = self.seen[k] = (stamp[0], ({}, {}, {}))
        for other in range(3):
            if other != kind or kind == Tracked.WRITE:
                for thread, old in entries[1][other].items():
                    if thread is not me and not (old[1] == stamp[1] and old[2] < stamp[2]
                                                 or old[3] == stamp[3] and old[4] < stamp[4]):
                        raise Undefined(f"a race on element {k}")
        entries[1][kind][me] = stamp


# ---- Memory seen as another type ----

def bits_of(x, source, target):
    if x != x:
        raise Undefined("the bits of a NaN")
    return scalars.seen_as(x, source, target)


def seen(view, t):
    """The same memory as elements of another type of the same width."""
    return View(SeenAs(view.buf, view.elem, t), t, view.off, view.shape, view.strides)


class SeenAs:
    """Memory whose numbers are read and written as another type's."""

    def __init__(self, buf, own, t):
        self.buf, self.own, self.t = buf, own, t

    def seen(self, x):
        return None if x is None else bits_of(x, self.own, self.t)

    def __getitem__(self, k):
        return self.seen(self.buf[k])

    def __setitem__(self, k, x):
        self.buf[k] = bits_of(x, self.t, self.own)


# ---- Threads ----

class Thread:
    __slots__ = ("x", "y", "z", "bx", "by", "bz", "lane", "warp", "block", "run", "waits", "answer", "epoch")

    def __init__(self, block, number, x, y, z):
        self.block, self.x, self.y, self.z = block, x, y, z
        self.bx, self.by, self.bz = block.index
        self.lane, self.warp = number % 32, number // 32
        self.run = self.waits = self.answer = None
        self.epoch = 0

    def stamp(self):
        block = self.block
        return (block.launch.number, block.launch.epoch), block, block.epoch, (block, self.warp), self.epoch


class Block:
    def __init__(self, launch, index):
        self.launch, self.index, self.epoch, self.memory = launch, index, 0, {}

    def shared(self, key, elem, shape):
        if key not in self.memory:
            self.memory[key] = new_array(elem, shape, make=self.launch.make)
        return self.memory[key]


class Launch:
    """One grid, and what all its threads have in common."""
    numbers = 0

    def __init__(self, machine, function, waits, grid, block, args):
        self.machine, self.function, self.waits, self.args = machine, function, waits, args
        self.grid, self.block = extents3(grid), extents3(block)
        Launch.numbers += 1
        self.number, self.epoch = Launch.numbers, 0
        self.make = Tracked if machine.tracks else list

    def tick(self):
        self.machine.fuel -= 1
        if self.machine.fuel < 0:
            raise Exhausted()

    def queue(self, function, waits, grid, block, args):
        if min(grid) > 0:
            self.machine.queue.append(Launch(self.machine, function, waits, grid, block, args))

    def run(self):
        gx, gy, gz = self.grid
        blocks = [Block(self, (x, y, z)) for z in range(gz) for y in range(gy) for x in range(gx)]
        if self.machine.shuffle is not None:
            self.machine.shuffle(blocks)
        if self.waits:
            self.run_waiting(blocks)
        else:
            function, args, tracks = self.function, self.args, self.machine.tracks
            for block in blocks:
                for thread in self.threads(block):
                    if tracks:
                        Tracked.thread = thread
                    self.tick()
                    function(self, thread, *args)
        Tracked.thread = None

    def threads(self, block):
        bx, by, bz = self.block
        threads = []
        for z in range(bz):
            for y in range(by):
                for x in range(bx):
                    threads.append(Thread(block, len(threads), x, y, z))
        if self.machine.shuffle is not None:
            self.machine.shuffle(threads)
        return threads

    # Threads that wait: a block runs until all of its threads have ended or stand at a barrier of the grid.
    def run_waiting(self, blocks):
        alive = {}
        for block in blocks:
            alive[block] = self.threads(block)
            for thread in alive[block]:
                thread.run = self.function(self, thread, *self.args)
        while alive:
            for block in list(alive):
                alive[block] = self.advance(block, alive[block])
                if not alive[block]:
                    del alive[block]
            sites = {t.waits[1] for threads in alive.values() for t in threads}
            if len(sites) > 1 or alive and len(alive) != len(blocks):
                raise Undefined("a barrier of the grid that not all threads reach")
            self.epoch += 1

    def advance(self, block, threads):
        running = threads
        while True:
            for t in running:
                resume(t)
            threads = [t for t in threads if t.run is not None]
            if not threads:
                return threads
            running = self.released(block, threads)
            if running is None:
                return threads

    def released(self, block, threads):
        """Which threads go on? None: all stand at a barrier of the grid."""
        ready = []
        warps = {}
        for t in threads:
            warps.setdefault(t.warp, []).append(t)
        for lanes in warps.values():
            ready += self.released_lanes(lanes)
        if ready:
            return ready
        first = threads[0].waits
        if first[0] == "warp" or any(t.waits[:2] != first[:2] for t in threads):
            raise Undefined(f"threads wait at different places: {sorted({t.waits[:2] for t in threads}, key=str)}")
        if first[0] == "grid":
            return None
        block.epoch += 1
        answer = None
        if first[0] == "count":
            answer = sum(t.waits[2] for t in threads)
        elif first[0] == "and":
            answer = all(t.waits[2] for t in threads)
        elif first[0] == "or":
            answer = any(t.waits[2] for t in threads)
        for t in threads:
            t.answer = answer
        if "." in first[0]:
            block_library(first[0], first[3], sorted(threads, key=lambda t: t.warp * 32 + t.lane))
        return threads

    def released_lanes(self, lanes):
        """Lanes of one warp whose operation all have come to."""
        ready = []
        groups = {}
        for t in lanes:
            if t.waits[0] == "warp":
                groups.setdefault(t.waits[1:3], []).append(t)
        for (_, mask), group in groups.items():
            there = {t.lane: t for t in group}
            if any(mask >> t.lane & 1 and t.lane not in there for t in lanes):
                continue
            if any(not mask >> lane & 1 for lane in there):
                raise Undefined("a lane that is not in its mask")
            WARP_OPERATIONS[group[0].waits[3]](there, lanes)
            for t in group:
                t.epoch += 1
            ready += group
        return ready


def extents3(n):
    n = tuple(n)
    return n + (1,) * (3 - len(n))


def resume(t):
    Tracked.thread = t if t.block.launch.machine.tracks else None
    t.block.launch.tick()
    try:
        t.waits = t.run.send(t.answer)
    except StopIteration:
        t.run = t.waits = None
    else:
        t.answer = None


class Machine:
    def __init__(self, fuel=1_000_000, tracks=False, shuffle=None):
        self.fuel, self.tracks, self.shuffle, self.queue = fuel, tracks, shuffle, []
        self.lines, self.printed = [], []       # what kernels wrote; of this launch, with what it is ordered by

    def write(self, thread, line):
        self.printed.append((thread.bz, thread.by, thread.bx, thread.z, thread.y, thread.x, len(self.printed), line))

    def launch(self, function, waits, grid, block, args):
        Launch(self, function, waits, grid, block, args).run()
        while self.queue:
            self.queue.pop(0).run()
        self.lines += [entry[-1] for entry in sorted(self.printed)]
        self.printed.clear()


# ---- Atomics ----

def atomic(operation):
    """An atomic of a view's element: gives the value that was there."""
    def step(view, index, t, *args):
        buf, k = view.buf, view.at(index)
        other = buf if isinstance(buf, SeenAs) else None
        memory = other.buf if other else buf
        if isinstance(memory, Tracked) and Tracked.thread is not None:
            memory.note(k, Tracked.ATOMIC)
        old = known(list.__getitem__(memory, k))
        old = other.seen(old) if other else old
        new = known(operation(t, old, *args))
        list.__setitem__(memory, k, bits_of(new, t, other.own) if other else new)
        return old
    return step


def arithmetic(sign):
    def operation(t, a, b):
        if t in scalars.INTS:
            return scalars.wrap(a + sign * b, t)
        return scalars.ROUND[t](a + sign * b)
    return operation


ATOMICS = {
    "add": atomic(arithmetic(1)),
    "sub": atomic(arithmetic(-1)),
    "min": atomic(lambda t, a, b: scalars.minimum(a, b)),
    "max": atomic(lambda t, a, b: scalars.maximum(a, b)),
    "and_": atomic(lambda t, a, b: a & b),
    "or_": atomic(lambda t, a, b: a | b),
    "xor": atomic(lambda t, a, b: a ^ b),
    "inc": atomic(lambda t, a, b: 0 if a >= b else a + 1),
    "dec": atomic(lambda t, a, b: b if a == 0 or a > b else a - 1),
    "exch": atomic(lambda t, a, b: b),
    "cas": atomic(lambda t, a, old, new: new if equal_bits(a, old) else a),
}
ATOMICS["nanmin"], ATOMICS["nanmax"] = ATOMICS["min"], ATOMICS["max"]
