#define BLOCK 256
#define SOFT 0.01f

extern "C" __global__ void __launch_bounds__(BLOCK)
forces(const float *__restrict__ bodies, float *__restrict__ acc, int n)
{
    __shared__ float tile[4][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, me = i < n - 1 ? i : n - 1;
    float x = bodies[me], y = bodies[n + me], z = bodies[2 * n + me];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += BLOCK) {
        int j = base + threadIdx.x;
        for (int row = 0; row < 4; row++)
            tile[row][threadIdx.x] = j < n ? bodies[row * n + j] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            float dx = tile[0][k] - x, dy = tile[1][k] - y, dz = tile[2][k] - z;
            float inv = 1 / sqrtf(dx * dx + dy * dy + dz * dz + SOFT);
            float s = tile[3][k] * inv * inv * inv;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        acc[i] = ax;
        acc[n + i] = ay;
        acc[2 * n + i] = az;
    }
}
