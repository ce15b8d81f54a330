// kjit from C++17: handles that free themselves, failures as exceptions, launches with any arguments. What stands in
// `namespace kj` is all that it takes; copy what you need.
//
//     sample [device]
#include <kjit.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kj {

class Error : public std::runtime_error {
  public:
    Error(kjit_status status, const std::string &text) : std::runtime_error(text), status(status)
    {
    }
    const kjit_status status;
};

// A handle, freed once; the order in which handles go does not matter.
template <class T, void (*Free)(T *)> struct Freed {
    void operator()(T *handle) const
    {
        Free(handle);
    }
};
template <class T, void (*Free)(T *)> using Handle = std::unique_ptr<T, Freed<T, Free>>;

// The element type that belongs to a C++ type.
template <class T> constexpr kjit_dtype dtype_of();
template <> constexpr kjit_dtype dtype_of<float>()
{
    return KJIT_F32;
}
template <> constexpr kjit_dtype dtype_of<double>()
{
    return KJIT_F64;
}
template <> constexpr kjit_dtype dtype_of<std::int32_t>()
{
    return KJIT_I32;
}
template <> constexpr kjit_dtype dtype_of<std::int64_t>()
{
    return KJIT_I64;
}
template <> constexpr kjit_dtype dtype_of<std::uint8_t>()
{
    return KJIT_U8;
}
template <> constexpr kjit_dtype dtype_of<std::complex<float>>()
{
    return KJIT_C64;
}

class Context {
  public:
    explicit Context(const char *device = nullptr)
    {
        kjit_context_options options = {};
        options.device = device;
        kjit_context *made;
        char text[512];
        kjit_status status = kjit_context_create(&options, &made, text, sizeof text);
        if (status != KJIT_OK)
            throw Error(status, text);
        handle.reset(made);
    }
    kjit_context *get() const
    {
        return handle.get();
    }
    void check(kjit_status status) const
    {
        if (status != KJIT_OK)
            throw Error(status, kjit_last_error(get()));
    }

  private:
    Handle<kjit_context, kjit_context_destroy> handle;
};

// An array over a vector's elements, which are to live as long.
template <class T> class Array {
  public:
    Array(const Context &ctx, std::vector<T> &over)
    {
        const std::int64_t n = static_cast<std::int64_t>(over.size());
        kjit_array *made;
        ctx.check(kjit_array_wrap(ctx.get(), over.data(), dtype_of<T>(), 1, &n, nullptr, KJIT_HOST,
                                  &made));
        handle.reset(made);
    }
    kjit_array *get() const
    {
        return handle.get();
    }

  private:
    Handle<kjit_array, kjit_array_free> handle;
};

inline kjit_arg arg(const kjit_arg &given)
{
    return given;
}
template <class T> kjit_arg arg(const Array<T> &a)
{
    return kjit_arg_array(a.get());
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> kjit_arg arg(T number)
{
    if constexpr (std::is_same_v<T, bool>)
        return kjit_arg_bool(number);
    else if constexpr (std::is_integral_v<T>)
        return kjit_arg_i64(static_cast<std::int64_t>(number));
    else
        return kjit_arg_f64(static_cast<double>(number));
}

// A parameter by name: named("T", 32).
template <class T> kjit_arg named(const char *name, const T &value)
{
    return kjit_arg_named(name, arg(value));
}

class Module {
  public:
    Module(const Context &ctx, const char *name, std::string_view source) : ctx(ctx)
    {
        kjit_module *made;
        kjit_status status =
            kjit_module_compile(ctx.get(), name, source.data(), source.size(), nullptr, &made);
        handle.reset(made); // with KJIT_COMPILE there is a module too: it has the diagnostics
        if (status == KJIT_COMPILE)
            throw Error(status, kjit_module_log(made));
        ctx.check(status);
    }
    // A thread an element.
    template <class... Args>
    void forall(const char *kernel, std::int64_t n, const Args &...given) const
    {
        const kjit_arg args[] = {arg(given)...};
        ctx.check(kjit_launch_forall(handle.get(), kernel, n, nullptr, args, sizeof...(given)));
    }
    template <class... Args>
    void launch(const char *kernel, const kjit_config &config, const Args &...given) const
    {
        const kjit_arg args[] = {arg(given)...};
        ctx.check(kjit_launch(handle.get(), kernel, &config, args, sizeof...(given)));
    }

  private:
    const Context &ctx; // outlives the module
    Handle<kjit_module, kjit_module_free> handle;
};

} // namespace kj

static constexpr std::string_view source = R"(
    kernel rotate(z: c64[], turn: c64) {
        let i = grid(1)
        if i < z.size {
            z[i] *= turn
        }
    }

    # Sums of pieces, one a block.
    kernel sums<T: number>(x: T[], out: T[], const SIZE: i32 = 64) {
        requires out.size == gridDim.x and blockDim.x == SIZE
        let buf = shared.array(SIZE, T)
        let i = grid(1)
        buf[threadIdx.x] = x[i] if i < x.size else T(0)
        syncthreads()
        for k in range(1, SIZE) {
            if threadIdx.x == 0 {
                buf[0] += buf[k]
            }
        }
        if threadIdx.x == 0 {
            out[blockIdx.x] = buf[0]
        }
    }
)";

// One kernel, of whatever elements the arrays have.
template <class T>
static T sum(const kj::Context &ctx, const kj::Module &mod, std::vector<T> values)
{
    constexpr std::int64_t size = 128;
    std::vector<T> parts((values.size() + size - 1) / size);
    const kj::Array x(ctx, values), out(ctx, parts);
    kjit_config config = {};
    config.grid[0] = static_cast<std::int64_t>(parts.size());
    config.block[0] = size;
    mod.launch("sums", config, x, out, kj::named("SIZE", size));
    return std::accumulate(parts.begin(), parts.end(), T(0));
}

int main(int argc, char **argv)
try {
    const kj::Context ctx(argc > 1 ? argv[1] : nullptr);
    const kj::Module mod(ctx, "sample.knl", source);

    std::vector<std::complex<float>> z(1000, {3, 4});
    const std::complex<float> quarter(0, 1);
    mod.forall("rotate", 1000, kj::Array(ctx, z), kjit_arg_value(KJIT_C64, &quarter));
    std::printf("turned: %g%+gi\n", static_cast<double>(z[999].real()),
                static_cast<double>(z[999].imag()));

    std::vector<std::int32_t> numbers(1001);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::int32_t total = sum(ctx, mod, numbers);
    const double halves = sum(ctx, mod, std::vector<double>(1001, 0.5));
    std::printf("sums: %d %g\n", total, halves);

    // A failure is an exception with the library's sentence, and everything is freed on the way.
    bool refused = false;
    try {
        mod.forall("rotate", 1000, kj::Array(ctx, numbers), kjit_arg_value(KJIT_C64, &quarter));
    } catch (const kj::Error &error) {
        refused = error.status == KJIT_TYPE;
        std::printf("refused: %s\n", error.what());
    }
    return z[999] == std::complex<float>(-4, 3) && total == 500500 && halves == 500.5 && refused
               ? 0
               : 1;
} catch (const kj::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
