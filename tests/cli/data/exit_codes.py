"""Each exit code, as `kjit --help` documents it: exit_codes.py KJIT DATA TEMP"""
import pathlib
import subprocess
import sys

kjit, data, temp = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
temp.mkdir(exist_ok=True)


def source(name, text):
    (temp / name).write_text(text)
    return str(temp / name)


failing = source("failing.knl", "run { assert(1 == 2) }\n")
fault = source("fault.knl", "kernel k() { if threadIdx.x < 3 { syncthreads() } }\nrun { k[1, 8]() }\n")
wrongs = [source(f"wrong{i}.knl", f"run {{ let x = {text} }}\n") for i, text in enumerate((
    'format(3, "q")', '"abc" * 1000000000000', 'device_array(3, order="X")', 'round(zeros(3), 9999)', '[1, 2][::0]',
    'format(1.5, "d")', 'zeros(3).reshape(2)', 'round(9999999999999999999, -25) + to_device(ones(3), to=ones(3))'))]
wrongs += [source(f"drawn{i}.knl", f"run {{ {text} }}\n") for i, text in enumerate((
    'plot(zeros(3), log="y")', 'plot(full(3, nan))', 'param k = "pie"; plot(zeros(3), kind=k)',
    'param k = "q"; plot(ones(3), log=k)', 'param r = 0; save("s.wav", zeros(8), sample_rate=r)'))]
hello, broken, kernels = (str(data / n) for n in ("hello.knl", "broken.knl", "kernels.knl"))
cases = [
    (0, "run", hello), (0, "check", hello), (0, "--help"), (0, "run", "--help"), (0, "--version"), (0, "devices"),
    (0, "builtins"), (0, "build", kernels, "--emit=ast"),
    (1, "run", failing), (1, "run", fault), (1, "run", "missing.knl"), (1, "check", "missing.knl"),
    (1, "run", hello, "--device=cuda:77"), *((1, "run", wrong) for wrong in wrongs),
    (2,), (2, "frobnicate"), (2, "run"), (2, "run", hello, "--frobnicate"), (2, "run", hello, "m=3"),
    (2, "run", hello, "n=x"), (2, "run", hello, "--save", "x=y.npy"), (2, "run", kernels),
    (2, "build", kernels), (2, "build", kernels, "--emit=asm", "--kernel=none"), (2, "check", hello, "--time"),
    (3, "run", broken), (3, "check", hello, broken), (3, "check", broken, hello), (3, "build", broken, "--emit=asm"),
]
wrong = 0
for expected, *arguments in cases:
    code = subprocess.run([kjit, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if code != expected:
        print(f"kjit {' '.join(arguments)}: {code}, not {expected}")
        wrong += 1
sys.exit(wrong > 0)
