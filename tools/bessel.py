"""Prints the tables of tools/mathlib_bessel.c: python3 tools/bessel.py (needs mpmath).

A table is the polynomial through a function's values at Chebyshev's points of an interval, in the variable that goes from
-1 to 1 there, the highest power first; as many terms as bring the last of Chebyshev's series below 2**-57 of the first."""
from mpmath import besselj, besseljzero, bessely, besselyzero, cos, fdot, fprod, log, mp, mpf, pi, sin, sqrt

mp.dps = 60
NEAR, LOG, ZEROS = mpf(8), mpf(3), 4  # where the far formula begins, where y's logarithm ends


def series(function):
    """Its coefficients in Chebyshev's polynomials."""
    n = 40
    points = [pi * (2 * k + 1) / (2 * n) for k in range(n)]
    values = [function(cos(p)) for p in points]
    return [(2 if j else 1) * fdot(values, [cos(j * p) for p in points]) / n for j in range(n)]


def powers(chebyshev):
    """The same polynomial's coefficients of 1, t, t**2 ..."""
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    out = [mpf(0)] * len(chebyshev)
    for c in chebyshev:
        for i, b in enumerate(before):
            out[i] += c * b
        after = [mpf(0)] + [2 * b for b in now]
        for i, b in enumerate(before):
            after[i] -= b
        before, now = now, after
    return out


def written(x):
    return float(x).hex()


def table(name, function):
    all_terms = series(function)
    terms = max(j for j, c in enumerate(all_terms) if abs(c) > mpf(2) ** -57 * abs(all_terms[0])) + 1
    numbers = [written(c) + "," for c in reversed(powers(all_terms[:terms]))]
    print(f"static const double {name}[] = {{")
    for i in range(0, terms, 4):
        print("    " + " ".join(numbers[i:i + 4]))
    print("};")


def parts(x):
    """A number of twice the digits of a double."""
    high = float(x)
    return f"{{{written(high)}, {written(x - high)}}}"


def parts_table(name, numbers):
    print(f"static const split {name}[] = {{")
    for x in numbers:
        print(f"    {parts(x)},")
    print("};")


def wave(order, x):
    """P(x) and x Q(x) of Hankel's asymptotic form, divided by sqrt(pi)."""
    angle, root = x - pi / 4 - order * pi / 2, sqrt(x / 2)
    j, y = besselj(order, x), bessely(order, x)
    return root * (j * cos(angle) + y * sin(angle)), root * x * (y * cos(angle) - j * sin(angle))


def of_square(limit, function):
    """A function of x for 0 <= x <= limit as one of t = 2 (x / limit)**2 - 1."""
    return lambda t: function(limit * sqrt((1 + t) / 2))


def of_far(function):
    """A function of x >= NEAR as one of t = 2 (NEAR / x)**2 - 1."""
    return lambda t: function(NEAR / sqrt((1 + t) / 2))


for order in (0, 1):
    zeros = [besseljzero(order, k + 1) for k in range(ZEROS)]
    parts_table(f"j{order}_squares", [z * z for z in zeros])
    table(f"j{order}_near", of_square(
        NEAR, lambda x: besselj(order, x) / x**order / fprod([x * x - z * z for z in zeros])))
    table(f"p{order}", of_far(lambda x: wave(order, x)[0]))
    table(f"q{order}", of_far(lambda x: wave(order, x)[1] / NEAR))
    zeros = [besselyzero(order, k + 1) for k in range(3)]
    first = zeros[0]
    parts_table(f"y{order}_zeros", zeros)
    print(f"#define Y{order}_SQUARE {parts(first * first)}")
    print(f"#define Y{order}_LOG {written(log(first))}")
    table(f"y{order}_factor", of_square(LOG, lambda x: 2 / pi * besselj(order, x) / x**order))
    table(f"y{order}_rest", of_square(
        LOG, lambda x: (bessely(order, x) - 2 / pi * log(x / first) * besselj(order, x)) * x**order /
        (x * x - first * first)))
    middle, half = (LOG + NEAR) / 2, (NEAR - LOG) / 2
    table(f"y{order}_middle", lambda t: bessely(order, middle + half * t) /
          fprod([middle + half * t - z for z in zeros[1:]]))
