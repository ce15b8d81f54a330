extern "C" __global__ void mandelbrot(int *out, int limit, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    const float cr = -2.0f + 3.0f * (float)x / (float)n, ci = -1.5f + 3.0f * (float)y / (float)n;
    float zr = 0, zi = 0;
    int count = 0;
    while (count < limit && zr * zr + zi * zi <= 4.0f) {
        const float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        count++;
    }
    out[y * n + x] = count;
}
