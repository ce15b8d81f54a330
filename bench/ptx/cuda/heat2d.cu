#define W 32
#define H 8
#define ALPHA 0.2f

extern "C" __global__ void __launch_bounds__(W * H)
step(const float *__restrict__ src, float *__restrict__ dst, int rows, int columns)
{
    __shared__ float tile[H + 2][W + 2];
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    for (int ty = threadIdx.y; ty < H + 2; ty += H) {
        for (int tx = threadIdx.x; tx < W + 2; tx += W) {
            int sy = blockIdx.y * H + ty - 1, sx = blockIdx.x * W + tx - 1;
            bool inside = 0 <= sy && sy < rows && 0 <= sx && sx < columns;
            tile[ty][tx] = inside ? src[sy * columns + sx] : 0;
        }
    }
    __syncthreads();
    if (y < rows && x < columns) {
        int ty = threadIdx.y + 1, tx = threadIdx.x + 1;
        float l = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] -
                  4 * tile[ty][tx];
        dst[y * columns + x] = tile[ty][tx] + ALPHA * l;
    }
}
