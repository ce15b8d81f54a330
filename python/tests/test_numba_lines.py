"""Lines of Numba's kernels and what they are as kjit's, of numba_lines.txt: each is ported, and the compiler takes it."""
import pathlib
import re
import unittest

import kjit
from support import cases, main

TEXT = (pathlib.Path(__file__).parent / "numba_lines.txt").read_text()
PARAMETERS = dict(re.findall(r"(\w+): ([^ ,\n]*\[,*\]|\w+)", TEXT.split("\n")[1]))
ROWS = {part.split("\n")[0]: part.rstrip("\n").split("\n") for part in TEXT.split("\n== ")[1:]}


@cases(ROWS)
class Lines(unittest.TestCase):
    def check(self, line, *expected):
        source = f"class Cell(IntEnum):\n    WALL = 5\n    FOOD = 6\n\ndef k({', '.join(PARAMETERS)}):\n    {line}\n"
        port = kjit.numba_port(source, ", ".join(PARAMETERS.values()), warn="off")
        body = port.text[port.text.index("kernel k("):].splitlines()[1:-1]
        self.assertEqual([text[4:] for text in body], list(expected))
        self.assertEqual(port.module.kernels, ("k",))


if __name__ == "__main__":
    main()
