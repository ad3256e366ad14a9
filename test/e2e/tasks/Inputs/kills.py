"""kills.py MODEL.so LIBTFCMPI FOLDER MPIRUN: kills a process of the job, which this file is too, again and again.
kills.py MODEL.so LIBTFCMPI FOLDER: a process of the job, which continues from the checkpoint of the folder."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

STEPS, EVERY = 400, 4
path, library, folder = sys.argv[1:4]
checkpoint = os.path.join(folder, "w.safetensors")


def batch(step):
    rng = np.random.default_rng(step)
    return dict(x=rng.standard_normal((36, 200)), label=rng.integers(0, 10, 36))


def steps_of_checkpoint():
    """The variable `steps`, which only one of the processes has."""
    with open(checkpoint) as file:
        name = json.load(file)["weight_map"]["steps"]
    with open(os.path.join(folder, name), "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        begin, end = json.loads(file.read(length))["steps"]["data_offsets"]
        file.seek(8 + length + begin)
        return int.from_bytes(file.read(end - begin), "little")


def work():
    from job import Job

    job = Job(library)
    with open(os.path.join(folder, f"pid-{job.task}"), "w") as file:
        file.write(str(os.getpid()))
    model = job.create(path, task_timeout_ms=60000)
    done = 0
    if os.path.exists(checkpoint):
        done = steps_of_checkpoint()
        model.load(checkpoint)
    for step in range(done, STEPS):
        model.call("train", **batch(step))
        if (step + 1) % EVERY == 0:
            model.save(checkpoint)
    del model
    job.close()


def stamp():
    return os.stat(checkpoint).st_mtime_ns if os.path.exists(checkpoint) else 0


def run(mpirun, seconds, awaits_checkpoint):
    """Runs the job and kills one of its processes after some time, or so long after its first checkpoint. Returns true if
    it has ended before."""
    before = stamp()
    for task in range(3):
        if os.path.exists(os.path.join(folder, f"pid-{task}")):
            os.remove(os.path.join(folder, f"pid-{task}"))
    job = subprocess.Popen([mpirun, "-n", "3", sys.executable, __file__, path, library, folder],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while awaits_checkpoint and stamp() == before and job.poll() is None:
        time.sleep(0.01)
    try:
        assert job.wait(seconds) == 0, "the job has failed without a kill"
        return True
    except subprocess.TimeoutExpired:
        pass
    try:
        with open(os.path.join(folder, f"pid-{random.randrange(3)}")) as file:
            os.kill(int(file.read()), signal.SIGKILL)
    except (OSError, ValueError):
        job.terminate()  # it has not begun
    try:
        job.wait(60)
    except subprocess.TimeoutExpired:
        job.kill()  # mpirun itself, which now and then does not notice that its last process has ended
        job.wait()
    return False


def variables(load):
    from model import Model

    model = Model(path, threads=1)
    if load:
        model.load(checkpoint)
    else:
        for step in range(STEPS):
            model.call("train", **batch(step))
    return {name: model[name] for name in model.variables}


def main(mpirun):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
    random.seed(1)
    expected = variables(load=False)
    kills = late = 0
    wanted = int(os.environ.get("KILLS", 12))
    has_ended = False
    while kills < wanted or not has_ended:
        awaits = kills < wanted and kills % 2 == 0
        seconds = 120 if kills >= wanted else random.uniform(0, 0.5 if awaits else 1.5)
        has_ended = run(mpirun, seconds, awaits)
        late += kills < wanted and not has_ended and os.path.exists(checkpoint)
        if has_ended or kills >= wanted:
            assert has_ended, "the job has not ended"
            found = variables(load=True)
            for name, value in expected.items():
                np.testing.assert_array_equal(found[name], value, err_msg=name)
            if kills < wanted:
                os.remove(checkpoint)
        else:
            kills += 1
    print(f"{kills} kills, of which {late} after the first checkpoint: {len(expected)} variables are equal")


main(sys.argv[4]) if len(sys.argv) > 4 else work()
