// kjit from C++17, over kjit.hpp: handles that free themselves, failures as exceptions, launches with any arguments.
//
//     sample [device]
#include <kjit.hpp>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

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
static T sum(const kjit::context &ctx, const kjit::module &mod, std::vector<T> values)
{
    constexpr std::int64_t size = 128;
    std::vector<T> parts((values.size() + size - 1) / size);
    mod["sums"](static_cast<std::int64_t>(parts.size()), size, ctx.wrap(values), ctx.wrap(parts),
                kjit::named("SIZE", size));
    return std::accumulate(parts.begin(), parts.end(), T(0));
}

int main(int argc, char **argv)
try {
    const kjit::context ctx = kjit::open(argc > 1 ? argv[1] : nullptr);
    const kjit::module mod = ctx.compile("sample.knl", source);

    std::vector<std::complex<float>> z(1000, {3, 4});
    const std::complex<float> quarter(0, 1);
    mod["rotate"].forall(1000, ctx.wrap(z), quarter);
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
        mod["rotate"].forall(1000, ctx.wrap(numbers), quarter);
    } catch (const kjit::error &error) {
        refused = error.status == KJIT_TYPE;
        std::printf("refused: %s\n", error.what());
    }
    return z[999] == std::complex<float>(-4, 3) && total == 500500 && halves == 500.5 && refused
               ? 0
               : 1;
} catch (const kjit::error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
