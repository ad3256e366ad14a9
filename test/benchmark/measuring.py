"""Code that the benchmarks share: workers that take turns, their feeds, tables."""

import array
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORKERS = os.path.join(HERE, "workers")
# Network -> (what it is, bound of its integers in x or None for floats, shapes of x and label, bound of the
# labels). workers/networks.py has the same for the peers.
NETWORKS = {
    "lenet": ("28 x 28, conv 5 x 5 x 32, 64, 1024, 10, batch 64, momentum", None, (64, 28, 28, 1), (64,), 10),
    "alexnet": ("224 x 224, one tower, no dropout, batch 16, momentum", None, (16, 224, 224, 3), (16,), 1000),
    "lstm": ("2 layers of 512, 35 steps, batch 20, 10,000 words, SGD", 10000, (35, 20), (35, 20), 10000),
    "gpt": ("6 layers of 384, 8 x 128 tokens of 8,192, Adam", 8192, (8, 128), (8, 128), 8192),
}


class Worker:
    """A process that runs a task on request, and sleeps in between."""

    def __init__(self, label, command, environment):
        self.label = label
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if label != "tfc" else None,
            text=True,
            env={**os.environ, **environment},
        )
        self.version = self._read()["version"]

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            error = self.process.stderr.read() if self.process.stderr else ""
            raise RuntimeError(f"{self.label} ended early\n{error[-2000:]}")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self._read()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def build_worker(cc, folder):
    """Compiles the worker that calls libraries of tfc."""
    source, worker = os.path.join(WORKERS, "tfc_worker.c"), os.path.join(folder, "tfc-worker")
    headers = os.path.join(ROOT, "runtime")
    subprocess.run([cc, "-O2", "-I", headers, source, "-ldl", "-lm", "-o", worker], check=True)
    return worker


def write_feed(folder, task, name, shape, below=None, scale=1.0, kind="i", pool_size=65537):
    """Numbers in [-2, 2), scaled, or integers in [0, below), the same in every run."""
    draw = random.Random(f"{task}.{name}")
    count = 1
    for size in shape:
        count *= size
    if below:
        values = array.array(kind, (draw.randrange(below) for _ in range(count)))
    else:  # a pool of prime length, repeated: a million draws would take seconds
        pool = [scale * (4 * draw.random() - 2) for _ in range(min(count, pool_size))]
        values = array.array("f", (pool * (count // len(pool) + 1))[:count])
    with open(os.path.join(folder, f"{task}.{name}.bin"), "wb") as file:
        values.tofile(file)


def write_network_feeds(folder, task):
    _, below, shape, labels, classes = NETWORKS[task]
    write_feed(folder, task, "x", shape, below)
    write_feed(folder, task, "label", labels, classes)


def start_peers(arguments, folder, kinds):
    """Starts the peers that are installed: kinds maps a label to (folder of --peers, script,
    arguments)."""
    threads = getattr(arguments, "threads", 1)
    environment = {
        "TFC_PEER_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    if threads == 1:
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    workers = []
    for label, (place, script, extra) in kinds.items():
        python = os.path.join(arguments.peers or "", place, "bin", "python")
        if not arguments.peers or not os.path.exists(python):
            print(f"{label}: not installed, left out", file=sys.stderr)
            continue
        command = [python, os.path.join(WORKERS, script), folder, *extra]
        workers.append(Worker(label, command, environment))
    return workers


def agree(expected, actual):
    return len(expected) == len(actual) and all(
        abs(e - a) <= 1e-3 * abs(e) + 1e-6 for e, a in zip(expected, actual)
    )


def measure(arguments, task, workers, steps, is_compared=True):
    """Lets the workers run the task in turns, after as many steps whose answers are compared; label ->
    microseconds of all calls."""
    answers = {worker.label: worker.ask("check", task, steps) for worker in workers}
    for label, answer in answers.items():
        if is_compared and label != "tfc" and not agree(answers["tfc"], answer):
            print(
                f"{task}: {label} gives {answer[-1]}, where tfc gives {answers['tfc'][-1]}",
                file=sys.stderr,
            )
            arguments.disagreed = True
    times = {worker.label: [] for worker in workers}
    for worker in workers:
        worker.ask("time", task, arguments.slice)  # to warm up
    for turn in range(arguments.rounds):
        for worker in workers[turn % len(workers) :] + workers[: turn % len(workers)]:
            times[worker.label] += worker.ask("time", task, arguments.slice)
    return times


def table(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        return "| " + " | ".join(cells) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    print("\n".join([line(header), line(rule), *map(line, rows)]), end="\n\n")


def number(value):
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"
