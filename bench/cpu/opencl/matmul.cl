kernel void matmul_naive(global const float *restrict a, global const float *restrict b, global float *restrict c, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

#define T 32

kernel void matmul(global const float *restrict a, global const float *restrict b, global float *restrict c, int n)
{
    local float ta[T][T], tb[T][T];
    int tx = get_local_id(0), ty = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        ta[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
        tb[ty][tx] = k + ty < n && col < n ? b[(k + ty) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < T; j++)
            sum += ta[ty][j] * tb[j][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

#define DEPTH 32

kernel void matmul_tuned(global const float *restrict a, global const float *restrict b, global float *restrict c, int n)
{
    local float ta[64][DEPTH], tb[DEPTH][64];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * 64 + ty, col = get_group_id(0) * 64 + tx;
    float sum[4][4];
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            sum[r][s] = 0;
    for (int k = 0; k < n; k += DEPTH) {
        for (int r = 0; r < 4; r++)
            for (int j = 0; j < DEPTH; j += 16)
                ta[ty + 16 * r][tx + j] = a[(row + 16 * r) * n + k + tx + j];
        for (int j = 0; j < DEPTH; j += 16)
            for (int s = 0; s < 4; s++)
                tb[ty + j][tx + 16 * s] = b[(k + ty + j) * n + col + 16 * s];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < DEPTH; j++)
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++)
                    sum[r][s] += ta[ty + 16 * r][j] * tb[j][tx + 16 * s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            c[(row + 16 * r) * n + col + 16 * s] = sum[r][s];
}
