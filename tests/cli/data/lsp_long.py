"""A long file in `kjit lsp`: lsp_long.py KJIT. After a change in one item that item is analysed first, after a pause all:
the two tell the same, and the first takes a fraction of the other's processor time."""
import os
import sys

from lsp import Client

PART = """# Part {0}.
const C{0}: f32 = {0}.5

fn g{0}(x: f32) -> f32 {{
    let y = x * C{0}      # a comment that makes the text longer than the limit for what is analysed at once, which is
                          # some hundred thousand bytes
    return y + x
}}

@fastmath
kernel k{0}(a: f32[], n: i32) {{
    let i = grid(1)
    if i < a.size {{
        a[i] = g{0}(a[i]) + f32(n)
    }}
}}

"""
PARTS = 1200
text = "".join(PART.format(i) for i in range(PARTS))
assert len(text) > 450000
text = text.replace("let y = x * C7 ", "let unused = 3\n    let y = x * C7 ").replace("let y = x * C1100 ", "let unused = 3\n    let y = x * C1100 ")
client = Client([sys.argv[1], "lsp"])


def processor():
    with open(f"/proc/{client.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settle():
    """Until all of the text was analysed, twice told: the first and the last."""
    first = client.told(uri)
    del client.diagnostics[uri]
    return first, client.told(uri)


def plain(told):
    return sorted((one["range"]["start"]["line"], one["range"]["start"]["character"], one["range"]["end"]["character"], one["code"],
                   one["message"]) for one in told)


begin = processor()
uri = client.open("long.knl", text)
told = client.told(uri)
client.ask_at("hover", uri, 0)
whole = processor() - begin
assert [one["code"] for one in told] == ["unused-variable", "unused-variable"] or len(told) == 2, told

CHANGES = [ # in an item, and how many messages then are told; of warnings that an error hid elsewhere nothing is known at first
    ("let y = x * C600 ", "let y = z * C600 ", 1), # an error: no warnings
    ("let y = z * C600 ", "\n\n    let y = x * C600 ", 2), # none; what is behind it is lower down
    ("g600(a[i]) + f32(n)", "g601(a[i]) + g600(1.0) * C2 + f32(n)\n        let w = 1", 3), # other items, and a warning
    ("let w = 1", "let w = k", 1),
    ("let w = k", "a[0] = 1.0", 2),
    ("kernel k5(a: f32[], n: i32) {", "kernel k5(a: f32[], n: i32, m: i32) {", 3),
    ("const C1199: f32 = 1199.5", "const C1199: f32 = C1198", 3),
]
had_errors = False
for old, new, count in CHANGES:
    client.change(uri, old, new)
    hidden = had_errors
    first, last = settle()
    had_errors = any(one["severity"] == 1 for one in last)
    assert plain(first) == ([] if hidden else plain(last)) and len(last) == count, (new, first, last)

# Beside items, in a name, over items: all is analysed at once; with a brace too few what is told first is of one item.
for old, new in (("# Part 9.\n", "# Part 9.\nconst EXTRA = 1\n"), ("fn g11(", "fn h11("), ("fn h11(", "fn g11(")):
    client.change(uri, old, new)
    told = client.told(uri)
    assert [one["code"] for one in told if one["severity"] == 1] == (["undeclared"] if "h11" in new else []), told
client.change(uri, "a[i] = g13(a[i])", "} a[i] = g13(a[i])")
first, last = settle()
assert first and last, (first, last)
client.change(uri, "} a[i] = g13(a[i])", "a[i] = g13(a[i])")
first, last = settle()
assert len(last) == 3, last
print("the same")

# ---- Time ----
client.ask_at("hover", uri, 0)
begin, keys = processor(), 20
for key in range(keys):
    client.change(uri, "let y = x * C9" + " " * key, "let y = x * C9" + " " * (key + 1))
    client.told(uri)
each = (processor() - begin) / keys
print(f"{whole:.3f} s, then {each:.4f} s")
assert each < whole / 3, (each, whole)
print("faster", client.end())
