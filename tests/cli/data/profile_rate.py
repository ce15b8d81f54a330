"""Is the rate that kjit profile tells of 50 launches that read and write 4 MB their bytes by their time?"""
import sys

with open(sys.argv[1]) as file:
    row = next(line.split() for line in file if line.rstrip().endswith("add[3907, 256]"))
times, total, rate = int(row[0]), float(row[1]), float(row[7])
wanted = times * 8e6 / total * 1e-6
assert abs(rate - wanted) < 0.02 * wanted, (row, wanted)
