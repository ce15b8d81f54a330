/* The elements are those that the JUnit task of Apache Ant writes, and readers agree on: testsuites, testsuite, testcase,
 * failure, error, system-out; times are seconds. */
#include "junit.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/base/plain.h"
#include "cli.h"

/* Of the suite that was begun last, or of all. */
typedef struct counts {
    int tests, failures, errors;
    double ms;
} counts;

struct junit {
    FILE *all, *suite; /* what is in testsuites, and in the testsuite that was begun last */
    char *text, *cases;
    size_t size, cases_size; /* bytes, once the file is closed or flushed */
    const char *file;
    counts total, of_suite;
    bool failed; /* out of memory */
};

/* ---- XML ---- */

/* XML has no characters below a blank but these three, in no form. */
static bool has_xml(uint32_t code)
{
    return code >= ' ' || code == '\t' || code == '\n' || code == '\r';
}

static void put_char(FILE *out, uint32_t code, const char *text, size_t n)
{
    switch (code) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    default:
        if (!has_xml(code) || (code == 0xfffd && n == 1))
            fputs("\xef\xbf\xbd", out); /* U+FFFD */
        else
            fwrite(text, 1, n, out);
    }
}

static void put_text(FILE *out, const char *text)
{
    for (uint32_t code; *text;) {
        size_t n = kj_utf8(text, text + strnlen(text, 4), &code);
        put_char(out, code, text, n);
        text += n;
    }
}

/* A line of it, as an attribute's value. */
static void put_line(FILE *out, const char *text)
{
    char *line = strndup(text, strcspn(text, "\n"));
    put_text(out, line ? line : "");
    free(line);
}

static void put_counts(FILE *out, const counts *c)
{
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.6f\"", c->tests, c->failures,
            c->errors, c->ms / 1e3);
}

/* ---- Suites ---- */

junit *begin_junit(void)
{
    junit *j = calloc(1, sizeof *j);
    if (j && !(j->all = open_memstream(&j->text, &j->size))) {
        free(j);
        return NULL;
    }
    return j;
}

void begin_suite(junit *j, const char *file)
{
    j->file = file;
    j->of_suite = (counts){0};
    j->suite = open_memstream(&j->cases, &j->cases_size);
    j->failed |= !j->suite;
}

static void begin_case(junit *j, const char *title, int line, double ms)
{
    fputs("    <testcase name=\"", j->suite);
    put_line(j->suite, title);
    fputs("\" classname=\"", j->suite);
    put_text(j->suite, j->file);
    fputs("\" file=\"", j->suite);
    put_text(j->suite, j->file);
    if (line > 0)
        fprintf(j->suite, "\" line=\"%d", line);
    fprintf(j->suite, "\" time=\"%.6f\"", ms / 1e3);
    j->of_suite.tests++;
    j->of_suite.ms += ms;
}

static void put_reason(junit *j, const char *element, const char *why)
{
    fprintf(j->suite, "      <%s message=\"", element);
    put_line(j->suite, why);
    fputs("\">", j->suite);
    put_text(j->suite, why);
    fprintf(j->suite, "</%s>\n", element);
}

void add_case(junit *j, const char *title, int line, double ms, const char *why,
              const char *printed)
{
    if (!j->suite)
        return;
    begin_case(j, title, line, ms);
    if (!why) {
        fputs("/>\n", j->suite);
        return;
    }
    fputs(">\n", j->suite);
    put_reason(j, "failure", why);
    if (*printed) {
        fputs("      <system-out>", j->suite);
        put_text(j->suite, printed);
        fputs("</system-out>\n", j->suite);
    }
    fputs("    </testcase>\n", j->suite);
    j->of_suite.failures++;
}

void add_error(junit *j, const char *why)
{
    if (!j->suite)
        return;
    begin_case(j, j->file, 0, 0);
    fputs(">\n", j->suite);
    put_reason(j, "error", why);
    fputs("    </testcase>\n", j->suite);
    j->of_suite.errors++;
}

/* Closes a stream of memory; false: some of what was written is lost. */
static bool close_memory(FILE *file)
{
    bool whole = !ferror(file);
    return fclose(file) == 0 && whole;
}

void end_suite(junit *j)
{
    if (!j->suite)
        return;
    j->failed |= !close_memory(j->suite);
    j->suite = NULL;
    fputs("  <testsuite name=\"", j->all);
    put_text(j->all, j->file);
    fputs("\"", j->all);
    put_counts(j->all, &j->of_suite);
    fputs(">\n", j->all);
    fwrite(j->cases ? j->cases : "", 1, j->cases_size, j->all);
    fputs("  </testsuite>\n", j->all);
    free(j->cases);
    j->cases = NULL;
    j->total.tests += j->of_suite.tests;
    j->total.failures += j->of_suite.failures;
    j->total.errors += j->of_suite.errors;
    j->total.ms += j->of_suite.ms;
}

static bool write_all_suites(junit *j, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file || j->failed) {
        if (file)
            fclose(file);
        free(text);
        errno = ENOMEM;
        return false;
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kjit\"", file);
    put_counts(file, &j->total);
    fputs(">\n", file);
    fwrite(j->text ? j->text : "", 1, j->size, file);
    fputs("</testsuites>\n", file);
    bool whole = close_memory(file);
    errno = ENOMEM;
    bool ok = whole && write_file(path, text, size);
    free(text);
    return ok;
}

bool end_junit(junit *j, const char *path)
{
    end_suite(j);
    j->failed |= !close_memory(j->all);
    bool ok = write_all_suites(j, path);
    free(j->text);
    free(j);
    return ok;
}
