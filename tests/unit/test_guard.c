/* Steps that do not reach their end: for each way out of one, what it gives, and that the thread
 * and LLVM go on. */
#include "parsed.h"

#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/guard.h"
#include "compile.h"
#include "identity.h"
#include "sema/program.h"

/* C++'s operator new, and what LLVM calls where it gives up. */
void *cxx_new(size_t size) __asm__("_Znwm");
void cxx_throw_no_memory(void) __asm__("_ZSt17__throw_bad_allocv");
void llvm_fatal(const char *reason, bool dump) __asm__("_ZN4llvm18report_fatal_errorEPKcb");
void llvm_no_memory(const char *reason, bool dump) __asm__("_ZN4llvm22report_bad_alloc_errorEPKcb");

static void *volatile kept;

static void ends(void *data)
{
    *(int *)data = 1;
}

static void allocates(void *data)
{
    kj_arena_alloc(data, SIZE_MAX / 2);
}

static void throws(void *data)
{
    (void)data;
    kept = cxx_new(SIZE_MAX / 4);
}

static void throws_itself(void *data)
{
    (void)data;
    cxx_throw_no_memory();
}

/* Calls operator new from code that nothing can unwind, as some of LLVM's cannot be. */
void *new_below_a_gap(size_t size);
#ifdef __x86_64__
__asm__(".pushsection .text\n"
        "new_below_a_gap: subq $8, %rsp\n"
        "call _Znwm@PLT\n"
        "addq $8, %rsp\n"
        "ret\n"
        ".popsection");
#else
void *new_below_a_gap(size_t size)
{
    return cxx_new(size);
}
#endif

static void throws_below_a_gap(void *data)
{
    (void)data;
    kept = new_below_a_gap(SIZE_MAX / 4);
}

static void dies(void *data)
{
    (void)data;
    llvm_fatal("too much of it", false);
}

static void starves(void *data)
{
    (void)data;
    llvm_no_memory("Allocation failed", false);
}

static void requires(void *data)
{
    KJ_REQUIRE(*(int *)data == 1);
}

static void nests(void *data)
{
    int *one = data;
    kj_arena arena;
    kj_complaint complaint;
    kj_arena_init(&arena, NULL);
    assert_int_equal(kj_guarded(&arena, throws, NULL, &complaint), KJ_NO_ROOM);
    kj_arena_free(&arena);
    *one = 2;
    kj_break(KJ_BROKEN, "the outer one");
}

/* A kernel, compiled: afterwards LLVM is ready, and its handlers are ours. */
static void compiles(void)
{
    static const kj_layout layouts[] = {KJ_LAYOUT_C};
    parsed p;
    kj_code code;
    parse_text(&p, "kernel k(x: f32[]) { x[grid(1)] = sin(x[grid(1)]) }");
    kj_records *records = kj_records_new();
    const kj_program *program = kj_sema_program(&p.arena, &p.diag, &p.file, 1, records, false);
    kj_spec spec = {.block = {64, 1, 1}, .small = true, .layouts = layouts};
    kj_compile_options options = {.opt_level = 3};
    assert_true(kj_compile(&p.arena, &p.diag, program, program->kernels, &spec, &options,
                           KJ_STAGE_OBJECT, &code));
    kj_code_free(&code);
    close_text(&p);
    kj_records_free(records);
}

typedef kj_outcome runs(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint);
static runs *const ways[] = {kj_guarded, kj_guarded_apart};

static void every_way_out(void **state)
{
    (void)state;
    compiles();
    for (int way = 0; way < 2; way++) {
        for (int again = 0; again < 3; again++) {
            kj_arena arena;
            kj_complaint why;
            jmp_buf outer;
            int done = 0;
            kj_arena_init(&arena, &outer);
            assert_int_equal(ways[way](&arena, ends, &done, NULL), KJ_DONE);
            assert_int_equal(done, 1);
            assert_int_equal(ways[way](&arena, allocates, &arena, &why), KJ_NO_ROOM);
            assert_int_equal(ways[way](&arena, throws, NULL, &why), KJ_NO_ROOM);
            assert_int_equal(ways[way](&arena, throws_itself, NULL, &why), KJ_NO_ROOM);
            assert_int_equal(ways[way](&arena, throws_below_a_gap, NULL, &why), KJ_NO_ROOM);
            assert_int_equal(ways[way](&arena, requires, &done, &why), KJ_DONE);
            done = 0;
            assert_int_equal(ways[way](&arena, requires, &done, &why), KJ_BROKEN);
            assert_non_null(strstr(why.text, "test_guard.c: not so: *(int *)data == 1"));
            assert_int_equal(ways[way](&arena, nests, &done, &why), KJ_BROKEN);
            assert_string_equal(why.text, "the outer one");
            assert_int_equal(done, 2);
            if (!KJ_LLVM_IS_SHARED) {
                assert_int_equal(ways[way](&arena, dies, NULL, &why), KJ_BROKEN);
                assert_string_equal(why.text, "too much of it");
                assert_int_equal(ways[way](&arena, starves, NULL, &why), KJ_NO_ROOM);
            }
            assert_ptr_equal(arena.fail, &outer);
            kj_arena_free(&arena);
            compiles();
        }
    }
    kj_break(KJ_BROKEN, "nobody"); /* outside of a step it comes back */
}

static void takes_stack(void *data)
{
    enum { MUCH = 4 << 20 };
    volatile char room[MUCH];
    for (size_t i = 0; i < MUCH; i += 4096)
        room[i] = 1;
    *(int *)data = room[MUCH / 4096 * 4096 - 4096];
}

static void is_apart(void *data)
{
    sigset_t blocked;
    assert_int_equal(fegetround(), FE_TONEAREST);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_true(sigismember(&blocked, SIGALRM));
    *(pthread_t *)data = pthread_self();
}

/* From a thread with little stack, and settings of its own. */
static void *on_small_stack(void *data)
{
    kj_arena arena;
    int done = 0;
    pthread_t thread = pthread_self();
    (void)data;
    kj_arena_init(&arena, NULL);
    fesetround(FE_UPWARD);
    assert_int_equal(kj_guarded_apart(&arena, takes_stack, &done, NULL), KJ_DONE);
    assert_int_equal(done, 1);
    assert_int_equal(kj_guarded_apart(&arena, is_apart, &thread, NULL), KJ_DONE);
    assert_false(pthread_equal(thread, pthread_self()));
    assert_int_equal(fegetround(), FE_UPWARD);
    return NULL;
}

static void apart_is_another_thread(void **state)
{
    pthread_t thread;
    (void)state;
    assert_true(kj_thread_start(&thread, 128 << 10, on_small_stack, NULL));
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A step that takes its time, and has another one in it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool begun, ended;
} slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void takes_time(void *data)
{
    (void)data;
    pthread_mutex_lock(&slow.lock);
    slow.begun = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    kj_arena arena;
    int done = 0;
    kj_arena_init(&arena, NULL);
    slow.ended = kj_guarded_apart(&arena, ends, &done, NULL) == KJ_DONE;
    kj_arena_free(&arena);
}

static void *runs_slowly(void *data)
{
    kj_arena arena;
    kj_arena_init(&arena, NULL);
    kj_guarded_apart(&arena, takes_time, NULL, NULL);
    kj_arena_free(&arena);
    return data;
}

static void a_fork_waits_for_steps(void **state)
{
    pthread_t thread;
    kj_arena arena;
    int done = 0, status = -1;
    (void)state;
    assert_true(kj_thread_start(&thread, 128 << 10, runs_slowly, NULL));
    pthread_mutex_lock(&slow.lock);
    while (!slow.begun)
        pthread_cond_wait(&slow.changed, &slow.lock);
    pthread_mutex_unlock(&slow.lock);
    time_t begin = time(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        kj_arena_init(&arena, NULL);
        bool right = slow.ended && kj_guarded_apart(&arena, ends, &done, NULL) == KJ_DONE;
        _exit(right && done == 1 ? 0 : 1);
    }
    assert_true(time(NULL) - begin < 9); /* it has not given up */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_out),
        cmocka_unit_test(a_fork_waits_for_steps),
        cmocka_unit_test(apart_is_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
