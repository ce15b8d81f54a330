/* The shape of a CPU's gangs: how many rows and lanes run as one, chosen for the kernel's block, its
 * types, its local arrays and the host's vectors. */
#include "base/guard.h"
#include "lower/block/block.h"

/* The largest power of two that is not above n, which is at least 1. */
static int power_below(int64_t n)
{
    int p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

static bool visit_random(void *found, const kj_tstmt *s, const kj_texpr *e)
{
    (void)s;
    *(bool *)found |= e && e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_RANDOM;
    return !*(bool *)found;
}

/* Does the kernel work on 64-bit elements, or multiply words into 64 bits, as Philox does? They take twice the
 * registers. */
static bool is_wide(const kj_tkernel *k)
{
    bool random = false;
    for (int i = 0; i < k->nroots; i++)
        if (kj_unit(k->roots[i]) == 8)
            return true;
    kj_walk(k->body->body, NULL, visit_random, &random);
    return random;
}

static int parts_of(const kj_tarray *a)
{
    return a->of ? kj_count_parts(a->of) : 1;
}

/* Scalars in the largest elements: all of them are in registers together. */
static int most_parts(const kj_tkernel *k)
{
    int n = 1;
    for (int i = 0; i < k->nroots; i++)
        if (parts_of(k->roots[i]) > n)
            n = parts_of(k->roots[i]);
    return n;
}

/* Scalars of local arrays a thread: in registers they share these with everything else. Bytes and halves of words count
 * as parts of one. */
static int64_t count_locals(const kj_tkernel *k)
{
    int64_t bytes = 0;
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->space == KJ_LOCAL) {
            int unit = kj_unit(k->roots[i]);
            bytes += k->roots[i]->static_count * parts_of(k->roots[i]) * (unit < 4 ? unit : 4);
        }
    return (bytes + 3) / 4;
}

/* So many lanes in all that what a thread has at once fits registers, or nearly: a kernel of few values has several vectors of
 * each, as operations wait for one another, and one of many would store and load most of them at each turn. */
static int fitting_lanes(const kj_lower *lo, int in_all)
{
    enum {
        REGISTERS = 24
    }; /* also of processors with 16: five values of a mandelbrot set had best be 20 */
    int live = kj_live_values(lo->arena, lo->kernel, lo->deps);
    if (live == 0)
        return in_all;
    int lanes = lo->vector * power_below(live < REGISTERS ? REGISTERS / live : 1);
    return lanes < in_all ? lanes : in_all;
}

/* How many rows a gang has, of `high` that a block has, where it may have `most`: such that few are left for a gang
 * of its own. That one is more code, which there is one copy of already where lanes are left, too. */
static int rows_of_gang(int64_t high, int most, bool even)
{
    int64_t gangs = (high + most - 1) / most;
    int rows = 1;
    if (even)
        return (int)((high + gangs - 1) / gangs);
    while (rows * 2 <= most && high % (rows * 2) == 0)
        rows *= 2;
    return rows;
}

/* Across blocks gangs are those of a row of 16 threads, of bytes and of what streams 32, where rows have something to share;
 * else long ones, of one row: there is a second copy of the code, for the end of a run. */
static int64_t along_blocks(const kj_lower *lo)
{
    const int64_t *block = lo->kernel->block;
    int least = lo->kernel->streams ? KJ_GANG_OF_BYTES : kj_least_gang(lo->kernel);
    return lo->kernel->shares && block[1] % 2 == 0 ? least : block[0] * KJ_RUN_OF_BLOCKS;
}

/* Four vector registers a value along x, and as many again by rows: enough independent operations
 * to hide their latency, and rows share what does not depend on them. Where warps are asked for, a
 * row is one: what a warp has in common is then a scalar. */
void kj_gang_choose(kj_lower *lo, bool single)
{
    const int64_t *block = lo->kernel->block;
    int64_t threads = block[0] * block[1] * block[2];
    int64_t locals = count_locals(lo->kernel);
    lo->masks_cost = lo->vector < 16; /* AVX-512 masks words for nothing */
    int vectors = is_wide(lo->kernel) ? 2 : 4, parts = most_parts(lo->kernel);
    vectors = parts < vectors ? vectors / parts : 1;
    if (locals > 4)
        vectors = locals >= 16 ? 1 : (int)(16 / locals);
    int most = single ? 1 : lo->vector * power_below(vectors);
    int in_all = locals > 4 || lo->deps->atomics ? most : 2 * most;
    in_all = single ? in_all : fitting_lanes(lo, in_all);
    most = most > in_all ? in_all : most;
    most = most > KJ_MAX_LANES ? KJ_MAX_LANES : most;
    bool watched = !single && lo->kernel->checks &
                                  KJ_CHECKS_WATCHED; /* all CPUs alike: what is told is the same */
    if (watched)
        most = in_all = KJ_WARP;
    bool warps = lo->deps->warps;
    lo->flat =
        !single && threads > block[0] && (warps ? block[0] % KJ_WARP != 0 : lo->kernel->flat);
    lo->across = lo->kernel->across && lo->regions->fused && !single && !lo->within;
    int64_t along = lo->across ? along_blocks(lo) : lo->flat ? threads : block[0];
    int lanes = power_below(along);
    if (lanes < KJ_GANG && lanes < along)
        lanes *= 2;
    lo->gang_lanes = warps && !single ? KJ_WARP : lanes > most ? most : lanes;
    lo->gang_rows = 1;
    KJ_REQUIRE(power_below(lo->gang_lanes) == lo->gang_lanes);
    bool even = !lo->across && (along < lo->gang_lanes || along % lo->gang_lanes == 0);
    bool one_row = lo->flat || watched || (lo->across && !lo->kernel->shares);
    if (!one_row && lo->gang_lanes > 1 && in_all >= lo->gang_lanes) {
        int rows = in_all / lo->gang_lanes;
        lo->gang_rows = rows_of_gang(block[1], rows < KJ_MAX_ROWS ? rows : KJ_MAX_ROWS, even);
    }
    lo->width = (along + lo->gang_lanes - 1) / lo->gang_lanes * lo->gang_lanes;
    lo->threads = lo->flat ? lo->width : lo->width * block[1] * block[2];
}
