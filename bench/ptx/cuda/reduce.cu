static __device__ float block_sum(float *buf, float value)
{
    int t = threadIdx.x;
    buf[t] = value;
    __syncthreads();
    for (int half = BLOCK_X / 2; half > 0; half /= 2) {
        if (t < half)
            buf[t] += buf[t + half];
        __syncthreads();
    }
    return buf[0];
}

extern "C" __global__ void __launch_bounds__(BLOCK_X)
    sum(const float *__restrict__ x, float *__restrict__ partial, int n)
{
    __shared__ float buf[BLOCK_X];
    float mine = 0.0f;
    for (int i = blockIdx.x * BLOCK_X + threadIdx.x; i < n; i += gridDim.x * BLOCK_X)
        mine += x[i];
    float total = block_sum(buf, mine);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}
