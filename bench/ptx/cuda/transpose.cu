#define TILE 32
#define ROWS 8

extern "C" __global__ void __launch_bounds__(TILE *ROWS)
    transpose(const float *__restrict__ a, float *__restrict__ out, int height, int width)
{
    __shared__ float tile[TILE][TILE + 1];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, tx = threadIdx.x, ty = threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (y0 + ty + j < height && x0 + tx < width)
            tile[ty + j][tx] = a[(y0 + ty + j) * width + x0 + tx];
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS)
        if (x0 + ty + j < width && y0 + tx < height)
            out[(x0 + ty + j) * height + y0 + tx] = tile[tx][ty + j];
}
