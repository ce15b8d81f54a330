"""What the reference's Python text calls (translate_expr.py): parts of values, chains, products of vectors."""
import math

import machine
import scalars
from scalars import INTS


def vmap(f, *args):
    """A function part by part; numbers beside vectors are repeated."""
    count = max(len(a) for a in args if isinstance(a, tuple))
    return tuple(f(*parts) for parts in zip(*(a if isinstance(a, tuple) else (a,) * count for a in args)))


def chain(compares, *values):
    return all(c(a, b) for c, a, b in zip(compares, values, values[1:]))


def turns(start, stop, step):
    return range(start, stop, step) if step else ()


def same_tuples(a, b):
    return all(same_tuples(x, y) if isinstance(x, tuple) else x == y for x, y in zip(a, b))


def put(value, path, part):
    """A tuple or complex number with one part replaced."""
    if not path:
        return part
    k = path[0]
    if isinstance(value, complex):
        return complex(part, value.imag) if k == 0 else complex(value.real, part)
    if not 0 <= k < len(value):
        raise machine.Undefined(f"part {k} of {len(value)}")
    return value[:k] + (put(value[k], path[1:], part),) + value[k + 1:]


def part_of(value, k):
    if isinstance(value, complex):
        return value.imag if k else value.real
    if not 0 <= k < len(value):
        raise machine.Undefined(f"part {k} of {len(value)}")
    return value[k]


def ordered(values, places):
    """Values that were evaluated in one order, each at its place."""
    return tuple(v for _, v in sorted(zip(places, values), key=lambda pair: pair[0]))


def holds(test):
    if not test:
        raise machine.Undefined("an assert that does not hold")


def in_range(k, n):
    if not 0 <= k < n:
        raise machine.Undefined(f"part {k} of {n}")
    return k


def fma_last(c, a, b, t):
    return scalars.fma(a, b, c, t)


def dot(v, w, t, fused):
    if t in INTS:
        return scalars.wrap(sum(a * b for a, b in zip(v, w)), t)
    rnd = scalars.ROUND[t]
    total = rnd(v[0] * w[0])
    for k, (a, b) in enumerate(zip(v[1:], w[1:])):
        if not fused:
            total = rnd(total + rnd(a * b))
        elif k == 0:        # of two products the left one is fused
            total = scalars.fma(v[0], w[0], rnd(a * b), t)
        else:
            total = scalars.fma(a, b, total, t)
    return total


def complex_scaled(op, part, a, b):
    """* and / with a real number, part by part."""
    rnd = scalars.ROUND[part]
    if op == "*":
        if isinstance(b, complex):
            a, b = b, a
        return complex(rnd(a.real * b), rnd(a.imag * b))
    return complex(rnd(scalars.divide(a.real, b)), rnd(scalars.divide(a.imag, b)))


# ---- Views as wholes ----

def spread(view, shape):
    """A view's elements for each place of a shape, in C order: of fewer axes they are repeated along the first ones."""
    skipped = len(shape) - len(view.shape)
    if skipped < 0 or view.shape != shape[skipped:]:
        raise machine.Undefined(f"a view of {view.shape} for one of {shape}")
    return view.values() * math.prod(shape[:skipped])


# ---- Reductions of views: one element after the other ----

def fold(what, t, of, items, fused):
    """Items of type `of`, or pairs, which are the factors of a sum's products; `t` is the result's type."""
    if what in ("all", "any"):
        return (all if what == "all" else any)(x != 0 for x in items)
    if what in ("min", "max"):
        return extreme(what, t, items)
    if what == "mean":
        wide = t if of not in INTS else "i64" if of in scalars.SIGNED else "u64"
        total = scalars.convert(total_of("sum", wide, of, items, fused), wide, t)
        return scalars.ROUND[t](scalars.divide(total, float(len(items))))
    return total_of(what, t, of, items, fused)


def extreme(what, t, items):
    best = (scalars.greatest(t) if what == "min" else scalars.least(t)) if t in INTS else scalars.NAN
    for x in items:
        best = scalars.minimum(best, x) if what == "min" else scalars.maximum(best, x)
    return best


def total_of(what, t, of, items, fused):
    total = 0 if what == "sum" else 1
    if t in INTS:
        for x in items:
            x = x[0] * x[1] if isinstance(x, tuple) else int(x)
            x = scalars.wrap(x, of) if of in INTS else x
            total = total + x if what == "sum" else total * x
        return scalars.wrap(total, t)
    rnd, total = scalars.ROUND[t], float(total)
    for x in items:
        if isinstance(x, tuple):
            if fused and of == t:
                total = scalars.fma(*x, total, t)
                continue
            x = scalars.ROUND[of](x[0] * x[1])
        total = rnd(total + x if what == "sum" else total * x)
    return total
