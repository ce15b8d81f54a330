# What lit makes of a test file: see tests/run, which sets the environment read here.
import ctypes
import os
import re
import shutil
import subprocess
import sys

build = os.environ["KJIT_BUILD"]
root = os.environ["KJIT_ROOT"]
llvm = os.environ["KJIT_LLVM_BIN"]
wrapper = os.environ.get("KJIT_WRAPPER", "")
sys.path.append(os.path.join(root, "tests"))
import timed

config.name = "kjit"
config.test_format = timed.TimedTest(execute_external=False)
config.suffixes = [".knl", ".test"]
config.excludes = ["data"]
config.test_source_root = os.environ.get("KJIT_SUITE", os.path.join(root, "tests"))
config.test_exec_root = os.environ["KJIT_OUT"]

config.substitutions += [
    ("%kjit", f"{wrapper} {build}/kjit".strip()),
    *((f"%build/tests/{folder}/", f"{wrapper} {build}/tests/{folder}/".strip()) for folder in ("unit", "api")), # programs
    ("%build", build),
    ("%wrapper", wrapper),
    ("%made", os.environ["KJIT_BUILD_ARGUMENT"]),  # as make was given it: another spelling would build anew
    ("%root", root),
    ("%installed", os.path.join(os.environ["KJIT_OUT"], "installed")), # see tests/install/data/installed.sh
    ("%double", f"env KJIT_CUDA_DRIVER={build}/tests/double/libcuda.so.1"), # KJIT_DOUBLE_*=... may follow
    ("%llvm", llvm),
    ("%cc", os.environ.get("CC", "cc")),
    ("%python", os.environ["KJIT_PYTHON"]), # what a version manager puts before it takes longer than most tests
]
# Which machine kjit was built for. What tests run for levels of x86-64 is run for others elsewhere; what they show, is shown.
LEVELS = {"aarch64": ["armv8-a", "armv8.1-a", "armv8.1-a"]}
with open(f"{build}/kjit", "rb") as program:
    machine = {62: "x86-64", 183: "aarch64"}.get(int.from_bytes(program.read(20)[18:], sys.byteorder), "unknown")
config.available_features.add(machine)
shown = "".join(f"(?<!--emit={form} --cpu=)" for form in ("asm", "opt", "llvm"))
config.substitutions += [(f"{shown}x86-64-v{i + 2}", level) for i, level in enumerate(LEVELS.get(machine, []))]
config.environment["PATH"] = os.pathsep.join([llvm, os.environ["PATH"]])
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["KJIT_CACHE_DIR"] = "off" # tests are to compile
config.environment["KJIT_VERIFY"] = "1" # each stage of the compiler is looked at
config.environment["KJIT_CPU_CACHE"] = "0" # whole lines of what is only stored go past the caches, however little it is
config.environment["MALLOC_PERTURB_"] = "165" # glibc fills what is freed or fresh, so that who reads it fails
config.environment["KJIT_CUDADEVRT"] = os.path.join(root, "tests", "double", "devrt.archive") # what the double takes for it
for name in ("KJIT_TEST_ALL", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "HOME", "XDG_CACHE_HOME", "CC"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# For REQUIRES: and UNSUPPORTED: lines.
for tool in ("ptxas", "nvcc", "valgrind", "clang", "pkg-config", "cmake", "dpkg-shlibdeps", "mpicc", "vim", "rustc", "go"):
    found = shutil.which(tool, path=config.environment["PATH"] + ":/usr/local/cuda/bin")
    if found:
        config.available_features.add(tool)
    if found and tool == "nvcc":
        config.substitutions.append(("%nvcc", found))
    if found and tool == "ptxas": # and the chips that it knows: ptxas-sm_90
        known = subprocess.run([found, "--help"], stdout=subprocess.PIPE, text=True).stdout
        config.available_features |= {f"ptxas-{name}" for name in re.findall(r"'(sm_\d+)'", known)}
        config.substitutions.append(("%ptxas", found))
        toolkit = os.path.dirname(os.path.dirname(os.path.realpath(found)))
        if os.path.exists(os.path.join(toolkit, "nvvm", "libdevice", "libdevice.10.bc")):
            config.available_features.add("libdevice")
for folder in (os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/usr"):
    if folder and os.path.exists(os.path.join(folder, "include", "cuda.h")):
        config.available_features.add("cuda.h")
        config.substitutions.append(("%cuda", folder))
        break
for name in ("libzip.so.5", "libzip.so.4"): # as the library looks for it
    try:
        ctypes.CDLL(name)
        config.available_features.add("libzip")
    except OSError:
        pass
# For links of LLVM that ask nothing of the linker: another third of the time.
config.substitutions.append(("%lld", "-fuse-ld=lld" if shutil.which("ld.lld") else ""))
if subprocess.run([*wrapper.split(), f"{build}/kjit", "env"], stdout=subprocess.PIPE).stdout.find(b"lsp     jansson") >= 0: # it has kjit lsp
    config.available_features.add("lsp")
# The package for Python, by the first Python from 3.10 on that has NumPy, else the first.
def runs(python, code):
    return shutil.which(python) and not subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode
pythons = [p for p in (os.environ["KJIT_PYTHON"], "/usr/bin/python3") if os.path.exists(f"{build}/python/kjit/_kjit.abi3.so")
           and runs(p, "import sys; assert sys.version_info >= (3, 10)")]
markdowns = [p for p in (os.environ["KJIT_PYTHON"], "/usr/bin/python3") if runs(p, "import markdown")]
if markdowns:
    config.available_features.add("python3-markdown") # make site
    config.substitutions.append(("%pymarkdown", markdowns[0]))
numpys = [p for p in pythons if runs(p, "import numpy")]
if pythons:
    chosen = (numpys or pythons)[0]
    config.available_features.add("python3-dev") # with which it was built
    config.substitutions += [("%pykjit", f"env PYTHONPATH={build}/python {chosen}"), ("%pyplain", chosen)]
    if runs(chosen, "import setuptools, wheel, pip"):
        config.available_features.add("python3-pip")
if numpys:
    config.available_features.add("python3-numpy")
if os.path.exists("/usr/include/dlpack/dlpack.h"):
    config.available_features.add("dlpack.h")
try: # a container may have no terminals to give
    for end in os.openpty():
        os.close(end)
    config.available_features.add("terminal")
except OSError:
    pass
with open("/proc/meminfo") as memory: # what is free, less what a container may not have
    free = [int(line.split()[1]) << 10 for line in memory if line.startswith("MemAvailable")]
for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
    if os.path.exists(path):
        limit = open(path).read().strip()
        free += [int(limit)] if limit.isdigit() else []
if free and min(free) >= 6 << 30:
    config.available_features.add("6-GiB-of-memory")
if os.path.exists(f"{build}/tests/double/libcuda.so.1"):
    config.available_features.add("double")
if os.environ.get("KJIT_SAN") == "thread": # which keeps several times what is written; some tests fill the GPU
    config.environment["KJIT_DOUBLE_MEMORY"] = str(512 << 20)
if os.environ.get("KJIT_TEST_ALL"):
    config.available_features.add("all")
if os.environ.get("KJIT_SAN"):
    config.available_features.add("san")
if wrapper:
    config.available_features.add("wrapped")
