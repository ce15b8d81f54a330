/* What becomes of a kernel's lines on a GPU, as plain data for `kjit explain`: a note has a place, a kind and a sentence. All of
 * it is known when the kernel is compiled; of what is not there is no note. */
#ifndef KJ_NOTES_H
#define KJ_NOTES_H

#include "analysis/lane_value.h"

typedef enum kj_note_kind {
    KJ_NOTE_MEMORY, /* how a warp's threads touch it */
    KJ_NOTE_ATOMIC,
    KJ_NOTE_BOUNDS, /* one for each place that --emit=checks lists */
    KJ_NOTE_BRANCH,
    KJ_NOTE_LOOP,
    KJ_NOTE_BARRIER,
    KJ_NOTE_ARITHMETIC,
    KJ_NOTE_BLOCK /* of the block that is assumed */
} kj_note_kind;

typedef struct kj_line_note {
    kj_span span;
    kj_note_kind kind;
    const char *subject, *text; /* "global load x[i]", and what is said of it */
    const char *hint;           /* what to write instead; or NULL */
    int order;
} kj_line_note;

/* ---- notes.c ---- */

typedef struct kj_notes {
    kj_arena *arena;
    const kj_source *source;
    const kj_tkernel *kernel;
    const kj_deps *deps;
    kj_lanes lanes;
    bool has_lanes;
    bool active[KJ_BLOCK_THREADS]; /* threads that may come where the walk is */
    bool single;                   /* of a warp one at most */
    bool combines;                 /* the atomic that is looked at: kj_note_combines */
    struct kj_turning *turning;    /* the loop around */
    struct kj_touch *pending;      /* the access of a vector, of which more parts may come */
    kj_line_note *all;
    int n, cap;
} kj_notes;

/* Text as --emit=notes has it, tabs between what a line has:
 *   kernel NAME BLOCK FILE FIRST LAST    the lines of its item
 *   note FILE LINE COLUMN KIND SUBJECT TEXT HINT
 *   line FILE LINE TEXT                  of the kernel, and of what has notes */
const char *kj_notes_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                          const kj_deps *deps);

void kj_note_add(kj_notes *w, kj_span span, kj_note_kind kind, const char *subject,
                 const char *hint, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The source's text, where it is short and on one line, else the name. */
const char *kj_note_label(const kj_notes *w, kj_span span, const char *name);

/* ---- notes_access.c ---- */

typedef enum kj_touch_kind { KJ_TOUCH_LOAD, KJ_TOUCH_STORE, KJ_TOUCH_ATOMIC } kj_touch_kind;

void kj_note_access(kj_notes *w, kj_span span, kj_touch_kind kind, const kj_tarray *a,
                    kj_texpr *const *index);
bool kj_note_combines(kj_builtin id);
/* What was put off is told. */
void kj_note_pending(kj_notes *w);

/* ---- notes_block.c ---- */

/* Where conditions of the kernel, whose block is not known, say what blockDim is: such a block. */
void kj_required_block(const kj_tkernel *kernel, int64_t block[3]);

/* "global load x[i]" */
const char *kj_note_title(const kj_notes *w, kj_span span, kj_touch_kind kind, const kj_tarray *a);

/* ---- notes_turns.c ---- */

void kj_note_enter(kj_notes *w, const kj_tstmt *loop);
void kj_note_leave(kj_notes *w);
/* Of a load that takes the same element on every turn of a loop around. */
void kj_note_turns(kj_notes *w, const kj_texpr *load, const char *subject);

/* ---- notes_checks.c ---- */

void kj_note_checks(kj_notes *w);

#endif
