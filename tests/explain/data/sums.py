"""sums.py KJIT FILE...: has each place of an index that --emit=checks counts one note, of its kind?"""
import json
import re
import subprocess
import sys

kjit, files = sys.argv[1], sys.argv[2:]
WORDS = {"proved": "proved", "tested once a launch": "by_launch", "tested on each run": "tested"}


def run(*args):
    return subprocess.run([kjit, *args], stdout=subprocess.PIPE, text=True, check=True).stdout


for file in files:
    explained = json.loads(run("explain", file, "--json", "--arch=sm_80", "-q"))
    for kernel in explained:
        counts = dict.fromkeys(WORDS.values(), 0)
        for note in kernel["notes"]:
            if note["kind"] == "bounds":
                counts[next(name for word, name in WORDS.items() if note["text"].startswith(word))] += 1
        assert counts == kernel["checks"], (file, kernel["kernel"], counts, kernel["checks"])
        listed = run("build", file, "--emit=checks", "--arch=sm_80", "-q", f"--kernel={kernel['kernel']}",
                     "--block=" + kernel["block"].replace("x", ","))
        said = re.search(r": (\d+) proved, (\d+) by the launch, (\d+) tested", listed)
        assert [int(n) for n in said.groups()] == list(counts.values()), (file, kernel["kernel"], counts, said)
    print(file, len(explained))
