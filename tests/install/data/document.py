"""The C of a document, as files to compile: document.py FILE FOLDER.

A block fenced ```c is a program, and the ```text block that follows is what it prints: N.c and N.txt. A block fenced
```c fragment is statements: they become a function, with variables of the names that fragments use: fragment-N.c."""
import pathlib
import re
import sys

BEFORE = """#include <kjit.h>
#include <stdio.h>
#include <string.h>
struct block {
    void *data;
    int64_t size;
};
void fragment(kjit_context *ctx, kjit_module *mod, kjit_array *x, kjit_array *host, float *data, int64_t rows,
              int64_t columns, int64_t blocks, struct block *block, void (*give_back)(void *owner), const char *blur_text, const char *main_text, kjit_config config, kjit_arg *args);
void fragment(kjit_context *ctx, kjit_module *mod, kjit_array *x, kjit_array *host, float *data, int64_t rows,
              int64_t columns, int64_t blocks, struct block *block, void (*give_back)(void *owner), const char *blur_text, const char *main_text, kjit_config config, kjit_arg *args)
{{
"""


def main(document, folder):
    text = pathlib.Path(document).read_text()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    programs = fragments = 0
    for i, (info, code) in enumerate(blocks):
        if info == "c":
            programs += 1
            (folder / f"{programs}.c").write_text(code)
            if i + 1 < len(blocks) and blocks[i + 1][0] == "text":
                (folder / f"{programs}.txt").write_text(blocks[i + 1][1])
        elif info == "c fragment":
            fragments += 1
            (folder / f"fragment-{fragments}.c").write_text(BEFORE + code + "}}\n")


main(*sys.argv[1:])
