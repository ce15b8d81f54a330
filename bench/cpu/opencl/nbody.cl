constant float SOFTENING = 0.01f;

kernel void nbody(global const float *restrict x, global const float *restrict y, global const float *restrict z,
                  global const float *restrict m, global float *restrict ax, global float *restrict ay,
                  global float *restrict az, int n)
{
    local float sx[256], sy[256], sz[256], sm[256];
    int t = get_local_id(0), i = get_global_id(0);
    float xi = i < n ? x[i] : 0.0f, yi = i < n ? y[i] : 0.0f, zi = i < n ? z[i] : 0.0f;
    float fx = 0, fy = 0, fz = 0;
    for (int base = 0; base < n; base += 256) {
        int j = base + t;
        sx[t] = j < n ? x[j] : 0.0f;
        sy[t] = j < n ? y[j] : 0.0f;
        sz[t] = j < n ? z[j] : 0.0f;
        sm[t] = j < n ? m[j] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 256; k++) {
            float dx = sx[k] - xi, dy = sy[k] - yi, dz = sz[k] - zi;
            float inv = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
            float w = sm[k] * inv * inv * inv;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        ax[i] = fx;
        ay[i] = fy;
        az[i] = fz;
    }
}
