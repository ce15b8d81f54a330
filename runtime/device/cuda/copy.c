/* Copies between host and device memory of any strides, now or in a stream.
 *
 * What is one row on both sides the driver moves by itself; in a stream where the host's memory is
 * page-locked. Else a transfer between host and device goes by boxes through page-locked memory,
 * where a box is dense: the host's half of the way is the host's processor's, the device's half a
 * copy of one row, or where the elements don't lie so there, a row to memory aside and a kernel
 * (strided_copy.c). In a stream the host's half is a host function: it touches the host's memory when the
 * stream gets there, and the caller does not wait. All copies of a stream share one page-locked
 * buffer, since one step of the stream follows the other. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

/* ---- Boxes ---- */

/* The way through a transfer: each box is `rows` steps of `axis` and all there is inside of it. */
typedef struct boxes {
    kj_transfer whole; /* larger strides on the device outside, none negative */
    char *stage, *aside;
    int axis;
    int64_t rows, at[KJ_MAX_AXES];
    bool over;
} boxes;

static bool is_to_device(const kj_transfer *t)
{
    return !kj_host_works(t->dst_memory);
}

bool kj_cuda_is_locked_row(const kj_transfer *t, size_t *bytes)
{
    kjit_memory host = is_to_device(t) ? t->src_memory : t->dst_memory;
    return kj_host_works(t->dst_memory) != kj_host_works(t->src_memory) &&
           (host == KJIT_PINNED || host == KJIT_MAPPED) && kj_transfer_is_row(t, bytes);
}

static void swap_axes(kj_transfer *t, int a, int b)
{
    int64_t *const lists[] = {t->shape, t->dst_stride, t->src_stride};
    for (int i = 0; i < 3; i++) {
        int64_t value = lists[i][a];
        lists[i][a] = lists[i][b];
        lists[i][b] = value;
    }
}

/* Walks axes with negative strides on the device the other way, and puts the larger outside. */
static void order_axes(kj_transfer *t)
{
    const int64_t *device = is_to_device(t) ? t->dst_stride : t->src_stride;
    for (int i = 0; i < t->ndim; i++) {
        if (device[i] >= 0)
            continue;
        t->dst += (t->shape[i] - 1) * t->dst_stride[i];
        t->src += (t->shape[i] - 1) * t->src_stride[i];
        t->dst_stride[i] = -t->dst_stride[i];
        t->src_stride[i] = -t->src_stride[i];
    }
    for (int i = 1; i < t->ndim; i++) {
        for (int j = i; j > 0 && device[j] > device[j - 1]; j--)
            swap_axes(t, j, j - 1);
    }
}

/* Do the elements lie in one row on the device, as they will on the stage? */
static bool is_dense(const boxes *b)
{
    const kj_transfer *t = &b->whole;
    const int64_t *device = is_to_device(t) ? t->dst_stride : t->src_stride;
    int64_t stride = (int64_t)t->size;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (device[i] != stride)
            return false;
        stride *= t->shape[i];
    }
    return true;
}

static void start_boxes(boxes *b, const kj_transfer *t)
{
    *b = (boxes){.whole = *t};
    order_axes(&b->whole);
    int64_t inside = (int64_t)t->size;
    int axis = t->ndim;
    while (axis > 0 && b->whole.shape[axis - 1] <= KJ_CUDA_STAGE / inside)
        inside *= b->whole.shape[--axis];
    b->axis = axis > 0 ? axis - 1 : 0;
    b->rows = axis > 0 ? KJ_CUDA_STAGE / inside : b->whole.shape[0];
}

static void advance(boxes *b)
{
    b->over = true;
    for (int i = b->axis; i >= 0 && b->over && b->whole.ndim > 0; i--) {
        b->at[i] += i == b->axis ? b->rows : 1;
        if (b->at[i] < b->whole.shape[i])
            b->over = false;
        else
            b->at[i] = 0;
    }
}

/* The next box, with the host's and the device's ends of it. */
static bool next_box(boxes *b, kj_transfer *box)
{
    const kj_transfer *t = &b->whole;
    if (b->over)
        return false;
    *box = *t;
    for (int i = 0; i < t->ndim; i++) {
        box->dst += b->at[i] * t->dst_stride[i];
        box->src += b->at[i] * t->src_stride[i];
    }
    if (t->ndim > 0) {
        box->ndim = t->ndim - b->axis;
        for (int i = 0; i < box->ndim; i++) {
            box->shape[i] = t->shape[b->axis + i];
            box->dst_stride[i] = t->dst_stride[b->axis + i];
            box->src_stride[i] = t->src_stride[b->axis + i];
        }
        int64_t left = t->shape[b->axis] - b->at[b->axis];
        box->shape[0] = left < b->rows ? left : b->rows;
    }
    advance(b);
    return true;
}

/* Gives one end of a box dense memory in its place; gives the box's bytes. */
static size_t make_dense(kj_transfer *box, bool dst, char *memory)
{
    int64_t stride = (int64_t)box->size;
    if (dst)
        box->dst = memory;
    else
        box->src = memory;
    for (int i = box->ndim - 1; i >= 0; i--) {
        (dst ? box->dst_stride : box->src_stride)[i] = stride;
        stride *= box->shape[i];
    }
    return (size_t)stride;
}

/* Between the host and the stage. */
static void move_host_half(const boxes *b, const kj_transfer *box)
{
    kj_transfer half = *box;
    make_dense(&half, is_to_device(box), b->stage);
    kj_transfer_run(&half);
}

/* Between the stage and the device, where the elements lie in one row or are gathered aside. */
static kj_cu_result move_device_half(kj_device *dev, kj_cu_stream stream, const boxes *b,
                                     const kj_transfer *box)
{
    bool to_device = is_to_device(box);
    kj_transfer spread = *box;
    size_t bytes = make_dense(&spread, !to_device, b->aside);
    const void *row = b->aside ? b->aside : to_device ? box->dst : box->src;
    kj_cu_address place = (kj_cu_address)(uintptr_t)row;
    kj_cu_result result = KJ_CU_SUCCESS;
    if (to_device) {
        result = dev->cu->MemcpyHtoDAsync(place, b->stage, bytes, stream);
        if (b->aside && result == KJ_CU_SUCCESS)
            result = kj_cuda_move(dev, stream, &spread);
        return result;
    }
    if (b->aside)
        result = kj_cuda_move(dev, stream, &spread);
    return result == KJ_CU_SUCCESS ? dev->cu->MemcpyDtoHAsync(b->stage, place, bytes, stream)
                                   : result;
}

/* ---- What both kinds of copies begin with ---- */

typedef enum way { WITHIN_HOST, WITHIN_DEVICE, OVERLAPPING, BETWEEN, BETWEEN_DEVICES } way;

typedef struct plan {
    way way;
    boxes boxes;
    char *aside; /* device memory, or NULL */
    size_t room; /* its bytes */
} plan;

static way way_of(const kj_transfer *t)
{
    size_t size;
    if (t->dst_device || t->src_device)
        return BETWEEN_DEVICES;
    if (kj_host_works(t->dst_memory) != kj_host_works(t->src_memory))
        return BETWEEN;
    if (kj_host_works(t->dst_memory))
        return WITHIN_HOST;
    if (!kj_transfer_is_row(t, &size))
        return WITHIN_DEVICE;
    return t->dst < t->src + size && t->src < t->dst + size ? OVERLAPPING : WITHIN_DEVICE;
}

static kjit_status make_plan(kj_device *dev, const kj_transfer *t, plan *p, kj_failure *why)
{
    enum { ROOM = 16 << 20 };
    void *aside;
    size_t size;
    *p = (plan){.way = way_of(t), .boxes.whole = *t};
    if (p->way == BETWEEN)
        start_boxes(&p->boxes, t);
    if (p->way == OVERLAPPING) {
        kj_transfer_is_row(t, &size);
        p->room = size < ROOM ? size : ROOM;
    } else if (p->way == BETWEEN && !is_dense(&p->boxes)) {
        p->room = KJ_CUDA_STAGE;
    }
    kjit_status status = KJIT_OK;
    if (p->room > 0) {
        status = kj_cuda_aside(dev, p->room, &aside, why);
        if (status == KJIT_OK)
            p->aside = aside;
    }
    if (p->way == BETWEEN)
        p->boxes.aside = p->aside;
    return status;
}

/* ---- Now ---- */

static kj_cu_result boxes_now(kj_device *dev, boxes *b)
{
    bool to_device = is_to_device(&b->whole);
    void *stage;
    kj_transfer box;
    kj_cu_result result = kj_cuda_stage_take(dev, &stage);
    if (result != KJ_CU_SUCCESS)
        return result;
    b->stage = stage;
    while (result == KJ_CU_SUCCESS && next_box(b, &box)) {
        if (to_device)
            move_host_half(b, &box);
        result = move_device_half(dev, dev->stream, b, &box);
        kj_cu_result end = kj_cuda_sync(dev, dev->stream);
        if (result == KJ_CU_SUCCESS)
            result = end;
        if (!to_device && result == KJ_CU_SUCCESS)
            move_host_half(b, &box);
    }
    kj_cuda_stage_give(dev, stage);
    return result;
}

kj_cu_result kj_cuda_put_row(kj_device *dev, kj_cu_stream stream, const kj_transfer *t,
                             size_t bytes)
{
    kj_cu_address dst = (kj_cu_address)(uintptr_t)t->dst, src = (kj_cu_address)(uintptr_t)t->src;
    return is_to_device(t) ? dev->cu->MemcpyHtoDAsync(dst, t->src, bytes, stream)
                           : dev->cu->MemcpyDtoHAsync(t->dst, src, bytes, stream);
}

static kj_cu_result transfer_now(kj_device *dev, const kj_transfer *t, plan *p)
{
    size_t bytes;
    kj_cu_result result;
    if (p->way == WITHIN_HOST) {
        kj_transfer_run(t);
        return KJ_CU_SUCCESS;
    }
    if (p->way == WITHIN_DEVICE)
        result = kj_cuda_move(dev, dev->stream, t);
    else if (p->way == BETWEEN_DEVICES)
        result = kj_cuda_move_between(dev, dev->stream, t);
    else if (p->way == OVERLAPPING)
        result = kj_cuda_move_over(dev, dev->stream, t, p->aside, p->room);
    else if (kj_transfer_is_row(t, &bytes))
        result = kj_cuda_put_row(dev, dev->stream, t, bytes);
    else
        result = boxes_now(dev, &p->boxes);
    kj_cu_result end = kj_cuda_sync(dev, dev->stream);
    return result == KJ_CU_SUCCESS ? end : result;
}

static kjit_status copy_now(kj_device *dev, const kj_transfer *t, kj_failure *why)
{
    plan p;
    kj_cuda_wait(dev, NULL);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    status = make_plan(dev, t, &p, why);
    if (status == KJIT_OK) {
        kj_cu_result result = transfer_now(dev, t, &p);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "copy");
    }
    kj_cuda_aside_drop(dev, p.aside);
    kj_cuda_leave(dev);
    return status;
}

/* ---- In a stream ---- */

typedef struct copy_task {
    kj_cuda_task task;
    atomic_int state;
    plan plan; /* its boxes are the host functions' */
} copy_task;

/* The host's half of one box, or a copy within the host; called by the driver, one after the
 * other. */
static void run_on_host(void *data)
{
    copy_task *c = data;
    boxes *b = &c->plan.boxes;
    kj_transfer box;
    if (!kj_cuda_host_begin(&c->state))
        return;
    if (c->plan.way == WITHIN_HOST)
        kj_transfer_run(&b->whole);
    else if (next_box(b, &box))
        move_host_half(b, &box);
    kj_cuda_host_end(&c->state);
}

static void end_copy(kj_device *dev, kj_cuda_task *task, bool lost)
{
    copy_task *c = (copy_task *)task;
    if (lost)
        kj_cuda_host_cancel(&c->state);
    kj_cuda_aside_drop(dev, c->plan.aside);
}

static kj_cu_result queue_boxes(kj_queue *q, copy_task *c)
{
    kj_device *dev = q->dev;
    bool to_device = is_to_device(&c->plan.boxes.whole);
    kj_transfer box;
    kj_cu_result result = q->stage ? KJ_CU_SUCCESS : kj_cuda_stage_take(dev, &q->stage);
    if (result != KJ_CU_SUCCESS)
        return result;
    c->plan.boxes.stage = q->stage;
    boxes b = c->plan.boxes;
    while (result == KJ_CU_SUCCESS && next_box(&b, &box)) {
        if (to_device)
            result = dev->cu->LaunchHostFunc(q->stream, run_on_host, c);
        if (result == KJ_CU_SUCCESS)
            result = move_device_half(dev, q->stream, &b, &box);
        if (!to_device && result == KJ_CU_SUCCESS)
            result = dev->cu->LaunchHostFunc(q->stream, run_on_host, c);
    }
    return result;
}

static kj_cu_result queue_transfer(kj_queue *q, copy_task *c, const kj_transfer *t)
{
    kj_device *dev = q->dev;
    size_t bytes;
    if (c->plan.way == BETWEEN && kj_cuda_is_locked_row(t, &bytes))
        return kj_cuda_put_row(dev, q->stream, t, bytes);
    switch (c->plan.way) {
    case WITHIN_HOST: return dev->cu->LaunchHostFunc(q->stream, run_on_host, c);
    case WITHIN_DEVICE: return kj_cuda_move(dev, q->stream, t);
    case BETWEEN_DEVICES: return kj_cuda_move_between(dev, q->stream, t);
    case OVERLAPPING: return kj_cuda_move_over(dev, q->stream, t, c->plan.aside, c->plan.room);
    default: return queue_boxes(q, c);
    }
}

static kjit_status queue_copy(kj_queue *q, copy_task *c, const kj_transfer *t, kj_failure *why)
{
    kj_device *dev = q->dev;
    pthread_mutex_lock(&q->issue);
    kj_cuda_span_begin(q, &c->task);
    kj_cu_result result = queue_transfer(q, c, t);
    if (result == KJ_CU_SUCCESS)
        kj_cuda_queued(q, &c->task, false);
    else
        kj_cuda_sync(dev, q->stream); /* what was queued of it uses memory that nobody holds */
    kj_cuda_issued(q);
    return result == KJ_CU_SUCCESS ? KJIT_OK : kj_cuda_failed(dev, result, why, "queue a copy");
}

kjit_status kj_cuda_copy(kj_device *dev, kj_queue *queue, const kj_transfer *transfer,
                         kj_work *work, kj_failure *why)
{
    if (!queue)
        return copy_now(dev, transfer, why);
    copy_task *c = kj_cuda_task_new(sizeof *c, work, NULL);
    if (!c)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    c->task.end = end_copy;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        status = make_plan(dev, transfer, &c->plan, why);
        if (status == KJIT_OK)
            status = queue_copy(queue, c, transfer, why);
        if (status != KJIT_OK)
            kj_cuda_task_drop(dev, &c->task);
        kj_cuda_leave(dev);
        return status;
    }
    kj_cuda_task_drop(dev, &c->task);
    return status;
}
