"""Runs a program under configurations of kjit, and compares what comes out with the reference and with each other."""
import ast
import os
import re
import resource
import shutil
import signal
import struct
import subprocess

import scalars
from gen_kernel import BLOCKS_1D, BLOCKS_2D, BLOCKS_3D
from host import Launch, Layout
from program import difference

TIMEOUT = 60        # seconds without any processor time: a program takes well below one
PROCESSOR = 30      # seconds of processor time, more with a sanitizer
MEMORY = 6 << 30
DEVRT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "double", "devrt.archive")


class Tool:
    """The kjit under test: what it is able to do, and where its files go; `driver`: a CUDA driver for the double's."""

    def __init__(self, build, folder, driver=None):
        self.build, self.folder = build, folder
        self.kjit = os.path.join(build, "kjit")
        os.makedirs(folder, exist_ok=True)
        text = subprocess.run([self.kjit, "run", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.cpus = []
        if "--cpu=" in text:
            self.cpus = [c for c in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if self.takes(f"--cpu={c}")]
        self.driver = driver
        self.double = driver or os.path.join(build, "tests", "double", "libcuda.so.1")
        if not os.path.exists(self.double):
            self.double = None
        self.processor = PROCESSOR
        self.sanitized = os.path.basename(os.path.normpath(build)) in ("san", "tsan")
        if self.sanitized:
            self.processor *= 4

    def takes(self, option):
        path = os.path.join(self.folder, "probe.knl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("kernel k(x: i32[]) { x[0] = 1 }\nrun { k[1, 1](zeros(1, i32)) }\n")
        return subprocess.run([self.kjit, "run", "--device=cpu", path, option],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, KJIT_CACHE_DIR="off")).returncode == 0


class Config:
    """Options of `kjit run`, the environment, and whether the arrays lie as the program says or in other layouts."""

    def __init__(self, options=(), env=None, layouts=None, shapes=None):
        self.options, self.env, self.layouts, self.shapes = list(options), env or {}, layouts, shapes

    @property
    def fused(self):
        return "--fp-contract=off" not in self.options

    @property
    def on_cuda(self):
        return "--device=cuda" in self.options

    def __str__(self):
        given = [f"{k}={v}" for k, v in sorted(self.env.items()) if k.startswith("KJIT_DOUBLE")]
        text = " ".join(given + self.options)
        return text + (" (other layouts)" if self.layouts else "") + (" (other blocks)" if self.shapes else "")


def configurations(r, program, tool, count):
    """For one program: the CPU, the driver double, then others drawn at random. Only one: every second program has the
    double."""
    result = []
    for k in range(count):
        options, env, layouts = [f"-O{r.weighted([(1, 0), (2, 1), (2, 2), (3, 3)])}"], {}, None
        if r.chance(25):
            options.append("--fp-contract=off")
        second = program.seed % 2 == 1 if count == 1 else k == 1
        if tool.double and (second or k > 1 and r.chance(75 if tool.driver else 25)):
            options.append("--device=cuda")
            env["KJIT_CUDA_DRIVER"] = tool.double
            if not tool.driver:
                env["KJIT_CUDADEVRT"] = DEVRT
                env["KJIT_DOUBLE_APART"] = str(r.below(3))      # do lanes that have parted meet again by themselves?
                env["KJIT_DOUBLE_SEED"] = str(r.below(1000))    # in which order do they run?
        else:
            options.append("--device=cpu")
            if r.chance(60):
                options.append(f"--workers={r.pick([1, 1, 2, 3])}")
            if tool.cpus and r.chance(60):
                options.append(f"--cpu={r.pick(tool.cpus)}")
        if r.chance(35) and not program.sees_layouts():
            layouts = {a.name: a.layout if a.in_order else
                       Layout.random(r, a.shape, isinstance(a.elem, str), not a.directed) for a in program.arrays()}
        shapes = {at: s for at, s in other_shapes(r, program).items() if r.chance(70)} if r.chance(40) else None
        if r.chance(25):
            options.append("--check=none")
        result.append(Config(options, env, layouts, shapes))
    return result


def other_shapes(r, program):
    """Grids and blocks for launches of kernels that do not depend on them."""
    shapes = {}
    for at, s in enumerate(program.run):
        if not isinstance(s, Launch) or s.coverage is None:
            continue
        block = r.pick({1: BLOCKS_1D, 2: BLOCKS_2D, 3: BLOCKS_3D}[len(s.coverage)])
        block = (block,) if isinstance(block, int) else block
        shapes[at] = tuple(max(1, -(-n // b)) for n, b in zip(s.coverage, block)), block
        if len(block) == 1 and r.chance(20):
            shapes[at] = tuple(s.coverage), None        # forall
    return shapes


class Outcome:
    """`kind`: 'ok', 'refused', 'failed', 'crash' or 'hang'; with the arrays, or what was said."""

    def __init__(self, kind, text="", arrays=None):
        self.kind, self.text, self.arrays = kind, text, arrays or {}


def limits(tool, config):
    """For the process that becomes kjit. A GPU's driver reserves more addresses than there is memory."""
    def set_them():
        resource.setrlimit(resource.RLIMIT_CPU, (tool.processor, tool.processor))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not tool.sanitized and not (tool.driver and config.on_cuda):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return set_them


def processor_time(process):
    """Of a process that nobody has waited for, in clock ticks."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_for(process):
    """What it writes; None: it did nothing for TIMEOUT seconds, and is ended. One that is slow because the machine is
    busy goes on; one that does not end by itself does so at its limit of processor time."""
    before = -1
    while True:
        try:
            return process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            now = processor_time(process)
        if now == before:
            process.kill()
            process.communicate()
            return None
        before = now


def execute(tool, program, config):
    """One run of kjit."""
    folder = os.path.join(tool.folder, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "program.knl")
    for name, text in program.files(config.layouts, config.shapes).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    names = program.saved()
    command = [tool.kjit, "run", path] + config.options
    if not any(o.startswith("--warn") for o in config.options):
        command.append("--warn=off")
    for name in names:
        command += ["--save", f"{name}={os.path.join(folder, name)}.npy"]
    env = dict(os.environ, KJIT_CACHE_DIR="off", KJIT_VERIFY="1", MALLOC_PERTURB_="165", LC_ALL="C.UTF-8",
               **config.env)
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                            preexec_fn=limits(tool, config))
    printed = wait_for(done)
    if not printed:
        return Outcome("hang", f"nothing goes on for {TIMEOUT} seconds")
    said = printed[1].decode("utf-8", "replace")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome("hang", f"more than {tool.processor} seconds of processor time")
    if done.returncode < 0:
        return Outcome("crash", f"signal {-done.returncode}\n{said}")
    if done.returncode == 3:
        return Outcome("refused", said)
    if done.returncode != 0 or said:
        kind = "crash" if "Sanitizer" in said or "runtime error" in said or "internal" in said else "failed"
        return Outcome(kind, f"status {done.returncode}\n{said}")
    try:
        arrays = {name: read_npy(os.path.join(folder, name + ".npy")) for name in names}
        return Outcome("ok", printed[0].decode("utf-8", "replace"), arrays)
    except (OSError, ValueError, SyntaxError, struct.error) as error:
        return Outcome("failed", f"a file that was saved cannot be read: {error}")


NPY_TYPES = {"|b1": "bool", "|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64", "|u1": "u8", "<u2": "u16",
             "<u4": "u32",
             "<u8": "u64", "<f2": "f16", "<V2": "bf16", "|V2": "bf16", "<f4": "f32", "<f8": "f64", "<c8": "c64",
             "<c16": "c128"}


def read_npy(path):
    """A file's type, shape, and numbers in C order."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not a .npy file")
    length, start = struct.unpack_from("<H", data, 8)[0], 10
    if data[6] > 1:
        length, start = struct.unpack_from("<I", data, 8)[0], 12
    header = ast.literal_eval(data[start:start + length].decode("latin-1"))
    t = NPY_TYPES[header["descr"]]
    numbers = scalars.unpack(t, data[start + length:])
    shape = header["shape"]
    if header["fortran_order"] and len(shape) > 1:
        numbers = in_c_order(numbers, shape, 2 if t in scalars.COMPLEX else 1)
    return t, shape, numbers


def in_c_order(numbers, shape, size):
    places, step = [0], size
    strides = []
    for n in shape:
        strides.append(step)
        step *= n
    for n, s in zip(shape, strides):
        places = [k + i * s for k in places for i in range(n)]
    return [numbers[k + j] for k in places for j in range(size)]


class Finding:
    def __init__(self, kind, config, text, other=None):
        self.kind, self.config, self.text, self.other = kind, config, text, other

    def key(self):
        """Findings of one key are probably of one cause."""
        first = next((line for line in self.text.split("\n") if "error" in line or "signal" in line
                      or "Sanitizer" in line),
                     self.text.split("\n")[0])
        where = "cuda" if self.config.on_cuda else "cpu"
        first = re.sub(r"\S*\.knl:\d+:\d+:|'[^']*'|\b0x[0-9a-f]+\b|\d+", "", first)
        return (self.kind, where, first.strip()[:80] if self.kind != "different" else "")

    def same_as(self, other):
        """Is another finding, of a program made smaller, still this one?"""
        return other is not None and self.key() == other.key()


class Check:
    """Everything that is found about one program."""

    def __init__(self, tool, program):
        self.tool, self.program = tool, program
        self.runs = 0
        self.references = {}

    def reference(self, fused):
        if fused not in self.references:
            self.references[fused] = self.program.reference(fused)
        return self.references[fused]

    def valid(self, fuel=400_000):
        """Does the program keep to the rules: no races, nothing undefined?"""
        for fused in (True, False):
            self.program.reference(fused, tracks=True, fuel=fuel)

    def run(self, config, known=None):
        """A finding of one configuration, or None; `known`: arrays that the reference cannot say, by an earlier run."""
        self.runs += 1
        contents, computed = self.reference(config.fused)
        outcome = execute(self.tool, self.program, config)
        if outcome.kind != "ok":
            return Finding(outcome.kind, config, outcome.text)
        unknown = self.program.unknown()
        bounds = {x[0]: a.bound for a in self.program.arrays() for x in a.saved()}
        expected = self.program.expected(contents, config.layouts)
        if config.layouts is None:      # results of functions are the same bits everywhere
            unknown |= {name for name, bound in bounds.items() if bound is not None and name in expected}
        for name, (t, want) in expected.items():
            got_type, _, got = outcome.arrays[name]
            if got_type != t:
                return Finding("different", config, f"{name}: is {got_type}, expected {t}")
            if name in unknown and bounds.get(name) is None:
                continue
            finding = self.compared(config, name, t, want, got, bounds.get(name))
            if finding:
                return finding
        lines = "".join(line + "\n" for line in computed["lines"])
        if outcome.text != lines:
            return Finding("different", config, f"what is printed: expected\n{lines[:300]}\ngot\n{outcome.text[:300]}")
        for name, result in computed.items():
            if name == "lines":
                continue
            finding = self.compared_result(config, name, result, outcome.arrays[name])
            if finding:
                return finding
        if known is not None:
            return self.compared_unknown(config, unknown, outcome, known)
        return None

    @staticmethod
    def compared(config, name, t, want, got, bound=None):
        d = difference(want, got, t, bound)
        if d is None:
            return None
        count = sum(not scalars.same(a, b) for a, b in zip(want, got))
        return Finding("different", config,
                       f"{name}[{d[0]}] ({t}): expected {d[1]!r}, got {d[2]!r}; {count} of {len(want)} differ")

    def compared_result(self, config, name, result, got):
        t, shape, want = result
        if (t, tuple(shape)) != (got[0], tuple(got[1])):
            return Finding("different", config, f"{name}: is {got[0]} {got[1]}, expected {t} {tuple(shape)}")
        return self.compared(config, name, t, want, got[2])

    def compared_unknown(self, config, unknown, outcome, known):
        """Arrays of functions with bounds only: bit for bit as in the first run of the same contraction and layouts."""
        for name in sorted(unknown):
            key = (name, config.fused, config.layouts is None)
            if config.layouts is not None:
                continue
            t, _, got = outcome.arrays[name]
            if key not in known:
                known[key] = (got, str(config))
                continue
            d = difference(known[key][0], got)
            if d:
                return Finding("different", config,
                               f"{name}[{d[0]}] ({t}): {d[1]!r} with {known[key][1]}, {d[2]!r} here")
        return None
