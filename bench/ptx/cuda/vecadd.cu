extern "C" __global__ void __launch_bounds__(256)
vecadd(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}
