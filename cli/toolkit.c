/* What is used of a CUDA toolkit, if there is one: its assembler, run as a process, and its math
 * library. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

/* ---- The math library ---- */

const char *find_libdevice(void)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const folders[] = {"/usr/local/cuda/nvvm/libdevice",
                                          "/usr/lib/nvidia-cuda-toolkit/libdevice"};
    static char path[4096];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *home = getenv(variables[i]);
        if (home && *home &&
            snprintf(path, sizeof path, "%s/nvvm/libdevice/libdevice.10.bc", home) <
                (int)sizeof path &&
            access(path, R_OK) == 0)
            return path;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/libdevice.10.bc", folders[i]);
        if (access(path, R_OK) == 0)
            return path;
    }
    complain("libdevice.10.bc was not found: it is sought in $CUDA_HOME/nvvm/libdevice, "
             "$CUDA_PATH/nvvm/libdevice, %s and %s",
             folders[0], folders[1]);
    return NULL;
}

/* ---- The assembler ---- */

/* Files of one run of ptxas, in a folder of their own. */
typedef struct scratch {
    char folder[4000], ptx[4096], cubin[4096];
    bool linked; /* the text calls what is linked to it afterwards */
} scratch;

static bool scratch_open(scratch *s, const char *ptx, size_t size)
{
    const char *temporary = getenv("TMPDIR");
    if (!temporary || !*temporary)
        temporary = "/tmp";
    bool fits =
        snprintf(s->folder, sizeof s->folder, "%s/kjit-XXXXXX", temporary) < (int)sizeof s->folder;
    if (!fits || !mkdtemp(s->folder)) {
        complain("there is no temporary folder in '%s': %s", temporary,
                 strerror(fits ? errno : ENAMETOOLONG));
        return false;
    }
    snprintf(s->ptx, sizeof s->ptx, "%s/kernels.ptx", s->folder);
    snprintf(s->cubin, sizeof s->cubin, "%s/kernels.cubin", s->folder);
    FILE *file = fopen(s->ptx, "we");
    bool written = file && fwrite(ptx, 1, size, file) == size;
    if ((file && fclose(file) != 0) || !written) {
        complain("'%s' cannot be written: %s", s->ptx, strerror(errno));
        return false;
    }
    return true;
}

static void scratch_close(const scratch *s)
{
    unlink(s->ptx);
    unlink(s->cubin);
    rmdir(s->folder);
}

/* Starts it with its output in *out; 0, or why it could not. */
static int start(const char *program, const scratch *s, const char *arch, pid_t *process,
                 FILE **out)
{
    int ends[2];
    char option[40];
    snprintf(option, sizeof option, "-arch=%s", arch);
    char *argv[] = {"ptxas",
                    "-v",
                    option,
                    "-o",
                    (char *)(uintptr_t)s->cubin,
                    (char *)(uintptr_t)s->ptx,
                    s->linked ? "-c" : NULL,
                    NULL};
    if (pipe(ends) != 0)
        return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int error = posix_spawnp(process, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = error ? NULL : fdopen(ends[0], "r");
    if (!*out)
        close(ends[0]);
    return error;
}

static int start_anywhere(const scratch *s, const char *arch, pid_t *process, FILE **out)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char path[4096];
    int error = start("ptxas", s, arch, process, out);
    for (size_t i = 0; error == ENOENT && i < sizeof variables / sizeof *variables; i++) {
        const char *home = getenv(variables[i]);
        if (home && *home && snprintf(path, sizeof path, "%s/bin/ptxas", home) < (int)sizeof path)
            error = start(path, s, arch, process, out);
    }
    return error == ENOENT ? start("/usr/local/cuda/bin/ptxas", s, arch, process, out) : error;
}

/* What ptxas says beside the figures that -v asks for. */
static void pass_on(const char *log)
{
    while (*log) {
        size_t n = strcspn(log, "\n");
        if (!memmem(log, n, "info    :", 9) && log[0] != ' ')
            fprintf(stderr, "%.*s\n", (int)n, log);
        log += n + (log[n] == '\n');
    }
}

static int finish(const scratch *s, pid_t process, FILE *out, assembly *a)
{
    int state;
    size_t size;
    a->log = out ? read_all(out, SIZE_MAX, &size) : NULL;
    if (out)
        fclose(out);
    while (waitpid(process, &state, 0) < 0 && errno == EINTR)
        continue;
    if (a->log)
        pass_on(a->log);
    if (!a->log || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        complain("ptxas failed");
        return EXIT_FAILED;
    }
    FILE *file = fopen(s->cubin, "re");
    a->code = file ? read_all(file, SIZE_MAX, &a->size) : NULL;
    if (!a->code)
        complain("what ptxas wrote cannot be read: %s", strerror(errno));
    if (file)
        fclose(file);
    return a->code ? EXIT_OK : EXIT_FAILED;
}

int try_ptxas(const char *ptx, size_t size, const char *arch, assembly *out)
{
    scratch s;
    pid_t process;
    FILE *log;
    *out = (assembly){0};
    if (!scratch_open(&s, ptx, size))
        return EXIT_FAILED;
    s.linked = strstr(ptx, ".extern .func") != NULL;
    int code = EXIT_FAILED, error = start_anywhere(&s, arch, &process, &log);
    out->absent = error == ENOENT;
    if (error == 0)
        code = finish(&s, process, log, out);
    else if (error == ENOENT)
        code = EXIT_OK;
    else
        complain("ptxas cannot be run: %s", strerror(error));
    scratch_close(&s);
    return code;
}

void complain_of_ptxas(const char *arch)
{
    complain("this takes a GPU of the architecture %s or ptxas, and neither was found: ptxas "
             "comes with the CUDA toolkit and is sought on PATH and in /usr/local/cuda/bin",
             arch);
}

int run_ptxas(const char *ptx, size_t size, const char *arch, assembly *out)
{
    int code = try_ptxas(ptx, size, arch, out);
    if (!out->absent)
        return code;
    complain_of_ptxas(arch);
    return EXIT_FAILED;
}

void free_assembly(assembly *a)
{
    free(a->code);
    free(a->log);
}
