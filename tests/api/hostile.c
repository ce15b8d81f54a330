/* Kernels that mean harm, made at random and run one after the other in one untrusted context: indices from anywhere,
 * loops without an end, launches of launches, prints without end, large arrays; and what has an end that is far away, of
 * parts that each are short. None accesses memory that is not its own (arrays stand between pages that may not be
 * touched; on a GPU the device would be lost), none runs for longer than it may, nothing grows, and a right kernel at
 * the end gives what is right.
 *
 * hostile [N [SEED]]: so many kernels; `make hostile` runs 20000. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "api.h"
#include "driver.h"

enum { ROOM = 1 << 16, N = 1000, ROWS = 8, LAUNCH_MS = 300 };

/* How late a launch may end. What is promised of a CPU is 100 ms, here of time of each processor behind the
 * deadline, which others that want the processors do not lengthen; but they leave less of the caches, and who sets
 * the halt waits for its turn, while the launch goes on. So it is of the driver double, which is slow; a GPU's time
 * is not the process's. */
enum { LATE_MS = 300, LATE_DOUBLE_MS = 10000, LATE_GPU_MS = 20000 };

static int count = 20;
static uint64_t seed = 1;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed * 0x2545f4914f6cdd1du) >> 33) % n;
}

/* ---- Texts ---- */

static char text[1 << 16];
static size_t length;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    assert_true(length < sizeof text);
}

static const char *number(void)
{
    static const char *const numbers[] = {"0",           "1",
                                          "-1",          "7",
                                          "999",         "1000",
                                          "65536",       "1000000",
                                          "-1000000000", "2147483647",
                                          "1 << 40",     "-(1 << 62)",
                                          "blockDim.x",  "9223372036854775807"};
    return numbers[pick(sizeof numbers / sizeof *numbers)];
}

static void put_index(int depth)
{
    static const char *const operators[] = {"+", "-", "*", "//", "%", "<<", ">>", "&", "^"};
    switch (pick(depth > 2 ? 5 : 10)) {
    case 0: put("i"); break;
    case 1: put("t"); break;
    case 2: put("i64(%s)", number()); break;
    case 3: put("x.size"); break;
    case 4: put("k"); break;
    case 5:
    case 6:
        put("i64(%s[(", pick(2) ? "at" : "x");
        put_index(depth + 1);
        put(")%s])", pick(10) ? " % 1000" : "");
        break;
    default:
        put("(");
        put_index(depth + 1);
        put(" %s ", operators[pick(sizeof operators / sizeof *operators)]);
        put_index(depth + 1);
        put(")");
    }
}

/* Mostly one of an array with n elements, so that what comes behind it is reached. */
static void put_index_below(const char *n)
{
    if (pick(12) == 0) {
        put_index(0);
        return;
    }
    put("(");
    put_index(0);
    put(") %% %s", n);
}

static void put_element(void)
{
    static const char *const arrays[] = {"x", "x", "own", "tile"};
    unsigned which = pick(5);
    if (which == 4) {
        put("m[");
        put_index_below("8");
        put(", ");
        put_index_below("1000");
        put("]");
        return;
    }
    put("%s[", arrays[which]);
    put_index_below(which < 2 ? "x.size" : which == 2 ? "own.size" : "tile.size");
    put("]");
}

static void put_statements(int depth);

static void put_loop(int depth)
{
    switch (pick(4)) {
    case 0: put("while x[0] < 1000.0 {\n"); break;
    case 1: put("for k in range(%s) {\n", number()); break;
    case 2: put("for k in range(i, "), put_index(1), put(") {\n"); break;
    default: put("while true {\n"); break;
    }
    put_statements(depth + 1);
    put("}\n");
}

static void put_statement(int depth)
{
    switch (pick(depth > 2 ? 8 : 14)) {
    case 0:
    case 1:
    case 2: put_element(), put(" = f32("), put_index(0), put(")\n"); break;
    case 3: put_element(), put(" += "), put_element(), put("\n"); break;
    case 4: put("atomic.add(x, "), put_index_below("x.size"), put(", 1)\n"); break;
    case 5:
        put("touch(m["), put_index_below("8"), put("], "), put_index_below("1000"), put(")\n");
        break;
    case 6:
        put("m["), put_index_below("8"), put(", :] = m["), put_index_below("8"), put(", :] + 1\n");
        break;
    case 7: put("s += sum(x["), put_index(1), put(":"), put_index(1), put("])\n"); break;
    case 8: put("print(\"%s\", i, s)\n", "a text that is not short at all"); break;
    case 9: put("if "), put_index(0), put(" > 5 {\n"), put_statements(depth + 1), put("}\n"); break;
    case 10: put("@unchecked {\n"), put_statements(depth + 1), put("}\n"); break;
    case 11:
        put("launch child[%d, 32](m[", 1 + (int)pick(3)), put_index_below("8"), put("], at, "),
            put_index(0), put(")\n");
        break;
    default: put_loop(depth);
    }
}

static void put_statements(int depth)
{
    for (unsigned n = 1 + pick(4); n > 0; n--)
        put_statement(depth);
}

/* ---- Much work in short parts ---- */

static int names;

static void put_work(int depth, bool together);

static void put_works(int depth, bool together)
{
    for (unsigned n = 1 + pick(6); n > 0; n--)
        put_work(depth, together);
}

static void put_turns(int depth, bool together)
{
    static const int counts[] = {1, 3, 64, 64, 1000, 4000, 4096};
    put("for j%d in range(%d) {\n", names++, counts[pick(depth ? 4 : 7)]);
    put_works(depth + 1, together);
    put("}\n");
}

static void put_atomics(void)
{
    for (unsigned n = 1 + pick(40); n > 0; n--)
        put("atomic.add(x, (v + t * %u) %% x.size, 1)\n", pick(10));
}

/* together: all threads of the block come there. */
static void put_work(int depth, bool together)
{
    static const int copies[] = {1, 4, 16, 64};
    int a = names++;
    switch (pick(depth > 2 ? 9 : 14)) {
    case 0:
        put("for a%d in range(%d) { atomic.add(x, (i64(a%d) * 7 + t) %% x.size, 1) }\n", a,
            pick(2) ? 4096 : 100, a);
        break;
    case 1:
        put("for a%d in range(64) { for b%d in range(64) { v ^= v << 3 ^ i64(a%d * b%d) ^ v // (v "
            "| 1) } "
            "}\n",
            a, a, a, a);
        break;
    case 2:
        put("for a%d in range(%d) { w = sin(w) + w ** 3.3 + fmod(w * 1e300, 1e-300) }\n", a,
            1 + (int)pick(4096));
        break;
    case 3: put(pick(2) ? "v += work(v)\n" : "v += work(work(work(v)) + work(t))\n"); break;
    case 4: put("for a%d in range(%d) { v += room(v) }\n", a, 1 + (int)pick(4000)); break;
    case 5: put("for a%d in range(4096) { own[(v + a%d * 7919) %% own.size] += 1 }\n", a, a); break;
    case 6: put("for a%d in range(4096) { v = at[v %% at.size] + a%d }\n", a, a); break;
    case 7:
        put("for a%d in range(4096) { if v %% 8191 == a%d { break }\nv += a%d }\n", a, a, a);
        break;
    case 8: put(together ? "syncthreads()\n" : "v += 1\n"); break;
    case 9: put_atomics(); break;
    case 10: /* the body is there so many times, and none of the copies counts as a turn */
        put("@unroll\nfor a%d in range(%d) {\n@unroll\nfor c%d in range(%d) { for j%d in "
            "range(4096) { v ^= "
            "i64(j%d) ^ v // (v | 1) } }\n}\n",
            a, copies[pick(4)], a, 1 + (int)pick(2), a, a);
        break;
    case 11:
        put("if v %% 3 == 0 {\n"), put_works(depth + 1, false), put("} else {\n"),
            put_works(depth + 1, false), put("}\n");
        break;
    default: put_turns(depth, together);
    }
}

static void make_long_program(void)
{
    static const int sizes[] = {10, 500, 3000, 30000, 65536};
    length = 0;
    names = 0;
    put("fn work(n: i64) -> i64 {\nvar v = n\nfor i in range(64) { for j in range(%d) { v ^= v << "
        "3 ^ "
        "i64(i * j) ^ v // (v | 1) } }\nreturn v }\n",
        1 + (int)pick(64));
    put("fn room(n: i64) -> i64 {\nlet a = local.array(%d, i64)\na[n %% a.size] = n\nreturn a[(n * "
        "n) "
        "%% a.size] }\n",
        sizes[pick(5)]);
    put("kernel k(x: f32[], m: f32[,], at: i64[], k: i64) {\n");
    put("    let t = i64(threadIdx.x)\n    var v = t + k\n    var w = f64(v)\n");
    put("    let own = local.array(%d, f32)\n", sizes[pick(5)]);
    put_works(0, pick(2));
    put("    x[0] = f32(v) + f32(w) + own[0]\n}\n");
}

static void make_program(void)
{
    length = 0;
    put("fn touch(v: f32[], j: i64) { v[j] = 2 }\n");
    put("kernel child(x: f32[], at: i64[], n: i64) {\n"
        "    let i = grid(1)\n"
        "    x[%s] = f32(at[(i + n) %% at.size])\n",
        pick(2) ? "(i + n) % x.size" : "i + n");
    if (pick(3) == 0 && on_cpu()) /* a driver takes them as deep as its memory */
        put("    if x[0] < 1000.0 { launch child[2, 2](x, at, n + 1) }\n");
    put("}\n");
    put("%skernel k(x: f32[], m: f32[,], at: i64[], k: i64) {\n", pick(2) ? "@unchecked " : "");
    put("    let i = grid(1)\n    let t = i64(threadIdx.x)\n    var s: f32 = 0\n");
    put("    let own = local.array(%d, f32)\n    let tile = shared.array(%d, f32)\n",
        1 + (int)pick(64), 1 + (int)pick(500));
    put_statements(0);
    put("    x[0] = s + own[0] + tile[0]\n}\n");
}

/* ---- Runs ---- */

typedef struct fenced {
    char *map, *data;
    size_t size, bytes, page;
} fenced;

static fenced fence(size_t bytes, bool low)
{
    fenced f = {.page = (size_t)sysconf(_SC_PAGESIZE), .bytes = bytes};
    f.size = ROOM + 2 * f.page;
    f.map = mmap(NULL, f.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f.map, MAP_FAILED);
    assert_int_equal(mprotect(f.map + f.page, ROOM, PROT_READ | PROT_WRITE), 0);
    memset(f.map + f.page, 0x5a, ROOM);
    f.data = low ? f.map + f.page : f.map + f.page + ROOM - bytes;
    return f;
}

/* What is on the pages beside the array is as it was. */
static void drop(fenced f)
{
    for (const char *p = f.map + f.page; p < f.map + f.page + ROOM; p++)
        if ((p < f.data || p >= f.data + f.bytes) && *p != 0x5a)
            fail_msg("a kernel has written beside its array:\n%s", text);
    munmap(f.map, f.size);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void count_print(void *user, const char *lines, size_t size)
{
    (void)lines;
    *(size_t *)user += size;
}

static double spent_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The process's time at the launch's deadline. */
static volatile double at_deadline;

static void note_deadline(int number)
{
    (void)number;
    at_deadline = spent_ms();
}

static void start_clock(void)
{
    struct itimerval until = {.it_value.tv_usec = LAUNCH_MS * 1000};
    at_deadline = -1;
    setitimer(ITIMER_REAL, &until, NULL);
}

/* By how much the launch was late, of each processor. */
static double stop_clock(void)
{
    double spent = spent_ms();
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = 0}, NULL);
    return at_deadline < 0 ? 0 : (spent - at_deadline) / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static double latest;

/* What ends ahead of its time has not been late. The code is there before the time begins. */
static kjit_status run(kjit_module *mod, const kjit_config *config, const kjit_arg args[4])
{
    kjit_launch_plan *plan;
    kjit_status status = kjit_launch_plan_create(mod, "k", config, args, 4, &plan);
    if (status != KJIT_OK)
        return status;
    double begin = now_ms();
    start_clock();
    status = kjit_launch_plan_run(plan, NULL);
    double late = stop_clock(), took = now_ms() - begin;
    kjit_launch_plan_free(plan);
    latest = late > latest ? late : latest;
    bool gpu = !on_cpu() && !driver_is_double();
    if (late > (on_cpu() ? LATE_MS : LATE_DOUBLE_MS) || (gpu && took > LAUNCH_MS + LATE_GPU_MS))
        fail_msg("it took %g ms, and %g ms of each processor behind its deadline:\n%s", took, late,
                 text);
    return status;
}

/* Statuses of kernels that were ended, by their number. */
static int ended[KJIT_LIMIT + 1];

static void launch(kjit_module *mod, bool low)
{
    fenced x = fence(N * sizeof(float), low), m = fence(ROWS * N * sizeof(float), low),
           at = fence(N * sizeof(int64_t), low);
    kjit_array *a[3];
    memset(x.data, 0, x.bytes);
    memset(m.data, 0, m.bytes);
    for (int i = 0; i < N; i++)
        ((int64_t *)(void *)at.data)[i] =
            pick(3) ? (int64_t)pick(N) : (int64_t)pick(1u << 31) * 12345 - (1 << 30);
    a[0] = wrap(x.data, KJIT_F32, 1, SHAPE(N));
    a[1] = wrap(m.data, KJIT_F32, 2, SHAPE(ROWS, N));
    a[2] = wrap(at.data, KJIT_I64, 1, SHAPE(N));
    kjit_arg args[] = {kjit_arg_array(a[0]), kjit_arg_array(a[1]), kjit_arg_array(a[2]),
                       kjit_arg_i64((int64_t)pick(2000) - 500)};
    bool many = on_cpu() && pick(2) == 0;
    kjit_config config = {.grid = {1 + pick(many ? 10000 : 40)},
                          .block = {1 + pick(many ? 1024 : 128)}};
    kjit_status status = run(mod, &config, args);
    ended[status]++;
    if (status != KJIT_OK && status != KJIT_FAULT && status != KJIT_TIMEOUT &&
        status != KJIT_LIMIT && status != KJIT_COMPILE)
        fail_msg("%s: %s\n%s", kjit_status_name(status), kjit_last_error(ctx), text);
    for (int i = 0; i < 3; i++)
        kjit_array_free(a[i]);
    drop(x);
    drop(m);
    drop(at);
}

static void right(void)
{
    float data[100] = {0};
    kjit_module *mod =
        module("kernel right(x: f32[]) { let i = grid(1); if i < x.size { x[i] += f32(i) } }\n");
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(100));
    kjit_config config = {.grid = {1}, .block = {128}, .timeout_ms = 100000};
    OK(kjit_launch(mod, "right", &config, (kjit_arg[]){kjit_arg_array(x)}, 1));
    for (int i = 0; i < 100; i++)
        assert_true(data[i] == (float)i);
    kjit_array_free(x);
    kjit_module_free(mod);
}

static long megabytes(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE) >> 20;
}

static void test_all(void **state)
{
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION,
                          .launch_ms = LAUNCH_MS,
                          .print_bytes = 10000,
                          .launches = 1000};
    kjit_context_options options = {.untrusted = 1, .limits = &limits, .cache = "off"};
    size_t printed = 0;
    long before = 0;
    int compiled = 0;
    (void)state;
    OK(kjit_context_create(&options, &ctx, NULL, 0));
    driver_of_context();
    for (int i = 0; i < count; i++) {
        kjit_module *mod;
        uint64_t first = seed;
        (pick(3) || !on_cpu() ? make_program
                              : make_long_program)(); /* a GPU's sums nobody bounds */
        put("# %llu\n", (unsigned long long)first);
        kjit_set_print(ctx, count_print, &printed);
        kjit_status status = kjit_module_compile(ctx, "hostile.knl", text, length, NULL, &mod);
        if (status != KJIT_OK && status != KJIT_COMPILE)
            fail_msg("%s: %s\n%s", kjit_status_name(status), kjit_last_error(ctx), text);
        if (getenv("KJIT_HOSTILE_SHOW"))
            print_message("%s\n%s\n", text, status == KJIT_OK ? "" : kjit_last_error(ctx));
        if (status == KJIT_OK) {
            compiled++;
            launch(mod, i % 2);
        }
        kjit_module_free(mod);
        if (i % 100 == 99)
            OK(kjit_deallocate_pending(ctx));
        if (i == count / 2)
            before = megabytes();
    }
    OK(kjit_deallocate_pending(ctx));
    right();
    assert_true(compiled > count / 2);
    assert_true(printed <= (size_t)count * 10000);
    if (megabytes() > before + 50)
        fail_msg("the process has grown from %ld to %ld MB", before, megabytes());
    print_message(
        "%d of %d compiled: %d ran, %d faults, %d out of time (%.0f ms late), %d limits; %ld "
        "MB\n",
        compiled, count, ended[KJIT_OK], ended[KJIT_FAULT], ended[KJIT_TIMEOUT], latest,
        ended[KJIT_LIMIT], megabytes());
    kjit_context_destroy(ctx);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    if (argc > 1)
        count = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = note_deadline, .sa_flags = SA_RESTART},
              NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
