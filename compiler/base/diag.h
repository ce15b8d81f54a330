/* Source text, places in it, and diagnostics, what is said about them.
 *
 * A span is a pair of byte offsets; lines and columns (1-based, columns in UTF-8 characters) are
 * computed only when a message is shown. Diagnostics accumulate in a kj_diag, in the order of
 * their places when rendered, the same message at the same place once. */
#ifndef KJ_DIAG_H
#define KJ_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/plain.h"

typedef struct kj_span {
    uint32_t begin, end; /* [begin, end) in the source */
} kj_span;

/* A file among those of a program: [begin, end) of their text. */
typedef struct kj_source_part {
    const char *name;
    uint32_t begin, end;
} kj_source_part;

/* The text of a program: the file that was given, and behind it those that it uses, a line end between
 * one and the next. So a place in any of them is an offset here. */
typedef struct kj_source {
    const char *name;            /* of the first, as shown: the path the user gave */
    const char *text;            /* NUL-terminated; may also hold NULs */
    size_t size;                 /* at most 64 MiB (KJ_SOURCE_MAX) */
    const kj_source_part *parts; /* in their order */
    int nparts;                  /* 0: the whole is one file */
    const uint32_t *lines; /* of kj_source_count; NULL: lines are counted from the beginning */
    bool statements;       /* the first is what stands in a run block, without its braces */
    uint32_t
        written; /* what is behind it in the first file was made for an expression of a run block; 0: nothing was */
} kj_source;

enum { KJ_SOURCE_MAX = 64 << 20, KJ_MAX_ERRORS = 20, KJ_MAX_WARNINGS = 20 };

typedef enum kj_severity { KJ_ERROR, KJ_WARNING } kj_severity;

/* What a message is about: the rows of diag.def. */
typedef enum kj_rule {
#define RULE(id, code, severity, text) KJ_RULE_##id,
#include "base/diag.def"
    KJ_NRULES
} kj_rule;

typedef struct kj_rule_info {
    const char *code; /* stable: "type-mismatch" */
    kj_severity severity;
    const char *text; /* the rule in a sentence */
} kj_rule_info;

extern const kj_rule_info kj_rules[KJ_NRULES];

/* Which warnings are wanted, whether one is an error, and what they may count with. */
typedef struct kj_warnings {
    bool off[KJ_NRULES], error;
    const char *const *params; /* "name=value": what a run will be given in place of its defaults */
    int nparams;
} kj_warnings;

/* Takes a list: "off", "all", "error", and codes, with "no-" in front of those that are not wanted; separated
 * by commas, a later word has its way. False at a word that is none of these: then `wrong` holds it. */
bool kj_warnings_read(kj_warnings *w, const char *list, kj_span *wrong);

/* A call of the function that a place is in. */
typedef struct kj_called {
    struct kj_called *up; /* the call of the function that this one is in */
    kj_span at;
} kj_called;

typedef struct kj_message {
    struct kj_message *next;
    kj_span span;
    kj_rule rule;
    kj_severity severity;
    const char *text;
    const char *hint;  /* NULL, or one sentence that helps: "did you mean 'out'?" */
    kj_span note_span; /* with note: a second place, "declared here" */
    const char *note;
    const kj_called *calls,
        *note_calls;  /* of what failed when it ran, and of the note: the innermost; or NULL */
    kj_span fix_span; /* with fix: what it takes the place of; empty: it is put there */
    const char *fix;  /* NULL, or text with which the mistake is gone */
    /* NULL, or of an unknown member all that may stand behind the dot: "shape, reshape(...), sum()" */
    const char *members;
} kj_message;

typedef struct kj_diag {
    kj_arena *arena;
    const kj_source *source;
    kj_message *first, *last;
    int errors, warnings;
    bool muted;                /* what is found is neither told nor counted */
    bool full;                 /* KJ_MAX_ERRORS were reported; the rest is counted, not kept */
    const kj_warnings *wanted; /* NULL: no warnings are */
    kj_message *scratch;       /* where a message goes that is not kept */
} kj_diag;

void kj_diag_init(kj_diag *d, kj_arena *arena, const kj_source *source);

/* Reports an error; the message may be given a hint or a note. One that won't be shown, after
 * KJ_MAX_ERRORS or said before, is counted only: what it would say is not worth finding out. */
kj_message *kj_error(kj_diag *d, kj_span at, kj_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of a warning, if it is wanted and about the first file; of one that isn't nothing is kept. */
kj_message *kj_warn(kj_diag *d, kj_span at, kj_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool kj_warns(const kj_diag *d, kj_rule rule); /* would it be kept? */
/* When all is said: beside errors no warning stays; else they are errors, if that is wanted. */
void kj_warnings_settle(kj_diag *d);
void kj_hint(kj_diag *d, kj_message *m, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void kj_note(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What mends the mistake: the text stands for that of `at`. One with "..." is for
 * people only and dropped, and so is one of a span that ends before it begins. */
void kj_fix(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, and the hint "write ..." that says so. */
void kj_write(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The hint "did you mean '...'?", and the fix at the message's place. */
void kj_did_you_mean(kj_diag *d, kj_message *m, const char *name);

/* Whether the next message may be shown, and whether this one is. */
bool kj_diag_has_room(const kj_diag *d);
bool kj_is_shown(const kj_diag *d, const kj_message *m);

/* How long the mark is with which a file may begin; it is in no column. */
size_t kj_byte_order_mark(const char *text, size_t size);

/* Where a byte offset is, for people: a line and a column (in UTF-8 characters), both from 1, of a file. */
typedef struct kj_position {
    const char *file;
    uint32_t line, column;
} kj_position;

kj_position kj_where(const kj_source *s, uint32_t offset);
/* Counts the lines of the whole text, so that a place is found in a few thousand of its bytes, and not in all. */
void kj_source_count(kj_arena *arena, kj_source *s);
kj_source_part kj_source_at(const kj_source *s,
                            uint32_t offset); /* the file that an offset is in */

/* All messages as text ("file:line:col: error: ...", the line, a caret or range, the hint) or as
 * JSON, one object a line; in the arena. */
const char *kj_diag_text(const kj_diag *d);
const char *kj_diag_json(const kj_diag *d);

/* The text, and if it is asked for the JSON behind it, for kj_fail_lines (core/core.h), which takes them apart at this character: texts
 * of failures have no controls. */
enum { KJ_TOLD_AS_JSON = 0x1e };
struct kj_text;
const char *kj_diag_told(const kj_diag *d, bool json);
/* A message as JSON, but for the } and the line end: what else there is of it goes before those. `at` NULL: it is of
 * no place in the file. */
void kj_json_begin(struct kj_text *t, const kj_source *s, const kj_span *at, const char *severity,
                   kj_rule rule, const char *message, const char *hint);

/* The name nearest to `name` among those offered one by one, in `best`: NULL when none is near
 * enough to suggest. Names that are offered are borrowed. */
typedef struct kj_near {
    const char *name, *best;
    size_t distance, apart; /* of best: by letters, and in length */
} kj_near;

kj_near kj_near_to(const char *name);
void kj_near_offer(kj_near *near, const char *candidate);
/* The nearest among n candidates. */
const char *kj_nearest(const char *name, const char *const *candidates, size_t n);

/* Is `name` likely a slip of the finger where the other was meant, and not a name of its own that is near to it? Of
 * those of the language an edit may take the place unasked only then: sqr is not sqrt. */
bool kj_is_slip(const char *name, const char *meant);

#endif
