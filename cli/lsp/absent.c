/* kjit lsp, built where jansson was not found. */
#include "../cli.h"

int command_lsp(const options *o)
{
    (void)o;
    complain("this kjit was built without jansson, which 'kjit lsp' needs: install libjansson-dev, "
             "and build it again");
    return EXIT_FAILED;
}

const char *lsp_version(void)
{
    return NULL;
}
