/* JSON on an output, a member a line; names are NULL in an array. (What jansson offers is called json_...) */
#ifndef JSON_H
#define JSON_H

#include "cli.h"

typedef struct json {
    output *out;
    int depth;
    bool follows; /* a member or an item stands before: a comma comes */
} json;

void out_put(json *j, const char *text);
void out_string(json *j, const char *text);
/* In a line of its own. */
void out_member(json *j, const char *name);
void out_open(json *j, const char *name, const char *bracket);
void out_close(json *j, const char *bracket);
void out_text(json *j, const char *name, const char *value); /* NULL is null */
void out_number(json *j, const char *name, long long value);
void out_truth(json *j, const char *name, bool value);

#endif
