/* What went wrong, gathered while the process runs and told at its end; and the log. */
#include "double.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 200 }; /* lines of a report */

static char *lines[MOST];
static int line_count;
static int mistakes, leaks;
static bool ended;

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define ERROR(name, code, text) {name, #name, text},
#include "errors.def"
#undef ERROR
};

const char *error_name(CUresult code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code)
            return errors[i].name;
    }
    return NULL;
}

const char *error_text(CUresult code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code)
            return errors[i].text;
    }
    return NULL;
}

/* ---- The log ---- */

void log_line(const char *format, ...)
{
    static FILE *file;
    if (!config()->log)
        return;
    if (!file) {
        file = fopen(config()->log, "ae");
        if (!file)
            return;
        setvbuf(file, NULL, _IOLBF, BUFSIZ);
    }
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
}

/* ---- The report ---- */

static void add_line(const char *what, const char *format, va_list args)
{
    char text[800], *line = NULL;
    vsnprintf(text, sizeof text, format, args);
    log_line("%s: %s", what, text);
    if (line_count < MOST && asprintf(&line, "%s: %s", what, text) >= 0)
        lines[line_count++] = line;
}

CUresult misuse(CUresult code, const char *format, ...)
{
    char what[128];
    const char *name = call_name();
    va_list args;
    va_start(args, format);
    if (*name)
        snprintf(what, sizeof what, "misuse: %s (call %llu, T%d)", name,
                 (unsigned long long)call_number(), thread_self()->number);
    else
        snprintf(what, sizeof what, "misuse");
    add_line(what, format, args);
    va_end(args);
    mistakes++;
    return code;
}

void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line("note", format, args);
    va_end(args);
}

void leak(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line("leak", format, args);
    va_end(args);
    leaks++;
}

bool report_ended(void)
{
    return ended;
}

static void write_report(void)
{
    FILE *out = config()->report ? fopen(config()->report, "ae") : stderr;
    if (!out)
        out = stderr;
    for (int i = 0; i < line_count; i++)
        fprintf(out, "driver double: %s\n", lines[i]);
    if (mistakes || leaks)
        fprintf(out, "driver double: %d misuse%s, %d leak%s\n", mistakes, mistakes == 1 ? "" : "s",
                leaks, leaks == 1 ? "" : "s");
    if (out != stderr)
        fclose(out);
}

/* At the end of the process; the library is never unloaded. */
static __attribute__((destructor)) void end(void)
{
    if (calls_forked())
        return;
    workers_end();
    call_lock();
    report_leaks();
    write_report();
    for (int i = 0; i < line_count; i++)
        free(lines[i]);
    line_count = 0;
    ended = true;
    call_unlock();
    if ((mistakes || leaks) && config()->exit_status) {
        fflush(NULL);
        _exit(config()->exit_status);
    }
}
