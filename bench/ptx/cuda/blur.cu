__constant__ float W[5] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};

__device__ static int clamp(int i, int last)
{
    return i < 0 ? 0 : i > last ? last : i;
}

extern "C" __global__ void __launch_bounds__(256)
blur_grey(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst, int rows,
          int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns)
        return;
    float sum = 0;
    for (int dy = 0; dy < 5; dy++) {
        int row = clamp(y + dy - 2, rows - 1);
        for (int dx = 0; dx < 5; dx++) {
            int column = clamp(x + dx - 2, columns - 1);
            sum += W[dy] * W[dx] * src[row * columns + column];
        }
    }
    int i = (int)rintf(sum);
    dst[y * columns + x] = (unsigned char)(i < 0 ? 0 : i > 255 ? 255 : i);
}
