"""Which indices of a Python function are surely not negative, for kjit.numba_port: those of Numba's kernels count from the end
below 0, kjit's do not, so that what may be negative needs a comparison.

Numbers are sums of names and constants; what is known is a set of such sums that are 0 or more: by conditions, by ranges of
loops, by what was assigned. Nothing is kept of elements, which other threads store too, and a statement that is not known here
ends what is known of each name it binds."""
import ast

_INDEX_WORDS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_NOT_NEGATIVE = ("laneid", "warpsize")
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Break, ast.Continue,
           ast.Delete)
_NOT_FOLLOWED = (ast.NamedExpr, ast.Nonlocal, ast.Global, ast.Lambda)
_MOST_FACTS, _MOST_TURNS = 40, 3


def _minus(a, b):
    """a - b of sums: {name: factor, 1: constant}."""
    result = dict(a)
    for key, factor in b.items():
        result[key] = result.get(key, 0) - factor
    return {key: factor for key, factor in result.items() if factor}


def _times(fact, total):
    """As often as one of its names stands in the sum: i >= 0 is 16 * i >= 0."""
    often = max((total[key] // factor for key, factor in fact.items() if key != 1 and factor > 0 and key in total), default=1)
    return {key: factor * max(often, 1) for key, factor in fact.items()}


def _key(total):
    return frozenset(total.items())


def _index_word(node):
    """Of cuda.threadIdx.x "threadIdx.x"."""
    if isinstance(node, ast.Attribute) and node.attr in ("x", "y", "z") and isinstance(node.value, ast.Attribute) \
            and node.value.attr in _INDEX_WORDS:
        return f"{node.value.attr}.{node.attr}"
    return None


def _of_threads():
    """A thread's place is below the block's extent."""
    facts = Facts()
    for axis in "xyz":
        for place, extent in (("threadIdx", "blockDim"), ("blockIdx", "gridDim")):
            facts.add({(True, f"{extent}.{axis}", frozenset()): 1, (True, f"{place}.{axis}", frozenset()): -1, 1: -1})
    return facts


class Facts:
    """Sums that are 0 or more."""

    def __init__(self, sums=()):
        self.sums, self.found = set(sums), None

    def copy(self):
        return Facts(self.sums)

    def add(self, total):
        if len(self.sums) < _MOST_FACTS and not _plain(total):
            self.sums.add(_key(total))
            self.found = None

    def without(self, name):
        return Facts(s for s in self.sums if not any(_mentions(key, name) for key, _ in s))

    def _with(self, key, factor):
        """Those that have a name as often, or as seldom, as it stands in a sum."""
        if self.found is None:
            self.found = {}
            for known in self.sums:
                for inner, often in known:
                    self.found.setdefault((inner, often > 0), []).append(dict(known))
        return self.found.get((key, factor > 0), ())

    def proves(self, total, steps=2):
        """Is the sum 0 or more? By itself, or by one or two of what is known: one of them has what stands in the way."""
        bad = _in_the_way(total)
        if bad is None or _key(total) in self.sums:
            return True
        return steps > 0 and any(self.proves(_minus(total, _times(known, total)), steps - 1)
                                 for known in self._with(bad, total[bad]))


def _mentions(key, name):
    return isinstance(key, tuple) and name in key[2]


def _in_the_way(total):
    """A part of the sum that may be negative: neither a constant nor what stands for no negative number; or None."""
    constant = None
    for key, factor in total.items():
        if key == 1:
            constant = key if factor < 0 else None
        elif factor < 0 or not key[0]:
            return key
    return constant


def _plain(total):
    return _in_the_way(total) is None


def _bound(node):
    """The names that a statement binds or deletes."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _loads(node):
    """Is something in it an element, which may be another one when it is asked again?"""
    return any(isinstance(n, ast.Subscript) and not (isinstance(n.value, ast.Attribute) and n.value.attr == "shape")
               or isinstance(n, ast.Call) for n in ast.walk(node))


class Bounds:
    """sure: the index expressions of a function that are surely not negative."""

    def __init__(self, node, outside):
        self.outside, self.seen, self.sure = outside, {}, set()
        self.record, self.times = True, 0
        self.parameters = {a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs} - \
            {name for statement in node.body for name in _bound(statement)}
        if not any(isinstance(n, _NOT_FOLLOWED) for n in ast.walk(node)):
            self._block(node.body, _of_threads())
            self.sure = {index for index, all_turns in self.seen.items() if all_turns}

    # ---- numbers as sums ----

    def total(self, node, facts):
        """The expression as a sum, or None."""
        if isinstance(node, ast.Constant):
            return {1: node.value} if type(node.value) is int and node.value else {} if type(node.value) is int else None
        if isinstance(node, ast.Name):
            value = self.outside(node.id)
            if type(value) is int:
                return {1: value} if value else {}
            return {(False, "name", frozenset([node.id])): 1}
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.total(node.left, facts), self.total(node.right, facts)
            if left is None or right is None:
                return None
            return _minus(left, right if isinstance(node.op, ast.Sub) else {k: -f for k, f in right.items()})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.total(node.operand, facts)
            return None if inner is None else {k: -f for k, f in inner.items()}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            product = self._product(node, facts)
            if product is not None:
                return product
        word = _index_word(node)
        if word:
            return {(True, word, frozenset()): 1}
        names = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        self.times += _loads(node)
        return {(self._not_negative(node, facts), f"{ast.dump(node)} {self.times if _loads(node) else ''}", names): 1}

    def _product(self, node, facts):
        """By a constant."""
        left, right = self.total(node.left, facts), self.total(node.right, facts)
        for constant, other in ((left, right), (right, left)):
            if constant is not None and other is not None and set(constant) <= {1}:
                return {k: f * constant.get(1, 0) for k, f in other.items() if constant.get(1, 0)}
        return None

    def not_negative(self, node, facts):
        total = self.total(node, facts)
        return total is not None and facts.proves(total)

    def _not_negative(self, node, facts):
        """Of what is no sum."""
        sure = lambda inner: self.not_negative(inner, facts)
        if isinstance(node, ast.BinOp):
            most = {ast.LShift: 31, ast.Pow: 2}.get(type(node.op))  # of what may leave 64 bits
            if most is not None and not (isinstance(node.right, ast.Constant) and node.right.value in range(most + 1)):
                return False
            if isinstance(node.op, (ast.Mult, ast.FloorDiv, ast.RShift, ast.LShift, ast.Pow)):
                return sure(node.left) and sure(node.right)
            if isinstance(node.op, ast.Mod):
                return sure(node.right)
            return isinstance(node.op, ast.BitAnd) and (sure(node.left) or sure(node.right))
        if isinstance(node, ast.IfExp):
            return sure(node.body) and sure(node.orelse)
        if isinstance(node, ast.Attribute):
            of_array = isinstance(node.value, ast.Name) and node.value.id in self.parameters and node.attr in ("size", "ndim")
            return of_array or node.attr in _NOT_NEGATIVE and isinstance(node.value, ast.Name) and node.value.id not in self.parameters
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return isinstance(node, ast.Call) and self._call(node, sure)

    def _call(self, node, sure):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("grid", "gridsize", "len", "abs", "popc", "clz", "ffs"):
            return True
        if name in ("int", "int64", "int32", "uint32", "uint64") and len(node.args) == 1:
            value = self.total(node.args[0], Facts())
            fits = value is None or set(value) != {1} or value[1] < 2 ** 31
            return fits and sure(node.args[0])
        if name == "min":
            return bool(node.args) and all(map(sure, node.args))
        return name == "max" and any(map(sure, node.args))

    # ---- conditions ----

    def assume(self, test, facts, holds):
        """Adds what follows from a condition that holds, or does not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.assume(test.operand, facts, not holds)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
            for value in test.values:
                self.assume(value, facts, holds)
        elif isinstance(test, ast.Compare) and (holds or len(test.ops) == 1):
            for left, op, right in zip([test.left] + test.comparators, test.ops, test.comparators):
                self._compare(left, op, right, facts, holds)

    def _compare(self, left, op, right, facts, holds):
        a, b = self.total(left, facts), self.total(right, facts)
        if a is None or b is None:
            return
        less = {ast.Lt: (b, a, 1), ast.LtE: (b, a, 0), ast.Gt: (a, b, 1), ast.GtE: (a, b, 0)}
        if not holds:
            less = {ast.Lt: (a, b, 0), ast.LtE: (a, b, 1), ast.Gt: (b, a, 0), ast.GtE: (b, a, 1)}
        found = less.get(type(op))
        if found:
            facts.add(_minus(_minus(found[0], found[1]), {1: found[2]} if found[2] else {}))
        elif isinstance(op, ast.Eq if holds else ast.NotEq):
            facts.add(_minus(a, b))
            facts.add(_minus(b, a))
        elif isinstance(op, ast.NotEq if holds else ast.Eq):
            for one, other in ((a, b), (b, a)):  # i != 0 where i is not negative: 1 or more
                if facts.proves(_minus(one, other)):
                    facts.add(_minus(_minus(one, other), {1: 1}))

    # ---- statements ----

    def _block(self, statements, facts):
        for statement in statements:
            if facts is None:
                return None
            facts = self._statement(statement, facts)
        return facts

    def _statement(self, node, facts):
        if isinstance(node, ast.If):
            self._look(node.test, facts)
            yes, no = facts.copy(), facts.copy()
            self.assume(node.test, yes, True)
            self.assume(node.test, no, False)
            return self._join(self._block(node.body, yes), self._block(node.orelse, no))
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, facts)
        if isinstance(node, _SIMPLE):
            self._look(node, facts)
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        names = _bound(node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            target, value = node.target, node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            target, value = node.target, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        else:
            target = value = None
        if isinstance(target, ast.Name):
            return self._assign(target, value, facts)
        if isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(item, ast.Name) for item in target.elts):
            return self._unpack(target, value, facts)
        for name in names:
            facts = facts.without(name)
        return facts

    def _assign(self, target, value, facts):
        total, name = self.total(value, facts), target.id
        if total is None:
            return facts.without(name)
        own = (False, "name", frozenset([name]))
        if total.get(own) == 1 and not any(_mentions(k, name) for k in total if k != own):  # i += 1: what was known moves along
            step = {k: f for k, f in total.items() if k != own}
            moved = Facts()
            for known in map(dict, facts.sums):
                factor = known.get(own, 0)
                if any(_mentions(k, name) for k in known if k != own):
                    continue
                moved.sums.add(_key(_minus(known, {k: f * factor for k, f in step.items()}) if factor else known))
            return moved
        least = next((n for n in (1, 0) if facts.proves(_minus(total, {1: n} if n else {}))), None)
        after = facts.without(name)
        if least is not None:
            after.add({own: 1, **({1: -least} if least else {})})
        if not any(_mentions(k, name) for k in total):
            after.add(_minus({own: 1}, total))
            after.add(_minus(total, {own: 1}))
        return after

    def _unpack(self, target, value, facts):
        items = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
        sure = [self.not_negative(item, facts) for item in items] if items else [self._not_negative(value, facts)
            or isinstance(value, ast.Attribute) and value.attr == "shape"] * len(target.elts)
        for item in target.elts:
            if isinstance(item, ast.Name):
                facts = facts.without(item.id)
        for item, one in zip(target.elts, sure):
            if isinstance(item, ast.Name) and one:
                facts.add({(False, "name", frozenset([item.id])): 1})
        return facts

    def _join(self, a, b):
        if a is None or b is None:
            return a if b is None else b
        both = Facts(a.sums & b.sums)
        for s in (a.sums | b.sums) - both.sums:
            total = dict(s)
            if a.proves(total) and b.proves(total):
                both.add(total)
            elif len(s) <= 2:  # i >= 1 here and i >= 0 there
                total[1] = total.get(1, 0) + 1
                total = {k: f for k, f in total.items() if f}
                if a.proves(total) and b.proves(total):
                    both.add(total)
        return both

    def _loop(self, node, facts):
        """What holds in each turn: what holds in front of it, as long as a turn keeps it."""
        self._look(node.iter if isinstance(node, ast.For) else None, facts)
        names = _bound(node)
        fixed = facts
        for name in names:
            fixed = fixed.without(name)
        kept = {s for s in facts.sums if s not in fixed.sums}
        kept |= {_key({(False, "name", frozenset([name])): 1}) for name in names
                 if facts.proves({(False, "name", frozenset([name])): 1})}
        record, self.record = self.record, False
        for attempt in range(_MOST_TURNS):
            end = self._turn(node, Facts(fixed.sums | kept)) if kept else None
            failed = {s for s in kept if end is not None and not end.proves(dict(s))}
            if any(isinstance(n, ast.Continue) for n in ast.walk(node)):  # what a continue brings is not followed
                failed |= {s for s in kept if any(_mentions(k, name) for k, _ in s for name in names)}
            if not failed:
                break
            kept = kept - failed if attempt < _MOST_TURNS - 1 else set()
        self.record = record
        head = Facts(fixed.sums | kept)
        self._turn(node, head.copy())
        done = head.copy()
        if isinstance(node, ast.While):
            self.assume(node.test, done, False)
        done = self._block(node.orelse, done)
        if not any(isinstance(n, ast.Break) for n in ast.walk(node)):
            return done
        for name in names:
            head = head.without(name)
        return self._join(done, head)

    def _turn(self, node, facts):
        if isinstance(node, ast.While):
            self._look(node.test, facts)
            self.assume(node.test, facts, True)
        else:
            facts = self._range(node, facts)
        return self._block(node.body, facts)

    def _range(self, node, facts):
        facts = facts.copy()
        names = [n for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        bound = _bound(node)
        for name in names:
            facts = facts.without(name.id)
        call = node.iter
        if isinstance(call, ast.Tuple) and len(names) == 1 and all(self.not_negative(item, facts) for item in call.elts):
            facts.add({(False, "name", frozenset([names[0].id])): 1})
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args):
            return facts
        if call.func.id == "enumerate" and isinstance(node.target, ast.Tuple):
            facts.add({(False, "name", frozenset([node.target.elts[0].id])): 1})
        if call.func.id != "range" or not isinstance(node.target, ast.Name):
            return facts
        args = [self.total(a, facts) for a in call.args]
        own = {(False, "name", frozenset([node.target.id])): 1}
        start, stop = ({}, args[0]) if len(args) == 1 else (args[0], args[1])
        step = args[2] if len(args) == 3 else {1: 1}
        if start is None or stop is None or step is None:
            return facts
        changes = lambda total: any(_mentions(key, name) for key in total for name in bound)  # what it was in front is gone
        from_start, to_stop = _minus(own, start), _minus(stop, own)
        if facts.proves(step):
            if facts.proves(start):
                facts.add(own)
            if not changes(start):
                facts.add(from_start)
            if not changes(stop):
                facts.add(_minus(to_stop, {1: 1}))
        elif set(step) == {1} and step[1] < 0:
            if not changes(start):
                facts.add(_minus({}, from_start))
            if not changes(stop):
                facts.add(_minus(_minus({}, to_stop), {1: 1}))
            if facts.proves(_minus(stop, {1: -1})):
                facts.add(own)
        return facts

    # ---- indices ----

    def _look(self, node, facts):
        """Notes the indices in an expression; those of `a and b` and `x if c else y` are there under their conditions."""
        if node is None:
            return
        if isinstance(node, ast.BoolOp):
            facts = facts.copy()
            for value in node.values:
                self._look(value, facts)
                self.assume(value, facts, isinstance(node.op, ast.And))
            return
        if isinstance(node, ast.IfExp):
            self._look(node.test, facts)
            for branch, holds in ((node.body, True), (node.orelse, False)):
                known = facts.copy()
                self.assume(node.test, known, holds)
                self._look(branch, known)
            return
        if isinstance(node, ast.Subscript):
            self._index(node.slice, facts)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            self._index(node.args[1], facts)
        for child in ast.iter_child_nodes(node):
            self._look(child, facts)

    def _index(self, index, facts):
        if not self.record:
            return
        for item in index.elts if isinstance(index, ast.Tuple) else [index]:
            if not isinstance(item, (ast.Slice, ast.Starred)):
                self.seen[item] = self.seen.get(item, True) and self.not_negative(item, facts)
