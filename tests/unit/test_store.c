/* The store of values by key: what is put is got, whatever happened to a file is a miss, processes
 * that write and die at once leave whole values, and what was not used for longest goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module/store.h"

static char folder[] = "/tmp/kjit-store-XXXXXX", path[64];

static void empty(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("KJIT_CACHE_SIZE");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a/b", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    empty();
    snprintf(path, sizeof path, "%s/a", folder);
    rmdir(path);
    return rmdir(folder);
}

/* Is this value, and no other, there? */
static bool has(const kj_store *s, const char *key, const char *value)
{
    kj_stored got;
    if (!kj_store_get(s, key, strlen(key), &got))
        return false;
    bool same = got.value_size == strlen(value) && memcmp(got.value, value, got.value_size) == 0;
    free(got.file);
    if (!same)
        fail_msg("'%s' has another value", key);
    return true;
}

static void put(const kj_store *s, const char *key, const char *value)
{
    kj_store_put(s, key, strlen(key), value, strlen(value));
}

static void opened(kj_store *s)
{
    empty();
    kj_store_open(s, path);
    assert_true(s->dir >= 0);
}

/* The name of the only value. */
static void find_file(char out[400])
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".kjit")) {
            snprintf(out, 400, "%s/%s", path, e->d_name);
            n++;
        }
    closedir(d);
    assert_int_equal(n, 1);
}

static void values_come_back(void **state)
{
    kj_store s;
    struct stat st;
    (void)state;
    opened(&s);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_false(has(&s, "a", "1"));
    put(&s, "a", "1");
    put(&s, "", "empty");
    put(&s, "b", "");
    assert_true(has(&s, "a", "1") && has(&s, "", "empty") && has(&s, "b", ""));
    put(&s, "a", "22");
    assert_true(has(&s, "a", "22"));
    assert_int_equal(kj_store_clear(&s), 3);
    assert_false(has(&s, "a", "22"));
    kj_store_close(&s);
}

/* A whole value under the name of another key, as if names were the same: the key decides. */
static void names_are_not_believed(void **state)
{
    kj_store s;
    char name[400], wanted[400];
    (void)state;
    opened(&s);
    put(&s, "right", "1");
    find_file(wanted);
    kj_store_clear(&s);
    put(&s, "wrong", "2");
    find_file(name);
    assert_int_equal(rename(name, wanted), 0);
    assert_false(has(&s, "right", "1") || has(&s, "wrong", "2"));
    kj_stored got = {0};
    assert_false(kj_store_get(&s, "right", strlen("right"), &got));
    assert_null(got.file); /* whoever asked has nothing to free */
    put(&s, "right", "1");
    assert_true(has(&s, "right", "1"));
    kj_store_close(&s);
}

/* Every byte changed, every length cut, and something behind the end. */
static void damage_is_a_miss(void **state)
{
    kj_store s;
    char file[400], bytes[400];
    (void)state;
    opened(&s);
    put(&s, "some key", "some value that is long enough");
    find_file(file);
    int fd = open(file, O_RDWR);
    ssize_t size = read(fd, bytes, sizeof bytes);
    assert_in_range(size, 60, 200);
    for (ssize_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            char changed = (char)(bytes[i] ^ 1 << bit);
            assert_int_equal(pwrite(fd, &changed, 1, i), 1);
            assert_false(has(&s, "some key", "some value that is long enough"));
        }
        assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
    }
    assert_true(has(&s, "some key", "some value that is long enough"));
    assert_int_equal(pwrite(fd, "x", 1, size), 1);
    assert_false(has(&s, "some key", "some value that is long enough"));
    for (ssize_t n = size; n-- > 0;) {
        assert_int_equal(ftruncate(fd, n), 0);
        assert_false(has(&s, "some key", "some value that is long enough"));
    }
    close(fd);
    put(&s, "some key", "other");
    assert_true(has(&s, "some key", "other"));
    kj_store_close(&s);
}

/* Lengths that would pass the end, or wrap around, with all else right but the checksum. */
static void lengths_are_checked(void **state)
{
    static const uint64_t lengths[] = {0, 1, 1u << 31, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
    kj_store s;
    char file[400];
    (void)state;
    opened(&s);
    put(&s, "key", "value");
    find_file(file);
    int fd = open(file, O_RDWR);
    for (int at = 8; at <= 16; at += 8)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            uint64_t was;
            assert_int_equal(pread(fd, &was, 8, at), 8);
            assert_int_equal(pwrite(fd, &lengths[i], 8, at), 8);
            assert_false(has(&s, "key", "value"));
            assert_int_equal(pwrite(fd, &was, 8, at), 8);
        }
    assert_true(has(&s, "key", "value"));
    close(fd);
    kj_store_close(&s);
}

/* KiB, so far; a kernel that counts pages a processor apart may say a few less than it has said. */
static long most_memory(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

/* A file is not taken in for its length, which a sparse one has for nothing. */
static void long_files_are_not_read(void **state)
{
    enum { VALUE = 5, AT_VALUE_SIZE = 16 };
    const off_t length = 1 << 30;
    kj_store s;
    char file[400];
    (void)state;
    opened(&s);
    put(&s, "key", "value");
    find_file(file);
    int fd = open(file, O_RDWR);
    off_t whole = lseek(fd, 0, SEEK_END);
    uint64_t value_size = (uint64_t)(length - (whole - VALUE));
    long before = most_memory();
    assert_int_equal(ftruncate(fd, length), 0);
    assert_false(has(&s, "key", "value"));
    assert_int_equal(pwrite(fd, &value_size, sizeof value_size, AT_VALUE_SIZE), 8);
    assert_false(has(&s, "key", "value")); /* more than the store may have */
    assert_true(most_memory() - before < 100 << 10);
    close(fd);
    kj_store_clear(&s);
    kj_store_close(&s);
}

/* A link or a pipe in a value's place is not read, and does not make anybody wait. */
static void only_files_are_read(void **state)
{
    kj_store s;
    char file[400], other[420];
    (void)state;
    opened(&s);
    put(&s, "key", "value");
    find_file(file);
    snprintf(other, sizeof other, "%s-moved", file);
    assert_int_equal(rename(file, other), 0);
    assert_int_equal(symlink(other, file), 0);
    assert_false(has(&s, "key", "value"));
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_false(has(&s, "key", "value"));
    put(&s, "key", "again");
    assert_true(has(&s, "key", "again"));
    kj_store_close(&s);
}

static void closed_store(const char *where, const char *why)
{
    kj_store s;
    kj_store_open(&s, where);
    assert_int_equal(s.dir, -1);
    if (!strstr(s.why, why))
        fail_msg("%s: %s", where, s.why);
    put(&s, "key", "value");
    assert_false(has(&s, "key", "value"));
    assert_int_equal(kj_store_lock(&s, "key", 3), -1);
    kj_store_unlock(-1);
    assert_int_equal(kj_store_clear(&s), 0);
    kj_store_close(&s);
}

static void what_cannot_be_used_is_said(void **state)
{
    kj_store s;
    char file[80];
    (void)state;
    opened(&s);
    kj_store_close(&s);
    closed_store("off", "switched off");
    closed_store("", "switched off");
    closed_store("/proc/nobody/can/make/this", strerror(ENOENT));
    snprintf(file, sizeof file, "%s/file", path);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    closed_store(file, strerror(ENOTDIR));
    assert_int_equal(chmod(path, 0770), 0);
    closed_store(path, "others may write");
    assert_int_equal(chmod(path, 0700), 0);
    setenv("KJIT_CACHE_SIZE", "0", 1);
    closed_store(path, "KJIT_CACHE_SIZE is 0");
    unsetenv("KJIT_CACHE_SIZE");
}

/* The directory goes away, or cannot be written to any more. */
static void a_lost_directory_is_no_failure(void **state)
{
    kj_store s;
    (void)state;
    opened(&s);
    put(&s, "key", "value");
    empty();
    put(&s, "key", "value");
    assert_false(has(&s, "key", "value"));
    assert_int_equal(kj_store_lock(&s, "key", 3), -1);
    assert_int_equal(kj_store_clear(&s), 0);
    kj_store_close(&s);
}

static void the_directory_is_found(void **state)
{
    kj_store s;
    char home[80], wanted[100];
    (void)state;
    empty();
    snprintf(home, sizeof home, "%s/home", path);
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("KJIT_CACHE_DIR");
    kj_store_open(&s, NULL);
    snprintf(wanted, sizeof wanted, "%s/.cache/kjit", home);
    assert_string_equal(s.path, wanted);
    assert_true(s.dir >= 0);
    kj_store_close(&s);
    setenv("XDG_CACHE_HOME", path, 1);
    kj_store_open(&s, NULL);
    snprintf(wanted, sizeof wanted, "%s/kjit", path);
    assert_string_equal(s.path, wanted);
    kj_store_close(&s);
    setenv("KJIT_CACHE_DIR", folder, 1);
    kj_store_open(&s, NULL);
    assert_string_equal(s.path, folder);
    kj_store_close(&s);
    unsetenv("KJIT_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    unsetenv("HOME");
    kj_store_open(&s, NULL);
    assert_int_equal(s.dir, -1);
    assert_string_equal(s.why, "there is no HOME");
    kj_store_close(&s);
}

static void sizes_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        {"5000", 5000},           {"4K", 4096},     {"512M", 512u << 20}, {"2g", 2ull << 30},
        {"nonsense", 512u << 20}, {"", 512u << 20}, {"-1", 512u << 20}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kj_store s;
        setenv("KJIT_CACHE_SIZE", sizes[i].text, 1);
        kj_store_open(&s, path);
        assert_int_equal(s.limit, sizes[i].bytes);
        kj_store_close(&s);
    }
    unsetenv("KJIT_CACHE_SIZE");
}

typedef struct sums {
    int n;
    uint64_t bytes;
} sums;

static void add_up(void *user, const kj_stored *stored, uint64_t size, int64_t used)
{
    sums *all = user;
    assert_true(stored->key_size > 0 && used > 0);
    all->n++;
    all->bytes += size;
}

static void the_longest_unused_goes(void **state)
{
    enum { N = 2000, SIZE = 1000 };
    kj_store s;
    sums all = {0};
    char value[SIZE + 1], key[16];
    (void)state;
    setenv("KJIT_CACHE_SIZE", "100K", 1);
    opened(&s);
    unsetenv("KJIT_CACHE_SIZE");
    memset(value, 'x', SIZE);
    value[SIZE] = 0;
    put(&s, "the one that is used", value);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put(&s, key, value);
        assert_true(has(&s, "the one that is used", value));
    }
    assert_true(has(&s, key, value)); /* the last */
    assert_false(has(&s, "key 0", value));
    kj_store_each(&s, add_up, &all);
    assert_in_range(all.n, 50, 102); /* one of so many bytes is large beside the limit */
    kj_store_close(&s);
}

/* Small entries are looked at now and then. */
static void many_small_ones_go_too(void **state)
{
    enum { N = 4000 };
    kj_store s;
    sums all = {0};
    char key[16];
    (void)state;
    setenv("KJIT_CACHE_SIZE", "64K", 1);
    opened(&s);
    unsetenv("KJIT_CACHE_SIZE");
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put(&s, key, "small");
    }
    assert_true(has(&s, key, "small"));
    kj_store_each(&s, add_up, &all);
    assert_in_range(all.bytes, 40 << 10, 96 << 10);
    kj_store_close(&s);
}

/* All files are looked at seldom, as their number makes that dear: what a writer left an hour ago, and goes with that,
 * stays while little is written, and goes in the end. */
static void files_are_looked_at_seldom(void **state)
{
    enum { FEW = 500, LARGE = 3 << 20 };
    kj_store s;
    char left[400], key[16], *value = calloc(1, LARGE);
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    (void)state;
    opened(&s);
    snprintf(left, sizeof left, "%s/.new-0123456789abcdef", path);
    close(open(left, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(utimensat(AT_FDCWD, left, then, 0), 0);
    for (int i = 0; i < FEW; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put(&s, key, "small");
    }
    assert_int_equal(access(left, F_OK), 0);
    kj_store_put(&s, "large", 5, value, LARGE);
    assert_int_not_equal(access(left, F_OK), 0);
    kj_store_close(&s);
    free(value);
}

/* ---- Many processes ---- */

static void fill_value(char *value, size_t size, int number, int writer)
{
    memset(value, 'a' + writer % 26, size);
    snprintf(value, size, "%d:", number);
}

/* Any writer's value of a key, whole. */
static bool is_whole(const kj_stored *got, int number)
{
    char start[16];
    int n = snprintf(start, sizeof start, "%d:", number);
    if (got->value_size < 1000 || memcmp(got->value, start, (size_t)n + 1) != 0)
        return false;
    for (size_t i = (size_t)n + 2; i < got->value_size; i++)
        if (got->value[i] != got->value[n + 1])
            return false;
    return true;
}

enum { KEYS = 200 };

static pid_t forked(void)
{
    pid_t child = fork();
    if (child < 0)
        fail_msg("fork: %s", strerror(errno));
    return child;
}

static _Noreturn void write_for_ever(int writer, int rounds)
{
    static char value[20000];
    kj_store s;
    kj_store_open(&s, path);
    for (int i = 0; rounds < 0 || i < rounds * KEYS; i++) {
        char key[16];
        int number = (i * 7 + writer) % KEYS, n = snprintf(key, sizeof key, "%d", number);
        size_t size = 1000 + (size_t)(i * 131 % 19000);
        kj_stored got;
        fill_value(value, size, number, writer);
        kj_store_put(&s, key, (size_t)n, value, size);
        if (kj_store_get(&s, key, (size_t)n, &got)) {
            if (!is_whole(&got, number))
                _exit(3);
            free(got.file);
        }
    }
    _exit(0);
}

static void check_all(bool all_there)
{
    kj_store s;
    kj_store_open(&s, path);
    for (int number = 0; number < KEYS; number++) {
        char key[16];
        kj_stored got;
        int n = snprintf(key, sizeof key, "%d", number);
        if (kj_store_get(&s, key, (size_t)n, &got)) {
            assert_true(is_whole(&got, number));
            free(got.file);
        } else {
            assert_false(all_there);
        }
    }
    kj_store_close(&s);
}

static void many_write_at_once(void **state)
{
    enum { MOST = 64, SOME = 12 };
    pid_t writers[MOST];
    int count = getenv("KJIT_TEST_ALL") ? MOST : SOME;
    kj_store s;
    (void)state;
    opened(&s);
    kj_store_close(&s);
    for (int i = 0; i < count; i++) {
        writers[i] = forked();
        if (writers[i] == 0)
            write_for_ever(i, 1);
    }
    for (int i = 0; i < count; i++) {
        int how;
        waitpid(writers[i], &how, 0);
        assert_int_equal(how, 0);
    }
    check_all(true);
}

/* kill -9 while they write: what is there is whole, and what they left half-made goes in the end. */
static void killed_writers_leave_whole_values(void **state)
{
    enum { MOST = 200, SOME = 60 };
    int kills = getenv("KJIT_TEST_ALL") ? MOST : SOME;
    kj_store s;
    char command[200];
    (void)state;
    opened(&s);
    for (int i = 0; i < kills; i++) {
        pid_t writer = forked();
        if (writer == 0)
            write_for_ever(i, -1);
        nanosleep(&(struct timespec){.tv_nsec = 200000 + i * 37 % 1000 * 3000}, NULL);
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        if (i % 20 == 0)
            check_all(false);
    }
    check_all(false);
    snprintf(command, sizeof command, "find %s -name '.new-*' -exec touch -d '2 hours ago' {} +",
             path);
    assert_int_equal(system(command), 0);
    sums all = {0};
    kj_store_each(&s, add_up, &all);
    assert_true(all.n > 0);
    snprintf(command, sizeof command, "test -z \"$(find %s -name '.new-*')\"", path);
    assert_int_equal(system(command), 0);
    kj_store_close(&s);
}

/* Who holds the lock makes the value, the others wait for it; a holder that dies lets go. */
static void one_makes_the_value(void **state)
{
    enum { MAKERS = 16 };
    pid_t makers[MAKERS];
    kj_store s;
    int made = 0;
    (void)state;
    opened(&s);
    pid_t holder = forked();
    if (holder == 0) {
        kj_store_lock(&s, "key", 3);
        raise(SIGKILL);
    }
    waitpid(holder, NULL, 0);
    for (int i = 0; i < MAKERS; i++) {
        makers[i] = forked();
        if (makers[i] != 0)
            continue;
        kj_store_open(&s, path);
        int lock = kj_store_lock(&s, "key", 3);
        bool found = has(&s, "key", "value");
        if (!found) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            put(&s, "key", "value");
        }
        kj_store_unlock(lock);
        _exit(lock < 0 ? 9 : !found);
    }
    for (int i = 0; i < MAKERS; i++) {
        int how;
        waitpid(makers[i], &how, 0);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) <= 1);
        made += WEXITSTATUS(how);
    }
    assert_int_equal(made, 1);
    int one = kj_store_lock(&s, "key", 3), other = kj_store_lock(&s, "another key", 11);
    assert_true(one >= 0 && other >= 0);
    kj_store_unlock(one);
    kj_store_unlock(other);
    kj_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(names_are_not_believed),
        cmocka_unit_test(damage_is_a_miss),
        cmocka_unit_test(lengths_are_checked),
        cmocka_unit_test(long_files_are_not_read),
        cmocka_unit_test(only_files_are_read),
        cmocka_unit_test(what_cannot_be_used_is_said),
        cmocka_unit_test(a_lost_directory_is_no_failure),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(the_longest_unused_goes),
        cmocka_unit_test(many_small_ones_go_too),
        cmocka_unit_test(files_are_looked_at_seldom),
        cmocka_unit_test(many_write_at_once),
        cmocka_unit_test(killed_writers_leave_whole_values),
        cmocka_unit_test(one_makes_the_value),
        cmocka_unit_test(the_directory_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
