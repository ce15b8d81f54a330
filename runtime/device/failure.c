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

bool kj_has_failed(const kj_host_fault *fault)
{
    return fault->kind != KJ_FAULT_NONE || fault->halted != KJ_HALTED_NOT;
}

bool kj_is_fault(kjit_status status)
{
    return status == KJIT_FAULT || status == KJIT_CANCELLED || status == KJIT_TIMEOUT;
}

kjit_status kj_fault_status(const kj_host_fault *fault)
{
    if (fault->halted == KJ_HALTED_NOT)
        return KJIT_FAULT;
    return fault->halted_why >= KJ_HALT_TIMEOUT && fault->halted_why < KJ_HALT_STEP
               ? KJIT_TIMEOUT
               : KJIT_CANCELLED;
}
