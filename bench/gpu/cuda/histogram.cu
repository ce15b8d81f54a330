extern "C" __global__ void clear(int *bins)
{
    bins[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}

extern "C" __global__ void histogram(const unsigned char *x, int *bins, int n)
{
    __shared__ int mine[256];
    const int t = threadIdx.x, stretch = (n + gridDim.x - 1) / gridDim.x;
    const int start = blockIdx.x * stretch, stop = min(start + stretch, n);
    mine[t] = 0;
    __syncthreads();
    for (int i = start + t; i < stop; i += blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    atomicAdd(&bins[t], mine[t]);
}
