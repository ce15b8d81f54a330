"""Assignments of a Numba kernel, for kjit.numba_port: to names, elements, views and fields, of one value or several."""
import ast

from . import _port_expr, _port_types
from ._port_expr import E, Ref
from ._port_source import Stop
from ._port_types import Arr, Rec, Tup, show


class Assignments:
    """The part of a function's translation that assigns."""

    def _on_AnnAssign(self, node):
        if node.value is not None:
            self._assign([node.target], node)

    def _on_Assign(self, node):
        self._assign(node.targets, node)

    def _assign(self, targets, node):
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and self._memory(targets[0], node.value):
            return
        e = self.expr(node.value)
        if len(targets) > 1 and not (e.literal or e.text.isidentifier()):
            name = self.unit.fresh(self, "value")
            e = self.settled(e)
            self.emit(f"let {name} = {self.typed(e, e.type).text}", node)
            e = E(name, e.type, e.own)
        for target in targets:
            self.store(target, e, node)

    def _memory(self, target, value):
        """s = cuda.shared.array(n, float32)"""
        if not isinstance(value, ast.Call):
            return False
        try:
            found = self.any(value.func) if isinstance(value.func, (ast.Attribute, ast.Name)) else None
        except Stop:
            return False
        paths = {"numba.cuda.shared.array": "shared", "numba.cuda.local.array": "local"}
        kind = paths.get(found.value) if isinstance(found, Ref) and found.kind == "path" else None
        if kind is None:
            return False
        shape, dtype, alignment = (self.arguments(value, 2, 3, ("shape", "dtype", "alignment")) + [None])[:3]
        extents = shape.elts if isinstance(shape, ast.Tuple) else [shape]
        values = [self.expr(x) for x in extents]
        if len(values) == 1 and isinstance(values[0].type, Tup):
            values = self.items(values[0], shape)
        texts = [self._extent(v, x, kind) for v, x in zip(values, list(extents) * len(values))]
        elem = self._elem(dtype)
        web = self.flow.def_of[target].web
        of = Arr(elem, len(texts))
        self.def_types[target] = web.type = web.own = of
        if texts == ["0"]:
            texts = [self.unit.dynamic(self, elem, shape)]
        shown = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        more = f", alignment={self.expr(alignment).text}" if alignment is not None else ""
        if len(web.defs) > 1:
            self._no_arrays_anew(target, target.id)
            raise Stop()
        self.emit(f"let {web.written} = {kind}.array({shown}, {self.spell(elem)}{more})", value)
        return True

    def _elem(self, tree):
        if isinstance(tree, ast.Attribute) or not isinstance(tree, ast.Constant):
            found = self.any(tree)
            of = found.of.type if isinstance(found, Ref) and (found.kind, found.value) == ("method", "dtype") else None
            if isinstance(of, Arr) and isinstance(of.elem, Rec):
                return of.elem
        return self.dtype(tree)

    def _extent(self, e, tree, kind):
        if e.value is None or not isinstance(e.value, int) or isinstance(e.value, bool) or e.value < 0:
            hint = "a number that the function has from outside is one; " if kind == "local" else ""
            raise self.fail(tree, f"the extents of a {kind} array are constants", hint + "Numba takes no other ones either")
        return e.text

    def store(self, target, e, node):
        if isinstance(target, ast.Name):
            if target not in self.flow.def_of:
                raise Stop()
            self.define(target, e, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, e, node)
        elif isinstance(target, ast.Subscript):
            self._store_element(target, e, node)
        elif isinstance(target, ast.Attribute):
            place = self.expr(target)
            if not isinstance(self.expr(target.value).type, Rec):
                raise self.fail(target, "this is not assigned in a kernel", "an element is: x[i] = v")
            if "[" not in place.text:
                raise self.fail(target, "a record that is a parameter is a copy here",
                                "give the function the array and the index")
            self.emit(f"{place.text} = {self.given(e, place.type, node).text}", node)
        else:
            raise self.fail(target, "nothing is unpacked by a star in a kernel", "write the items")

    def _store_element(self, target, e, node):
        place = self.expr(target)
        if isinstance(self.expr(target.value).type, Tup):
            raise self.fail(target, "the items of a tuple stay as they are",
                            "cuda.local.array(n, float32) has elements that change")
        of = place.type.elem if isinstance(place.type, Arr) else place.type
        if isinstance(place.type, Arr):
            self._store_view(place, e, target, node)
        elif isinstance(of, Rec):
            if e.type != of:
                raise self.fail(node, f"a record is assigned a record, not {show(e.type)}", "assign its fields")
            self.emit(f"{place.text} = {e.text}", node)
        else:
            self.emit(f"{place.text} = {self.given(e, of, node).text}", node)

    def _store_view(self, place, e, target, node):
        """a[:] = 0, a[i] = b[j]."""
        of = place.type.elem
        text = place.text
        if isinstance(e.type, Arr):
            if e.type.elem != of:
                raise self.fail(node, f"elements of {show(of)} are not assigned those of {show(e.type.elem)} all at once",
                                "write a loop")
            self.emit(f"{text} = {e.text}", node)
        else:
            self.emit(f"{text} = {self.given(e, of, node).text}", node)

    def _unpack(self, target, e, node):
        if not isinstance(e.type, Tup):
            if isinstance(e.type, Arr):
                raise self.fail(node.value, "an array is not unpacked here", "write x[0] and so on")
            raise self.fail(node.value, f"{show(e.type)} is not unpacked")
        names = target.elts
        if any(isinstance(n, ast.Starred) for n in names) or len(names) != len(e.type.items):
            raise self.fail(target, f"{len(names)} names for {len(e.type.items)} values")
        if e.items is None:
            if self._let_all(names, e, node):
                return
            if not e.pure or not e.text.isidentifier():
                name = self.unit.fresh(self, "values")
                self.emit(f"let {name} = {e.text}", node)
                e = E(name, e.type, e.own)
        items = self.items(e, node)
        if not self._independent(names, items):
            items = [self._kept(item, node) for item in items]
        for name, item in zip(names, items):
            self.store(name, item, node)

    def _kept(self, item, node):
        """The value as it is now, whatever is assigned before it is used."""
        if item.literal or item.value is not None:
            return item
        name = self.unit.fresh(self, "old")
        item = self.settled(item)
        self.emit(f"let {name} = {item.text}", node)
        return E(name, item.type, item.own)

    def _let_all(self, names, e, node):
        """let x, y = grid(2), where all are new."""
        own = e.own.items if isinstance(e.own, Tup) else e.type.items
        if not all(isinstance(n, ast.Name) for n in names) or len({n.id for n in names}) != len(names):
            return False
        for n, of, k in zip(names, e.type.items, own):
            d = self.flow.def_of[n]
            if of not in _port_types.SCALARS or d.web.own_def is not d or len(d.web.defs) > 1 or (of != k and k != "i64"):
                return False
        for n, of, k in zip(names, e.type.items, own):
            self.def_types[n] = of
            self.flow.def_of[n].web.own = k
        self.emit(f"let {', '.join(self.flow.def_of[n].web.written for n in names)} = {e.text}", node)
        return True

    def _independent(self, names, items):
        """May the items be assigned one after the other?"""
        targets = [n for n in names if not isinstance(n, ast.Name)]
        if targets:
            return len(names) == 1
        words = [set(_words(item.text)) for item in items]
        return not any(self.flow.def_of[n].web.written in word for i, n in enumerate(names) for word in words[i + 1:])

    def _on_AugAssign(self, node):
        value = self.expr(node.value)
        if isinstance(node.target, ast.Name):
            now = self.variable(node.target)
            e = self.operate(node, node.op, now, value)
            web = self.flow.def_of[node.target].web
            short = self._short(node, e, now, web.written)
            if short and web.type == e.type == now.type and web.own == e.own == now.own:
                self.def_types[node.target] = e.type
                self.emit(short, node)
            else:
                self.define(node.target, e, node)
            return
        place = self.expr(node.target)
        if isinstance(place.type, Arr):
            raise self.fail(node, "whole arrays are not computed with in a kernel", "write a loop over the elements")
        sign = _port_expr._OPERATORS[type(node.op)][0] if type(node.op) in _port_expr._OPERATORS else "@"
        wraps = sign in ("+", "-", "*", "&", "|", "^") and place.type in _port_types.INTS and value.type in _port_types.INTS
        if wraps:  # the low bits do not depend on how wide it was computed
            self.emit(f"{place.text} {sign}= {self.given(value, place.type, node).text}", node)
            return
        if not place.pure:
            raise self.fail(node.target, "the index would be computed twice", "give it a name first")
        given = self.given(self.operate(node, node.op, place, value), place.type, node)
        short = self._short(node, given, place, place.text) if sign in ("+", "-", "*", "/", "//", "%") else None
        self.emit(short or f"{place.text} = {given.text}", node)

    def _short(self, node, e, now, name):
        """x += v for x = x + v, where that is the text; or None."""
        sign = _port_expr._OPERATORS[type(node.op)][0]
        start = f"{name} {sign} "
        if now.text != name or not e.text.startswith(start) or sign == "**":
            return None
        rest = e.text[len(start):]
        if rest.startswith("(") and _closes(rest):
            rest = rest[1:-1]
        return f"{name} {sign}= {rest}"


def _words(text):
    word = ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
        elif word:
            yield word
            word = ""


def _closes(text):
    """Is the bracket that begins the text the one that ends it?"""
    depth = 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
