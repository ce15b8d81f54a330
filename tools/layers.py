#!/usr/bin/env python3
"""Who may use whom: tools/layers.py BUILD, a part of `make lint`.

A file belongs to the layer that names its path in LAYERS, by the longest part of it. It includes headers and calls
functions of its own layer and of those above it in the list, never of those below; files that use each other in a circle
share a folder, and are at most MOST; and what a layer may not know at all, in BLIND, none of its files reaches by any
header. What is used is read from the #include lines and from the objects in BUILD/obj.

Prints each wrong use as `file -> file: symbol`, then the circles of more than one file; the exit status is 1 when there
is a wrong use or circle."""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = """
compiler/base       memory, text, source positions, diagnostics
compiler/lang       what the language is: tables of types, operators and built-in functions; arithmetic on constants
compiler/kernel.h   what compiled code and a launch agree on
compiler/parse      text -> tokens -> AST, syntax errors
grammar             the lexer and the parser: what flex and bison read
compiler/format     the formatter of source text, `kjit fmt`
compiler/tast       the typed AST: nodes, visits, dump, evaluation on the host
compiler/analysis   analyses of a typed kernel: uniformity, regions between barriers, ranges of indices
compiler/warn       warnings: what may be meant otherwise
compiler/sema       semantic analysis: what it gives to others
compiler/sema/node  semantic analysis: typed nodes, scopes, near names
compiler/sema/value semantic analysis: conversions, operators, literals, elements
compiler/sema/body  semantic analysis: expressions and statements of kernels and functions
compiler/sema/file  semantic analysis: declarations, kernels, run blocks
compiler/target     LLVM module -> object code or PTX: passes, math library, target machines
compiler/lower      typed AST -> LLVM IR: what it gives to others
compiler/lower/ir   LLVM helpers
compiler/lower/tile arithmetic on a gang's values (vectors on the CPU, scalars on a GPU)
compiler/lower/memory loads, stores, gathers and scatters
compiler/lower/gang statements and expressions of one gang, for both devices
compiler/lower/nvptx GPU: what PTX has instructions for
compiler/lower/block a block of threads and the kernel's entry, CPU and GPU
compiler            the pipeline
runtime/device      what a device fills in: its table of functions
runtime/device/cpu  the CPU: thread pool, launches, barriers, checks for races
runtime/device/cuda the GPU: the CUDA driver, launches, copies, memory
runtime/core        handles, contexts, errors, threads, deferred release
runtime/stream      streams, events, the order of work, traces
runtime/array       arrays: memory, shapes, views, copies
runtime/draw        curves and pictures as text and SVG
runtime/io          files of arrays
runtime/module      modules: sources, compiled variants, their cache, messages of faults
runtime/launch      launches: arguments -> work on its way
runtime/run/value   the interpreter of run blocks: its values
runtime/run/lazy    the interpreter of run blocks: fused array expressions
runtime/run         the interpreter of run blocks: expressions, statements, calls
runtime             opening and closing all of that
"""
NAMES = [line.split()[0] for line in LAYERS.strip().splitlines()]
TREES = ["compiler/parse", "compiler/tast", "compiler/analysis", "compiler/sema", "compiler/target/target.h",
         "compiler/lower"]
BLIND = {
    **{f"runtime/{name}": TREES for name in ("device", "core", "stream", "array", "draw", "io")},
    **{f"runtime/{name}": [tree for tree in TREES if tree not in ("compiler/parse", "compiler/sema")]
       for name in ("module", "launch", "run")},
    "compiler/target": ["compiler/parse", "compiler/tast", "compiler/analysis", "compiler/sema"],
}
MOST = 15
ABSENT = "runtime/absent.c" # in libkjit-rt it stands for functions of others


def layer(path):
    """The layer's place in the list."""
    fitting = [name for name in NAMES if path == name or path.startswith(name + "/")]
    if not fitting:
        sys.exit(f"tools/layers.py: {path} belongs to no layer")
    return NAMES.index(max(fitting, key=len))


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "compiler", "runtime", "grammar"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if (ROOT / path).exists()]


def included(files):
    """(file, header) of each #include of a header of ours."""
    known = set(files)
    for path in files:
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', (ROOT / path).read_text(), re.MULTILINE):
            folders = ("compiler", "runtime", str(pathlib.PurePosixPath(path).parent))
            places = [f"{folder}/{name}" for folder in folders]
            yield from ((path, place, "#include") for place in places if place in known)


def called(files, build):
    """(file, file, symbol) of each symbol that one file's object has from another's."""
    defined, used = {}, []
    objects = {path: build / "obj" / (path.rsplit(".", 1)[0] + ".o") for path in files if path.endswith((".c", ".cc")) and path != ABSENT}
    objects["grammar/knl.l"], objects["grammar/knl.y"] = build / "gen/knl.lex.o", build / "gen/knl.tab.o"
    for path, file in objects.items():
        listed = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout
        for kind, symbol in re.findall(r"^[ 0-9a-f]* ([A-Z]) (\S+)$", listed, re.MULTILINE):
            if kind == "U":
                used.append((path, symbol))
            else:
                defined[symbol] = path
    return [(path, defined[symbol], symbol) for path, symbol in used if symbol in defined]


def circles(edges):
    """The sets of files that reach each other (Tarjan's algorithm), those of several files."""
    follow = collections.defaultdict(set)
    for a, b in edges:
        follow[a].add(b)
    number, low, stack, on, found = {}, {}, [], set(), []

    def visit(a):
        number[a] = low[a] = len(number)
        stack.append(a)
        on.add(a)
        for b in follow[a]:
            if b not in number:
                visit(b)
                low[a] = min(low[a], low[b])
            elif b in on:
                low[a] = min(low[a], number[b])
        if low[a] == number[a]:
            circle = []
            while not circle or circle[-1] != a:
                circle.append(stack.pop())
                on.discard(circle[-1])
            if len(circle) > 1:
                found.append(sorted(circle))

    for a in sorted(follow):
        if a not in number:
            visit(a)
    return sorted(found, key=len, reverse=True)


def reached(uses):
    """The headers that each file includes, and they."""
    follow = collections.defaultdict(set)
    for path, header, _ in uses:
        follow[path].add(header)
    for path in list(follow):
        waiting, seen = list(follow[path]), set()
        while waiting:
            header = waiting.pop()
            if header not in seen:
                seen.add(header)
                waiting += follow.get(header, ())
        yield path, seen


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def main():
    sys.setrecursionlimit(10000)
    build = ROOT / sys.argv[1]
    files = sources()
    links, headers = called(files, build), list(included(files))
    wrong = {f"{a} -> {b}: {what}" for a, b, what in headers + links if layer(a) < layer(b)}
    for path, seen in reached(headers):
        wrong |= {f"{path} -> {header}: reached by its headers"
                  for folder, blind in BLIND.items() if inside(path, folder)
                  for header in seen if any(inside(header, tree) for tree in blind)}
    for use in sorted(wrong):
        print(f"  {use}")
    for circle in circles({(a, b) for a, b, _ in links if a != b}):
        folders = {str(pathlib.PurePosixPath(path).parent) for path in circle}
        if len(folders) > 1 or len(circle) > MOST:
            wrong.add("a circle")
        names = " ".join(pathlib.PurePosixPath(path).name for path in circle)
        print(f"  a circle of {len(circle)} files in {', '.join(sorted(folders))}: {names}")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
