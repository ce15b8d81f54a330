// CUB's sum and inclusive scan, for side_library.c: a library that nvcc makes, with no more of CUDA's than the driver
// needed where it runs. With temporary memory NULL each says how much it wants.
#include <cub/cub.cuh>

extern "C" int bench_cub_sum(void *temporary, size_t *bytes, const float *x, float *out, int n, cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(temporary, *bytes, x, out, n, stream);
}

extern "C" int bench_cub_scan(void *temporary, size_t *bytes, const int *x, int *out, int n, cudaStream_t stream)
{
    return cub::DeviceScan::InclusiveSum(temporary, *bytes, x, out, n, stream);
}
