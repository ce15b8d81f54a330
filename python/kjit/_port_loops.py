"""Branches and loops of a Numba kernel, for kjit.numba_port."""
import ast

from . import _port_types
from ._port_expr import E, Ref
from ._port_source import Stop
from ._port_types import Arr, Rec, Tup, show


class Loops:
    """The part of a function's translation that makes if, while and for."""

    def _condition(self, node):
        """Notes which `and` and `or` are only asked whether they hold."""
        self.conditions.add(node)
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._condition(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._condition(node.operand)

    def _test(self, node):
        self._condition(node)
        return self.truth(self.expr(node), node)

    def inner(self, statements, key):
        self.depth += 1
        self.block(statements, key)
        self.depth -= 1

    def _on_If(self, node, word="if"):
        if self._chooses_arrays(node):
            return
        try:
            self.emit(f"{word} {self._test(node.test)} {{", node)
        except Stop:
            self.emit(f"{word} true {{", node)
        self.inner(node.body, (node, "body"))
        key = (node, "orelse")
        if not node.orelse:
            self.emit("}", node)
        elif len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and (key, 0) not in self.hoisted \
                and not self._chooses(node.orelse[0]):
            self._comments_to(node.orelse[0].lineno)
            self.line = node.orelse[0].lineno
            self._on_If(node.orelse[0], "} elif")
        else:
            self.emit("} else {", node)
            self.inner(node.orelse, key)
            self.emit("}", node)

    def _chooses(self, node):
        """if c: a, b = ... else: ..., all of them names: {name: (tree, tree)}, or None."""
        def assigned(statements):
            found = {}
            for s in statements:
                if not (isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
                        and isinstance(s.value, (ast.Name, ast.Subscript, ast.Attribute))):
                    return None
                found[s.targets[0].id] = s
            return found

        yes, no = assigned(node.body), assigned(node.orelse)
        return {name: (yes[name], no[name]) for name in yes} if yes and no and set(yes) == set(no) else None

    def _chooses_arrays(self, node):
        """Which of two arrays a name stands for is chosen where it begins."""
        chosen = self._chooses(node)
        if not chosen:
            return False
        for yes, no in chosen.values():
            try:
                if not all(isinstance(self.expr(s.value).type, Arr) for s in (yes, no)):
                    return False
            except Stop:
                return False
        test = self._test(node.test)
        if len(chosen) > 1 and not test.isidentifier():
            name = self.unit.fresh(self, "first")
            self.emit(f"let {name} = {test}", node)
            test = name
        for name, (yes, no) in chosen.items():
            a, b = self.expr(yes.value), self.expr(no.value)
            if a.type != b.type:
                raise self.fail(no, f"'{name}' is {show(b.type)} here and {show(a.type)} there")
            web = self.flow.def_of[yes.targets[0]].web
            if len(web.defs) != 2 or self.flow.def_of[no.targets[0]].web is not web or web.outside:
                self._no_arrays_anew(yes.targets[0], name)
                raise Stop()
            for s in (yes, no):
                self.def_types[s.targets[0]] = a.type
            web.type = web.own = a.type
            self.emit(f"let {web.written} = {a.text} if {test} else {b.text}", node)
        return True

    def _loop(self, node, head):
        """The body, and what else: has, which is done where no break ended it."""
        flag = None
        if node.orelse and any(isinstance(n, ast.Break) for n in ast.walk(node)):
            flag = self.unit.fresh(self, "ended")
            self.emit(f"var {flag} = false", node)
        self.emit(head, node)
        self.loops.append(flag)
        self.depth += 1
        self._declare_hoisted(((node, "body"), -1))
        self._loop_start(node)
        self.depth -= 1
        self.inner(node.body, (node, "body"))
        self.loops.pop()
        self.emit("}", node)
        if node.orelse:
            if flag:
                self.emit(f"if not {flag} {{", node)
                self.depth += 1
            self.block(node.orelse, (node, "orelse"))
            if flag:
                self.depth -= 1
                self.emit("}", node)

    def _loop_start(self, node):
        """Loop variables that are changed, or used behind the loop, are variables of their own."""
        for target, e in getattr(node, "copies", ()):
            self.define(target, e, node)

    def _on_While(self, node):
        self._loop(node, f"while {self._test(node.test)} {{")

    def _on_For(self, node):
        node.copies = []
        call = node.iter
        called = self.any(call.func) if isinstance(call, ast.Call) else None
        word = called.value if isinstance(called, Ref) and called.kind == "path" else None
        if word == "range":
            head = self._range(node)
        elif word in ("enumerate", "zip"):
            head = self._together(node, word)
        else:
            head = self._each(node)
        self._loop(node, head + " {")

    def _item_name(self, node, target, of, own):
        """The loop's variable for a target: its name, or one that is copied from."""
        if not isinstance(target, ast.Name):
            raise self.fail(target, "a loop's variable is a name here")
        d = self.flow.def_of[target]
        self.def_types[target] = of
        if d.web.own_def is d and len(d.web.defs) == 1:
            d.web.own = own
            if d.web.type is None:
                d.web.type = of
            return d.web.written
        name = self.unit.fresh(self, target.id)
        if isinstance(of, Arr):
            self._no_arrays_anew(target, target.id)
            raise Stop()
        node.copies.append((target, E(name, of, own)))
        return name

    def _range(self, node):
        values = [self.number(a) for a in self.arguments(node.iter, 1, 3)[:len(node.iter.args)]]
        for value, tree in zip(values, node.iter.args):
            if value.type not in _port_types.INTS + ("bool",):
                raise self.fail(tree, f"'range' takes integers, not {show(value.type)}", f"write int({ast.unparse(tree)})")
        case = _port_types.resolve([(of,) * (len(values) + 1) for of in ("i32", "i64", "u64")], [v.type for v in values])
        own = "u64" if case[0] == "u64" else "i64"
        given = [self.to(v, own, node) if v.type == "bool" or own == "u64" else v for v in values]
        if not any(v.own == own for v in given):
            at = next((i for i, v in enumerate(given) if not v.literal), len(given) - 1 if len(given) < 3 else 1)
            given[at] = self.typed(given[at], own) if given[at].literal else self.to(given[at], own, node)
        name = self._item_name(node, node.target, case[0], own)
        return f"for {name} in range({', '.join(v.text for v in given)})"

    def _each(self, node):
        e = self.expr(node.iter)
        if isinstance(e.type, Tup):
            if len(set(e.type.items)) != 1:
                raise self.fail(node.iter, "the items of this tuple are of several types", "write the body for each of them")
            items = [self.typed(self.to(i, e.type.items[0], node), e.type.items[0]).text for i in self.items(e, node)]
            name = self._item_name(node, node.target, e.type.items[0], e.type.items[0])
            return f"for {name} in ({', '.join(items)})"
        of = self._elements(e, node.iter)
        return f"for {self._item_name(node, node.target, of, of)} in {e.text}"

    def _elements(self, e, tree):
        if not isinstance(e.type, Arr):
            raise self.fail(tree, f"a loop goes over a range, a tuple or an array, not {show(e.type)}")
        if isinstance(e.type.elem, Rec):
            raise self.fail(tree, "a loop over records copies them here, other than Numba's", "write for i in range(len(p))")
        return Arr(e.type.elem, e.type.ndim - 1) if e.type.ndim > 1 else e.type.elem

    def _together(self, node, word):
        trees = node.iter.args
        if node.iter.keywords or len(trees) != 1 and word == "enumerate" or not trees:
            raise self.fail(node.iter, f"'{word}' takes {'one array' if word == 'enumerate' else 'arrays'} here")
        arrays = [self.expr(t) for t in trees]
        kinds = [self._elements(a, t) for a, t in zip(arrays, trees)]
        kinds = ["i64"] + kinds if word == "enumerate" else kinds
        if not isinstance(node.target, ast.Tuple) or len(node.target.elts) != len(kinds):
            raise self.fail(node.target, f"{len(kinds)} names are meant here")
        names = [self._item_name(node, t, of, of) for t, of in zip(node.target.elts, kinds)]
        return f"for {', '.join(names)} in {word}({', '.join(a.text for a in arrays)})"
