/* kjit from C++17: handles that free themselves, arrays and launches with types, failures as exceptions or as results.
 *
 *     auto ctx = kjit::open();                                  // the first GPU, else the CPU
 *     auto mod = ctx.compile("scale.knl", text);
 *     std::vector<float> x(1000, 1);
 *     mod["scale"].forall(1000, ctx.wrap(x), 2.5);              // a thread an element
 *     mod["scale"]({4, 256}, ctx.wrap(x), 2.5);                 // blocks, and threads a block
 *
 * It stands over kjit.h alone, which says what each call does, what it needs and how it fails; what has no function here is
 * called there with get(). Everything is in the header: programs link libkjit as those in C do.
 *
 * Failures: functions throw kjit::error. Where there are no exceptions (-fno-exceptions), or KJIT_NO_EXCEPTIONS is
 * defined, they return kjit::result<T>, which has the value, or the failure:
 *
 *     auto ctx = kjit::open();
 *     if (!ctx) return report(ctx.error().text);
 *     ctx->synchronize();
 *
 * Both may be in one program, in different files. Threads: as kjit.h says; objects are handles, moved and not copied. */
#ifndef KJIT_HPP
#define KJIT_HPP

#include "kjit.h"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined KJIT_NO_EXCEPTIONS && !defined __cpp_exceptions
#define KJIT_NO_EXCEPTIONS
#endif

namespace kjit {

/* ---- Failures ---- */

struct failure {
    kjit_status status;
    std::string text; /* kjit_last_error's: with the place in the source, where it has one */
};

#ifdef KJIT_NO_EXCEPTIONS
inline namespace returning { /* apart from the same names in files that throw */

/* A value, or why there is none. Asking for what is not there ends the program (std::abort). */
template <class T> class [[nodiscard]] result {
  public:
    result(T value) : made(std::make_unique<T>(std::move(value)))
    {
    }
    result(failure f) : why(std::move(f))
    {
    }
    explicit operator bool() const
    {
        return made != nullptr;
    }
    T &operator*() const
    {
        return made ? *made : (std::abort(), *made);
    }
    T *operator->() const
    {
        return &**this;
    }
    const failure &error() const
    {
        return why;
    }

  private:
    std::unique_ptr<T> made;
    failure why = {KJIT_OK, {}};
};

template <> class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure f) : why(std::move(f))
    {
    }
    explicit operator bool() const
    {
        return why.status == KJIT_OK;
    }
    const failure &error() const
    {
        return why;
    }

  private:
    failure why = {KJIT_OK, {}};
};

/* What a function of this header gives. */
template <class T> using given = result<T>;

namespace detail {
template <class T> given<T> fail(kjit_status status, const char *text)
{
    return failure{status, text};
}
} // namespace detail
#else
inline namespace throwing {

class error : public std::runtime_error {
  public:
    error(kjit_status why, const std::string &text) : std::runtime_error(text), status(why)
    {
    }
    kjit_status status;
};

/* What a function of this header gives. */
template <class T> using given = T;

namespace detail {
template <class T> [[noreturn]] given<T> fail(kjit_status status, const char *text)
{
    throw error(status, text);
}
} // namespace detail
#endif

namespace detail {

template <class T> given<T> fail(kjit_status status)
{
    return fail<T>(status, kjit_last_error(nullptr)); /* of the thread's last call */
}

/* A T of a new handle, or why there is none. */
template <class T, class... Parts> given<T> own(kjit_status status, Parts... parts)
{
    if (status != KJIT_OK)
        return fail<T>(status);
    return T(parts...);
}

inline given<void> done(kjit_status status)
{
    if (status != KJIT_OK)
        return fail<void>(status);
    return given<void>();
}

template <class T, void (*Free)(T *)> struct freed {
    void operator()(T *handle) const
    {
        Free(handle);
    }
};
template <class T, void (*Free)(T *)> using handle = std::unique_ptr<T, freed<T, Free>>;

} // namespace detail

/* ---- Types ---- */

/* The element type that belongs to a C++ type: dtype_of<float>::value is KJIT_F32. A program may say it of types of its
 * own, for vectors: template <> struct kjit::dtype_of<float4> : kjit::element<KJIT_F32X4> {}; */
template <kjit_dtype Type> struct element {
    static constexpr kjit_dtype value = Type;
};
template <class T, class = void> struct dtype_of;
template <> struct dtype_of<bool> : element<KJIT_BOOL> {
};
template <> struct dtype_of<float> : element<KJIT_F32> {
};
template <> struct dtype_of<double> : element<KJIT_F64> {
};
template <> struct dtype_of<std::complex<float>> : element<KJIT_C64> {
};
template <> struct dtype_of<std::complex<double>> : element<KJIT_C128> {
};
/* Integers by their size, whatever they are called: long is i64 where it has 8 bytes. */
template <class T>
struct dtype_of<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    : element<sizeof(T) == 1   ? (std::is_signed_v<T> ? KJIT_I8 : KJIT_U8)
              : sizeof(T) == 2 ? (std::is_signed_v<T> ? KJIT_I16 : KJIT_U16)
              : sizeof(T) == 4 ? (std::is_signed_v<T> ? KJIT_I32 : KJIT_U32)
                               : (std::is_signed_v<T> ? KJIT_I64 : KJIT_U64)> {
};

/* Blocks of a grid, threads of a block: 4, or {4, 2}, or {4, 2, 2}. */
struct dims {
    dims(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) : of{x, y, z}
    {
    }
    std::int64_t of[3];
};

/* ---- Streams and events ---- */

class event {
  public:
    explicit event(kjit_event *owned) : handle(owned)
    {
    }
    kjit_event *get() const
    {
        return handle.get();
    }
    given<void> synchronize() const
    {
        return detail::done(kjit_event_synchronize(get()));
    }
    /* ms from another one's mark to this one's; both were made with timing. */
    given<double> since(const event &from) const
    {
        double ms = 0;
        kjit_status status = kjit_event_elapsed(from.get(), get(), &ms);
        return detail::own<double>(status, ms);
    }

  private:
    detail::handle<kjit_event, kjit_event_free> handle;
};

class stream {
  public:
    explicit stream(kjit_stream *owned) : handle(owned)
    {
    }
    kjit_stream *get() const
    {
        return handle.get();
    }
    given<void> synchronize() const
    {
        return detail::done(kjit_stream_synchronize(get()));
    }
    given<void> wait(const event &e) const
    {
        return detail::done(kjit_stream_wait(get(), e.get()));
    }
    given<void> record(const event &e) const
    {
        return detail::done(kjit_event_record(e.get(), get()));
    }

  private:
    detail::handle<kjit_stream, kjit_stream_free> handle;
};

/* ---- Arrays ---- */

/* An array of T: memory of the library's, or over the caller's, which is to live as long. */
template <class T> class array {
  public:
    array(kjit_context *of, kjit_array *owned) : ctx(of), handle(owned)
    {
    }
    kjit_array *get() const
    {
        return handle.get();
    }
    std::int64_t size() const /* elements */
    {
        return kjit_array_size(get());
    }
    int ndim() const
    {
        return kjit_array_ndim(get());
    }
    std::int64_t extent(int axis) const
    {
        return kjit_array_shape(get())[axis];
    }
    /* The first element, of memory that the program may touch (not a GPU's own); where the others are its strides say. */
    T *data() const
    {
        return kjit_array_memory(get()) == KJIT_DEVICE ? nullptr
                                                       : static_cast<T *>(kjit_array_data(get()));
    }
    given<void> fill(T value, const stream *in = nullptr) const
    {
        return detail::done(kjit_array_fill(get(), &value, in ? in->get() : nullptr));
    }
    /* All elements of another one of its shape. */
    given<void> copy_from(const array &from, const stream *in = nullptr) const
    {
        return detail::done(kjit_copy(get(), from.get(), in ? in->get() : nullptr));
    }
    given<array> to_device(const stream *to = nullptr) const
    {
        return moved(kjit_to_device, to);
    }
    given<array> to_host(const stream *to = nullptr) const
    {
        return moved(kjit_to_host, to);
    }
    /* A copy of its elements in C order, wherever they are; when all work that was queued before is done. */
    given<std::vector<T>> to_vector() const
    {
        static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no bools in memory");
        std::vector<T> out(static_cast<std::size_t>(size()));
        kjit_array *over = nullptr;
        kjit_status status = kjit_array_wrap(ctx, out.data(), kjit_array_dtype(get()), ndim(),
                                             kjit_array_shape(get()), nullptr, KJIT_HOST, &over);
        const array to(ctx, over);
        if (status == KJIT_OK)
            status = kjit_copy(over, get(), nullptr);
        if (status != KJIT_OK)
            return detail::fail<std::vector<T>>(status);
        return out;
    }
    given<void> save(const std::string &path) const
    {
        return detail::done(kjit_array_save(get(), path.c_str()));
    }

  private:
    given<array> moved(kjit_status (*move)(kjit_array *, kjit_stream *, kjit_array **),
                       const stream *in) const
    {
        kjit_array *made = nullptr;
        kjit_status status = move(get(), in ? in->get() : nullptr, &made);
        return detail::own<array>(status, ctx, made);
    }

    kjit_context *ctx;
    detail::handle<kjit_array, kjit_array_free> handle;
};

/* ---- Arguments ---- */

/* What a launch takes: arrays, numbers, complex numbers, values of types with a dtype_of, and kjit_arg as it is. */
inline kjit_arg argument(const kjit_arg &a)
{
    return a;
}
template <class T> kjit_arg argument(const array<T> &a)
{
    return kjit_arg_array(a.get());
}
template <class T,
          class = std::enable_if_t<std::is_arithmetic_v<T> || dtype_of<T>::value != KJIT_BOOL>>
kjit_arg argument(const T &value)
{
    if constexpr (std::is_same_v<T, bool>)
        return kjit_arg_bool(value);
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return kjit_arg_i64(static_cast<std::int64_t>(value));
    else if constexpr (std::is_integral_v<T>)
        return kjit_arg_u64(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_floating_point_v<T>)
        return kjit_arg_f64(static_cast<double>(value));
    else
        return kjit_arg_value(dtype_of<T>::value, &value); /* read by the launch */
}
/* A host array that is only read, or only brought back: kjit_arg_in, kjit_arg_out. */
template <class T> kjit_arg in(const array<T> &a)
{
    return kjit_arg_in(a.get());
}
template <class T> kjit_arg out(const array<T> &a)
{
    return kjit_arg_out(a.get());
}
/* A parameter by its name, a const one usually: named("TILE", 32). */
template <class T> kjit_arg named(const char *name, const T &value)
{
    return kjit_arg_named(name, argument(value));
}

/* ---- Modules and kernels ---- */

/* A kernel of a module, which is to live as long. */
class kernel {
  public:
    kernel(kjit_module *of, std::string called) : mod(of), name(std::move(called))
    {
    }
    /* kjit_launch: done on return without a stream. */
    template <class... Args>
    given<void> operator()(const kjit_config &config, const Args &...values) const
    {
        const kjit_arg args[sizeof...(values) + 1] = {argument(values)..., kjit_arg()};
        return detail::done(kjit_launch(mod, name.c_str(), &config, args, sizeof...(values)));
    }
    template <class... Args>
    given<void> operator()(const dims &grid, const dims &block, const Args &...values) const
    {
        return (*this)(config(grid, block, nullptr), values...);
    }
    template <class... Args>
    given<void> operator()(const dims &grid, const dims &block, const stream &s,
                           const Args &...values) const
    {
        return (*this)(config(grid, block, s.get()), values...);
    }
    /* kjit_launch_forall: a thread an element. */
    template <class... Args> given<void> forall(std::int64_t n, const Args &...values) const
    {
        const kjit_arg args[sizeof...(values) + 1] = {argument(values)..., kjit_arg()};
        return detail::done(
            kjit_launch_forall(mod, name.c_str(), n, nullptr, args, sizeof...(values)));
    }

  private:
    static kjit_config config(const dims &grid, const dims &block, kjit_stream *s)
    {
        kjit_config made = {};
        for (int i = 0; i < 3; i++) {
            made.grid[i] = grid.of[i];
            made.block[i] = block.of[i];
        }
        made.stream = s;
        return made;
    }

    kjit_module *mod;
    std::string name;
};

using bytes = std::vector<unsigned char>;
class module {
  public:
    explicit module(kjit_module *owned) : handle(owned)
    {
    }
    kjit_module *get() const
    {
        return handle.get();
    }
    /* That there is one of that name its launch says. */
    kernel operator[](std::string name) const
    {
        return kernel(get(), std::move(name));
    }
    /* Warnings, as a terminal shows them. */
    std::string log() const
    {
        return kjit_module_log(get());
    }
    /* The run block, with its params: {"n=1000", "image=@photo.png"}. */
    given<void> run(const std::vector<std::string> &params = {}) const
    {
        std::vector<const char *> texts;
        for (const std::string &param : params)
            texts.push_back(param.c_str());
        kjit_run_options options = {};
        options.params = texts.data();
        options.nparams = static_cast<int>(texts.size());
        return run(options);
    }
    given<void> run(const kjit_run_options &options) const
    {
        return detail::done(kjit_run(get(), &options));
    }
    /* With machine code for levels of CPUs, "x86-64-v3,armv8-a" (NULL: this family's), and GPUs, "sm_75" (NULL: none). */
    given<bytes> image(const char *cpus = nullptr, const char *archs = nullptr) const
    {
        const kjit_image_options options = {sizeof options, cpus, archs, nullptr, nullptr};
        void *made = nullptr;
        std::size_t size = 0;
        kjit_status status = kjit_module_image(get(), &options, &made, &size);
        std::unique_ptr<void, void (*)(void *)> owned(made, std::free);
        const auto *first = static_cast<const unsigned char *>(made);
        return status == KJIT_OK ? given<bytes>(bytes(first, first + size))
                                 : detail::fail<bytes>(status);
    }

  private:
    detail::handle<kjit_module, kjit_module_free> handle;
};

/* ---- Contexts ---- */

class context {
  public:
    explicit context(kjit_context *owned) : handle(owned)
    {
    }
    kjit_context *get() const
    {
        return handle.get();
    }
    given<void> synchronize() const
    {
        return detail::done(kjit_synchronize(get()));
    }
    /* `name` is for messages. A source with errors is a failure of KJIT_COMPILE, whose text has all of them. */
    given<module> compile(const std::string &name, std::string_view source,
                          const kjit_compile_options *options = nullptr) const
    {
        kjit_module *made = nullptr;
        kjit_status status =
            kjit_module_compile(get(), name.c_str(), source.data(), source.size(), options, &made);
        return checked(status, made);
    }
    given<module> load(const std::string &path, const kjit_compile_options *options = nullptr) const
    {
        kjit_module *made = nullptr;
        kjit_status status = kjit_module_load(get(), path.c_str(), options, &made);
        return checked(status, made);
    }
    /* Of module::image of this version of kjit: machine code that is run, so only of who is trusted. */
    given<module> from_image(bytes image) const
    {
        auto of = std::make_unique<bytes>(std::move(image));
        kjit_module *made = nullptr;
        const auto drop = [](void *gone) { delete static_cast<bytes *>(gone); };
        kjit_status status =
            kjit_module_from_image_owned(get(), of->data(), of->size(), of.get(), drop, &made);
        if (status == KJIT_OK)
            (void)of.release(); // the module's now
        return detail::own<module>(status, made);
    }
    /* A new array with unspecified elements, in C order: make<float>({480, 640}). */
    template <class T>
    given<array<T>> make(std::initializer_list<std::int64_t> shape,
                         kjit_memory memory = KJIT_DEVICE) const
    {
        kjit_array *made = nullptr;
        kjit_status status =
            kjit_array_create(get(), dtype_of<T>::value, static_cast<int>(shape.size()),
                              shape.begin(), 'C', memory, &made);
        return detail::own<array<T>>(status, get(), made);
    }
    /* An array over memory that is there, in C order. `type` is for elements without a dtype_of, records say. */
    template <class T>
    given<array<T>> wrap(T *data, std::initializer_list<std::int64_t> shape,
                         kjit_dtype type = dtype_of<T>::value) const
    {
        kjit_array *made = nullptr;
        kjit_status status = kjit_array_wrap(get(), data, type, static_cast<int>(shape.size()),
                                             shape.begin(), nullptr, KJIT_HOST, &made);
        return detail::own<array<T>>(status, get(), made);
    }
    /* Over a std::vector, a std::array, a std::span: what has data() and size(). */
    template <class Sequence> auto wrap(Sequence &over) const
    {
        return wrap(over.data(), {static_cast<std::int64_t>(over.size())});
    }
    template <class T> given<array<T>> load_array(const std::string &path) const
    {
        kjit_load_options options = {};
        options.as_dtype = 1;
        options.dtype = dtype_of<T>::value;
        kjit_array *made = nullptr;
        kjit_status status = kjit_array_load_with(get(), path.c_str(), &options, &made);
        return detail::own<array<T>>(status, get(), made);
    }
    given<stream> make_stream() const
    {
        kjit_stream *made = nullptr;
        kjit_status status = kjit_stream_create(get(), &made);
        return detail::own<stream>(status, made);
    }
    given<event> make_event(bool timing = true) const
    {
        kjit_event *made = nullptr;
        kjit_status status = kjit_event_create(get(), timing, &made);
        return detail::own<event>(status, made);
    }

  private:
    /* With KJIT_COMPILE there is a module too, which has the diagnostics. */
    static given<module> checked(kjit_status status, kjit_module *made)
    {
        module owned(made);
        if (status == KJIT_COMPILE && made)
            return detail::fail<module>(status, kjit_module_log(made));
        if (status != KJIT_OK)
            return detail::fail<module>(status);
        return owned;
    }

    detail::handle<kjit_context, kjit_context_destroy> handle;
};

inline given<context> open(const kjit_context_options &options)
{
    kjit_context *made = nullptr;
    kjit_status status = kjit_context_create(&options, &made, nullptr, 0);
    return detail::own<context>(status, made);
}

/* "cpu", "cuda", "cuda:1"; nullptr: the first GPU, else the CPU. */
inline given<context> open(const char *device = nullptr)
{
    kjit_context_options options = {};
    options.device = device;
    return open(options);
}

} // namespace throwing or returning
} // namespace kjit

#endif
