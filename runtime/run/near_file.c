/* A file that is not there: the name of one that may have been meant. In: the path behind a failure; out: its hint. */
#include "run/run.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 10000, LONGEST = 200 };

typedef struct folder {
    char path[LONGEST + 1]; /* with its slash; of the one where kjit runs "" */
    const char *name;       /* behind it, of the path that is not there */
} folder;

static bool folder_of(const char *path, folder *out)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    out->name = path + n;
    if (n > LONGEST || strlen(out->name) > LONGEST || !*out->name)
        return false;
    memcpy(out->path, path, n);
    out->path[n] = '\0';
    return true;
}

/* How many letters stand before the last dot. */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* The nearest name in the folder, or one that has another ending only, or none (""). */
static void find_near(DIR *dir, const char *name, char best[LONGEST + 1])
{
    kj_near near = kj_near_to(name);
    const struct dirent *e;
    *best = '\0';
    for (int n = 0; n < MOST_FILES && (e = readdir(dir)); n++) {
        if (e->d_name[0] == '.' || strlen(e->d_name) > LONGEST)
            continue;
        const char *before = near.best;
        kj_near_offer(&near, e->d_name);
        bool ends_otherwise = !near.best && !*best && stem(e->d_name) == stem(name) &&
                              strncmp(e->d_name, name, stem(name)) == 0;
        if (near.best != before || ends_otherwise)
            memcpy(best, e->d_name, strlen(e->d_name) + 1);
        if (near.best) /* the folder's names do not stay */
            near.best = best;
    }
}

/* A path that is meant from the program's own folder, and read from where kjit runs. */
static bool hint_beside(kj_run *r, const char *path)
{
    const char *slash = strrchr(r->source->name, '/');
    kj_text beside = {0};
    if (!slash || *path == '/')
        return false;
    kj_text_printf(&beside, "%.*s%s", (int)(slash - r->source->name) + 1, r->source->name, path);
    bool is_there = !beside.failed && access(beside.data, F_OK) == 0;
    if (is_there)
        kj_run_hint(r, "paths begin where kjit runs: did you mean '%s'?", beside.data);
    kj_text_free(&beside);
    return is_there;
}

bool kj_run_hint_file(kj_run *r, const char *path)
{
    char best[LONGEST + 1];
    folder in;
    if (r->hint || r->ctx->limits.untrusted || access(path, F_OK) == 0 || !folder_of(path, &in) ||
        hint_beside(r, path))
        return false;
    DIR *dir = opendir(*in.path ? in.path : ".");
    if (!dir)
        return access(in.path, F_OK) != 0 &&
               kj_run_hint(r, "there is no folder '%.*s'", (int)strlen(in.path) - 1, in.path);
    find_near(dir, in.name, best);
    closedir(dir);
    return *best && kj_run_hint(r, "did you mean '%s%s'?", in.path, best);
}
