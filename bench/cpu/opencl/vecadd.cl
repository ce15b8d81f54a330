kernel void vecadd(global const float *restrict x, global const float *restrict y, global float *restrict out, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = x[i] + y[i];
}
