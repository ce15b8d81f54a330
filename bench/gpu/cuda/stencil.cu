#define ALPHA 0.1f

extern "C" __global__ void heat(const float *src, float *dst, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 1 && y >= 1 && x < n - 1 && y < n - 1) {
        const float *s = src + y * n + x;
        const float c = s[0];
        dst[y * n + x] = c + ALPHA * (s[-n] + s[n] + s[-1] + s[1] - 4.0f * c);
    }
}
