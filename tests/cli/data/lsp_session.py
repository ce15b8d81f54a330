"""A session of an editor: lsp_session.py KJIT FOLDER. A mistake is made and mended, names are looked up and renamed over
files, the text is laid out."""
import pathlib
import re
import sys

from lsp import Client, Failure

kjit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)

BLUR = """# Weights of a row.
const RADIUS = 1

enum Side: u8 { LEFT, RIGHT = 5 }

record Line {
    scale: f32
    shift: f32
}

# The line at a place.
fn at(l: Line, x: f32) -> f32 {
    return l.scale * x + l.shift
}

kernel halves(a: f64[]) {
    let i = i32(grid(1))
    a[i] *= 0.5
}

kernel rows(a: f32[], by: f32) {
    let i = grid(1)
    if i < a.size {
        a[i] = a[i] * by
    }
}
"""
MAIN = """use "blur.knl"
use std.sort

fn twice(value: f32) -> f32 {
    let t = value + value
    return t
}

fn thrice(value: f32) -> f32 {
    return twice(value=value) + value
}

kernel lines(a: f32[], l: blur.Line) {  # \U0001f600 é
    let i = grid(1)
    if i < a.size {
        let t = blur.at(l, a[i]) + f32(blur.RADIUS)
        a[i] = twice(t) + thrice(t)
    }
}

run {
    let a = arange(8, f32)
    for k in range(3) {
        let f = 2.0
        blur.rows[1, 32](a, by=f)
        print(f"{k}: {a}")
    }
    lines[1, 32](a, blur.Line(2, 1))
    print(sort.keys(a))
}
"""
(folder / "blur.knl").write_text(BLUR)
(folder / "main.knl").write_text(MAIN)
client = Client([kjit, "lsp"], workspaceFolders=[{"uri": folder.absolute().as_uri(), "name": "x"}])
has = client.capabilities["capabilities"]
assert has["positionEncoding"] == "utf-16" and has["hoverProvider"] and has["textDocumentSync"]["change"] == 2
main = client.open(folder / "main.knl")
assert client.told(main) == [], client.told(main)

# ---- A mistake, where characters of two units and of two bytes stand before it in its line; and its fix ----
client.change(main, "\U0001f600 é", "\U0001f600 é") # as it was
client.change(main, "let t = value", 'let s = "\U0001f600"; let t = valeu')
told = client.told(main)
wrong = [one for one in told if one["code"] == "undeclared"]
assert len(wrong) == 1 and wrong[0]["severity"] == 1 and wrong[0]["source"] == "kjit", told
assert client.slice(main, wrong[0]["range"]) == "valeu", wrong
assert "did you mean 'value'" in wrong[0]["message"]
actions = client.request("textDocument/codeAction", {"textDocument": {"uri": main}, "range": wrong[0]["range"],
                                                     "context": {"diagnostics": wrong}})
fix = [a for a in actions if a["diagnostics"][0]["code"] == "undeclared"][0]
assert fix["kind"] == "quickfix" and fix["title"] == "write 'value'", fix
client.apply(main, fix["edit"]["changes"][main])
client.change(main, 'let s = "\U0001f600"; ', "")
assert client.told(main) == [], client.told(main)
print("fixed")

# ---- Warnings, and notes ----
client.change(main, "    return t", "    let unused = 1\n    return t")
told = client.told(main)
assert [one["severity"] for one in told] == [2], told
assert told[0]["code"].startswith("unused") and told[0]["tags"] == [1], told
client.change(main, "    let unused = 1\n", "    let t = 3.0\n")
told = client.told(main)
related = told[0]["relatedInformation"][0]
assert related["location"]["uri"] == main and client.slice(main, related["location"]["range"]) == "t", told
client.change(main, "    let t = 3.0\n", "")
print("warned")

# ---- A file that is used: the open document is what counts ----
blur = client.open(folder / "blur.knl", BLUR.replace("RADIUS", "WIDTH"))
told = client.told(main)
client.send_change(main, [{"text": client.texts[main]}])
told = client.told(main)
assert len(told) == 1 and client.slice(main, told[0]["range"]) == "RADIUS", told
client.change(blur, "WIDTH = 1", "RADIUS = ")
client.send_change(main, [{"text": client.texts[main]}])
told = client.told(main)
assert client.slice(main, told[0]["range"]) == 'use "blur.knl"', told
assert told[0]["message"].startswith("in blur.knl: expected an expression"), told
assert told[0]["relatedInformation"][0]["location"]["uri"] == blur
client.change(blur, "RADIUS = ", "RADIUS = 1")
assert client.told(blur) == []
print("used")


# ---- What a name is ----
def hover(place, uri=main):
    told = client.ask_at("hover", uri, place)
    return told and told["contents"]["value"]


assert "fn twice(value: f32) -> f32" in hover("|twice(t)"), hover("|twice(t)")
assert "let t = blur.at(" in hover("twice(|t")
assert "The line at a place" in hover("blur.|at(")
assert "let a = arange(8, f32)" in hover("sort.keys(|a")
assert "a sorted." in hover("sort.|keys"), hover("sort.|keys")
assert "threads" in hover("|grid") or "grid(" in hover("|grid")
assert "for k in range(3)" in hover("{|k}")
assert "let f = 2.0" in hover("by=|f"), hover("by=|f")
assert "by: f32" in hover("|by=f")
assert "Line.scale: f32" in hover("l.|scale", blur)
assert "let i = grid(1)\ni: i64\n" in hover("if |i < a.size", blur), hover("if |i < a.size", blur)
assert "i: i64" not in hover("if |i < a.size") # what blur.at has is not known here
assert "i: i32" in hover("a[|i] *=", blur)
assert hover("|1, 32") is None
print("hovered")


def define(place, uri=main):
    found = client.ask_at("definition", uri, place)
    return found and (found["uri"], client.slice(found["uri"], found["range"]), found["range"]["start"]["line"])


assert define("|twice(t)") == (main, "twice", 3)
assert define("blur.|at") == (blur, "at", 11), define("blur.|at")
assert define("|blur.knl") == (blur, "", 0)
assert define("|blur.rows") == (blur, "", 0)
assert define("return |t") == (main, "t", 4)
assert define("twice(|t)") == (main, "t", 15)
assert define("|by=f")[:2] == (blur, "by")
assert define("|value=value") == (main, "value", 3) and define("value=|value") == (main, "value", 8)
assert define("|print") is None
print("defined")
references = client.ask_at("references", blur, "|RADIUS", context={"includeDeclaration": True})
assert sorted(one["uri"] for one in references) == sorted([blur, main]), references
symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": blur}})
assert [(s["name"], s["kind"]) for s in symbols] == [("RADIUS", 14), ("Side", 10), ("Line", 23), ("at", 12), ("halves", 12), ("rows", 12)]
assert [s["name"] for s in symbols[1]["children"]] == ["LEFT", "RIGHT"]
assert client.slice(blur, symbols[3]["range"]).endswith("l.shift\n}")

# ---- Renaming, over files ----
edit = client.ask_at("rename", main, "blur.|at", newName="along")["changes"]
assert sorted(edit) == sorted([blur, main])
for uri, edits in edit.items():
    client.apply(uri, edits)
assert "fn along(l" in client.texts[blur] and "blur.along(l" in client.texts[main]
edits = client.ask_at("rename", blur, "|by: f32", newName="factor")["changes"]
for uri in edits:
    client.apply(uri, edits[uri])
assert "factor=f" in client.texts[main] and "* factor" in client.texts[blur], client.texts
edits = client.ask_at("rename", main, "let |t = value", newName="sum2")["changes"][main]
assert len(edits) == 2
client.apply(main, edits)
assert "return sum2" in client.texts[main] and "twice(t)" in client.texts[main]
assert client.told(main) == [] and client.told(blur) == [], (client.diagnostics, client.texts)
for place, name, why in (("|print", "show", "no name"), ("|twice(", "lines", "meaning"), ("|twice(", "for", "word"),
                         ("|twice(", "2x", "letters"), ("let |f =", "a", "meaning"), ("|sort.keys", "x", "file")):
    try:
        client.ask_at("rename", main, place, newName=name)
        assert False, place
    except Failure as failure:
        assert why in failure.message, failure
print("renamed")

# ---- Completion and signatures ----
def labels(place, uri=main):
    return [one["label"] for one in client.ask_at("completion", uri, place)]


assert {"along", "Line", "RADIUS", "rows"} <= set(labels("blur.|along"))
assert "keys" in labels("sort.|keys") and "along" not in labels("sort.|keys")
assert {"sum", "shape", "scale"} - set(labels("a.|size")) == {"scale"}, labels("a.|size")
here = labels("print(|sort")
assert {"a", "twice", "lines", "print", "while", "f32", "blur", "sort"} <= set(here) and "k" not in here
assert len(here) == len(set(here))
help = client.ask_at("signatureHelp", main, "twice(|t)")
assert help["signatures"][0]["label"] == "fn twice(value: f32) -> f32" and help["activeParameter"] == 0
help = client.ask_at("signatureHelp", main, "arange(8, |f32")
assert "arange" in help["signatures"][0]["label"] and help["activeParameter"] == 1, help
print("completed")

# ---- Layout ----
client.change(main, "    return sum2", "  return   sum2")
before = client.texts[main]
edits = client.request("textDocument/formatting", {"textDocument": {"uri": main}, "options": {"tabSize": 4}})
assert len(edits) == 1 and edits[0]["newText"] == "    return sum2\n", edits
client.apply(main, edits)
assert client.request("textDocument/formatting", {"textDocument": {"uri": main}, "options": {}}) == []
client.change(main, "fn twice(", "fn twice((")
try:
    client.request("textDocument/formatting", {"textDocument": {"uri": main}, "options": {}})
    assert False
except Failure as failure:
    assert "syntax" in failure.message
print("laid out")

# ---- Tests, which have titles in the place of names ----
tests = client.open(folder / "tests.knl", """fn twice(x: f32) -> f32 {
    return 2 * x
}

test "doubles" {
    let x = twice(3)
    assert(x == 6)
}

test "refuses" fails "no such" {
    let x = load("no such.npy")
}
""")
assert client.told(tests) == [], client.diagnostics
symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": tests}})
assert [(s["name"], s["kind"]) for s in symbols] == [("twice", 12), ('"doubles"', 24), ('"refuses"', 24)], symbols
assert client.slice(tests, symbols[1]["range"]).endswith("x == 6)\n}"), symbols[1]
assert client.slice(tests, client.ask_at("definition", tests, "|x == 6")["range"]) == "x"
assert len(client.ask_at("references", tests, "|twice(3)", context={"includeDeclaration": True})) == 2
assert "kjit test" in str(client.ask_at("hover", tests, "|test \"doubles\"")), client.ask_at("hover", tests, "|test \"doubles\"")
title = client.ask_at("hover", tests, '"|doubles"')
assert 'test "doubles"' in title["contents"]["value"] and client.slice(tests, title["range"]) == '"doubles"', title
assert client.slice(tests, client.ask_at("definition", tests, '"|doubles"')["range"]) == '"doubles"'
assert client.ask_at("hover", tests, '"|no such.npy"') is None and client.ask_at("definition", tests, '"|no such"') is None
assert "message holds" in str(client.ask_at("hover", tests, "|fails"))

# Words are offered where they can stand, and those that are names elsewhere only there.
client.change(tests, 'test "refuses"', '@fast\n\ntes\n\ntest "refuses"')
LANGUAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/language.md"
reserved = set(re.search(r"These words are reserved:\n\n(.*)\n", LANGUAGE.read_text()).group(1).split())
items = {"record", "enum", "type", "use", "test"}
assert reserved | items <= set(labels("tes|\n", tests)), labels("tes|\n", tests)
assert reserved | {"pi", "inf", "nan"} <= set(labels("twice(|3", tests)) and not (items | {"fails"}) & set(labels("twice(|3", tests))
assert "fails" in labels('"refuses" |fails', tests) and "fails" not in labels('test |"refuses"', tests)
assert set(labels("@fast|\n", tests)) == {"launch_bounds", "max_registers", "unchecked", "fastmath", "unroll", "packed"}
for word in reserved:
    try:
        client.ask_at("rename", tests, "fn |twice", newName=word)
        assert False, word
    except Failure as failure:
        assert "word" in failure.message, failure
assert client.ask_at("rename", tests, "fn |twice", newName="record")["changes"]
client.change(tests, "@fast\n\ntes\n", "")
client.change(tests, "twice(3)", "twise(3)")
assert "twise" in client.told(tests)[0]["message"]
print("tested")
client.notify("textDocument/didClose", {"textDocument": {"uri": main}})
print("ended", client.end())
