"""Calls in a Numba kernel, for kjit.numba_port: of cuda, math, cmath, numpy and libdevice, of Python's own functions, of
methods. Device functions are ported along, which _port_unit does."""
import ast

from . import _port_types
from ._port_expr import AND, ATOM, E, OR, Ref
from ._port_types import Arr, GROUP, NONE, OF_FLOAT, OF_FLOAT_F16, OF_TWO, OF_TWO_FLOATS, Rec, TEXT, Tup, resolve, show

_OF_ONE = dict.fromkeys("acos acosh asin asinh atan atanh cosh degrees erf erfc expm1 gamma lgamma log1p radians sinh tanh tan "
                        "cbrt exp2".split(), OF_FLOAT)
_OF_ONE.update(dict.fromkeys("sin cos ceil floor sqrt log log2 log10 exp fabs trunc".split(), OF_FLOAT_F16))
_OF_PAIR = {"atan2": OF_TWO, "hypot": OF_TWO, "copysign": OF_TWO_FLOATS, "fmod": OF_TWO_FLOATS, "remainder": OF_TWO_FLOATS}
_NUMPY = {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh",
          "arctan2": "atan2", "absolute": "abs", "deg2rad": "radians", "rad2deg": "degrees", "conj": "conj", "rint": "rint"}
_OF_COMPLEX = "exp sqrt log log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split()
_WHOLE = _port_types.INTS

# of libdevice, without the f that those of float32 end with: what they are called here, and how many numbers they take
_LIBDEVICE = {name: (name, 1) for name in
              "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 "
              "fabs floor j0 j1 lgamma log log10 log1p log2 logb normcdf normcdfinv rcbrt rint rsqrt sin sinh sinpi sqrt tan "
              "tanh trunc y0 y1".split()}
_LIBDEVICE.update({name: (name, 2) for name in "atan2 copysign fdim fmod hypot nextafter pow remainder rhypot".split()})
_LIBDEVICE.update({"fmax": ("max", 2), "fmin": ("min", 2), "fma": ("fma", 3), "tgamma": ("gamma", 1), "cyl_bessel_i0":
                   ("cyl_bessel_i0", 1), "cyl_bessel_i1": ("cyl_bessel_i1", 1), "saturate": ("saturate", 1)})
_ROUNDED = {f"{letter}{op}_{way}": (f"{op}_{way}", of, count) for letter, of in (("f", "f32"), ("d", "f64"))
            for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("sqrt", 1)) for way in ("rn", "rd", "ru", "rz")}
_ROUNDED.update({f"fma{f}_{way}": (f"fma_{way}", of, 3)
                for f, of in (("", "f64"), ("f", "f32")) for way in ("rn", "rd", "ru", "rz")})
_HALF = {"hadd": "+", "hsub": "-", "hmul": "*", "hdiv": "/", "heq": "==", "hne": "!=", "hge": ">=", "hgt": ">", "hle": "<=",
         "hlt": "<"}
_HALF_FUNCTIONS = {"hfma": ("fma", 3), "habs": ("abs", 1), "hmax": ("max", 2), "hmin": ("min", 2), **{
    "h" + name: (name, 1) for name in "sin cos log log2 log10 exp exp2 exp10 sqrt rsqrt floor ceil rint trunc".split()}}
_PLAIN = ("syncthreads", "threadfence", "threadfence_block", "threadfence_system")
_ATOMICS = {"add": "if", "sub": "if", "max": "if", "min": "if", "nanmax": "if", "nanmin": "if", "and_": "i", "or_": "i",
            "xor": "i",
            "inc": "u", "dec": "u", "exch": "i", "cas": "i"}
_SHUFFLED = [("i32", "i32"), ("i64", "i64"), ("f32", "f32"), ("f64", "f64")]
_EACH = [(name, name) for name in _port_types.SIGNED + _port_types.UNSIGNED]


class Calls:
    """The part of a function's translation that makes calls."""

    def _Call(self, node):
        called = self.any(node.func)
        if not isinstance(called, Ref):
            raise self.fail(node, "this is no function")
        if called.kind == "function":
            return self.unit.call(self, node, called.value)
        if called.kind == "method":
            return self._method(node, called)
        path = called.value
        of, _, name = path.rpartition(".")
        if of.startswith("numba") and (name.startswith("xoroshiro128p_")):
            return self._random(node, name)
        if path.startswith(("numba.", "numpy.")) and _port_types.named(name) and of in ("numba", "numpy", "numba.types",
                                                                                        "numba.core.types"):
            return self._convert(node, _port_types.named(name))
        table = {"": "_builtin_", "math": "_math", "cmath": "_cmath", "numpy": "_numpy", "numba.cuda": "_cuda_",
                 "numba.cuda.atomic": "_atomic", "numba.cuda.fp16": "_fp16", "numba.cuda.libdevice": "_libdevice",
                 "numba.cuda.cg": "_cg", "numba.cuda.const": "_const"}.get(of)
        method = getattr(self, table + name, None) if table in ("_builtin_", "_cuda_") else getattr(self, table or "", None)
        if table == "_cuda_" and method is None:
            method = self._cuda
        if method is None:
            raise self._no_function(node, path)
        return method(node, name) if table not in ("_builtin_", "_cuda_") or method == self._cuda else method(node)

    def _no_function(self, node, path):
        short = path[len("numba."):] if path.startswith("numba.") else path
        hints = {"numba.cuda.shared.array": "it is given a name: s = cuda.shared.array(n, float32)",
                 "numba.cuda.local.array": "it is given a name: a = cuda.local.array(n, float32)",
                 "sum": "write a loop", "numpy.zeros": "cuda.local.array(n, float32) has a constant size",
                 "numpy.empty": "cuda.local.array(n, float32) has a constant size", "tuple": "write the items: (a, b)",
                 "numpy.maximum": "max(a, b) is the number where one is NaN",
                 "numpy.minimum": "min(a, b) is the number where one is NaN",
                 "enumerate": "it stands in a for", "zip": "it stands in a for", "range": "it stands in a for"}
        return self.fail(node, f"there is no '{short}' here", hints.get(path))

    def arguments(self, node, least, most=None, names=()):
        """The arguments' trees, by place or by name; None for those that are not given."""
        most = least if most is None else most
        found = list(node.args) + [None] * (max(len(names), most) - len(node.args))
        for keyword in node.keywords:
            if keyword.arg not in names:
                raise self.fail(keyword.value, f"there is no argument '{keyword.arg}' here")
            found[names.index(keyword.arg)] = keyword.value
        given = sum(item is not None for item in found)
        if any(isinstance(a, ast.Starred) for a in node.args) or not least <= given <= most or len(node.args) > most:
            many = f"{least}" if least == most else f"{least} to {most}"
            raise self.fail(node, f"this takes {many} argument{'s' * (most != 1)}, not {given}")
        return found

    def numbers(self, node, least, most=None, names=()):
        return [self.number(a) for a in self.arguments(node, least, most, names) if a is not None]

    def apply(self, node, name, cases, values, own=None):
        """name(values) by the case that their types take; of constants alone the first is given its type."""
        case = resolve(cases, [v.type for v in values])
        if case is None:
            raise self.fail(node, f"'{name}' takes no {' and '.join(show(v.type) for v in values)}")
        wants = case[1:]
        if case[0] in _port_types.FLOATS and all(want in _WHOLE for want in wants):
            wants = (case[0],) * len(values)  # a function of floats that takes an integer
        given = [self.to(v, want, node) for v, want in zip(values, wants)]
        if given and all(g.literal for g in given):
            given[0] = self.typed(given[0], wants[0])
        return E(f"{name}({', '.join(g.text for g in given)})", case[0], own or case[0], pure=all(v.pure for v in values))

    # ---- Python's own ----

    def _builtin_len(self, node):
        e = self.expr(self.arguments(node, 1)[0])
        if isinstance(e.type, Tup):
            return E(str(len(e.type.items)), "i64", literal=True, value=len(e.type.items))
        if not isinstance(e.type, Arr):
            raise self.fail(node, f"{show(e.type)} has no length")
        return E(f"len({e.text})", "i64")

    def _least(self, node, word):
        values = self.arguments(node, 1, 64)[:len(node.args)]
        values = [self.expr(v) for v in values]
        if len(values) == 1 and isinstance(values[0].type, Tup):
            values = self.items(values[0], node)
        if len(values) == 1:
            raise self.fail(node, f"'{word}' takes two numbers or more here", "write a loop over the elements")
        of = None
        for v in values:
            of = _port_types.unify(of, v.type)
        if of == "bool":
            sign, binds = ("and", AND) if word == "min" else ("or", OR)
            return E(f" {sign} ".join(v.at(binds + 1) for v in values), "bool", binds=binds, pure=all(v.pure for v in values))
        if of not in _port_types.INTS + _port_types.FLOATS:
            raise self.fail(node, f"'{word}' takes no {' and '.join(show(v.type) for v in values)}")
        given = [self.to(v, of, node) for v in values]
        if all(g.literal for g in given):
            given[0] = self.typed(given[0], of)
        return E(f"{word}({', '.join(g.text for g in given)})", of, pure=all(v.pure for v in values))

    def _builtin_min(self, node):
        return self._least(node, "min")

    def _builtin_max(self, node):
        return self._least(node, "max")

    def _builtin_abs(self, node):
        value, = self.numbers(node, 1)
        if value.type in _port_types.COMPLEX:
            return E(f"abs({value.text})", "f32" if value.type == "c64" else "f64", pure=value.pure)
        if value.type in _port_types.UNSIGNED:
            return value
        of = "i8" if value.type == "bool" else value.type
        return E(f"abs({self.typed(self.to(value, of, node), of).text})", of, pure=value.pure)

    def _builtin_round(self, node):
        values = self.numbers(node, 1, 2, ("number", "ndigits"))
        if len(values) == 2:
            raise self.fail(node, "'round' to digits is not there", "round(x * 100) / 100 rounds otherwise in the last place")
        if values[0].type not in _port_types.FLOATS:
            raise self.fail(node, f"'round' takes a float, not {show(values[0].type)}")
        return E(f"i64({self.apply(node, 'round', OF_FLOAT_F16, values).text})", "i64", pure=values[0].pure)

    def _builtin_int(self, node):
        value, = self.numbers(node, 1)
        if value.type in _port_types.COMPLEX:
            raise self.fail(node, "'int' takes no complex number")
        of = value.type if value.type in _WHOLE else "i64"
        return self._as(value, of, node)

    def _builtin_float(self, node):
        value, = self.numbers(node, 1)
        if value.type in _port_types.COMPLEX:
            raise self.fail(node, "'float' takes no complex number")
        return self._as(value, value.type if value.type in _port_types.FLOATS else "f64", node)

    def _builtin_bool(self, node):
        return self._as(self.numbers(node, 1)[0], "bool", node)

    def _builtin_complex(self, node):
        values = self.numbers(node, 1, 2, ("real", "imag"))
        of = "c64" if all(v.type == "f32" for v in values) else "c128"
        part = "f32" if of == "c64" else "f64"
        if len(values) == 1 and values[0].type in _port_types.COMPLEX:
            return values[0]
        return E(f"{of}({', '.join(self.to(v, part, node).text for v in values)})", of, pure=all(v.pure for v in values))

    def _builtin_pow(self, node):
        left, right = self.numbers(node, 2)
        return self.operate(node, ast.Pow(), left, right)

    def _builtin_divmod(self, node):
        left, right = self.numbers(node, 2)
        if not (left.pure and right.pure):
            raise self.fail(node, "the numbers of 'divmod' are computed twice", "give them names first")
        return self.tuple([self.operate(node, op, left, right) for op in (ast.FloorDiv(), ast.Mod())])

    def _builtin_print(self, node):
        if node.keywords:
            raise self.fail(node.keywords[0].value, f"'print' has no '{node.keywords[0].arg}' in a kernel")
        values = [self.expr(a) for a in node.args]
        for value, tree in zip(values, node.args):
            if isinstance(value.type, (Arr, Rec)) or value.type in (NONE, GROUP):
                raise self.fail(tree, f"'print' prints no {show(value.type)} in a kernel", "print numbers and texts")
        texts = [self.typed(v, v.type).text if v.type != TEXT else v.text for v in values]
        return E(f"print({', '.join(texts)})", NONE, pure=False)

    def _as(self, value, of, node):
        e = self.to(value, of, node)
        if e.literal:
            plain = of in ("i64", "f64")
            e = E(e.text if plain else f"{of}({e.text})", of, literal=plain, value=e.value, binds=e.binds if plain else ATOM)
            if of == "f64" and isinstance(e.value, int):
                e.value, e.text = float(e.value), repr(float(e.value))
        return E(e.text, of, e.own or of, e.binds, literal=e.literal, value=e.value, pure=value.pure)

    def _convert(self, node, of):
        """float32(x), np.int64(x)."""
        values = self.numbers(node, 1, 2 if of in _port_types.COMPLEX else 1)
        if of in _port_types.COMPLEX and len(values) == 2:
            part = "f32" if of == "c64" else "f64"
            return E(f"{of}({', '.join(self.to(v, part, node).text for v in values)})", of, pure=all(v.pure for v in values))
        e = self.to(values[0], of, node)
        if e.literal:
            return E(f"{of}({e.text})", of, value=e.value)
        return E(e.text, of, of, e.binds, pure=values[0].pure)

    # ---- modules ----

    def _math(self, node, name):
        if name in _OF_ONE:
            return self.apply(node, name, _OF_ONE[name], self.numbers(node, 1))
        if name in _OF_PAIR:
            return self.apply(node, name, _OF_PAIR[name], self.numbers(node, 2))
        if name in ("isnan", "isinf", "isfinite"):
            return self._is(node, name)
        if name == "pow":
            values = self.numbers(node, 2)
            case = resolve(OF_TWO_FLOATS + [(x, x, "i32") for x in ("f32", "f64")], [v.type for v in values])
            if case is None:
                raise self.fail(node, f"'pow' takes no {' and '.join(show(v.type) for v in values)}")
            base, exponent = self.typed(self.to(values[0], case[1], node), case[1]), self.to(values[1], case[0], node)
            return E(f"pow({base.text}, {exponent.text})",
                     case[0], pure=all(v.pure for v in values))
        if name in ("frexp", "modf"):
            cases = [("f32", "f32"), ("f64", "f64")] if name == "frexp" else [("f64", "f64"), ("f32", "f32")]
            e = self.apply(node, name, cases,
                           self.numbers(node, 1))
            return E(e.text, Tup((e.type, "i32" if name == "frexp" else e.type)), pure=e.pure)
        if name == "ldexp":
            return self.apply(node, name, [("f32", "f32", "i32"), ("f64", "f64", "i32")], self.numbers(node, 2))
        raise self._no_function(node, "math." + name)

    def _is(self, node, name):
        value, = self.numbers(node, 1)
        if value.type in _WHOLE + ("bool",):
            return E("true" if name == "isfinite" else "false", "bool")
        return E(f"{name}({self.typed(value, value.type).text})", "bool", pure=value.pure)

    def _cmath(self, node, name):
        if name == "rect":
            values = self.numbers(node, 2)
            of = "f32" if all(v.type == "f32" for v in values) else "f64"
            given = [self.typed(self.to(v, of, node), of).text for v in values]
            return E(f"rect({', '.join(given)})", "c64" if of == "f32" else "c128")
        value, = self.numbers(node, 1)
        value = self.to(value, value.type if value.type in _port_types.COMPLEX else "c128", node)
        value = self.typed(value, "c128")
        part = "f32" if value.own == "c64" else "f64"
        if name in _OF_COMPLEX:
            return E(f"{name}({value.text})", value.own, pure=value.pure)
        results = {"phase": part, "polar": Tup((part, part)), "isnan": "bool", "isinf": "bool", "isfinite": "bool"}
        if name not in results:
            raise self._no_function(node, "cmath." + name)
        return E(f"{name}({value.text})", results[name], pure=value.pure)

    def _numpy(self, node, name):
        own = _NUMPY.get(name, name)
        two = own in ("add", "subtract", "multiply")
        if (two or own in _OF_ONE) and (len(node.args) == 3 if two else len(node.args) == 2 or node.keywords):
            return self._ufunc(node, own)
        if own in ("abs", "fabs") and own == "abs":
            return self._builtin_abs(node)
        if own in ("isnan", "isinf", "isfinite"):
            return self._is(node, own)
        if own in _OF_ONE:
            values = self.numbers(node, 1)
            if values[0].type in _port_types.COMPLEX and own in _OF_COMPLEX:
                return E(f"{own}({values[0].text})", values[0].type, pure=values[0].pure)
            return self.apply(node, own, OF_FLOAT_F16, values)
        if own == "rint":
            return self.apply(node, own, OF_FLOAT_F16, self.numbers(node, 1))
        if own in _OF_PAIR:
            return self.apply(node, own, _OF_PAIR[own], self.numbers(node, 2))
        raise self._no_function(node, "numpy." + name)

    def _ufunc(self, node, name):
        """np.sin(x, out): of whole arrays, by each thread."""
        many = len(node.args) + len(node.keywords)
        trees = self.arguments(node, many, names=("x1", "x2", "out") if many == 3 else ("x", "out"))
        values = [self.expr(t) for t in trees]
        out = values[-1]
        sign = {"add": "+", "subtract": "-", "multiply": "*"}.get(name)
        if not isinstance(out.type, Arr) or (name not in _OF_ONE and not sign):
            raise self._no_function(node, "numpy." + name)
        for value, tree in zip(values, trees):
            if not isinstance(value.type, Arr) or value.type.elem != out.type.elem or out.type.elem not in ("f32", "f64"):
                raise self.fail(tree, f"'np.{name}' of whole arrays is of arrays of one float type here", "write a loop")
        texts = [v.text for v in values[:-1]]
        value = f" {sign} ".join(texts) if sign else f"{name}({texts[0]})"
        return E(f"{out.text}[{', '.join(':' * out.type.ndim)}] = {value}",
                 NONE, pure=False)

    def _libdevice(self, node, name):
        if name in _ROUNDED:
            own, of, count = _ROUNDED[name]
        else:
            single = name.endswith("f") and name not in ("erf", "normcdf") and name[:-1] in _LIBDEVICE
            own, count = _LIBDEVICE.get(name[:-1] if single else name, (None, 0))
            of = "f32" if single else "f64"
        if name in ("jn", "jnf", "yn", "ynf"):
            return self._bessel(node, name)
        if own is None:
            raise self.fail(node, f"there is no 'libdevice.{name}' here", "libdevice.rint rounds to nearest, ties to even"
                            if name.startswith("round") else None)
        return self.apply(node, own, [(of,) * (count + 1)], self.numbers(node, count))

    def _bessel(self, node, name):
        order, x = self.numbers(node, 2)
        of = "f32" if name.endswith("f") else "f64"
        self.unit.use("use std.special")
        return E(f"special.{name[:2]}({self.to(order, 'i32', node).text}, {self.typed(self.to(x, of, node), of).text})", of)

    def _fp16(self, node, name):
        if name in _HALF:
            left, right = (self.to(v, "f16", node) for v in self.numbers(node, 2))
            of = "bool" if _HALF[name][0] in "=!<>" else "f16"
            return E(f"({left.text} {_HALF[name]} {self.typed(right, 'f16').text})", of, pure=left.pure and right.pure)
        if name in ("hneg", "hrcp"):
            value = self.typed(self.to(self.numbers(node, 1)[0], "f16", node), "f16")
            return E(f"(-{value.at(ATOM)})" if name == "hneg" else f"(1.0 / {value.at(ATOM)})", "f16", pure=value.pure)
        if name not in _HALF_FUNCTIONS:
            raise self._no_function(node, "numba.cuda.fp16." + name)
        own, count = _HALF_FUNCTIONS[name]
        return self.apply(node, own, [("f16",) * (count + 1)], self.numbers(node, count))

    def _random(self, node, name):
        states, index = self.arguments(node, 2, names=("states", "index"))
        e = self.expr(states)
        if not (isinstance(e.type, Arr) and e.type.ndim == 1 and isinstance(e.type.elem, Rec)
                and e.type.elem.fields == (("s0", "u64", ()), ("s1", "u64", ()))):
            raise self.fail(states, f"the states are an array of records of s0 and s1, both uint64, not {show(e.type)}",
                            "kjit.xoroshiro128p_states(n, seed) makes them")
        self.unit.random(e.type.elem)
        of = "u64" if name.endswith("next") else "f32" if name == "xoroshiro128p_uniform_float32" else \
            "f64" if name.endswith("64") else "f32"
        return E(f"{name}({e.text}, {self.given(self._whole(index), 'i64', index).text})", of, pure=False)

    def _whole(self, tree):
        e = self.number(tree)
        return e if e.type in _WHOLE else self.to(e, "i64", tree)

    # ---- cuda ----

    def _cuda(self, node, name):
        if name in _PLAIN:
            self.arguments(node, 0)
            return E(f"{name}()", NONE, pure=False)
        if name in ("popc", "clz", "ffs", "brev"):
            cases = [("u32", "u32"), ("u64", "u64")] if name == "brev" else _EACH
            e = self.apply(node, name, cases, self.numbers(node, 1))
            return E(f"u32({e.text})", "u32", pure=e.pure) if name == "ffs" else e
        if name in ("fma", "cbrt"):
            count = 3 if name == "fma" else 1
            return self.apply(node, name, [(x,) * (count + 1) for x in ("f32", "f64")], self.numbers(node, count))
        if name in ("all_sync", "any_sync", "eq_sync", "ballot_sync"):
            mask, test = self.numbers(node, 2)
            text = f"{name}({mask.text}, {self.truth(test, node)})"
            return E(f"i32({text})", "i32", pure=False) if name == "ballot_sync" else E(text, "bool", pure=False)
        if name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "match_any_sync", "match_all_sync"):
            return self._warp(node, name)
        if name in ("activemask", "lanemask_lt"):
            self.arguments(node, 0)
            return E(f"{name}()", "u32", pure=False)
        if name == "syncwarp":
            mask = self.numbers(node, 0, 1, ("mask",))
            return E(f"syncwarp({mask[0].text if mask else ''})", NONE, pure=False)
        if name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt"):
            return self._cached(node, name)
        raise self._no_function(node, "numba.cuda." + name)

    def _warp(self, node, name):
        values = self.numbers(node, 3 if name.startswith("shfl") else 2)
        case = resolve(_SHUFFLED, [values[1].type])
        if case is None:
            raise self.fail(node, f"'{name}' takes no {show(values[1].type)}")
        value = self.typed(self.to(values[1], case[0], node), case[0])
        texts = [values[0].text, value.text] + [v.text for v in values[2:]]
        text = f"{name}({', '.join(texts)})"
        if name == "match_any_sync":
            return E(f"i32({text})", "i32", pure=False)
        if name == "match_all_sync":
            return E(text, Tup(("i32", "bool")), Tup(("u32", "bool")), pure=False)
        return E(text, case[0], pure=False)

    def _cuda_grid(self, node, name="grid"):
        axes = self.expr(self.arguments(node, 1)[0])
        if axes.value not in (1, 2, 3) or isinstance(axes.value, bool):
            raise self.fail(node, f"cuda.{name} takes a constant, 1, 2 or 3")
        return E(f"{name}({axes.value})", "i64" if axes.value == 1 else Tup(("i64",) * axes.value))

    def _cuda_gridsize(self, node):
        return self._cuda_grid(node, "gridsize")

    def _cuda_syncthreads_count(self, node, name="syncthreads_count"):
        text = f"{name}({self.truth(self.number(self.arguments(node, 1)[0]), node)})"
        return E(text, "i32", pure=False) if name.endswith("count") else E(f"i32({text})", "i32", condition=text, pure=False)

    def _cuda_syncthreads_and(self, node):
        return self._cuda_syncthreads_count(node, "syncthreads_and")

    def _cuda_syncthreads_or(self, node):
        return self._cuda_syncthreads_count(node, "syncthreads_or")

    def _cuda_nanosleep(self, node):
        return E(f"nanosleep({self.to(self.numbers(node, 1)[0], 'u32', node).text})", NONE, pure=False)

    def _cuda_selp(self, node):
        test, a, b = self.numbers(node, 3)
        if a.type != b.type:
            raise self.fail(node, f"'selp' takes two numbers of a type, not {show(a.type)} and {show(b.type)}")
        a, b = self.pair(a, b, a.type, node)
        return E(f"selp({self.truth(test, node)}, {a.text}, {b.text})", a.type, pure=test.pure and a.pure and b.pure)

    def place(self, array, tree, node):
        """The index of an atomic or of a cached access: a text, of several axes a tuple."""
        found = [(tree, e) if e is not None else (item, self.expr(item)) for item, e in self.indices(tree, node)]
        if len(found) != array.type.ndim:
            raise self.fail(tree, f"{len(found)} indices of an array with {array.type.ndim} axes")
        parts = [self.index(array, axis, item, e) for axis, (item, e) in enumerate(found)]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def array(self, tree):
        e = self.expr(tree)
        if not isinstance(e.type, Arr) or e.type.elem not in _port_types.SCALARS:
            raise self.fail(tree, f"an array of numbers is meant, not {show(e.type)}")
        return e

    def _cached(self, node, name):
        trees = self.arguments(node, 3 if name.startswith("st") else 2)
        a = self.array(trees[0])
        texts = [a.text, self.place(a, trees[1], node)]
        if name.startswith("st"):
            value = self.number(trees[2])
            return E(f"{name}({', '.join(texts + [self.given(value, a.type.elem, trees[2]).text])})", NONE, pure=False)
        return E(f"{name}({', '.join(texts)})", a.type.elem)

    def _atomic(self, node, name):
        if name == "compare_and_swap":
            trees = self.arguments(node, 3)
            a = self.array(trees[0])
            place, values, kinds = None, trees[1:], "i"
        elif name in _ATOMICS:
            trees = self.arguments(node, 4 if name == "cas" else 3)
            a = self.array(trees[0])
            place, values, kinds = self.place(a, trees[1], node), trees[2:], _ATOMICS[name]
        else:
            raise self._no_function(node, "numba.cuda.atomic." + name)
        of = a.type.elem
        if of not in ("i32", "u32", "i64", "u64", "f32", "f64") or of[0] not in {"if": "iuf", "i": "iu", "u": "u"}[kinds]:
            raise self.fail(trees[0], f"there is no atomic {name} of {show(of)}")
        given = [self.given(self.number(t), of, t).text for t in values]
        if name in ("max", "min") and of in ("f32", "f64"):  # a NaN that is there stays, other than with kjit's
            helper = f"atomic_{name}_{of}_{a.type.ndim}"
            self.unit.helper(helper)
            return E(f"{helper}({a.text}, {place}, {given[0]})", of, pure=False)
        return E(f"atomic.{name}({', '.join([a.text] + ([place] if place else []) + given)})", of, pure=False)

    def _cg(self, node, name):
        if name == "this_grid":
            return E("", GROUP)
        raise self._no_function(node, "numba.cuda.cg." + name)

    def _const(self, node, name):
        if name != "array_like":
            raise self._no_function(node, "numba.cuda.const." + name)
        e = self.expr(self.arguments(node, 1)[0])
        if not isinstance(e.type, Arr) or not self.unit.is_table(e.text):
            raise self.fail(node.args[0], "an array from outside of the function is meant", "an argument is read as it is")
        return e

    def _method(self, node, called):
        of, name = called.of, called.value
        if of.type == GROUP and name == "sync":
            self.arguments(node, 0)
            return E("grid_sync()", NONE, pure=False)
        if name == "conjugate":
            self.arguments(node, 0)
            return E(f"conj({of.text})", of.type, pure=of.pure)
        if name == "view":
            return self._view(node, of)
        if isinstance(of.type, Arr) and name in ("reshape", "ravel"):
            return self._reshape(node, of, name)
        raise self.fail(node, f"there is no .{name}() of {show(of.type)} in a kernel",
                        "write a loop" if name in ("sum", "min", "max", "mean", "prod", "any", "all", "fill") else None)

    def _view(self, node, of):
        elem = self.dtype(self.arguments(node, 1)[0])
        have = of.type.elem if isinstance(of.type, Arr) else of.type
        known = elem in _port_types.NUMBERS and have in _port_types.NUMBERS
        if not known or _port_types.bits(elem) != _port_types.bits(have):
            raise self.fail(node, f"{show(have)} has other bits than {show(elem)}", "a type of as many bits is meant")
        text = self.typed(of, of.type).at(ATOM)
        return E(f"{text}.view({elem})", Arr(elem, of.type.ndim) if isinstance(of.type, Arr) else elem, pure=of.pure)

    def _reshape(self, node, of, name):
        trees = node.args
        if len(trees) == 1 and isinstance(trees[0], ast.Tuple):
            trees = trees[0].elts
        if node.keywords or (name == "ravel") != (not trees):
            raise self.fail(node, f"'{name}' takes {'nothing' if name == 'ravel' else 'the extents'} here")
        values = [self._whole(t) for t in trees]
        return E(f"{of.at(ATOM)}.{name}({', '.join(v.text for v in values)})", Arr(of.type.elem, max(len(values), 1)))

    def dtype(self, tree):
        """The type that an argument names: float32, np.float32, x.dtype, "float32"."""
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            elem = _port_types.named(tree.value)
        else:
            found = self.any(tree)
            elem = None
            if isinstance(found, Ref) and found.kind == "method" and found.value == "dtype":
                elem = found.of.type.elem
            elif isinstance(found, Ref) and found.kind == "path":
                elem = _port_types.named(found.value.rpartition(".")[2])
        if elem is None:
            raise self.fail(tree, "a type of elements is meant", "float32, np.float32 and the like are")
        return elem
