/* Memory that launches and copies need for a while and of which they give back what the next ones take: to have it of the
 * system, page by page, takes longer than most of them do. Sanitizers see each piece come and go. */
#include <pthread.h>
#include <stdlib.h>

#include "ptx.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KEEPS false
#elif defined __has_feature
#define KEEPS (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define KEEPS true
#endif

enum {
    ALIGN = 64,
    LEAST = 256,
    LARGEST = 1 << 24,
    MOST = 1 << 26,
    STEPS = 4,
    CLASSES = 64 * STEPS
};

typedef struct spare {
    struct spare *next;
} spare;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static spare *spares[CLASSES];
static size_t kept; /* bytes */

/* Sizes are rounded up to four in each power of two, and to no less than LEAST. */
static size_t class_of(size_t size, size_t *rounded)
{
    size = size < LEAST ? LEAST : size;
    size_t log = 63 - (size_t)__builtin_clzll(size), step = ((size_t)1 << log) / STEPS;
    *rounded = (size + step - 1) / step * step;
    log = 63 - (size_t)__builtin_clzll(*rounded);
    return log * STEPS + (*rounded >> (log - 2) & (STEPS - 1));
}

void *ptx_take(size_t size)
{
    size_t rounded, class = class_of(size, &rounded);
    pthread_mutex_lock(&lock);
    spare *found = spares[class];
    if (found) {
        spares[class] = found->next;
        kept -= rounded;
    }
    pthread_mutex_unlock(&lock);
    return found ? found : aligned_alloc(ALIGN, rounded);
}

void ptx_give(void *memory, size_t size)
{
    size_t rounded, class = class_of(size, &rounded);
    bool keeps = KEEPS && memory && rounded <= LARGEST;
    pthread_mutex_lock(&lock);
    keeps = keeps && kept + rounded <= MOST;
    if (keeps) {
        spare *made = memory;
        made->next = spares[class];
        spares[class] = made;
        kept += rounded;
    }
    pthread_mutex_unlock(&lock);
    if (!keeps)
        free(memory);
}
