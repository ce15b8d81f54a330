#!/usr/bin/env python3
"""abi.py grown header: the header with one more member in each struct, `grown`, where the rule of kjit.h puts it.
abi.py cut header: the header with structs that begin with their size as an older one may have had them.
abi.py told program header: nothing, where the program names each struct of the header.
abi.py record header: what programs that were built depend on, a line each: data/abi.txt.
abi.py kept record header: nothing, where all that is in the record is still so, and what came since lies where older programs have zeros:
    not in what was padding, in front of `reserved` or behind the last member.

A struct that is neither as the rule says nor in FIXED fails them all."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
import api

FIXED = {"kjit_arg": "gets more kinds", "kjit_ipc_handle": "is bytes that only the library reads"}
OLDER = 2 # members that a struct is left without


def kind(name, struct):
    """How a struct grows: "reserved", "size" or "fixed"."""
    members = struct["members"]
    if members[-1]["name"] == "reserved" and "array" in members[-1]["type"]:
        return "reserved"
    if (members[0]["name"], members[0]["type"]) == ("size", {"name": "size_t"}) and name != "kjit_record":
        return "size"
    if name not in FIXED:
        sys.exit(f"{name} cannot get more members: it neither ends in `reserved` nor begins with its size (kjit.h, \"Versions\")")
    return "fixed"


def changed(text, structs, cut):
    for name, struct in structs.items():
        how = kind(name, struct)
        begin, end = text.index(f"typedef struct {name} {{"), text.index(f"}} {name};")
        body = text[begin:end]
        if cut and how == "size":
            first = re.search(rf"[^;{{]*\b{struct['members'][-OLDER]['name']}\b[^;]*;", re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group(0)), body, flags=re.S))
            body = body[:first.start()] + "\n"
        elif not cut and how == "size":
            body += "    uint64_t grown;\n"
        elif not cut and how == "reserved":
            count = struct["members"][-1]["type"]["count"]
            body = re.sub(r"uint64_t reserved\[\d+\];", f"uint64_t grown;\n    uint64_t reserved[{count - 1}];", body)
            body = re.sub(r"void \(\*reserved\[\d+\]\)\(void\);", f"void (*grown)(void);\n    void (*reserved[{count - 1}])(void);", body)
        text = text[:begin] + body + text[end:]
    return text.replace("#define KJIT_H\n", f"#define KJIT_H\n#define {'KJIT_CUT' if cut else 'KJIT_GROWN'}\n")


def record(a, header):
    """Sizes, places and numbers as the C compiler has them, and types, in the order of the header."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layouts")
        with open(path + ".c", "w") as f:
            f.write(api.layouts(a, os.path.abspath(header)))
        subprocess.run([os.environ.get("CC", "cc"), "-o", path, path + ".c"], check=True)
        wrapper = os.environ.get("KJIT_WRAPPER", "").split()
        places = subprocess.run([*wrapper, path], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    types = {f"{name}.{m['name']}": spelt(m["type"]) for name, s in a["structs"].items() for m in s["members"]}
    lines = [f"{line} {types.get(line.split()[0], '')}".rstrip() for line in places]
    for name, f in {**a["callbacks"], **a["functions"]}.items():
        lines.append(f"{name} {spelt({'function': f})}")
    begins = {name: f"{name} ends {line.split()[1]}" for line in lines for name in [line.split()[0]] if name in a["structs"] and
              kind(name, a["structs"][name]) == "size"}
    begins.update({line.split()[0]: "{} ends {}".format(line.split(".")[0], line.split()[1]) for line in lines if ".reserved " in line})
    return [begins.get(line.split()[0], line) for line in lines if not line.startswith("KJIT_VERSION")]


def in_padding(old, here):
    """Members that the record does not have, in front of where the struct ended then."""
    ends = {line.split()[0]: int(line.split()[2]) for line in old if line.split()[1] == "ends"}
    known = {line.split()[0] for line in old}
    for line in here:
        name, at, *_ = line.split()
        struct = name.split(".")[0]
        if "." in name and name not in known and struct in ends and int(at) < ends[struct]:
            yield line


def spelt(of):
    const = "const " if of.get("const") else ""
    if "pointer" in of:
        return f"{const}pointer to {spelt(of['pointer'])}"
    if "array" in of:
        return f"{of['count']} of {spelt(of['array'])}"
    if "function" in of:
        return f"({', '.join(spelt(p['type']) for p in of['function']['params'])}) {spelt(of['function']['returns'])}"
    if "union" in of:
        return "any of " + ", ".join(f"{m['name']} {spelt(m['type'])}" for m in of["union"])
    return const + of["name"]


def main():
    form, header = sys.argv[1], sys.argv[-1]
    a = api.describe(header)
    for name, struct in a["structs"].items():
        kind(name, struct)
    with open(header) as f:
        text = f.read()
    if form in ("grown", "cut"):
        print(changed(text, a["structs"], form == "cut"), end="")
    elif form == "told":
        with open(sys.argv[2]) as f:
            program = f.read()
        for name in a["structs"]:
            if not re.search(rf"\b{name}\b", program):
                sys.exit(f"{sys.argv[2]} tries no {name}")
    elif form == "record":
        print("\n".join(record(a, header)))
    else:
        here = record(a, header)
        with open(sys.argv[2]) as f:
            old = f.read().splitlines()
        lost = [line for line in old if line not in set(here) and line.split()[1] != "ends"]
        if lost:
            sys.exit("what programs depend on has changed:\n" + "\n".join(lost))
        padding = list(in_padding(old, here))
        if padding:
            sys.exit("older programs may have anything there:\n" + "\n".join(padding))


main()
