/* JSON as it is written for programs: an object with a member a line. */
#include "json.h"

#include <string.h>

void out_put(json *j, const char *text)
{
    write_output(j->out, text, strlen(text));
}

void out_string(json *j, const char *text)
{
    out_put(j, "\"");
    while (*text) {
        char c[JSON_CHAR];
        text += json_char(c, text);
        out_put(j, c);
    }
    out_put(j, "\"");
}

void out_member(json *j, const char *name)
{
    char blanks[64];
    snprintf(blanks, sizeof blanks, "%s\n%*s", j->follows ? "," : "", 2 * j->depth, "");
    out_put(j, j->depth > 0 ? blanks : "");
    if (name) {
        out_string(j, name);
        out_put(j, ": ");
    }
    j->follows = true;
}

void out_open(json *j, const char *name, const char *bracket)
{
    out_member(j, name);
    out_put(j, bracket);
    j->depth++;
    j->follows = false;
}

void out_close(json *j, const char *bracket)
{
    char blanks[64];
    j->depth--;
    snprintf(blanks, sizeof blanks, "\n%*s", 2 * j->depth, "");
    out_put(j, j->follows ? blanks : "");
    out_put(j, bracket);
    j->follows = true;
}

void out_text(json *j, const char *name, const char *value)
{
    out_member(j, name);
    if (value)
        out_string(j, value);
    else
        out_put(j, "null");
}

void out_number(json *j, const char *name, long long value)
{
    char digits[32];
    out_member(j, name);
    snprintf(digits, sizeof digits, "%lld", value);
    out_put(j, digits);
}

void out_truth(json *j, const char *name, bool value)
{
    out_member(j, name);
    out_put(j, value ? "true" : "false");
}
