"""What compiling takes grows with the variables and with the barriers between their uses, and not with their product:
memory_of_regions.py KJIT."""
import os
import resource
import shlex
import subprocess
import sys
import tempfile

MANY, MIB = 900, 96


def source():
    declared = "\n".join(f"    var v{i} = b[i + {i}]" for i in range(MANY))
    changed = "\n".join(f"    v{i} += 1; syncthreads()" for i in range(MANY))
    return f"""kernel k(a: i32[], b: i32[]) {{
    let i = i32(grid(1))
{declared}
{changed}
    a[i] = {" + ".join(f"v{i}" for i in range(MANY))}
}}
"""


def compile_to(kjit, file, form):
    """The most memory that any compilation has had so far, in MiB."""
    subprocess.run(kjit + ["build", "--emit=" + form, file], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main(kjit):
    kjit = shlex.split(kjit)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        with open(file, "w") as out:
            out.write(source())
        cut, lowered = (compile_to(kjit, file, form) for form in ("regions", "llvm"))
    print(f"{MANY} variables over as many barriers: {lowered - cut:.0f} MiB behind the regions (at most {MIB})")
    return lowered - cut > MIB


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
