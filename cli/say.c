/* What the command says, and in which colours: complaints, the library's messages, standard output. Text in, text on a
 * stream out. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../compiler/base/plain.h"
#include "cli.h"

static colour_choice chosen;

void choose_colour(colour_choice choice)
{
    chosen = choice;
}

bool is_coloured(int file)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (chosen != COLOUR_AUTO)
        return chosen == COLOUR_ALWAYS;
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(file);
}

/* What was typed, or is a file's name, is shown as the library's messages show it. */
static void say_plain(const char *text, const char *end)
{
    char out[KJ_PLAIN_MOST];
    while (text < end) {
        size_t n = kj_shown_as(text, end, out);
        if (out[0] && *text != '\n')
            fputs(out, stderr);
        else
            fwrite(text, 1, n, stderr);
        text += n;
    }
}

static bool as_json; /* --diagnostics=json: complaints are objects, too */

void complain_as_json(bool json)
{
    as_json = json;
}

size_t json_char(char out[JSON_CHAR], const char *text)
{
    uint32_t code;
    size_t n = kj_utf8(text, text + strnlen(text, 4), &code);
    if (code < ' ' || (code == 0xfffd && n == 1))
        snprintf(out, JSON_CHAR, "\\u%04x", (unsigned)code);
    else
        snprintf(out, JSON_CHAR, code == '"' || code == '\\' ? "\\%.*s" : "%.*s", (int)n, text);
    return n;
}

bool complaint_line(char *out, size_t size, const char *text)
{
    static const char begin[] = "{\"severity\":\"error\",\"code\":\"run\",\"message\":\"";
    enum { END = 4 }; /* "}\n and the zero */
    if (!as_json)
        return false;
    size_t n = (size_t)snprintf(out, size, "%s", begin);
    while (*text && n + JSON_CHAR + END < size) {
        text += json_char(out + n, text);
        n += strlen(out + n);
    }
    snprintf(out + n, size - n, "\"}\n");
    return true;
}

void complain(const char *format, ...)
{
    enum { MOST = 8192 };
    char line[MOST];
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n >= 0 && complaint_line(line, sizeof line, text)) {
        fputs(line, stderr);
    } else {
        fputs("kjit: ", stderr);
        if (n >= 0)
            say_plain(text, text + n);
        fputc('\n', stderr);
    }
    free(n >= 0 ? text : NULL);
}

/* ---- Messages ---- */

static const struct {
    const char *word, *colour;
} words[] = {
    {": error: ", "\033[1;31m"},
    {": warning: ", "\033[1;35m"},
    {": note: ", "\033[1;36m"},
};

/* "      | " and then nothing but blanks, ^ and ~. */
static bool is_caret_line(const char *line, size_t n)
{
    size_t i = strspn(line, " ");
    if (i >= n || line[i] != '|')
        return false;
    bool caret = false;
    for (i++; i < n; i++) {
        if (!strchr(" \t^~", line[i]))
            return false;
        caret |= line[i] == '^';
    }
    return caret;
}

static void show_line(const char *line, size_t n)
{
    if (is_caret_line(line, n)) {
        size_t bar = strcspn(line, "|") + 1;
        fprintf(stderr, "%.*s\033[1;32m%.*s\033[0m\n", (int)bar, line, (int)(n - bar), line + bar);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = memmem(line, n, words[i].word, strlen(words[i].word));
        if (!word)
            continue;
        size_t before = (size_t)(word - line) + 2, len = strlen(words[i].word) - 2;
        fprintf(stderr, "\033[1m%.*s%s%.*s\033[0m\033[1m%.*s\033[0m\n", (int)before, line,
                words[i].colour, (int)len, line + before, (int)(n - before - len),
                line + before + len);
        return;
    }
    fprintf(stderr, "%.*s\n", (int)n, line);
}

void show_messages(const char *text)
{
    bool colour = is_coloured(STDERR_FILENO);
    fflush(stdout);
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (colour)
            show_line(text, n);
        else
            fprintf(stderr, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* ---- Suggestions ---- */

/* Insertions, deletions, replacements and exchanges of neighbours between two short words. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t least = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < least)
                least = up[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                above[j - 2] + 1 < least)
                least = above[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[n % 3][m];
}

/* A third of the letters, of a short name one, of a mere letter none; where the first letter is another, less. */
static size_t edits_allowed(const char *name, const char *candidate)
{
    size_t n = strlen(name), m = strlen(candidate), longer = n > m ? n : m;
    if (n < 3)
        return n == 2 && (m == 2 || *name == *candidate);
    if (longer < 6)
        return 1;
    return *name == *candidate ? (longer + 1) / 3 : longer < 10 ? 2 : 3;
}

const char *nearest(const char *name, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, candidates[i]);
        if (d <= edits_allowed(name, candidates[i]) && (!best || d < least)) {
            best = candidates[i];
            least = d;
        }
    }
    return best;
}

/* ---- Standard output ---- */

void write_output(output *o, const char *text, size_t size)
{
    if (o->failed || fwrite(text, 1, size, stdout) == size)
        return;
    o->failed = true;
    o->error = errno;
}

bool flush_output(output *o)
{
    if (!o->failed && fflush(stdout) != 0) {
        o->failed = true;
        o->error = errno;
    }
    return !o->failed;
}

int end_output(output *o, int code)
{
    bool before = !o->failed && ferror(stdout);
    if (flush_output(o) && !before)
        return code;
    if (o->error == EPIPE)
        return code == EXIT_OK || code == EXIT_INTERRUPTED ? EXIT_PIPE : code;
    complain("standard output cannot be written: %s", strerror(o->error));
    return code == EXIT_OK || code == EXIT_INTERRUPTED ? EXIT_FAILED : code;
}
