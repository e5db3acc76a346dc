"""A stand-in for a benchmark program: it prints a time around its argument, in ms."""

import random
import sys

level = float(sys.argv[1])
print(f"time: {level * random.gauss(1, 0.003):.4f} ms")
