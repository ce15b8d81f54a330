/* How far apart what neighbouring threads use lies (step.c), and whether another order of them is better (element.c). */
#ifndef KJ_WARN_ELEMENT_H
#define KJ_WARN_ELEMENT_H

#include "warn/body.h"

typedef struct kj_steps {
    bool known;
    bool constant; /* the same for all threads and launches: */
    int64_t value;
    bool pitch; /* the same for all threads, and how far apart rows are: `pitches` of that */
    int pitches;
    kj_step of[3]; /* along threadIdx.x, y, z */
} kj_steps;

/* ---- step.c ---- */

kj_steps kj_steps_of(const kj_body *b, const kj_expr *e);
kj_steps kj_sum_of_steps(const kj_steps *a, const kj_steps *b);

static inline bool kj_is_uniform_step(const kj_steps *s)
{
    return !s->of[0].by && !s->of[1].by && !s->of[2].by;
}

/* How threads along threadIdx.x stand in an array of one axis. */
typedef enum kj_along {
    KJ_ALONG_NONE,    /* another order of the grid's axes is no worse, and perhaps no better */
    KJ_ALONG_SLOW,    /* rows apart, those of another axis are neighbours */
    KJ_ALONG_FAST,    /* neighbours, those of another axis are rows apart */
    KJ_ALONG_OTHER,   /* they share what those of another axis are rows apart in */
    KJ_ALONG_UNKNOWN, /* somehow */
} kj_along;

kj_along kj_along_of(const kj_steps *index);

/* ---- element.c ---- */

/* The indices of an element, those of a[i][j] as those of a[i, j], also where a[i] has a name. */
typedef struct kj_axis_index {
    const kj_expr *at; /* NULL: all of the axis */
    unsigned axes;     /* kj_axes_of */
    kj_steps steps;
    bool open; /* an index is still to be named, which counts from there */
} kj_axis_index;

typedef struct kj_indices {
    const kj_expr *base;
    kj_axis_index of[KJ_MAX_NDIM];
    int n;        /* KJ_MAX_NDIM + 1: more than there can be */
    bool through; /* a name of a view */
    bool viewed;  /* of an array whose axes are known: */
    const char *between;
} kj_indices;

/* What a let's value is a view of; NULL: it is none, or not known. */
const kj_indices *kj_view_of(const kj_body *b, const kj_expr *init);

#endif
