"""site_links.py FOLDER: the links of a site's pages that lead to no file of it, or to no place of a page, and those to a
network that a page would load from; tables and lists that became none; how many pages and links there were."""
import pathlib
import re
import sys
import urllib.parse

root = pathlib.Path(sys.argv[1]).resolve()
texts = {page: page.read_text(encoding="utf-8") for page in root.rglob("*.html")}
ids = {page: set(re.findall(r' id="([^"]*)"', text)) for page, text in texts.items()}
bad = links = 0
for page, text in sorted(texts.items()):
    for line in re.findall(r"<p>(?:[|]|- ).*", text):
        bad += 1
        print(f"{page.relative_to(root)}: no table or list: {line}")
    for kind, target in re.findall(r'(href|src)="([^"]*)"', text):
        if re.match(r"[a-z]+:", target):
            wrong = kind == "src"
        else:
            name, _, mark = urllib.parse.unquote(target).partition("#")
            there = (page.parent / name).resolve() if name else page
            wrong = not there.is_file() or (mark and there in ids and mark not in ids[there])
        links += 1
        if wrong:
            bad += 1
            print(f"{page.relative_to(root)}: {target}")
print(f"{len(texts)} pages, {links} links, {bad} wrong")
sys.exit(bad > 0 or links < 100)
