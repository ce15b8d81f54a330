/* What a context's device is like, attribute by attribute. */
#include "core/core.h"

static const struct {
    const char *name, *text;
} attributes[] = {
#define ROW(name, number, text) [number] = {#name, text},
    KJIT_ATTRIBUTE_MAP(ROW)
#undef ROW
};

kjit_status kjit_device_attribute(kjit_context *ctx, kjit_attribute attribute, int64_t *out)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_no_out(ctx);
    unsigned row = (unsigned)attribute;
    if (row >= sizeof attributes / sizeof *attributes || !attributes[row].name)
        return kj_fail(ctx, KJIT_INVALID, "%d is no attribute of a device", (int)attribute);
    kj_failure why = {0};
    status =
        ctx->ops->attribute ? ctx->ops->attribute(ctx->dev, attribute, out, &why) : KJIT_NO_DEVICE;
    if (status == KJIT_NO_DEVICE && !why.text[0])
        return kj_fail(ctx, status, "a device of kind '%s' has no %s (%s)", ctx->ops->kind,
                       attributes[row].name, attributes[row].text);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}
