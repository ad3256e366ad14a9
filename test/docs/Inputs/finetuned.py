"""Compares the losses of two programs, and lists the weights that one of them saved."""

import json
import struct
import sys

import numpy as np


def main():
    got, expected = (np.loadtxt(path) for path in sys.argv[1:3])
    assert got.shape == expected.shape
    differs = "all" if np.abs(got - expected).max() < 1e-4 else "not all"
    print(f"{len(got)} losses, from {got[0]:.1f} to {got[-1]:.1f}; {differs} differ by less than 1e-4")
    with open(sys.argv[3], "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        for name, tensor in json.loads(file.read(size)).items():
            if name != "__metadata__":
                print(f"{name}: {tensor['dtype']} {tensor['shape']}")


if __name__ == "__main__":
    main()
