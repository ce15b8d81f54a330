/* The driver's results -> statuses and sentences; the end of a device. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "device/cuda/cuda_device.h"

typedef enum after { LIVES, LOST } after;

typedef struct meaning {
    kj_cu_result code;
    const char *name;
    kjit_status status;
    after after;
    const char *text;
} meaning;

static const meaning meanings[] = {
#define CUDA_ERROR(name, code, status, after, text) \
    {code, "CUDA_ERROR_" #name, KJIT_##status, after, text},
#include "device/cuda/error.def"
#undef CUDA_ERROR
};

/* What a result means; of one that isn't in the table, what the driver says of it. `driver` may
 * lack the functions for that. */
static meaning meaning_of(const kj_cuda_driver *driver, kj_cu_result result)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].code == result)
            return meanings[i];
    }
    meaning m = {result, NULL, KJIT_INTERNAL, LIVES, NULL};
    if (driver->GetErrorName && driver->GetErrorName(result, &m.name) != KJ_CU_SUCCESS)
        m.name = NULL;
    if (driver->GetErrorString && driver->GetErrorString(result, &m.text) != KJ_CU_SUCCESS)
        m.text = NULL;
    if (!m.name)
        m.name = "an error that the driver has no name for";
    if (!m.text)
        m.text = "the driver gives no reason";
    return m;
}

static bool is_end(kj_cu_result result)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].code == result)
            return meanings[i].after == LOST;
    }
    return false;
}

bool kj_cuda_is_missing(kj_cu_result result)
{
    return result == KJ_CU_NOT_PERMITTED || result == KJ_CU_NOT_SUPPORTED;
}

/* "cannot <format>: <meaning> (CUDA_ERROR_..., 700)". */
static kjit_status explain(const kj_cuda_driver *driver, kj_cu_result result, kj_failure *why,
                           const char *format, va_list args)
{
    char doing[500];
    meaning m = meaning_of(driver, result);
    kj_vsnprintf(doing, sizeof doing, format, args);
    return kj_because(why, m.status, "cannot %s: %s (%s, %u)", doing, m.text, m.name, result);
}

kjit_status kj_cuda_because(const kj_cuda_driver *driver, kj_cu_result result, kj_failure *why,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kjit_status status = explain(driver, result, why, format, args);
    va_end(args);
    return status;
}

kjit_status kj_cuda_failed(kj_device *dev, kj_cu_result result, kj_failure *why, const char *format,
                           ...)
{
    kj_cuda_note(dev, result);
    if (kj_cuda_is_lost(dev))
        return kj_cuda_gone(dev, why);
    va_list args;
    va_start(args, format);
    kjit_status status = explain(dev->cu, result, why, format, args);
    va_end(args);
    return status;
}

kjit_status kj_cuda_gone(const kj_device *dev, kj_failure *why)
{
    return kj_because(why, KJIT_LOST, "%s", dev->lost_text);
}

void kj_cuda_note(kj_device *dev, kj_cu_result result)
{
    if (result != KJ_CU_SUCCESS && is_end(result))
        kj_cuda_lose(dev, result);
}

/* ---- The end of a device ---- */

/* Adds to a text of limited size; what doesn't fit is left out. */
static void add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    kj_vsnprintf(text + at, size - at, format, args);
    va_end(args);
}

/* Which launches it can have been: those that had not ended. Under the device's lock. */
static void add_launches(const kj_device *dev, char *text, size_t size)
{
    enum { MOST = 4 };
    const char *names[MOST];
    int n = 0;
    bool more = false;
    for (const kj_cuda_launch *l = dev->launches; l; l = l->next) {
        int same = 0;
        while (same < n && strcmp(names[same], l->what) != 0)
            same++;
        if (same == n && n < MOST)
            names[n++] = l->what;
        else
            more |= same == n;
    }
    if (n == 0)
        return;
    add(text, size, dev->launches->next ? "in one of the launches of " : "in ");
    for (int i = 0; i < n; i++)
        add(text, size, "%s%s", i == 0 ? "" : i == n - 1 && !more ? " and " : ", ", names[i]);
    add(text, size, more ? " and others: " : ": ");
}

void kj_cuda_lose(kj_device *dev, kj_cu_result result)
{
    meaning m = meaning_of(dev->cu, result);
    pthread_mutex_lock(&dev->lock);
    if (!kj_cuda_is_lost(dev)) {
        char *text = dev->lost_text;
        size_t size = sizeof dev->lost_text;
        kj_snprintf(text, size, "the device was lost: ");
        add_launches(dev, text, size);
        add(text, size, "%s (%s, %u)", m.text, m.name, result);
        atomic_store_explicit(&dev->lost, true, memory_order_release);
    }
    pthread_mutex_unlock(&dev->lock);
}
