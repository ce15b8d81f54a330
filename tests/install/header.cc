// kjit.h is C++ too.
#include <kjit.h>

int main()
{
    kjit_arg arg = kjit_arg_named("n", kjit_arg_i64(3));
    return kjit_version() == nullptr || arg.u.i != 3;
}
