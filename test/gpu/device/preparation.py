"""Compiles what runs on a real GPU, and records what the emulated one computes."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import training

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
BUILD = os.environ.get("TFC_BUILD", os.path.join(SOURCE, "build"))
EMULATOR = os.path.join(BUILD, "test", "gpu", "emulator", "libtfc-emulated-cuda.so")

# A graph, or the graph in a test, and options. Entries get feeds by their types; sizes are those of SIZES.
CASES = {
    "rows": ("test/random/gpu/rows.graph", []),
    "products": ("test/random/gpu/products.graph", []),
    "elements": ("test/random/gpu/elements.graph", []),
    "kernels": ("test/e2e/gpu/efficiency.test", []),
    "tiles": ("test/e2e/gpu/precision.test", []),
    "tiles-tf32": ("test/e2e/gpu/precision.test", ["--precision=tf32"]),
    "tiles-bf16": ("test/e2e/gpu/precision.test", ["--precision=bf16"]),
    "attention": ("test/e2e/gpu/attention.test", []),
    "attention-tf32": ("test/e2e/gpu/attention.test", ["--precision=tf32"]),
    "attention-bf16": ("test/e2e/gpu/attention.test", ["--precision=bf16"]),
    "scans": ("test/e2e/gpu/scans.test", []),
    "reductions": ("test/e2e/gpu/reductions.test", []),
    "specials": ("test/e2e/gpu/specials.test", []),
    "copies": ("test/e2e/gpu/copies.test", []),
    "bundles": ("test/e2e/gpu/bundles.test", []),
    "guards": ("test/e2e/gpu/guards.test", []),
    "digits": ("docs/examples/digits/digits.graph", []),
    "text": ("docs/examples/text/text.graph", []),
    "convnet": ("docs/examples/convnet/convnet.graph", []),
}
SIZES = {"n": 5, "m": 3, "time": 6, "batch": 4, "t": 70, "s": 90, "h": 2}
QUICK_CASES = ["rows", "digits"]
# Tests that compare results with NumPy themselves are given files of the folder and numbers: COUNTERS exist on the emulated
# GPU alone.
SCRIPTS = {
    "pointers": ["pointers.py", "pointers.so"],
    "guards": ["guards.py", "guards.so"],
    "attention": ["attention.py", "attention.so", "attention-cpu.so", "counters", "1e-5"],
    "attention-tf32": ["attention.py", "attention-tf32.so", "attention-cpu.so", "counters", "5e-3"],
    "attention-bf16": ["attention.py", "attention-bf16.so", "attention-cpu.so", "counters", "3e-2"],
}
QUICK_SCRIPTS = ["pointers"]
# Libraries that they need besides CASES. These place their operations themselves, or are for the CPU.
LIBRARIES_OF_SCRIPTS = {"pointers": "test/e2e/gpu/pointers.test", "attention-cpu": "test/e2e/gpu/attention.test"}
# Random programs, every second one without code for a GPU, so that the driver compiles its PTX.
RANDOM_PROGRAMS = 100

# The sizes of what is measured, in variables on the GPU.
ROWS, COLUMNS, SIDE = 16384, 4096, 4096
QUICK_ROWS, QUICK_COLUMNS, QUICK_SIDE = 32, 64, 64
# Batch, heads, positions and elements of attention.
HEADS, QUICK_HEADS = (4, 16, 2048, 64), (1, 2, 64, 16)


HEAD = """graph measured edition 1

use layers: attend

fn normalized(x: f32[m, n]) -> f32[m, n] {
  d = x - mean(x, axis: 1, keep_dims: true)
  return d * rsqrt(mean(square(d), axis: 1, keep_dims: true) + 1e-5)
}
"""


def graph_text(path):
    """The graph in a file, which may be a part of a test."""
    with open(os.path.join(SOURCE, path)) as file:
        text = file.read()
    return re.split(r"^#--- \S+\.graph\n", text, flags=re.MULTILINE)[-1] if path.endswith(".test") else text


def compile_graph(path, library, options):
    """For processors of the last ten years: the machine with the GPU may be another one."""
    tfc = os.path.join(BUILD, "bin", "tfc")
    subprocess.run([tfc, "compile", path, "--mcpu=x86-64-v3", "-q", "-o", library, *options], check=True)


def compile_for_gpu(path, library, options):
    compile_graph(path, library, ["--device", "gpu:0", *options])


def feeds_of(random, model, entry):
    """Small whole numbers are valid as indices, labels and lengths; floats have any sign."""
    feeds = []
    for dtype, text in model.feed_types(entry):
        dims = re.findall(r"[^\[\], ]+", text.partition("[")[2])
        shape = [int(d) if d.isdigit() else SIZES.get(d, 4) for d in dims]
        if np.issubdtype(dtype, np.floating) or text.startswith("bf16"):
            values = np.asarray(random.normal(size=shape), np.float32)
            feeds.append((values.view(np.uint32) >> 16).astype(np.uint16) if text.startswith("bf16") else
                         values.astype(dtype))
        else:
            feeds.append(random.integers(0, 2 if dtype == np.bool_ else 4, size=shape).astype(dtype))
    return [np.asarray(feed) for feed in feeds]


def measured_graph(quick):
    """A graph with an entry for each row of the table: it repeats a statement."""
    rows, columns, side = (QUICK_ROWS, QUICK_COLUMNS, QUICK_SIDE) if quick else (ROWS, COLUMNS, SIDE)
    heads = QUICK_HEADS if quick else HEADS
    lines, table = [HEAD], []

    def declare(name, dtype, *shape):
        lines.append(f'@device("gpu:0") var {name}: {dtype}[{", ".join(map(str, shape))}] = zeros()')

    def measure(name, statement, moved=0, multiplied=0, dtype="f32"):
        lines.append(f"entry measure_{name}(rounds: i32) {{ for i in 0..rounds {{ {statement} }} }}")
        table.append(dict(name=name, entry=f"measure_{name}", bytes=moved, multiplications=multiplied, dtype=dtype, rows=rows, columns=columns,
                          side=side, heads=heads))

    for name in "x", "y":
        declare(name, "f32", rows, columns)
    declare("turned", "f32", columns, rows)
    declare("scale", "f32", columns)
    for dtype in "f32", "bf16", "f16":
        for name in "a", "b", "c":
            declare(f"{name}_{dtype}", dtype, side, side)
    size = 4 * rows * columns
    measure("copy", "assign(y, x)", 2 * size)
    measure("gelu", "assign(y, gelu(x))", 2 * size)
    measure("add", "assign_add(y, x)", 3 * size)
    measure("softmax", "assign(y, softmax(x))", 2 * size)
    measure("layer_norm", "assign(y, normalized(x) * scale)", 2 * size)
    measure("transpose", "assign(turned, transpose(x))", 2 * size)
    measure("columns", "assign(scale, sum(x, axis: 0))", size)
    for dtype in "f32", "bf16", "f16":
        measure(f"product_{dtype}", f"assign(c_{dtype}, matmul(a_{dtype}, b_{dtype}))", multiplied=side**3, dtype=dtype)
        measure(f"product_transposed_{dtype}", f"assign(c_{dtype}, matmul(a_{dtype}, b_{dtype}, transpose_rhs: true))",
                multiplied=side**3, dtype=dtype)
    measure("scan", "assign(y, cumsum(x, axis: 1))", 2 * size)
    multiplications = 2 * heads[0] * heads[1] * heads[2] ** 2 * heads[3]
    for dtype in "f32", "bf16":
        for name in "q", "k", "v", "g", "o":
            declare(f"{name}_{dtype}", dtype, *heads)
        q, k, v, g, o = (f"{name}_{dtype}" for name in "qkvgo")
        measure(f"attention_{dtype}", f"assign({o}, attend({q}, {k}, {v}))", multiplied=multiplications, dtype=dtype)
        # The gradient has five products besides the two of the result.
        gradient = f"result = attend({q}, {k}, {v})\n dq, dk, dv = gradients(sum(f32(result) * f32({g})), [{q}, {k}, {v}])"
        measure(f"attention_gradient_{dtype}", f"{gradient}\n assign({o}, result)\n assign({q}, dq)\n assign({k}, dk)\n assign({v}, dv)",
                multiplied=multiplications * 7 // 2, dtype=dtype)
    return "\n".join(lines) + "\n", table


def write_graph(folder, name, path):
    """The file of a graph, or of the copy of one that is in a test."""
    if not path.endswith(".test"):
        return os.path.join(SOURCE, path)
    graph = os.path.join(folder, name + ".graph")
    with open(graph, "w") as file:
        file.write(graph_text(path))
    return graph


def prepare_scripts(folder, quick, options):
    scripts = {name: script for name, script in SCRIPTS.items() if not quick or name in QUICK_SCRIPTS}
    for name, path in LIBRARIES_OF_SCRIPTS.items():
        if any(name + ".so" in script for script in scripts.values()):
            compile_graph(write_graph(folder, name, path), os.path.join(folder, name + ".so"), options)
    for file, *_ in scripts.values():
        shutil.copy(os.path.join(SOURCE, "test", "e2e", "gpu", "Inputs", file), folder)
    shutil.copy(os.path.join(SOURCE, "test", "e2e", "gpu", "Inputs", "counted.py"), folder)
    with open(os.path.join(folder, "scripts.json"), "w") as file:
        json.dump(scripts, file, indent=1)


def prepare_random(folder, count, options):
    """Programs that tfc-random draws: all operations and control flow, on sizes of a few elements."""
    generator = os.path.join(BUILD, "bin", "tfc-random")
    for number in range(count):
        name = f"random{number}"
        graph = os.path.join(folder, name + ".graph")
        drawn = subprocess.run([generator, "--print", "--count=1", f"--first={number}"], check=True, capture_output=True, text=True)
        _, header, rest = drawn.stdout.partition("graph random")
        if not header:  # without a form in the language
            continue
        with open(graph, "w") as file:
            file.write(header + rest)
        compile_for_gpu(graph, os.path.join(folder, name + ".so"), options if number % 2 else [])
        record(folder, name)


def record(folder, name):
    """Runs all entries on the emulated GPU, in another process, which loads that driver."""
    environment = dict(os.environ, TFC_CUDA_DRIVER=EMULATOR)
    subprocess.run([sys.executable, os.path.abspath(__file__), folder, name], check=True, env=environment)


def write_expected(folder, name):
    from model import Failed, Model
    from runner import expected_file, feeds_file, library_file, sample

    arrays, feed_arrays = {}, {}
    model, random = Model(library_file(folder, name), threads=1), np.random.default_rng(7)
    for entry, (feeds, fetches) in model.entries.items():
        values = feeds_of(random, model, entry)
        for i, value in enumerate(values):
            feed_arrays[f"{entry}/feed{i}"] = value
        try:
            results = model.call_raw(entry, values, len(fetches), model._feed_dtypes[entry])
        except Failed as failure:
            arrays[f"{entry}/status"] = np.array(failure.status)
            continue
        for i, value in enumerate(results):
            arrays[f"{entry}/fetch{i}"] = sample(value)
    for name_of_variable in model.variables:
        arrays[f"variable/{name_of_variable}"] = sample(model[name_of_variable])
    np.savez_compressed(feeds_file(folder, name), **feed_arrays)
    np.savez_compressed(expected_file(folder, name), **arrays)


def prepare_results(folder, quick, more):
    for name, (path, options) in CASES.items():
        if quick and name not in QUICK_CASES:
            continue
        compile_for_gpu(write_graph(folder, name, path), os.path.join(folder, name + ".so"), [*options, *more])
        record(folder, name)
        print(f"prepared {name}", flush=True)
    prepare_random(folder, 2 if quick else RANDOM_PROGRAMS, more)
    print("prepared random programs", flush=True)
    prepare_scripts(folder, quick, more)


def prepare_network(folder, task, quick, options):
    graph = os.path.join(SOURCE, "test", "benchmark", "models", task + ".graph")
    if quick and task in training.TABLE_1:  # a copy with a batch of one
        text = graph_text(graph)
        graph = os.path.join(folder, task + ".graph")
        with open(graph, "w") as file:
            file.write(re.sub(r"^entry .*", lambda line: re.sub(r"\[\d+", "[1", line[0]), text, flags=re.MULTILINE))
    compile_graph(graph, training.library(folder, task, "cpu"), [])
    for precision in training.PRECISIONS:
        compile_for_gpu(graph, training.library(folder, task, precision), [f"--precision={precision}", *options])
    seconds = training.record(folder, task) if task in training.TABLE_1 else None
    print(f"prepared {task}" + (f", a step of which takes the CPU {seconds:.1f} s" if seconds else ""), flush=True)


def prepare(folder, quick, architectures, only=()):
    """Prepares all parts but the networks of table 1, or the named ones."""
    if not os.path.exists(os.path.join(BUILD, "bin", "tfc")):
        subprocess.run([os.path.join(SOURCE, "tools", "setup")], check=True)
        subprocess.run(["cmake", "--preset", "default"], cwd=SOURCE, check=True)
        subprocess.run(["ninja", "-C", BUILD], check=True)
    os.makedirs(folder, exist_ok=True)
    more = [f"--gpu-arch={architectures}"] if architectures else []
    if not only or "results" in only:
        prepare_results(folder, quick, more)
    text, table = measured_graph(quick)
    if not only or "kernels" in only:
        graph = os.path.join(folder, "measured.graph")
        with open(graph, "w") as file:
            file.write(text)
        for name, options in ("measured", []), ("measured-tf32", ["--precision=tf32"]):
            compile_for_gpu(graph, os.path.join(folder, name + ".so"), ["--disable=hoist", *options, *more])
    with open(os.path.join(folder, "measured.json"), "w") as file:
        json.dump(dict(quick=quick, only=list(only), table=table), file, indent=1)
    for task in training.chosen(only, quick):
        prepare_network(folder, task, quick, more)


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "Inputs"))
    write_expected(*sys.argv[1:])
