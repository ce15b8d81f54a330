// kjit.hpp with exceptions. A second argument: beside a file that was compiled without.
#include <array>
#include <cassert>
#include <cstdio>
#include <kjit.hpp>

struct float4 {
    float x, y, z, w;
};
template <> struct kjit::dtype_of<float4> : kjit::element<KJIT_F32X4> {
};

int without_exceptions(const char *device); // plus_results.cc

static const char source[] = R"(
    kernel scale<T: number>(x: T[], by: T) { let i = grid(1); if i < x.size { x[i] *= by } }
    kernel turn(z: c64[], by: c64) { let i = grid(1); if i < z.size { z[i] *= by } }
    kernel add(z: f32x4[], by: f32x4, const N: i32 = 1) { let i = grid(1); if i < z.size { z[i] = z[i] + by * N } }
    kernel corner(a: f64[,], out: f64[]) { out[0] = a[a.shape[0] - 1, a.shape[1] - 1] }
    run { param n = 3
        assert(n == 4, f"{n} is not four") }
)";

template <class Call> static void refused(Call call, kjit_status status)
{
    try {
        call();
        std::puts("not refused");
    } catch (const kjit::error &error) {
        assert(error.status == status);
        const std::string text = error.what();
        std::printf("refused: %s\n", text.substr(0, text.find('\n')).c_str());
    }
}

static void launches(const kjit::context &ctx, const kjit::module &mod)
{
    std::vector<float> x(1000, 1);
    mod["scale"].forall(1000, ctx.wrap(x), 2.5);
    mod["scale"](4, 256, ctx.wrap(x), 2);
    mod["scale"]({4, 1}, {256}, ctx.wrap(x), 2u);
    std::vector<std::complex<float>> z(5, {1, 2});
    mod["turn"](1, 32, ctx.wrap(z), std::complex<float>(0, 1));
    std::array<float4, 3> f{};
    mod["add"](1, 32, ctx.wrap(f), float4{1, 2, 3, 4}, kjit::named("N", 3));
    std::array<long, 2> many{1L << 40, 3};
    mod["scale"](1, 32, ctx.wrap(many), true ? 2L : 1L);
    std::printf("launches: %g %g%+gi %g %ld\n", double(x[999]), double(z[0].real()),
                double(z[0].imag()), double(f[2].w), many[0] >> 40);
}

static void arrays(const kjit::context &ctx, const kjit::module &mod)
{
    auto a = ctx.make<double>({3, 4});
    a.fill(2);
    std::vector<double> values(12, 7), corner(1);
    a.copy_from(ctx.wrap(values.data(), {3, 4}));
    mod["corner"](1, 1, kjit::in(a), kjit::out(ctx.wrap(corner)));
    const kjit::stream s = ctx.make_stream();
    const kjit::event from = ctx.make_event(), to = ctx.make_event();
    auto flat = ctx.make<float>({64});
    flat.fill(1, &s);
    s.record(from);
    mod["scale"](1, 64, s, flat, 3);
    s.record(to);
    s.wait(to);
    s.synchronize();
    const kjit::array<float> host = flat.to_host(), moved = host.to_device();
    std::printf("arrays: %d axes, %g %g %g %zu, %d\n", a.ndim(), corner[0], double(host.data()[63]),
                double(moved.to_vector()[0]), a.to_vector().size(), to.since(from) >= 0);
}

// The module has the image's bytes, also while work of it is queued; it needs neither the source nor the module it is of.
static void images(const kjit::context &ctx)
{
    std::vector<float> x(1000, 1);
    std::vector<unsigned char> image;
    {
        const kjit::module mod = ctx.compile("image.knl", source);
        mod["scale"](4, 256, ctx.wrap(x), 2);
        image = mod.image("x86-64-v2", "sm_75");
    }
    auto y = ctx.make<float>({1000});
    const kjit::stream s = ctx.make_stream();
    y.fill(3, &s);
    {
        const kjit::module made = ctx.from_image(std::vector<unsigned char>(image));
        made["scale"](4, 256, s, y, 5);
    }
    s.synchronize();
    std::printf("images: %d, %g\n", !image.empty(), double(y.to_vector()[999]));
    image.pop_back();
    refused([&] { ctx.from_image(image); }, KJIT_INVALID);
    refused([&] { ctx.from_image({}); }, KJIT_INVALID);
}

int main(int, char **argv)
{
    const char *device = argv[1];
    const kjit::context ctx = kjit::open(device);
    const kjit::module mod = ctx.compile("plus.knl", source);
    launches(ctx, mod);
    arrays(ctx, mod);
    images(ctx);
    mod.run({"n=4"});
    refused([&] { mod.run({"n=5"}); }, KJIT_ASSERT);
    refused([&] { mod["scale"](1, 32, 3); }, KJIT_LAUNCH);
    refused([&] { mod["none"](1, 32); }, KJIT_NOT_FOUND);
    refused([&] { ctx.compile("b.knl", "kernel"); }, KJIT_COMPILE);
    refused([&] { ctx.load_array<float>("there is no such file.npy"); }, KJIT_IO);
    refused([] { kjit::open("abacus"); }, KJIT_NO_DEVICE);
    std::printf("without exceptions: %d\n", without_exceptions(device));
}
