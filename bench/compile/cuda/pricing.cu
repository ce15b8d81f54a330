#define ROOT_HALF 0.70710678f
#define PI 3.14159265f

static __device__ float normal(float x)
{
    return 0.5f + 0.5f * erff(x * ROOT_HALF);
}

extern "C" __global__ void pricing(const float *spot, const float *strike, const float *years,
                                   float *call, float *put, float rate, float vol, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float t = years[i];
        const float sigma = vol * (1.0f + 0.25f * sinf(2.0f * PI * t));
        const float spread = sigma * sqrtf(t);
        const float d1 =
            (logf(spot[i] / strike[i]) + (rate + 0.5f * sigma * sigma) * t) / spread;
        const float d2 = d1 - spread;
        const float floor_price = strike[i] * expf(-rate * t) * powf(1.0f + 0.01f * t, -0.5f);
        call[i] = spot[i] * normal(d1) - floor_price * normal(d2);
        put[i] = floor_price * normal(-d2) - spot[i] * normal(-d1);
    }
}
