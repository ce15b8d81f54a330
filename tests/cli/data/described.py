"""What kjit info --json says of described.knl: described.py JSON."""
import json
import pathlib
import sys

told = json.loads(pathlib.Path(sys.argv[1]).read_text())
assert list(told) == ["file", "kernels", "records", "consts", "has_run", "params", "tests", "warnings"], list(told)

[kernel] = told["kernels"]
params = kernel.pop("params")
assert kernel.pop("file").endswith("described.knl")
assert kernel == {
    "name": "scale", "head": "kernel scale<T: float>(x: T[], out: T[,], const K: i32 = N // 2, a: f32)", "doc": 'Scales "all".',
    "line": 17, "attributes": "@fastmath @launch_bounds(256, 2)", "max_threads": 256, "min_blocks": 2,
    "requires": ["(x.size) == (out.size)", "(out.shape[0] == 4 and a > 0)"]}, kernel
assert [(p["name"], p["type"], p["default"], p["generic"], p["bound"], p["axes"], p["const"], p["may_be_written"]) for p in params] == [
    ("x", "T[]", None, "T", "float", 1, False, False), ("out", "T[,]", None, "T", "float", 2, False, True),
    ("K", "i32", "N // 2", None, None, 0, True, False), ("a", "f32", None, None, None, 0, False, False)], params

[record] = told["records"]
assert (record["name"], record["size"], record["align"]) == ("Body", 40, 8), record
assert [(f["name"], f["type"], f["offset"], f["shape"]) for f in record["fields"]] == [
    ("at", "f32x2", 0, []), ("mass", "f64", 8, []), ("past", "f32", 16, [2, 3])], record

assert [(c["name"], c["type"], c["value"], c["doc"]) for c in told["consts"]] == [
    ("N", None, "(64 * 2) * (1 + 1)", "of a block"), ("WEIGHTS", "f32[4]", None, None), ("Cell.EMPTY", "Cell", "0", None),
    ("Cell.WALL", "Cell", "5", None), ("Cell.FOOD", "Cell", "6", None)], told["consts"]
assert told["has_run"] and told["params"] == [
    {"name": "n", "type": None, "default": "1000", "doc": "how many"}, {"name": "x", "type": "f32[,]", "default": None, "doc": None}]
assert told["tests"] == [{"title": "nothing", "fails": '"', "line": 26}]
assert [(w["line"], w["code"]) for w in told["warnings"]] == [(17, "unused-parameter"), (22, "unused-variable")], told["warnings"]
