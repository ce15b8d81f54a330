"""What kernels that are written for Numba run in here as plain Python: numba.cuda's words, thread by thread. Threads of a block
that meet in barriers are Python's threads. Elements of arrays are Python's numbers, so that integers do not wrap but where they
are stored, and floats are computed in 64 bits."""
import threading

import numpy as np

WARP = 32
CASES = {}
r = np.random.RandomState(1)


class Place(threading.local):
    """Which thread it is."""


class Dim3:
    def __init__(self, x, y=1, z=1):
        self.x, self.y, self.z = x, y, z


class Elements:
    """An array of a kernel: elements are Python's numbers, views are arrays again."""

    def __init__(self, array):
        self.array = array
        self.shape, self.size, self.ndim = array.shape, array.size, array.ndim

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def T(self):
        return Elements(self.array.T)

    def reshape(self, *shape):
        return Elements(self.array.reshape(*shape))

    def __getattr__(self, name):
        return Elements(self.array[name])

    def __getitem__(self, key):
        found = self.array[key]
        if isinstance(found, np.void):
            return Record(self.array, key)
        if isinstance(found, np.ndarray):
            return Elements(found)
        return found.item() if not isinstance(found, np.float16) else found

    def __setitem__(self, key, value):
        self.array[key] = stored(value, self.array.dtype)


class Record:
    def __init__(self, array, key):
        self.__dict__.update(array=array, key=key)

    def __getattr__(self, name):
        found = self.array[self.key][name]
        if isinstance(found, np.void):
            return Record(self.array[name], self.key)
        return Elements(found) if isinstance(found, np.ndarray) else found.item()

    def __setattr__(self, name, value):
        self.array[name][self.key] = stored(value, self.array.dtype[name])

    __getitem__, __setitem__ = __getattr__, __setattr__


def stored(value, dtype):
    """A value as an element: integers wrap, floats are cut."""
    if isinstance(value, (Elements, Record)):
        return value.array if isinstance(value, Elements) else value.array[value.key]
    if dtype.kind in "iu" and not isinstance(value, np.ndarray):
        bits = 8 * dtype.itemsize
        whole = int(value) & ((1 << bits) - 1)
        return whole - (1 << bits) if dtype.kind == "i" and whole >> (bits - 1) else whole
    return value


class Atomic:
    def __init__(self, lock):
        self.lock = lock

    def _do(self, a, i, change):
        with self.lock:
            old = a[i]
            a[i] = change(old)
            return old

    def add(self, a, i, v):
        return self._do(a, i, lambda old: old + v)

    def sub(self, a, i, v):
        return self._do(a, i, lambda old: old - v)

    def max(self, a, i, v):
        return self._do(a, i, lambda old: old if old != old else max(old, v))

    def min(self, a, i, v):
        return self._do(a, i, lambda old: old if old != old else min(old, v))

    def exch(self, a, i, v):
        return self._do(a, i, lambda old: v)

    def and_(self, a, i, v):
        return self._do(a, i, lambda old: old & v)

    def or_(self, a, i, v):
        return self._do(a, i, lambda old: old | v)

    def xor(self, a, i, v):
        return self._do(a, i, lambda old: old ^ v)

    def inc(self, a, i, v):
        return self._do(a, i, lambda old: 0 if old >= v else old + 1)

    def cas(self, a, i, old, v):
        return self._do(a, i, lambda now: v if now == old else now)


class Shared:
    def __init__(self, cuda, shared):
        self.cuda, self.shared = cuda, shared

    def array(self, shape, dtype):
        if not self.shared:
            return Elements(np.zeros(shape, dtype))
        at = self.cuda.at
        key = (at.blockIdx.x, at.blockIdx.y, at.count)
        at.count += 1
        with self.cuda.lock:
            return self.cuda.memory.setdefault(key, Elements(np.zeros(shape, dtype)))


class Group:
    def __init__(self, cuda):
        self.cuda = cuda

    def sync(self):
        self.cuda.grid_barrier.wait()


class Cooperative:
    def __init__(self, cuda):
        self.cuda = cuda

    def this_grid(self):
        return Group(self.cuda)


class Cuda:
    """numba.cuda, as far as the tests use it."""

    warpsize = WARP

    def __init__(self):
        self.at, self.lock = Place(), threading.RLock()
        self.atomic, self.shared, self.local = Atomic(self.lock), Shared(self, True), Shared(self, False)
        self.cg, self.const = Cooperative(self), self
        self.memory = {}

    threadIdx = property(lambda self: self.at.threadIdx)
    blockIdx = property(lambda self: self.at.blockIdx)
    blockDim = property(lambda self: self.at.blockDim)
    gridDim = property(lambda self: self.at.gridDim)
    laneid = property(lambda self: self.at.threadIdx.x % WARP)

    @staticmethod
    def array_like(array):
        return Elements(array)

    def jit(self, *arguments, **options):
        return arguments[0] if arguments and callable(arguments[0]) else lambda function: function

    def grid(self, axes):
        at = self.at
        found = tuple(getattr(at.blockIdx, c) * getattr(at.blockDim, c) + getattr(at.threadIdx, c) for c in "xyz"[:axes])
        return found[0] if axes == 1 else found

    def gridsize(self, axes):
        found = tuple(getattr(self.at.gridDim, c) * getattr(self.at.blockDim, c) for c in "xyz"[:axes])
        return found[0] if axes == 1 else found

    def syncthreads(self):
        self.at.barrier.wait()

    def syncthreads_count(self, test):
        votes = self.at.votes
        self.at.barrier.wait()
        votes[self.at.number] = bool(test)
        self.at.barrier.wait()
        count = sum(votes)
        self.at.barrier.wait()
        return count

    def syncthreads_or(self, test):
        return int(self.syncthreads_count(test) > 0)

    def syncthreads_and(self, test):
        return int(self.syncthreads_count(test) == len(self.at.votes))

    @staticmethod
    def popc(x):
        return bin(x & (2 ** 64 - 1)).count("1")

    @staticmethod
    def selp(c, a, b):
        return a if c else b

    @staticmethod
    def fma(a, b, c):
        return a * b + c

    def threadfence(self):
        pass

    # ---- launches ----

    def run(self, function, grid, block, arguments, barriers):
        """Runs a kernel; with barriers all threads of the grid at once."""
        self.memory.clear()
        grid, block = (Dim3(*(x if isinstance(x, tuple) else (x,))) for x in (grid, block))
        values = [Elements(a) if isinstance(a, np.ndarray) else a.item() if isinstance(a, np.generic) else a for a in arguments]
        work, size = [], block.x * block.y * block.z
        self.grid_barrier = threading.Barrier(size * grid.x * grid.y * grid.z)
        for b in np.ndindex(grid.z, grid.y, grid.x):
            barrier, votes = threading.Barrier(size), [False] * size
            for number, t in enumerate(np.ndindex(block.z, block.y, block.x)):
                work.append((Dim3(*b[::-1]), Dim3(*t[::-1]), barrier, votes, number))
        failed = []

        def one(block_at, thread_at, barrier, votes, number):
            at = self.at
            at.blockIdx, at.threadIdx, at.blockDim, at.gridDim = block_at, thread_at, block, grid
            at.barrier, at.votes, at.number, at.count = barrier, votes, number, 0
            try:
                function(*values)
            except Exception as error:
                failed.append(error)
                barrier.abort()
                self.grid_barrier.abort()

        if barriers:
            threads = [threading.Thread(target=one, args=each) for each in work]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for each in work:
                one(*each)
        if failed:
            raise failed[0]


cuda = Cuda()


# ---- kernels and the arguments of their launches ----

def case(*arguments, grid=1, block=32, barriers=False):
    """Notes a kernel and the arguments of its launch."""
    def note(function):
        CASES[function.__name__] = (function, arguments, grid, block, barriers)
        return function
    return note


def floats(*shape, of=np.float32):
    return r.uniform(-4, 4, shape).astype(of)


def ints(*shape, of=np.int32, low=-50, high=50):
    return r.randint(low, high, shape).astype(of)


def zeros(*shape, of=np.float32):
    return np.zeros(shape, of)
