/* kjit watch: a file is run again whenever it, or one beside it, has changed; a run that is under way is ended for that.
 * Each is a process of its own, so that nothing that it does ends the watching. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { SHORT_MS = 5, LOOK_MS = 100, SETTLED_MS = 50 /* editors write in steps */ };

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* FNV-1a, of what a file's state is: another state gives another number. */
static uint64_t with_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (const unsigned char *at = bytes; n--; at++)
        hash = (hash ^ *at) * 0x100000001b3;
    return hash;
}

static uint64_t with_file(uint64_t hash, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return hash;
    hash = with_bytes(hash, &st.st_ino, sizeof st.st_ino);
    hash = with_bytes(hash, &st.st_size, sizeof st.st_size);
    return with_bytes(hash, &st.st_mtim, sizeof st.st_mtim);
}

/* The file and all .knl of its folder, in any order. */
static uint64_t state_of(const char *path)
{
    const uint64_t none = 0xcbf29ce484222325;
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    uint64_t all = with_file(none, path);
    char *name;
    if (asprintf(&name, "%.*s", folder, folder ? path : ".") < 0)
        return all;
    DIR *dir = opendir(folder ? name : ".");
    free(name);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t n = strlen(entry->d_name);
        if (n <= 4 || strcmp(entry->d_name + n - 4, ".knl") != 0)
            continue;
        if (asprintf(&name, "%.*s%s", folder, path, entry->d_name) < 0)
            break;
        all ^= with_file(with_bytes(none, entry->d_name, n), name);
        free(name);
    }
    if (dir)
        closedir(dir);
    return all;
}

static void wait_for_change(const char *path, uint64_t before)
{
    uint64_t now = before;
    while (now == before ||
           access(path, R_OK) != 0) { /* some editors put a new file in its place */
        pause_ms(LOOK_MS);
        now = state_of(path);
    }
    do {
        before = now;
        pause_ms(SETTLED_MS);
        now = state_of(path);
    } while (now != before);
}

/* Of a run that a change makes needless: asked first, and then made to. */
static void stop(pid_t child, int *status)
{
    enum { PATIENCE_MS = 2000 };
    kill(child, SIGINT);
    for (int ms = 0; ms < PATIENCE_MS; ms += SHORT_MS) {
        if (waitpid(child, status, WNOHANG) != 0)
            return;
        pause_ms(SHORT_MS);
    }
    kill(child, SIGKILL);
    waitpid(child, status, 0);
}

/* Waits for the run's end, or a change. False: it was stopped for that. */
static bool wait_for_end(pid_t child, const char *path, uint64_t before, int *status)
{
    for (int ms = SHORT_MS;; ms += SHORT_MS) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended != 0)
            return true;
        pause_ms(SHORT_MS);
        if (ms % LOOK_MS == 0 && state_of(path) != before) {
            stop(child, status);
            return false;
        }
    }
}

static void show_end(const char *path, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "[%s: ended by signal %d; watching]\n", path, WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(stderr, "[%s: exit code %d; watching]\n", path, WEXITSTATUS(status));
    else
        fprintf(stderr, "[%s: done; watching]\n", path);
}

int command_watch(const options *o)
{
    const char *path = o->arguments[0];
    if (o->text || strcmp(path, "-") == 0) {
        complain("watch is for a file");
        return EXIT_USAGE;
    }
    if (access(path, R_OK) != 0) {
        complain("'%s' cannot be read: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    for (;;) {
        uint64_t before = state_of(path);
        int status;
        fflush(stdout);
        pid_t parent = getpid(), child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            return getppid() == parent ? command_run(o) : EXIT_FAILED;
        }
        if (child < 0) {
            complain("no process can be begun: %s", strerror(errno));
            return EXIT_FAILED;
        }
        bool ended = wait_for_end(child, path, before, &status);
        if (ended && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERRUPTED)
            return EXIT_INTERRUPTED;
        if (ended)
            show_end(path, status);
        wait_for_change(path, before);
    }
}
