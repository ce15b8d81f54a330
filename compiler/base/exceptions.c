/* C++'s exceptions, which end a step: the personality, in the terms of the Itanium C++ ABI, of frames that call what
 * throws (KJ_TAKES_EXCEPTIONS of guard.h). */
#include "base/guard.h"

#if defined(__GNUC__) && defined(__ELF__)

#include <unwind.h>

void *__cxa_begin_catch(void *exception);
void __cxa_end_catch(void);

/* Called while the stack is searched for a handler, which is found. What is thrown in the libraries
 * that are used here says that there is no memory. */
_Unwind_Reason_Code kj_guard_personality(int version, _Unwind_Action actions,
                                         _Unwind_Exception_Class class,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context);
__attribute__((used, visibility("hidden"))) _Unwind_Reason_Code kj_guard_personality(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    (void)version, (void)class, (void)context;
    if (!kj_is_guarded() || !(actions & _UA_SEARCH_PHASE) || (actions & _UA_FORCE_UNWIND))
        return _URC_CONTINUE_UNWIND;
    __cxa_begin_catch(exception);
    __cxa_end_catch();
    kj_break(KJ_NO_ROOM, "out of memory");
    return _URC_CONTINUE_UNWIND;
}

#endif
