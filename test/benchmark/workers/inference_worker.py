"""Calls one model in one system for the benchmark `inference`: inference_worker.py SYSTEM MODEL FOLDER THREADS

SYSTEM is tfc (MODEL is a library then), ort or openvino. FOLDER has description.json and the feeds, which
inference_model.py wrote. Commands on standard input, each answered by a line of JSON: `load` loads the model, `results`
calls it once and writes what it returns into FOLDER, `time SECONDS` returns the microseconds of each call but the first.

All systems are called from Python with memory for feeds and results that exists before: a call costs a few microseconds
of Python, in OpenVINO some tens.
"""

import json
import os
import sys
import time

import numpy as np


def allocate(outputs):
    return [np.empty(output["shape"], output["dtype"]) for output in outputs]


def load_tfc(path, feeds, outputs, threads, _):
    from model import Model, _tensor_list

    model = Model(path, threads=threads)
    ((entry, (names, _)),) = model.entries.items()
    inputs = _tensor_list([model._as(feed, dtype) for feed, (_, dtype) in zip(feeds, names, strict=True)])
    results = allocate(outputs)
    fetches, key = _tensor_list(results), entry.encode()
    invoke, instance, check = model._api.call, model._instance, model._check

    def call():
        check(invoke(instance, key, inputs, len(feeds), fetches, len(results)))

    return call, lambda: results


def load_ort(path, feeds, outputs, threads, names):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, feed in zip(names, feeds, strict=True):
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(feed))
    held = [ort.OrtValue.ortvalue_from_numpy(array) for array in allocate(outputs)]
    for output, value in zip(outputs, held):
        binding.bind_ortvalue_output(output["name"], value)

    def call():
        session.run_with_iobinding(binding)

    return call, lambda: [value.numpy() for value in held]


def load_openvino(path, feeds, outputs, threads, names):
    import openvino as ov

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    core = ov.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", settings)
    request = compiled.create_infer_request()
    for name, feed in zip(names, feeds, strict=True):
        request.set_tensor(compiled.input(name), ov.Tensor(feed, shared_memory=True))
    ports = [compiled.output(output["name"]) for output in outputs]

    def call():
        request.infer(share_outputs=True)

    return call, lambda: [request.get_tensor(port).data for port in ports]


def import_tfc():
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e", "Inputs"))
    import model  # noqa: F401

    return ""  # the runner knows it


def import_ort():
    import onnxruntime

    return onnxruntime.__version__


def import_openvino():
    import openvino

    return openvino.__version__


# System -> (imports it and returns its version, loads a model and returns a call and the function of its results).
SYSTEMS = {
    "tfc": (import_tfc, load_tfc),
    "ort": (import_ort, load_ort),
    "openvino": (import_openvino, load_openvino),
}


def time_calls(call, seconds):
    call()  # what other processes displaced from the caches, and threads that sleep, count in no system
    times, clock = [], time.perf_counter
    end = clock() + seconds
    while len(times) < 2 or clock() < end:
        start = clock()
        call()
        times.append(round((clock() - start) * 1e6, 3))
    return times


def main():
    system, path, folder, threads = sys.argv[1:]
    with open(os.path.join(folder, "description.json")) as file:
        description = json.load(file)
    names, outputs = description["inputs"], description["outputs"]
    feeds = [np.load(os.path.join(folder, f"feed.{i}.npy")) for i in range(len(names))]
    if any(output["shape"] is None for output in outputs):
        raise SystemExit("the shape of a result is not known before the call")
    find, load = SYSTEMS[system]
    print(json.dumps({"name": system, "version": find()}), flush=True)
    for line in sys.stdin:
        command, *rest = line.split()
        answer = None
        if command == "load":
            begin = time.perf_counter()
            call, results = load(path, feeds, outputs, int(threads), names)
            answer = time.perf_counter() - begin
        elif command == "results":
            call()
            for number, array in enumerate(results()):
                np.save(os.path.join(folder, f"{system}.{number}.npy"), array)
        else:
            answer = time_calls(call, float(rest[0]))
        print(json.dumps(answer), flush=True)


main()
