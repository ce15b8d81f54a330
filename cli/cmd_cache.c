/* kjit cache: what is kept of compiled code, a line an entry; and whether a run would use it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"

typedef struct totals {
    int entries;
    uint64_t size;
} totals;

static void show_age(int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t n = seconds / units[i].seconds;
        if (n > 0) {
            printf("%lld %s%s ago\n", (long long)n, units[i].name, n == 1 ? "" : "s");
            return;
        }
    }
    puts("just now");
}

static void list_entry(void *user, const kjit_cache_entry *e)
{
    totals *t = user;
    t->entries++;
    t->size += e->size;
    printf("%s: %s, %s: %.1f KiB, used ", e->file, e->kernel, e->variant, (double)e->size / 1024);
    show_age((int64_t)time(NULL) - e->used);
}

static void explain_entry(void *user, const kjit_cache_entry *e)
{
    totals *t = user;
    t->entries++;
    if (e->unusable)
        printf("%s, %s: not used: %s\n", e->kernel, e->variant, e->unusable);
    else
        printf("%s, %s: a run with these options uses it\n", e->kernel, e->variant);
}

/* EXIT_OK, or another code after a complaint. */
static int describe(kjit_context *ctx, kjit_cache_info *info)
{
    kjit_status status = kjit_cache_describe(ctx, info);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    if (!info->off)
        return EXIT_OK;
    if (info->directory)
        complain("nothing is kept in '%s': %s", info->directory, info->off);
    else
        complain("nothing is kept: %s", info->off);
    return EXIT_FAILED;
}

static int list(kjit_context *ctx)
{
    totals t = {0};
    kjit_cache_info info;
    int code = describe(ctx, &info);
    if (code != EXIT_OK)
        return code;
    kjit_status status = kjit_cache_list(ctx, NULL, list_entry, &t);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    printf("%d entr%s, %.1f of %.0f MiB, in %s\n", t.entries, t.entries == 1 ? "y" : "ies",
           (double)t.size / (1 << 20), (double)info.limit / (1 << 20), info.directory);
    return EXIT_OK;
}

static int clear(kjit_context *ctx)
{
    int removed = 0;
    kjit_cache_info info;
    int code = describe(ctx, &info);
    if (code != EXIT_OK)
        return code;
    kjit_status status = kjit_cache_clear(ctx, &removed);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    printf("%d entr%s removed from %s\n", removed, removed == 1 ? "y" : "ies", info.directory);
    return EXIT_OK;
}

static int explain(kjit_context *ctx, const options *o)
{
    totals t = {0};
    kjit_cache_info info;
    kjit_module *mod;
    int code = describe(ctx, &info);
    if (code == EXIT_OK)
        code = open_module(ctx, o, o->arguments[1], &mod);
    if (code != EXIT_OK)
        return code;
    kjit_status status = kjit_cache_list(ctx, mod, explain_entry, &t);
    if (status != KJIT_OK)
        code = library_failed(ctx, status);
    else if (t.entries == 0)
        printf("%s has no entry: no run with this cache has compiled its kernels\n",
               o->arguments[1]);
    kjit_module_free(mod);
    return code;
}

int command_cache(const options *o)
{
    const char *what = o->arguments[0];
    bool explains = strcmp(what, "explain") == 0, lists = strcmp(what, "list") == 0;
    options plain = *o;
    if (!explains && !lists && strcmp(what, "clear") != 0) {
        complain("cache takes list, clear or explain, not '%s'", what);
        return EXIT_USAGE;
    }
    if (o->narguments != 1 + explains) {
        complain(explains ? "cache explain takes a file" : "cache %s takes no file", what);
        return EXIT_USAGE;
    }
    if (!explains) /* no device has a say in it */
        plain.device = "cpu";
    kjit_context *ctx = open_context(&plain);
    if (!ctx)
        return EXIT_FAILED;
    int code = explains ? explain(ctx, o) : lists ? list(ctx) : clear(ctx);
    kjit_context_destroy(ctx);
    return code;
}
