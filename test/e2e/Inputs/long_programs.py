"""long_programs.py FOLDER: compiles long programs and measures the work and the output.

Twice the steps may take 2.2 times the work: visits of the searches that form kernels, launches, lines
of LLVM IR. In the long form, programs of 10,000 steps have 20 seconds of processor time and 1 GB each.
"""

import os
import re
import resource
import subprocess
import sys

WORK_RATIO = 2.2
SECONDS, BYTES = 20, 1 << 30

# Name: the type of x and y, and a step.
CHAINS = {
    "functions": ("f32[64, 64]", "sin({x}) * a"),
    "sums": ("f32[n]", "{x} * 1.01 + a"),
    "numbered": ("f32[n]", "{x} * 1.01 + {i}.5"),
    "products": ("f32[4, 4]", "matmul({x}, x)"),
    "rows": ("f32[16, 16]", "softmax({x})"),
    "columns": ("f32[16, 16]", "{x} * 0.5 + sum({x}, axis: 0)"),
    "views": ("f32[n]", "reverse({x}, axis: 0)"),
}


def chain(name, steps, gradient=False):
    type, step = CHAINS[name]
    lines = ["graph long", "", f"entry f(x: {type}, a: f32) -> (y: {type}) {{"]
    x = "x"
    for i in range(steps):
        lines.append(f"  x{i} = " + step.format(x=x, i=i))
        x = f"x{i}"
    lines.append(f"  return gradients(sum({x}), [x])[0]" if gradient else f"  return {x}")
    return "\n".join(lines) + "\n}\n"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def count(path):
    """The work of compiling the graph, as numbers by name."""
    said = run("tfc", "compile", path, "--stop-after=memory", "-v", "-o", path + ".mlir").stderr
    work = {"visits": int(re.search(r"forming kernels: (\d+) visits", said)[1])}
    with open(path + ".mlir") as file:
        work["operations"] = len(file.readlines())
    return work


def check_growth(name, steps, gradient=False):
    few, many = (count_of(name, n, gradient) for n in [steps, 2 * steps])
    for key in few:
        if many[key] > WORK_RATIO * max(few[key], 1):
            sys.exit(f"{name}: {key} grow from {few[key]} to {many[key]} with twice the steps")
    print(f"{name}{' and gradient' if gradient else ''}: grows linearly")


def count_of(name, steps, gradient):
    write(f"{name}.graph", chain(name, steps, gradient))
    return count(f"{name}.graph")


def check_bar(name, steps, gradient=False):
    """Compiles in a process of its own, whose time and memory are those of the waited-for child."""
    write(f"{name}.graph", chain(name, steps, gradient))
    child = subprocess.Popen(["tfc", "compile", f"{name}.graph", "-o", f"{name}.so"])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    print(f"{name}: {seconds:.1f} s, {memory >> 20} MB")
    if status != 0 or seconds > SECONDS or memory > BYTES:
        sys.exit(f"{name}: {steps} steps: status {status}, more than {SECONDS} s or {BYTES} bytes")


def main():
    os.chdir(sys.argv[1])
    # The default stack of a program's main thread.
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, most))
    for name in CHAINS:
        check_growth(name, 500)
    check_growth("functions", 500, gradient=True)
    if "TFC_LONG" in os.environ:
        for name in ["functions", "sums", "products", "views"]:
            check_bar(name, 10000)
        check_bar("functions", 10000, gradient=True)


main()
