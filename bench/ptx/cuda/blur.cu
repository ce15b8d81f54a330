__constant__ float W[5] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};

static __device__ unsigned char blurred(const unsigned char *__restrict__ channel, int height,
                                        int width, int y, int x)
{
    float sum = 0.0f;
    for (int dy = 0; dy < 5; dy++) {
        int row = min(max(y + dy - 2, 0), height - 1);
        for (int dx = 0; dx < 5; dx++) {
            int col = min(max(x + dx - 2, 0), width - 1);
            sum += W[dy] * W[dx] * channel[row * width + col];
        }
    }
    return (unsigned char)rintf(sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    blur_grey(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst, int height,
              int width)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (y < height && x < width)
        dst[y * width + x] = blurred(src, height, width, y, x);
}
