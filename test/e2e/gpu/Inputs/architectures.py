"""Prints the results of an entry f(x: f32[2]) on a GPU, by libraries: architectures.py LIBRARY..."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))

from model import Model

for library in sys.argv[1:]:
    print(f"{os.path.basename(library)}: {Model(library, threads=1).f(x=[1, 2])[0].tolist()}")
