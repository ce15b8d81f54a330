kernel void mandelbrot(global int *restrict out, int limit, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) {
        float cr = -2.0f + 3.0f * (float)x / (float)n;
        float ci = -1.5f + 3.0f * (float)y / (float)n;
        float zr = 0, zi = 0;
        int i = 0;
        while (i < limit && zr * zr + zi * zi <= 4.0f) {
            float next = zr * zr - zi * zi + cr;
            zi = 2.0f * zr * zi + ci;
            zr = next;
            i++;
        }
        out[y * n + x] = i;
    }
}
