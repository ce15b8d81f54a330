extern "C" __global__ void transpose(const float *a, float *out, int n)
{
    __shared__ float tile[32][33];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, tx = threadIdx.x;
    for (int ty = threadIdx.y; ty < 32; ty += 8)
        if (y0 + ty < n && x0 + tx < n)
            tile[ty][tx] = a[(y0 + ty) * n + x0 + tx];
    __syncthreads();
    for (int ty = threadIdx.y; ty < 32; ty += 8)
        if (x0 + ty < n && y0 + tx < n)
            out[(x0 + ty) * n + y0 + tx] = tile[tx][ty];
}
