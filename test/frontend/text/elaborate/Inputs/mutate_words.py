"""mutate_words.py COUNT SEED TOOL FILE...: exchanges words of the files and runs TOOL on the results.

Fails if it crashes or hangs, or fails without saying why; prints such a file.
"""

import random
import re
import subprocess
import sys
import tempfile

WORD = re.compile(r'\s+|\w+|"[^"]*"|[^\w\s]')


def mutate(rng, words, pool):
    words = list(words)
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randrange(len(words)), rng.randrange(4)
        if kind == 0:
            words[at] = rng.choice(pool)
        elif kind == 1:
            del words[at]
        elif kind == 2:
            words.insert(at, rng.choice(pool))
        else:
            other = rng.randrange(len(words))
            words[at], words[other] = words[other], words[at]
    return "".join(words)


def failure(tool, path):
    try:
        done = subprocess.run([tool, path], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode not in (0, 1):
        return f"exits with {done.returncode}"
    return "fails in silence" if done.returncode and not done.stderr.strip() else None


def main():
    count, seed, tool, *paths = sys.argv[1:]
    rng = random.Random(int(seed))
    files = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            files.append(WORD.findall(re.sub(r"^#.*\n", "", file.read(), flags=re.M)))
    pool = [word for words in files for word in words if not word.isspace()]
    wrong = 0
    with tempfile.NamedTemporaryFile("w", suffix=".graph", encoding="utf-8") as file:
        for _ in range(int(count)):
            text = mutate(rng, rng.choice(files), pool)
            file.seek(0)
            file.truncate()
            file.write(text)
            file.flush()
            if what := failure(tool, file.name):
                wrong += 1
                print(f"{what}:\n{text}")
    return 1 if wrong else 0


sys.exit(main())
