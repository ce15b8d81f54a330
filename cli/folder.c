/* Folders on the command line: all .knl below them, in the order of their names. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

typedef struct walk {
    source_step *step;
    void *user;
    bool whole; /* what there is could be read */
    bool stop;
} walk;

static int is_shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static bool is_source(const char *path, const struct stat *st)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".knl") == 0 && S_ISREG(st->st_mode);
}

static void walk_folder(walk *w, const char *path);

/* Links are not followed: what they lead to may be anywhere. */
static void walk_entry(walk *w, const char *folder, const char *name)
{
    char *path;
    struct stat st;
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s", folder, slash, name) < 0) {
        complain("out of memory");
        w->whole = false;
        return;
    }
    bool there = lstat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        walk_folder(w, path);
    else if (there && is_source(path, &st))
        w->stop = !w->step(w->user, path);
    free(path);
}

static void walk_folder(walk *w, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_shown, alphasort);
    if (n < 0) {
        complain("%s: %s", path, strerror(errno));
        w->whole = false;
        return;
    }
    for (int i = 0; i < n; i++) {
        if (!w->stop)
            walk_entry(w, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

bool is_folder(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool each_source(const char *path, source_step *step, void *user)
{
    walk w = {step, user, true, false};
    if (is_folder(path))
        walk_folder(&w, path);
    else
        step(user, path);
    return w.whole;
}
