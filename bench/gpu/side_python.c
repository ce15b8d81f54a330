/* Numba's, CuPy's and Triton's sides: peers.py as a child process, which does as the lines it is sent say; one that says
 * nothing for long is ended. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { PATIENCE = 60 }; /* seconds: packages are loaded and kernels compiled meanwhile */

typedef struct state {
    pid_t child;
    FILE *to, *from;
} state;

/* Sends a line, if any, and takes the answer: "ok NUMBER", "none" when there is no such case, else a sentence. */
static bool ask(bench_side *self, const char *line, double *number)
{
    state *s = self->state;
    char answer[WHY_SIZE];
    if (line != NULL && (fprintf(s->to, "%s\n", line) < 0 || fflush(s->to) != 0)) {
        snprintf(self->why, sizeof self->why, "it ended");
        return false;
    }
    struct pollfd ready = {.fd = fileno(s->from), .events = POLLIN};
    if (poll(&ready, 1, PATIENCE * 1000) == 0) {
        kill(s->child, SIGKILL);
        snprintf(self->why, sizeof self->why, "no answer in %d seconds", PATIENCE);
        return false;
    }
    if (fgets(answer, sizeof answer, s->from) == NULL) {
        snprintf(self->why, sizeof self->why, "it ended");
        return false;
    }
    answer[strcspn(answer, "\n")] = '\0';
    if (strncmp(answer, "ok", 2) == 0) {
        if (number != NULL)
            *number = strtod(answer + 2, NULL);
        return true;
    }
    snprintf(self->why, sizeof self->why, "%s", strcmp(answer, "none") == 0 ? "" : answer);
    return false;
}

static bool prepare(bench_side *self, const bench_run *run)
{
    char line[128];
    snprintf(line, sizeof line, "prepare %s %lld", run->c->name, (long long)run->size);
    return ask(self, line, NULL);
}

static bool run(bench_side *self, int repeats, double *ms)
{
    char line[64];
    snprintf(line, sizeof line, "run %d", repeats);
    return ask(self, line, ms);
}

static bool checksum(bench_side *self, double *sum)
{
    return ask(self, "checksum", sum);
}

static void release(bench_side *self)
{
    ask(self, "release", NULL);
}

static void close_side(bench_side *self)
{
    state *s = self->state;
    fclose(s->to); /* its end */
    fclose(s->from);
    waitpid(s->child, NULL, 0);
    free(s);
}

static pid_t start(int to[2], int from[2], const char *script, const char *package)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    const int ends[] = {to[0], to[1], from[0], from[1]};
    for (int i = 0; i < 4; i++)
        close(ends[i]);
    execlp("python3", "python3", script, package, (char *)NULL);
    printf("python3 was not found\n");
    fflush(stdout);
    _exit(127);
}

bool bench_open_python(bench_side *side, const char *script, const char *package)
{
    int to[2], from[2];
    state *s = calloc(1, sizeof *s);
    snprintf(side->why, sizeof side->why, "no pipes");
    if (s == NULL || pipe(to) != 0 || pipe(from) != 0) {
        free(s);
        return false;
    }
    s->child = start(to, from, script, package);
    close(to[0]);
    close(from[1]);
    s->to = fdopen(to[1], "w");
    s->from = fdopen(from[0], "r");
    side->state = s;
    side->prepare = prepare;
    side->run = run;
    side->checksum = checksum;
    side->release = release;
    side->close = close_side;
    if (s->child > 0 && s->to != NULL && s->from != NULL && ask(side, NULL, NULL))
        return true;
    close_side(side);
    return false;
}
