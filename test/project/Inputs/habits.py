"""Checks header guards, banners, comments and the subjects of commits: habits.py ROOT [SUBJECTS].

SUBJECTS is a file with one subject a line; without it, git's history is read from SINCE on.
"""

import os
import re
import subprocess
import sys

import sources

# C programs include these two, so they have guards that every C compiler knows.
PUBLIC_HEADERS = ("runtime/tfc.h", "runtime/Model.h")
SINCE = "2026-11-22T21:30:00Z"
BANNER = re.compile(r"//===-(--)? (.+?) -+(\*- C\+\+ -\*-+)?===//|//===-+===//")
# 'What' at the start of a comment, a heading or a sentence, and the sign that ends the sentence.
WHAT = re.compile(r'(?:^|[.:;?!]\s+|[/#*|-]\s+|"{3})What\b(?=(?:[^.?!]|[.!](?=\S))*([.?!]?))', re.M)


def guard_errors(path, text):
    if not path.endswith(".h") or path in PUBLIC_HEADERS:
        return
    if "#pragma once" not in text.splitlines():
        yield 1, "has no '#pragma once'"


def banner_errors(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//==="):
            continue
        banner = BANNER.fullmatch(line)
        if not banner or len(line) != 80:
            yield number, "is no banner of 80 columns that ends in '===//'"
        elif number == 1 and not (banner[2] or "").startswith(os.path.basename(path)):
            yield number, "is a banner that does not begin with the name of the file"


def what_errors(text):
    for match in WHAT.finditer(text):
        if match[1] != "?":
            line = text.count("\n", 0, match.start() + match[0].index("What")) + 1
            yield line, "has a sentence that begins with 'What' and is no question: name its subject"


def top_comment(text):
    """The words of the comment at the top of a file, without banners."""
    words = []
    for line in text.splitlines():
        if line and not line.startswith("//"):
            break
        if not line.startswith("//==="):
            words.append(line.lstrip("/ "))
    return " ".join(words)


def comment_errors(path, text):
    if path.endswith(".cpp") and not re.search(r"\w\W*\.(\s|$)", top_comment(text)):
        yield 1, "has no sentence at its top that says what it is for"


def subjects(root):
    if not os.path.exists(os.path.join(root, ".git")):
        return []
    git = ["git", "-c", "safe.directory=*", "-C", root, "log", "--no-merges", "--format=%s"]
    listed = subprocess.run(git + [f"--since={SINCE}"], capture_output=True, text=True)
    return listed.stdout.splitlines()


def folder_tags(paths):
    folders = {folder for path in paths for folder in path.split("/")[:-1]}
    return {folder.replace("_", "").replace("-", "").lower() for folder in folders}


def subject_errors(subject, tags):
    if len(subject) > 72:
        yield f"has {len(subject)} characters, and 72 is the limit"
    tag = re.match(r"\[(\w+)\] [A-Z]", subject)
    if not tag:
        yield "is not of the form '[Folder] Imperative subject'"
    elif tag[1].lower() not in tags:
        yield f"has the tag '{tag[1]}', which names no folder"


def main():
    root = sys.argv[1]
    errors, paths = [], []
    for path, text in sources.files(root):
        paths.append(path)
        if not path.endswith("Inputs/wrong-habits.txt"):
            errors += [f"{path}:{n}: error: {what}" for n, what in what_errors(text)]
        if path.endswith((".h", ".cpp", ".c", ".td", ".inc")):
            for check in (guard_errors, banner_errors, comment_errors):
                errors += [f"{path}:{n}: error: {what}" for n, what in check(path, text)]
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            listed = file.read().splitlines()
    else:
        listed = subjects(root)
    tags = folder_tags(paths)
    for subject in listed:
        errors += [f"error: '{subject}' {what}" for what in subject_errors(subject, tags)]
    print("\n".join(errors))
    return 1 if errors else 0


sys.exit(main())
