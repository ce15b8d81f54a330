#!/usr/bin/env python3
"""site.py OUT: the documents as HTML pages that need no network, with a search in them; OUT/index.html is README.md.
Needs Python-Markdown (Debian: python3-markdown). What documents link to is there too: pages, files, and of folders a list."""
import html
import json
import pathlib
import re
import shutil
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/*.md", "docs/*/*.md", "samples/*.md", "samples/*/*.md", "bench/*/*.md", "python/README.md",
         "tests/double/README.md")
STYLE = """body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em; color: #222; }
pre, code { font: 14px/1.4 monospace; background: #f4f4f4; } pre { padding: .6em; overflow-x: auto; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2em .5em; vertical-align: top; }
nav { border-bottom: 1px solid #ccc; padding-bottom: .5em; } img { max-width: 100%; } #found { list-style: none; padding: 0; }
"""
# Words that all stand in a section: the sections with the most of them in their headings come first.
SEARCH = """const box = document.getElementById("search"), list = document.getElementById("found");
box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\\s+/).filter(w => w);
    list.replaceChildren();
    if (!words.length) return;
    SECTIONS.filter(s => words.every(w => s.text.includes(w) || s.title.toLowerCase().includes(w)))
        .map(s => [words.filter(w => s.title.toLowerCase().includes(w)).length, s])
        .sort((a, b) => b[0] - a[0]).slice(0, 30).forEach(([, s]) => {
            const item = document.createElement("li"), link = document.createElement("a");
            link.href = TOP + s.url;
            link.textContent = s.title + " (" + s.url.split("#")[0] + ")";
            item.append(link);
            list.append(item);
        });
});
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="{top}style.css"></head>
<body><nav><a href="{top}index.html">kjit</a> <input id="search" placeholder="search"><ul id="found"></ul></nav>
{body}
<script>const TOP = "{top}";</script><script src="{top}sections.js"></script><script src="{top}search.js"></script>
</body></html>
"""


def slug(text, _):
    """A heading's name in links, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def address(file):
    """Where a file of the tree is in the site."""
    name = file.relative_to(ROOT)
    if name == pathlib.Path("README.md"):
        return pathlib.Path("index.html")
    return name / "index.html" if file.is_dir() else name.with_suffix(".html") if file.suffix == ".md" else name


def pages():
    return sorted({file for pattern in PAGES for file in ROOT.glob(pattern)})


def write(out, place, title, body):
    place = out / place
    place.parent.mkdir(parents=True, exist_ok=True)
    top = "../" * (len(place.relative_to(out).parts) - 1)
    place.write_text(PAGE.format(title=html.escape(title), body=body, top=top), encoding="utf-8")


def prepared(text):
    """Python-Markdown wants an empty line before a list or table, and one word behind a fence."""
    lines, code = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
            line = re.sub(r"^```(\S+) .*$", r"```\1", line)
        elif not code and re.match(r"- |\|", line) and lines and lines[-1].strip() and lines[-1][0] not in (line[0], " "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


class Site:
    def __init__(self, out):
        self.out, self.others, self.sections, self.pages = out, set(), [], set(pages())

    def link(self, file, target):
        """A link of the page `file` as the site has it."""
        name, mark, heading = target.partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return target
        there = (file.parent / name).resolve()
        if not there.exists() or not there.is_relative_to(ROOT):
            return target
        if there.is_dir() and there / "README.md" in self.pages:
            there /= "README.md"
        if there not in self.pages:
            self.others.add(there)
        place = address(there) if there in self.pages or there.is_dir() else there.relative_to(ROOT)
        return "../" * (len(address(file).parts) - 1) + place.as_posix() + mark + heading

    def page(self, file):
        maker = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"],
                                  extension_configs={"toc": {"slugify": slug}}, tab_length=2)
        body = maker.convert(prepared(file.read_text(encoding="utf-8")))
        body = re.sub(r'(href|src)="([^"]+)"',
                      lambda m: f'{m[1]}="{html.escape(self.link(file, html.unescape(m[2])))}"', body)
        place = address(file)
        write(self.out, place, file.name, body)
        for part in re.split(r"(?=<h[1-6] id=)", body):
            head = re.match(r'<h[1-6] id="([^"]*)">(.*?)</h', part, re.S)
            if head:
                plain = html.unescape(re.sub(r"<[^>]+>", "", part))
                title = html.unescape(re.sub(r"<[^>]+>", "", head[2]))
                self.sections.append({"url": f"{place.as_posix()}#{head[1]}", "title": title,
                                      "text": " ".join(plain.lower().split())})

    def other(self, there):
        """A file that a page links to, as it is; of a folder a list of its files, which are there as well."""
        files = sorted(f for f in there.rglob("*") if f.is_file() and ".git" not in f.parts) if there.is_dir() else [there]
        for file in files:
            place = self.out / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
        if there.is_dir():
            names = "".join(f'<li><a href="{f.relative_to(there).as_posix()}">{f.relative_to(there)}</a></li>' for f in files)
            write(self.out, address(there), there.name, f"<h1>{there.name}</h1><ul>{names}</ul>")

    def make(self):
        self.out.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.pages):
            self.page(file)
        for there in sorted(self.others):
            self.other(there)
        (self.out / "style.css").write_text(STYLE)
        (self.out / "search.js").write_text(SEARCH)
        (self.out / "sections.js").write_text("const SECTIONS = " + json.dumps(self.sections) + ";\n")


if __name__ == "__main__":
    Site(pathlib.Path(sys.argv[1]).resolve()).make()
