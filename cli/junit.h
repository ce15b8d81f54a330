/* --junit=FILE of kjit test: what came of each test as XML that CI services read. */
#ifndef CLI_JUNIT_H
#define CLI_JUNIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct junit junit;

/* NULL: out of memory. What is lost later for want of it is told by end_junit. */
junit *begin_junit(void);
/* The tests of a file, one after the other. */
void begin_suite(junit *j, const char *file);
/* `why`: the message of its failure, NULL: it passed. */
void add_case(junit *j, const char *title, int line, double ms, const char *why,
              const char *printed);
/* The file cannot be read, or has errors. */
void add_error(junit *j, const char *why);
void end_suite(junit *j);
/* Writes and frees it. False: errno says why it is not written. */
bool end_junit(junit *j, const char *path);

#endif
