"""Writes masks of 300 elements, of which as many are true as the name says, and two predicates."""

import os
import sys

import numpy as np

for count in (0, 3, 128, 129):
    np.save(os.path.join(sys.argv[1], f"{count}.npy"), np.arange(300) < count)
np.save(os.path.join(sys.argv[1], "yes.npy"), np.array(True))
np.save(os.path.join(sys.argv[1], "no.npy"), np.array(False))
