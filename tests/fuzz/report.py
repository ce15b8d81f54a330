"""Writes a finding as a test: the reduced program, how it was found, and what the reference expects of it."""

import scalars
from reduce import Reducer
from scalars import COMPLEX, FLOATS
from tree import number


def write(path, program, finding, original):
    """A file like those of tests/regression; `original` is the finding before the program was made small."""
    config = finding.config
    lines = []
    options = "".join(o + " " for o in config.options if not o.startswith("--device=cpu"))
    if config.on_cuda:
        lines.append("# REQUIRES: double")
    double, check = "%double " if config.on_cuda else "", " | FileCheck %s" if program.printed() else ""
    lines.append(f"# RUN: {double}%kjit run {options}%s{check}")
    lines += ["#", f"# Found by tests/fuzz/fuzz.py --program={program.seed}, with {original.config}"]
    lines += [f"# {line}"[:160].rstrip() for line in finding.text.strip().split("\n")[:12]]
    text = "\n".join(lines) + "\n\n" + program.text()
    checks = expectations(program, config)
    end = text.rindex("}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:end] + "".join(f"    {line}\n" for line in checks) + text[end:])
        for name in program.spaces:     # it stood beside the program
            f.write("".join(f"# {name}.knl: {line}\n" for line in program.part(name).split("\n")))


def expectations(program, config):
    """Asserts on every array that the reference knows."""
    try:
        contents, computed = program.reference(config.fused)
    except Exception:       # a finding of the generator itself
        return []
    unknown = program.unknown()
    lines = [f"# CHECK: {line}" for line in computed.pop("lines")]
    arrays = {name: (t, None, want) for name, (t, want) in program.expected(contents).items() if name not in unknown}
    arrays.update(computed)
    for name, (t, shape, want) in arrays.items():
        lines += array_expectations(name, t, shape, want)
    return lines


def array_expectations(name, t, shape, want):
    wanted = f"{name}_wanted"
    flat = f"{name}.reshape(-1)" if shape is None or len(shape) > 1 else name
    if t in COMPLEX:
        return [line for k, part in enumerate(("real", "imag"))
                for line in array_expectations_of(f"{flat}.{part}", f"{wanted}_{part}", scalars.PART[t], want[k::2])]
    return array_expectations_of(flat, wanted, t, want)


def array_expectations_of(got, wanted, t, want):
    lines = [f"let {wanted} = array([{', '.join(number(x, t) for x in want)}], {t})"]
    if not want:
        return []
    test = f"{got} == {wanted}"
    if t in FLOATS and any(x != x for x in want):
        test = f"({test}) | ({got} != {got}) & ({wanted} != {wanted})"
    lines.append(f"assert(all({test}))")
    if t in FLOATS and any(x == 0 for x in want):
        lines.append(f"assert(all(({got} != 0) | (1 / {got} == 1 / {wanted})))")
    return lines


def reduced(tool, program, finding, known, budget):
    """The finding of a smaller program; the program itself is changed."""
    try:
        return Reducer(tool, program, finding, known, budget).run()
    except Exception as error:      # what was found is worth more than its reduction
        finding.text += f"\n(not reduced: {error!r})"
        return finding
