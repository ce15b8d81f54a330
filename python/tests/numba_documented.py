"""The kernels of Numba's documentation for CUDA, as numba_kernels.py has others."""
import math

import numpy as np

from numba_emulator import case, cuda, floats, ints, zeros

float32, float64, int32, int64 = np.float32, np.float64, np.int32, np.int64
TPB = 8
HALF = 0.5
CUTOFF = np.int64(3600)


@case(floats(100), floats(100), zeros(100), grid=4)
@cuda.jit
def vector_add(x, y, out):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        out[i] = x[i] + y[i]


@case(floats(50), grid=2)
@cuda.jit
def increment_by_one(an_array):
    # Thread id in a 1D block
    tx = cuda.threadIdx.x
    # Block id in a 1D grid
    ty = cuda.blockIdx.x
    # Block width, i.e. number of threads per block
    bw = cuda.blockDim.x
    # Compute flattened index inside the array
    pos = tx + ty * bw
    if pos < an_array.size:  # Check array boundaries
        an_array[pos] += 1


@case(floats(9, 11), grid=(3, 3), block=(4, 4))
@cuda.jit
def increment_a_2D_array(an_array):
    x, y = cuda.grid(2)
    if x < an_array.shape[0] and y < an_array.shape[1]:
        an_array[x, y] += 1


@case(floats(6, 5, of=float64), floats(5, 7, of=float64), zeros(6, 7, of=float64), grid=(2, 2), block=(4, 4))
@cuda.jit
def matmul(A, B, C):
    """Perform square matrix multiplication of C = A * B."""
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


@case(floats(9, 20), floats(20, 10), zeros(9, 10), grid=(3, 3), block=(TPB, TPB), barriers=True)
@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)

    x, y = cuda.grid(2)

    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x    # blocks per grid

    tmp = float32(0.)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]

        # Wait until all threads finish preloading
        cuda.syncthreads()

        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]

        # Wait until all threads finish computing
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


NELEM = 16


@case(ints(NELEM, of=int64), block=NELEM, barriers=True)
@cuda.jit
def array_sum(data):
    tid = cuda.threadIdx.x
    size = len(data)
    if tid < size:
        i = cuda.grid(1)
        shr = cuda.shared.array(NELEM, int32)
        shr[tid] = data[i]
        cuda.syncthreads()
        s = 1
        while s < cuda.blockDim.x:
            if tid % (2 * s) == 0:
                shr[tid] += shr[tid + s]
            s *= 2
            cuda.syncthreads()
        if tid == 0:
            data[tid] = shr[tid]


@case(floats(64), zeros(2), grid=2, barriers=True)
@cuda.jit
def block_sums(x, out):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    i = cuda.blockDim.x // 2
    while i != 0:
        if t < i:
            part[t] += part[t + i]
        cuda.syncthreads()
        i //= 2
    if t == 0:
        cuda.atomic.add(out, cuda.blockIdx.x, part[0])


@case(np.array([1] * 6 + [2] * 3 + [3] * 7),
      np.array([1, 2, 3, 5000, 5001, 5002, 1, 2, 3, 1, 2, 5000, 5001, 10000, 10001, 20000]),
      zeros(16, of=float64), zeros(1, of=int32), barriers=False)
@cuda.jit
def session_starts(user_id, timestamp, results, count):
    gid = cuda.grid(1)
    size = len(user_id)

    if gid >= size:
        return

    is_first_datapoint = gid == 0
    if not is_first_datapoint:
        new_user = user_id[gid] != user_id[gid - 1]
        timed_out = (
            timestamp[gid] - timestamp[gid - 1] > CUTOFF
        )
        is_sess_boundary = new_user or timed_out
    else:
        is_sess_boundary = True

    if is_sess_boundary:
        look_ahead = 0
        while gid + look_ahead < size:
            if look_ahead > 0 and (user_id[gid + look_ahead] != user_id[gid]
                                   or timestamp[gid + look_ahead] - timestamp[gid + look_ahead - 1] > CUTOFF):
                break
            results[gid + look_ahead] = gid
            look_ahead += 1
        cuda.atomic.add(count, 0, 1)


@case(np.linspace(0, 100, 20), zeros(20, of=float64), 5, 0.25, grid=2, block=10, barriers=True)
@cuda.jit
def solve_heat_equation(buf_0, buf_1, timesteps, k):
    i = cuda.grid(1)

    # Don't continue if our index is outside the domain
    if i >= len(buf_0):
        return

    # Prepare to do a grid-wide synchronization later
    grid = cuda.cg.this_grid()

    for step in range(timesteps):
        # Select the buffer from the previous timestep
        if (step % 2) == 0:
            data = buf_0
            next_data = buf_1
        else:
            data = buf_1
            next_data = buf_0

        # Get the current temperature associated with this point
        curr_temp = data[i]

        # Apply formula from finite difference equation
        if i == 0:
            # Left wall is held at T = 0
            next_temp = curr_temp + k * (data[i + 1] - (2 * curr_temp))
        elif i == len(data) - 1:
            # Right wall is held at T = 0
            next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp))
        else:
            # Interior points are a weighted average of their neighbors
            next_temp = curr_temp + k * (
                data[i - 1] - (2 * curr_temp) + data[i + 1]
            )

        # Write new value to the next buffer
        next_data[i] = next_temp

        # Wait for every thread to write before moving on
        grid.sync()


@case(zeros(6, 6, of=int32), block=6, barriers=True)
@cuda.jit
def sequential_rows(M):
    col = cuda.grid(1)
    g = cuda.cg.this_grid()

    rows = M.shape[0]
    cols = M.shape[1]

    for row in range(1, rows):
        opposite = cols - col - 1
        # Each row's elements are one greater than the previous row
        M[row, col] = M[row - 1, opposite] + 1
        # Wait until all threads have written their column element,
        # and that the write is visible to all other threads
        g.sync()


PARTICLE = np.dtype([("x", np.float32), ("v", np.float32), ("hits", np.int32)], align=True)


@case(np.array([(1, 2, 3), (4, 5, 6), (-1, 0.5, 0)], PARTICLE), np.array([(3, 1, 1), (0.5, 4, 9), (2, 2, 2)], PARTICLE),
      np.zeros(3, PARTICLE))
@cuda.jit
def add_of_structs(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        p = a[i]
        out[i].x = p.x + b[i].x
        out[i]["v"] = p["v"] * b[i]["v"]
        p.hits += 1                         # the element itself, which p names
        out[i].hits = p.hits + b[i].hits


def polynomial(x, a=1.0, b=0.5, c=-2.0):
    return (a * x + b) * x + c


@cuda.jit(device=True)
def derivative(x, a, b):
    """2 a x + b"""
    return 2 * a * x + b


@case(floats(20, of=float64), zeros(20, of=float64))
@cuda.jit
def polynomials(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = polynomial(x[i]) + polynomial(x[i], c=i, b=2.5) + derivative(x[i], 1.5, b=HALF)


def business_logic(x, y, z):
    return 4 * z * (2 * x - (4 * y) / 2 * math.pi)


@case(np.array([1, 10, 234]), np.array([2, 2, 4014]), np.array([3, 14, 2211]), zeros(3, of=float64))
@cuda.jit
def cpu_gpu_compat(xarr, yarr, zarr, res):
    tid = cuda.grid(1)
    if tid < len(xarr):
        res[tid] = business_logic(xarr[tid], yarr[tid], zarr[tid])


PAIR = np.dtype([("a", PARTICLE), ("n", np.int32)], align=True)


@case(np.zeros((4, 3), PAIR), np.arange(12, dtype=int32).reshape(4, 3))
@cuda.jit
def records_by_name(pairs, x):
    i = cuda.grid(1)
    if i < pairs.shape[0]:
        for j in range(-1, 2):
            pair = pairs[i - 1, j]
            inner = pairs[i - 1, j].a
            pair.n = x[i - 1, j]
            inner.x = pair.n * 0.5
            pair.a.hits += 2
