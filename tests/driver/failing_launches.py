#!/usr/bin/env python3
"""Fails driver calls under launches, one at a time: failing_launches.py KJIT PROGRAM DRIVER [first | all]

PROGRAM is tests/api/failing_launches.c, which judges what its launches came to. Of each call that it makes the first
FIRST fail, and one in AGAIN of those behind them, one in PUT of those that put work into a stream, with the codes of
inject.py in turn (`all`, or with KJIT_TEST_ALL set: each, with each code; `first`: fewer). Where launches can be
cancelled, which is much the same, others fail, the first ones do not stand out, and copies to the device, which are
words to cancel by, are as any other call. Of the copies back every second one that fails does so twice (`all`: each does
both), and calls that put work into a stream fail where afterwards nothing can be waited for, too: what is still on its
way then is kept. The double may tell of nothing misused or left."""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import inject

FIRST, AGAIN, PUT = 3, 12, 4
SCENARIOS = [("failing_launches", {}, True), ("failing_launches cancellable", {}, False)]
SHUT_DOWN = 4  # behind that every call fails, not the one alone
# Of these each is as good as any other; inject.py has them.
ALIKE = ("cuCtxPushCurrent", "cuCtxPopCurrent", "cuThreadExchangeStreamCaptureMode", "cuGetProcAddress",
         "cuDeviceGetAttribute")
PUTS = ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuLaunchHostFunc", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync")
FULL = "cuStreamSynchronize:{}:400:always,cuEventSynchronize:{}:400:always,cuCtxSynchronize:1:400:always"


def first_waits(log):
    """The first call of each that waits, behind the first launch."""
    at = log.index("cuLaunchKernel(")
    return [log.count(f" {name}(", 0, at) + 1 for name in ("cuStreamSynchronize", "cuEventSynchronize")]


def injections(counts, when, log, whole=True):
    """The failures; of calls that not all fail others where the program is not tried as a whole."""
    never = FULL.format(*first_waits(log))
    puts = PUTS if whole else [symbol for symbol in PUTS if symbol != "cuMemcpyHtoDAsync"]
    first = FIRST if whole and when != "first" else 1
    for symbol, count in counts.items():
        if symbol in ALIKE:
            continue
        codes = [code for code in inject.DOCUMENTED[symbol] if code != SHUT_DOWN]
        again = 2 * AGAIN if when == "first" else PUT if symbol in puts else AGAIN
        for nth in range(1, count + 1):
            if when != "all" and (nth + whole) % again and nth > first:
                continue
            code = codes[nth % len(codes)]
            twice = symbol == "cuMemcpyDtoHAsync" and (when == "all" or (nth + whole) // again % 2 == 0)
            for each in codes if when == "all" else [] if twice else [code]:
                yield f"{symbol}:{nth}:{each}"
            if twice:
                yield f"{symbol}:{nth}:2,{symbol}:{nth + 1}:2"
            if symbol in PUTS and (when == "all" or (nth + whole) % AGAIN == 0):
                yield f"{symbol}:{nth}:{code},{never}"


def main():
    kjit, program, driver = sys.argv[1:4]
    when = "all" if "KJIT_TEST_ALL" in os.environ else sys.argv[4] if sys.argv[4:] else None
    failed, made = 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        runs = inject.Runs(kjit, program, driver, "", folder)
        for number, scenario in enumerate(SCENARIOS):
            counts, expected = runs.calls(scenario, f"{number}")
            log = (pathlib.Path(folder) / f"{number}.log").read_text()
            fails = list(injections(counts, when, log, scenario[2]))
            failed += runs.judge(pool, scenario, number, fails, expected)
            made += len(fails)
    print(f"{made} failures, {failed} not taken well")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
