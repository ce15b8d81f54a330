/* What the driver's compiler is given: options (jit.def), and text that must end. */
#include "double.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum what {
    IGNORED,
    THREADS,
    TIME,
    INFO,
    INFO_SIZE,
    ERRORS,
    ERRORS_SIZE,
    LEVEL,
    FROM_CONTEXT,
    TARGET,
    FALLBACK,
    CACHE,
    REFUSED
};

static const struct {
    const char *name;
    enum what what;
} options_known[] = {
#define JIT(name, number, what) [number] = {"CU_JIT_" #name, what},
#include "jit.def"
#undef JIT
};

enum { KNOWN = (int)(sizeof options_known / sizeof *options_known) };

/* ---- Options ---- */

static CUresult check_range(const char *name, uintptr_t value, uintptr_t most)
{
    return value <= most ? CUDA_SUCCESS
                         : misuse(CUDA_ERROR_INVALID_VALUE, "%s of %zu", name, (size_t)value);
}

/* CU_TARGET_COMPUTE_90, and 90A and 100F with a bit above. */
static CUresult read_target(uintptr_t value, jit_options *out)
{
    int sm = (int)(value & 0xffff);
    if (!chip_known(sm) || value >> 18)
        return misuse(CUDA_ERROR_INVALID_VALUE, "CU_JIT_TARGET of %zu", (size_t)value);
    out->target = sm;
    return CUDA_SUCCESS;
}

static CUresult read_option(CUjit_option option, void **value, jit_options *out, bool *threads)
{
    uintptr_t number = (uintptr_t)*value;
    if ((int)option < 0 || (int)option >= KNOWN)
        return misuse(CUDA_ERROR_INVALID_VALUE, "there is no JIT option %d", (int)option);
    const char *name = options_known[option].name;
    switch (options_known[option].what) {
    case IGNORED:
    case FROM_CONTEXT: break;
    case THREADS: *threads = true; break;
    case TIME: out->time = value; break;
    case INFO: out->info = *value; break;
    case INFO_SIZE:
        out->info_size = number;
        out->info_filled = value;
        break;
    case ERRORS: out->error = *value; break;
    case ERRORS_SIZE:
        out->error_size = number;
        out->error_filled = value;
        break;
    case LEVEL: return check_range(name, number, 4);
    case CACHE: return check_range(name, number, 2);
    case FALLBACK: return check_range(name, number, 1);
    case TARGET: return read_target(number, out);
    case REFUSED: return misuse(CUDA_ERROR_INVALID_VALUE, "%s is not modelled", name);
    }
    return CUDA_SUCCESS;
}

CUresult jit_read(unsigned count, const CUjit_option *options, void **values, jit_options *out)
{
    bool threads = false;
    *out = (jit_options){0};
    if (count && (!options || !values))
        return misuse(CUDA_ERROR_INVALID_VALUE, "%u options, but no place that has them", count);
    for (unsigned i = 0; i < count; i++) {
        CUresult result = read_option(options[i], &values[i], out, &threads);
        if (result)
            return result;
    }
    if ((out->info && !out->info_filled) || (out->error && !out->error_filled))
        return misuse(CUDA_ERROR_INVALID_VALUE, "a buffer for a log without its size");
    if (threads && out->target)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "CU_JIT_TARGET cannot be combined with CU_JIT_THREADS_PER_BLOCK");
    return CUDA_SUCCESS;
}

/* Of a linker: none that another input, or the whole link, decides. */
CUresult jit_check_input(unsigned count, const CUjit_option *options, void **values)
{
    jit_options read;
    CUresult result = jit_read(count, options, values, &read);
    for (unsigned i = 0; i < count && !result; i++) {
        enum what what = options_known[options[i]].what;
        if (what != IGNORED && what != THREADS && what != LEVEL && what != CACHE)
            result = misuse(CUDA_ERROR_INVALID_VALUE, "%s for one input of a link",
                            options_known[options[i]].name);
    }
    return result;
}

static void fill(char *log, size_t size, void **filled, const char *text)
{
    size_t length = strlen(text);
    if (log && size) {
        if (length > size - 1)
            length = size - 1;
        memcpy(log, text, length);
        log[length] = 0;
    }
    if (filled)
        *filled = (void *)(uintptr_t)(log && size ? length + 1 : 0);
}

void jit_say(const jit_options *options, const char *error)
{
    float time = 0.5f;
    fill(options->info, options->info_size, options->info_filled, "");
    fill(options->error, options->error_size, options->error_filled, error);
    if (options->time)
        memcpy(options->time, &time, sizeof time);
}

/* ---- Text ---- */

enum { PAGE = 4096 };

/* The bytes from there on, up to the end of a page: 0 where they are no memory of the process. A
 * system that forbids such calls gets them read as they are. */
static size_t readable(const char *at, char copy[PAGE])
{
    size_t left = PAGE - (uintptr_t)at % PAGE;
    struct iovec to = {copy, left}, from = {(void *)(uintptr_t)at, left};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (got < 0 && errno == EFAULT)
        return 0;
    if (got < 0)
        memcpy(copy, at, left);
    return got < 0 ? left : (size_t)got;
}

char *jit_text(const char *text)
{
    char page[PAGE], *copy = NULL;
    size_t length = 0, got;
    while ((got = readable(text + length, page)) > 0) {
        const char *end = memchr(page, 0, got);
        size_t part = end ? (size_t)(end - page) : got;
        for (size_t i = 0; i < part; i++) {
            if ((unsigned char)page[i] < 32 && !strchr("\t\n\v\f\r", page[i])) {
                misuse(CUDA_ERROR_INVALID_PTX, "the byte %d in the text, which has no final 0",
                       page[i]);
                free(copy);
                return NULL;
            }
        }
        copy = realloc(copy, length + part + 1);
        memcpy(copy + length, page, part);
        length += part;
        copy[length] = '\0';
        if (end)
            return copy;
    }
    misuse(CUDA_ERROR_INVALID_PTX, "the text has no final 0 before its memory ends");
    free(copy);
    return NULL;
}
