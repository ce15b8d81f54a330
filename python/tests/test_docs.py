"""The examples of docs/python.md: each python block prints what the text block behind it shows; they are one program."""
import contextlib
import io
import linecache
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import docs
from support import main


class Examples(unittest.TestCase):
    def test_python_md(self):
        blocks = list(docs.blocks((ROOT / "docs/python.md").read_text()))
        names, seen = {}, 0
        for (_, info, code, _), (_, after, text, _) in zip(blocks, blocks[1:]):
            if info == "python":
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    lines = [line + "\n" for line in code]  # where functions of an example have their source
                    linecache.cache[f"python.md {seen}"] = (0, None, lines, f"python.md {seen}")
                    exec(compile("".join(lines), f"python.md {seen}", "exec"), names)
                self.assertEqual((after, out.getvalue().splitlines()), ("text", text))
                seen += 1
        self.assertGreater(seen, 5)


if __name__ == "__main__":
    main()
