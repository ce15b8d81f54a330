"""What the threads of a warp or block give each other: operations of warps, functions of std.warp and std.block."""
import math

import scalars


def block_library(what, t, threads):
    """std.block: what threads give each other, in the order of their numbers."""
    given = [thread.waits[2] for thread in threads]
    items = [x[0] for x in given]
    if what == "block.sort":
        answers = sorted(items, key=lambda x: (x != x, x))
    elif what == "block.sort_pairs":
        answers = sorted(given, key=lambda x: (x[0] != x[0], x[0]))
    else:
        answers = joined(what.partition(".")[2], t, items)
        if what == "block.exclusive_sum":
            total = scalars.wrap(sum(items), t)
            answers = [(x, total) for x in answers]
    for thread, answer in zip(threads, answers):
        thread.answer = answer


def joined(what, t, items):
    """For each of some values in order what they come to, all of them or those before it."""
    if what in ("min", "max"):
        best = items[0]
        for x in items[1:]:
            best = scalars.minimum(best, x) if what == "min" else scalars.maximum(best, x)
        return [best] * len(items)
    if what == "prod":
        return [scalars.wrap(math.prod(items), t)] * len(items)
    sums = [0]
    for x in items:
        sums.append(scalars.wrap(sums[-1] + x, t))
    return {"sum": sums[-1:] * len(items), "inclusive_sum": sums[1:], "exclusive_sum": sums[:-1]}[what]


# ---- Operations of warps: lanes that are there by number; (kind, site, mask, operation, value, argument) ----

def shuffle(lane_of):
    def operation(there, _):
        for lane, t in there.items():
            source = lane_of(lane, t.waits[5])
            t.answer = t.waits[4] if source is None else there[source].waits[4] if source in there else None
    return operation


def vote(decide):
    def operation(there, _):
        answer = decide({lane: t.waits[4] for lane, t in there.items()})
        for t in there.values():
            t.answer = answer
    return operation


def equal_bits(a, b):
    """Bit for bit: what NaNs do here nothing says, so the generator keeps them away."""
    if isinstance(a, tuple):
        return all(map(equal_bits, a, b))
    if isinstance(a, complex):
        return equal_bits(a.real, b.real) and equal_bits(a.imag, b.imag)
    return scalars.same(a, b)


def match_any(there, _):
    for t in there.values():
        t.answer = sum(1 << lane for lane, other in there.items() if equal_bits(other.waits[4], t.waits[4]))


def match_all(values):
    first = next(iter(values.values()))
    if all(equal_bits(first, v) for v in values.values()):
        return sum(1 << lane for lane in values), True
    return 0, False


def active(_, lanes):
    for t in lanes:
        t.answer = sum(1 << other.lane for other in lanes)


def warp_library(there, lanes):
    """std.warp"""
    threads = [thread for _, thread in sorted(there.items())]
    what, t = threads[0].waits[3], threads[0].waits[5]
    for thread, answer in zip(threads, joined(what.partition(".")[2], t, [thread.waits[4] for thread in threads])):
        thread.answer = answer


WARP_OPERATIONS = {
    "shfl_sync": shuffle(lambda lane, n: n % 32),
    "shfl_up_sync": shuffle(lambda lane, n: lane - n % 32 if lane >= n % 32 else None),
    "shfl_down_sync": shuffle(lambda lane, n: lane + n % 32 if lane + n % 32 < 32 else None),
    "shfl_xor_sync": shuffle(lambda lane, n: lane ^ n % 32),
    "all_sync": vote(lambda p: all(p.values())),
    "any_sync": vote(lambda p: any(p.values())),
    "eq_sync": vote(lambda p: len(set(p.values())) == 1),
    "ballot_sync": vote(lambda p: sum(1 << lane for lane, v in p.items() if v)),
    "match_any_sync": match_any,
    "match_all_sync": vote(match_all),
    "activemask": active,
    "syncwarp": lambda there, lanes: None,
}
WARP_OPERATIONS.update((f"warp.{what}", warp_library) for what in ("sum", "prod", "min", "max", "inclusive_sum",
                                                                   "exclusive_sum"))
