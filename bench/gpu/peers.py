"""Numba's, CuPy's and Triton's sides of the GPU benchmark: peers.py numba|cupy|triton. gpu-bench starts it, sends lines:

    prepare CASE SIZE    ok, none (no such case), or a sentence
    run REPEATS          ok MILLISECONDS of one, by the GPU's events
    checksum             ok NUMBER, of what the last run gave
    release              ok

Arrays have the same elements as gpu-bench's; kernels the same algorithms, for CuPy the library's own functions."""
import math
import sys

try:
    import numpy as np
except ImportError as error:
    sys.exit(print(error))

SOFTENING = 0.01
ALPHA = 0.1


def elements(n, seed, dtype):
    """Element i of buffer `seed`, as bench.c makes it."""
    with np.errstate(over="ignore"):
        h = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)
        h ^= np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
        h ^= h >> np.uint32(15)
        h *= np.uint32(0x2C1B3C6D)
        h ^= h >> np.uint32(12)
    if dtype == np.float32:
        return (h >> np.uint32(8)).astype(np.float32) / np.float32(16777216)
    if dtype == np.int32:
        return (h >> np.uint32(28)).astype(np.int32)
    return (h >> np.uint32(24)).astype(np.uint8)


def checksum(results):
    total = 0.0
    for a in results:
        x = a.astype(np.float64).ravel()
        total += float(((x + 2 * np.abs(x)) * (1 + np.arange(x.size) % 7)).sum())
    return total


def ceil_div(a, b):
    return -(-a // b)


# ---- Numba ----

class Numba:
    def __init__(self):
        global cuda, float32, int32  # kernels find them where Numba's simulator puts its own
        for gone, name in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
            if not hasattr(np, gone):  # NumPy may be newer than the Numba, which names them as it is imported
                setattr(np, gone, getattr(np, name))
        from numba import cuda, float32, int32
        if not cuda.is_available():
            raise RuntimeError("Numba finds no GPU")
        self.stream = cuda.stream()

    def array(self, n, seed, dtype=np.float32, shape=None):
        return cuda.to_device(elements(n, seed, dtype).reshape(shape or n))

    def empty(self, shape, dtype=np.float32):
        return cuda.to_device(np.zeros(shape, dtype))

    def events(self):
        return cuda.event(), cuda.event()

    def record(self, event):
        event.record(self.stream)

    def elapsed(self, start, stop):
        stop.synchronize()
        return start.elapsed_time(stop)

    def host(self, a):
        return a.copy_to_host()

    def copy(self, n):
        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i]

        x, out = self.array(n, 1), self.empty(n)
        go = kernel[ceil_div(n, 256), 256, self.stream]
        return lambda: go(x, out), [out]

    def vecadd(self, n):
        @cuda.jit
        def kernel(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]

        x, y, out = self.array(n, 1), self.array(n, 2), self.empty(n)
        go = kernel[ceil_div(n, 256), 256, self.stream]
        return lambda: go(x, y, out), [out]

    def saxpy(self, n):
        @cuda.jit
        def kernel(a, x, y):
            i = cuda.grid(1)
            if i < y.size:
                y[i] = a * x[i] + y[i]

        x, y, a = self.array(n, 1), self.array(n, 2), np.float32(0.5)
        go = kernel[ceil_div(n, 256), 256, self.stream]
        return lambda: go(a, x, y), [y]

    def reduce(self, n):
        @cuda.jit
        def kernel(x, out):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            stretch = (x.size + cuda.gridDim.x - 1) // cuda.gridDim.x
            start = cuda.blockIdx.x * stretch
            stop = min(start + stretch, x.size)
            total = float32(0)
            for i in range(start + t, stop, cuda.blockDim.x):
                total += x[i]
            s[t] = total
            cuda.syncthreads()
            half = cuda.blockDim.x // 2
            while half > 0:
                if t < half:
                    s[t] += s[t + half]
                cuda.syncthreads()
                half //= 2
            if t == 0:
                out[cuda.blockIdx.x] = s[0]

        x, partial, out = self.array(n, 1), self.empty(2048), self.empty(1)
        first, second = kernel[2048, 256, self.stream], kernel[1, 256, self.stream]

        def run():
            first(x, partial)
            second(partial, out)

        return run, [out]

    def histogram(self, n):
        @cuda.jit
        def clear(bins):
            bins[cuda.grid(1)] = 0

        @cuda.jit
        def kernel(x, bins):
            mine = cuda.shared.array(256, int32)
            t = cuda.threadIdx.x
            mine[t] = 0
            cuda.syncthreads()
            stretch = (x.size + cuda.gridDim.x - 1) // cuda.gridDim.x
            start = cuda.blockIdx.x * stretch
            stop = min(start + stretch, x.size)
            for i in range(start + t, stop, cuda.blockDim.x):
                cuda.atomic.add(mine, x[i], 1)
            cuda.syncthreads()
            cuda.atomic.add(bins, t, mine[t])

        x, bins = self.array(n, 1, np.uint8), self.empty(256, np.int32)
        first, second = clear[1, 256, self.stream], kernel[2048, 256, self.stream]

        def run():
            first(bins)
            second(x, bins)

        return run, [bins]

    def transpose(self, n):
        @cuda.jit
        def kernel(a, out):
            tile = cuda.shared.array((32, 33), float32)
            x0, y0, tx = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32, cuda.threadIdx.x
            for ty in range(cuda.threadIdx.y, 32, 8):
                if y0 + ty < a.shape[0] and x0 + tx < a.shape[1]:
                    tile[ty, tx] = a[y0 + ty, x0 + tx]
            cuda.syncthreads()
            for ty in range(cuda.threadIdx.y, 32, 8):
                if x0 + ty < out.shape[0] and y0 + tx < out.shape[1]:
                    out[x0 + ty, y0 + tx] = tile[tx, ty]

        a, out = self.array(n * n, 1, shape=(n, n)), self.empty((n, n))
        go = kernel[(ceil_div(n, 32), ceil_div(n, 32)), (32, 8), self.stream]
        return lambda: go(a, out), [out]

    def stencil(self, n):
        alpha, four = np.float32(ALPHA), np.float32(4)

        @cuda.jit
        def kernel(src, dst):
            x, y = cuda.grid(2)
            if x >= 1 and y >= 1 and x < src.shape[1] - 1 and y < src.shape[0] - 1:
                c = src[y, x]
                dst[y, x] = c + alpha * (src[y - 1, x] + src[y + 1, x] + src[y, x - 1] + src[y, x + 1] - four * c)

        src, dst = self.array(n * n, 1, shape=(n, n)), self.empty((n, n))
        go = kernel[(ceil_div(n, 32), ceil_div(n, 8)), (32, 8), self.stream]
        return lambda: go(src, dst), [dst]

    def matmul(self, n):
        @cuda.jit
        def kernel(a, b, c):
            ta = cuda.shared.array((32, 32), float32)
            tb = cuda.shared.array((32, 32), float32)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            total = float32(0)
            for k in range(0, a.shape[1], 32):
                ta[ty, tx] = a[row, k + tx] if row < a.shape[0] and k + tx < a.shape[1] else float32(0)
                tb[ty, tx] = b[k + ty, col] if k + ty < b.shape[0] and col < b.shape[1] else float32(0)
                cuda.syncthreads()
                for j in range(32):
                    total += ta[ty, j] * tb[j, tx]
                cuda.syncthreads()
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = total

        return self.product(n, kernel, (32, 32))

    def matmul_naive(self, n):
        @cuda.jit
        def kernel(a, b, c):
            col, row = cuda.grid(2)
            if row < c.shape[0] and col < c.shape[1]:
                total = float32(0)
                for k in range(a.shape[1]):
                    total += a[row, k] * b[k, col]
                c[row, col] = total

        return self.product(n, kernel, (32, 8))

    def product(self, n, kernel, block):
        a, b, c = self.array(n * n, 1, shape=(n, n)), self.array(n * n, 2, shape=(n, n)), self.empty((n, n))
        go = kernel[(ceil_div(n, block[0]), ceil_div(n, block[1])), block, self.stream]
        return lambda: go(a, b, c), [c]

    def nbody(self, n):
        softening, one = np.float32(SOFTENING), np.float32(1)

        @cuda.jit
        def kernel(x, y, z, m, ax, ay, az):
            sx = cuda.shared.array(256, float32)
            sy = cuda.shared.array(256, float32)
            sz = cuda.shared.array(256, float32)
            sm = cuda.shared.array(256, float32)
            t, i = cuda.threadIdx.x, cuda.grid(1)
            n = x.size
            xi = x[i] if i < n else float32(0)
            yi = y[i] if i < n else float32(0)
            zi = z[i] if i < n else float32(0)
            fx, fy, fz = float32(0), float32(0), float32(0)
            for base in range(0, n, 256):
                j = base + t
                sx[t] = x[j] if j < n else float32(0)
                sy[t] = y[j] if j < n else float32(0)
                sz[t] = z[j] if j < n else float32(0)
                sm[t] = m[j] if j < n else float32(0)
                cuda.syncthreads()
                for k in range(256):
                    dx, dy, dz = sx[k] - xi, sy[k] - yi, sz[k] - zi
                    inv = one / math.sqrt(dx * dx + dy * dy + dz * dz + softening)
                    w = sm[k] * inv * inv * inv
                    fx += w * dx
                    fy += w * dy
                    fz += w * dz
                cuda.syncthreads()
            if i < n:
                ax[i], ay[i], az[i] = fx, fy, fz

        given = [self.array(n, seed) for seed in (1, 2, 3, 4)]
        results = [self.empty(n) for _ in range(3)]
        go = kernel[ceil_div(n, 256), 256, self.stream]
        return lambda: go(*given, *results), results

    def mandelbrot(self, n):
        two, three, half = np.float32(2), np.float32(3), np.float32(1.5)
        four = np.float32(4)

        @cuda.jit
        def kernel(out, limit):
            x, y = cuda.grid(2)
            if x < out.shape[1] and y < out.shape[0]:
                cr = three * float32(x) / float32(out.shape[1]) - two
                ci = three * float32(y) / float32(out.shape[0]) - half
                zr, zi, count = float32(0), float32(0), 0
                while count < limit and zr * zr + zi * zi <= four:
                    zr, zi = zr * zr - zi * zi + cr, two * zr * zi + ci
                    count += 1
                out[y, x] = count

        out = self.empty((n, n), np.int32)
        go = kernel[(ceil_div(n, 16), ceil_div(n, 16)), (16, 16), self.stream]
        return lambda: go(out, 256), [out]


# ---- CuPy: its own functions ----

class Cupy:
    def __init__(self):
        import cupy
        self.cp = cupy
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise RuntimeError("CuPy finds no GPU")

    def array(self, n, seed, dtype=np.float32, shape=None):
        return self.cp.asarray(elements(n, seed, dtype).reshape(shape or n))

    def events(self):
        return self.cp.cuda.Event(), self.cp.cuda.Event()

    def record(self, event):
        event.record()

    def elapsed(self, start, stop):
        stop.synchronize()
        return self.cp.cuda.get_elapsed_time(start, stop)

    def host(self, a):
        return self.cp.asnumpy(a)

    def copy(self, n):
        x, out = self.array(n, 1), self.cp.empty(n, np.float32)
        return lambda: self.cp.copyto(out, x), [out]

    def vecadd(self, n):
        x, y, out = self.array(n, 1), self.array(n, 2), self.cp.empty(n, np.float32)
        return lambda: self.cp.add(x, y, out=out), [out]

    def saxpy(self, n):
        x, y = self.array(n, 1), self.array(n, 2)
        kernel = self.cp.ElementwiseKernel("T a, T x", "T y", "y = a * x + y", "saxpy")
        return lambda: kernel(np.float32(0.5), x, y), [y]

    def reduce(self, n):
        x, out = self.array(n, 1), self.cp.empty((), np.float32)
        return lambda: self.cp.sum(x, out=out), [out]

    def scan(self, n):
        x, out = self.array(n, 1, np.int32), self.cp.empty(n, np.int32)
        return lambda: self.cp.cumsum(x, dtype=np.int32, out=out), [out]

    def histogram(self, n):
        x, results = self.array(n, 1, np.uint8), [None]

        def run():
            results[0] = self.cp.bincount(x, minlength=256)

        return run, results

    def transpose(self, n):
        a, out = self.array(n * n, 1, shape=(n, n)), self.cp.empty((n, n), np.float32)
        return lambda: self.cp.copyto(out, a.T), [out]

    def matmul_tuned(self, n):
        a, b = (self.array(n * n, seed, shape=(n, n)) for seed in (1, 2))
        c = self.cp.empty((n, n), np.float32)
        return lambda: self.cp.matmul(a, b, out=c), [c]


# ---- Triton: programs of blocks of elements; its arrays are PyTorch's ----

class Triton:
    def __init__(self):
        global tl  # kernels find it by that name
        import torch
        import triton
        import triton.language as tl
        if not torch.cuda.is_available():
            raise RuntimeError("Triton finds no GPU")
        self.torch, self.triton = torch, triton

    def array(self, n, seed, dtype=np.float32, shape=None):
        return self.torch.from_numpy(elements(n, seed, dtype).reshape(shape or n)).cuda()

    def empty(self, shape):
        return self.torch.zeros(shape, dtype=self.torch.float32, device="cuda")

    def events(self):
        return tuple(self.torch.cuda.Event(enable_timing=True) for _ in range(2))

    def record(self, event):
        event.record()

    def elapsed(self, start, stop):
        stop.synchronize()
        return start.elapsed_time(stop)

    def host(self, a):
        return a.cpu().numpy()

    def copy(self, n):
        x, out = self.array(n, 1), self.empty(n)
        kernel = self.triton.jit(triton_copy)
        return lambda: kernel[(ceil_div(n, 1024),)](x, out, n, BLOCK=1024), [out]

    def vecadd(self, n):
        x, y, out = self.array(n, 1), self.array(n, 2), self.empty(n)
        kernel = self.triton.jit(triton_vecadd)
        return lambda: kernel[(ceil_div(n, 1024),)](x, y, out, n, BLOCK=1024), [out]

    def saxpy(self, n):
        x, y = self.array(n, 1), self.array(n, 2)
        kernel = self.triton.jit(triton_saxpy)
        return lambda: kernel[(ceil_div(n, 1024),)](0.5, x, y, n, BLOCK=1024), [y]

    def reduce(self, n):
        x, parts, out = self.array(n, 1), self.empty(2048), self.empty(1)
        kernel = self.triton.jit(triton_reduce)
        stretch = ceil_div(n, 2048)

        def run():
            kernel[(2048,)](x, parts, n, stretch, BLOCK=1024)
            kernel[(1,)](parts, out, 2048, 2048, BLOCK=1024)

        return run, [out]

    def matmul_tuned(self, n):
        a, b, c = self.array(n * n, 1, shape=(n, n)), self.array(n * n, 2, shape=(n, n)), self.empty((n, n))
        kernel = self.triton.jit(triton_matmul)
        grid = (ceil_div(n, 64), ceil_div(n, 64))
        return lambda: kernel[grid](a, b, c, n, M=64, N=64, K=32), [c]


def triton_copy(x, out, n, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def triton_vecadd(x, y, out, n, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def triton_saxpy(a, x, y, n, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, a * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def triton_reduce(x, out, n, stretch, BLOCK: "tl.constexpr"):
    start = tl.program_id(0) * stretch
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, stretch, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + start + i, mask=(i < stretch) & (start + i < n), other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total, axis=0))


def triton_matmul(a, b, c, n, M: "tl.constexpr", N: "tl.constexpr", K: "tl.constexpr"):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, n, K):
        left = tl.load(a + rows[:, None] * n + k + inner[None, :],
                       mask=(rows[:, None] < n) & (k + inner[None, :] < n), other=0.0)
        right = tl.load(b + (k + inner[:, None]) * n + columns[None, :],
                        mask=(k + inner[:, None] < n) & (columns[None, :] < n), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < n) & (columns[None, :] < n))


# ---- The conversation ----

class Peer:
    def __init__(self, package):
        self.side = {"numba": Numba, "cupy": Cupy, "triton": Triton}[package]()
        self.go = self.results = None

    def prepare(self, *words):
        case, size = "_".join(words[:-1]), int(words[-1])
        make = getattr(self.side, case, None)
        if make is None:
            return "none"
        self.go, self.results = make(size)
        return "ok"

    def run(self, repeats):
        start, stop = self.side.events()
        self.side.record(start)
        for _ in range(int(repeats)):
            self.go()
        self.side.record(stop)
        return f"ok {self.side.elapsed(start, stop) / int(repeats):.9f}"

    def checksum(self):
        return f"ok {checksum([self.side.host(a) for a in self.results]):.17g}"

    def release(self):
        self.go = self.results = None
        return "ok"


def sentence(error):
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def main():
    try:
        peer = Peer(sys.argv[1])
    except Exception as error:  # a package that is broken is one that is not here
        print(sentence(error), flush=True)
        return
    print("ok", flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        try:
            answer = getattr(peer, command)(*words)
        except Exception as error:
            answer = sentence(error)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
