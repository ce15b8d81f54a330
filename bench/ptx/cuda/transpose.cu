#define TILE 32
#define ROWS 8

extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose(const float *__restrict__ a, float *__restrict__ out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, tx = threadIdx.x;
    for (int ty = threadIdx.y; ty < TILE; ty += ROWS)
        if (y0 + ty < rows && x0 + tx < columns)
            tile[ty][tx] = a[(y0 + ty) * columns + x0 + tx];
    __syncthreads();
    for (int ty = threadIdx.y; ty < TILE; ty += ROWS)
        if (x0 + ty < columns && y0 + tx < rows)
            out[(x0 + ty) * rows + y0 + tx] = tile[tx][ty];
}
