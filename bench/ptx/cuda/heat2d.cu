#define ALPHA 0.2f

static __device__ float at(const float *__restrict__ a, int height, int width, int y, int x)
{
    return 0 <= y && y < height && 0 <= x && x < width ? a[y * width + x] : 0.0f;
}

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    step(const float *__restrict__ src, float *__restrict__ dst, int height, int width)
{
    __shared__ float tile[BLOCK_Y + 2][BLOCK_X + 2];
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    for (int ty = threadIdx.y; ty < BLOCK_Y + 2; ty += BLOCK_Y)
        for (int tx = threadIdx.x; tx < BLOCK_X + 2; tx += BLOCK_X)
            tile[ty][tx] = at(src, height, width, blockIdx.y * BLOCK_Y + ty - 1,
                              blockIdx.x * BLOCK_X + tx - 1);
    __syncthreads();
    if (y < height && x < width) {
        int ty = threadIdx.y + 1, tx = threadIdx.x + 1;
        float around = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
        dst[y * width + x] = tile[ty][tx] + ALPHA * (around - 4.0f * tile[ty][tx]);
    }
}
