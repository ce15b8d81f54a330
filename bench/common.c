/* What the benchmarks share: see common.h. */
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count > 0 ? values[count / 2] : 0;
}

char *bench_file(const char *path, size_t *size, char why[WHY_SIZE])
{
    enum { LIMIT = 1 << 22 };
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, LIMIT);
    *size = f != NULL && text != NULL ? fread(text, 1, LIMIT - 1, f) : 0;
    if (*size == 0) {
        snprintf(why, WHY_SIZE, "%s: %s", path, f == NULL ? strerror(errno) : "nothing in it");
        free(text);
        text = NULL;
    }
    if (f != NULL)
        fclose(f);
    return text;
}

bool bench_take(const char *arg, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(arg, name, length) != 0)
        return false;
    *value = arg + length;
    return true;
}

bool bench_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}
