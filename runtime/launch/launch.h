/* What the files of launches share: a binding that is checked and has its code, and dispatches, which
 * are launches that can be put into a stream again and again. */
#ifndef KJ_LAUNCH_H
#define KJ_LAUNCH_H

#include "module/module.h"

/* ---- Bindings (bind.c, explain.c) ---- */

/* A launch as it is bound: what its arguments fix. From kj_binding_begin, whether or not that
 * succeeds, to kj_binding_end numbers are converted and computed as the language does. */
typedef struct kj_binding {
    kj_kernel *kernel;
    const char *label; /* the kernel's name for timings and messages; NULL: its own */
    int64_t grid[3], block[3];
    int nconsts, nruntime;
    const kjit_arg **args; /* by parameter */
    kj_dtype *generics;
    kj_value *consts;
    kj_value *scalars; /* by parameter: converted */
    kj_layout *layouts;
    int *units; /* bytes that strides count, of arrays: kj_param_info.unit */
    uint8_t *lasts;
    unsigned wide;
    bool small, disjoint, aligned; /* as in kj_spec */
    bool read_only, smart, in;     /* one of the arrays is, or is given as In(a) */
    double timeout_ms;             /* kjit_config's */
    int *runtime;                  /* parameter of each kj_kernel_info.params */
    kj_field *parts;               /* alike: of a KJIT_ARG_VALUE, the scalar that is meant */
    uint64_t *key;
    kj_room room;
    kj_float_env env; /* the program's */
} kj_binding;

kjit_status kj_binding_begin(kj_kernel *kernel, kj_binding *b);
static inline void kj_binding_end(kj_binding *b)
{
    kj_room_end(&b->room);
    kj_float_leave(b->env);
}

/* kjit_launch under another name. */
kjit_status kj_launch_labelled(kjit_module *mod, const char *kernel, const char *label,
                               const kjit_config *config, const kjit_arg *args, int nargs);
kjit_status kj_bind(kj_binding *b, const kjit_arg *args, int nargs);
/* The same when b->args says already whose each argument is. */
kjit_status kj_bind_placed(kj_binding *b);
/* The value of a const parameter, alone, for forms: a generic type is what those show it as. */
kjit_status kj_bind_const(kj_binding *b, int param, const kjit_arg *arg, kj_value *out);
/* Sets b->grid and b->block (dims.c). */
kjit_status kj_check_dims(kj_binding *b, const kjit_config *config);
kj_eval_env kj_binding_env(kj_binding *b);
/* A stride of a parameter's array, as kernels get it: in elements, or units of them. */
int64_t kj_binding_stride(const kj_binding *b, int param, int axis);
/* A scalar of kj_kernel_info.params. */
kj_value kj_binding_scalar(const kj_binding *b, int i);

static inline bool kj_arg_is_array(const kjit_arg *arg)
{
    return arg->kind == KJIT_ARG_ARRAY || arg->kind == KJIT_ARG_IN || arg->kind == KJIT_ARG_OUT;
}
kjit_status kj_check_requires(kj_binding *b, const kj_variant *variant);
/* Refuses to write an array that is read-only. */
kjit_status kj_check_writes(const kj_binding *b, const kj_variant *variant);

/* ---- The key (key.c) ---- */

/* Do 32 bits hold every index into it, and its extents and strides? */
bool kj_is_small(const kjit_array *a, int unit);
/* Its last extent where that is short and known to the variant; or 0. */
uint8_t kj_known_last(const kj_binding *b, const kjit_array *a);
/* Of a binding that has everything else: what the arrays' addresses allow, and the key. */
void kj_binding_key(kj_binding *b);
/* Then: what it fixes. Its lists are the binding's. */
kj_spec kj_binding_spec(const kj_binding *b);

/* ---- Smart arrays (smart_args.c) ---- */

/* Before a launch: the newest elements go to the device; and after it: what it writes is newest there. */
kjit_status kj_smart_args_enter(const kj_binding *b, const kj_variant *variant);
void kj_smart_args_leave(const kj_binding *b, const kj_variant *variant);

/* ---- What kernels print and assert (report.c) ---- */

/* The report of one launch. */
typedef struct kj_reported kj_reported;
kjit_status kj_report_begin(kjit_module *mod, const kj_variant *variant, kjit_stream *stream,
                            kj_halt *halt, kj_reported **out);
/* Is there one for each launch? */
static inline bool kj_is_reported(const kjit_context *ctx, const kj_kernel_info *kernel)
{
    return kernel->nsites > 0 || (kernel->polls && !ctx->ops->host_memory);
}
uint64_t kj_report_address(const kj_reported *r); /* for the launch's last slot */
/* Has the call bring it back, where a launch does that: r or NULL. */
void kj_report_ride(const kj_reported *r, kj_launch_call *call);
/* Does the work of a queued launch deliver and free it? */
bool kj_report_rides(const kj_reported *r);
/* Around such a launch: it is put into the stream; it was not; it has ended, which the stream is told. Takes r over. */
void kj_report_goes(kj_reported *r);
void kj_report_stays(kj_reported *r);
void kj_report_comes(kj_reported *r, kj_work *work, kjit_status status);
/* The launch ended so, or with a stream was queued. Takes the report over, but of a queued launch whose work does. */
kjit_status kj_report_end(kj_reported *r, kjit_status status);
/* What was printed, to the context: KJIT_LIMIT where that is more than it takes. */
kjit_status kj_report_deliver(kj_reported *r, kj_failure *why);
void kj_report_deliver_in(kj_reported *r, kjit_stream *stream); /* whose failure that is then */
void kj_report_free(kj_reported *r);

/* ---- Ready to go (launch.c) ---- */

/* A binding's code, and the memory each block in flight needs. */
typedef struct kj_ready {
    kj_variant *variant;
    size_t scratch;
} kj_ready;

/* What every launch asks of its arguments; returns the kernel. */
kjit_status kj_launch_enter(kjit_module *mod, const char *name, const kjit_stream *stream,
                            const kjit_arg *args, int nargs, kj_kernel **kernel);
/* Checks the dimensions and binds the arguments. */
kjit_status kj_launch_bind(kj_binding *b, const kjit_config *config, const kjit_arg *args,
                           int nargs);
/* The code for the binding's arguments and block. */
kjit_status kj_launch_find(kj_binding *b, kj_variant **out);
/* Bytes of memory for each block in flight: shared arrays and what the code adds. */
kjit_status kj_launch_scratch(kj_binding *b, const kj_variant *variant, size_t *out);
/* How many blocks a grid may have, all of them being resident. */
kjit_status kj_launch_resident(kj_binding *b, const kj_ready *ready, int64_t *out);
/* Finds the code and checks all that doesn't change between two launches of the same arguments. */
kjit_status kj_launch_ready(kj_binding *b, kj_ready *out);
/* Launches what is ready; without a stream the call waits, also for what the kernel prints. */
kjit_status kj_launch_go(kj_binding *b, const kj_ready *ready, kjit_stream *stream);
/* The two in a row; or what a stream that records does in place of them. */
kjit_status kj_launch_bound(kj_binding *b, kjit_stream *stream);

/* ---- Host arrays on their way (staging.c) ---- */

/* A launch's host arrays on a device without host_memory. */
typedef struct kj_staging_array {
    kjit_array *array;
    kj_buffer *piece;
    uintptr_t shift;  /* from the host's address to the device's */
    bool goes, comes; /* to the device before the launch, back after it */
    bool stays;       /* the kernel writes it, but some argument says that it does not come back */
} kj_staging_array;

typedef struct kj_staging {
    int narrays, npieces;
    kj_staging_array *arrays; /* each view once, by address */
    kj_buffer **pieces;
} kj_staging;

bool kj_staging_needed(const kj_binding *b, const kj_variant *variant);
/* Moves them there: what succeeds ends with kj_staging_drop. */
kjit_status kj_staging_in(kj_binding *b, const kj_variant *variant, kjit_stream *stream,
                          kj_staging *s);
/* After the launch: moves back what the kernel writes. */
kjit_status kj_staging_out(const kj_staging *s, kjit_stream *stream);
void kj_staging_drop(kj_staging *s);
/* Where the kernel finds an array: its own address when it isn't staged. */
uintptr_t kj_staging_address(const kj_staging *s, const kjit_array *a);

/* ---- Capsules (capsule.c) ---- */

static inline bool kj_capsule_wanted(const kjit_context *ctx)
{
    return atomic_load_explicit(&ctx->capsules.on, memory_order_relaxed);
}
/* kj_launch_go, with what a capsule of it needs. */
kjit_status kj_capsule_launch(kj_binding *b, const kj_ready *ready, kjit_stream *stream);

/* ---- Dispatches (dispatch.c) ---- */

/* A launch as its device takes it, with what it uses held: never changed once it is made. */
typedef struct kj_dispatch {
    atomic_int refs;
    int nbuffers;
    kjit_module *mod;
    const kj_variant *variant;
    kj_launch_call call;
    kj_buffer *buffers[]; /* and behind them the call's values */
} kj_dispatch;

/* staged and reported as a launch of its own has them, or NULL. It holds all memory, but what
 * `stream`, the only one that it is for, orders; NULL: it is for any. */
kjit_status kj_dispatch_new(const kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                            const kj_reported *reported, const kjit_stream *stream,
                            kj_dispatch **out);
void kj_dispatch_hold(kj_dispatch *dispatch);
void kj_dispatch_drop(kj_dispatch *dispatch);
/* Launches: now, and then it waits, or in a stream, where the report may be left to the device's
 * work. `label` as kj_launch_labelled has it. */
kjit_status kj_dispatch_launch(kj_dispatch *dispatch, const char *label, kj_reported *reported,
                               kj_halt *halt, kjit_stream *stream);
/* The same without a dispatch, now. */
kjit_status kj_launch_now(kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                          const kj_reported *reported, const kj_halt *halt);

/* ---- Prepared launches (plan.c) ---- */

/* A launch that keeps what it was given: its own views of the arrays, its own copies of the values.
 * Never changed while more than one holds it. */
typedef struct kj_prepared {
    atomic_int refs;
    kj_kernel *kernel; /* its module is held */
    int64_t grid[3], block[3];
    double timeout_ms;
    kj_dispatch *dispatch; /* NULL: it is bound for each launch, or has no blocks */
    bool *given;           /* by parameter, behind the arguments */
    kjit_arg args[];       /* by parameter */
} kj_prepared;

/* Of a bound launch, whose code is found and whose conditions are checked here. */
kjit_status kj_prepared_new(kj_binding *b, kj_prepared **out);
void kj_prepared_hold(kj_prepared *p);
void kj_prepared_drop(kj_prepared *p);
kjit_status kj_prepared_launch(kj_prepared *p, kjit_stream *stream);

/* ---- Graphs (graph.c) ---- */

/* In place of launches in a stream that records. */
kjit_status kj_graph_record_launch(kj_prepared *p, kjit_stream *stream);
kjit_status kj_graph_record_bound(kj_binding *b, kjit_stream *stream);

#endif
