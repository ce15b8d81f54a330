/* What runs, for whoever is about to end the process: read by signal handlers, so without locks. A launch has
 * a place of the table while it runs, once somebody has asked; where all are taken, it has none. */
#include "device/cpu/cpu.h"

kj_running *kj_running_begin(kj_device *dev, const char *what, const kj_host_launch *values)
{
    for (int i = 0; i < KJ_MAX_RUNNING; i++) {
        kj_running *r = &dev->running[i];
        if (atomic_load_explicit(&r->taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&r->taken, true, memory_order_acquire))
            continue;
        for (int axis = 0; axis < 3; axis++) {
            r->grid[axis] = values->grid[axis];
            r->block[axis] = values->block[axis];
        }
        atomic_store_explicit(&r->what, what, memory_order_release);
        return r;
    }
    return NULL;
}

void kj_running_end(kj_running *r)
{
    atomic_store_explicit(&r->what, NULL, memory_order_relaxed);
    atomic_store_explicit(&r->taken, false, memory_order_release);
}

/* Of a handler's: no function is called that may not be. */
typedef struct line {
    char *text;
    size_t size, n;
} line;

static void put(line *l, const char *text)
{
    for (; *text && l->n + 1 < l->size; text++)
        l->text[l->n++] = *text;
}

static void put_dims(line *l, const char *name, const int64_t dims[3])
{
    put(l, name);
    for (int axis = 0; axis < 3; axis++) {
        char digits[24];
        size_t at = sizeof digits;
        uint64_t v = (uint64_t)dims[axis];
        digits[--at] = 0;
        do
            digits[--at] = (char)('0' + v % 10);
        while (v /= 10);
        put(l, axis ? ", " : " (");
        put(l, digits + at);
    }
    put(l, ")");
}

void kj_cpu_running(kj_device *dev, char *out, size_t size)
{
    line l = {out, size, 0};
    atomic_store_explicit(&dev->asked, true, memory_order_relaxed);
    for (int i = 0; i < KJ_MAX_RUNNING; i++) {
        const kj_running *r = &dev->running[i];
        const char *what = atomic_load_explicit(&r->what, memory_order_acquire);
        if (!what)
            continue;
        put(&l, l.n ? "; " : "");
        put(&l, what);
        put_dims(&l, ", grid", r->grid);
        put_dims(&l, ", block", r->block);
    }
    if (size > 0)
        out[l.n] = 0;
}
