"""Runs a prepared folder on a GPU, or the parts that are named: compares results with recorded ones, and measures."""

import glob
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

# Relative and absolute differences, by the bytes of a float: sums and functions may run in another order.
BOUNDS = {2: 2e-2, 4: 2e-4, 8: 1e-10}
# Factors of these: an intermediate result that differs in its last bit may be rounded to the next short number.
FACTORS = {"tf32": 16, "bf16": 64}


def library_file(folder, name):
    return os.path.join(folder, name + ".so")


def feeds_file(folder, name):
    """A graph that is compiled in several ways, as GRAPH-WAY, has the same feeds in each."""
    return os.path.join(folder, name.partition("-")[0] + ".feeds.npz")


def expected_file(folder, name):
    return os.path.join(folder, name + ".expected.npz")


def sample(array):
    """At most some 20,000 elements of an array, so that a folder stays small."""
    return array.reshape(-1)[:: array.size // 20_000 | 1]


def differences(got, want):
    """The largest difference of two results as a multiple of what is allowed; of other types, 0 or infinity."""
    if got.shape != want.shape:
        return np.inf
    if not np.issubdtype(want.dtype, np.floating):
        return 0.0 if np.array_equal(got, want) else np.inf
    bound = BOUNDS[want.dtype.itemsize]
    a, b = got.astype(np.float64), want.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        ratio = np.abs(a - b) / (bound * np.maximum(1, np.abs(b)))
    return float(np.max(np.where(same, 0, ratio), initial=0))


def as_numbers(array, text):
    """bf16 travels as its bits."""
    return (array.astype(np.uint32) << 16).view(np.float32) if text else array


def worst_of(result, expected):
    """The difference of a fetch or variable and what was recorded of it; numbers of bf16 have the bound of 16 bits."""
    is_short = result.dtype == np.uint16
    pair = (as_numbers(array, is_short) for array in (sample(result), expected))
    return differences(*pair) * (BOUNDS[4] / BOUNDS[2] if is_short else 1)


def compare(folder, name):
    """Returns the number of entries that agree and a list of those that do not, and of variables."""
    from model import Failed, Model

    model = Model(library_file(folder, name), threads=1)
    recorded, feeds_recorded = np.load(expected_file(folder, name)), np.load(feeds_file(folder, name))
    agreeing, wrong = 0, []
    allowed = FACTORS.get(name.partition("-")[2], 1)
    for entry, (feeds, fetches) in model.entries.items():
        values = [feeds_recorded[f"{entry}/feed{i}"] for i in range(len(feeds))]
        status = str(recorded[f"{entry}/status"]) if f"{entry}/status" in recorded else ""
        try:
            results = model.call_raw(entry, values, len(fetches), model._feed_dtypes[entry])
        except Failed as failure:
            if failure.status == status:
                agreeing += 1
            else:
                wrong.append(f"{name}.{entry}: {failure.status}: {failure}")
            continue
        if status:
            wrong.append(f"{name}.{entry}: succeeds, but was expected to end with {status}")
            continue
        worst = max((worst_of(result, recorded[f"{entry}/fetch{i}"]) for i, result in enumerate(results)), default=0) / allowed
        if worst <= 1:
            agreeing += 1
        else:
            wrong.append(f"{name}.{entry}: differs by {worst:.3g} times what is allowed")
    for variable in model.variables:
        worst = worst_of(model[variable], recorded[f"variable/{variable}"]) / allowed
        if worst > 1:
            wrong.append(f"{name}: variable {variable} differs by {worst:.3g} times what is allowed")
    return agreeing, wrong


def seconds_per_round(model, entry, quick):
    """The time of a round: launches are enqueued in a loop, and the call waits once. The fixed cost cancels out."""
    few, many, repeats = (1, 3, 1) if quick else (2, 22, 7)

    def seconds(rounds):
        begin = time.perf_counter()
        model.call(entry, rounds=rounds)
        return time.perf_counter() - begin

    seconds(few)
    return max(statistics.median(seconds(many) - seconds(few) for _ in range(repeats)) / (many - few), 1e-9)


def measure(folder, report):
    from model import Model

    with open(os.path.join(folder, "measured.json")) as file:
        described = json.load(file)
    random, copy = np.random.default_rng(0), None
    for name in "measured", "measured-tf32":
        model = Model(library_file(folder, name), threads=1)
        for variable, (dtype, shape) in model.variables.items():
            if variable in ("x", "scale") or variable.startswith(("a_", "b_", "q_", "k_", "v_", "g_")):
                values = random.standard_normal(shape, dtype=np.float32)
                model[variable] = (values.view(np.uint32) >> 16).astype(np.uint16) if variable.endswith("_bf16") else values.astype(dtype)
        for row in described["table"]:
            if name != "measured" and row["dtype"] != "f32" or name != "measured" and not row["multiplications"]:
                continue
            seconds = seconds_per_round(model, row["entry"], described["quick"])
            label = row["name"].replace("f32", "tf32") if name != "measured" else row["name"]
            figure = dict(row, name=label, microseconds=seconds * 1e6)
            if row["bytes"]:
                figure["gigabytes_per_second"] = row["bytes"] / seconds / 1e9
                copy = copy or figure["gigabytes_per_second"]
                figure["of_copy"] = figure["gigabytes_per_second"] / copy
            else:
                figure["teraflops"] = 2 * row["multiplications"] / seconds / 1e12
            report["figures"].append(figure)
        del model


def show(figure):
    speed = (f"{figure['gigabytes_per_second']:10.0f} GB/s  {100 * figure['of_copy']:5.0f} % of a copy" if "of_copy" in figure
             else f"{figure['teraflops']:10.1f} TFLOP/s")
    peer = f"  {figure['of_peer']:.2f} of torch's speed" if "of_peer" in figure else ""
    print(f"  {figure['name']:28} {figure['microseconds']:12.1f} us {speed}{peer}")


def compare_all(folder, report):
    total, wrong = 0, []
    for path in sorted(glob.glob(expected_file(folder, "*"))):
        name = os.path.basename(path).removesuffix(".expected.npz")
        agreeing, differing = compare(folder, name)
        report["cases"][name] = dict(agreeing=agreeing, wrong=differing)
        total, wrong = total + agreeing, wrong + differing
        if not name.startswith("random") or differing:
            print(f"{name}: {agreeing} entries as recorded, {len(differing)} differences", flush=True)
    print(f"{len(report['cases'])} graphs, {total} entries as recorded, {len(wrong)} differences")
    return wrong


def run_scripts(folder):
    """Runs the tests that compare for themselves, each in a process of its own. Returns a line for each that fails."""
    with open(os.path.join(folder, "scripts.json")) as file:
        scripts = json.load(file)
    wrong = []
    for name, script in scripts.items():
        status = subprocess.run([sys.executable, *script], cwd=folder).returncode
        print(f"{name}: {'fails' if status else 'passes'}", flush=True)
        wrong += [f"{' '.join(script)} ends with {status}"] if status else []
    return wrong


def run(folder, only=(), named_peers=()):
    """Runs all parts that are prepared or the named ones: `results`, `kernels`, networks by their names."""
    import peers
    import training

    sys.path.insert(0, folder)
    with open(os.path.join(folder, "measured.json")) as file:
        prepared = json.load(file)
    quick, only = prepared["quick"], only or prepared.get("only", [])
    report, wrong = dict(date=time.strftime("%Y-%m-%d"), cases={}, figures=[], training=[]), []
    if not only or "results" in only:
        wrong += compare_all(folder, report)
        wrong += run_scripts(folder)
    if not only or "kernels" in only:
        measure(folder, report)
        report["device"] = peers.compare(report["figures"])
        print(f"device: {report['device']}")
        for figure in report["figures"]:
            show(figure)
    for task in training.chosen(only, quick):
        wrong += training.train(folder, task, report, () if quick else named_peers or training.PEERS)
    with open(os.path.join(folder, "figures.json"), "w") as file:
        json.dump(report, file, indent=1)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run(os.path.dirname(os.path.abspath(__file__)), sys.argv[1:]))
