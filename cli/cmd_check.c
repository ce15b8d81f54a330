/* kjit check: the diagnostics of files, and whether there were errors. No device has a say in them,
 * so none is looked for. */
#include "cli.h"

typedef struct checker {
    kjit_context *ctx;
    const options *o;
    int worst; /* the exit code so far */
} checker;

static bool check_file(void *user, const char *path)
{
    checker *c = user;
    kjit_module *mod;
    c->worst = worse_code(c->worst, open_module(c->ctx, c->o, path, &mod));
    kjit_module_free(mod);
    return true;
}

int command_check(const options *o)
{
    options plain = *o;
    plain.device = "cpu";
    checker c = {.ctx = open_context(&plain), .o = o, .worst = EXIT_OK};
    if (!c.ctx)
        return EXIT_FAILED;
    for (int i = 0; i < o->narguments; i++)
        if (!each_source(o->arguments[i], check_file, &c))
            c.worst = EXIT_FAILED;
    kjit_context_destroy(c.ctx);
    return c.worst;
}
