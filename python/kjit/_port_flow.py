"""Which assignments of a Python function reach which uses, for kjit.numba_port. Assignments that reach a common use are one
variable of the kernel that is written; others of the same name are another one, as they are to Numba, which types them each."""
import ast


class Def:
    """A place where a name is given a value. path: the blocks it stands in, each with the statement's number there."""

    def __init__(self, name, node, kind, path):
        self.name, self.node, self.kind, self.path = name, node, kind, path
        self.web = None


class Loop:
    """Stands in a set of definitions for: these have come around the loop."""

    def __init__(self, node):
        self.node = node


UNDEFINED = "undefined"


class Web:
    """A variable: definitions and uses that belong together."""

    def __init__(self):
        self.defs, self.uses, self.outside = [], [], set()
        self.undefined = False
        self.name = self.type = self.declared = None

    def place(self):
        """Where it is declared: (block, number of a statement, the Def that declares it by its first value, or None)."""
        paths = [d.path for d in self.defs] + [path for _, path in self.uses]
        chains = [[block for block, _ in path] for path in paths]
        depth = 0
        while all(len(chain) > depth and chain[depth] == chains[0][depth] for chain in chains):
            depth += 1
        for at in range(depth):
            if chains[0][at][0] in self.outside and chains[0][at][1] == "body":
                depth = at
                break
        block = chains[0][depth - 1]
        first = min(path[depth - 1][1] for path in paths)
        here = [path for path in paths if path[depth - 1][1] == first]
        own = [d for d in self.defs if d.path in here and len(d.path) == depth and d.kind in ("assign", "param", "for")]
        return block, first, own[0] if len(here) == 1 and own and not self.undefined else None


class Flow:
    """Of a function's tree: uses {a Name: its Defs}, webs, and whether its end is reached."""

    def __init__(self, node, apart=()):
        self.node, self.path, self.loops, self.apart = node, [], [], apart
        self.uses, self.def_of, self.use_paths, self.around = {}, {}, {}, {}
        self.locals = _locals(node)
        env = {name: frozenset([UNDEFINED]) for name in self.locals}
        top = (node, "body")
        for argument in _arguments(node):
            self._define(argument.arg, argument, "param", env, ((top, -1),))
        self.falls_through = self._block(node.body, env, top) is not None
        self._webs()

    # ---- reaching definitions ----

    def _define(self, name, node, kind, env, path=None):
        if node not in self.def_of:
            self.def_of[node] = Def(name, node, kind, tuple(path or self.path))
        env[name] = frozenset([self.def_of[node]])

    def _block(self, statements, env, block):
        """What holds behind the statements, None where their end is not reached."""
        for number, statement in enumerate(statements):
            if env is None:
                break
            self.path.append((block, number))
            env = self._statement(statement, dict(env))
            self.path.pop()
        return env

    def _statement(self, node, env):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return self._assign(node, env)
        if isinstance(node, ast.If):
            self._read(node.test, env)
            return _join(self._block(node.body, env, (node, "body")), self._block(node.orelse, env, (node, "orelse")))
        if isinstance(node, ast.While):
            return self._while(node, env)
        if isinstance(node, ast.For):
            return self._for(node, env)
        if isinstance(node, (ast.Return, ast.Raise)):
            self._read(node, env)
            return None
        if isinstance(node, (ast.Break, ast.Continue)):
            if self.loops:
                self.loops[-1][isinstance(node, ast.Continue)].append(env)
            return None
        self._read(node, env)
        return env

    def _assign(self, node, env):
        if node.value is not None:
            self._read(node.value, env)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
                self._use(target, env)
                self._define(target.id, target, "aug", env)
            elif node.value is not None:
                self._target(target, env, "assign")
        return env

    def _target(self, target, env, kind):
        if isinstance(target, ast.Name):
            self._define(target.id, target, kind, env)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._target(item, env, kind)
        else:
            self._read(target, env)

    def _around(self, node, env, turn):
        """turn(env) -> (end of a turn, what leaves the loop without a break), until nothing more comes around it."""
        head = env
        while True:
            inside = {name: reached | {self.around.setdefault((node, name), Loop(node))} for name, reached in head.items()}
            self.loops.append(([], []))
            end, leaves = turn(inside)
            breaks, continues = self.loops.pop()
            for back in continues:
                end = _join(end, back)
            merged = _join(head, end)
            if merged == head:
                return leaves, breaks
            head = merged

    def _while(self, node, env):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)

        def turn(inside):
            self._read(node.test, inside)
            return self._block(node.body, inside, (node, "body")), None if endless else inside

        leaves, breaks = self._around(node, env, turn)
        return self._after(node, leaves, breaks)

    def _for(self, node, env):
        self._read(node.iter, env)

        def turn(inside):
            leaves = dict(inside)
            self.path.append(((node, "body"), -1))
            self._target(node.target, inside, "for")
            self.path.pop()
            return self._block(node.body, inside, (node, "body")), leaves

        leaves, breaks = self._around(node, env, turn)
        return self._after(node, leaves, breaks)

    def _after(self, node, leaves, breaks):
        if leaves is not None and node.orelse:
            leaves = self._block(node.orelse, leaves, (node, "orelse"))
        for env in breaks:
            leaves = _join(leaves, env)
        return leaves

    def _read(self, node, env):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                self._use(inner, env)

    def _use(self, node, env):
        if node.id in env:
            self.uses[node] = self.uses.get(node, frozenset()) | env[node.id]
            self.use_paths[node] = tuple(self.path)

    # ---- variables ----

    def defs_of(self, node):
        """The definitions that reach a use."""
        return [d for d in self.uses[node] if isinstance(d, Def)]

    def _webs(self):
        for found in self.def_of.values():
            found.web = Web()
            found.web.defs.append(found)
        for node, reached in self.uses.items():
            defs = self.defs_of(node)
            for other in defs[1:]:
                _merge(defs[0].web, other.web)
            if not defs:
                continue
            web = defs[0].web
            web.uses.append((node, self.use_paths[node]))
            web.outside |= {d.node for d in reached if isinstance(d, Loop)}
            web.undefined |= UNDEFINED in reached
            found = self.def_of.get(node)  # x += 1 goes on with its variable, where that stays of one type
            if found and node.id not in self.apart:
                _merge(web, found.web)
        self.webs = []
        for found in self.def_of.values():
            if found.web not in self.webs:
                self.webs.append(found.web)
        self._name()

    def _name(self):
        """Variables of one name are told apart by numbers, where one would hide the other."""
        taken = set(self.locals)
        for at, web in enumerate(self.webs):
            web.block = web.place()[0]
            base = web.name = web.defs[0].name
            number = 2
            while any(other.name == web.name and _hides(web, other) for other in self.webs[:at]) or (
                    web.name != base and web.name in taken):
                web.name, number = f"{base}_{number}", number + 1


def _hides(a, b):
    """Is one of two variables within reach of the other's name?"""
    def within(web, block):
        return any(block == inner for path in [d.path for d in web.defs] + [path for _, path in web.uses] for inner, _ in path)
    return a.block == b.block or within(a, b.block) or within(b, a.block)


def _merge(into, other):
    if into is other:
        return
    for d in other.defs:
        d.web = into
    into.defs += other.defs
    into.uses += other.uses
    into.outside |= other.outside
    into.undefined |= other.undefined


def _join(a, b):
    if a is None or b is None:
        return a if b is None else b
    return {name: a[name] | b[name] for name in a}


def _arguments(node):
    return node.args.posonlyargs + node.args.args + node.args.kwonlyargs


def _locals(node):
    names = [a.arg for a in _arguments(node)]
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.append(inner.id)
    return dict.fromkeys(names)


def assigned(node):
    """The names that the statements in a node assign."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


# ---- a barrier of the grid behind an early return ----

def is_grid_sync(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute) \
        and node.value.func.attr == "sync"


def _has_sync(node):
    return any(is_grid_sync(inner) for inner in ast.walk(node))


def guard_grid_syncs(node):
    """`if i >= n: return` in front of a barrier of the grid becomes a condition around what is between the barriers, as all
    threads of the grid have to come to them. The tree is changed; True where that was so."""
    for at, statement in enumerate(node.body):
        if _has_sync(statement):
            return False
        if isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1 \
                and isinstance(statement.body[0], ast.Return) and statement.body[0].value is None \
                and any(_has_sync(later) for later in node.body[at + 1:]):
            break
    else:
        return False
    name = "inside"
    while any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node)):
        name += "_"
    test = ast.UnaryOp(ast.Not(), statement.test)
    flag = ast.Assign([ast.Name(name, ast.Store())], test)
    rest = _guarded(node.body[at + 1:], name, statement.test)
    node.body[at:] = [ast.copy_location(flag, statement)] + rest
    for new in ast.walk(flag):
        if not hasattr(new, "lineno"):
            ast.copy_location(new, statement.test)
    return True


def _guarded(statements, name, place):
    done, group = [], []

    def close():
        if group:
            test = ast.copy_location(ast.Name(name, ast.Load()), place)
            done.append(ast.copy_location(ast.If(test, list(group), []), group[0]))
            group.clear()

    for statement in statements:
        if is_grid_sync(statement) or _harmless(statement):
            close()
            done.append(statement)
        elif isinstance(statement, (ast.For, ast.While)) and _has_sync(statement):
            close()
            statement.body = _guarded(statement.body, name, place)
            done.append(statement)
        else:
            group.append(statement)
    close()
    return done


def _harmless(node):
    """A name is given a number that any thread may compute: no element is read, nothing is called that does something."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not all(isinstance(t, ast.Name) for t in targets):
        return False
    for inner in ast.walk(node.value):
        if isinstance(inner, ast.Subscript) and not (isinstance(inner.value, ast.Attribute) and inner.value.attr == "shape"):
            return False
        if isinstance(inner, ast.Call) and (getattr(inner.func, "attr", None) or getattr(inner.func, "id", None)) not in (
                "len", "min", "max", "abs", "int", "float", "grid", "gridsize", "this_grid"):
            return False
    return True
