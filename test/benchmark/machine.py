"""The processor and its limits, and the time and memory of processes, for benchmarks."""

import contextlib
import json
import os
import platform
import subprocess
import tempfile
import time

from measuring import WORKERS, Worker


def run(*command):
    """Wall time in seconds, peak memory in MB and output of a process."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        output = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{os.path.basename(command[0])} fails: {errors.read()[-2000:]}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024, output


def peak_memory(process):
    """The peak of resident memory of a running process, in MB."""
    with open(f"/proc/{process.pid}/status") as file:
        (line,) = [line for line in file if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def processor():
    """The name by which Linux knows it, with its family and model."""
    fields = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file.read().split("\n\n")[0].splitlines():
            name, _, value = line.partition(":")
            fields[name.strip()] = value.strip()
    name = fields.get("model name") or platform.machine()
    family = [f"{key.removeprefix('cpu ')} {fields[key]}" for key in ("cpu family", "model") if key in fields]
    return f"{name} ({', '.join(family)})" if family else name


def measure_limits(cc, folder, cores):
    """Name -> units of 1e9 a second that these cores have together, by the best calls of each."""
    program = os.path.join(folder, "limits")
    if not os.path.exists(program):
        source = os.path.join(WORKERS, "limits.c")
        subprocess.run([cc, "-O3", "-march=native", source, "-o", program], check=True)
    workers = []
    for core in cores:
        os.sched_setaffinity(0, {core})
        workers.append(Worker("limits", [program], {}))
    limits = {}
    for task in ("fma_f32", "read"):
        work = [worker.ask("check", task)[0] for worker in workers]
        best = [float("inf")] * len(workers)
        for _ in range(3):
            for worker in workers:  # all of them at the same time
                worker.process.stdin.write(f"time {task} 0.3\n")
                worker.process.stdin.flush()
            answers = [json.loads(worker.process.stdout.readline()) for worker in workers]
            best = [min(least, *times) for least, times in zip(best, answers)]
        limits[task] = sum(amount / least / 1e3 for amount, least in zip(work, best))
    for worker in workers:
        worker.end()
    return limits
