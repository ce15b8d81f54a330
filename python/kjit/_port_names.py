"""Variables of a Numba kernel, for kjit.numba_port: what each is declared as, and what it is where it is used."""
from . import _port_flow, _port_types
from ._port_expr import E
from ._port_source import Stop
from ._port_types import Arr, GROUP, NONE, Rec, TEXT, Tup, show


class Variables:
    """The part of a function's translation that declares and reads variables."""

    def _begin_variable(self, web):
        """What is known of a variable when a pass begins: its type by the pass before, where it is declared."""
        web.alias = web.type = None
        web.clash = False
        for d in web.defs:
            known = self.def_types.get(d.node)
            joined = _port_types.unify(web.type, known)
            web.clash |= joined is None and known is not None
            web.type = web.type if joined is None else joined
        web.own, web.written = web.type, self.unit.local_name(web)
        block, number, web.own_def = web.place()
        if web.own_def is None:
            self.hoisted.setdefault((block, number), []).append(web)

    def variable(self, node):
        """What a name stands for, where it is used."""
        e = self._variable(node)
        self.use_types[node] = e.type
        return e

    def _variable(self, node):
        defs = self.flow.defs_of(node)
        if not defs:
            raise self.fail(node, f"'{node.id}' has no value here")
        web = defs[0].web
        of = None
        for d in defs:
            known = self.def_types.get(d.node)
            joined = _port_types.unify(of, known)
            if joined is None and known is not None and not (isinstance(of, Arr) or isinstance(known, Arr)):
                raise self.fail(node, f"'{node.id}' is {show(of)} here and {show(known)} there",
                                "give the one another name, or both one type")
            of = joined if joined is not None else of
        if of is None or web.type is None:
            raise Stop()
        if web.alias is not None:
            return web.alias
        e = E(web.written, of, web.own)
        if web.own == of or isinstance(of, (Arr, Tup)):
            return e
        if web.own in _port_types.INTS and of in _port_types.INTS and web.own == "i64":
            return e
        if not _port_types.holds(web.own, of) and not self._constants(defs):
            kept = self._kept_narrow(node, defs)
            if kept is not None:
                return kept
            raise self.fail(node, f"'{node.id}' is {show(of)} here and {show(web.type)} later, which does not hold all of it",
                            f"give it one type from the beginning: {node.id} = {'float(...)' if web.type == 'f64' else '...'}")
        return E(f"{of}({web.written})", of)

    def _kept_narrow(self, node, defs):
        """The one value that reaches here, in its own type, where the variable has a wider one: by a name of its own."""
        d = defs[0]
        block = d.path[-1][0]
        if len(defs) > 1 or not any(block == inner for inner, _ in self.flow.use_paths[node]) or any(
                block == (loop, "body") for loop in d.web.outside):
            return None
        if d.kind == "param":
            return E(self.renamed[d.node], self.def_types[d.node])
        self.wanted.add(d.node)
        return self.narrow.get(d.node) or E(d.web.written, self.def_types[d.node])

    def _constants(self, defs):
        """Are all small whole numbers, which any type holds?"""
        return all(isinstance(self.values.get(d.node), (int, float)) and abs(self.values[d.node]) < 2 ** 24 for d in defs)

    def define(self, target, e, node):
        """Gives a name a value: declares it, or assigns."""
        d = self.flow.def_of[target]
        web = d.web
        self.def_types[target] = e.type
        self.values[target] = e.value if e.literal else None
        if web.clash or (web.type is not None and _port_types.unify(web.type, e.type) is None):
            raise self.fail(target, f"'{target.id}' is {show(e.type)} here and {show(web.type)} before",
                            "give the one another name")
        if e.type == GROUP:
            web.alias, web.type = e, GROUP
            return
        if target in self.given_narrow:
            name = self.unit.fresh(self, f"{target.id}_{e.type}")
            e = self.settled(e)
            self.emit(f"let {name} = {self.typed(e, e.type).text}", node)
            e = self.narrow[target] = E(name, e.type)
        if isinstance(e.type, Rec):
            self._name_record(web, target, e)
            return
        if e.type in (NONE, TEXT):
            raise self.fail(node, "a text is no value of a variable" if e.type == TEXT else "this gives no value")
        if isinstance(e.type, Arr):
            self._name_array(web, target, e)
            return
        of = web.type if web.type is not None else e.type
        if web.own_def is d and len(web.defs) == 1:
            self._let(web, e, of, node)
        elif web.own_def is d:
            web.own = of
            given = self.given(e, of, node)
            bare = not given.literal and e.own == of and not isinstance(of, Tup)
            self.emit(f"var {web.written}{'' if bare else ': ' + self.spell(of)} = {given.text}", node)
        else:
            web.own = of
            self.emit(f"{web.written} = {self.given(e, of, node).text}", node)

    def _let(self, web, e, of, node):
        if e.literal or isinstance(of, Tup) and e.items:
            web.own = of
            self.emit(f"let {web.written}: {self.spell(of)} = {self.given(e, of, node).text}", node)
        else:
            e = self.settled(e) if not isinstance(of, Tup) else e
            web.own = e.own
            self.emit(f"let {web.written} = {e.text}", node)

    def _name_array(self, web, target, e):
        if len(web.defs) > 1 or web.own_def is None:
            self._no_arrays_anew(target, target.id)
            raise Stop()
        web.own = e.type
        if not self.unit.is_table(e.text):
            self.emit(f"let {web.written} = {e.text}", target)
        else:
            web.alias = e

    def _name_record(self, web, target, e):
        """A record's name is the element that it was taken from, as it is to Numba, and no copy."""
        if len(web.defs) > 1 or web.own_def is None:
            raise self.fail(target, f"'{target.id}' is another record already", "a record has one name here")
        web.type = e.type
        end = e.text.rfind("]")
        start = _opening(e.text, end)
        if start < 0:
            web.alias = E(e.text, e.type)
            return
        kept = []
        for index in _port_types.split(e.text[start + 1:end]):
            index = index.strip()
            if not index.isdigit():
                name = self.unit.fresh(self, target.id + "_at")
                self.emit(f"let {name} = {index}", target)
                index = name
            kept.append(index)
        web.alias = E(f"{e.text[:start]}[{', '.join(kept)}]{e.text[end + 1:]}", e.type)

    def _parameters(self):
        for argument, of in zip(_port_flow._arguments(self.node), self.types):
            d = self.flow.def_of[argument]
            self.def_types[argument] = of
            web = d.web
            if web.type is None or web.type == of or isinstance(of, (Arr, Rec)) or of == NONE:
                web.type = web.own = of
                if len(web.defs) > 1 and isinstance(of, Arr):
                    others = [x for x in web.defs if x is not d]
                    self._no_arrays_anew(others[0].node, argument.arg)
                continue
            parameter = self.renamed[argument] = self.unit.fresh(self, argument.arg)  # it becomes another type later
            self.emit(f"var {web.written}: {self.spell(web.type)} = "
                      f"{self.given(E(parameter, of), web.type, argument).text}", argument)

    def _no_arrays_anew(self, node, name):
        once = len(self.flow.def_of[node].web.defs) == 1 if node in self.flow.def_of else False
        what = "is no array on some ways to where it is used" if once else "is another array already"
        self.fail(node, f"'{name}' {what}",
                  "an array has one name here: choose it by `a if c else b`, where it begins")

    def parameters(self):
        """["x: f32[]", ...]"""
        texts = []
        for argument, of in zip(_port_flow._arguments(self.node), self.types):
            if of == NONE:
                continue
            web = self.flow.def_of[argument].web
            name = self.renamed.get(argument) or web.written
            texts.append(f"{name}: {self.spell(of)}")
        return texts


def _opening(text, end):
    """Where the bracket opens that closes there; -1: there is none."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth == 0:
            return at if end >= 0 else -1
    return -1
