"""`kjit doc` finds each reserved word, scalar type, and function of the library that the documents have: doc.py KJIT ROOT."""
import pathlib
import re
import subprocess
import sys

KJIT, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
language, library = ((ROOT / "docs" / name).read_text() for name in ("language.md", "std.md"))

reserved = re.search(r"These words are reserved:\n\n(.*)\n", language).group(1).split()
types = re.findall(r'^TYPE\w*\(\w+, "(\w+)"', (ROOT / "compiler/lang/types.def").read_text(), re.M)
files = sorted(path.stem for path in (ROOT / "std").glob("*.knl"))
called = []
for section in re.split(r"^## std\.", library, flags=re.M)[1:]:
    name = section.split("\n", 1)[0]
    called += [(name, f) for row in re.findall(r"^\| (`.*?`) \|", section, re.M) for f in re.findall(r"`(\w+)\(", row)]
assert len(reserved) > 20 and len(called) > 20 and len(files) > 10, (reserved, called, files)
names = reserved + types + [f"std.{file}" for file in files] + [".".join(name) for name in called]
done = subprocess.run([KJIT, "doc", *names], capture_output=True, text=True, check=False)
sys.exit(done.stderr or done.returncode)
