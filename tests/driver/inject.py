#!/usr/bin/env python3
"""Fails driver calls, one at a time: inject.py KJIT WALK DRIVER [first | all]

WALK is tests/api/walk.c, walk_others.c lies beside it. What they and kjit's commands do is logged by the driver double.
Then each call that was made fails with each code that its documentation names the first time that it is made, with one
code in SHARE also in the middle, the last time, and from the first on (`first`: with each code the first time and from
then on; `all`: each time). Codes that most calls may return (USUAL) take turns: a call has one in TURNS of them, each
code a third of the calls. A call that an earlier scenario made fails with one code in AGAIN. With KJIT_TEST_ALL set all
calls have all codes. The program must then end with an error and a message, or with the very output it has without;
never by a signal or late, and the double may tell of nothing misused or left. Where a system has not what kjit can do
without (WITHOUT), that is no error."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

BEFORE = (3, 4, 201)  # not initialised, shut down, no context: most calls
FAULTS = (700, 719)  # of work that was queued before: nearly every call may return them
USUAL = {1, *BEFORE, 400, *FAULTS}
DOCUMENTED = {
    "cuInit": (1, 100, 101, 802, 803, 804, 999),
    "cuDriverGetVersion": (1,),
    "cuGetErrorName": (1,),
    "cuGetErrorString": (1,),
    "cuGetProcAddress": (1, 500, 801),
    "cuDeviceGetCount": (1, *BEFORE),
    "cuDeviceGet": (1, *BEFORE, 101),
    "cuDeviceGetName": (1, *BEFORE, 101),
    "cuDeviceTotalMem": (1, *BEFORE, 101),
    "cuDeviceGetAttribute": (1, *BEFORE, 101),
    "cuDeviceCanAccessPeer": (*BEFORE, 101),
    "cuDevicePrimaryCtxRetain": (1, 2, *BEFORE, 101, 999),
    "cuDevicePrimaryCtxRelease": (*BEFORE, 101),
    "cuCtxPushCurrent": (1, *BEFORE),
    "cuCtxPopCurrent": BEFORE,
    "cuCtxSynchronize": (*BEFORE, *FAULTS),
    "cuMemGetInfo": (1, *BEFORE, *FAULTS),
    "cuMemAlloc": (1, 2, *BEFORE, *FAULTS),
    "cuMemFree": (1, *BEFORE, *FAULTS),
    "cuMemAllocFromPoolAsync": (1, 2, 3, 201, 800, 801),
    "cuMemFreeAsync": (1, 3, 201, 801),
    "cuMemPoolCreate": (1, 2, 3, 800, 801),
    "cuMemPoolDestroy": (1,),
    "cuMemPoolSetAttribute": (1, 801),
    "cuMemPoolGetAttribute": (1, 801),
    "cuMemPoolSetAccess": (1, 101, 801),
    "cuMemPoolTrimTo": (1, 3, 801),
    "cuMemHostAlloc": (1, 2, *BEFORE, 801, *FAULTS),
    "cuMemHostRegister": (1, 2, *BEFORE, 712, 801, *FAULTS),
    "cuMemHostUnregister": (1, *BEFORE, 713, *FAULTS),
    "cuMemHostGetDevicePointer": (1, *BEFORE, *FAULTS),
    "cuMemAllocManaged": (1, 2, *BEFORE, 801, *FAULTS),
    "cuPointerGetAttribute": (1, *BEFORE, 101),
    "cuMemFreeHost": (1, *BEFORE, *FAULTS),
    "cuMemsetD32Async": (1, *BEFORE, *FAULTS),
    "cuMemcpyHtoDAsync": (1, *BEFORE, 400, *FAULTS),
    "cuMemcpyDtoHAsync": (1, *BEFORE, 400, *FAULTS),
    "cuMemcpyDtoDAsync": (1, *BEFORE, 400, *FAULTS),
    "cuMemcpyPeerAsync": (1, *BEFORE, 400, *FAULTS),
    "cuMemGetAddressRange": (1, *BEFORE, 500),
    "cuIpcGetMemHandle": (1, 2, *BEFORE, 205, 400, 801, *FAULTS),
    "cuIpcOpenMemHandle": (1, *BEFORE, 205, 400, 711, 801, *FAULTS),
    "cuIpcCloseMemHandle": (1, *BEFORE, 205, 400, *FAULTS),
    "cuModuleLoadDataEx": (1, 2, *BEFORE, 209, 218, 221, 222, 302, 303, *FAULTS),
    "cuModuleUnload": (1, *BEFORE, 800, *FAULTS),
    "cuModuleGetFunction": (1, *BEFORE, 500, *FAULTS),
    "cuFuncGetAttribute": (1, *BEFORE, 400, *FAULTS),
    "cuFuncSetAttribute": (1, *BEFORE, 400, 801, *FAULTS),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (1, *BEFORE, 999),
    "cuLaunchKernel": (1, *BEFORE, 200, 303, 400, 500, 701, 702, 703, *FAULTS),
    "cuLaunchCooperativeKernel": (1, *BEFORE, 200, 303, 400, 701, 720, 801, *FAULTS),
    "cuLaunchHostFunc": (*BEFORE, 400, 801, *FAULTS),
    "cuStreamCreate": (1, 2, *BEFORE, *FAULTS),
    "cuStreamDestroy": (1, *BEFORE, 400, *FAULTS),
    "cuStreamSynchronize": (*BEFORE, 400, *FAULTS),
    "cuStreamQuery": (*BEFORE, 400, *FAULTS),
    "cuStreamWaitEvent": (*BEFORE, 400, *FAULTS),
    "cuThreadExchangeStreamCaptureMode": (1, 3, 4, 201, 801),
    "cuStreamIsCapturing": (1, 3, 4, 801),
    "cuStreamGetCtx": (1, *BEFORE, 400),
    "cuStreamBeginCapture": (1, 3, 4, 801),
    "cuStreamEndCapture": (1, 3, 4, 901, 908),
    "cuGraphInstantiateWithFlags": (1, 3, 4, 801),
    "cuGraphLaunch": (1, 3, 4, 801, *FAULTS),
    "cuGraphExecDestroy": (1, 3, 4),
    "cuGraphDestroy": (1, 3, 4),
    "cuEventCreate": (1, 2, *BEFORE, 801, *FAULTS),
    "cuEventDestroy": (*BEFORE, 400, *FAULTS),
    "cuEventRecord": (1, *BEFORE, 400, *FAULTS),
    "cuEventQuery": (1, 3, 4, 400, *FAULTS),
    "cuEventSynchronize": (*BEFORE, 400, *FAULTS),
    "cuEventElapsedTime": (*BEFORE, 400, 999, *FAULTS),
    "cuLinkCreate": (1, 2, *BEFORE, 221, 801),
    "cuLinkAddData": (1, 2, 200, 209, 218, 222, 400),
    "cuLinkComplete": (2, 400),
    "cuLinkDestroy": (400,),
}
# Calls for things that are used where they are, and the codes of those that are not: the first time and always.
WITHOUT = {
    "cuMemPoolCreate": (800, 801),
    "cuMemAllocFromPoolAsync": (800, 801),
    "cuMemPoolSetAttribute": (1, 801),
    "cuMemPoolGetAttribute": (801,),
    "cuMemPoolSetAccess": (1, 101, 801),
    "cuThreadExchangeStreamCaptureMode": (1, 801),
    "cuStreamIsCapturing": (1, 801),
    "cuStreamBeginCapture": (1, 801),
    "cuStreamEndCapture": (901,),
    "cuGraphInstantiateWithFlags": (1, 801),
    "cuGetErrorName": (1,),
    "cuGetErrorString": (1,),
}
# What is run, in which environment, and whether all calls of it are tried or those that nothing before has made. Some
# calls are made only after another has failed.
SCENARIOS = [
    ("walk", {}, True),
    ("run --device=cuda FILE", {}, True),
    ("walk", {"KJIT_DOUBLE_POOLS": "0"}, False),
    ("walk", {"KJIT_DOUBLE_FAIL": "cuMemAllocFromPoolAsync:2:2"}, False),
    ("walk", {"KJIT_DOUBLE_FAIL": "cuMemAllocFromPoolAsync:2:2:always"}, False),
    ("walk", {"KJIT_DOUBLE_FAIL": "cuStreamSynchronize:3:400"}, False),
    ("walk", {"KJIT_DOUBLE_FAIL": "cuLaunchKernel:2:703"}, False),
    ("walk", {"KJIT_DOUBLE_FAIL": "cuEventCreate:3:2:always"}, False),
    ("walk_others", {}, False),
    ("walk_others", {"KJIT_DOUBLE_POOLS": "0"}, False),
    ("info FILE", {}, False),
    ("build --emit=cubin FILE", {}, False),
    ("devices", {}, False),
]
SHARE, AGAIN, TURNS = 6, 5, 3
SECONDS = 1000  # a hang, however busy the machine is
NAME = b"Double of an H100 80GB HBM3"  # without it kjit says "a GPU"


class Runs:
    def __init__(self, kjit, walk, driver, source, folder):
        self.kjit, self.walk, self.driver, self.source, self.folder = kjit, walk, driver, source, pathlib.Path(folder)

    def command(self, words):
        if words.startswith(("walk", "failing_launches")):
            program, *arguments = words.split()
            return [str(pathlib.Path(self.walk).with_name(program)), *arguments]
        return [self.kjit, *words.replace("FILE", self.source).split()]

    def run(self, scenario, name, fail=None):
        """Output, errors, status and the double's report."""
        words, extra, _ = scenario
        report = self.folder / name
        env = dict(os.environ, KJIT_CUDA_DRIVER=self.driver, KJIT_DOUBLE_REPORT=str(report),
                   KJIT_CACHE_DIR=str(self.folder / "cache"), **extra) # a thousand runs of the same kernels
        if fail:
            env["KJIT_DOUBLE_SEED"] = str(zlib.crc32(fail.encode()) % 1000)  # each in another order, always the same
            env["KJIT_DOUBLE_FAIL"] = ",".join(filter(None, (extra.get("KJIT_DOUBLE_FAIL"), fail)))
        else:
            env["KJIT_DOUBLE_LOG"] = str(self.folder / (name + ".log"))
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":exitcode=99"
        try:
            done = subprocess.run(self.command(words), env=env, capture_output=True, timeout=SECONDS)
            status, out, err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, out, err = "late", b"", ""
        text = report.read_text() if report.exists() else ""
        report.unlink(missing_ok=True)
        return out, err, status, text

    def judge(self, pool, scenario, number, fails, expected):
        """How many of the scenario's runs, one with each of the failures, were not taken well."""
        failed = 0
        results = pool.map(lambda fail: self.run(scenario, f"{number}-{fail}", fail), fails)
        for fail, result in zip(fails, results):
            why = wrong(result, expected, fail)
            if why:
                failed += 1
                print(f"FAILED {scenario[0]} {scenario[1] or ''} {fail}: {why}")
        return failed

    def calls(self, scenario, name):
        """How often each call was made, by its name without _v2; and the output, None where there is none."""
        result = self.run(scenario, name)
        why = wrong(result, result[0])
        if why:
            sys.exit(f"{scenario}: {why}")
        counts = {}
        for symbol in re.findall(r"^call \d+ T\d+ (\w+)\(", (self.folder / (name + ".log")).read_text(), re.MULTILINE):
            symbol = re.sub(r"_v\d$", "", symbol)
            counts[symbol] = counts.get(symbol, 0) + 1
        return counts, result[0] if result[2] == 0 else None


def is_without(fail):
    symbol, nth, code = fail.split(",")[0].split(":")[:3]
    return nth == "1" and int(code) in WITHOUT.get(symbol, ())


def wrong(result, expected, fail=None):
    """What is wrong with the run; '' where nothing is."""
    out, err, status, report = result
    if status == "late":
        return f"it ran for more than {SECONDS} s"
    if status < 0 or status in (97, 99):
        return f"status {status}\n{err}{report}"
    if "misuse" in report or "leak" in report:
        return report
    if status == 0 and out.replace(b"a GPU", NAME) != expected:
        return f"other output, and no error: {out!r}"
    if status != 0 and not err.strip():
        return f"status {status} without a message"
    if status != 0 and expected is not None and fail and is_without(fail):
        return f"status {status}, but it can do without: {err}"
    return ""


def injections(counts, when, seen):
    for symbol, count in counts.items():
        if symbol not in DOCUMENTED:
            sys.exit(f"{symbol} is not in the table")
        every = when == "all" or symbol not in seen or "KJIT_TEST_ALL" in os.environ
        for number, code in enumerate(DOCUMENTED[symbol], zlib.crc32(symbol.encode())):
            if not every and number % AGAIN:
                continue
            usual = code in USUAL and code not in WITHOUT.get(symbol, ()) and "KJIT_TEST_ALL" not in os.environ
            if every and usual and when != "all" and number % TURNS:
                continue
            if when == "all":
                times = range(1, count + 1)
            else:
                times = {1, (count + 1) // 2, count} if number % SHARE == 0 and when != "first" else {1}
            for nth in sorted(times):
                yield f"{symbol}:{nth}:{code}"
            if when != "first" and number % SHARE and not is_without(f"{symbol}:1:{code}"):
                continue
            yield f"{symbol}:1:{code}:always"


def main():
    kjit, walk, driver = sys.argv[1:4]
    source = str(pathlib.Path(__file__).parent / "data" / "inject.knl")
    seen, failed, made = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = Runs(kjit, walk, driver, source, folder)
        for number, scenario in enumerate(SCENARIOS):
            counts, expected = runs.calls(scenario, f"{number}")
            if not scenario[2]:
                counts = {symbol: count for symbol, count in counts.items() if symbol not in seen}
            fails = list(injections(counts, sys.argv[4] if sys.argv[4:] else None, seen))
            seen |= set(counts)
            failed += runs.judge(pool, scenario, number, fails, expected)
            made += len(fails)
    for symbol in sorted(set(DOCUMENTED) - seen):
        failed += 1
        print(f"FAILED {symbol} was never called")
    print(f"{made} failures of {len(seen)} calls, {failed} not taken well")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
