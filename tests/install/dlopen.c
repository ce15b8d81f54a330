/* Opens and closes the library again and again, as a host of plug-ins does: dlopen LIBRARY. Its memory stays. */
#include <dlfcn.h>
#include <kjit.h>
#include <stdio.h>
#include <string.h>

static long resident(void)
{
    long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

/* A symbol of it, as ISO C lets one have a function of it. */
static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static int use(void *library)
{
    kjit_status (*create)(const kjit_context_options *, kjit_context **, char *, size_t);
    void (*destroy)(kjit_context *);
    kjit_context *ctx;
    find(library, "kjit_context_create", &create);
    find(library, "kjit_context_destroy", &destroy);
    if (!create || !destroy ||
        create(&(kjit_context_options){.device = "cpu", .cache = "off"}, &ctx, NULL, 0) != KJIT_OK)
        return 1;
    destroy(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    enum { TURNS = 200, WARM = 20, MOST = 2048 /* KiB */ };
    long before = 0;
    for (int i = 0; i < TURNS && argc == 2; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library || use(library)) {
            fprintf(stderr, "%s\n", library ? "no context" : dlerror());
            return 1;
        }
        dlclose(library);
        if (i == WARM)
            before = resident();
    }
    long grown = resident() - before;
    printf("grown: %s\n", grown < MOST ? "no" : "yes");
    return grown < MOST ? 0 : 1;
}
