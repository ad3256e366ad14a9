"""unpack.py FOLDER OUT: unpacks each .npz file below FOLDER into a folder of its own in OUT."""

import pathlib
import sys
import zipfile

for number, path in enumerate(sorted(pathlib.Path(sys.argv[1]).rglob("*.npz"))):
    with zipfile.ZipFile(path) as archive:
        archive.extractall(pathlib.Path(sys.argv[2]) / str(number))
