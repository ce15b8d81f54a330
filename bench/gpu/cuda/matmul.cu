/* Square matrices of n rows. */
#define T 32
#define DEPTH 32

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[T][T], tb[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        ta[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
        tb[ty][tx] = k + ty < n && col < n ? b[(k + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x,
              row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

/* A thread has 4 x 4 elements of c in registers; n is a multiple of 64. */
extern "C" __global__ void matmul_tuned(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[64][DEPTH], tb[DEPTH][64];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 64 + ty, col = blockIdx.x * 64 + tx;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += DEPTH) {
        for (int r = 0; r < 64; r += 16)
            for (int j = 0; j < DEPTH; j += 16)
                ta[ty + r][tx + j] = a[(row + r) * n + k + tx + j];
        for (int j = 0; j < DEPTH; j += 16)
            for (int s = 0; s < 64; s += 16)
                tb[ty + j][tx + s] = b[(k + ty + j) * n + col + s];
        __syncthreads();
        for (int j = 0; j < DEPTH; j++)
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int s = 0; s < 4; s++)
                    sum[r][s] += ta[ty + 16 * r][j] * tb[j][tx + 16 * s];
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int s = 0; s < 4; s++)
            c[(row + 16 * r) * n + col + 16 * s] = sum[r][s];
}
