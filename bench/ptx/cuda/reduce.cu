#define BLOCK 256

extern "C" __global__ void __launch_bounds__(BLOCK)
sum(const float *__restrict__ x, float *__restrict__ partial, int n)
{
    __shared__ float buf[BLOCK];
    int t = threadIdx.x;
    float mine = 0;
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        mine += x[i];
    buf[t] = mine;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half)
            buf[t] += buf[t + half];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = buf[0];
}
