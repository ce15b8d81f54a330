"""Builds kjit for Python: `pip install .` in this folder, `--no-build-isolation` where no index can be reached.

libkjit is that of $KJIT_PREFIX (include/, lib/), or of this tree where it was built (`make`), else what pkg-config knows. The
tree's goes into the package, so the wheel is whole; an installed one is used where it is."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent


def find():
    """(folder of kjit.h, folder of libkjit.so.0, whether that goes into the package)"""
    prefix, build = os.environ.get("KJIT_PREFIX"), TREE / os.environ.get("KJIT_BUILD", "build")
    if prefix:
        return pathlib.Path(prefix, "include"), pathlib.Path(prefix, "lib"), False
    if (build / "libkjit.so.0").exists() and (TREE / "include/kjit.h").exists():
        return TREE / "include", build, True
    try:
        known = [subprocess.run(["pkg-config", f"--variable={name}", "kjit"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip() for name in ("includedir", "libdir")]
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("kjit: libkjit was not found: run `make` in the tree, or install it, or set KJIT_PREFIX") from None
    return pathlib.Path(known[0]), pathlib.Path(known[1]), False


INCLUDE, LIBRARY, BUNDLED = find()


class BuildExtension(build_ext):
    def run(self):
        super().run()
        if not BUNDLED:
            return
        target = pathlib.Path(self.build_lib if not self.inplace else HERE, "kjit", "libkjit.so.0")
        shutil.copyfile(LIBRARY / "libkjit.so.0", target)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


def version():
    text = (INCLUDE / "kjit.h").read_text()
    return ".".join(re.findall(r"#define KJIT_VERSION_\w+ (\d+)", text)[:3])


setup(
    version=version(),
    ext_modules=[Extension(
        "kjit._kjit",
        sorted(os.path.relpath(path, HERE) for path in (HERE / "src").glob("*.c")),
        include_dirs=[str(INCLUDE)],
        define_macros=[("_GNU_SOURCE", None), ("Py_LIMITED_API", "0x030A0000")],
        extra_compile_args=["-std=c17", "-fvisibility=hidden", "-pthread"],
        # by its whole name: kjit may be there without the name that the linker looks for
        extra_link_args=["-pthread", f"-L{LIBRARY}", "-l:libkjit.so.0", "-Wl,-rpath," + ("$ORIGIN" if BUNDLED else str(LIBRARY))],
        py_limited_api=True,
    )],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
    cmdclass={"build_ext": BuildExtension},
)
