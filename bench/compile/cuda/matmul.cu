#define T 32

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int rows, int inner,
                                  int columns)
{
    __shared__ float ta[T][T], tb[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    float sum = 0;
    for (int k = 0; k < inner; k += T) {
        ta[ty][tx] = row < rows && k + tx < inner ? a[row * inner + k + tx] : 0.0f;
        tb[ty][tx] = k + ty < inner && col < columns ? b[(k + ty) * columns + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    if (row < rows && col < columns)
        c[row * columns + col] = sum;
}
