#!/usr/bin/env python3
"""api.py json header: what kjit.h declares, as JSON, for who makes a binding: constants, enums, structs, types of
functions, functions, each with its words.
Functions that the header itself defines, "inlines", set members of the struct that they return: of a fresh one, or of
what another function ("of") returns.

api.py layouts header: a C program that prints the size of each struct, the offset and size of each of its members and
the value of each constant, which a binding's are compared with.

A type is {"name": "int"}, {"pointer": type}, {"array": type, "count": 3}, {"union": members}, {"struct": members} or
{"function": {"returns": type, "params": members}}, with "const": true where it is; a member has "name" and "type".
"""
import json
import re
import subprocess
import sys

import reference

TOKEN = re.compile(r"[A-Za-z_]\w*|0x[0-9a-fA-F]+|\d+|<<|.", re.S)


class Parser:
    """Of the header behind the preprocessor: declarations as kjit.h has them, not all of C."""
    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            return None
        self.at += 1
        return token

    def need(self, wanted):
        if self.take(wanted) is None:
            sys.exit(f"api.py: {wanted} is expected at: {' '.join(self.tokens[self.at:self.at + 12])}")

    def until(self, closing):
        """The tokens up to what closes a bracket that is open, which is skipped."""
        begin, depth = self.at, 1
        opening = {")": "(", "}": "{", "]": "["}[closing]
        while depth:
            token = self.take()
            depth += (token == opening) - (token == closing)
        return self.tokens[begin:self.at - 1]

    def base(self):
        """What stands before the declarators: const char, struct kjit_allocator, union { ... }."""
        const, words = False, []
        while True:
            if self.take("const"):
                const = True
            elif self.peek() in ("struct", "enum", "union"):
                kind = self.take()
                tag = self.take() if re.match(r"\w", self.peek()) else None
                if self.take("{"):
                    body = self.until("}")
                    return {kind: values(body) if kind == "enum" else Parser(body).members(), "tag": tag}
                words.append(tag if tag.startswith("kjit_") else f"{kind} {tag}")
            elif not words or (words[-1] in ("unsigned", "signed", "long", "short") and self.peek() in ("char", "int", "long")):
                words.append(self.take())
            else:
                return {"name": " ".join(words), **({"const": True} if const else {})}

    def declarator(self, of):
        while self.take("*"):
            of = {"pointer": of, **({"const": True} if self.take("const") else {})}
        inner = None
        if self.peek() == "(" and self.peek(1) == "*":
            self.take()
            inner = self.until(")")
        name = self.take() if inner is None and re.match(r"[A-Za-z_]", self.peek() or "") else ""
        if self.take("("):
            of = {"function": {"returns": of, "params": params(self.until(")"))}}
        elif self.take("["):
            of = {"array": of, "count": number(self.until("]"))}
        return Parser(inner).declarator(of) if inner else (name, of)

    def members(self):
        out = []
        while self.peek():
            of = self.base()
            while True:
                name, type_ = self.declarator(of)
                out.append({"name": name, "type": type_})
                if not self.take(","):
                    break
            self.need(";")
        return out


def params(tokens):
    out = []
    for part in split(tokens):
        p = Parser(part)
        name, type_ = p.declarator(p.base())
        if type_ != {"name": "void"}:
            out.append({"name": name, "type": {"pointer": type_["array"]} if "array" in type_ else type_})
    return out


def split(tokens):
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [p for p in parts if p]


def number(tokens):
    return eval(" ".join(tokens), {})


def values(tokens):
    """An enum's, by name and value."""
    out = {}
    for part in split(tokens):
        out[part[0]] = eval(" ".join(part[2:]), {}, out) if len(part) > 1 else (list(out.values())[-1] + 1 if out else 0)
    return out


def inline(function, body):
    """`kjit_arg arg; arg.kind = KJIT_ARG_INT; ... return arg;` as what it sets."""
    out = {**function, "sets": []}
    for statement in re.split(r" ;", " ".join(body).replace("( ( void * ) 0 )", "NULL").replace("! =", "!=")):
        made = re.match(r" ?kjit_arg arg = (\w+) \( a \)$", statement)
        sets = re.match(r" ?arg \. (.*?) = (.*)$", statement)
        if made:
            out["of"] = made.group(1)
        elif sets:
            out["sets"].append([sets.group(1).replace(" ", ""), sets.group(2)])
        elif statement.strip() not in ("", "kjit_arg arg", "return arg"):
            sys.exit(f"api.py: what does this inline function do: {statement}")
    return out


def preprocessed(header):
    """The header's own lines, behind the preprocessor."""
    text = subprocess.run(["cc", "-E", "-x", "c", header], check=True, stdout=subprocess.PIPE, text=True).stdout
    own, lines = False, []
    for line in text.split("\n"):
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            own = mark.group(1) == header
        elif own:
            lines.append(line)
    return "\n".join(lines).replace('__attribute__((visibility("default")))', "KJIT_API")


def words_of(header):
    """A function's or a struct's words, by its name: the comment in front of it."""
    out = {}
    with open(header) as f:
        for _, entries in reference.sections(f.read()):
            for words, declarations in entries:
                text = "\n\n".join(paragraph for _, paragraph in words)
                for name in re.findall(r"\b(kjit_\w+)\(|\} (kjit_\w+);", declarations):
                    out[name[0] or name[1]] = text
    return out


def constants(header):
    with open(header) as f:
        return {name: int(value) for name, value in re.findall(r"^#define (KJIT_\w+) (\d+)$", f.read(), re.M)}


def describe(header):
    p = Parser([t for t in TOKEN.findall(preprocessed(header)) if not t.isspace()])
    words = words_of(header)
    api = {"constants": constants(header), "handles": [], "enums": {}, "structs": {}, "callbacks": {}, "functions": {}, "inlines": {}}
    while p.peek():
        exported, defined, alias = p.take("KJIT_API"), p.take("static") and p.take("inline"), p.take("typedef")
        of = p.base()
        if not alias and not exported and not defined:
            api["constants"].update(of.get("enum", {})) # or a struct that is only named
            p.need(";")
            continue
        name, type_ = p.declarator(of)
        doc = {"doc": words[name]} if words.get(name) else {}
        if defined:
            p.need("{")
            api["inlines"][name] = {**inline(type_["function"], p.until("}")), **doc}
            continue
        p.need(";")
        if exported:
            api["functions"][name] = {**type_["function"], **doc}
        elif "enum" in of:
            api["enums"][name] = of["enum"]
        elif "struct" in of:
            api["structs"][name] = {"members": of["struct"], **doc}
        elif "function" in type_:
            api["callbacks"][name] = type_["function"]
        else:
            api["handles"].append(name)
    return api


def layouts(api, header):
    """The C program; its lines are those that a binding makes of the same description."""
    out = [f'#include "{header}"', "#include <stdio.h>", "int main(void)", "{"]
    for name, struct in api["structs"].items():
        out.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for m in struct["members"]:
            at = f"{name}, {m['name']}"
            out.append(f'    printf("{name}.{m["name"]} %zu %zu\\n", offsetof({at}), sizeof((({name} *)0)->{m["name"]}));')
    for enum in [api["constants"], *api["enums"].values()]:
        out += [f'    printf("{name} %lld\\n", (long long){name});' for name in enum]
    return "\n".join(out + ["}"])


def main():
    form, header = sys.argv[1:]
    api = describe(header)
    print(json.dumps(api, indent=1) if form == "json" else layouts(api, header))


if __name__ == "__main__":
    main()
