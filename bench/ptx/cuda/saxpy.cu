extern "C" __global__ void __launch_bounds__(BLOCK_X)
    saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n)
{
    for (int i = blockIdx.x * BLOCK_X + threadIdx.x; i < n; i += gridDim.x * BLOCK_X)
        y[i] = a * x[i] + y[i];
}
