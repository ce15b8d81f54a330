"""Attributes, elements, views, fields and tuples in a Numba kernel, for kjit.numba_port."""
import ast

from . import _port_types
from ._port_expr import ATOM, E, PRODUCT, Ref, SUM, literal
from ._port_types import Arr, GROUP, Rec, Tup, show


class Elements:
    """The part of a function's translation that takes values apart."""

    def attribute(self, of, node):
        name, kind = node.attr, of.type
        if isinstance(kind, Arr):
            if name == "shape":
                return E(f"{of.at(ATOM)}.shape", Tup(("i64",) * kind.ndim))
            if name in ("size", "ndim"):
                return E(str(kind.ndim), "i64", literal=True,
                         value=kind.ndim) if name == "ndim" else E(f"{of.at(ATOM)}.size", "i64")
            if name == "strides":
                return E(f"{of.at(ATOM)}.strides", Tup(("i64",) * kind.ndim))
            if name == "T":
                return E(f"{of.at(ATOM)}.T", kind)
            if name in ("real", "imag") and kind.elem in _port_types.COMPLEX:
                return E(f"{of.at(ATOM)}.{name}", Arr("f32" if kind.elem == "c64" else "f64", kind.ndim))
            if name in ("itemsize", "nbytes") and kind.elem in _port_types.SCALARS:
                size = max(_port_types.bits(kind.elem) // 8, 1)
                return literal(size) if name == "itemsize" else E(f"{of.at(ATOM)}.size * {size}", "i64", binds=PRODUCT)
            if isinstance(kind.elem, Rec):
                return self.field(of, name, node)
            if name in ("reshape", "ravel", "view", "copy", "sum", "min", "max", "mean", "flatten", "transpose", "astype",
                        "fill",
                        "item", "all", "any", "prod", "dtype"):
                return Ref("method", name, of)
        if kind in _port_types.COMPLEX:
            if name in ("real", "imag"):
                return E(f"{of.at(ATOM)}.{name}", "f32" if kind == "c64" else "f64", pure=of.pure)
            if name == "conjugate":
                return Ref("method", name, of)
        elif kind in _port_types.INTS and name == "value" and of.literal:  # of an enum's
            return of
        elif kind in _port_types.NUMBERS and name in ("real", "view"):
            return of if name == "real" else Ref("method", name, of)
        if isinstance(kind, Rec):
            return self.field(of, name, node)
        if kind == GROUP:
            return Ref("method", name, of)
        raise self.fail(node, f"{show(kind)} has no '{name}' here")

    def field(self, of, name, node):
        """A field of a record or of each of an array's."""
        record = of.type.elem if isinstance(of.type, Arr) else of.type
        for own, kind, shape in record.fields:
            if own == name:
                text = f"{of.at(ATOM)}.{name}"
                ndim = len(shape) + (of.type.ndim if isinstance(of.type, Arr) else 0)
                return E(text, Arr(kind, ndim) if ndim else kind)
        raise self.fail(node, f"the record has no field '{name}'", "it has " + ", ".join(own for own, *_ in record.fields))

    def _Subscript(self, node):
        of = self.any(node.value)
        if isinstance(of, Ref):
            raise self.fail(node, "no value is indexed here")
        if isinstance(of.type, Tup):
            return self._item(of, node)
        text = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(text, str) and (isinstance(of.type, Rec) or isinstance(of.type, Arr) and isinstance(of.type.elem, Rec)):
            return self.field(of, text, node)
        if not isinstance(of.type, Arr):
            raise self.fail(node, f"{show(of.type)} has no elements")
        return self.element(of, node)

    def element(self, of, node):
        """An element or a view."""
        parts, left, pure = [], 0, True
        indices = self.indices(node.slice, node)
        if len(indices) > of.type.ndim:
            raise self.fail(node, f"{len(indices)} indices of an array with {of.type.ndim} axes")
        for axis, (item, e) in enumerate(indices):
            if isinstance(item, ast.Slice):
                parts.append(self._slice(item))
                left += 1
            else:
                e = e or self.expr(item)
                pure = pure and e.pure
                parts.append(self.index(of, axis, item, e))
        left += of.type.ndim - len(indices)
        return E(f"{of.at(ATOM)}[{', '.join(parts)}]", Arr(of.type.elem, left) if left else of.type.elem, pure=pure)

    def indices(self, index, node):
        """[(tree, its expression or None)]: a tuple that has a name is taken apart."""
        if isinstance(index, ast.Tuple):
            return [(item, None) for item in index.elts]
        if isinstance(index, (ast.Slice, ast.Constant)):
            return [(index, None)]
        e = self.expr(index)
        if isinstance(e.type, Tup):
            return [(index, item) for item in self.items(e, node)]
        return [(index, e)]

    def index(self, of, axis, node, e):
        """An index of an axis, from the end where it is negative."""
        if e.type not in _port_types.INTS + ("bool",):
            hint = f"write int({ast.unparse(node)})" if e.type in _port_types.FLOATS else None
            if isinstance(node, ast.Constant) and node.value in (None, ...):
                hint = None
            raise self.fail(node, f"an index is an integer, not {show(e.type)}", hint)
        extent = f"{of.at(ATOM)}.size" if of.type.ndim == 1 else f"{of.at(ATOM)}.shape[{axis}]"
        if e.value is not None and e.literal:
            return e.text if e.value >= 0 else f"{extent} - {-e.value}"
        if e.type in _port_types.UNSIGNED or node in self.bounds.sure or not self.unit.wraparound:
            return self.to(e, "i64", node).text if e.type == "bool" else e.text
        self.unit.helper("wrapped")
        return f"wrapped({self.given(e, 'i64', node).text}, {extent})"

    def _slice(self, node):
        parts = [self.expr(part) if part else None for part in (node.lower, node.upper, node.step)]
        for part, tree in zip(parts, (node.lower, node.upper, node.step)):
            if part and part.type not in _port_types.INTS:
                raise self.fail(tree, f"a bound of a slice is an integer, not {show(part.type)}")
        if parts[2] and parts[2].value is None:
            raise self.fail(node.step, "the step of a slice is a constant here")
        text = (parts[0].at(SUM) if parts[0] else "") + ":" + (parts[1].at(SUM) if parts[1] else "")
        return text + (f":{parts[2].text}" if parts[2] else "")

    def _item(self, of, node):
        index = self.expr(node.slice) if not isinstance(node.slice, ast.Slice) else None
        size = len(of.type.items)
        if index is not None and index.value is not None and isinstance(index.value, int):
            if not -size <= index.value < size:
                raise self.fail(node, f"a tuple of {size} has no item {index.value}")
            return self.items(of, node)[index.value % size]
        if index is None or index.type not in _port_types.INTS:
            raise self.fail(node.slice, "an item of a tuple has a number", "take slices of tuples apart by hand")
        if len(set(of.type.items)) != 1:
            raise self.fail(node.slice, "which item is meant is not known before the kernel runs, and they are of several "
                            "types")
        if of.items and all(item.value is not None for item in of.items):
            return E(f"{self.unit.table(of)}[{index.text}]", of.type.items[0])
        text = self._typed_tuple(of)
        own = of.own.items[0] if isinstance(of.own, Tup) and not of.items else of.type.items[0]
        return self.settled(E(f"{text}[{index.text}]", of.type.items[0], own))

    def _typed_tuple(self, e):
        if not isinstance(e.type, Tup):
            return self.typed(e, e.type).text
        return "(" + ", ".join(map(self._typed_tuple, e.items)) + ")" if e.items else e.text

    def _Tuple(self, node):
        return self.tuple([self.expr(item) for item in node.elts])

    def tuple(self, items):
        return E("(" + ", ".join(i.text for i in items) + ")", Tup(tuple(i.type for i in items)), items=items,
                 pure=all(i.pure for i in items))
