"""Each kind of value and each member of run_builtins.def: members.py KJIT run_builtins.def. What a message lists of the kind, where
it is certain, has to be what a run finds: it fails with "has no" at all others, and at none of these."""
import json
import re
import subprocess
import sys

kjit, table = sys.argv[1:]
HEAD = "record P { a: f32, b: f32 }\nkernel k(x: f32[]) {\n    x[0] = 1\n}\nrun {\n"
VALUES = {
    "an array": "zeros(4)", "an array of vectors": "zeros(4, f32x2)", "an array of records": "zeros(4, P)", "a list": "[1]",
    "a string": '"a"', "a complex number": "2.5j", "a stream": "stream()", "an event": "event()", "a kernel": "k", "a smart array": "smart_array(zeros(4))",
}
LACKS = re.compile("has no '|only a smart array has|no member '|no field '|without a grid and a block")
rows = re.findall(r'^(?:RUN|DOES)\(\w+, "\.(\w+)", "([^"]*)"', open(table).read(), re.M)
fields = ["x", "y", "z", "w", "real", "imag", "a", "b"]


def ask(command, statement):
    done = subprocess.run([kjit, *command, "-"], input=HEAD + statement + "\n}\n", capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def call(name, signature):
    """With what has to be given."""
    if name == "view":
        return ".view(f32)"
    parts = [part for part in signature.strip("()").split(", ") if part and "=" not in part]
    return f".{name}({', '.join('1' for _ in parts)})" if signature else f".{name}"


wrong = []
for kind, value in VALUES.items():
    told = [json.loads(line) for line in ask(["check", "--diagnostics=json"], f"    let v = {value}\n    print(v.asked)").splitlines()]
    listed = next((set(message["members"]) for message in told if "members" in message), None)
    assert listed is not None, (kind, told)
    for name, signature in rows + [(field, "") for field in fields]:
        text = ask(["run", "--device=cpu"], f"    let v = {value}\n    v{call(name, signature)}" if signature == "()" or name in ("record", "wait", "append", "copy_to_device")
                   else f"    let v = {value}\n    print(v{call(name, signature)})")
        if name in ("forall", "max_cooperative_blocks"):
            text = ask(["run", "--device=cpu"], f"    let v = {value}\n    v.{name}(1)(zeros(4))" if name == "forall"
                       else f"    let v = {value}\n    print(v.{name}(1)(zeros(4)))")
        if (name in listed) == bool(LACKS.search(text)):
            wrong.append((kind, name, name in listed, text))
assert not wrong, "\n".join(map(str, wrong))
