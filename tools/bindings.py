#!/usr/bin/env python3
"""bindings.py rust|go api.json: the C API for another language, of the description that `api.py json` makes of kjit.h: every
constant, struct and function, and layouts(), whose lines are those of the C program that `api.py layouts` makes.

A binding for Python needs no text made: samples/bindings/python/kjit_ctypes.py reads the description as it starts.
"""
import json
import sys
import textwrap

# ---- Rust ----

RUST = {"char": "c_char", "unsigned char": "c_uchar", "int": "c_int", "unsigned": "c_uint", "double": "f64", "size_t": "usize",
        "int64_t": "i64", "uint64_t": "u64"}
RUST_VALUES = {"NULL": "std::ptr::null()", "b != 0": "(b != 0) as i64"}
RUST_WORDS = {"type", "in", "ref", "box", "use", "fn", "mod", "move", "match", "where", "self", "impl", "loop", "let"}

RUST_HEAD = """// Made by tools/bindings.py of kjit.h.
use std::mem::{size_of, zeroed, MaybeUninit};
use std::os::raw::{c_char, c_int, c_uchar, c_uint, c_void};
"""

RUST_LAYOUTS = """
fn size_behind<T>(_: *const T) -> usize { size_of::<T>() }

macro_rules! layout {
    ($out:ident, $of:ident, $($member:ident),*) => {{
        let place = MaybeUninit::<$of>::uninit();
        let base = place.as_ptr();
        $out += &format!("{} {}\\n", stringify!($of), size_of::<$of>());
        $(let at = unsafe { std::ptr::addr_of!((*base).$member) };
          $out += &format!("{}.{} {} {}\\n", stringify!($of), stringify!($member).trim_start_matches("r#"),
                           at as usize - base as usize, size_behind(at));)*
    }};
}

/// What is where, a line each, to be compared with what C says.
pub fn layouts() -> String {
    let mut out = String::new();
"""


def rust_name(name):
    return f"r#{name}" if name in RUST_WORDS else name


def rust_params(params):
    return ", ".join(f"{rust_name(p['name']) or '_'}: {rust(p['type'])}" for p in params)


def rust_returns(type_):
    return "" if type_ == {"name": "void"} else f" -> {rust(type_)}"


def rust(type_):
    """A type as Rust has it; a pointer to a function may be NULL."""
    if "array" in type_:
        return f"[{rust(type_['array'])}; {type_['count']}]"
    if "pointer" in type_:
        to = type_["pointer"]
        if "function" in to:
            return f"Option<unsafe extern \"C\" fn({rust_params(to['function']['params'])}){rust_returns(to['function']['returns'])}>"
        if to.get("name", "").endswith("_fn"):
            return f"Option<{to['name']}>"
        return f"*{'const' if to.get('const') else 'mut'} {'c_void' if to.get('name') == 'void' else rust(to)}"
    return RUST.get(type_["name"], type_["name"].replace("struct ", ""))


def rust_doc(entry, indent):
    return [f"{indent}/// {line}".rstrip() for line in textwrap.wrap(entry.get("doc", ""), 110)]


def rust_binding(a):
    out = [RUST_HEAD]
    for name in a["handles"] + ["DLManagedTensor", "DLManagedTensorVersioned"]:
        out.append(f"#[repr(C)]\npub struct {name} {{ _private: [u8; 0] }}")
    for name, value in a["constants"].items():
        out.append(f"pub const {name}: c_int = {value};")
    for name, enum in a["enums"].items():
        out += [f"pub type {name} = c_uint;"] + [f"pub const {key}: {name} = {value};" for key, value in enum.items()]
    for name, function in a["callbacks"].items():
        out.append(f"pub type {name} = unsafe extern \"C\" fn({rust_params(function['params'])}){rust_returns(function['returns'])};")
    for name, struct in a["structs"].items():
        for m in struct["members"]:
            if "union" in m["type"]:
                out.append(f"#[repr(C)]\n#[derive(Clone, Copy)]\npub union {name}_{m['name']} {{")
                out += [f"    pub {rust_name(u['name'])}: {rust(u['type'])}," for u in m["type"]["union"]] + ["}"]
        out += rust_doc(struct, "") + [f"#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{"]
        out += [f"    pub {rust_name(m['name'])}: {name + '_' + m['name'] if 'union' in m['type'] else rust(m['type'])}," for m in struct["members"]]
        out += ["}", f"impl Default for {name} {{\n    fn default() -> Self {{ unsafe {{ zeroed() }} }}\n}}"]
    out.append('#[link(name = "kjit")]\nextern "C" {')
    for name, f in a["functions"].items():
        out += rust_doc(f, "    ") + [f"    pub fn {name}({rust_params(f['params'])}){rust_returns(f['returns'])};"]
    out.append("}")
    for name, f in a["inlines"].items():
        made = f"{f['of']}(a)" if "of" in f else "kjit_arg::default()"
        out += rust_doc(f, "") + [f"pub fn {name}({rust_params(f['params'])}) -> kjit_arg {{"]
        out.append(f"    let mut arg = {'arg' if any(p['name'] == 'arg' for p in f['params']) else made};")
        out += [f"    arg.{member} = {RUST_VALUES.get(value, value)};" for member, value in f["sets"]]
        out.append("    arg\n}")
    out.append(RUST_LAYOUTS)
    for name, struct in a["structs"].items():
        out.append(f"    layout!(out, {name}, {', '.join(rust_name(m['name']) for m in struct['members'])});")
    out += [f'    out += &format!("{name} {{}}\\n", {name} as i64);' for enum in [a["constants"], *a["enums"].values()] for name in enum]
    return out + ["    out\n}"]


# ---- Go ----

GO = {"char": "C.char", "unsigned char": "C.uchar", "int": "C.int", "unsigned": "C.uint", "double": "C.double", "size_t": "C.size_t",
      "int64_t": "C.int64_t", "uint64_t": "C.uint64_t"}
GO_WORDS = {"type", "func", "range", "map", "go", "select", "var", "package", "interface", "chan", "import"}

GO_HEAD = """// Made by tools/bindings.py of kjit.h.

package kjit

/*
#cgo pkg-config: kjit
#include <stdlib.h>
#include <kjit.h>
*/
import "C"
import (
	"fmt"
	"strings"
	"unsafe"
)
"""


def go_name(name):
    return f"_{name}" if name in GO_WORDS else name


def go(type_):
    if "pointer" in type_:
        to = type_["pointer"]
        return "unsafe.Pointer" if to.get("name") == "void" else "*[0]byte" if "function" in to else "*" + go(to)
    name = type_["name"]
    return GO.get(name, "C." + name.replace("struct ", "struct_"))


def go_binding(a):
    out = [GO_HEAD]
    for name, f in {**a["functions"], **a["inlines"]}.items():
        out += [f"// {line}" for line in textwrap.wrap(f.get("doc", ""), 110)]
        params = ", ".join(f"{go_name(p['name'])} {go(p['type'])}" for p in f["params"])
        call = f"C.{name}({', '.join(go_name(p['name']) for p in f['params'])})"
        void = f["returns"] == {"name": "void"}
        out.append(f"func {name}({params}) {{ {call} }}\n" if void else f"func {name}({params}) {go(f['returns'])} {{ return {call} }}\n")
    out.append("// Layouts says what is where, a line each, to be compared with what C says.\nfunc Layouts() string {\n\tvar out strings.Builder")
    for name, struct in a["structs"].items():
        out.append(f"\t{{\n\t\tvar s C.{name}\n\t\tfmt.Fprintf(&out, \"{name} %d\\n\", unsafe.Sizeof(s))")
        for m in struct["members"]:
            at = f"s.{go_name(m['name'])}"
            out.append(f"\t\tfmt.Fprintf(&out, \"{name}.{m['name']} %d %d\\n\", unsafe.Offsetof({at}), unsafe.Sizeof({at}))")
        out.append("\t}")
    out += [f"\tfmt.Fprintf(&out, \"{name} %d\\n\", int64(C.{name}))" for enum in [a["constants"], *a["enums"].values()] for name in enum]
    return out + ["\treturn out.String()\n}"]


def main():
    form, path = sys.argv[1:]
    with open(path) as f:
        print("\n".join({"rust": rust_binding, "go": go_binding}[form](json.load(f))))


if __name__ == "__main__":
    main()
