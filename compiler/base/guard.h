/* Work that may not reach its end: memory runs out, in an arena or inside of LLVM, or LLVM meets
 * what it does not survive. Then control comes back to who began the work, and the process goes on.
 *
 * What an arena holds is its owner's to free, as ever. What LLVM held when it was left so is lost:
 * the memory of that compilation. */
#ifndef KJ_GUARD_H
#define KJ_GUARD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena.h"

typedef enum kj_outcome {
    KJ_DONE,
    KJ_NO_ROOM, /* out of memory */
    KJ_BROKEN   /* something is wrong inside: the complaint says what */
} kj_outcome;

typedef struct kj_complaint {
    char text[240];
} kj_complaint;

typedef void kj_step(void *data);

/* Runs a step on this thread. Where memory runs out in the arena, in LLVM or in C++'s library, or
 * kj_break is called, it ends early. The arena's `fail` is as before afterwards. `complaint` may be
 * NULL. */
kj_outcome kj_guarded(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint);

/* The same on a thread with a stack that is large enough for the compiler, whatever the caller's
 * has left, the floating-point settings that C programs begin with, and no signals of the host's.
 * KJ_NO_ROOM also where the system gives no such thread. */
kj_outcome kj_guarded_apart(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint);

/* The same of a step that asks nothing of LLVM: on this thread, where its stack has a MiB left. */
kj_outcome kj_guarded_near(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint);

/* Ends the innermost step that this thread runs; comes back where it runs none. */
void kj_break(kj_outcome outcome, const char *text);

bool kj_is_guarded(void); /* does it run one? */

/* Is there memory enough for LLVM to begin? Where it isn't, to say so costs nothing; to run out on
 * the way costs what was allocated until then. */
bool kj_has_room(void);

/* Starts a thread of the library's, with that much stack. Signals are the program's: its handlers
 * run on its own threads. */
bool kj_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *data), void *data);

/* Runs a step on this thread, if it has that many bytes of its stack left, else on such a thread,
 * and waits for it. False where the system gives none. */
bool kj_with_stack(size_t bytes, kj_step *step, void *data);
#define KJ_NO_THREAD "the system gives no more threads"

/* On such a thread: runs the task on the one that waits for it; elsewhere at once. */
void kj_ask_home(kj_step *task, void *data);

/* In a function that calls what throws: there an exception ends the innermost step, as kj_break
 * does. The call must not be the function's last act, which would leave no frame. */
#if defined(__GNUC__) && defined(__ELF__)
#define KJ_TAKES_EXCEPTIONS() __asm__ volatile(".cfi_personality 0x1b, kj_guard_personality")
#else
#define KJ_TAKES_EXCEPTIONS() ((void)0)
#endif

/* What has to be so by construction: else the step ends, and says where. */
#define KJ_REQUIRE(condition) \
    ((condition) ? (void)0 : kj_break(KJ_BROKEN, __FILE__ ": not so: " #condition))

#endif
