"""What of the language the generated programs have: the table of rows (rows.py counts them)."""
import directed
from gen_expr import EXACT_1, EXACT_2, FUNNELS, PAIRS
from gen_more import BOUNDS
from scalars import COMPLEX, FLOATS, INTS, REALS, SCALARS
from tree import VECTORS

SOME = ("i8", "u8", "i32", "u64", "f16", "f32", "f64")
FOLDS = [("sum", REALS + ("bool",)), ("prod", SOME), ("mean", ("i32", "u32", "f32", "f64", "f16")), ("min", SOME),
         ("max", SOME), ("dot", ("i32", "f32", "f64", "f16", "bf16")), ("any", ("bool", "i32", "f32")),
         ("all", ("bool", "i32", "f32"))]
ENOUGH = 8000       # programs, after which every row must have been there


def table(without=()):
    """All rows."""
    rows = [f"type {t}" for t in SCALARS] + [f"vector {v}" for v in sorted(VECTORS)]
    for t in REALS:
        ops = ["+", "-", "*", "//", "%"] + (["&", "|", "^", "<<", ">>"] if t in INTS else ["/"])
        if t in FLOATS and "float-division" in without:
            ops = ["+", "-", "*", "/"]
        rows += [f"{op} {t}" for op in ops + ["**"]]
        rows += [f"{op}= {t}" for op in ops + ["**"]]
        rows += [f"unary {op} {t}" for op in (["-", "~", "+"] if t in INTS else ["-", "+"])]
        rows += [f"compare {op} {t}" for op in ("==", "!=", "<", "<=", ">", ">=")]
        rows += [f"conditional {t}", f"abs {t}", f"selp {t}", f"literal {t}"]
        if t in INTS or "zeros" not in without:
            rows += [f"min {t}", f"max {t}", f"clamp {t}"]
        rows += [f"conversion {s} to {t}" for s in REALS + ("bool",) if s != t and not
                 ("int-f16" in without and t == "f16" and s in INTS and s not in ("i8", "u8", "i16"))]
        rows += [f"by itself {s} to {t}" for s in BY_ITSELF[t]]
        rows.append(f"conversion {t} to bool")
    for t in INTS:
        rows += [f"{f} {t}" for f in ("popc", "clz", "ffs", "brev", "ceil_div", "sad", "sign") + PAIRS + FUNNELS]
        rows += [f"loop variable {t}", f"divmod {t}"]
    rows += [f"{f} {t}" for f in ("byte_perm", "dp4a", "dp2a_lo", "dp2a_hi") for t in ("i32", "u32")]
    for t in FLOATS:
        exact = EXACT_1 + (EXACT_2 if "zeros" not in without else EXACT_2[1:]) + ("fma", "ldexp")
        rows += [f"{f} {t}" for f in directed.NAMES if t in ("f32", "f64")] + [f"directed rounding {t}"]
        rows += [f"{f} {t}" for f in exact] + [f"{f} {t}" for f in ("modf", "frexp", "lerp", "divmod", "ilogb")]
        rows += [f"product {form} {t}" for form in ("a*b+c", "c+a*b", "a*b-c", "c-a*b", "a*b+c*d", "x+=a*b")]
    rows += [f"{f} {f[:3]}" for f in directed.CONVERSIONS] + [f"directed conversion of {t}" for t in REALS]
    rows += ["directed conversion of a literal", "vector directed rounding", "run directed rounding",
             "run directed conversion"]
    rows += [f"{op} {t}" for t in COMPLEX for op in ("+", "-", "*", "/ by a real number", "**", "unary -", "conj",
                                                     "conversion of parts",
                                                     "compare ==")]
    rows += [f"{what} {op}" for what in ("real vectors", "integer vectors") for op in ("+", "-", "*")] + [
        "vector part", "vector part by number", "vector of a number", "vector of vectors", "vector comparison",
                                                                                                          "vector selp",
        "part assigned", "complex part assigned", "view of parts"]
    rows += [f"{op} bool" for op in ("&", "|", "^", "compare ==", "compare !=")]
    rows += ["and", "or", "not", "conditional of literals", "chain of 2", "chain of 3", "isnan", "isinf", "isfinite",
             "any", "all",
             "tuple comparison"]
    rows += ["let", "var", "declared type", "open variable", "several names", "assignment", "exchange",
             "tuple variable", "hidden name",
             "if", "elif",
             "else", "while", "while true", "break", "continue", "return", "assert", "range of 1", "range of 2",
             "range of 3",
             "step below 0", "step of each thread", "range at a type's end", "unroll", "loop in a loop",
             "for over an array", "enumerate", "zip", "for over rows",
             "slice from a variable", "slice back", "slice counted from the end",
             "parameter assigned", "parameter of a kernel assigned", "tuple parameter", "tuple of tuples as argument",
             "tuple parameter of a kernel", "tuple of tuples as result", "row of a parameter assigned",
             "row of a parameter updated"]
    rows += [f"bits as {t}" for t in REALS]
    rows += ["function", "function with several results", "function with early return", "function with array",
             "function with effects", "function that changes and gives a number",
             "call that changes something in an expression",
             "function that gives a view", "generic function", "generic function of an array", "function with barriers", "function in a function",
             "function with shared memory"]
    rows += [f"generic kernel {b}" for b in ("int", "float", "number")]
    rows += ["constant without type", "constant with type", "constant array", "constant array that the host fills",
             "const parameter", "const parameter given", "requires", "launch bounds", "max registers",
             "scalar parameter",
             "record parameter", "vector parameter", "complex parameter"]
    rows += ["loop over a tuple", "loop over literals", "loop over items of several types", "loop over several arrays",
             "loop over tuples taken apart", "enumerate of a tuple", "zip of tuples", "loop over a fixed array",
             "loop over a tuple that ends early", "loop over a constant tuple", "loop over a tuple by name",
             "item of a tuple by number", "item of a tuple made here", "item of a constant tuple", "constant tuple"]
    rows += ["enum", "enum with a type", "number of an enum counted", "number of an enum from others", "enum as a type",
             "enum compared", "enum as index", "enum as extent", "enum as argument", "enum in a run block",
             "enum in a constant",
             "enum as step"]
    rows += ["packed record", "packed record in another", "record in a packed record", "array of packed records",
             "packed record as a parameter", "view of a packed field", "part of a packed element assigned",
             "run field stored", "run field computed", "run packed field stored", "run packed field computed",
             "array of records from a list", "run record stored", "record of many scalars",
             "local array of records of many scalars", "field of an element",
             "field of a packed record in an element", "local array of records with packed ones",
             "shared array of records with packed ones"]
    rows += ["record", "record in a record", "fixed array in a record", "record made", "record made in another order",
             "record field assigned",
             "array of records"]
    rows += [f"local array of {n}" for n in ("1", "2..4", "5..8", "9..16", "17..40")] + ["local array of 2 dimensions"]
    rows += ["shared array", "shared array sized by the launch", "shared array of fixed size",
             "shared array of 2 dimensions",
             "several shared arrays", "shared array of complex, vectors or records", "alignment"]
    rows += ["syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "barrier in for", "barrier in if",
             "barrier in while", "barrier in the condition of while", "barrier in for of 3 ranges",
             "return before a barrier",
             "grid_sync", "grid_sync in a loop", "grid_sync in if", "variable across a barrier",
             "local array across a barrier"]
    rows += [f"warp {op}" for op in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync",
                                     "any_sync", "eq_sync",
                                     "ballot_sync", "match_any_sync", "match_all_sync", "activemask", "lanemask_lt",
                                     "syncwarp")]
    rows += ["warp with some lanes", "laneid", "threadfence", "threadfence_block", "threadfence_system", "nanosleep"]
    rows += [f"atomic {op} {t}" for op in ("add", "min", "max", "xor") for t in ("i32", "u32", "i64", "u64")]
    if "zeros" not in without:
        rows += [f"atomic {op} {t}" for op in ("min", "max") for t in FLOATS]
    rows += [f"atomic {op} {t}" for op in ("add", "exch", "cas") for t in FLOATS]
    rows += [f"atomic {op}" for op in ("sub", "nanmin", "nanmax", "and_", "or_", "inc", "dec", "exch", "cas",
                                        "compare_and_swap")] + [
        "atomic on shared memory", "atomic in 2 dimensions", "atomic on a field", "lock", "old value of an atomic"]
    rows += ["print", "array in device memory", "outside", "warned", "name of a type"]
    rows += [f"{what} of another file" for what in ("enum", "constant", "record", "function", "kernel")]
    rows += ["file that uses another", "file called otherwise"]
    rows += ["whole view", "whole view of 2 axes", "update of a whole view", "whole view of a number",
             "whole view from itself", "whole view with steps", "function of elements", "one of two arrays",
             "choice of arrays in another", "view in a choice of arrays", "view of a choice of arrays",
             "array as another type", "local array as another type", "shared array as another type",
             "atomic on an array as another type", "floats as integers in memory"]
    rows += [f"view's {what} of {t}" for what, of in FOLDS for t in of]
    rows += ["reduction of an expression", "reduction behind its view", "reduction of 2 axes"]
    rows += ["function with defaults", "default left out", "argument of a function by name",
             "arguments of a function in another order"]
    rows += ["transposed view", "element of a transposed array", "transposed argument", "reshape", "reshape with -1",
             "reshape by extents", "ravel", "run transposed view", "run ravel", "run order F", "run split"]
    rows += ["row", "column", "slice", "slice with step", "view of a view", "load hint", "store hint", "size", "shape",
             "len", "steps",
             "index guarded by a condition", "index modulo an extent", "index mirrored", "shift by the width"]
    rows += [f"dot {t}" for t in sorted({v.part for v in VECTORS.values()})] + ["warpsize"]
    rows += [f"{f} of a complex number" for f in ("abs", "phase", "polar")] + ["rect c64", "rect c128"]
    rows += [f"random.{f} {t}" for f in ("uniform", "normal") for t in ("f32", "f64")]
    rows += [f"random.randint {t}" for t in ("i32", "u8", "i64")]
    rows += [f"function {f}" for f in sorted(BOUNDS)] + ["function sincos", "launch in a kernel"]
    rows += ["block of 1 dimension", "block of 2 dimensions", "block of 3 dimensions", "block of 1", "block of 32",
             "block of 48",
             "block beside 32", "block of 256 or more", "grid of 2 dimensions", "kernel launched twice"]
    rows += ["layout in C order", "layout in F order", "layout with steps", "layout reversed", "layout with an offset",
             "array without elements", "array given twice", "In", "InOut", "argument by name"]
    rows += [f"run {w}" for w in ("expression", "store", "store +=", "sum", "mean", "min", "max", "argmin", "argmax",
                                  "any", "all",
                                  "cumsum", "matrix product", "reshape", "view", "where", "broadcast", "keepdims",
                                  "axis", "two axes",
                                  "random", "arange", "complex", "bool", "conversion", "contraction")]
    rows += ["test beside the run block"]
    rows += [f"run {w}" for w in ("reduce by a function", "scan by a function", "exclusive scan", "long reduce or scan",
                                  "function by name for reduce or scan", "function of arrays", "function of numbers",
                                  "several results of a function", "function of the run block", "store in a function",
                                  "loop in a function", "type of a parameter", "default of a function",
                                  "default left out", "argument by name", "launch in a function", "text", "format",
                                  "text with values", "text of a typed number", "text in a text", "text of a choice",
                                  "text repeated", "rounded", "numbers", "wide number")]
    rows += [f"std.{file}" for file in ("sort", "select", "scan", "histogram", "top", "matrix", "segment",
                                           "sparse")]
    rows += ["std.matrix.gemm"] + [f"std.order.{f}" for f in ("lesser", "greater", "before")]
    rows += [f"std.block.{f}" for f in ("sum", "min", "max", "inclusive_sum", "exclusive_sum", "sort", "sort_pairs")]
    rows += [f"std.warp.{f}" for f in ("sum", "prod", "min", "max", "inclusive_sum", "exclusive_sum")]
    rows += [f"std.segment.{f}" for f in ("sum", "prod", "min", "max", "flags", "offsets", "numbers")]
    rows += [f"std.sparse.{f}" for f in ("from_coo", "from_dense", "csr", "spmv", "spmm", "to_dense", "transpose",
                                         "rows")]
    rows += ["std called otherwise"]
    if "run-functions" not in without:
        rows += ["run selp", "run ldexp", "run modf", "run frexp"]
    if "in-writes" not in without:
        rows.append("In of what is written")
    return rows


BY_ITSELF = {"i16": ["i8", "u8"], "i32": ["i8", "u16"], "i64": ["i32", "u32"], "u16": ["u8"], "u32": ["u8", "u16"],
             "u64": ["u32"],
             "f32": ["i32", "f16", "bf16"], "f64": ["f32", "i64"], "f16": ["i8"], "bf16": ["i32"], "i8": [], "u8": []}
