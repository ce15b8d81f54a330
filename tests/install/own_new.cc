// A host with an operator new of its own, whose memory only its own delete takes, and which throws. Prints who used it.
#include <kjit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static const std::size_t MARK = 0x6b6a69746e6577;
static long calls, failing; // the call that throws; 0: none

void *operator new(std::size_t size)
{
    if (++calls == failing)
        throw std::bad_alloc();
    std::size_t *memory = static_cast<std::size_t *>(std::malloc(size + 2 * sizeof(std::size_t)));
    if (!memory)
        throw std::bad_alloc();
    memory[0] = MARK;
    return memory + 2;
}

void operator delete(void *p) noexcept
{
    std::size_t *memory = static_cast<std::size_t *>(p) - 2;
    if (!p)
        return;
    if (memory[0] != MARK) {
        std::puts("delete of what new did not give");
        std::_Exit(1);
    }
    memory[0] = 0;
    std::free(memory);
}

void operator delete(void *p, std::size_t) noexcept
{
    operator delete(p);
}

static kjit_status compile(kjit_context *c)
{
    static const char source[] = "kernel k(x: f32[]) { let i = grid(1); if i < x.size { x[i] += 1.0 } }";
    kjit_module *m;
    kjit_array *a;
    float x[4] = {0};
    int64_t shape = 4;
    kjit_status status = kjit_module_compile(c, "k.knl", source, std::strlen(source), nullptr, &m);
    if (status != KJIT_OK)
        return status;
    status = kjit_array_wrap(c, x, KJIT_F32, 1, &shape, nullptr, KJIT_HOST, &a);
    if (status == KJIT_OK) {
        kjit_arg arg = kjit_arg_array(a);
        kjit_config config = {};
        config.grid[0] = 1;
        config.block[0] = 32;
        status = kjit_launch(m, "k", &config, &arg, 1);
        kjit_array_free(a);
    }
    kjit_module_free(m);
    return status;
}

int main()
{
    kjit_context_options options = {};
    options.device = "cpu";
    options.cache = "off";
    kjit_context *c;
    if (kjit_context_create(&options, &c, nullptr, 0) != KJIT_OK || compile(c) != KJIT_OK)
        return 1;
    long before = calls;
    kjit_status status = compile(c);
    long used = calls - before;
    std::printf("%s, with %s of the host's operator new\n", kjit_status_name(status), used ? "calls" : "no call");
    int refused = 0;
    for (long n = 100; n < used; n += used / 4) {
        failing = calls + n;
        refused += compile(c) == KJIT_NO_MEMORY;
        failing = 0;
    }
    std::printf("%d refused, then %s\n", refused, kjit_status_name(compile(c)));
    failing = calls + 1;
    try {
        delete new long;
    } catch (const std::bad_alloc &) {
        std::puts("the host's own call throws");
    }
    kjit_context_destroy(c);
}
