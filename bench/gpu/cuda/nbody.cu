#define TILE 256
#define SOFTENING 0.01f

extern "C" __global__ void nbody(const float *x, const float *y, const float *z, const float *m,
                                 float *ax, float *ay, float *az, int n)
{
    __shared__ float sx[TILE], sy[TILE], sz[TILE], sm[TILE];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const float xi = i < n ? x[i] : 0.0f, yi = i < n ? y[i] : 0.0f, zi = i < n ? z[i] : 0.0f;
    float fx = 0, fy = 0, fz = 0;
    for (int base = 0; base < n; base += TILE) {
        const int j = base + t;
        sx[t] = j < n ? x[j] : 0.0f;
        sy[t] = j < n ? y[j] : 0.0f;
        sz[t] = j < n ? z[j] : 0.0f;
        sm[t] = j < n ? m[j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            const float dx = sx[k] - xi, dy = sy[k] - yi, dz = sz[k] - zi;
            const float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
            const float w = sm[k] * inv * inv * inv;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        ax[i] = fx;
        ay[i] = fy;
        az[i] = fz;
    }
}
