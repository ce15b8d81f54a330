/* Statuses, types and the language's reference: what the tables say, as the public API gives it. */
#include <string.h>

#include "core/core.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define ROW(name, number, text) [number] = {"KJIT_" #name, text},
    KJIT_STATUS_MAP(ROW)
#undef ROW
};

static bool known(kjit_status status)
{
    return (unsigned)status < sizeof statuses / sizeof *statuses;
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
#include "lang/types.def"
#undef TYPE
#define AGGREGATE(id, number, name, kind, elem, n) \
    _Static_assert((int)KJIT_##id == (int)KJ_##id, "kjit_dtype and aggregates.def differ");
#include "lang/aggregates.def"
#undef AGGREGATE
#define CHECK(id, name, bit, device, what) \
    _Static_assert((int)KJIT_CHECK_##id == (int)KJ_CHECK_##id, \
                   "KJIT_CHECK_... and checks.def differ");
#include "lang/checks.def"
#undef CHECK

size_t kjit_dtype_size(kjit_dtype dtype)
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    if (of)
        return (size_t)of->size;
    return (unsigned)dtype < (unsigned)KJ_NTYPES ? kj_types[dtype].size : 0;
}

size_t kj_dtype_size(kjit_context *ctx, kjit_dtype dtype)
{
    const kj_aggregate *of = kj_dtype_aggregate(ctx, dtype);
    return of ? (size_t)of->size : kjit_dtype_size(dtype);
}

const char *kj_dtype_name(kjit_context *ctx, kjit_dtype dtype)
{
    const kj_aggregate *of = kj_dtype_aggregate(ctx, dtype);
    return of ? of->name : kjit_dtype_name(dtype);
}

const char *kjit_dtype_name(kjit_dtype dtype)
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    if (of)
        return of->name;
    return (unsigned)dtype < (unsigned)KJ_NTYPES ? kj_types[dtype].name : NULL;
}

int kjit_check(int i, kjit_check_info *out)
{
    const kj_check_row *row = kj_check_row_at(i);
    if (out)
        *out = row ? (kjit_check_info){.name = row->name, .what = row->what, .bit = row->bit}
                   : (kjit_check_info){0};
    return row != NULL;
}

int kjit_builtin(int i, kjit_builtin_info *out)
{
    kjit_builtin_info unused;
    if (!out)
        out = &unused;
    memset(out, 0, sizeof *out);
    if (i < 0 || i >= (int)KJ_NBUILTINS + (int)KJ_NRUN)
        return 0;
    if (i < (int)KJ_NBUILTINS) {
        const kj_builtin_info *row = &kj_builtins[i];
        *out = (kjit_builtin_info){.name = row->name,
                                   .group = row->group,
                                   .signature = row->signature,
                                   .doc = row->doc,
                                   .ulp32 = row->ulp32,
                                   .ulp64 = row->ulp64};
        return 1;
    }
    i -= (int)KJ_NBUILTINS;
    *out = (kjit_builtin_info){.name = kj_run_builtins[i].name,
                               .group = "run block",
                               .signature = kj_run_builtins[i].signature,
                               .doc = kj_run_builtins[i].doc};
    return 1;
}
