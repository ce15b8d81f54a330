extern "C" __global__ void reduce(const float *x, float *out, int n)
{
    __shared__ float s[256];
    const int t = threadIdx.x, stretch = (n + gridDim.x - 1) / gridDim.x;
    const int start = blockIdx.x * stretch, stop = min(start + stretch, n);
    float sum = 0;
    for (int i = start + t; i < stop; i += blockDim.x)
        sum += x[i];
    s[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
