"""mutate.py COUNT SEED TOOL FILE...: edits the files at random and feeds the results to tfc-parse.

Fails if the tool crashes or hangs, or if the formatter changes what a file means. Prints the path of
the folder with the mutants of a failing batch.
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile

BATCH = 200
FRAGMENTS = """( ) [ ] { } , : ; . .. @ -> = == <= * ** // # ## ` " \\ \\u{ {k} 0x 1e9 99999999999999999999999
graph fn entry part var let if else static for in while with yield return use dim queue where not true
f32 list x\n \n\n \t \r\n ' & é \0 \x01 \ufeff 1. .5 "a" (( [[ {{ }} )""".split(" ")


def mutate(rng, text, others):
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + rng.choice([1, 3, 20, 200]))
        kind = rng.randrange(9)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:at] + rng.choice(FRAGMENTS).encode() + text[at:]
        elif kind == 2:
            text = text[:to] + text[at:to] * rng.choice([1, 2, 50]) + text[to:]
        elif kind == 3:
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        elif kind == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            text = text[:at] + other[start : start + 200] + text[to:]
        elif kind == 5:  # a comment or a line break where there is a blank
            places = [m.start() for m in re.finditer(rb" ", text)] or [0]
            at = rng.choice(places)
            text = text[:at] + rng.choice([b" # c\n", b"\n# own\n", b"\n", b"\n\n", b"  "]) + text[at:]
        elif kind == 6:
            lines = text.split(b"\n")
            rng.shuffle(lines) if rng.random() < 0.1 else lines.pop(rng.randrange(len(lines)))
            text = b"\n".join(lines)
        elif kind == 7:  # other words of the same text
            words = re.findall(rb"\w+|\S", text) or [b"x"]
            text = text[:at] + rng.choice(words) + b" " + text[at:]
        else:
            words = sorted(set(re.findall(rb"[A-Za-z_]\w+", text))) or [b"x"]
            text = text.replace(rng.choice(words), rng.choice(words) * rng.choice([1, 9]))
    return text


def check(tool, paths, mode):
    try:
        done = subprocess.run([tool, mode, *paths], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode not in (0, 1):
        return f"exits with {done.returncode}"
    if mode == "--verify-format" and done.returncode != 0:
        return done.stderr.decode(errors="replace")
    return None


def main():
    count, seed, tool, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    originals = [open(path, "rb").read() for path in files]
    rng = random.Random(seed)
    for _ in range(0, count, BATCH):
        folder = tempfile.mkdtemp(prefix="mutants-")
        paths = []
        for k in range(BATCH):
            paths.append(f"{folder}/{k}.graph")
            with open(paths[-1], "wb") as out:
                out.write(mutate(rng, rng.choice(originals), originals))
        for mode in ["--print-ast", "--verify-format"]:
            problem = check(tool, paths, mode)
            if problem:
                print(f"{folder}: with {mode}, tfc-parse {problem}")
                return 1
        shutil.rmtree(folder)
    print(f"{count} mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
