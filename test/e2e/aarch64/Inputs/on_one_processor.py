"""on_one_processor.py COMMAND...: runs a command on one processor, so that a model has one thread: emulated threads that wait
for each other take long."""

import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execvp(sys.argv[1], sys.argv[1:])
