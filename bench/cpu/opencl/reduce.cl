float block_sum(local float *s, float v)
{
    int t = get_local_id(0);
    s[t] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        if (t < half_)
            s[t] += s[t + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return s[0];
}

kernel void reduce(global const float *restrict x, global float *restrict out, int n)
{
    local float s[256];
    int stretch = (n + (int)get_num_groups(0) - 1) / (int)get_num_groups(0);
    int start = get_group_id(0) * stretch, stop = min(start + stretch, n);
    float sum = 0;
    for (int i = start + get_local_id(0); i < stop; i += get_local_size(0))
        sum += x[i];
    float total = block_sum(s, sum);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = total;
}

kernel void reduce_tree(global const float *restrict x, global float *restrict out, int n)
{
    local float s[256];
    int i = get_global_id(0);
    float total = block_sum(s, i < n ? x[i] : 0.0f);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = total;
}
