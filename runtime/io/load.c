/* Arrays from files and into them, by the name's end. */
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

bool kj_ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    for (size_t i = 0; n > m && i < m; i++)
        if (kj_to_lower(path[n - m + i]) != end[i])
            return false;
    return n > m;
}

static kjit_status load(kjit_context *ctx, const char *path, const kj_aggregate *record,
                        kjit_array **out)
{
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    return kj_ends_with(path, ".png") && !record ? kj_png_load(ctx, path, out)
                                                 : kj_npy_load(ctx, path, record, out);
}

kjit_status kjit_array_load(kjit_context *ctx, const char *path, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    return status == KJIT_OK ? load(ctx, path, NULL, out) : status;
}

kjit_status kjit_array_load_records(kjit_context *ctx, const char *path, kjit_dtype dtype,
                                    kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    const kj_aggregate *of = kj_dtype_aggregate(ctx, dtype);
    const char *name = kj_dtype_name(ctx, dtype);
    if (!kj_is_record(of))
        return kj_fail(ctx, KJIT_TYPE, "the type of a file's records is a record, not %s",
                       name ? name : "none");
    return load(ctx, path, of, out);
}

kjit_status kj_file_kind(kjit_context *ctx, const char *path)
{
    if (kj_ends_with(path, ".npy") || kj_ends_with(path, ".png"))
        return KJIT_OK;
    return kj_fail(ctx, KJIT_INVALID, "cannot save '%s': arrays are saved as .npy or .png", path);
}

kjit_status kjit_array_save(kjit_array *a, const char *path)
{
    kjit_status status = kj_enter_array(a);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(a->ctx, KJIT_INVALID, "path is NULL");
    status = kj_file_kind(a->ctx, path);
    if (status != KJIT_OK)
        return status;
    kjit_array *host;
    status = kj_array_on_host(a, &host);
    if (status != KJIT_OK)
        return status;
    status = kj_ends_with(path, ".png") ? kj_png_save(host, path) : kj_npy_save(host, path);
    kjit_array_free(host);
    return status;
}
