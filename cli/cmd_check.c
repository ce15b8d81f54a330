/* kjit check: the diagnostics of files, and whether there were errors. */
#include "cli.h"

int command_check(const options *o)
{
    int worst = EXIT_OK;
    kjit_context *ctx = open_context(o);
    if (!ctx)
        return EXIT_FAILED;
    for (int i = 0; i < o->narguments; i++) {
        kjit_module *mod;
        int code = open_module(ctx, o, o->arguments[i], &mod);
        if (code == EXIT_FAILED || worst == EXIT_OK)
            worst = code;
        kjit_module_free(mod);
    }
    kjit_context_destroy(ctx);
    return worst;
}
