"""Kernels as Numba's users write them, each with the launch that test_numba_port.py makes of it: as kjit's port of it, and as
the Python that it is."""
import cmath
import math

import numpy as np

from numba_emulator import case, cuda, floats, ints, zeros

float32, float64, int32, int64, uint8, uint32 = np.float32, np.float64, np.int32, np.int64, np.uint8, np.uint32
TPB = 8
HALF = 0.5
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)
OFFSETS = ((0, 1), (1, 0), (0, -1), (-1, 0))
PRIMES = (2, 3, 5, 7)


# ---- numbers ----

@case(ints(16), ints(16) * 2 + 1, zeros(16, 6, of=float64))
@cuda.jit
def division_of_integers(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] / b[i]
        out[i, 1] = a[i] // b[i]
        out[i, 2] = a[i] % b[i]
        q, m = divmod(a[i], b[i])
        out[i, 3] = q + m
        out[i, 4] = -a[i] // 3 + -a[i] % 3
        out[i, 5] = 1 / 3 + 7 // 2 + TPB / 3


@case(floats(16, of=float64), floats(16, of=float64), zeros(16, 3, of=float64))
@cuda.jit
def division_of_floats(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] / b[i]
        out[i, 1] = a[i] // b[i]
        out[i, 2] = a[i] % b[i]


@case(ints(16, low=-2 ** 31, high=2 ** 31 - 1), ints(16, of=np.uint8, low=0, high=255), zeros(16, 5, of=int64))
@cuda.jit
def wide_integers(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] * a[i] // 3
        out[i, 1] = (b[i] + b[i]) // 2
        out[i, 2] = a[i] + a[i]
        out[i, 3] = a[i] << 8 | b[i]
        out[i, 4] = -a[i] + ~b[i] % 256


@case(ints(16), floats(16), zeros(16, 4, of=float64), 3, 0.1)
@cuda.jit
def mixed_types(n, x, out, k, s):
    i = cuda.grid(1)
    if i < n.size:
        out[i, 0] = n[i] * x[i]
        out[i, 1] = x[i] * s + k
        out[i, 2] = (n[i] + HALF) * k
        out[i, 3] = 0.1 * n[i] - 1 / 3


@case(ints(12, low=1, high=6), floats(12, of=float64), zeros(12, 6, of=float64))
@cuda.jit
def powers(n, x, out):
    i = cuda.grid(1)
    if i < n.size:
        out[i, 0] = n[i] ** 3
        out[i, 1] = n[i] ** n[i]
        out[i, 2] = x[i] ** 2 + x[i] ** -2
        out[i, 3] = x[i] ** n[i] + x[i] ** -n[i]
        out[i, 4] = abs(x[i]) ** 1.5 + 2 ** n[i]
        out[i, 5] = pow(abs(x[i]), 0.5) + math.pow(2.0, x[i])


@case(ints(16), zeros(16, 4, of=int32))
@cuda.jit
def bools_are_numbers(a, out):
    i = cuda.grid(1)
    if i < a.size:
        count = 0
        count += a[i] > 0
        count += (a[i] > 10) + (a[i] > 20)
        out[i, 0] = count
        out[i, 1] = True + (a[i] == 3) * 5
        even = a[i] % 2 == 0
        out[i, 2] = even & (a[i] > 0) | (a[i] < -30)
        out[i, 3] = not a[i] and 7 or -a[i]


@case(ints(16, low=-3, high=3), ints(16, low=-3, high=3), zeros(16, 4, of=int64))
@cuda.jit
def values_of_and_and_or(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] and b[i]
        out[i, 1] = a[i] or b[i] or 9
        if a[i] and b[i] > 0 or not b[i]:
            out[i, 2] = 1
        n = a[i]
        while n:
            n = n - 1 if n > 0 else n + 1
            out[i, 3] += 1


@case(ints(16), ints(16), zeros(16, 3, of=int32), -20, 20.5)
@cuda.jit
def chained_comparison(a, b, out, low, high):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = low <= a[i] < high
        out[i, 1] = 0 < a[i] <= b[i] != 7
        if low < a[i] < b[i]:
            out[i, 2] = 1


@case(floats(16, of=float64), zeros(16, 8, of=float64))
@cuda.jit
def scalars_of_python(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = int(x[i])
        out[i, 1] = round(x[i])
        out[i, 2] = min(x[i], 1) + max(x[i], 2, 3.5)
        out[i, 3] = abs(x[i]) + abs(i - 8)
        out[i, 4] = float(i) / 3
        out[i, 5] = bool(i) + 1
        out[i, 6] = int64(x[i]) // 2
        out[i, 7] = float64(int32(x[i])) + uint8(i + 200)


@case(floats(16, of=float64), zeros(16, 9, of=float64))
@cuda.jit
def functions_of_math(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i]) + 0.5
        out[i, 0] = math.sqrt(v) + math.exp(-v) + math.log(v) + math.log10(v)
        out[i, 1] = math.sin(v) * math.cos(v) + math.tan(v) + math.atan2(v, x[i])
        out[i, 2] = math.floor(x[i]) + math.ceil(x[i]) + math.trunc(x[i])
        out[i, 3] = math.hypot(v, 2) + math.copysign(v, x[i]) + math.fmod(x[i], 1.5)
        out[i, 4] = math.erf(v) + math.gamma(v) + math.degrees(v) + math.tanh(v)
        m, e = math.frexp(v)
        out[i, 5] = math.ldexp(m, e + 1)
        part, whole = math.modf(x[i])
        out[i, 6] = part - whole
        out[i, 7] = math.sqrt(i) + math.isnan(x[i]) + math.isfinite(i)
        out[i, 8] = np.sin(v) + np.arctan(v) + np.pi + np.sqrt(i) + np.abs(x[i])


# ---- variables ----

@case(floats(20, of=float64), zeros(20, of=float64))
@cuda.jit
def types_that_grow(x, out):
    i = cuda.grid(1)
    if i < x.size:
        s = 0
        n = s // 2
        for k in range(i):
            s += x[k]
        n += 3
        out[i] = s + n // 2


@case(ints(20), zeros(20, 2, of=float64))
@cuda.jit
def names_used_anew(a, out):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[i, 0] = x // 4
        x = x * 0.5
        out[i, 1] = x
        x = x > 3
        if x:
            out[i, 1] += 100


@case(ints(20), zeros(20, 3, of=int32))
@cuda.jit
def tuples_and_swaps(a, out):
    i = cuda.grid(1)
    if i < a.size:
        x, y = a[i], i
        x, y = y, x
        first, second = 1, 2
        first, second = second, first + second
        pair = (x, y * 2)
        out[i, 0] = pair[0] - pair[1]
        p, q = pair
        out[i, 1] = p * q + first * second
        lo, hi = smaller_first(a[i], 5)
        out[i, 2] = hi - lo


def smaller_first(a, b):
    if a < b:
        return a, b
    return b, a


@case(ints(20), zeros(20, 2, of=int32))
@cuda.jit
def declared_in_branches(a, out):
    i = cuda.grid(1)
    if i < a.size:
        if a[i] > 10:
            v = 1
            w = a[i]
        elif a[i] > 0:
            v = 2
            w = 5
        else:
            v = 3
            w = -1
        last = -1
        for k in range(3):
            if k == v:
                last = k
        out[i, 0] = v * 100 + w
        out[i, 1] = last * 10 + k


@case(12, 0.25, zeros(4, of=float64))
@cuda.jit
def parameters_assigned(n, s, out):
    n += 1
    n = n * 0.5
    s = s * 2
    if cuda.grid(1) == 0:
        out[0] = n
        out[1] = s


# ---- loops ----

@case(ints(16), zeros(16, 5, of=int64))
@cuda.jit
def kinds_of_range(a, out):
    i = cuda.grid(1)
    if i < a.size:
        for k in range(i):
            out[i, 0] += k
        for k in range(2, 10, 3):
            out[i, 1] = out[i, 1] * 10 + k
        for k in range(i, -1, -2):
            out[i, 2] += a[k]
        for k in range(a[i]):
            out[i, 3] += 1
        for k in range(5):
            k *= 2
            out[i, 4] += k


@case(ints(16), zeros(16, 3, of=int32))
@cuda.jit
def else_of_loops(a, out):
    i = cuda.grid(1)
    if i < a.size:
        for k in range(2, 8):
            if a[i] % k == 0:
                out[i, 0] = k
                break
        else:
            out[i, 0] = -1
        n = 0
        while n < 4:
            n += 1
            if n == a[i]:
                break
            if n == 2:
                continue
            out[i, 1] += n
        else:
            out[i, 1] += 1000
        for v in (1, 2, 4):
            out[i, 2] += v * a[i]


@case(floats(8, of=float64), floats(8, of=float64), zeros(3, of=float64))
@cuda.jit
def loops_over_arrays(x, y, out):
    if cuda.grid(1) == 0:
        for v in x:
            out[0] += v
        for i, v in enumerate(x):
            out[1] += i * v
        for v, w in zip(x, y):
            out[2] += v * w


# ---- arrays ----

@case(floats(20), zeros(20))
@cuda.jit
def indices_from_the_end(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i - 1] + x[-1] + x[-i - 1] * x[i - 3]


@case(floats(20), zeros(20))
@cuda.jit
def stencil(x, out):
    i = cuda.grid(1)
    if 1 <= i < x.size - 1:
        for k in range(3):
            out[i] += WEIGHTS[k] * x[i + k - 1]
    elif i < x.size:
        out[i] = x[i]


@case(floats(6, 8), zeros(6, 8), grid=(2, 2), block=(4, 4))
@cuda.jit
def neighbours(a, out):
    j, i = cuda.grid(2)
    h, w = a.shape
    if i < h and j < w:
        total = 0.0
        for n in range(4):
            y = i + OFFSETS[n][0] if n == 0 else i + OFFSETS[1][0] * (n == 1) - (n == 3)
            x = j + (n == 0) - (n == 2)
            if 0 <= y < h and 0 <= x < w:
                total += a[y, x]
        out[i, j] = total / 4


@case(floats(5, 6), zeros(5))
@cuda.jit
def rows_and_views(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        row = a[i]
        s = 0.0
        for v in row[1:-1]:
            s += v
        out[i] = s + a[i, -2:][0] + a[:, 2][i] + a.T[3, i] + len(row)


@case(zeros(4, 6, of=int32), ints(6))
@cuda.jit
def whole_rows(out, x):
    i = cuda.grid(1)
    if i < 3:
        out[i, :] = i + 1
        out[i, 2:4] = x[2:4]
    if i == 3:
        out[i] = x


@case(ints(12), zeros(12, 4, of=int32))
@cuda.jit
def local_memory(a, out):
    i = cuda.grid(1)
    seen = cuda.local.array(4, int32)
    for k in range(4):
        seen[k] = 0
    if i < a.size:
        for k in range(i + 1):
            seen[a[k] % 4] += 1
        for k in range(4):
            out[i, k] = seen[k] + PRIMES[k] + PRIMES[1]


@case(floats(16), zeros(16))
@cuda.jit
def constants(x, out):
    w = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * w[i % 3] + w[1] + len(WEIGHTS)


@case(np.arange(12, dtype=float32), zeros(12))
@cuda.jit
def fields_of_a_position(x, out):
    pos = cuda.grid(2)
    m = x.reshape(3, 4)
    o = out.reshape(3, 4)
    if pos[0] < 4 and pos[1] == 0:
        for y in range(3):
            o[y, pos[0]] = m[y, pos[0]] * cuda.gridsize(2)[0]


# ---- complex numbers, halves ----

@case(floats(8, of=float64) + 1j * floats(8, of=float64), zeros(8, of=np.complex128), zeros(8, 3, of=float64))
@cuda.jit
def complex_numbers(z, out, parts):
    i = cuda.grid(1)
    if i < z.size:
        w = z[i] * 2j + 1
        out[i] = w * w.conjugate() + cmath.exp(z[i]) + complex(1, i)
        parts[i, 0] = abs(z[i]) + w.real
        parts[i, 1] = w.imag
        parts[i, 2] = cmath.phase(w)


@case(floats(8, of=np.float16), floats(8, of=np.float16), zeros(8, of=np.float16))
@cuda.jit
def halves(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * b[i] + a[i]


# ---- threads together ----

@case(ints(64, low=0, high=8), zeros(8, of=int32), grid=2)
@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@case(floats(64, of=float64), np.array([-100.0, math.nan, 100.0]), np.array([5, 0xF0, 3, 1, 0], int32), grid=2)
@cuda.jit
def atomics(x, most, bits):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(most, 0, x[i])
        cuda.atomic.max(most, 1, x[i])
        cuda.atomic.min(most, -1, x[i])
        cuda.atomic.sub(bits, 0, 1)
        cuda.atomic.or_(bits, 1, 1 << (i % 4))
        cuda.atomic.xor(bits, 2, i)
        if i == 5:
            bits[4] = cuda.atomic.cas(bits, 3, 1, 77)


@case(ints(32, low=-5, high=5), zeros(3, of=int32), barriers=True)
@cuda.jit
def barriers_that_count(x, out):
    i = cuda.threadIdx.x
    n = cuda.syncthreads_count(x[i] > 0)
    some = cuda.syncthreads_or(x[i] == 100)
    if cuda.syncthreads_and(x[i] < 100) and not some:
        if i == 0:
            out[0] = n
            out[1] = some + 5


@case(ints(16), zeros(16, 3, of=int64))
@cuda.jit
def bits(a, out):
    i = cuda.grid(1)
    if i < a.size:
        v = a[i] & 0xFF ^ i | 1
        out[i, 0] = cuda.popc(v) + (v >> 2) + (1 << i)
        out[i, 1] = cuda.selp(v > 40, v, i)
        out[i, 2] = ~v


@case(floats(32), zeros(32))
@cuda.jit(fastmath=True)
def fast(x, out):
    i = cuda.grid(1)
    assert x.size == out.size, "as many"
    if i < x.size:
        out[i] = cuda.fma(x[i], float32(2), float32(1))
        pass
