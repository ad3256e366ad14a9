"""Writes cases for the model copy.mlir and their .npz files, sound and damaged, into the current folder."""

import io
import json
import zipfile

import numpy as np

x = np.arange(6, dtype=np.float32).reshape(3, 2)
np.savez("stored.npz", x=x, doubled=2 * x)
np.savez_compressed("deflated.npz", x=x, doubled=2 * x)
np.savez("key.npz", y=x)
np.savez("dtype.npz", x=x.astype(complex))
with open("stored.npz", "rb") as file:
    good = file.read()
file = io.BytesIO()
np.save(file, x)
with zipfile.ZipFile("method.npz", "w", zipfile.ZIP_BZIP2) as archive:
    archive.writestr("x.npy", file.getvalue())
end = good.rindex(b"PK\5\6")
for name, data in {
    "text.npz": b"1, 2, 3",
    "directory.npz": good.replace(b"PK\1\2", b"PK\1\3"),
    "bytes.npz": good.replace(x.tobytes(), x.tobytes()[::-1]),
    "zip64.npz": good[: end + 16] + b"\xff" * 4 + good[end + 20 :],
}.items():
    with open(name, "wb") as file:
        file.write(data)
step = {"entry": "twice", "feeds": {"x": "x"}, "fetches": {"double": "doubled"}}
for name in "stored deflated none key text directory bytes method zip64 dtype".split():
    with open(f"{name}.json", "w") as file:
        json.dump({"arrays": f"{name}.npz", "steps": [step]}, file)
