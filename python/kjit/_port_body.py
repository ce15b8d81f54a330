"""A function of a Numba kernel in kjit's language, for kjit.numba_port: its statements and variables.

The types of variables that a loop changes are known only when the whole body was seen, so a body is translated until nothing
changes any more; errors are those of the last time."""
import ast

from . import (_port_assign, _port_bounds, _port_calls, _port_elements, _port_expr, _port_flow, _port_loops, _port_names,
               _port_types)
from ._port_expr import Ref
from ._port_source import Stop
from ._port_types import Arr, GROUP, NONE, Rec, TEXT, Tup, show

_MOST_PASSES = 12
_WORDS = {"FunctionDef": "a function stands outside of the kernel, where its def is no part of another one",
          "ClassDef": None, "Import": "imports stand at the top of the file",
          "ImportFrom": "imports stand at the top of the file",
          "AsyncFunctionDef": None, "AsyncFor": None, "AsyncWith": None, "Match": "write if and elif", "TryStar": None}


class Body(_port_expr.Expressions, _port_elements.Elements, _port_calls.Calls, _port_assign.Assignments,
           _port_names.Variables, _port_loops.Loops):
    """Translates one function for one set of types of its arguments."""

    def __init__(self, unit, function, types, kernel, node):
        self.unit, self.function, self.types, self.kernel = unit, function, types, kernel
        self.node, self.left_away = node, ()
        self.flow = _port_flow.Flow(self.node)
        self.bounds = _port_bounds.Bounds(self.node, self._whole_constant)
        self.def_types, self.values, self.result = {}, {}, None
        self.name = self.lines_done = None
        self.wanted = self.given_narrow = set()  # assignments whose value is wanted in its own type too

    def fail(self, node, message, hint=None):
        """Notes an error; raise it to end the statement."""
        if isinstance(node, (ast.Assign, ast.Return)) and node.value is not None:
            node = node.value
        self.errors.append((self.function.source, node, message, hint))
        return Stop()

    def _whole_constant(self, name):
        if name in self.flow.locals:
            return None
        found = self.function.source.lookup(name)
        value = found.value if found and found.kind == "value" else None
        return value if type(value) is int else None

    # ---- passes ----

    def translate(self):
        """[(indent, text, line in the source)] of the body."""
        for _ in range(_MOST_PASSES):
            before = dict(self.def_types), self.result, set(self.wanted)
            self._pass()
            if (self.def_types, self.result, self.wanted) != before:
                continue
            apart = {d.name for web in self.flow.webs for d in web.defs
                     if d.kind == "aug" and len({self.def_types.get(d.node) for d in web.defs}) > 1} - set(self.flow.apart)
            if not apart:
                return self.lines
            self.flow = _port_flow.Flow(self.node, apart | set(self.flow.apart))
        raise self.fail(self.node, f"the types of '{self.node.name}' come to no end",
                        "give variables one type from the beginning: x = float32(0)")

    def _pass(self):
        self.lines, self.depth, self.line = [], 1, self.node.lineno
        self.given_narrow, self.wanted = self.wanted, set()
        self.errors, self.needs, self.made, self.dynamic = [], {}, set(), 0
        self.conditions, self.loops, self.hoisted, self.renamed, self.narrow = set(), [], {}, {}, {}
        self.use_types = {}
        self.comments = {line: text for line, text in self.function.source.comments.items() if line not in self.left_away}
        self.last_comment = self.function.node.body[0].lineno - 1
        for of in self.types:
            self.spell(of)  # which notes the records
        for web in self.flow.webs:
            self._begin_variable(web)
        self._parameters()
        top = (self.node, "body")
        self._declare_hoisted((top, -1))
        self.block(self.node.body, top)

    def written_lines(self, heads):
        """The whole function, each line with its place: the source, and the line in it."""
        result = self.result
        arrow = "" if self.kernel or result == NONE else f" -> {self.spell(result)}"
        parameters = ", ".join(self.parameters() + ([f"const shared_bytes: i64 = {self.dynamic}"] if self.dynamic else []))
        first = self.node.lineno
        lines = [(head, first) for head in heads]
        lines.append((f"{'kernel' if self.kernel else 'fn'} {self.name}({parameters}){arrow} {{", first))
        lines += [("    " * depth + text if text else text, line) for depth, text, line in self.lines_done]
        return [(text, (self.function.source, line)) for text, line in lines + [("}", first)]]

    def spell(self, of):
        return _port_types.spell(of, self.unit.record)

    # ---- lines ----

    def emit(self, text, node=None):
        line = getattr(node, "lineno", self.line)
        self.lines.append((self.depth, text, line))

    def _comments_to(self, line):
        """Comments that stand alone in front of a line."""
        for at in sorted(self.comments):
            text, alone = self.comments[at]
            if self.last_comment < at < line:
                if alone:
                    self.emit(text)
                del self.comments[at]
        self.last_comment = max(self.last_comment, line - 1)

    def block(self, statements, key):
        for number, statement in enumerate(statements):
            if statement.lineno > self.last_comment:
                self._comments_to(statement.lineno)
            self.line = statement.lineno
            start = len(self.lines)
            self._declare_hoisted((key, number))
            try:
                self.statement(statement)
            except Stop:
                pass  # it was noted; what the statement would have defined has no type, of which nothing is said
            self._trailing(statement, start)

    def _trailing(self, statement, start):
        found = self.comments.get(statement.end_lineno)
        if found and not found[1] and len(self.lines) == start + 1 and not hasattr(statement, "body"):
            depth, text, line = self.lines[start]
            self.lines[start] = (depth, f"{text}  {found[0]}", line)
            del self.comments[statement.end_lineno]

    def _declare_hoisted(self, place):
        for web in self.hoisted.get(place, ()):
            of = web.type
            if of is None or of == GROUP or isinstance(of, (Arr, Rec)):
                continue
            self.emit(f"var {web.written}: {self.spell(of)} = {self._zero(of)}")

    def _zero(self, of):
        if isinstance(of, Tup):
            return f"({', '.join(map(self._zero, of.items))})"
        return "false" if of == "bool" else "0"

    # ---- statements ----

    def statement(self, node):
        method = getattr(self, "_on_" + type(node).__name__, None)
        if method is None:
            kind = type(node).__name__
            shown = {"FunctionDef": "def", "ClassDef": "class", "Delete": "del"}.get(kind, kind.lower())
            hint = {"Try": "a kernel has no exceptions: test the condition",
                    "Raise": "assert condition, \"text\" ends the launch",
                    "Global": "what a kernel changes is an array"}.get(kind, _WORDS.get(kind))
            raise self.fail(node, f"there is no {shown} in a kernel", hint)
        method(node)

    def _on_Pass(self, node):
        pass

    def _on_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            if not isinstance(node.value.value, str):
                return
            for line in node.value.value.strip().splitlines():
                self.emit(f"# {line.strip()}".rstrip(), node)
            return
        e = self.any(node.value)
        if isinstance(e, Ref) or e.type != NONE and e.pure:
            raise self.fail(node, "this does nothing")
        if e.type != NONE and not e.text.endswith(")"):
            raise self.fail(node, "this does nothing")
        inner = e.text
        while e.type != NONE and inner.partition("(")[0] in _port_types.SCALARS and inner.endswith(")"):
            inner = inner.partition("(")[2][:-1]
        self.emit(inner, node)

    def _on_Assert(self, node):
        self._condition(node.test)
        text = self.truth(self.expr(node.test), node.test)
        message = self.expr(node.msg) if node.msg else None
        if message is not None and message.type != TEXT:
            raise self.fail(node.msg, "the message of an assert is a text")
        self.emit(f"assert({text}{', ' + message.text if message else ''})", node)

    def _on_Return(self, node):
        empty = node.value is None or isinstance(node.value, ast.Constant) and node.value.value is None
        if self.kernel and not empty:
            raise self.fail(node, "a kernel returns nothing", "write to an array")
        if empty:
            if self.result not in (None, NONE):
                raise self.fail(node, f"'{self.node.name}' returns {show(self.result)} elsewhere",
                                "return a value on every way")
            self.result = NONE
            self.emit("return", node)
            return
        e = self.expr(node.value)
        if isinstance(e.type, Rec) or e.type in (GROUP, TEXT) or e.type == NONE and e.pure:
            raise self.fail(node, f"a function returns no {show(e.type)} here")
        joined = _port_types.unify(self.result, e.type) if self.result != NONE else None  # NONE: it returns nothing elsewhere
        if joined is None:
            raise self.fail(node, f"'{self.node.name}' returns {show(self.result)} and {show(e.type)}")
        self.result = joined
        given = e if isinstance(joined, Arr) else self.given(e, joined, node)
        text = given.text
        if isinstance(joined, Tup) and given.items:
            text = ", ".join(i.text for i in given.items)
        self.emit(f"return {text}", node)

    def _on_Break(self, node):
        if not self.loops:
            raise self.fail(node, "this stands in no loop")
        if self.loops[-1]:
            self.emit(f"{self.loops[-1]} = true", node)
        self.emit("break", node)

    def _on_Continue(self, node):
        self.emit("continue", node)
