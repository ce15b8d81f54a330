/* Rows of blockDim.x; the launches have at most 1024 threads a block. */
static __device__ int block_scan(int buf[2][1024], int value)
{
    const int t = threadIdx.x;
    int from = 0;
    buf[from][t] = value;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        const int before = t >= step ? buf[from][t - step] : 0;
        buf[1 - from][t] = buf[from][t] + before;
        __syncthreads();
        from = 1 - from;
    }
    return buf[from][t];
}

extern "C" __global__ void scan_blocks(const int *x, int *out, int *totals, int n)
{
    __shared__ int buf[2][1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = block_scan(buf, i < n ? x[i] : 0);
    if (i < n)
        out[i] = sum;
    if (threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = sum;
}

extern "C" __global__ void scan_totals(int *totals, int n)
{
    __shared__ int buf[2][1024];
    __shared__ int carry;
    if (threadIdx.x == 0)
        carry = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        const int i = base + threadIdx.x;
        const int sum = block_scan(buf, i < n ? totals[i] : 0);
        const int before = carry;
        __syncthreads();
        if (i < n)
            totals[i] = before + sum;
        if (threadIdx.x == blockDim.x - 1)
            carry = before + sum;
        __syncthreads();
    }
}

extern "C" __global__ void add_offsets(int *out, const int *totals, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        out[i] += totals[blockIdx.x - 1];
}
