// CUDA C as others write it, for foreign.test: each kernel takes (in, out, n) and check/foreign.c knows its results.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <stdint.h>

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(const uint32_t *in, uint32_t *out, int n)
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// ---- Groups, shuffles, votes ----

KERNEL(groups)
{
    __shared__ uint32_t parts[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
    uint32_t v = in[HERE], sum = cg::reduce(warp, v, cg::plus<uint32_t>());
    if (warp.thread_rank() == 0)
        parts[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        uint32_t part = warp.thread_rank() < block.size() / 32 ? parts[warp.thread_rank()] : 0;
        part = cg::reduce(warp, part, cg::plus<uint32_t>());
        if (warp.thread_rank() == 0)
            parts[0] = part;
    }
    block.sync();
    out[HERE * 4] = parts[0];
    out[HERE * 4 + 1] = cg::reduce(eight, v, cg::bit_xor<uint32_t>());
    out[HERE * 4 + 2] = eight.shfl_down(v, 3) + eight.shfl_xor(v, 5);
    if (v & 1) {
        cg::coalesced_group odd = cg::coalesced_threads();
        out[HERE * 4 + 3] = odd.thread_rank() < odd.size() && odd.any(v & 1);
    } else {
        out[HERE * 4 + 3] = 2;
    }
}

KERNEL(shuffles)
{
    uint32_t v = in[HERE], lane = threadIdx.x % 32;
    uint64_t wide = (uint64_t)v << 32 | HERE;
    double d = __shfl_xor_sync(~0u, (double)v, 7);
    wide = __shfl_down_sync(~0u, wide, 2, 16);
    out[HERE * 4] = (uint32_t)(wide ^ wide >> 32);
    out[HERE * 4 + 1] = (uint32_t)d;
    out[HERE * 4 + 2] = __shfl_up_sync(~0u, v, 4) + __shfl_sync(~0u, v, lane * 5, 8);
    out[HERE * 4 + 3] = lane < 12 ? __shfl_sync(0xfffu, v, 11) : __shfl_sync(0xfffff000u, v, 31);
}

KERNEL(votes)
{
    uint32_t v = in[HERE], key = v % 5;
    int same;
    uint32_t all = __match_all_sync(~0u, v / 3 % 1, &same);
    out[HERE * 4] = __ballot_sync(~0u, v & 1) + (__activemask() >> threadIdx.x % 32 & 1);
    out[HERE * 4 + 1] = __match_any_sync(~0u, key) + __match_any_sync(~0u, (uint64_t)key << 40);
    out[HERE * 4 + 2] = __any_sync(~0u, key == 4) + 2 * __all_sync(~0u, key < 4) + 4 * same + (all & 8);
    uint32_t sum = __syncthreads_count(key == 1) + 1000 * __syncthreads_and(key < 5) + 2000 * __syncthreads_or(key == 7);
#if __CUDA_ARCH__ >= 800
    sum += __reduce_add_sync(~0u, key) + __reduce_max_sync(~0u, (int)key - 3) + __reduce_xor_sync(~0u, v);
#endif
    out[HERE * 4 + 3] = sum;
}

// ---- Halves ----

KERNEL(halves)
{
    half2 a = __halves2half2(__ushort_as_half(in[HERE] & 0xbfff), __float2half_rn((float)(int)in[HERE + n] * 1e-6f));
    half2 b = __floats2half2_rn(threadIdx.x * 0.37f - 3, 1.0f / (threadIdx.x + 1));
    half2 r[8] = {__hadd2(a, b), __hmul2(a, b), __hfma2(a, b, a), __hsub2(a, b), __hmin2(a, b), __hmax2_nan(a, b),
                  __hadd2_sat(a, b), __hfma2_relu(a, b, b)};
    for (int k = 0; k < 8; k++)
        out[HERE * 12 + k] = *(uint32_t *)&r[k];
    out[HERE * 12 + 8] = __half_as_ushort(__hneg(__low2half(a))) | __hlt(__low2half(a), __high2half(b)) << 16 |
                         __hgeu(__high2half(a), __low2half(b)) << 17;
    out[HERE * 12 + 9] = __float_as_uint(__half2float(__habs(__high2half(b))) + __low2float(b));
    out[HERE * 12 + 10] = __half2int_rz(b.x) + 100 * __half2int_rn(b.x) + __half_as_ushort(__int2half_rn((int)in[HERE]));
    out[HERE * 12 + 11] = __half_as_ushort(__double2half((double)(int)in[HERE] * 1e-5)) | __hisnan(a.x) << 16;
}

KERNEL(brains)
{
    __nv_bfloat162 a = __floats2bfloat162_rn((int)in[HERE] * 1e-7f, (int)in[HERE + n] * 1e-3f);
    __nv_bfloat162 b = __floats2bfloat162_rn(threadIdx.x * 0.37f - 3, 1.0f / (threadIdx.x + 1));
    __nv_bfloat162 r[6] = {__hadd2(a, b), __hmul2(a, b), __hfma2(a, b, a), __hmin2(a, b), __hmax2_nan(a, b), __hsub2(a, b)};
    for (int k = 0; k < 6; k++)
        out[HERE * 8 + k] = *(uint32_t *)&r[k];
    out[HERE * 8 + 6] = __bfloat16_as_ushort(__float2bfloat16_rz(__uint_as_float(in[HERE] & 0x7f7fffff)));
    out[HERE * 8 + 7] = __float_as_uint(__bfloat162float(a.x) + __bfloat162float(b.y)) + (a.x > b.x);
}

// ---- Copies that arrive later ----

KERNEL(pipelined)
{
    __shared__ uint4 tile[2][128];
    const uint4 *from = (const uint4 *)in;
    uint32_t sum = 0, turns = n / blockDim.x / 4;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &from[threadIdx.x], 16);
    __pipeline_commit();
    for (uint32_t turn = 0; turn < turns; turn++) {
        if (turn + 1 < turns)
            __pipeline_memcpy_async(&tile[(turn + 1) % 2][threadIdx.x], &from[(turn + 1) * blockDim.x + threadIdx.x], 16,
                                    turn % 3 == 0 ? 4 : 0);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        uint4 other = tile[turn % 2][threadIdx.x ^ 5];
        sum = sum * 3 + other.x + other.y * 5 + other.z * 7 + other.w * 11;
        __syncthreads();
    }
    out[HERE] = sum;
}

KERNEL(copied)
{
    __shared__ uint32_t words[64 * 3];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&words[threadIdx.x], &in[HERE], sizeof(uint32_t), pipe);
    cuda::memcpy_async(&words[64 + 2 * threadIdx.x], &in[2 * HERE], cuda::aligned_size_t<8>(8), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    out[HERE] = words[threadIdx.x ^ 1] + 3 * words[64 + (2 * threadIdx.x + 7) % 128];
    pipe.consumer_release();
}

// ---- Atomics ----

template <typename T> __device__ void all_atomics(T *to, uint32_t v)
{
    atomicAdd(&to[0], (T)v);
    atomicSub(&to[1], (T)v);
    atomicMin(&to[2], (T)v);
    atomicMax(&to[3], (T)v);
    atomicAnd(&to[4], (T)(v | 0xf0));
    atomicOr(&to[5], (T)(v & 0xff0));
    atomicXor(&to[6], (T)v);
}

KERNEL(atomics)
{
    __shared__ uint32_t words[8];
    __shared__ int ints[8];
    __shared__ float sum;
    uint32_t v = in[HERE] >> 8;
    if (threadIdx.x < 8) {
        words[threadIdx.x] = ints[threadIdx.x] = 0xf0f0f0;
        sum = 0;
    }
    __syncthreads();
    all_atomics(words, v);
    all_atomics(ints, v);
    atomicAdd(&sum, (float)(v & 15));
    all_atomics(out, v);
    all_atomics((int *)out + 8, v);
    atomicInc(&out[16], 99);
    atomicDec(&out[17], 77);
    atomicAdd((float *)&out[18], (float)(v & 15));
    atomicAdd((unsigned long long *)&out[20], (unsigned long long)v << 20);
    atomicMax((long long *)&out[22], (long long)v - (1 << 23));
    atomicAdd((double *)&out[24], (double)v);
    atomicAdd((half2 *)&out[26], __floats2half2_rn(v & 1, v >> 1 & 1));
    atomicAdd((__nv_bfloat16 *)&out[27], __float2bfloat16(v & 1));
    atomicAdd_block(&out[28], v & 7);
    atomicAdd_system(&out[29], v & 3);
    uint32_t old = out[30], seen; // a sum by compare and swap
    do {
        seen = old;
        old = atomicCAS(&out[30], seen, seen + (v & 1023));
    } while (old != seen);
    unsigned short *small = (unsigned short *)&out[31], had = *(volatile unsigned short *)small, was;
    do {
        was = had;
        had = atomicCAS(small, was, (unsigned short)(was + 1));
    } while (had != was);
    if (atomicExch(&out[32], 1) == 0)
        atomicAdd(&out[33], 1);
    __syncthreads();
    if (threadIdx.x < 8) {
        atomicAdd(&out[40 + threadIdx.x], words[threadIdx.x]);
        atomicAdd(&out[48 + threadIdx.x], ints[threadIdx.x]);
    }
    if (threadIdx.x == 0)
        atomicAdd((float *)&out[56], sum);
}

// ---- Memory ----

struct row {
    float weight;
    int8_t small;
    uint16_t middle;
    double large;
};
__constant__ row rows[3] = {{1.5f, -3, 60000, 1e10}, {-2, 7, 8, 0.25}, {0.125f, 127, 1, -8}};
__device__ uint32_t counter = 5, table[4] = {1, 10, 100, 1000};
__device__ uint32_t *pointer = &table[1];
__device__ uint32_t twice(uint32_t v) { return v * 2; }
__device__ uint32_t square(uint32_t v) { return v * v; }
__device__ uint32_t (*const functions[2])(uint32_t) = {twice, square};

__device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct shape {
    __device__ virtual uint32_t area(uint32_t v) const { return v; }
};
struct box : shape {
    __device__ uint32_t area(uint32_t v) const override { return 6 * v; }
};

KERNEL(memory)
{
    extern __shared__ uint32_t dynamic[];
    uint32_t own[9], v = in[HERE];
    const row *r = &rows[v % 3];
    for (int k = 0; k < 9; k++)
        own[(k * 4 + v) % 9] = v >> k;
    dynamic[threadIdx.x] = own[v % 9] + own[(v + 1) % 9];
    dynamic[threadIdx.x + blockDim.x] = v;
    __syncthreads();
    box b;
    shape s, *which = v & 4 ? &b : &s;
    float4 four = ((const float4 *)in)[HERE / 4];
    uchar4 bytes = ((const uchar4 *)in)[HERE];
    out[HERE * 4] = dynamic[threadIdx.x ^ 3] + dynamic[blockDim.x + (threadIdx.x + 1) % blockDim.x];
    out[HERE * 4 + 1] = (uint32_t)(int64_t)(r->weight * 8 + r->small + r->middle + r->large) + pointer[v % 3] + counter;
    out[HERE * 4 + 2] = functions[v & 1](v) + ackermann(v % 3, v / 3 % 4) + which->area(v & 1023);
    out[HERE * 4 + 3] = __float_as_uint(four.z) + bytes.x * bytes.w - bytes.y + __ldg(&in[n - 1 - HERE]) + __ldcg(&in[HERE]);
}

KERNEL(switches)
{
    uint32_t v = in[HERE], r = v;
    for (uint32_t k = 0; k < v % 9; k++) {
        switch ((r >> 3) % 8) {
        case 0: r += 3; break;
        case 1: r ^= 0x55; // and on
        case 2: r *= 3; break;
        case 3: r = r << 7 | r >> 25; continue;
        case 4: r -= k; break;
        case 5: if (k > 2) goto out; break;
        case 6: r = ~r; break;
        default: r /= k + 2;
        }
        r += 1000;
    }
out:
    __nanosleep(20);
    out[HERE] = r;
}

// ---- Numbers ----

KERNEL(integers)
{
    uint32_t a = in[HERE], b = in[HERE + n], c = a ^ b << 7;
    uint64_t w = (uint64_t)a << 32 | b;
    uint32_t *to = &out[HERE * 12];
    to[0] = __mulhi((int)a, (int)b) + __umulhi(a, c);
    to[1] = (uint32_t)__umul64hi(w, w * 3) + (uint32_t)(__mul64hi((int64_t)w, -(int64_t)w) >> 32);
    to[2] = __brev(a) ^ __byte_perm(a, b, c & 0x7777) ^ __funnelshift_l(a, b, c) ^ __funnelshift_rc(a, b, c & 63);
    to[3] = __clz(a) + 100 * __ffs(b) + 10000 * __popcll(w) + 1000000 * __clzll(w >> 20);
    to[4] = __dp4a((int)a, (int)b, (int)c) + __dp2a_lo(a, b, c);
    to[5] = __sad(a, b, c) + __vadd2(a, b) + __vabsdiffu4(a, b);
    to[6] = (uint32_t)(w / (b | 1)) ^ (uint32_t)((int64_t)w % (int64_t)(a | 1));
    to[7] = (uint32_t)(((unsigned __int128)w * w) >> 70);
    to[8] = __vimax_s32_relu((int)a, (int)b) + __vimax3_s32((int)a, (int)b, (int)c) + __viaddmin_s32_relu((int)a, (int)b, (int)c);
    to[9] = __vimax_s16x2_relu(a, b) ^ __vimin_s16x2_relu(a, c) ^ __vimax3_u16x2(a, b, c) ^ __viaddmax_s16x2(a, b, c);
    to[10] = min((int)a, (int)b) * max(a, b) + abs((int)c) + __rhadd((int)a, (int)b) + __mul24(a, b);
    to[11] = (a >> (b & 31)) + ((int)a >> (c & 31)) + (uint32_t)(w << (a & 63)) + __fns(a, 0, 3);
}

KERNEL(floats)
{
    float x = (int)in[HERE] * 1e-6f, y = (int)in[HERE + n] * 1e-3f, *to = (float *)&out[HERE * 16];
    double d = x * 1.25, e = (double)y + 0.1, *wide = (double *)(to + 10);
    to[0] = __fadd_rz(x, y) + __fmaf_ru(x, y, 1.0f) - __fmul_rd(x, y);
    to[1] = __fsqrt_rn(fabsf(x)) + __frcp_rn(y) + __fdiv_rz(x, y);
    to[2] = fminf(x, y) * fmaxf(x, 0.5f) + copysignf(y, x);
    to[3] = rintf(x) + truncf(y) + floorf(x * 3) + ceilf(y * 3);
    to[4] = (float)__float2int_rd(x) + (float)__float2uint_ru(fabsf(y)) + (float)__float2ll_rn(y * 1e4f);
    to[5] = __saturatef(x) + (float)__double2int_rz(d * 3) + __int2float_rz((int)in[HERE]);
    to[6] = __uint_as_float(in[HERE] & 0x007fffff) * 0.5f; // a subnormal number
    to[7] = (float)(isnan(x / (x - x)) + 2 * (isinf(1 / (x - x)) != 0)) + (signbit(x) ? 4 : 0);
    to[8] = sinf(x) + expf(-fabsf(y) * 1e-4f) + log1pf(fabsf(x)) + powf(fabsf(x), 0.3f) + atan2f(x, y); // nearly
    to[9] = __sinf(x * 1e-3f) + __expf(-fabsf(x)) + rsqrtf(fabsf(y) + 1) + tanhf(x) + erff(x);
    wide[0] = fma(d, e, -d) + __ddiv_ru(d, e) + sqrt(fabs(d)) + rint(e);
    wide[1] = sin(d) + exp(-fabs(e) * 1e-4) + cbrt(d); // nearly
    wide[2] = __hiloint2double((int)(in[HERE] & 0x7fffff) | 0x40000000, (int)in[HERE + n]) * 3 + (double)(int64_t)(d * 1e9);
}

// ---- CUB ----

KERNEL(cubs)
{
    typedef cub::BlockReduce<uint32_t, 128> reduce;
    typedef cub::BlockScan<uint32_t, 128> scan;
    typedef cub::BlockRadixSort<uint32_t, 128, 4> sort;
    typedef cub::WarpScan<int> warp_scan;
    __shared__ union {
        typename reduce::TempStorage reduce;
        typename scan::TempStorage scan;
        typename sort::TempStorage sort;
        typename warp_scan::TempStorage warps[4];
    } room;
    uint32_t keys[4], v = in[HERE], sum, before;
    for (int k = 0; k < 4; k++)
        keys[k] = in[(blockIdx.x * 128 + threadIdx.x) * 4 + k];
    sum = reduce(room.reduce).Sum(v);
    __syncthreads();
    scan(room.scan).ExclusiveSum(v, before);
    __syncthreads();
    sort(room.sort).Sort(keys);
    __syncthreads();
    int below;
    warp_scan(room.warps[threadIdx.x / 32]).InclusiveScan((int)v, below, [](int a, int b) { return a > b ? a : b; });
    out[HERE * 8] = threadIdx.x == 0 ? sum : 0;
    out[HERE * 8 + 1] = before;
    out[HERE * 8 + 2] = (uint32_t)below;
    for (int k = 0; k < 4; k++)
        out[HERE * 8 + 3 + k] = keys[k];
}
