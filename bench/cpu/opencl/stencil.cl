constant float ALPHA = 0.1f;
constant float W[5][5] = {{0.00390625f, 0.015625f, 0.0234375f, 0.015625f, 0.00390625f},
                          {0.015625f, 0.0625f, 0.09375f, 0.0625f, 0.015625f},
                          {0.0234375f, 0.09375f, 0.140625f, 0.09375f, 0.0234375f},
                          {0.015625f, 0.0625f, 0.09375f, 0.0625f, 0.015625f},
                          {0.00390625f, 0.015625f, 0.0234375f, 0.015625f, 0.00390625f}};

kernel void heat(global const float *restrict src, global float *restrict dst, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= 1 && y >= 1 && x < n - 1 && y < n - 1) {
        global const float *p = src + y * n + x;
        dst[y * n + x] = p[0] + ALPHA * (p[-n] + p[n] + p[-1] + p[1] - 4.0f * p[0]);
    }
}

kernel void blur(global const float *restrict src, global float *restrict dst, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= 2 && y >= 2 && x < n - 2 && y < n - 2) {
        float sum = 0;
        for (int dy = 0; dy < 5; dy++)
            for (int dx = 0; dx < 5; dx++)
                sum += W[dy][dx] * src[(y + dy - 2) * n + x + dx - 2];
        dst[y * n + x] = sum;
    }
}
