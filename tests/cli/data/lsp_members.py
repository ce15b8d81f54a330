"""What completion has behind a dot: lsp_members.py KJIT FOLDER. Each case is an expression that ends with a dot, and the names
that are there; the kernels' arrays and the run block's have what `kjit check --diagnostics=json` says of a name that they have not."""
import json
import os
import pathlib
import subprocess
import sys

from lsp import Client

kjit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
client = Client([kjit, "lsp"], workspaceFolders=[{"uri": folder.absolute().as_uri(), "name": "x"}])

HEAD = """use "other.knl"
use std.sort

const N = 4

enum Cell: u8 { EMPTY, WALL }

record Leaf { width: f32, pos: f32x3 }
record Tree { leaf: Leaf, height: f32, size: f32 }

fn pair(x: f32) -> f32x2 {
    return f32x2(x, x)
}

fn leaf_of(t: Tree) -> Leaf {
    return t.leaf
}

kernel other_kernel(x: f32[]) {
    x[0] = 1
}

"""
(folder / "other.knl").write_text("record Bird { wings: i32 }\nfn fly(b: Bird) -> i32 {\n    return b.wings\n}\n")
KERNEL = HEAD + """kernel k<T: float>(x: f32[], m: f64[,], t: Tree[], v: f32x4, z: c64, zs: c64[], n: i32, any_x: T[], f: other.Bird) {
    let i = grid(1)
    let own = x[1:]
    let tile = shared.array(16, f32)
    if i < x.size {
        for leaf in t {
            HERE
        }
    }
}

kernel broken(a: f32[] { let = (
"""
RUN = HEAD + """run {
    let s = stream()
    let e = event()
    let a = zeros(3)
    let grid = ones((2, 2), i32)
    let trees = zeros(3, Tree)
    let waves = zeros(3, c64)
    let one = Tree()
    let list = [1, 2]
    let both = smart_array(a)
    for tree in trees {
        with stream() as queue {
            HERE
        }
    }
}
"""
opened = 0


def items(frame, line, behind="\n"):
    """What stands at the | of the line, or at its end."""
    global opened
    opened += 1
    before, _, rest = line.partition("|")
    head, tail = frame.split("HERE")
    text = head + before + rest + tail if behind == "\n" else head + before + behind
    uri = client.open(folder / f"case{opened}.knl", text)
    where = client.at(uri, len(head + before))
    found = client.request("textDocument/completion", {"textDocument": {"uri": uri}, "position": where})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return {one["label"]: one for one in found}


def members(source):
    """Those that a message has of the name `asked`."""
    done = subprocess.run([kjit, "check", "--diagnostics=json", "-"], input=source, capture_output=True, text=True, timeout=60)
    lists = [m["members"] for m in map(json.loads, (done.stdout + done.stderr).splitlines()) if "members" in m]
    assert len(lists) == 1, (source, done)
    return set(lists[0])


def expect(frame, cases, **more):
    for line, wanted in cases.items():
        found = set(items(frame, line, **more))
        wanted = set(wanted.split()) if isinstance(wanted, str) else wanted
        assert found == wanted, (line, found ^ wanted)


# ---- Kernels ----
array = members("kernel k(x: f32[]) {\n    let a = x.asked\n}\n")
assert {"shape", "size", "T", "reshape", "ravel", "sum", "prod", "view"} <= array, array
assert not array & {"copy_to_host", "append", "forall", "cumsum", "record", "x"}, array
plain = {"shape", "size", "ndim", "strides", "steps", "T", "reshape", "ravel"}
CASES = {
    "threadIdx.": "x y z", "blockIdx.": "x y z", "let b = blockDim.": "x y z", "n = gridDim.|x": "x y z",
    "x.": array, "own.": array, "tile.": array, "m.": array, "m.T.": array, "any_x.": array, "x.ravel().": array, "(x).": array,
    "x[1:].": array, "m[0].": array, "t.": plain | {"leaf", "height"}, "zs.": plain | {"real", "imag"},
    "t[0].": "leaf height size", "leaf.": "leaf height size", "t[i + m.shape[0]].leaf.": "width pos",
    "t[0].leaf.pos.": "x y z view", "leaf_of(t[i]).": "width pos", "leaf_of(t[i]).pos.|x + 1": "x y z view",
    "v.": "x y z w view", "z.": "real imag", "zs[i].": "real imag", "pair(1).": "x y view", "f.": "wings", "f32x3(1, 2, 3).": "x y z view",
    "n.": "view", "x[0].": "view", "x.shape.": "", "other_kernel.": "", "Cell.": "EMPTY WALL", "shared.": "array",
    "x[0] = v.|y": "x y z w view", "x[zs[0].": "real imag", "let q = max(x[0], z.|real)": "real imag", "elsewhere = t[0].": "leaf height size",
    "if v.|x > 0 { x[0] = 1 }": "x y z w view", "while z.|real < 3 { x[0] = 1 }": "real imag",
}
expect(KERNEL, CASES)
atomic = items(KERNEL, "atomic.")
assert {"add", "max", "cas"} <= set(atomic) and atomic["add"]["detail"].startswith("atomic.add("), atomic
assert {"uniform", "normal"} <= set(items(KERNEL, "x[0] = random."))
assert items(KERNEL, "x.")["sum"]["kind"] == 3 and items(KERNEL, "x.")["shape"]["kind"] == 5
assert items(KERNEL, "t[0].")["height"]["detail"] == "height: f32"
unknown = set(items(KERNEL, "nobody."))
assert array | {"leaf", "width", "x", "w", "real"} <= unknown and not unknown & {"copy_to_host", "append", "forall", "query", "cumsum"}
print("in kernels")

# ---- Run blocks ----
array = members("run {\n    let a = zeros(3)\n    print(a.asked)\n}\n")
assert {"copy_to_host", "sum", "cumsum", "shape", "T"} <= array and not array & {"append", "forall", "prod", "query", "host", "x"}, array
numbers = "sum mean std var min max argmin argmax all any cumsum"
smart = "host gpu host_changed gpu_changed shape size ndim dtype"
CASES = {
    "a.": array, "a.T.": array, "a.reshape(3, 1).": array, "to_device(a).": array, "grid[0].": array, "a.|sum()": array,
    "trees.": array | {"leaf", "height"}, "waves.": array | {"real", "imag"}, "waves[0].": "real imag",
    "trees[0].": "leaf height size", "tree.": "leaf height size", "one.": "leaf height size", "print(one.|height)": "leaf height size",
    "s.": "synchronize auto_synchronize query wait", "queue.": "synchronize auto_synchronize query wait",
    "e.": "synchronize query record wait", "list.": f"append {numbers}", "both.": smart, "other_kernel.": "forall max_cooperative_blocks",
    "random.": "uniform normal randint", "a.shape.": numbers, "a.size.": "", "Cell.": "EMPTY WALL", "event().": "synchronize query record wait",
}
expect(RUN, CASES)
assert items(RUN, "list.")["append"]["detail"] == ".append(item)"
unknown = set(items(RUN, "nobody."))
assert array | {"append", "forall", "query", "leaf", "x", "real"} <= unknown and "prod" not in unknown, unknown
print("in run blocks")

# ---- Files ----
expect(KERNEL, {"other.": "Bird fly", "other.Bird(2).": "wings"})
assert "keys" in items(KERNEL, "sort.") and "shape" not in items(KERNEL, "sort.")
print("over files")

# ---- What is being written ----
expect(KERNEL, {"x[0] = v.": "x y z w view", "let q = (1 + z.": "real imag", "atomic.add(x, t[0].": "leaf height size",
                "for q in t { q.": "leaf height size", "return v.": "x y z w view"}, behind="")
expect(RUN, {"print(s.": "synchronize auto_synchronize query wait", "print(f\"{one.": "leaf height size"}, behind="")
print("in broken texts")

# ---- No code ----
for frame in KERNEL, RUN:
    expect(frame, {"# x.": "", "let b = 1  # v.|x": "", "let b = 1.": "", "let b = 1.|5": "", 'print("x.|")': "", 'print("x.': "",
                   'print(f"x.|{1}")': ""})
assert items(RUN, 'print(f"{one.|height}")').keys() == {"leaf", "height", "size"}
print("in no code")

# ---- 50,000 lines: what is analysed in some 0.3 s, and may take a tenth of a second for a keystroke ----
PART = "kernel k{0}(a: f32[], v: f32x4) {{\n    let i = grid(1)\n    if i < a.size {{\n        a[i] = v.x + {0}\n    }}\n}}\n\n"
PARTS = 7200


def processor():
    with open(f"/proc/{client.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


begin = processor()
uri = client.open(folder / "long.knl", "".join(PART.format(i) for i in range(PARTS)))
client.told(uri)
whole, begin, TIMES = processor() - begin, processor(), 10
for _ in range(TIMES):
    found = client.ask_at("completion", uri, "a[i] = v.|x + 7000")
    assert {one["label"] for one in found} == {"x", "y", "z", "w", "view"}, found
each = (processor() - begin) / TIMES
assert each < whole / 4 + 0.01, (each, whole)
print("in long texts")
print(f"{each:.3f} s of {whole:.3f} s", file=sys.stderr)
