/* kjit builtins: the functions of the language, from the library's own table. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char *letter_word(char letter)
{
    static const struct {
        char letter;
        const char *word;
    } letters[] = {
        {'f', "float"},   {'i', "int"},     {'n', "number"}, {'e', "any"},
        {'b', "bool"},    {'d', "i32"},     {'l', "i64"},    {'m', "mask"},
        {'z', "complex"}, {'w', "i32|u32"}, {'s', "f32"},    {'g', "f64"},
    };
    for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
        if (letters[k].letter == letter)
            return letters[k].word;
    }
    return "";
}

/* "ff" as "float, float" */
static size_t put_words(char *out, size_t size, const char *letters, size_t count)
{
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; i < count && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", letter_word(letters[i]));
    return n < size ? n : size - 1;
}

/* "n(nn)" as "min(number, number) -> number". A signature with a text of its own ("(shape,
 * dtype=f32)") follows the name as it is; "*" is what the description begins with, if that is the
 * name. Returns the description that is left. */
const char *call_text(const kjit_builtin_info *b, char *out, size_t size)
{
    const char *p = b->signature, *end;
    size_t length = strlen(b->name);
    if (*p == '(' || !*p) {
        snprintf(out, size, "%s%s", b->name, p);
        return b->doc;
    }
    if (*p == '*') {
        bool shown = strncmp(b->doc, b->name, length) == 0 && b->doc[length] == '(' &&
                     (end = strstr(b->doc, "): "));
        int n = shown ? (int)(end + 1 - b->doc) : (int)length;
        snprintf(out, size, "%.*s", n, shown ? b->doc : b->name);
        return shown ? end + 3 : b->doc;
    }
    char arguments[64], results[40];
    size_t nresults = strcspn(p, "(");
    put_words(arguments, sizeof arguments, p + nresults + 1, strcspn(p + nresults + 1, ")"));
    put_words(results, sizeof results, p, nresults);
    bool tuple = nresults > 1;
    snprintf(out, size, "%s(%s)%s%s%s%s", b->name, arguments, *results ? " -> " : "",
             tuple ? "(" : "", results, tuple ? ")" : "");
    return b->doc;
}

void accuracy(const kjit_builtin_info *b, char *out, size_t size)
{
    *out = 0;
    if (b->ulp32 == b->ulp64 && b->ulp32 > 0)
        snprintf(out, size, "%d ULP", b->ulp32);
    else if (b->ulp32 != b->ulp64)
        snprintf(out, size, "%d ULP in f32, %d in f64", b->ulp32, b->ulp64);
}

/* A | in a table cell would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_row(const options *o, const kjit_builtin_info *b)
{
    char call[256], ulp[48];
    const char *doc = call_text(b, call, sizeof call);
    accuracy(b, ulp, sizeof ulp);
    if (!o->markdown) {
        enum { COLUMN = 40 };
        printf("  %-*s%s%*s%s%s%s%s\n", COLUMN, call, strlen(call) < COLUMN ? "" : "\n",
               strlen(call) < COLUMN ? 0 : COLUMN + 2, "", doc, *ulp ? " (" : "", ulp,
               *ulp ? ")" : "");
        return;
    }
    printf("| `");
    print_cell(call);
    printf("` | ");
    print_cell(doc);
    printf(" | %s |\n", ulp);
}

int command_builtins(const options *o)
{
    kjit_builtin_info b;
    const char *group = "";
    for (int i = 0; kjit_builtin(i, &b); i++) {
        if (strcmp(group, b.group) != 0) {
            printf(o->markdown ? "%s### %s\n\n| Function | | Largest error |\n|---|---|---|\n"
                               : "%s%s\n",
                   i > 0 ? "\n" : "", b.group);
            group = b.group;
        }
        print_row(o, &b);
    }
    return EXIT_OK;
}
