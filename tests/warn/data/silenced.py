"""silenced.py RULES FOLDER KJIT...: the example of each warning (FOLDER/NAME.knl, of the rules of diag.def) is told, under its
name alone; by --warn=no-NAME it is not; and what its hint says of it, or what its page does, takes it away."""
import pathlib
import re
import subprocess
import sys
import tempfile

WAYS = {  # name -> (what stands in the example, what is written instead) ...
    "unused-variable": [("i, j", "i, _j"), ("sum", "_sum")],
    "unused-parameter": [("y: f32[]", "_y: f32[]")],
    "unused-value": [("{ sqrt", "{ let _v = sqrt"), ("x.sum()", "let v = x.sum()")],
    "unreachable": [("        x[0] = 0.0\n", "")],
    "shadowed": [("let scale = 0.1; x[1] = scale", "let other = 0.1; x[1] = other")],
    "constant-condition": [("x[i] >= 0", "x[i] > 0"), ("true or ", "")],
    "bits-in-chain": [("1 & a", "(1 & a)")],
    "division-by-zero": [("// 0", "// 2")],
    "step-zero": [(", 0)", ", 1)")],
    "index-below-zero": [("i < x.size", "i > 0 and i < x.size")],
    "slow-axis": [("i, j = grid", "j, i = grid")],
    "few-threads": [("n // 256", "ceil_div(n, 256)")],
    "same-blocks": [("double[4, 256]", "double[1, 1000]")],
    "same-element": [("out[0] += x[i]", "atomic.add(out, 0, x[i])")],
    "lost-write": [("    double[4, 256](to_device(x))", "    let d = to_device(x)\n    double[4, 256](d)")],
    "xor-power": [("2 ^ 10", "0x2 ^ 0xa")],
    "shift-count": [("<< 40", "<< 20")],
    "directive": [("#if", "# if"), ("#pragma", "# pragma"), ("#endif", "# endif")],
    "turned-assignment": [("=- 1.0", "= -1.0")],
    "same-random": [("x[i] = random.uniform(0, 1)", "let k = 1; x[i] = random.uniform(0, k)")],
    "text-format": [('"n = {n}"', 'f"n = {n}"'), ('"%d of %5.2f", n, 2.5', 'f"{n} of {2.5:5.2f}"')],
    "narrow-arithmetic": [("(a[i] + b[i]) // 2", "u8(a[i] + b[i]) // 2")],
    "narrow-literal": [("half(0.1)", "half(f32(0.1))")],
    "narrow-product": [("= rows * columns", "= i32(rows * columns)")],
}


def told(kjit, path, *options):
    run = subprocess.run([*kjit, "check", *options, path], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{path}: {run.stderr}")
    return set(re.findall(r"warning: .*\[([a-z-]+)\]$", run.stderr, re.MULTILINE))


def main():
    rules, folder, *kjit = sys.argv[1:]
    names = re.findall(r'^RULE\([A-Z_]*, "([a-z-]*)", WARNING', pathlib.Path(rules).read_text(), re.MULTILINE)
    if set(names) != set(WAYS):
        sys.exit(f"no way is listed of {set(names) ^ set(WAYS)}")
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            example = pathlib.Path(folder) / f"{name}.knl"
            if told(kjit, example) != {name} or told(kjit, example, f"--warn=no-{name}"):
                sys.exit(f"{name}: {told(kjit, example)} is told, without it {told(kjit, example, f'--warn=no-{name}')}")
            text = example.read_text()
            for old, new in WAYS[name]:
                if old not in text:
                    sys.exit(f"{example} has no '{old}'")
                text = text.replace(old, new)
            silent = pathlib.Path(made) / "silent.knl"
            silent.write_text(text)
            if told(kjit, silent):
                sys.exit(f"{text}\nis told: {told(kjit, silent)}")


main()
