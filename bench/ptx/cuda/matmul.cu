#define T BLOCK_X

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int rows,
           int depth, int columns)
{
    __shared__ float ta[T][T], tb[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0.0f;
    for (int k = 0; k < depth; k += T) {
        ta[ty][tx] = y < rows && k + tx < depth ? a[y * depth + k + tx] : 0.0f;
        tb[ty][tx] = k + ty < depth && x < columns ? b[(k + ty) * columns + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    if (y < rows && x < columns)
        c[y * columns + x] = sum;
}
