"""Random choices that are the same for a seed on every machine and Python: made of getrandbits alone."""
import random


class Rng:
    def __init__(self, seed):
        self.bits = random.Random(seed).getrandbits

    def below(self, n):
        """0 .. n-1; for small n nearly uniform is enough."""
        return self.bits(32) * n >> 32 if n < 1 << 16 else self.bits(64) * n >> 64

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, items):
        return items[self.below(len(items))]

    def weighted(self, choices):
        """Of (weight, item) pairs one item."""
        n = self.below(sum(w for w, _ in choices))
        for w, item in choices:
            n -= w
            if n < 0:
                return item
        raise AssertionError("no choices")

    def shuffled(self, items):
        items = list(items)
        for k in range(len(items) - 1, 0, -1):
            j = self.below(k + 1)
            items[k], items[j] = items[j], items[k]
        return items

    def shuffle(self, items):
        items[:] = self.shuffled(items)

    def fork(self):
        return Rng(self.bits(64))
