/* How much of the machine this process may use: memory, CPUs and caches, less what control groups and the
 * affinity take; and its clock. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"

enum { FILE_SIZE = 8192 };

double kj_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The start of a file as text, for free(); NULL when it cannot be read. */
static char *read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = malloc(FILE_SIZE);
    size_t size = 0;
    ssize_t n;
    while (text && size < FILE_SIZE - 1 && (n = read(fd, text + size, FILE_SIZE - 1 - size)) > 0)
        size += (size_t)n;
    close(fd);
    if (text && size > 0) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* The same of a file in a directory. */
static char *read_in(const char *dir, const char *file)
{
    size_t size = strlen(dir) + strlen(file) + sizeof "/";
    char *path = malloc(size), *text = NULL;
    if (path) {
        kj_snprintf(path, size, "%s/%s", dir, file);
        text = read_text(path);
    }
    free(path);
    return text;
}

/* The number after `key` at the start of a line: "MemAvailable:  123 kB". */
static bool find_number(const char *text, const char *key, uint64_t *out)
{
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0) {
            *out = strtoull(line + len, NULL, 10);
            return true;
        }
        if (!*line)
            break;
    }
    return false;
}

typedef void visit_fn(const char *dir, bool v2, void *user);

/* Calls `visit` with a directory and those above it, up to the hierarchy's root. */
static void visit_upwards(const char *root, const char *path, bool v2, visit_fn *visit, void *user)
{
    size_t size = sizeof "/sys/fs/cgroup/" + strlen(root) + strlen(path);
    char *dir = malloc(size);
    if (!dir)
        return;
    kj_snprintf(dir, size, "/sys/fs/cgroup/%s%s", root, path);
    size_t least = strlen("/sys/fs/cgroup") + (*root ? 1 + strlen(root) : 0);
    for (;;) {
        visit(dir, v2, user);
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < least)
            break;
        *slash = '\0';
    }
    free(dir);
}

/* Calls `visit` with each directory of the process's control groups, from its own up to the root:
 * version 2, or the version 1 hierarchy of `controller`. */
static void visit_groups(const char *controller, visit_fn *visit, void *user)
{
    char *groups = read_text("/proc/self/cgroup"), *save = NULL;
    char *line = groups ? strtok_r(groups, "\n", &save) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &save)) {
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        bool v2 = names[1] == '\0';
        if (v2 || strstr(names + 1, controller))
            visit_upwards(v2 ? "" : controller, path, v2, visit, user);
    }
    free(groups);
}

/* A number in a group's file; false for "max", none, or an absurdly large version 1 "no limit". */
static bool group_number(const char *dir, const char *file, uint64_t *out)
{
    char *text = read_in(dir, file), *end = text;
    if (text)
        *out = strtoull(text, &end, 10);
    bool found = end != text && *out < (uint64_t)1 << 60;
    free(text);
    return found;
}

typedef struct memory_limits {
    uint64_t limit, free;
} memory_limits;

static void visit_memory(const char *dir, bool v2, void *user)
{
    memory_limits *m = user;
    uint64_t limit, used, cached;
    if (!group_number(dir, v2 ? "memory.max" : "memory.limit_in_bytes", &limit))
        return;
    if (limit < m->limit)
        m->limit = limit;
    if (!group_number(dir, v2 ? "memory.current" : "memory.usage_in_bytes", &used))
        return;
    char *text = read_in(dir, "memory.stat");
    if (text && find_number(text, v2 ? "file " : "total_cache ", &cached) && cached <= used)
        used -= cached;
    free(text);
    uint64_t left = used < limit ? limit - used : 0;
    if (left < m->free)
        m->free = left;
}

static memory_limits memory(void)
{
    uint64_t kib;
    struct sysinfo all = {0};
    memory_limits m = {UINT64_MAX, UINT64_MAX};
    if (sysinfo(&all) == 0) { /* there without /proc too */
        m.limit = (uint64_t)all.totalram * all.mem_unit;
        m.free = ((uint64_t)all.freeram + all.bufferram + all.freeswap) * all.mem_unit;
    }
    char *text = read_text("/proc/meminfo");
    if (text && find_number(text, "MemTotal:", &kib))
        m.limit = kib * 1024;
    if (text && find_number(text, "MemAvailable:", &kib))
        m.free = kib * 1024 + (uint64_t)all.freeswap * all.mem_unit;
    free(text);
    visit_groups("memory", visit_memory, &m);
    return m;
}

uint64_t kj_machine_memory(void)
{
    return memory().limit;
}

uint64_t kj_machine_memory_free(void)
{
    return memory().free;
}

static void visit_cpu(const char *dir, bool v2, void *user)
{
    int *cpus = user;
    uint64_t quota = 0, period = 0;
    if (v2) {
        char *text = read_in(dir, "cpu.max"), *end = text;
        if (text)
            quota = strtoull(text, &end, 10); /* "max 100000" gives no number */
        period = end != text ? strtoull(end, NULL, 10) : 0;
        free(text);
    } else if (!group_number(dir, "cpu.cfs_quota_us", &quota) ||
               !group_number(dir, "cpu.cfs_period_us", &period)) {
        return;
    }
    if (quota == 0 || period == 0)
        return;
    uint64_t n = (quota + period - 1) / period;
    if (n < (uint64_t)*cpus)
        *cpus = (int)n;
}

int kj_machine_cpus(void)
{
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (cpus <= 0) { /* more CPUs than a cpu_set_t holds */
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        cpus = online > 0 ? (int)online : 1;
    }
    visit_groups("cpu", visit_cpu, &cpus);
    return cpus > 0 ? cpus : 1;
}

/* How many CPUs a list as "0-7,64" has; 1 of what is none. */
static int count_list(const char *text)
{
    int n = 0;
    for (char *end; text && *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        n += last >= first && last - first < CPU_SETSIZE ? (int)(last - first) + 1 : 1;
    }
    return n > 0 ? n : 1;
}

/* Of the cache that is furthest from the first CPU: its bytes, and whose it is. */
static uint64_t last_cache(int *shared)
{
    enum { LEVELS = 8, KIB = 1024 };
    uint64_t bytes = 0;
    for (int i = LEVELS - 1; i >= 0 && bytes == 0; i--) {
        char dir[64];
        kj_snprintf(dir, sizeof dir, "/sys/devices/system/cpu/cpu0/cache/index%d", i);
        char *size = read_in(dir, "size"), *list = read_in(dir, "shared_cpu_list");
        if (size)
            bytes = strtoull(size, NULL, 10) * KIB;
        *shared = count_list(list);
        free(size);
        free(list);
    }
    return bytes;
}

uint64_t kj_machine_cache(int cpus)
{
    enum { UNKNOWN = 32 << 20, MOST = 1 << 30 };
    const char *said = secure_getenv("KJIT_CPU_CACHE");
    if (said && *said >= '0' && *said <= '9')
        return strtoull(said, NULL, 10);
    int shared = 1;
    uint64_t each = last_cache(&shared);
    if (each == 0 || each > MOST)
        return UNKNOWN;
    return each * (uint64_t)((cpus + shared - 1) / shared);
}
