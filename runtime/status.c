/* Statuses, types and the language's reference: what the tables say, as the public API gives it. */
#include <string.h>

#include "runtime.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define ROW(name, number, text) [number] = {"KJIT_" #name, text},
    KJIT_STATUS_MAP(ROW)
#undef ROW
};

static bool known(kjit_status status)
{
    return status >= 0 && (size_t)status < sizeof statuses / sizeof *statuses;
}

const char *kjit_status_name(kjit_status status)
{
    return known(status) ? statuses[status].name : "KJIT_?";
}

const char *kjit_status_message(kjit_status status)
{
    return known(status) ? statuses[status].text : "unknown status";
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *kjit_version(void)
{
    return STRING(KJIT_VERSION_MAJOR) "." STRING(KJIT_VERSION_MINOR) "." STRING(KJIT_VERSION_PATCH);
}

/* The public type numbers are the table's row numbers. */
#define TYPE(id, name, class, bits, npy) \
    _Static_assert((int)KJIT_##id == (int)KJ_##id, "kjit_dtype and types.def differ");
#include "types.def"
#undef TYPE

size_t kjit_dtype_size(kjit_dtype dtype)
{
    return dtype >= 0 && (int)dtype < (int)KJ_NTYPES ? kj_types[dtype].size : 0;
}

const char *kjit_dtype_name(kjit_dtype dtype)
{
    return dtype >= 0 && (int)dtype < (int)KJ_NTYPES ? kj_types[dtype].name : NULL;
}

int kjit_builtin(int i, kjit_builtin_info *out)
{
    memset(out, 0, sizeof *out);
    if (i < 0 || i >= (int)KJ_NBUILTINS)
        return 0;
    const kj_builtin_info *row = &kj_builtins[i];
    *out = (kjit_builtin_info){row->name, row->group, row->signature, row->doc, row->ulp32, row->ulp64};
    return 1;
}
