"""Kernels at random, as Python and as kjit's ports: NUMBA_PROGRAMS=1000 tests more of them."""
import os
import time
import unittest

import numpy as np

import kjit
import numba_programs
from numba_emulator import cuda
from support import main


class Programs(unittest.TestCase):
    def test_programs(self):
        same = 0
        for seed in range(int(os.environ.get("NUMBA_PROGRAMS", 40))):
            text, names = numba_programs.kernel(seed), {"cuda": cuda}
            x = np.random.RandomState(seed).randint(-9, 9, 8)
            arguments = x, np.zeros(4, np.int64), seed % 16 - 6, seed % 11 - 3
            expected = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            exec(text, names)
            cuda.run(names["k"], 1, 4, expected, False)
            if abs(expected[1]).max() > 2 ** 60:  # Python's integers are longer
                continue
            with self.subTest(seed=seed):
                kjit.numba_port(text, "i64[], i64[], i64, i64", warn="off")[1, 4](*arguments)
                self.assertEqual(arguments[1].tolist(), expected[1].tolist(), text)
                same += 1
        self.assertGreater(same, 30)

    def test_long_kernels_take_no_time(self):
        text = max(map(numba_programs.kernel, range(40)), key=len)
        self.assertGreater(len(text), 2000)
        start = time.process_time()
        kjit.numba_port(text, "i64[], i64[], i64, i64")
        self.assertLess(time.process_time() - start, 3)


if __name__ == "__main__":
    main()
