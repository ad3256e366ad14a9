"""Writes .npy files, most of them damaged, into the current folder."""

import numpy as np

x = np.arange(6, dtype=np.float32).reshape(3, 2)
np.save("x.npy", x)
with open("x.npy", "rb") as file:
    good = file.read()
for name, data in {
    "text.npy": b"1, 2, 3",
    "short.npy": good[:-4],
    "long.npy": good + b"1234",
    "header.npy": good.replace(b"descr", b"dexcr"),
    "huge.npy": good.replace(b"(3, 2)", b"(9999999999, 9999999999)"),
}.items():
    with open(name, "wb") as file:
        file.write(data)
np.save("big-endian.npy", x.astype(">f4"))
np.save("complex.npy", x.astype(complex))
with open("version2.npy", "wb") as file:
    np.lib.format.write_array(file, x, version=(2, 0))
