// kjit.hpp without exceptions: functions give results.
#define KJIT_NO_EXCEPTIONS
#include <cstdio>
#include <kjit.hpp>

int without_exceptions(const char *device);

// Where it stopped; 0: nowhere.
int without_exceptions(const char *device)
{
    auto ctx = kjit::open(device);
    if (!ctx)
        return 1;
    auto mod = ctx->compile("results.knl", "kernel scale<T: number>(x: T[], by: T) {"
                                           " let i = grid(1); if i < x.size { x[i] *= by } }");
    if (!mod)
        return 2;
    std::vector<int> x(100, 2);
    auto over = ctx->wrap(x);
    if (!over || !(*mod)["scale"].forall(100, *over, 5))
        return 3;
    auto refused = (*mod)["scale"].forall(100, *over, 0.5);
    if (refused || refused.error().status != KJIT_TYPE || refused.error().text.empty())
        return 4;
    auto broken = ctx->compile("broken.knl", "kernel");
    if (broken || broken.error().status != KJIT_COMPILE)
        return 5;
    auto image = (*mod).image("x86-64-v2");
    auto again = ctx->from_image(image ? std::move(*image) : std::vector<unsigned char>());
    if (!again || ctx->from_image({1, 2, 3}) || (*mod).image("abacus"))
        return 6;
    auto none = kjit::open("abacus");
    auto values = over->to_vector();
    return !none && values && (*values)[99] == 10 && ctx->synchronize() ? 0 : 7;
}
