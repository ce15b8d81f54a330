/* kjit check: the diagnostics of files, and whether there were errors. No device has a say in them,
 * so none is looked for. */
#include "cli.h"

int command_check(const options *o)
{
    int worst = EXIT_OK;
    options plain = *o;
    plain.device = "cpu";
    kjit_context *ctx = open_context(&plain);
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
