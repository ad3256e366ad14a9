"""late_reads_loops.py LIBRARY: updates a variable before each element for which a loop of another handle waits."""

import os
import sys
import threading
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from model import Model

CALLS = 100
ELEMENTS = 8


def main():
    waiting = Model(sys.argv[1])
    other = waiting.fork()
    one = np.ones(2, np.float32)
    for call in range(CALLS):
        other.restart()
        results = []
        entries = [waiting.straight, waiting.branch, waiting.sent, lambda: waiting.inside(p=True)]
        entry = entries[call % 4]
        thread = threading.Thread(target=lambda: results.append(entry()))
        thread.start()
        for _ in range(ELEMENTS):
            if call % 8 < 4:
                time.sleep(0.0002)  # the loop waits for the element
            other.bump()
            other.put(x=one)
        thread.join()
        # After i elements, i updates have been seen at least.
        least, total = results[0]
        assert np.all(least >= 0) and np.all(total == ELEMENTS), (call, least, total)
    print(f"{CALLS} calls")


main()
