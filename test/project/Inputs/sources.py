"""The project's own text files, for the tests that read all of them."""

import os
import subprocess


def _paths(root):
    """The paths that git would commit; in a folder without git, all paths."""
    git = [
        "git",
        "-c",
        "safe.directory=*",
        "-C",
        root,
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    if os.path.exists(os.path.join(root, ".git")):
        listed = subprocess.run(git, capture_output=True, text=True)
        if listed.returncode == 0:
            return listed.stdout.splitlines()
    return [
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, names in os.walk(root)
        for name in names
    ]


def files(root, suffixes=("",)):
    """Yields (path from the root, text) in a fixed order."""
    for path in sorted(_paths(root)):
        if not path.endswith(tuple(suffixes)):
            continue
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                yield path.replace(os.sep, "/"), file.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            pass
