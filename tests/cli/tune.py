"""kjit tune finds the values that were made the fastest, and tries few of many: tune.py KJIT FILE."""
import re
import shlex
import subprocess
import sys

kjit, file = shlex.split(sys.argv[1]), sys.argv[2]
wrong = 0


def expect(truth, what):
    global wrong
    if not truth:
        wrong += 1
        print("wrong:", what)


def tune(*options, status=0):
    done = subprocess.run(kjit + ["tune", file, "--workers=1", *options], capture_output=True, text=True)
    expect(done.returncode == status, f"status {done.returncode} of {options}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def fastest(text):
    return text.splitlines()[-1].split(f"{file} ")[1]


said = tune("a=0,4,2,9", "b=9", "c=5")
expect(fastest(said) == "b=9 c=5 a=2", said)
expect("4 of 4 combinations" in said and "not shown" not in said, said)
said = tune("a=0..8:+2", "b=1..17:+4", "c=1..8:x2")  # 5 * 5 * 4
expect(fastest(said) == "a=2 b=9 c=4", said)
tried, all_of = map(int, re.search(r"(\d+) of (\d+) combinations", said).groups())
expect(all_of == 100 and tried <= 40, said)
said = tune("n=100,101,1000", "a=2")
expect(" n=101: kernel 'even' requires x.size % 2 == 0" in said, said)
expect(fastest(said) == "a=2 n=100", said)
expect("2048" in tune("n=64..2048:x2", "--kernel=even"), "a range ends with its end")
expect("no kernel 'none' was launched" in tune("a=1,2", "--kernel=none", status=2), "a kernel that is none")
expect("3 of 3 combinations" in tune("a=-3..-1"), "a negative range")
expect("1 of 1 combinations" in tune("a=-1..-1"), "a range of one")
expect("did you mean 'even'?" in tune("a=1,2", "--kernel=evem", status=2), "a kernel's name")
expect("'a' is given twice" in tune("a=1,2", "a=3,4", status=2), "twice")
expect("tune needs a param with several values" in tune("a=../x", status=2), "a path is no range")
expect("tune needs a param with several values" in tune("a=1", status=2), "nothing to tune")
for bad in "a=1,,2", "a=1..", "a=3..1", "a=1..9:x1", "a=0..9:x2", "a=1..9:-1", "a=1..inf", "a=1..9:", "a=1..2..3":
    expect("values are listed, tile=8,16,32, or a range" in tune(bad, status=2), bad)
expect("has more than 1024 values" in tune("a=1..1025", status=2), "a long range")
expect("combinations, and 65536 are the most" in tune("a=1..512", "b=1..512", status=2), "too many")
expect("there is no param 'd'" in tune("d=1,2", status=2), "a param that is none")
expect("even" in tune("n=101,103", status=1), "all fail: the last one's text")
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
