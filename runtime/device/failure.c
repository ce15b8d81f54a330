/* What went wrong on a device: a sentence beside a status. */
#include <stdarg.h>

#include "device/device.h"

kjit_status kj_because(kj_failure *why, kjit_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return status;
}
