/* Events of the driver, used again. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

kj_cuda_event *kj_cuda_event_take(kj_device *dev, bool timing)
{
    pthread_mutex_lock(&dev->lock);
    kj_cuda_event *e = dev->events[timing];
    if (e)
        dev->events[timing] = e->next;
    pthread_mutex_unlock(&dev->lock);
    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->timing = timing;
    kj_cu_result result =
        dev->cu->EventCreate(&e->event, timing ? KJ_CU_EVENT_DEFAULT : KJ_CU_EVENT_DISABLE_TIMING);
    if (result == KJ_CU_SUCCESS)
        return e;
    kj_cuda_note(dev, result);
    free(e);
    return NULL;
}

void kj_cuda_event_give(kj_device *dev, kj_cuda_event *e)
{
    pthread_mutex_lock(&dev->lock);
    e->next = dev->events[e->timing];
    dev->events[e->timing] = e;
    pthread_mutex_unlock(&dev->lock);
}

void kj_cuda_events_free(kj_device *dev, bool entered)
{
    for (int timing = 0; timing < 2; timing++) {
        while (dev->events[timing]) {
            kj_cuda_event *e = dev->events[timing];
            dev->events[timing] = e->next;
            if (entered)
                kj_cuda_note(dev, dev->cu->EventDestroy(e->event));
            free(e);
        }
    }
}
