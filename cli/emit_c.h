/* kjit build --emit=c: names in C, and a record's struct. */
#ifndef KJIT_EMIT_C_H
#define KJIT_EMIT_C_H

#include <kjit.h>
#include <stdbool.h>
#include <stdio.h>

enum { MOST_NAME = 100 /* characters of a name in C */ };

typedef char c_names[][MOST_NAME];

/* A name of the language, "blur.rows", as C has names. */
void c_name(char out[MOST_NAME], const char *name);
/* The same of what stands by itself: with an underscore behind what C has otherwise. */
void c_word(char out[MOST_NAME], const char *name);
/* Makes names[i] another than those before it, by underscores behind it. */
void set_apart(c_names names, int i);

/* ---- emit_c_record.c ---- */

typedef struct c_records {
    kjit_context *ctx;
    const char *prefix;       /* of what is declared */
    int n;                    /* those that others hold come first */
    kjit_dtype *dtypes;       /* theirs */
    char (*names)[MOST_NAME]; /* behind the prefix; to be freed */
} c_records;

/* Adds the record, if it is one and is not among them, and those that it holds. Tuples have no struct. False: out of
 * memory. */
bool add_record(c_records *all, kjit_dtype dtype);
/* Its place among them, or -1. */
int find_record(const c_records *all, kjit_dtype dtype);
/* Their structs, whose layout the C compiler compares. */
void put_records(const c_records *all, FILE *out);
void free_records(c_records *all);

#endif
