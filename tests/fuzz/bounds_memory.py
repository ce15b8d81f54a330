"""What the Python of bounds_tree.py calls: arrays that know what is outside of them, threads, and which failure of a
launch is told (docs/language.md, section 17)."""
from scalars import FLOATS, INTS, ROUND, ceil_div, convert, floor_div, floor_mod, shift_left, shift_right, wrap

FUEL = 1500         # turns of loops of one thread
LONGEST = 4096      # turns of one loop that are worth walking


class Fault(Exception):
    """An index outside: (line, index, name or None, axis or None, extent)."""


class Exhausted(Exception):
    """A thread that takes too long: the launch is left out."""


class Array:
    """A view of a list: where, what shape, which steps; `pending`: the index outside that it was made with."""

    def __init__(self, data, type, shape, name, start=0, steps=None, pending=None, record=0):
        if steps is None:
            steps, step = [], 1
            for n in reversed(shape):
                steps.insert(0, step)
                step *= n
        self.data, self.type, self.shape, self.name = data, type, tuple(shape), name
        self.start, self.steps, self.pending, self.record = start, tuple(steps), pending, record

    def named(self, name):
        return Array(self.data, self.type, self.shape, name, self.start, self.steps, self.pending, self.record)

    def extent(self, axis):
        if axis >= 0:
            return self.shape[axis]
        total = 1
        for n in self.shape:
            total *= n
        return total

    def outside(self, indices, line, name=None):
        for axis, (i, n) in enumerate(zip(indices, self.shape)):
            if not 0 <= i < n:
                return (line, i, name or self.name, axis if len(self.shape) > 1 else None, n)
        return None

    def place(self, indices, line):
        wrong = self.outside(indices, line) or self.pending
        if wrong:
            raise Fault(wrong)
        return self.start + sum(i * s for i, s in zip(indices, self.steps))

    def load(self, indices, line):
        return self.data[self.place(indices, line)]

    def store(self, value, indices, line):
        self.data[self.place(indices, line)] = value

    def add_to(self, value, indices, line):
        at = self.place(indices, line)
        self.data[at] = wrap(self.data[at] + value, self.type)

    def atomic(self, at, value):
        self.data[at] = wrap(self.data[at] + value, self.type)

    # ---- Views ----

    def view(self, parts, line, name):
        start, steps, shape, own = self.start, [], [], None
        for axis in range(len(self.shape)):
            part = parts[axis] if axis < len(parts) else slice(None, None, 1)
            n, step = self.shape[axis], self.steps[axis]
            if isinstance(part, slice):
                low, high, by = part.indices(n)
                start += low * step
                shape.append(len(range(low, high, by)))
                steps.append(step * by)
                continue
            if not 0 <= part < n:
                own = own or (line, part, self.name, axis if len(self.shape) > 1 else None, n)
            else:
                start += part * step
        return Array(self.data, self.type, shape, name, start, steps, own or self.pending, self.record)

    def transposed(self, name):
        return Array(self.data, self.type, self.shape[::-1], name, self.start, self.steps[::-1], self.pending)

    def row(self, index, line):
        return self.view((index,), line, self.name)

    def each(self, line):
        for i in range(self.shape[0]):
            yield self.load((i,), line)

    def sum(self, line):
        total = sum(self.load((i,), line) for i in range(self.shape[0]))
        return wrap(total, "u64" if self.type[0] == "u" else "i64")

    # ---- Records of w and at[3]: four numbers each ----

    def field(self, name, indices, line):
        wrong = self.outside(indices[:1], line) or self.pending
        if len(indices) > 1 and not 0 <= indices[1] < 3:
            wrong = (line, indices[1], f"{self.name}.{name}", "any", 3)
        if wrong:
            raise Fault(wrong)
        return self.data[self.start + indices[0] * self.steps[0] + (1 + indices[1] if len(indices) > 1 else 0)]

    def row_of_field(self, index, line, name):
        pending = self.outside((index,), line) or self.pending
        start = self.start + (0 if pending else index * self.steps[0]) + 1
        return Array(self.data, self.type, (3,), name, start, (1,), pending)

    def fields(self, name):
        return Array(self.data, self.type, (self.shape[0], 3), None, self.start + 1, (self.steps[0], 1), self.pending)


def local(shape, t, factor, name):
    total = 1
    for n in shape:
        total *= n
    of = total + 1 if len(shape) == 1 else total
    return Array([convert(k * factor % of, "i64", t) for k in range(total)], t, shape, name)


# ---- Operations ----

def fit(value, t):
    return ROUND[t](value) if t in FLOATS else wrap(value, t)


def abs_of(value, t):
    return wrap(abs(value), t) if t in INTS else abs(value)


def selp(c, a, b):
    return a if c else b


def clamp(x, low, high):
    return min(max(x, low), high)


def turns(low, high, step):
    if step and (high - low) // step > LONGEST:
        raise Exhausted()
    return range(low, high, step) if step else range(0)


NAMES = {"fit": fit, "convert": convert, "shl": shift_left, "shr": shift_right, "fdiv": floor_div, "fmod": floor_mod,
         "least_of": min, "most_of": max, "clamp": clamp, "abs": abs_of, "ceil_div": ceil_div, "selp": selp,
         "local": local, "turns": turns, "wrap": wrap, "Array": Array}


# ---- Launches ----

class Thread:
    def __init__(self, grid, block, at_block, at):
        self.blockIdx_x, self.threadIdx_x, self.threadIdx_y = at_block, at % block[0], at // block[0]
        self.blockDim_x, self.blockDim_y, self.gridDim_x = block[0], block[1], grid
        self.fuel, self.launches, self.shared = FUEL, [], {}

    def tick(self):
        self.fuel -= 1
        if self.fuel < 0:
            raise Exhausted()

    def launch(self, view, n, grid, block, line):
        if view.pending and view.extent(-1):
            raise Fault(view.pending)
        self.launches.append((view, n, grid, block))


class Told:
    """The failure that a launch tells."""

    def __init__(self, fault, block, thread):
        self.fault, self.block, self.thread = fault, block, thread

    def __str__(self):
        line, index, name, axis, extent = self.fault
        where = "which" if axis in (None, "any") else f"whose axis {axis}"
        return (f"line {line}: index {index} is outside of {name or 'some array'}, {where} has {extent} "
                f"(block {self.block}, thread {self.thread})")


def run_grid(kernel, args, grid, block):
    """Runs a kernel's threads. Gives what it tells or None, every thread's launches, and the lines that failed."""
    told, launches, failed = None, [], set()
    for b in range(grid):
        threads = [Thread(grid, block, b, at) for at in range(block[0] * block[1])]
        for t in threads:
            t.code = kernel(t, *args)
        first, going = None, threads
        while going:
            left = []
            for t in going:
                try:
                    next(t.code)
                    left.append(t)
                except StopIteration:
                    pass
                except Fault as fault:
                    at = (t.threadIdx_x, t.threadIdx_y, 0)
                    failed.add(fault.args[0][0])
                    first = first or Told(fault.args[0], (b, 0, 0), at)
            going = [] if first else left
        told = told or first
        launches += [x for t in threads for x in t.launches]
    return told, launches, failed


def run(kernels, args, grid, block):
    """A launch of 'main', and of what it launches itself."""
    told, launches, failed = run_grid(kernels["main"], args, grid, block)
    for view, n, g, b in launches:
        if told is None and g > 0:
            told, _, more = run_grid(kernels["child"], [view.named("row"), n, args[-1]], g, (b, 1))
            failed |= more
    return told, failed

