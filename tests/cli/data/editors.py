"""The words in tools/editors against the lexer's, the parser's and the command's: editors.py ROOT KJIT."""
import json
import pathlib
import re
import subprocess
import sys

root, kjit = pathlib.Path(sys.argv[1]), sys.argv[2]
editors = root / "tools" / "editors"
lexer = (root / "grammar" / "knl.l").read_text()
words = set(re.findall(r'^"([a-z]+)"\s+return KJ_TK_', lexer, re.MULTILINE))
words |= {"record", "enum", "type", "use", "test"}  # words of their own only where an item begins
assert {"kernel", "let", "and", "true"} <= words, words

vim = (editors / "vim/syntax/knl.vim").read_text()
told = set(re.findall(r"\w+", " ".join(re.findall(r"^syntax keyword knl(?:Decl|Stat|Cond|Rep|Oper|Bool)\w* (.*)$", vim, re.MULTILINE))))
assert told == words, told ^ words

grammar = json.loads((editors / "vscode/syntaxes/knl.tmLanguage.json").read_text())
for name in ("package.json", "language-configuration.json"):
    json.loads((editors / "vscode" / name).read_text())
told = set()
for pattern in grammar["patterns"]:
    re.compile(pattern.get("match", pattern.get("begin", "")))
    if re.match(r"(storage|keyword\.control|keyword\.operator\.word|constant\.language)", pattern.get("name", "")):
        told |= set(re.findall(r"[a-z]+", pattern["match"].replace(r"\b", " ")))
assert told == words, told ^ words

emacs = (editors / "emacs/knl-mode.el").read_text()
told = set(re.findall(r'"(\w+)"', emacs[emacs.index("knl-keywords"):emacs.index("knl-font-lock")])) | {"true", "false"}
assert told == words, told ^ words

types = ["bool", "f16", "bf16", "f32", "f64", "c64", "c128"] + [k + n for k in "iu" for n in ("8", "16", "32", "64")]
types += [t + f"x{n}" for t in types if t[0] not in "c" and t != "bool" for n in (2, 3, 4)]
for t in types:
    done = subprocess.run([kjit, "-e", f"kernel k(x: {t}[]) {{ x[0] = x[1] }}\nrun {{ }}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (t, done.stderr)
coloured = next(p["match"] for p in grammar["patterns"] if p.get("name") == "support.type.knl")
assert all(re.fullmatch(coloured, t) for t in types), [t for t in types if not re.fullmatch(coloured, t)]
indices = re.search(r"syntax keyword knlIndex (.*)", vim).group(1).split()
for name in indices:
    axis = "" if name in ("warpsize", "laneid") else ".x"
    done = subprocess.run([kjit, "-e", f"kernel k(x: i64[]) {{ x[0] = i64({name}{axis}) }}\nrun {{ }}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (name, done.stderr)
print(f"vim, vscode, emacs: {len(words)} words")
