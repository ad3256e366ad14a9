"""mutate.py COUNT SEED GRAPH.txt...: damages GraphDefs at random; tfc must report it, never crash.

Bytes are changed and cut off, and nodes lose inputs or get those of others.
"""

import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import graphdef
from protobuf import damage_bytes


def damage_edges(rng, lines):
    lines = list(lines)
    names = [line.split()[0] for line in lines]
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(lines))
        head, bar, attributes = lines[at].partition("|")
        words = head.split()
        kind = rng.randrange(5)
        if kind == 0 and len(words) > 2:
            words.pop(rng.randrange(2, len(words)))
        elif kind == 1 and len(words) > 2:
            words[rng.randrange(2, len(words))] = rng.choice(names) + rng.choice(["", ":1", ":7"])
        elif kind == 2:
            words.append(rng.choice(["", "^"]) + rng.choice(names))
        elif kind == 3:
            words[1] = rng.choice(lines).split()[1]
        else:
            attributes = rng.choice(lines).partition("|")[2]
        lines[at] = " ".join(words) + " | " + attributes
    return b"".join(graphdef.block(1, graphdef.node(line)) for line in lines)


def entry_of(lines):
    """Feeds all placeholders and fetches all values without uses."""
    words = [line.partition("|")[0].split() for line in lines]
    feeds = [w[0] + ":0" for w in words if w[1] == "Placeholder"]
    read = {name.lstrip("^").split(":")[0] for w in words for name in w[2:]}
    last = [w[0] for w in words if w[0] not in read]
    return f"e: {', '.join(feeds)} -> {', '.join(n + ':0' for n in last)} ; {', '.join(last)}"


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    graphs = []
    for path in sys.argv[3:]:
        lines = [line.split("#")[0].strip() for line in open(path)]
        graphs.append([line for line in lines if line])
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.pb")
        for number in range(count):
            lines = rng.choice(graphs)
            data = b"".join(graphdef.block(1, graphdef.node(line)) for line in lines)
            data = damage_bytes(rng, data) if rng.random() < 0.5 else damage_edges(rng, lines)
            with open(path, "wb") as out:
                out.write(data)
            command = ["tfc", "compile", path, "--entry", entry_of(lines), "--stop-after=frontend"]
            done = subprocess.run(command, capture_output=True, timeout=60)
            if done.returncode not in (0, 1) or (done.returncode == 1 and b"error:" not in done.stderr):
                with open("crash.pb", "wb") as out:
                    out.write(data)
                print(f"mutant {number} of seed {seed}: exits with {done.returncode}, see crash.pb")
                print(" ".join(command), done.stderr.decode(errors="replace")[-2000:])
                return 1
    print(f"{count} mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
