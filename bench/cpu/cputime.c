/* cputime RUNS COMMAND [ARGUMENT...]: runs a command many times, its output dropped, and prints the median and the
 * least user + system time of its process in milliseconds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common.h"

enum { MAX_RUNS = 1000 };

static double milliseconds(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* The CPU time of one run; negative when it failed. */
static double run(char **command)
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDOUT_FILENO);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        return -1;
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

int main(int argc, char **argv)
{
    const int runs = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fputs("usage: cputime RUNS COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    double ms[MAX_RUNS];
    run(argv + 2); /* warms the file cache */
    for (int i = 0; i < runs; i++) {
        ms[i] = run(argv + 2);
        if (ms[i] < 0) {
            fprintf(stderr, "cputime: %s failed\n", argv[2]);
            return 1;
        }
    }
    const double median = bench_median(ms, runs);
    printf("%7.2f (%.2f) ", median, ms[0]);
    for (int i = 3; i < argc; i++)
        printf(" %s", argv[i]);
    putchar('\n');
    return 0;
}
