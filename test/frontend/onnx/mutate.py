"""mutate.py COUNT SEED MODEL.txt...: damages ONNX models at random; tfc must report it, never crash."""

import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))
from protobuf import damage_bytes

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")


def damage_nodes(rng, lines):
    """Nodes lose inputs, get those of others, or other operations and attributes."""
    lines = list(lines)
    nodes = [i for i, line in enumerate(lines) if " = " in line]
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.choice(nodes)
        outputs, rest = lines[at].split(" = ", 1)
        call, _, attributes = rest.partition("|")
        words = call.split()
        other = lines[rng.choice(nodes)].split(" = ", 1)[1]
        kind = rng.randrange(5)
        if kind == 0 and len(words) > 1:
            words.pop(rng.randrange(1, len(words)))
        elif kind == 1 and len(words) > 1:
            words[rng.randrange(1, len(words))] = rng.choice(other.partition("|")[0].split()[1:] or ["-"])
        elif kind == 2:
            words.append(rng.choice(words[1:] or ["-"]))
        elif kind == 3:
            words[0] = other.split()[0]
        else:
            attributes = other.partition("|")[2]
        lines[at] = f"{outputs} = {' '.join(words)} | {attributes}"
    return lines


def write(lines):
    result = subprocess.run([sys.executable, os.path.join(INPUTS, "model.py")], input="\n".join(lines).encode(),
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return result.stdout if result.returncode == 0 else b""


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    models = [open(path).read().splitlines() for path in sys.argv[3:]]
    whole = [write(model) for model in models]
    crashes = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            which = rng.randrange(len(models))
            data = write(damage_nodes(rng, models[which])) if rng.random() < 0.5 else b""
            data = data or damage_bytes(rng, whole[which])
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(data)
            result = subprocess.run(["tfc", "compile", path, "--emit=mlir", "--stop-after=simplify", "-o", "-"],
                                    capture_output=True)
            if result.returncode not in (0, 1) or (result.returncode == 1 and b"error: " not in result.stderr):
                crashes += 1
                print(f"model {number} exits with {result.returncode}:\n{result.stderr.decode(errors='replace')}")
    return 1 if crashes else 0


sys.exit(main())
