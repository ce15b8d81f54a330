/* Failures that the environment asks for, and what they do to the rest. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

static struct failure {
    char symbol[64];
    unsigned long nth;
    CUresult code;
    bool always;
} * failures;
static int failure_count;
static bool shut_down, excused;

static void read_failures(void)
{
    const char *list = config()->fail;
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        struct failure f = {.nth = 1};
        int code = 0, end = 0;
        if (sscanf(at, "%63[^:]:%lu:%d%n", f.symbol, &f.nth, &code, &end) != 3 || f.nth == 0) {
            fprintf(stderr, "driver double: KJIT_DOUBLE_FAIL: no symbol:nth:code at '%s'\n", at);
            abort();
        }
        f.code = (CUresult)code;
        f.always = strncmp(at + end, ":always", 7) == 0;
        failures = realloc(failures, (size_t)(failure_count + 1) * sizeof *failures);
        failures[failure_count++] = f;
    }
}

static CUresult asked_for(int row)
{
    static unsigned long *made;
    const char *symbol = call_rows[row].symbol, *base = call_rows[row].base;
    if (!made) {
        made = calloc((size_t)call_row_count, sizeof *made);
        read_failures();
    }
    unsigned long nth = ++made[row];
    for (int i = 0; i < failure_count; i++) {
        const struct failure *f = &failures[i];
        bool named = !strcmp(f->symbol, symbol) || !strcmp(f->symbol, base);
        if (named && (f->always ? nth >= f->nth : nth == f->nth))
            return f->code;
    }
    return CUDA_SUCCESS;
}

/* Errors after which a context is of no more use. */
static bool is_sticky(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return true;
    default: return false;
    }
}

CUresult inject(int row)
{
    CUresult code = asked_for(row);
    const char *base = call_rows[row].base;
    drv_context *current = context_current();
    if (code == CUDA_ERROR_DEINITIALIZED && !shut_down) {
        shut_down = true;
        workers_stop();
    }
    if (code && (!strcmp(base, "cuCtxPushCurrent") || !strcmp(base, "cuCtxSynchronize")))
        excused = true;
    if (is_sticky(code) && current && !current->error)
        context_fail(current, code);
    return code;
}

bool inject_shut_down(void)
{
    return shut_down;
}

bool inject_excuses_leaks(void)
{
    return shut_down || excused;
}
