"""same_path.py MODEL.so FOLDER LIBTFCMPI: saves to one path after a step, and to two of them after another one; then loads
the first."""

import os
import sys

import job

library, folder, mpi = sys.argv[1:]
ranks = job.Job(mpi)
model = ranks.create(library, task_timeout_ms=60000)
common, other = f"{folder}/common", f"{folder}/other"
if ranks.task == 0:
    os.makedirs(common)
    os.makedirs(other)
model.call("step")
model.save(f"{common}/a.safetensors")
model.call("step")
for own in (f"{other}/a.safetensors", f"{common}/b.safetensors"):
    try:
        model.save(own if ranks.task == 1 else f"{common}/a.safetensors")
    except job.Failed as error:
        print(f"task {ranks.task}: {error}", flush=True)
model.load(f"{common}/a.safetensors")
files = len(os.listdir(common)) + len(os.listdir(other))
print(f"task {ranks.task}: {files} files" + (f", w is {model['w']}" if ranks.task == 0 else ""), flush=True)
del model
ranks.close()
