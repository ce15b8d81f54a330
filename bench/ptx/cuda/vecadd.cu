extern "C" __global__ void __launch_bounds__(BLOCK_X)
    vecadd(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, int n)
{
    int i = blockIdx.x * BLOCK_X + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}
