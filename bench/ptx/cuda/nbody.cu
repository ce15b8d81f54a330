#define SOFT 0.01f

extern "C" __global__ void __launch_bounds__(BLOCK_X)
    forces(const float *__restrict__ bodies, float *__restrict__ acc, int n)
{
    __shared__ float tile[4][BLOCK_X];
    int i = blockIdx.x * BLOCK_X + threadIdx.x, me = min(i, n - 1);
    float x = bodies[me], y = bodies[n + me], z = bodies[2 * n + me];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += BLOCK_X) {
        int j = base + threadIdx.x;
        for (int row = 0; row < 4; row++)
            tile[row][threadIdx.x] = j < n ? bodies[row * n + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BLOCK_X; k++) {
            float dx = tile[0][k] - x, dy = tile[1][k] - y, dz = tile[2][k] - z;
            float r2 = dx * dx + dy * dy + dz * dz + SOFT;
            float inv = 1.0f / sqrtf(r2);
            float s = tile[3][k] * inv * inv * inv;
            ax = ax + s * dx;
            ay = ay + s * dy;
            az = az + s * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        acc[i] = ax;
        acc[n + i] = ay;
        acc[2 * n + i] = az;
    }
}
