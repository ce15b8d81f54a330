"""What kjit says about a program: an index planted outside of its array is told at its line, and warnings as errors
stand at a place and have a name."""
import re

import runner
from build import add, conv, lit
from machine import Exhausted, Undefined
from rng import Rng
from scalars import INTS
from tree import walk

FAR = 1000003       # stands once in the program: where the index is planted
WARNINGS = {"unused-variable", "unused-parameter", "unused-value", "unreachable", "shadowed", "constant-condition",
            "bits-in-chain", "division-by-zero", "step-zero", "index-below-zero", "slow-axis", "few-threads", "same-random", "directive", "same-element",
            "same-blocks", "lost-write", "xor-power", "shift-count", "text-format",
            "turned-assignment", "narrow-arithmetic", "narrow-product", "narrow-literal"}


def index_sites(p):
    """Indices of elements in kernels and functions: (node, which argument)."""
    found = []
    for f in p.helpers + p.functions + p.kernels:
        for n in walk(f.body):
            if n.op == "index":
                found += [(n, k) for k in range(1, len(n.args)) if n.args[k].type in INTS + ("#i",)]
    return found


def plant(p):
    """Moves an index far outside; nothing where the program has none."""
    r = Rng(p.seed ^ 0xfa12)
    sites = index_sites(p)
    if not sites or p.unknown():
        return False
    n, k = r.pick(sites)
    n.args[k] = add(conv("i64", n.args[k]), lit(FAR))
    return True


def lines_of(p):
    """Where the planted index stands: 'program.knl:12'."""
    return {f"{name}:{k}" for name, text in p.files().items() for k, line in enumerate(text.split("\n"), 1)
            if str(FAR) in line}


def outside(tool, p, config):
    """A finding about a planted index, or None. The program is changed."""
    if not plant(p):
        return None
    config.options = [o for o in config.options if o != "--check=none"]
    config.layouts = config.shapes = None
    check = runner.Check(tool, p)
    try:
        check.reference(config.fused)
    except Undefined as error:
        if "index" not in str(error):
            return None             # what it makes undefined comes before it
    except Exhausted:
        return None
    else:
        return check.run(config)    # nobody comes there
    outcome = runner.execute(tool, p, config)
    said = outcome.text if outcome.kind in ("failed", "refused") else ""
    told = {m.group(1) for m in re.finditer(r"(\w+\.knl:\d+):\d+: error: [^\n]*outside", said)}
    if told & lines_of(p):
        return None
    kind = outcome.kind if outcome.kind in ("crash", "hang", "refused") else "unnoticed"  # refused: perhaps for its size
    return runner.Finding(kind, config, f"the index {FAR} at {sorted(lines_of(p))} is not told\n{outcome.text}")


def warned(tool, p, config):
    """A finding of a run whose warnings are errors, or None."""
    config.options.append("--warn=error")
    outcome = runner.execute(tool, p, config)
    if outcome.kind in ("crash", "hang"):
        return runner.Finding(outcome.kind, config, outcome.text)
    if outcome.kind == "ok":
        return runner.Check(tool, p).run(config)
    for line in outcome.text.split("\n"):
        if re.search(r"(error|warning): ", line):
            m = re.search(r"\.knl:\d+:\d+: error: .* \[([a-z-]+)\]$", line)
            if not (m and m.group(1) in WARNINGS) and "more" not in line:
                return runner.Finding("warning", config, f"no warning that has a name: {line}\n{outcome.text[:2000]}")
    return None
