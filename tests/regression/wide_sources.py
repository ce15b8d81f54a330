"""Sources with very many of one thing on a line, or a line each: fields, parameters, arguments, steps of a loop, cases,
names. Most are wrong, and what is said of them could be as long as they are, once more with each of them. Each is compiled,
or refused, in seconds and in little memory: wide_sources.py KJIT."""
import os
import resource
import shlex
import subprocess
import sys
import tempfile

MANY, SECONDS, MIB = 20000, 5, 200


def listed(form, sep=", "):
    return sep.join(form.format(i=i) for i in range(MANY))


def in_kernel(body):
    return "kernel k(o: i32[], a: i32) { " + body + " }\n"


def in_run(body):
    return "run { " + body + " }\n"


def programs():
    few = "record P { x: i32, y: i32 }\n"
    yield "record P { " + listed("f{i}: i32") + " }\n" + in_kernel("o[0] = P(1)")
    yield "record P { " + ", ".join(f"f{i}: i32" for i in range(4000)) + " }\nkernel k(p: P[]) { p[0].none = 1 }\n"
    for braces in ".f{i} = {i}", "f{i}: {i}", "{i}":
        yield few + in_kernel("let p: P = {" + listed(braces) + "}")
        yield few + in_kernel("let p = P{" + listed(braces) + "}")
    function = "fn f(" + listed("p{i}: i32") + ") -> i32 { return 1 }\n"
    for call in "f(1)", "f(none=1)", "g(1)":
        yield function + in_kernel("o[0] = " + call)
    yield "fn f(" + listed("p{i}: i32 = 1") + ", q: i32) -> i32 { return 1 }\n" + in_kernel("o[0] = f(1)")
    yield "run f(" + listed("p{i} = 1") + ", q) { }\n" + in_run("f()")
    yield "fn f(a: i32) -> i32 { return 1 }\n" + in_kernel("o[0] = f(" + listed("{i}") + ")")
    yield "fn f<" + listed("T{i}") + ">(x: T0) -> T0 { return x }\n" + in_kernel("o[0] = f(1)")
    yield "enum E { " + listed("A{i}") + " }\n" + in_kernel("o[0] = E.NONE")
    launched = "kernel k(" + listed("p{i}: i32") + ", o: i32[]) { o[0] = 1 }\n"
    yield launched + in_run("k[1, 1](none=1)")
    yield launched + in_run("k[1, 1](1)")
    for word in "let", "var":
        yield in_kernel(word + " t = (" + listed("{i}") + ")\n o[0] = t[a] + t.x")
        yield in_kernel(word + " t = (" + listed("a") + ")\n t = 1")
        yield in_kernel(word + " " + listed("a{i}") + " = 1\n o[0] = 1")
    yield in_kernel(listed("b{i}") + " = 1")
    yield in_kernel("for (int i = 0; i < 3; " + listed("i++") + ") { o[i] = 1 }")
    yield in_kernel("int " + listed("a{i} = {i}") + "; o[0] = 1")
    yield in_kernel("int a[] = {" + listed("{i}") + "}; o[0] = 1")
    for line in " ", "\n":
        yield in_kernel("\nswitch (a) {\n" + listed("case {i}: o[0] = {i}; break;", line) + "\n}\n")
        yield in_kernel("if a == 0 { o[0] = 0 }" + listed("else if (a == {i}) {{ o[0] = {i} }}", line))
    yield in_kernel("if " + listed("a == {i}", " || ") + " { o[0] = 1 }")
    for call in "min", "range", "print", "local.array", "assert", "o.sum", "threadIdx", "atomic.add", "f32x4", "tuple":
        yield in_kernel("let b = " + call + "(" + listed("a") + ")\n o[0] = 1")
    yield in_kernel("o[" + listed("{i}") + "] = 1")
    yield in_run("let a = array([" + listed("{i}") + "])\n print(a.nothing)")
    yield in_run("let a = array([" + listed("[{i}]") + "])\n print(a[0, 0, 0])")
    yield in_run("let x = 1\n print(f\"" + listed("{{x}}", "") + "\", \"" + listed("%d", "") + "\" % x)")
    yield in_run("print(\"" + listed("\\q", "") + "\")")
    for braces in "[]", "{}":
        yield "const A: i32[] = " + braces[0] + listed("{i}") + braces[1] + "\n" + in_kernel("o[0] = A.none")
    yield "from numba import " + listed("x{i}") + "\n" + in_kernel("o[0] = 1")
    yield listed("@a{i}", " ") + " " + in_kernel("o[0] = 1")
    yield "/*\n" + listed(" * {i}", "\n") + "\n */\n" + in_kernel("o[0] = 1")
    yield in_kernel("\n\"\"\"\n" + listed("{i}", "\n") + "\n\"\"\"\n o[0] = 1")
    yield in_run("\n" + listed("param p{i} = {i}", "\n") + "\n print(q)")
    yield listed("fn f{i}(x: i32) -> i32 {{ return {i} }}", "\n") + "\n" + in_kernel("o[0] = g(1)")


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def main(kjit):
    kjit, wrong, n = shlex.split(kjit), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        for source in programs():
            n += 1
            with open(file, "w") as f:
                f.write(source)
            with open(os.devnull, "w") as nowhere:
                run = subprocess.Popen(kjit + ["check", file], stdout=nowhere, stderr=nowhere, preexec_fn=limits)
                _, status, used = os.wait4(run.pid, 0)
                run.returncode = 0
            if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 3) or used.ru_maxrss > MIB << 10:
                wrong += 1
                print(f"status {status}, {used.ru_utime:.1f} s, {used.ru_maxrss >> 10} MiB: {source[:60]!r}...{source[-60:]!r}")
    print(f"{n} sources, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
