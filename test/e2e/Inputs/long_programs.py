"""long_programs.py FOLDER: compiles long programs and measures the work and the output.

Twice the length may take 2.2 times the work: visits of the searches that form kernels, operations after
the stages. Chains of 20,000 operations do not need more stack than short ones. In the long form, programs
of 10,000 steps have 20 seconds of processor time and 1 GB each.
"""

import os
import re
import resource
import subprocess
import sys

WORK_RATIO = 2.2
# Fewer visits than these are noise.
FEW_VISITS = 2000
SECONDS, BYTES = 20, 1 << 30
SMALL_STACK = 1 << 20

# Name: the type of x and y, and a step.
CHAINS = {
    "functions": ("f32[64, 64]", "sin({x}) * a"),
    "sums": ("f32[n]", "{x} * 1.01 + a"),
    "numbered": ("f32[n]", "{x} * 1.01 + {i}.5"),
    "products": ("f32[4, 4]", "matmul({x}, x)"),
    "rows": ("f32[16, 16]", "softmax({x})"),
    "columns": ("f32[16, 16]", "{x} * 0.5 + sum({x}, axis: 0)"),
    "views": ("f32[n]", "reverse({x}, axis: 0)"),
    "branches": ("f32[8]", "if a > {i}.0 {{ yield sin({x}) }} else {{ yield {x} * {i}.5 }}"),
    "loops": ("f32[8]", "for j in 0..3 with h = {x} {{ yield sin(h) * {i}.5 }}"),
}


def chain(name, steps, gradient=False):
    type, step = CHAINS[name]
    lines = ["graph long", "", f"entry f(x: {type}, a: f32) -> (y: {type}) {{"]
    x = "x"
    for i in range(steps):
        lines.append(f"  x{i} = " + step.format(x=x, i=i))
        x = f"x{i}"
    lines.append(f"  return gradients(sum({x}), [x])[0]" if gradient else f"  return {x}")
    return lines + ["}"]


def sum_of(values):
    return "  return add_n([" + ", ".join(values) + "])"


def fan_in(length):
    """Values that are added up in the end."""
    steps = [f"  x{i} = sin(x * {i}.5)" for i in range(length)]
    names = [f"x{i}" for i in range(length)]
    return ["graph long", "entry f(x: f32[64]) -> (y: f32[64]) {", *steps, sum_of(names), "}"]


def fan_out(length):
    """Many products that read one product."""
    steps = [f"  x{i} = matmul(sin(h * {i}.5), h)" for i in range(length)]
    names = [f"x{i}" for i in range(length)]
    entry = "entry f(x: f32[16, 16]) -> (y: f32[16, 16]) {"
    return ["graph long", entry, "  h = matmul(x, x)", *steps, sum_of(names), "}"]


def named_sizes(length):
    feeds = ", ".join(f"x{i}: f32[n{i}]" for i in range(length))
    sums = [f"sum(x{i})" for i in range(length)]
    return ["graph long", f"entry f({feeds}) -> (y: f32) {{", sum_of(sums), "}"]


def many_entries(length):
    entries = [
        f"entry e{i}(x: f32[8]) -> (y: f32[8]) {{ return x * {i}.5 + w }}" for i in range(length)
    ]
    return ["graph long", "var w: f32[8] = zeros()", *entries]


def many_variables(length):
    variables = [f"var v{i}: f32[8] = zeros()" for i in range(length)]
    steps = [f"  assign(v{i}, v{i} * 0.5 + x)" for i in range(length)]
    return ["graph long", *variables, "entry f(x: f32[8]) {", *steps, "}"]


def many_results(length):
    results = ", ".join(f"y{i}: f32[8]" for i in range(length))
    values = ", ".join(f"x * {i}.5" for i in range(length))
    return ["graph long", f"entry f(x: f32[8]) -> ({results}) {{", f"  return {values}", "}"]


def many_queues(length):
    queues = [f"queue q{i}: (x: f32[8]) = fifo_queue(capacity: 4)" for i in range(length)]
    steps = [f"  enqueue(q{i}, x * {i}.5)" for i in range(length)]
    return ["graph long", *queues, "entry f(x: f32[8]) {", *steps, "}"]


def limited_sizes(length):
    """Sizes with a bound and two facts each."""
    feeds = ", ".join(f"x{i}: f32[n{i} <= {i + 8}]" for i in range(length))
    facts = [f"n{i} % 2 == 0, n{i} == n{i // 2}" for i in range(1, length)]
    sums = [f"sum(x{i})" for i in range(length)]
    return ["graph long", f"entry f({feeds}) -> (y: f32)", "    where " + ", ".join(facts) + " {",
            sum_of(sums), "}"]


def trained(length):
    """A step of gradient descent of a chain in which each operation has a variable of its own."""
    variables = [f"var w{i}: f32[64] = ones()" for i in range(length)]
    steps, x = [], "x"
    for i in range(length):
        steps.append(f"  x{i} = tanh({x} * w{i})")
        x = f"x{i}"
    steps += [f"  loss = mean({x})", "  opt(loss, learning_rate: 0.1)", "  return loss"]
    head = ["graph long", "use optimizers: sgd", *variables, "let opt = sgd()"]
    return [*head, "entry f(x: f32[32, 64]) -> (loss: f32) {", *steps, "}"]


def joined(length):
    """Many parts of different sizes, concatenated, and the gradient."""
    steps = [f"  x{i} = x[:, :{1 + i % 4}] * {i}.5" for i in range(length)]
    parts = ", ".join(f"x{i}" for i in range(length))
    size = sum(1 + i % 4 for i in range(length))
    entry = f"entry f(x: f32[3, 8]) -> (y: f32[3, {size}], g: f32[3, 8]) {{"
    end = [f"  y = concat([{parts}], axis: 1)", "  return y, gradients(sum(sin(y)), [x])[0]", "}"]
    return ["graph long", entry, *steps, *end]


def merged_switches(length):
    """Switches one after the other, each merged before the next."""
    lines = []
    x = "x"
    for i in range(length):
        lines.append(f"    t{i}, g{i} = switch({x}, a > {i}.0)")
        lines.append(f"    m{i}, _ = merge(sin(t{i}), g{i} * 0.5)")
        x = f"m{i}"
    return dataflow(lines, x)


def nested_switches(length):
    """A switch on the false side of each other one, merged in a chain."""
    switches, merges = [], []
    x = "x"
    for i in range(length):
        switches.append(f"    t{i}, g{i} = switch({x}, a < {i}.0)")
        x = f"g{i}"
    value = f"cos({x})"
    for i in reversed(range(length)):
        merges.append(f"    m{i}, _ = merge(sin(t{i}), {value})")
        value = f"m{i}"
    return dataflow(switches + merges, value)


def dataflow(lines, result):
    entry = "entry f(x: f32[8], a: f32) -> (y: f32[8]) {"
    return ["graph long", entry, "  return dataflow {", *lines, f"    yield {result}", "  }", "}"]


def negations(length):
    """A condition that is negated again and again."""
    lines = ["    p0 = a > 0.0"]
    lines += [f"    p{i + 1} = logical_not(p{i})" for i in range(length)]
    lines += [f"    t, g = switch(x, p{length})", "    m, _ = merge(sin(t), cos(g))"]
    return dataflow(lines, "m")


def differentiated(loop, steps, yields):
    """The gradient of a loop that begins with `loop` and runs k times."""
    lines = [*loop, *steps, f"    yield {yields}", "  }", "  return gradients(sum(y), [x])[0]"]
    return ["graph long", "entry f(x: f32[8], k: i64) -> (y: f32[8]) {", *lines, "}"]


def recomputed(length):
    """A loop whose gradient computes a chain of cheap values again."""
    steps, x = [], "h"
    for i in range(length):
        steps.append(f"    x{i} = {x} * 1.01 + f32(j)")
        x = f"x{i}"
    return differentiated(["  y = for j in 0..k with h = x {"], steps, f"sin({x}) * h")


def written_lists(length):
    """A loop that only writes a list, whose gradient runs iterations again."""
    steps, l = [], "l"
    for i in range(length):
        steps.append(f"    l{i} = write({l}, 0, h)")
        l = f"l{i}"
    loop = ["  @recompute(\"sqrt\")", "  y, _ = for j in 0..k with h = x, l = list[f32[8]](1) {"]
    return differentiated(loop, steps, f"sin(h), {l}")


def captured_views(length):
    """A loop that reads a chain of views from outside."""
    steps, x = [], "x"
    for i in range(length):
        steps.append(f"  x{i} = reverse(transpose({x}, [1, 0]), axis: 0)")
        x = f"x{i}"
    loop = [f"  return for j in 0..k with h = x {{ yield h + {x} }}"]
    return ["graph long", "entry f(x: f32[2, 2], k: i64) -> (y: f32[2, 2]) {", *steps, *loop, "}"]


def write(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def count(name, lines, stage):
    """The work of compiling the graph, as numbers by name."""
    path = f"{name}.graph"
    write(path, lines)
    said = run("tfc", "compile", path, f"--stop-after={stage}", "-v", "-o", path + ".mlir").stderr
    visits = int(re.search(r"forming kernels: (\d+) visits", said)[1])
    with open(path + ".mlir") as file:
        return {"visits": max(visits, FEW_VISITS), "operations": len(file.readlines())}


def check_growth(name, length, program, stage="memory"):
    few, many = (count(name, program(n), stage) for n in [length, 2 * length])
    for key in few:
        if many[key] > WORK_RATIO * few[key]:
            sys.exit(f"{name}: {key} grow from {few[key]} to {many[key]} with twice the length")
    print(f"{name}: grows linearly")


def check_chain(name, length, gradient=False):
    label = f"{name} and gradient" if gradient else name
    check_growth(label.replace(" ", "-"), length, lambda n: chain(name, n, gradient))


def check_stack(program, stage, length=20000):
    """Compiles a chain of operations with little stack."""

    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (SMALL_STACK, SMALL_STACK))

    name = program.__name__
    write(f"{name}.graph", program(length))
    run("tfc", "compile", f"{name}.graph", f"--stop-after={stage}", "-o", "-", preexec_fn=limit)
    print(f"{name}: needs little stack")


def measure(*command):
    """The processor time in seconds and the memory in bytes of a process."""
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def check_conditions(few, many):
    """A chain of n switches has n guards of up to n parts, so that memory grows by their product."""
    bytes = []
    for length in [few, many]:
        write("cases.graph", nested_switches(length))
        command = ["tfc", "compile", "cases.graph", "--stop-after=controlflow", "-o", "cases.mlir"]
        bytes.append(measure(*command)[1])
    if bytes[1] > 4 * bytes[0]:
        sys.exit(f"cases: {bytes[0] >> 20} MB for {few} switches, {bytes[1] >> 20} MB for {many}")
    print("cases: conditions fit in memory")


def check_bar(name, lines, *command):
    write(f"{name}.graph", lines)
    seconds, memory = measure("tfc", command[0], f"{name}.graph", *command[1:])
    print(f"{name}: {seconds:.1f} s, {memory >> 20} MB")
    if seconds > SECONDS or memory > BYTES:
        sys.exit(f"{name}: more than {SECONDS} s or {BYTES} bytes")


def main():
    os.chdir(sys.argv[1])
    # The default stack of a program's main thread.
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, most))
    for name in CHAINS:
        check_chain(name, 60 if name in ["branches", "loops"] else 300)
    check_chain("functions", 300, gradient=True)
    check_chain("branches", 60, gradient=True)
    check_chain("loops", 60, gradient=True)
    for program in [fan_in, fan_out]:
        check_growth(program.__name__, 300, program)
    for program in [many_entries, many_variables, many_results, many_queues, named_sizes]:
        check_growth(program.__name__, 200, program, stage="host")
    check_growth("merged_switches", 200, merged_switches)
    check_growth("trained", 50, trained, stage="host")
    check_conditions(100, 200)
    write("joined.graph", joined(70))
    check_stack(recomputed, "autodiff")
    check_stack(written_lists, "autodiff")
    check_stack(negations, "controlflow")
    check_stack(captured_views, "fusion")
    if "TFC_LONG" in os.environ:
        for name in ["functions", "sums", "products", "views"]:
            check_bar(name, chain(name, 10000), "compile", "-o", "long.so")
        check_bar("functions", chain("functions", 10000, True), "compile", "-o", "long.so")
        check_bar("trained", trained(500), "compile", "-o", "long.so")
        # Work that grows with the square of these lengths takes minutes.
        for program in [many_entries, fan_in, named_sizes, limited_sizes, trained]:
            check_bar(program.__name__, program(20000), "check")


main()
