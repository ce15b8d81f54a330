kernel void clear(global int *restrict bins)
{
    bins[get_global_id(0)] = 0;
}

kernel void histogram(global const uchar *restrict x, global int *restrict bins, int n)
{
    local int mine[256];
    int t = get_local_id(0);
    mine[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int stretch = (n + (int)get_num_groups(0) - 1) / (int)get_num_groups(0);
    int start = get_group_id(0) * stretch, stop = min(start + stretch, n);
    for (int i = start + t; i < stop; i += get_local_size(0))
        atomic_inc(&mine[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], mine[t]);
}
