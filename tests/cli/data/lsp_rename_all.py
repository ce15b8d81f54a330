"""Renames every name of files, one at a time: lsp_rename_all.py KJIT EACH FILE... Each name (of every EACHth word) gets a
new one, wherever it is used; the program must be as right as it was, and have as many words of the new name as edits."""
import pathlib
import re
import sys

from lsp import Client, Failure

WORD = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_]\w*")
NEW = "renamed_9"
each = int(sys.argv[2])
client = Client([sys.argv[1], "lsp", "--warn=off"])
renamed = refused = 0
for path in sys.argv[3:]:
    text = pathlib.Path(path).read_text()
    uri = client.open(path, text)
    before = client.told(uri)
    done = set()
    for number, match in enumerate(WORD.finditer(text)):
        if match.start() in done or match.group()[0] in "#\"" or number % each:
            continue
        client.texts[uri] = text
        try:
            changes = client.ask_at("rename", uri, match.start(), newName=NEW)["changes"]
        except Failure as failure:
            refused += 1
            continue
        assert list(changes) == [uri], (path, changes)
        begins = [client.slice(uri, edit["range"]) for edit in changes[uri]]
        assert set(begins) == {match.group()}, (path, match.group(), begins)
        after = client.apply(uri, changes[uri])
        told = client.told(uri)
        assert len(told) == len(before), (path, match.group(), text[:match.start()].count("\n") + 1, told)
        renamed += 1
        client.send_change(uri, [{"text": text}])
        for edit in changes[uri]:
            lines = text.split("\n")
            line = edit["range"]["start"]["line"]
            done.add(sum(len(one) + 1 for one in lines[:line]) + edit["range"]["start"]["character"])
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
print(f"{renamed} names renamed, {refused} words are none", client.end())
