"""What constants decide in a Numba kernel, for kjit.numba_port: Numba leaves branches away that cannot be taken before it finds
types, so that what stands in them has no say in what a variable is.

It decides a condition that is a constant, or one operation on two of them; constants are literals, numbers from outside of the
function, a.ndim and len(t) of parameters, a parameter that is None beside None, and names that have one of these as the only
value that reaches. What more could be computed Numba does not see, and so it is not decided here either."""
import ast
import copy
import operator

from . import _port_flow, _port_source
from ._port_source import Named, Typed
from ._port_types import Arr, NONE, Tup

_TURNS = 2  # Numba looks before it tells a name's values apart, and once more behind
_COMPARED = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
             ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not}
_BLOCKS = ("body", "orelse")


def pruned(function, types):
    """Two trees of the function for types of its arguments: the one has what Numba compiles, the other also the statements
    that it leaves away, where there are some; all other nodes are those of both."""
    kept = _copied(function.node)
    cut, decided = kept, {}
    for _ in range(_TURNS):
        turn = _Turn(function, types, cut)
        turn.statements(cut.body)
        decided.update(turn.decided)
        if not turn.changed:
            break
        cut = _with_body(kept, decided)
    return cut if decided else kept, kept


def _copied(node):
    result = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(result, name, _copied(value))
        elif isinstance(value, list):
            setattr(result, name, [_copied(v) if isinstance(v, ast.AST) else v for v in value])
    return result


def left_away(cut, kept, comments):
    """The lines of what the one tree has not, with comments in front."""
    stay = {id(getattr(n, "origin", n)) for n in ast.walk(cut) if isinstance(n, ast.stmt)}
    lines = set()
    for node in ast.walk(kept):
        if isinstance(node, ast.stmt) and not any(id(inner) in stay for inner in ast.walk(node)):
            first = node.lineno
            while comments.get(first - 1, (None, False))[1]:
                first -= 1
            lines.update(range(first, node.end_lineno + 1))
    return lines


def _with_body(node, decided):
    """The node with blocks in which decided statements are what is left of them."""
    result = copy.copy(node)
    result.origin = node
    for name in _BLOCKS:
        if isinstance(getattr(node, name, None), list):
            setattr(result, name, _cut(getattr(node, name), decided))
    if not result.body:
        result.body = [ast.copy_location(ast.Pass(), node)]
    return result


def _cut(statements, decided):
    result = []
    for node in statements:
        taken = decided.get(node.test) if isinstance(node, (ast.If, ast.While)) else None
        if isinstance(node, ast.If) and taken is not None:
            result += _cut(node.body if taken else node.orelse, decided)
        elif isinstance(node, ast.While) and taken is False:
            result += _cut(node.orelse, decided)
        elif isinstance(node, (ast.If, ast.For, ast.While)):
            node = _with_body(node, decided)
            if taken:
                node.test = ast.copy_location(ast.Constant(True), node.test)
            result.append(node)
        else:
            result.append(node)
    return result


def _with(node, **parts):
    """The node with other parts; itself where they are its own."""
    same = all(new is old or isinstance(new, list) and len(new) == len(old) and all(a is b for a, b in zip(new, old))
               for new, old in ((new, getattr(node, name)) for name, new in parts.items()))
    if same:
        return node
    result = copy.copy(node)
    for name, new in parts.items():
        setattr(result, name, new)
    return result


class _Turn:
    """One look at a tree: decided {the condition of a statement: what it is}; expressions are changed where they stand."""

    def __init__(self, function, types, tree):
        self.source, self.flow, self.decided, self.changed = function.source, _port_flow.Flow(tree), {}, False
        self.parameters = dict(zip(_port_flow._arguments(tree), types))
        self.values = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._note(target, node.value)

    def _note(self, target, value):
        if isinstance(target, ast.Name):
            self.values[target] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts) <= 3 \
                and not any(isinstance(n, ast.Starred) for n in target.elts + value.elts) \
                and not all(isinstance(n, ast.Constant) for n in value.elts):  # that is one constant, which is taken apart
            for one, other in zip(target.elts, value.elts):
                self._note(one, other)

    # ---- statements ----

    def statements(self, block):
        for node in block:
            is_test = isinstance(node, (ast.If, ast.While))
            taken = self._jump(node.test) if is_test else None
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    self._set(node, name, self._expression(value, is_test))
                elif isinstance(value, list) and name not in _BLOCKS:
                    value[:] = [self._expression(v) if isinstance(v, ast.expr) else v for v in value]
            if taken is not None and not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and taken):
                self.decided[node.test], self.changed = taken, True
            for name in _BLOCKS:
                self.statements(getattr(node, name, None) or ())

    def _set(self, node, name, value):
        """In a statement that stands for another one, in that too."""
        while node is not None:
            setattr(node, name, value)
            node = getattr(node, "origin", None)

    def _expression(self, node, condition=False):
        """An expression without what constants leave away. What a name was given stays as it is until the next look: Numba has
        not told yet which value of a choice that is."""
        if isinstance(node, ast.BoolOp):
            node = _with(node, values=_flat(node))
            threaded = None if condition else _threaded(node)
            if threaded is not None:
                self.changed = True
                return self._expression(threaded)
            return self._bool(node, condition)
        if isinstance(node, ast.IfExp):
            taken = self._jump(node.test)
            if taken is not None:
                self.changed = True
                return self._expression(node.body if taken else node.orelse)
            return _with(node, **{name: self._expression(getattr(node, name), name == "test")
                                  for name in ("test", "body", "orelse")})
        condition = condition and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        parts = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                parts[name] = self._expression(value, condition)
            elif isinstance(value, list):
                parts[name] = [self._part(v) for v in value]
        node = _with(node, **parts)
        return self._chain(node) if isinstance(node, ast.Compare) else node

    def _part(self, node):
        if isinstance(node, ast.keyword):
            return _with(node, value=self._expression(node.value))
        return self._expression(node) if isinstance(node, ast.expr) else node

    def _bool(self, node, condition):
        """`and`, `or`: up to what ends it, without what decides nothing."""
        ends, kept = isinstance(node.op, ast.Or), []
        for value in node.values[:-1]:
            known = self._jump(value) if condition else self._branch(value)
            if known is None or known == ends:
                kept.append(value)
            if known == ends:
                break
        else:
            if not (kept and condition and self._jump(node.values[-1]) is (not ends)):
                kept.append(node.values[-1])
        self.changed |= len(kept) < len(node.values)
        kept = [self._expression(value, condition) for value in kept]
        return _with(node, values=kept) if len(kept) > 1 else kept[0]

    def _chain(self, node):
        """a < b < c without the comparisons in front that are decided."""
        left, ops, sides = node.left, node.ops, node.comparators
        while len(ops) > 1:
            known = self._compared(left, ops[0], sides[0])
            if known is None:
                break
            self.changed = True
            if not known:
                ops, sides = ops[:1], sides[:1]
                break
            left, ops, sides = sides[0], ops[1:], sides[1:]
        return _with(node, left=left, ops=ops, comparators=sides)

    # ---- what is decided ----

    def _jump(self, node):
        """What a condition is, True or False; None: that is not decided. Python's compiler makes several branches of one."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self._jump(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            return self._all([self._jump(v) for v in node.values], node, isinstance(node.op, ast.Or))
        if isinstance(node, ast.IfExp):
            known = self._jump(node.test)
            return None if known is None else self._jump(node.body if known else node.orelse)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            sides = [node.left] + node.comparators
            return self._all([self._compared(a, op, b) for a, op, b in zip(sides, node.ops, sides[1:])], node, False)
        return self._branch(node)

    def _all(self, known, node, ends):
        """Of parts asked one after the other; where a call stands in them, what comes before the end is still done."""
        if all(k is (not ends) for k in known):
            return not ends
        calls = any(isinstance(n, ast.Call) for n in ast.walk(node))
        return ends if ends in known and (known[0] is ends or not calls) else None

    def _branch(self, node):
        """What one branch of Numba's is decided to be."""
        node = self._meant(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node.left, node.ops[0], node.comparators[0])
        if isinstance(node, ast.BinOp) and _folded(node) is None:
            sides = [self._constant(n) for n in (node.left, node.right)]
            if None in sides:
                return None
            value = _port_source.fold(node.op, *(+s.value for s in sides))
            return None if value is None else bool(value)
        found = self._constant(node)
        return None if found is None else bool(found.value)

    def _compared(self, left, op, right):
        none = [self._is_none(n) for n in (left, right)]
        if True in none and None not in none and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return all(none) == isinstance(op, (ast.Is, ast.Eq))
        sides = [self._constant(n) for n in (left, right)]
        if None in sides or type(op) not in _COMPARED or isinstance(op, (ast.Is, ast.IsNot)):
            return None
        try:
            return bool(_COMPARED[type(op)](sides[0].value, sides[1].value))
        except TypeError:
            return None

    def _is_none(self, node):
        """Is it None? None: that is not known, or something else than a constant."""
        node = self._meant(node)
        if isinstance(node, ast.arg) and self.parameters.get(node) == NONE:
            return True
        if isinstance(node, ast.Constant):
            return node.value is None
        found = self._outside(node)
        return None if found is None else found.kind == "none"

    def _outside(self, node):
        """What a name that is not the function's own means, where that is a value."""
        if not isinstance(node, ast.Name) or node.id in self.flow.locals:
            return None
        found = self.source.lookup(node.id)
        return found if found and found.kind in ("value", "none") else None

    def _meant(self, node):
        """What a name has as its only value: an expression, or a parameter; the node itself where there is none."""
        seen = set()
        while isinstance(node, ast.Name) and node in self.flow.uses and node not in seen:
            seen.add(node)
            reached = self.flow.uses[node]
            defs = self.flow.defs_of(node)
            if len(defs) != 1 or _port_flow.UNDEFINED in reached and self._often(node.id) > 1:
                return node
            found = defs[0]
            if found.kind == "param":
                return found.node
            if found.kind != "assign" or found.node not in self.values:
                return node
            node = self.values[found.node]
        return node

    def _often(self, name):
        return sum(d.name == name for d in self.flow.def_of.values())

    def _constant(self, node):
        """The number, a Named, that an expression is to Numba without types; None where it is none."""
        node = self._meant(node)
        found = self._outside(node)
        if found is not None:
            value = found.value.value if isinstance(found.value, Typed) else found.value
            return Named("value", value) if isinstance(value, (bool, int, float, complex)) else None
        value = _folded(node)
        return self._of_types(node) if value is None else Named("value", value)

    def _of_types(self, node):
        """a.ndim and len(t) of parameters."""
        if isinstance(node, ast.Attribute) and node.attr == "ndim":
            of = self.parameters.get(self._meant(node.value))
            return Named("value", of.ndim) if isinstance(of, Arr) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1 \
                and "len" not in self.flow.locals:
            of = self.parameters.get(self._meant(node.args[0]))
            return Named("value", len(of.items)) if isinstance(of, Tup) else None
        return None


def _threaded(node):
    """Of (a and b) or c the choice that it is: where a is false, Python's compiler goes to c at once, so that a is never the
    value; None of anything else."""
    inner, rest = node.values[0], node.values[1:]
    if not isinstance(inner, ast.BoolOp) or any(isinstance(n, ast.Call) for n in ast.walk(inner.values[-1])):
        return None
    if len(rest) > 1:
        rest = [ast.copy_location(ast.BoolOp(node.op, rest), node)]
    ways = [inner.values[-1], rest[0]]
    return ast.copy_location(ast.IfExp(inner, *(ways if isinstance(inner.op, ast.And) else ways[::-1])), node)


def _flat(node):
    """(a or b) or c is a or b or c."""
    return [v for value in node.values
            for v in (_flat(value) if isinstance(value, ast.BoolOp) and type(value.op) is type(node.op) else [value])]


def _folded(node):
    """What Python's compiler computes: operations on literals."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (bool, int, float, complex)) else None
    if isinstance(node, ast.UnaryOp):
        value = _folded(node.operand)
        if value is None or isinstance(node.op, ast.Not):
            return None if value is None else not value
        return _port_source.fold(node.op, +value)
    if isinstance(node, ast.BinOp):
        sides = [_folded(n) for n in (node.left, node.right)]
        return None if None in sides else _port_source.fold(node.op, *(+s for s in sides))
    return None
