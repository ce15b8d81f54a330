/* What the files of launches share: a binding that is checked and has its code, and packets, which
 * are launches that can be put into a stream again and again. */
#ifndef KJ_LAUNCH_H
#define KJ_LAUNCH_H

#include "runtime.h"

/* ---- Ready to go (launch.c) ---- */

/* A binding's code, and the memory each block in flight needs. */
typedef struct kj_ready {
    kj_variant *variant;
    size_t scratch;
} kj_ready;

/* What every launch asks of its arguments; gives the kernel. */
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

/* ---- Host arrays on their way (stage.c) ---- */

/* A launch's host arrays on a device without host_memory. */
typedef struct kj_staged_array {
    kjit_array *array;
    kj_buffer *piece;
    uintptr_t shift;  /* from the host's address to the device's */
    bool goes, comes; /* to the device before the launch, back after it */
    bool stays;       /* the kernel writes it, but some argument says that it does not come back */
} kj_staged_array;

typedef struct kj_staged {
    int narrays, npieces;
    kj_staged_array *arrays; /* each view once, by address */
    kj_buffer **pieces;
} kj_staged;

bool kj_stage_needed(const kj_binding *b, const kj_variant *variant);
/* Moves them there: what succeeds ends with kj_stage_drop. */
kjit_status kj_stage_in(kj_binding *b, const kj_variant *variant, kjit_stream *stream,
                        kj_staged *s);
/* After the launch: moves back what the kernel writes. */
kjit_status kj_stage_out(const kj_staged *s, kjit_stream *stream);
void kj_stage_drop(kj_staged *s);
/* Where the kernel finds an array: its own address when it isn't staged. */
uintptr_t kj_staged_address(const kj_staged *s, const kjit_array *a);

/* ---- Packets (packet.c) ---- */

/* A launch as its device takes it, with what it uses held: never changed once it is made. */
typedef struct kj_packet {
    atomic_int refs;
    int nbuffers;
    kjit_module *mod;
    const kj_variant *variant;
    kj_launch_call call;
    kj_buffer *buffers[]; /* and behind them the call's values */
} kj_packet;

/* staged and reported as a launch of its own has them, or NULL. It holds all memory, but what
 * `stream`, the only one that it is for, orders; NULL: it is for any. */
kjit_status kj_packet_new(const kj_binding *b, const kj_ready *ready, const kj_staged *staged,
                          const kj_reported *reported, const kjit_stream *stream, kj_packet **out);
void kj_packet_hold(kj_packet *packet);
void kj_packet_drop(kj_packet *packet);
/* Launches: now, and then it waits, or in a stream, where the report may be left to the device's
 * work. `label` as kj_launch_labelled has it. */
kjit_status kj_packet_launch(kj_packet *packet, const char *label, kj_reported *reported,
                             kjit_stream *stream);
/* The same without a packet, now. */
kjit_status kj_launch_now(kj_binding *b, const kj_ready *ready, const kj_staged *staged,
                          const kj_reported *reported);

/* ---- Prepared launches (plan.c) ---- */

/* A launch that keeps what it was given: its own views of the arrays, its own copies of the values.
 * Never changed while more than one holds it. */
typedef struct kj_prepared {
    atomic_int refs;
    kj_kernel *kernel; /* its module is held */
    int64_t grid[3], block[3];
    kj_packet *packet; /* NULL: it is bound for each launch, or has no blocks */
    bool *given;       /* by parameter, behind the arguments */
    kjit_arg args[];   /* by parameter */
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
